//! Large unknowns are grown piece by piece: a function point by point, a set element by element. After each
//! piece the conjuncts that speak of it are tested on what is there; a false one cuts the branch off.
//!
//! Kleene's logic makes this sound with the evaluator as it is: what depends on a missing piece is a fault, and a
//! conjunction is false only if some conjunct is false whatever the missing pieces are. Every grown value passes
//! the ordinary tests once more when it is whole.

use super::by_element::{Allowed, ByElement};
use super::{Env, Node, Pattern, Slot, Test, settled};
use crate::eval::env::Then;
use crate::value::fault::{Fault, NOWHERE, Res, WdKind};
use crate::value::ops;
use crate::value::ops::force;
use crate::value::rep::{R, Rep};
use crate::value::val::{Closure, FunKind, Lazy, Val};
use std::sync::Arc;

/// Where an unknown lives.
#[derive(Clone, Debug)]
pub enum Space {
    /// An element of a set that is run through.
    In(Node, R),
    /// A function; `rep` represents it.
    Fun { kind: FunKind, from: Node, to: Box<Space>, rep: R },
    /// A subset; `rep` represents the set and its subsets.
    Subset { of: Node, rep: R },
    /// Values of an infinite type: only what an equation gives at each point is tried.
    Defined,
}

/// What a conjunct says of the function's value at a point.
#[derive(Clone, Debug)]
pub struct Equation {
    /// For `!t.(P => f(t) = V)`.
    pub at: Option<Everywhere>,
    /// For `f(E) = V`: the point itself.
    pub point: Option<Node>,
    pub value: EquationValue,
}

/// At which points an equation under a quantifier speaks of the function: those that are `pattern + shift` for
/// values of the bound variables that fulfil the guard.
#[derive(Clone, Debug)]
pub struct Everywhere {
    /// Binds every bound variable.
    pub pattern: Pattern,
    pub shift: i64,
    pub guard: Test,
}

impl Everywhere {
    /// Binds the variables for a point, if there are such.
    fn speaks_of(&self, x: &Val, env: &mut Env) -> bool {
        let x = if self.shift == 0 { x.clone() } else { ops::sub(x, &Val::I(self.shift)) };
        matches!(self.pattern.matches(x, env), Ok(true)) && matches!(self.guard.holds(env), Ok(true))
    }
}

#[derive(Clone, Debug)]
pub enum EquationValue {
    Is(Node, R),
    /// `f(E) : S`
    In(Node, R),
    /// `size(f(E)) = L & !j.(P => f(E)(j) = V)`, where f(E) is known to be a sequence.
    Items(Box<Items>),
}

/// A sequence by its items.
#[derive(Clone, Debug)]
pub struct Items {
    pub length: Node,
    /// Where the place of an item is.
    pub place: Slot,
    pub guard: Test,
    pub value: Node,
    /// Of the sequence.
    pub rep: R,
}

/// Longer sequences are not made of single items.
const MAX_ITEMS: i64 = 100_000;

impl Items {
    /// The sequence, if every item is given.
    fn sequence(&self, env: &mut Env) -> Option<Val> {
        let Ok(Val::I(length @ 0..=MAX_ITEMS)) = self.length.val(env) else { return None };
        let mut items = Vec::new();
        for j in 1..=length {
            env.set(self.place, Val::I(j));
            if !matches!(self.guard.holds(env), Ok(true)) {
                return None;
            }
            items.push(settled(self.value.val(env).ok()?, self.rep.as_rel().1).ok()?);
        }
        Some(if items.is_empty() { Val::empty(&self.rep) } else { Val::seq(items) })
    }
}

/// What a conjunct says of the number of the unknown's elements: `card(x) <= E` and the like.
#[derive(Clone, Debug)]
pub struct Size {
    pub says: Says,
    pub number: Node,
}

#[derive(Clone, Copy, Debug)]
pub enum Says {
    AtLeast,
    AtMost,
    Above,
    Below,
    Exactly,
}

/// How many elements a grown value may have. Pieces that leave no way to such a number are not tried:
/// the conjunct that says so would be false of every value made of them.
#[derive(Clone, Copy)]
struct Limits {
    least: usize,
    most: usize,
}

impl Limits {
    const NONE: Limits = Limits { least: 0, most: usize::MAX };

    /// A bound without a value, or with a large one, is left to the test of the whole.
    fn of(sizes: &[Size], env: &mut Env) -> Limits {
        let mut limits = Limits::NONE;
        for size in sizes {
            let Ok(Val::I(n)) = size.number.val(env) else { continue };
            let (least, most) = match size.says {
                Says::AtLeast => (n, i64::MAX),
                Says::Above => (n.saturating_add(1), i64::MAX),
                Says::AtMost => (0, n),
                Says::Below => (0, n.saturating_sub(1)),
                Says::Exactly => (n, n),
            };
            // No set has less than no elements.
            let Ok(most) = usize::try_from(most) else { return Limits { least: 1, most: 0 } };
            limits.least = limits.least.max(usize::try_from(least).unwrap_or(0));
            limits.most = limits.most.min(most);
        }
        limits
    }

    /// Whether so many chosen elements, with at most so many to come, may become a number within the limits.
    fn allow(self, chosen: usize, to_come: usize) -> bool {
        chosen <= self.most && chosen.saturating_add(to_come) >= self.least
    }
}

#[derive(Clone, Debug)]
pub struct Grow {
    pub slot: Slot,
    pub space: Space,
    /// What is said of its size.
    pub sizes: Vec<Size>,
    /// What is said of its elements, where the space is [`Space::Subset`].
    pub by_element: Vec<ByElement>,
    /// Conjuncts that speak of this unknown and of known things only.
    pub tests: Vec<Test>,
    /// Where the range is [`Space::Defined`].
    pub equations: Vec<Equation>,
}

/// A space with its sets computed.
enum Ground {
    In(Vec<Val>),
    Fun { kind: FunKind, from: Arc<[Val]>, domain: Val, to: Box<Ground>, rep: R },
    Subset { of: Arc<[Val]>, rep: R },
    Defined,
}

/// A value that depends on a piece not there yet. Nobody sees it outside of this module's tests.
pub(super) fn not_yet() -> Box<Fault> {
    Box::new(Fault::Limit(NOWHERE, String::new()))
}

impl Space {
    fn ground(&self, env: &mut Env) -> Res<Ground> {
        Ok(match self {
            Space::In(node, rep) => {
                let set = node.val(env)?;
                let mut all = Vec::new();
                ops::each(&set, rep, &mut |v| {
                    if all.len() >= crate::value::val::MAX_SET {
                        return Err(crate::value::val::too_large("a set"));
                    }
                    all.push(v);
                    Ok(true)
                })?;
                Ground::In(all)
            }
            Space::Fun { kind, from, to, rep } => {
                let side = Rep::set(rep.as_rel().0.clone());
                let domain = force(from.val(env)?, &side)?;
                let from = domain.elems().collect();
                Ground::Fun { kind: *kind, from, domain, to: Box::new(to.ground(env)?), rep: rep.clone() }
            }
            Space::Subset { of, rep } => {
                let of = force(of.val(env)?, rep)?;
                Ground::Subset { of: of.elems().collect(), rep: rep.clone() }
            }
            Space::Defined => Ground::Defined,
        })
    }
}

impl Grow {
    /// Binds the slot to every member of the space that no test refutes.
    pub fn run(&self, env: &mut Env, found: Then) -> Res<bool> {
        let ground = self.space.ground(env)?;
        let limits = Limits::of(&self.sizes, env);
        let allowed = match &ground {
            Ground::Subset { of, .. } => {
                let mut allowed = vec![[true, true]; of.len()];
                for one in &self.by_element {
                    // A conjunct that says nothing is still tested when the set is whole.
                    let _ = one.restrict(of, &mut allowed, env);
                }
                allowed
            }
            _ => vec![],
        };
        let mut viable = |env: &mut Env, v: Val| {
            env.go_on()?;
            env.set(self.slot, v);
            for t in &self.tests {
                if let Ok(false) = t.holds(env) {
                    return Ok(false);
                }
            }
            Ok(true)
        };
        if let Ground::Fun { kind, from, domain, to, rep } = &ground
            && matches!(**to, Ground::Defined)
        {
            let growing = Growing { kind: *kind, from, domain, to, rep, limits };
            let mut chosen = vec![None; from.len()];
            return self.define(&growing, &mut chosen, None, env, &mut viable, found);
        }
        let mut done = |env: &mut Env, v: Val| {
            env.set(self.slot, v);
            found(env)
        };
        if let Ground::Subset { of, rep } = &ground {
            let choosing = Choosing { of, rep, limits, allowed: &allowed };
            return subset(&choosing, &mut Vec::new(), 0, env, &mut viable, &mut done);
        }
        grow(&ground, limits, env, &mut viable, &mut done)
    }

    /// Chooses the values at the points, each among those that an equation gives; the next point is one of which an equation
    /// speaks. All solutions are found whatever it is, since every one of them has one of these values there.
    fn define(
        &self,
        growing: &Growing,
        chosen: &mut Vec<Option<Val>>,
        last: Option<usize>,
        env: &mut Env,
        viable: Viable,
        found: Then,
    ) -> Res<bool> {
        env.go_on()?;
        env.set(self.slot, growing.scattered(chosen));
        let Some((at, candidates)) = self.next_point(growing, chosen, last, env)? else {
            return growing.point(chosen.len(), chosen, env, viable, &mut |env, v| {
                env.set(self.slot, v);
                found(env)
            });
        };
        for y in candidates {
            if growing.kind.injective && chosen.iter().any(|z| z.as_ref() == Some(&y)) {
                continue;
            }
            chosen[at] = Some(y);
            if viable(env, growing.scattered(chosen))?
                && !self.define(growing, chosen, Some(at), env, viable, found)?
            {
                return Ok(false);
            }
        }
        chosen[at] = None;
        Ok(true)
    }

    /// A point without a value, and those it may have; `None` if all points have values. The neighbours of the last one come
    /// first: mostly an equation speaks of one of them.
    fn next_point(
        &self,
        growing: &Growing,
        chosen: &[Option<Val>],
        last: Option<usize>,
        env: &mut Env,
    ) -> Res<Option<(usize, Vec<Val>)>> {
        let after = last.map_or(0, |at| at + 1);
        let before = last.and_then(|at| at.checked_sub(1));
        let mut is_whole = true;
        for at in [after].into_iter().chain(before).chain(0..chosen.len()) {
            if !matches!(chosen.get(at), Some(None)) {
                continue;
            }
            is_whole = false;
            if let Some(values) = self.candidates(&growing.from[at], growing.rep, env) {
                return Ok(Some((at, values)));
            }
            env.go_on()?;
        }
        if is_whole {
            return Ok(None);
        }
        Err(Fault::limit("a function to an infinite set that no equation gives at every point"))
    }

    /// The values that an equation allows at a point, from the first one that says anything.
    fn candidates(&self, x: &Val, rep: &R, env: &mut Env) -> Option<Vec<Val>> {
        for eq in &self.equations {
            if eq.at.as_ref().is_some_and(|e| !e.speaks_of(x, env)) {
                continue;
            }
            if let Some(point) = &eq.point {
                match point.val(env) {
                    Ok(p) if p == *x => {}
                    _ => continue,
                }
            }
            match &eq.value {
                EquationValue::Is(node, _) => {
                    if let Ok(v) = node.val(env)
                        && let Ok(v) = settled(v, rep.as_rel().1)
                    {
                        return Some(vec![v]);
                    }
                }
                EquationValue::Items(items) => {
                    if let Some(v) = items.sequence(env) {
                        return Some(vec![v]);
                    }
                }
                EquationValue::In(node, set) => {
                    let mut all = Vec::new();
                    let run = node.val(env).and_then(|s| {
                        ops::each(&s, set, &mut |v| {
                            if all.len() > 100_000 {
                                return Err(crate::value::val::too_large("a set"));
                            }
                            all.push(v);
                            Ok(true)
                        })
                    });
                    if run.is_ok() {
                        return Some(all);
                    }
                }
            }
        }
        None
    }
}

type Viable<'a> = &'a mut dyn FnMut(&mut Env, Val) -> Res<bool>;
type Done<'a> = &'a mut dyn FnMut(&mut Env, Val) -> Res<bool>;

fn grow(ground: &Ground, limits: Limits, env: &mut Env, viable: Viable, done: Done) -> Res<bool> {
    match ground {
        Ground::In(items) => {
            for v in items {
                if viable(env, v.clone())? && !done(env, v.clone())? {
                    return Ok(false);
                }
            }
            Ok(true)
        }
        Ground::Fun { kind, from, domain, to, rep } => {
            let growing = Growing { kind: *kind, from, domain, to, rep, limits };
            growing.point(0, &mut vec![None; from.len()], env, viable, done)
        }
        // Only as the range of a function, which `define` handles.
        Ground::Defined => Err(Fault::limit("an infinite set would have to be enumerated")),
        Ground::Subset { of, rep } => {
            let choosing = Choosing { of, rep, limits, allowed: &[] };
            subset(&choosing, &mut Vec::new(), 0, env, viable, done)
        }
    }
}

struct Growing<'g> {
    kind: FunKind,
    from: &'g Arc<[Val]>,
    domain: &'g Val,
    to: &'g Ground,
    rep: &'g R,
    limits: Limits,
}

impl Growing<'_> {
    /// Chooses the value at point `at`; the ones before are chosen (`None`: outside the domain).
    fn point(
        &self,
        at: usize,
        chosen: &mut Vec<Option<Val>>,
        env: &mut Env,
        viable: Viable,
        done: Done,
    ) -> Res<bool> {
        let total_points = self.from.len();
        if at == total_points {
            let pairs = self.from.iter().zip(chosen.iter());
            let pairs =
                pairs.filter_map(|(x, y)| Some(Val::pair(x.clone(), y.clone()?, self.rep.elem()))).collect();
            let whole = Val::from_elems(pairs, self.rep);
            if self.kind.surjective && !self.covers(chosen) {
                return Ok(true);
            }
            return if viable(env, whole.clone())? { done(env, whole) } else { Ok(true) };
        }
        let so_far = chosen[..at].iter().flatten().count();
        let to_come = total_points - at - 1;
        if !self.kind.total && self.limits.allow(so_far, to_come) {
            chosen[at] = None;
            if !self.is_short(chosen, at + 1)
                && viable(env, self.partial(chosen, at + 1))?
                && !self.point(at + 1, chosen, env, viable, done)?
            {
                return Ok(false);
            }
        }
        if !self.limits.allow(so_far + 1, to_come) {
            return Ok(true);
        }
        // The parts of the value at this point are tested with the function around them, so the closures below
        // share what is chosen.
        let shared = std::cell::RefCell::new(std::mem::take(chosen));
        let viable = std::cell::RefCell::new(viable);
        // What is said of the function's size is not said of its values'.
        let out = grow(
            self.to,
            Limits::NONE,
            env,
            &mut |env, y| {
                let v = {
                    let mut chosen = shared.borrow_mut();
                    if self.kind.injective && chosen[..at].iter().any(|z| z.as_ref() == Some(&y)) {
                        return Ok(false);
                    }
                    chosen[at] = Some(y);
                    if self.is_short(&chosen, at + 1) {
                        return Ok(false);
                    }
                    self.partial(&chosen, at + 1)
                };
                (viable.borrow_mut())(env, v)
            },
            &mut |env, y| {
                let mut mine = shared.take();
                mine[at] = Some(y);
                let go = self.point(at + 1, &mut mine, env, &mut **viable.borrow_mut(), done);
                *shared.borrow_mut() = mine;
                go
            },
        );
        *chosen = shared.into_inner();
        out
    }

    /// Whether more values are left out of what a surjection has at the first points than there are points left.
    fn is_short(&self, chosen: &[Option<Val>], known: usize) -> bool {
        let (true, Ground::In(items)) = (self.kind.surjective, self.to) else { return false };
        let left = self.from.len() - known;
        let is_missing = |y: &&Val| !chosen[..known].iter().any(|c| c.as_ref() == Some(y));
        items.iter().filter(is_missing).nth(left).is_some()
    }

    fn covers(&self, chosen: &[Option<Val>]) -> bool {
        match self.to {
            Ground::In(items) => items.iter().all(|y| chosen.iter().any(|c| c.as_ref() == Some(y))),
            // A surjection onto functions or sets is tested when it is whole.
            _ => true,
        }
    }

    /// A total function that is known at the points that have values.
    fn scattered(&self, chosen: &[Option<Val>]) -> Val {
        Val::lazy(Lazy::Closure(Arc::new(PartialFun {
            from: self.from.clone(),
            chosen: chosen.iter().map(|y| y.clone().map(Some)).collect(),
            domain: self.kind.total.then(|| self.domain.clone()),
            rep: self.rep.clone(),
        })))
    }

    fn partial(&self, chosen: &[Option<Val>], known: usize) -> Val {
        Val::lazy(Lazy::Closure(Arc::new(PartialFun {
            from: self.from.clone(),
            chosen: chosen[..known].iter().map(|y| Some(y.clone())).collect(),
            domain: self.kind.total.then(|| self.domain.clone()),
            rep: self.rep.clone(),
        })))
    }
}

/// A set of whose elements some are chosen.
struct Choosing<'g> {
    of: &'g Arc<[Val]>,
    rep: &'g R,
    limits: Limits,
    /// By candidate; nothing is said of those that are missing here.
    allowed: &'g [Allowed],
}

fn subset(
    choosing: &Choosing,
    chosen: &mut Vec<Val>,
    at: usize,
    env: &mut Env,
    viable: Viable,
    done: Done,
) -> Res<bool> {
    let Choosing { of, rep, limits, allowed } = choosing;
    let Some(v) = of.get(at) else {
        let whole = Val::from_elems(chosen.clone(), rep);
        return if viable(env, whole.clone())? { done(env, whole) } else { Ok(true) };
    };
    for take in [false, true] {
        if !limits.allow(chosen.len() + usize::from(take), of.len() - at - 1)
            || allowed.get(at).is_some_and(|a| !a[usize::from(take)])
        {
            continue;
        }
        if take {
            chosen.push(v.clone());
        }
        let part = PartialSet { of: (*of).clone(), chosen: chosen.clone(), known: at + 1 };
        let go = !viable(env, Val::lazy(Lazy::Closure(Arc::new(part))))?
            || subset(choosing, chosen, at + 1, env, viable, done)?;
        if take {
            chosen.pop();
        }
        if !go {
            return Ok(false);
        }
    }
    Ok(true)
}

/// A function known at some points, mostly the first ones.
struct PartialFun {
    from: Arc<[Val]>,
    /// By point, if it is known: the value, or that there is none.
    chosen: Vec<Option<Option<Val>>>,
    /// For a total function.
    domain: Option<Val>,
    rep: R,
}

impl PartialFun {
    /// The value at x, if x is in the domain.
    fn image(&self, x: &Val) -> Res<Option<Val>> {
        if x.is_lazy() {
            return Err(not_yet());
        }
        match self.from.binary_search(x) {
            Ok(i) => self.chosen.get(i).cloned().flatten().ok_or_else(not_yet),
            Err(_) => Ok(None),
        }
    }
}

impl Closure for PartialFun {
    fn contains(&self, v: &Val) -> Res<bool> {
        let (x, y) = v.split(self.rep.elem());
        match self.image(&x)? {
            Some(z) if z.is_lazy() => Err(not_yet()),
            z => Ok(z.as_ref() == Some(&y)),
        }
    }

    fn apply(&self, x: &Val) -> Res<Val> {
        self.image(x)?.ok_or_else(|| Fault::wd(WdKind::OutsideDomain))
    }

    fn images(&self, x: &Val) -> Res<Vec<Val>> {
        Ok(self.image(x)?.into_iter().collect())
    }

    fn elements(&self, _: usize) -> Res<Vec<Val>> {
        Err(not_yet())
    }

    fn is_infinite(&self) -> bool {
        false
    }

    fn domain(&self) -> Option<Val> {
        self.domain.clone()
    }

    fn is_pointwise(&self) -> bool {
        true
    }
}

/// A set whose first candidates are decided.
struct PartialSet {
    of: Arc<[Val]>,
    chosen: Vec<Val>,
    known: usize,
}

impl Closure for PartialSet {
    fn contains(&self, v: &Val) -> Res<bool> {
        match self.of.binary_search(v) {
            Ok(i) if i < self.known => Ok(self.chosen.contains(v)),
            Ok(_) => Err(not_yet()),
            Err(_) => Ok(false),
        }
    }

    fn apply(&self, _: &Val) -> Res<Val> {
        Err(not_yet())
    }

    fn images(&self, _: &Val) -> Res<Vec<Val>> {
        Err(not_yet())
    }

    fn elements(&self, _: usize) -> Res<Vec<Val>> {
        Err(not_yet())
    }

    fn is_infinite(&self) -> bool {
        false
    }
}
