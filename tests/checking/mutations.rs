//! One thing is wrong with a certificate, or with the search that wrote it: the rejection says what, where, and in the words
//! of the model.

use crate::certificates::{EFFORT, Folder, Parts, checked, written};
use crate::support::explore;
use kanon::explore::Options;
use kanon::model::load::{load_text, with_large_stack};
use kanon::model::scope::{ScopeArgs, scope};
use kanon::run::{Deadline, ltl};
use kanon::symmetry::Strategy;
use kanon::system::planted::Defect;
use kanon::system::{Machine, Stop};
use kanon_checker::check::Part;
use kanon_checker::container::Kind;
use kanon_checker::ltl::proof::Wrong;
use kanon_checker::{Place, Rejected, check};
use std::fmt::Display;
use std::path::Path;
use std::sync::Arc;

fn load(text: &str, card: &[(&str, u64)]) -> Machine {
    let model = load_text("m.mch", text).model.expect("our own model");
    let card = card.iter().map(|(s, n)| (s.to_string(), *n)).collect();
    let scope = scope(&model, &ScopeArgs { card, ..ScopeArgs::default() }).expect("sizes").0;
    let mut machine = Machine::new(model, scope);
    machine.setup(10, &Stop::default());
    machine
}

fn machine(text: &str, card: &[(&str, u64)], defect: Option<Defect>) -> Arc<Machine> {
    let mut machine = load(text, card);
    if let Some(defect) = defect {
        assert!(machine.plant(defect) > 0, "there is no room for {defect:?}");
    }
    Arc::new(machine)
}

fn certificate(system: &Arc<Machine>, symmetry: Strategy) -> Parts {
    let options = Options { symmetry, deadlock: false, goal: false, ..Options::default() };
    let explored = explore(system, &options, &Stop::default());
    assert!(explored.verdict.holds());
    Parts::of(&written(system, &explored, false))
}

/// What is wrong with a certificate of this machine, told as people read it.
fn rejected(system: &Machine, parts: &Parts) -> Rejected {
    checked(&system.model, &system.scope, None, &parts.sealed()).expect_err("it is wrong")
}

fn said(system: &Machine, parts: &Parts) -> String {
    rejected(system, parts).to_string()
}

const STEPS: &str = "MACHINE steps SETS S = {a, b} VARIABLES s, n INVARIANT s : S & n : 0..9
    INITIALISATION s := b || n := 0
    OPERATIONS pick(x) = PRE x : S - {s} THEN s := x END;
               up = SELECT n < 5 THEN n := n + 1 END;
               jump(k) = PRE k : 6..8 & n = 5 THEN n := k END;
               back = SELECT n > 5 THEN n := 5 END END";

/// Plans and sums that are wrong in the search, and right in the checker.
#[test]
fn defects_of_plans_and_words_are_named() {
    let whole = machine(STEPS, &[], None);
    assert!(checked(&whole.model, &whole.scope, None, &certificate(&whole, Strategy::Off).sealed()).is_ok());
    let missing = |state: u64, shown: &str, operation: &str, parameter: Option<&str>, target: &str| {
        Rejected::MissingSuccessor {
            at: Place::State { state, shown: shown.into() },
            operation: operation.into(),
            parameters: parameter.map(String::from).into_iter().collect(),
            target: target.into(),
        }
    };
    let table = [
        (Defect::LosesFirst, missing(1, "s = b, n = 0", "pick", Some("a"), "s = a, n = 0")),
        (Defect::EndsEarly, missing(11, "s = b, n = 5", "jump", Some("8"), "s = b, n = 8")),
        // 3 + 1 in two bits and a tag is 0.
        (Defect::Overflows(3), missing(7, "s = b, n = 3", "up", None, "s = b, n = 4")),
    ];
    for (defect, expected) in table {
        let system = machine(STEPS, &[], Some(defect));
        assert_eq!(rejected(&system, &certificate(&system, Strategy::Off)), expected, "{defect:?}");
    }
}

const VALUES: &str = "MACHINE values SETS S = {a, b, c} VARIABLES q, n, k
    INVARIANT q : seq(S) & size(q) <= 2 & n : 0..9 & k <: {{}, {1}, {1, 2}}
    INITIALISATION q := [] || n := 0 || k := {}
    OPERATIONS
      put(x) = PRE x : {a, b, c} - ran(q) & size(q) < 2 THEN q := q <- x END;
      cut = SELECT q /= [] THEN q := tail(q) END;
      up = SELECT n < 9 & n mod 3 = 0 THEN n := n + 3 END;
      pick(i) = PRE i : {7, 8} & n = 3 THEN n := i END;
      jump(i) = PRE i : 4..5 & n = 3 THEN n := i END;
      either = SELECT n = 3 THEN CHOICE n := 1 OR n := 2 END END;
      keep = SELECT k = {} & n = 3 THEN k := k \\/ {{1}} END END";

/// The same where an operation is run on values: all of them, since those with a form on words lose it here.
#[test]
fn defects_of_the_general_tier_are_named() {
    let whole = machine(VALUES, &[], None);
    let sealed = certificate(&whole, Strategy::Off).sealed();
    assert!(checked(&whole.model, &whole.scope, None, &sealed).is_ok());
    let table = [
        (Defect::LosesFirst, "pick(7) leads to a state that is missing: q = {}, n = 7, k = {}"),
        (Defect::EndsEarly, "jump(5) leads to a state that is missing: q = {}, n = 5, k = {}"),
        // 3 + 3 in two bits and a tag is 2.
        (Defect::Overflows(3), "up() leads to a state that is missing: q = {}, n = 6, k = {}"),
        (Defect::LosesWay, "either() leads to a state that is missing: q = {}, n = 2, k = {}"),
        (Defect::KeepsLeft, "put(a) leads to a state that is missing: q = [a], n = 0, k = {}"),
    ];
    for (defect, expected) in table {
        let mut machine = load(VALUES, &[]);
        assert!(machine.plant_in_general(defect) > 0, "there is no room for {defect:?}");
        let system = Arc::new(machine);
        let told = said(&system, &certificate(&system, Strategy::Off));
        assert!(told.ends_with(expected), "{defect:?}: {told}");
    }
}

const SEATS: &str =
    "MACHINE seats SETS P VARIABLES on INVARIANT on <: P & card(on) <= 2 INITIALISATION on := {}
    OPERATIONS add(x) = PRE x : P - on & card(on) < 2 THEN on := on \\/ {x} END;
               clear = PRE card(on) = 2 THEN on := {} END END";

/// Without symmetry: seven states, of three bytes (no seat), four (one) or five (two).
#[test]
fn whatever_is_left_out_is_missed() {
    let system = machine(SEATS, &[("P", 3)], None);
    let whole = certificate(&system, Strategy::Off);
    let content = &whole.chunks[2].1;
    assert_eq!((whole.chunks[2].0, content.len()), (Kind::States, 3 + 3 * 4 + 3 * 5));
    let fewer = |from: usize, to: usize| {
        let mut parts = whole.replaced("\"states\": 7", "\"states\": 6");
        parts.chunks[2].1.drain(from..to);
        parts
    };
    let claim = |from: &str, to: &str| whole.replaced(from, to);
    let without = |kind: Kind| {
        let mut parts = whole.clone();
        parts.chunks.retain(|(k, _)| *k != kind);
        parts
    };
    let mut swapped = whole.clone();
    swapped.chunks.swap(0, 1);
    let mut longer = whole.clone();
    longer.chunks[2].1.push(0);
    let mut outside = whole.clone();
    *outside.chunks[2].1.last_mut().expect("witnesses") = 1;
    let table: Vec<(&str, Parts, &str)> = vec![
        (
            "the initial state",
            fewer(0, 3),
            "INITIALISATION (valuation 1): an initial state is missing: on = {}",
        ),
        (
            "the last state",
            fewer(25, 30),
            "state 3 (on = {P2}): add(P3) leads to a state that is missing: on = {P2,P3}",
        ),
        (
            "a state in the middle",
            fewer(3, 7),
            "state 1 (on = {}): add(P1) leads to a state that is missing: on = {P1}",
        ),
        ("all states", without(Kind::States), "the statement claims 7 states, the proof has 0"),
        (
            "all states, and they are not claimed",
            {
                let mut parts = without(Kind::States);
                parts.statement = parts.statement.replacen("\"states\": 7", "\"states\": 0", 1);
                parts
            },
            "INITIALISATION (valuation 1): an initial state is missing: on = {}",
        ),
        ("initial states", without(Kind::Initial), "the statement claims 1 initial records, the proof has 0"),
        ("valuations", without(Kind::Valuations), "chunk 2: a state is not one"),
        ("chunks in another order", swapped, "chunk 2: chunks come in another order"),
        ("half a record more", longer, "chunk 3: a state is not one"),
        ("a witness, and nothing is symmetric", outside, "chunk 3: a witness is not one"),
        (
            "more states are claimed",
            claim("\"states\": 7", "\"states\": 8"),
            "the statement claims 8 states, the proof has 7",
        ),
        (
            "more valuations are claimed",
            claim("\"valuations\": 1", "\"valuations\": 2"),
            "the statement claims 2 valuations, the proof has 1",
        ),
        (
            "a larger scope",
            claim("\"size\": 3", "\"size\": 4"),
            "state 1 (on = {}): add(P4) leads to a state that is missing: on = {P4}",
        ),
    ];
    let larger = machine(SEATS, &[("P", 4)], None);
    all(table.into_iter().map(|(what, parts, expected)| {
        let system = if what == "a larger scope" { &larger } else { &system };
        (what, said(system, &parts), expected)
    }));
}

/// Everything that is told otherwise than expected.
fn all<'t, E: AsRef<str> + Display>(table: impl IntoIterator<Item = (&'t str, String, E)>) {
    let wrong = table.into_iter().filter(|(_, found, expected)| found != expected.as_ref());
    let wrong: Vec<String> =
        wrong.map(|(what, found, expected)| format!("{what}: {found} (expected: {expected})")).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Up to symmetry: no seat, one, and two. The first state has the witnesses of two of the three that it leads to.
#[test]
fn witnesses_that_are_changed_are_named() {
    let system = machine(SEATS, &[("P", 3)], None);
    let whole = certificate(&system, Strategy::Canon);
    assert!(checked(&system.model, &system.scope, None, &whole.sealed()).is_ok());
    let content = &whole.chunks[2].1;
    assert_eq!(content[..3], [0, 0, 2], "valuation 0, no seat, two witnesses: {content:?}");
    let changed = |change: &dyn Fn(&mut Vec<u8>)| {
        let mut parts = whole.clone();
        change(&mut parts.chunks[2].1);
        said(&system, &parts)
    };
    all([
        (
            "the second witness is dropped",
            changed(&|c| {
                c[2] = 1;
                c.drain(6..9);
            }),
            "state 1 (on = {}): add(P3) leads to a state that is missing: on = {P3}",
        ),
        (
            "both are",
            changed(&|c| {
                c[2] = 0;
                c.drain(3..9);
            }),
            "state 1 (on = {}): add(P2) leads to a state that is missing: on = {P2}",
        ),
        (
            "two elements change places",
            changed(&|c| c.swap(3, 4)),
            "state 1 (on = {}): the witness takes a state to one that is not there: on = {P2}",
        ),
        (
            "two others",
            changed(&|c| c.swap(7, 8)),
            "state 1 (on = {}): the witness takes a state to one that is not there: on = {P3}",
        ),
        (
            "two elements become one",
            changed(&|c| c[3] = c[4]),
            "state 1 (on = {}): a witness is no symmetry: it is no bijection on P",
        ),
        (
            "an element that is not there",
            changed(&|c| c[3] = 3),
            "state 1 (on = {}): a witness is no symmetry: it is no bijection on P",
        ),
        (
            "one more witness",
            changed(&|c| {
                c[2] = 3;
                c.splice(9..9, [0, 1, 2]);
            }),
            "state 1 (on = {}): there are witnesses that nothing needs",
        ),
        (
            "the witnesses change places",
            changed(&|c| (3..6).for_each(|i| c.swap(i, i + 3))),
            "state 1 (on = {}): the witness takes a state to one that is not there: on = {P3}",
        ),
    ]);
}

/// A bit is flipped, and nothing is sealed again: what it was part of is damaged.
#[test]
fn a_flipped_bit_is_named() {
    let system = machine(SEATS, &[("P", 3)], None);
    let bytes = certificate(&system, Strategy::Off).sealed();
    let chunk = 16 + u32::from_le_bytes([bytes[12], bytes[13], bytes[14], bytes[15]]) as usize;
    let test = bytes.windows(6).position(|w| w == b"\"test\"").expect("who wrote it") + 1;
    let said = |at: usize, bit: u8| {
        let mut changed = bytes.clone();
        changed[at] ^= 1 << bit;
        let why = checked(&system.model, &system.scope, None, &changed);
        why.expect_err("it is damaged").to_string()
    };
    let damaged = |at: usize, chunks: usize, why: &str| {
        format!("the certificate is damaged at byte {at}, after {chunks} chunks: {why}")
    };
    // The place is how far the reader has come: the head of a chunk has 41 bytes.
    let packed = u32::from_le_bytes([1, 2, 3, 4].map(|i| bytes[chunk + i])) as usize;
    let hashed = damaged(chunk + 41 + packed, 0, "a chunk is not what its hash says");
    let sealed = damaged(bytes.len(), 3, "the seal is not that of the chunks");
    all([
        ("the first bytes", said(0, 0), "this is no certificate of kanon".into()),
        ("the version", said(8, 0), "a certificate of version 2, which is not known here".into()),
        ("the length of the statement", said(15, 7), damaged(16, 0, "the statement is too long")),
        ("the statement", said(test, 0), sealed.clone()),
        ("the kind of a chunk", said(chunk, 6), damaged(chunk + 1, 0, "a chunk of an unknown kind")),
        ("its length", said(chunk + 4, 7), damaged(chunk + 41, 0, "a chunk is too long")),
        ("its hash", said(chunk + 9, 0), hashed.clone()),
        ("its content", said(chunk + 41, 0), hashed),
        ("the seal", said(bytes.len() - 1, 0), sealed),
    ]);
}

/// The example of docs/certificate.md: four states with a node each, in one component, where the promise 3 is postponed.
#[test]
fn ranks_that_do_not_fall_are_named() {
    let folder = Folder::new("ranks");
    let file = folder.0.join("robot.cert");
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("models/ltl/Robot.mch");
    let task = ltl::Task {
        formulas: vec![("f".into(), "G not deadlock".into())],
        certificate: Some(file.clone()),
        ..ltl::Task::default()
    };
    let asked =
        with_large_stack(|| ltl::check_file(&path, &ScopeArgs::default(), &task, &Deadline::never()).is_ok());
    assert!(asked.expect("a thread"));
    let whole = Parts::of(&std::fs::read(&file).expect("a certificate"));
    let at = |kind: Kind| whole.chunks.iter().position(|(k, _)| *k == kind).expect("such a chunk");
    let (components, nodes) = (at(Kind::Components), at(Kind::Nodes));
    let rejected = |change: &dyn Fn(&mut Parts)| {
        let mut parts = whole.clone();
        change(&mut parts);
        let bytes = parts.sealed();
        let found = with_large_stack(|| check(&path, &mut || Ok(&bytes[..]), Part::WHOLE, EFFORT));
        match found.expect("a thread").expect_err("it is wrong") {
            Rejected::Node { at: Place::State { state, .. }, why, .. } => (state, why),
            other => panic!("{other}"),
        }
    };
    // A second component, and a number that rises on the way to it.
    let rising = rejected(&|p| {
        p.chunks[components].1 = vec![1, 3, 1, 3];
        p.chunks[nodes].1[7] = 1;
    });
    assert_eq!(rising, (1, Wrong::Rises { node: 1, step: 0, from: 0, to: 1 }));
    // No edge is said to stay.
    let staying = rejected(&|p| p.chunks[components].1 = vec![0]);
    assert_eq!(staying, (1, Wrong::Stays { node: 1, step: 0, component: 0 }));
    // Fairness that nobody assumes.
    let ignored = rejected(&|p| p.chunks[components].1 = vec![2, 0, 0]);
    assert_eq!(ignored, (1, Wrong::NoPremise { node: 1, component: 0 }));
}
