//! Comprehensions, and the sets that are kept by their definition: a comprehension with what it captured, a recursive
//! function, an infinite relation with a fixed meaning.

use super::{Cmp, Compr, Env, Node, RangePart, settled};
use crate::value::fault::{Fault, Res, WdKind};
use crate::value::ops;
use crate::value::ranges::Ranges;
use crate::value::rep::{R, Rep, Shape};
use crate::value::val::{Closure, Lazy, Val};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, OnceLock};

/// How many elements of a set that cannot be listed are looked at, each by itself.
const MOST_VISITED: usize = 1 << 16;

impl Compr {
    /// Whether membership and application are tested without enumerating, in a type that may be infinite.
    pub(super) fn can_be_symbolic(&self) -> bool {
        !self.is_map && self.rep.elem().carrier == 0
    }

    /// The value, if what it reads is what it was the last time. A comprehension inside of another loop often does not
    /// depend on it.
    pub(super) fn remembered(&self, env: &Env) -> Option<Val> {
        let last = self.last.as_ref()?;
        // Another thread that looks at it is no reason to wait.
        let value = last.value.try_lock().ok()?;
        let (key, v) = value.as_ref()?;
        let mut here = last.reads.iter().map(|slot| &env.slots[*slot as usize]);
        key.iter().all(|k| here.next().is_some_and(|v| is_same(k, v))).then(|| v.clone())
    }

    pub(super) fn remember(&self, env: &Env, v: &Val) {
        if let Some(last) = &self.last
            && let Ok(mut value) = last.value.try_lock()
        {
            let key = last.reads.iter().map(|slot| env.slots[*slot as usize].clone()).collect();
            *value = Some((key, v.clone()));
        }
    }

    /// All elements, with repetitions.
    pub fn elements(&self, env: &mut Env, out: &mut Vec<Val>, limit: usize) -> Res<()> {
        let elem = self.rep.elem();
        let mut fault = None;
        let complete = self.plan.solve_all(env, &mut |env| {
            if let Some(e) = env.pending.clone() {
                Fault::gather(&mut fault, e);
                return Ok(true);
            }
            if out.len() >= limit {
                // Repetitions may be what fills it.
                out.sort_unstable();
                out.dedup();
                if out.len() >= limit {
                    return Err(crate::value::val::too_large("a comprehension").at(self.span));
                }
            }
            out.push(settled(self.element.val(env)?, elem)?);
            Ok(true)
        })?;
        match fault {
            Some(e) => Err(e),
            None => complete.map(|_| ()),
        }
    }

    pub(super) fn sum(&self, env: &mut Env, product: bool) -> Res<Val> {
        let is_real = matches!(self.rep.elem().shape, Shape::Real);
        let mut total = Val::I(i64::from(product));
        if is_real {
            total = ops::real_of(&total)?;
        }
        let mut fault = None;
        let mut seen = std::collections::HashSet::new();
        let complete = self.plan.solve_all(env, &mut |env| {
            if let Some(e) = env.pending.clone() {
                Fault::gather(&mut fault, e);
                return Ok(true);
            }
            if self.plan.may_repeat {
                let tuple: Vec<Val> = self.slots.iter().map(|s| env.slots[*s as usize].clone()).collect();
                if !seen.insert(tuple) {
                    return Ok(true);
                }
            }
            let v = self.element.val(env)?;
            total = if is_real {
                ops::real(if product { ops::Real::Mul } else { ops::Real::Add }, &total, &v)?
            } else if product {
                ops::mul(&total, &v)?
            } else {
                ops::add(&total, &v)
            };
            Ok(true)
        })?;
        match fault {
            Some(e) => Err(e),
            None => complete.map(|_| total),
        }
    }

    /// Whether all it ranges over can be visited, and there is a limit or a fault in what it says of them. That those
    /// cannot be visited says nothing.
    fn visited(&self, env: &mut Env) -> Res<()> {
        let (mut inside, mut seen) = (None, 0);
        let all = self.plan.solve_all(env, &mut |env| {
            seen += 1;
            if let Some(e) = env.pending.clone() {
                Fault::gather(&mut inside, e);
            } else if let Some(Err(e)) = self.value.as_ref().map(|value| value.val(env)) {
                // An infinite set is a value like others: only that there is none is a fault.
                Fault::gather(&mut inside, e);
            }
            Ok(seen < MOST_VISITED)
        });
        match (all, inside) {
            (Ok(Ok(_)), Some(e)) if seen < MOST_VISITED => Err(e),
            _ => Ok(()),
        }
    }

    /// Binds the bound slots to the parts of a tuple (left-nested pairs).
    fn bind(&self, tuple: &Val, env: &mut Env) {
        self.bind_first(self.slots.len(), tuple, env);
    }

    /// The same for some of them, from the left; at least one.
    fn bind_first(&self, n: usize, tuple: &Val, env: &mut Env) {
        let mut rest = tuple.clone();
        let mut rep: R = tuple_rep(&self.slot_reps[..n]);
        for (i, slot) in self.slots[..n].iter().enumerate().skip(1).rev() {
            let second = rest.second(&rep);
            let first = rest.first(&rep);
            let inner = rep.as_pair().0.clone();
            env.set(*slot, second);
            rest = first;
            rep = inner;
            debug_assert!(i > 0);
        }
        env.set(self.slots[0], rest);
    }

    /// Whether x is an element, by testing the predicate.
    pub(super) fn contains(&self, x: &Val, env: &mut Env) -> Res<bool> {
        match &self.value {
            None if self.is_map => {
                // A set {E | P} has no inverse to test with: look for a solution.
                let mut out = Vec::new();
                self.elements(env, &mut out, crate::value::val::MAX_SET)?;
                Ok(out.contains(x))
            }
            None => {
                self.bind(x, env);
                self.test.holds(env)
            }
            Some(value) => {
                let pair = self.rep.elem();
                let (arg, result) = x.split(pair);
                self.bind(&arg, env);
                if !self.test.holds(env)? {
                    return Ok(false);
                }
                let v = value.val(env)?;
                ops::equal(&v, &result, pair.as_pair().1)
            }
        }
    }

    /// What the set relates to x. A function whose predicate is false at x has nothing there; a fault inside its
    /// body is a fault.
    fn images(&self, x: &Val, env: &mut Env) -> Res<Vec<Val>> {
        let mut out = Vec::new();
        match &self.value {
            Some(value) => {
                self.bind(x, env);
                if self.test.holds(env)? {
                    out.push(value.val(env)?);
                }
            }
            None if self.pointwise.is_some() => return self.found_at(x, env),
            None => {
                let mut all = Vec::new();
                self.elements(env, &mut all, crate::value::val::MAX_SET)?;
                ops::at(&Val::from_elems(all, &self.rep), x, &self.rep, &mut |y| out.push(y));
            }
        }
        Ok(out)
    }

    /// Whether it relates something to x: the value of a function need not be computed, and one image is enough.
    fn in_domain(&self, x: &Val, env: &mut Env) -> Res<bool> {
        let (Some(plan), None, Some((_, front))) = (&self.pointwise, &self.value, self.slots.split_last())
        else {
            if self.value.is_none() {
                return Ok(!self.images(x, env)?.is_empty());
            }
            self.bind(x, env);
            return self.test.holds(env);
        };
        self.bind_first(front.len(), x, env);
        let (mut is_found, mut fault) = (false, None);
        let complete = plan.solve_all(env, &mut |env| {
            match env.pending.clone() {
                Some(e) => Fault::gather(&mut fault, e),
                None => is_found = true,
            }
            Ok(!is_found)
        })?;
        if is_found {
            // What was not looked at does not matter.
            env.truncated = None;
            return Ok(true);
        }
        match fault {
            Some(e) => Err(e),
            None => complete.map(|_| false),
        }
    }

    /// What an infinite relation relates to x, each once.
    fn found_at(&self, x: &Val, env: &mut Env) -> Res<Vec<Val>> {
        let (Some(plan), Some((last, front))) = (&self.pointwise, self.slots.split_last()) else {
            return Err(Fault::limit("an infinite comprehension would have to be enumerated").at(self.span));
        };
        self.bind_first(front.len(), x, env);
        let rep = &self.slot_reps[front.len()];
        let mut out = Vec::new();
        let mut fault = None;
        let complete = plan.solve_all(env, &mut |env| {
            match env.pending.clone() {
                Some(e) => Fault::gather(&mut fault, e),
                None if out.len() >= crate::value::val::MAX_SET => {
                    return Err(crate::value::val::too_large("an image").at(self.span));
                }
                None => out.push(settled(env.slots[*last as usize].clone(), rep)?),
            }
            Ok(true)
        })?;
        out.sort_unstable();
        out.dedup();
        match fault {
            Some(e) => Err(e),
            None => complete.map(|_| out),
        }
    }

    /// The value at x when the set is used as a function.
    fn apply(&self, x: &Val, env: &mut Env) -> Res<Val> {
        match &self.value {
            Some(value) => {
                self.bind(x, env);
                if !self.test.holds(env)? {
                    return Err(Fault::wd(WdKind::OutsideDomain).at(self.span));
                }
                value.val(env)
            }
            None if self.pointwise.is_some() => {
                let mut found = self.found_at(x, env)?.into_iter();
                match (found.next(), found.next()) {
                    (Some(y), None) => Ok(y),
                    (Some(_), Some(_)) => Err(Fault::wd(WdKind::NotFunctional).at(self.span)),
                    (None, _) => Err(Fault::wd(WdKind::OutsideDomain).at(self.span)),
                }
            }
            None => {
                let mut out = Vec::new();
                self.elements(env, &mut out, crate::value::val::MAX_SET)?;
                ops::apply(&Val::from_elems(out, &self.rep), x, &self.rep)
            }
        }
    }
}

/// Whether two values are certainly equal, as far as that is quickly said.
fn is_same(a: &Val, b: &Val) -> bool {
    match (a, b) {
        (Val::Big(a), Val::Big(b)) => Arc::ptr_eq(a, b),
        (Val::Str(a), Val::Str(b)) => Arc::ptr_eq(a, b),
        (Val::Pair(a), Val::Pair(b)) => Arc::ptr_eq(a, b),
        (Val::Rec(a), Val::Rec(b)) | (Val::Set(a), Val::Set(b)) | (Val::Seq(a), Val::Seq(b)) => {
            Arc::ptr_eq(a, b)
        }
        (Val::Bits(a), Val::Bits(b)) => Arc::ptr_eq(a, b),
        // Words, small integers, symbolic sets as objects.
        _ => a == b,
    }
}

impl RangePart {
    fn ranges(&self, env: &mut Env) -> Res<Option<Ranges>> {
        let int = |n: &Node, env: &mut Env| n.val(env).map(|v| v.to_bigint());
        Ok(Some(match self {
            RangePart::In { set, rep, negated } => {
                let set = set.val(env)?;
                let set = ops::ranges(&set, rep);
                return Ok(set.map(|s| if *negated { s.complement() } else { s }));
            }
            RangePart::Cmp(cmp, n) => {
                let n = int(n, env)?;
                match cmp {
                    Cmp::Lt => Ranges::between(None, Some(n - 1)),
                    Cmp::Le => Ranges::between(None, Some(n)),
                    Cmp::Gt => Ranges::between(Some(n + 1), None),
                    Cmp::Ge => Ranges::between(Some(n), None),
                }
            }
            RangePart::Is { value, negated } => {
                let one = Ranges::of([int(value, env)?]);
                if *negated { one.complement() } else { one }
            }
        }))
    }
}

/// Representation of the tuple of some bound variables.
pub fn tuple_rep(parts: &[R]) -> R {
    let mut reps = parts.iter();
    let Some(first) = reps.next() else { unreachable!("a binder binds at least one variable") };
    reps.fold(first.clone(), |a, b| crate::value::rep::Rep::pair(a, b.clone()))
}

/// A recursive function while and after it is defined: closures that mention it find its value here.
///
/// The value holds the closures and the closures hold the cell, so it is never freed; there is one for each
/// recursive constant of a valuation.
pub struct Recursive {
    pub value: OnceLock<Val>,
    pub rep: R,
}

impl Recursive {
    fn value(&self) -> Res<&Val> {
        self.value.get().ok_or_else(|| Fault::limit("a function is used while it is being defined"))
    }
}

impl Closure for Recursive {
    fn contains(&self, v: &Val) -> Res<bool> {
        ops::member(v, self.value()?, &self.rep)
    }

    fn apply(&self, x: &Val) -> Res<Val> {
        ops::apply(self.value()?, x, &self.rep)
    }

    fn images(&self, x: &Val) -> Res<Vec<Val>> {
        let mut out = Vec::new();
        ops::images(self.value()?, x, &self.rep, &mut |y| out.push(y))?;
        Ok(out)
    }

    fn elements(&self, _: usize) -> Res<Vec<Val>> {
        Err(Fault::limit("a recursive function would have to be enumerated"))
    }

    fn is_recursive(&self) -> bool {
        true
    }

    fn is_infinite(&self) -> bool {
        true
    }
}

/// A comprehension with what it captured.
struct Captured {
    code: Arc<Compr>,
    slots: Vec<Val>,
    stop: Option<Arc<AtomicBool>>,
}

pub(super) fn closure(code: &Arc<Compr>, env: &Env) -> Val {
    Val::lazy(Lazy::Closure(Arc::new(Captured {
        code: code.clone(),
        slots: env.slots.clone(),
        stop: env.stop.clone(),
    })))
}

impl Captured {
    fn env(&self) -> Env {
        Env { slots: self.slots.clone(), stop: self.stop.clone(), ..Env::default() }
    }
}

thread_local! {
    /// How many closures are being evaluated inside each other.
    static DEPTH: std::cell::Cell<u32> = const { std::cell::Cell::new(0) };
}

/// Recursive functions deeper than this are a limit, not a crash.
const MAX_DEPTH: u32 = 4_000;

impl Captured {
    /// Evaluates in an environment of its own. An enumeration that was cut short in there would go unnoticed
    /// outside, so it is a fault.
    fn inside<T>(&self, f: impl FnOnce(&mut Env) -> Res<T>) -> Res<T> {
        let depth = DEPTH.get();
        if depth >= MAX_DEPTH {
            return Err(Fault::limit(format!("recursion deeper than {MAX_DEPTH}")).at(self.code.span));
        }
        DEPTH.set(depth + 1);
        let mut env = self.env();
        let out = f(&mut env);
        DEPTH.set(depth);
        match env.truncated {
            Some(span) => Err(Fault::limit("an unbounded integer inside a symbolic set").at(span)),
            None => out,
        }
    }
}

impl Closure for Captured {
    fn contains(&self, v: &Val) -> Res<bool> {
        self.inside(|env| self.code.contains(v, env))
    }

    fn apply(&self, x: &Val) -> Res<Val> {
        self.inside(|env| self.code.apply(x, env))
    }

    fn images(&self, x: &Val) -> Res<Vec<Val>> {
        self.inside(|env| self.code.images(x, env))
    }

    fn in_domain(&self, x: &Val) -> Res<bool> {
        self.inside(|env| self.code.in_domain(x, env))
    }

    fn domain(&self) -> Option<Val> {
        let is_all = self.code.function.as_ref().is_some_and(|f| f.is_all);
        if is_all { self.domain_within() } else { None }
    }

    fn domain_within(&self) -> Option<Val> {
        let f = self.code.function.as_ref()?;
        // A fault is found by whoever tests an element.
        let mut sets = self.inside(|env| f.domain.iter().map(|set| set.val(env)).collect::<Res<Vec<_>>>());
        let mut sets = sets.as_mut().ok()?.drain(..);
        let first = sets.next()?;
        Some(sets.fold(first, |a, b| Val::lazy(Lazy::Product(a, b))))
    }

    fn is_function(&self) -> bool {
        self.code.value.is_some()
    }

    fn values_lie_in(&self, set: &Val, rep: &Rep, is_whole: bool) -> bool {
        let Some(f) = &self.code.function else { return false };
        let range = f.value.as_ref().and_then(|value| {
            let range = self.inside(|env| {
                let mut bound = Vec::new();
                for (arg, rep) in f.domain.iter().zip(&self.code.slot_reps) {
                    bound.push(ops::ranges(&arg.val(env)?, &Rep::set(rep.clone())).and_then(|r| r.hull()));
                }
                Ok(value.range(&bound, env))
            });
            range.ok().flatten()
        });
        match range {
            _ if is_whole && f.has_value => true,
            Some(_) if is_whole => true,
            Some((low, high)) => {
                ops::ranges(set, rep).is_some_and(|set| Ranges::between(low, high).is_within(&set))
            }
            None => false,
        }
    }

    fn elements(&self, limit: usize) -> Res<Vec<Val>> {
        if self.code.infinite {
            return Err(
                Fault::limit("an infinite comprehension would have to be enumerated").at(self.code.span)
            );
        }
        let mut out = Vec::new();
        self.inside(|env| self.code.elements(env, &mut out, limit))?;
        Ok(out)
    }

    /// A recursive function is not computed everywhere, which may take for ever; it is seen where it is applied.
    fn visited(&self) -> Res<()> {
        let is_recursive = |v: &Val| match v {
            Val::Lazy(l) => matches!(&*l.0, Lazy::Closure(c) if c.is_recursive()),
            _ => false,
        };
        if self.code.infinite || self.slots.iter().any(is_recursive) {
            return Ok(());
        }
        self.code.visited(&mut self.env())
    }

    fn ranges(&self) -> Option<Ranges> {
        let parts = self.code.ranges.as_ref()?;
        let all = self.inside(|env| {
            let mut all = Some(Ranges::all());
            for part in parts {
                let part = part.ranges(env)?;
                all = all.zip(part).map(|(a, b)| a.inter(&b));
            }
            Ok(all)
        });
        // A fault is found by whoever tests an element.
        all.ok().flatten()
    }

    /// A closure is made only of what could not be expanded.
    fn is_infinite(&self) -> bool {
        true
    }
}

/// Infinite relations with a fixed meaning.
pub(super) struct Builtin {
    pub kind: BuiltinKind,
    pub rep: R,
}

pub(super) enum BuiltinKind {
    Identity(Val),
    Projection { first: bool, a: Val, b: Val },
}

impl Builtin {
    /// The value at x, if x is in the domain.
    fn image(&self, x: &Val) -> Res<Option<Val>> {
        let (from, _) = self.rep.as_rel();
        Ok(match &self.kind {
            BuiltinKind::Identity(s) => ops::member(x, s, &Rep::set(from.clone()))?.then(|| x.clone()),
            BuiltinKind::Projection { first, a, b } => {
                let (ra, rb) = from.as_pair();
                let (l, r) = x.split(from);
                // Both are asked: what has no value in one is not made up for by the other.
                let left = ops::member(&l, a, &Rep::set(ra.clone()))?;
                let right = ops::member(&r, b, &Rep::set(rb.clone()))?;
                (left && right).then_some(if *first { l } else { r })
            }
        })
    }
}

impl Closure for Builtin {
    fn contains(&self, v: &Val) -> Res<bool> {
        let (x, y) = v.split(self.rep.elem());
        Ok(self.image(&x)?.as_ref() == Some(&y))
    }

    fn apply(&self, x: &Val) -> Res<Val> {
        self.image(x)?.ok_or_else(|| Fault::wd(WdKind::OutsideDomain))
    }

    fn images(&self, x: &Val) -> Res<Vec<Val>> {
        Ok(self.image(x)?.into_iter().collect())
    }

    fn elements(&self, _: usize) -> Res<Vec<Val>> {
        Err(Fault::limit("an infinite relation would have to be enumerated"))
    }

    fn domain(&self) -> Option<Val> {
        match &self.kind {
            BuiltinKind::Identity(s) => Some(s.clone()),
            BuiltinKind::Projection { a, b, .. } => Some(Val::lazy(Lazy::Product(a.clone(), b.clone()))),
        }
    }

    fn is_function(&self) -> bool {
        true
    }

    fn values_lie_in(&self, set: &Val, rep: &Rep, _: bool) -> bool {
        let values = match &self.kind {
            BuiltinKind::Identity(s) => s,
            BuiltinKind::Projection { first, a, b } => {
                if *first {
                    a
                } else {
                    b
                }
            }
        };
        ops::subset(values, set, rep).unwrap_or(false)
    }

    fn inverse(&self) -> Option<Val> {
        match &self.kind {
            BuiltinKind::Identity(s) => {
                let kind = BuiltinKind::Identity(s.clone());
                Some(Val::lazy(Lazy::Closure(Arc::new(Builtin { kind, rep: self.rep.clone() }))))
            }
            BuiltinKind::Projection { .. } => None,
        }
    }

    fn is_infinite(&self) -> bool {
        true
    }
}
