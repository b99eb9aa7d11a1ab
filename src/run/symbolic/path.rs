//! From what a solver found to a run of the machine: decoded to values, run again by the evaluator step by step, and
//! judged by it. What the evaluator does not confirm is never shown.

use super::super::answer::Counterexample;
use super::super::check::{lacking, shown};
use super::super::deadline::Deadline;
use super::super::project::Project;
use super::Task;
use crate::explore::FindingKind;
use crate::model::{BinOp, Decl, Expr, ExprKind, Fun, Lit, Model, Stmt, StmtKind, Target, Type};
use crate::symbolic::machine::Encoded;
use crate::system::{Machine, Role, System, Transition, Visitor};
use crate::trace::replay::{self, Recorded, RecordedStep};
use crate::trace::{INITIALISATION, Trace};
use crate::value::Value;
use crate::value::fault::Fault;
use crate::verdict::{Verdict, Why};
use kanon_solver::engine::{Bad, Counterexample as Path};
use std::ops::ControlFlow;

/// The finding that the path leads to, in the eyes of the evaluator.
pub(super) fn confirmed(
    project: &Project,
    task: &Task,
    encoded: &Encoded,
    path: &Path,
    deadline: &Deadline,
) -> Verdict<Box<Counterexample>> {
    let opened = &project.opened;
    let constants = encoded.constants(&path.first);
    let mut model = with_constants(&opened.model, &constants);
    if let (Some(state), true) = (encoded.state(&path.first), path.why != Bad::Initialisation) {
        let variables = model.variables.clone();
        pin(&mut model.initialisation, &state, &variables);
    }
    let mut machine = Machine::new(model, opened.scope.clone());
    let setup = machine.setup(1000, &deadline.flag);
    let no = |why: String| Verdict::Unknown(Why::Formulas(why));
    if setup.valuations == 0 && !encoded.quantifiers.is_empty() {
        return no("a path was found, but the evaluator does not decide PROPERTIES for its constants".into());
    }
    if setup.valuations == 0 {
        let why = "the evaluator does not accept the constants of a path that the solver found";
        return Verdict::Unknown(Why::Internal(why.into()));
    }
    let judge = Judge { system: &machine, task };
    if path.why == Bad::Initialisation {
        return match judge.starts(deadline) {
            Some((start, kind)) => {
                let trace = Trace { constants: machine.constant_values(start), steps: vec![] };
                Verdict::Fails(Box::new(shown(opened, &machine, (&kind, start), trace, None)))
            }
            None => {
                no("INITIALISATION is undefined or blocked in the formulas, and not in the evaluator".into())
            }
        };
    }
    let name = |op: Option<crate::model::OpId>| {
        op.map_or(INITIALISATION.into(), |op| opened.model.operations[op.index()].name.to_string())
    };
    let mut outside = false;
    let mut steps = vec![];
    for (op, state) in [(None, &path.first)]
        .into_iter()
        .chain(path.steps.iter().map(|s| (Some(encoded.events[s.event]), &s.state)))
    {
        let values = encoded.state(state);
        outside = values.is_none();
        let state = values.unwrap_or_default().into_iter().map(Some).collect();
        steps.push(RecordedStep { name: name(op), op, state, ..RecordedStep::default() });
    }
    let length = steps.len() - 1;
    let recorded = Recorded { constants, steps };
    let ends = match replay::ends(&machine, &recorded, &deadline.flag) {
        Ok(ends) => ends,
        Err(why) => {
            return no(format!(
                "a path of {length} steps to a bad state was found, but the evaluator does not confirm it: {why}"
            ));
        }
    };
    let mut is_judged = true;
    for (row, trace) in ends {
        let kind = match judge.state(&row, deadline) {
            Judged::Bad(kind) => kind,
            Judged::Good => continue,
            Judged::Open => {
                is_judged = false;
                continue;
            }
        };
        if let Err(why) = replay::confirm(&machine, &trace) {
            return Verdict::Unknown(Why::Internal(why));
        }
        let start = machine.start_of(&row);
        let found = shown(opened, &machine, (&kind, start), trace, Some(&row));
        let failing = match &kind {
            FindingKind::WellDefinedness { operation: Some(e), .. } => machine.events.get(*e).map(|e| e.op),
            _ => None,
        };
        if let Some(name) = lacking(&opened.model, &found.trace, failing) {
            return no(format!(
                "{} after {length} steps, but a part of the precondition of `{name}` speaks of the abstraction and was \
                 left out, so that this path need not exist",
                found.message
            ));
        }
        return Verdict::Fails(Box::new(found));
    }
    if !is_judged {
        return no(format!("a path of {length} steps was found to a state that the evaluator cannot judge"));
    }
    if outside {
        return no(format!(
            "after {} steps a value is beyond what the formulas have room for, and nothing is wrong with it: bound \
             it in the invariant",
            length
        ));
    }
    Verdict::Unknown(Why::Internal(format!(
        "the last state of a path of {length} steps is bad for the solver and good for the evaluator"
    )))
}

/// What is wrong with states, according to the evaluator: the observers of `explore::observe`.
struct Judge<'a> {
    system: &'a Machine,
    task: &'a Task,
}

/// What the evaluator says to a state.
enum Judged {
    Good,
    Bad(FindingKind),
    /// Something was beyond a limit, or cut short.
    Open,
}

impl Judge<'_> {
    fn state(&self, row: &[u64], deadline: &Deadline) -> Judged {
        let options = &self.task.options;
        let mut worker = self.system.worker(&deadline.flag);
        let (mut fault, mut is_open) = (None, false);
        for role in [Role::Invariant, Role::Assertion, Role::Goal] {
            let wanted = match role {
                Role::Invariant => options.invariant,
                Role::Assertion => options.assertions,
                Role::Goal => options.goal,
            };
            if !wanted {
                continue;
            }
            let checks = self.system.checks().iter().enumerate().filter(|(_, c)| c.role == role);
            for (place, (check, _)) in checks.enumerate() {
                let here = self.system.load(&mut worker, row);
                match (self.system.holds(check, here), role) {
                    (Ok(false), Role::Invariant) => return Judged::Bad(FindingKind::Invariant(place)),
                    (Ok(false), Role::Assertion) => return Judged::Bad(FindingKind::Assertion(place)),
                    (Ok(true), Role::Goal) => return Judged::Bad(FindingKind::Goal),
                    (Ok(_), _) => {}
                    (Err(f), _) if matches!(*f, Fault::Wd(_)) => fault = fault.or(Some(f)),
                    (Err(_), _) => is_open = true,
                }
            }
        }
        if let Some(fault) = fault {
            return Judged::Bad(FindingKind::WellDefinedness { fault, operation: None });
        }
        let mut look = Look { transitions: 0, fault: None, limited: false };
        let _ = self.system.successors(&mut worker, row, &mut look);
        if let Some((operation, fault)) = look.fault {
            return Judged::Bad(FindingKind::WellDefinedness { fault, operation: Some(operation) });
        }
        if is_open || look.limited || self.system.cut(&mut worker).is_some() || deadline.is_set() {
            return Judged::Open;
        }
        let has_operations = !self.system.operations().is_empty();
        let is_dead = look.transitions == 0 && options.deadlock && has_operations;
        if is_dead { Judged::Bad(FindingKind::Deadlock) } else { Judged::Good }
    }

    /// A valuation for which INITIALISATION has no value, or no end.
    fn starts(&self, deadline: &Deadline) -> Option<(usize, FindingKind)> {
        for start in 0..self.system.valuations() {
            let mut worker = self.system.worker(&deadline.flag);
            let mut any = false;
            let ran = self.system.initial(&mut worker, start, &mut |_, _| {
                any = true;
                ControlFlow::Continue(())
            });
            match ran {
                Err(fault) if matches!(*fault, Fault::Wd(_)) => {
                    return Some((start, FindingKind::WellDefinedness { fault, operation: None }));
                }
                Ok(_) if !any && self.task.options.deadlock && self.system.cut(&mut worker).is_none() => {
                    return Some((start, FindingKind::Deadlock));
                }
                _ => {}
            }
        }
        None
    }
}

/// The transitions of a state.
struct Look {
    transitions: u64,
    fault: Option<(usize, Box<Fault>)>,
    limited: bool,
}

impl Visitor<<Machine as System>::Here> for Look {
    fn transition(&mut self, _: Transition<<Machine as System>::Here>) -> ControlFlow<()> {
        self.transitions += 1;
        ControlFlow::Continue(())
    }

    fn fault(&mut self, operation: usize, fault: Box<Fault>) -> ControlFlow<()> {
        match *fault {
            Fault::Wd(_) => drop(self.fault.get_or_insert((operation, fault))),
            Fault::Limit(..) => self.limited = true,
        }
        ControlFlow::Continue(())
    }
}

/// The model with constants that are known: what determines them comes first.
fn with_constants(model: &Model, values: &[Option<Value>]) -> Model {
    let mut model = model.clone();
    let mut equations = vec![];
    for (i, (decl, value)) in model.constants.iter().zip(values).enumerate() {
        if let Some(value) = value {
            let kind = ExprKind::Const(crate::model::ConstId(i as u32));
            let left = Expr { kind, ty: decl.ty.clone(), span: decl.span };
            let right = literal(value, &decl.ty, decl);
            let kind = ExprKind::Binary(BinOp::Eq, Box::new(left), Box::new(right));
            equations.push(Expr { kind, ty: Type::Pred, span: decl.span });
        }
    }
    equations.append(&mut model.properties);
    model.properties = equations;
    model
}

/// Lets `x :: S` in INITIALISATION become the value that is known to be the one in the end, if it is an element of S. Every
/// run of what becomes of it is a run of INITIALISATION, so a path that is confirmed is one; but S, which may have many
/// elements, is not enumerated.
fn pin(s: &mut Stmt, state: &[Value], variables: &[Decl]) {
    if let StmtKind::BecomesElement(targets, set) = &s.kind
        && let [lhs] = targets.as_slice()
        && let (Target::Var(id), []) = (lhs.target, lhs.path.as_slice())
        && let (Some(value), Some(decl)) = (state.get(id.index()), variables.get(id.index()))
    {
        let value = literal(value, &decl.ty, decl);
        let inside = ExprKind::Binary(BinOp::In, Box::new(value.clone()), Box::new(set.clone()));
        let inside = Expr { kind: inside, ty: Type::Pred, span: set.span };
        let assign = Stmt { kind: StmtKind::Assign(vec![(lhs.clone(), value)]), span: s.span };
        s.kind = StmtKind::Select(vec![(inside, assign)], None);
        return;
    }
    if let StmtKind::Par(parts) | StmtKind::Seq(parts) = &mut s.kind {
        // A variable that is written again in a sequence would have another value: then nothing is found, and the path
        // is not confirmed.
        parts.iter_mut().for_each(|part| pin(part, state, variables));
    }
}

/// A value as an expression.
fn literal(value: &Value, ty: &Type, decl: &Decl) -> Expr {
    let part = |v: &Value, ty: &Type| literal(v, ty, decl);
    let kind = match (value, ty) {
        (Value::Bool(b), _) => ExprKind::Lit(if *b { Lit::True } else { Lit::False }),
        (Value::Int(i), _) => ExprKind::Int(i.clone()),
        (Value::Str(s), _) => ExprKind::Str(s.clone()),
        (Value::Elem(set, i), _) => ExprKind::Elem(*set, *i),
        (Value::Real(r), _) => ExprKind::Real((**r).clone()),
        (Value::Free(case, argument), Type::Free(free)) => {
            let argument = argument.as_ref().zip(free.argument(*case));
            let args = argument.map(|(v, t)| part(v, &t)).into_iter().collect();
            ExprKind::Call(Fun::Construct(*case), args)
        }
        (Value::Pair(p), Type::Pair(t)) => {
            ExprKind::Binary(BinOp::Pair, Box::new(part(&p.0, &t.0)), Box::new(part(&p.1, &t.1)))
        }
        (Value::Rec(fields), Type::Rec(types)) => {
            ExprKind::Rec(fields.iter().zip(types.iter()).map(|(v, (_, t))| part(v, t)).collect())
        }
        (Value::Set(s), Type::Pow(t)) if !s.is_empty() => {
            ExprKind::SetExt(s.iter().map(|v| part(v, t)).collect())
        }
        // Values have the types of their declarations, so what is left is an empty set.
        _ => ExprKind::Lit(Lit::EmptySet),
    };
    Expr { kind, ty: ty.clone(), span: decl.span }
}
