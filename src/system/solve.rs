//! The search for the constants of a machine: all valuations before anything is explored, or the first ones before and the
//! others as they come.

use super::by_solver::Occasion;
use super::constants::{Setup, Valuations, Yielded};
use super::machine::{Machine, Worker};
use super::{Complete, Starts, Stop};
use crate::eval::compile::SlotInfo;
use crate::eval::node::{Env, Slot};
use crate::eval::word::lower::{Known, Lower};
use crate::value::fault::{Fault, Res};
use crate::value::ops;
use crate::value::ops::force;
use crate::value::val::Val;
use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Steps that a plan is given before the solver is asked for less than a whole answer.
const PATIENCE: u64 = 20_000;
/// A plan that finds so many valuations on the way is worth its time.
const MANY: usize = 1000;
/// How often somebody looks whether the first valuations have taken too long.
const LOOK: Duration = Duration::from_millis(20);
/// Values that the plan of PROPERTIES may try before anybody thinks of the solver: some milliseconds.
const TRIES: u64 = 50_000;
/// And so many more for each valuation that it finds: for one, the solver takes longer than this.
const TRIES_EACH: u64 = 100;
/// Valuations that it may find on the way: they are kept until it is done.
const MOST_TRIED: usize = 10_000;
/// Valuations have numbers of 32 bits.
const MAX_NUMBERS: usize = u32::MAX as usize;

/// How many valuations are found before the first of them is explored.
#[derive(Clone, Copy, Debug)]
pub struct First {
    /// So many, if there are more.
    pub valuations: usize,
    /// For so long, once there is one.
    pub patience: Duration,
}

/// Valuations, and how the search for them ended.
struct Searched {
    found: Vec<Vec<Val>>,
    fault: Option<Box<Fault>>,
    end: End,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    /// There are no others.
    Exhausted,
    /// There are more than were asked for.
    Full,
    /// A valuation with a symbolic value, which is not among those found.
    Symbolic,
    /// A fault, or no more time.
    Failed,
}

/// What becomes of the plan of PROPERTIES in few tries.
enum InShort {
    /// It is through.
    Whole(Vec<Yielded>),
    /// It has found so much on the way that the solver, who takes longer for one, would not be done with all of them.
    Fertile,
    /// Anything else.
    Open,
}

impl Machine {
    /// Solves PROPERTIES, in an order that depends on nothing but the model and its scope.
    fn solve(&self, env: &mut Env, found: &mut dyn FnMut(Yielded) -> Res<bool>) -> Res<bool> {
        let stop = env.stop.clone().unwrap_or_default();
        match self.plan_in_short(&stop) {
            InShort::Whole(all) => {
                for one in all {
                    if !found(one)? {
                        return Ok(false);
                    }
                }
                return Ok(true);
            }
            InShort::Fertile => return self.plan(env, &mut |one, _| found(one)),
            InShort::Open => {}
        }
        if let Some(answer) = self.by_solver(Occasion::ManyValues, &stop, found) {
            return answer;
        }
        if *self.is_slow.get_or_init(|| self.is_slow(env))
            && let Some(answer) = self.by_solver(Occasion::SlowPlan, &stop, found)
        {
            return answer;
        }
        // Where the plan has no answer it mostly says so before it has found anything.
        let (mut is_first, mut is_gap) = (true, false);
        let planned = self.plan(env, &mut |one, env| {
            is_gap = std::mem::take(&mut is_first)
                && (env.truncated.is_some()
                    || matches!(&one, Yielded::Fault(f) if matches!(**f, Fault::Limit(..))));
            if is_gap { Ok(false) } else { found(one) }
        });
        is_gap |= is_first
            && (env.truncated.is_some() || matches!(&planned, Err(f) if matches!(**f, Fault::Limit(..))));
        if !is_gap || stop.load(Ordering::Relaxed) {
            return planned;
        }
        let cut = env.truncated.take();
        if let Some(answer) = self.by_solver(Occasion::NoPlan, &stop, found) {
            return answer;
        }
        env.truncated = cut;
        if is_first { planned } else { self.plan(env, &mut |one, _| found(one)) }
    }

    /// What the plan of PROPERTIES finds after few tries, or few for what it finds, if nothing was left out.
    fn plan_in_short(&self, stop: &Stop) -> InShort {
        let mut env = self.solver(stop);
        env.most = TRIES;
        let (mut all, mut is_gap) = (vec![], false);
        let planned = self.plan(&mut env, &mut |one, env| {
            // What was not tried once is not made up for by a later find.
            is_gap |= env.spent.get() > env.most;
            env.most += TRIES_EACH;
            is_gap |= env.truncated.is_some()
                || matches!(&one, Yielded::Fault(f) if matches!(**f, Fault::Limit(..)));
            all.push(one);
            Ok(!is_gap && all.len() <= MOST_TRIED)
        });
        match planned {
            _ if is_gap || env.truncated.is_some() => InShort::Open,
            Ok(true) if env.spent.get() <= env.most => InShort::Whole(all),
            // The same ones again and again are no reason.
            Ok(false)
                if !self.properties.may_repeat
                    && all.iter().all(|one| matches!(one, Yielded::Valuation(_))) =>
            {
                InShort::Fertile
            }
            _ => InShort::Open,
        }
    }

    /// Whether the plan takes many steps, and finds little on the way. Nobody looks at a clock.
    fn is_slow(&self, env: &mut Env) -> bool {
        if !self.has_many_values() {
            return false;
        }
        (env.most, env.spent) = (PATIENCE, Default::default());
        let mut count = 0;
        let ended = self.plan(env, &mut |_, _| {
            count += 1;
            Ok(count <= MANY)
        });
        let is_impatient = env.spent.get() > PATIENCE;
        (env.most, env.spent) = Default::default();
        (env.truncated, env.pending) = (None, None);
        is_impatient && ended.is_err()
    }

    /// Runs the plan of PROPERTIES. A visit also sees whether anything was cut off so far.
    fn plan(&self, env: &mut Env, found: &mut dyn FnMut(Yielded, &mut Env) -> Res<bool>) -> Res<bool> {
        let n = self.const_slots();
        self.properties.solve(env, &mut |env| {
            if let Some(e) = env.pending.clone() {
                return found(Yielded::Fault(e), env);
            }
            let mut valuation = Vec::with_capacity(n);
            for (slot, v) in env.slots[..n].iter().enumerate() {
                let v = v.clone();
                // Functions over infinite domains stay symbolic; constants are never compared as states.
                let is_forced = v.is_lazy() && !ops::unlisted(&v);
                if !is_forced && let Err(e) = ops::visited(&v) {
                    return found(Yielded::Fault(e), env);
                }
                valuation.push(if is_forced { force(v, &self.slots[slot].rep)? } else { v });
            }
            found(Yielded::Valuation(valuation), env)
        })
    }

    fn solver(&self, stop: &Stop) -> Env {
        let mut env = Env::new(self.slots.len());
        env.stop = Some(stop.clone());
        env
    }

    /// Valuations, each once, at most so many, and nobody looks for more when there are enough; a fault; and why there are
    /// not more.
    fn search(
        &self,
        env: &mut Env,
        (most, enough): (usize, usize),
        is_any: &AtomicBool,
        symbolic: bool,
    ) -> Searched {
        let mut all = Searched { found: vec![], fault: None, end: End::Exhausted };
        let mut seen = HashSet::new();
        let repeats = self.properties.may_repeat;
        let solved = self.solve(env, &mut |one| {
            let valuation = match one {
                Yielded::Valuation(valuation) => valuation,
                Yielded::Fault(e) => {
                    all.fault.get_or_insert(e);
                    return Ok(true);
                }
            };
            if repeats && !seen.insert(valuation.clone()) {
                return Ok(true);
            }
            if !symbolic && valuation.iter().any(Val::is_lazy) {
                all.end = End::Symbolic;
            } else if all.found.len() >= most {
                all.end = End::Full;
            } else {
                all.found.push(valuation);
                is_any.store(true, Ordering::Relaxed);
                if all.found.len() >= enough {
                    all.end = End::Full;
                }
            }
            Ok(all.end == End::Exhausted)
        });
        if let Err(e) = solved {
            all.end = End::Failed;
            all.fault.get_or_insert(e);
        }
        all
    }

    /// Finds all valuations of the constants; if there are more than `limit`, so many and a fault.
    pub fn setup(&mut self, limit: usize, stop: &Stop) -> Setup {
        let mut env = self.solver(stop);
        let Searched { found, mut fault, end } =
            self.search(&mut env, (limit, usize::MAX), &AtomicBool::default(), true);
        if end == End::Full {
            fault.get_or_insert(too_many(limit));
        }
        self.known(found, Setup { valuations: 0, fault, truncated: env.truncated, is_open: false })
    }

    /// Finds the first valuations of the constants. If there may be more, they are looked for by
    /// [`super::System::starts`], as far as they come, at most `limit` in all.
    ///
    /// What can be known of all valuations makes for faster code: so this is [`Machine::setup`] where that takes little.
    /// A constant that stays symbolic has no words by which a valuation could be recognised, so that all have to be found
    /// first.
    pub fn setup_first(&mut self, first: First, limit: usize, stop: &Stop) -> Setup {
        if first.valuations >= limit {
            return self.setup(limit, stop);
        }
        let (is_any, is_late) = (AtomicBool::new(false), Stop::default());
        let mut env = self.solver(&is_late);
        let begun = Instant::now();
        let is_over = || {
            let had_time = begun.elapsed() > first.patience && is_any.load(Ordering::Relaxed);
            had_time || stop.load(Ordering::Relaxed)
        };
        let Searched { found, fault, end } = watched(&is_late, is_over, || {
            self.search(&mut env, (first.valuations, usize::MAX), &is_any, false)
        });
        let is_late = is_late.load(Ordering::Relaxed) && !stop.load(Ordering::Relaxed);
        let is_open = match end {
            End::Symbolic => return self.setup(limit, stop),
            End::Full => true,
            End::Failed => is_late && !found.is_empty(),
            End::Exhausted => false,
        };
        if is_open {
            // What else was met on the way will be met again.
            self.most = limit;
            return self.known(found, Setup { valuations: 0, fault: None, truncated: None, is_open });
        }
        self.known(found, Setup { valuations: 0, fault, truncated: env.truncated, is_open })
    }

    /// Finds the valuations that another run had found before it explored them, when there might be more: the first `n`,
    /// which come in the same order. Whoever asks looks whether they are the same.
    pub fn setup_as_before(&mut self, n: usize, limit: usize, stop: &Stop) -> Setup {
        let mut env = self.solver(stop);
        let Searched { found, fault, end } = self.search(&mut env, (n, n), &AtomicBool::default(), false);
        let is_open = end == End::Full && fault.is_none();
        self.most = limit;
        self.known(found, Setup { valuations: 0, fault, truncated: None, is_open })
    }

    /// Forgets all valuations but these, whose numbers ascend. Whoever does that answers for it.
    pub fn keep(&mut self, valuations: &[usize]) -> Setup {
        let known = valuations.iter().filter(|v| **v < self.valuations());
        let found = known.map(|v| self.constant_vals(*v).to_vec()).collect();
        let none = Setup { valuations: 0, fault: None, truncated: None, is_open: false };
        let setup = self.setup.take().unwrap_or(none);
        self.known(found, setup)
    }

    /// Whether valuations are still looked for.
    pub fn is_open(&self) -> bool {
        self.setup.as_ref().is_some_and(|s| s.is_open)
    }

    /// These valuations are all there are, or the first ones.
    fn known(&mut self, found: Vec<Vec<Val>>, setup: Setup) -> Setup {
        let setup = Setup { valuations: found.len(), ..setup };
        self.offset = usize::from(setup.is_open || found.len() > 1);
        self.lower(&found, setup.is_open);
        self.valuations = Valuations::default();
        for valuation in found {
            let words = self.words_of(&valuation);
            if setup.is_open {
                self.valuations.number(words, || valuation);
            } else {
                self.valuations.push(valuation, words);
            }
        }
        self.setup = Some(setup.clone());
        setup
    }

    fn words_of(&self, valuation: &[Val]) -> Vec<u64> {
        let word = |(v, slot): (&Val, &SlotInfo)| match v.is_lazy() {
            true => 0,
            false => self.table.encode(v, &slot.rep),
        };
        valuation.iter().zip(&self.slots).map(word).collect()
    }

    /// The number of a valuation that is symmetric to a known one, while valuations are still looked for.
    pub fn number_of(&self, vals: Vec<Val>) -> Option<usize> {
        self.valuations.number(self.words_of(&vals), || vals)
    }

    /// Makes the fast tier, now that the constants are known. If there may be more valuations, what they have in common is
    /// not.
    fn lower(&mut self, found: &[Vec<Val>], is_open: bool) {
        let known: Vec<Known> = (0..self.const_slots())
            .map(|slot| {
                let mut values = found.iter().map(|v| &v[slot]);
                match values.next() {
                    Some(v) if !is_open && !v.is_lazy() && values.all(|w| w == v) => {
                        Known::Fixed(self.table.encode(v, &self.slots[slot].rep))
                    }
                    _ if found.iter().any(|v| v[slot].is_lazy()) => Known::Symbolic,
                    _ => Known::Word,
                }
            })
            .collect();
        let vars = self.var_slots();
        let mut l = Lower::new(&self.slots, &self.table, &known, vars.start as Slot..vars.end as Slot);
        self.fast = self.events.iter().map(|e| l.event(e)).collect();
        for (check, c) in self.checks.iter_mut().zip(&mut self.compiled) {
            c.fast = l.closed(&c.test);
            let reads = l.reads(&c.test);
            check.changed_by =
                self.events.iter().map(|e| e.writes.iter().any(|s| reads.contains(s))).collect();
        }
        self.sites = (0..l.sites).map(|_| Arc::default()).collect();
        self.known = known;
    }

    /// Every valuation, the first ones first.
    pub(super) fn visit_starts(&self, w: &mut Worker, visit: &mut dyn Starts<Worker>) -> Option<Complete> {
        let Some(setup) = &self.setup else {
            let _ = visit.fault(Fault::limit("the constants were not solved"));
            return None;
        };
        if let Some(fault) = &setup.fault
            && visit.fault(fault.clone()).is_break()
        {
            return None;
        }
        if let Some(span) = setup.truncated {
            visit.cut(span);
        }
        for valuation in 0..setup.valuations {
            if visit.start(w, valuation).is_break() {
                return None;
            }
        }
        if setup.is_open {
            return self.visit_others(w, setup.valuations, visit);
        }
        let is_complete = setup.fault.is_none() && setup.truncated.is_none() && setup.valuations > 0;
        is_complete.then(Complete::every_start_was_visited)
    }

    /// Looks for the valuations again, and visits those that are not among the first.
    fn visit_others(&self, w: &mut Worker, first: usize, visit: &mut dyn Starts<Worker>) -> Option<Complete> {
        let mut env = self.solver(&Machine::stop_of(w));
        let mut visited = HashSet::new();
        let mut taken = first;
        let mut is_faulty = false;
        let repeats = self.properties.may_repeat;
        let solved = self.solve(&mut env, &mut |one| {
            let valuation = match one {
                Yielded::Valuation(valuation) => valuation,
                Yielded::Fault(e) => {
                    is_faulty = true;
                    return Ok(visit.fault(e).is_continue());
                }
            };
            if valuation.iter().any(Val::is_lazy) {
                return Err(Fault::limit(
                    "a constant is symbolic in some valuations only: `--shortest` helps",
                ));
            }
            let Some(number) = self.number_of(valuation) else { return Err(too_many(MAX_NUMBERS)) };
            if number < first || (repeats && !visited.insert(number)) {
                return Ok(true);
            }
            if taken >= self.most {
                return Err(too_many(self.most));
            }
            taken += 1;
            Ok(visit.start(w, number).is_continue())
        });
        if let Some(span) = env.truncated {
            visit.cut(span);
        }
        match solved {
            Ok(true) if !is_faulty && env.truncated.is_none() => Some(Complete::every_start_was_visited()),
            Ok(_) => None,
            Err(e) => {
                let _ = visit.fault(e);
                None
            }
        }
    }
}

fn too_many(limit: usize) -> Box<Fault> {
    Fault::limit(format!("more than {limit} valuations of the constants"))
}

/// Does something with a flag that is set as soon as it is over, which is asked every now and then.
pub(crate) fn watched<T>(
    flag: &AtomicBool,
    is_over: impl Fn() -> bool + Sync,
    body: impl FnOnce() -> T,
) -> T {
    let is_done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let watcher = scope.spawn(|| {
            while !is_done.load(Ordering::Relaxed) {
                if is_over() {
                    flag.store(true, Ordering::Relaxed);
                }
                std::thread::park_timeout(LOOK);
            }
        });
        // However the body ends, the watcher hears of it.
        struct Done<'d>(&'d AtomicBool, std::thread::Thread);
        impl Drop for Done<'_> {
            fn drop(&mut self) {
                self.0.store(true, Ordering::Relaxed);
                self.1.unpark();
            }
        }
        let _done = Done(&is_done, watcher.thread().clone());
        body()
    })
}
