//! Why a predicate is false (or true, or without a truth value) in a state: its parts with their values, a
//! witness for a quantifier.
//!
//! [`guard`] says it of an operation that does nothing: condition by condition.
//!
//! An explanation is a service: it has a little time, and when it cannot be given there is none.

mod guard;

pub use guard::{Condition, Disabled, Truth, Way, ways};

use super::ask::{Answer, Ask};
use super::shown;
use crate::model::raise::text;
use crate::model::{BinOp, Expr, ExprKind as E, Fun, Lit, LocalId, Model, Quant, Stmt, StmtKind, Type, UnOp};
use crate::system::{Machine, System};
use crate::value::fault::Fault;
use crate::value::val::{Val, from_value};
use crate::value::{Scope, Value};
use std::collections::{BTreeSet, HashSet};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// What is told of an expression without a value.
pub const NO_VALUE: &str = "has no value";
/// How long an explanation may take, and how long it may take to notice that.
const BUDGET: Duration = Duration::from_secs(2);
const GRACE: Duration = Duration::from_millis(300);
/// Parts shown at most.
const MAX_PARTS: usize = 24;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PartKind {
    /// `text = value`
    Value,
    /// The variables of a quantifier.
    Witness,
    Note,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    pub kind: PartKind,
    pub text: String,
    pub value: String,
    /// Parts of a part stand deeper.
    pub depth: usize,
}

/// Where a well-definedness error arose.
#[derive(Clone, Copy)]
pub struct Context {
    pub event: Option<usize>,
    pub in_properties: bool,
    pub has_state: bool,
}

/// A well-definedness error: the operation, its parameters, and the parts.
pub type FaultStory = (String, Vec<(String, String)>, Vec<Part>);

pub struct Explainer<'a> {
    system: &'a Machine,
    row: Option<&'a [u64]>,
    valuation: usize,
}

/// What an explanation is about: copies, since it may outlive its time.
struct Subject {
    model: Model,
    scope: Scope,
    exprs: Vec<Expr>,
    /// Parameters of the operation in question.
    bindings: Vec<(LocalId, Val)>,
}

type Work = Box<dyn for<'s> FnOnce(&mut Telling<'s>, &'s Subject) + Send>;

impl<'a> Explainer<'a> {
    pub fn new(system: &'a Machine, row: Option<&'a [u64]>, valuation: usize) -> Self {
        let valuation = row.map_or(valuation, |r| system.start_of(r));
        Explainer { system, row, valuation }
    }

    /// Runs an explanation in a thread of its own. When the time is up, or it fails, what it has told so far
    /// counts; a thread that does not hear is left behind.
    fn within_budget(&self, exprs: Vec<Expr>, bindings: Vec<(LocalId, Val)>, work: Work) -> Vec<Part> {
        let subject = Subject {
            model: (*self.system.model).clone(),
            scope: (*self.system.scope).clone(),
            exprs,
            bindings,
        };
        let values = self.system.values(self.valuation, self.row);
        let stop = Arc::new(AtomicBool::new(false));
        let parts = Arc::new(Mutex::new(vec![]));
        let (done, waits) = channel::<()>();
        let (flag, told) = (stop.clone(), parts.clone());
        let tell = move || {
            let mut ask = Ask::new(&subject.model, &subject.scope, &values, flag);
            for (l, v) in &subject.bindings {
                ask.bind(*l, v.clone());
            }
            let mut telling = Telling { model: &subject.model, ask, parts: told, told: HashSet::new() };
            let _ = catch_unwind(AssertUnwindSafe(|| work(&mut telling, &subject)));
            let _ = done.send(());
        };
        if crate::lang::stack::thread().spawn(tell).is_ok()
            && waits.recv_timeout(BUDGET) == Err(RecvTimeoutError::Timeout)
        {
            stop.store(true, Ordering::Relaxed);
            let _ = waits.recv_timeout(GRACE);
        }
        parts.lock().map(|p| p.clone()).unwrap_or_default()
    }

    /// Why this has this truth.
    pub fn predicate(&self, e: &Expr, truth: bool) -> Vec<Part> {
        self.judged(e, Some(truth))
    }

    /// Why this has this truth, or none.
    pub fn judged(&self, e: &Expr, truth: Option<bool>) -> Vec<Part> {
        let work: Work = Box::new(move |t, s| t.predicate(&s.exprs[0], truth, 0));
        self.within_budget(vec![e.clone()], vec![], work)
    }

    /// Why an operation does nothing, with these values of some of its parameters.
    pub fn disabled(&self, event: usize, given: &[Option<Value>]) -> Disabled {
        let (system, event) = (self.system, &self.system.events[event]);
        let op = event.op.index();
        let parameters = system.model.operations[op].params.iter().zip(&event.params).zip(given);
        let value = |((l, slot), v): ((&LocalId, &u32), &Option<Value>)| {
            Some((*l, from_value(v.as_ref()?, &system.slots[*slot as usize].rep)?))
        };
        let bindings: Vec<(LocalId, Val)> = parameters.filter_map(value).collect();
        let bound: Vec<LocalId> = bindings.iter().map(|(l, _)| *l).collect();
        let found = Arc::new(Mutex::new(Disabled::default()));
        let told = found.clone();
        let work: Work = Box::new(move |t, s| t.conditions(&s.model.operations[op], &bound, &told));
        self.within_budget(vec![], bindings, work);
        found.lock().map(|f| f.clone()).unwrap_or_default()
    }

    /// Why no operation is enabled.
    pub fn deadlock(&self) -> Vec<Part> {
        if self.row.is_none() {
            return vec![];
        }
        let ops: Vec<usize> = self.system.events.iter().map(|e| e.op.index()).collect();
        let work: Work = Box::new(move |t, s| ops.iter().for_each(|op| t.disabled(&s.model.operations[*op])));
        self.within_budget(vec![], vec![], work)
    }

    pub fn fault(&self, fault: &Fault, context: Context) -> FaultStory {
        let model = &*self.system.model;
        let Some(index) = context.event else { return self.fault_in_clause(fault, context) };
        let event = &self.system.events[index];
        let Some(row) = self.row else { return (event.name.to_string(), vec![], vec![]) };
        let op = &model.operations[event.op.index()];
        let find = AssertUnwindSafe(|| self.system.faulty_parameters(row, index, fault));
        let values = catch_unwind(find).unwrap_or_default();
        let mut params = vec![];
        for ((l, v), slot) in op.params.iter().zip(&values).zip(&event.params) {
            if let Some(plain) = self.system.plain(*slot as usize, v) {
                let decl = model.local(*l);
                params.push((decl.name.to_string(), shown(&plain, &decl.ty, model)));
            }
        }
        let mut culprit = None;
        each_expr(&op.body, &mut |e| {
            if culprit.is_none() && mentions(e, fault) {
                culprit = Some(e);
            }
        });
        let why = match culprit {
            Some(e) => {
                let bindings = op.params.iter().copied().zip(values).collect();
                let fault = fault.clone();
                let work: Work = Box::new(move |t, s| t.culprit(&s.exprs[0], &fault));
                self.within_budget(vec![e.clone()], bindings, work)
            }
            None => match called(model, &op.body, fault) {
                Some((given, e)) => {
                    let bindings = op.params.iter().copied().zip(values).collect();
                    let exprs = std::iter::once(e).chain(given.iter().map(|(_, v)| *v)).cloned().collect();
                    let locals: Vec<LocalId> = given.iter().map(|(l, _)| *l).collect();
                    let fault = fault.clone();
                    let work: Work = Box::new(move |t, s| t.call(&locals, &s.exprs, &fault));
                    self.within_budget(exprs, bindings, work)
                }
                None => vec![],
            },
        };
        (event.name.to_string(), params, why)
    }

    /// A fault outside any operation.
    fn fault_in_clause(&self, fault: &Fault, context: Context) -> FaultStory {
        let model = &*self.system.model;
        let clauses: [(&str, Vec<&Expr>); 4] = [
            ("INVARIANT", model.invariant.iter().collect()),
            ("ASSERTIONS", model.assertions.iter().collect()),
            ("GOAL", model.goal.iter().collect()),
            ("PROPERTIES", model.properties.iter().collect()),
        ];
        let (clauses, otherwise): (&[_], &str) = match context {
            Context { in_properties: true, .. } => (&clauses[3..], "PROPERTIES"),
            Context { has_state: true, .. } => (&clauses[..3], "INVARIANT"),
            _ => (&[], super::INITIALISATION),
        };
        for (name, list) in clauses {
            if let Some(e) = list.iter().find(|e| mentions(e, fault)) {
                let work: Work = Box::new(|t, s| t.faulty(&s.exprs[0], 0));
                let why = self.within_budget(vec![(*e).clone()], vec![], work);
                // Read strictly, it is a part of the invariant that guards have values.
                let is_demanded = list.iter().all(|e| matches!(e.kind, E::Demand(_)) || !mentions(e, fault));
                let guarded = model.operations.iter().find(|op| is_demanded && is_within(&op.body, fault));
                return (guarded.map_or(*name, |op| &*op.name).to_string(), vec![], why);
            }
        }
        (otherwise.to_string(), vec![], vec![])
    }
}

/// Whether the fault arose in this expression.
fn mentions(e: &Expr, fault: &Fault) -> bool {
    e.any(&|x| x.span == fault.span())
}

/// Whether it arose in an expression of this statement.
fn is_within(s: &Stmt, fault: &Fault) -> bool {
    let mut found = false;
    each_expr(s, &mut |e| found |= mentions(e, fault));
    found
}

/// The part of an expression in which the fault arose.
fn part_at<'a>(e: &'a Expr, fault: &Fault) -> Option<&'a Expr> {
    if e.span == fault.span() {
        return Some(e);
    }
    let mut found = None;
    e.for_each_child(&mut |c| found = found.or_else(|| part_at(c, fault)));
    found
}

/// All expressions of a statement and of the statements in it, outermost first.
fn each_expr<'a>(s: &'a Stmt, f: &mut dyn FnMut(&'a Expr)) {
    s.for_each_expr(f);
    s.for_each_child(&mut |c| each_expr(c, f));
}

struct Telling<'a> {
    model: &'a Model,
    ask: Ask<'a>,
    parts: Arc<Mutex<Vec<Part>>>,
    /// Texts that have been told.
    told: HashSet<String>,
}

impl<'a> Telling<'a> {
    fn put(&mut self, kind: PartKind, text: String, value: String, depth: usize) {
        if let Ok(mut parts) = self.parts.lock()
            && parts.len() < MAX_PARTS
        {
            parts.push(Part { kind, text, value, depth });
        }
    }

    /// Enough has been told, or the time is up.
    fn full(&self) -> bool {
        self.parts.lock().is_ok_and(|p| p.len() >= MAX_PARTS) || self.ask.env.go_on().is_err()
    }

    fn note(&mut self, text: impl Into<String>, depth: usize) {
        self.put(PartKind::Note, text.into(), String::new(), depth);
    }

    /// `None` is "no truth value".
    fn truth(&mut self, e: &'a Expr) -> Option<bool> {
        self.ask.truth(e).ok()
    }

    /// Why `e` has this truth.
    fn predicate(&mut self, e: &'a Expr, truth: Option<bool>, depth: usize) {
        if self.full() {
            return;
        }
        match (&e.kind, truth) {
            (E::Binary(BinOp::And, a, b), Some(true)) | (E::Binary(BinOp::Or, a, b), Some(false)) => {
                self.predicate(a, truth, depth);
                self.predicate(b, truth, depth);
            }
            (E::Binary(BinOp::And | BinOp::Or, a, b), _) => {
                let responsible = if self.truth(a) == truth { a } else { b };
                self.named(responsible, truth, depth);
            }
            (E::Binary(BinOp::Implies, a, b), Some(false)) => {
                self.predicate(a, Some(true), depth);
                self.predicate(b, Some(false), depth);
            }
            (E::Binary(BinOp::Implies, a, b), _) => match self.truth(a) {
                Some(true) => self.predicate(b, truth, depth),
                inner => self.predicate(a, inner, depth),
            },
            (E::Binary(BinOp::Iff, a, b), _) => {
                for side in [a, b] {
                    let holds = self.truth(side);
                    let word = match holds {
                        Some(true) => "TRUE",
                        Some(false) => "FALSE",
                        None => NO_VALUE,
                    };
                    let text = self.text(side);
                    self.put(PartKind::Value, text, word.into(), depth);
                    self.predicate(side, holds, depth + 1);
                }
            }
            (E::Unary(UnOp::Not, a), _) => self.predicate(a, truth.map(|t| !t), depth),
            (E::Quant(q, locals, body), _) => {
                let (conditions, inner) = match q {
                    Quant::Forall => antecedents(body),
                    Quant::Exists => (vec![], &**body),
                };
                let sought = match (q, truth) {
                    (Quant::Forall, Some(true)) | (Quant::Exists, Some(false)) => {
                        let all = truth == Some(true);
                        self.note(if all { "true for all values" } else { "there is no such value" }, depth);
                        return self.operands_outside(e, depth);
                    }
                    _ => truth,
                };
                let found = match (q, sought) {
                    // All of the body generates values.
                    (Quant::Exists, Some(true)) => self.ask.witness(locals, &[inner], inner, sought),
                    _ => self.ask.witness(locals, &conditions, inner, sought),
                };
                if let Ok(true) = found {
                    self.witness(locals, depth);
                    self.predicate(inner, sought, depth + 1);
                }
            }
            (E::Let(defs, body), _) => {
                for (l, v) in defs {
                    if let Ok(v) = self.ask.raw(v) {
                        self.ask.bind(*l, v);
                    }
                }
                let locals: Vec<_> = defs.iter().map(|(l, _)| *l).collect();
                self.witness(&locals, depth);
                self.predicate(body, truth, depth);
            }
            (E::If(c, a, b), _) => match self.truth(c) {
                Some(true) => self.predicate(a, truth, depth),
                Some(false) => self.predicate(b, truth, depth),
                None => self.predicate(c, None, depth),
            },
            (E::Demand(a), _) => {
                let inner = self.truth(a);
                self.predicate(a, inner, depth);
            }
            (E::HasValue(a), Some(false)) => self.faulty(a, depth),
            (E::Binary(op, a, b), Some(truth)) => self.comparison(*op, a, b, truth, depth),
            (_, None) => self.faulty(e, depth),
            _ => {}
        }
    }

    /// One part of a conjunction or disjunction decides: says which one.
    fn named(&mut self, e: &'a Expr, truth: Option<bool>, depth: usize) {
        if matches!(e.kind, E::Binary(BinOp::And | BinOp::Or, ..)) || truth.is_none() {
            return self.predicate(e, truth, depth);
        }
        let text = self.text(e);
        let word = if truth == Some(true) { "TRUE" } else { "FALSE" };
        self.put(PartKind::Value, text, word.into(), depth);
        self.predicate(e, truth, depth + 1);
    }

    fn witness(&mut self, locals: &[LocalId], depth: usize) {
        for l in locals {
            if let Some((value, ty)) = self.ask.local(*l) {
                let name = self.model.local(*l).name.to_string();
                let value = shown(&value, &ty, self.model);
                // A name bound again is told again.
                self.put(PartKind::Witness, name, value, depth);
            }
        }
    }

    fn comparison(&mut self, op: BinOp, a: &'a Expr, b: &'a Expr, truth: bool, depth: usize) {
        let left = self.value(a, depth);
        let right = match op {
            BinOp::In | BinOp::NotIn => self.space(b, depth),
            _ => self.value(b, depth),
        };
        let model = self.model;
        let mut differ = |x: &Option<Value>, y: &Option<Value>, words: &str| {
            if let (Some(Value::Set(x)), Some(Value::Set(y))) = (x, y) {
                let rest: BTreeSet<Value> = x.difference(y).cloned().collect();
                if !rest.is_empty() && (x.len() > 1 || y.len() > 1) {
                    self.note(format!("{words}: {}", shown(&Value::Set(rest), &a.ty, model)), depth);
                }
            }
        };
        match (op, truth) {
            (BinOp::Subset, false) | (BinOp::NotSubset, true) => {
                differ(&left, &right, "not in the right-hand set");
            }
            (BinOp::Eq, false) | (BinOp::Neq, true) => {
                differ(&left, &right, "only on the left");
                differ(&right, &left, "only on the right");
            }
            (BinOp::In, false) | (BinOp::NotIn, true) => self.not_in_space(left, b, depth),
            _ => {}
        }
    }

    /// The set on the right of `:`: constructors of symbolic sets show their parts only.
    fn space(&mut self, e: &'a Expr, depth: usize) -> Option<Value> {
        match &e.kind {
            E::Binary(op, a, b) if is_arrow(*op) => {
                self.space(a, depth);
                self.space(b, depth);
                None
            }
            E::Product(a, b) => {
                self.space(a, depth);
                self.space(b, depth);
                None
            }
            E::Call(_, args) if matches!(&e.ty.elem(), Some(t) if t.elem().is_some()) => {
                args.iter().for_each(|a| {
                    self.space(a, depth);
                });
                None
            }
            E::Compr(..) | E::Bind(..) => None,
            _ => self.value(e, depth),
        }
    }

    /// What is wrong with a function that is not in `A --> B` and the like.
    fn not_in_space(&mut self, left: Option<Value>, set: &'a Expr, depth: usize) {
        if let (Some(Value::Set(pairs)), E::Call(fun, args)) = (&left, &set.kind) {
            return self.not_a_sequence(pairs, *fun, args, set, depth);
        }
        let (Some(Value::Set(pairs)), E::Binary(op, from, to)) = (left, &set.kind) else { return };
        if !is_arrow(*op) {
            return;
        }
        let Some(rel) = set.ty.elem().cloned() else { return };
        let Some((dom, ran)) = rel.as_rel() else { return };
        let (dom, ran) = (dom.clone(), ran.clone());
        let model = self.model;
        let split = |v: &Value| match v {
            Value::Pair(p) => Some((p.0.clone(), p.1.clone())),
            _ => None,
        };
        let (xs, ys): (Vec<Value>, Vec<Value>) = pairs.iter().filter_map(split).unzip();
        let mut bound = |side: &'a Expr, found: &[Value], ty: &Type, total: bool, word: &str| {
            let Ok(Answer::Value(Value::Set(all))) = self.ask.value(side) else { return };
            let outside: BTreeSet<Value> = found.iter().filter(|v| !all.contains(*v)).cloned().collect();
            let missing: BTreeSet<Value> = all.iter().filter(|v| !found.contains(v)).cloned().collect();
            let set = |s| shown(&Value::Set(s), &ty.clone().pow(), model);
            if !outside.is_empty() {
                self.note(format!("its {word} has {} too much", set(outside)), depth);
            }
            if total && !missing.is_empty() {
                self.note(format!("its {word} lacks {}", set(missing)), depth);
            }
        };
        use BinOp::*;
        let total = matches!(op, TotalRel | TotalSurjRel | TotalFun | TotalInj | TotalSurj | TotalBij);
        let onto = matches!(op, SurjRel | TotalSurjRel | PartialSurj | TotalSurj | PartialBij | TotalBij);
        bound(from, &xs, &dom, total, "domain");
        bound(to, &ys, &ran, onto, "range");
        let functional = !matches!(op, Rel | TotalRel | SurjRel | TotalSurjRel);
        let injective = matches!(op, PartialInj | TotalInj | PartialBij | TotalBij);
        if let Some(x) = repeated(&xs).filter(|_| functional) {
            self.note(format!("it relates {} to several values", shown(x, &dom, model)), depth);
        }
        if let Some(y) = repeated(&ys).filter(|_| injective) {
            self.note(format!("several values are related to {}", shown(y, &ran, model)), depth);
        }
    }

    /// What is wrong with a sequence that is not in `iseq(S)` and the like.
    fn not_a_sequence(
        &mut self,
        pairs: &BTreeSet<Value>,
        fun: Fun,
        args: &'a [Expr],
        set: &Expr,
        depth: usize,
    ) {
        if !matches!(fun, Fun::Seq | Fun::Seq1 | Fun::Iseq | Fun::Iseq1 | Fun::Perm) {
            return;
        }
        let Some(ty) = set.ty.elem().and_then(|t| t.as_rel()).map(|(_, ran)| ran.clone()) else { return };
        let model = self.model;
        let mut places: std::collections::BTreeMap<&Value, Vec<String>> = Default::default();
        for v in pairs {
            let Value::Pair(p) = v else { return };
            places.entry(&p.1).or_default().push(shown(&p.0, &Type::Int, model));
        }
        let numbers: BTreeSet<String> = places.values().flatten().cloned().collect();
        if (1..=pairs.len()).any(|i| !numbers.contains(&i.to_string())) {
            return self.note(format!("it is no sequence: its domain is not 1..{}", pairs.len()), depth);
        }
        if matches!(fun, Fun::Iseq | Fun::Iseq1 | Fun::Perm)
            && let Some((y, at)) = places.iter().find(|(_, at)| at.len() > 1)
        {
            let text = format!("{} is in it more than once, at {}", shown(y, &ty, model), at.join(" and "));
            self.note(text, depth);
        }
        if let Some(Ok(Answer::Value(Value::Set(all)))) = args.first().map(|a| self.ask.value(a)) {
            let list = |s: BTreeSet<Value>| shown(&Value::Set(s), &ty.clone().pow(), model);
            let outside: BTreeSet<Value> =
                places.keys().filter(|y| !all.contains(**y)).map(|y| (*y).clone()).collect();
            let missing: BTreeSet<Value> = all.iter().filter(|y| !places.contains_key(y)).cloned().collect();
            if !outside.is_empty() {
                self.note(format!("its range has {} too much", list(outside)), depth);
            }
            if fun == Fun::Perm && !missing.is_empty() {
                self.note(format!("its range lacks {}", list(missing)), depth);
            }
        }
    }

    fn text(&self, e: &Expr) -> String {
        text(e, self.model)
    }

    /// Tells the value of an expression, then those of its parts.
    fn value(&mut self, e: &'a Expr, depth: usize) -> Option<Value> {
        if self.full() {
            return None;
        }
        let answer = self.ask.value(e);
        if is_literal(e) {
            return answer.ok()?.value();
        }
        let text = self.text(e);
        if !self.told.insert(text.clone()) {
            return answer.ok()?.value();
        }
        match answer {
            Ok(Answer::Value(v)) => {
                let value = shown(&v, &e.ty, self.model);
                if text != value {
                    self.put(PartKind::Value, text, value, depth);
                }
                self.parts_of(e, depth + 1);
                Some(v)
            }
            Ok(Answer::Symbolic) => None,
            Err(_) => {
                self.faulty(e, depth);
                None
            }
        }
    }

    fn parts_of(&mut self, e: &'a Expr, depth: usize) {
        // Inside binders names have no single value.
        if matches!(
            e.kind,
            E::Compr(..) | E::ComprMap(..) | E::Bind(..) | E::Quant(..) | E::Let(..) | E::Bool(_)
        ) {
            return self.operands_outside(e, depth);
        }
        e.for_each_child(&mut |c| {
            if c.ty != Type::Pred {
                self.value(c, depth);
            }
        });
    }

    /// The variables that a quantified expression mentions.
    fn operands_outside(&mut self, e: &'a Expr, depth: usize) {
        if matches!(e.kind, E::Var(_) | E::Const(_)) {
            self.value(e, depth);
        }
        e.for_each_child(&mut |c| self.operands_outside(c, depth));
    }

    /// Goes down to the part without a value and tells its operands.
    fn faulty(&mut self, e: &'a Expr, depth: usize) {
        if self.full() {
            return;
        }
        // What `predicate` takes apart; it comes back here with smaller parts only.
        if is_composed(e) {
            if self.truth(e).is_none() {
                self.predicate(e, None, depth);
            }
            return;
        }
        let mut children = vec![];
        if !matches!(e.kind, E::Compr(..) | E::ComprMap(..) | E::Bind(..) | E::Let(..)) {
            e.for_each_child(&mut |c| children.push(c));
        }
        let without_value = |t: &mut Self, c: &'a Expr| match c.ty {
            Type::Pred => t.ask.truth(c).is_err(),
            _ => t.ask.raw(c).is_err(),
        };
        let faulty = children.iter().copied().find(|c| without_value(self, c));
        match faulty {
            Some(c) => self.faulty(c, depth),
            None => {
                let text = self.text(e);
                self.put(PartKind::Value, text, NO_VALUE.into(), depth);
                for c in children {
                    self.value(c, depth + 1);
                }
            }
        }
    }

    /// An expression of an operation that was called: first what its parameters were given, which comes behind it.
    fn call(&mut self, locals: &[LocalId], exprs: &'a [Expr], fault: &Fault) {
        let Some((e, arguments)) = exprs.split_first() else { return };
        for (l, argument) in locals.iter().zip(arguments) {
            match self.ask.raw(argument) {
                Ok(v) => self.ask.bind(*l, v),
                Err(_) => return,
            }
        }
        self.witness(locals, 0);
        self.culprit(e, fault);
    }

    /// The expression of a statement in which a fault arose.
    fn culprit(&mut self, e: &'a Expr, fault: &Fault) {
        if e.ty != Type::Pred {
            if self.ask.raw(e).is_err_and(|f| *f == *fault) {
                self.faulty(e, 0);
            }
            return;
        }
        match self.ask.truth(e) {
            // A precondition, an ASSERT or a loop invariant.
            Ok(false) if e.span == fault.span() => self.predicate(e, Some(false), 0),
            Err(f) if *f == *fault => self.predicate(e, None, 0),
            _ => {
                if let Some(part) = part_at(e, fault)
                    && part.ty != Type::Pred
                    // A variable that the statement binds has no value here; that is not why.
                    && self.ask.raw(part).is_err_and(|f| *f == *fault)
                {
                    self.faulty(part, 0);
                }
            }
        }
    }
}

/// A call of an operation in which a fault arose: what its parameters were given, and the expression. Only where the
/// arguments are evaluated in the state before the statement.
fn called<'a>(model: &'a Model, s: &'a Stmt, fault: &Fault) -> Option<(Vec<(LocalId, &'a Expr)>, &'a Expr)> {
    match &s.kind {
        StmtKind::Call { op, args, .. } => {
            let op = &model.operations[op.index()];
            let given = op.params.iter().copied().zip(args);
            let mut culprit = None;
            each_expr(&op.body, &mut |e| {
                if culprit.is_none() && mentions(e, fault) {
                    culprit = Some(e);
                }
            });
            if let Some(e) = culprit {
                return Some((given.collect(), e));
            }
            let (inner, e) = called(model, &op.body, fault)?;
            Some((given.chain(inner).collect(), e))
        }
        StmtKind::Seq(all) => called(model, all.first()?, fault),
        StmtKind::While { .. } => None,
        _ => {
            let mut found = None;
            s.for_each_child(&mut |c| {
                if found.is_none() {
                    found = called(model, c, fault);
                }
            });
            found
        }
    }
}

fn antecedents(body: &Expr) -> (Vec<&Expr>, &Expr) {
    let mut conditions = vec![];
    let mut inner = body;
    while let E::Binary(BinOp::Implies, p, q) = &inner.kind {
        conditions.push(&**p);
        inner = q;
    }
    (conditions, inner)
}

fn repeated(values: &[Value]) -> Option<&Value> {
    let mut seen = BTreeSet::new();
    values.iter().find(|v| !seen.insert(*v))
}

fn is_literal(e: &Expr) -> bool {
    match &e.kind {
        E::Int(_) | E::Str(_) | E::Given(_) | E::Elem(..) => true,
        E::Lit(l) => !matches!(l, Lit::MaxInt | Lit::MinInt),
        E::Unary(UnOp::Neg, a) => is_literal(a),
        E::Binary(BinOp::Interval | BinOp::Pair, a, b) => is_literal(a) && is_literal(b),
        E::SetExt(items) | E::SeqExt(items) => items.iter().all(is_literal),
        _ => false,
    }
}

/// A predicate made of predicates.
fn is_composed(e: &Expr) -> bool {
    use BinOp::{And, Iff, Implies, Or};
    e.ty == Type::Pred
        && matches!(
            e.kind,
            E::Binary(And | Or | Implies | Iff, ..)
                | E::Unary(UnOp::Not, _)
                | E::Quant(..)
                | E::Let(..)
                | E::If(..)
                | E::Demand(_)
        )
}

fn is_arrow(op: BinOp) -> bool {
    use BinOp::*;
    matches!(
        op,
        Rel | TotalRel
            | SurjRel
            | TotalSurjRel
            | PartialFun
            | TotalFun
            | PartialInj
            | TotalInj
            | PartialSurj
            | TotalSurj
            | PartialBij
            | TotalBij
    )
}
