//! petgraph as an oracle: its distances, union-find, isomorphism and components against our search, orbits, keys and
//! formulas.
//!
//! The state graph is built here, by asking the system for the successors of every state and looking rows up in a hash
//! map: without store, kernel, batches, threads and reduction. Its nodes are a root, the valuations of the constants
//! below it, and the states; an edge is a transition, so there may be several between two states.
//!
//! **Isomorphism.** Two states have one key exactly if their state graphs (`kanon graph`) are isomorphic: labels of
//! edges kept, points of one set and nested values of one type of one colour, and every value that no permutation moves
//! of its own. Variables that no permutation moves are not in the graph, so they have to be equal besides. By
//! Propositions 3.4 and 3.6 of *ProB gets Nauty* the same holds of the layered graphs, **coloured like that**. What nauty is given
//! is coloured otherwise (`kanon graph --encoding`): interchangeable points are told apart, and colours are numbered anew for every
//! state, so `idle` in one graph may have the colour of `ready` in another. Of this form only one direction is meant to
//! hold, the one that reduction needs: symmetric states have isomorphic graphs.
//!
//! `KANON_MACHINES` (default 1,000) is how many random machines each test looks at.

use crate::support::random::{Choice, Generator, Machine as RandomMachine};
use crate::support::typed;
use crate::support::{explore, solved};
use kanon::eval::Fault;
use kanon::explore::{Explored, Options};
use kanon::ltl::atoms::{Bound, StateAtom};
use kanon::ltl::machine::space;
use kanon::ltl::{
    Edge, Expansion, Explicit, Formula, Prop, Property, Resolved, Structure, Unary, check, reduce,
};
use kanon::model::load::{load, load_text, with_large_stack};
use kanon::model::scope::{ScopeArgs, scope};
use kanon::model::{ExprKind, Model, SetId};
use kanon::symmetry::encode::{ArrowLabel, Colouring, Encoder, StateGraph, Vertex};
use kanon::symmetry::{Action, Graph, MachineAction, Perm, Reducer, Strategy};
use kanon::system::{Machine, Role, Stop, System, Transition, Visitor};
use kanon::value::{Scope, Value};
use kanon::verdict::Verdict;
use petgraph::Direction;
use petgraph::algo::{dijkstra, is_isomorphic_matching, kosaraju_scc, tarjan_scc};
use petgraph::graph::{DiGraph, NodeIndex};
use petgraph::unionfind::UnionFind;
use petgraph::visit::NodeFiltered;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

/// Layered graphs with more vertices are not compared: petgraph has a matrix of them.
const LARGE: usize = 2_000;
/// Machines with more states than this are not looked at.
const MOST: usize = 4_000;
/// The same for random machines: most of the larger ones have no end.
const MOST_RANDOM: usize = 400;

const OF_PAPERS: [(&str, &[(&str, u64)]); 7] = [
    ("Dining.mch", &[("Phil", 3), ("Fork", 3)]),
    ("RussianPostalPuzzle.mch", &[("LOCK", 3)]),
    ("TokenRing.mch", &[("Server", 4)]),
    ("Towns.mch", &[("TOWN", 3)]),
    ("USB_4Endpoints.mch", &[("TRANSFER", 2)]),
    ("scheduler0.mch", &[("PROC", 5)]),
    ("scheduler1.mch", &[("PROC", 4)]),
];

/// Sets of sets, sequences of sets, pairs, records: a vertex for each nested value.
const NESTED: &str = "MACHINE Nested SETS D
    VARIABLES sets, line, pair, both
    INVARIANT sets <: POW(D) & line : seq(POW(D)) & pair : D * D & both : struct(one : D, many : POW(D))
    INITIALISATION
      sets := {} || line := <> || pair :: D * D ||
      ANY x WHERE x : D THEN both := rec(one : x, many : {}) END
    OPERATIONS
      put(s) = PRE s : POW(D) & card(sets) < 2 THEN sets := sets \\/ {s} END;
      say(s) = PRE s : sets & size(line) < 2 THEN line := line <- s END;
      keep(s) = PRE s : sets & s /= {} & both'many = {} & line /= <> THEN both'many := s END
    END";

/// Sets of relations: a vertex for each relation and each of its pairs, of which left and right count.
const ARROWS: &str = "MACHINE Arrows SETS D VARIABLES arrows INVARIANT arrows <: D <-> D
    INITIALISATION arrows := {}
    OPERATIONS
      put(a, b) = PRE a : D & b : D & card(arrows) < 2 THEN arrows := arrows \\/ {{a |-> b}} END;
      add(r, a, b) = PRE r : arrows & a : D & b : D & card(arrows) < 2 THEN arrows := arrows \\/ {r \\/ {a |-> b}} END
    END";

/// Every state dies, after a while.
const DYING: &str = "MACHINE Dying SETS D VARIABLES alive, by INVARIANT alive <: D & by : D
    INITIALISATION alive := D || by :: D
    OPERATIONS die(x) = PRE x : alive & x /= by THEN alive := alive - {x} || by := x END END";

fn stop() -> Stop {
    Stop::default()
}

fn machines() -> u64 {
    std::env::var("KANON_MACHINES").ok().and_then(|n| n.parse().ok()).unwrap_or(1_000)
}

fn exact() -> impl Iterator<Item = Strategy> {
    Strategy::ALL.into_iter().filter(|s| s.is_exact() && (*s != Strategy::Nauty || cfg!(feature = "nauty")))
}

fn sized(model: Model, card: &[(&str, u64)]) -> (Model, Scope) {
    let card = card.iter().map(|(set, n)| (set.to_string(), *n)).collect();
    let scope = scope(&model, &ScopeArgs { card, ..ScopeArgs::default() }).expect("sizes").0;
    (model, scope)
}

fn seed(file: &str, card: &[(&str, u64)]) -> (Model, Scope) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("models/papers").join(file);
    sized(load(&path).model.expect("a model"), card)
}

fn text(text: &str, card: &[(&str, u64)]) -> (Model, Scope) {
    sized(load_text("m.mch", text).model.expect("a model"), card)
}

/// A random machine whose deferred set has two or three elements.
fn random(seed: u64) -> RandomMachine {
    let mut machine = RandomMachine::new(seed, 8);
    machine.scope.card[1] = 2 + seed % 2;
    machine
}

/// A system with its constants, if there are any valuations and all of them were found.
fn system(model: &Model, scope: &Scope) -> Option<Arc<Machine>> {
    let (system, setup) = solved(model, scope, 200, &stop());
    (setup.fault.is_none() && setup.truncated.is_none() && setup.valuations > 0).then_some(system)
}

// ---- the whole graph ----------------------------------------------------------------------------------------

enum Node {
    Root,
    Valuation,
    State(Vec<u64>),
}

struct Whole {
    graph: DiGraph<Node, ()>,
    root: NodeIndex,
    valuations: Vec<NodeIndex>,
    states: HashMap<Vec<u64>, NodeIndex>,
    /// Nodes of which some transition has no value.
    faulty: HashSet<NodeIndex>,
    initialisations: u64,
    transitions: u64,
}

/// The transitions of one state, each once, whatever the system says of repetitions.
struct Steps<'a> {
    system: &'a Machine,
    most: usize,
    /// Label and target.
    seen: HashSet<(Vec<u64>, Vec<u64>)>,
    targets: Vec<Vec<u64>>,
    faulty: bool,
}

impl Visitor<<Machine as System>::Here> for Steps<'_> {
    fn transition(&mut self, step: Transition<<Machine as System>::Here>) -> ControlFlow<()> {
        let label = self.system.label(step.operation, step.here).to_vec();
        if self.seen.insert((label, step.target.to_vec())) {
            self.targets.push(step.target.to_vec());
        }
        if self.targets.len() > 8 * self.most { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    fn fault(&mut self, _: usize, fault: Box<Fault>) -> ControlFlow<()> {
        self.faulty = true;
        if matches!(*fault, Fault::Limit(..)) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

impl Whole {
    /// `None` if there are too many states, or not all of them can be computed.
    fn of(system: &Machine, most: usize) -> Option<Whole> {
        let mut graph = DiGraph::new();
        let root = graph.add_node(Node::Root);
        let mut whole = Whole {
            graph,
            root,
            valuations: vec![],
            states: HashMap::new(),
            faulty: HashSet::new(),
            initialisations: 0,
            transitions: 0,
        };
        let mut worker = system.worker(&stop());
        let mut open = vec![];
        for v in 0..system.valuations() {
            let at = whole.graph.add_node(Node::Valuation);
            whole.graph.add_edge(root, at, ());
            whole.valuations.push(at);
            let mut rows = vec![];
            let ended = system.initial(&mut worker, v, &mut |_, row| {
                rows.push(row.to_vec());
                if rows.len() > most { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            });
            match ended {
                Ok(ControlFlow::Break(())) => return None,
                Ok(ControlFlow::Continue(())) => {}
                Err(fault) if matches!(*fault, Fault::Limit(..)) => return None,
                Err(_) => drop(whole.faulty.insert(at)),
            }
            whole.initialisations += rows.len() as u64;
            rows.into_iter().for_each(|row| whole.edge(at, row, &mut open));
        }
        // Depth first: distances must not come from the order in which the graph was made.
        while let Some((at, row)) = open.pop() {
            let mut steps = Steps { system, most, seen: HashSet::new(), targets: vec![], faulty: false };
            if system.successors(&mut worker, &row, &mut steps).is_break() {
                return None;
            }
            if steps.faulty {
                whole.faulty.insert(at);
            }
            whole.transitions += steps.targets.len() as u64;
            steps.targets.into_iter().for_each(|row| whole.edge(at, row, &mut open));
            if whole.states.len() > most {
                return None;
            }
        }
        system.cut(&mut worker).is_none().then_some(whole)
    }

    fn edge(&mut self, from: NodeIndex, row: Vec<u64>, open: &mut Vec<(NodeIndex, Vec<u64>)>) {
        let Whole { graph, states, .. } = self;
        let to = *states.entry(row.clone()).or_insert_with(|| {
            let to = graph.add_node(Node::State(row.clone()));
            open.push((to, row));
            to
        });
        graph.add_edge(from, to, ());
    }

    fn rows(&self) -> impl Iterator<Item = (NodeIndex, &[u64])> {
        self.graph.node_indices().filter_map(|n| match &self.graph[n] {
            Node::State(row) => Some((n, &row[..])),
            _ => None,
        })
    }

    /// How far a state is from the initial ones. Initial states are two edges below the root.
    fn depths(&self) -> HashMap<NodeIndex, usize> {
        let distances = dijkstra(&self.graph, self.root, None, |_| 1usize);
        assert_eq!(distances.len(), self.graph.node_count(), "a node that was made was reached");
        let states = distances.into_iter().filter(|(n, _)| matches!(self.graph[*n], Node::State(_)));
        states.map(|(n, distance)| (n, distance - 2)).collect()
    }

    /// Nothing is possible, and nothing went wrong.
    fn is_dead(&self, n: NodeIndex) -> bool {
        self.graph.neighbors(n).next().is_none() && !self.faulty.contains(&n)
    }
}

/// Every stored state is a node, and as deep as petgraph says.
fn as_deep(what: &str, whole: &Whole, depths: &HashMap<NodeIndex, usize>, found: &Explored) {
    for id in 0..found.store.len() as u32 {
        let row = found.store.row(id);
        let node = whole.states.get(&row[..]).unwrap_or_else(|| panic!("{what}: {id} is no state"));
        assert_eq!(found.store.depth(id, MOST), Some(depths[node]), "{what}: state {id}");
    }
}

fn options(symmetry: Strategy, threads: usize) -> Options {
    Options { all: true, symmetry, threads: Some(threads), alone_below: 2, ..Options::default() }
}

// ---- 1. depths and counts -----------------------------------------------------------------------------------

/// How many states were compared, and how many of them have no successor.
fn counts_and_depths(what: &str, model: &Model, scope: &Scope, most: usize) -> (usize, u64) {
    let Some(system) = system(model, scope) else { return (0, 0) };
    let Some(whole) = Whole::of(&system, most) else { return (0, 0) };
    let depths = whole.depths();
    let dead = whole.graph.node_indices().filter(|n| whole.is_dead(*n)).count() as u64;
    for (threads, one_by_one) in [(1, true), (1, false), (2, false), (3, false)] {
        let options = Options { one_by_one, ..options(Strategy::Off, threads) };
        let found = explore(&system, &options, &stop());
        let what = format!("{what}, {threads} threads");
        let counts = &found.counts;
        assert_eq!(counts.states, whole.states.len(), "{what}: states");
        assert_eq!(counts.transitions, whole.transitions, "{what}: transitions");
        assert_eq!(counts.initialisations, whole.initialisations, "{what}: initialisations");
        assert_eq!(counts.deadlocks, dead, "{what}: deadlocks");
        as_deep(&what, &whole, &depths, &found);
    }
    (whole.states.len(), dead)
}

#[test]
fn depths_are_distances_and_counts_are_those_of_the_graph() {
    for (file, card) in OF_PAPERS {
        let (model, scope) = seed(file, card);
        assert!(counts_and_depths(file, &model, &scope, MOST).0 > 100, "{file}");
    }
    let (model, scope) = text(DYING, &[("D", 4)]);
    assert!(counts_and_depths("Dying", &model, &scope, MOST).1 > 0);
    let (model, scope) = text(NESTED, &[("D", 2)]);
    assert!(counts_and_depths("Nested", &model, &scope, MOST).0 > 100);
}

#[test]
fn depths_and_counts_of_random_machines() {
    let machines = machines();
    let (mut compared, mut dead) = (0, 0);
    for seed in 0..machines {
        let m = random(seed);
        let what = format!("seed {seed}");
        let found = with_large_stack(|| counts_and_depths(&what, &m.model, &m.scope, MOST_RANDOM));
        let (states, without) = found.expect("a thread");
        compared += states as u64;
        dead += without;
    }
    println!("{compared} states of {machines} machines compared, {dead} deadlocks");
    assert!(compared > 5 * machines && dead > machines / 10, "only {compared} states, {dead} deadlocks");
}

// ---- 2. orbits ----------------------------------------------------------------------------------------------

/// A value with two elements of a set exchanged.
fn swapped(v: &Value, set: SetId, i: u32, j: u32) -> Value {
    let part = |v: &Value| swapped(v, set, i, j);
    match v {
        Value::Elem(s, k) if *s == set && *k == i => Value::Elem(*s, j),
        Value::Elem(s, k) if *s == set && *k == j => Value::Elem(*s, i),
        Value::Pair(p) => Value::pair(part(&p.0), part(&p.1)),
        Value::Set(elements) => Value::set(elements.iter().map(part)),
        Value::Rec(fields) => Value::Rec(fields.iter().map(part).collect()),
        other => other.clone(),
    }
}

/// Where the exchange of two elements takes each node; `None` if one of them has no image.
fn images(
    whole: &Whole,
    action: &MachineAction,
    p: &Perm,
    swap: &dyn Fn(Value) -> Value,
) -> Option<Vec<NodeIndex>> {
    let system = &action.system;
    let mut to: Vec<NodeIndex> = whole.graph.node_indices().collect();
    for (v, n) in whole.valuations.iter().enumerate() {
        let image = action.valuation(v, p)?;
        let expected = system.constant_values(v).into_iter().map(|v| v.map(swap));
        assert!(expected.eq(system.constant_values(image)), "the image of valuation {v}");
        to[n.index()] = whole.valuations[image];
    }
    let mut image = vec![];
    for (n, row) in whole.rows() {
        assert!(action.row(row, p, &mut image), "no image of {row:?}");
        let expected: Vec<Value> = system.variable_values(row).into_iter().map(swap).collect();
        assert_eq!(system.variable_values(&image), expected, "the image of {row:?}");
        to[n.index()] = *whole.states.get(&image)?;
    }
    Some(to)
}

/// Whether transitions are taken to transitions, and faults to faults.
fn is_automorphism(whole: &Whole, to: &[NodeIndex]) -> bool {
    let sorted = |nodes: &mut dyn Iterator<Item = NodeIndex>| {
        let mut nodes: Vec<NodeIndex> = nodes.collect();
        nodes.sort_unstable();
        nodes
    };
    whole.graph.node_indices().all(|n| {
        let image = to[n.index()];
        let moved = sorted(&mut whole.graph.neighbors(n).map(|m| to[m.index()]));
        moved == sorted(&mut whole.graph.neighbors(image))
            && whole.faulty.contains(&n) == whole.faulty.contains(&image)
    })
}

/// Whether an expression of a machine names an element.
fn is_named(model: &Model, set: SetId, element: u32) -> bool {
    let mut found = false;
    model.for_each_expr(&mut |e| {
        found |= e.any(&|e| matches!(e.kind, ExprKind::Elem(s, i) if (s, i) == (set, element)));
    });
    found
}

/// The nodes, joined where the exchange of two elements takes one to the other. `None` if that is no symmetry of the
/// graph: when a substitution has no value, what else it could have done is lost, and what came before that depends on
/// the order of elements.
fn orbits(what: &str, whole: &Whole, action: &MachineAction) -> Option<UnionFind<usize>> {
    let mut orbits = UnionFind::new(whole.graph.node_count());
    let model = &action.system.model;
    for o in &action.group.orbitals {
        let unnamed: Vec<u32> = (0..o.size).filter(|i| !is_named(model, o.set, *i)).collect();
        assert!(action.group.elements(o).eq(unnamed.iter().copied()), "{what}: what is permuted");
        for (i, j) in
            unnamed.iter().flat_map(|j| unnamed.iter().take_while(move |i| *i < j).map(move |i| (*i, *j)))
        {
            let mut p = Perm::identity(action.group.points());
            p.0.swap((o.first + i) as usize, (o.first + j) as usize);
            let to = images(whole, action, &p, &|v| swapped(&v, o.set, i, j));
            let Some(to) = to.filter(|to| is_automorphism(whole, to)) else {
                assert!(!whole.faulty.is_empty(), "{what}: {p:?} is no symmetry of the state graph");
                return None;
            };
            to.iter().enumerate().for_each(|(n, image)| _ = orbits.union(n, image.index()));
        }
    }
    Some(orbits)
}

/// How many states there are, and how many orbits.
fn reduced(what: &str, model: &Model, scope: &Scope, most: usize) -> Option<(usize, usize)> {
    let system = system(model, scope)?;
    let whole = Whole::of(&system, most)?;
    let action = MachineAction::of(&system);
    let joined = orbits(what, &whole, &action)?;
    let depths = whole.depths();
    let firsts = |keep: &dyn Fn(NodeIndex) -> bool| -> usize {
        let nodes = whole.graph.node_indices().filter(|n| keep(*n));
        nodes.map(|n| joined.find(n.index())).collect::<BTreeSet<_>>().len()
    };
    let states = firsts(&|n| matches!(whole.graph[n], Node::State(_)));
    let constants = firsts(&|n| matches!(whole.graph[n], Node::Valuation));
    let dead = firsts(&|n| whole.is_dead(n));
    let levels: BTreeSet<usize> = depths.values().copied().collect();
    for symmetry in exact() {
        let most = if symmetry == Strategy::Flood { 1 } else { 3 };
        for threads in [1, most] {
            let found = explore(&system, &options(symmetry, threads), &stop());
            let what = format!("{what}, {symmetry}, {threads} threads");
            as_deep(&what, &whole, &depths, &found);
            let ids = 0..found.store.len() as u32;
            let seen: BTreeSet<_> = ids.clone().filter_map(|id| found.store.depth(id, MOST)).collect();
            assert_eq!(seen, levels, "{what}: depths");
            if symmetry == Strategy::Off {
                continue;
            }
            assert_eq!(found.counts.states, states, "{what}: orbits");
            assert_eq!(found.counts.constants, constants, "{what}: orbits of valuations");
            assert_eq!(found.counts.deadlocks, dead as u64, "{what}: orbits without a successor");
            let met = ids.map(|id| joined.find(whole.states[&found.store.row(id)[..]].index()));
            assert_eq!(met.collect::<BTreeSet<_>>().len(), states, "{what}: every orbit");
        }
    }
    Some((whole.states.len(), states))
}

#[test]
fn reduction_keeps_the_orbits_and_their_depths() {
    for (file, card) in OF_PAPERS {
        let (model, scope) = seed(file, card);
        let (states, orbits) = reduced(file, &model, &scope, MOST).expect("a small model");
        assert!(orbits < states, "{file}");
    }
    for (name, machine, n) in [("Dying", DYING, 4), ("Nested", NESTED, 2), ("Arrows", ARROWS, 3)] {
        let (model, scope) = text(machine, &[("D", n)]);
        let (states, orbits) = reduced(name, &model, &scope, MOST).expect("a small model");
        assert!(orbits < states, "{name}");
    }
}

#[test]
fn reduction_of_random_machines() {
    let machines = machines();
    let (mut compared, mut saved) = (0, 0);
    for seed in 0..machines {
        let m = random(seed);
        let what = format!("seed {seed}");
        let found = with_large_stack(|| reduced(&what, &m.model, &m.scope, MOST_RANDOM)).expect("a thread");
        if let Some((states, orbits)) = found {
            compared += 1;
            saved += u64::from(orbits < states);
        }
    }
    println!("{compared} of {machines} machines compared, {saved} are smaller by reduction");
    assert!(compared > machines / 4 && saved > machines / 10, "only {compared}, {saved} smaller");
}

// ---- 3. keys ------------------------------------------------------------------------------------------------

/// The forms in which a state is drawn.
struct Drawn {
    /// Labels of edges as a set: petgraph's isomorphism is of graphs without parallel edges.
    state: DiGraph<Vertex, BTreeSet<u32>>,
    layered: DiGraph<u32, ()>,
    /// As nauty is given it.
    told_apart: DiGraph<u32, ()>,
    /// What is not drawn: the words of variables and the values of constants that no permutation moves.
    rest: (Vec<Option<Value>>, Vec<u64>),
    keys: Vec<Vec<u64>>,
}

fn layers(graph: &Graph) -> DiGraph<u32, ()> {
    let mut out = DiGraph::new();
    let nodes: Vec<NodeIndex> = graph.colours().iter().map(|c| out.add_node(*c)).collect();
    let edges: BTreeSet<_> = graph.edges().iter().copied().collect();
    for (a, b) in edges {
        out.add_edge(nodes[a as usize], nodes[b as usize], ());
    }
    out
}

/// `None` if that is large.
fn drawn(
    action: &MachineAction,
    encoder: &Encoder,
    colours: &mut Vec<Vertex>,
    reducers: &mut [Reducer],
    row: &[u64],
) -> Option<Drawn> {
    let mut graph = StateGraph::default();
    encoder.graph(action, row, &mut graph);
    if graph.vertices.len() * graph.labels.len() > LARGE {
        return None;
    }
    let mut state = DiGraph::new();
    let nodes: Vec<NodeIndex> = graph.vertices.iter().map(|v| state.add_node(v.clone())).collect();
    let mut labels: BTreeMap<(u32, u32), BTreeSet<u32>> = BTreeMap::new();
    for e in &graph.edges {
        labels.entry((e.from, e.to)).or_default().insert(e.label);
    }
    for ((from, to), labels) in labels {
        state.add_edge(nodes[from as usize], nodes[to as usize], labels);
    }
    // One colour for a kind of vertices in the graphs of all states.
    let painted = graph.vertices.iter().map(|v| {
        let known = colours.iter().position(|c| c == v);
        known.unwrap_or_else(|| {
            colours.push(v.clone());
            colours.len() - 1
        }) as u32
    });
    let painted: Vec<u32> = painted.collect();
    let mut layered = Graph::default();
    graph.layered(&painted, &mut layered);
    let (mut by_twins, mut told_apart) = (vec![], Graph::default());
    graph.colours(&mut Colouring::default(), &mut by_twins);
    graph.layered(&by_twins, &mut told_apart);
    let system = &action.system;
    let still = |slot: &usize| !graph.labels.contains(&ArrowLabel::Slot(*slot as u32));
    let first = system.const_slots();
    let constants = system.constant_values(system.start_of(row));
    let words = system.words(row);
    let rest = (
        (0..first).filter(still).map(|slot| constants[slot].clone()).collect(),
        (first..first + words.len()).filter(still).map(|slot| words[slot - first]).collect(),
    );
    let keys = reducers.iter_mut().map(|r| r.key(row).to_vec()).collect();
    Some(Drawn { state, layered: layers(&layered), told_apart: layers(&told_apart), rest, keys })
}

/// Vertices of a graph that is compared with others: the oracle tries permutations, without colours.
const LARGEST: usize = 150;

/// Compares pairs of some states and their images; how many pairs are symmetric, and how many are not.
fn keys(what: &str, model: &Model, scope: &Scope, most: usize, sample: usize) -> (u64, u64) {
    let Some(system) = system(model, scope) else { return (0, 0) };
    let Some(whole) = Whole::of(&system, most) else { return (0, 0) };
    let action = Arc::new(MachineAction::of(&system));
    let permuting: Arc<dyn Action> = action.clone();
    let symbolic = |v| system.constant_values(v).iter().any(Option::is_none);
    if action.group.is_trivial() || (0..system.valuations()).any(symbolic) {
        return (0, 0);
    }
    let strategies = [Strategy::Canon, Strategy::Nauty, Strategy::Auto];
    let mut reducers: Vec<Reducer> =
        strategies.iter().filter_map(|s| Reducer::new(&permuting, *s, false)).collect();
    let encoder = Encoder::new(&action);
    let mut colours = vec![];
    let generators = action.group.generators();
    let mut states = vec![];
    for (i, (_, row)) in whole.rows().step_by(whole.states.len() / sample + 1).enumerate() {
        let mut image = vec![];
        assert!(action.row(row, &generators[i % generators.len()], &mut image), "{what}: no image");
        for row in [row, &image] {
            let drawn = drawn(&action, &encoder, &mut colours, &mut reducers, row);
            states.extend(drawn.into_iter().filter(|d| d.layered.node_count() <= LARGEST));
        }
    }
    let (mut alike, mut different) = (0, 0);
    for (i, a) in states.iter().enumerate() {
        for (j, b) in states[..i].iter().enumerate() {
            let same = a.keys[0] == b.keys[0];
            let what = format!("{what}: states {i} and {j}");
            assert!(a.keys.iter().zip(&b.keys).all(|(x, y)| (x == y) == same), "{what}: strategies");
            let rest = a.rest == b.rest;
            let state = is_isomorphic_matching(&a.state, &b.state, |x, y| x == y, |x, y| x == y);
            assert_eq!(rest && state, same, "{what}: state graphs");
            let layered = is_isomorphic_matching(&a.layered, &b.layered, |x, y| x == y, |(), ()| true);
            assert_eq!(layered, state, "{what}: Propositions 3.4 and 3.6");
            if same {
                let (a, b) = (&a.told_apart, &b.told_apart);
                assert!(
                    is_isomorphic_matching(a, b, |x, y| x == y, |(), ()| true),
                    "{what}: as nauty sees it"
                );
            }
            *if same { &mut alike } else { &mut different } += 1;
        }
    }
    (alike, different)
}

#[test]
fn keys_are_equal_where_state_graphs_are_isomorphic() {
    let small: [(&str, &[(&str, u64)]); 7] = [
        ("Dining.mch", &[("Phil", 3), ("Fork", 3)]),
        ("RussianPostalPuzzle.mch", &[("LOCK", 3)]),
        ("TokenRing.mch", &[("Server", 3)]),
        ("Towns.mch", &[("TOWN", 3)]),
        ("USB_4Endpoints.mch", &[("TRANSFER", 2)]),
        ("scheduler0.mch", &[("PROC", 4)]),
        ("scheduler1.mch", &[("PROC", 3)]),
    ];
    let models = small.iter().map(|(file, card)| (*file, seed(file, card)));
    let deep = [("Nested", text(NESTED, &[("D", 2)])), ("Arrows", text(ARROWS, &[("D", 3)]))];
    for (name, (model, scope)) in models.chain(deep) {
        let (alike, different) = keys(name, &model, &scope, MOST, 40);
        println!("{name}: {alike} pairs alike, {different} different");
        assert!(alike > 10 && different > 100, "{name}: {alike} alike, {different} different");
    }
}

#[test]
fn keys_of_random_machines() {
    let machines = machines();
    let (mut alike, mut different) = (0, 0);
    for seed in 0..machines {
        let m = random(seed);
        let what = format!("seed {seed}");
        let found = with_large_stack(|| keys(&what, &m.model, &m.scope, MOST_RANDOM, 8)).expect("a thread");
        alike += found.0;
        different += found.1;
    }
    println!("{machines} machines: {alike} pairs alike, {different} different");
    assert!(alike > machines && different > machines, "only {alike} and {different}");
}

// ---- 4. formulas --------------------------------------------------------------------------------------------

/// `G F p` and `F G p` on a graph of reachable states, each with the truth of p. A path may end: then its last state
/// counts.
fn by_components(graph: &DiGraph<bool, ()>) -> [bool; 2] {
    let ends_well = graph.externals(Direction::Outgoing).all(|n| graph[n]);
    let is_cycle = |c: &Vec<NodeIndex>| c.len() > 1 || graph.contains_edge(c[0], c[0]);
    // Never p again: a cycle in what is left without p.
    let without = NodeFiltered::from_fn(graph, |n| !graph[n]);
    let never_again = kosaraju_scc(&without).iter().any(is_cycle);
    // Not p again and again: a cycle through a state without p.
    let not_always = tarjan_scc(graph).iter().filter(|c| is_cycle(c)).flatten().any(|n| !graph[*n]);
    [ends_well && !never_again, ends_well && !not_always]
}

/// What is inside, and what around it.
const FORMULAS: [[Unary; 2]; 2] = [[Unary::Finally, Unary::Globally], [Unary::Globally, Unary::Finally]];

fn property([inner, outer]: [Unary; 2]) -> Resolved {
    Property { premise: None, formula: Formula::Atom(Prop::State(0)).unary(inner).unary(outer) }
}

fn answer<S: Structure>(what: &str, structure: &mut S, property: &Resolved) -> bool {
    match check(structure, property, &Default::default()).expect("a small formula").verdict {
        Verdict::Holds(_) => true,
        Verdict::Fails(_) => false,
        Verdict::Unknown(why) => panic!("{what}: {why:?}"),
    }
}

/// Both formulas, with and without reduction; `None` if there is nothing to compare.
fn formulas(what: &str, model: &Model, scope: &Scope, most: usize) -> Option<[bool; 2]> {
    let system = system(model, scope)?;
    let whole = Whole::of(&system, most)?;
    if !whole.faulty.is_empty() {
        return None;
    }
    let goal = model.goal.as_ref()?;
    let mut worker = system.worker(&stop());
    let mut p = HashSet::new();
    for (n, row) in whole.rows() {
        let check = system.checks().iter().position(|c| c.role == Role::Goal)?;
        let here = system.load(&mut worker, row);
        if system.holds(check, here).ok()? {
            p.insert(n);
        }
    }
    if system.cut(&mut worker).is_some() {
        return None;
    }
    let state = |n: NodeIndex, node: &Node| matches!(node, Node::State(_)).then(|| p.contains(&n));
    let expected = by_components(&whole.graph.filter_map(state, |_, ()| Some(())));
    for (expected, formula) in expected.into_iter().zip(FORMULAS) {
        let bound = Bound {
            text: String::new(),
            parsed: Property { premise: None, formula: Formula::True },
            property: property(formula),
            states: vec![StateAtom::Predicate(goal.clone())],
            steps: vec![],
            span: goal.span,
        };
        for strategy in [Strategy::Off, Strategy::Auto] {
            let group = reduce::group(&system, &bound, strategy).expect("always possible");
            let action: Arc<dyn Action> = Arc::new(MachineAction::new(&system, group));
            let reducer =
                if strategy == Strategy::Off { None } else { Reducer::new(&action, strategy, false) };
            let mut machine = space(&system, &bound, reducer, Default::default(), None, &stop());
            let what = format!("{what}, {strategy}, {}", bound.property.formula);
            assert_eq!(answer(&what, &mut machine, &bound.property), expected, "{what}");
        }
    }
    Some(expected)
}

#[test]
fn recurrence_and_persistence_are_as_components_say() {
    let rows = [
        ("Dining.mch", "holds = {}", [false, false]),
        ("Dining.mch", "card(holds) <= card(Fork)", [true, true]),
        ("RussianPostalPuzzle.mch", "gem = TRUE", [false, false]),
        ("TokenRing.mch", "inside = {}", [true, false]),
        ("Towns.mch", "road = {}", [false, false]),
        ("USB_4Endpoints.mch", "pending = {}", [false, false]),
        ("scheduler0.mch", "status |> {ready} = {} or status |> {idle} = {}", [false, false]),
        ("scheduler1.mch", "serving = TRUE", [false, false]),
    ];
    for (file, p, said) in rows {
        let card = OF_PAPERS.iter().find(|(f, _)| *f == file).expect("a model of a paper").1;
        let (mut model, scope) = seed(file, card);
        model.goal = Some(typed(&mut model, p).expect("a predicate"));
        assert_eq!(formulas(file, &model, &scope, MOST), Some(said), "{file}: {p}");
    }
    // A path that ends, one that goes round with and without x = 3, and one that stays.
    let ring = "MACHINE m VARIABLES x INVARIANT x : 0..5 INITIALISATION x := 0
        OPERATIONS step = SELECT x < 5 THEN x := x + 1 END";
    for (more, p, said) in [
        ("", "x = 5", [true, true]),
        ("", "x < 5", [false, false]),
        ("; back = SELECT x = 5 THEN x := 2 END", "x = 3", [true, false]),
        ("; back = SELECT x = 5 THEN x := 2 END", "x > 1", [true, true]),
        ("; back = SELECT x = 5 THEN x := 2 END", "x < 2", [false, false]),
        ("; stay = SELECT x = 2 THEN skip END", "x /= 2", [false, false]),
        ("; stay = SELECT x = 2 THEN skip END", "x = 2 or x = 5", [true, true]),
    ] {
        let (mut model, scope) = text(&format!("{ring}{more} END"), &[]);
        model.goal = Some(typed(&mut model, p).expect("a predicate"));
        assert_eq!(formulas(p, &model, &scope, MOST), Some(said), "{more}: {p}");
    }
}

#[test]
fn recurrence_and_persistence_on_random_machines() {
    let machines = machines();
    let mut said = BTreeMap::<[bool; 2], u64>::new();
    for seed in 0..machines {
        let RandomMachine { model, scope, .. } = random(seed);
        let mut g = Generator::over(Choice::new(seed), model, scope);
        let p = g.pred(3);
        g.model.goal = Some(p);
        let (model, scope) = (&g.model, &g.scope);
        let what = format!("seed {seed}");
        let found = with_large_stack(|| formulas(&what, model, scope, MOST_RANDOM)).expect("a thread");
        found.into_iter().for_each(|answers| *said.entry(answers).or_default() += 1);
    }
    println!("{said:?} of {machines} machines");
    assert!([[true, true], [false, false]].iter().all(|a| said.get(a) > Some(&(machines / 40))), "{said:?}");
}

/// Predicates of random machines are true or false in most of their states; these graphs are not like that.
#[test]
fn recurrence_and_persistence_on_random_graphs() {
    let graphs = 20 * machines();
    let mut said = BTreeMap::<[bool; 2], u64>::new();
    for seed in 0..graphs {
        let mut c = Choice::new(seed);
        // Nearly trees, nearly cycles, and dense ones; p is rare, common, or all but everywhere.
        let (n, most, often) = (1 + c.below(40), 1 + c.below(3), c.pick(&[20, 50, 80, 97]));
        let ends = c.pick(&[0, 3, 20]);
        let mut graph = DiGraph::new();
        let nodes: Vec<NodeIndex> = (0..n).map(|_| graph.add_node(c.percent(often))).collect();
        for (i, from) in nodes.iter().enumerate() {
            for k in 0..if c.percent(ends) { 0 } else { 1 + c.below(most) } {
                // Ahead by a few mostly, back to anywhere now and then.
                let to = if k == 0 { (i + 1 + c.below(3)).min(n - 1) } else { c.below(n) };
                graph.update_edge(*from, nodes[to], ());
            }
        }
        let reached = dijkstra(&graph, nodes[0], None, |_| 1u32);
        let expected =
            by_components(&graph.filter_map(|n, p| reached.contains_key(&n).then_some(*p), |_, ()| Some(())));
        let state = |n: &NodeIndex| {
            let s = n.index() as u32;
            let edges = graph.neighbors(*n).map(|to| Edge::new(s, 0, to.index() as u32)).collect();
            Expansion { props: u64::from(graph[*n]), edges, ..Expansion::default() }
        };
        let mut explicit = Explicit { initial: vec![0], states: nodes.iter().map(state).collect() };
        for (expected, formula) in expected.into_iter().zip(FORMULAS) {
            let what = format!("seed {seed}, {formula:?}");
            assert_eq!(answer(&what, &mut explicit, &property(formula)), expected, "{what} on {explicit:?}");
        }
        *said.entry(expected).or_default() += 1;
    }
    println!("{said:?} of {graphs} graphs");
    let answers = [[true, true], [true, false], [false, false]];
    assert!(answers.iter().all(|a| said.get(a) > Some(&(graphs / 20))), "{said:?}");
}
