//! A Petri net as a [`System`]: a row has a word per cell of the unfolded net, a transition is a mode.
//!
//! Numbers of tokens are words; one that does not fit makes the answer unknown. What is asked of markings are
//! [`Condition`]s, one per check. [`action`] permutes colours. Absent on purpose: reading nets (kanon-pnml does), and
//! what bounds a net that grows for ever: limits end its exploration.

pub mod action;

use crate::system::{
    Check, Complete, Fault, Label, Operation, Res, Starts, Stop, System, Transition, Visit, Visitor, Width,
};
use kanon_pnml::condition::Condition;
use kanon_pnml::unfold::Unfolded;
use std::ops::ControlFlow;
use std::sync::Arc;

/// A net, and what is asked of its markings.
#[derive(Debug)]
pub struct NetSystem {
    /// The net.
    pub net: Arc<Unfolded>,
    operations: Vec<Operation>,
    checks: Vec<Check>,
    conditions: Vec<Condition>,
    /// By cell: modes that take tokens from it, each mode once.
    by_cell: Vec<Vec<u32>>,
    /// Modes that take nothing.
    free: Vec<u32>,
}

/// The marking at hand, and the mode that led to it.
#[derive(Clone, Debug, Default)]
pub struct Here {
    marking: Vec<u64>,
    mode: u32,
}

impl NetSystem {
    /// A net that is asked these things; a condition for each check.
    pub fn new(net: Arc<Unfolded>, asked: Vec<(Check, Condition)>) -> NetSystem {
        let operation =
            |t: &kanon_pnml::net::Transition| Operation { name: (&*t.name).into(), may_repeat: true };
        let operations = net.net.transitions.iter().map(operation).collect();
        let (checks, conditions) = asked.into_iter().unzip();
        let (mut by_cell, mut free) = (vec![vec![]; net.marking.len()], vec![]);
        for (i, mode) in net.modes.iter().enumerate() {
            match mode.takes.first() {
                Some((cell, _)) => by_cell[*cell as usize].push(i as u32),
                None => free.push(i as u32),
            }
        }
        NetSystem { net, operations, checks, conditions, by_cell, free }
    }

    /// The tokens of a place: a number, or colours with how many there are of each.
    fn tokens(&self, row: &[u64], place: usize) -> Option<String> {
        let net = &self.net.net;
        let domain = &net.places[place].domain;
        let cells = self.net.cells(place).filter(|cell| row[*cell] > 0);
        if domain.is_empty() {
            return cells.map(|cell| row[cell].to_string()).next();
        }
        let token = |cell: usize| {
            let (_, colours) = self.net.cell(cell);
            let names =
                domain.iter().zip(colours).map(|(class, i)| &*net.classes[*class].colours[i as usize]);
            let names: Vec<&str> = names.collect();
            let colours =
                if names.len() == 1 { names[0].to_string() } else { format!("({})", names.join(", ")) };
            if row[cell] == 1 { colours } else { format!("{} * {colours}", row[cell]) }
        };
        let all: Vec<String> = cells.map(token).collect();
        (!all.is_empty()).then(|| format!("{{{}}}", all.join(", ")))
    }

    /// Fires a mode if it has its tokens.
    fn fire(&self, w: &mut Here, row: &[u64], mode: u32, visit: &mut dyn Visitor<Here>) -> ControlFlow<()> {
        let m = &self.net.modes[mode as usize];
        if m.takes.iter().any(|(cell, n)| row[*cell as usize] < *n) {
            return ControlFlow::Continue(());
        }
        let operation = m.transition as usize;
        w.marking.clear();
        w.marking.extend_from_slice(row);
        m.takes.iter().for_each(|(cell, n)| w.marking[*cell as usize] -= n);
        for (cell, n) in &m.gives {
            let tokens = &mut w.marking[*cell as usize];
            match tokens.checked_add(*n) {
                Some(sum) => *tokens = sum,
                None => return visit.fault(operation, Fault::limit("more tokens than a word can count")),
            }
        }
        w.mode = mode;
        let target = std::mem::take(&mut w.marking);
        w.marking.clone_from(&target);
        visit.transition(Transition { operation, target: &target, here: w })
    }
}

impl System for NetSystem {
    type Worker = Here;
    type Here = Here;

    fn widths(&self) -> Vec<Width> {
        vec![Width::Bits(64); self.net.marking.len()]
    }
    fn operations(&self) -> &[Operation] {
        &self.operations
    }
    fn checks(&self) -> &[Check] {
        &self.checks
    }
    fn worker(&self, _: &Stop) -> Here {
        Here::default()
    }
    fn starts(&self, w: &mut Here, visit: &mut dyn Starts<Here>) -> Option<Complete> {
        visit.start(w, 0).is_continue().then(Complete::every_start_was_visited)
    }
    fn initial(&self, w: &mut Here, _: usize, visit: &mut Visit<'_, Here>) -> Res<ControlFlow<()>> {
        w.marking.clone_from(&self.net.marking);
        Ok(visit(w, &self.net.marking))
    }
    fn successors(&self, w: &mut Here, row: &[u64], visit: &mut dyn Visitor<Here>) -> ControlFlow<()> {
        for mode in &self.free {
            self.fire(w, row, *mode, visit)?;
        }
        for (_, modes) in row.iter().zip(&self.by_cell).filter(|(n, _)| **n > 0) {
            for mode in modes {
                self.fire(w, row, *mode, visit)?;
            }
        }
        ControlFlow::Continue(())
    }
    fn load<'w>(&self, w: &'w mut Here, row: &[u64]) -> &'w mut Here {
        w.marking.clear();
        w.marking.extend_from_slice(row);
        w
    }
    fn holds(&self, check: usize, here: &mut Here) -> Res<bool> {
        Ok(self.conditions[check].holds(&self.net, &here.marking))
    }
    fn label(&self, operation: usize, here: &Here) -> Label {
        Label::from_slice(&[operation as u64, here.mode.into()])
    }
    fn show_state(&self, row: &[u64]) -> Vec<(String, String)> {
        let places = self.net.net.places.iter().enumerate();
        places.filter_map(|(i, p)| Some((p.name.clone(), self.tokens(row, i)?))).collect()
    }
    fn show_label(&self, label: &Label) -> String {
        let Some(mode) = label.get(1).and_then(|m| self.net.modes.get(*m as usize)) else {
            return String::new();
        };
        let net = &self.net.net;
        let name = &net.transitions[mode.transition as usize].name;
        let variables = self.net.variables[mode.transition as usize].iter().map(|v| &net.variables[*v]);
        let values = variables.zip(&mode.binding);
        let values =
            values.map(|(v, i)| format!("{} = {}", v.name, net.classes[v.class].colours[*i as usize]));
        let values: Vec<String> = values.collect();
        if values.is_empty() { name.clone() } else { format!("{name}({})", values.join(", ")) }
    }
}
