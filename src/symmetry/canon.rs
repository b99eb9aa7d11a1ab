//! Canonical labelling of our own: colour refinement, individualisation, and pruning by automorphisms found.
//!
//! A node of the search is a colouring. It is refined until no round tells more vertices apart; if two points of
//! a set still look alike, one of a smallest such cell after the other is given a colour of its own, and the
//! search goes on below. Of all leaves, where every point has its own colour, the one with the least sequence
//! of colourings on its way is taken. Colours do not depend on the names of points, so symmetric states have
//! the same least sequence, and their leaves name corresponding points alike.
//!
//! Two leaves with the same sequence give an automorphism. Points that automorphisms exchange while the points
//! individualised so far stay where they are lead to the same leaves: one of them is enough. A cell whose points
//! are interchangeable one by one (which the caller can test, on the state itself) needs no search at all.
//!
//! Nothing here is trusted: a labelling is a permutation that is applied to the state, and the image is the key.

use super::group::{Group, Perm};
use super::sketch::{Sketch, SketchEdge, mix};

const OUT: u64 = 0x6F;
const IN: u64 = 0x69;
const OWN: u64 = 0x21;

/// How a labelling was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Settled {
    /// Colours alone told all points apart, or all but interchangeable ones.
    ByColour,
    /// By search.
    BySearch,
    /// Not at all: more nodes than allowed.
    GaveUp,
}

/// Labels sketches, in memory that is kept.
#[derive(Default)]
pub(super) struct Labeller {
    next: Vec<u64>,
    sorted: Vec<u64>,
    order: Vec<u32>,
    spare: Vec<Vec<u64>>,
    search: Search,
}

#[derive(Default)]
struct Search {
    nodes: u64,
    limit: u64,
    /// Points individualised on the way to this node.
    prefix: Vec<u32>,
    /// Invariants of the colourings on the way to this node, and on the way to the best leaf.
    trail: Vec<u64>,
    best_trail: Vec<u64>,
    best_prefix: Vec<u32>,
    /// The moved points in the order of the best leaf's colours, set by set.
    best: Vec<u32>,
    automorphisms: Vec<Perm>,
}

/// Where the search goes on.
enum Next {
    Here,
    /// At the node with a prefix of this length.
    Up(usize),
    Stop,
}

/// Whether two points may be exchanged without changing the state.
pub(super) type Swap<'a> = &'a mut dyn FnMut(u32, u32) -> bool;

impl Labeller {
    /// Colours that no round can refine; how many different ones there are.
    fn refine(&mut self, colours: &mut Vec<u64>, edges: &[SketchEdge]) -> usize {
        let mut cells = self.cells(colours);
        if edges.is_empty() {
            return cells;
        }
        loop {
            self.next.clear();
            self.next.extend(colours.iter().map(|c| mix(*c, OWN)));
            for e in edges {
                let (a, b) = (e.from as usize, e.to as usize);
                self.next[a] = self.next[a].wrapping_add(mix(e.label ^ OUT, colours[b]));
                self.next[b] = self.next[b].wrapping_add(mix(e.label ^ IN, colours[a]));
            }
            std::mem::swap(colours, &mut self.next);
            let refined = self.cells(colours);
            if refined <= cells {
                return refined;
            }
            cells = refined;
        }
    }

    /// How many colours there are; `sorted` has them in order.
    fn cells(&mut self, colours: &[u64]) -> usize {
        self.sorted.clear();
        self.sorted.extend_from_slice(colours);
        self.sorted.sort_unstable();
        usize::from(!self.sorted.is_empty()) + self.sorted.windows(2).filter(|w| w[0] != w[1]).count()
    }

    /// The moved points of every set in the order of their colours.
    fn arrange(&mut self, group: &Group, colours: &[u64]) {
        self.order.clear();
        self.order.extend_from_slice(group.moved());
        for o in &group.orbitals {
            let set = &mut self.order[o.places()];
            set.sort_unstable_by_key(|v| (colours[*v as usize], *v));
        }
    }

    /// The first smallest cell with several points, in `order`: where it begins and ends.
    fn cell(&self, group: &Group, colours: &[u64]) -> Option<(usize, usize)> {
        let mut best: Option<(usize, usize)> = None;
        for o in &group.orbitals {
            let std::ops::Range { start: mut begin, end } = o.places();
            while begin < end {
                let colour = colours[self.order[begin] as usize];
                let mut stop = begin + 1;
                while stop < end && colours[self.order[stop] as usize] == colour {
                    stop += 1;
                }
                if stop - begin > 1 && best.is_none_or(|(b, e)| stop - begin < e - b) {
                    best = Some((begin, stop));
                }
                begin = stop;
            }
        }
        best
    }

    /// Labels a sketch: the points in canonical order, set by set, are in `order` afterwards.
    pub fn label(&mut self, group: &Group, sketch: &mut Sketch, limit: u64, swap: Swap) -> Settled {
        let colours = &mut sketch.colours;
        self.refine(colours, &sketch.edges);
        self.arrange(group, colours);
        if self.settled(group, colours, &sketch.edges, swap) {
            return Settled::ByColour;
        }
        self.search = Search { limit, ..Search::default() };
        let colours = std::mem::take(&mut sketch.colours);
        match self.descend(group, &colours, &sketch.edges, swap) {
            Next::Stop => Settled::GaveUp,
            _ => {
                self.order.clear();
                self.order.extend_from_slice(&self.search.best);
                Settled::BySearch
            }
        }
    }

    /// Whether all cells are points or interchangeable points.
    fn settled(&mut self, group: &Group, colours: &[u64], edges: &[SketchEdge], swap: Swap) -> bool {
        for o in &group.orbitals {
            let set = &self.order[o.places()];
            for w in set.windows(2) {
                if colours[w[0] as usize] == colours[w[1] as usize] && !edges.is_empty() && !swap(w[0], w[1])
                {
                    return false;
                }
            }
        }
        true
    }

    /// The node with this refined colouring.
    fn descend(&mut self, group: &Group, colours: &[u64], edges: &[SketchEdge], swap: Swap) -> Next {
        self.search.nodes += 1;
        if self.search.nodes > self.search.limit {
            return Next::Stop;
        }
        self.cells(colours);
        let invariant = self.sorted.iter().fold(colours.len() as u64, |h, c| mix(h, *c));
        let level = self.search.trail.len();
        self.search.trail.push(invariant);
        let done = self.node(group, colours, edges, swap, level);
        self.search.trail.truncate(level);
        done
    }

    fn node(
        &mut self,
        group: &Group,
        colours: &[u64],
        edges: &[SketchEdge],
        swap: Swap,
        level: usize,
    ) -> Next {
        if self.is_worse() {
            return Next::Here;
        }
        self.arrange(group, colours);
        let Some((begin, end)) = self.cell(group, colours) else { return self.leaf(group) };
        let cell: Vec<u32> = self.order[begin..end].to_vec();
        let interchangeable = cell.windows(2).all(|w| swap(w[0], w[1]));
        let children = if interchangeable { &cell[..1] } else { &cell[..] };
        let mut tried: Vec<u32> = vec![];
        for &v in children {
            if self.is_equivalent(group.points(), v, &tried) {
                continue;
            }
            tried.push(v);
            let mut below = self.spare.pop().unwrap_or_default();
            below.clear();
            below.extend_from_slice(colours);
            below[v as usize] = mix(below[v as usize], OWN ^ 0xFF);
            self.refine(&mut below, edges);
            self.search.prefix.push(v);
            let next = self.descend(group, &below, edges, swap);
            self.search.prefix.pop();
            self.spare.push(below);
            match next {
                Next::Here => {}
                Next::Up(at) if at == level => {}
                up => return up,
            }
        }
        Next::Here
    }

    /// Whether no leaf below can be better than the best one.
    fn is_worse(&self) -> bool {
        let s = &self.search;
        if s.best.is_empty() {
            return false;
        }
        // The trails are compared as far as both go; a trail that is a true prefix is still undecided.
        let n = s.trail.len().min(s.best_trail.len());
        match s.trail[..n].cmp(&s.best_trail[..n]) {
            std::cmp::Ordering::Greater => true,
            std::cmp::Ordering::Less => false,
            std::cmp::Ordering::Equal => s.trail.len() > s.best_trail.len(),
        }
    }

    fn leaf(&mut self, group: &Group) -> Next {
        let s = &mut self.search;
        if !s.best.is_empty() && s.trail == s.best_trail {
            let mut p = Perm::identity(group.points());
            for (a, b) in s.best.iter().zip(&self.order) {
                p.0[*a as usize] = *b;
            }
            s.automorphisms.push(p);
            let common = s.prefix.iter().zip(&s.best_prefix).take_while(|(a, b)| a == b).count();
            return Next::Up(common);
        }
        s.best_trail.clone_from(&s.trail);
        s.best_prefix.clone_from(&s.prefix);
        s.best.clone_from(&self.order);
        Next::Here
    }

    /// Whether an automorphism that keeps the prefix takes `v` to a point that was tried.
    fn is_equivalent(&self, points: usize, v: u32, tried: &[u32]) -> bool {
        let s = &self.search;
        if tried.is_empty() {
            return false;
        }
        let keeping: Vec<&Perm> =
            s.automorphisms.iter().filter(|p| s.prefix.iter().all(|x| p.0[*x as usize] == *x)).collect();
        if keeping.is_empty() {
            return false;
        }
        let mut seen = vec![false; points];
        let mut open = vec![v];
        seen[v as usize] = true;
        while let Some(x) = open.pop() {
            if tried.contains(&x) {
                return true;
            }
            // Orbits of a finite group: the inverses are powers.
            for p in &keeping {
                let y = p.0[x as usize];
                if !std::mem::replace(&mut seen[y as usize], true) {
                    open.push(y);
                }
            }
        }
        false
    }

    /// The permutation that puts the moved points into their canonical order.
    pub fn witness(&self, group: &Group, p: &mut Perm) {
        p.0.resize(group.points(), 0);
        group.still().iter().for_each(|v| p.0[*v as usize] = *v);
        for (v, image) in self.order.iter().zip(group.moved()) {
            p.0[*v as usize] = *image;
        }
    }

    /// Nodes of the last search.
    pub fn nodes(&self) -> u64 {
        self.search.nodes
    }
}
