//! `kanon check` without a file: all machines of a project, as `kanon.toml` has them.

use super::check::{self, Args};
use super::{Exit, Written, interrupt, refuse};
use crate::lang::diag::{Diagnostic, SourceMap};
use crate::model::open::Refused;
use crate::report;
use crate::report::project as shown;
use crate::run::Deadline;
use crate::run::manifest::{self, Entry, Given, Known, Setting};
use crate::run::other::Language;
use crate::run::suite::{Kind, Row, run_all};
use crate::run::watch;
use clap::{ArgAction, Args as _, FromArgMatches};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Where a project is looked for.
const NAME: &str = "kanon.toml";

/// Options of `check` that say where answers go, or where other machines are, which the project has for all of its
/// machines, or not at all; and that programs may run, which only the user says.
const OUTPUT: [&str; 16] = [
    "json",
    "json-stream",
    "sarif",
    "junit",
    "annotations",
    "trace",
    "certificate",
    "checkpoint",
    "every",
    "hosts",
    "token",
    "wait",
    "report",
    "watch",
    "run-programs",
    "help",
];

/// Options that may stand beside a project.
const BESIDE: [&str; 7] = ["json", "sarif", "junit", "annotations", "threads", "watch", "run-programs"];

/// The settings of a machine: what a command has as options.
fn known(command: clap::Command) -> Vec<Known> {
    let options = command.get_arguments().filter_map(|a| Some((a, a.get_long()?)));
    let options = options.filter(|(_, name)| !OUTPUT.contains(name));
    let known = |(a, name): (&clap::Arg, &str)| Known {
        key: name.to_string(),
        takes_value: a.get_action().takes_values(),
        may_switch: a.get_num_args().is_some_and(|n| n.min_values() == 0),
        is_list: matches!(a.get_action(), ArgAction::Append),
    };
    options.map(known).collect()
}

/// A setting as the command line has it.
fn arguments(setting: &Setting) -> Vec<OsString> {
    let key = &setting.key;
    match &setting.given {
        Given::Switch(false) => vec![],
        Given::Switch(true) => vec![format!("--{key}").into()],
        Given::Values(values) => values.iter().map(|v| format!("--{key}={v}").into()).collect(),
    }
}

/// `check` as a command of its own, to read settings with.
fn alone() -> clap::Command {
    Args::augment_args(clap::Command::new("check").no_binary_name(true).disable_help_flag(true))
}

fn parsed(settings: &[Setting], file: &Path) -> Result<Args, String> {
    let line = settings.iter().flat_map(arguments).chain(["--".into(), file.as_os_str().to_owned()]);
    let said = |e: clap::Error| {
        let text = e.to_string();
        let text = text.trim_start_matches("error: ").split("\n\n").next().unwrap_or_default();
        text.trim().replace('\n', " ")
    };
    let matches = alone().try_get_matches_from(line).map_err(said)?;
    Args::from_arg_matches(&matches).map_err(said)
}

/// What is wrong with the settings of a machine: one by one, then together, as on the command line.
fn refused(entry: &Entry) -> Option<Diagnostic> {
    let error = |span, why: String| Some(Diagnostic::error("B0432", span, why));
    for setting in &entry.settings {
        let one = parsed(std::slice::from_ref(setting), &entry.file);
        // Two options that exclude each other are told below.
        if let Err(why) = one {
            return error(setting.span, why);
        }
    }
    match parsed(&entry.settings, &entry.file) {
        Ok(args) => check::refusal(&args).and_then(|why| error(entry.span, why)),
        Err(why) => error(entry.span, why),
    }
}

/// What is run for a machine: its states, and its formulas if it has any.
fn lines(
    entry: &Entry,
    of_ltl: &[Known],
    is_one_of_many: bool,
    run_programs: bool,
) -> (Vec<OsString>, Option<Vec<OsString>>) {
    let word = OsString::from;
    let has = |key: &str| entry.settings.iter().any(|s| s.key == key);
    let mut states = vec![word("check"), word("--json")];
    states.extend(entry.settings.iter().flat_map(arguments));
    if is_one_of_many && !has("threads") && !has("engine") {
        states.push(word("--threads=1"));
    }
    let may_run = run_programs && Language::of(&entry.file) == Some(Language::Xtl);
    if may_run {
        states.push(word("--run-programs"));
    }
    states.extend([word("--"), entry.file.clone().into()]);
    let formulas = (!entry.formulas.is_empty()).then(|| {
        let mut line = vec![word("ltl"), word("--json")];
        let shared = entry.settings.iter().filter(|s| of_ltl.iter().any(|k| k.key == s.key));
        line.extend(shared.filter(|s| s.key != "threads").flat_map(arguments));
        if may_run {
            line.push(word("--run-programs"));
        }
        line.extend([word("--"), entry.file.clone().into()]);
        line.extend(entry.formulas.iter().map(|f| word(&f.text)));
        line
    });
    (states, formulas)
}

/// Reads the project.
fn entries(path: &Path) -> Result<Vec<Entry>, Refused> {
    let mut sources = SourceMap::default();
    let read = sources.read(path).map_err(|why| {
        let mut d = crate::trace::fault::plain_error(why);
        if path == Path::new(NAME) {
            d = d.help("without a FILE, `kanon check` runs the project of the folder it is in");
        }
        vec![d]
    });
    let entries = read.and_then(|file| {
        let text = sources.get(file).map_or("", |s| &*s.text);
        let entries = manifest::read(text, file, path, &known(alone()))?;
        let wrong: Vec<Diagnostic> = entries.iter().filter_map(refused).collect();
        if wrong.is_empty() { Ok(entries) } else { Err(wrong) }
    });
    entries.map_err(|diagnostics| Refused { sources, diagnostics })
}

/// What the answer for a project depends on: itself, and what its machines are read from.
pub(super) fn files(args: &Args) -> Vec<PathBuf> {
    let path = args.file.as_deref().unwrap_or(Path::new(NAME));
    let machines = entries(path).unwrap_or_default();
    let read = machines.iter().flat_map(|entry| watch::files(&entry.file));
    std::iter::once(path.to_path_buf()).chain(read).collect()
}

/// Runs a project; `given` are the options of the command line.
pub fn run(args: &Args, given: &[String]) -> Exit {
    if let Some(other) = given.iter().find(|g| !BESIDE.contains(&&***g)) {
        let why = format!(
            "`--{other}` is for one FILE: without one, the machines of {NAME} are checked, which has `{other}` for each of \
             them, or for `all`"
        );
        return super::wrong(&why, args.json);
    }
    if let Err(exit) = args.records.try_files(args.json) {
        return exit;
    }
    let begin = Instant::now();
    let path = args.file.as_deref().unwrap_or(Path::new(NAME));
    let entries = match entries(path) {
        Ok(entries) => entries,
        Err(refused) => return refuse(&refused, args.json),
    };
    let program = match std::env::current_exe() {
        Ok(program) => program,
        Err(e) => return super::failed(&format!("this program cannot be found, to run it again: {e}")),
    };
    let cores = args.threads.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, Into::into));
    let of_ltl = known(super::ltl::Args::augment_args(clap::Command::new("ltl")));
    let is_one_of_many = entries.len() > 1 && cores > 1;
    let of_entry: Vec<_> =
        entries.iter().map(|e| lines(e, &of_ltl, is_one_of_many, args.run_programs)).collect();
    let all: Vec<Vec<OsString>> =
        of_entry.iter().flat_map(|(s, f)| std::iter::once(s).chain(f)).cloned().collect();
    let deadline = Deadline::never();
    interrupt::listen(&deadline);
    let ran = run_all(&program, &all, cores, &deadline.flag, &|_| {});
    let mut ran = ran.iter();
    let mut rows = vec![];
    for (entry, (_, formulas)) in entries.iter().zip(&of_entry) {
        let Some(states) = ran.next() else { break };
        let formulas = formulas.as_ref().and_then(|_| ran.next());
        rows.push(Row::of(entry, states, formulas));
    }
    let seconds = begin.elapsed().as_secs_f64();
    let written = args.records.write_all(|| rows.iter().map(shown::record).collect());
    if args.json {
        let mut object = shown::json(&rows, &path.display().to_string(), seconds);
        written.iter().for_each(|w| w.add_to(&mut object["warnings"]));
        report::answer(object);
    } else {
        report::out(&shown::table(&rows, seconds, report::colour_out()));
        written.iter().for_each(Written::complain);
    }
    let exit = match shown::worst(&rows) {
        None => Exit::Holds,
        Some(Kind::Unknown) => Exit::Unknown,
        Some(Kind::Fails) => Exit::Fails,
        Some(Kind::Wrong) => Exit::Wrong,
    };
    written.iter().fold(exit, |exit, w| w.exit(exit))
}
