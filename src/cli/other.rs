//! Files in languages that are not B: `check`, `ltl`, `compare`, `eval` and `export` ask [`crate::run::other`].
//! What a script of CSP-M asserts, and what its definitions are worth, is asked of [`crate::run::csp`] instead.
//!
//! An option acts, or it is refused: each command says here which of its options other languages have.

use super::{Command, Exit, Sketch, animate, check, compare, eval, export, interrupt, ltl, repl, simulate};
use crate::explore::Options;
use crate::explore::plan::{Asked as Of, plan};
use crate::model::open::Refused;
use crate::report::progress::Line;
use crate::report::{self, compared, diagnostic, json};
use crate::run::Deadline;
use crate::run::csp;
use crate::run::other::{self, Asked, Guide, Language, Model, Question, Reply};
use kanon_pnml::unfold::LIMIT;
use std::path::Path;
use std::time::Duration;

/// Answers a command about a file in a language that is not B; nothing for all others.
pub(super) fn answer(command: &Command, given: &[String]) -> Option<Exit> {
    let (file, question, as_json) = match command {
        Command::Check(a) => (a.file.as_deref()?, Question::Check, a.json || a.json_stream),
        Command::Ltl(a) => (&*a.file, Question::Ltl, a.json),
        Command::Compare(a) => (&*a.file, Question::Compare, a.json),
        Command::Eval(a) => (&*a.file, Question::Eval, false),
        Command::Graph(a) => (&*a.file, Question::Graph, false),
        Command::Export(a) => (&*a.file, Question::Export, a.json),
        Command::Simulate(a) => (&*a.file, Question::Simulate, a.json),
        Command::Repl(a) => (&*a.file, Question::Animate, false),
        Command::Animate(a) => (&*a.file, Question::Animate, false),
        _ => return None,
    };
    let process = match command {
        Command::Check(a) => a.process.as_deref(),
        Command::Ltl(a) => a.process.as_deref(),
        Command::Export(a) => a.process.as_deref(),
        Command::Simulate(a) => a.process.as_deref(),
        Command::Repl(a) => a.process.as_deref(),
        Command::Animate(a) => a.process.as_deref(),
        _ => None,
    };
    let language = match (guide(command), Language::of(file)) {
        (Some(_), Some(language)) => {
            let why = format!(
                "a script guides a machine, and {} is {}: leave out `--csp`",
                file.display(),
                language.name()
            );
            return Some(super::wrong(&why, as_json));
        }
        (Some(_), None) => Some(Language::Guided),
        (None, language) => language,
    };
    let runs_programs = match command {
        Command::Check(a) => a.run_programs,
        Command::Ltl(a) => a.run_programs,
        Command::Export(a) => a.run_programs,
        Command::Eval(a) => a.run_programs,
        Command::Simulate(a) => a.run_programs,
        Command::Repl(a) => a.run_programs,
        Command::Animate(a) => a.run_programs,
        _ => false,
    };
    let is_project = matches!(command, Command::Check(a) if a.is_project());
    if runs_programs && language != Some(Language::Xtl) && !is_project {
        let why = format!("`--run-programs` is for XTL, and {} is something else", file.display());
        return Some(super::wrong(&why, as_json));
    }
    // With `--hosts` it is a number.
    let is_number = matches!(command, Command::Check(a) if a.processes.hosts.is_some());
    if process.is_some() && !is_number && !matches!(language, Some(Language::Csp | Language::Guided)) {
        let why = format!("`--process` is for CSP-M, and {} is something else", file.display());
        return Some(super::wrong(&why, as_json));
    }
    let language = language?;
    match (language, question) {
        (Language::Csp, Question::Eval) => return None,
        (Language::Csp, Question::Check) if process.is_none() => return None,
        _ => {}
    }
    if let Some(why) = language.refuses(question) {
        return Some(super::wrong(why, as_json));
    }
    let more: &[&str] = match (language, question) {
        (Language::Guided, _) => &OF_MACHINES,
        (Language::Xtl, Question::Check) => &["run-programs", "no-invariant"],
        (Language::Xtl, _) => &["run-programs"],
        _ => &[],
    };
    let is_allowed = |o: &str| allowed(question).contains(&o) || more.contains(&o);
    if let Some(option) = given.iter().find(|o| !is_allowed(o)) {
        let why = match language {
            Language::Guided => format!("`--{option}` does not go with `--csp`"),
            _ => {
                format!("`--{option}` is for B, Event-B and Z, and {} is {}", file.display(), language.name())
            }
        };
        return Some(super::wrong(&why, as_json));
    }
    let guide = guide(command);
    Some(match command {
        Command::Check(a) => checked(file, language, a, guide),
        Command::Ltl(a) => formulas(file, language, a, guide),
        Command::Compare(a) => strategies(file, language, a, guide),
        Command::Eval(a) => evaluated(file, language, a),
        Command::Export(a) => states(file, language, a, guide),
        Command::Simulate(a) => walks(file, language, a, guide),
        Command::Repl(_) | Command::Animate(_) => {
            let asked = Asked {
                process: process.map(str::to_string),
                guide,
                run_programs: runs_programs,
                ..Asked::default()
            };
            by_hand(file, language, command, &asked)
        }
        _ => return None,
    })
}

/// What guides a machine, if something does.
fn guide(command: &Command) -> Option<Guide> {
    let (script, scope, max_constants) = match command {
        Command::Check(a) => (a.csp.as_ref()?, &a.scope, a.limits.max_constants),
        Command::Ltl(a) => (a.csp.as_ref()?, &a.scope, a.max_constants),
        Command::Compare(a) => (a.csp.as_ref()?, &a.scope, a.limits.max_constants),
        Command::Export(a) => (a.csp.as_ref()?, &a.scope, None),
        Command::Simulate(a) => (a.csp.as_ref()?, &a.scope, a.max_constants),
        Command::Repl(a) => (a.csp.as_ref()?, &a.scope, None),
        Command::Animate(a) => (a.csp.as_ref()?, &a.scope, None),
        _ => return None,
    };
    Some(Guide { script: script.clone(), scope: scope.args(), max_constants })
}

/// What machines have beside: a guided one has it, too.
const OF_MACHINES: [&str; 9] =
    ["csp", "no-invariant", "no-assertions", "max-constants", "card", "minint", "maxint", "setsize", "wd"];

/// Explores `MAIN`: there is nothing else that could be checked.
pub(super) fn explore(file: &Path, args: &check::Args) -> Exit {
    checked(file, Language::Csp, args, None)
}

/// The options that a question has in every language.
fn allowed(question: Question) -> &'static [&'static str] {
    match question {
        Question::Check => &[
            "order",
            "shortest",
            "seed",
            "max-states",
            "timeout",
            "no-deadlock",
            "no-goal",
            "goal",
            "all",
            "json",
            "json-stream",
            "symmetry",
            "threads",
            "max-memory",
            "store",
            "color",
            "process",
        ],
        Question::Ltl => &[
            "formulas-from",
            "max-states",
            "timeout",
            "max-memory",
            "threads",
            "json",
            "symmetry",
            "color",
            "process",
        ],
        Question::Compare => &["max-states", "timeout", "no-deadlock", "json", "plot", "color"],
        Question::Eval => &["timeout", "color"],
        Question::Graph => &[],
        Question::Export => {
            &["dot", "svg", "csv", "json", "max-states", "output", "timeout", "color", "process"]
        }
        Question::Simulate => &[
            "walks",
            "depth",
            "seed",
            "timeout",
            "goal",
            "no-goal",
            "no-deadlock",
            "threads",
            "json",
            "color",
            "process",
        ],
        Question::Animate => &["mouse", "timeout", "color", "process"],
    }
}

/// The file or what is asked of it is wrong, or too large.
fn refuse(refused: &Refused, as_json: bool, unanswered: impl FnOnce(&str) -> serde_json::Value) -> Exit {
    let is_limit = |d: &&crate::lang::diag::Diagnostic| {
        d.code == LIMIT || d.code == csp::LIMIT || d.code == other::xtl::LIMIT
    };
    let Some(limit) = refused.diagnostics.iter().find(is_limit) else {
        return super::refuse(refused, as_json);
    };
    if as_json {
        report::answer(unanswered(&limit.message));
    } else {
        report::err(&diagnostic::render_all(&refused.diagnostics, &refused.sources, report::colour_err()));
    }
    Exit::Unknown
}

fn checked(file: &Path, language: Language, args: &check::Args, guide: Option<Guide>) -> Exit {
    super::announce("check", file);
    let as_json = args.json || args.json_stream;
    if let Some(why) = check::refusal(args) {
        return super::wrong(&why, as_json);
    }
    if let Err(why) = args.store.try_folder() {
        return super::wrong(&why, as_json);
    }
    let options = args.task().options;
    let bounds = super::bounds(args.limits.timeout, args.max_memory);
    let deadline = super::bounded(bounds, as_json, &Sketch::default(), |_, why| json::unanswered(why, None));
    interrupt::listen(&deadline);
    let asked = Asked {
        goal: args.goal.clone(),
        process: args.process.clone(),
        guide,
        run_programs: args.run_programs,
        ..Asked::default()
    };
    let model = match other::open(file, language, &asked, &deadline) {
        Ok(model) => model,
        Err(refused) => {
            deadline.settle();
            return refuse(&refused, as_json, |why| json::unanswered(why, None));
        }
    };
    let mut line = Line::new();
    let answer = model.check(&options, &deadline, &mut |p| line.show(&p));
    deadline.settle();
    line.clear();
    let answer = match answer {
        Ok(answer) => answer,
        Err(why) => return super::wrong(&why, as_json),
    };
    if as_json {
        report::answer(report::other::checked_json(&answer, model.about()));
    } else {
        report::out(&report::other::checked(&answer, model.about(), report::colour_out()));
    }
    Exit::of([answer.verdict])
}

fn formulas(file: &Path, language: Language, args: &ltl::Args, guide: Option<Guide>) -> Exit {
    let options = Options {
        symmetry: args.symmetry,
        threads: args.threads,
        max_states: args.max_states,
        max_memory: args.max_memory,
        ..Options::default()
    };
    if let Err(why) = plan(&options, Of::Paths, false) {
        return super::wrong(why.0, args.json);
    }
    let formulas = match args.all_formulas() {
        Ok(formulas) => formulas,
        Err(d) => return super::refuse(&Refused { diagnostics: vec![d], ..Refused::default() }, args.json),
    };
    if formulas.is_empty() {
        let why = match language {
            Language::Guided => {
                "the machine's own formulas are about the machine alone: say which ones are asked of \
                                 it with the process, behind the file"
                    .to_string()
            }
            _ => format!(
                "there is no formula: {} has none of its own, so it is given behind the file",
                language.name()
            ),
        };
        return super::wrong(&why, args.json);
    }
    let bounds = super::bounds(args.timeout, args.max_memory);
    let deadline = super::bounded(bounds, args.json, &Sketch::default(), report::ltl::unanswered);
    interrupt::listen(&deadline);
    let asked = Asked {
        formulas: formulas.clone(),
        process: args.process.clone(),
        guide,
        run_programs: args.run_programs,
        ..Asked::default()
    };
    let answers = other::open(file, language, &asked, &deadline).and_then(|model| {
        let all: Result<Vec<_>, Refused> =
            formulas.iter().map(|f| model.ltl(f, &options, &deadline)).collect();
        Ok((all?, model))
    });
    deadline.settle();
    let (answers, model) = match answers {
        Ok(answers) => answers,
        Err(refused) => {
            return refuse(&refused, args.json, |why| report::ltl::unanswered(&serde_json::Value::Null, why));
        }
    };
    if args.json {
        report::answer(report::other::formulas_json(&formulas, &answers, model.about()));
    } else {
        report::out(&report::other::formulas(&formulas, &answers, model.about(), report::colour_out()));
    }
    Exit::of(answers.iter().map(|a| a.verdict))
}

fn strategies(file: &Path, language: Language, args: &compare::Args, guide: Option<Guide>) -> Exit {
    if let Err(exit) = super::try_file(args.plot.as_deref(), args.json) {
        return exit;
    }
    let never = Deadline::after(args.limits.timeout);
    interrupt::listen(&never);
    let model = match other::open(file, language, &Asked { guide, ..Asked::default() }, &never) {
        Ok(model) => model,
        Err(refused) => {
            return refuse(&refused, args.json, |why| compared::unanswered(&serde_json::Value::Null, why));
        }
    };
    let options = Options { all: true, ..args.limits.options() };
    let mut begin = |_: &_, _| {
        let sketch = Sketch::default();
        let deadline = super::deadline(args.limits.timeout, args.json, &sketch, compared::unanswered);
        interrupt::listen(&deadline);
        Some(deadline)
    };
    let mut line = Line::new();
    let compared = other::compare(&*model, &options, &mut begin, &mut |p| line.show(&p));
    line.clear();
    let compared = match compared {
        Ok(compared) => compared,
        Err(why) => return super::wrong(&why, args.json),
    };
    compare::answer(args, &compared)
}

fn opened(
    file: &Path,
    language: Language,
    limit: Option<Duration>,
    asked: &Asked,
) -> Result<(Box<dyn Model>, Deadline), Refused> {
    let deadline = super::deadline(limit, false, &Sketch::default(), |_, why| json::unknown(why));
    interrupt::listen(&deadline);
    other::open(file, language, asked, &deadline).map(|model| (model, deadline))
}

fn evaluated(file: &Path, language: Language, args: &eval::Args) -> Exit {
    let Some(expression) = &args.expression else {
        return super::wrong("there is no expression: `kanon eval FILE EXPRESSION`", false);
    };
    let asked = Asked { run_programs: args.run_programs, ..Asked::default() };
    let reply = opened(file, language, args.timeout, &asked).and_then(|(model, deadline)| {
        let reply = model.eval(expression);
        deadline.settle();
        reply
    });
    match reply {
        Ok(Reply::Truth(value)) => {
            report::out(if value { "TRUE\n" } else { "FALSE\n" });
            if value { Exit::Holds } else { Exit::Fails }
        }
        Ok(Reply::Value(value)) => {
            report::out(&format!("{value}\n"));
            Exit::Holds
        }
        Err(refused) => refuse(&refused, false, json::unknown),
    }
}

fn states(file: &Path, language: Language, args: &export::Args, guide: Option<Guide>) -> Exit {
    if let Err(exit) = super::try_file(args.output.as_deref(), args.json) {
        return exit;
    }
    let Some(form) = args.form() else {
        return super::wrong(
            "circuits and formulas are made of machines: `--dot`, `--svg`, `--csv` and `--json`",
            false,
        );
    };
    let asked =
        Asked { process: args.process.clone(), guide, run_programs: args.run_programs, ..Asked::default() };
    let (model, deadline) = match opened(file, language, args.timeout, &asked) {
        Ok(opened) => opened,
        Err(refused) => return refuse(&refused, args.json, json::unknown),
    };
    let most = usize::try_from(args.max_states).unwrap_or(usize::MAX);
    let found = model.states(most, &deadline);
    deadline.settle();
    let found = match found {
        Ok(found) => found,
        Err(why) => return super::wrong(&why, args.json),
    };
    export::write_graph(args, &crate::animate::other::graph(found), &model.about().name, form)
}

fn walks(file: &Path, language: Language, args: &simulate::Args, guide: Option<Guide>) -> Exit {
    let bounds = super::bounds(args.timeout, None);
    let deadline = super::bounded(bounds, args.json, &Sketch::default(), |_, why| json::unknown(why));
    interrupt::listen(&deadline);
    let asked = Asked {
        goal: args.goal.clone(),
        process: args.process.clone(),
        guide,
        run_programs: args.run_programs,
        ..Asked::default()
    };
    let model = match other::open(file, language, &asked, &deadline) {
        Ok(model) => model,
        Err(refused) => {
            deadline.settle();
            return refuse(&refused, args.json, json::unknown);
        }
    };
    let task = args.task();
    let strolled = model.simulate(&task, &deadline);
    deadline.settle();
    let strolled = match strolled {
        Ok(strolled) => strolled,
        Err(why) => return super::wrong(&why, args.json),
    };
    if args.json {
        report::answer(report::other::strolled_json(&strolled, model.about(), task.seed, task.depth));
    } else {
        report::out(&report::other::strolled(&strolled, model.about(), report::colour_out()));
    }
    Exit::of([strolled.walked.verdict.unwrap_or(crate::verdict::Decision::Unknown)])
}

/// Steps by hand, in lines or on a screen.
fn by_hand(file: &Path, language: Language, command: &Command, asked: &Asked) -> Exit {
    let stop = Deadline::never();
    let model = match other::open(file, language, asked, &stop) {
        Ok(model) => model,
        Err(refused) => return refuse(&refused, false, json::unknown),
    };
    for note in &model.about().notes {
        report::err(&format!("note: {note}\n"));
    }
    let title = model.about().name.clone();
    let session = crate::animate::other::walk(model.into_system(), &title);
    match command {
        Command::Animate(args) => animate::show(session, args),
        _ => repl::walk(session, &stop),
    }
}
