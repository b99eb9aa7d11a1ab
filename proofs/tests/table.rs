//! `OBLIGATIONS.md` is up to date.

use kanon_proofs::{obligations, table};
use std::collections::BTreeSet;

const RECORDED: &str = include_str!("../OBLIGATIONS.md");

#[test]
fn obligations_md_is_up_to_date() {
    let fresh = table::text(&table::recorded(RECORDED));
    assert!(fresh == RECORDED, "run `cargo run -p kanon-proofs -- obligations --update`");
}

#[test]
fn every_obligation_is_discharged() {
    let rows = || RECORDED.lines().filter(|line| line.starts_with("| `"));
    assert_eq!(rows().count(), obligations::all().count());
    // By z3 and by cvc5, as README says.
    let open: Vec<&str> = rows().filter(|line| !line.ends_with("| discharged | discharged |")).collect();
    assert_eq!(open, [""; 0]);
}

#[test]
fn names_are_unique() {
    let ids: BTreeSet<_> = obligations::all().map(|o| o.id).collect();
    let functions: BTreeSet<_> = obligations::all().map(|o| o.function).collect();
    assert_eq!(ids.len(), obligations::all().count());
    assert_eq!(functions.len(), ids.len());
}
