//! Terms as circuits. An integer is a word of two's complement, as wide as its interval, together with a literal that
//! is true when the word does not have the value. Comparisons of such words are free.
//!
//! So two things hold, and `sat` rests on them. A model of the terms, whatever its integers, gives a model of the
//! circuit: what does not fit overflows, and the comparisons concerned take the values they have. And a model of the
//! circuit in which nothing overflows gives a model of the terms.
//!
//! Absent on purpose: solving, and the choice of widths.

use crate::gates::{Circuit, Lit, Sink};
use crate::range::{Bounds, signed_width};
use crate::solver::Stop;
use crate::term::{Bool, BoolNode, BoolVar, Int, IntNode, IntVar, Term, Terms};
use hashbrown::HashMap;
use num_bigint::BigInt;
use num_traits::{One, Signed, Zero};
use std::collections::VecDeque;

/// A variable whose bounds need no more bits than this is never cut off.
const EXACT_WIDTH: usize = 64;

/// Counts are compared with a constant by a table of this many cells at most, otherwise by adding.
const LARGEST_TABLE: usize = 2000;

/// How wide words may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Width(pub usize);

impl Width {
    /// Of a variable without bounds.
    fn of_variable(self) -> usize {
        self.0
    }

    /// Of a term: a product of two variables fits.
    fn of_term(self) -> usize {
        (2 * self.0).max(EXACT_WIDTH)
    }
}

/// Planted mistakes, so that tests can see that they find them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mistake {
    /// A term that does not fit is cut off, and nobody is told.
    DropsOverflow,
    /// A variable without bounds is one of its width.
    CutsVariables,
    /// A count is compared with the next number.
    CountsOneMore,
    /// The two sides of a choice between integers are exchanged.
    SwapsIte,
    /// The bit of the sign is taken for one of the value.
    ForgetsSign,
    /// A negative dividend is divided as if it were positive.
    DividesUnsigned,
}

/// An integer: the lowest bit first, the last one is the sign.
#[derive(Clone, Debug)]
struct Word {
    bits: Vec<Lit>,
    /// What the word can be: bounded.
    range: Bounds,
    /// The word may not be the value.
    overflow: Lit,
}

impl Word {
    fn bit(&self, place: usize) -> Lit {
        // A word has at least its sign, which goes on for ever.
        self.bits.get(place).or(self.bits.last()).copied().unwrap_or(Lit::FALSE)
    }

    fn sign(&self) -> Lit {
        self.bits.last().copied().unwrap_or(Lit::FALSE)
    }
}

/// A boolean term as a literal.
#[derive(Clone, Copy, Debug)]
struct Wire {
    lit: Lit,
    /// True if something overflows below it.
    overflow: Lit,
}

/// One literal of a sum, with its weight: a power of two, perhaps negative.
#[derive(Clone, Copy)]
struct Weighted {
    lit: Lit,
    power: usize,
    is_negative: bool,
}

pub struct Blaster<S> {
    pub circuit: Circuit<S>,
    width: Width,
    mistake: Option<Mistake>,
    bools: Vec<Option<Wire>>,
    ints: HashMap<Int, Word>,
    bool_vars: HashMap<BoolVar, Lit>,
    int_vars: HashMap<IntVar, Word>,
}

impl<S: Sink> Blaster<S> {
    pub fn new(sink: S, width: Width, mistake: Option<Mistake>) -> Blaster<S> {
        Blaster {
            circuit: Circuit::new(sink),
            width,
            mistake,
            bools: vec![],
            ints: HashMap::new(),
            bool_vars: HashMap::new(),
            int_vars: HashMap::new(),
        }
    }

    pub fn width(&self) -> Width {
        self.width
    }

    /// The literal of a term, and one that is true if something overflows in it. None if there is no time.
    pub fn bool(&mut self, terms: &Terms, b: Bool, stop: &Stop) -> Option<(Lit, Lit)> {
        self.encode(terms, b.into(), stop)?;
        Some((self.of_bool(b), self.bools[b.place()].map_or(Lit::FALSE, |w| w.overflow)))
    }

    /// The bits of a variable, the sign last, and the literal that says whether it is outside.
    pub fn int_var(&mut self, terms: &Terms, v: IntVar) -> (Vec<Lit>, Lit) {
        let word = self.int_variable(terms, v);
        (word.bits, word.overflow)
    }

    pub fn bool_var(&mut self, v: BoolVar) -> Lit {
        *self.bool_vars.entry(v).or_insert_with(|| self.circuit.input())
    }

    /// The variables that have been met.
    pub fn bool_vars(&self) -> impl Iterator<Item = (BoolVar, Lit)> + '_ {
        self.bool_vars.iter().map(|(v, l)| (*v, *l))
    }

    pub fn int_vars(&self) -> impl Iterator<Item = (IntVar, &[Lit])> + '_ {
        self.int_vars.iter().map(|(v, w)| (*v, w.bits.as_slice()))
    }

    fn of_bool(&self, b: Bool) -> Lit {
        // Whoever asks has encoded it before: children come first.
        let wire = self.bools[b.place()].map_or(Lit::FALSE, |w| w.lit);
        wire.invert_if(b.is_negated())
    }

    fn overflow_of(&self, b: Bool) -> Lit {
        self.bools[b.place()].map_or(Lit::FALSE, |w| w.overflow)
    }

    fn encode(&mut self, terms: &Terms, root: Term, stop: &Stop) -> Option<()> {
        if self.bools.len() < terms.bools() {
            self.bools.resize(terms.bools(), None);
        }
        let is_done = |t: Term| match t {
            Term::Bool(b) => self.bools[b.place()].is_some(),
            Term::Int(i) => self.ints.contains_key(&i),
        };
        if is_done(root) {
            return Some(());
        }
        for (n, t) in terms.children_first(&[root], is_done).into_iter().enumerate() {
            if n % 256 == 0 && stop.is_over() {
                return None;
            }
            match t {
                Term::Bool(b) => {
                    let wire = self.bool_term(terms, b);
                    self.bools[b.place()] = Some(wire);
                }
                Term::Int(i) => {
                    let word = self.int_term(terms, i);
                    self.ints.insert(i, word);
                }
            }
        }
        Some(())
    }

    // ---- booleans

    fn bool_term(&mut self, terms: &Terms, b: Bool) -> Wire {
        match terms.bool_node(b) {
            BoolNode::True => Wire { lit: Lit::TRUE, overflow: Lit::FALSE },
            BoolNode::Var(v) => Wire { lit: self.bool_var(*v), overflow: Lit::FALSE },
            BoolNode::And(parts) => {
                let lits: Vec<Lit> = parts.iter().map(|&p| self.of_bool(p)).collect();
                let overflows: Vec<Lit> = parts.iter().map(|&p| self.overflow_of(p)).collect();
                Wire { lit: self.circuit.and(lits), overflow: self.circuit.or(overflows) }
            }
            BoolNode::Ite(test, yes, no) => {
                let overflows = [*test, *yes, *no].map(|p| self.overflow_of(p));
                let [test, yes, no] = [*test, *yes, *no].map(|p| self.of_bool(p));
                Wire { lit: self.circuit.ite(test, yes, no), overflow: self.circuit.or(overflows) }
            }
            BoolNode::Le(a, b) => {
                if let Some(wire) = self.count_bound(terms, *a, *b) {
                    return wire;
                }
                let (x, y) = (self.ints[a].clone(), self.ints[b].clone());
                let lit = self.le(&x, &y);
                self.compared(lit, &x, &y)
            }
            BoolNode::Eq(a, b) => {
                let count = self.count_value(terms, *a, *b).or_else(|| self.count_value(terms, *b, *a));
                if let Some(wire) = count {
                    return wire;
                }
                let (x, y) = (self.ints[a].clone(), self.ints[b].clone());
                let lit = self.eq(&x, &y);
                self.compared(lit, &x, &y)
            }
        }
    }

    /// A comparison of words that may not have their values is free.
    fn compared(&mut self, lit: Lit, x: &Word, y: &Word) -> Wire {
        let overflow = self.circuit.or([x.overflow, y.overflow]);
        if overflow == Lit::FALSE {
            return Wire { lit, overflow };
        }
        let free = self.circuit.input();
        Wire { lit: self.circuit.ite(overflow, free, lit), overflow }
    }

    fn le(&mut self, x: &Word, y: &Word) -> Lit {
        if x.range.is_below(&y.range) {
            return Lit::TRUE;
        }
        if x.range.is_apart(&y.range) {
            return Lit::FALSE;
        }
        let width = x.bits.len().max(y.bits.len());
        // From the lowest bit on: whether x ≤ y up to here. The bit of the sign counts the other way.
        let mut so_far = Lit::TRUE;
        for place in 0..width {
            let (mut a, mut b) = (x.bit(place), y.bit(place));
            if place + 1 == width && self.mistake != Some(Mistake::ForgetsSign) {
                (a, b) = (b, a);
            }
            so_far = self.circuit.majority(!a, b, so_far);
        }
        so_far
    }

    fn eq(&mut self, x: &Word, y: &Word) -> Lit {
        if x.range.is_apart(&y.range) {
            return Lit::FALSE;
        }
        let width = x.bits.len().max(y.bits.len());
        let same: Vec<Lit> = (0..width).map(|p| !self.circuit.xor(x.bit(p), y.bit(p))).collect();
        self.circuit.and(same)
    }

    // ---- counts against constants

    /// A count with a constant added, and whether the count is subtracted.
    fn as_count<'t>(&self, terms: &'t Terms, i: Int) -> Option<(&'t [Bool], BigInt, bool)> {
        match terms.int_node(i) {
            IntNode::Count(parts) => Some((parts, BigInt::zero(), false)),
            IntNode::Sum(parts, c) => match parts.as_slice() {
                [(one, factor)] if factor.abs().is_one() => match terms.int_node(*one) {
                    IntNode::Count(parts) => Some((parts, c.clone(), factor.is_negative())),
                    _ => None,
                },
                _ => None,
            },
            _ => None,
        }
    }

    /// a ≤ b, if one of them is a count and the other one a constant.
    fn count_bound(&mut self, terms: &Terms, a: Int, b: Int) -> Option<Wire> {
        let one = BigInt::one();
        let one_more =
            if self.mistake == Some(Mistake::CountsOneMore) { BigInt::one() } else { BigInt::zero() };
        if let (Some((parts, c, is_negative)), Some(k)) = (self.as_count(terms, a), terms.known(b)) {
            // n + c ≤ k, or c - n ≤ k
            return if is_negative {
                self.at_least(parts, &(c - k + one_more))
            } else {
                let wire = self.at_least(parts, &(k - c + one + one_more))?;
                Some(Wire { lit: !wire.lit, ..wire })
            };
        }
        let (k, (parts, c, is_negative)) = (terms.known(a)?, self.as_count(terms, b)?);
        if is_negative {
            let wire = self.at_least(parts, &(c - k + one + one_more))?;
            Some(Wire { lit: !wire.lit, ..wire })
        } else {
            self.at_least(parts, &(k - c + one_more))
        }
    }

    /// a = b, if the first is a count and the second a constant.
    fn count_value(&mut self, terms: &Terms, a: Int, b: Int) -> Option<Wire> {
        let (parts, c, is_negative) = self.as_count(terms, a)?;
        let k = terms.known(b)?;
        let value = if is_negative { c - k } else { k - c };
        let (this, more) = (self.at_least(parts, &value)?, self.at_least(parts, &(value + 1u32))?);
        Some(Wire { lit: self.circuit.and([this.lit, !more.lit]), overflow: this.overflow })
    }

    /// Whether at least so many are true: a row per part, a column per number, one choice per cell. Unlike a sum, this
    /// lets a solver see at once that the rest must be false. None if the table were too large.
    fn at_least(&mut self, parts: &[Bool], least: &BigInt) -> Option<Wire> {
        let overflows: Vec<Lit> = parts.iter().map(|&p| self.overflow_of(p)).collect();
        let overflow = self.circuit.or(overflows);
        if !least.is_positive() {
            return Some(Wire { lit: Lit::TRUE, overflow });
        }
        if *least > BigInt::from(parts.len()) {
            return Some(Wire { lit: Lit::FALSE, overflow });
        }
        let least = usize::try_from(least).ok()?;
        // At least k of n are true, or at least n - k + 1 are false: the smaller table.
        let other = parts.len() - least + 1;
        let is_inverted = other < least;
        let columns = least.min(other);
        if columns * parts.len() > LARGEST_TABLE {
            return None;
        }
        let mut row = vec![Lit::FALSE; columns + 1];
        row[0] = Lit::TRUE;
        for &p in parts {
            let lit = self.of_bool(p).invert_if(is_inverted);
            for n in (1..=columns).rev() {
                row[n] = self.circuit.ite(lit, row[n - 1], row[n]);
            }
        }
        Some(Wire { lit: row[columns].invert_if(is_inverted), overflow })
    }

    // ---- integers

    fn int_term(&mut self, terms: &Terms, i: Int) -> Word {
        let range = terms.range(i);
        match terms.int_node(i) {
            IntNode::Const(c) => constant(c),
            IntNode::Var(v) => self.int_variable(terms, *v),
            IntNode::Sum(parts, c) => {
                let mut weighted = vec![];
                let mut sum = Bounds::exactly(c.clone());
                let mut overflows = vec![];
                for (part, factor) in parts {
                    let word = &self.ints[part];
                    sum = sum.plus(&word.range.scaled(factor));
                    overflows.push(word.overflow);
                    scale(word, factor, &mut weighted);
                }
                self.sum(weighted, c.clone(), sum, range, overflows)
            }
            IntNode::Count(parts) => {
                let lits = parts.iter().map(|&p| self.of_bool(p));
                let weighted = lits.map(|lit| Weighted { lit, power: 0, is_negative: false }).collect();
                let overflows = parts.iter().map(|&p| self.overflow_of(p)).collect();
                let first =
                    if self.mistake == Some(Mistake::CountsOneMore) { BigInt::one() } else { BigInt::zero() };
                self.sum(weighted, first, range.clone(), range, overflows)
            }
            IntNode::Mul(a, b) => {
                let (x, y) = (self.ints[a].clone(), self.ints[b].clone());
                let mut weighted = vec![];
                for (i, &p) in x.bits.iter().enumerate() {
                    for (j, &q) in y.bits.iter().enumerate() {
                        let is_negative = (i + 1 == x.bits.len()) != (j + 1 == y.bits.len());
                        let lit = self.circuit.and([p, q]);
                        weighted.push(Weighted { lit, power: i + j, is_negative });
                    }
                }
                self.sum(
                    weighted,
                    BigInt::zero(),
                    x.range.times(&y.range),
                    range,
                    vec![x.overflow, y.overflow],
                )
            }
            IntNode::Div(a, b) => {
                let (x, y) = (self.ints[a].clone(), self.ints[b].clone());
                let (quotient, _) = self.divide(&x, &y);
                let is_negative = self.circuit.xor(x.sign(), y.sign());
                self.signed(
                    quotient,
                    is_negative,
                    x.range.over(&y.range),
                    range,
                    vec![x.overflow, y.overflow],
                )
            }
            IntNode::Mod(a, b) => {
                let (x, y) = (self.ints[a].clone(), self.ints[b].clone());
                let (_, rest) = self.divide(&x, &y);
                let is_negative = x.sign();
                self.signed(rest, is_negative, x.range.modulo(&y.range), range, vec![x.overflow, y.overflow])
            }
            IntNode::Ite(test, yes, no) => {
                let lit = self.of_bool(*test);
                let below = self.overflow_of(*test);
                let (mut x, mut y) = (self.ints[yes].clone(), self.ints[no].clone());
                let either = x.range.hull(&y.range);
                if self.mistake == Some(Mistake::SwapsIte) {
                    std::mem::swap(&mut x, &mut y);
                }
                let width = x.bits.len().max(y.bits.len());
                let bits = (0..width).map(|p| self.circuit.ite(lit, x.bit(p), y.bit(p))).collect();
                let chosen = self.circuit.ite(lit, x.overflow, y.overflow);
                let overflow = self.circuit.or([below, chosen]);
                self.fit(bits, either, range, overflow)
            }
        }
    }

    fn int_variable(&mut self, terms: &Terms, v: IntVar) -> Word {
        if let Some(word) = self.int_vars.get(&v) {
            return word.clone();
        }
        let bounds = terms.bounds(v);
        let exact = bounds.width().filter(|w| *w <= self.width.of_variable().max(EXACT_WIDTH));
        let range = match exact {
            Some(_) => bounds.clone(),
            None => bounds.meet(&all_of_width(self.width.of_variable())),
        };
        let is_cut = exact.is_none() && self.mistake != Some(Mistake::CutsVariables);
        let is_empty = range.low > range.high;
        let word = if is_empty && is_cut {
            // No number of this width is one of the variable.
            Word { overflow: Lit::TRUE, ..constant(&BigInt::zero()) }
        } else {
            // A variable whose domain is empty keeps a bit, and the bounds contradict each other.
            let width = range.width().unwrap_or(1);
            let mut bits: Vec<Lit> = (0..width).map(|_| self.circuit.input()).collect();
            if range.low.as_ref().is_some_and(|l| !l.is_negative()) && range.high.is_some() && !is_empty {
                bits[width - 1] = Lit::FALSE;
            } else if range.high.as_ref().is_some_and(|h| h.is_negative()) && !is_empty {
                bits[width - 1] = Lit::TRUE;
            }
            // Bounds are compared with all that the bits can be, so that nothing is taken for granted.
            let free = Word { bits: bits.clone(), range: all_of_width(width), overflow: Lit::FALSE };
            for (low, high) in [
                (range.low.as_ref().map(constant), Some(free.clone())),
                (Some(free.clone()), range.high.as_ref().map(constant)),
            ] {
                if let (Some(low), Some(high)) = (low, high) {
                    let claim = self.le(&low, &high);
                    self.circuit.require(claim);
                }
            }
            let overflow = if is_cut { self.circuit.input() } else { Lit::FALSE };
            Word { bits, range, overflow }
        };
        self.int_vars.insert(v, word.clone());
        word
    }

    /// A sum of weighted literals and a constant, which is in `sum`, as a word for a term that is in `range`.
    fn sum(
        &mut self,
        weighted: Vec<Weighted>,
        first: BigInt,
        sum: Bounds,
        range: &Bounds,
        overflows: Vec<Lit>,
    ) -> Word {
        let width = sum.width().unwrap_or(1);
        let bits = self.add(weighted, first, width);
        let overflow = self.circuit.or(overflows);
        self.fit(bits, sum, range, overflow)
    }

    /// The lowest bits of a sum of weighted literals and a constant.
    fn add(&mut self, weighted: Vec<Weighted>, first: BigInt, width: usize) -> Vec<Lit> {
        let mut columns: Vec<VecDeque<Lit>> = vec![VecDeque::new(); width];
        let mut rest = first;
        for w in weighted {
            if w.power >= width {
                continue;
            }
            // -b is (not b) - 1: so all weights become positive, and no sign has to be extended.
            let mut lit = w.lit;
            if w.is_negative {
                lit = !lit;
                rest -= BigInt::one() << w.power;
            }
            match lit {
                Lit::TRUE => rest += BigInt::one() << w.power,
                Lit::FALSE => {}
                _ => columns[w.power].push_back(lit),
            }
        }
        let modulus = BigInt::one() << width;
        rest = ((rest % &modulus) + &modulus) % &modulus;
        let mut sum = Vec::with_capacity(width);
        for place in 0..width {
            let mut column: Vec<Lit> = std::mem::take(&mut columns[place]).into();
            if rest.bit(place as u64) {
                column.push(Lit::TRUE);
            }
            // Two of a kind are one in the next column; a literal and its inverse are 1.
            column.sort_unstable();
            let mut simple: Vec<Lit> = vec![];
            let mut carries = vec![];
            let mut ones = 0usize;
            for lit in column {
                match simple.last() {
                    Some(&last) if last == lit && lit != Lit::TRUE => {
                        simple.pop();
                        carries.push(lit);
                    }
                    Some(&last) if last == !lit => {
                        simple.pop();
                        ones += 1;
                    }
                    _ if lit == Lit::TRUE => ones += 1,
                    _ if lit == Lit::FALSE => {}
                    _ => simple.push(lit),
                }
            }
            if ones % 2 == 1 {
                simple.push(Lit::TRUE);
            }
            carries.extend(std::iter::repeat_n(Lit::TRUE, ones / 2));
            let mut column: VecDeque<Lit> = simple.into();
            while column.len() > 1 {
                // The oldest first keeps the tree flat.
                let a = column.pop_front().unwrap_or(Lit::FALSE);
                let b = column.pop_front().unwrap_or(Lit::FALSE);
                let c = column.pop_front().unwrap_or(Lit::FALSE);
                if place + 1 == width {
                    let ab = self.circuit.xor(a, b);
                    column.push_back(self.circuit.xor(ab, c));
                } else {
                    let (sum, carry) = self.circuit.full_adder(a, b, c);
                    column.push_back(sum);
                    carries.push(carry);
                }
            }
            sum.push(column.pop_front().unwrap_or(Lit::FALSE));
            if place + 1 < width {
                // A constant that is carried joins the constant part, all others the next column.
                for carry in carries {
                    match carry {
                        Lit::TRUE => rest += BigInt::one() << (place + 1),
                        Lit::FALSE => {}
                        _ => columns[place + 1].push_back(carry),
                    }
                }
            }
        }
        sum
    }

    /// The bits of a number of `sum` as a word for a term that is in `range`, cut off if they are too many.
    fn fit(&mut self, mut bits: Vec<Lit>, sum: Bounds, range: &Bounds, overflow: Lit) -> Word {
        let cap = self.width.of_term();
        let mut both = sum.meet(range);
        if both.low > both.high {
            // Only if there is no value at all.
            both = sum;
        }
        let width = both.width().unwrap_or(bits.len());
        let mut overflow = overflow;
        if width <= cap {
            bits.truncate(width);
        } else {
            let sign = bits[cap - 1];
            let beyond: Vec<Lit> = bits[cap..].iter().map(|&b| self.circuit.xor(b, sign)).collect();
            if self.mistake != Some(Mistake::DropsOverflow) {
                overflow = self.circuit.or(beyond.into_iter().chain([overflow]));
            }
            bits.truncate(cap);
            both = both.meet(&all_of_width(cap));
        }
        if both.low.as_ref().is_some_and(|l| !l.is_negative()) && both.low <= both.high {
            // The interval says so: the circuit need not.
            if let Some(sign) = bits.last_mut() {
                *sign = Lit::FALSE;
            }
        }
        Word { bits, range: both, overflow }
    }

    /// The absolute value: bits without a sign.
    fn absolute(&mut self, x: &Word) -> Vec<Lit> {
        let sign = match self.mistake {
            Some(Mistake::DividesUnsigned) => Lit::FALSE,
            _ => x.sign(),
        };
        let body = x.bits.iter().enumerate();
        let mut weighted: Vec<Weighted> = vec![];
        for (power, &bit) in body {
            let lit = self.circuit.xor(bit, sign);
            weighted.push(Weighted { lit, power, is_negative: false });
        }
        weighted.push(Weighted { lit: sign, power: 0, is_negative: false });
        self.add(weighted, BigInt::zero(), x.bits.len())
    }

    /// Quotient and remainder of the absolute values, bit by bit as on paper; both 0 if the divisor is 0.
    fn divide(&mut self, x: &Word, y: &Word) -> (Vec<Lit>, Vec<Lit>) {
        let (dividend, mut divisor) = (self.absolute(x), self.absolute(y));
        while divisor.len() > 1 && divisor.last() == Some(&Lit::FALSE) {
            divisor.pop();
        }
        let is_divisor = self.circuit.or(divisor.iter().copied());
        let unsigned = |bits: &[Lit]| {
            let bits: Vec<Lit> = bits.iter().copied().chain([Lit::FALSE]).collect();
            Word { range: all_of_width(bits.len()), bits, overflow: Lit::FALSE }
        };
        let by = unsigned(&divisor);
        let mut rest: Vec<Lit> = vec![];
        let mut quotient = vec![Lit::FALSE; dividend.len()];
        for place in (0..dividend.len()).rev() {
            // The rest is smaller than the divisor; with one more bit it is smaller than twice that.
            rest.insert(0, dividend[place]);
            let so_far = unsigned(&rest);
            let fits = self.le(&by, &so_far);
            quotient[place] = fits;
            let width = rest.len().max(divisor.len());
            let mut weighted = vec![];
            for (power, &lit) in rest.iter().enumerate() {
                weighted.push(Weighted { lit, power, is_negative: false });
            }
            for (power, &lit) in divisor.iter().enumerate() {
                weighted.push(Weighted { lit, power, is_negative: true });
            }
            let less = self.add(weighted, BigInt::zero(), width);
            let kept = (0..width.min(divisor.len())).map(|p| {
                let before = rest.get(p).copied().unwrap_or(Lit::FALSE);
                self.circuit.ite(fits, less[p], before)
            });
            rest = kept.collect();
        }
        let quotient = quotient.into_iter().map(|b| self.circuit.and([b, is_divisor])).collect();
        let rest = rest.into_iter().map(|b| self.circuit.and([b, is_divisor])).collect();
        (quotient, rest)
    }

    /// An absolute value with a sign, for a term that is in `range`.
    fn signed(
        &mut self,
        bits: Vec<Lit>,
        is_negative: Lit,
        sum: Bounds,
        range: &Bounds,
        overflows: Vec<Lit>,
    ) -> Word {
        let width = bits.len() + 1;
        let mut weighted = vec![];
        for power in 0..width {
            let bit = bits.get(power).copied().unwrap_or(Lit::FALSE);
            let lit = self.circuit.xor(bit, is_negative);
            weighted.push(Weighted { lit, power, is_negative: false });
        }
        weighted.push(Weighted { lit: is_negative, power: 0, is_negative: false });
        let bits = self.add(weighted, BigInt::zero(), width);
        let overflow = self.circuit.or(overflows);
        self.fit(bits, sum.meet(&all_of_width(width)), range, overflow)
    }
}

fn constant(value: &BigInt) -> Word {
    let bits = (0..signed_width(value)).map(|p| if value.bit(p as u64) { Lit::TRUE } else { Lit::FALSE });
    Word { bits: bits.collect(), range: Bounds::exactly(value.clone()), overflow: Lit::FALSE }
}

fn all_of_width(width: usize) -> Bounds {
    let half = BigInt::one() << (width - 1);
    Bounds { low: Some(-&half), high: Some(half - 1u32) }
}

/// A word times a constant, as weighted literals: one copy for each digit of the factor, of which there are few when
/// digits may be negative.
fn scale(word: &Word, factor: &BigInt, weighted: &mut Vec<Weighted>) {
    let mut rest = factor.clone();
    let mut power = 0;
    while !rest.is_zero() {
        if rest.bit(0) {
            // The digit is 1 or -1, whichever makes what is left divisible by four.
            let is_negative = rest.bit(1);
            rest += if is_negative { 1 } else { -1 };
            for (place, &lit) in word.bits.iter().enumerate() {
                let is_sign = place + 1 == word.bits.len();
                weighted.push(Weighted { lit, power: power + place, is_negative: is_negative != is_sign });
            }
        }
        rest >>= 1;
        power += 1;
    }
}

/// The number that bits stand for, the sign last.
pub fn number(bits: impl DoubleEndedIterator<Item = bool>) -> BigInt {
    let mut bits = bits.rev();
    let mut value = if bits.next().unwrap_or(false) { -BigInt::one() } else { BigInt::zero() };
    for bit in bits {
        value = (value << 1) + u32::from(bit);
    }
    value
}
