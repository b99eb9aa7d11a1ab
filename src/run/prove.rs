//! Proof obligations, decided by a solver: not for reachable states, but for every state that satisfies the invariant.
//!
//! | obligation | says |
//! |---|---|
//! | `INITIALISATION/c/INV` | every initial state fulfils the conjunct c |
//! | `op/c/INV` | from every state that fulfils the invariant, op leads only to states that fulfil c |
//! | `op/WD` | in every such state op has a value |
//! | `a/THM` | every such state that fulfils the assertions before it fulfils the assertion a |
//! | `DLF` | in every such state some operation is enabled |
//! | `op/FIS` | in some such state op is enabled |
//!
//! The states are those of the formulas at the scope of the run ([`crate::symbolic::machine`]): a value that has no room
//! there leads *outside*, where a conjunct is broken, but not every one. So a conjunct counts as kept only if nothing
//! leads outside. A counterexample is decoded and evaluated by the reference before anybody sees it.

use super::answer::Place;
use super::deadline::Deadline;
use super::project::Project;
use super::symbolic::{Backend, Solvers, WD, start};
use crate::eval::reference::{self, Cx, Env, State};
use crate::explore::plan::Refusal;
use crate::lang::diag::Span;
use crate::model::reading::Reading;
use crate::model::{BinOp, Decl, Expr, ExprKind, Model, OpId, Stmt, StmtKind};
use crate::symbolic::encode::{Limits, Mutant};
use crate::symbolic::machine::{self, Encoded, Observer, Wanted};
use crate::value::fault::Fault;
use crate::value::{Scope, Show, Value};
use kanon_solver::solver::{Outcome, Stop};
use kanon_solver::term::{Assignment, Bool, Terms};
use kanon_solver::transition::Transitions;
use kanon_solver::unroll::Unrolling;
use std::time::{Duration, Instant};

/// What to prove with.
#[derive(Clone, Copy, Debug)]
pub struct Task {
    /// Who decides formulas.
    pub solver: Backend,
    /// For each obligation.
    pub limit: Duration,
    /// A mistake that a test plants.
    #[doc(hidden)]
    pub mutant: Mutant,
}

impl Default for Task {
    fn default() -> Task {
        Task { solver: Backend::Auto, limit: Duration::from_secs(10), mutant: Mutant::None }
    }
}

/// What an obligation is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A conjunct of the invariant, after INITIALISATION (`None`) or an operation.
    Invariant(Option<OpId>, usize),
    /// An operation has a value.
    Defined(OpId),
    /// An assertion follows.
    Assertion(usize),
    /// Some operation is enabled.
    NoDeadlock,
    /// An operation is enabled somewhere.
    Feasible(OpId),
    /// One that the language of a refinement states, by its kind ([`super::sequents`]).
    Stated(&'static str),
}

/// Names and values.
pub type Shown = Vec<(String, String)>;

/// A state, and what happens in it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Example {
    /// Those with plain values.
    pub constants: Shown,
    /// The state; none of INITIALISATION.
    pub before: Option<Shown>,
    /// Of the operation.
    pub parameters: Shown,
    /// The state that it leads to.
    pub after: Option<Shown>,
}

/// What became of an obligation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Status {
    /// It is true, at this scope.
    Proved,
    /// It is not; where it is about a state, this is one.
    Disproved(Option<Box<Example>>),
    /// Nobody knows, and why.
    Undecided(String),
}

/// An obligation with its answer.
#[derive(Clone, Debug)]
pub struct Obligation {
    /// As in the table above.
    pub name: String,
    /// What it is about.
    pub kind: Kind,
    /// The conjunct or assertion.
    pub place: Option<Place>,
    /// What became of it.
    pub status: Status,
    /// Whether the model's file says that it is discharged.
    pub discharged: Option<bool>,
    /// How long it took.
    pub seconds: f64,
}

impl Obligation {
    /// The file says that it is proved, and it is wrong.
    pub fn is_alarm(&self) -> bool {
        self.discharged == Some(true) && matches!(self.status, Status::Disproved(_))
    }
}

/// All obligations of a model.
pub struct Proved {
    /// In the order of the model.
    pub obligations: Vec<Obligation>,
    /// Conjuncts of the invariant that follow from the others, each by its name.
    pub redundant: Vec<(String, Option<Place>)>,
    /// Why there are none: the model has no formulas.
    pub refused: Option<String>,
    /// Who decided.
    pub solver: String,
    /// The whole run.
    pub seconds: f64,
}

const LEFT_OUT: &str = "the refinement speaks of variables of its abstraction, which are no part of the model \
                        (`kanon refine` compares the two)";

/// Decides the proof obligations of a model.
///
/// # Errors
/// Another reading of undefined terms than the default.
pub fn prove(
    project: &Project,
    task: &Task,
    deadline: &Deadline,
    progress: &mut dyn FnMut(usize, usize),
) -> Result<Proved, Refusal> {
    let begin = Instant::now();
    let opened = &project.opened;
    if opened.reading != Reading::Kleene {
        return Err(WD);
    }
    let (model, scope) = (&opened.model, &opened.scope);
    let wanted = Wanted {
        invariant: true,
        assertions: true,
        goal: false,
        deadlock: model.operations.iter().any(|o| o.is_event),
    };
    let limits = Limits { stop: Some(deadline.flag.clone()), ..Limits::default() };
    let mut proved =
        Proved { obligations: vec![], redundant: vec![], refused: None, solver: String::new(), seconds: 0.0 };
    // Conjuncts that were left out are neither proved nor hypotheses, and preconditions may exclude what is disproved.
    if !model.left_out.is_empty() {
        proved.refused = Some(LEFT_OUT.into());
        return Ok(proved);
    }
    let mut encoded = match machine::encode(model, scope, wanted, limits, task.mutant) {
        Ok(encoded) => encoded,
        Err(r) => {
            proved.refused = Some(super::symbolic::refused(opened, &r));
            proved.seconds = begin.elapsed().as_secs_f64();
            return Ok(proved);
        }
    };
    let stop = Stop::never().with_flag(deadline.flag.clone());
    let solvers = Solvers::choose(task.solver, &encoded, stop.clone());
    proved.solver = solvers.first_name().to_string();
    let kinds = kinds(model, &encoded);
    let transitions = encoded.transitions.clone();
    let mut prover = Prover {
        model,
        scope,
        unrolling: Unrolling::new(&transitions),
        transitions: &transitions,
        encoded: &mut encoded,
        first: solvers.first,
        stop,
        limit: task.limit,
    };
    for (done, kind) in kinds.iter().enumerate() {
        progress(done, kinds.len());
        let begin = Instant::now();
        let status = match deadline.is_set() {
            true => Status::Undecided("the time is up".into()),
            false => prover.decide(*kind),
        };
        let (name, place) = named(project, *kind);
        let discharged = discharged(model, *kind);
        let seconds = begin.elapsed().as_secs_f64();
        proved.obligations.push(Obligation { name, kind: *kind, place, status, discharged, seconds });
    }
    for i in 0..model.invariant.len() {
        if !deadline.is_set() && is_redundant(model, scope, i, task, deadline) {
            let (name, place) = formula(project, model.invariant[i].span, format!("inv{}", i + 1));
            proved.redundant.push((name, place));
        }
    }
    proved.seconds = begin.elapsed().as_secs_f64();
    Ok(proved)
}

/// Whether a conjunct of the invariant is true wherever the others are, by a solver's word. What a variable has room for
/// is read off the others alone, so that nothing of the conjunct itself is assumed. One that says no more than a type is
/// not meant: it is how B declares variables.
fn is_redundant(model: &Model, scope: &Scope, i: usize, task: &Task, deadline: &Deadline) -> bool {
    let Some(conjunct) = model.invariant.get(i) else { return false };
    let follows = |others: Vec<Expr>| {
        let mut small = model.clone();
        small.operations.clear();
        small.initialisation = Stmt { kind: StmtKind::Skip, span: small.initialisation.span };
        small.goal = None;
        (small.invariant, small.assertions) = (others, vec![conjunct.clone()]);
        let wanted = Wanted { invariant: true, assertions: true, goal: false, deadlock: false };
        let limits = Limits { stop: Some(deadline.flag.clone()), ..Limits::default() };
        let Ok(mut encoded) = machine::encode(&small, scope, wanted, limits, task.mutant) else {
            return false;
        };
        if !encoded.uncovered.is_empty() {
            return false;
        }
        let stop = Stop::never().with_flag(deadline.flag.clone()).within(task.limit);
        let first = Solvers::choose(task.solver, &encoded, stop.clone()).first;
        let Ok(mut solver) = start(first, &stop) else { return false };
        let transitions = encoded.transitions.clone();
        let mut unrolling = Unrolling::new(&transitions);
        let terms = &mut encoded.encoder.terms;
        solver.assert(terms, transitions.axioms);
        for (p, observer) in encoded.observers.iter().enumerate() {
            let bad = unrolling.is_bad(terms, 0, p);
            solver.assert(terms, if matches!(observer, Observer::Assertion(_)) { bad } else { !bad });
        }
        matches!(solver.check(terms, &[]), Outcome::Unsat(_))
    };
    let mut others = model.invariant.clone();
    others.remove(i);
    if others.is_empty() || !follows(others) {
        return false;
    }
    let is_typing = matches!(
        &conjunct.kind,
        ExprKind::Binary(BinOp::In | BinOp::Subset, v, _) if matches!(v.kind, ExprKind::Var(_))
    );
    !(is_typing && follows(vec![]))
}

/// The name of a formula: its label, or what is given; and its place.
fn formula(project: &Project, span: Span, otherwise: String) -> (String, Option<Place>) {
    let place = Place::of(&project.opened.sources, span);
    let name = place.as_ref().and_then(|p| p.label.clone()).unwrap_or(otherwise);
    (name, place)
}

/// What there is to prove.
fn kinds(model: &Model, encoded: &Encoded) -> Vec<Kind> {
    let conjuncts = 0..model.invariant.len();
    let mut kinds: Vec<Kind> = conjuncts.clone().map(|i| Kind::Invariant(None, i)).collect();
    for op in &encoded.events {
        kinds.push(Kind::Feasible(*op));
        kinds.push(Kind::Defined(*op));
        kinds.extend(conjuncts.clone().map(|i| Kind::Invariant(Some(*op), i)));
    }
    kinds.extend((0..model.assertions.len()).map(Kind::Assertion));
    kinds.extend((!encoded.events.is_empty()).then_some(Kind::NoDeadlock));
    kinds
}

/// Its name, and the formula that it is about.
fn named(project: &Project, kind: Kind) -> (String, Option<Place>) {
    let opened = &project.opened;
    let model = &opened.model;
    let operation = |op: OpId| model.operations[op.index()].name.to_string();
    let formula = |span, otherwise: String| formula(project, span, otherwise);
    match kind {
        Kind::Invariant(op, i) => {
            let (label, place) = formula(model.invariant[i].span, format!("inv{}", i + 1));
            let op = op.map_or(crate::trace::INITIALISATION.to_string(), operation);
            (format!("{op}/{label}/INV"), place)
        }
        Kind::Assertion(i) => {
            let (label, place) = formula(model.assertions[i].span, format!("assertion{}", i + 1));
            (format!("{label}/THM"), place)
        }
        Kind::Defined(op) => (format!("{}/WD", operation(op)), None),
        Kind::Feasible(op) => (format!("{}/FIS", operation(op)), None),
        Kind::NoDeadlock => ("DLF".into(), None),
        Kind::Stated(kind) => (kind.into(), None),
    }
}

/// What the file says, where it speaks of the same.
fn discharged(model: &Model, kind: Kind) -> Option<bool> {
    let Kind::Invariant(Some(op), i) = kind else { return None };
    let (name, span) = (&model.operations.get(op.index())?.name, model.invariant.get(i)?.span);
    let said = model.kept.iter().any(|k| k.event == *name && k.invariant.contains(span));
    said.then_some(true)
}

struct Prover<'a, 'm> {
    model: &'m Model,
    scope: &'m Scope,
    encoded: &'a mut Encoded<'m>,
    unrolling: Unrolling<'a>,
    transitions: &'a Transitions,
    first: Backend,
    stop: Stop,
    limit: Duration,
}

/// What a solver says.
enum Said {
    Yes(Assignment),
    No,
    Nobody(String),
}

/// Steps of the evaluator for one example.
pub(super) const FUEL: u64 = 20_000_000;

impl<'m> Prover<'_, 'm> {
    fn terms(&mut self) -> &mut Terms {
        &mut self.encoded.encoder.terms
    }

    fn property(&self, observer: Observer) -> Option<usize> {
        self.encoded.observers.iter().position(|o| *o == observer)
    }

    /// Why there is no formula for it.
    fn uncovered(&self, observer: Observer) -> Option<String> {
        let found = self.encoded.uncovered.iter().find(|(o, _)| *o == observer)?;
        Some(format!("there is no formula for it: {}", found.1.why))
    }

    fn bad(&mut self, time: usize, property: usize) -> Bool {
        self.unrolling.is_bad(&mut self.encoded.encoder.terms, time, property)
    }

    /// The state at time 0 satisfies the constants' properties and the invariant, as far as it has formulas: what has
    /// none is left out of the hypotheses, which makes a proof no weaker.
    fn hypotheses(&mut self) -> Vec<Bool> {
        let mut all = vec![self.transitions.axioms];
        for p in 0..self.encoded.observers.len() {
            if matches!(self.encoded.observers[p], Observer::Invariant(_) | Observer::Outside) {
                all.push(!self.bad(0, p));
            }
        }
        all
    }

    fn ask(&mut self, claims: &[Bool]) -> Said {
        if claims.contains(&Bool::FALSE) {
            return Said::No;
        }
        let mut solver = match start(self.first, &self.stop.within(self.limit)) {
            Ok(solver) => solver,
            Err(why) => return Said::Nobody(why),
        };
        let terms = self.terms();
        claims.iter().for_each(|c| solver.assert(terms, *c));
        match solver.check(terms, &[]) {
            Outcome::Sat(found) => Said::Yes(found),
            Outcome::Unsat(_) => Said::No,
            Outcome::Unknown(why) => Said::Nobody(kanon_solver::engine::Why::Solver(why).to_string()),
        }
    }

    fn decide(&mut self, kind: Kind) -> Status {
        match kind {
            Kind::Invariant(op, i) => self.kept(op, i),
            Kind::Defined(op) => self.stateful(Observer::Definedness(op), kind),
            Kind::Assertion(i) => self.stateful(Observer::Assertion(i), kind),
            Kind::NoDeadlock => self.stateful(Observer::Deadlock, kind),
            Kind::Feasible(op) => self.feasible(op, kind),
            Kind::Stated(_) => Status::Undecided("it is no obligation of operations".into()),
        }
    }

    /// Something that must not be true of a state.
    fn stateful(&mut self, observer: Observer, kind: Kind) -> Status {
        if let Some(why) = self.uncovered(observer) {
            return Status::Undecided(why);
        }
        // What can never be bad has no property.
        let Some(p) = self.property(observer) else { return Status::Proved };
        let mut claims = self.hypotheses();
        if let Kind::Assertion(i) = kind {
            for earlier in 0..i {
                match self.property(Observer::Assertion(earlier)) {
                    Some(q) => claims.push(!self.bad(0, q)),
                    None => {
                        return Status::Undecided("there is no formula for an assertion before it".into());
                    }
                }
            }
        }
        claims.push(self.bad(0, p));
        match self.ask(&claims) {
            Said::No => Status::Proved,
            Said::Nobody(why) => Status::Undecided(why),
            Said::Yes(found) => self.confirmed(kind, &found),
        }
    }

    fn feasible(&mut self, op: OpId, kind: Kind) -> Status {
        let Some(event) = self.encoded.events.iter().position(|e| *e == op) else {
            return Status::Undecided("it is no event".into());
        };
        let mut claims = self.hypotheses();
        claims.push(self.unrolling.step(&mut self.encoded.encoder.terms, 0, event));
        match self.ask(&claims) {
            // Hypotheses without a formula are left out, and with them there is nothing more.
            Said::No => Status::Disproved(None),
            Said::Nobody(why) => Status::Undecided(why),
            Said::Yes(found) => match self.confirmed(kind, &found) {
                Status::Disproved(_) => Status::Proved,
                other => other,
            },
        }
    }

    fn kept(&mut self, op: Option<OpId>, i: usize) -> Status {
        let kind = Kind::Invariant(op, i);
        if let Some(why) = self.uncovered(Observer::Invariant(i)) {
            return Status::Undecided(why);
        }
        let (Some(p), Some(outside)) =
            (self.property(Observer::Invariant(i)), self.property(Observer::Outside))
        else {
            return Status::Undecided("there is no formula for it".into());
        };
        let (mut claims, after) = match op {
            None => {
                let init = self.unrolling.init(&mut self.encoded.encoder.terms);
                (vec![self.transitions.axioms, init], 0)
            }
            Some(op) => {
                let Some(event) = self.encoded.events.iter().position(|e| *e == op) else {
                    return Status::Undecided("it is no event".into());
                };
                let mut claims = self.hypotheses();
                claims.push(self.unrolling.step(&mut self.encoded.encoder.terms, 0, event));
                (claims, 1)
            }
        };
        let (bad, leaves) = (self.bad(after, p), self.bad(after, outside));
        claims.push(bad);
        claims.push(!leaves);
        match self.ask(&claims) {
            Said::Yes(found) => return self.confirmed(kind, &found),
            Said::Nobody(why) => return Status::Undecided(why),
            Said::No => {}
        }
        claims.truncate(claims.len() - 2);
        claims.push(leaves);
        match self.ask(&claims) {
            Said::No => Status::Proved,
            Said::Nobody(why) => Status::Undecided(why),
            Said::Yes(found) => match self.confirmed(kind, &found) {
                Status::Undecided(_) => Status::Undecided(
                    "it leads to values that the formulas have no room for; bound them in the invariant"
                        .into(),
                ),
                decided => decided,
            },
        }
    }

    /// What the reference says of the state that the solver found: `Disproved` with the example, or undecided.
    fn confirmed(&mut self, kind: Kind, found: &Assignment) -> Status {
        let unconfirmed =
            |why: &str| Status::Undecided(format!("the evaluator does not confirm a state: {why}"));
        let mut first = found.clone();
        let cells: Vec<_> = self.transitions.cells.iter().map(|c| c.now).collect();
        let state = self.unrolling.state(&mut self.encoded.encoder.terms, 0).to_vec();
        for (now, at) in cells.into_iter().zip(state) {
            first.set(now, found.value(&self.encoded.encoder.terms, at));
        }
        let constants = self.encoded.constants(&first);
        let Some(plain) = constants.iter().cloned().collect::<Option<Vec<Value>>>() else {
            return unconfirmed("a constant has no plain value");
        };
        let items = plain.iter().cloned().map(|v| Some(v.into())).collect::<Vec<_>>();
        let cx = Cx::new(self.model, self.scope).with_fuel(FUEL);
        let mut example =
            Example { constants: shown(self.model, &self.model.constants, &constants), ..Example::default() };
        if let Kind::Invariant(None, i) = kind {
            let start = State { constants: items.into(), variables: vec![] };
            let initial = reference::initial_states(&cx, &start);
            let broken = initial.found.into_iter().find(|s| self.breaks(&cx, s, i));
            return match broken {
                Some(state) if cx.truncated().is_empty() => {
                    example.after = Some(shown(self.model, &self.model.variables, &state.variables));
                    Status::Disproved(Some(Box::new(example)))
                }
                _ => unconfirmed("no initial state breaks it"),
            };
        }
        let Some(values) = self.encoded.state(&first) else { return unconfirmed("it is no state") };
        let variables: Vec<Option<Value>> = values.into_iter().map(Some).collect();
        example.before = Some(shown(self.model, &self.model.variables, &variables));
        let state = State { constants: items.into(), variables };
        if (0..self.model.invariant.len()).any(|i| self.breaks(&cx, &state, i)) {
            return unconfirmed("the invariant does not hold in it");
        }
        let next = || reference::successors(&cx, &state);
        let is_so = match kind {
            Kind::Invariant(Some(op), i) => {
                let next = next();
                let broken = next.steps.into_iter().find(|s| s.op == op && self.breaks(&cx, &s.state, i));
                if let Some(s) = &broken {
                    let params: Vec<Option<Value>> = s.params.iter().cloned().map(Some).collect();
                    let of = &self.model.operations[op.index()].params;
                    let decls: Vec<Decl> = of.iter().map(|l| self.model.local(*l).clone()).collect();
                    example.parameters = shown(self.model, &decls, &params);
                    example.after = Some(shown(self.model, &self.model.variables, &s.state.variables));
                }
                broken.is_some()
            }
            Kind::Defined(op) => next().faults.iter().any(|f| f.op == op && is_wd(&f.fault)),
            Kind::Feasible(op) => next().steps.iter().any(|s| s.op == op),
            Kind::NoDeadlock => {
                let next = next();
                next.steps.is_empty() && next.faults.is_empty()
            }
            Kind::Assertion(i) => {
                let holds = reference::holds(&cx, &Env::of(&state), &self.model.assertions[i]);
                !matches!(holds, Ok(true)) && holds.err().is_none_or(|f| is_wd(&f))
            }
            Kind::Invariant(None, _) | Kind::Stated(_) => false,
        };
        match is_so && cx.truncated().is_empty() {
            true => Status::Disproved(Some(Box::new(example))),
            false => unconfirmed("it is not as the solver says"),
        }
    }

    /// A conjunct is false in a state, or has no value.
    fn breaks(&self, cx: &Cx<'m>, state: &State<'m>, i: usize) -> bool {
        match reference::holds(cx, &Env::of(state), &self.model.invariant[i]) {
            Ok(truth) => !truth,
            Err(fault) => is_wd(&fault),
        }
    }
}

fn is_wd(fault: &Fault) -> bool {
    matches!(fault, Fault::Wd(_))
}

pub(super) fn shown(model: &Model, decls: &[Decl], values: &[Option<Value>]) -> Shown {
    let one = |(d, v): (&Decl, &Option<Value>)| {
        let value = v.as_ref()?;
        Some((d.name.to_string(), Show { value, ty: &d.ty, model }.to_string()))
    };
    decls.iter().zip(values).filter_map(one).collect()
}
