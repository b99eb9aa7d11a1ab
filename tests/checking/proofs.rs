//! `--proof-info`: what a file says is proved is not evaluated, and only that; an audit evaluates it all the same.

use crate::eventb::{EVENT, Event, INIT, machine, package};
use kanon::explore::Options;
use kanon::explore::audit::Audit;
use kanon::model::scope::ScopeArgs;
use kanon::run::answer::{Checked, Decision};
use kanon::run::symbolic::{self, Answered, Backend, Engine};
use kanon::run::{Deadline, Project, Task, check_file};
use kanon::symmetry::Strategy;

/// x goes up from 0 as long as `guard` allows; `inv1` says that it is at most 3 and `inv2` nothing of interest.
fn counter(guard: &str, obligations: &str) -> String {
    let up = Event { name: "up", guards: guard, actions: "assign(~[$x],[add(~$x,#1)])", ..EVENT };
    let down = Event { name: "down", guards: "less(~#0,$x)", actions: "assign(~[$x],[#0])", ..EVENT };
    let init = Event { actions: "assign(~[$x],[#0])", ..INIT };
    let invariants = "member(rodinpos('M',inv1,x),$x,interval(~#0,#3)),\
                      member(rodinpos('M',inv2,x),$x,integer_set(none))";
    package(&[machine("M", "", "$x", invariants, &[init, up, down])], &[], obligations)
}

const UP: &str = "po('M','Invariant  preservation',[event('up'),invariant('inv1')],true)";

/// Writes a package and checks it.
fn checked(name: &str, text: &str, task: &Task) -> Result<Checked, String> {
    let folder = std::env::temp_dir().join(format!("kanon-proofs-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let path = folder.join(format!("{name}.eventb"));
    std::fs::write(&path, text).expect("a file");
    let found = check_file(&path, &ScopeArgs::default(), task, &Deadline::never());
    let _ = std::fs::remove_file(&path);
    let _ = std::fs::remove_dir(&folder);
    found.map(|(_, c)| c).map_err(|r| r.diagnostics.first().map_or(String::new(), |d| d.message.clone()))
}

fn relying() -> Task {
    let mut task = Task { proof_info: true, ..Task::default() };
    (task.options.max_states, task.options.deadlock) = (Some(1_000), false);
    task
}

#[test]
fn what_is_proved_is_not_evaluated_and_the_answer_says_so() {
    let text = counter("less(~$x,#3)", UP);
    let found = checked("true", &text, &relying()).expect("an answer");
    assert_eq!((found.verdict, found.counts.states), (Decision::Holds, 4));
    assert_eq!(found.rests_on, ["M/up/inv1/INV"]);
    assert!(found.notes.iter().any(|n| n.contains("rests on a proof obligation")), "{:?}", found.notes);
    let plain = checked("plain", &text, &Task::default()).expect("an answer");
    assert_eq!((plain.verdict, plain.counts.states, plain.rests_on.len()), (Decision::Holds, 4, 0));
}

/// The file says something wrong: who relies on it is wrong with it, and an audit names it.
#[test]
fn an_audit_names_proofs_that_are_wrong() {
    let text = counter("less(~$x,#5)", UP);
    let found = checked("relied", &text, &relying()).expect("an answer");
    assert_eq!((found.verdict, found.counts.states), (Decision::Holds, 6), "nobody looked");
    let task = Task { audit: Some(Audit::default()), ..relying() };
    let found = checked("audited", &text, &task).expect("an answer");
    assert_eq!(found.verdict, Decision::Fails);
    let said = "the file says that this cannot happen: M/up/inv1/INV is discharged there";
    assert!(found.notes.iter().any(|n| n == said), "{:?}", found.notes);
    assert!(found.rests_on.is_empty());
}

/// Each of these leaves the conjunct to be evaluated, so that the violation is found.
#[test]
fn nothing_but_what_is_discharged_counts() {
    let wrong = |obligations: &str| {
        let found = checked("unproved", &counter("less(~$x,#5)", obligations), &relying());
        found.expect("an answer").verdict
    };
    let about = |what: &str, about: &str, is: bool| format!("po('M','{what}',[{about}],{is})");
    let (inv, wd) = ("Invariant  preservation", "Well-definedness of Invariant");
    for (why, obligations) in [
        ("not discharged", about(inv, "event('up'),invariant('inv1')", false)),
        ("of another event", about(inv, "event('down'),invariant('inv1')", true)),
        ("of an abstract event with this name", about(inv, "event('up'),event('x'),invariant('inv1')", true)),
        ("of another invariant", about(inv, "event('up'),invariant('inv2')", true)),
        ("of another machine", UP.replace("'M'", "'N'")),
        (
            "about initial states",
            about("Invariant  establishment", "event('INITIALISATION'),invariant('inv1')", true),
        ),
        (
            "of two forms, one of them open",
            format!("{UP},{}", about(inv, "event('up'),invariant('inv1')", false)),
        ),
        ("it may have no value", format!("{UP},{}", about(wd, "invariant('inv1')", false))),
        ("a label alone", "discharged('M','inv1')".to_string()),
    ] {
        assert_eq!(wrong(&obligations), Decision::Fails, "{why}");
    }
    // What does count, so that the list above is not one of misspellings.
    for obligations in [
        UP.to_string(),
        "discharged('M','up','inv1')".into(),
        format!("{UP},{}", about(wd, "invariant('inv1')", true)),
    ] {
        assert_eq!(wrong(&obligations), Decision::Holds, "{obligations}");
    }
}

/// The older form of packages says nothing about well-definedness: there only formulas count that always have a value.
#[test]
fn a_formula_that_may_have_no_value_is_evaluated_in_older_packages() {
    let text = |obligations: &str| {
        let up =
            Event { name: "up", guards: "less(~$x,#5)", actions: "assign(~[$x],[add(~$x,#1)])", ..EVENT };
        let init = Event { actions: "assign(~[$x],[#0])", ..INIT };
        let partial = "less(rodinpos('M',inv1,x),div(~#6,minus(~#6,$x)),#3)";
        package(&[machine("M", "", "$x", partial, &[init, up])], &[], obligations)
    };
    let verdict = |o: &str| checked("partial", &text(o), &relying()).expect("an answer").verdict;
    assert_eq!(verdict("discharged('M','up','inv1')"), Decision::Fails);
    assert_eq!(verdict(UP), Decision::Holds, "no obligation about its value: it is trivial");
}

/// What is proved of an abstract event is true of those that refine it, and of nothing else.
#[test]
fn facts_go_down_the_levels() {
    let below = |refines: &str, obligations: &str| {
        let e = |name, up| Event { name, guards: "less(~$x,#5)", actions: up, ..EVENT };
        let up = "assign(~[$x],[add(~$x,#1)])";
        let init = |refines| Event { actions: "assign(~[$x],[#0])", refines, ..INIT };
        let inv = "member(rodinpos('M',inv1,x),$x,interval(~#0,#3))";
        let top = machine("M", "", "$x", inv, &[init(""), e("up", up), e("up2", up)]);
        let event = Event { refines, ..e("go", up) };
        let low = machine("R", "M", "$x", "", &[init("'INITIALISATION'"), event]);
        let found =
            checked("levels", &package(&[low, top], &[], obligations), &relying()).expect("an answer");
        (found.verdict, found.rests_on)
    };
    let one = ("po('M','Invariant  preservation',[event('up'),invariant('inv1')],true)", "M/up/inv1/INV");
    let two = ("po('M','Invariant  preservation',[event('up2'),invariant('inv1')],true)", "M/up2/inv1/INV");
    assert_eq!(below("up", one.0), (Decision::Holds, vec![one.1.to_string()]));
    assert_eq!(below("up", two.0).0, Decision::Fails, "proved of an event that is not followed");
    assert_eq!(below("up,up2", one.0).0, Decision::Fails, "one of two that may be followed");
    let both = below("up,up2", &format!("{},{}", one.0, two.0));
    assert_eq!(both, (Decision::Holds, vec![one.1.to_string(), two.1.to_string()]));
}

#[test]
fn options_that_do_not_go_with_proofs_are_refused() {
    let text = counter("less(~$x,#3)", UP);
    type Change = fn(&mut Task);
    let changes: [(&str, Change); 3] = [
        ("--all", |t| t.options.all = true),
        ("--no-invariant", |t| t.options.invariant = false),
        ("--no-assertions", |t| t.options.assertions = false),
    ];
    for (option, change) in changes {
        let mut task = relying();
        change(&mut task);
        let why = checked("refused", &text, &task).err().unwrap_or_default();
        assert!(why.contains(option) && why.contains("--proof-info"), "{option}: {why}");
    }
}

/// Under reduction, too, a fact spares a look and changes no count.
#[test]
fn symmetry_and_threads_go_with_proofs() {
    let text = counter("less(~$x,#3)", UP);
    for symmetry in [Strategy::Off, Strategy::Flood, Strategy::Canon, Strategy::Auto] {
        for one_by_one in [false, true] {
            let mut task = relying();
            (task.options.symmetry, task.options.one_by_one) = (symmetry, one_by_one);
            let found = checked("symmetry", &text, &task).expect("an answer");
            assert_eq!((found.verdict, found.counts.states), (Decision::Holds, 4), "{symmetry}");
        }
    }
}

/// x goes up from 0 as long as `guard` allows; `inv1` is about x and bounds nothing.
fn steps(guard: &str, inv1: &str, obligations: &str) -> String {
    let up = Event { name: "up", guards: guard, actions: "assign(~[$x],[add(~$x,#1)])", ..EVENT };
    let init = Event { actions: "assign(~[$x],[#0])", ..INIT };
    let invariants = format!("{inv1},member(rodinpos('M',inv2,x),$x,interval(~#0,#9))");
    package(&[machine("M", "", "$x", &invariants, &[init, up])], &[], obligations)
}

/// The answer of an engine on formulas.
fn by_formulas(text: &str, engine: Engine, proof_info: bool, options: &Options) -> Answered {
    let folder = std::env::temp_dir().join(format!("kanon-engines-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let path = folder.join(format!("{}-{proof_info}.eventb", engine.name()));
    std::fs::write(&path, text).expect("a file");
    let project = Project::open(&path, &ScopeArgs::default()).expect("a package");
    let task = symbolic::Task {
        proof_info,
        depth: 12,
        solver: Backend::Sat,
        options: Options { deadlock: false, ..options.clone() },
        ..symbolic::Task::new(engine)
    };
    let found = symbolic::answer(&project, &task, &Deadline::never(), &|_| {}).expect("they go together");
    let _ = std::fs::remove_file(&path);
    let _ = std::fs::remove_dir(&folder);
    found
}

/// The engines on formulas rely on what a file says is discharged, say so, and on nothing else of it.
#[test]
fn engines_on_formulas_rely_on_what_is_discharged_and_say_so() {
    let not_4 = "not_equal(rodinpos('M',inv1,x),$x,#4)";
    let (right, wrong) = (steps("less(~$x,#3)", not_4, UP), steps("less(~$x,#7)", not_4, UP));
    let open = steps("less(~$x,#7)", not_4, &UP.replace("true", "false"));
    let all = Options::default();
    for engine in Engine::ALL {
        let name = engine.name();
        // It is true: the answer is the same with it and without.
        for proof_info in [false, true] {
            let found = by_formulas(&right, engine, proof_info, &all);
            assert_eq!(found.verdict, Decision::Holds, "{name} {proof_info}: {:?}", found.reason);
            let rests: &[&str] = if proof_info { &["M/up/inv1/INV"] } else { &[] };
            assert_eq!(found.rests_on, rests, "{name}");
            let says = found.notes.iter().any(|n| n.contains("rests on a proof obligation"));
            assert_eq!(says, proof_info, "{name}: {:?}", found.notes);
        }
        // It is open, and false: everybody finds that.
        for proof_info in [false, true] {
            let found = by_formulas(&open, engine, proof_info, &all);
            assert_eq!(found.verdict, Decision::Fails, "{name} {proof_info}: {:?}", found.reason);
            assert!(found.rests_on.is_empty(), "{name}");
            assert_eq!(found.finding.map(|f| f.trace.steps.len()), Some(5), "{name}");
        }
        // It is wrong. Without it that is found; with it the answer names what it rests on.
        assert_eq!(by_formulas(&wrong, engine, false, &all).verdict, Decision::Fails, "{name}");
        let found = by_formulas(&wrong, engine, true, &all);
        assert_ne!(found.verdict, Decision::Fails, "{name}: nobody looked");
        assert_eq!(found.rests_on, ["M/up/inv1/INV"], "{name}");
        assert!(found.notes.iter().any(|n| n.contains("rests on a proof obligation")), "{name}");
        // It is about states in which the whole invariant holds: if that is not looked for, it says nothing.
        let none = Options { invariant: false, ..Options::default() };
        assert!(by_formulas(&right, engine, true, &none).rests_on.is_empty(), "{name}");
        // Values for which a variable has no room are looked for whatever the file says.
        let bound = "member(rodinpos('M',inv1,x),$x,interval(~#0,#3))";
        let found = by_formulas(&steps("less(~$x,#5)", bound, UP), engine, true, &all);
        assert_eq!(found.verdict, Decision::Fails, "{name}: {:?}", found.reason);
    }
}
