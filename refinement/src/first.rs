//! `first`: the first state seen of an orbit is stored, as it is; so every trace is a path of the system
//! ([`crate::path`]). Ours. Refines [`crate::wmc`]; glue: [`crate::glue::wmc_first`].
//! Absent on purpose: a representative function. How it is decided that an orbit has a stored member (by a
//! canonical key, for instance) is the store's business.

use crate::logic::{Clauses, Event, Logic, Machine, clause};
use crate::wmc::Constants;

/// The variables, named as in Fig. 13.
#[derive(Clone, Debug, PartialEq)]
pub struct First<L: Logic> {
    /// Stored and checked.
    pub rrac: L::Set,
    /// Stored, not fully explored.
    pub runex: L::Set,
    /// Stored errors.
    pub rerr: L::Set,
}

impl<L: Logic> Machine<L> for First<L> {
    type Constants = Constants<L>;
    const NAME: &'static str = "first";

    fn initialisation(l: &L, k: &Constants<L>) -> Self {
        Self { rrac: l.single(&k.mc0.i), runex: l.single(&k.mc0.i), rerr: l.empty() }
    }

    fn invariant(&self, l: &L, k: &Constants<L>, v: &mut impl Clauses<L>) {
        clause!(l, v, "first/inv1: i ∈ rrac", l.member(&k.mc0.i, &self.rrac));
        let stored = l.union(&self.rrac, &self.rerr);
        clause!(
            l,
            v,
            "first/inv2: s ∈ rrac ∪ rerr ∧ t ∈ rrac ∪ rerr ∧ s ↦ t ∈ orb ⇒ s = t",
            l.forall(|s| {
                l.forall(|t| {
                    let both = l.and(&l.member(s, &stored), &l.member(t, &stored));
                    l.implies(&l.and(&both, &l.related(&k.orb, s, t)), &l.eq(s, t))
                })
            }),
        );
    }

    /// wmc's
    fn variant(&self, l: &L, k: &Constants<L>) -> [L::Set; 2] {
        [l.minus(&k.mc0.reach, &l.union(&self.rrac, &self.rerr)), self.runex.clone()]
    }
}

/// first/add_inv. Refines wmc/add_inv.
#[derive(Clone, Debug)]
pub struct AddInv<L: Logic> {
    /// The state being explored.
    pub s1: L::State,
    /// Its successor.
    pub s2: L::State,
}

impl<L: Logic> Event<L> for AddInv<L> {
    type Machine = First<L>;
    const NAME: &'static str = "first/add_inv";
    fn guard(&self, l: &L, k: &Constants<L>, m: &First<L>, v: &mut impl Clauses<L>) {
        clause!(l, v, "first/add_inv/grd1: s1 ∈ runex", l.member(&self.s1, &m.runex));
        clause!(l, v, "first/add_inv/grd2: s2 ∈ inv", l.member(&self.s2, &k.mc0.inv));
        clause!(l, v, "first/add_inv/grd3: s1 ↦ s2 ∈ tr", l.related(&k.mc0.tr, &self.s1, &self.s2));
        clause!(l, v, "first/add_inv/grd4: s2 ∉ orb⁻¹[rrac]", l.absent(&self.s2, &k.covered(l, &m.rrac)));
    }
    fn action(&self, l: &L, _: &Constants<L>, m: &First<L>) -> First<L> {
        let one = l.single(&self.s2);
        First {
            rrac: l.assign("first/add_inv/act1", &m.rrac, l.union(&m.rrac, &one)),
            runex: l.assign("first/add_inv/act2", &m.runex, l.union(&m.runex, &one)),
            rerr: m.rerr.clone(),
        }
    }
}

/// first/add_err. Refines wmc/add_err.
#[derive(Clone, Debug)]
pub struct AddErr<L: Logic> {
    /// The state being explored.
    pub s1: L::State,
    /// Its successor.
    pub s2: L::State,
}

impl<L: Logic> Event<L> for AddErr<L> {
    type Machine = First<L>;
    const NAME: &'static str = "first/add_err";
    fn guard(&self, l: &L, k: &Constants<L>, m: &First<L>, v: &mut impl Clauses<L>) {
        clause!(l, v, "first/add_err/grd1: s1 ∈ runex", l.member(&self.s1, &m.runex));
        clause!(l, v, "first/add_err/grd2: s2 ∉ inv", l.absent(&self.s2, &k.mc0.inv));
        clause!(l, v, "first/add_err/grd3: s1 ↦ s2 ∈ tr", l.related(&k.mc0.tr, &self.s1, &self.s2));
        clause!(l, v, "first/add_err/grd4: s2 ∉ orb⁻¹[rerr]", l.absent(&self.s2, &k.covered(l, &m.rerr)));
    }
    fn action(&self, l: &L, _: &Constants<L>, m: &First<L>) -> First<L> {
        let one = l.single(&self.s2);
        First {
            rrac: m.rrac.clone(),
            runex: m.runex.clone(),
            rerr: l.assign("first/add_err/act1", &m.rerr, l.union(&m.rerr, &one)),
        }
    }
}

/// first/remove. Refines wmc/remove.
#[derive(Clone, Debug)]
pub struct Remove<L: Logic> {
    /// The state that is explored.
    pub s1: L::State,
}

impl<L: Logic> Event<L> for Remove<L> {
    type Machine = First<L>;
    const NAME: &'static str = "first/remove";
    fn guard(&self, l: &L, k: &Constants<L>, m: &First<L>, v: &mut impl Clauses<L>) {
        clause!(l, v, "first/remove/grd1: s1 ∈ runex", l.member(&self.s1, &m.runex));
        clause!(
            l,
            v,
            "first/remove/grd2: s1 ↦ s2 ∈ tr ⇒ ∃t.(s2 ↦ t ∈ orb ∧ t ∈ rrac ∪ rerr)",
            l.subset(&l.image(&k.mc0.tr, &l.single(&self.s1)), &k.covered(l, &l.union(&m.rrac, &m.rerr))),
        );
    }
    fn action(&self, l: &L, _: &Constants<L>, m: &First<L>) -> First<L> {
        First {
            rrac: m.rrac.clone(),
            runex: l.assign("first/remove/act1", &m.runex, l.minus(&m.runex, &l.single(&self.s1))),
            rerr: m.rerr.clone(),
        }
    }
}

/// first/pass. Refines wmc/pass.
#[derive(Clone, Debug)]
pub struct Pass;

impl<L: Logic> Event<L> for Pass {
    type Machine = First<L>;
    const NAME: &'static str = "first/pass";
    fn guard(&self, l: &L, _: &Constants<L>, m: &First<L>, v: &mut impl Clauses<L>) {
        clause!(l, v, "first/pass/grd1: rerr = ∅", l.is_empty(&m.rerr));
        clause!(l, v, "first/pass/grd2: runex = ∅", l.is_empty(&m.runex));
    }
    fn action(&self, _: &L, _: &Constants<L>, m: &First<L>) -> First<L> {
        m.clone()
    }
}

/// first/fail. Refines wmc/fail.
#[derive(Clone, Debug)]
pub struct Fail;

impl<L: Logic> Event<L> for Fail {
    type Machine = First<L>;
    const NAME: &'static str = "first/fail";
    fn guard(&self, l: &L, _: &Constants<L>, m: &First<L>, v: &mut impl Clauses<L>) {
        clause!(l, v, "first/fail/grd1: rerr ≠ ∅", l.inhabited(&m.rerr));
    }
    fn action(&self, _: &L, _: &Constants<L>, m: &First<L>) -> First<L> {
        m.clone()
    }
}
