//! Symmetry of a guided machine: permutations move the machine's part of a state, and leave the process alone.
//!
//! A permutation of the machine's sets takes transitions of the machine to transitions, with the parameters and results
//! moved. The process sees those that are fields of a channel. So a set is permuted only if no field can have anything
//! of it: then the events of a transition and of its image are the same, and the process does the same with both.

use super::{Guided, Pair};
use crate::model::Model;
#[cfg(feature = "nauty")]
use crate::symmetry::Grapher;
use crate::symmetry::group::Reason;
use crate::symmetry::{Action, Group, MachineAction, Perm, Sketch, Sketcher};
use crate::system::{Label, System};
use std::sync::Arc;

/// What permutations of a machine's sets do to the states of the product.
pub struct GuidedAction {
    machine: Arc<MachineAction>,
    /// Words of a row that are the machine's.
    width: usize,
    /// Operations that are the machine's.
    own: usize,
}

/// The sets of a group whose elements are never in an event.
pub fn unseen(mut group: Group, guided: &Guided) -> Group {
    let machine = guided.machine();
    let model: &Model = &machine.model;
    for Pair { event, fields, .. } in guided.pairs() {
        let op = &model.operations[machine.events[*event].op.index()];
        for local in op.params.iter().chain(&op.results).take(*fields) {
            let why = format!("its elements are in the events of the channel `{}`", op.name);
            model.local(*local).ty.for_each_set(&mut |set| group.fix(set, Reason::Asked(why.clone())));
        }
    }
    group
}

impl GuidedAction {
    /// The permutations of a group of the machine that the process does not see.
    pub fn new(guided: &Guided, group: Group) -> GuidedAction {
        let machine = guided.machine();
        let action = Arc::new(MachineAction::new(machine, unseen(group, guided)));
        GuidedAction { machine: action, width: machine.width(), own: machine.operations().len() }
    }

    fn own<'r>(&self, row: &'r [u64]) -> &'r [u64] {
        &row[..self.width.min(row.len())]
    }
}

impl Action for GuidedAction {
    fn group(&self) -> &Group {
        self.machine.group()
    }

    fn row(&self, row: &[u64], p: &Perm, out: &mut Vec<u64>) -> bool {
        let is_known = self.machine.row(self.own(row), p, out);
        out.extend(&row[self.width.min(row.len())..]);
        is_known
    }

    fn start(&self, start: usize, p: &Perm) -> Option<usize> {
        self.machine.start(start, p)
    }

    fn label(&self, label: &Label, p: &Perm) -> Label {
        match &label[..] {
            [operation, event, words @ ..] if (*operation as usize) < self.own => {
                let own: Label = std::iter::once(*operation).chain(words.iter().copied()).collect();
                let mut image = self.machine.label(&own, p);
                image.insert(1, *event);
                image
            }
            _ => label.clone(),
        }
    }

    fn sketcher(self: Arc<Self>) -> Box<dyn Sketcher> {
        let mut inner = self.machine.clone().sketcher();
        let width = self.width;
        Box::new(move |row: &[u64], sketch: &mut Sketch| inner.sketch(&row[..width.min(row.len())], sketch))
    }

    #[cfg(feature = "nauty")]
    fn grapher(self: Arc<Self>) -> Box<dyn Grapher> {
        Box::new(Front { inner: self.machine.clone().grapher(), width: self.width })
    }
}

/// Draws the machine's part of a state.
#[cfg(feature = "nauty")]
struct Front {
    inner: Box<dyn Grapher>,
    width: usize,
}

#[cfg(feature = "nauty")]
impl Grapher for Front {
    fn graph(&mut self, row: &[u64], out: &mut Sketch) {
        self.inner.graph(&row[..self.width.min(row.len())], out);
    }
}
