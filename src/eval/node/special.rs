//! Substitutions that only the general tier has: fresh names, parts of a `||` that write the same slot, loops. And
//! what the compiler asks of a substitution.

use super::{Env, Node, Slot, Test};
use crate::eval::code::{Code, Ways, Written, all_at_once, unless_blocked};
use crate::eval::env::Then;
use crate::eval::tier::Values;
use crate::lang::diag::Span;
use crate::value::fault::{Fault, Res, WdKind};
use crate::value::rep::R;
use crate::value::val::{Val, cmp_int};
use smallvec::SmallVec;
use std::cmp::Ordering;
use std::collections::BTreeSet;

#[derive(Debug)]
pub enum Special {
    /// Nothing assigned yet.
    Fresh(Vec<Slot>, Box<Code>),
    /// `||` where a slot may be written by several parts: a fault unless all write the same value.
    Shared(Vec<Part>),
    While(Box<While>),
}

/// A part of a `||` that shares slots with other parts.
#[derive(Debug)]
pub struct Part {
    pub code: Code,
    /// The slots it may write.
    pub writes: Vec<Slot>,
    /// Each shared slot with the slot that has a value once the shared one was written: what is written may be the
    /// old value, so the value does not tell.
    pub marks: Vec<(Slot, Slot)>,
    pub span: Span,
}

#[derive(Debug)]
pub struct While {
    pub cond: Test,
    pub body: Code,
    pub invariant: Test,
    pub variant: Node,
    /// What the body may write.
    pub writes: Vec<Slot>,
    /// Where the values before the loop are kept for `x$0`.
    pub old: Vec<(Slot, Slot)>,
    pub invariant_span: Span,
    pub variant_span: Span,
}

/// Steps a loop may take before it counts as endless.
const MAX_ITERATIONS: u64 = 50_000_000;

impl Special {
    pub(super) fn run(&self, env: &mut Env, then: Then) -> Res<bool> {
        match self {
            Special::Fresh(slots, body) => {
                for s in slots {
                    env.set(*s, Val::None);
                }
                body.run(env, then)
            }
            Special::Shared(parts) => shared(parts, env, &mut SmallVec::new(), None, then),
            Special::While(w) => {
                for (from, to) in &w.old {
                    let v = env.slots[*from as usize].clone();
                    env.set(*to, v);
                }
                let before: Vec<Val> = w.writes.iter().map(|s| env.slots[*s as usize].clone()).collect();
                let out = w.run(env, None, MAX_ITERATIONS, then);
                w.restore(env, before);
                out
            }
        }
    }
}

impl Code {
    /// The slots it may write.
    pub fn writes(&self, out: &mut BTreeSet<Slot>) {
        match self {
            Code::Skip => {}
            Code::Assign(items) => out.extend(items.iter().map(|(s, _, _)| *s)),
            Code::Any(_, c) | Code::Let(_, c) | Code::Guard(_, c) | Code::Demand(_, _, _, c) => c.writes(out),
            Code::Copy(pairs, c) => {
                out.extend(pairs.iter().map(|(_, to)| *to));
                c.writes(out);
            }
            Code::Special(Special::Fresh(slots, c)) => {
                out.extend(slots);
                c.writes(out);
            }
            Code::Choice(ways) | Code::Seq(ways) => ways.iter().for_each(|w| w.writes(out)),
            Code::Select(ways, otherwise) => {
                ways.iter().for_each(|(_, w)| w.writes(out));
                if let Some(c) = otherwise {
                    c.writes(out);
                }
            }
            Code::If(ways, otherwise) => {
                ways.iter().for_each(|(_, w)| w.writes(out));
                otherwise.writes(out);
            }
            Code::Par(parts) => out.extend(parts.iter().flat_map(|(_, w)| w)),
            Code::Special(Special::Shared(parts)) => out.extend(parts.iter().flat_map(|p| &p.writes)),
            Code::Special(Special::While(w)) => out.extend(&w.writes),
        }
    }

    /// Whether one environment may lead to several outcomes.
    pub fn branches(&self) -> bool {
        match self {
            Code::Skip | Code::Assign(_) => false,
            Code::Any(..) | Code::Choice(_) => true,
            Code::Let(_, c) | Code::Special(Special::Fresh(_, c)) | Code::Copy(_, c) => c.branches(),
            Code::Guard(_, c) | Code::Demand(_, _, _, c) => c.branches(),
            Code::Select(ways, otherwise) => {
                ways.len() > 1
                    || ways.iter().any(|(_, w)| w.branches())
                    || otherwise.as_ref().is_some_and(|c| c.branches())
            }
            Code::If(ways, otherwise) => ways.iter().any(|(_, w)| w.branches()) || otherwise.branches(),
            Code::Seq(parts) => parts.iter().any(Code::branches),
            Code::Par(parts) => parts.iter().any(|(c, _)| c.branches()),
            Code::Special(Special::Shared(parts)) => parts.iter().any(|p| p.code.branches()),
            Code::Special(Special::While(w)) => w.body.branches(),
        }
    }

    /// Makes every assignment to `slot` leave a mark.
    pub fn mark(&mut self, slot: Slot, mark: Slot, rep: &R) {
        let within = |code: &mut Code, writes: &mut Vec<Slot>| {
            if writes.contains(&slot) {
                writes.push(mark);
                code.mark(slot, mark, rep);
            }
        };
        match self {
            Code::Skip => {}
            Code::Assign(items) => {
                if items.iter().any(|(s, _, _)| *s == slot) {
                    items.push((mark, Node::Const(Val::W(1)), rep.clone()));
                }
            }
            Code::Any(_, c) | Code::Let(_, c) | Code::Special(Special::Fresh(_, c)) | Code::Copy(_, c) => {
                c.mark(slot, mark, rep)
            }
            Code::Guard(_, c) | Code::Demand(_, _, _, c) => c.mark(slot, mark, rep),
            Code::Choice(ways) | Code::Seq(ways) => ways.iter_mut().for_each(|w| w.mark(slot, mark, rep)),
            Code::Select(ways, otherwise) => {
                ways.iter_mut().for_each(|(_, w)| w.mark(slot, mark, rep));
                if let Some(c) = otherwise {
                    c.mark(slot, mark, rep);
                }
            }
            Code::If(ways, otherwise) => {
                ways.iter_mut().for_each(|(_, w)| w.mark(slot, mark, rep));
                otherwise.mark(slot, mark, rep);
            }
            Code::Par(parts) => parts.iter_mut().for_each(|(c, writes)| within(c, writes)),
            Code::Special(Special::Shared(parts)) => {
                parts.iter_mut().for_each(|p| within(&mut p.code, &mut p.writes))
            }
            Code::Special(Special::While(w)) => within(&mut w.body, &mut w.writes),
        }
    }
}

/// The clash is the first part that disagrees with one before it. It counts only when no part blocks.
fn shared(
    parts: &[Part],
    env: &mut Env,
    written: &mut Written<Values>,
    clash: Option<Span>,
    then: Then,
) -> Res<bool> {
    let Some((part, rest)) = parts.split_first() else {
        return match clash {
            Some(span) => Err(Fault::wd(WdKind::Clash).at(span)),
            None => all_at_once::<Values>(env, written, then),
        };
    };
    for (_, mark) in &part.marks {
        env.set(*mark, Val::None);
    }
    let old: Vec<Val> = part.writes.iter().map(|s| env.slots[*s as usize].clone()).collect();
    let ran = part.code.run(env, &mut |env| {
        let is_marked = |env: &Env, slot: Slot| {
            part.marks.iter().any(|(s, mark)| *s == slot && env.slots[*mark as usize] != Val::None)
        };
        let disagrees = |(s, v): &(Slot, Val)| is_marked(env, *s) && env.slots[*s as usize] != *v;
        let clash = clash.or_else(|| written.iter().any(disagrees).then_some(part.span));
        let before = written.len();
        for (s, v) in part.writes.iter().zip(&old) {
            if env.slots[*s as usize] != *v || is_marked(env, *s) {
                written.push((*s, std::mem::replace(&mut env.slots[*s as usize], v.clone())));
            }
        }
        let out = shared(rest, env, written, clash, then);
        for (s, new) in written.drain(before..) {
            env.slots[s as usize] = new;
        }
        out
    });
    unless_blocked::<Values>(ran, rest.iter().map(|part| &part.code), env)
}

/// An integer, for people.
fn integer(v: &Val) -> Option<String> {
    match v {
        Val::I(i) => Some(i.to_string()),
        Val::Big(i) => Some(i.to_string()),
        _ => None,
    }
}

impl While {
    fn restore(&self, env: &mut Env, values: Vec<Val>) {
        for (s, v) in self.writes.iter().zip(values) {
            env.set(*s, v);
        }
    }

    fn run(&self, env: &mut Env, mut variant: Option<Val>, mut fuel: u64, then: Then) -> Res<bool> {
        loop {
            if !self.invariant.holds(env)? {
                return Err(Fault::wd(WdKind::LoopInvariant).at(self.invariant_span));
            }
            if !self.cond.holds(env)? {
                return then(env);
            }
            env.go_on()?;
            fuel = fuel.saturating_sub(1);
            if fuel == 0 {
                return Err(Fault::limit("a loop that does not end").at(self.variant_span));
            }
            let now = self.variant.val(env)?;
            let decreased = variant.as_ref().is_none_or(|v| cmp_int(&now, v) == Ordering::Less);
            if cmp_int(&now, &Val::I(0)) == Ordering::Less || !decreased {
                let before = variant.as_ref().and_then(integer);
                let fault = Fault::loop_variant(before, &integer(&now).unwrap_or_default());
                return Err(fault.at(self.variant_span));
            }
            variant = Some(now);
            let mut outcomes: BTreeSet<Vec<Val>> = BTreeSet::new();
            let mut ways = Ways::default();
            ways.tried(self.body.run(env, &mut |env| {
                outcomes.insert(self.writes.iter().map(|s| env.slots[*s as usize].clone()).collect());
                Ok(true)
            }))?;
            if outcomes.len() == 1 && ways.is_clean() {
                // The usual case goes round without recursion.
                if let Some(values) = outcomes.pop_first() {
                    self.restore(env, values);
                }
                continue;
            }
            for values in outcomes {
                self.restore(env, values);
                if !ways.tried(self.run(env, variant.clone(), fuel, then))? {
                    return Ok(false);
                }
            }
            return ways.end(true);
        }
    }
}
