//! `--processes N` and `--hosts FILE`: how the processes of a check find each other.

use crate::distribute::link::Net;
use crate::distribute::meet::{Meeting, Token, meet};
use crate::run::Deadline;
use serde_json::{Value, json};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Processes at most.
pub const MOST: usize = 256;
/// What a process that was started by another finds in its environment: who it is, and where the first one listens.
const JOIN: &str = "KANON_JOIN";
/// A token has at least so many bytes.
const SECRET: usize = 16;
/// How long nothing may be heard of a process.
const SILENCE: Duration = Duration::from_secs(10);
/// A process that has lost the others has so long to end by itself.
const GRACE: Duration = Duration::from_secs(5);

/// How many processes search, and where they are.
#[derive(clap::Args, Clone, Debug, Default)]
pub struct Processes {
    /// Search with so many processes on this machine, each with its share of the states
    #[arg(long, value_name = "N", value_parser = processes, conflicts_with = "hosts")]
    pub processes: Option<usize>,
    /// Search on several machines: the addresses of all processes, one `host:port` on each line; this program is one of
    /// them, by `--process N` that of the N-th line, counted from 0. Process 0 has the answer
    #[arg(long, value_name = "FILE", requires = "process", requires = "token")]
    pub hosts: Option<PathBuf>,
    /// A file with a secret that all processes of `--hosts` have, of at least 16 bytes: who does not know it is refused
    #[arg(long, value_name = "FILE", requires = "hosts")]
    pub token: Option<PathBuf>,
    /// How long the processes of `--hosts` wait for each other at the beginning; 60 seconds unless given
    #[arg(long, value_name = "TIME", requires = "hosts", value_parser = super::every)]
    pub wait: Option<Duration>,
}

/// Whether another process has started this one.
fn is_started() -> bool {
    std::env::var_os(JOIN).is_some()
}

/// The folder of checkpoints of the process that has started this one, as that one knows it.
pub fn folder() -> Option<PathBuf> {
    let join: Value = serde_json::from_str(&std::env::var(JOIN).ok()?).ok()?;
    join["folder"].as_str().map(PathBuf::from)
}

fn processes(text: &str) -> Result<usize, String> {
    match text.parse::<usize>() {
        Ok(n @ 1..=MOST) => Ok(n),
        Ok(_) => Err(format!("from 1 to {MOST} processes")),
        Err(_) => Err("expected a number".into()),
    }
}

impl Processes {
    /// Whether there are several.
    pub fn are_several(&self) -> bool {
        self.hosts.is_some() || self.processes.is_some_and(|n| n > 1)
    }

    /// Whether this is the first of them, or the only one.
    pub fn is_first(&self, process: Option<&str>) -> bool {
        match self.hosts {
            Some(_) => process.is_none_or(|n| n.parse() == Ok(0)),
            None => !is_started(),
        }
    }

    /// Meets the others; the first process starts those of `--processes`, which find checkpoints in its folder.
    ///
    /// # Errors
    /// Who did not come, and why, for people.
    pub fn join(
        &self,
        process: Option<&str>,
        about: &Value,
        folder: Option<&Path>,
    ) -> Result<(Net, Children), String> {
        if let Some(hosts) = &self.hosts {
            return self.meet_hosts(hosts, process, about).map(|net| (net, Children::default()));
        }
        let processes = self.processes.unwrap_or(1);
        let listener = TcpListener::bind("127.0.0.1:0").map_err(|e| format!("cannot listen: {e}"))?;
        let address = listener.local_addr().map_err(|e| format!("cannot listen: {e}"))?.to_string();
        let (me, first, secret) = match std::env::var(JOIN) {
            Err(_) => (0, address.clone(), Token::random()),
            Ok(text) => {
                let join: Value = serde_json::from_str(&text).map_err(|_| format!("{JOIN} is wrong"))?;
                let text = |name: &str| join[name].as_str().unwrap_or_default().to_string();
                let me = join["process"].as_u64().and_then(|n| u16::try_from(n).ok());
                let me = me.filter(|me| usize::from(*me) < processes).ok_or(format!("{JOIN} is wrong"))?;
                (me, text("first"), text("token"))
            }
        };
        let children = Children::default();
        if me == 0 {
            for process in 1..processes {
                let folder = folder.map(Path::to_string_lossy);
                let join = json!({"process": process, "first": address, "token": secret, "folder": folder});
                children.start(&join)?;
            }
        }
        let net = meet(&Meeting {
            me,
            processes,
            token: &Token::of(secret.as_bytes()),
            listener,
            address,
            first,
            about,
            patience: Duration::from_secs(60),
            silence: SILENCE,
            is_off: &|| children.ended(),
        })?;
        Ok((net, children))
    }

    fn meet_hosts(&self, hosts: &PathBuf, process: Option<&str>, about: &Value) -> Result<Net, String> {
        let text = std::fs::read_to_string(hosts).map_err(|e| format!("{}: {e}", hosts.display()))?;
        let lines = text.lines().map(str::trim).filter(|l| !l.is_empty() && !l.starts_with('#'));
        let addresses: Vec<&str> = lines.collect();
        if !(2..=MOST).contains(&addresses.len()) {
            return Err(format!("{}: from 2 to {MOST} addresses are needed", hosts.display()));
        }
        let me = process.and_then(|n| n.parse::<usize>().ok());
        let me = me.ok_or("with `--hosts`, `--process` is the number of a line, counted from 0")?;
        let Some(address) = addresses.get(me) else {
            return Err(format!("{}: there is no process {me}", hosts.display()));
        };
        let secret = match &self.token {
            Some(file) => std::fs::read(file).map_err(|e| format!("{}: {e}", file.display()))?,
            None => vec![],
        };
        let secret = secret.trim_ascii();
        if secret.len() < SECRET {
            return Err(format!(
                "a token has at least {SECRET} bytes, for instance of `openssl rand -hex 32`"
            ));
        }
        let listener = TcpListener::bind(address).map_err(|e| format!("cannot listen at {address}: {e}"))?;
        meet(&Meeting {
            me: me as u16,
            processes: addresses.len(),
            token: &Token::of(secret),
            listener,
            address: address.to_string(),
            first: addresses[0].to_string(),
            about,
            patience: self.wait.unwrap_or(Duration::from_secs(60)),
            silence: SILENCE,
            is_off: &|| None,
        })
    }
}

/// The processes that this one has started; when this is dropped, none is left.
#[derive(Clone, Default)]
pub struct Children(Arc<Started>);

#[derive(Default)]
struct Started(Mutex<Vec<Child>>);

impl Children {
    /// Starts the same command again.
    fn start(&self, join: &Value) -> Result<(), String> {
        let program = std::env::current_exe().map_err(|e| format!("cannot find this program: {e}"))?;
        let child = Command::new(program)
            .args(std::env::args_os().skip(1))
            .env(JOIN, join.to_string())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .spawn()
            .map_err(|e| format!("cannot start another process: {e}"))?;
        self.0.0.lock().unwrap_or_else(PoisonError::into_inner).push(child);
        Ok(())
    }

    /// Whether one of them has ended, in words.
    fn ended(&self) -> Option<String> {
        let mut all = self.0.0.lock().unwrap_or_else(PoisonError::into_inner);
        let ended = |c: &mut Child| c.try_wait().ok().flatten();
        let (at, status) = all.iter_mut().enumerate().find_map(|(i, c)| Some((i + 1, ended(c)?)))?;
        Some(format!("process {at} ended before the search began: {status}"))
    }
}

impl Drop for Started {
    fn drop(&mut self) {
        let all = self.0.get_mut().unwrap_or_else(PoisonError::into_inner);
        let begun = Instant::now();
        for child in all {
            while child.try_wait().is_ok_and(|ended| ended.is_none()) {
                if begun.elapsed() > GRACE {
                    let _ = child.kill();
                    let _ = child.wait();
                    break;
                }
                std::thread::sleep(Duration::from_millis(5));
            }
        }
    }
}

/// Ends what this process evaluates when the others are lost; and the process itself, if that does not help.
pub fn watch(net: &Net, deadline: &Deadline) {
    let (lost, stop) = (net.loss(), deadline.flag.clone());
    let is_first = net.me() == 0;
    std::thread::spawn(move || {
        // Until the connections are closed.
        while let Some(is_lost) = lost() {
            if is_lost {
                stop.store(true, Ordering::Relaxed);
                std::thread::sleep(GRACE);
                if !is_first && lost().is_some() {
                    std::process::exit(super::Exit::Unknown as i32);
                }
                return;
            }
            std::thread::sleep(Duration::from_millis(100));
        }
    });
}
