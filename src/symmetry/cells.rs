//! What nauty is asked: the part of a state's graph that colours leave open.
//!
//! Colours are refined first, until no vertex of a colour has other neighbours than the next ([`Cells::refine`]). In most
//! states that tells all points apart but for interchangeable ones, and then there is nothing to ask. Otherwise a vertex
//! with a colour of its own says no more than the colours of its neighbours do, so it is left out, and so are its edges;
//! and of the layers of Definition 3.3 only those are made whose label is left ([`Cells::rest`]). A labelling of the rest
//! is one of the whole: an isomorphism of two states' graphs takes colours to colours, and the rest to the rest.
//!
//! Colours are 64-bit hashes. Two that should differ and do not can make a labelling worse; they cannot make an answer
//! wrong, since the key of a state is a permutation applied to it.
//!
//! Absent on purpose: [`super::canon`]'s refinement. The two labellings have nothing in common but the group and its
//! action, so that a test may compare them.

use super::graph::{Edges, Graph};
use super::group::Group;
use super::sketch::{Sketch, SketchEdge};
use crate::value::hash::pair;

const FROM: u64 = 0x46_726F;
const TO: u64 = 0x546F;
const TWIN: u64 = 0x54_7769;

/// The colours of one state's graph, in memory that is kept.
#[derive(Debug, Default)]
pub(super) struct Cells {
    /// By vertex.
    colours: Vec<u64>,
    next: Vec<u64>,
    /// The colours in order.
    sorted: Vec<u64>,
    /// By vertex: a hash of its edges, with the vertices at their other ends.
    traces: Vec<u64>,
    /// The moved points, set by set in the order of their colours.
    order: Vec<u32>,
    /// By vertex: its number in the rest.
    places: Vec<u32>,
    labels: Vec<u64>,
}

/// Not in the rest.
const ALONE: u32 = u32::MAX;

impl Cells {
    /// Refines the colours of a graph. Whether that is all there is to know: they tell the moved points apart, but for
    /// interchangeable ones, whose order does not matter.
    pub fn refine(&mut self, group: &Group, sketch: &Sketch) -> bool {
        self.colours.clone_from(&sketch.colours);
        self.stabilise(&sketch.edges);
        self.arrange(group);
        if self.is_discrete(group) {
            return true;
        }
        self.trace(&sketch.edges);
        if self
            .runs(group)
            .all(|(u, v)| self.colours[u] != self.colours[v] || self.traces[u] == self.traces[v])
        {
            return true;
        }
        self.tell_twins_apart(group);
        self.stabilise(&sketch.edges);
        self.arrange(group);
        self.is_discrete(group)
    }

    /// The moved points of every set in the order of their colours.
    pub fn order(&self) -> &[u32] {
        &self.order
    }

    /// Rounds of refinement, as long as they tell more vertices apart.
    fn stabilise(&mut self, edges: &[SketchEdge]) {
        let mut cells = self.count();
        while !edges.is_empty() && cells < self.colours.len() {
            self.next.clear();
            self.next.extend(self.colours.iter().map(|c| pair(*c, FROM ^ TO)));
            for e in edges {
                let (a, b) = (e.from as usize, e.to as usize);
                self.next[a] = self.next[a].wrapping_add(pair(e.label ^ FROM, self.colours[b]));
                self.next[b] = self.next[b].wrapping_add(pair(e.label ^ TO, self.colours[a]));
            }
            std::mem::swap(&mut self.colours, &mut self.next);
            let refined = self.count();
            if refined <= cells {
                return;
            }
            cells = refined;
        }
    }

    /// How many colours there are; they are in order then.
    fn count(&mut self) -> usize {
        self.sorted.clone_from(&self.colours);
        self.sorted.sort_unstable();
        usize::from(!self.sorted.is_empty()) + self.sorted.windows(2).filter(|w| w[0] != w[1]).count()
    }

    fn arrange(&mut self, group: &Group) {
        self.order.clear();
        self.order.extend_from_slice(group.moved());
        for o in &group.orbitals {
            self.order[o.places()].sort_unstable_by_key(|v| (self.colours[*v as usize], *v));
        }
    }

    /// The points of every set that follow one another.
    fn runs(&self, group: &Group) -> impl Iterator<Item = (usize, usize)> {
        let sets = group.orbitals.iter().map(|o| &self.order[o.places()]);
        sets.flat_map(|set| set.windows(2).map(|w| (w[0] as usize, w[1] as usize)))
    }

    fn is_discrete(&self, group: &Group) -> bool {
        self.runs(group).all(|(u, v)| self.colours[u] != self.colours[v])
    }

    /// Points with the same neighbours over the same labels, and no edge among themselves, have the same trace.
    fn trace(&mut self, edges: &[SketchEdge]) {
        self.traces.clear();
        self.traces.resize(self.colours.len(), 0);
        for e in edges {
            let mut trace = |at: u32, other: u32, side: u64| {
                let t = &mut self.traces[at as usize];
                *t = t.wrapping_add(pair(e.label ^ side, u64::from(other)));
            };
            trace(e.from, e.to, FROM);
            trace(e.to, e.from, TO);
        }
    }

    /// The i-th of interchangeable points gets a colour for that. Which is the i-th does not matter, since an automorphism
    /// takes any order to any other; nauty would find that out at some cost.
    fn tell_twins_apart(&mut self, group: &Group) {
        for o in &group.orbitals {
            let set = &mut self.order[o.places()];
            set.sort_unstable_by_key(|v| (self.colours[*v as usize], self.traces[*v as usize], *v));
            let mut twins = 0;
            let mut last = None;
            for v in set.iter().map(|v| *v as usize) {
                let kind = (self.colours[v], self.traces[v]);
                twins = if last == Some(kind) { twins + 1 } else { 0 };
                last = Some(kind);
                if twins > 0 {
                    self.colours[v] = pair(kind.0, TWIN + twins);
                }
            }
        }
    }

    /// The part of a refined graph that is not decided, in layers: vertex `(n, c)` is `c * vertices + n`. It may be empty;
    /// then points of one colour are interchangeable after all.
    pub fn rest(&mut self, sketch: &Sketch, out: &mut Graph) {
        let Cells { colours, sorted, places, labels, .. } = self;
        // Every colour that is looked for is there.
        let first = |c: u64| sorted.partition_point(|x| *x < c);
        let mut n = 0;
        places.clear();
        places.extend(colours.iter().map(|c| match sorted.get(first(*c) + 1) {
            Some(next) if next == c => {
                n += 1;
                n - 1
            }
            _ => ALONE,
        }));
        let ends = |e: &SketchEdge| {
            let (from, to) = (places[e.from as usize], places[e.to as usize]);
            (from != ALONE && to != ALONE).then_some((from, to))
        };
        labels.clear();
        labels.extend(sketch.edges.iter().filter(|e| ends(e).is_some()).map(|e| e.label));
        labels.sort_unstable();
        labels.dedup();
        let layers = labels.len() as u32;
        out.reset(Edges::Directed, (n * layers) as usize);
        for (v, place) in places.iter().enumerate().filter(|(_, place)| **place != ALONE) {
            let colour = first(colours[v]) as u32 * layers;
            for c in 0..layers {
                out.paint(c * n + place, colour + c);
                (0..layers).filter(|d| *d != c).for_each(|d| out.join(c * n + place, d * n + place));
            }
        }
        for e in &sketch.edges {
            if let Some((from, to)) = ends(e) {
                let layer = labels.partition_point(|l| *l < e.label) as u32 * n;
                out.join(layer + from, layer + to);
            }
        }
    }

    /// The moved points of every set in the order of their colours, and where these do not tell, in that of their places in
    /// the first layer of the rest.
    pub fn arrange_by(&mut self, group: &Group, labelled: &[u32]) {
        let (colours, places) = (&self.colours, &self.places);
        let place = |v: u32| labelled.get(places[v as usize] as usize).copied().unwrap_or(v);
        for o in &group.orbitals {
            self.order[o.places()].sort_unstable_by_key(|v| (colours[*v as usize], place(*v)));
        }
    }
}
