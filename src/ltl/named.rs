//! Formulas over a system of one's own: `{name}` is a check of the system, `[name]` an operation or a set of transitions
//! that the system has by that name.

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
    steps: Vec<Steps>,
    instances: Option<HashMap<Label, u32>>,
}

/// Which steps a proposition is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Steps {
    Any,
    Operation(usize),
    /// One of [`System::patterns`].
    Pattern(usize),
}

/// Reads a formula and finds what it speaks of.
///
/// # Errors
/// What cannot be read, a name that the system does not have, and what only B can say.
pub fn bind<S: System>(system: &S, text: &str) -> Result<(Resolved, Named), Diagnostic> {
    let (_, parsed) = parse(&mut SourceMap::default(), "formula", text)?;
    let mut named = Named::default();
    let system = &Asked { system, text };
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

/// A system, and the formula that is asked of it.
struct Asked<'a, S> {
    system: &'a S,
    text: &'a str,
}

impl Named {
    fn atom<S: System>(&mut self, asked: &Asked<S>, atom: &Atom) -> Result<Prop, Diagnostic> {
        let checks = || asked.system.checks().iter();
        Ok(match atom {
            Atom::Deadlock => Prop::Deadlock,
            Atom::Sink => Prop::Sink,
            Atom::Step(p) => Prop::Step(self.step(asked, p)?),
            Atom::Enabled(p) => Prop::Enabled(self.step(asked, p)?),
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

    fn step<S: System>(&mut self, asked: &Asked<S>, p: &Pattern) -> Result<u32, Diagnostic> {
        let Asked { system, text } = asked;
        let written = text.get(p.span.lo as usize..p.span.hi as usize).map(str::trim);
        if let Some(at) = system.patterns().iter().position(|name| Some(&**name) == written) {
            return Ok(place(&mut self.steps, Steps::Pattern(at)));
        }
        if p.args.is_some() || p.results.is_some() || p.condition.is_some() {
            let message = "parameters and conditions of steps belong to formulas over B machines";
            return Err(Diagnostic::error("L0202", p.span, message));
        }
        let operation = match &p.operation {
            None => Steps::Any,
            Some(name) => {
                let operations = || system.operations().iter();
                let at = operations().position(|o| *o.name == *name.text.trim());
                Steps::Operation(
                    at.ok_or_else(|| unknown("operation", name, operations().map(|o| &*o.name)))?,
                )
            }
        };
        Ok(place(&mut self.steps, operation))
    }

    /// The propositions of steps for which the answer is yes, as bits.
    fn steps_that(&self, answer: impl Fn(&Steps) -> bool) -> u64 {
        self.steps.iter().enumerate().fold(0, |all, (i, s)| all | u64::from(answer(s)) << i)
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
        let is_taken = |s: &Steps| match *s {
            Steps::Any => true,
            Steps::Operation(o) => o == operation,
            Steps::Pattern(at) => system.fits(at, operation, here),
        };
        Ok(Taken { props: self.steps_that(is_taken), instance })
    }

    fn of_operation(&self, operation: usize) -> u64 {
        // Any operation may have steps in a pattern.
        self.steps_that(|s| !matches!(*s, Steps::Operation(o) if o != operation))
    }
}
