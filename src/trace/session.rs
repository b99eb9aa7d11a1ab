//! Questions and steps: what `eval` and `repl` share.

use super::Step;
use super::fault::{fault_diagnostic, plain_error};
use super::question::{self, Reply};
use super::replay::position;
use super::values::Reader;
use crate::lang::diag::{Diagnostic, SourceMap};
use crate::lang::languages::{Language, parse_expr};
use crate::lang::macros::Definitions;
use crate::model::Model;
use crate::system::{Machine, Stop, System, Transition, Visitor, initial_states};
use crate::value::fault::Fault;
use std::ops::ControlFlow;

/// Transitions and initial states that are offered.
const MAX_CHOICES: usize = 1000;

/// A state that was visited.
#[derive(Clone, Debug)]
pub struct Visited {
    pub row: Vec<u64>,
    /// How it was reached.
    pub step: Step,
    pub from: Option<usize>,
}

pub struct Session<'s> {
    pub system: &'s Machine,
    pub sources: &'s mut SourceMap,
    /// For questions.
    definitions: &'s Definitions,
    language: Language,
    /// The model with names for the elements of deferred sets.
    model: Model,
    pub visited: Vec<Visited>,
    pub at: Option<usize>,
}

impl<'s> Session<'s> {
    pub fn new(
        system: &'s Machine,
        sources: &'s mut SourceMap,
        definitions: &'s Definitions,
        language: Language,
    ) -> Session<'s> {
        let model = question::named(system);
        Session { system, sources, definitions, language, model, visited: vec![], at: None }
    }

    /// The initial states, of every valuation of the constants; at most some of them.
    pub fn initial(&self, stop: &Stop) -> (Vec<Visited>, Option<Diagnostic>) {
        let mut worker = self.system.worker(stop);
        let mut found = vec![];
        let all = initial_states(self.system, &mut worker, &mut |_, row| {
            found.push(Visited { row: row.to_vec(), step: Step::initial(self.system, row), from: None });
            if found.len() < MAX_CHOICES { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        });
        (found, all.fault.as_deref().map(fault_diagnostic))
    }

    /// Goes to a state and remembers it.
    pub fn go(&mut self, state: Visited) -> usize {
        self.visited.push(state);
        let at = self.visited.len() - 1;
        self.at = Some(at);
        at
    }

    pub fn state(&self) -> Option<&Visited> {
        self.at.and_then(|i| self.visited.get(i))
    }

    /// The transitions of the present state, and the faults on the way.
    pub fn transitions(&self, stop: &Stop) -> (Vec<Visited>, Vec<Diagnostic>) {
        let Some(state) = self.state() else { return (vec![], vec![]) };
        let mut worker = self.system.worker(stop);
        let mut all = Transitions { system: self.system, from: self.at, found: vec![], faults: vec![] };
        let _ = self.system.successors(&mut worker, &state.row, &mut all);
        (all.found, all.faults)
    }

    /// The transitions of an operation with these arguments: `x = 1` or, by place, `1`.
    pub fn matching(
        &self,
        name: &str,
        arguments: &[String],
        stop: &Stop,
    ) -> Result<Vec<Visited>, Vec<Diagnostic>> {
        let model = &*self.system.model;
        let wrong = |why: String| vec![plain_error(why)];
        let op = model.operations.iter().position(|o| o.is_event && *o.name == *name);
        let op = op.ok_or_else(|| wrong(format!("the machine has no operation `{name}`")))?;
        let params = &model.operations[op].params;
        let reader = Reader::new(model, &self.system.scope);
        let mut wanted = vec![None; params.len()];
        for (i, text) in arguments.iter().enumerate() {
            let named = text.split_once('=').and_then(|(n, v)| Some((position(model, params, n.trim())?, v)));
            let (at, text) = named.unwrap_or((i, text));
            let Some(l) = params.get(at) else {
                return Err(wrong(format!("`{name}` has {} parameters", params.len())));
            };
            let value = reader.read(text.trim(), &model.local(*l).ty).map_err(wrong)?;
            wanted[at] = Some(value);
        }
        let (all, faults) = self.transitions(stop);
        let fits = |v: &Visited| {
            v.step.op.is_some_and(|o| o.index() == op)
                && wanted.iter().zip(&v.step.params).all(|(w, p)| w.is_none() || w == p)
        };
        let found: Vec<Visited> = all.into_iter().filter(fits).collect();
        if found.is_empty() {
            let mut diagnostics = wrong(format!("`{name}` is not enabled with these parameters"));
            diagnostics.extend(faults);
            return Err(diagnostics);
        }
        Ok(found)
    }

    fn parse(&mut self, text: &str) -> Result<crate::lang::ast::Expr, Vec<Diagnostic>> {
        parse_expr(self.language, self.sources, "question", text, self.definitions)
    }

    /// The type of an expression.
    pub fn type_of(&mut self, text: &str) -> Result<String, Vec<Diagnostic>> {
        let ast = self.parse(text)?;
        question::type_of(&self.model, &ast)
    }

    /// Evaluates an expression or a predicate in the present state.
    pub fn ask(&mut self, text: &str, stop: &Stop) -> Result<Reply, Vec<Diagnostic>> {
        let ast = self.parse(text)?;
        let row = self.state().map(|s| &s.row[..]);
        question::answer(self.system, &self.model, &ast, row, stop)
    }
}

struct Transitions<'a> {
    system: &'a Machine,
    from: Option<usize>,
    found: Vec<Visited>,
    faults: Vec<Diagnostic>,
}

impl Visitor<<Machine as System>::Here> for Transitions<'_> {
    fn transition(&mut self, t: Transition<<Machine as System>::Here>) -> ControlFlow<()> {
        let step = Step::of(self.system, &self.system.label(t.operation, t.here), t.target);
        self.found.push(Visited { row: t.target.to_vec(), step, from: self.from });
        if self.found.len() < MAX_CHOICES { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    }

    fn fault(&mut self, event: usize, fault: Box<Fault>) -> ControlFlow<()> {
        let name = &self.system.events[event].name;
        let mut d = fault_diagnostic(&fault);
        d.message = format!("{} (in {name})", d.message);
        if self.faults.len() < 10 && !self.faults.contains(&d) {
            self.faults.push(d);
        }
        ControlFlow::Continue(())
    }
}
