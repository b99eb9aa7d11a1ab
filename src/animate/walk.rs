//! A walk through any [`System`]: where it is, where it can go, where it has been.

use crate::lang::diag::Span;
use crate::system::{Label, Path, Res, Role, Stop, System, Transition, Visitor, initial_states};
use crate::value::fault::Fault;
use serde_json::{Value as Json, json};
use std::collections::HashSet;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// Initial states or transitions that are offered at most.
pub const MAX_CHOICES: usize = 1000;
/// Faults that are told at most.
const MAX_FAULTS: usize = 10;

/// A place in the history. Places are numbered as they are first visited.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place(pub usize);

/// A state of the history and how it was reached.
#[derive(Clone, Debug)]
pub struct Visited {
    /// The state.
    pub row: Vec<u64>,
    /// The place before it; none for an initial state.
    pub from: Option<Place>,
    /// The transition that was taken; none for an initial state.
    pub label: Option<Label>,
    /// Where the walk has gone from here, in the order in which it first did.
    pub next: Vec<Place>,
    /// Where it has gone last: `redo` goes there again.
    last: Option<Place>,
    /// Which of the choices it was, once somebody has asked.
    number: Option<usize>,
}

/// A step that can be taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    /// The transition; none for an initial state.
    pub label: Option<Label>,
    /// The state that it leads to.
    pub row: Vec<u64>,
}

impl Choice {
    /// The place of its operation in [`System::operations`]; none for an initial state.
    pub fn operation(&self) -> Option<usize> {
        self.label.as_ref()?.first().map(|n| *n as usize)
    }
}

/// Why steps may be missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Missing {
    /// There are more than are offered.
    More,
    /// It was interrupted.
    Stopped,
    /// An enumeration was cut short.
    Cut(Option<Span>),
}

/// What can be done next: the initial states before the walk has begun, then the transitions of the present state.
#[derive(Clone, Debug, Default)]
pub struct Choices {
    /// Each once; their order is always the same.
    pub all: Vec<Choice>,
    /// Operations that have no value for some parameters.
    pub faults: Vec<(Option<usize>, Box<Fault>)>,
    /// Set if there may be others.
    pub missing: Option<Missing>,
}

/// How far a search may go.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// States that are looked at.
    pub states: usize,
    /// Time.
    pub time: Duration,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { states: 200_000, time: Duration::from_secs(10) }
    }
}

/// Why a search has no answer.
#[derive(Clone, Debug)]
pub enum Unseen {
    /// The limit of states.
    States(usize),
    /// The limit of time.
    Time(Duration),
    /// It was interrupted.
    Stopped,
    /// Something has no value, or could not be computed.
    Fault(Box<Fault>),
    /// An enumeration was cut short.
    Cut(Option<Span>),
}

/// How a search for a state ended.
#[derive(Clone, Debug)]
pub enum Sought {
    /// The walk is there now, after so many steps, and no fewer lead to such a state.
    Reached(usize),
    /// There is none among all that can be reached, which are so many.
    Nowhere(usize),
    /// None was found among so many states, but it may be elsewhere.
    Unknown(Unseen, usize),
}

/// Where a search begins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum From {
    /// In the present state.
    #[default]
    Here,
    /// In the initial states.
    Start,
}

/// Why random steps ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// All were taken.
    Done,
    /// Nothing can be done.
    Deadlock,
    /// A conjunct of the invariant is false, or has no value.
    Broken,
    /// It was interrupted.
    Stopped,
}

/// The truth of a check in the present state.
#[derive(Clone, Debug)]
pub struct Judged {
    /// Its place in [`System::checks`].
    pub check: usize,
    /// What it is for.
    pub role: Role,
    /// What it is called.
    pub name: Arc<str>,
    /// Whether it holds, or why it has no value.
    pub truth: Result<bool, Box<Fault>>,
}

/// A walk through a system by hand, with a history that branches. See [`super`].
pub struct Walk<S: System> {
    system: Arc<S>,
    visited: Vec<Visited>,
    /// None: before the first state.
    at: Option<Place>,
    /// Initial states that were visited, and the last of them.
    roots: Vec<Place>,
    last: Option<Place>,
    /// The choices at a place, while the walk is there.
    known: Option<(Option<Place>, Arc<Choices>)>,
    title: String,
}

impl<S: System> Walk<S> {
    /// A walk that has not begun: its choices are the initial states.
    pub fn new(system: Arc<S>) -> Walk<S> {
        let title = "system".to_string();
        Walk { system, visited: vec![], at: None, roots: vec![], last: None, known: None, title }
    }

    /// The same walk with a name for what is walked through.
    #[must_use]
    pub fn named(mut self, title: &str) -> Walk<S> {
        self.title = title.to_string();
        self
    }

    /// The name of what is walked through.
    pub fn title(&self) -> &str {
        &self.title
    }

    /// What is walked through.
    pub fn system(&self) -> &Arc<S> {
        &self.system
    }

    // ---- where it is ----------------------------------------------------------------------------------------

    /// Where it is; none before the first state.
    pub fn at(&self) -> Option<Place> {
        self.at
    }

    /// The present state; none before the first.
    pub fn row(&self) -> Option<&[u64]> {
        self.at.map(|p| &self.visited[p.0].row[..])
    }

    /// All that was visited, by place.
    pub fn visited(&self) -> &[Visited] {
        &self.visited
    }

    /// The initial states that were visited.
    pub fn roots(&self) -> &[Place] {
        &self.roots
    }

    /// The places from an initial state to a place.
    pub fn way(&self, to: Option<Place>) -> Vec<Place> {
        let mut way: Vec<Place> =
            std::iter::successors(to, |p| self.visited.get(p.0).and_then(|v| v.from)).collect();
        way.reverse();
        way
    }

    /// The states and transitions from an initial state to this one.
    pub fn path(&self) -> Path {
        let way = self.way(self.at);
        let rows = way.iter().map(|p| self.visited[p.0].row.clone()).collect();
        let labels = way.iter().filter_map(|p| self.visited[p.0].label.clone()).collect();
        Path { rows, labels }
    }

    /// Names and values of the present state, and each value before the last step if it was another one.
    pub fn state(&self) -> Vec<(String, String, Option<String>)> {
        let Some(here) = self.at.map(|p| &self.visited[p.0]) else { return vec![] };
        let before = here.from.map(|p| self.system.show_state(&self.visited[p.0].row)).unwrap_or_default();
        let mut before = before.into_iter();
        let with = |(name, value): (String, String)| {
            let old = before.next().map(|(_, old)| old).filter(|old| *old != value);
            (name, value, old)
        };
        self.system.show_state(&here.row).into_iter().map(with).collect()
    }

    /// The truth of every check in the present state; nothing before the first.
    pub fn judge(&self, stop: &Stop) -> Vec<Judged> {
        let Some(row) = self.row() else { return vec![] };
        let mut worker = self.system.worker(stop);
        let here = self.system.load(&mut worker, row);
        let checks = self.system.checks().iter().enumerate();
        checks
            .map(|(check, c)| Judged {
                check,
                role: c.role,
                name: c.name.clone(),
                truth: self.system.holds(check, here),
            })
            .collect()
    }

    // ---- where it can go ------------------------------------------------------------------------------------

    /// What can be done next.
    pub fn choices(&mut self, stop: &Stop) -> Arc<Choices> {
        if let Some((at, known)) = &self.known
            && *at == self.at
        {
            return known.clone();
        }
        let found = Arc::new(choices(&*self.system, self.row(), stop));
        if found.missing != Some(Missing::Stopped) {
            self.known = Some((self.at, found.clone()));
        }
        found
    }

    /// Takes a step by its place among the choices. None if there is no such choice.
    pub fn step(&mut self, choice: usize, stop: &Stop) -> Option<Place> {
        let chosen = self.choices(stop).all.get(choice)?.clone();
        let place = self.take(chosen);
        self.visited[place.0].number = Some(choice);
        Some(place)
    }

    /// Goes where a choice of the present place leads. A step that was taken before leads to the same place again.
    fn take(&mut self, choice: Choice) -> Place {
        let next = match self.at {
            Some(p) => &self.visited[p.0].next,
            None => &self.roots,
        };
        let same = |p: &&Place| {
            let v = &self.visited[p.0];
            v.row == choice.row && v.label == choice.label
        };
        let place = match next.iter().find(same) {
            Some(place) => *place,
            None => {
                let place = Place(self.visited.len());
                let Choice { row, label } = choice;
                self.visited.push(Visited {
                    row,
                    from: self.at,
                    label,
                    next: vec![],
                    last: None,
                    number: None,
                });
                match self.at {
                    Some(p) => self.visited[p.0].next.push(place),
                    None => self.roots.push(place),
                }
                place
            }
        };
        self.arrive(place);
        place
    }

    /// Is at a place from now on, and remembers the way there for `redo`.
    fn arrive(&mut self, place: Place) {
        let mut to = place;
        while let Some(from) = self.visited[to.0].from {
            self.visited[from.0].last = Some(to);
            to = from;
        }
        self.last = Some(to);
        self.at = Some(place);
    }

    /// Follows a path from its first state on. It must be a path of the system.
    pub(super) fn follow(&mut self, path: &Path) -> Option<Place> {
        let mut labels = path.labels.iter().cloned().map(Some);
        self.at = None;
        for (i, row) in path.rows.iter().enumerate() {
            let label = if i == 0 { None } else { labels.next()? };
            self.take(Choice { label, row: row.clone() });
        }
        self.at
    }

    /// Takes back the last step; the first leads back to before the first state. Says whether there was one.
    pub fn undo(&mut self) -> bool {
        let Some(here) = self.at else { return false };
        self.at = self.visited[here.0].from;
        true
    }

    /// Goes again where the walk went last from here. Says whether it did.
    pub fn redo(&mut self) -> bool {
        let next = match self.at {
            Some(p) => self.visited[p.0].last,
            None => self.last,
        };
        if next.is_some() {
            self.at = next;
        }
        next.is_some()
    }

    /// Goes to a place of the history, on whichever branch; `None` is before the first state. Says whether there is
    /// such a place.
    pub fn go(&mut self, place: Option<Place>) -> bool {
        match place {
            None => self.at = None,
            Some(p) if p.0 < self.visited.len() => self.arrive(p),
            Some(_) => return false,
        }
        true
    }

    /// Takes steps that chance chooses: the same steps for the same seed. They end early where nothing can be done, and
    /// in a state in which the invariant is broken.
    pub fn random(&mut self, steps: usize, seed: u64, stop: &Stop) -> (usize, End) {
        let mut chance = Chance(seed);
        for taken in 0..steps {
            let choices = self.choices(stop);
            if choices.missing == Some(Missing::Stopped) {
                return (taken, End::Stopped);
            }
            if choices.all.is_empty() {
                return (taken, End::Deadlock);
            }
            let number = chance.below(choices.all.len());
            let place = self.take(choices.all[number].clone());
            self.visited[place.0].number = Some(number);
            let is_broken = |j: &Judged| j.role == Role::Invariant && !matches!(j.truth, Ok(true));
            if self.judge(stop).iter().any(is_broken) {
                return (taken + 1, End::Broken);
            }
        }
        (steps, End::Done)
    }

    /// Goes to a nearest state that passes a test: the present one, if it does.
    pub fn seek(
        &mut self,
        from: From,
        test: &mut dyn FnMut(&S, &[u64]) -> Res<bool>,
        limits: Limits,
        stop: &Stop,
    ) -> Sought {
        let start = self.row().filter(|_| from == From::Here).map(<[u64]>::to_vec);
        let begun = Instant::now();
        let mut worker = self.system.worker(stop);
        let mut seen = Seen::default();
        let mut first = vec![];
        match &start {
            Some(row) => first.push(row.clone()),
            None => {
                let initial = initial_states(&*self.system, &mut worker, &mut |_, row| {
                    first.push(row.to_vec());
                    if first.len() < limits.states {
                        ControlFlow::Continue(())
                    } else {
                        ControlFlow::Break(())
                    }
                });
                if initial.complete.is_none() {
                    seen.gap = Some(match (initial.fault, initial.cut) {
                        (Some(fault), _) => Unseen::Fault(fault),
                        (None, Some(cut)) => Unseen::Cut(Some(cut)),
                        (None, None) if stop.load(Ordering::Relaxed) => Unseen::Stopped,
                        (None, None) if first.len() >= limits.states => Unseen::States(limits.states),
                        (None, None) => Unseen::Cut(None),
                    });
                }
            }
        }
        for row in first {
            if seen.list(row, None, &mut |row| test(&self.system, row)) {
                return self.reached(start.is_some(), &seen);
            }
        }
        let mut at = 0;
        while at < seen.all.len() {
            if begun.elapsed() > limits.time {
                return Sought::Unknown(Unseen::Time(limits.time), seen.all.len());
            }
            let row = seen.all[at].0.clone();
            let found = choices_up_to(&*self.system, Some(&row), &mut worker, usize::MAX, stop);
            for choice in found.all {
                if seen.known.contains(&choice.row) {
                    continue;
                }
                if seen.all.len() >= limits.states {
                    return Sought::Unknown(Unseen::States(limits.states), seen.all.len());
                }
                let how = choice.label.map(|label| (at, label));
                if seen.list(choice.row, how, &mut |row| test(&self.system, row)) {
                    return self.reached(start.is_some(), &seen);
                }
            }
            match (found.missing, found.faults.into_iter().next()) {
                (Some(Missing::Stopped), _) => return Sought::Unknown(Unseen::Stopped, seen.all.len()),
                (_, Some((_, fault))) => seen.missed(Unseen::Fault(fault)),
                (Some(Missing::Cut(cut)), None) => seen.missed(Unseen::Cut(cut)),
                (Some(Missing::More) | None, None) => {}
            }
            at += 1;
        }
        match seen.gap {
            Some(why) => Sought::Unknown(why, seen.all.len()),
            None => Sought::Nowhere(seen.all.len()),
        }
    }

    /// Goes to the state that was listed last.
    fn reached(&mut self, is_here: bool, seen: &Seen) -> Sought {
        let mut steps = vec![seen.all.len() - 1];
        while let Some((from, _)) = &seen.all[steps[steps.len() - 1]].1 {
            steps.push(*from);
        }
        steps.reverse();
        if !is_here {
            self.at = None;
        }
        for i in &steps[usize::from(is_here)..] {
            let (row, how) = &seen.all[*i];
            self.take(Choice { label: how.as_ref().map(|(_, l)| l.clone()), row: row.clone() });
        }
        Sought::Reached(steps.len() - 1)
    }

    // ---- addresses and files --------------------------------------------------------------------------------

    /// The way here as the places of its steps among the choices, `0.3.1`: the same model takes the same way again with
    /// [`Walk::go_to`]. Empty before the first state; none if a step is not among the choices that are offered.
    pub fn address(&mut self, stop: &Stop) -> Option<String> {
        let mut numbers = vec![];
        let mut before: Option<Place> = None;
        for place in self.way(self.at) {
            let v = &self.visited[place.0];
            let number = match v.number {
                Some(number) => number,
                None => {
                    let row = before.map(|p| &self.visited[p.0].row[..]);
                    let all = choices(&*self.system, row, stop).all;
                    all.iter().position(|c| c.row == v.row && c.label == v.label)?
                }
            };
            self.visited[place.0].number = Some(number);
            numbers.push(number.to_string());
            before = Some(place);
        }
        Some(numbers.join("."))
    }

    /// Goes to an address.
    ///
    /// # Errors
    /// An address that leads nowhere: the walk stays where it is.
    pub fn go_to(&mut self, address: &str, stop: &Stop) -> Result<(), String> {
        let mut path: Vec<Choice> = vec![];
        for (i, number) in address.split('.').filter(|n| !n.is_empty()).enumerate() {
            let before = path.last().map(|c| &c.row[..]);
            let mut all = choices(&*self.system, before, stop).all;
            match number.parse::<usize>().ok().filter(|n| *n < all.len()) {
                Some(n) => path.push(all.swap_remove(n)),
                None => return Err(format!("step {} of the link is not possible", i + 1)),
            }
        }
        self.at = None;
        path.into_iter().for_each(|choice| {
            self.take(choice);
        });
        Ok(())
    }

    /// The way here as JSON, with states and transitions as they are shown: for any system. (Those of a B machine can be
    /// saved with values: [`super::Session::save`].)
    pub fn to_json(&self) -> Json {
        let step = |p: &Place| {
            let v = &self.visited[p.0];
            let state = self.system.show_state(&v.row).into_iter().map(|(n, v)| (n, v.into()));
            let label = v.label.as_ref().map(|l| self.system.show_label(l));
            json!({ "transition": label, "state": Json::Object(state.collect()) })
        };
        let steps: Vec<Json> = self.way(self.at).iter().map(step).collect();
        json!({ "format": "kanon-walk", "version": 1, "steps": steps })
    }

    /// Takes the way that [`Walk::to_json`] wrote.
    ///
    /// # Errors
    /// The step that is not possible: the walk is before it then.
    pub fn take_json(&mut self, json: &Json, stop: &Stop) -> Result<(), String> {
        let Some(steps) = json.get("steps").and_then(Json::as_array) else {
            return Err("it has no list of `steps`".into());
        };
        // Different states may look the same (a process is shown in part), so all that fit are kept, each once per step.
        let mut layers: Vec<Vec<(Choice, usize)>> = vec![];
        for step in steps {
            let fits = |c: &Choice| {
                let label = c.label.as_ref().map(|l| self.system.show_label(l));
                let shown = self.system.show_state(&c.row);
                let is_so = |n: &str, v: &str| {
                    step["state"].get(n).and_then(Json::as_str).is_none_or(|wanted| wanted == v)
                };
                step["transition"].as_str() == label.as_deref() && shown.iter().all(|(n, v)| is_so(n, v))
            };
            let mut layer: Vec<(Choice, usize)> = vec![];
            let mut look = |from: usize, row: Option<&[u64]>| {
                for choice in choices(&*self.system, row, stop).all {
                    if fits(&choice) && !layer.iter().any(|(c, _)| c.row == choice.row) {
                        layer.push((choice, from));
                    }
                }
            };
            match layers.last() {
                Some(before) => before.iter().enumerate().for_each(|(i, (c, _))| look(i, Some(&c.row))),
                None => look(0, None),
            }
            if layer.is_empty() {
                break;
            }
            layers.push(layer);
        }
        let taken = layers.len();
        let (mut way, mut at) = (vec![], 0);
        while let Some(mut layer) = layers.pop() {
            let (choice, from) = layer.swap_remove(at);
            way.push(choice);
            at = from;
        }
        self.at = None;
        for choice in way.into_iter().rev() {
            self.take(choice);
        }
        if taken < steps.len() { Err(format!("step {} is not possible", taken + 1)) } else { Ok(()) }
    }
}

/// From which state of the list, and by which transition; none where the search began.
type How = Option<(usize, Label)>;

/// What a search has seen, breadth first: each state, and how it was reached.
#[derive(Default)]
struct Seen {
    all: Vec<(Vec<u64>, How)>,
    known: HashSet<Vec<u64>>,
    /// Why there may be states that it has not seen, or tests without an answer.
    gap: Option<Unseen>,
}

impl Seen {
    /// Lists a state that is new; whether it passes the test.
    fn list(&mut self, row: Vec<u64>, how: How, test: &mut dyn FnMut(&[u64]) -> Res<bool>) -> bool {
        let passes = test(&row);
        self.known.insert(row.clone());
        self.all.push((row, how));
        passes.unwrap_or_else(|fault| {
            self.missed(Unseen::Fault(fault));
            false
        })
    }

    fn missed(&mut self, why: Unseen) {
        self.gap.get_or_insert(why);
    }
}

/// What can be done in a state, or before the first.
fn choices<S: System>(system: &S, row: Option<&[u64]>, stop: &Stop) -> Choices {
    choices_up_to(system, row, &mut system.worker(stop), MAX_CHOICES, stop)
}

pub(super) fn choices_up_to<S: System>(
    system: &S,
    row: Option<&[u64]>,
    worker: &mut S::Worker,
    most: usize,
    stop: &Stop,
) -> Choices {
    let mut found = Choices::default();
    match row {
        None => {
            let initial = initial_states(system, worker, &mut |_, row| {
                if found.all.len() == most {
                    found.missing = Some(Missing::More);
                    return ControlFlow::Break(());
                }
                found.all.push(Choice { label: None, row: row.to_vec() });
                ControlFlow::Continue(())
            });
            if let (None, None) = (&initial.complete, found.missing) {
                found.missing = Some(Missing::Cut(initial.cut));
            }
            found.faults.extend(initial.fault.map(|f| (None, f)));
        }
        Some(row) => {
            let mut gather = Gather { system, most, found };
            let _ = system.successors(worker, row, &mut gather);
            found = gather.found;
            if let Some(at) = system.cut(worker) {
                found.missing.get_or_insert(Missing::Cut(Some(at)));
            }
        }
    }
    if stop.load(Ordering::Relaxed) {
        found.missing = Some(Missing::Stopped);
    }
    found
}

struct Gather<'a, S: System> {
    system: &'a S,
    most: usize,
    found: Choices,
}

impl<S: System> Visitor<S::Here> for Gather<'_, S> {
    fn transition(&mut self, t: Transition<S::Here>) -> ControlFlow<()> {
        if self.found.all.len() == self.most {
            self.found.missing = Some(Missing::More);
            return ControlFlow::Break(());
        }
        let label = Some(self.system.label(t.operation, t.here));
        self.found.all.push(Choice { label, row: t.target.to_vec() });
        ControlFlow::Continue(())
    }

    fn fault(&mut self, operation: usize, fault: Box<Fault>) -> ControlFlow<()> {
        let fault = (Some(operation), fault);
        if self.found.faults.len() < MAX_FAULTS && !self.found.faults.contains(&fault) {
            self.found.faults.push(fault);
        }
        ControlFlow::Continue(())
    }
}

/// Numbers from a seed (splitmix64).
struct Chance(u64);

impl Chance {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((u128::from(z ^ (z >> 31)) * n as u128) >> 64) as usize
    }
}
