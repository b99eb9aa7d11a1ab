//! Questions about a system that is written in Rust, with the answers of a machine's: counts, verdicts, paths, formulas.

use crate::explore::plan::{Asked, Refusal, plan, reducible};
use crate::explore::{self, Counts, Explored, Finding, FindingKind, Options, Progress};
use crate::lang::diag::Diagnostic;
use crate::ltl::space::{Limits, Propositions, Space};
use crate::ltl::{self, named, reduce};
use crate::symmetry::{Action, Reducer};
use crate::system::{Path, Role, Stop, System};
use crate::trace::rebuild::rebuild;
use crate::verdict::{Verdict, Why};
use std::sync::Arc;

/// The answer about the states of a system.
pub struct Answer {
    /// Whether anything was found.
    pub verdict: Verdict<Finding>,
    /// States, transitions and what was found.
    pub counts: Counts,
    /// The way from an initial state to what was found.
    pub path: Option<Path>,
    /// All that was explored, for a picture of it.
    pub explored: Explored,
}

/// Looks at every state: invariant, assertions, goals and deadlocks, as the options say. `action` is what the strategy of
/// the options permutes by.
///
/// # Errors
/// Options that do not go together.
pub fn check<S: System>(
    system: &S,
    action: Option<&Arc<dyn Action>>,
    options: &Options,
) -> Result<Answer, Refusal> {
    check_until(system, action, options, &Stop::default(), &mut |_| {})
}

/// The same, until the flag is set, and with somebody who hears how far it is.
///
/// # Errors
/// Options that do not go together.
pub fn check_until<S: System>(
    system: &S,
    action: Option<&Arc<dyn Action>>,
    options: &Options,
    stop: &Stop,
    progress: &mut dyn FnMut(Progress),
) -> Result<Answer, Refusal> {
    let explored = explore::explore(system, action, options, stop, progress)?;
    let mut verdict = explored.verdict.clone();
    let state = explored.finding.as_ref().and_then(|f| f.state);
    let path = state.map(|s| rebuild(system, action, &explored, s)).transpose();
    let path = path.unwrap_or_else(|why| {
        // Never a counterexample that does not run.
        verdict = Verdict::Unknown(Why::Internal(why));
        None
    });
    Ok(Answer { verdict, counts: explored.counts.clone(), path, explored })
}

/// What a finding is about, in a word: the name of a check, or the kind of finding.
pub fn name<S: System>(system: &S, finding: &Finding) -> String {
    let of = |role: Role, place: usize| {
        let check = system.checks().iter().filter(|c| c.role == role).nth(place);
        check.map_or_else(|| finding.kind.name().to_string(), |c| c.name.to_string())
    };
    match finding.kind {
        FindingKind::Invariant(place) => of(Role::Invariant, place),
        FindingKind::Assertion(place) => of(Role::Assertion, place),
        FindingKind::Goal => of(Role::Goal, 0),
        FindingKind::Deadlock | FindingKind::WellDefinedness { .. } => finding.kind.name().to_string(),
    }
}

/// A path that does not fulfil a formula. With `back` the last state is the one at that place once more.
#[derive(Clone, Debug)]
pub struct Refuted {
    /// From an initial state.
    pub path: Path,
    /// Where the loop begins; none if the path ends in a deadlock.
    pub back: Option<usize>,
}

/// Whether a formula holds on every path. `{name}` is a check, `[name]` an operation. Symmetry needs checks that do not
/// tell symmetric states apart, which an [`Action`] promises, and a premise that is not about single instances.
///
/// # Errors
/// What is wrong with the formula, or with the options.
pub fn ltl<S: System>(
    system: &S,
    action: Option<&Arc<dyn Action>>,
    formula: &str,
    options: &Options,
) -> Result<(Verdict<Refuted>, ltl::Counts), Diagnostic> {
    ltl_until(system, action, formula, options, &Stop::default())
}

/// The same, until the flag is set.
///
/// # Errors
/// What is wrong with the formula, or with the options.
pub fn ltl_until<S: System>(
    system: &S,
    action: Option<&Arc<dyn Action>>,
    formula: &str,
    options: &Options,
    stop: &Stop,
) -> Result<(Verdict<Refuted>, ltl::Counts), Diagnostic> {
    let wrong = |why: String| Diagnostic::error("L0403", Default::default(), why);
    plan(options, Asked::Paths, false)
        .and_then(|_| reducible(options, action))
        .map_err(|why| wrong(why.to_string()))?;
    let (property, propositions) = named::bind(system, formula)?;
    let is_of_instances = property.premise.as_ref().is_some_and(|p| p.is_of_instances());
    let action = action.filter(|_| !is_of_instances);
    ltl_of(system, action, (&property, &|| propositions.clone()), options, stop).map_err(wrong)
}

/// The same for a property whose propositions are known. That the action does not change what they say is for whoever knows
/// them to say.
///
/// # Errors
/// A formula that is too large.
pub(super) fn ltl_of<S: System, P: Propositions<S>>(
    system: &S,
    action: Option<&Arc<dyn Action>>,
    (property, propositions): (&ltl::Resolved, &dyn Fn() -> P),
    options: &Options,
    stop: &Stop,
) -> Result<(Verdict<Refuted>, ltl::Counts), String> {
    let action = action.filter(|a| !a.group().is_trivial());
    let strategy = reduce::representatives(options.symmetry);
    let reducer = action.and_then(|a| Reducer::new(a, strategy, false));
    let is_reduced = reducer.is_some();
    let limits = Limits { max_states: options.max_states, max_memory: options.max_memory };
    let steps = property.steps();
    let mut space = Space::new(system, propositions(), steps, reducer, limits, stop);
    let answer = ltl::check(&mut space, property, &ltl::Options { stop: stop.clone(), ..Default::default() })
        .map_err(|e| e.0)?;
    let verdict = match answer.verdict {
        Verdict::Holds(proof) => Verdict::Holds(proof),
        Verdict::Unknown(why) => Verdict::Unknown(why),
        Verdict::Fails(lasso) => {
            let found = if is_reduced {
                let mut plain = Space::new(system, propositions(), steps, None, Limits::default(), stop);
                space
                    .unfold(&lasso, None)
                    .map(|path| plain.lasso(&path))
                    .and_then(|lasso| refuted(&mut plain, &lasso, property, answer.counts.work()))
            } else {
                refuted(&mut space, &lasso, property, answer.counts.work())
            };
            match found {
                Ok(found) => Verdict::Fails(found),
                Err(why) => Verdict::Unknown(Why::Internal(why)),
            }
        }
    };
    Ok((verdict, answer.counts))
}

fn refuted<S: System, P: Propositions<S>>(
    space: &mut Space<S, P>,
    lasso: &ltl::Lasso,
    property: &ltl::Resolved,
    work: ltl::Work,
) -> Result<Refuted, String> {
    let (lasso, _) = ltl::confirm(space, lasso, property, work)?;
    Ok(Refuted { path: space.path(&lasso, true)?, back: lasso.back })
}
