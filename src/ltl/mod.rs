//! LTL[e] with past on systems with deadlocks (Plagge and Leuschel, *Seven at one stroke*).
//!
//! | the paper | here |
//! |---|---|
//! | LTL[e], past (§3, §5.1) | the room `temporal`: [`syntax`], and [`parse`] for ProB's notation |
//! | labelled Kripke structure (Definition 1) | [`structure`]; [`space`] makes one of a system |
//! | propositions | [`machine`] for B, [`named`] for other systems |
//! | closure, atoms (§4.2, §4.3, §5.2) | [`tableau`] |
//! | the graph of atoms, open nodes (§4.4, §4.5) | [`product`] |
//! | self-fulfilling components | [`search`] |
//! | fairness (§8.2, future work there) | [`fairness`], [`component`] |
//! | the counterexample | [`path`], [`shorten`] |
//! | symmetry reduction (§7) | [`reduce`], [`space`] |
//!
//! No counterexample leaves this room without the consent of [`lasso`], which follows the definition of the semantics
//! and shares nothing with tableau and search.

mod audit;
mod component;
pub mod fairness;
pub mod lasso;
pub mod machine;
mod mistake;
pub mod named;
mod path;
mod premise;
mod product;
pub mod proof;
pub mod reduce;
mod search;
mod shorten;
pub mod space;
pub mod structure;
mod tableau;
mod work;

pub use crate::temporal::syntax::{Binary, Fairness, Formula, Prop, Property, Resolved, Unary};
#[doc(hidden)]
pub use crate::temporal::{atoms, parse, syntax};
pub use audit::Audited;
pub use lasso::{Lasso, LassoWord, Taken};
#[doc(hidden)]
pub use mistake::Mistake;
pub use structure::{Edge, Expansion, Explicit, Known, StateId, Structure};
pub use tableau::TooLarge;
pub use work::Work;

use crate::system::Stop;
use crate::verdict::{self, Complete, Exact, Proof, Verdict, Why};
use premise::Premise;
use product::Product;
use search::{Ended, Search};
use std::sync::atomic::Ordering;
use tableau::Tableau;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// States whose steps were computed.
    pub states: usize,
    /// Their edges, as far as the property can tell them apart.
    pub edges: usize,
    /// Pairs of a state and an atom.
    pub nodes: usize,
    /// Different atoms, as far as the search tells them apart.
    pub atoms: usize,
    /// The longest path the search was on.
    pub depth: usize,
    /// Of nodes and search; of states and edges.
    pub node_bytes: usize,
    pub state_bytes: usize,
}

impl Counts {
    /// What may be done to shorten the path that this search has found.
    pub fn work(&self) -> Work {
        Work::after(self.nodes + self.edges)
    }
}

#[derive(Clone, Debug)]
pub struct Answer {
    /// On the path of a failure the premise holds and the formula does not.
    pub verdict: Verdict<Lasso>,
    pub counts: Counts,
    /// What an audit looked at, if there was one.
    pub audited: Option<Audited>,
    /// Of a Holds: what a certificate needs, if it was asked for.
    pub proved: Option<proof::Proved>,
}

#[derive(Clone, Debug, Default)]
pub struct Options {
    pub stop: Stop,
    /// Check paths from this state, instead of those from the initial states.
    pub from: Option<StateId>,
    /// Look at a search that has found nothing once more.
    pub audit: bool,
    /// Keep what a certificate needs.
    pub prove: bool,
    #[doc(hidden)]
    pub mistake: Option<Mistake>,
}

/// Whether all maximal paths from the initial states that fulfil the premise fulfil the formula.
pub fn check<S: Structure>(
    structure: &mut S,
    property: &Resolved,
    options: &Options,
) -> Result<Answer, TooLarge> {
    let tableau = Tableau::of_negation(&property.formula)?;
    let premise = Premise::new(property.premise.as_ref(), tableau.untils())?;
    let mut product = Product::new(structure, tableau, premise);
    product.planted = options.mistake;
    if let Some(Mistake::LosesAtom(n)) = options.mistake {
        product.tableau.loses_atom = u32::try_from(n).ok();
    }
    let (initial, complete) = match options.from {
        // The one state that is asked for is all there is.
        Some(s) => (vec![s], Some(Complete::every_start_was_visited())),
        None => product.initial(),
    };
    let mut search = Search::new(&mut product);
    let mut ended = search.run(&initial, &options.stop);
    if matches!(ended, Ended::Found(_)) && options.mistake == Some(Mistake::Silent) {
        ended = Ended::Nothing(verdict::Exhausted::nothing_is_left());
    }
    let (depth, search_bytes) = (search.depth, search.bytes());
    let (node_bytes, state_bytes) = product.bytes();
    let counts = Counts {
        states: product.expanded,
        edges: product.edge_count(),
        nodes: product.node_count(),
        atoms: product.tableau.atom_count(),
        depth,
        node_bytes: node_bytes + search_bytes,
        state_bytes,
    };
    let mut verdict = match ended {
        Ended::Found(found) => {
            let found = counterexample(&mut product, &initial, &found, property, counts.work());
            match found {
                // Whoever is stopped does not see all steps of a state, and knows nothing for sure from then on.
                _ if options.stop.load(Ordering::Relaxed) => Verdict::Unknown(Why::Interrupted),
                Ok(lasso) => Verdict::Fails(lasso),
                Err(why) => Verdict::Unknown(Why::Internal(why)),
            }
        }
        Ended::Stopped => Verdict::Unknown(Why::Interrupted),
        Ended::Nothing(exhausted) => match complete.filter(|_| !product.incomplete) {
            None if options.stop.load(Ordering::Relaxed) => Verdict::Unknown(Why::Interrupted),
            None => Verdict::Unknown(product.structure().open().unwrap_or(Why::Starts)),
            // Keys are exact: an approximate strategy has none, and is refused.
            Some(complete) => {
                let ended = verdict::Ended::Searched(exhausted);
                match Proof::new(ended, complete, Some(Exact::BY_KEY), counts.states) {
                    Ok(proof) => Verdict::Holds(proof),
                    Err(why) => Verdict::Unknown(why),
                }
            }
        },
    };
    let mut audited = None;
    if options.audit && verdict.holds() {
        match audit::audit(&mut product, &initial) {
            Ok(looked) => audited = Some(looked),
            Err(broken) => verdict = Verdict::Unknown(Why::Audit(broken)),
        }
    }
    let proved = (options.prove && verdict.holds()).then(|| proof::of(&mut product, &initial));
    Ok(Answer { verdict, counts, audited, proved })
}

/// A path of a structure, if it is a counterexample; as short as the work allows. A structure that is stopped on the way
/// may have misled us, and whoever stops it has to look.
pub fn confirm<S: Structure>(
    structure: &mut S,
    lasso: &Lasso,
    property: &Resolved,
    mut work: Work,
) -> Result<(Lasso, LassoWord), String> {
    let instances = property.premise.as_ref().is_some_and(Fairness::is_of_instances);
    let word = LassoWord::read(structure, lasso, property.steps(), instances)?;
    if !word.refutes(property) {
        return Err(
            "a path was found, but by the definition of the semantics it is no counterexample".to_string()
        );
    }
    let (lasso, word) = shorten::shorten(lasso, &word, property, &mut work);
    if !word.refutes(property) {
        return Err("the shortened path is no counterexample".to_string());
    }
    Ok((lasso, word))
}

fn counterexample<S: Structure>(
    product: &mut Product<S>,
    initial: &[StateId],
    found: &search::Refuting,
    property: &Resolved,
    work: Work,
) -> Result<Lasso, String> {
    let lasso = path::lasso(product, initial, found).ok_or("a component was found, but no way to it")?;
    let nearer = path::nearer(product, initial, lasso.states.len(), &mut { work });
    let (lasso, _) = confirm(product.structure(), &nearer.unwrap_or(lasso), property, work)?;
    Ok(lasso)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::system::Stop;

    /// `G F p0`
    fn again() -> Resolved {
        let zero = Formula::Atom(Prop::State(0));
        Property { premise: None, formula: zero.unary(Unary::Finally).unary(Unary::Globally) }
    }

    /// A counter without an end: it can grow by anything up to `wide`, or stay. Stopped after some expansions, it shows
    /// a part of what there is.
    struct Counter {
        wide: u32,
        expanded: usize,
        stops_after: usize,
        stop: Stop,
    }

    impl Counter {
        fn new(wide: u32, stops_after: usize) -> Counter {
            Counter { wide, expanded: 0, stops_after, stop: Stop::default() }
        }
    }

    impl Structure for Counter {
        fn initial(&mut self, out: &mut Vec<StateId>) -> Option<Complete> {
            out.push(0);
            Some(Complete::every_start_was_visited())
        }

        fn expand(&mut self, s: StateId, out: &mut Expansion) -> Known {
            self.expanded += 1;
            out.props = u64::from(s == 0);
            if self.expanded > self.stops_after {
                self.stop.store(true, Ordering::Relaxed);
                return Known::Part;
            }
            out.edges.extend((1..=self.wide).map(|n| Edge::new(s, 0, s + n)));
            if s >= 70 {
                out.edges.push(Edge::new(s, 0, s - 69));
            }
            Known::All
        }
    }

    #[test]
    fn a_shorter_path_costs_no_more_than_a_share_of_the_search() {
        let mut counter = Counter::new(1000, usize::MAX);
        let answer = check(&mut counter, &again(), &Options::default()).expect("a small formula");
        assert!(answer.verdict.fails());
        // 1,000,000 edges that are new cost 20 each.
        let (seen, most) = (counter.expanded, answer.counts.states + 100);
        assert!(seen < most, "{seen} expansions, {} of the search", answer.counts.states);
    }

    /// Stopped anywhere, also while the path is read again, it is no mistake of ours and no counterexample.
    #[test]
    fn a_stop_is_a_stop_wherever_it_comes() {
        let mut ends = vec![];
        for stops_after in 0.. {
            let mut counter = Counter::new(2, stops_after);
            let options = Options { stop: counter.stop.clone(), ..Options::default() };
            let answer = check(&mut counter, &again(), &options).expect("a small formula");
            match answer.verdict {
                Verdict::Unknown(Why::Interrupted) => ends.push(answer.counts.states),
                Verdict::Fails(_) => break,
                other => panic!("stopped after {stops_after}: {other:?}"),
            }
        }
        let whole = ends.last().copied().unwrap_or_default();
        let after = ends.iter().filter(|n| **n == whole).count();
        assert!(after > 10, "some stops came after the search: {ends:?}");
    }
}
