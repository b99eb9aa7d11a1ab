//! The evaluator: single expressions and predicates in one state, and all successors of a state.

mod common;

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use kanon::eval::compile::Compiler;
use kanon::eval::node::{Env, settled};
use kanon::explore::StateId;
use kanon::model::{Expr, Type};
use kanon::system::{System, Transition, Visitor};
use kanon::value::fault::Fault;
use kanon::value::val::Val;
use std::hint::black_box;
use std::ops::ControlFlow;
use std::time::Duration;

/// Kind and text.
type Texts = &'static [(&'static str, &'static str)];

/// What is evaluated in a state of which model. Everything depends on the state, so nothing is folded away.
const TEXTS: [(&str, u64, Texts); 3] = [
    (
        "scheduler1",
        6,
        &[
            ("union", "known \\/ idle"),
            ("card", "card(known - idle)"),
            ("membership", "served : known - idle"),
            ("inclusion", "ran(queue) <: known - idle"),
            ("append", "queue <- served"),
            ("iseq", "queue : iseq(PROC)"),
            ("for all", "!p.(p : idle => p : known & p /: ran(queue))"),
            ("exists", "#p.(p : PROC & p /: known & p /= served)"),
            ("sum", "SIGMA(i).(i : 1..10 * card(known) | i * i)"),
            ("big integers", "(card(known) + 1) ** 100 mod 97"),
            ("comprehension", "{x, y | x : 1..2 * card(known) & y : 1..20 & x + y = 12}"),
            ("lambda", "%p.(p : known | bool(p : idle))"),
        ],
    ),
    (
        "USB_4Endpoints",
        3,
        &[
            ("image", "endpoint[pending]"),
            ("inverse image", "kind~[{control}] = endpoint~[{0}]"),
            ("function type", "endpoint : TRANSFER +-> ENDPOINT"),
            ("application", "{t | t : pending & kind(t) = bulk}"),
            ("override", "endpoint <+ pending * {4}"),
            ("pairs", "!(s, t).(s : pending & t : pending & s /= t => endpoint(s) /= endpoint(t))"),
        ],
    ),
    (
        "TokenRing",
        5,
        &[
            ("apply constant", "next(token)"),
            ("closure", "closure1(next)"),
            ("composition", "(next ; next)~"),
            ("power set", "card(POW(waiting))"),
        ],
    ),
];

/// A state in which the sets are not empty: one in the middle of the search.
fn middle(store: &kanon::explore::Store) -> kanon::explore::store::Row {
    store.row((store.len() / 2) as StateId)
}

fn texts(c: &mut Criterion) {
    let mut group = c.benchmark_group("evaluate");
    group.sample_size(20).warm_up_time(Duration::from_millis(300)).measurement_time(Duration::from_secs(1));
    for (model, size, texts) in TEXTS {
        let mut opened = common::opened(model, size);
        // Compiled comprehensions are remembered by the address of their expression.
        let exprs: Vec<Expr> = texts.iter().map(|(_, text)| common::typed(&mut opened, text)).collect();
        let system = common::system(&opened);
        let store = common::kernel(&system, false, false).store;
        let row = &middle(&store)[..];
        let values = system.values(system.start_of(row), Some(row));
        let mut compiler = Compiler::new(&opened.model, &opened.scope);
        for ((name, text), e) in texts.iter().zip(&exprs) {
            let id = BenchmarkId::new(*name, text);
            let env = |slots: usize| {
                let mut env = Env::new(slots);
                env.slots[..values.len()].clone_from_slice(&values);
                env
            };
            if e.ty == Type::Pred {
                let test = compiler.closed_test(e);
                let mut env = env(compiler.slots.len());
                group.bench_function(id, |b| {
                    b.iter(|| test.holds(black_box(&mut env)).unwrap_or_else(|f| panic!("{text}: {f:?}")));
                });
            } else {
                let node = compiler.expr(e);
                let rep = compiler.rep(&e.ty);
                let mut env = env(compiler.slots.len());
                group.bench_function(id, |b| {
                    b.iter(|| -> Val {
                        let v = node.val(black_box(&mut env)).and_then(|v| settled(v, &rep));
                        v.unwrap_or_else(|f| panic!("{text}: {f:?}"))
                    });
                });
            }
        }
    }
    group.finish();
}

struct Count(u64);

impl<H> Visitor<H> for Count {
    fn transition(&mut self, step: Transition<H>) -> ControlFlow<()> {
        black_box(step.target);
        self.0 += 1;
        ControlFlow::Continue(())
    }

    fn fault(&mut self, _: usize, fault: Box<Fault>) -> ControlFlow<()> {
        panic!("an event has no value: {fault:?}")
    }
}

fn successors(c: &mut Criterion) {
    let mut group = c.benchmark_group("successors");
    group.sample_size(20).warm_up_time(Duration::from_millis(300)).measurement_time(Duration::from_secs(1));
    for (model, size) in [("scheduler0", 6), ("scheduler1", 6), ("USB_4Endpoints", 3), ("TokenRing", 5)] {
        let opened = common::opened(model, size);
        let system = common::system(&opened);
        let store = common::kernel(&system, false, false).store;
        let row = &middle(&store)[..];
        let mut worker = system.worker(&common::never());
        group.bench_function(format!("{model} ({size})"), |b| {
            b.iter(|| {
                let mut count = Count(0);
                let _ = system.successors(&mut worker, black_box(row), &mut count);
                count.0
            });
        });
    }
    group.finish();
}

criterion_group!(benches, texts, successors);
criterion_main!(benches);
