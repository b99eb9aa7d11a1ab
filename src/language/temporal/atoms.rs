//! The atomic propositions of a formula over a B model: text becomes typed predicates.
//!
//! A proposition of states is a predicate over constants and variables. A proposition of steps is an operation, perhaps
//! with a predicate over both states: the values before are locals (`x$0`), as are parameters and results. Arguments
//! and results of a pattern are any B expressions, evaluated before the step.

use super::parse::{Atom, Change, Condition, Parsed, Pattern, Text, parse};
use super::syntax::{Formula, Prop, Property, Resolved};
use crate::lang::ast;
use crate::lang::diag::{Diagnostic, FileId, Span};
use crate::model::check::{Want, check_expr, check_open};
use crate::model::open::Opened;
use crate::model::{BinOp, Decl, Expr, ExprKind, Lit, LocalId, Model, OpId, Type, VarId};
use std::collections::HashMap;
use std::sync::Arc;

/// A property, ready to be compiled.
#[derive(Clone, Debug)]
pub struct Bound {
    /// As it was written.
    pub text: String,
    pub parsed: Parsed,
    pub property: Resolved,
    pub states: Vec<StateAtom>,
    pub steps: Vec<StepAtom>,
    /// The whole formula.
    pub span: Span,
}

#[derive(Clone, Debug)]
pub enum StateAtom {
    Predicate(Expr),
    /// The state that the user has chosen.
    Current(Span),
}

/// A proposition of steps: this operation, if one is given, and this predicate, if one is given.
#[derive(Clone, Debug)]
pub struct StepAtom {
    pub operation: Option<OpId>,
    pub test: Option<Expr>,
    /// The locals of the test and where their values come from.
    pub locals: Vec<(LocalId, From)>,
    /// Something is said of parameters, results or states.
    pub is_instance: bool,
    /// A step that is none of the model's operations, by its place in the list of [`bind_among`].
    pub foreign: Option<usize>,
    pub span: Span,
}

/// Where a local gets its value from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum From {
    /// A variable before the step.
    Old(VarId),
    Parameter(usize),
    Result(usize),
}

type Res<T> = Result<T, Vec<Diagnostic>>;

/// Reads a formula and finds what it speaks of. The model gets the locals that its predicates need, so this comes before
/// the model is made a system.
pub fn bind(opened: &mut Opened, name: &str, text: &str) -> Res<Bound> {
    bound(opened, name, text, None)
}

/// The same for a model that is a part of something larger: steps that are none of its operations get a place in the list,
/// as they are written, and with where.
pub fn bind_among(
    opened: &mut Opened,
    name: &str,
    text: &str,
    foreign: &mut Vec<(String, Span)>,
) -> Res<Bound> {
    bound(opened, name, text, Some(foreign))
}

fn bound(
    opened: &mut Opened,
    name: &str,
    text: &str,
    foreign: Option<&mut Vec<(String, Span)>>,
) -> Res<Bound> {
    let (file, parsed) = parse(&mut opened.sources, name, text).map_err(|d| vec![d])?;
    let mut b = Binder {
        opened,
        file,
        text: text.to_string(),
        states: vec![],
        steps: vec![],
        known: HashMap::new(),
        old: HashMap::new(),
        foreign,
    };
    let formula = parsed.formula.try_map(&mut |a| b.atom(a).map(Formula::Atom))?;
    let premise = match &parsed.premise {
        Some(f) => Some(f.try_map(&mut |p| b.step(p))?),
        None => None,
    };
    let (states, steps) = (b.states, b.steps);
    let span = Span::new(file, 0, text.len());
    let many = [(states.len(), "predicates"), (steps.len(), "kinds of steps")];
    if let Some((n, what)) = many.iter().find(|(n, _)| *n > 64) {
        let message = format!("the formula speaks of {n} {what}; at most 64 are supported");
        return Err(vec![Diagnostic::error("L0402", span, message)]);
    }
    Ok(Bound {
        text: text.trim().to_string(),
        property: Property { premise, formula },
        parsed,
        states,
        steps,
        span,
    })
}

struct Binder<'o> {
    opened: &'o mut Opened,
    file: FileId,
    text: String,
    states: Vec<StateAtom>,
    steps: Vec<StepAtom>,
    /// Propositions that were met before, by their text.
    known: HashMap<String, u32>,
    old: HashMap<VarId, LocalId>,
    foreign: Option<&'o mut Vec<(String, Span)>>,
}

impl Binder<'_> {
    fn atom(&mut self, atom: &Atom) -> Res<Prop> {
        Ok(match atom {
            Atom::Deadlock => Prop::Deadlock,
            Atom::Sink => Prop::Sink,
            Atom::Step(p) => Prop::Step(self.step(p)?),
            Atom::Enabled(p) => Prop::Enabled(self.step(p)?),
            Atom::Predicate(t) => {
                let key = format!("{{{}", t.text.trim());
                if let Some(i) = self.known.get(&key) {
                    return Ok(Prop::State(*i));
                }
                let ast = self.read(t)?;
                let e =
                    check_expr(&mut self.opened.model, &ast, Want::Predicate).map_err(|d| self.here(d))?;
                if e.any(&|x| matches!(x.kind, ExprKind::Old(_))) {
                    let d = Diagnostic::error(
                        "L0203",
                        t.span,
                        "a state has no value before: `$0` belongs to steps",
                    );
                    return Err(vec![d.help("write `[Op & x$0 < x]`, or `BA({x$0 < x})` for any operation")]);
                }
                self.state(key, StateAtom::Predicate(e))
            }
            Atom::Goal(span) => {
                let Some(goal) = self.opened.model.goal.clone() else {
                    return Err(vec![Diagnostic::error(
                        "L0201",
                        *span,
                        "the machine has no GOAL definition",
                    )]);
                };
                self.state("goal".to_string(), StateAtom::Predicate(goal))
            }
            Atom::Current(span) => self.state("current".to_string(), StateAtom::Current(*span)),
        })
    }

    fn state(&mut self, key: String, atom: StateAtom) -> Prop {
        let i = *self.known.entry(key).or_insert_with(|| {
            self.states.push(atom);
            (self.states.len() - 1) as u32
        });
        Prop::State(i)
    }

    fn step(&mut self, p: &Pattern) -> Res<u32> {
        let key = format!("[{}", Atom::Step(p.clone()));
        if let Some(i) = self.known.get(&key) {
            return Ok(*i);
        }
        let mut foreign = None;
        let operation = match &p.operation {
            Some(name) => match self.operation(name) {
                Ok(op) => Some(op),
                Err(wrong) => {
                    foreign = self.foreign(p);
                    if foreign.is_none() {
                        return Err(wrong);
                    }
                    None
                }
            },
            None => None,
        };
        let span = p.span;
        let mut atom = StepAtom { operation, test: None, locals: vec![], is_instance: false, foreign, span };
        if foreign.is_some() {
            self.steps.push(atom);
            let i = (self.steps.len() - 1) as u32;
            self.known.insert(key, i);
            return Ok(i);
        }
        let mut tests = vec![];
        if let Some(op) = operation {
            let declared = &self.opened.model.operations[op.index()];
            let (params, results) = (declared.params.clone(), declared.results.clone());
            let lists = [
                (&p.args, params, "parameter", From::Parameter as fn(usize) -> From),
                (&p.results, results, "result", From::Result),
            ];
            for (given, locals, what, from) in lists {
                let Some(given) = given else { continue };
                if given.len() != locals.len() {
                    return Err(vec![self.wrong_number(p, given.len(), locals.len(), what)]);
                }
                for (i, (text, local)) in given.iter().zip(&locals).enumerate() {
                    if let Some(text) = text {
                        let ty = self.opened.model.local(*local).ty.clone();
                        let (local, test) = self.argument(text, &ty)?;
                        atom.locals.push((local, from(i)));
                        tests.push(test);
                    }
                }
            }
        }
        match &p.condition {
            Some(Condition::Predicate(t)) => tests.push(self.condition(t, operation, &mut atom)?),
            Some(Condition::Compare(how, t)) => tests.push(self.comparison(*how, t)?),
            None => {}
        }
        atom.is_instance = !tests.is_empty();
        atom.test = tests.into_iter().reduce(|a, b| {
            let span = a.span;
            Expr { kind: ExprKind::Binary(BinOp::And, Box::new(a), Box::new(b)), ty: Type::Pred, span }
        });
        let mentioned = |l: LocalId| atom.test.as_ref().is_some_and(|t| t.mentions_local(l));
        let old = self.old.iter().filter(|(_, l)| mentioned(**l)).map(|(v, l)| (*l, From::Old(*v)));
        let old: Vec<_> = old.collect();
        atom.locals.extend(old);
        self.steps.push(atom);
        let i = (self.steps.len() - 1) as u32;
        self.known.insert(key, i);
        Ok(i)
    }

    /// The place of a step that is none of the model's, if there can be such steps.
    fn foreign(&mut self, p: &Pattern) -> Option<usize> {
        let written = self.text.get(p.span.lo as usize..p.span.hi as usize)?.trim().to_string();
        let list = self.foreign.as_mut()?;
        let known = list.iter().position(|(text, _)| *text == written);
        Some(known.unwrap_or_else(|| {
            list.push((written, p.span));
            list.len() - 1
        }))
    }

    fn operation(&self, name: &Text) -> Res<OpId> {
        let events = || self.opened.model.operations.iter().enumerate().filter(|(_, o)| o.is_event);
        if let Some((i, _)) = events().find(|(_, o)| *o.name == *name.text) {
            return Ok(OpId(i as u32));
        }
        let d =
            Diagnostic::error("L0201", name.span, format!("the machine has no operation `{}`", name.text));
        let alike = events().find(|(_, o)| o.name.eq_ignore_ascii_case(&name.text));
        Err(vec![match alike {
            Some((_, o)) => d.help(format!("there is `{}`", o.name)),
            None => {
                let mut names: Vec<&str> = events().map(|(_, o)| &*o.name).take(9).collect();
                if names.len() == 9 {
                    names[8] = "…";
                }
                d.help(format!("its operations are: {}", names.join(", ")))
            }
        }])
    }

    fn wrong_number(&self, p: &Pattern, given: usize, declared: usize, what: &str) -> Diagnostic {
        let name = p.operation.as_ref().map_or("", |t| &t.text);
        let s = if declared == 1 { "" } else { "s" };
        let message = format!("`{name}` has {declared} {what}{s}, but {given} are given");
        Diagnostic::error("L0202", p.span, message)
            .help("`_` stands for any value; `[Op]` says nothing of them")
    }

    /// Reads B text where it stands: everything around it is blank, so that places are those of the formula.
    fn read(&mut self, t: &Text) -> Res<ast::Expr> {
        let blank = |s: &str| s.bytes().map(|b| if b == b'\n' { '\n' } else { ' ' }).collect::<String>();
        let lo = t.span.lo as usize;
        let around = blank(&self.text[..lo]);
        let opened = &mut *self.opened;
        let text = format!("{around}{}", t.text);
        let name = opened.sources.path(self.file).map_or_else(String::new, |p| p.display().to_string());
        let read = opened.parse_expr(&name, &text);
        read.map_err(|d| self.here(d))
    }

    /// Messages about the text of [`Binder::read`] are about the formula.
    fn here(&self, mut all: Vec<Diagnostic>) -> Vec<Diagnostic> {
        let ours = |span: &mut Span| {
            let path = |f| self.opened.sources.path(f);
            if span.file > self.file && path(span.file) == path(self.file) {
                span.file = self.file;
            }
        };
        for d in &mut all {
            ours(&mut d.span);
            d.notes.iter_mut().for_each(|(span, _)| ours(span));
        }
        all
    }

    /// `p = E` for a parameter of this type: the local that stands for it, and the test.
    fn argument(&mut self, t: &Text, ty: &Type) -> Res<(LocalId, Expr)> {
        let e = self.read(t)?;
        // No B name has a blank in it, so nothing clashes.
        let name: Arc<str> = "the argument".into();
        let (mut locals, typed) = self.typed(&e, &[(name.clone(), ty.clone())], |e| {
            binary(BinOp::Eq, named(&name, t.span), e.clone())
        })?;
        let test = self.at_old(typed, true);
        match locals.pop() {
            Some(local) => Ok((local, test)),
            None => Err(vec![Diagnostic::error("L0203", t.span, "expected a value")]),
        }
    }

    /// A predicate over both states, parameters and results.
    fn condition(&mut self, t: &Text, operation: Option<OpId>, atom: &mut StepAtom) -> Res<Expr> {
        let e = self.read(t)?;
        let model = &self.opened.model;
        let declared = operation.map(|op| &model.operations[op.index()]);
        let mut visible: Vec<(Arc<str>, Type)> = vec![];
        let mut from = vec![];
        if let Some(op) = declared {
            let all = op.params.iter().enumerate().map(|(i, l)| (From::Parameter(i), *l));
            let all = all.chain(op.results.iter().enumerate().map(|(i, l)| (From::Result(i), *l)));
            for (f, l) in all {
                let d = model.local(l);
                // The machine's own names win.
                if !visible.iter().any(|(n, _)| *n == d.name) && !is_global(model, &d.name) {
                    visible.push((d.name.clone(), d.ty.clone()));
                    from.push(f);
                }
            }
        }
        let (locals, typed) = self.typed(&e, &visible, Clone::clone)?;
        atom.locals.extend(locals.into_iter().zip(from));
        Ok(self.at_old(typed, false))
    }

    fn comparison(&mut self, how: Change, t: &Text) -> Res<Expr> {
        let ast = self.read(t)?;
        let now = check_expr(&mut self.opened.model, &ast, Want::Value).map_err(|d| self.here(d))?;
        let ordered = matches!(how, Change::Increasing | Change::Decreasing);
        if ordered && now.ty != Type::Int {
            let message = format!("`{}` needs a number", how.name());
            return Err(vec![Diagnostic::error("L0203", t.span, message)]);
        }
        let op = match how {
            Change::Changed => BinOp::Neq,
            Change::Unchanged => BinOp::Eq,
            Change::Increasing => BinOp::Gt,
            Change::Decreasing => BinOp::Lt,
        };
        let before = self.at_old(now.clone(), true);
        let span = now.span;
        Ok(Expr { kind: ExprKind::Binary(op, Box::new(now), Box::new(before)), ty: Type::Pred, span })
    }

    /// Types `wrap(e)` with some names as locals of known types; returns the locals in that order.
    fn typed(
        &mut self,
        e: &ast::Expr,
        visible: &[(Arc<str>, Type)],
        wrap: impl Fn(&ast::Expr) -> ast::Expr,
    ) -> Res<(Vec<LocalId>, Expr)> {
        let model = &mut self.opened.model;
        let declare =
            |(n, ty): &(Arc<str>, Type)| binary(BinOp::In, named(n, e.span), type_text(ty, e.span, model));
        // x : T & … & P: the left part gives the types.
        let types = visible.iter().map(declare).reduce(|a, b| binary(BinOp::And, a, b));
        let whole = match types {
            Some(types) => binary(BinOp::And, types, wrap(e)),
            None => wrap(e),
        };
        let (locals, typed) = check_open(model, &whole).map_err(|d| self.here(d))?;
        let model = &mut self.opened.model;
        let place = |n: &Arc<str>| locals.iter().copied().find(|l| model.local(*l).name == *n);
        let found: Vec<Option<LocalId>> = visible.iter().map(|(n, _)| place(n)).collect();
        let unknown = locals.iter().any(|l| !visible.iter().any(|(n, _)| *n == model.local(*l).name));
        if unknown {
            // Says which name is unknown.
            return match check_expr(model, e, Want::Either) {
                Err(d) => Err(self.here(d)),
                Ok(_) => Err(vec![Diagnostic::error("L0203", e.span, "a name here is not known")]),
            };
        }
        let body = match typed.kind {
            ExprKind::Binary(BinOp::And, _, body) if !visible.is_empty() => *body,
            kind => Expr { kind, ..typed },
        };
        if body.ty != Type::Pred {
            return Err(vec![Diagnostic::error("L0203", e.span, "expected a predicate, found a value")]);
        }
        Ok((found.into_iter().flatten().collect(), body))
    }

    /// `x$0`, and with `all` every variable, becomes the local that holds the value before the step.
    fn at_old(&mut self, mut e: Expr, all: bool) -> Expr {
        self.replace_old(&mut e, all);
        e
    }

    fn replace_old(&mut self, e: &mut Expr, all: bool) {
        let variable = match &e.kind {
            ExprKind::Old(v) => Some(*v),
            ExprKind::Var(v) if all => Some(*v),
            _ => None,
        };
        if let Some(v) = variable {
            e.kind = ExprKind::Local(self.old_local(v));
        }
        e.for_each_child_mut(&mut |c| self.replace_old(c, all));
    }

    fn old_local(&mut self, v: VarId) -> LocalId {
        let model = &mut self.opened.model;
        *self.old.entry(v).or_insert_with(|| {
            let d = &model.variables[v.index()];
            let local = Decl { name: format!("{}$0", d.name).into(), ty: d.ty.clone(), span: d.span };
            model.locals.push(local);
            LocalId((model.locals.len() - 1) as u32)
        })
    }
}

fn is_global(model: &Model, name: &str) -> bool {
    let declared = model.constants.iter().chain(&model.variables).any(|d| &*d.name == name);
    let in_set =
        |s: &crate::model::GivenSet| &*s.name == name || s.elements.iter().flatten().any(|e| &**e == name);
    declared || model.sets.iter().any(in_set)
}

fn named(name: &Arc<str>, span: Span) -> ast::Expr {
    ast::Expr { kind: ast::ExprKind::Name(name.clone()), span }
}

fn binary(op: BinOp, a: ast::Expr, b: ast::Expr) -> ast::Expr {
    let span = a.span.to(b.span);
    ast::Expr { kind: ast::ExprKind::Binary(op, Box::new(a), Box::new(b)), span }
}

/// A type as the set of all its values.
fn type_text(ty: &Type, span: Span, model: &Model) -> ast::Expr {
    let text = |ty: &Type| type_text(ty, span, model);
    let kind = match ty {
        Type::Bool | Type::Pred => ast::ExprKind::Lit(Lit::BoolSet),
        Type::Int => ast::ExprKind::Lit(Lit::Integer),
        Type::Str => ast::ExprKind::Lit(Lit::StringSet),
        Type::Real => ast::ExprKind::Lit(Lit::RealSet),
        Type::Free(free) if free.parameters().is_empty() => ast::ExprKind::Name(free.name().clone()),
        Type::Free(free) => {
            let name = ast::Expr { kind: ast::ExprKind::Name(free.name().clone()), span };
            ast::ExprKind::Apply(Box::new(name), free.parameters().iter().map(text).collect())
        }
        Type::Again(_) => ast::ExprKind::Lit(Lit::Whole),
        Type::Given(s) => ast::ExprKind::Name(model.sets[s.index()].name.clone()),
        Type::Pair(p) => ast::ExprKind::Binary(BinOp::Mul, Box::new(text(&p.0)), Box::new(text(&p.1))),
        Type::Pow(t) => ast::ExprKind::Call(ast::Fun::Pow, vec![text(t)]),
        Type::Rec(fields) => {
            let field = |(n, t): &(Arc<str>, Type)| (ast::Ident { name: n.clone(), span }, text(t));
            ast::ExprKind::Struct(fields.iter().map(field).collect())
        }
    };
    ast::Expr { kind, span }
}
