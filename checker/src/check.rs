//! The check of a certificate of explicit exploration: a set of states that has every initial state, keeps every
//! transition inside, up to renaming of elements that the model does not name, and has only states of which the claims
//! are true. Then they are true of every reachable state.
//!
//! The certificate is read twice: the states first, then what is said of each.

use crate::codec::{self, Bytes};
use crate::container::{Kind, Reader};
use crate::inductive::{self, check_invariant};
use crate::permute::{Movable, Permutation, Wrong};
use crate::reject::{Place, Rejected};
use crate::statement::{Constants as How, File, Goal, Statement};
use crate::states::States;
use kanon_language::lang::diag::{FileId, SourceMap};
use kanon_language::model::open::{Opened, open};
use kanon_language::model::reading::Reading;
use kanon_language::model::scope::ScopeArgs;
use kanon_language::model::{Decl, Expr, Model, SetId, element_name};
use kanon_semantics::plain::fault::Fault;
use kanon_semantics::plain::{Scope, Show, Value};
use kanon_semantics::reference::{self, Cx, Env, State};
use num_bigint::BigInt;
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
    if let Some(formula) = &statement.claims.formula {
        let bound = crate::ltl::bound(&mut opened, formula)?;
        return crate::ltl::check_formula(&opened.model, &opened.scope, &bound, certificate, part, effort);
    }
    let goal = goal(&mut opened, &statement)?;
    if statement.formulas.is_some() {
        return check_invariant(&mut opened, statement, goal.as_ref(), certificate, effort);
    }
    check_model(&opened.model, &opened.scope, goal.as_ref(), certificate, part, effort)
}

pub(crate) fn begin<R: Read>(
    certificate: &mut dyn FnMut() -> std::io::Result<R>,
) -> Result<(Reader<R>, String), Rejected> {
    Reader::new(certificate().map_err(|e| Rejected::Unreadable(e.to_string()))?)
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
    let (mut second, again) = begin(certificate)?;
    if again != text {
        return Err(Rejected::Unreadable("it has changed between two readings".into()));
    }
    let mut checker = Checker {
        model,
        scope,
        statement: &statement,
        movable: Movable::of(model, scope, goal.as_slice()),
        goal,
        sets: sets(model, &statement)?,
        valuations: vec![],
        states: States::new(),
        effort,
        part,
        transitions: 0,
        witnesses: 0,
        relative: vec![],
    };
    checker.read(&mut first)?;
    checker.follow(&mut second)?;
    let Checker { transitions, witnesses, relative, valuations: constants, .. } = checker;
    Ok(Accepted { statement, transitions, witnesses, nodes: 0, constants, part, relative })
}

/// The model at the sizes of the statement, and of the files that it names.
///
/// # Errors
/// What does not fit.
pub fn opened(path: &Path, statement: &Statement) -> Result<Opened, Rejected> {
    let reading = Reading::ALL.into_iter().find(|r| r.name() == statement.wd);
    let reading = reading.ok_or(Rejected::Field("wd"))?;
    let opened = opened_at(path, &statement.sets, (&statement.minint, &statement.maxint), reading)?;
    if opened.model.name.as_ref() != statement.machine {
        return Err(Rejected::OtherFiles(format!("the machine is {}", opened.model.name)));
    }
    let files = files(&opened.sources);
    if files != statement.files {
        let other = files.iter().find(|f| !statement.files.contains(f));
        let name = other.or(statement.files.iter().find(|f| !files.contains(f))).map(|f| f.name.as_str());
        let what = name.map_or("they come in another order".into(), |n| format!("{n} is not the same"));
        return Err(Rejected::OtherFiles(what));
    }
    Ok(opened)
}

/// The model at these sizes, all of it.
pub(crate) fn opened_at(
    path: &Path,
    sets: &[(String, u64)],
    (minint, maxint): (&BigInt, &BigInt),
    reading: Reading,
) -> Result<Opened, Rejected> {
    let args = |card| ScopeArgs {
        card,
        minint: Some(minint.clone()),
        maxint: Some(maxint.clone()),
        setsize: None,
        reading,
    };
    let refused = |r: kanon_language::model::open::Refused| {
        let first = r.diagnostics.iter().find(|d| d.is_error()).or(r.diagnostics.first());
        Rejected::Model(first.map_or("it cannot be read".into(), |d| d.message.clone()))
    };
    // Only deferred sets can be given a size, and which ones these are the model says.
    let loaded = kanon_language::model::load::load(path);
    let Some(model) = &loaded.model else {
        let first = loaded.diagnostics.iter().find(|d| d.is_error());
        return Err(Rejected::Model(first.map_or("it cannot be read".into(), |d| d.message.clone())));
    };
    let is_deferred = |name: &str| model.sets.iter().any(|s| &*s.name == name && s.elements.is_none());
    let card = sets.iter().filter(|(name, _)| is_deferred(name)).cloned().collect();
    let opened = open(path, &args(card)).map_err(refused)?;
    if let Some(left) = opened.model.left_out.first() {
        return Err(Rejected::Model(format!("a part of it is not in the model: {left:?}")));
    }
    let sizes = sizes(&opened.model, &opened.scope);
    let sorted = |sets: &[(String, u64)]| sets.iter().cloned().collect::<BTreeMap<String, u64>>();
    if sizes.len() != sets.len() || sorted(&sizes) != sorted(sets) {
        let what = sizes.iter().find(|s| !sets.contains(s));
        let what = what.map_or("the sets differ".to_string(), |(name, n)| format!("{name} has {n} elements"));
        return Err(Rejected::OtherScope(what));
    }
    if (&opened.scope.minint, &opened.scope.maxint) != (minint, maxint) {
        return Err(Rejected::OtherScope("MININT or MAXINT".into()));
    }
    Ok(opened)
}

/// The texts that were read, in the order of reading.
pub fn files(sources: &SourceMap) -> Vec<File> {
    let mut files = vec![];
    while let Some(source) = sources.get(FileId(files.len() as u32)) {
        let name = source.path.file_name().map(|n| n.to_string_lossy().into_owned());
        files.push(File::of(&name.unwrap_or_default(), &source.text));
    }
    files
}

/// The given sets with their sizes.
pub fn sizes(model: &Model, scope: &Scope) -> Vec<(String, u64)> {
    model.sets.iter().zip(&scope.card).map(|(s, n)| (s.name.to_string(), *n)).collect()
}

/// What the statement claims to be false everywhere.
///
/// # Errors
/// There is no such goal.
pub fn goal(opened: &mut Opened, statement: &Statement) -> Result<Option<Expr>, Rejected> {
    match (statement.claims.goal, &statement.claims.goal_text) {
        (Goal::Given, Some(text)) => match opened.predicate("goal", text) {
            Ok(p) => Ok(Some(p)),
            Err(d) => Err(Rejected::Model(d.first().map_or("the goal".into(), |d| d.message.clone()))),
        },
        (Goal::Model, _) => match &opened.model.goal {
            Some(p) => Ok(Some(p.clone())),
            None => Err(Rejected::Statement("the model has no GOAL")),
        },
        _ => Ok(None),
    }
}

/// The sets whose elements witnesses rename, in the order of the statement.
pub(crate) fn sets(model: &Model, statement: &Statement) -> Result<Vec<SetId>, Rejected> {
    let find = |name: &String| model.set_named(name).ok_or_else(|| Rejected::NoSet(name.clone()));
    statement.symmetry.iter().map(find).collect()
}

/// Appends the values of declared names; none that has no value.
fn put_all(out: &mut Vec<u8>, values: &[Option<Value>], decls: &[Decl]) -> bool {
    let put = |(v, d): (&Option<Value>, &Decl)| v.as_ref().is_some_and(|v| codec::put(out, v, &d.ty));
    values.len() == decls.len() && values.iter().zip(decls).all(put)
}

/// Values of constants; a symbolic one has none.
pub type Constants = Vec<Option<Value>>;

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
    pub fn evaluator(&self, fuel: u64) -> Cx<'m> {
        Cx::new(self.model, self.scope).with_fuel(fuel)
    }

    /// The first reading: valuations and states.
    fn read<R: Read>(&mut self, reader: &mut Reader<R>) -> Result<(), Rejected> {
        let mut chunk = 0;
        let mut last = Kind::Valuations;
        while let Some((kind, content)) = reader.chunk()? {
            chunk += 1;
            let malformed = |why| Rejected::Malformed { chunk, why };
            if kind.place() < last.place() {
                return Err(malformed("chunks come in another order"));
            }
            last = kind;
            let mut bytes = Bytes::new(&content);
            while !bytes.is_empty() {
                match kind {
                    _ if self.is_of_constants(kind) => break,
                    Kind::Valuations => {
                        let v = self.valuation(&mut bytes).ok_or(malformed("a valuation is not one"))?;
                        self.valuations.push(v);
                    }
                    Kind::Initial => {
                        self.skip_witnesses(&mut bytes).ok_or(malformed("a witness is not one"))?;
                    }
                    Kind::States => {
                        let record = bytes.left();
                        self.state(&mut bytes).ok_or(malformed("a state is not one"))?;
                        let state = &record[..record.len() - bytes.left().len()];
                        if !self.states.add(state) {
                            return Err(Rejected::Twice { state: self.states.len() as u64 });
                        }
                        self.skip_witnesses(&mut bytes).ok_or(malformed("a witness is not one"))?;
                    }
                    _ => return Err(malformed("a chunk that belongs to a proof of another kind")),
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

    pub fn valuation(&self, bytes: &mut Bytes) -> Option<Constants> {
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
    pub fn state(&self, bytes: &mut Bytes) -> Option<(usize, Vec<Value>)> {
        let valuation = usize::try_from(bytes.number()?).ok()?;
        let variables: Option<Vec<Value>> =
            self.model.variables.iter().map(|d| bytes.value(&d.ty, self.scope)).collect();
        (valuation < self.valuations.len()).then_some(())?;
        Some((valuation, variables?))
    }

    pub fn skip_witnesses(&self, bytes: &mut Bytes) -> Option<()> {
        for _ in 0..bytes.number()? {
            self.witness(bytes)?;
        }
        Some(())
    }

    pub fn witness(&self, bytes: &mut Bytes) -> Option<Vec<(SetId, Vec<u32>)>> {
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

    /// The second reading: everything is followed.
    fn follow<R: Read>(&mut self, reader: &mut Reader<R>) -> Result<(), Rejected> {
        let known = self.constants()?;
        let (mut chunk, mut initial, mut state) = (0, 0, 0);
        while let Some((kind, content)) = reader.chunk()? {
            chunk += 1;
            let mut bytes = Bytes::new(&content);
            while !bytes.is_empty() && kind != Kind::Valuations {
                let changed = || Rejected::Malformed { chunk, why: "it has changed between two readings" };
                match kind {
                    Kind::Initial => {
                        let constants = known.get(initial).ok_or_else(changed)?;
                        self.initial(initial, constants, &mut bytes)?;
                        initial += 1;
                    }
                    _ if self.is_of_constants(kind) => break,
                    _ => {
                        let record = bytes.left();
                        let (valuation, variables) = self.state(&mut bytes).ok_or_else(changed)?;
                        let length = record.len() - bytes.left().len();
                        if state >= self.states.len() || record[..length] != *self.states.get(state) {
                            return Err(changed());
                        }
                        match state as u64 % self.part.of == self.part.part {
                            true => {
                                let constants = known.get(valuation).ok_or_else(changed)?;
                                self.expand(state, (valuation, variables), constants, &mut bytes)?;
                            }
                            false => self.skip_witnesses(&mut bytes).ok_or_else(changed)?,
                        }
                        state += 1;
                    }
                }
            }
        }
        let counts = [("initial records", known.len(), initial), ("states", self.states.len(), state)];
        for (what, claimed, found) in counts {
            if claimed != found {
                return Err(Rejected::Counts { what, claimed: claimed as u64, found: found as u64 });
            }
        }
        Ok(())
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

    fn initial(&mut self, number: usize, constants: &State<'m>, bytes: &mut Bytes) -> Result<(), Rejected> {
        let values = &self.valuations[number];
        let shown = self.shown(values, &self.model.constants);
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
        let mut targets = BTreeMap::new();
        for state in &reached.found {
            targets.insert(self.encoded(number, &state.variables).ok_or_else(|| unassigned(at()))?, state);
        }
        let missing = |state: &&State<'m>| Rejected::MissingInitial {
            at: at(),
            state: self.shown(&state.variables, &self.model.variables),
        };
        let used = self.covered(number, &targets, |s| &s.variables, bytes, &at, &missing)?;
        self.witnesses += used;
        Ok(())
    }

    fn expand(
        &mut self,
        number: usize,
        (valuation, variables): (usize, Vec<Value>),
        constants: &State<'m>,
        bytes: &mut Bytes,
    ) -> Result<(), Rejected> {
        let variables: Vec<Option<Value>> = variables.into_iter().map(Some).collect();
        let at = || Place::State {
            state: number as u64 + 1,
            shown: self.shown(&variables, &self.model.variables),
        };
        let state = State { constants: constants.constants.clone(), variables: variables.clone() };
        let cx = self.evaluator(self.effort.state);
        self.claims(&cx, &state, &at)?;
        let next = reference::successors(&cx, &state);
        if let Some(f) = next.faults.first() {
            return Err(fault_at(at(), &f.fault, &self.model.operations[f.op.index()].name));
        }
        self.not_truncated(&cx, at)?;
        if next.steps.is_empty() && self.statement.claims.no_deadlock {
            return Err(Rejected::Deadlock { at: at() });
        }
        let mut targets = BTreeMap::new();
        for step in &next.steps {
            let target = self.encoded(valuation, &step.state.variables);
            targets.entry(target.ok_or_else(|| unassigned(at()))?).or_insert(step);
        }
        let missing = |step: &&reference::Successor<'m>| {
            let op = &self.model.operations[step.op.index()];
            let shown = |(id, v): (_, &Value)| {
                let ty = &self.model.local(id).ty;
                Show { value: v, ty, model: self.model }.to_string()
            };
            Rejected::MissingSuccessor {
                at: at(),
                operation: op.name.to_string(),
                parameters: op.params.iter().copied().zip(&step.params).map(shown).collect(),
                target: self.shown(&step.state.variables, &self.model.variables),
            }
        };
        let used = self.covered(valuation, &targets, |s| &s.state.variables, bytes, &at, &missing)?;
        self.transitions += next.steps.len() as u64;
        self.witnesses += used;
        Ok(())
    }

    /// Each of these states is stored, or becomes a stored one by the next witness. The witnesses that were needed.
    fn covered<T>(
        &self,
        valuation: usize,
        targets: &BTreeMap<Vec<u8>, T>,
        variables: impl Fn(&T) -> &Vec<Option<Value>>,
        bytes: &mut Bytes,
        at: &dyn Fn() -> Place,
        missing: &dyn Fn(&T) -> Rejected,
    ) -> Result<u64, Rejected> {
        let malformed = || Rejected::NoSymmetry { at: at(), why: "it is not written as one".into() };
        let given = bytes.number().ok_or_else(malformed)?;
        let mut used = 0;
        for (target, of) in targets {
            if self.states.contains(target) {
                continue;
            }
            if used == given {
                return Err(missing(of));
            }
            used += 1;
            let images = self.witness(bytes).ok_or_else(malformed)?;
            let p = Permutation::new(images, &self.movable)
                .map_err(|wrong| Rejected::NoSymmetry { at: at(), why: self.wrong(&wrong) })?;
            let permuted = |v: &Option<Value>| v.as_ref().map(|v| p.apply(v));
            let constants: Constants = self.valuations[valuation].iter().map(permuted).collect();
            let image: Vec<Option<Value>> = variables(of).iter().map(permuted).collect();
            let found = self.valuations.iter().position(|v| *v == constants);
            let encoded = found.and_then(|v| self.encoded(v, &image));
            if !encoded.is_some_and(|bytes| self.states.contains(&bytes)) {
                let target = self.shown(&image, &self.model.variables);
                return Err(Rejected::WitnessLeadsNowhere { at: at(), target });
            }
        }
        match used == given {
            true => Ok(used),
            false => Err(Rejected::TooManyWitnesses { at: at() }),
        }
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

const UNBOUNDED: &str = "an integer that nothing bounds would have to be enumerated";

pub(crate) fn unassigned(at: Place) -> Rejected {
    Rejected::Undefined { at, what: "a variable gets no value".into() }
}

pub(crate) fn fault_at(at: Place, fault: &Fault, what: &str) -> Rejected {
    match fault {
        Fault::Limit(_, why) => Rejected::Undecided { at, why: format!("{what}: {why}") },
        Fault::Wd(wd) => Rejected::Undefined { at, what: format!("{what} has no value ({:?})", wd.kind) },
    }
}
