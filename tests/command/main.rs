//! The program as people use it: what they type, what they get, how it ends.

mod ask;
mod browser;
mod cases;
mod checkpoint;
mod cli;
mod compare;
mod convert;
mod coverage;
#[cfg(target_os = "linux")]
mod disk;
mod distributed;
mod fmt;
mod follow;
mod formulas;
mod graph;
mod guided;
#[cfg(target_os = "linux")]
mod languages;
mod limits;
mod lsp;
mod ltl;
#[cfg(target_os = "linux")]
mod memory;
mod nets;
mod probcli;
mod processes;
mod program;
mod project;
mod records;
mod refine;
mod report;
mod schema;
mod serve;
mod shares;
mod simulate;
mod space;
#[path = "../support/mod.rs"]
mod support;
#[cfg(target_os = "linux")]
mod terminal;
mod traces;
mod types;
#[cfg(unix)]
mod watch;
#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
mod xtl;
