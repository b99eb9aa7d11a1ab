//! What the form of a lambda says of it as a whole, where it cannot be listed: the domain, and where its values lie.

use super::Compiler;
use super::forms::{Conjunct, Form, OpenSlots, flatten, form, may_fault};
use crate::eval::node::{Arith, Function, Slot};
use crate::model::{BinOp, Expr, ExprKind, Type, UnOp};
use num_traits::ToPrimitive;

impl Compiler<'_> {
    pub(super) fn function(&mut self, slots: &[Slot], pred: &Expr, body: &Expr) -> Option<Function> {
        let mut conjuncts = Vec::new();
        flatten(Conjunct::new(pred, false), &mut conjuncts);
        let bound: OpenSlots = slots.iter().copied().collect();
        let mut sets = vec![None; slots.len()];
        let mut is_all = true;
        for c in conjuncts {
            let place = match form(c) {
                Form::In(x, set) if !self.mentions_open(set, &bound) => self
                    .as_slot(x)
                    .and_then(|x| slots.iter().position(|s| *s == x))
                    .filter(|i| sets[*i].is_none())
                    .map(|i| (i, set)),
                _ => None,
            };
            match place {
                Some((i, set)) => sets[i] = Some(self.expr(set)),
                // Where it may have no value, so may the lambda.
                None if may_fault(c.expr) => return None,
                None => is_all = false,
            }
        }
        let value = (body.ty == Type::Int).then(|| self.arith(slots, &bound, body)).flatten();
        Some(Function {
            domain: sets.into_iter().collect::<Option<_>>()?,
            is_all,
            has_value: !may_fault(body),
            value,
        })
    }

    fn arith(&mut self, slots: &[Slot], bound: &OpenSlots, e: &Expr) -> Option<Arith> {
        if !self.mentions_open(e, bound) {
            return (!may_fault(e)).then(|| Arith::Known(self.expr(e)));
        }
        let mut part = |e: &Expr| self.arith(slots, bound, e).map(Box::new);
        Some(match &e.kind {
            ExprKind::Local(_) => {
                let slot = self.as_slot(e)?;
                Arith::Bound(slots.iter().position(|s| *s == slot)?)
            }
            ExprKind::Unary(UnOp::Neg, x) => Arith::Neg(part(x)?),
            ExprKind::Binary(BinOp::Mul, x, y) if x == y => Arith::Power(part(x)?, 2),
            ExprKind::Binary(BinOp::Pow, x, n) => {
                let ExprKind::Int(n) = &n.kind else { return None };
                Arith::Power(part(x)?, n.to_u32().filter(|n| *n <= 64)?)
            }
            ExprKind::Binary(BinOp::Add, x, y) => Arith::Add(part(x)?, part(y)?),
            ExprKind::Binary(BinOp::Sub, x, y) => Arith::Add(part(x)?, Box::new(Arith::Neg(part(y)?))),
            ExprKind::Binary(BinOp::Mul, x, y) => Arith::Mul(part(x)?, part(y)?),
            ExprKind::Binary(BinOp::Div, x, y) => Arith::Div(part(x)?, part(y)?),
            ExprKind::Binary(BinOp::Mod, x, y) => Arith::Mod(part(x)?, part(y)?),
            ExprKind::If(c, x, y) if !may_fault(c) => Arith::Either(part(x)?, part(y)?),
            _ => return None,
        })
    }
}
