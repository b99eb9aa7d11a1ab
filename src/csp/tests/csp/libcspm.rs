//! The suite of libcspm, the front end of FDR, where it is at hand: `shared/csp` beside the repository.

use crate::{shown, typed};
use kanon_csp::parse::parse;
use kanon_language::lang::diag::SourceMap;
use std::path::{Path, PathBuf};

pub fn suite(folder: &str) -> Option<Vec<PathBuf>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/csp/libcspm/tests").join(folder);
    let entries = std::fs::read_dir(root).ok()?;
    let mut files: Vec<PathBuf> = entries.filter_map(|e| Some(e.ok()?.path())).collect();
    files.retain(|p| p.extension().is_some_and(|e| e == "csp"));
    files.sort();
    Some(files)
}

/// Every file of a folder is accepted, or every one refused; says how many there are.
fn all(folder: &str, read_only: bool, accepted: bool) -> usize {
    let Some(files) = suite(folder) else { return 0 };
    let mut wrong = vec![];
    for path in &files {
        let mut sources = SourceMap::default();
        let file = sources.read(path).expect("the file is there");
        let found = if read_only {
            parse(&mut sources, file).diagnostics
        } else {
            typed(&mut sources, file).diagnostics
        };
        if found.is_empty() != accepted {
            wrong.push(format!("{}\n    {}", path.display(), shown(&sources, &found).join("\n    ")));
        }
    }
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), files.len(), wrong.join("\n"));
    files.len()
}

#[test]
fn scripts_are_read() {
    let folders = ["parser", "prettyprinter", "typechecker", "evaluator"];
    let read: usize = folders.iter().map(|f| all(&format!("{f}/should_pass"), true, true)).sum();
    assert!(read == 0 || read == 48 + 10 + 90 + 87, "{read}");
    let refused = all("parser/should_fail", true, false);
    assert!(refused == 0 || refused == 36, "{refused}");
}

#[test]
fn scripts_are_typed() {
    // What fails when it is evaluated has types.
    let folders = ["typechecker/should_pass", "evaluator/should_pass", "evaluator/should_fail"];
    let typed: usize = folders.iter().map(|f| all(f, false, true)).sum();
    assert!(typed == 0 || typed == 90 + 87 + 25, "{typed}");
    let refused: usize =
        ["typechecker", "desugar"].iter().map(|f| all(&format!("{f}/should_fail"), false, false)).sum();
    assert!(refused == 0 || refused == 141 + 5, "{refused}");
}
