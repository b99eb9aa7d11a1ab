//! How the general tier binds slots: a value taken apart, the elements of a set, a type, a piece by piece grown
//! unknown, a recursive function.

use super::grow::Grow;
use super::{Env, Node, Recursive, Slot, settled};
use crate::eval::plan::undecided;
use crate::eval::tier::Values;
use crate::lang::diag::Span;
use crate::value::fault::Res;
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
}

/// What a generated value is taken apart by.
#[derive(Clone, Debug)]
pub enum Pattern {
    Bind(Slot),
    /// Equal to a value that is known by then.
    Check(Node, R),
    Pair(Box<Pattern>, Box<Pattern>, R),
    Rec(Vec<Pattern>, R),
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
                let v = if v.is_lazy() && !ops::symbolic(&v) { settled(v, rep)? } else { v };
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
