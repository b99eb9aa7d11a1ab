//! The action of a machine's group, with everything that draws its states.

use super::action::{MachineAction, Moves};
use super::group::{Group, Perm};
use super::markers::Marking;
use super::sketch::MachineSketcher;
use super::{Action, Marks, Sketcher};
use crate::system::{Label, System};
use std::sync::Arc;

impl Action for MachineAction {
    fn group(&self) -> &Group {
        &self.group
    }

    #[inline]
    fn row(&self, row: &[u64], p: &Perm, out: &mut Vec<u64>) -> bool {
        out.clear();
        let words = self.system.words(row);
        if words.len() < row.len() || self.system.const_slots() > 0 {
            let Some(v) = self.valuation(self.system.start_of(row), p) else { return false };
            if words.len() < row.len() {
                out.push(v as u64);
            }
        }
        let first = self.system.const_slots();
        for (i, w) in words.iter().enumerate() {
            out.push(self.slot_word(first + i, *w, p));
        }
        true
    }

    fn start(&self, valuation: usize, p: &Perm) -> Option<usize> {
        self.valuation(valuation, p)
    }

    fn start_row(&self, valuation: usize) -> Option<Vec<u64>> {
        self.system.is_open().then(|| vec![valuation as u64])
    }

    fn label(&self, label: &Label, p: &Perm) -> Label {
        let Some((first, words)) = label.split_first() else { return label.clone() };
        let event = &self.system.events[*first as usize];
        let table = self.system.table();
        let slots = event.params.iter().chain(&event.results);
        let image = |(slot, w): (&u32, &u64)| {
            let rep = &self.system.slots[*slot as usize].rep;
            // A result nothing was assigned to.
            if *w == u64::MAX {
                return *w;
            }
            let v = table.decode(*w, rep);
            table.encode(&Moves::of(rep, &self.group).val(&v, p), rep)
        };
        std::iter::once(*first).chain(slots.zip(words).map(image)).collect()
    }

    fn sketcher(self: Arc<Self>) -> Box<dyn Sketcher> {
        Box::new(MachineSketcher::new(self))
    }

    #[cfg(feature = "nauty")]
    fn grapher(self: Arc<Self>) -> Box<dyn super::Grapher> {
        Box::new(super::encode::MachineGrapher::new(self))
    }

    fn marking(self: Arc<Self>) -> Option<Box<dyn Marks>> {
        Some(Box::new(Marking::new(&self)))
    }
}
