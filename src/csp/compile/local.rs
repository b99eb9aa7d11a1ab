//! Names inside of functions: which slot they are in, and what is captured on the way there.

use super::Compiler;
use crate::value::code::Slot;
use std::sync::Arc;

/// What a name inside of a function stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    Slot(Slot),
    /// A definition of the `let` whose frame is in the slot.
    Member(Slot, usize),
    Builtin(&'static str),
}

/// A unit that is being compiled.
#[derive(Debug, Default)]
pub(super) struct Local {
    pub names: Vec<(Arc<str>, Place)>,
    pub captures: Vec<(Slot, Slot)>,
    pub size: usize,
}

impl Local {
    pub fn fresh(&mut self) -> Slot {
        self.size += 1;
        self.size - 1
    }

    pub fn slot(&self, name: &str) -> Option<Slot> {
        self.names.iter().rev().find(|(n, _)| &**n == name).and_then(|(_, p)| match p {
            Place::Slot(s) => Some(*s),
            _ => None,
        })
    }

    /// The slot of what is in a slot of the unit around this one.
    fn captured(&mut self, outer: Slot) -> Slot {
        match self.captures.iter().find(|(o, _)| *o == outer) {
            Some((_, inner)) => *inner,
            None => {
                let inner = self.fresh();
                self.captures.push((outer, inner));
                inner
            }
        }
    }
}

impl Compiler<'_> {
    /// Where a name is that some function around binds.
    pub(super) fn local(&mut self, name: &str) -> Option<Place> {
        let depth = self.locals.len();
        let found = |l: &Local| l.names.iter().rev().find(|(n, _)| &**n == name).map(|(_, p)| *p);
        let (at, mut place) = (0..depth).rev().find_map(|i| found(&self.locals[i]).map(|p| (i, p)))?;
        for inner in at + 1..depth {
            place = match place {
                Place::Slot(s) => Place::Slot(self.locals[inner].captured(s)),
                Place::Member(s, m) => Place::Member(self.locals[inner].captured(s), m),
                Place::Builtin(b) => Place::Builtin(b),
            };
        }
        Some(place)
    }

    pub(super) fn bind(&mut self, name: Arc<str>, place: Place) {
        if let Some(local) = self.locals.last_mut() {
            local.names.push((name, place));
        }
    }

    pub(super) fn fresh(&mut self) -> Slot {
        self.locals.last_mut().map_or(0, Local::fresh)
    }

    /// How many names are known here; `forget` leaves out those that came later.
    pub(super) fn known(&self) -> usize {
        self.locals.last().map_or(0, |l| l.names.len())
    }

    pub(super) fn forget(&mut self, known: usize) {
        if let Some(local) = self.locals.last_mut() {
            local.names.truncate(known);
        }
    }
}
