//! What the fuzz targets do with their bytes. Written once: `fuzz_targets/` runs it under libFuzzer,
//! `tests/fuzz` under a mutation fuzzer of its own. A failure is a panic, an abort, or no end.

#![allow(dead_code)]

#[path = "formulas.rs"]
mod formulas;
#[path = "../tests/language/trees/plain.rs"]
mod plain;
#[path = "proofs.rs"]
mod proofs;
#[path = "traces.rs"]
mod traces;

use kanon::explore::{self, Options};
use kanon::lang::ast::Machine;
use kanon::lang::b::{Parsed, parse_text};
use kanon::lang::diag::{Diagnostic, SourceMap};
use kanon::lang::eventb::convert::{Form, Output, convert};
use kanon::lang::eventb::math::lex::At;
use kanon::lang::eventb::math::parse as formula;
use kanon::lang::eventb::math::write::{self, For};
use kanon::lang::eventb::open::{Opened, open_file};
use kanon::lang::eventb::rodin::archive;
use kanon::lang::print;
use kanon::model::load::{load_text, with_large_stack};
use kanon::model::scope::{ScopeArgs, scope};
use kanon::model::{Model, SetId};
use kanon::report::diagnostic;
use kanon::run::other::{self, Asked, Guide, Language};
use kanon::run::{Deadline, csp};
use kanon::symmetry::Strategy;
use kanon::symmetry::{Action, MachineAction};
use kanon::system::{self, Check};
use kanon::trace::{Trace, rebuild, replay};
use kanon::value::Scope;
use kanon::verdict::{Decision, Verdict};
use kanon::xtl::{Answer, Program, Read, XtlSystem, read as read_answer};
use kanon_checker::check::{Effort, Part, check_model, sizes};
use kanon_checker::container::{Kind, Writer};
use kanon_checker::statement::{Claims, Constants, Goal, Statement};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::channel;
use std::time::Duration;

/// How long constants and states are looked for.
const PATIENCE: Duration = Duration::from_millis(150);
const MAX_VALUATIONS: usize = 100;
const MAX_STATES: usize = 40;

/// How many inputs got beyond the front-end.
pub static REACHED: AtomicU64 = AtomicU64::new(0);

/// A text is refused with a reason, or printed and read again as the same tree.
pub fn parse(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    deep(|| {
        let Some((first, is_expanded)) = read(&text) else { return };
        REACHED.fetch_add(1, Ordering::Relaxed);
        let printed = print::machine(&first);
        let Some((second, _)) = read(&printed) else {
            // A definition may put a tree where no text has one, `{1} := 2`; the type checker says so.
            assert!(is_expanded, "printed, but not read again:\n{printed}");
            return;
        };
        assert!(is_expanded || first == second, "read as another tree:\n{printed}");
        assert_eq!(print::machine(&second), printed, "printed differently after reading");
    });
}

/// A text of Event-B in any of its forms is refused with a reason, or written in all forms and read again as something
/// that is written in the same way. What looks like XML is taken for a machine of Rodin's, and an archive for that.
pub fn eventb(bytes: &[u8]) {
    if bytes.starts_with(b"PK") {
        // Its files are read below when they are given as such.
        let _ = archive::read(bytes);
        return;
    }
    let text = String::from_utf8_lossy(bytes);
    let ending = match text.trim_start().starts_with('<') {
        true if text.contains("contextFile") => "buc",
        true => "bum",
        false => "eventb",
    };
    let loaded = load_text(&format!("fuzzed/M.{ending}"), &text);
    show(&loaded.sources, &loaded.diagnostics);
    let is_refused = loaded.diagnostics.iter().any(Diagnostic::is_error);
    assert!(loaded.model.is_some() || is_refused, "refused without a reason");
    deep(|| {
        text.lines().for_each(one_formula);
        // Packages may hold anything where formulas belong; what has types is written and read.
        if loaded.model.is_none() {
            return;
        }
        let mut sources = SourceMap::default();
        let opened = open_text(&mut sources, &format!("fuzzed/M.{ending}"), &text);
        if opened.has_errors() {
            return;
        }
        REACHED.fetch_add(1, Ordering::Relaxed);
        for form in Form::ALL {
            let Ok(Output::File(first)) = convert(&opened.project, form, "p", true) else { continue };
            if form == Form::Rodin {
                let entries = archive::read(&first).expect("our own archive");
                for entry in entries.iter().filter(|e| e.name.ends_with(".bum") || e.name.ends_with(".buc")) {
                    let mut sources = SourceMap::default();
                    let again = open_text(&mut sources, &format!("fuzzed/{}", entry.name), &entry.text);
                    // What it refers to is not here.
                    let wrong =
                        again.diagnostics.iter().find(|d| d.is_error() && !d.code.starts_with("B021"));
                    assert!(wrong.is_none(), "{wrong:?} in\n{}", entry.text);
                }
                continue;
            }
            let written = String::from_utf8_lossy(&first);
            let mut sources = SourceMap::default();
            let again = open_text(&mut sources, "fuzzed/again.eventb", &written);
            assert!(!again.has_errors(), "{:?} in\n{written}", again.diagnostics);
            let Ok(Output::File(second)) = convert(&again.project, form, "p", true) else {
                panic!("written once only:\n{written}")
            };
            assert_eq!(String::from_utf8_lossy(&second), written, "written differently after reading");
        }
    });
}

/// A script of CSP-M is refused with a reason, or its assertions have answers and its `MAIN` is explored, alone and guiding
/// the machine that its first comment names, in `folder`.
pub fn process(bytes: &[u8], folder: &str) {
    let text = String::from_utf8_lossy(bytes);
    let script = std::env::temp_dir().join(format!("kanon-fuzz-{}.csp", std::process::id()));
    if std::fs::write(&script, &*text).is_err() {
        return;
    }
    let deadline = Deadline::after(Some(PATIENCE));
    if let Ok(asserted) = csp::check(&script, MAX_STATES, &deadline.flag) {
        asserted.claims.iter().for_each(|c| assert!(!c.text.is_empty()));
    }
    let guided = text.lines().find_map(|l| l.strip_prefix("-- guides:"));
    let guide = Guide { script: script.clone(), ..Guide::default() };
    let options = Options { max_states: Some(MAX_STATES), all: true, ..Options::default() };
    let machine = guided.map(|name| std::path::Path::new(folder).join(name.trim()));
    let asked = [
        Some((script.clone(), Language::Csp, Asked::default())),
        machine.map(|m| (m, Language::Guided, Asked { guide: Some(guide), ..Asked::default() })),
    ];
    for (file, language, asked) in asked.into_iter().flatten() {
        let deadline = Deadline::after(Some(PATIENCE));
        let model = match other::open(&file, language, &asked, &deadline) {
            Ok(model) => model,
            Err(refused) => {
                assert!(refused.diagnostics.iter().any(Diagnostic::is_error), "refused without a reason");
                show(&refused.sources, &refused.diagnostics);
                continue;
            }
        };
        REACHED.fetch_add(1, Ordering::Relaxed);
        if let Ok(checked) = model.check(&options, &deadline, &mut |_| {}) {
            assert!(checked.verdict != Decision::Holds || checked.complete, "it holds, and was not explored");
        }
        let deadline = Deadline::after(Some(PATIENCE));
        if let Ok(states) = model.states(MAX_STATES, &deadline) {
            let inside = |(from, to, _): &(usize, usize, Vec<String>)| {
                *from < states.nodes.len() && *to < states.nodes.len()
            };
            assert!(states.edges.iter().all(inside), "an edge without an end");
        }
    }
    let _ = std::fs::remove_file(&script);
}

/// A specification of Z in either markup is refused with a reason, or its first states are explored.
pub fn z(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    for name in ["fuzzed/M.tex", "fuzzed/M.zed"] {
        let loaded = load_text(name, &text);
        show(&loaded.sources, &loaded.diagnostics);
        let Some(model) = &loaded.model else {
            assert!(loaded.diagnostics.iter().any(Diagnostic::is_error), "refused without a reason");
            continue;
        };
        REACHED.fetch_add(1, Ordering::Relaxed);
        for sizes in [own_sizes(model), small_sizes(model)].into_iter().flatten() {
            deep(|| run(model, &sizes));
        }
    }
}

/// A net is refused with a reason, or its first markings are explored, as they are and one per orbit: the two agree where
/// both come to an end. What its first comment asks (`ltl holds: G {p = 1}`) is asked; each atom is a condition, too.
pub fn net(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let file = std::env::temp_dir().join(format!("kanon-fuzz-{}.pnml", std::process::id()));
    if std::fs::write(&file, bytes).is_err() {
        return;
    }
    let asks = text.lines().filter_map(|l| l.strip_prefix("ltl ")?.split_once(": "));
    let formulas: Vec<(String, String)> = asks.map(|(_, f)| ("formula".into(), f.into())).take(3).collect();
    let goal = text.split_once('{').and_then(|(_, rest)| rest.split_once('}')).map(|(g, _)| g.to_string());
    let all = [
        Asked::default(),
        Asked { goal, ..Asked::default() },
        Asked { formulas: formulas.clone(), ..Asked::default() },
    ];
    for asked in all {
        let deadline = Deadline::after(Some(PATIENCE));
        let model = match other::open(&file, Language::Net, &asked, &deadline) {
            Ok(model) => model,
            Err(refused) => {
                assert!(refused.diagnostics.iter().any(Diagnostic::is_error), "refused without a reason");
                show(&refused.sources, &refused.diagnostics);
                continue;
            }
        };
        REACHED.fetch_add(1, Ordering::Relaxed);
        let mut whole = vec![];
        for symmetry in [Strategy::Off, Strategy::Canon] {
            let options =
                Options { max_states: Some(10 * MAX_STATES), all: true, symmetry, ..Options::default() };
            let deadline = Deadline::after(Some(PATIENCE));
            let Ok(checked) = model.check(&options, &deadline, &mut |_| {}) else { continue };
            assert!(checked.verdict != Decision::Holds || checked.complete, "it holds, and was not explored");
            if checked.complete {
                whole.push((checked.verdict, checked.counts.states, checked.counts.deadlocks));
            }
            for formula in &asked.formulas {
                let _ = model.ltl(formula, &options, &Deadline::after(Some(PATIENCE)));
            }
        }
        if let [(plain, states, deadlocks), (reduced, orbits, ended)] = whole[..] {
            assert_eq!(plain, reduced, "symmetry changes the answer");
            let fewer = orbits <= states && ended <= deadlocks && (orbits == 0) == (states == 0);
            assert!(fewer, "{states} states in {orbits} orbits, {deadlocks} deadlocks in {ended}");
        }
        for text in asked.goal.iter() {
            let _ = model.eval(text);
        }
    }
    let _ = std::fs::remove_file(&file);
}

/// Bytes as what the Prolog process says: frames are read one after the other to the end, or to what is none, and no
/// beginning of a frame is another frame. A system whose process has said so much has a state graph or says why not.
pub fn answers(bytes: &[u8]) {
    let (mut at, mut ends) = (0, 0);
    while let Read::Frame(answer, used) = read_answer(&bytes[at..]) {
        ends += usize::from(answer == Answer::End);
        assert!(used > 0 && used <= bytes.len() - at, "a frame of {used} bytes");
        for n in 0..used.min(64) {
            assert_eq!(read_answer(&bytes[at..at + n]), Read::More, "{:?}", &bytes[at..at + n]);
        }
        at += used;
        REACHED.fetch_add(1, Ordering::Relaxed);
    }
    let heard = |asked: bool| {
        // With properties both kinds of answers have to come in the order of the questions.
        let checks = if asked { vec![Check::goal("found"), Check::invariant("unsafe")] } else { vec![] };
        let system = XtlSystem::new(Program::heard(bytes.to_vec()), checks, vec!["a".into()]);
        let options =
            Options { max_states: Some(MAX_STATES), all: true, deadlock: asked, ..Options::default() };
        let none: Option<&Arc<dyn Action>> = None;
        kanon::run::system::check(&system, none, &options).expect("they go together")
    };
    for asked in [false, true] {
        let answer = heard(asked);
        let states = answer.counts.states;
        assert!(!answer.verdict.holds() || (0 < states && states < ends), "it holds, and nobody said so");
    }
}

/// Bytes as a certificate, and as the states of one that is sealed: rejected with a reason, or accepted. What is claimed is
/// true, so that nothing that is accepted is wrong.
pub fn certificate(bytes: &[u8]) {
    const TEXT: &str =
        "MACHINE m SETS S VARIABLES s, n INVARIANT s <: S & n : 0..3 INITIALISATION s := {} || n := 0
        OPERATIONS put(x) = PRE x : S - s & n < 3 THEN s := s \\/ {x} || n := n + 1 END;
                   clear = BEGIN s := {} || n := 0 END END";
    let model = load_text("fuzzed/m.mch", TEXT).model.expect("our own model");
    let scope = scope(&model, &ScopeArgs::default()).expect("sizes").0;
    let effort = Effort { root: 100_000, solved: 100_000, state: 100_000 };
    let checked = |bytes: &[u8]| check_model(&model, &scope, None, &mut || Ok(bytes), Part::WHOLE, effort);
    let _ = checked(bytes);
    let states = u64::from(bytes.first().copied().unwrap_or_default());
    let claims = Claims {
        invariant: true,
        assertions: true,
        no_deadlock: true,
        goal: Goal::Ignored,
        goal_text: None,
        formula: None,
    };
    let statement = Statement {
        kanon: "fuzzed".into(),
        files: vec![],
        machine: "m".into(),
        sets: sizes(&model, &scope),
        minint: scope.minint.clone(),
        maxint: scope.maxint.clone(),
        wd: "kleene".into(),
        constants: Constants::Enumerated,
        claims,
        symmetry: if states.is_multiple_of(2) { vec![] } else { vec!["S".into()] },
        valuations: 1,
        states,
        formulas: None,
    };
    let mut writer = Writer::new(vec![], &statement.json()).expect("memory");
    let rest = bytes.get(1..).unwrap_or_default();
    for (kind, content) in [(Kind::Valuations, &[0][..]), (Kind::Initial, &[0]), (Kind::States, rest)] {
        writer.chunk(kind, content).expect("memory");
    }
    if checked(&writer.seal().expect("memory")).is_ok() {
        REACHED.fetch_add(1, Ordering::Relaxed);
    }
}

/// Bytes as changes of a proof of a temporal formula: rejected with a reason, or accepted where the formula holds.
pub fn formula(bytes: &[u8]) {
    if deep(|| formulas::changed(bytes)) {
        REACHED.fetch_add(1, Ordering::Relaxed);
    }
}

/// Bytes as a proof by formulas of a false claim: rejected with a reason.
pub fn proof(bytes: &[u8]) {
    if deep(|| proofs::read(bytes)) {
        REACHED.fetch_add(1, Ordering::Relaxed);
    }
}

/// Bytes as changes of a counterexample: rejected with a reason, or accepted of a machine that fails.
pub fn trace(bytes: &[u8]) {
    if deep(|| traces::changed(bytes)) {
        REACHED.fetch_add(1, Ordering::Relaxed);
    }
}

fn open_text(sources: &mut SourceMap, name: &str, text: &str) -> Opened {
    let file = sources.add(name, text);
    let opened = open_file(sources, file, None);
    show(sources, &opened.diagnostics);
    opened
}

/// A line as a formula, behind its label.
fn one_formula(line: &str) {
    let line = line.trim();
    let line = match line.strip_prefix('@') {
        Some(rest) => rest.split_once(' ').map_or("", |(_, formula)| formula),
        None => line,
    };
    let at = At::File(kanon::lang::diag::FileId(0), 0);
    for read in [formula::predicate, formula::expression] {
        let Ok(e) = read(line, at) else { continue };
        let Ok(written) = write::formula(&e, For::People) else { continue };
        let again = read(&written, at).unwrap_or_else(|e| panic!("{line}\n{written}\n{}", e.message));
        assert_eq!(write::formula(&again, For::People).as_ref(), Ok(&written), "{line}");
    }
    let _ = formula::action(line, at);
}

/// The tree without its places, and whether definitions were expanded in it.
fn read(text: &str) -> Option<(Machine, bool)> {
    let mut sources = SourceMap::default();
    let Parsed { machine, diagnostics, definitions } = parse_text(&mut sources, "fuzzed.mch", text);
    show(&sources, &diagnostics);
    assert!(machine.is_some() || !diagnostics.is_empty(), "refused without a reason");
    let mut machine = machine?;
    plain::machine(&mut machine);
    Some((machine, !definitions.is_empty()))
}

/// Every diagnostic can be shown, and none of them is about a bug of ours.
fn show(sources: &SourceMap, diagnostics: &[Diagnostic]) {
    for d in diagnostics {
        assert!(d.code != "B0199", "{}", d.message);
        assert!(!diagnostic::render(d, sources, false).is_empty());
    }
}

fn deep<R: Send>(f: impl FnOnce() -> R + Send) -> R {
    with_large_stack(f).unwrap_or_else(|e| panic!("no thread: {e}"))
}

/// A text is refused with a reason, or its first states are explored; what is found has a trace that runs.
/// The machine is taken to stand in `folder`, so that others which it sees are found.
pub fn check(bytes: &[u8], folder: &str) {
    let text = String::from_utf8_lossy(bytes);
    let loaded = load_text(&format!("{folder}/fuzzed.mch"), &text);
    show(&loaded.sources, &loaded.diagnostics);
    let Some(model) = &loaded.model else {
        assert!(loaded.diagnostics.iter().any(Diagnostic::is_error), "refused without a reason");
        return;
    };
    REACHED.fetch_add(1, Ordering::Relaxed);
    for sizes in [own_sizes(model), small_sizes(model)].into_iter().flatten() {
        deep(|| run(model, &sizes));
    }
}

/// What the model says of its sizes.
fn own_sizes(model: &Model) -> Option<Scope> {
    let sizes = scope(model, &ScopeArgs::default()).map(|(scope, _)| scope);
    sizes.ok().filter(|s| s.card.iter().all(|n| *n <= 6))
}

fn small_sizes(model: &Model) -> Option<Scope> {
    let deferred =
        (0..model.sets.len()).map(|i| SetId(i as u32)).filter(|s| model.sets[s.index()].elements.is_none());
    let card = deferred.map(|s| (model.sets[s.index()].name.to_string(), 1 + u64::from(s.0 % 2))).collect();
    let (minint, maxint) = (Some((-1).into()), Some(2.into()));
    let args = ScopeArgs { card, minint, maxint, setsize: Some(2), ..ScopeArgs::default() };
    scope(model, &args).ok().map(|(scope, _)| scope)
}

fn run(model: &Model, sizes: &Scope) {
    let (stop, _clock) = timer();
    let mut system = system::Machine::new(model.clone(), sizes.clone());
    let setup = system.setup(MAX_VALUATIONS, &stop);
    let system = Arc::new(system);
    if setup.valuations == 0 {
        return;
    }
    for v in 0..setup.valuations {
        system.constant_values(v);
    }
    let name = model.name.len();
    let symmetry = Strategy::ALL[name / 2 % Strategy::ALL.len()];
    let options =
        Options { max_states: Some(MAX_STATES), all: name % 2 == 1, symmetry, ..Options::default() };
    let action: Arc<dyn Action> = Arc::new(MachineAction::of(&system));
    let explored =
        explore::explore(&*system, Some(&action), &options, &stop, &mut |_| {}).expect("they go together");
    for id in 0..explored.store.len() as explore::StateId {
        system.variable_values(&explored.store.row(id));
    }
    // What was cut short cannot be asked to come back.
    if let Verdict::Fails(f) = &explored.verdict
        && let Some(state) = f.state
        && !stop.load(Ordering::Relaxed)
    {
        let path = rebuild::rebuild(&*system, Some(&action), &explored, state);
        let ran = path.and_then(|path| replay::confirm(&system, &Trace::of(&system, &path)));
        assert!(ran.is_ok() || stop.load(Ordering::Relaxed), "{} found, but {ran:?}", f.kind.name());
    }
}

/// A flag that is raised when the patience ends. The clock ends with what is returned beside it.
fn timer() -> (Arc<AtomicBool>, std::sync::mpsc::Sender<()>) {
    let stop = Arc::new(AtomicBool::new(false));
    let (sender, receiver) = channel::<()>();
    let flag = stop.clone();
    std::thread::spawn(move || {
        // Nothing is ever sent: either the time passes or the sender is gone.
        let _ = receiver.recv_timeout(PATIENCE);
        flag.store(true, Ordering::Relaxed);
    });
    (stop, sender)
}
