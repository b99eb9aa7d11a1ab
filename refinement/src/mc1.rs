//! `mc1`: states are reached and checked, in sets of any size. Refines [`crate::mc0`].
//! New variables: `rac`, `err` (Fig. 4). Glue: [`crate::glue::mc0_mc1`].
//! Absent on purpose: the order of exploration (enters at [`crate::mc2`]), symmetry (at [`crate::rmc1`]).

use crate::logic::{Clauses, Event, Logic, Machine, clause};
use crate::mc0::Constants;

/// Fig. 4: the variables.
#[derive(Clone, Debug, PartialEq)]
pub struct Mc1<L: Logic> {
    /// Reached and checked.
    pub rac: L::Set,
    /// Reached errors.
    pub err: L::Set,
}

impl<L: Logic> Machine<L> for Mc1<L> {
    type Constants = Constants<L>;
    const NAME: &'static str = "mc1";

    fn initialisation(l: &L, k: &Constants<L>) -> Self {
        Self { rac: l.single(&k.i), err: l.empty() }
    }

    fn invariant(&self, l: &L, k: &Constants<L>, v: &mut impl Clauses<L>) {
        clause!(l, v, "mc1/inv1: rac ⊆ reach", l.subset(&self.rac, &k.reach));
        clause!(l, v, "mc1/inv2: rac ⊆ inv", l.subset(&self.rac, &k.inv));
        clause!(l, v, "mc1/inv3: i ∈ rac", l.member(&k.i, &self.rac));
        clause!(l, v, "mc1/inv4: err ⊆ reach ∖ inv", l.subset(&self.err, &l.minus(&k.reach, &k.inv)));
    }

    /// `reach ∖ (rac ∪ err)`
    fn variant(&self, l: &L, k: &Constants<L>) -> [L::Set; 2] {
        [l.minus(&k.reach, &l.union(&self.rac, &self.err)), l.empty()]
    }
}

/// chain: mc1/add_inv (Fig. 5). New event.
#[derive(Clone, Debug)]
pub struct AddInv<L: Logic> {
    /// The states.
    pub ss: L::Set,
}

impl<L: Logic> Event<L> for AddInv<L> {
    type Machine = Mc1<L>;
    const NAME: &'static str = "mc1/add_inv";
    fn guard(&self, l: &L, k: &Constants<L>, m: &Mc1<L>, v: &mut impl Clauses<L>) {
        clause!(l, v, "mc1/add_inv/grd1: ss ⊆ reach ∖ rac", l.subset(&self.ss, &l.minus(&k.reach, &m.rac)));
        clause!(l, v, "mc1/add_inv/grd2: ss ⊆ inv", l.subset(&self.ss, &k.inv));
        clause!(l, v, "mc1/add_inv/grd3: ss ≠ ∅", l.inhabited(&self.ss));
    }
    fn action(&self, l: &L, _: &Constants<L>, m: &Mc1<L>) -> Mc1<L> {
        Mc1 { rac: l.assign("mc1/add_inv/act1", &m.rac, l.union(&m.rac, &self.ss)), err: m.err.clone() }
    }
}

/// chain: mc1/add_err (Fig. 5). New event. `grd4` is ours: without it the event may add nothing, and the
/// variant need not decrease.
#[derive(Clone, Debug)]
pub struct AddErr<L: Logic> {
    /// The states.
    pub ss: L::Set,
}

impl<L: Logic> Event<L> for AddErr<L> {
    type Machine = Mc1<L>;
    const NAME: &'static str = "mc1/add_err";
    fn guard(&self, l: &L, k: &Constants<L>, m: &Mc1<L>, v: &mut impl Clauses<L>) {
        clause!(l, v, "mc1/add_err/grd1: ss ⊆ reach ∖ rac", l.subset(&self.ss, &l.minus(&k.reach, &m.rac)));
        clause!(l, v, "mc1/add_err/grd2: ss ≠ ∅", l.inhabited(&self.ss));
        clause!(l, v, "mc1/add_err/grd3: ss ∩ inv = ∅", l.is_empty(&l.inter(&self.ss, &k.inv)));
        clause!(l, v, "mc1/add_err/grd4: ss ∩ err = ∅", l.is_empty(&l.inter(&self.ss, &m.err)));
    }
    fn action(&self, l: &L, _: &Constants<L>, m: &Mc1<L>) -> Mc1<L> {
        Mc1 { rac: m.rac.clone(), err: l.assign("mc1/add_err/act1", &m.err, l.union(&m.err, &self.ss)) }
    }
}

/// chain: mc1/pass (Fig. 5).
#[derive(Clone, Debug)]
pub struct Pass;

impl<L: Logic> Event<L> for Pass {
    type Machine = Mc1<L>;
    const NAME: &'static str = "mc1/pass";
    fn guard(&self, l: &L, k: &Constants<L>, m: &Mc1<L>, v: &mut impl Clauses<L>) {
        clause!(l, v, "mc1/pass/grd1: reach ⊆ rac", l.subset(&k.reach, &m.rac));
    }
    fn action(&self, _: &L, _: &Constants<L>, m: &Mc1<L>) -> Mc1<L> {
        m.clone()
    }
}

/// chain: mc1/fail (Fig. 5).
#[derive(Clone, Debug)]
pub struct Fail;

impl<L: Logic> Event<L> for Fail {
    type Machine = Mc1<L>;
    const NAME: &'static str = "mc1/fail";
    fn guard(&self, l: &L, _: &Constants<L>, m: &Mc1<L>, v: &mut impl Clauses<L>) {
        clause!(l, v, "mc1/fail/grd1: err ≠ ∅", l.inhabited(&m.err));
    }
    fn action(&self, _: &L, _: &Constants<L>, m: &Mc1<L>) -> Mc1<L> {
        m.clone()
    }
}
