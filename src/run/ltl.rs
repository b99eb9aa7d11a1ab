//! Checks temporal formulas on a machine.

use super::blame;
use super::certificate::{self, Proven};
use super::check::lacking;
use super::deadline::Deadline;
use super::notes;
use super::numbers::plural;
use super::project::{Project, Solved};
use super::reference::Reference;
use super::vacuity::{self, Idle};
use super::why;
use crate::explore::Options;
use crate::explore::audit::{Compared, look_at};
use crate::explore::plan::{Asked, plan};
use crate::lang::diag::{Diagnostic, Span};
use crate::ltl::atoms::{self, Bound, StateAtom};
use crate::ltl::machine::{self, Predicates};
use crate::ltl::space::{Limits, Space};
use crate::ltl::{self, Counts, Lasso, Property, Structure, Work, reduce};
use crate::model::Expr;
use crate::model::open::Refused;
use crate::model::reading::Reading;
use crate::model::scope::ScopeArgs;
use crate::symmetry::note::Fixed;
use crate::symmetry::{Action, MachineAction, Reducer, Strategy};
use crate::system::{Machine, System};
use crate::trace::export::Shown;
use crate::trace::fault::plain_error;
use crate::trace::{Trace, replay};
use crate::verdict::{Broken, Decision, Verdict, Why};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

/// What to check.
#[derive(Clone, Debug, Default)]
pub struct Task {
    /// Name and text; the machine's own when there are none.
    pub formulas: Vec<(String, String)>,
    /// Paths start in this state (its number breadth first, or a predicate) instead of an initial one.
    pub from: Option<String>,
    /// The state that the atom `current` means.
    pub current: Option<String>,
    /// How far to go.
    pub limits: Limits,
    /// How symmetric states are recognised.
    pub symmetry: Strategy,
    /// Look at a search that has found nothing once more.
    pub audit: bool,
    /// Look for parts of formulas that hold which do not matter.
    pub vacuity: bool,
    /// A file for the certificate of a formula that holds; then there is one formula.
    pub certificate: Option<PathBuf>,
}

/// The answer to one formula.
pub struct Answered {
    /// What it is called.
    pub name: String,
    /// As it was written.
    pub text: String,
    /// Its subformulas, parts before wholes.
    pub parts: Vec<String>,
    /// The verdict without its details.
    pub verdict: Decision,
    /// What was found, or why there is no answer.
    pub reason: Option<String>,
    /// A path that does not fulfil it.
    pub finding: Option<Refutation>,
    /// How states were reduced.
    pub strategy: Strategy,
    /// Sets that were not permuted, or only in part, with the reason.
    pub fixed: Vec<Fixed>,
    /// States, edges and nodes of the search.
    pub counts: Counts,
    /// For this formula.
    pub seconds: f64,
    /// What should be known beside the verdict.
    pub notes: Vec<String>,
    /// If it holds and was looked at for it: the largest parts that do not matter.
    pub vacuous: Option<Vec<Idle>>,
    /// Where the certificate was written that was asked for, or why it was not.
    pub certificate: Option<Result<PathBuf, String>>,
}

impl Answered {
    /// Its counterexample, to be written to a file.
    pub fn shown(&self) -> Option<Shown<'_>> {
        let found = self.finding.as_ref()?;
        Some(Shown { trace: &found.trace, back: found.back, formula: Some(&self.text) })
    }
}

/// A path that does not fulfil the formula.
pub struct Refutation {
    /// One step per state; the last step of a loop leads to its first state again.
    pub trace: Trace,
    /// The place of the loop's first state; `None`: the path ends in a deadlock.
    pub back: Option<usize>,
    /// By subformula, then by state.
    pub values: Vec<Vec<bool>>,
    /// The first state is an initial one.
    pub is_from_initial: bool,
}

/// A state that the user has chosen.
enum Choice {
    Number(usize),
    Predicate(Box<Bound>),
}

type Res<T> = Result<T, Vec<Diagnostic>>;

/// Formulas, and the states that were chosen, as parts of a model.
pub struct Bindings {
    formulas: Vec<(String, Bound)>,
    from: Option<Choice>,
    current: Option<Choice>,
}

impl Bindings {
    /// Names and texts of the formulas.
    pub fn texts(&self) -> impl Iterator<Item = (&str, &str)> {
        self.formulas.iter().map(|(name, b)| (&**name, &*b.text))
    }
}

/// Binds the formulas of a task, or the machine's own. This adds to the model, so it comes before the constants are solved.
///
/// # Errors
/// Every formula that is wrong, or that there is none.
pub fn bind(project: &mut Project, task: &Task) -> Res<Bindings> {
    let opened = &mut project.opened;
    let formulas = if task.formulas.is_empty() {
        opened.model.ltl.iter().map(|(n, t)| (n.to_string(), t.to_string())).collect()
    } else {
        task.formulas.clone()
    };
    if formulas.is_empty() {
        let d =
            plain_error("there is no formula: the machine has no ASSERT_LTL definition, and none is given");
        return Err(vec![d]);
    }
    let mut all = vec![];
    let mut wrong = vec![];
    for (name, text) in &formulas {
        match atoms::bind(opened, name, text) {
            Ok(b) => all.push((name.clone(), b)),
            Err(d) => wrong.extend(d),
        }
    }
    if !wrong.is_empty() {
        return Err(wrong);
    }
    let current = all.iter().flat_map(|(_, b)| &b.states).find_map(|s| match s {
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
                Choice::Predicate(Box::new(atoms::bind(opened, name, &braced)?))
            }
        }))
    };
    let (from, current) = (choice("--from", &task.from)?, choice("--current", &task.current)?);
    Ok(Bindings { formulas: all, from, current })
}

const STRICT_PATHS: &str = "with `--wd strict` it is a part of the invariant that guards have values, and formulas are \
                            checked without it: leave out `--wd`, or check the machine first";

/// Checks formulas on a machine whose constants are solved.
///
/// # Errors
/// Options that do not go together, a state that there is not, and a model without an initial state.
pub fn check(solved: &Solved, bindings: &Bindings, task: &Task, deadline: &Deadline) -> Res<Vec<Answered>> {
    let options = Options { symmetry: task.symmetry, ..Options::default() };
    plan(&options, Asked::Paths, false).map_err(|why| vec![plain_error(why.to_string())])?;
    if solved.project.opened.reading == Reading::Strict {
        return Err(vec![plain_error(STRICT_PATHS.to_string())]);
    }
    if task.certificate.is_some() {
        certificate::formulas_refused(task.from.is_some() || task.current.is_some(), bindings.formulas.len())
            .map_err(|why| vec![plain_error(why.to_string())])?;
    }
    let mut run = Run { solved, task, deadline, from: None, current: None };
    let from = run.choose("--from", bindings.from.as_ref())?;
    let current = run.choose("--current", bindings.current.as_ref())?;
    match (from, current) {
        (Ok(from), Ok(current)) => (run.from, run.current) = (from, current),
        // The state that is meant was not found, but it may be there.
        (Err(why), _) | (_, Err(why)) => {
            return Ok(bindings.formulas.iter().map(|(name, b)| run.open(name, b, &why)).collect());
        }
    }
    bindings.formulas.iter().map(|(name, b)| run.formula(name, b)).collect()
}

/// Reads a file and checks formulas on it.
///
/// # Errors
/// What is wrong with the model, the formulas or the task.
pub fn check_file(
    path: &std::path::Path,
    scope: &ScopeArgs,
    task: &Task,
    deadline: &Deadline,
) -> Result<(Project, Vec<Answered>), Refused> {
    let mut project = Project::open(path, scope)?;
    let asked = bind(&mut project, task).and_then(|b| check(&project.solve(deadline)?, &b, task, deadline));
    match asked {
        Ok(formulas) => Ok((project, formulas)),
        Err(diagnostics) => Err(project.refuse(diagnostics)),
    }
}

/// What an audit looked at.
fn audit_note(looked: ltl::Audited, compared: &Compared) -> String {
    format!(
        "audit: {} asked for their steps again, {} found closed, {} judged; {} and {} compared with the \
         reference evaluator",
        plural(looked.states as u64, "state"),
        plural(looked.nodes as u64, "node"),
        plural(looked.components as u64, "component"),
        plural(compared.successors, "state"),
        plural(compared.predicates, "predicate"),
    )
}

struct Run<'a> {
    solved: &'a Solved<'a>,
    task: &'a Task,
    deadline: &'a Deadline,
    from: Option<Vec<u64>>,
    current: Option<Vec<u64>>,
}

type Seen<'s> = Space<'s, Machine, Predicates>;

impl Run<'_> {
    fn space(&self, bound: &Bound, reducer: Option<Reducer>, limits: Limits) -> Seen<'_> {
        machine::space(
            &self.solved.machine,
            bound,
            reducer,
            limits,
            self.current.clone(),
            &self.deadline.flag,
        )
    }

    /// The row of a state that the user has chosen, if there is one; or why nobody knows.
    fn choose(&self, name: &str, choice: Option<&Choice>) -> Res<Result<Option<Vec<u64>>, Why>> {
        let Some(choice) = choice else { return Ok(Ok(None)) };
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
        let mut space = self.space(bound, None, self.task.limits);
        let found = space.first(|at, holds| number.map_or(holds, |n| at + 1 == n));
        match (found, self.deadline.why().or_else(|| space.open())) {
            (Some(row), _) => Ok(Ok(Some(row))),
            (None, Some(why)) => Ok(Err(why)),
            (None, None) => {
                let states = space.states();
                let message = match number {
                    Some(n) => format!("{name}: there is no state {n}, only {states} were found"),
                    None => format!("{name}: none of the {states} states found fulfils the predicate"),
                };
                Err(vec![plain_error(message)])
            }
        }
    }

    /// The reference evaluator's opinion on the states that a search has met, as far as there is time: their steps, and
    /// the predicates of the formula.
    fn second_look(&self, space: &Seen, bound: &Bound) -> Result<Compared, Why> {
        let machine = &*self.solved.machine;
        let predicate = |s: &'_ StateAtom| match s {
            StateAtom::Predicate(e) => Some(e.clone()),
            StateAtom::Current(_) => None,
        };
        // One that is no predicate would put the others into the wrong places.
        let predicates: Option<Vec<Expr>> = bound.states.iter().map(predicate).collect();
        let predicates = predicates.unwrap_or_default();
        let rows = || (0..space.states() as u32).map(|s| space.row(s).to_vec());
        let values = rows().zip((0..).map(|s| space.props(s))).collect();
        let options = Options { all: true, ..Options::default() };
        let second = Reference::new(machine, &options).with_predicates(predicates.iter().collect(), values);
        let (compared, difference) = look_at(machine, Box::new(second), rows(), &self.deadline.flag);
        if let Some(why) = self.deadline.why() {
            return Err(why);
        }
        match difference {
            Some((clause, detail)) => {
                let broken = Broken { clause, event: None, number: 0, state: None, detail: Some(detail) };
                Err(Why::Audit(Box::new(broken)))
            }
            None => match compared.unaudited() {
                Some(what) => Err(Why::Unaudited(what)),
                None => Ok(compared),
            },
        }
    }

    /// No answer to a formula that was not looked at.
    fn open(&self, name: &str, bound: &Bound, why: &Why) -> Answered {
        Answered {
            name: name.to_string(),
            text: bound.text.clone(),
            parts: vec![],
            verdict: Decision::Unknown,
            reason: Some(why::text(why, &self.solved.project.opened)),
            finding: None,
            strategy: Strategy::Off,
            fixed: vec![],
            counts: Counts::default(),
            seconds: 0.0,
            notes: notes::advice(why).into_iter().collect(),
            vacuous: None,
            certificate: None,
        }
    }

    /// What permutes the states that a formula is checked on, and what finds their representatives.
    fn reduction(&self, bound: &Bound) -> Res<(Arc<dyn Action>, Option<Reducer>)> {
        let system = &self.solved.machine;
        let group = reduce::group(system, bound, self.task.symmetry).map_err(|why| {
            let strategy = self.task.symmetry;
            let d =
                Diagnostic::error("L0403", bound.span, format!("not with `--symmetry {strategy}`: {why}"));
            vec![d.help(
                "`--symmetry auto` leaves out what the formula is not symmetric in; `off` is always right",
            )]
        })?;
        let action: Arc<dyn Action> = Arc::new(MachineAction::new(system, group));
        let reducer = match action.group().is_trivial() {
            true => None,
            false => Reducer::new(&action, reduce::representatives(self.task.symmetry), false),
        };
        Ok((action, reducer))
    }

    /// The largest parts of a formula that holds which do not matter; none if the time is over before all were tried.
    fn vacuous(&self, bound: &Bound) -> Res<Option<Vec<Idle>>> {
        let (mut found, mut wrong) = (vec![], None);
        vacuity::idle(&bound.property.formula, &mut |changed, place| {
            // Without a premise there is a path, and "false" does not hold.
            let is_needless = place.is_empty() && bound.property.premise.is_none();
            if is_needless || self.deadline.is_set() || wrong.is_some() {
                return false;
            }
            let property = Property { formula: changed, ..bound.property.clone() };
            let other = Bound { property, ..bound.clone() };
            let holds = self.holds(&other).unwrap_or_else(|d| {
                wrong = Some(d);
                false
            });
            if holds {
                let part = vacuity::part(&bound.parsed.formula, place).to_string();
                found.push(Idle { part, is_whole: place.is_empty() });
            }
            holds
        });
        match wrong {
            Some(d) => Err(d),
            None => Ok((!self.deadline.is_set()).then_some(found)),
        }
    }

    /// Whether a formula is proved to hold.
    fn holds(&self, bound: &Bound) -> Res<bool> {
        let (_, reducer) = self.reduction(bound)?;
        let mut space = self.space(bound, reducer, self.task.limits);
        let mut options = ltl::Options { stop: self.deadline.flag.clone(), ..ltl::Options::default() };
        if let Some(row) = &self.from {
            options.from = Some(space.state(row));
        }
        let answer = ltl::check(&mut space, &bound.property, &options)
            .map_err(|e| vec![Diagnostic::error("L0402", bound.span, e.0)])?;
        Ok(answer.verdict.holds() && !self.deadline.is_set())
    }

    fn formula(&self, name: &str, bound: &Bound) -> Res<Answered> {
        let begin = Instant::now();
        let system = &self.solved.machine;
        let (action, reducer) = self.reduction(bound)?;
        let strategy = reduce::representatives(self.task.symmetry);
        let is_reduced = reducer.is_some();
        let mut space = self.space(bound, reducer, self.task.limits);
        let (stop, audit) = (self.deadline.flag.clone(), self.task.audit);
        let prove = self.task.certificate.is_some();
        let mut options = ltl::Options { stop, audit, prove, ..ltl::Options::default() };
        if let Some(row) = &self.from {
            options.from = Some(space.state(row));
        }
        let answer = ltl::check(&mut space, &bound.property, &options)
            .map_err(|e| vec![Diagnostic::error("L0402", bound.span, e.0)])?;
        let mut verdict = self.deadline.explain(answer.verdict);
        let opened = &self.solved.project.opened;
        // A model without an initial state is wrong, and no formula holds vacuously.
        if let Verdict::Unknown(Why::NoInitialState) = verdict
            && !self.deadline.is_set()
        {
            return Err(vec![blame::initialisation(opened)]);
        }
        // Operations that may be enabled too often may hide a deadlock.
        let preconditions = system.left_out(true) - system.left_out(false);
        if verdict.holds() && preconditions > 0 {
            verdict = Verdict::Unknown(Why::LeftOut(preconditions));
        }
        let mut audited = None;
        if let (true, Some(looked)) = (verdict.holds(), answer.audited) {
            match self.second_look(&space, bound) {
                Ok(compared) => audited = Some(audit_note(looked, &compared)),
                Err(why) => verdict = Verdict::Unknown(why),
            }
        }
        let mut finding = None;
        if let Verdict::Fails(lasso) = &verdict {
            let work = answer.counts.work();
            let found = if is_reduced {
                let mut plain = self.space(bound, None, Limits::default());
                space
                    .unfold(lasso, self.from.as_deref())
                    .map(|path| plain.lasso(&path))
                    .and_then(|lasso| self.refutation(&mut plain, &lasso, bound, work))
            } else {
                self.refutation(&mut space, lasso, bound, work)
            };
            match (found, self.deadline.why()) {
                (Ok(found), _) => match lacking(&opened.model, &found.trace, None) {
                    None => finding = Some(found),
                    Some(_) => verdict = Verdict::Unknown(Why::LeftOut(preconditions)),
                },
                (Err(_), Some(why)) => verdict = Verdict::Unknown(why),
                (Err(why), None) => verdict = Verdict::Unknown(Why::Internal(why)),
            }
        }
        let mut written = None;
        if let (Some(path), Some(proved), true) = (&self.task.certificate, &answer.proved, verdict.holds()) {
            let reduction = is_reduced.then_some((&action, strategy));
            let formula = Proven { bound, proved, space: &space, reduction };
            written = Some(certificate::write_formula(path, self.solved, &formula, &self.deadline.flag));
        }
        let vacuous = match self.task.vacuity && verdict.holds() {
            true => self.vacuous(bound)?,
            false => None,
        };
        let reason = match &verdict {
            Verdict::Holds(_) => None,
            Verdict::Fails(lasso) => Some(match lasso.back {
                Some(_) => "a path does not fulfil it".to_string(),
                None => "a path into a deadlock does not fulfil it".to_string(),
            }),
            Verdict::Unknown(why) => Some(why::text(why, opened)),
        };
        Ok(Answered {
            name: name.to_string(),
            text: bound.text.clone(),
            parts: bound.parsed.formula.subformulas().iter().map(|f| f.to_string()).collect(),
            verdict: verdict.word(),
            reason,
            finding,
            strategy: if is_reduced { self.task.symmetry } else { Strategy::Off },
            fixed: if self.task.symmetry == Strategy::Off {
                vec![]
            } else {
                action.group().fixed_sets(&opened.model)
            },
            counts: Counts { state_bytes: answer.counts.state_bytes + space.bytes(), ..answer.counts },
            seconds: begin.elapsed().as_secs_f64(),
            notes: match &verdict {
                Verdict::Holds(_) => {
                    let scope = notes::reading(opened.reading).into_iter().chain(notes::scope(opened));
                    scope.chain(audited).collect()
                }
                Verdict::Unknown(why) => notes::advice(why).into_iter().collect(),
                Verdict::Fails(_) => vec![],
            },
            vacuous,
            certificate: written,
        })
    }

    /// A counterexample as a trace that was replayed, with the values of all subformulas.
    fn refutation(
        &self,
        space: &mut Seen,
        lasso: &Lasso,
        bound: &Bound,
        work: Work,
    ) -> Result<Refutation, String> {
        let (lasso, word) = ltl::confirm(space, lasso, &bound.property, work)?;
        if self.deadline.is_set() {
            return Err("stopped while the path was read again".to_string());
        }
        let path = space.path(&lasso, self.from.is_none())?;
        if lasso.back.is_some_and(|b| path.rows.get(b) != path.rows.last()) {
            return Err("the loop does not close".to_string());
        }
        let trace = Trace::of(&self.solved.machine, &path);
        if self.from.is_none() {
            replay::confirm(&self.solved.machine, &trace)?;
        }
        let values = word.explain(&bound.property.formula);
        Ok(Refutation { trace, back: lasso.back, values, is_from_initial: self.from.is_none() })
    }
}
