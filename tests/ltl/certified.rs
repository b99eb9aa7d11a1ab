//! Certificates of temporal formulas on machines: written to files, read again by kanon-checker, changed and rejected.

use crate::models::{header, models};
use crate::random::Rng;
use crate::support::random::{Choice, Generator, Machine as RandomMachine};
use crate::support::solved;
use crate::symmetry::{machines, property};
use kanon::certify;
use kanon::certify::ltl::Paths;
use kanon::ltl::atoms::Bound;
use kanon::ltl::machine::space;
use kanon::ltl::space::Limits;
use kanon::ltl::{Options, check, reduce};
use kanon::model::load::with_large_stack;
use kanon::model::reading::Reading;
use kanon::model::scope::ScopeArgs;
use kanon::run::Deadline;
use kanon::run::ltl::{Answered, Task, check_file};
use kanon::symmetry::{Action, MachineAction, Reducer, Strategy};
use kanon::system::{Machine, Stop};
use kanon::trace::export;
use kanon::verdict::Decision;
use kanon_checker::check::{Effort, Part, sizes};
use kanon_checker::container::{Kind, Reader, Writer};
use kanon_checker::ltl::check_formula;
use kanon_checker::ltl::proof::Wrong;
use kanon_checker::statement::{Claims, Constants, Goal, Statement};
use kanon_checker::{Accepted, Rejected, check as certified, check_trace};
use std::path::{Path, PathBuf};
use std::sync::Arc;

const EFFORT: Effort = Effort { root: 20_000_000, solved: 20_000_000, state: 2_000_000 };

/// A folder that goes away with its owner.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
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

/// Checks a formula; writes the certificate of one that holds, and the path of one that fails.
fn asked(path: &Path, scope: &ScopeArgs, formula: &str, symmetry: Strategy, folder: &Folder) -> Answered {
    let task = Task {
        formulas: vec![("f".into(), formula.into())],
        symmetry,
        certificate: Some(folder.0.join("f.cert")),
        ..Task::default()
    };
    let found = with_large_stack(|| {
        check_file(path, scope, &task, &Deadline::never()).map(|(project, mut answers)| {
            let answer = answers.remove(0);
            if let Some(shown) = answer.shown() {
                export::write(&folder.0.join("f.json"), shown, &project.opened).expect("a trace");
            }
            answer
        })
    });
    found.expect("a thread").unwrap_or_else(|r| panic!("{formula}: {:?}", r.diagnostics))
}

fn accepted(path: &Path, folder: &Folder) -> Result<Accepted, Rejected> {
    let file = folder.0.join("f.cert");
    with_large_stack(|| certified(path, &mut || std::fs::File::open(&file), Part::WHOLE, EFFORT))
        .expect("a thread")
}

fn refuted(path: &Path, folder: &Folder) -> Result<kanon_checker::Refuted, Rejected> {
    let text = std::fs::read_to_string(folder.0.join("f.json")).expect("a trace");
    with_large_stack(|| check_trace(path, &text, Reading::Kleene, EFFORT)).expect("a thread")
}

/// Every formula of our models: past, steps, instances, fairness of every kind, with and without reduction.
#[test]
fn formulas_of_models_are_certified_or_refuted() {
    let folder = Folder::new("formulas");
    let (mut holds, mut fails, mut reduced, mut undecided) = (0, 0, 0, vec![]);
    for path in models() {
        let text = std::fs::read_to_string(&path).expect("readable");
        let (card, expected) = header(&text);
        let scope = ScopeArgs { card, ..ScopeArgs::default() };
        for (_, formula) in &expected {
            for symmetry in [Strategy::Off, Strategy::Auto] {
                let answer = asked(&path, &scope, formula, symmetry, &folder);
                let what = format!("{}: {formula} with {symmetry}", path.display());
                let checked = match answer.verdict {
                    Decision::Holds => {
                        answer.certificate.expect("asked for").unwrap_or_else(|e| panic!("{what}: {e}"));
                        accepted(&path, &folder).map(|a| {
                            holds += 1;
                            reduced += usize::from(a.witnesses > 0);
                        })
                    }
                    Decision::Fails => refuted(&path, &folder).map(|_| fails += 1),
                    Decision::Unknown => panic!("{what}: {:?}", answer.reason),
                };
                match checked {
                    Ok(()) => {}
                    Err(why) if why.is_undecided() => undecided.push(format!("{what}: {why}")),
                    Err(why) => panic!("{what}: {why}"),
                }
            }
        }
    }
    println!("{holds} accepted ({reduced} with witnesses), {fails} refuted, {} undecided", undecided.len());
    assert!(holds > 100 && fails > 40 && reduced > 5, "{holds} {fails} {reduced}");
    assert!(undecided.is_empty(), "{undecided:#?}");
}

fn statement(system: &Machine, symmetry: Vec<String>, states: usize) -> String {
    let claims = Claims {
        invariant: false,
        assertions: false,
        no_deadlock: false,
        goal: Goal::Ignored,
        goal_text: None,
        formula: Some("f".into()),
    };
    let statement = Statement {
        kanon: "test".into(),
        files: vec![],
        machine: "M".into(),
        sets: sizes(&system.model, &system.scope),
        minint: system.scope.minint.clone(),
        maxint: system.scope.maxint.clone(),
        wd: "kleene".into(),
        constants: Constants::Enumerated,
        claims,
        symmetry,
        valuations: system.valuations() as u64,
        states: states as u64,
        formulas: None,
    };
    statement.json()
}

/// The certificate of a formula, if it holds.
fn written(system: &Arc<Machine>, bound: &Bound, strategy: Strategy) -> Option<Vec<u8>> {
    let stop = Stop::default();
    let group = reduce::group(system, bound, strategy).ok()?;
    let action: Arc<dyn Action> = Arc::new(MachineAction::new(system, group));
    let strategy = reduce::representatives(strategy);
    let is_moved = !action.group().is_trivial();
    let reducer = if is_moved { Reducer::new(&action, strategy, false) } else { None };
    let is_reduced = reducer.is_some();
    let limits = Limits { max_states: Some(300), ..Limits::default() };
    let mut seen = space(system, bound, reducer, limits, None, &stop);
    let options = Options { prove: true, ..Options::default() };
    let answer = check(&mut seen, &bound.property, &options).expect("a small formula");
    let proved = answer.proved?;
    let rows: Vec<Vec<u64>> =
        certify::ltl::states(&proved).into_iter().map(|s| seen.row(s).to_vec()).collect();
    let reduction = is_reduced.then_some((&action, strategy));
    let sets = reduction.map(|(a, _)| certify::sets(a.group(), &system.model)).unwrap_or_default();
    let statement = statement(system, sets, rows.len());
    let instances = seen.propositions().instances();
    let paths = Paths { property: &bound.property, proved: &proved, rows: &rows, instances: &instances };
    Some(
        certify::ltl::write(vec![], &statement, system, reduction, &paths, &stop).expect("it can be written"),
    )
}

/// Random machines: every Holds is accepted, whole and in parts, with and without reduction.
#[test]
fn formulas_of_random_machines_are_certified() {
    let (mut accepted, mut reduced, mut undecided) = (0, 0, 0);
    for seed in 0..machines() {
        let RandomMachine { model, mut scope, .. } = RandomMachine::new(seed, 8);
        scope.card[1] = 2 + seed % 2;
        let mut g = Generator::over(Choice::new(seed), model, scope);
        g.names = [1, u32::from(seed % 8 < 4)];
        let mut r = Rng(seed);
        let bounds: Vec<Bound> = (0..4).map(|_| property(&mut g, &mut r)).collect();
        let (model, scope) = (g.model, g.scope);
        let (system, setup) = solved(&model, &scope, 50, &Stop::default());
        if setup.fault.is_some() || setup.truncated.is_some() || setup.valuations == 0 {
            continue;
        }
        for bound in &bounds {
            for strategy in [Strategy::Off, Strategy::Canon] {
                let Some(bytes) = written(&system, bound, strategy) else { continue };
                let parts = [Part::WHOLE, Part { part: 0, of: 2 }, Part { part: 1, of: 2 }];
                let (model, scope) = (&system.model, &system.scope);
                let answers = parts
                    .map(|part| check_formula(model, scope, bound, &mut || Ok(&bytes[..]), part, EFFORT));
                match &answers {
                    [Ok(whole), Ok(one), Ok(two)] => {
                        accepted += 1;
                        reduced += u64::from(whole.witnesses > 0);
                        assert_eq!(whole.transitions, one.transitions + two.transitions);
                    }
                    [Err(why), ..] if why.is_undecided() => undecided += 1,
                    _ => panic!("seed {seed}, {strategy}, {}: {answers:?}", bound.property.formula),
                }
            }
        }
    }
    println!("{accepted} accepted, {reduced} of them with witnesses, {undecided} undecided");
    assert!(accepted > machines() / 4 && reduced > machines() / 20, "{accepted}, {reduced}, {undecided}");
    assert!(undecided <= accepted / 4, "{accepted} accepted, {undecided} undecided");
}

/// A certificate in its parts, to be changed and sealed again.
#[derive(Clone)]
struct Parts {
    statement: String,
    chunks: Vec<(Kind, Vec<u8>)>,
}

impl Parts {
    fn read(folder: &Folder) -> Parts {
        let bytes = std::fs::read(folder.0.join("f.cert")).expect("a certificate");
        let (mut reader, statement) = Reader::new(&bytes[..]).expect("a certificate");
        let mut chunks = vec![];
        while let Some(chunk) = reader.chunk().expect("a chunk") {
            chunks.push(chunk);
        }
        Parts { statement, chunks }
    }

    fn sealed(&self) -> Vec<u8> {
        let mut writer = Writer::new(vec![], &self.statement).expect("a head");
        self.chunks.iter().for_each(|(kind, content)| writer.chunk(*kind, content).expect("a chunk"));
        writer.seal().expect("a seal")
    }

    fn replaced(&self, from: &str, to: &str) -> Parts {
        assert!(self.statement.contains(from), "{from}");
        Parts { statement: self.statement.replacen(from, to, 1), ..self.clone() }
    }

    fn content(&mut self, kind: Kind) -> &mut Vec<u8> {
        &mut self.chunks.iter_mut().find(|(k, _)| *k == kind).expect("such a chunk").1
    }

    fn without(&self, kind: Kind) -> Parts {
        let mut parts = self.clone();
        parts.chunks.retain(|(k, _)| *k != kind);
        parts
    }
}

const TURNS: &str = "MACHINE turns SETS P VARIABLES on, was INVARIANT on <: P & was : {0, 1}
    INITIALISATION on := {} || was := 0
    OPERATIONS up(x) = PRE x : P & x /: on THEN on := on \\/ {x} || was := 1 END;
               down(x) = PRE x : on THEN on := on - {x} || was := 0 END;
               stay = skip END";

/// Files that are changed and sealed as if nothing had happened.
#[test]
fn changed_certificates_are_rejected_for_the_right_reason() {
    let folder = Folder::new("changed-formulas");
    let path = folder.0.join("turns.mch");
    std::fs::write(&path, TURNS).expect("a model");
    let scope = ScopeArgs { card: vec![("P".into(), 3)], ..ScopeArgs::default() };
    let formula = "WF(down) => G ({on = P} => F [down])";
    let answer = asked(&path, &scope, formula, Strategy::Canon, &folder);
    assert_eq!(answer.verdict, Decision::Holds);
    answer.certificate.expect("asked for").expect("written");
    let whole = Parts::read(&folder);
    let rejected = |parts: &Parts| {
        let bytes = parts.sealed();
        let found = with_large_stack(|| certified(&path, &mut || Ok(&bytes[..]), Part::WHOLE, EFFORT));
        found.expect("a thread")
    };
    let why = |parts: &Parts| rejected(parts).expect_err("it is wrong");
    let found = rejected(&whole).expect("nothing was changed");
    assert!(found.witnesses > 0 && found.nodes > found.statement.states);
    // Another formula, one without the premise, one that is weaker, one that cannot be read, none.
    let text = |to: &str| whole.replaced(formula, to);
    let other = why(&text("WF(down) => G ({on = P} => F [up])"));
    assert!(matches!(&other, Rejected::Node { .. }), "{other}");
    let unfair = why(&text("G ({on = P} => F [down])"));
    assert!(matches!(&unfair, Rejected::Node { why: Wrong::NoPremise { .. }, .. }), "{unfair}");
    let stronger = why(&text("WF(down) => G F [down]"));
    assert!(matches!(&stronger, Rejected::Node { .. } | Rejected::Malformed { .. }), "{stronger}");
    let unread = why(&text("G G G ("));
    assert!(matches!(&unread, Rejected::Model(m) if m.starts_with("the formula")), "{unread}");
    let current = why(&text("G current"));
    assert_eq!(current, Rejected::Statement("`current` is no state of the statement"));
    let none = why(&whole.replaced(&format!("\"formula\": \"{formula}\""), "\"formula\": null"));
    assert_eq!(none, Rejected::Statement("the proof is of another kind than what is claimed"));
    let more = why(&whole.replaced("\"invariant\": false", "\"invariant\": true"));
    assert_eq!(more, Rejected::Statement("a proof of a formula proves nothing else"));
    // A larger scope, other sets.
    let larger = why(&whole.replaced("\"size\": 3", "\"size\": 4"));
    assert!(!larger.is_undecided(), "{larger}");
    let named = why(&text("WF(down) => G ({on = P & P1 : P} => F [down])"));
    assert!(matches!(&named, Rejected::NoSymmetry { why, .. } if why.contains("which is named")), "{named}");
    let single = why(&text("WF(down(P1)) => G ({on = P} => F [down])"));
    assert!(matches!(&single, Rejected::NoSymmetry { .. }), "{single}");
    let instances = why(&text("WEF => G ({on = P} => F [down])"));
    assert!(matches!(&instances, Rejected::NoSymmetry { .. }), "{instances}");
    let unknown = why(&whole.replaced("\"P\"\n  ]", "\"Q\"\n  ]"));
    assert_eq!(unknown, Rejected::NoSet("Q".into()));
    // A run that was cut short: the last nodes, components, sets, states are missing.
    let states = found.statement.states;
    let cut = why(&whole.without(Kind::Nodes));
    assert_eq!(cut, Rejected::Counts { what: "states with nodes", claimed: states, found: 0 });
    for kind in [Kind::Components, Kind::Obligations] {
        assert!(matches!(why(&whole.without(kind)), Rejected::Malformed { .. }), "{kind:?}");
    }
    let cut = why(&whole.without(Kind::Initial));
    assert_eq!(cut, Rejected::Counts { what: "initial records", claimed: 1, found: 0 });
    // Claims of many billions: nothing is believed before it is there.
    for (kind, claim) in [
        (Kind::Nodes, &[0xff, 0xff, 0xff, 0xff, 0xff, 0x3f][..]),
        (Kind::Obligations, &[0xff, 0xff, 0xff, 0xff, 0x7f]),
        (Kind::Components, &[3, 0xff, 0xff, 0xff, 0xff, 0x7f]),
        (Kind::States, &[0, 0, 0, 0xff, 0xff, 0xff, 0xff, 0x7f]),
    ] {
        let mut huge = whole.clone();
        *huge.content(kind) = claim.to_vec();
        assert!(matches!(why(&huge), Rejected::Malformed { .. }), "{kind:?}: {}", why(&huge));
    }
    // Every byte of the proof, one at a time, to every small number: what is accepted is another proof of the same
    // statement, which is true: it was accepted as it was.
    let mut reasons = std::collections::BTreeMap::<&str, usize>::new();
    for kind in [Kind::States, Kind::Obligations, Kind::Components, Kind::Nodes] {
        for at in 0..whole.clone().content(kind).len() {
            for to in 0..6 {
                let mut parts = whole.clone();
                parts.content(kind)[at] = to;
                let reason = match rejected(&parts) {
                    Ok(_) => "accepted",
                    Err(Rejected::WitnessLeadsNowhere { .. }) => "nowhere",
                    Err(Rejected::NoSymmetry { .. }) => "symmetry",
                    Err(Rejected::MissingSuccessor { .. }) => "successor",
                    Err(Rejected::Node { why: Wrong::NoNode { .. }, .. }) => "node",
                    Err(Rejected::Node { why: Wrong::Kept { .. }, .. }) => "kept",
                    Err(Rejected::Node { why: Wrong::Fair { .. }, .. }) => "fair",
                    Err(Rejected::Node { why: Wrong::Rises { .. }, .. }) => "rises",
                    Err(Rejected::Node { why: Wrong::Stays { .. }, .. }) => "stays",
                    Err(_) => "other",
                };
                *reasons.entry(reason).or_default() += 1;
            }
        }
    }
    println!("{reasons:?}");
    for reason in ["nowhere", "symmetry", "successor", "node", "rises", "stays", "accepted"] {
        assert!(reasons.contains_key(reason), "{reason}: {reasons:?}");
    }
}

/// Atoms and operations without a value: never accepted.
#[test]
fn what_has_no_value_is_not_accepted() {
    let folder = Folder::new("undefined-formulas");
    let path = folder.0.join("turns.mch");
    std::fs::write(&path, TURNS).expect("a model");
    let scope = ScopeArgs { card: vec![("P".into(), 2)], ..ScopeArgs::default() };
    let answer = asked(&path, &scope, "G ({was = 1} => O [up])", Strategy::Off, &folder);
    assert_eq!(answer.verdict, Decision::Holds);
    let whole = Parts::read(&folder);
    // The same shape, and an atom without a value in the first state.
    let bytes = whole.replaced("{was = 1}", "{1 / was = 1}").sealed();
    let why = with_large_stack(|| certified(&path, &mut || Ok(&bytes[..]), Part::WHOLE, EFFORT));
    let why = why.expect("a thread").expect_err("it is wrong");
    assert!(matches!(&why, Rejected::Undefined { .. }), "{why}");
}

/// Paths that are no counterexamples: of another machine, of another formula, with a loop that does not close.
#[test]
fn changed_paths_are_rejected() {
    let folder = Folder::new("paths");
    let path = folder.0.join("turns.mch");
    std::fs::write(&path, TURNS).expect("a model");
    let scope = ScopeArgs { card: vec![("P".into(), 2)], ..ScopeArgs::default() };
    let formula = "G ([up] => F [down])";
    let answer = asked(&path, &scope, &format!("WF(down) => {formula}"), Strategy::Auto, &folder);
    assert_eq!(answer.verdict, Decision::Holds, "{:?}", answer.reason);
    let formula = "G F {on = P}";
    let answer = asked(&path, &scope, formula, Strategy::Auto, &folder);
    assert_eq!(answer.verdict, Decision::Fails);
    let file = folder.0.join("f.json");
    let text = std::fs::read_to_string(&file).expect("a trace");
    let ask = |text: &str| {
        with_large_stack(|| check_trace(&path, text, Reading::Kleene, EFFORT)).expect("a thread")
    };
    let found = ask(&text).expect("nothing was changed");
    assert!(found.wrong[0].contains(formula), "{:?}", found.wrong);
    // True on this path: a finally, and the same under a premise that the path does not fulfil.
    assert_eq!(ask(&text.replace(formula, "F {on = {}}")), Err(Rejected::Fulfils));
    let unfair = "SF(up(P2)) & SF(up(P1)) => G F {on = P}";
    let unfair = ask(&text.replace(formula, unfair));
    assert!(matches!(unfair, Ok(_) | Err(Rejected::Fulfils)), "{unfair:?}");
    let place = text.lines().find(|l| l.contains("\"loop\":")).expect("a loop");
    for to in ["\"loop\": 77,", "\"loop\": 4000000000000,"] {
        let why = ask(&text.replace(place.trim(), to)).expect_err("no such state");
        assert!(matches!(&why, Rejected::Trace { .. }), "{why}");
    }
    let why = ask(&text.replace(place.trim(), "\"loop\": null,")).expect_err("it could go on");
    assert!(matches!(&why, Rejected::Trace { why, .. } if why.contains("could go on")), "{why}");
    let why = ask(&text.replace("\"formula\"", "\"formulae\"")).expect_err("no formula");
    assert!(matches!(&why, Rejected::Trace { step: 0, .. }), "{why}");
}

/// The example of docs/certificate.md, byte by byte.
#[test]
fn the_example_of_the_document() {
    let folder = Folder::new("example-formula");
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("models/ltl/Robot.mch");
    let answer = asked(&path, &ScopeArgs::default(), "G not deadlock", Strategy::Auto, &folder);
    assert_eq!(answer.verdict, Decision::Holds);
    let document = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/certificate.md");
    let document = std::fs::read_to_string(document).expect("readable");
    let mut expected: Vec<(u8, Vec<u8>)> = vec![];
    let example = document.split("An example: `kanon ltl").nth(1).expect("the example");
    for line in example.lines().skip_while(|l| !l.starts_with("    ")).take_while(|l| l.starts_with("    ")) {
        let mut words = line.split_whitespace().peekable();
        if words.next_if_eq(&"kind").is_some() {
            expected.push((words.next().and_then(|k| k.parse().ok()).expect("a kind"), vec![]));
        }
        let is_byte = |w: &&str| w.len() == 2 && u8::from_str_radix(w, 16).is_ok();
        let bytes = words.take_while(is_byte).filter_map(|w| u8::from_str_radix(w, 16).ok());
        expected.last_mut().expect("a kind comes first").1.extend(bytes);
    }
    let found: Vec<(u8, Vec<u8>)> =
        Parts::read(&folder).chunks.into_iter().map(|(kind, content)| (kind as u8, content)).collect();
    assert_eq!(found, expected);
}
