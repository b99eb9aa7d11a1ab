//! One SWI-Prolog process, confined, that answers about a program: started, asked, ended.
//!
//! Absent on purpose: what an answer means.

use super::answer::{Answer, Read, read};
use super::confine::confine;
use crate::system::Stop;
use std::io::{Read as _, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// What the process runs.
const SERVER: &str = include_str!("server.pl");

/// The Debian package that has it.
const PACKAGE: &str = "swi-prolog-nox";

/// What it says on its second channel is kept up to this many bytes.
const SAID: usize = 2000;

/// Bytes of a process beside Prolog's stacks: its program, its atoms, what it writes.
const BESIDE: u64 = 1 << 30;

/// Why there is no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Gone {
    /// Somebody set the flag.
    Stopped,
    /// There was no answer for so long.
    Late(Duration),
    /// It has ended, with what it said.
    Ended(String),
}

/// A process that runs.
pub struct Prolog {
    child: Arc<Mutex<Option<Child>>>,
    input: Option<ChildStdin>,
    chunks: Receiver<Vec<u8>>,
    bytes: Vec<u8>,
    at: usize,
    said: Arc<Mutex<Vec<u8>>>,
    late: Duration,
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    // Each holds bytes or a child, which are whole whoever held it.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Prolog, looked for where programs are.
///
/// # Errors
/// That it is not there, and what to install.
fn find() -> Result<PathBuf, String> {
    let paths = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&paths).filter(|p| p.is_absolute()).map(|p| p.join("swipl"));
    // As the link that it is in Debian leads to a program beside Prolog's other files.
    let found = found.filter(|p| p.is_file()).find_map(|p| std::fs::canonicalize(p).ok());
    found.ok_or_else(|| {
        format!("XTL needs SWI-Prolog, and there is no `swipl`: install it (Debian, Ubuntu: {PACKAGE})")
    })
}

/// The folder of Prolog's files: beside the program, or below the folder that the program's folder is in.
fn home(program: &Path) -> Result<PathBuf, String> {
    let near = program.ancestors().skip(1).take(4);
    let homes = near.flat_map(|a| ["", "lib/swi-prolog", "lib/swipl", "lib64/swipl"].map(|h| a.join(h)));
    let found = homes.into_iter().find(|h| h.join("boot.prc").is_file());
    found.ok_or_else(|| format!("{} has no `boot.prc` near it: what Prolog consists of", program.display()))
}

/// Prolog, confined, that will run a goal.
///
/// # Errors
/// That it is missing, or cannot be confined.
fn command(goal: &str, stacks: u64) -> Result<Command, String> {
    let program = find()?;
    let home = home(&program)?;
    let mut command = Command::new(&program);
    command
        .args(["-q", "-f", "none", "-F", "none", "--packs=false", "--threads=false", "--signals=false"])
        .arg(format!("--stack-limit={stacks}b"))
        .arg(format!("--home={}", home.display()))
        .args(["-g", goal, "-t", "halt"])
        .env_clear()
        .env("LANG", "C.UTF-8")
        .current_dir("/")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    confine(&mut command, &program, &home, stacks + BESIDE)?;
    Ok(command)
}

impl Prolog {
    /// Starts one. `stacks` is how many bytes its stacks may have, `late` how long an answer may take.
    ///
    /// # Errors
    /// That Prolog is missing, or cannot be confined.
    pub fn start(stacks: u64, late: Duration) -> Result<Prolog, String> {
        let goal = "set_stream(user_input,encoding(octet)),load_files(kanon_xtl,[stream(user_input)]),\
                    kanon_xtl:serve,halt";
        let command = command(goal, stacks)?;
        let (ready, started) = sync_channel(1);
        let (sender, chunks) = sync_channel(64);
        let child = Arc::new(Mutex::new(None));
        let (kept, said) = (Arc::clone(&child), Arc::new(Mutex::new(vec![])));
        let heard = Arc::clone(&said);
        // The process ends with the thread that started it, so that is one which lives as long.
        let begin = move || tend(command, &kept, &heard, &ready, &sender);
        std::thread::Builder::new()
            .name("prolog".into())
            .spawn(begin)
            .map_err(|e| format!("no thread for SWI-Prolog: {e}"))?;
        let input = started.recv().map_err(|_| "SWI-Prolog was not started".to_string())??;
        let mut prolog = Prolog { child, input: Some(input), chunks, bytes: vec![], at: 0, said, late };
        prolog.say(SERVER.as_bytes());
        prolog.say(b"\nend_of_file.\n");
        Ok(prolog)
    }

    /// One that has said this, and is gone.
    pub fn heard(bytes: Vec<u8>) -> Prolog {
        let (sender, chunks) = sync_channel(1);
        // There is room for one, and it is dropped by nobody but the owner of `chunks`.
        let _ = sender.send(bytes);
        let (child, said) = (Arc::default(), Arc::default());
        Prolog { child, input: None, chunks, bytes: vec![], at: 0, said, late: Duration::ZERO }
    }

    /// Hands it bytes. That it does not take them is found out when it is asked.
    pub fn say(&mut self, bytes: &[u8]) {
        let taken = self.input.as_mut().is_some_and(|i| i.write_all(bytes).is_ok());
        if !taken {
            self.input = None;
        }
    }

    /// A request: a word with the lengths of the parts, and the parts.
    pub fn ask(&mut self, word: &str, parts: &[&[u8]]) {
        let mut line = word.to_string();
        for part in parts {
            line.push_str(&format!(" {}", part.len()));
        }
        line.push('\n');
        self.say(line.as_bytes());
        for part in parts {
            self.say(part);
        }
    }

    /// All that was said has arrived, or will.
    pub fn flush(&mut self) {
        let taken = self.input.as_mut().is_some_and(|i| i.flush().is_ok());
        if !taken {
            self.input = None;
        }
    }

    /// The next thing that it says.
    ///
    /// # Errors
    /// Why it says nothing; then it is of no use any more.
    pub fn hear(&mut self, stop: &Stop) -> Result<Answer, Gone> {
        let begin = Instant::now();
        loop {
            match read(&self.bytes[self.at..]) {
                Read::Frame(answer, used) => {
                    self.at += used;
                    return Ok(answer);
                }
                Read::More => {}
                Read::Wrong(what) => return Err(Gone::Ended(what.to_string())),
            }
            self.bytes.drain(..self.at);
            self.at = 0;
            match self.chunks.recv_timeout(Duration::from_millis(20)) {
                Ok(chunk) => self.bytes.extend(chunk),
                Err(RecvTimeoutError::Timeout) if stop.load(Ordering::Relaxed) => return Err(Gone::Stopped),
                Err(RecvTimeoutError::Timeout) if begin.elapsed() > self.late => {
                    return Err(Gone::Late(self.late));
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Err(Gone::Ended(self.last_words())),
            }
        }
    }

    fn last_words(&mut self) -> String {
        self.input = None;
        let status = lock(&self.child).as_mut().and_then(|c| c.wait().ok());
        let Some(status) = status.map(|s| s.to_string()) else { return "it is gone".to_string() };
        // The other channel closes with the process; whoever reads it needs a moment.
        std::thread::sleep(Duration::from_millis(20));
        let said =
            String::from_utf8_lossy(&lock(&self.said)).split_whitespace().collect::<Vec<_>>().join(" ");
        if said.is_empty() { status } else { format!("{status}: {said}") }
    }
}

impl Drop for Prolog {
    fn drop(&mut self) {
        self.input = None;
        if let Some(child) = lock(&self.child).as_mut() {
            // It may have ended; then there is nothing to do.
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// Starts the process and hands on what it says, until it is silent for good.
fn tend(
    mut command: Command,
    child: &Mutex<Option<Child>>,
    said: &Arc<Mutex<Vec<u8>>>,
    ready: &SyncSender<Result<ChildStdin, String>>,
    sender: &SyncSender<Vec<u8>>,
) {
    let mut started = match command.spawn() {
        Ok(started) => started,
        Err(e) => {
            let _ = ready.send(Err(format!("SWI-Prolog cannot be started, confined as it has to be: {e}")));
            return;
        }
    };
    let (Some(input), Some(mut output), Some(mut errors)) =
        (started.stdin.take(), started.stdout.take(), started.stderr.take())
    else {
        let _ = ready.send(Err("SWI-Prolog has no channels".into()));
        return;
    };
    *lock(child) = Some(started);
    let said = Arc::clone(said);
    let listener = std::thread::Builder::new().name("prolog-errors".into()).spawn(move || {
        let mut bytes = [0; 512];
        while let Ok(n) = errors.read(&mut bytes)
            && n > 0
        {
            let mut said = lock(&said);
            let room = SAID.saturating_sub(said.len()).min(n);
            said.extend(&bytes[..room]);
        }
    });
    if ready.send(Ok(input)).is_err() {
        return;
    }
    let mut bytes = [0; 1 << 15];
    while let Ok(n) = output.read(&mut bytes)
        && n > 0
        && sender.send(bytes[..n].to_vec()).is_ok()
    {}
    if let Ok(listener) = listener {
        let _ = listener.join();
    }
}

#[cfg(all(test, target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
mod tests {
    use super::*;

    /// What is left when a goal has got past everything that Prolog itself looks at.
    #[test]
    fn prolog_is_confined_whatever_it_runs() {
        let there = std::env::temp_dir().join(format!("kanon-prolog-{}", std::process::id()));
        std::fs::write(&there, "secret").expect("a file");
        let path = there.display();
        let says = |goal: &str| {
            let goal = format!("catch(({goal} -> write(done) ; write(no)), _, write(no))");
            let mut command = command(&goal, 1 << 27).expect("SWI-Prolog is installed");
            let output = command.stdin(Stdio::null()).output().expect("it starts");
            String::from_utf8_lossy(&output.stdout).trim().to_string()
        };
        assert_eq!(says("length(L, 3), L = [_|_]"), "done");
        assert_eq!(says("use_module(library(lists)), append(_, [1], [1])"), "done");
        // It takes a shell that could not be started for one that ended well: what counts is the file.
        says(&format!("shell('echo more >> {path}', 0)"));
        for goal in [
            format!("open('{path}', write, _)"),
            format!("open('{path}', append, _)"),
            format!("open('{path}.new', write, _)"),
            format!("delete_file('{path}')"),
            format!("rename_file('{path}', '{path}.new')"),
            "make_directory('/tmp/kanon-made')".to_string(),
            "use_module(library(process)), process_create('/bin/true', [], [])".to_string(),
            "use_module(library(socket)), tcp_socket(_)".to_string(),
            "use_module(library(socket)), tcp_connect('127.0.0.1':80, _, [])".to_string(),
            "use_module(library(unix)), fork(_)".to_string(),
            "use_module(library(unix)), exec('/bin/true')".to_string(),
            "length(_, 1000000000)".to_string(),
        ] {
            assert_ne!(says(&goal), "done", "{goal}");
        }
        assert_eq!(std::fs::read_to_string(&there).expect("still there"), "secret");
        std::fs::remove_file(&there).expect("removed");
    }
}
