//! Circuits: literals, gates that fold constants and are made once each, and what keeps them: clauses, or an
//! and-inverter graph (`aiger`).
//! Absent on purpose: integers, which `blast` makes of these; solving.

use hashbrown::HashMap;

/// A wire or its inverse; the lowest bit says which. Wire 0 is always true.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Lit(pub u32);

impl Lit {
    pub const TRUE: Lit = Lit(0);
    pub const FALSE: Lit = Lit(1);

    pub fn of_wire(wire: u32) -> Lit {
        Lit(wire << 1)
    }

    pub fn wire(self) -> u32 {
        self.0 >> 1
    }

    pub fn is_inverted(self) -> bool {
        self.0 & 1 == 1
    }

    pub fn is_constant(self) -> bool {
        self.wire() == 0
    }

    /// This literal, or its inverse.
    pub fn invert_if(self, invert: bool) -> Lit {
        Lit(self.0 ^ invert as u32)
    }
}

impl std::ops::Not for Lit {
    type Output = Lit;
    fn not(self) -> Lit {
        Lit(self.0 ^ 1)
    }
}

/// What keeps a circuit. Inputs of gates are never constant and never the same wire twice: [`Circuit`] sees to that.
pub trait Sink {
    fn input(&mut self) -> Lit;
    /// Two or more inputs.
    fn and(&mut self, parts: &[Lit]) -> Lit;
    /// This must be true.
    fn require(&mut self, claim: Lit);

    fn xor(&mut self, a: Lit, b: Lit) -> Lit {
        let (left, right) = (self.and(&[a, !b]), self.and(&[!a, b]));
        !self.and(&[!left, !right])
    }

    fn ite(&mut self, test: Lit, yes: Lit, no: Lit) -> Lit {
        let (left, right) = (self.and(&[test, yes]), self.and(&[!test, no]));
        !self.and(&[!left, !right])
    }

    /// Two or three of these.
    fn majority(&mut self, a: Lit, b: Lit, c: Lit) -> Lit {
        let (ab, ac, bc) = (self.and(&[a, b]), self.and(&[a, c]), self.and(&[b, c]));
        !self.and(&[!ab, !ac, !bc])
    }
}

/// Gates on a sink: constants are folded, and a gate that is there is not made again.
pub struct Circuit<S> {
    pub sink: S,
    ands: HashMap<Vec<Lit>, Lit>,
    xors: HashMap<(Lit, Lit), Lit>,
    ites: HashMap<(Lit, Lit, Lit), Lit>,
    majorities: HashMap<(Lit, Lit, Lit), Lit>,
}

impl<S: Sink> Circuit<S> {
    pub fn new(sink: S) -> Circuit<S> {
        Circuit {
            sink,
            ands: HashMap::new(),
            xors: HashMap::new(),
            ites: HashMap::new(),
            majorities: HashMap::new(),
        }
    }

    pub fn input(&mut self) -> Lit {
        self.sink.input()
    }

    pub fn require(&mut self, claim: Lit) {
        if claim != Lit::TRUE {
            self.sink.require(claim);
        }
    }

    pub fn and(&mut self, parts: impl IntoIterator<Item = Lit>) -> Lit {
        let mut parts: Vec<Lit> = parts.into_iter().filter(|&p| p != Lit::TRUE).collect();
        parts.sort_unstable();
        parts.dedup();
        // A literal and its inverse are neighbours in this order.
        if parts.first() == Some(&Lit::FALSE) || parts.windows(2).any(|w| w[0] == !w[1]) {
            return Lit::FALSE;
        }
        match parts.as_slice() {
            [] => Lit::TRUE,
            [one] => *one,
            _ => {
                if let Some(&made) = self.ands.get(&parts) {
                    return made;
                }
                let made = self.sink.and(&parts);
                self.ands.insert(parts, made);
                made
            }
        }
    }

    pub fn or(&mut self, parts: impl IntoIterator<Item = Lit>) -> Lit {
        !self.and(parts.into_iter().map(|p| !p))
    }

    pub fn xor(&mut self, a: Lit, b: Lit) -> Lit {
        // Inversions come out of it.
        let invert = a.is_inverted() != b.is_inverted();
        let (a, b) = (Lit(a.0 & !1), Lit(b.0 & !1));
        let (a, b) = (a.min(b), a.max(b));
        let made = if a == b {
            Lit::FALSE
        } else if a == Lit::TRUE {
            !b
        } else if let Some(&made) = self.xors.get(&(a, b)) {
            made
        } else {
            let made = self.sink.xor(a, b);
            self.xors.insert((a, b), made);
            made
        };
        made.invert_if(invert)
    }

    pub fn ite(&mut self, test: Lit, yes: Lit, no: Lit) -> Lit {
        if test.is_inverted() {
            return self.ite(!test, no, yes);
        }
        if test == Lit::TRUE || yes == no {
            return yes;
        }
        if yes.is_constant() || yes.wire() == test.wire() {
            // Where the test is true, the second is true or false.
            let value = yes == Lit::TRUE || yes == test;
            return if value { self.or([test, no]) } else { self.and([!test, no]) };
        }
        if no.is_constant() || no.wire() == test.wire() {
            let value = no == Lit::TRUE || no == !test;
            return if value { self.or([!test, yes]) } else { self.and([test, yes]) };
        }
        if yes == !no {
            return self.xor(test, no);
        }
        if yes.is_inverted() {
            return !self.ite(test, !yes, !no);
        }
        if let Some(&made) = self.ites.get(&(test, yes, no)) {
            return made;
        }
        let made = self.sink.ite(test, yes, no);
        self.ites.insert((test, yes, no), made);
        made
    }

    /// Two or three of these.
    pub fn majority(&mut self, a: Lit, b: Lit, c: Lit) -> Lit {
        let mut all = [a, b, c];
        all.sort_unstable();
        let [a, b, c] = all;
        match (a, b, c) {
            (Lit::TRUE, _, _) => self.or([b, c]),
            (Lit::FALSE, _, _) => self.and([b, c]),
            _ if a == b => a,
            _ if a == !b => c,
            _ if b == c => b,
            _ if b == !c => a,
            // The majority of inverses is the inverse of the majority.
            _ if a.is_inverted() => !self.majority(!a, !b, !c),
            _ => {
                if let Some(&made) = self.majorities.get(&(a, b, c)) {
                    return made;
                }
                let made = self.sink.majority(a, b, c);
                self.majorities.insert((a, b, c), made);
                made
            }
        }
    }

    /// The two bits of a + b + c: the sum and the carry.
    pub fn full_adder(&mut self, a: Lit, b: Lit, c: Lit) -> (Lit, Lit) {
        let ab = self.xor(a, b);
        (self.xor(ab, c), self.majority(a, b, c))
    }
}

/// What takes clauses.
pub trait Clauses {
    /// A new wire.
    fn wire(&mut self) -> u32;
    fn clause(&mut self, parts: &[Lit]);
}

/// A circuit as clauses: every gate is defined in both directions, so that a literal can be assumed either way later.
pub struct Tseitin<C>(pub C);

impl<C: Clauses> Sink for Tseitin<C> {
    fn input(&mut self) -> Lit {
        Lit::of_wire(self.0.wire())
    }

    fn and(&mut self, parts: &[Lit]) -> Lit {
        let out = self.input();
        let mut all = Vec::with_capacity(parts.len() + 1);
        for &p in parts {
            self.0.clause(&[!out, p]);
            all.push(!p);
        }
        all.push(out);
        self.0.clause(&all);
        out
    }

    fn require(&mut self, claim: Lit) {
        if claim == Lit::FALSE { self.0.clause(&[]) } else { self.0.clause(&[claim]) }
    }

    fn xor(&mut self, a: Lit, b: Lit) -> Lit {
        let out = self.input();
        for clause in [[!out, a, b], [!out, !a, !b], [out, !a, b], [out, a, !b]] {
            self.0.clause(&clause);
        }
        out
    }

    fn ite(&mut self, test: Lit, yes: Lit, no: Lit) -> Lit {
        let out = self.input();
        for clause in [[!test, !yes, out], [!test, yes, !out], [test, !no, out], [test, no, !out]] {
            self.0.clause(&clause);
        }
        // Implied, but without them nothing is known before the test is.
        self.0.clause(&[!yes, !no, out]);
        self.0.clause(&[yes, no, !out]);
        out
    }

    fn majority(&mut self, a: Lit, b: Lit, c: Lit) -> Lit {
        let out = self.input();
        for (x, y) in [(a, b), (a, c), (b, c)] {
            self.0.clause(&[!x, !y, out]);
            self.0.clause(&[x, y, !out]);
        }
        out
    }
}
