//! Checkpoints as people use them: a program that is killed at any moment, and what goes wrong with folders and files.

use crate::program::{HOLDS, Ran, UNKNOWN, WRONG, file, kanon, program, text};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

/// Queues of elements, large integers: values that are interned, so that their names differ from run to run.
const QUEUES: &str = "MACHINE queues SETS P VARIABLES q, n INVARIANT q : seq(P) & n : INTEGER
    INITIALISATION q, n := [], 0
    OPERATIONS
      put(p) = PRE p : P & size(q) < 5 THEN q := q <- p END;
      get = PRE size(q) > 0 THEN q, n := tail(q), 100000000000000000000 + size(q) END
    END";

pub(crate) fn fresh(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("resumed").join(name);
    let _ = std::fs::remove_dir_all(&path);
    path
}

pub(crate) fn number(name: &str, otherwise: u32) -> u32 {
    std::env::var(name).ok().and_then(|n| n.parse().ok()).unwrap_or(otherwise)
}

pub(crate) fn spawn(args: &[&str]) -> Child {
    let child = program().args(args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    child.expect("the program starts")
}

/// What does not depend on when a run began.
pub(crate) fn essence(answer: &str) -> Value {
    let mut v: Value = serde_json::from_str(answer).unwrap_or_else(|e| panic!("{e}: {answer}"));
    let kept = [
        "verdict",
        "reason",
        "finding",
        "states",
        "transitions",
        "initialisations",
        "constants",
        "deadlocks",
        "violations",
        "operations",
        "complete",
        "broken",
    ];
    if let Some(v) = v.as_object_mut() {
        v.retain(|key, _| kept.contains(&key.as_str()));
    }
    v
}

pub(crate) fn notes(ran: &Ran) -> String {
    let v: Value = serde_json::from_str(&ran.out).unwrap_or_else(|e| panic!("{e}: {}{}", ran.out, ran.err));
    v["notes"].to_string()
}

pub(crate) fn generations(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().filter_map(|e| Some(e.ok()?.path()));
    let mut all: Vec<PathBuf> = entries.filter(|p| p.extension().is_some_and(|e| e == "kanon")).collect();
    all.sort_by_key(|p| p.file_stem().and_then(|s| s.to_str()?.parse::<u64>().ok()));
    all
}

/// A sequence of numbers below 1000 (a linear congruence is random enough for moments).
pub(crate) fn draws(mut seed: u64) -> impl FnMut() -> u64 {
    move || {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) % 1000
    }
}

/// Kills a run again and again, and lets it end at last: the answer is that of a run that nobody has killed. How often
/// it was taken up.
fn killed(name: &str, args: &[&str], kills: u32) -> u32 {
    let begin = Instant::now();
    let expected = program().args(args).arg("--json").output().expect("the program starts");
    let time = begin.elapsed();
    let expected = essence(&String::from_utf8_lossy(&expected.stdout));
    let folder = fresh(name);
    let dir = text(&folder);
    let mut check = args.to_vec();
    check.extend(["--json", "--checkpoint", dir, "--every", "5ms"]);
    let mut draw = draws(kills.into());
    let (mut taken_up, mut finished) = (0, 0);
    let mut is_killed = 0;
    while is_killed < kills {
        let again = !generations(&folder).is_empty();
        let mut child = if again { spawn(&["resume", dir]) } else { spawn(&check) };
        taken_up += u32::from(again);
        // Every other run lives until something is written: a busy machine would kill each before.
        while is_killed % 2 == 0
            && generations(&folder).is_empty()
            && child.try_wait().expect("a child").is_none()
        {
            std::thread::sleep(Duration::from_millis(1));
        }
        // Less than what the whole takes, so that there is something left.
        std::thread::sleep(time.mul_f64(draw() as f64 / 1300.0));
        if child.try_wait().expect("a child").is_some() {
            let done = child.wait_with_output().expect("its output");
            let out = String::from_utf8_lossy(&done.stdout).into_owned();
            assert_eq!(essence(&out), expected, "{name}: {}", String::from_utf8_lossy(&done.stderr));
            finished += 1;
            assert!(generations(&folder).is_empty(), "{name}: it has its answer");
            if finished > kills {
                break;
            }
            continue;
        }
        child.kill().expect("it is killed");
        child.wait().expect("it has ended");
        is_killed += 1;
    }
    let last = if generations(&folder).is_empty() { check.clone() } else { vec!["resume", dir] };
    let ran = kanon(&last);
    assert_eq!(essence(&ran.out), expected, "{name}: {}", ran.err);
    println!("{name}: {is_killed} killed, {taken_up} taken up, {finished} finished");
    taken_up
}

#[test]
fn killed_at_any_moment() {
    let kills = number("KANON_KILLS", 20);
    let queues = file("killed", "queues.mch", QUEUES);
    let scheduler = "models/papers/scheduler1.mch";
    let runs: &[(&str, &[&str])] = &[
        ("plain", &["check", scheduler, "--card", "PROC=6", "--symmetry", "off", "--threads", "1"]),
        ("threads", &["check", scheduler, "--card", "PROC=6", "--symmetry", "off", "--threads", "2"]),
        ("names", &["check", text(&queues), "--card", "P=4", "--symmetry", "off"]),
        (
            "goals",
            &[
                "check",
                scheduler,
                "--card",
                "PROC=5",
                "--symmetry",
                "off",
                "--all",
                "--goal",
                "size(queue) = 2",
            ],
        ),
    ];
    let each = kills.div_ceil(runs.len() as u32);
    let taken_up: u32 = runs.iter().map(|(name, args)| killed(name, args, each)).sum();
    assert!(taken_up > 0, "no run that was killed had written anything");
}

/// A checkpoint at a limit, and one after it: a folder with two generations.
fn two_generations(name: &str) -> PathBuf {
    let folder = fresh(name);
    let dir = text(&folder);
    let scheduler = "models/papers/scheduler1.mch";
    let begun = kanon(&[
        "check",
        scheduler,
        "--card",
        "PROC=5",
        "--symmetry",
        "off",
        "--max-states",
        "900",
        "--checkpoint",
        dir,
    ]);
    assert_eq!(begun.code, UNKNOWN, "{}{}", begun.out, begun.err);
    assert!(begun.out.contains("kanon resume"), "{}", begun.out);
    let more = kanon(&["resume", dir, "--max-states", "2000"]);
    assert_eq!(more.code, UNKNOWN, "{}{}", more.out, more.err);
    assert_eq!(generations(&folder).len(), 2);
    folder
}

/// The limit that the command has is that of a run to the end, too.
fn to_the_end(folder: &Path) -> Ran {
    let ran = kanon(&["resume", text(folder), "--max-states", "100000", "--json"]);
    assert_eq!(ran.code, HOLDS, "{}{}", ran.out, ran.err);
    let v: Value = serde_json::from_str(&ran.out).expect("JSON");
    assert_eq!((&v["states"], &v["transitions"]), (&5200.into(), &19920.into()));
    ran
}

pub(crate) fn copy(from: &Path, name: &str) -> PathBuf {
    let to = fresh(name);
    std::fs::create_dir_all(&to).expect("a folder");
    for path in generations(from) {
        std::fs::copy(&path, to.join(path.file_name().expect("a name"))).expect("a copy");
    }
    to
}

#[test]
fn a_limit_is_no_end() {
    let folder = two_generations("limit");
    let ran = to_the_end(&folder);
    assert!(notes(&ran).contains("taken up from a checkpoint with 2"), "{}", ran.out);
    assert!(generations(&folder).is_empty(), "it has its answer");
}

#[test]
fn what_is_damaged_is_noticed() {
    let good = two_generations("damaged");
    let newest = generations(&good).pop().expect("two");
    let bytes = std::fs::read(&newest).expect("a file");
    let mut draw = draws(7);
    let mut broken: Vec<Vec<u8>> = vec![vec![], bytes[..40].to_vec(), bytes[..bytes.len() - 1].to_vec()];
    // Head, numbers, rows, hash; any bit.
    for part in [0, 9, 17, bytes.len() / 3, bytes.len() / 2, bytes.len() - 40, bytes.len() - 5] {
        let mut flipped = bytes.clone();
        flipped[part] ^= 1 << (draw() % 8);
        broken.push(flipped);
    }
    broken.push(bytes.iter().copied().chain([0]).collect());
    for (i, content) in broken.iter().enumerate() {
        let folder = copy(&good, &format!("damaged-{i}"));
        std::fs::write(folder.join(newest.file_name().expect("a name")), content).expect("a damaged file");
        // From the older one, and not a step further.
        let ran = kanon(&["resume", text(&folder), "--max-states", "1", "--json"]);
        assert_eq!(ran.code, UNKNOWN, "{i}: {}{}", ran.out, ran.err);
        let notes = notes(&ran);
        assert!(notes.contains("is damaged") && notes.contains("with 90"), "{i}: {notes}");
        if i == 4 {
            to_the_end(&folder);
        }
        if i == 5 {
            for path in generations(&folder) {
                std::fs::write(path, b"KANONCKP").expect("a damaged file");
            }
            let ran = kanon(&["resume", text(&folder)]);
            assert_eq!(ran.code, WRONG);
            assert!(ran.err.contains("no checkpoint that can be read"), "{}", ran.err);
        }
    }
}

#[test]
fn a_changed_model_is_refused() {
    let model = file("changed", "queues.mch", QUEUES);
    let folder = fresh("changed");
    let dir = text(&folder);
    let begun =
        kanon(&["check", text(&model), "--symmetry", "off", "--max-states", "200", "--checkpoint", dir]);
    assert_eq!(begun.code, UNKNOWN, "{}{}", begun.out, begun.err);
    std::fs::write(&model, QUEUES.replace("size(q) < 5", "size(q) < 4")).expect("another text");
    let ran = kanon(&["resume", dir]);
    assert_eq!(ran.code, WRONG, "{}{}", ran.out, ran.err);
    assert!(ran.err.contains("the text of queues.mch changed since"), "{}", ran.err);
    std::fs::write(&model, QUEUES).expect("the old text");
    let ran = kanon(&["resume", dir, "--max-states", "300", "--audit"]);
    assert_eq!(ran.code, UNKNOWN, "{}{}", ran.out, ran.err);
    assert!(ran.out.contains("the checkpoint satisfies the invariant of wmc"), "{}", ran.out);
}

#[test]
fn folders_that_do_not_do() {
    let scheduler = "models/papers/scheduler0.mch";
    let wrong = |args: &[&str], words: &str| {
        let ran = kanon(args);
        assert_eq!(ran.code, WRONG, "{args:?}: {}{}", ran.out, ran.err);
        assert!(ran.err.contains(words), "{args:?}: {}", ran.err);
    };
    // A folder that nobody can write into, whoever he is.
    if cfg!(target_os = "linux") {
        wrong(&["check", scheduler, "--checkpoint", "/proc/kanon"], "cannot make the folder");
        wrong(&["check", scheduler, "--checkpoint", "/proc/self"], "cannot write into");
    }
    wrong(&["resume", "/no/such/folder"], "No such file");
    let empty = fresh("empty");
    std::fs::create_dir_all(&empty).expect("a folder");
    wrong(&["resume", text(&empty)], "has no checkpoint yet");
    let used = two_generations("used");
    wrong(&["check", scheduler, "--checkpoint", text(&used)], "has the checkpoint of another run");
    let d = text(&empty);
    wrong(&["check", scheduler, "--checkpoint", d, "--symmetry", "flood"], "in no checkpoint");
    wrong(&["check", scheduler, "--checkpoint", d, "--symmetry", "markers"], "in no checkpoint");
    wrong(&["check", scheduler, "--checkpoint", d, "--audit"], "in no checkpoint");
    wrong(&["check", scheduler, "--checkpoint", d, "--ltl"], "a checkpoint has the states of a search");
    wrong(&["check", scheduler, "--checkpoint", d, "--engine", "bmc"], "states of explicit search");
    wrong(&["check", scheduler, "--every", "1s"], "--checkpoint");
}

/// Two programs on one folder, and what happens to the first when it is asked to end.
#[cfg(unix)]
#[test]
fn a_program_that_is_asked_to_end_writes_a_checkpoint() {
    let endless = "MACHINE endless VARIABLES x INVARIANT x : NATURAL INITIALISATION x := 0\n\
                   OPERATIONS up = x := x + 1; back = SELECT x > 0 THEN x := x - 1 END END\n";
    let model = file("asked", "endless.mch", endless);
    let folder = fresh("asked");
    let dir = text(&folder);
    let child = spawn(&["check", text(&model), "--checkpoint", dir, "--json"]);
    let begin = Instant::now();
    while !folder.join("lock").exists() && begin.elapsed() < Duration::from_secs(20) {
        std::thread::sleep(Duration::from_millis(10));
    }
    let ran = kanon(&["resume", dir]);
    assert_eq!(ran.code, WRONG, "{}{}", ran.out, ran.err);
    assert!(ran.err.contains("another program"), "{}", ran.err);
    std::thread::sleep(Duration::from_millis(1500));
    let asked = std::process::Command::new("kill").args(["-TERM", &child.id().to_string()]).status();
    assert!(asked.is_ok_and(|s| s.success()));
    let ran = Ran::from(child.wait_with_output().expect("it ends"));
    assert_eq!(ran.code, UNKNOWN, "{}{}", ran.out, ran.err);
    assert!(notes(&ran).contains("kanon resume"), "{}", ran.out);
    let before: Value = serde_json::from_str(&ran.out).expect("JSON");
    let states = before["states"].as_u64().expect("states");
    let more = (states + 50).to_string();
    let ran = kanon(&["resume", dir, "--max-states", &more]);
    assert_eq!(ran.code, UNKNOWN, "{}{}", ran.out, ran.err);
    let after: Value = serde_json::from_str(&ran.out).expect("the command had --json");
    assert!(after["states"].as_u64().expect("states") >= states + 50, "{after}");
}

/// A file that cannot grow, as on a disk that is full: the older checkpoint is still good.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk() {
    let folder = fresh("full");
    let dir = text(&folder);
    let scheduler = "models/papers/scheduler1.mch";
    let begun = kanon(&[
        "check",
        scheduler,
        "--card",
        "PROC=5",
        "--symmetry",
        "off",
        "--max-states",
        "60",
        "--checkpoint",
        dir,
    ]);
    assert_eq!(begun.code, UNKNOWN, "{}{}", begun.out, begun.err);
    // 8 KiB at most for each file.
    let limited = |args: &[&str]| {
        let kanon = env!("CARGO_BIN_EXE_kanon");
        let shell = "trap '' XFSZ; ulimit -f 16; exec \"$0\" \"$@\"";
        let mut command = std::process::Command::new("sh");
        command.current_dir(env!("CARGO_MANIFEST_DIR")).args(["-c", shell, kanon]).args(args);
        Ran::from(command.output().expect("a shell"))
    };
    let ran = limited(&["resume", dir, "--max-states", "4000"]);
    assert_eq!(ran.code, UNKNOWN, "{}{}", ran.out, ran.err);
    let words = ["could not be written", "the one before is still good"];
    assert!(words.iter().all(|w| ran.out.contains(w)), "{}", ran.out);
    assert_eq!(generations(&folder).len(), 1);
    assert!(
        !std::fs::read_dir(&folder)
            .expect("a folder")
            .any(|e| { e.expect("an entry").path().extension().is_some_and(|e| e == "tmp") })
    );
    to_the_end(&folder);
}
