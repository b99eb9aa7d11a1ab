//! Why an operation does nothing: the conditions at its beginning, which of them is false, and what its parameters would
//! have to be.

use super::{Part, PartKind, Telling};
use crate::lang::diag::Span;
use crate::model::{Expr, LocalId, Operation, Stmt, StmtKind};
use crate::trace::shown;
use std::sync::Mutex;

/// Values of parameters that are told for each condition.
const WANTED: usize = 8;

/// Why an operation does nothing in a state.
#[derive(Clone, Debug, Default)]
pub struct Disabled {
    /// The ways that the operation has: several for a SELECT with several conditions.
    pub ways: Vec<Way>,
}

/// One way of an operation, which needs all of its conditions.
#[derive(Clone, Debug, Default)]
pub struct Way {
    /// Which one is to blame, in a sentence; none if nothing at the beginning is.
    pub summary: Option<String>,
    pub conditions: Vec<Condition>,
}

/// A conjunct of the conditions under which an operation does anything.
#[derive(Clone, Debug)]
pub struct Condition {
    pub text: String,
    pub span: Span,
    pub truth: Truth,
    /// The first that nothing fulfils together with those before it.
    pub is_blocking: bool,
    /// Why it is false.
    pub why: Vec<Part>,
    /// Values of the parameters that are open, under which it holds; and whether there are others.
    pub wanted: Vec<Vec<(String, String)>>,
    pub more: bool,
}

/// Whether a condition holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Truth {
    True,
    False,
    NoValue,
    /// That depends on these parameters, which have no values yet.
    Open(Vec<String>),
}

/// A conjunct that nothing fulfils, by itself or with those before it.
struct Blocking<'a> {
    by: &'a Expr,
    locals: Vec<LocalId>,
    is_alone: bool,
}

/// The conditions under which a statement does anything, as far as they stand at its beginning.
struct Guard<'a> {
    locals: Vec<LocalId>,
    conjuncts: Vec<&'a Expr>,
    /// The ways of a SELECT that has several.
    ways: &'a [(Expr, Stmt)],
}

/// The ways of an operation (several for a SELECT with several conditions): the conjuncts of the conditions that stand at
/// its beginning, from left to right, and the locals that they may speak of.
pub fn ways(op: &Operation) -> Vec<(Vec<LocalId>, Vec<&Expr>)> {
    let guard = Guard::new(op, &[]);
    match guard.ways {
        [] => vec![(guard.locals.clone(), guard.flat())],
        ways => {
            ways.iter().map(|(condition, _)| (guard.locals.clone(), guard.way(condition).flat())).collect()
        }
    }
}

impl<'a> Guard<'a> {
    /// Of an operation, of whose parameters some have values.
    fn new(op: &'a Operation, bound: &[LocalId]) -> Guard<'a> {
        let locals = op.params.iter().copied().filter(|l| !bound.contains(l)).collect();
        let mut guard = Guard { locals, conjuncts: vec![], ways: &[] };
        guard.of(&op.body);
        guard
    }

    fn of(&mut self, s: &'a Stmt) {
        match &s.kind {
            StmtKind::Pre(p, body) => {
                self.conjuncts.push(p);
                self.of(body);
            }
            StmtKind::Any(locals, p, body) => {
                self.locals.extend(locals);
                self.conjuncts.push(p);
                self.of(body);
            }
            StmtKind::Select(ways, None) => match &ways[..] {
                [(p, body)] => {
                    self.conjuncts.push(p);
                    self.of(body);
                }
                ways => self.ways = ways,
            },
            _ => {}
        }
    }

    /// With the condition of one of its ways.
    fn way(&self, condition: &'a Expr) -> Guard<'a> {
        let mut conjuncts = self.conjuncts.clone();
        conjuncts.push(condition);
        Guard { locals: self.locals.clone(), conjuncts, ways: &[] }
    }

    fn flat(&self) -> Vec<&'a Expr> {
        self.conjuncts.iter().flat_map(|e| e.conjuncts()).collect()
    }

    /// The locals without a value that an expression speaks of.
    fn open(&self, e: &Expr) -> Vec<LocalId> {
        self.locals.iter().copied().filter(|l| e.mentions_local(*l)).collect()
    }
}

impl<'a> Telling<'a> {
    /// Why an operation is not enabled, in a line or some.
    pub(super) fn disabled(&mut self, op: &'a Operation) {
        let (kind, name) = (PartKind::Note, op.name.to_string());
        let guard = Guard::new(op, &[]);
        if let Some(blocking) = self.blocking(&guard) {
            return self.put(kind, name, self.blocked(&blocking), 0);
        }
        if guard.ways.is_empty() {
            return self.put(kind, name, "is not enabled".into(), 0);
        }
        self.put(kind, name, "none of its conditions is fulfilled".into(), 0);
        for (condition, _) in guard.ways {
            if let Some(blocking) = self.blocking(&guard.way(condition)) {
                let (text, why) = (self.text(condition), self.blocked(&blocking));
                let text = if text == self.text(blocking.by) { why } else { format!("{text}: {why}") };
                self.note(text, 1);
            }
        }
    }

    /// The same, condition by condition. What is told when the time is over is what is known then.
    pub(super) fn conditions(&mut self, op: &'a Operation, bound: &[LocalId], told: &Mutex<Disabled>) {
        let guard = Guard::new(op, bound);
        let ways: Vec<Guard<'a>> = match guard.ways {
            [] => vec![guard],
            ways => ways.iter().map(|(condition, _)| guard.way(condition)).collect(),
        };
        for (n, guard) in ways.iter().enumerate() {
            let conjuncts = guard.flat();
            let conditions = conjuncts.iter().map(|e| self.condition(e, guard)).collect();
            let put = |f: &mut dyn FnMut(&mut Way)| {
                if let Ok(mut told) = told.lock() {
                    told.ways.resize_with(n + 1, Way::default);
                    f(&mut told.ways[n]);
                }
            };
            let mut way = Some(Way { summary: None, conditions });
            put(&mut |w| *w = way.take().unwrap_or_default());
            if let Some(blocking) = self.blocking(guard) {
                let summary = self.blocked(&blocking);
                put(&mut |w| {
                    w.summary = Some(summary.clone());
                    for (c, e) in w.conditions.iter_mut().zip(&conjuncts) {
                        c.is_blocking = std::ptr::eq(*e, blocking.by);
                    }
                });
            }
            for (i, e) in conjuncts.iter().enumerate() {
                let locals = guard.open(e);
                if locals.is_empty() || self.full() {
                    continue;
                }
                let Ok(solved) = self.ask.solve(&locals, &[e], WANTED) else { continue };
                let name = |l: &LocalId| self.model.local(*l);
                let wanted: Vec<Vec<(String, String)>> = solved
                    .found
                    .iter()
                    .map(|values| {
                        let pairs = locals.iter().map(name).zip(values);
                        pairs
                            .filter_map(|(d, v)| {
                                Some((d.name.to_string(), shown(v.as_ref()?, &d.ty, self.model)))
                            })
                            .collect()
                    })
                    .collect();
                put(&mut |w| {
                    if let Some(c) = w.conditions.get_mut(i) {
                        (c.wanted, c.more) = (wanted.clone(), solved.more || solved.truncated);
                    }
                });
            }
        }
    }

    fn condition(&mut self, e: &'a Expr, guard: &Guard<'a>) -> Condition {
        let open = guard.open(e);
        let (mut truth, mut why) = (Truth::NoValue, vec![]);
        if !open.is_empty() {
            truth = Truth::Open(open.iter().map(|l| self.model.local(*l).name.to_string()).collect());
        } else if let Some(holds) = self.truth(e) {
            truth = if holds { Truth::True } else { Truth::False };
        }
        if matches!(truth, Truth::False | Truth::NoValue) {
            self.told.clear();
            self.predicate(e, (truth == Truth::False).then_some(false), 0);
            why = self.parts.lock().map(|mut p| std::mem::take(&mut *p)).unwrap_or_default();
        }
        let text = self.text(e);
        Condition { text, span: e.span, truth, is_blocking: false, why, wanted: vec![], more: false }
    }

    fn blocked(&self, blocking: &Blocking) -> String {
        let text = self.text(blocking.by);
        let names: Vec<&str> = blocking.locals.iter().map(|l| &*self.model.local(*l).name).collect();
        match names.join(", ") {
            none if none.is_empty() => format!("{text} is false"),
            names if blocking.is_alone => format!("no {names} with {text}"),
            names => format!("no {names} with {text} and what comes before it"),
        }
    }

    /// The first conjunct that nothing fulfils together with those before it, and the locals that it speaks of. What
    /// speaks of no local comes first.
    fn blocking(&mut self, guard: &Guard<'a>) -> Option<Blocking<'a>> {
        let conjuncts = guard.flat();
        if let Some(e) = conjuncts.iter().find(|e| guard.open(e).is_empty() && self.truth(e) == Some(false)) {
            return Some(Blocking { by: e, locals: vec![], is_alone: true });
        }
        let open: Vec<&'a Expr> = conjuncts.into_iter().filter(|e| !guard.open(e).is_empty()).collect();
        for n in 1..=open.len() {
            // Only those that these conjuncts speak of: the others may have no bounds yet.
            let locals: Vec<LocalId> = guard
                .locals
                .iter()
                .copied()
                .filter(|l| open[..n].iter().any(|e| e.mentions_local(*l)))
                .collect();
            match self.ask.solve(&locals, &open[..n], 1) {
                Ok(s) if s.found.is_empty() && s.fault.is_none() && !s.truncated => {
                    let by = open[n - 1];
                    return Some(Blocking { by, locals: guard.open(by), is_alone: n == 1 });
                }
                Ok(_) => {}
                Err(_) if self.full() => return None,
                Err(_) => {}
            }
        }
        None
    }
}
