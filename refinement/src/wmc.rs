//! `wmc`: a stored set with witnesses. Ours, not the paper's; refines [`crate::mc1`] and is refined by
//! [`crate::rmc2`], by [`crate::first`] (the first state seen of an orbit is stored) and by [`crate::lab`]
//! (an untrusted labelling). Glue: [`crate::glue::mc1_wmc`].
//!
//! A stored state need not be the representative of its orbit, and an orbit may have several: every successor
//! of an explored state is related by *some* member of the group to a stored one. So a labelling that errs
//! costs states, never an unsound pass. The group is closed under composition, which Fig. 8 does not say.
//!
//! No event has the guard `rerr = ∅`, which another thread's add_err could break between test and action.
//! All other guards are stable under the events of others: `rrac` and `rerr` only grow, and `s1` leaves `runex`
//! by the one who took it.
//!
//! Absent on purpose: a representative function.

use crate::logic::{Clauses, Event, Logic, Machine, any, enabled};
use crate::rmc1::Constants;

/// What the group has beyond Fig. 8.
pub fn properties<L: Logic>(l: &L, k: &Constants<L>, v: &mut impl Clauses<L>) {
    k.automorphisms(l, v);
    v(
        "wmc/prp1: p ∈ aut ∧ q ∈ aut ⇒ (q ∘ p) ∈ aut",
        l.forall_in(&k.aut, |p| {
            l.forall_in(&k.aut, |q| {
                l.exists_in(&k.aut, |r| l.forall(|s| l.eq(&l.apply(r, s), &l.apply(q, &l.apply(p, s)))))
            })
        }),
    );
}

/// `{s | ∃p.(p ∈ aut ∧ p(s) ∈ a)}`: what the members of `a` stand for.
pub fn covered<L: Logic>(l: &L, k: &Constants<L>, a: &L::Set) -> L::Set {
    l.set_where(|s| l.exists_in(&k.aut, |p| l.member(&l.apply(p, s), a)))
}

/// `p ∈ aut`.
pub fn is_automorphism<L: Logic>(l: &L, k: &Constants<L>, p: &L::Map) -> L::Bool {
    l.exists_in(&k.aut, |q| l.forall(|s| l.eq(&l.apply(p, s), &l.apply(q, s))))
}

/// The variables, named as in Fig. 13.
#[derive(Clone, Debug, PartialEq)]
pub struct Wmc<L: Logic> {
    /// Stored and checked.
    pub rrac: L::Set,
    /// Stored, not fully explored.
    pub runex: L::Set,
    /// Stored errors.
    pub rerr: L::Set,
}

impl<L: Logic> Machine<L> for Wmc<L> {
    type Constants = Constants<L>;
    const NAME: &'static str = "wmc";

    fn initialisation(l: &L, k: &Constants<L>) -> Self {
        Self { rrac: l.single(&k.mc0.i), runex: l.single(&k.mc0.i), rerr: l.empty() }
    }

    fn invariant(&self, l: &L, k: &Constants<L>, v: &mut impl Clauses<L>) {
        let c = &k.mc0;
        v("wmc/inv1: i ∈ rrac", l.member(&c.i, &self.rrac));
        v("wmc/inv2: rrac ⊆ reach ∩ inv", l.subset(&self.rrac, &l.inter(&c.reach, &c.inv)));
        v("wmc/inv3: runex ⊆ rrac", l.subset(&self.runex, &self.rrac));
        v("wmc/inv4: rerr ⊆ reach ∖ inv", l.subset(&self.rerr, &l.minus(&c.reach, &c.inv)));
        v(
            "wmc/inv5: s1 ∈ rrac ∖ runex ∧ s1 ↦ s2 ∈ tr ⇒ ∃p.(p ∈ aut ∧ p(s2) ∈ rrac ∪ rerr)",
            l.subset(
                &l.image(&c.tr, &l.minus(&self.rrac, &self.runex)),
                &covered(l, k, &l.union(&self.rrac, &self.rerr)),
            ),
        );
    }

    /// `reach ∖ (rrac ∪ rerr)`, then `runex`
    fn variant(&self, l: &L, k: &Constants<L>) -> [L::Set; 2] {
        [l.minus(&k.mc0.reach, &l.union(&self.rrac, &self.rerr)), self.runex.clone()]
    }
}

/// wmc/add_inv: a successor is stored in the place of which `p` puts it. Refines mc1/add_inv, or skip if its
/// orbit has a member in `rrac`.
#[derive(Clone, Debug)]
pub struct AddInv<L: Logic> {
    /// The state being explored.
    pub s1: L::State,
    /// Its successor.
    pub s2: L::State,
    /// The witness: what is stored is `p(s2)`.
    pub p: L::Map,
}

impl<L: Logic> Event<L> for AddInv<L> {
    type Machine = Wmc<L>;
    const NAME: &'static str = "wmc/add_inv";
    fn guard(&self, l: &L, k: &Constants<L>, m: &Wmc<L>, v: &mut impl Clauses<L>) {
        v("wmc/add_inv/grd1: s1 ∈ runex", l.member(&self.s1, &m.runex));
        v("wmc/add_inv/grd2: s2 ∈ inv", l.member(&self.s2, &k.mc0.inv));
        v("wmc/add_inv/grd3: s1 ↦ s2 ∈ tr", l.related(&k.mc0.tr, &self.s1, &self.s2));
        v("wmc/add_inv/grd4: p ∈ aut", is_automorphism(l, k, &self.p));
        v("wmc/add_inv/grd5: p(s2) ∉ rrac", l.absent(&l.apply(&self.p, &self.s2), &m.rrac));
    }
    fn action(&self, l: &L, _: &Constants<L>, m: &Wmc<L>) -> Wmc<L> {
        let one = l.single(&l.apply(&self.p, &self.s2));
        Wmc {
            rrac: l.assign("wmc/add_inv/act1", &m.rrac, l.union(&m.rrac, &one)),
            runex: l.assign("wmc/add_inv/act2", &m.runex, l.union(&m.runex, &one)),
            rerr: m.rerr.clone(),
        }
    }
}

/// wmc/add_err. Refines mc1/add_err, or skip if its orbit has a member in `rerr`.
#[derive(Clone, Debug)]
pub struct AddErr<L: Logic> {
    /// The state being explored.
    pub s1: L::State,
    /// Its successor.
    pub s2: L::State,
    /// The witness: what is stored is `p(s2)`.
    pub p: L::Map,
}

impl<L: Logic> Event<L> for AddErr<L> {
    type Machine = Wmc<L>;
    const NAME: &'static str = "wmc/add_err";
    fn guard(&self, l: &L, k: &Constants<L>, m: &Wmc<L>, v: &mut impl Clauses<L>) {
        v("wmc/add_err/grd1: s1 ∈ runex", l.member(&self.s1, &m.runex));
        v("wmc/add_err/grd2: s2 ∉ inv", l.absent(&self.s2, &k.mc0.inv));
        v("wmc/add_err/grd3: s1 ↦ s2 ∈ tr", l.related(&k.mc0.tr, &self.s1, &self.s2));
        v("wmc/add_err/grd4: p ∈ aut", is_automorphism(l, k, &self.p));
        v("wmc/add_err/grd5: p(s2) ∉ rerr", l.absent(&l.apply(&self.p, &self.s2), &m.rerr));
    }
    fn action(&self, l: &L, _: &Constants<L>, m: &Wmc<L>) -> Wmc<L> {
        let one = l.single(&l.apply(&self.p, &self.s2));
        Wmc {
            rrac: m.rrac.clone(),
            runex: m.runex.clone(),
            rerr: l.assign("wmc/add_err/act1", &m.rerr, l.union(&m.rerr, &one)),
        }
    }
}

/// wmc/remove. Refines skip.
#[derive(Clone, Debug)]
pub struct Remove<L: Logic> {
    /// The state that is explored.
    pub s1: L::State,
}

impl<L: Logic> Event<L> for Remove<L> {
    type Machine = Wmc<L>;
    const NAME: &'static str = "wmc/remove";
    fn guard(&self, l: &L, k: &Constants<L>, m: &Wmc<L>, v: &mut impl Clauses<L>) {
        v("wmc/remove/grd1: s1 ∈ runex", l.member(&self.s1, &m.runex));
        v(
            "wmc/remove/grd2: s1 ↦ s2 ∈ tr ⇒ ∃p.(p ∈ aut ∧ p(s2) ∈ rrac ∪ rerr)",
            l.subset(&l.image(&k.mc0.tr, &l.single(&self.s1)), &covered(l, k, &l.union(&m.rrac, &m.rerr))),
        );
    }
    fn action(&self, l: &L, _: &Constants<L>, m: &Wmc<L>) -> Wmc<L> {
        Wmc {
            rrac: m.rrac.clone(),
            runex: l.assign("wmc/remove/act1", &m.runex, l.minus(&m.runex, &l.single(&self.s1))),
            rerr: m.rerr.clone(),
        }
    }
}

/// wmc/pass. Refines mc1/pass.
#[derive(Clone, Debug)]
pub struct Pass;

impl<L: Logic> Event<L> for Pass {
    type Machine = Wmc<L>;
    const NAME: &'static str = "wmc/pass";
    fn guard(&self, l: &L, _: &Constants<L>, m: &Wmc<L>, v: &mut impl Clauses<L>) {
        v("wmc/pass/grd1: rerr = ∅", l.is_empty(&m.rerr));
        v("wmc/pass/grd2: runex = ∅", l.is_empty(&m.runex));
    }
    fn action(&self, _: &L, _: &Constants<L>, m: &Wmc<L>) -> Wmc<L> {
        m.clone()
    }
}

/// wmc/fail. Refines mc1/fail.
#[derive(Clone, Debug)]
pub struct Fail;

impl<L: Logic> Event<L> for Fail {
    type Machine = Wmc<L>;
    const NAME: &'static str = "wmc/fail";
    fn guard(&self, l: &L, _: &Constants<L>, m: &Wmc<L>, v: &mut impl Clauses<L>) {
        v("wmc/fail/grd1: rerr ≠ ∅", l.inhabited(&m.rerr));
    }
    fn action(&self, _: &L, _: &Constants<L>, m: &Wmc<L>) -> Wmc<L> {
        m.clone()
    }
}

/// Some event is enabled. Label `wmc/ast1`.
pub fn responsive<L: Logic>(l: &L, k: &Constants<L>, m: &Wmc<L>) -> L::Bool {
    let step = l.exists(|s1| {
        let (s1, remove) = (s1.clone(), Remove { s1: s1.clone() });
        let successor = l.exists(|s2| {
            l.exists_in(&k.aut, |p| {
                let (s1, s2, p) = (s1.clone(), s2.clone(), p.clone());
                let inv = AddInv { s1: s1.clone(), s2: s2.clone(), p: p.clone() };
                let err = AddErr { s1, s2, p };
                l.or(&enabled(&inv, l, k, m), &enabled(&err, l, k, m))
            })
        });
        l.or(&enabled(&remove, l, k, m), &successor)
    });
    any(l, [step, enabled(&Pass, l, k, m), enabled(&Fail, l, k, m)])
}
