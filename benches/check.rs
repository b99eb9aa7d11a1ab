//! Whole checks: from the text of a model to its verdict, with everything that is checked by default.

mod common;

use criterion::{Criterion, criterion_group, criterion_main};
use kanon::explore::{Options, explore};
use std::time::Duration;

/// Model, size of its deferred sets, states.
const CHECKS: [(&str, u64, usize); 6] = [
    ("scheduler0", 5, 648),
    ("scheduler1", 5, 5200),
    ("RussianPostalPuzzle", 4, 2324),
    ("USB_4Endpoints", 2, 692),
    ("TokenRing", 4, 3072),
    ("Dining", 3, 324),
];

fn checks(c: &mut Criterion) {
    let mut group = c.benchmark_group("check");
    group.sample_size(10).warm_up_time(Duration::from_secs(1)).measurement_time(Duration::from_secs(3));
    for (model, size, states) in CHECKS {
        group.bench_function(format!("{model} ({size})"), |b| {
            b.iter(|| {
                let opened = common::opened(model, size);
                let system = common::system(&opened);
                let explored = explore(&*system, None, &Options::default(), &common::never(), &mut |_| {});
                let explored = explored.expect("they go together");
                assert_eq!((explored.counts.states, explored.verdict.holds()), (states, true));
            });
        });
    }
    group.finish();
}

criterion_group!(benches, checks);
criterion_main!(benches);
