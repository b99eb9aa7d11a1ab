//! Any state of a machine that satisfies its invariant, and any event in it: the left side of an obligation.
//!
//! The invariant assumed is the whole one: the machine's own clauses and those of the machines it refines,
//! of its abstraction. Sets and states are any sets and states; the bounds beside them are hints ([`Choose`]).

use kanon_refinement::glue::Glue;
use kanon_refinement::glue::mc1_rmc1::Mc1Rmc1;
use kanon_refinement::glue::mc1_wmc::Mc1Wmc;
use kanon_refinement::glue::rmc1_rmc2::Rmc1Rmc2;
use kanon_refinement::logic::{Logic, Machine, enabled};
use kanon_refinement::{first, lab, mc0, mc1, mc2, path, rmc1, rmc2, wmc};

use crate::choose::Choose;
use crate::schema::assume_all;

/// Constants of Fig. 1 with their properties.
pub fn system<C: Choose>(c: &mut C) -> mc0::Constants<C::L> {
    let k = c.mc0();
    assume_all!(c, |l, v| k.properties(&l, v));
    k
}

/// Assumes the induction of Fig. 1 for one set.
pub fn induction<C: Choose>(c: &mut C, k: &mc0::Constants<C::L>, r: &<C::L as Logic>::Set) {
    assume_all!(c, |l, v| k.prp8_for(&l, r, v));
}

/// Constants of Figs. 1 and 8 with the properties of Fig. 1. Of Fig. 8 an obligation assumes those that it needs: the
/// fewer, the stronger what follows; and the closure of the group (prp3) leads a solver into an endless chain of
/// inverses.
pub fn symmetric<C: Choose>(c: &mut C) -> rmc1::Constants<C::L> {
    let k = c.rmc1();
    assume_all!(c, |l, v| k.mc0.properties(&l, v));
    k
}

/// Figs. 1, 8 and 10: of Fig. 8 what speaks of `rep` alone, the rest is in the assertions of Fig. 10, which
/// rmc1/AST proves.
pub fn asserted<C: Choose>(c: &mut C) -> rmc1::Constants<C::L> {
    let k = symmetric(c);
    assume_all!(c, |l, v| {
        k.prp10(&l, v);
        k.assertions(&l, v);
    });
    k
}

/// Assumes rmc1/lem1, which rmc1/LEM proves.
pub fn assume_symmetric_reach<C: Choose>(c: &mut C, k: &rmc1::Constants<C::L>) {
    let l = c.logic();
    let lemma = l.forall_in(&k.aut, |p| rmc1::reach_is_symmetric(&l, k, p));
    c.assume("rmc1/lem1: p[reach] = reach", lemma);
}

/// Fig. 1 with a symmetry, its properties but prp6 and prp7, and wmc/lem1, which wmc/LEM proves.
pub fn stored<C: Choose>(c: &mut C) -> wmc::Constants<C::L> {
    let k = equivalent(c);
    let lemma = k.reach_is_symmetric(&c.logic());
    c.assume("wmc/lem1: s ↦ t ∈ orb ⇒ (s ∈ reach ⇔ t ∈ reach)", lemma);
    k
}

/// Fig. 1 with a symmetry and its properties but prp6 and prp7: what the events need. The two that speak of `tr`
/// serve the lemmas, and each makes a solver unfold `tr` without end.
pub fn equivalent<C: Choose>(c: &mut C) -> wmc::Constants<C::L> {
    let k = c.wmc();
    assume_all!(c, |l, v| {
        k.mc0.properties(&l, v);
        k.prp1(&l, v);
        k.prp2(&l, v);
        k.prp3(&l, v);
        k.prp4(&l, v);
        k.prp5(&l, v);
    });
    k
}

/// Assumes what wmc/FIX proves of a state in which pass is enabled, and the induction it serves.
pub fn covered_is_all<C: Choose>(c: &mut C, k: &wmc::Constants<C::L>, m: &wmc::Wmc<C::L>) {
    let l = c.logic();
    let rac = k.covered(&l, &m.rrac);
    let fixpoint = l.subset(&l.image(&k.mc0.tr, &rac), &rac);
    let passing = enabled(&wmc::Pass, &l, k, m);
    c.assume("wmc/lem2: pass ⇒ tr[orb⁻¹[rrac]] ⊆ orb⁻¹[rrac]", l.implies(&passing, &fixpoint));
    induction(c, &k.mc0, &rac);
}

/// Two members of the group, one the inverse of the other (prp3).
pub fn inverses<C: Choose>(
    c: &mut C,
    k: &rmc1::Constants<C::L>,
) -> (<C::L as Logic>::Map, <C::L as Logic>::Map) {
    let (p, q) = (c.automorphism("p", &k.aut), c.automorphism("q", &k.aut));
    assume_all!(c, |l, v| k.prp3_for(&l, &p, &q, v));
    (p, q)
}

/// The same with a labelling.
pub fn labelled<C: Choose>(c: &mut C) -> lab::Constants<C::L> {
    let wmc = stored(c);
    let k = c.lab(wmc);
    assume_all!(c, |l, v| k.properties(&l, v));
    k
}

/// The same with labelled transitions, of which nothing is assumed: an obligation assumes what it needs.
pub fn steps<C: Choose>(c: &mut C) -> path::Constants<C::L> {
    let sym = stored(c);
    c.path(sym)
}

/// Any state of mc1.
pub fn mc1<C: Choose>(c: &mut C, k: &mc0::Constants<C::L>) -> mc1::Mc1<C::L> {
    let rac = c.set("rac", |l| [l.single(&k.i), l.inter(&k.reach, &k.inv)]);
    let err = c.set("err", |l| [l.empty(), l.minus(&k.reach, &k.inv)]);
    let m = mc1::Mc1 { rac, err };
    assume_all!(c, |l, v| m.invariant(&l, k, v));
    m
}

/// Any state of mc2.
pub fn mc2<C: Choose>(c: &mut C, k: &mc0::Constants<C::L>) -> mc2::Mc2<C::L> {
    let mc1::Mc1 { rac, err } = mc1(c, k);
    let unex = c.set("unex", |l| {
        let reached = l.union(&rac, &err);
        let open = l.set_where(|s| l.not(&l.subset(&l.image(&k.tr, &l.single(s)), &reached)));
        [l.inter(&rac, &open), rac.clone()]
    });
    let m = mc2::Mc2 { unex, rac, err };
    assume_all!(c, |l, v| m.invariant(&l, k, v));
    m
}

/// Any state of rmc1.
pub fn rmc1<C: Choose>(c: &mut C, k: &rmc1::Constants<C::L>) -> rmc1::Rmc1<C::L> {
    let [rrac, runex, rerr] = reduced(c, k);
    let rac = c.set("rac", |l| [l.preimage(&k.rep, &rrac), l.preimage(&k.rep, &rrac)]);
    let unex = c.set("unex", |l| [l.preimage(&k.rep, &runex), l.preimage(&k.rep, &runex)]);
    let err = c.set("err", |l| [l.preimage(&k.rep, &rerr), l.preimage(&k.rep, &rerr)]);
    let m = rmc1::Rmc1 { rac, unex, err, rrac, runex, rerr };
    assume_all!(c, |l, v| m.invariant(&l, k, v));
    let a = Mc1Rmc1::abstraction(&c.logic(), k, &m);
    assume_all!(c, |l, v| a.invariant(&l, &k.mc0, v));
    m
}

/// Any state of rmc2.
pub fn rmc2<C: Choose>(c: &mut C, k: &rmc1::Constants<C::L>) -> rmc2::Rmc2<C::L> {
    let [rrac, runex, rerr] = reduced(c, k);
    let m = rmc2::Rmc2 { rrac, runex, rerr };
    assume_all!(c, |l, v| m.invariant(&l, k, v));
    let a = Rmc1Rmc2::abstraction(&c.logic(), k, &m);
    assume_all!(c, |l, v| a.invariant(&l, k, v));
    let a = Mc1Rmc1::abstraction(&c.logic(), k, &a);
    assume_all!(c, |l, v| a.invariant(&l, &k.mc0, v));
    m
}

/// `rrac`, `runex`, `rerr` of a machine with representatives.
fn reduced<C: Choose>(c: &mut C, k: &rmc1::Constants<C::L>) -> [<C::L as Logic>::Set; 3] {
    let rrac = c.set("rrac", |l| {
        let checked = l.inter(&k.mc0.reach, &k.mc0.inv);
        [l.single(&k.mc0.i), l.inter(&checked, &l.map_range(&k.rep))]
    });
    let rerr = c.set("rerr", |l| [l.empty(), l.minus(&k.mc0.reach, &k.mc0.inv)]);
    let runex = c.set("runex", |l| {
        let stored = l.union(&rrac, &rerr);
        let open = l.set_where(|s| {
            let successors = l.image(&k.mc0.tr, &l.single(s));
            l.not(&l.subset(&l.map_image(&k.rep, &successors), &stored))
        });
        [l.inter(&rrac, &open), rrac.clone()]
    });
    [rrac, runex, rerr]
}

/// Any state of wmc.
pub fn wmc<C: Choose>(c: &mut C, k: &wmc::Constants<C::L>) -> wmc::Wmc<C::L> {
    let rrac = c.set("rrac", |l| [l.single(&k.mc0.i), l.inter(&k.mc0.reach, &k.mc0.inv)]);
    let rerr = c.set("rerr", |l| [l.empty(), l.minus(&k.mc0.reach, &k.mc0.inv)]);
    let runex = c.set("runex", |l| {
        let known = k.covered(l, &l.union(&rrac, &rerr));
        let open = l.set_where(|s| l.not(&l.subset(&l.image(&k.mc0.tr, &l.single(s)), &known)));
        [l.inter(&rrac, &open), rrac.clone()]
    });
    let m = wmc::Wmc { rrac, runex, rerr };
    assume_all!(c, |l, v| m.invariant(&l, k, v));
    let a = Mc1Wmc::abstraction(&c.logic(), k, &m);
    assume_all!(c, |l, v| a.invariant(&l, &k.mc0, v));
    m
}

/// Any state of first.
pub fn first<C: Choose>(c: &mut C, k: &wmc::Constants<C::L>) -> first::First<C::L> {
    let wmc::Wmc { rrac, runex, rerr } = wmc(c, k);
    let m = first::First { rrac, runex, rerr };
    assume_all!(c, |l, v| m.invariant(&l, k, v));
    m
}

/// Any state of lab.
pub fn lab<C: Choose>(c: &mut C, k: &lab::Constants<C::L>) -> lab::Lab<C::L> {
    let wmc::Wmc { rrac, runex, rerr } = wmc(c, &k.wmc);
    let m = lab::Lab { rrac, runex, rerr };
    assume_all!(c, |l, v| m.invariant(&l, k, v));
    m
}

/// Any state of wmc with any history.
pub fn path<C: Choose>(c: &mut C, k: &path::Constants<C::L>) -> path::Path<C::L> {
    let wmc = wmc(c, &k.sym);
    let stored = c.logic().union(&wmc.rrac, &wmc.rerr);
    let (par, old) = c.history(k, &stored, &wmc.rrac);
    path::Path { wmc, par, old }
}

/// Any state of path that satisfies the invariant but inv2, which says that every state has a parent, and so has
/// that.
pub fn history<C: Choose>(c: &mut C, k: &path::Constants<C::L>) -> path::Path<C::L> {
    let m = path(c, k);
    assume_all!(c, |l, v| m.history(&l, k, v));
    m
}

/// Any state of path that satisfies inv2.
pub fn parents<C: Choose>(c: &mut C, k: &path::Constants<C::L>) -> path::Path<C::L> {
    let m = path(c, k);
    assume_all!(c, |l, v| m.inv2(&l, k, v));
    m
}

/// Two states; hint: `s1` and a successor, inside `inv` or outside.
pub fn pair<C: Choose>(
    c: &mut C,
    k: &mc0::Constants<C::L>,
    open: &<C::L as Logic>::Set,
    inv: bool,
) -> [<C::L as Logic>::State; 2] {
    let s1 = c.state("s1", |_| open.clone());
    let s2 = c.state("s2", |l| {
        let successors = l.image(&k.tr, &l.single(&s1));
        match inv {
            true => l.inter(&successors, &k.inv),
            false => l.minus(&successors, &k.inv),
        }
    });
    [s1, s2]
}

/// Any state; hint: one of the open ones.
pub fn one<C: Choose>(c: &mut C, name: &'static str, open: &<C::L as Logic>::Set) -> <C::L as Logic>::State {
    c.state(name, |_| open.clone())
}

/// Any set of states; hint: what mc1 may add.
pub fn ss<C: Choose>(c: &mut C, k: &mc0::Constants<C::L>, inv: bool) -> <C::L as Logic>::Set {
    c.set("ss", |l| {
        let hi = match inv {
            true => l.inter(&k.reach, &k.inv),
            false => l.minus(&k.reach, &k.inv),
        };
        [l.empty(), hi]
    })
}

/// Any expansion under way; hint: what has arrived is some of what is covered.
pub fn part<C: Choose>(c: &mut C, k: &wmc::Constants<C::L>, m: &wmc::Wmc<C::L>) -> wmc::Part<C::L> {
    let s1 = c.state("mine", |_| m.runex.clone());
    let done = c.set("done", |l| [l.empty(), k.covered(l, &l.union(&m.rrac, &m.rerr))]);
    wmc::Part { s1, done }
}

/// Stored states that are opened once more; hint: `i`, which always is.
pub fn reopen<C: Choose>(c: &mut C, k: &wmc::Constants<C::L>, m: &wmc::Wmc<C::L>) -> wmc::Reopen<C::L> {
    let back = c.set("back", |l| [l.single(&k.mc0.i), m.rrac.clone()]);
    wmc::Reopen { back }
}

/// Any state; hint: one symmetric to `s2`.
pub fn symmetric_to<C: Choose>(
    c: &mut C,
    k: &wmc::Constants<C::L>,
    s2: &<C::L as Logic>::State,
) -> <C::L as Logic>::State {
    c.state("t", |l| l.image(&k.orb, &l.single(s2)))
}

/// Any state at all.
pub fn state<C: Choose>(c: &mut C, name: &'static str) -> <C::L as Logic>::State {
    c.state(name, |l| l.set_where(|_| l.truth()))
}
