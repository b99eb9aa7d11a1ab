//! Predicates with unknowns become plans.
//!
//! Greedy: test what can be tested, bind what is determined, otherwise take the generator with the fewest
//! values as far as the tree tells. The estimates only order the work; the set of solutions does not depend on them.

use super::{Compiler, fun_kind};
use crate::eval::grow::{Grow, Space};
use crate::eval::node::{Binary, Node, Slot, Test};
use crate::eval::plan::{Bound, Pattern, Plan, Step};
use crate::lang::diag::Span;
use crate::model::{BinOp, Binder, Expr, ExprKind, Fun, Lit, LocalId, Quant, UnOp};
use crate::value::rep::{R, Rep, Shape};
use crate::value::val::Val;
use num_traits::ToPrimitive;
use std::cell::Cell;
use std::collections::HashSet;
use std::sync::Arc;

/// A conjunct, negated or not.
#[derive(Clone, Copy)]
pub(super) struct Conjunct<'e> {
    pub(super) expr: &'e Expr,
    pub(super) negated: bool,
    /// Only to be tested: what it generates was taken into account already.
    pub(super) tested: bool,
}

impl<'e> Conjunct<'e> {
    fn new(expr: &'e Expr, negated: bool) -> Self {
        Conjunct { expr, negated, tested: false }
    }

    fn only_tested(self) -> Self {
        Conjunct { tested: true, ..self }
    }
}

/// The form of a conjunct that may generate.
pub(super) enum Form<'e> {
    Eq(&'e Expr, &'e Expr),
    In(&'e Expr, &'e Expr),
    Subset(&'e Expr, &'e Expr),
    /// a ≤ b, or a < b when strict
    Less(&'e Expr, &'e Expr, bool),
    Or(Vec<Conjunct<'e>>),
    Exists(&'e [LocalId], Vec<Conjunct<'e>>),
    If(&'e Expr, &'e Expr, &'e Expr),
    Other,
}

pub(super) type Open = HashSet<Slot>;

/// A way to go on, with what it costs and what it settles.
struct Way<'e> {
    cost: f64,
    kind: WayKind<'e>,
}

enum WayKind<'e> {
    /// The conjunct is consumed, unless the membership only follows from one.
    In {
        conjunct: Option<usize>,
        pattern: &'e Expr,
        set: &'e Expr,
        subset: bool,
    },
    /// Piece by piece; the conjunct stays as a test.
    Grow {
        slot: Slot,
        set: &'e Expr,
        subset: bool,
    },
    /// Case distinction by a condition that is known: the conjunct then says the other way.
    Split {
        conjunct: usize,
        cond: Conjunct<'e>,
        then: Option<Conjunct<'e>>,
        otherwise: Option<Conjunct<'e>>,
    },
    Range {
        slot: Slot,
        span: Span,
    },
    All {
        slot: Slot,
    },
    Alt {
        conjunct: usize,
        ways: Vec<Conjunct<'e>>,
    },
    Exists {
        conjunct: usize,
        locals: &'e [LocalId],
        body: Vec<Conjunct<'e>>,
    },
}

const UNBOUNDED: f64 = 1e15;
const NEVER: f64 = 1e18;

impl<'m> Compiler<'m> {
    /// A plan that finds the values of `unknown` for which all of `preds` hold.
    pub fn plan(&mut self, unknown: &[Slot], preds: &[&Expr]) -> Plan {
        let mut todo = Vec::new();
        for p in preds {
            flatten(Conjunct::new(p, false), &mut todo);
        }
        let mut plan = Plan::default();
        plan.steps =
            self.steps(unknown.iter().copied().collect(), todo, &mut plan.may_repeat, &mut plan.unbounded);
        plan
    }

    fn steps(
        &mut self,
        mut open: Open,
        mut todo: Vec<Conjunct>,
        may_repeat: &mut bool,
        unbounded: &mut bool,
    ) -> Vec<Step> {
        let mut steps = Vec::new();
        // Unknowns of an existential that was opened; nobody asks for their values.
        let mut inner: Open = HashSet::new();
        loop {
            self.take_tests(&open, &mut todo, &mut steps);
            if open.is_empty() {
                break;
            }
            if !inner.is_empty() && open.is_subset(&inner) {
                // Everything asked for is bound: what is left only has to have a solution.
                let (mut repeat, mut endless) = (false, false);
                let rest = self.steps(open, std::mem::take(&mut todo), &mut repeat, &mut endless);
                *unbounded |= endless;
                let rest = Plan { steps: rest, may_repeat: repeat, unbounded: endless };
                steps.push(Step::Test(Test::Exists(Arc::new(rest))));
                break;
            }
            if self.take_equality(&mut open, &mut todo, &mut steps) {
                continue;
            }
            let Some(way) = self.best_way(&open, &todo) else { break };
            if way.cost >= UNBOUNDED {
                *unbounded = true;
            }
            match way.kind {
                WayKind::In { conjunct, pattern, set, subset } => {
                    if let Some(i) = conjunct {
                        todo.remove(i);
                    }
                    let span = set.span;
                    let mut rep = self.rep(&set.ty);
                    let mut node = self.expr(set);
                    if subset {
                        node = Node::Unary {
                            op: crate::eval::node::Unary::Pow { nonempty: false },
                            a: Box::new(node),
                            rep: rep.clone(),
                            out: Rep::set(rep.clone()),
                            span,
                        };
                        rep = Rep::set(rep);
                    } else if let Node::Force(inner, _) = node {
                        // No need to build a set that is only run through.
                        node = *inner;
                    }
                    let pattern = self.pattern(pattern, &mut open);
                    steps.push(Step::In { pattern, set: node, rep, span });
                }
                WayKind::Grow { slot, set, subset } => {
                    let space = self.space(set, subset);
                    let only: Open = [slot].into();
                    let mut others = open.clone();
                    others.remove(&slot);
                    let mut tests = Vec::new();
                    for c in &todo {
                        if self.mentions_open(c.expr, &only) && !self.mentions_open(c.expr, &others) {
                            tests.push(self.conjunct_test(*c));
                        }
                    }
                    open.remove(&slot);
                    steps.push(Step::Grow(Grow { slot, space, tests }));
                }
                WayKind::Split { conjunct, cond, then, otherwise } => {
                    let c = todo[conjunct];
                    let test = self.conjunct_test(cond);
                    let mut ways = [(true, then), (false, otherwise)].map(|(truth, extra)| {
                        let mut rest: Vec<Conjunct> = Vec::new();
                        for d in todo.iter().filter(|d| !std::ptr::eq(d.expr, c.expr)) {
                            match known(*d, cond, truth) {
                                Known::Same => rest.push(*d),
                                Known::Holds => rest.push(d.only_tested()),
                                Known::Other(e) => {
                                    rest.push(d.only_tested());
                                    flatten(e, &mut rest);
                                }
                            }
                        }
                        // The whole conjunct is tested in the end: the case distinction only helps to generate.
                        rest.push(c.only_tested());
                        if let Some(e) = extra {
                            flatten(e, &mut rest);
                        }
                        let (mut repeat, mut endless) = (false, false);
                        self.splits += 1;
                        let steps = self.steps(open.clone(), rest, &mut repeat, &mut endless);
                        self.splits -= 1;
                        *may_repeat |= repeat;
                        *unbounded |= endless;
                        steps
                    });
                    let [yes, no] = &mut ways;
                    steps.push(Step::Cases(test, std::mem::take(yes), std::mem::take(no)));
                    break;
                }
                WayKind::Range { slot, span } => {
                    let (lows, highs) = self.take_bounds(slot, &open, &mut todo);
                    open.remove(&slot);
                    steps.push(Step::Range { slot, lows, highs, limits: self.limits, span });
                }
                WayKind::All { slot } => {
                    open.remove(&slot);
                    let info = self.slots[slot as usize].clone();
                    steps.push(Step::All { slot, rep: info.rep, span: info.span });
                }
                WayKind::Alt { conjunct, ways } => {
                    todo.remove(conjunct);
                    *may_repeat = true;
                    // Each way binds all it can; the others are opened in each way alike.
                    let mut branches = Vec::new();
                    let mentioned: Open = open
                        .iter()
                        .copied()
                        .filter(|s| ways.iter().any(|w| self.mentions(w.expr, *s)))
                        .collect();
                    for way in ways {
                        let mut parts = Vec::new();
                        flatten(way, &mut parts);
                        branches.push(self.steps(mentioned.clone(), parts, may_repeat, unbounded));
                    }
                    for s in &mentioned {
                        open.remove(s);
                    }
                    steps.push(Step::Alt(branches));
                }
                WayKind::Exists { conjunct, locals, body } => {
                    todo.remove(conjunct);
                    *may_repeat = true;
                    for l in locals {
                        let s = self.local_slot(*l);
                        open.insert(s);
                        inner.insert(s);
                    }
                    todo.extend(body);
                }
            }
        }
        steps
    }

    fn take_tests(&mut self, open: &Open, todo: &mut Vec<Conjunct>, steps: &mut Vec<Step>) {
        let mut ready = Vec::new();
        todo.retain(|c| {
            let now = !self.mentions_open(c.expr, open);
            if now {
                ready.push(*c);
            }
            !now
        });
        // Cheap ones first: the order among tests is free.
        ready.sort_by_key(|c| weight(c.expr));
        for c in ready {
            let t = self.conjunct_test(c);
            steps.push(Step::Test(t));
        }
    }

    fn conjunct_test(&mut self, c: Conjunct) -> Test {
        let t = self.test(c.expr);
        if c.negated { Test::Not(Box::new(t)) } else { t }
    }

    /// Binds by an equation whose one side is known.
    fn take_equality(&mut self, open: &mut Open, todo: &mut Vec<Conjunct>, steps: &mut Vec<Step>) -> bool {
        for i in 0..todo.len() {
            let Form::Eq(a, b) = form(todo[i]) else { continue };
            for (l, r) in [(a, b), (b, a)] {
                if self.mentions_open(r, open) {
                    continue;
                }
                let rep = self.rep(&l.ty);
                if self.is_pattern(l, open) {
                    let node = self.expr(r);
                    let pattern = self.pattern(l, open);
                    steps.push(Step::Match(pattern, node, rep));
                    todo.remove(i);
                    return true;
                }
                if let Some((slot, node)) = self.solved(l, r, open) {
                    open.remove(&slot);
                    steps.push(Step::Match(Pattern::Bind(slot), node, rep));
                    todo.remove(i);
                    return true;
                }
            }
            if self.take_recursive(a, b, open, steps) || self.take_recursive(b, a, open, steps) {
                todo.remove(i);
                return true;
            }
        }
        false
    }

    /// f = E where E mentions f only under lambdas and comprehensions: a recursive function, kept symbolic.
    fn take_recursive(&mut self, f: &Expr, e: &Expr, open: &mut Open, steps: &mut Vec<Step>) -> bool {
        let Some(slot) = self.as_slot(f).filter(|s| open.contains(s)) else { return false };
        let mut others = open.clone();
        others.remove(&slot);
        let rep = self.rep(&e.ty);
        if !matches!(rep.shape, Shape::Set(..)) || rep.elem().carrier > 0 {
            return false;
        }
        if self.mentions_open(e, &others) || !self.mentions(e, slot) || self.mentions_now(e, slot) {
            return false;
        }
        let node = self.expr(e);
        open.remove(&slot);
        steps.push(Step::Recursive { slot, node, rep });
        true
    }

    /// Whether the slot's value is needed to build the value, outside of bodies that are evaluated later.
    fn mentions_now(&self, e: &Expr, slot: Slot) -> bool {
        match &e.kind {
            ExprKind::Bind(Binder::Lambda, ..) | ExprKind::Compr(..) => false,
            _ => {
                let mut found = self.symbol(e) == Some(slot);
                e.for_each_child(&mut |c| found = found || self.mentions_now(c, slot));
                found
            }
        }
    }

    /// x + a = b and the like, solved for x.
    fn solved(&mut self, l: &Expr, r: &Expr, open: &Open) -> Option<(Slot, Node)> {
        let int = |c: &mut Self, op, a: Node, b: Node, span| {
            let rep = c.rep(&l.ty);
            Node::Binary {
                op,
                a: Box::new(a),
                b: Box::new(b),
                ra: rep.clone(),
                rb: rep.clone(),
                out: rep,
                span,
            }
        };
        match &l.kind {
            ExprKind::Unary(UnOp::Neg, x) => {
                let slot = self.as_slot(x).filter(|s| open.contains(s))?;
                let r = self.expr(r);
                Some((slot, int(self, Binary::Sub, Node::Const(Val::I(0)), r, l.span)))
            }
            ExprKind::Binary(op @ (BinOp::Add | BinOp::Sub), a, b) => {
                let (xa, xb) = (self.as_slot(a), self.as_slot(b));
                if let Some(slot) = xa.filter(|s| open.contains(s) && !self.mentions_open(b, open)) {
                    // x + b = r, x - b = r
                    let back = if *op == BinOp::Add { Binary::Sub } else { Binary::Add };
                    let (r, b) = (self.expr(r), self.expr(b));
                    return Some((slot, int(self, back, r, b, l.span)));
                }
                if let Some(slot) = xb.filter(|s| open.contains(s) && !self.mentions_open(a, open)) {
                    // a + x = r, a - x = r
                    let (r, a) = (self.expr(r), self.expr(a));
                    let node = match op {
                        BinOp::Add => int(self, Binary::Sub, r, a, l.span),
                        _ => int(self, Binary::Sub, a, r, l.span),
                    };
                    return Some((slot, node));
                }
                None
            }
            _ => None,
        }
    }

    /// Whether the expression is a tuple or record of names and known parts, with an unknown name in it.
    fn is_pattern(&mut self, e: &Expr, open: &Open) -> bool {
        if self.as_slot(e).is_some_and(|s| open.contains(&s)) {
            return true;
        }
        match &e.kind {
            ExprKind::Binary(BinOp::Pair, a, b) => {
                let (pa, pb) = (self.is_pattern(a, open), self.is_pattern(b, open));
                (pa || pb) && (pa || !self.mentions_open(a, open)) && (pb || !self.mentions_open(b, open))
            }
            ExprKind::Rec(fields) => {
                fields.iter().any(|f| self.is_pattern(f, open))
                    && fields.iter().all(|f| self.is_pattern(f, open) || !self.mentions_open(f, open))
            }
            _ => false,
        }
    }

    /// Takes a pattern's unknowns out of `open`; a name that occurs twice is bound first and compared then.
    fn pattern(&mut self, e: &Expr, open: &mut Open) -> Pattern {
        if let Some(s) = self.as_slot(e) {
            if open.remove(&s) {
                return Pattern::Bind(s);
            }
        }
        let rep = self.rep(&e.ty);
        match &e.kind {
            ExprKind::Binary(BinOp::Pair, a, b) if self.mentions_open(e, open) => {
                let a = Box::new(self.pattern(a, open));
                let b = Box::new(self.pattern(b, open));
                Pattern::Pair(a, b, rep)
            }
            ExprKind::Rec(fields) if self.mentions_open(e, open) => {
                let parts = fields.iter().map(|f| self.pattern(f, open)).collect();
                Pattern::Rec(parts, rep)
            }
            _ => Pattern::Check(self.expr(e), rep),
        }
    }

    fn best_way<'e>(&mut self, open: &Open, todo: &[Conjunct<'e>]) -> Option<Way<'e>> {
        let mut best: Option<Way<'e>> = None;
        let mut offer = |cost: f64, kind: WayKind<'e>| {
            if best.as_ref().is_none_or(|b| cost < b.cost) {
                best = Some(Way { cost, kind });
            }
        };
        for m in memberships(todo) {
            if self.mentions_open(m.set, open) {
                continue;
            }
            if m.subset {
                if let Some(slot) = self.as_slot(m.element).filter(|s| open.contains(s)) {
                    let cost = 2f64.powf(self.estimate(m.set).min(1000.0));
                    if cost < UNBOUNDED {
                        let (pattern, set) = (m.element, m.set);
                        offer(cost, WayKind::In { conjunct: m.conjunct, pattern, set, subset: true });
                    }
                    if cost > 1000.0 && self.estimate(m.set) < 1e5 && self.can_grow(slot, open, todo) {
                        let cost = cost.min(UNBOUNDED / 4.0) * 0.9;
                        offer(cost, WayKind::Grow { slot, set: m.set, subset: true });
                    }
                }
            } else if self.is_pattern(m.element, open) {
                let cost = self.estimate(m.set);
                // An integer in an interval is better served by a range, which takes other bounds in.
                if cost < UNBOUNDED && self.bounds_of(m.set).is_none() {
                    let (pattern, set) = (m.element, m.set);
                    offer(cost, WayKind::In { conjunct: m.conjunct, pattern, set, subset: false });
                }
                if cost > 50.0 && self.is_space(m.set) {
                    if let Some(slot) = self.as_slot(m.element).filter(|s| open.contains(s)) {
                        if self.can_grow(slot, open, todo) {
                            let cost = cost.min(UNBOUNDED / 4.0) * 0.9;
                            offer(cost, WayKind::Grow { slot, set: m.set, subset: false });
                        }
                    }
                }
            }
        }
        let mut slots: Vec<Slot> = open.iter().copied().collect();
        slots.sort_unstable();
        for slot in slots {
            let info = self.slots[slot as usize].clone();
            if matches!(info.rep.shape, Shape::Int) {
                offer(self.range_cost(slot, open, todo), WayKind::Range { slot, span: info.span });
            } else {
                let cost = type_size(&info.rep);
                offer(cost, WayKind::All { slot });
            }
        }
        // Opening a disjunction or an existential repeats solutions: only when nothing else is cheap.
        if best.as_ref().is_none_or(|b| b.cost > 200.0) {
            for (i, c) in todo.iter().enumerate() {
                match form(*c) {
                    Form::Exists(locals, body) if best.as_ref().is_none_or(|b| b.cost >= UNBOUNDED / 8.0) => {
                        return Some(Way { cost: 0.0, kind: WayKind::Exists { conjunct: i, locals, body } });
                    }
                    Form::Or(ways) if ways.len() == 2 && self.splits < 6 => {
                        for (cond, other) in [(ways[0], ways[1]), (ways[1], ways[0])] {
                            if !self.mentions_open(cond.expr, open) && self.mentions_open(other.expr, open) {
                                let kind =
                                    WayKind::Split { conjunct: i, cond, then: None, otherwise: Some(other) };
                                return Some(Way { cost: 0.0, kind });
                            }
                        }
                        if self.every_way_binds(&ways, open) {
                            return Some(Way { cost: 0.0, kind: WayKind::Alt { conjunct: i, ways } });
                        }
                    }
                    Form::If(cond, a, b) if self.splits < 6 && !self.mentions_open(cond, open) => {
                        let plain = |expr| Conjunct::new(expr, c.negated);
                        let cond = Conjunct::new(cond, false);
                        let (then, otherwise) = (Some(plain(a)), Some(plain(b)));
                        return Some(Way {
                            cost: 0.0,
                            kind: WayKind::Split { conjunct: i, cond, then, otherwise },
                        });
                    }
                    Form::Or(ways) if ways.len() <= 64 => {
                        if self.every_way_binds(&ways, open) {
                            return Some(Way { cost: 0.0, kind: WayKind::Alt { conjunct: i, ways } });
                        }
                    }
                    _ => {}
                }
            }
        }
        best
    }

    /// Whether opening the disjunction helps: each way must bound what it mentions better than its type does.
    fn every_way_binds(&mut self, ways: &[Conjunct], open: &Open) -> bool {
        let mentioned: Open =
            open.iter().copied().filter(|s| ways.iter().any(|w| self.mentions(w.expr, *s))).collect();
        !mentioned.is_empty()
            && ways.iter().all(|w| {
                let mut parts = Vec::new();
                flatten(*w, &mut parts);
                let (mut repeat, mut endless) = (false, false);
                self.steps(mentioned.clone(), parts, &mut repeat, &mut endless);
                !endless
            })
    }

    // ---- ranges ---------------------------------------------------------------------------------------------

    /// Bounds that a set of integers gives: low and high, where it has them.
    pub(super) fn bounds_of<'e>(&self, set: &'e Expr) -> Option<(SetBound<'e>, SetBound<'e>)> {
        let (min, max) = self.limits;
        let n = SetBound::Fixed;
        match &set.kind {
            ExprKind::Binary(BinOp::Interval, a, b) => Some((SetBound::Expr(a), SetBound::Expr(b))),
            ExprKind::Lit(Lit::Natural) => Some((n(0), SetBound::Open)),
            ExprKind::Lit(Lit::Natural1) => Some((n(1), SetBound::Open)),
            ExprKind::Lit(Lit::Integer) => Some((SetBound::Open, SetBound::Open)),
            ExprKind::Lit(Lit::NatSet) => Some((n(0), n(max))),
            ExprKind::Lit(Lit::Nat1Set) => Some((n(1), n(max))),
            ExprKind::Lit(Lit::IntSet) => Some((n(min), n(max))),
            _ => None,
        }
    }

    fn range_cost(&mut self, slot: Slot, open: &Open, todo: &[Conjunct]) -> f64 {
        let (mut lo, mut hi) = (None::<f64>, None::<f64>);
        let (mut has_lo, mut has_hi) = (false, false);
        let mut low = |v: Option<f64>| {
            has_lo = true;
            lo = match (lo, v) {
                (Some(a), Some(b)) => Some(a.max(b)),
                (a, b) => a.or(b),
            };
        };
        let mut high = |v: Option<f64>| {
            has_hi = true;
            hi = match (hi, v) {
                (Some(a), Some(b)) => Some(a.min(b)),
                (a, b) => a.or(b),
            };
        };
        for m in memberships(todo) {
            if !m.subset && self.as_slot(m.element) == Some(slot) && !self.mentions_open(m.set, open) {
                if let Some((a, b)) = self.bounds_of(m.set) {
                    match a {
                        SetBound::Fixed(n) => low(Some(n as f64)),
                        SetBound::Expr(e) => low(literal(e)),
                        SetBound::Open => {}
                    }
                    match b {
                        SetBound::Fixed(n) => high(Some(n as f64)),
                        SetBound::Expr(e) => high(literal(e)),
                        SetBound::Open => {}
                    }
                }
            }
        }
        for c in todo {
            match form(*c) {
                Form::Less(a, b, _) => {
                    if self.as_slot(a) == Some(slot) && !self.mentions_open(b, open) {
                        high(literal(b));
                    }
                    if self.as_slot(b) == Some(slot) && !self.mentions_open(a, open) {
                        low(literal(a));
                    }
                }
                _ => {}
            }
        }
        if !(has_lo && has_hi) {
            if let (Some(a), Some(b)) = self.linear_bounds(slot, open, todo) {
                return ((b - a) as f64 + 1.0).max(0.0);
            }
        }
        match (has_lo, has_hi, lo, hi) {
            (true, true, Some(a), Some(b)) => (b - a + 1.0).max(0.0),
            (true, true, _, _) => 12.0,
            (true, false, ..) | (false, true, ..) => UNBOUNDED,
            _ => UNBOUNDED * 2.0,
        }
    }

    /// Takes the conjuncts that bound an integer.
    fn take_bounds(&mut self, slot: Slot, open: &Open, todo: &mut Vec<Conjunct>) -> (Vec<Bound>, Vec<Bound>) {
        let (mut lows, mut highs) = (Vec::new(), Vec::new());
        let fixed = |n: i128| {
            let n = n.clamp(i128::from(i64::MIN / 2), i128::from(i64::MAX / 2)) as i64;
            Bound { node: Node::Const(Val::I(n)), offset: 0 }
        };
        let (lo, hi) = self.linear_bounds(slot, open, todo);
        lows.extend(lo.map(fixed));
        highs.extend(hi.map(fixed));
        for m in memberships(todo) {
            let follows = m.conjunct.is_none() && !m.subset;
            if follows && self.as_slot(m.element) == Some(slot) && !self.mentions_open(m.set, open) {
                if let Some((a, b)) = self.bounds_of(m.set) {
                    lows.extend(self.set_bound(a));
                    highs.extend(self.set_bound(b));
                }
            }
        }
        let mut rest = Vec::new();
        for c in std::mem::take(todo) {
            match form(c) {
                Form::In(x, set) if self.as_slot(x) == Some(slot) && !self.mentions_open(set, open) => {
                    let Some((a, b)) = self.bounds_of(set) else {
                        rest.push(c);
                        continue;
                    };
                    lows.extend(self.set_bound(a));
                    highs.extend(self.set_bound(b));
                }
                Form::Less(a, b, strict) => {
                    if self.as_slot(a) == Some(slot) && !self.mentions_open(b, open) {
                        highs.push(Bound { node: self.expr(b), offset: if strict { -1 } else { 0 } });
                    } else if self.as_slot(b) == Some(slot) && !self.mentions_open(a, open) {
                        lows.push(Bound { node: self.expr(a), offset: i64::from(strict) });
                    } else {
                        rest.push(c);
                    }
                }
                _ => rest.push(c),
            }
        }
        *todo = rest;
        (lows, highs)
    }

    fn set_bound(&mut self, b: SetBound) -> Option<Bound> {
        match b {
            SetBound::Open => None,
            SetBound::Fixed(n) => Some(Bound { node: Node::Const(Val::I(n)), offset: 0 }),
            SetBound::Expr(e) => Some(Bound { node: self.expr(e), offset: 0 }),
        }
    }

    // ---- growing --------------------------------------------------------------------------------------------

    /// Whether growing pays: something else is said of this unknown alone, and it is no word (word nodes know no
    /// half-known values).
    fn can_grow(&mut self, slot: Slot, open: &Open, todo: &[Conjunct]) -> bool {
        if self.slots[slot as usize].rep.is_word() {
            return false;
        }
        let only: Open = [slot].into();
        let mut others = open.clone();
        others.remove(&slot);
        let about = |c: &&Conjunct| self.mentions_open(c.expr, &only) && !self.mentions_open(c.expr, &others);
        todo.iter().filter(about).count() > 1
    }

    /// Whether the set is a space of functions between sets that can be enumerated.
    fn is_space(&mut self, set: &Expr) -> bool {
        match &set.kind {
            ExprKind::Binary(op, a, b) if fun_kind(*op).is_some_and(|k| k.functional) => {
                self.estimate(a) < 1e5 && (self.estimate(b) < 1e6 || self.is_space(b))
            }
            _ => false,
        }
    }

    fn space(&mut self, set: &Expr, subset: bool) -> Space {
        let rep = self.rep(&set.ty);
        if subset {
            return Space::Subset { of: self.expr(set), rep };
        }
        match &set.kind {
            ExprKind::Binary(op, a, b) if self.is_space(set) => {
                let kind = fun_kind(*op).unwrap_or(crate::value::val::FunKind {
                    functional: true,
                    total: false,
                    injective: false,
                    surjective: false,
                });
                let from = self.expr(a);
                let to_word = self.rep(&b.ty).elem().is_word();
                // Values that are words are chosen whole.
                let to = if to_word || !self.is_space(b) {
                    let rep = self.rep(&b.ty);
                    Space::In(self.unforced(b), rep)
                } else {
                    self.space(b, false)
                };
                Space::Fun { kind, from, to: Box::new(to), rep: rep.elem().clone() }
            }
            _ => Space::In(self.unforced(set), rep),
        }
    }

    fn unforced(&mut self, set: &Expr) -> Node {
        match self.expr(set) {
            Node::Force(inner, _) => *inner,
            node => node,
        }
    }

    // ---- estimates ------------------------------------------------------------------------------------------

    /// About how many elements a set has; at least [`UNBOUNDED`] when it cannot be enumerated.
    fn estimate(&mut self, set: &Expr) -> f64 {
        let rep = self.rep(&set.ty);
        let (min, max) = self.limits;
        match &set.kind {
            ExprKind::SetExt(items) | ExprKind::SeqExt(items) => items.len() as f64,
            ExprKind::Given(s) => self.scope.size(*s) as f64,
            ExprKind::Lit(Lit::BoolSet) => 2.0,
            ExprKind::Lit(Lit::EmptySet | Lit::EmptySeq) => 0.0,
            ExprKind::Lit(Lit::NatSet | Lit::Nat1Set) => max as f64 + 1.0,
            ExprKind::Lit(Lit::IntSet) => max as f64 - min as f64 + 1.0,
            ExprKind::Lit(_) => NEVER,
            ExprKind::Binary(BinOp::Interval, a, b) => match (literal(a), literal(b)) {
                (Some(a), Some(b)) => (b - a + 1.0).max(0.0),
                _ => 12.0,
            },
            ExprKind::Call(Fun::Pow | Fun::Pow1 | Fun::Fin | Fun::Fin1, args) => {
                2f64.powf(self.estimate(&args[0]).min(1000.0))
            }
            ExprKind::Call(Fun::Seq | Fun::Seq1, args) => {
                if self.estimate(&args[0]) == 0.0 {
                    1.0
                } else {
                    NEVER
                }
            }
            ExprKind::Call(Fun::Iseq | Fun::Iseq1 | Fun::Perm, args) => {
                let n = self.estimate(&args[0]);
                if n > 20.0 { NEVER } else { (1..=n as u64).map(|i| i as f64).product::<f64>() * 2.0 }
            }
            ExprKind::Binary(op, a, b) => {
                if let Some(kind) = fun_kind(*op) {
                    let (m, n) = (self.estimate(a), self.estimate(b));
                    return if !kind.functional {
                        2f64.powf((m * n).min(1000.0))
                    } else if kind.injective && kind.total {
                        (0..m.min(1000.0) as u64).map(|i| (n - i as f64).max(1.0)).product()
                    } else if kind.total {
                        n.max(1.0).powf(m.min(1000.0))
                    } else {
                        (n + 1.0).powf(m.min(1000.0))
                    }
                    .min(NEVER);
                }
                match op {
                    BinOp::Union => self.estimate(a) + self.estimate(b),
                    BinOp::Inter => self.estimate(a).min(self.estimate(b)),
                    BinOp::Diff => self.estimate(a),
                    _ => default_size(&rep),
                }
            }
            ExprKind::Product(a, b) => (self.estimate(a) * self.estimate(b)).min(NEVER),
            ExprKind::Struct(parts) => parts.iter().map(|p| self.estimate(p)).product::<f64>().min(NEVER),
            ExprKind::Compr(locals, pred) => {
                if self.comprehension(set, locals, pred).infinite {
                    NEVER
                } else {
                    default_size(&rep)
                }
            }
            ExprKind::Bind(Binder::Lambda, locals, pred, body) => {
                if self.lambda(set, locals, pred, body).infinite { NEVER } else { default_size(&rep) }
            }
            _ => default_size(&rep),
        }
    }

    // ---- names ----------------------------------------------------------------------------------------------

    fn symbol(&self, e: &Expr) -> Option<Slot> {
        match &e.kind {
            ExprKind::Const(c) => Some(self.const_slot(*c)),
            ExprKind::Var(v) => Some(self.var_slot(*v)),
            ExprKind::Local(l) => self.locals.get(l).copied(),
            _ => None,
        }
    }

    fn mentions_open(&self, e: &Expr, open: &Open) -> bool {
        e.any(&|x| self.symbol(x).is_some_and(|s| open.contains(&s)))
    }

    fn mentions(&self, e: &Expr, slot: Slot) -> bool {
        e.any(&|x| self.symbol(x) == Some(slot))
    }
}

pub(super) enum SetBound<'e> {
    Open,
    Fixed(i64),
    Expr(&'e Expr),
}

fn default_size(set: &R) -> f64 {
    match set.elem().carrier {
        0 => 8.0,
        n => (n as f64 / 2.0).clamp(1.0, 1e6),
    }
}

/// How many values a type has.
fn type_size(rep: &Rep) -> f64 {
    if rep.carrier > 0 {
        return rep.carrier as f64;
    }
    match &rep.shape {
        Shape::Bool => 2.0,
        Shape::Elem(_) => 2.0,
        Shape::Int | Shape::Str => UNBOUNDED * 4.0,
        Shape::Pair(a, b) => (type_size(a) * type_size(b)).min(NEVER),
        Shape::Rec(parts) => parts.iter().map(|p| type_size(p)).product::<f64>().min(NEVER),
        Shape::Set(e, _) => 2f64.powf(type_size(e).min(1000.0)).min(NEVER),
    }
}

fn literal(e: &Expr) -> Option<f64> {
    match &e.kind {
        ExprKind::Int(i) => i.to_f64(),
        ExprKind::Unary(UnOp::Neg, a) => literal(a).map(|x| -x),
        ExprKind::Binary(BinOp::Add, a, b) => Some(literal(a)? + literal(b)?),
        ExprKind::Binary(BinOp::Sub, a, b) => Some(literal(a)? - literal(b)?),
        ExprKind::Binary(BinOp::Mul, a, b) => Some(literal(a)? * literal(b)?),
        _ => None,
    }
}

/// How costly a test looks.
fn weight(e: &Expr) -> u32 {
    let w = Cell::new(0u32);
    e.any(&|x| {
        let own = match x.kind {
            ExprKind::Quant(..) | ExprKind::Compr(..) | ExprKind::Bind(..) | ExprKind::ComprMap(..) => 100,
            _ => 1,
        };
        w.set(w.get().saturating_add(own));
        false
    });
    w.get()
}

/// Splits into conjuncts, driving negations inwards.
fn flatten<'e>(c: Conjunct<'e>, out: &mut Vec<Conjunct<'e>>) {
    let Conjunct { expr, negated, .. } = c;
    let again = |expr, negated, out: &mut Vec<Conjunct<'e>>| flatten(Conjunct::new(expr, negated), out);
    match &expr.kind {
        ExprKind::Binary(BinOp::And, a, b) if !negated => {
            again(a, false, out);
            again(b, false, out);
        }
        ExprKind::Binary(BinOp::Or, a, b) if negated => {
            again(a, true, out);
            again(b, true, out);
        }
        ExprKind::Binary(BinOp::Implies, a, b) if negated => {
            again(a, false, out);
            again(b, true, out);
        }
        ExprKind::Unary(UnOp::Not, a) => again(a, !negated, out),
        ExprKind::Lit(Lit::BTrue) if !negated => {}
        _ => out.push(c),
    }
}

pub(super) fn form(c: Conjunct<'_>) -> Form<'_> {
    if c.tested {
        return Form::Other;
    }
    let Conjunct { expr, negated, .. } = c;
    match (&expr.kind, negated) {
        (ExprKind::Binary(BinOp::Eq, a, b), false) | (ExprKind::Binary(BinOp::Neq, a, b), true) => {
            Form::Eq(a, b)
        }
        (ExprKind::Binary(BinOp::In, a, b), false) | (ExprKind::Binary(BinOp::NotIn, a, b), true) => {
            match (&a.kind, &b.kind) {
                (_, ExprKind::Call(Fun::Pow | Fun::Fin, args)) => Form::Subset(a, &args[0]),
                _ => Form::In(a, b),
            }
        }
        (ExprKind::Binary(BinOp::Subset, a, b), false) | (ExprKind::Binary(BinOp::NotSubset, a, b), true) => {
            Form::Subset(a, b)
        }
        (ExprKind::Binary(BinOp::Le, a, b), false) | (ExprKind::Binary(BinOp::Gt, a, b), true) => {
            Form::Less(a, b, false)
        }
        (ExprKind::Binary(BinOp::Lt, a, b), false) | (ExprKind::Binary(BinOp::Ge, a, b), true) => {
            Form::Less(a, b, true)
        }
        (ExprKind::Binary(BinOp::Ge, a, b), false) | (ExprKind::Binary(BinOp::Lt, a, b), true) => {
            Form::Less(b, a, false)
        }
        (ExprKind::Binary(BinOp::Gt, a, b), false) | (ExprKind::Binary(BinOp::Le, a, b), true) => {
            Form::Less(b, a, true)
        }
        (ExprKind::Binary(BinOp::Or, a, b), false) => Form::Or(alternatives(a, b, BinOp::Or, false)),
        (ExprKind::Binary(BinOp::And, a, b), true) => Form::Or(alternatives(a, b, BinOp::And, true)),
        (ExprKind::Binary(BinOp::Implies, a, b), false) => {
            Form::Or(vec![Conjunct::new(a, true), Conjunct::new(b, false)])
        }
        (ExprKind::Quant(Quant::Exists, locals, body), false) => {
            let mut parts = Vec::new();
            flatten(Conjunct::new(body, false), &mut parts);
            Form::Exists(locals, parts)
        }
        (ExprKind::Quant(Quant::Forall, locals, body), true) => {
            let mut parts = Vec::new();
            flatten(Conjunct::new(body, true), &mut parts);
            Form::Exists(locals, parts)
        }
        (ExprKind::If(c, a, b), _) => Form::If(c, a, b),
        _ => Form::Other,
    }
}

/// A membership that is a conjunct, or that follows from one.
pub(super) struct Membership<'e> {
    pub(super) conjunct: Option<usize>,
    pub(super) element: &'e Expr,
    pub(super) set: &'e Expr,
    /// element ⊆ set
    pub(super) subset: bool,
}

pub(super) fn memberships<'e>(todo: &[Conjunct<'e>]) -> Vec<Membership<'e>> {
    let mut out = Vec::new();
    for (i, c) in todo.iter().enumerate() {
        let mut follows = |element: &'e Expr, set: &'e Expr, subset| {
            out.push(Membership { conjunct: None, element, set, subset });
        };
        match form(*c) {
            Form::In(x, set) => {
                match (&x.kind, &set.kind) {
                    (ExprKind::SeqExt(items), ExprKind::Binary(op, _, to)) if fun_kind(*op).is_some() => {
                        items.iter().for_each(|x| follows(x, to, false));
                    }
                    (ExprKind::SeqExt(items), ExprKind::Call(_, args)) => {
                        items.iter().for_each(|x| follows(x, &args[0], false));
                    }
                    (ExprKind::Binary(BinOp::Pair, a, b), ExprKind::Product(s, t)) => {
                        follows(a, s, false);
                        follows(b, t, false);
                    }
                    (_, ExprKind::Binary(BinOp::Inter, s, t)) => {
                        follows(x, s, false);
                        follows(x, t, false);
                    }
                    (_, ExprKind::Binary(BinOp::Diff, s, _)) => follows(x, s, false),
                    _ => {}
                }
                out.push(Membership { conjunct: Some(i), element: x, set, subset: false });
            }
            Form::Subset(x, set) => {
                if let ExprKind::SetExt(items) = &x.kind {
                    items.iter().for_each(|x| follows(x, set, false));
                }
                out.push(Membership { conjunct: Some(i), element: x, set, subset: true });
            }
            Form::Eq(a, b) => {
                for (l, r) in [(a, b), (b, a)] {
                    match &l.kind {
                        ExprKind::SetExt(items) => items.iter().for_each(|x| follows(x, r, false)),
                        ExprKind::Binary(BinOp::Union, s, t) => {
                            follows(s, r, true);
                            follows(t, r, true);
                        }
                        _ => {}
                    }
                }
            }
            _ => {}
        }
    }
    out
}

/// What a conjunct says once a condition's truth is known.
enum Known<'e> {
    Same,
    Holds,
    Other(Conjunct<'e>),
}

fn known<'e>(c: Conjunct<'e>, cond: Conjunct<'e>, truth: bool) -> Known<'e> {
    let Form::Or(ways) = form(c) else { return Known::Same };
    if ways.len() != 2 {
        return Known::Same;
    }
    for (way, other) in [(ways[0], ways[1]), (ways[1], ways[0])] {
        let (w, d) = (stripped(way), stripped(cond));
        if w.expr == d.expr {
            let way_holds = (w.negated == d.negated) == truth;
            return if way_holds { Known::Holds } else { Known::Other(other) };
        }
    }
    Known::Same
}

fn stripped(c: Conjunct<'_>) -> Conjunct<'_> {
    match &c.expr.kind {
        ExprKind::Unary(UnOp::Not, a) => stripped(Conjunct::new(a, !c.negated)),
        _ => c,
    }
}

fn alternatives<'e>(a: &'e Expr, b: &'e Expr, op: BinOp, negated: bool) -> Vec<Conjunct<'e>> {
    let mut out = Vec::new();
    let mut stack = vec![b, a];
    while let Some(e) = stack.pop() {
        match &e.kind {
            ExprKind::Binary(o, x, y) if *o == op => stack.extend([&**y, &**x]),
            _ => out.push(Conjunct::new(e, negated)),
        }
    }
    out
}
