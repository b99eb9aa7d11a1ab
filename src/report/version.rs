//! `kanon --version`: which program this is, what is built into it, and which solvers it finds beside it.

use kanon_solver::smt;
use std::fmt::Write;

/// A part that may be left out of a build.
struct Part {
    name: &'static str,
    is_there: bool,
    /// What is missing without it.
    without: &'static str,
}

const PARTS: [Part; 2] = [
    Part { name: "nauty", is_there: cfg!(feature = "nauty"), without: "--symmetry nauty" },
    Part { name: "cadical", is_there: cfg!(feature = "cadical"), without: "--solver sat" },
];

/// The version of a program, its parts, and the solvers in PATH. Nothing is run for it.
pub fn text() -> String {
    let built =
        option_env!("KANON_BUILT_FROM").unwrap_or("unknown: this is no release build of a repository");
    let mut text = format!("kanon {}\ncommit    {built}\n", env!("CARGO_PKG_VERSION"));
    let is_static = cfg!(target_feature = "crt-static");
    let linked = if is_static { "statically linked" } else { "with the system's libraries" };
    let _ = writeln!(text, "built     for {} on {}, {linked}", std::env::consts::OS, std::env::consts::ARCH);
    let with: Vec<&str> = PARTS.iter().filter(|p| p.is_there).map(|p| p.name).collect();
    let _ = writeln!(text, "features  {}", if with.is_empty() { "none".into() } else { with.join(", ") });
    for part in PARTS.iter().filter(|p| !p.is_there) {
        let _ = writeln!(text, "          not {}: `{}` is not there", part.name, part.without);
    }
    let found = smt::found();
    for (at, name) in smt::KNOWN.iter().enumerate() {
        let head = if at == 0 { "solvers" } else { "" };
        let place = found.iter().find(|(known, _)| known == name);
        let place = place.map_or("not found in PATH".into(), |(_, path)| path.display().to_string());
        let _ = writeln!(text, "{head:<9} {name}: {place}");
    }
    text
}
