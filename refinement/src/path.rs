//! `path`: labels on `tr`, and who was first; so a trace is a theorem about a path. Ours (the paper names
//! labels as future work). Refines [`crate::wmc`]; glue: [`crate::glue::wmc_path`].
//! New constant: `ltr`, the transitions with their operation. New variables: `par` (the step by which a
//! stored state came) and `old` (what was stored before what).
//!
//! Following `par` from a stored state comes to `i`: each step leads to a state that is strictly older, and
//! `old` is a strict order. What is followed is a path of the quotient; a path of the system comes out by
//! going along with symmetric steps (`path/prp2`). Where every state was stored as it came ([`crate::first`]),
//! `par ⊆ ltr`, and it is a path as it stands.

use crate::logic::{Clauses, Event, Logic, Machine, all, clause};
use crate::wmc::{self, Wmc};

/// The constants of [`crate::wmc`] with labelled transitions.
#[derive(Clone, Debug)]
pub struct Constants<L: Logic> {
    /// Fig. 1 and the symmetry.
    pub sym: wmc::Constants<L>,
    /// The labelled transitions.
    pub ltr: L::Steps,
}

impl<L: Logic> Constants<L> {
    /// What the labels are.
    pub fn properties(&self, l: &L, v: &mut impl Clauses<L>) {
        self.prp1(l, v);
        self.prp2(l, v);
    }

    /// `path/prp1: s1 ↦ s2 ∈ tr ⇔ ∃op.((s1, op, s2) ∈ ltr)`
    pub fn prp1(&self, l: &L, v: &mut impl Clauses<L>) {
        clause!(
            l,
            v,
            "path/prp1: s1 ↦ s2 ∈ tr ⇔ ∃op.((s1, op, s2) ∈ ltr)",
            l.forall(|s1| {
                l.forall(|s2| {
                    l.iff(
                        &l.related(&self.sym.mc0.tr, s1, s2),
                        &l.exists_op(|op| l.step(&self.ltr, s1, op, s2)),
                    )
                })
            }),
        );
    }

    /// `path/prp2: s ↦ t ∈ orb ∧ (s, op, s2) ∈ ltr ⇒ ∃(op2, t2).((t, op2, t2) ∈ ltr ∧ s2 ↦ t2 ∈ orb)`
    pub fn prp2(&self, l: &L, v: &mut impl Clauses<L>) {
        clause!(
            l,
            v,
            "path/prp2: s ↦ t ∈ orb ∧ (s, op, s2) ∈ ltr ⇒ ∃(op2, t2).((t, op2, t2) ∈ ltr ∧ s2 ↦ t2 ∈ orb)",
            l.forall(|s| l.forall(|s2| l.forall(|t| l.forall_op(|op| self.moves(l, (s, op, s2), t))))),
        );
    }

    /// `path/prp2` for one step and one state.
    pub fn prp2_for(
        &self,
        l: &L,
        step: (&L::State, &L::Op, &L::State),
        t: &L::State,
        v: &mut impl Clauses<L>,
    ) {
        clause!(l, v, "path/prp2: for one step and one state", self.moves(l, step, t));
    }

    /// What `s` can do, the symmetric `t` can do, perhaps by another name.
    fn moves(&self, l: &L, (s, op, s2): (&L::State, &L::Op, &L::State), t: &L::State) -> L::Bool {
        let moved = l.exists(|t2| {
            l.and(&l.exists_op(|op2| l.step(&self.ltr, t, op2, t2)), &l.related(&self.sym.orb, s2, t2))
        });
        let step = l.step(&self.ltr, s, op, s2);
        l.implies(&l.and(&l.related(&self.sym.orb, s, t), &step), &moved)
    }
}

/// The variables: wmc's and two more.
#[derive(Clone, Debug)]
pub struct Path<L: Logic> {
    /// `rrac`, `runex`, `rerr`.
    pub wmc: Wmc<L>,
    /// `(s1, op, s)`: the stored `s` came from `s1` by `op`.
    pub par: L::Steps,
    /// `a ↦ b`: `a` was stored before `b`.
    pub old: L::Rel,
}

impl<L: Logic> Path<L> {
    fn stored(&self, l: &L) -> L::Set {
        l.union(&self.wmc.rrac, &self.wmc.rerr)
    }

    /// What both events do: `acts` are the labels of the two actions.
    fn arrived(
        &self,
        l: &L,
        acts: [&'static str; 2],
        (s1, op, new): (&L::State, &L::Op, &L::State),
        wmc: Wmc<L>,
    ) -> Self {
        let stored = self.stored(l);
        let par = l.steps_where(|a, o, b| {
            let this = all(l, [l.eq(a, s1), l.same_op(o, op), l.eq(b, new)]);
            l.or(&l.step(&self.par, a, o, b), &this)
        });
        let old = l.rel_where(|a, b| {
            let this = l.and(&l.member(a, &stored), &l.eq(b, new));
            l.or(&l.related(&self.old, a, b), &this)
        });
        Self { par: l.assign(acts[0], &self.par, par), old: l.assign(acts[1], &self.old, old), wmc }
    }

    /// `path/inv1: (s1, op, s) ∈ par ⇒ s1 ∈ rrac ∧ ∃t.(t ↦ s ∈ orb ∧ (s1, op, t) ∈ ltr)`
    pub fn inv1(&self, l: &L, k: &Constants<L>, v: &mut impl Clauses<L>) {
        clause!(
            l,
            v,
            "path/inv1: (s1, op, s) ∈ par ⇒ s1 ∈ rrac ∧ ∃t.(t ↦ s ∈ orb ∧ (s1, op, t) ∈ ltr)",
            l.forall(|s1| {
                l.forall(|s| {
                    l.forall_op(|op| {
                        let real =
                            l.exists(|t| l.and(&l.related(&k.sym.orb, t, s), &l.step(&k.ltr, s1, op, t)));
                        let known = l.and(&l.member(s1, &self.wmc.rrac), &real);
                        l.implies(&l.step(&self.par, s1, op, s), &known)
                    })
                })
            }),
        );
    }

    /// An instance of `path/inv1`: the successor `t` in whose place `s` was stored.
    pub fn inv1_for(
        &self,
        l: &L,
        k: &Constants<L>,
        (s1, op, s): (&L::State, &L::Op, &L::State),
        t: &L::State,
        v: &mut impl Clauses<L>,
    ) {
        let real = l.and(&l.related(&k.sym.orb, t, s), &l.step(&k.ltr, s1, op, t));
        clause!(l, v, "path/inv1: for one step, with its t", l.implies(&l.step(&self.par, s1, op, s), &real));
    }

    /// `path/inv2: s ∈ rrac ∪ rerr ∧ s ≠ i ⇒ ∃(s1, op).((s1, op, s) ∈ par ∧ s1 ↦ s ∈ old)`
    pub fn inv2(&self, l: &L, k: &Constants<L>, v: &mut impl Clauses<L>) {
        let stored = self.stored(l);
        clause!(
            l,
            v,
            "path/inv2: s ∈ rrac ∪ rerr ∧ s ≠ i ⇒ ∃(s1, op).((s1, op, s) ∈ par ∧ s1 ↦ s ∈ old)",
            l.forall(|s| {
                let came = l.exists(|s1| {
                    l.and(&l.exists_op(|op| l.step(&self.par, s1, op, s)), &l.related(&self.old, s1, s))
                });
                let other = l.and(&l.member(s, &stored), &l.not(&l.eq(s, &k.sym.mc0.i)));
                l.implies(&other, &came)
            }),
        );
    }

    /// `path/inv3: s ↦ s ∉ old`
    pub fn inv3(&self, l: &L, v: &mut impl Clauses<L>) {
        clause!(l, v, "path/inv3: s ↦ s ∉ old", l.forall(|s| l.not(&l.related(&self.old, s, s))));
    }

    /// `path/inv4: a ↦ b ∈ old ∧ b ↦ c ∈ old ⇒ a ↦ c ∈ old`
    pub fn inv4(&self, l: &L, v: &mut impl Clauses<L>) {
        clause!(
            l,
            v,
            "path/inv4: a ↦ b ∈ old ∧ b ↦ c ∈ old ⇒ a ↦ c ∈ old",
            l.forall(|a| {
                l.forall(|b| {
                    l.forall(|c| {
                        let two = l.and(&l.related(&self.old, a, b), &l.related(&self.old, b, c));
                        l.implies(&two, &l.related(&self.old, a, c))
                    })
                })
            }),
        );
    }

    /// `path/inv5: a ↦ b ∈ old ⇒ a ∈ rrac ∪ rerr ∧ b ∈ rrac ∪ rerr`
    pub fn inv5(&self, l: &L, v: &mut impl Clauses<L>) {
        let stored = self.stored(l);
        clause!(
            l,
            v,
            "path/inv5: a ↦ b ∈ old ⇒ a ∈ rrac ∪ rerr ∧ b ∈ rrac ∪ rerr",
            l.forall(|a| {
                l.forall(|b| {
                    let both = l.and(&l.member(a, &stored), &l.member(b, &stored));
                    l.implies(&l.related(&self.old, a, b), &both)
                })
            }),
        );
    }

    /// The invariant but inv2.
    pub fn history(&self, l: &L, k: &Constants<L>, v: &mut impl Clauses<L>) {
        self.inv1(l, k, v);
        self.inv3(l, v);
        self.inv4(l, v);
        self.inv5(l, v);
    }

    /// `par ⊆ ltr`: what holds when every state is stored as it came. Label `path/exact`.
    pub fn exact(&self, l: &L, k: &Constants<L>) -> L::Bool {
        l.forall(|a| {
            l.forall(|b| l.forall_op(|op| l.implies(&l.step(&self.par, a, op, b), &l.step(&k.ltr, a, op, b))))
        })
    }
}

impl<L: Logic> Machine<L> for Path<L> {
    type Constants = Constants<L>;
    const NAME: &'static str = "path";

    fn initialisation(l: &L, k: &Constants<L>) -> Self {
        let no = l.not(&l.truth());
        Self {
            wmc: Wmc::initialisation(l, &k.sym),
            par: l.steps_where(|_, _, _| no.clone()),
            old: l.rel_where(|_, _| no.clone()),
        }
    }

    fn invariant(&self, l: &L, k: &Constants<L>, v: &mut impl Clauses<L>) {
        self.inv1(l, k, v);
        self.inv2(l, k, v);
        self.inv3(l, v);
        self.inv4(l, v);
        self.inv5(l, v);
    }

    /// wmc's
    fn variant(&self, l: &L, k: &Constants<L>) -> [L::Set; 2] {
        self.wmc.variant(l, &k.sym)
    }
}

/// path/add_inv. Refines wmc/add_inv.
#[derive(Clone, Debug)]
pub struct AddInv<L: Logic> {
    /// The abstract event.
    pub wmc: wmc::AddInv<L>,
    /// The operation.
    pub op: L::Op,
}

impl<L: Logic> Event<L> for AddInv<L> {
    type Machine = Path<L>;
    const NAME: &'static str = "path/add_inv";
    fn guard(&self, l: &L, k: &Constants<L>, m: &Path<L>, v: &mut impl Clauses<L>) {
        self.wmc.guard(l, &k.sym, &m.wmc, v);
        clause!(
            l,
            v,
            "path/add_inv/grd1: (s1, op, s2) ∈ ltr",
            l.step(&k.ltr, &self.wmc.s1, &self.op, &self.wmc.s2)
        );
    }
    fn action(&self, l: &L, k: &Constants<L>, m: &Path<L>) -> Path<L> {
        let came = (&self.wmc.s1, &self.op, &self.wmc.t);
        let wmc = self.wmc.action(l, &k.sym, &m.wmc);
        m.arrived(l, ["path/add_inv/act1", "path/add_inv/act2"], came, wmc)
    }
}

/// path/add_err. Refines wmc/add_err.
#[derive(Clone, Debug)]
pub struct AddErr<L: Logic> {
    /// The abstract event.
    pub wmc: wmc::AddErr<L>,
    /// The operation.
    pub op: L::Op,
}

impl<L: Logic> Event<L> for AddErr<L> {
    type Machine = Path<L>;
    const NAME: &'static str = "path/add_err";
    fn guard(&self, l: &L, k: &Constants<L>, m: &Path<L>, v: &mut impl Clauses<L>) {
        self.wmc.guard(l, &k.sym, &m.wmc, v);
        clause!(
            l,
            v,
            "path/add_err/grd1: (s1, op, s2) ∈ ltr",
            l.step(&k.ltr, &self.wmc.s1, &self.op, &self.wmc.s2)
        );
    }
    fn action(&self, l: &L, k: &Constants<L>, m: &Path<L>) -> Path<L> {
        let came = (&self.wmc.s1, &self.op, &self.wmc.t);
        let wmc = self.wmc.action(l, &k.sym, &m.wmc);
        m.arrived(l, ["path/add_err/act1", "path/add_err/act2"], came, wmc)
    }
}

/// path/remove. Refines wmc/remove.
#[derive(Clone, Debug)]
pub struct Remove<L: Logic> {
    /// The abstract event.
    pub wmc: wmc::Remove<L>,
}

impl<L: Logic> Event<L> for Remove<L> {
    type Machine = Path<L>;
    const NAME: &'static str = "path/remove";
    fn guard(&self, l: &L, k: &Constants<L>, m: &Path<L>, v: &mut impl Clauses<L>) {
        self.wmc.guard(l, &k.sym, &m.wmc, v);
    }
    fn action(&self, l: &L, k: &Constants<L>, m: &Path<L>) -> Path<L> {
        Path { wmc: self.wmc.action(l, &k.sym, &m.wmc), ..m.clone() }
    }
}
