//! Formulas over a system of one's own: `{name}` is a check of the system, `[name]` an operation.

use super::lasso::Taken;
use super::space::Propositions;
use crate::lang::diag::{Diagnostic, SourceMap, Span};
use crate::system::{Label, Role, System};
use crate::temporal::parse::{Atom, Pattern, Text, parse};
use crate::temporal::syntax::{Formula, Prop, Property, Resolved};
use crate::value::fault::Res;
use std::collections::HashMap;

/// The propositions of a formula, by name.
#[derive(Clone, Debug, Default)]
pub struct Named {
    /// Checks, by number.
    states: Vec<usize>,
    /// Operations; none stands for any.
    steps: Vec<Option<usize>>,
    instances: Option<HashMap<Label, u32>>,
}

/// Reads a formula and finds what it speaks of.
///
/// # Errors
/// What cannot be read, a name that the system does not have, and what only B can say.
pub fn bind<S: System>(system: &S, text: &str) -> Result<(Resolved, Named), Diagnostic> {
    let (_, parsed) = parse(&mut SourceMap::default(), "formula", text)?;
    let mut named = Named::default();
    let formula = parsed.formula.try_map(&mut |a| named.atom(system, a).map(Formula::Atom))?;
    let premise = match &parsed.premise {
        Some(f) => Some(f.try_map(&mut |p| named.step(system, p))?),
        None => None,
    };
    if named.states.len() > 64 || named.steps.len() > 64 {
        let span = Span::default();
        return Err(Diagnostic::error("L0402", span, "the formula speaks of more than 64 things"));
    }
    let property = Property { premise, formula };
    if property.premise.as_ref().is_some_and(|p| p.is_of_instances()) {
        named.instances = Some(HashMap::new());
    }
    Ok((property, named))
}

/// The place of something in a list, which grows by it if it is not there.
fn place<T: PartialEq>(list: &mut Vec<T>, item: T) -> u32 {
    let known = list.iter().position(|x| *x == item);
    let at = known.unwrap_or_else(|| {
        list.push(item);
        list.len() - 1
    });
    at as u32
}

fn unknown<'n>(what: &str, name: &Text, names: impl Iterator<Item = &'n str>) -> Diagnostic {
    let names: Vec<&str> = names.take(12).collect();
    Diagnostic::error("L0201", name.span, format!("the system has no {what} `{}`", name.text))
        .help(format!("there is: {}", names.join(", ")))
}

impl Named {
    fn atom<S: System>(&mut self, system: &S, atom: &Atom) -> Result<Prop, Diagnostic> {
        let checks = || system.checks().iter();
        Ok(match atom {
            Atom::Deadlock => Prop::Deadlock,
            Atom::Sink => Prop::Sink,
            Atom::Step(p) => Prop::Step(self.step(system, p)?),
            Atom::Enabled(p) => Prop::Enabled(self.step(system, p)?),
            Atom::Predicate(name) => {
                let check = checks().position(|c| *c.name == *name.text.trim());
                let names = checks().map(|c| &*c.name);
                let check = check.ok_or_else(|| unknown("check", name, names))?;
                Prop::State(place(&mut self.states, check))
            }
            Atom::Goal(span) => {
                let goal = checks().position(|c| c.role == Role::Goal);
                let none = || Diagnostic::error("L0201", *span, "the system has no goal");
                Prop::State(place(&mut self.states, goal.ok_or_else(none)?))
            }
            Atom::Current(span) => {
                return Err(Diagnostic::error(
                    "L0201",
                    *span,
                    "`current` belongs to formulas over B machines",
                ));
            }
        })
    }

    fn step<S: System>(&mut self, system: &S, p: &Pattern) -> Result<u32, Diagnostic> {
        if p.args.is_some() || p.results.is_some() || p.condition.is_some() {
            let message = "parameters and conditions of steps belong to formulas over B machines";
            return Err(Diagnostic::error("L0202", p.span, message));
        }
        let operation = match &p.operation {
            None => None,
            Some(name) => {
                let operations = || system.operations().iter();
                let at = operations().position(|o| *o.name == *name.text.trim());
                Some(at.ok_or_else(|| unknown("operation", name, operations().map(|o| &*o.name)))?)
            }
        };
        Ok(place(&mut self.steps, operation))
    }
}

impl<S: System> Propositions<S> for Named {
    fn of_state(&mut self, system: &S, here: &mut S::Here, _: &[u64]) -> Res<u64> {
        let mut props = 0;
        for (i, check) in self.states.iter().enumerate() {
            props |= u64::from(system.holds(*check, here)?) << i;
        }
        Ok(props)
    }

    fn of_step(&mut self, system: &S, here: &mut S::Here, operation: usize) -> Res<Taken> {
        let mut instance = 0;
        if let Some(known) = &mut self.instances {
            let next = known.len() as u32;
            instance = *known.entry(system.label(operation, here)).or_insert(next);
        }
        Ok(Taken { props: Propositions::<S>::of_operation(self, operation), instance })
    }

    fn of_operation(&self, operation: usize) -> u64 {
        let fits = |(i, o): (usize, &Option<usize>)| u64::from(o.is_none_or(|o| o == operation)) << i;
        self.steps.iter().enumerate().map(fits).fold(0, |a, b| a | b)
    }
}
