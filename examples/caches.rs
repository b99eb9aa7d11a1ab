//! A cache-coherence protocol, written in Rust and checked by kanon: states, formulas, and symmetry in the caches.
//!
//!     cargo run --example caches
//!
//! Every cache has the one line that there is in one of three states: invalid, shared or modified. It asks the bus for a
//! right to read or to write, and the bus grants one request at a time: whoever else has the line modified keeps a shared
//! copy, or gives it up. The caches are interchangeable, so of n! arrangements one is explored.

use kanon::run::system::{check, ltl};
use kanon::system::{
    Check, Complete, Label, Operation, Res, Starts, Stop, System, Transition, Visit, Visitor, Width,
};
use kanon::{Action, Group, Options, Perm, Sketch, Sketcher, Strategy, show};
use std::ops::ControlFlow;
use std::sync::Arc;

const INVALID: u64 = 0;
const SHARED: u64 = 1;
const MODIFIED: u64 = 2;
const READING: u64 = 3; // has asked for the right to read
const WRITING: u64 = 4;

const NAMES: [&str; 5] = ["invalid", "shared", "modified", "reading", "writing"];

/// The protocol with some number of caches. With the mistake, a reader leaves a writer its rights.
pub struct Caches {
    pub count: usize,
    pub mistake: bool,
    operations: Vec<Operation>,
    checks: Vec<Check>,
}

impl Caches {
    pub fn new(count: usize, mistake: bool) -> Caches {
        let operations = ["ask", "grant", "evict"].map(Operation::named).to_vec();
        let checks =
            vec![Check::invariant("one writer"), Check::goal("all share"), Check::assertion("some line")];
        Caches { count, mistake, operations, checks }
    }

    /// What the bus does when it grants the request of a cache.
    fn granted(&self, row: &[u64], cache: usize) -> Vec<u64> {
        let mut next = row.to_vec();
        next[cache] = if row[cache] == READING { SHARED } else { MODIFIED };
        for (other, line) in next.iter_mut().enumerate().filter(|(other, _)| *other != cache) {
            match (row[other], row[cache]) {
                (MODIFIED, READING) if !self.mistake => *line = SHARED,
                (SHARED | MODIFIED, WRITING) => *line = INVALID,
                _ => {}
            }
        }
        next
    }
}

/// The state at hand, and which cache has moved.
pub type Here = (Vec<u64>, usize);

impl System for Caches {
    type Worker = Here;
    type Here = Here;

    fn widths(&self) -> Vec<Width> {
        vec![Width::Bits(3); self.count]
    }
    fn operations(&self) -> &[Operation] {
        &self.operations
    }
    fn checks(&self) -> &[Check] {
        &self.checks
    }
    fn worker(&self, _: &Stop) -> Here {
        (vec![], 0)
    }
    fn starts(&self, w: &mut Here, visit: &mut dyn Starts<Here>) -> Option<Complete> {
        visit.start(w, 0).is_continue().then(Complete::every_start_was_visited)
    }
    fn initial(&self, w: &mut Here, _: usize, visit: &mut Visit<'_, Here>) -> Res<ControlFlow<()>> {
        w.0 = vec![INVALID; self.count];
        let row = w.0.clone();
        Ok(visit(w, &row))
    }
    fn successors(&self, w: &mut Here, row: &[u64], visit: &mut dyn Visitor<Here>) -> ControlFlow<()> {
        let mut go = |operation, cache, target: Vec<u64>| {
            *w = (target.clone(), cache);
            visit.transition(Transition { operation, target: &target, here: w })
        };
        for cache in 0..self.count {
            let with = |line| {
                let mut next = row.to_vec();
                next[cache] = line;
                next
            };
            match row[cache] {
                INVALID => {
                    go(0, cache, with(READING))?;
                    go(0, cache, with(WRITING))?;
                }
                SHARED => {
                    go(0, cache, with(WRITING))?;
                    go(2, cache, with(INVALID))?;
                }
                MODIFIED => go(2, cache, with(INVALID))?,
                _ => go(1, cache, self.granted(row, cache))?,
            }
        }
        ControlFlow::Continue(())
    }
    fn load<'w>(&self, w: &'w mut Here, row: &[u64]) -> &'w mut Here {
        w.0 = row.to_vec();
        w
    }
    fn holds(&self, check: usize, here: &mut Here) -> Res<bool> {
        let count = |line| here.0.iter().filter(|l| **l == line).count();
        Ok(match check {
            0 => count(MODIFIED) == 0 || count(MODIFIED) + count(SHARED) == 1,
            1 => count(SHARED) == self.count,
            _ => here.0.iter().all(|l| *l <= WRITING),
        })
    }
    fn label(&self, operation: usize, here: &Here) -> Label {
        Label::from_slice(&[operation as u64, here.1 as u64])
    }
    fn show_state(&self, row: &[u64]) -> Vec<(String, String)> {
        let line = |(i, l): (usize, &u64)| (format!("cache {}", i + 1), NAMES[*l as usize].to_string());
        row.iter().enumerate().map(line).collect()
    }
}

/// Any permutation of the caches takes a state to one that behaves alike.
pub struct Exchange(Group);

impl Exchange {
    pub fn of(caches: &Caches) -> Arc<dyn Action> {
        Arc::new(Exchange(Group::of_sizes(&[caches.count as u32])))
    }
}

impl Action for Exchange {
    fn group(&self) -> &Group {
        &self.0
    }
    fn row(&self, row: &[u64], p: &Perm, out: &mut Vec<u64>) -> bool {
        out.clear();
        out.resize(row.len(), 0);
        row.iter().zip(&p.0).for_each(|(line, to)| out[*to as usize] = *line);
        true
    }
    fn label(&self, label: &Label, p: &Perm) -> Label {
        Label::from_slice(&[label[0], p.0[label[1] as usize].into()])
    }
    fn sketcher(self: Arc<Self>) -> Box<dyn Sketcher> {
        Box::new(move |row: &[u64], sketch: &mut Sketch| {
            sketch.start(&self.0);
            row.iter().zip(0..).for_each(|(line, cache)| sketch.tint(cache, *line + 1));
        })
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    if std::env::args().any(|a| a == "--animate") {
        let walk = kanon::animate::Walk::new(Arc::new(Caches::new(3, true)));
        kanon::terminal::run(Box::new(walk), &kanon::terminal::Settings::default())?;
        return Ok(());
    }
    let all = Options { goal: false, ..Options::default() };
    let reduced = Options { symmetry: Strategy::Auto, ..all.clone() };
    let good = Caches::new(6, false);
    println!("six caches:\n{}", show::text(&good, &check(&good, None, &all)?));
    let exchange = Exchange::of(&good);
    println!("up to exchange:\n{}", show::text(&good, &check(&good, Some(&exchange), &reduced)?));
    let bad = Caches::new(3, true);
    let exchange = Exchange::of(&bad);
    println!("with a mistake:\n{}", show::text(&bad, &check(&bad, Some(&exchange), &reduced)?));
    let small = Caches::new(3, false);
    for text in ["G {one writer}", "G F [grant]", "WF(grant) & WF(evict) => G F ([grant] or [evict])"] {
        let (verdict, _) = ltl(&small, None, text, &all).map_err(|d| d.message)?;
        println!("{text}: {}", show::formula(&small, &verdict));
    }
    Ok(())
}
