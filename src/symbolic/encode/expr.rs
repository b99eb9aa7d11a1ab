//! Expressions. [`Encoder::item`] leaves set constructors lazy, [`Encoder::eval`] lists what is left.

use super::set::hides_faults;
use super::{Closure, Encoder, Env, Lazy, Mutant, Rows, Sym, Truth, Val, ill_typed};
use crate::lang::diag::Span;
use crate::model::{BinOp, Binder, Expr, ExprKind, Fun, Lit, LocalId, Type, UnOp};
use crate::symbolic::{Res, unlisted, unsupported};
use crate::value::Value;
use kanon_solver::term::{Bool, Int};
use num_bigint::BigInt;
use num_traits::{One, Signed};
use std::sync::Arc;

/// The elements of `{a, b, …}` are listed by their options up to so many; beyond, they stay one by one.
const MAX_LISTED: usize = 64;

impl<'m> Encoder<'m> {
    /// The value of an expression, sets listed.
    pub fn eval(&mut self, env: &Env<'m>, e: &'m Expr) -> Res<Val<'m>> {
        let v = self.item(env, e)?;
        match v.sym {
            Sym::Lazy(_) => {
                let listed = self.elements(&v.sym, e.span)?;
                Ok(self.needs(listed, v.def))
            }
            _ => Ok(v),
        }
    }

    /// The environment with the definitions of a LET, and when they all have values.
    pub(in crate::symbolic) fn bind_all(
        &mut self,
        env: &Env<'m>,
        defs: &'m [(LocalId, Expr)],
    ) -> Res<(Env<'m>, Bool)> {
        let mut env = env.clone();
        let mut all = vec![];
        for (id, e) in defs {
            let v = self.item(&env, e)?;
            let v = self.settle_whole(v, e.span)?;
            all.push(v.def);
            env = env.with_local(*id, v);
        }
        let all = self.terms.and(all);
        Ok((env, self.unless(Mutant::LetAnywhere, all)))
    }

    /// The value of an expression, or the set it denotes as a constructor over values.
    pub fn item(&mut self, env: &Env<'m>, e: &'m Expr) -> Res<Val<'m>> {
        if e.ty == Type::Pred {
            return self.bool_val(env, e);
        }
        self.enter(e.span)?;
        let result = self.item_of(env, e);
        self.leave();
        result
    }

    fn lazy(&mut self, parts: &[&Val<'m>], make: impl FnOnce(Vec<Sym<'m>>) -> Lazy<'m>) -> Val<'m> {
        let def = self.terms.and(parts.iter().map(|p| p.def));
        if def == Bool::FALSE {
            return Val::none();
        }
        Val { sym: make(parts.iter().map(|p| p.sym.clone()).collect()).into(), def }
    }

    fn lazy1(&mut self, a: Val<'m>, make: impl FnOnce(Sym<'m>) -> Lazy<'m>) -> Val<'m> {
        if a.is_none() {
            return a;
        }
        Val { sym: make(a.sym).into(), def: a.def }
    }

    fn lazy2(&mut self, a: Val<'m>, b: Val<'m>, make: impl FnOnce(Sym<'m>, Sym<'m>) -> Lazy<'m>) -> Val<'m> {
        let def = self.terms.and([a.def, b.def]);
        if def == Bool::FALSE {
            return Val::none();
        }
        Val { sym: make(a.sym, b.sym).into(), def }
    }

    fn item_of(&mut self, env: &Env<'m>, e: &'m Expr) -> Res<Val<'m>> {
        let span = e.span;
        if e.ty.has_reals_or_freetypes() {
            return unsupported(span, "real numbers and freetypes have no formulas");
        }
        Ok(match &e.kind {
            ExprKind::Const(id) => env.constant(*id),
            ExprKind::Var(id) => env.variable(*id),
            ExprKind::Local(id) => env.local(*id),
            ExprKind::Old(id) => env.before.as_deref().unwrap_or(env).variable(*id),
            ExprKind::OldLocal(id) => env.before.as_deref().unwrap_or(env).local(*id),
            ExprKind::Given(id) => self.elements(&Lazy::All(Type::Given(*id)).into(), span)?,
            ExprKind::Elem(id, i) => Val::sure(Sym::ground(&Value::Elem(*id, *i))),
            ExprKind::Int(i) => Val::sure(Sym::int(i.clone())),
            ExprKind::Real(_) => return unsupported(span, "real numbers have no formulas"),
            ExprKind::Str(s) => Val::sure(Sym::ground(&Value::Str(s.clone()))),
            ExprKind::Lit(lit) => Val::sure(self.literal(*lit, span)?),
            ExprKind::Unary(UnOp::Neg, a) => {
                let a = self.item(env, a)?;
                if a.is_none() {
                    return Ok(a);
                }
                let v = self.negated(&a.sym, span)?;
                self.needs(v, a.def)
            }
            ExprKind::Unary(UnOp::Inverse, a) => {
                let a = self.item(env, a)?;
                self.lazy1(a, Lazy::Inverse)
            }
            ExprKind::Binary(op, a, b) => self.binary(env, *op, a, b, span)?,
            ExprKind::Product(a, b) => {
                let (a, b) = (self.item(env, a)?, self.item(env, b)?);
                self.lazy2(a, b, Lazy::Product)
            }
            ExprKind::Apply(f, x) => {
                let (f, x) = (self.item(env, f)?, self.eval(env, x)?);
                let def = self.terms.and([f.def, x.def]);
                if def == Bool::FALSE {
                    return Ok(Val::none());
                }
                let v = self.apply(&f.sym, &x.sym, span)?;
                self.needs(v, def)
            }
            ExprKind::Image(r, s) => self.image(env, r, s, span)?,
            ExprKind::Call(fun, args) => self.call(env, *fun, args, e)?,
            ExprKind::First(a) | ExprKind::Second(a) => {
                let a = self.eval(env, a)?;
                match &a.sym {
                    Sym::Pair(p) => {
                        let part = if matches!(e.kind, ExprKind::First(_)) { &p.0 } else { &p.1 };
                        Val { sym: part.clone(), def: a.def }
                    }
                    Sym::Absent => Val::none(),
                    _ => return ill_typed(span),
                }
            }
            ExprKind::Bind(binder, locals, pred, body) => {
                self.bind(env, *binder, locals, pred, body, span)?
            }
            ExprKind::Compr(locals, pred) => {
                Val::sure(Lazy::Compr(Closure { locals, pred, body: None, env: env.clone() }).into())
            }
            ExprKind::ComprMap(locals, pred, body) => {
                Val::sure(Lazy::Map(Closure { locals, pred, body: Some(body), env: env.clone() }).into())
            }
            ExprKind::SetExt(parts) => {
                let mut items = vec![];
                let mut defs = vec![];
                for part in parts {
                    let v = self.eval(env, part)?;
                    if v.is_none() {
                        return Ok(v);
                    }
                    defs.push(v.def);
                    items.push(v.sym);
                }
                let def = self.terms.and(defs);
                let def = self.unless(Mutant::ExtensionAnywhere, def);
                Val { sym: self.extension(items, span)?, def }
            }
            ExprKind::SeqExt(parts) => {
                let mut items = vec![];
                for part in parts {
                    items.push(self.eval(env, part)?);
                }
                self.sequence_literal(&items, span)?
            }
            ExprKind::Rec(fields) => {
                let mut parts = vec![];
                let mut defs = vec![];
                for field in fields {
                    let v = self.eval(env, field)?;
                    if v.is_none() {
                        return Ok(v);
                    }
                    defs.push(v.def);
                    parts.push(v.sym);
                }
                Val { sym: Sym::Rec(Arc::new(parts)), def: self.terms.and(defs) }
            }
            ExprKind::Struct(fields) => {
                let mut parts = vec![];
                for field in fields {
                    parts.push(self.item(env, field)?);
                }
                let parts: Vec<&Val<'m>> = parts.iter().collect();
                self.lazy(&parts, Lazy::Struct)
            }
            ExprKind::Field(a, i) => {
                let a = self.eval(env, a)?;
                match &a.sym {
                    Sym::Rec(fields) => match fields.get(*i as usize) {
                        Some(field) => Val { sym: field.clone(), def: a.def },
                        None => return ill_typed(span),
                    },
                    Sym::Absent => Val::none(),
                    _ => return ill_typed(span),
                }
            }
            ExprKind::Bool(p) => self.bool_val(env, p)?,
            ExprKind::If(cond, yes, no) => {
                let cond = self.pred(env, cond)?;
                let yes = if cond.yes == Bool::FALSE { Val::none() } else { self.item(env, yes)? };
                let no = if cond.no == Bool::FALSE { Val::none() } else { self.item(env, no)? };
                let def = cond.def(&mut self.terms);
                let def = self.unless(Mutant::IfAnywhere, def);
                let v = self.ite_val(cond.yes, yes, no, span)?;
                self.needs(v, def)
            }
            ExprKind::Let(defs, body) => {
                let (env, def) = self.bind_all(env, defs)?;
                let v = self.item(&env, body)?;
                self.needs(v, def)
            }
            ExprKind::Unary(UnOp::Not, _)
            | ExprKind::Quant(..)
            | ExprKind::HasValue(_)
            | ExprKind::Demand(_) => return ill_typed(span),
        })
    }

    fn literal(&mut self, lit: Lit, span: Span) -> Res<Sym<'m>> {
        let from = |low: i32| Lazy::Ints(Some(Sym::int(low)), None).into();
        let up_to =
            |low: BigInt| Lazy::Ints(Some(Sym::int(low)), Some(Sym::int(self.scope.maxint.clone()))).into();
        Ok(match lit {
            Lit::True | Lit::BTrue => Sym::Bool(Bool::TRUE),
            Lit::False | Lit::BFalse => Sym::Bool(Bool::FALSE),
            Lit::BoolSet => Sym::ground(&Value::set([Value::Bool(false), Value::Bool(true)])),
            Lit::Integer => Lazy::Ints(None, None).into(),
            Lit::Natural => from(0),
            Lit::Natural1 => from(1),
            Lit::IntSet => up_to(self.scope.minint.clone()),
            Lit::NatSet => up_to(BigInt::ZERO),
            Lit::Nat1Set => up_to(BigInt::one()),
            Lit::MaxInt => Sym::int(self.scope.maxint.clone()),
            Lit::MinInt => Sym::int(self.scope.minint.clone()),
            Lit::StringSet => Lazy::All(Type::Str).into(),
            Lit::EmptySet | Lit::EmptySeq => Sym::set(Rows::new()),
            Lit::Succ => Lazy::Shift(1).into(),
            Lit::Pred => Lazy::Shift(-1).into(),
            Lit::Whole => return unsupported(span, "the set of all values of an unknown type"),
            Lit::RealSet | Lit::FloatSet => return unsupported(span, "real numbers have no formulas"),
        })
    }

    /// `{a, b, …}`
    fn extension(&mut self, items: Vec<Sym<'m>>, span: Span) -> Res<Sym<'m>> {
        let mut count = 0usize;
        for item in &items {
            count = count.saturating_add(match item {
                Sym::Bool(_) => 2,
                Sym::One(options) => options.len(),
                other if other.value().is_some() => 1,
                _ => MAX_LISTED,
            });
        }
        let lazy = Lazy::Ext(items);
        if count <= MAX_LISTED {
            return Ok(self.elements(&lazy.into(), span)?.sym);
        }
        Ok(lazy.into())
    }

    fn binary(&mut self, env: &Env<'m>, op: BinOp, a: &'m Expr, b: &'m Expr, span: Span) -> Res<Val<'m>> {
        use BinOp::*;
        if op == Pair {
            let (a, b) = (self.eval(env, a)?, self.eval(env, b)?);
            let def = self.terms.and([a.def, b.def]);
            return Ok(if def == Bool::FALSE {
                Val::none()
            } else {
                Val { sym: Sym::pair(a.sym, b.sym), def }
            });
        }
        if matches!(op, Concat | Prepend | Append | TakeFirst | DropFirst) {
            let (x, y) = match op {
                Prepend => (self.eval(env, a)?, self.item(env, b)?),
                Append => (self.item(env, a)?, self.eval(env, b)?),
                _ => (self.item(env, a)?, self.item(env, b)?),
            };
            if op == Concat && a.ty == Type::Str {
                return self.joined_strings(x, y, span);
            }
            return self.on_two(op, x, y, span);
        }
        let (mut x, mut y) = (self.item(env, a)?, self.item(env, b)?);
        let def = self.terms.and([x.def, y.def]);
        if def == Bool::FALSE {
            return Ok(Val::none());
        }
        let op = match (op, self.mutant) {
            (DomRestrict, Mutant::RestrictIsSubtract) => DomSubtract,
            (DomSubtract, Mutant::RestrictIsSubtract) => DomRestrict,
            (op, _) => op,
        };
        match (op, self.mutant) {
            (Compose, Mutant::ComposeSwapped) => std::mem::swap(&mut x, &mut y),
            (Interval, Mutant::IntervalOneLonger) => {
                y.sym = self.arithmetic(Add, &y.sym, &Sym::int(1), span)?.sym
            }
            _ => {}
        }
        Ok(match op {
            Add | Sub | Mul | Div | Mod | Pow => {
                let v = self.arithmetic(op, &x.sym, &y.sym, span)?;
                self.needs(v, def)
            }
            Interval => self.lazy2(x, y, |a, b| Lazy::Ints(Some(a), Some(b))),
            Union | Inter | Diff => self.lazy2(x, y, |a, b| Lazy::Boole(op, a, b)),
            Rel | TotalRel | SurjRel | TotalSurjRel | PartialFun | TotalFun | PartialInj | TotalInj
            | PartialSurj | TotalSurj | PartialBij | TotalBij => {
                self.lazy2(x, y, |a, b| Lazy::Space(op, a, b))
            }
            DomRestrict | DomSubtract => self.lazy2(x, y, |a, b| Lazy::Restrict(op, b, a)),
            RanRestrict | RanSubtract => self.lazy2(x, y, |a, b| Lazy::Restrict(op, a, b)),
            Override => self.lazy2(x, y, Lazy::Override),
            DirectProduct => self.lazy2(x, y, Lazy::Direct),
            ParallelProduct => self.lazy2(x, y, Lazy::Parallel),
            Compose => self.lazy2(x, y, Lazy::Compose),
            _ => return ill_typed(span),
        })
    }

    fn joined_strings(&mut self, a: Val<'m>, b: Val<'m>, span: Span) -> Res<Val<'m>> {
        let def = self.terms.and([a.def, b.def]);
        if def == Bool::FALSE {
            return Ok(Val::none());
        }
        let (x, y) = (self.options(&a.sym, span)?, self.options(&b.sym, span)?);
        let mut options = super::Options::new();
        for (v, g) in &x {
            for (w, h) in &y {
                let (Value::Str(v), Value::Str(w)) = (v, w) else { return ill_typed(span) };
                let both = self.terms.and([*g, *h]);
                options.entry(Value::Str(format!("{v}{w}").into())).or_default().push(both);
            }
        }
        Ok(Val { sym: self.pick(options), def })
    }

    /// r[S]
    fn image(&mut self, env: &Env<'m>, r: &'m Expr, s: &'m Expr, span: Span) -> Res<Val<'m>> {
        let (r, s) = (self.item(env, r)?, self.item(env, s)?);
        if r.is_none() || s.is_none() {
            return Ok(Val::none());
        }
        let (r, s) = (self.settle(r, span)?, self.settle(s, span)?);
        if r.is_none() || s.is_none() {
            return Ok(Val::none());
        }
        let (rows, def) = match (&r.sym, &s.sym) {
            (Sym::Set(_), _) => {
                let part = Lazy::Restrict(BinOp::DomRestrict, r.sym.clone(), s.sym.clone());
                self.expand(&part, span)?
            }
            // Whoever can list the relation would find a fault in it.
            (r, Sym::Set(over)) if !self.may_hide_faults(r) => self.graph_over(r, &over.clone(), span)?,
            _ => return unlisted(span, "image of an infinite set under an infinite relation"),
        };
        let rows = self.range_rows(&rows, span)?;
        let def = self.terms.and([def, r.def, s.def]);
        Ok(if def == Bool::FALSE { Val::none() } else { Val { sym: Sym::set(rows), def } })
    }

    fn call(&mut self, env: &Env<'m>, fun: Fun, args: &'m [Expr], e: &'m Expr) -> Res<Val<'m>> {
        let span = e.span;
        if let Fun::External(_) = fun {
            return unsupported(span, "external functions have no formulas");
        }
        let Some(first) = args.first() else { return ill_typed(span) };
        if let Fun::Real | Fun::Floor | Fun::Ceiling = fun {
            return unsupported(span, "real numbers have no formulas");
        }
        if let Fun::Construct(_) | Fun::Destruct(_) | Fun::IsCase(_) = fun {
            return unsupported(span, "freetypes have no formulas");
        }
        let fun = match (fun, self.mutant) {
            (Fun::Dom, Mutant::DomIsRan) => Fun::Ran,
            (Fun::Ran, Mutant::RanIsDom) => Fun::Dom,
            (Fun::Min, Mutant::MinIsMax) => Fun::Max,
            (Fun::Max, Mutant::MinIsMax) => Fun::Min,
            (fun, _) => fun,
        };
        if matches!(fun, Fun::Size | Fun::First | Fun::Last | Fun::Front | Fun::Tail | Fun::Rev | Fun::Conc) {
            let v = self.sequence_operand(env, first)?;
            return self.on_one(fun, v, span);
        }
        let x = self.item(env, first)?;
        if x.is_none() {
            return Ok(x);
        }
        Ok(match fun {
            Fun::Card => {
                let v = self.card(&x.sym, span)?;
                self.needs(v, x.def)
            }
            Fun::Min | Fun::Max => {
                let v = self.extreme(fun, &x.sym, span)?;
                self.needs(v, x.def)
            }
            Fun::Dom => self.lazy1(x, Lazy::Dom),
            Fun::Ran => {
                let (rows, def) = self.rows(&x.sym, span)?;
                let rows = self.range_rows(&rows, span)?;
                let v = Val { sym: Sym::set(rows), def };
                self.needs(v, x.def)
            }
            Fun::Id => self.lazy1(x, Lazy::Id),
            Fun::Prj1 | Fun::Prj2 => {
                let Some(second) = args.get(1) else { return ill_typed(span) };
                let y = self.item(env, second)?;
                self.lazy2(x, y, |a, b| Lazy::Prj(fun, a, b))
            }
            Fun::GenUnion | Fun::GenInter => {
                let v = self.of_family(fun, &x.sym, span)?;
                self.needs(v, x.def)
            }
            Fun::Pow | Fun::Pow1 | Fun::Fin | Fun::Fin1 => self.lazy1(x, |s| Lazy::Pow(fun, s)),
            Fun::Seq | Fun::Seq1 | Fun::Iseq | Fun::Iseq1 | Fun::Perm => self.lazy1(x, |s| Lazy::Seq(fun, s)),
            Fun::Closure1 => {
                let (rows, def) = self.closure1(&x.sym, span)?;
                let v = Val { sym: Sym::set(rows), def };
                self.needs(v, x.def)
            }
            Fun::Closure => {
                let (rows, def) = self.closure1(&x.sym, span)?;
                let all = Lazy::Boole(BinOp::Union, Sym::set(rows), self.identity(&e.ty, span)?);
                let v = Val { sym: all.into(), def };
                self.needs(v, x.def)
            }
            Fun::Iterate => {
                let Some(n) = args.get(1) else { return ill_typed(span) };
                let n = self.item(env, n)?;
                let v = self.iterate(&x, &n, &e.ty, span)?;
                self.needs(v, x.def)
            }
            Fun::Fnc => {
                let (rows, def) = self.rows(&x.sym, span)?;
                let mut all = Rows::new();
                for (a, bs) in super::set::groups(&rows, span)? {
                    let bs: Rows = bs.into_iter().collect();
                    let some = self.terms.or(bs.values().copied());
                    for (v, g) in self.options(&Sym::set(bs), span)? {
                        all.insert(Value::pair(a.clone(), v), self.terms.and([g, some]));
                    }
                }
                let v = Val { sym: Sym::set(all), def };
                self.needs(v, x.def)
            }
            Fun::Rel => {
                let (rows, def) = self.rows(&x.sym, span)?;
                let mut ways = super::Options::new();
                for (v, p) in rows.iter() {
                    let (a, Value::Set(bs)) = super::set::as_pair(v, span)? else { return ill_typed(span) };
                    self.spend(bs.len(), span)?;
                    for b in bs {
                        ways.entry(Value::pair(a.clone(), b.clone())).or_default().push(*p);
                    }
                }
                let v = Val { sym: Sym::set(self.rows_of(ways)), def };
                self.needs(v, x.def)
            }
            Fun::Succ | Fun::Pred => {
                let step = if fun == Fun::Succ { 1 } else { -1 };
                let v = self.arithmetic(BinOp::Add, &x.sym, &Sym::int(step), span)?;
                self.needs(v, x.def)
            }
            Fun::Mu => {
                if self.is_certainly_infinite(&x.sym) {
                    return Ok(Val::none());
                }
                let (rows, def) = self.rows(&x.sym, span)?;
                let of: Vec<Bool> = rows.values().copied().collect();
                let one = self.exactly_one(&of);
                let one = self.unless(Mutant::MuAnywhere, one);
                let def = self.terms.and([def, one, x.def]);
                if rows.is_empty() || def == Bool::FALSE {
                    return Ok(Val::none());
                }
                let options = rows.iter().map(|(v, p)| (v.clone(), vec![*p])).collect();
                Val { sym: self.pick(options), def }
            }
            _ => return ill_typed(span),
        })
    }

    fn card(&mut self, set: &Sym<'m>, span: Span) -> Res<Val<'m>> {
        if self.is_certainly_infinite(set) {
            return Ok(Val::none());
        }
        let plus = |this: &mut Self, v: Val<'m>| -> Res<Val<'m>> {
            if this.mutant != Mutant::CardPlusOne {
                return Ok(v);
            }
            let more = this.arithmetic(BinOp::Add, &v.sym, &Sym::int(1), span)?;
            Ok(this.needs(more, v.def))
        };
        if let Sym::Lazy(lazy) = set {
            match &**lazy {
                Lazy::Ints(Some(low), Some(high)) => {
                    let size = self.arithmetic(BinOp::Sub, high, low, span)?;
                    let size = self.arithmetic(BinOp::Add, &size.sym, &Sym::int(1), span)?;
                    let some = self.le(low, high, span)?;
                    let v = self.ite(some, &size.sym, &Sym::int(0), span)?;
                    return plus(self, Val::sure(v));
                }
                Lazy::Pow(Fun::Pow | Fun::Fin, s) => {
                    let n = self.card(s, span)?;
                    if n.is_none() {
                        return Ok(n);
                    }
                    let v = self.arithmetic(BinOp::Pow, &Sym::int(2), &n.sym, span)?;
                    return Ok(self.needs(v, n.def));
                }
                Lazy::Product(a, b) => {
                    let empty = |s: &Sym<'m>| matches!(s, Sym::Set(rows) if rows.is_empty());
                    if empty(a) && !hides_faults(b) || empty(b) && !hides_faults(a) {
                        return plus(self, Val::sure(Sym::int(0)));
                    }
                    if self.is_certainly_infinite(a) || self.is_certainly_infinite(b) {
                        return unlisted(span, "the size of a product with an infinite part");
                    }
                    let (n, m) = (self.card(a, span)?, self.card(b, span)?);
                    let def = self.terms.and([n.def, m.def]);
                    if def == Bool::FALSE {
                        return Ok(Val::none());
                    }
                    let v = self.arithmetic(BinOp::Mul, &n.sym, &m.sym, span)?;
                    return Ok(self.needs(v, def));
                }
                Lazy::Ext(items) => {
                    // Each counts that is none of the earlier ones.
                    let mut new = vec![];
                    for (i, a) in items.iter().enumerate() {
                        let mut same = vec![];
                        for b in &items[..i] {
                            same.push(self.eq(a, b, span)?);
                        }
                        new.push(!self.terms.or(same));
                    }
                    let n = self.terms.count(new);
                    return plus(self, Val::sure(self.of_term(n)));
                }
                _ => {}
            }
        }
        if let Sym::Fun(points) = set {
            let n = self.terms.count(points.values().map(|(p, _)| *p));
            return plus(self, Val::sure(self.of_term(n)));
        }
        let (rows, def) = self.rows(set, span)?;
        if def == Bool::FALSE {
            return Ok(Val::none());
        }
        let n = self.terms.count(rows.values().copied());
        let v = Val { sym: self.of_term(n), def };
        plus(self, v)
    }

    /// min or max
    fn extreme(&mut self, fun: Fun, set: &Sym<'m>, span: Span) -> Res<Val<'m>> {
        if let Sym::Lazy(lazy) = set
            && let Lazy::Ints(low, high) = &**lazy
        {
            let def = match (low, high) {
                (Some(l), Some(h)) => self.le(l, h, span)?,
                _ => Bool::TRUE,
            };
            let bound = if fun == Fun::Min { low } else { high };
            return Ok(match bound {
                Some(b) if def != Bool::FALSE => Val { sym: b.clone(), def },
                _ => Val::none(),
            });
        }
        if let Sym::Lazy(lazy) = set
            && let Lazy::Ext(items) = &**lazy
            && let Some((first, rest)) = items.split_first()
        {
            let mut best = first.clone();
            for item in rest {
                let less = self.le(item, &best, span)?;
                let take = if fun == Fun::Min { less } else { !less };
                best = self.ite(take, item, &best, span)?;
            }
            return Ok(Val::sure(best));
        }
        let (rows, def) = self.rows(set, span)?;
        let list: Vec<(Value, Bool)> = match fun {
            Fun::Min => rows.iter().map(|(v, p)| (v.clone(), *p)).collect(),
            _ => rows.iter().rev().map(|(v, p)| (v.clone(), *p)).collect(),
        };
        self.spend(list.len(), span)?;
        let mut options = super::Options::new();
        let mut none_before = Bool::TRUE;
        let mut before = vec![];
        for (v, p) in list {
            let here = self.terms.and([none_before, p]);
            options.entry(v).or_default().push(here);
            before.push(p);
            none_before = !self.terms.or(before.iter().copied());
            if none_before == Bool::FALSE {
                break;
            }
        }
        let some = self.unless(Mutant::ExtremeAnywhere, !none_before);
        let def = self.terms.and([def, some]);
        if options.is_empty() || def == Bool::FALSE {
            return Ok(Val::none());
        }
        Ok(Val { sym: self.pick(options), def })
    }

    /// union(F), inter(F)
    fn of_family(&mut self, fun: Fun, family: &Sym<'m>, span: Span) -> Res<Val<'m>> {
        if let Sym::Lazy(lazy) = family
            && let Lazy::Ext(items) = &**lazy
        {
            let items: Vec<(Sym<'m>, Bool)> = items.iter().map(|s| (s.clone(), Bool::TRUE)).collect();
            return self.combine(fun == Fun::GenUnion, items, span);
        }
        let (rows, def) = self.rows(family, span)?;
        let items: Vec<(Sym<'m>, Bool)> = rows.iter().map(|(v, p)| (Sym::ground(v), *p)).collect();
        let v = self.combine(fun == Fun::GenUnion, items, span)?;
        Ok(self.needs(v, def))
    }

    /// The union or intersection of the sets that are there.
    fn combine(&mut self, union: bool, sets: Vec<(Sym<'m>, Bool)>, span: Span) -> Res<Val<'m>> {
        let mut defs = vec![];
        let mut all: Vec<(Arc<Rows>, Bool)> = vec![];
        for (s, p) in sets {
            let (rows, d) = self.rows(&s, span)?;
            defs.push(self.terms.or([!p, d]));
            all.push((rows, p));
        }
        if !union {
            // The intersection of nothing has no value.
            let some = self.terms.or(all.iter().map(|(_, p)| *p));
            defs.push(self.unless(Mutant::IntersectionAnywhere, some));
        }
        let mut ways = super::Options::new();
        for (rows, p) in &all {
            self.spend(rows.len(), span)?;
            for (v, q) in rows.iter() {
                let here = self.terms.and([*p, *q]);
                ways.entry(v.clone()).or_default().push(here);
            }
        }
        let mut rows = self.rows_of(ways);
        if !union {
            let keys: Vec<Value> = rows.keys().cloned().collect();
            for v in keys {
                let mut parts = vec![];
                for (rows, p) in &all {
                    let q = rows.get(&v).copied().unwrap_or(Bool::FALSE);
                    parts.push(self.terms.or([!*p, q]));
                }
                let inside = self.terms.and(parts);
                rows.insert(v, inside);
            }
        }
        let def = self.terms.and(defs);
        Ok(if def == Bool::FALSE { Val::none() } else { Val { sym: Sym::set(rows), def } })
    }

    fn identity(&mut self, ty: &Type, span: Span) -> Res<Sym<'m>> {
        match ty.as_rel() {
            Some((from, _)) => Ok(Lazy::Id(Lazy::All(from.clone()).into()).into()),
            None => ill_typed(span),
        }
    }

    /// Pairs are added until nothing can change: by squaring.
    fn closure1(&mut self, r: &Sym<'m>, span: Span) -> Res<(Rows, Bool)> {
        let (rows, def) = self.rows(r, span)?;
        let mut all = (*rows).clone();
        let mut nodes = std::collections::BTreeSet::new();
        for v in all.keys() {
            let (x, y) = super::set::as_pair(v, span)?;
            nodes.insert(x.clone());
            nodes.insert(y.clone());
        }
        let mut length = 1usize;
        let most = if self.mutant == Mutant::ClosureTooShort { nodes.len() / 2 } else { nodes.len() };
        while length < most {
            let relation = Sym::set(all.clone());
            let (longer, _) = self.expand(&Lazy::Compose(relation.clone(), relation), span)?;
            let next = self.boole(BinOp::Union, &all, &longer);
            if next == all {
                break;
            }
            all = next;
            length *= 2;
        }
        Ok((all, def))
    }

    fn iterate(&mut self, r: &Val<'m>, n: &Val<'m>, ty: &Type, span: Span) -> Res<Val<'m>> {
        if n.is_none() {
            return Ok(Val::none());
        }
        if self.may_hide_faults(&r.sym) {
            return unlisted(span, "a power of a relation that may have no value");
        }
        let mut options = self.options(&n.sym, span)?;
        options.retain(|(v, _)| matches!(v, Value::Int(i) if !i.is_negative()));
        if options.len() == 1 && options[0].0 == Value::int(0) {
            let v = Val { sym: self.identity(ty, span)?, def: n.def };
            let when = options[0].1;
            return Ok(self.needs(v, when));
        }
        let mut powers: Vec<Val<'m>> = vec![];
        let relation = self.settle(Val::sure(r.sym.clone()), span)?;
        let mut result = Val::none();
        let mut defs = vec![];
        for (v, g) in options {
            let Value::Int(i) = v else { return ill_typed(span) };
            let Some(i) = usize::try_from(&i).ok().filter(|i| *i <= 200) else {
                return unsupported(span, "a high power of a relation");
            };
            let v = if i == 0 {
                let id = self.identity(ty, span)?;
                self.settle(Val::sure(id), span)?
            } else {
                while powers.len() < i {
                    let next = match powers.last() {
                        None => relation.clone(),
                        Some(last) => {
                            let longer = Lazy::Compose(last.sym.clone(), relation.sym.clone()).into();
                            let next = self.settle(Val::sure(longer), span)?;
                            self.needs(next, last.def)
                        }
                    };
                    powers.push(next);
                }
                powers[i - 1].clone()
            };
            let here = self.terms.and([g, v.def]);
            defs.push(here);
            result = self.ite_val(g, v, result, span)?;
        }
        let def = self.terms.or(defs);
        let def = self.unless(Mutant::IterateAnywhere, def);
        let def = self.terms.and([def, n.def]);
        Ok(self.needs(Val { def: Bool::TRUE, ..result }, def))
    }

    fn bind(
        &mut self,
        env: &Env<'m>,
        binder: Binder,
        locals: &'m [LocalId],
        pred: &'m Expr,
        body: &'m Expr,
        span: Span,
    ) -> Res<Val<'m>> {
        if binder == Binder::Lambda {
            let closure = Closure { locals, pred, body: Some(body), env: env.clone() };
            return Ok(Val::sure(Lazy::Lambda(closure).into()));
        }
        let sweep = self.sweep_points(env, locals, pred, true)?;
        let mut defs = vec![sweep.complete];
        let mut found: Vec<(Val<'m>, Truth)> = vec![];
        for (env, t) in sweep.found {
            let def = t.def(&mut self.terms);
            defs.push(self.unless(Mutant::ConditionAnywhere, def));
            if t.yes == Bool::FALSE {
                continue;
            }
            let v = self.item(&env, body)?;
            let def = self.terms.or([!t.yes, v.def]);
            defs.push(self.unless(Mutant::BodyAnywhere, def));
            if !v.is_none() {
                found.push((v, t));
            }
        }
        let def = self.terms.and(defs);
        if def == Bool::FALSE {
            return Ok(Val::none());
        }
        let v = match binder {
            Binder::Sigma | Binder::Pi => {
                let unit = self.terms.constant(i32::from(binder == Binder::Pi));
                let mut parts: Vec<Int> = vec![];
                for (v, t) in &found {
                    let term = self.int_term(&v.sym, span)?;
                    parts.push(self.terms.ite_int(t.yes, term, unit));
                }
                let total = if binder == Binder::Sigma {
                    self.terms.sum(parts.into_iter().map(|p| (p, BigInt::one())))
                } else {
                    parts.into_iter().fold(unit, |product, p| self.terms.mul(product, p))
                };
                Val::sure(self.of_term(total))
            }
            Binder::Union | Binder::Inter => {
                let sets = found.into_iter().map(|(v, t)| (v.sym, t.yes)).collect();
                self.combine(binder == Binder::Union, sets, span)?
            }
            Binder::Lambda => return ill_typed(span),
        };
        Ok(self.needs(v, def))
    }
}
