//! The mathematical toolkit: its operators and functions by type and meaning.
//!
//! `div` and `mod` round towards minus infinity, as in Z (B's `/` truncates). `⋂ ∅` is the whole type and `R↗n↙` is a
//! power of the inverse for negative n, as in Z; B has no value there.

use super::{Checker, Res, Value};
use crate::lang::ast::{self, BinOp, ExprKind, Fun, Lit, Name, UnOp};
use crate::lang::diag::Span;
use crate::lang::external::External;
use crate::lang::z::make;
use crate::lang::z::tree::Expr;
use crate::lang::z::types::Ty;

/// Functions of the toolkit that are written as names.
pub(super) const FUNCTIONS: [&str; 16] = [
    "first", "second", "head", "last", "tail", "front", "rev", "squash", "min", "max", "items", "count",
    "succ", "abs", "iter", "bcount",
];

impl Checker {
    pub(super) fn operator(&mut self, op: &'static str, args: &[Expr], span: Span) -> Res<Value> {
        let is_predicate = matches!(
            op,
            "∧" | "∨"
                | "⇒"
                | "⇔"
                | "¬"
                | "="
                | "≠"
                | "∈"
                | "∉"
                | "⊆"
                | "⊂"
                | "<"
                | "≤"
                | ">"
                | "≥"
                | "prefix"
                | "suffix"
                | "infix"
                | "⋿"
                | "⊑"
                | "partition"
                | "disjoint"
                | "true"
                | "false"
        );
        if is_predicate {
            return self.fail("B0203", span, format!("expected an expression, found a predicate (`{op}`)"));
        }
        let mut values = self.values(args)?.into_iter();
        match (values.next(), values.next()) {
            (None, _) => Ok(self.constant(op, span)),
            (Some(a), None) => self.unary(op, a, span),
            (Some(a), Some(b)) if op == "×" => {
                let mut parts = vec![(self.element(&a, a.e.span)?, a.e), (self.element(&b, b.e.span)?, b.e)];
                for v in values {
                    parts.push((self.element(&v, v.e.span)?, v.e));
                }
                let (types, sets): (Vec<Ty>, Vec<ast::Expr>) = parts.into_iter().unzip();
                let e = sets.into_iter().reduce(|a, b| make::bin(BinOp::Product, a, b, span));
                let e = e.unwrap_or_else(|| make::lit(Lit::EmptySet, span));
                Ok(Value { ty: Ty::Tuple(types).power(), e })
            }
            (Some(a), Some(b)) => self.binary(op, a, b, span),
        }
    }

    fn constant(&mut self, op: &str, span: Span) -> Value {
        let (ty, l) = match op {
            "ℕ" => (Ty::Int, Lit::Natural),
            "ℕ₁" => (Ty::Int, Lit::Natural1),
            "ℤ" => (Ty::Int, Lit::Integer),
            // `∅`
            _ => (self.uni.fresh(), Lit::EmptySet),
        };
        Value { ty: ty.power(), e: make::lit(l, span) }
    }

    /// A function's argument is of this type.
    fn is(&mut self, v: &Value, ty: &Ty) -> Res<()> {
        self.unify(&v.ty, ty, v.e.span)
    }

    fn unary(&mut self, op: &str, a: Value, span: Span) -> Res<Value> {
        let (x, y) = (self.uni.fresh(), self.uni.fresh());
        let set = x.clone().power();
        let rel = Ty::rel(x.clone(), y.clone());
        let (want, ty, fun) = match op {
            "-" => {
                self.is(&a, &Ty::Int)?;
                return Ok(Value { ty: Ty::Int, e: make::un(UnOp::Neg, a.e, span) });
            }
            "∼" => {
                self.is(&a, &rel)?;
                return Ok(Value { ty: Ty::rel(y, x), e: make::un(UnOp::Inverse, a.e, span) });
            }
            "⋂" => {
                let all = set.clone();
                self.is(&a, &set.clone().power())?;
                let whole = self.carrier(&x, span);
                let e = self.named_value(a.e, span, &mut |_, s| {
                    let is_empty = make::bin(BinOp::Eq, s.clone(), make::lit(Lit::EmptySet, span), span);
                    make::cond(is_empty, whole.clone(), make::call(Fun::GenInter, vec![s], span), span)
                });
                return Ok(Value { ty: all, e });
            }
            "bag" => {
                self.is(&a, &set)?;
                let counts = make::lit(Lit::Natural1, span);
                let e = make::bin(BinOp::PartialFun, a.e, counts, span);
                return Ok(Value { ty: Ty::bag(x).power(), e });
            }
            "#" => (set, Ty::Int, Fun::Card),
            "ℙ" => (set.clone(), set.power(), Fun::Pow),
            "ℙ₁" => (set.clone(), set.power(), Fun::Pow1),
            "𝔽" => (set.clone(), set.power(), Fun::Fin),
            "𝔽₁" => (set.clone(), set.power(), Fun::Fin1),
            "seq" => (set, Ty::seq(x).power(), Fun::Seq),
            "seq₁" => (set, Ty::seq(x).power(), Fun::Seq1),
            "iseq" => (set, Ty::seq(x).power(), Fun::Iseq),
            "id" => (set, Ty::rel(x.clone(), x), Fun::Id),
            "dom" => (rel, x.power(), Fun::Dom),
            "ran" => (rel, y.power(), Fun::Ran),
            "⋃" => (set.clone().power(), set, Fun::GenUnion),
            "⁀/" => (Ty::seq(Ty::seq(x.clone())), Ty::seq(x), Fun::Conc),
            "⁺" => (Ty::rel(x.clone(), x.clone()), Ty::rel(x.clone(), x), Fun::Closure1),
            "∗" => (Ty::rel(x.clone(), x.clone()), Ty::rel(x.clone(), x), Fun::Closure),
            _ => return self.unsupported(span, &format!("`{op}`")),
        };
        self.is(&a, &want)?;
        Ok(Value { ty, e: make::call(fun, vec![a.e], span) })
    }

    fn binary(&mut self, op: &str, a: Value, b: Value, span: Span) -> Res<Value> {
        use BinOp::*;
        let (x, y, z) = (self.uni.fresh(), self.uni.fresh(), self.uni.fresh());
        let set = x.clone().power();
        let (sx, sy) = (x.clone().power(), y.clone().power());
        let rel = Ty::rel(x.clone(), y.clone());
        let seq = Ty::seq(x.clone());
        let bag = Ty::bag(x.clone());
        let number = || (Ty::Int, Ty::Int, Ty::Int);
        let functions = || (sx.clone(), sy.clone(), rel.clone().power());
        let ((want_a, want_b, ty), made) = match op {
            "↦" => {
                return Ok(Value { ty: Ty::Tuple(vec![a.ty, b.ty]), e: make::bin(Pair, a.e, b.e, span) });
            }
            ".." => ((Ty::Int, Ty::Int, Ty::Int.power()), Interval),
            "+" => (number(), Add),
            "-" => (number(), Sub),
            "*" => (number(), Mul),
            "div" | "mod" => {
                self.is(&a, &Ty::Int)?;
                self.is(&b, &Ty::Int)?;
                return Ok(Value { ty: Ty::Int, e: self.division(op == "div", a.e, b.e, span) });
            }
            "∪" => ((set.clone(), set.clone(), set), Union),
            "∩" => ((set.clone(), set.clone(), set), Inter),
            "∖" => ((set.clone(), set.clone(), set), Diff),
            "⊖" => {
                self.is(&a, &set)?;
                self.is(&b, &set)?;
                let e = self.named_value(a.e, span, &mut |c, a| {
                    c.named_value(b.e.clone(), span, &mut |_, b| {
                        let one = make::bin(Diff, a.clone(), b.clone(), span);
                        make::bin(Union, one, make::bin(Diff, b, a.clone(), span), span)
                    })
                });
                return Ok(Value { ty: set, e });
            }
            "⁀" => ((seq.clone(), seq.clone(), seq), Concat),
            "↿" | "↾" => {
                let numbers = Ty::Int.power();
                let (s, of, op) = if op == "↿" { (b, a, DomRestrict) } else { (a, b, RanRestrict) };
                self.is(&s, &seq)?;
                self.is(&of, &if op == DomRestrict { numbers } else { set })?;
                let (one, two) = if op == DomRestrict { (of.e, s.e) } else { (s.e, of.e) };
                let rest = make::bin(op, one, two, span);
                return Ok(Value {
                    ty: seq,
                    e: make::call(Fun::External(External::Squash), vec![rest], span),
                });
            }
            "⨾" => ((rel, Ty::rel(y, z.clone()), Ty::rel(x, z)), Compose),
            "∘" => {
                self.is(&b, &rel)?;
                self.is(&a, &Ty::rel(y, z.clone()))?;
                return Ok(Value { ty: Ty::rel(x, z), e: make::bin(Compose, b.e, a.e, span) });
            }
            "⊕" => ((rel.clone(), rel.clone(), rel), Override),
            "◁" => ((sx, rel.clone(), rel), DomRestrict),
            "⩤" => ((sx, rel.clone(), rel), DomSubtract),
            "▷" => ((rel.clone(), sy, rel), RanRestrict),
            "⩥" => ((rel.clone(), sy, rel), RanSubtract),
            "⦇" => {
                self.is(&a, &rel)?;
                self.is(&b, &sx)?;
                return Ok(Value {
                    ty: sy,
                    e: make::node(ExprKind::Image(Box::new(a.e), Box::new(b.e)), span),
                });
            }
            "↔" => (functions(), Rel),
            "⇸" => (functions(), PartialFun),
            "→" => (functions(), TotalFun),
            "⤔" => (functions(), PartialInj),
            "↣" => (functions(), TotalInj),
            "⤀" => (functions(), PartialSurj),
            "↠" => (functions(), TotalSurj),
            "⤖" => (functions(), TotalBij),
            "⇻" | "⤕" => {
                let (want_a, want_b, ty) = functions();
                self.is(&a, &want_a)?;
                self.is(&b, &want_b)?;
                let kind = if op == "⇻" { PartialFun } else { PartialInj };
                let (one, two) = (a.e.clone(), b.e.clone());
                let all = make::bin(kind, a.e, b.e, span);
                if self.is_finite(&x) {
                    return Ok(Value { ty, e: all });
                }
                self.spend(make::size(&one) + make::size(&two), span)?;
                let finite = make::call(Fun::Fin, vec![make::bin(Product, one, two, span)], span);
                return Ok(Value { ty, e: make::bin(Inter, all, finite, span) });
            }
            "↗" => {
                let square = Ty::rel(x.clone(), x);
                self.is(&a, &square)?;
                self.is(&b, &Ty::Int)?;
                return Ok(Value { ty: square, e: self.power_of(a.e, b.e, span) });
            }
            "♯" => return self.count(a, b, span),
            "⊗" | "⊎" | "⩁" => {
                self.is(&b, &bag)?;
                self.is(&a, &if op == "⊗" { Ty::Int } else { bag.clone() })?;
                return Ok(Value { ty: bag, e: self.bags(op, a.e, b.e, span) });
            }
            _ => return self.unsupported(span, &format!("`{op}`")),
        };
        self.is(&a, &want_a)?;
        self.is(&b, &want_b)?;
        Ok(Value { ty, e: make::bin(made, a.e, b.e, span) })
    }

    /// Whether a type has finitely many values, as far as is known here.
    fn is_finite(&self, ty: &Ty) -> bool {
        match self.uni.shallow(ty) {
            Ty::Int | Ty::Unknown(_) | Ty::Parameter(_) => false,
            Ty::Given(name) => self.found.free.iter().all(|f| f.name.name != name),
            Ty::Tuple(parts) => parts.iter().all(|t| self.is_finite(t)),
            Ty::Power(of) => self.is_finite(&of),
            Ty::Schema(fields) => fields.iter().all(|(_, t)| self.is_finite(t)),
        }
    }

    fn division(&mut self, is_div: bool, a: ast::Expr, b: ast::Expr, span: Span) -> ast::Expr {
        self.named_value(a, span, &mut |c, a| {
            c.named_value(b.clone(), span, &mut |_, b| {
                let zero = || make::int(0, span);
                let op = |op, a: &ast::Expr, b: &ast::Expr| make::bin(op, a.clone(), b.clone(), span);
                let quotient = op(BinOp::Div, &a, &b);
                // What truncation leaves has the sign of `a`, or is nothing.
                let left = op(BinOp::Sub, &a, &op(BinOp::Mul, &b, &quotient));
                let differs = op(BinOp::Lt, &op(BinOp::Mul, &left, &b), &zero());
                if is_div {
                    let less = op(BinOp::Sub, &quotient, &make::int(1, span));
                    make::cond(differs, less, quotient, span)
                } else {
                    make::cond(differs, op(BinOp::Add, &left, &b), left, span)
                }
            })
        })
    }

    fn power_of(&mut self, r: ast::Expr, n: ast::Expr, span: Span) -> ast::Expr {
        if let ExprKind::Int(_) = n.kind {
            return make::call(Fun::Iterate, vec![r, n], span);
        }
        self.named_value(r, span, &mut |c, r| {
            c.named_value(n.clone(), span, &mut |_, n| {
                let is_negative = make::bin(BinOp::Lt, n.clone(), make::int(0, span), span);
                let inverse = make::un(UnOp::Inverse, r.clone(), span);
                let opposite = make::un(UnOp::Neg, n.clone(), span);
                let back = make::call(Fun::Iterate, vec![inverse, opposite], span);
                make::cond(is_negative, back, make::call(Fun::Iterate, vec![r.clone(), n], span), span)
            })
        })
    }

    /// How often something is in a bag.
    pub(super) fn count(&mut self, bag: Value, x: Value, span: Span) -> Res<Value> {
        self.unify(&bag.ty, &Ty::bag(x.ty.clone()), span)?;
        let e = self.named_value(bag.e, span, &mut |c, b| {
            c.named_value(x.e.clone(), span, &mut |_, x| often(&b, &x, span))
        });
        Ok(Value { ty: Ty::Int, e })
    }

    fn bags(&mut self, op: &str, a: ast::Expr, b: ast::Expr, span: Span) -> ast::Expr {
        let op = op.to_string();
        self.named_value(a, span, &mut |c, a| {
            c.named_value(b.clone(), span, &mut |c, b| {
                let x = c.bound("x", span);
                let var = make::name(&x.name, span);
                let dom = |b: &ast::Expr| make::call(Fun::Dom, vec![b.clone()], span);
                let (of, n) = match &*op {
                    "⊎" => {
                        let all = make::bin(BinOp::Union, dom(&a), dom(&b), span);
                        (all, make::bin(BinOp::Add, often(&a, &var, span), often(&b, &var, span), span))
                    }
                    "⩁" => {
                        let n = make::bin(BinOp::Sub, often(&a, &var, span), often(&b, &var, span), span);
                        (dom(&a), n)
                    }
                    // `n ⊗ b`, for n that is not negative
                    _ => {
                        let n =
                            make::bin(BinOp::Mul, a.clone(), make::apply(b.clone(), var.clone(), span), span);
                        (dom(&b), n)
                    }
                };
                let inside = make::bin(BinOp::In, var, of, span);
                let there = make::bin(BinOp::Gt, n.clone(), make::int(0, span), span);
                let bag = make::lambda(x, make::bin(BinOp::And, inside, there, span), n, span);
                if op != "⊗" {
                    return bag;
                }
                let can = make::bin(BinOp::Ge, a.clone(), make::int(0, span), span);
                let can = make::node(ExprKind::Bool(Box::new(can)), span);
                let why =
                    make::node(ExprKind::Str("a bag cannot be scaled by a negative number".into()), span);
                make::call(Fun::External(External::AssertExpr), vec![can, why, bag], span)
            })
        })
    }

    /// A function of the toolkit that is not applied.
    pub(super) fn function(&mut self, name: &Name, span: Span) -> Res<Value> {
        if &**name == "succ" {
            return Ok(Value { ty: Ty::rel(Ty::Int, Ty::Int), e: make::lit(Lit::Succ, span) });
        }
        let x = self.bound("x", span);
        if matches!(&**name, "count" | "iter" | "bcount") {
            return self.unsupported(span, &format!("`{name}` without its arguments"));
        }
        // As a set of pairs: for all arguments for which it has a value.
        let ty = self.uni.fresh();
        let var = Value { ty: ty.clone(), e: make::name(&x.name, span) };
        let set = match &**name {
            "head" | "last" | "tail" | "front" => {
                let of = self.uni.fresh();
                self.unify(&ty, &Ty::seq(of.clone()), span)?;
                make::call(Fun::Seq1, vec![self.carrier(&of, span)], span)
            }
            "rev" | "items" => {
                let of = self.uni.fresh();
                self.unify(&ty, &Ty::seq(of.clone()), span)?;
                make::call(Fun::Seq, vec![self.carrier(&of, span)], span)
            }
            "first" | "second" | "abs" => self.carrier(&ty, span),
            _ => return self.unsupported(span, &format!("`{name}` without its argument")),
        };
        let result = self.call(name, var.clone(), span)?;
        let inside = make::bin(BinOp::In, var.e, set, span);
        Ok(Value { ty: Ty::rel(ty, result.ty), e: make::lambda(x, inside, result.e, span) })
    }

    /// A function of the toolkit with its argument.
    pub(super) fn call(&mut self, name: &Name, v: Value, span: Span) -> Res<Value> {
        let (x, y) = (self.uni.fresh(), self.uni.fresh());
        let seq = Ty::seq(x.clone());
        let (want, ty, fun) = match &**name {
            "first" => (Ty::Tuple(vec![x.clone(), y]), x, Fun::Prj1),
            "second" => (Ty::Tuple(vec![x, y.clone()]), y, Fun::Prj2),
            "head" => (seq, x, Fun::First),
            "last" => (seq, x, Fun::Last),
            "tail" => (seq.clone(), seq, Fun::Tail),
            "front" => (seq.clone(), seq, Fun::Front),
            "rev" => (seq.clone(), seq, Fun::Rev),
            "squash" => (seq.clone(), seq, Fun::External(External::Squash)),
            "min" => (Ty::Int.power(), Ty::Int, Fun::Min),
            "max" => (Ty::Int.power(), Ty::Int, Fun::Max),
            "abs" => (Ty::Int, Ty::Int, Fun::External(External::Abs)),
            "succ" => (Ty::Int, Ty::Int, Fun::Succ),
            "items" => {
                self.is(&v, &seq)?;
                return Ok(Value { ty: Ty::bag(x), e: self.items(v.e, span) });
            }
            _ => return self.unsupported(span, &format!("`{name}` without all its arguments")),
        };
        self.is(&v, &want)?;
        Ok(Value { ty, e: make::call(fun, vec![v.e], span) })
    }
}

/// How often something is in a bag, both of them names.
fn often(bag: &ast::Expr, x: &ast::Expr, span: Span) -> ast::Expr {
    let dom = make::call(Fun::Dom, vec![bag.clone()], span);
    let inside = make::bin(BinOp::In, x.clone(), dom, span);
    make::cond(inside, make::apply(bag.clone(), x.clone(), span), make::int(0, span), span)
}
