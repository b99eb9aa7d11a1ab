//! Properties of the symmetry strategies on random typed states and random machines, against brute force over the
//! whole group and against unreduced exploration.

use crate::support::random::{Choice, Generator, Machine};
use crate::support::{explore, solved};
use kanon::explore::{Explored, Options};
use kanon::lang::diag::Span;
use kanon::model::{GivenSet, SetId, Type};
use kanon::run::coverage;
use kanon::symmetry::markers::Marking;
use kanon::symmetry::orbit::Orbits;
use kanon::symmetry::{Action, Group, MachineAction, Perm, Reducer, Strategy};
use kanon::system::{self, Stop, System};
use kanon::trace::{Trace, rebuild, replay};
use kanon::value::val::from_value;
use kanon::verdict::{Verdict, Why};
use proptest::prelude::{ProptestConfig, any, proptest};
use quickcheck::quickcheck;
use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;

fn keyed() -> Vec<Strategy> {
    let mut all = vec![Strategy::Canon, Strategy::Auto];
    if cfg!(feature = "nauty") {
        all.push(Strategy::Nauty);
    }
    all
}

const D: SetId = SetId(1);
const T: SetId = SetId(2);

/// A type in which elements of the deferred sets D and T are likely.
fn ty(c: &mut Choice, depth: usize) -> Type {
    let basic =
        [Type::Given(D), Type::Given(D), Type::Given(T), Type::Int, Type::Bool, Type::Given(SetId(0))];
    if depth == 0 || c.percent(15) {
        return c.pick(&basic);
    }
    match c.below(8) {
        0..=2 => ty(c, depth - 1).pow(),
        3 => Type::pair(ty(c, depth - 1), ty(c, depth - 1)),
        4 => Type::seq(ty(c, depth - 1)),
        5 => Type::Rec(Arc::new([("p".into(), ty(c, depth - 1)), ("q".into(), ty(c, depth - 1))])),
        _ => Type::rel(ty(c, depth - 1), ty(c, depth - 1)),
    }
}

/// States of a random model with variables only.
fn with_states(seed: u64, states: usize, test: impl FnOnce(&Arc<MachineAction>, &[Vec<u64>], &mut Choice)) {
    let mut g = Generator::new(seed);
    let span = Span::default();
    g.model.sets.push(GivenSet {
        name: "T".into(),
        elements: None,
        named: vec![],
        is_parameter: false,
        span,
    });
    g.scope.card = vec![3, 2 + g.choice.below(3) as u64, 1 + g.choice.below(3) as u64];
    for _ in 0..1 + g.choice.below(3) {
        let ty = ty(&mut g.choice, 3);
        g.add_variable(ty);
    }
    // Any elements may be named, some of a set or all.
    let often = g.choice.pick(&[0, 0, 20, 50]);
    for (set, size) in (0..).map(SetId).zip(&g.scope.card) {
        let named = (0..*size as u32).filter(|_| g.choice.percent(often));
        g.model.named_above.extend(named.map(|i| (set, i)));
    }
    let types: Vec<Type> = g.model.variables.iter().map(|d| d.ty.clone()).collect();
    let rows: Vec<Vec<_>> = (0..states).map(|_| types.iter().map(|t| g.value(t)).collect()).collect();
    let (model, scope, mut choice) = (g.model, g.scope, g.choice);
    let (system, _) = solved(&model, &scope, 1, &Stop::default());
    let action = Arc::new(MachineAction::of(&system));
    let encode = |values: &Vec<_>| -> Vec<u64> {
        let words = values.iter().zip(&system.slots).map(|(v, slot)| {
            let v = from_value(v, &slot.rep).expect("a value of its type");
            system.table().encode(&v, &slot.rep)
        });
        words.collect()
    };
    let rows: Vec<Vec<u64>> = rows.iter().map(encode).collect();
    test(&action, &rows, &mut choice);
}

fn image(action: &MachineAction, row: &[u64], p: &Perm) -> Vec<u64> {
    let mut out = vec![];
    assert!(action.row(row, p, &mut out));
    out
}

/// All permutations of the group: of a machine's sets, those that keep what is named.
fn members_of(action: &MachineAction) -> Vec<Perm> {
    let (model, group) = (&action.system.model, &action.group);
    let all = members(group);
    let mut order = 1;
    for set in (0..model.sets.len() as u32).map(SetId) {
        let named = model.named_above.iter().filter(|(s, _)| *s == set);
        let size = action.system.scope.size(set) as u32;
        order *= (1..=(u128::from(size) - named.clone().count() as u128)).product::<u128>();
        if let Some(first) = group.first(set) {
            let mut named = named.map(|(_, i)| first + i);
            assert!(named.all(|point| all.iter().all(|p| p.0[point as usize] == point)));
        }
    }
    assert_eq!(group.order(), Some(order));
    all
}

/// All permutations of a group.
fn members(group: &Group) -> Vec<Perm> {
    let mut all = vec![Perm::identity(group.points())];
    let mut seen: HashSet<Perm> = all.iter().cloned().collect();
    let generators = group.generators();
    let mut at = 0;
    while at < all.len() {
        for g in &generators {
            let p = all[at].then(g);
            if seen.insert(p.clone()) {
                all.push(p);
            }
        }
        at += 1;
    }
    assert_eq!(Some(all.len() as u128), group.order());
    all
}

/// Keys and markers of some states and of images of them.
fn states_and_images(seed: u64) {
    with_states(seed, 4, |action, rows, choice| {
        let group = members_of(action);
        let pick = |choice: &mut Choice| group[choice.below(group.len())].clone();
        let permuting: Arc<dyn Action> = action.clone();
        let mut marking = Marking::new(action);
        // Every state with some of its images, so that many pairs are symmetric and many are not.
        let mut all: Vec<Vec<u64>> = rows.to_vec();
        for row in rows {
            all.extend((0..3).map(|_| image(action, row, &pick(choice))));
        }
        let orbit_of: Vec<BTreeSet<Vec<u64>>> =
            all.iter().map(|row| group.iter().map(|p| image(action, row, p)).collect()).collect();
        for strategy in keyed() {
            let mut reducer = Reducer::new(&permuting, strategy, false).expect("it has keys");
            let keys: Vec<Vec<u64>> = all
                .iter()
                .map(|row| {
                    let (key, witness) = reducer.key_with_witness(row);
                    assert!(action.group.contains(witness), "seed {seed} {strategy}: no member");
                    assert_eq!(image(action, row, witness), key, "seed {seed} {strategy}: the witness");
                    let key = key.to_vec();
                    assert_eq!(reducer.key(row), &key[..], "seed {seed} {strategy}: asked twice");
                    assert_eq!(reducer.key(row), &key[..], "seed {seed} {strategy}: remembered");
                    key
                })
                .collect();
            for (a, orbit) in orbit_of.iter().enumerate() {
                for (b, row) in all.iter().enumerate() {
                    let same = keys[a] == keys[b];
                    assert_eq!(same, orbit.contains(row), "seed {seed} {strategy}: {a} and {b}");
                }
            }
            assert_eq!(reducer.stats.kept, 0, "seed {seed} {strategy}");
        }
        let markers: Vec<u128> = all.iter().map(|row| marking.of_row(row)).collect();
        for (a, orbit) in orbit_of.iter().enumerate() {
            for (b, row) in all.iter().enumerate() {
                if orbit.contains(row) {
                    assert_eq!(markers[a], markers[b], "seed {seed}: markers of {a} and {b}");
                }
            }
        }
    });
}

/// Flooding's orbit has |G| / |stabiliser| members, each once.
fn orbits(seed: u64) {
    with_states(seed, 2, |action, rows, _| {
        let group = members_of(action);
        for row in rows {
            let stabiliser = group.iter().filter(|p| image(action, row, p) == *row).count();
            let mut found: BTreeSet<Vec<u64>> = BTreeSet::from([row.clone()]);
            let permuting: Arc<dyn Action> = action.clone();
            Orbits::new(&permuting).each(row, &mut |image| found.insert(image.to_vec()));
            assert_eq!(found.len() * stabiliser, group.len(), "seed {seed}");
        }
    });
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, ..ProptestConfig::default() })]

    #[test]
    fn keys_are_the_orbits(seed in any::<u64>()) {
        states_and_images(seed);
    }

    #[test]
    fn orbits_have_the_size_of_the_theorem(seed in any::<u64>()) {
        orbits(seed);
    }
}

const MOST: usize = 1_500;

fn explored(system: &Arc<system::Machine>, symmetry: Strategy, all: bool, stop: &Stop) -> Explored {
    let options = Options { symmetry, all, max_states: Some(MOST), ..Options::default() };
    explore(system, &options, stop)
}

/// A random machine may take all the time there is: then it is stopped, and not compared.
fn patiently(machine: Machine) -> bool {
    let stop = Stop::default();
    let (done, wait) = std::sync::mpsc::channel::<()>();
    let flag = stop.clone();
    let clock = std::thread::spawn(move || {
        if wait.recv_timeout(std::time::Duration::from_secs(5)).is_err() {
            flag.store(true, std::sync::atomic::Ordering::Relaxed);
        }
    });
    let compared = strategies_agree(machine, &stop);
    let _ = done.send(());
    clock.join().expect("the clock does not panic");
    compared
}

/// Every strategy against unreduced exploration. False when there is nothing to compare.
fn strategies_agree(mut machine: Machine, stop: &Stop) -> bool {
    machine.scope.card[D.index()] = machine.scope.card[D.index()].max(2);
    let (system, setup) = solved(&machine.model, &machine.scope, 2_000, stop);
    if setup.fault.is_some() || setup.truncated.is_some() || setup.valuations == 0 {
        return false;
    }
    let stopped = || stop.load(std::sync::atomic::Ordering::Relaxed);
    let off = explored(&system, Strategy::Off, true, stop);
    if off.counts.open > 0 || matches!(off.verdict, Verdict::Unknown(_)) {
        return false;
    }
    let action: Arc<dyn Action> = Arc::new(MachineAction::of(&system));
    let states = |e: &Explored, reducer: &mut Reducer| -> BTreeSet<Vec<u64>> {
        (0..e.store.len() as u32).map(|id| reducer.key(&e.store.row(id)).to_vec()).collect()
    };
    let Some(mut reducer) = Reducer::new(&action, Strategy::Auto, false) else { return false };
    let orbits = states(&off, &mut reducer);
    let counts = |e: &Explored| {
        let c = &e.counts;
        [c.violations, c.deadlocks, c.assertion_failures, c.goals, c.wd_errors].map(|n| n > 0)
    };
    // Values taken and never taken, conjuncts that are never false, antecedents that are never true, idle parameters.
    let covered = |e: &Explored| {
        let group = e.reduction.as_ref().map(|r| &r.group).filter(|g| !g.is_trivial());
        let names = system.operations().iter().map(|o| o.name.clone());
        let operations: Vec<_> = names.zip(e.counts.operations.iter().copied()).collect();
        let (look, effects) = coverage::look(&system, e, &operations, stop)?;
        let judged: Vec<_> = look.items.iter().map(|i| (i.event, i.is_guard, i.judged)).collect();
        Some((coverage::values::variables(&system, &e.store, group), judged, effects.idle(&system)))
    };
    let all_covered = covered(&off);
    for strategy in keyed().into_iter().chain([Strategy::Flood]) {
        let reduced = explored(&system, strategy, true, stop);
        let reduced_covered = covered(&reduced);
        if stopped() {
            return false;
        }
        assert_eq!(reduced_covered, all_covered, "coverage: {strategy}: {machine:?}");
        let what = format!("{strategy}: {machine:?}");
        assert_eq!(counts(&reduced), counts(&off), "{what}");
        assert_eq!(
            std::mem::discriminant(&reduced.verdict),
            std::mem::discriminant(&off.verdict),
            "{what}: {:?} against {:?}",
            reduced.verdict,
            off.verdict
        );
        assert_eq!(states(&reduced, &mut reducer), orbits, "{what}");
        assert_eq!(reduced.counts.states, orbits.len(), "{what}");
        if strategy == Strategy::Flood && !action.group().is_trivial() {
            let flooded = reduced.reduction.as_ref().and_then(|r| r.effort.flooded);
            assert_eq!(flooded, Some(off.counts.states), "{what}");
        }
        let first = explored(&system, strategy, false, stop);
        if stopped() {
            return false;
        }
        if let Verdict::Fails(finding) = &first.verdict {
            let Some(state) = finding.state else { continue };
            let path = rebuild::rebuild(&*system, Some(&action), &first, state);
            let path = path.unwrap_or_else(|why| panic!("{why}: {what}"));
            assert_eq!(path.rows.last().map(|r| system.start_of(r)), Some(system.start_of(&path.rows[0])));
            assert_eq!(replay::confirm(&system, &Trace::of(&system, &path)), Ok(()), "{what}");
        }
    }
    let markers = explored(&system, Strategy::Markers, true, stop);
    if stopped() {
        return false;
    }
    assert!(markers.counts.states <= orbits.len(), "markers: {machine:?}");
    let claims = markers.verdict.holds();
    assert!(!claims || action.group().is_trivial(), "markers never hold: {machine:?}");
    if !action.group().is_trivial() && markers.verdict == Verdict::Unknown(Why::Approximate) {
        assert_eq!(counts(&markers), [false; 5], "{machine:?}");
    }
    true
}

#[test]
fn random_machines_reduce_to_their_orbits() {
    let machines = std::env::var("KANON_MACHINES").ok().and_then(|n| n.parse().ok()).unwrap_or(1_000);
    let compared = (0..machines).filter(|seed| patiently(Machine::new(*seed, 8))).count();
    println!("{compared} of {machines} machines compared");
    assert!(compared as u64 > machines / 8, "only {compared} machines compared");
}

quickcheck! {
    fn any_machine_reduces_to_its_orbits(machine: Machine) -> bool {
        patiently(machine);
        true
    }
}

/// A graph that colour refinement cannot split: two rings of three and one ring of six look alike, vertex by vertex.
#[test]
fn states_that_colours_do_not_tell_apart() {
    let mut g = Generator::new(1);
    g.scope.card[D.index()] = 6;
    g.add_variable(Type::rel(Type::Given(D), Type::Given(D)));
    let (model, scope) = (g.model, g.scope);
    let (system, _) = solved(&model, &scope, 1, &Stop::default());
    let action = Arc::new(MachineAction::of(&system));
    let permuting: Arc<dyn Action> = action.clone();
    let ring =
        |next: [u64; 6]| vec![next.iter().enumerate().fold(0, |m, (i, j)| m | 1 << (i as u64 * 6 + j))];
    let (one, two) = (ring([1, 2, 3, 4, 5, 0]), ring([1, 2, 0, 4, 5, 3]));
    let turned = ring([3, 0, 1, 5, 2, 4]);
    for strategy in keyed() {
        let mut reducer = Reducer::new(&permuting, strategy, false).expect("it has keys");
        let found = [&one, &two, &turned].map(|row| reducer.key(row).to_vec());
        assert_ne!(found[0], found[1], "{strategy}");
        assert_eq!(found[0], found[2], "{strategy}");
        if strategy == Strategy::Canon {
            assert!(reducer.stats.labelled == 3 && reducer.stats.nodes > 0, "by search");
        }
    }
    let mut marking = Marking::new(&action);
    assert_eq!(
        marking.of_row(&one),
        marking.of_row(&two),
        "markers cannot tell them apart (Symmetry Markers)"
    );
}

/// nauty is asked only where colours leave something open, and is asked there: the servers of a ring cannot be told apart
/// by colours alone once nothing else is known of them.
#[cfg(feature = "nauty")]
#[test]
fn nauty_is_asked_what_colours_leave_open() {
    let (by_colour, labelled) = [("scheduler1", "PROC"), ("TokenRing", "Server")]
        .map(|(name, set)| {
            let path = format!("{}/models/papers/{name}.mch", env!("CARGO_MANIFEST_DIR"));
            let model = kanon::model::load::load(std::path::Path::new(&path)).model.expect("a model");
            let card = vec![(set.to_string(), 4)];
            let args = kanon::model::scope::ScopeArgs { card, ..Default::default() };
            let scope = kanon::model::scope::scope(&model, &args).expect("sizes").0;
            let (machine, _) = solved(&model, &scope, 10_000, &Stop::default());
            let options = Options { symmetry: Strategy::Nauty, ..Options::default() };
            let stats =
                explore(&machine, &options, &Stop::default()).reduction.expect("a reduction").effort.stats;
            assert_eq!(stats.kept, 0);
            (stats.by_colour, stats.labelled)
        })
        .into();
    assert!(by_colour.0 > 0 && by_colour.1 == 0, "a queue tells processes apart: {by_colour:?}");
    assert!(labelled.0 > 0 && labelled.1 > 0, "{labelled:?}");
}
