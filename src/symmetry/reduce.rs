//! The key of a state under a strategy.

#[cfg(feature = "nauty")]
use super::Grapher;
use super::canon::{self, Settled};
#[cfg(feature = "nauty")]
use super::cells::Cells;
#[cfg(feature = "nauty")]
use super::graph::Graph;
use super::group::Perm;
#[cfg(feature = "nauty")]
use super::nauty;
use super::sketch::{Sketch, mix};
use super::{Action, Sketcher};
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How symmetric states are recognised.
#[warn(missing_docs)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Strategy {
    /// Not at all.
    #[default]
    Off,
    /// Permutation flooding: rmc1.
    Flood,
    /// Symmetry markers: approximate.
    Markers,
    /// Our own canonical labelling.
    Canon,
    /// nauty's.
    Nauty,
    /// Colours where they suffice, our own labelling otherwise.
    Auto,
}

#[warn(missing_docs)]
impl Strategy {
    /// All of them.
    pub const ALL: [Strategy; 6] =
        [Strategy::Off, Strategy::Flood, Strategy::Markers, Strategy::Canon, Strategy::Nauty, Strategy::Auto];

    /// As it is written on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Strategy::Off => "off",
            Strategy::Flood => "flood",
            Strategy::Markers => "markers",
            Strategy::Canon => "canon",
            Strategy::Nauty => "nauty",
            Strategy::Auto => "auto",
        }
    }

    /// Whether states that it takes for symmetric are.
    #[must_use]
    pub fn is_exact(self) -> bool {
        self != Strategy::Markers
    }
}

impl fmt::Display for Strategy {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// What a strategy did.
#[derive(Clone, Debug, Default)]
pub struct Stats {
    /// Keys asked for.
    pub calls: u64,
    /// Those whose state had its key in the cache.
    pub cached: u64,
    /// Those that colours alone decided.
    pub by_colour: u64,
    /// Those that took a labelling.
    pub labelled: u64,
    /// States kept as they are: too large, too hard, or a witness that is none.
    pub kept: u64,
    /// Nodes of our own labelling's search trees.
    pub nodes: u64,
    /// Time for labelling, for the longest, and for applying and checking witnesses. Only when asked for.
    pub labelling: Duration,
    pub longest: Duration,
    pub witnesses: Duration,
    /// Graphs by number of vertices (*ProB gets Nauty*, Fig. 8).
    pub sizes: std::collections::BTreeMap<usize, u64>,
}

impl Stats {
    /// Adds another thread's.
    pub fn add(&mut self, other: &Stats) {
        self.calls += other.calls;
        self.cached += other.cached;
        self.by_colour += other.by_colour;
        self.labelled += other.labelled;
        self.kept += other.kept;
        self.nodes += other.nodes;
        self.labelling += other.labelling;
        self.longest = self.longest.max(other.longest);
        self.witnesses += other.witnesses;
        for (size, n) in &other.sizes {
            *self.sizes.entry(*size).or_default() += n;
        }
    }
}

/// Nodes that a labelling may search for one state.
const MAX_NODES: u64 = 20_000;
/// Rows whose keys are remembered.
const CACHE: usize = 1 << 12;

/// Finds keys. One per thread.
pub struct Reducer {
    action: Arc<dyn Action>,
    labelling: Method,
    witness: Perm,
    identity: Perm,
    key: Vec<u64>,
    cache: Cache,
    timed: bool,
    pub stats: Stats,
}

enum Method {
    Canon(Box<Canon>),
    #[cfg(feature = "nauty")]
    Nauty(Box<Nauty>),
    /// A test's own, which may lie.
    #[cfg(test)]
    Given(fn(&[u64], &mut Perm)),
}

#[cfg(feature = "nauty")]
impl Method {
    fn nauty(action: &Arc<dyn Action>) -> Method {
        Method::Nauty(Box::new(Nauty {
            grapher: action.clone().grapher(),
            sketch: Sketch::default(),
            cells: Cells::default(),
            graph: Graph::default(),
            labeller: nauty::Labeller::new(),
        }))
    }
}

struct Canon {
    sketcher: Box<dyn Sketcher>,
    sketch: Sketch,
    labeller: canon::Labeller,
    swapped: Vec<u64>,
    swap: Perm,
}

#[cfg(feature = "nauty")]
struct Nauty {
    grapher: Box<dyn Grapher>,
    sketch: Sketch,
    cells: Cells,
    graph: Graph,
    labeller: nauty::Labeller,
}

impl Method {
    fn canon(action: &Arc<dyn Action>) -> Method {
        Method::Canon(Box::new(Canon {
            sketcher: action.clone().sketcher(),
            sketch: Sketch::default(),
            labeller: canon::Labeller::default(),
            swapped: vec![],
            swap: Perm::default(),
        }))
    }
}

impl Reducer {
    /// `None` for strategies that have no keys of their own ([`Strategy::Off`], flooding, markers) and for nauty
    /// where the program was built without it.
    #[must_use]
    pub fn new(action: &Arc<dyn Action>, strategy: Strategy, timed: bool) -> Option<Reducer> {
        let labelling = match strategy {
            Strategy::Off | Strategy::Flood | Strategy::Markers => return None,
            Strategy::Canon | Strategy::Auto => Method::canon(action),
            #[cfg(feature = "nauty")]
            Strategy::Nauty => Method::nauty(action),
            #[cfg(not(feature = "nauty"))]
            Strategy::Nauty => return None,
        };
        Some(Reducer::with(action, labelling, timed))
    }

    /// A labelling of a test's own.
    #[cfg(test)]
    pub(crate) fn given(action: &Arc<dyn Action>, label: fn(&[u64], &mut Perm)) -> Reducer {
        Reducer::with(action, Method::Given(label), false)
    }

    fn with(action: &Arc<dyn Action>, labelling: Method, timed: bool) -> Reducer {
        let identity = Perm::identity(action.group().points());
        Reducer {
            action: action.clone(),
            labelling,
            witness: identity.clone(),
            identity,
            key: vec![],
            cache: Cache::default(),
            timed,
            stats: Stats::default(),
        }
    }

    /// What it permutes by.
    #[must_use]
    pub fn action(&self) -> &Arc<dyn Action> {
        &self.action
    }

    /// The same strategy, for another thread.
    #[must_use]
    pub fn another(&self) -> Reducer {
        let labelling = match &self.labelling {
            Method::Canon(_) => Method::canon(&self.action),
            #[cfg(feature = "nauty")]
            Method::Nauty(_) => Method::nauty(&self.action),
            #[cfg(test)]
            Method::Given(f) => Method::Given(*f),
        };
        Reducer::with(&self.action, labelling, self.timed)
    }

    /// The key of a row: its image under [`Reducer::witness`].
    pub fn key(&mut self, row: &[u64]) -> &[u64] {
        self.stats.calls += 1;
        if self.cache.used.is_empty() {
            self.cache = Cache::new(row.len());
        }
        if self.cache.find(row, &mut self.key) {
            self.stats.cached += 1;
            return &self.key;
        }
        self.label_row(row);
        self.cache.put(row, &self.key);
        &self.key
    }

    /// The key of a row and the permutation that takes the row to it.
    pub fn key_with_witness(&mut self, row: &[u64]) -> (&[u64], &Perm) {
        self.stats.calls += 1;
        self.label_row(row);
        (&self.key, &self.witness)
    }

    fn label_row(&mut self, row: &[u64]) {
        let begin = self.timed.then(Instant::now);
        let found = self.label(row);
        let labelled = self.timed.then(Instant::now);
        match found {
            Settled::ByColour => self.stats.by_colour += 1,
            Settled::BySearch => self.stats.labelled += 1,
            Settled::GaveUp => {}
        }
        // Whatever made the witness: it is a member of the group, and the key is its image.
        let is_witness = found != Settled::GaveUp
            && self.action.group().contains(&self.witness)
            && self.action.row(row, &self.witness, &mut self.key);
        if !is_witness {
            self.stats.kept += 1;
            self.witness.clone_from(&self.identity);
            self.key.clear();
            self.key.extend_from_slice(row);
        }
        if let (Some(begin), Some(labelled)) = (begin, labelled) {
            let took = labelled - begin;
            self.stats.labelling += took;
            self.stats.longest = self.stats.longest.max(took);
            self.stats.witnesses += labelled.elapsed();
        }
    }

    /// Puts a permutation into `witness`, unless it gives up.
    fn label(&mut self, row: &[u64]) -> Settled {
        let action = &*self.action;
        let group = action.group();
        match &mut self.labelling {
            Method::Canon(c) => {
                let Canon { sketcher, sketch, labeller, swapped, swap } = &mut **c;
                sketcher.sketch(row, sketch);
                if !group.still().is_empty() {
                    sketch.absorb(group);
                }
                if self.timed {
                    *self.stats.sizes.entry(sketch.colours.len()).or_default() += 1;
                }
                swap.0.clone_from(&self.identity.0);
                let found = labeller.label(group, sketch, MAX_NODES, &mut |a, b| {
                    swap.0.swap(a as usize, b as usize);
                    let same = action.row(row, swap, swapped) && swapped == row;
                    swap.0.swap(a as usize, b as usize);
                    same
                });
                if found == Settled::BySearch {
                    self.stats.nodes += labeller.nodes();
                }
                if found != Settled::GaveUp {
                    labeller.witness(group, &mut self.witness);
                }
                found
            }
            #[cfg(feature = "nauty")]
            Method::Nauty(n) => {
                let Nauty { grapher, sketch, cells, graph, labeller } = &mut **n;
                grapher.graph(row, sketch);
                if self.timed {
                    *self.stats.sizes.entry(sketch.colours.len()).or_default() += 1;
                }
                let mut settled = Settled::ByColour;
                if !cells.refine(group, sketch) {
                    cells.rest(sketch, graph);
                    let Ok(places) = labeller.label(graph) else { return Settled::GaveUp };
                    cells.arrange_by(group, places);
                    settled = Settled::BySearch;
                }
                self.witness.0.resize(group.points(), 0);
                group.still().iter().for_each(|point| self.witness.0[*point as usize] = *point);
                for (point, image) in cells.order().iter().zip(group.moved()) {
                    self.witness.0[*point as usize] = *image;
                }
                settled
            }
            #[cfg(test)]
            Method::Given(f) => {
                f(row, &mut self.witness);
                Settled::BySearch
            }
        }
    }
}

/// Keys of rows, each row in the one place that its hash gives it.
#[derive(Default)]
struct Cache {
    width: usize,
    /// Row and key; a place that was never used is marked by `used`.
    words: Vec<u64>,
    used: Vec<bool>,
}

impl Cache {
    /// Made when the first row tells how wide rows are.
    fn new(width: usize) -> Cache {
        Cache { width, words: vec![0; 2 * width * CACHE], used: vec![false; CACHE] }
    }

    fn place(row: &[u64]) -> usize {
        row.iter().fold(row.len() as u64, |h, w| mix(h, *w)) as usize % CACHE
    }

    fn find(&self, row: &[u64], key: &mut Vec<u64>) -> bool {
        let place = Cache::place(row);
        let at = 2 * place * self.width;
        if !self.used[place] || self.words[at..at + self.width] != *row {
            return false;
        }
        key.clear();
        key.extend_from_slice(&self.words[at + self.width..at + 2 * self.width]);
        true
    }

    fn put(&mut self, row: &[u64], key: &[u64]) {
        let place = Cache::place(row);
        let at = 2 * place * self.width;
        self.used[place] = true;
        self.words[at..at + self.width].copy_from_slice(row);
        self.words[at + self.width..at + 2 * self.width].copy_from_slice(key);
    }
}
