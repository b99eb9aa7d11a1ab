//! What is printed parses back to the same tree: over generated expressions, substitutions and
//! machines, by proptest (which shrinks along the structure) and by quickcheck (from bytes).

use crate::trees::generate::Bytes;
use crate::trees::{generate, plain};
use kanon::lang::ast::*;
use kanon::lang::b::{self, Definitions};
use kanon::lang::diag::SourceMap;
use kanon::lang::print;
use proptest::prelude::*;

fn expr_comes_back(e: &Expr) -> Result<(), String> {
    let text = print::expr(e);
    let parsed = b::parse_expr(&mut SourceMap::default(), "printed", &text, &Definitions::default());
    let mut back = parsed.map_err(|d| format!("{text}\n{d:?}"))?;
    plain::expr(&mut back);
    if back == *e { Ok(()) } else { Err(format!("{text}\n{e:?}\n{back:?}")) }
}

fn machine_comes_back(m: &Machine) -> Result<(), String> {
    let text = print::machine(m);
    let parsed = b::parse_text(&mut SourceMap::default(), "printed.mch", &text);
    let mut back = parsed.machine.ok_or_else(|| format!("{text}\n{:?}", parsed.diagnostics))?;
    plain::machine(&mut back);
    if back == *m { Ok(()) } else { Err(format!("{text}\n{m:?}\n{back:?}")) }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn expressions(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let e = generate::expr(&mut Bytes::new(&bytes), 6);
        prop_assert_eq!(expr_comes_back(&e), Ok(()));
    }

    #[test]
    fn machines(bytes in prop::collection::vec(any::<u8>(), 0..600)) {
        let m = generate::machine(&mut Bytes::new(&bytes));
        prop_assert_eq!(machine_comes_back(&m), Ok(()));
    }

    /// Any text at all: an answer, and one that says why when it is no machine.
    #[test]
    fn any_text_has_an_answer(text in "\\PC{0,200}") {
        let parsed = b::parse_text(&mut SourceMap::default(), "any", &text);
        prop_assert!(parsed.machine.is_some() || !parsed.diagnostics.is_empty());
    }

    /// Strings and names survive whatever is in them.
    #[test]
    fn strings_and_names(text in "[^\u{fffd}]{1,20}", name in "[^\u{fffd}.\u{2028}\u{2029}]{1,12}") {
        expr_comes_back(&generate::of(ExprKind::Str(text.as_str().into()))).map_err(TestCaseError::fail)?;
        expr_comes_back(&generate::of(ExprKind::Name(name.as_str().into()))).map_err(TestCaseError::fail)?;
    }
}

quickcheck::quickcheck! {
    fn expressions_from_bytes(bytes: Vec<u8>) -> Result<(), String> {
        expr_comes_back(&generate::expr(&mut Bytes::new(&bytes), 8))
    }

    fn machines_from_bytes(bytes: Vec<u8>) -> Result<(), String> {
        machine_comes_back(&generate::machine(&mut Bytes::new(&bytes)))
    }
}
