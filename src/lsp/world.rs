//! The documents that an editor has open, over the files on disk; what is known of each, and of the files beside it.

use super::text::Text;
use crate::lang::b::ClassicalB;
use crate::lang::diag::{Diagnostic, FileId, SourceMap, Span};
use crate::lang::files::{Disk, Files, Overlay};
use crate::lang::front::FrontEnd;
use crate::lang::index::{Declared, Index, Kind};
use crate::lang::languages;
use crate::model::Model;
use crate::model::load::load_from;
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Endings of files in classical B, and of texts of Event-B: those of one language do not refer to those of the other.
const CLASSICAL: [&str; 5] = ["mch", "ref", "imp", "sys", "def"];
const EVENT_B: [&str; 3] = ["eventb", "mchx", "ctxx"];

fn endings(path: &Path) -> &'static [&'static str] {
    if is_classical(path) { &CLASSICAL } else { &EVENT_B }
}

/// Files that are looked at for the sake of another one.
const MOST_FILES: usize = 400;

/// The path of a file that an editor names.
pub fn path_of(uri: &str) -> PathBuf {
    let Some(rest) = uri.strip_prefix("file://") else { return PathBuf::from(uri) };
    let path = match rest.find('/') {
        // The host, which is this one.
        Some(at) => &rest[at..],
        None => rest,
    };
    let mut bytes = vec![];
    let mut open = path.as_bytes();
    while let Some((first, rest)) = open.split_first() {
        let hex = |b: u8| (b as char).to_digit(16);
        open = match (first, rest) {
            (b'%', [a, b, behind @ ..]) => match (hex(*a), hex(*b)) {
                (Some(a), Some(b)) => {
                    bytes.push((a * 16 + b) as u8);
                    behind
                }
                _ => {
                    bytes.push(b'%');
                    rest
                }
            },
            _ => {
                bytes.push(*first);
                rest
            }
        };
    }
    let path = String::from_utf8_lossy(&bytes).into_owned();
    // `/C:/x` on Windows.
    let is_drive = cfg!(windows) && path.as_bytes().get(2) == Some(&b':');
    PathBuf::from(if is_drive { &path[1..] } else { &path[..] })
}

/// How an editor is told of a file.
pub fn uri_of(path: &Path) -> String {
    let text = path.to_string_lossy().replace('\\', "/");
    if !text.starts_with('/') && !text.contains(":/") {
        return text;
    }
    let mut uri = String::from(if text.starts_with('/') { "file://" } else { "file:///" });
    for b in text.bytes() {
        match b {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'-' | b'.' | b'_' | b'~' => uri.push(b as char),
            _ => uri.push_str(&format!("%{b:02X}")),
        }
    }
    uri
}

/// What is known of a document at one version of it.
#[derive(Debug, Default)]
pub struct Known {
    pub index: Arc<Index>,
    /// Types by the place of the declaration.
    types: HashMap<Span, String>,
    pub sources: SourceMap,
    pub diagnostics: Vec<Diagnostic>,
    /// Files that were read for it.
    reads: HashSet<PathBuf>,
    /// Whether the whole model could be typed.
    pub is_typed: bool,
}

/// A document that is open.
#[derive(Debug)]
pub struct Document {
    pub uri: String,
    pub path: PathBuf,
    pub version: i64,
    pub text: Text,
    /// What is known of this version; `None` until it is looked at.
    pub known: Option<Known>,
    /// Types of global names when they were last known.
    last_types: HashMap<(Kind, String), String>,
    /// Values in the last state of a trace that was opened, with where they are from.
    pub values: Option<(String, HashMap<String, String>)>,
    /// What a check of this version found, and how it ended.
    pub checked: Option<(Vec<serde_json::Value>, String)>,
    /// Diagnostics of this version have been sent.
    pub is_published: bool,
}

/// A file that was looked at: its text and who is who in it.
pub struct Page {
    pub path: PathBuf,
    pub text: Text,
    pub index: Arc<Index>,
}

#[derive(Default)]
pub struct World {
    pub open: Vec<Document>,
    cache: HashMap<PathBuf, (Arc<str>, Arc<Index>)>,
}

/// Whether a file is read as classical B.
pub fn is_classical(path: &Path) -> bool {
    languages::for_path(path).is_ok_and(|front| front.language() == ClassicalB.language())
}

impl World {
    pub fn files(&self) -> Arc<dyn Files> {
        let mut overlay = Overlay::new(Arc::new(Disk));
        for d in &self.open {
            overlay.put(&d.path, d.text.text.clone());
        }
        Arc::new(overlay)
    }

    pub fn document(&self, uri: &str) -> Option<&Document> {
        self.open.iter().find(|d| d.uri == uri)
    }

    pub fn document_mut(&mut self, uri: &str) -> Option<&mut Document> {
        self.open.iter_mut().find(|d| d.uri == uri)
    }

    pub fn put(&mut self, uri: &str, version: i64, text: Text) {
        let path = path_of(uri);
        match self.document_mut(uri) {
            Some(d) => (d.version, d.text) = (version, text),
            None => self.open.push(Document {
                uri: uri.to_string(),
                path: path.clone(),
                version,
                text,
                known: None,
                last_types: HashMap::new(),
                values: None,
                checked: None,
                is_published: false,
            }),
        }
        self.touched(&path);
    }

    pub fn close(&mut self, uri: &str) {
        self.open.retain(|d| d.uri != uri);
        self.touched(&path_of(uri));
    }

    /// A file has changed: what was known of it, and of all that read it, is not known any more.
    pub fn touched(&mut self, path: &Path) {
        let path = Disk.identity(path);
        for d in &mut self.open {
            let reads = |k: &Known| k.reads.contains(&path) || k.diagnostics.iter().any(Diagnostic::is_error);
            if Disk.identity(&d.path) == path || d.known.as_ref().is_none_or(reads) {
                d.forget();
            }
        }
    }

    /// Anything may have changed on disk.
    pub fn all_touched(&mut self) {
        self.open.iter_mut().for_each(Document::forget);
    }

    /// A document with all that is known of it.
    pub fn looked_at(&mut self, uri: &str) -> Option<&Document> {
        let at = self.open.iter().position(|d| d.uri == uri)?;
        if self.open[at].known.is_none() {
            let known = self.look(&self.open[at]);
            let d = &mut self.open[at];
            if known.is_typed {
                d.last_types = HashMap::new();
                for declared in &known.index.names {
                    if let Some(ty) = known.types.get(&declared.span)
                        && declared.scope.is_none()
                    {
                        d.last_types.insert((declared.kind, declared.name.to_string()), ty.clone());
                    }
                }
            }
            d.known = Some(known);
        }
        Some(&self.open[at])
    }

    fn look(&self, d: &Document) -> Known {
        if is_csp(&d.path) {
            return csp(d);
        }
        let index: Arc<Index> = languages::index(&d.path, &d.text.text, FileId(0)).unwrap_or_default().into();
        let is_definitions = d.path.extension().is_some_and(|e| e.eq_ignore_ascii_case("def"));
        if is_definitions {
            let mut sources = SourceMap::default();
            sources.add(d.path.clone(), d.text.text.clone());
            let diagnostics = index.diagnostics.clone();
            return Known { index, sources, diagnostics, ..Known::default() };
        }
        let loaded = load_from(self.files(), &d.path);
        let mut reads = HashSet::new();
        for i in 0..loaded.sources.next().0 {
            reads.extend(loaded.sources.path(FileId(i)).map(|p| Disk.identity(p)));
        }
        let types = loaded.model.as_ref().map(types).unwrap_or_default();
        Known {
            index,
            is_typed: loaded.model.is_some(),
            types,
            sources: loaded.sources,
            diagnostics: loaded.diagnostics,
            reads,
        }
    }

    /// A file with who is who in it.
    fn page(&mut self, path: &Path) -> Option<Page> {
        let identity = Disk.identity(path);
        let open = self.open.iter().find(|d| Disk.identity(&d.path) == identity).map(|d| d.text.clone());
        let text = match open {
            Some(text) => text,
            None => Text::new(std::fs::read_to_string(path).ok()?),
        };
        let known = self.cache.get(&identity).filter(|(t, _)| **t == *text.text);
        let index = match known {
            Some((_, index)) => index.clone(),
            None => {
                let index = Arc::new(languages::index(path, &text.text, FileId(0))?);
                self.cache.insert(identity, (text.text.clone(), index.clone()));
                index
            }
        };
        Some(Page { path: path.to_path_buf(), text, index })
    }

    /// The file of a machine, beside another file.
    fn beside(&self, path: &Path, machine: &str) -> Option<PathBuf> {
        let files = self.files();
        let folder = path.parent()?;
        endings(path).iter().map(|e| folder.join(format!("{machine}.{e}"))).find(|p| files.is_file(p))
    }

    /// The files that a file refers to, directly or not, itself first.
    pub fn related(&mut self, path: &Path) -> Vec<Page> {
        let mut found: Vec<Page> = vec![];
        let mut open = vec![path.to_path_buf()];
        while let Some(path) = open.pop() {
            let is_new = !found.iter().any(|p| Disk.identity(&p.path) == Disk.identity(&path));
            if found.len() >= MOST_FILES || !is_new {
                continue;
            }
            let Some(page) = self.page(&path) else { continue };
            let machines = page.index.references.iter();
            open.extend(machines.filter_map(|r| self.beside(&path, &r.machine.name)));
            let folder = path.parent().unwrap_or(Path::new("")).to_path_buf();
            open.extend(page.index.files.iter().map(|(name, _)| folder.join(name)));
            found.push(page);
        }
        found
    }

    /// All files in the folder of this one that refer to it, itself first.
    pub fn relating(&mut self, path: &Path) -> Vec<Page> {
        let identity = Disk.identity(path);
        let mut found: Vec<Page> = self.page(path).into_iter().collect();
        let Some(folder) = path.parent() else { return found };
        let names = self.files().list(folder);
        let is_one = |n: &String| endings(path).iter().any(|e| n.ends_with(&format!(".{e}")));
        for name in names.into_iter().filter(is_one).take(MOST_FILES) {
            let other = folder.join(name);
            if Disk.identity(&other) == identity {
                continue;
            }
            let mut related = self.related(&other);
            if related.iter().skip(1).any(|p| Disk.identity(&p.path) == identity) {
                found.push(related.swap_remove(0));
            }
        }
        found
    }

    /// The declaration of a name that another file has: the file and the place in its list.
    pub fn elsewhere(&mut self, path: &Path, name: &str) -> Option<(Page, usize)> {
        // `prefix.x` is an `x` of an included machine.
        let last = name.rsplit('.').next().unwrap_or(name);
        let found = self.related(path).into_iter().skip(1);
        found.filter_map(|page| page.index.global(last).map(|i| (page, i))).next()
    }
}

impl Document {
    fn forget(&mut self) {
        self.known = None;
        self.values = None;
        self.checked = None;
        self.is_published = false;
    }

    pub fn index(&self) -> Option<&Arc<Index>> {
        self.known.as_ref().map(|k| &k.index)
    }

    /// The type of something declared here, or the one it had when the text could be typed.
    pub fn type_of(&self, declared: &Declared) -> Option<&String> {
        let known = self.known.as_ref()?;
        let last = (declared.kind, declared.name.to_string());
        let is_global = declared.scope.is_none() && !known.is_typed;
        known.types.get(&declared.span).or_else(|| self.last_types.get(&last).filter(|_| is_global))
    }
}

/// Whether a file is a script of CSP-M.
pub fn is_csp(path: &Path) -> bool {
    let ending = path.extension().and_then(|e| e.to_str()).unwrap_or_default().to_lowercase();
    kanon_csp::EXTENSIONS.contains(&&*ending)
}

/// What is wrong with a script.
fn csp(d: &Document) -> Known {
    let (sources, diagnostics) = crate::run::types::script(&d.path, Some(d.text.text.clone()));
    Known { sources, diagnostics, ..Known::default() }
}

fn types(model: &Model) -> HashMap<Span, String> {
    let set_name = |s: crate::model::SetId| model.sets[s.index()].name.clone();
    let all = model.constants.iter().chain(&model.variables).chain(&model.locals);
    all.map(|d| (d.span, d.ty.show(&set_name).to_string())).collect()
}
