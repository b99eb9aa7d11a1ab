//! Programs in XTL: what they answer, and what they cannot do.

use crate::program::{FAILS, HOLDS, Ran, UNKNOWN, WRONG, file, json, kanon, program, text};
use std::collections::BTreeMap;
use std::path::Path;

/// A file with this program, checked.
fn checked(name: &str, program: &str, more: &[&str]) -> Ran {
    let path = file("xtl", &format!("{name}.P"), program);
    let args: Vec<&str> = ["check", text(&path), "--run-programs"].iter().chain(more).copied().collect();
    kanon(&args)
}

/// The models of models/xtl with what their first comment says. ProB says the same: scripts/versus-prob-xtl.
#[test]
fn every_program_answers_as_its_header_says() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/models/xtl");
    let entries = std::fs::read_dir(folder).expect("models/xtl").map(|e| e.expect("an entry").path());
    let mut seen = 0;
    for path in entries.filter(|p| p.extension().is_some_and(|e| e == "P")) {
        let (path, model) = (text(&path), std::fs::read_to_string(&path).expect("a model"));
        let comment: Vec<&str> = model.lines().map_while(|l| l.strip_prefix("% ")).collect();
        let line = comment.iter().find_map(|l| l.strip_prefix("expect: ")).expect("an expectation");
        let expect: BTreeMap<&str, &str> = line.split(' ').filter_map(|p| p.split_once('=')).collect();
        let code = if expect["verdict"] == "fails" { FAILS } else { HOLDS };
        let answer = json(&["check", path, "--run-programs", "--all", "--json"], code);
        assert_eq!(answer["verdict"], expect["verdict"], "{path}");
        for key in ["states", "transitions", "deadlocks", "violations"] {
            assert_eq!(answer[key].to_string(), expect[key], "{path}: {key}");
        }
        let formulas: Vec<(&str, &str)> =
            comment.iter().filter_map(|l| l.strip_prefix("ltl ")?.split_once(": ")).collect();
        assert!(formulas.len() >= 4, "{path}");
        let texts = formulas.iter().map(|(_, f)| *f);
        let args: Vec<&str> = ["ltl", path, "--run-programs", "--json"].into_iter().chain(texts).collect();
        let fails = formulas.iter().any(|(v, _)| *v == "fails");
        let answer = json(&args, if fails { FAILS } else { HOLDS });
        for (i, (verdict, formula)) in formulas.iter().enumerate() {
            assert_eq!(answer[i]["verdict"], **verdict, "{path}: {formula}");
        }
        seen += 1;
    }
    assert!(seen >= 3, "{seen} models");
}

const COUNTER: &str = "start(0).
start(0).
start(s(X)) :- X = 1.
trans(inc, N, M) :- number(N), N < 3, M is N+1.
trans(inc, N, M) :- number(N), N < 3, M is N+1.
trans(dec(N), N, M) :- number(N), N > 0, M is N-1.
trans(go(X,foo), s(X), 2).
trans(go(X,bar), s(X), 2).
trans('Hi there'(X,\"str\",_), s(X), 2).
prop(N, big) :- number(N), N > 2.
prop(N, val(N)) :- number(N).
prop(s(_), x = 1).
";

/// ProB 1.8.2 counts 5 states and, with one for each of the two initial states, 11 transitions.
#[test]
fn states_transitions_properties_and_steps_are_those_of_the_program() {
    let path = file("xtl", "counter.P", COUNTER);
    let (path, run) = (text(&path), "--run-programs");
    let answer = json(&["check", path, run, "--json"], HOLDS);
    for (key, n) in [("states", 5), ("transitions", 9), ("initialisations", 2), ("deadlocks", 0)] {
        assert_eq!(answer[key], n, "{key}");
    }
    for (formula, verdict) in [
        ("{x = 1} or {val(0)}", HOLDS),
        ("G ({x=1} or {val(0)} or {val(1)} or {val(2)} or {val(3)})", HOLDS),
        // A variable stands for something: ProB 1.8.2 lets such a property hold nowhere.
        ("G ({x=1} or {val(_)})", HOLDS),
        ("G not {val(9)}", HOLDS),
        ("G not {nothing}", HOLDS),
        ("G not {big}", FAILS),
        ("G not [dec]", FAILS),
        ("G not [dec(1)]", FAILS),
        ("G not [dec(9)]", HOLDS),
        ("G not [dec(_)]", FAILS),
        ("G not [go(1)]", HOLDS),
        ("G not [go(_, bar)]", FAILS),
        ("G ([dec(3)] => X {val(2)})", HOLDS),
        ("G (e(dec(2)) => {val(2)})", HOLDS),
        ("WF(inc) => F {big}", FAILS),
        ("F G not [go]", HOLDS),
        ("G not deadlock", HOLDS),
    ] {
        let ran = kanon(&["ltl", path, run, formula]);
        assert_eq!(ran.code, verdict, "{formula}: {}{}", ran.out, ran.err);
    }
    let ran = kanon(&["check", path, run, "--goal", "val(3)"]);
    assert!(ran.code == FAILS && ran.out.contains("state = 3"), "{}{}", ran.out, ran.err);
    assert_eq!(kanon(&["eval", path, run, "val(7)"]).code, FAILS);
    let ran = kanon(&["eval", path, run, "val(0)"]);
    assert!(ran.code == WRONG && ran.err.contains("1 of 2 initial states"), "{}{}", ran.out, ran.err);
    let drawn = kanon(&["export", path, run, "--dot"]).out;
    for label in ["go(1, foo)", "'Hi there'(1, [115, 116, 114], A)", "dec(3)"] {
        assert!(drawn.contains(label), "{label}: {drawn}");
    }
    assert_eq!(json(&["export", path, run, "--json"], HOLDS)["states"], 5);
}

/// What is a property and what is not: `unsafe` alone is ProB's error.
#[test]
fn unsafe_states_deadlocks_and_the_options_that_leave_them_out() {
    let program =
        "start(0). trans(inc, N, M) :- N < 3, M is N+1. prop(N, unsafe) :- N > 1. prop(3, unsafe(3)).";
    let ran = checked("unsafe", program, &[]);
    assert!(ran.code == FAILS && ran.out.contains("fails: unsafe"), "{}{}", ran.out, ran.err);
    assert!(checked("unsafe", program, &["--no-invariant"]).out.contains("fails: deadlock"));
    assert_eq!(checked("unsafe", program, &["--no-invariant", "--no-deadlock"]).code, HOLDS);
    let path = file("xtl", "unsafe.P", program);
    let ltl = |f: &str| kanon(&["ltl", text(&path), "--run-programs", f]).code;
    assert_eq!((ltl("G not {unsafe}"), ltl("F {unsafe}"), ltl("G not {not(unsafe)}")), (FAILS, HOLDS, HOLDS));
}

#[test]
fn nothing_runs_unless_the_user_says_so() {
    let path = file("xtl", "asked.P", "start(0). trans(a, 0, 0).");
    let path = text(&path);
    for args in
        [&["check", path][..], &["ltl", path, "G {a}"], &["eval", path, "a"], &["export", path, "--dot"]]
    {
        let ran = kanon(args);
        assert!(ran.code == WRONG && ran.err.contains("--run-programs"), "{args:?}: {}{}", ran.out, ran.err);
    }
    for command in ["serve", "simulate", "repl", "animate", "prove", "test-cases", "fmt", "graph", "compare"]
    {
        let ran = kanon(&[command, path]);
        assert_eq!(ran.code, WRONG, "{command}: {}{}", ran.out, ran.err);
    }
    assert_eq!(kanon(&["check", "models/demo/Library.mch", "--run-programs"]).code, WRONG);
    // A project can have programs, and cannot have them run.
    let project = file("xtl", "project.toml", "[[machine]]\nfile = \"asked.P\"\n");
    let ran = kanon(&["check", text(&project)]);
    assert!(ran.code == WRONG && ran.out.contains("nobody said that it may run"), "{}{}", ran.out, ran.err);
    let ran = kanon(&["check", text(&project), "--run-programs"]);
    assert_eq!(ran.code, HOLDS, "{}{}", ran.out, ran.err);
    let project = file("xtl", "itself.toml", "[[machine]]\nfile = \"asked.P\"\nrun-programs = true\n");
    let ran = kanon(&["check", text(&project)]);
    assert!(ran.code == WRONG && ran.err.contains("run-programs"), "{}{}", ran.out, ran.err);
    // An editor reads it as no model.
    let ran = program()
        .args(["check", path, "--run-programs"])
        .env("PATH", "/nowhere")
        .output()
        .expect("it starts");
    let ran = Ran::from(ran);
    assert!(ran.code == WRONG && ran.err.contains("swi-prolog-nox"), "{}{}", ran.out, ran.err);
}

#[test]
fn what_makes_no_sense_for_a_program_is_refused_with_the_reason() {
    let path = file("xtl", "refused.P", "start(0). trans(a, 0, 0).");
    let (path, run) = (text(&path), "--run-programs");
    let cases: [(&[&str], &str); 10] = [
        (&["graph", path], "only its program knows"),
        (&["compare", path], "none is used for XTL"),
        (&["check", path, run, "--symmetry", "canon"], "no symmetry is known of XTL"),
        (&["check", path, run, "--threads", "2"], "XTL is explored in one thread"),
        (&["check", path, run, "--audit"], "`--audit` is for B, Event-B and Z"),
        (&["check", path, run, "--certificate", "x"], "`--certificate` is for B, Event-B and Z"),
        (&["ltl", path, run], "there is no formula"),
        (&["ltl", path, run, "G {f(,)}"], "is no term of Prolog"),
        (&["ltl", path, run, "G {X}"], "a variable"),
        (&["check", path, run, "--process", "P"], "`--process` is for CSP-M"),
    ];
    for (args, why) in cases {
        let ran = kanon(args);
        assert_eq!(ran.code, WRONG, "{args:?}: {}{}", ran.out, ran.err);
        assert!(ran.err.contains(why), "{args:?}: {}", ran.err);
    }
}

/// A transition that would do it, where nothing else is wrong.
fn doing(goal: &str) -> String {
    format!("start(0).\ntrans(a, 0, X) :- {goal}, X = 0.\n")
}

#[test]
fn what_does_more_than_compute_is_refused_before_anything_runs() {
    let there = Path::new(env!("CARGO_TARGET_TMPDIR")).join("xtl-was-here");
    let _ = std::fs::remove_file(&there);
    let there = text(&there);
    let goals = [
        format!("open('{there}', write, S), close(S)"),
        format!("shell('touch {there}')"),
        format!("call(shell('touch {there}'))"),
        format!("call(shell, 'touch {there}')"),
        format!("catch(shell('touch {there}'), _, true)"),
        format!("\\+ shell('touch {there}')"),
        format!("findall(X, shell('touch {there}'), _)"),
        format!("forall(true, shell('touch {there}'))"),
        format!("maplist(shell, ['touch {there}'])"),
        format!("system:shell('touch {there}')"),
        format!("user:shell('touch {there}')"),
        format!("bagof(X, Y^shell('touch {there}'), _)"),
        format!("setof(X, Y^(Z^shell('touch {there}')), _)"),
        format!("tell('{there}'), told"),
        "tcp_socket(S)".into(),
        "tcp_connect(localhost:80, S, [])".into(),
        "halt".into(),
        "halt(0)".into(),
        "assertz(foo)".into(),
        "retract(foo)".into(),
        "nb_setval(a, 1)".into(),
        "b_setval(a, 1)".into(),
        "random(X)".into(),
        "get_time(X)".into(),
        "statistics(cputime, X)".into(),
        "read(X)".into(),
        "consult(user)".into(),
        "[user]".into(),
        "thread_create(true, X)".into(),
        "thread_send_message(main, a)".into(),
        "use_foreign_library(foo)".into(),
        "load_files(foo, [])".into(),
        "setarg(1, f(x), y)".into(),
        "freeze(X, fail)".into(),
        "flag(solutions, _, 0)".into(),
        "kanon_xtl:frame(e)".into(),
        "prolog_load_context(directory, X)".into(),
        "getenv('HOME', X)".into(),
        "current_op(X, Y, Z)".into(),
        "clause(foo, X)".into(),
        "with_output_to(atom(X), true)".into(),
        "[X]>>true".into(),
        "nosuchpredicate(1)".into(),
        // Only known when they run.
        "member(G, [true]), call(G)".into(),
        "G = halt, G".into(),
        "G =.. [shell, X], call(G)".into(),
        "apply_to(0)".into(),
    ];
    for (i, goal) in goals.iter().enumerate() {
        let text = doing(goal) + "apply_to(G) :- call(G).\n";
        let ran = checked(&format!("goal{i}"), &text, &[]);
        assert_eq!(ran.code, WRONG, "{goal}: {}{}", ran.out, ran.err);
        let said = ran.err.contains("refused")
            || ran.err.contains("only known when it runs")
            || ran.err.contains("not defined")
            || ran.err.contains("is no goal");
        assert!(said && ran.err.contains(".P:"), "{goal}: {}", ran.err);
    }
    for (i, (line, why)) in [
        (format!(":- shell('touch {there}')."), "would run while the file is read"),
        (format!(":- initialization(shell('touch {there}'))."), "initialization/1"),
        (format!(":- initialization(shell('touch {there}'), main)."), "initialization/2"),
        (format!("?- shell('touch {there}')."), "asked questions"),
        (
            format!(":- dynamic a/0, shell/1, b/0.\n:- dynamic((shell('touch {there}')))."),
            "cannot be defined",
        ),
        ("term_expansion(a, b) :- halt.".into(), "cannot be defined"),
        ("goal_expansion(a, b).".into(), "cannot be defined"),
        ("user:term_expansion(a, b).".into(), "no clause"),
        ("system:foo(a).".into(), "no clause"),
        ("kanon_xtl:pure(_).".into(), "no clause"),
        ("X :- halt.".into(), "no clause"),
        ("X.".into(), "no clause"),
        ("3 :- a.".into(), "no clause"),
        ("append(_, _) --> halt(_).\n:- op(200, xfy, ',').".into(), ""),
        ("(a , b) :- true.".into(), ""),
        ("call(_) :- true.".into(), "is a predicate of Prolog"),
        ("catch(_, _, _).".into(), ""),
        ("xtl_catch(_, _, _).".into(), "cannot be defined"),
        (":- use_module(library(process)).".into(), "library(process) is not among"),
        (":- use_module(library(filesex)).".into(), "not among"),
        (":- use_foreign_library(foreign(x)).".into(), "use_foreign_library/1"),
        (":- load_foreign_library('/tmp/x.so').".into(), "load_foreign_library/1"),
        (":- set_prolog_flag(double_quotes, oops).".into(), "codes, chars"),
        (":- set_prolog_flag(unknown, fail).".into(), "set_prolog_flag/2"),
        (":- include('/etc/passwd').".into(), "is not below the folder"),
        (":- include('../../Cargo.toml').".into(), "is not below the folder"),
        (":- consult(nosuchfile).".into(), "there is no file"),
        (":- X.".into(), "no directive"),
        ("a :- .".into(), "this is no Prolog"),
        ("a(\"".into(), "this is no Prolog"),
        ("#!/usr/bin/swipl -g shell(x)\n:- shell(x).".into(), "this is no Prolog"),
    ]
    .iter()
    .enumerate()
    {
        let ran = checked(&format!("line{i}"), &format!("start(0).\ntrans(a, 0, 0).\n{line}\n"), &[]);
        assert_eq!(ran.code, WRONG, "{line}: {}{}", ran.out, ran.err);
        assert!(ran.err.contains(why) && ran.err.contains(".P:"), "{line}: {}", ran.err);
    }
    for (text, why) in [
        ("start(0).", "does not define trans/3"),
        ("trans(a, 0, 0).", "does not define start/1"),
        ("", "start/1"),
    ] {
        let ran = checked("missing", text, &[]);
        assert!(ran.code == WRONG && ran.err.contains(why), "{text}: {}", ran.err);
    }
    assert!(!Path::new(there).exists(), "something ran");
}

/// What a program may use: it would be easy to be safe by refusing everything.
#[test]
fn programs_that_only_compute_run() {
    let goals = [
        "append(A, B, [1]), A == [], B == [1]",
        "catch(throw(mine), mine, true)",
        "catch(Y is foo + 1, error(type_error(_, _), _), true)",
        "findall(Y, member(Y, [1, 2]), L), length(L, 2)",
        "setof(Y-Z, (W^member(f(Y, Z, W), [f(2, a, x), f(1, b, y)])), [1-b, 2-a])",
        "aggregate_all(count, member(_, [a, b]), 2)",
        "maplist(double, [], [])",
        "maplist(double, [1, 2], [2, 4])",
        "foldl(plus, [1, 2, 3], 0, 6)",
        "each(double, [1, 2], [2, 4])",
        "each(times(3), [1, 2], [3, 6])",
        "once(member(_, [a])), ignore(fail), \\+ fail, forall(member(Y, [1]), Y == 1)",
        "phrase(digits(Ds), \"42\", []), atom_codes(A, Ds), A == '42'",
        "list_to_assoc([a-1], T), get_assoc(a, T, 1), put_assoc(b, T, 2, T2), assoc_to_list(T2, [a-1, b-2])",
        "format(\"~w ~@\", [a, halt]), write(x), nl, print(y)",
        "( true ; fail ), ( fail -> true ; true ), ( member(Y, [1, 2]) *-> Y > 0 ; fail ), once((true, !))",
        "X0 = f(_), copy_term(X0, X1), X1 = f(1)",
        "call(double, 2, 4), call(double(2), 4), call((true, true)), G = 1, G == 1",
        "1 ==> double",
        "sort(0, @>=, [1, 3, 2, 3], [3, 3, 2, 1]), msort([b, a], [a, b]), nth0(0, [a], a), sum_list([1, 2], 3)",
    ];
    let program = "start(0).
:- use_module(library(lists)).
:- op(700, xfx, ==>).
:- discontiguous helper/1.
double(X, Y) :- Y is 2 * X.
times(N, X, Y) :- Y is N * X.
each(_, [], []).
each(P, [X|Xs], [Y|Ys]) :- call(P, X, Y), each(P, Xs, Ys).
A ==> B :- helper(A), B == double.
helper(1).
digits([D|T]) --> digit(D), digits(T).
digits([D]) --> digit(D).
digit(D) --> [D], { D >= 48, D =< 57 }.
unreachable :- shell(ls).
";
    let clauses: String =
        goals.iter().enumerate().map(|(i, g)| format!("trans(goal{i}, 0, {}) :- {g}.\n", i + 1)).collect();
    let path = file("xtl", "computes.P", format!("{program}{clauses}"));
    let answer = json(&["check", text(&path), "--run-programs", "--no-deadlock", "--json"], HOLDS);
    assert_eq!(answer["states"], goals.len() + 1, "{answer:#}");
}

/// Whatever a program does when it runs, the answer is unknown, with the goal; never fewer transitions.
#[test]
fn what_has_no_answer_is_unknown_with_the_goal() {
    for (i, (goal, why)) in [
        ("X is foo + 1", "trans(A, 0, B): type_error"),
        ("throw(oops(1))", "the exception oops(1)"),
        ("X = f(_)", "the state has unbound variables"),
        ("X = f(X)", "cyclic"),
        ("length(_, 300000000)", "not enough memory"),
        ("X is 7 ** (7 ** (7 ** 7))", "trans(A, 0, B)"),
        ("catch(length(_, 300000000), _, fail)", "not enough memory"),
        ("endless", "more than 50,000,000 inferences"),
        ("catch(endless, _, fail)", "more than 50,000,000 inferences"),
        ("repeat", "more than 1,000,000 solutions"),
        ("deep(0)", "not enough memory"),
        ("atom_length(L, _)", "instantiation_error"),
    ]
    .iter()
    .enumerate()
    {
        let program = format!(
            "start(0).\ntrans(a, 0, 1).\ntrans(b, 1, 0).\ntrans(c, 0, X) :- {goal}, ( var(X) -> X = 0 ; true ).\n\
             endless :- endless.\ndeep(N) :- M is N + 1, deep(M), M > 0.\n"
        );
        // Without `X = 0` where the state itself is what is wrong.
        let program = if goal.starts_with("X = f") {
            program.replace(", ( var(X) -> X = 0 ; true )", "")
        } else {
            program
        };
        let ran = checked(&format!("fault{i}"), &program, &[]);
        assert_eq!(ran.code, UNKNOWN, "{goal}: {}{}", ran.out, ran.err);
        assert!(ran.out.contains("unknown") && ran.out.contains(why), "{goal}: {}", ran.out);
    }
    for (program, why) in [
        ("start(X) :- X = f(_). trans(a, X, X).", "start(f(A)): the state has unbound variables"),
        ("start(_) :- fail. trans(a, X, X).", "there is no initial state"),
        ("start(0). start(_) :- throw(no). trans(a, X, X).", "start(A): the exception no"),
        ("start(0). trans(_, X, X).", "must be a term that is not a variable"),
        ("start(0). trans(a, X, X). prop(_, unsafe) :- throw(no).", "prop(0, unsafe): the exception no"),
    ] {
        let ran = checked("start", program, &[]);
        assert!(ran.code == UNKNOWN && ran.out.contains(why), "{program}: {}{}", ran.out, ran.err);
    }
    // A counterexample is one, whatever else is unknown; a formula is not answered by what is missing.
    let program = "start(0). trans(a, 0, 1). trans(b, 0, _) :- throw(no). trans(c, 1, 1). prop(1, unsafe).";
    assert_eq!(checked("both", program, &[]).code, FAILS);
    let path = file("xtl", "both.P", program);
    let ltl = |f: &str| kanon(&["ltl", text(&path), "--run-programs", f]);
    assert_eq!((ltl("G not {unsafe}").code, ltl("G not [b]").code), (FAILS, UNKNOWN));
}

#[test]
fn files_below_the_program_are_included() {
    file("xtl/parts", "more.pl", "trans(b, 1, 0).\n:- include(last).\n");
    file("xtl/parts", "last.pl", "trans(c, 1, 2).\n:- consult(more).\n");
    let ran = checked("whole", "start(0).\ntrans(a, 0, 1).\n:- include('parts/more').\n", &["--no-deadlock"]);
    assert!(ran.code == HOLDS && ran.out.contains("3 states, 3 transitions"), "{}{}", ran.out, ran.err);
    file("xtl/parts", "bad.pl", "\n  nosuch :- .\n");
    let ran = checked("whole", "start(0).\ntrans(a, 0, 1).\n:- include('parts/bad').\n", &[]);
    assert!(ran.code == WRONG && ran.err.contains("parts/bad.pl:2"), "{}", ran.err);
}

#[test]
fn limits_end_a_program_that_has_no_end() {
    let program = "start(0). trans(inc, N, M) :- M is N + 1.";
    let ran = checked("endless", program, &["--max-states", "500"]);
    assert!(ran.code == UNKNOWN && ran.out.contains("500"), "{}{}", ran.out, ran.err);
    let begin = std::time::Instant::now();
    let ran = checked("endless", program, &["--timeout", "1"]);
    assert!(ran.code == UNKNOWN && ran.out.contains("1 s"), "{}{}", ran.out, ran.err);
    assert!(begin.elapsed().as_secs() < 30, "{:?}", begin.elapsed());
}
