//! A machine and all that it refines as one model: the variables, operations and invariants of all levels side by side.
//!
//! A state of the model is a state of every level; a variable that a refinement keeps is one variable. No operation of it is
//! a step of all levels: a [`Move`] says which operations belong together, and whoever explores the tower puts their
//! outcomes together. INITIALISATION of the model only gives every variable some value; those of the levels are operations.
//! Absent on purpose: values, searching, what to say about a level that is not followed.

use super::check::{Joint, check_joint};
use super::variants;
use super::{
    BinOp, Decl, Expr, ExprKind, Fun, Lhs, Lit, LocalId, Model, OpId, Operation, SetId, Stmt, StmtKind,
    Target, Type, VarId,
};
use crate::lang::ast::Name;
use crate::lang::composed::{Chain, Composed, Entity};
pub use crate::lang::composed::{Promise, broken};
use crate::lang::diag::{Diagnostic, Span};
use num_bigint::BigInt;
use num_rational::BigRational;
use std::collections::{BTreeMap, BTreeSet};

/// A machine of the chain.
#[derive(Clone, Debug)]
pub struct Level {
    pub name: Name,
    pub variables: Vec<VarId>,
}

/// How the levels above follow the most concrete one.
#[derive(Clone, Debug)]
pub enum How {
    /// Operation by operation: the one of each level above, if it has one; otherwise nothing happens there.
    Levels(Vec<Option<OpId>>),
    /// One operation does it all. For each way, operations that demand one thing more than the one before, where these
    /// were asked for.
    Whole(OpId, Vec<Vec<(OpId, Promise)>>),
    /// Somebody else's step: it changes what all levels see, and nothing of their own.
    Environment,
}

/// A step of the most concrete machine, and what it stands for.
#[derive(Clone, Debug)]
pub struct Move {
    pub name: Name,
    /// Changes the variables of the most concrete level only.
    pub alone: OpId,
    pub how: How,
    /// By level: the operation is guarded, so that one that refines it may be enabled more seldom.
    pub is_guarded: Vec<bool>,
}

/// Whose a conjunct of the model's invariant is.
#[derive(Clone, Debug)]
pub struct Claim {
    /// The level that states it.
    pub level: usize,
    /// The last level that it speaks of.
    pub known: usize,
    /// Its name in the language of the model.
    pub label: Option<Name>,
}

/// A chain of refinements as one model.
#[derive(Clone, Debug)]
pub struct Tower {
    pub model: Model,
    /// The most concrete one first; there are two at least.
    pub levels: Vec<Level>,
    /// INITIALISATION first.
    pub moves: Vec<Move>,
    /// By conjunct of the invariant.
    pub claims: Vec<Claim>,
    /// By assertion: what has to be so in all states that are glued together.
    pub theorems: Vec<Claim>,
    /// Without the values that the author names, any will do: abstract states are followed together.
    pub in_sets: bool,
    /// The operations of the level above by themselves, where moves do not have them.
    pub above: Vec<OpId>,
    /// What formulas are called where one of them has no value.
    pub places: Vec<Promise>,
}

/// What a tower is for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Purpose {
    /// With the operations that say why an event is not followed.
    pub staged: bool,
    /// Whether the level above can go on will be asked.
    pub deadlock: bool,
    /// Each level by itself: an operation is enabled where its own precondition holds, and what it inherits and can still
    /// see of those above.
    pub traces: bool,
}

/// The tower of a composed machine; `None` when there were errors.
pub fn tower(composed: &Composed, purpose: Purpose, diags: &mut Vec<Diagnostic>) -> Option<Tower> {
    if let Some(refining) = &composed.refining {
        if purpose.traces {
            let span = composed.instances[composed.top].machine.name.span;
            let message = "`--traces` is for classical B: events are followed by their names and witnesses";
            diags.push(Diagnostic::error("B0401", span, message));
            return None;
        }
        let chain = refining.chain(purpose.staged, purpose.deadlock, diags)?;
        let joint = check_joint(&chain.composed, diags)?;
        return by_events(chain, joint, diags);
    }
    if composed.levels.len() < 2 {
        let span = composed.instances[composed.top].machine.name.span;
        let message = format!("`{}` refines nothing", composed.name);
        diags.push(Diagnostic::error("B0221", span, message).help("a REFINEMENT or IMPLEMENTATION does"));
        return None;
    }
    let joint = check_joint(composed, diags)?;
    Builder { composed, model: joint.model, traces: purpose.traces, diags }
        .tower((joint.invariants, joint.assertions), joint.initialisations)
}

/// The tower of machines whose front end says how events are followed.
fn by_events(chain: Chain, joint: Joint, diags: &mut Vec<Diagnostic>) -> Option<Tower> {
    let mut model = joint.model;
    let span = chain.composed.instances[chain.composed.top].machine.name.span;
    if chain.levels.len() < 2 {
        let message = format!("`{}` refines nothing", chain.composed.name);
        diags.push(Diagnostic::error("B0221", span, message));
        return None;
    }
    let sets = variants::sets(&model);
    let op = |i: usize| OpId(i as u32);
    let levels: Vec<Level> = chain
        .levels
        .into_iter()
        .map(|(name, vars)| Level { name, variables: vars.into_iter().map(|v| VarId(v as u32)).collect() })
        .collect();
    let moves = chain
        .events
        .into_iter()
        .map(|e| {
            let named = |(i, p)| (op(i), variants::by_type(&sets, p));
            let stages = e.stages.into_iter().map(|way| way.into_iter().map(named).collect());
            Move {
                name: e.name,
                alone: op(e.alone),
                how: How::Whole(op(e.whole), stages.collect()),
                is_guarded: vec![true; levels.len()],
            }
        })
        .collect();
    let inside = |e: &Expr, p: &Promise| {
        p.span.file == e.span.file && p.span.lo <= e.span.lo && e.span.hi <= p.span.hi
    };
    let claims = model.invariant.iter().map(|e| {
        let found = chain.invariants.iter().find(|p| inside(e, p));
        let level = found.and_then(|p| levels.iter().position(|l| l.name == p.level)).unwrap_or(0);
        let known = last_level(e, &levels).unwrap_or(levels.len() - 1);
        Claim { level, known: known.max(level), label: found.and_then(|p| p.about.clone()) }
    });
    let claims = claims.collect();
    model.assertions.clear();
    model.initialisation = blank(&model, span);
    let (above, places) = (chain.above.into_iter().map(op).collect(), chain.places);
    Some(Tower { model, levels, moves, claims, theorems: vec![], in_sets: true, above, places })
}

struct Builder<'a> {
    composed: &'a Composed,
    model: Model,
    traces: bool,
    diags: &'a mut Vec<Diagnostic>,
}

impl Builder<'_> {
    fn tower(
        mut self,
        (invariants, assertions): (Vec<usize>, Vec<usize>),
        initialisations: Vec<(usize, Stmt)>,
    ) -> Option<Tower> {
        let before = self.diags.len();
        let levels: Vec<Level> = self
            .composed
            .levels
            .iter()
            .map(|l| Level {
                name: self.composed.instances[l.instance].machine.name.name.clone(),
                variables: l.variables.iter().map(|v| VarId(*v as u32)).collect(),
            })
            .collect();
        self.refuse_returning(&levels);
        self.model.operations.iter_mut().for_each(|op| op.is_event = false);
        let mut moves = vec![self.start(&levels, &initialisations)];
        for (name, _) in self.composed.levels[0].operations.clone() {
            let found = self.operation(&name, &levels);
            moves.push(found);
        }
        for at in self.composed.environment.clone() {
            let op = self.model.operations[at].clone();
            let name = op.name.clone();
            let is_guarded = vec![true; levels.len()];
            let alone = self.event(name.clone(), op);
            moves.push(Move { name, alone, how: How::Environment, is_guarded });
        }
        let claims = self.claims(invariants, &levels);
        let theorems = self.theorems(assertions, &levels);
        let span = self.composed.instances[self.composed.top].machine.name.span;
        self.model.goal = None;
        self.model.initialisation = blank(&self.model, span);
        let failed = self.diags[before..].iter().any(Diagnostic::is_error);
        let (model, above) = (self.model, vec![]);
        (!failed).then_some(Tower {
            model,
            levels,
            moves,
            claims,
            theorems,
            in_sets: false,
            above,
            places: vec![],
        })
    }

    /// A variable that is gone does not come back: it would be another one.
    fn refuse_returning(&mut self, levels: &[Level]) {
        for (i, level) in levels.iter().enumerate() {
            for v in &level.variables {
                let last = levels.iter().rposition(|l| l.variables.contains(v)).unwrap_or(i);
                if let Some(gap) = levels[i..=last].iter().find(|l| !l.variables.contains(v)) {
                    let d = &self.model.variables[v.index()];
                    let message = format!(
                        "`{}` is a variable again, which `{}` does not have: this is not supported",
                        d.name, gap.name
                    );
                    self.diags.push(Diagnostic::error("B0401", d.span, message));
                }
            }
        }
    }

    /// Adds an operation that is executed by itself.
    fn event(&mut self, name: Name, op: Operation) -> OpId {
        self.model.operations.push(Operation { name, is_event: true, ..op });
        OpId(self.model.operations.len() as u32 - 1)
    }

    fn start(&mut self, levels: &[Level], initialisations: &[(usize, Stmt)]) -> Move {
        let name: Name = "INITIALISATION".into();
        let mut ops = vec![];
        for (i, level) in levels.iter().enumerate() {
            let parts = self.composed.levels[i].parts.clone();
            let mut body = vec![];
            let mut assigned = BTreeSet::new();
            for (owner, stmt) in initialisations.iter().filter(|(owner, _)| parts.contains(owner)) {
                let own = self.own_variables(*owner, level);
                assigned.extend(own.iter().copied());
                let stmt = self.in_locals(stmt.clone(), &own);
                body.push(stmt);
            }
            for v in level.variables.iter().filter(|v| !assigned.contains(v)) {
                let d = &self.model.variables[v.index()];
                let message =
                    format!("INITIALISATION of `{}` does not give `{}` a value", level.name, d.name);
                self.diags.push(Diagnostic::error("B0415", d.span, message));
            }
            let span = self.composed.instances[self.composed.levels[i].instance].machine.name.span;
            let body = Stmt { kind: StmtKind::Seq(body), span };
            self.refuse_foreign(&body, level, &mut vec![]);
            let op =
                Operation { name: name.clone(), params: vec![], results: vec![], body, is_event: true, span };
            ops.push(self.event(name.clone(), op));
        }
        let alone = ops.remove(0);
        let how = How::Levels(ops.into_iter().map(Some).collect());
        Move { name, alone, how, is_guarded: vec![true; levels.len()] }
    }

    /// The variables that a machine declares and initialises itself.
    fn own_variables(&self, owner: usize, level: &Level) -> Vec<VarId> {
        let instance = &self.composed.instances[owner];
        let machine = &instance.machine;
        let mut own: Vec<VarId> = vec![];
        let mut names: Vec<&Name> =
            machine.concrete_variables.iter().chain(&machine.variables).map(|id| &id.name).collect();
        let mut above = instance.abstraction;
        while let Some(i) = above {
            names.extend(self.composed.instances[i].machine.concrete_variables.iter().map(|id| &id.name));
            above = self.composed.instances[i].abstraction;
        }
        for name in names {
            if let Some(Entity::Var(v)) = instance.names.get(name)
                && level.variables.contains(&VarId(*v as u32))
                && !own.contains(&VarId(*v as u32))
            {
                own.push(VarId(*v as u32));
            }
        }
        own
    }

    /// The statement on locals without values, which are assigned to the variables in the end: so that what is read before
    /// it was assigned, or not assigned at all, has no value.
    fn in_locals(&mut self, mut stmt: Stmt, own: &[VarId]) -> Stmt {
        let span = stmt.span;
        let mut local: BTreeMap<VarId, LocalId> = BTreeMap::new();
        for v in own {
            let d = &self.model.variables[v.index()];
            self.model.locals.push(Decl { name: d.name.clone(), ty: d.ty.clone(), span: d.span });
            local.insert(*v, LocalId(self.model.locals.len() as u32 - 1));
        }
        stmt.for_each_part_mut(&mut |s| {
            let target = |t: &mut Target| {
                if let Target::Var(v) = t
                    && let Some(l) = local.get(v)
                {
                    *t = Target::Local(*l);
                }
            };
            match &mut s.kind {
                StmtKind::Assign(pairs) => pairs.iter_mut().for_each(|(l, _)| target(&mut l.target)),
                StmtKind::BecomesElement(lhs, _) => lhs.iter_mut().for_each(|l| target(&mut l.target)),
                StmtKind::BecomesSuch { targets, .. } => targets.iter_mut().for_each(target),
                StmtKind::Call { results, .. } => results.iter_mut().for_each(|l| target(&mut l.target)),
                _ => {}
            }
            s.for_each_expr_mut(&mut |e| {
                e.replace(&|kind| match kind {
                    ExprKind::Var(v) => local.get(v).map(|l| ExprKind::Local(*l)),
                    ExprKind::Old(v) => local.get(v).map(|l| ExprKind::OldLocal(*l)),
                    _ => None,
                });
            });
        });
        let pairs = local.iter().map(|(v, l)| {
            let ty = self.model.variables[v.index()].ty.clone();
            let lhs = Lhs { target: Target::Var(*v), path: vec![], span };
            (lhs, Expr { kind: ExprKind::Local(*l), ty, span })
        });
        let write = Stmt { kind: StmtKind::Assign(pairs.collect()), span };
        if own.is_empty() {
            return stmt;
        }
        let both = Stmt { kind: StmtKind::Seq(vec![stmt, write]), span };
        Stmt { kind: StmtKind::Var(local.into_values().collect(), Box::new(both)), span }
    }

    /// What an operation of the most concrete level and those it refines do.
    fn operation(&mut self, name: &Name, levels: &[Level]) -> Move {
        let of = |i: usize| {
            let named = self.composed.levels[i].operations.iter().find(|(n, _)| n == name);
            named.map(|(_, op)| *op)
        };
        let found: Vec<Option<usize>> = (0..levels.len()).map(of).collect();
        // An operation that a level does not have is new below it, whatever is above.
        let above = found.iter().position(Option::is_none).unwrap_or(found.len());
        let mut ops = vec![];
        let mut is_guarded = vec![];
        for (i, level) in levels.iter().enumerate() {
            let Some(at) = found[i].filter(|_| i < above) else {
                ops.push(None);
                is_guarded.push(true);
                continue;
            };
            let mut op = self.model.operations[at].clone();
            self.refuse_foreign(&op.body, level, &mut vec![]);
            is_guarded.push(guarded(&op.body));
            let mut demanded = vec![];
            for above in found[i + 1..above].iter().flatten() {
                let theirs = &self.model.operations[*above];
                if theirs.params.len() != op.params.len() || theirs.results.len() != op.results.len() {
                    // An operation of an imported machine in the place of another.
                    let message = format!("`{name}` has other parameters than the operation that it refines");
                    self.diags.push(
                        Diagnostic::error("B0206", op.span, message)
                            .note(theirs.span, "the abstract operation"),
                    );
                    continue;
                }
                let types = |op: &Operation| -> Vec<Type> {
                    op.params.iter().chain(&op.results).map(|l| self.model.local(*l).ty.clone()).collect()
                };
                if types(theirs) != types(&op) {
                    let message =
                        format!("`{name}` has parameters of other types than the operation that it refines");
                    self.diags.push(
                        Diagnostic::error("B0203", op.span, message)
                            .note(theirs.span, "the abstract operation"),
                    );
                    continue;
                }
                if let StmtKind::Pre(p, _) = &theirs.body.kind {
                    let mut p = p.clone();
                    rename(&mut p, &theirs.params, &op.params);
                    rename(&mut p, &theirs.results, &op.results);
                    demanded.push(p);
                }
            }
            let span = op.body.span;
            if self.traces {
                let sees = |e: &&Expr| {
                    !e.any(&|e| matches!(e.kind, ExprKind::Var(v) | ExprKind::Old(v) if !level.variables.contains(&v)))
                };
                let parts = demanded.iter().flat_map(Expr::conjuncts).filter(sees);
                let visible = parts.cloned().reduce(and);
                op.body = match (visible, op.body) {
                    (None, body) => body,
                    (Some(p), Stmt { kind: StmtKind::Pre(own, body), span }) => {
                        Stmt { kind: StmtKind::Pre(and(p, own), body), span }
                    }
                    (Some(p), body) => Stmt { kind: StmtKind::Pre(p, Box::new(body)), span },
                };
            } else if let Some(p) = demanded.into_iter().reduce(|a, b| and(b, a)) {
                // What the level itself demands is then a duty of its own: an error where it is not so.
                op.body = Stmt { kind: StmtKind::Pre(p, Box::new(op.body)), span };
            } else if i + 1 < above && matches!(op.body.kind, StmtKind::Pre(..)) {
                // Whoever calls it has to care for nothing.
                let p = Expr { kind: ExprKind::Lit(Lit::BTrue), ty: Type::Pred, span };
                op.body = Stmt { kind: StmtKind::Pre(p, Box::new(op.body)), span };
            }
            ops.push(Some(self.event(name.clone(), op)));
        }
        // The most concrete level has each of its own operations.
        let alone = ops.remove(0).unwrap_or(OpId(0));
        Move { name: name.clone(), alone, how: How::Levels(ops), is_guarded }
    }

    /// What a level executes cannot speak of variables of another.
    fn refuse_foreign(&mut self, s: &Stmt, level: &Level, seen: &mut Vec<OpId>) {
        let own: BTreeSet<VarId> = level.variables.iter().copied().collect();
        let mut found = vec![];
        foreign(s, &own, &self.model, seen, &mut found);
        for (v, span) in found {
            let name = &self.model.variables[v.index()].name;
            let message = format!("`{name}` is no variable of `{}`", level.name);
            let d = Diagnostic::error("B0216", span, message);
            let d = d.help("an operation that is inherited from the abstraction and uses its variables has to be refined");
            if !self.diags.contains(&d) {
                self.diags.push(d);
            }
        }
    }

    /// Keeps the assertions that speak of more than the most concrete machine: those about it alone are for a check of it.
    fn theorems(&mut self, owners: Vec<usize>, levels: &[Level]) -> Vec<Claim> {
        let mut theorems = vec![];
        let all = std::mem::take(&mut self.model.assertions);
        if self.traces {
            return theorems;
        }
        for (e, owner) in all.into_iter().zip(owners) {
            let Some(level) = self.composed.levels.iter().position(|l| l.parts.contains(&owner)) else {
                continue;
            };
            match last_level(&e, levels) {
                Some(0) => {}
                Some(known) => {
                    theorems.push(Claim { level, known: known.max(level), label: None });
                    self.model.assertions.push(e);
                }
                None => {
                    let message = "an assertion that speaks of variables of no level is not supported";
                    self.diags.push(Diagnostic::error("B0401", e.span, message));
                }
            }
        }
        theorems
    }

    /// Keeps the conjuncts of the levels, and adds the equations of variables that stand for others.
    fn claims(&mut self, owners: Vec<usize>, levels: &[Level]) -> Vec<Claim> {
        let mut claims = vec![];
        let mut kept = vec![];
        for (e, owner) in std::mem::take(&mut self.model.invariant).into_iter().zip(owners) {
            let Some(level) = self.composed.levels.iter().position(|l| l.parts.contains(&owner)) else {
                continue;
            };
            match last_level(&e, levels) {
                Some(known) => {
                    claims.push(Claim { level, known: known.max(level), label: None });
                    kept.push(e);
                }
                None => {
                    let message = "an invariant that speaks of variables of no level is not supported";
                    self.diags.push(Diagnostic::error("B0401", e.span, message));
                }
            }
        }
        for (level, def) in self.composed.levels.iter().enumerate() {
            for (own, other) in &def.stand_for {
                let (own, other) = (VarId(*own as u32), VarId(*other as u32));
                let (a, b) = (&self.model.variables[own.index()], &self.model.variables[other.index()]);
                let span = a.span;
                if a.ty != b.ty {
                    let message =
                        format!("`{}` has another type than the variable that it stands for", a.name);
                    self.diags.push(Diagnostic::error("B0203", span, message).note(b.span, "declared here"));
                    continue;
                }
                let var =
                    |v: VarId, ty: &Type| Box::new(Expr { kind: ExprKind::Var(v), ty: ty.clone(), span });
                let kind = ExprKind::Binary(BinOp::Eq, var(own, &a.ty), var(other, &b.ty));
                let e = Expr { kind, ty: Type::Pred, span };
                let known = last_level(&e, levels).unwrap_or(level + 1);
                claims.push(Claim { level, known: known.max(level), label: None });
                kept.push(e);
            }
        }
        self.model.invariant = kept;
        claims
    }
}

/// The level at which everything that a predicate speaks of is known; `None` if something belongs to no level.
fn last_level(e: &Expr, levels: &[Level]) -> Option<usize> {
    let mut last = Some(0);
    e.for_each_part(&mut |part| {
        if let ExprKind::Var(v) | ExprKind::Old(v) = part.kind {
            let at = levels.iter().position(|l| l.variables.contains(&v));
            last = last.zip(at).map(|(a, b)| a.max(b));
        }
    });
    last
}

/// Whether an operation is one that may be disabled, by its own text.
fn guarded(s: &Stmt) -> bool {
    match &s.kind {
        StmtKind::Select(_, rest) => rest.is_none(),
        StmtKind::Pre(_, s) | StmtKind::Assert(_, s) | StmtKind::Let(_, s) | StmtKind::Var(_, s) => {
            guarded(s)
        }
        StmtKind::Any(_, _, s) => guarded(s),
        StmtKind::Seq(parts) | StmtKind::Par(parts) => parts.iter().any(guarded),
        _ => false,
    }
}

fn and(a: Expr, b: Expr) -> Expr {
    let span = a.span;
    Expr { kind: ExprKind::Binary(BinOp::And, Box::new(a), Box::new(b)), ty: Type::Pred, span }
}

fn rename(e: &mut Expr, from: &[LocalId], to: &[LocalId]) {
    e.replace(&|kind| match kind {
        ExprKind::Local(l) => {
            from.iter().position(|f| f == l).and_then(|i| to.get(i)).map(|l| ExprKind::Local(*l))
        }
        _ => None,
    });
}

/// Variables of others that a statement reads or writes, and where. Loop invariants and ASSERTs may speak of the level above.
fn foreign(
    s: &Stmt,
    own: &BTreeSet<VarId>,
    model: &Model,
    seen: &mut Vec<OpId>,
    found: &mut Vec<(VarId, Span)>,
) {
    let mut read = |e: &Expr| {
        e.for_each_part(&mut |part| match part.kind {
            ExprKind::Var(v) | ExprKind::Old(v) if !own.contains(&v) => found.push((v, part.span)),
            _ => {}
        });
    };
    match &s.kind {
        StmtKind::While { cond, variant, .. } => {
            read(cond);
            read(variant);
        }
        StmtKind::Assert(..) => {}
        _ => s.for_each_expr(&mut read),
    }
    let mut written = |t: &Target, span: Span| match t {
        Target::Var(v) if !own.contains(v) => found.push((*v, span)),
        _ => {}
    };
    match &s.kind {
        StmtKind::Assign(pairs) => pairs.iter().for_each(|(l, _)| written(&l.target, l.span)),
        StmtKind::BecomesElement(lhs, _) => lhs.iter().for_each(|l| written(&l.target, l.span)),
        StmtKind::BecomesSuch { targets, .. } => targets.iter().for_each(|t| written(t, s.span)),
        StmtKind::Call { results, op, .. } => {
            results.iter().for_each(|l| written(&l.target, l.span));
            if !seen.contains(op) {
                seen.push(*op);
                foreign(&model.operations[op.index()].body, own, model, seen, found);
            }
        }
        _ => {}
    }
    s.for_each_child(&mut |c| foreign(c, own, model, seen, found));
}

/// Some value for every variable. Nothing depends on which: what a level has not chosen is not looked at.
fn blank(model: &Model, span: Span) -> Stmt {
    let pairs = model.variables.iter().enumerate().map(|(i, d)| {
        let lhs = Lhs { target: Target::Var(VarId(i as u32)), path: vec![], span };
        (lhs, some_value(&d.ty, span, &mut vec![]))
    });
    Stmt { kind: StmtKind::Assign(pairs.collect()), span }
}

/// `inside` are the freetypes in whose values this one is to be: it must not need another of them.
fn some_value(ty: &Type, span: Span, inside: &mut Vec<u32>) -> Expr {
    let kind = match ty {
        Type::Pred | Type::Bool => ExprKind::Lit(Lit::False),
        Type::Int => ExprKind::Int(BigInt::ZERO),
        Type::Str => ExprKind::Str("".into()),
        Type::Real => ExprKind::Real(BigRational::from_integer(BigInt::ZERO)),
        Type::Given(SetId(s)) => ExprKind::Elem(SetId(*s), 0),
        Type::Pair(p) => {
            let mut part = |t: &Type| Box::new(some_value(t, span, inside));
            ExprKind::Binary(BinOp::Pair, part(&p.0), part(&p.1))
        }
        Type::Pow(_) => ExprKind::Lit(Lit::EmptySet),
        Type::Rec(fields) => ExprKind::Rec(fields.iter().map(|(_, t)| some_value(t, span, inside)).collect()),
        Type::Free(free) => {
            inside.push(free.at);
            let case = (0u32..)
                .zip(&free.def().cases)
                .find(|(_, c)| c.argument.as_ref().is_none_or(|t| !must_have(t, inside)));
            let case = case.map_or(0, |(i, _)| i);
            let argument = free.argument(case).filter(|t| !must_have(t, inside) || inside.len() < 8);
            let args = argument.map(|t| some_value(&t, span, inside)).into_iter().collect();
            inside.pop();
            ExprKind::Call(Fun::Construct(case), args)
        }
        Type::Again(_) => ExprKind::Lit(Lit::EmptySet),
    };
    Expr { kind, ty: ty.clone(), span }
}

/// Whether every value of the type has a value of one of these freetypes in it, as far as its form tells.
fn must_have(ty: &Type, of: &[u32]) -> bool {
    match ty {
        Type::Free(free) => of.contains(&free.at),
        Type::Again(at) => of.contains(at),
        Type::Pair(p) => must_have(&p.0, of) || must_have(&p.1, of),
        Type::Rec(fields) => fields.iter().any(|(_, t)| must_have(t, of)),
        _ => false,
    }
}
