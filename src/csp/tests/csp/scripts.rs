//! Scripts of our own: what is defined, and what is said of mistakes.

use crate::{shown, typed};
use kanon_language::lang::diag::SourceMap;

fn types(text: &str) -> Result<Vec<String>, Vec<String>> {
    let mut sources = SourceMap::default();
    let file = sources.add("s.csp", text);
    let found = typed(&mut sources, file);
    match shown(&sources, &found.diagnostics) {
        none if none.is_empty() => {
            Ok(found.definitions.iter().map(|(name, ty)| format!("{} :: {ty}", name.text)).collect())
        }
        errors => Err(errors),
    }
}

#[test]
fn definitions_have_types() {
    let table: &[(&str, &[&str])] = &[
        ("N = 3", &["N :: Int"]),
        ("f(x, y) = x + y", &["f :: (Int, Int) -> Int"]),
        ("id(x) = x\npair = (id(1), id(true))", &["id :: (a) -> a", "pair :: (Int, Bool)"]),
        ("s = \"text\" ^ <'c'>", &["s :: <Char>"]),
        ("E = { x | x <- {0..9}, x % 2 == 0 }", &["E :: {Int}"]),
        ("m = (| 1 => true, 2 => false |)", &["m :: (| Int => Bool |)"]),
        ("compose(f, g)(x) = f(g(x))", &["compose :: ((a) -> b, (c) -> a) -> (c) -> b"]),
        ("channel c : {0..1}.Bool\ne = c.0.true", &["c :: Int => Bool => Event", "e :: Event"]),
        ("channel c : {0..1}.Bool\nd = c.0", &["c :: Int => Bool => Event", "d :: Bool => Event"]),
        (
            "datatype T = Leaf.Int | Node.T.T\nsum(Leaf.n) = n\nsum(Node.l.r) = sum(l) + sum(r)",
            &["T :: {T}", "Leaf :: Int => T", "Node :: T => T => T", "sum :: (T) -> Int"],
        ),
        ("channel a, b\nP = a -> b -> P [] STOP \\ {a} ||| SKIP", &["a :: Event", "b :: Event", "P :: Proc"]),
        (
            "channel left, right : {0..3}\nCOPY = left?x -> right!x -> COPY",
            &["left :: Int => Event", "right :: Int => Event", "COPY :: Proc"],
        ),
        // Each instance of a module has its own parts.
        (
            "module M(n)\nexports\nx = n\nendmodule\ninstance I = M(1)\ninstance J = M(true)\np = (I::x, J::x)",
            &["p :: (Int, Bool)"],
        ),
        // Definitions that need each other are typed together, whatever their order.
        (
            "even(n) = n == 0 or odd(n - 1)\nodd(n) = n != 0 and even(n - 1)",
            &["even :: (Int) -> Bool", "odd :: (Int) -> Bool"],
        ),
        ("f :: Set a => (a) -> {a}\nf(x) = {x}", &["f :: (a) -> {a}"]),
        (
            "nametype Small = {0..3}\nsubtype S = A\ndatatype T = A | B",
            &["Small :: {Int}", "S :: {T}", "T :: {T}", "A :: T", "B :: T"],
        ),
        ("-- nothing {- at all\n", &[]),
    ];
    for (text, expected) in table {
        assert_eq!(types(text), Ok(expected.iter().map(|s| s.to_string()).collect()), "{text}");
    }
}

#[test]
fn mistakes_have_places() {
    let table: &[(&str, &str)] = &[
        ("P = 1 +", "s.csp:1:8: C0110 expected an expression, found the end of the file"),
        ("x = 1 == true", "s.csp:1:10: C0220 expected `Int`, found `Bool`"),
        ("x = y", "s.csp:1:5: C0211 `y` is not defined"),
        ("P = STOP\nP = SKIP", "s.csp:2:1: C0210 `P` is defined twice"),
        ("x = {STOP} == {STOP}", "s.csp:1:5: C0220 values of type `Proc` cannot be compared by `==`"),
        ("channel c : {0..1}\nP = c -> STOP", "s.csp:2:5: C0220 expected `Event`, found `Int => Event`"),
        ("P = a [] \"", "s.csp:1:10: C0101 this string does not end on its line"),
        ("{- never", "s.csp:1:1: C0101 this comment does not end"),
        ("f :: Int", "s.csp:1:1: C0202 `f` has a type and no definition"),
        ("include \"nowhere.csp\"", "s.csp:1:9: C0102 cannot read nowhere.csp"),
        ("P = let channel c within STOP", "s.csp:1:9: C0111 this declaration may not stand in `let`"),
        ("x = _", "s.csp:1:5: C0120 this may only stand in a pattern"),
        ("external sortof", "s.csp:1:10: C0215 there is no external function `sortof`"),
        ("assert STOP :[deadlock fre]", "s.csp:1:13: C0113 there is no property `deadlock fre`"),
        ("f(x) = x(x)", "s.csp:1:10: C0220 `a` would have to contain itself: `(a) -> b`"),
        ("module M(x)\nexports\ny = x\nendmodule\nz = M::y", "s.csp:5:8: C0212 `M` has parameters"),
    ];
    for (text, expected) in table {
        let found = types(text).expect_err(text);
        assert!(found[0].starts_with(expected), "{text}\n  {found:?}");
    }
}

/// A definition with a mistake does not hide the mistakes of others, nor make new ones.
#[test]
fn mistakes_are_reported_once_each() {
    let found = types("a = 1 + true\nb = a + 1\nc = d\ne = c").expect_err("two mistakes");
    assert_eq!(found.len(), 2, "{found:?}");
    let found = types("a = (\nb = 1\nc = )\nd = 2").expect_err("two mistakes");
    assert_eq!(found.len(), 2, "{found:?}");
}
