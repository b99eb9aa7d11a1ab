//! The production evaluator against the reference on random trees: values are equal, and where the
//! reference has a well-definedness fault so has production. The other way round there is one exception, below.
//! Production's two tiers, the general one and the one on words, have the same value or the same fault, to the place.

use crate::support::random::Case;
use kanon::eval::Fault;
use kanon::eval::compile::Compiler;
use kanon::eval::node::{Env, Node, Test};
use kanon::eval::word::lower::{Known, Lower};
use kanon::eval::word::{Pred, Word};
use kanon::model::{Expr, ExprKind, Type};
use kanon::value::Value;
use kanon::value::rep::Rep;
use kanon::value::val::{Val, force, from_value, to_value};
use std::sync::atomic::{AtomicU64, Ordering};

const FUEL: u64 = 200_000;

/// What production says; `None` where it gives up or enumerates an unbounded integer.
fn production(case: &Case) -> Option<Result<Value, Fault>> {
    let mut compiler = Compiler::new(&case.model, &case.scope);
    let rep = compiler.rep(&case.expr.ty);
    let is_pred = case.expr.ty == Type::Pred;
    let test = is_pred.then(|| compiler.closed_test(&case.expr));
    let node = (!is_pred).then(|| compiler.expr(&case.expr));
    let mut env = Env::new(compiler.slots.len());
    for (slot, value) in case.constants.iter().chain(&case.variables).enumerate() {
        env.set(slot as u32, from_value(value, &compiler.slots[slot].rep)?);
    }
    let result = match (&test, &node) {
        (Some(test), _) => test.holds(&mut env).map(Value::Bool),
        (_, Some(node)) => node.val(&mut env).and_then(|v: Val| force(v, &rep)).map(|v| to_value(&v, &rep)),
        _ => return None,
    };
    let truncated = env.truncated.take();
    same_on_words(case, &compiler, test.as_ref(), node.as_ref(), env, &result);
    match result {
        _ if truncated.is_some() => None,
        Ok(v) => Some(Ok(v)),
        Err(fault) if matches!(*fault, Fault::Limit(..)) => None,
        Err(fault) => Some(Err(*fault)),
    }
}

/// Trees that the fast tier did not leave to the general one.
static ON_WORDS: AtomicU64 = AtomicU64::new(0);

/// The fast tier says the same, also when it remembers.
fn same_on_words(
    case: &Case,
    compiler: &Compiler,
    test: Option<&Test>,
    node: Option<&Node>,
    mut env: Env,
    expected: &Result<Value, Box<Fault>>,
) {
    let n = case.constants.len();
    for slot in 0..n + case.variables.len() {
        env.words.push(env.table.word(&env.slots[slot]));
    }
    env.words.resize(compiler.slots.len(), 0);
    // Constants known and unknown in turn: literals or words that are read.
    let fixed =
        |slot: usize| if slot.is_multiple_of(2) { Known::Fixed(env.words[slot]) } else { Known::Word };
    let known: Vec<Known> = (0..n).map(fixed).collect();
    let table = env.table.clone();
    let variables = n as u32..(n + case.variables.len()) as u32;
    let mut lower = Lower::new(&compiler.slots, &table, &known, variables);
    let rep = Rep::of(&case.expr.ty, &case.scope);
    let pred = test.and_then(|t| lower.closed(t));
    let word = node.and_then(|n| lower.closed_value(n, &rep));
    let slow = matches!(pred, Some(Pred::Slow(_))) || matches!(word, Some(Word::Slow(_)));
    ON_WORDS.fetch_add(u64::from(!slow && (pred.is_some() || word.is_some())), Ordering::Relaxed);
    env.memos = (0..lower.sites).map(|_| Default::default()).collect();
    env.lists = vec![Default::default(); lower.sites];
    for time in ["first", "second"] {
        let got = match (&pred, &word) {
            (Some(pred), _) => pred.holds(&mut env).map(Value::Bool),
            (_, Some(word)) => word.get(&mut env).map(|w| to_value(&table.decode(w, &rep), &rep)),
            _ => return,
        };
        // How far an enumeration went before it was cut off may differ.
        if !matches!(&got, Err(e) if matches!(**e, Fault::Limit(..))) {
            assert_eq!(*expected, got, "on words, the {time} time: {case:?}");
        }
    }
}

/// How often there was something to compare: two values, two faults, or one of each.
#[derive(Debug, Default)]
struct Compared {
    values: u64,
    faults: u64,
    mixed: u64,
}

/// Why the two disagree; with `faults`, also if only one of them has a fault.
fn disagreement(case: &Case, faults: bool, compared: &mut Compared) -> Option<String> {
    let reference = case.reference(false, FUEL)?;
    if let Err(Fault::Limit(..)) = reference {
        return None;
    }
    let production = match std::panic::catch_unwind(|| production(case)) {
        Ok(answer) => answer?,
        Err(_) => return Some("production panics, or its tiers differ".to_string()),
    };
    match (&reference, &production) {
        (Ok(_), Ok(_)) => compared.values += 1,
        (Err(_), Err(_)) => compared.faults += 1,
        _ => compared.mixed += 1,
    }
    match (&reference, &production) {
        (Ok(a), Ok(b)) if a == b => None,
        (Err(_), Err(_)) => None,
        (Err(_), Ok(_)) | (Ok(_), Err(_)) if !faults => None,
        // Production may list a comprehension where the reference only tests membership.
        (Ok(_), Err(_)) if matches!(case.reference(true, FUEL), Some(Err(_)) | None) => None,
        // The set that a bound variable ranges over is faulty: production cannot run through an infinite type
        // to see that nothing depends on it, and says so.
        (Ok(_), Err(_)) if case.expr.any(&binds) => None,
        _ => Some(format!("reference {reference:?}\nproduction {production:?}")),
    }
}

fn binds(e: &Expr) -> bool {
    matches!(e.kind, ExprKind::Quant(..) | ExprKind::Compr(..) | ExprKind::ComprMap(..) | ExprKind::Bind(..))
}

fn compare(cases: u64, faults: bool) {
    let cases = std::env::var("KANON_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(cases);
    let (mut wrong, mut compared) = (vec![], Compared::default());
    for seed in 0..cases {
        let mut case = Case::any(seed, 4 + (seed % 16) as usize);
        let Some(mut why) = disagreement(&case, faults, &mut compared) else { continue };
        'shrink: loop {
            for smaller in case.smaller() {
                if let Some(still) = disagreement(&smaller, faults, &mut Compared::default()) {
                    (case, why) = (smaller, still);
                    continue 'shrink;
                }
            }
            break;
        }
        wrong.push(format!("{case:?}\n{why}"));
        if wrong.len() >= 25 {
            break;
        }
    }
    let on_words = ON_WORDS.load(Ordering::Relaxed);
    println!("{compared:?} of {cases}, {on_words} on words");
    // Agreement means nothing if one of them always gives up.
    assert!(compared.values > cases / 2 || !wrong.is_empty(), "{compared:?} of {cases}");
    assert!(on_words > cases / 2, "only {on_words} of {cases} on words");
    assert!(wrong.is_empty(), "{} disagree:\n{}", wrong.len(), wrong.join("\n\n"));
}

/// `KANON_CASES` sets how many.
#[test]
fn values_and_faults_agree() {
    compare(100_000, true);
}
