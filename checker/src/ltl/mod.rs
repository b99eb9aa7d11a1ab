//! The check of a certificate of a temporal formula: the nodes of each listed state are followed along all steps that the
//! reference evaluator finds ([`proof`], with the rules of [`tableau`] on the formulas of [`closure`]); and counterexamples
//! are followed (`path`) and judged by the definition of the semantics ([`lasso`]).
//!
//! What is particular to B is here: the formula's text, the values of its atoms, witnesses, the records of the file.

pub mod closure;
pub mod lasso;
pub(crate) mod path;
pub mod proof;
pub mod tableau;

use crate::check::{Accepted, Checker, Effort, Follow, Part, Witnesses, again, begin, fault_at, follow};
use crate::codec::{self, Bytes};
use crate::container::Kind;
use crate::fits::STRICT;
use crate::permute::Movable;
use crate::reject::{Place, Rejected};
use crate::statement::Statement;
use closure::Closure;
use kanon_language::model::open::Opened;
use kanon_language::model::reading::Reading;
use kanon_language::model::{Expr, Model, SetId, Type};
use kanon_language::temporal::atoms::{self, Bound, From, StateAtom};
use kanon_semantics::plain::{Scope, Value};
use kanon_semantics::reference::{self, Cx, Env, State, Successor};
use proof::{Fair, Follower, Node, Proof, Reason, Step, Way, Wrong};
use std::collections::HashMap;
use std::io::Read;
use tableau::{Here, Set};

/// The formula of a statement, read again.
///
/// # Errors
/// What is wrong with it.
pub fn bound(opened: &mut Opened, text: &str) -> Result<Bound, Rejected> {
    if opened.reading == Reading::Strict {
        return Err(Rejected::Statement(STRICT));
    }
    let first = |d: Vec<kanon_language::lang::diag::Diagnostic>| {
        let message = d.first().map_or("it cannot be read".into(), |d| d.message.clone());
        Rejected::Model(format!("the formula: {message}"))
    };
    let bound = atoms::bind(opened, "formula", text).map_err(first)?;
    match bound.states.iter().any(|s| matches!(s, StateAtom::Current(_))) {
        true => Err(Rejected::Statement("`current` is no state of the statement")),
        false => Ok(bound),
    }
}

/// Which elements may be moved: those that neither the model nor the formula names; none where fairness speaks of single
/// instances of operations, since a path of representatives mixes them up.
fn movable(model: &Model, scope: &Scope, bound: &Bound) -> Movable {
    let states = bound.states.iter().filter_map(|s| match s {
        StateAtom::Predicate(e) => Some(e),
        StateAtom::Current(_) => None,
    });
    let atoms: Vec<&Expr> = states.chain(bound.steps.iter().filter_map(|s| s.test.as_ref())).collect();
    let mut movable = Movable::of(model, scope, &atoms);
    let mut single = false;
    if let Some(premise) = &bound.property.premise {
        single = premise.is_of_instances();
        premise.for_each(&mut |i| single |= bound.steps.get(*i as usize).is_none_or(|s| s.is_instance));
    }
    let current = bound.states.iter().any(|s| matches!(s, StateAtom::Current(_)));
    if single || current {
        for i in 0..model.sets.len() {
            movable.fix_type(&Type::Given(SetId(i as u32)));
        }
    }
    movable
}

/// Checks the proof of a formula about this model at this scope: that they are those of the statement is up to the caller.
///
/// # Errors
/// The first thing that is wrong, or that cannot be followed.
pub fn check_formula<R: Read>(
    model: &Model,
    scope: &Scope,
    bound: &Bound,
    certificate: &mut dyn FnMut() -> std::io::Result<R>,
    part: Part,
    effort: Effort,
) -> Result<Accepted, Rejected> {
    let (mut first, text) = begin(certificate)?;
    let statement = Statement::read(&text)?;
    if statement.claims.formula.is_none() {
        return Err(Rejected::Statement("it is about no formula"));
    }
    let mut second = again(certificate, &text)?;
    let mut checker = Checker::new(model, scope, &statement, movable(model, scope, bound), part, effort)?;
    let closure = Closure::of_negation(&bound.property.formula);
    let too_many = |_| Rejected::Node { at: Place::Constants, why: Wrong::TooMany, step: None };
    let ways = proof::ways(bound.property.premise.as_ref()).map_err(too_many)?;
    let atoms = Atoms { model, bound, instances: HashMap::new() };
    let mut formula = Formula { closure: &closure, ways: &ways, atoms, proof: Proof::default() };
    checker.read(&mut first, &mut |c, kind, bytes| formula.record(c, kind, bytes))?;
    let Formula { atoms, proof, .. } = formula;
    let (claimed, found) = (statement.states, proof.states() as u64);
    if claimed != found {
        return Err(Rejected::Counts { what: "states with nodes", claimed, found });
    }
    let mut walk = Walk { checker, atoms, follower: Follower::new(&closure, &ways, &proof) };
    follow(&mut walk, &mut second)?;
    let Checker { transitions, witnesses, relative, valuations: constants, .. } = walk.checker;
    let nodes = proof.nodes() as u64;
    Ok(Accepted { statement, transitions, witnesses, nodes, constants, part, relative })
}

/// What the proof lists besides states.
struct Formula<'a, 'm> {
    closure: &'a Closure,
    ways: &'a [Way],
    atoms: Atoms<'m>,
    proof: Proof,
}

impl Formula<'_, '_> {
    fn record(&mut self, c: &Checker, kind: Kind, bytes: &mut Bytes) -> Result<(), &'static str> {
        match kind {
            Kind::Obligations => {
                let set = set(bytes, self.closure).ok_or("a set of obligations is not one")?;
                self.proof.sets.push(set);
            }
            Kind::Components => {
                self.proof.components.push(reason(bytes).ok_or("a component is not one")?);
            }
            Kind::Instances => {
                let instance = instance(c, bytes).ok_or("an instance is not one")?;
                let number = self.atoms.instances.len() as u32;
                if self.atoms.instances.insert(instance, number).is_some() {
                    return Err("an instance is there twice");
                }
            }
            Kind::Nodes => {
                let mut nodes = vec![];
                for _ in 0..bytes.number().ok_or("a node is not one")? {
                    nodes.push(self.node(bytes).ok_or("a node is not one")?);
                }
                self.proof.push(nodes);
            }
            _ => return Err("a chunk that belongs to a proof of another kind"),
        }
        Ok(())
    }

    fn node(&self, bytes: &mut Bytes) -> Option<Node> {
        let below = |n: u64, most: usize| u32::try_from(n).ok().filter(|n| (*n as usize) < most);
        let set = below(bytes.number()?, self.proof.sets.len())?;
        let mut numbers = vec![];
        for _ in self.ways {
            let mut of = vec![];
            for _ in 0..bytes.number()? {
                of.push(below(bytes.number()?, self.proof.components.len())?);
            }
            // Without a number nothing would be said of it.
            numbers.push(Some(of).filter(|of| !of.is_empty())?);
        }
        Some(Node { set, numbers })
    }
}

/// An operation and its parameters, as bytes.
fn instance(c: &Checker, bytes: &mut Bytes) -> Option<Vec<u8>> {
    let record = bytes.left();
    let op = usize::try_from(bytes.number()?).ok()?;
    for p in &c.model.operations.get(op)?.params {
        bytes.value(&c.model.local(*p).ty, c.scope)?;
    }
    Some(record[..record.len() - bytes.left().len()].to_vec())
}

fn ascending(bytes: &mut Bytes, below: usize) -> Option<Vec<u32>> {
    let mut list: Vec<u32> = vec![];
    for _ in 0..bytes.number()? {
        let n = u32::try_from(bytes.number()?).ok().filter(|n| (*n as usize) < below)?;
        if list.last().is_some_and(|last| *last >= n) {
            return None;
        }
        list.push(n);
    }
    Some(list)
}

fn set(bytes: &mut Bytes, closure: &Closure) -> Option<Set> {
    let obligations = ascending(bytes, 2 * closure.len())?;
    Some(Set { obligations, past: ascending(bytes, closure.len())? })
}

fn fair(bytes: &mut Bytes) -> Option<Fair> {
    let of = bytes.number()?;
    let number = u32::try_from(bytes.number()?).ok()?;
    match of {
        0 => Some(Fair::Step(number)),
        1 => Some(Fair::Instance(number)),
        _ => None,
    }
}

fn reason(bytes: &mut Bytes) -> Option<Reason> {
    Some(match bytes.number()? {
        0 => Reason::Left,
        1 => Reason::Postponed(u32::try_from(bytes.number()?).ok()?),
        2 => Reason::Ignored(fair(bytes)?),
        3 => {
            let mut all = vec![];
            for _ in 0..bytes.number()? {
                all.push(fair(bytes)?);
            }
            Reason::Starved(all)
        }
        _ => return None,
    })
}

/// The atomic propositions of a formula, by the reference evaluator.
pub(crate) struct Atoms<'m> {
    pub model: &'m Model,
    pub bound: &'m Bound,
    /// Operations with their parameters, as bytes, and their numbers.
    pub instances: HashMap<Vec<u8>, u32>,
}

impl<'m> Atoms<'m> {
    /// The propositions of a state.
    pub fn of_state(&self, cx: &Cx<'m>, state: &State<'m>, at: &dyn Fn() -> Place) -> Result<u64, Rejected> {
        let env = Env::of(state);
        let mut props = 0;
        for (i, atom) in self.bound.states.iter().enumerate() {
            let StateAtom::Predicate(e) = atom else {
                return Err(Rejected::Statement("`current` is no state of the statement"));
            };
            let value = reference::holds(cx, &env, e).map_err(|f| fault_at(at(), &f, "the formula"))?;
            props |= u64::from(value).checked_shl(i as u32).unwrap_or(0);
        }
        Ok(props)
    }

    /// The propositions of a step, and its number if it is an instance that has one.
    pub fn of_step(
        &self,
        cx: &Cx<'m>,
        before: &State<'m>,
        step: &Successor<'m>,
        at: &dyn Fn() -> Place,
    ) -> Result<(u64, Option<u32>), Rejected> {
        let mut props = 0;
        for (i, atom) in self.bound.steps.iter().enumerate() {
            if atom.operation.is_some_and(|op| op != step.op) {
                continue;
            }
            let value = match &atom.test {
                None => true,
                Some(test) => {
                    let mut env = Env::of(&step.state);
                    for (local, from) in &atom.locals {
                        let value = match *from {
                            From::Old(v) => before.variables.get(v.index()).cloned().flatten(),
                            From::Parameter(p) => step.params.get(p).cloned(),
                            From::Result(r) => step.results.get(r).cloned().flatten(),
                        };
                        // What has no value is found to have none when it is asked for.
                        if let Some(v) = value {
                            env = env.with_local(*local, v);
                        }
                    }
                    reference::holds(cx, &env, test).map_err(|f| fault_at(at(), &f, "the formula"))?
                }
            };
            props |= u64::from(value).checked_shl(i as u32).unwrap_or(0);
        }
        if self.instances.is_empty() {
            return Ok((props, None));
        }
        Ok((props, self.instance(step).and_then(|i| self.instances.get(&i)).copied()))
    }

    /// The operation and its parameters, as bytes.
    pub fn instance(&self, step: &Successor) -> Option<Vec<u8>> {
        let mut out = vec![];
        codec::put_number(&mut out, step.op.index() as u64);
        let op = &self.model.operations[step.op.index()];
        let put = |(l, v): (_, &Value)| codec::put(&mut out, v, &self.model.local(l).ty);
        op.params.iter().copied().zip(&step.params).all(put).then_some(out)
    }
}

/// What a formula can ask of a state, given the propositions of the state and of its steps.
pub(crate) fn here<'a>(props: u64, state: &State, steps: impl Iterator<Item = (u64, &'a State<'a>)>) -> Here {
    let mut here = Here { props, enabled: 0, deadlock: true, sink: true };
    for (of_step, target) in steps {
        here.enabled |= of_step;
        here.deadlock = false;
        here.sink &= target.variables == state.variables;
    }
    here
}

/// The second reading: everything is followed.
struct Walk<'m, 'p> {
    checker: Checker<'m>,
    atoms: Atoms<'m>,
    follower: Follower<'p>,
}

impl<'m> Follow<'m> for Walk<'m, '_> {
    fn checker(&mut self) -> &mut Checker<'m> {
        &mut self.checker
    }

    fn start(&mut self, number: usize, constants: &State<'m>, witnesses: Witnesses) -> Result<(), Rejected> {
        let follower = &self.follower;
        self.checker.initial(number, constants, witnesses, &|c, listed, of, at| {
            let step = || Some(format!("from {}", c.shown(&of.variables, &c.model.variables)));
            follower.initial(listed).map_err(|why| Rejected::Node { at, why, step: step() })
        })
    }

    fn listed(
        &mut self,
        number: usize,
        (valuation, state): (usize, State<'m>),
        witnesses: Witnesses,
    ) -> Result<(), Rejected> {
        let c = &mut self.checker;
        let at = || c.place(number, &state);
        let cx = c.evaluator(c.effort.state);
        let props = self.atoms.of_state(&cx, &state, &at)?;
        let next = c.successors(&cx, &state, &at)?;
        let mut of_steps = vec![];
        for step in &next {
            of_steps.push(self.atoms.of_step(&cx, &state, step, &at)?);
        }
        c.not_truncated(&cx, at)?;
        let used = witnesses.len() as u64;
        let found = next.iter().map(|s| (&s.state.variables[..], ()));
        let targets = c.targets(valuation, found, witnesses, &at)?;
        let targets_of = next.iter().zip(&of_steps).map(|(s, (props, _))| (*props, &s.state));
        let here = here(props, &state, targets_of);
        let mut steps = vec![];
        for (step, (props, instance)) in next.iter().zip(of_steps) {
            let bytes = c.encoded(valuation, &step.state.variables);
            let place = bytes.and_then(|bytes| targets.binary_search_by(|t| t.bytes.cmp(&bytes)).ok());
            steps.push(Step { props, instance, target: place.and_then(|i| targets[i].listed) });
        }
        self.follower.state(number, &here, &steps).map_err(|why| {
            match (&why, about(&why).and_then(|i| next.get(i))) {
                (Wrong::NoTarget { .. }, Some(s)) => c.missing(s, at()),
                (_, step) => {
                    let step = step.map(|s| shown_step(c, s));
                    Rejected::Node { at: at(), why, step }
                }
            }
        })?;
        c.transitions += next.len() as u64;
        c.witnesses += used;
        Ok(())
    }
}

/// The step that something is wrong with.
fn about(why: &Wrong) -> Option<usize> {
    match why {
        Wrong::NoTarget { step, .. }
        | Wrong::NoNode { step, .. }
        | Wrong::Rises { step, .. }
        | Wrong::Stays { step, .. }
        | Wrong::Kept { step, .. }
        | Wrong::Fair { step, .. } => Some(*step),
        _ => None,
    }
}

fn shown_step(c: &Checker, step: &Successor) -> String {
    let name = &c.model.operations[step.op.index()].name;
    let target = c.shown(&step.state.variables, &c.model.variables);
    format!("{name}({}) to {target}", c.parameters(step).join(", "))
}
