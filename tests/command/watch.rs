//! `--watch`: again when a file has changed, and nothing meanwhile.

use crate::program::{FAILS, HOLDS, UNKNOWN, WRONG, file, kanon, program, text};
use std::fs;
use std::io::Read;
use std::path::Path;
use std::process::{Child, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// The program, watching; it ends when this is dropped.
struct Watching {
    child: Child,
    out: Arc<Mutex<String>>,
}

impl Drop for Watching {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Watching {
    fn new(folder: &Path, args: &[&str]) -> Watching {
        let mut child = program()
            .args(args)
            .current_dir(folder)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the program starts");
        let out = Arc::new(Mutex::new(String::new()));
        let streams: [Box<dyn Read + Send>; 2] =
            [Box::new(child.stdout.take().expect("a pipe")), Box::new(child.stderr.take().expect("a pipe"))];
        for mut stream in streams {
            let all = out.clone();
            std::thread::spawn(move || {
                let mut buffer = [0; 4096];
                while let Ok(n @ 1..) = stream.read(&mut buffer) {
                    let text = String::from_utf8_lossy(&buffer[..n]);
                    all.lock().unwrap_or_else(PoisonError::into_inner).push_str(&text);
                }
            });
        }
        Watching { child, out }
    }

    fn all(&self) -> String {
        self.out.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Waits until the texts have been said so many times.
    fn says(&self, wanted: &[(&str, usize)]) {
        let begun = Instant::now();
        while !wanted.iter().all(|(text, n)| self.all().matches(text).count() >= *n) {
            assert!(begun.elapsed() < Duration::from_secs(60), "never: {wanted:?}\n{}", self.all());
            sleep(Duration::from_millis(20));
        }
    }

    fn signal(&self, signal: i32) {
        // SAFETY: the process is a child that was not waited for, so the number is still its own.
        unsafe { libc::kill(self.child.id() as i32, signal) };
    }

    fn code(&mut self) -> Option<i32> {
        let begun = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait().expect("a child") {
                return status.code();
            }
            assert!(begun.elapsed() < Duration::from_secs(30), "it does not end\n{}", self.all());
            sleep(Duration::from_millis(20));
        }
    }
}

const WAITING: &str = "kanon: watching";

fn counter(limit: u32) -> String {
    format!(
        "MACHINE Counter SEES Bound VARIABLES x INVARIANT x : 0..{limit} INITIALISATION x := 0 \
         OPERATIONS up = SELECT x < most THEN x := x + 1 END; reset = BEGIN x := 0 END END"
    )
}

fn bound(most: u32) -> String {
    format!("MACHINE Bound CONSTANTS most PROPERTIES most : NATURAL & most = {most} END")
}

#[test]
fn a_check_runs_again_when_a_file_that_was_read_changes() {
    let machine = file("watch", "Counter.mch", counter(5));
    let folder = machine.parent().expect("a folder");
    let seen = file("watch", "Bound.mch", bound(3));
    let mut w = Watching::new(folder, &["check", "Counter.mch", "--watch"]);
    w.says(&[("Counter: holds", 1), (WAITING, 1)]);
    // The machine that it sees, then itself, with a mistake, and without.
    fs::write(&seen, bound(9)).expect("a file");
    w.says(&[("Counter: fails", 1), (WAITING, 2)]);
    fs::write(&machine, "MACHINE Counter INVARIANT END").expect("a file");
    w.says(&[("error", 1), (WAITING, 3)]);
    fs::write(&machine, counter(9)).expect("a file");
    w.says(&[("Counter: holds", 2), (WAITING, 4)]);
    // An editor that writes another file and puts it in the place of this one.
    fs::remove_file(&seen).expect("a file");
    w.says(&[("error", 2), (WAITING, 5)]);
    let new = file("watch", "Bound.new", bound(4));
    fs::rename(&new, &seen).expect("a file");
    w.says(&[("Counter: holds", 3), (WAITING, 6)]);
    // Nothing that was not read counts, and a pipe gets no control sequences.
    file("watch", "Other.mch", bound(4));
    sleep(Duration::from_millis(600));
    assert_eq!(w.all().matches(WAITING).count(), 6, "{}", w.all());
    assert!(!w.all().contains('\x1b'), "{}", w.all());
    w.signal(libc::SIGINT);
    assert_eq!(w.code(), Some(HOLDS), "the last answer");
}

/// Looking at a few files now and then.
#[cfg(target_os = "linux")]
#[test]
fn waiting_costs_nothing() {
    let machine = file("watch_idle", "Counter.mch", counter(5));
    file("watch_idle", "Bound.mch", bound(3));
    let w = Watching::new(machine.parent().expect("a folder"), &["check", "Counter.mch", "--watch"]);
    w.says(&[(WAITING, 1)]);
    let ticks = || {
        let stat = fs::read_to_string(format!("/proc/{}/stat", w.child.id())).expect("a process");
        let fields = stat.rsplit(')').next().expect("fields").split_whitespace();
        fields.skip(11).take(2).map(|n| n.parse::<u64>().expect("a number")).sum::<u64>()
    };
    let before = ticks();
    sleep(Duration::from_secs(2));
    // A tick is a hundredth of a second: a busy loop has 200 of them.
    assert!(ticks() - before <= 10, "{} ticks", ticks() - before);
}

#[test]
fn a_run_is_given_up_when_its_files_change() {
    let endless = "MACHINE Endless VARIABLES x INVARIANT x : NATURAL INITIALISATION x := 0 \
                   OPERATIONS up = x := x + 1 END";
    let machine = file("watch_endless", "Endless.mch", endless);
    let mut w = Watching::new(machine.parent().expect("a folder"), &["check", "Endless.mch", "--watch"]);
    sleep(Duration::from_millis(500));
    let ends = endless.replace("x := x + 1", "SELECT x < 3 THEN x := x + 1 END; back = BEGIN x := 0 END");
    fs::write(&machine, ends).expect("a file");
    w.says(&[("a file has changed", 1), ("Endless: holds", 1), (WAITING, 1)]);
    // Ctrl-C while it runs.
    fs::write(&machine, endless).expect("a file");
    sleep(Duration::from_millis(800));
    w.signal(libc::SIGTERM);
    assert_eq!(w.code(), Some(UNKNOWN), "{}", w.all());
}

#[test]
fn other_commands_and_projects_are_watched() {
    let machine = file("watch_others", "Counter.mch", counter(5));
    let folder = machine.parent().expect("a folder");
    let seen = file("watch_others", "Bound.mch", bound(3));
    let formulas = file("watch_others", "formulas.txt", "G {x < 4}");
    let project = "[[machine]]\nfile = \"Counter.mch\"\n";
    file("watch_others", "kanon.toml", project);
    let mut ltl =
        Watching::new(folder, &["ltl", "Counter.mch", "--formulas-from", "formulas.txt", "--watch"]);
    let mut all = Watching::new(folder, &["check", "--watch"]);
    ltl.says(&[("holds", 1), (WAITING, 1)]);
    all.says(&[("holds", 1), (WAITING, 1)]);
    fs::write(&formulas, "G {x < 3}").expect("a file");
    ltl.says(&[("fails", 1), (WAITING, 2)]);
    fs::write(&seen, bound(7)).expect("a file");
    all.says(&[("fails", 1), (WAITING, 2)]);
    ltl.signal(libc::SIGINT);
    all.signal(libc::SIGINT);
    assert_eq!((ltl.code(), all.code()), (Some(FAILS), Some(FAILS)));
}

#[test]
fn what_cannot_be_watched_is_told() {
    let ran = kanon(&["bmc", "models/demo/Library.mch", "--watch"]);
    assert_eq!(ran.code, WRONG);
    // A setting of a project would never let it end.
    let project = file("watch_setting", "kanon.toml", "[all]\nwatch = true\n[[machine]]\nfile = \"x.mch\"\n");
    let ran = kanon(&["check", text(&project)]);
    assert_eq!(ran.code, WRONG);
    assert!(ran.err.contains("watch"), "{}", ran.err);
}
