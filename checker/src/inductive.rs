//! A proof by formulas, checked without formulas where the scope is small: all states in the invariant are listed, and the
//! reference evaluator says that every initial state is one of them and every step from one of them leads to another. Then
//! neither the encoder nor a refutation is believed.
//!
//! The invariant is what is claimed and the lemmas of the statement, as B. Whether these are the lemmas of the formulas
//! does not matter: any invariant that is inductive is a proof.

use crate::check::{Accepted, Effort, Part, begin, fault_at, gave_up};
use crate::reject::{Place, Rejected};
use crate::statement::{Argument, Statement};
use kanon_language::model::open::Opened;
use kanon_language::model::{Decl, Expr, Model};
use kanon_semantics::plain::fault::Fault;
use kanon_semantics::plain::{Scope, Show, Value};
use kanon_semantics::reference::{self, Cx, Env, State};
use std::collections::BTreeMap;
use std::io::Read;

/// States in the invariant at most, for each valuation of the constants.
const MOST: usize = 100_000;

/// Checks the proof of a statement about this model. `goal` is what is claimed to be false everywhere.
///
/// # Errors
/// What is wrong; what is too large to be enumerated is not decided.
pub(crate) fn check_invariant<R: Read>(
    opened: &mut Opened,
    statement: Statement,
    goal: Option<&Expr>,
    certificate: &mut dyn FnMut() -> std::io::Result<R>,
    effort: Effort,
) -> Result<Accepted, Rejected> {
    // Nothing in it is needed, but a damaged file is no certificate.
    let (mut reader, _) = begin(certificate)?;
    while reader.chunk()?.is_some() {}
    let by_formulas = statement.formulas.as_ref().ok_or(Rejected::Statement("it is no proof by formulas"))?;
    // An induction over single states is an invariant without lemmas.
    if !matches!(by_formulas.argument, Argument::Invariant | Argument::Induction(0)) {
        return Err(too_large("an argument about paths"));
    }
    let mut lemmas = vec![];
    for text in &by_formulas.lemmas {
        lemmas.push(opened.predicate("lemma", text).map_err(|_| too_large("a lemma that is no predicate"))?);
    }
    let (model, scope) = (&opened.model, &opened.scope);
    let claims = &statement.claims;
    let invariant = model.invariant.iter().filter(|_| claims.invariant);
    let assertions = model.assertions.iter().filter(|_| claims.assertions);
    let preds = invariant.chain(assertions).chain(&lemmas).collect();
    let mut walk =
        Walk { model, scope, preds, goal, effort, no_deadlock: claims.no_deadlock, transitions: 0 };
    let cx = walk.evaluator(effort.solved);
    let reached = reference::constants(&cx);
    match gave_up(&reached.faults, &cx) {
        Err(fault) => return Err(fault_at(Place::Constants, fault, "PROPERTIES")),
        Ok(Some(why)) => return Err(too_large(&why)),
        Ok(None) => {}
    }
    let mut states = 0;
    for (constants, number) in reached.found.iter().zip(1..) {
        states += walk.valuation(number, constants)?;
    }
    let (transitions, valuations) = (walk.transitions, reached.found.len() as u64);
    let statement = Statement { states, valuations, ..statement };
    let (constants, part, relative) = (vec![], Part::WHOLE, vec![]);
    Ok(Accepted { statement, transitions, witnesses: 0, nodes: 0, constants, part, relative })
}

fn too_large(why: &str) -> Rejected {
    let why = format!("{why}: kanon-symbolic-checker checks it by formulas");
    Rejected::Undecided { at: Place::Constants, why }
}

struct Walk<'m> {
    model: &'m Model,
    scope: &'m Scope,
    preds: Vec<&'m Expr>,
    goal: Option<&'m Expr>,
    effort: Effort,
    no_deadlock: bool,
    transitions: u64,
}

/// A step from a state in the invariant: where it is, its operation, and where it leads.
type Step = (usize, usize, Vec<Option<Value>>);

impl<'m> Walk<'m> {
    fn evaluator(&self, fuel: u64) -> Cx<'m> {
        Cx::new(self.model, self.scope).with_fuel(fuel)
    }

    /// How many states are in the invariant.
    fn valuation(&mut self, number: u64, constants: &State<'m>) -> Result<u64, Rejected> {
        let values: Vec<Option<Value>> =
            constants.constants.iter().map(|c| c.as_ref().and_then(|i| i.value().cloned())).collect();
        let at = || Place::Initial { valuation: number, shown: self.shown(&values, &self.model.constants) };
        let cx = self.evaluator(self.effort.solved);
        let all = reference::states_where(&cx, constants, &self.preds);
        if all.found.len() > MOST || !all.faults.is_empty() || !cx.truncated().is_empty() {
            return Err(too_large("the states in the invariant cannot be listed"));
        }
        // Those in which everything has a value and something is enabled, if that is claimed.
        let mut inside: BTreeMap<&[Option<Value>], usize> = BTreeMap::new();
        let mut steps: Vec<Step> = vec![];
        let mut transitions = 0;
        for (i, state) in all.found.iter().enumerate() {
            let cx = self.evaluator(self.effort.state);
            if let Some(goal) = self.goal
                && !is_false(&cx, state, goal)?
            {
                continue;
            }
            let next = reference::successors(&cx, state);
            let limit = next.faults.iter().any(|f| matches!(f.fault, Fault::Limit(..)));
            if limit || !cx.truncated().is_empty() {
                return Err(too_large("an operation cannot be followed"));
            }
            if !next.faults.is_empty() || (next.steps.is_empty() && self.no_deadlock) {
                continue;
            }
            inside.insert(&state.variables, i);
            transitions += next.steps.len() as u64;
            steps.extend(next.steps.into_iter().map(|s| (i, s.op.index(), s.state.variables)));
        }
        let cx = self.evaluator(self.effort.root);
        let initial = reference::initial_states(&cx, constants);
        if let Some(fault) = initial.faults.first() {
            return Err(fault_at(at(), fault, "INITIALISATION"));
        }
        if !cx.truncated().is_empty() {
            return Err(too_large("INITIALISATION cannot be followed"));
        }
        for state in &initial.found {
            if !inside.contains_key(&state.variables[..]) {
                let target = self.shown(&state.variables, &self.model.variables);
                return Err(Rejected::NotInductive { at: at(), operation: None, target });
            }
        }
        for (from, op, target) in &steps {
            if !inside.contains_key(&target[..]) {
                let shown = self.shown(&all.found[*from].variables, &self.model.variables);
                let at = Place::State { state: *from as u64 + 1, shown };
                let operation = Some(self.model.operations[*op].name.to_string());
                let target = self.shown(target, &self.model.variables);
                return Err(Rejected::NotInductive { at, operation, target });
            }
        }
        let states = inside.len() as u64;
        self.transitions += transitions;
        Ok(states)
    }

    fn shown(&self, values: &[Option<Value>], decls: &[Decl]) -> String {
        shown(self.model, values, decls)
    }
}

/// Whether a predicate is false, and has a value.
fn is_false<'m>(cx: &Cx<'m>, state: &State<'m>, p: &'m Expr) -> Result<bool, Rejected> {
    match reference::holds(cx, &Env::of(state), p) {
        Ok(truth) => Ok(!truth),
        Err(Fault::Limit(..)) => Err(too_large("the goal cannot be followed")),
        Err(_) => Ok(false),
    }
}

/// Values with their names.
pub(crate) fn shown(model: &Model, values: &[Option<Value>], decls: &[Decl]) -> String {
    let one = |(v, d): (&Option<Value>, &Decl)| match v {
        Some(value) => format!("{} = {}", d.name, Show { value, ty: &d.ty, model }),
        None => format!("{} = …", d.name),
    };
    values.iter().zip(decls).map(one).collect::<Vec<_>>().join(", ")
}
