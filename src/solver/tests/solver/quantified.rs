//! Quantifiers that are found out step by step, against enumeration.
#![cfg(feature = "cadical")]

use crate::support::*;
use kanon_solver::eval::Evaluator;
use kanon_solver::quantified::Quantifiers;
use kanon_solver::sat::Sat;
use kanon_solver::solver::{Solver, Stop};
use kanon_solver::term::{Assignment, Bool, BoolNode, BoolVar, Bounds, Terms, Var};

struct Level {
    proxy: BoolVar,
    vars: Vec<Var>,
    claim: Bool,
}

fn some_vars(terms: &mut Terms, r: &mut Random, name: &str) -> Vec<Var> {
    let mut vars = vec![Var::Bool(terms.bool_var(name))];
    if r.coin() {
        vars.push(Var::Int(terms.int_var(name, Bounds::new(-1, 2))));
    }
    vars
}

/// Whether a claim is true, with the values of quantifiers by enumeration, the innermost first in the list.
fn is_true(terms: &Terms, levels: &[Level], claim: Bool, values: &Assignment) -> bool {
    let mut values = values.clone();
    let used = terms.variables(&[claim.into()]);
    for (n, level) in levels.iter().enumerate() {
        if used.contains(&Var::Bool(level.proxy)) {
            let all = assignments(terms, &level.vars, 0);
            let exists = all.iter().any(|one| {
                let mut values = values.clone();
                values.bools.extend(one.bools.iter().map(|(k, v)| (*k, *v)));
                values.ints.extend(one.ints.iter().map(|(k, v)| (*k, v.clone())));
                is_true(terms, &levels[..n], level.claim, &values)
            });
            values.bools.insert(level.proxy, exists);
        }
    }
    Evaluator::new(terms, &values).bool(claim)
}

#[test]
fn quantifiers_agree_with_enumeration() {
    let (mut yes, mut no) = (0, 0);
    for seed in 0..cases(3000) {
        let mut r = Random::new(seed);
        let mut terms = Terms::new();
        let mut quantifiers = Quantifiers::default();
        let outer = some_vars(&mut terms, &mut r, "outer");
        let blocks: Vec<Vec<Var>> = ["x", "y"].iter().map(|n| some_vars(&mut terms, &mut r, n)).collect();
        // The innermost sees all variables, the others those of the blocks around them, and the quantifiers in them.
        let mut levels: Vec<Level> = vec![];
        for inner in (0..blocks.len()).rev() {
            let mut seen: Vec<Var> = outer.iter().chain(blocks[..=inner].iter().flatten()).copied().collect();
            seen.extend(levels.iter().map(|l| Var::Bool(l.proxy)));
            seen.extend(levels.iter().map(|l| Var::Bool(l.proxy)));
            let claim = formula(&mut terms, &mut r, &seen, 3);
            let term = quantifiers.exists(&mut terms, blocks[inner].clone(), claim);
            if let BoolNode::Var(proxy) = *terms.bool_node(term)
                && !outer.contains(&Var::Bool(proxy))
                && !blocks.iter().flatten().any(|v| *v == Var::Bool(proxy))
                && !levels.iter().any(|l| l.proxy == proxy)
            {
                levels.push(Level { proxy, vars: blocks[inner].clone(), claim });
            }
        }
        // A claim without variables of its own is no quantifier.
        if levels.len() < 2 {
            continue;
        }
        let mut seen = outer.clone();
        seen.extend(levels.last().map(|l| Var::Bool(l.proxy)));
        seen.extend(levels.last().map(|l| Var::Bool(l.proxy)));
        let claims: Vec<Bool> = (0..2).map(|_| formula(&mut terms, &mut r, &seen, 1)).collect();
        let all = terms.and(claims.clone());
        let expected = assignments(&terms, &outer, 0).iter().any(|v| is_true(&terms, &levels, all, v));
        let make = || Ok(Box::new(Sat::new(Stop::never())) as Box<dyn Solver>);
        let found = quantifiers.decide(&mut terms, &claims, &make, &Stop::never());
        let found = found.unwrap_or_else(|w| panic!("seed {seed}: {w}"));
        assert_eq!(found.model.is_some(), expected, "seed {seed}");
        if let Some(model) = found.model {
            assert!(is_true(&terms, &levels, all, &model), "seed {seed}: no model");
        }
        yes += usize::from(expected);
        no += usize::from(!expected);
    }
    assert!(yes > 100 && no > 100, "{yes} with a model, {no} without");
}
