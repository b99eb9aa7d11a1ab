//! `lab`: an untrusted labelling. Like [`crate::rmc2`], but of `rep` nothing is known but that `rep(s)` lies in
//! the orbit of `s`, which a checked witness shows; two states of one orbit may have two labels. Ours. Refines
//! [`crate::wmc`]; glue: [`crate::glue::wmc_lab`].
//! Absent on purpose: the properties prp8 and prp10 of Fig. 8, the guard `rerr = ∅`.

use crate::logic::{Clauses, Event, Logic, Machine, clause};
use crate::wmc;

/// The constants of [`crate::wmc`] and a labelling.
#[derive(Clone, Debug)]
pub struct Constants<L: Logic> {
    /// Fig. 1 and the symmetry.
    pub wmc: wmc::Constants<L>,
    /// The labelling.
    pub rep: L::Map,
}

impl<L: Logic> Constants<L> {
    /// All that is known of the labelling: a checked witness shows it.
    pub fn properties(&self, l: &L, v: &mut impl Clauses<L>) {
        clause!(
            l,
            v,
            "lab/prp1: s ↦ rep(s) ∈ orb",
            l.forall(|s| l.related(&self.wmc.orb, s, &l.apply(&self.rep, s)))
        );
    }
}

/// The variables, named as in Fig. 13.
#[derive(Clone, Debug, PartialEq)]
pub struct Lab<L: Logic> {
    /// Stored and checked.
    pub rrac: L::Set,
    /// Stored, not fully explored.
    pub runex: L::Set,
    /// Stored errors.
    pub rerr: L::Set,
}

impl<L: Logic> Machine<L> for Lab<L> {
    type Constants = Constants<L>;
    const NAME: &'static str = "lab";

    fn initialisation(l: &L, k: &Constants<L>) -> Self {
        Self { rrac: l.single(&k.wmc.mc0.i), runex: l.single(&k.wmc.mc0.i), rerr: l.empty() }
    }

    fn invariant(&self, l: &L, k: &Constants<L>, v: &mut impl Clauses<L>) {
        clause!(l, v, "lab/inv1: i ∈ rrac", l.member(&k.wmc.mc0.i, &self.rrac));
        clause!(l, v, "lab/inv2: runex ⊆ rrac", l.subset(&self.runex, &self.rrac));
    }
    /// wmc's
    fn variant(&self, l: &L, k: &Constants<L>) -> [L::Set; 2] {
        [l.minus(&k.wmc.mc0.reach, &l.union(&self.rrac, &self.rerr)), self.runex.clone()]
    }
}

/// lab/add_inv. Refines wmc/add_inv.
#[derive(Clone, Debug)]
pub struct AddInv<L: Logic> {
    /// The state being explored.
    pub s1: L::State,
    /// Its successor.
    pub s2: L::State,
}

impl<L: Logic> Event<L> for AddInv<L> {
    type Machine = Lab<L>;
    const NAME: &'static str = "lab/add_inv";
    fn guard(&self, l: &L, k: &Constants<L>, m: &Lab<L>, v: &mut impl Clauses<L>) {
        clause!(l, v, "lab/add_inv/grd1: s1 ∈ runex", l.member(&self.s1, &m.runex));
        clause!(l, v, "lab/add_inv/grd2: s2 ∈ inv", l.member(&self.s2, &k.wmc.mc0.inv));
        clause!(l, v, "lab/add_inv/grd3: s1 ↦ s2 ∈ tr", l.related(&k.wmc.mc0.tr, &self.s1, &self.s2));
        clause!(l, v, "lab/add_inv/grd4: rep(s2) ∉ rrac", l.absent(&l.apply(&k.rep, &self.s2), &m.rrac));
    }
    fn action(&self, l: &L, k: &Constants<L>, m: &Lab<L>) -> Lab<L> {
        let one = l.single(&l.apply(&k.rep, &self.s2));
        Lab {
            rrac: l.assign("lab/add_inv/act1", &m.rrac, l.union(&m.rrac, &one)),
            runex: l.assign("lab/add_inv/act2", &m.runex, l.union(&m.runex, &one)),
            rerr: m.rerr.clone(),
        }
    }
}

/// lab/add_err. Refines wmc/add_err.
#[derive(Clone, Debug)]
pub struct AddErr<L: Logic> {
    /// The state being explored.
    pub s1: L::State,
    /// Its successor.
    pub s2: L::State,
}

impl<L: Logic> Event<L> for AddErr<L> {
    type Machine = Lab<L>;
    const NAME: &'static str = "lab/add_err";
    fn guard(&self, l: &L, k: &Constants<L>, m: &Lab<L>, v: &mut impl Clauses<L>) {
        clause!(l, v, "lab/add_err/grd1: s1 ∈ runex", l.member(&self.s1, &m.runex));
        clause!(l, v, "lab/add_err/grd2: s2 ∉ inv", l.absent(&self.s2, &k.wmc.mc0.inv));
        clause!(l, v, "lab/add_err/grd3: s1 ↦ s2 ∈ tr", l.related(&k.wmc.mc0.tr, &self.s1, &self.s2));
        clause!(l, v, "lab/add_err/grd4: rep(s2) ∉ rerr", l.absent(&l.apply(&k.rep, &self.s2), &m.rerr));
    }
    fn action(&self, l: &L, k: &Constants<L>, m: &Lab<L>) -> Lab<L> {
        let one = l.single(&l.apply(&k.rep, &self.s2));
        Lab {
            rrac: m.rrac.clone(),
            runex: m.runex.clone(),
            rerr: l.assign("lab/add_err/act1", &m.rerr, l.union(&m.rerr, &one)),
        }
    }
}

/// lab/remove. Refines wmc/remove.
#[derive(Clone, Debug)]
pub struct Remove<L: Logic> {
    /// The state that is explored.
    pub s1: L::State,
}

impl<L: Logic> Event<L> for Remove<L> {
    type Machine = Lab<L>;
    const NAME: &'static str = "lab/remove";
    fn guard(&self, l: &L, k: &Constants<L>, m: &Lab<L>, v: &mut impl Clauses<L>) {
        clause!(l, v, "lab/remove/grd1: s1 ∈ runex", l.member(&self.s1, &m.runex));
        let successors = l.image(&k.wmc.mc0.tr, &l.single(&self.s1));
        clause!(
            l,
            v,
            "lab/remove/grd2: rep[tr[{s1}]] ⊆ rrac ∪ rerr",
            l.subset(&l.map_image(&k.rep, &successors), &l.union(&m.rrac, &m.rerr)),
        );
    }
    fn action(&self, l: &L, _: &Constants<L>, m: &Lab<L>) -> Lab<L> {
        Lab {
            rrac: m.rrac.clone(),
            runex: l.assign("lab/remove/act1", &m.runex, l.minus(&m.runex, &l.single(&self.s1))),
            rerr: m.rerr.clone(),
        }
    }
}

/// lab/pass. Refines wmc/pass.
#[derive(Clone, Debug)]
pub struct Pass;

impl<L: Logic> Event<L> for Pass {
    type Machine = Lab<L>;
    const NAME: &'static str = "lab/pass";
    fn guard(&self, l: &L, _: &Constants<L>, m: &Lab<L>, v: &mut impl Clauses<L>) {
        clause!(l, v, "lab/pass/grd1: rerr = ∅", l.is_empty(&m.rerr));
        clause!(l, v, "lab/pass/grd2: runex = ∅", l.is_empty(&m.runex));
    }
    fn action(&self, _: &L, _: &Constants<L>, m: &Lab<L>) -> Lab<L> {
        m.clone()
    }
}

/// lab/fail. Refines wmc/fail.
#[derive(Clone, Debug)]
pub struct Fail;

impl<L: Logic> Event<L> for Fail {
    type Machine = Lab<L>;
    const NAME: &'static str = "lab/fail";
    fn guard(&self, l: &L, _: &Constants<L>, m: &Lab<L>, v: &mut impl Clauses<L>) {
        clause!(l, v, "lab/fail/grd1: rerr ≠ ∅", l.inhabited(&m.rerr));
    }
    fn action(&self, _: &L, _: &Constants<L>, m: &Lab<L>) -> Lab<L> {
        m.clone()
    }
}
