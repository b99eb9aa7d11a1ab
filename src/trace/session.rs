//! Questions and steps: what `eval` and `repl` share.

use super::ask::{Answer, Ask};
use super::fault::{fault_diagnostic, plain_error};
use super::replay::position;
use super::values::Reader;
use super::{Step, shown};
use crate::lang::diag::{Diagnostic, SourceMap};
use crate::lang::languages::{Language, parse_expr};
use crate::lang::macros::Definitions;
use crate::model::check::{Want, check_expr, check_open};
use crate::model::{Expr, Model, Type};
use crate::system::{Machine, Stop, System, Transition, Visitor, initial_states};
use crate::value::element_name;
use crate::value::fault::Fault;
use std::ops::ControlFlow;
use std::time::Duration;

/// How long integers without bounds are tried.
const OUTWARDS: Duration = Duration::from_secs(5);
/// Solutions of a predicate that are shown.
const MAX_SOLUTIONS: usize = 10;
/// Transitions and initial states that are offered.
const MAX_CHOICES: usize = 1000;

/// An answer.
#[derive(Debug, PartialEq, Eq)]
pub enum Reply {
    Truth(bool),
    /// A value and its type, as text.
    Value(String),
    /// Solutions: names and values; whether there are more, and whether some may have been missed.
    Solutions {
        found: Vec<Vec<(String, String)>>,
        more: bool,
        truncated: bool,
        /// How far from 0 integers without bounds were tried, if not from MININT to MAXINT.
        reach: Option<i64>,
    },
}

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
        let mut model = (*system.model).clone();
        for i in 0..model.sets.len() {
            let set = crate::model::SetId(i as u32);
            let size = system.scope.size(set);
            if model.sets[i].elements.is_none() && size <= 10_000 {
                let names = (0..size as u32).map(|k| element_name(&system.model, set, k).into()).collect();
                model.sets[i].elements = Some(names);
            }
        }
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
        let mut model = self.model.clone();
        let e = check_expr(&mut model, &ast, Want::Either)?;
        let set_name = |s: crate::model::SetId| model.sets[s.index()].name.clone();
        Ok(e.ty.show(&set_name).to_string())
    }

    /// Evaluates an expression or a predicate in the present state.
    pub fn ask(&mut self, text: &str, stop: &Stop) -> Result<Reply, Vec<Diagnostic>> {
        let ast = self.parse(text)?;
        let mut model = self.model.clone();
        let (locals, e) = check_open(&mut model, &ast)?;
        if e.ty != Type::Pred && !locals.is_empty() {
            // Says which name is unknown.
            let mut model = self.model.clone();
            check_expr(&mut model, &ast, Want::Either)?;
        }
        self.needs_state(&e)?;
        let valuation = self.state().map_or(0, |s| self.system.start_of(&s.row));
        let row = self.state().map(|s| &s.row[..]);
        let values = self.system.values(valuation, row);
        let mut ask = Ask::new(&model, &self.system.scope, &values, stop.clone()).with_solver();
        let wrong = |f: Box<Fault>| vec![fault_diagnostic(&f)];
        if e.ty != Type::Pred {
            return Ok(match ask.value(&e).map_err(wrong)? {
                Answer::Value(v) => Reply::Value(shown(&v, &e.ty, &model)),
                Answer::Symbolic => Reply::Value(crate::model::raise::text(&e, &model)),
            });
        }
        if locals.is_empty() {
            return ask.truth(&e).map(Reply::Truth).map_err(wrong);
        }
        let solved = ask.solve_outwards(&locals, &[&e], MAX_SOLUTIONS, OUTWARDS).map_err(wrong)?;
        if let (true, Some(f)) = (solved.found.is_empty(), solved.fault) {
            return Err(wrong(f));
        }
        let named = |values: &Vec<Option<crate::value::Value>>| {
            let pairs = locals.iter().map(|l| model.local(*l)).zip(values);
            let show = |(d, v): (&crate::model::Decl, &Option<crate::value::Value>)| {
                let text = v.as_ref().map_or_else(|| "(symbolic)".into(), |v| shown(v, &d.ty, &model));
                (d.name.to_string(), text)
            };
            pairs.map(show).collect()
        };
        let found = solved.found.iter().map(named).collect();
        Ok(Reply::Solutions { found, more: solved.more, truncated: solved.truncated, reach: solved.reach })
    }

    /// Variables have values only in a state.
    fn needs_state(&self, e: &Expr) -> Result<(), Vec<Diagnostic>> {
        let reads = e.any(&|x| matches!(x.kind, crate::model::ExprKind::Var(_)));
        if self.at.is_none() && reads {
            return Err(vec![plain_error("there is no state: INITIALISATION has no outcome")]);
        }
        Ok(())
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
