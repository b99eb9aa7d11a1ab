//! The reading of undefined terms: how the truth of a predicate follows from that of its parts. Strong Kleene: a
//! conjunction with a false part is false whatever the others are. Another reading changes this file and no other.

use super::{Encoder, Mutant, Sym, Truth, Val};
use kanon_solver::term::{Bool, Terms};

impl Truth {
    pub const YES: Truth = Truth { yes: Bool::TRUE, no: Bool::FALSE };
    pub const NO: Truth = Truth { yes: Bool::FALSE, no: Bool::TRUE };

    /// Defined, and true or false.
    pub fn known(value: bool) -> Truth {
        if value { Truth::YES } else { Truth::NO }
    }

    pub fn sure(yes: Bool) -> Truth {
        Truth { yes, no: !yes }
    }

    pub fn def(self, terms: &mut Terms) -> Bool {
        terms.or([self.yes, self.no])
    }
}

impl std::ops::Not for Truth {
    type Output = Truth;
    fn not(self) -> Truth {
        Truth { yes: self.no, no: self.yes }
    }
}

impl Encoder<'_> {
    /// True or false where it is defined.
    pub(super) fn truth(&mut self, value: Bool, def: Bool) -> Truth {
        let yes = self.terms.and([def, value]);
        let no = self.terms.and([def, !value]);
        Truth { yes, no }
    }

    /// Nothing but the value where it is defined.
    pub(super) fn only_if(&mut self, t: Truth, def: Bool) -> Truth {
        let yes = self.terms.and([def, t.yes]);
        let no = self.terms.and([def, t.no]);
        Truth { yes, no }
    }

    pub fn and(&mut self, parts: &[Truth]) -> Truth {
        if self.mutant == Mutant::AndIsStrict {
            return self.strict_and(parts);
        }
        let yes = self.terms.and(parts.iter().map(|p| p.yes));
        let no = self.terms.or(parts.iter().map(|p| p.no));
        Truth { yes, no }
    }

    pub fn or(&mut self, parts: &[Truth]) -> Truth {
        let yes = self.terms.or(parts.iter().map(|p| p.yes));
        let no = self.terms.and(parts.iter().map(|p| p.no));
        Truth { yes, no }
    }

    /// Defined if both are.
    pub fn iff(&mut self, a: Truth, b: Truth) -> Truth {
        let (da, db) = (a.def(&mut self.terms), b.def(&mut self.terms));
        let def = self.terms.and([da, db]);
        let same = self.terms.iff(a.yes, b.yes);
        self.truth(same, def)
    }

    /// One branch, by a condition that has to be defined.
    pub fn if_pred(&mut self, cond: Truth, then: Truth, otherwise: Truth) -> Truth {
        let pick = |terms: &mut Terms, a, b| {
            let (x, y) = (terms.and([cond.yes, a]), terms.and([cond.no, b]));
            terms.or([x, y])
        };
        let yes = pick(&mut self.terms, then.yes, otherwise.yes);
        let no = pick(&mut self.terms, then.no, otherwise.no);
        Truth { yes, no }
    }

    /// True if all are; defined if all are, also where a false one would decide: for the parts of a value.
    pub(super) fn strict_and(&mut self, parts: &[Truth]) -> Truth {
        let yes = self.terms.and(parts.iter().map(|p| p.yes));
        let def = self.defined(parts);
        self.truth(yes, def)
    }

    pub(super) fn strict_or(&mut self, parts: &[Truth]) -> Truth {
        let yes = self.terms.or(parts.iter().map(|p| p.yes));
        let def = self.defined(parts);
        self.truth(yes, def)
    }

    /// All of them have a truth value.
    pub(super) fn defined(&mut self, parts: &[Truth]) -> Bool {
        let defs: Vec<Bool> = parts.iter().map(|p| p.def(&mut self.terms)).collect();
        self.terms.and(defs)
    }

    /// The second is looked at only if the first is true.
    pub(super) fn and_then(&mut self, first: Truth, second: Truth) -> Truth {
        let yes = self.terms.and([first.yes, second.yes]);
        let late = self.terms.and([first.yes, second.no]);
        let no = self.terms.or([first.no, late]);
        Truth { yes, no }
    }

    /// A value that also needs this to be defined.
    pub(super) fn needs<'m>(&mut self, v: Val<'m>, def: Bool) -> Val<'m> {
        let def = self.terms.and([v.def, def]);
        if def == Bool::FALSE { Val { sym: Sym::Absent, def } } else { Val { sym: v.sym, def } }
    }
}
