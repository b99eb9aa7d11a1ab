//! A system as a structure: rows become numbers when they are met, propositions are evaluated once per state and once
//! per step.
//!
//! Under symmetry reduction a state stands for its orbit (Proposition 1): what is stored is the key. Propositions of
//! steps, and whether a step stays where it is, are taken from the concrete edge before its target is replaced.
//!
//! Whatever has no value or no complete answer (a limit, an integer without bounds, a well-definedness error) leaves the
//! state open, and is remembered as the reason for an Unknown.

use super::lasso::{Lasso, Taken};
use super::structure::{Edge, Expansion, Known, StateId, Structure};
use crate::explore::Store;
use crate::explore::memory::Limit;
use crate::explore::store::{Arriving, Layout, ROOT, Row};
use crate::symmetry::Reducer;
use crate::system::{Label, Path, Stop, System, Transition, Visitor, initial_states};
use crate::value::fault::{Fault, Res};
use crate::verdict::{Complete, Why};
use kanon_refinement::kernel::{Insertion, Rrac};
use std::collections::{HashMap, HashSet};
use std::ops::ControlFlow;
use std::sync::atomic::Ordering;

/// What a formula asks of the states and steps of a system: numbered propositions, at most 64 of each.
pub trait Propositions<S: System> {
    /// The steps of a state are about to be visited: values before a step are to be had now.
    fn before(&mut self, system: &S, row: &[u64]) {
        let _ = (system, row);
    }

    /// Those that hold of the state at hand.
    fn of_state(&mut self, system: &S, here: &mut S::Here, row: &[u64]) -> Res<u64>;

    /// Those that hold of the step at hand, and which instance of its operation it is.
    fn of_step(&mut self, system: &S, here: &mut S::Here, operation: usize) -> Res<Taken>;

    /// Whether what it says of steps depends on their parameters or results.
    fn reads_labels(&self) -> bool {
        true
    }

    /// Those of steps that an operation may fulfil.
    fn of_operation(&self, operation: usize) -> u64;
}

/// A path of states: rows, steps between them, and where the last step leads if the path has no end.
pub struct Unfolded {
    pub rows: Vec<Vec<u64>>,
    pub steps: Vec<Taken>,
    pub back: Option<usize>,
}

/// States on an unfolded path at most.
const MAX_UNFOLDED: usize = 5_000_000;
/// Memory is asked for every so many states.
const PERIOD: usize = 1 << 12;

/// All that is known of the states, apart from what evaluates.
struct States<'s, S, P> {
    system: &'s S,
    propositions: P,
    reducer: Option<Reducer>,
    store: Store,
    /// The propositions of each state.
    props: Vec<u64>,
    /// States in which a proposition has no value.
    faulty: HashSet<StateId>,
    open: Option<Why>,
}

/// How far a search may go.
#[derive(Clone, Copy, Debug, Default)]
pub struct Limits {
    pub max_states: Option<usize>,
    /// Bytes of the program.
    pub max_memory: Option<u64>,
}

pub struct Space<'s, S: System, P> {
    worker: S::Worker,
    states: States<'s, S, P>,
    limits: Limits,
    /// The propositions of steps that tell edges apart.
    asked: u64,
    stop: Stop,
    row: Vec<u64>,
}

impl<'s, S: System, P: Propositions<S>> Space<'s, S, P> {
    /// `asked` are the propositions of steps that the property asks of the step that is taken. Whether a reducer goes with
    /// the property is for whoever knows the property to say.
    pub fn new(
        system: &'s S,
        propositions: P,
        asked: u64,
        reducer: Option<Reducer>,
        limits: Limits,
        stop: &Stop,
    ) -> Space<'s, S, P> {
        let worker = system.worker(stop);
        let states = States {
            system,
            propositions,
            reducer,
            store: Store::new(Layout::new(&system.widths())).within(Limit(limits.max_memory)),
            props: vec![],
            faulty: HashSet::new(),
            open: None,
        };
        Space { worker, states, limits, asked, stop: stop.clone(), row: vec![] }
    }

    pub fn row(&self, s: StateId) -> Row {
        self.states.store.row(s)
    }

    pub fn propositions(&self) -> &P {
        &self.states.propositions
    }

    /// The propositions of states that hold in a state.
    pub fn props(&self, s: StateId) -> u64 {
        self.states.props[s as usize]
    }

    pub fn states(&self) -> usize {
        self.states.store.len()
    }

    /// Of the store of states.
    pub fn bytes(&self) -> usize {
        self.states.store.bytes() + self.states.props.capacity() * 8
    }

    /// A state by its row.
    pub fn state(&mut self, row: &[u64]) -> StateId {
        let here = self.states.system.load(&mut self.worker, row);
        self.states.arrive(here, row, ROOT)
    }

    /// The first state, breadth first, that fulfils the first proposition; the number of a state is its place in this
    /// order. `None` if there is none.
    pub fn first(&mut self, wanted: impl Fn(usize, bool) -> bool) -> Option<Vec<u64>> {
        let mut out = vec![];
        let _ = self.initial(&mut out);
        let mut buffer = Expansion::default();
        let mut at = 0;
        while at < self.states() {
            if wanted(at, self.states.props[at] & 1 == 1) {
                return Some(self.row(at as StateId).to_vec());
            }
            buffer.clear();
            self.expand(at as StateId, &mut buffer);
            if self.stop.load(Ordering::Relaxed) {
                return None;
            }
            at += 1;
        }
        None
    }

    /// Looks for the transitions of a path. The last state of a loop is followed by the first once more.
    pub fn path(&mut self, lasso: &Lasso, from_initial: bool) -> Result<Path, String> {
        let system = self.states.system;
        let first = self.row(lasso.states[0]).to_vec();
        if from_initial && self.initial_with(|_, row| row == first)?.is_none() {
            return Err("the path does not start in an initial state".to_string());
        }
        let mut worker = system.worker(&self.stop);
        let mut path = Path { rows: vec![first], labels: vec![] };
        for (i, taken) in lasso.steps.iter().enumerate() {
            let row = self.row(lasso.states[i]).to_vec();
            let target = self.row(lasso.after(i)).to_vec();
            self.states.propositions.before(system, &row);
            let mut find = Find {
                states: &mut self.states,
                asked: self.asked,
                target: &target,
                taken: *taken,
                found: None,
            };
            let _ = system.successors(&mut worker, &row, &mut find);
            let label =
                find.found.ok_or_else(|| format!("step {} of the path was not found again", i + 1))?;
            path.labels.push(label);
            path.rows.push(target);
        }
        Ok(path)
    }

    /// A path of rows as one of this space's states, when it does not reduce.
    pub fn lasso(&mut self, path: &Unfolded) -> Lasso {
        let states = path.rows.iter().map(|row| self.state(row)).collect();
        Lasso { states, steps: path.steps.clone(), back: path.back }
    }

    /// A path of representatives as a path of states: each step is followed by one of the same kind to a state of the
    /// same orbit, and the loop is repeated until it meets a state in which it began before. Rows, steps and the
    /// place to which the last step leads.
    pub fn unfold(&mut self, lasso: &Lasso, start: Option<&[u64]>) -> Result<Unfolded, String> {
        let first = match start {
            Some(row) => row.to_vec(),
            None => {
                let key = self.row(lasso.states[0]).to_vec();
                self.initial_with(|states, row| states.key(row) == key)?
                    .ok_or("no initial state is symmetric to the first state of the path")?
            }
        };
        let mut path = Unfolded { rows: vec![first], steps: vec![], back: None };
        let n = lasso.states.len();
        // Where the loop began, by state.
        let mut begun: HashMap<Vec<u64>, usize> = HashMap::new();
        let mut at = 0;
        while at < lasso.steps.len() {
            let here = path.rows.len() - 1;
            if lasso.back == Some(at) {
                begun.insert(path.rows[here].clone(), here);
            }
            let closes = lasso.back.is_some() && at + 1 == n;
            let wanted = self.row(lasso.after(at)).to_vec();
            let target =
                self.follow(&path.rows[here].clone(), &wanted, lasso.steps[at], closes.then_some(&begun))?;
            path.steps.push(lasso.steps[at]);
            if closes && let Some(place) = begun.get(&target) {
                path.back = Some(*place);
                return Ok(path);
            }
            if path.rows.len() >= MAX_UNFOLDED {
                return Err(format!("unfolded to states, its loop is longer than {MAX_UNFOLDED} steps"));
            }
            path.rows.push(target);
            at = if closes { lasso.back.unwrap_or(0) } else { at + 1 };
        }
        Ok(path)
    }

    /// The first initial state that is wanted.
    fn initial_with(
        &mut self,
        mut wanted: impl FnMut(&mut States<S, P>, &[u64]) -> bool,
    ) -> Result<Option<Vec<u64>>, String> {
        let Space { worker, states, .. } = self;
        let mut found = None;
        let all = initial_states(states.system, worker, &mut |_, row| {
            if !wanted(states, row) {
                return ControlFlow::Continue(());
            }
            found = Some(row.to_vec());
            ControlFlow::Break(())
        });
        match (found, all.fault) {
            (None, Some(f)) => Err(format!("the initial state was not found again: {f:?}")),
            (found, _) => Ok(found),
        }
    }

    /// A successor in the orbit of a key, by a step of this kind; one of those preferred if there is one.
    fn follow(
        &mut self,
        row: &[u64],
        key: &[u64],
        taken: Taken,
        preferred: Option<&HashMap<Vec<u64>, usize>>,
    ) -> Result<Vec<u64>, String> {
        let Space { worker, states, asked, .. } = self;
        let system = states.system;
        states.propositions.before(system, row);
        let mut follow = Follow { states, asked: *asked, key, taken, preferred, found: None };
        let _ = system.successors(worker, row, &mut follow);
        follow.found.ok_or_else(|| {
            "a step of a representative has no counterpart at a state of its orbit".to_string()
        })
    }

    /// Why a state has to stay open, if it has to.
    fn limit(&self, s: StateId) -> Option<Why> {
        if let Some(max) = self.limits.max_states.filter(|max| s as usize >= *max) {
            return Some(Why::MaxStates(max));
        }
        let max = self.limits.max_memory.filter(|_| (s as usize).is_multiple_of(PERIOD))?;
        let is_over = self.states.store.is_cramped() || Limit(Some(max)).is_reached();
        is_over.then_some(Why::MaxMemory(max))
    }
}

/// A fault as the reason for an open state.
fn open(fault: Box<Fault>) -> Why {
    match *fault {
        Fault::Wd(_) => Why::NoValue(fault),
        Fault::Limit(..) => Why::Limit(fault),
    }
}

impl<S: System, P: Propositions<S>> Structure for Space<'_, S, P> {
    fn initial(&mut self, out: &mut Vec<StateId>) -> Option<Complete> {
        let Space { worker, states, .. } = self;
        let all = initial_states(states.system, worker, &mut |here, row| {
            out.push(states.arrive(here, row, ROOT));
            ControlFlow::Continue(())
        });
        if let Some(fault) = all.fault {
            states.stays_open(open(fault));
        }
        if let Some(span) = all.cut {
            states.stays_open(Why::Truncated(span));
        }
        all.complete
    }

    fn expand(&mut self, s: StateId, out: &mut Expansion) -> Known {
        if let Some(why) = self.limit(s) {
            self.states.stays_open(why);
            return Known::Nothing;
        }
        if self.states.faulty.contains(&s) {
            return Known::Nothing;
        }
        let Space { worker, states, row, .. } = self;
        let system = states.system;
        states.store.read(s, row);
        states.propositions.before(system, row);
        let _ = system.cut(worker);
        out.props = states.props[s as usize];
        out.unsure = 0;
        let mut expand = Expand { states, source: s, row, out, known: Known::All };
        let _ = system.successors_ahead(worker, row, &mut expand);
        let mut known = expand.known;
        if let Some(span) = system.cut(worker) {
            self.states.stays_open(Why::Truncated(span));
            (out.unsure, known) = (u64::MAX, Known::Part);
        }
        known
    }

    fn open(&self) -> Option<Why> {
        self.states.open.clone()
    }
}

impl<S: System, P: Propositions<S>> States<'_, S, P> {
    fn stays_open(&mut self, why: Why) {
        self.open.get_or_insert(why);
    }

    /// The number of a row, which is at hand.
    #[inline]
    fn arrive(&mut self, here: &mut S::Here, row: &[u64], parent: StateId) -> StateId {
        let key = match &mut self.reducer {
            Some(reducer) => reducer.key(row),
            None => row,
        };
        match self.store.insert_if_absent(Arriving { row: key, parent }) {
            Insertion::Present(id) => id,
            Insertion::Inserted(id) => {
                let props = self.propositions.of_state(self.system, here, row).unwrap_or_else(|fault| {
                    self.open.get_or_insert(open(fault));
                    self.faulty.insert(id);
                    0
                });
                self.props.push(props);
                id
            }
        }
    }

    /// What stands for a row in the store.
    fn key(&mut self, row: &[u64]) -> Vec<u64> {
        match &mut self.reducer {
            Some(reducer) => reducer.key(row).to_vec(),
            None => row.to_vec(),
        }
    }

    /// Whether the step at hand is of this kind.
    fn is_like(&mut self, here: &mut S::Here, operation: usize, asked: u64, taken: Taken) -> bool {
        let step = self.propositions.of_step(self.system, here, operation);
        step.is_ok_and(|t| t.props & asked == taken.props && t.instance == taken.instance)
    }
}

struct Expand<'x, 's, S, P> {
    states: &'x mut States<'s, S, P>,
    source: StateId,
    row: &'x [u64],
    out: &'x mut Expansion,
    known: Known,
}

impl<S: System, P: Propositions<S>> Visitor<S::Here> for Expand<'_, '_, S, P> {
    #[inline]
    fn transition(&mut self, t: Transition<S::Here>) -> ControlFlow<()> {
        let step = self.states.propositions.of_step(self.states.system, t.here, t.operation);
        let Taken { props, instance } = match step {
            Ok(taken) => taken,
            Err(fault) => return Visitor::<S::Here>::fault(self, t.operation, fault),
        };
        let target = self.states.arrive(t.here, t.target, self.source);
        self.out.edges.push(Edge { target, props, instance, stays: t.target == self.row });
        ControlFlow::Continue(())
    }

    #[inline]
    fn prefetch(&mut self, target: &[u64]) {
        if self.states.reducer.is_none() {
            self.states.store.prefetch_row(target);
        }
    }

    fn reads_labels(&self) -> bool {
        self.states.propositions.reads_labels()
    }

    fn fault(&mut self, operation: usize, fault: Box<Fault>) -> ControlFlow<()> {
        self.states.stays_open(open(fault));
        self.known = Known::Part;
        self.out.unsure |= self.states.propositions.of_operation(operation);
        ControlFlow::Continue(())
    }
}

struct Find<'x, 's, S, P> {
    states: &'x mut States<'s, S, P>,
    asked: u64,
    target: &'x [u64],
    taken: Taken,
    found: Option<Label>,
}

impl<S: System, P: Propositions<S>> Visitor<S::Here> for Find<'_, '_, S, P> {
    fn transition(&mut self, t: Transition<S::Here>) -> ControlFlow<()> {
        if t.target != self.target || !self.states.is_like(t.here, t.operation, self.asked, self.taken) {
            return ControlFlow::Continue(());
        }
        self.found = Some(self.states.system.label(t.operation, t.here));
        ControlFlow::Break(())
    }

    fn fault(&mut self, _: usize, _: Box<Fault>) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}

struct Follow<'x, 's, S, P> {
    states: &'x mut States<'s, S, P>,
    asked: u64,
    key: &'x [u64],
    taken: Taken,
    preferred: Option<&'x HashMap<Vec<u64>, usize>>,
    found: Option<Vec<u64>>,
}

impl<S: System, P: Propositions<S>> Visitor<S::Here> for Follow<'_, '_, S, P> {
    fn transition(&mut self, t: Transition<S::Here>) -> ControlFlow<()> {
        let is_like = self.states.is_like(t.here, t.operation, self.asked, self.taken);
        if !is_like || self.states.key(t.target) != self.key {
            return ControlFlow::Continue(());
        }
        let is_preferred = self.preferred.is_none_or(|p| p.contains_key(t.target));
        if is_preferred || self.found.is_none() {
            self.found = Some(t.target.to_vec());
        }
        if is_preferred { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    fn fault(&mut self, _: usize, _: Box<Fault>) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}
