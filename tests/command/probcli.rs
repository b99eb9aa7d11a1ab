//! `kanon probcli`: flags of ProB's command line, and its lines. `scripts/versus-prob-cli` compares with ProB itself.

use crate::program::{FAILS, HOLDS, WRONG, file, kanon, text};

const SCHEDULER: &str = "models/papers/scheduler0.mch";
const DEADLOCK: &str = "models/lang/errors/find_deadlock.mch";
const INVARIANT: &str = "models/lang/errors/find_invariant.mch";
const WRONG_TYPE: &str = "models/lang/errors/type_mismatch.mch";

const BUFFER: &str = "models/csp/Buffer.csp";
const CELL: &str = "models/lang/Cell.mch";
const COUNTER: &str = "models/lang/ref_counter.ref";

/// Flags, exit code, and parts of standard output and of standard error.
type Row<'a> = (&'a [&'a str], i32, &'a [&'a str], &'a [&'a str]);

#[test]
fn lines_and_exit_codes() {
    let rows: &[Row] = &[
        (
            &[SCHEDULER, "-model_check"],
            HOLDS,
            &[
                "ALL OPERATIONS COVERED",
                "% All open nodes visited",
                "States analysed: 15",
                "Transitions fired: 37",
                "No Counter Example found. ALL nodes visited.",
            ],
            &[],
        ),
        (&["-mc", "100", SCHEDULER, "-strict"], HOLDS, &["ALL nodes visited"], &[]),
        (
            &[SCHEDULER, "--model-check", "-p", "SYMMETRY_MODE", "flood", "-p", "DEFAULT_SETSIZE", "3"],
            HOLDS,
            &["No Counter Example found. ALL nodes visited."],
            &[],
        ),
        (
            &[SCHEDULER, "-mc", "5"],
            HOLDS,
            &["No Counter Example Found, not all nodes visited"],
            &["due to limit set by user: 5", "! Total Errors: 0, Warnings:1"],
        ),
        (&[SCHEDULER, "-mc", "5", "-strict"], FAILS, &["not all nodes visited"], &["! halt(1)"]),
        (
            &[DEADLOCK, "-mc", "100"],
            HOLDS,
            &["*** COUNTER EXAMPLE FOUND ***\n\ndeadlock\n*** TRACE: \n 1: INITIALISATION("],
            &["! *** error occurred ***\n! deadlock\n! Total Errors: 1, Warnings:0"],
        ),
        (&[DEADLOCK, "-mc", "100", "-nodead"], HOLDS, &["States analysed: 6", "Transitions fired: 9"], &[]),
        (&[DEADLOCK, "-mc", "100", "-strict"], FAILS, &["deadlock"], &["*** Unexpected error occurred ***"]),
        (
            &[DEADLOCK, "-mc", "100", "-strict", "-expcterr", "deadlock"],
            HOLDS,
            &["All expected errors occurred."],
            &[],
        ),
        (
            &[SCHEDULER, "-mc", "100", "-expcterr", "deadlock"],
            HOLDS,
            &["*** Expected Error of following type to occur: deadlock", "did NOT occur"],
            &[],
        ),
        (&[INVARIANT, "-mc", "100", "-silent"], HOLDS, &["invariant_violation"], &["invariant_violation"]),
        (
            &[WRONG_TYPE, "-mc", "10"],
            HOLDS,
            &[],
            &["(source: type_error)", "! ### Loading Machine Failed", "! Total Errors: 2, Warnings:0"],
        ),
        (&[WRONG_TYPE, "-mc", "10", "-strict"], FAILS, &[], &["! halt(1)"]),
        (
            &[SCHEDULER, "-ltlformula", "G {card(known) <= 2}", "-strict"],
            HOLDS,
            &["LTL Formula TRUE.", "No counter example found for G {card(known) <= 2}."],
            &[],
        ),
        (
            &[SCHEDULER, "-ltlformula", "G {known = {}}"],
            HOLDS,
            &["Formula FALSE."],
            &["Counter-Example found for:  G {known = {}}"],
        ),
        (&[SCHEDULER, "-bmc", "3"], HOLDS, &["Counter Example"], &[]),
        (&["-version"], HOLDS, &["kanon"], &[]),
        // What has no counterpart is named.
        (&[SCHEDULER, "-mc", "100", "-t"], WRONG, &[], &["`-t`", "instead: `kanon replay FILE TRACE`"]),
        (&[SCHEDULER, "-ctlformula", "AG {1=1}"], WRONG, &[], &["`-ctlformula`", "`kanon ltl`"]),
        (&[SCHEDULER, "-mc", "9", "-nonsense"], WRONG, &[], &["`-nonsense`", "docs/probcli.md"]),
        (&[SCHEDULER, "-dot", "dfa_merge", "x.dot"], WRONG, &[], &["`-dot dfa_merge`"]),
        (&[SCHEDULER, "-dotexpr", "formula_tree", "1=1", "x.dot"], WRONG, &[], &["transition_diagram has"]),
        (&[SCHEDULER, "-csv", "tables", "x.csv"], WRONG, &[], &["`-csv tables`"]),
        (&[SCHEDULER, "-cspref", "P", "[X=", "Q"], WRONG, &[], &["`[X=`"]),
        (&[SCHEDULER, "-csp_assertion", "P [T= Q"], WRONG, &[], &["about CSP-M scripts"]),
        (&[BUFFER, "-mc", "9"], WRONG, &[], &["-csp_assertion"]),
        (&[SCHEDULER, "-vacuity_check"], WRONG, &[], &["needs `-mc N`"]),
        (&[SCHEDULER, "-init", "-p", "DEFAULT_SETSIZE", "many"], WRONG, &[], &["invalid value 'many'"]),
        (&[SCHEDULER, "-mc", "100", "-p", "CLPFD", "TRUE"], WRONG, &[], &["`CLPFD`"]),
        (&[SCHEDULER, "-mc_mode", "hash", "-mc", "100"], HOLDS, &["ALL nodes visited."], &[]),
        (&[SCHEDULER, "-mc_mode", "random", "-mc", "100"], HOLDS, &["ALL nodes visited."], &[]),
        (&[SCHEDULER, "-mc_mode", "best", "-mc", "9"], WRONG, &[], &["`-mc_mode best`"]),
        (&[SCHEDULER, "-mc", "many"], WRONG, &[], &["`-mc` needs a number"]),
        (&[SCHEDULER, "-mc"], WRONG, &[], &["`-mc` needs"]),
        (&[SCHEDULER], WRONG, &[], &["asked for nothing"]),
        (&["-mc", "100"], WRONG, &[], &["needs a file"]),
    ];
    all(rows);
}

fn all(rows: &[Row]) {
    for (flags, code, out, err) in rows {
        let ran = kanon(&[&["probcli"], *flags].concat());
        assert_eq!(ran.code, *code, "{flags:?}: {}{}", ran.out, ran.err);
        for part in *out {
            assert!(ran.out.contains(part), "{flags:?}: {part}: {}", ran.out);
        }
        for part in *err {
            assert!(ran.err.contains(part), "{flags:?}: {part}: {}", ran.err);
        }
    }
}

/// Steps, and values where they end. The lines are those of ProB 1.8.2 with the same flags.
#[test]
fn steps_and_values() {
    let rows: &[Row] = &[
        (&[SCHEDULER, "-init", "-strict"], HOLDS, &[], &[]),
        (&[SCHEDULER, "-animate", "5", "-strict"], HOLDS, &["finished_random_animate(5,"], &[]),
        (
            &[DEADLOCK, "-animate_all", "-strict"],
            HOLDS,
            &["% Deadlock occurred during -animate, at step number:", "finished_random_animate(2147483647,"],
            &[],
        ),
        (
            &[DEADLOCK, "-animate", "1000", "-strict"],
            FAILS,
            &[],
            &["! ### Deadlock occurred during -animate, at step number:", "! animate"],
        ),
        (
            &[INVARIANT, "-animate", "30"],
            HOLDS,
            &["INVARIANT VIOLATED after ", "finished_random_animate(30,"],
            &["! *** error occurred ***\n! invariant_violation"],
        ),
        (
            &[SCHEDULER, "-det_check", "-animate", "2"],
            HOLDS,
            &[" 1:create(PROC1)\n 2:create(PROC2)\n"],
            &["! ### Non-deterministic step in animate or init", "! det_check\n! Total Errors: 1,"],
        ),
        (&[DEADLOCK, "-det_check", "-init", "-strict"], HOLDS, &[], &[]),
        // The first step each time, as there: `ann1`, `ann2`, `done`, and it is where it was.
        (
            &[DEADLOCK, "-execute_all"],
            HOLDS,
            &["Infinite loop reached after 4 steps (looping on done)."],
            &[],
        ),
        (&[DEADLOCK, "-execute", "3"], HOLDS, &["Stopping execution after 3 steps\n     ( fork_=ann &"], &[]),
        (
            &["models/lang/errors/find_assertion.mch", "-execute", "9"],
            HOLDS,
            &["ASSERTION VIOLATED after 5 steps (after next_).\n     ( x=4 )"],
            &["assertion_violation"],
        ),
        (
            &[SCHEDULER, "-eval", "known", "-eval", "card(known)=0", "-eval", "x:2..3 & x>1", "-eval", "x<x"],
            HOLDS,
            &[
                "eval: known\nExpression Value = \n{}\n",
                "eval: card(known)=0\nPredicate is TRUE\nTRUE\n",
                "Existentially Quantified Predicate over x is TRUE\nSolution: \n       x = 2\n\nTRUE\n",
                "Existentially Quantified Predicate is FALSE\nFALSE\n",
                "Evaluation results: [FALSE/1,TRUE/2,{}/1]",
            ],
            &[],
        ),
        (
            &[SCHEDULER, "-strict", "-eval", "1/0"],
            FAILS,
            &["NOT-WELL-DEFINED", "[NOT-WELL-DEFINED/1]"],
            &["well_definedness_error"],
        ),
        (&[SCHEDULER, "-eval", "1+"], HOLDS, &["SYNTAX ERROR"], &["parse_machine_predicate_error"]),
        (&[SCHEDULER, "-eval", "1+TRUE"], HOLDS, &["TYPE ERROR"], &["type_expression_error"]),
        // Where a counterexample ends.
        (&[DEADLOCK, "-mc", "99", "-eval", "fork_ /= knife"], HOLDS, &["Predicate is TRUE"], &["! deadlock"]),
        (
            &[DEADLOCK, "-init", "-check_goal", "-goal", "fork_ = ann"],
            HOLDS,
            &["==> fork_ = ann\nFALSE\n", "1 predicates: 0 TRUE, 1 FALSE, 0 UNKNOWN (0 timeouts)"],
            &["! check_goal"],
        ),
        (&[DEADLOCK, "-init", "-check_goal"], HOLDS, &[], &["No GOAL DEFINITION found"]),
        (
            &["models/lang/errors/find_assertion.mch", "-assertions", "-strict"],
            HOLDS,
            &["% Checking ASSERTIONS: ", "==> x * x <= 9\nTRUE\n", "1 predicates: 1 TRUE, 0 FALSE,"],
            &[],
        ),
        (&["no/such.mch", "-init"], HOLDS, &[], &["Specified File does not exist:  no/such.mch"]),
    ];
    all(rows);
}

/// Questions that other commands answer.
#[test]
fn proofs_sequences_refinements_processes() {
    let rows: &[Row] = &[
        (
            &[SCHEDULER, "-cbc", "all", "-strict"],
            HOLDS,
            &["No cbc counter example for create\n", "stop == ok,INITIALISATION == ok]\nNO ERRORS FOUND"],
            &[],
        ),
        (
            &[INVARIANT, "-cbc", "all", "-expcterr", "cbc", "-strict"],
            HOLDS,
            &["% ===> NewState: ( x=2 &\n       y=1 )", "*** CONSTRAINT-BASED CHECK FOUND ERRORS ***"],
            &["Found cbc counter example for a\nFound cbc counter example for b\n"],
        ),
        (&[INVARIANT, "-cbc", "reset", "-strict"], HOLDS, &["NO ERRORS FOUND"], &[]),
        (&[INVARIANT, "-cbc", "nothing"], FAILS, &[], &["Unknown Operation Name:  nothing", "halt(1)"]),
        (&[SCHEDULER, "-cbc_deadlock", "-strict"], HOLDS, &["No DEADLOCK state found"], &[]),
        (&[DEADLOCK, "-cbc_deadlock"], HOLDS, &["*** DEADLOCK state found ***"], &["! cbc_deadlock_check"]),
        (
            &["models/lang/errors/find_assertion.mch", "-cbc_assertions"],
            HOLDS,
            &["*** Counter-example for ASSERTION found ***\n*** STATE = \n     ( x=4 )"],
            &["! cbc_assertions"],
        ),
        (&[SCHEDULER, "-wd-check", "-strict"], HOLDS, &["WD Analysis Result: discharged 5 / 5"], &[]),
        (
            &[SCHEDULER, "-cbc_sequence", "create;wake", "-strict"],
            HOLDS,
            &["FOUND PATH: INITIALISATION({},{}) create(PROC1) wake(PROC1)", "Sequence found and executed"],
            &[],
        ),
        (
            &[SCHEDULER, "-cbc_sequence", "wake;create"],
            HOLDS,
            &["*** NO SOLUTION FOUND"],
            &["! cbc_sequence_no_solution_found\n! Total Errors: 1,"],
        ),
        (&[SCHEDULER, "-cbc_sequence", "run"], HOLDS, &["Unknown result: error"], &["no operation `run`"]),
        (&[COUNTER, "-refchk", CELL, "-strict"], HOLDS, &["==> Refinement Check Successful"], &[]),
        (&[COUNTER, "-refchk", SCHEDULER], HOLDS, &[], &["it refines Cell, and not scheduler0"]),
        (
            &[BUFFER, "-csp_assertion", "STOP [T= STOP", "-strict"],
            HOLDS,
            &["CHECKING CSP: STOP [T= STOP", "OK\n==> Refinement Check Successful"],
            &[],
        ),
        (
            &["-cspdeadlock", "STOP", "F", BUFFER],
            HOLDS,
            &["*** FALSE ***", "*** Model Check Failed ***"],
            &["! model_check_fails"],
        ),
        (&["-csplivelock", "STOP", BUFFER, "-strict"], HOLDS, &["==> Model Check Successful"], &[]),
        (&[BUFFER, "-cspref", "STOP", "[F=", "STOP", "-strict"], HOLDS, &["OK\n"], &[]),
        (&[BUFFER, "-cspref", "STOP", "[T=", "NoSuch"], HOLDS, &[], &["Loading Machine Failed"]),
        (
            &[SCHEDULER, "-mc", "100", "-vacuity_check", "-cc", "16", "37", "-c", "-strict"],
            HOLDS,
            &[
                "No vacuous invariants",
                "[STATES,deadlocked:0,invariant_violated:0,invariant_not_checked:0,open:0,live:16,total:16,\
                 TOTAL_OPERATIONS,37,COVERED_OPERATIONS,INITIALISATION:1,create:8,remove:8,start:6,stop:6,wake:8,\
                 UNCOVERED_OPERATIONS]",
            ],
            &[],
        ),
        (&[SCHEDULER, "-mc", "100", "-cc", "15", "37"], HOLDS, &[], &["Unexpected number of nodes:  16"]),
        (
            &[SCHEDULER, "-mc", "100", "-goal", "card(known) = 2", "-expcterr", "goal_found", "-strict"],
            HOLDS,
            &["goal_found\n*** TRACE: \n 1: INITIALISATION(known={},status={}): "],
            &[],
        ),
        (&[SCHEDULER, "-ltllimit", "3", "-ltlformula", "G {1=1}"], HOLDS, &["not decided"], &["limit of 3"]),
    ];
    all(rows);
}

/// Names of files may be any bytes, and are no flags for that.
#[cfg(unix)]
#[test]
fn names_of_files() {
    use std::os::unix::ffi::OsStrExt;
    let strange =
        file("probcli-names", "x", b"").with_file_name(std::ffi::OsStr::from_bytes(b"n\xff \xc3\xbc.mch"));
    std::fs::copy(SCHEDULER, &strange).expect("a copy");
    let mut c = crate::program::program();
    let ran = c.arg("probcli").arg(&strange).args(["-mc", "100", "-eval", "card(known)", "-strict"]).output();
    let ran = crate::program::Ran::from(ran.expect("the program starts"));
    assert_eq!(ran.code, HOLDS, "{}{}", ran.out, ran.err);
    assert!(ran.out.contains("ALL nodes visited.") && ran.out.contains("results: [0/1]"), "{}", ran.out);
}

/// What is written into files.
#[test]
fn files() {
    let name = |name: &str| file("probcli-files", name, b"");
    let read = |path: &std::path::Path| std::fs::read_to_string(path).expect("a file that was written");
    let (dot, diagram) = (name("space.dot"), name("diagram.dot"));
    let (operations, values) = (name("operations.csv"), name("variables.csv"));
    let mut flags = vec!["probcli", SCHEDULER, "-mc", "100", "-strict", "-dot", "state_space", text(&dot)];
    flags.extend(["-dotexpr", "transition_diagram", "card(known)", text(&diagram)]);
    flags.extend(["-csv", "quick_operation_coverage", text(&operations)]);
    flags.extend(["-csv", "variable_coverage", text(&values)]);
    let ran = kanon(&flags);
    assert_eq!(ran.code, HOLDS, "{}{}", ran.out, ran.err);
    assert!(
        read(&dot).contains("15 nodes, 36 edges") && read(&diagram).contains("3 nodes"),
        "{}",
        read(&dot)
    );
    assert_eq!(read(&operations), "Operation,Transitions\ncreate,8\nremove,8\nwake,8\nstart,6\nstop,6\n");
    assert!(read(&values).starts_with("Variable,Values,Minimum,Maximum\nknown,4,,\n"), "{}", read(&values));

    let (history, state, table) = (name("his.txt"), name("state.txt"), name("history.csv"));
    let mut flags = vec!["probcli", DEADLOCK, "-mc", "100", "-his", text(&history), "-sptxt", text(&state)];
    flags.extend(["-his_option", "show_init", "-csvhist", "knife", text(&table)]);
    let ran = kanon(&flags);
    assert_eq!(ran.code, HOLDS, "{}{}", ran.out, ran.err);
    let begin = "/* Initialisation */\n/* Variables\n   fork_ = nobody\n   knife = nobody\n*/\n";
    assert_eq!(read(&history), format!("{begin}ann1;\nbob1\n"));
    assert_eq!(read(&state), "/* Variables */\n   fork_ = ann\n & knife = bob\n");
    let rows = "OPERATION,\"knife\"\nINITIALISATION,\"nobody\"\nann1,\"nobody\"\nbob1,\"bob\"\n";
    assert_eq!(read(&table), rows);

    // A refinement is compared with what was saved before, as scripts do.
    let saved = name("cell.saved");
    let ran = kanon(&["probcli", CELL, "-mc", "100", "-save", text(&saved), "-strict"]);
    assert_eq!(ran.code, HOLDS, "{}{}", ran.out, ran.err);
    let ran = kanon(&["probcli", COUNTER, "-refchk", text(&saved), "-strict"]);
    assert!(ran.code == HOLDS && ran.out.contains("Refinement Check Successful"), "{}{}", ran.out, ran.err);

    // Formulas with names; what cannot be written is an error.
    let formulas =
        file("probcli-files", "f.ltl", "[small]\nG {card(known) <= 2}\n[two]\nF {card(known)\n = 2}\n");
    let no_folder = file("probcli-files", "no-folder", b"").join("x.dot");
    let ran = kanon(&[
        "probcli",
        SCHEDULER,
        "-ltlfile",
        text(&formulas),
        "-spdot",
        text(&no_folder),
        "-eval_file",
        text(&state),
    ]);
    assert_eq!(ran.code, FAILS, "a file that cannot be written: {}{}", ran.out, ran.err);
    let said = "Checking formula small:\nLTL Formula TRUE.";
    assert!(ran.out.contains(said) && ran.out.contains("for formula \"two\"."), "{}{}", ran.out, ran.err);
    assert!(
        ran.err.contains("source: ltl_counterexample") && ran.err.contains("source: write"),
        "{}",
        ran.err
    );
    let ran = kanon(&["probcli", SCHEDULER, "-eval_file", "no/such.txt"]);
    assert!(ran.code == WRONG && ran.err.contains("no/such.txt cannot be read"), "{}", ran.err);
}

/// Of several files, each is answered, and one that fails is enough for `-strict`.
#[test]
fn several_files() {
    let copy = file("probcli", "copy.mch", std::fs::read(DEADLOCK).expect("a model"));
    let ran = kanon(&["probcli", SCHEDULER, text(&copy), "-mc", "100", "-strict"]);
    assert_eq!(ran.code, FAILS, "{}{}", ran.out, ran.err);
    assert!(ran.out.contains("ALL nodes visited") && ran.out.contains("COUNTER EXAMPLE"), "{}", ran.out);
}
