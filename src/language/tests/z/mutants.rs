//! Mutants of the models of models/z: whatever a text has become, reading it ends, with a model or with a message.

use kanon_language::model::load::load_text;
use std::path::Path;

/// What is put in: pieces of both markups.
const PIECES: [&str; 40] = [
    "\\where",
    "\\end{schema}",
    "\\begin{schema}{S}",
    "\\begin{zed}",
    "\\\\",
    "\\{",
    "\\}",
    "{",
    "}",
    "(",
    ")",
    "[",
    "]",
    "|",
    "@",
    "==",
    "::=",
    "'",
    "?",
    "!",
    "_1",
    "^{",
    "\\Delta",
    "\\theta",
    "\\power",
    "┌ S",
    "└",
    "─",
    "╷[X]",
    "∀ x : ",
    "•",
    "⧹ (",
    "⨟",
    "∃ Init",
    "Δ",
    "′",
    "↗",
    "%%kanon state S\n",
    "%%kanon",
    "\u{0}",
];

#[test]
fn mutants_are_read_or_refused() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models/z");
    let mut files: Vec<_> =
        std::fs::read_dir(&root).into_iter().flatten().filter_map(|e| Some(e.ok()?.path())).collect();
    files.sort();
    assert!(files.len() >= 6);
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let mut below = |n: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state % n.max(1) as u64) as usize
    };
    let (mut read, mut refused) = (0, 0);
    for case in 0..240 {
        let path = &files[case % files.len()];
        let name = path.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
        let mut text: Vec<char> = std::fs::read_to_string(path).unwrap_or_default().chars().collect();
        for _ in 0..1 + below(3) {
            let at = below(text.len());
            match below(4) {
                0 => {
                    let end = (at + 1 + below(12)).min(text.len());
                    text.drain(at..end);
                }
                1 => {
                    let piece: Vec<char> = PIECES[below(PIECES.len())].chars().collect();
                    text.splice(at..at, piece);
                }
                2 => {
                    let end = (at + 1 + below(40)).min(text.len());
                    let copy: Vec<char> = text[at..end].to_vec();
                    let to = below(text.len());
                    text.splice(to..to, copy);
                }
                _ => {
                    let other = below(text.len());
                    text.swap(at, other);
                }
            }
        }
        let text: String = text.into_iter().collect();
        let loaded = load_text(&name, &text);
        let is_failure = |code: &str| code == "B0199";
        assert!(loaded.diagnostics.iter().all(|d| !is_failure(d.code)), "{:?}\n{text}", loaded.diagnostics);
        if loaded.model.is_some() {
            read += 1;
        } else {
            assert!(loaded.diagnostics.iter().any(|d| d.is_error()), "refused without a message:\n{text}");
            refused += 1;
        }
    }
    assert!(read > 20 && refused > 20, "{read} read, {refused} refused");
}
