//! The proof obligations of a classical refinement: forward simulation, operation by operation and level by level, and
//! that the most abstract machine keeps its own invariant.
//!
//! Both operations become predicates ([`super::paths`]): for each way through the concrete one there has to be a way
//! through the abstract one with the same results and the same values of what both have, after which the two are glued
//! together. Where the abstract one leaves no choice, each conjunct is an obligation of its own.
//! Absent on purpose: loops of an operation that is refined; invariants that speak of a level further up than the next.

use super::paths::{Duty, Path, Walker, all_of, binary, exists, some_of};
use super::sequents::{Sequent, Sequents, Stated, Wanted};
use super::tower::{How, Tower};
use super::{BinOp, Expr, ExprKind, LocalId, OpId, StmtKind, Target, VarId};
use crate::lang::diag::Span;
use std::collections::BTreeSet;

/// The obligations of all levels.
pub fn sequents(tower: &mut Tower) -> Sequents {
    let levels = tower.levels.len();
    let mut found = Sequents { known: tower.model.properties.clone(), all: vec![] };
    let properties = found.known.len();
    for level in (0..levels).rev() {
        let own = tower.claims.iter().zip(&tower.model.invariant).filter(|(c, _)| c.level == level);
        found.known.extend(own.map(|(_, e)| e.clone()));
        let known = found.known.len();
        let pairs: Vec<Pair> = (0..tower.moves.len()).filter_map(|at| Pair::new(tower, level, at)).collect();
        for pair in pairs {
            let known = if pair.is_start { properties } else { known };
            let component = tower.levels[level].name.clone();
            let stated = pair.state(tower).unwrap_or_else(|why| {
                let kind = if pair.is_start { "INI" } else { "SIM" };
                vec![Named { kind, about: None, span: pair.span, stated: Err(why) }]
            });
            found.all.extend(stated.into_iter().map(|n| {
                let parts = [Some(pair.name.to_string()), n.about, Some(n.kind.to_string())];
                Sequent {
                    component: component.clone(),
                    name: parts.into_iter().flatten().collect::<Vec<_>>().join("/"),
                    kind: n.kind,
                    span: n.span,
                    known,
                    stated: n.stated,
                    discharged: None,
                }
            }));
        }
        let theorems = tower.theorems.iter().zip(&tower.model.assertions).filter(|(c, _)| c.level == level);
        let theorems: Vec<Expr> = theorems.map(|(_, e)| e.clone()).collect();
        for (i, goal) in theorems.into_iter().enumerate() {
            found.all.push(Sequent {
                component: tower.levels[level].name.clone(),
                name: format!("assertion{}/THM", i + 1),
                kind: "THM",
                span: goal.span,
                known,
                stated: Ok(Stated { locals: vec![], hypotheses: vec![], goal, wanted: Wanted::Both }),
                discharged: None,
            });
        }
    }
    found
}

/// An operation of a level, and the one that it refines.
struct Pair {
    name: std::sync::Arc<str>,
    level: usize,
    concrete: OpId,
    /// Of the level above; new if that has none.
    above: Option<OpId>,
    is_start: bool,
    /// The abstract operation may be enabled more often.
    is_guarded: bool,
    span: Span,
}

/// A conjunct of the invariant after the step: its number, its place, and what it is.
type Glued = (usize, Span, Expr);

struct Named {
    kind: &'static str,
    about: Option<String>,
    span: Span,
    stated: Result<Stated, String>,
}

impl Pair {
    fn new(tower: &Tower, level: usize, at: usize) -> Option<Pair> {
        let m = &tower.moves[at];
        let ops: Vec<Option<OpId>> = match &m.how {
            How::Levels(above) => std::iter::once(Some(m.alone)).chain(above.iter().copied()).collect(),
            How::Environment | How::Whole(..) => return None,
        };
        let concrete = ops.get(level).copied().flatten()?;
        let span = tower.model.operations[concrete.index()].span;
        Some(Pair {
            name: m.name.clone(),
            level,
            concrete,
            above: ops.get(level + 1).copied().flatten(),
            is_start: at == 0,
            is_guarded: m.is_guarded.get(level + 1).copied().unwrap_or(true),
            span,
        })
    }

    fn state(&self, tower: &mut Tower) -> Result<Vec<Named>, String> {
        let has_above = self.level + 1 < tower.levels.len();
        let own: BTreeSet<VarId> = tower.levels[self.level].variables.iter().copied().collect();
        let theirs: BTreeSet<VarId> = match has_above {
            true => tower.levels[self.level + 1].variables.iter().copied().collect(),
            false => BTreeSet::new(),
        };
        let claims: Vec<(usize, usize, Expr)> = tower
            .claims
            .iter()
            .zip(&tower.model.invariant)
            .filter(|(c, _)| c.level == self.level)
            .enumerate()
            .map(|(i, (c, e))| (i, c.known, e.clone()))
            .collect();
        let c = tower.model.operations[self.concrete.index()].clone();
        let a = self.above.map(|op| tower.model.operations[op.index()].clone());
        let mut walker = Walker::new(&mut tower.model);
        // Whoever calls it has cared for the preconditions above; outside of them nothing is promised.
        let (mut given, mut body) = (vec![], &c.body);
        if !self.is_start
            && let StmtKind::Pre(p, inner) = &c.body.kind
        {
            (given, body) = (vec![p.clone()], inner);
        }
        // All outcomes of the concrete one are looked at, so more than it has may be. Of the abstract one there has to be
        // one.
        walker.may_loop = true;
        let ways = walker.run(body, Path::default().without(&c.results))?;
        walker.may_loop = false;
        let duties = std::mem::take(&mut walker.duties);
        let above = match &a {
            None => vec![Path::default()],
            Some(a) => {
                let mut start = Path::default().without(&a.results);
                for (theirs, ours) in a.params.iter().zip(&c.params) {
                    let d = walker.model.local(*ours).clone();
                    let value = Expr { kind: ExprKind::Local(*ours), ty: d.ty, span: d.span };
                    start.values.insert(Target::Local(*theirs), value);
                }
                // Its preconditions are among those above.
                let mut body = &a.body;
                while let StmtKind::Pre(_, inner) = &body.kind {
                    body = inner;
                }
                walker.run(body, start)?
            }
        };
        let results: Vec<(LocalId, LocalId)> =
            a.iter().flat_map(|a| c.results.iter().copied().zip(a.results.iter().copied())).collect();
        let mut maker = Maker { given, params: &c.params, span: self.span, all: vec![] };
        for Duty { kind, locals, conditions, goal, is_defined } in duties {
            let wanted = if is_defined { Wanted::Defined } else { Wanted::Both };
            maker.add(kind, None, goal.span, (locals, conditions), goal, wanted);
        }
        for way in &ways {
            let changed = |v: &VarId| way.written.contains(&Target::Var(*v));
            let mut options = vec![];
            for other in &above {
                let theirs_changed = |v: &VarId| other.written.contains(&Target::Var(*v));
                let mut same = vec![];
                for v in own.intersection(&theirs).filter(|v| changed(v) || theirs_changed(v)) {
                    let target = Target::Var(*v);
                    let (Some(x), Some(y)) = (walker.value(way, target), walker.value(other, target)) else {
                        return Err("a variable may have no value".into());
                    };
                    same.push(binary(BinOp::Eq, x, y));
                }
                for (ours, theirs) in &results {
                    match (
                        walker.value(way, Target::Local(*ours)),
                        walker.value(other, Target::Local(*theirs)),
                    ) {
                        (Some(x), Some(y)) => same.push(binary(BinOp::Eq, x, y)),
                        (None, None) => {}
                        _ => return Err("a result may have no value".into()),
                    }
                }
                // After both: what the level has is as it says, and the rest as the level above says.
                let mut after = Path::default();
                for v in own.union(&theirs) {
                    let from = if own.contains(v) { way } else { other };
                    if let Some(value) = from.values.get(&Target::Var(*v)) {
                        after.values.insert(Target::Var(*v), value.clone());
                    }
                }
                let mut glue = vec![];
                for (i, known, e) in &claims {
                    let speaks =
                        after.values.keys().any(|t| matches!(t, Target::Var(v) if e.mentions_var(*v)));
                    if !speaks && !self.is_start {
                        continue;
                    }
                    if *known > self.level + 1 {
                        return Err("its invariant speaks of a level further up than the next".into());
                    }
                    glue.push((*i, e.span, walker.at(&after, e)?));
                }
                options.push((other, same, glue));
            }
            let under = || (way.locals.clone(), way.conditions.clone());
            let kind = match (&a, self.is_start, has_above) {
                (_, true, _) => "INI",
                (None, false, true) => "EQL",
                _ => "SIM",
            };
            match &options[..] {
                [(other, same, glue)] if other.locals.is_empty() && other.conditions.is_empty() => {
                    if has_above && !same.is_empty() {
                        let goal = all_of(same.clone(), self.span);
                        maker.add(kind, None, self.span, under(), goal, Wanted::Both);
                    }
                    for (i, span, goal) in glue {
                        let about = Some(format!("inv{}", i + 1));
                        maker.add("INV", about, *span, under(), goal.clone(), Wanted::Both);
                    }
                }
                _ => {
                    let one = |(other, same, glue): (&Path, Vec<Expr>, Vec<Glued>)| {
                        let mut parts = other.conditions.clone();
                        parts.extend(same);
                        parts.extend(glue.into_iter().map(|(.., e)| e));
                        exists(&other.locals, all_of(parts, self.span))
                    };
                    let goal = some_of(options.into_iter().map(one).collect(), self.span);
                    maker.add(kind, None, self.span, under(), goal, Wanted::Both);
                }
            }
        }
        let is_open = |p: &Path| !p.guards().is_empty() || !p.locals.is_empty();
        let is_asked = a.is_some() && !self.is_guarded && !self.is_start;
        if ways.iter().any(|w| w.loops > 0) {
            // That a loop ends is asked of it; after it more is possible than there is.
            if is_asked && walker.blocks(body) {
                let stated = Err("it has a loop, and may block".into());
                maker.all.push(Named { kind: "ENA", about: None, span: self.span, stated });
            }
        } else if is_asked && ways.iter().all(is_open) {
            let can = |ways: &[Path]| {
                let one = |p: &Path| exists(&p.locals, all_of(p.guards(), self.span));
                some_of(ways.iter().map(one).collect(), self.span)
            };
            let goal = can(&ways);
            // Whether conditions have a value is asked by itself.
            maker.add("ENA", None, self.span, (vec![], vec![can(&above)]), goal, Wanted::True);
        }
        Ok(maker.all)
    }
}

struct Maker<'a> {
    /// What may be taken for granted.
    given: Vec<Expr>,
    params: &'a [LocalId],
    span: Span,
    all: Vec<Named>,
}

impl Maker<'_> {
    fn add(
        &mut self,
        kind: &'static str,
        about: Option<String>,
        span: Span,
        (mut locals, conditions): (Vec<LocalId>, Vec<Expr>),
        goal: Expr,
        wanted: Wanted,
    ) {
        let mut hypotheses = self.given.clone();
        hypotheses.extend(conditions);
        locals.extend(self.params);
        let is_used = |l: &LocalId| hypotheses.iter().chain([&goal]).any(|e| e.mentions_local(*l));
        locals.retain(is_used);
        let span = if span == Span::default() { self.span } else { span };
        self.all.push(Named { kind, about, span, stated: Ok(Stated { locals, hypotheses, goal, wanted }) });
    }
}
