//! The models of a directory. Nothing outside it is opened: a name from a page is one of the list.

use crate::lang::files::{Disk, Files};
use crate::run::answer::Place;
use serde_json::{Value as Json, json};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Models that are listed.
const MAX_MODELS: usize = 500;
/// How deep directories are looked into.
const MAX_DEPTH: usize = 4;

/// Models of a directory.
pub struct Models {
    root: PathBuf,
    /// The one that is shown first.
    first: Option<String>,
    /// A file that may be read wherever it is.
    also: Option<PathBuf>,
}

/// Programs are none: they do not run because somebody looks at a list.
const ENDINGS: [&str; 11] =
    ["mch", "ref", "imp", "sys", "eventb", "bum", "buc", "zed", "csp", "cspm", "pnml"];

/// The files below a directory, whatever a model refers to.
#[derive(Debug)]
struct Fenced {
    root: PathBuf,
    also: Option<PathBuf>,
}

impl Fenced {
    fn is_inside(&self, path: &Path) -> bool {
        let path = Disk.identity(path);
        path.starts_with(&self.root) || self.also.as_ref() == Some(&path)
    }
}

impl Files for Fenced {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        match self.is_inside(path) {
            true => Disk.read(path),
            false => Err(io::Error::new(io::ErrorKind::PermissionDenied, "it is outside of what is served")),
        }
    }

    fn is_file(&self, path: &Path) -> bool {
        self.is_inside(path) && Disk.is_file(path)
    }

    fn list(&self, folder: &Path) -> Vec<String> {
        if self.is_inside(folder) { Disk.list(folder) } else { vec![] }
    }

    fn identity(&self, path: &Path) -> PathBuf {
        Disk.identity(path)
    }
}

impl Models {
    /// The files that models may refer to.
    pub fn files(&self) -> Arc<dyn Files> {
        Arc::new(Fenced { root: self.root.clone(), also: self.also.clone() })
    }

    /// Of a directory, or of the directory that a model is in; with a script that the user names, wherever it is.
    pub fn of(path: &Path, script: Option<&Path>) -> Result<Models, String> {
        let whole =
            |path: &Path| path.canonicalize().map_err(|e| format!("cannot read {}: {e}", path.display()));
        let (whole, also) = (whole(path)?, script.map(whole).transpose()?);
        if whole.is_dir() {
            return Ok(Models { root: whole, first: None, also });
        }
        let (Some(root), Some(name)) = (whole.parent(), whole.file_name()) else {
            return Err(format!("{} is no file", path.display()));
        };
        let first = Some(name.to_string_lossy().into_owned());
        Ok(Models { root: root.to_path_buf(), first, also })
    }

    /// The one that is shown first.
    pub fn first(&self) -> Option<String> {
        self.first.clone().or_else(|| self.list().into_iter().next())
    }

    /// Their names below the directory.
    pub fn list(&self) -> Vec<String> {
        let mut found = vec![];
        self.collect(&self.root, 0, &mut found);
        if let Some(first) = &self.first
            && !found.contains(first)
        {
            found.push(first.clone());
        }
        found.sort();
        found
    }

    fn collect(&self, folder: &Path, depth: usize, found: &mut Vec<String>) {
        let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
        for entry in entries {
            let (path, Ok(kind)) = (entry.path(), entry.file_type()) else { continue };
            let name = entry.file_name().to_string_lossy().into_owned();
            if found.len() >= MAX_MODELS || name.starts_with('.') {
                continue;
            }
            if kind.is_dir() && depth < MAX_DEPTH && name != "target" && name != "node_modules" {
                self.collect(&path, depth + 1, found);
            } else if kind.is_file() && ENDINGS.iter().any(|e| path.extension().is_some_and(|x| x == *e)) {
                let inside = path.strip_prefix(&self.root).unwrap_or(&path);
                found.push(inside.to_string_lossy().into_owned());
            }
        }
    }

    /// The file of a name of the list.
    pub fn find(&self, name: &str) -> Option<PathBuf> {
        // What the list has is a file below the directory; a link that leads out of it is no file there.
        self.list().iter().any(|n| n == name).then(|| self.root.join(name))
    }

    /// A path for people, without what is above the directory.
    pub fn short(&self, path: &str) -> String {
        let root = format!("{}/", self.root.display());
        path.strip_prefix(&root).unwrap_or(path).to_string()
    }
}

/// A part of the source.
pub fn place(t: &Place) -> Json {
    json!({ "file": t.file, "line": t.line, "label": t.label, "from": t.span.lo, "to": t.span.hi })
}

#[cfg(test)]
mod tests {
    use super::Models;

    #[test]
    fn only_models_of_the_directory_are_found() {
        let folder = std::env::temp_dir().join(format!("kanon-models-{}", std::process::id()));
        std::fs::create_dir_all(folder.join("in/deep")).expect("a folder for the test");
        for name in ["a.mch", "in/deep/b.ref", "secret.txt"] {
            std::fs::write(folder.join(name), "MACHINE").expect("a file for the test");
        }
        let models = Models::of(&folder, None).expect("a folder");
        assert_eq!(models.list(), ["a.mch", "in/deep/b.ref"]);
        assert!(models.find("a.mch").is_some());
        for wrong in ["secret.txt", "../a.mch", "/etc/passwd", "in/../a.mch", "", ".", "a.mch\0"] {
            assert!(models.find(wrong).is_none(), "{wrong}");
        }
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink("/etc/passwd", folder.join("link.mch")).ok();
            assert!(models.find("link.mch").is_none(), "a link leads outside");
        }
        std::fs::remove_dir_all(&folder).ok();
    }
}
