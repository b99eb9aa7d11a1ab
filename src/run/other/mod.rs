//! Languages that are not B: which file is in one, and what may be asked of it.
//!
//! This is the one place where a command turns from B's pipeline to another system. [`Language::of`] tells by a file's
//! ending; [`open`] reads the file with what is to be asked of it and has a [`Model`]. A language adds its line to
//! [`Language`], its file beside this one, which makes a [`Loaded`] of any [`System`], and that is all: every
//! `Loaded` is a `Model`. What a language has no answer to is refused with its reason ([`Language::refuses`]).
//!
//! Absent on purpose: printing, arguments.

mod csp;
mod net;

use super::compare::{Compared, Ran};
use super::system::{self, check_until, ltl_until};
use super::{Deadline, why};
use crate::explore::{Counts, Options, Progress};
use crate::lang::diag::{Diagnostic, SourceMap};
use crate::ltl;
use crate::model::open::Refused;
use crate::symmetry::note::{Fixed, Permuted};
use crate::symmetry::{Action, Strategy};
use crate::system::{Label, Path, System, Transition, Visitor};
use crate::temporal::parse::{Atom, Pattern, parse};
use crate::temporal::syntax::Formula;
use crate::value::fault::Fault;
use crate::verdict::{Decision, Verdict, Why};
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
}

impl Question {
    /// All of them.
    pub const ALL: [Question; 6] = [
        Question::Check,
        Question::Ltl,
        Question::Compare,
        Question::Eval,
        Question::Graph,
        Question::Export,
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
        }
    }
}

impl Language {
    /// All of them.
    pub const ALL: [Language; 2] = [Language::Net, Language::Csp];

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
        }
    }

    /// The endings of its files.
    pub fn endings(self) -> &'static [&'static str] {
        match self {
            Language::Net => &kanon_pnml::EXTENSIONS,
            Language::Csp => &kanon_csp::EXTENSIONS,
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
            (Language::Csp, Question::Compare) => Some(
                "`compare` compares strategies of symmetry, and none is used for CSP-M: data are values that a \
                 script may compare and count",
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
    /// Whether symmetric states were taken for one.
    pub strategy: Strategy,
    /// What the search did.
    pub counts: ltl::Counts,
    /// How long it took.
    pub seconds: f64,
}

/// States and what leads from one to another.
#[derive(Clone, Debug, Default)]
pub struct States {
    /// Each as text, and whether it is an initial one, a deadlock, and not expanded.
    pub nodes: Vec<(String, bool, bool, bool)>,
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
    let mut sources = SourceMap::default();
    let opened = match language {
        Language::Net => net::open(&mut sources, file, asked, deadline).map_err(|d| vec![d]),
        Language::Csp => csp::open(&mut sources, file, asked, deadline),
    };
    opened.map_err(|diagnostics| Refused { sources, diagnostics })
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

fn reason(why: &Why) -> String {
    why::text(why, &Default::default())
}

impl<S: System> Loaded<S> {
    fn steps(&self, path: &Path) -> Vec<Step> {
        let by =
            |i: usize| i.checked_sub(1).and_then(|i| path.labels.get(i)).map(|l| self.system.show_label(l));
        let step = |(i, row): (usize, &Vec<u64>)| Step { by: by(i), state: self.system.show_state(row) };
        path.rows.iter().enumerate().map(step).collect()
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

impl<S: System> Model for Loaded<S> {
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
            Verdict::Fails(f) => (Some(system::name(&self.system, f)), Some(f.kind.name())),
            Verdict::Unknown(why) => (Some(reason(why)), None),
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
        let verdict = deadline.explain(verdict);
        let is_reduced = self.action.as_ref().is_some_and(|a| !a.group().is_trivial());
        Ok(Answered {
            verdict: verdict.word(),
            reason: if let Verdict::Unknown(why) = &verdict { Some(reason(why)) } else { None },
            finding: if let Verdict::Fails(r) = &verdict {
                Some((self.steps(&r.path), r.back))
            } else {
                None
            },
            strategy: if is_reduced { options.symmetry } else { Strategy::Off },
            counts,
            seconds: begin.elapsed().as_secs_f64(),
        })
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
            let text = self.system.show_state(&row).into_iter().map(|(n, v)| format!("{n} = {v}"));
            let text = text.collect::<Vec<_>>().join("\n");
            let is_deadlock = edges.found.is_empty() && edges.faults == 0 && !self.system.is_over(&row);
            all.nodes.push((text, store.parent(id).is_none(), is_deadlock, is_open));
            all.edges.extend(by_target.into_iter().map(|(to, labels)| (id as usize, to, labels)));
            all.more |= is_open;
        }
        Ok(all)
    }

    fn eval(&self, text: &str) -> Result<Reply, Refused> {
        let mut sources = SourceMap::default();
        (self.evaluate)(&mut sources, text).map_err(|d| Refused { sources, diagnostics: vec![d] })
    }
}
