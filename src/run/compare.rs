//! Every strategy on one machine, and whether they agree: one run per strategy.
//!
//! Exact strategies must have the same verdict; those that reduce, the same orbits, and so the same number of
//! states and of everything that is counted by state; flooding must have put as many states into its visited set
//! as there are without reduction. Markers may be wrong about states, but never have more of them.

use super::answer::{Checked, Decision};
use super::numbers::{grouped, plural};
use super::project::Project;
use crate::symmetry::Strategy;
use crate::symmetry::note::{Fixed, Permuted};
use crate::trace::export;
use serde_json::Value;
use std::fmt::Write;

/// One strategy's run. Everything is explored, whatever is found.
#[derive(Clone, Debug)]
pub struct Ran {
    /// The strategy.
    pub strategy: Strategy,
    /// Its verdict.
    pub verdict: Decision,
    /// Kind of the first finding.
    pub found: Option<&'static str>,
    /// What was found, or why there is no answer.
    pub reason: Option<String>,
    /// All that this strategy has to explore was explored.
    pub finished: bool,
    /// States explored.
    pub states: u64,
    /// Transitions counted.
    pub transitions: u64,
    /// Valuations of the constants explored.
    pub constants: u64,
    /// Initial states counted.
    pub initialisations: u64,
    /// States without a transition.
    pub deadlocks: u64,
    /// States that break the invariant.
    pub violations: u64,
    /// Assertions that are false in a state.
    pub assertion_failures: u64,
    /// States that fulfil the goal.
    pub goals: u64,
    /// Faults of well-definedness.
    pub wd_errors: u64,
    /// Flooding: the states put into the visited set.
    pub flooded: Option<u64>,
    /// Whether anything was permuted.
    pub reduces: bool,
    /// States kept as they are, so that an orbit may have several.
    pub kept: u64,
    /// Constants and exploration.
    pub seconds: f64,
    /// Of the store of states.
    pub bytes: usize,
}

impl Ran {
    /// `stopped`: the run ended early.
    #[must_use]
    pub fn new(strategy: Strategy, c: &Checked, stopped: bool) -> Ran {
        let n = &c.counts;
        let reduction = c.reduction.as_ref().filter(|r| r.strategy != Strategy::Off);
        // No run of an approximate strategy is called complete: what it has left out, nobody knows.
        let finished = c.complete || (!strategy.is_exact() && n.open == 0 && n.states > 0 && !stopped);
        Ran {
            strategy,
            verdict: c.verdict,
            found: c.finding.as_ref().map(|f| f.kind),
            reason: c.reason.clone(),
            finished,
            states: n.states as u64,
            transitions: n.transitions,
            constants: c.constants as u64,
            initialisations: n.initialisations,
            deadlocks: n.deadlocks,
            violations: n.violations,
            assertion_failures: n.assertion_failures,
            goals: n.goals,
            wd_errors: n.wd_errors,
            flooded: reduction.and_then(|r| r.effort.flooded).map(|n| n as u64),
            reduces: reduction.is_some(),
            kept: reduction.map_or(0, |r| r.effort.stats.kept),
            seconds: c.seconds,
            bytes: c.bytes,
        }
    }

    /// Whether its counts must be those of others. After an error of well-definedness they depend on the order in
    /// which parameters were tried, and a state that was kept as it is may be one of several of its orbit.
    fn counts(&self) -> bool {
        self.finished && self.wd_errors == 0 && self.kept == 0
    }

    fn counted(&self) -> [(&'static str, u64); 8] {
        [
            ("states", self.states),
            ("transitions", self.transitions),
            ("constants", self.constants),
            ("initialisations", self.initialisations),
            ("deadlocks", self.deadlocks),
            ("violations", self.violations),
            ("assertion failures", self.assertion_failures),
            ("goals", self.goals),
        ]
    }

    /// The verdict in a word or two.
    #[must_use]
    pub fn word(&self) -> String {
        match (self.verdict, self.found) {
            (Decision::Fails, Some(kind)) => format!("fails: {kind}"),
            (Decision::Unknown, _) if self.finished && !self.strategy.is_exact() => "nothing found".into(),
            (word, _) => word.name().into(),
        }
    }
}

/// What the runs say together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Agreement {
    /// What they agree about, as a sentence.
    Agree(String),
    /// A mistake of ours.
    Differ(Vec<String>),
    /// Too little is known.
    Open(String),
}

/// The runs of all strategies on one machine.
pub struct Compared {
    /// Its name.
    pub machine: String,
    /// Permuted sets with their sizes.
    pub permuted: Vec<Permuted>,
    /// Sets that are not permuted, or only in part, with the reason.
    pub fixed: Vec<Fixed>,
    /// Sizes of sets and bounds of integers, as JSON.
    pub scope: Value,
    /// In the order in which they were made.
    pub runs: Vec<Ran>,
}

impl Compared {
    /// No run yet.
    #[must_use]
    pub fn new(project: &Project) -> Compared {
        let model = &project.opened.model;
        Compared {
            machine: model.name.to_string(),
            permuted: vec![],
            fixed: vec![],
            scope: export::scope(model, &project.opened.scope),
            runs: vec![],
        }
    }

    /// Takes in a run.
    pub fn add(&mut self, project: &Project, strategy: Strategy, c: &Checked, stopped: bool) {
        if let Some(r) = &c.reduction {
            self.permuted = r.group.permuted_sets(&project.opened.model);
            self.fixed = r.group.fixed_sets(&project.opened.model);
        }
        self.runs.push(Ran::new(strategy, c, stopped));
    }

    fn run(&self, strategy: Strategy) -> Option<&Ran> {
        self.runs.iter().find(|r| r.strategy == strategy)
    }

    /// What times are compared with: the unreduced run, or the slowest that finished.
    #[must_use]
    pub fn baseline(&self) -> Option<&Ran> {
        let off = self.run(Strategy::Off).filter(|r| r.finished);
        let finished = self.runs.iter().filter(|r| r.finished);
        off.or_else(|| finished.max_by(|a, b| a.seconds.total_cmp(&b.seconds)))
    }

    /// How many times as fast as the baseline; only for runs that finished.
    #[must_use]
    pub fn speedup(&self, run: &Ran) -> Option<f64> {
        let base = self.baseline().filter(|_| run.finished)?;
        Some(base.seconds / run.seconds.max(1e-9))
    }

    /// What the runs say together.
    #[must_use]
    pub fn agreement(&self) -> Agreement {
        let differences = self.differences();
        if !differences.is_empty() {
            return Agreement::Differ(differences);
        }
        let exact = || self.runs.iter().filter(|r| r.strategy.is_exact());
        let known: Vec<&Ran> = exact().filter(|r| r.verdict != Decision::Unknown).collect();
        let counted: Vec<&Ran> = exact().filter(|r| r.counts()).collect();
        if known.len() < 2 {
            let mut why = match known.first() {
                Some(only) => format!("only {} has a verdict", only.strategy),
                None => "no exact strategy has a verdict".into(),
            };
            if counted.len() > 1 {
                let _ = write!(why, "; the counts of {} agree", names(&counted));
            }
            return Agreement::Open(why);
        }
        let mut what = format!("{} agree: {}", names(&known), known[0].verdict.name());
        if let Some(reduced) = counted.iter().find(|r| r.reduces) {
            let _ = write!(what, ", {}", plural(reduced.states, "orbit"));
        } else if let [one, _, ..] = &counted[..] {
            let _ = write!(what, ", {}", plural(one.states, "state"));
        }
        if let (Some(flooded), Some(off)) = (self.flooded(), self.run(Strategy::Off).filter(|r| r.counts())) {
            let _ = write!(
                what,
                "; flooded states are those of off ({} = {})",
                grouped(flooded),
                grouped(off.states)
            );
        }
        Agreement::Agree(what)
    }

    fn flooded(&self) -> Option<u64> {
        self.run(Strategy::Flood).filter(|r| r.counts()).and_then(|r| r.flooded)
    }

    fn differences(&self) -> Vec<String> {
        let mut all = vec![];
        let with = |word| self.runs.iter().filter(move |r| r.verdict == word);
        // A counterexample was replayed, so this is so for approximate strategies too.
        let (holds, fails): (Vec<&Ran>, Vec<&Ran>) =
            (with(Decision::Holds).collect(), with(Decision::Fails).collect());
        if !holds.is_empty() && !fails.is_empty() {
            all.push(format!("verdict: holds with {}, fails with {}", names(&holds), names(&fails)));
        }
        let counted = || self.runs.iter().filter(|r| r.strategy.is_exact() && r.counts());
        for reduces in [false, true] {
            let alike: Vec<&Ran> = counted().filter(|r| r.reduces == reduces).collect();
            let Some((first, rest)) = alike.split_first() else { continue };
            for (i, (what, n)) in first.counted().into_iter().enumerate() {
                for r in rest.iter().filter(|r| r.counted()[i].1 != n) {
                    all.push(format!(
                        "{what}: {n} with {}, {} with {}",
                        first.strategy,
                        r.counted()[i].1,
                        r.strategy
                    ));
                }
            }
        }
        let states = |reduces| counted().find(|r| r.reduces == reduces).map(|r| (r.strategy, r.states));
        let (whole, orbits) = (states(false), states(true));
        let mut at_most = |less: Option<(Strategy, u64)>, more: Option<(Strategy, u64)>| {
            if let (Some((s, n)), Some((t, m))) = (less, more)
                && n > m
            {
                all.push(format!("states: {n} with {s}, more than the {m} with {t}"));
            }
        };
        at_most(orbits, whole);
        for r in &self.runs {
            let this = Some((r.strategy, r.states));
            if !r.strategy.is_exact() && r.finished {
                at_most(this, orbits.or(whole));
            } else if r.finished && r.kept > 0 {
                at_most(orbits, this);
                at_most(this, whole);
            }
        }
        if let (Some(flooded), Some((_, n))) = (self.flooded(), whole)
            && flooded != n
        {
            all.push(format!("flooded states: {flooded}, but there are {n} without reduction"));
        }
        all
    }
}

/// `off`, `off and canon`, `off, canon and auto`
fn names(runs: &[&Ran]) -> String {
    match runs {
        [] => String::new(),
        [one] => one.strategy.to_string(),
        [some @ .., last] => {
            let some: Vec<&str> = some.iter().map(|r| r.strategy.name()).collect();
            format!("{} and {}", some.join(", "), last.strategy)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ran(strategy: Strategy, states: u64, verdict: Decision) -> Ran {
        Ran {
            strategy,
            verdict,
            found: None,
            reason: None,
            finished: true,
            states,
            transitions: 2 * states,
            constants: 0,
            initialisations: 1,
            deadlocks: 0,
            violations: 0,
            assertion_failures: 0,
            goals: 0,
            wd_errors: 0,
            flooded: (strategy == Strategy::Flood).then_some(54),
            reduces: strategy != Strategy::Off,
            kept: 0,
            seconds: 0.5,
            bytes: 0,
        }
    }

    fn runs() -> Compared {
        let all = Strategy::ALL.into_iter().map(|s| match s {
            Strategy::Off => ran(s, 54, Decision::Holds),
            Strategy::Markers => ran(s, 15, Decision::Unknown),
            s => ran(s, 16, Decision::Holds),
        });
        Compared {
            machine: "m".into(),
            permuted: vec![],
            fixed: vec![],
            scope: Value::Null,
            runs: all.collect(),
        }
    }

    #[test]
    fn runs_that_agree() {
        let Agreement::Agree(what) = runs().agreement() else { panic!("they agree") };
        let expected = "off, flood, canon, nauty and auto agree: holds, 16 orbits; \
                        flooded states are those of off (54 = 54)";
        assert_eq!(what, expected);
    }

    #[test]
    fn every_difference_is_found() {
        type Change = fn(&mut Compared);
        let rows: [(Change, &str); 8] = [
            (|c| c.runs[3].states = 17, "states: 16 with flood, 17 with canon"),
            (|c| c.runs[4].transitions = 33, "transitions: 32 with flood, 33 with nauty"),
            (
                |c| c.runs[5].verdict = Decision::Fails,
                "verdict: holds with off, flood, canon and nauty, fails with auto",
            ),
            (
                |c| c.runs[2].verdict = Decision::Fails,
                "verdict: holds with off, flood, canon, nauty and auto, fails with markers",
            ),
            (|c| c.runs[1].flooded = Some(53), "flooded states: 53, but there are 54 without reduction"),
            (|c| c.runs[2].states = 17, "states: 17 with markers, more than the 16 with flood"),
            (|c| c.runs[0].states = 10, "states: 16 with flood, more than the 10 with off"),
            (|c| c.runs[3].deadlocks = 1, "deadlocks: 0 with flood, 1 with canon"),
        ];
        for (change, message) in rows {
            let mut c = runs();
            change(&mut c);
            match c.agreement() {
                Agreement::Differ(all) => assert!(all.iter().any(|d| d == message), "{message}: {all:?}"),
                other => panic!("{message}: {other:?}"),
            }
        }
    }

    #[test]
    fn what_did_not_finish_is_not_compared() {
        let mut c = runs();
        for r in &mut c.runs {
            if matches!(r.strategy, Strategy::Off | Strategy::Flood) {
                (r.finished, r.verdict, r.states) = (false, Decision::Unknown, 7);
            }
        }
        c.runs[4].seconds = 2.0;
        assert_eq!(c.agreement(), Agreement::Agree("canon, nauty and auto agree: holds, 16 orbits".into()));
        assert_eq!(c.baseline().map(|r| r.strategy), Some(Strategy::Nauty));
        assert_eq!((c.speedup(&c.runs[5]), c.speedup(&c.runs[0])), (Some(4.0), None));
        for r in &mut c.runs {
            (r.finished, r.verdict) = (false, Decision::Unknown);
        }
        assert_eq!(c.agreement(), Agreement::Open("no exact strategy has a verdict".into()));
    }

    #[test]
    fn a_kept_state_may_cost_states_but_not_more_than_there_are() {
        let mut c = runs();
        (c.runs[4].kept, c.runs[4].states) = (3, 19);
        assert!(matches!(c.agreement(), Agreement::Agree(_)));
        c.runs[4].states = 55;
        assert_eq!(
            c.agreement(),
            Agreement::Differ(vec!["states: 55 with nauty, more than the 54 with off".into()])
        );
    }
}
