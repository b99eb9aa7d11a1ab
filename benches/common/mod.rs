//! What the benches share: the models of the papers, ready to run, and the plain loop.
// Each bench uses its own part of this.
#![allow(dead_code)]

pub mod plain;

use kanon::explore::{Explored, Options, explore};
use kanon::lang::diag::SourceMap;
use kanon::model::open::{Opened, open};
use kanon::model::scope::ScopeArgs;
use kanon::system::{Machine, Stop};
use std::path::PathBuf;
use std::sync::Arc;

/// Every deferred set of the model gets this size.
pub fn opened(model: &str, size: u64) -> Opened {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("models/papers").join(format!("{model}.mch"));
    let args = ScopeArgs { setsize: Some(size), ..ScopeArgs::default() };
    open(&path, &args).unwrap_or_else(|refused| panic!("{}: {:?}", path.display(), refused.diagnostics))
}

/// The model as a system with the valuations of its constants.
pub fn system(opened: &Opened) -> Arc<Machine> {
    let mut system = Machine::new(opened.model.clone(), opened.scope.clone());
    let setup = system.setup(1_000_000, &never());
    assert!(setup.valuations > 0 && setup.fault.is_none(), "{}: no constants", opened.model.name);
    Arc::new(system)
}

/// A flag that nobody sets.
pub fn never() -> Stop {
    Stop::default()
}

/// The loop that ships: the kernel's events, with the invariant or without.
pub fn kernel(system: &Machine, invariant: bool, one_by_one: bool) -> Explored {
    let options = Options { invariant, deadlock: false, one_by_one, ..Options::default() };
    explore(system, None, &options, &never(), &mut |_| {}).expect("they go together")
}

/// An expression or predicate over the model.
pub fn typed(opened: &mut Opened, text: &str) -> kanon::model::Expr {
    use kanon::model::check::{Want, check_expr};
    let mut sources = SourceMap::default();
    let ast = kanon::lang::b::parse_expr(&mut sources, "bench", text, &opened.definitions)
        .unwrap_or_else(|d| panic!("{text}: {d:?}"));
    check_expr(&mut opened.model, &ast, Want::Either).unwrap_or_else(|d| panic!("{text}: {d:?}"))
}
