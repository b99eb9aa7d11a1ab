//! What is looked at in the states that a search meets: one list of observers, made from the options.
//!
//! A new state is looked at in one of two ways. [`Observers::quiet`] asks whether there is nothing to tell, on whatever
//! thread has the state at hand; its word for all successors of a state is the token [`Plain`], and with it the event
//! add_inv may be fired without another look ([`Plain::add_inv`]). [`Observers::enter`] is the full look, which tells
//! what it sees and fires the event itself. Both go through the same list. Nobody else fires add_inv and add_err, so a
//! new state cannot be entered unobserved; a test reads the source for that.
//!
//! | observer | quiet | otherwise |
//! |---|---|---|
//! | conjunct of the invariant | true | add_err; with `all` a finding like the others |
//! | assertion | true | a finding |
//! | goal | false | a finding |
//! | definedness of all of these, and of the operations | a value | a finding, or no answer |
//! | deadlock | some transition | a finding, when the state has been expanded |

use super::hooks::{Fired, Hooks, Rerr, Runex, Visited};
use super::store::StateId;
use super::watch::Watch;
use super::{FindingKind, Options};
use crate::system::{Check, Role, System};
use crate::value::fault::Fault;
use kanon_refinement::kernel::{Absent, Expansion};
use std::ops::ControlFlow;

/// A check that is watched.
struct Observer<'s> {
    /// Its number in the system, and its place among those of its role.
    check: usize,
    place: usize,
    about: &'s Check,
}

impl Observer<'_> {
    /// The value at which there is nothing to tell.
    fn quiet_value(&self) -> bool {
        self.about.role != Role::Goal
    }

    fn finding(&self) -> FindingKind {
        match self.about.role {
            Role::Invariant => FindingKind::Invariant(self.place),
            Role::Assertion => FindingKind::Assertion(self.place),
            Role::Goal => FindingKind::Goal,
        }
    }
}

/// Everything that is watched in a search.
pub(super) struct Observers<'s, S> {
    system: &'s S,
    /// Conjuncts of the invariant, then assertions, then goals.
    list: Vec<Observer<'s>>,
    invariants: usize,
    deadlock: bool,
    /// With `all` the kernel runs with inv = S and the invariant is an observer like the others, since the chain's
    /// events do not go on behind an error state.
    all: bool,
    /// A check is due also if the operation cannot have changed it.
    always: bool,
    /// What an operation is proved to keep need not be looked at after it: see `is_due`.
    relies: bool,
}

/// There is nothing to tell about a new state.
pub(super) struct Quiet(());

impl Quiet {
    /// A mistake that a test plants: nobody looked.
    #[cold]
    pub fn lie() -> Quiet {
        Quiet(())
    }
}

impl<'s, S: System> Observers<'s, S> {
    pub fn new<V: Visited>(system: &'s S, options: &Options) -> Observers<'s, S> {
        let wanted = |role| match role {
            Role::Invariant => options.invariant,
            Role::Assertion => options.assertions,
            Role::Goal => options.goal,
        };
        let mut list = vec![];
        for role in [Role::Invariant, Role::Assertion, Role::Goal].into_iter().filter(|r| wanted(*r)) {
            let checks = system.checks().iter().enumerate().filter(|(_, c)| c.role == role);
            list.extend(checks.enumerate().map(|(place, (check, about))| Observer { check, place, about }));
        }
        let invariants = list.iter().filter(|o| o.about.role == Role::Invariant).count();
        let (deadlock, all) = (options.deadlock, options.all);
        Observers { system, list, invariants, deadlock, all, always: all || V::REDUCES, relies: !all }
    }

    /// Whether an observer has to look at a state that this operation leads to (none: an initial state).
    ///
    /// A check that reads nothing which the operation writes has the value that it had in the source, where it was quiet:
    /// otherwise the search would have ended there. (If it was beyond a limit there, the verdict is Unknown already.)
    /// Not so with `all`, where the search goes on; and not under reduction, where the source is only symmetric to a
    /// state that was looked at.
    ///
    /// What is proved of an operation ([`Check::kept_by`]) is proved for every state in which the whole invariant holds,
    /// and it does in the source, which was looked at or is symmetric to one that was: permutations take states that
    /// fulfil the invariant to such states. Again not so with `all`.
    #[inline]
    fn is_due(&self, o: &Observer, by: Option<usize>) -> bool {
        match by {
            None => true,
            Some(_) if o.about.is_static => false,
            Some(operation) if self.relies && o.about.is_kept_by(operation) => false,
            Some(operation) => self.always || o.about.is_changed_by(operation),
        }
    }

    /// The quiet look of all observers at once, when no state but an initial one can be of interest to them.
    pub fn always_quiet(&self) -> Option<Quiet> {
        self.list.iter().all(|o| o.about.is_static).then_some(Quiet(()))
    }

    /// The quiet look: whether there is nothing to tell about the state at hand.
    pub fn quiet(&self, here: &mut S::Here, by: usize) -> Option<Quiet> {
        let is_quiet = |o: &Observer| {
            !self.is_due(o, Some(by)) || self.system.holds(o.check, here) == Ok(o.quiet_value())
        };
        self.list.iter().all(is_quiet).then_some(Quiet(()))
    }

    /// All checks of a state that was looked at before the search was written down: where an enumeration is cut short in
    /// them, that is noticed again.
    pub fn look_again(&self, here: &mut S::Here) {
        for o in &self.list {
            let _ = self.system.holds(o.check, here);
        }
    }

    /// The full look at a new state: the invariant decides between add_inv and add_err, and everybody tells.
    pub fn enter<'k, V: Visited, H: Hooks<V>>(
        &self,
        watch: &mut Watch,
        hooks: &mut H,
        x: &mut Expansion<'k, '_, V, Runex, Rerr>,
        here: &mut S::Here,
        s2: Absent<'k, StateId>,
        from: (StateId, Option<usize>),
    ) -> ControlFlow<()> {
        let (id, (s1, by)) = (s2.id(), from);
        let (invariant, others) = self.list.split_at(self.invariants);
        let (mut broken, mut fault) = (None, None);
        for o in invariant.iter().filter(|o| self.is_due(o, by)) {
            match self.system.holds(o.check, here) {
                Ok(true) => {}
                Ok(false) => {
                    broken = Some(o.place);
                    break;
                }
                Err(e) => fault = fault.or(Some(e)),
            }
        }
        if let (None, Some(e)) = (broken, fault) {
            watch.fault(e, None, Some(id), 0)?;
        }
        let broken = hooks.invariant(broken);
        match broken {
            Some(_) if !self.all => {
                x.add_err(s2);
                hooks.event(Fired::AddErr { s1, s2: id }, x.kernel())?;
            }
            _ => {
                x.add_inv(s2);
                hooks.event(Fired::AddInv { s1, s2: id }, x.kernel())?;
            }
        }
        if let Some(place) = broken {
            watch.counts.violations += 1;
            watch.found(FindingKind::Invariant(place), Some(id), 0)?;
        }
        for o in others.iter().filter(|o| self.is_due(o, by)) {
            match self.system.holds(o.check, here) {
                Ok(value) if value == o.quiet_value() => {}
                Ok(_) => {
                    match o.about.role {
                        Role::Goal => watch.counts.goals += 1,
                        _ => watch.counts.assertion_failures += 1,
                    }
                    watch.found(o.finding(), Some(id), 0)?;
                }
                Err(e) => watch.fault(e, None, Some(id), 0)?,
            }
        }
        ControlFlow::Continue(())
    }

    /// A state has been expanded, and had no transition and no fault.
    pub fn deadlock(&self, watch: &mut Watch, state: Option<StateId>, start: usize) -> ControlFlow<()> {
        watch.counts.deadlocks += 1;
        if state.is_none() {
            watch.deadlock_of_root();
        }
        if self.deadlock {
            watch.found(FindingKind::Deadlock, state, start)
        } else {
            ControlFlow::Continue(())
        }
    }
}

/// What is known so far of a state that is prepared for its expansion: it is plain if it has successors, if all of them
/// were seen, and if nothing is to be told about any that may be new.
#[derive(Clone, Copy)]
pub(super) struct Judged {
    has_ended: bool,
    is_unusual: bool,
    keys: u32,
}

impl Judged {
    pub fn begin() -> Judged {
        Judged { has_ended: false, is_unusual: false, keys: 0 }
    }

    /// A successor whose key is handed on, since it may be new.
    #[inline]
    pub fn successor(&mut self, look: Option<Quiet>) {
        self.keys += 1;
        self.is_unusual |= look.is_none();
    }

    /// All transitions were seen, so many; or the visit was ended before, by a fault.
    #[inline]
    pub fn end(&mut self, visit: ControlFlow<()>, transitions: u64) {
        self.has_ended = visit.is_continue();
        self.is_unusual |= transitions == 0;
    }

    /// So many of the keys that were handed on are still to be looked at.
    #[inline]
    pub fn keep(&mut self, keys: u32) {
        self.keys = keys;
    }

    /// How many keys were handed on.
    pub fn keys(&self) -> usize {
        self.keys as usize
    }

    /// The right to fire the events of this state without another look.
    #[inline]
    pub fn plain(&self) -> Option<Plain> {
        (self.has_ended && !self.is_unusual).then_some(Plain(()))
    }
}

/// A state with successors, none of them with anything to tell.
pub(super) struct Plain(());

impl Plain {
    /// Fires add_inv for a new successor of the state.
    #[inline]
    pub fn add_inv<'k, V: Visited>(
        &self,
        x: &mut Expansion<'k, '_, V, Runex, Rerr>,
        s2: Absent<'k, StateId>,
    ) {
        x.add_inv(s2);
    }
}

/// A fault while the operations of a state are evaluated.
pub(super) fn fault(
    watch: &mut Watch,
    fault: Box<Fault>,
    operation: usize,
    state: StateId,
) -> ControlFlow<()> {
    watch.fault(fault, Some(operation), Some(state), 0)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    /// A state that is entered is observed: nobody but this file fires the events that enter states.
    #[test]
    fn states_are_entered_here_only() {
        let room = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/explore");
        for entry in std::fs::read_dir(room).expect("the room").map(|e| e.expect("an entry").path()) {
            let is_file = entry.extension().is_some_and(|e| e == "rs");
            if !is_file || entry.ends_with("observe.rs") {
                continue;
            }
            let text = std::fs::read_to_string(&entry).expect("a file");
            for call in [".add_err(", "x.add_inv("] {
                let is_ours = |line: &str| line.contains(call) && !line.contains("shadow.");
                assert!(!text.lines().any(is_ours), "{} fires {call}", entry.display());
            }
        }
    }
}
