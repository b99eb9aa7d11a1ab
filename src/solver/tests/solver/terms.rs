//! Random terms: what the solvers say against enumeration with the evaluator.

use crate::support::*;
use kanon_solver::blast::Mistake;
use kanon_solver::sat::{Options, Sat};
use kanon_solver::solver::{NoAnswer, Outcome, Solver, Stop};
use kanon_solver::term::{Bool, Bounds, Terms, Var};
use num_bigint::BigInt;

/// The number of models by enumeration and by a solver, which has to name each once.
fn counts(seed: u64, make: &dyn Fn() -> Box<dyn Solver>) -> Result<(), String> {
    let mut r = Random::new(seed);
    let mut terms = Terms::new();
    let vars = small_variables(&mut terms, &mut r);
    let depth = 1 + r.below(3);
    let claim = formula(&mut terms, &mut r, &vars, depth);
    let all = assignments(&terms, &vars, 0);
    let expected = all.iter().filter(|a| is_true(&terms, claim, a)).count();
    let mut solver = make();
    solver.assert(&terms, claim);
    let mut found = 0;
    loop {
        match solver.check(&terms, &[]) {
            Outcome::Sat(model) => {
                if !model.is_within_bounds(&terms) || !is_true(&terms, claim, &model) {
                    return Err(format!("seed {seed}: {model:?} is no model"));
                }
                found += 1;
                if found > expected {
                    return Err(format!("seed {seed}: more than {expected} models"));
                }
                let this = exactly(&mut terms, &vars, &model);
                solver.assert(&terms, !this);
            }
            Outcome::Unsat(core) if core.is_empty() => break,
            other => return Err(format!("seed {seed}: {other:?}")),
        }
    }
    if found == expected { Ok(()) } else { Err(format!("seed {seed}: {found} models of {expected}")) }
}

/// Assumptions, one after the other and all in one solver; integers without bounds; cores.
fn assumptions(seed: u64, make: &dyn Fn() -> Box<dyn Solver>) -> Result<bool, String> {
    let mut r = Random::new(seed);
    let mut terms = Terms::new();
    let mut vars = small_variables(&mut terms, &mut r);
    vars.truncate(3);
    let half = if r.coin() { Bounds::default() } else { Bounds { low: Some(0.into()), high: None } };
    vars.push(Var::Int(terms.int_var("open", half)));
    let base = formula(&mut terms, &mut r, &vars, 1);
    let mut solver = make();
    solver.assert(&terms, base);
    let all = assignments(&terms, &vars, 12);
    let mut decided = false;
    for _ in 0..4 {
        let depth = 1 + r.below(3);
        let assumed: Vec<Bool> =
            (0..r.between(1, 4)).map(|_| formula(&mut terms, &mut r, &vars, depth)).collect();
        let holds = |claims: &[Bool]| {
            all.iter().any(|a| is_true(&terms, base, a) && claims.iter().all(|&c| is_true(&terms, c, a)))
        };
        match solver.check(&terms, &assumed) {
            Outcome::Sat(model) => {
                let is_model = model.is_within_bounds(&terms)
                    && is_true(&terms, base, &model)
                    && assumed.iter().all(|&c| is_true(&terms, c, &model));
                if !is_model {
                    return Err(format!("seed {seed}: {model:?} is no model"));
                }
                decided = true;
            }
            Outcome::Unsat(core) => {
                if core.iter().any(|c| !assumed.contains(c)) {
                    return Err(format!("seed {seed}: the core is not of the assumptions"));
                }
                if holds(&core) {
                    return Err(format!("seed {seed}: the core {core:?} has a model"));
                }
                decided = true;
            }
            Outcome::Unknown(NoAnswer::Overflow) => {}
            Outcome::Unknown(why) => return Err(format!("seed {seed}: {why:?}")),
        }
    }
    Ok(decided)
}

/// Multiplication with many bits is hard, and most random terms without an answer never get one.
const LIMIT: usize = 16;

fn sat() -> Box<dyn Solver> {
    Box::new(Sat::with(Options { limit: LIMIT, ..Options::default() }, Stop::never()))
}

fn narrow() -> Box<dyn Solver> {
    Box::new(Sat::with(Options { width: 1, limit: LIMIT, mistake: None }, Stop::never()))
}

#[test]
fn sat_counts_the_models_of_random_terms() {
    for seed in 0..cases(1500) {
        counts(seed, &sat).unwrap();
    }
}

#[test]
fn sat_under_assumptions_and_without_bounds() {
    let n = cases(800);
    for make in [&sat as &dyn Fn() -> Box<dyn Solver>, &narrow] {
        let decided = (0..n).filter(|&seed| assumptions(seed, make).unwrap()).count() as u64;
        assert!(decided > n * 9 / 10, "only {decided} of {n} were decided");
    }
}

#[test]
fn planted_mistakes_are_found() {
    use Mistake::*;
    for mistake in [DropsOverflow, CutsVariables, CountsOneMore, SwapsIte, ForgetsSign, DividesUnsigned] {
        let options = Options { width: 4, limit: 8, mistake: Some(mistake) };
        let make = || Box::new(Sat::with(options, Stop::never())) as Box<dyn Solver>;
        let is_found = (0..2000)
            .any(|seed| counts(seed, &make).is_err() || assumptions(seed, &make).is_err())
            || large_numbers(Some(mistake)).is_err();
        assert!(is_found, "nobody noticed {mistake:?}");
    }
}

/// Equations whose solutions need many bits, and some that have none.
fn large_numbers(mistake: Option<Mistake>) -> Result<(), String> {
    let make = |limit| Sat::with(Options { limit, mistake, ..Options::default() }, Stop::never());
    let power = |n: u32| BigInt::from(2).pow(n);
    let mut terms = Terms::new();
    let x = terms.int_var("x", Bounds::default());
    let y = terms.int_var("y", Bounds::default());
    let (x, y) = (terms.of_int(x), terms.of_int(y));
    let big = terms.constant(power(40));
    let double = terms.sum([(x, 2.into())]);
    let product = terms.mul(x, y);
    let square = terms.mul(x, x);
    let fourth = terms.mul(square, square);
    let odd = terms.constant(power(41) + 1);
    let three = terms.constant(3);
    let is_big = terms.le(big, x);
    let table = [
        (terms.eq(double, big), true),
        // No even number is odd, but that is not seen bit by bit: who knows what is outside?
        (terms.eq(double, odd), false),
        (terms.eq(product, big), true),
        (terms.eq(square, big), true),
        (is_big, true),
    ];
    for (claim, expected) in table {
        let mut solver = make(64);
        solver.assert(&terms, claim);
        match (solver.check(&terms, &[]), expected) {
            (Outcome::Sat(model), true) if is_true(&terms, claim, &model) => {}
            (Outcome::Unsat(_) | Outcome::Unknown(NoAnswer::Overflow), false) => {}
            (got, _) => return Err(format!("{claim:?}: {got:?} instead of {expected:?}")),
        }
    }
    // x is at least 2^16 and x^4 is small: impossible, and a word of 64 bits that is cut off says otherwise.
    let medium = terms.constant(power(16));
    let is_big = terms.le(medium, x);
    let small = terms.le(fourth, three);
    let mut solver = make(20);
    solver.assert(&terms, is_big);
    match solver.check(&terms, &[small]) {
        Outcome::Sat(model) => Err(format!("{model:?}")),
        _ => Ok(()),
    }
}

#[test]
fn numbers_are_as_large_as_they_need() {
    large_numbers(None).unwrap();
}

/// A chain of a hundred thousand choices: no stack is used for it.
#[test]
fn terms_are_deep() {
    let mut terms = Terms::new();
    let vars = [Var::Int(terms.int_var("x", Bounds::new(0, 3))), Var::Bool(terms.bool_var("b"))];
    let [Var::Int(x), Var::Bool(b)] = vars else { unreachable!("as they were just made") };
    let (x, b) = (terms.of_int(x), terms.of_bool(b));
    let mut chain = x;
    let mut flag = b;
    for n in 0..100_000 {
        let k = terms.constant(n % 3);
        let same = terms.eq(x, k);
        chain = terms.ite_int(flag, chain, k);
        flag = terms.ite(same, flag, !b);
    }
    let claim = terms.eq(chain, x);
    let mut solver = sat();
    let all = assignments(&terms, &vars, 0);
    for flag in [flag, !flag] {
        let both = [claim, flag];
        let expected = all.iter().any(|a| both.iter().all(|&c| is_true(&terms, c, a)));
        match solver.check(&terms, &both) {
            Outcome::Sat(model) => assert!(both.iter().all(|&c| is_true(&terms, c, &model))),
            Outcome::Unsat(_) => assert!(!expected),
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn an_interrupted_solver_says_so() {
    let stop = Stop::never();
    stop.interrupt();
    let mut terms = Terms::new();
    let b = terms.bool_var("b");
    let b = terms.of_bool(b);
    assert!(matches!(Sat::new(stop).check(&terms, &[b]), Outcome::Unknown(NoAnswer::Stopped)));
    // One pigeon too many takes CaDiCaL more than a moment.
    let (pigeons, holes) = (14, 13);
    let mut places = vec![];
    for p in 0..pigeons {
        let row: Vec<Bool> = (0..holes)
            .map(|h| {
                let v = terms.bool_var(format!("p{p}h{h}"));
                terms.of_bool(v)
            })
            .collect();
        places.push(row);
    }
    let start = std::time::Instant::now();
    let mut solver = Sat::new(Stop::after(std::time::Duration::from_millis(200)));
    for row in &places {
        let somewhere = terms.or(row.iter().copied());
        solver.assert(&terms, somewhere);
    }
    for (p, row) in places.iter().enumerate() {
        for other in &places[..p] {
            for (&here, &there) in row.iter().zip(other) {
                let not_both = terms.or([!here, !there]);
                solver.assert(&terms, not_both);
            }
        }
    }
    match solver.check(&terms, &[]) {
        Outcome::Unknown(NoAnswer::Stopped) | Outcome::Unsat(_) => {}
        other => panic!("{other:?}"),
    }
    assert!(start.elapsed().as_secs() < 10);
}
