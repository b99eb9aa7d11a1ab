//! The evaluation of nodes and tests.

use super::closure::{Builtin, BuiltinKind, closure};
use super::grow;
use super::{Atom, Binary, Call, Env, Node, Typed, TypedOp, Unary};
use crate::lang::diag::Span;
use crate::value::external;
use crate::value::fault::{Fault, Res, WdKind};
use crate::value::mask;
use crate::value::ops;
use crate::value::ops::force;
use crate::value::rep::R;
use crate::value::val::{Closure, IntSet, Lazy, Val, cmp_int, from_value, to_value};
use std::cmp::Ordering;
use std::sync::Arc;

#[cold]
fn unassigned(span: Span) -> Box<Fault> {
    Fault::wd(WdKind::Unassigned).at(span)
}

impl Node {
    /// The value; a set may come symbolic.
    pub fn val(&self, env: &mut Env) -> Res<Val> {
        Ok(match self {
            Node::Const(v) => v.clone(),
            Node::Slot(s, span) => match &env.slots[*s as usize] {
                Val::None => return Err(unassigned(*span)),
                v => v.clone(),
            },
            Node::Bool(_)
            | Node::PairW { .. }
            | Node::FirstW { .. }
            | Node::SecondW { .. }
            | Node::OrW(..)
            | Node::AndW(..)
            | Node::AndNotW(..)
            | Node::SingleW(_)
            | Node::ApplyW { .. }
            | Node::ImageW { .. }
            | Node::DomW { .. }
            | Node::RanW { .. }
            | Node::InverseW { .. }
            | Node::ComposeW { .. }
            | Node::OverrideW { .. }
            | Node::UpdateW { .. }
            | Node::RestrictW { .. }
            | Node::ProductW { .. } => Val::W(self.word(env)?),
            Node::Unary { op: Unary::Card, a, rep, out, span }
                if let Node::Binary {
                    op: Binary::ParallelProduct, a: r, b: s, ra, rb, out: both, ..
                } = &**a =>
            {
                // It has a pair of pairs for each two: nobody has to list them.
                let (r, s) = (r.val(env)?, s.val(env)?);
                match (ops::card(&r, ra), ops::card(&s, rb)) {
                    (Ok(m), Ok(n)) => ops::mul(&m, &n).map_err(|e| e.at(*span))?,
                    _ => binary(Binary::ParallelProduct, r, s, ra, rb, both)
                        .and_then(|all| unary(Unary::Card, all, rep, out))
                        .map_err(|e| e.at(*span))?,
                }
            }
            Node::Unary { op, a, rep, out, span } => {
                let a = a.val(env)?;
                unary(*op, a, rep, out).map_err(|e| e.at(*span))?
            }
            Node::Binary { op, a, b, ra, rb, out, span } => {
                let a = a.val(env)?;
                let b = b.val(env)?;
                binary(*op, a, b, ra, rb, out).map_err(|e| e.at(*span))?
            }
            Node::Update { f, x, y, rep, span } => {
                let f = force(f.val(env)?, rep).map_err(|e| e.at(*span))?;
                let (rx, ry) = rep.as_rel();
                let x = settled(x.val(env)?, rx)?;
                let y = settled(y.val(env)?, ry)?;
                ops::update(&f, &x, &y, rep).map_err(|e| e.at(*span))?
            }
            Node::SetExt(items, rep) => {
                let elem = rep.elem();
                let vals: Res<Vec<Val>> = items.iter().map(|n| settled(n.val(env)?, elem)).collect();
                Val::from_elems(vals?, rep)
            }
            Node::SeqExt(items, rep) => {
                let elem = rep.as_rel().1;
                let vals: Res<Vec<Val>> = items.iter().map(|n| settled(n.val(env)?, elem)).collect();
                Val::seq(vals?)
            }
            Node::Rec(items, rep) => {
                let crate::value::rep::Shape::Rec(parts) = &rep.shape else {
                    unreachable!("a record node has a record representation")
                };
                let vals: Res<Vec<Val>> =
                    items.iter().zip(parts).map(|(n, r)| settled(n.val(env)?, r)).collect();
                Val::record(vals?, rep)
            }
            Node::Field { a, index, rep } => a.val(env)?.field(*index, rep),
            Node::WithField { a, index, v, rep } => {
                let crate::value::rep::Shape::Rec(parts) = &rep.shape else {
                    unreachable!("a record node has a record representation")
                };
                let mut fields = a.val(env)?.fields(rep);
                fields[*index] = settled(v.val(env)?, &parts[*index])?;
                Val::record(fields, rep)
            }
            Node::Fun { kind, from, to, out: _ } => {
                Val::lazy(Lazy::Fun { kind: *kind, from: from.val(env)?, to: to.val(env)? })
            }
            Node::Struct(parts, _) => {
                let vals: Res<Vec<Val>> = parts.iter().map(|n| n.val(env)).collect();
                Val::lazy(Lazy::Struct(vals?))
            }
            Node::Compr(c) => {
                if c.infinite {
                    return Ok(closure(c, env));
                }
                if let Some(v) = c.remembered(env) {
                    return Ok(v);
                }
                let mut out = Vec::new();
                match c.elements(env, &mut out, crate::value::val::MAX_SET) {
                    Ok(()) => {
                        let v = Val::from_elems(out, &c.rep);
                        c.remember(env, &v);
                        v
                    }
                    // It turned out to be too large to expand (a constant set it ranges over is infinite, say):
                    // it is tested instead.
                    Err(e)
                        if matches!(*e, Fault::Limit(..)) && c.can_be_symbolic() && env.go_on().is_ok() =>
                    {
                        closure(c, env)
                    }
                    Err(e) => return Err(e),
                }
            }
            Node::Sum { over, product } => over.sum(env, *product)?,
            Node::Gather { over, inter, span } => {
                let mut out = Vec::new();
                over.elements(env, &mut out, crate::value::val::MAX_SET)?;
                let sets = Val::from_elems(out, &over.rep);
                let all = if *inter { ops::gen_inter } else { ops::gen_union };
                all(&sets, &over.rep).map_err(|e| e.at(*span))?
            }
            Node::If(c, a, b) => return if c.holds(env)? { a.val(env) } else { b.val(env) },
            Node::Let(defs, body) => {
                for (slot, n) in defs {
                    let v = n.val(env)?;
                    env.set(*slot, v);
                }
                return body.val(env);
            }
            Node::Force(a, rep) => return force(a.val(env)?, rep),
            Node::External(c) => c.val(env)?,
            Node::Typed(t) => t.val(env)?,
        })
    }

    /// The word of a node whose representation is one.
    #[inline]
    pub fn word(&self, env: &mut Env) -> Res<u64> {
        Ok(match self {
            Node::Const(Val::W(w)) => *w,
            Node::Slot(s, span) => match &env.slots[*s as usize] {
                Val::W(w) => *w,
                Val::None => return Err(unassigned(*span)),
                // Still growing: nothing that needs all of it has a value yet.
                Val::Lazy(_) => return Err(grow::not_yet()),
                v => unreachable!("a word was expected in slot {s}, not {v:?}"),
            },
            Node::Bool(t) => u64::from(t.holds(env)?),
            Node::PairW { a, b, nb } => a.word(env)? * nb + b.word(env)?,
            Node::FirstW { p, nb } => p.word(env)? / nb,
            Node::SecondW { p, nb } => p.word(env)? % nb,
            Node::OrW(a, b) => a.word(env)? | b.word(env)?,
            Node::AndW(a, b) => a.word(env)? & b.word(env)?,
            Node::AndNotW(a, b) => a.word(env)? & !b.word(env)?,
            Node::SingleW(a) => 1 << a.word(env)?,
            Node::ApplyW { f, x, nb, span } => {
                if let Some(partial) = f.growing(env) {
                    let x = Val::W(x.word(env)?);
                    return Ok(partial.apply(&x).map_err(|e| e.at(*span))?.word());
                }
                let row = mask::row(f.word(env)?, x.word(env)? as u32, *nb);
                if row.is_power_of_two() {
                    u64::from(row.trailing_zeros())
                } else if row == 0 {
                    return Err(Fault::wd(WdKind::OutsideDomain).at(*span));
                } else {
                    return Err(Fault::wd(WdKind::NotFunctional).at(*span));
                }
            }
            Node::ImageW { r, s, nb } => mask::image(r.word(env)?, s.word(env)?, *nb),
            Node::DomW { r, na, nb } => mask::dom(r.word(env)?, *na, *nb),
            Node::RanW { r, na, nb } => mask::ran(r.word(env)?, *na, *nb),
            Node::InverseW { r, na, nb } => mask::inverse(r.word(env)?, *na, *nb),
            Node::ComposeW { r, s, na, nb, nc } => mask::compose(r.word(env)?, s.word(env)?, *na, *nb, *nc),
            Node::OverrideW { r, s, na, nb } => mask::override_with(r.word(env)?, s.word(env)?, *na, *nb),
            Node::UpdateW { f, x, y, nb } => {
                let (f, x, y) = (f.word(env)?, x.word(env)?, y.word(env)?);
                let at = x * u64::from(*nb);
                (f & !(crate::value::rep::low(*nb) << at)) | 1 << (at + y)
            }
            Node::RestrictW { how, r, s, na, nb } => {
                let (r, s) = (r.word(env)?, s.word(env)?);
                let keep = if how.by_domain { mask::rows(s, *nb) } else { mask::columns(s, *na, *nb) };
                if how.subtract { r & !keep } else { r & keep }
            }
            Node::ProductW { a, b, nb } => mask::product(a.word(env)?, b.word(env)?, *nb),
            Node::If(c, a, b) => return if c.holds(env)? { a.word(env) } else { b.word(env) },
            other => return Ok(other.val(env)?.word()),
        })
    }
}

impl Call {
    fn val(&self, env: &mut Env) -> Res<Val> {
        let mut values = Vec::with_capacity(self.args.len());
        for (n, rep) in self.args.iter().zip(&self.reps) {
            values.push(to_value(&settled(n.val(env)?, rep)?, rep));
        }
        let value = external::apply(self.fun, &values, &self.types, &self.ty, &self.names);
        let value = value.map_err(|e| e.at(self.span))?;
        // What a call results in has the type of the call: its elements come from the arguments or the declarations.
        let lost = || Fault::limit("a result outside its type").at(self.span);
        from_value(&value, &self.out).ok_or_else(lost)
    }
}

impl Typed {
    fn val(&self, env: &mut Env) -> Res<Val> {
        let at = |e: Box<Fault>| e.at(self.span);
        let mut args = Vec::with_capacity(self.args.len());
        for n in &self.args {
            args.push(n.val(env)?);
        }
        Ok(match (&self.op, &args[..]) {
            (TypedOp::Real(op), [a, b]) => ops::real(*op, a, b).map_err(at)?,
            (TypedOp::Neg, [a]) => ops::real_neg(a),
            (TypedOp::FromInt, [a]) => ops::real_of(a).map_err(at)?,
            (TypedOp::Floor, [a]) => ops::rounded(a, false),
            (TypedOp::Ceiling, [a]) => ops::rounded(a, true),
            (TypedOp::Construct(case, None), []) => Val::free(*case, None),
            (TypedOp::Construct(case, Some(rep)), [a]) => {
                let a = settled(a.clone(), rep).map_err(at)?;
                Val::free(*case, Some((a, rep.clone())))
            }
            (TypedOp::Destruct(case), [Val::Free(f)]) => match &f.argument {
                Some((v, _)) if f.case == *case => v.clone(),
                _ => return Err(at(Fault::wd(WdKind::OutsideDomain))),
            },
            (TypedOp::IsCase(case), [Val::Free(f)]) => Val::bool(f.case == *case),
            (TypedOp::Freetype(cases), _) => {
                let mut sets = args.into_iter();
                let case = |(i, rep): (u32, &Option<R>)| {
                    (i, rep.as_ref().and_then(|rep| Some((sets.next()?, rep.clone()))))
                };
                Val::lazy(Lazy::Freetype((0u32..).zip(cases).map(case).collect()))
            }
            (op, args) => unreachable!("the type checker gives {op:?} other arguments than {args:?}"),
        })
    }
}

impl Node {
    /// A word that is being grown: functions are applied and sets are tested piece by piece.
    #[inline]
    fn growing(&self, env: &Env) -> Option<Arc<dyn Closure>> {
        let Node::Slot(s, _) = self else { return None };
        let Val::Lazy(l) = &env.slots[*s as usize] else { return None };
        match &*l.0 {
            Lazy::Closure(c) => Some(c.clone()),
            _ => None,
        }
    }
}

/// A value that may go into a set, pair or record: symbolic sets are expanded.
#[inline]
pub fn settled(v: Val, rep: &R) -> Res<Val> {
    if v.is_lazy() { force(v, rep) } else { Ok(v) }
}

/// Expands a symbolic set unless it is infinite.
fn settle_finite(v: Val, rep: &R) -> Res<Val> {
    if v.is_lazy() && !ops::unlisted(&v) { force(v, rep) } else { Ok(v) }
}

/// id(s), a relation of the type `out`.
fn identity(s: Val, out: &R) -> Res<Val> {
    if ops::symbolic(&s) {
        let kind = BuiltinKind::Identity(s);
        return Ok(Val::lazy(Lazy::Closure(Arc::new(Builtin { kind, rep: out.clone() }))));
    }
    ops::identity(&s, out)
}

/// The identity on all values of a type: the power 0 of any relation on it, as ProB has it.
fn identity_of_all(out: &R) -> Res<Val> {
    let (from, _) = out.as_rel();
    identity(Val::full(from).unwrap_or_else(|| Val::lazy(Lazy::All(from.clone()))), out)
}

pub(in crate::eval) fn unary(op: Unary, a: Val, rep: &R, out: &R) -> Res<Val> {
    Ok(match op {
        Unary::Neg => ops::neg(&a),
        Unary::First => a.first(rep),
        Unary::Second => a.second(rep),
        Unary::Card => ops::card(&a, rep)?,
        Unary::Min => ops::min_max(&a, rep, Ordering::Less)?,
        Unary::Max => ops::min_max(&a, rep, Ordering::Greater)?,
        Unary::Dom => ops::dom(&a, rep)?,
        Unary::Ran => ops::ran(&a, rep)?,
        Unary::Inverse => ops::inverse(&a, rep, out)?,
        Unary::GenUnion => ops::gen_union(&a, rep)?,
        Unary::GenInter => ops::gen_inter(&a, rep)?,
        Unary::Pow { nonempty, finite } => Val::lazy(Lazy::Pow { of: a, nonempty, finite }),
        Unary::Seqs(kind) => Val::lazy(Lazy::Seq { kind, of: a, most: None }),
        Unary::Identity => identity(a, out)?,
        Unary::Closure1 => ops::closure1(&a, rep)?,
        Unary::Closure => {
            // The reflexive part covers the whole type, as ProB and the B-Book have it.
            ops::union(identity_of_all(rep)?, ops::closure1(&a, rep)?, rep)?
        }
        Unary::Size => Val::I(ops::items(&a, rep)?.len() as i64),
        Unary::FirstItem => ops::nonempty_items(&a, rep)?[0].clone(),
        Unary::LastItem => {
            let items = ops::nonempty_items(&a, rep)?;
            items[items.len() - 1].clone()
        }
        Unary::Front => {
            let items = ops::nonempty_items(&a, rep)?;
            Val::seq(items[..items.len() - 1].to_vec())
        }
        Unary::Tail => Val::seq(ops::nonempty_items(&a, rep)?[1..].to_vec()),
        Unary::Rev => Val::seq(ops::items(&a, rep)?.iter().rev().cloned().collect()),
        Unary::Conc => {
            let inner = rep.as_rel().1;
            let mut all = Vec::new();
            for s in ops::items(&a, rep)?.iter() {
                all.extend(ops::items(s, inner)?.iter().cloned());
            }
            Val::seq(all)
        }
        Unary::Mu => {
            if ops::infinite(&a) {
                return Err(Fault::wd(WdKind::NotSingleton));
            }
            let a = force(a, rep)?;
            match (a.count(), a.elems().next()) {
                (1, Some(v)) => v,
                _ => return Err(Fault::wd(WdKind::NotSingleton)),
            }
        }
        Unary::Fnc => {
            // fnc(r): x ↦ r[{x}]
            let a = force(a, rep)?;
            let d = ops::dom(&a, rep)?;
            let (_, images) = out.as_rel();
            let mut pairs = Vec::new();
            for x in d.elems() {
                let mut ys = Vec::new();
                ops::at(&a, &x, rep, &mut |y| ys.push(y));
                pairs.push(Val::pair(x, Val::from_elems(ys, images), out.elem()));
            }
            Val::from_elems(pairs, out)
        }
        Unary::Rel => {
            // rel(f): all x ↦ y with y ∈ f(x)
            let a = force(a, rep)?;
            let mut pairs = Vec::new();
            for p in a.elems() {
                let (x, ys) = p.split(rep.elem());
                pairs.extend(ys.elems().map(|y| Val::pair(x.clone(), y, out.elem())));
            }
            Val::from_elems(pairs, out)
        }
    })
}

pub(in crate::eval) fn binary(op: Binary, a: Val, b: Val, ra: &R, rb: &R, out: &R) -> Res<Val> {
    Ok(match op {
        Binary::Add => ops::add(&a, &b),
        Binary::Sub => ops::sub(&a, &b),
        Binary::Mul => ops::mul(&a, &b)?,
        Binary::Div => ops::div(&a, &b)?,
        Binary::Mod => ops::modulo(&a, &b)?,
        Binary::Power => ops::power(&a, &b)?,
        Binary::Interval => ops::interval(&a, &b)?,
        Binary::Pair => Val::pair(settled(a, ra)?, settled(b, rb)?, out),
        Binary::Union => ops::union(a, b, out)?,
        Binary::Inter => ops::inter(a, b, out)?,
        Binary::Diff => ops::diff(a, b, out)?,
        Binary::Product => ops::product(a, b, out)?,
        Binary::Apply => ops::apply(&a, &settle_finite(b, rb)?, ra)?,
        Binary::Image => ops::image(&a, &b, ra)?,
        Binary::Reached => ops::reached(&a, &b, ra)?,
        Binary::Restrict(how) => {
            let (r, s) = if how.by_domain { (&b, &a) } else { (&a, &b) };
            ops::restrict(how, r, s, out)?
        }
        Binary::Override => ops::override_with(&a, &b, out)?,
        Binary::Compose => ops::compose(&a, &b, ra, rb, out)?,
        Binary::DirectProduct => ops::direct_product(&a, &b, ra, rb, out)?,
        Binary::ParallelProduct => ops::parallel_product(&a, &b, ra, rb, out)?,
        Binary::Seqs(kind) => match b {
            Val::I(n) => Val::lazy(Lazy::Seq { kind, of: a, most: Some(n) }),
            _ => return Err(Fault::limit("sequences of a length of more than 64 bits")),
        },
        Binary::Concat => ops::concat(&a, &b, out)?,
        Binary::Prepend => {
            let items = ops::items(&b, out)?;
            Val::seq(std::iter::once(settled(a, ra)?).chain(items.iter().cloned()).collect())
        }
        Binary::Append => {
            let items = ops::items(&a, out)?;
            let b = settled(b, rb)?;
            Val::seq(items.iter().cloned().chain(std::iter::once(b)).collect())
        }
        Binary::TakeFirst => {
            let items = ops::items(&a, out)?;
            Val::seq(items[..ops::length(&b, &items)?].to_vec())
        }
        Binary::DropFirst => {
            let items = ops::items(&a, out)?;
            Val::seq(items[ops::length(&b, &items)?..].to_vec())
        }
        Binary::Iterate => match &b {
            Val::I(0) => identity_of_all(out)?,
            Val::I(n) if *n > 0 => ops::iterate(&a, *n as u64, ra)?,
            Val::I(_) => return Err(Fault::wd(WdKind::NegativeIterate)),
            _ => return Err(Fault::limit("iterate with a count of more than 64 bits")),
        },
        Binary::Prj1 | Binary::Prj2 if ops::symbolic(&a) || ops::symbolic(&b) => {
            let kind = BuiltinKind::Projection { first: op == Binary::Prj1, a, b };
            Val::lazy(Lazy::Closure(Arc::new(Builtin { kind, rep: out.clone() })))
        }
        Binary::Prj1 | Binary::Prj2 => {
            let pairs = out.as_rel().0;
            let (a, b) = (force(a, ra)?, force(b, rb)?);
            let mut all = Vec::new();
            for x in a.elems() {
                for y in b.elems() {
                    let to = if op == Binary::Prj1 { x.clone() } else { y.clone() };
                    all.push(Val::pair(Val::pair(x.clone(), y, pairs), to, out.elem()));
                }
            }
            Val::from_elems(all, out)
        }
    })
}

impl Atom {
    pub(super) fn holds(&self, env: &mut Env) -> Res<bool> {
        Ok(match self {
            Atom::EqW(a, b) => a.word(env)? == b.word(env)?,
            Atom::InW(x, s) => match s.growing(env) {
                None => s.word(env)? >> x.word(env)? & 1 == 1,
                Some(partial) => {
                    let x = Val::W(x.word(env)?);
                    partial.contains(&x)?
                }
            },
            Atom::SubsetW(a, b) => a.word(env)? & !b.word(env)? == 0,
            Atom::StrictW(a, b) => {
                let (a, b) = (a.word(env)?, b.word(env)?);
                a & !b == 0 && a != b
            }
            Atom::Eq(a, b, rep) => {
                let (a, b) = (a.val(env)?, b.val(env)?);
                ops::equal(&a, &b, rep)?
            }
            Atom::Cmp(a, b, cmp) | Atom::CmpReal(a, b, cmp) => {
                let (a, b) = (a.val(env)?, b.val(env)?);
                cmp.holds(cmp_int(&a, &b))
            }
            Atom::In(x, s, rep) => {
                let x = settle_finite(x.val(env)?, rep.elem())?;
                let s = s.val(env)?;
                ops::member(&x, &s, rep)?
            }
            Atom::Subset(a, b, rep) => {
                let (a, b) = (a.val(env)?, b.val(env)?);
                ops::subset(&a, &b, rep)?
            }
            Atom::FiniteSubset(a, b, rep) => {
                let (a, b) = (a.val(env)?, b.val(env)?);
                ops::is_finite(&a, rep)? && ops::subset(&a, &b, rep)?
            }
            Atom::Strict(a, b, rep) => {
                let (a, b) = (a.val(env)?, b.val(env)?);
                ops::subset(&a, &b, rep)? && !ops::equal(&a, &b, rep)?
            }
            Atom::InInts(x, set) => {
                let x = x.val(env)?;
                match set {
                    IntSet::Integer => true,
                    IntSet::Natural => cmp_int(&x, &Val::I(0)) != Ordering::Less,
                    IntSet::Natural1 => cmp_int(&x, &Val::I(0)) == Ordering::Greater,
                }
            }
            Atom::InInterval { x, lo, hi } => {
                let (x, lo, hi) = (x.val(env)?, lo.val(env)?, hi.val(env)?);
                cmp_int(&lo, &x) != Ordering::Greater && cmp_int(&x, &hi) != Ordering::Greater
            }
            Atom::InFun { kind, f, from, to, rep } => {
                let (f, from, to) = (f.val(env)?, from.val(env)?, to.val(env)?);
                ops::in_functions(*kind, &f, &from, &to, rep)?
            }
            Atom::InSeq { kind, s, of, rep } => {
                let (s, of) = (s.val(env)?, of.val(env)?);
                ops::in_sequences(*kind, &s, &of, rep)?
            }
            Atom::InCompr { x, over } => {
                let x = settle_finite(x.val(env)?, over.rep.elem())?;
                over.contains(&x, env)?
            }
            Atom::Defined(n) => {
                n.val(env)?;
                true
            }
        })
    }
}
