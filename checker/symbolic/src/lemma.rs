//! Lemmas of an inductive invariant as bytes: formulas over the cells of a state and over constants, each by its place.
//!
//! A formula is a number and then its parts, depth first:
//!
//! | number | formula | | number | integer |
//! |---|---|---|---|---|
//! | 0 | true | | 0 | a constant: an INTEGER |
//! | 1 | not: a formula | | 1 | the cell with this place |
//! | 2 | and: how many, formulas | | 2 | the variable of the constants with this place |
//! | 3 | if, then, else: three formulas | | 3 | how many; each an integer and its factor, an INTEGER; a summand |
//! | 4 | at most: two integers | | 4 | how many are true: how many, formulas |
//! | 5 | equal: two integers | | 5, 6, 7 | product, quotient, remainder: two integers |
//! | 6 | the cell with this place | | 8 | if, then, else: a formula, two integers |
//! | 7 | the variable of the constants with this place | | | |

use kanon_checker::codec::{Bytes, put_integer, put_number};
use kanon_solver::term::{Bool, BoolNode, Int, IntNode, Terms, Var};
use kanon_solver::transition::Transitions;
use std::collections::BTreeMap;

/// Formulas that are deeper than this are neither written nor read.
const MAX_DEPTH: usize = 100;

/// Where variables stand.
pub struct Places {
    cells: BTreeMap<Var, usize>,
    rigid: BTreeMap<Var, usize>,
}

impl Places {
    pub fn of(system: &Transitions) -> Places {
        Places {
            cells: system.cells.iter().enumerate().map(|(i, c)| (c.now, i)).collect(),
            rigid: system.rigid.iter().enumerate().map(|(i, v)| (*v, i)).collect(),
        }
    }

    fn put_var(&self, out: &mut Vec<u8>, v: Var, (cell, rigid): (u64, u64)) -> Option<()> {
        let (kind, place) = match (self.cells.get(&v), self.rigid.get(&v)) {
            (Some(place), _) => (cell, place),
            (None, Some(place)) => (rigid, place),
            (None, None) => return None,
        };
        put_number(out, kind);
        put_number(out, *place as u64);
        Some(())
    }

    /// Appends a formula over `now` and constants; none if it has other variables, or is too deep.
    pub fn put(&self, out: &mut Vec<u8>, terms: &Terms, b: Bool) -> Option<()> {
        self.put_bool(out, terms, b, 0)
    }

    fn put_bool(&self, out: &mut Vec<u8>, terms: &Terms, b: Bool, depth: usize) -> Option<()> {
        if depth > MAX_DEPTH {
            return None;
        }
        let d = depth + 1;
        if b.is_negated() {
            put_number(out, 1);
        }
        match terms.bool_node(b.plain()) {
            BoolNode::True => put_number(out, 0),
            BoolNode::Var(v) => self.put_var(out, Var::Bool(*v), (6, 7))?,
            BoolNode::And(parts) => {
                put_number(out, 2);
                put_number(out, parts.len() as u64);
                for p in parts {
                    self.put_bool(out, terms, *p, d)?;
                }
            }
            BoolNode::Ite(test, yes, no) => {
                put_number(out, 3);
                for p in [test, yes, no] {
                    self.put_bool(out, terms, *p, d)?;
                }
            }
            BoolNode::Le(a, b) => self.put_two(out, terms, 4, (*a, *b), d)?,
            BoolNode::Eq(a, b) => self.put_two(out, terms, 5, (*a, *b), d)?,
        }
        Some(())
    }

    fn put_two(
        &self,
        out: &mut Vec<u8>,
        terms: &Terms,
        kind: u64,
        (a, b): (Int, Int),
        d: usize,
    ) -> Option<()> {
        put_number(out, kind);
        self.put_int(out, terms, a, d)?;
        self.put_int(out, terms, b, d)
    }

    fn put_int(&self, out: &mut Vec<u8>, terms: &Terms, i: Int, depth: usize) -> Option<()> {
        if depth > MAX_DEPTH {
            return None;
        }
        let d = depth + 1;
        match terms.int_node(i) {
            IntNode::Const(c) => {
                put_number(out, 0);
                put_integer(out, c);
            }
            IntNode::Var(v) => self.put_var(out, Var::Int(*v), (1, 2))?,
            IntNode::Sum(parts, rest) => {
                put_number(out, 3);
                put_number(out, parts.len() as u64);
                for (p, factor) in parts {
                    self.put_int(out, terms, *p, d)?;
                    put_integer(out, factor);
                }
                put_integer(out, rest);
            }
            IntNode::Count(parts) => {
                put_number(out, 4);
                put_number(out, parts.len() as u64);
                for p in parts {
                    self.put_bool(out, terms, *p, d)?;
                }
            }
            IntNode::Mul(a, b) => self.put_two(out, terms, 5, (*a, *b), d)?,
            IntNode::Div(a, b) => self.put_two(out, terms, 6, (*a, *b), d)?,
            IntNode::Mod(a, b) => self.put_two(out, terms, 7, (*a, *b), d)?,
            IntNode::Ite(test, yes, no) => {
                put_number(out, 8);
                self.put_bool(out, terms, *test, d)?;
                self.put_int(out, terms, *yes, d)?;
                self.put_int(out, terms, *no, d)?;
            }
        }
        Some(())
    }
}

/// Reads formulas: which variables stand for the cells and the constants.
pub struct Over<'a> {
    pub state: &'a [Var],
    pub rigid: &'a [Var],
}

impl Over<'_> {
    /// A formula; none if it is not written as one.
    pub fn take(&self, bytes: &mut Bytes, terms: &mut Terms) -> Option<Bool> {
        self.bool(bytes, terms, 0)
    }

    fn var(&self, bytes: &mut Bytes, is_cell: bool) -> Option<Var> {
        let place = usize::try_from(bytes.number()?).ok()?;
        if is_cell { self.state } else { self.rigid }.get(place).copied()
    }

    fn bools(&self, bytes: &mut Bytes, terms: &mut Terms, depth: usize) -> Option<Vec<Bool>> {
        let mut parts = vec![];
        for _ in 0..bytes.number()? {
            parts.push(self.bool(bytes, terms, depth)?);
        }
        Some(parts)
    }

    fn two(&self, bytes: &mut Bytes, terms: &mut Terms, depth: usize) -> Option<(Int, Int)> {
        Some((self.int(bytes, terms, depth)?, self.int(bytes, terms, depth)?))
    }

    fn bool(&self, bytes: &mut Bytes, terms: &mut Terms, depth: usize) -> Option<Bool> {
        // A negation is a level when it is read.
        if depth > 2 * MAX_DEPTH {
            return None;
        }
        let d = depth + 1;
        Some(match bytes.number()? {
            0 => Bool::TRUE,
            1 => !self.bool(bytes, terms, d)?,
            2 => {
                let parts = self.bools(bytes, terms, d)?;
                terms.and(parts)
            }
            3 => {
                let test = self.bool(bytes, terms, d)?;
                let (yes, no) = (self.bool(bytes, terms, d)?, self.bool(bytes, terms, d)?);
                terms.ite(test, yes, no)
            }
            4 => {
                let (a, b) = self.two(bytes, terms, d)?;
                terms.le(a, b)
            }
            5 => {
                let (a, b) = self.two(bytes, terms, d)?;
                terms.eq(a, b)
            }
            kind @ (6 | 7) => match self.var(bytes, kind == 6)? {
                Var::Bool(v) => terms.of_bool(v),
                Var::Int(_) => return None,
            },
            _ => return None,
        })
    }

    fn int(&self, bytes: &mut Bytes, terms: &mut Terms, depth: usize) -> Option<Int> {
        if depth > 2 * MAX_DEPTH {
            return None;
        }
        let d = depth + 1;
        Some(match bytes.number()? {
            0 => {
                let value = bytes.integer()?;
                terms.constant(value)
            }
            kind @ (1 | 2) => match self.var(bytes, kind == 1)? {
                Var::Int(v) => terms.of_int(v),
                Var::Bool(_) => return None,
            },
            3 => {
                let mut parts = vec![];
                for _ in 0..bytes.number()? {
                    parts.push((self.int(bytes, terms, d)?, bytes.integer()?));
                }
                let rest = bytes.integer()?;
                let (sum, rest) = (terms.sum(parts), terms.constant(rest));
                terms.add(sum, rest)
            }
            4 => {
                let parts = self.bools(bytes, terms, d)?;
                terms.count(parts)
            }
            5 => {
                let (a, b) = self.two(bytes, terms, d)?;
                terms.mul(a, b)
            }
            6 => {
                let (a, b) = self.two(bytes, terms, d)?;
                terms.div(a, b)
            }
            7 => {
                let (a, b) = self.two(bytes, terms, d)?;
                terms.modulo(a, b)
            }
            8 => {
                let test = self.bool(bytes, terms, d)?;
                let (yes, no) = self.two(bytes, terms, d)?;
                terms.ite_int(test, yes, no)
            }
            _ => return None,
        })
    }
}
