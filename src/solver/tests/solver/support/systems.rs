//! Random transition systems, and their reachable states by enumeration.

use super::*;
use kanon_solver::eval::Value;
use kanon_solver::transition::{Cell, EventFormula, Property, Transitions};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, OnceLock};

fn like_now(terms: &mut Terms, now: Var) -> Cell {
    let name = format!("{}'", terms.name(now));
    Cell { now, next: terms.like(now, name) }
}

/// A few cells with small domains, a constant, two or three events, one or two properties.
pub fn system(terms: &mut Terms, r: &mut Random) -> Transitions {
    let mut cells = vec![];
    for n in 0..r.between(0, 2) {
        let v = Var::Bool(terms.bool_var(format!("b{n}")));
        cells.push(like_now(terms, v));
    }
    for n in 0..r.between(1, 2) {
        let low = r.between(-2, 0);
        let v = Var::Int(terms.int_var(format!("x{n}"), Bounds::new(low, low + r.between(2, 3))));
        cells.push(like_now(terms, v));
    }
    let rigid: Vec<Var> =
        if r.coin() { vec![Var::Int(terms.int_var("c", Bounds::new(0, 1)))] } else { vec![] };
    let now: Vec<Var> = cells.iter().map(|c| c.now).chain(rigid.iter().copied()).collect();
    let next: Vec<Var> = cells.iter().map(|c| c.next).chain(rigid.iter().copied()).collect();
    let axioms = if r.coin() { Bool::TRUE } else { formula(terms, r, &rigid, 1) };
    let init_inputs = if r.coin() { vec![Var::Bool(terms.bool_var("choice"))] } else { vec![] };
    let from: Vec<Var> = next.iter().copied().chain(init_inputs.iter().copied()).collect();
    // Mostly one state, sometimes any that satisfies something.
    let init = if r.below(3) > 0 {
        let all = assignments(terms, &next, 0);
        let one = all[r.below(all.len())].clone();
        exactly(terms, &next[..cells.len()], &one)
    } else {
        let (a, b) = (formula(terms, r, &from, 1), formula(terms, r, &from, 1));
        terms.and([a, b])
    };
    let mut before = rigid.clone();
    before.extend(init_inputs.iter().copied());
    let init_undefined = if r.below(8) == 0 { formula(terms, r, &before, 1) } else { Bool::FALSE };
    let mut events = vec![];
    for n in 0..r.between(1, 3) {
        let inputs = match r.below(3) {
            0 => vec![Var::Int(terms.int_var(format!("p{n}"), Bounds::new(0, 2)))],
            1 => vec![Var::Bool(terms.bool_var(format!("q{n}")))],
            _ => vec![],
        };
        let here: Vec<Var> = now.iter().copied().chain(inputs.iter().copied()).collect();
        let mut parts = vec![if r.coin() { Bool::TRUE } else { formula(terms, r, &here, 1) }];
        for c in &cells {
            let change = r.below(5);
            let part = match (c.now, c.next) {
                _ if change == 0 && r.coin() => {
                    // Whatever satisfies this.
                    let both: Vec<Var> = here.iter().copied().chain([c.next]).collect();
                    formula(terms, r, &both, 1)
                }
                (Var::Bool(b), Var::Bool(after)) => {
                    let after = terms.of_bool(after);
                    let value = if change < 3 { terms.of_bool(b) } else { formula(terms, r, &here, 1) };
                    terms.iff(after, value)
                }
                (Var::Int(i), Var::Int(after)) => {
                    let (i, after) = (terms.of_int(i), terms.of_int(after));
                    let value = match change {
                        1 => i,
                        0 | 2 | 3 => {
                            let k = terms.constant(r.between(-1, 1));
                            terms.add(i, k)
                        }
                        _ => number(terms, r, &here, 1),
                    };
                    terms.eq(after, value)
                }
                _ => Bool::TRUE,
            };
            parts.push(part);
        }
        let is_undefined = if r.below(6) == 0 {
            let rare: Vec<Bool> = (0..3).map(|_| formula(terms, r, &here, 0)).collect();
            terms.and(rare)
        } else {
            Bool::FALSE
        };
        let step = terms.and(parts);
        events.push(EventFormula {
            name: format!("e{n}").into(),
            inputs,
            step,
            is_enabled: None,
            is_undefined,
        });
    }
    let mut properties = vec![];
    for n in 0..r.between(1, 2) {
        let inputs = if r.below(4) == 0 { vec![Var::Bool(terms.bool_var(format!("w{n}")))] } else { vec![] };
        let here: Vec<Var> = now.iter().copied().chain(inputs.iter().copied()).collect();
        // Mostly one state, sometimes all that satisfy something.
        let is_bad = if r.below(3) > 0 {
            let all = assignments(terms, &now, 0);
            let one = all[r.below(all.len())].clone();
            exactly(terms, &now[..cells.len()], &one)
        } else {
            let rare: Vec<Bool> = (0..r.between(2, 3)).map(|_| formula(terms, r, &here, 1)).collect();
            terms.and(rare)
        };
        properties.push(Property { name: format!("p{n}").into(), is_bad, inputs });
    }
    Transitions {
        cells,
        rigid,
        axioms,
        axiom_inputs: vec![],
        init,
        init_inputs,
        init_undefined,
        events,
        properties,
    }
}

type State = Vec<Value>;

fn both(a: &Assignment, b: &Assignment) -> Assignment {
    let mut all = a.clone();
    all.bools.extend(b.bools.iter().map(|(k, v)| (*k, *v)));
    all.ints.extend(b.ints.iter().map(|(k, v)| (*k, v.clone())));
    all
}

/// The states of a system by enumeration.
#[derive(Debug)]
pub struct Explicit {
    /// The length of a shortest path to something bad.
    pub shortest: Option<usize>,
    /// Which event preserves which property, from all states in which the axioms hold and no property is bad.
    pub preserved: Vec<Vec<bool>>,
    /// The number of steps to the state that is farthest away.
    pub diameter: usize,
}

/// The random system of a seed, with its states, which are enumerated once however many tests ask for them.
pub fn explored(seed: u64) -> (Terms, Transitions, &'static Explicit) {
    static KNOWN: Mutex<BTreeMap<u64, &'static OnceLock<Explicit>>> = Mutex::new(BTreeMap::new());
    let mut terms = Terms::new();
    let system = system(&mut terms, &mut Random::new(seed));
    // One cell per seed, until the tests end.
    let cell: &OnceLock<Explicit> =
        KNOWN.lock().expect("nothing panics here").entry(seed).or_insert_with(|| Box::leak(Box::default()));
    let explicit = cell.get_or_init(|| explore(&terms, &system));
    (terms, system, explicit)
}

fn explore(terms: &Terms, system: &Transitions) -> Explicit {
    let now: Vec<Var> = system.cells.iter().map(|c| c.now).collect();
    let next: Vec<Var> = system.cells.iter().map(|c| c.next).collect();
    let (befores, afters) = (assignments(terms, &now, 0), assignments(terms, &next, 0));
    let state = |a: &Assignment, vars: &[Var]| -> State { vars.iter().map(|&v| a.value(terms, v)).collect() };
    let holds = |b: Bool, parts: &[&Assignment]| {
        let all = parts.iter().fold(Assignment::default(), |all, part| both(&all, part));
        is_true(terms, b, &all)
    };
    let mut shortest: Option<usize> = None;
    let mut diameter = 0;
    let mut preserved = vec![vec![true; system.properties.len()]; system.events.len()];
    for rigid in assignments(terms, &system.rigid, 0) {
        if !holds(system.axioms, &[&rigid]) {
            continue;
        }
        // Which properties and events are bad in which states.
        let mut bad: BTreeMap<State, Vec<bool>> = BTreeMap::new();
        let mut undefined: BTreeSet<State> = BTreeSet::new();
        for s in &befores {
            let row = system
                .properties
                .iter()
                .map(|p| assignments(terms, &p.inputs, 0).iter().any(|i| holds(p.is_bad, &[&rigid, s, i])));
            bad.insert(state(s, &now), row.collect());
            let any = system.events.iter().any(|e| {
                e.is_undefined != Bool::FALSE
                    && assignments(terms, &e.inputs, 0).iter().any(|i| holds(e.is_undefined, &[&rigid, s, i]))
            });
            if any {
                undefined.insert(state(s, &now));
            }
        }
        let mut edges: BTreeMap<State, Vec<State>> = BTreeMap::new();
        for (e, event) in system.events.iter().enumerate() {
            for i in assignments(terms, &event.inputs, 0) {
                for s in &befores {
                    for t in &afters {
                        if holds(event.step, &[&rigid, &i, s, t]) {
                            let (from, to) = (state(s, &now), state(t, &next));
                            if !bad[&from].contains(&true) {
                                for (p, is_bad) in bad[&to].iter().enumerate() {
                                    preserved[e][p] &= !is_bad;
                                }
                            }
                            edges.entry(from).or_default().push(to);
                        }
                    }
                }
            }
        }
        let mut level: BTreeSet<State> = BTreeSet::new();
        for i in assignments(terms, &system.init_inputs, 0) {
            if holds(system.init_undefined, &[&rigid, &i]) {
                shortest = Some(0);
            }
            for t in &afters {
                if holds(system.init, &[&rigid, &i, t]) {
                    level.insert(state(t, &next));
                }
            }
        }
        let mut seen = level.clone();
        let mut depth = 0;
        while !level.is_empty() {
            diameter = diameter.max(depth);
            if level.iter().any(|s| bad[s].contains(&true) || undefined.contains(s)) {
                shortest = Some(shortest.map_or(depth, |d| d.min(depth)));
                break;
            }
            let successors = level.iter().flat_map(|s| edges.get(s).into_iter().flatten());
            let fresh: BTreeSet<State> = successors.filter(|s| !seen.contains(*s)).cloned().collect();
            seen.extend(fresh.iter().cloned());
            level = fresh;
            depth += 1;
        }
    }
    Explicit { shortest, preserved, diameter }
}
