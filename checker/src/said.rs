//! What is said of a certificate that is accepted: the claim, its scope, and what is believed.

use crate::check::{Accepted, Part};
use crate::statement::Goal;

/// Several lines, the first of which is the answer.
pub fn text(accepted: &Accepted) -> String {
    let Accepted { statement: s, transitions, witnesses, nodes, part, relative, .. } = accepted;
    let c = &s.claims;
    let mut claims = vec![];
    claims.extend(c.invariant.then(|| "the invariant is true".to_string()));
    claims.extend(c.assertions.then(|| "assertions are true".to_string()));
    claims.extend(c.no_deadlock.then(|| "some operation is enabled".to_string()));
    claims.extend(match c.goal {
        Goal::Ignored => None,
        Goal::Model => Some("GOAL is false".to_string()),
        Goal::Given => Some(format!("{} is false", c.goal_text.as_deref().unwrap_or_default())),
    });
    claims.push("everything has a value".to_string());
    let sizes: Vec<String> = s.sets.iter().map(|(name, n)| format!("card({name}) = {n}")).collect();
    let mut out = match relative.is_empty() {
        true => format!("accepted: {}\n", s.machine),
        false => format!("accepted, relative to what is believed below: {}\n", s.machine),
    };
    if *part != Part::WHOLE {
        out += &format!("  part {} of {} only\n", part.part + 1, part.of);
    }
    match &c.formula {
        Some(formula) => out += &format!("  all paths fulfil {}\n", formula.trim()),
        None => out += &format!("  in every reachable state {}\n", claims.join(", ")),
    }
    out += &format!("  for {}MININT = {}, MAXINT = {}", listed(&sizes), s.minint, s.maxint);
    out += &format!("; undefined terms are read as `{}`\n", s.wd);
    out += &format!("  {} states, {transitions} transitions, {} valuations", s.states, s.valuations);
    if c.formula.is_some() {
        out += &format!(", {nodes} nodes");
    }
    if !s.symmetry.is_empty() {
        out += &format!(", up to symmetry of {} ({witnesses} witnesses)", s.symmetry.join(", "));
    }
    for believed in relative {
        out += &format!("\n  believed: {believed}");
    }
    out
}

fn listed(items: &[String]) -> String {
    items.iter().map(|i| format!("{i}, ")).collect()
}
