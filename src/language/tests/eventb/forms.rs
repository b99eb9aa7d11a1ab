//! A project in a form, and read back from it.

use kanon_language::lang::diag::SourceMap;
use kanon_language::lang::eventb;
use kanon_language::lang::eventb::convert::{Form, Output, convert};
use kanon_language::lang::eventb::project::Project;
use kanon_language::lang::files::Files;
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Files in memory and nowhere else.
#[derive(Clone, Debug, Default)]
pub struct Memory(pub BTreeMap<PathBuf, Vec<u8>>);

impl Files for Memory {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        self.0.get(path).cloned().ok_or_else(|| io::Error::from(io::ErrorKind::NotFound))
    }

    fn is_file(&self, path: &Path) -> bool {
        self.0.contains_key(path)
    }

    fn list(&self, folder: &Path) -> Vec<String> {
        let inside = self.0.keys().filter(|p| p.parent() == Some(folder));
        inside.filter_map(|p| Some(p.file_name()?.to_str()?.to_string())).collect()
    }

    fn identity(&self, path: &Path) -> PathBuf {
        path.to_path_buf()
    }
}

impl Memory {
    pub fn with(mut self, path: &str, bytes: impl AsRef<[u8]>) -> Memory {
        self.0.insert(path.into(), bytes.as_ref().to_vec());
        self
    }

    /// Reads a project; what is wrong with it, with its places.
    pub fn open(&self, path: &str) -> Result<Project, String> {
        let mut sources = SourceMap::over(Arc::new(self.clone()));
        let (path, part) = kanon_language::lang::languages::split(&sources, Path::new(path));
        let opened = eventb::project(&mut sources, &path, part.as_deref());
        if opened.has_errors() {
            let one = |d: &kanon_language::lang::diag::Diagnostic| {
                let help = d.help.as_ref().map_or(String::new(), |h| format!(" ({h})"));
                format!("{} {} {}{help}", d.code, sources.place(d.span), d.message)
            };
            return Err(opened.diagnostics.iter().map(one).collect::<Vec<_>>().join("\n"));
        }
        Ok(opened.project)
    }
}

/// Writes a project and reads it again, in both ways that the form has; `Err` when the form has no words for it.
pub fn through(project: &Project, form: Form) -> Result<Project, String> {
    let read = |written: Output, file: &str| {
        let (memory, path) = match written {
            Output::File(bytes) => (Memory::default().with(file, bytes), file.to_string()),
            Output::Folder(files) => {
                let put = |m: Memory, (name, bytes): (String, Vec<u8>)| m.with(&format!("out/{name}"), bytes);
                (files.into_iter().fold(Memory::default(), put), "out".to_string())
            }
        };
        memory.open(&path).map_err(|e| format!("READS BACK AS {e}"))
    };
    let file = match form {
        Form::Rodin => "project.zip",
        Form::Text | Form::Package => "project.eventb",
    };
    let one = read(convert(project, form, "project", true)?, file)?;
    if form != Form::Package {
        let many = read(convert(project, form, "project", false)?, file)?;
        assert_eq!(super::compare::lines(&one), super::compare::lines(&many), "a folder and a file differ");
    }
    Ok(one)
}
