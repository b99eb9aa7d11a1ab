//! A vertex-coloured graph, directed or not, as labelling takes it and gives it back.
//! Absent on purpose: labels on edges and parallel edges; whoever needs them encodes them in vertices.

/// Whether edges have a direction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Edges {
    #[default]
    Undirected,
    Directed,
}

/// Vertices `0..len`, a colour for each, and edges. The order of colours counts: a canonical labelling puts
/// smaller colours first. Loops are allowed; an edge that is added twice is there once.
///
/// Two graphs are `==` if they were built alike; [`Graph::relabel`] gives the normal form that makes equal
/// graphs equal values.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Graph {
    kind: Edges,
    colours: Vec<u32>,
    edges: Vec<(u32, u32)>,
}

impl Graph {
    /// `len` vertices of colour 0 and no edge.
    #[must_use]
    pub fn new(kind: Edges, len: usize) -> Graph {
        let mut graph = Graph::default();
        graph.reset(kind, len);
        graph
    }

    /// Makes it `len` vertices of colour 0 and no edge, in the memory it has.
    ///
    /// # Panics
    /// If `len` does not fit in 32 bits.
    pub fn reset(&mut self, kind: Edges, len: usize) {
        assert!(u32::try_from(len).is_ok(), "a graph of {len} vertices");
        self.kind = kind;
        self.colours.clear();
        self.colours.resize(len, 0);
        self.edges.clear();
    }

    /// Gives `vertex` a colour.
    ///
    /// # Panics
    /// If there is no such vertex.
    pub fn paint(&mut self, vertex: u32, colour: u32) {
        self.colours[vertex as usize] = colour;
    }

    /// Adds the edge between `from` and `to`; if edges are directed, the one that leads from `from` to `to`.
    ///
    /// # Panics
    /// If there is no such vertex.
    pub fn join(&mut self, from: u32, to: u32) {
        let len = self.colours.len();
        assert!((from as usize) < len && (to as usize) < len, "edge {from}-{to} among {len} vertices");
        self.edges.push((from, to));
    }

    #[must_use]
    pub fn len(&self) -> usize {
        self.colours.len()
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.colours.is_empty()
    }

    #[must_use]
    pub fn kind(&self) -> Edges {
        self.kind
    }

    #[must_use]
    pub fn colours(&self) -> &[u32] {
        &self.colours
    }

    /// Each end is a vertex. In the order in which they were added, or sorted and unique in normal form.
    #[must_use]
    pub fn edges(&self) -> &[(u32, u32)] {
        &self.edges
    }

    /// Writes to `to` this graph with every vertex `v` renamed to `places[v]`, in normal form: edges sorted
    /// and unique, the smaller end of an undirected one first.
    ///
    /// # Panics
    /// If `places` is not a permutation of the vertices in length or range.
    pub fn relabel_into(&self, places: &[u32], to: &mut Graph) {
        assert_eq!(places.len(), self.len(), "one place for each vertex");
        to.reset(self.kind, self.len());
        for (&place, &colour) in places.iter().zip(&self.colours) {
            to.paint(place, colour);
        }
        for &(a, b) in &self.edges {
            let (a, b) = (places[a as usize], places[b as usize]);
            let swap = self.kind == Edges::Undirected && b < a;
            to.edges.push(if swap { (b, a) } else { (a, b) });
        }
        to.edges.sort_unstable();
        to.edges.dedup();
    }

    /// As [`Graph::relabel_into`], in new memory.
    #[must_use]
    pub fn relabel(&self, places: &[u32]) -> Graph {
        let mut to = Graph::default();
        self.relabel_into(places, &mut to);
        to
    }
}

#[cfg(test)]
mod tests {
    use super::{Edges, Graph};

    #[test]
    fn normal_form_is_sorted_unique_and_oriented() {
        for (kind, want) in [
            (Edges::Undirected, &[(0, 1), (0, 2), (2, 2)][..]),
            (Edges::Directed, &[(0, 1), (1, 0), (2, 0), (2, 2)][..]),
        ] {
            let mut g = Graph::new(kind, 3);
            g.paint(0, 7);
            for (a, b) in [(0, 1), (1, 0), (0, 1), (2, 1), (2, 2)] {
                g.join(a, b);
            }
            let turned = g.relabel(&[1, 0, 2]);
            assert_eq!(turned.colours(), [0, 7, 0]);
            assert_eq!(turned.edges(), want);
        }
    }

    #[test]
    #[should_panic(expected = "edge 0-3 among 3 vertices")]
    fn an_edge_needs_its_vertices() {
        Graph::new(Edges::Directed, 3).join(0, 3);
    }
}
