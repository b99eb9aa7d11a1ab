//! Compiled substitutions. A substitution is run in an environment and hands every outcome to a continuation;
//! what it wrote is undone when the continuation comes back, so the next outcome starts from the same state.

use super::env::{Account, Slot, Then};
use super::plan::{Formula, Plan};
use super::tier::{Tier, Values};
use crate::lang::diag::Span;
use crate::value::fault::{Fault, Res, WdKind};
use smallvec::SmallVec;

#[derive(Debug)]
pub enum Code<T: Tier = Values> {
    Skip,
    /// All values are computed before anything is written.
    Assign(Vec<T::Assigned>),
    /// Every solution of the plan, then the rest.
    Any(Plan<T>, Box<Code<T>>),
    Let(Vec<T::Assigned>, Box<Code<T>>),
    /// Copies whatever is there, also nothing: the results of a called operation start as what they are written to.
    Copy(Vec<(Slot, Slot)>, Box<Code<T>>),
    /// Blocks when false.
    Guard(Formula<T>, Box<Code<T>>),
    /// A fault when false.
    Demand(Formula<T>, WdKind, Span, Box<Code<T>>),
    Choice(Vec<Code<T>>),
    /// Every branch whose guard holds; the last one when none does.
    Select(Vec<(Formula<T>, Code<T>)>, Option<Box<Code<T>>>),
    If(Vec<(Formula<T>, Code<T>)>, Box<Code<T>>),
    Seq(Vec<Code<T>>),
    /// Each part with the slots it may write; all read the old values. No slot is written by two parts.
    Par(Vec<(Code<T>, Vec<Slot>)>),
    Special(T::Special),
}

/// The ways that a choice has: a fault on one of them does not hide the others. The first fault is that of the choice.
#[derive(Default)]
pub(super) struct Ways(Option<Box<Fault>>);

impl Ways {
    /// How one of them ended, and whether to go on. A limit ends them all.
    #[inline]
    pub fn tried(&mut self, ran: Res<bool>) -> Res<bool> {
        match ran {
            Err(e) if matches!(*e, Fault::Wd(_)) => Ok(self.missed(e)),
            ran => ran,
        }
    }

    /// One that could not be tried; to go on.
    pub fn missed(&mut self, e: Box<Fault>) -> bool {
        self.0.get_or_insert(e);
        true
    }

    pub fn is_clean(&self) -> bool {
        self.0.is_none()
    }

    /// How all of them ended.
    #[inline]
    pub fn end(self, go_on: bool) -> Res<bool> {
        match self.0 {
            Some(e) if go_on => Err(e),
            _ => Ok(go_on),
        }
    }
}

impl<T: Tier> Code<T> {
    /// Runs to every outcome. `Ok(false)` if the continuation ended the search.
    pub fn run(&self, env: &mut T::Env, then: Then<T::Env>) -> Res<bool> {
        match self {
            Code::Skip => then(env),
            Code::Assign(items) => {
                if let [one] = &items[..] {
                    let v = T::assigned(one, env)?;
                    let slot = T::target(one) as usize;
                    let old = std::mem::replace(&mut T::slots(env)[slot], v);
                    let out = then(env);
                    T::slots(env)[slot] = old;
                    return out;
                }
                let mut values: SmallVec<[T::Value; 6]> = SmallVec::new();
                for item in items {
                    values.push(T::assigned(item, env)?);
                }
                for (item, v) in items.iter().zip(values.iter_mut()) {
                    std::mem::swap(&mut T::slots(env)[T::target(item) as usize], v);
                }
                let out = then(env);
                for (item, v) in items.iter().zip(values) {
                    T::slots(env)[T::target(item) as usize] = v;
                }
                out
            }
            Code::Any(plan, body) => {
                let mut ways = Ways::default();
                let out = plan.solve(env, &mut |env| match env.pending().clone() {
                    Some(e) => Ok(ways.missed(e)),
                    None => ways.tried(body.run(env, then)),
                })?;
                ways.end(out)
            }
            Code::Let(defs, body) => {
                for def in defs {
                    let v = T::assigned(def, env)?;
                    T::slots(env)[T::target(def) as usize] = v;
                }
                body.run(env, then)
            }
            Code::Copy(pairs, body) => {
                let slots = T::slots(env);
                for (from, to) in pairs {
                    slots[*to as usize] = slots[*from as usize].clone();
                }
                body.run(env, then)
            }
            Code::Guard(test, body) => {
                if test.holds(env)? {
                    body.run(env, then)
                } else {
                    Ok(true)
                }
            }
            Code::Demand(test, kind, span, body) => {
                if test.holds(env)? {
                    body.run(env, then)
                } else {
                    Err(Fault::wd(*kind).at(*span))
                }
            }
            Code::Choice(ways) => {
                env.go_on()?;
                let mut tried = Ways::default();
                for w in ways {
                    if !tried.tried(w.run(env, then))? {
                        return Ok(false);
                    }
                }
                tried.end(true)
            }
            Code::Select(ways, otherwise) => {
                env.go_on()?;
                let mut tried = Ways::default();
                let mut none = true;
                for (guard, body) in ways {
                    let ran = match guard.holds(env) {
                        Ok(false) => continue,
                        Ok(true) => body.run(env, then),
                        Err(e) => Err(e),
                    };
                    none = false;
                    if !tried.tried(ran)? {
                        return Ok(false);
                    }
                }
                match otherwise {
                    Some(code) if none => code.run(env, then),
                    _ => tried.end(true),
                }
            }
            Code::If(ways, otherwise) => {
                for (cond, body) in ways {
                    if cond.holds(env)? {
                        return body.run(env, then);
                    }
                }
                otherwise.run(env, then)
            }
            Code::Seq(parts) => sequence(parts, env, then),
            Code::Par(parts) => parallel::<T>(parts, env, &mut SmallVec::new(), then),
            Code::Special(s) => T::special(s, env, then),
        }
    }
}

fn sequence<T: Tier>(parts: &[Code<T>], env: &mut T::Env, then: Then<T::Env>) -> Res<bool> {
    match parts {
        [] => then(env),
        [last] => last.run(env, then),
        [first, rest @ ..] => first.run(env, &mut |env| sequence(rest, env, then)),
    }
}

/// What the parts of a `||` that have run already wrote.
pub(super) type Written<T> = SmallVec<[(Slot, <T as Tier>::Value); 6]>;

fn parallel<T: Tier>(
    parts: &[(Code<T>, Vec<Slot>)],
    env: &mut T::Env,
    written: &mut Written<T>,
    then: Then<T::Env>,
) -> Res<bool> {
    let Some(((code, slots), rest)) = parts.split_first() else {
        return all_at_once::<T>(env, written, then);
    };
    let old: SmallVec<[T::Value; 6]> = slots.iter().map(|s| T::slots(env)[*s as usize].clone()).collect();
    let ran = code.run(env, &mut |env| {
        // The others read the old values; what this part wrote is put in place when all are done. A slot that kept
        // its value was not written.
        let mark = written.len();
        for (s, v) in slots.iter().zip(&old) {
            let slot = &mut T::slots(env)[*s as usize];
            if slot != v {
                written.push((*s, std::mem::replace(slot, v.clone())));
            }
        }
        let out = parallel::<T>(rest, env, written, then);
        for (s, new) in written.drain(mark..) {
            T::slots(env)[s as usize] = new;
        }
        out
    });
    unless_blocked::<T>(ran, rest.iter().map(|(code, _)| code), env)
}

/// How a part of a `||` ended, with the parts after it: if one of these is blocked the whole is, whatever the others do. So
/// the order in which the parts are written changes nothing.
pub(super) fn unless_blocked<'c, T: Tier>(
    ran: Res<bool>,
    rest: impl Iterator<Item = &'c Code<T>>,
    env: &mut T::Env,
) -> Res<bool> {
    let Err(fault) = ran else { return ran };
    if matches!(*fault, Fault::Wd(_)) {
        for code in rest {
            let mut is_done = false;
            let ran = code.run(env, &mut |_| {
                is_done = true;
                Ok(false)
            });
            if !is_done && ran.is_ok() {
                return Ok(true);
            }
        }
    }
    Err(fault)
}

/// Goes on with what the parts of a `||` wrote.
pub(super) fn all_at_once<T: Tier>(
    env: &mut T::Env,
    written: &mut Written<T>,
    then: Then<T::Env>,
) -> Res<bool> {
    for (s, v) in written.iter_mut() {
        std::mem::swap(&mut T::slots(env)[*s as usize], v);
    }
    let out = then(env);
    // Backwards: a shared slot is there several times.
    for (s, v) in written.iter_mut().rev() {
        std::mem::swap(&mut T::slots(env)[*s as usize], v);
    }
    out
}
