//! What the engines are given and what they answer, and the test that every counterexample has to pass.

use crate::eval::{Evaluator, Value};
use crate::solver::{Make, NoAnswer, Outcome, Solver, Stop};
use crate::term::{Assignment, Bool, Terms, Var};
use crate::transition::Transitions;

/// What is known before: which event preserves which property.
///
/// `preserved[e][p]` says: from every state in which the axioms hold and *no* property of the system is bad, event `e`
/// leads only to states in which property `p` is not bad. That is proved for exactly these properties, and under the
/// same axioms. It says nothing about initial states and nothing about undefined events, so both are always looked at.
/// An engine uses it for a step only where no property can be bad before that step: because the depths before were
/// searched, or because that is its hypothesis.
#[derive(Clone, Debug, Default)]
pub struct Preserved(Vec<Vec<bool>>);

impl Preserved {
    pub fn nothing(system: &Transitions) -> Preserved {
        Preserved(vec![vec![false; system.properties.len()]; system.events.len()])
    }

    pub fn set(&mut self, event: usize, property: usize) {
        if let Some(cell) = self.0.get_mut(event).and_then(|row| row.get_mut(property)) {
            *cell = true;
        }
    }

    pub fn contains(&self, event: usize, property: usize) -> bool {
        self.0.get(event).and_then(|row| row.get(property)).copied().unwrap_or(false)
    }
}

/// How an engine is to work.
pub struct Settings<'a> {
    pub make: &'a Make<'a>,
    /// Another back end, which has to agree with a proof if it has an opinion.
    pub other: Option<&'a Make<'a>>,
    /// The same that the solvers look at.
    pub stop: Stop,
    /// Steps of a path, k of a k-induction, frames of IC3: not more than this.
    pub depth: usize,
    pub preserved: Option<&'a Preserved>,
    /// Told of every depth, k or frame when it is done.
    pub on_depth: Option<&'a dyn Fn(usize)>,
}

impl<'a> Settings<'a> {
    pub fn new(make: &'a Make<'a>) -> Settings<'a> {
        Settings { make, other: None, stop: Stop::never(), depth: 1000, preserved: None, on_depth: None }
    }

    /// Whether this need not be asked: see [`Preserved`].
    pub(crate) fn is_preserved(&self, event: usize, property: usize) -> bool {
        self.preserved.is_some_and(|p| p.contains(event, property))
    }

    pub(crate) fn tell(&self, depth: usize) {
        if let Some(tell) = self.on_depth {
            tell(depth);
        }
    }

    pub(crate) fn solver(&self) -> Result<Box<dyn Solver>, Why> {
        (self.make)().map_err(Why::NoSolver)
    }

    /// The makers of the solvers that check a proof: a fresh one of the same kind first.
    pub(crate) fn checkers(&self) -> impl Iterator<Item = &'a Make<'a>> {
        [Some(self.make), self.other].into_iter().flatten()
    }
}

#[derive(Clone, Debug)]
pub enum Answer {
    Fails(Counterexample),
    Holds(Proof),
    Unknown(Unknown),
}

/// A path to a bad state. Every one that an engine returns has been evaluated exactly.
#[derive(Clone, Debug)]
pub struct Counterexample {
    /// Rigid variables, the inputs of axioms and initialisation, and the first state: the cells' `now`. No state if the
    /// initialisation is what is undefined.
    pub first: Assignment,
    pub steps: Vec<PathStep>,
    pub why: Bad,
    /// Inputs of what is bad.
    pub inputs: Assignment,
    /// There is no shorter one.
    pub is_shortest: bool,
}

#[derive(Clone, Debug)]
pub struct PathStep {
    /// Its place in [`Transitions::events`].
    pub event: usize,
    pub inputs: Assignment,
    /// The state after it: the cells' `now`.
    pub state: Assignment,
}

/// What is bad about a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bad {
    Property(usize),
    /// This event has no value.
    Undefined(usize),
    /// There is not even a state.
    Initialisation,
}

/// Only an engine of this crate makes one, when it has been checked.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Proof {
    /// Over `now` and rigid variables: true of every initial state, preserved by every event, and no state of it is
    /// bad. None if the proof is of another kind.
    pub invariant: Option<Vec<Bool>>,
    /// k of a k-induction, frames of IC3, or the length of the longest path.
    pub depth: usize,
    /// An answer that there is no model is one for all integers, whoever gives it (`solver::Outcome`); this says
    /// whether a solver without widths agreed.
    pub is_seen_unbounded: bool,
    /// Part of it was known before: [`Preserved`].
    pub rests_on_preserved: bool,
    /// The solvers that agree.
    pub checked_by: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unknown {
    pub why: Why,
    /// No path up to this length is bad.
    pub depth: usize,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Why {
    Solver(NoAnswer),
    NoSolver(String),
    /// As deep as it should go.
    Depth,
    /// More sequences of events than it should look at.
    TooMany,
    /// A mistake of ours: two parts that have to agree do not.
    Internal(String),
}

/// The answer of a search that keeps account of the depth it has reached; without one, why and how deep it came.
pub(crate) fn answered(search: impl FnOnce(&mut usize) -> Result<Answer, Why>) -> Answer {
    let mut depth = 0;
    search(&mut depth).unwrap_or_else(|why| Answer::Unknown(Unknown { why, depth }))
}

impl From<NoAnswer> for Why {
    fn from(why: NoAnswer) -> Why {
        Why::Solver(why)
    }
}

impl std::fmt::Display for Why {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Why::Solver(NoAnswer::Overflow) => write!(f, "integers need more bits than the solver may use"),
            Why::Solver(NoAnswer::Stopped) => write!(f, "the time is over"),
            Why::Solver(NoAnswer::GaveUp(why)) => write!(f, "the solver gave up: {why}"),
            Why::NoSolver(why) => write!(f, "{why}"),
            Why::Depth => write!(f, "the depth to which it should search is reached"),
            Why::TooMany => write!(f, "there are too many sequences of events"),
            Why::Internal(why) => write!(f, "internal error: {why}"),
        }
    }
}

/// A question to a solver with the two answers that engines go on with.
pub(crate) enum Asked {
    Sat(Assignment),
    Unsat(Vec<Bool>),
}

pub(crate) fn ask(solver: &mut dyn Solver, terms: &Terms, assumptions: &[Bool]) -> Result<Asked, Why> {
    match solver.check(terms, assumptions) {
        Outcome::Sat(model) => Ok(Asked::Sat(model)),
        Outcome::Unsat(core) => Ok(Asked::Unsat(core)),
        Outcome::Unknown(why) => Err(why.into()),
    }
}

pub(crate) fn copy(terms: &Terms, from: &Assignment, vars: &[Var], to: &mut Assignment) {
    for &v in vars {
        to.set(v, from.value(terms, v));
    }
}

/// Evaluates a counterexample step by step with the formulas of the system. An error says what is not true of it.
pub fn replay(terms: &Terms, system: &Transitions, path: &Counterexample) -> Result<(), String> {
    let mut rigid = Assignment::default();
    copy(terms, &path.first, &system.rigid, &mut rigid);
    copy(terms, &path.first, &system.axiom_inputs, &mut rigid);
    let demand = |claim: Bool, values: &Assignment, what: &dyn Fn() -> String| {
        if !values.is_within_bounds(terms) {
            return Err(format!("{}: a value is outside its bounds", what()));
        }
        if Evaluator::new(terms, values).bool(claim) {
            Ok(())
        } else {
            Err(format!("{} is not true", what()))
        }
    };
    demand(system.axioms, &rigid, &|| "an axiom".into())?;
    let mut before = rigid.clone();
    copy(terms, &path.first, &system.init_inputs, &mut before);
    if path.why == Bad::Initialisation {
        return demand(system.init_undefined, &before, &|| "that the initialisation is undefined".into());
    }
    let move_state = |from: &Assignment, to: &mut Assignment, into_next: bool| {
        for cell in &system.cells {
            to.set(if into_next { cell.next } else { cell.now }, from.value(terms, cell.now));
        }
    };
    move_state(&path.first, &mut before, true);
    demand(system.init, &before, &|| "that the first state is an initial one".into())?;
    let mut state = &path.first;
    for (n, step) in path.steps.iter().enumerate() {
        let event = system.events.get(step.event).ok_or("there is no such event")?;
        let mut values = rigid.clone();
        move_state(state, &mut values, false);
        move_state(&step.state, &mut values, true);
        copy(terms, &step.inputs, &event.inputs, &mut values);
        demand(event.step, &values, &|| format!("that step {} is one of {}", n + 1, event.name))?;
        state = &step.state;
    }
    let (claim, inputs) = match path.why {
        Bad::Property(p) => system.properties.get(p).map(|p| (p.is_bad, &p.inputs)),
        Bad::Undefined(e) => system.events.get(e).map(|e| (e.is_undefined, &e.inputs)),
        Bad::Initialisation => None,
    }
    .ok_or("there is no such property")?;
    let mut values = rigid.clone();
    move_state(state, &mut values, false);
    copy(terms, &path.inputs, inputs, &mut values);
    demand(claim, &values, &|| "that the last state is bad".into())
}

/// The literal terms that say what a variable is: one for a boolean, two inequalities for an integer, so that a core
/// can keep one of them.
pub(crate) fn value_literals(terms: &mut Terms, v: Var, value: &Value) -> Vec<Bool> {
    match (v, value) {
        (Var::Bool(v), Value::Bool(value)) => {
            let term = terms.of_bool(v);
            vec![if *value { term } else { !term }]
        }
        (Var::Int(v), Value::Int(value)) => {
            let (term, value) = (terms.of_int(v), terms.constant(value.clone()));
            let both = [terms.le(term, value), terms.le(value, term)];
            both.into_iter().filter(|b| *b != Bool::TRUE).collect()
        }
        _ => vec![],
    }
}
