//! Certificates of proofs by formulas: what holds has one that kanon-symbolic-checker accepts, and whatever is wrong with one
//! is rejected with the reason that names it.

use crate::certificates::{Folder, Parts, models};
use kanon::explore::Options;
use kanon::model::load::with_large_stack;
use kanon::model::scope::ScopeArgs;
use kanon::run::answer::Decision;
use kanon::run::symbolic::{Backend, Engine, Task, answer};
use kanon::run::{Deadline, Project};
use kanon::symbolic::encode::Mutant;
use kanon_checker::container::Kind;
use kanon_symbolic_checker::check::{Accepted, Rejected};
use kanon_symbolic_checker::steps::Wrong;
use std::path::{Path, PathBuf};
use std::time::Duration;

fn task(engine: Engine, file: &Path) -> Task {
    let certificate = Some(file.to_path_buf());
    Task { solver: Backend::Sat, depth: 30, certificate, ..Task::new(engine) }
}

/// The certificate of a run, if the machine holds.
fn written(model: &Path, task: &Task, time: Duration) -> Option<Vec<u8>> {
    let project = Project::open(model, &ScopeArgs::default()).ok()?;
    let found = answer(&project, task, &Deadline::after(Some(time)), &|_| {}).ok()?;
    if found.verdict != Decision::Holds {
        assert!(found.certificate.is_none());
        return None;
    }
    match found.certificate.expect("it was asked for") {
        Ok(path) => std::fs::read(path).ok(),
        Err(why) if why.contains("time") => None,
        Err(why) => panic!("{}: {why}", model.display()),
    }
}

fn checked(model: &Path, bytes: &[u8]) -> Result<Accepted, Rejected> {
    kanon_symbolic_checker::check(model, bytes, None)
}

const COUNTER: &str = "MACHINE Counter
SETS COLOUR = {red, green, blue}
CONSTANTS most PROPERTIES most : 3..5
VARIABLES n, c, seen
INVARIANT n : 0..5 & c : COLOUR & seen <: COLOUR & n <= most & (n = most => c /= blue)
INITIALISATION n := 0 || c := red || seen := {}
OPERATIONS
  up = PRE n + 1 < most & c = red THEN n := n + 1 || seen := seen \\/ {c} END;
  turn = PRE c = red & n > 0 THEN c := green || n := n - 1 END;
  back = PRE c = green THEN c := red END
END
";

/// Engines that prove, on models of ours that hold. (`bmc` proves only where all paths end.)
#[test]
fn proofs_have_certificates_that_are_accepted() {
    let folder = Folder::new("formulas");
    let file = folder.0.join("c.cert");
    let mut files = vec![];
    models(&Path::new(env!("CARGO_MANIFEST_DIR")).join("models"), &mut files);
    files.sort();
    let mut accepted = [0; 2];
    for path in files.iter().step_by(3) {
        for (n, engine) in [Engine::Ic3, Engine::KInduction].into_iter().enumerate() {
            let checked = with_large_stack(|| {
                let bytes = written(path, &task(engine, &file), Duration::from_secs(2))?;
                Some(checked(path, &bytes))
            });
            match checked {
                Ok(Some(Ok(a))) => {
                    assert!(a.relative.is_none());
                    accepted[n] += 1;
                }
                Ok(Some(Err(why))) => panic!("{} by {}: {why}", path.display(), engine.name()),
                Ok(None) | Err(_) => {}
            }
        }
    }
    println!("accepted by ic3, kinduction: {accepted:?}");
    assert!(accepted[0] > 10 && accepted[1] > 10, "{accepted:?}");
}

fn counter(folder: &Folder) -> PathBuf {
    let model = folder.0.join("Counter.mch");
    std::fs::write(&model, COUNTER).expect("a model");
    model
}

fn certificate(folder: &Folder, engine: Engine, mutant: Mutant) -> (PathBuf, Parts) {
    let model = counter(folder);
    let options = Options { deadlock: false, ..Options::default() };
    let task = Task { options, mutant, ..task(engine, &folder.0.join("c.cert")) };
    let bytes = written(&model, &task, Duration::from_secs(600)).expect("it holds");
    (model, Parts::of(&bytes))
}

/// One thing is changed, and the rest sealed as if nothing had happened.
#[test]
fn changed_proofs_are_rejected_for_the_right_reason() {
    let folder = Folder::new("changed-formulas");
    let (model, whole) = certificate(&folder, Engine::Ic3, Mutant::None);
    let rejected = |parts: &Parts| checked(&model, &parts.sealed()).expect_err("it is wrong");
    let accepted = checked(&model, &whole.sealed()).expect("it is right");
    assert!(accepted.steps > 0 && accepted.questions == 6, "{accepted:?}");
    let places =
        |kind: Kind| whole.chunks.iter().enumerate().filter(move |(_, c)| c.0 == kind).map(|(i, _)| i);
    let last = places(Kind::Steps).next_back().expect("steps");
    // The last clause is missing, or the last byte of it.
    let mut cut = whole.clone();
    cut.chunks.remove(last);
    assert!(matches!(rejected(&cut), Rejected::Step { wrong: Wrong::NotEmpty, .. }));
    let mut cut = whole.clone();
    cut.chunks[last].1.pop();
    assert!(matches!(rejected(&cut), Rejected::Step { wrong: Wrong::Malformed { .. }, .. }));
    // The first step is missing.
    let first = places(Kind::Steps).next().expect("steps");
    let mut fewer = whole.clone();
    let length = step_length(&fewer.chunks[first].1);
    fewer.chunks[first].1.drain(..length);
    assert!(matches!(rejected(&fewer), Rejected::Step { wrong: Wrong::Missing { step: 1 }, .. }));
    // A step that uses nothing.
    let mut more = whole.clone();
    let number = kanon_checker::codec::Bytes::new(&more.chunks[first].1).number().expect("its number");
    let mut nothing = vec![];
    kanon_checker::codec::put_number(&mut nothing, number);
    nothing.extend([1, 2, 0]);
    more.chunks[first].1.splice(0..0, nothing);
    assert!(matches!(rejected(&more), Rejected::Step { wrong: Wrong::NoConflict { step: 1 }, .. }));
    // Steps after the end.
    let mut more = whole.clone();
    more.chunks[last].1.extend([0, 0]);
    assert!(matches!(rejected(&more), Rejected::Step { wrong: Wrong::TooMany { .. }, .. }));
    // Other clauses: the hash, the count, the width.
    let question = places(Kind::Question).next().expect("a question");
    let mut other = whole.clone();
    *other.chunks[question].1.last_mut().expect("a hash") ^= 1;
    assert!(matches!(rejected(&other), Rejected::OtherClauses { .. }));
    let mut wide = whole.clone();
    wide.chunks[question].1.splice(0..1, [0xac, 0x02]);
    assert!(matches!(rejected(&wide), Rejected::Width { .. }));
    // A question is left out, or answered by nobody, or there is one too many.
    let mut fewer = whole.clone();
    fewer.chunks.truncate(places(Kind::Question).next_back().expect("questions"));
    assert!(matches!(rejected(&fewer), Rejected::Missing { .. }));
    let mut told = whole.clone();
    told.chunks[question].1 = vec![0];
    told.chunks.retain({
        let mut at = 0;
        move |c| {
            at += 1;
            !(at == question + 2 && c.0 == Kind::Steps)
        }
    });
    assert!(matches!(rejected(&told), Rejected::OtherQuery { .. }), "{}", rejected(&told));
    let mut more = whole.clone();
    more.chunks.push((Kind::Question, vec![0]));
    assert_eq!(rejected(&more), Rejected::TooMany);
    // The invariant weakened: without its lemmas, if it has any, the clauses are others.
    let mut weak = whole.clone();
    weak.chunks.retain(|c| c.0 != Kind::Lemmas);
    if weak.chunks.len() < whole.chunks.len() {
        assert!(matches!(rejected(&weak), Rejected::OtherClauses { .. }));
    }
    let mut strong = whole.clone();
    // A lemma that is false everywhere: not(true).
    strong.chunks.insert(0, (Kind::Lemmas, vec![2, 1, 0]));
    assert!(matches!(rejected(&strong), Rejected::OtherClauses { .. }));
    let mut wrong = whole.clone();
    wrong.chunks.insert(0, (Kind::Lemmas, vec![2, 6, 99]));
    assert_eq!(rejected(&wrong), Rejected::Argument("a lemma is not written as one"));
    // Another argument, more claimed.
    let other = whole.replaced("\"argument\": \"invariant\"", "\"argument\": \"end\"");
    assert!(matches!(rejected(&other), Rejected::OtherClauses { .. } | Rejected::Argument(_)));
    let more = whole.replaced("\"no_deadlock\": false", "\"no_deadlock\": true");
    assert!(matches!(rejected(&more), Rejected::OtherClauses { .. } | Rejected::Missing { .. }));
}

/// Small enough, kanon-checker lists the states in the invariant, and believes no formula.
#[test]
fn small_invariants_are_enumerated() {
    let folder = Folder::new("enumerated-formulas");
    let (model, whole) = certificate(&folder, Engine::Ic3, Mutant::None);
    let checked = |parts: &Parts| {
        let bytes = parts.sealed();
        let part = kanon_checker::check::Part::WHOLE;
        kanon_checker::check(&model, &mut || Ok(&bytes[..]), part, crate::certificates::EFFORT)
    };
    let accepted = checked(&whole).expect("it is inductive");
    assert!(accepted.relative.is_empty() && accepted.statement.valuations == 3, "{accepted:?}");
    assert!(accepted.statement.states > 100 && accepted.transitions > 100, "{accepted:?}");
    // More is claimed, and true as well: blue states are deadlocks, and are not reached.
    let more = checked(&whole.replaced("\"no_deadlock\": false", "\"no_deadlock\": true"));
    assert!(more.expect("it is inductive").statement.states < accepted.statement.states);
    // What is claimed is not true, or is not inductive without a lemma.
    let statement = |from: &str, to: &str| checked(&whole.replaced(from, to)).expect_err("it is wrong");
    let why = statement("\"never\": null", "\"never\": { \"predicate\": \"n = 1\" }");
    assert!(matches!(&why, kanon_checker::Rejected::NotInductive { operation: Some(_), .. }), "{why}");
    let why = statement("\"never\": null", "\"never\": { \"predicate\": \"n = 0\" }");
    assert!(matches!(&why, kanon_checker::Rejected::NotInductive { operation: None, .. }), "{why}");
    let lemma = |text: &str| {
        let mut parts = whole.clone();
        let at = parts.statement.find("\"lemmas\": [").expect("lemmas") + "\"lemmas\": [".len();
        let comma = if parts.statement[at..].trim_start().starts_with(']') { "" } else { "," };
        parts.statement.insert_str(at, &format!("\"{text}\"{comma}"));
        checked(&parts)
    };
    assert!(lemma("1 = 1").is_ok());
    let why = lemma("1 = 2").expect_err("nothing is in it");
    assert!(matches!(&why, kanon_checker::Rejected::NotInductive { operation: None, .. }), "{why}");
    let why = lemma("n < 2").expect_err("up leads out of it");
    assert!(matches!(&why, kanon_checker::Rejected::NotInductive { operation: Some(op), .. } if op == "up"));
    assert!(lemma("no predicate").expect_err("it cannot be read").is_undecided());
    let why = statement("\"argument\": \"invariant\"", "\"argument\": \"end\"");
    assert!(why.is_undecided(), "{why}");
}

/// The bytes of the first step.
fn step_length(bytes: &[u8]) -> usize {
    let mut left = kanon_checker::codec::Bytes::new(bytes);
    left.number().expect("its number");
    for _ in 0..2 {
        for _ in 0..left.number().expect("a count") {
            left.number().expect("a number");
        }
    }
    bytes.len() - left.left().len()
}

/// The model is changed so that the invariant is wrong: with the statement made to fit it, the clauses do not.
#[test]
fn another_model_has_other_clauses() {
    let folder = Folder::new("other-formulas");
    for engine in [Engine::Ic3, Engine::KInduction] {
        let (model, whole) = certificate(&folder, engine, Mutant::None);
        let changed = COUNTER.replace("n + 1 < most", "n < most + 1");
        std::fs::write(&model, &changed).expect("a model");
        assert!(matches!(
            checked(&model, &whole.sealed()),
            Err(Rejected::Form(kanon_checker::Rejected::OtherFiles(_)))
        ));
        let file = |text: &str| kanon_checker::statement::File::of("Counter.mch", text);
        let (old, new) = (file(COUNTER), file(&changed));
        let fitted = whole
            .replaced(&old.blake3, &new.blake3)
            .replaced(&format!("\"bytes\": {}", old.bytes), &format!("\"bytes\": {}", new.bytes));
        assert!(matches!(checked(&model, &fitted.sealed()), Err(Rejected::OtherClauses { .. })));
    }
}

/// An encoder that is wrong in kanon and right in the checker: what it made the proof of are other clauses.
#[test]
fn a_wrong_encoder_is_found_out() {
    let folder = Folder::new("mutant-formulas");
    let model = folder.0.join("M.mch");
    let text = "MACHINE M VARIABLES f INVARIANT f : 1..3 +-> 1..3 & dom(f) <: 1..2
        INITIALISATION f := {} OPERATIONS set(x) = PRE x : 1..2 THEN f := f <+ {x |-> 3} END END";
    std::fs::write(&model, text).expect("a model");
    let certificate = folder.0.join("c.cert");
    let mut wrong = 0;
    for mutant in [Mutant::None, Mutant::OverrideIsUnion, Mutant::NothingOutside, Mutant::PartialIsTotal] {
        let task = Task { mutant, ..task(Engine::Ic3, &certificate) };
        let Some(bytes) = written(&model, &task, Duration::from_secs(600)) else { continue };
        match (checked(&model, &bytes), mutant) {
            (answer, Mutant::None) => assert!(answer.is_ok(), "{answer:?}"),
            (Err(Rejected::OtherClauses { .. }), _) => wrong += 1,
            // The mistake has nothing to say about this machine.
            (Ok(_), _) => {}
            (Err(why), _) => panic!("{mutant:?}: {why}"),
        }
    }
    assert!(wrong > 0);
}

/// Whatever the chunks are: nothing panics, and what is accepted is about a machine that holds, since the statement, the
/// model and so the questions stay what they are.
#[test]
fn random_proofs_do_not_panic() {
    let folder = Folder::new("random-formulas");
    let (model, whole) = certificate(&folder, Engine::KInduction, Mutant::None);
    let mut seed = 7u64;
    let mut random = |n: usize| {
        seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (seed >> 33) as usize % n.max(1)
    };
    let mut rejected = 0;
    for _ in 0..500 {
        let mut parts = whole.clone();
        let at = random(parts.chunks.len());
        let content = &mut parts.chunks[at].1;
        let place = random(content.len());
        match random(4) {
            0 if !content.is_empty() => content[place] ^= 1 << random(8),
            1 => content.insert(place, random(256) as u8),
            2 => content.truncate(place),
            _ => {
                parts.chunks.remove(at);
            }
        }
        rejected += usize::from(checked(&model, &parts.sealed()).is_err());
    }
    assert!(rejected > 400, "{rejected}");
}
