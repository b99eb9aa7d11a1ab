//! Where files come from: the disk, or the memory of an editor laid over it. Whoever reads a model reads
//! through a [`Files`], so that a text that is not saved yet is checked as it stands.

use std::collections::{BTreeSet, HashMap};
use std::fmt::Debug;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// A file system, as far as reading models needs one.
pub trait Files: Debug + Send + Sync {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>>;

    /// Whether there is a file, not a folder, of this name.
    fn is_file(&self, path: &Path) -> bool;

    /// The names of the files in a folder, in the order of their names; none when it cannot be read.
    fn list(&self, folder: &Path) -> Vec<String>;

    /// One path for all spellings of it.
    fn identity(&self, path: &Path) -> PathBuf;
}

/// The file in a folder whose name differs from this one in capitals only, if there is one. Not the file that
/// refers to it: nothing means itself by another name.
pub fn in_other_case(files: &dyn Files, path: &Path, from: &Path) -> Option<PathBuf> {
    let wanted = path.file_name()?.to_str()?.to_lowercase();
    let folder = path.parent()?;
    let fits = |file: &String| file.to_lowercase() == wanted;
    let found = files.list(folder).into_iter().filter(fits).map(|file| folder.join(file));
    let from = files.identity(from);
    found.into_iter().find(|path| files.is_file(path) && files.identity(path) != from)
}

/// What is on disk.
#[derive(Clone, Copy, Debug, Default)]
pub struct Disk;

impl Files for Disk {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        std::fs::read(path)
    }

    fn is_file(&self, path: &Path) -> bool {
        path.is_file()
    }

    fn list(&self, folder: &Path) -> Vec<String> {
        let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
        let entries = std::fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok);
        let mut names: Vec<String> = entries.filter_map(|e| e.file_name().into_string().ok()).collect();
        names.sort();
        names
    }

    fn identity(&self, path: &Path) -> PathBuf {
        std::fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf())
    }
}

/// Texts in memory, which hide the files below of the same path.
#[derive(Clone, Debug)]
pub struct Overlay {
    texts: HashMap<PathBuf, Arc<str>>,
    below: Arc<dyn Files>,
}

impl Overlay {
    pub fn new(below: Arc<dyn Files>) -> Overlay {
        Overlay { texts: HashMap::new(), below }
    }

    /// Puts a text in place of a file, whether that exists or not.
    pub fn put(&mut self, path: impl AsRef<Path>, text: impl Into<Arc<str>>) {
        let path = self.identity(path.as_ref());
        self.texts.insert(path, text.into());
    }

    /// The file below is to be seen again.
    pub fn remove(&mut self, path: impl AsRef<Path>) {
        let path = self.identity(path.as_ref());
        self.texts.remove(&path);
    }

    fn text(&self, path: &Path) -> Option<&Arc<str>> {
        self.texts.get(&self.identity(path))
    }
}

impl Files for Overlay {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        match self.text(path) {
            Some(text) => Ok(text.as_bytes().to_vec()),
            None => self.below.read(path),
        }
    }

    fn is_file(&self, path: &Path) -> bool {
        self.text(path).is_some() || self.below.is_file(path)
    }

    fn list(&self, folder: &Path) -> Vec<String> {
        let mut names = self.below.list(folder);
        let here = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
        let folder = self.below.identity(here);
        let inside = self.texts.keys().filter(|p| p.parent() == Some(&folder));
        names.extend(inside.filter_map(|p| Some(p.file_name()?.to_str()?.to_string())));
        names.sort();
        names.dedup();
        names
    }

    /// A file that is not below yet is where its folder is.
    fn identity(&self, path: &Path) -> PathBuf {
        match (path.parent(), path.file_name()) {
            (Some(folder), Some(name)) if !self.below.is_file(path) => {
                let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
                self.below.identity(folder).join(name)
            }
            _ => self.below.identity(path),
        }
    }
}

/// Remembers what was asked of the files below: those that were read or looked for, whether they are there or not, and
/// the folders that were listed. Whoever asks again finds the same as long as none of these has changed.
#[derive(Debug)]
pub struct Noted {
    paths: Mutex<BTreeSet<PathBuf>>,
    below: Arc<dyn Files>,
}

impl Noted {
    pub fn new(below: Arc<dyn Files>) -> Noted {
        Noted { paths: Mutex::default(), below }
    }

    /// Everything that was asked for until now.
    pub fn paths(&self) -> BTreeSet<PathBuf> {
        self.paths.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn note(&self, path: &Path) {
        let path = if path.as_os_str().is_empty() { Path::new(".") } else { path };
        self.paths.lock().unwrap_or_else(PoisonError::into_inner).insert(path.to_path_buf());
    }
}

impl Files for Noted {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        self.note(path);
        self.below.read(path)
    }

    fn is_file(&self, path: &Path) -> bool {
        self.note(path);
        self.below.is_file(path)
    }

    fn list(&self, folder: &Path) -> Vec<String> {
        self.note(folder);
        self.below.list(folder)
    }

    fn identity(&self, path: &Path) -> PathBuf {
        self.below.identity(path)
    }
}
