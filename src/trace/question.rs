//! Questions that people type: an expression has a value, a predicate a truth or solutions.

use super::ask::{Answer, Ask};
use super::fault::{fault_diagnostic, plain_error};
use super::shown;
use crate::lang::ast;
use crate::lang::diag::Diagnostic;
use crate::model::check::{Want, check_expr, check_open};
use crate::model::{Decl, ExprKind, Model, SetId, Type};
use crate::system::{Machine, Stop, System};
use crate::value::fault::Fault;
use crate::value::{Scope, Value, element_name};
use std::time::Duration;

/// How long integers without bounds are tried.
const OUTWARDS: Duration = Duration::from_secs(5);
/// Solutions of a predicate that are shown.
const MAX_SOLUTIONS: usize = 10;
/// Deferred sets up to this size get names for their elements.
const MAX_NAMES: u64 = 10_000;

/// An answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reply {
    Truth(bool),
    /// A value and its type, as text.
    Value(String),
    /// Solutions: names and values; whether there are more, and whether some may have been missed.
    Solutions {
        found: Vec<Vec<(String, String)>>,
        more: bool,
        truncated: bool,
        /// How far from 0 integers without bounds were tried, if not from MININT to MAXINT.
        reach: Option<i64>,
    },
}

/// The model of a machine with names for the elements of deferred sets, as questions may use them.
pub fn named(system: &Machine) -> Model {
    with_names(&system.model, &system.scope)
}

/// The same of a model whose constants are not solved yet.
pub fn with_names(unnamed: &Model, scope: &Scope) -> Model {
    let mut model = unnamed.clone();
    for i in 0..model.sets.len() {
        let set = SetId(i as u32);
        let size = scope.size(set);
        if model.sets[i].elements.is_none() && size <= MAX_NAMES {
            let names = (0..size as u32).map(|k| element_name(unnamed, set, k).into()).collect();
            model.sets[i].elements = Some(names);
        }
    }
    model
}

/// The type of an expression.
pub fn type_of(named: &Model, ast: &ast::Expr) -> Result<String, Vec<Diagnostic>> {
    let mut model = named.clone();
    let e = check_expr(&mut model, ast, Want::Either)?;
    let set_name = |s: SetId| model.sets[s.index()].name.clone();
    Ok(e.ty.show(&set_name).to_string())
}

/// Evaluates an expression or a predicate in a state, or without one. `named` is [`named`]'s model.
pub fn answer(
    system: &Machine,
    named: &Model,
    ast: &ast::Expr,
    row: Option<&[u64]>,
    stop: &Stop,
) -> Result<Reply, Vec<Diagnostic>> {
    let mut model = named.clone();
    let (locals, e) = check_open(&mut model, ast)?;
    if e.ty != Type::Pred && !locals.is_empty() {
        // Says which name is unknown.
        check_expr(&mut named.clone(), ast, Want::Either)?;
    }
    if row.is_none() && e.any(&|x| matches!(x.kind, ExprKind::Var(_))) {
        return Err(vec![plain_error("there is no state: INITIALISATION has no outcome")]);
    }
    let values = system.values(row.map_or(0, |row| system.start_of(row)), row);
    let mut ask = Ask::new(&model, &system.scope, &values, stop.clone()).with_solver();
    let wrong = |f: Box<Fault>| vec![fault_diagnostic(&f)];
    if e.ty != Type::Pred {
        return Ok(match ask.value(&e).map_err(wrong)? {
            Answer::Value(v) => Reply::Value(shown(&v, &e.ty, &model)),
            Answer::Symbolic => Reply::Value(crate::model::raise::text(&e, &model)),
        });
    }
    if locals.is_empty() {
        return ask.truth(&e).map(Reply::Truth).map_err(wrong);
    }
    let solved = ask.solve_outwards(&locals, &[&e], MAX_SOLUTIONS, OUTWARDS).map_err(wrong)?;
    if let (true, Some(f)) = (solved.found.is_empty(), solved.fault) {
        return Err(wrong(f));
    }
    let named = |values: &Vec<Option<Value>>| {
        let pairs = locals.iter().map(|l| model.local(*l)).zip(values);
        let show = |(d, v): (&Decl, &Option<Value>)| {
            let text = v.as_ref().map_or_else(|| "(symbolic)".into(), |v| shown(v, &d.ty, &model));
            (d.name.to_string(), text)
        };
        pairs.map(show).collect()
    };
    let found = solved.found.iter().map(named).collect();
    Ok(Reply::Solutions { found, more: solved.more, truncated: solved.truncated, reach: solved.reach })
}
