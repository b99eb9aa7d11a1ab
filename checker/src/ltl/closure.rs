//! A formula in the core: true, propositions, ¬, ∨, X, U, Y, S; each formula once, with a number (docs/certificate.md).

use kanon_language::temporal::syntax::{Binary, Formula, Prop, Unary};
use std::collections::HashMap;

/// A formula of the core; parts have smaller numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Core {
    True,
    Prop(Prop),
    Not(u32),
    Or(u32, u32),
    Next(u32),
    Until(u32, u32),
    Yesterday(u32),
    Since(u32, u32),
}

/// All formulas that the negation of a formula is made of.
#[derive(Clone, Debug)]
pub struct Closure {
    formulas: Vec<Core>,
    numbers: HashMap<Core, u32>,
    /// The negation.
    pub root: u32,
    /// What stands behind Y: f of `Y f`, and every `f S g` itself.
    pub past: Vec<u32>,
}

impl Closure {
    /// Of the negation of a formula.
    pub fn of_negation(formula: &Formula<Prop>) -> Closure {
        let mut c = Closure { formulas: vec![], numbers: HashMap::new(), root: 0, past: vec![] };
        let f = c.core(formula);
        c.root = c.not(f);
        for i in 0..c.formulas.len() {
            let behind = match c.formulas[i] {
                Core::Yesterday(f) => f,
                Core::Since(..) => i as u32,
                _ => continue,
            };
            if !c.past.contains(&behind) {
                c.past.push(behind);
            }
        }
        c.past.sort_unstable();
        c
    }

    pub fn len(&self) -> usize {
        self.formulas.len()
    }

    pub fn is_empty(&self) -> bool {
        self.formulas.is_empty()
    }

    pub fn get(&self, f: u32) -> Option<Core> {
        self.formulas.get(f as usize).copied()
    }

    /// The number of a formula, if it is here; `f ∨ g` and `g ∨ f` are one.
    pub fn find(&self, f: Core) -> Option<u32> {
        self.numbers.get(&normal(f)).copied()
    }

    fn core(&mut self, f: &Formula<Prop>) -> u32 {
        match f {
            Formula::True => self.make(Core::True),
            Formula::False => {
                let t = self.make(Core::True);
                self.not(t)
            }
            Formula::Atom(p) => self.make(Core::Prop(*p)),
            Formula::Not(g) => {
                let g = self.core(g);
                self.not(g)
            }
            Formula::Unary(op, g) => {
                let g = self.core(g);
                match op {
                    Unary::Next => self.make(Core::Next(g)),
                    Unary::Yesterday => self.make(Core::Yesterday(g)),
                    Unary::Finally | Unary::Once => {
                        let t = self.make(Core::True);
                        self.make(if op.is_past() { Core::Since(t, g) } else { Core::Until(t, g) })
                    }
                    Unary::Globally | Unary::Historically => {
                        let (t, not) = (self.make(Core::True), self.not(g));
                        let some = if op.is_past() { Core::Since(t, not) } else { Core::Until(t, not) };
                        let some = self.make(some);
                        self.not(some)
                    }
                }
            }
            Formula::Binary(op, g, h) => {
                let (g, h) = (self.core(g), self.core(h));
                match op {
                    Binary::And => self.and(g, h),
                    Binary::Or => self.or(g, h),
                    Binary::Implies => {
                        let g = self.not(g);
                        self.or(g, h)
                    }
                    Binary::Iff => {
                        let both = self.and(g, h);
                        let either = self.or(g, h);
                        let neither = self.not(either);
                        self.or(both, neither)
                    }
                    Binary::Until => self.make(Core::Until(g, h)),
                    Binary::Since => self.make(Core::Since(g, h)),
                    Binary::Release | Binary::Trigger => {
                        let (g, h) = (self.not(g), self.not(h));
                        let dual = if op.is_past() { Core::Since(g, h) } else { Core::Until(g, h) };
                        let dual = self.make(dual);
                        self.not(dual)
                    }
                    Binary::WeakUntil => {
                        let (not, either) = (self.not(h), self.or(g, h));
                        let neither = self.not(either);
                        let broken = self.make(Core::Until(not, neither));
                        self.not(broken)
                    }
                }
            }
        }
    }

    fn make(&mut self, f: Core) -> u32 {
        let next = self.formulas.len() as u32;
        let number = *self.numbers.entry(normal(f)).or_insert(next);
        if number == next {
            self.formulas.push(normal(f));
        }
        number
    }

    /// `¬¬f` is f.
    fn not(&mut self, f: u32) -> u32 {
        match self.formulas[f as usize] {
            Core::Not(g) => g,
            _ => self.make(Core::Not(f)),
        }
    }

    /// `f ∨ f` is f.
    fn or(&mut self, f: u32, g: u32) -> u32 {
        if f == g { f } else { self.make(Core::Or(f, g)) }
    }

    fn and(&mut self, f: u32, g: u32) -> u32 {
        let (f, g) = (self.not(f), self.not(g));
        let either = self.or(f, g);
        self.not(either)
    }
}

fn normal(f: Core) -> Core {
    match f {
        Core::Or(f, g) => Core::Or(f.min(g), f.max(g)),
        other => other,
    }
}
