//! `kanon probcli`: the flags of ProB's command line that scripts use, as commands of ours.
//!
//! A flag is mapped or it is an error that names it; none is ignored, but for preferences about how ProB computes, which
//! cannot change an answer of ours. Questions about all states run as processes of their own, steps and evaluations in a
//! session ([`walked`]), and `report` writes their answers in ProB's words.

mod flags;
mod walked;

use super::{Exit, interrupt};
use crate::report;
use crate::report::probcli::{self as shown, Telling, Wrote};
use crate::run::suite::{Ran, run_all};
use crate::run::{Deadline, csp};
use flags::{Asked, Drawn, Table};
use serde_json::Value as Json;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

/// The arguments, as probcli takes them.
#[derive(clap::Args, Clone, Debug)]
pub struct Args {
    /// A file and flags of ProB's command line, such as `-mc 1000 -nodead`
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "FILE|FLAG", required = true)]
    pub flags: Vec<OsString>,
}

/// States of a graph when nothing else limits it.
const MAX_DRAWN: usize = 1_000_000;

pub fn run(args: &Args) -> Exit {
    let asked = match flags::read(&args.flags) {
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
    if !asked.is_about_machines() && asked.csp.is_empty() {
        return super::wrong(
            "probcli is asked for nothing that has a counterpart: `-mc N`, for instance",
            false,
        );
    }
    for file in &asked.files {
        let is_script = csp::is_script(file);
        let why = match (is_script, asked.is_about_machines(), asked.csp.is_empty()) {
            (true, true, _) => {
                "a CSP-M script is asked by -csp_assertion, -cspref and the like, or by `kanon check`"
            }
            (false, _, false) => "-csp_assertion, -cspref and the like are about CSP-M scripts",
            _ => continue,
        };
        return super::wrong(&format!("{}: {why}", file.display()), false);
    }
    let program = match std::env::current_exe() {
        Ok(program) => program,
        Err(e) => return super::failed(&format!("this program cannot be found, to run it again: {e}")),
    };
    let mut failed = false;
    for file in &asked.files {
        let deadline = Deadline::never();
        interrupt::listen(&deadline);
        let mut one =
            One { asked: &asked, file, program: &program, deadline, tell: Telling::new(&asked.said) };
        if let Err(exit) = one.answer() {
            return exit;
        }
        let told = one.tell.end(&file.to_string_lossy());
        report::out(&told.out);
        report::err(&told.err);
        failed |= told.is_failed;
        if asked.repl && !told.is_refused {
            let line = [&asked.scope[..], &["--".into(), file.into()]].concat();
            if let Err(e) = Command::new(&program).arg("repl").args(line).status() {
                return super::failed(&format!("cannot run {}: {e}", program.display()));
            }
        }
    }
    // ProB ends with 0 whatever it finds, unless it is told to be strict.
    if failed { Exit::Fails } else { Exit::Holds }
}

/// Everything that is asked about a file.
struct One<'a> {
    asked: &'a Asked,
    file: &'a Path,
    program: &'a Path,
    deadline: Deadline,
    tell: Telling<'a>,
}

impl One<'_> {
    /// In ProB's order.
    fn answer(&mut self) -> Result<(), Exit> {
        let asked = self.asked;
        let name = self.file.to_string_lossy();
        // `FILE#NAME` is one machine of several.
        let whole = name.rsplit_once('#').map(|(file, _)| Path::new(file));
        if !self.file.exists() && !whole.is_some_and(Path::exists) {
            self.tell.error("load_main_file", &format!("Specified File does not exist:  {name}"));
            return Ok(());
        }
        let mut session = None;
        if asked.walk.is_asked() {
            let sizes = asked.sizes().map_err(|why| super::wrong(&why, false))?;
            let limit = asked.timeout.and_then(|s| Duration::try_from_secs_f64(s).ok());
            self.deadline = Deadline::after(limit.filter(|d| !d.is_zero()));
            interrupt::listen(&self.deadline);
            session = walked::open(self.file, &sizes, &self.deadline, &mut self.tell);
        }
        if let Some(session) = &mut session {
            walked::steps(session, &asked.walk, &self.deadline, &mut self.tell);
        }
        let mut answer = None;
        if (asked.check.is_some() || asked.engine.is_some()) && !self.tell.is_refused() {
            let ran = self.ask(self.check());
            self.tell.states(&ran, asked.check.flatten());
            answer = ran.answer.ok();
        }
        if let Some(answer) = &answer {
            self.about_search(answer);
            if let Some(session) = &mut session {
                walked::to_finding(session, answer, &self.deadline, &mut self.tell);
            }
        }
        if !self.tell.is_refused() {
            self.other_questions();
        }
        if let Some(session) = &mut session {
            walked::questions(session, asked, &self.deadline, &mut self.tell);
        }
        if !self.tell.is_refused() {
            self.graphs();
        }
        Ok(())
    }

    /// Runs a command of ours that answers with JSON.
    fn ask(&self, line: Vec<OsString>) -> Ran {
        let mut ran = run_all(self.program, &[line], 1, &self.deadline.flag, &|_| {});
        ran.pop().unwrap_or(Ran { answer: Err("it was not run".into()), seconds: 0.0 })
    }

    /// The beginning of a command line.
    fn begin(&self, command: &str) -> Vec<OsString> {
        let mut line: Vec<OsString> = vec![command.into(), "--json".into()];
        line.extend(self.asked.scope.iter().cloned());
        line.extend(self.asked.timeout.map(|s| format!("--timeout={s}").into()));
        line
    }

    fn end(&self, line: &mut Vec<OsString>) {
        line.extend(["--".into(), self.file.into()]);
    }

    fn check(&self) -> Vec<OsString> {
        let asked = self.asked;
        let mut line = self.begin("check");
        line.extend(asked.options.iter().cloned());
        match asked.engine {
            Some((engine, depth)) => {
                line.push(format!("--engine={engine}").into());
                line.extend(depth.map(|d| format!("--depth={d}").into()));
            }
            None => {
                line.push(format!("--symmetry={}", asked.symmetry.unwrap_or("off")).into());
                line.extend(asked.check.flatten().map(|n| format!("--max-states={n}").into()));
            }
        }
        self.end(&mut line);
        line
    }

    /// What else is asked about the states of a search.
    fn about_search(&mut self, answer: &Json) {
        let asked = self.asked;
        if asked.vacuity {
            self.tell.vacuity(answer);
        }
        if asked.coverage {
            self.tell.coverage(answer);
        }
        if let Some((states, steps)) = asked.counts {
            self.tell.counts(answer, states, steps);
        }
        for (table, to) in &asked.tables {
            let text = match table {
                Table::Operations => shown::operation_table(answer),
                Table::Variables => shown::variable_table(answer),
            };
            match text {
                Some(text) => self.write(to, &text),
                None => {
                    self.tell.error("coverage", "the states were not all explored: there is no such table")
                }
            }
        }
        if let Some(to) = &asked.save
            && answer["machine"].is_string()
        {
            // All that a later `-refchk` needs: the states are computed again.
            let note = serde_json::json!({ "version": report::json::VERSION, "machine": answer["machine"] });
            self.tell.say(&format!("saving XSB Specification state to: {}", to.display()));
            self.write(to, &format!("{note}\n"));
            self.tell.say("done");
        }
    }

    fn write(&mut self, to: &Path, text: &str) {
        if let Err(e) = std::fs::write(to, text) {
            self.tell.wrote(to, Wrote::Failed(&e.to_string()));
        }
    }

    fn other_questions(&mut self) {
        let asked = self.asked;
        if asked.save.is_some() && asked.check.is_none() {
            self.tell.error("save", "there is nothing to save: `-save` needs `-mc N` or `-model_check`");
        }
        if asked.proves() {
            let mut line = self.begin("prove");
            self.end(&mut line);
            let ran = self.ask(line);
            self.tell.obligations(&ran, &asked.cbc, asked.cbc_deadlock, asked.cbc_assertions, asked.wd);
        }
        for sequence in &asked.sequences {
            self.sequence(sequence);
        }
        if let Some(of) = &asked.refines {
            self.refinement(of);
        }
        for assertion in &asked.csp {
            self.assertion(assertion);
        }
        self.formulas();
    }

    fn formulas(&mut self) {
        let asked = self.asked;
        if !asked.asks_formulas() {
            return;
        }
        let ltl = |one: &Self, formulas: &[String]| {
            let mut line = one.begin("ltl");
            line.push("--symmetry=off".into());
            line.extend(asked.ltl_limit.map(|n| format!("--max-states={n}").into()));
            one.end(&mut line);
            line.extend(formulas.iter().map(OsString::from));
            line
        };
        if asked.assertions && !asked.no_ltl {
            let ran = self.ask(ltl(self, &[]));
            self.tell.say("LTL Model checking assertions");
            self.tell.formulas(&ran, None);
        }
        if !asked.formulas.is_empty() {
            let ran = self.ask(ltl(self, &asked.formulas));
            self.tell.formulas(&ran, None);
        }
        for file in asked.formula_files.iter().filter(|_| !asked.no_ltl) {
            let read = std::fs::read_to_string(file).map_err(|e| e.to_string());
            match read.and_then(|text| sections(&text)) {
                Ok(named) => {
                    let (names, formulas): (Vec<_>, Vec<_>) = named.into_iter().unzip();
                    let ran = self.ask(ltl(self, &formulas));
                    self.tell.say("LTL Model checking assertions");
                    self.tell.formulas(&ran, Some(&names));
                }
                Err(why) => self.tell.error("ltl", &format!("{file}: {why}")),
            }
        }
    }

    /// A path of these operations is looked for: whether the machine explains a log that names them.
    fn sequence(&mut self, sequence: &str) {
        self.tell.say(&format!("% Starting Constraint-Based Check for Sequence: {sequence}"));
        let names = sequence.split([';', ',']).map(str::trim).filter(|n| !n.is_empty());
        let log: String = names.map(|n| serde_json::json!({ "operation": n }).to_string() + "\n").collect();
        let answered = with_file("sequence.ndjson", &log, |path| {
            let mut line = self.begin("follow");
            self.end(&mut line);
            line.push(path.into());
            self.ask(line)
        });
        match answered {
            Ok(ran) => self.tell.sequence(&ran),
            Err(why) => self.tell.error("cbc_find_sequence", &why),
        }
    }

    /// Against a machine: its file, or what `-save` wrote of it.
    fn refinement(&mut self, of: &Path) {
        let text = match std::fs::read_to_string(of) {
            Ok(text) => text,
            Err(e) => return self.tell.error("refinement_check", &format!("{}: {e}", of.display())),
        };
        let saved: Option<Json> = serde_json::from_str(&text).ok();
        let name = match &saved {
            Some(saved) => saved["machine"].as_str().map(String::from),
            None => of.file_stem().map(|s| s.to_string_lossy().into_owned()),
        };
        let Some(name) = name else {
            let why =
                "this was not written by `kanon probcli … -save`; the file of the abstract machine does, too";
            return self.tell.error("refinement_check", &format!("{}: {why}", of.display()));
        };
        let is_classical = ["ref", "imp"].iter().any(|e| self.file.extension() == Some(e.as_ref()));
        let mut line = self.begin("refine");
        line.extend(is_classical.then(|| "--traces".into()));
        self.end(&mut line);
        let ran = self.ask(line);
        self.tell.refinement(&ran, &name);
    }

    /// A script that reads this one and ends with the assertion.
    fn assertion(&mut self, assertion: &str) {
        self.tell.say(&format!("\nCHECKING CSP: {assertion}\n"));
        let answered = std::path::absolute(self.file).map_err(|e| e.to_string()).and_then(|whole| {
            let whole = whole.to_str().filter(|w| !w.contains(['"', '\n']));
            let whole = whole.ok_or("a script's path may not have quotes or line ends in it")?;
            let script = format!("include \"{whole}\"\nassert {assertion}\n");
            with_file("assertion.csp", &script, |path| {
                let mut line: Vec<OsString> = vec!["check".into(), "--json".into()];
                line.extend(self.asked.timeout.map(|s| format!("--timeout={s}").into()));
                line.extend(["--".into(), path.into()]);
                (self.ask(line), path.to_path_buf())
            })
        });
        match answered {
            Ok((ran, path)) => self.tell.assertion(&ran, &path),
            Err(why) => self.tell.error("csp", &why),
        }
    }

    fn graphs(&mut self) {
        for Drawn { by, to } in &self.asked.drawn {
            let limit = self.asked.check.flatten().unwrap_or(MAX_DRAWN);
            let mut line: Vec<OsString> = vec!["export".into(), "--dot".into()];
            line.push(format!("--max-states={limit}").into());
            line.extend(self.asked.scope.iter().cloned());
            line.extend(self.asked.timeout.map(|s| format!("--timeout={s}").into()));
            line.extend(by.iter().map(|by| format!("--project={by}").into()));
            line.extend(["-o".into(), to.as_os_str().to_owned()]);
            self.end(&mut line);
            let ran = Command::new(self.program)
                .args(line)
                .stdin(Stdio::null())
                .stdout(Stdio::null())
                .stderr(Stdio::piped())
                .output();
            let why = match ran {
                Ok(ran) if ran.status.success() => None,
                Ok(ran) => Some(String::from_utf8_lossy(&ran.stderr).trim().to_string()),
                Err(e) => Some(e.to_string()),
            };
            let wrote = match (&why, by) {
                (Some(why), _) => Wrote::Failed(why),
                (None, Some(_)) => Wrote::Dot,
                (None, None) => Wrote::States,
            };
            self.tell.wrote(to, wrote);
        }
    }
}

/// The formulas of a file of ProB's: `[name]`, and the formula in the lines after it. Without names, each line is one.
fn sections(text: &str) -> Result<Vec<(String, String)>, String> {
    let mut all: Vec<(String, String)> = vec![];
    let lines = || text.lines().map(str::trim).filter(|l| !l.is_empty() && !l.starts_with('#'));
    let is_named = lines().next().is_some_and(|l| l.starts_with('['));
    for line in lines() {
        match line.strip_prefix('[').and_then(|l| l.strip_suffix(']')) {
            Some(name) if is_named => all.push((name.trim().to_string(), String::new())),
            _ if !is_named => all.push(((all.len() + 1).to_string(), line.to_string())),
            _ => {
                if let Some((_, formula)) = all.last_mut() {
                    formula.push_str(if formula.is_empty() { "" } else { " " });
                    formula.push_str(line);
                }
            }
        }
    }
    match all.iter().find(|(_, formula)| formula.is_empty()) {
        _ if all.is_empty() => Err("there is no formula in it".into()),
        Some((name, _)) => Err(format!("`{name}` has no formula")),
        None => Ok(all),
    }
}

/// A file that is there for as long as `with` runs.
fn with_file<T>(name: &str, text: &str, with: impl FnOnce(&Path) -> T) -> Result<T, String> {
    let folder: PathBuf = std::env::temp_dir().join(format!("kanon-probcli-{}", std::process::id()));
    let failed = |e: std::io::Error| format!("{} cannot be written: {e}", folder.display());
    // A folder that is there already may be anybody's.
    std::fs::create_dir(&folder).map_err(failed)?;
    let path = folder.join(name);
    let done = std::fs::write(&path, text).map_err(failed).map(|()| with(&path));
    // Nothing depends on whether it is gone.
    let _ = std::fs::remove_dir_all(&folder);
    done
}

#[cfg(test)]
mod tests {
    use super::sections;

    #[test]
    fn files_of_formulas() {
        let pairs = |all: &[(&str, &str)]| -> Vec<(String, String)> {
            all.iter().map(|(n, f)| (n.to_string(), f.to_string())).collect()
        };
        let named = "[one]\nG {x<9}\n\n[ two ]\nF {x=3}\r\n or [inc]\n";
        assert_eq!(sections(named), Ok(pairs(&[("one", "G {x<9}"), ("two", "F {x=3} or [inc]")])));
        assert_eq!(sections("# a\nG e(a)\nF e(b)\n"), Ok(pairs(&[("1", "G e(a)"), ("2", "F e(b)")])));
        assert!(sections("[one]\n[two]\nG {x=1}").is_err());
        assert!(sections("\n# nothing\n").is_err());
    }
}
