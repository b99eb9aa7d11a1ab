//! Mistakes planted in the machines' text: each is rejected by enumeration and by a solver, or is listed as equivalent
//! with the reason.
//!
//! Every clause and every action of the machines is dropped in turn, from the function it stands in
//! (`logic::Logic::keeps`), whoever calls that. Then some obligation has a counterexample of at most three states. What
//! has none is equivalent, and that is proved: without the clause, a solver discharges the obligations for every
//! size (if one is installed).

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use kanon_proofs::any;
use kanon_proofs::choose::Choose;
use kanon_proofs::execute::once;
use kanon_proofs::obligations::{self, Obligation};
use kanon_proofs::schema::{preserve, simulate};
use kanon_proofs::search::every;
use kanon_proofs::smt::Script;
use kanon_proofs::solve::{Answer, Solver};
use kanon_refinement::concrete::Without;
use kanon_refinement::glue::rmc1_rmc2::Rmc1Rmc2;
use kanon_refinement::glue::{Simulates, wmc_rmc2::WmcRmc2};
use kanon_refinement::logic::{Clauses, Event, Logic};
use kanon_refinement::rmc1::{self, Constants};
use kanon_refinement::rmc2::{self, Rmc2};
use kanon_refinement::wmc;

const TEXTS: [&str; 9] = [
    include_str!("../../refinement/src/mc0.rs"),
    include_str!("../../refinement/src/mc1.rs"),
    include_str!("../../refinement/src/mc2.rs"),
    include_str!("../../refinement/src/rmc1.rs"),
    include_str!("../../refinement/src/rmc2.rs"),
    include_str!("../../refinement/src/wmc.rs"),
    include_str!("../../refinement/src/first.rs"),
    include_str!("../../refinement/src/lab.rs"),
    include_str!("../../refinement/src/path.rs"),
];

/// The names of all clauses and actions in the machines' text: `mc2/inv1`, `mc2/add_inv/act1`.
fn planted() -> BTreeSet<&'static str> {
    let kinds = ["prp", "inv", "grd", "act", "ast", "grp"];
    let quoted = TEXTS.iter().flat_map(|text| text.split('"').skip(1).step_by(2));
    quoted
        .filter_map(|text| text.split(':').next())
        .filter(|name| {
            let last = name.rsplit('/').next().unwrap_or(name);
            let number = kinds.iter().find_map(|kind| last.strip_prefix(kind));
            name.contains('/') && number.is_some_and(|n| n.parse::<u8>().is_ok())
        })
        .collect()
}

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
    (
        "wmc/reopen/act1",
        "without it the event is skip: that states are open again is work, and no answer rests on it",
    ),
    ("mc0/prp4", "no machine needs it; the kernel does, whose store does not have i"),
    ("rmc1/ast2", "i ∈ {i} = rep⁻¹[{i}] by ast3"),
    ("first/inv1", "wmc/inv1 through the glue"),
    ("first/inv2", "says what first is for; no event rests on it"),
    ("lab/inv1", "wmc/inv1 through the glue"),
    ("lab/inv2", "wmc/inv3 through the glue"),
    ("path/inv2", "says what path is for; no event rests on it"),
    ("path/inv3", "the same: that old is a strict order ends a trace"),
    ("path/inv4", "the same"),
];

/// Mistakes whose counterexample takes more than the search above looks at: by which obligation, of how many states.
/// Beside `i` it takes three states for a relation not to be transitive, or for a step out of an orbit of two.
const LARGER: &[(&str, &str, usize)] = &[
    ("path/prp2", "path_unf", 3),
    ("rmc1/ast4", "rmc1_remove_inv", 4),
    ("wmc/prp3", "wmc_fix", 4),
    ("wmc/prp6", "wmc_fix", 4),
];

/// The obligations that read differently without the clause.
fn concerned(label: &'static str) -> Vec<&'static Obligation> {
    static SOUND: LazyLock<Vec<String>> = LazyLock::new(|| {
        obligations::all().map(|o| obligations::script(o.function, None).text("")).collect()
    });
    let differs =
        |o: &Obligation, text: &String| obligations::script(o.function, Some(label)).text("") != *text;
    obligations::all().zip(SOUND.iter()).filter(|(o, text)| differs(o, text)).map(|(o, _)| o).collect()
}

/// The obligation that an enumeration refutes without the clause, and the number of states it takes.
fn rejected(label: &'static str) -> Option<(&'static Obligation, usize)> {
    if let Some((_, function, n)) = LARGER.iter().find(|(l, ..)| *l == label) {
        let o = obligations::all().find(|o| o.function == *function)?;
        let count = match *function {
            "wmc_fix" => every::<4, 2>(Some(label), &|c: &mut _| obligations::stored::wmc_fix(c)),
            "rmc1_remove_inv" => {
                every::<4, 2>(Some(label), &|c: &mut _| obligations::reduced::rmc1_remove_inv(c))
            }
            _ => obligations::enumerate(function, *n, Some(label)),
        };
        return count.refuted.map(|_| (o, *n));
    }
    let concerned = concerned(label);
    let refuted = |o: &Obligation, n| obligations::enumerate(o.function, n, Some(label)).refuted.is_some();
    // Labels and histories multiply: three states are too many for path's, and two are enough.
    let fits = |o: &&Obligation| !o.id.contains("path") && !o.id.starts_with("wmc_rmc2/ORB-");
    let by = |o: Option<&&'static Obligation>, n| o.map(|o| (*o, n));
    by(concerned.iter().find(|o| refuted(o, 2)), 2)
        .or_else(|| by(concerned.iter().filter(|o| fits(o)).find(|o| refuted(o, 3)), 3))
}

fn asked(solver: Solver, script: &Script, text: String, dir: &std::path::Path) -> Vec<String> {
    let file = dir.join(format!("{}.smt2", script.claims()));
    std::fs::write(&file, text).expect("a temporary file can be written");
    solver.run(&file).expect("the solver was found a moment ago").0
}

/// Every mistake is refuted by enumeration, or is equivalent. What enumeration refutes, a solver refutes for as many
/// states; what is equivalent, it discharges for every size.
#[test]
fn every_mistake_is_rejected_or_equivalent() {
    let solver = Solver::find(None);
    if solver.is_none() {
        println!("no solver installed: enumeration only");
    }
    let dir = std::env::temp_dir().join(format!("kanon-mutants-{}", std::process::id()));
    std::fs::create_dir_all(&dir).expect("a temporary directory can be made");
    let equivalent: BTreeMap<&str, &str> = EQUIVALENT.iter().copied().collect();
    let (mut survivors, mut open) = (BTreeSet::new(), Vec::new());
    let planted = planted();
    for label in &planted {
        // That it is equivalent is the solver's word; two states are a test of it.
        let known = equivalent.contains_key(label);
        let found = match known {
            true => concerned(label)
                .into_iter()
                .find(|o| obligations::enumerate(o.function, 2, Some(label)).refuted.is_some())
                .map(|o| (o, 2)),
            false => rejected(label),
        };
        println!("{label}: {:?}", found.map(|(o, n)| (o.id, n)));
        let Some((o, n)) = found else {
            survivors.insert(*label);
            continue;
        };
        if let Some(solver) = solver {
            let script = obligations::script(o.function, Some(label));
            let answers = asked(solver, &script, script.text_up_to(o.id, n), &dir);
            if !answers.iter().any(|answer| answer == "sat") {
                open.push(format!("{} without {label}: {answers:?}", o.id));
            }
        }
    }
    assert_eq!(open, [""; 0], "enumeration refutes them, the solver does not");
    let listed: BTreeSet<&str> = equivalent.keys().copied().collect();
    assert_eq!(survivors, listed);
    for (label, o) in
        solver.iter().flat_map(|_| &listed).flat_map(|l| concerned(l).into_iter().map(|o| (*l, o)))
    {
        let Some(solver) = solver else { break };
        let script = obligations::script(o.function, Some(label));
        if script.claims() > 0 {
            let answers = asked(solver, &script, script.text(o.id), &dir);
            let answer = Answer::read(&script, &answers);
            if answer != Answer::Discharged {
                open.push(format!("{} without {label}: {answer}", o.id));
            }
        }
    }
    std::fs::remove_dir_all(&dir).expect("the temporary directory can be removed");
    assert_eq!(open, [""; 0], "listed as equivalent");
    println!("{} planted, {} equivalent", planted.len(), listed.len());
}

#[test]
fn larger_counterexamples_are_found() {
    for (label, function, n) in LARGER {
        assert_eq!(rejected(label).map(|(o, n)| (o.function, n)), Some((*function, *n)), "{label}");
    }
}

/// Guards whose deletion a narrowed search once missed: random choices find each, too.
#[test]
fn random_systems_refute_deleted_guards() {
    for (label, function) in [
        ("mc1/add_err/grd4", "mc1_add_err_var"),
        ("mc1/add_inv/grd2", "mc1_add_inv_inv"),
        ("mc2/add_inv/grd3", "mc1_mc2_add_inv_sim"),
        ("mc2/remove/grd2", "mc2_remove_inv"),
        ("rmc2/remove/grd2", "rmc1_rmc2_remove_sim"),
        ("wmc/add_inv/grd4", "mc1_wmc_add_inv_sim"),
    ] {
        let refuted = (1..40_000u64).any(|seed| {
            let mut x = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
            let tape: [u64; 24] = std::array::from_fn(|_| {
                x = x.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                x ^ x >> 29
            });
            let n = 2 + (seed % 3) as usize;
            once::<4, 4, _>(n, &tape, Without(label), &|c: &mut _| obligations::run(function, c))
                .refuted
                .is_some()
        });
        assert!(refuted, "{function} without {label}");
    }
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
    let [s1, s2] = any::pair(c, &k.mc0, &m.runex, true);
    preserve(c, &k, &m, &Wrong::<C::L, KIND> { s1, s2 });
}

fn wrong_simulates<C: Choose, const KIND: usize>(c: &mut C) {
    let k = any::asserted(c);
    let m = any::rmc2(c, &k);
    let [s1, s2] = any::pair(c, &k.mc0, &m.runex, true);
    simulate::<C, Rmc1Rmc2, _>(c, &k, &m, &Wrong::<C::L, KIND> { s1, s2 });
}

fn unlabelled_simulates<C: Choose>(c: &mut C) {
    let k = any::asserted(c);
    let m = any::rmc2(c, &k);
    let e = Unlabelled(rmc2::Remove { s1: any::one(c, "s1", &m.runex) });
    simulate::<C, WmcRmc2, _>(c, &k, &m, &e);
}

#[test]
fn wrong_events_are_rejected() {
    // On two states no symmetry is left, so it takes three.
    let stores_s2 = every::<3, 2>(None, &|c: &mut _| wrong_preserves::<_, STORES_S2>(c));
    assert_eq!(stores_s2.refuted, Some("rmc2/inv2: rrac ⊆ ran(rep)"));
    let looks_up = every::<3, 2>(None, &|c: &mut _| wrong_simulates::<_, LOOKS_UP_S1>(c));
    assert_eq!((looks_up.refuted, looks_up.cases), (None, 0), "s1 is stored, so it is never enabled");
    let stores_rep_s1 = every::<3, 2>(None, &|c: &mut _| wrong_simulates::<_, STORES_REP_S1>(c));
    assert_eq!(stores_rep_s1.refuted, Some("rmc1_rmc2/glu1: rrac = rrac"));
    let unlabelled = every::<3, 2>(None, &|c: &mut _| unlabelled_simulates(c));
    assert_eq!(
        unlabelled.refuted,
        Some("wmc/remove/grd2: s1 ↦ s2 ∈ tr ⇒ ∃t.(s2 ↦ t ∈ orb ∧ t ∈ rrac ∪ rerr)")
    );
}
