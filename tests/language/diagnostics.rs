//! What the user sees: each `tests/snapshots/diagnostics/*.mch` and the text it must give.
//! `KANON_UPDATE=1 cargo test --test language diagnostics` writes the texts anew; read the difference.

use kanon::lang::b;
use kanon::lang::diag::SourceMap;
use kanon::report::diagnostic;
use std::path::Path;

#[test]
fn messages_are_as_stored() {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/snapshots/diagnostics");
    let update = std::env::var_os("KANON_UPDATE").is_some();
    let mut inputs: Vec<_> = std::fs::read_dir(&dir)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|e| e == "mch"))
        .collect();
    inputs.sort();
    assert!(!inputs.is_empty());
    let mut wrong = vec![];
    for input in inputs {
        let name = input.file_name().unwrap().to_string_lossy().into_owned();
        let text = std::fs::read_to_string(&input).unwrap();
        let mut sources = SourceMap::default();
        let parsed = b::parse_text(&mut sources, &name, &text);
        let found = diagnostic::render_all(&parsed.diagnostics, &sources, false);
        let expected = input.with_extension("txt");
        if update {
            std::fs::write(&expected, &found).unwrap();
        } else if std::fs::read_to_string(&expected).unwrap_or_default() != found {
            wrong.push(format!("{name} gives\n{found}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
