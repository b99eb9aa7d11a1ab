//! `mc2`: the states not yet fully explored become explicit; this is plain model checking. Refines
//! [`crate::mc1`]. New variable: `unex` (Fig. 6). Glue: [`crate::glue::mc1_mc2`].
//! Absent on purpose: symmetry (enters at [`crate::rmc1`]), threads (at [`crate::wmc`]), I/O, time.

use crate::logic::{Clauses, Event, Logic, Machine, any, clause, enabled};
use crate::mc0::Constants;

/// Fig. 6: the variables.
#[derive(Clone, Debug, PartialEq)]
pub struct Mc2<L: Logic> {
    /// Reached, not fully explored.
    pub unex: L::Set,
    /// Reached and checked.
    pub rac: L::Set,
    /// Reached errors.
    pub err: L::Set,
}

impl<L: Logic> Machine<L> for Mc2<L> {
    type Constants = Constants<L>;
    const NAME: &'static str = "mc2";

    fn initialisation(l: &L, k: &Constants<L>) -> Self {
        Self { unex: l.single(&k.i), rac: l.single(&k.i), err: l.empty() }
    }

    fn invariant(&self, l: &L, k: &Constants<L>, v: &mut impl Clauses<L>) {
        clause!(l, v, "mc2/inv1: unex ⊆ rac", l.subset(&self.unex, &self.rac));
        clause!(
            l,
            v,
            "mc2/inv2: tr[rac ∖ unex] ⊆ rac ∪ err",
            l.subset(&l.image(&k.tr, &l.minus(&self.rac, &self.unex)), &l.union(&self.rac, &self.err)),
        );
    }

    /// mc1's, then `unex`
    fn variant(&self, l: &L, k: &Constants<L>) -> [L::Set; 2] {
        [l.minus(&k.reach, &l.union(&self.rac, &self.err)), self.unex.clone()]
    }
}

/// chain: mc2/add_inv (Fig. 7). Refines mc1/add_inv.
#[derive(Clone, Debug)]
pub struct AddInv<L: Logic> {
    /// The state being explored.
    pub s1: L::State,
    /// Its successor.
    pub s2: L::State,
}

impl<L: Logic> Event<L> for AddInv<L> {
    type Machine = Mc2<L>;
    const NAME: &'static str = "mc2/add_inv";
    fn guard(&self, l: &L, k: &Constants<L>, m: &Mc2<L>, v: &mut impl Clauses<L>) {
        clause!(l, v, "mc2/add_inv/grd1: s1 ∈ unex", l.member(&self.s1, &m.unex));
        clause!(l, v, "mc2/add_inv/grd2: s2 ∈ inv", l.member(&self.s2, &k.inv));
        clause!(l, v, "mc2/add_inv/grd3: s1 ↦ s2 ∈ tr", l.related(&k.tr, &self.s1, &self.s2));
        clause!(l, v, "mc2/add_inv/grd4: s2 ∉ rac", l.absent(&self.s2, &m.rac));
        clause!(l, v, "mc2/add_inv/grd5: err = ∅", l.is_empty(&m.err));
    }
    fn action(&self, l: &L, _: &Constants<L>, m: &Mc2<L>) -> Mc2<L> {
        let s2 = l.single(&self.s2);
        Mc2 {
            unex: l.assign("mc2/add_inv/act1", &m.unex, l.union(&m.unex, &s2)),
            rac: l.assign("mc2/add_inv/act2", &m.rac, l.union(&m.rac, &s2)),
            err: m.err.clone(),
        }
    }
}

/// chain: mc2/add_err (Fig. 7). Refines mc1/add_err.
#[derive(Clone, Debug)]
pub struct AddErr<L: Logic> {
    /// The state being explored.
    pub s1: L::State,
    /// Its successor.
    pub s2: L::State,
}

impl<L: Logic> Event<L> for AddErr<L> {
    type Machine = Mc2<L>;
    const NAME: &'static str = "mc2/add_err";
    fn guard(&self, l: &L, k: &Constants<L>, m: &Mc2<L>, v: &mut impl Clauses<L>) {
        clause!(l, v, "mc2/add_err/grd1: s1 ∈ unex", l.member(&self.s1, &m.unex));
        clause!(l, v, "mc2/add_err/grd2: s2 ∉ inv", l.absent(&self.s2, &k.inv));
        clause!(l, v, "mc2/add_err/grd3: s1 ↦ s2 ∈ tr", l.related(&k.tr, &self.s1, &self.s2));
        clause!(l, v, "mc2/add_err/grd4: err = ∅", l.is_empty(&m.err));
    }
    fn action(&self, l: &L, _: &Constants<L>, m: &Mc2<L>) -> Mc2<L> {
        Mc2 {
            unex: m.unex.clone(),
            rac: m.rac.clone(),
            err: l.assign("mc2/add_err/act1", &m.err, l.union(&m.err, &l.single(&self.s2))),
        }
    }
}

/// chain: mc2/remove (Fig. 7). Refines skip.
#[derive(Clone, Debug)]
pub struct Remove<L: Logic> {
    /// The state that is explored.
    pub s1: L::State,
}

impl<L: Logic> Event<L> for Remove<L> {
    type Machine = Mc2<L>;
    const NAME: &'static str = "mc2/remove";
    fn guard(&self, l: &L, k: &Constants<L>, m: &Mc2<L>, v: &mut impl Clauses<L>) {
        clause!(l, v, "mc2/remove/grd1: s1 ∈ unex", l.member(&self.s1, &m.unex));
        clause!(
            l,
            v,
            "mc2/remove/grd2: tr[{s1}] ⊆ rac",
            l.subset(&l.image(&k.tr, &l.single(&self.s1)), &m.rac)
        );
        clause!(l, v, "mc2/remove/grd3: err = ∅", l.is_empty(&m.err));
    }
    fn action(&self, l: &L, _: &Constants<L>, m: &Mc2<L>) -> Mc2<L> {
        Mc2 {
            unex: l.assign("mc2/remove/act1", &m.unex, l.minus(&m.unex, &l.single(&self.s1))),
            rac: m.rac.clone(),
            err: m.err.clone(),
        }
    }
}

/// chain: mc2/pass (Fig. 7).
#[derive(Clone, Debug)]
pub struct Pass;

impl<L: Logic> Event<L> for Pass {
    type Machine = Mc2<L>;
    const NAME: &'static str = "mc2/pass";
    fn guard(&self, l: &L, _: &Constants<L>, m: &Mc2<L>, v: &mut impl Clauses<L>) {
        clause!(l, v, "mc2/pass/grd1: unex = ∅", l.is_empty(&m.unex));
        clause!(l, v, "mc2/pass/grd2: err = ∅", l.is_empty(&m.err));
    }
    fn action(&self, _: &L, _: &Constants<L>, m: &Mc2<L>) -> Mc2<L> {
        m.clone()
    }
}

/// chain: mc2/fail (Fig. 7).
#[derive(Clone, Debug)]
pub struct Fail;

impl<L: Logic> Event<L> for Fail {
    type Machine = Mc2<L>;
    const NAME: &'static str = "mc2/fail";
    fn guard(&self, l: &L, _: &Constants<L>, m: &Mc2<L>, v: &mut impl Clauses<L>) {
        clause!(l, v, "mc2/fail/grd1: err ≠ ∅", l.inhabited(&m.err));
    }
    fn action(&self, _: &L, _: &Constants<L>, m: &Mc2<L>) -> Mc2<L> {
        m.clone()
    }
}

/// The assertion that Section 4 describes and does not show: some event is enabled. Label `mc2/ast1`.
pub fn responsive<L: Logic>(l: &L, k: &Constants<L>, m: &Mc2<L>) -> L::Bool {
    let step = l.exists(|s1| {
        let (s1, remove) = (s1.clone(), Remove { s1: s1.clone() });
        let successor = l.exists(|s2| {
            let (s1, s2) = (s1.clone(), s2.clone());
            let inv = AddInv { s1: s1.clone(), s2: s2.clone() };
            let err = AddErr { s1, s2 };
            l.or(&enabled(&inv, l, k, m), &enabled(&err, l, k, m))
        });
        l.or(&enabled(&remove, l, k, m), &successor)
    });
    any(l, [step, enabled(&Pass, l, k, m), enabled(&Fail, l, k, m)])
}
