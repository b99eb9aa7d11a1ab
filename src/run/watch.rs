//! What the answer to a question depends on: the files that were read or looked for, and whether they are still the same.
//!
//! *Absent:* running anything again; waiting.

use crate::lang::files::{Disk, Noted};
use crate::model::load;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

/// Files and folders, as they were when they were looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Watched(BTreeMap<PathBuf, Seen>);

/// What tells that a file is another one: editors write in place, or put a new file where the old one was.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Seen {
    Nothing,
    File {
        length: u64,
        written: Option<SystemTime>,
        number: u64,
    },
    /// What is inside.
    Folder(Vec<PathBuf>),
}

impl Watched {
    /// Looks at them now.
    pub fn new(paths: impl IntoIterator<Item = PathBuf>) -> Watched {
        Watched(paths.into_iter().map(|path| (path.clone(), Seen::at(&path))).collect())
    }

    /// Looks at the same ones again.
    pub fn again(&self) -> Watched {
        Watched::new(self.0.keys().cloned())
    }

    /// Those that are there.
    pub fn count(&self) -> usize {
        self.0.values().filter(|seen| !matches!(seen, Seen::Nothing)).count()
    }
}

impl Seen {
    fn at(path: &Path) -> Seen {
        let Ok(found) = path.metadata() else { return Seen::Nothing };
        if found.is_dir() {
            let entries = std::fs::read_dir(path).into_iter().flatten().filter_map(Result::ok);
            let mut names: Vec<PathBuf> = entries.map(|e| e.path()).collect();
            names.sort();
            return Seen::Folder(names);
        }
        #[cfg(unix)]
        let number = std::os::unix::fs::MetadataExt::ino(&found);
        #[cfg(not(unix))]
        let number = 0;
        Seen::File { length: found.len(), written: found.modified().ok(), number }
    }
}

/// What reading a model asks for: the file, those that it refers to, and where they were looked for. What cannot be read
/// has been looked for as well.
pub fn files(model: &Path) -> Vec<PathBuf> {
    let noted = Arc::new(Noted::new(Arc::new(Disk)));
    drop(load::load_from(noted.clone(), model));
    let mut paths = noted.paths();
    // `FILE#NAME` is read as a file.
    paths.insert(model.to_path_buf());
    paths.into_iter().collect()
}
