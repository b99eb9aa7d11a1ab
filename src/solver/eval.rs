//! The meaning of terms: their values under an assignment, exactly.
//! Whatever a solver answers is looked at again with this. Absent on purpose: anything clever.

use crate::term::{Assignment, Bool, BoolNode, Int, IntNode, Term, Terms, Var};
use hashbrown::HashMap;
use num_bigint::BigInt;
use num_traits::Zero;

/// Evaluates terms under one assignment and remembers the values of their subterms.
pub struct Evaluator<'a> {
    terms: &'a Terms,
    values: &'a Assignment,
    bools: HashMap<usize, bool>,
    ints: HashMap<usize, BigInt>,
}

impl<'a> Evaluator<'a> {
    pub fn new(terms: &'a Terms, values: &'a Assignment) -> Evaluator<'a> {
        Evaluator { terms, values, bools: HashMap::new(), ints: HashMap::new() }
    }

    pub fn bool(&mut self, b: Bool) -> bool {
        self.evaluate(b.into());
        self.of_bool(b)
    }

    pub fn int(&mut self, i: Int) -> BigInt {
        self.evaluate(i.into());
        self.ints[&i.place()].clone()
    }

    pub fn var(&mut self, v: Var) -> Value {
        match v {
            Var::Bool(v) => Value::Bool(self.values.bool_var(v)),
            Var::Int(v) => Value::Int(self.values.int_var(self.terms, v)),
        }
    }

    fn of_bool(&self, b: Bool) -> bool {
        self.bools[&b.place()] != b.is_negated()
    }

    fn evaluate(&mut self, root: Term) {
        let is_done = |t: Term| match t {
            Term::Bool(b) => self.bools.contains_key(&b.place()),
            Term::Int(i) => self.ints.contains_key(&i.place()),
        };
        // Children come first, so their values are there when a term needs them.
        for t in self.terms.children_first(&[root], is_done) {
            match t {
                Term::Bool(b) => {
                    let value = match self.terms.bool_node(b) {
                        BoolNode::True => true,
                        BoolNode::Var(v) => self.values.bool_var(*v),
                        BoolNode::And(parts) => parts.iter().all(|&p| self.of_bool(p)),
                        BoolNode::Ite(test, yes, no) => {
                            self.of_bool(if self.of_bool(*test) { *yes } else { *no })
                        }
                        BoolNode::Le(a, b) => self.ints[&a.place()] <= self.ints[&b.place()],
                        BoolNode::Eq(a, b) => self.ints[&a.place()] == self.ints[&b.place()],
                    };
                    self.bools.insert(b.place(), value);
                }
                Term::Int(i) => {
                    let of = |i: &Int| &self.ints[&i.place()];
                    let value = match self.terms.int_node(i) {
                        IntNode::Const(c) => c.clone(),
                        IntNode::Var(v) => self.values.int_var(self.terms, *v),
                        IntNode::Sum(parts, c) => {
                            parts.iter().fold(c.clone(), |sum, (i, factor)| sum + of(i) * factor)
                        }
                        IntNode::Count(parts) => parts.iter().filter(|&&p| self.of_bool(p)).count().into(),
                        IntNode::Mul(a, b) => of(a) * of(b),
                        IntNode::Div(_, b) | IntNode::Mod(_, b) if of(b).is_zero() => BigInt::zero(),
                        // Division of big integers is towards zero, as B has it.
                        IntNode::Div(a, b) => of(a) / of(b),
                        IntNode::Mod(a, b) => of(a) % of(b),
                        IntNode::Ite(test, yes, no) => of(if self.of_bool(*test) { yes } else { no }).clone(),
                    };
                    self.ints.insert(i.place(), value);
                }
            }
        }
    }
}

/// A value of either kind.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Value {
    Bool(bool),
    Int(BigInt),
}

impl Assignment {
    pub fn value(&self, terms: &Terms, v: Var) -> Value {
        Evaluator::new(terms, self).var(v)
    }

    pub fn set(&mut self, v: Var, value: Value) {
        match (v, value) {
            (Var::Bool(v), Value::Bool(value)) => drop(self.bools.insert(v, value)),
            (Var::Int(v), Value::Int(value)) => drop(self.ints.insert(v, value)),
            // A value of the other kind says nothing about this variable.
            _ => {}
        }
    }

    /// Whether all values are inside the bounds of their variables.
    pub fn is_within_bounds(&self, terms: &Terms) -> bool {
        self.ints.iter().all(|(v, value)| terms.bounds(*v).contains(value))
    }
}
