//! Substitutions as formulas: where a run ends, when it ends, and when it has a fault.
//!
//! What a substitution chooses (ANY, CHOICE, parameters) are *inputs*, variables of their own. For a state and inputs
//! there is one run. It ends ([`Run::go`], in the state [`Run::env`]), or it is blocked. A fault is a condition over the
//! inputs too, and need not be about the same choice: there is a fault if there are inputs for which the condition is
//! true, as [`crate::eval::reference`] collects the faults of all runs. [`Run::escape`] is where a run is longer than its
//! formula: there nothing is known.

use super::super::encode::{Encoder, Env, Lazy, Mutant, Slot, Sym, Truth, Val};
use super::super::{Res, unsupported};
use crate::lang::diag::Span;
use crate::model::{Access, Expr, Lhs, LocalId, OpId, Stmt, StmtKind, Target};
use kanon_solver::term::{Bool, Terms, Var};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Turns of a loop that are unrolled; a run with more of them escapes.
const MAX_TURNS: usize = 24;

/// The end of a run.
#[derive(Clone, Debug)]
pub(super) struct Run<'m> {
    pub env: Env<'m>,
    /// The run ends, in `env`.
    pub go: Bool,
    /// Some run has a fault.
    pub fault: Bool,
    /// Some run is longer than what was unrolled.
    pub escape: Bool,
    /// When each of these was written.
    pub written: BTreeMap<Target, Bool>,
}

/// What a false PRE means, as in the reference.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Pre {
    Guard,
    Duty,
}

impl<'m> Run<'m> {
    fn done(env: Env<'m>) -> Run<'m> {
        let (go, none) = (Bool::TRUE, Bool::FALSE);
        Run { env, go, fault: none, escape: none, written: BTreeMap::new() }
    }

    fn blocked(env: Env<'m>) -> Run<'m> {
        Run { go: Bool::FALSE, ..Run::done(env) }
    }

    /// Only under this condition.
    fn only_if(mut self, terms: &mut Terms, cond: Bool) -> Run<'m> {
        for part in [&mut self.go, &mut self.fault, &mut self.escape] {
            *part = terms.and([cond, *part]);
        }
        self
    }

    /// With one more fault; where it is one, this run does not end.
    fn unless(mut self, terms: &mut Terms, fault: Bool) -> Run<'m> {
        self.go = terms.and([!fault, self.go]);
        self.fault = terms.or([fault, self.fault]);
        self
    }
}

pub(super) fn read<'m>(env: &Env<'m>, target: Target) -> Val<'m> {
    match target {
        Target::Var(id) => env.variable(id),
        Target::Local(id) => env.local(id),
    }
}

fn write<'m>(env: Env<'m>, target: Target, value: Val<'m>) -> Env<'m> {
    match target {
        Target::Var(id) => env.with_variable(id, value),
        Target::Local(id) => env.with_local(id, value),
    }
}

/// Makes runs; the inputs that they need are collected.
pub(super) struct Runner<'e, 'm> {
    pub encoder: &'e mut Encoder<'m>,
    pub inputs: Vec<Var>,
}

impl<'m> Runner<'_, 'm> {
    fn terms(&mut self) -> &mut Terms {
        &mut self.encoder.terms
    }

    /// A choice of the run.
    fn selector(&mut self) -> Bool {
        let v = self.terms().bool_var("choice");
        self.inputs.push(Var::Bool(v));
        self.terms().of_bool(v)
    }

    /// Values for the unknowns that the predicates may let them have, as inputs; and when the inputs are values.
    pub fn choose(
        &mut self,
        env: &Env<'m>,
        locals: &[LocalId],
        preds: &[&'m Expr],
        span: Span,
    ) -> Res<(Env<'m>, Bool)> {
        let slots: Vec<Slot> = locals.iter().map(|l| Slot::Local(*l)).collect();
        // A value that a bound leaves out has to make the predicate false, and not undefined: that would be a fault.
        let before = std::mem::replace(&mut self.encoder.only_total_hulls, true);
        let shaped = self.encoder.unknowns(env, &slots, preds, span);
        self.encoder.only_total_hulls = before;
        let (env, shapes) = shaped?;
        self.inputs.extend(shapes.iter().flat_map(|s| s.vars.iter().copied()));
        let ok = self.terms().and(shapes.iter().map(|s| s.is_value));
        Ok((env, ok))
    }

    pub fn run(&mut self, env: &Env<'m>, s: &'m Stmt, pre: Pre) -> Res<Run<'m>> {
        self.encoder.enter(s.span)?;
        let run = self.run_kind(env, s, pre);
        self.encoder.leave();
        run
    }

    fn run_kind(&mut self, env: &Env<'m>, s: &'m Stmt, pre: Pre) -> Res<Run<'m>> {
        Ok(match &s.kind {
            StmtKind::Skip => Run::done(env.clone()),
            StmtKind::Assign(pairs) => {
                let mut values = vec![];
                let mut defs = vec![];
                for (lhs, e) in pairs {
                    let v = self.encoder.item(env, e)?;
                    let v = self.encoder.settle_whole(v, e.span)?;
                    defs.push(v.def);
                    values.push((lhs, v));
                }
                let def = self.terms().and(defs);
                if def == Bool::FALSE {
                    return Ok(self.faulty(env));
                }
                let run = self.assign(env, env.clone(), values)?;
                run.unless(self.terms(), !def)
            }
            StmtKind::BecomesElement(targets, set) => self.becomes_element(env, targets, set, s.span)?,
            StmtKind::BecomesSuch { targets, fresh, pred } => {
                let now = env.clone().without_before();
                let (found, ok) = self.choose(&now, fresh, &[pred], s.span)?;
                let t = self.encoder.pred(&found, pred)?;
                let mut run = Run::done(env.clone());
                for (target, id) in targets.iter().zip(fresh) {
                    run.env = write(run.env, *target, found.local(*id));
                    run.written.insert(*target, Bool::TRUE);
                }
                let def = t.def(self.terms());
                run.go = self.terms().and([ok, t.yes]);
                run.fault = self.terms().and([ok, !def]);
                // Two targets that are one variable would have to agree.
                if run.written.len() != targets.len() {
                    return unsupported(s.span, "a variable that becomes two values");
                }
                run
            }
            StmtKind::Pre(p, body) => {
                let t = self.encoder.pred(env, p)?;
                if t.no == Bool::TRUE && pre == Pre::Guard {
                    return Ok(Run::blocked(env.clone()));
                }
                let def = t.def(self.terms());
                let is_guard = pre == Pre::Guard || self.encoder.mutant == Mutant::InnerPreIsGuard;
                let fault = if is_guard { !def } else { !t.yes };
                let body = self.run(env, body, Pre::Duty)?;
                let mut run = body.only_if(self.terms(), t.yes);
                run.fault = self.terms().or([run.fault, fault]);
                run
            }
            StmtKind::Assert(p, body) => {
                let t = self.encoder.pred(env, p)?;
                let body = self.run(env, body, Pre::Duty)?;
                let mut run = body.only_if(self.terms(), t.yes);
                if self.encoder.mutant != Mutant::AssertIsGuard {
                    run.fault = self.terms().or([run.fault, !t.yes]);
                }
                run
            }
            StmtKind::Select(arms, otherwise) => self.select(env, arms, otherwise.as_deref())?,
            StmtKind::Choice(parts) => {
                let mut all: Option<Run<'m>> = None;
                for part in parts {
                    let run = self.run(env, part, Pre::Duty)?;
                    all = Some(match all {
                        None => run,
                        Some(rest) => {
                            let first = self.selector();
                            self.either(first, run, rest, s.span)?
                        }
                    });
                }
                all.unwrap_or_else(|| Run::blocked(env.clone()))
            }
            StmtKind::If(arms, otherwise) => {
                let mut tests = vec![];
                for (cond, _) in arms {
                    let t = self.encoder.pred(env, cond)?;
                    tests.push(t);
                    if t.yes == Bool::TRUE {
                        break;
                    }
                }
                let mut rest = match otherwise {
                    Some(s) if tests.len() == arms.len() => self.run(env, s, Pre::Duty)?,
                    _ => Run::done(env.clone()),
                };
                for (t, (_, body)) in tests.into_iter().zip(arms).rev() {
                    if t.no == Bool::TRUE {
                        continue;
                    }
                    let def = t.def(self.terms());
                    let then = self.run(env, body, Pre::Duty)?;
                    let both = self.either(t.yes, then, rest, s.span)?;
                    rest = both.only_if(self.terms(), def);
                    rest.fault = self.terms().or([rest.fault, !def]);
                }
                rest
            }
            StmtKind::Case(subject, arms, otherwise) => {
                self.case(env, subject, arms, otherwise.as_deref(), s.span)?
            }
            StmtKind::Any(locals, pred, body) => {
                let (found, ok) = self.choose(env, locals, &[pred], s.span)?;
                let t = self.encoder.pred(&found, pred)?;
                if t.no == Bool::TRUE || ok == Bool::FALSE {
                    return Ok(Run::blocked(env.clone()));
                }
                let def = t.def(self.terms());
                let body = self.run(&found, body, Pre::Duty)?;
                let mut run = body.only_if(self.terms(), t.yes);
                run.fault = self.terms().or([run.fault, !def]);
                run.only_if(self.terms(), ok)
            }
            StmtKind::Let(defs, body) => {
                let (inner, def) = self.encoder.bind_all(env, defs)?;
                if def == Bool::FALSE {
                    return Ok(self.faulty(env));
                }
                let run = self.run(&inner, body, Pre::Duty)?.only_if(self.terms(), def);
                run.unless(self.terms(), !def)
            }
            StmtKind::Var(locals, body) => {
                let inner = locals.iter().fold(env.clone(), |env, l| env.with_local(*l, Val::none()));
                self.run(&inner, body, Pre::Duty)?
            }
            StmtKind::Seq(parts) => {
                let mut run = Run::done(env.clone());
                for part in parts {
                    if run.go == Bool::FALSE {
                        break;
                    }
                    let next = self.run(&run.env, part, Pre::Duty)?;
                    run = self.then(run, next);
                }
                run
            }
            StmtKind::Par(parts) => self.parallel(env, parts, s.span)?,
            StmtKind::While { cond, body, invariant, variant } => {
                self.repeat(env, (cond, body, invariant, variant), s.span)?
            }
            StmtKind::Call { results, op, args } => self.call(env, results, *op, args, s.span)?,
        })
    }

    fn faulty(&self, env: &Env<'m>) -> Run<'m> {
        Run { fault: Bool::TRUE, ..Run::blocked(env.clone()) }
    }

    /// The one run, and after it the other.
    fn then(&mut self, first: Run<'m>, second: Run<'m>) -> Run<'m> {
        let terms = self.terms();
        let late = second.only_if(terms, first.go);
        let mut written = first.written;
        for (target, when) in late.written {
            let before = written.get(&target).copied().unwrap_or(Bool::FALSE);
            written.insert(target, terms.or([before, when]));
        }
        Run {
            env: late.env,
            go: late.go,
            fault: terms.or([first.fault, late.fault]),
            escape: terms.or([first.escape, late.escape]),
            written,
        }
    }

    /// The one or the other.
    fn either(&mut self, cond: Bool, a: Run<'m>, b: Run<'m>, span: Span) -> Res<Run<'m>> {
        match cond {
            Bool::TRUE => return Ok(a),
            Bool::FALSE => return Ok(b),
            _ => {}
        }
        let mut env = b.env.clone();
        let mut written = BTreeMap::new();
        for target in a.written.keys().chain(b.written.keys()) {
            if written.contains_key(target) {
                continue;
            }
            let when = |r: &Run| r.written.get(target).copied().unwrap_or(Bool::FALSE);
            let value = self.pick(cond, (&a, read(&a.env, *target)), (&b, read(&b.env, *target)), span)?;
            env = write(env, *target, value);
            written.insert(*target, self.encoder.terms.ite(cond, when(&a), when(&b)));
        }
        let terms = self.terms();
        Ok(Run {
            env,
            go: terms.ite(cond, a.go, b.go),
            fault: terms.ite(cond, a.fault, b.fault),
            escape: terms.ite(cond, a.escape, b.escape),
            written,
        })
    }

    /// A value after one of two runs. What a run that never ends would have left does not matter.
    fn pick(
        &mut self,
        cond: Bool,
        a: (&Run<'m>, Val<'m>),
        b: (&Run<'m>, Val<'m>),
        span: Span,
    ) -> Res<Val<'m>> {
        match (a.0.go, b.0.go) {
            (Bool::FALSE, _) => Ok(b.1),
            (_, Bool::FALSE) => Ok(a.1),
            _ => self.encoder.ite_val(cond, a.1, b.1, span),
        }
    }

    fn select(
        &mut self,
        env: &Env<'m>,
        arms: &'m [(Expr, Stmt)],
        otherwise: Option<&'m Stmt>,
    ) -> Res<Run<'m>> {
        let mut all: Option<Run<'m>> = None;
        let (mut faults, mut escapes, mut none) = (vec![], vec![], vec![]);
        for (guard, body) in arms {
            let t = self.encoder.pred(env, guard)?;
            none.push(t.no);
            if t.no == Bool::TRUE {
                continue;
            }
            let def = t.def(self.terms());
            let run = self.run(env, body, Pre::Duty)?.only_if(self.terms(), t.yes);
            faults.extend([!def, run.fault]);
            escapes.push(run.escape);
            all = Some(match all {
                None => run,
                Some(rest) => {
                    let first = self.selector();
                    self.either(first, run, rest, guard.span)?
                }
            });
        }
        let mut run = all.unwrap_or_else(|| Run::blocked(env.clone()));
        run.fault = self.terms().or(faults);
        run.escape = self.terms().or(escapes);
        if let Some(s) = otherwise {
            let none = self.terms().and(none);
            let none = if self.encoder.mutant == Mutant::ElseAlways { self.selector() } else { none };
            if none != Bool::FALSE {
                let last = self.run(env, s, Pre::Duty)?;
                run = self.either(none, last, run, s.span)?;
            }
        }
        Ok(run)
    }

    fn case(
        &mut self,
        env: &Env<'m>,
        subject: &'m Expr,
        arms: &'m [(Vec<Expr>, Stmt)],
        otherwise: Option<&'m Stmt>,
        span: Span,
    ) -> Res<Run<'m>> {
        let v = self.encoder.eval(env, subject)?;
        if v.is_none() {
            return Ok(self.faulty(env));
        }
        let mut open = v.def;
        let mut faults = vec![!v.def];
        let mut taken = vec![];
        for (labels, body) in arms {
            let mut here = vec![];
            for label in labels {
                let l = self.encoder.eval(env, label)?;
                let same = self.encoder.equal(&v.sym, &l.sym, label.span)?;
                let terms = self.terms();
                faults.push(terms.and([open, !l.def]));
                here.push(terms.and([open, l.def, same]));
                open = terms.and([open, l.def, !same]);
            }
            taken.push((self.terms().or(here), body));
        }
        let last = match otherwise {
            Some(s) => self.run(env, s, Pre::Duty)?,
            None => Run::done(env.clone()),
        };
        let mut run = last.only_if(self.terms(), open);
        for (here, body) in taken.into_iter().rev() {
            if here != Bool::FALSE {
                let body = self.run(env, body, Pre::Duty)?;
                run = self.either(here, body, run, span)?;
            }
        }
        let fault = self.terms().or(faults);
        Ok(run.unless(self.terms(), fault))
    }

    fn becomes_element(
        &mut self,
        env: &Env<'m>,
        targets: &'m [Lhs],
        set: &'m Expr,
        span: Span,
    ) -> Res<Run<'m>> {
        let s = self.encoder.item(env, set)?;
        if s.is_none() {
            return Ok(self.faulty(env));
        }
        let Some(ty) = set.ty.elem() else { return unsupported(span, "an element of what is no set") };
        let before = std::mem::replace(&mut self.encoder.only_total_hulls, true);
        let hull = self.encoder.hull_of_elements(&s.sym, ty, set.span);
        self.encoder.only_total_hulls = before;
        let hull = match hull? {
            Some(hull) => hull,
            None => self.encoder.hull_by_type(ty, set.span)?,
        };
        let shape = self.encoder.shape(&hull, "element", set.span)?;
        self.inputs.extend(shape.vars.iter().copied());
        if shape.is_value == Bool::FALSE {
            let run = Run::blocked(env.clone());
            return Ok(run.unless(self.terms(), !s.def));
        }
        let t = self.encoder.has(&shape.sym, &s.sym, set.span)?;
        let mut parts = vec![];
        let mut rest = shape.sym.clone();
        for _ in 1..targets.len() {
            let Sym::Pair(p) = &rest else { return unsupported(span, "elements that are no tuples") };
            let p = p.clone();
            parts.push(p.1.clone());
            rest = p.0.clone();
        }
        parts.push(rest);
        parts.reverse();
        let values = targets.iter().zip(parts.into_iter().map(Val::sure)).collect();
        let def = t.def(self.terms());
        let run = self.assign(env, env.clone(), values)?;
        let inside = self.terms().and([shape.is_value, t.yes]);
        let undefined = self.terms().and([shape.is_value, !def]);
        let mut run = run.only_if(self.terms(), inside);
        run.fault = self.terms().or([run.fault, undefined]);
        let run = run.only_if(self.terms(), s.def);
        Ok(run.unless(self.terms(), !s.def))
    }

    /// Writes to several places at once. What stands in the left sides has its value in `old`; the writes go to `new`.
    fn assign(&mut self, old: &Env<'m>, new: Env<'m>, values: Vec<(&'m Lhs, Val<'m>)>) -> Res<Run<'m>> {
        let mut writes: BTreeMap<Target, Val<'m>> = BTreeMap::new();
        let mut faults = vec![];
        for (lhs, value) in values {
            let value = if lhs.path.is_empty() {
                value
            } else {
                let whole = read(&new, lhs.target);
                self.updated(old, whole, &lhs.path, value, lhs.span)?
            };
            faults.push(!value.def);
            if let Some(other) = writes.get(&lhs.target).cloned() {
                let same = self.same(&other, &value, lhs.span)?;
                faults.push(!same);
            }
            writes.insert(lhs.target, Val { def: Bool::TRUE, ..value });
        }
        let mut run = Run::done(new);
        for (target, value) in writes {
            run.env = write(run.env, target, value);
            run.written.insert(target, Bool::TRUE);
        }
        let fault = self.terms().or(faults);
        Ok(run.unless(self.terms(), fault))
    }

    /// Two values that are both there are the same.
    fn same(&mut self, a: &Val<'m>, b: &Val<'m>, span: Span) -> Res<Bool> {
        if self.encoder.mutant == Mutant::ClashIsFine {
            return Ok(Bool::TRUE);
        }
        if a.is_none() || b.is_none() {
            return Ok(Bool::FALSE);
        }
        self.encoder.equal(&a.sym, &b.sym, span)
    }

    /// The value with another one at the end of the path: `f(x) := E` is `f := f <+ {x |-> E}`.
    fn updated(
        &mut self,
        env: &Env<'m>,
        whole: Val<'m>,
        path: &'m [Access],
        value: Val<'m>,
        span: Span,
    ) -> Res<Val<'m>> {
        let Some((step, rest)) = path.split_first() else { return Ok(value) };
        if whole.is_none() || value.is_none() {
            return Ok(Val::none());
        }
        match step {
            Access::Index(index) => {
                let x = self.encoder.eval(env, index)?;
                if x.is_none() {
                    return Ok(x);
                }
                let part = if rest.is_empty() {
                    value
                } else {
                    let part = self.encoder.apply(&whole.sym, &x.sym, span)?;
                    self.updated(env, part, rest, value, span)?
                };
                if part.is_none() {
                    return Ok(part);
                }
                let def = self.terms().and([whole.def, x.def, part.def]);
                let sym = self.with_point(&whole.sym, &x.sym, part.sym, span)?;
                let v = self.encoder.settle(Val::sure(sym), span)?;
                let def = self.terms().and([def, v.def]);
                Ok(Val { sym: v.sym, def })
            }
            Access::Field(i) => {
                let Sym::Rec(fields) = &whole.sym else {
                    return unsupported(span, "a field of what is no record");
                };
                let mut fields: Vec<Sym<'m>> = fields.to_vec();
                let Some(place) = fields.get_mut(*i as usize) else {
                    return unsupported(span, "a field that does not exist");
                };
                let part = self.updated(env, Val::sure(place.clone()), rest, value, span)?;
                *place = part.sym;
                let def = self.terms().and([whole.def, part.def]);
                Ok(Val { sym: Sym::Rec(Arc::new(fields)), def })
            }
        }
    }

    /// A function with this value for this argument.
    fn with_point(&mut self, f: &Sym<'m>, x: &Sym<'m>, y: Sym<'m>, span: Span) -> Res<Sym<'m>> {
        let Sym::Fun(points) = f else {
            let pair = Lazy::Ext(vec![Sym::pair(x.clone(), y)]).into();
            return Ok(Lazy::Override(f.clone(), pair).into());
        };
        let mut points = (**points).clone();
        for (x, here) in self.encoder.options(x, span)? {
            let new = match points.get(&x) {
                None => (here, y.clone()),
                Some((there, old)) => {
                    let there = self.encoder.terms.or([*there, here]);
                    (there, self.encoder.ite(here, &y, &old.clone(), span)?)
                }
            };
            points.insert(x, new);
        }
        Ok(Sym::Fun(Arc::new(points)))
    }

    /// Each part runs in the old state. Blocked if one of them is, whatever faults the others have.
    fn parallel(&mut self, env: &Env<'m>, parts: &'m [Stmt], span: Span) -> Res<Run<'m>> {
        let mut runs = vec![];
        for part in parts {
            let run = self.run(env, part, Pre::Duty)?;
            if run.go == Bool::FALSE && run.fault == Bool::FALSE && run.escape == Bool::FALSE {
                return Ok(Run::blocked(env.clone()));
            }
            runs.push(run);
        }
        // The inputs of the parts are different variables, so what each of them does is chosen on its own.
        let mut alive = vec![];
        let (mut go, mut fault, mut escape) = (vec![], vec![], vec![]);
        for run in &runs {
            alive.push(self.terms().or([run.go, run.fault, run.escape]));
            go.push(run.go);
            fault.push(run.fault);
            escape.push(run.escape);
        }
        let alive = self.terms().and(alive);
        let mut new = Run::done(env.clone());
        let mut ends = vec![];
        for run in runs {
            for (&target, &when) in &run.written {
                let value = read(&run.env, target);
                let before = new.written.get(&target).copied().unwrap_or(Bool::FALSE);
                if before == Bool::FALSE {
                    let old = read(&new.env, target);
                    let value = self.encoder.ite_val(when, value, old, span)?;
                    new.env = write(new.env, target, value);
                } else {
                    let other = read(&new.env, target);
                    let same = self.same(&other, &value, span)?;
                    let both = self.terms().and([before, when]);
                    let clash = self.terms().and([both, run.go, !same]);
                    let clash = self.terms().and(ends.iter().copied().chain([clash]));
                    fault.push(clash);
                    go.push(!clash);
                    let value = self.encoder.ite_val(when, value, other, span)?;
                    new.env = write(new.env, target, value);
                }
                let when = self.terms().or([before, when]);
                new.written.insert(target, when);
            }
            ends.push(run.go);
        }
        let terms = self.terms();
        new.go = terms.and(go);
        let (fault, escape) = (terms.or(fault), terms.or(escape));
        new.fault = terms.and([alive, fault]);
        new.escape = terms.and([alive, escape]);
        Ok(new)
    }

    /// WHILE, as far as it is unrolled: the invariant holds whenever the condition is looked at, the variant is a natural
    /// number that decreases.
    fn repeat(
        &mut self,
        env: &Env<'m>,
        parts: (&'m Expr, &'m Stmt, &'m Expr, &'m Expr),
        span: Span,
    ) -> Res<Run<'m>> {
        let (cond, body, invariant, variant) = parts;
        let mut open = Run::done(env.clone());
        let mut ended = Run::blocked(env.clone());
        let mut last: Option<Sym<'m>> = None;
        for turn in 0.. {
            let inside = open.env.clone().with_before(env.clone());
            let holds = match self.encoder.mutant {
                Mutant::LoopInvariantForgotten => Truth::YES,
                _ => self.encoder.pred(&inside, invariant)?,
            };
            let test = self.encoder.pred(&open.env, cond)?;
            let terms = self.terms();
            let alive = terms.and([open.go, holds.yes]);
            let def = test.def(terms);
            let (broken, undefined) = (terms.and([open.go, !holds.yes]), terms.and([alive, !def]));
            open.fault = terms.or([open.fault, broken, undefined]);
            let ends = terms.and([alive, test.no]);
            let mut goes = terms.and([alive, test.yes]);
            let here = Run { go: ends, ..open.clone() };
            ended = self.either(ends, here, ended, span)?;
            if goes == Bool::FALSE {
                break;
            }
            if turn == MAX_TURNS {
                open.escape = self.terms().or([open.escape, goes]);
                break;
            }
            let now = self.encoder.eval(&open.env, variant)?;
            let mut bad = !now.def;
            if !now.is_none() {
                let zero = self.encoder.le(&Sym::int(0), &now.sym, span)?;
                let smaller = match &last {
                    Some(last) if self.encoder.mutant != Mutant::VariantForgotten => {
                        !self.encoder.le(last, &now.sym, span)?
                    }
                    _ => Bool::TRUE,
                };
                bad = self.terms().or([bad, !zero, !smaller]);
            }
            let stuck = self.terms().and([goes, bad]);
            open.fault = self.terms().or([open.fault, stuck]);
            goes = self.terms().and([goes, !bad]);
            open.go = goes;
            if goes == Bool::FALSE {
                break;
            }
            let turned = self.run(&open.env, body, Pre::Duty)?;
            open = self.then(open, turned);
            last = Some(now.sym);
        }
        Ok(Run { fault: open.fault, escape: open.escape, ..ended })
    }

    /// Parameters go in by value, results are written back; the callee sees no locals of the caller.
    fn call(
        &mut self,
        env: &Env<'m>,
        results: &'m [Lhs],
        op: OpId,
        args: &'m [Expr],
        span: Span,
    ) -> Res<Run<'m>> {
        let model = self.encoder.model;
        let Some(callee) = model.operations.get(op.index()) else {
            return unsupported(span, "a call of what is no operation");
        };
        let mut inner = env.clone().without_locals().without_before();
        let mut defs = vec![];
        for (param, arg) in callee.params.iter().zip(args) {
            let v = self.encoder.item(env, arg)?;
            let v = self.encoder.settle_whole(v, arg.span)?;
            defs.push(v.def);
            inner = inner.with_local(*param, v);
        }
        let def = self.terms().and(defs);
        if def == Bool::FALSE {
            return Ok(self.faulty(env));
        }
        // A result stands for what it is given to, which may have a value before the call.
        for (lhs, result) in results.iter().zip(&callee.results).filter(|(lhs, _)| lhs.path.is_empty()) {
            inner = inner.with_local(*result, read(env, lhs.target));
        }
        let ran = self.run(&inner, &callee.body, Pre::Duty)?;
        let mut new = env.clone();
        let mut written = BTreeMap::new();
        for (target, when) in &ran.written {
            if let Target::Var(_) = target {
                new = write(new, *target, read(&ran.env, *target));
                written.insert(*target, *when);
            }
        }
        let values = results.iter().zip(&callee.results).map(|(lhs, id)| (lhs, ran.env.local(*id))).collect();
        let assigned = self.assign(env, new.clone(), values)?;
        let run = Run { env: new, written, ..ran };
        let run = self.then(run, assigned).only_if(self.terms(), def);
        Ok(run.unless(self.terms(), !def))
    }
}
