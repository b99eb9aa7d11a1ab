//! The term language: booleans and exact integers, and nothing else. Terms live in a table, equal terms are one term,
//! and what can be simplified when a term is made is simplified there.
//!
//! Division and modulo are total here: a divisor of zero gives 0. When they mean something is the encoder's business.

pub use crate::range::Bounds;
use hashbrown::{HashMap, HashSet};
use num_bigint::BigInt;
use num_traits::{One, Signed, Zero};
use std::sync::Arc;

/// A boolean term. The lowest bit says whether it is negated, so that a term and its negation are one place.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Bool(u32);

/// An integer term.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Int(u32);

impl Bool {
    pub const TRUE: Bool = Bool(0);
    pub const FALSE: Bool = Bool(1);

    pub fn is_negated(self) -> bool {
        self.0 & 1 == 1
    }

    /// The term without its negation.
    pub fn plain(self) -> Bool {
        Bool(self.0 & !1)
    }

    /// Where it stands in the table: a number below [`Terms::bools`].
    pub fn place(self) -> usize {
        (self.0 >> 1) as usize
    }
}

impl Int {
    /// Where it stands in the table: a number below [`Terms::ints`].
    pub fn place(self) -> usize {
        self.0 as usize
    }
}

impl std::ops::Not for Bool {
    type Output = Bool;
    fn not(self) -> Bool {
        Bool(self.0 ^ 1)
    }
}

/// A boolean term as it stands in the table, without its negation.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum BoolNode {
    True,
    Var(BoolVar),
    /// Two or more different terms, in order, none of them constant, no term with its negation.
    And(Vec<Bool>),
    /// The second or the third, by the first, which is not negated; the second is not negated either.
    Ite(Bool, Bool, Bool),
    /// a ≤ b
    Le(Int, Int),
    /// a = b, the smaller place first.
    Eq(Int, Int),
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum IntNode {
    Const(BigInt),
    Var(IntVar),
    /// The sum of two or more terms with factors, ordered by term, no factor zero, and a constant.
    Sum(Vec<(Int, BigInt)>, BigInt),
    /// How many of two or more terms are true.
    Count(Vec<Bool>),
    Mul(Int, Int),
    /// Towards zero; 0 when the divisor is 0.
    Div(Int, Int),
    /// The remainder of `Div`: it has the sign of the dividend; 0 when the divisor is 0.
    Mod(Int, Int),
    Ite(Bool, Int, Int),
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct BoolVar(pub u32);

#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct IntVar(pub u32);

/// A variable of either kind.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Var {
    Bool(BoolVar),
    Int(IntVar),
}

struct IntDecl {
    name: Arc<str>,
    bounds: Bounds,
}

/// A term of either kind; a boolean one without its negation.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Term {
    Bool(Bool),
    Int(Int),
}

impl From<Bool> for Term {
    fn from(b: Bool) -> Term {
        Term::Bool(b.plain())
    }
}

impl From<Int> for Term {
    fn from(i: Int) -> Term {
        Term::Int(i)
    }
}

/// The table of terms.
#[derive(Default)]
pub struct Terms {
    bools: Vec<BoolNode>,
    ints: Vec<IntNode>,
    /// What each of `ints` can be.
    ranges: Vec<Bounds>,
    bool_places: HashMap<BoolNode, u32>,
    int_places: HashMap<IntNode, u32>,
    bool_vars: Vec<Arc<str>>,
    int_vars: Vec<IntDecl>,
}

impl Terms {
    pub fn new() -> Terms {
        let mut terms = Terms::default();
        terms.put(BoolNode::True);
        terms
    }

    fn put(&mut self, node: BoolNode) -> Bool {
        let next = self.bools.len() as u32;
        let place = *self.bool_places.entry(node.clone()).or_insert(next);
        if place == next {
            self.bools.push(node);
        }
        Bool(place << 1)
    }

    fn put_int(&mut self, node: IntNode) -> Int {
        let next = self.ints.len() as u32;
        let place = *self.int_places.entry(node.clone()).or_insert(next);
        if place == next {
            self.ranges.push(self.range_of(&node));
            self.ints.push(node);
        }
        Int(place)
    }

    fn range_of(&self, node: &IntNode) -> Bounds {
        match node {
            IntNode::Const(c) => Bounds::exactly(c.clone()),
            IntNode::Var(v) => self.bounds(*v).clone(),
            IntNode::Sum(parts, c) => parts.iter().fold(Bounds::exactly(c.clone()), |sum, (i, factor)| {
                sum.plus(&self.range(*i).scaled(factor))
            }),
            IntNode::Count(parts) => Bounds::new(0, parts.len()),
            IntNode::Mul(a, b) => self.range(*a).times(self.range(*b)),
            IntNode::Div(a, b) => self.range(*a).over(self.range(*b)),
            IntNode::Mod(a, b) => self.range(*a).modulo(self.range(*b)),
            IntNode::Ite(_, yes, no) => self.range(*yes).hull(self.range(*no)),
        }
    }

    /// An interval that holds every value of the term.
    pub fn range(&self, i: Int) -> &Bounds {
        &self.ranges[i.0 as usize]
    }

    /// The term without its negation: see [`Bool::is_negated`].
    pub fn bool_node(&self, b: Bool) -> &BoolNode {
        &self.bools[b.place()]
    }

    pub fn int_node(&self, i: Int) -> &IntNode {
        &self.ints[i.0 as usize]
    }

    /// Terms made so far.
    pub fn size(&self) -> usize {
        self.bools.len() + self.ints.len()
    }

    /// Boolean terms made so far.
    pub fn bools(&self) -> usize {
        self.bools.len()
    }

    /// Integer terms made so far.
    pub fn ints(&self) -> usize {
        self.ints.len()
    }

    // ---- subterms

    pub fn for_each_child(&self, t: Term, mut visit: impl FnMut(Term)) {
        match t {
            Term::Bool(b) => match self.bool_node(b) {
                BoolNode::True | BoolNode::Var(_) => {}
                BoolNode::And(parts) => parts.iter().for_each(|&p| visit(p.into())),
                BoolNode::Ite(test, yes, no) => [test, yes, no].iter().for_each(|&&p| visit(p.into())),
                BoolNode::Le(a, b) | BoolNode::Eq(a, b) => [a, b].iter().for_each(|&&p| visit(p.into())),
            },
            Term::Int(i) => match self.int_node(i) {
                IntNode::Const(_) | IntNode::Var(_) => {}
                IntNode::Sum(parts, _) => parts.iter().for_each(|p| visit(p.0.into())),
                IntNode::Count(parts) => parts.iter().for_each(|&p| visit(p.into())),
                IntNode::Mul(a, b) | IntNode::Div(a, b) | IntNode::Mod(a, b) => {
                    [a, b].iter().for_each(|&&p| visit(p.into()))
                }
                IntNode::Ite(test, yes, no) => {
                    visit((*test).into());
                    visit((*yes).into());
                    visit((*no).into());
                }
            },
        }
    }

    /// The subterms of some terms and these themselves, each once, children first. What `is_done` knows is left out,
    /// and so is what occurs only below it. Not recursive: terms are as deep as their author likes.
    pub fn children_first(&self, roots: &[Term], is_done: impl Fn(Term) -> bool) -> Vec<Term> {
        let mut order = vec![];
        let mut seen: HashSet<Term> = HashSet::new();
        // A term is pushed open, and closed again when its children are in the order.
        let mut stack: Vec<(Term, bool)> = roots.iter().rev().map(|&t| (t, false)).collect();
        while let Some((t, is_closed)) = stack.pop() {
            if is_closed {
                order.push(t);
            } else if !is_done(t) && seen.insert(t) {
                stack.push((t, true));
                let first = stack.len();
                self.for_each_child(t, |child| stack.push((child, false)));
                stack[first..].reverse();
            }
        }
        order
    }

    /// The variables of some terms, in the order of their first occurrence.
    pub fn variables(&self, roots: &[Term]) -> Vec<Var> {
        let var = |t: Term| match t {
            Term::Bool(b) => match self.bool_node(b) {
                BoolNode::Var(v) => Some(Var::Bool(*v)),
                _ => None,
            },
            Term::Int(i) => match self.int_node(i) {
                IntNode::Var(v) => Some(Var::Int(*v)),
                _ => None,
            },
        };
        self.children_first(roots, |_| false).into_iter().filter_map(var).collect()
    }

    // ---- variables

    pub fn bool_var(&mut self, name: impl Into<Arc<str>>) -> BoolVar {
        self.bool_vars.push(name.into());
        BoolVar(self.bool_vars.len() as u32 - 1)
    }

    pub fn int_var(&mut self, name: impl Into<Arc<str>>, bounds: Bounds) -> IntVar {
        self.int_vars.push(IntDecl { name: name.into(), bounds });
        IntVar(self.int_vars.len() as u32 - 1)
    }

    pub fn name(&self, v: Var) -> &Arc<str> {
        match v {
            Var::Bool(v) => &self.bool_vars[v.0 as usize],
            Var::Int(v) => &self.int_vars[v.0 as usize].name,
        }
    }

    /// Gives a variable another name: names are for people only.
    pub fn rename(&mut self, v: Var, name: impl Into<Arc<str>>) {
        match v {
            Var::Bool(v) => self.bool_vars[v.0 as usize] = name.into(),
            Var::Int(v) => self.int_vars[v.0 as usize].name = name.into(),
        }
    }

    pub fn bounds(&self, v: IntVar) -> &Bounds {
        &self.int_vars[v.0 as usize].bounds
    }

    /// Another variable like this one.
    pub fn like(&mut self, v: Var, name: impl Into<Arc<str>>) -> Var {
        match v {
            Var::Bool(_) => Var::Bool(self.bool_var(name)),
            Var::Int(v) => {
                let bounds = self.bounds(v).clone();
                Var::Int(self.int_var(name, bounds))
            }
        }
    }

    pub fn of_bool(&mut self, v: BoolVar) -> Bool {
        self.put(BoolNode::Var(v))
    }

    pub fn of_int(&mut self, v: IntVar) -> Int {
        let Bounds { low, high } = self.bounds(v);
        match (low, high) {
            (Some(l), Some(h)) if l == h => {
                let value = l.clone();
                self.constant(value)
            }
            _ => self.put_int(IntNode::Var(v)),
        }
    }

    // ---- booleans

    pub fn truth(value: bool) -> Bool {
        if value { Bool::TRUE } else { Bool::FALSE }
    }

    pub fn and(&mut self, parts: impl IntoIterator<Item = Bool>) -> Bool {
        let mut flat = vec![];
        for p in parts {
            match self.bool_node(p) {
                _ if p == Bool::TRUE => {}
                BoolNode::And(inner) if !p.is_negated() => flat.extend_from_slice(inner),
                _ => flat.push(p),
            }
        }
        flat.sort_unstable();
        flat.dedup();
        // A term and its negation are neighbours in this order.
        if flat.contains(&Bool::FALSE) || flat.windows(2).any(|w| w[0] == !w[1]) {
            return Bool::FALSE;
        }
        match flat.as_slice() {
            [] => Bool::TRUE,
            [one] => *one,
            _ => self.put(BoolNode::And(flat)),
        }
    }

    pub fn or(&mut self, parts: impl IntoIterator<Item = Bool>) -> Bool {
        let negated: Vec<Bool> = parts.into_iter().map(|p| !p).collect();
        !self.and(negated)
    }

    pub fn implies(&mut self, a: Bool, b: Bool) -> Bool {
        self.or([!a, b])
    }

    /// Two variables have the same value; those of different kinds never have.
    pub fn same(&mut self, a: Var, b: Var) -> Bool {
        match (a, b) {
            (Var::Bool(a), Var::Bool(b)) => {
                let (a, b) = (self.of_bool(a), self.of_bool(b));
                self.iff(a, b)
            }
            (Var::Int(a), Var::Int(b)) => {
                let (a, b) = (self.of_int(a), self.of_int(b));
                self.eq(a, b)
            }
            _ => Bool::FALSE,
        }
    }

    /// Both or neither.
    pub fn iff(&mut self, a: Bool, b: Bool) -> Bool {
        self.ite(a, b, !b)
    }

    pub fn ite(&mut self, test: Bool, yes: Bool, no: Bool) -> Bool {
        if test.is_negated() {
            return self.ite(!test, no, yes);
        }
        if test == Bool::TRUE || yes == no {
            return yes;
        }
        if yes == Bool::TRUE || yes == test {
            return self.or([test, no]);
        }
        if yes == Bool::FALSE || yes == !test {
            return self.and([!test, no]);
        }
        if no == Bool::TRUE || no == !test {
            return self.or([!test, yes]);
        }
        if no == Bool::FALSE || no == test {
            return self.and([test, yes]);
        }
        if yes.is_negated() {
            return !self.ite(test, !yes, !no);
        }
        // a ⇔ b and b ⇔ a are one term.
        if yes == !no && yes < test {
            return self.put(BoolNode::Ite(yes, test, !test));
        }
        self.put(BoolNode::Ite(test, yes, no))
    }

    pub fn le(&mut self, a: Int, b: Int) -> Bool {
        if a == b {
            return Bool::TRUE;
        }
        let (x, y) = (self.range(a), self.range(b));
        if x.is_below(y) {
            return Bool::TRUE;
        }
        if x.is_apart(y) {
            return Bool::FALSE;
        }
        self.put(BoolNode::Le(a, b))
    }

    pub fn lt(&mut self, a: Int, b: Int) -> Bool {
        !self.le(b, a)
    }

    pub fn eq(&mut self, a: Int, b: Int) -> Bool {
        if a == b {
            return Bool::TRUE;
        }
        if self.range(a).is_apart(self.range(b)) {
            return Bool::FALSE;
        }
        self.put(BoolNode::Eq(a.min(b), a.max(b)))
    }

    // ---- integers

    /// The value of a constant.
    pub fn known(&self, i: Int) -> Option<&BigInt> {
        match self.int_node(i) {
            IntNode::Const(value) => Some(value),
            _ => None,
        }
    }

    pub fn constant(&mut self, value: impl Into<BigInt>) -> Int {
        self.put_int(IntNode::Const(value.into()))
    }

    /// A sum of terms with factors.
    pub fn sum(&mut self, parts: impl IntoIterator<Item = (Int, BigInt)>) -> Int {
        let mut flat: Vec<(Int, BigInt)> = vec![];
        let mut rest = BigInt::zero();
        for (i, k) in parts {
            match self.int_node(i) {
                IntNode::Const(c) => rest += c * &k,
                IntNode::Sum(inner, c) => {
                    rest += c * &k;
                    flat.extend(inner.iter().map(|(i, f)| (*i, f * &k)));
                }
                _ => flat.push((i, k)),
            }
        }
        flat.sort_unstable_by_key(|p| p.0);
        flat.dedup_by(|next, kept| {
            let same = next.0 == kept.0;
            if same {
                kept.1 += &next.1;
            }
            same
        });
        flat.retain(|p| !p.1.is_zero());
        match flat.as_slice() {
            [] => self.constant(rest),
            [(one, factor)] if factor.is_one() && rest.is_zero() => *one,
            _ => self.put_int(IntNode::Sum(flat, rest)),
        }
    }

    pub fn add(&mut self, a: Int, b: Int) -> Int {
        self.sum([(a, BigInt::one()), (b, BigInt::one())])
    }

    pub fn sub(&mut self, a: Int, b: Int) -> Int {
        self.sum([(a, BigInt::one()), (b, -BigInt::one())])
    }

    pub fn neg(&mut self, a: Int) -> Int {
        self.sum([(a, -BigInt::one())])
    }

    pub fn mul(&mut self, a: Int, b: Int) -> Int {
        match (self.known(a).cloned(), self.known(b).cloned()) {
            (Some(k), _) => self.sum([(b, k)]),
            (_, Some(k)) => self.sum([(a, k)]),
            _ => self.put_int(IntNode::Mul(a.min(b), a.max(b))),
        }
    }

    pub fn div(&mut self, a: Int, b: Int) -> Int {
        match (self.known(a), self.known(b)) {
            (_, Some(y)) if y.is_zero() => self.constant(0),
            (_, Some(y)) if y.is_one() => a,
            (Some(x), Some(y)) => {
                let value = x / y;
                self.constant(value)
            }
            _ => self.put_int(IntNode::Div(a, b)),
        }
    }

    pub fn modulo(&mut self, a: Int, b: Int) -> Int {
        match (self.known(a), self.known(b)) {
            (_, Some(y)) if y.is_zero() || y.abs().is_one() => self.constant(0),
            (Some(x), Some(y)) => {
                let value = x % y;
                self.constant(value)
            }
            _ => self.put_int(IntNode::Mod(a, b)),
        }
    }

    pub fn ite_int(&mut self, test: Bool, yes: Int, no: Int) -> Int {
        match test {
            Bool::TRUE => yes,
            Bool::FALSE => no,
            _ if yes == no => yes,
            _ if test.is_negated() => self.put_int(IntNode::Ite(!test, no, yes)),
            _ => self.put_int(IntNode::Ite(test, yes, no)),
        }
    }

    /// How many of these are true.
    pub fn count(&mut self, parts: impl IntoIterator<Item = Bool>) -> Int {
        let mut open: Vec<Bool> = vec![];
        let mut sure = 0u64;
        for p in parts {
            match p {
                Bool::TRUE => sure += 1,
                Bool::FALSE => {}
                _ => open.push(p),
            }
        }
        open.sort_unstable();
        let count = match open.as_slice() {
            [] => self.constant(0),
            [one] => {
                let (yes, no) = (self.constant(1), self.constant(0));
                self.ite_int(*one, yes, no)
            }
            _ => self.put_int(IntNode::Count(open)),
        };
        let sure = self.constant(sure);
        self.add(count, sure)
    }
}

/// Values of variables. A variable that has none is false, or the number of its domain that is nearest to 0.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Assignment {
    pub bools: HashMap<BoolVar, bool>,
    pub ints: HashMap<IntVar, BigInt>,
}

impl Assignment {
    pub fn bool_var(&self, v: BoolVar) -> bool {
        self.bools.get(&v).copied().unwrap_or(false)
    }

    pub fn int_var(&self, terms: &Terms, v: IntVar) -> BigInt {
        self.ints.get(&v).cloned().unwrap_or_else(|| {
            let Bounds { low, high } = terms.bounds(v);
            match (low, high) {
                (Some(l), _) if l.is_positive() => l.clone(),
                (_, Some(h)) if h.is_negative() => h.clone(),
                _ => BigInt::zero(),
            }
        })
    }
}
