//! Seeded mistakes: each is rejected by a reading, or is listed as equivalent with the reason.
//!
//! A clause of an invariant or a guard is dropped, an action does nothing; then some obligation has a
//! counterexample of at most three states. What has none is equivalent, and that is proved: with the clause
//! dropped, a solver discharges the obligations for every size (if one is installed).

use std::collections::BTreeSet;

use kanon_proofs::any;
use kanon_proofs::choose::Choose;
use kanon_proofs::execute::every;
use kanon_proofs::obligations::{self, Obligation};
use kanon_proofs::schema::{preserve, simulate};
use kanon_proofs::smt::Script;
use kanon_proofs::solve::{Answer, Solver};
use kanon_refinement::glue::rmc1_rmc2::Rmc1Rmc2;
use kanon_refinement::glue::{Simulates, wmc_rmc2::WmcRmc2};
use kanon_refinement::logic::{Clauses, Event, Logic};
use kanon_refinement::rmc1::{self, Constants};
use kanon_refinement::rmc2::{self, Rmc2};
use kanon_refinement::wmc;

/// The clauses of the machines and the actions of the events.
const PLANTED: &[&str] = &[
    "mc1/inv1",
    "mc1/inv2",
    "mc1/inv3",
    "mc1/inv4",
    "mc1/add_inv/grd1",
    "mc1/add_inv/grd2",
    "mc1/add_inv/grd3",
    "mc1/add_inv/act1",
    "mc1/add_err/grd1",
    "mc1/add_err/grd2",
    "mc1/add_err/grd3",
    "mc1/add_err/grd4",
    "mc1/add_err/act1",
    "mc2/inv1",
    "mc2/inv2",
    "mc2/add_inv/grd1",
    "mc2/add_inv/grd2",
    "mc2/add_inv/grd3",
    "mc2/add_inv/grd4",
    "mc2/add_inv/grd5",
    "mc2/add_inv/act1",
    "mc2/add_inv/act2",
    "mc2/add_err/grd1",
    "mc2/add_err/grd2",
    "mc2/add_err/grd3",
    "mc2/add_err/grd4",
    "mc2/add_err/act1",
    "mc2/remove/grd1",
    "mc2/remove/grd2",
    "mc2/remove/grd3",
    "mc2/remove/act1",
    "mc2/pass/grd1",
    "mc2/pass/grd2",
    "mc2/fail/grd1",
    "rmc1/inv1",
    "rmc1/inv2",
    "rmc1/inv3",
    "rmc1/inv4",
    "rmc1/inv5",
    "rmc1/inv6",
    "rmc1/inv7",
    "rmc1/inv8",
    "rmc1/inv9",
    "rmc1/add_inv/grd1",
    "rmc1/add_inv/grd2",
    "rmc1/add_inv/grd3",
    "rmc1/add_inv/grd4",
    "rmc1/add_inv/grd5",
    "rmc1/add_inv/act1",
    "rmc1/add_inv/act2",
    "rmc1/add_inv/act3",
    "rmc1/add_inv/act4",
    "rmc1/add_err/grd1",
    "rmc1/add_err/grd2",
    "rmc1/add_err/grd3",
    "rmc1/add_err/grd4",
    "rmc1/add_err/grd5",
    "rmc1/add_err/act1",
    "rmc1/add_err/act2",
    "rmc1/remove/grd1",
    "rmc1/remove/grd2",
    "rmc1/remove/grd3",
    "rmc1/remove/act1",
    "rmc1/remove/act2",
    "rmc1/pass/grd1",
    "rmc1/pass/grd2",
    "rmc1/fail/grd1",
    "rmc1/prp4",
    "rmc1/prp5",
    "rmc1/prp7",
    "rmc1/prp8",
    "rmc1/prp9",
    "rmc1/prp10",
    "rmc2/inv1",
    "rmc2/inv2",
    "rmc2/inv3",
    "rmc2/inv4",
    "rmc2/inv5",
    "rmc2/add_inv/grd1",
    "rmc2/add_inv/grd2",
    "rmc2/add_inv/grd3",
    "rmc2/add_inv/grd4",
    "rmc2/add_inv/grd5",
    "rmc2/add_inv/act1",
    "rmc2/add_inv/act2",
    "rmc2/add_err/grd1",
    "rmc2/add_err/grd2",
    "rmc2/add_err/grd3",
    "rmc2/add_err/grd4",
    "rmc2/add_err/grd5",
    "rmc2/add_err/act1",
    "rmc2/remove/grd1",
    "rmc2/remove/grd2",
    "rmc2/remove/grd3",
    "rmc2/remove/act1",
    "rmc2/pass/grd1",
    "rmc2/pass/grd2",
    "rmc2/fail/grd1",
    "wmc/prp1",
    "wmc/prp2",
    "wmc/prp3",
    "wmc/prp4",
    "wmc/prp5",
    "wmc/inv1",
    "wmc/inv2",
    "wmc/inv3",
    "wmc/inv4",
    "wmc/inv5",
    "wmc/add_inv/grd1",
    "wmc/add_inv/grd2",
    "wmc/add_inv/grd3",
    "wmc/add_inv/grd4",
    "wmc/add_inv/grd5",
    "wmc/add_inv/act1",
    "wmc/add_inv/act2",
    "wmc/add_err/grd1",
    "wmc/add_err/grd2",
    "wmc/add_err/grd3",
    "wmc/add_err/grd4",
    "wmc/add_err/grd5",
    "wmc/add_err/act1",
    "wmc/remove/grd1",
    "wmc/remove/grd2",
    "wmc/remove/act1",
    "wmc/pass/grd1",
    "wmc/pass/grd2",
    "wmc/fail/grd1",
    "first/add_inv/grd4",
    "first/add_err/grd4",
    "first/add_inv/act1",
    "first/add_inv/act2",
    "first/remove/grd2",
    "lab/prp1",
    "lab/add_inv/grd4",
    "lab/remove/grd2",
    "lab/add_err/act1",
];

/// Mistakes that are none, and why.
const EQUIVALENT: &[(&str, &str)] = &[
    ("mc2/add_inv/grd5", "err = ∅ only makes the search stop at the first error"),
    ("mc2/remove/grd3", "the same"),
    ("rmc1/add_inv/grd5", "the same"),
    ("rmc1/remove/grd3", "the same"),
    ("rmc1/add_err/grd4", "s2 ∉ inv, and rep(s2) ∈ rrac would put s2 into rac ⊆ inv"),
    ("rmc2/add_err/grd4", "the same"),
    ("rmc1/inv1", "unex = rep⁻¹[runex] ⊆ rep⁻¹[rrac] = rac by inv4, inv6, inv7"),
    ("rmc1/inv2", "rrac ⊆ rac = rep⁻¹[rrac] (inv3, inv6) is all that the events need"),
    ("rmc1/inv3", "rrac ⊆ ran(rep) (inv2), where rep is the identity, so rrac ⊆ rep⁻¹[rrac] = rac"),
    ("rmc2/inv1", "i ∈ rac = rep⁻¹[rrac] and rep(i) = i"),
    ("rmc2/inv2", "rmc1/inv2 through the glue"),
    ("rmc2/inv3", "rmc1/inv3 through the glue"),
    ("rmc2/inv4", "rmc1/inv4 through the glue"),
    ("rmc2/inv5", "rmc1/inv5 through the glue"),
    ("wmc/inv1", "i ∈ rac = orb⁻¹[rrac] by mc1/inv3, and only i is symmetric to i"),
    ("wmc/inv2", "rrac ⊆ orb⁻¹[rrac] = rac, of which mc1/inv1 and inv2 say it"),
    ("wmc/inv4", "rerr ⊆ orb⁻¹[rerr] = err, of which mc1/inv4 says it"),
];

/// The obligations that speak of the machine of a label.
fn concerned(label: &str) -> impl Iterator<Item = &'static Obligation> + '_ {
    let machine = label.split('/').next().unwrap_or(label);
    obligations::all().filter(move |o| {
        // The labelled machine adds nothing that wmc's own obligations do not show, and is slow to enumerate.
        let about = o.id.split('/').next().unwrap_or(o.id);
        !about.contains("path") && about.split('_').any(|part| part == machine)
    })
}

/// Whether an enumeration up to three states has a counterexample.
fn rejected(label: &'static str) -> bool {
    if label == "wmc/prp3" {
        // Beside i it takes three states for a relation not to be transitive.
        return every::<4, 6>(4, Some(label), |c| obligations::run("wmc_fix", c)).refuted.is_some();
    }
    [2, 3].into_iter().any(|n| {
        concerned(label)
            .any(|o| every::<3, 6>(n, Some(label), |c| obligations::run(o.function, c)).refuted.is_some())
    })
}

#[test]
fn every_mistake_is_rejected_or_equivalent() {
    let survivors: BTreeSet<&str> = PLANTED.iter().copied().filter(|label| !rejected(label)).collect();
    let listed: BTreeSet<&str> = EQUIVALENT.iter().map(|(label, _)| *label).collect();
    assert_eq!(survivors, listed);
}

/// What is listed as equivalent is: every obligation that the clause touches is discharged without it.
#[test]
fn equivalent_mistakes_are_proved_so() {
    let Some(solver) = Solver::find(None) else {
        println!("no solver installed: not checked");
        return;
    };
    let dir = std::env::temp_dir().join(format!("kanon-mutants-{}", std::process::id()));
    std::fs::create_dir_all(&dir).expect("a temporary directory can be made");
    let mut open = Vec::new();
    for (label, _) in EQUIVALENT {
        for o in concerned(label) {
            let script = Script::planting(Some(label), |c| obligations::run(o.function, c));
            let text = script.text(o.id);
            if text == Script::of(|c| obligations::run(o.function, c)).text(o.id) || script.claims() == 0 {
                continue;
            }
            let file = dir.join("mutant.smt2");
            std::fs::write(&file, text).expect("a temporary file can be written");
            let (answers, _) = solver.run(&file).expect("the solver was found a moment ago");
            let answer = Answer::read(&script, &answers);
            if answer != Answer::Discharged {
                open.push(format!("{} without {label}: {answer}", o.id));
            }
        }
    }
    std::fs::remove_dir_all(&dir).expect("the temporary directory can be removed");
    assert_eq!(open, [""; 0]);
}

/// rmc2/add_inv with a mistake that is more than a missing clause.
#[derive(Clone, Debug)]
struct Wrong<L: Logic, const KIND: usize> {
    s1: L::State,
    s2: L::State,
}

/// The successor is stored as it is, not its representative.
const STORES_S2: usize = 0;
/// The representative of the wrong state is looked up.
const LOOKS_UP_S1: usize = 1;
/// The representative of the wrong state is stored.
const STORES_REP_S1: usize = 2;

impl<L: Logic, const KIND: usize> Event<L> for Wrong<L, KIND> {
    type Machine = Rmc2<L>;
    const NAME: &'static str = "rmc2/add_inv";
    fn guard(&self, l: &L, k: &Constants<L>, m: &Rmc2<L>, v: &mut impl Clauses<L>) {
        let looked_up = if KIND == LOOKS_UP_S1 { &self.s1 } else { &self.s2 };
        v("s1 ∈ runex", l.member(&self.s1, &m.runex));
        v("s2 ∈ inv", l.member(&self.s2, &k.mc0.inv));
        v("s1 ↦ s2 ∈ tr", l.related(&k.mc0.tr, &self.s1, &self.s2));
        v("rep(s2) ∉ rrac", l.absent(&l.apply(&k.rep, looked_up), &m.rrac));
        v("rerr = ∅", l.is_empty(&m.rerr));
    }
    fn action(&self, l: &L, k: &Constants<L>, m: &Rmc2<L>) -> Rmc2<L> {
        let new = match KIND {
            STORES_S2 => self.s2.clone(),
            STORES_REP_S1 => l.apply(&k.rep, &self.s1),
            _ => l.apply(&k.rep, &self.s2),
        };
        let one = l.single(&new);
        Rmc2 { rrac: l.union(&m.rrac, &one), runex: l.union(&m.runex, &one), rerr: m.rerr.clone() }
    }
}

impl<L: Logic, const KIND: usize> Simulates<L, Rmc1Rmc2> for Wrong<L, KIND> {
    type Abstract = rmc1::AddInv<L>;
    fn abstract_event(&self, _: &L, _: &Constants<L>, _: &Rmc2<L>) -> Self::Abstract {
        rmc1::AddInv { s1: self.s1.clone(), s2: self.s2.clone() }
    }
}

/// rmc2/remove that forgets rep.
#[derive(Clone, Debug)]
struct Unlabelled<L: Logic>(rmc2::Remove<L>);

impl<L: Logic> Event<L> for Unlabelled<L> {
    type Machine = Rmc2<L>;
    const NAME: &'static str = "rmc2/remove";
    fn guard(&self, l: &L, k: &Constants<L>, m: &Rmc2<L>, v: &mut impl Clauses<L>) {
        v("s1 ∈ runex", l.member(&self.0.s1, &m.runex));
        // Not rep[tr[{s1}]]: what lies in rerr's orbits is taken for known.
        let successors = l.inter(&l.image(&k.mc0.tr, &l.single(&self.0.s1)), &l.map_range(&k.rep));
        v("tr[{s1}] ∩ ran(rep) ⊆ rrac", l.subset(&successors, &m.rrac));
        v("rerr = ∅", l.is_empty(&m.rerr));
    }
    fn action(&self, l: &L, k: &Constants<L>, m: &Rmc2<L>) -> Rmc2<L> {
        self.0.action(l, k, m)
    }
}

impl<L: Logic> Simulates<L, WmcRmc2> for Unlabelled<L> {
    type Abstract = wmc::Remove<L>;
    fn abstract_event(&self, _: &L, _: &Constants<L>, _: &Rmc2<L>) -> Self::Abstract {
        wmc::Remove { s1: self.0.s1.clone() }
    }
}

fn wrong_preserves<C: Choose, const KIND: usize>(c: &mut C) {
    let k = any::asserted(c);
    let m = any::rmc2(c, &k);
    let [s1, s2] = any::pair(c, &k.mc0, &m.runex, true, "rmc2/add_inv");
    preserve(c, &k, &m, &Wrong::<C::L, KIND> { s1, s2 });
}

fn wrong_simulates<C: Choose, const KIND: usize>(c: &mut C) {
    let k = any::asserted(c);
    let m = any::rmc2(c, &k);
    let [s1, s2] = any::pair(c, &k.mc0, &m.runex, true, "rmc2/add_inv");
    simulate::<C, Rmc1Rmc2, _>(c, &k, &m, &Wrong::<C::L, KIND> { s1, s2 });
}

fn unlabelled_simulates<C: Choose>(c: &mut C) {
    let k = any::asserted(c);
    let m = any::rmc2(c, &k);
    let e = Unlabelled(rmc2::Remove { s1: any::one(c, "s1", &m.runex, "rmc2/remove") });
    simulate::<C, WmcRmc2, _>(c, &k, &m, &e);
}

#[test]
fn wrong_events_are_rejected() {
    // On two states no symmetry is left, so it takes three.
    let stores_s2 = every::<3, 2>(3, None, |c| wrong_preserves::<_, STORES_S2>(c));
    assert_eq!(stores_s2.refuted, Some("rmc2/inv2: rrac ⊆ ran(rep)"));
    let looks_up = every::<3, 2>(3, None, |c| wrong_simulates::<_, LOOKS_UP_S1>(c));
    assert_eq!((looks_up.refuted, looks_up.cases), (None, 0), "s1 is stored, so it is never enabled");
    let stores_rep_s1 = every::<3, 2>(3, None, |c| wrong_simulates::<_, STORES_REP_S1>(c));
    assert_eq!(stores_rep_s1.refuted, Some("rmc1_rmc2/glu1: rrac = rrac"));
    let unlabelled = every::<3, 2>(3, None, |c| unlabelled_simulates(c));
    assert_eq!(
        unlabelled.refuted,
        Some("wmc/remove/grd2: s1 ↦ s2 ∈ tr ⇒ ∃t.(s2 ↦ t ∈ orb ∧ t ∈ rrac ∪ rerr)")
    );
}
