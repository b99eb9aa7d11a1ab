//! Certificates of temporal formulas, on systems that are written down whole: the checker's rules against the search.
//! `tests/ltl/certified.rs` has machines and files.

use crate::random::{Rng, formula, premise, system};
use kanon::certify::ltl::translated;
use kanon::ltl::proof::{Fair, Proved, Reason};
use kanon::ltl::{
    Answer, Edge, Explicit, Formula, Lasso, Mistake, Options, Prop, Property, Resolved, Unary, check,
};
use kanon::verdict::Verdict;
use kanon_checker::ltl::closure::Closure;
use kanon_checker::ltl::lasso::{Letter, Word};
use kanon_checker::ltl::proof::{self, Follower, Node, Proof, Step, Wrong, ways};
use kanon_checker::ltl::tableau::{Here, Set};
use std::collections::BTreeMap;

fn cases() -> u64 {
    std::env::var("KANON_LTL_CASES").ok().and_then(|s| s.parse().ok()).unwrap_or(10_000)
}

/// A proof that can be changed.
#[derive(Clone, Debug)]
struct Open {
    sets: Vec<Set>,
    components: Vec<proof::Reason>,
    /// By state.
    nodes: Vec<Vec<Node>>,
}

impl Open {
    fn of(proved: &Proved, closure: &Closure, states: usize) -> Open {
        let formulas = translated(&proved.formulas, closure);
        let number = |f: u32| formulas[f as usize].expect("the checker knows it");
        let fair = |f: &Fair| match f {
            Fair::Step(i) => proof::Fair::Step(*i),
            Fair::Instance(i) => proof::Fair::Instance(*i),
        };
        let reason = |r: &Reason| match r {
            Reason::Left => proof::Reason::Left,
            Reason::Postponed(f) => proof::Reason::Postponed(number(*f)),
            Reason::Ignored(f) => proof::Reason::Ignored(fair(f)),
            Reason::Starved(all) => proof::Reason::Starved(all.iter().map(fair).collect()),
        };
        let sets = proved.asked.iter().map(|asked| {
            let one = |(f, value): &(u32, bool)| 2 * number(*f) + u32::from(!value);
            let mut set = Set {
                obligations: asked.claims.iter().map(one).collect(),
                past: asked.past.iter().map(|f| number(*f)).collect(),
            };
            set.obligations.sort_unstable();
            set.past.sort_unstable();
            set
        });
        let mut nodes = vec![vec![]; states];
        for n in &proved.nodes {
            nodes[n.state as usize].push(Node { set: n.asked, numbers: n.components.clone() });
        }
        Open { sets: sets.collect(), components: proved.components.iter().map(reason).collect(), nodes }
    }

    /// What the checker says.
    fn followed(&self, system: &Explicit, property: &Resolved) -> Result<u64, Wrong> {
        let closure = Closure::of_negation(&property.formula);
        let ways = ways(property.premise.as_ref()).expect("a small premise");
        let mut proof = Proof::default();
        proof.sets.clone_from(&self.sets);
        proof.components.clone_from(&self.components);
        self.nodes.iter().for_each(|nodes| proof.push(nodes.clone()));
        let mut follower = Follower::new(&closure, &ways, &proof);
        for s in &system.initial {
            follower.initial(*s as usize)?;
        }
        for s in 0..system.states.len() {
            let (here, steps) = (here(system, s), &system.states[s].edges);
            let steps: Vec<Step> = steps
                .iter()
                .map(|e| {
                    // A state without nodes is not listed.
                    let target = Some(e.target as usize).filter(|t| !self.nodes[*t].is_empty());
                    Step { props: e.props, instance: Some(e.instance), target }
                })
                .collect();
            follower.state(s, &here, &steps)?;
        }
        Ok(follower.edges)
    }
}

fn here(system: &Explicit, s: usize) -> Here {
    let x = &system.states[s];
    Here {
        props: x.props,
        enabled: x.edges.iter().fold(0, |all, e| all | e.props),
        deadlock: x.edges.is_empty(),
        sink: x.edges.iter().all(|e| e.stays),
    }
}

/// A counterexample as the checker reads it.
fn word(system: &Explicit, lasso: &Lasso) -> Word {
    let letters = lasso.states.iter().enumerate().map(|(i, s)| {
        let s = *s as usize;
        let instances = system.states[s].edges.iter().map(|e| e.instance).collect();
        // As far as the property asks.
        let (taken, instance) = (lasso.steps.get(i).map(|t| t.props), lasso.steps.get(i).map(|t| t.instance));
        Letter { here: here(system, s), taken, instance, instances }
    });
    Word { letters: letters.collect(), back: lasso.back }
}

fn any_property(r: &mut Rng, size: u64) -> Resolved {
    let fair = (r.below(3) == 0).then(|| {
        let size = 1 + r.below(3);
        premise(r, size)
    });
    let size = 1 + r.below(size);
    let mut formula = formula(r, size);
    if fair.is_some() {
        formula = match r.below(3) {
            0 => formula,
            1 => formula.unary(Unary::Finally),
            _ => formula.unary(Unary::Finally).unary(Unary::Globally),
        };
    }
    Property { premise: fair, formula }
}

fn ask(system: &Explicit, property: &Resolved, mistake: Option<Mistake>) -> Answer {
    let options = Options { prove: true, mistake, ..Options::default() };
    check(&mut system.clone(), property, &options).expect("the formula is small")
}

#[test]
fn what_holds_is_accepted_and_what_fails_is_refuted() {
    let (mut accepted, mut refuted, mut edges, mut fair) = (0u64, 0u64, 0, 0u64);
    for case in 0..cases() {
        let mut r = Rng(case.wrapping_mul(5_000_011) + 3);
        let system = system(&mut r);
        let property = any_property(&mut r, 8);
        let answer = ask(&system, &property, None);
        let text = || format!("case {case}: {:?} => {} on {system:#?}", property.premise, property.formula);
        match &answer.verdict {
            Verdict::Holds(_) => {
                let proved = answer.proved.as_ref().expect("it was asked for");
                let closure = Closure::of_negation(&property.formula);
                let open = Open::of(proved, &closure, system.states.len());
                match open.followed(&system, &property) {
                    Ok(n) => edges += n,
                    Err(why) => panic!("{}: {why}\n{open:#?}", text()),
                }
                accepted += 1;
                fair += u64::from(property.premise.is_some());
            }
            Verdict::Fails(lasso) => {
                assert!(answer.proved.is_none());
                assert!(word(&system, lasso).refutes(&property), "{}", text());
                refuted += 1;
            }
            Verdict::Unknown(why) => panic!("{why:?}"),
        }
    }
    println!("{accepted} accepted ({fair} with a premise, {edges} edges), {refuted} refuted, none rejected");
    assert!(accepted * 4 > cases() && refuted * 4 > cases() && fair * 20 > cases());
}

/// Names a rejection.
fn name(why: &Wrong) -> &'static str {
    match why {
        Wrong::NoFirst => "first",
        Wrong::NoTarget { .. } => "target",
        Wrong::NoNode { .. } => "node",
        Wrong::Ends { .. } => "ends",
        Wrong::Rises { .. } => "rises",
        Wrong::Stays { .. } => "stays",
        Wrong::Kept { .. } => "kept",
        Wrong::Fair { .. } => "fair",
        Wrong::NotDeeper { .. } => "deeper",
        Wrong::NoPremise { .. } => "premise",
        Wrong::TooMany => "many",
    }
}

/// Mistakes of the search that make it say Holds: what was lost is missing, what is not left is stayed in, what is said to
/// be postponed is kept.
#[test]
fn mistakes_of_the_search_are_named() {
    let mut named: BTreeMap<(usize, &str), u64> = BTreeMap::new();
    let mut harmless = 0u64;
    for case in 0..cases() {
        let mut r = Rng(case.wrapping_mul(11_000_027) + 5);
        let system = system(&mut r);
        let property = any_property(&mut r, 7);
        let right = ask(&system, &property, None);
        let n = 1 + r.below(6);
        let mistakes = [
            Mistake::LosesStep(n),
            Mistake::LosesNode(n),
            Mistake::LosesAtom(n),
            Mistake::ClosesEarly(1 + r.below(2)),
            Mistake::Overlooks(r.below(4) as u32),
            Mistake::Silent,
        ];
        for (i, mistake) in mistakes.into_iter().enumerate() {
            let answer = ask(&system, &property, Some(mistake));
            let Some(proved) = &answer.proved else { continue };
            let closure = Closure::of_negation(&property.formula);
            let open = Open::of(proved, &closure, system.states.len());
            match open.followed(&system, &property) {
                Ok(_) => {
                    let text = format!("case {case}, {mistake:?}: {} on {system:#?}", property.formula);
                    assert!(right.verdict.holds(), "a wrong Holds is accepted: {text}");
                    harmless += 1;
                }
                Err(why) => *named.entry((i, name(&why))).or_default() += 1,
            }
        }
    }
    println!("{named:?}, {harmless} harmless");
    let expected: [(usize, &[&str]); 6] = [
        (0, &["target", "node"]),
        (1, &["target", "node"]),
        (2, &["target", "node"]),
        (3, &["stays"]),
        (4, &["kept", "fair"]),
        (5, &["stays", "ends"]),
    ];
    for (mistake, names) in expected {
        for name in names {
            let times = named.get(&(mistake, name)).copied().unwrap_or(0);
            assert!(times * 1_000 > cases(), "mistake {mistake} is named `{name}` {times} times: {named:?}");
        }
    }
}

/// Changes one thing.
fn changed(open: &Open, r: &mut Rng) -> Open {
    let mut open = open.clone();
    let state = r.below(open.nodes.len() as u64) as usize;
    let count = open.nodes[state].len() as u64;
    let pick = |r: &mut Rng, n: usize| r.below(n.max(1) as u64) as usize;
    match r.below(10) {
        0 if count > 0 => {
            open.nodes[state].remove(pick(r, count as usize));
        }
        1 | 2 if !open.sets.is_empty() => {
            let at = pick(r, open.sets.len());
            let set = &mut open.sets[at];
            if !set.obligations.is_empty() {
                let at = pick(r, set.obligations.len());
                set.obligations.remove(at);
            }
        }
        3 if !open.sets.is_empty() => {
            let at = pick(r, open.sets.len());
            open.sets[at].past.pop();
        }
        4 | 5 if count > 0 && !open.components.is_empty() => {
            let node = pick(r, count as usize);
            let numbers = &mut open.nodes[state][node].numbers;
            let way = pick(r, numbers.len());
            let level = pick(r, numbers[way].len());
            numbers[way][level] = r.below(open.components.len() as u64) as u32;
        }
        6 if count > 0 => {
            // A level less, or one more.
            let node = pick(r, count as usize);
            let numbers = &mut open.nodes[state][node].numbers;
            let way = pick(r, numbers.len());
            match numbers[way].len() {
                1 => numbers[way].push(r.below(open.components.len() as u64) as u32),
                _ => {
                    numbers[way].pop();
                }
            }
        }
        7..=8 if !open.components.is_empty() => {
            let at = pick(r, open.components.len());
            let fair = |r: &mut Rng| match r.below(2) {
                0 => proof::Fair::Step(r.below(2) as u32),
                _ => proof::Fair::Instance(r.below(3) as u32),
            };
            open.components[at] = match r.below(4) {
                0 => proof::Reason::Left,
                1 => proof::Reason::Postponed(r.below(12) as u32),
                2 => proof::Reason::Ignored(fair(r)),
                _ => proof::Reason::Starved((0..r.below(3)).map(|_| fair(r)).collect()),
            };
        }
        _ if count > 0 && !open.sets.is_empty() => {
            let node = pick(r, count as usize);
            open.nodes[state][node].set = r.below(open.sets.len() as u64) as u32;
        }
        _ => {}
    }
    open
}

/// Proofs of formulas that do not hold, which a search that is silent about what it found writes, and whatever changes of
/// them come to: none is accepted. That the formulas do not hold is known from counterexamples.
#[test]
fn no_change_makes_a_proof_of_what_is_false() {
    let (mut tried, mut accepted_of_true) = (0u64, 0u64);
    for case in 0..cases() / 2 {
        let mut r = Rng(case.wrapping_mul(13_000_003) + 7);
        let system = system(&mut r);
        let property = any_property(&mut r, 6);
        let truth = ask(&system, &property, None);
        let n = 1 + r.below(4);
        let mistake = match r.below(4) {
            0 => Mistake::Silent,
            1 => Mistake::ClosesEarly(n),
            2 => Mistake::Overlooks(r.below(3) as u32),
            _ => Mistake::LosesAtom(n),
        };
        let closure = Closure::of_negation(&property.formula);
        let Some(proved) = ask(&system, &property, Some(mistake)).proved else { continue };
        let whole = Open::of(&proved, &closure, system.states.len());
        for _ in 0..20 {
            let mut open = changed(&whole, &mut r);
            for _ in 0..r.below(3) {
                open = changed(&open, &mut r);
            }
            tried += 1;
            if open.followed(&system, &property).is_ok() {
                let text = format!("case {case}: {} on {system:#?}: {open:#?}", property.formula);
                assert!(truth.verdict.holds(), "a proof of something false is accepted: {text}");
                accepted_of_true += 1;
            }
        }
    }
    println!("{tried} changed proofs, {accepted_of_true} accepted, all of true formulas");
    assert!(tried > cases() && accepted_of_true > 0, "{tried}, {accepted_of_true}");
}

/// `0 -t0-> 1 -t1-> 0`, `1 -t0-> 1`: state 0 has p0.
fn two() -> Explicit {
    let state = |props, edges| kanon::ltl::Expansion { props, edges, ..Default::default() };
    let states = vec![
        state(1, vec![Edge::new(0, 1, 1)]),
        state(0, vec![Edge::new(1, 2, 0), Edge { instance: 1, ..Edge::new(1, 1, 1) }]),
    ];
    Explicit { initial: vec![0], states }
}

/// One thing is changed, and the rejection is the one that names it.
#[test]
fn changed_proofs_are_rejected_for_the_right_reason() {
    let system = two();
    let p0 = || Formula::Atom(Prop::State(0));
    let again = |premise| Property { premise, formula: p0().unary(Unary::Finally).unary(Unary::Globally) };
    let proof = |property: &Resolved| {
        let answer = ask(&system, property, None);
        let proved = answer.proved.unwrap_or_else(|| panic!("{:?}", answer.verdict));
        Open::of(&proved, &Closure::of_negation(&property.formula), 2)
    };
    // SF(t1) => G F p0: in the component of state 1 with `G not p0` the step t1 is starved.
    let strong = again(Some(kanon::ltl::Fairness::Strong(1)));
    let whole = proof(&strong);
    assert!(whole.followed(&system, &strong).is_ok());
    let starved = proof::Reason::Starved(vec![proof::Fair::Step(1)]);
    let at = whole.components.iter().position(|c| *c == starved).expect("there is such a component");
    let why = |open: &Open, property: &Resolved| open.followed(&system, property).map_err(|w| name(&w));
    // A node is dropped; all of a state.
    let mut fewer = whole.clone();
    let of_starved = |n: &Node| n.numbers[0].contains(&(at as u32));
    fewer.nodes[1].retain(|n| !of_starved(n));
    assert_eq!(why(&fewer, &strong), Err("node"));
    fewer.nodes[1].clear();
    assert_eq!(why(&fewer, &strong), Err("target"));
    fewer.nodes[0].clear();
    assert_eq!(why(&fewer, &strong), Err("first"));
    // The pair is one that is taken; it is not the premise's; the premise is weaker, or there is none.
    let mut taken = whole.clone();
    taken.components[at] = proof::Reason::Starved(vec![proof::Fair::Step(0)]);
    assert_eq!(why(&taken, &strong), Err("premise"));
    let both = again(Some(kanon::ltl::Fairness::And(
        Box::new(kanon::ltl::Fairness::Strong(1)),
        Box::new(kanon::ltl::Fairness::Strong(0)),
    )));
    assert_eq!(why(&taken, &both), Err("fair"));
    assert_eq!(why(&whole, &again(None)), Err("premise"));
    // It is said that nothing stays, that a promise is postponed; the promise is kept.
    let mut left = whole.clone();
    left.components[at] = proof::Reason::Left;
    assert_eq!(why(&left, &strong), Err("stays"));
    let mut promise = whole.clone();
    let closure = Closure::of_negation(&strong.formula);
    promise.components[at] = proof::Reason::Postponed(closure.root);
    assert_eq!(why(&promise, &strong), Err("kept"));
    // A rank that does not fall.
    let mut rising = whole.clone();
    let highest = rising.components.len() as u32;
    rising.components.push(starved.clone());
    rising.nodes[1].iter_mut().filter(|n| of_starved(n)).for_each(|n| n.numbers[0] = vec![highest]);
    assert_eq!(why(&rising, &strong), Err("rises"));
    // Obligations are dropped: the node covers as much as before, and more is to be followed than is there.
    let mut weaker = whole.clone();
    for n in weaker.nodes[1].clone().iter().filter(|n| of_starved(n)) {
        weaker.sets[n.set as usize].obligations.clear();
    }
    assert!(why(&weaker, &strong).is_err());
    // Another formula: true of this system, but not what is proved.
    let other =
        Property { premise: strong.premise.clone(), formula: p0().unary(Unary::Once).unary(Unary::Globally) };
    assert!(why(&whole, &other).is_err());
    // A component whose edges take the step to another state is no component of a node that enables nothing.
    let mut shallow = whole.clone();
    shallow.nodes[0].iter_mut().for_each(|n| n.numbers[0] = vec![highest]);
    shallow.components.push(starved);
    assert_eq!(why(&shallow, &strong), Err("deeper"));
    // A deadlock in which what is asked for comes true.
    let mut ends = system.clone();
    ends.states[1].edges.clear();
    assert_eq!(whole.followed(&ends, &strong).map_err(|w| name(&w)), Err("ends"));
}
