//! What it costs to find the key of a state: labelling on Definition 3.3's graph with nauty, our own labelling, and
//! the part that witnesses take. All successors of all orbits of a model are labelled; times are for one state.

mod common;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use kanon::explore::{Options, StateId};
#[cfg(feature = "nauty")]
use kanon::symmetry::encode::{Colouring, Encoder, StateGraph};
use kanon::symmetry::{Action, MachineAction, Perm, Reducer, Strategy};
use kanon::system::{Machine, System, Transition, Visitor};
use kanon::value::fault::Fault;
use std::hint::black_box;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;

const MODELS: [(&str, u64); 3] = [("scheduler1", 10), ("TokenRing", 6), ("Towns", 3)];

struct Targets<'a>(&'a mut Vec<Vec<u64>>);

impl<H> Visitor<H> for Targets<'_> {
    fn transition(&mut self, step: Transition<H>) -> ControlFlow<()> {
        self.0.push(step.target.to_vec());
        ControlFlow::Continue(())
    }
    fn fault(&mut self, event: usize, fault: Box<Fault>) -> ControlFlow<()> {
        panic!("event {event} has no value: {fault:?}")
    }
}

/// What a reduced search asks keys for: the successors of one state per orbit.
fn rows(system: &Arc<Machine>) -> Vec<Vec<u64>> {
    let options =
        Options { symmetry: Strategy::Auto, invariant: false, deadlock: false, ..Options::default() };
    let explored =
        kanon::run::explore(system, &options, &common::never(), &mut |_| {}).expect("they go together");
    let mut worker = system.worker(&common::never());
    let mut rows = vec![];
    for id in 0..explored.store.len() as StateId {
        let _ = system.successors(&mut worker, &explored.store.row(id), &mut Targets(&mut rows));
    }
    rows
}

fn labelling(c: &mut Criterion) {
    for (model, size) in MODELS {
        let opened = common::opened(model, size);
        let system = common::system(&opened);
        let action = Arc::new(MachineAction::of(&system));
        let permuting: Arc<dyn Action> = action.clone();
        let rows = rows(&system);
        let mut group = c.benchmark_group(format!("labelling {model} ({size})"));
        group.sample_size(10).warm_up_time(Duration::from_secs(1)).measurement_time(Duration::from_secs(3));
        group.throughput(Throughput::Elements(rows.len() as u64));
        let mut witnesses: Vec<Perm> = vec![];
        // The whole key: labelling, witness, image. Never remembered, as it would be in a search.
        for strategy in [Strategy::Auto, Strategy::Nauty] {
            let Some(mut reducer) = Reducer::new(&permuting, strategy, false) else { continue };
            witnesses = rows.iter().map(|row| reducer.key_with_witness(row).1.clone()).collect();
            group.bench_function(format!("key, {strategy}"), |b| {
                b.iter(|| {
                    for row in &rows {
                        black_box(reducer.key_with_witness(black_box(row)));
                    }
                });
            });
        }
        group.bench_function("witness, checked and applied", |b| {
            let mut image = vec![];
            b.iter(|| {
                for (row, p) in rows.iter().zip(&witnesses) {
                    let is_known = action.group.contains(p) && action.row(row, p, &mut image);
                    assert!(black_box(is_known));
                }
            });
        });
        #[cfg(feature = "nauty")]
        {
            let encoder = Encoder::new(&action);
            let (mut graph, mut colouring, mut colours) =
                (StateGraph::default(), Colouring::default(), vec![]);
            let mut encode = |row: &[u64], layered: &mut kanon::symmetry::Graph| {
                encoder.graph(&action, row, &mut graph);
                graph.colours(&mut colouring, &mut colours);
                graph.layered(&colours, layered);
            };
            let mut layered = kanon::symmetry::Graph::default();
            group.bench_function("Definition 3.3's graph", |b| {
                b.iter(|| rows.iter().for_each(|row| encode(black_box(row), &mut layered)));
            });
            let graphs: Vec<kanon::symmetry::Graph> = rows
                .iter()
                .map(|row| {
                    let mut layered = kanon::symmetry::Graph::default();
                    encode(row, &mut layered);
                    layered
                })
                .collect();
            let mut labeller = kanon::symmetry::nauty::Labeller::new();
            group.bench_function("nauty alone", |b| {
                b.iter(|| {
                    for graph in &graphs {
                        assert!(black_box(labeller.label(black_box(graph))).is_ok());
                    }
                });
            });
        }
        group.finish();
    }
}

criterion_group!(benches, labelling);
criterion_main!(benches);
