//! Times, for whoever changes an encoding or an engine: `cargo test --release -p kanon-solver measure:: --
//! --ignored --nocapture`.

use kanon_solver::bmc::bmc;
use kanon_solver::engine::{Answer, Settings};
use kanon_solver::ic3::ic3;
use kanon_solver::kinduction::k_induction;
use kanon_solver::sat::Sat;
use kanon_solver::solver::{Outcome, Solver, Stop};
use kanon_solver::term::{Bool, Bounds, Int, Terms, Var};
use kanon_solver::transition::{Cell, EventFormula, Property, Transitions};
use std::time::{Duration, Instant};

fn grid(terms: &mut Terms, rows: usize, columns: usize) -> Vec<Vec<Bool>> {
    let mut cell = |n: String| {
        let v = terms.bool_var(n);
        terms.of_bool(v)
    };
    (0..rows).map(|r| (0..columns).map(|c| cell(format!("{r},{c}"))).collect()).collect()
}

/// So many of these, at most.
fn at_most(terms: &mut Terms, parts: Vec<Bool>, most: usize) -> Bool {
    let (n, most) = (terms.count(parts), terms.constant(most));
    terms.le(n, most)
}

fn exactly(terms: &mut Terms, parts: Vec<Bool>, many: usize) -> Bool {
    let (n, many) = (terms.count(parts), terms.constant(many));
    terms.eq(n, many)
}

fn solve(name: &str, terms: &Terms, claims: &[Bool]) {
    let begin = Instant::now();
    let mut sat = Sat::new(Stop::after(Duration::from_secs(60)));
    for &c in claims {
        sat.assert(terms, c);
    }
    let answer = match sat.check(terms, &[]) {
        Outcome::Sat(_) => "sat".to_string(),
        Outcome::Unsat(_) => "unsat".to_string(),
        Outcome::Unknown(why) => format!("{why:?}"),
    };
    let (wires, clauses, width) = sat.size();
    println!(
        "{name}: {answer}, {:.3} s, {wires} wires, {clauses} clauses, {width} bits",
        begin.elapsed().as_secs_f64()
    );
}

fn queens(n: usize) {
    let mut terms = Terms::new();
    let board = grid(&mut terms, n, n);
    let mut claims = vec![];
    for i in 0..n {
        claims.push(exactly(&mut terms, board[i].clone(), 1));
        let column = board.iter().map(|row| row[i]).collect();
        claims.push(exactly(&mut terms, column, 1));
    }
    for d in 0..2 * n - 1 {
        for down in [true, false] {
            let of = |r: usize| if down { (r + d).checked_sub(n - 1) } else { d.checked_sub(r) };
            let line: Vec<Bool> =
                (0..n).filter_map(|r| of(r).filter(|&c| c < n).map(|c| board[r][c])).collect();
            if line.len() > 1 {
                claims.push(at_most(&mut terms, line, 1));
            }
        }
    }
    solve(&format!("queens {n}"), &terms, &claims);
}

/// Queens as numbers: x + i and x - i all different.
fn queens_by_number(n: usize, bounds: &Bounds) {
    let mut terms = Terms::new();
    let rows: Vec<Int> = (0..n)
        .map(|i| {
            let v = terms.int_var(format!("q{i}"), bounds.clone());
            terms.of_int(v)
        })
        .collect();
    let mut claims = vec![];
    let (low, high) = (terms.constant(0), terms.constant(n as i64 - 1));
    for i in 0..n {
        claims.extend([terms.le(low, rows[i]), terms.le(rows[i], high)]);
        for j in 0..i {
            for d in [0, (i - j) as i64, -((i - j) as i64)] {
                let d = terms.constant(d);
                let moved = terms.add(rows[j], d);
                claims.push(!terms.eq(rows[i], moved));
            }
        }
    }
    solve(&format!("queens {n} as numbers, {bounds:?}"), &terms, &claims);
}

/// k + 1 balls in k places, by counts: easy for nobody.
fn pigeons(k: usize) {
    let mut terms = Terms::new();
    let places = grid(&mut terms, k + 1, k);
    let mut claims = vec![];
    for row in &places {
        claims.push(exactly(&mut terms, row.clone(), 1));
    }
    for c in 0..k {
        let column = places.iter().map(|row| row[c]).collect();
        claims.push(at_most(&mut terms, column, 1));
    }
    solve(&format!("pigeons {k}"), &terms, &claims);
}

/// Half of each row and each column.
fn halves(n: usize) {
    let mut terms = Terms::new();
    let cells = grid(&mut terms, n, n);
    let mut claims = vec![];
    for i in 0..n {
        claims.push(exactly(&mut terms, cells[i].clone(), n / 2));
        let column = cells.iter().map(|row| row[i]).collect();
        claims.push(exactly(&mut terms, column, n / 2));
        let diagonal = (0..n).map(|j| cells[j][(i + j) % n]).collect();
        claims.push(exactly(&mut terms, diagonal, n / 2));
    }
    solve(&format!("halves {n}"), &terms, &claims);
}

/// 3 by 3 and more, all sums equal.
fn magic(n: usize) {
    let mut terms = Terms::new();
    let most = n * n;
    let mut cells = vec![];
    for i in 0..most {
        let v = terms.int_var(format!("m{i}"), Bounds::new(1, most));
        cells.push(terms.of_int(v));
    }
    let total = terms.constant(n * (most + 1) / 2);
    let mut claims = vec![];
    let mut line = |terms: &mut Terms, places: Vec<usize>| {
        let sum = terms.sum(places.into_iter().map(|p| (cells[p], 1.into())));
        claims.push(terms.eq(sum, total));
    };
    for i in 0..n {
        line(&mut terms, (0..n).map(|j| i * n + j).collect());
        line(&mut terms, (0..n).map(|j| j * n + i).collect());
    }
    line(&mut terms, (0..n).map(|j| j * n + j).collect());
    line(&mut terms, (0..n).map(|j| j * n + n - 1 - j).collect());
    for i in 0..most {
        for j in 0..i {
            claims.push(!terms.eq(cells[i], cells[j]));
        }
    }
    solve(&format!("magic square {n}"), &terms, &claims);
}

#[test]
#[ignore = "measures for minutes and judges nothing: cargo test -p kanon-solver measure:: -- --ignored --nocapture"]
fn formulas() {
    for n in [8, 20, 40] {
        queens(n);
    }
    for n in [8, 20] {
        queens_by_number(n, &Bounds::new(0, n as i64 - 1));
        queens_by_number(n, &Bounds::default());
    }
    pigeons(8);
    for n in [8, 20, 40] {
        halves(n);
    }
    magic(3);
    magic(4);
}

fn cell(terms: &mut Terms, name: String) -> (Cell, Bool, Bool) {
    let (now, next) = (terms.bool_var(name.clone()), terms.bool_var(format!("{name}'")));
    let both = (terms.of_bool(now), terms.of_bool(next));
    (Cell { now: Var::Bool(now), next: Var::Bool(next) }, both.0, both.1)
}

fn events(system: &mut Transitions, name: String, inputs: Vec<Var>, step: Bool) {
    system.events.push(EventFormula {
        name: name.into(),
        inputs,
        step,
        is_enabled: None,
        is_undefined: Bool::FALSE,
    });
}

/// Processes that enter a critical section with a token that goes round.
fn ring(terms: &mut Terms, n: usize) -> Transitions {
    let token: Vec<_> = (0..n).map(|i| cell(terms, format!("t{i}"))).collect();
    let inside: Vec<_> = (0..n).map(|i| cell(terms, format!("c{i}"))).collect();
    let mut init = vec![];
    for i in 0..n {
        init.extend([if i == 0 { token[i].2 } else { !token[i].2 }, !inside[i].2]);
    }
    let mut system = Transitions {
        cells: token.iter().chain(&inside).map(|c| c.0).collect(),
        rigid: vec![],
        axioms: Bool::TRUE,
        axiom_inputs: vec![],
        init: terms.and(init),
        init_inputs: vec![],
        init_undefined: Bool::FALSE,
        events: vec![],
        properties: vec![],
    };
    for i in 0..n {
        let next = (i + 1) % n;
        for kind in 0..3 {
            let mut parts = match kind {
                0 => vec![token[i].1, !inside[i].1, inside[i].2],
                1 => vec![inside[i].1, !inside[i].2],
                _ => vec![token[i].1, !inside[i].1, !token[i].2, token[next].2],
            };
            for j in 0..n {
                if kind == 2 || j != i {
                    parts.push(terms.iff(inside[j].1, inside[j].2));
                }
                if kind != 2 || j != i && j != next {
                    parts.push(terms.iff(token[j].1, token[j].2));
                }
            }
            let step = terms.and(parts);
            events(&mut system, format!("{kind}.{i}"), vec![], step);
        }
    }
    let count = terms.count(inside.iter().map(|c| c.1));
    let one = terms.constant(1);
    let is_bad = terms.lt(one, count);
    system.properties.push(Property { name: "alone".into(), is_bad, inputs: vec![] });
    system
}

/// Two counters without bounds; x stays below y.
fn chase(terms: &mut Terms, most: i64) -> Transitions {
    let mut int = |name: &str| {
        let (now, next) = (terms.int_var(name, Bounds::default()), terms.int_var(name, Bounds::default()));
        (Cell { now: Var::Int(now), next: Var::Int(next) }, terms.of_int(now), terms.of_int(next))
    };
    let (x, y) = (int("x"), int("y"));
    let (zero, one, most) = (terms.constant(0), terms.constant(1), terms.constant(most));
    let init = [terms.eq(x.2, zero), terms.eq(y.2, zero)];
    let mut system = Transitions {
        cells: vec![x.0, y.0],
        rigid: vec![],
        axioms: Bool::TRUE,
        axiom_inputs: vec![],
        init: terms.and(init),
        init_inputs: vec![],
        init_undefined: Bool::FALSE,
        events: vec![],
        properties: vec![],
    };
    let (more, less) = (terms.add(y.1, one), terms.add(x.1, one));
    let up = [terms.lt(y.1, most), terms.eq(y.2, more), terms.eq(x.2, x.1)];
    let follow = [terms.lt(x.1, y.1), terms.eq(x.2, less), terms.eq(y.2, y.1)];
    let (up, follow) = (terms.and(up), terms.and(follow));
    events(&mut system, "up".into(), vec![], up);
    events(&mut system, "follow".into(), vec![], follow);
    let is_bad = terms.lt(most, x.1);
    system.properties.push(Property { name: "below".into(), is_bad, inputs: vec![] });
    system
}

type Engine = fn(&mut Terms, &Transitions, &Settings) -> Answer;

fn run(name: &str, make_system: impl Fn(&mut Terms) -> Transitions) {
    let engines: [(&str, Engine, usize); 3] =
        [("bmc", bmc, 20), ("k-induction", k_induction, 20), ("ic3", ic3, 100)];
    for (engine_name, engine, depth) in engines {
        let mut terms = Terms::new();
        let system = make_system(&mut terms);
        let stop = Stop::after(Duration::from_secs(30));
        let inner = stop.clone();
        let make = move || Ok(Box::new(Sat::new(inner.clone())) as Box<dyn Solver>);
        let mut settings = Settings::new(&make);
        settings.depth = depth;
        settings.stop = stop;
        let begin = Instant::now();
        let answer = match engine(&mut terms, &system, &settings) {
            Answer::Fails(path) => format!("fails after {} steps", path.steps.len()),
            Answer::Holds(p) => {
                let clauses = p.invariant.map_or(0, |i| i.len());
                format!("holds, depth {}, {clauses} clauses", p.depth)
            }
            Answer::Unknown(u) => format!("unknown at {}: {}", u.depth, u.why),
        };
        println!("{name}, {engine_name}: {answer}, {:.3} s", begin.elapsed().as_secs_f64());
    }
}

#[test]
#[ignore = "measures for minutes and judges nothing: cargo test -p kanon-solver measure:: -- --ignored --nocapture"]
fn systems() {
    for n in [4, 8, 16] {
        run(&format!("ring {n}"), |terms| ring(terms, n));
    }
    run("chase 10", |terms| chase(terms, 10));
    run("chase 1000", |terms| chase(terms, 1000));
}
