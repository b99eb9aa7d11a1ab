//! Certificates: what holds has one that kanon-checker accepts; whatever is wrong with one, or with the search that wrote
//! it, is rejected with the reason that names it.

use crate::support::random::Machine as Random;
use crate::support::{explore, solved};
use kanon::certify;
use kanon::explore::audit::{self, Audit};
use kanon::explore::inject::{Flaw, Flawed, Mistake};
use kanon::explore::{Explored, Options};
use kanon::model::load::{load, with_large_stack};
use kanon::model::scope::{ScopeArgs, scope};
use kanon::model::{Expr, Model};
use kanon::run::answer::Decision;
use kanon::run::{Deadline, Task, check_file};
use kanon::symmetry::{Action, MachineAction, Strategy};
use kanon::system::{Machine, Role, Stop};
use kanon::value::Scope;
use kanon_checker::check::{Effort, Part, sizes};
use kanon_checker::container::{Kind, Reader, Writer};
use kanon_checker::statement::{Claims, Constants, Goal, Statement};
use kanon_checker::{Accepted, Place, Rejected, check, check_model};
use std::path::{Path, PathBuf};
use std::sync::Arc;

pub const EFFORT: Effort = Effort { root: 20_000_000, solved: 2_000_000, state: 2_000_000 };

/// A folder that goes away with its owner.
pub struct Folder(pub PathBuf);

impl Folder {
    pub fn new(name: &str) -> Folder {
        let path = std::env::temp_dir().join(format!("kanon-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).expect("a folder");
        Folder(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

pub fn models(folder: &Path, out: &mut Vec<PathBuf>) {
    for path in std::fs::read_dir(folder).into_iter().flatten().filter_map(|e| Some(e.ok()?.path())) {
        match path.extension().and_then(|e| e.to_str()) {
            None => models(&path, out),
            Some("mch" | "ref" | "imp" | "eventb") => out.push(path),
            Some(_) => {}
        }
    }
}

/// Every model of ours that holds, under two strategies with witnesses, or, with `KANON_LONG`, under each.
#[test]
fn what_holds_has_a_certificate_that_is_accepted() {
    let folder = Folder::new("certificates");
    let mut files = vec![];
    models(&Path::new(env!("CARGO_MANIFEST_DIR")).join("models"), &mut files);
    files.sort();
    let file = folder.0.join("c.cert");
    let (mut accepted, mut reduced, mut undecided) = (0, 0, vec![]);
    let is_long = std::env::var_os("KANON_LONG").is_some();
    for (i, path) in files.iter().enumerate() {
        let strategies = [Strategy::Off, Strategy::Canon, Strategy::Auto];
        let left_out = (!is_long).then(|| strategies[1 + i % 2]);
        for symmetry in strategies.into_iter().filter(|s| Some(*s) != left_out) {
            let mut task = Task { certificate: Some(file.clone()), ..Task::default() };
            (task.options.symmetry, task.options.max_states) = (symmetry, Some(2_000));
            let found =
                with_large_stack(|| check_file(path, &ScopeArgs::default(), &task, &Deadline::never()).ok());
            let Ok(Some((_, found))) = found else { continue };
            if found.verdict != Decision::Holds {
                assert!(found.certificate.is_none());
                continue;
            }
            let written = found.certificate.expect("it was asked for");
            written.unwrap_or_else(|why| panic!("{}: {why}", path.display()));
            match check(path, &mut || std::fs::File::open(&file), Part::WHOLE, EFFORT) {
                Ok(a) => {
                    accepted += 1;
                    reduced += u64::from(a.witnesses > 0);
                    assert_eq!(a.statement.states, found.counts.states as u64);
                    if symmetry == Strategy::Off {
                        assert_eq!(a.transitions, found.counts.transitions, "{}", path.display());
                    }
                }
                Err(why) if why.is_undecided() => undecided.push(format!("{}: {why}", path.display())),
                Err(why) => panic!("{} with {symmetry}: {why}", path.display()),
            }
        }
    }
    assert!(accepted > 100 && reduced > 12, "{accepted} accepted, {reduced} of them with witnesses");
    println!("{accepted} accepted, {} not decided", undecided.len());
    // Five models, under each of the strategies.
    assert!(undecided.len() <= accepted / 15, "{accepted} accepted, not decided: {undecided:#?}");
}

pub fn statement(
    system: &Machine,
    explored: &Explored,
    symmetry: Vec<String>,
    no_deadlock: bool,
) -> Statement {
    Statement {
        kanon: "test".into(),
        files: vec![],
        machine: "M".into(),
        sets: sizes(&system.model, &system.scope),
        minint: system.scope.minint.clone(),
        maxint: system.scope.maxint.clone(),
        wd: "kleene".into(),
        constants: Constants::Enumerated,
        claims: Claims {
            invariant: true,
            assertions: true,
            no_deadlock,
            goal: Goal::Ignored,
            goal_text: None,
            formula: None,
        },
        symmetry,
        valuations: system.valuations() as u64,
        states: explored.store.len() as u64,
        formulas: None,
    }
}

/// The certificate of what was explored, whether it is right or not.
pub fn written(system: &Arc<Machine>, explored: &Explored, no_deadlock: bool) -> Vec<u8> {
    let action: Arc<dyn Action> = Arc::new(MachineAction::of(system));
    let reduced = explored.reduction.is_some().then_some(&action);
    let sets = reduced.map(|a| certify::sets(a.group(), &system.model)).unwrap_or_default();
    let statement = statement(system, explored, sets, no_deadlock).json();
    certify::write(vec![], &statement, system, reduced, explored, &Stop::default())
        .expect("it can be written")
}

pub fn checked(
    model: &Model,
    scope: &Scope,
    goal: Option<&Expr>,
    bytes: &[u8],
) -> Result<Accepted, Rejected> {
    check_model(model, scope, goal, &mut || Ok(bytes), Part::WHOLE, EFFORT)
}

/// Random machines: what holds is accepted, with and without reduction, and in parts.
#[test]
fn random_machines() {
    let options = |symmetry| Options { symmetry, goal: false, max_states: Some(300), ..Options::default() };
    let stop = Stop::default();
    let (mut accepted, mut reduced, mut undecided) = (0, 0, 0);
    for seed in 0..1_500 {
        let random = Random::new(seed, 10);
        let (system, setup) = solved(&random.model, &random.scope, 300, &stop);
        if setup.fault.is_some() {
            continue;
        }
        for symmetry in [Strategy::Off, Strategy::Canon, Strategy::Nauty] {
            if symmetry == Strategy::Nauty && !cfg!(feature = "nauty") {
                continue;
            }
            let explored = explore(&system, &options(symmetry), &stop);
            if !explored.verdict.holds() {
                continue;
            }
            let bytes = written(&system, &explored, true);
            let parts = [Part::WHOLE, Part { part: 0, of: 2 }, Part { part: 1, of: 2 }];
            let answers = parts.map(|part| {
                check_model(&system.model, &system.scope, None, &mut || Ok(&bytes[..]), part, EFFORT)
            });
            match &answers {
                [Ok(whole), Ok(one), Ok(two)] => {
                    accepted += 1;
                    reduced += u64::from(whole.witnesses > 0);
                    assert_eq!(whole.transitions, one.transitions + two.transitions);
                }
                [Err(why), ..] if why.is_undecided() => undecided += 1,
                _ => panic!("seed {seed}, {symmetry}: {answers:?}\n{random:?}"),
            }
        }
    }
    // Many guards of the generator have no value, so fewer machines hold than there are.
    assert!(accepted > 90 && reduced > 40, "{accepted} accepted, {reduced} reduced, {undecided} undecided");
    assert!(undecided <= accepted / 4, "{accepted} accepted, {undecided} undecided");
}

fn machine(file: &str) -> Arc<Machine> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("models").join(file);
    let model = load(&path).model.expect("a model");
    let args = ScopeArgs { setsize: Some(3), ..ScopeArgs::default() };
    let scope = scope(&model, &args).expect("sizes").0;
    solved(&model, &scope, 1_000, &Stop::default()).0
}

/// Mistakes of the system that the search believed.
#[test]
fn flaws_of_the_search_are_named() {
    type Expected = fn(&Rejected) -> bool;
    type Numbered = fn(u64) -> Flaw;
    let successor: Expected = |r| matches!(r, Rejected::MissingSuccessor { .. });
    let initial: Expected = |r| matches!(r, Rejected::MissingInitial { .. });
    let invariant: Expected = |r| matches!(r, Rejected::False { what: "the invariant", .. });
    let assertion: Expected = |r| matches!(r, Rejected::False { what: "an assertion", .. });
    let (scheduler, ring) = ("papers/scheduler0.mch", "papers/TokenRing.mch");
    let rows: [(&str, Numbered, Expected); 8] = [
        (ring, |n| Flaw::KeepsWord(n), successor),
        (scheduler, |n| Flaw::LosesSuccessor(n), successor),
        (scheduler, |n| Flaw::LosesOperation(n as usize), successor),
        (ring, |n| Flaw::LosesOperation(n as usize), successor),
        (ring, Flaw::LosesInitial, initial),
        ("lang/decl_constants.mch", Flaw::LosesStart, initial),
        ("lang/errors/find_invariant.mch", |_| Flaw::Ignores(Role::Invariant), invariant),
        ("lang/errors/find_assertion.mch", |_| Flaw::Ignores(Role::Assertion), assertion),
    ];
    for (file, flaw, is_expected) in rows {
        let options = Options { deadlock: false, goal: false, all: true, ..Options::default() };
        let whole = explore(&machine(file), &options, &Stop::default()).store.len();
        let mut named = 0;
        for flaw in (0..6).map(flaw) {
            let inner = Arc::into_inner(machine(file)).expect("nobody else has it");
            let flawed = Flawed { inner, flaw };
            let options = Options { all: false, ..options.clone() };
            let explored = kanon::explore::explore(&flawed, None, &options, &Stop::default(), &mut |_| {});
            let explored = explored.expect("they go together");
            if !explored.verdict.holds() {
                continue;
            }
            let system = Arc::new(flawed.inner);
            let bytes = written(&system, &explored, false);
            match checked(&system.model, &system.scope, None, &bytes) {
                // Other ways led to what was lost, and it is true after all.
                Ok(_) => assert_eq!(explored.store.len(), whole, "{file}, {flaw:?}"),
                Err(why) => {
                    assert!(is_expected(&why), "{file}, {flaw:?}: {why}");
                    named += 1;
                }
            }
        }
        assert!(named > 0, "{file}: no flaw mattered");
    }
}

/// Mistakes of the search itself: in the visited set, in batches, in blocks that threads hand on. Nobody looks while it
/// runs.
#[test]
fn mistakes_of_the_search_are_named() {
    type Numbered = fn(u64) -> Mistake;
    let rows: [(Numbered, &str, bool); 7] = [
        (Mistake::Forgets, "stored twice", true),
        (Mistake::Stale, "stored twice", false),
        (Mistake::ClaimsPresent, "missing", false),
        (Mistake::Drops, "missing", true),
        (Mistake::ViewClaims, "missing", false),
        (Mistake::BatchDrops, "missing", false),
        (Mistake::LosesBlock, "missing", false),
    ];
    for (mistake, expected, one_by_one) in rows {
        for threads in [Some(1), Some(2)] {
            if one_by_one && threads != Some(1) {
                continue;
            }
            let mut named = 0;
            // One with many ways to a state, and one with few.
            let files = ["papers/scheduler0.mch", "lang/errors/find_deadlock.mch"];
            for (n, file) in (1..12).flat_map(|n| files.map(|file| (n, file))) {
                let system = machine(file);
                let options =
                    Options { deadlock: false, goal: false, threads, one_by_one, ..Options::default() };
                let whole = explore(&system, &options, &Stop::default()).store.len();
                let audit = Audit { every: u64::MAX, shadow_states: 1, mistake: Some(mistake(n)) };
                let run =
                    audit::explore(&*system, None, &options, &Stop::default(), &mut |_| {}, (&audit, None));
                let (explored, _) = run.expect("they go together");
                match checked(&system.model, &system.scope, None, &written(&system, &explored, false)) {
                    // Other ways led to what was lost.
                    Ok(_) => assert_eq!(explored.store.len(), whole, "{:?}", mistake(n)),
                    Err(why) => {
                        assert!(why.to_string().contains(expected), "{:?}: {why}", mistake(n));
                        named += 1;
                    }
                }
            }
            assert!(named > 0, "{:?} with {threads:?} threads: no mistake mattered", mistake(1));
        }
    }
}

/// The invariant of one state taken for that of another, in a batch and one by one.
#[test]
fn a_search_that_lies_about_the_invariant_is_rejected() {
    for (mistake, one_by_one) in [(Mistake::QuietLies(1), false), (Mistake::Lies(6), true)] {
        let system = machine("lang/errors/find_invariant.mch");
        let options = Options { deadlock: false, goal: false, one_by_one, ..Options::default() };
        let lies = |n| match mistake {
            Mistake::Lies(_) => Mistake::Lies(n),
            other => other,
        };
        let mut named = 0;
        for n in 1..10 {
            let audit = Audit { every: u64::MAX, shadow_states: 1, mistake: Some(lies(n)) };
            let run = audit::explore(&*system, None, &options, &Stop::default(), &mut |_| {}, (&audit, None));
            let (explored, _) = run.expect("they go together");
            let why = checked(&system.model, &system.scope, None, &written(&system, &explored, false));
            let why = why.expect_err("the invariant is false in some state");
            named += usize::from(matches!(why, Rejected::False { what: "the invariant", .. }));
        }
        assert!(named > 0, "{mistake:?}");
    }
}

/// A certificate in its parts, to be changed and sealed again.
#[derive(Clone)]
pub struct Parts {
    pub statement: String,
    pub chunks: Vec<(Kind, Vec<u8>)>,
}

impl Parts {
    pub fn of(bytes: &[u8]) -> Parts {
        let (mut reader, statement) = Reader::new(bytes).expect("a certificate");
        let mut chunks = vec![];
        while let Some(chunk) = reader.chunk().expect("a chunk") {
            chunks.push(chunk);
        }
        Parts { statement, chunks }
    }

    pub fn sealed(&self) -> Vec<u8> {
        let mut writer = Writer::new(vec![], &self.statement).expect("a head");
        self.chunks.iter().for_each(|(kind, content)| writer.chunk(*kind, content).expect("a chunk"));
        writer.seal().expect("a seal")
    }

    pub fn replaced(&self, from: &str, to: &str) -> Parts {
        assert!(self.statement.contains(from), "{from}");
        Parts { statement: self.statement.replacen(from, to, 1), ..self.clone() }
    }
}

/// scheduler0 with three processes: 54 states, or 16 up to symmetry.
fn scheduler(symmetry: Strategy) -> (Arc<Machine>, Parts) {
    let system = machine("papers/scheduler0.mch");
    let explored = explore(&system, &Options { symmetry, ..Options::default() }, &Stop::default());
    let parts = Parts::of(&written(&system, &explored, true));
    (system, parts)
}

/// One thing is changed and the rest sealed as if nothing had happened.
#[test]
fn changed_certificates_are_rejected_for_the_right_reason() {
    let (system, whole) = scheduler(Strategy::Off);
    let rejected = |parts: &Parts| {
        checked(&system.model, &system.scope, None, &parts.sealed()).expect_err("it is wrong")
    };
    assert!(checked(&system.model, &system.scope, None, &whole.sealed()).is_ok());
    let states = |parts: &mut Parts| parts.chunks.last_mut().map(|c| c.1.split_off(0)).expect("states");
    // The records have one length here: the number, five variables' worth of bytes, no witnesses.
    let mut fewer = whole.clone();
    let content = states(&mut fewer);
    let ends = records(&system, &content);
    let last = ends[ends.len() - 2];
    fewer.chunks.last_mut().expect("states").1 = content[..last].to_vec();
    assert_eq!(rejected(&fewer), Rejected::Counts { what: "states", claimed: 54, found: 53 });
    let why = rejected(&fewer.replaced("\"states\": 54", "\"states\": 53"));
    assert!(matches!(&why, Rejected::MissingSuccessor { .. }), "{why}");
    let mut twice = whole.clone();
    twice.chunks.last_mut().expect("states").1.extend(&content[..ends[0]]);
    assert_eq!(rejected(&twice), Rejected::Twice { state: 54 });
    let mut headless = whole.clone();
    headless.chunks.retain(|(kind, _)| *kind != Kind::Initial);
    let why = rejected(&headless);
    assert_eq!(why, Rejected::Counts { what: "initial records", claimed: 1, found: 0 });
    let mut empty = whole.clone();
    empty.chunks.retain(|(kind, _)| *kind == Kind::Initial);
    let why = rejected(&empty.replaced("\"valuations\": 1", "\"valuations\": 0").replaced("54", "0"));
    assert_eq!(why, Rejected::MissingValuation { shown: String::new() });
    let mut turned = whole.clone();
    turned.chunks.reverse();
    assert!(matches!(rejected(&turned), Rejected::Malformed { .. }));
    // A run that was stopped, whatever is said of it.
    let options = Options { max_states: Some(20), symmetry: Strategy::Off, ..Options::default() };
    let explored = explore(&system, &options, &Stop::default());
    assert!(!explored.verdict.holds());
    let stopped = Parts::of(&written(&system, &explored, true));
    let why = rejected(&stopped);
    assert!(matches!(&why, Rejected::MissingSuccessor { .. }), "{why}");
}

/// Where each record of a chunk of states ends.
fn records(system: &Machine, content: &[u8]) -> Vec<usize> {
    let mut bytes = kanon_checker::codec::Bytes::new(content);
    let mut ends = vec![];
    while !bytes.is_empty() {
        bytes.number().expect("a valuation");
        for d in &system.model.variables {
            bytes.value(&d.ty, &system.scope).expect("a value");
        }
        assert_eq!(bytes.number(), Some(0), "witnesses");
        ends.push(content.len() - bytes.left().len());
    }
    ends
}

#[test]
fn witnesses_that_lie_are_rejected() {
    let (system, whole) = scheduler(Strategy::Canon);
    let rejected = |parts: &Parts| {
        checked(&system.model, &system.scope, None, &parts.sealed()).expect_err("it is wrong")
    };
    assert!(checked(&system.model, &system.scope, None, &whole.sealed()).is_ok());
    // Nothing is symmetric: the witnesses have nothing to rename.
    let sets = "\"symmetry\": [\n    \"PROC\"";
    let why = rejected(&whole.replaced(sets, "\"symmetry\": ["));
    assert!(matches!(why, Rejected::Malformed { .. }), "{why}");
    // The elements of STATUS are named.
    let why = rejected(&whole.replaced(sets, "\"symmetry\": [\"STATUS\""));
    assert!(matches!(&why, Rejected::NoSymmetry { why, .. } if why.contains("which is named")), "{why}");
    let why = rejected(&whole.replaced(sets, "\"symmetry\": [\"PROCESS\""));
    assert_eq!(why, Rejected::NoSet("PROCESS".into()));
    // Each byte of the states and their witnesses, one at a time: what is accepted has become another true proof.
    let (mut nowhere, mut no_symmetry) = (0, 0);
    let last = whole.chunks.len() - 1;
    for at in 0..whole.chunks[last].1.len() {
        for to in 0..4 {
            let mut parts = whole.clone();
            parts.chunks[last].1[at] = to;
            match checked(&system.model, &system.scope, None, &parts.sealed()) {
                Err(Rejected::WitnessLeadsNowhere { .. }) => nowhere += 1,
                Err(Rejected::NoSymmetry { at: Place::State { .. }, .. }) => no_symmetry += 1,
                _ => {}
            }
        }
    }
    assert!(nowhere > 0 && no_symmetry > 0, "{nowhere} and {no_symmetry}");
}

/// A machine on disk: the statement has to fit its text and its sizes.
#[test]
fn other_models_and_other_sizes_are_rejected() {
    let folder = Folder::new("statements");
    let (path, file) = (folder.0.join("m.mch"), folder.0.join("m.cert"));
    let text = "MACHINE m SETS S VARIABLES s INVARIANT s <: S & card(s) <= 2 INITIALISATION s := {}
                OPERATIONS put(x) = PRE x : S & card(s) < 2 THEN s := s \\/ {x} END;
                           clear = s := {} END";
    std::fs::write(&path, text).expect("a file");
    let mut task = Task { certificate: Some(file.clone()), ..Task::default() };
    task.options.symmetry = Strategy::Off;
    let sizes = ScopeArgs { card: vec![("S".into(), 3)], ..ScopeArgs::default() };
    let (_, found) =
        check_file(&path, &sizes, &task, &Deadline::never()).unwrap_or_else(|_| panic!("{text}"));
    assert_eq!((found.verdict, found.counts.states), (Decision::Holds, 7));
    let whole = Parts::of(&std::fs::read(&file).expect("the certificate"));
    let answer = |parts: &Parts| {
        let bytes = parts.sealed();
        check(&path, &mut || Ok(&bytes[..]), Part::WHOLE, EFFORT)
    };
    let rejected = |parts: &Parts| answer(parts).expect_err("it is wrong");
    assert!(answer(&whole).is_ok());
    // A larger scope, with the proof of the smaller one.
    let why = rejected(&whole.replaced("\"size\": 3", "\"size\": 4"));
    assert!(matches!(&why, Rejected::MissingSuccessor { operation, .. } if operation == "put"), "{why}");
    // A smaller one: elements that are not there.
    let why = rejected(&whole.replaced("\"size\": 3", "\"size\": 2"));
    assert!(matches!(why, Rejected::Malformed { .. }), "{why}");
    // Bounds that nothing depends on: another statement, and a true one.
    assert!(answer(&whole.replaced("\"maxint\": \"3\"", "\"maxint\": \"7\"")).is_ok());
    assert_eq!(rejected(&whole.replaced("\"maxint\": \"3\"", "\"maxint\": \"x\"")), {
        Rejected::Statement("a bound is no integer")
    });
    assert_eq!(rejected(&whole.replaced("kleene", "another")), Rejected::Field("wd"));
    assert_eq!(rejected(&whole.replaced("explicit", "guessed")), {
        Rejected::Statement("a proof of this kind is not known here")
    });
    let why = rejected(&whole.replaced("\"never\": null", "\"never\": { \"predicate\": \"card(s) = 2\" }"));
    assert!(matches!(why, Rejected::Reached { .. }), "{why}");
    let why = rejected(&whole.replaced("\"never\": null", "\"never\": \"model\""));
    assert_eq!(why, Rejected::Statement("the model has no GOAL"));
    // Another text of the same model.
    std::fs::write(&path, format!("{text} /* later */")).expect("a file");
    assert_eq!(rejected(&whole), Rejected::OtherFiles("m.mch is not the same".into()));
    std::fs::write(&path, text.replace("card(s) <= 2", "card(s) < 2")).expect("a file");
    assert_eq!(rejected(&whole), Rejected::OtherFiles("m.mch is not the same".into()));
    // ... and where its hash is put right, the proof is wrong.
    let hash = blake3_of(&std::fs::read_to_string(&path).expect("a file"));
    let other = whole
        .replaced(&blake3_of(text), &hash)
        .replaced(&format!("\"bytes\": {}", text.len()), &format!("\"bytes\": {}", text.len() - 1));
    let why = rejected(&other);
    assert!(matches!(&why, Rejected::False { what: "the invariant", .. }), "{why}");
    std::fs::write(&path, text).expect("a file");
    assert!(answer(&whole).is_ok());
}

fn blake3_of(text: &str) -> String {
    kanon_checker::statement::File::of("", text).blake3
}

/// Bits that flip, files that end early, files that claim much: rejected with the place, without a panic and without
/// memory for what is not there.
#[test]
fn damaged_files_are_rejected() {
    let (system, whole) = scheduler(Strategy::Canon);
    let bytes = whole.sealed();
    let answer = |bytes: &[u8]| checked(&system.model, &system.scope, None, bytes);
    for at in 0..bytes.len() {
        for bit in 0..8 {
            let mut changed = bytes.clone();
            changed[at] ^= 1 << bit;
            let why = answer(&changed).expect_err("the hashes say so");
            assert!(!why.is_undecided(), "{why}");
        }
        let why = answer(&bytes[..at]).expect_err("it ends early");
        assert!(matches!(why, Rejected::Damaged { why: "the file ends early", .. }), "{why}");
    }
    let mut longer = bytes.clone();
    longer.push(0);
    assert!(matches!(answer(&longer), Err(Rejected::Damaged { why: "something follows the seal", .. })));
    // A hundred bytes that claim ten gigabytes.
    let mut claims = bytes[..16].to_vec();
    claims[12..16].copy_from_slice(&u32::MAX.to_le_bytes());
    claims.extend([0; 84]);
    assert!(matches!(answer(&claims), Err(Rejected::Damaged { why: "the statement is too long", .. })));
}

/// Contents changed at random and sealed again. The statement is true of the model whatever the proof is, so nothing that
/// is accepted is wrong; that nothing panics is what is tested.
#[test]
fn random_contents_do_not_panic() {
    for symmetry in [Strategy::Off, Strategy::Canon] {
        let (system, whole) = scheduler(symmetry);
        let mut seed = 7u64;
        let mut random = |n: usize| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (seed >> 33) as usize % n.max(1)
        };
        let mut rejected = 0;
        for _ in 0..5_000 {
            let mut parts = whole.clone();
            for _ in 0..=random(3) {
                let place = random(parts.chunks.len());
                let content = &mut parts.chunks[place].1;
                let at = random(content.len());
                match random(4) {
                    0 if !content.is_empty() => content[at] = random(256) as u8,
                    1 if !content.is_empty() => drop(content.remove(at)),
                    2 => content.insert(at, random(256) as u8),
                    _ => content.truncate(at),
                }
            }
            rejected += usize::from(checked(&system.model, &system.scope, None, &parts.sealed()).is_err());
        }
        assert!(rejected > 4_000, "{rejected}");
    }
}

/// The checker has the front end and the reference evaluator, and no engine.
#[test]
fn the_checker_depends_on_no_engine() {
    let text = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("checker/Cargo.toml"));
    let text = text.expect("checker/Cargo.toml");
    let (_, dependencies) = text.split_once("[dependencies]").expect("dependencies");
    let of_ours = dependencies.lines().filter(|l| l.starts_with("kanon")).map(|l| l.split(['.', ' ']).next());
    assert_eq!(of_ours.flatten().collect::<Vec<_>>(), ["kanon-language", "kanon-semantics"]);
    let semantics =
        std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("src/semantics/Cargo.toml"));
    let semantics = semantics.expect("src/semantics/Cargo.toml");
    let of_ours = semantics.lines().filter(|l| l.starts_with("kanon")).count();
    assert_eq!(of_ours, 1, "kanon-language");
    // The checker of proofs by formulas has the encoder and its circuits besides, and no SAT solver. The valuations of
    // the constants in a certificate of states are plain values.
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let read = |file: &str| std::fs::read_to_string(root.join(file)).expect("a manifest");
    for (file, expected) in [
        (
            "checker/symbolic/Cargo.toml",
            &["kanon-checker", "kanon-language", "kanon-semantics", "kanon-solver", "kanon-symbolic"][..],
        ),
        ("src/symbolic/Cargo.toml", &["kanon-language", "kanon-semantics", "kanon-solver"]),
    ] {
        let text = read(file);
        let (_, dependencies) = text.split_once("[dependencies]").expect("dependencies");
        let of_ours = dependencies.lines().filter(|l| l.starts_with("kanon"));
        let of_ours: Vec<&str> = of_ours.map(|l| l.trim_end_matches(".workspace = true")).collect();
        assert_eq!(of_ours, expected, "{file}");
    }
    let solver = "kanon-solver = { path = \"src/solver\", default-features = false }";
    assert!(read("Cargo.toml").contains(solver));
}
