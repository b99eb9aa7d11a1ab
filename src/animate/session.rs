//! A walk through a B machine.

use super::walk::{Choice, Choices, From, Judged, Limits, Sought, Walk};
use crate::lang::ast;
use crate::lang::diag::{Diagnostic, SourceMap, Span};
use crate::lang::files::{Disk, Files};
use crate::lang::languages::parse_expr;
use crate::model::check::{Want, check_expr};
use crate::model::open::Refused;
use crate::model::scope::ScopeArgs;
use crate::model::{Expr, Model, reading};
use crate::run::answer::Place as Text;
use crate::run::{Deadline, Project};
use crate::system::{Machine, Role, Stop, System};
use crate::trace::ask::Ask;
use crate::trace::explain::{Disabled, Explainer, Part};
use crate::trace::export::{self, Format, Shown};
use crate::trace::question::{self, Reply};
use crate::trace::replay::{self, Recorded, position};
use crate::trace::values::Reader;
use crate::trace::{Step, Trace, params, results, shown};
use crate::value::fault::Fault;
use serde_json::Value as Json;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A B machine that is explored by hand. See [`super`].
pub struct Session {
    project: Project,
    files: Arc<dyn Files>,
    file: PathBuf,
    scope: ScopeArgs,
    walk: Walk<Machine>,
    /// The model with names for the elements of deferred sets, for questions.
    named: Model,
    watched: Vec<(String, ast::Expr)>,
    /// What the search for constants has to say.
    warnings: Vec<Diagnostic>,
    fault: Option<Box<Fault>>,
}

/// A constant or a variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Value {
    /// Its name.
    pub name: String,
    /// Its value, as B text.
    pub value: String,
    /// Its value before the last step, if that was another one.
    pub before: Option<String>,
    /// Constants do not change.
    pub is_constant: bool,
}

/// A step that can be taken, by names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// Its place among the choices.
    pub choice: usize,
    /// The operation, or `INITIALISATION`.
    pub operation: String,
    /// Names and values of parameters; symbolic ones are left out.
    pub parameters: Vec<(String, String)>,
    /// Names and values of results.
    pub results: Vec<(String, String)>,
    /// What it changes: names and new values.
    pub changes: Vec<(String, String)>,
}

/// An operation of the machine in the present state.
#[derive(Clone, Debug, Default)]
pub struct Operation {
    /// Its name.
    pub name: String,
    /// The names of its parameters.
    pub parameters: Vec<String>,
    /// The steps that it offers; with none of them it is not enabled.
    pub calls: Vec<Call>,
    /// What has no value for some parameters.
    pub faults: Vec<Diagnostic>,
    /// Where it stands in the text.
    pub text: Option<Text>,
}

/// A conjunct of the invariant, an assertion or the goal, in the present state.
#[derive(Clone, Debug)]
pub struct Conjunct {
    /// Its place in the system's list of checks, and its truth.
    pub judged: Judged,
    /// Where it stands in the text.
    pub text: Option<Text>,
}

/// A watched expression in the present state.
#[derive(Clone, Debug)]
pub struct Watched {
    /// As it was written.
    pub text: String,
    /// Its value, or why it has none.
    pub reply: Result<Reply, Vec<Diagnostic>>,
}

/// How far a trace could be followed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loaded {
    /// States on the way, the initial one included. The walk is in the last of them.
    pub steps: usize,
    /// How many there are in the trace.
    pub of: usize,
    /// What is wrong with the next one.
    pub failure: Option<String>,
}

/// An explanation as a tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tree {
    /// What is told.
    pub part: Part,
    /// What stands below it.
    pub below: Vec<Tree>,
}

/// The parts of an explanation as a tree, by their depths.
pub fn tree(parts: &[Part]) -> Vec<Tree> {
    let mut all = vec![];
    let mut rest = parts;
    while let Some((part, after)) = rest.split_first() {
        let inside = after.iter().take_while(|p| p.depth > part.depth).count();
        all.push(Tree { part: part.clone(), below: tree(&after[..inside]) });
        rest = &after[inside..];
    }
    all
}

impl Session {
    /// Reads a machine and solves its constants. The walk is before its first state.
    ///
    /// # Errors
    /// What is wrong with the model.
    pub fn open(file: &Path, scope: &ScopeArgs, deadline: &Deadline) -> Result<Session, Refused> {
        Session::open_from(Arc::new(Disk), file, scope, deadline)
    }

    /// The same with files from elsewhere than the disk, or with some of its files only.
    ///
    /// # Errors
    /// What is wrong with the model.
    pub fn open_from(
        files: Arc<dyn Files>,
        file: &Path,
        scope: &ScopeArgs,
        deadline: &Deadline,
    ) -> Result<Session, Refused> {
        let project = Project::open_from(files.clone(), file, scope)?;
        let solved = project.solve_first(deadline).map(|solved| (solved.machine, solved.setup));
        let (machine, setup) = match solved {
            Ok(solved) => solved,
            Err(diagnostics) => return Err(project.refuse(diagnostics)),
        };
        let mut warnings = vec![];
        if let Some(fault) = &setup.fault {
            warnings.push(crate::trace::fault::fault_diagnostic(fault));
        }
        let (named, fault) = (question::named(&machine), setup.fault);
        let (file, scope) = (file.to_path_buf(), scope.clone());
        Ok(Session {
            project,
            files,
            file,
            scope,
            walk: Walk::new(machine),
            named,
            watched: vec![],
            warnings,
            fault,
        })
    }

    /// The same machine read again from its files, as far as possible in the same state: it goes the way that this
    /// session went, and says where that is not possible any more.
    ///
    /// # Errors
    /// What is wrong with the model now.
    pub fn reopened(&self, deadline: &Deadline) -> Result<(Session, Loaded), Refused> {
        let mut session = Session::open_from(self.files.clone(), &self.file, &self.scope, deadline)?;
        let read = export::parse(&self.save(Format::Kanon).to_string());
        let loaded = match read {
            Ok(read) => {
                session.take(&read.recorded(session.model(), &session.project.opened.scope), &deadline.flag)
            }
            Err(why) => Loaded { steps: 0, of: 0, failure: Some(why) },
        };
        for (text, _) in &self.watched {
            // What the model does not have any more is not watched any more.
            let _ = session.watch(text);
        }
        Ok((session, loaded))
    }

    /// The walk itself.
    pub fn walk(&self) -> &Walk<Machine> {
        &self.walk
    }

    /// The walk itself, to take steps.
    pub fn walk_mut(&mut self) -> &mut Walk<Machine> {
        &mut self.walk
    }

    /// The machine.
    pub fn machine(&self) -> &Arc<Machine> {
        self.walk.system()
    }

    /// The typed model.
    pub fn model(&self) -> &Model {
        &self.walk.system().model
    }

    /// The model with names for the elements of deferred sets.
    pub(super) fn named(&self) -> &Model {
        &self.named
    }

    /// The project: texts, definitions, scope.
    pub fn project(&self) -> &Project {
        &self.project
    }

    /// The file that was opened.
    pub fn file(&self) -> &Path {
        &self.file
    }

    /// Where files come from.
    pub(super) fn files(&self) -> &Arc<dyn Files> {
        &self.files
    }

    /// The sizes that were asked for.
    pub fn scope(&self) -> &ScopeArgs {
        &self.scope
    }

    /// The texts that diagnostics of the model point into.
    pub fn sources(&self) -> &SourceMap {
        &self.project.opened.sources
    }

    /// Warnings about the model, and what went wrong when its constants were solved.
    pub fn warnings(&self) -> impl Iterator<Item = &Diagnostic> {
        self.project.opened.warnings.iter().chain(&self.warnings)
    }

    /// What went wrong when the constants were solved, if anything did.
    pub fn fault(&self) -> Option<&Fault> {
        self.fault.as_deref()
    }

    // ---- the state ------------------------------------------------------------------------------------------

    /// Constants, then variables. Before the first state there are none.
    pub fn state(&self) -> Vec<Value> {
        let Some(row) = self.walk.row() else { return vec![] };
        let (machine, model) = (self.machine(), self.model());
        let constants = machine.constant_values(machine.start_of(row));
        let constants = model.constants.iter().zip(constants).map(|(d, v)| Value {
            name: d.name.to_string(),
            value: v.map_or_else(|| "(symbolic)".into(), |v| shown(&v, &d.ty, model)),
            before: None,
            is_constant: true,
        });
        let variables = self.walk.state().into_iter();
        let variables =
            variables.map(|(name, value, before)| Value { name, value, before, is_constant: false });
        constants.chain(variables).collect()
    }

    /// The choices by name.
    pub fn calls(&self, choices: &Choices) -> Vec<Call> {
        let model = self.model();
        let before = self.walk.row().map(|row| self.machine().variable_values(row));
        let call = |(choice, c): (usize, &Choice)| {
            let step = self.step_of(c);
            let owned =
                |pairs: Vec<(&str, String)>| pairs.into_iter().map(|(n, v)| (n.to_string(), v)).collect();
            let changes = match &before {
                Some(before) => crate::trace::changed(before, &step.state, model),
                None => crate::trace::variables(&step.state, model),
            };
            Call {
                choice,
                operation: step.name(model).to_string(),
                parameters: owned(params(&step, model)),
                results: owned(results(&step, model)),
                changes: owned(changes),
            }
        };
        choices.all.iter().enumerate().map(call).collect()
    }

    /// A choice as a step of plain values.
    pub fn step_of(&self, choice: &Choice) -> Step {
        match &choice.label {
            Some(label) => Step::of(self.machine(), label, &choice.row),
            None => Step::initial(self.machine(), &choice.row),
        }
    }

    /// Every operation of the machine, enabled or not. Before the first state there is INITIALISATION alone.
    pub fn operations(&mut self, stop: &Stop) -> Vec<Operation> {
        let choices = self.walk.choices(stop);
        let (model, machine) = (self.model(), self.machine());
        let sources = self.sources();
        let mut calls = self.calls(&choices);
        let fault = |f: &Fault| crate::trace::fault::fault_diagnostic(f);
        if self.walk.at().is_none() {
            let faults = choices.faults.iter().map(|(_, f)| fault(f)).collect();
            let text = Text::of(sources, model.initialisation.span);
            let name = crate::trace::INITIALISATION.to_string();
            return vec![Operation { name, parameters: vec![], calls, faults, text }];
        }
        let mut all: Vec<Operation> = vec![];
        for (index, event) in machine.events.iter().enumerate() {
            let op = &model.operations[event.op.index()];
            let faults = choices.faults.iter().filter(|(o, _)| *o == Some(index)).map(|(_, f)| fault(f));
            all.push(Operation {
                name: event.name.to_string(),
                parameters: op.params.iter().map(|l| model.local(*l).name.to_string()).collect(),
                calls: vec![],
                faults: faults.collect(),
                text: Text::of(sources, op.span),
            });
        }
        for (choice, call) in choices.all.iter().zip(calls.drain(..)) {
            if let Some(operation) = choice.operation().and_then(|i| all.get_mut(i)) {
                operation.calls.push(call);
            }
        }
        all
    }

    /// Takes the step of an operation with these arguments, `x = 1` or by place `1`; if several fit, the first.
    ///
    /// # Errors
    /// No such operation or parameter, a value that cannot be read, or nothing that fits.
    pub fn call(&mut self, name: &str, arguments: &[String], stop: &Stop) -> Result<Call, String> {
        let at = self.find(name, arguments, stop)?;
        let choices = self.walk.choices(stop);
        let mut calls = self.calls(&choices);
        self.walk.step(at, stop);
        Ok(calls.swap_remove(at))
    }

    /// The place of such a step among the choices.
    ///
    /// # Errors
    /// The same.
    pub fn find(&mut self, name: &str, arguments: &[String], stop: &Stop) -> Result<usize, String> {
        let (op, wanted) = self.wanted(name, arguments)?;
        let choices = self.walk.choices(stop);
        let fits = |c: &Choice| {
            let step = self.step_of(c);
            step.op.is_some_and(|o| o.index() == op)
                && wanted.iter().zip(&step.params).all(|(w, p)| w.is_none() || w == p)
        };
        let at = choices.all.iter().position(fits);
        at.ok_or_else(|| format!("`{name}` is not enabled with these parameters"))
    }

    /// An operation and the values of its parameters, as far as they are given.
    fn wanted(
        &self,
        name: &str,
        arguments: &[String],
    ) -> Result<(usize, Vec<Option<crate::value::Value>>), String> {
        let model = self.model();
        let op = model.operations.iter().position(|o| o.is_event && *o.name == *name);
        let op = op.ok_or_else(|| format!("the machine has no operation `{name}`"))?;
        let params = &model.operations[op].params;
        let reader = Reader::new(model, &self.machine().scope);
        let mut wanted = vec![None; params.len()];
        for (i, text) in arguments.iter().enumerate() {
            let named = text.split_once('=').and_then(|(n, v)| Some((position(model, params, n.trim())?, v)));
            let (at, text) = named.unwrap_or((i, text));
            let l = params.get(at).ok_or_else(|| format!("`{name}` has {} parameters", params.len()))?;
            wanted[at] = Some(reader.read(text.trim(), &model.local(*l).ty)?);
        }
        Ok((op, wanted))
    }

    /// Why an operation is not enabled, with these values for some or all of its parameters: its conditions one by one,
    /// and what parameters would fulfil them.
    ///
    /// # Errors
    /// No such operation or parameter, a value that cannot be read, or no state.
    pub fn why_not(&self, name: &str, arguments: &[String]) -> Result<Disabled, String> {
        let row = self.walk.row().ok_or("there is no state yet")?;
        let (op, wanted) = self.wanted(name, arguments)?;
        let event = self.machine().events.iter().position(|e| e.op.index() == op);
        let event = event.ok_or_else(|| format!("`{name}` is never called from outside"))?;
        Ok(Explainer::new(self.machine(), Some(row), 0).disabled(event, &wanted))
    }

    /// The invariant, conjunct by conjunct, the assertions and the goal, in the present state.
    pub fn conjuncts(&self, stop: &Stop) -> Vec<Conjunct> {
        let judged = self.walk.judge(stop).into_iter();
        let spans = self.machine().checks();
        judged.map(|j| Conjunct { text: Text::of(self.sources(), spans[j.check].span), judged: j }).collect()
    }

    /// Why a check has the truth that it has in the present state.
    pub fn why(&self, check: usize, stop: &Stop) -> Vec<Tree> {
        let judged = self.walk.judge(stop);
        let (Some(row), Some(j), Some(e)) = (self.walk.row(), judged.get(check), self.check(check)) else {
            return vec![];
        };
        let explainer = Explainer::new(self.machine(), Some(row), 0);
        tree(&explainer.judged(e, j.truth.as_ref().ok().copied()))
    }

    /// The predicate of a check.
    fn check(&self, check: usize) -> Option<&Expr> {
        let model = self.model();
        let role = self.machine().checks().get(check)?.role;
        let place = self.machine().checks()[..check].iter().filter(|c| c.role == role).count();
        match role {
            Role::Invariant => model.invariant.get(place),
            Role::Assertion => model.assertions.get(place),
            Role::Goal => model.goal.as_ref(),
        }
    }

    // ---- questions ------------------------------------------------------------------------------------------

    /// Reads a text in the language of the model. The texts of questions are not kept: errors come with theirs, behind
    /// those of the model, which definitions come from.
    pub(super) fn parse(&self, text: &str) -> Result<ast::Expr, Refused> {
        let opened = &self.project.opened;
        let mut sources = opened.sources.clone();
        parse_expr(opened.language, &mut sources, "question", text, &opened.definitions)
            .map_err(|diagnostics| Refused { sources, diagnostics })
    }

    /// Errors about a question, with its text.
    pub(super) fn about(&self, text: &str, diagnostics: Vec<Diagnostic>) -> Refused {
        let mut sources = self.sources().clone();
        sources.add("question", text);
        Refused { sources, diagnostics }
    }

    /// The value of an expression or the truth of a predicate in the present state; names that the machine does not know
    /// are solved for.
    ///
    /// # Errors
    /// What is wrong with the question, or what has no value.
    pub fn ask(&self, text: &str, stop: &Stop) -> Result<Reply, Refused> {
        let ast = self.parse(text)?;
        question::answer(self.machine(), &self.named, &ast, self.walk.row(), stop)
            .map_err(|diagnostics| self.about(text, diagnostics))
    }

    /// The type of an expression.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn type_of(&self, text: &str) -> Result<String, Refused> {
        let ast = self.parse(text)?;
        question::type_of(&self.named, &ast).map_err(|diagnostics| self.about(text, diagnostics))
    }

    /// Watches an expression or a predicate from now on.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn watch(&mut self, text: &str) -> Result<(), Refused> {
        let ast = self.parse(text)?;
        question::type_of(&self.named, &ast).map_err(|diagnostics| self.about(text, diagnostics))?;
        self.watched.push((text.to_string(), ast));
        Ok(())
    }

    /// Does not watch it any more. Says whether it did.
    pub fn unwatch(&mut self, index: usize) -> bool {
        let is_there = index < self.watched.len();
        if is_there {
            self.watched.remove(index);
        }
        is_there
    }

    /// The watched expressions and their values in the present state.
    pub fn watched(&self, stop: &Stop) -> Vec<Watched> {
        let reply = |(text, ast): &(String, ast::Expr)| Watched {
            text: text.clone(),
            reply: question::answer(self.machine(), &self.named, ast, self.walk.row(), stop),
        };
        self.watched.iter().map(reply).collect()
    }

    /// Goes to a nearest state that fulfils a predicate.
    ///
    /// # Errors
    /// What is wrong with the predicate.
    pub fn seek(&mut self, text: &str, from: From, limits: Limits, stop: &Stop) -> Result<Sought, Refused> {
        let ast = self.parse(text)?;
        let mut model = self.named.clone();
        let e = check_expr(&mut model, &ast, Want::Predicate)
            .map_err(|diagnostics| self.about(text, diagnostics))?;
        let e = reading::predicate(e, self.project.opened.reading);
        let machine = self.machine().clone();
        let mut ask = Ask::new(&model, &machine.scope, &[], stop.clone());
        let test = ask.test(&e);
        let mut passes = |machine: &Machine, row: &[u64]| {
            ask.put(&machine.values(machine.start_of(row), Some(row)));
            ask.passes(&test, e.span)
        };
        Ok(self.walk.seek(from, &mut passes, limits, stop))
    }

    // ---- traces ---------------------------------------------------------------------------------------------

    /// The way here as plain values.
    pub fn trace(&self) -> Trace {
        Trace::of(self.machine(), &self.walk.path())
    }

    /// The way here as a file of this format.
    pub fn save(&self, format: Format) -> Json {
        let shown = Shown { trace: &self.trace(), back: None, formula: None };
        export::render(format, shown, &self.project.opened)
    }

    /// Follows a trace: kanon's JSON, ITF, or ProB's `.prob2trace`.
    ///
    /// # Errors
    /// A text that is no trace, or one of a machine with other sizes.
    pub fn load(&mut self, text: &str, stop: &Stop) -> Result<Loaded, String> {
        let read = export::parse(text)?;
        let sizes = export::sizes(&read, self.model(), &ScopeArgs::default());
        let model = self.model();
        let other = sizes
            .card
            .iter()
            .find(|(name, n)| model.set_named(name).is_some_and(|s| self.machine().scope.size(s) != *n));
        if let Some((name, n)) = other {
            return Err(format!(
                "the trace was made with card({name}) = {n}: open the model with --card {name}={n}"
            ));
        }
        let recorded = read.recorded(model, &self.machine().scope);
        Ok(self.take(&recorded, stop))
    }

    /// Follows a run, such as a counterexample.
    pub fn follow(&mut self, trace: &Trace, stop: &Stop) -> Loaded {
        let recorded = Recorded::of(trace, self.model());
        self.take(&recorded, stop)
    }

    fn take(&mut self, recorded: &Recorded, stop: &Stop) -> Loaded {
        let (path, failure) = replay::path(self.machine(), recorded, stop);
        let steps = path.rows.len();
        self.walk.follow(&path);
        Loaded { steps, of: recorded.steps.len(), failure }
    }

    /// The texts that the model was read from, and whether any of them is another one on the disk now.
    pub fn is_stale(&self) -> bool {
        let sources = self.sources();
        let all = (0..self.project.texts as u32).filter_map(|i| sources.get(crate::lang::diag::FileId(i)));
        let mut all = all.filter(|s| s.path.is_absolute() || s.path.exists());
        all.any(|s| sources.files().read(&s.path).is_ok_and(|bytes| bytes != s.text.as_bytes()))
    }

    /// A part of the model's texts.
    pub fn text(&self, span: Span) -> Option<Text> {
        Text::of(self.sources(), span)
    }
}
