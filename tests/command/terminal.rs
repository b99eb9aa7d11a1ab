//! `kanon animate` on a pseudo-terminal: what is on the screen after which keys, also in another size, and what is left of it
//! afterwards.

use crate::program::{WRONG, file, kanon};
use std::fs::File;
use std::io::{Read, Write};
use std::num::NonZero;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// The program on a terminal of its own.
struct Terminal {
    child: Child,
    keys: File,
    parser: Arc<Mutex<vt100::Parser>>,
    bytes: Arc<Mutex<Vec<u8>>>,
    reader: Option<JoinHandle<()>>,
    is_gone: Arc<AtomicBool>,
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn size(rows: u16, columns: u16) -> libc::winsize {
    libc::winsize { ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 }
}

fn cells(n: u16) -> NonZero<u16> {
    NonZero::new(n).expect("a screen has cells")
}

/// Both ends of a pseudo-terminal. Programs that other tests start at the same time get neither, or it would be open as
/// long as they run.
fn pair(rows: u16, columns: u16) -> (OwnedFd, OwnedFd) {
    const MODE: i32 = libc::O_RDWR | libc::O_NOCTTY | libc::O_CLOEXEC;
    // SAFETY: no pointer is passed.
    let master = unsafe { libc::posix_openpt(MODE) };
    assert!(master >= 0, "a pseudo-terminal");
    // SAFETY: it is new, and nobody else has it.
    let master = unsafe { OwnedFd::from_raw_fd(master) };
    let mut name = [0; 64];
    // SAFETY: the descriptor is open; the name has as much room as is said, and the size lives until the calls are over.
    let done = unsafe {
        let fd = master.as_raw_fd();
        libc::grantpt(fd) == 0
            && libc::unlockpt(fd) == 0
            && libc::ptsname_r(fd, name.as_mut_ptr(), name.len()) == 0
            && libc::ioctl(fd, libc::TIOCSWINSZ, &size(rows, columns)) == 0
    };
    assert!(done, "the other end");
    // SAFETY: the name is there, and ends with a zero.
    let slave = unsafe { libc::open(name.as_ptr(), MODE) };
    assert!(slave >= 0, "the other end");
    // SAFETY: it is new, and nobody else has it.
    (master, unsafe { OwnedFd::from_raw_fd(slave) })
}

impl Terminal {
    fn new(args: &[&str], rows: u16, columns: u16) -> Terminal {
        let (master, slave) = pair(rows, columns);
        let end = |fd: &OwnedFd| Stdio::from(fd.try_clone().expect("a descriptor"));
        let mut command = Command::new(env!("CARGO_BIN_EXE_kanon"));
        command.arg("animate").args(args).current_dir(env!("CARGO_MANIFEST_DIR"));
        command.env("TERM", "xterm-256color").env_remove("NO_COLOR");
        command.stdin(end(&slave)).stdout(end(&slave)).stderr(end(&slave));
        // SAFETY: between fork and exec only two system calls are made.
        unsafe {
            command.pre_exec(|| {
                if libc::setsid() < 0 || libc::ioctl(0, libc::TIOCSCTTY, 0) < 0 {
                    return Err(std::io::Error::last_os_error());
                }
                Ok(())
            });
        }
        let child = command.spawn().expect("the program starts");
        drop(slave);
        let keys = File::from(master);
        let parser = Arc::new(Mutex::new(vt100::Parser::new(cells(rows), cells(columns), 0)));
        let bytes = Arc::new(Mutex::new(vec![]));
        let (mut out, seen, all) = (keys.try_clone().expect("a descriptor"), parser.clone(), bytes.clone());
        let is_gone = Arc::new(AtomicBool::new(false));
        let gone = is_gone.clone();
        let reader = std::thread::spawn(move || {
            let mut buffer = [0; 4096];
            loop {
                let mut there = libc::pollfd { fd: out.as_raw_fd(), events: libc::POLLIN, revents: 0 };
                // SAFETY: one descriptor, which lives until the call is over.
                let ready = unsafe { libc::poll(&mut there, 1, 20) };
                if gone.load(Ordering::Relaxed) {
                    return;
                }
                if ready == 0 {
                    continue;
                }
                let Ok(n @ 1..) = out.read(&mut buffer) else { return };
                seen.lock().unwrap_or_else(PoisonError::into_inner).process(&buffer[..n]);
                all.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(&buffer[..n]);
            }
        });
        Terminal { child, keys, parser, bytes, reader: Some(reader), is_gone }
    }

    fn screen(&self) -> String {
        self.parser.lock().unwrap_or_else(PoisonError::into_inner).screen().contents()
    }

    /// Waits until the screen is so.
    fn wait(&self, what: &str, is_so: impl Fn(&str) -> bool) {
        let begun = Instant::now();
        while !is_so(&self.screen()) {
            assert!(begun.elapsed() < Duration::from_secs(60), "never: {what}\n{}", self.screen());
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    fn sees(&self, text: &str) {
        self.wait(text, |screen| screen.contains(text));
    }

    fn press(&mut self, keys: &str) {
        self.keys.write_all(keys.as_bytes()).expect("it reads keys");
    }

    fn resize(&self, rows: u16, columns: u16) {
        self.parser
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .screen_mut()
            .set_size(cells(rows), cells(columns));
        // SAFETY: the descriptor is open, and the size lives until the call is over.
        let done = unsafe { libc::ioctl(self.keys.as_raw_fd(), libc::TIOCSWINSZ, &size(rows, columns)) };
        assert_eq!(done, 0, "another size");
    }

    /// Closes our end of the pair: the terminal is gone.
    fn hang_up(&mut self) {
        self.is_gone.store(true, Ordering::Relaxed);
        if let Some(reader) = self.reader.take() {
            reader.join().expect("the reader ends");
        }
        self.keys = File::open("/dev/null").expect("nothing to write to");
    }

    /// How it ended; the terminal is as before then.
    fn ended(&mut self) -> Option<i32> {
        let begun = Instant::now();
        let code = loop {
            if let Some(status) = self.child.try_wait().expect("a child") {
                break status.code();
            }
            assert!(begun.elapsed() < Duration::from_secs(60), "it does not end\n{}", self.screen());
            std::thread::sleep(Duration::from_millis(20));
        };
        self.wait("the screen of before", |screen| !screen.contains("Operations"));
        let bytes = self.bytes.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let text = String::from_utf8_lossy(&bytes);
        assert!(text.contains("\x1b[?1049l"), "the other screen is left");
        assert!(text.rfind("\x1b[?25h") > text.rfind("\x1b[?25l"), "the cursor is shown again");
        code
    }
}

/// Whether a file can be animated: its operations are on the screen before the program ends.
pub fn animates(file: &[&str]) -> bool {
    let mut t = Terminal::new(file, 24, 80);
    let begun = Instant::now();
    while !t.screen().contains("1 Operations") {
        if let Some(status) = t.child.try_wait().expect("a child") {
            assert_eq!(status.code(), Some(WRONG), "{file:?}: {}", t.screen());
            return false;
        }
        assert!(begun.elapsed() < Duration::from_secs(60), "{file:?}: neither\n{}", t.screen());
        std::thread::sleep(Duration::from_millis(20));
    }
    t.press("q");
    assert_eq!(t.ended(), Some(0), "{file:?}");
    true
}

#[test]
fn a_walk_on_a_terminal_of_80_by_24() {
    let mut t = Terminal::new(&["models/demo/Library.mch"], 24, 80);
    for pane in ["1 Operations", "2 State", "3 Invariant", "4 Why", "5 History", "lent = {}"] {
        t.sees(pane);
    }
    assert!(t.screen().lines().all(|l| l.chars().count() <= 80));
    // A step, why another one is not possible, undo, a branch.
    t.press("\r");
    t.sees("was {}");
    t.sees("borrow(BOOK1,READER1)");
    t.press("u");
    t.wait("undone", |s| !s.contains("was {}"));
    t.press("j\r");
    t.sees("└ borrow");
    t.press("uu:why return\r");
    t.sees("there is no state yet");
    t.press("\r:why return\r");
    t.sees("no b with");
    // A search, a watched expression, a broken invariant.
    t.press(":watch card(lent)\r");
    t.sees("◎ card(lent) = 0");
    t.press(":goto card(lent) = 2\r");
    t.sees("reached after 2 steps");
    t.sees("◎ card(lent) = 2");
    t.press(":random 50 3\r");
    t.sees("invariant broken");
    t.press("q");
    assert_eq!(t.ended(), Some(0));
}

#[test]
fn another_size_and_the_mouse() {
    let mut t = Terminal::new(&["models/demo/Library.mch", "--mouse"], 24, 80);
    t.sees("5 History");
    // Very small: one pane, on all of it.
    t.resize(10, 40);
    t.wait("one pane", |s| s.contains("1 Operations") && !s.contains("2 State"));
    t.resize(40, 140);
    t.wait("all panes", |s| s.contains("1 Operations") && s.contains("4 Why"));
    let wide = t.screen().lines().map(|l| l.chars().count()).max();
    assert!(wide > Some(100), "the whole width is used\n{}", t.screen());
    // The first operation is selected already: a click takes it.
    t.press("\x1b[<0;5;3M\x1b[<0;5;3m");
    t.sees("was {}");
    t.press("\x03");
    assert_eq!(t.ended(), Some(0));
}

#[test]
fn traces_are_saved_and_loaded_and_a_signal_leaves_the_terminal_as_it_was() {
    let saved = file("terminal", "way.prob2trace", "");
    let path = saved.to_str().expect("a path");
    let mut t = Terminal::new(&["models/demo/Library.mch"], 24, 80);
    t.sees("5 History");
    t.press(":goto card(lent) = 2\r");
    t.sees("reached after 2 steps");
    t.press(&format!(":save {path}\r"));
    t.sees("written to");
    t.press("q");
    assert_eq!(t.ended(), Some(0));
    let mut t = Terminal::new(&["models/demo/Library.mch", "--trace", path], 24, 80);
    t.sees("state 3, 3 on the way");
    // SAFETY: the process is a child that was not waited for, so the number is still its own.
    unsafe { libc::kill(t.child.id() as i32, libc::SIGTERM) };
    assert_eq!(t.ended(), Some(0));
}

/// A window that is closed, a connection that breaks: the terminal goes away under the program, which gets SIGHUP, or
/// does not if somebody told it to ignore that.
#[test]
fn it_ends_when_its_terminal_has_gone() {
    for (keys, signal) in [("", None), ("", Some(libc::SIGTERM)), (":goto card(lent) = 7\r", None)] {
        let mut t = Terminal::new(&["models/demo/Library.mch"], 24, 80);
        t.sees("5 History");
        t.press(keys);
        t.hang_up();
        if let Some(signal) = signal {
            // SAFETY: the process is a child that was not waited for, so the number is still its own.
            unsafe { libc::kill(t.child.id() as i32, signal) };
        }
        let begun = Instant::now();
        while t.child.try_wait().expect("a child").is_none() {
            assert!(begun.elapsed() < Duration::from_secs(20), "it goes on without a terminal");
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

#[test]
fn without_a_terminal_it_says_so() {
    let ran = kanon(&["animate", "models/demo/Library.mch"]);
    assert_eq!(ran.code, WRONG);
    assert!(ran.err.contains("needs a terminal") && ran.err.contains("kanon repl"), "{}", ran.err);
}
