//! The check of a counterexample: a trace file of kanon, followed step by step by the reference evaluator, and judged where
//! it ends. What the file says of the end is not asked: it says nothing.

use crate::Rejected;
use crate::check::{Effort, UNBOUNDED};
use crate::fits::opened_at;
use crate::ltl;
use crate::reject::Place;
use kanon_language::model::open::Opened;
use kanon_language::model::reading::Reading;
use kanon_language::model::{BinOp, ConstId, Decl, Expr, ExprKind, LocalId, Model, OpId, raise};
use kanon_semantics::plain::fault::Fault;
use kanon_semantics::plain::{Scope, Show, Value};
use kanon_semantics::reference::{self, Cx, Env, Item, Outcomes, Reached, State, Successor, Successors};
use num_bigint::BigInt;
use serde_json::Value as Json;
use std::path::Path;
use std::sync::Arc;

/// Steps of a trace at most.
const MAX_STEPS: usize = 1_000_000;

/// A trace that is one of the model, and ends in something that is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refuted {
    pub machine: String,
    /// With INITIALISATION.
    pub steps: usize,
    /// What is wrong where it ends, at least one thing.
    pub wrong: Vec<String>,
}

pub(crate) struct Step {
    pub operation: String,
    pub parameters: Vec<(String, String)>,
    /// Empty where nothing is said of them.
    pub results: Vec<(String, String)>,
    pub state: Vec<(String, String)>,
}

pub(crate) struct Trace {
    machine: String,
    /// What it refutes; without one it is judged where it ends.
    formula: Option<String>,
    /// The last state is this one again, from which on the path repeats itself.
    pub back: Option<usize>,
    sets: Vec<(String, u64)>,
    minint: BigInt,
    maxint: BigInt,
    constants: Vec<(String, String)>,
    pub steps: Vec<Step>,
}

/// Checks a trace of a model.
///
/// # Errors
/// The first step that the model has not, or that cannot be followed; or that nothing is wrong at the end.
pub fn check_trace(model: &Path, text: &str, wd: Reading, effort: Effort) -> Result<Refuted, Rejected> {
    let trace = read(text)?;
    let mut opened = opened_at(model, &trace.sets, (&trace.minint, &trace.maxint), wd)?;
    if opened.model.name.as_ref() != trace.machine {
        return Err(Rejected::OtherFiles(format!("the machine is {}", opened.model.name)));
    }
    let constants = literals(&mut opened, &trace.constants)?;
    let formula = match &trace.formula {
        Some(text) => Some(ltl::bound(&mut opened, text)?),
        None => None,
    };
    let walk = Walk { model: &opened.model, scope: &opened.scope, effort };
    let wrong = match &formula {
        Some(bound) => ltl::path::judged(&walk, &trace, &constants, bound)?,
        None => walk.to_the_end(&trace, &constants)?,
    };
    Ok(Refuted { machine: trace.machine, steps: trace.steps.len(), wrong })
}

fn malformed(why: &'static str) -> Rejected {
    Rejected::Trace { step: 0, why: why.into() }
}

fn read(text: &str) -> Result<Trace, Rejected> {
    let mut json: Json = serde_json::from_str(text).map_err(|_| malformed("it is not JSON"))?;
    if let Json::Array(answers) = &json {
        let path = answers.iter().find_map(path_of);
        json = path.ok_or(malformed("no answer in it has a path from an initial state"))?;
    }
    if json.get("format").and_then(Json::as_str) != Some("kanon-trace") {
        return Err(malformed("it is no trace of kanon's own format"));
    }
    if json.get("version").and_then(Json::as_u64) != Some(1) {
        return Err(malformed("a version that is not known here"));
    }
    let formula = json.get("formula").and_then(Json::as_str).map(String::from);
    let back = match json.get("loop") {
        None | Some(Json::Null) => None,
        Some(place) => {
            let place = place.as_u64().and_then(|p| usize::try_from(p).ok());
            Some(place.ok_or(malformed("`loop` is no place"))?)
        }
    };
    if back.is_some() && formula.is_none() {
        return Err(malformed("a path without an end, and no formula that it could refute"));
    }
    let scope = json.get("scope").ok_or(malformed("`scope` is missing"))?;
    let sets = scope.get("sets").and_then(Json::as_object).ok_or(malformed("`sets` is missing"))?;
    let sets = sets.iter().map(|(name, n)| Some((name.clone(), n.as_u64()?))).collect::<Option<_>>();
    // A string where a number is too large for others to read it exactly.
    let bound = |name: &str| -> Option<BigInt> {
        match scope.get(name)? {
            Json::String(text) => text.parse().ok(),
            number => number.to_string().parse().ok(),
        }
    };
    let machine = json.get("machine").and_then(Json::as_str).ok_or(malformed("`machine` is missing"))?;
    let steps = json.get("steps").and_then(Json::as_array).ok_or(malformed("`steps` is missing"))?;
    if steps.len() > MAX_STEPS {
        return Err(malformed("it has too many steps"));
    }
    let step = |s: &Json| {
        let operation = s.get("operation")?.as_str()?.to_string();
        let results = if s.get("results").is_some() { pairs(s.get("results"))? } else { vec![] };
        Some(Step {
            operation,
            parameters: pairs(s.get("parameters"))?,
            results,
            state: pairs(s.get("state"))?,
        })
    };
    Ok(Trace {
        machine: machine.into(),
        formula,
        back,
        sets: sets.ok_or(malformed("a size is no number"))?,
        minint: bound("minint").ok_or(malformed("`minint` is no integer"))?,
        maxint: bound("maxint").ok_or(malformed("`maxint` is no integer"))?,
        constants: pairs(json.get("constants")).ok_or(malformed("`constants` is wrong"))?,
        steps: steps.iter().map(step).collect::<Option<_>>().ok_or(malformed("a step is wrong"))?,
    })
}

/// The path of an answer to a formula, as a trace.
fn path_of(answer: &Json) -> Option<Json> {
    let finding = answer.get("finding")?;
    if finding.get("from_initial")?.as_bool() != Some(true) {
        return None;
    }
    let mut steps = finding.get("stem")?.as_array()?.clone();
    let mut back = Json::Null;
    if let Some(repeated) = finding.get("loop")?.as_array() {
        back = steps.len().checked_sub(1)?.into();
        steps.extend(repeated.iter().cloned());
    }
    Some(serde_json::json!({
        "format": "kanon-trace",
        "version": 1,
        "machine": answer.get("machine")?,
        "scope": answer.get("scope")?,
        "formula": answer.get("formula")?,
        "constants": finding.get("constants")?,
        "loop": back,
        "steps": steps,
    }))
}

fn pairs(json: Option<&Json>) -> Option<Vec<(String, String)>> {
    json?.as_object()?.iter().map(|(k, v)| Some((k.clone(), v.as_str()?.to_string()))).collect()
}

/// The constants that the trace gives, as expressions; `None` for one that it leaves out.
fn literals(opened: &mut Opened, given: &[(String, String)]) -> Result<Vec<Option<Expr>>, Rejected> {
    let names: Vec<Arc<str>> = opened.model.constants.iter().map(|d| d.name.clone()).collect();
    if let Some((other, _)) = given.iter().find(|(name, _)| !names.iter().any(|n| **n == **name)) {
        return Err(Rejected::Trace { step: 0, why: format!("there is no constant `{other}`") });
    }
    let literal = |name: &Arc<str>| {
        let Some((_, text)) = given.iter().find(|(n, _)| **n == **name) else { return Ok(None) };
        let wrong = || Rejected::Trace { step: 0, why: format!("`{text}` is no value of `{name}`") };
        let equation = opened.predicate("trace", &format!("{name} = ({text})")).map_err(|_| wrong())?;
        match equation.kind {
            ExprKind::Binary(BinOp::Eq, _, value) => Ok(Some(*value)),
            _ => Err(wrong()),
        }
    };
    names.iter().map(literal).collect()
}

pub(crate) struct Walk<'m> {
    pub model: &'m Model,
    scope: &'m Scope,
    pub effort: Effort,
}

impl<'m> Walk<'m> {
    pub fn cx(&self, fuel: u64) -> Cx<'m> {
        Cx::new(self.model, self.scope).with_fuel(fuel)
    }

    fn to_the_end(&self, trace: &Trace, constants: &'m [Option<Expr>]) -> Result<Vec<String>, Rejected> {
        let start = self.valuation(trace, constants)?;
        let cx = self.cx(self.effort.root);
        let initial = reference::initial_states(&cx, &start);
        let Some((first, rest)) = trace.steps.split_first() else {
            // It ends before it begins.
            let faults: Vec<&Fault> = initial.faults.iter().collect();
            if !cx.truncated().is_empty() {
                return Err(cut(1));
            }
            let mut wrong = self.faulty("INITIALISATION", &faults, 0)?;
            if wrong.is_empty() && initial.found.is_empty() {
                wrong.push("there is no initial state".into());
            }
            return nonempty(wrong);
        };
        let mut state = self.first(first, &initial, &cx)?;
        let mut next = self.successors(&state);
        for (i, step) in rest.iter().enumerate() {
            let found = self.step(i + 2, step, &next.0)?;
            if next.1 && !self.is_certain(&state, found) {
                return Err(cut(i + 2));
            }
            state = found.state.clone();
            next = self.successors(&state);
        }
        nonempty(self.judge(&state, &next, trace.steps.len())?)
    }

    /// Whether a step is one of the model although something was cut short where it was found: with its parameters it is
    /// found again, and nothing is.
    fn is_certain(&self, state: &State<'m>, step: &Successor<'m>) -> bool {
        let results = &self.model.operations[step.op.index()].results;
        self.executed(state, step.op, &step.params).is_some_and(|ran| {
            ran.done.iter().any(|end| {
                let is =
                    |(l, v): (&LocalId, &Option<Value>)| end.local(*l).and_then(Item::value) == v.as_ref();
                end.state().variables == step.state.variables && results.iter().zip(&step.results).all(is)
            })
        })
    }

    /// What an operation does with these parameters, unless something in it is cut short.
    fn executed(&self, state: &State<'m>, op: OpId, params: &[Value]) -> Option<Outcomes<'m>> {
        let cx = self.cx(self.effort.state);
        let names = self.model.operations[op.index()].params.iter();
        let env = names.zip(params).fold(Env::of(state), |env, (l, v)| env.with_local(*l, v.clone()));
        let ran = reference::execute_operation(&cx, &env, op);
        cx.truncated().is_empty().then_some(ran)
    }

    /// The initial state with which a trace begins.
    pub fn first(
        &self,
        first: &Step,
        initial: &Reached<State<'m>>,
        cx: &Cx<'m>,
    ) -> Result<State<'m>, Rejected> {
        if !cx.truncated().is_empty() {
            return Err(cut(1));
        }
        if first.operation != "INITIALISATION" || !first.parameters.is_empty() {
            return Err(Rejected::Trace { step: 1, why: "it does not begin with INITIALISATION".into() });
        }
        let found = initial.found.iter().find(|s| self.shows(&s.variables, &first.state));
        found.cloned().ok_or_else(|| {
            let limit = initial.faults.iter().find(|f| matches!(f, Fault::Limit(..)));
            self.missing(1, "INITIALISATION", limit)
        })
    }

    /// The successor that a step of a trace means; steps are numbered from 1, and INITIALISATION is the first.
    pub fn step<'s>(
        &self,
        number: usize,
        step: &Step,
        next: &'s Successors<'m>,
    ) -> Result<&'s reference::Successor<'m>, Rejected> {
        let is_step = |s: &&reference::Successor| {
            let op = &self.model.operations[s.op.index()];
            let results: Option<Vec<Value>> = s.results.iter().cloned().collect();
            *op.name == *step.operation
                && self.passes(&op.params, &s.params, &step.parameters)
                && results.is_none_or(|r| self.passes(&op.results, &r, &step.results))
                && self.shows(&s.state.variables, &step.state)
        };
        next.steps.iter().find(is_step).ok_or_else(|| {
            let limit = next.faults.iter().map(|f| &f.fault).find(|f| matches!(f, Fault::Limit(..)));
            self.missing(number, &step.operation, limit)
        })
    }

    pub fn missing(&self, step: usize, operation: &str, limit: Option<&Fault>) -> Rejected {
        match limit {
            Some(Fault::Limit(_, why)) => undecided(step, format!("{operation}: {why}")),
            _ => Rejected::Trace { step, why: format!("{operation} does not lead to this state") },
        }
    }

    /// The valuation of the trace. It fulfils PROPERTIES.
    pub fn valuation(&self, trace: &Trace, given: &'m [Option<Expr>]) -> Result<State<'m>, Rejected> {
        let cx = self.cx(self.effort.root);
        let mut env = Env::new(self.model);
        for (i, e) in given.iter().enumerate() {
            let Some(e) = e else { return self.searched(trace, &cx) };
            let value = reference::eval(&cx, &env, e);
            let why = || format!("the value of `{}` has none", self.model.constants[i].name);
            let value = value.map_err(|_| Rejected::Trace { step: 0, why: why() })?;
            env = env.with_constant(ConstId(i as u32), Item::Value(value));
        }
        for p in &self.model.properties {
            let text = || raise::text(p, self.model);
            match reference::holds(&cx, &env, p) {
                Ok(true) => {}
                Ok(false) => {
                    return Err(Rejected::Trace { step: 0, why: format!("{} is false", text()) });
                }
                Err(Fault::Limit(_, why)) => {
                    return Err(Rejected::Undecided { at: Place::Constants, why: why.to_string() });
                }
                Err(Fault::Wd(_)) => {
                    return Err(Rejected::Trace { step: 0, why: format!("{} has no value", text()) });
                }
            }
        }
        if !cx.truncated().is_empty() {
            return Err(Rejected::Undecided { at: Place::Constants, why: UNBOUNDED.into() });
        }
        Ok(env.state())
    }

    /// The same where a constant is symbolic and not in the file: the first valuation that has the others.
    fn searched(&self, trace: &Trace, cx: &Cx<'m>) -> Result<State<'m>, Rejected> {
        let reached = reference::constants(cx);
        let fits = |s: &&State<'m>| {
            let values = s.constants.iter().zip(&self.model.constants);
            trace.constants.iter().all(|(name, text)| {
                let found = values.clone().find(|(_, d)| *d.name == **name);
                let value = found.and_then(|(c, d)| Some((c.as_ref()?.value()?, d)));
                value.is_some_and(|(value, d)| self.shown(value, d) == *text)
            })
        };
        if !cx.truncated().is_empty() {
            return Err(Rejected::Undecided { at: Place::Constants, why: UNBOUNDED.into() });
        }
        match (reached.found.iter().find(fits), reached.faults.first()) {
            (Some(state), _) => Ok(state.clone()),
            (None, Some(Fault::Limit(_, why))) => {
                Err(Rejected::Undecided { at: Place::Constants, why: why.to_string() })
            }
            (None, _) => {
                Err(Rejected::Trace { step: 0, why: "PROPERTIES do not allow these constants".into() })
            }
        }
    }

    /// The steps from a state, and whether something was cut short: an integer that nothing bounds.
    fn successors(&self, state: &State<'m>) -> (Successors<'m>, bool) {
        let cx = self.cx(self.effort.state);
        let next = reference::successors(&cx, state);
        (next, !cx.truncated().is_empty())
    }

    fn shown(&self, value: &Value, d: &Decl) -> String {
        Show { value, ty: &d.ty, model: self.model }.to_string()
    }

    /// Whether these are the values of all variables.
    pub fn shows(&self, values: &[Option<Value>], given: &[(String, String)]) -> bool {
        let decls = &self.model.variables;
        given.len() == decls.len()
            && decls.iter().zip(values).all(|(d, v)| {
                let text = given.iter().find(|(name, _)| **name == *d.name).map(|(_, text)| text);
                v.as_ref().is_some_and(|v| text == Some(&self.shown(v, d)))
            })
    }

    /// Whether these are the parameters, as far as they are given.
    pub fn passes(&self, params: &[LocalId], values: &[Value], given: &[(String, String)]) -> bool {
        let known = |name: &str| params.iter().any(|p| *self.model.local(*p).name == *name);
        given.iter().all(|(name, _)| known(name))
            && params.iter().zip(values).all(|(p, v)| {
                let d = self.model.local(*p);
                let text = given.iter().find(|(name, _)| **name == *d.name);
                text.is_none_or(|(_, text)| *text == self.shown(v, d))
            })
    }

    /// What is wrong with the last state.
    fn judge(
        &self,
        state: &State<'m>,
        (next, is_cut): &(Successors<'m>, bool),
        steps: usize,
    ) -> Result<Vec<String>, Rejected> {
        let env = Env::of(state);
        let invariant = self.model.invariant.iter().map(|e| (e, false, "the invariant"));
        let assertions = self.model.assertions.iter().map(|e| (e, false, "an assertion"));
        let goal = self.model.goal.iter().map(|e| (e, true, "the goal"));
        let (mut wrong, mut limit) = (vec![], None);
        let mut open = |why: Rejected| limit = limit.take().or(Some(why));
        for (e, told, what) in invariant.chain(assertions).chain(goal) {
            let text = || raise::text(e, self.model);
            let cx = self.cx(self.effort.state);
            let truth = reference::holds(&cx, &env, e);
            match truth {
                _ if !cx.truncated().is_empty() => open(cut(steps)),
                Ok(truth) if truth == told => wrong.push(format!("{what} is {truth}: {}", text())),
                Ok(_) => {}
                Err(Fault::Wd(_)) => wrong.push(format!("{what} has no value: {}", text())),
                Err(Fault::Limit(_, why)) => open(undecided(steps, why)),
            }
        }
        for f in &next.faults {
            let name = &self.model.operations[f.op.index()].name;
            let is_whole = || self.executed(state, f.op, &f.params).is_some_and(|ran| !ran.faults.is_empty());
            match self.faulty(name, &[&f.fault], steps) {
                Ok(_) if *is_cut && !is_whole() => open(cut(steps)),
                Ok(one) => wrong.extend(one),
                Err(why) => open(why),
            }
        }
        if next.steps.is_empty() && next.faults.is_empty() && !self.model.operations.is_empty() {
            match is_cut {
                true => open(cut(steps)),
                false => wrong.push("no operation is enabled".into()),
            }
        }
        match limit {
            Some(why) if wrong.is_empty() => Err(why),
            _ => Ok(wrong),
        }
    }

    fn faulty(&self, what: &str, faults: &[&Fault], step: usize) -> Result<Vec<String>, Rejected> {
        let mut wrong = vec![];
        for fault in faults {
            match fault {
                Fault::Wd(wd) => wrong.push(format!("{what} has no value ({:?})", wd.kind)),
                Fault::Limit(_, why) => return Err(undecided(step, format!("{what}: {why}"))),
            }
        }
        Ok(wrong)
    }
}

fn undecided(step: usize, why: impl Into<String>) -> Rejected {
    Rejected::Undecided { at: Place::Step { step: step as u64 }, why: why.into() }
}

/// What was found there need not be so.
fn cut(step: usize) -> Rejected {
    undecided(step, UNBOUNDED)
}

fn nonempty(wrong: Vec<String>) -> Result<Vec<String>, Rejected> {
    if wrong.is_empty() { Err(Rejected::NothingWrong) } else { Ok(wrong) }
}
