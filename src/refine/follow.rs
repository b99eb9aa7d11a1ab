//! One move from one state: the steps of the concrete machine, and what the levels above do at the same time.

use super::Mistake;
use super::joint::{Compiled, Joint, Way};
use crate::lang::diag::Span;
use crate::system::{Fault, Label, Machine, Res, System, Transition, Visitor};
use crate::value::fault::NOWHERE;
use foldhash::fast::FixedState;
use std::collections::HashSet;
use std::ops::ControlFlow;

/// What comes of a step of the concrete machine.
pub(super) enum Next {
    /// The levels above follow it into these rows.
    Followed {
        args: Label,
        concrete: Vec<u64>,
        members: Vec<Vec<u64>>,
    },
    /// They do not. `concrete` has the new values of the concrete variables, and old ones otherwise.
    Stuck {
        args: Label,
        concrete: Vec<u64>,
    },
    Fault(Box<Fault>),
}

impl Next {
    fn fault(fault: Fault) -> Next {
        Next::Fault(Box::new(fault))
    }
}

/// One outcome of an event.
#[derive(Clone, Debug)]
pub(super) struct Outcome {
    /// Parameters, then results.
    pub args: Label,
    pub target: Vec<u64>,
}

/// All outcomes of an event in a row.
#[derive(Default)]
pub(super) struct Outcomes {
    pub found: Vec<Outcome>,
    pub faults: Vec<Fault>,
    /// Where the enumeration was cut short.
    pub cut: Option<Span>,
}

impl Outcomes {
    /// Whether some outcome may be missing.
    fn is_open(&self) -> Option<Span> {
        let limit = self.faults.iter().find(|f| matches!(f, Fault::Limit(..)));
        self.cut.or(limit.map(|f| f.span()))
    }
}

struct Gather<'m> {
    machine: &'m Machine,
    out: Outcomes,
}

impl Visitor<<Machine as System>::Here> for Gather<'_> {
    fn transition(&mut self, t: Transition<<Machine as System>::Here>) -> ControlFlow<()> {
        let label = self.machine.label(t.operation, t.here);
        let args = label.iter().skip(1).copied().collect();
        self.out.found.push(Outcome { args, target: t.target.to_vec() });
        ControlFlow::Continue(())
    }

    fn fault(&mut self, _: usize, fault: Box<Fault>) -> ControlFlow<()> {
        self.out.faults.push(*fault);
        ControlFlow::Continue(())
    }
}

/// Rows in which the invariants of all levels are known to hold: most steps lead to where others have led.
#[derive(Default)]
pub(super) struct Known {
    rows: HashSet<Box<[u64]>, FixedState>,
}

impl Known {
    /// More rows than this are forgotten.
    const MAX: usize = 1 << 16;

    fn has(&self, row: &[u64]) -> bool {
        self.rows.contains(row)
    }

    fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    fn add(&mut self, row: &[u64]) {
        if self.rows.len() >= Known::MAX {
            self.rows.clear();
        }
        self.rows.insert(row.into());
    }
}

/// A move from a state.
pub(super) struct Follower<'a> {
    pub joint: &'a Joint,
    pub worker: &'a mut <Machine as System>::Worker,
    at: usize,
    pub source: &'a [u64],
    pub members: &'a [Vec<u64>],
    pub cut: Option<Span>,
    /// Some abstract state may be missing.
    pub is_open: bool,
    /// The concrete machine has a step.
    pub has_moved: bool,
    /// What need not be evaluated again.
    pub known: Option<&'a mut Known>,
}

impl<'a> Follower<'a> {
    pub fn new(
        joint: &'a Joint,
        worker: &'a mut <Machine as System>::Worker,
        at: usize,
        source: &'a [u64],
        members: &'a [Vec<u64>],
    ) -> Follower<'a> {
        let (cut, is_open, has_moved, known) = (None, false, false, None);
        Follower { joint, worker, at, source, members, cut, is_open, has_moved, known }
    }

    pub fn compiled(&self) -> &'a Compiled {
        &self.joint.moves[self.at]
    }

    pub fn outcomes(&mut self, row: &[u64], event: usize) -> Outcomes {
        let machine = &*self.joint.machine;
        let mut gather = Gather { machine, out: Outcomes::default() };
        // Nobody breaks the visit.
        let _ = machine.visit_events(self.worker, row, event..event + 1, &mut gather);
        let mut out = gather.out;
        out.cut = machine.cut(self.worker);
        if self.joint.planted.is_some() {
            self.err(event, &mut out);
        }
        self.cut = self.cut.or(out.cut);
        out
    }

    /// What a planted mistake makes of outcomes.
    fn err(&self, event: usize, out: &mut Outcomes) {
        let is_below = event == self.compiled().alone;
        if self.joint.errs(if is_below { Mistake::FaultsBelow } else { Mistake::FaultsAbove }) {
            out.faults.clear();
        }
        if self.joint.errs(Mistake::Cut) {
            out.cut = None;
            out.faults.retain(|f| !matches!(f, Fault::Limit(..)));
        }
    }

    /// Every step of the move.
    pub fn next(&mut self) -> Vec<Next> {
        let alone = self.outcomes(self.source, self.compiled().alone);
        // A step that was cut off counts as one, and then the answer is open anyway.
        self.has_moved = !alone.found.is_empty() || !alone.faults.is_empty() || alone.cut.is_some();
        match self.joint.way {
            Way::Pairs if self.compiled().is_environment => self.by_others(alone),
            Way::Pairs => self.pairs(alone),
            Way::Sets => self.sets(alone),
            Way::Traces(level) => self.traces(alone, level),
        }
    }

    /// Whether a conjunct of the invariant that is known at a level is false in a row, and which.
    pub fn broken(&mut self, row: &[u64], levels: std::ops::RangeInclusive<usize>) -> Res<Option<usize>> {
        let is_own = levels == (0..=0);
        if self.joint.errs(if is_own { Mistake::OwnInvariant } else { Mistake::Glue }) {
            return Ok(None);
        }
        let machine = &*self.joint.machine;
        let env = machine.load(self.worker, row);
        let mut fault = None;
        for (i, claim) in self.joint.claims.iter().enumerate() {
            if levels.contains(&claim.known) {
                match machine.holds(i, env) {
                    Ok(true) => {}
                    Ok(false) => return Ok(Some(i)),
                    Err(e) => Fault::gather(&mut fault, e),
                }
            }
        }
        fault.map_or(Ok(None), Err)
    }

    /// The assertion that is false in some of these rows, in which the invariants hold, and the row.
    pub fn refuted(&mut self, rows: &[Vec<u64>]) -> Res<Option<(usize, usize)>> {
        if self.joint.errs(Mistake::Theorems) {
            return Ok(None);
        }
        let machine = &*self.joint.machine;
        let first = self.joint.claims.len();
        let mut fault = None;
        for (at, row) in rows.iter().enumerate() {
            let env = machine.load(self.worker, row);
            for i in 0..self.joint.theorems.len() {
                match machine.holds(first + i, env) {
                    Ok(true) => {}
                    Ok(false) => return Ok(Some((at, i))),
                    Err(e) => Fault::gather(&mut fault, e),
                }
            }
        }
        fault.map_or(Ok(None), Err)
    }

    /// A step that is followed, unless an assertion is false after it.
    fn followed(&mut self, args: Label, members: Vec<Vec<u64>>) -> Next {
        match self.refuted(&members) {
            Ok(None) => {
                let concrete = members.first().cloned().unwrap_or_default();
                Next::Followed { args, concrete, members }
            }
            Ok(Some((at, _))) => Next::Stuck { args, concrete: members[at].clone() },
            Err(fault) => Next::Fault(fault),
        }
    }

    fn by_others(&mut self, alone: Outcomes) -> Vec<Next> {
        let mut next: Vec<Next> = alone.faults.into_iter().map(Next::fault).collect();
        let all = 0..=self.joint.levels.len();
        for Outcome { args, target } in alone.found {
            if self.joint.errs(Mistake::Environment) {
                next.push(Next::Followed { args, concrete: target.clone(), members: vec![target] });
                continue;
            }
            next.push(match self.broken(&target, all.clone()) {
                Ok(None) => self.followed(args, vec![target]),
                Ok(Some(_)) => Next::Stuck { args, concrete: target },
                Err(fault) => Next::Fault(fault),
            });
        }
        next
    }

    /// What the levels above do from the one row, by level; nothing where a level has no such operation.
    pub fn above(&mut self) -> Vec<Option<Outcomes>> {
        let events = &self.compiled().above;
        events.iter().map(|e| e.map(|e| self.outcomes(self.source, e))).collect()
    }

    fn pairs(&mut self, alone: Outcomes) -> Vec<Next> {
        let mut next = vec![];
        let above = self.above();
        let open = above.iter().flatten().find_map(Outcomes::is_open);
        next.extend(self.blocked(&alone, &above));
        next.extend(alone.faults.iter().cloned().map(Next::fault));
        next.extend(above.iter().flatten().flat_map(|o| o.faults.iter().cloned()).map(Next::fault));
        for c in &alone.found {
            let mut begun = vec![self.begin(c)];
            match self.broken(&begun[0], 0..=0) {
                Ok(None) => {}
                Ok(Some(_)) => {
                    next.push(Next::Stuck { args: c.args.clone(), concrete: begun.swap_remove(0) });
                    continue;
                }
                Err(fault) => {
                    next.push(Next::Fault(fault));
                    continue;
                }
            }
            let mut stuck = None;
            'levels: for (i, outcomes) in above.iter().enumerate() {
                let mut further = vec![];
                for row in begun {
                    match self.matches(&row, c, i + 1, outcomes.as_ref()) {
                        Ok(found) if found.is_empty() => {
                            stuck = Some(Ok(row));
                            break 'levels;
                        }
                        Ok(found) => further.extend(found),
                        Err(fault) => {
                            stuck = Some(Err(fault));
                            break 'levels;
                        }
                    }
                }
                further.sort_unstable();
                further.dedup();
                if self.joint.errs(Mistake::Others) {
                    further.truncate(1);
                }
                begun = further;
                if i + 1 == above.len() || self.joint.errs(Mistake::HigherLevels) {
                    let followed = self.followed(c.args.clone(), begun);
                    next.push(followed);
                    break;
                }
            }
            match stuck {
                None => {}
                Some(Err(fault)) => next.push(Next::Fault(fault)),
                Some(Ok(concrete)) => next.push(unless_open(open, c.args.clone(), concrete)),
            }
        }
        next
    }

    /// The row in which the concrete variables are new and the others are not.
    pub fn begin(&self, c: &Outcome) -> Vec<u64> {
        let mut row = self.source.to_vec();
        for v in &self.joint.levels[0].variables {
            let at = self.joint.place(*v);
            row[at] = c.target[at];
        }
        row
    }

    /// A row in which everything below `level` is new, with what `outcome` does at that level; `None` if the two
    /// disagree about a variable that they share.
    pub fn joined(&self, row: &[u64], level: usize, outcome: &[u64]) -> Option<Vec<u64>> {
        let mut joined = row.to_vec();
        for v in &self.joint.levels[level].variables {
            let at = self.joint.place(*v);
            let is_known = self.joint.levels[..level].iter().any(|l| l.variables.contains(v));
            if !is_known {
                joined[at] = outcome[at];
            } else if joined[at] != outcome[at] && !self.joint.errs(Mistake::Shared) {
                return None;
            }
        }
        Some(joined)
    }

    /// All ways in which a level follows.
    fn matches(
        &mut self,
        row: &[u64],
        c: &Outcome,
        level: usize,
        outcomes: Option<&Outcomes>,
    ) -> Res<Vec<Vec<u64>>> {
        let mut found = vec![];
        let mut fault = None;
        let stays = if self.joint.errs(Mistake::Still) { &c.target } else { self.source };
        let still = [Outcome { args: c.args.clone(), target: stays.to_vec() }];
        let candidates = outcomes.map_or(&still[..], |o| &o.found[..]);
        let compared = self.compared(c);
        for o in candidates.iter().filter(|o| o.args.get(..compared) == c.args.get(..compared)) {
            let Some(joined) = self.joined(row, level, &o.target) else { continue };
            match self.broken(&joined, level..=level) {
                Ok(None) => found.push(joined),
                Ok(Some(_)) => {}
                Err(e) => Fault::gather(&mut fault, e),
            }
        }
        match fault {
            Some(fault) if found.is_empty() => Err(fault),
            _ => Ok(found),
        }
    }

    /// How many parameters and results of a step have to be those of the step that follows it: all.
    fn compared(&self, c: &Outcome) -> usize {
        if self.joint.errs(Mistake::Results) { self.params() } else { c.args.len() }
    }

    /// Parameters with which an operation can be called, and its refinement does nothing.
    fn blocked(&mut self, alone: &Outcomes, above: &[Option<Outcomes>]) -> Vec<Next> {
        let params = self.params();
        let mut found = vec![];
        if self.joint.errs(Mistake::Blocked) {
            return found;
        }
        let mut below = Some(alone);
        for (i, level) in above.iter().enumerate() {
            if let (Some(below), Some(above)) = (below, level)
                && !self.compiled().is_guarded[i + 1]
                && below.faults.is_empty()
                && below.cut.is_none()
            {
                let can: HashSet<&[u64]> = below.found.iter().map(|o| &o.args[..params]).collect();
                let mut told = HashSet::new();
                for o in &above.found {
                    let call = &o.args[..params];
                    if !can.contains(call) && told.insert(call) {
                        let mut args = o.args.clone();
                        args[params..].fill(u64::MAX);
                        found.push(Next::Stuck { args, concrete: self.source.to_vec() });
                    }
                }
            }
            below = level.as_ref();
        }
        found
    }

    pub fn params(&self) -> usize {
        self.joint.machine.events[self.compiled().alone].params.len()
    }

    fn sets(&mut self, alone: Outcomes) -> Vec<Next> {
        let mut next: Vec<Next> = alone.faults.into_iter().map(Next::fault).collect();
        if alone.found.is_empty() {
            return next;
        }
        let Some(Some(whole)) = self.compiled().above.first().copied() else { return next };
        let members = self.members;
        let followed: Vec<Outcomes> = members.iter().map(|m| self.outcomes(m, whole)).collect();
        let open = followed.iter().find_map(Outcomes::is_open);
        self.is_open |= open.is_some();
        let limits = followed.iter().flat_map(|o| &o.faults).filter(|f| matches!(f, Fault::Limit(..)));
        next.extend(limits.cloned().map(Next::fault));
        let last = self.joint.levels.len();
        for c in alone.found {
            let (mut found, mut fault) = (vec![], None);
            for o in followed.iter().flat_map(|o| &o.found).filter(|o| o.args == c.args) {
                if !self.agrees(&o.target, &c.target) {
                    continue;
                }
                if self.is_known(&o.target) {
                    found.push(o.target.clone());
                    continue;
                }
                match self.broken(&o.target, 0..=last) {
                    Ok(None) => {
                        if let Some(known) = &mut self.known {
                            known.add(&o.target);
                        }
                        found.push(o.target.clone());
                    }
                    Ok(Some(_)) => {}
                    Err(e) => Fault::gather(&mut fault, e),
                }
            }
            let faults = followed.iter().flat_map(|o| &o.faults);
            faults.cloned().for_each(|f| Fault::gather(&mut fault, Box::new(f)));
            if self.joint.errs(Mistake::Others) {
                found.truncate(1);
            }
            let (args, concrete) = (c.args, c.target);
            next.push(match (found.is_empty(), fault) {
                (false, _) => Next::Followed { args, concrete, members: found },
                (true, Some(fault)) => Next::Fault(fault),
                (true, None) => unless_open(open, args, concrete),
            });
        }
        next
    }

    /// Whether the invariants are known to hold in a row.
    fn is_known(&self, row: &[u64]) -> bool {
        let Some(known) = &self.known else { return false };
        known.has(row) || (self.joint.errs(Mistake::Known) && !known.is_empty())
    }

    /// Whether two rows have the same concrete state.
    pub fn agrees(&self, a: &[u64], b: &[u64]) -> bool {
        if self.joint.errs(Mistake::Agreement) {
            return true;
        }
        self.joint.levels[0].variables.iter().all(|v| {
            let at = self.joint.place(*v);
            a[at] == b[at]
        })
    }

    fn traces(&mut self, alone: Outcomes, level: usize) -> Vec<Next> {
        let mut next: Vec<Next> = alone.faults.into_iter().map(Next::fault).collect();
        if alone.found.is_empty() {
            return next;
        }
        let compiled = self.compiled();
        let event = match compiled.is_environment {
            true => Some(compiled.alone),
            false => compiled.above.get(level - 1).copied().flatten(),
        };
        let members = self.members;
        let followed: Vec<Outcomes> = match event {
            Some(event) => members.iter().map(|m| self.outcomes(m, event)).collect(),
            None => vec![],
        };
        let open = followed.iter().find_map(Outcomes::is_open);
        self.is_open |= open.is_some();
        next.extend(followed.iter().flat_map(|o| o.faults.iter().cloned()).map(Next::fault));
        for c in alone.found {
            let compared = self.compared(&c);
            let steps = followed
                .iter()
                .flat_map(|o| &o.found)
                .filter(|o| o.args.get(..compared) == c.args.get(..compared));
            let mut found: Vec<Vec<u64>> = steps.map(|o| o.target.clone()).collect();
            if self.joint.errs(Mistake::Others) {
                found.truncate(1);
            }
            let (args, concrete) = (c.args, c.target);
            next.push(match found.is_empty() {
                false => Next::Followed { args, concrete, members: found },
                true => unless_open(open, args, concrete),
            });
        }
        next
    }

    /// Whether one of these events has a step from a member. One that could not be computed has none, and the answer is
    /// then open.
    pub fn has_step(&mut self, events: &[usize]) -> bool {
        let members = self.members;
        for m in members {
            for e in events {
                let outcomes = self.outcomes(m, *e);
                if !outcomes.found.is_empty() {
                    return true;
                }
                self.cut = self.cut.or(outcomes.is_open());
            }
        }
        false
    }
}

/// Nobody follows, unless what was cut off does.
fn unless_open(open: Option<Span>, args: Label, concrete: Vec<u64>) -> Next {
    match open {
        None => Next::Stuck { args, concrete },
        Some(at) => {
            let why = "whether a step is followed: not all abstract steps could be enumerated";
            Next::Fault(Fault::limit(why).at(if at == NOWHERE { Span::default() } else { at }))
        }
    }
}
