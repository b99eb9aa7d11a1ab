//! What a substitution does, as predicates: each way through it is a path with the choices that are made on it, the
//! conditions under which it is taken, and what every target is in the end, all of it said about the values before.
//!
//! What has to be so on the way (preconditions of calls, ASSERTs, that everything has a value) is told beside the paths.
//! A loop has no such predicate: what is known after it is what its own invariant says. So there are more ways then than
//! the substitution has, which is for whoever asks that all of them are so, and not for whoever needs one
//! ([`Walker::may_loop`]).
//! Absent on purpose: values.

use super::reading::is_total;
use super::{
    Access, BinOp, Decl, Expr, ExprKind, Lhs, Lit, LocalId, Model, OpId, Quant, Stmt, StmtKind, Target, Type,
    UnOp,
};
use crate::lang::diag::Span;
use std::collections::{BTreeMap, BTreeSet};

/// A way through a substitution.
#[derive(Clone, Debug, Default)]
pub struct Path {
    /// What is chosen on it.
    pub locals: Vec<LocalId>,
    /// In the order in which they are met; each has a value if those before it are true.
    pub conditions: Vec<Expr>,
    /// Places of conditions that are duties: where one is false there is an error, and not another way.
    owed: BTreeSet<usize>,
    /// Targets with another value than before.
    pub values: BTreeMap<Target, Expr>,
    /// Locals without a value.
    unset: BTreeSet<LocalId>,
    /// Targets that were written.
    pub written: BTreeSet<Target>,
    /// How many loops it has gone through.
    pub loops: usize,
}

/// Something that has to be so.
#[derive(Clone, Debug)]
pub struct Duty {
    /// `PRE` of a precondition, `LOOP` of what a loop says of itself, `ENA` of its body, `WD` of anything else.
    pub kind: &'static str,
    pub locals: Vec<LocalId>,
    pub conditions: Vec<Expr>,
    pub goal: Expr,
    /// The goal is only to have a value.
    pub is_defined: bool,
}

/// More than this is not put into predicates.
const MAX_PATHS: usize = 128;
const MAX_NODES: usize = 400_000;

/// Goes through substitutions.
pub struct Walker<'m> {
    pub model: &'m mut Model,
    pub duties: Vec<Duty>,
    /// Whether loops are taken for what their invariants say.
    pub may_loop: bool,
    nodes: usize,
    calls: Vec<OpId>,
}

type Ways = Result<Vec<Path>, String>;

/// What is chosen on a way, and the conditions under which it is taken.
type Way = (Vec<LocalId>, Vec<Expr>);

pub fn predicate(kind: ExprKind, span: Span) -> Expr {
    Expr { kind, ty: Type::Pred, span }
}

pub fn binary(op: BinOp, a: Expr, b: Expr) -> Expr {
    let span = a.span;
    predicate(ExprKind::Binary(op, Box::new(a), Box::new(b)), span)
}

pub fn not(p: Expr) -> Expr {
    let span = p.span;
    predicate(ExprKind::Unary(UnOp::Not, Box::new(p)), span)
}

/// All of them; true of none.
pub fn all_of(parts: Vec<Expr>, span: Span) -> Expr {
    let both = |a, b| binary(BinOp::And, a, b);
    parts.into_iter().reduce(both).unwrap_or_else(|| predicate(ExprKind::Lit(Lit::BTrue), span))
}

/// One of them; false of none.
pub fn some_of(parts: Vec<Expr>, span: Span) -> Expr {
    let either = |a, b| binary(BinOp::Or, a, b);
    parts.into_iter().reduce(either).unwrap_or_else(|| predicate(ExprKind::Lit(Lit::BFalse), span))
}

/// For some values of the locals.
pub fn exists(locals: &[LocalId], p: Expr) -> Expr {
    let used: Vec<LocalId> = locals.iter().copied().filter(|l| p.mentions_local(*l)).collect();
    if used.is_empty() {
        return p;
    }
    let span = p.span;
    predicate(ExprKind::Quant(Quant::Exists, used, Box::new(p)), span)
}

/// That an expression equals itself: true if it has a value.
fn itself(e: Expr) -> Expr {
    if e.ty == Type::Pred { e } else { binary(BinOp::Eq, e.clone(), e) }
}

/// Whether there may be no way through a substitution.
fn may_block(s: &Stmt) -> bool {
    let mut found = match &s.kind {
        StmtKind::Select(_, otherwise) => otherwise.is_none(),
        StmtKind::Any(..) | StmtKind::BecomesElement(..) | StmtKind::BecomesSuch { .. } => true,
        StmtKind::Call { .. } => true,
        _ => false,
    };
    s.for_each_child(&mut |c| found |= may_block(c));
    found
}

impl Path {
    /// From here the locals have no value.
    pub fn without(mut self, locals: &[LocalId]) -> Path {
        for l in locals {
            self.values.remove(&Target::Local(*l));
            self.unset.insert(*l);
        }
        self
    }

    /// The conditions under which there is a way here.
    pub fn guards(&self) -> Vec<Expr> {
        let all = self.conditions.iter().enumerate();
        all.filter(|(i, _)| !self.owed.contains(i)).map(|(_, e)| e.clone()).collect()
    }

    fn owing(mut self, p: Expr) -> Path {
        self.owed.insert(self.conditions.len());
        self.when(p)
    }

    fn when(mut self, p: Expr) -> Path {
        self.conditions.push(p);
        self
    }

    fn write(&mut self, target: Target, value: Expr) {
        if let Target::Local(l) = target {
            self.unset.remove(&l);
        }
        self.written.insert(target);
        self.values.insert(target, value);
    }
}

impl<'m> Walker<'m> {
    pub fn new(model: &'m mut Model) -> Walker<'m> {
        Walker { model, duties: vec![], may_loop: false, nodes: 0, calls: vec![] }
    }

    /// An expression at the end of a path, said about the values before it.
    pub fn at(&mut self, path: &Path, e: &Expr) -> Result<Expr, String> {
        let mut unset = None;
        let mut nodes = 0;
        e.for_each_part(&mut |part| {
            nodes += 1;
            if let ExprKind::Local(l) | ExprKind::OldLocal(l) = part.kind {
                unset = unset.or(path.unset.get(&l).copied());
            }
        });
        if let Some(l) = unset {
            return Err(format!("`{}` is read and may have no value", self.model.local(l).name));
        }
        let mut e = e.clone();
        e.replace(&|kind| {
            let target = match kind {
                ExprKind::Var(v) | ExprKind::Old(v) => Target::Var(*v),
                ExprKind::Local(l) | ExprKind::OldLocal(l) => Target::Local(*l),
                _ => return None,
            };
            match (path.values.get(&target), kind) {
                (Some(value), _) => Some(value.kind.clone()),
                (None, ExprKind::Old(v)) => Some(ExprKind::Var(*v)),
                (None, ExprKind::OldLocal(l)) => Some(ExprKind::Local(*l)),
                (None, _) => None,
            }
        });
        e.for_each_part(&mut |_| nodes += 1);
        self.nodes += nodes;
        if self.nodes > MAX_NODES { Err("its predicates become too large".into()) } else { Ok(e) }
    }

    /// The same for something that is evaluated: it has to have a value.
    fn evaluated(&mut self, path: &Path, e: &Expr) -> Result<Expr, String> {
        let e = self.at(path, e)?;
        let goal = itself(e.clone());
        if !is_total(&goal) {
            self.demand("WD", path, goal, true);
        }
        Ok(e)
    }

    fn demand(&mut self, kind: &'static str, path: &Path, goal: Expr, is_defined: bool) {
        let (locals, conditions) = (path.locals.clone(), path.conditions.clone());
        self.duties.push(Duty { kind, locals, conditions, goal, is_defined });
    }

    /// A local of its own in the place of another.
    fn fresh(&mut self, path: &mut Path, like: LocalId) -> Expr {
        let decl = self.model.local(like).clone();
        self.chosen(path, decl)
    }

    fn chosen(&mut self, path: &mut Path, decl: Decl) -> Expr {
        let id = LocalId(self.model.locals.len() as u32);
        let (ty, span) = (decl.ty.clone(), decl.span);
        self.model.locals.push(decl);
        path.locals.push(id);
        Expr { kind: ExprKind::Local(id), ty, span }
    }

    fn decl(&self, target: Target) -> Decl {
        match target {
            Target::Var(v) => self.model.variables[v.index()].clone(),
            Target::Local(l) => self.model.local(l).clone(),
        }
    }

    /// What is written when a value goes to a left side.
    fn assigned(&mut self, path: &Path, lhs: &Lhs, value: Expr) -> Result<Expr, String> {
        match &lhs.path[..] {
            [] => Ok(value),
            [Access::Index(index)] => {
                let index = self.evaluated(path, index)?;
                let Decl { ty, span, .. } = self.decl(lhs.target);
                let kind = match lhs.target {
                    Target::Var(v) => ExprKind::Var(v),
                    Target::Local(l) => ExprKind::Local(l),
                };
                let whole = self.at(path, &Expr { kind, ty: ty.clone(), span })?;
                let Type::Pow(of) = &ty else { return Err("it assigns into no function".into()) };
                let pair = ExprKind::Binary(BinOp::Pair, Box::new(index), Box::new(value));
                let pair = Expr { kind: pair, ty: (**of).clone(), span };
                let one = Expr { kind: ExprKind::SetExt(vec![pair]), ty: ty.clone(), span };
                Ok(Expr { kind: ExprKind::Binary(BinOp::Override, Box::new(whole), Box::new(one)), ty, span })
            }
            _ => Err("it assigns to a part of a part".into()),
        }
    }

    fn assign(&mut self, mut path: Path, writes: Vec<(&Lhs, Expr)>) -> Result<Path, String> {
        let mut done = vec![];
        for (lhs, value) in writes {
            let value = self.assigned(&path, lhs, value)?;
            if done.iter().any(|(t, _)| *t == lhs.target) {
                return Err("it writes to one place twice at the same time".into());
            }
            done.push((lhs.target, value));
        }
        done.into_iter().for_each(|(target, value)| path.write(target, value));
        Ok(path)
    }

    /// All ways through a substitution from the end of a path.
    pub fn run(&mut self, s: &Stmt, from: Path) -> Ways {
        let ways = self.ways(s, from)?;
        if ways.len() > MAX_PATHS { Err("there are too many ways through it".into()) } else { Ok(ways) }
    }

    /// One arm of IF or CASE, where the conditions of those before it are false; what is left when its own is, too.
    fn arm(&mut self, p: Expr, body: &Stmt, from: Path, found: &mut Vec<Path>) -> Result<Path, String> {
        found.extend(self.run(body, from.clone().when(p.clone()))?);
        Ok(from.when(not(p)))
    }

    /// What is done when no arm is taken.
    fn otherwise(&mut self, s: Option<&Stmt>, from: Path, found: &mut Vec<Path>) -> Result<(), String> {
        match s {
            Some(s) => found.extend(self.run(s, from)?),
            None => found.push(from),
        }
        Ok(())
    }

    fn ways(&mut self, s: &Stmt, mut from: Path) -> Ways {
        Ok(match &s.kind {
            StmtKind::Skip => vec![from],
            StmtKind::Assign(pairs) => {
                let mut writes = vec![];
                for (lhs, e) in pairs {
                    writes.push((lhs, self.evaluated(&from, e)?));
                }
                vec![self.assign(from, writes)?]
            }
            StmtKind::BecomesElement(targets, set) => {
                let set = self.evaluated(&from, set)?;
                let mut chosen: Vec<Expr> = vec![];
                for lhs in targets {
                    if !lhs.path.is_empty() {
                        return Err("it chooses a part of something".into());
                    }
                    let decl = self.decl(lhs.target);
                    chosen.push(self.chosen(&mut from, decl));
                }
                let pair = |a: Expr, b: Expr| {
                    let (ty, span) = (Type::pair(a.ty.clone(), b.ty.clone()), a.span);
                    Expr { kind: ExprKind::Binary(BinOp::Pair, Box::new(a), Box::new(b)), ty, span }
                };
                let Some(whole) = chosen.iter().cloned().reduce(pair) else { return Ok(vec![from]) };
                let from = from.when(binary(BinOp::In, whole, set));
                vec![self.assign(from, targets.iter().zip(chosen).collect())?]
            }
            StmtKind::BecomesSuch { targets, fresh, pred } => {
                let mut inner = from.clone();
                let mut chosen = vec![];
                for l in fresh {
                    let value = self.fresh(&mut inner, *l);
                    inner.values.insert(Target::Local(*l), value.clone());
                    inner.unset.remove(l);
                    chosen.push(value);
                }
                let p = self.evaluated(&inner, pred)?;
                from.locals.clone_from(&inner.locals);
                let mut to = from.when(p);
                targets.iter().zip(chosen).for_each(|(target, value)| to.write(*target, value));
                vec![to]
            }
            StmtKind::Pre(p, body) | StmtKind::Assert(p, body) => {
                let goal = self.at(&from, p)?;
                let kind = if matches!(s.kind, StmtKind::Pre(..)) { "PRE" } else { "WD" };
                self.demand(kind, &from, goal.clone(), false);
                self.run(body, from.owing(goal))?
            }
            StmtKind::Select(arms, otherwise) => {
                let (mut found, mut none) = (vec![], from.clone());
                for (guard, body) in arms {
                    let p = self.evaluated(&from, guard)?;
                    found.extend(self.run(body, from.clone().when(p.clone()))?);
                    none = none.when(not(p));
                }
                if let Some(s) = otherwise {
                    found.extend(self.run(s, none)?);
                }
                found
            }
            StmtKind::Choice(parts) => {
                let mut found = vec![];
                for s in parts {
                    found.extend(self.run(s, from.clone())?);
                }
                found
            }
            StmtKind::If(arms, otherwise) => {
                let (mut found, mut none) = (vec![], from);
                for (cond, body) in arms {
                    let p = self.evaluated(&none, cond)?;
                    none = self.arm(p, body, none, &mut found)?;
                }
                self.otherwise(otherwise.as_deref(), none, &mut found)?;
                found
            }
            StmtKind::Case(subject, arms, otherwise) => {
                let subject = self.evaluated(&from, subject)?;
                let (mut found, mut none) = (vec![], from);
                for (labels, body) in arms {
                    let mut equal = vec![];
                    for label in labels {
                        let label = self.evaluated(&none, label)?;
                        equal.push(binary(BinOp::Eq, subject.clone(), label));
                    }
                    let p = some_of(equal, s.span);
                    none = self.arm(p, body, none, &mut found)?;
                }
                self.otherwise(otherwise.as_deref(), none, &mut found)?;
                found
            }
            StmtKind::Any(locals, pred, body) => {
                for l in locals {
                    let value = self.fresh(&mut from, *l);
                    from.values.insert(Target::Local(*l), value);
                    from.unset.remove(l);
                }
                let p = self.evaluated(&from, pred)?;
                self.run(body, from.when(p))?
            }
            StmtKind::Let(defs, body) => {
                for (l, e) in defs {
                    let value = self.evaluated(&from, e)?;
                    from.values.insert(Target::Local(*l), value);
                    from.unset.remove(l);
                }
                self.run(body, from)?
            }
            StmtKind::Var(locals, body) => self.run(body, from.without(locals))?,
            StmtKind::Seq(parts) => {
                let mut ways = vec![from];
                for s in parts {
                    let mut next = vec![];
                    for path in ways {
                        next.extend(self.run(s, path)?);
                    }
                    ways = next;
                }
                ways
            }
            StmtKind::Par(parts) => self.parallel(parts, from)?,
            StmtKind::While { .. } if !self.may_loop => return Err("it has a loop".into()),
            StmtKind::While { cond, body, invariant, variant } => {
                vec![self.repeat(cond, body, invariant, variant, from)?]
            }
            StmtKind::Call { results, op, args } => self.call(results, *op, args, from)?,
        })
    }

    /// Whether there may be no way through a substitution, loops apart: whether these go on is a duty of theirs.
    pub fn blocks(&self, s: &Stmt) -> bool {
        let mut found = match &s.kind {
            StmtKind::While { .. } => return false,
            StmtKind::Select(_, otherwise) => otherwise.is_none(),
            StmtKind::Any(..) | StmtKind::BecomesElement(..) | StmtKind::BecomesSuch { .. } => true,
            // What calls itself in the end has been refused.
            StmtKind::Call { op, .. } => self.blocks(&self.model.operations[op.index()].body),
            _ => false,
        };
        s.for_each_child(&mut |c| found |= self.blocks(c));
        found
    }

    /// A loop: its invariant holds before it and is kept by its body, in which the variant decreases and is never
    /// negative; then it ends, and after it the invariant holds and the condition does not. Of what the body may write
    /// nothing else is known.
    fn repeat(
        &mut self,
        cond: &Expr,
        body: &Stmt,
        invariant: &Expr,
        variant: &Expr,
        from: Path,
    ) -> Result<Path, String> {
        let speaks_of_old = |e: &Expr| e.any(&|e| matches!(e.kind, ExprKind::Old(_) | ExprKind::OldLocal(_)));
        if speaks_of_old(invariant) || speaks_of_old(variant) {
            return Err("its loop speaks of values from before".into());
        }
        let before = self.at(&from, invariant)?;
        self.demand("LOOP", &from, before, false);
        // What the body writes, wherever it goes; what is demanded there is asked below.
        let demanded = self.duties.len();
        let once = self.run(body, Path { written: BTreeSet::new(), ..from.clone() })?;
        self.duties.truncate(demanded);
        let written: BTreeSet<Target> = once.iter().flat_map(|path| path.written.iter().copied()).collect();
        // Any turn. A local without a value may have none after no turn at all.
        let mut turn = from;
        for target in written {
            if matches!(target, Target::Local(l) if turn.unset.contains(&l)) {
                continue;
            }
            let decl = self.decl(target);
            let value = self.chosen(&mut turn, decl);
            turn.write(target, value);
        }
        let holds = self.at(&turn, invariant)?;
        let turn = turn.when(holds);
        let left = self.evaluated(&turn, variant)?;
        let span = variant.span;
        let zero = Expr { kind: ExprKind::Int(0.into()), ty: Type::Int, span };
        self.demand("LOOP", &turn, binary(BinOp::Le, zero, left.clone()), false);
        let goes_on = self.evaluated(&turn, cond)?;
        let into = turn.clone().when(goes_on.clone());
        let (locals, known) = (into.locals.len(), into.conditions.len());
        let ends = self.run(body, into.clone())?;
        let mut ways: Vec<Way> = vec![];
        for end in &ends {
            let kept = self.at(end, invariant)?;
            self.demand("LOOP", end, kept, false);
            let less = self.evaluated(end, variant)?;
            self.demand("LOOP", end, binary(BinOp::Lt, less, left.clone()), false);
            let own = |i: &usize| *i >= known && !end.owed.contains(i);
            let guards = (0..end.conditions.len()).filter(own).map(|i| end.conditions[i].clone()).collect();
            ways.push((end.locals[locals..].to_vec(), guards));
        }
        // A loop whose body cannot go on does not end. Of a loop in the body more is possible than there is.
        if ends.iter().any(|end| end.loops > into.loops) {
            if self.blocks(body) {
                return Err("the body of its loop has a loop and may block".into());
            }
        } else if ways.iter().all(|(locals, guards)| !locals.is_empty() || !guards.is_empty()) {
            let one = |(locals, guards): Way| exists(&locals, all_of(guards, span));
            let goal = some_of(ways.into_iter().map(one).collect(), span);
            self.demand("ENA", &into, goal, false);
        }
        let mut turn = turn;
        turn.loops += 1;
        Ok(turn.when(not(goes_on)))
    }

    /// Each part from the same start. A part whose choices are none blocks all of them, as conditions do.
    fn parallel(&mut self, parts: &[Stmt], from: Path) -> Ways {
        let start = Path { written: BTreeSet::new(), ..from.clone() };
        let mut ways = vec![start.clone()];
        let demanded = self.duties.len();
        for s in parts {
            let own = self.run(s, start.clone())?;
            let mut next = vec![];
            for so_far in &ways {
                for one in &own {
                    let mut both = so_far.clone();
                    both.locals.extend(&one.locals[start.locals.len()..]);
                    both.loops += one.loops - start.loops;
                    for (i, p) in one.conditions.iter().enumerate().skip(start.conditions.len()) {
                        both =
                            if one.owed.contains(&i) { both.owing(p.clone()) } else { both.when(p.clone()) };
                    }
                    for t in &one.written {
                        if both.written.contains(t) {
                            return Err("its parts write to the same place".into());
                        }
                        if let Some(value) = one.values.get(t) {
                            both.write(*t, value.clone());
                        }
                    }
                    next.push(both);
                }
            }
            if next.len() > MAX_PATHS {
                return Err("there are too many ways through it".into());
            }
            ways = next;
        }
        // Where one part blocks nothing is demanded of the others.
        if self.duties.len() > demanded && parts.len() > 1 && parts.iter().any(may_block) {
            return Err("of its parallel parts one may block where another has to have a value".into());
        }
        for path in &mut ways {
            path.written.extend(&from.written);
        }
        Ok(ways)
    }

    fn call(&mut self, results: &[Lhs], op: OpId, args: &[Expr], mut from: Path) -> Ways {
        if self.calls.contains(&op) {
            return Err("it calls itself in the end".into());
        }
        let called = self.model.operations[op.index()].clone();
        let mut values = vec![];
        for e in args {
            values.push(self.evaluated(&from, e)?);
        }
        for (l, value) in called.params.iter().zip(values) {
            from.values.insert(Target::Local(*l), value);
            from.unset.remove(l);
        }
        self.calls.push(op);
        let ways = self.run(&called.body, from.without(&called.results));
        self.calls.pop();
        let mut found = vec![];
        for path in ways? {
            let mut writes = vec![];
            for (lhs, l) in results.iter().zip(&called.results) {
                let Decl { ty, span, .. } = self.model.local(*l).clone();
                writes.push((lhs, self.at(&path, &Expr { kind: ExprKind::Local(*l), ty, span })?));
            }
            found.push(self.assign(path, writes)?);
        }
        Ok(found)
    }

    /// The value of a target at the end of a path; `None` if it has none.
    pub fn value(&mut self, path: &Path, target: Target) -> Option<Expr> {
        let Decl { ty, span, .. } = self.decl(target);
        let kind = match target {
            Target::Var(v) => ExprKind::Var(v),
            Target::Local(l) => ExprKind::Local(l),
        };
        self.at(path, &Expr { kind, ty, span }).ok()
    }
}
