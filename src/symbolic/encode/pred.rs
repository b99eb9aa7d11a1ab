//! Predicates: connectives, quantifiers, comparison, membership, inclusion.

use super::{Encoder, Env, Lazy, Mutant, Slot, Sym, Truth, Val, attempt, ill_typed, truth};
use crate::lang::diag::Span;
use crate::model::{BinOp, Expr, ExprKind, Fun, Lit, LocalId, Quant, UnOp};
use crate::symbolic::{RefusedKind, Res, unlisted, unsupported};
use kanon_solver::term::{Bool, Var};
use num_bigint::BigInt;
use num_traits::One;
use std::ops::Not;

impl<'m> Encoder<'m> {
    /// When a predicate is true, and when it is false.
    pub fn pred(&mut self, env: &Env<'m>, p: &'m Expr) -> Res<Truth> {
        self.enter(p.span)?;
        let result = self.pred_of(env, p);
        self.leave();
        result
    }

    fn pred_of(&mut self, env: &Env<'m>, p: &'m Expr) -> Res<Truth> {
        match &p.kind {
            ExprKind::Lit(Lit::BTrue) => Ok(Truth::YES),
            ExprKind::Lit(Lit::BFalse) => Ok(Truth::NO),
            ExprKind::Unary(UnOp::Not, a) => Ok(self.pred(env, a)?.not()),
            ExprKind::Binary(BinOp::And, ..) => self.chain(env, p, BinOp::And),
            ExprKind::Binary(BinOp::Or, ..) => self.chain(env, p, BinOp::Or),
            ExprKind::Binary(BinOp::Implies, a, b) => {
                let premise = self.pred(env, a)?.not();
                if premise.yes == Bool::TRUE {
                    return Ok(Truth::YES);
                }
                let conclusion = self.pred(env, b)?;
                Ok(self.or(&[premise, conclusion]))
            }
            ExprKind::Binary(BinOp::Iff, a, b) => {
                let (a, b) = (self.pred(env, a)?, self.pred(env, b)?);
                Ok(self.iff(a, b))
            }
            ExprKind::Binary(op, a, b) => self.relation(env, *op, a, b, p.span),
            ExprKind::Quant(quant, locals, body) => {
                // `!x.P` is that there is no x for which P is false.
                let exists = *quant == Quant::Exists;
                let sweep = match self.sweep_points(env, locals, body, exists) {
                    Err(r) if r.kind == RefusedKind::Unlisted && self.quantifiers.is_some() => {
                        let some = self.open_quantifier(env, locals, body, exists)?.ok_or(r)?;
                        return Ok(if exists { some } else { some.not() });
                    }
                    sweep => sweep?,
                };
                let mut truths: Vec<Truth> = sweep.found.into_iter().map(|(_, t)| t).collect();
                if self.mutant == Mutant::QuantifierForgets {
                    truths.iter_mut().for_each(|t| t.no = !t.yes);
                }
                let mut some = self.or(&truths);
                some.no = self.terms.and([some.no, sweep.complete]);
                Ok(if exists { some } else { some.not() })
            }
            ExprKind::If(cond, yes, no) => {
                let cond = self.pred(env, cond)?;
                let yes = if cond.yes == Bool::FALSE { Truth::NO } else { self.pred(env, yes)? };
                let no = if cond.no == Bool::FALSE { Truth::NO } else { self.pred(env, no)? };
                Ok(self.if_pred(cond, yes, no))
            }
            ExprKind::Let(defs, body) => {
                let (env, def) = self.bind_all(env, defs)?;
                let body = self.pred(&env, body)?;
                Ok(self.only_if(body, def))
            }
            // Neither yes nor no may mean that something has no value, or that not all was looked at.
            ExprKind::HasValue(_) | ExprKind::Demand(_) => {
                unsupported(p.span, "other readings of undefined terms (`--wd`)")
            }
            ExprKind::Call(..) => unsupported(p.span, "external functions have no formulas"),
            _ => ill_typed(p.span),
        }
    }

    /// That some values of the variables make the predicate as wanted, as a question of its own: the variables get shapes,
    /// and for what has no room in these the predicate is certainly not as wanted, since only facts that always have a
    /// value bound them.
    fn open_quantifier(
        &mut self,
        env: &Env<'m>,
        locals: &[LocalId],
        body: &'m Expr,
        wanted: bool,
    ) -> Res<Option<Truth>> {
        let slots: Vec<Slot> = locals.iter().map(|l| Slot::Local(*l)).collect();
        let before = std::mem::replace(&mut self.only_total_hulls, true);
        let shaped = attempt(self.shaped_as(env, &slots, &[body], wanted, true, body.span));
        self.only_total_hulls = before;
        let Some((env, shapes)) = shaped? else { return Ok(None) };
        let t = self.pred(&env, body)?;
        let t = if wanted { t } else { t.not() };
        let is_value = self.terms.and(shapes.iter().map(|(_, s)| s.is_value));
        let vars: Vec<Var> = shapes.into_iter().flat_map(|(_, s)| s.vars).collect();
        let (yes, maybe) = (self.terms.and([is_value, t.yes]), self.terms.and([is_value, !t.no]));
        let Some(quantifiers) = &mut self.quantifiers else { return Ok(None) };
        let yes = quantifiers.exists(&mut self.terms, vars.clone(), yes);
        let maybe = quantifiers.exists(&mut self.terms, vars, maybe);
        Ok(Some(Truth { yes, no: !maybe }))
    }

    /// A conjunction or disjunction of many, up to the first part that decides it.
    fn chain(&mut self, env: &Env<'m>, p: &'m Expr, op: BinOp) -> Res<Truth> {
        let mut open = vec![p];
        let mut parts = vec![];
        while let Some(e) = open.pop() {
            if let ExprKind::Binary(inner, a, b) = &e.kind
                && *inner == op
            {
                open.push(b);
                open.push(a);
                continue;
            }
            let t = self.pred(env, e)?;
            parts.push(t);
            if (if op == BinOp::And { t.no } else { t.yes }) == Bool::TRUE {
                break;
            }
        }
        Ok(if op == BinOp::And { self.and(&parts) } else { self.or(&parts) })
    }

    fn relation(&mut self, env: &Env<'m>, op: BinOp, a: &'m Expr, b: &'m Expr, span: Span) -> Res<Truth> {
        use BinOp::*;
        match op {
            Neq => return Ok(self.relation(env, Eq, a, b, span)?.not()),
            NotIn => return Ok(self.relation(env, In, a, b, span)?.not()),
            NotSubset => return Ok(self.relation(env, Subset, a, b, span)?.not()),
            NotStrictSubset => return Ok(self.relation(env, StrictSubset, a, b, span)?.not()),
            _ => {}
        }
        let (x, y) = (self.item(env, a)?, self.item(env, b)?);
        let def = self.terms.and([x.def, y.def]);
        if def == Bool::FALSE {
            return Ok(Truth { yes: Bool::FALSE, no: Bool::FALSE });
        }
        match op {
            Lt | Le | Gt | Ge => {
                let value = self.compare(op, &x.sym, &y.sym, span)?;
                let def = self.unless(Mutant::ComparisonAnywhere, def);
                Ok(self.truth(value, def))
            }
            Eq => {
                let (x, y) = (self.settle(x, span)?, self.settle(y, span)?);
                let def = self.terms.and([x.def, y.def]);
                let def = self.unless(Mutant::ComparisonAnywhere, def);
                let value = self.equal(&x.sym, &y.sym, span)?;
                Ok(self.truth(value, def))
            }
            In => {
                let x = self.settle(x, span)?;
                let def = self.terms.and([x.def, def]);
                let t = match &x.sym {
                    Sym::Lazy(lazy) => self.member(lazy, &x.sym, &y.sym, span)?,
                    _ => self.has(&x.sym, &y.sym, span)?,
                };
                Ok(self.only_if(t, def))
            }
            Subset => {
                let x = self.settle(x, span)?;
                let def = self.terms.and([x.def, def]);
                let t = self.included(&x.sym, &y.sym, span)?;
                Ok(self.only_if(t, def))
            }
            StrictSubset => {
                let (x, y) = (self.settle(x, span)?, self.settle(y, span)?);
                let def = self.terms.and([x.def, y.def]);
                let t = self.included(&x.sym, &y.sym, span)?;
                let same = self.equal(&x.sym, &y.sym, span)?;
                let differs = self.unless(Mutant::StrictIsSubset, !same);
                let t = self.and_then(t, Truth::sure(differs));
                Ok(self.only_if(t, def))
            }
            _ => ill_typed(span),
        }
    }

    /// Equality of settled values.
    pub(in crate::symbolic) fn equal(&mut self, a: &Sym<'m>, b: &Sym<'m>, span: Span) -> Res<Bool> {
        // Explicit search lists what can be listed, and finds a fault of any element.
        if self.may_hide_faults(a) || self.may_hide_faults(b) {
            return unlisted(span, "comparison of sets that may have no value");
        }
        match (a, b) {
            (Sym::Lazy(x), Sym::Lazy(y)) => match (&**x, &**y) {
                (Lazy::Ints(a, b), Lazy::Ints(c, d))
                    if a.is_some() == c.is_some() && b.is_some() == d.is_some() =>
                {
                    let mut same = Bool::TRUE;
                    let (mut empty_x, mut empty_y) = (Bool::FALSE, Bool::FALSE);
                    for (p, q) in [(a, c), (b, d)] {
                        if let (Some(p), Some(q)) = (p, q) {
                            let eq = self.eq(p, q, span)?;
                            same = self.terms.and([same, eq]);
                        }
                    }
                    if let (Some(a), Some(b), Some(c), Some(d)) = (a, b, c, d) {
                        (empty_x, empty_y) = (!self.le(a, b, span)?, !self.le(c, d, span)?);
                    }
                    let both = self.terms.and([empty_x, empty_y]);
                    Ok(self.terms.or([same, both]))
                }
                _ => unlisted(span, "comparison of sets that cannot be listed"),
            },
            (Sym::Lazy(_), _) if self.is_certainly_infinite(a) => Ok(Bool::FALSE),
            (_, Sym::Lazy(_)) if self.is_certainly_infinite(b) => Ok(Bool::FALSE),
            (Sym::Lazy(x), Sym::Set(rows)) | (Sym::Set(rows), Sym::Lazy(x))
                if matches!(&**x, Lazy::Ints(Some(_), Some(_))) =>
            {
                let Lazy::Ints(Some(low), Some(high)) = &**x else { return ill_typed(span) };
                self.is_interval(low, high, &rows.clone(), span)
            }
            (Sym::Lazy(_), _) | (_, Sym::Lazy(_)) => {
                unlisted(span, "comparison with a set that cannot be listed")
            }
            _ => self.eq(a, b, span),
        }
    }

    /// `low..high = S` for a set with rows: every element is between the bounds, and there are as many as there are
    /// integers between them.
    fn is_interval(&mut self, low: &Sym<'m>, high: &Sym<'m>, rows: &super::Rows, span: Span) -> Res<Bool> {
        let is_empty = !self.le(low, high, span)?;
        let (mut inside, mut members) = (vec![], vec![]);
        for (v, &is_in) in rows {
            let v = Sym::ground(v);
            let (above, below) = (self.le(low, &v, span)?, self.le(&v, high, span)?);
            let between = self.terms.and([above, below]);
            inside.push(self.terms.or([!is_in, between]));
            members.push(is_in);
        }
        let none = self.terms.and(members.iter().map(|m| !*m));
        let empty = self.terms.and([is_empty, none]);
        let (low, high) = (self.int_term(low, span)?, self.int_term(high, span)?);
        let elements = self.terms.count(members);
        let one = BigInt::one();
        let most = self.terms.sum([(low, -one.clone()), (high, one.clone())]);
        let one = self.terms.constant(one);
        let most = self.terms.add(most, one);
        let is_full = self.terms.eq(elements, most);
        let full = self.terms.and(inside.into_iter().chain([!is_empty, is_full]));
        Ok(self.terms.or([empty, full]))
    }

    /// Inclusion; the left side is settled.
    pub(super) fn included(&mut self, a: &Sym<'m>, b: &Sym<'m>, span: Span) -> Res<Truth> {
        // Explicit search lists it, and finds a fault of any element.
        if self.may_hide_faults(a) || self.may_hide_faults(b) {
            return unlisted(span, "inclusion in a set that may have no value");
        }
        let lazy = match a {
            Sym::Set(rows) => return self.all_in(&rows.clone(), b, span),
            Sym::Absent => return Ok(Truth::NO),
            Sym::Fun(_) => {
                let (rows, def) = self.rows(a, span)?;
                let t = self.all_in(&rows, b, span)?;
                return Ok(self.only_if(t, def));
            }
            Sym::Lazy(lazy) => lazy.clone(),
            _ => return ill_typed(span),
        };
        match (&*lazy, b) {
            (_, Sym::Lazy(b)) if matches!(&**b, Lazy::All(_)) => Ok(Truth::YES),
            (_, Sym::Set(_)) if self.is_certainly_infinite(a) => Ok(Truth::NO),
            (Lazy::Ints(low, high), Sym::Lazy(b)) => match &**b {
                Lazy::Ints(low2, high2) => {
                    let empty = match (low, high) {
                        (Some(l), Some(h)) => !self.le(l, h, span)?,
                        _ => Bool::FALSE,
                    };
                    let above = match (low2, low) {
                        (None, _) => Bool::TRUE,
                        (Some(_), None) => Bool::FALSE,
                        (Some(l2), Some(l)) => self.le(l2, l, span)?,
                    };
                    let below = match (high2, high) {
                        (None, _) => Bool::TRUE,
                        (Some(_), None) => Bool::FALSE,
                        (Some(h2), Some(h)) => self.le(h, h2, span)?,
                    };
                    let inside = self.terms.and([above, below]);
                    Ok(Truth::sure(self.terms.or([empty, inside])))
                }
                _ => unlisted(span, "inclusion of a set that cannot be listed"),
            },
            (Lazy::Ext(items), _) => {
                let mut parts = vec![];
                for item in items {
                    parts.push(self.has(item, b, span)?);
                }
                Ok(self.strict_and(&parts))
            }
            _ => unlisted(span, "inclusion of a set that cannot be listed"),
        }
    }

    /// Whether a set that cannot be listed is an element of another.
    fn member(&mut self, lazy: &Lazy<'m>, a: &Sym<'m>, set: &Sym<'m>, span: Span) -> Res<Truth> {
        if self.may_hide_faults(a) {
            return unlisted(span, "membership of a set that may have no value");
        }
        let infinite = self.is_certainly_infinite(a);
        let Sym::Lazy(set) = set else {
            return if infinite { Ok(Truth::NO) } else { unlisted(span, "an element that cannot be listed") };
        };
        match (lazy, &**set) {
            (_, Lazy::All(_)) => Ok(Truth::YES),
            (_, Lazy::Pow(Fun::Fin | Fun::Fin1, _)) if infinite => Ok(Truth::NO),
            (_, Lazy::Pow(Fun::Pow | Fun::Pow1, s)) if infinite => self.included(a, s, span),
            _ => unlisted(span, "membership of a set that cannot be listed"),
        }
    }

    /// A predicate as a value of BOOL.
    pub(super) fn bool_val(&mut self, env: &Env<'m>, p: &'m Expr) -> Res<Val<'m>> {
        let t = self.pred(env, p)?;
        let def = t.def(&mut self.terms);
        Ok(if def == truth(false) { Val::none() } else { Val { sym: Sym::Bool(t.yes), def } })
    }
}
