//! What ends a run before it is complete: limits, the clock, Ctrl-C, readers that go away.

use crate::cli::{BROKEN, FIELDS, SCHEDULER};
use crate::program::{Ran, UNKNOWN, WRONG, file, json as answer, kanon, program, text};
use serde_json::Value;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Never ends: the states are the natural numbers.
pub fn endless(folder: &str) -> PathBuf {
    let machine = "MACHINE endless VARIABLES x INVARIANT x : NATURAL INITIALISATION x := 0\n\
                   OPERATIONS up = x := x + 1; back = SELECT x > 0 THEN x := x - 1 END END\n";
    file(folder, "endless.mch", machine)
}

#[test]
fn limits_end_a_run() {
    let path = endless("limits");
    let v = answer(&["check", text(&path), "--max-states", "1000", "--json"], UNKNOWN);
    assert!(v["reason"].as_str().is_some_and(|r| r.contains("1000")), "{}", v["reason"]);
    assert_eq!((&v["verdict"], &v["complete"]), (&"unknown".into(), &false.into()));
    assert!(v["states"].as_u64() >= Some(1000) && v["open"].as_u64() > Some(0));
    // Also while initial states are made.
    let machine = "MACHINE many VARIABLES x, y INVARIANT 1 = 1 INITIALISATION x :: 0..999 || y :: 0..999 END";
    let many = file("limits", "many.mch", machine);
    let v = answer(&["check", text(&many), "--max-states", "1000", "--json"], UNKNOWN);
    assert_eq!(v["states"], 1000);
    let begin = Instant::now();
    let v = answer(&["check", text(&path), "--timeout", "0.5", "--json"], UNKNOWN);
    assert!(v["reason"].as_str().is_some_and(|r| r.contains("timeout")), "{}", v["reason"]);
    assert!(begin.elapsed() < Duration::from_secs(30));
}

#[test]
fn a_timeout_ends_the_search_for_constants() {
    let machine =
        "MACHINE hard CONSTANTS f PROPERTIES f : 1..12 >->> 1..12 & SIGMA(i).(i : 1..12 | f(i) * i) = 3 END";
    let path = file("hard", "hard.mch", machine);
    let begin = Instant::now();
    let ran = kanon(&["check", text(&path), "--timeout", "1", "--json"]);
    // A clever search finds that there is none.
    assert!([WRONG, UNKNOWN].contains(&ran.code), "{}{}", ran.out, ran.err);
    assert!(begin.elapsed() < Duration::from_secs(30));
}

pub fn wait(child: Child, limit: Duration) -> Ran {
    let (sender, receiver) = std::sync::mpsc::channel();
    std::thread::spawn(move || sender.send(child.wait_with_output()));
    receiver.recv_timeout(limit).expect("the program ends").expect("its output").into()
}

#[cfg(unix)]
#[test]
fn an_interrupt_ends_with_what_is_known() {
    let path = endless("interrupt");
    let mut command = program();
    command.args(["check", text(&path), "--json"]).stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn().expect("the program starts");
    std::thread::sleep(Duration::from_secs(1));
    let killed = Command::new("kill").args(["-INT", &child.id().to_string()]).status();
    assert!(killed.is_ok_and(|s| s.success()));
    let ran = wait(child, Duration::from_secs(30));
    assert_eq!(ran.code, UNKNOWN, "{}", ran.err);
    let v: Value = serde_json::from_str(&ran.out).expect("one object");
    assert_eq!((&v["verdict"], &v["reason"]), (&"unknown".into(), &"interrupted".into()));
    assert!(v["states"].as_u64() > Some(0));
}

/// A single evaluation that takes minutes and looks at no clock.
pub fn deaf(folder: &str) -> PathBuf {
    let machine = "MACHINE deaf VARIABLES x INVARIANT x : INTEGER INITIALISATION x := 3\n\
                   OPERATIONS go = x := card(iterate(%i.(i : 1..3000 | i mod 3000 + 1), 2000000)) END\n";
    file(folder, "deaf.mch", machine)
}

#[test]
fn an_evaluation_that_does_not_end_is_answered_in_time_and_in_full() {
    let path = deaf("deaf");
    let documented = std::fs::read_to_string("docs/json.md").expect("docs/json.md");
    for f in FIELDS {
        assert!(documented.contains(&format!("`{f}`")), "{f} is documented");
    }
    let begin = Instant::now();
    let v = answer(&["check", text(&path), "--timeout", "0.5", "--json"], UNKNOWN);
    // A second and what it takes to start, on a machine that is busy.
    assert!(begin.elapsed() < Duration::from_millis(2500), "{:?}", begin.elapsed());
    for f in FIELDS {
        assert!(v.get(f).is_some(), "{f} is missing: {v}");
    }
    assert_eq!(
        (&v["verdict"], &v["machine"], &v["complete"]),
        (&"unknown".into(), &"deaf".into(), &false.into())
    );
    assert!(v["reason"].as_str().is_some_and(|r| r.contains("timeout after 0.5 s")), "{}", v["reason"]);
    assert_eq!(v["scope"]["maxint"], 3);
    assert!(v["states"].is_null(), "nobody knows how many there are");
    let v = answer(&["ltl", text(&path), "G {x > 0}", "F {x = 0}", "--timeout", "0.5", "--json"], UNKNOWN);
    for (i, formula) in ["G {x > 0}", "F {x = 0}"].iter().enumerate() {
        assert_eq!((&v[i]["formula"], &v[i]["verdict"]), (&(*formula).into(), &"unknown".into()), "{v}");
        assert!(v[i].get("finding").is_some_and(Value::is_null), "{v}");
    }
    let v = answer(&["compare", text(&path), "--timeout", "0.5", "--json"], UNKNOWN);
    assert_eq!((&v["verdict"], &v["machine"]), (&"unknown".into(), &"deaf".into()), "{v}");
    assert!(v["strategies"].is_array() && v["agree"].is_null(), "{v}");
}

#[cfg(target_os = "linux")]
#[test]
fn what_cannot_be_written_is_an_error_and_the_finding_is_shown() {
    // The device takes no byte, but it can be opened.
    let ran = kanon(&["check", BROKEN, "--trace", "/dev/full"]);
    assert_eq!(ran.code, WRONG);
    assert!(ran.out.contains("fails: the invariant is violated"), "{}", ran.out);
    assert!(ran.err.contains("cannot write /dev/full"), "{}", ran.err);
    let v = answer(&["check", BROKEN, "--trace", "/dev/full", "--json"], WRONG);
    assert_eq!(v["verdict"], "fails");
    assert!(v["warnings"][0]["message"].as_str().is_some_and(|m| m.contains("cannot write")), "{v}");
    for args in
        [&["check", BROKEN][..], &["check", SCHEDULER, "--json"], &["--help"], &["eval", SCHEDULER, "1"]]
    {
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full").expect("the device");
        let child = program().args(args).stdout(full).stderr(Stdio::piped()).spawn();
        let ran = wait(child.expect("the program starts"), Duration::from_secs(30));
        assert_eq!(ran.code, WRONG, "{args:?}: {}", ran.err);
        assert!(ran.err.contains("standard output cannot be written"), "{args:?}: {}", ran.err);
    }
}

#[test]
fn nobody_reading_is_no_error() {
    for args in
        [vec!["check", BROKEN, "--json"], vec!["check", BROKEN], vec!["--help"], vec!["eval", SCHEDULER, "1"]]
    {
        let mut child = program()
            .args(&args)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the program starts");
        drop(child.stdout.take());
        let ran = wait(child, Duration::from_secs(30));
        assert!((0..=3).contains(&ran.code), "{args:?}: {} {}", ran.code, ran.err);
    }
}
