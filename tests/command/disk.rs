//! `--store disk`: more states than memory holds, and what goes wrong with folders.
//!
//! The run stands behind the fences of `memory.rs`: its address space is limited, and where a control group can be made,
//! that is limited to a tenth more than `--max-memory`, page cache included.

use crate::memory::{Group, most};
use crate::program::{FAILS, HOLDS, UNKNOWN, WRONG, json, kanon, program, text};
use serde_json::Value;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Three counters to `most`, and variables that do not change, so that a state has some 460 bytes; and something more that
/// the invariant says.
fn counters(name: &str, most: u32, more: &str) -> PathBuf {
    let names: Vec<String> = (0..120).map(|i| format!("x{i}")).collect();
    let (all, zeros) = (names.join(", "), vec!["0"; names.len()].join(", "));
    let typed: Vec<String> = names.iter().map(|x| format!("{x} : NATURAL")).collect();
    let mut out = format!("MACHINE {name} VARIABLES {all}\nINVARIANT {}{more}\n", typed.join(" & "));
    let _ = writeln!(out, "INITIALISATION {all} := {zeros}\nOPERATIONS");
    let steps = names.iter().take(3).map(|x| format!("  up_{x} = PRE {x} < {most} THEN {x} := {x} + 1 END"));
    let stay = ";\n  stay = skip\nEND\n";
    crate::program::file("disk", &format!("{name}.mch"), out + &steps.collect::<Vec<_>>().join(";\n") + stay)
}

fn fresh(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("disk").join(name);
    let _ = std::fs::remove_dir_all(&path);
    std::fs::create_dir_all(&path).expect("a folder");
    path
}

fn is_empty(folder: &Path) -> bool {
    std::fs::read_dir(folder).expect("the folder").next().is_none()
}

/// What does not depend on where states are.
fn essence(answer: &Value) -> Value {
    let kept = ["verdict", "finding", "states", "transitions", "initialisations", "deadlocks", "operations"];
    kept.iter().map(|key| (key.to_string(), answer[*key].clone())).collect::<serde_json::Map<_, _>>().into()
}

/// A run with limits of the system, given as lines of a shell; the most that it had in memory, as far as was seen.
fn fenced(fence: &str, args: &[&str]) -> (Option<i32>, String, String, u64) {
    let mut command = Command::new("sh");
    command
        .arg("-c")
        .arg(format!("{fence}; exec \"$@\""))
        .arg("sh")
        .arg(env!("CARGO_BIN_EXE_kanon"))
        .args(args);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn().expect("a shell");
    let (process, begun) = (child.id(), Instant::now());
    let (sender, ended) = std::sync::mpsc::channel();
    std::thread::spawn(move || sender.send(child.wait_with_output()));
    let mut had = 0;
    let output = loop {
        had = most(process).unwrap_or(0).max(had);
        match ended.recv_timeout(Duration::from_millis(2)) {
            Ok(output) => break output.expect("its output"),
            Err(_) => assert!(begun.elapsed() < Duration::from_secs(300), "it does not end"),
        }
    };
    let of = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code(), of(&output.stdout), of(&output.stderr), had)
}

/// Many more states than memory holds: in memory there is no answer, on disk the one that there is without a limit.
#[test]
fn more_states_than_memory_holds() {
    const LIMIT: u64 = 64_000_000;
    let (file, folder, n) = (counters("Many", 50, ""), fresh("many"), 51);
    let limit = LIMIT.to_string();
    let store = format!("disk={}", folder.display());
    let args = ["check", text(&file), "--symmetry", "off", "--max-memory", &limit, "--json", "--stats"];
    let group = Group::new("disk", LIMIT + LIMIT / 10);
    let procs = Group::door(group.as_ref());
    let fence = format!("echo $$ >{}; ulimit -v {}", procs.display(), (LIMIT + (2 << 30)) / 1024);
    let (code, out, err, _) = fenced(&fence, &[&args[..], &["--threads", "1"]].concat());
    assert_eq!(code, Some(UNKNOWN), "in memory: {out}{err}");
    let (code, out, err, had) = fenced(&fence, &[&args[..], &["--store", &store]].concat());
    assert_eq!(code, Some(HOLDS), "{out}{err}");
    let answer: Value = serde_json::from_str(&out).expect("JSON");
    assert_eq!(answer["states"], n * n * n);
    assert_eq!(answer["transitions"], 3 * (n - 1) * n * n + n * n * n, "{answer}");
    let part = had as f64 / LIMIT as f64;
    println!("{part:.3} of the limit, in a control group: {}; {}", group.is_some(), answer["notes"]);
    assert!(part <= 1.1, "{part:.3} of the limit");
    let notes = answer["notes"].to_string();
    assert!(notes.contains("states on disk in") && notes.contains("looked up"), "{notes}");
    assert!(is_empty(&folder));
}

/// A trace that goes through states on disk is the one that is found in memory; a program that is killed, and two in one
/// folder, leave nothing.
#[test]
fn traces_are_real_and_nothing_is_left() {
    let (file, folder) = (counters("Late", 36, " & x0 + x1 + x2 < 106"), fresh("late"));
    let store = format!("disk={}", folder.display());
    let of = ["check", text(&file), "--symmetry", "off", "--json", "--threads", "1"];
    let expected = json(&of, FAILS);
    let args = [&of[..], &["--store", &store, "--max-memory", "64M", "--stats"]].concat();
    let spawn =
        || program().args(&args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("a program");
    let (first, second, mut killed) = (spawn(), spawn(), spawn());
    std::thread::sleep(Duration::from_millis(1_500));
    killed.kill().expect("it runs or has ended");
    let _ = killed.wait();
    for child in [first, second] {
        let output = child.wait_with_output().expect("an end");
        let out = String::from_utf8_lossy(&output.stdout);
        assert_eq!(output.status.code(), Some(FAILS), "{out}{}", String::from_utf8_lossy(&output.stderr));
        let answer: Value = serde_json::from_str(&out).expect("JSON");
        assert_eq!(essence(&answer), essence(&expected));
        assert!(answer["notes"].to_string().contains("states on disk in"), "{}", answer["notes"]);
    }
    assert!(is_empty(&folder));
}

/// A disk that is full, here since files may not be larger: no answer, with the reason and the folder.
#[test]
fn a_full_disk_is_no_answer() {
    let (file, folder) = (counters("Full", 36, ""), fresh("full"));
    let store = format!("disk={}", folder.display());
    let args =
        ["check", text(&file), "--symmetry", "off", "--json", "--store", &store, "--max-memory", "64M"];
    for blocks in [8, 20_000] {
        let (code, out, err, _) = fenced(&format!("trap '' XFSZ; ulimit -f {blocks}"), &args);
        assert_eq!(code, Some(UNKNOWN), "{out}{err}");
        let answer: Value = serde_json::from_str(&out).expect("JSON");
        let why = answer["reason"].as_str().unwrap_or_default();
        let told = format!("cannot write states to {}: ", folder.display());
        assert!(why.starts_with(&told), "{why}");
        assert!(answer["notes"].to_string().contains("--store disk=DIR"), "{}", answer["notes"]);
        assert!(is_empty(&folder));
    }
}

#[test]
fn a_folder_that_is_none_is_told_at_once() {
    let file = counters("None", 3, "");
    for (folder, what) in [("/nowhere/at/all", "/nowhere/at/all"), (text(&file), text(&file))] {
        let ran = kanon(&["check", text(&file), "--store", &format!("disk={folder}")]);
        assert_eq!(ran.code, WRONG, "{}{}", ran.out, ran.err);
        assert!(ran.err.contains(&format!("cannot write files in {what}")), "{}", ran.err);
    }
    for wrong in ["disk=", "file", ""] {
        let ran = kanon(&["check", text(&file), "--store", wrong]);
        assert_eq!(ran.code, WRONG, "{wrong}: {}{}", ran.out, ran.err);
        assert!(ran.err.contains("expected memory, disk, or disk=DIR"), "{wrong}: {}", ran.err);
    }
}

#[test]
fn what_does_not_go_with_it_is_refused() {
    let file = counters("Few", 3, "");
    let checkpoint = fresh("checkpoint").join("new");
    let refused: [&[&str]; 9] = [
        &["--threads", "2"],
        &["--order", "dfs"],
        &["--symmetry", "flood"],
        &["--symmetry", "markers"],
        &["--audit"],
        &["--ltl"],
        &["--refinement"],
        &["--engine", "ic3"],
        &["--checkpoint", text(&checkpoint)],
    ];
    for more in refused {
        let ran = kanon(&[&["check", text(&file), "--store", "disk"], more].concat());
        assert_eq!(ran.code, WRONG, "{more:?}: {}{}", ran.out, ran.err);
        assert!(ran.err.contains("`--store"), "{more:?}: {}", ran.err);
    }
    for store in ["memory", "disk"] {
        assert_eq!(kanon(&["check", text(&file), "--store", store]).code, HOLDS);
    }
}

/// Values that states name are in memory: where they fill it, the answer says so.
#[test]
fn values_that_fill_the_memory_are_told() {
    let text_of = "MACHINE Words VARIABLES q INVARIANT q : seq(NATURAL) INITIALISATION q := []\n\
        OPERATIONS push(i) = PRE i : 0..3 THEN q := q <- i END END\n";
    let (file, folder) = (crate::program::file("disk", "Words.mch", text_of), fresh("words"));
    let store = format!("disk={}", folder.display());
    let answer = json(&["check", text(&file), "--json", "--store", &store, "--max-memory", "64M"], UNKNOWN);
    assert!(answer["reason"].as_str().is_some_and(|why| why.contains("bytes of memory")), "{answer}");
    assert!(answer["notes"].to_string().contains("values that states have names of"), "{}", answer["notes"]);
    assert!(is_empty(&folder));
}
