//! The visited set: rows that are new, rows that are known, in packed rows of one word and of several.

use criterion::{BatchSize, BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use kanon::explore::store::{Arriving, Layout, ROOT, Store};
use kanon_refinement::kernel::Rrac;
use std::hint::black_box;

const ROWS: u64 = 100_000;

fn row(i: u64) -> [u64; 3] {
    [i & 0xFFF, i >> 12, i.count_ones().into()]
}

fn filled(layout: &Layout) -> Store {
    let mut store = Store::new(layout.clone());
    for i in 0..ROWS {
        let _ = store.insert_if_absent(Arriving { row: &row(i), parent: ROOT });
    }
    store
}

fn insert(c: &mut Criterion) {
    let mut group = c.benchmark_group("store");
    group.throughput(Throughput::Elements(ROWS)).sample_size(20);
    for (name, layout) in
        [("one word", Layout::of_bits(&[12, 20, 6])), ("three words", Layout::of_bits(&[64, 64, 64]))]
    {
        group.bench_function(BenchmarkId::new("new", name), |b| b.iter(|| filled(black_box(&layout))));
        group.bench_function(BenchmarkId::new("known", name), |b| {
            b.iter_batched_ref(
                || filled(&layout),
                |store| {
                    for i in 0..ROWS {
                        let key = Arriving { row: &row(i * 7919 % ROWS), parent: ROOT };
                        black_box(store.insert_if_absent(key));
                    }
                },
                BatchSize::LargeInput,
            );
        });
    }
    group.finish();
}

criterion_group!(benches, insert);
criterion_main!(benches);
