//! Substitutions, and the model as a transition system.
//!
//! A run of a substitution ends in a new environment, has a fault, or is blocked (a guard is false, a choice
//! is empty). [`Outcomes`] holds all ends and all faults; with neither, every run is blocked.

use super::search::{self, Unbounded};
use super::set::{self, elements, settle};
use super::*;
use crate::model::{Access, Expr, Lhs, OpId, Stmt, StmtKind};
use num_bigint::BigInt;
use num_traits::Signed;
use std::ops::ControlFlow;

/// All ends of the runs of a substitution.
#[derive(Debug, Default)]
pub struct Outcomes<'m> {
    pub done: Vec<Env<'m>>,
    pub faults: Vec<Fault>,
}

impl<'m> Outcomes<'m> {
    fn done(env: Env<'m>) -> Self {
        Outcomes { done: vec![env], faults: vec![] }
    }

    fn fault(fault: Fault) -> Self {
        Outcomes { done: vec![], faults: vec![fault] }
    }

    fn is_blocked(&self) -> bool {
        self.done.is_empty() && self.faults.is_empty()
    }

    fn add(&mut self, other: Outcomes<'m>) {
        self.done.extend(other.done);
        self.faults.extend(other.faults);
    }
}

impl<'m> From<Result<Outcomes<'m>, Fault>> for Outcomes<'m> {
    fn from(result: Result<Outcomes<'m>, Fault>) -> Self {
        result.unwrap_or_else(Outcomes::fault)
    }
}

/// What a false PRE means.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Pre {
    /// The operation is not enabled: PRE at the top of a transition.
    Guard,
    /// A fault: PRE of a called operation, or inside of a substitution.
    Duty,
}

/// All outcomes of a substitution in which a false PRE is a fault.
pub fn execute<'m>(cx: &Cx<'m>, env: &Env<'m>, s: &'m Stmt) -> Outcomes<'m> {
    run(cx, env, s, Pre::Duty)
}

/// All outcomes of an operation's body, its parameters bound in `env`: a PRE at its top is its guard.
pub fn execute_operation<'m>(cx: &Cx<'m>, env: &Env<'m>, op: OpId) -> Outcomes<'m> {
    run(cx, env, &cx.model.operations[op.index()].body, Pre::Guard)
}

fn run<'m>(cx: &Cx<'m>, env: &Env<'m>, s: &'m Stmt, pre: Pre) -> Outcomes<'m> {
    try_run(cx, env, s, pre).into()
}

fn try_run<'m>(cx: &Cx<'m>, env: &Env<'m>, s: &'m Stmt, pre: Pre) -> Result<Outcomes<'m>, Fault> {
    let _nested = cx.enter(s.span)?;
    let run_in = |env: &Env<'m>, s: &'m Stmt| run(cx, env, s, Pre::Duty);
    Ok(match &s.kind {
        StmtKind::Skip => Outcomes::done(env.clone()),
        StmtKind::Assign(pairs) => {
            let values: Result<Vec<_>, Fault> =
                pairs.iter().map(|(lhs, e)| Ok((lhs, eval(cx, env, e)?))).collect();
            Outcomes::done(assign(cx, env, env.clone(), values?)?)
        }
        StmtKind::BecomesElement(targets, set) => {
            let mut out = Outcomes::default();
            for v in elements(cx, env, &item(cx, env, set)?, set.span)? {
                cx.spend(1, s.span)?;
                let parts = untuple(&v, targets.len()).ok_or_else(|| ill_typed(s.span))?;
                let done = assign(cx, env, env.clone(), targets.iter().zip(parts).collect());
                out.add(done.map(Outcomes::done).into());
            }
            out
        }
        StmtKind::BecomesSuch { targets, fresh, pred } => {
            let now = Env { before: None, ..env.clone() };
            choices(cx, &now, fresh, pred, |found| {
                let value = |id: &LocalId| found.local(*id).and_then(Item::value).cloned();
                let Some(values) = fresh.iter().map(value).collect::<Option<Vec<_>>>() else {
                    return Outcomes::fault(limit(s.span, "an infinite set as a variable's value"));
                };
                let writes = targets.iter().zip(values).map(|(target, v)| (*target, v, s.span));
                write(env.clone(), writes).map(Outcomes::done).into()
            })?
        }
        StmtKind::Pre(p, body) => match (holds(cx, env, p)?, pre) {
            (true, _) => run_in(env, body),
            (false, Pre::Guard) => Outcomes::default(),
            (false, Pre::Duty) => Outcomes::fault(wd(WdKind::Precondition, p.span)),
        },
        StmtKind::Assert(p, _) if !holds(cx, env, p)? => Outcomes::fault(wd(WdKind::AssertFailed, p.span)),
        StmtKind::Assert(_, body) => run_in(env, body),
        StmtKind::Select(arms, otherwise) => select(cx, env, arms, otherwise.as_deref()),
        StmtKind::Choice(parts) => {
            let mut out = Outcomes::default();
            parts.iter().for_each(|p| out.add(run_in(env, p)));
            out
        }
        StmtKind::If(arms, otherwise) => {
            for (cond, body) in arms {
                if holds(cx, env, cond)? {
                    return Ok(run_in(env, body));
                }
            }
            otherwise.as_ref().map_or_else(|| Outcomes::done(env.clone()), |s| run_in(env, s))
        }
        StmtKind::Case(subject, arms, otherwise) => {
            let v = eval(cx, env, subject)?;
            for (labels, body) in arms {
                for label in labels {
                    if eval(cx, env, label)? == v {
                        return Ok(run_in(env, body));
                    }
                }
            }
            otherwise.as_ref().map_or_else(|| Outcomes::done(env.clone()), |s| run_in(env, s))
        }
        StmtKind::Any(locals, pred, body) => {
            choices(cx, env, locals, pred, |found| run(cx, found, body, Pre::Duty))?
        }
        StmtKind::Let(defs, body) => run_in(&expr::bind_all(cx, env, defs)?, body),
        StmtKind::Var(locals, body) => {
            run_in(&env.clone().without(locals.iter().map(|l| Slot::Local(*l))), body)
        }
        StmtKind::Seq(parts) => {
            let mut out = Outcomes::done(env.clone());
            for part in parts {
                for env in std::mem::take(&mut out.done) {
                    cx.spend(1, s.span)?;
                    out.add(run_in(&env, part));
                }
            }
            out
        }
        StmtKind::Par(parts) => parallel(cx, env, parts, s.span)?,
        StmtKind::While { cond, body, invariant, variant } => {
            repeat(cx, env, cond, body, invariant, variant, s.span)?
        }
        StmtKind::Call { results, op, args } => call(cx, env, results, *op, args, s.span)?,
    })
}

/// Runs `then` under each binding that makes the predicate true; one without truth value is a fault.
fn choices<'m>(
    cx: &Cx<'m>,
    env: &Env<'m>,
    locals: &[LocalId],
    pred: &'m Expr,
    mut then: impl FnMut(&Env<'m>) -> Outcomes<'m>,
) -> Result<Outcomes<'m>, Fault> {
    let solutions = solutions(cx, env, locals, pred)?;
    let mut out = Outcomes::default();
    out.faults.extend(solutions.faulty.into_iter().map(|(_, fault)| fault));
    solutions.found.iter().for_each(|found| out.add(then(found)));
    Ok(out)
}

fn select<'m>(
    cx: &Cx<'m>,
    env: &Env<'m>,
    arms: &'m [(Expr, Stmt)],
    otherwise: Option<&'m Stmt>,
) -> Outcomes<'m> {
    let mut out = Outcomes::default();
    let mut all_false = true;
    for (guard, body) in arms {
        match holds(cx, env, guard) {
            Ok(true) => out.add(run(cx, env, body, Pre::Duty)),
            Ok(false) => continue,
            Err(fault) => out.faults.push(fault),
        }
        all_false = false;
    }
    match otherwise {
        Some(s) if all_false => run(cx, env, s, Pre::Duty),
        _ => out,
    }
}

/// Writes to several places at once. What stands in the left sides has its value in `old`; the writes go to `new`.
fn assign<'m>(
    cx: &Cx<'m>,
    old: &Env<'m>,
    new: Env<'m>,
    values: Vec<(&'m Lhs, Value)>,
) -> Result<Env<'m>, Fault> {
    let mut writes = vec![];
    for (lhs, value) in values {
        let value = if lhs.path.is_empty() {
            value
        } else {
            let whole = new.read_target(lhs.target, lhs.span)?;
            updated(cx, old, whole, &lhs.path, value, lhs.span)?
        };
        writes.push((lhs.target, value, lhs.span));
    }
    write(new, writes)
}

/// All writes at once: those to the same variable have to agree.
fn write<'m>(
    mut env: Env<'m>,
    writes: impl IntoIterator<Item = (Target, Value, Span)>,
) -> Result<Env<'m>, Fault> {
    let mut done: BTreeMap<Target, Value> = BTreeMap::new();
    for (target, value, span) in writes {
        if done.insert(target, value.clone()).is_some_and(|other| other != value) {
            return Err(wd(WdKind::Clash, span));
        }
        env = env.write_target(target, value);
    }
    Ok(env)
}

/// The value with another one at the end of the path: `f(x) := E` is `f := f <+ {x |-> E}`.
fn updated<'m>(
    cx: &Cx<'m>,
    env: &Env<'m>,
    whole: Value,
    path: &'m [Access],
    value: Value,
    span: Span,
) -> Result<Value, Fault> {
    let Some((step, rest)) = path.split_first() else { return Ok(value) };
    match (step, whole) {
        (Access::Index(index), Value::Set(pairs)) => {
            let x = eval(cx, env, index)?;
            let part = match rest {
                [] => value,
                _ => {
                    let f = Value::Set(pairs.clone()).into();
                    let part = expr::apply_to(cx, env, &f, &x, span)?;
                    updated(cx, env, part, rest, value, span)?
                }
            };
            let mut pairs = build::keep(pairs, |p| Ok(*build::as_pair(p, span)?.0 != x))?;
            pairs.insert(Value::pair(x, part));
            Ok(Value::Set(pairs))
        }
        (Access::Field(i), Value::Rec(mut fields)) => {
            let place = fields.get_mut(*i as usize).ok_or_else(|| ill_typed(span))?;
            *place = updated(cx, env, place.clone(), rest, value, span)?;
            Ok(Value::Rec(fields))
        }
        _ => Err(ill_typed(span)),
    }
}

/// Each part runs in the old state; what one of them wrote is written, and what several of them wrote has to be the
/// same value. Blocked if one of them is.
fn parallel<'m>(cx: &Cx<'m>, env: &Env<'m>, parts: &'m [Stmt], span: Span) -> Result<Outcomes<'m>, Fault> {
    let start = Env { written: Arc::default(), ..env.clone() };
    let all: Vec<Outcomes<'m>> = parts.iter().map(|p| run(cx, &start, p, Pre::Duty)).collect();
    if all.iter().any(Outcomes::is_blocked) {
        return Ok(Outcomes::default());
    }
    let mut out = Outcomes::done(start);
    for (s, part) in parts.iter().zip(all) {
        out.faults.extend(part.faults);
        for so_far in std::mem::take(&mut out.done) {
            for changed in &part.done {
                cx.spend(1, span)?;
                out.add(merge(so_far.clone(), changed, s.span).map(Outcomes::done).into());
            }
        }
    }
    for end in &mut out.done {
        Arc::make_mut(&mut end.written).extend(env.written.iter().copied());
    }
    Ok(out)
}

fn merge<'m>(mut into: Env<'m>, changed: &Env<'m>, span: Span) -> Result<Env<'m>, Fault> {
    for target in changed.written.iter() {
        // VAR, run once more by a loop, takes the value of its local away.
        let Ok(value) = changed.read_target(*target, span) else { continue };
        if into.written.contains(target) && into.read_target(*target, span)? != value {
            return Err(wd(WdKind::Clash, span));
        }
        into = into.write_target(*target, value);
    }
    Ok(into)
}

/// WHILE: the invariant holds whenever the condition is looked at; the variant is a natural number that
/// decreases with each turn. `x$0` in the invariant is the value before the loop.
fn repeat<'m>(
    cx: &Cx<'m>,
    env: &Env<'m>,
    cond: &'m Expr,
    body: &'m Stmt,
    invariant: &'m Expr,
    variant: &'m Expr,
    span: Span,
) -> Result<Outcomes<'m>, Fault> {
    let before = Some(Arc::new(env.clone()));
    // Whether the loop goes on from here, and with which variant.
    let look = |env: &Env<'m>, last: &Option<BigInt>| -> Result<Option<BigInt>, Fault> {
        cx.spend(1, span)?;
        if !holds(cx, &Env { before: before.clone(), ..env.clone() }, invariant)? {
            return Err(wd(WdKind::LoopInvariant, invariant.span));
        }
        if !holds(cx, env, cond)? {
            return Ok(None);
        }
        let now = expr::int(cx, env, variant)?;
        if now.is_negative() || last.as_ref().is_some_and(|last| now >= *last) {
            let before = last.as_ref().map(BigInt::to_string);
            return Err(*Fault::loop_variant(before, &now.to_string()).at(variant.span));
        }
        Ok(Some(now))
    };
    let mut out = Outcomes::default();
    let mut open = vec![(env.clone(), None)];
    while let Some((env, last)) = open.pop() {
        match look(&env, &last) {
            Ok(None) => out.done.push(env),
            Ok(now) => {
                let turn = run(cx, &env, body, Pre::Duty);
                out.faults.extend(turn.faults);
                open.extend(turn.done.into_iter().map(|env| (env, now.clone())));
            }
            Err(fault) => out.faults.push(fault),
        }
    }
    Ok(out)
}

/// Parameters go in by value, results are written back; the callee sees no locals of the caller.
fn call<'m>(
    cx: &Cx<'m>,
    env: &Env<'m>,
    results: &'m [Lhs],
    op: OpId,
    args: &'m [Expr],
    span: Span,
) -> Result<Outcomes<'m>, Fault> {
    let callee = cx.model.operations.get(op.index()).ok_or_else(|| ill_typed(span))?;
    let mut inner = Env { locals: Arc::default(), before: None, ..env.clone() };
    for (param, arg) in callee.params.iter().zip(args) {
        let arg = settle(cx, env, item(cx, env, arg)?, arg.span)?;
        inner = inner.with_local(*param, arg);
    }
    // A result stands for what it is given to, which may have a value before the call.
    for (lhs, result) in results.iter().zip(&callee.results).filter(|(lhs, _)| lhs.path.is_empty()) {
        if let Ok(value) = env.read_target(lhs.target, lhs.span) {
            inner = inner.with_local(*result, value);
        }
    }
    let ran = run(cx, &inner, &callee.body, Pre::Duty);
    let mut out = Outcomes { done: vec![], faults: ran.faults };
    for end in ran.done {
        let values: Result<Vec<_>, Fault> = results
            .iter()
            .zip(&callee.results)
            .map(|(lhs, id)| Ok((lhs, end.read_target(Target::Local(*id), lhs.span)?)))
            .collect();
        let mut new = Env { variables: end.variables, ..env.clone() };
        let variables = end.written.iter().filter(|t| matches!(t, Target::Var(_)));
        Arc::make_mut(&mut new.written).extend(variables.copied());
        match values.and_then(|values| assign(cx, env, new, values)) {
            Ok(new) => out.done.push(new),
            Err(fault) => out.faults.push(fault),
        }
    }
    Ok(out)
}

/// What was found, and the faults on the way.
#[derive(Debug)]
pub struct Reached<T> {
    pub found: Vec<T>,
    pub faults: Vec<Fault>,
}

/// A transition.
#[derive(Clone, Debug, PartialEq)]
pub struct Successor<'m> {
    pub op: OpId,
    pub params: Vec<Value>,
    /// A result that the run did not assign has no value.
    pub results: Vec<Option<Value>>,
    pub state: State<'m>,
}

/// A fault of an operation; the parameters are empty if it arose before they were known.
#[derive(Clone, Debug, PartialEq)]
pub struct StepFault {
    pub op: OpId,
    pub params: Vec<Value>,
    pub fault: Fault,
}

#[derive(Debug, Default)]
pub struct Successors<'m> {
    pub steps: Vec<Successor<'m>>,
    pub faults: Vec<StepFault>,
}

/// All valuations of the constants that satisfy PROPERTIES, as states without variables.
pub fn constants<'m>(cx: &Cx<'m>) -> Reached<State<'m>> {
    constants_with(cx, &[])
}

/// The same where some constants have these values: `None`, or a constant beyond the end, is looked for.
pub fn constants_with<'m>(cx: &Cx<'m>, given: &[Option<Value>]) -> Reached<State<'m>> {
    let mut env = Env::new(cx.model);
    let mut slots = vec![];
    for i in 0..cx.model.constants.len() {
        let id = ConstId(i as u32);
        match given.get(i).and_then(Option::as_ref) {
            Some(value) => env = env.with_constant(id, value.clone()),
            None => slots.push(Slot::Const(id)),
        }
    }
    let preds: Vec<&'m Expr> = cx.model.properties.iter().collect();
    let mut out = Reached { found: vec![], faults: vec![] };
    match search::all(cx, &env, &slots, &preds, Unbounded::Truncate) {
        Ok(solutions) => {
            out.faults.extend(solutions.faulty.into_iter().map(|(_, fault)| fault).reduce(worse));
            for env in solutions.found {
                match settled_constants(cx, &env) {
                    Ok(state) => out.found.push(state),
                    Err(fault) => out.faults.push(fault),
                }
            }
        }
        Err(fault) => out.faults.push(fault),
    }
    out
}

/// The constants, with the elements of those sets that can be listed.
fn settled_constants<'m>(cx: &Cx<'m>, env: &Env<'m>) -> Result<State<'m>, Fault> {
    let mut settled = vec![];
    for (i, (item, decl)) in env.constants.iter().zip(&cx.model.constants).enumerate() {
        settled.push(match item {
            Some(item) => {
                let item = settle(cx, env, item.clone(), decl.span)?;
                set::visited(cx, env, &item, ConstId(i as u32))?;
                Some(item)
            }
            None => None,
        });
    }
    Ok(State { constants: Arc::new(settled), variables: vec![None; cx.model.variables.len()] })
}

/// The distinct states after INITIALISATION, for one valuation of the constants. A variable without a value is a
/// fault.
pub fn initial_states<'m>(cx: &Cx<'m>, constants: &State<'m>) -> Reached<State<'m>> {
    let initialisation = &cx.model.initialisation;
    let outcomes = execute(cx, &Env::of(constants), initialisation);
    let mut out = Reached { found: vec![], faults: outcomes.faults };
    let targets: BTreeSet<_> = outcomes.done.into_iter().map(|env| (*env.variables).clone()).collect();
    for variables in targets {
        if variables.contains(&None) {
            out.faults.push(wd(WdKind::Unassigned, initialisation.span));
        } else {
            out.found.push(State { constants: constants.constants.clone(), variables });
        }
    }
    out
}

/// All states with these constants of which the predicates are true, whether they can be reached or not. Those of which
/// one has no truth value are not among them; where that cannot be told there is a fault.
pub fn states_where<'m>(cx: &Cx<'m>, constants: &State<'m>, preds: &[&'m Expr]) -> Reached<State<'m>> {
    let slots: Vec<Slot> = (0..cx.model.variables.len()).map(|i| Slot::Var(VarId(i as u32))).collect();
    let mut out = Reached { found: vec![], faults: vec![] };
    match search::all(cx, &Env::of(constants), &slots, preds, Unbounded::Truncate) {
        Ok(solutions) => {
            out.found.extend(solutions.found.iter().map(Env::state));
            let faults = solutions.faulty.into_iter().map(|(_, fault)| fault);
            out.faults.extend(faults.filter(|f| matches!(f, Fault::Limit(..))));
        }
        Err(fault) => out.faults.push(fault),
    }
    out
}

/// The distinct transitions from a state.
pub fn successors<'m>(cx: &Cx<'m>, state: &State<'m>) -> Successors<'m> {
    let mut out = Successors::default();
    for (i, op) in cx.model.operations.iter().enumerate() {
        if op.is_event {
            steps_of(cx, state, OpId(i as u32), &mut out);
        }
    }
    out
}

fn steps_of<'m>(cx: &Cx<'m>, state: &State<'m>, id: OpId, out: &mut Successors<'m>) {
    let op = &cx.model.operations[id.index()];
    // Only to bound the parameters and to leave out what is not enabled; the body tests it again.
    let guard: Vec<&'m Expr> = match &op.body.kind {
        StmtKind::Pre(p, _) => vec![p],
        StmtKind::Select(arms, None) if arms.len() == 1 => arms.iter().map(|(p, _)| p).collect(),
        _ => vec![],
    };
    let slots: Vec<Slot> = op.params.iter().map(|l| Slot::Local(*l)).collect();
    let env = Env::of(state);
    let mut seen = BTreeSet::new();
    let ended = search::search(cx, &env, &slots, &guard, true, Unbounded::Truncate, &mut |env, truth| {
        if truth == Ok(false) {
            return ControlFlow::Continue(());
        }
        let values = |ids: &[LocalId], env: &Env<'m>| -> Vec<Option<Value>> {
            ids.iter().map(|l| env.local(*l).and_then(Item::value).cloned()).collect()
        };
        let Some(params) = values(&op.params, env).into_iter().collect::<Option<Vec<Value>>>() else {
            let fault = limit(op.span, "an infinite set as a parameter");
            out.faults.push(StepFault { op: id, params: vec![], fault });
            return ControlFlow::Continue(());
        };
        let ran = execute_operation(cx, env, id);
        let fault = |fault| StepFault { op: id, params: params.clone(), fault };
        out.faults.extend(ran.faults.into_iter().map(fault));
        for end in ran.done {
            seen.insert((params.clone(), values(&op.results, &end), (*end.variables).clone()));
        }
        ControlFlow::Continue(())
    });
    if let Err(fault) = ended {
        out.faults.push(StepFault { op: id, params: vec![], fault });
    }
    out.steps.extend(seen.into_iter().map(|(params, results, variables)| Successor {
        op: id,
        params,
        results,
        state: State { constants: state.constants.clone(), variables },
    }));
}
