//! What is said of a certificate that is accepted: the claim, its scope, and what is believed.

use crate::check::{Accepted, Part};
use crate::statement::{Goal, Statement};

/// Several lines, the first of which is the answer.
pub fn text(accepted: &Accepted) -> String {
    let Accepted { statement: s, transitions, witnesses, nodes, part, relative, .. } = accepted;
    let mut out = match relative.is_empty() {
        true => format!("accepted: {}\n", s.machine),
        false => format!("accepted, relative to what is believed below: {}\n", s.machine),
    };
    if *part != Part::WHOLE {
        out += &format!("  part {} of {} only\n", part.part + 1, part.of);
    }
    out += &format!("  {}\n  {}", claim(s), scope(s));
    out += &format!("; undefined terms are read as `{}`\n", s.wd);
    out += &format!("  {} states, {transitions} transitions, {} valuations", s.states, s.valuations);
    if s.claims.formula.is_some() {
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

/// What is true of the model.
pub fn claim(s: &Statement) -> String {
    // It was written by somebody who may want it to look like an answer.
    let line = |text: &str| text.trim().replace(char::is_control, " ");
    let c = &s.claims;
    if let Some(formula) = &c.formula {
        return format!("all paths fulfil {}", line(formula));
    }
    let mut claims = vec![];
    claims.extend(c.invariant.then(|| "the invariant is true".to_string()));
    claims.extend(c.assertions.then(|| "assertions are true".to_string()));
    claims.extend(c.no_deadlock.then(|| "some operation is enabled".to_string()));
    claims.extend(match c.goal {
        Goal::Ignored => None,
        Goal::Model => Some("GOAL is false".to_string()),
        Goal::Given => Some(format!("{} is false", line(c.goal_text.as_deref().unwrap_or_default()))),
    });
    claims.push("everything has a value".to_string());
    format!("in every reachable state {}", claims.join(", "))
}

/// At which sizes.
pub fn scope(s: &Statement) -> String {
    let sizes: Vec<String> = s.sets.iter().map(|(name, n)| format!("card({name}) = {n}, ")).collect();
    format!("for {}MININT = {}, MAXINT = {}", sizes.concat(), s.minint, s.maxint)
}
