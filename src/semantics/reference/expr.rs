//! Expressions. [`item`] evaluates, leaving set constructors symbolic; [`eval`] lists what is left.

use super::carrier::{carrier, to_count};
use super::search::exactly;
use super::set::{self, Closure, Code, elements, images, settle};
use super::*;
use crate::model::{BinOp, Binder, Expr, ExprKind, Fun, Lit, Type, UnOp};
use crate::plain::external;
use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::{One, Signed, Zero};

/// The largest integer, in bits.
const MAX_BITS: u64 = 1 << 20;

/// The deepest symbolic set that a loop builds.
const MAX_NESTED: usize = 50;

/// The value of an expression.
pub fn eval<'m>(cx: &Cx<'m>, env: &Env<'m>, e: &'m Expr) -> Result<Value, Fault> {
    match item(cx, env, e)? {
        Item::Value(v) => Ok(v),
        Item::Symbolic(s) => set::expand(cx, env, &s, e.span).map(Value::Set),
    }
}

pub(super) fn int<'m>(cx: &Cx<'m>, env: &Env<'m>, e: &'m Expr) -> Result<BigInt, Fault> {
    match item(cx, env, e)? {
        Item::Value(Value::Int(i)) => Ok(i),
        _ => Err(ill_typed(e.span)),
    }
}

fn listed<'m>(cx: &Cx<'m>, env: &Env<'m>, e: &'m Expr) -> Result<Elements, Fault> {
    elements(cx, env, &item(cx, env, e)?, e.span)
}

/// The environment with the definitions of a LET, each of which may use the earlier ones.
pub(super) fn bind_all<'m>(
    cx: &Cx<'m>,
    env: &Env<'m>,
    defs: &'m [(LocalId, Expr)],
) -> Result<Env<'m>, Fault> {
    let mut env = env.clone();
    for (id, e) in defs {
        let item = item(cx, &env, e)?;
        let item = settle(cx, &env, item, e.span)?;
        env = env.with_local(*id, item);
    }
    Ok(env)
}

/// The value of an expression, or the set it denotes as a constructor over evaluated parts.
pub fn item<'m>(cx: &Cx<'m>, env: &Env<'m>, e: &'m Expr) -> Result<Item<'m>, Fault> {
    if e.ty == Type::Pred {
        return holds(cx, env, e).map(|b| Value::Bool(b).into());
    }
    let _nested = cx.enter(e.span)?;
    let sub = |e: &'m Expr| item(cx, env, e);
    let unassigned = || wd(WdKind::Unassigned, e.span);
    Ok(match &e.kind {
        ExprKind::Const(id) => env.constant(*id).cloned().ok_or_else(unassigned)?,
        ExprKind::Var(id) => env.variable(*id).cloned().ok_or_else(unassigned)?.into(),
        ExprKind::Local(id) => env.local(*id).cloned().ok_or_else(unassigned)?,
        ExprKind::Old(id) => {
            let before = env.before.as_deref().unwrap_or(env);
            before.variable(*id).cloned().ok_or_else(unassigned)?.into()
        }
        ExprKind::OldLocal(id) => {
            let before = env.before.as_deref().unwrap_or(env);
            before.local(*id).cloned().ok_or_else(unassigned)?
        }
        ExprKind::Given(id) => Value::Set(carrier(cx, &Type::Given(*id), e.span)?).into(),
        ExprKind::Elem(id, i) => Value::Elem(*id, *i).into(),
        ExprKind::Int(i) => Value::Int(i.clone()).into(),
        ExprKind::Str(s) => Value::Str(s.clone()).into(),
        ExprKind::Real(r) => Value::real(r.clone()).into(),
        // A freetype.
        ExprKind::Lit(Lit::Whole) => {
            Symbolic::All(e.ty.elem().ok_or_else(|| ill_typed(e.span))?.clone()).into()
        }
        ExprKind::Lit(lit) => literal(cx, *lit, e.span)?,
        ExprKind::Unary(UnOp::Neg, a) if e.ty == Type::Real => Value::real(-real(cx, env, a)?).into(),
        ExprKind::Unary(UnOp::Neg, a) => Value::Int(-int(cx, env, a)?).into(),
        ExprKind::Unary(UnOp::Inverse, a) => Symbolic::Inverse(sub(a)?).into(),
        ExprKind::Binary(op, a, b) => return binary(cx, env, *op, a, b, e.span),
        ExprKind::Product(a, b) => Symbolic::Product(sub(a)?, sub(b)?).into(),
        ExprKind::Apply(f, x) => apply(cx, env, f, x, e.span)?.into(),
        ExprKind::Image(r, s) => image(cx, env, r, s, e.span)?.into(),
        ExprKind::Call(fun, args) => return call(cx, env, *fun, args, e),
        ExprKind::First(a) => build::as_pair(&eval(cx, env, a)?, e.span)?.0.clone().into(),
        ExprKind::Second(a) => build::as_pair(&eval(cx, env, a)?, e.span)?.1.clone().into(),
        ExprKind::Bind(binder, locals, pred, body) => {
            return bind(cx, env, *binder, locals, pred, body, e);
        }
        ExprKind::Compr(locals, pred) => {
            let closure = Closure { locals, pred: Code(pred), body: None, captured: env.capture() };
            Symbolic::Compr(closure).into()
        }
        ExprKind::ComprMap(locals, pred, body) => {
            let body = Some(Code(body));
            Symbolic::Map(Closure { locals, pred: Code(pred), body, captured: env.capture() }).into()
        }
        ExprKind::SetExt(parts) => {
            let parts: Result<Elements, Fault> = parts.iter().map(|p| eval(cx, env, p)).collect();
            Value::Set(parts?).into()
        }
        ExprKind::SeqExt(parts) => {
            let parts: Result<Vec<Value>, Fault> = parts.iter().map(|p| eval(cx, env, p)).collect();
            build::from_sequence(parts?).into()
        }
        ExprKind::Rec(fields) => {
            let fields: Result<Vec<Value>, Fault> = fields.iter().map(|f| eval(cx, env, f)).collect();
            Value::Rec(fields?).into()
        }
        ExprKind::Struct(fields) => {
            let fields: Result<Vec<Item<'m>>, Fault> = fields.iter().map(sub).collect();
            Symbolic::Struct(fields?).into()
        }
        ExprKind::Field(a, i) => match eval(cx, env, a)? {
            Value::Rec(fields) => fields.get(*i as usize).cloned().ok_or_else(|| ill_typed(e.span))?.into(),
            _ => return Err(ill_typed(e.span)),
        },
        ExprKind::Bool(p) => Value::Bool(holds(cx, env, p)?).into(),
        ExprKind::If(cond, yes, no) => return if holds(cx, env, cond)? { sub(yes) } else { sub(no) },
        ExprKind::Let(defs, body) => return item(cx, &bind_all(cx, env, defs)?, body),
        ExprKind::Unary(UnOp::Not, _) | ExprKind::Quant(..) | ExprKind::HasValue(_) | ExprKind::Demand(_) => {
            return Err(ill_typed(e.span));
        }
    })
}

fn literal<'m>(cx: &Cx<'m>, lit: Lit, span: Span) -> Result<Item<'m>, Fault> {
    let from = |low: i32| Symbolic::Ints(Some(low.into()), None).into();
    let up_to_maxint = |low: BigInt| Symbolic::Ints(Some(low), Some(cx.scope.maxint.clone())).into();
    Ok(match lit {
        Lit::True | Lit::BTrue => Value::Bool(true).into(),
        Lit::False | Lit::BFalse => Value::Bool(false).into(),
        Lit::BoolSet => Value::set([Value::Bool(false), Value::Bool(true)]).into(),
        Lit::Integer => Symbolic::Ints(None, None).into(),
        Lit::Natural => from(0),
        Lit::Natural1 => from(1),
        Lit::IntSet => up_to_maxint(cx.scope.minint.clone()),
        Lit::NatSet => up_to_maxint(BigInt::zero()),
        Lit::Nat1Set => up_to_maxint(BigInt::one()),
        Lit::MaxInt => Value::Int(cx.scope.maxint.clone()).into(),
        Lit::MinInt => Value::Int(cx.scope.minint.clone()).into(),
        Lit::StringSet => Symbolic::All(Type::Str).into(),
        Lit::EmptySet | Lit::EmptySeq => Value::Set(Elements::new()).into(),
        Lit::Succ => Symbolic::Shift(1).into(),
        Lit::Pred => Symbolic::Shift(-1).into(),
        Lit::RealSet => Symbolic::All(Type::Real).into(),
        // Not without its type, and not what passes the type checker.
        Lit::Whole | Lit::FloatSet => return Err(ill_typed(span)),
    })
}

fn binary<'m>(
    cx: &Cx<'m>,
    env: &Env<'m>,
    op: BinOp,
    a: &'m Expr,
    b: &'m Expr,
    span: Span,
) -> Result<Item<'m>, Fault> {
    use BinOp::*;
    Ok(match op {
        Add | Sub | Mul | Div if a.ty == Type::Real => {
            let (x, y) = (real(cx, env, a)?, real(cx, env, b)?);
            Value::real(real_arithmetic(op, x, y, span)?).into()
        }
        Add | Sub | Mul | Div | Mod | Pow => {
            Value::Int(arithmetic(op, int(cx, env, a)?, int(cx, env, b)?, span)?).into()
        }
        Interval => Symbolic::Ints(Some(int(cx, env, a)?), Some(int(cx, env, b)?)).into(),
        Pair => Value::pair(eval(cx, env, a)?, eval(cx, env, b)?).into(),
        Concat if a.ty == Type::Str => match (eval(cx, env, a)?, eval(cx, env, b)?) {
            (Value::Str(a), Value::Str(b)) => Value::Str(format!("{a}{b}").into()).into(),
            _ => return Err(ill_typed(span)),
        },
        Concat | Prepend | Append | TakeFirst | DropFirst => on_sequence(cx, env, op, a, b, span)?.into(),
        _ => {
            let (a, b) = (item(cx, env, a)?, item(cx, env, b)?);
            let symbolic = match op {
                Union | Inter | Diff => Symbolic::Boole(op, a, b),
                Rel | TotalRel | SurjRel | TotalSurjRel | PartialFun | TotalFun | PartialInj | TotalInj
                | PartialSurj | TotalSurj | PartialBij | TotalBij => Symbolic::Space(op, a, b),
                DomRestrict | DomSubtract => Symbolic::Restrict(op, b, a),
                RanRestrict | RanSubtract => Symbolic::Restrict(op, a, b),
                Override => Symbolic::Override(a, b),
                DirectProduct => Symbolic::Direct(a, b),
                ParallelProduct => Symbolic::Parallel(a, b),
                Compose => Symbolic::Compose(a, b),
                _ => return Err(ill_typed(span)),
            };
            symbolic.into()
        }
    })
}

/// Exact; division truncates towards zero.
fn arithmetic(op: BinOp, a: BigInt, b: BigInt, span: Span) -> Result<BigInt, Fault> {
    let too_large = || limit(span, "an integer with too many digits");
    match op {
        BinOp::Add => Ok(a + b),
        BinOp::Sub => Ok(a - b),
        BinOp::Mul if a.bits() + b.bits() > MAX_BITS => Err(too_large()),
        BinOp::Mul => Ok(a * b),
        BinOp::Div if b.is_zero() => Err(wd(WdKind::DivisionByZero, span)),
        BinOp::Div => Ok(a / b),
        BinOp::Mod if a.is_negative() || !b.is_positive() => Err(wd(WdKind::ModUndefined, span)),
        BinOp::Mod => Ok(a % b),
        BinOp::Pow if b.is_negative() => Err(wd(WdKind::NegativeExponent, span)),
        BinOp::Pow if b.is_zero() || a.is_one() => Ok(BigInt::one()),
        BinOp::Pow if a.is_zero() => Ok(a),
        BinOp::Pow if (-&a).is_one() => Ok(if b.bit(0) { a } else { BigInt::one() }),
        BinOp::Pow => {
            let exponent = u32::try_from(&b).map_err(|_| too_large())?;
            if a.bits().saturating_mul(u64::from(exponent)) > MAX_BITS {
                return Err(too_large());
            }
            Ok(a.pow(exponent))
        }
        _ => Err(ill_typed(span)),
    }
}

fn real<'m>(cx: &Cx<'m>, env: &Env<'m>, e: &'m Expr) -> Result<BigRational, Fault> {
    match item(cx, env, e)? {
        Item::Value(Value::Real(r)) => Ok(*r),
        _ => Err(ill_typed(e.span)),
    }
}

/// Two numbers of one kind.
pub(super) fn compare<'m>(
    cx: &Cx<'m>,
    env: &Env<'m>,
    a: &'m Expr,
    b: &'m Expr,
) -> Result<std::cmp::Ordering, Fault> {
    match a.ty {
        Type::Real => Ok(real(cx, env, a)?.cmp(&real(cx, env, b)?)),
        _ => Ok(int(cx, env, a)?.cmp(&int(cx, env, b)?)),
    }
}

/// Exact: what is made of decimals and integers is a quotient of integers.
fn real_arithmetic(op: BinOp, a: BigRational, b: BigRational, span: Span) -> Result<BigRational, Fault> {
    let bits = |r: &BigRational| r.numer().bits() + r.denom().bits();
    if bits(&a) + bits(&b) > MAX_BITS {
        return Err(limit(span, "a real number with too many digits"));
    }
    match op {
        BinOp::Add => Ok(a + b),
        BinOp::Sub => Ok(a - b),
        BinOp::Mul => Ok(a * b),
        BinOp::Div if b.is_zero() => Err(wd(WdKind::DivisionByZero, span)),
        BinOp::Div => Ok(a / b),
        _ => Err(ill_typed(span)),
    }
}

/// The items of a sequence.
fn sequence<'m>(cx: &Cx<'m>, env: &Env<'m>, e: &'m Expr, span: Span) -> Result<Vec<Value>, Fault> {
    let set = item(cx, env, e)?;
    if set::is_certainly_infinite(&set) {
        return Err(wd(WdKind::NotASequence, span));
    }
    build::sequence(&elements(cx, env, &set, e.span)?).ok_or_else(|| wd(WdKind::NotASequence, span))
}

fn on_sequence<'m>(
    cx: &Cx<'m>,
    env: &Env<'m>,
    op: BinOp,
    a: &'m Expr,
    b: &'m Expr,
    span: Span,
) -> Result<Value, Fault> {
    let items = match op {
        BinOp::Concat => {
            let mut items = sequence(cx, env, a, span)?;
            items.extend(sequence(cx, env, b, span)?);
            items
        }
        BinOp::Prepend => {
            let mut items = vec![eval(cx, env, a)?];
            items.extend(sequence(cx, env, b, span)?);
            items
        }
        BinOp::Append => {
            let mut items = sequence(cx, env, a, span)?;
            items.push(eval(cx, env, b)?);
            items
        }
        _ => {
            let mut items = sequence(cx, env, a, span)?;
            let n = to_count(&int(cx, env, b)?).filter(|n| *n <= items.len());
            let n = n.ok_or_else(|| wd(WdKind::BadLength, span))?;
            let rest = items.split_off(n);
            if op == BinOp::TakeFirst { items } else { rest }
        }
    };
    cx.spend(items.len(), span)?;
    Ok(build::from_sequence(items))
}

fn apply<'m>(cx: &Cx<'m>, env: &Env<'m>, f: &'m Expr, x: &'m Expr, span: Span) -> Result<Value, Fault> {
    let (f, x) = (item(cx, env, f)?, eval(cx, env, x)?);
    apply_to(cx, env, &f, &x, span)
}

/// f(x): what f relates to x, if that is one value.
pub(super) fn apply_to<'m>(
    cx: &Cx<'m>,
    env: &Env<'m>,
    f: &Item<'m>,
    x: &Value,
    span: Span,
) -> Result<Value, Fault> {
    let mut found = images(cx, env, f, x, span)?;
    match (found.pop_first(), found.is_empty()) {
        (Some(y), true) => Ok(y),
        (Some(_), false) => Err(wd(WdKind::NotFunctional, span)),
        (None, _) => Err(wd(WdKind::OutsideDomain, span)),
    }
}

/// r[S]
fn image<'m>(cx: &Cx<'m>, env: &Env<'m>, r: &'m Expr, s: &'m Expr, span: Span) -> Result<Value, Fault> {
    if let ExprKind::Call(Fun::Closure1, args) = &r.kind
        && let [r] = &args[..]
    {
        return reached(cx, env, r, s, span);
    }
    let (r, s) = (item(cx, env, r)?, item(cx, env, s)?);
    let (r, s) = (settle(cx, env, r, span)?, settle(cx, env, s, span)?);
    let pairs = match (r, &s) {
        (Item::Value(Value::Set(pairs)), _) => {
            build::keep(pairs, |p| set::has(cx, env, build::as_pair(p, span)?.0, &s, span))?
        }
        (r, Item::Value(Value::Set(over))) => set::graph_over(cx, env, &r, over, span)?,
        _ => return Err(limit(span, "image of an infinite set under an infinite relation")),
    };
    Ok(Value::Set(build::range(&pairs, span)?))
}

/// closure1(r)[S]: one step after the other, since the closure may be infinite where this is not.
fn reached<'m>(cx: &Cx<'m>, env: &Env<'m>, r: &'m Expr, s: &'m Expr, span: Span) -> Result<Value, Fault> {
    let (r, s) = (item(cx, env, r)?, item(cx, env, s)?);
    let (r, s) = (settle(cx, env, r, span)?, settle(cx, env, s, span)?);
    let mut all = Elements::new();
    let mut next = match (&r, s) {
        (_, Item::Value(Value::Set(s))) => s,
        (Item::Value(Value::Set(pairs)), s) => {
            build::keep(build::domain(pairs, span)?, |x| set::has(cx, env, x, &s, span))?
        }
        _ => return Err(limit(span, "image of an infinite set under an infinite relation")),
    };
    loop {
        let mut more = Elements::new();
        for x in &next {
            more.extend(images(cx, env, &r, x, span)?);
        }
        next = more.difference(&all).cloned().collect();
        if next.is_empty() {
            return Ok(Value::Set(all));
        }
        build::budget(cx, Some(all.len() + next.len()), span)?;
        all.extend(next.iter().cloned());
    }
}

fn call<'m>(cx: &Cx<'m>, env: &Env<'m>, fun: Fun, args: &'m [Expr], e: &'m Expr) -> Result<Item<'m>, Fault> {
    let span = e.span;
    let nth = |i: usize| args.get(i).ok_or_else(|| ill_typed(span));
    let arg = |i: usize| item(cx, env, nth(i)?);
    let items = || sequence(cx, env, nth(0)?, span);
    let nonempty = || match items()? {
        s if s.is_empty() => Err(wd(WdKind::EmptySequence, span)),
        s => Ok(s),
    };
    Ok(match fun {
        Fun::Card => Value::Int(card(cx, env, &arg(0)?, span)?).into(),
        Fun::Min | Fun::Max => extreme(cx, env, fun, arg(0)?, span)?.into(),
        Fun::Dom => Symbolic::Dom(arg(0)?).into(),
        Fun::Ran => Value::Set(build::range(&listed(cx, env, nth(0)?)?, span)?).into(),
        Fun::Id => Symbolic::Id(arg(0)?).into(),
        Fun::Prj1 | Fun::Prj2 => Symbolic::Prj(fun, arg(0)?, arg(1)?).into(),
        Fun::GenUnion => {
            let mut all = Elements::new();
            for s in listed(cx, env, nth(0)?)? {
                all.extend(elements(cx, env, &s.into(), span)?);
            }
            Value::Set(all).into()
        }
        Fun::GenInter => {
            let sets = listed(cx, env, nth(0)?)?;
            intersection(cx, env, sets.into_iter().map(Item::Value).collect(), span)?
        }
        Fun::Pow | Fun::Pow1 | Fun::Fin | Fun::Fin1 => Symbolic::Pow(fun, arg(0)?).into(),
        Fun::Seq | Fun::Seq1 | Fun::Iseq | Fun::Iseq1 | Fun::Perm => Symbolic::Seq(fun, arg(0)?).into(),
        Fun::Size => Value::int(items()?.len()).into(),
        Fun::First | Fun::Last | Fun::Front | Fun::Tail => {
            let mut s = nonempty()?;
            match fun {
                Fun::First => s.swap_remove(0).into(),
                Fun::Last => s.swap_remove(s.len() - 1).into(),
                Fun::Front => {
                    s.pop();
                    build::from_sequence(s).into()
                }
                _ => build::from_sequence(s.into_iter().skip(1)).into(),
            }
        }
        Fun::Rev => build::from_sequence(items()?.into_iter().rev()).into(),
        Fun::Conc => {
            let mut all = vec![];
            for s in items()? {
                let s = elements(cx, env, &s.into(), span)?;
                all.extend(build::sequence(&s).ok_or_else(|| wd(WdKind::NotASequence, span))?);
                cx.spend(all.len(), span)?;
            }
            build::from_sequence(all).into()
        }
        Fun::Closure1 => Value::Set(closure1(cx, env, nth(0)?)?).into(),
        Fun::Closure => {
            let transitive = Value::Set(closure1(cx, env, nth(0)?)?).into();
            Symbolic::Boole(BinOp::Union, transitive, identity(&e.ty, span)?).into()
        }
        Fun::Iterate => iterate(cx, env, arg(0)?, &int(cx, env, nth(1)?)?, e)?,
        Fun::Fnc => {
            let pairs = listed(cx, env, nth(0)?)?;
            let r = Value::Set(pairs.clone()).into();
            let mut all = Elements::new();
            for x in build::domain(&pairs, span)? {
                let ys = images(cx, env, &r, &x, span)?;
                all.insert(Value::pair(x, Value::Set(ys)));
            }
            Value::Set(all).into()
        }
        Fun::Rel => {
            let mut all = Elements::new();
            for p in listed(cx, env, nth(0)?)? {
                let (x, ys) = build::as_pair(&p, span)?;
                let ys = elements(cx, env, &ys.clone().into(), span)?;
                all.extend(ys.into_iter().map(|y| Value::pair(x.clone(), y)));
            }
            Value::Set(all).into()
        }
        Fun::Succ => Value::Int(int(cx, env, nth(0)?)? + 1).into(),
        Fun::Pred => Value::Int(int(cx, env, nth(0)?)? - 1).into(),
        Fun::Mu => {
            let set = arg(0)?;
            if set::is_certainly_infinite(&set) {
                return Err(wd(WdKind::NotSingleton, span));
            }
            let mut all = elements(cx, env, &set, span)?;
            match (all.pop_first(), all.is_empty()) {
                (Some(v), true) => v.into(),
                _ => return Err(wd(WdKind::NotSingleton, span)),
            }
        }
        Fun::External(f) => {
            let values: Result<Vec<Value>, Fault> = args.iter().map(|a| eval(cx, env, a)).collect();
            let types: Vec<Type> = args.iter().map(|a| a.ty.clone()).collect();
            let value = external::apply(f, &values?, &types, &e.ty, &external::Names::of(cx.model));
            value.map_err(|fault| *fault.at(span))?.into()
        }
        Fun::Real => Value::real(BigRational::from_integer(int(cx, env, nth(0)?)?)).into(),
        Fun::Floor => Value::Int(real(cx, env, nth(0)?)?.floor().to_integer()).into(),
        Fun::Ceiling => Value::Int(real(cx, env, nth(0)?)?.ceil().to_integer()).into(),
        Fun::Construct(case) => {
            let argument = match args.first() {
                Some(a) => Some(Box::new(eval(cx, env, a)?)),
                None => None,
            };
            Value::Free(case, argument).into()
        }
        Fun::Destruct(case) => match eval(cx, env, nth(0)?)? {
            Value::Free(of, Some(argument)) if of == case => (*argument).into(),
            Value::Free(..) => return Err(wd(WdKind::OutsideDomain, span)),
            _ => return Err(ill_typed(span)),
        },
        Fun::IsCase(case) => match eval(cx, env, nth(0)?)? {
            Value::Free(of, _) => Value::Bool(of == case).into(),
            _ => return Err(ill_typed(span)),
        },
    })
}

fn card<'m>(cx: &Cx<'m>, env: &Env<'m>, set: &Item<'m>, span: Span) -> Result<BigInt, Fault> {
    if set::is_certainly_infinite(set) {
        return Err(wd(WdKind::Infinite, span));
    }
    if let Item::Symbolic(s) = set {
        match &**s {
            Symbolic::Ints(Some(low), Some(high)) => {
                return Ok((high - low + BigInt::one()).max(BigInt::zero()));
            }
            Symbolic::Pow(Fun::Pow | Fun::Fin, s) => {
                return arithmetic(BinOp::Pow, 2.into(), card(cx, env, s, span)?, span);
            }
            Symbolic::Product(a, b) => {
                let sizes = [card(cx, env, a, span), card(cx, env, b, span)];
                return match sizes {
                    // Nothing is paired with anything, however much there is of it.
                    [Ok(n), Err(f)] | [Err(f), Ok(n)] if n.is_zero() && f.is_infinite() => Ok(n),
                    [a, b] => arithmetic(BinOp::Mul, a?, b?, span),
                };
            }
            _ => {}
        }
    }
    Ok(elements(cx, env, set, span)?.len().into())
}

/// min or max
fn extreme<'m>(cx: &Cx<'m>, env: &Env<'m>, fun: Fun, set: Item<'m>, span: Span) -> Result<Value, Fault> {
    if let Item::Symbolic(s) = &set
        && let Symbolic::Ints(low, high) = &**s
    {
        if low.is_some() && high.is_some() && low > high {
            return Err(wd(WdKind::EmptyMinMax, span));
        }
        let bound = if fun == Fun::Min { low } else { high };
        return bound.clone().map(Value::Int).ok_or_else(|| wd(WdKind::Infinite, span));
    }
    let all = elements(cx, env, &set, span)?;
    let found = if fun == Fun::Min { all.first() } else { all.last() };
    found.cloned().ok_or_else(|| wd(WdKind::EmptyMinMax, span))
}

fn intersection<'m>(cx: &Cx<'m>, env: &Env<'m>, sets: Vec<Item<'m>>, span: Span) -> Result<Item<'m>, Fault> {
    let mut sets = sets.into_iter();
    let first = sets.next().ok_or_else(|| wd(WdKind::EmptyInter, span))?;
    let mut all = settle(cx, env, first, span)?;
    for (i, set) in sets.enumerate() {
        if i > MAX_NESTED && all.value().is_none() {
            return Err(limit(span, "intersection of many infinite sets"));
        }
        all = settle(cx, env, Symbolic::Boole(BinOp::Inter, all, set).into(), span)?;
    }
    Ok(all)
}

/// The identity on everything that the relation type relates.
fn identity<'m>(ty: &Type, span: Span) -> Result<Item<'m>, Fault> {
    let (from, _) = ty.as_rel().ok_or_else(|| ill_typed(span))?;
    Ok(Symbolic::Id(Symbolic::All(from.clone()).into()).into())
}

/// r \/ (r;r) \/ (r;r;r) \/ …: pairs are added until nothing changes.
fn closure1<'m>(cx: &Cx<'m>, env: &Env<'m>, r: &'m Expr) -> Result<Elements, Fault> {
    let mut all = listed(cx, env, r)?;
    loop {
        let relation: Item<'m> = Value::Set(all.clone()).into();
        let longer = set::expand(cx, env, &Symbolic::Compose(relation.clone(), relation), r.span)?;
        let before = all.len();
        all.extend(longer);
        if all.len() == before {
            return Ok(all);
        }
    }
}

fn iterate<'m>(cx: &Cx<'m>, env: &Env<'m>, r: Item<'m>, n: &BigInt, e: &'m Expr) -> Result<Item<'m>, Fault> {
    if n.is_negative() {
        return Err(wd(WdKind::NegativeIterate, e.span));
    }
    if n.is_zero() {
        return identity(&e.ty, e.span);
    }
    let r = settle(cx, env, r, e.span)?;
    let mut power = r.clone();
    let mut done = BigInt::one();
    while done < *n {
        cx.spend(1, e.span)?;
        if done > MAX_NESTED.into() && power.value().is_none() {
            return Err(limit(e.span, "high power of an infinite relation"));
        }
        power = settle(cx, env, Symbolic::Compose(power, r.clone()).into(), e.span)?;
        done += 1;
    }
    Ok(power)
}

fn bind<'m>(
    cx: &Cx<'m>,
    env: &Env<'m>,
    binder: Binder,
    locals: &'m [LocalId],
    pred: &'m Expr,
    body: &'m Expr,
    e: &'m Expr,
) -> Result<Item<'m>, Fault> {
    let span = e.span;
    if binder == Binder::Lambda {
        let closure = Closure { locals, pred: Code(pred), body: Some(Code(body)), captured: env.capture() };
        return Ok(Symbolic::Lambda(closure).into());
    }
    let found = exactly(cx, env, locals, pred)?;
    let over = |op: BinOp, unit: i32| -> Result<Item<'m>, Fault> {
        found
            .iter()
            .try_fold(BigInt::from(unit), |sum, e| arithmetic(op, sum, int(cx, e, body)?, span))
            .map(|i| Value::Int(i).into())
    };
    if e.ty == Type::Real {
        let (op, unit) = if binder == Binder::Sigma { (BinOp::Add, 0) } else { (BinOp::Mul, 1) };
        let unit = BigRational::from_integer(unit.into());
        let all = found.iter().try_fold(unit, |sum, e| real_arithmetic(op, sum, real(cx, e, body)?, span));
        return all.map(|r| Value::real(r).into());
    }
    match binder {
        Binder::Sigma => over(BinOp::Add, 0),
        Binder::Pi => over(BinOp::Mul, 1),
        Binder::Union => {
            let mut all = Elements::new();
            for e in &found {
                all.extend(listed(cx, e, body)?);
            }
            Ok(Value::Set(all).into())
        }
        _ => {
            let sets: Result<Vec<Item<'m>>, Fault> = found.iter().map(|e| item(cx, e, body)).collect();
            intersection(cx, env, sets?, span)
        }
    }
}
