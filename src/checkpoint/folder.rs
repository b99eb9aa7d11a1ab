//! The folder of checkpoints: one program at a time, and two files, so that there is an older one if the newer is damaged.
//!
//! A file is named by its generation, `7.kanon`; it has its name when all of it is on the disk, and only then the one
//! before the last is removed. The lock is the system's, on a file that is empty otherwise, so that it ends with the
//! program that has it, however that ends.

use super::file::Reader;
use super::shares;
use serde_json::Value;
use std::fs::{self, File, OpenOptions};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

const SUFFIX: &str = "kanon";
/// Of what one of several processes has written.
const SHARE: &str = "share";

/// A folder that nobody else has while this is there; of several processes that search together, the first has it.
#[derive(Debug)]
pub struct Folder {
    path: PathBuf,
    /// What tells this run from all others.
    run: Mutex<String>,
    _lock: Option<File>,
}

/// A checkpoint that can be read.
pub struct Found {
    pub path: PathBuf,
    pub generation: u64,
    pub reader: Reader,
    pub head: Value,
    /// The shares of several processes.
    pub shares: Option<Vec<shares::Found>>,
    /// Newer ones that cannot, and why.
    pub damaged: Vec<(PathBuf, String)>,
}

impl Folder {
    /// A folder for the checkpoints of a run that begins: it is made if it is not there, and has to have none.
    ///
    /// # Errors
    /// What is in the way, for people.
    pub fn begin(path: &Path) -> Result<Folder, String> {
        fs::create_dir_all(path).map_err(|e| format!("cannot make the folder {}: {e}", path.display()))?;
        let folder = Folder::locked(path)?;
        if folder.generations()?.is_empty() {
            return Ok(folder);
        }
        Err(format!(
            "{0} has the checkpoint of another run: `kanon resume {0}` goes on with it; take another folder, or remove it",
            path.display()
        ))
    }

    /// The folder of a run that is to be taken up.
    ///
    /// # Errors
    /// What is in the way, for people.
    pub fn again(path: &Path) -> Result<Folder, String> {
        if !path.is_dir() {
            return Err(format!("{} is no folder with checkpoints", path.display()));
        }
        Folder::locked(path)
    }

    /// The folder of a run whose first process has it.
    pub fn beside(path: &Path) -> Folder {
        Folder { path: path.to_path_buf(), run: Mutex::default(), _lock: None }
    }

    /// What tells this run from all others.
    pub fn run(&self) -> String {
        self.run.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Reads that, when the first process has written it: those who read the same have the same folder.
    ///
    /// # Errors
    /// It is not there, for people.
    pub fn find_run(&self) -> Result<(), String> {
        if self._lock.is_none() {
            let name = self.path.join("lock");
            let run = fs::read_to_string(&name).map_err(|e| {
                format!("{}: {e}; all processes have to have one folder for checkpoints", name.display())
            })?;
            let is_one = run.len() == 16 && run.bytes().all(|b| b.is_ascii_hexdigit());
            *self.run.lock().unwrap_or_else(PoisonError::into_inner) =
                is_one.then_some(run).ok_or_else(|| format!("{} says nothing", name.display()))?;
        }
        Ok(())
    }

    fn locked(path: &Path) -> Result<Folder, String> {
        let name = path.join("lock");
        let lock = OpenOptions::new().create(true).truncate(false).write(true).open(&name);
        let lock = lock.map_err(|e| format!("cannot write into {}: {e}", path.display()))?;
        match try_lock(&lock) {
            Ok(true) => {
                let run = format!("{:016x}", RandomState::new().build_hasher().finish());
                lock.set_len(0)
                    .and_then(|()| (&lock).write_all(run.as_bytes()))
                    .map_err(|e| format!("cannot write into {}: {e}", path.display()))?;
                Ok(Folder { path: path.to_path_buf(), run: Mutex::new(run), _lock: Some(lock) })
            }
            Ok(false) => Err(format!("another program is writing checkpoints into {}", path.display())),
            Err(e) => Err(format!("cannot lock {}: {e}", name.display())),
        }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Where a generation is.
    pub fn of(&self, generation: u64) -> PathBuf {
        self.path.join(format!("{generation}.{SUFFIX}"))
    }

    /// Where a process's share of a generation is.
    pub fn share_of(&self, generation: u64, process: u16) -> PathBuf {
        self.path.join(format!("{generation}.{process}.{}.{SHARE}", self.run()))
    }

    /// Removes shares, and what was to become one, but those of some generations.
    fn forget_shares(&self, but: &[u64]) {
        for entry in fs::read_dir(&self.path).into_iter().flatten().flatten() {
            let path = entry.path();
            let is_share = path.extension().is_some_and(|e| e == SHARE || e == "tmp");
            let name = path.file_name().filter(|_| is_share).and_then(|n| n.to_str());
            let name = name.filter(|n| n.split('.').count() == 4);
            let generation = name.and_then(|n| n.split('.').next()?.parse::<u64>().ok());
            if generation.is_some_and(|g| !but.contains(&g)) {
                let _ = fs::remove_file(path);
            }
        }
    }

    /// The generations that are there, the newest first.
    fn generations(&self) -> Result<Vec<u64>, String> {
        let unreadable = |e: io::Error| format!("cannot read {}: {e}", self.path.display());
        let mut all = vec![];
        for entry in fs::read_dir(&self.path).map_err(unreadable)? {
            let path = entry.map_err(unreadable)?.path();
            let is_ours = path.extension().is_some_and(|e| e == SUFFIX);
            let number = path.file_stem().filter(|_| is_ours).and_then(|s| s.to_str()?.parse::<u64>().ok());
            all.extend(number);
        }
        all.sort_unstable_by_key(|n: &u64| std::cmp::Reverse(*n));
        Ok(all)
    }

    /// The newest checkpoint whose hash is right.
    ///
    /// # Errors
    /// There is none, for people.
    pub fn newest(&self) -> Result<Found, String> {
        let mut damaged = vec![];
        for generation in self.generations()? {
            let path = self.of(generation);
            let read = Reader::open(&path).map_err(|e| e.to_string()).and_then(|(reader, head)| {
                let head: Value =
                    serde_json::from_str(&head).map_err(|_| "its head is no JSON".to_string())?;
                let shares = shares::find(&head, &self.path)?;
                Ok((reader, head, shares))
            });
            match read {
                Ok((reader, head, shares)) => {
                    return Ok(Found { path, generation, reader, head, shares, damaged });
                }
                Err(why) => damaged.push((path, why)),
            }
        }
        let list: Vec<String> = damaged.iter().map(|(p, why)| format!("{}: {why}", p.display())).collect();
        Err(match list.is_empty() {
            true => format!("{} has no checkpoint yet", self.path.display()),
            false => format!("there is no checkpoint that can be read: {}", list.join("; ")),
        })
    }

    /// Removes what is older than the last generation and the one before.
    pub fn forget(&self, last: u64, before: Option<u64>) {
        for generation in self.generations().unwrap_or_default() {
            if generation != last && Some(generation) != before {
                // One that stays is in nobody's way.
                let _ = fs::remove_file(self.of(generation));
            }
        }
        let mut good = vec![last];
        good.extend(before);
        self.forget_shares(&good);
    }

    /// Removes all of them: the run has its answer.
    pub fn clear(&self) {
        for generation in self.generations().unwrap_or_default() {
            let _ = fs::remove_file(self.of(generation));
        }
        self.forget_shares(&[]);
    }
}

/// Whether nobody else has the lock; now we have it.
#[cfg(unix)]
#[allow(unsafe_code)] // One call of the system, which the standard library has only from 1.89 on.
fn try_lock(file: &File) -> io::Result<bool> {
    use std::os::fd::AsRawFd;
    // SAFETY: the descriptor is that of a file that is open here; the call reads and writes no memory of ours.
    if unsafe { libc::flock(file.as_raw_fd(), libc::LOCK_EX | libc::LOCK_NB) } == 0 {
        return Ok(true);
    }
    match io::Error::last_os_error() {
        e if e.kind() == io::ErrorKind::WouldBlock => Ok(false),
        e => Err(e),
    }
}

#[cfg(not(unix))]
fn try_lock(_: &File) -> io::Result<bool> {
    Ok(true)
}
