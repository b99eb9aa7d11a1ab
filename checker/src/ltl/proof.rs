//! The proof that no path of a system refutes a formula: nodes with obligations, in components that no counterexample
//! stays in. It is checked state by state; what a state is, and which steps it has, is somebody else's business.
//!
//! Why it is one. A path that fulfils the premise and not the formula, followed through the nodes by the branches that
//! are true on it, meets obligations that are true on it only. Component numbers never rise, so it stays in one. There
//! every step postpones the same promise, which the path keeps at some time; or a step is always possible and never
//! taken; or steps are never taken, so that they are possible only finitely often, and the path stays among the other
//! nodes, which are numbered once more. So there is no such path.

use super::closure::Closure;
use super::tableau::{Branch, Here, Set, TooMany, branches};
use kanon_language::temporal::syntax::Fairness;
use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

/// Steps that fairness speaks of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Fair {
    /// Those with a proposition.
    Step(u32),
    /// One operation with its parameters, by its number in the proof.
    Instance(u32),
}

/// Why no counterexample stays in a component.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reason {
    /// No edge does.
    Left,
    /// Every edge in it postpones this until-formula.
    Postponed(u32),
    /// Weak fairness: it is possible in every node and taken by no edge.
    Ignored(Fair),
    /// Strong fairness: no edge takes any of these; nodes where none of them is possible have a number one level deeper.
    Starved(Vec<Fair>),
}

/// One disjunct of a fairness premise.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Way {
    pub weak: Vec<u32>,
    pub strong: Vec<u32>,
    pub weak_all: bool,
    pub strong_all: bool,
}

impl Way {
    fn allows(&self, reason: &Reason) -> bool {
        let of = |all: bool, listed: &[u32], fair: &Fair| match fair {
            Fair::Step(i) => listed.contains(i),
            Fair::Instance(_) => all,
        };
        match reason {
            Reason::Left | Reason::Postponed(_) => true,
            Reason::Ignored(fair) => of(self.weak_all, &self.weak, fair),
            Reason::Starved(list) => list.iter().all(|fair| of(self.strong_all, &self.strong, fair)),
        }
    }
}

/// Disjuncts of a premise at most.
const MAX_WAYS: usize = 256;

/// The disjuncts of a premise, of which a counterexample fulfils one: those of the left part before those of the right
/// one, and each of the left with each of the right. Without a premise there is one that says nothing.
///
/// # Errors
/// There are too many.
pub fn ways(premise: Option<&Fairness<u32>>) -> Result<Vec<Way>, TooMany> {
    let one = |w: Way| Ok(vec![w]);
    match premise {
        None => one(Way::default()),
        Some(Fairness::Weak(i)) => one(Way { weak: vec![*i], ..Way::default() }),
        Some(Fairness::Strong(i)) => one(Way { strong: vec![*i], ..Way::default() }),
        Some(Fairness::WeakAll) => one(Way { weak_all: true, ..Way::default() }),
        Some(Fairness::StrongAll) => one(Way { strong_all: true, ..Way::default() }),
        Some(Fairness::Or(a, b)) => {
            let all = [ways(Some(a))?, ways(Some(b))?].concat();
            if all.len() > MAX_WAYS { Err(TooMany) } else { Ok(all) }
        }
        Some(Fairness::And(a, b)) => {
            let (left, right) = (ways(Some(a))?, ways(Some(b))?);
            if left.len() * right.len() > MAX_WAYS {
                return Err(TooMany);
            }
            let both = |a: &Way, b: &Way| Way {
                weak: [&a.weak[..], &b.weak].concat(),
                strong: [&a.strong[..], &b.strong].concat(),
                weak_all: a.weak_all || b.weak_all,
                strong_all: a.strong_all || b.strong_all,
            };
            Ok(left.iter().flat_map(|a| right.iter().map(move |b| both(a, b))).collect())
        }
    }
}

/// A step of a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Step {
    /// Its propositions, a bit each.
    pub props: u64,
    /// Its number among the instances of the proof, if it is one of them.
    pub instance: Option<u32>,
    /// What stands for its target, if anything does.
    pub target: Option<usize>,
}

/// What is wrong with a node; nodes are numbered from 1 within their state, steps from 0.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Wrong {
    /// No node asks for the formula's negation, or less.
    NoFirst,
    /// A step leads to a state that is not there, and the obligations of the node allow it.
    NoTarget {
        node: usize,
        step: usize,
    },
    /// A step leads to a state of which no node asks no more than what is left to do.
    NoNode {
        node: usize,
        step: usize,
        left: Box<Set>,
    },
    /// The path may end here, and then it refutes the formula.
    Ends {
        node: usize,
    },
    /// The number of the component rises.
    Rises {
        node: usize,
        step: usize,
        from: u32,
        to: u32,
    },
    /// An edge stays in a component that is said to have none.
    Stays {
        node: usize,
        step: usize,
        component: u32,
    },
    /// An edge keeps the promise that is said to be postponed, or claims nothing of the kind.
    Kept {
        node: usize,
        step: usize,
        component: u32,
        promise: u32,
    },
    /// A step is taken that is said not to be, or is not possible where it is said to be.
    Fair {
        node: usize,
        step: usize,
        component: u32,
        fair: Fair,
    },
    /// None of the steps of a strong premise is possible in a node that is left out of the deeper numbering.
    NotDeeper {
        node: usize,
        component: u32,
    },
    /// The reason is none that the premise gives.
    NoPremise {
        node: usize,
        component: u32,
    },
    TooMany,
}

impl fmt::Display for Wrong {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let fair_text = |fair: &Fair| match fair {
            Fair::Step(i) => format!("the fair step {i}"),
            Fair::Instance(i) => format!("instance {i}"),
        };
        match self {
            Wrong::NoFirst => f.write_str("no node asks for the negation of the formula, or less"),
            Wrong::NoTarget { node, .. } => {
                write!(f, "node {node} allows a step to a state that is missing")
            }
            Wrong::NoNode { node, left, .. } => {
                let asked: Vec<String> = left.obligations.iter().map(u32::to_string).collect();
                write!(
                    f,
                    "node {node}: where the step leads no node asks as little as {{{}}}",
                    asked.join(", ")
                )
            }
            Wrong::Ends { node } => {
                write!(
                    f,
                    "node {node}: no operation is enabled, and a path that ends here refutes the formula"
                )
            }
            Wrong::Rises { node, from, to, .. } => {
                write!(f, "node {node}: the component rises from {from} to {to}")
            }
            Wrong::Stays { node, component, .. } => {
                write!(f, "node {node}: a step stays in component {component}, which is said to be left")
            }
            Wrong::Kept { node, component, promise, .. } => {
                write!(
                    f,
                    "node {node}: promise {promise} is not postponed by a step in component {component}"
                )
            }
            Wrong::Fair { node, component, fair, .. } => {
                let fair = fair_text(fair);
                write!(f, "node {node}: {fair} is taken, or not enabled, in component {component}")
            }
            Wrong::NotDeeper { node, component } => {
                write!(
                    f,
                    "node {node} enables nothing that component {component} lacks, and has no deeper number"
                )
            }
            Wrong::NoPremise { node, component } => {
                write!(f, "node {node}: the premise does not give the reason of component {component}")
            }
            Wrong::TooMany => f.write_str("the formula has too many branches"),
        }
    }
}

/// The proof as it stands in a certificate.
#[derive(Clone, Debug, Default)]
pub struct Proof {
    pub sets: Vec<Set>,
    pub components: Vec<Reason>,
    nodes: Vec<u32>,
    /// Where the nodes of each state end.
    states: Vec<usize>,
    /// For every node and every way, one after the other: where its numbers end.
    ends: Vec<usize>,
    numbers: Vec<u32>,
}

/// A node as it is written: its set, and for every way its components from the outermost to the innermost.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    pub set: u32,
    pub numbers: Vec<Vec<u32>>,
}

impl Proof {
    /// The nodes of the next state.
    pub fn push(&mut self, nodes: Vec<Node>) {
        for node in nodes {
            self.nodes.push(node.set);
            for way in node.numbers {
                self.numbers.extend(way);
                self.ends.push(self.numbers.len());
            }
        }
        self.states.push(self.nodes.len());
    }

    /// How many states have had their nodes told.
    pub fn states(&self) -> usize {
        self.states.len()
    }

    pub fn nodes(&self) -> usize {
        self.nodes.len()
    }

    pub fn nodes_of(&self, state: usize) -> std::ops::Range<usize> {
        let begin = state.checked_sub(1).map_or(0, |before| self.states[before]);
        begin..self.states[state]
    }

    fn numbers(&self, node: usize, way: usize, ways: usize) -> &[u32] {
        let at = node * ways + way;
        let begin = at.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.numbers[begin..self.ends[at]]
    }
}

/// Branches, each with the sets that ask no more than what it leaves.
type Branches = Arc<[(Branch, Vec<u32>)]>;

/// Checks a proof, state by state.
pub struct Follower<'p> {
    closure: &'p Closure,
    ways: &'p [Way],
    proof: &'p Proof,
    /// What was worked out before.
    known: HashMap<(Here, u32), Branches>,
    /// Edges between nodes that were looked at.
    pub edges: u64,
}

impl<'p> Follower<'p> {
    pub fn new(closure: &'p Closure, ways: &'p [Way], proof: &'p Proof) -> Follower<'p> {
        Follower { closure, ways, proof, known: HashMap::new(), edges: 0 }
    }

    /// What a path starts with.
    pub fn first(&self) -> Set {
        Set { obligations: vec![2 * self.closure.root], past: vec![] }
    }

    /// An initial state, or what stands for it.
    ///
    /// # Errors
    /// No node of it asks for no more than the negation of the formula.
    pub fn initial(&self, state: usize) -> Result<(), Wrong> {
        let first = self.first();
        let asks_no_more = |n: usize| self.proof.sets[self.proof.nodes[n] as usize].asks_no_more_than(&first);
        if self.proof.nodes_of(state).any(asks_no_more) { Ok(()) } else { Err(Wrong::NoFirst) }
    }

    /// A state with all its steps.
    ///
    /// # Errors
    /// The first thing that is wrong with one of its nodes.
    pub fn state(&mut self, state: usize, here: &Here, steps: &[Step]) -> Result<(), Wrong> {
        let nodes = self.proof.nodes_of(state);
        let first = nodes.start;
        for n in nodes {
            let node = n - first + 1;
            self.is_deep_enough(n, node, here, steps)?;
            let all = self.branches(here, self.proof.nodes[n])?;
            if here.deadlock && !all.is_empty() {
                return Err(Wrong::Ends { node });
            }
            for (branch, covering) in all.iter() {
                for (i, step) in steps.iter().enumerate() {
                    if step.props & branch.asked == branch.taken {
                        self.edges += 1;
                        self.covered(n, node, (here, steps), branch, covering, i)?;
                    }
                }
            }
        }
        Ok(())
    }

    fn branches(&mut self, here: &Here, set: u32) -> Result<Branches, Wrong> {
        if let Some(known) = self.known.get(&(*here, set)) {
            return Ok(known.clone());
        }
        let sets = &self.proof.sets;
        let found = branches(self.closure, here, &sets[set as usize]).map_err(|TooMany| Wrong::TooMany)?;
        let with_sets = found.into_iter().map(|b| {
            let asks_no_more = |s: &u32| sets[*s as usize].asks_no_more_than(&b.next);
            let mut covering: Vec<u32> = (0..sets.len() as u32).filter(asks_no_more).collect();
            // The one that asks for exactly this first.
            covering.sort_by_key(|s| std::cmp::Reverse(sets[*s as usize].obligations.len()));
            (b, covering)
        });
        let all: Branches = with_sets.collect();
        self.known.insert((*here, set), all.clone());
        Ok(all)
    }

    /// Some node of the step's target takes over what the branch leaves, in every way.
    fn covered(
        &self,
        n: usize,
        node: usize,
        at: (&Here, &[Step]),
        branch: &Branch,
        covering: &[u32],
        step: usize,
    ) -> Result<(), Wrong> {
        let Some(target) = at.1[step].target else { return Err(Wrong::NoTarget { node, step }) };
        let mut wrong = None;
        for set in covering {
            for m in self.proof.nodes_of(target).filter(|m| self.proof.nodes[*m] == *set) {
                let every_way =
                    (0..self.ways.len()).try_for_each(|way| self.edge((n, node), m, way, at, branch, step));
                match every_way {
                    Ok(()) => return Ok(()),
                    Err(why) => wrong = wrong.or(Some(why)),
                }
            }
        }
        Err(wrong.unwrap_or_else(|| Wrong::NoNode { node, step, left: Box::new(branch.next.clone()) }))
    }

    /// An edge between two nodes: it leads to a smaller component, or is of no use to a counterexample.
    fn edge(
        &self,
        (n, node): (usize, usize),
        m: usize,
        way: usize,
        (here, steps): (&Here, &[Step]),
        branch: &Branch,
        step: usize,
    ) -> Result<(), Wrong> {
        let numbers = |of| self.proof.numbers(of, way, self.ways.len());
        for (from, to) in numbers(n).iter().copied().zip(numbers(m).iter().copied()) {
            if to != from {
                return if to < from { Ok(()) } else { Err(Wrong::Rises { node, step, from, to }) };
            }
            let component = from;
            let unfair = |fair| Wrong::Fair { node, step, component, fair };
            match &self.proof.components[from as usize] {
                Reason::Left => return Err(Wrong::Stays { node, step, component }),
                Reason::Postponed(promise) => {
                    let is_postponed = branch.postponed.binary_search(promise).is_ok();
                    let kept = Wrong::Kept { node, step, component, promise: *promise };
                    return if is_postponed { Ok(()) } else { Err(kept) };
                }
                Reason::Ignored(fair) => {
                    let is_ignored = is_possible(*fair, here, steps) && !takes(*fair, &steps[step]);
                    return if is_ignored { Ok(()) } else { Err(unfair(*fair)) };
                }
                Reason::Starved(list) => {
                    if let Some(fair) = list.iter().find(|fair| takes(**fair, &steps[step])) {
                        return Err(unfair(*fair));
                    }
                }
            }
        }
        // One of the two has no number that is deeper: it is left sooner or later, which is looked at there.
        Ok(())
    }

    /// The numbers of a node: there is a deeper one wherever nothing that a strong premise speaks of is possible.
    fn is_deep_enough(&self, n: usize, node: usize, here: &Here, steps: &[Step]) -> Result<(), Wrong> {
        for (w, way) in self.ways.iter().enumerate() {
            let numbers = self.proof.numbers(n, w, self.ways.len());
            for (depth, component) in numbers.iter().copied().enumerate() {
                let reason = &self.proof.components[component as usize];
                if !way.allows(reason) {
                    return Err(Wrong::NoPremise { node, component });
                }
                if let Reason::Starved(list) = reason
                    && depth + 1 == numbers.len()
                    && !list.iter().any(|fair| is_possible(*fair, here, steps))
                {
                    return Err(Wrong::NotDeeper { node, component });
                }
            }
        }
        Ok(())
    }
}

fn takes(fair: Fair, step: &Step) -> bool {
    match fair {
        Fair::Step(i) => i < 64 && step.props >> i & 1 == 1,
        Fair::Instance(i) => step.instance == Some(i),
    }
}

fn is_possible(fair: Fair, here: &Here, steps: &[Step]) -> bool {
    match fair {
        Fair::Step(i) => i < 64 && here.enabled >> i & 1 == 1,
        Fair::Instance(_) => steps.iter().any(|s| takes(fair, s)),
    }
}
