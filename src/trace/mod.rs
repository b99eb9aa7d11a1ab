//! Counterexamples: found again from parent links, replayed, explained, written to files.
//!
//! [`rebuild`] finds the path to a state by running the system again, for any system. Of a B machine's path a [`Trace`] is
//! made, which holds plain values; it is checked by running the machine once more from the values alone ([`replay`]), and
//! [`explain`] says what is wrong with its last state.

pub mod ask;
pub mod explain;
pub mod export;
pub mod fault;
pub mod follow;
pub mod log;
pub mod question;
pub mod rebuild;
pub mod replay;
pub mod values;

use crate::model::{LocalId, Model, OpId, Type};
use crate::system::{Label, Machine, Path, System};
use crate::value::{Show, Value};

/// A run of the machine.
#[derive(Clone, Debug, PartialEq)]
pub struct Trace {
    /// `None`: a symbolic value, such as a function over an infinite domain.
    pub constants: Vec<Option<Value>>,
    /// The first step is the INITIALISATION, if there is one.
    pub steps: Vec<Step>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// `None`: INITIALISATION.
    pub op: Option<OpId>,
    /// `None`: a symbolic value.
    pub params: Vec<Option<Value>>,
    /// `None`: a result nothing was assigned to.
    pub results: Vec<Option<Value>>,
    /// The variables after the step.
    pub state: Vec<Value>,
}

pub const INITIALISATION: &str = "INITIALISATION";

impl Trace {
    /// A path from an initial state, as plain values.
    pub fn of(system: &Machine, path: &Path) -> Trace {
        let Some(first) = path.rows.first() else { return Trace { constants: vec![], steps: vec![] } };
        let mut steps = vec![Step::initial(system, first)];
        steps
            .extend(path.labels.iter().zip(&path.rows[1..]).map(|(label, row)| Step::of(system, label, row)));
        Trace { constants: system.constant_values(system.start_of(first)), steps }
    }
}

impl Step {
    /// INITIALISATION.
    pub fn initial(system: &Machine, row: &[u64]) -> Step {
        Step { op: None, params: vec![], results: vec![], state: system.variable_values(row) }
    }

    /// A transition.
    pub fn of(system: &Machine, label: &Label, target: &[u64]) -> Step {
        let state = system.variable_values(target);
        match system.labelled(label) {
            Some(t) => Step { op: Some(t.op), params: t.params, results: t.results, state },
            // A label is made by its machine, so it has one.
            None => Step { op: None, params: vec![], results: vec![], state },
        }
    }

    pub fn name<'m>(&self, model: &'m Model) -> &'m str {
        self.op.map_or(INITIALISATION, |op| &model.operations[op.index()].name)
    }
}

/// A value as B text.
pub fn shown(value: &Value, ty: &Type, model: &Model) -> String {
    Show { value, ty, model }.to_string()
}

/// Names and values of a step's parameters; those without a plain value are left out.
pub fn params<'m>(step: &'m Step, model: &'m Model) -> Vec<(&'m str, String)> {
    step.op.map_or(vec![], |op| named(&model.operations[op.index()].params, &step.params, model))
}

/// Names and values of a step's results; those without a value are left out.
pub fn results<'m>(step: &'m Step, model: &'m Model) -> Vec<(&'m str, String)> {
    step.op.map_or(vec![], |op| named(&model.operations[op.index()].results, &step.results, model))
}

fn named<'m>(locals: &[LocalId], values: &[Option<Value>], model: &'m Model) -> Vec<(&'m str, String)> {
    let pairs = locals.iter().map(|l| model.local(*l)).zip(values);
    pairs.filter_map(|(d, v)| Some((&*d.name, shown(v.as_ref()?, &d.ty, model)))).collect()
}

/// Names and values of the constants; symbolic ones are left out.
pub fn constants<'m>(trace: &'m Trace, model: &'m Model) -> Vec<(&'m str, String)> {
    let pairs = model.constants.iter().zip(&trace.constants);
    pairs.filter_map(|(d, v)| Some((&*d.name, shown(v.as_ref()?, &d.ty, model)))).collect()
}

/// Names and values of the variables in a state.
pub fn variables<'m>(state: &'m [Value], model: &'m Model) -> Vec<(&'m str, String)> {
    let pairs = model.variables.iter().zip(state);
    pairs.map(|(d, v)| (&*d.name, shown(v, &d.ty, model))).collect()
}

/// The variables that differ from the state before.
pub fn changed<'m>(before: &[Value], after: &'m [Value], model: &'m Model) -> Vec<(&'m str, String)> {
    let pairs = model.variables.iter().zip(before.iter().zip(after));
    pairs.filter(|(_, (b, a))| b != a).map(|(d, (_, a))| (&*d.name, shown(a, &d.ty, model))).collect()
}
