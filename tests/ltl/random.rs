//! Random systems with deadlocks and random formulas with past, for the tests of the LTL room.
// Each test uses its own part of this.
#![allow(dead_code)]

use kanon::ltl::{Binary, Edge, Expansion, Explicit, Fairness, Formula, Prop, StateId, Unary};

/// Propositions of states and of steps.
pub const PROPS: u32 = 2;
/// Steps with instance i also carry this bit and i.
pub const INSTANCE: u32 = 8;
pub const INSTANCES: u64 = 3;

/// splitmix64
pub struct Rng(pub u64);

impl Rng {
    pub fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (z ^ (z >> 31)) % n
    }

    fn pick<T: Copy>(&mut self, items: &[T]) -> T {
        items[self.below(items.len() as u64) as usize]
    }
}

/// Up to six states, up to three steps each; some states have none.
pub fn system(r: &mut Rng) -> Explicit {
    let n = 1 + r.below(6);
    let mut states = vec![];
    for s in 0..n {
        let degree = r.pick(&[0, 1, 1, 2, 2, 3]);
        let mut edges: Vec<Edge> = vec![];
        for _ in 0..degree {
            let instance = r.below(INSTANCES) as u32;
            let props = r.below(1 << PROPS) | 1 << (INSTANCE + instance);
            let mut e = Edge::new(s as StateId, props, r.below(n) as StateId);
            e.instance = instance;
            if !edges.contains(&e) {
                edges.push(e);
            }
        }
        states.push(Expansion { props: r.below(1 << PROPS), edges, ..Expansion::default() });
    }
    let mut initial = vec![r.below(n) as StateId];
    if r.below(4) == 0 {
        initial.push(r.below(n) as StateId);
        initial.dedup();
    }
    Explicit { initial, states }
}

const UNARY: [Unary; 6] =
    [Unary::Next, Unary::Finally, Unary::Globally, Unary::Yesterday, Unary::Once, Unary::Historically];
const BINARY: [Binary; 9] = [
    Binary::And,
    Binary::Or,
    Binary::Implies,
    Binary::Iff,
    Binary::Until,
    Binary::WeakUntil,
    Binary::Release,
    Binary::Since,
    Binary::Trigger,
];

/// A formula of this many operators and atoms.
pub fn formula(r: &mut Rng, size: u64) -> Formula<Prop> {
    if size <= 1 {
        let i = r.below(u64::from(PROPS)) as u32;
        return match r.below(12) {
            0 => Formula::True,
            1 => Formula::Atom(Prop::Deadlock),
            2 => Formula::Atom(Prop::Sink),
            3 | 4 => Formula::Atom(Prop::Enabled(i)),
            5..=7 => Formula::Atom(Prop::Step(i)),
            _ => Formula::Atom(Prop::State(i)),
        };
    }
    match r.below(if size == 2 { 4 } else { 9 }) {
        0 => formula(r, size - 1).not(),
        1..=3 => {
            let op = r.pick(&UNARY);
            formula(r, size - 1).unary(op)
        }
        _ => {
            let left = 1 + r.below(size - 2);
            let op = r.pick(&BINARY);
            let (a, b) = (formula(r, left), formula(r, size - 1 - left));
            a.binary(op, b)
        }
    }
}

pub fn premise(r: &mut Rng, size: u64) -> Fairness<u32> {
    if size <= 1 {
        let step = r.below(u64::from(PROPS)) as u32;
        return match r.below(8) {
            0 => Fairness::WeakAll,
            1 => Fairness::StrongAll,
            2..=4 => Fairness::Weak(step),
            _ => Fairness::Strong(step),
        };
    }
    let left = 1 + r.below(size - 1);
    let (a, b) = (Box::new(premise(r, left)), Box::new(premise(r, size - left)));
    if r.below(3) == 0 { Fairness::Or(a, b) } else { Fairness::And(a, b) }
}
