//! Checkpoints of several processes as people use them: programs that are killed at any moment, and what goes wrong with
//! shares.

use crate::checkpoint::{copy, draws, essence, fresh, generations, notes, number, spawn};
use crate::distributed::{ended, hosts};
use crate::program::{FAILS, HOLDS, Ran, UNKNOWN, WRONG, file, json, kanon, text};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

const SCHEDULER: &str = "models/papers/scheduler1.mch";

/// The shares in a folder.
fn shares(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().filter_map(|e| Some(e.ok()?.path()));
    let mut all: Vec<PathBuf> = entries.filter(|p| p.extension().is_some_and(|e| e == "share")).collect();
    all.sort();
    all
}

/// Kills all processes, or one of those that the first has started, again and again, and lets the search end at last by
/// as many, fewer or more.
#[test]
#[cfg(target_os = "linux")]
fn killed_at_any_moment() {
    let kills = number("KANON_KILLS", 18).div_ceil(3);
    let args = ["check", SCHEDULER, "--card", "PROC=6", "--symmetry", "off", "--json"];
    let begun = Instant::now();
    let expected = essence(&json(&[&args[..], &["--processes", "3"]].concat(), HOLDS).to_string());
    let time = begun.elapsed();
    let folder = fresh("killed-shares");
    let dir = text(&folder);
    let mut draw = draws(u64::from(kills));
    let (mut killed, mut taken_up, mut finished) = (0, 0, 0);
    while killed < kills && finished < kills {
        let is_again = !generations(&folder).is_empty();
        let n = ["3", "3", "2", "4"][draw() as usize % 4];
        let mut parent = match is_again {
            true => spawn(&["resume", dir, "--processes", n]),
            false => {
                let more = ["--processes", "3", "--checkpoint", dir, "--every", "5ms"];
                spawn(&[&args[..], &more].concat())
            }
        };
        taken_up += u32::from(is_again);
        // Every other run lives until something is written.
        while killed % 2 == 0
            && generations(&folder).is_empty()
            && parent.try_wait().expect("a child").is_none()
        {
            std::thread::sleep(Duration::from_millis(1));
        }
        std::thread::sleep(time.mul_f64(draw() as f64 / 1500.0));
        let children = crate::distributed::children(parent.id());
        if draw().is_multiple_of(2) && !children.is_empty() {
            crate::distributed::kill(children[draw() as usize % children.len()]);
        } else {
            // It may have ended.
            let _ = parent.kill();
        }
        let ran = parent.wait_with_output().expect("it ends");
        let done = Ran::from(ran);
        if done.code == HOLDS {
            assert!(generations(&folder).is_empty() && shares(&folder).is_empty(), "it has its answer");
        }
        // It may have been killed after it had said all.
        if done.code == HOLDS || done.out.ends_with("}\n") && done.out.contains("\"holds\"") {
            assert_eq!(essence(&done.out), expected, "{}", done.err);
            finished += 1;
            continue;
        }
        if done.code == UNKNOWN && !generations(&folder).is_empty() {
            assert!(done.out.contains("kanon resume"), "{}{}", done.out, done.err);
        }
        killed += 1;
    }
    if generations(&folder).is_empty() {
        return;
    }
    let one = draw().is_multiple_of(2);
    let last = if one { vec!["resume", dir, "--processes", "1", "--audit"] } else { vec!["resume", dir] };
    let ran = kanon(&last);
    assert_eq!(essence(&ran.out), expected, "{}", ran.err);
    println!("{killed} killed, {taken_up} taken up, {finished} finished");
    assert!(taken_up > 0, "no run that was killed had written anything");
}

/// A search of three processes that has come to a limit.
fn limited(name: &str, states: &str) -> PathBuf {
    let folder = fresh(name);
    let args = ["check", SCHEDULER, "--card", "PROC=5", "--symmetry", "off", "--max-states", states];
    let ran = kanon(&[&args[..], &["--processes", "3", "--checkpoint", text(&folder)]].concat());
    assert_eq!(ran.code, UNKNOWN, "{}{}", ran.out, ran.err);
    assert!(ran.out.contains("kanon resume"), "{}", ran.out);
    assert_eq!((generations(&folder).len(), shares(&folder).len()), (1, 3));
    folder
}

/// To the end, by so many.
fn to_the_end(folder: &Path, more: &[&str]) -> Ran {
    let args = ["resume", text(folder), "--max-states", "100000", "--json"];
    let ran = kanon(&[&args[..], more].concat());
    assert_eq!(ran.code, HOLDS, "{}{}", ran.out, ran.err);
    let v: Value = serde_json::from_str(&ran.out).expect("JSON");
    assert_eq!((&v["states"], &v["transitions"]), (&5200.into(), &19920.into()), "{more:?}");
    assert_eq!((generations(folder).len(), shares(folder).len()), (0, 0), "it has its answer");
    ran
}

/// How many states a search went on with. A limit is one for each process, and they do not come to it at the same time.
fn taken_up(notes: &str) -> u64 {
    let number = notes.split("a checkpoint with ").nth(1).and_then(|rest| rest.split(" states").next());
    let digits: String = number.into_iter().flat_map(|n| n.chars().filter(char::is_ascii_digit)).collect();
    digits.parse().unwrap_or_else(|_| panic!("{notes}"))
}

/// The same with all that is in a folder.
fn copied(from: &Path, name: &str) -> PathBuf {
    let to = copy(from, name);
    for path in shares(from) {
        std::fs::copy(&path, to.join(path.file_name().expect("a name"))).expect("a copy");
    }
    to
}

#[test]
fn a_limit_is_no_end_for_any_number() {
    let good = limited("limited-shares", "900");
    for (n, words) in [("1", "taken up"), ("2", "of 3 processes"), ("3", "by 3 processes"), ("5", "among 5")]
    {
        let folder = copied(&good, &format!("limited-shares-{n}"));
        let ran = to_the_end(&folder, &["--processes", n]);
        assert!(notes(&ran).contains(words), "{n}: {}", ran.out);
    }
    // As many as there were, unless it is said otherwise; and an audit by one.
    let folder = copied(&good, "limited-shares-same");
    let ran = kanon(&["resume", text(&folder), "--audit"]);
    assert_eq!(ran.code, WRONG, "{}{}", ran.out, ran.err);
    assert!(ran.err.contains("--processes 1"), "{}", ran.err);
    let ran = to_the_end(&folder, &["--processes", "1", "--audit"]);
    assert!(notes(&ran).contains("satisfies the invariant of wmc"), "{}", ran.out);
    to_the_end(&good, &[]);
}

#[test]
fn a_share_that_is_not_whole_is_no_checkpoint() {
    let good = limited("damaged-shares", "900");
    let ran = kanon(&["resume", text(&good), "--max-states", "2000"]);
    assert_eq!(ran.code, UNKNOWN, "{}{}", ran.out, ran.err);
    assert_eq!((generations(&good).len(), shares(&good).len()), (2, 6));
    let other = limited("other-shares", "1500");
    let newest = generations(&good).pop().expect("two");
    let number = newest.file_stem().and_then(|n| n.to_str()).expect("a number").to_string();
    let of_newest = |path: &&PathBuf| {
        let name = path.file_name().and_then(|n| n.to_str()).expect("a name");
        name.split('.').next() == Some(&number)
    };
    let share = shares(&good).iter().filter(of_newest).nth(1).expect("three").clone();
    let bytes = std::fs::read(&share).expect("a share");
    let mut flipped = bytes.clone();
    flipped[bytes.len() / 2] ^= 4;
    let mut broken = vec![None, Some(vec![]), Some(bytes[..bytes.len() - 1].to_vec()), Some(flipped)];
    broken.push(Some(std::fs::read(&shares(&other)[1]).expect("a share of another run")));
    for (i, content) in broken.iter().enumerate() {
        let folder = copied(&good, &format!("damaged-shares-{i}"));
        let path = folder.join(share.file_name().expect("a name"));
        match content {
            None => std::fs::remove_file(&path).expect("it was there"),
            Some(content) => std::fs::write(&path, content).expect("a damaged file"),
        }
        let n = ["1", "2", "3"][i % 3];
        let ran = kanon(&["resume", text(&folder), "--max-states", "1", "--json", "--processes", n]);
        assert_eq!(ran.code, UNKNOWN, "{i}: {}{}", ran.out, ran.err);
        let notes = notes(&ran);
        assert!(notes.contains("is damaged") && taken_up(&notes) < 1800, "{i}: {notes}");
        if i == 3 {
            to_the_end(&folder, &[]);
        }
        if i == 4 {
            for path in shares(&folder) {
                std::fs::write(path, b"KANONCKP").expect("a damaged file");
            }
            let ran = kanon(&["resume", text(&folder)]);
            assert_eq!(ran.code, WRONG);
            let words = ["no checkpoint that can be read", "its share"];
            assert!(words.iter().all(|w| ran.err.contains(w)), "{}", ran.err);
        }
    }
}

#[test]
fn a_counterexample_is_as_short_after_all() {
    let model = file(
        "shares",
        "grid.mch",
        "MACHINE grid VARIABLES x, y INVARIANT x : INTEGER & y : INTEGER & x + y < 30
         INITIALISATION x, y := 0, 0
         OPERATIONS right = PRE x < 40 THEN x := x + 1 END; up = PRE y < 40 THEN y := y + 1 END END",
    );
    let steps = |v: &Value| v["finding"]["trace"]["steps"].as_array().map(Vec::len);
    let one = json(&["check", text(&model), "--json"], FAILS);
    for n in ["1", "2", "3", "4"] {
        let folder = fresh(&format!("shortest-{n}"));
        let begin = ["check", text(&model), "--json", "--processes", "3", "--max-states", "200"];
        let ran = kanon(&[&begin[..], &["--checkpoint", text(&folder)]].concat());
        assert_eq!(ran.code, UNKNOWN, "{}{}", ran.out, ran.err);
        let args = ["resume", text(&folder), "--processes", n, "--max-states", "100000"];
        let ran = kanon(&args);
        assert_eq!(ran.code, FAILS, "{n}: {}{}", ran.out, ran.err);
        let several: Value = serde_json::from_str(&ran.out).expect("the command had --json");
        assert!(steps(&several).is_some() && steps(&several) == steps(&one), "{n}: {several}");
    }
}

#[test]
fn folders_that_do_not_do_for_several() {
    let endless = "MACHINE endless VARIABLES x, y INVARIANT x : INTEGER & y : INTEGER
        INITIALISATION x, y := 0, 0 OPERATIONS right = x := x + 1; up = y := y + 1 END";
    let model = file("shares", "endless.mch", endless);
    let folder = fresh("locked-shares");
    let dir = text(&folder);
    let parent = spawn(&[
        "check",
        text(&model),
        "--processes",
        "2",
        "--checkpoint",
        dir,
        "--every",
        "200ms",
        "--json",
    ]);
    let begin = Instant::now();
    while generations(&folder).is_empty() && begin.elapsed() < Duration::from_secs(60) {
        std::thread::sleep(Duration::from_millis(10));
    }
    let ran = kanon(&["resume", dir]);
    assert_eq!(ran.code, WRONG, "{}{}", ran.out, ran.err);
    assert!(ran.err.contains("another program"), "{}", ran.err);
    // Who is asked to end writes a last one.
    #[cfg(unix)]
    {
        let asked = std::process::Command::new("kill").args(["-TERM", &parent.id().to_string()]).status();
        assert!(asked.is_ok_and(|s| s.success()));
    }
    let ran = ended(parent);
    assert_eq!(ran.code, UNKNOWN, "{}{}", ran.out, ran.err);
    let before: Value = serde_json::from_str(&ran.out).expect("JSON");
    assert!(notes(&ran).contains("kanon resume"), "{}", ran.out);
    let ran = kanon(&["resume", dir, "--max-states", "1"]);
    let after: Value = serde_json::from_str(&ran.out).expect("the command had --json");
    assert_eq!(after["states"], before["states"], "{}{}", ran.out, ran.err);
    // A checkpoint of one process has no order that several could go on with.
    let more = (before["states"].as_u64().expect("a number") + 50).to_string();
    let ran = kanon(&["resume", dir, "--max-states", &more, "--processes", "1"]);
    assert_eq!(ran.code, UNKNOWN, "{}{}", ran.out, ran.err);
    let ran = kanon(&["resume", dir, "--max-states", "1", "--processes", "2"]);
    assert_eq!(ran.code, WRONG, "{}{}", ran.out, ran.err);
    assert!(ran.err.contains("a checkpoint of one process"), "{}", ran.err);
}

#[test]
fn programs_on_several_machines_have_one_folder() {
    let (hosts, token) = hosts("shared-folder", 2);
    let folder = fresh("of-hosts");
    let model =
        ["check", SCHEDULER, "--card", "PROC=5", "--symmetry", "off", "--json", "--max-states", "900"];
    let who = ["--hosts", text(&hosts), "--token", text(&token), "--process"];
    let run =
        |dir: &Path, n: &'static str| spawn(&[&model[..], &["--checkpoint", text(dir)], &who, &[n]].concat());
    let (one, zero) = (run(&folder, "1"), run(&folder, "0"));
    let (one, zero) = (ended(one), ended(zero));
    assert_eq!((one.code, zero.code), (UNKNOWN, UNKNOWN), "{}{}{}", one.err, zero.out, zero.err);
    assert_eq!((generations(&folder).len(), shares(&folder).len()), (1, 2));
    let again = |n: &'static str| spawn(&["resume", text(&folder), "--process", n, "--max-states", "100000"]);
    let (one, zero) = (again("1"), again("0"));
    let (one, zero) = (ended(one), ended(zero));
    assert_eq!((one.code, zero.code), (HOLDS, HOLDS), "{}{}{}", one.err, zero.out, zero.err);
    let v: Value = serde_json::from_str(&zero.out).expect("JSON");
    assert_eq!((&v["states"], &v["transitions"]), (&5200.into(), &19920.into()));
    // Each its own.
    let (here, there) = (fresh("of-host-0"), fresh("of-host-1"));
    std::fs::create_dir_all(&there).expect("a folder");
    std::fs::write(there.join("lock"), "0123456789abcdef").expect("a file");
    let (one, zero) = (run(&there, "1"), run(&here, "0"));
    let (one, zero) = (ended(one), ended(zero));
    assert_eq!((one.code, zero.code), (WRONG, WRONG), "{}{}{}", one.err, zero.out, zero.err);
    let said = one.out + &one.err;
    assert!(said.contains("the folder of checkpoints"), "{said}");
}
