//! What several tests share: small models, texts evaluated by the reference, random typed trees.
// Each test uses its own part of this.
#![allow(dead_code, unused_imports)]

pub mod random;
pub mod xml;

use kanon::eval::Fault;
use kanon::eval::compile::Compiler;
use kanon::eval::node;
use kanon::eval::reference::{Cx, Env, eval, holds};
use kanon::explore::{Explored, Options};
use kanon::lang::b::{Definitions, parse_expr};
use kanon::lang::diag::SourceMap;
use kanon::model::check::{Want, check_expr};
use kanon::model::{Expr, GivenSet, Model, Type};
use kanon::system::{Machine, Setup, Stop};
use kanon::value::ops::force;
use kanon::value::val::to_value;
use kanon::value::{Scope, Show, Value};
use std::sync::Arc;

/// Two given sets: `S = {a, b, c}` and the deferred `D` of two elements; integers from -3 to 5.
pub fn base() -> (Model, Scope) {
    let names = ["a", "b", "c"].map(Into::into).to_vec();
    let set = |name: &str, elements| GivenSet {
        name: name.into(),
        elements,
        named: vec![],
        is_parameter: false,
        span: Default::default(),
    };
    let model =
        Model { name: "M".into(), sets: vec![set("S", Some(names)), set("D", None)], ..Model::default() };
    (model, Scope { card: vec![3, 2], minint: (-3).into(), maxint: 5.into() })
}

/// A machine whose constants were looked for.
pub fn solved(model: &Model, scope: &Scope, most: usize, stop: &Stop) -> (Arc<Machine>, Setup) {
    let mut machine = Machine::new(model.clone(), scope.clone());
    let setup = machine.setup(most, stop);
    (Arc::new(machine), setup)
}

/// Explores a machine, reduced by its own symmetry.
pub fn explore(machine: &Arc<Machine>, options: &Options, stop: &Stop) -> Explored {
    let explored = kanon::run::explore(machine, options, stop, &mut |_| {});
    explored.unwrap_or_else(|why| panic!("{why}"))
}

/// Reads and types a text over the model.
pub fn typed(model: &mut Model, text: &str) -> Result<Expr, String> {
    let mut sources = SourceMap::default();
    let ast = parse_expr(&mut sources, "test", text, &Definitions::default())
        .map_err(|d| format!("{text}: {d:?}"))?;
    check_expr(model, &ast, Want::Either).map_err(|d| format!("{text}: {d:?}"))
}

/// The answer as a text: a value, TRUE or FALSE, `error B0301`, `limit`.
pub fn answer(model: &Model, ty: &Type, result: Result<Value, Fault>) -> String {
    match result {
        Ok(value) => Show { value: &value, ty, model }.to_string(),
        Err(Fault::Wd(wd)) => format!("error {}", wd.kind.describe().0),
        Err(Fault::Limit(..)) => "limit".to_string(),
    }
}

/// What the reference evaluator says to a text; integers that ran only from MININT to MAXINT add `(truncated)`.
pub fn ask(text: &str) -> String {
    ask_with(text, false)
}

pub fn ask_with(text: &str, eager: bool) -> String {
    match evaluated(text, eager) {
        Ok((model, ty, result, truncated)) => {
            answer(&model, &ty, result) + if truncated { " (truncated)" } else { "" }
        }
        Err(why) => why,
    }
}

type Evaluated = (Model, Type, Result<Value, Fault>, bool);

fn evaluated(text: &str, eager: bool) -> Result<Evaluated, String> {
    let (mut model, scope) = base();
    let e = typed(&mut model, text)?;
    let mut cx = Cx::new(&model, &scope).with_fuel(2_000_000);
    cx.eager = eager;
    let env = Env::new(&model);
    let result = if e.ty == Type::Pred { holds(&cx, &env, &e).map(Value::Bool) } else { eval(&cx, &env, &e) };
    let truncated = !cx.truncated().is_empty();
    drop(cx);
    Ok((model, e.ty, result, truncated))
}

/// Whether two texts denote the same value: how values are shown is not the question here.
fn same_value(text: &str, expected: &str) -> bool {
    match (evaluated(text, false), evaluated(expected, false)) {
        (Ok((_, _, Ok(a), false)), Ok((_, _, Ok(b), _))) => a == b,
        _ => false,
    }
}

/// What production says to a text; `limit` also where an unbounded integer ran only from MININT to MAXINT.
pub fn ask_production(text: &str) -> String {
    let (mut model, scope) = base();
    let e = match typed(&mut model, text) {
        Ok(e) => e,
        Err(why) => return why,
    };
    let mut compiler = Compiler::new(&model, &scope);
    let rep = compiler.rep(&e.ty);
    let mut run = |e: &Expr| -> Result<Value, Fault> {
        if e.ty == Type::Pred {
            let test = compiler.closed_test(e);
            let mut env = node::Env::new(compiler.slots.len());
            return test.holds(&mut env).map(Value::Bool).map_err(|f| *f);
        }
        let node = compiler.expr(e);
        let mut env = node::Env::new(compiler.slots.len());
        node.val(&mut env).and_then(|v| force(v, &rep)).map(|v| to_value(&v, &rep)).map_err(|f| *f)
    };
    let result = run(&e);
    answer(&model, &e.ty, result)
}

pub fn check_eval<'a>(rows: impl IntoIterator<Item = (&'a str, &'a str)>) {
    let wrong: Vec<String> = rows
        .into_iter()
        .filter_map(|(text, expected)| {
            let said = ask(text);
            (said != expected && !same_value(text, expected))
                .then(|| format!("{text}\n  expected {expected}\n  got      {said}"))
        })
        .collect();
    assert!(wrong.is_empty(), "{} rows differ:\n{}", wrong.len(), wrong.join("\n"));
}
