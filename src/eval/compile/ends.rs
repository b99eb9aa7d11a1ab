//! The end of an interval that is known as a set: `arr : 1..n --> S` and `1..n = S` give n where arr and S are known.

use super::forms::{Conjunct, Form, OpenSlots, form};
use super::{Compiler, fun_kind};
use crate::eval::node::{Atom, Binary, Generator, Node, Pattern, Slot, Test, Unary};
use crate::eval::plan::{Bound, PlanStep};
use crate::lang::diag::Span;
use crate::model::{BinOp, Expr, ExprKind, Type};
use crate::value::rep::R;
use crate::value::val::Val;

impl Compiler<'_> {
    /// Binds the end of an interval. The conjunct stays as a test: a set that is no interval gives an end, too.
    pub(super) fn take_end(
        &mut self,
        open: &mut OpenSlots,
        todo: &mut Vec<Conjunct>,
        steps: &mut Vec<PlanStep>,
    ) -> bool {
        let mut found = None;
        for c in todo.iter() {
            let sides: [(&Expr, &Expr, bool); 2] = match form(*c) {
                Form::Eq(a, b) => [(a, b, false), (b, a, false)],
                Form::In(f, space) => match &space.kind {
                    ExprKind::Binary(op, from, _) if fun_kind(*op).is_some_and(|k| k.total) => {
                        [(from, f, true), (from, f, true)]
                    }
                    _ => continue,
                },
                _ => continue,
            };
            for (interval, set, is_domain) in sides {
                let ExprKind::Binary(BinOp::Interval, low, high) = &interval.kind else { continue };
                let Some(slot) = self.as_slot(high).filter(|s| open.contains(s)) else { continue };
                if !self.mentions_open(low, open) && !self.mentions_open(set, open) {
                    found = Some((slot, &**low, set, is_domain));
                }
            }
        }
        let Some((slot, low, set, is_domain)) = found else { return false };
        let span = set.span;
        let integer = self.rep(&Type::Int);
        let size = |c: &mut Self| {
            let rep = c.rep(&set.ty);
            let a = c.expr(set);
            if !is_domain {
                return card(a, rep, &integer, span);
            }
            let out = crate::value::rep::Rep::set(rep.as_rel().0.clone());
            let dom = Node::Unary { op: Unary::Dom, a: Box::new(a), rep, out: out.clone(), span };
            card(dom, out, &integer, span)
        };
        // An empty set is the interval to any end below its beginning.
        let is_empty =
            Test::Atom(Atom::Eq(Box::new(size(self)), Box::new(Node::Const(Val::I(0))), integer.clone()));
        let below = Bound { node: self.expr(low), offset: -1, scale: None };
        let (lows, mut highs) = self.take_bounds(slot, open, &mut todo.clone());
        highs.push(below);
        let no_end = PlanStep::Range { slot, lows, highs, limits: self.limits, span: self.span_of(slot) };
        let binary = |op, a: Node, b: Node| {
            let (ra, rb, out) = (integer.clone(), integer.clone(), integer.clone());
            Node::Binary { op, a: Box::new(a), b: Box::new(b), ra, rb, out, span }
        };
        let after = binary(Binary::Add, self.expr(low), size(self));
        let end = binary(Binary::Sub, after, Node::Const(Val::I(1)));
        let bind = PlanStep::Generate(Generator::Match(Pattern::Bind(slot), end, integer.clone()));
        steps.push(PlanStep::Cases(is_empty, vec![no_end], vec![bind]));
        open.remove(&slot);
        true
    }

    fn span_of(&self, slot: Slot) -> Span {
        self.slots[slot as usize].span
    }
}

fn card(set: Node, rep: R, out: &R, span: Span) -> Node {
    Node::Unary { op: Unary::Card, a: Box::new(set), rep, out: out.clone(), span }
}
