//! Tells the program from which commit it was built: `kanon --version` says so.
//!
//! Only release builds ask, so that a commit costs no development build anything. Where there is no repository (a package,
//! a container), the variable KANON_COMMIT or the note that `cargo package` leaves takes its place.

use std::fs;
use std::path::Path;
use std::process::Command;

/// What is not the sources: a change there makes no other program.
const SOURCES: [&str; 7] =
    ["Cargo.toml", "Cargo.lock", "src", "checker", "refinement", "build.rs", ".cargo_vcs_info.json"];

fn main() {
    println!("cargo:rerun-if-env-changed=KANON_COMMIT");
    println!("cargo:rerun-if-changed=build.rs");
    if std::env::var_os("PROFILE").is_none_or(|p| p != "release") {
        return;
    }
    let given = std::env::var("KANON_COMMIT").ok().filter(|c| !c.trim().is_empty());
    let commit = given.or_else(repository).or_else(package);
    if let Some(commit) = commit {
        println!("cargo:rustc-env=KANON_BUILT_FROM={}", commit.trim());
    }
}

/// The commit of the repository that this is, its date, and whether anything was changed since.
fn repository() -> Option<String> {
    // A repository of somebody else that this folder happens to lie in says nothing of it.
    if !Path::new(".git").exists() {
        return None;
    }
    let commit = git(&["log", "-1", "--format=%h %cs"])?;
    // Every commit and checkout leaves a line there.
    if let Some(log) = git(&["rev-parse", "--git-path", "logs/HEAD"]) {
        println!("cargo:rerun-if-changed={log}");
    }
    for source in SOURCES.iter().filter(|s| Path::new(s).exists()) {
        println!("cargo:rerun-if-changed={source}");
    }
    let mut changed = vec!["status", "--porcelain", "--untracked-files=no", "--"];
    changed.extend(SOURCES);
    let changed = git(&changed).is_none_or(|list| !list.is_empty());
    Some(if changed { format!("{commit}, with changes") } else { commit })
}

fn git(args: &[&str]) -> Option<String> {
    let output = Command::new("git").args(args).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.trim().to_string())
}

/// What `cargo package` notes in an archive.
fn package() -> Option<String> {
    let text = fs::read_to_string(".cargo_vcs_info.json").ok()?;
    let rest = text.split("\"sha1\"").nth(1)?;
    let hash = rest.split('"').nth(1)?;
    hash.get(..7).filter(|h| h.chars().all(|c| c.is_ascii_hexdigit())).map(str::to_string)
}
