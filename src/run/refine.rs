//! A machine against what it refines.

use super::answer::Place;
use super::deadline::Deadline;
use super::project::Project;
use super::{notes, why};
use crate::explore::{self, Counts, Explored, Finding, FindingKind, Options, Progress};
use crate::lang::diag::{Diagnostic, Span};
use crate::model::open::{OpenedTower, Refused, open_tower};
use crate::model::reading::Reading;
use crate::model::scope::ScopeArgs;
use crate::model::tower::{Claim, Level, Purpose, broken};
use crate::model::{Expr, Model, Promise};
use crate::refine::{Candidate, Mistake, Product, Reason, Stuck, Way, explain, faulty};
use crate::system::{Label, Machine, Path, System};
use crate::trace::explain::{Context, Explainer, Part};
use crate::trace::fault::{fault_message, plain_error};
use crate::trace::rebuild::rebuild;
use crate::trace::{Trace, shown};
use crate::value::fault::{Fault, WdKind};
use crate::verdict::{Decision, Verdict, Why};
use std::time::Instant;

/// What to look at.
#[derive(Clone, Debug, Default)]
pub struct Task {
    /// Trace refinement only.
    pub traces: bool,
    /// Relative deadlock freedom, too.
    pub deadlock: bool,
    /// Stop after this many states.
    pub max_states: Option<usize>,
    /// Stop when the program has more bytes than this.
    pub max_memory: Option<u64>,
    /// Valuations of the constants that are taken at most.
    pub max_constants: Option<usize>,
    /// For tests of the tests.
    #[doc(hidden)]
    pub planted: Option<Mistake>,
}

/// A step that is not followed, or that has no value.
pub struct Broken {
    /// `SIM`, `GRD`, `INV`, …; `WD` of something without a value.
    pub obligation: &'static str,
    /// `event/label/KIND`, where the language has such names.
    pub name: Option<String>,
    /// What is wrong, in a sentence.
    pub message: String,
    /// The code of a well-definedness error.
    pub code: Option<&'static str>,
    /// The machine that promises it, and what it refines.
    pub level: String,
    /// What that machine refines; empty if it is not known.
    pub above: String,
    /// The operation or event; `INITIALISATION`.
    pub operation: String,
    /// Names and values, where something has no value.
    pub parameters: Vec<(String, String)>,
    /// The formula that is broken.
    pub place: Option<Place>,
    /// The run of the concrete machine, with the step that is not followed as its last.
    pub trace: Trace,
    /// The states of the levels above before that step: names and values.
    pub before: Vec<Vec<(String, String)>>,
    /// What the level above could have done, and why that does not match.
    pub candidates: Vec<(Vec<(String, String)>, String)>,
    /// There are more of them.
    pub has_more: bool,
    /// The parts of the broken formula with their values.
    pub why: Vec<Part>,
}

/// The whole answer.
pub struct Refined {
    /// The verdict without its details.
    pub verdict: Decision,
    /// What was found, or why there is no answer.
    pub reason: Option<String>,
    /// The first thing found.
    pub finding: Option<Broken>,
    /// The machine and those it refines.
    pub levels: Vec<String>,
    /// `pairs`, `sets` or `traces`
    pub way: &'static str,
    /// States of the product, and its transitions.
    pub counts: Counts,
    /// Valuations of the constants.
    pub constants: usize,
    /// Everything was explored.
    pub complete: bool,
    /// Where an enumeration was cut short.
    pub truncated: Option<Place>,
    /// Of the exploration.
    pub seconds: f64,
    /// Of the whole run.
    pub total_seconds: f64,
    /// What should be known beside the verdict.
    pub notes: Vec<String>,
}

/// What "holds" claims.
const SIMULATED: &str = "every step that the machine can do, from each state that it reaches together with its \
                         abstractions, was followed by all of them, and the gluing invariants held; nothing is said \
                         about states that are not reached";
const TRACED: &str = "every sequence of operations with parameters and results that the machine has, its abstractions \
                      have; gluing invariants were not looked at";

/// Reads a machine with all that it refines, and checks it. `progress` is called now and then.
///
/// # Errors
/// What is wrong with the models, or not supported.
pub fn refine(
    path: &std::path::Path,
    scope: &ScopeArgs,
    task: &Task,
    deadline: &Deadline,
    progress: &mut dyn FnMut(Progress),
) -> Result<(Project, Refined), Refused> {
    let begin = Instant::now();
    if scope.reading != Reading::Kleene {
        let why = "`--wd` is not for refinement: the levels are read as Kleene does";
        return Err(Refused { diagnostics: vec![plain_error(why)], ..Refused::default() });
    }
    let purpose = Purpose { traces: task.traces, deadlock: task.deadlock, staged: false };
    let asked = attempt(path, scope, task, deadline, progress, purpose)?;
    let is_unnamed = |r: &Refined| r.finding.as_ref().is_some_and(|f| f.name.is_none() && f.code.is_none());
    let (project, mut refined) = match asked {
        // Which promise it was is known by operations that demand them one by one: once more with these.
        (project, refined) if refined.way == "sets" && is_unnamed(&refined) => {
            let staged = Purpose { staged: true, ..purpose };
            match attempt(path, scope, task, deadline, progress, staged) {
                Ok((again, told)) if told.verdict == Decision::Fails => (again, told),
                _ => (project, refined),
            }
        }
        asked => asked,
    };
    refined.total_seconds = begin.elapsed().as_secs_f64();
    Ok((project, refined))
}

fn attempt(
    path: &std::path::Path,
    scope: &ScopeArgs,
    task: &Task,
    deadline: &Deadline,
    progress: &mut dyn FnMut(Progress),
    purpose: Purpose,
) -> Result<(Project, Refined), Refused> {
    let tower = open_tower(path, scope, purpose)?;
    let OpenedTower { opened, levels, moves, claims, theorems, in_sets, above, places } = tower;
    let project = Project { opened, max_constants: task.max_constants, ..Project::default() };
    let solved = match project.solve(deadline) {
        Ok(solved) => (solved.machine.clone(), solved.setup.clone()),
        Err(diagnostics) => return Err(project.refuse(diagnostics)),
    };
    let (machine, setup) = solved;
    let ways: Vec<Way> = match (task.traces, in_sets) {
        (true, _) => (1..levels.len()).map(Way::Traces).collect(),
        (false, true) => vec![Way::Sets],
        (false, false) => vec![Way::Pairs],
    };
    let mut last = None;
    for way in ways {
        let parts = (levels.clone(), &moves[..], &above[..]);
        let claims = (claims.clone(), theorems.clone());
        let product = Product::new(machine.clone(), parts, claims, way, task.deadlock).planted(task.planted);
        let run = Run { project: &project, product: &product, places: &places, deadline };
        let refined = match run.answer(task, setup.truncated, progress) {
            Ok(refined) => refined,
            Err(d) => return Err(project.refuse(vec![d])),
        };
        let goes_on = refined.verdict == Decision::Holds;
        last = Some(refined);
        if !goes_on {
            break;
        }
    }
    // There are two levels at least.
    let refined = last.ok_or_else(Refused::default)?;
    Ok((project, refined))
}

struct Run<'r> {
    project: &'r Project,
    product: &'r Product,
    /// What formulas are called.
    places: &'r [Promise],
    deadline: &'r Deadline,
}

impl Run<'_> {
    fn answer(
        &self,
        task: &Task,
        truncated: Option<Span>,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<Refined, Diagnostic> {
        let begin = Instant::now();
        let (opened, product, deadline) = (&self.project.opened, self.product, self.deadline);
        let options = Options {
            max_states: task.max_states,
            max_memory: task.max_memory,
            deadlock: false,
            ..Options::default()
        };
        let explored = explore::explore(product, None, &options, &deadline.flag, progress);
        let explored = explored.map_err(|why| plain_error(why.to_string()))?;
        let seconds = begin.elapsed().as_secs_f64();
        let verdict = deadline.explain(explored.verdict.clone());
        let truncated = match &verdict {
            Verdict::Unknown(Why::Truncated(span)) => Some(*span),
            _ => truncated,
        };
        let (mut word, mut reason, mut finding) = (verdict.word(), None, None);
        let mut notes = vec![];
        match &verdict {
            Verdict::Holds(_) => {
                notes.push(if task.traces { TRACED } else { SIMULATED }.to_string());
                notes.extend(notes::scope(opened));
            }
            Verdict::Unknown(why) => {
                reason = Some(why::text(why, opened));
                notes.extend(notes::advice(why));
            }
            Verdict::Fails(_) if product.is_shaky() => {
                word = Decision::Unknown;
                let what = "a step was found that is not followed, but some abstract states could not be enumerated, \
                            so that it may be followed nevertheless";
                reason = Some(what.to_string());
            }
            Verdict::Fails(f) => match deadline.telling(|| self.broken(&explored, f)) {
                Ok(found) => {
                    reason = Some(found.message.clone());
                    finding = Some(found);
                }
                Err(why) => {
                    word = Decision::Unknown;
                    reason = Some(why::text(&Why::Internal(why), opened));
                }
            },
        }
        let no_constants = !opened.model.has_constants();
        let counts = explored.counts.clone();
        Ok(Refined {
            verdict: word,
            reason,
            finding,
            levels: product.joint.levels.iter().map(|l| l.name.to_string()).collect(),
            way: match product.joint.way {
                Way::Pairs => "pairs",
                Way::Sets => "sets",
                Way::Traces(_) => "traces",
            },
            constants: if no_constants { 0 } else { counts.constants },
            complete: explored.is_complete && !deadline.is_set(),
            truncated: truncated.and_then(|span| Place::of(&opened.sources, span)),
            seconds,
            total_seconds: seconds,
            counts,
            notes,
        })
    }

    fn model(&self) -> &Model {
        &self.project.opened.model
    }

    fn machine(&self) -> &Machine {
        &self.product.joint.machine
    }

    /// The path of the product as a run of the concrete machine.
    fn trace(&self, path: &Path) -> Trace {
        let row = |r: &Vec<u64>| {
            let blank = vec![0; self.machine().width()];
            let members = self.product.members(r);
            let first = members.first().unwrap_or(&blank);
            self.product.concrete(r, first)
        };
        let rows: Vec<Vec<u64>> = path.rows.iter().map(row).collect();
        let own = &self.product.joint.levels[0].variables;
        let labels: Vec<Label> = path.labels.iter().map(|l| self.product.machine_label(l)).collect();
        let mut trace = Trace::of(self.machine(), &Path { rows, labels });
        // The variables of the most concrete level come first.
        trace.steps.iter_mut().for_each(|s| s.state.truncate(own.len()));
        trace
    }

    fn broken(&self, explored: &Explored, finding: &Finding) -> Result<Broken, String> {
        let product = self.product;
        let path = match finding.state {
            Some(state) => rebuild(product, None, explored, state)?,
            None => Path::default(),
        };
        match &finding.kind {
            FindingKind::WellDefinedness { fault, operation } => {
                Ok(self.fault(&path, finding.start, fault, *operation))
            }
            FindingKind::Invariant(_) => {
                let (Some(target), n) = (path.rows.last(), path.rows.len()) else {
                    return Err("there is no state that is stuck".into());
                };
                let source = (n > 1).then(|| &*path.rows[n - 2]);
                let stuck = explain(product, source, path.labels.last(), target)
                    .map_err(|fault| fault_message(&fault).1)?;
                Ok(self.stuck(&path, &stuck))
            }
            _ => Err("a finding of another kind".into()),
        }
    }

    /// A conjunct of the invariant, or an assertion behind them.
    fn formula(&self, i: usize) -> Option<&Expr> {
        let model = self.model();
        model.invariant.iter().chain(&model.assertions).nth(i)
    }

    fn claim(&self, i: usize) -> Option<&Claim> {
        let joint = &self.product.joint;
        joint.claims.iter().chain(&joint.theorems).nth(i)
    }

    fn level(&self, at: usize) -> String {
        self.product.joint.levels.get(at).map_or_else(String::new, |l| l.name.to_string())
    }

    /// The obligation that a fault is about, of a language that has names for them.
    fn promised(&self, fault: &Fault, operation: &str) -> Option<&Promise> {
        let Fault::Wd(wd) = fault else { return None };
        if wd.kind == WdKind::AssertFailed {
            let is_it = |p: &&Promise| &*p.operation == operation && p.span == wd.span;
            return self.model().promises.iter().find(is_it);
        }
        // Inherited formulas stand in one place and belong to several events: that of the step comes first.
        let around = self.places.iter().filter(|p| p.span.contains(wd.span));
        around.min_by_key(|p| (p.span.hi - p.span.lo, &*p.operation != operation))
    }

    /// Something has no value.
    fn fault(&self, path: &Path, start: usize, fault: &Fault, operation: Option<usize>) -> Broken {
        let (code, text) = fault_message(fault);
        let is_pre = matches!(fault, Fault::Wd(w) if w.kind == WdKind::Precondition);
        let source = path.rows.last().map(|r| &**r);
        let found = faulty(self.product, source, start, operation, fault);
        let name = match operation {
            Some(op) => self.product.operations()[op].name.to_string(),
            None => "INITIALISATION".to_string(),
        };
        let (mut parameters, mut why) = (vec![], vec![]);
        if let Some((event, row)) = &found
            && source.is_some()
        {
            let explainer = Explainer::new(self.machine(), Some(row), start);
            let context = Context { event: Some(*event), in_properties: false, has_state: true };
            (_, parameters, why) = explainer.fault(fault, context);
        }
        let place = Place::of(&self.project.opened.sources, fault.span());
        let promised = self.promised(fault, &name);
        let at = promised.and_then(|p| {
            let levels = &self.product.joint.levels;
            levels.iter().position(|l| l.name == p.level)
        });
        let at = at.unwrap_or(0);
        Broken {
            obligation: promised.map_or(if is_pre { "PRE" } else { "WD" }, |p| p.kind),
            name: promised.map(Promise::name),
            message: match promised {
                Some(p) if p.kind == "FIS" => format!("{} of {}: {}", p.name(), p.level, broken(p.kind)),
                Some(p) => format!("{} of {}: {text} (in {name})", p.name(), p.level),
                None if is_pre => format!("`{name}` may be called here, and a precondition is violated"),
                None => format!("{text} (in {name})"),
            },
            code: Some(code),
            level: self.level(at),
            above: self.level(at + 1),
            operation: name,
            parameters,
            place,
            trace: self.trace(path),
            before: source.map_or_else(Vec::new, |row| self.above(&self.product.members(row), 1)),
            candidates: vec![],
            has_more: false,
            why,
        }
    }

    fn stuck(&self, path: &Path, stuck: &Stuck) -> Broken {
        let product = self.product;
        let (level, above) = (self.level(stuck.level), self.level(stuck.level + 1));
        let operation = match path.labels.last().and_then(|l| l.first()) {
            Some(op) => product.operations()[*op as usize].name.to_string(),
            None => "INITIALISATION".to_string(),
        };
        let claim = stuck.claim.and_then(|i| Some((self.claim(i)?, self.formula(i)?)));
        let promised = stuck.promise.as_ref();
        let span = promised.map(|p| p.span).or_else(|| claim.map(|(_, e)| e.span));
        let row = match stuck.candidates.first() {
            Some(c) => Some(c.row.clone()),
            None => path.rows.last().map(|r| product.concrete(r, &vec![0; self.machine().width()])),
        };
        let why = match (claim, &row) {
            (Some((_, e)), Some(row)) if stuck.obligation != "DLF" => {
                Explainer::new(self.machine(), Some(row), 0).predicate(e, false)
            }
            _ => vec![],
        };
        let label = claim.and_then(|(c, _)| c.label.clone());
        let name = match (promised, &label) {
            (Some(p), _) => Some(p.name()),
            (None, Some(label)) => Some(format!("{operation}/{label}/INV")),
            (None, None) => None,
        };
        let is_start = path.labels.is_empty();
        let first = usize::from(stuck.level + 1 < product.joint.levels.len()) + stuck.level;
        Broken {
            obligation: stuck.obligation,
            message: message(stuck, &operation, &level, &above, name.as_deref(), claim.is_some()),
            name,
            code: None,
            level,
            above,
            operation,
            parameters: vec![],
            place: span.and_then(|s| Place::of(&self.project.opened.sources, s)),
            trace: self.trace(path),
            before: if is_start { vec![] } else { self.above(&stuck.before, 1) },
            candidates: stuck.candidates.iter().map(|c| self.candidate(c, first)).collect(),
            has_more: stuck.candidates.len() >= 20,
            why,
        }
    }

    /// The variables of the levels from `first` on in some rows.
    fn above(&self, rows: &[Vec<u64>], first: usize) -> Vec<Vec<(String, String)>> {
        const MOST: usize = 20;
        let own = |l: &Level| l.variables.clone();
        let first = match self.product.joint.way {
            Way::Traces(level) => level..level + 1,
            Way::Pairs | Way::Sets => first..self.product.joint.levels.len(),
        };
        let mut shown_vars: Vec<_> = self.product.joint.levels[first].iter().flat_map(own).collect();
        shown_vars.sort_unstable();
        shown_vars.dedup();
        let model = self.model();
        let one = |row: &Vec<u64>| {
            let values = self.machine().variable_values(row);
            let pair = |v: &crate::model::VarId| {
                let d = &model.variables[v.index()];
                (d.name.to_string(), shown(&values[v.index()], &d.ty, model))
            };
            shown_vars.iter().map(pair).collect()
        };
        rows.iter().take(MOST).map(one).collect()
    }

    fn candidate(&self, c: &Candidate, first: usize) -> (Vec<(String, String)>, String) {
        let model = self.model();
        let values = self.above(std::slice::from_ref(&c.row), first).pop().unwrap_or_default();
        let why = match &c.reason {
            Reason::Results(label) => {
                let results = self.results(label);
                if results.is_empty() { "its results differ".into() } else { format!("it returns {results}") }
            }
            Reason::Shared(v, word) => {
                let d = &model.variables[v.index()];
                let slot = self.machine().const_slots() + v.index();
                let val = self.machine().table().decode(*word, &self.machine().slots[slot].rep);
                let value = self.machine().plain(slot, &val);
                let value = value.map_or_else(|| "another value".into(), |v| shown(&v, &d.ty, model));
                format!("`{}`, which both levels have, would be {value}", d.name)
            }
            Reason::Claim(i) => {
                let text = self.formula(*i).map(|e| self.project.opened.sources.text(e.span).to_string());
                let text = text.unwrap_or_default().split_whitespace().collect::<Vec<_>>().join(" ");
                match *i < model.invariant.len() {
                    true => format!("the invariant would be violated: `{text}`"),
                    false => format!("the assertion is false: `{text}`"),
                }
            }
            Reason::Promise(p) => format!("{} of {}: {}", p.name(), p.level, broken(p.kind)),
        };
        (values, why)
    }

    /// Results of an abstract step.
    fn results(&self, label: &Label) -> String {
        let (model, step) = (self.model(), self.machine().labelled(label));
        let Some(step) = step else { return String::new() };
        let locals = &model.operations[step.op.index()].results;
        let pairs = locals.iter().map(|l| model.local(*l)).zip(&step.results);
        let shown = pairs.map(|(d, v)| {
            let value = v.as_ref().map_or_else(|| "nothing".into(), |v| shown(v, &d.ty, model));
            format!("{} = {value}", d.name)
        });
        shown.collect::<Vec<_>>().join(", ")
    }
}

fn message(
    stuck: &Stuck,
    operation: &str,
    level: &str,
    above: &str,
    name: Option<&str>,
    has_claim: bool,
) -> String {
    let not = "is not simulated by this gluing invariant";
    match (stuck.obligation, name) {
        ("TRACE", _) => {
            format!(
                "not a trace refinement: `{operation}` of {level} is no step of {above} after the same trace"
            )
        }
        ("DLF", _) => format!("{level} can do nothing where {above} can go on"),
        ("ENA", _) => format!(
            "`{operation}` does nothing in {level} where it can be called and does something in {above}"
        ),
        ("THM", None) => format!(
            "`{operation}` leads to states of {level} and what it refines that are glued together, and in which an \
             assertion of {level} is false"
        ),
        ("INV", Some(name)) => format!("{name} of {level}: {}", broken("INV")),
        ("INV", None) => format!("`{operation}` violates the invariant of {level}"),
        (_, Some(name)) => format!("{name} of {level} {not}: {}", broken(stuck.obligation)),
        ("INI", None) => {
            format!("INITIALISATION of {level} {not}: no initial state of {above} is glued to it")
        }
        ("EQL", None) => format!(
            "`{operation}` of {level} {not}: {above} has no such operation, so that nothing that both have may change"
        ),
        (_, None) if stuck.has_no_step => {
            format!("`{operation}` of {level} {not}: it has no step with these parameters in {above}")
        }
        (_, None) if has_claim => {
            format!(
                "`{operation}` of {level} {not}: no step of {above} leads to a state that is glued to the new one"
            )
        }
        (_, None) => format!("`{operation}` of {level} {not}: no step of {above} matches"),
    }
}
