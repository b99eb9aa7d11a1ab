//! Counterexamples, run again on the processes themselves: sets of states, step by step, and nothing that the search
//! has remembered.

use super::{Counterexample, Seen, Violation};
use crate::process::{Label, Processes};
use crate::value::{Fault, NodeId, Res};
use kanon_language::lang::diag::NOWHERE;
use std::collections::{BTreeSet, HashMap};

/// How many states a process may be in after a trace for a counterexample to be run on it.
const STATES: usize = 50_000;

/// Whether a counterexample refutes a refinement.
pub(super) fn refutes(
    processes: &mut Processes,
    spec: NodeId,
    model: Seen,
    implementation: NodeId,
    c: &Counterexample,
) -> Res<bool> {
    let allowed = after(processes, spec, &c.trace)?;
    let found = after(processes, implementation, &c.trace)?;
    if model == Seen::Divergences {
        // Where the specification has diverged before, everything is allowed.
        let last =
            if c.violation == Violation::Event { c.trace.len().saturating_sub(1) } else { c.trace.len() };
        for n in 0..=last {
            let before = after(processes, spec, &c.trace[..n])?;
            if diverges(processes, &before)? {
                return Ok(false);
            }
        }
    }
    match &c.violation {
        Violation::Event => Ok(!found.is_empty() && allowed.is_empty()),
        Violation::Refusal { offered, .. } => Ok(some_offer(processes, &found, |o| o == offered.as_slice())?
            && !some_offer(processes, &allowed, |o| o.iter().all(|l| offered.contains(l)))?),
        Violation::Divergence => diverges(processes, &found),
        _ => Ok(false),
    }
}

/// Whether a process behaves as a counterexample says.
pub(super) fn shows(processes: &mut Processes, p: NodeId, c: &Counterexample) -> Res<bool> {
    let found = after(processes, p, &c.trace)?;
    match &c.violation {
        Violation::Divergence => diverges(processes, &found),
        Violation::Deadlock => {
            let omega = processes.omega();
            for state in found {
                if state != omega && processes.transitions(state)?.is_empty() {
                    return Ok(true);
                }
            }
            Ok(false)
        }
        Violation::Nondeterminism { label, .. } => {
            let longer: Vec<Label> = c.trace.iter().copied().chain([*label]).collect();
            Ok(!after(processes, p, &longer)?.is_empty()
                && some_offer(processes, &found, |o| !o.contains(label))?)
        }
        _ => Ok(false),
    }
}

/// The states in which a process may be after a trace.
fn after(processes: &mut Processes, p: NodeId, trace: &[Label]) -> Res<BTreeSet<NodeId>> {
    let mut states = BTreeSet::from([processes.state(p)?]);
    silently(processes, &mut states)?;
    for wanted in trace {
        let mut next = BTreeSet::new();
        for state in states {
            let steps = processes.transitions(state)?;
            next.extend(steps.iter().filter(|(l, _)| l == wanted).map(|(_, t)| *t));
        }
        silently(processes, &mut next)?;
        states = next;
    }
    Ok(states)
}

/// Adds what taus lead to.
fn silently(processes: &mut Processes, states: &mut BTreeSet<NodeId>) -> Res<()> {
    let mut open: Vec<NodeId> = states.iter().copied().collect();
    while let Some(state) = open.pop() {
        for (label, target) in processes.transitions(state)?.iter() {
            if *label == Label::Tau && states.insert(*target) {
                if states.len() > STATES {
                    return Fault::limit(NOWHERE, format!("more than {STATES} states after a trace"));
                }
                open.push(*target);
            }
        }
    }
    Ok(())
}

/// Whether one of the states has an offer that fits: stable ones what they do, those that can terminate only that.
fn some_offer(
    processes: &mut Processes,
    states: &BTreeSet<NodeId>,
    fits: impl Fn(&[Label]) -> bool,
) -> Res<bool> {
    for state in states {
        let steps = processes.transitions(*state)?;
        let can = |wanted: Label| steps.iter().any(|(l, _)| *l == wanted);
        let fits = if can(Label::Tick) {
            fits(&[Label::Tick])
        } else if can(Label::Tau) {
            false
        } else {
            let all: BTreeSet<Label> = steps.iter().map(|(l, _)| *l).collect();
            fits(&all.into_iter().collect::<Vec<_>>())
        };
        if fits {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Whether a way of taus from one of these states, which are closed under taus, never ends: a depth-first search that
/// meets its own way.
fn diverges(processes: &mut Processes, states: &BTreeSet<NodeId>) -> Res<bool> {
    // Whether a state is on the way.
    let mut seen: HashMap<NodeId, bool> = HashMap::new();
    for start in states {
        let mut way: Vec<(NodeId, Vec<NodeId>)> = vec![];
        let mut enter = Some(*start).filter(|s| !seen.contains_key(s));
        loop {
            if let Some(state) = enter.take() {
                seen.insert(state, true);
                let steps = processes.transitions(state)?;
                let taus = steps.iter().filter(|(l, _)| *l == Label::Tau).map(|(_, t)| *t).collect();
                way.push((state, taus));
            }
            let Some((state, open)) = way.last_mut() else { break };
            match open.pop() {
                Some(next) => match seen.get(&next) {
                    Some(true) => return Ok(true),
                    Some(false) => {}
                    None => enter = Some(next),
                },
                None => {
                    seen.insert(*state, false);
                    way.pop();
                }
            }
        }
    }
    Ok(false)
}
