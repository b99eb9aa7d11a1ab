//! Texts that nobody would write: no panic, and an end.

use crate::typed;
use kanon_language::lang::diag::SourceMap;
use proptest::prelude::*;

const PIECES: [&str; 78] = [
    "P",
    "Q",
    "x",
    "y",
    "c",
    "d",
    "A",
    "B",
    "T",
    "0",
    "17",
    "true",
    "\"s\"",
    "'c'",
    "\n",
    "\n",
    " = ",
    "(",
    ")",
    "{",
    "}",
    "<",
    ">",
    "{|",
    "|}",
    "[",
    "]",
    "[[",
    "]]",
    "[|",
    "|]",
    "|",
    ",",
    ".",
    "?",
    "!",
    "$",
    ":",
    "::",
    " :: ",
    "->",
    "<-",
    "<->",
    "@",
    "@@",
    "\\",
    "[]",
    "|~|",
    "|||",
    "||",
    ";",
    "&",
    "/\\",
    "[>",
    "==",
    "<",
    ">=",
    "+",
    "-",
    "*",
    "^",
    "#",
    " and ",
    " not ",
    "if ",
    " then ",
    " else ",
    "let ",
    " within ",
    "channel ",
    "datatype ",
    "subtype ",
    "module ",
    "\nexports\n",
    "\nendmodule\n",
    "instance ",
    "assert ",
    "=>",
];

/// A script that uses most of the language.
const SCRIPT: &str = "datatype T = A | B.{0..2}.Bool\nchannel c, d : T.{0..1}\nchannel tick\n\
    f(A) = 0\nf(B.n._) = n\ng(<>) = 1\ng(<x>^xs) = x + g(xs)\n\
    P(n) = c?t?x:{0..n} -> (d!t!x -> P(n) [] tick -> STOP)\n\
    Q = (P(1) [| {| c |} |] P(1)) \\ {| d |} ||| ([] x : {0, 1} @ c.A.x -> SKIP)\n\
    R = P(1)[[ c <- d ]] [{| c |} || {| d |}] P(0) /\\ (tick -> STOP)\n\
    module M(k)\n  h = k\nexports\n  v = h\nendmodule\ninstance I = M({1})\n\
    w = let y = card(I::v) within if y > 0 then <y..9> else <z | z <- <1..>, z < y>\n\
    assert not Q [FD= R :[tau priority over]: {tick}\nassert R :[deadlock free [F]]\n";

fn survives(text: &str) {
    let mut sources = SourceMap::default();
    let file = sources.add("r.csp", text);
    let _ = typed(&mut sources, file);
}

#[test]
fn the_script_is_right() {
    let mut sources = SourceMap::default();
    let file = sources.add("r.csp", SCRIPT);
    assert!(typed(&mut sources, file).diagnostics.is_empty(), "{:?}", typed(&mut sources, file).diagnostics);
}

/// More with `KANON_CASES`.
fn cases() -> u32 {
    std::env::var("KANON_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(1000)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), ..ProptestConfig::default() })]

    #[test]
    fn any_text(text in "\\PC{0,80}") {
        survives(&text);
    }

    #[test]
    fn any_words(words in prop::collection::vec(prop::sample::select(&PIECES[..]), 0..60)) {
        survives(&words.concat());
    }

    /// Parts of a good script left out, doubled, or put elsewhere.
    #[test]
    fn any_change(cuts in prop::collection::vec((0..SCRIPT.len(), 0..40usize, 0..SCRIPT.len()), 1..4)) {
        let mut text = SCRIPT.to_string();
        for (from, length, to) in cuts {
            let from = from.min(text.len());
            let cut: String = text.drain(from..(from + length).min(text.len())).collect();
            if length % 2 == 0 {
                text.insert_str(to.min(text.len()), &cut);
            }
        }
        survives(&text);
    }
}

#[test]
fn deep_texts_end() {
    for text in [
        format!("x = {}1", "(".repeat(100_000)),
        format!("x = {}1", "1 + ".repeat(100_000)),
        format!("x = {}1", "1.".repeat(100_000)),
        format!("x = {}", "<".repeat(100_000)),
        format!("x = {}1", "-".repeat(99_999)),
        format!("{}x = 1", "module M\nexports\n".repeat(50_000)),
        format!("P = {}STOP", "a -> ".repeat(100_000)),
    ] {
        survives(&text);
    }
    // Definitions that need each other in a long chain.
    let chain: String = (0..20_000).map(|i| format!("x{i} = x{} + 1\n", i + 1)).collect();
    survives(&format!("{chain}x20000 = 0"));
}
