//! Which machine a specification is: state, initialisation and operations among its schemas.
//!
//! As ProB has it for Z: `Init` is the initialisation, the schema that it includes is the state, and operations are the
//! schemas with the components of the state before and after, other components being inputs (`x?`) and outputs (`x!`),
//! unless another schema is made of them. Lines `%%kanon state S`, `init`, `operations`, `ignore` say otherwise. A
//! schema that speaks of an after-state and is no operation is an error: it would be missing from the machine.

use super::check::{Component, Defined, Paragraphs, Schema};
use super::lex::Directive;
use super::make;
use super::tree::{Kind, ParagraphKind, Spec, strokes};
use super::walk;
use crate::lang::ast::{
    BinOp, Expr, ExprKind, Ident, Machine, MachineKind, Name, Operation, Subst, SubstKind,
};
use crate::lang::diag::{Diagnostic, Span};
use crate::lang::spelling::closest;
use std::collections::{HashMap, HashSet};

/// What lines `%%kanon` say.
#[derive(Default)]
struct Orders {
    state: Option<(Name, Span)>,
    init: Option<(Name, Span)>,
    operations: Option<Vec<(Name, Span)>>,
    ignored: Vec<(Name, Span)>,
    sizes: Vec<(Ident, Expr)>,
}

/// The machine of a specification.
pub fn machine(name: Ident, spec: &Spec, found: Paragraphs, diags: &mut Vec<Diagnostic>) -> Machine {
    let orders = orders(&spec.directives, diags);
    let span = name.span;
    let mut made = Machine { ..Machine::empty(MachineKind::Machine, name, span) };
    let mut maker = Maker { spec, schemas: &found.schemas, used: &found.used, diags };
    maker.names_of_schemas(&orders);
    if let Some(parts) = maker.parts(&orders) {
        maker.behaviour(&parts, &mut made);
    }
    made.tool_definitions = orders.sizes;
    made.sets = found.sets;
    made.freetypes = found.free;
    made.constants = found.constants;
    made.properties = conjunction(found.properties, span);
    made.assertions = found.conjectures;
    made
}

fn conjunction(parts: Vec<Expr>, span: Span) -> Option<Expr> {
    (!parts.is_empty()).then(|| make::all(parts, span))
}

fn orders(directives: &[Directive], diags: &mut Vec<Diagnostic>) -> Orders {
    let mut orders = Orders::default();
    for d in directives {
        let mut error = |span, message: String| {
            let help = "`%%kanon state S`, `init I`, `operations A B`, `ignore A B`, `card S 3`";
            diags.push(Diagnostic::error("B0102", span, message).help(help));
        };
        let Some(((what, span), names)) = d.words.split_first() else {
            error(d.span, "nothing is said behind `%%kanon`".into());
            continue;
        };
        match (&**what, names) {
            ("state", [one]) => orders.state = Some(one.clone()),
            ("init", [one]) => orders.init = Some(one.clone()),
            ("operations", names) => orders.operations.get_or_insert_default().extend(names.iter().cloned()),
            ("ignore", names) => orders.ignored.extend(names.iter().cloned()),
            ("card", [(set, place), (size, size_place)]) => match size.parse::<u32>() {
                Ok(n) => {
                    let id = Ident { name: format!("scope_{set}").into(), span: *place };
                    orders.sizes.push((id, make::node(ExprKind::Int(n.into()), *size_place)));
                }
                Err(_) => error(*size_place, format!("`{size}` is no size of a set")),
            },
            ("state" | "init" | "card", _) => {
                error(*span, format!("`{what}` with these words means nothing"))
            }
            _ => error(*span, format!("`{what}` is nothing that kanon can be told")),
        }
    }
    orders
}

struct Parts<'f> {
    state: &'f Defined,
    init: &'f Defined,
    operations: Vec<&'f Defined>,
}

struct Maker<'f> {
    spec: &'f Spec,
    schemas: &'f [Defined],
    used: &'f HashSet<Name>,
    diags: &'f mut Vec<Diagnostic>,
}

impl<'f> Maker<'f> {
    fn error(&mut self, code: &'static str, span: Span, message: impl Into<String>, help: &str) {
        self.diags.push(Diagnostic::error(code, span, message).help(help));
    }

    fn named(&self, name: &str) -> Option<&'f Defined> {
        self.schemas.iter().find(|d| *d.name.name == *name)
    }

    fn names_of_schemas(&mut self, orders: &Orders) {
        let listed = orders.operations.iter().flatten().chain(&orders.ignored);
        let all: Vec<_> = listed.chain(&orders.state).chain(&orders.init).cloned().collect();
        for (name, span) in all {
            if self.named(&name).is_none() {
                let mut diag = Diagnostic::error("B0201", span, format!("there is no schema `{name}`"));
                if let Some(near) = closest(&name, self.schemas.iter().map(|d| &*d.name.name)) {
                    diag = diag.help(format!("did you mean `{near}`?"));
                }
                self.diags.push(diag);
            }
        }
    }

    /// Names of schemas that a schema's definition has, decorations apart.
    fn includes(&self, name: &Name) -> Vec<&'f Defined> {
        let mut found: Vec<&Defined> = vec![];
        for p in &self.spec.paragraphs {
            let mut see = |n: &Name| {
                let base = strokes(n).0;
                let plain = base.trim_start_matches(['Δ', 'Ξ']);
                let one = self.named(n).or_else(|| self.named(base)).or_else(|| self.named(plain));
                found.extend(one.filter(|one| !one.name.name.eq(name)));
            };
            match &p.kind {
                ParagraphKind::Schema(id, _, text) if id.name == *name => {
                    for d in &text.decls {
                        if let super::tree::Decl::Schema(e) = d {
                            walk::names(e, &mut see);
                        }
                    }
                }
                ParagraphKind::Define(id, _, e) if id.name == *name => match &e.kind {
                    Kind::Text(text) => {
                        for d in &text.decls {
                            if let super::tree::Decl::Schema(e) = d {
                                walk::names(e, &mut see);
                            }
                        }
                    }
                    _ => walk::names(e, &mut see),
                },
                _ => {}
            }
        }
        found
    }

    fn parts(&mut self, orders: &Orders) -> Option<Parts<'f>> {
        let init = match &orders.init {
            Some((name, _)) => Some(self.named(name)?),
            None => self.find_init()?,
        };
        let Some(init) = init else {
            // Definitions only, unless something changes.
            let changes =
                self.schemas.iter().find(|d| has_after(&d.schema) && !self.used.contains(&d.name.name));
            if let Some(d) = changes.filter(|d| !is_listed(&orders.ignored, d)) {
                let message = "there is no schema `Init`, so nobody knows where the machine begins";
                let help = "name the initialisation `Init`, or say `%%kanon init NAME`";
                self.error("B0204", d.name.span, message, help);
            } else if let Some((_, span)) = &orders.state {
                self.error(
                    "B0204",
                    *span,
                    "there is a state without an initialisation",
                    "say `%%kanon init NAME`",
                );
            }
            return None;
        };
        let state = match &orders.state {
            Some((name, _)) => self.named(name)?,
            None => self.find_state(init)?,
        };
        if let Some(c) = state.schema.components.iter().find(|c| c.name.ends_with(['\'', '?', '!'])) {
            let message =
                format!("`{}` cannot be the state: it has the component `{}`", state.name.name, c.name);
            self.error("B0203", state.name.span, message, "components of a state have no strokes");
            return None;
        }
        if state.schema.components.is_empty() {
            let message = format!("the state `{}` has no components", state.name.name);
            self.error("B0203", state.name.span, message, "say which schema it is: `%%kanon state NAME`");
            return None;
        }
        let operations = self.operations(orders, state, init);
        Some(Parts { state, init, operations })
    }

    /// `None` if that is an error.
    fn find_init(&mut self) -> Option<Option<&'f Defined>> {
        if let Some(init) = self.named("Init") {
            return Some(Some(init));
        }
        let is_init = |d: &&Defined| {
            let name = &*d.name.name;
            let rest = name.strip_prefix("Init").or_else(|| name.strip_suffix("Init"));
            rest.is_some_and(|rest| self.named(rest).is_some())
        };
        let all: Vec<&Defined> = self.schemas.iter().filter(is_init).collect();
        match all[..] {
            [] => Some(None),
            [one] => Some(Some(one)),
            [_, second, ..] => {
                let message = "there are several initialisations";
                self.error("B0204", second.name.span, message, "say which is meant: `%%kanon init NAME`");
                None
            }
        }
    }

    fn find_state(&mut self, init: &Defined) -> Option<&'f Defined> {
        let is_whole = |d: &&Defined| {
            let has = |c: &Component| {
                init.schema.component(&c.name).is_some()
                    || init.schema.component(&format!("{}'", c.name)).is_some()
            };
            !d.schema.components.is_empty() && d.schema.components.iter().all(has)
        };
        let included = self.includes(&init.name.name);
        let mut all: Vec<&Defined> = included.into_iter().filter(is_whole).collect();
        all.dedup_by(|a, b| a.name.name == b.name.name);
        match all[..] {
            [one] => Some(one),
            [] => {
                let message = format!("`{}` includes no schema that could be the state", init.name.name);
                self.error("B0204", init.name.span, message, "say which it is: `%%kanon state NAME`");
                None
            }
            _ => {
                let message = format!("`{}` includes several schemas: which is the state?", init.name.name);
                self.error("B0204", init.name.span, message, "say which it is: `%%kanon state NAME`");
                None
            }
        }
    }

    fn operations(&mut self, orders: &Orders, state: &'f Defined, init: &'f Defined) -> Vec<&'f Defined> {
        let mut found = vec![];
        if let Some(listed) = &orders.operations {
            for (name, span) in listed {
                let Some(d) = self.named(name) else { continue };
                if let Some(why) = no_operation(&d.schema, &state.schema) {
                    let message = format!("`{name}` is no operation on `{}`: {why}", state.name.name);
                    self.error("B0203", *span, message, "an operation includes `Δ` or `Ξ` of the state");
                } else if found.iter().all(|o: &&Defined| o.name.name != d.name.name) {
                    found.push(d);
                }
            }
            return found;
        }
        for d in self.schemas {
            let is_part = self.used.contains(&d.name.name) || is_listed(&orders.ignored, d);
            if is_part || d.name.name == state.name.name || d.name.name == init.name.name {
                continue;
            }
            let in_or_out = |c: &Component| c.name.ends_with(['?', '!']);
            let is_about = has_after(&d.schema)
                || (d.schema.components.iter().any(in_or_out)
                    && d.schema.components.iter().any(|c| state.schema.component(&c.name).is_some()));
            match no_operation(&d.schema, &state.schema) {
                None => found.push(d),
                Some(why) if is_about => {
                    let message =
                        format!("`{}` is no operation on `{}`: {why}", d.name.name, state.name.name);
                    let help =
                        "include `Δ` or `Ξ` of the state, or leave the schema out: `%%kanon ignore NAME`";
                    self.error("B0204", d.name.span, message, help);
                }
                Some(_) => {}
            }
        }
        found
    }

    fn behaviour(&mut self, parts: &Parts<'f>, made: &mut Machine) {
        let state = &parts.state.schema;
        let id = |c: &Component| Ident { name: c.name.clone(), span: c.span };
        made.variables = state.components.iter().map(id).collect();
        let vars: HashMap<Name, Expr> =
            state.components.iter().map(|c| (c.var.clone(), make::name(&c.name, c.span))).collect();
        made.invariant = conjunction(state.conjuncts_over(&vars), parts.state.name.span);
        made.initialisation = self.initialisation(parts);
        for d in &parts.operations {
            made.operations.push(operation(d, state));
        }
    }

    /// The values after the initialisation, which are those of `x'` or, where there are none, of `x`.
    fn initialisation(&mut self, parts: &Parts<'f>) -> Option<Subst> {
        let (state, init) = (&parts.state.schema, &parts.init.schema);
        let span = parts.init.name.span;
        let has = |c: &&Component| init.component(&c.name).is_some();
        let has_after = |c: &&Component| init.component(&format!("{}'", c.name)).is_some();
        let is_after = state.components.iter().any(|c| has_after(&c));
        let is_mixed = is_after && state.components.iter().any(|c| has(&c));
        let missing = state.components.iter().find(|c| if is_after { !has_after(c) } else { !has(c) });
        if is_mixed {
            let message = format!("`{}` speaks of states before and after it", parts.init.name.name);
            self.error("B0203", span, message, "an initialisation includes the state, or the state with `'`");
            return None;
        }
        if let Some(c) = missing {
            let message = format!("`{}` does not speak of `{}`", parts.init.name.name, c.name);
            self.error("B0203", span, message, "an initialisation includes the whole state");
            return None;
        }
        let after = |c: &Component| if is_after { format!("{}'", c.name) } else { c.name.to_string() };
        let new: Vec<&Component> =
            state.components.iter().filter_map(|c| init.component(&after(c))).collect();
        let left = state.components.iter().map(|c| make::name(&c.name, span)).collect();
        let right = new.iter().map(|c| make::name(&c.var, span)).collect();
        let ids = init.components.iter().map(|c| Ident { name: c.var.clone(), span: c.span }).collect();
        let assign = Subst { kind: SubstKind::Assign(left, right), span };
        let p = make::all(distinct(&init.conjuncts), span);
        Some(Subst { kind: SubstKind::Any(ids, p, Box::new(assign)), span })
    }
}

fn is_listed(list: &[(Name, Span)], d: &Defined) -> bool {
    list.iter().any(|(n, _)| *n == d.name.name)
}

fn has_after(schema: &Schema) -> bool {
    schema.components.iter().any(|c| c.name.ends_with('\''))
}

/// Why a schema is no operation on a state.
fn no_operation(schema: &Schema, state: &Schema) -> Option<String> {
    let mut known = HashSet::new();
    for c in &state.components {
        for name in [c.name.to_string(), format!("{}'", c.name)] {
            if schema.component(&name).is_none() {
                return Some(format!("it has no component `{name}`"));
            }
            known.insert(name);
        }
    }
    let mut others = schema.components.iter().filter(|c| !known.contains(&*c.name));
    others
        .find(|c| !c.name.ends_with(['?', '!']))
        .map(|c| format!("its component `{}` is neither input, output nor of the state", c.name))
}

/// The parts of conjunctions, each once.
fn distinct(conjuncts: &[Expr]) -> Vec<Expr> {
    let mut all: Vec<Expr> = vec![];
    let mut seen = HashSet::new();
    for p in conjuncts.iter().flat_map(Expr::conjuncts) {
        if seen.insert(crate::lang::print::expr(p)) {
            all.push(p.clone());
        }
    }
    all
}

/// An operation of the machine. Alternatives, of an operation that is a disjunction, are its cases.
fn operation(d: &Defined, state: &Schema) -> Operation {
    let (schema, span) = (&d.schema, d.name.span);
    let id = |c: &&Component| Ident { name: c.name.clone(), span: c.span };
    let outputs: Vec<&Component> = schema.components.iter().filter(|c| c.name.ends_with('!')).collect();
    let mut names: HashMap<Name, Expr> = HashMap::new();
    for c in &schema.components {
        let is_before = state.component(&c.name).is_some();
        if is_before || c.name.ends_with('?') {
            names.insert(c.var.clone(), make::name(&c.name, span));
        }
    }
    let after = state
        .components
        .iter()
        .filter_map(|c| Some((c, schema.component(&format!("{}'", c.name))?)))
        .collect();
    let case = Case { after, outputs, span };
    let (common, cases) = cases(distinct(&schema.conjuncts_over(&names)), &|p| case.is_guard(p), span);
    let body = if cases.is_empty() {
        case.body(common)
    } else {
        let (guard, rest): (Vec<Expr>, Vec<Expr>) = common.into_iter().partition(|p| case.is_guard(p));
        let bodies = cases.into_iter().map(|own| case.body(rest.iter().cloned().chain(own).collect()));
        under(guard, Subst { kind: SubstKind::Choice(bodies.collect()), span }, span)
    };
    let params = schema.components.iter().filter(|c| c.name.ends_with('?'));
    let results = case.outputs.iter().map(id).collect();
    Operation { name: d.name.clone(), results, params: params.map(|c| id(&c)).collect(), body }
}

/// What is said anyway and, where just one conjunct is a disjunction, what each of its disjuncts says beyond.
fn cases(conjuncts: Vec<Expr>, is_guard: &dyn Fn(&Expr) -> bool, span: Span) -> (Vec<Expr>, Vec<Vec<Expr>>) {
    let is_or = |p: &Expr| matches!(p.kind, ExprKind::Binary(BinOp::Or, ..)) && !is_guard(p);
    let (mut ors, mut common): (Vec<Expr>, Vec<Expr>) = conjuncts.into_iter().partition(is_or);
    if ors.len() != 1 {
        common.append(&mut ors);
        return (common, vec![]);
    }
    let mut all: Vec<Vec<Expr>> =
        ors.iter().flat_map(|or| or.operands(BinOp::Or)).map(|p| distinct(std::slice::from_ref(p))).collect();
    let Some((first, others)) = all.split_first() else { return (common, vec![]) };
    let others: Vec<HashSet<String>> =
        others.iter().map(|ps| ps.iter().map(crate::lang::print::expr).collect()).collect();
    let is_shared = |p: &Expr| {
        let text = crate::lang::print::expr(p);
        others.iter().all(|ps| ps.contains(&text))
    };
    let shared: Vec<Expr> = first.iter().filter(|p| is_shared(p)).cloned().collect();
    let texts: HashSet<String> = shared.iter().map(crate::lang::print::expr).collect();
    for ps in &mut all {
        ps.retain(|p| !texts.contains(&crate::lang::print::expr(p)));
    }
    common.extend(shared);
    (distinct(&[make::all(common, span)]), all)
}

fn under(guard: Vec<Expr>, body: Subst, span: Span) -> Subst {
    if guard.is_empty() {
        return body;
    }
    let arms = vec![(make::all(guard, span), body)];
    Subst { kind: SubstKind::Select(arms, None), span }
}

/// What all cases of an operation have in common.
struct Case<'s> {
    /// Components of the state with those of the state after.
    after: Vec<(&'s Component, &'s Component)>,
    outputs: Vec<&'s Component>,
    span: Span,
}

impl Case<'_> {
    /// It speaks neither of the state after nor of outputs.
    fn is_guard(&self, p: &Expr) -> bool {
        let chosen = || self.after.iter().map(|(_, new)| *new).chain(self.outputs.iter().copied());
        let mut is_guard = true;
        make::names(p, &mut |n| is_guard = is_guard && chosen().all(|c| c.var != *n));
        is_guard
    }

    /// What does not speak of the state after nor of outputs is the guard; variables that stay as they are by a
    /// conjunct `x' = x` are not assigned.
    fn body(&self, mut conjuncts: Vec<Expr>) -> Subst {
        let span = self.span;
        let mut same: HashMap<Name, Expr> = HashMap::new();
        for (old, new) in &self.after {
            let is_same = |p: &Expr| match &p.kind {
                ExprKind::Binary(BinOp::Eq, a, b) => {
                    let is = |e: &Expr, n: &Name| matches!(&e.kind, ExprKind::Name(m) if m == n);
                    (is(a, &new.var) && is(b, &old.name)) || (is(a, &old.name) && is(b, &new.var))
                }
                _ => false,
            };
            if conjuncts.iter().any(is_same) {
                conjuncts.retain(|p| !is_same(p));
                same.insert(new.var.clone(), make::name(&old.name, span));
            }
        }
        conjuncts.iter_mut().for_each(|p| make::substitute(p, &same));
        let (guard, rest): (Vec<Expr>, Vec<Expr>) =
            distinct(&conjuncts).into_iter().partition(|p| self.is_guard(p));
        let changed = || self.after.iter().filter(|(_, new)| !same.contains_key(&new.var));
        let left: Vec<Expr> = changed()
            .map(|(old, _)| make::name(&old.name, span))
            .chain(self.outputs.iter().map(|c| make::name(&c.name, span)))
            .collect();
        let choice = changed().map(|(_, new)| *new).chain(self.outputs.iter().copied());
        let ids: Vec<Ident> = choice.map(|c| Ident { name: c.var.clone(), span: c.span }).collect();
        let right = ids.iter().map(|id| make::name(&id.name, span)).collect();
        let body = if ids.is_empty() {
            Subst { kind: SubstKind::Skip, span }
        } else {
            let assign = Subst { kind: SubstKind::Assign(left, right), span };
            Subst { kind: SubstKind::Any(ids, make::all(rest, span), Box::new(assign)), span }
        };
        under(guard, body, span)
    }
}
