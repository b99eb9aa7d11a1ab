//! What should be known beside a verdict: the sizes it was given for, what never happened, what to do when there is none.

use super::numbers::grouped;
use crate::explore::{Counts, FindingKind};
use crate::lang::diag::Diagnostic;
use crate::model::open::Opened;
use crate::model::reading::Reading;
use crate::model::{Expr, ExprKind, Lit, Model, Stmt};
use crate::verdict::Why;
use std::sync::Arc;

/// A machine without operations has nothing that could be enabled.
pub const NO_OPERATIONS: &str = "the machine has no operations, so it was not searched for deadlocks";
/// Everything was explored, and no state fulfils the goal.
pub const NO_GOAL: &str = "the goal is not reachable";

/// What an answer rests on beside the exploration.
pub const BY_SOLVER: &str = "the constants were found by the built-in SAT solver, and each was evaluated again; that \
                             there are no others is the solver's word (`--audit` looks for them)";

/// The same for choices.
pub const CHOSEN_BY_SOLVER: &str = "some choices (of parameters, in ANY, in quantifiers) were made by the built-in SAT \
                                    solver, and each was evaluated again; that there are no others is the solver's \
                                    word (`--audit` looks for them)";

/// Coverage is said of complete searches.
pub const PARTIAL: &str = "not everything was explored, or something had no value or was cut short, so nothing is said \
                           about coverage";
/// The time was over before every state was looked at again.
pub const NOT_COVERED: &str = "the time was over before every state was looked at for `--coverage`";

/// The search did not begin with this run.
pub fn taken_up(states: usize, open: usize) -> String {
    format!(
        "the search was taken up from a checkpoint with {} states, {} of them open",
        grouped(states as u64),
        grouped(open as u64)
    )
}

/// The same by several processes.
pub fn taken_up_by_all(states: u64, before: usize, now: usize) -> String {
    let begin = format!("the search was taken up from a checkpoint with {} states", grouped(states));
    match before == now {
        true => format!("{begin}, by {now} processes"),
        false => format!("{begin} of {before} processes, divided anew among {now}"),
    }
}

/// How their checkpoints went.
pub fn written_by_all(checkpoints: u64, states: u64) -> String {
    format!("checkpoints: {checkpoints} written beside the search, the last with {} states", grouped(states))
}

/// The checkpoint was looked at.
pub fn audited(expanded: u64) -> String {
    format!(
        "audit: the checkpoint satisfies the invariant of wmc ({} states expanded again)",
        grouped(expanded)
    )
}

/// What checkpoints cost.
pub fn written(r: &crate::checkpoint::Report) -> String {
    format!(
        "checkpoints: {} written in {:.2} s beside the search, the last with {} states in {} bytes",
        grouped(r.written),
        r.writing.as_secs_f64(),
        grouped(r.states as u64),
        grouped(r.bytes)
    )
}

/// What was on disk, and what it took to look there.
pub fn on_disk(used: &crate::explore::store::Used) -> String {
    let mb = |bytes: u64| bytes as f64 / 1e6;
    format!(
        "store: {} states on disk in {:.0} MB, {} sorted runs after {} merges; {} keys were looked up {} times together, \
         {} alone; {:.0} MB read for that",
        used.states,
        mb(used.bytes),
        used.runs,
        used.merges,
        used.keys,
        used.rounds,
        used.alone,
        mb(used.read)
    )
}

/// States are on disk, and the memory is full nevertheless.
pub fn values_in_memory(interned: usize) -> String {
    format!(
        "states were on disk already; in memory are, whatever `--store` says, the {interned} values that states have \
         names of (sequences, sets of sets, strings, large integers) and results that are remembered"
    )
}

/// After the search, states could not be read any more.
pub fn unread(why: &str) -> String {
    format!("what is told beside the verdict may be incomplete: {why}")
}

/// The last try to write a checkpoint failed.
pub fn not_written(why: &str, has_any: bool) -> String {
    let rest = if has_any { "the one before is still good" } else { "there is none" };
    format!("the last checkpoint could not be written ({why}): {rest}")
}

/// The search has not come to its end, and is written down.
pub fn how_to_resume(folder: &std::path::Path) -> String {
    format!("the search is written down: `kanon resume {}` goes on with it", folder.display())
}

/// The sizes that a Holds is about: those of deferred sets, and MININT and MAXINT where the model speaks of them.
pub fn scope(opened: &Opened) -> Vec<String> {
    let sizes = (!opened.sizes.is_empty()).then(|| format!("this is for {}", opened.sizes.join(", ")));
    let mut used = Used::default();
    opened.model.for_each_expr(&mut |e| used.look(e));
    sizes.into_iter().chain(used.text(opened)).collect()
}

/// The sizes for which PROPERTIES have no solution: with others they may have one.
pub fn without_constants(opened: &Opened) -> Option<String> {
    let mut used = Used::default();
    opened.model.properties.iter().for_each(|e| used.look(e));
    let sizes = (!opened.sizes.is_empty()).then(|| opened.sizes.join(", "));
    let parts: Vec<String> = sizes.into_iter().chain(used.text(opened)).collect();
    (!parts.is_empty()).then(|| format!("other sizes may make a difference: {}", parts.join("; ")))
}

/// The sizes that a finding depends on.
pub fn of_finding(kind: &FindingKind, opened: &Opened) -> Option<String> {
    let model = &opened.model;
    let mut used = Used::default();
    match kind {
        FindingKind::Invariant(i) => used.look(model.invariant.get(*i)?),
        FindingKind::Assertion(i) => used.look(model.assertions.get(*i)?),
        FindingKind::Goal => used.look(model.goal.as_ref()?),
        FindingKind::Deadlock => model.operations.iter().for_each(|o| used.look_into(&o.body)),
        FindingKind::WellDefinedness { .. } => {}
    }
    used.text(opened)
}

/// How terms without a value were read, if not as usual.
pub fn reading(reading: Reading) -> Option<String> {
    let text = match reading {
        Reading::Kleene => return None,
        Reading::Strict => "terms were read from left to right, and have to have values (`--wd strict`)",
        Reading::Prob => "guards without a value count as false (`--wd prob`)",
    };
    Some(text.to_string())
}

/// Operations that were never enabled.
pub fn never_enabled(operations: &[(Arc<str>, u64)]) -> Option<String> {
    let never: Vec<&str> = operations.iter().filter(|(_, n)| *n == 0).map(|(name, _)| &**name).collect();
    (!never.is_empty()).then(|| format!("never enabled: {}", never.join(", ")))
}

/// A Holds says nothing about operations that never fire.
pub fn never_fires(model: &Model, never: &[Arc<str>]) -> Vec<Diagnostic> {
    let warning = |name: &Arc<str>| {
        let op = model.operations.iter().find(|op| op.name == *name)?;
        let message = format!("`{name}` never fires, so nothing that it does was checked");
        let help = "`kanon check --coverage` says whether its guard is ever fulfilled";
        Some(Diagnostic::warning("B0501", op.span, message).help(help))
    };
    never.iter().filter_map(warning).collect()
}

/// What was found is the nearest to those initial states only that were known by then.
pub fn nearest(counts: &Counts) -> String {
    let Counts { constants, initialisations, .. } = counts;
    let of = match constants {
        0 | 1 => format!("{initialisations} initial states"),
        n => format!("{n} valuations of the constants"),
    };
    format!(
        "this trace is a shortest one among the {of} taken by then; with `--shortest` all are taken before the search \
         begins"
    )
}

/// Valuations of the constants were taken as they came.
pub fn taken(counts: &Counts) -> String {
    format!("{} valuations of the constants were taken; there may be others", counts.constants)
}

/// What might lead to an answer.
pub fn advice(why: &Why) -> Option<String> {
    let text = match why {
        Why::Timeout(_) => {
            "give it more time (`--timeout`), or less to do: smaller sets (`--card SET=N`, `--setsize N`), a smaller \
             `--maxint`"
        }
        Why::MaxStates(_) => {
            "raise `--max-states`, or make the model smaller: smaller sets (`--card SET=N`, `--setsize N`), bounds for \
             variables that grow"
        }
        Why::MaxMemory(_) => {
            "raise `--max-memory`, or make the model smaller: smaller sets (`--card SET=N`, `--setsize N`), bounds for \
             variables that grow"
        }
        Why::Disk(_) => "take a folder with more room: `--store disk=DIR`",
        Why::Truncated(_) => {
            "bound the integer where it is chosen, for instance by `n : 0..100`; `--minint` and `--maxint` only move \
             the ends, and an error that is found between them counts"
        }
        Why::Limit(_) => {
            "bound what is enumerated there (`n : 0..100` instead of `n : NATURAL`, a finite set instead of an \
             infinite one), or make sets smaller (`--card SET=N`, `--maxint N`)"
        }
        Why::NoValue(_) => "let the formula ask only where there is a value: `{x : dom(f)} => {f(x) = 1}`",
        _ => return None,
    };
    Some(text.to_string())
}

/// Which names for bounds an expression uses.
#[derive(Default)]
struct Used {
    nat: bool,
    nat1: bool,
    int: bool,
    min: bool,
    max: bool,
}

impl Used {
    fn look(&mut self, e: &Expr) {
        match &e.kind {
            ExprKind::Lit(Lit::NatSet) => self.nat = true,
            ExprKind::Lit(Lit::Nat1Set) => self.nat1 = true,
            ExprKind::Lit(Lit::IntSet) => self.int = true,
            ExprKind::Lit(Lit::MinInt) => self.min = true,
            ExprKind::Lit(Lit::MaxInt) => self.max = true,
            _ => {}
        }
        e.for_each_child(&mut |c| self.look(c));
    }

    fn look_into(&mut self, s: &Stmt) {
        s.for_each_expr(&mut |e| self.look(e));
        s.for_each_child(&mut |c| self.look_into(c));
    }

    fn text(&self, opened: &Opened) -> Option<String> {
        let (min, max) = (&opened.scope.minint, &opened.scope.maxint);
        let sets = [(self.nat, format!("NAT is 0..{max}")), (self.nat1, format!("NAT1 is 1..{max}"))];
        let int = (self.int, format!("INT is {min}..{max}"));
        let named: Vec<String> = sets.into_iter().chain([int]).filter(|(u, _)| *u).map(|(_, t)| t).collect();
        let mut bounds = vec![];
        if self.min || self.int {
            bounds.push(("MININT", min, "`--minint`"));
        }
        if self.max || self.int || self.nat || self.nat1 {
            bounds.push(("MAXINT", max, "`--maxint`"));
        }
        let values: Vec<String> = bounds.iter().map(|(name, n, _)| format!("{name} = {n}")).collect();
        let options: Vec<&str> = bounds.iter().map(|(_, _, option)| *option).collect();
        let (values, options) = (values.join(", "), options.join(", "));
        match (bounds.is_empty(), named.is_empty()) {
            (true, _) => None,
            (false, true) => Some(format!("{values} here ({options})")),
            (false, false) => Some(format!("{} here ({values}; {options})", named.join(", "))),
        }
    }
}
