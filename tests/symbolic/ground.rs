//! Expressions whose names all have values: the formula is a constant, and says what the reference says.

use crate::support::random::Case;
use kanon::eval::Fault;
use kanon::model::{ConstId, Expr, ExprKind, Model, Type, VarId};
use kanon::symbolic::RefusedKind;
use kanon::symbolic::encode::{Encoder, Env, Limits, Sym, Val};
use kanon::value::Value;
use std::collections::BTreeMap;

const FUEL: u64 = 200_000;

/// What the encoder says: a value, `None` for undefined, or why it refuses.
fn encoded(case: &Case) -> Result<Option<Value>, String> {
    let mut encoder =
        Encoder::new(&case.model, &case.scope, Limits { steps: 2_000_000, ..Limits::default() });
    let mut env = Env::new(&case.model);
    for (i, v) in case.constants.iter().enumerate() {
        env = env.with_constant(ConstId(i as u32), Val::sure(Sym::ground(v)));
    }
    for (i, v) in case.variables.iter().enumerate() {
        env = env.with_variable(VarId(i as u32), Val::sure(Sym::ground(v)));
    }
    let result = encoder.eval(&env, &case.expr);
    let v = result.map_err(|r| match r.kind {
        RefusedKind::Budget => "budget".to_string(),
        _ => r.why.clone(),
    })?;
    if v.is_none() {
        return Ok(None);
    }
    assert_eq!(v.def, kanon_solver::term::Bool::TRUE, "definedness is not constant: {case:?}");
    match v.sym.value() {
        Some(v) => Ok(Some(v)),
        None => panic!("{:?} is not constant: {case:?}", v.sym),
    }
}

/// A quantifier over infinitely many values.
fn sweeps(model: &Model, e: &Expr) -> bool {
    fn is_infinite(ty: &Type) -> bool {
        match ty {
            Type::Int | Type::Str => true,
            Type::Pair(p) => is_infinite(&p.0) || is_infinite(&p.1),
            Type::Pow(t) => is_infinite(t),
            Type::Rec(fields) => fields.iter().any(|(_, t)| is_infinite(t)),
            _ => false,
        }
    }
    matches!(&e.kind, ExprKind::Quant(_, l, _) if l.iter().any(|l| is_infinite(&model.local(*l).ty)))
}

fn disagreement(case: &Case, counts: &mut BTreeMap<String, usize>) -> Option<String> {
    let mut count = |what: &str| *counts.entry(what.to_string()).or_default() += 1;
    let reference = match case.reference(false, FUEL) {
        None => {
            count("truncated");
            return None;
        }
        Some(Err(Fault::Limit(..))) => {
            count("limit");
            return None;
        }
        Some(Err(Fault::Wd(_))) => None,
        Some(Ok(v)) => Some(v),
    };
    match encoded(case) {
        Err(why) => {
            assert!(!why.contains("ill-typed"), "{case:?}");
            count(&format!("refused: {why}"));
            None
        }
        Ok(v) if v == reference => {
            count(if v.is_some() { "values" } else { "undefined" });
            None
        }
        // Membership in a comprehension may list it.
        Ok(None) if matches!(case.reference(true, FUEL), Some(Err(_)) | None) => {
            count("eager");
            None
        }
        // Of infinitely many values not all are looked at: then it is open what a quantifier says.
        Ok(None) if case.expr.any(&|e| sweeps(&case.model, e)) => {
            count("open");
            None
        }
        Ok(v) => Some(format!("reference {reference:?}\nencoder   {v:?}")),
    }
}

/// `KANON_CASES` sets how many.
#[test]
fn ground_expressions_agree() {
    let cases = std::env::var("KANON_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(20_000);
    let mut counts = BTreeMap::new();
    let mut wrong = vec![];
    for seed in 0..cases {
        let size = 4 + (seed % 16) as usize;
        // A quarter has infinite sets wherever a set may stand.
        let mut case = if seed % 4 == 3 { Case::infinite(seed, size) } else { Case::any(seed, size) };
        let Some(mut why) = disagreement(&case, &mut counts) else { continue };
        'shrink: loop {
            for smaller in case.smaller() {
                if let Some(still) = disagreement(&smaller, &mut BTreeMap::new()) {
                    (case, why) = (smaller, still);
                    continue 'shrink;
                }
            }
            break;
        }
        wrong.push(format!("{case:?}\n{why}"));
        if wrong.len() >= 10 {
            break;
        }
    }
    println!("{counts:#?}");
    assert!(wrong.is_empty(), "{} disagree:\n{}", wrong.len(), wrong.join("\n\n"));
    assert!(counts["values"] as u64 > cases / 2, "{counts:?}");
}
