//! A B machine as engines see it.

use super::machine::{Machine, Worker};
use super::{Check, Complete, Label, Operation, Starts, Stop, System, Visit, Visitor, Width};
use crate::eval::env::WordEnv;
use crate::lang::diag::Span;
use crate::value::Show;
use crate::value::fault::Res;
use std::ops::ControlFlow;

/// Bits of the numbers below n.
fn bits_of(n: u64) -> u32 {
    64 - n.saturating_sub(1).leading_zeros()
}

impl System for Machine {
    type Worker = Worker;
    type Here = WordEnv;

    fn widths(&self) -> Vec<Width> {
        let numbers = if self.is_open() { 1 << 32 } else { self.valuations() as u64 };
        let valuation = (self.offset == 1).then(|| Width::Bits(bits_of(numbers)));
        let vars = self.slots[self.var_slots()].iter().map(|slot| match slot.rep.mask_len() {
            Some(n) => Width::Bits(n),
            None if slot.rep.carrier > 0 => Width::Bits(bits_of(slot.rep.carrier)),
            None if slot.rep.is_int() => Width::Integer,
            None => slot.rep.packing().map_or(Width::Name, Width::Sequence),
        });
        valuation.into_iter().chain(vars).collect()
    }

    fn operations(&self) -> &[Operation] {
        &self.operations
    }

    fn checks(&self) -> &[Check] {
        &self.checks
    }

    fn worker(&self, stop: &Stop) -> Worker {
        self.new_worker(stop)
    }

    fn left_out(&self, deadlock: bool) -> usize {
        let preconditions = self.model.left_out.len() - self.model.unchecked();
        self.model.unchecked() + if deadlock { preconditions } else { 0 }
    }

    fn starts(&self, w: &mut Worker, visit: &mut dyn Starts<Worker>) -> Option<Complete> {
        self.visit_starts(w, visit)
    }

    fn initial(
        &self,
        w: &mut Worker,
        valuation: usize,
        visit: &mut Visit<'_, WordEnv>,
    ) -> Res<ControlFlow<()>> {
        self.visit_initial(w, valuation, visit)
    }

    #[inline]
    fn successors(
        &self,
        w: &mut Worker,
        source: &[u64],
        visitor: &mut dyn Visitor<WordEnv>,
    ) -> ControlFlow<()> {
        self.visit_successors::<false>(w, source, visitor)
    }

    fn successors_ahead(
        &self,
        w: &mut Worker,
        source: &[u64],
        visitor: &mut dyn Visitor<WordEnv>,
    ) -> ControlFlow<()> {
        self.visit_successors::<true>(w, source, visitor)
    }

    fn writes(&self, operation: usize) -> Option<Vec<usize>> {
        let place = |slot: &u32| self.offset + *slot as usize - self.const_slots();
        Some(self.events.get(operation)?.writes.iter().map(place).collect())
    }

    #[inline]
    fn load<'w>(&self, w: &'w mut Worker, row: &[u64]) -> &'w mut WordEnv {
        self.load_row(w, row)
    }

    #[inline]
    fn holds(&self, check: usize, env: &mut WordEnv) -> Res<bool> {
        self.compiled[check].holds(env)
    }

    fn cut(&self, w: &mut Worker) -> Option<Span> {
        Machine::cut_in(w)
    }

    #[inline]
    fn label(&self, index: usize, env: &WordEnv) -> Label {
        self.label_at(index, env)
    }

    fn start_of(&self, row: &[u64]) -> usize {
        if self.offset == 1 { row[0] as usize } else { 0 }
    }

    fn show_state(&self, row: &[u64]) -> Vec<(String, String)> {
        let values = self.model.variables.iter().zip(self.variable_values(row));
        let shown = values.map(|(d, v)| {
            (d.name.to_string(), Show { value: &v, ty: &d.ty, model: &self.model }.to_string())
        });
        shown.collect()
    }

    fn show_label(&self, label: &Label) -> String {
        let Some(t) = self.labelled(label) else { return String::new() };
        let op = &self.model.operations[t.op.index()];
        let parameters = op.params.iter().zip(&t.params).map(|(l, v)| match v {
            Some(value) => Show { value, ty: &self.model.local(*l).ty, model: &self.model }.to_string(),
            None => "?".to_string(),
        });
        let parameters: Vec<String> = parameters.collect();
        if parameters.is_empty() {
            op.name.to_string()
        } else {
            format!("{}({})", op.name, parameters.join(","))
        }
    }
}
