//! `kanon fmt`: files are changed, named or left alone.

use crate::program::{FAILS, HOLDS, Ran, WRONG, file, kanon, program};
use std::fs;
use std::io::Write;
use std::process::Stdio;

const UNTIDY: &str = "MACHINE M /* kept */ VARIABLES x INVARIANT x:NAT INITIALISATION x:=0 END";
const TIDY: &str = "MACHINE M /* kept */\nVARIABLES x\nINVARIANT x : NAT\nINITIALISATION x := 0\nEND\n";

#[test]
fn files() {
    let (a, b) = (file("fmt", "a.mch", UNTIDY), file("fmt", "b.mch", TIDY));
    let names = [a.display().to_string(), b.display().to_string()];
    let both = |more: &[&str]| kanon(&[&["fmt"], more, &[&*names[0], &*names[1]]].concat());
    let ran = both(&["--check"]);
    assert_eq!((ran.code, ran.out), (FAILS, format!("{}: would be formatted\n", names[0])));
    assert_eq!(fs::read_to_string(&a).ok().as_deref(), Some(UNTIDY), "--check changes nothing");
    let ran = both(&[]);
    assert_eq!((ran.code, ran.out), (HOLDS, format!("{}: formatted\n", names[0])));
    assert_eq!(fs::read_to_string(&a).ok().as_deref(), Some(TIDY));
    assert_eq!(both(&["--check"]).code, HOLDS);
    let ran = both(&["--operators", "unicode"]);
    assert_eq!(ran.code, HOLDS);
    assert_eq!(fs::read_to_string(&b).ok(), Some(TIDY.replace(" : NAT", " ∈ NAT").replace(":=", "≔")));
    // Nothing else is left in the folder.
    let beside = a.parent().map(|f| fs::read_dir(f).into_iter().flatten().count());
    assert_eq!(beside, Some(2));
}

#[test]
fn what_cannot_be_formatted_stays() {
    let wrong = "MACHINE M INVARIANT x : END";
    let (a, b) = (file("fmt-wrong", "a.mch", wrong), file("fmt-wrong", "b.mch", b"MACHINE M /* \xff */ END"));
    let ran = kanon(&["fmt", &a.display().to_string(), &b.display().to_string(), "nowhere.mch"]);
    assert_eq!(ran.code, WRONG);
    assert!(ran.err.contains("a.mch:1:") && ran.err.contains("UTF-8") && ran.err.contains("cannot read"));
    assert_eq!(fs::read_to_string(&a).ok().as_deref(), Some(wrong));
    assert_eq!(kanon(&["fmt", "models/eventb/chain/rodin/mc0.bum"]).code, WRONG);
    assert_eq!(kanon(&["fmt"]).code, WRONG);
}

#[test]
fn standard_input() {
    let ask = |args: &[&str], text: &str| -> Ran {
        let mut child = program();
        child.arg("fmt").args(args).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = child.spawn().expect("the program starts");
        child.stdin.take().expect("it is piped").write_all(text.as_bytes()).expect("it reads");
        child.wait_with_output().expect("it ends").into()
    };
    let ran = ask(&["--stdin"], UNTIDY);
    assert_eq!((ran.code, &*ran.out), (HOLDS, TIDY));
    assert_eq!(ask(&["--stdin", "--check"], UNTIDY).code, FAILS);
    assert_eq!(ask(&["--stdin", "C.eventb"], "context C\nsets\nS\nend").out, "context C\nsets\n  S\nend\n");
    assert_eq!(ask(&["--stdin"], "MACHINE").code, WRONG);
}
