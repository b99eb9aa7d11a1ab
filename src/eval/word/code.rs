//! Substitutions on words. As [`crate::eval::code`], case by case: what was written is undone when the
//! continuation comes back.

use super::plan::Plan;
use super::{Pred, Word};
use crate::eval::code::Ways;
use crate::eval::node::{Env, Slot};
use crate::eval::plan::Found;
use crate::lang::diag::Span;
use crate::value::fault::{Fault, Res, WdKind};
use smallvec::SmallVec;

#[derive(Debug)]
pub enum Code {
    Skip,
    One(Slot, Word),
    Assign(Vec<(Slot, Word)>),
    Any(Plan, Box<Code>),
    Let(Vec<(Slot, Word)>, Box<Code>),
    Copy(Vec<(Slot, Slot)>, Box<Code>),
    Guard(Pred, Box<Code>),
    Demand(Pred, WdKind, Span, Box<Code>),
    Choice(Vec<Code>),
    Select(Vec<(Pred, Code)>, Option<Box<Code>>),
    If(Vec<(Pred, Code)>, Box<Code>),
    Seq(Vec<Code>),
    Par(Vec<(Code, Vec<Slot>)>),
}

impl Code {
    pub fn run(&self, env: &mut Env, then: Found) -> Res<bool> {
        match self {
            Code::Skip => then(env),
            Code::One(slot, word) => {
                let w = word.get(env)?;
                let old = std::mem::replace(&mut env.words[*slot as usize], w);
                let out = then(env);
                env.words[*slot as usize] = old;
                out
            }
            Code::Assign(items) => {
                let mut values: SmallVec<[u64; 6]> = SmallVec::new();
                for (_, word) in items {
                    values.push(word.get(env)?);
                }
                for ((slot, _), v) in items.iter().zip(values.iter_mut()) {
                    std::mem::swap(&mut env.words[*slot as usize], v);
                }
                let out = then(env);
                for ((slot, _), v) in items.iter().zip(values) {
                    env.words[*slot as usize] = v;
                }
                out
            }
            Code::Any(plan, body) => {
                let mut ways = Ways::default();
                let out = plan.solve(env, &mut |env| match env.pending.clone() {
                    Some(e) => Ok(ways.missed(e)),
                    None => ways.tried(body.run(env, then)),
                })?;
                ways.end(out)
            }
            Code::Let(defs, body) => {
                for (slot, word) in defs {
                    let w = word.get(env)?;
                    env.words[*slot as usize] = w;
                }
                body.run(env, then)
            }
            Code::Copy(pairs, body) => {
                for (from, to) in pairs {
                    env.words[*to as usize] = env.words[*from as usize];
                }
                body.run(env, then)
            }
            Code::Guard(pred, body) => {
                if pred.holds(env)? {
                    body.run(env, then)
                } else {
                    Ok(true)
                }
            }
            Code::Demand(pred, kind, span, body) => {
                if pred.holds(env)? {
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
            Code::Par(parts) => parallel(parts, env, &mut SmallVec::new(), then),
        }
    }
}

fn sequence(parts: &[Code], env: &mut Env, then: Found) -> Res<bool> {
    match parts {
        [] => then(env),
        [last] => last.run(env, then),
        [first, rest @ ..] => first.run(env, &mut |env| sequence(rest, env, then)),
    }
}

type Written = SmallVec<[(Slot, u64); 6]>;

fn parallel(parts: &[(Code, Vec<Slot>)], env: &mut Env, written: &mut Written, then: Found) -> Res<bool> {
    let Some(((code, slots), rest)) = parts.split_first() else {
        for (s, w) in written.iter_mut() {
            std::mem::swap(&mut env.words[*s as usize], w);
        }
        let out = then(env);
        for (s, w) in written.iter_mut() {
            std::mem::swap(&mut env.words[*s as usize], w);
        }
        return out;
    };
    let old: SmallVec<[u64; 6]> = slots.iter().map(|s| env.words[*s as usize]).collect();
    code.run(env, &mut |env| {
        // A slot that kept its value was not written, so another part may write it.
        let mark = written.len();
        for (s, w) in slots.iter().zip(&old) {
            let now = env.words[*s as usize];
            if now != *w {
                written.push((*s, now));
                env.words[*s as usize] = *w;
            }
        }
        let out = parallel(rest, env, written, then);
        for (s, new) in written.drain(mark..) {
            env.words[s as usize] = new;
        }
        out
    })
}
