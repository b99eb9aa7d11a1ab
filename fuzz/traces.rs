//! A counterexample with a few changes, for kanon-checker: of a machine that fails, and of one of the same steps that does
//! not. One that is accepted of the second is a wrong answer, and a panic here.

use kanon::model::reading::Reading;
use kanon_checker::check::Effort;
use kanon_checker::check_trace;
use std::path::PathBuf;
use std::sync::OnceLock;

const TEXT: &str = "MACHINE m SETS S = {a, b} VARIABLES s, n INVARIANT s <: S & n < MOST
    INITIALISATION s := {} || n := 0
    OPERATIONS r <-- put(x) = PRE x : S - s THEN s := s \\/ {x} || n := n + 1 || r := n END;
               clear = SELECT s = S THEN s := {} || n := 0 END END";

const TRACE: &str = r#"{"format": "kanon-trace", "version": 1, "machine": "m", "loop": null,
 "scope": {"sets": {"S": 2}, "minint": -1, "maxint": 3}, "constants": {},
 "steps": [{"operation": "INITIALISATION", "parameters": {}, "state": {"s": "{}", "n": "0"}},
  {"operation": "put", "parameters": {"x": "a"}, "results": {"r": "0"}, "state": {"s": "{a}", "n": "1"}},
  {"operation": "put", "parameters": {"x": "b"}, "results": {"r": "1"}, "state": {"s": "{a,b}", "n": "2"}}]}"#;

/// What takes the place of a part of the text.
const PARTS: [&str; 24] = [
    "{}",
    "[]",
    "null",
    "0",
    "-1",
    "1",
    "2",
    "99999999999999999999",
    "1e9",
    "\"a\"",
    "\"b\"",
    "\"{a,b}\"",
    "\"{a\"",
    "\"x\"",
    "\"s\"",
    "\"put\"",
    "\"clear\"",
    ",",
    ":",
    "\"{(1|->a)}\"",
    "\"loop\": 1,",
    "\"1/0\"",
    "\"card(S)\"",
    "\"formula\": \"G {n < 2}\",",
];

fn files() -> &'static [PathBuf; 2] {
    static FILES: OnceLock<[PathBuf; 2]> = OnceLock::new();
    FILES.get_or_init(|| {
        let folder = std::env::temp_dir().join(format!("kanon-fuzz-traces-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder");
        [("fails.mch", "2"), ("holds.mch", "3")].map(|(name, most)| {
            let path = folder.join(name);
            std::fs::write(&path, TEXT.replace("MOST", most)).expect("a file");
            path
        })
    })
}

/// The first byte says which machine; then four bytes are one change. True if the trace is accepted.
pub fn changed(bytes: &[u8]) -> bool {
    let effort = Effort { root: 100_000, solved: 100_000, state: 100_000 };
    let [fails, holds] = files();
    let Some((first, changes)) = bytes.split_first() else { return false };
    let mut text = TRACE.as_bytes().to_vec();
    for change in changes.chunks_exact(4) {
        let at = usize::from(u16::from_le_bytes([change[0], change[1]])) % text.len().max(1);
        match change[2] % 6 {
            0 => text[at..].iter_mut().take(1).for_each(|b| *b = change[3]),
            1 => text.truncate(at),
            2 if at < text.len() => drop(text.remove(at)),
            3 => drop(text.splice(at..at, [change[3]])),
            // A value in the place of another: from here to the next comma or bracket.
            _ => {
                let from = text[at..].iter().position(|b| *b == b':').map_or(at, |n| at + n + 1);
                let end = text[from..].iter().position(|b| b",}".contains(b)).map_or(from, |n| from + n);
                let part = PARTS[(usize::from(change[2] / 6) + usize::from(change[3])) % PARTS.len()];
                text.splice(from..end, part.bytes());
            }
        }
    }
    let text = String::from_utf8_lossy(&text);
    let is_holding = first % 2 == 1;
    let found = check_trace(if is_holding { holds } else { fails }, &text, Reading::Kleene, effort);
    // A formula of its own may be false of either.
    let is_wrong = is_holding && found.is_ok() && !text.contains("formula");
    assert!(!is_wrong, "accepted, and it does not fail:\n{text}");
    assert!(is_holding || changes.len() >= 4 || found.is_ok(), "our own trace: {found:?}");
    found.is_ok()
}
