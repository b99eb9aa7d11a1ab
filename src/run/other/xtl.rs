//! Programs in XTL: read, confined, and asked for their properties.

use super::{About, Asked, Language, Loaded, Model, Reply};
use crate::lang::diag::{Diagnostic, FileId, SourceMap, Span};
use crate::model::open::Opened;
use crate::run::Deadline;
use crate::system::{Check, Stop, System, Visit};
use crate::xtl::{Gone, Limits, MOST, Mistake, Program, Unfit, XtlSystem};
use std::ops::ControlFlow;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

/// States that are looked at unless somebody says otherwise.
const STATES: usize = 2_000_000;

/// The property that no state should have: ProB's.
pub const UNSAFE: &str = "unsafe";

/// There may be an answer, and it was not computed.
pub const LIMIT: &str = "X0900";

/// Bytes of all files of a program.
const LARGEST: usize = 16 << 20;

pub(super) fn open(
    sources: &mut SourceMap,
    file: &Path,
    asked: &Asked,
    deadline: &Deadline,
) -> Result<Box<dyn Model>, Vec<Diagnostic>> {
    // What formulas ask for comes first: `{unsafe}` there is the property, and the invariant is that no state has it.
    let mut checks: Vec<Check> = asked.atoms().iter().map(|a| Check::assertion(&**a)).collect();
    checks.extend(asked.goal.iter().map(|g| Check::goal(&**g)));
    checks.push(Check::invariant(UNSAFE));
    let system = system(sources, file, asked, checks, &deadline.flag)?;
    let name = file.file_stem().map_or_else(String::new, |n| n.to_string_lossy().into_owned());
    let about = About { language: Language::Xtl, name, permuted: vec![], fixed: vec![], notes: vec![] };
    let (program, run_programs) = (file.to_path_buf(), asked.run_programs);
    let flag = deadline.flag.clone();
    let evaluate = Box::new(move |sources: &mut SourceMap, text: &str| {
        evaluate(sources, &program, run_programs, &flag, text)
    });
    Ok(Box::new(Loaded {
        about,
        system,
        action: None,
        alone: true,
        most: Some(STATES),
        opened: Opened::default(),
        evaluate,
    }))
}

fn without_place(code: &'static str, message: impl Into<String>) -> Diagnostic {
    Diagnostic::error(code, Span::default(), message.into())
}

fn system(
    sources: &mut SourceMap,
    file: &Path,
    asked: &Asked,
    checks: Vec<Check>,
    stop: &Stop,
) -> Result<XtlSystem, Vec<Diagnostic>> {
    if !asked.run_programs {
        let d = without_place(
            "X0101",
            format!("{} is a program, and nobody said that it may run", file.display()),
        );
        return Err(vec![d.help(
            "if you trust it to be run, confined as docs/xtl.md describes: `--run-programs` on the command line",
        )]);
    }
    let patterns: Vec<Arc<str>> = asked.steps().iter().map(|s| Arc::from(&**s)).collect();
    if checks.len() > MOST || patterns.len() > MOST {
        let why = format!("more than {MOST} properties or steps are asked for at once");
        return Err(vec![without_place("X0102", why)]);
    }
    let id = sources.read(file).map_err(|message| vec![without_place("X0100", message)])?;
    let text = sources.get(id).map(|s| s.text.clone()).unwrap_or_default();
    let name = file.display().to_string();
    let mut bytes = text.len();
    let mut include = |from: &str, path: &str| {
        let found = included(sources, file, Path::new(from), path)?;
        bytes += found.1.len();
        if bytes > LARGEST { Err("the program is larger than 16 MiB".to_string()) } else { Ok(found) }
    };
    let properties = checks.iter().map(|c| c.name.to_string()).collect();
    let steps = patterns.iter().map(|p| p.to_string()).collect();
    let program = Program::read(&name, &text, properties, steps, Limits::default(), stop, &mut include);
    let program =
        program.map_err(|unfit| match unfit {
            Unfit::Mistakes(all) => all.iter().map(|m| mistake(sources, m)).collect(),
            Unfit::Question(text, why) => {
                let d = without_place("X0103", format!("`{text}` is no term of Prolog: {why}"));
                vec![d.help(
                    "a property is a term of `prop/2`, a step one of `trans/3`: `{at(1, _)}`, `[move(1)]`",
                )]
            }
            Unfit::Nowhere(why) => vec![without_place("X0104", why)],
            Unfit::Gone(Gone::Stopped) => vec![without_place(LIMIT, "the run was ended")],
            Unfit::Gone(Gone::Late(after)) => {
                vec![without_place(LIMIT, format!("reading it took more than {} s", after.as_secs()))]
            }
            Unfit::Gone(Gone::Ended(said)) => {
                vec![without_place(LIMIT, format!("SWI-Prolog ended while it read the program: {said}"))]
            }
        })?;
    Ok(XtlSystem::new(program, checks, patterns))
}

/// A file that a program includes: below the folder of the program, whatever it is called.
fn included(
    sources: &mut SourceMap,
    program: &Path,
    from: &Path,
    path: &str,
) -> Result<(String, String), String> {
    let wanted = Path::new(path);
    if path.is_empty() || !wanted.components().all(|c| matches!(c, Component::Normal(_))) {
        return Err(format!("`{path}` is not below the folder of the program"));
    }
    let folder = from.parent().unwrap_or(Path::new(""));
    let names = [path.to_string(), format!("{path}.pl"), format!("{path}.P")];
    let places: Vec<PathBuf> = names.iter().map(|n| folder.join(n)).collect();
    let Some(found) = places.iter().find(|p| p.is_file()) else {
        return Err(format!("there is no file `{path}` beside {}", from.display()));
    };
    let root = program.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let real = |p: &Path| std::fs::canonicalize(p).map_err(|e| format!("{}: {e}", p.display()));
    if !real(found)?.starts_with(real(root)?) {
        return Err(format!("`{path}` is not below the folder of the program"));
    }
    let id = sources.read(found)?;
    let text = sources.get(id).map(|s| s.text.clone()).unwrap_or_default();
    Ok((found.display().to_string(), text.to_string()))
}

fn mistake(sources: &SourceMap, m: &Mistake) -> Diagnostic {
    let known = (0..sources.next().0)
        .map(FileId)
        .filter_map(|id| Some((id, sources.get(id)?)))
        .find(|(_, s)| s.path.display().to_string() == m.file);
    let span = known.filter(|_| m.line > 0).map(|(id, s)| {
        let before = s.text.split_inclusive('\n').take(m.line as usize - 1).map(str::len).sum::<usize>();
        let line = s.text.get(before..).unwrap_or_default().lines().next().unwrap_or_default();
        let column = line.chars().take(m.column as usize).map(char::len_utf8).sum::<usize>();
        Span::new(id, before + column, before + line.len())
    });
    Diagnostic::error("X0200", span.unwrap_or_default(), m.text.clone())
}

/// Whether the initial states have a property.
fn evaluate(
    sources: &mut SourceMap,
    file: &Path,
    run_programs: bool,
    stop: &Stop,
    text: &str,
) -> Result<Reply, Diagnostic> {
    let asked = Asked { run_programs, ..Asked::default() };
    let first = |all: Vec<Diagnostic>| {
        all.into_iter().next().unwrap_or_else(|| without_place(LIMIT, "it was not computed"))
    };
    let system = system(sources, file, &asked, vec![Check::assertion(text)], stop).map_err(first)?;
    let mut worker = system.worker(stop);
    let mut answers = vec![];
    let visit: &mut Visit<'_, _> = &mut |here, _| {
        answers.push(system.holds(0, here));
        ControlFlow::Continue(())
    };
    let whole = system.initial(&mut worker, 0, visit);
    let answers: Result<Vec<bool>, _> = answers.into_iter().collect();
    let limit = |f: Box<crate::system::Fault>| without_place(LIMIT, crate::trace::fault::fault_message(&f).1);
    let answers = whole.map_err(limit).and_then(|_| answers.map_err(limit))?;
    let (yes, all) = (answers.iter().filter(|a| **a).count(), answers.len());
    if yes != 0 && yes != all {
        let why = format!("{yes} of {all} initial states have this property, so it has no value");
        return Err(without_place("X0105", why));
    }
    Ok(Reply::Truth(yes > 0))
}
