//! Terms as circuits. An integer is a word of two's complement, as wide as its interval. An integer without bounds gets
//! a word of some width, whose largest and smallest number stand for everything beyond as well. So a word comes with
//! what is known about the value: it is the word, or at least the word (`more`), or at most the word (`less`), or both,
//! that is, anything. A comparison that does not follow from this is free; whether it differs from the comparison of
//! the words is an input of its own.
//!
//! Two things hold, and `sat` rests on them. A model of the terms, whatever its integers, gives a model of the circuit:
//! every variable is the number nearest to its value, and what is free takes the value it has. And a model of the
//! circuit in which nothing differs and no word was cut off gives a model of the terms: every variable is its word.
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

/// Counts are compared with a constant by a table of this many cells at most, otherwise by adding. Measured
/// (`tests/measure.rs`): half of 20 takes as long either way, half of 40 three times as long by a table, one of 40 is
/// what tables are good at.
const LARGEST_TABLE: usize = 400;

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
    /// A variable without bounds is taken for one of its width.
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
    /// The value may be greater than the word.
    more: Lit,
    /// The value may be smaller than the word.
    less: Lit,
    /// The word is not the value even if every variable is its word.
    is_cut: Lit,
}

impl Word {
    fn bit(&self, place: usize) -> Lit {
        // A word has at least its sign, which goes on for ever.
        self.bits.get(place).or(self.bits.last()).copied().unwrap_or(Lit::FALSE)
    }

    fn sign(&self) -> Lit {
        self.bits.last().copied().unwrap_or(Lit::FALSE)
    }

    fn is_exact(&self) -> bool {
        self.more == Lit::FALSE && self.less == Lit::FALSE && self.is_cut == Lit::FALSE
    }

    fn of(bits: Vec<Lit>, range: Bounds) -> Word {
        Word { bits, range, more: Lit::FALSE, less: Lit::FALSE, is_cut: Lit::FALSE }
    }
}

/// A boolean term as a literal.
#[derive(Clone, Copy, Debug)]
struct Wire {
    lit: Lit,
    /// False if every comparison below it is that of the words, and no word is cut off.
    overflow: Lit,
}

/// What is known about a result, from what is known about its arguments.
struct Known {
    more: Lit,
    less: Lit,
    is_cut: Lit,
}

impl Known {
    const VALUE: Known = Known { more: Lit::FALSE, less: Lit::FALSE, is_cut: Lit::FALSE };
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

    /// The literal of a term, and one that is false if all its integers are their words. None if there is no time.
    pub fn bool(&mut self, terms: &Terms, b: Bool, stop: &Stop) -> Option<(Lit, Lit)> {
        self.encode(terms, b.into(), stop)?;
        Some((self.of_bool(b), self.bools[b.place()].map_or(Lit::FALSE, |w| w.overflow)))
    }

    /// The bits of a variable, the sign last, and whether it can be something else.
    pub fn int_var(&mut self, terms: &Terms, v: IntVar) -> (Vec<Lit>, bool) {
        let word = self.int_variable(terms, v);
        let is_exact = word.is_exact();
        (word.bits, !is_exact)
    }

    pub fn bool_var(&mut self, v: BoolVar) -> Lit {
        *self.bool_vars.entry(v).or_insert_with(|| self.circuit.input())
    }

    /// Before it is met: the literal of a variable.
    pub fn set_bool_var(&mut self, v: BoolVar, lit: Lit) {
        self.bool_vars.insert(v, lit);
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
                let open = self.may_differ(lit, &x, &y);
                self.compared(lit, open, &x, &y)
            }
            BoolNode::Eq(a, b) => {
                let count = self.count_value(terms, *a, *b).or_else(|| self.count_value(terms, *b, *a));
                if let Some(wire) = count {
                    return wire;
                }
                let (x, y) = (self.ints[a].clone(), self.ints[b].clone());
                let lit = self.eq(&x, &y);
                let open = if x.is_exact() && y.is_exact() {
                    Lit::FALSE
                } else {
                    let le = self.le(&x, &y);
                    let open = self.may_differ(le, &x, &y);
                    let any = self.circuit.or([x.more, x.less, y.more, y.less]);
                    self.circuit.ite(lit, any, open)
                };
                self.compared(lit, open, &x, &y)
            }
        }
    }

    /// Whether x ≤ y may be true of the values and not of the words, or the other way round. If it is true of the words,
    /// a greater x or a smaller y can change that; if not, a smaller x or a greater y.
    fn may_differ(&mut self, le: Lit, x: &Word, y: &Word) -> Lit {
        let (up, down) = (self.circuit.or([x.more, y.less]), self.circuit.or([x.less, y.more]));
        self.circuit.ite(le, up, down)
    }

    /// A comparison of words as one of values, which may differ if it is open.
    fn compared(&mut self, lit: Lit, open: Lit, x: &Word, y: &Word) -> Wire {
        let mut differs = Lit::FALSE;
        if open != Lit::FALSE {
            let free = self.circuit.input();
            differs = self.circuit.and([open, free]);
        }
        let overflow = self.circuit.or([differs, x.is_cut, y.is_cut]);
        Wire { lit: self.circuit.xor(lit, differs), overflow }
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
                let (mut more, mut less, mut cut) = (vec![], vec![], vec![]);
                for (part, factor) in parts {
                    let word = &self.ints[part];
                    sum = sum.plus(&word.range.scaled(factor));
                    let (up, down) =
                        if factor.is_negative() { (word.less, word.more) } else { (word.more, word.less) };
                    more.push(up);
                    less.push(down);
                    cut.push(word.is_cut);
                    scale(word, factor, &mut weighted);
                }
                let known = Known {
                    more: self.circuit.or(more),
                    less: self.circuit.or(less),
                    is_cut: self.circuit.or(cut),
                };
                self.sum(weighted, c.clone(), sum, range, known)
            }
            IntNode::Count(parts) => {
                // Literals have the values of their terms, whatever is known about words.
                let lits = parts.iter().map(|&p| self.of_bool(p));
                let weighted = lits.map(|lit| Weighted { lit, power: 0, is_negative: false }).collect();
                let overflows: Vec<Lit> = parts.iter().map(|&p| self.overflow_of(p)).collect();
                let first =
                    if self.mistake == Some(Mistake::CountsOneMore) { BigInt::one() } else { BigInt::zero() };
                let known = Known { is_cut: self.circuit.or(overflows), ..Known::VALUE };
                self.sum(weighted, first, range.clone(), range, known)
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
                let known = self.known_of_product(&x, &y);
                self.sum(weighted, BigInt::zero(), x.range.times(&y.range), range, known)
            }
            IntNode::Div(a, b) => {
                let (x, y) = (self.ints[a].clone(), self.ints[b].clone());
                let (quotient, _) = self.divide(&x, &y);
                let is_negative = self.circuit.xor(x.sign(), y.sign());
                // The quotient grows with the dividend, or falls if the divisor is negative.
                let more = self.circuit.ite(y.sign(), x.less, x.more);
                let less = self.circuit.ite(y.sign(), x.more, x.less);
                let known = Known {
                    more: self.circuit.or([more, y.more, y.less]),
                    less: self.circuit.or([less, y.more, y.less]),
                    is_cut: self.circuit.or([x.is_cut, y.is_cut]),
                };
                self.signed(quotient, is_negative, x.range.over(&y.range), range, known)
            }
            IntNode::Mod(a, b) => {
                let (x, y) = (self.ints[a].clone(), self.ints[b].clone());
                let (_, rest) = self.divide(&x, &y);
                let any = self.circuit.or([x.more, x.less, y.more, y.less]);
                let known = Known { more: any, less: any, is_cut: self.circuit.or([x.is_cut, y.is_cut]) };
                self.signed(rest, x.sign(), x.range.modulo(&y.range), range, known)
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
                let is_cut = self.circuit.ite(lit, x.is_cut, y.is_cut);
                let known = Known {
                    more: self.circuit.ite(lit, x.more, y.more),
                    less: self.circuit.ite(lit, x.less, y.less),
                    is_cut: self.circuit.or([below, is_cut]),
                };
                self.fit(bits, either, range, known)
            }
        }
    }

    /// If words are on the same side of zero as their values, and not farther away, so is the product.
    fn known_of_product(&mut self, x: &Word, y: &Word) -> Known {
        let is_cut = self.circuit.or([x.is_cut, y.is_cut]);
        if x.is_exact() && y.is_exact() {
            return Known::VALUE;
        }
        let mut sides = vec![];
        let mut can_differ = vec![];
        let mut is_wild = vec![];
        for w in [x, y] {
            let is_not_zero = self.circuit.or(w.bits.iter().copied());
            let any = self.circuit.or([w.more, w.less]);
            // A word that is at least a negative number, or at most a positive one, may be on either side.
            let wild = [
                self.circuit.and([w.more, w.sign()]),
                self.circuit.and([w.less, !w.sign(), is_not_zero]),
                self.circuit.and([w.more, w.less]),
            ];
            is_wild.push(self.circuit.or(wild));
            sides.push(self.circuit.or([w.sign(), w.less]));
            can_differ.push((any, self.circuit.or([any, is_not_zero])));
        }
        // If one of them is 0 and nothing else, so is the product.
        let [(one, first), (other, second)] = [can_differ[0], can_differ[1]];
        let any = self.circuit.or([one, other]);
        let any = self.circuit.and([any, first, second]);
        let wild = self.circuit.or(is_wild);
        let is_negative = self.circuit.xor(sides[0], sides[1]);
        let (more, less) = (self.circuit.or([wild, !is_negative]), self.circuit.or([wild, is_negative]));
        Known { more: self.circuit.and([any, more]), less: self.circuit.and([any, less]), is_cut }
    }

    fn int_variable(&mut self, terms: &Terms, v: IntVar) -> Word {
        if let Some(word) = self.int_vars.get(&v) {
            return word.clone();
        }
        let bounds = terms.bounds(v);
        let exact = bounds.width().filter(|w| *w <= self.width.of_variable().max(EXACT_WIDTH));
        let all = all_of_width(self.width.of_variable());
        let range = if exact.is_some() { bounds.clone() } else { bounds.meet(&all) };
        let is_clamped = exact.is_none() && self.mistake != Some(Mistake::CutsVariables);
        let is_empty = range.low > range.high;
        let word = if is_empty && is_clamped {
            // All numbers of the variable are beyond the width, on one side of it.
            let is_above = bounds.low > all.high;
            let nearest = if is_above { &all.high } else { &all.low };
            let word = constant(nearest.as_ref().unwrap_or(&BigInt::zero()));
            let (more, less) = if is_above { (Lit::TRUE, Lit::FALSE) } else { (Lit::FALSE, Lit::TRUE) };
            Word { more, less, is_cut: Lit::TRUE, ..word }
        } else {
            // A variable whose domain is empty keeps a bit, and the bounds contradict each other.
            let width = range.width().unwrap_or(1);
            let mut bits: Vec<Lit> = (0..width).map(|_| self.circuit.input()).collect();
            if range.low.as_ref().is_some_and(|l| !l.is_negative()) && !is_empty {
                bits[width - 1] = Lit::FALSE;
            } else if range.high.as_ref().is_some_and(|h| h.is_negative()) && !is_empty {
                bits[width - 1] = Lit::TRUE;
            }
            // Bounds are compared with all that the bits can be, so that nothing is taken for granted.
            let free = Word::of(bits.clone(), all_of_width(width));
            let (low, high) = (range.low.as_ref().map(constant), range.high.as_ref().map(constant));
            for (low, high) in [(low.as_ref(), Some(&free)), (Some(&free), high.as_ref())] {
                if let (Some(low), Some(high)) = (low, high) {
                    let claim = self.le(low, high);
                    self.circuit.require(claim);
                }
            }
            // The ends of the width stand for what is beyond them, if anything is.
            let mut word = Word::of(bits, range);
            if is_clamped && bounds.high != word.range.high {
                word.more = high.map_or(Lit::FALSE, |high| self.eq(&free, &high));
            }
            if is_clamped && bounds.low != word.range.low {
                word.less = low.map_or(Lit::FALSE, |low| self.eq(&free, &low));
            }
            word
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
        known: Known,
    ) -> Word {
        let width = sum.width().unwrap_or(1);
        let bits = self.add(weighted, first, width);
        self.fit(bits, sum, range, known)
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

    /// The bits of a number of `sum` as a word for a term that is in `range`. A number with too many bits becomes the
    /// nearest one with fewer.
    fn fit(&mut self, mut bits: Vec<Lit>, sum: Bounds, range: &Bounds, known: Known) -> Word {
        let Known { mut more, mut less, mut is_cut } = known;
        let cap = self.width.of_term();
        let mut both = sum.meet(range);
        let is_value = more == Lit::FALSE && less == Lit::FALSE && is_cut == Lit::FALSE;
        // The interval of a term is about its value, so it says nothing about a word that is none. It is empty only if
        // there is no value at all.
        if !is_value || both.low > both.high {
            both = sum;
        }
        let width = both.width().unwrap_or(bits.len());
        if width <= cap {
            bits.truncate(width);
        } else if self.mistake == Some(Mistake::DropsOverflow) {
            bits.truncate(cap);
            both = both.meet(&all_of_width(cap));
        } else {
            bits.truncate(width);
            let sign = bits[width - 1];
            let beyond: Vec<Lit> =
                bits[cap - 1..width - 1].iter().map(|&b| self.circuit.xor(b, sign)).collect();
            let beyond = self.circuit.or(beyond);
            let (above, below) = (self.circuit.and([beyond, !sign]), self.circuit.and([beyond, sign]));
            bits.truncate(cap - 1);
            bits.iter_mut().for_each(|b| {
                let at_most = self.circuit.or([*b, above]);
                *b = self.circuit.and([at_most, !below]);
            });
            bits.push(sign);
            more = self.circuit.or([more, above]);
            less = self.circuit.or([less, below]);
            is_cut = self.circuit.or([is_cut, beyond]);
            both = both.meet(&all_of_width(cap));
        }
        if both.low.as_ref().is_some_and(|l| !l.is_negative()) && both.low <= both.high {
            // The interval says so: the circuit need not.
            if let Some(sign) = bits.last_mut() {
                *sign = Lit::FALSE;
            }
        }
        Word { bits, range: both, more, less, is_cut }
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
            let range = all_of_width(bits.len());
            Word::of(bits, range)
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
        known: Known,
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
        self.fit(bits, sum.meet(&all_of_width(width)), range, known)
    }
}

fn constant(value: &BigInt) -> Word {
    let bits = (0..signed_width(value)).map(|p| if value.bit(p as u64) { Lit::TRUE } else { Lit::FALSE });
    Word::of(bits.collect(), Bounds::exactly(value.clone()))
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
