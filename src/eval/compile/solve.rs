//! Predicates with unknowns become plans.
//!
//! Greedy: test what can be tested, bind what is determined, otherwise take the generator with the fewest
//! values as far as the tree tells. The estimates only order the work; the set of solutions does not depend on them.

use super::Compiler;
use super::estimate::{Sequences, UNBOUNDED, type_size, weight};
use super::forms::{Conjunct, Form, Known, OpenSlots, flatten, form, known, may_fault, memberships, opened};
use super::linear::alldifferent;
use super::pred::{is_type, seq_kind};
use super::undefined::{is_plain, where_known};
use crate::eval::node::grow::Grow;
use crate::eval::node::grow::Space;
use crate::eval::node::{Atom, Binary, Cut, Generator, Node, Pattern, Slot, Test};
use crate::eval::plan::{Plan, PlanStep};
use crate::lang::diag::Span;
use crate::model::{BinOp, Binder, Expr, ExprKind, Fun, LocalId, Type, UnOp};
use crate::value::rep::{Rep, Shape};
use crate::value::val::Val;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

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
    /// Sequences up to a length that another conjunct gives, which stays as a test.
    Sequences {
        conjunct: Option<usize>,
        slot: Slot,
        set: &'e Expr,
        sequences: Sequences<'e>,
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

impl<'m> Compiler<'m> {
    /// A plan that finds the values of `unknown` for which all of `preds` hold.
    pub fn plan(&mut self, unknown: &[Slot], preds: &[&Expr]) -> Plan {
        let (plan, work) = self.counted(unknown, preds);
        self.asked(plan, work, unknown, preds, false)
    }

    /// The same without anybody to ask.
    pub(super) fn plain_plan(&mut self, unknown: &[Slot], preds: &[&Expr]) -> Plan {
        let opened: Vec<Option<Expr>> = preds.iter().map(|p| opened(p)).collect();
        let mut todo = Vec::new();
        for (p, opened) in preds.iter().zip(&opened) {
            flatten(Conjunct::new(opened.as_ref().unwrap_or(p), false), &mut todo);
        }
        let mut plan = Plan::default();
        plan.steps =
            self.steps(unknown.iter().copied().collect(), todo, &mut plan.may_repeat, &mut plan.unbounded);
        plan
    }

    pub(super) fn steps(
        &mut self,
        mut open: OpenSlots,
        mut todo: Vec<Conjunct>,
        may_repeat: &mut bool,
        unbounded: &mut bool,
    ) -> Vec<PlanStep> {
        let mut steps = Vec::new();
        // Unknowns of an existential that was opened; nobody asks for their values.
        let mut inner: OpenSlots = HashSet::new();
        let groups = alldifferent(&todo);
        let implied = self.implied(&open, &todo);
        self.implied.push(implied);
        let mut before = open.clone();
        loop {
            self.test_differences(&groups, &before, &open, &mut steps);
            before.clone_from(&open);
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
                steps.push(PlanStep::Test(Test::Exists(Arc::new(rest))));
                break;
            }
            if self.take_equality(&mut open, &mut todo, &mut steps)
                || self.take_end(&mut open, &mut todo, &mut steps)
            {
                continue;
            }
            let Some(way) = self.best_way(&open, &todo) else { break };
            // Urgency takes a little off a cost.
            if way.cost >= UNBOUNDED - 1.0 {
                *unbounded = true;
            }
            self.work.add(way.cost, matches!(way.kind, WayKind::Range { .. }));
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
                            op: crate::eval::node::Unary::Pow { nonempty: false, finite: false },
                            a: Box::new(node),
                            rep: rep.clone(),
                            out: Rep::set(rep.clone()),
                            span,
                        };
                        rep = Rep::set(rep);
                    }
                    let parts = self.parts_have_values(pattern, &open);
                    if let (Node::Force(inner, _), []) = (&node, &parts[..]) {
                        // No need to build a set that is only run through.
                        node = (**inner).clone();
                    }
                    let is_undefined = may_fault(set) || !parts.is_empty();
                    let node = where_known(parts, node);
                    let before = open.clone();
                    let pattern = self.pattern(pattern, &mut open);
                    let generator = Generator::In { pattern, set: node, rep, span };
                    // A membership that only follows from a conjunct leaves that one as a test.
                    let is_undefined = is_undefined && conjunct.is_some();
                    steps.push(self.given(generator, is_undefined, (&before, &open), &todo));
                }
                WayKind::Sequences { conjunct, slot, set, sequences } => {
                    if let Some(i) = conjunct.filter(|_| sequences.is_whole) {
                        todo.remove(i);
                    }
                    let node = self.bounded_sequences(sequences, &set.ty, set.span);
                    open.remove(&slot);
                    let rep = self.rep(&set.ty);
                    steps.push(PlanStep::Generate(Generator::In {
                        pattern: Pattern::Bind(slot),
                        set: node,
                        rep,
                        span: set.span,
                    }));
                }
                WayKind::Grow { slot, set, subset } => {
                    let mut space = self.space(set, subset);
                    if let Space::Fun { kind, .. } = &mut space {
                        kind.surjective |= self.is_onto(slot, set, &todo);
                    }
                    let only: OpenSlots = [slot].into();
                    let mut others = open.clone();
                    others.remove(&slot);
                    let mut tests = Vec::new();
                    self.growing += 1;
                    for c in &todo {
                        // Whether something has a value is not to be asked of half a function.
                        let is_about =
                            self.mentions_open(c.expr, &only) && !self.mentions_open(c.expr, &others);
                        if is_about && !c.expr.asks_for_values() {
                            tests.push(self.conjunct_test(*c));
                        }
                    }
                    self.growing -= 1;
                    let sizes = self.sizes(slot, &open, &todo);
                    let by_element = self.by_element(slot, &open, &todo);
                    let equations = self.equations((slot, set), &others, &todo);
                    open.remove(&slot);
                    let grow = Grow { slot, space, sizes, by_element, tests, equations };
                    steps.push(PlanStep::Generate(Generator::Grow(grow)));
                }
                WayKind::Split { conjunct, cond, then, otherwise } => {
                    let c = todo[conjunct];
                    let test = self.conjunct_test(cond);
                    let mut ways = [(true, then), (false, otherwise)].map(|(truth, extra)| {
                        let mut rest: Vec<Conjunct> = Vec::new();
                        for (_, d) in todo.iter().enumerate().filter(|(i, _)| *i != conjunct) {
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
                    steps.push(PlanStep::Cases(test, std::mem::take(yes), std::mem::take(no)));
                    break;
                }
                WayKind::Range { slot, span } => {
                    let (lows, highs) = self.take_bounds(slot, &open, &mut todo);
                    open.remove(&slot);
                    steps.push(PlanStep::Range { slot, lows, highs, limits: self.limits, span });
                }
                WayKind::All { slot } => {
                    open.remove(&slot);
                    let info = self.slots[slot as usize].clone();
                    steps.push(PlanStep::Generate(Generator::All { slot, rep: info.rep, span: info.span }));
                }
                WayKind::Alt { conjunct, ways } => {
                    todo.remove(conjunct);
                    *may_repeat = true;
                    // Each way binds all it can; the others are opened in each way alike.
                    let mut branches = Vec::new();
                    let mentioned: OpenSlots = open
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
                    steps.push(PlanStep::Alt(branches));
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
        self.implied.pop();
        steps
    }

    fn take_tests(&mut self, open: &OpenSlots, todo: &mut Vec<Conjunct>, steps: &mut Vec<PlanStep>) {
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
            steps.push(PlanStep::Test(t));
        }
    }

    /// What has just been bound differs from the other members of its groups that are known.
    fn test_differences(
        &mut self,
        groups: &[&[Expr]],
        before: &OpenSlots,
        open: &OpenSlots,
        steps: &mut Vec<PlanStep>,
    ) {
        for group in groups {
            for (i, a) in group.iter().enumerate() {
                let Some(new) = self.as_slot(a).filter(|s| before.contains(s) && !open.contains(s)) else {
                    continue;
                };
                for (j, b) in group.iter().enumerate() {
                    let fresh = self.as_slot(b).is_some_and(|s| before.contains(&s) && s != new);
                    if i == j || self.mentions_open(b, open) || (fresh && j > i) {
                        continue;
                    }
                    let rep = self.rep(&a.ty);
                    let (x, y) = (Box::new(self.expr(a)), Box::new(self.expr(b)));
                    let same = if rep.is_word() {
                        Test::Atom(Atom::EqW(x, y))
                    } else {
                        Test::Atom(Atom::Eq(x, y, rep))
                    };
                    steps.push(PlanStep::Test(Test::Not(Box::new(same))));
                }
            }
        }
    }

    fn conjunct_test(&mut self, c: Conjunct) -> Test {
        let t = self.test(c.expr);
        if c.negated { Test::Not(Box::new(t)) } else { t }
    }

    /// Binds by an equation whose one side is known.
    fn take_equality(
        &mut self,
        open: &mut OpenSlots,
        todo: &mut Vec<Conjunct>,
        steps: &mut Vec<PlanStep>,
    ) -> bool {
        for i in 0..todo.len() {
            let Form::Eq(a, b) = form(todo[i]) else { continue };
            for (l, r) in [(a, b), (b, a)] {
                if self.mentions_open(r, open) {
                    continue;
                }
                let rep = self.rep(&l.ty);
                if self.is_pattern(l, open) {
                    let node = self.expr(r);
                    let parts = self.parts_have_values(l, open);
                    let is_undefined = may_fault(r) || !parts.is_empty();
                    let before = open.clone();
                    let generator = Generator::Match(self.pattern(l, open), where_known(parts, node), rep);
                    todo.remove(i);
                    steps.push(self.given(generator, is_undefined, (&before, open), todo));
                    return true;
                }
                if let Some((slot, node)) = self.solved(l, r, open) {
                    let before = open.clone();
                    open.remove(&slot);
                    let generator = Generator::Match(Pattern::Bind(slot), node, rep);
                    todo.remove(i);
                    steps.push(self.given(generator, may_fault(l) || may_fault(r), (&before, open), todo));
                    return true;
                }
            }
            for (l, r) in [(a, b), (b, a)] {
                if !self.mentions_open(r, open)
                    && let Some(parts) = self.cuts(l, open, todo)
                {
                    let (node, rep) = (self.expr(r), self.rep(&l.ty));
                    steps.push(PlanStep::Generate(Generator::Cut { parts, node, rep, span: l.span }));
                    todo.remove(i);
                    return true;
                }
            }
            for (f, e) in [(a, b), (b, a)] {
                if self.take_recursive(f, e, open, steps) {
                    todo.remove(i);
                    todo.retain(|c| !self.is_type_of_recursive(*c, f, e));
                    return true;
                }
            }
        }
        false
    }

    /// The parts of a concatenation, if those that are unknown are names. Nothing but a sequence may be concatenated, so
    /// another conjunct has to say that the unknown parts are sequences: then what is none is no solution.
    fn cuts(&mut self, e: &Expr, open: &mut OpenSlots, todo: &[Conjunct]) -> Option<Vec<Cut>> {
        let is_cut = |e: &Expr| match &e.kind {
            ExprKind::Binary(op, ..) => matches!(op, BinOp::Concat | BinOp::Append | BinOp::Prepend),
            ExprKind::SeqExt(_) => true,
            _ => false,
        };
        if e.ty == Type::Str || !is_cut(e) || !self.mentions_open(e, open) {
            return None;
        }
        let mut left = open.clone();
        let mut parts = Vec::new();
        // Items are single ones.
        let mut stack = vec![(e, false)];
        while let Some((e, is_item)) = stack.pop() {
            match &e.kind {
                ExprKind::Binary(BinOp::Concat, a, b) if !is_item => {
                    stack.extend([(&**b, false), (&**a, false)]);
                }
                ExprKind::Binary(BinOp::Append, s, x) if !is_item => {
                    stack.extend([(&**x, true), (&**s, false)]);
                }
                ExprKind::Binary(BinOp::Prepend, x, s) if !is_item => {
                    stack.extend([(&**s, false), (&**x, true)]);
                }
                ExprKind::SeqExt(items) if !is_item => stack.extend(items.iter().rev().map(|x| (x, true))),
                _ if !self.mentions_open(e, open) => {
                    let node = self.expr(e);
                    parts.push(if is_item {
                        let rep = Rep::set(Rep::pair(self.rep(&Type::Int), self.rep(&e.ty)));
                        Cut::Known(Node::SeqExt(vec![node], rep.clone()), rep)
                    } else {
                        Cut::Known(node, self.rep(&e.ty))
                    });
                }
                _ => {
                    // A name that occurs twice is left to the other ways.
                    let slot = self.as_slot(e).filter(|s| left.remove(s))?;
                    if !is_item && !self.is_sequence(slot, todo) {
                        return None;
                    }
                    parts.push(if is_item { Cut::Item(slot) } else { Cut::Rest(slot) });
                }
            }
        }
        *open = left;
        Some(parts)
    }

    /// Whether a conjunct says that the unknown is a sequence.
    fn is_sequence(&mut self, slot: Slot, todo: &[Conjunct]) -> bool {
        todo.iter().any(|c| match (&c.expr.kind, c.negated) {
            (ExprKind::Binary(BinOp::In, x, set), false) => {
                let total = |set: &Expr| match &set.kind {
                    ExprKind::Call(_, args) => !args.iter().any(may_fault),
                    _ => false,
                };
                self.as_slot(x) == Some(slot) && seq_kind(set).is_some() && total(set)
            }
            _ => false,
        })
    }

    /// f = E where E mentions f only under lambdas and comprehensions: a recursive function, kept symbolic.
    fn take_recursive(
        &mut self,
        f: &Expr,
        e: &Expr,
        open: &mut OpenSlots,
        steps: &mut Vec<PlanStep>,
    ) -> bool {
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
        steps.push(PlanStep::Generate(Generator::Recursive { slot, node, rep }));
        true
    }

    /// Whether the conjunct says of a recursive constant `f = %x.(x : A | E)` what its equation says already:
    /// `f : A --> T` with a type T. (That E has a value everywhere is seen where f is applied, as for every symbolic
    /// function.)
    fn is_type_of_recursive(&self, c: Conjunct, f: &Expr, e: &Expr) -> bool {
        let (ExprKind::Const(_), ExprKind::Binary(BinOp::In, x, space), false) =
            (&f.kind, &c.expr.kind, c.negated)
        else {
            return false;
        };
        let ExprKind::Binary(op @ (BinOp::TotalFun | BinOp::PartialFun | BinOp::Rel), from, to) = &space.kind
        else {
            return false;
        };
        let ExprKind::Bind(Binder::Lambda, locals, pred, _) = &e.kind else { return false };
        let covers = match (&pred.kind, &locals[..]) {
            (ExprKind::Binary(BinOp::In, y, set), [local]) => {
                let is_local = matches!(y.kind, ExprKind::Local(l) if l == *local);
                is_local && (set == from || (*op != BinOp::TotalFun && is_type(from)))
            }
            _ => false,
        };
        **x == *f && covers && is_type(to) && !may_fault(from)
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
    fn solved(&mut self, l: &Expr, r: &Expr, open: &OpenSlots) -> Option<(Slot, Node)> {
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
        if l.ty != Type::Int {
            return None;
        }
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
    pub(super) fn is_pattern(&mut self, e: &Expr, open: &OpenSlots) -> bool {
        if self.as_slot(e).is_some_and(|s| open.contains(&s)) {
            return true;
        }
        match &e.kind {
            ExprKind::Binary(BinOp::Pair, a, b) => {
                let (pa, pb) = (self.is_pattern(a, open), self.is_pattern(b, open));
                let fine = |c: &Self, is_pattern: bool, e: &Expr| is_pattern || !c.mentions_open(e, open);
                (pa || pb) && fine(self, pa, a) && fine(self, pb, b)
            }
            ExprKind::Rec(fields) => {
                fields.iter().any(|f| self.is_pattern(f, open))
                    && fields.iter().all(|f| self.is_pattern(f, open) || !self.mentions_open(f, open))
            }
            // Whatever else is in it has a value, so that a value of another constructor is no solution.
            ExprKind::Call(Fun::Construct(_), args) => {
                !args.is_empty() && args.iter().all(|a| self.is_pattern(a, open) && is_plain(a))
            }
            _ => false,
        }
    }

    /// Takes a pattern's unknowns out of `open`; a name that occurs twice is bound first and compared then.
    pub(super) fn pattern(&mut self, e: &Expr, open: &mut OpenSlots) -> Pattern {
        if let Some(s) = self.as_slot(e)
            && open.remove(&s)
        {
            return Pattern::Bind(s);
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
            ExprKind::Call(Fun::Construct(case), args) if self.mentions_open(e, open) => match &args[..] {
                [a] => Pattern::Free(*case, Box::new(self.pattern(a, open))),
                _ => Pattern::Check(self.expr(e), rep),
            },
            _ => Pattern::Check(self.expr(e), rep),
        }
    }

    fn best_way<'e>(&mut self, open: &OpenSlots, todo: &[Conjunct<'e>]) -> Option<Way<'e>> {
        let mut ways: Vec<Way<'e>> = Vec::new();
        let mut offer = |cost: f64, kind: WayKind<'e>| ways.push(Way { cost, kind });
        let urgency = self.urgency(open, todo);
        for m in memberships(todo) {
            if self.mentions_open(m.set, open) {
                continue;
            }
            if m.subset {
                if let Some(slot) = self.as_slot(m.element).filter(|s| open.contains(s)) {
                    let cost = self.power(m.set);
                    if cost < UNBOUNDED {
                        let (pattern, set) = (m.element, m.set);
                        offer(cost, WayKind::In { conjunct: m.conjunct, pattern, set, subset: true });
                    }
                    // A set that is only known by name may be larger than its estimate.
                    let is_many = cost > 1000.0
                        || !may_fault(m.set)
                            && !self.rep(&m.set.ty).is_word()
                            && self.says_what_to_leave_out(slot, open, todo);
                    if is_many && self.estimate(m.set) < 1e5 && self.can_grow(slot, open, todo) {
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
                if cost >= UNBOUNDED
                    && let Some(slot) = self.as_slot(m.element).filter(|s| open.contains(s))
                    && let Some((sequences, cost)) = self.longest(slot, m.set, open, todo)
                {
                    offer(cost, WayKind::Sequences { conjunct: m.conjunct, slot, set: m.set, sequences });
                }
                if cost >= UNBOUNDED
                    && self.is_table(m.set)
                    && let Some(slot) = self.as_slot(m.element).filter(|s| open.contains(s))
                {
                    let mut others = open.clone();
                    others.remove(&slot);
                    if !self.equations((slot, m.set), &others, todo).is_empty() {
                        offer(UNBOUNDED / 5.0, WayKind::Grow { slot, set: m.set, subset: false });
                    }
                }
                if cost > 50.0
                    && self.is_space(m.set)
                    && let Some(slot) = self.as_slot(m.element).filter(|s| open.contains(s))
                    && self.can_grow(slot, open, todo)
                {
                    let cost = cost.min(UNBOUNDED / 4.0) * 0.9;
                    offer(cost, WayKind::Grow { slot, set: m.set, subset: false });
                }
            }
        }
        let mut slots: Vec<Slot> = open.iter().copied().collect();
        slots.sort_unstable();
        for slot in slots {
            let info = self.slots[slot as usize].clone();
            if matches!(info.rep.shape, Shape::Int) {
                let cost = self.range_cost(slot, open, todo);
                offer(cost - urgency.get(&slot).unwrap_or(&0.0), WayKind::Range { slot, span: info.span });
            } else {
                let cost = type_size(&info.rep);
                offer(cost - urgency.get(&slot).unwrap_or(&0.0), WayKind::All { slot });
            }
        }
        let best = self.cheapest(ways, open, todo);
        let cost = best.as_ref().map(|b| self.share(b, self.binds(b, open).len()));
        // Opening a disjunction or an existential repeats solutions: only when nothing else is cheap.
        if cost.is_none_or(|cost| cost > 200.0) {
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
                    Form::Or(ways) if ways.len() <= 64 && self.every_way_binds(&ways, open) => {
                        return Some(Way { cost: 0.0, kind: WayKind::Alt { conjunct: i, ways } });
                    }
                    _ => {}
                }
            }
        }
        best
    }

    /// The way that costs least. For parameters of operations, where nothing is large, what is left after it counts
    /// too: a way that binds two unknowns, or after which an equation gives another one, beats a way of the same size
    /// that does not. (Elsewhere the sets may be unknowns that still grow, which can be tested but not run through.)
    fn cheapest<'e>(
        &mut self,
        ways: Vec<Way<'e>>,
        open: &OpenSlots,
        todo: &[Conjunct<'e>],
    ) -> Option<Way<'e>> {
        const SMALL: f64 = 1000.0;
        let binds: Vec<OpenSlots> = ways.iter().map(|w| self.binds(w, open)).collect();
        let least = |slot: Slot| {
            let costs = ways.iter().zip(&binds).filter(|(_, b)| b.contains(&slot)).map(|(w, _)| w.cost);
            costs.fold(f64::INFINITY, f64::min).max(1.0)
        };
        let each: HashMap<Slot, f64> = open.iter().map(|s| (*s, least(*s))).collect();
        let small = each.iter().all(|(s, c)| *c <= SMALL && self.parameters.contains(s));
        let rank = |c: &mut Self, way: &Way<'e>, binds: &OpenSlots| {
            if !small {
                return c.share(way, binds.len());
            }
            let mut left: OpenSlots = open.difference(binds).copied().collect();
            while c.take_given(&mut left, todo) {}
            // In a fixed order: products of rounded numbers depend on it.
            let mut left: Vec<Slot> = left.into_iter().collect();
            left.sort_unstable();
            left.iter().fold(way.cost.max(0.1), |cost, s| cost * each[s])
        };
        let ranks: Vec<f64> = ways.iter().zip(&binds).map(|(w, b)| rank(self, w, b)).collect();
        let order = |(r, w): &(f64, Way), (s, v): &(f64, Way)| r.total_cmp(s).then(w.cost.total_cmp(&v.cost));
        ranks.into_iter().zip(ways).min_by(order).map(|(_, way)| way)
    }

    /// What a way costs for each unknown that it binds: a relation has no more pairs than there are to try if its unknowns
    /// are bound one by one, and mostly far fewer. Not where an unknown grows, since the set may be that one.
    fn share(&self, way: &Way, binds: usize) -> f64 {
        match self.growing == 0 && binds > 1 && way.cost > 1.0 {
            true => way.cost.powf(1.0 / binds as f64),
            false => way.cost,
        }
    }

    /// The unknowns that a way binds.
    fn binds(&self, way: &Way, open: &OpenSlots) -> OpenSlots {
        match &way.kind {
            WayKind::In { pattern, .. } => {
                let mut found = OpenSlots::new();
                self.collect_open(pattern, open, &mut found);
                found
            }
            WayKind::Grow { slot, .. }
            | WayKind::Sequences { slot, .. }
            | WayKind::Range { slot, .. }
            | WayKind::All { slot } => [*slot].into(),
            WayKind::Split { .. } | WayKind::Alt { .. } | WayKind::Exists { .. } => OpenSlots::new(),
        }
    }

    /// Takes out the unknowns of an equation whose other side is known.
    fn take_given(&mut self, left: &mut OpenSlots, todo: &[Conjunct]) -> bool {
        for c in todo {
            let Form::Eq(a, b) = form(*c) else { continue };
            for (l, r) in [(a, b), (b, a)] {
                if self.is_pattern(l, left) && !self.mentions_open(r, left) {
                    let mut given = OpenSlots::new();
                    self.collect_open(l, left, &mut given);
                    left.retain(|s| !given.contains(s));
                    return true;
                }
            }
        }
        false
    }

    /// Whether opening the disjunction helps: each way must bound what it mentions better than its type does.
    fn every_way_binds(&mut self, ways: &[Conjunct], open: &OpenSlots) -> bool {
        let mentioned: OpenSlots =
            open.iter().copied().filter(|s| ways.iter().any(|w| self.mentions(w.expr, *s))).collect();
        !mentioned.is_empty()
            && ways.iter().all(|w| {
                let mut parts = Vec::new();
                flatten(*w, &mut parts);
                let (mut repeat, mut endless) = (false, false);
                let work = self.work;
                self.steps(mentioned.clone(), parts, &mut repeat, &mut endless);
                self.work = work;
                !endless
            })
    }

    /// Between unknowns of the same size, the one that lets a conjunct be tested soonest comes first: a little less
    /// than one, so that it never outweighs a value to try.
    fn urgency(&mut self, open: &OpenSlots, todo: &[Conjunct]) -> HashMap<Slot, f64> {
        let mut urgency: HashMap<Slot, f64> = HashMap::new();
        for c in todo {
            let mut here: OpenSlots = HashSet::new();
            self.collect_open(c.expr, open, &mut here);
            let each = 0.5 / (here.len() as f64).powi(2);
            for s in here {
                let u = urgency.entry(s).or_default();
                // Many long conjuncts never add up to a shorter one.
                *u = u.max(each) + each * 0.001;
            }
        }
        for (slot, coefficient) in self.coefficients(open, todo) {
            *urgency.entry(slot).or_default() += 0.1 * (1.0 - 1.0 / coefficient);
        }
        urgency
    }

    fn collect_open(&self, e: &Expr, open: &OpenSlots, out: &mut OpenSlots) {
        if let Some(s) = self.symbol(e).filter(|s| open.contains(s)) {
            out.insert(s);
        }
        e.for_each_child(&mut |c| self.collect_open(c, open, out));
    }

    fn power(&mut self, set: &Expr) -> f64 {
        let n = self.estimate(set);
        if n >= UNBOUNDED { n } else { 2f64.powf(n.min(1000.0)).min(1e14) }
    }

    // ---- names ----------------------------------------------------------------------------------------------

    pub(super) fn symbol(&self, e: &Expr) -> Option<Slot> {
        match &e.kind {
            ExprKind::Const(c) => Some(self.const_slot(*c)),
            ExprKind::Var(v) => Some(self.var_slot(*v)),
            ExprKind::Local(l) => self.locals.get(l).copied(),
            _ => None,
        }
    }

    pub(super) fn mentions_open(&self, e: &Expr, open: &OpenSlots) -> bool {
        e.any(&|x| self.symbol(x).is_some_and(|s| open.contains(&s)))
    }

    fn mentions(&self, e: &Expr, slot: Slot) -> bool {
        e.any(&|x| self.symbol(x) == Some(slot))
    }
}
