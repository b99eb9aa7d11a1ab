//! Runs an SMT solver on the printed obligations, if one is installed.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use crate::obligations::{self, Obligation};
use crate::smt::Script;

/// A solver that is installed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Solver {
    /// The program.
    pub program: &'static str,
    /// What it needs to give up on a claim after ten seconds, on a file after a minute, and before it eats the
    /// machine.
    arguments: &'static [&'static str],
}

/// The solvers that are known, in the order in which they are looked for.
pub const SOLVERS: [Solver; 2] = [
    Solver { program: "z3", arguments: &["-t:10000", "-T:60", "-memory:2000"] },
    // Triggers alone are not enough for cvc5 where a set or a permutation has to be named that no term mentions.
    Solver {
        program: "cvc5",
        arguments: &["--incremental", "--enum-inst", "--tlimit-per=10000", "--tlimit=60000"],
    },
];

impl Solver {
    /// The first solver found, or the one asked for.
    pub fn find(wanted: Option<&str>) -> Option<Self> {
        SOLVERS
            .into_iter()
            .filter(|s| wanted.is_none_or(|w| w == s.program))
            .find(|s| Command::new(s.program).arg("--version").output().is_ok_and(|o| o.status.success()))
    }

    /// Its answers to one file, one for each claim, and the time they took.
    pub fn run(&self, file: &Path) -> io::Result<(Vec<String>, Duration)> {
        let start = Instant::now();
        let output = Command::new(self.program).args(self.arguments).arg(file).output()?;
        let text = String::from_utf8_lossy(&output.stdout);
        Ok((text.lines().map(str::to_owned).collect(), start.elapsed()))
    }
}

/// How a solver answered one obligation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// All claims follow.
    Discharged,
    /// This claim is refuted.
    Refuted(&'static str),
    /// The solver gave up on this claim.
    Open(&'static str),
    /// The solver said something else: its words.
    Strange(String),
}

impl Answer {
    /// What the answers to a script mean.
    pub fn read(script: &Script, answers: &[String]) -> Self {
        let mut open = None;
        for (at, label) in script.labels().enumerate() {
            match answers.get(at).map(String::as_str) {
                Some("unsat") => {}
                Some("sat") => return Answer::Refuted(label),
                // Out of time for the whole file: no answer to the claims that follow.
                Some("unknown" | "timeout") | None => open = open.or(Some(label)),
                Some(other) => return Answer::Strange(other.to_owned()),
            }
        }
        if answers.len() > script.claims() && open.is_none() {
            return Answer::Strange(answers.join(" / "));
        }
        open.map_or(Answer::Discharged, Answer::Open)
    }
}

impl std::fmt::Display for Answer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Answer::Discharged => f.write_str("discharged"),
            Answer::Refuted(label) => write!(f, "REFUTED: {label}"),
            Answer::Open(label) => write!(f, "open: {label}"),
            Answer::Strange(words) => write!(f, "error: {words}"),
        }
    }
}

/// The script of an obligation.
pub fn script(obligation: &Obligation) -> Script {
    obligations::script(obligation.function, None)
}

/// The name of its file: `mc2-remove-INV.smt2`.
pub fn file_name(obligation: &Obligation) -> String {
    format!("{}.smt2", obligation.id.replace('/', "-"))
}

/// Writes its file.
pub fn write(dir: &Path, obligation: &Obligation) -> io::Result<PathBuf> {
    fs::create_dir_all(dir)?;
    let file = dir.join(file_name(obligation));
    fs::write(&file, script(obligation).text(obligation.id))?;
    Ok(file)
}
