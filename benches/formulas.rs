//! Formulas of constraint problems: making them and deciding them, apart; how both grow with the sizes of sets. Before the
//! measurements a table has the sizes of the formulas, and the memory that the largest took.

use criterion::{BatchSize, BenchmarkId, Criterion, criterion_group, criterion_main};
use kanon::eval::node::Asking;
use kanon::explore::{Options, explore};
use kanon::model::load::load_text;
use kanon::model::scope::{ScopeArgs, scope};
use kanon::model::{ConstId, Model};
use kanon::symbolic::encode::{Limits, Mutant, Slot};
use kanon::symbolic::solve::{Encoded, Problem};
use kanon::system::{Machine, Stop as Stopped};
use kanon::value::Scope;
use kanon_solver::sat::Sat;
use kanon_solver::solver::{Outcome, Solver, Stop};
use std::time::{Duration, Instant};

struct Puzzle {
    name: String,
    /// PROPERTIES, if that is what it is about.
    rules: String,
    model: Model,
    scope: Scope,
}

impl Puzzle {
    fn new(name: String, properties: &str, constants: &str) -> Puzzle {
        let text = format!("MACHINE p CONSTANTS {constants} PROPERTIES {properties} END");
        Puzzle { rules: properties.to_string(), ..Puzzle::of(name, &text) }
    }

    fn of(name: String, text: &str) -> Puzzle {
        let loaded = load_text("p.mch", text);
        let model = loaded.model.unwrap_or_else(|| panic!("{name}: {:?}", loaded.diagnostics));
        let (scope, _) = scope(&model, &ScopeArgs::default()).unwrap_or_else(|d| panic!("{name}: {d:?}"));
        Puzzle { name, rules: String::new(), model, scope }
    }

    fn encoded(&self) -> Encoded<'_> {
        let constants = 0..self.model.constants.len();
        let problem = Problem {
            model: &self.model,
            scope: &self.scope,
            slots: constants.map(|i| Slot::Const(ConstId(i as u32))).collect(),
            preds: self.model.properties.iter().collect(),
            span: Default::default(),
        };
        let encoded = problem.encode(Limits::default(), Mutant::None);
        encoded.unwrap_or_else(|r| panic!("{}: {}", self.name, r.why))
    }
}

/// A solver that has decided it.
fn solved(encoded: &Encoded) -> Sat {
    let mut solver = Sat::new(Stop::never());
    for &claim in &encoded.claims {
        solver.assert(&encoded.encoder.terms, claim);
    }
    let outcome = solver.check(&encoded.encoder.terms, &[]);
    assert!(matches!(outcome, Outcome::Sat(_)), "each of them has a solution");
    solver
}

fn queens(n: usize) -> Puzzle {
    let rules = format!(
        "q : 1..{n} >-> 1..{n} & !(i, j).(i : 1..{n} & j : 1..{n} & i < j => q(i) + i /= q(j) + j & q(i) - i /= q(j) - j)"
    );
    Puzzle::new(format!("queens/{n}"), &rules, "q")
}

/// Some cells are given; a line, a column and a block have every digit.
fn sudoku() -> Puzzle {
    let given = "53..7.... 6..195... .98....6. 8...6...3 4..8.3..1 7...2...6 .6....28. ...419..5 ....8..79";
    let mut rules = "s : (1..9) * (1..9) --> 1..9 & \
        !(i, j, k).(i : 1..9 & j : 1..9 & k : 1..9 & j < k => s(i |-> j) /= s(i |-> k) & s(j |-> i) /= s(k |-> i)) & \
        !(i, j, k, l).(i : 1..9 & j : 1..9 & k : 1..9 & l : 1..9 & (i |-> j) /= (k |-> l) & \
           (i - 1) / 3 = (k - 1) / 3 & (j - 1) / 3 = (l - 1) / 3 => s(i |-> j) /= s(k |-> l))"
        .to_string();
    for (i, line) in given.split_whitespace().enumerate() {
        for (j, digit) in line.chars().enumerate().filter(|(_, c)| *c != '.') {
            rules += &format!(" & s({} |-> {}) = {digit}", i + 1, j + 1);
        }
    }
    Puzzle::new("sudoku".into(), &rules, "s")
}

/// A wheel of cliques: each node has edges to the next three, so four colours do where n is a multiple of four.
fn colouring(n: usize) -> Puzzle {
    let edges: Vec<String> =
        (0..n).flat_map(|i| (1..4).map(move |d| format!("{i} |-> {}", (i + d) % n))).collect();
    let rules =
        format!("c : 0..{} --> 1..4 & !(x, y).(x |-> y : {{{}}} => c(x) /= c(y))", n - 1, edges.join(", "));
    Puzzle::new(format!("colouring/{n}"), &rules, "c")
}

/// The most memory that this process had so far, in MiB.
fn most_memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|l| l.starts_with("VmHWM"))?;
    line.split_whitespace().nth(1)?.parse::<u64>().ok().map(|kib| kib / 1024)
}

fn formulas(c: &mut Criterion) {
    let mut puzzles = vec![sudoku()];
    puzzles.extend([8, 20, 40].map(colouring));
    puzzles.extend([8, 12, 16, 20, 24, 32, 40].map(queens));
    println!("puzzle            terms    wires  clauses  most memory so far");
    for puzzle in &puzzles {
        let encoded = puzzle.encoded();
        let (wires, clauses, _) = solved(&encoded).size();
        let terms = encoded.encoder.terms.size();
        let memory = most_memory().map_or_else(String::new, |m| format!("{m} MiB"));
        println!("{:14} {terms:8} {wires:8} {clauses:8}  {memory}", puzzle.name);
    }
    let mut group = c.benchmark_group("formulas");
    group.sample_size(10).warm_up_time(Duration::from_millis(200)).measurement_time(Duration::from_secs(1));
    for puzzle in &puzzles {
        group.bench_function(BenchmarkId::new("encode", &puzzle.name), |b| {
            b.iter(|| puzzle.encoded().claims.len())
        });
        let encoded = puzzle.encoded();
        group.bench_function(BenchmarkId::new("solve", &puzzle.name), |b| {
            b.iter_batched(|| (), |()| solved(&encoded), BatchSize::PerIteration)
        });
    }
    group.finish();
}

/// Machines with one operation whose parameters are such a problem, or a smaller one.
fn choices() -> Vec<(&'static str, Puzzle)> {
    let machine = |name: &str, unknown: &str, guard: &str| {
        let text = format!(
            "MACHINE p VARIABLES x INVARIANT x : 0..1 INITIALISATION x := 0 \
             OPERATIONS op = ANY {unknown} WHERE {guard} THEN x := 1 END END"
        );
        Puzzle::of(name.to_string(), &text)
    };
    let rules = |p: Puzzle| p.rules;
    let q6 = rules(queens(6));
    let q8 = rules(queens(8));
    let injection = "f : 1..6 >-> 1..6 & !i.(i : 1..5 => f(i) + f(i + 1) > 5) & f(1) = 6 & f(6) = 1";
    let far = "f : 1..8 >-> 1..8 & !i.(i : 1..7 => f(i) < f(i + 1) + 3) & f(1) = 8";
    let small = "a : 1..120 & b : 1..120 & a * b = 3599 & a < b";
    let middle = "a : 1..400 & b : 1..400 & a * b = 39203 & a < b";
    let large = "a : 1..3000 & b : 1..3000 & a * b = 3190021 & a < b";
    vec![
        ("queens of 6", machine("q6", "q", &q6)),
        ("queens of 8", machine("q8", "q", &q8)),
        ("sudoku", machine("sudoku", "s", &rules(sudoku()))),
        ("colouring of 8", machine("c8", "c", &rules(colouring(8)))),
        ("injections of 6", machine("i6", "f", injection)),
        ("injections of 8", machine("i8", "f", far)),
        ("factors up to 120", machine("f120", "a, b", small)),
        ("factors up to 400", machine("f400", "a, b", middle)),
        ("factors up to 3000", machine("f3000", "a, b", large)),
    ]
}

/// How long a check takes by the steps that a plan is given before the solver is asked.
fn border(_: &mut Criterion) {
    let steps = [0u64, 2_000, 20_000, 200_000, 2_000_000];
    println!(
        "\nseconds of a check, by the steps before the solver is asked\n| machine | {} |",
        steps.map(|s| s.to_string()).join(" | ")
    );
    for (name, puzzle) in choices() {
        let mut row = format!("| {name} |");
        for patience in steps {
            let asking = Asking { patience, ..Asking::default() };
            let mut best = f64::INFINITY;
            for _ in 0..3 {
                let begin = Instant::now();
                let mut machine = Machine::asking(puzzle.model.clone(), puzzle.scope.clone(), asking);
                let options = Options { deadlock: false, ..Options::default() };
                // Nobody needs to know how long it would take in the end.
                let stop = Stopped::default();
                let late = stop.clone();
                let (done, is_done) = std::sync::mpsc::channel::<()>();
                let clock = std::thread::spawn(move || {
                    if is_done.recv_timeout(Duration::from_secs(10)).is_err() {
                        late.store(true, std::sync::atomic::Ordering::Relaxed);
                    }
                });
                machine.setup(1_000_000, &stop);
                let found = explore(&machine, None, &options, &stop, &mut |_| {});
                let Ok(found) = found else { panic!("{name}: the options do not go together") };
                assert!(found.counts.states > 0, "{name}: no state");
                let _ = done.send(());
                let _ = clock.join();
                best = best.min(begin.elapsed().as_secs_f64());
                if best > 3.0 {
                    break;
                }
            }
            row += &if best >= 10.0 { " > 10 |".to_string() } else { format!(" {best:.3} |") };
        }
        println!("{row}");
    }
}

criterion_group!(benches, border, formulas);
criterion_main!(benches);
