//! What a conjunct says of an unknown set element by element: `x /\ A = {}`, `x \/ A = S`, `x - A <: B`. Whether such
//! a conjunct holds of an element depends on nothing but whether the unknown has it, so one look at each candidate
//! says what the conjunct leaves of it, before any set is made.
//!
//! Absent on purpose: what is outside of the candidates. The conjunct is tested again when the set is whole.

use super::{Env, Node};
use crate::value::ops;
use crate::value::rep::R;
use crate::value::val::Val;

/// A set made of the unknown and of known sets.
#[derive(Clone, Debug)]
pub enum MadeOf {
    Unknown,
    Known(Node, R),
    Union(Box<[MadeOf; 2]>),
    Inter(Box<[MadeOf; 2]>),
    Diff(Box<[MadeOf; 2]>),
}

/// `left = right`, or `left <: right`.
#[derive(Clone, Debug)]
pub struct ByElement {
    pub left: MadeOf,
    pub right: MadeOf,
    pub is_equation: bool,
}

/// Whether a candidate may be outside of the unknown, and whether it may be inside.
pub type Allowed = [bool; 2];

impl ByElement {
    /// Takes from each candidate what the conjunct forbids; `None`, and nothing taken, if a known set has no value or
    /// cannot be asked: then the conjunct is no reason to leave anything out.
    pub(super) fn restrict(&self, of: &[Val], allowed: &mut [Allowed], env: &mut Env) -> Option<()> {
        let (left, right) = (self.left.ground(env)?, self.right.ground(env)?);
        let mut mine = Vec::with_capacity(of.len());
        for v in of {
            let says = |inside: bool| {
                let (l, r) = (left.has(v, inside)?, right.has(v, inside)?);
                Some(if self.is_equation { l == r } else { !l || r })
            };
            mine.push([says(false)?, says(true)?]);
            env.go_on().ok()?;
        }
        for (all, one) in allowed.iter_mut().zip(mine) {
            *all = [all[0] && one[0], all[1] && one[1]];
        }
        Some(())
    }
}

impl MadeOf {
    pub(super) fn ground(&self, env: &mut Env) -> Option<Ground> {
        let mut both = |parts: &[MadeOf; 2]| Some(Box::new([parts[0].ground(env)?, parts[1].ground(env)?]));
        Some(match self {
            MadeOf::Unknown => Ground::Unknown,
            MadeOf::Known(node, rep) => Ground::Known(node.val(env).ok()?, rep.clone()),
            MadeOf::Union(parts) => Ground::Union(both(parts)?),
            MadeOf::Inter(parts) => Ground::Inter(both(parts)?),
            MadeOf::Diff(parts) => Ground::Diff(both(parts)?),
        })
    }

    pub fn nodes(&self, look: &mut dyn FnMut(&Node)) {
        match self {
            MadeOf::Unknown => {}
            MadeOf::Known(node, _) => look(node),
            MadeOf::Union(parts) | MadeOf::Inter(parts) | MadeOf::Diff(parts) => {
                parts.iter().for_each(|p| p.nodes(look))
            }
        }
    }
}

/// A part with its known sets computed.
pub(super) enum Ground {
    Unknown,
    Known(Val, R),
    Union(Box<[Ground; 2]>),
    Inter(Box<[Ground; 2]>),
    Diff(Box<[Ground; 2]>),
}

impl Ground {
    /// Whether the set has the value, given whether the unknown has it.
    fn has(&self, v: &Val, inside: bool) -> Option<bool> {
        // Both parts are asked, whatever the first one says: one that cannot be asked decides nothing.
        let both = |parts: &[Ground; 2]| Some((parts[0].has(v, inside)?, parts[1].has(v, inside)?));
        Some(match self {
            Ground::Unknown => inside,
            Ground::Known(set, rep) => ops::member(v, set, rep).ok()?,
            Ground::Union(parts) => both(parts).map(|(a, b)| a || b)?,
            Ground::Inter(parts) => both(parts).map(|(a, b)| a && b)?,
            Ground::Diff(parts) => both(parts).map(|(a, b)| a && !b)?,
        })
    }
}
