//! `kanon lsp`: a language server on standard input and output.

use super::{Exit, wrong};
use crate::lsp;

#[derive(clap::Args, Clone, Debug)]
pub struct Args {
    /// Talk through standard input and output, which is the only way; editors pass it
    #[arg(long)]
    pub stdio: bool,
}

pub fn run(_: &Args) -> Exit {
    match lsp::run() {
        Ok(()) => Exit::Holds,
        Err(why) => wrong(&format!("the conversation with the editor ended: {why}"), false),
    }
}
