//! `rmc1`: symmetry, with the unreduced variables beside the reduced ones; this is permutation flooding.
//! Refines [`crate::mc1`]. New constants: `aut`, `rep` (Fig. 8). New variables: `unex`, `rrac`, `runex`,
//! `rerr` (Fig. 11). Glue: [`crate::glue::mc1_rmc1`].
//! Absent on purpose: closure of the group under composition, which this machine does not need (the orbits
//! of [`crate::wmc`] do), threads.

use crate::logic::{Clauses, Event, Logic, Machine, all, any, clause, enabled};
use crate::mc0;

/// Fig. 8: the constants, with those of Fig. 1.
#[derive(Clone, Debug)]
pub struct Constants<L: Logic> {
    /// Fig. 1.
    pub mc0: mc0::Constants<L>,
    /// The automorphisms.
    pub aut: L::Aut,
    /// The representative function.
    pub rep: L::Map,
}

impl<L: Logic> Constants<L> {
    /// Fig. 8: all properties, in the paper's order. `rmc1/prp6` (`rep ∈ S → S`) is the Rust type.
    pub fn properties(&self, l: &L, v: &mut impl Clauses<L>) {
        self.prp1(l, v);
        self.prp2(l, v);
        self.prp3(l, v);
        self.prp4(l, v);
        self.prp5(l, v);
        self.prp7(l, v);
        self.prp8(l, v);
        self.prp9(l, v);
        self.prp10(l, v);
    }

    /// Fig. 10: the assertions.
    pub fn assertions(&self, l: &L, v: &mut impl Clauses<L>) {
        self.ast1(l, v);
        self.ast2(l, v);
        self.ast3(l, v);
        self.ast4(l, v);
        self.ast5(l, v);
    }

    /// `rmc1/prp1: aut ∈ ℙ(S ⤖ S)`
    pub fn prp1(&self, l: &L, v: &mut impl Clauses<L>) {
        clause!(
            l,
            v,
            "rmc1/prp1: aut ∈ ℙ(S ⤖ S)",
            l.forall_in(&self.aut, |p| {
                let injective =
                    l.forall(|a| l.forall(|b| l.implies(&l.eq(&l.apply(p, a), &l.apply(p, b)), &l.eq(a, b))));
                let surjective = l.forall(|b| l.exists(|a| l.eq(&l.apply(p, a), b)));
                l.and(&injective, &surjective)
            }),
        );
    }

    /// `rmc1/prp2: id(S) ∈ aut`
    pub fn prp2(&self, l: &L, v: &mut impl Clauses<L>) {
        clause!(
            l,
            v,
            "rmc1/prp2: id(S) ∈ aut",
            l.exists_in(&self.aut, |p| l.forall(|s| l.eq(&l.apply(p, s), s)))
        );
    }

    /// `rmc1/prp3: p ∈ aut ⇒ p⁻¹ ∈ aut`
    pub fn prp3(&self, l: &L, v: &mut impl Clauses<L>) {
        clause!(
            l,
            v,
            "rmc1/prp3: p ∈ aut ⇒ p⁻¹ ∈ aut",
            l.forall_in(&self.aut, |p| {
                l.exists_in(&self.aut, |q| {
                    l.forall(|s| {
                        l.and(&l.eq(&l.apply(q, &l.apply(p, s)), s), &l.eq(&l.apply(p, &l.apply(q, s)), s))
                    })
                })
            }),
        );
    }

    /// `rmc1/prp4: p ∈ aut ⇒ i ↦ i ∈ p`
    pub fn prp4(&self, l: &L, v: &mut impl Clauses<L>) {
        let k = &self.mc0;
        clause!(
            l,
            v,
            "rmc1/prp4: p ∈ aut ⇒ i ↦ i ∈ p",
            l.forall_in(&self.aut, |p| l.eq(&l.apply(p, &k.i), &k.i))
        );
    }

    /// `rmc1/prp5: p ∈ aut ⇒ (s ∈ inv ⇔ p(s) ∈ inv)`
    pub fn prp5(&self, l: &L, v: &mut impl Clauses<L>) {
        let k = &self.mc0;
        clause!(
            l,
            v,
            "rmc1/prp5: p ∈ aut ⇒ (s ∈ inv ⇔ p(s) ∈ inv)",
            l.forall_in(&self.aut, |p| {
                l.forall(|s| l.iff(&l.member(s, &k.inv), &l.member(&l.apply(p, s), &k.inv)))
            }),
        );
    }

    /// `rmc1/prp7: p ∈ aut ⇒ (s1 ↦ s2 ∈ tr ⇔ p(s1) ↦ p(s2) ∈ tr)`
    pub fn prp7(&self, l: &L, v: &mut impl Clauses<L>) {
        clause!(
            l,
            v,
            "rmc1/prp7: p ∈ aut ⇒ (s1 ↦ s2 ∈ tr ⇔ p(s1) ↦ p(s2) ∈ tr)",
            l.forall_in(&self.aut, |p| l.forall(|s1| l.forall(|s2| self.preserves_tr(l, p, s1, s2)))),
        );
    }

    /// `rmc1/prp8: p ∈ aut ⇒ rep(p(s)) = rep(s)`
    pub fn prp8(&self, l: &L, v: &mut impl Clauses<L>) {
        clause!(
            l,
            v,
            "rmc1/prp8: p ∈ aut ⇒ rep(p(s)) = rep(s)",
            l.forall_in(&self.aut, |p| {
                l.forall(|s| l.eq(&l.apply(&self.rep, s), &l.apply(&self.rep, &l.apply(p, s))))
            }),
        );
    }

    /// `rmc1/prp9: s ↦ t ∈ rep ⇒ ∃p.(p ∈ aut ∧ s ↦ t ∈ p)`
    pub fn prp9(&self, l: &L, v: &mut impl Clauses<L>) {
        clause!(
            l,
            v,
            "rmc1/prp9: s ↦ t ∈ rep ⇒ ∃p.(p ∈ aut ∧ s ↦ t ∈ p)",
            l.forall(|s| l.exists_in(&self.aut, |p| l.eq(&l.apply(&self.rep, s), &l.apply(p, s)))),
        );
    }

    /// `rmc1/prp10: s ∈ ran(rep) ⇒ rep(s) = s`
    pub fn prp10(&self, l: &L, v: &mut impl Clauses<L>) {
        clause!(
            l,
            v,
            "rmc1/prp10: s ∈ ran(rep) ⇒ rep(s) = s",
            l.forall(|s| l.implies(&l.member(s, &l.map_range(&self.rep)), &l.eq(&l.apply(&self.rep, s), s))),
        );
    }

    /// `rmc1/ast1: s ∈ inv ⇔ rep(s) ∈ inv`
    pub fn ast1(&self, l: &L, v: &mut impl Clauses<L>) {
        let k = &self.mc0;
        let rep = |s: &L::State| l.apply(&self.rep, s);
        clause!(
            l,
            v,
            "rmc1/ast1: s ∈ inv ⇔ rep(s) ∈ inv",
            l.forall(|s| l.iff(&l.member(s, &k.inv), &l.member(&rep(s), &k.inv))),
        );
    }

    /// `rmc1/ast2: rep(i) = i`
    pub fn ast2(&self, l: &L, v: &mut impl Clauses<L>) {
        let k = &self.mc0;
        let rep = |s: &L::State| l.apply(&self.rep, s);
        clause!(l, v, "rmc1/ast2: rep(i) = i", l.eq(&rep(&k.i), &k.i));
    }

    /// `rmc1/ast3: rep⁻¹[{i}] = {i}`
    pub fn ast3(&self, l: &L, v: &mut impl Clauses<L>) {
        let k = &self.mc0;
        clause!(
            l,
            v,
            "rmc1/ast3: rep⁻¹[{i}] = {i}",
            l.same(&l.preimage(&self.rep, &l.single(&k.i)), &l.single(&k.i))
        );
    }

    /// `rmc1/ast4: s1 ↦ s2 ∈ tr ⇒ ∃ss2.(rep(s1) ↦ ss2 ∈ tr ∧ rep(s2) = rep(ss2))`
    pub fn ast4(&self, l: &L, v: &mut impl Clauses<L>) {
        let k = &self.mc0;
        let rep = |s: &L::State| l.apply(&self.rep, s);
        clause!(
            l,
            v,
            "rmc1/ast4: s1 ↦ s2 ∈ tr ⇒ ∃ss2.(rep(s1) ↦ ss2 ∈ tr ∧ rep(s2) = rep(ss2))",
            l.forall(|s1| {
                l.forall(|s2| {
                    let moved =
                        l.exists(|ss2| l.and(&l.related(&k.tr, &rep(s1), ss2), &l.eq(&rep(s2), &rep(ss2))));
                    l.implies(&l.related(&k.tr, s1, s2), &moved)
                })
            }),
        );
    }

    /// `rmc1/ast5: s ∈ reach ⇔ rep(s) ∈ reach`
    pub fn ast5(&self, l: &L, v: &mut impl Clauses<L>) {
        let k = &self.mc0;
        let rep = |s: &L::State| l.apply(&self.rep, s);
        clause!(
            l,
            v,
            "rmc1/ast5: s ∈ reach ⇔ rep(s) ∈ reach",
            l.forall(|s| l.iff(&l.member(s, &k.reach), &l.member(&rep(s), &k.reach))),
        );
    }

    /// An instance of `rmc1/prp1`: `x` is what `p` takes to `y`.
    pub fn prp1_for(&self, l: &L, p: &L::Map, x: &L::State, y: &L::State, v: &mut impl Clauses<L>) {
        clause!(l, v, "rmc1/prp1: p(x) = y for an x", l.eq(&l.apply(p, x), y));
    }

    /// An instance of `rmc1/prp3`: `q` is the inverse of `p`.
    pub fn prp3_for(&self, l: &L, p: &L::Map, q: &L::Map, v: &mut impl Clauses<L>) {
        clause!(
            l,
            v,
            "rmc1/prp3: q is the inverse of p",
            l.forall(|s| {
                l.and(&l.eq(&l.apply(q, &l.apply(p, s)), s), &l.eq(&l.apply(p, &l.apply(q, s)), s))
            })
        );
    }

    /// An instance of `rmc1/prp9`: `p` takes `s` to its representative.
    pub fn prp9_for(&self, l: &L, p: &L::Map, s: &L::State, v: &mut impl Clauses<L>) {
        clause!(l, v, "rmc1/prp9: p(s) = rep(s) for a p", l.eq(&l.apply(p, s), &l.apply(&self.rep, s)));
    }

    /// Fig. 8, P1, for one `p` and two states, as a clause.
    pub fn prp7_for(&self, l: &L, p: &L::Map, s1: &L::State, s2: &L::State, v: &mut impl Clauses<L>) {
        clause!(l, v, "rmc1/prp7: for one p and two states", self.preserves_tr(l, p, s1, s2));
    }

    /// Fig. 8, P1, for one `p` and two states.
    pub fn preserves_tr(&self, l: &L, p: &L::Map, s1: &L::State, s2: &L::State) -> L::Bool {
        let tr = &self.mc0.tr;
        l.iff(&l.related(tr, s1, s2), &l.related(tr, &l.apply(p, s1), &l.apply(p, s2)))
    }

    /// `rep⁻¹[{t}]`: all states symmetric to the representative `t`.
    pub fn flood(&self, l: &L, t: &L::State) -> L::Set {
        l.preimage(&self.rep, &l.single(t))
    }
}

/// Fig. 11: the variables.
#[derive(Clone, Debug, PartialEq)]
pub struct Rmc1<L: Logic> {
    /// Standard: reached and checked.
    pub rac: L::Set,
    /// Standard: not fully explored.
    pub unex: L::Set,
    /// Standard: errors.
    pub err: L::Set,
    /// Reduced: reached and checked.
    pub rrac: L::Set,
    /// Reduced: not fully explored.
    pub runex: L::Set,
    /// Reduced: errors.
    pub rerr: L::Set,
}

impl<L: Logic> Machine<L> for Rmc1<L> {
    type Constants = Constants<L>;
    const NAME: &'static str = "rmc1";

    fn initialisation(l: &L, k: &Constants<L>) -> Self {
        let i = l.single(&k.mc0.i);
        Self { rac: i.clone(), rrac: i.clone(), unex: i.clone(), runex: i, err: l.empty(), rerr: l.empty() }
    }

    fn invariant(&self, l: &L, k: &Constants<L>, v: &mut impl Clauses<L>) {
        clause!(l, v, "rmc1/inv1: unex ⊆ rac", l.subset(&self.unex, &self.rac));
        clause!(l, v, "rmc1/inv2: rrac ⊆ ran(rep)", l.subset(&self.rrac, &l.map_range(&k.rep)));
        clause!(l, v, "rmc1/inv3: rrac ⊆ rac", l.subset(&self.rrac, &self.rac));
        clause!(l, v, "rmc1/inv4: runex ⊆ rrac", l.subset(&self.runex, &self.rrac));
        clause!(l, v, "rmc1/inv5: rerr ⊆ err", l.subset(&self.rerr, &self.err));
        clause!(l, v, "rmc1/inv6: rep⁻¹[rrac] = rac", l.same(&l.preimage(&k.rep, &self.rrac), &self.rac));
        clause!(l, v, "rmc1/inv7: rep⁻¹[runex] = unex", l.same(&l.preimage(&k.rep, &self.runex), &self.unex));
        clause!(l, v, "rmc1/inv8: rep⁻¹[rerr] = err", l.same(&l.preimage(&k.rep, &self.rerr), &self.err));
        clause!(
            l,
            v,
            "rmc1/inv9: tr[rac ∖ unex] ⊆ rac ∪ err",
            l.subset(&l.image(&k.mc0.tr, &l.minus(&self.rac, &self.unex)), &l.union(&self.rac, &self.err)),
        );
    }

    /// mc1's, then `runex`
    fn variant(&self, l: &L, k: &Constants<L>) -> [L::Set; 2] {
        [l.minus(&k.mc0.reach, &l.union(&self.rac, &self.err)), self.runex.clone()]
    }
}

/// chain: rmc1/add_inv (Fig. 12). Refines mc1/add_inv.
#[derive(Clone, Debug)]
pub struct AddInv<L: Logic> {
    /// The representative being explored.
    pub s1: L::State,
    /// Its successor.
    pub s2: L::State,
}

impl<L: Logic> Event<L> for AddInv<L> {
    type Machine = Rmc1<L>;
    const NAME: &'static str = "rmc1/add_inv";
    fn guard(&self, l: &L, k: &Constants<L>, m: &Rmc1<L>, v: &mut impl Clauses<L>) {
        clause!(l, v, "rmc1/add_inv/grd1: s1 ∈ runex", l.member(&self.s1, &m.runex));
        clause!(l, v, "rmc1/add_inv/grd2: s2 ∈ inv", l.member(&self.s2, &k.mc0.inv));
        clause!(l, v, "rmc1/add_inv/grd3: s1 ↦ s2 ∈ tr", l.related(&k.mc0.tr, &self.s1, &self.s2));
        clause!(l, v, "rmc1/add_inv/grd4: rep(s2) ∉ rrac", l.absent(&l.apply(&k.rep, &self.s2), &m.rrac));
        clause!(l, v, "rmc1/add_inv/grd5: rerr = ∅", l.is_empty(&m.rerr));
    }
    fn action(&self, l: &L, k: &Constants<L>, m: &Rmc1<L>) -> Rmc1<L> {
        let r2 = l.apply(&k.rep, &self.s2);
        let (one, flood) = (l.single(&r2), k.flood(l, &r2));
        Rmc1 {
            runex: l.assign("rmc1/add_inv/act1", &m.runex, l.union(&m.runex, &one)),
            unex: l.assign("rmc1/add_inv/act2", &m.unex, l.union(&m.unex, &flood)),
            rrac: l.assign("rmc1/add_inv/act3", &m.rrac, l.union(&m.rrac, &one)),
            rac: l.assign("rmc1/add_inv/act4", &m.rac, l.union(&m.rac, &flood)),
            ..m.clone()
        }
    }
}

/// chain: rmc1/add_err (Fig. 12). Refines mc1/add_err.
#[derive(Clone, Debug)]
pub struct AddErr<L: Logic> {
    /// The representative being explored.
    pub s1: L::State,
    /// Its successor.
    pub s2: L::State,
}

impl<L: Logic> Event<L> for AddErr<L> {
    type Machine = Rmc1<L>;
    const NAME: &'static str = "rmc1/add_err";
    fn guard(&self, l: &L, k: &Constants<L>, m: &Rmc1<L>, v: &mut impl Clauses<L>) {
        clause!(l, v, "rmc1/add_err/grd1: s1 ∈ runex", l.member(&self.s1, &m.runex));
        clause!(l, v, "rmc1/add_err/grd2: s2 ∉ inv", l.absent(&self.s2, &k.mc0.inv));
        clause!(l, v, "rmc1/add_err/grd3: s1 ↦ s2 ∈ tr", l.related(&k.mc0.tr, &self.s1, &self.s2));
        clause!(l, v, "rmc1/add_err/grd4: rep(s2) ∉ rrac", l.absent(&l.apply(&k.rep, &self.s2), &m.rrac));
        clause!(l, v, "rmc1/add_err/grd5: rerr = ∅", l.is_empty(&m.rerr));
    }
    fn action(&self, l: &L, k: &Constants<L>, m: &Rmc1<L>) -> Rmc1<L> {
        let r2 = l.apply(&k.rep, &self.s2);
        let (one, flood) = (l.single(&r2), k.flood(l, &r2));
        Rmc1 {
            rerr: l.assign("rmc1/add_err/act1", &m.rerr, l.union(&m.rerr, &one)),
            err: l.assign("rmc1/add_err/act2", &m.err, l.union(&m.err, &flood)),
            ..m.clone()
        }
    }
}

/// chain: rmc1/remove (Fig. 12). Refines skip.
#[derive(Clone, Debug)]
pub struct Remove<L: Logic> {
    /// The representative that is explored.
    pub s1: L::State,
}

impl<L: Logic> Event<L> for Remove<L> {
    type Machine = Rmc1<L>;
    const NAME: &'static str = "rmc1/remove";
    fn guard(&self, l: &L, k: &Constants<L>, m: &Rmc1<L>, v: &mut impl Clauses<L>) {
        clause!(l, v, "rmc1/remove/grd1: s1 ∈ runex", l.member(&self.s1, &m.runex));
        let successors = l.image(&k.mc0.tr, &l.single(&self.s1));
        clause!(
            l,
            v,
            "rmc1/remove/grd2: rep[tr[{s1}]] ⊆ rrac",
            l.subset(&l.map_image(&k.rep, &successors), &m.rrac)
        );
        clause!(l, v, "rmc1/remove/grd3: rerr = ∅", l.is_empty(&m.rerr));
    }
    fn action(&self, l: &L, k: &Constants<L>, m: &Rmc1<L>) -> Rmc1<L> {
        let (one, flood) = (l.single(&self.s1), k.flood(l, &self.s1));
        Rmc1 {
            runex: l.assign("rmc1/remove/act1", &m.runex, l.minus(&m.runex, &one)),
            unex: l.assign("rmc1/remove/act2", &m.unex, l.minus(&m.unex, &flood)),
            ..m.clone()
        }
    }
}

/// chain: rmc1/pass (Fig. 12).
#[derive(Clone, Debug)]
pub struct Pass;

impl<L: Logic> Event<L> for Pass {
    type Machine = Rmc1<L>;
    const NAME: &'static str = "rmc1/pass";
    fn guard(&self, l: &L, _: &Constants<L>, m: &Rmc1<L>, v: &mut impl Clauses<L>) {
        clause!(l, v, "rmc1/pass/grd1: rerr = ∅", l.is_empty(&m.rerr));
        clause!(l, v, "rmc1/pass/grd2: runex = ∅", l.is_empty(&m.runex));
    }
    fn action(&self, _: &L, _: &Constants<L>, m: &Rmc1<L>) -> Rmc1<L> {
        m.clone()
    }
}

/// chain: rmc1/fail (Fig. 12).
#[derive(Clone, Debug)]
pub struct Fail;

impl<L: Logic> Event<L> for Fail {
    type Machine = Rmc1<L>;
    const NAME: &'static str = "rmc1/fail";
    fn guard(&self, l: &L, _: &Constants<L>, m: &Rmc1<L>, v: &mut impl Clauses<L>) {
        clause!(l, v, "rmc1/fail/grd1: rerr ≠ ∅", l.inhabited(&m.rerr));
    }
    fn action(&self, _: &L, _: &Constants<L>, m: &Rmc1<L>) -> Rmc1<L> {
        m.clone()
    }
}

/// Some event is enabled. Label `rmc1/ast6`.
pub fn responsive<L: Logic>(l: &L, k: &Constants<L>, m: &Rmc1<L>) -> L::Bool {
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

/// The lemma behind Fig. 10's last assertion, which the paper proves by hand: `p[reach] = reach`. Its
/// induction instances are `p[reach]` and `p⁻¹[reach]`. Label `rmc1/lem1`.
pub fn reach_is_symmetric<L: Logic>(l: &L, k: &Constants<L>, p: &L::Map) -> L::Bool {
    let reach = &k.mc0.reach;
    all(l, [l.same(&l.map_image(p, reach), reach), l.same(&l.preimage(p, reach), reach)])
}
