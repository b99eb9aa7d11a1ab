//! The flags: each is understood, or an error that names it and says what to do instead.

use super::super::ScopeOptions;
use crate::report::probcli::Said;
use clap::{Args, FromArgMatches};
use std::ffi::OsString;
use std::path::PathBuf;

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

/// Flags of ProB that are not taken, and what does the same or comes near it.
const REFUSED: [(&str, &str); 46] = [
    ("t", "`kanon replay FILE TRACE` follows a trace; ProB's `.trace` is not read, its `.prob2trace` is"),
    (
        "scope",
        "conjoin the predicate to the guards, or make it the invariant of a machine that includes this one",
    ),
    ("cbc_refinement", "`kanon prove FILE` decides the proof obligations of a refinement"),
    (
        "cbc_redundant_invariants",
        "`kanon prove FILE` names conjuncts of the invariant that follow from others",
    ),
    ("cbc_tests", "`kanon test-cases FILE`"),
    ("cbc_cover", "`kanon test-cases FILE`"),
    ("mcm_tests", "`kanon test-cases FILE`"),
    ("mcm_cover", "`kanon test-cases FILE`"),
    ("test_description", "`kanon test-cases FILE`"),
    ("animate_stats", "`kanon simulate FILE` counts the steps of each operation"),
    ("det_constants", "`-init -det_check` also looks at the constants"),
    ("main_assertions", "`-assertions` looks at all of them"),
    (
        "properties",
        "`kanon check FILE` says why no valuation fulfils PROPERTIES; `-eval` evaluates one of them",
    ),
    ("ctlformula", "`-ltlformula` or `kanon ltl`: `AG` is `G`, and `EF p` is that `G not(p)` fails"),
    ("csp_guide", "`kanon check FILE --csp SCRIPT.csp` has a process guide a machine"),
    ("csp_eval", "`kanon eval SCRIPT.csp EXPRESSION`"),
    ("pp", "`kanon fmt FILE` puts the text in order, `kanon types FILE` shows types"),
    ("ppf", "`kanon types FILE` shows types"),
    ("ppb", "`kanon fmt FILE`"),
    ("visb", "`kanon serve FILE` shows VisB's pictures"),
    ("bench_csv", "`kanon check --json` has times and counts"),
    ("sstxt", "`kanon export --json FILE` has all states"),
    ("load_state", "`kanon replay FILE TRACE`, or `kanon animate --trace`"),
    ("dot_output", "`kanon check` explains what is false"),
    ("dot_all", "`kanon check` explains what is false"),
    ("prefs", "give preferences by `-p NAME VALUE`"),
    ("cache", "nothing is kept between runs"),
    ("s", "`kanon serve FILE`, or `kanon lsp` for editors"),
    ("ss", "`kanon serve FILE`, or `kanon lsp` for editors"),
    ("sf", "`kanon serve FILE`, or `kanon lsp` for editors"),
    ("l", "`kanon check --json-stream` tells events as they happen"),
    ("ll", "`kanon check --json-stream` tells events as they happen"),
    ("lg", "`kanon check --report` draws the run"),
    ("mc_with_tlc", "`-mc`"),
    ("mc_with_lts_sym", "`-symbolic_model_check`, or `kanon export --aiger` for other tools"),
    ("mc_with_lts_seq", "`-mc`"),
    ("check_java_version", "no Java is needed"),
    ("statistics", "`kanon check --json` has times, bytes and counts"),
    ("v", "`kanon check --stats`"),
    ("verbose", "`kanon check --stats`"),
    ("help", "`kanon probcli --help`, docs/probcli.md"),
    ("csv_list", "`-csv` takes quick_operation_coverage and variable_coverage"),
    ("rodin", "give the file or the folder of the project"),
    ("package", "`kanon convert --to package`"),
    ("execute_monitor", "`-execute`"),
    ("export_trace", "`kanon check --trace FILE`"),
];

/// What is done with a graph or a table of the states.
#[derive(Clone, Debug)]
pub struct Drawn {
    /// The expression that states are put together by.
    pub by: Option<String>,
    pub to: PathBuf,
}

/// A table of what was covered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Table {
    Operations,
    Variables,
}

/// A question about a CSP-M script, as the text of an assertion.
pub type Assertion = String;

/// How steps are taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Steps {
    /// At most so many; all of them otherwise.
    pub limit: Option<usize>,
    /// Chance chooses; the first one is taken otherwise.
    pub is_random: bool,
}

/// What is asked about states that a walk leads to.
#[derive(Debug, Default)]
pub struct Walk {
    pub init: bool,
    pub steps: Vec<Steps>,
    pub det_check: bool,
    pub assertions: bool,
    pub check_goal: bool,
    /// Expressions; the file that they are from.
    pub evals: Vec<(String, Option<String>)>,
    pub histories: Vec<(String, PathBuf)>,
    pub history: Option<PathBuf>,
    pub history_with_init: bool,
    pub state: Option<PathBuf>,
}

impl Walk {
    pub fn is_asked(&self) -> bool {
        self.init
            || !self.steps.is_empty()
            || self.det_check
            || self.assertions
            || self.check_goal
            || !self.evals.is_empty()
            || !self.histories.is_empty()
            || self.history.is_some()
            || self.state.is_some()
    }
}

/// What the flags ask for.
#[derive(Debug, Default)]
pub struct Asked {
    pub files: Vec<PathBuf>,
    /// Sizes, for every command.
    pub scope: Vec<OsString>,
    /// Options of `check`.
    pub options: Vec<OsString>,
    /// Explore the states; at most so many, if there is a number.
    pub check: Option<Option<usize>>,
    pub symmetry: Option<&'static str>,
    pub engine: Option<(&'static str, Option<usize>)>,
    pub timeout: Option<f64>,
    pub formulas: Vec<String>,
    pub formula_files: Vec<String>,
    pub assertions: bool,
    pub no_ltl: bool,
    pub ltl_limit: Option<usize>,
    pub goal: Option<String>,
    /// An operation, or `all`.
    pub cbc: Vec<String>,
    pub cbc_deadlock: bool,
    pub cbc_assertions: bool,
    pub sequences: Vec<String>,
    pub wd: bool,
    pub save: Option<PathBuf>,
    pub refines: Option<PathBuf>,
    pub csp: Vec<Assertion>,
    pub vacuity: bool,
    pub coverage: bool,
    /// Expected numbers of states and of transitions.
    pub counts: Option<(u64, u64)>,
    pub walk: Walk,
    pub drawn: Vec<Drawn>,
    pub tables: Vec<(Table, PathBuf)>,
    pub repl: bool,
    pub said: Said,
    pub version: bool,
}

impl Asked {
    /// Whether anything is asked about a machine.
    pub fn is_about_machines(&self) -> bool {
        self.check.is_some()
            || self.engine.is_some()
            || self.asks_formulas()
            || self.proves()
            || !self.sequences.is_empty()
            || self.save.is_some()
            || self.refines.is_some()
            || self.walk.is_asked()
            || !self.drawn.is_empty()
            || self.repl
    }

    pub fn asks_formulas(&self) -> bool {
        let by_hand = !self.formulas.is_empty();
        by_hand || !self.no_ltl && (self.assertions || !self.formula_files.is_empty())
    }

    /// Whether proof obligations are asked for.
    pub fn proves(&self) -> bool {
        !self.cbc.is_empty() || self.cbc_deadlock || self.cbc_assertions || self.wd
    }

    /// What needs the search for states has to come with it.
    fn wants_a_search(&self) -> Option<&'static str> {
        let wants = [
            (self.vacuity, "-vacuity_check"),
            (self.coverage, "-coverage"),
            (self.counts.is_some(), "-cc"),
            (!self.tables.is_empty(), "-csv"),
        ];
        wants.into_iter().find(|(is, _)| *is).map(|(_, name)| name)
    }

    /// The sizes, as the commands read them.
    pub fn sizes(&self) -> Result<ScopeOptions, String> {
        let command = ScopeOptions::augment_args(clap::Command::new("probcli"));
        let words = std::iter::once(OsString::from("probcli")).chain(self.scope.iter().cloned());
        let said = |e: clap::Error| {
            let text = e.to_string();
            text.trim_start_matches("error: ").lines().next().unwrap_or_default().to_string()
        };
        let read = command.try_get_matches_from(words).map_err(said)?;
        ScopeOptions::from_arg_matches(&read).map_err(said)
    }
}

/// Reads the flags.
pub fn read(flags: &[OsString]) -> Result<Asked, String> {
    let mut asked = Asked::default();
    let mut rest = flags.iter();
    while let Some(word) = rest.next() {
        // The name of a file may be any bytes.
        let Some(flag) = word.to_str() else {
            asked.files.push(word.into());
            continue;
        };
        let mut value = |what: &str| {
            let next = rest.next().ok_or(format!("`{flag}` needs {what}"))?;
            let text = next.to_str().map(String::from);
            text.ok_or(format!("`{flag}` needs {what} as text, not `{}`", next.to_string_lossy()))
        };
        let number = |text: String| -> Result<usize, String> {
            text.parse().map_err(|_| format!("`{flag}` needs a number, not `{text}`"))
        };
        let plain = flag.strip_prefix("--").or_else(|| flag.strip_prefix('-')).map(|f| f.replace('-', "_"));
        let Some(plain) = plain.filter(|p| !p.is_empty()) else {
            asked.files.push(flag.into());
            continue;
        };
        let mut option = |text: &str| asked.options.push(text.into());
        match &*plain {
            "mc" => asked.check = Some(Some(number(value("a number of states")?)?)),
            "model_check" => asked.check = Some(None),
            "bf" | "breadth" => option("--order=bfs"),
            "df" | "depth" => option("--order=dfs"),
            "mc_mode" => match &*value("a mode")? {
                "bf" | "breadth-first" => option("--order=bfs"),
                "df" | "depth-first" => option("--order=dfs"),
                "random" => option("--order=mixed=0.5"),
                // An order, and all states are explored in any case.
                "mixed" | "hash" | "heuristic" => {}
                other => return Err(unknown("-mc_mode", other, "bf, df, mixed, hash, heuristic and random")),
            },
            "nodead" => option("--no-deadlock"),
            "noinv" => option("--no-invariant"),
            "noass" => option("--no-assertions"),
            "nogoal" => option("--no-goal"),
            "noltl" => asked.no_ltl = true,
            "goal" => {
                let goal = value("a predicate")?;
                option(&format!("--goal={goal}"));
                asked.goal = Some(goal);
            }
            "timeout" => asked.timeout = Some(number(value("milliseconds")?)? as f64 / 1000.0),
            "strict" => asked.said.strict = true,
            "silent" => asked.said.silent = true,
            "expcterr" | "expecterr" => asked.said.expected.push(value("the name of an error")?),
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
                let engine = match &*name {
                    "bmc" => "bmc",
                    // Both are proofs by induction over paths.
                    "kinduction" | "tinduction" => "kinduction",
                    "ic3" => "ic3",
                    _ => {
                        let known = "bmc, kinduction, tinduction and ic3";
                        return Err(unknown("-symbolic_model_check", &name, known));
                    }
                };
                asked.engine = Some((engine, None));
            }
            "ltlformula" => asked.formulas.push(value("a formula")?),
            "ltlfile" => asked.formula_files.push(value("a file")?),
            "ltlassertions" => asked.assertions = true,
            "ltllimit" => asked.ltl_limit = Some(number(value("a number of states")?)?),
            "cbc" => asked.cbc.push(value("an operation, or `all`")?),
            "cbc_deadlock" => asked.cbc_deadlock = true,
            "cbc_assertions" => asked.cbc_assertions = true,
            "cbc_sequence" => asked.sequences.push(value("operations, with `;` between them")?),
            "wd_check" => asked.wd = true,
            "save" => asked.save = Some(value("a file")?.into()),
            "refchk" => asked.refines = Some(value("a file")?.into()),
            "vacuity_check" => {
                option("--coverage");
                asked.vacuity = true;
            }
            "c" | "coverage" => asked.coverage = true,
            "cc" => {
                let (states, steps) = (value("two numbers")?, value("two numbers")?);
                asked.counts = Some((number(states)? as u64, number(steps)? as u64));
            }
            "dot" => {
                let (command, to) = (value("a graph and a file")?, value("a graph and a file")?);
                if !["state_space", "state_space_sfdp"].contains(&&*command) {
                    let way = match &*command {
                        "state_as_graph" => "`kanon graph FILE -o OUT.dot` draws a state; ",
                        "invariant" | "properties" | "assertions" | "goal" => {
                            "`kanon check` explains what is false; "
                        }
                        _ => "",
                    };
                    return Err(format!(
                        "{way}{}",
                        unknown("-dot", &command, "state_space and state_space_sfdp")
                    ));
                }
                asked.drawn.push(Drawn { by: None, to: to.into() });
            }
            "spdot" => asked.drawn.push(Drawn { by: None, to: value("a file")?.into() }),
            "dotexpr" => {
                let what = "a graph, an expression and a file";
                let (command, by, to) = (value(what)?, value(what)?, value(what)?);
                if command != "transition_diagram" {
                    return Err(unknown("-dotexpr", &command, "transition_diagram"));
                }
                asked.drawn.push(Drawn { by: Some(by), to: to.into() });
            }
            "csv" => {
                let (table, to) = (value("a table and a file")?, value("a table and a file")?);
                let table = match &*table {
                    "quick_operation_coverage" => Table::Operations,
                    "variable_coverage" => Table::Variables,
                    other => {
                        let known = "quick_operation_coverage and variable_coverage";
                        return Err(unknown("-csv", other, known));
                    }
                };
                asked.tables.push((table, to.into()));
            }
            // There are no timeouts of single evaluations.
            "disable_timeout" => {}
            "version" | "svers" => asked.version = true,
            "repl" => asked.repl = true,
            _ if walking(&plain, &mut value, &mut asked.walk)? => {}
            _ if plain.starts_with("csp") && csp(&plain, &mut value, &mut asked.csp)? => {}
            _ => {
                let way = REFUSED.iter().find(|(name, _)| plain.eq_ignore_ascii_case(name));
                let way = way.map_or("docs/probcli.md has those that have one".into(), |(_, way)| {
                    format!("instead: {way}")
                });
                return Err(format!("the flag `{flag}` of probcli has no counterpart here; {way}"));
            }
        }
    }
    if let Some(flag) = asked.wants_a_search().filter(|_| asked.check.is_none() || asked.engine.is_some()) {
        return Err(format!("`{flag}` is about all states: it needs `-mc N` or `-model_check`"));
    }
    Ok(asked)
}

fn unknown(flag: &str, value: &str, known: &str) -> String {
    let verb = if known.contains(" and ") { "have" } else { "has" };
    format!("`{flag} {value}` has no counterpart: {known} {verb}")
}

type Values<'a> = &'a mut dyn FnMut(&str) -> Result<String, String>;

/// Flags about steps and states. Says whether this is one.
fn walking(flag: &str, value: Values, walk: &mut Walk) -> Result<bool, String> {
    let number = |text: String| -> Result<usize, String> {
        text.parse().map_err(|_| format!("`-{flag}` needs a number, not `{text}`"))
    };
    match flag {
        "init" => walk.init = true,
        "animate" => {
            let limit = Some(number(value("a number of steps")?)?);
            walk.steps.push(Steps { limit, is_random: true });
        }
        "animate_all" => walk.steps.push(Steps { limit: None, is_random: true }),
        "execute" => {
            let limit = Some(number(value("a number of steps")?)?);
            walk.steps.push(Steps { limit, is_random: false });
        }
        "execute_all" => walk.steps.push(Steps { limit: None, is_random: false }),
        "det_check" => walk.det_check = true,
        "assertions" => walk.assertions = true,
        "check_goal" => walk.check_goal = true,
        "eval" => walk.evals.push((value("an expression or a predicate")?, None)),
        "eval_file" => {
            let file = value("a file")?;
            let text = std::fs::read_to_string(&file).map_err(|e| format!("{file} cannot be read: {e}"))?;
            walk.evals.push((text.trim().to_string(), Some(file)));
        }
        "csvhist" => {
            let (by, to) = (value("an expression and a file")?, value("an expression and a file")?);
            walk.histories.push((by, to.into()));
        }
        "his" => walk.history = Some(value("a file")?.into()),
        "his_option" => match &*value("`show_init`")? {
            "show_init" => walk.history_with_init = true,
            other => {
                return Err(format!(
                    "`kanon check --trace` writes traces with states; {}",
                    unknown("-his_option", other, "show_init")
                ));
            }
        },
        "sptxt" => walk.state = Some(value("a file")?.into()),
        _ => return Ok(false),
    }
    Ok(true)
}

/// Flags about processes. Says whether this is one.
fn csp(flag: &str, value: Values, all: &mut Vec<Assertion>) -> Result<bool, String> {
    // FDR's letters are ProB's, but for the form that failures and divergences are written in.
    let model = |name: String| match &*name.to_uppercase() {
        "F" => Ok("F"),
        "FD" => Ok("FD"),
        _ => Err(format!("`-{flag}` is about F or FD, not `{name}`")),
    };
    let assertion = match flag {
        "csp_assertion" => value("an assertion")?,
        "cspref" => {
            let what = "a process, `[T=`, `[F=` or `[FD=`, and a process";
            let (left, way, right) = (value(what)?, value(what)?, value(what)?);
            if !["[T=", "[F=", "[FD="].contains(&&*way) {
                return Err(format!("`-cspref` needs {what}, not `{way}`"));
            }
            format!("{left} {way} {right}")
        }
        "cspdeadlock" | "cspdeterministic" => {
            let (process, of) = (value("a process and F or FD")?, value("a process and F or FD")?);
            let is = if flag == "cspdeadlock" { "deadlock free" } else { "deterministic" };
            format!("{process} :[{is} [{}]]", model(of)?)
        }
        "csplivelock" => format!("{} :[divergence free]", value("a process")?),
        _ => return Ok(false),
    };
    if assertion.contains(['\n', '\r']) || assertion.contains("--") || assertion.contains("{-") {
        return Err(format!("`-{flag}` needs an assertion in one line without comments"));
    }
    all.push(assertion);
    Ok(true)
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
