//! Coverage for a terminal: what a complete search has never seen.

use super::cut::cut;
use crate::run::answer::Place;
use crate::run::coverage::Coverage;
use std::fmt::Write;
use std::sync::Arc;

/// Values that are listed at most; JSON has all.
const LISTED: usize = 12;

/// Some lines, or none if there is nothing to be said.
pub(super) fn text(c: &Coverage) -> String {
    let lines = lines(c);
    if lines.is_empty() {
        return String::new();
    }
    let of = if c.up_to_symmetry { " (of whole orbits)" } else { "" };
    let mut out = format!("coverage{of}:\n");
    for line in lines {
        let _ = writeln!(out, "  {line}");
    }
    out
}

/// The same, a sentence each.
pub(super) fn lines(c: &Coverage) -> Vec<String> {
    let mut lines = vec![];
    if !c.never.is_empty() {
        lines.push(format!("never fires: {}", c.never.join(", ")));
    }
    let ranges = c.variables.iter().filter_map(|v| {
        let (least, greatest) = v.range.as_ref()?;
        Some(format!("{} : {least}..{greatest}", v.name))
    });
    let ranges: Vec<String> = ranges.collect();
    if !ranges.is_empty() {
        lines.push(ranges.join(", "));
    }
    for v in c.variables.iter().filter(|v| !v.never.is_empty()) {
        let shown: Vec<String> = v.never.iter().take(LISTED).map(|v| cut(v)).collect();
        let more = match v.never.len() - shown.len() {
            0 => String::new(),
            n => format!(" and {n} more"),
        };
        lines.push(format!("{} is never {}{more}", v.name, shown.join(", ")));
    }
    lines.extend(c.unbroken.iter().map(|p| format!("no operation could break {}", place(p))));
    let parameter = |(op, p): &(Arc<str>, Arc<str>)| format!("{p} of {op}");
    if !c.unused.is_empty() {
        let all: Vec<String> = c.unused.iter().map(parameter).collect();
        lines.push(format!("parameters that are not used: {}", all.join(", ")));
    }
    let Some(d) = &c.details else { return lines };
    if !d.blocked.is_empty() {
        lines.push(format!("has no outcome although its guard is fulfilled: {}", d.blocked.join(", ")));
    }
    lines.extend(d.never_false.iter().map(|(op, p)| format!("never false in {op}: {}", place(p))));
    lines.extend(d.never_true.iter().map(|p| format!("never true before =>: {}", place(p))));
    let idle: Vec<String> = d.idle.iter().filter(|p| !c.unused.contains(p)).map(parameter).collect();
    if !idle.is_empty() {
        lines.push(format!("parameters that make no difference: {}", idle.join(", ")));
    }
    let open = match d.undecided {
        0 => String::new(),
        n => format!("; {n} had no value somewhere, or could not be enumerated: nothing is said about them"),
    };
    lines.push(format!("looked at in every state: {} guards, conjuncts and antecedents{open}", d.looked_at));
    lines
}

fn place(p: &Place) -> String {
    format!("{} ({}:{})", p.label.as_deref().map_or_else(|| cut(&p.text), str::to_string), p.line, p.column)
}
