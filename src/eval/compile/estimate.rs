//! About how many values a generator has, and what bounds an integer.

use super::forms::{Conjunct, Form, OpenSlots, flatten, form, may_fault, memberships};
use super::{Compiler, fun_kind};
use crate::eval::node::by_element::{ByElement, MadeOf};
use crate::eval::node::grow::{Equation, EquationValue, Everywhere, Items, Says, Size, Space};
use crate::eval::node::{Binary, Node, Slot, Test};
use crate::eval::plan::Bound;
use crate::lang::diag::Span;
use crate::model::{BinOp, Binder, Expr, ExprKind, Fun, Lit, Quant, Type, UnOp};
use crate::value::rep::{R, Rep, Shape};
use crate::value::val::{FunKind, SeqKind, Val};
use num_traits::ToPrimitive;
use std::cell::Cell;

/// Finite, but not to be run through if there is another way.
const LARGE: f64 = 1e14;
/// At least this: an enumeration that would not end.
pub(super) const UNBOUNDED: f64 = 1e15;
const NEVER: f64 = 1e18;
/// An integer that is bounded only by way of another: anything else first.
const FAR: f64 = 1e9;

/// A product or power of sizes: finite as long as its parts are.
fn finite(parts: &[f64], size: f64) -> f64 {
    if parts.iter().any(|p| *p >= UNBOUNDED) { NEVER } else { size.min(LARGE) }
}

impl Compiler<'_> {
    // ---- ranges ---------------------------------------------------------------------------------------------

    /// Bounds that a set of integers gives: low and high, where it has them.
    pub(super) fn bounds_of<'e>(&self, set: &'e Expr) -> Option<(SetBound<'e>, SetBound<'e>)> {
        let (min, max) = self.limits;
        let n = SetBound::Fixed;
        match &set.kind {
            ExprKind::Binary(BinOp::Interval, a, b) => Some((SetBound::Expr(a), SetBound::Expr(b))),
            ExprKind::Lit(Lit::Natural) => Some((n(0), SetBound::OpenSlots)),
            ExprKind::Lit(Lit::Natural1) => Some((n(1), SetBound::OpenSlots)),
            ExprKind::Lit(Lit::Integer) => Some((SetBound::OpenSlots, SetBound::OpenSlots)),
            ExprKind::Lit(Lit::NatSet) => Some((n(0), n(max))),
            ExprKind::Lit(Lit::Nat1Set) => Some((n(1), n(max))),
            ExprKind::Lit(Lit::IntSet) => Some((n(min), n(max))),
            _ => None,
        }
    }

    pub(super) fn range_cost(&mut self, slot: Slot, open: &OpenSlots, todo: &[Conjunct]) -> f64 {
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
            if !m.subset
                && self.as_slot(m.element) == Some(slot)
                && !self.mentions_open(m.set, open)
                && let Some((a, b)) = self.bounds_of(m.set)
            {
                match a {
                    SetBound::Fixed(n) => low(Some(n as f64)),
                    SetBound::Expr(e) => low(literal(e)),
                    SetBound::OpenSlots => {}
                }
                match b {
                    SetBound::Fixed(n) => high(Some(n as f64)),
                    SetBound::Expr(e) => high(literal(e)),
                    SetBound::OpenSlots => {}
                }
            }
        }
        for c in todo {
            if let Form::Less(a, b, _) = form(*c) {
                if self.as_slot(a) == Some(slot) && !self.mentions_open(b, open) {
                    high(literal(b));
                }
                if self.as_slot(b) == Some(slot) && !self.mentions_open(a, open) {
                    low(literal(a));
                }
            }
        }
        if !(has_lo && has_hi) {
            if let (Some(a), Some(b)) = self.linear_bounds(slot, open, todo) {
                return ((b - a) as f64 + 1.0).max(0.0);
            }
            let (lows, highs) = self.row_bounds(slot, open, todo);
            let (is_low, is_high) = (has_lo || !lows.is_empty(), has_hi || !highs.is_empty());
            if is_low && is_high {
                return 12.0;
            }
            let is_far = |above| !self.far_bounds(slot, above, open, todo).is_empty();
            if (is_low || is_far(false)) && (is_high || is_far(true)) {
                return FAR;
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
    pub(super) fn take_bounds(
        &mut self,
        slot: Slot,
        open: &OpenSlots,
        todo: &mut Vec<Conjunct>,
    ) -> (Vec<Bound>, Vec<Bound>) {
        let (mut lows, mut highs) = (Vec::new(), Vec::new());
        let fixed = |n: i128| {
            let n = n.clamp(i128::from(i64::MIN / 2), i128::from(i64::MAX / 2)) as i64;
            Bound { node: Node::Const(Val::I(n)), offset: 0, scale: None }
        };
        let (lo, hi) = self.linear_bounds(slot, open, todo);
        lows.extend(lo.map(fixed));
        highs.extend(hi.map(fixed));
        let (low_rows, high_rows) = self.row_bounds(slot, open, todo);
        lows.extend(low_rows);
        highs.extend(high_rows);
        let far = [false, true].map(|above| self.far_bounds(slot, above, open, todo));
        for m in memberships(todo) {
            let follows = m.conjunct.is_none() && !m.subset;
            if follows
                && self.as_slot(m.element) == Some(slot)
                && !self.mentions_open(m.set, open)
                && let Some((a, b)) = self.bounds_of(m.set)
            {
                lows.extend(self.set_bound(a));
                highs.extend(self.set_bound(b));
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
                        highs.push(Bound {
                            node: self.expr(b),
                            offset: if strict { -1 } else { 0 },
                            scale: None,
                        });
                    } else if self.as_slot(b) == Some(slot) && !self.mentions_open(a, open) {
                        lows.push(Bound { node: self.expr(a), offset: i64::from(strict), scale: None });
                    } else {
                        rest.push(c);
                    }
                }
                _ => rest.push(c),
            }
        }
        *todo = rest;
        for (bounds, far) in [&mut lows, &mut highs].into_iter().zip(far) {
            if bounds.is_empty() {
                let far = far
                    .into_iter()
                    .filter_map(|(b, offset)| self.set_bound(b).map(|b| Bound { offset, ..b }));
                bounds.extend(far);
            }
        }
        (lows, highs)
    }

    /// Bounds of an integer, from above or below, that come by way of other unknowns: `x < y & y <= E` bounds x. Only those
    /// that always have a value: a fault is for the conjunct itself to tell.
    fn far_bounds<'e>(
        &self,
        slot: Slot,
        above: bool,
        open: &OpenSlots,
        todo: &[Conjunct<'e>],
    ) -> Vec<(SetBound<'e>, i64)> {
        let mut out = Vec::new();
        self.find_far(slot, (above, 0), open, todo, &mut vec![slot], &mut out);
        out
    }

    fn find_far<'e>(
        &self,
        slot: Slot,
        (above, offset): (bool, i64),
        open: &OpenSlots,
        todo: &[Conjunct<'e>],
        on_the_way: &mut Vec<Slot>,
        out: &mut Vec<(SetBound<'e>, i64)>,
    ) {
        let is_closed = |e: &Expr| !self.mentions_open(e, open) && !may_fault(e);
        // Its own bounds are known without this.
        let is_far = on_the_way.len() > 1;
        for c in todo {
            match form(*c) {
                Form::Less(a, b, strict) => {
                    let (this, other, step) = if above { (a, b, -1) } else { (b, a, 1) };
                    if self.symbol(this) != Some(slot) {
                        continue;
                    }
                    let offset = offset + if strict { step } else { 0 };
                    match self.symbol(other).filter(|s| open.contains(s)) {
                        Some(next) if !on_the_way.contains(&next) => {
                            on_the_way.push(next);
                            self.find_far(next, (above, offset), open, todo, on_the_way, out);
                            on_the_way.pop();
                        }
                        Some(_) => {}
                        None if is_far && is_closed(other) => out.push((SetBound::Expr(other), offset)),
                        None => {}
                    }
                }
                Form::In(x, set) if is_far && self.symbol(x) == Some(slot) && is_closed(set) => {
                    let bounds = self.bounds_of(set).map(|(low, high)| if above { high } else { low });
                    out.extend(bounds.filter(|b| !matches!(b, SetBound::OpenSlots)).map(|b| (b, offset)));
                }
                _ => {}
            }
        }
    }

    fn set_bound(&mut self, b: SetBound) -> Option<Bound> {
        match b {
            SetBound::OpenSlots => None,
            SetBound::Fixed(n) => Some(Bound { node: Node::Const(Val::I(n)), offset: 0, scale: None }),
            SetBound::Expr(e) => Some(Bound { node: self.expr(e), offset: 0, scale: None }),
        }
    }

    // ---- sequences ------------------------------------------------------------------------------------------

    /// How long the unknown sequence is at most, and about how many sequences that makes: `s : seq(S)` with
    /// `size(s) <= n`, `size(s) = n` or `size(s) : m..n`. Where S is infinite, `ran(s) = T` or `ran(s) <: T` gives the
    /// items.
    pub(super) fn longest<'e>(
        &mut self,
        slot: Slot,
        set: &'e Expr,
        open: &OpenSlots,
        todo: &[Conjunct<'e>],
    ) -> Option<(Sequences<'e>, f64)> {
        let mut kind = super::pred::seq_kind(set)?;
        let ExprKind::Call(_, args) = &set.kind else { return None };
        let mut of = &args[0];
        let mut items = self.estimate(of);
        if items >= UNBOUNDED {
            of = self.range_of(slot, open, todo)?;
            items = self.estimate(of);
            // That all of S occurs is tested.
            kind.surjective = false;
        }
        let is_whole = std::ptr::eq(of, &args[0]);
        let mut best: Option<(Sequences<'e>, f64)> = None;
        for c in todo {
            let (most, offset) = match form(*c) {
                Form::Less(a, b, strict) if self.is_length(a, slot) => (b, -i64::from(strict)),
                Form::Eq(a, b) if self.is_length(a, slot) => (b, 0),
                Form::Eq(a, b) if self.is_length(b, slot) => (a, 0),
                Form::In(a, set) if self.is_length(a, slot) => match self.bounds_of(set) {
                    Some((_, SetBound::Expr(b))) => (b, 0),
                    _ => continue,
                },
                _ => continue,
            };
            if self.mentions_open(most, open) {
                continue;
            }
            // A length that is known only when the plan runs is taken for a small one.
            let length = literal(most).map_or(3.0, |n| n + offset as f64).clamp(0.0, 1000.0);
            let cost = finite(&[items], items.max(2.0).powf(length));
            if best.as_ref().is_none_or(|b| cost < b.1) {
                best = Some((Sequences { kind, of, is_whole, most, offset }, cost));
            }
        }
        best
    }

    /// Whether a conjunct says that an unknown function has every value of the set that it goes to: `f : A --> B & ran(f) = B`.
    pub(super) fn is_onto(&mut self, slot: Slot, set: &Expr, todo: &[Conjunct]) -> bool {
        let ExprKind::Binary(_, _, to) = &set.kind else { return false };
        let is_range = |c: &mut Self, e: &Expr| match &e.kind {
            ExprKind::Call(Fun::Ran, args) => c.as_slot(&args[0]) == Some(slot),
            _ => false,
        };
        todo.iter().any(|c| match form(*c) {
            Form::Eq(a, b) => {
                (is_range(self, a) && b.kind == to.kind) || (is_range(self, b) && a.kind == to.kind)
            }
            _ => false,
        })
    }

    /// A finite set that is known to have all items of the unknown sequence.
    fn range_of<'e>(&mut self, slot: Slot, open: &OpenSlots, todo: &[Conjunct<'e>]) -> Option<&'e Expr> {
        let is_range = |c: &mut Self, e: &Expr| match &e.kind {
            ExprKind::Call(Fun::Ran, args) => c.as_slot(&args[0]) == Some(slot),
            _ => false,
        };
        todo.iter().find_map(|c| {
            let set = match form(*c) {
                Form::Eq(a, b) if is_range(self, a) => b,
                Form::Eq(a, b) if is_range(self, b) => a,
                Form::Subset(a, b) if is_range(self, a) => b,
                _ => return None,
            };
            (!self.mentions_open(set, open) && self.estimate(set) < UNBOUNDED).then_some(set)
        })
    }

    /// `size(s)` or `card(s)` of the unknown.
    fn is_length(&mut self, e: &Expr, slot: Slot) -> bool {
        match &e.kind {
            ExprKind::Call(Fun::Size | Fun::Card, args) => self.as_slot(&args[0]) == Some(slot),
            _ => false,
        }
    }

    /// The sequences over a set that are not longer than a number; `ty` is the type of the set of sequences.
    pub(super) fn bounded_sequences(&mut self, s: Sequences, ty: &Type, span: Span) -> Node {
        let Sequences { kind, of, most, offset, .. } = s;
        let (ra, rb, out) = (self.rep(&of.ty), self.rep(&most.ty), self.rep(ty));
        let (items, length) = (self.expr(of), self.expr(most));
        let binary =
            |op, a, b, ra, rb, out| Node::Binary { op, a: Box::new(a), b: Box::new(b), ra, rb, out, span };
        let length = match offset {
            0 => length,
            n => {
                let n = Node::Const(Val::I(n));
                binary(Binary::Add, length, n, rb.clone(), rb.clone(), rb.clone())
            }
        };
        binary(Binary::Seqs(kind), items, length, ra, rb, out)
    }

    // ---- growing --------------------------------------------------------------------------------------------

    /// Whether growing pays: something else is said of this unknown alone.
    pub(super) fn can_grow(&mut self, slot: Slot, open: &OpenSlots, todo: &[Conjunct]) -> bool {
        let only: OpenSlots = [slot].into();
        let mut others = open.clone();
        others.remove(&slot);
        let about = |c: &&Conjunct| self.mentions_open(c.expr, &only) && !self.mentions_open(c.expr, &others);
        todo.iter().filter(about).count() > 1
    }

    /// Whether conjuncts about the size or the single elements of the unknown set save most of its values.
    pub(super) fn says_what_to_leave_out(&mut self, slot: Slot, open: &OpenSlots, todo: &[Conjunct]) -> bool {
        !self.sizes(slot, open, todo).is_empty() || !self.by_element(slot, open, todo).is_empty()
    }

    /// What the conjuncts say of the number of elements of the unknown, in terms of what is known.
    pub(super) fn sizes(&mut self, slot: Slot, open: &OpenSlots, todo: &[Conjunct]) -> Vec<Size> {
        let mut out = Vec::new();
        for c in todo.iter().filter(|c| !c.expr.asks_for_values()) {
            let mut is_size = |e: &Expr| match &e.kind {
                ExprKind::Call(Fun::Card, args) => self.as_slot(&args[0]) == Some(slot),
                _ => false,
            };
            let found = match form(*c) {
                Form::Eq(a, e) | Form::Eq(e, a) if is_size(a) => vec![(e, Says::Exactly)],
                Form::Less(a, e, strict) if is_size(a) => {
                    vec![(e, if strict { Says::Below } else { Says::AtMost })]
                }
                Form::Less(e, a, strict) if is_size(a) => {
                    vec![(e, if strict { Says::Above } else { Says::AtLeast })]
                }
                Form::In(a, set) if is_size(a) => match &set.kind {
                    ExprKind::Binary(BinOp::Interval, from, to) => {
                        vec![(&**from, Says::AtLeast), (&**to, Says::AtMost)]
                    }
                    _ => vec![],
                },
                _ => vec![],
            };
            for (e, says) in found {
                if !self.mentions_open(e, open) {
                    out.push(Size { says, number: self.expr(e) });
                }
            }
        }
        out
    }

    /// What the conjuncts say of the unknown set element by element.
    pub(super) fn by_element(&mut self, slot: Slot, open: &OpenSlots, todo: &[Conjunct]) -> Vec<ByElement> {
        let only: OpenSlots = [slot].into();
        let mut out = Vec::new();
        for c in todo.iter().filter(|c| !c.tested && !c.expr.asks_for_values()) {
            let (a, b, is_equation) = match form(*c) {
                Form::Eq(a, b) => (a, b, true),
                Form::Subset(a, b) if is_inclusion(c.expr) => (a, b, false),
                _ => continue,
            };
            if !matches!(a.ty, Type::Pow(_)) || !self.mentions_open(c.expr, &only) {
                continue;
            }
            if let (Some(left), Some(right)) = (self.made_of(a, slot, open), self.made_of(b, slot, open)) {
                out.push(ByElement { left, right, is_equation });
            }
        }
        out
    }

    /// A set as it is made of the unknown and of known sets, if it is.
    fn made_of(&mut self, e: &Expr, slot: Slot, open: &OpenSlots) -> Option<MadeOf> {
        if self.as_slot(e) == Some(slot) {
            return Some(MadeOf::Unknown);
        }
        if !self.mentions_open(e, open) {
            return Some(MadeOf::Known(self.expr(e), self.rep(&e.ty)));
        }
        let ExprKind::Binary(op, a, b) = &e.kind else { return None };
        if !matches!(op, BinOp::Union | BinOp::Inter | BinOp::Sub | BinOp::Diff) {
            return None;
        }
        let both = Box::new([self.made_of(a, slot, open)?, self.made_of(b, slot, open)?]);
        Some(match op {
            BinOp::Union => MadeOf::Union(both),
            BinOp::Inter => MadeOf::Inter(both),
            _ => MadeOf::Diff(both),
        })
    }

    /// Whether the set is a space of functions between sets that can be enumerated.
    pub(super) fn is_space(&mut self, set: &Expr) -> bool {
        match &set.kind {
            ExprKind::Binary(op, a, b) => match fun_kind(*op) {
                Some(k) if k.functional => {
                    self.estimate(a) < 1e5 && (self.estimate(b) < 1e6 || self.is_space(b))
                }
                Some(_) => self.estimate(a) * self.estimate(b) < 1e5,
                None => false,
            },
            _ => false,
        }
    }

    /// Total functions from a finite to an infinite set: equations may give them point by point.
    pub(super) fn is_table(&mut self, set: &Expr) -> bool {
        match &set.kind {
            ExprKind::Binary(op, a, b)
                if fun_kind(*op).is_some_and(|k| k.functional && k.total && !k.surjective) =>
            {
                self.estimate(a) < 1e5 && self.estimate(b) >= UNBOUNDED && !self.is_space(b)
            }
            _ => false,
        }
    }

    /// What the conjuncts say of the unknown function's value at a point.
    pub(super) fn equations(
        &mut self,
        (slot, space): (Slot, &Expr),
        others: &OpenSlots,
        todo: &[Conjunct],
    ) -> Vec<Equation> {
        let to_sequences = match &space.kind {
            ExprKind::Binary(_, _, to) => super::pred::seq_kind(to).is_some(),
            _ => false,
        };
        let mut out = Vec::new();
        for c in todo {
            if c.negated || c.expr.asks_for_values() {
                continue;
            }
            match &c.expr.kind {
                ExprKind::Quant(Quant::Forall, locals, body) => {
                    let mut guards = Vec::new();
                    let mut body: &Expr = body;
                    while let ExprKind::Binary(BinOp::Implies, p, q) = &body.kind {
                        guards.push(&**p);
                        body = q;
                    }
                    if guards.iter().any(|g| self.mentions_open(g, others)) {
                        continue;
                    }
                    let bound: OpenSlots = locals.iter().map(|l| self.local_slot(*l)).collect();
                    let mut parts = Vec::new();
                    flatten(Conjunct::new(body, false), &mut parts);
                    for part in parts.iter().filter(|p| !p.negated) {
                        if self.mentions_open(part.expr, others) {
                            continue;
                        }
                        let given = self.equation(slot, part.expr);
                        let given = match given {
                            None if to_sequences => self.items(slot, part.expr, &parts),
                            given => given,
                        };
                        let Some((point, value)) = given else { continue };
                        let (point, shift) = shifted(point);
                        let mut open = bound.clone();
                        if !self.is_pattern(point, &open) {
                            continue;
                        }
                        let pattern = self.pattern(point, &mut open);
                        if !open.is_empty() {
                            continue;
                        }
                        let guard = Test::And(guards.iter().map(|g| self.test(g)).collect());
                        out.push(Equation {
                            at: Some(Everywhere { pattern, shift, guard }),
                            point: None,
                            value,
                        });
                    }
                }
                _ if self.mentions_open(c.expr, others) => {}
                _ => {
                    let Some((point, value)) = self.equation(slot, c.expr) else { continue };
                    let point = self.expr(point);
                    out.push(Equation { at: None, point: Some(point), value });
                }
            }
        }
        out
    }

    /// `!j.(P => f(E)(j) = V)` beside `size(f(E)) = L`, with the E. That f(E) is a sequence is what its caller knows.
    fn items<'e>(
        &mut self,
        slot: Slot,
        e: &'e Expr,
        beside: &[Conjunct<'e>],
    ) -> Option<(&'e Expr, EquationValue)> {
        let ExprKind::Quant(Quant::Forall, locals, body) = &e.kind else { return None };
        let ([local], ExprKind::Binary(BinOp::Implies, guard, equation)) = (&locals[..], &body.kind) else {
            return None;
        };
        let ExprKind::Binary(BinOp::Eq, a, b) = &equation.kind else { return None };
        let item = |c: &mut Self, e: &'e Expr| match &e.kind {
            ExprKind::Apply(s, j) if matches!(j.kind, ExprKind::Local(l) if l == *local) => match &s.kind {
                ExprKind::Apply(f, point) if c.as_slot(f) == Some(slot) => Some((&**s, &**point)),
                _ => None,
            },
            _ => None,
        };
        let (sequence, point, value) = match (item(self, a), item(self, b)) {
            (Some((s, point)), _) => (s, point, b),
            (None, Some((s, point))) => (s, point, a),
            (None, None) => return None,
        };
        let is_length = |e: &Expr| match &e.kind {
            ExprKind::Call(Fun::Size | Fun::Card, args) => args[0] == *sequence,
            _ => false,
        };
        let length = beside.iter().find_map(|c| match form(*c) {
            Form::Eq(x, y) if is_length(x) => Some(y),
            Form::Eq(x, y) if is_length(y) => Some(x),
            _ => None,
        })?;
        if point.mentions_local(*local) || length.any(&|x| self.symbol(x) == Some(slot)) {
            return None;
        }
        let place = self.local_slot(*local);
        let items = Items {
            length: self.expr(length),
            place,
            guard: self.test(guard),
            value: self.expr(value),
            rep: self.rep(&sequence.ty),
        };
        Some((point, EquationValue::Items(Box::new(items))))
    }

    /// `f(E) = V`, `V = f(E)` or `f(E) : S`, with the E.
    fn equation<'e>(&mut self, slot: Slot, e: &'e Expr) -> Option<(&'e Expr, EquationValue)> {
        let applied = |c: &mut Self, e: &'e Expr| match &e.kind {
            ExprKind::Apply(f, x) if c.as_slot(f) == Some(slot) => Some(&**x),
            _ => None,
        };
        match &e.kind {
            ExprKind::Binary(BinOp::Eq, a, b) => {
                let (point, value) = match (applied(self, a), applied(self, b)) {
                    (Some(x), _) => (x, b),
                    (None, Some(x)) => (x, a),
                    (None, None) => return None,
                };
                let rep = self.rep(&value.ty);
                Some((point, EquationValue::Is(self.expr(value), rep)))
            }
            ExprKind::Binary(BinOp::In, a, set) => {
                let point = applied(self, a)?;
                if self.estimate(set) >= UNBOUNDED {
                    return None;
                }
                let rep = self.rep(&set.ty);
                Some((point, EquationValue::In(self.unforced(set), rep)))
            }
            _ => None,
        }
    }

    pub(super) fn space(&mut self, set: &Expr, subset: bool) -> Space {
        let rep = self.rep(&set.ty);
        if subset {
            return Space::Subset { of: self.expr(set), rep };
        }
        match &set.kind {
            ExprKind::Binary(op, a, b) if self.is_space(set) || self.is_table(set) => {
                let relation =
                    FunKind { functional: false, total: false, injective: false, surjective: false };
                let kind = fun_kind(*op).unwrap_or(relation);
                if !kind.functional {
                    // A relation is a subset of the product; what else it has to be is tested.
                    let (ra, rb) = (self.rep(&a.ty), self.rep(&b.ty));
                    let out = rep.elem().clone();
                    let (a, b) = (Box::new(self.expr(a)), Box::new(self.expr(b)));
                    let of =
                        Node::Binary { op: Binary::Product, a, b, ra, rb, out: out.clone(), span: set.span };
                    return Space::Subset { of, rep: out };
                }
                let from = self.expr(a);
                let to_word = self.rep(&b.ty).elem().is_word();
                if self.estimate(b) >= UNBOUNDED && !self.is_space(b) {
                    return Space::Fun { kind, from, to: Box::new(Space::Defined), rep: rep.elem().clone() };
                }
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

    /// Whether nobody could run through the set.
    pub(super) fn is_endless(&mut self, set: &Expr) -> bool {
        self.estimate(set) >= UNBOUNDED
    }

    fn freetype_size(&mut self, ty: &Type) -> f64 {
        let Some(Type::Free(free)) = ty.elem() else { return NEVER };
        let Some(arguments) = self.model.arguments(free) else { return NEVER };
        if free.def().is_recursive {
            return NEVER;
        }
        arguments.iter().map(|set| set.as_ref().map_or(1.0, |set| self.estimate(set))).sum()
    }

    /// About how many elements a set has; at least [`UNBOUNDED`] when it cannot be enumerated.
    pub(super) fn estimate(&mut self, set: &Expr) -> f64 {
        let rep = self.rep(&set.ty);
        let (min, max) = self.limits;
        match &set.kind {
            ExprKind::SetExt(items) | ExprKind::SeqExt(items) => items.len() as f64,
            ExprKind::Given(s) => self.scope.size(*s) as f64,
            ExprKind::Const(c) if self.endless.contains(c) => NEVER,
            ExprKind::Lit(Lit::BoolSet) => 2.0,
            ExprKind::Lit(Lit::EmptySet | Lit::EmptySeq) => 0.0,
            ExprKind::Lit(Lit::NatSet | Lit::Nat1Set) => max as f64 + 1.0,
            ExprKind::Lit(Lit::IntSet) => max as f64 - min as f64 + 1.0,
            ExprKind::Lit(Lit::Whole) => self.freetype_size(&set.ty),
            ExprKind::Lit(_) => NEVER,
            ExprKind::Binary(BinOp::Interval, a, b) => match (literal(a), literal(b)) {
                (Some(a), Some(b)) => (b - a + 1.0).max(0.0),
                _ => 12.0,
            },
            ExprKind::Call(Fun::Pow | Fun::Pow1 | Fun::Fin | Fun::Fin1, args) => {
                let n = self.estimate(&args[0]);
                finite(&[n], 2f64.powf(n.min(1000.0)))
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
                finite(&[n], (1..=n.min(100.0) as u64).map(|i| i as f64).product::<f64>() * 2.0)
            }
            ExprKind::Binary(op, a, b) => {
                if let Some(kind) = fun_kind(*op) {
                    let (m, n) = (self.estimate(a), self.estimate(b));
                    let size = if !kind.functional {
                        2f64.powf((m * n).min(1000.0))
                    } else if kind.injective && kind.total {
                        (0..m.min(1000.0) as u64).map(|i| (n - i as f64).max(1.0)).product()
                    } else if kind.total {
                        n.max(1.0).powf(m.min(1000.0))
                    } else {
                        (n + 1.0).powf(m.min(1000.0))
                    };
                    return finite(&[m, n], size);
                }
                match op {
                    BinOp::Union => self.estimate(a) + self.estimate(b),
                    BinOp::Inter => self.estimate(a).min(self.estimate(b)),
                    BinOp::Diff => self.estimate(a),
                    _ => default_size(&rep),
                }
            }
            ExprKind::Product(a, b) => {
                let (m, n) = (self.estimate(a), self.estimate(b));
                finite(&[m, n], m * n)
            }
            ExprKind::Struct(parts) => {
                let sizes: Vec<f64> = parts.iter().map(|p| self.estimate(p)).collect();
                finite(&sizes, sizes.iter().product())
            }
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
}

/// The sequences over a set that are not longer than a number and what is added to it.
#[derive(Clone, Copy)]
pub(super) struct Sequences<'e> {
    pub(super) kind: SeqKind,
    pub(super) of: &'e Expr,
    /// Whether these are all that the membership allows; otherwise it has to be tested too.
    pub(super) is_whole: bool,
    pub(super) most: &'e Expr,
    pub(super) offset: i64,
}

pub(super) enum SetBound<'e> {
    OpenSlots,
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
pub(super) fn type_size(rep: &Rep) -> f64 {
    if rep.carrier > 0 {
        return rep.carrier as f64;
    }
    match &rep.shape {
        Shape::Bool => 2.0,
        Shape::Elem(_) => 2.0,
        Shape::Int | Shape::Str | Shape::Real | Shape::Free(..) => UNBOUNDED * 4.0,
        Shape::Pair(a, b) => {
            let (m, n) = (type_size(a), type_size(b));
            finite(&[m, n], m * n)
        }
        Shape::Rec(parts) => {
            let sizes: Vec<f64> = parts.iter().map(|p| type_size(p)).collect();
            finite(&sizes, sizes.iter().product())
        }
        Shape::Set(e, _) => {
            let n = type_size(e);
            finite(&[n], 2f64.powf(n.min(1000.0)))
        }
    }
}

/// `x + n` and `x - n` as x and what is added to it.
fn shifted(e: &Expr) -> (&Expr, i64) {
    let number = |e: &Expr| match &e.kind {
        ExprKind::Int(i) => i.to_i64().filter(|i| *i != i64::MIN),
        _ => None,
    };
    match &e.kind {
        ExprKind::Binary(BinOp::Add, a, b) => match (number(a), number(b)) {
            (_, Some(n)) => (a, n),
            (Some(n), None) => (b, n),
            (None, None) => (e, 0),
        },
        ExprKind::Binary(BinOp::Sub, a, b) => number(b).map_or((e, 0), |n| (&**a, -n)),
        _ => (e, 0),
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
pub(super) fn weight(e: &Expr) -> u32 {
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

/// `a <: b`, and not `a : POW(b)`, whose form is the same.
fn is_inclusion(e: &Expr) -> bool {
    matches!(e.kind, ExprKind::Binary(BinOp::Subset | BinOp::NotSubset, ..))
}
