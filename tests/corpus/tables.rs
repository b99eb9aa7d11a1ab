//! The shared corpus: where it is, its tables, the lists of what does not agree with them, a walk through all rows.
//!
//! The corpus is not ours and not in the repository: it is looked for in `$KANON_CORPUS` or beside the repository.
//! `KANON_CORPUS_SECONDS` (default 30) is the time a row gets, `KANON_CORPUS_UPDATE=1` rewrites the list that a test
//! judges by.

use kanon::lang::diag::Diagnostic;
use kanon::model::load::with_large_stack;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// The corpus, if it has this table; says so if it is not there.
pub fn corpus(table: &str) -> Option<PathBuf> {
    let beside = || Some(Path::new(env!("CARGO_MANIFEST_DIR")).parent()?.join("shared").join("corpus"));
    let dir = std::env::var_os("KANON_CORPUS").map(PathBuf::from).or_else(beside);
    let dir = dir.filter(|d| d.join(table).exists());
    if dir.is_none() {
        println!("no corpus here: nothing compared (set KANON_CORPUS)");
    }
    dir
}

pub fn seconds() -> Duration {
    let seconds = std::env::var("KANON_CORPUS_SECONDS").ok().and_then(|s| s.parse().ok());
    Duration::from_secs(seconds.unwrap_or(30))
}

/// The rows of a table by the names of these columns. A quoted cell may contain commas and line ends.
pub fn table<const N: usize>(path: &Path, columns: [&str; N]) -> Vec<[String; N]> {
    let text = std::fs::read_to_string(path).expect("a table of the corpus");
    let mut rows = vec![vec![String::new()]];
    let mut quoted = false;
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        let row = rows.last_mut().expect("there is always a row");
        let cell = row.last_mut().expect("there is always a cell");
        match c {
            '"' if quoted && chars.peek() == Some(&'"') => {
                chars.next();
                cell.push('"');
            }
            '"' => quoted = !quoted,
            ',' if !quoted => row.push(String::new()),
            '\n' if !quoted => rows.push(vec![String::new()]),
            '\r' if !quoted => {}
            c => cell.push(c),
        }
    }
    let header = rows.remove(0);
    let places = columns.map(|c| header.iter().position(|h| h == c).expect("a known column"));
    let full = rows.into_iter().filter(|r| r.len() == header.len());
    full.map(|r| places.map(|i| r[i].clone())).collect()
}

/// What a row may do instead of agreeing: the kind, and the reason.
#[derive(Clone, Debug)]
pub struct Known {
    pub kind: String,
    pub reason: String,
}

/// A list in `tests/corpus`. A line is the key of a row, the kind and the reason; the key may have several cells.
pub struct List {
    path: PathBuf,
    separator: char,
    /// What the list says of itself, in comments.
    head: String,
    known: BTreeMap<String, Known>,
}

impl List {
    pub fn read(name: &str, separator: char, cells_of_key: usize) -> List {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus").join(name);
        let text = std::fs::read_to_string(&path).unwrap_or_default();
        let mut list = List { path, separator, head: String::new(), known: BTreeMap::new() };
        for line in text.lines().filter(|l| !l.is_empty()) {
            if line.starts_with('#') {
                let _ = writeln!(list.head, "{line}");
                continue;
            }
            let end = line.match_indices(separator).nth(cells_of_key - 1).map_or(line.len(), |(i, _)| i);
            let (key, rest) = line.split_at(end);
            let rest = rest.trim_start_matches(separator);
            let (kind, reason) = rest.split_once(separator).unwrap_or((rest, ""));
            list.known.insert(key.to_string(), Known { kind: kind.into(), reason: reason.into() });
        }
        list
    }

    pub fn kind(&self, key: &str) -> Option<&str> {
        self.known.get(key).map(|k| k.kind.as_str())
    }

    /// Whether to rewrite the list instead of judging by it.
    pub fn is_to_be_rewritten(&self) -> bool {
        std::env::var_os("KANON_CORPUS_UPDATE").is_some()
    }

    /// Writes what was seen: key, kind and reason. What is called `DIFFERS` keeps its argument if it is disputed already.
    pub fn rewrite<'a>(&self, seen: impl IntoIterator<Item = (String, &'a str, String)>) {
        let mut text = self.head.clone();
        for (key, kind, reason) in seen {
            let disputed = self.known.get(&key).filter(|k| kind == "DIFFERS" && k.kind == "disputed");
            let (kind, reason) = match disputed {
                Some(k) => ("disputed", k.reason.clone()),
                None => (kind, reason.replace(['\n', '\t'], " ")),
            };
            let s = self.separator;
            let _ = writeln!(text, "{key}{s}{kind}{s}{reason}");
        }
        std::fs::write(&self.path, text).expect("the list can be written");
    }
}

/// Asks about every row, with all processors; `Err` when no thread could be had for one.
pub fn walk<R: Sync, O: Send>(rows: &[R], ask: impl Fn(&R) -> O + Sync) -> Vec<(&R, Result<O, String>)> {
    let next = AtomicUsize::new(0);
    let outcomes = Mutex::new(Vec::new());
    let workers = std::thread::available_parallelism().map_or(2, |n| n.get());
    std::thread::scope(|s| {
        for _ in 0..workers {
            s.spawn(|| {
                while let Some(row) = rows.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let outcome = with_large_stack(|| ask(row)).map_err(|e| e.to_string());
                    outcomes.lock().expect("no panic while it is held").push((row, outcome));
                }
            });
        }
    });
    outcomes.into_inner().expect("no panic while it was held")
}

/// Code and message of the first error.
pub fn first_error(diagnostics: &[Diagnostic]) -> (&'static str, String) {
    let first = diagnostics.iter().find(|d| d.is_error());
    first.map_or(("?", "no model".to_string()), |d| (d.code, d.message.clone()))
}
