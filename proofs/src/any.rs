//! Any state of a machine that satisfies its invariant, and any event in it: the left side of an obligation.
//!
//! The invariant assumed is the whole one: the machine's own clauses and those of the machines it refines,
//! of its abstraction. The bounds are hints ([`Choose`]); each follows from the clauses it names.

use kanon_refinement::glue::Glue;
use kanon_refinement::glue::mc1_rmc1::Mc1Rmc1;
use kanon_refinement::glue::mc1_wmc::Mc1Wmc;
use kanon_refinement::glue::rmc1_rmc2::Rmc1Rmc2;
use kanon_refinement::logic::{Logic, Machine, enabled, name_of};
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
    let instance = k.least(&c.logic(), r);
    c.assume(mc0::LEAST, instance);
}

/// Constants of Figs. 1 and 8 with those properties of Fig. 8 that are named. The fewer, the stronger what
/// follows; and the closure of the group (prp3) leads a solver into an endless chain of inverses.
pub fn symmetric<C: Choose>(c: &mut C, needed: &[&str]) -> rmc1::Constants<C::L> {
    let k = c.rmc1();
    assume_all!(c, |l, v| k.mc0.properties(&l, v));
    assume_needed(c, needed, |l, mut v| k.properties(l, &mut v));
    k
}

/// Receives clauses.
pub type Receiver<'a, C> = dyn FnMut(&'static str, <<C as Choose>::L as Logic>::Bool) + 'a;

/// Assumes the clauses that are named.
pub fn assume_needed<C: Choose>(
    c: &mut C,
    needed: &[&str],
    clauses: impl FnOnce(&C::L, &mut Receiver<'_, C>),
) {
    let l = c.logic();
    let mut found = 0;
    clauses(&l, &mut |label, holds| {
        if needed.contains(&name_of(label)) {
            found += 1;
            c.assume(label, holds);
        }
    });
    assert_eq!(found, needed.len(), "each of {needed:?} is a clause");
}

/// Proves the one clause that is named.
pub fn prove_needed<C: Choose>(c: &mut C, needed: &str, clauses: impl FnOnce(&C::L, &mut Receiver<'_, C>)) {
    let l = c.logic();
    let mut found = false;
    clauses(&l, &mut |label, holds| {
        if needed == name_of(label) {
            found = true;
            c.prove(label, holds);
        }
    });
    assert!(found, "{needed} is a clause");
}

/// Figs. 1, 8 and 10: of Fig. 8 what speaks of `rep` alone, the rest is in the assertions of Fig. 10, which
/// rmc1/AST proves.
pub fn asserted<C: Choose>(c: &mut C) -> rmc1::Constants<C::L> {
    let k = symmetric(c, &["rmc1/prp10"]);
    assume_all!(c, |l, v| k.assertions(&l, v));
    k
}

/// Assumes rmc1/lem1, which rmc1/LEM proves.
pub fn assume_symmetric_reach<C: Choose>(c: &mut C, k: &rmc1::Constants<C::L>) {
    let l = c.logic();
    let lemma = l.forall_in(&k.aut, |p| rmc1::reach_is_symmetric(&l, k, p));
    c.assume("rmc1/lem1: p[reach] = reach", lemma);
}

/// What the events need of a symmetry; the two properties that speak of `tr` (prp6, prp7) serve the lemmas, and
/// each makes a solver unfold `tr` without end.
const EQUIVALENCE: &[&str] = &["wmc/prp1", "wmc/prp2", "wmc/prp3", "wmc/prp4", "wmc/prp5"];

/// Fig. 1 with a symmetry, its properties but prp6 and prp7, and wmc/lem1, which wmc/LEM proves.
pub fn stored<C: Choose>(c: &mut C) -> wmc::Constants<C::L> {
    let k = equivalent(c);
    let lemma = k.reach_is_symmetric(&c.logic());
    c.assume("wmc/lem1: s ↦ t ∈ orb ⇒ (s ∈ reach ⇔ t ∈ reach)", lemma);
    k
}

/// Fig. 1 with a symmetry and its properties but prp6 and prp7.
pub fn equivalent<C: Choose>(c: &mut C) -> wmc::Constants<C::L> {
    let k = c.wmc();
    assume_all!(c, |l, v| k.mc0.properties(&l, v));
    assume_needed(c, EQUIVALENCE, |l, mut v| k.properties(l, &mut v));
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
    let l = c.logic();
    let inverse = l.forall(|s| {
        let there = l.eq(&l.apply(&q, &l.apply(&p, s)), s);
        l.and(&there, &l.eq(&l.apply(&p, &l.apply(&q, s)), s))
    });
    c.assume("rmc1/prp3: q is the inverse of p", inverse);
    (p, q)
}

/// The same with a labelling.
pub fn labelled<C: Choose>(c: &mut C) -> lab::Constants<C::L> {
    let wmc = stored(c);
    let k = c.lab(wmc);
    assume_all!(c, |l, v| k.properties(&l, v));
    k
}

/// The same with labelled transitions.
pub fn steps<C: Choose>(c: &mut C) -> path::Constants<C::L> {
    let sym = stored(c);
    let k = c.path(sym);
    assume_all!(c, |l, v| k.properties(&l, v));
    k
}

/// Any state of mc1.
pub fn mc1<C: Choose>(c: &mut C, k: &mc0::Constants<C::L>) -> mc1::Mc1<C::L> {
    let rac =
        c.set("rac", &["mc1/inv1", "mc1/inv2", "mc1/inv3"], |l| [l.single(&k.i), l.inter(&k.reach, &k.inv)]);
    let err = c.set("err", &["mc1/inv4"], |l| [l.empty(), l.minus(&k.reach, &k.inv)]);
    let m = mc1::Mc1 { rac, err };
    assume_all!(c, |l, v| m.invariant(&l, k, v));
    m
}

/// Any state of mc2.
pub fn mc2<C: Choose>(c: &mut C, k: &mc0::Constants<C::L>) -> mc2::Mc2<C::L> {
    let mc1::Mc1 { rac, err } = mc1(c, k);
    let unex = c.set("unex", &["mc2/inv1", "mc2/inv2"], |l| {
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
    let rac = c.set("rac", &["rmc1/inv6"], |l| [(); 2].map(|()| l.preimage(&k.rep, &rrac)));
    let unex = c.set("unex", &["rmc1/inv7"], |l| [(); 2].map(|()| l.preimage(&k.rep, &runex)));
    let err = c.set("err", &["rmc1/inv8"], |l| [(); 2].map(|()| l.preimage(&k.rep, &rerr)));
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
    const RRAC: &[&str] = &[
        "mc1/inv1",
        "mc1/inv2",
        "mc1/inv3",
        "rmc1/inv2",
        "rmc1/inv3",
        "rmc1/inv6",
        "rmc2/inv1",
        "rmc2/inv2",
        "rmc2/inv3",
    ];
    const RUNEX: &[&str] = &["rmc1/inv4", "rmc1/inv6", "rmc1/inv7", "rmc1/inv8", "rmc1/inv9", "rmc2/inv4"];
    const RERR: &[&str] = &["mc1/inv4", "rmc1/inv5", "rmc1/inv8", "rmc2/inv5"];
    // By mc1/inv1 to inv3 of rac = rep⁻¹[rrac] ⊇ rrac.
    let rrac = c.set("rrac", RRAC, |l| {
        let checked = l.inter(&k.mc0.reach, &k.mc0.inv);
        [l.single(&k.mc0.i), l.inter(&checked, &l.map_range(&k.rep))]
    });
    let rerr = c.set("rerr", RERR, |l| [l.empty(), l.minus(&k.mc0.reach, &k.mc0.inv)]);
    let runex = c.set("runex", RUNEX, |l| {
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
    let rrac =
        c.set("rrac", &["wmc/inv1", "wmc/inv2"], |l| [l.single(&k.mc0.i), l.inter(&k.mc0.reach, &k.mc0.inv)]);
    let rerr = c.set("rerr", &["wmc/inv4"], |l| [l.empty(), l.minus(&k.mc0.reach, &k.mc0.inv)]);
    let runex = c.set("runex", &["wmc/inv3", "wmc/inv5"], |l| {
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

/// The clauses of path's invariant but inv2, which says that every state has a parent, and so has that.
pub const HISTORY: &[&str] = &["path/inv1", "path/inv3", "path/inv4", "path/inv5"];
/// The clause left out.
pub const PARENTS: &[&str] = &["path/inv2"];

/// Any state of path that satisfies these clauses.
pub fn path<C: Choose>(c: &mut C, k: &path::Constants<C::L>, needed: &[&str]) -> path::Path<C::L> {
    let wmc = wmc(c, &k.sym);
    let stored = c.logic().union(&wmc.rrac, &wmc.rerr);
    let (par, old) = c.history(k, &stored, &wmc.rrac);
    let m = path::Path { wmc, par, old };
    assume_needed(c, needed, |l, mut v| m.invariant(l, k, &mut v));
    m
}

/// `s1` and a successor, inside `inv` or outside; `event` names the guards.
pub fn pair<C: Choose>(
    c: &mut C,
    k: &mc0::Constants<C::L>,
    open: &<C::L as Logic>::Set,
    inv: bool,
    event: &'static str,
) -> [<C::L as Logic>::State; 2] {
    let s1 = c.state("s1", &[event], |_| open.clone());
    let s2 = c.state("s2", &[event], |l| {
        let successors = l.image(&k.tr, &l.single(&s1));
        match inv {
            true => l.inter(&successors, &k.inv),
            false => l.minus(&successors, &k.inv),
        }
    });
    [s1, s2]
}

/// `s1` alone.
pub fn one<C: Choose>(
    c: &mut C,
    name: &'static str,
    open: &<C::L as Logic>::Set,
    event: &'static str,
) -> <C::L as Logic>::State {
    c.state(name, &[event], |_| open.clone())
}

/// Any set of states that mc1 may add.
pub fn ss<C: Choose>(c: &mut C, k: &mc0::Constants<C::L>, inv: bool) -> <C::L as Logic>::Set {
    let by: &[&str] = match inv {
        true => &["mc1/add_inv/grd1", "mc1/add_inv/grd2"],
        false => &["mc1/add_err/grd1", "mc1/add_err/grd3"],
    };
    c.set("ss", by, |l| {
        let hi = match inv {
            true => l.inter(&k.reach, &k.inv),
            false => l.minus(&k.reach, &k.inv),
        };
        [l.empty(), hi]
    })
}

/// Any state symmetric to `s2`.
pub fn symmetric_to<C: Choose>(
    c: &mut C,
    k: &wmc::Constants<C::L>,
    s2: &<C::L as Logic>::State,
    event: &'static str,
) -> <C::L as Logic>::State {
    c.state("t", &[event], |l| l.image(&k.orb, &l.single(s2)))
}

/// Any state at all.
pub fn state<C: Choose>(c: &mut C, name: &'static str) -> <C::L as Logic>::State {
    c.state(name, &[], |l| l.set_where(|_| l.truth()))
}
