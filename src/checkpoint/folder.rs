//! The folder of checkpoints: one program at a time, and two files, so that there is an older one if the newer is damaged.
//!
//! A file is named by its generation, `7.kanon`; it has its name when all of it is on the disk, and only then the one
//! before the last is removed. The lock is the system's, on a file that is empty otherwise, so that it ends with the
//! program that has it, however that ends.

use super::file::Reader;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

const SUFFIX: &str = "kanon";

/// A folder that nobody else has while this is there.
#[derive(Debug)]
pub struct Folder {
    path: PathBuf,
    _lock: File,
}

/// A checkpoint that can be read.
pub struct Found {
    pub path: PathBuf,
    pub generation: u64,
    pub reader: Reader,
    pub head: String,
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

    fn locked(path: &Path) -> Result<Folder, String> {
        let name = path.join("lock");
        let lock = OpenOptions::new().create(true).truncate(false).write(true).open(&name);
        let lock = lock.map_err(|e| format!("cannot write into {}: {e}", path.display()))?;
        match try_lock(&lock) {
            Ok(true) => Ok(Folder { path: path.to_path_buf(), _lock: lock }),
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
            match Reader::open(&path) {
                Ok((reader, head)) => return Ok(Found { path, generation, reader, head, damaged }),
                Err(e) => damaged.push((path, e.to_string())),
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
    }

    /// Removes all of them: the run has its answer.
    pub fn clear(&self) {
        for generation in self.generations().unwrap_or_default() {
            let _ = fs::remove_file(self.of(generation));
        }
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
