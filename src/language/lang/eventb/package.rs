//! ProB's packages: `package(load_event_b_project(Machines, Contexts, Extras, Errors)).`
//!
//! Everything in one is either understood or refused with its place. Of the extras, theories give meaning to operators
//! and obligations are kept; the others (versions of exporters, weakest preconditions for ProB's own reductions) say
//! nothing about the model.

use super::formula::Formulas;
use super::project::{Action, ActionKind, Context, Event, Labelled, Machine, Project, Status, Witness};
use super::shape::{Res, ident, idents, list, malformed, refused};
use super::term::Term;
use super::theory::Theories;
use crate::lang::ast::{Ident, Name};
use crate::lang::composed::Obligation;
use crate::lang::diag::{Diagnostic, Span};
use std::collections::HashSet;

/// More errors than this help nobody.
const MAX_ERRORS: usize = 25;

/// Extras that say nothing about the model.
const IGNORED: [&str; 5] = ["exporter_version", "nonchanging_guard", "wp", "emf_model", "pragma"];

/// Reads the package among these clauses.
pub fn read(clauses: &[Term], whole: Span) -> Result<Project, Vec<Diagnostic>> {
    let mut packages = clauses.iter().filter_map(|c| match c.parts() {
        Some(("package", [inside])) => Some(inside),
        _ => None,
    });
    let Some(inside) = packages.next() else {
        let message = "this is no package of an Event-B project: there is no `package(…)` in it";
        return Err(vec![Diagnostic::error("B0102", whole, message)]);
    };
    let mut reader = Reader {
        formulas: Formulas::new(Theories::default(), HashSet::new(), HashSet::new()),
        errors: vec![],
    };
    if let Some(second) = packages.next() {
        reader.errors.push(*refused(second.span, "a second package in one file"));
    }
    let project = reader.project(inside);
    let mut errors = reader.errors;
    match project {
        Ok(project) if errors.is_empty() => return Ok(project),
        Ok(_) => {}
        Err(e) => errors.push(*e),
    }
    errors.truncate(MAX_ERRORS);
    Err(errors)
}

struct Reader<'t> {
    formulas: Formulas<'t>,
    errors: Vec<Diagnostic>,
}

impl<'t> Reader<'t> {
    fn project(&mut self, inside: &'t Term) -> Res<Project> {
        let (machines, contexts, extras) = match inside.parts() {
            Some(("load_event_b_project", [machines, contexts, extras, _errors])) => {
                (list(machines)?, list(contexts)?, list(extras)?)
            }
            // The oldest have no extras.
            Some(("load_event_b_project", [machines, contexts, _errors])) => {
                (list(machines)?, list(contexts)?, &[][..])
            }
            _ => return Err(malformed(inside, "`load_event_b_project/4`")),
        };
        let obligation = |component, what, about, is_discharged| Obligation {
            component,
            what,
            sequent: "".into(),
            about,
            is_discharged,
        };
        let mut project = Project::default();
        let mut theories = Theories::default();
        for extra in extras {
            match extra.parts() {
                Some(("theory", _)) => theories.add(extra)?,
                Some(("po", [component, what, about, discharged])) => {
                    let about = list(about)?.iter().map(source).collect::<Res<_>>()?;
                    let is_discharged = atom(discharged)? == "true".into();
                    project.obligations.push(obligation(atom(component)?, atom(what)?, about, is_discharged));
                }
                Some(("discharged", [component, event, invariant])) => {
                    let about = vec![("event".into(), atom(event)?), ("invariant".into(), atom(invariant)?)];
                    project.obligations.push(obligation(atom(component)?, "".into(), about, true));
                }
                Some(("discharged", [component, theorem])) => {
                    let about = vec![("theorem".into(), atom(theorem)?)];
                    project.obligations.push(obligation(atom(component)?, "".into(), about, true));
                }
                Some((name, _)) if IGNORED.contains(&name) => {}
                _ => return Err(refused(extra.span, format!("{} in a package", extra.shape()))),
            }
        }
        let (sets, constants) = declared(contexts);
        self.formulas = Formulas::new(theories, sets, constants);
        for machine in machines {
            project.machines.push(self.machine(machine)?);
        }
        for context in contexts {
            project.contexts.push(self.context(context)?);
        }
        project.datatypes = self.formulas.declarations()?;
        project.definitions = std::mem::take(&mut self.formulas.used.definitions);
        Ok(project)
    }

    /// A formula with its label; a mistake in it is noted, and there is no formula.
    fn labelled(&mut self, term: &'t Term) -> Option<Labelled> {
        match self.formulas.formula(term) {
            Ok(formula) => Some(Labelled { label: label(term), formula }),
            Err(e) => {
                self.errors.push(*e);
                None
            }
        }
    }

    fn all_labelled(&mut self, terms: &'t Term) -> Res<Vec<Labelled>> {
        Ok(list(terms)?.iter().filter_map(|t| self.labelled(t)).collect())
    }

    fn context(&mut self, term: &'t Term) -> Res<Context> {
        let Some(("event_b_context", [_, name, clauses])) = term.parts() else {
            return Err(malformed(term, "`event_b_context/3`"));
        };
        let name = Ident { name: atom(name)?, span: name.span };
        let mut context = Context::empty(name);
        for clause in list(clauses)? {
            match clause.parts() {
                Some(("extends", [_, names])) => context.extends.extend(idents(names)?),
                Some(("constants" | "abstract_constants", [_, names])) => {
                    context.constants.extend(idents(names)?);
                }
                Some(("axioms", [_, axioms])) => context.axioms.extend(self.all_labelled(axioms)?),
                Some(("theorems", [_, theorems])) => context.theorems.extend(self.all_labelled(theorems)?),
                Some(("sets", [_, sets])) => {
                    for set in list(sets)? {
                        context.sets.push(match set.parts() {
                            Some(("deferred_set", [_, name])) => Ident { name: atom(name)?, span: set.span },
                            _ => return Err(refused(set.span, format!("{} as a set", set.shape()))),
                        });
                    }
                }
                Some(("pragmas", _)) => {}
                _ => return Err(refused(clause.span, format!("{} in a context", clause.shape()))),
            }
        }
        Ok(context)
    }

    fn machine(&mut self, term: &'t Term) -> Res<Machine> {
        let Some(("event_b_model", [_, name, clauses])) = term.parts() else {
            return Err(malformed(term, "`event_b_model/3`"));
        };
        let mut machine = Machine::empty(Ident { name: atom(name)?, span: name.span });
        for clause in list(clauses)? {
            match clause.parts() {
                Some(("refines", [_, name])) => machine.refines = Some(ident(name)?),
                Some(("sees", [_, names])) => machine.sees.extend(idents(names)?),
                Some(("variables", [_, names])) => machine.variables.extend(idents(names)?),
                Some(("invariant", [_, parts])) => machine.invariants.extend(self.all_labelled(parts)?),
                Some(("theorems", [_, parts])) => machine.theorems.extend(self.all_labelled(parts)?),
                Some(("variant", [_, variant])) => {
                    if machine.variant.is_some() {
                        return Err(refused(clause.span, "a second variant"));
                    }
                    machine.variant = self.labelled(variant);
                }
                Some(("events", [_, events])) => {
                    for event in list(events)? {
                        machine.events.push(self.event(event)?);
                    }
                }
                Some(("pragmas", _)) => {}
                _ => return Err(refused(clause.span, format!("{} in a machine", clause.shape()))),
            }
        }
        Ok(machine)
    }

    fn event(&mut self, term: &'t Term) -> Res<Event> {
        const OLD: &[Term] = &[];
        let nothing = None;
        let (name, status, refines, parameters, guards, theorems, actions, witnesses) = match term.parts() {
            Some(("event", [_, name, status, refines, ps, gs, theorems, actions, witnesses])) => {
                (name, Some(status), refines, ps, gs, Some(theorems), actions, witnesses)
            }
            // Before there were theorems in guards.
            Some(("event", [_, name, status, refines, ps, gs, actions, witnesses])) => {
                (name, Some(status), refines, ps, gs, nothing, actions, witnesses)
            }
            // Before there was a status.
            Some(("event", [_, name, refines, ps, gs, actions, witnesses])) => {
                (name, None, refines, ps, gs, nothing, actions, witnesses)
            }
            _ => return Err(malformed(term, "`event/9`")),
        };
        let status = match status.and_then(Term::parts) {
            None | Some(("ordinary", _)) => Status::Ordinary,
            Some(("convergent", _)) => Status::Convergent,
            Some(("anticipated", _)) => Status::Anticipated,
            Some((other, _)) => return Err(refused(term.span, format!("the status `{other}` of an event"))),
        };
        let mut event = Event {
            status,
            refines: idents(refines)?,
            parameters: idents(parameters)?,
            guards: self.all_labelled(guards)?,
            theorems: match theorems {
                Some(theorems) => self.all_labelled(theorems)?,
                None => vec![],
            },
            ..Event::empty(Ident { name: atom(name)?, span: name.span }, term.span)
        };
        for action in list(actions)? {
            match self.action(action) {
                Ok(action) => event.actions.extend(action),
                Err(e) => self.errors.push(*e),
            }
        }
        for witness in list(witnesses).unwrap_or(OLD) {
            let Some(("witness", [_, of, predicate])) = witness.parts() else {
                return Err(malformed(witness, "a witness"));
            };
            let of = ident(of)?;
            if let Some(predicate) = self.labelled(predicate) {
                event.witnesses.push(Witness { of, predicate });
            }
        }
        Ok(event)
    }

    fn action(&mut self, term: &'t Term) -> Res<Option<Action>> {
        let kind = match term.parts() {
            Some(("skip", _)) => return Ok(None),
            Some(("assign", [_, left, right])) => {
                let (left, right) = (idents(left)?, list(right)?);
                if left.len() != right.len() {
                    let message = format!("{} variables but {} values", left.len(), right.len());
                    return Err(Box::new(Diagnostic::error("B0206", term.span, message)));
                }
                let values = right.iter().map(|t| self.formulas.formula(t)).collect::<Res<Vec<_>>>()?;
                ActionKind::Assign(left.into_iter().zip(values).collect())
            }
            Some(("becomes_element_of", [_, left, set])) => {
                let [variable] = &idents(left)?[..] else {
                    return Err(refused(term.span, "`:∈` with several variables"));
                };
                ActionKind::Element(variable.clone(), self.formulas.formula(set)?)
            }
            Some(("becomes_such", [_, left, predicate])) => {
                ActionKind::Such(idents(left)?, self.formulas.formula(predicate)?)
            }
            _ => return Err(refused(term.span, format!("{} as an action", term.shape()))),
        };
        Ok(Some(Action { label: label(term), kind, span: term.span }))
    }
}

/// The names of carrier sets and constants; what is no context is reported when it is read.
fn declared(contexts: &[Term]) -> (HashSet<Name>, HashSet<Name>) {
    let (mut sets, mut constants) = (HashSet::new(), HashSet::new());
    let clauses = contexts.iter().filter_map(|c| match c.parts() {
        Some(("event_b_context", [_, _, clauses])) => clauses.list(),
        _ => None,
    });
    for clause in clauses.flatten() {
        match clause.parts() {
            Some(("sets", [_, names])) => {
                let name = |t: &Term| match t.parts() {
                    Some(("deferred_set", [_, name])) => name.atom().cloned(),
                    _ => None,
                };
                sets.extend(names.list().unwrap_or_default().iter().filter_map(name));
            }
            Some(("constants" | "abstract_constants", [_, names])) => {
                constants.extend(idents(names).unwrap_or_default().into_iter().map(|id| id.name));
            }
            _ => {}
        }
    }
    (sets, constants)
}

fn atom(term: &Term) -> Res<Name> {
    term.atom().cloned().ok_or_else(|| malformed(term, "a name"))
}

/// `event(e)`, `invariant(i)`, …: what an obligation is about.
fn source(term: &Term) -> Res<(Name, Name)> {
    match term.parts() {
        Some((kind, [label])) => {
            Ok((kind.into(), label.atom().map_or_else(|| "".into(), |label| label.trim().into())))
        }
        _ => Err(malformed(term, "what an obligation is about")),
    }
}

/// `rodinpos(Component, Label, Place)` or, older, `rodinpos(Label, Place)` in the first argument of a formula.
fn label(term: &Term) -> Option<Name> {
    let (_, [position, ..]) = term.parts()? else { return None };
    match position.parts()? {
        // Some were typed with the end of a line.
        ("rodinpos", [_, label, _] | [label, _]) => {
            label.atom().map(|l| l.trim()).filter(|l| !l.is_empty()).map(Name::from)
        }
        _ => None,
    }
}
