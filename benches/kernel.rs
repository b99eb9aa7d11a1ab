//! The loops that fire the kernel's events, one state after the other and (as shipped) in batches, against a plain one. Times vary by more than the two
//! differ: `scripts/kernel-overhead` counts instructions instead.

mod common;

use common::plain::plain;
use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use std::time::Duration;

fn loops(c: &mut Criterion) {
    let mut group = c.benchmark_group("loop");
    group.sample_size(10).warm_up_time(Duration::from_secs(1)).measurement_time(Duration::from_secs(5));
    for (model, size) in [("scheduler1", 6), ("TokenRing", 5)] {
        let opened = common::opened(model, size);
        let system = common::system(&opened);
        for (name, one_by_one) in [("kernel", true), ("batches", false)] {
            group.bench_function(BenchmarkId::new(name, model), |b| {
                b.iter(|| common::kernel(&system, true, one_by_one).counts.states);
            });
        }
        group.bench_function(BenchmarkId::new("plain", model), |b| b.iter(|| plain(&system, true).states()));
    }
    group.finish();
}

criterion_group!(benches, loops);
criterion_main!(benches);
