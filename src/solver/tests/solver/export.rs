//! Files for other tools: what abc's pdr says about random systems against enumeration, and what z3 says about paths.
//! Both programs are Debian packages (berkeley-abc, z3); without one its test is skipped, unless KANON_REQUIRE_ABC or
//! KANON_REQUIRE_SMT demands it.

use crate::support::systems::{explored, system};
use crate::support::*;
use kanon_solver::aiger::{Beyond, circuit};
use kanon_solver::export::{dimacs, smt2};
use kanon_solver::solver::Stop;
use kanon_solver::term::Terms;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Whether a program is there.
fn has(program: &str, demanded: &str) -> bool {
    let found = Command::new(program).arg("-h").stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok();
    if !found {
        assert!(std::env::var_os(demanded).is_none(), "{program} is not installed");
        eprintln!("skipped: {program} is not installed");
    }
    found
}

struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Scratch {
        let folder = std::env::temp_dir().join(format!("kanon-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        Scratch(folder)
    }

    fn write(&self, name: &str, content: &[u8]) -> PathBuf {
        let path = self.0.join(name);
        std::fs::write(&path, content).unwrap();
        path
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn output(program: &str, arguments: &[&str], folder: &Path) -> String {
    let out = Command::new(program).args(arguments).current_dir(folder).output().unwrap();
    String::from_utf8_lossy(&out.stdout).into_owned()
}

#[test]
fn abc_agrees_with_enumeration() {
    if !has("berkeley-abc", "KANON_REQUIRE_ABC") {
        return;
    }
    let scratch = Scratch::new("aiger");
    let (mut proved, mut failed) = (0, 0);
    for seed in 0..cases(60) {
        let (mut terms, system, explicit) = explored(seed);
        let aiger = circuit(&mut terms, &system, 8, Beyond::Allowed, &Stop::never()).unwrap();
        assert!(!aiger.can_overflow, "all variables are bounded");
        if aiger.size().3 == 0 {
            assert_eq!(explicit.shortest, None);
            continue;
        }
        scratch.write("system.aig", &aiger.binary());
        let said = output("berkeley-abc", &["-c", "read_aiger system.aig; orpos; pdr"], &scratch.0);
        let (holds, fails) = (said.contains("Property proved"), said.contains("was asserted in frame"));
        assert!(holds != fails, "seed {seed}: {said}");
        assert_eq!(holds, explicit.shortest.is_none(), "seed {seed}: {said}");
        proved += usize::from(holds);
        failed += usize::from(fails);
    }
    assert!(proved > 10 && failed > 10, "{proved} were proved, {failed} failed");
}

#[test]
fn z3_agrees_about_paths() {
    if !has("z3", "KANON_REQUIRE_SMT") {
        return;
    }
    let scratch = Scratch::new("paths");
    for seed in 0..cases(25) {
        let (mut terms, system, explicit) = explored(seed);
        let shortest = explicit.shortest;
        for length in 0..=shortest.map_or(3, |n| n + 1).min(4) {
            let expected = if shortest.is_some_and(|n| n <= length) { "sat" } else { "unsat" };
            scratch.write("path.smt2", smt2(&mut terms, &system, length, &[]).as_bytes());
            let said = output("z3", &["path.smt2"], &scratch.0);
            assert_eq!(said.trim(), expected, "seed {seed}, {length} steps");
            let words = (8, Beyond::Excluded);
            let file = dimacs(&mut terms, &system, length, words, &[], &Stop::never()).unwrap();
            assert!(!file.can_overflow, "all variables are bounded");
            scratch.write("path.cnf", file.text.as_bytes());
            let said = output("z3", &["-dimacs", "path.cnf"], &scratch.0);
            let first = said.lines().next().unwrap_or_default().trim_start_matches("s ").to_lowercase();
            let first = first.replace("isfiable", "");
            assert_eq!(first, expected, "seed {seed}, {length} steps: {said}");
        }
    }
}

/// The text has as many lines as its header says, and every number in it is one of a wire.
#[test]
fn the_text_is_well_formed() {
    for seed in 0..20 {
        let mut r = Random::new(seed);
        let mut terms = Terms::new();
        let system = system(&mut terms, &mut r);
        let aiger = circuit(&mut terms, &system, 8, Beyond::Excluded, &Stop::never()).unwrap();
        let text = aiger.text();
        let mut lines = text.lines();
        let header: Vec<u32> = lines.next().unwrap().split(' ').skip(1).map(|n| n.parse().unwrap()).collect();
        let [most, inputs, latches, outputs, gates, bad] = header[..] else { panic!("{header:?}") };
        assert_eq!((most, outputs), (inputs + latches + gates, 0));
        let mut known = 1;
        for (kind, count) in [(1, inputs), (2, latches), (0, bad), (3, gates)] {
            for _ in 0..count {
                let line: Vec<u32> = lines.next().unwrap().split(' ').map(|n| n.parse().unwrap()).collect();
                assert!(line.iter().all(|&l| l <= 2 * most + 1));
                assert_eq!(line.len(), kind.max(1));
                if kind > 0 {
                    assert_eq!(line[0], 2 * known, "in order");
                    known += 1;
                }
                if kind == 3 {
                    assert!(line[1] < line[0] && line[2] < line[0], "inputs first");
                }
            }
        }
        assert!(lines.next().is_none_or(|l| l.starts_with(['i', 'l', 'b', 'c'])));
    }
}
