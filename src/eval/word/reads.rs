//! The slots that a compiled tree reads and does not bind itself: what has to be filled before it is evaluated.

use crate::eval::node::grow::{EquationValue, Grow, Space};
use crate::eval::node::{Atom, Compr, Cut, Generator, Node, Pattern, Slot, Test};
use crate::eval::plan::{Plan, PlanStep};
use std::collections::BTreeSet;

#[derive(Default)]
struct Slots {
    read: BTreeSet<Slot>,
    /// A binder's slots belong to it alone, so one set is enough.
    bound: BTreeSet<Slot>,
}

pub fn of_node(node: &Node) -> BTreeSet<Slot> {
    let mut s = Slots::default();
    s.node(node);
    s.free()
}

pub fn of_test(test: &Test) -> BTreeSet<Slot> {
    let mut s = Slots::default();
    s.test(test);
    s.free()
}

impl Slots {
    fn free(self) -> BTreeSet<Slot> {
        self.read.difference(&self.bound).copied().collect()
    }

    fn node(&mut self, node: &Node) {
        match node {
            Node::Const(_) => {}
            Node::Slot(s, _) => {
                self.read.insert(*s);
            }
            Node::Bool(t) => self.test(t),
            Node::FirstW { p: a, .. }
            | Node::SecondW { p: a, .. }
            | Node::SingleW(a)
            | Node::DomW { r: a, .. }
            | Node::RanW { r: a, .. }
            | Node::InverseW { r: a, .. }
            | Node::Unary { a, .. }
            | Node::Field { a, .. }
            | Node::Force(a, _) => self.node(a),
            Node::PairW { a, b, .. }
            | Node::OrW(a, b)
            | Node::AndW(a, b)
            | Node::AndNotW(a, b)
            | Node::ApplyW { f: a, x: b, .. }
            | Node::ImageW { r: a, s: b, .. }
            | Node::ComposeW { r: a, s: b, .. }
            | Node::OverrideW { r: a, s: b, .. }
            | Node::RestrictW { r: a, s: b, .. }
            | Node::ProductW { a, b, .. }
            | Node::Binary { a, b, .. }
            | Node::WithField { a, v: b, .. }
            | Node::Fun { from: a, to: b, .. } => self.nodes([&**a, &**b]),
            Node::UpdateW { f, x, y, .. } | Node::Update { f, x, y, .. } => self.nodes([&**f, &**x, &**y]),
            Node::SetExt(items, _)
            | Node::SeqExt(items, _)
            | Node::Rec(items, _)
            | Node::Struct(items, _) => self.nodes(items),
            Node::Compr(c) | Node::Sum { over: c, .. } | Node::Gather { over: c, .. } => self.compr(c),
            Node::External(c) => self.nodes(&c.args),
            Node::Typed(t) => self.nodes(&t.args),
            Node::If(c, a, b) => {
                self.test(c);
                self.nodes([&**a, &**b]);
            }
            Node::Let(defs, body) => {
                self.defs(defs);
                self.node(body);
            }
        }
    }

    fn nodes<'n>(&mut self, nodes: impl IntoIterator<Item = &'n Node>) {
        nodes.into_iter().for_each(|n| self.node(n));
    }

    fn defs(&mut self, defs: &[(Slot, Node)]) {
        for (slot, n) in defs {
            self.bound.insert(*slot);
            self.node(n);
        }
    }

    fn compr(&mut self, c: &Compr) {
        self.bound.extend(&c.slots);
        self.plan(&c.plan);
        c.pointwise.iter().for_each(|p| self.plan(p));
        self.test(&c.test);
        self.node(&c.element);
        self.nodes(&c.value);
    }

    fn test(&mut self, test: &Test) {
        match test {
            Test::Const(_) => {}
            Test::And(ts) | Test::Or(ts) | Test::All(ts) | Test::Any(ts) => {
                ts.iter().for_each(|t| self.test(t));
            }
            Test::Not(t) | Test::At(t, _) | Test::HasValue(t) | Test::Demand(t, _) => self.test(t),
            Test::Implies(a, b) | Test::Iff(a, b) => {
                self.test(a);
                self.test(b);
            }
            Test::Atom(Atom::EqW(a, b))
            | Test::Atom(Atom::InW(a, b))
            | Test::Atom(Atom::SubsetW(a, b))
            | Test::Atom(Atom::StrictW(a, b))
            | Test::Atom(Atom::Eq(a, b, _))
            | Test::Atom(Atom::Cmp(a, b, _))
            | Test::Atom(Atom::CmpReal(a, b, _))
            | Test::Atom(Atom::In(a, b, _))
            | Test::Atom(Atom::Subset(a, b, _))
            | Test::Atom(Atom::FiniteSubset(a, b, _))
            | Test::Atom(Atom::Strict(a, b, _))
            | Test::Atom(Atom::InSeq { s: a, of: b, .. }) => self.nodes([&**a, &**b]),
            Test::Atom(Atom::InInts(a, _)) | Test::Atom(Atom::Defined(a)) => self.node(a),
            Test::Atom(Atom::InInterval { x, lo, hi }) => self.nodes([&**x, &**lo, &**hi]),
            Test::Atom(Atom::InFun { f, from, to, .. }) => self.nodes([&**f, &**from, &**to]),
            Test::Atom(Atom::InCompr { x, over }) => {
                self.node(x);
                self.compr(over);
            }
            Test::Exists(plan) => self.plan(plan),
            Test::Forall(plan, body) => {
                self.plan(plan);
                self.test(body);
            }
            Test::If(c, a, b) => {
                self.test(c);
                self.test(a);
                self.test(b);
            }
            Test::Let(defs, body) => {
                self.defs(defs);
                self.test(body);
            }
        }
    }

    fn plan(&mut self, plan: &Plan) {
        self.steps(&plan.steps);
    }

    fn steps(&mut self, steps: &[PlanStep]) {
        for step in steps {
            match step {
                PlanStep::Test(t) => self.test(t),
                PlanStep::Generate(g) => self.generator(g),
                PlanStep::Given(g, otherwise) => {
                    self.generator(g);
                    self.steps(otherwise);
                }
                PlanStep::Range { slot, lows, highs, .. } => {
                    self.bound.insert(*slot);
                    self.nodes(lows.iter().chain(highs).map(|b| &b.node));
                }
                PlanStep::Cases(t, yes, no) => {
                    self.test(t);
                    self.steps(yes);
                    self.steps(no);
                }
                PlanStep::Alt(ways) => ways.iter().for_each(|w| self.steps(w)),
            }
        }
    }

    fn generator(&mut self, generator: &Generator) {
        match generator {
            Generator::Match(p, n, _) => {
                self.pattern(p);
                self.node(n);
            }
            Generator::In { pattern, set, .. } => {
                self.pattern(pattern);
                self.node(set);
            }
            Generator::All { slot, .. } => {
                self.bound.insert(*slot);
            }
            Generator::Grow(g) => self.grow(g),
            Generator::Solved(s) => {
                self.bound.extend(s.slots.iter().map(|(slot, _)| *slot));
                self.steps(&s.plan);
                s.tests.iter().for_each(|t| self.test(t));
            }
            Generator::Cut { parts, node, .. } => {
                self.node(node);
                for part in parts {
                    match part {
                        Cut::Rest(slot) | Cut::Item(slot) => _ = self.bound.insert(*slot),
                        Cut::Known(n, _) => self.node(n),
                    }
                }
            }
            Generator::Recursive { slot, node, .. } => {
                self.bound.insert(*slot);
                self.node(node);
            }
        }
    }

    fn pattern(&mut self, p: &Pattern) {
        match p {
            Pattern::Bind(s) => {
                self.bound.insert(*s);
            }
            Pattern::Check(n, _) => self.node(n),
            Pattern::Pair(a, b, _) => {
                self.pattern(a);
                self.pattern(b);
            }
            Pattern::Rec(parts, _) => parts.iter().for_each(|p| self.pattern(p)),
            Pattern::Free(_, inside) => self.pattern(inside),
        }
    }

    fn grow(&mut self, g: &Grow) {
        self.bound.insert(g.slot);
        self.space(&g.space);
        g.sizes.iter().for_each(|size| self.node(&size.number));
        for one in &g.by_element {
            one.left.nodes(&mut |n| self.node(n));
            one.right.nodes(&mut |n| self.node(n));
        }
        g.tests.iter().for_each(|t| self.test(t));
        for eq in &g.equations {
            if let Some(e) = &eq.at {
                self.pattern(&e.pattern);
                self.test(&e.guard);
            }
            self.nodes(&eq.point);
            match &eq.value {
                EquationValue::Is(n, _) | EquationValue::In(n, _) => self.node(n),
                EquationValue::Items(items) => {
                    self.bound.insert(items.place);
                    self.nodes([&items.length, &items.value]);
                    self.test(&items.guard);
                }
            }
        }
    }

    fn space(&mut self, s: &Space) {
        match s {
            Space::In(n, _) => self.node(n),
            Space::Fun { from, to, .. } => {
                self.node(from);
                self.space(to);
            }
            Space::Subset { of, .. } => self.node(of),
            Space::Defined => {}
        }
    }
}
