//! Random terms and systems, and their meaning by enumeration: what the solvers and engines are compared with.
#![cfg_attr(not(feature = "cadical"), allow(dead_code))] // what needs CaDiCaL is left out then

pub mod systems;

use kanon_solver::eval::{Evaluator, Value};
use kanon_solver::term::{Assignment, Bool, Bounds, Int, Terms, Var};
use num_bigint::BigInt;

/// How many cases a test runs: so many times the usual number as KANON_SOLVER_TIMES says.
pub fn cases(usual: u64) -> u64 {
    usual * std::env::var("KANON_SOLVER_TIMES").ok().and_then(|n| n.parse().ok()).unwrap_or(1)
}

/// Marsaglia's xorshift: small, and the same everywhere.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Random {
        Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 >> 11
    }

    pub fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }

    pub fn between(&mut self, low: i64, high: i64) -> i64 {
        low + self.below((high - low + 1) as usize) as i64
    }

    pub fn coin(&mut self) -> bool {
        self.next() & 1 == 1
    }

    pub fn pick<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len())]
    }
}

/// A random boolean term over variables.
pub fn formula(terms: &mut Terms, r: &mut Random, vars: &[Var], depth: usize) -> Bool {
    let bools: Vec<_> =
        vars.iter().filter_map(|v| if let Var::Bool(b) = v { Some(*b) } else { None }).collect();
    let leaf = depth == 0;
    match r.below(if leaf { 2 } else { 9 }) {
        0 if !bools.is_empty() => {
            let v = terms.of_bool(r.pick(&bools));
            if r.coin() { v } else { !v }
        }
        0 | 1 => {
            let (a, b) = (number(terms, r, vars, 0), number(terms, r, vars, 0));
            if r.coin() { terms.le(a, b) } else { terms.eq(a, b) }
        }
        2 | 3 => {
            let parts: Vec<Bool> = (0..r.between(2, 3)).map(|_| formula(terms, r, vars, depth - 1)).collect();
            if r.coin() { terms.and(parts) } else { terms.or(parts) }
        }
        4 => !formula(terms, r, vars, depth - 1),
        5 => {
            let [a, b, c] = [0; 3].map(|_| formula(terms, r, vars, depth - 1));
            terms.ite(a, b, c)
        }
        6 => {
            let (a, b) = (number(terms, r, vars, depth - 1), number(terms, r, vars, depth - 1));
            terms.le(a, b)
        }
        7 => {
            let (a, b) = (number(terms, r, vars, depth - 1), number(terms, r, vars, depth - 1));
            terms.eq(a, b)
        }
        _ => {
            let n = number(terms, r, vars, depth - 1);
            let k = terms.constant(r.between(-3, 9));
            match r.below(3) {
                0 => terms.le(n, k),
                1 => terms.le(k, n),
                _ => terms.eq(n, k),
            }
        }
    }
}

/// A random integer term over variables.
pub fn number(terms: &mut Terms, r: &mut Random, vars: &[Var], depth: usize) -> Int {
    let ints: Vec<_> =
        vars.iter().filter_map(|v| if let Var::Int(i) = v { Some(*i) } else { None }).collect();
    let leaf = depth == 0;
    match r.below(if leaf { 2 } else { 9 }) {
        0 if !ints.is_empty() => terms.of_int(r.pick(&ints)),
        0 | 1 => terms.constant(r.between(-6, 6)),
        2 | 3 => {
            let parts: Vec<(Int, BigInt)> = (0..r.between(1, 3))
                .map(|_| (number(terms, r, vars, depth - 1), BigInt::from(r.between(-5, 5))))
                .collect();
            terms.sum(parts)
        }
        4 => {
            let parts: Vec<Bool> = (0..r.between(1, 5)).map(|_| formula(terms, r, vars, depth - 1)).collect();
            terms.count(parts)
        }
        5 => {
            let (a, b) = (number(terms, r, vars, depth - 1), number(terms, r, vars, depth - 1));
            terms.mul(a, b)
        }
        6 => {
            let (a, b) = (number(terms, r, vars, depth - 1), number(terms, r, vars, depth - 1));
            terms.div(a, b)
        }
        7 => {
            let (a, b) = (number(terms, r, vars, depth - 1), number(terms, r, vars, depth - 1));
            terms.modulo(a, b)
        }
        _ => {
            let test = formula(terms, r, vars, depth - 1);
            let (a, b) = (number(terms, r, vars, depth - 1), number(terms, r, vars, depth - 1));
            terms.ite_int(test, a, b)
        }
    }
}

/// A few variables with small domains.
pub fn small_variables(terms: &mut Terms, r: &mut Random) -> Vec<Var> {
    let mut vars = vec![];
    for n in 0..r.between(1, 3) {
        vars.push(Var::Bool(terms.bool_var(format!("b{n}"))));
    }
    for n in 0..r.between(1, 3) {
        let low = r.between(-4, 4);
        vars.push(Var::Int(terms.int_var(format!("i{n}"), Bounds::new(low, low + r.between(0, 4)))));
    }
    vars
}

/// All assignments of variables, integers without bounds from -`reach` to `reach`.
pub fn assignments(terms: &Terms, vars: &[Var], reach: i64) -> Vec<Assignment> {
    let mut all = vec![Assignment::default()];
    for &v in vars {
        let values: Vec<Value> = match v {
            Var::Bool(_) => vec![Value::Bool(false), Value::Bool(true)],
            Var::Int(i) => {
                let bounds = terms.bounds(i);
                let side = |b: &Option<BigInt>, d: i64| b.as_ref().map_or(d, |b| i64::try_from(b).unwrap());
                (side(&bounds.low, -reach)..=side(&bounds.high, reach))
                    .map(|n| Value::Int(n.into()))
                    .collect()
            }
        };
        let extend = |a: &Assignment| {
            let a = a.clone();
            values
                .iter()
                .map(move |value| {
                    let mut a = a.clone();
                    a.set(v, value.clone());
                    a
                })
                .collect::<Vec<_>>()
        };
        all = all.iter().flat_map(extend).collect();
    }
    all
}

pub fn is_true(terms: &Terms, b: Bool, a: &Assignment) -> bool {
    Evaluator::new(terms, a).bool(b)
}

/// This and no other assignment to the variables.
pub fn exactly(terms: &mut Terms, vars: &[Var], a: &Assignment) -> Bool {
    let parts: Vec<Bool> = vars
        .iter()
        .map(|&v| match v {
            Var::Bool(b) => {
                let term = terms.of_bool(b);
                if a.bool_var(b) { term } else { !term }
            }
            Var::Int(i) => {
                let (term, value) = (terms.of_int(i), a.int_var(terms, i));
                let value = terms.constant(value);
                terms.eq(term, value)
            }
        })
        .collect();
    terms.and(parts)
}
