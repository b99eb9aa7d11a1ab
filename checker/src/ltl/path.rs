//! A counterexample to a formula: a trace that is followed by the reference evaluator, and judged as a word.

use super::lasso::{Letter, Word};
use super::tableau::Here;
use super::{Atoms, here};
use crate::check::{UNBOUNDED, fault_at};
use crate::reject::{Place, Rejected};
use crate::trace::{Trace, Walk};
use kanon_language::model::Expr;
use kanon_language::temporal::atoms::Bound;
use kanon_language::temporal::syntax::Prop;
use kanon_semantics::plain::fault::Fault;
use kanon_semantics::reference::{self, Cx, State, StepFault};
use std::collections::{BTreeSet, HashMap};

/// What is wrong: the formula is false on the path, and its premise is true.
///
/// # Errors
/// The first step that the model has not, or that cannot be followed; a path that could go on; one that refutes nothing.
pub fn judged<'m>(
    walk: &Walk<'m>,
    trace: &Trace,
    constants: &'m [Option<Expr>],
    bound: &'m Bound,
) -> Result<Vec<String>, Rejected> {
    let start = walk.valuation(trace, constants)?;
    let cx = walk.cx(walk.effort.root);
    let initial = reference::initial_states(&cx, &start);
    let Some((first, rest)) = trace.steps.split_first() else {
        return Err(Rejected::Trace { step: 0, why: "it has no state".into() });
    };
    let mut reader = Reader {
        walk,
        atoms: Atoms { model: walk.model, bound, instances: HashMap::new() },
        numbers: HashMap::new(),
    };
    let mut states = vec![walk.first(first, &initial, &cx)?];
    let mut letters = vec![];
    for (i, step) in rest.iter().enumerate() {
        let (letter, after) = reader.letter(&states[i], i + 1, Some(step))?;
        letters.push(letter);
        states.extend(after);
    }
    match trace.back {
        Some(back) => {
            if back + 1 >= states.len() || states.last() != states.get(back) {
                return Err(Rejected::Trace { step: rest.len() + 1, why: "the loop does not close".into() });
            }
        }
        None => {
            let (last, _) = reader.letter(&states[rest.len()], rest.len() + 1, None)?;
            if !last.here.deadlock {
                let why = "the path ends where it could go on".into();
                return Err(Rejected::Trace { step: rest.len() + 1, why });
            }
            letters.push(last);
        }
    }
    match (Word { letters, back: trace.back }).refutes(&bound.property) {
        true => Ok(vec![format!("the formula is false on this path: {}", bound.text)]),
        false => Err(Rejected::Fulfils),
    }
}

struct Reader<'w, 'm> {
    walk: &'w Walk<'m>,
    atoms: Atoms<'m>,
    /// Operations with their parameters, as they are met.
    numbers: HashMap<Vec<u8>, u32>,
}

impl<'m> Reader<'_, 'm> {
    /// A place of the path, and the state after it.
    fn letter(
        &mut self,
        state: &State<'m>,
        number: usize,
        step: Option<&crate::trace::Step>,
    ) -> Result<(Letter, Option<State<'m>>), Rejected> {
        let at = || Place::Step { step: number as u64 };
        let cx = self.walk.cx(self.walk.effort.state);
        let props = self.atoms.of_state(&cx, state, &at)?;
        let next = reference::successors(&cx, state);
        let mut of_steps = vec![];
        let mut instances = BTreeSet::new();
        for s in &next.steps {
            of_steps.push(self.atoms.of_step(&cx, state, s, &at)?.0);
            instances.extend(self.number(s));
        }
        whole(&cx, &at)?;
        let here = here(props, state, next.steps.iter().zip(&of_steps).map(|(s, props)| (*props, &s.state)));
        if let Some(f) = next.faults.iter().find(|f| !self.is_told(&here, f)) {
            return Err(fault_at(at(), &f.fault, &self.walk.model.operations[f.op.index()].name));
        }
        let Some(step) = step else {
            return Ok((Letter { here, taken: None, instance: None, instances }, None));
        };
        let found = self.walk.step(number + 1, step, &next)?;
        let place = next.steps.iter().position(|s| std::ptr::eq(s, found));
        let taken = place.and_then(|i| of_steps.get(i)).copied();
        let instance = self.number(found);
        Ok((Letter { here, taken, instance, instances }, Some(found.state.clone())))
    }

    /// Whether an operation that has no value here could change nothing that the formula asks of this state: it is no
    /// deadlock anyway, and what could be enabled by it is enabled by others.
    fn is_told(&self, here: &Here, f: &StepFault) -> bool {
        let property = &self.atoms.bound.property;
        let (mut asked, mut sink) = (0u64, false);
        let bit = |i: u32| 1u64.checked_shl(i).unwrap_or(0);
        property.formula.for_each_atom(&mut |p| match p {
            Prop::Enabled(i) => asked |= bit(*i),
            Prop::Sink => sink = true,
            _ => {}
        });
        let mut instances = false;
        if let Some(premise) = &property.premise {
            premise.for_each(&mut |i| asked |= bit(*i));
            instances = premise.is_of_instances();
        }
        let steps = (0..).zip(&self.atoms.bound.steps);
        let may_be = steps.filter(|(_, s)| s.operation.is_none_or(|op| op == f.op)).map(|(i, _)| bit(i));
        let open = may_be.fold(0, |all, b| all | b) & asked & !here.enabled;
        let is_open = here.deadlock || open != 0 || instances || (sink && here.sink);
        !is_open && matches!(f.fault, Fault::Wd(_))
    }

    fn number(&mut self, step: &reference::Successor) -> Option<u32> {
        let next = self.numbers.len() as u32;
        Some(*self.numbers.entry(self.atoms.instance(step)?).or_insert(next))
    }
}

fn whole(cx: &Cx, at: &dyn Fn() -> Place) -> Result<(), Rejected> {
    match cx.truncated().is_empty() {
        true => Ok(()),
        false => Err(Rejected::Undecided { at: at(), why: UNBOUNDED.into() }),
    }
}
