//! `kanon types`: every language is read and typed, and nothing is evaluated. `kanon eval` of what is no machine.

use crate::program::{FAILS, HOLDS, UNKNOWN, WRONG, file, json, kanon};

#[test]
fn a_machine_has_typed_names() {
    let ran = kanon(&["types", "models/demo/Library.mch"]);
    assert_eq!(ran.code, HOLDS, "{}", ran.err);
    for line in ["limit : INTEGER\n", "lent : POW((BOOK * READER))\n", "borrow(b : BOOK, r : READER)\n"] {
        assert!(ran.out.contains(line), "{line}{}", ran.out);
    }
    let answer = json(&["types", "--json", "models/eventb/Lift.eventb"], HOLDS);
    assert_eq!(answer["language"], "Event-B");
    let kinds: Vec<&str> =
        answer["definitions"].as_array().into_iter().flatten().filter_map(|d| d["kind"].as_str()).collect();
    assert!(kinds.contains(&"variable") && kinds.contains(&"operation"), "{kinds:?}");
}

#[test]
fn a_script_of_csp_has_typed_names() {
    let ran = kanon(&["types", "models/csp/Buffer.csp"]);
    assert_eq!(ran.code, HOLDS, "{}", ran.err);
    for line in ["left :: Int => Event\n", "Buffer :: (<Int>) -> Proc\n", "Pipe :: (Proc, Proc) -> Proc\n"] {
        assert!(ran.out.contains(line), "{line}{}", ran.out);
    }
    let answer = json(&["types", "--json", "models/csp/Philosophers.csp"], HOLDS);
    assert_eq!((&answer["typed"], &answer["language"]), (&true.into(), &"CSP-M".into()));
}

#[test]
fn mistakes_have_places() {
    let wrong = file("types", "wrong.csp", "channel c : {0..1}\nP = c -> STOP\n").display().to_string();
    let answer = json(&["types", "--json", &wrong], WRONG);
    assert_eq!(answer["typed"], false);
    assert_eq!(answer["definitions"].as_array().map(Vec::len), Some(0));
    let first = &answer["diagnostics"][0];
    assert_eq!((&first["code"], &first["line"], &first["column"]), (&"C0220".into(), &2.into(), &5.into()));
    let ran = kanon(&["types", &wrong]);
    assert_eq!((ran.code, &*ran.out), (WRONG, ""));
    assert!(ran.err.contains("expected `Event`, found `Int => Event`"), "{}", ran.err);
    let machine = file(
        "types",
        "Wrong.mch",
        "MACHINE Wrong\nVARIABLES x\nINVARIANT x = 1 + TRUE\nINITIALISATION x := 1\nEND",
    );
    assert_eq!(kanon(&["types", &machine.display().to_string()]).code, WRONG);
    assert_eq!(kanon(&["types", "models/no/such.csp"]).code, WRONG);
    // What is typed is not explored by every command, and says so.
    let ran = kanon(&["prove", "models/csp/Buffer.csp"]);
    assert_eq!(ran.code, WRONG);
    let read = "`check`, `ltl`, `eval`, `export`, `simulate`, `repl`, `animate`, `serve` and `types` read it";
    assert!(ran.err.contains(read), "{}", ran.err);
}

#[test]
fn a_script_of_csp_has_values() {
    let ran = kanon(&["eval", "models/csp/Buffer.csp", "{x + N | x <- Value}"]);
    assert_eq!((ran.code, &*ran.out), (HOLDS, "{3, 4}\n"), "{}", ran.err);
    let ran = kanon(&["eval", "models/csp/Buffer.csp", "N < 3"]);
    assert_eq!((ran.code, &*ran.out), (FAILS, "false\n"), "{}", ran.err);
    let ran = kanon(&["eval", "models/csp/Philosophers.csp"]);
    assert_eq!(ran.code, HOLDS, "{}", ran.err);
    for line in ["N = 3\n", "Id = {0, 1, 2}\n", "Polite = … ||| … ||| …\n"] {
        assert!(ran.out.contains(line), "{line}{}", ran.out);
    }
    let ran = kanon(&["eval", "models/csp/Buffer.csp", "head(<>) + 1"]);
    assert_eq!(ran.code, FAILS);
    assert!(ran.err.contains("the empty sequence has no head"), "{}", ran.err);
    assert_eq!(kanon(&["eval", "models/csp/Buffer.csp", "card({1..})"]).code, UNKNOWN);
    assert_eq!(kanon(&["eval", "models/csp/Buffer.csp", "1 == true"]).code, WRONG);
    assert_eq!(kanon(&["eval", "models/demo/Library.mch"]).code, WRONG);
}

#[test]
fn a_script_of_csp_is_checked() {
    let ran = kanon(&["check", "models/csp/Buffer.csp"]);
    assert_eq!(ran.code, HOLDS, "{}{}", ran.out, ran.err);
    assert!(ran.out.contains("assert Buffer(<>) [FD= Chain(N)\n  holds ("), "{}", ran.out);
    let answer = json(&["check", "--json", "models/csp/Philosophers.csp"], HOLDS);
    assert_eq!(answer["verdict"], "holds");
    assert_eq!(answer["assertions"].as_array().map(Vec::len), Some(2));
    assert_eq!(answer["assertions"][0]["kind"], "deadlock");
    let wrong = file("types", "claims.csp", "channel a\nassert STOP [T= a -> STOP\nassert STOP [V= STOP\n");
    let ran = kanon(&["check", &wrong.display().to_string()]);
    assert_eq!(ran.code, FAILS);
    assert!(ran.out.contains("after <a>\n    trace: the specification has no such trace"), "{}", ran.out);
    let open = file("types", "open.csp", "channel c : Int\nP = c?x -> P\nassert P :[deadlock free]\n");
    let ran = kanon(&["check", &open.display().to_string()]);
    assert_eq!(ran.code, UNKNOWN);
    assert!(ran.out.contains("a finite set is needed here"), "{}", ran.out);
    // What is about machines is refused, and so is a script that asserts nothing and has no `MAIN`.
    assert_eq!(kanon(&["check", "--symmetry", "off", "models/csp/Buffer.csp"]).code, WRONG);
    let silent = file("types", "silent.csp", "P = STOP\n").display().to_string();
    assert_eq!(kanon(&["check", &silent]).code, WRONG);
}
