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

use crate::check::{Accepted, Checker, Effort, Part, begin, fault_at, sets, unassigned};
use crate::codec::{self, Bytes};
use crate::container::{Kind, Reader};
use crate::permute::{Movable, Permutation};
use crate::reject::{Place, Rejected};
use crate::statement::Statement;
use crate::states::States;
use closure::Closure;
use kanon_language::model::open::Opened;
use kanon_language::model::{Expr, Model, SetId, Type};
use kanon_language::temporal::atoms::{self, Bound, From, StateAtom};
use kanon_semantics::plain::{Scope, Show, Value};
use kanon_semantics::reference::{self, Cx, Env, State, Successor};
use proof::{Fair, Follower, Node, Proof, Reason, Step, Way, Wrong};
use std::collections::{BTreeMap, HashMap};
use std::io::Read;
use tableau::{Here, Set};

/// The formula of a statement, read again.
///
/// # Errors
/// What is wrong with it.
pub fn bound(opened: &mut Opened, text: &str) -> Result<Bound, Rejected> {
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
    let (mut second, again) = begin(certificate)?;
    if again != text {
        return Err(Rejected::Unreadable("it has changed between two readings".into()));
    }
    let checker = Checker {
        model,
        scope,
        statement: &statement,
        movable: movable(model, scope, bound),
        goal: None,
        sets: sets(model, &statement)?,
        valuations: vec![],
        states: States::new(),
        effort,
        part,
        transitions: 0,
        witnesses: 0,
        relative: vec![],
    };
    let closure = Closure::of_negation(&bound.property.formula);
    let too_many = |_| Rejected::Node { at: Place::Constants, why: Wrong::TooMany, step: None };
    let ways = proof::ways(bound.property.premise.as_ref()).map_err(too_many)?;
    let atoms = Atoms { model, bound, instances: HashMap::new() };
    let mut formula = Formula { checker, atoms, proof: Proof::default() };
    formula.read(&mut first, &closure, &ways)?;
    let Formula { checker, atoms, proof } = formula;
    let mut walk = Walk { checker, atoms, follower: Follower::new(&closure, &ways, &proof) };
    walk.follow(&mut second)?;
    let Checker { transitions, witnesses, relative, valuations: constants, .. } = walk.checker;
    let nodes = proof.nodes() as u64;
    Ok(Accepted { statement, transitions, witnesses, nodes, constants, part, relative })
}

/// The first reading: what the proof lists.
struct Formula<'m> {
    checker: Checker<'m>,
    atoms: Atoms<'m>,
    proof: Proof,
}

impl Formula<'_> {
    fn read<R: Read>(
        &mut self,
        reader: &mut Reader<R>,
        closure: &Closure,
        ways: &[Way],
    ) -> Result<(), Rejected> {
        let (mut chunk, mut last) = (0, Kind::Valuations);
        while let Some((kind, content)) = reader.chunk()? {
            chunk += 1;
            let malformed = |why| Rejected::Malformed { chunk, why };
            if kind.place() < last.place() {
                return Err(malformed("chunks come in another order"));
            }
            last = kind;
            let mut bytes = Bytes::new(&content);
            while !bytes.is_empty() && !self.checker.is_of_constants(kind) {
                self.record(kind, &mut bytes, closure, ways).map_err(|why| match why {
                    Refused::Twice(state) => Rejected::Twice { state },
                    Refused::Malformed(why) => malformed(why),
                })?;
            }
        }
        let c = &self.checker;
        let counts = [
            ("valuations", c.statement.valuations, c.valuations.len()),
            ("states", c.statement.states, c.states.len()),
            ("states with nodes", c.statement.states, self.proof.states()),
        ];
        for (what, claimed, found) in counts {
            if claimed != found as u64 {
                return Err(Rejected::Counts { what, claimed, found: found as u64 });
            }
        }
        Ok(())
    }

    fn record(
        &mut self,
        kind: Kind,
        bytes: &mut Bytes,
        closure: &Closure,
        ways: &[Way],
    ) -> Result<(), Refused> {
        let or = |why| Refused::Malformed(why);
        match kind {
            Kind::Valuations => {
                let v = self.checker.valuation(bytes).ok_or(or("a valuation is not one"))?;
                self.checker.valuations.push(v);
            }
            Kind::Initial => self.checker.skip_witnesses(bytes).ok_or(or("a witness is not one"))?,
            Kind::States => {
                let record = bytes.left();
                self.checker.state(bytes).ok_or(or("a state is not one"))?;
                let state = &record[..record.len() - bytes.left().len()];
                if !self.checker.states.add(state) {
                    return Err(Refused::Twice(self.checker.states.len() as u64));
                }
                placed_witnesses(&self.checker, bytes).ok_or(or("a witness is not one"))?;
            }
            Kind::Obligations => {
                let set = set(bytes, closure).ok_or(or("a set of obligations is not one"))?;
                self.proof.sets.push(set);
            }
            Kind::Components => {
                let reason = reason(bytes).ok_or(or("a component is not one"))?;
                self.proof.components.push(reason);
            }
            Kind::Instances => {
                let instance = self.instance(bytes).ok_or(or("an instance is not one"))?;
                let number = self.atoms.instances.len() as u32;
                if self.atoms.instances.insert(instance, number).is_some() {
                    return Err(or("an instance is there twice"));
                }
            }
            Kind::Nodes => {
                let mut nodes = vec![];
                let count = bytes.number().ok_or(or("a node is not one"))?;
                for _ in 0..count {
                    nodes.push(self.node(bytes, ways).ok_or(or("a node is not one"))?);
                }
                self.proof.push(nodes);
            }
            Kind::Lemmas | Kind::Question | Kind::Steps | Kind::Query => {
                return Err(or("a chunk that belongs to a proof of another kind"));
            }
        }
        Ok(())
    }

    /// An operation and its parameters, as bytes.
    fn instance(&self, bytes: &mut Bytes) -> Option<Vec<u8>> {
        let record = bytes.left();
        let op = usize::try_from(bytes.number()?).ok()?;
        for p in &self.checker.model.operations.get(op)?.params {
            bytes.value(&self.checker.model.local(*p).ty, self.checker.scope)?;
        }
        Some(record[..record.len() - bytes.left().len()].to_vec())
    }

    fn node(&self, bytes: &mut Bytes, ways: &[Way]) -> Option<Node> {
        let below = |n: u64, most: usize| u32::try_from(n).ok().filter(|n| (*n as usize) < most);
        let set = below(bytes.number()?, self.proof.sets.len())?;
        let mut numbers = vec![];
        for _ in ways {
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

enum Refused {
    Twice(u64),
    Malformed(&'static str),
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

/// Appends a set of obligations.
pub fn put_set(out: &mut Vec<u8>, set: &Set) {
    for list in [&set.obligations, &set.past] {
        codec::put_number(out, list.len() as u64);
        list.iter().for_each(|n| codec::put_number(out, u64::from(*n)));
    }
}

/// Appends the reason of a component.
pub fn put_reason(out: &mut Vec<u8>, reason: &Reason) {
    let put_fair = |out: &mut Vec<u8>, fair: &Fair| {
        let (of, number) = match fair {
            Fair::Step(i) => (0, *i),
            Fair::Instance(i) => (1, *i),
        };
        codec::put_number(out, of);
        codec::put_number(out, u64::from(number));
    };
    match reason {
        Reason::Left => codec::put_number(out, 0),
        Reason::Postponed(promise) => {
            codec::put_number(out, 1);
            codec::put_number(out, u64::from(*promise));
        }
        Reason::Ignored(fair) => {
            codec::put_number(out, 2);
            put_fair(out, fair);
        }
        Reason::Starved(all) => {
            codec::put_number(out, 3);
            codec::put_number(out, all.len() as u64);
            all.iter().for_each(|fair| put_fair(out, fair));
        }
    }
}

/// Appends the nodes of a state.
pub fn put_nodes(out: &mut Vec<u8>, nodes: &[Node]) {
    codec::put_number(out, nodes.len() as u64);
    for node in nodes {
        codec::put_number(out, u64::from(node.set));
        for of in &node.numbers {
            codec::put_number(out, of.len() as u64);
            of.iter().for_each(|n| codec::put_number(out, u64::from(*n)));
        }
    }
}

/// For each set of the statement the images of its elements.
type Images = Vec<(SetId, Vec<u32>)>;
type Placed = Vec<(u64, Images)>;

/// Witnesses, each after the place of its state among those that are not listed.
fn placed_witnesses(checker: &Checker, bytes: &mut Bytes) -> Option<Placed> {
    let mut all: Placed = vec![];
    for _ in 0..bytes.number()? {
        let place = bytes.number()?;
        if all.last().is_some_and(|(last, _)| *last >= place) {
            return None;
        }
        all.push((place, checker.witness(bytes)?));
    }
    Some(all)
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

impl<'m> Walk<'m, '_> {
    fn follow<R: Read>(&mut self, reader: &mut Reader<R>) -> Result<(), Rejected> {
        let known = self.checker.constants()?;
        let (mut chunk, mut initial, mut state) = (0, 0, 0);
        while let Some((kind, content)) = reader.chunk()? {
            chunk += 1;
            let mut bytes = Bytes::new(&content);
            let changed = || Rejected::Malformed { chunk, why: "it has changed between two readings" };
            while !bytes.is_empty() {
                match kind {
                    Kind::Initial => {
                        let constants = known.get(initial).ok_or_else(changed)?;
                        self.initial(initial, constants, &mut bytes)?;
                        initial += 1;
                    }
                    Kind::States => {
                        let record = bytes.left();
                        let (valuation, variables) = self.checker.state(&mut bytes).ok_or_else(changed)?;
                        let length = record.len() - bytes.left().len();
                        let listed = &self.checker.states;
                        if state >= listed.len() || record[..length] != *listed.get(state) {
                            return Err(changed());
                        }
                        let witnesses = placed_witnesses(&self.checker, &mut bytes).ok_or_else(changed)?;
                        if state as u64 % self.checker.part.of == self.checker.part.part {
                            let constants = known.get(valuation).ok_or_else(changed)?;
                            self.expand(state, (valuation, variables), constants, &witnesses)?;
                        }
                        state += 1;
                    }
                    _ => break,
                }
            }
        }
        let states = self.checker.states.len();
        for (what, claimed, found) in [("initial records", known.len(), initial), ("states", states, state)] {
            if claimed != found {
                return Err(Rejected::Counts { what, claimed: claimed as u64, found: found as u64 });
            }
        }
        Ok(())
    }

    fn initial(&mut self, number: usize, constants: &State<'m>, bytes: &mut Bytes) -> Result<(), Rejected> {
        let c = &mut self.checker;
        let shown = c.shown(&c.valuations[number], &c.model.constants);
        let at = || Place::Initial { valuation: number as u64 + 1, shown: shown.clone() };
        let cx = c.evaluator(c.effort.root);
        let reached = reference::initial_states(&cx, constants);
        if let Some(fault) = reached.faults.first() {
            return Err(fault_at(at(), fault, "INITIALISATION"));
        }
        c.not_truncated(&cx, at)?;
        if reached.found.is_empty() {
            return Err(Rejected::NoInitialState);
        }
        let mut targets = BTreeMap::new();
        for state in &reached.found {
            targets.insert(c.encoded(number, &state.variables).ok_or_else(|| unassigned(at()))?, state);
        }
        let malformed = || Rejected::NoSymmetry { at: at(), why: "it is not written as one".into() };
        let given = bytes.number().ok_or_else(malformed)?;
        let mut used = 0;
        for (target, of) in &targets {
            let missing = || {
                let state = c.shown(&of.variables, &c.model.variables);
                Rejected::MissingInitial { at: at(), state }
            };
            let listed = match c.states.find(target) {
                Some(s) => s,
                None if used == given => return Err(missing()),
                None => {
                    used += 1;
                    let images = c.witness(bytes).ok_or_else(malformed)?;
                    renamed(c, number, &of.variables, images, &at)?
                }
            };
            let shown = || Some(format!("from {}", c.shown(&of.variables, &c.model.variables)));
            let first = self.follower.initial(listed);
            first.map_err(|why| Rejected::Node { at: at(), why, step: shown() })?;
        }
        if used != given {
            return Err(Rejected::TooManyWitnesses { at: at() });
        }
        c.witnesses += used;
        Ok(())
    }

    fn expand(
        &mut self,
        number: usize,
        (valuation, variables): (usize, Vec<Value>),
        constants: &State<'m>,
        witnesses: &Placed,
    ) -> Result<(), Rejected> {
        let c = &mut self.checker;
        let variables: Vec<Option<Value>> = variables.into_iter().map(Some).collect();
        let at = || {
            let shown = c.shown(&variables, &c.model.variables);
            Place::State { state: number as u64 + 1, shown }
        };
        let state = State { constants: constants.constants.clone(), variables: variables.clone() };
        let cx = c.evaluator(c.effort.state);
        let props = self.atoms.of_state(&cx, &state, &at)?;
        let next = reference::successors(&cx, &state);
        if let Some(f) = next.faults.first() {
            return Err(fault_at(at(), &f.fault, &c.model.operations[f.op.index()].name));
        }
        let mut of_steps = vec![];
        for step in &next.steps {
            of_steps.push(self.atoms.of_step(&cx, &state, step, &at)?);
        }
        c.not_truncated(&cx, at)?;
        // What stands for each target.
        let mut targets: BTreeMap<Vec<u8>, Option<usize>> = BTreeMap::new();
        let mut encoded = vec![];
        let mut others: BTreeMap<Vec<u8>, &Successor> = BTreeMap::new();
        for step in &next.steps {
            let bytes = c.encoded(valuation, &step.state.variables).ok_or_else(|| unassigned(at()))?;
            let listed = c.states.find(&bytes);
            if listed.is_none() {
                others.insert(bytes.clone(), step);
            }
            targets.insert(bytes.clone(), listed);
            encoded.push(bytes);
        }
        let others: Vec<(Vec<u8>, &Successor)> = others.into_iter().collect();
        for (place, images) in witnesses {
            let other = usize::try_from(*place).ok().and_then(|place| others.get(place));
            let Some((bytes, of)) = other else { return Err(Rejected::TooManyWitnesses { at: at() }) };
            let stands = renamed(c, valuation, &of.state.variables, images.clone(), &at)?;
            targets.insert(bytes.clone(), Some(stands));
        }
        let targets_of = next.steps.iter().zip(&of_steps).map(|(s, (props, _))| (*props, &s.state));
        let here = here(props, &state, targets_of);
        let steps: Vec<Step> = of_steps
            .iter()
            .zip(&encoded)
            .map(|((props, instance), bytes)| Step {
                props: *props,
                instance: *instance,
                target: targets.get(bytes).copied().flatten(),
            })
            .collect();
        let followed = self.follower.state(number, &here, &steps);
        followed.map_err(|why| {
            let step = about(&why).and_then(|i| next.steps.get(i)).map(|s| shown_step(c, s));
            match (&why, about(&why).and_then(|i| next.steps.get(i))) {
                (Wrong::NoTarget { .. }, Some(s)) => {
                    let op = &c.model.operations[s.op.index()];
                    Rejected::MissingSuccessor {
                        at: at(),
                        operation: op.name.to_string(),
                        parameters: parameters(c, s),
                        target: c.shown(&s.state.variables, &c.model.variables),
                    }
                }
                _ => Rejected::Node { at: at(), why, step },
            }
        })?;
        c.transitions += next.steps.len() as u64;
        c.witnesses += witnesses.len() as u64;
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

fn parameters(c: &Checker, step: &Successor) -> Vec<String> {
    let op = &c.model.operations[step.op.index()];
    let shown =
        |(l, value): (_, &Value)| Show { value, ty: &c.model.local(l).ty, model: c.model }.to_string();
    op.params.iter().copied().zip(&step.params).map(shown).collect()
}

fn shown_step(c: &Checker, step: &Successor) -> String {
    let name = &c.model.operations[step.op.index()].name;
    let target = c.shown(&step.state.variables, &c.model.variables);
    format!("{name}({}) to {target}", parameters(c, step).join(", "))
}

/// The listed state that a state becomes by a witness.
fn renamed(
    c: &Checker,
    valuation: usize,
    variables: &[Option<Value>],
    images: Images,
    at: &dyn Fn() -> Place,
) -> Result<usize, Rejected> {
    let p = Permutation::new(images, &c.movable)
        .map_err(|wrong| Rejected::NoSymmetry { at: at(), why: c.wrong(&wrong) })?;
    let permuted = |v: &Option<Value>| v.as_ref().map(|v| p.apply(v));
    let constants: Vec<Option<Value>> = c.valuations[valuation].iter().map(permuted).collect();
    let image: Vec<Option<Value>> = variables.iter().map(permuted).collect();
    let found = c.valuations.iter().position(|v| *v == constants);
    let encoded = found.and_then(|v| c.encoded(v, &image));
    encoded.and_then(|bytes| c.states.find(&bytes)).ok_or_else(|| Rejected::WitnessLeadsNowhere {
        at: at(),
        target: c.shown(&image, &c.model.variables),
    })
}
