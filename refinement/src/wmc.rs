//! `wmc`: a stored set with witnesses. Ours, not the paper's; refines [`crate::mc1`] and is refined by
//! [`crate::rmc2`], by [`crate::first`] (the first state seen of an orbit is stored) and by [`crate::lab`]
//! (an untrusted labelling). New constant: `orb`. Glue: [`crate::glue::mc1_wmc`].
//!
//! A stored state need not be the representative of its orbit, and an orbit may have several: every successor
//! of an explored state is symmetric to *some* stored one. So a labelling that errs costs states, never an
//! unsound pass.
//!
//! All that is needed of the symmetry is the relation `orb`: an equivalence that `tr` respects in both
//! directions. The orbits of a group are one ([`orbits`]) if the group is closed under inverse and composition;
//! Fig. 8 does not say the latter ([`closed`]). Equality of representatives is another ([`same_rep`]), for which
//! Fig. 8 suffices.
//!
//! No event has the guard `rerr = ∅`, which another thread's add_err could break between test and action.
//! All other guards are stable under the events of others: `rrac` and `rerr` only grow, and `s1` leaves `runex`
//! by the one who took it.
//!
//! Absent on purpose: a representative function, permutations.

use crate::logic::{Clauses, Event, Logic, Machine, any, clause, enabled};
use crate::{mc0, rmc1};

/// The constants of Fig. 1 and the symmetry.
#[derive(Clone, Debug)]
pub struct Constants<L: Logic> {
    /// Fig. 1.
    pub mc0: mc0::Constants<L>,
    /// Which states are symmetric.
    pub orb: L::Rel,
}

impl<L: Logic> Constants<L> {
    /// What is needed of the symmetry.
    pub fn properties(&self, l: &L, v: &mut impl Clauses<L>) {
        self.prp1(l, v);
        self.prp2(l, v);
        self.prp3(l, v);
        self.prp4(l, v);
        self.prp5(l, v);
        self.prp6(l, v);
        self.prp7(l, v);
    }

    /// `wmc/prp1: s ↦ s ∈ orb`
    pub fn prp1(&self, l: &L, v: &mut impl Clauses<L>) {
        let orb = |s: &L::State, t: &L::State| l.related(&self.orb, s, t);
        clause!(l, v, "wmc/prp1: s ↦ s ∈ orb", l.forall(|s| orb(s, s)));
    }

    /// `wmc/prp2: s ↦ t ∈ orb ⇒ t ↦ s ∈ orb`
    pub fn prp2(&self, l: &L, v: &mut impl Clauses<L>) {
        let orb = |s: &L::State, t: &L::State| l.related(&self.orb, s, t);
        clause!(
            l,
            v,
            "wmc/prp2: s ↦ t ∈ orb ⇒ t ↦ s ∈ orb",
            l.forall(|s| l.forall(|t| l.implies(&orb(s, t), &orb(t, s)))),
        );
    }

    /// `wmc/prp3: s ↦ t ∈ orb ∧ t ↦ u ∈ orb ⇒ s ↦ u ∈ orb`
    pub fn prp3(&self, l: &L, v: &mut impl Clauses<L>) {
        let orb = |s: &L::State, t: &L::State| l.related(&self.orb, s, t);
        clause!(
            l,
            v,
            "wmc/prp3: s ↦ t ∈ orb ∧ t ↦ u ∈ orb ⇒ s ↦ u ∈ orb",
            l.forall(|s| l.forall(|t| l.forall(|u| l.implies(&l.and(&orb(s, t), &orb(t, u)), &orb(s, u))))),
        );
    }

    /// `wmc/prp4: i ↦ s ∈ orb ⇒ s = i`
    pub fn prp4(&self, l: &L, v: &mut impl Clauses<L>) {
        let k = &self.mc0;
        let orb = |s: &L::State, t: &L::State| l.related(&self.orb, s, t);
        clause!(
            l,
            v,
            "wmc/prp4: i ↦ s ∈ orb ⇒ s = i",
            l.forall(|s| l.implies(&orb(&k.i, s), &l.eq(s, &k.i)))
        );
    }

    /// `wmc/prp5: s ↦ t ∈ orb ⇒ (s ∈ inv ⇔ t ∈ inv)`
    pub fn prp5(&self, l: &L, v: &mut impl Clauses<L>) {
        let k = &self.mc0;
        let orb = |s: &L::State, t: &L::State| l.related(&self.orb, s, t);
        clause!(
            l,
            v,
            "wmc/prp5: s ↦ t ∈ orb ⇒ (s ∈ inv ⇔ t ∈ inv)",
            l.forall(|s| {
                l.forall(|t| l.implies(&orb(s, t), &l.iff(&l.member(s, &k.inv), &l.member(t, &k.inv))))
            }),
        );
    }

    /// `wmc/prp6: s ↦ t ∈ orb ∧ s ↦ s2 ∈ tr ⇒ ∃t2.(t ↦ t2 ∈ tr ∧ s2 ↦ t2 ∈ orb)`
    pub fn prp6(&self, l: &L, v: &mut impl Clauses<L>) {
        clause!(
            l,
            v,
            "wmc/prp6: s ↦ t ∈ orb ∧ s ↦ s2 ∈ tr ⇒ ∃t2.(t ↦ t2 ∈ tr ∧ s2 ↦ t2 ∈ orb)",
            l.forall(|s| l.forall(|s2| l.forall(|t| self.forward(l, s, s2, t)))),
        );
    }

    /// `wmc/prp7: s2 ↦ t2 ∈ orb ∧ s ↦ s2 ∈ tr ⇒ ∃t.(t ↦ t2 ∈ tr ∧ s ↦ t ∈ orb)`
    pub fn prp7(&self, l: &L, v: &mut impl Clauses<L>) {
        clause!(
            l,
            v,
            "wmc/prp7: s2 ↦ t2 ∈ orb ∧ s ↦ s2 ∈ tr ⇒ ∃t.(t ↦ t2 ∈ tr ∧ s ↦ t ∈ orb)",
            l.forall(|s| l.forall(|s2| l.forall(|t2| self.backward(l, s, s2, t2)))),
        );
    }

    /// [`Constants::forward`] as a clause.
    pub fn prp6_for(&self, l: &L, s: &L::State, s2: &L::State, t: &L::State, v: &mut impl Clauses<L>) {
        clause!(l, v, "wmc/prp6: for three states", self.forward(l, s, s2, t));
    }

    /// [`Constants::backward`] as a clause.
    pub fn prp7_for(&self, l: &L, s: &L::State, s2: &L::State, t2: &L::State, v: &mut impl Clauses<L>) {
        clause!(l, v, "wmc/prp7: for three states", self.backward(l, s, s2, t2));
    }

    /// `wmc/prp6` for three states: what `s` can do, the symmetric `t` can do.
    pub fn forward(&self, l: &L, s: &L::State, s2: &L::State, t: &L::State) -> L::Bool {
        let (tr, orb) = (&self.mc0.tr, &self.orb);
        let moved = l.exists(|t2| l.and(&l.related(tr, t, t2), &l.related(orb, s2, t2)));
        l.implies(&l.and(&l.related(orb, s, t), &l.related(tr, s, s2)), &moved)
    }

    /// `wmc/prp7` for three states: as `s2` was come to, the symmetric `t2` can be come to.
    pub fn backward(&self, l: &L, s: &L::State, s2: &L::State, t2: &L::State) -> L::Bool {
        let (tr, orb) = (&self.mc0.tr, &self.orb);
        let moved = l.exists(|t| l.and(&l.related(tr, t, t2), &l.related(orb, s, t)));
        l.implies(&l.and(&l.related(orb, s2, t2), &l.related(tr, s, s2)), &moved)
    }

    /// Reachability respects the symmetry. Label `wmc/lem1`; its induction instance is [`Constants::reached`].
    pub fn reach_is_symmetric(&self, l: &L) -> L::Bool {
        let reach = &self.mc0.reach;
        l.forall(|s| {
            l.forall(|t| {
                l.implies(&l.related(&self.orb, s, t), &l.iff(&l.member(s, reach), &l.member(t, reach)))
            })
        })
    }

    /// `{s | ∀t.(s ↦ t ∈ orb ⇒ t ∈ reach)}`.
    pub fn reached(&self, l: &L) -> L::Set {
        l.set_where(|s| l.forall(|t| l.implies(&l.related(&self.orb, s, t), &l.member(t, &self.mc0.reach))))
    }

    /// `orb⁻¹[a]`: what the members of `a` stand for.
    pub fn covered(&self, l: &L, a: &L::Set) -> L::Set {
        l.set_where(|s| l.exists(|t| l.and(&l.related(&self.orb, s, t), &l.member(t, a))))
    }
}

/// What a group needs beyond Fig. 8 for its orbits to be an equivalence.
pub fn closed<L: Logic>(l: &L, k: &rmc1::Constants<L>, v: &mut impl Clauses<L>) {
    clause!(
        l,
        v,
        "wmc/grp1: p ∈ aut ∧ q ∈ aut ⇒ (q ∘ p) ∈ aut",
        l.forall_in(&k.aut, |p| {
            l.forall_in(&k.aut, |q| {
                l.exists_in(&k.aut, |r| l.forall(|s| l.eq(&l.apply(r, s), &l.apply(q, &l.apply(p, s)))))
            })
        }),
    );
}

/// `{s ↦ t | ∃p.(p ∈ aut ∧ p(s) = t)}`: the orbits of a group.
pub fn orbits<L: Logic>(l: &L, k: &rmc1::Constants<L>) -> L::Rel {
    l.rel_where(|s, t| l.exists_in(&k.aut, |p| l.eq(&l.apply(p, s), t)))
}

/// `{s ↦ t | rep(s) = rep(t)}`.
pub fn same_rep<L: Logic>(l: &L, k: &rmc1::Constants<L>) -> L::Rel {
    l.rel_where(|s, t| l.eq(&l.apply(&k.rep, s), &l.apply(&k.rep, t)))
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
        clause!(l, v, "wmc/inv1: i ∈ rrac", l.member(&c.i, &self.rrac));
        clause!(l, v, "wmc/inv2: rrac ⊆ reach ∩ inv", l.subset(&self.rrac, &l.inter(&c.reach, &c.inv)));
        clause!(l, v, "wmc/inv3: runex ⊆ rrac", l.subset(&self.runex, &self.rrac));
        clause!(l, v, "wmc/inv4: rerr ⊆ reach ∖ inv", l.subset(&self.rerr, &l.minus(&c.reach, &c.inv)));
        clause!(
            l,
            v,
            "wmc/inv5: s1 ∈ rrac ∖ runex ∧ s1 ↦ s2 ∈ tr ⇒ ∃t.(s2 ↦ t ∈ orb ∧ t ∈ rrac ∪ rerr)",
            l.subset(
                &l.image(&c.tr, &l.minus(&self.rrac, &self.runex)),
                &k.covered(l, &l.union(&self.rrac, &self.rerr)),
            ),
        );
    }

    /// `reach ∖ (rrac ∪ rerr)`, then `runex`
    fn variant(&self, l: &L, k: &Constants<L>) -> [L::Set; 2] {
        [l.minus(&k.mc0.reach, &l.union(&self.rrac, &self.rerr)), self.runex.clone()]
    }
}

/// wmc/add_inv: in the place of a successor, a state symmetric to it is stored. Refines mc1/add_inv, or skip if its
/// orbit has a member in `rrac`.
#[derive(Clone, Debug)]
pub struct AddInv<L: Logic> {
    /// The state being explored.
    pub s1: L::State,
    /// Its successor.
    pub s2: L::State,
    /// The witness, which is stored: symmetric to `s2`.
    pub t: L::State,
}

impl<L: Logic> Event<L> for AddInv<L> {
    type Machine = Wmc<L>;
    const NAME: &'static str = "wmc/add_inv";
    fn guard(&self, l: &L, k: &Constants<L>, m: &Wmc<L>, v: &mut impl Clauses<L>) {
        clause!(l, v, "wmc/add_inv/grd1: s1 ∈ runex", l.member(&self.s1, &m.runex));
        clause!(l, v, "wmc/add_inv/grd2: s2 ∈ inv", l.member(&self.s2, &k.mc0.inv));
        clause!(l, v, "wmc/add_inv/grd3: s1 ↦ s2 ∈ tr", l.related(&k.mc0.tr, &self.s1, &self.s2));
        clause!(l, v, "wmc/add_inv/grd4: s2 ↦ t ∈ orb", l.related(&k.orb, &self.s2, &self.t));
        clause!(l, v, "wmc/add_inv/grd5: t ∉ rrac", l.absent(&self.t, &m.rrac));
    }
    fn action(&self, l: &L, _: &Constants<L>, m: &Wmc<L>) -> Wmc<L> {
        let one = l.single(&self.t);
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
    /// The witness, which is stored: symmetric to `s2`.
    pub t: L::State,
}

impl<L: Logic> Event<L> for AddErr<L> {
    type Machine = Wmc<L>;
    const NAME: &'static str = "wmc/add_err";
    fn guard(&self, l: &L, k: &Constants<L>, m: &Wmc<L>, v: &mut impl Clauses<L>) {
        clause!(l, v, "wmc/add_err/grd1: s1 ∈ runex", l.member(&self.s1, &m.runex));
        clause!(l, v, "wmc/add_err/grd2: s2 ∉ inv", l.absent(&self.s2, &k.mc0.inv));
        clause!(l, v, "wmc/add_err/grd3: s1 ↦ s2 ∈ tr", l.related(&k.mc0.tr, &self.s1, &self.s2));
        clause!(l, v, "wmc/add_err/grd4: s2 ↦ t ∈ orb", l.related(&k.orb, &self.s2, &self.t));
        clause!(l, v, "wmc/add_err/grd5: t ∉ rerr", l.absent(&self.t, &m.rerr));
    }
    fn action(&self, l: &L, _: &Constants<L>, m: &Wmc<L>) -> Wmc<L> {
        let one = l.single(&self.t);
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
        clause!(l, v, "wmc/remove/grd1: s1 ∈ runex", l.member(&self.s1, &m.runex));
        clause!(
            l,
            v,
            "wmc/remove/grd2: s1 ↦ s2 ∈ tr ⇒ ∃t.(s2 ↦ t ∈ orb ∧ t ∈ rrac ∪ rerr)",
            l.subset(&l.image(&k.mc0.tr, &l.single(&self.s1)), &k.covered(l, &l.union(&m.rrac, &m.rerr))),
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

/// An expansion under way: of the successors of `s1`, those in `done` have arrived. It is no event and changes nothing;
/// its guard is what a kernel relies on that expands a state in parts and explores others between them (the special
/// state `i`, whose successors may come one by one). Others' events do not disturb it (wmc/part/STA), each arrival
/// extends it (wmc/part/NEXT), and when all have arrived it is the guard of remove (wmc/part/END).
#[derive(Clone, Debug)]
pub struct Part<L: Logic> {
    /// The state being explored.
    pub s1: L::State,
    /// What has arrived.
    pub done: L::Set,
}

impl<L: Logic> Event<L> for Part<L> {
    type Machine = Wmc<L>;
    const NAME: &'static str = "wmc/part";
    fn guard(&self, l: &L, k: &Constants<L>, m: &Wmc<L>, v: &mut impl Clauses<L>) {
        clause!(l, v, "wmc/part/grd1: s1 ∈ runex", l.member(&self.s1, &m.runex));
        clause!(
            l,
            v,
            "wmc/part/grd2: s2 ∈ done ⇒ ∃t.(s2 ↦ t ∈ orb ∧ t ∈ rrac ∪ rerr)",
            l.subset(&self.done, &k.covered(l, &l.union(&m.rrac, &m.rerr)))
        );
    }
    fn action(&self, _: &L, _: &Constants<L>, m: &Wmc<L>) -> Wmc<L> {
        m.clone()
    }
}

/// wmc/reopen: stored states are opened once more, whether or not they were explored. Refines skip. It is what becomes of
/// a machine that is written down and taken up again later ([`crate::kernel::Kernel::reopen`]): who has taken a state is
/// gone, and so is how far the successors of `i` had come. It makes no variant smaller, and happens once for each time
/// that a run is taken up.
#[derive(Clone, Debug)]
pub struct Reopen<L: Logic> {
    /// The states.
    pub back: L::Set,
}

impl<L: Logic> Event<L> for Reopen<L> {
    type Machine = Wmc<L>;
    const NAME: &'static str = "wmc/reopen";
    fn guard(&self, l: &L, _: &Constants<L>, m: &Wmc<L>, v: &mut impl Clauses<L>) {
        clause!(l, v, "wmc/reopen/grd1: back ⊆ rrac", l.subset(&self.back, &m.rrac));
    }
    fn action(&self, l: &L, _: &Constants<L>, m: &Wmc<L>) -> Wmc<L> {
        Wmc {
            rrac: m.rrac.clone(),
            runex: l.assign("wmc/reopen/act1", &m.runex, l.union(&m.runex, &self.back)),
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
        clause!(l, v, "wmc/pass/grd1: rerr = ∅", l.is_empty(&m.rerr));
        clause!(l, v, "wmc/pass/grd2: runex = ∅", l.is_empty(&m.runex));
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
        clause!(l, v, "wmc/fail/grd1: rerr ≠ ∅", l.inhabited(&m.rerr));
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
            l.exists(|t| {
                let (s1, s2, t) = (s1.clone(), s2.clone(), t.clone());
                let inv = AddInv { s1: s1.clone(), s2: s2.clone(), t: t.clone() };
                let err = AddErr { s1, s2, t };
                l.or(&enabled(&inv, l, k, m), &enabled(&err, l, k, m))
            })
        });
        l.or(&enabled(&remove, l, k, m), &successor)
    });
    any(l, [step, enabled(&Pass, l, k, m), enabled(&Fail, l, k, m)])
}
