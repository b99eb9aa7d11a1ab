//! `kanon check --report FILE`: one page to send. Its look in a real browser is in `browser`.

use crate::program::{FAILS, HOLDS, UNKNOWN, WRONG, file, json, kanon, text};
use crate::support::xml::{self, Element};
use std::path::{Path, PathBuf};

/// Names, strings and comments that would be markup if they were not escaped.
pub const HOSTILE: &str = "MACHINE Hostile /* <script>alert(1)</script> & \"quotes\" ' */
VARIABLES t, n INVARIANT t : STRING & n : 0..3 & /*@label <b>bold</b> */ (n > 2 => t = \"<i>\")
INITIALISATION t := \"<img src=x onerror=alert(1)>\" || n := 0
OPERATIONS up(s) = PRE s : {\"</table><script>\", \"a & b\"} & n < 3 THEN t := s || n := n + 1 END END
";

fn written(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("report").join(name);
    std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
    let _ = std::fs::remove_file(&path);
    path
}

/// The elements of a page, which is well-formed; and the page.
fn page(args: &[&str], name: &str, code: i32) -> (Vec<Element>, String) {
    let path = written(name);
    let ran = kanon(&[args, &["--report", text(&path)]].concat());
    assert_eq!(ran.code, code, "{}{}", ran.out, ran.err);
    let page = std::fs::read_to_string(&path).expect("a report");
    let inside = page.strip_prefix("<!DOCTYPE html>\n").expect("a page");
    (xml::elements(inside), page)
}

fn all<'e>(elements: &'e [Element], name: &str) -> Vec<&'e Element> {
    elements.iter().filter(|e| e.name == name).collect()
}

fn has(elements: &[Element], name: &str, part: &str) -> bool {
    elements.iter().any(|e| e.name == name && e.text.contains(part))
}

#[test]
fn a_report_has_the_verdict_the_trace_and_what_to_type() {
    let (e, page) = page(&["check", "models/demo/Library.mch"], "library.html", FAILS);
    assert!(has(&e, "title", "Library: fails") && has(&e, "span", "fails"));
    for section in ["What the answer is about", "What was found", "The run", "To have this answer again"] {
        assert!(has(&e, "h2", section), "{section}");
    }
    assert!(has(&e, "h3", "Why") && has(&e, "code", "limit = 1") && has(&e, "code", "borrow("));
    assert!(has(&e, "b", "lent = "), "what changes is marked");
    assert!(has(&e, "li", "card(BOOK) = 2"), "the sizes that it is about");
    assert!(has(&e, "pre", "check models/demo/Library.mch --report"));
    let bytes = std::fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("models/demo/Library.mch"));
    let hash = blake3::hash(&bytes.expect("the model")).to_hex().to_string();
    assert!(has(&e, "td", &hash), "the file by its hash");
    assert!(all(&e, "svg").len() >= 2, "charts of the run");
    assert!(all(&e, "img").iter().all(|i| i.attributes["src"].starts_with("data:image/svg+xml")));
    // One file: nothing is fetched and nothing runs.
    for never in ["<script", "javascript:", "http://", "https://", "url(", "@import"] {
        let page = page.replace("http://www.w3.org/", "").replace("https://www.w3.org/", "");
        assert!(!page.contains(never), "{never}");
    }
    assert!(all(&e, "link").is_empty() && all(&e, "iframe").is_empty());
}

#[test]
fn a_holds_has_coverage_and_all_states() {
    let machine = "MACHINE small VARIABLES x INVARIANT x : 0..3 INITIALISATION x := 0 OPERATIONS\n\
                   step = SELECT x < 2 THEN x := x + 1 END; back = SELECT x > 0 THEN x := 0 END;\n\
                   never = SELECT x = 9 THEN skip END END\n";
    let path = file("report", "small.mch", machine);
    let (e, _) = page(&["check", text(&path), "--coverage"], "small.html", HOLDS);
    assert!(has(&e, "span", "holds") && has(&e, "p", "Every reachable state was explored"));
    assert!(has(&e, "h2", "Coverage") && has(&e, "li", "never fires: never") && has(&e, "li", "x : 0..2"));
    assert!(has(&e, "li", "B0501"), "the warning");
    assert!(has(&e, "h2", "All states") && all(&e, "img").len() == 1);
    let bars = all(&e, "rect").into_iter().filter(|r| r.attributes.get("class").is_some_and(|c| c == "bar"));
    assert_eq!(bars.count(), 3 + 3, "three operations, and three distances");
    // A search that ended early says so, and says nothing of coverage.
    let (e, _) = page(&["check", text(&path), "--max-states", "1"], "part.html", UNKNOWN);
    assert!(has(&e, "span", "unknown") && !has(&e, "h2", "Coverage") && !has(&e, "h2", "All states"));
    assert!(has(&e, "li", "Not every reachable state was explored."));
}

#[test]
fn formulas_and_refinements_are_in_it() {
    let machine = "MACHINE f DEFINITIONS ASSERT_LTL == \"G F {x = 1}\"; ASSERT_LTL1 == \"G {x < 3}\"\n\
                   VARIABLES x INVARIANT x : 0..2 INITIALISATION x := 0\n\
                   OPERATIONS go = x := (x + 1) mod 3; stay = skip END\n";
    let path = file("report", "formulas.mch", machine);
    let (e, _) = page(&["check", text(&path), "--ltl"], "formulas.html", FAILS);
    assert!(has(&e, "h2", "Temporal formulas") && has(&e, "code", "G F {x = 1}"));
    assert!(e.iter().any(|e| e.text.contains("for ever")), "the loop is said");
    // The states are all right, but the answer as a whole is not: the title and the first word say so.
    assert!(has(&e, "title", "formulas: fails") || has(&e, "title", "f: fails"), "{:?}", all(&e, "title"));
    assert!(has(&e, "p", "the formula G F {x = 1} fails"));
    let first = e.iter().find(|e| e.attributes.get("class").is_some_and(|c| c.starts_with("verdict")));
    assert_eq!(first.map(|e| e.text.trim()), Some("fails"));
    let (e, _) = page(&["check", "models/eventb/Lights.eventb", "--refinement"], "lights.html", HOLDS);
    assert!(has(&e, "h2", "Refinement"));
}

/// Whatever a model calls its things, they are text.
#[test]
fn names_and_values_with_markup_are_text() {
    let path = file("report", "hostile.mch", HOSTILE);
    let (e, page) = page(&["check", text(&path)], "hostile.html", FAILS);
    assert!(e.iter().all(|e| !["script", "i"].contains(&&*e.name)), "{page}");
    assert!(!page.contains("<img src=x") && page.contains("&lt;img src=x"));
    assert!(all(&e, "img").iter().all(|i| i.attributes.keys().all(|k| !k.starts_with("on"))));
}

#[test]
fn what_cannot_be_written_is_an_error() {
    let nowhere = Path::new(env!("CARGO_TARGET_TMPDIR")).join("no/folder/report.html");
    let path = "models/papers/scheduler0.mch";
    assert_eq!(kanon(&["check", path, "--report", text(&nowhere)]).code, WRONG);
    let engine = kanon(&["check", path, "--report", text(&written("no.html")), "--engine", "bmc"]);
    assert!(engine.code == WRONG && engine.err.contains("`--report`"), "{}", engine.err);
    // Beside JSON, which says nothing else on standard output.
    let beside = written("beside.html");
    let v = json(&["check", path, "--json", "--report", text(&beside)], HOLDS);
    assert!(v["verdict"] == "holds" && beside.exists());
}
