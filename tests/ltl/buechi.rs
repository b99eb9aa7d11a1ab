//! A second LTL checker, as the textbooks have it: a generalised Büchi automaton whose states say which temporal
//! subformulas are true, multiplied with the system. It shares nothing with `src/ltl` but the syntax tree.
//!
//! Finite paths are made infinite: behind a deadlock comes a state that is not `alive`, for ever, and every temporal
//! operator looks only at living states. Steps are made part of the state: a letter is a state with the step that is
//! taken next. Past operators are constraints between neighbours like the future ones, only the other way round.

use kanon::ltl::{Binary, Edge, Explicit, Fairness, Formula, Prop, Unary};
use std::collections::HashMap;

/// A state with the step that is taken; the dead state has neither.
#[derive(Clone, Copy)]
struct Letter {
    state: usize,
    step: Option<Edge>,
}

struct Automaton<'a> {
    system: &'a Explicit,
    /// Parts before wholes, each once.
    parts: Vec<Formula<Prop>>,
    temporal: Vec<usize>,
}

type Node = (usize, Vec<bool>);

/// Whether all maximal paths fulfil the formula.
pub fn holds(system: &Explicit, formula: &Formula<Prop>) -> bool {
    !automaton(system, formula).has_path_without(&[vec![]])
}

/// The same for paths that fulfil a premise. An infinite path fulfils it in a certain way: some literals are true,
/// and each of them because its step is taken again and again or because it is not enabled (for weak fairness: again
/// and again; for strong fairness: from some place on). All ways are tried.
pub fn holds_fairly(
    system: &Explicit,
    premise: &Fairness<u32>,
    formula: &Formula<Prop>,
    instances: &[u32],
) -> bool {
    !automaton(system, formula).has_path_without(&ways(premise, instances))
}

/// Why a literal of a premise is true on a path.
#[derive(Clone, Copy, PartialEq)]
enum Because {
    TakenAgain(u32),
    DisabledAgain(u32),
    NeverEnabled(u32),
}

fn ways(f: &Fairness<u32>, instances: &[u32]) -> Vec<Vec<Because>> {
    let weak = |t: u32| vec![vec![Because::TakenAgain(t)], vec![Because::DisabledAgain(t)]];
    let strong = |t: u32| vec![vec![Because::TakenAgain(t)], vec![Because::NeverEnabled(t)]];
    let both = |a: Vec<Vec<Because>>, b: Vec<Vec<Because>>| {
        a.iter().flat_map(|x| b.iter().map(move |y| [x.clone(), y.clone()].concat())).collect::<Vec<_>>()
    };
    match f {
        Fairness::Weak(t) => weak(*t),
        Fairness::Strong(t) => strong(*t),
        Fairness::WeakAll => instances.iter().fold(vec![vec![]], |all, i| both(all, weak(*i))),
        Fairness::StrongAll => instances.iter().fold(vec![vec![]], |all, i| both(all, strong(*i))),
        Fairness::And(a, b) => both(ways(a, instances), ways(b, instances)),
        Fairness::Or(a, b) => [ways(a, instances), ways(b, instances)].concat(),
    }
}

fn automaton<'a>(system: &'a Explicit, formula: &Formula<Prop>) -> Automaton<'a> {
    let mut parts: Vec<Formula<Prop>> = vec![];
    for g in formula.subformulas() {
        if !parts.contains(g) {
            parts.push(g.clone());
        }
    }
    let is_temporal = |g: &Formula<Prop>| match g {
        Formula::Unary(..) => true,
        Formula::Binary(op, ..) => !matches!(op, Binary::And | Binary::Or | Binary::Implies | Binary::Iff),
        _ => false,
    };
    let temporal = (0..parts.len()).filter(|i| is_temporal(&parts[*i])).collect();
    Automaton { system, parts, temporal }
}

impl Automaton<'_> {
    fn letters(&self) -> Vec<Letter> {
        let mut all = vec![];
        for (state, x) in self.system.states.iter().enumerate() {
            all.extend(x.edges.iter().map(|e| Letter { state, step: Some(*e) }));
            if x.edges.is_empty() {
                all.push(Letter { state, step: None });
            }
        }
        all
    }

    fn prop(&self, p: Prop, l: Letter) -> bool {
        let x = &self.system.states[l.state];
        match p {
            Prop::State(i) => x.props >> i & 1 == 1,
            Prop::Step(i) => l.step.is_some_and(|e| e.props >> i & 1 == 1),
            Prop::Enabled(i) => x.edges.iter().any(|e| e.props >> i & 1 == 1),
            Prop::Deadlock => x.edges.is_empty(),
            Prop::Sink => !x.edges.iter().any(|e| e.target as usize != l.state),
        }
    }

    fn place(&self, g: &Formula<Prop>) -> usize {
        self.parts.iter().position(|h| h == g).expect("all parts are listed")
    }

    /// The values of all parts at a letter, when those of the temporal ones are given.
    fn complete(&self, l: Letter, bits: usize) -> Vec<bool> {
        let mut v: Vec<bool> = vec![];
        for (i, g) in self.parts.iter().enumerate() {
            let value = match g {
                Formula::True => true,
                Formula::False => false,
                Formula::Atom(p) => self.prop(*p, l),
                Formula::Not(h) => !v[self.place(h)],
                Formula::Binary(Binary::And, a, b) => v[self.place(a)] && v[self.place(b)],
                Formula::Binary(Binary::Or, a, b) => v[self.place(a)] || v[self.place(b)],
                Formula::Binary(Binary::Implies, a, b) => !v[self.place(a)] || v[self.place(b)],
                Formula::Binary(Binary::Iff, a, b) => v[self.place(a)] == v[self.place(b)],
                _ => {
                    let at = self.temporal.iter().position(|t| *t == i).expect("the others are temporal");
                    bits >> at & 1 == 1
                }
            };
            v.push(value);
        }
        v
    }

    /// What past operators are worth at the first letter.
    fn may_start(&self, v: &[bool]) -> bool {
        self.temporal.iter().all(|t| {
            let at = |g: &Formula<Prop>| v[self.place(g)];
            match &self.parts[*t] {
                Formula::Unary(Unary::Yesterday, _) => !v[*t],
                Formula::Unary(Unary::Once | Unary::Historically, g) => v[*t] == at(g),
                Formula::Binary(Binary::Since | Binary::Trigger, _, h) => v[*t] == at(h),
                _ => true,
            }
        })
    }

    /// Whether `w` may follow `v`; without `w` the path has ended.
    fn may_follow(&self, v: &[bool], w: Option<&[bool]>) -> bool {
        self.temporal.iter().all(|t| {
            let now = |g: &Formula<Prop>| v[self.place(g)];
            let then = |g: &Formula<Prop>| w.is_some_and(|w| w[self.place(g)]);
            let again = w.map(|w| w[*t]);
            let past = |value: bool| again.is_none_or(|w| w == value);
            match &self.parts[*t] {
                Formula::Unary(Unary::Next, g) => v[*t] == then(g),
                Formula::Unary(Unary::Finally, g) => v[*t] == (now(g) || again == Some(true)),
                Formula::Unary(Unary::Globally, g) => v[*t] == (now(g) && again != Some(false)),
                Formula::Unary(Unary::Yesterday, g) => past(now(g)),
                Formula::Unary(Unary::Once, g) => past(v[*t] || then(g)),
                Formula::Unary(Unary::Historically, g) => past(v[*t] && then(g)),
                Formula::Binary(op, g, h) => match op {
                    Binary::Until => v[*t] == (now(h) || now(g) && again == Some(true)),
                    Binary::WeakUntil => v[*t] == (now(h) || now(g) && again != Some(false)),
                    Binary::Release => v[*t] == (now(h) && (now(g) || again != Some(false))),
                    Binary::Since => past(then(h) || then(g) && v[*t]),
                    Binary::Trigger => past(then(h) && (then(g) || v[*t])),
                    _ => true,
                },
                _ => true,
            }
        })
    }

    /// The sets that must be met infinitely often, as bits: a promise is not open, or is kept.
    fn accepts(&self, v: &[bool]) -> usize {
        let mut bits = 0;
        for (i, t) in self.temporal.iter().enumerate() {
            let at = |g: &Formula<Prop>| v[self.place(g)];
            let met = match &self.parts[*t] {
                Formula::Unary(Unary::Finally, g) => !v[*t] || at(g),
                Formula::Unary(Unary::Globally, g) => v[*t] || !at(g),
                Formula::Binary(Binary::Until, _, h) => !v[*t] || at(h),
                Formula::Binary(Binary::WeakUntil, g, h) => v[*t] || !at(g) && !at(h),
                Formula::Binary(Binary::Release, _, h) => v[*t] || !at(h),
                _ => true,
            };
            bits |= usize::from(met) << i;
        }
        bits
    }

    /// Whether some path in one of the ways does not fulfil the formula.
    fn has_path_without(&self, ways: &[Vec<Because>]) -> bool {
        let letters = self.letters();
        let all = 1usize << self.temporal.len();
        // The dead state comes last.
        let dead = letters.len();
        let mut nodes: Vec<Node> = vec![];
        let mut of_letter: Vec<Vec<usize>> = vec![vec![]; dead + 1];
        for (l, letter) in letters.iter().enumerate() {
            for bits in 0..all {
                of_letter[l].push(nodes.len());
                nodes.push((l, self.complete(*letter, bits)));
            }
        }
        of_letter[dead].push(nodes.len());
        nodes.push((dead, vec![]));
        let follows = |l: usize| -> Vec<usize> {
            match letters.get(l).map(|l| l.step) {
                Some(Some(e)) => (0..dead).filter(|m| letters[*m].state == e.target as usize).collect(),
                _ => vec![dead],
            }
        };
        let mut edges: Vec<Vec<usize>> = vec![vec![]; nodes.len()];
        for (n, (l, v)) in nodes.iter().enumerate() {
            let targets = follows(*l);
            for m in targets {
                for t in &of_letter[m] {
                    let w = (m != dead).then_some(&nodes[*t].1[..]);
                    if *l == dead || self.may_follow(v, w) {
                        edges[n].push(*t);
                    }
                }
            }
        }
        let root = self.parts.len() - 1;
        let starts = nodes.iter().enumerate().filter(|(_, (l, v))| {
            *l != dead
                && self.system.initial.contains(&(letters[*l].state as u32))
                && self.may_start(v)
                && !v[root]
        });
        let reached = reachable(starts.map(|(n, _)| n), &edges);
        let accepts: Vec<usize> =
            nodes.iter().map(|(l, v)| if *l == dead { all - 1 } else { self.accepts(v) }).collect();
        // A finite path counts in every way.
        let enables = |l: usize, t: u32| l != dead && self.prop(Prop::Enabled(t), letters[l]);
        let takes = |l: usize, t: u32| l != dead && self.prop(Prop::Step(t), letters[l]);
        ways.iter().any(|way| {
            let stays = |n: usize| {
                way.iter().all(|b| !matches!(b, Because::NeverEnabled(t) if enables(nodes[n].0, *t)))
            };
            let within: Vec<bool> = (0..nodes.len()).map(|n| reached[n] && stays(n)).collect();
            components(&edges, &within).iter().any(|c| {
                let has_edge = c.iter().any(|n| edges[*n].iter().any(|m| c.contains(m)));
                let is_dead = c.iter().any(|n| nodes[*n].0 == dead);
                let fair = way.iter().all(|b| match b {
                    Because::TakenAgain(t) => c.iter().any(|n| takes(nodes[*n].0, *t)),
                    Because::DisabledAgain(t) => c.iter().any(|n| !enables(nodes[*n].0, *t)),
                    Because::NeverEnabled(_) => true,
                });
                let kept = c.iter().fold(0, |bits, n| bits | accepts[*n]) == all - 1;
                has_edge && kept && (fair || is_dead)
            })
        })
    }
}

fn reachable(starts: impl Iterator<Item = usize>, edges: &[Vec<usize>]) -> Vec<bool> {
    let mut seen = vec![false; edges.len()];
    let mut open: Vec<usize> = starts.collect();
    while let Some(n) = open.pop() {
        if !std::mem::replace(&mut seen[n], true) {
            open.extend(&edges[n]);
        }
    }
    seen
}

/// Kosaraju: in the order in which nodes are finished, backwards along the edges.
fn components(edges: &[Vec<usize>], within: &[bool]) -> Vec<Vec<usize>> {
    let mut finished = vec![];
    let mut seen = vec![false; edges.len()];
    for start in (0..edges.len()).filter(|n| within[*n]) {
        let mut open = vec![(start, 0)];
        if std::mem::replace(&mut seen[start], true) {
            continue;
        }
        while let Some((n, i)) = open.pop() {
            match edges[n].get(i) {
                Some(m) => {
                    open.push((n, i + 1));
                    if within[*m] && !std::mem::replace(&mut seen[*m], true) {
                        open.push((*m, 0));
                    }
                }
                None => finished.push(n),
            }
        }
    }
    let mut back: HashMap<usize, Vec<usize>> = HashMap::new();
    for n in (0..edges.len()).filter(|n| within[*n]) {
        for m in &edges[n] {
            back.entry(*m).or_default().push(n);
        }
    }
    let mut taken = vec![false; edges.len()];
    let mut found = vec![];
    for start in finished.into_iter().rev() {
        let mut part = vec![];
        let mut open = vec![start];
        while let Some(n) = open.pop() {
            if !std::mem::replace(&mut taken[n], true) {
                part.push(n);
                open.extend(back.get(&n).into_iter().flatten().filter(|m| within[**m]));
            }
        }
        if !part.is_empty() {
            found.push(part);
        }
    }
    found
}
