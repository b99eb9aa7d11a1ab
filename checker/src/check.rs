//! The check of a certificate of explicit exploration: a set of states that has every initial state, keeps every
//! transition inside, up to renaming of elements that the model does not name, and has only states of which the claims
//! are true. Then they are true of every reachable state.
//!
//! The certificate is read twice: the states first, then what is said of each.

use crate::codec::{self, Bytes};
use crate::container::{Kind, Reader};
use crate::fits::sets;
pub use crate::fits::{files, goal, opened, sizes};
use crate::inductive::{self, check_invariant};
use crate::permute::{Movable, Permutation, Wrong};
use crate::reject::{Place, Rejected};
use crate::statement::{Constants as How, Statement};
use crate::states::States;
use kanon_language::model::{Decl, Expr, Model, SetId, element_name};
use kanon_semantics::plain::fault::Fault;
use kanon_semantics::plain::{Scope, Show, Value};
use kanon_semantics::reference::{self, Cx, Env, State, Successor};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::io::Read;
use std::path::Path;

/// How far the evaluator goes before it gives up: for the constants and the initial states of a valuation, for constants
/// that only a solver could find, and for a state.
#[derive(Clone, Copy, Debug)]
pub struct Effort {
    pub root: u64,
    pub solved: u64,
    pub state: u64,
}

impl Default for Effort {
    fn default() -> Effort {
        Effort { root: 2_000_000_000, solved: 20_000_000, state: 200_000_000 }
    }
}

/// What an acceptance rests on although nobody here has looked at it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Believed {
    /// PROPERTIES have no other valuations than those that are listed, and have a value for all others. Each that is
    /// listed was evaluated.
    NoOtherValuations { listed: u64, how: How, why: String },
}

impl fmt::Display for Believed {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Believed::NoOtherValuations { listed, how, why } => {
                let who = match how {
                    How::Enumerated => "kanon's enumeration",
                    How::Solved => "the SAT solver",
                };
                let only = match listed {
                    1 => "no other valuation of the constants than the listed one".to_string(),
                    n => format!("no other valuations of the constants than the {n} listed ones"),
                };
                write!(f, "{who}: PROPERTIES have {only} (the evaluator gives up: {why})")
            }
        }
    }
}

/// Which states are looked at: one of so many parts. All parts together are the whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    pub part: u64,
    pub of: u64,
}

impl Part {
    pub const WHOLE: Part = Part { part: 0, of: 1 };
}

/// A certificate that is accepted.
#[derive(Debug)]
pub struct Accepted {
    pub statement: Statement,
    /// Transitions that were followed.
    pub transitions: u64,
    /// Those of them that needed a witness.
    pub witnesses: u64,
    /// Of the proof of a formula: nodes.
    pub nodes: u64,
    /// The valuations of the constants that the certificate lists; of a symbolic constant there is no value.
    pub constants: Vec<Constants>,
    pub part: Part,
    /// What has to be believed for it beside this program: nothing, or it is accepted relative to these.
    pub relative: Vec<Believed>,
}

/// Checks a certificate of a model. `certificate` opens it, once for each of the two readings.
///
/// # Errors
/// The first thing that is wrong, or that cannot be followed.
pub fn check<R: Read>(
    model: &Path,
    certificate: &mut dyn FnMut() -> std::io::Result<R>,
    part: Part,
    effort: Effort,
) -> Result<Accepted, Rejected> {
    let text = begin(certificate)?.1;
    let statement = Statement::read(&text)?;
    let mut opened = opened(model, &statement)?;
    let accepted = if let Some(formula) = &statement.claims.formula {
        let bound = crate::ltl::bound(&mut opened, formula)?;
        crate::ltl::check_formula(&opened.model, &opened.scope, &bound, certificate, part, effort)?
    } else {
        let goal = goal(&mut opened, &statement)?;
        if statement.formulas.is_some() {
            return check_invariant(&mut opened, statement, goal.as_ref(), certificate, effort);
        }
        check_model(&opened.model, &opened.scope, goal.as_ref(), certificate, part, effort)?
    };
    // The model and the goal are those of the first reading.
    match accepted.statement == statement {
        true => Ok(accepted),
        false => Err(changed()),
    }
}

fn changed() -> Rejected {
    Rejected::Unreadable("it has changed between two readings".into())
}

pub(crate) fn begin<R: Read>(
    certificate: &mut dyn FnMut() -> std::io::Result<R>,
) -> Result<(Reader<R>, String), Rejected> {
    Reader::new(certificate().map_err(|e| Rejected::Unreadable(e.to_string()))?)
}

/// The second reading of what began with this statement.
pub(crate) fn again<R: Read>(
    certificate: &mut dyn FnMut() -> std::io::Result<R>,
    text: &str,
) -> Result<Reader<R>, Rejected> {
    let (reader, again) = begin(certificate)?;
    if again == text { Ok(reader) } else { Err(changed()) }
}

/// Checks the proof of a statement about this model at this scope: that they are those of the statement is up to the
/// caller. `goal` is what is claimed to be false everywhere.
///
/// # Errors
/// The first thing that is wrong, or that cannot be followed.
pub fn check_model<R: Read>(
    model: &Model,
    scope: &Scope,
    goal: Option<&Expr>,
    certificate: &mut dyn FnMut() -> std::io::Result<R>,
    part: Part,
    effort: Effort,
) -> Result<Accepted, Rejected> {
    let (mut first, text) = begin(certificate)?;
    let statement = Statement::read(&text)?;
    if statement.claims.formula.is_some() {
        return Err(Rejected::Statement("it is about a formula"));
    }
    if statement.formulas.is_some() {
        return Err(Rejected::Statement("a proof by formulas is checked by kanon-symbolic-checker"));
    }
    let mut second = again(certificate, &text)?;
    let movable = Movable::of(model, scope, goal.as_slice());
    let mut checker = Checker::new(model, scope, &statement, movable, part, effort)?;
    checker.goal = goal;
    checker.read(&mut first, &mut |_, _, _| Err("a chunk that belongs to a proof of another kind"))?;
    follow(&mut checker, &mut second)?;
    let Checker { transitions, witnesses, relative, valuations: constants, .. } = checker;
    Ok(Accepted { statement, transitions, witnesses, nodes: 0, constants, part, relative })
}

/// Appends the values of declared names; none that has no value.
fn put_all(out: &mut Vec<u8>, values: &[Option<Value>], decls: &[Decl]) -> bool {
    let put = |(v, d): (&Option<Value>, &Decl)| v.as_ref().is_some_and(|v| codec::put(out, v, &d.ty));
    values.len() == decls.len() && values.iter().zip(decls).all(put)
}

/// Values of constants; a symbolic one has none.
pub type Constants = Vec<Option<Value>>;

/// For each set of the statement the images of its elements.
pub(crate) type Images = Vec<(SetId, Vec<u32>)>;

/// Witnesses, each with the place of its state among those that are not listed.
pub(crate) type Witnesses = Vec<(u64, Images)>;

/// A state that something leads to, and the number of the listed one that it is, or becomes by its witness.
pub(crate) struct Target<T> {
    pub bytes: Vec<u8>,
    pub of: T,
    pub listed: Option<usize>,
}

/// Told which listed state stands for an initial one, and where that is.
type Then<'a, 'm> = dyn Fn(&Checker<'m>, usize, &State<'m>, Place) -> Result<(), Rejected> + 'a;

/// What a proof says of records besides.
type Others<'a, 'm> = dyn FnMut(&Checker<'m>, Kind, &mut Bytes) -> Result<(), &'static str> + 'a;

/// What is known while a certificate is followed.
pub(crate) struct Checker<'m> {
    pub model: &'m Model,
    pub scope: &'m Scope,
    pub statement: &'m Statement,
    pub movable: Movable,
    pub goal: Option<&'m Expr>,
    pub sets: Vec<SetId>,
    pub valuations: Vec<Constants>,
    pub states: States,
    pub effort: Effort,
    pub part: Part,
    pub transitions: u64,
    pub witnesses: u64,
    pub relative: Vec<Believed>,
}

impl<'m> Checker<'m> {
    pub fn new(
        model: &'m Model,
        scope: &'m Scope,
        statement: &'m Statement,
        movable: Movable,
        part: Part,
        effort: Effort,
    ) -> Result<Checker<'m>, Rejected> {
        let sets = sets(model, statement)?;
        let (valuations, states, relative) = (vec![], States::new(), vec![]);
        let (goal, transitions, witnesses) = (None, 0, 0);
        Ok(Checker {
            model,
            scope,
            statement,
            movable,
            goal,
            sets,
            valuations,
            states,
            effort,
            part,
            transitions,
            witnesses,
            relative,
        })
    }

    pub fn evaluator(&self, fuel: u64) -> Cx<'m> {
        Cx::new(self.model, self.scope).with_fuel(fuel)
    }

    /// The first reading: valuations and states. Records of another kind are read by `others`.
    pub fn read<R: Read>(
        &mut self,
        reader: &mut Reader<R>,
        others: &mut Others<'_, 'm>,
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
            while !bytes.is_empty() && !self.is_of_constants(kind) {
                match kind {
                    Kind::Valuations => {
                        let v = self.valuation(&mut bytes).ok_or(malformed("a valuation is not one"))?;
                        self.valuations.push(v);
                    }
                    Kind::Initial => {
                        self.unplaced(&mut bytes).ok_or(malformed("a witness is not one"))?;
                    }
                    Kind::States => {
                        let record = bytes.left();
                        self.state(&mut bytes).ok_or(malformed("a state is not one"))?;
                        let state = &record[..record.len() - bytes.left().len()];
                        if !self.states.add(state) {
                            return Err(Rejected::Twice { state: self.states.len() as u64 });
                        }
                        self.witnesses(&mut bytes).ok_or(malformed("a witness is not one"))?;
                    }
                    _ => others(self, kind, &mut bytes).map_err(malformed)?,
                }
            }
        }
        let counts = [
            ("valuations", self.statement.valuations, self.valuations.len()),
            ("states", self.statement.states, self.states.len()),
        ];
        for (what, claimed, found) in counts {
            if claimed != found as u64 {
                return Err(Rejected::Counts { what, claimed, found: found as u64 });
            }
        }
        Ok(())
    }

    /// Whether a chunk is of the proof that PROPERTIES have no other valuations. Nobody reads it here: without the
    /// encoder that made it, it says nothing.
    pub fn is_of_constants(&self, kind: Kind) -> bool {
        self.statement.constants == How::Solved && matches!(kind, Kind::Question | Kind::Steps)
    }

    fn valuation(&self, bytes: &mut Bytes) -> Option<Constants> {
        let mut values = vec![];
        if self.model.constants.is_empty() {
            // Something has to be read.
            return (bytes.number()? == 0).then_some(values);
        }
        for d in &self.model.constants {
            values.push(match bytes.number()? {
                0 => None,
                1 => Some(bytes.value(&d.ty, self.scope)?),
                _ => return None,
            });
        }
        Some(values)
    }

    /// The number of its valuation, and the values of the variables.
    fn state(&self, bytes: &mut Bytes) -> Option<(usize, Vec<Value>)> {
        let valuation = usize::try_from(bytes.number()?).ok()?;
        let variables: Option<Vec<Value>> =
            self.model.variables.iter().map(|d| bytes.value(&d.ty, self.scope)).collect();
        (valuation < self.valuations.len()).then_some(())?;
        Some((valuation, variables?))
    }

    /// The witnesses of all initial states, or successors, that are not listed.
    fn unplaced(&self, bytes: &mut Bytes) -> Option<Witnesses> {
        let mut all = vec![];
        for place in 0..bytes.number()? {
            all.push((place, self.witness(bytes)?));
        }
        Some(all)
    }

    /// Those of the successors of a state: the proof of a formula says which it needs, by their places.
    fn witnesses(&self, bytes: &mut Bytes) -> Option<Witnesses> {
        if self.statement.claims.formula.is_none() {
            return self.unplaced(bytes);
        }
        let mut all: Witnesses = vec![];
        for _ in 0..bytes.number()? {
            let place = bytes.number()?;
            if all.last().is_some_and(|(last, _)| *last >= place) {
                return None;
            }
            all.push((place, self.witness(bytes)?));
        }
        Some(all)
    }

    fn witness(&self, bytes: &mut Bytes) -> Option<Images> {
        // Without sets there is nothing to read, and no end to it.
        if self.sets.is_empty() {
            return None;
        }
        let mut images = vec![];
        for set in &self.sets {
            let mut of = vec![];
            for _ in 0..self.scope.size(*set) {
                of.push(u32::try_from(bytes.number()?).ok()?);
            }
            images.push((*set, of));
        }
        Some(images)
    }

    /// Every valuation of the constants that there is stands in the file; returns them in the file's order.
    pub fn constants(&mut self) -> Result<Vec<State<'m>>, Rejected> {
        let how = self.statement.constants;
        let cx = self.evaluator(match how {
            How::Enumerated => self.effort.root,
            How::Solved => self.effort.solved.min(self.effort.root),
        });
        let reached = reference::constants(&cx);
        let known = match gave_up(&reached.faults, &cx) {
            Err(fault) => return Err(fault_at(Place::Constants, fault, "PROPERTIES")),
            Ok(None) => self.these(reached.found)?,
            Ok(Some(why)) => {
                let listed = self.valuations.len() as u64;
                self.relative.push(Believed::NoOtherValuations { listed, how, why });
                self.each_listed()?
            }
        };
        if known.is_empty() {
            return Err(Rejected::NoInitialState);
        }
        for (i, d) in self.model.constants.iter().enumerate() {
            if self.valuations.iter().any(|v| v[i].is_none()) {
                self.movable.fix_type(&d.ty);
            }
        }
        Ok(known)
    }

    /// The valuations that the evaluator has found are those of the file.
    fn these(&self, found: Vec<State<'m>>) -> Result<Vec<State<'m>>, Rejected> {
        let mut by_value: BTreeMap<Constants, Vec<State<'m>>> = BTreeMap::new();
        for state in found {
            by_value.entry(listed(&state)).or_default().push(state);
        }
        let mut known = vec![];
        for (i, v) in self.valuations.iter().enumerate() {
            match by_value.remove(v).as_deref() {
                Some([state]) => known.push(state.clone()),
                Some(_) => return Err(not_listed()),
                None if by_value.keys().any(|known| agrees(known, v)) => return Err(kept()),
                None => return Err(Rejected::NoValuation { valuation: i as u64 + 1 }),
            }
        }
        match by_value.keys().next() {
            Some(missing) => {
                Err(Rejected::MissingValuation { shown: self.shown(missing, &self.model.constants) })
            }
            None => Ok(known),
        }
    }

    /// Each valuation of the file fulfils PROPERTIES, and none is there twice. Whether there are others is not asked.
    fn each_listed(&self) -> Result<Vec<State<'m>>, Rejected> {
        let mut known: Vec<State<'m>> = vec![];
        let mut seen: BTreeSet<&Constants> = BTreeSet::new();
        for (v, number) in self.valuations.iter().zip(1..) {
            let cx = self.evaluator(self.effort.root);
            let reached = reference::constants_with(&cx, v);
            let at = || Place::Initial { valuation: number, shown: self.shown(v, &self.model.constants) };
            match gave_up(&reached.faults, &cx) {
                Err(fault) => return Err(fault_at(at(), fault, "PROPERTIES")),
                Ok(Some(why)) => return Err(Rejected::Undecided { at: at(), why }),
                Ok(None) => {}
            }
            match &reached.found[..] {
                [state] if listed(state) == *v && seen.insert(v) => known.push(state.clone()),
                [] | [_] => return Err(Rejected::NoValuation { valuation: number }),
                _ => return Err(not_listed()),
            }
        }
        Ok(known)
    }

    /// Every initial state of a valuation is listed, or becomes a listed one. `then` is told which, and where.
    pub fn initial(
        &mut self,
        number: usize,
        constants: &State<'m>,
        witnesses: Witnesses,
        then: &Then<'_, 'm>,
    ) -> Result<(), Rejected> {
        let shown = self.shown(&self.valuations[number], &self.model.constants);
        let at = || Place::Initial { valuation: number as u64 + 1, shown: shown.clone() };
        let cx = self.evaluator(self.effort.root);
        let reached = reference::initial_states(&cx, constants);
        if let Some(fault) = reached.faults.first() {
            return Err(fault_at(at(), fault, "INITIALISATION"));
        }
        self.not_truncated(&cx, at)?;
        if reached.found.is_empty() {
            return Err(Rejected::NoInitialState);
        }
        let used = witnesses.len() as u64;
        let found = reached.found.iter().map(|s| (&s.variables[..], s));
        for Target { of, listed, .. } in self.targets(number, found, witnesses, &at)? {
            let missing = || Rejected::MissingInitial {
                at: at(),
                state: self.shown(&of.variables, &self.model.variables),
            };
            then(self, listed.ok_or_else(missing)?, of, at())?;
        }
        self.witnesses += used;
        Ok(())
    }

    fn expand(
        &mut self,
        number: usize,
        (valuation, state): (usize, State<'m>),
        witnesses: Witnesses,
    ) -> Result<(), Rejected> {
        let at = || self.place(number, &state);
        let cx = self.evaluator(self.effort.state);
        self.claims(&cx, &state, &at)?;
        let next = self.successors(&cx, &state, &at)?;
        self.not_truncated(&cx, at)?;
        if next.is_empty() && self.statement.claims.no_deadlock {
            return Err(Rejected::Deadlock { at: at() });
        }
        let used = witnesses.len() as u64;
        let found = next.iter().map(|s| (&s.state.variables[..], s));
        for Target { of, listed, .. } in self.targets(valuation, found, witnesses, &at)? {
            listed.ok_or_else(|| self.missing(of, at()))?;
        }
        self.transitions += next.len() as u64;
        self.witnesses += used;
        Ok(())
    }

    /// Where a listed state is.
    pub fn place(&self, number: usize, state: &State) -> Place {
        let shown = self.shown(&state.variables, &self.model.variables);
        Place::State { state: number as u64 + 1, shown }
    }

    /// All steps from a state; every operation has a value.
    pub fn successors(
        &self,
        cx: &Cx<'m>,
        state: &State<'m>,
        at: &dyn Fn() -> Place,
    ) -> Result<Vec<Successor<'m>>, Rejected> {
        let next = reference::successors(cx, state);
        match next.faults.first() {
            None => Ok(next.steps),
            Some(f) => Err(fault_at(at(), &f.fault, &self.model.operations[f.op.index()].name)),
        }
    }

    pub fn missing(&self, step: &Successor, at: Place) -> Rejected {
        Rejected::MissingSuccessor {
            at,
            operation: self.model.operations[step.op.index()].name.to_string(),
            parameters: self.parameters(step),
            target: self.shown(&step.state.variables, &self.model.variables),
        }
    }

    pub fn parameters(&self, step: &Successor) -> Vec<String> {
        let declared = self.model.operations[step.op.index()].params.iter().map(|l| self.model.local(*l));
        let shown = |(d, value): (&Decl, &Value)| Show { value, ty: &d.ty, model: self.model }.to_string();
        declared.zip(&step.params).map(shown).collect()
    }

    /// Different states that something leads to, in the order of their bytes, each with what stands for it: itself, or
    /// what it becomes by its witness. Of several that are the same, the first one.
    pub fn targets<'t, T>(
        &self,
        valuation: usize,
        of: impl Iterator<Item = (&'t [Option<Value>], T)>,
        witnesses: Witnesses,
        at: &dyn Fn() -> Place,
    ) -> Result<Vec<Target<T>>, Rejected> {
        let mut distinct = BTreeMap::new();
        for (variables, of) in of {
            let bytes = self.encoded(valuation, variables).ok_or_else(|| unassigned(at()))?;
            distinct.entry(bytes).or_insert((variables, of));
        }
        let (mut targets, mut others) = (vec![], vec![]);
        for (i, (bytes, (variables, of))) in distinct.into_iter().enumerate() {
            let listed = self.states.find(&bytes);
            others.extend(listed.is_none().then_some((i, variables)));
            targets.push(Target { bytes, of, listed });
        }
        for (place, images) in witnesses {
            let other = usize::try_from(place).ok().and_then(|place| others.get(place));
            let (i, variables) = *other.ok_or_else(|| Rejected::TooManyWitnesses { at: at() })?;
            targets[i].listed = Some(self.renamed(valuation, variables, images, at)?);
        }
        Ok(targets)
    }

    /// The listed state that a state becomes by a witness.
    fn renamed(
        &self,
        valuation: usize,
        variables: &[Option<Value>],
        images: Images,
        at: &dyn Fn() -> Place,
    ) -> Result<usize, Rejected> {
        let p = Permutation::new(images, &self.movable)
            .map_err(|wrong| Rejected::NoSymmetry { at: at(), why: self.wrong(&wrong) })?;
        let permuted = |v: &Option<Value>| v.as_ref().map(|v| p.apply(v));
        let constants: Constants = self.valuations[valuation].iter().map(permuted).collect();
        let image: Vec<Option<Value>> = variables.iter().map(permuted).collect();
        let found = self.valuations.iter().position(|v| *v == constants);
        let encoded = found.and_then(|v| self.encoded(v, &image));
        encoded.and_then(|bytes| self.states.find(&bytes)).ok_or_else(|| Rejected::WitnessLeadsNowhere {
            at: at(),
            target: self.shown(&image, &self.model.variables),
        })
    }

    fn claims(&self, cx: &Cx<'m>, state: &State<'m>, at: &dyn Fn() -> Place) -> Result<(), Rejected> {
        let claims = &self.statement.claims;
        let env = Env::of(state);
        let invariant = self.model.invariant.iter().map(|e| (e, true, "the invariant"));
        let assertions = self.model.assertions.iter().map(|e| (e, true, "an assertion"));
        let goal = self.goal.map(|e| (e, false, "the goal"));
        let claimed = invariant.filter(|_| claims.invariant);
        for (e, wanted, what) in claimed.chain(assertions.filter(|_| claims.assertions)).chain(goal) {
            match reference::holds(cx, &env, e) {
                Ok(truth) if truth == wanted => {}
                Ok(_) if wanted => {
                    let predicate = kanon_language::model::raise::text(e, self.model);
                    return Err(Rejected::False { at: at(), what, predicate });
                }
                Ok(_) => return Err(Rejected::Reached { at: at() }),
                Err(fault) => return Err(fault_at(at(), &fault, what)),
            }
        }
        self.not_truncated(cx, at)
    }

    pub fn not_truncated(&self, cx: &Cx<'m>, at: impl Fn() -> Place) -> Result<(), Rejected> {
        match cx.truncated().is_empty() {
            true => Ok(()),
            false => Err(Rejected::Undecided { at: at(), why: UNBOUNDED.into() }),
        }
    }

    pub fn encoded(&self, valuation: usize, variables: &[Option<Value>]) -> Option<Vec<u8>> {
        let mut out = vec![];
        codec::put_number(&mut out, valuation as u64);
        put_all(&mut out, variables, &self.model.variables).then_some(out)
    }

    pub fn shown(&self, values: &[Option<Value>], decls: &[Decl]) -> String {
        inductive::shown(self.model, values, decls)
    }

    pub fn wrong(&self, wrong: &Wrong) -> String {
        match wrong {
            Wrong::NoBijection(set) => format!("it is no bijection on {}", self.model.sets[set.index()].name),
            Wrong::Named(set, i) => {
                format!("it moves {}, which is named", element_name(self.model, *set, *i))
            }
        }
    }
}

/// The second reading: everything is followed.
pub(crate) trait Follow<'m> {
    fn checker(&mut self) -> &mut Checker<'m>;

    fn start(&mut self, number: usize, constants: &State<'m>, witnesses: Witnesses) -> Result<(), Rejected>;

    /// A listed state, with the number of its valuation.
    fn listed(
        &mut self,
        number: usize,
        state: (usize, State<'m>),
        witnesses: Witnesses,
    ) -> Result<(), Rejected>;
}

impl<'m> Follow<'m> for Checker<'m> {
    fn checker(&mut self) -> &mut Checker<'m> {
        self
    }

    fn start(&mut self, number: usize, constants: &State<'m>, witnesses: Witnesses) -> Result<(), Rejected> {
        Checker::initial(self, number, constants, witnesses, &|_, _, _, _| Ok(()))
    }

    fn listed(
        &mut self,
        number: usize,
        state: (usize, State<'m>),
        witnesses: Witnesses,
    ) -> Result<(), Rejected> {
        self.expand(number, state, witnesses)
    }
}

pub(crate) fn follow<'m, R: Read>(
    proof: &mut impl Follow<'m>,
    reader: &mut Reader<R>,
) -> Result<(), Rejected> {
    let known = proof.checker().constants()?;
    let (mut chunk, mut initial, mut state) = (0, 0, 0);
    while let Some((kind, content)) = reader.chunk()? {
        chunk += 1;
        let mut bytes = Bytes::new(&content);
        let changed = || Rejected::Malformed { chunk, why: "it has changed between two readings" };
        while !bytes.is_empty() {
            let c = proof.checker();
            match kind {
                Kind::Initial => {
                    let (claimed, found) = (known.len() as u64, initial as u64 + 1);
                    let too_many = Rejected::Counts { what: "initial records", claimed, found };
                    let constants = known.get(initial).ok_or(too_many)?;
                    let witnesses = c.unplaced(&mut bytes).ok_or_else(changed)?;
                    proof.start(initial, constants, witnesses)?;
                    initial += 1;
                }
                Kind::States => {
                    let record = bytes.left();
                    let (valuation, variables) = c.state(&mut bytes).ok_or_else(changed)?;
                    let length = record.len() - bytes.left().len();
                    if state >= c.states.len() || record[..length] != *c.states.get(state) {
                        return Err(changed());
                    }
                    let witnesses = c.witnesses(&mut bytes).ok_or_else(changed)?;
                    if state as u64 % c.part.of == c.part.part {
                        let constants = known.get(valuation).ok_or_else(changed)?.constants.clone();
                        let variables = variables.into_iter().map(Some).collect();
                        proof.listed(state, (valuation, State { constants, variables }), witnesses)?;
                    }
                    state += 1;
                }
                _ => break,
            }
        }
    }
    let states = proof.checker().states.len();
    for (what, claimed, found) in [("initial records", known.len(), initial), ("states", states, state)] {
        if claimed != found {
            return Err(Rejected::Counts { what, claimed: claimed as u64, found: found as u64 });
        }
    }
    Ok(())
}

/// Why what was found need not be all there is; an error if PROPERTIES have no value.
pub(crate) fn gave_up<'f>(faults: &'f [Fault], cx: &Cx) -> Result<Option<String>, &'f Fault> {
    let mut gave_up = None;
    for fault in faults {
        match fault {
            Fault::Wd(_) => return Err(fault),
            Fault::Limit(_, why) => gave_up = gave_up.or(Some(why.clone())),
        }
    }
    let is_truncated = !cx.truncated().is_empty();
    Ok(gave_up.or_else(|| is_truncated.then(|| UNBOUNDED.to_string())))
}

/// The values of the constants as a certificate lists them.
fn listed(state: &State) -> Constants {
    state.constants.iter().map(|c| c.as_ref().and_then(|i| i.value().cloned())).collect()
}

/// Whether they are the same as far as the evaluator has listed sets that the file lists.
fn agrees(known: &Constants, listed: &Constants) -> bool {
    known.iter().zip(listed).all(|(known, listed)| known.is_none() || known == listed)
}

fn kept() -> Rejected {
    let why = "the evaluator cannot list a constant that is listed".into();
    Rejected::Undecided { at: Place::Constants, why }
}

fn not_listed() -> Rejected {
    let why = "several valuations differ only in sets that are not listed".into();
    Rejected::Undecided { at: Place::Constants, why }
}

pub(crate) const UNBOUNDED: &str = "an integer that nothing bounds would have to be enumerated";

pub(crate) fn unassigned(at: Place) -> Rejected {
    Rejected::Undefined { at, what: "a variable gets no value".into() }
}

pub(crate) fn fault_at(at: Place, fault: &Fault, what: &str) -> Rejected {
    match fault {
        Fault::Limit(_, why) => Rejected::Undecided { at, why: format!("{what}: {why}") },
        Fault::Wd(wd) => Rejected::Undefined { at, what: format!("{what} has no value ({:?})", wd.kind) },
    }
}
