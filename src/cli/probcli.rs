//! `kanon probcli`: the flags of ProB's command line that scripts use, as commands of ours.
//!
//! A flag is mapped or it is an error that names it; none is ignored, but for preferences about how ProB computes, which
//! cannot change an answer of ours. The commands run as processes of their own, and `report` writes their answers in
//! ProB's words.

use super::{Exit, interrupt};
use crate::report;
use crate::report::probcli::{self as shown, Said};
use crate::run::Deadline;
use crate::run::suite::run_all;
use std::ffi::OsString;

/// The arguments, as probcli takes them.
#[derive(clap::Args, Clone, Debug)]
pub struct Args {
    /// A file and flags of ProB's command line, such as `-mc 1000 -nodead`
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "FILE|FLAG", required = true)]
    pub flags: Vec<String>,
}

/// Preferences that say how ProB computes or how much it leaves out: we compute everything.
const NO_EFFECT: [&str; 8] = [
    "MAX_OPERATIONS",
    "MAX_INITIALISATIONS",
    "TIME_OUT",
    "COMPRESSION",
    "OPERATION_REUSE",
    "CSE",
    "TRY_FIND_ABORT",
    "MEMO",
];

/// What the flags ask for.
#[derive(Debug, Default)]
struct Asked {
    files: Vec<String>,
    /// Sizes, for every command.
    scope: Vec<OsString>,
    /// Options of `check`.
    options: Vec<OsString>,
    /// Explore the states; at most so many, if there is a number.
    check: Option<Option<usize>>,
    symmetry: Option<&'static str>,
    engine: Option<(&'static str, Option<usize>)>,
    timeout: Option<OsString>,
    formulas: Vec<String>,
    formula_files: Vec<String>,
    assertions: bool,
    no_ltl: bool,
    said: Said,
    version: bool,
}

/// Reads the flags.
fn read(flags: &[String]) -> Result<Asked, String> {
    let mut asked = Asked::default();
    let mut rest = flags.iter();
    while let Some(flag) = rest.next() {
        let mut value = |what: &str| rest.next().cloned().ok_or(format!("`{flag}` needs {what}"));
        let number = |text: String| -> Result<usize, String> {
            text.parse().map_err(|_| format!("`{flag}` needs a number, not `{text}`"))
        };
        let plain = flag.strip_prefix("--").or_else(|| flag.strip_prefix('-')).map(|f| f.replace('-', "_"));
        let Some(plain) = plain.filter(|p| !p.is_empty()) else {
            asked.files.push(flag.clone());
            continue;
        };
        let mut option = |text: &str| asked.options.push(text.into());
        match &*plain {
            "mc" => asked.check = Some(Some(number(value("a number of states")?)?)),
            "model_check" => asked.check = Some(None),
            "bf" | "breadth" => option("--order=bfs"),
            "df" | "depth" => option("--order=dfs"),
            "mc_mode" => match &*value("a mode")? {
                "bf" => option("--order=bfs"),
                "df" => option("--order=dfs"),
                // All states are explored in any case.
                "mixed" => {}
                other => return Err(format!("`-mc_mode {other}` has no counterpart: bf, df and mixed have")),
            },
            "nodead" => option("--no-deadlock"),
            "noinv" => option("--no-invariant"),
            "noass" => option("--no-assertions"),
            "nogoal" => option("--no-goal"),
            "noltl" => asked.no_ltl = true,
            "timeout" => {
                let seconds = number(value("milliseconds")?)? as f64 / 1000.0;
                asked.timeout = Some(format!("--timeout={seconds}").into());
            }
            "strict" => asked.said.strict = true,
            "silent" => asked.said.silent = true,
            "expcterr" => asked.said.expected.push(value("the name of an error")?),
            "card" => {
                let (set, size) = (value("a set")?, value("a size")?);
                asked.scope.push(format!("--card={set}={size}").into());
            }
            "p" | "pref" => {
                let (name, to) = (value("a preference")?, value("a preference and a value")?);
                preference(&mut asked, &name, &to)?;
            }
            "bmc" => asked.engine = Some(("bmc", Some(number(value("a depth")?)?))),
            "symbolic_model_check" => {
                let name = value("an engine")?;
                let known = ["bmc", "kinduction", "ic3"].into_iter().find(|e| *e == name);
                let why = format!(
                    "`-symbolic_model_check {name}` has no counterpart: bmc, kinduction and ic3 have"
                );
                asked.engine = Some((known.ok_or(why)?, None));
            }
            "ltlformula" => asked.formulas.push(value("a formula")?),
            "ltlfile" => asked.formula_files.push(value("a file")?),
            "ltlassertions" => asked.assertions = true,
            "version" => asked.version = true,
            _ => {
                return Err(format!(
                    "the flag `{flag}` of probcli has no counterpart here (docs/probcli.md)"
                ));
            }
        }
    }
    Ok(asked)
}

fn preference(asked: &mut Asked, name: &str, to: &str) -> Result<(), String> {
    let is_true = |to: &str| match &*to.to_uppercase() {
        "TRUE" => Ok(true),
        "FALSE" => Ok(false),
        _ => Err(format!("the preference {name} is TRUE or FALSE, not `{to}`")),
    };
    match name {
        "DEFAULT_SETSIZE" => asked.scope.push(format!("--setsize={to}").into()),
        "MAXINT" => asked.scope.push(format!("--maxint={to}").into()),
        "MININT" => asked.scope.push(format!("--minint={to}").into()),
        "SYMMETRY_MODE" => {
            asked.symmetry = Some(match to {
                "off" => "off",
                "flood" => "flood",
                "nauty" => "nauty",
                "hash" => "markers",
                _ => return Err(format!("SYMMETRY_MODE is off, flood, nauty or hash, not `{to}`")),
            });
        }
        "PROOF_INFO" => {
            if is_true(to)? {
                asked.options.push("--proof-info".into());
            }
        }
        _ if NO_EFFECT.contains(&name) => {}
        _ => {
            return Err(format!("the preference `{name}` of ProB has no counterpart here (docs/probcli.md)"));
        }
    }
    Ok(())
}

impl Asked {
    /// The command lines for a file: of `check`, and of `ltl`.
    fn lines(&self, file: &str) -> (Option<Vec<OsString>>, Option<Vec<OsString>>) {
        let word = OsString::from;
        let shared = || self.scope.iter().chain(&self.timeout).cloned();
        let check = (self.check.is_some() || self.engine.is_some()).then(|| {
            let mut line = vec![word("check"), word("--json")];
            line.extend(shared().chain(self.options.iter().cloned()));
            match self.engine {
                Some((engine, depth)) => {
                    line.push(format!("--engine={engine}").into());
                    line.extend(depth.map(|d| format!("--depth={d}").into()));
                }
                None => {
                    line.push(format!("--symmetry={}", self.symmetry.unwrap_or("off")).into());
                    line.extend(self.check.flatten().map(|n| format!("--max-states={n}").into()));
                }
            }
            line.extend([word("--"), word(file)]);
            line
        });
        let asks = !self.formulas.is_empty() || !self.formula_files.is_empty() || self.assertions;
        let ltl = (asks && !(self.no_ltl && self.formulas.is_empty())).then(|| {
            let mut line = vec![word("ltl"), word("--json"), word("--symmetry=off")];
            line.extend(shared());
            line.extend(self.formula_files.iter().map(|f| format!("--formulas-from={f}").into()));
            line.extend([word("--"), word(file)]);
            line.extend(self.formulas.iter().map(OsString::from));
            line
        });
        (check, ltl)
    }
}

pub fn run(args: &Args) -> Exit {
    let asked = match read(&args.flags) {
        Ok(asked) => asked,
        Err(why) => return super::wrong(&why, false),
    };
    if asked.version {
        report::out(&shown::version());
    }
    if asked.files.is_empty() {
        let why = "probcli needs a file";
        return if asked.version { Exit::Holds } else { super::wrong(why, false) };
    }
    if asked.check.is_none()
        && asked.engine.is_none()
        && asked.formulas.is_empty()
        && !asked.assertions
        && asked.formula_files.is_empty()
    {
        return super::wrong(
            "probcli is asked for nothing that has a counterpart: `-mc N`, for instance",
            false,
        );
    }
    let program = match std::env::current_exe() {
        Ok(program) => program,
        Err(e) => return super::failed(&format!("this program cannot be found, to run it again: {e}")),
    };
    let deadline = Deadline::never();
    interrupt::listen(&deadline);
    let mut failed = false;
    for file in &asked.files {
        let (check, ltl) = asked.lines(file);
        let lines: Vec<Vec<OsString>> = check.iter().chain(&ltl).cloned().collect();
        let ran = run_all(&program, &lines, 1, &deadline.flag, &|_| {});
        let mut ran = ran.into_iter();
        let check = check.and_then(|_| ran.next());
        let limit = asked.check.flatten();
        let told = shown::told(file, check.as_ref(), limit, ran.next().as_ref(), &asked.said);
        report::out(&told.out);
        report::err(&told.err);
        failed |= told.is_failed;
    }
    // ProB ends with 0 whatever it finds, unless it is told to be strict.
    if failed { Exit::Fails } else { Exit::Holds }
}
