//! Terms in place of variables, as unrolling a transition system needs it: one substitution per step.

use crate::term::{Bool, BoolNode, BoolVar, Int, IntNode, IntVar, Term, Terms, Var};
use hashbrown::HashMap;

/// Which terms stand for which variables, and what was made of the terms seen so far. A variable that is not listed
/// stays.
#[derive(Clone, Debug, Default)]
pub struct Substitution {
    bool_vars: HashMap<BoolVar, Bool>,
    int_vars: HashMap<IntVar, Int>,
    bools: HashMap<usize, Bool>,
    ints: HashMap<usize, Int>,
}

impl Substitution {
    pub fn new() -> Substitution {
        Substitution::default()
    }

    /// Both are of one kind; anything else is ignored, and the variable stays.
    pub fn rename(&mut self, terms: &mut Terms, from: Var, to: Var) {
        match (from, to) {
            (Var::Bool(from), Var::Bool(to)) => {
                let to = terms.of_bool(to);
                self.replace_bool(from, to);
            }
            (Var::Int(from), Var::Int(to)) => {
                let to = terms.of_int(to);
                self.replace_int(from, to);
            }
            _ => {}
        }
    }

    pub fn replace_bool(&mut self, from: BoolVar, to: Bool) {
        self.bool_vars.insert(from, to);
        self.forget();
    }

    pub fn replace_int(&mut self, from: IntVar, to: Int) {
        self.int_vars.insert(from, to);
        self.forget();
    }

    fn forget(&mut self) {
        self.bools.clear();
        self.ints.clear();
    }

    pub fn bool(&mut self, terms: &mut Terms, b: Bool) -> Bool {
        self.substitute(terms, b.into());
        self.of_bool(b)
    }

    pub fn int(&mut self, terms: &mut Terms, i: Int) -> Int {
        self.substitute(terms, i.into());
        self.ints[&i.place()]
    }

    fn of_bool(&self, b: Bool) -> Bool {
        let plain = self.bools[&b.place()];
        if b.is_negated() { !plain } else { plain }
    }

    fn substitute(&mut self, terms: &mut Terms, root: Term) {
        let is_done = |t: Term| match t {
            Term::Bool(b) => self.bools.contains_key(&b.place()),
            Term::Int(i) => self.ints.contains_key(&i.place()),
        };
        // Children come first, so what became of them is there when a term needs it.
        for t in terms.children_first(&[root], is_done) {
            match t {
                Term::Bool(b) => {
                    let made = match terms.bool_node(b).clone() {
                        BoolNode::True => Bool::TRUE,
                        BoolNode::Var(v) => self.bool_vars.get(&v).copied().unwrap_or(b),
                        BoolNode::And(parts) => terms.and(parts.into_iter().map(|p| self.of_bool(p))),
                        BoolNode::Ite(test, yes, no) => {
                            terms.ite(self.of_bool(test), self.of_bool(yes), self.of_bool(no))
                        }
                        BoolNode::Le(x, y) => terms.le(self.ints[&x.place()], self.ints[&y.place()]),
                        BoolNode::Eq(x, y) => terms.eq(self.ints[&x.place()], self.ints[&y.place()]),
                    };
                    self.bools.insert(b.place(), made);
                }
                Term::Int(i) => {
                    let of = |i: Int| self.ints[&i.place()];
                    let made = match terms.int_node(i).clone() {
                        IntNode::Const(_) => i,
                        IntNode::Var(v) => self.int_vars.get(&v).copied().unwrap_or(i),
                        IntNode::Sum(parts, c) => {
                            let rest = (terms.constant(c), 1.into());
                            terms.sum(parts.into_iter().map(|(i, factor)| (of(i), factor)).chain([rest]))
                        }
                        IntNode::Count(parts) => terms.count(parts.into_iter().map(|p| self.of_bool(p))),
                        IntNode::Mul(a, b) => terms.mul(of(a), of(b)),
                        IntNode::Div(a, b) => terms.div(of(a), of(b)),
                        IntNode::Mod(a, b) => terms.modulo(of(a), of(b)),
                        IntNode::Ite(test, yes, no) => terms.ite_int(self.of_bool(test), of(yes), of(no)),
                    };
                    self.ints.insert(i.place(), made);
                }
            }
        }
    }
}
