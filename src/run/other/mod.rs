//! Languages that are not B: which file is in one, and what may be asked of it.
//!
//! This is the one place where a command turns from B's pipeline to another system. [`Language::of`] tells by a file's
//! ending; [`open`] reads the file with what is to be asked of it and has a [`Model`]. A language adds its line to
//! [`Language`], its file beside this one, which makes a [`Loaded`] of any [`System`], and that is all: every
//! `Loaded` is a `Model`. What a language has no answer to is refused with its reason ([`Language::refuses`]).
//!
//! Absent on purpose: printing, arguments.

mod csp;
mod guided;
mod net;
pub mod xtl;

use super::compare::{Compared, Ran};
use super::simulate::{Findings, MAX_INITIAL, Simulated, Task, nothing, walks};
use super::system::{self, Refuted, check_until, ltl_until};
use super::{Deadline, why};
use crate::explore::{Counts, Finding, FindingKind, Options, Progress};
use crate::guided::Guided;
use crate::lang::diag::{Diagnostic, NOWHERE, SourceMap};
use crate::lang::files::{Disk, Files};
use crate::ltl;
use crate::model::open::{Opened, Refused};
use crate::model::scope::ScopeArgs;
use crate::net::NetSystem;
use crate::process::ProcessSystem;
use crate::symmetry::note::{Fixed, Permuted};
use crate::symmetry::{Action, Strategy};
use crate::system::{Label, Path, System, Transition, Visitor, initial_states};
use crate::temporal::parse::{Atom, Pattern, parse};
use crate::temporal::syntax::Formula;
use crate::trace::fault::fault_message;
use crate::value::fault::Fault;
use crate::verdict::{Decision, Verdict, Why};
use crate::xtl::XtlSystem;
use std::collections::HashMap;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Instant;

/// A language that is not B.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    /// Petri nets: PNML.
    Net,
    /// Processes: CSP-M.
    Csp,
    /// A B machine that a process guides.
    Guided,
    /// Languages of one's own: `start/1`, `trans/3` and `prop/2` in Prolog.
    Xtl,
}

/// What the program can be asked to do with a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Question {
    /// Does anything go wrong in a state?
    Check,
    /// Do formulas hold on all paths?
    Ltl,
    /// Do the strategies agree?
    Compare,
    /// What is the value of an expression?
    Eval,
    /// How does a state look to the strategies?
    Graph,
    /// Which states are there?
    Export,
    /// What do random walks meet?
    Simulate,
    /// Where do steps by hand lead?
    Animate,
}

impl Question {
    /// All of them.
    pub const ALL: [Question; 8] = [
        Question::Check,
        Question::Ltl,
        Question::Compare,
        Question::Eval,
        Question::Graph,
        Question::Export,
        Question::Simulate,
        Question::Animate,
    ];

    /// The command.
    pub fn name(self) -> &'static str {
        match self {
            Question::Check => "check",
            Question::Ltl => "ltl",
            Question::Compare => "compare",
            Question::Eval => "eval",
            Question::Graph => "graph",
            Question::Export => "export",
            Question::Simulate => "simulate",
            Question::Animate => "animate",
        }
    }
}

impl Language {
    /// All of them.
    pub const ALL: [Language; 4] = [Language::Net, Language::Csp, Language::Guided, Language::Xtl];

    /// That of a file, by its ending; none for B and Event-B, and for files of unknown endings.
    pub fn of(file: &std::path::Path) -> Option<Language> {
        let ending = file.extension()?.to_str()?.to_lowercase();
        Language::ALL.into_iter().find(|l| l.endings().contains(&&*ending))
    }

    /// As people call it.
    pub fn name(self) -> &'static str {
        match self {
            Language::Net => "PNML",
            Language::Csp => "CSP-M",
            Language::Guided => "B with CSP-M",
            Language::Xtl => "XTL",
        }
    }

    /// The endings of its files.
    pub fn endings(self) -> &'static [&'static str] {
        match self {
            Language::Net => &kanon_pnml::EXTENSIONS,
            Language::Csp => &kanon_csp::EXTENSIONS,
            Language::Guided => &[],
            Language::Xtl => &["p"],
        }
    }

    /// Why something cannot be asked of it, if it cannot.
    pub fn refuses(self, question: Question) -> Option<&'static str> {
        match (self, question) {
            (Language::Net, Question::Graph) => Some(
                "`graph` draws how the values of a state hang together, and a marking has numbers only: `export --dot` \
                 draws the markings that are reached",
            ),
            (Language::Csp, Question::Graph) => Some(
                "`graph` draws how the values of a state hang together, and a state of CSP-M is a process: \
                 `export --dot` draws the processes that are reached",
            ),
            (Language::Guided, Question::Graph) => Some(
                "`graph` draws how the values of a state hang together, and a state here is one of a process, too: \
                 `export --dot` draws the states that are reached; leave out `--csp` for the machine alone",
            ),
            (Language::Guided, Question::Eval) => {
                Some("`eval` asks in the initial state, which no process changes: leave out `--csp`")
            }
            (Language::Csp, Question::Compare) => Some(
                "`compare` compares strategies of symmetry, and none is used for CSP-M: data are values that a \
                 script may compare and count",
            ),
            (Language::Xtl, Question::Graph) => Some(
                "`graph` draws how the values of a state hang together, and a state of XTL is a term whose meaning \
                 only its program knows: `export --dot` draws the states that are reached",
            ),
            (Language::Xtl, Question::Compare) => Some(
                "`compare` compares strategies of symmetry, and none is used for XTL: a program may tell any term \
                 from any other",
            ),
            _ => None,
        }
    }
}

/// What is to be asked of a model. It is known before the model is opened, since it may restrict the symmetry.
#[derive(Clone, Debug, Default)]
pub struct Asked {
    /// A state that is looked for.
    pub goal: Option<String>,
    /// Temporal formulas, with what they are called.
    pub formulas: Vec<(String, String)>,
    /// Which process of a script; `MAIN` unless somebody says otherwise.
    pub process: Option<String>,
    /// The script that guides a machine, for [`Language::Guided`].
    pub guide: Option<Guide>,
    /// Programs may run: only the user says so.
    pub run_programs: bool,
}

/// What is guided, and how large it is.
#[derive(Clone, Debug, Default)]
pub struct Guide {
    /// The script.
    pub script: std::path::PathBuf,
    /// The sizes of the machine.
    pub scope: ScopeArgs,
    /// Valuations of its constants that are taken at most.
    pub max_constants: Option<usize>,
}

impl Asked {
    /// The texts in braces of all formulas that can be read, each once. What cannot is found out when it is asked.
    fn atoms(&self) -> Vec<String> {
        let mut found: Vec<String> = vec![];
        for (name, text) in &self.formulas {
            let Ok((_, parsed)) = parse(&mut SourceMap::default(), name, text) else { continue };
            let mut note = |a: &Atom| {
                if let Atom::Predicate(text) = a {
                    let text = text.text.trim().to_string();
                    if !found.contains(&text) {
                        found.push(text);
                    }
                }
                Ok::<Formula<()>, ()>(Formula::Atom(()))
            };
            let _ = parsed.formula.try_map(&mut note);
        }
        found
    }

    /// The steps that all formulas speak of, as they are written, each once.
    fn steps(&self) -> Vec<String> {
        let mut found: Vec<String> = vec![];
        for (name, text) in &self.formulas {
            let Ok((_, parsed)) = parse(&mut SourceMap::default(), name, text) else { continue };
            let mut note = |p: &Pattern| {
                let written = text.get(p.span.lo as usize..p.span.hi as usize).unwrap_or_default().trim();
                if p.operation.is_some() && !found.iter().any(|f| f == written) {
                    found.push(written.to_string());
                }
                Ok::<u32, ()>(0)
            };
            if let Some(premise) = &parsed.premise {
                let _ = premise.try_map(&mut note);
            }
            let mut atom = |a: &Atom| {
                if let Atom::Step(p) | Atom::Enabled(p) = a {
                    note(p)?;
                }
                Ok::<Formula<()>, ()>(Formula::Atom(()))
            };
            let _ = parsed.formula.try_map(&mut atom);
        }
        found
    }
}

/// What a model is, for people.
#[derive(Clone, Debug)]
pub struct About {
    /// Its language.
    pub language: Language,
    /// Its name.
    pub name: String,
    /// What is permuted.
    pub permuted: Vec<Permuted>,
    /// What is not, and why.
    pub fixed: Vec<Fixed>,
    /// What else should be known.
    pub notes: Vec<String>,
}

/// A state on a way, and what led to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// The transition; none for an initial state.
    pub by: Option<String>,
    /// Names and values.
    pub state: Vec<(String, String)>,
}

/// What `check` has to say.
#[derive(Clone, Debug)]
pub struct Checked {
    /// The verdict.
    pub verdict: Decision,
    /// What was found, or why there is no answer.
    pub reason: Option<String>,
    /// The kind of what was found.
    pub finding: Option<&'static str>,
    /// States, transitions, findings.
    pub counts: Counts,
    /// Transitions by name.
    pub operations: Vec<(String, u64)>,
    /// All was explored.
    pub complete: bool,
    /// How states were recognised.
    pub strategy: Strategy,
    /// The states that flooding put into the visited set.
    pub flooded: Option<u64>,
    /// States that were kept as they are, so that an orbit may have several.
    pub kept: u64,
    /// The way to what was found.
    pub trace: Option<Vec<Step>>,
    /// Of the store.
    pub bytes: usize,
    /// Of the exploration.
    pub seconds: f64,
}

/// What a formula's answer is.
#[derive(Clone, Debug)]
pub struct Answered {
    /// The verdict.
    pub verdict: Decision,
    /// Why there is no answer.
    pub reason: Option<String>,
    /// A path that does not fulfil it; with a number the last state is that one again, otherwise it is a deadlock.
    pub finding: Option<(Vec<Step>, Option<usize>)>,
    /// The path ends where a run may end, which is no deadlock.
    pub is_over: bool,
    /// Whether symmetric states were taken for one.
    pub strategy: Strategy,
    /// What the search did.
    pub counts: ltl::Counts,
    /// How long it took.
    pub seconds: f64,
}

/// One of the states that are drawn.
#[derive(Clone, Debug)]
pub struct Drawn {
    /// Names and values.
    pub state: Vec<(String, String)>,
    /// It is an initial one.
    pub initial: bool,
    /// Nothing can happen, and something should.
    pub deadlock: bool,
    /// It was not expanded, or not in full.
    pub open: bool,
}

impl Drawn {
    /// A line for each name.
    pub fn text(&self) -> String {
        let lines: Vec<String> = self.state.iter().map(|(n, v)| format!("{n} = {v}")).collect();
        lines.join("\n")
    }
}

/// States and what leads from one to another.
#[derive(Clone, Debug, Default)]
pub struct States {
    /// The states.
    pub nodes: Vec<Drawn>,
    /// From, to, and what leads there.
    pub edges: Vec<(usize, usize, Vec<String>)>,
    /// There are more.
    pub more: bool,
}

/// What `eval` has to say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reply {
    /// Of a condition.
    Truth(bool),
    /// Of an expression.
    Value(String),
}

/// What random walks have to say.
#[derive(Clone, Debug)]
pub struct Strolled {
    /// Verdict, and what the walks were like.
    pub walked: Simulated,
    /// The kind of what was found, and the way to it.
    pub finding: Option<(&'static str, Vec<Step>)>,
}

/// A system, by its language.
pub enum Systems {
    /// A net.
    Net(Box<NetSystem>),
    /// A process.
    Process(Box<ProcessSystem>),
    /// A machine and a process.
    Guided(Box<Guided>),
    /// A program.
    Xtl(Box<XtlSystem>),
}

impl From<NetSystem> for Systems {
    fn from(system: NetSystem) -> Systems {
        Systems::Net(Box::new(system))
    }
}

impl From<ProcessSystem> for Systems {
    fn from(system: ProcessSystem) -> Systems {
        Systems::Process(Box::new(system))
    }
}

impl From<Guided> for Systems {
    fn from(system: Guided) -> Systems {
        Systems::Guided(Box::new(system))
    }
}

impl From<XtlSystem> for Systems {
    fn from(system: XtlSystem) -> Systems {
        Systems::Xtl(Box::new(system))
    }
}

/// A file in a language that is not B, read and ready.
pub trait Model {
    /// What it is.
    fn about(&self) -> &About;

    /// Looks at every state.
    ///
    /// # Errors
    /// Options that do not go together, or with this language.
    fn check(
        &self,
        options: &Options,
        deadline: &Deadline,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<Checked, String>;

    /// Whether a formula holds on all paths.
    ///
    /// # Errors
    /// What is wrong with the formula.
    fn ltl(
        &self,
        formula: &(String, String),
        options: &Options,
        deadline: &Deadline,
    ) -> Result<Answered, Refused>;

    /// The first states, breadth first.
    ///
    /// # Errors
    /// Options that do not go together.
    fn states(&self, most: usize, deadline: &Deadline) -> Result<States, String>;

    /// Random walks.
    ///
    /// # Errors
    /// No state to begin in.
    fn simulate(&self, task: &Task, deadline: &Deadline) -> Result<Strolled, String>;

    /// The system itself, for somebody who steps through it.
    fn into_system(self: Box<Self>) -> Systems;

    /// The value of an expression or a condition in the initial state.
    ///
    /// # Errors
    /// What is wrong with it.
    fn eval(&self, text: &str) -> Result<Reply, Refused>;
}

/// Evaluates a text in the initial state.
type Evaluate = Box<dyn Fn(&mut SourceMap, &str) -> Result<Reply, Diagnostic>>;

/// Any system that a file defines.
struct Loaded<S> {
    about: About,
    system: S,
    /// None where the language has no symmetry at all.
    action: Option<Arc<dyn Action>>,
    /// Only one thread can explore it.
    alone: bool,
    /// So many states are looked at unless somebody says otherwise.
    most: Option<usize>,
    /// The texts that findings are in, and what is in them.
    opened: Opened,
    evaluate: Evaluate,
}

/// Opens a file.
///
/// # Errors
/// What is wrong with it, or with what is asked of it.
pub fn open(
    file: &std::path::Path,
    language: Language,
    asked: &Asked,
    deadline: &Deadline,
) -> Result<Box<dyn Model>, Refused> {
    open_from(Arc::new(Disk), file, language, asked, deadline).map(|(model, _)| model)
}

/// Opens a file, and whatever it refers to, among those that may be read; with the model come the texts that were.
///
/// # Errors
/// What is wrong with it, or with what is asked of it.
pub fn open_from(
    files: Arc<dyn Files>,
    file: &std::path::Path,
    language: Language,
    asked: &Asked,
    deadline: &Deadline,
) -> Result<(Box<dyn Model>, SourceMap), Refused> {
    let mut sources = SourceMap::over(files.clone());
    let opened = match language {
        Language::Net => net::open(&mut sources, file, asked, deadline).map_err(|d| vec![d]),
        Language::Csp => csp::open(&mut sources, file, asked, deadline),
        Language::Guided => return guided::open(files, file, asked, deadline),
        Language::Xtl => xtl::open(&mut sources, file, asked, deadline),
    };
    match opened {
        Ok(model) => Ok((model, sources)),
        Err(diagnostics) => Err(Refused { sources, diagnostics }),
    }
}

/// All strategies that there are for a model, each once; `None` from `begin` ends it early.
///
/// # Errors
/// Options that do not go together.
pub fn compare(
    model: &dyn Model,
    options: &Options,
    begin: &mut dyn FnMut(&Compared, Strategy) -> Option<Deadline>,
    progress: &mut dyn FnMut(Progress),
) -> Result<Compared, String> {
    let about = model.about();
    let mut compared = Compared {
        machine: about.name.clone(),
        permuted: about.permuted.clone(),
        fixed: about.fixed.clone(),
        scope: serde_json::Value::Null,
        runs: vec![],
    };
    // Markers are B's.
    let exact = Strategy::ALL.into_iter().filter(|s| s.is_exact());
    for strategy in exact.filter(|s| *s != Strategy::Nauty || cfg!(feature = "nauty")) {
        let Some(deadline) = begin(&compared, strategy) else { break };
        let c = model.check(&Options { symmetry: strategy, ..options.clone() }, &deadline, progress)?;
        deadline.settle();
        compared.runs.push(ran(strategy, &c, !about.permuted.is_empty()));
        if deadline.why() == Some(Why::Interrupted) {
            break;
        }
    }
    Ok(compared)
}

fn ran(strategy: Strategy, c: &Checked, has_symmetry: bool) -> Ran {
    let n = &c.counts;
    Ran {
        strategy,
        verdict: c.verdict,
        found: c.finding,
        reason: c.reason.clone(),
        finished: c.complete,
        states: n.states as u64,
        transitions: n.transitions,
        constants: 0,
        initialisations: n.initialisations,
        deadlocks: n.deadlocks,
        violations: n.violations,
        assertion_failures: n.assertion_failures,
        goals: n.goals,
        wd_errors: n.wd_errors,
        flooded: c.flooded,
        reduces: has_symmetry && strategy != Strategy::Off,
        kept: c.kept,
        seconds: c.seconds,
        bytes: c.bytes,
    }
}

impl<S: System> Loaded<S> {
    fn steps(&self, path: &Path) -> Vec<Step> {
        let by =
            |i: usize| i.checked_sub(1).and_then(|i| path.labels.get(i)).map(|l| self.system.show_label(l));
        let step = |(i, row): (usize, &Vec<u64>)| Step { by: by(i), state: self.system.show_state(row) };
        path.rows.iter().enumerate().map(step).collect()
    }

    /// What was found, in words.
    fn told(&self, finding: &Finding) -> String {
        match &finding.kind {
            FindingKind::WellDefinedness { fault, operation } => {
                let (_, message) = fault_message(fault);
                let at = match self.opened.sources.get(fault.span().file) {
                    Some(_) if fault.span() != NOWHERE => {
                        format!(" at {}", self.opened.sources.place(fault.span()))
                    }
                    _ => String::new(),
                };
                let by = operation.and_then(|o| self.system.operations().get(o));
                let by = by.map_or(String::new(), |o| format!(" in `{}`", o.name));
                format!("{message}{by}{at}")
            }
            _ => system::name(&self.system, finding),
        }
    }

    /// The answer to a formula.
    fn answered(
        &self,
        verdict: Verdict<Refuted>,
        counts: ltl::Counts,
        strategy: Strategy,
        begin: Instant,
    ) -> Answered {
        let (reason, finding, is_over) = match &verdict {
            Verdict::Holds(_) => (None, None, false),
            Verdict::Unknown(why) => (Some(why::text(why, &self.opened)), None, false),
            Verdict::Fails(r) => {
                let is_over = r.path.rows.last().is_some_and(|row| self.system.is_over(row));
                (None, Some((self.steps(&r.path), r.back)), is_over && r.back.is_none())
            }
        };
        let seconds = begin.elapsed().as_secs_f64();
        Answered { verdict: verdict.word(), reason, finding, is_over, strategy, counts, seconds }
    }

    /// The options as this language can have them: nothing to permute by is no mistake, unless it is asked for.
    fn options(&self, options: &Options) -> Result<Options, String> {
        let mut options = options.clone();
        if self.action.is_none() {
            if !matches!(options.symmetry, Strategy::Auto | Strategy::Off) {
                let language = self.about.language.name();
                return Err(format!("no symmetry is known of {language}: leave out `--symmetry`"));
            }
            options.symmetry = Strategy::Off;
        }
        options.max_states = options.max_states.or(self.most);
        if self.alone {
            if options.threads.is_some_and(|n| n > 1) {
                let language = self.about.language.name();
                return Err(format!("{language} is explored in one thread: leave out `--threads`"));
            }
            options.threads = Some(1);
        }
        Ok(options)
    }
}

impl<S: System + Into<Systems>> Model for Loaded<S> {
    fn about(&self) -> &About {
        &self.about
    }

    fn check(
        &self,
        options: &Options,
        deadline: &Deadline,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<Checked, String> {
        let options = self.options(options)?;
        let begin = Instant::now();
        let answer = check_until(&self.system, self.action.as_ref(), &options, &deadline.flag, progress);
        let answer = answer.map_err(|why| why.to_string())?;
        let verdict = deadline.explain(answer.verdict);
        let (reason, finding) = match &verdict {
            Verdict::Holds(_) => (None, None),
            Verdict::Fails(f) => (Some(self.told(f)), Some(f.kind.name())),
            Verdict::Unknown(why) => (Some(why::text(why, &self.opened)), None),
        };
        let operations = self.system.operations().iter().zip(&answer.counts.operations);
        let reduction = answer.explored.reduction.as_ref();
        Ok(Checked {
            verdict: verdict.word(),
            reason,
            finding,
            operations: operations.map(|(o, n)| (o.name.to_string(), *n)).collect(),
            complete: answer.explored.is_complete,
            // With nothing to permute it was off, and what was asked for says that somebody wants to know why.
            strategy: reduction
                .map(|r| r.strategy)
                .filter(|s| *s != Strategy::Off)
                .unwrap_or(options.symmetry),
            flooded: reduction.and_then(|r| r.effort.flooded).map(|n| n as u64),
            kept: reduction.map_or(0, |r| r.effort.stats.kept),
            trace: answer.path.as_ref().map(|p| self.steps(p)),
            bytes: answer.explored.store.bytes(),
            counts: answer.counts,
            seconds: begin.elapsed().as_secs_f64(),
        })
    }

    fn ltl(
        &self,
        formula: &(String, String),
        options: &Options,
        deadline: &Deadline,
    ) -> Result<Answered, Refused> {
        let refuse = |d: Diagnostic| {
            // The places of a message are those of the formula, which is the first text of its reader.
            let mut sources = SourceMap::default();
            sources.add(&*formula.0, &*formula.1);
            Refused { sources, diagnostics: vec![d] }
        };
        let wrong = |why: String| refuse(Diagnostic::error("L0403", Default::default(), why));
        let options = self.options(options).map_err(wrong)?;
        let begin = Instant::now();
        let asked = ltl_until(&self.system, self.action.as_ref(), &formula.1, &options, &deadline.flag);
        let (verdict, counts) = asked.map_err(refuse)?;
        let is_reduced = self.action.as_ref().is_some_and(|a| !a.group().is_trivial());
        let strategy = if is_reduced { options.symmetry } else { Strategy::Off };
        Ok(self.answered(deadline.explain(verdict), counts, strategy, begin))
    }

    fn states(&self, most: usize, deadline: &Deadline) -> Result<States, String> {
        struct Edges<'a, S> {
            system: &'a S,
            found: Vec<(Vec<u64>, Label)>,
            faults: usize,
        }
        impl<S: System> Visitor<S::Here> for Edges<'_, S> {
            fn transition(&mut self, t: Transition<S::Here>) -> ControlFlow<()> {
                self.found.push((t.target.to_vec(), self.system.label(t.operation, t.here)));
                ControlFlow::Continue(())
            }
            fn fault(&mut self, _: usize, _: Box<Fault>) -> ControlFlow<()> {
                self.faults += 1;
                ControlFlow::Continue(())
            }
        }
        let options = Options {
            max_states: Some(most),
            invariant: false,
            deadlock: false,
            assertions: false,
            goal: false,
            all: true,
            ..Options::default()
        };
        let answer = check_until(&self.system, None, &options, &deadline.flag, &mut |_| {});
        let answer = answer.map_err(|why| why.to_string())?;
        let store = &answer.explored.store;
        let mut worker = self.system.worker(&deadline.flag);
        let mut all = States { more: !answer.explored.is_complete, ..States::default() };
        for id in 0..store.len() as u32 {
            let row = store.row(id);
            let mut edges = Edges { system: &self.system, found: vec![], faults: 0 };
            let _ = self.system.successors(&mut worker, &row, &mut edges);
            let mut by_target: Vec<(usize, Vec<String>)> = vec![];
            let mut at: HashMap<usize, usize> = HashMap::new();
            let mut is_open = edges.faults > 0;
            for (target, label) in &edges.found {
                let Some(to) = store.find(target).map(|to| to as usize) else {
                    is_open = true;
                    continue;
                };
                let place = *at.entry(to).or_insert_with(|| {
                    by_target.push((to, vec![]));
                    by_target.len() - 1
                });
                by_target[place].1.push(self.system.show_label(label));
            }
            all.nodes.push(Drawn {
                state: self.system.show_state(&row),
                initial: store.parent(id).is_none(),
                deadlock: edges.found.is_empty() && edges.faults == 0 && !self.system.is_over(&row),
                open: is_open,
            });
            all.edges.extend(by_target.into_iter().map(|(to, labels)| (id as usize, to, labels)));
            all.more |= is_open;
        }
        Ok(all)
    }

    fn simulate(&self, task: &Task, deadline: &Deadline) -> Result<Strolled, String> {
        let begin = Instant::now();
        let mut task = task.clone();
        if self.alone {
            if task.options.threads.is_some_and(|n| n > 1) {
                let language = self.about.language.name();
                return Err(format!("{language} is explored in one thread: leave out `--threads`"));
            }
            task.options.threads = Some(1);
        }
        let mut worker = self.system.worker(&deadline.flag);
        let mut first: Vec<Vec<u64>> = vec![];
        let initial = initial_states(&self.system, &mut worker, &mut |_, row| {
            first.push(row.to_vec());
            if first.len() < MAX_INITIAL { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        });
        let over = || deadline.why().map(|why| why::text(&why, &self.opened));
        let mut strolled = Strolled { walked: Simulated::default(), finding: None };
        if first.is_empty() {
            let fault = initial.fault.map(|f| fault_message(&f).1);
            let why = over().or(fault).ok_or("there is no initial state")?;
            (strolled.walked.verdict, strolled.walked.reason) = (Some(Decision::Unknown), Some(why));
            return Ok(strolled);
        }
        let Findings { answer, found } = walks(&self.system, &first, &task, &deadline.flag);
        strolled.walked = answer;
        if first.len() == MAX_INITIAL {
            let note = format!("walks begin in the first {MAX_INITIAL} initial states only");
            strolled.walked.notes.push(note);
        }
        strolled.walked.notes.extend(self.about.notes.clone());
        let (verdict, reason) = match found {
            Some((kind, path)) => {
                strolled.finding = Some((kind.name(), self.steps(&path)));
                let finding = Finding { kind, state: None, start: 0 };
                (Decision::Fails, self.told(&finding))
            }
            None => (Decision::Unknown, nothing(strolled.walked.walks, over())),
        };
        (strolled.walked.verdict, strolled.walked.reason) = (Some(verdict), Some(reason));
        strolled.walked.seconds = begin.elapsed().as_secs_f64();
        Ok(strolled)
    }

    fn into_system(self: Box<Self>) -> Systems {
        self.system.into()
    }

    fn eval(&self, text: &str) -> Result<Reply, Refused> {
        let mut sources = SourceMap::default();
        (self.evaluate)(&mut sources, text).map_err(|d| Refused { sources, diagnostics: vec![d] })
    }
}
