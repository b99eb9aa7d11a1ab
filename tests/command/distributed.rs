//! `kanon check --processes` and `--hosts`: programs that search together, and what goes wrong with them.

use crate::program::{FAILS, HOLDS, Ran, UNKNOWN, WRONG, file, json, kanon, program, text};
use serde_json::Value;
use std::net::TcpListener;
use std::path::PathBuf;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

const RING: &str = "models/papers/TokenRing.mch";

/// More than there is time for, so that whatever ends it is what a test does.
const ENDLESS: &str = "MACHINE endless VARIABLES x, y INVARIANT x : INTEGER & y : INTEGER
    INITIALISATION x, y := 0, 0 OPERATIONS right = x := x + 1; up = y := y + 1 END";

fn endless() -> PathBuf {
    file("distributed", "endless.mch", ENDLESS)
}

fn spawn(args: &[&str]) -> Child {
    let child = program().args(args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    child.expect("the program starts")
}

pub(crate) fn ended(child: Child) -> Ran {
    child.wait_with_output().expect("it ends").into()
}

/// What does not depend on how many processes there were.
fn essence(v: &Value) -> Vec<Value> {
    let kept =
        ["verdict", "states", "transitions", "initialisations", "constants", "deadlocks", "violations"];
    kept.iter().chain(&["complete"]).map(|name| v[name].clone()).collect()
}

#[test]
fn the_answer_is_that_of_one_process() {
    for symmetry in ["off", "auto"] {
        let args = ["check", RING, "--card", "Server=4", "--symmetry", symmetry, "--json", "--no-deadlock"];
        let one = json(&args, HOLDS);
        for n in ["2", "4"] {
            let several = json(&[&args[..], &["--processes", n]].concat(), HOLDS);
            assert_eq!(essence(&several), essence(&one), "{symmetry}, {n} processes");
            let notes = several["notes"].to_string();
            assert!(notes.contains(&format!("{n} processes searched together")), "{notes}");
        }
    }
}

#[test]
fn a_counterexample_is_printed_like_every_other() {
    let model = file(
        "distributed",
        "grid.mch",
        "MACHINE grid VARIABLES x, y INVARIANT x : INTEGER & y : INTEGER & x + y < 5
         INITIALISATION x, y := 0, 0
         OPERATIONS right = PRE x < 20 THEN x := x + 1 END; up = PRE y < 20 THEN y := y + 1 END END",
    );
    let steps = |v: &Value| v["finding"]["trace"]["steps"].as_array().map(Vec::len);
    let one = json(&["check", text(&model), "--json"], FAILS);
    let several = json(&["check", text(&model), "--json", "--processes", "3"], FAILS);
    assert_eq!(steps(&several), steps(&one), "{several}");
    assert!(steps(&several).is_some(), "{several}");
    assert_eq!(several["finding"]["kind"], one["finding"]["kind"]);
}

#[test]
fn what_does_not_go_together_is_refused() {
    for more in [
        &["--audit"][..],
        &["--order", "dfs"],
        &["--symmetry", "flood"],
        &["--symmetry", "markers"],
        &["--ltl"],
        &["--threads", "2"],
        &["--certificate", "target/never"],
        &["--coverage"],
        &["--refinement"],
        &["--engine", "ic3"],
        &["--report", "target/never"],
    ] {
        let ran = kanon(&[&["check", RING, "--processes", "2"], more].concat());
        assert_eq!(ran.code, WRONG, "{more:?}: {}{}", ran.out, ran.err);
        assert!(ran.err.contains("process") && ran.err.contains("leave out"), "{more:?}: {}", ran.err);
    }
    assert_eq!(kanon(&["check", RING, "--processes", "0"]).code, WRONG);
    assert_eq!(kanon(&["check", RING, "--hosts", "hosts"]).code, WRONG, "without a token");
}

#[test]
fn a_limit_of_time_ends_all() {
    let begun = Instant::now();
    let answer = json(&["check", text(&endless()), "--json", "--processes", "2", "--timeout", "2"], UNKNOWN);
    assert!(answer["reason"].to_string().contains("timeout"), "{answer}");
    assert!(begun.elapsed() < Duration::from_secs(30));
}

/// Processes that this one has started.
#[cfg(target_os = "linux")]
pub(crate) fn children(parent: u32) -> Vec<i32> {
    let entries = std::fs::read_dir("/proc").into_iter().flatten().filter_map(Result::ok);
    let pids = entries.filter_map(|e| e.file_name().to_str()?.parse::<i32>().ok());
    let is_child = |pid: &i32| {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        let behind = stat.rsplit(')').next().unwrap_or_default();
        // The state and the parent; one that has ended waits for its parent and does nothing.
        let mut words = behind.split_whitespace();
        words.next() != Some("Z") && words.next() == Some(&parent.to_string())
    };
    pids.filter(is_child).collect()
}

#[cfg(target_os = "linux")]
fn until<T>(what: &str, mut there: impl FnMut() -> Option<T>) -> T {
    let begun = Instant::now();
    loop {
        match there() {
            Some(found) => return found,
            None => assert!(begun.elapsed() < Duration::from_secs(60), "{what}"),
        }
        std::thread::sleep(Duration::from_millis(2));
    }
}

#[cfg(target_os = "linux")]
pub(crate) fn kill(pid: i32) {
    let pid = nix::unistd::Pid::from_raw(pid);
    // It may have ended.
    let _ = nix::sys::signal::kill(pid, nix::sys::signal::Signal::SIGKILL);
}

#[test]
#[cfg(target_os = "linux")]
fn a_process_that_is_killed_is_no_answer() {
    let model = endless();
    for after in [0, 50, 400, 1_500] {
        let parent = spawn(&["check", text(&model), "--processes", "3"]);
        let all = until("two children", || Some(children(parent.id())).filter(|all| all.len() == 2));
        std::thread::sleep(Duration::from_millis(after));
        kill(all[usize::from(after > 100)]);
        let killed = Instant::now();
        let ran = ended(parent);
        assert!(ran.code == UNKNOWN || ran.code == WRONG, "after {after} ms: {}{}", ran.out, ran.err);
        let said = ran.out + &ran.err;
        assert!(said.contains("process ") && !said.contains("holds"), "{said}");
        assert!(killed.elapsed() < Duration::from_secs(30), "{:?}", killed.elapsed());
        for child in all {
            until("no child is left", || {
                (!std::path::Path::new(&format!("/proc/{child}")).exists()).then_some(())
            });
        }
    }
}

#[test]
#[cfg(target_os = "linux")]
fn without_the_first_process_none_is_left() {
    let model = endless();
    let mut parent = spawn(&["check", text(&model), "--processes", "3"]);
    let all = until("two children", || Some(children(parent.id())).filter(|all| all.len() == 2));
    std::thread::sleep(Duration::from_millis(700));
    parent.kill().expect("it is killed");
    parent.wait().expect("it has ended");
    for child in all {
        until("no child is left", || {
            let stat = std::fs::read_to_string(format!("/proc/{child}/stat")).unwrap_or_default();
            (stat.is_empty() || stat.contains(") Z ")).then_some(())
        });
    }
}

/// A file of so many addresses on the loopback, and one of a token.
pub(crate) fn hosts(name: &str, n: usize) -> (PathBuf, PathBuf) {
    let listeners: Vec<TcpListener> =
        (0..n).map(|_| TcpListener::bind("127.0.0.1:0").expect("a port")).collect();
    let lines: Vec<String> =
        listeners.iter().map(|l| l.local_addr().expect("an address").to_string()).collect();
    let hosts = file("distributed", &format!("{name}.hosts"), lines.join("\n"));
    (hosts, file("distributed", "token", "an open secret of these tests\n"))
}

#[test]
fn programs_that_know_each_other_search_together() {
    let (hosts, token) = hosts("three", 3);
    let args = ["check", RING, "--card", "Server=3", "--symmetry", "auto", "--json"];
    let one = json(&args, kanon(&args).code);
    let shared = ["--hosts", text(&hosts), "--token", text(&token), "--process"];
    let run = |n: &'static str| spawn(&[&args[..], &shared, &[n]].concat());
    let all: Vec<Child> = ["1", "2", "0"].into_iter().map(run).collect();
    let all: Vec<Ran> = all.into_iter().map(ended).collect();
    let code = all[2].code;
    assert!(all.iter().all(|ran| ran.code == code), "they end alike");
    let answer: Value = serde_json::from_str(&all[2].out).unwrap_or_else(|e| panic!("{e}: {}", all[2].err));
    assert_eq!(essence(&answer), essence(&one));
    assert_eq!((&*all[0].out, &*all[1].out), ("", ""), "process 0 has the answer");
}

#[test]
fn programs_that_differ_do_not() {
    let (hosts, token) = hosts("two", 2);
    let other_token = file("distributed", "token2", "another secret of these tests\n");
    let other_model = file("distributed", "endless2.mch", ENDLESS.replace("x + 1", "x + 2"));
    let same_name = file("distributed/other", "endless.mch", ENDLESS.replace("x + 1", "x + 2"));
    let model = endless();
    let (model, token) = (text(&model), text(&token));
    let run = |model: &str, token: &str, process: &str, more: &[&str]| {
        let args =
            ["check", model, "--hosts", text(&hosts), "--process", process, "--token", token, "--wait", "6s"];
        spawn(&[&args[..], more].concat())
    };
    let cases =
        [(run(model, token, "0", &[]), run(text(&same_name), token, "1", &[]), "the text of endless.mch")];
    for (zero, one, expected) in cases {
        let begun = Instant::now();
        for ran in [ended(zero), ended(one)] {
            assert_eq!(ran.code, WRONG, "{}{}", ran.out, ran.err);
            assert!(ran.err.contains(expected), "{}", ran.err);
        }
        assert!(begun.elapsed() < Duration::from_secs(30));
    }
    let (zero, one) = (run(model, token, "0", &[]), run(text(&other_model), token, "1", &[]));
    assert!(ended(zero).err.contains("endless2.mch") && ended(one).err.contains("endless2.mch"));
    let (zero, one) = (run(model, token, "0", &["--all"]), run(model, token, "1", &[]));
    assert!(ended(zero).err.contains("the options") && ended(one).err.contains("the options"));
    let (zero, one) = (run(model, token, "0", &[]), run(model, text(&other_token), "1", &[]));
    let (zero, one) = (ended(zero), ended(one));
    assert_eq!((zero.code, one.code), (WRONG, WRONG));
    assert!(zero.err.contains("refused") && one.err.contains("token"), "{}{}", zero.err, one.err);
    // Nobody comes at all.
    let alone = ended(run(model, token, "1", &[]));
    assert!(alone.code == WRONG && alone.err.contains("does not answer"), "{}", alone.err);
}
