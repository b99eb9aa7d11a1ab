//! `kanon probcli`: flags of ProB's command line, and its lines. `scripts/versus-prob-cli` compares with ProB itself.

use crate::program::{FAILS, HOLDS, WRONG, file, kanon, text};

const SCHEDULER: &str = "models/papers/scheduler0.mch";
const DEADLOCK: &str = "models/lang/errors/find_deadlock.mch";
const INVARIANT: &str = "models/lang/errors/find_invariant.mch";
const WRONG_TYPE: &str = "models/lang/errors/type_mismatch.mch";

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
        (&[SCHEDULER, "-mc", "100", "-refchk", "a.mch"], WRONG, &[], &["`-refchk`"]),
        (&[SCHEDULER, "-mc", "100", "-p", "CLPFD", "TRUE"], WRONG, &[], &["`CLPFD`"]),
        (&[SCHEDULER, "-mc_mode", "hash", "-mc", "9"], WRONG, &[], &["`-mc_mode hash`"]),
        (&[SCHEDULER, "-mc", "many"], WRONG, &[], &["`-mc` needs a number"]),
        (&[SCHEDULER, "-mc"], WRONG, &[], &["`-mc` needs"]),
        (&[SCHEDULER], WRONG, &[], &["asked for nothing"]),
        (&["-mc", "100"], WRONG, &[], &["needs a file"]),
    ];
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

/// Of several files, each is answered, and one that fails is enough for `-strict`.
#[test]
fn several_files() {
    let copy = file("probcli", "copy.mch", std::fs::read(DEADLOCK).expect("a model"));
    let ran = kanon(&["probcli", SCHEDULER, text(&copy), "-mc", "100", "-strict"]);
    assert_eq!(ran.code, FAILS, "{}{}", ran.out, ran.err);
    assert!(ran.out.contains("ALL nodes visited") && ran.out.contains("COUNTER EXAMPLE"), "{}", ran.out);
}
