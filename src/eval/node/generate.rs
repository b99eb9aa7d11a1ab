//! How the general tier binds slots: a value taken apart, the elements of a set, a type, a piece by piece grown
//! unknown, a recursive function.

use super::grow::Grow;
use super::{Env, Node, Recursive, Slot, Solved, settled};
use crate::eval::plan::undecided;
use crate::eval::tier::Values;
use crate::lang::diag::Span;
use crate::value::fault::{Fault, Res};
use crate::value::mask;
use crate::value::ops;
use crate::value::rep::R;
use crate::value::val::{Lazy, Val};
use std::sync::{Arc, OnceLock};

#[derive(Clone, Debug)]
pub enum Generator {
    /// pattern = E
    Match(Pattern, Node, R),
    /// pattern ∈ S
    In { pattern: Pattern, set: Node, rep: R, span: Span },
    /// Every value of a finite type.
    All { slot: Slot, rep: R, span: Span },
    /// A large unknown, piece by piece.
    Grow(Grow),
    /// f = E where E mentions f inside lambdas: a recursive function.
    Recursive { slot: Slot, node: Node, rep: R },
    /// E = x ^ s ^ [a] ^ y …: the sequence E cut into these parts in every way.
    Cut { parts: Vec<Cut>, node: Node, rep: R, span: Span },
    /// A plan, and somebody to ask if it takes too long.
    Solved(Arc<Solved>),
}

/// A part of a sequence that is cut.
#[derive(Clone, Debug)]
pub enum Cut {
    /// An unknown sequence.
    Rest(Slot),
    /// An unknown item.
    Item(Slot),
    /// Items that are known by then.
    Known(Node, R),
}

/// What a generated value is taken apart by.
#[derive(Clone, Debug)]
pub enum Pattern {
    Bind(Slot),
    /// Equal to a value that is known by then.
    Check(Node, R),
    Pair(Box<Pattern>, Box<Pattern>, R),
    Rec(Vec<Pattern>, R),
    /// Made by a constructor of a freetype.
    Free(u32, Box<Pattern>),
}

impl Pattern {
    /// The slot, if that is all there is.
    fn name(&self) -> Option<Slot> {
        match self {
            Pattern::Bind(s) => Some(*s),
            _ => None,
        }
    }

    pub fn matches(&self, v: Val, env: &mut Env) -> Res<bool> {
        match self {
            Pattern::Bind(s) => {
                env.set(*s, v);
                Ok(true)
            }
            Pattern::Check(n, rep) => {
                let w = n.val(env)?;
                ops::equal(&v, &w, rep)
            }
            Pattern::Pair(a, b, rep) => {
                let (x, y) = v.split(rep);
                Ok(a.matches(x, env)? && b.matches(y, env)?)
            }
            Pattern::Free(case, inside) => match v {
                Val::Free(f) => match &f.argument {
                    Some((v, _)) if f.case == *case => inside.matches(v.clone(), env),
                    _ => Ok(false),
                },
                other => unreachable!("a value of a freetype was expected, not {other:?}"),
            },
            Pattern::Rec(parts, rep) => {
                for (i, p) in parts.iter().enumerate() {
                    if !p.matches(v.field(i, rep), env)? {
                        return Ok(false);
                    }
                }
                Ok(true)
            }
        }
    }
}

impl Generator {
    pub(super) fn run(&self, env: &mut Env, next: &mut dyn FnMut(&mut Env) -> Res<bool>) -> Res<bool> {
        match self {
            Generator::Match(pattern, node, rep) => {
                let v = match node.val(env) {
                    Ok(v) => v,
                    Err(e) => return undecided::<Values>(pattern.name(), rep.carrier, e, env, next),
                };
                // Functions over infinite domains stay symbolic; everything else gets its form.
                let v = if v.is_lazy() && !ops::unlisted(&v) { settled(v, rep)? } else { v };
                if pattern.matches(v, env)? { next(env) } else { Ok(true) }
            }
            Generator::In { pattern, set, rep, span } => {
                let set = match set.val(env) {
                    Ok(set) => set,
                    Err(e) => return undecided::<Values>(pattern.name(), rep.elem().carrier, e, env, next),
                };
                match (&set, pattern) {
                    (Val::W(m), Pattern::Bind(slot)) => {
                        env.go_on()?;
                        for i in mask::bits(*m) {
                            env.set(*slot, Val::W(u64::from(i)));
                            if !next(env)? {
                                return Ok(false);
                            }
                        }
                        Ok(true)
                    }
                    _ => ops::each(&set, rep, &mut |v| {
                        env.go_on()?;
                        if pattern.matches(v, env)? { next(env) } else { Ok(true) }
                    })
                    .map_err(|e| e.at(*span)),
                }
            }
            Generator::All { slot, rep, span } => ops::all_values(rep, &mut |v| {
                env.go_on()?;
                env.set(*slot, v);
                next(env)
            })
            .map_err(|e| e.at(*span)),
            Generator::Grow(g) => g.run(env, next),
            Generator::Solved(s) => s.run(env, next),
            Generator::Cut { parts, node, rep, span } => {
                // What is known is evaluated first: a fault of it is one whatever the other parts are.
                let whole = settled(node.val(env)?, rep).map_err(|e| e.at(*span))?;
                let mut pieces = Vec::with_capacity(parts.len());
                for part in parts {
                    pieces.push(match part {
                        Cut::Rest(slot) => Piece::Rest(*slot),
                        Cut::Item(slot) => Piece::Item(*slot),
                        Cut::Known(n, rep) => {
                            let items = settled(n.val(env)?, rep).and_then(|v| ops::items(&v, rep));
                            Piece::Known(items.map_err(|e| e.at(*span))?)
                        }
                    });
                }
                match ops::items(&whole, rep) {
                    Ok(items) => cut(&pieces, &items, env, next),
                    // No concatenation of sequences is anything else than a sequence.
                    Err(e) if matches!(*e, Fault::Wd(_)) => Ok(true),
                    Err(limit) => Err(limit),
                }
            }
            Generator::Recursive { slot, node, rep } => {
                let cell = Arc::new(Recursive { value: OnceLock::new(), rep: rep.clone() });
                env.set(*slot, Val::lazy(Lazy::Closure(cell.clone())));
                let v = node.val(env)?;
                // The cell is new, so it is empty.
                let _ = cell.value.set(v.clone());
                env.set(*slot, v);
                next(env)
            }
        }
    }
}

enum Piece {
    Rest(Slot),
    Item(Slot),
    Known(Arc<[Val]>),
}

/// Every way to divide the items among the pieces.
fn cut(
    pieces: &[Piece],
    items: &[Val],
    env: &mut Env,
    next: &mut dyn FnMut(&mut Env) -> Res<bool>,
) -> Res<bool> {
    let Some((piece, rest)) = pieces.split_first() else {
        return if items.is_empty() { next(env) } else { Ok(true) };
    };
    match piece {
        Piece::Known(known) => match items.strip_prefix(&**known) {
            Some(items) => cut(rest, items, env, next),
            None => Ok(true),
        },
        Piece::Item(slot) => match items.split_first() {
            Some((item, items)) => {
                env.set(*slot, item.clone());
                cut(rest, items, env, next)
            }
            None => Ok(true),
        },
        Piece::Rest(slot) => {
            let least = if rest.is_empty() { items.len() } else { 0 };
            for n in least..=items.len() {
                env.go_on()?;
                env.set(*slot, Val::seq(items[..n].to_vec()));
                if !cut(rest, &items[n..], env, next)? {
                    return Ok(false);
                }
            }
            Ok(true)
        }
    }
}
