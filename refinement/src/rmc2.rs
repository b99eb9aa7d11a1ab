//! `rmc2`: only the reduced variables remain; this is what ships ([`crate::kernel`]). Refines [`crate::rmc1`]
//! and, by another road, [`crate::wmc`]. Variables: `rrac`, `runex`, `rerr` (Fig. 13). Glue:
//! [`crate::glue::rmc1_rmc2`], [`crate::glue::wmc_rmc2`].
//! Absent on purpose: `rac`, `unex`, `err`, of which the gluing relation speaks instead.

use crate::logic::{Clauses, Event, Logic, Machine, any, clause, enabled};
use crate::rmc1::Constants;

/// Fig. 13: the variables.
#[derive(Clone, Debug, PartialEq)]
pub struct Rmc2<L: Logic> {
    /// Reached and checked, one per orbit.
    pub rrac: L::Set,
    /// Not fully explored.
    pub runex: L::Set,
    /// Errors, one per orbit.
    pub rerr: L::Set,
}

impl<L: Logic> Machine<L> for Rmc2<L> {
    type Constants = Constants<L>;
    const NAME: &'static str = "rmc2";

    fn initialisation(l: &L, k: &Constants<L>) -> Self {
        Self { rrac: l.single(&k.mc0.i), runex: l.single(&k.mc0.i), rerr: l.empty() }
    }

    /// `rac` and `err` of inv3 and inv5 are the abstract ones, which rmc1/inv6 and inv8 determine.
    fn invariant(&self, l: &L, k: &Constants<L>, v: &mut impl Clauses<L>) {
        clause!(l, v, "rmc2/inv1: i ∈ rrac", l.member(&k.mc0.i, &self.rrac));
        clause!(l, v, "rmc2/inv2: rrac ⊆ ran(rep)", l.subset(&self.rrac, &l.map_range(&k.rep)));
        clause!(l, v, "rmc2/inv3: rrac ⊆ rac", l.subset(&self.rrac, &l.preimage(&k.rep, &self.rrac)));
        clause!(l, v, "rmc2/inv4: runex ⊆ rrac", l.subset(&self.runex, &self.rrac));
        clause!(l, v, "rmc2/inv5: rerr ⊆ err", l.subset(&self.rerr, &l.preimage(&k.rep, &self.rerr)));
    }

    /// `reach ∖ (rrac ∪ rerr)`, then `runex`
    fn variant(&self, l: &L, k: &Constants<L>) -> [L::Set; 2] {
        [l.minus(&k.mc0.reach, &l.union(&self.rrac, &self.rerr)), self.runex.clone()]
    }
}

/// chain: rmc2/add_inv (Fig. 12 without unex, rac). Refines rmc1/add_inv.
#[derive(Clone, Debug)]
pub struct AddInv<L: Logic> {
    /// The representative being explored.
    pub s1: L::State,
    /// Its successor.
    pub s2: L::State,
}

impl<L: Logic> Event<L> for AddInv<L> {
    type Machine = Rmc2<L>;
    const NAME: &'static str = "rmc2/add_inv";
    fn guard(&self, l: &L, k: &Constants<L>, m: &Rmc2<L>, v: &mut impl Clauses<L>) {
        clause!(l, v, "rmc2/add_inv/grd1: s1 ∈ runex", l.member(&self.s1, &m.runex));
        clause!(l, v, "rmc2/add_inv/grd2: s2 ∈ inv", l.member(&self.s2, &k.mc0.inv));
        clause!(l, v, "rmc2/add_inv/grd3: s1 ↦ s2 ∈ tr", l.related(&k.mc0.tr, &self.s1, &self.s2));
        clause!(l, v, "rmc2/add_inv/grd4: rep(s2) ∉ rrac", l.absent(&l.apply(&k.rep, &self.s2), &m.rrac));
        clause!(l, v, "rmc2/add_inv/grd5: rerr = ∅", l.is_empty(&m.rerr));
    }
    fn action(&self, l: &L, k: &Constants<L>, m: &Rmc2<L>) -> Rmc2<L> {
        let r2 = l.apply(&k.rep, &self.s2);
        let one = l.single(&r2);
        Rmc2 {
            runex: l.assign("rmc2/add_inv/act1", &m.runex, l.union(&m.runex, &one)),
            rrac: l.assign("rmc2/add_inv/act2", &m.rrac, l.union(&m.rrac, &one)),
            ..m.clone()
        }
    }
}

/// chain: rmc2/add_err (Fig. 12 without err). Refines rmc1/add_err.
#[derive(Clone, Debug)]
pub struct AddErr<L: Logic> {
    /// The representative being explored.
    pub s1: L::State,
    /// Its successor.
    pub s2: L::State,
}

impl<L: Logic> Event<L> for AddErr<L> {
    type Machine = Rmc2<L>;
    const NAME: &'static str = "rmc2/add_err";
    fn guard(&self, l: &L, k: &Constants<L>, m: &Rmc2<L>, v: &mut impl Clauses<L>) {
        clause!(l, v, "rmc2/add_err/grd1: s1 ∈ runex", l.member(&self.s1, &m.runex));
        clause!(l, v, "rmc2/add_err/grd2: s2 ∉ inv", l.absent(&self.s2, &k.mc0.inv));
        clause!(l, v, "rmc2/add_err/grd3: s1 ↦ s2 ∈ tr", l.related(&k.mc0.tr, &self.s1, &self.s2));
        clause!(l, v, "rmc2/add_err/grd4: rep(s2) ∉ rrac", l.absent(&l.apply(&k.rep, &self.s2), &m.rrac));
        clause!(l, v, "rmc2/add_err/grd5: rerr = ∅", l.is_empty(&m.rerr));
    }
    fn action(&self, l: &L, k: &Constants<L>, m: &Rmc2<L>) -> Rmc2<L> {
        let r2 = l.apply(&k.rep, &self.s2);
        let one = l.single(&r2);
        Rmc2 { rerr: l.assign("rmc2/add_err/act1", &m.rerr, l.union(&m.rerr, &one)), ..m.clone() }
    }
}

/// chain: rmc2/remove (Fig. 12 without unex). Refines rmc1/remove.
#[derive(Clone, Debug)]
pub struct Remove<L: Logic> {
    /// The representative that is explored.
    pub s1: L::State,
}

impl<L: Logic> Event<L> for Remove<L> {
    type Machine = Rmc2<L>;
    const NAME: &'static str = "rmc2/remove";
    fn guard(&self, l: &L, k: &Constants<L>, m: &Rmc2<L>, v: &mut impl Clauses<L>) {
        clause!(l, v, "rmc2/remove/grd1: s1 ∈ runex", l.member(&self.s1, &m.runex));
        let successors = l.image(&k.mc0.tr, &l.single(&self.s1));
        clause!(
            l,
            v,
            "rmc2/remove/grd2: rep[tr[{s1}]] ⊆ rrac",
            l.subset(&l.map_image(&k.rep, &successors), &m.rrac)
        );
        clause!(l, v, "rmc2/remove/grd3: rerr = ∅", l.is_empty(&m.rerr));
    }
    fn action(&self, l: &L, _: &Constants<L>, m: &Rmc2<L>) -> Rmc2<L> {
        let one = l.single(&self.s1);
        Rmc2 { runex: l.assign("rmc2/remove/act1", &m.runex, l.minus(&m.runex, &one)), ..m.clone() }
    }
}

/// chain: rmc2/pass (Fig. 12).
#[derive(Clone, Debug)]
pub struct Pass;

impl<L: Logic> Event<L> for Pass {
    type Machine = Rmc2<L>;
    const NAME: &'static str = "rmc2/pass";
    fn guard(&self, l: &L, _: &Constants<L>, m: &Rmc2<L>, v: &mut impl Clauses<L>) {
        clause!(l, v, "rmc2/pass/grd1: rerr = ∅", l.is_empty(&m.rerr));
        clause!(l, v, "rmc2/pass/grd2: runex = ∅", l.is_empty(&m.runex));
    }
    fn action(&self, _: &L, _: &Constants<L>, m: &Rmc2<L>) -> Rmc2<L> {
        m.clone()
    }
}

/// chain: rmc2/fail (Fig. 12).
#[derive(Clone, Debug)]
pub struct Fail;

impl<L: Logic> Event<L> for Fail {
    type Machine = Rmc2<L>;
    const NAME: &'static str = "rmc2/fail";
    fn guard(&self, l: &L, _: &Constants<L>, m: &Rmc2<L>, v: &mut impl Clauses<L>) {
        clause!(l, v, "rmc2/fail/grd1: rerr ≠ ∅", l.inhabited(&m.rerr));
    }
    fn action(&self, _: &L, _: &Constants<L>, m: &Rmc2<L>) -> Rmc2<L> {
        m.clone()
    }
}

/// Some event is enabled. Label `rmc2/ast1`.
pub fn responsive<L: Logic>(l: &L, k: &Constants<L>, m: &Rmc2<L>) -> L::Bool {
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
