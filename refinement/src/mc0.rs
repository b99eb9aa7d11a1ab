//! `mc0`: what model checking is about. The sets, constants and properties of Fig. 1, the answer of Fig. 2.
//!
//! Absent on purpose: variables, exploration (enters at [`crate::mc1`]), labels (enter at [`crate::path`]).

use crate::logic::{Clauses, Event, Logic, Machine, clause};

/// Fig. 1: the constants. The typing properties (`mc0/prp1`, `prp2`, `prp5`) are the Rust types.
#[derive(Clone, Debug)]
pub struct Constants<L: Logic> {
    /// The special initial state.
    pub i: L::State,
    /// The transition relation.
    pub tr: L::Rel,
    /// The states satisfying the invariant.
    pub inv: L::Set,
    /// The reachable states.
    pub reach: L::Set,
}

impl<L: Logic> Constants<L> {
    /// Fig. 1: the properties, but for the induction ([`Constants::least`]).
    pub fn properties(&self, l: &L, v: &mut impl Clauses<L>) {
        clause!(l, v, "mc0/prp3: i ∈ inv", l.member(&self.i, &self.inv));
        clause!(l, v, "mc0/prp4: i ∉ ran(tr)", l.absent(&self.i, &l.range(&self.tr)));
        self.prp6(l, v);
        clause!(l, v, "mc0/prp7: tr[reach] ⊆ reach", l.subset(&l.image(&self.tr, &self.reach), &self.reach));
    }

    /// `mc0/prp6`
    pub fn prp6(&self, l: &L, v: &mut impl Clauses<L>) {
        clause!(l, v, "mc0/prp6: i ∈ reach", l.member(&self.i, &self.reach));
    }

    /// Fig. 1, last property, for one `r`, as a clause. An obligation names the instances it needs; that is all the
    /// induction there is.
    pub fn prp8_for(&self, l: &L, r: &L::Set, v: &mut impl Clauses<L>) {
        clause!(l, v, "mc0/prp8: i ∈ r ∧ tr[r] ⊆ r ⇒ reach ⊆ r", self.least(l, r));
    }

    /// Fig. 1, last property, for one `r`: `i ∈ r ∧ tr[r] ⊆ r ⇒ reach ⊆ r`. Label [`LEAST`].
    pub fn least(&self, l: &L, r: &L::Set) -> L::Bool {
        let fixpoint = l.and(&l.member(&self.i, r), &l.subset(&l.image(&self.tr, r), r));
        l.implies(&fixpoint, &l.subset(&self.reach, r))
    }
}

/// The label of [`Constants::least`].
pub const LEAST: &str = "mc0/prp8: i ∈ r ∧ tr[r] ⊆ r ⇒ reach ⊆ r";

/// The machine: no variables.
#[derive(Clone, Debug)]
pub struct Mc0;

impl<L: Logic> Machine<L> for Mc0 {
    type Constants = Constants<L>;
    const NAME: &'static str = "mc0";
    fn initialisation(_: &L, _: &Constants<L>) -> Self {
        Self
    }
    fn invariant(&self, _: &L, _: &Constants<L>, _: &mut impl Clauses<L>) {}
    fn variant(&self, l: &L, _: &Constants<L>) -> [L::Set; 2] {
        [l.empty(), l.empty()]
    }
}

/// chain: mc0/pass (Fig. 2).
#[derive(Clone, Debug)]
pub struct Pass;

impl<L: Logic> Event<L> for Pass {
    type Machine = Mc0;
    const NAME: &'static str = "mc0/pass";
    fn guard(&self, l: &L, k: &Constants<L>, _: &Mc0, v: &mut impl Clauses<L>) {
        clause!(l, v, "mc0/pass/grd1: reach ⊆ inv", l.subset(&k.reach, &k.inv));
    }
    fn action(&self, _: &L, _: &Constants<L>, m: &Mc0) -> Mc0 {
        m.clone()
    }
}

/// chain: mc0/fail (Fig. 2).
#[derive(Clone, Debug)]
pub struct Fail;

impl<L: Logic> Event<L> for Fail {
    type Machine = Mc0;
    const NAME: &'static str = "mc0/fail";
    fn guard(&self, l: &L, k: &Constants<L>, _: &Mc0, v: &mut impl Clauses<L>) {
        clause!(l, v, "mc0/fail/grd1: reach ⊄ inv", l.not(&l.subset(&k.reach, &k.inv)));
    }
    fn action(&self, _: &L, _: &Constants<L>, m: &Mc0) -> Mc0 {
        m.clone()
    }
}
