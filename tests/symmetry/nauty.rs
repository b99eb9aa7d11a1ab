//! The wrapper of nauty: labellings checked by our own code, and isomorphism by trying all permutations.
#![cfg(feature = "nauty")]

use kanon::symmetry::nauty::{Form, Labeller, MAX_VERTICES, Refused};
use kanon::symmetry::{Edges, Graph};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

const FORMS: [Form; 3] = [Form::BySize, Form::Dense, Form::Sparse];

fn graph(kind: Edges, colours: &[u32], edges: impl IntoIterator<Item = (u32, u32)>) -> Graph {
    let mut g = Graph::new(kind, colours.len());
    for (v, &c) in (0..).zip(colours) {
        g.paint(v, c);
    }
    edges.into_iter().for_each(|(a, b)| g.join(a, b));
    g
}

/// The canonical graph, with the labelling checked.
fn canonical(labeller: &mut Labeller, g: &Graph) -> Graph {
    let labelling = labeller.canonical(g).unwrap();
    let (places, canon) = (labelling.places, labelling.graph);
    let mut seen = vec![false; g.len()];
    for &p in places {
        assert!(!std::mem::replace(&mut seen[p as usize], true), "{p} twice in {places:?}");
    }
    assert_eq!(places.len(), g.len());
    assert!(canon.colours().is_sorted());
    for (v, &p) in places.iter().enumerate() {
        assert_eq!(canon.colours()[p as usize], g.colours()[v]);
    }
    let ends = |&(a, b): &(u32, u32)| match g.kind() {
        Edges::Undirected => (a.min(b), a.max(b)),
        Edges::Directed => (a, b),
    };
    let moved: BTreeSet<_> =
        g.edges().iter().map(|&(a, b)| ends(&(places[a as usize], places[b as usize]))).collect();
    assert_eq!(moved, canon.edges().iter().map(ends).collect());
    canon.clone()
}

/// All permutations of `0..n`.
fn permutations(n: u32) -> Vec<Vec<u32>> {
    if n == 0 {
        return vec![vec![]];
    }
    let shorter = permutations(n - 1);
    (0..n as usize)
        .flat_map(|at| {
            shorter.iter().map(move |p| {
                let mut p = p.clone();
                p.insert(at, n - 1);
                p
            })
        })
        .collect()
}

/// The class of a graph up to isomorphism, by trying everything.
fn class(g: &Graph, all: &[Vec<u32>]) -> Graph {
    all.iter().map(|p| g.relabel(p)).min().unwrap()
}

/// The canonical graphs of `graphs` are equal exactly where the graphs are isomorphic; says how many classes.
fn same_classes(graphs: &[Graph], n: u32) -> usize {
    let all = permutations(n);
    let mut count = 0;
    let classes: Vec<Graph> = graphs.iter().map(|g| class(g, &all)).collect();
    for form in FORMS {
        let mut labeller = Labeller::with_form(form);
        let (mut to, mut back) = (BTreeMap::new(), BTreeMap::new());
        for (g, class) in graphs.iter().zip(&classes) {
            let canon = canonical(&mut labeller, g);
            assert_eq!(to.entry(class.clone()).or_insert(canon.clone()), &canon, "{form:?}: split {g:?}");
            assert_eq!(back.entry(canon).or_insert(class.clone()), class, "{form:?}: merged {g:?}");
        }
        count = to.len();
    }
    count
}

/// All graphs over the given pairs of vertices.
fn all_graphs(kind: Edges, colours: &[u32], pairs: &[(u32, u32)]) -> Vec<Graph> {
    (0..1u32 << pairs.len())
        .map(|set| graph(kind, colours, (0..pairs.len()).filter(|i| set >> i & 1 == 1).map(|i| pairs[i])))
        .collect()
}

fn pairs(n: u32, keep: impl Fn(u32, u32) -> bool) -> Vec<(u32, u32)> {
    (0..n).flat_map(|a| (0..n).map(move |b| (a, b))).filter(|&(a, b)| keep(a, b)).collect()
}

#[test]
fn as_many_graphs_up_to_isomorphism_as_there_are() {
    // OEIS A000088 (graphs), A000666 (with loops), A000273 (digraphs), A000595 (relations).
    for (n, want) in [(0, 1), (1, 1), (2, 2), (3, 4), (4, 11), (5, 34)] {
        let graphs = all_graphs(Edges::Undirected, &vec![0; n as usize], &pairs(n, |a, b| a < b));
        assert_eq!(same_classes(&graphs, n), want, "graphs of {n}");
    }
    for (n, want) in [(1, 2), (2, 6), (3, 20), (4, 90)] {
        let graphs = all_graphs(Edges::Undirected, &vec![0; n as usize], &pairs(n, |a, b| a <= b));
        assert_eq!(same_classes(&graphs, n), want, "graphs with loops of {n}");
    }
    for (n, want) in [(2, 3), (3, 16), (4, 218)] {
        let graphs = all_graphs(Edges::Directed, &vec![0; n as usize], &pairs(n, |a, b| a != b));
        assert_eq!(same_classes(&graphs, n), want, "digraphs of {n}");
    }
    for (n, want) in [(1, 2), (2, 10), (3, 104)] {
        let graphs = all_graphs(Edges::Directed, &vec![0; n as usize], &pairs(n, |_, _| true));
        assert_eq!(same_classes(&graphs, n), want, "relations on {n}");
    }
    // Every colouring of every graph of three vertices by two colours: 20 of A000666, as a loop is a colour.
    let coloured: Vec<_> = (0..8u32)
        .flat_map(|c| {
            let colours = [c & 1, c >> 1 & 1, c >> 2];
            all_graphs(Edges::Undirected, &colours, &pairs(3, |a, b| a < b))
        })
        .collect();
    assert_eq!(same_classes(&coloured, 3), 20);
}

#[test]
fn known_graphs() {
    let ring = |n: u32, step: u32| (0..n).map(move |i| (i, (i + step) % n));
    let outer = || ring(5, 1);
    let spokes = || (0..5).map(|i| (i, i + 5));
    let petersen = outer().chain(spokes()).chain(ring(5, 2).map(|(a, b)| (a + 5, b + 5)));
    // Pairs of five things, joined where they are disjoint.
    let sets: Vec<_> = pairs(5, |a, b| a < b);
    let kneser = pairs(10, |a, b| {
        let (x, y) = (sets[a as usize], sets[b as usize]);
        a < b && x.0 != y.0 && x.0 != y.1 && x.1 != y.0 && x.1 != y.1
    });
    let prism = outer().chain(spokes()).chain(ring(5, 1).map(|(a, b)| (a + 5, b + 5)));
    let white = [0; 10];
    let [petersen, kneser, prism] =
        [petersen.collect(), kneser, prism.collect::<Vec<_>>()].map(|e| graph(Edges::Undirected, &white, e));
    for form in FORMS {
        let l = &mut Labeller::with_form(form);
        assert_eq!(canonical(l, &petersen), canonical(l, &kneser));
        assert_ne!(canonical(l, &petersen), canonical(l, &prism));
        // Orientation counts only where edges are directed.
        let path = |kind, edges| graph(kind, &[0, 0, 0], edges);
        let (through, out) = ([(0, 1), (1, 2)], [(1, 0), (1, 2)]);
        assert_eq!(
            canonical(l, &path(Edges::Undirected, through)),
            canonical(l, &path(Edges::Undirected, out))
        );
        assert_ne!(canonical(l, &path(Edges::Directed, through)), canonical(l, &path(Edges::Directed, out)));
        // Which colours there are counts, not only where they change.
        let dots = |colours: &[u32]| graph(Edges::Undirected, colours, []);
        assert_eq!(canonical(l, &dots(&[5, 2, 5])), dots(&[2, 5, 5]));
        assert_ne!(canonical(l, &dots(&[0, 1])), canonical(l, &dots(&[0, 2])));
        assert_eq!(canonical(l, &dots(&[])), dots(&[]));
    }
}

/// A ring of `n` with chords, in an order that `seed` decides.
fn shuffled(n: u32, seed: u32) -> Graph {
    let place = |v: u32| (v * (2 * seed + 1) + seed) % n; // n is a power of two, so the factor is a unit
    graph(
        Edges::Undirected,
        &vec![1; n as usize],
        (0..n).flat_map(|v| [(v, (v + 1) % n), (v, (v + n / 2) % n)]).map(|(a, b)| (place(a), place(b))),
    )
}

#[test]
fn threads_do_not_disturb_each_other() {
    let sizes = [4, 16, 64, 128, 256];
    let want: Vec<_> = sizes.map(|n| canonical(&mut Labeller::new(), &shuffled(n, 0))).into();
    std::thread::scope(|scope| {
        for thread in 0..2 {
            let want = &want;
            scope.spawn(move || {
                let mut labeller = Labeller::new();
                for round in 0..40 {
                    for i in 0..sizes.len() {
                        // The threads go through sizes and forms in opposite orders.
                        let i = if thread == 0 { i } else { sizes.len() - 1 - i };
                        let got = canonical(&mut labeller, &shuffled(sizes[i], round));
                        assert_eq!(got, want[i], "thread {thread}, round {round}, size {}", sizes[i]);
                    }
                }
            });
        }
    });
}

#[test]
fn a_labeller_may_move_to_another_thread() {
    let mut labeller = Labeller::new();
    let here = canonical(&mut labeller, &shuffled(64, 3));
    let there = std::thread::spawn(move || canonical(&mut labeller, &shuffled(64, 5))).join().unwrap();
    assert_eq!(here, there);
}

#[test]
fn too_large_is_refused_and_the_largest_fits_the_stack() {
    let mut labeller = Labeller::new();
    let refused = labeller.label(&Graph::new(Edges::Undirected, MAX_VERTICES + 1)).map(<[u32]>::to_vec);
    assert_eq!(refused, Err(Refused::TooLarge { vertices: MAX_VERTICES + 1 }));
    // Without edges nauty must fix vertex after vertex: its deepest recursion, and slow (minutes for the largest
    // graph). So an eighth of the vertices, on an eighth of 1 MiB, which is half of a thread's usual stack.
    for kind in [Edges::Undirected, Edges::Directed] {
        std::thread::Builder::new()
            .stack_size((1 << 20) / 8)
            .spawn(move || {
                let g = Graph::new(kind, MAX_VERTICES / 8);
                assert_eq!(canonical(&mut Labeller::new().max_nodes(u64::MAX), &g), g);
            })
            .unwrap()
            .join()
            .unwrap();
    }
}

/// A graph and a permutation of its vertices; vertices keep their colours, whatever their place.
fn graph_and_permutation() -> impl Strategy<Value = (Graph, Vec<u32>)> {
    let kind = prop_oneof![Just(Edges::Undirected), Just(Edges::Directed)];
    (kind, prop_oneof![1..9u32, 9..80u32, 120..160u32], 1..4u32)
        .prop_flat_map(|(kind, n, colours)| {
            let edges = prop::collection::vec((0..n, 0..n), 0..3 * n as usize);
            let colours = prop::collection::vec(0..colours, n as usize);
            let permutation = Just((0..n).collect::<Vec<u32>>()).prop_shuffle();
            (Just(kind), colours, edges, permutation)
        })
        .prop_map(|(kind, colours, edges, p)| (graph(kind, &colours, edges), p))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn isomorphic_graphs_have_one_canonical_graph((g, p) in graph_and_permutation()) {
        let image = g.relabel(&p);
        for form in FORMS {
            let mut labeller = Labeller::with_form(form);
            prop_assert_eq!(canonical(&mut labeller, &g), canonical(&mut labeller, &image));
        }
    }

    #[test]
    fn what_was_labelled_before_does_not_count((g, _) in graph_and_permutation(), (h, _) in graph_and_permutation()) {
        for form in FORMS {
            let mut used = Labeller::with_form(form);
            canonical(&mut used, &h);
            prop_assert_eq!(canonical(&mut used, &g), canonical(&mut Labeller::with_form(form), &g));
        }
    }

    #[test]
    fn small_graphs_are_merged_only_when_isomorphic(
        kind in prop_oneof![Just(Edges::Undirected), Just(Edges::Directed)],
        n in 2..6u32,
        raw in prop::collection::vec((prop::collection::vec(0..2u32, 5), prop::collection::vec((0..5u32, 0..5u32), 0..7)), 12),
    ) {
        let graphs: Vec<_> = raw.iter().map(|(colours, edges)| {
            graph(kind, &colours[..n as usize], edges.iter().map(|&(a, b)| (a % n, b % n)))
        }).collect();
        same_classes(&graphs, n);
    }
}
