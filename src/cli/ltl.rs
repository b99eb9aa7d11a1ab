//! `kanon ltl`: temporal formulas.

use super::open::{Opened, Refused, fault_message, open, plain_error, start};
use super::stop::Stop;
use super::{Exit, ScopeOptions, blame};
use crate::lang::diag::{Diagnostic, Span};
use crate::ltl::atoms::{Bound, StateAtom, bind};
use crate::ltl::machine::{Machine, Open};
use crate::ltl::{self, Counts, Lasso, Property, Structure, Verdict, Why, reduce};
use crate::model::scope::ScopeArgs;
use crate::report::answer::Word;
use crate::report::ltl::{Checked, Formula, Found};
use crate::report::{self, json, text};
use crate::symmetry::{Action, Reducer, Strategy};
use crate::system::{Setup, System};
use crate::trace::replay;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

#[derive(clap::Args, Clone, Debug)]
pub struct Args {
    /// The machine
    pub file: PathBuf,
    /// Formulas; without any the machine's ASSERT_LTL definitions
    #[arg(value_name = "FORMULA")]
    pub formulas: Vec<String>,
    /// More formulas, one a line; lines that start with `#` are comments
    #[arg(long, value_name = "FILE")]
    pub formulas_from: Option<PathBuf>,
    /// Paths that start in this state (its number breadth first, or a predicate), instead of an initial one
    #[arg(long, value_name = "N|PREDICATE")]
    pub from: Option<String>,
    /// The state that the atom `current` means (its number breadth first, or a predicate)
    #[arg(long, value_name = "N|PREDICATE")]
    pub current: Option<String>,
    /// Show for every state of a counterexample which subformulas hold
    #[arg(long)]
    pub explain: bool,
    /// Expand at most this many states a formula
    #[arg(long, value_name = "N")]
    pub max_states: Option<usize>,
    /// Stop after this many seconds
    #[arg(long, value_name = "SECONDS", value_parser = super::check::seconds)]
    pub timeout: Option<Duration>,
    /// Print a JSON array with an object a formula instead of text
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub scope: ScopeOptions,
    /// How symmetric states are recognised: `off`, `flood`, `canon`, `nauty`, or `auto`, which leaves out what a
    /// formula is not symmetric in
    #[arg(long, value_name = "STRATEGY", default_value = "auto", value_parser = super::check::symmetry)]
    pub symmetry: Strategy,
}

/// What to check; the command line without its looks.
#[derive(Clone, Debug, Default)]
pub struct Task {
    /// Name and text; the machine's own when there are none.
    pub formulas: Vec<(String, String)>,
    pub from: Option<String>,
    pub current: Option<String>,
    pub max_states: Option<usize>,
    pub scope: ScopeArgs,
    pub symmetry: Strategy,
}

pub fn run(args: &Args) -> Exit {
    if let Some(why) = reduce::refused(args.symmetry) {
        return super::wrong(why, args.json);
    }
    let (limit, as_json) = (args.timeout, args.json);
    let stop = Stop::with_last_resort(limit, move || {
        let seconds = limit.unwrap_or_default().as_secs_f64();
        let why = format!("timeout after {seconds} s, in a single evaluation that did not end");
        std::process::exit(super::failed(&why, as_json) as i32);
    });
    stop.on_interrupt();
    let mut task = Task {
        formulas: vec![],
        from: args.from.clone(),
        current: args.current.clone(),
        max_states: args.max_states,
        scope: args.scope.args(),
        symmetry: args.symmetry,
    };
    let numbered = |(i, text): (usize, &String)| (format!("formula {}", i + 1), text.clone());
    task.formulas.extend(args.formulas.iter().enumerate().map(numbered));
    if let Some(path) = &args.formulas_from {
        match from_file(path) {
            Ok(more) => task.formulas.extend(more),
            Err(d) => {
                return super::refuse(&Refused { diagnostics: vec![d], ..Refused::default() }, args.json);
            }
        }
    }
    let answer = check(&args.file, &task, &stop);
    stop.settle();
    let checked = match answer {
        Ok(checked) => checked,
        Err(refused) => return super::refuse(&refused, args.json),
    };
    if args.json {
        report::out(&json::text(&report::ltl::json(&checked, args.explain)));
    } else {
        report::err(&text::warnings(&checked.opened, report::colour_err()));
        report::out(&report::ltl::text(&checked, args.explain, report::colour_out()));
    }
    Exit::of(checked.formulas.iter().map(|f| f.verdict))
}

/// The machine's own formulas, as `kanon check --ltl` asks for them.
pub(super) fn of_machine(args: &super::check::Args, stop: &Stop) -> Result<Checked, Refused> {
    let task = Task {
        max_states: args.limits.max_states,
        scope: args.scope.args(),
        symmetry: args.symmetry,
        ..Task::default()
    };
    check(&args.file, &task, stop)
}

fn from_file(path: &Path) -> Result<Vec<(String, String)>, Diagnostic> {
    let text = std::fs::read_to_string(path)
        .map_err(|e| plain_error(format!("cannot read {}: {e}", path.display())))?;
    let lines = text.lines().enumerate();
    let formulas = lines.filter(|(_, l)| !l.trim().is_empty() && !l.trim_start().starts_with('#'));
    Ok(formulas.map(|(i, l)| (format!("{} line {}", path.display(), i + 1), l.to_string())).collect())
}

/// Checks the formulas on a file.
pub fn check(path: &Path, task: &Task, stop: &Stop) -> Result<Checked, Refused> {
    let mut opened = open(path, &task.scope)?;
    let formulas = if task.formulas.is_empty() {
        opened.model.ltl.iter().map(|(n, t)| (n.to_string(), t.to_string())).collect()
    } else {
        task.formulas.clone()
    };
    if formulas.is_empty() {
        let d =
            plain_error("there is no formula: the machine has no ASSERT_LTL definition, and none is given");
        return Err(opened.refuse(vec![d]));
    }
    match bound(&mut opened, task, &formulas) {
        Ok((all, chosen)) => match answers(&opened, task, &formulas, &all, &chosen, stop) {
            Ok(formulas) => Ok(Checked { opened, formulas }),
            Err(diagnostics) => Err(opened.refuse(diagnostics)),
        },
        Err(diagnostics) => Err(opened.refuse(diagnostics)),
    }
}

/// A state that the user has chosen.
enum Choice {
    Number(usize),
    Predicate(Box<Bound>),
}

struct Chosen {
    from: Option<Choice>,
    current: Option<Choice>,
}

type Res<T> = Result<T, Vec<Diagnostic>>;

fn bound(opened: &mut Opened, task: &Task, formulas: &[(String, String)]) -> Res<(Vec<Bound>, Chosen)> {
    let mut all = vec![];
    let mut wrong = vec![];
    for (name, text) in formulas {
        match bind(opened, name, text) {
            Ok(b) => all.push(b),
            Err(d) => wrong.extend(d),
        }
    }
    if !wrong.is_empty() {
        return Err(wrong);
    }
    let current = all.iter().flat_map(|b| &b.states).find_map(|s| match s {
        StateAtom::Current(span) => Some(*span),
        StateAtom::Predicate(_) => None,
    });
    if let (Some(span), None) = (current, &task.current) {
        let d = Diagnostic::error("L0201", span, "`current` means the state that is chosen with `--current`");
        return Err(vec![
            d.help("`--current 5` is the fifth state breadth first, `--current 'x = 3'` the first such"),
        ]);
    }
    let mut choice = |name: &str, text: &Option<String>| -> Res<Option<Choice>> {
        let Some(text) = text else { return Ok(None) };
        Ok(Some(match text.trim().parse::<usize>() {
            Ok(0) => return Err(vec![plain_error(format!("{name}: states are numbered from 1"))]),
            Ok(n) => Choice::Number(n),
            Err(_) => {
                let text = text.trim();
                let braced = if text.starts_with('{') { text.to_string() } else { format!("{{{text}}}") };
                Choice::Predicate(Box::new(bind(opened, name, &braced)?))
            }
        }))
    };
    let chosen = Chosen { from: choice("--from", &task.from)?, current: choice("--current", &task.current)? };
    Ok((all, chosen))
}

fn answers(
    opened: &Opened,
    task: &Task,
    named: &[(String, String)],
    all: &[Bound],
    chosen: &Chosen,
    stop: &Stop,
) -> Res<Vec<Formula>> {
    let (system, setup) = start(opened, stop)?;
    let mut run = Run { opened, system: &system, setup: &setup, task, stop, from: None, current: None };
    run.from = run.choose("--from", chosen.from.as_ref())?;
    run.current = run.choose("--current", chosen.current.as_ref())?;
    named.iter().zip(all).map(|((name, _), b)| run.formula(name, b)).collect()
}

struct Run<'a> {
    opened: &'a Opened,
    system: &'a System<'a>,
    setup: &'a Setup,
    task: &'a Task,
    stop: &'a Stop,
    from: Option<Vec<u64>>,
    current: Option<Vec<u64>>,
}

impl Run<'_> {
    fn choose(&self, name: &str, choice: Option<&Choice>) -> Res<Option<Vec<u64>>> {
        let Some(choice) = choice else { return Ok(None) };
        let any = Bound {
            text: String::new(),
            parsed: Property { premise: None, formula: ltl::Formula::True },
            property: Property { premise: None, formula: ltl::Formula::True },
            states: vec![],
            steps: vec![],
            span: Span::default(),
        };
        let (bound, number) = match choice {
            Choice::Number(n) => (&any, Some(*n)),
            Choice::Predicate(b) => (&**b, None),
        };
        let mut machine = Machine::new(self.system, bound, None, self.task.max_states, None, &self.stop.flag);
        let found = machine.first(|at, holds| number.map_or(holds, |n| at + 1 == n));
        match found {
            Some(row) => Ok(Some(row)),
            None => {
                let states = machine.states();
                let message = match number {
                    Some(n) => format!("{name}: there is no state {n}, only {states} were found"),
                    None => format!("{name}: none of the {states} states found fulfils the predicate"),
                };
                Err(vec![plain_error(message)])
            }
        }
    }

    fn formula(&self, name: &str, bound: &Bound) -> Res<Formula> {
        let begin = Instant::now();
        let group = reduce::group(self.system, bound, self.task.symmetry).map_err(|why| {
            let strategy = self.task.symmetry;
            let d =
                Diagnostic::error("L0403", bound.span, format!("not with `--symmetry {strategy}`: {why}"));
            vec![d.help(
                "`--symmetry auto` leaves out what the formula is not symmetric in; `off` is always right",
            )]
        })?;
        let action = Action::new(self.system, group);
        let strategy = reduce::representatives(self.task.symmetry);
        let reducer = match action.group.is_trivial() {
            true => None,
            false => Reducer::new(&action, strategy, false),
        };
        let is_reduced = reducer.is_some();
        let (max_states, current) = (self.task.max_states, self.current.clone());
        let mut machine =
            Machine::new(self.system, bound, reducer, max_states, current.clone(), &self.stop.flag);
        let mut options = ltl::Options { stop: self.stop.flag.clone(), from: None };
        match &self.from {
            Some(row) => options.from = Some(machine.state(row)),
            None => self.has_start(&mut machine)?,
        }
        let answer = ltl::check(&mut machine, &bound.property, &options)
            .map_err(|e| vec![Diagnostic::error("L0402", bound.span, e.0)])?;
        let mut verdict = answer.verdict;
        let mut finding = None;
        if let Verdict::Fails(lasso) = &verdict {
            let found = if is_reduced {
                let mut plain = Machine::new(self.system, bound, None, None, current, &self.stop.flag);
                machine
                    .unfold(lasso, self.from.as_deref())
                    .map(|path| plain.lasso(&path))
                    .and_then(|lasso| self.found(&mut plain, &lasso, bound))
            } else {
                self.found(&mut machine, lasso, bound)
            };
            match found {
                Ok(found) => finding = Some(found),
                Err(why) => verdict = Verdict::Unknown(Why::Internal(why)),
            }
        }
        let (verdict, reason) = self.worded(&verdict, &machine);
        let fixed = |(set, why): &(crate::model::SetId, crate::symmetry::Reason)| {
            (self.system.model.sets[set.index()].name.to_string(), why.to_string())
        };
        Ok(Formula {
            name: name.to_string(),
            text: bound.text.clone(),
            parts: bound.parsed.formula.subformulas().iter().map(|f| f.to_string()).collect(),
            verdict,
            reason,
            finding,
            strategy: if is_reduced { self.task.symmetry } else { Strategy::Off },
            fixed: if self.task.symmetry == Strategy::Off {
                vec![]
            } else {
                action.group.fixed.iter().map(fixed).collect()
            },
            counts: Counts { state_bytes: answer.counts.state_bytes + machine.bytes(), ..answer.counts },
            seconds: begin.elapsed().as_secs_f64(),
        })
    }

    /// A model without an initial state is wrong, and no formula holds vacuously.
    fn has_start(&self, machine: &mut Machine) -> Res<()> {
        let mut initial = vec![];
        machine.initial(&mut initial);
        if initial.is_empty() && machine.open().is_none() && self.setup.fault.is_none() && !self.stop.is_set()
        {
            return Err(vec![blame::initialisation(self.opened)]);
        }
        Ok(())
    }

    /// A counterexample as a trace that was replayed, with the values of all subformulas.
    fn found(&self, machine: &mut Machine, lasso: &Lasso, bound: &Bound) -> Result<Found, String> {
        let (lasso, word) = ltl::confirm(machine, lasso, &bound.property)?;
        let trace = machine.trace(&lasso, self.from.is_none())?;
        let closed = lasso.back.and_then(|b| trace.steps.get(b)).map(|s| &s.state);
        if closed.is_some_and(|s| trace.steps.last().is_none_or(|last| last.state != *s)) {
            return Err("the loop does not close".to_string());
        }
        if self.from.is_none() {
            replay::confirm(self.system, &trace)?;
        }
        let values = word.explain(&bound.property.formula);
        Ok(Found { trace, back: lasso.back, values, is_from_initial: self.from.is_none() })
    }

    fn worded(&self, verdict: &Verdict, machine: &Machine) -> (Word, Option<String>) {
        match verdict {
            Verdict::Fails(lasso) => {
                let how = match lasso.back {
                    Some(_) => "a path does not fulfil it",
                    None => "a path into a deadlock does not fulfil it",
                };
                (Word::Fails, Some(how.to_string()))
            }
            Verdict::Holds => match (&self.setup.fault, self.setup.truncated) {
                (Some(fault), _) => (Word::Unknown, Some(self.open_text(&Open::Fault(fault.clone())))),
                (None, Some(span)) => (Word::Unknown, Some(self.open_text(&Open::Truncated(span)))),
                (None, None) => (Word::Holds, None),
            },
            Verdict::Unknown(why) => {
                let reason = match (why, self.stop.why()) {
                    (Why::Internal(what), _) => format!("internal error, please report it: {what}"),
                    (_, Some(why)) => super::check::why_text(&why, self.opened),
                    (Why::Stopped, None) => "interrupted".to_string(),
                    (Why::Open, None) => machine
                        .open()
                        .map_or_else(|| "a state stayed open".to_string(), |o| self.open_text(o)),
                };
                (Word::Unknown, Some(reason))
            }
        }
    }

    fn open_text(&self, open: &Open) -> String {
        let opened = self.opened;
        let at = |span: Span| match opened.sources.get(span.file) {
            Some(_) => format!(" at {}", opened.sources.place(span)),
            None => String::new(),
        };
        match open {
            Open::MaxStates(n) => format!("the limit of {n} states is reached"),
            Open::Truncated(span) => super::check::why_text(&crate::explore::Why::Truncated(*span), opened),
            Open::Fault(fault) => format!("{}{}", fault_message(fault).1, at(fault.span())),
        }
    }
}
