//! `kanon types`: reads and types a model, evaluates nothing.

use super::Exit;
use crate::report::{self, diagnostic, typed};
use crate::run::types::types;
use std::path::PathBuf;

#[derive(clap::Args, Clone, Debug)]
pub struct Args {
    /// The model, in any language; CSP-M as well
    pub file: PathBuf,
    /// Print what is defined, and what is wrong, as JSON
    #[arg(long)]
    pub json: bool,
}

pub fn run(args: &Args) -> Exit {
    let answer = types(&args.file);
    if args.json {
        report::answer(typed::json(&answer));
    } else {
        report::err(&diagnostic::render_all(&answer.diagnostics, &answer.sources, report::colour_err()));
        report::out(&typed::text(&answer));
    }
    if answer.has_errors() { Exit::Wrong } else { Exit::Holds }
}
