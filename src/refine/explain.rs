//! Why a step is not followed: it is taken once more, and every abstract step is told what is wrong with it.

use super::follow::{Follower, Outcome, Outcomes};
use super::joint::Way;
use super::product::Product;
use crate::model::VarId;
use crate::model::tower::Promise;
use crate::system::{Fault, Label, Res, Stop, System};

/// A promise that a step does not keep.
#[derive(Clone, Debug)]
pub struct Stuck {
    /// The refinement whose promise it is, by its place in the levels.
    pub level: usize,
    /// Rodin's name for the kind of promise, where it has one.
    pub obligation: &'static str,
    /// The promise, of a language that has names for them.
    pub promise: Option<Promise>,
    /// The conjunct of the invariant that is false in all candidates, if it is one; assertions are behind the invariant.
    pub claim: Option<usize>,
    /// The states of all levels before the step.
    pub before: Vec<Vec<u64>>,
    /// What the level above could do, and why that does not match.
    pub candidates: Vec<Candidate>,
    /// The level above has no step at all with these parameters.
    pub has_no_step: bool,
}

/// An abstract step that does not match.
#[derive(Clone, Debug)]
pub struct Candidate {
    /// A row of the machine: the step is done at the level below and at this one.
    pub row: Vec<u64>,
    /// What is wrong with it.
    pub reason: Reason,
}

/// Why an abstract step does not match.
#[derive(Clone, Debug)]
pub enum Reason {
    /// Its results differ: the label of the abstract step, as one of the machine.
    Results(Label),
    /// A variable that both levels have gets another value.
    Shared(VarId, u64),
    /// A conjunct of an invariant is false.
    Claim(usize),
    /// A promise cannot be kept.
    Promise(Promise),
}

/// Candidates that are told at most.
const MOST: usize = 20;

/// Explains a step to a state that is stuck. `source` is none for INITIALISATION.
///
/// # Errors
/// What could not be computed; a step that is followed after all is a mistake of ours.
pub fn explain(
    product: &Product,
    source: Option<&[u64]>,
    label: Option<&Label>,
    target: &[u64],
) -> Res<Stuck> {
    let mut worker = product.worker(&Stop::default());
    let blank = product.blank(&mut worker.inner, product.start_of(target))?;
    let members = source.map_or_else(|| vec![blank.clone()], |row| product.members(row));
    let concrete = source.map_or_else(|| blank.clone(), |row| product.concrete(row, &blank));
    let reached = product.concrete(target, &blank);
    let at = label.and_then(|l| l.first()).map_or(0, |op| *op as usize + 1);
    let args: Label = label.map_or_else(Label::new, |l| l.iter().skip(1).copied().collect());
    if at >= product.joint.moves.len() {
        return Ok(Stuck::new(0, "DLF", members));
    }
    let follower = Follower::new(&product.joint, &mut worker.inner, at, &concrete, &members);
    let step = Outcome { args, target: reached };
    let found = match product.joint.way {
        Way::Pairs => pairs(follower, &step)?,
        Way::Sets => sets(follower, &step)?,
        Way::Traces(level) => traces(follower, &step, level),
    };
    found.ok_or_else(|| Fault::limit("a step that was not followed is followed when it is explained"))
}

impl Stuck {
    fn new(level: usize, obligation: &'static str, before: Vec<Vec<u64>>) -> Stuck {
        Stuck {
            level,
            obligation,
            promise: None,
            claim: None,
            before,
            candidates: vec![],
            has_no_step: false,
        }
    }
}

fn pairs(mut f: Follower, step: &Outcome) -> Res<Option<Stuck>> {
    let before = f.members.to_vec();
    let is_start = f.is_start();
    let alone = f.outcomes(f.source, f.compiled().alone);
    let reached =
        alone.found.iter().find(|o| o.args == step.args && f.agrees(&o.target, &step.target)).cloned();
    let all = f.joint.levels.len();
    if f.compiled().is_environment {
        let broken = f.broken(&step.target, 0..=all)?;
        return match broken {
            Some(claim) => Ok(Some(f.claim(claim, before))),
            None => f.theorem(std::slice::from_ref(&step.target), before),
        };
    }
    let above = f.above();
    let params = f.params();
    let Some(reached) = reached else {
        // Some level does nothing where the one above it does something.
        let mut below = &alone;
        for (i, outcomes) in above.iter().enumerate() {
            let Some(outcomes) = outcomes else { break };
            let calls = |o: &Outcomes| o.found.iter().any(|o| o.args[..params] == step.args[..params]);
            if !calls(below) && calls(outcomes) {
                return Ok(Some(Stuck::new(i, "ENA", before)));
            }
            below = outcomes;
        }
        return Ok(None);
    };
    let mut begun = vec![f.begin(&reached)];
    if let Some(claim) = f.broken(&begun[0], 0..=0)? {
        return Ok(Some(f.claim(claim, before)));
    }
    let still = Outcome { args: reached.args.clone(), target: f.source.to_vec() };
    for (i, outcomes) in above.iter().enumerate() {
        let level = i + 1;
        let candidates = outcomes.as_ref().map_or(std::slice::from_ref(&still), |o| &o.found[..]);
        let mut further = vec![];
        for row in &begun {
            let mut told = vec![];
            let mut matches = false;
            let steps = candidates.iter().filter(|o| o.args[..params] == reached.args[..params]);
            let mut has_no_step = true;
            for o in steps {
                has_no_step = false;
                let joined = f.joined(row, level, &o.target);
                let shown = joined.clone().unwrap_or_else(|| o.target.clone());
                let reason = if o.args != reached.args {
                    Reason::Results(labelled(f.compiled().above[i], &o.args))
                } else if let Some(joined) = joined {
                    match f.broken(&joined, level..=level)? {
                        None => {
                            matches = true;
                            further.push(joined);
                            continue;
                        }
                        Some(claim) => Reason::Claim(claim),
                    }
                } else {
                    f.shared(row, level, &o.target)
                };
                if told.len() < MOST {
                    told.push(Candidate { row: shown, reason });
                }
            }
            if !matches {
                let obligation = match (is_start, outcomes) {
                    (true, _) => "INI",
                    (false, None) => "EQL",
                    (false, Some(_)) => "SIM",
                };
                let mut stuck = Stuck::new(i, obligation, before);
                stuck.claim = same_claim(&told);
                if outcomes.is_none() && stuck.claim.is_some() {
                    stuck.obligation = "INV";
                }
                (stuck.candidates, stuck.has_no_step) = (told, has_no_step);
                return Ok(Some(stuck));
            }
        }
        begun = further;
    }
    f.theorem(&begun, before)
}

fn labelled(event: Option<usize>, args: &Label) -> Label {
    event.map(|e| e as u64).into_iter().chain(args.iter().copied()).collect()
}

/// The conjunct that all candidates break, if it is one.
fn same_claim(all: &[Candidate]) -> Option<usize> {
    let claim = |c: &Candidate| match c.reason {
        Reason::Claim(i) => Some(i),
        _ => None,
    };
    let first = claim(all.first()?)?;
    all.iter().all(|c| claim(c) == Some(first)).then_some(first)
}

impl Follower<'_> {
    fn is_start(&self) -> bool {
        std::ptr::eq(self.compiled(), &raw const self.joint.moves[0])
    }

    /// A conjunct of the invariant is false.
    fn claim(&self, claim: usize, before: Vec<Vec<u64>>) -> Stuck {
        let mut stuck = Stuck::new(self.joint.claims[claim].level, "INV", before);
        stuck.claim = Some(claim);
        stuck
    }

    /// An assertion is false in a state in which the invariants hold.
    fn theorem(&mut self, rows: &[Vec<u64>], before: Vec<Vec<u64>>) -> Res<Option<Stuck>> {
        let found = self.refuted(rows)?;
        Ok(found.map(|(at, i)| {
            let mut stuck = Stuck::new(self.joint.theorems[i].level, "THM", before);
            let claim = self.joint.claims.len() + i;
            stuck.claim = Some(claim);
            stuck.candidates = vec![Candidate { row: rows[at].clone(), reason: Reason::Claim(claim) }];
            stuck
        }))
    }

    /// The first variable about which two levels disagree.
    fn shared(&self, row: &[u64], level: usize, outcome: &[u64]) -> Reason {
        let levels = &self.joint.levels;
        let differs = |v: &&VarId| {
            let at = self.joint.place(**v);
            levels[..level].iter().any(|l| l.variables.contains(v)) && row[at] != outcome[at]
        };
        // There is one, or they would have been joined.
        let v = levels[level].variables.iter().find(differs).copied().unwrap_or(VarId(0));
        Reason::Shared(v, outcome[self.joint.place(v)])
    }
}

fn sets(mut f: Follower, step: &Outcome) -> Res<Option<Stuck>> {
    let before = f.members.to_vec();
    let members = f.members;
    let last = f.joint.levels.len();
    let whole = f.compiled().above.first().copied().flatten();
    let mut told = vec![];
    for m in members {
        let outcomes = whole.map(|e| f.outcomes(m, e)).unwrap_or_default();
        for o in outcomes.found.iter().filter(|o| o.args == step.args) {
            if f.agrees(&o.target, &step.target)
                && let Some(claim) = f.broken(&o.target, 0..=last)?
            {
                told.push(Candidate { row: o.target.clone(), reason: Reason::Claim(claim) });
            }
        }
    }
    if let Some(first) = told.first() {
        let Reason::Claim(claim) = first.reason else { return Ok(None) };
        let claim = same_claim(&told).unwrap_or(claim);
        let mut stuck = f.claim(claim, before);
        told.truncate(MOST);
        stuck.candidates = told;
        return Ok(Some(stuck));
    }
    // How far each member comes on each way: the first thing that cannot be demanded any more.
    let mut furthest: Option<(usize, Promise)> = None;
    for m in members {
        let mut here: Option<(usize, Promise)> = None;
        for way in &f.compiled().stages {
            for (i, (event, promise)) in way.iter().enumerate() {
                let outcomes = f.outcomes(m, *event);
                let goes = |o: &Outcome| o.args == step.args && f.agrees(&o.target, &step.target);
                if !outcomes.found.iter().any(goes) {
                    if here.as_ref().is_none_or(|(best, _)| i > *best) {
                        here = Some((i, promise.clone()));
                    }
                    break;
                }
            }
        }
        if let Some((i, promise)) = here {
            if told.len() < MOST {
                told.push(Candidate { row: m.clone(), reason: Reason::Promise(promise.clone()) });
            }
            if furthest.as_ref().is_none_or(|(best, _)| i > *best) {
                furthest = Some((i, promise));
            }
        }
    }
    let mut stuck = Stuck::new(0, "SIM", before);
    if let Some((_, promise)) = furthest {
        stuck.level = f.joint.levels.iter().position(|l| l.name == promise.level).unwrap_or(0);
        stuck.obligation = promise.kind;
        stuck.promise = Some(promise);
    }
    stuck.candidates = told;
    Ok(Some(stuck))
}

fn traces(mut f: Follower, step: &Outcome, level: usize) -> Option<Stuck> {
    let compiled = f.compiled();
    let event = match compiled.is_environment {
        true => Some(compiled.alone),
        false => compiled.above.get(level - 1).copied().flatten(),
    };
    let params = f.params();
    let mut stuck = Stuck::new(level - 1, "TRACE", f.members.to_vec());
    let members = f.members;
    stuck.has_no_step = true;
    for m in members {
        let outcomes = event.map(|e| f.outcomes(m, e)).unwrap_or_default();
        for o in outcomes.found.into_iter().filter(|o| o.args[..params] == step.args[..params]) {
            stuck.has_no_step = false;
            if stuck.candidates.len() < MOST {
                let reason = Reason::Results(labelled(event, &o.args));
                stuck.candidates.push(Candidate { row: o.target, reason });
            }
        }
    }
    Some(stuck)
}

/// The event of a move in which a fault arises in a state, and the row in which it does.
pub fn faulty(
    product: &Product,
    source: Option<&[u64]>,
    start: usize,
    operation: Option<usize>,
    fault: &Fault,
) -> Option<(usize, Vec<u64>)> {
    let mut worker = product.worker(&Stop::default());
    let blank = product.blank(&mut worker.inner, start).ok()?;
    let members = source.map_or_else(|| vec![blank.clone()], |row| product.members(row));
    let concrete = source.map_or_else(|| blank.clone(), |row| product.concrete(row, &blank));
    let at = operation.map_or(0, |op| op + 1);
    let compiled = product.joint.moves.get(at)?;
    let (alone, above) = (compiled.alone, compiled.above.clone());
    let mut f = Follower::new(&product.joint, &mut worker.inner, at, &concrete, &members);
    let has = |o: &Outcomes| o.faults.iter().any(|f| f == fault);
    if has(&f.outcomes(&concrete, alone)) {
        return Some((alone, concrete));
    }
    for m in &members {
        for e in above.iter().flatten() {
            if has(&f.outcomes(m, *e)) {
                return Some((*e, m.clone()));
            }
        }
    }
    None
}
