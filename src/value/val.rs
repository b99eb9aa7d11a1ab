//! Production values: a word where the type's representation allows it, shared parts otherwise.
//!
//! Every finite value of a type has exactly one form, so equality and hashing are structural. Sets that are not
//! expanded ([`Lazy`]) appear only while evaluating; `ops::force` gives them their form before they are compared,
//! put into a set or stored.

use super::fault::{Fault, Res};
use super::mask;
use super::ranges::Ranges;
use super::rep::{R, Rep, SetKind, Shape, low};
use super::{Scope, Value};
use crate::model::SetId;
use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::ToPrimitive;
use std::sync::Arc;

#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Val {
    /// Nothing was assigned yet.
    None,
    /// An ordinal, or the bits of a set.
    W(u64),
    I(i64),
    /// Only integers that do not fit `I`.
    Big(Arc<BigInt>),
    Str(Arc<str>),
    /// Only pairs and records that have no ordinal.
    Pair(Arc<(Val, Val)>),
    Rec(Arc<[Val]>),
    /// Sorted, without repetition. Never a non-empty sequence of type POW(INTEGER * t).
    Set(Arc<[Val]>),
    /// A non-empty sequence: its items in order.
    Seq(Arc<[Val]>),
    Bits(Arc<[u64]>),
    Real(Arc<BigRational>),
    Free(Arc<FreeVal>),
    Lazy(LazySet),
}

/// A value of a freetype. Values are compared within one type, where the constructor tells how the argument looks.
#[derive(Clone, Debug)]
pub struct FreeVal {
    pub case: u32,
    pub argument: Option<(Val, R)>,
}

impl FreeVal {
    fn parts(&self) -> (u32, Option<&Val>) {
        (self.case, self.argument.as_ref().map(|(v, _)| v))
    }
}

impl PartialEq for FreeVal {
    fn eq(&self, other: &Self) -> bool {
        self.parts() == other.parts()
    }
}
impl Eq for FreeVal {}
impl PartialOrd for FreeVal {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for FreeVal {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.parts().cmp(&other.parts())
    }
}
impl std::hash::Hash for FreeVal {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.parts().hash(state);
    }
}

/// A set that is tested, not expanded. Never compared, ordered or hashed: `ops::force` comes first.
#[derive(Clone)]
pub struct LazySet(pub Arc<Lazy>);

pub enum Lazy {
    Interval(i64, i64),
    Integers(IntSet),
    Strings,
    /// All values of a type.
    All(R),
    /// A freetype that is not inside of itself: each constructor with the set of its arguments.
    Freetype(Vec<(u32, Option<(Val, R)>)>),
    Pow {
        of: Val,
        nonempty: bool,
        /// FIN: the finite subsets only.
        finite: bool,
    },
    Fun {
        kind: FunKind,
        from: Val,
        to: Val,
    },
    Seq {
        kind: SeqKind,
        of: Val,
        /// Only those that are not longer than this.
        most: Option<i64>,
    },
    Product(Val, Val),
    Struct(Vec<Val>),
    Union(Val, Val),
    Inter(Val, Val),
    Diff(Val, Val),
    Closure(Arc<dyn Closure>),
}

/// A comprehension or lambda with the values it captured.
pub trait Closure: Send + Sync {
    fn contains(&self, v: &Val) -> Res<bool>;
    /// The value at x when the set is used as a function.
    fn apply(&self, x: &Val) -> Res<Val>;
    /// What the set relates to x when it is used as a relation. That [`Closure::apply`] is outside of a domain does
    /// not say that there is nothing: it may be the domain of a function inside of it.
    fn images(&self, x: &Val) -> Res<Vec<Val>>;
    /// Whether it relates something to x.
    fn in_domain(&self, x: &Val) -> Res<bool> {
        Ok(!self.images(x)?.is_empty())
    }
    /// The same relation the other way round, if that is known by its form.
    fn inverse(&self) -> Option<Val> {
        None
    }
    /// All elements, or a limit fault when there is no end of them.
    fn elements(&self, limit: usize) -> Res<Vec<Val>>;
    /// Whether it cannot be expanded as far as is known without trying.
    fn is_infinite(&self) -> bool;
    /// The domain, where it is known without the rest.
    fn domain(&self) -> Option<Val> {
        None
    }
    /// A set of which the domain is a part, if one is known.
    fn domain_within(&self) -> Option<Val> {
        self.domain()
    }
    /// Whether it certainly relates no element to two.
    fn is_function(&self) -> bool {
        false
    }
    /// Whether it certainly has a value everywhere in its domain, all of them in the set; `is_whole` if that is the
    /// whole type.
    fn values_lie_in(&self, set: &Val, rep: &Rep, is_whole: bool) -> bool {
        let _ = (set, rep, is_whole);
        false
    }
    /// The number that it adds, if that is all it does: then it is a bijection of all integers.
    fn shift(&self) -> Option<i64> {
        None
    }
    /// A limit inside of what it says of an element, if those it ranges over are few.
    fn visited(&self) -> Res<()> {
        Ok(())
    }
    /// Whether it stands for a function that mentions itself.
    fn is_recursive(&self) -> bool {
        false
    }
    /// The same integers as ranges, if it is a set of integers and that is known without trying.
    fn ranges(&self) -> Option<Ranges> {
        None
    }
    /// Whether images may be taken element by element with [`Closure::apply`].
    fn is_pointwise(&self) -> bool {
        self.is_infinite()
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IntSet {
    Integer,
    Natural,
    Natural1,
}

/// Which relations a function space holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FunKind {
    pub functional: bool,
    pub total: bool,
    pub injective: bool,
    pub surjective: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SeqKind {
    pub nonempty: bool,
    pub injective: bool,
    /// perm(S)
    pub surjective: bool,
}

impl std::fmt::Debug for LazySet {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("<symbolic set>")
    }
}

// Symbolic sets have no form of their own: two are equal only as objects. Whoever compares forces first.
impl PartialEq for LazySet {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}
impl Eq for LazySet {}
impl PartialOrd for LazySet {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for LazySet {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        Arc::as_ptr(&self.0).cast::<()>().cmp(&Arc::as_ptr(&other.0).cast::<()>())
    }
}
impl std::hash::Hash for LazySet {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        Arc::as_ptr(&self.0).cast::<()>().hash(state);
    }
}

/// Sets larger than this are not expanded.
pub const MAX_SET: usize = 1 << 22;

impl Val {
    pub const TRUE: Val = Val::W(1);
    pub const FALSE: Val = Val::W(0);

    #[inline]
    pub fn bool(b: bool) -> Val {
        Val::W(u64::from(b))
    }

    pub fn big(i: BigInt) -> Val {
        match i.to_i64() {
            Some(small) => Val::I(small),
            None => Val::Big(Arc::new(i)),
        }
    }

    pub fn real(r: BigRational) -> Val {
        Val::Real(Arc::new(r))
    }

    /// A value of a freetype; the argument is expanded.
    pub fn free(case: u32, argument: Option<(Val, R)>) -> Val {
        Val::Free(Arc::new(FreeVal { case, argument }))
    }

    pub fn lazy(l: Lazy) -> Val {
        Val::Lazy(LazySet(Arc::new(l)))
    }

    /// The word of a value whose representation is one.
    #[inline]
    pub fn word(&self) -> u64 {
        match self {
            Val::W(w) => *w,
            other => unreachable!("a word was expected, not {other:?}"),
        }
    }

    pub fn to_bigint(&self) -> BigInt {
        match self {
            Val::I(i) => BigInt::from(*i),
            Val::Big(b) => (**b).clone(),
            other => unreachable!("an integer was expected, not {other:?}"),
        }
    }

    /// The empty set of a representation.
    pub fn empty(rep: &Rep) -> Val {
        match rep.as_set().1 {
            SetKind::Mask(_) => Val::W(0),
            SetKind::Bits(n) => Val::Bits(vec![0; words(n)].into()),
            SetKind::List => Val::Set(Arc::new([])),
        }
    }

    #[inline]
    pub fn pair(a: Val, b: Val, rep: &Rep) -> Val {
        if rep.carrier > 0 {
            let (_, rb) = rep.as_pair();
            return Val::W(a.word() * rb.carrier + b.word());
        }
        Val::Pair(Arc::new((a, b)))
    }

    #[inline]
    pub fn first(&self, rep: &Rep) -> Val {
        match self {
            Val::W(w) => Val::W(w / rep.as_pair().1.carrier),
            Val::Pair(p) => p.0.clone(),
            other => unreachable!("a pair was expected, not {other:?}"),
        }
    }

    #[inline]
    pub fn second(&self, rep: &Rep) -> Val {
        match self {
            Val::W(w) => Val::W(w % rep.as_pair().1.carrier),
            Val::Pair(p) => p.1.clone(),
            other => unreachable!("a pair was expected, not {other:?}"),
        }
    }

    pub fn split(&self, rep: &Rep) -> (Val, Val) {
        match self {
            Val::Pair(p) => (p.0.clone(), p.1.clone()),
            _ => (self.first(rep), self.second(rep)),
        }
    }

    pub fn record(fields: Vec<Val>, rep: &Rep) -> Val {
        match &rep.shape {
            Shape::Rec(parts) if rep.carrier > 0 => {
                Val::W(fields.iter().zip(parts).fold(0, |w, (f, p)| w * p.carrier + f.word()))
            }
            _ => Val::Rec(fields.into()),
        }
    }

    pub fn field(&self, index: usize, rep: &Rep) -> Val {
        match (self, &rep.shape) {
            (Val::Rec(fields), _) => fields[index].clone(),
            (Val::W(w), Shape::Rec(parts)) => {
                let after: u64 = parts[index + 1..].iter().map(|p| p.carrier).product();
                Val::W(w / after % parts[index].carrier)
            }
            (other, _) => unreachable!("a record was expected, not {other:?}"),
        }
    }

    pub fn fields(&self, rep: &Rep) -> Vec<Val> {
        let Shape::Rec(parts) = &rep.shape else { unreachable!("a record was expected, not {self:?}") };
        (0..parts.len()).map(|i| self.field(i, rep)).collect()
    }

    /// `x |-> x + n` on all integers: n.
    pub fn as_shift(&self) -> Option<i64> {
        match self {
            Val::Lazy(l) => match &*l.0 {
                Lazy::Closure(c) => c.shift(),
                _ => None,
            },
            _ => None,
        }
    }

    /// `x |-> x + n` on all integers.
    pub fn shift(n: i64) -> Val {
        Val::lazy(Lazy::Closure(Arc::new(Shift(n))))
    }

    pub fn is_lazy(&self) -> bool {
        matches!(self, Val::Lazy(_))
    }
}

/// `succ`, `pred` and what is made of them by inversion and composition.
struct Shift(i64);

impl Shift {
    fn add(&self, x: &Val) -> Val {
        match x {
            Val::I(i) => i.checked_add(self.0).map_or_else(|| Val::big(x.to_bigint() + self.0), Val::I),
            _ => Val::big(x.to_bigint() + self.0),
        }
    }
}

impl Closure for Shift {
    fn contains(&self, v: &Val) -> Res<bool> {
        match v {
            Val::Pair(p) => Ok(self.add(&p.0) == p.1),
            _ => Ok(false),
        }
    }

    fn apply(&self, x: &Val) -> Res<Val> {
        Ok(self.add(x))
    }

    fn images(&self, x: &Val) -> Res<Vec<Val>> {
        Ok(vec![self.add(x)])
    }

    fn elements(&self, _: usize) -> Res<Vec<Val>> {
        Err(Fault::limit("`succ` and `pred` are infinite"))
    }

    fn is_infinite(&self) -> bool {
        true
    }

    fn domain(&self) -> Option<Val> {
        Some(Val::lazy(Lazy::Integers(IntSet::Integer)))
    }

    fn shift(&self) -> Option<i64> {
        Some(self.0)
    }
}

/// Words that hold n bits.
pub fn words(n: u32) -> usize {
    n.div_ceil(64) as usize
}

/// The elements of an expanded set, in order.
pub enum Elems<'a> {
    Mask(u64),
    Bits { words: &'a [u64], at: usize, rest: u64 },
    List(std::slice::Iter<'a, Val>),
    Seq { items: &'a [Val], at: usize },
}

impl Iterator for Elems<'_> {
    type Item = Val;

    #[inline]
    fn next(&mut self) -> Option<Val> {
        match self {
            Elems::Mask(m) => {
                if *m == 0 {
                    return None;
                }
                let i = m.trailing_zeros();
                *m &= *m - 1;
                Some(Val::W(u64::from(i)))
            }
            Elems::Bits { words, at, rest } => loop {
                if *rest != 0 {
                    let i = rest.trailing_zeros();
                    *rest &= *rest - 1;
                    return Some(Val::W((*at as u64 - 1) * 64 + u64::from(i)));
                }
                *rest = *words.get(*at)?;
                *at += 1;
            },
            Elems::List(i) => i.next().cloned(),
            Elems::Seq { items, at } => {
                let item = items.get(*at)?.clone();
                *at += 1;
                Some(Val::Pair(Arc::new((Val::I(*at as i64), item))))
            }
        }
    }
}

impl Val {
    /// The elements of an expanded set.
    pub fn elems(&self) -> Elems<'_> {
        match self {
            Val::W(m) => Elems::Mask(*m),
            Val::Bits(w) => Elems::Bits { words: w, at: 0, rest: 0 },
            Val::Set(s) => Elems::List(s.iter()),
            Val::Seq(s) => Elems::Seq { items: s, at: 0 },
            other => unreachable!("an expanded set was expected, not {other:?}"),
        }
    }

    /// The number of elements of an expanded set.
    pub fn count(&self) -> usize {
        match self {
            Val::W(m) => m.count_ones() as usize,
            Val::Bits(w) => w.iter().map(|w| w.count_ones() as usize).sum(),
            Val::Set(s) | Val::Seq(s) => s.len(),
            other => unreachable!("an expanded set was expected, not {other:?}"),
        }
    }

    pub fn is_empty_set(&self) -> bool {
        match self {
            Val::W(m) => *m == 0,
            Val::Bits(w) => w.iter().all(|w| *w == 0),
            Val::Set(s) | Val::Seq(s) => s.is_empty(),
            other => unreachable!("an expanded set was expected, not {other:?}"),
        }
    }

    /// Membership in an expanded set.
    #[inline]
    pub fn has(&self, v: &Val) -> bool {
        match self {
            Val::W(m) => m >> v.word() & 1 == 1,
            Val::Bits(w) => {
                let i = v.word();
                w[(i / 64) as usize] >> (i % 64) & 1 == 1
            }
            Val::Set(s) => s.binary_search(v).is_ok(),
            Val::Seq(s) => match v {
                Val::Pair(p) => match p.0 {
                    Val::I(i) if i >= 1 && i as usize <= s.len() => s[i as usize - 1] == p.1,
                    _ => false,
                },
                _ => false,
            },
            other => unreachable!("an expanded set was expected, not {other:?}"),
        }
    }

    /// A set from its elements, in any order, with repetitions.
    pub fn from_elems(mut elems: Vec<Val>, rep: &Rep) -> Val {
        match rep.as_set().1 {
            SetKind::Mask(_) => Val::W(elems.iter().fold(0, |m, e| m | 1 << e.word())),
            SetKind::Bits(n) => {
                let mut w = vec![0u64; words(n)];
                for e in &elems {
                    let i = e.word();
                    w[(i / 64) as usize] |= 1 << (i % 64);
                }
                Val::Bits(w.into())
            }
            SetKind::List => {
                if !elems.is_sorted_by(|a, b| a < b) {
                    elems.sort_unstable();
                    elems.dedup();
                }
                Val::from_sorted(elems, rep)
            }
        }
    }

    /// A `List` set from elements that are sorted and distinct.
    pub fn from_sorted(elems: Vec<Val>, rep: &Rep) -> Val {
        if !elems.is_empty() && rep.may_be_sequence() {
            let is_seq = elems.iter().enumerate().all(|(i, e)| match e {
                Val::Pair(p) => p.0 == Val::I(i as i64 + 1),
                _ => false,
            });
            if is_seq {
                return Val::seq(elems.iter().map(|e| e.second(rep.elem())).collect());
            }
        }
        Val::Set(elems.into())
    }

    /// A sequence from its items; the empty one is the empty set.
    pub fn seq(items: Vec<Val>) -> Val {
        if items.is_empty() { Val::Set(Arc::new([])) } else { Val::Seq(items.into()) }
    }

    /// The set of all values of a representation, when there are few enough to hold.
    pub fn full(elem: &Rep) -> Option<Val> {
        match elem.carrier {
            0 => None,
            n @ 1..=64 => Some(Val::W(low(n as u32))),
            n if n <= 4096 => {
                let mut w = vec![u64::MAX; words(n as u32)];
                if n % 64 != 0 {
                    w[(n / 64) as usize] = low((n % 64) as u32);
                }
                Some(Val::Bits(w.into()))
            }
            n if n <= MAX_SET as u64 => Some(Val::Set((0..n).map(Val::W).collect())),
            _ => None,
        }
    }
}

// ---- plain values -------------------------------------------------------------------------------------------

/// The plain tree of an expanded value.
pub fn to_value(v: &Val, rep: &Rep) -> Value {
    match &rep.shape {
        Shape::Bool => Value::Bool(v.word() == 1),
        Shape::Elem(s) => Value::Elem(*s, v.word() as u32),
        Shape::Int => Value::Int(v.to_bigint()),
        Shape::Str => match v {
            Val::Str(s) => Value::Str(s.clone()),
            other => unreachable!("a string was expected, not {other:?}"),
        },
        Shape::Pair(ra, rb) => {
            let (a, b) = v.split(rep);
            Value::pair(to_value(&a, ra), to_value(&b, rb))
        }
        Shape::Rec(parts) => {
            Value::Rec(parts.iter().enumerate().map(|(i, p)| to_value(&v.field(i, rep), p)).collect())
        }
        Shape::Real => match v {
            Val::Real(r) => Value::real((**r).clone()),
            other => unreachable!("a real number was expected, not {other:?}"),
        },
        Shape::Free(..) => match v {
            Val::Free(f) => {
                Value::Free(f.case, f.argument.as_ref().map(|(v, rep)| Box::new(to_value(v, rep))))
            }
            other => unreachable!("a value of a freetype was expected, not {other:?}"),
        },
        Shape::Set(e, _) => Value::Set(v.elems().map(|x| to_value(&x, e)).collect()),
    }
}

/// The production form of a plain value; `None` when it does not have the representation's type or scope.
pub fn from_value(v: &Value, rep: &Rep) -> Option<Val> {
    Some(match (v, &rep.shape) {
        (Value::Bool(b), Shape::Bool) => Val::bool(*b),
        (Value::Elem(s, i), Shape::Elem(t)) if s == t && u64::from(*i) < rep.carrier => Val::W(u64::from(*i)),
        (Value::Int(i), Shape::Int) => Val::big(i.clone()),
        (Value::Str(s), Shape::Str) => Val::Str(s.clone()),
        (Value::Pair(p), Shape::Pair(ra, rb)) => Val::pair(from_value(&p.0, ra)?, from_value(&p.1, rb)?, rep),
        (Value::Rec(fields), Shape::Rec(parts)) if fields.len() == parts.len() => {
            let vals: Option<Vec<Val>> = fields.iter().zip(parts).map(|(f, p)| from_value(f, p)).collect();
            Val::record(vals?, rep)
        }
        (Value::Real(r), Shape::Real) => Val::real((**r).clone()),
        (Value::Free(case, argument), Shape::Free(free, scope)) => {
            free.case(*case)?;
            match (argument, free.argument(*case)) {
                (None, None) => Val::free(*case, None),
                (Some(v), Some(ty)) => {
                    let rep = Rep::of(&ty, scope);
                    Val::free(*case, Some((from_value(v, &rep)?, rep)))
                }
                _ => return None,
            }
        }
        (Value::Set(s), Shape::Set(e, _)) => {
            let elems: Option<Vec<Val>> = s.iter().map(|x| from_value(x, e)).collect();
            Val::from_elems(elems?, rep)
        }
        _ => return None,
    })
}

/// A given set's elements by their places; symbolic when there are very many.
pub fn given(set: SetId, scope: &Scope) -> Val {
    let rep = Rep { shape: Shape::Elem(set), carrier: scope.size(set).max(1) };
    Val::full(&rep).unwrap_or_else(|| Val::lazy(Lazy::All(Arc::new(rep))))
}

/// Subsets of a mask, smallest first: every one once.
pub fn submasks(m: u64) -> impl Iterator<Item = u64> {
    let mut next = Some(0u64);
    std::iter::from_fn(move || {
        let s = next?;
        next = if s == m { None } else { Some((s.wrapping_sub(m)) & m) };
        Some(s)
    })
}

/// Two integers, or two real numbers, compared as numbers.
pub fn cmp_int(a: &Val, b: &Val) -> std::cmp::Ordering {
    match (a, b) {
        (Val::I(x), Val::I(y)) => x.cmp(y),
        (Val::Real(x), Val::Real(y)) => x.cmp(y),
        _ => a.to_bigint().cmp(&b.to_bigint()),
    }
}

/// The bits of a word set as ordinals; a convenience for loops.
pub fn ordinals(m: u64) -> impl Iterator<Item = u64> {
    mask::bits(m).map(u64::from)
}

pub fn too_large(what: &str) -> Box<Fault> {
    Fault::limit(format!("{what} has more than {MAX_SET} elements"))
}
