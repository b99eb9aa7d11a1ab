//! Logs of implementations: a line of JSON per thing that was seen (docs/follow.md). What a line does not say is unknown.
//!
//! Absent on purpose: what the machine makes of it ([`super::follow`]).

use super::INITIALISATION;
use super::ask::{Answer, Ask};
use super::fault::fault_message;
use super::question::with_names;
use super::values::Reader;
use crate::lang::decimal;
use crate::lang::diag::{Diagnostic, FileId, SourceMap, Span};
use crate::lang::languages::parse_expr;
use crate::lang::spelling::closest;
use crate::model::check::{Want, check_expr};
use crate::model::open::Opened;
use crate::model::{Decl, ExprKind, LocalId, Model, OpId, Type};
use crate::system::Stop;
use crate::value::Value;
use num_bigint::BigInt;
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;
use std::collections::{BTreeSet, HashMap};

/// The code of what is wrong with a log.
const CODE: &str = "B0431";
/// The keys of a line.
const KEYS: [&str; 6] = ["operation", "parameters", "results", "state", "before", "constants"];
/// Mistakes that are told; a log has the same one on every line.
const TOLD: usize = 10;

/// Values that are known, by the places of what has them.
pub type Known = Vec<(usize, Value)>;

/// What happened according to a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Happens {
    /// Nothing: somebody looked at the state.
    Nothing,
    /// INITIALISATION, which comes first.
    Initial,
    /// A step of some operation.
    Any,
    /// A step of this one.
    Step(OpId),
}

/// A line of a log.
#[derive(Clone, Debug)]
pub struct Told {
    /// Where it stands.
    pub span: Span,
    /// Its number, from 1.
    pub line: usize,
    pub happens: Happens,
    pub constants: Known,
    /// Variables before the step.
    pub before: Known,
    pub parameters: Known,
    pub results: Known,
    /// Variables after the step.
    pub state: Known,
}

/// What is wrong with a part of a line: from which byte of it, and to which.
struct Wrong {
    at: (usize, usize),
    message: String,
    help: Option<String>,
}

type Read<T> = Result<T, Wrong>;

/// An object with its parts as they were written.
struct Fields<'t>(Vec<(String, &'t RawValue)>);

impl<'t> Deserialize<'t> for Fields<'t> {
    fn deserialize<D: Deserializer<'t>>(from: D) -> Result<Self, D::Error> {
        struct Parts;
        impl<'t> Visitor<'t> for Parts {
            type Value = Fields<'t>;
            fn expecting(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
                f.write_str("an object")
            }
            fn visit_map<A: MapAccess<'t>>(self, mut map: A) -> Result<Fields<'t>, A::Error> {
                let mut all = vec![];
                while let Some(pair) = map.next_entry::<String, &'t RawValue>()? {
                    all.push(pair);
                }
                Ok(Fields(all))
            }
        }
        from.deserialize_map(Parts)
    }
}

/// Reads a log, which is one of the model's texts, line by line. Keys that are to be ignored are not looked at.
///
/// # Errors
/// What is wrong with its lines.
pub fn read(
    opened: &Opened,
    file: FileId,
    ignored: &[String],
    stop: &Stop,
) -> Result<Vec<Told>, Vec<Diagnostic>> {
    let text = opened.sources.get(file).map_or("", |s| &*s.text);
    let mut reading = Reading {
        opened,
        named: with_names(&opened.model, &opened.scope),
        reader: Reader::new(&opened.model, &opened.scope),
        known: HashMap::new(),
        ignored,
        stop,
        line: "",
    };
    let (mut told, mut wrong): (Vec<Told>, Vec<Diagnostic>) = (vec![], vec![]);
    let mut at = 0;
    for (number, line) in text.split_inclusive('\n').enumerate() {
        let (from, content) = (at, line.trim_end());
        at += line.len();
        if content.trim_start().is_empty() {
            continue;
        }
        reading.line = content;
        let span = Span::new(file, from + (content.len() - content.trim_start().len()), from + content.len());
        match reading.line(span, number + 1, told.is_empty()) {
            Ok(line) => told.push(line),
            Err(w) => {
                let span = Span::new(file, from + w.at.0, from + w.at.1);
                let d = Diagnostic::error(CODE, span, w.message);
                wrong.push(match w.help {
                    Some(help) => d.help(help),
                    None => d,
                });
            }
        }
        if wrong.len() == TOLD {
            break;
        }
    }
    if told.is_empty() && wrong.is_empty() {
        wrong.push(Diagnostic::error(CODE, Span::new(file, 0, 0), "the log has no line"));
    }
    if wrong.is_empty() { Ok(told) } else { Err(wrong) }
}

struct Reading<'a> {
    opened: &'a Opened,
    /// The model with names for the elements of deferred sets.
    named: Model,
    reader: Reader<'a>,
    /// Expressions that were evaluated.
    known: HashMap<String, Vec<(Type, Value)>>,
    ignored: &'a [String],
    stop: &'a Stop,
    line: &'a str,
}

impl<'a> Reading<'a> {
    fn model(&self) -> &'a Model {
        &self.opened.model
    }

    /// Where a part of the line stands in it.
    fn at(&self, raw: &RawValue) -> (usize, usize) {
        let from = (raw.get().as_ptr() as usize).saturating_sub(self.line.as_ptr() as usize);
        (from, from + raw.get().len())
    }

    fn wrong<T>(&self, raw: &RawValue, message: impl Into<String>) -> Read<T> {
        Err(Wrong { at: self.at(raw), message: message.into(), help: None })
    }

    /// A name that is not known, and the one that was meant.
    fn unknown<'n, T>(
        &self,
        raw: &RawValue,
        message: String,
        name: &str,
        names: impl Iterator<Item = &'n str> + Clone,
    ) -> Read<T> {
        let help = match closest(name, names.clone()) {
            Some(near) => Some(format!("did you mean `{near}`?")),
            None => match names.collect::<Vec<_>>() {
                all if all.is_empty() => None,
                all if all.len() <= 12 => Some(format!("there are {}", all.join(", "))),
                _ => None,
            },
        };
        Err(Wrong { at: self.at(raw), message, help })
    }

    fn fields(&self, raw: &'a RawValue, what: &str) -> Read<Vec<(String, &'a RawValue)>> {
        match serde_json::from_str::<Fields>(raw.get()) {
            Ok(fields) => self.once(raw, fields.0),
            Err(_) => self.wrong(raw, format!("{what} is an object, names with values")),
        }
    }

    /// No key may occur twice: which one would count?
    fn once(&self, raw: &RawValue, fields: Vec<(String, &'a RawValue)>) -> Read<Vec<(String, &'a RawValue)>> {
        let mut seen = BTreeSet::new();
        match fields.iter().find(|(name, _)| !seen.insert(name.as_str())) {
            Some((name, _)) => self.wrong(raw, format!("`{name}` occurs twice")),
            None => Ok(fields),
        }
    }

    fn line(&mut self, span: Span, line: usize, is_first: bool) -> Read<Told> {
        // `from_str` keeps no place of the text, but columns of errors are right: a line has one line.
        let raw: &'a RawValue = serde_json::from_str(self.line).map_err(|e| {
            let at = e.column().saturating_sub(1).min(self.line.len());
            let at = (0..=at).rev().find(|i| self.line.is_char_boundary(*i)).unwrap_or(0);
            let why = e.to_string();
            let why = why.split(" at line ").next().unwrap_or_default().to_string();
            Wrong { at: (at, at), message: format!("this is no JSON: {why}"), help: None }
        })?;
        let fields = self.fields(raw, "a line")?;
        let model = self.model();
        let mut told = Told {
            span,
            line,
            happens: Happens::Nothing,
            constants: vec![],
            before: vec![],
            parameters: vec![],
            results: vec![],
            state: vec![],
        };
        if let Some((_, raw)) = fields.iter().find(|(k, _)| k == "operation") {
            told.happens = self.operation(raw)?;
            if told.happens == Happens::Initial && !is_first {
                return self.wrong(raw, "INITIALISATION comes first and once: a run of the machine has one");
            }
        }
        let op = match told.happens {
            Happens::Step(op) => Some(&model.operations[op.index()]),
            _ => None,
        };
        for (key, raw) in fields {
            let of_step = matches!(&*key, "parameters" | "results");
            match (&*key, op) {
                ("operation", _) => {}
                ("parameters", Some(op)) => told.parameters = self.locals(raw, &op.params, "parameter")?,
                ("results", Some(op)) => told.results = self.locals(raw, &op.results, "result")?,
                _ if of_step && raw.get() == "{}" => {}
                _ if of_step => return self.wrong(raw, format!("`{key}` belong to an `operation` by name")),
                ("before", _) if matches!(told.happens, Happens::Nothing | Happens::Initial) => {
                    return self.wrong(raw, "`before` belongs to a step: what is seen now is `state`");
                }
                ("state", _) => told.state = self.decls(raw, &model.variables, "variable")?,
                ("before", _) => told.before = self.decls(raw, &model.variables, "variable")?,
                ("constants", _) => told.constants = self.decls(raw, &model.constants, "constant")?,
                (other, _) if self.ignored.iter().any(|i| i == other) => {}
                (other, _) => {
                    let mut wrong =
                        self.unknown(raw, format!("a line has no key `{other}`"), other, KEYS.into_iter());
                    if let Err(w) = &mut wrong {
                        let help = w.help.take().unwrap_or_default();
                        w.help = Some(format!("{help}; `--ignore {other}` leaves it out"));
                    }
                    return wrong;
                }
            }
        }
        Ok(told)
    }

    fn operation(&self, raw: &RawValue) -> Read<Happens> {
        if raw.get() == "null" {
            return Ok(Happens::Any);
        }
        let Ok(name) = serde_json::from_str::<String>(raw.get()) else {
            return self.wrong(raw, "`operation` is the name of one, or null for any of them");
        };
        if name == INITIALISATION {
            return Ok(Happens::Initial);
        }
        let events = self.model().operations.iter().enumerate().filter(|(_, o)| o.is_event);
        match events.clone().find(|(_, o)| *o.name == *name) {
            Some((at, _)) => Ok(Happens::Step(OpId(at as u32))),
            None => {
                let names = events.map(|(_, o)| &*o.name).chain([INITIALISATION]);
                self.unknown(raw, format!("the machine has no operation `{name}`"), &name, names)
            }
        }
    }

    /// Values by name, or all of them in their order.
    fn locals(&mut self, raw: &'a RawValue, locals: &[LocalId], what: &str) -> Read<Known> {
        let model = self.model();
        let decls: Vec<&Decl> = locals.iter().map(|l| model.local(*l)).collect();
        if raw.get().starts_with('[') {
            let all = self.items(raw)?;
            if all.len() != decls.len() {
                let (n, of) = (all.len(), decls.len());
                return self.wrong(raw, format!("these are {n}, but the operation has {of} {what}s"));
            }
            return self.values(all.into_iter().enumerate().collect(), &decls);
        }
        self.by_name(raw, &decls, what)
    }

    fn decls(&mut self, raw: &'a RawValue, decls: &'a [Decl], what: &str) -> Read<Known> {
        self.by_name(raw, &decls.iter().collect::<Vec<_>>(), what)
    }

    fn by_name(&mut self, raw: &'a RawValue, decls: &[&Decl], what: &str) -> Read<Known> {
        let mut placed = vec![];
        for (name, raw) in self.fields(raw, &format!("what is said of {what}s"))? {
            let Some(at) = decls.iter().position(|d| *d.name == *name) else {
                let names = decls.iter().map(|d| &*d.name);
                return self.unknown(raw, format!("there is no {what} `{name}`"), &name, names);
            };
            placed.push((at, raw));
        }
        self.values(placed, decls)
    }

    fn values(&mut self, placed: Vec<(usize, &'a RawValue)>, decls: &[&Decl]) -> Read<Known> {
        let mut known = vec![];
        for (at, raw) in placed {
            // Unknown, as if it were not there.
            if raw.get() != "null" {
                known.push((at, self.value(raw, &decls[at].ty)?));
            }
        }
        Ok(known)
    }

    fn items(&self, raw: &'a RawValue) -> Read<Vec<&'a RawValue>> {
        match serde_json::from_str(raw.get()) {
            Ok(items) => Ok(items),
            // It was read before as a part of the line.
            Err(_) => self.wrong(raw, "this is no array"),
        }
    }

    fn type_text(&self, ty: &Type) -> String {
        let set_name = |s: crate::model::SetId| self.model().sets[s.index()].name.clone();
        ty.show(&set_name).to_string()
    }

    fn not<T>(&self, raw: &RawValue, found: &str, ty: &Type) -> Read<T> {
        self.wrong(raw, format!("{found} is no value of {}", self.type_text(ty)))
    }

    /// A value of this type.
    fn value(&mut self, raw: &'a RawValue, ty: &Type) -> Read<Value> {
        let text = raw.get();
        match (text.as_bytes().first(), ty) {
            (Some(b't' | b'f'), Type::Bool) => Ok(Value::Bool(text == "true")),
            (Some(b't' | b'f'), _) => self.not(raw, "a boolean", ty),
            (Some(b'n'), _) => self.wrong(raw, "null is for whole variables and parameters that are unknown"),
            (Some(b'"'), _) => {
                let Ok(inside) = serde_json::from_str::<String>(text) else {
                    return self.wrong(raw, "this is no string");
                };
                match ty {
                    Type::Str => Ok(Value::Str(inside.as_str().into())),
                    _ => self.expression(raw, &inside, ty),
                }
            }
            (Some(b'['), Type::Pair(t)) => match self.items(raw)?[..] {
                [a, b] => Ok(Value::pair(self.value(a, &t.0)?, self.value(b, &t.1)?)),
                _ => self.wrong(raw, "a pair is an array of two"),
            },
            (Some(b'['), Type::Pow(elem)) => self.array(raw, elem),
            (Some(b'['), _) => self.not(raw, "an array", ty),
            (Some(b'{'), Type::Rec(types)) => self.record(raw, types),
            (Some(b'{'), Type::Pow(elem)) => match elem.as_pair() {
                Some((a, b)) => self.function(raw, &a.clone(), &b.clone()),
                None => self.not(raw, "an object", ty),
            },
            (Some(b'{'), _) => self.not(raw, "an object", ty),
            (_, Type::Int) => match text.parse::<BigInt>() {
                Ok(i) => Ok(Value::Int(i)),
                Err(_) => self.not(raw, &format!("`{text}`"), ty),
            },
            (_, Type::Real) => {
                let (sign, digits) = match text.strip_prefix('-') {
                    Some(digits) => (-1, digits),
                    None => (1, text),
                };
                let whole = || digits.parse::<BigInt>().ok().map(Into::into);
                match decimal::parse(digits).or_else(whole) {
                    Some(r) => Ok(Value::real(r * BigInt::from(sign))),
                    None => self.wrong(raw, "a real number is written with digits and at most one point"),
                }
            }
            _ => self.not(raw, "a number", ty),
        }
    }

    /// The set of its elements; of type `INTEGER <-> T` also a sequence, whichever it can be.
    fn array(&mut self, raw: &'a RawValue, elem: &Type) -> Read<Value> {
        let items = self.items(raw)?;
        let as_set = self.elements(raw, &items, elem);
        let Some((Type::Int, ran)) = elem.as_pair() else { return as_set };
        let ran = ran.clone();
        let mut sequence = BTreeSet::new();
        let mut no_sequence = None;
        for (i, item) in items.iter().enumerate() {
            match self.value(item, &ran) {
                Ok(v) => {
                    sequence.insert(Value::pair(Value::int(i + 1), v));
                }
                Err(w) => {
                    no_sequence = Some(w);
                    break;
                }
            }
        }
        match (as_set, no_sequence) {
            (Ok(set), Some(_)) => Ok(set),
            (Ok(set), None) if set == Value::Set(sequence.clone()) => Ok(set),
            (Ok(_), None) => {
                self.wrong(raw, "this could be a set of pairs or a sequence: write it as B text in a string")
            }
            (Err(_), None) => Ok(Value::Set(sequence)),
            // What is wrong with the pairs, if they are any.
            (Err(set), Some(sequence)) => {
                let of_pairs = items.iter().all(|i| i.get().starts_with('['));
                Err(if of_pairs { set } else { sequence })
            }
        }
    }

    fn elements(&mut self, raw: &RawValue, items: &[&'a RawValue], elem: &Type) -> Read<Value> {
        let mut set = BTreeSet::new();
        for item in items {
            if !set.insert(self.value(item, elem)?) {
                return self.wrong(raw, "an array that stands for a set has an element twice");
            }
        }
        Ok(Value::Set(set))
    }

    fn record(&mut self, raw: &'a RawValue, types: &[(std::sync::Arc<str>, Type)]) -> Read<Value> {
        let fields = self.fields(raw, "a record")?;
        if let Some((name, at)) = fields.iter().find(|(name, _)| types.iter().all(|(n, _)| **n != **name)) {
            let names = types.iter().map(|(n, _)| &**n);
            return self.unknown(at, format!("the record has no field `{name}`"), name, names);
        }
        let mut values = vec![];
        for (name, ty) in types {
            let Some((_, field)) = fields.iter().find(|(n, _)| **n == **name) else {
                return self.wrong(raw, format!("the record's field `{name}` is missing"));
            };
            values.push(self.value(field, ty)?);
        }
        Ok(Value::Rec(values))
    }

    /// A function, by the texts of its arguments.
    fn function(&mut self, raw: &'a RawValue, from: &Type, to: &Type) -> Read<Value> {
        let mut set = BTreeSet::new();
        let mut arguments = BTreeSet::new();
        for (key, image) in self.fields(raw, "a function")? {
            let argument = match from {
                Type::Str => Value::Str(key.as_str().into()),
                _ => self.expression(image, &key, from)?,
            };
            if !arguments.insert(argument.clone()) {
                return self.wrong(image, format!("`{key}` is an argument that was there before"));
            }
            set.insert(Value::pair(argument, self.value(image, to)?));
        }
        Ok(Value::Set(set))
    }

    /// The value of a B expression that speaks of sets and their elements only.
    fn expression(&mut self, raw: &RawValue, text: &str, ty: &Type) -> Read<Value> {
        if let Ok(literal) = self.reader.read(text, ty) {
            return Ok(literal);
        }
        let known = self.known.get(text).and_then(|all| all.iter().find(|(t, _)| t == ty));
        if let Some((_, value)) = known {
            return Ok(value.clone());
        }
        let value = self.evaluated(text, ty).or_else(|why| self.wrong(raw, why))?;
        self.known.entry(text.to_string()).or_default().push((ty.clone(), value.clone()));
        Ok(value)
    }

    fn evaluated(&self, text: &str, ty: &Type) -> Result<Value, String> {
        let opened = self.opened;
        let first = |all: Vec<Diagnostic>| {
            all.first()
                .map_or_else(|| format!("`{text}` cannot be read"), |d| format!("`{text}`: {}", d.message))
        };
        let mut sources = SourceMap::default();
        let ast =
            parse_expr(opened.language, &mut sources, "value", text, &opened.definitions).map_err(first)?;
        let mut model = self.named.clone();
        let e = check_expr(&mut model, &ast, Want::Value).map_err(first)?;
        if e.ty != *ty {
            return Err(format!("`{text}` is of {}, not {}", self.type_text(&e.ty), self.type_text(ty)));
        }
        let is_open = |e: &crate::model::Expr| {
            matches!(e.kind, ExprKind::Const(_) | ExprKind::Var(_) | ExprKind::Old(_))
        };
        if e.any(&is_open) {
            return Err(format!("`{text}`: a value of a log may not depend on constants or variables"));
        }
        let mut ask = Ask::new(&model, &opened.scope, &[], self.stop.clone());
        match ask.value(&e) {
            Ok(Answer::Value(_)) if ask.env.truncated.is_some() => {
                Err(format!("`{text}` was computed with integers from MININT to MAXINT only"))
            }
            Ok(Answer::Value(v)) => Ok(v),
            Ok(Answer::Symbolic) => Err(format!("`{text}` is infinite, or too large to write down")),
            Err(fault) => Err(format!("`{text}`: {}", fault_message(&fault).1)),
        }
    }
}
