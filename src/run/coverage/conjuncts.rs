//! Predicates that are never false, or never true, in all states of a search: conjuncts of guards and antecedents of the
//! invariant.
//!
//! A guard is read from left to right, as branch coverage of programs reads a condition: a conjunct is **reached** by a
//! state and values of the parameters for which all conjuncts before it hold, and it is **false** there or not. So each
//! conjunct is evaluated for itself, and only where those before it have made sure that it has a value. The conjunct that
//! mentions a parameter first says what its values are; whether it is "false" for others is nobody's question.

use crate::eval::compile::Compiler;
use crate::lang::diag::Span;
use crate::model::paths::{all_of, exists, not, some_of};
use crate::model::{BinOp, Expr, ExprKind, Lit, LocalId, Operation, Quant, Stmt};
use crate::system::watch::{Question, Watch};
use crate::system::{Machine, Stop, System, Worker};
use crate::trace::explain;
use std::sync::Arc;

/// A conjunct of a guard.
pub struct Conjunct {
    /// Of which event, by its place in the machine.
    pub event: usize,
    /// Itself.
    pub expr: Expr,
    /// Those before it.
    before: Vec<Expr>,
    locals: Vec<LocalId>,
    /// It says what the values of a parameter are.
    pub is_binding: bool,
}

impl Conjunct {
    /// That it is reached, and false, for some values of the parameters.
    pub fn is_false(&self) -> Expr {
        self.with(not(self.expr.clone()))
    }

    /// That it is reached, and true, for some values of the parameters.
    pub fn is_true(&self) -> Expr {
        self.with(self.expr.clone())
    }

    fn with(&self, last: Expr) -> Expr {
        let all = self.before.iter().cloned().chain([last]).collect();
        exists(&self.locals, all_of(all, self.expr.span))
    }
}

/// The conjuncts of the guards of all events. One that belongs to several ways of an event is there once for each.
pub fn of_guards(machine: &Machine) -> Vec<Conjunct> {
    let mut all = vec![];
    for (event, compiled) in machine.events.iter().enumerate() {
        let op = &machine.model.operations[compiled.op.index()];
        for (locals, conjuncts) in ways(op) {
            for (i, e) in conjuncts.iter().enumerate() {
                let is_first = |l: &LocalId| {
                    e.mentions_local(*l) && !conjuncts[..i].iter().any(|before| before.mentions_local(*l))
                };
                let is_binding = locals.iter().any(is_first);
                let before = conjuncts[..i].iter().map(|e| (*e).clone()).collect();
                let (expr, locals) = ((*e).clone(), locals.clone());
                let is_known = |c: &Conjunct| {
                    c.event == event && c.expr.span == expr.span && c.expr == expr && c.before == before
                };
                if !all.iter().any(is_known) {
                    all.push(Conjunct { event, expr, before, locals, is_binding });
                }
            }
        }
    }
    all
}

/// The conditions of an operation; what they say of its results can only be their types.
fn ways(op: &Operation) -> Vec<(Vec<LocalId>, Vec<&Expr>)> {
    let mut ways = explain::ways(op);
    for (_, conjuncts) in &mut ways {
        conjuncts.retain(|e| !op.results.iter().any(|r| e.mentions_local(*r)) && !e.kind_is(Lit::BTrue));
    }
    ways
}

/// That some way of an operation can be gone.
fn guard(op: &Operation, span: Span) -> Expr {
    let way = |(locals, conjuncts): (Vec<LocalId>, Vec<&Expr>)| {
        exists(&locals, all_of(conjuncts.into_iter().cloned().collect(), span))
    };
    some_of(ways(op).into_iter().map(way).collect(), span)
}

/// Antecedents in a predicate that should hold, each with all that makes its implication matter.
fn antecedents(e: &Expr, locals: &[LocalId], given: &[Expr], found: &mut Vec<(Expr, Span)>) {
    match &e.kind {
        ExprKind::Binary(BinOp::And, a, b) => {
            antecedents(a, locals, given, found);
            antecedents(b, locals, given, found);
        }
        ExprKind::Binary(BinOp::Implies, a, b) => {
            let mut given = given.to_vec();
            given.push((**a).clone());
            found.push((exists(locals, all_of(given.clone(), a.span)), a.span));
            antecedents(b, locals, &given, found);
        }
        ExprKind::Quant(Quant::Forall, more, body) => {
            let locals: Vec<LocalId> = locals.iter().chain(more).copied().collect();
            antecedents(body, &locals, given, found);
        }
        _ => {}
    }
}

/// All that a statement reads, conjunct by conjunct.
pub fn reads(s: &Stmt) -> Vec<&Expr> {
    let mut found = vec![];
    fn inside<'a>(s: &'a Stmt, found: &mut Vec<&'a Expr>) {
        s.for_each_expr(&mut |e| found.extend(e.conjuncts()));
        s.for_each_child(&mut |c| inside(c, found));
    }
    inside(s, &mut found);
    found
}

/// `p : E`, and E does not depend on it.
pub fn is_its_set(e: &Expr, p: LocalId) -> bool {
    match &e.kind {
        ExprKind::Binary(BinOp::In, x, set) => x.kind == ExprKind::Local(p) && !set.mentions_local(p),
        _ => false,
    }
}

/// What is known of a predicate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Judged {
    /// Not once.
    Never,
    /// At least once.
    Once,
    /// Not once, but it had no value somewhere, or an enumeration was cut short.
    Undecided,
}

/// A predicate that is looked for.
pub struct Item {
    /// The event whose guard it is about; none: the invariant.
    pub event: Option<usize>,
    /// The whole guard.
    pub is_guard: bool,
    /// Of what is shown for it.
    pub span: Span,
    /// Whether it was seen to be true.
    pub judged: Judged,
}

/// Looks for states.
pub struct Look {
    /// In the order of the model.
    pub items: Vec<Item>,
    tests: Tests,
    open: usize,
}

impl Look {
    /// For antecedents of the invariant, for conjuncts of guards that are false, and for guards of operations that never fire.
    pub fn new(machine: &Machine, operations: &[(Arc<str>, u64)], stop: &Stop) -> Look {
        let model = &machine.model;
        let (mut items, mut exprs) = (vec![], vec![]);
        let mut add = |event, is_guard, span, e| {
            items.push(Item { event, is_guard, span, judged: Judged::Never });
            exprs.push(e);
        };
        let mut found = vec![];
        model.invariant.iter().for_each(|e| antecedents(e, &[], &[], &mut found));
        found.into_iter().for_each(|(e, span)| add(None, false, span, e));
        let fires = |event: usize| operations.get(event).is_some_and(|(_, n)| *n > 0);
        for c in of_guards(machine).into_iter().filter(|c| !c.is_binding && fires(c.event)) {
            add(Some(c.event), false, c.expr.span, c.is_false());
        }
        for (event, compiled) in machine.events.iter().enumerate().filter(|(event, _)| !fires(*event)) {
            let op = &model.operations[compiled.op.index()];
            add(Some(event), true, op.span, guard(op, op.span));
        }
        let open = items.len();
        Look { items, tests: Tests::new(machine, &exprs, stop), open }
    }

    /// Nothing is left to be looked for.
    pub fn is_done(&self) -> bool {
        self.open == 0
    }

    /// Looks at a state.
    pub fn at(&mut self, machine: &Machine, row: &[u64]) {
        if self.open == 0 {
            return;
        }
        self.tests.at(machine, row);
        for (i, item) in self.items.iter_mut().enumerate().filter(|(_, i)| i.judged != Judged::Once) {
            match self.tests.holds(machine, i) {
                Some(true) => {
                    item.judged = Judged::Once;
                    self.open -= 1;
                }
                Some(false) => {}
                None => item.judged = Judged::Undecided,
            }
        }
    }
}

/// Predicates that are asked of many states.
pub struct Tests {
    watch: Watch,
    worker: Worker,
    row: Vec<u64>,
}

impl Tests {
    /// Over constants and variables of the machine, whose constants are known.
    pub fn new(machine: &Machine, exprs: &[Expr], stop: &Stop) -> Tests {
        let mut compiler = Compiler::new(&machine.model, &machine.scope);
        // The slots of the machine come first, so that its rows can be put in.
        compiler.slots.clone_from(&machine.slots);
        let question = |e: &Expr| Question { test: compiler.closed_test(e), given: vec![] };
        let questions = exprs.iter().map(question).collect();
        let slots = std::mem::take(&mut compiler.slots);
        let watch = Watch::new(machine, slots, questions, stop);
        Tests { watch, worker: machine.worker(stop), row: vec![] }
    }

    /// Puts a state at hand.
    pub fn at(&mut self, machine: &Machine, row: &[u64]) {
        self.watch.at_state(machine, row);
        self.row.clear();
        self.row.extend_from_slice(row);
    }

    /// Whether a test holds of the state at hand; none if it has no value, or if an enumeration was cut short before it
    /// was found to hold.
    pub fn holds(&mut self, machine: &Machine, test: usize) -> Option<bool> {
        let here = machine.load(&mut self.worker, &self.row);
        let holds = self.watch.holds(test, here);
        let is_cut = machine.cut(&mut self.worker).is_some();
        match holds {
            Ok(true) => Some(true),
            Ok(false) if !is_cut => Some(false),
            _ => None,
        }
    }
}
