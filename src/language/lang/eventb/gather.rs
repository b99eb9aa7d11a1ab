//! From components, each in a file or a text of its own, to a project: the one that is looked at, all that it refers
//! to, and events that extend others made whole.

use super::event::{INITIALISATION, is_initialisation};
use super::project::{Comments, Context, Event, Inherited, Machine, Project};
use crate::lang::ast::{Ident, Name};
use crate::lang::composed::Obligation;
use crate::lang::diag::{Diagnostic, Span};
use std::collections::HashSet;

/// Bytes of formulas that events have from others, at most: a long chain of extensions repeats them at every level.
const MAX_INHERITED: u64 = 8 << 20;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    Machine,
    Context,
}

impl Kind {
    pub fn word(self) -> &'static str {
        match self {
            Kind::Machine => "machine",
            Kind::Context => "context",
        }
    }
}

#[derive(Clone, Debug)]
pub enum Component {
    Machine(Machine),
    Context(Context),
}

impl Component {
    pub fn name(&self) -> &Ident {
        match self {
            Component::Machine(m) => &m.name,
            Component::Context(c) => &c.name,
        }
    }

    pub fn kind(&self) -> Kind {
        match self {
            Component::Machine(_) => Kind::Machine,
            Component::Context(_) => Kind::Context,
        }
    }
}

/// A component as it was written, and what belongs to it.
#[derive(Clone, Debug)]
pub struct Sheet {
    pub component: Component,
    pub comments: Comments,
    pub obligations: Vec<Obligation>,
}

/// Where components are found.
pub trait Shelf {
    /// Reads a component; what is wrong with it is added to the diagnostics. `None` when it is not there.
    fn take(&mut self, kind: Kind, name: &str, diags: &mut Vec<Diagnostic>) -> Option<Sheet>;

    /// Where it was looked for, and what to do about it.
    fn missing(&self, kind: Kind, name: &str) -> String;
}

/// The project of a component and all that it refers to.
pub fn gather(top: Sheet, shelf: &mut dyn Shelf, diags: &mut Vec<Diagnostic>) -> Project {
    let mut project = Project::default();
    let mut contexts: Vec<Ident> = vec![];
    let mut seen: HashSet<Name> = HashSet::new();
    let mut next = Some(top);
    while let Some(Sheet { component, comments, obligations }) = next.take() {
        project.comments.extend(comments);
        project.obligations.extend(obligations);
        match component {
            Component::Machine(machine) => {
                seen.insert(machine.name.name.clone());
                contexts.extend(machine.sees.iter().cloned());
                if let Some(id) = &machine.refines {
                    if seen.contains(&id.name) {
                        let message = format!("`{}` refines itself in the end", id.name);
                        diags.push(Diagnostic::error("B0210", id.span, message));
                    } else {
                        next = found(Kind::Machine, id, shelf, diags);
                    }
                }
                project.machines.push(machine);
            }
            Component::Context(context) => {
                seen.insert(context.name.name.clone());
                contexts.extend(context.extends.iter().cloned());
                project.contexts.push(context);
            }
        }
    }
    let mut seen: HashSet<Name> = project.contexts.iter().map(|c| c.name.name.clone()).collect();
    let mut at = 0;
    while let Some(id) = contexts.get(at).cloned() {
        at += 1;
        if !seen.insert(id.name.clone()) {
            continue;
        }
        let Some(sheet) = found(Kind::Context, &id, shelf, diags) else { continue };
        project.comments.extend(sheet.comments);
        project.obligations.extend(sheet.obligations);
        if let Component::Context(context) = sheet.component {
            contexts.extend(context.extends.iter().cloned());
            project.contexts.push(context);
        }
    }
    circle(&project, diags);
    inherit(&mut project.machines, diags);
    project
}

fn found(kind: Kind, id: &Ident, shelf: &mut dyn Shelf, diags: &mut Vec<Diagnostic>) -> Option<Sheet> {
    let sheet = shelf.take(kind, &id.name, diags);
    if sheet.is_none() {
        let message = format!("there is no {} `{}`", kind.word(), id.name);
        diags.push(Diagnostic::error("B0211", id.span, message).help(shelf.missing(kind, &id.name)));
    }
    sheet
}

/// Contexts that extend themselves in the end.
fn circle(project: &Project, diags: &mut Vec<Diagnostic>) {
    for context in &project.contexts {
        let mut todo: Vec<&Ident> = context.extends.iter().collect();
        let mut seen: HashSet<&Name> = HashSet::new();
        while let Some(id) = todo.pop() {
            if id.name == context.name.name {
                let message = format!("`{}` extends itself in the end", id.name);
                diags.push(Diagnostic::error("B0210", id.span, message));
                break;
            }
            if seen.insert(&id.name)
                && let Some(next) = project.contexts.iter().find(|c| c.name.name == id.name)
            {
                todo.extend(&next.extends);
            }
        }
    }
}

/// Gives events that extend others what these have; the most abstract machine is last.
fn inherit(machines: &mut [Machine], diags: &mut Vec<Diagnostic>) {
    let mut left = MAX_INHERITED;
    for i in (0..machines.len()).rev() {
        let (here, above) = machines.split_at_mut(i + 1);
        let (machine, above) = (&mut here[i], above.first());
        for event in &mut machine.events {
            // That an INITIALISATION refines the one above goes without saying in Rodin.
            if is_initialisation(event) && above.is_some() && event.refines.is_empty() {
                event.refines.push(Ident { name: INITIALISATION.into(), span: event.name.span });
            }
            // That of the first machine has nothing to extend; Rodin takes what it says itself.
            if is_initialisation(event) && machine.refines.is_none() {
                event.inherited.is_extended = false;
                event.refines.clear();
            }
            if !event.inherited.is_extended {
                continue;
            }
            let of = match &event.refines[..] {
                [of] => of,
                none_or_many => {
                    let message = match none_or_many.len() {
                        0 => format!("`{}` extends an event but does not say which", event.name.name),
                        _ => format!("`{}` extends an event but refines several", event.name.name),
                    };
                    let help = "an event that extends another refines just that one";
                    diags.push(Diagnostic::error("B0211", event.name.span, message).help(help));
                    continue;
                }
            };
            let Some(machine) = above else {
                // A machine that is missing has been reported; one that refines none extends nothing.
                if machine.refines.is_none() {
                    let message =
                        format!("`{}` extends an event, but the machine refines none", event.name.name);
                    diags.push(Diagnostic::error("B0211", of.span, message));
                }
                continue;
            };
            match machine.events.iter().find(|e| e.name.name == of.name) {
                Some(of) => match left.checked_sub(length(of)) {
                    Some(rest) => {
                        left = rest;
                        extend(event, of);
                    }
                    None => {
                        let message = "the events that are extended here stand for too much";
                        diags.push(Diagnostic::error("B0106", event.name.span, message));
                        return;
                    }
                },
                None => {
                    let message = format!("there is no event `{}` in `{}`", of.name, machine.name.name);
                    diags.push(Diagnostic::error("B0211", of.span, message));
                }
            }
        }
    }
}

/// About how long what an event has would be as a text.
fn length(event: &Event) -> u64 {
    let formulas = event.guards.iter().chain(&event.theorems).map(|l| l.formula.span);
    let spans = formulas.chain(event.actions.iter().map(|a| a.span));
    let parts = spans.map(|s| u64::from(s.hi.saturating_sub(s.lo)) + 64).sum::<u64>();
    parts + 64 * event.parameters.len() as u64
}

fn extend(event: &mut Event, of: &Event) {
    event.inherited = Inherited {
        is_extended: true,
        parameters: of.parameters.len(),
        guards: of.guards.len(),
        theorems: of.theorems.len(),
        actions: of.actions.len(),
    };
    event.parameters.splice(0..0, of.parameters.iter().cloned());
    event.guards.splice(0..0, of.guards.iter().cloned());
    event.theorems.splice(0..0, of.theorems.iter().cloned());
    event.actions.splice(0..0, of.actions.iter().cloned());
}

/// A component among several: the one of this name, or the one that no other refines or extends.
///
/// # Errors
/// What to say when there is none, or more than one.
pub fn choose(
    found: &[(Kind, Name, Vec<Name>)],
    wanted: Option<&str>,
    span: Span,
) -> Result<usize, Diagnostic> {
    let list = |of: &[usize]| {
        let names: Vec<String> = of.iter().map(|i| format!("`{}`", found[*i].1)).collect();
        names.join(", ")
    };
    let all: Vec<usize> = (0..found.len()).collect();
    if let Some(wanted) = wanted {
        let by_kind = |kind| found.iter().position(|(k, name, _)| *k == kind && **name == *wanted);
        return by_kind(Kind::Machine).or_else(|| by_kind(Kind::Context)).ok_or_else(|| {
            let message = format!("there is no machine or context `{wanted}`");
            Diagnostic::error("B0211", span, message).help(format!("there are {}", list(&all)))
        });
    }
    let has_machines = found.iter().any(|(kind, ..)| *kind == Kind::Machine);
    let kind = if has_machines { Kind::Machine } else { Kind::Context };
    let of_kind: Vec<usize> = all.into_iter().filter(|i| found[*i].0 == kind).collect();
    let is_used = |name: &Name| of_kind.iter().any(|i| found[*i].1 != *name && found[*i].2.contains(name));
    let tops: Vec<usize> = of_kind.iter().copied().filter(|i| !is_used(&found[*i].1)).collect();
    match &tops[..] {
        [only] => Ok(*only),
        [] if of_kind.is_empty() => {
            Err(Diagnostic::error("B0102", span, "there is neither a machine nor a context here"))
        }
        [] => {
            let message = format!("every {} here is refined or extended by another", kind.word());
            Err(Diagnostic::error("B0210", span, message).help(format!("name one of {}", list(&of_kind))))
        }
        _ => {
            let message = format!("there are several {}s here that no other refines or extends", kind.word());
            let help = format!("name one behind `#`: {}", list(&tops));
            Err(Diagnostic::error("B0102", span, message).help(help))
        }
    }
}
