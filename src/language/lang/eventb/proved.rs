//! Which events are proved to keep which invariants, according to the project: discharged obligations, read as facts
//! about the events of the most concrete machine.
//!
//! An event follows one event of every level above, or none. What is proved of the event that it follows at the level
//! of an invariant is true of its own steps, too: the translation demands of each step that the level above can follow
//! it ([`super::event`]). So a fact is there if the invariant is proved to be kept by every event of its level that may
//! be followed, and if nothing says that the invariant may have no value.
//!
//! Absent on purpose: initial states, theorems, guards; whether anybody relies on a fact, and when that is sound.

use super::event::is_initialisation;
use super::formula::names;
use super::project::{Event, Labelled, Machine};
use crate::lang::ast::Name;
use crate::lang::composed::{Fact, Obligation};
use std::collections::HashSet;

/// The facts about the events of a chain of machines, the most concrete first.
pub fn kept(chain: &[&Machine], obligations: &[Obligation]) -> Vec<Fact> {
    let mut found = vec![];
    let Some(concrete) = chain.first() else { return found };
    for event in concrete.events.iter().filter(|e| !is_initialisation(e)) {
        // Those followed at each level; none where at some level nothing is.
        let mut followed: Vec<&Event> = vec![event];
        for (level, machine) in chain.iter().enumerate() {
            if level > 0 {
                let Some(parents) = parents(&followed, machine) else { break };
                followed = parents;
            }
            let above = chain.get(level + 1..).unwrap_or_default();
            for invariant in &machine.invariants {
                let found_here = proofs(machine, invariant, &followed, obligations);
                let is_sure = |by: &[usize]| {
                    // An obligation of Rodin's own files.
                    let is_rodins = by.iter().any(|i| !obligations[*i].sequent.is_empty());
                    !(is_rodins && needs_above(machine, above, invariant, &followed))
                };
                if let Some((by, needs_total)) = found_here.filter(|(by, _)| is_sure(by)) {
                    let (event, invariant) = (event.name.name.clone(), invariant.formula.span);
                    found.push(Fact { event, invariant, by, needs_total });
                }
            }
        }
    }
    found
}

/// Whether what is proved of these events and this invariant says something about the actions of events above: the
/// invariant has variables that are gone, and an event does not repeat what it refines. Files of Rodin's that lie side
/// by side may be of different builds, and nothing in those of this machine tells of which actions they were made
/// ([`super::rodin::built`]).
fn needs_above(machine: &Machine, above: &[&Machine], invariant: &Labelled, events: &[&Event]) -> bool {
    let mut all = HashSet::new();
    names(&invariant.formula, &mut all);
    let is_own = |x: &Name| machine.variables.iter().any(|v| v.name == *x);
    let gone = above.iter().flat_map(|m| &m.variables).any(|v| all.contains(&v.name) && !is_own(&v.name));
    gone && events.iter().any(|e| !e.refines.is_empty() && !e.inherited.is_extended)
}

/// The events of a level that these refine; none if one of them is new.
fn parents<'p>(events: &[&'p Event], above: &'p Machine) -> Option<Vec<&'p Event>> {
    let mut all: Vec<&Event> = vec![];
    for e in events {
        if e.refines.is_empty() {
            return None;
        }
        for id in &e.refines {
            let parent = above.events.iter().find(|p| p.name.name == id.name)?;
            if all.iter().all(|p| p.name.name != parent.name.name) {
                all.push(parent);
            }
        }
    }
    Some(all)
}

/// The obligations that say that all these events keep an invariant; and whether nothing is known of its
/// well-definedness.
fn proofs(
    machine: &Machine,
    invariant: &Labelled,
    events: &[&Event],
    obligations: &[Obligation],
) -> Option<(Vec<usize>, bool)> {
    let label = invariant.label.as_ref()?;
    let has_label = |l: &&Labelled| l.label.as_ref() == Some(label);
    if machine.invariants.iter().chain(&machine.theorems).filter(has_label).count() != 1 {
        return None;
    }
    let here = || obligations.iter().enumerate().filter(|(_, o)| o.component == machine.name.name);
    let is_about = |o: &Obligation| o.part("invariant") == Some(label);
    let mut needs_total = false;
    let mut by = vec![];
    for event in events {
        // The abstract event comes first, the one that it is about last.
        let of_event = |o: &Obligation| o.last("event") == Some(&event.name.name);
        let asked = here().filter(|(_, o)| is_about(o) && of_event(o) && !is_definedness(o));
        let asked: Vec<(usize, &Obligation)> = asked.collect();
        if asked.is_empty() || asked.iter().any(|(_, o)| !o.is_discharged) {
            return None;
        }
        // The older form lists nothing but what is discharged about events and invariants.
        needs_total |= asked.iter().any(|(_, o)| o.what.is_empty());
        by.extend(asked.iter().map(|(i, _)| *i));
    }
    // Where there is no such obligation, the invariant always has a value.
    let definedness = || here().filter(|(_, o)| is_about(o) && is_definedness(o));
    if definedness().any(|(_, o)| !o.is_discharged) {
        return None;
    }
    by.extend(definedness().map(|(i, _)| i));
    Some((by, needs_total))
}

fn is_definedness(o: &Obligation) -> bool {
    o.what.starts_with("Well-definedness")
}

impl Obligation {
    fn last(&self, kind: &str) -> Option<&Name> {
        self.about.iter().rev().find(|(k, _)| &**k == kind).map(|(_, name)| name)
    }

    /// The label of a part of this kind, if there is just one.
    fn part(&self, kind: &str) -> Option<&Name> {
        let mut parts = self.about.iter().filter(|(k, _)| &**k == kind);
        parts.next().filter(|_| parts.next().is_none()).map(|(_, name)| name)
    }

    /// Rodin's short word for what is to be proved; none of what is not known here. The older form of packages says
    /// nothing but which event keeps which invariant.
    pub fn kind(&self) -> Option<&'static str> {
        let parts = || self.about.iter().filter(|(k, _)| &**k != "event");
        Some(match &*self.what {
            "" if parts().any(|(k, _)| &**k == "invariant") && self.last("event").is_some() => "INV",
            "Well-definedness of variant" => "VWD",
            "Well-definedness of witness" => "WWD",
            w if w.starts_with("Well-definedness") => "WD",
            w if w.starts_with("Theorem") => "THM",
            w if w.starts_with("Invariant ") => "INV",
            "Guard strengthening (split)" => "GRD",
            "Guard strengthening (merge)" => "MRG",
            "Action simulation" => "SIM",
            "Equality of common variables" => "EQL",
            "Feasibility of action" => "FIS",
            "Feasibility of witness" => "WFIS",
            "Variant of event" => "VAR",
            "Natural number variant of event" => "NAT",
            "Finiteness of variant" => "FIN",
            _ => return None,
        })
    }

    /// As Rodin calls it: `M/event/inv1/INV`.
    pub fn name(&self) -> String {
        let kind = match &*self.what {
            w if w.starts_with("Well-definedness") => "WD",
            w if w.starts_with("Theorem") => "THM",
            _ => "INV",
        };
        let event = self.last("event").map(|e| format!("{e}/")).unwrap_or_default();
        let label = self.about.iter().find(|(k, _)| &**k != "event").map(|(_, l)| format!("{l}/"));
        format!("{}/{event}{}{kind}", self.component, label.unwrap_or_default())
    }
}
