//! Canonical labelling by nauty: a safe wrapper of `densenauty` and `sparsenauty`.
//!
//! nauty is not trusted. What it answers is checked to be a permutation that keeps colours in order, and the
//! canonical graph is this crate's own relabelling of the input by it. A labelling that is wrong nevertheless
//! can only fail to identify two isomorphic graphs, never identify two that are not.
//!
//! Threads: nauty keeps scratch memory in static variables. The feature `tls` of the bindings makes them
//! thread-local, so labellers on different threads do not meet, and a [`Labeller`], which owns plain vectors,
//! may move between threads. nauty's scratch (a few kilobytes) stays allocated when a thread ends: label on
//! threads that live long.
//!
//! Hard graphs: the nodes of nauty's search tree are counted, and beyond a limit the graph is refused. nauty's
//! only way to stop is a flag that all threads share, so a call that was stopped on another thread's behalf is
//! made again. Many interchangeable vertices take nauty time cubic in their number; whoever knows some to be
//! interchangeable had better colour them apart.

use super::{Edges, Graph};
use nauty_Traces_sys as sys;
use std::cell::Cell;
use std::ffi::c_int;
use std::fmt;
use std::sync::atomic::{AtomicI32, Ordering};

/// Nodes of the search tree that a labelling may have.
pub const MAX_NODES: u64 = 50_000;

unsafe extern "C" {
    /// nauty looks at it after every node: not thread-local, "on purpose". The bindings leave it out.
    static mut nauty_kill_request: c_int;
}

/// nauty's flag, which all threads share.
fn stop_request() -> &'static AtomicI32 {
    // SAFETY: the variable is a C int of static lifetime, aligned as one, which nauty only reads (volatile); all
    // of our own accesses are atomic.
    unsafe { AtomicI32::from_ptr(&raw mut nauty_kill_request) }
}

thread_local! {
    /// Nodes that this thread's labelling may still have.
    static NODES: Cell<u64> = const { Cell::new(0) };
}

/// Called at every node, on the thread that labels.
unsafe extern "C" fn count_node(
    _: *mut sys::graph,
    _: *mut c_int,
    _: *mut c_int,
    _: c_int,
    _: c_int,
    _: c_int,
    _: c_int,
    _: c_int,
    _: c_int,
) {
    // A cell without a destructor is there as long as its thread: this does not panic, so nothing unwinds into C.
    NODES.with(|nodes| match nodes.get() {
        0 => stop_request().store(1, Ordering::Relaxed),
        n => nodes.set(n - 1),
    });
}

/// The most vertices a graph may have. nauty recurses once for each vertex that it fixes, so a larger graph
/// could overflow the stack of a thread (a test holds the stack to 256 bytes a vertex).
pub const MAX_VERTICES: usize = 4096;

/// Up to this many vertices a graph is labelled in dense form.
const DENSE_VERTICES: usize = 128;

const WORD: usize = sys::WORDSIZE as usize;
const _: () = assert!(sys::set::BITS as usize == WORD, "the bindings and nauty disagree about words");
const _: () = assert!(sys::MAXN == 0, "nauty was built with a bound of its own: unset NAUTY_TRACES_MAXN");

/// Which of nauty's two forms of a graph is used. They have different canonical graphs, so compare only what
/// labellers of the same choice made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Form {
    /// Dense for small graphs, sparse for large ones. Depends on the number of vertices only, so isomorphic
    /// graphs are treated alike.
    #[default]
    BySize,
    Dense,
    Sparse,
}

/// Why a graph got no labelling.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refused {
    /// More than [`MAX_VERTICES`].
    TooLarge { vertices: usize },
    /// The search tree has more nodes than allowed.
    TooHard,
    /// nauty gave up, with this status.
    Status(i32),
    /// nauty's answer is not a permutation of the vertices that keeps their colours in order.
    NotALabelling,
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Refused::TooLarge { vertices } => {
                write!(f, "a graph of {vertices} vertices is too large to label (at most {MAX_VERTICES})")
            }
            Refused::TooHard => f.write_str("a graph that takes too long to label"),
            Refused::Status(status) => write!(f, "nauty gave up (status {status})"),
            Refused::NotALabelling => f.write_str("nauty answered with something that is no labelling"),
        }
    }
}

impl std::error::Error for Refused {}

/// A canonical labelling and the graph that it gives.
#[derive(Debug)]
pub struct Labelling<'a> {
    /// The place of each vertex: a permutation that puts smaller colours first.
    pub places: &'a [u32],
    /// The input relabelled by `places`, in normal form: the same for isomorphic inputs.
    pub graph: &'a Graph,
}

/// Labels graphs, in memory that is kept from one to the next.
#[derive(Debug)]
pub struct Labeller {
    form: Form,
    max_nodes: u64,
    // nauty's arguments, each one entry a vertex.
    lab: Vec<c_int>,
    ptn: Vec<c_int>,
    orbits: Vec<c_int>,
    dense: Dense,
    sparse: Sparse,
    // The answer.
    places: Vec<u32>,
    canonical: Graph,
}

/// Adjacency matrices, a row of words for each vertex.
#[derive(Debug, Default)]
struct Dense {
    graph: Vec<sys::graph>,
    canonical: Vec<sys::graph>,
}

/// Adjacency lists: those of vertex `i` are `e[v[i]..][..d[i]]`.
#[derive(Debug, Default)]
struct Sparse {
    graph: Lists,
    canonical: Lists,
    next: Vec<usize>,
}

#[derive(Debug, Default)]
struct Lists {
    v: Vec<usize>,
    d: Vec<c_int>,
    e: Vec<c_int>,
}

impl Default for Labeller {
    fn default() -> Labeller {
        Labeller {
            form: Form::default(),
            max_nodes: MAX_NODES,
            lab: vec![],
            ptn: vec![],
            orbits: vec![],
            dense: Dense::default(),
            sparse: Sparse::default(),
            places: vec![],
            canonical: Graph::default(),
        }
    }
}

impl Labeller {
    #[must_use]
    pub fn new() -> Labeller {
        Labeller::default()
    }

    /// Another limit than [`MAX_NODES`].
    #[must_use]
    pub fn max_nodes(self, max_nodes: u64) -> Labeller {
        Labeller { max_nodes, ..self }
    }

    #[must_use]
    pub fn with_form(form: Form) -> Labeller {
        Labeller { form, ..Labeller::default() }
    }

    /// The canonical place of each vertex.
    ///
    /// # Errors
    /// See [`Refused`]; the graph is then simply not labelled.
    pub fn label(&mut self, graph: &Graph) -> Result<&[u32], Refused> {
        let n = graph.len();
        if n > MAX_VERTICES {
            return Err(Refused::TooLarge { vertices: n });
        }
        self.places.clear();
        if n == 0 {
            return Ok(&self.places);
        }
        let dense = match self.form {
            Form::BySize => n <= DENSE_VERTICES,
            Form::Dense => true,
            Form::Sparse => false,
        };
        loop {
            self.partition(graph.colours());
            NODES.set(self.max_nodes);
            let status = if dense { self.run_dense(graph) } else { self.run_sparse(graph) };
            if NODES.get() == 0 {
                // Whether or not nauty saw it, the request was ours.
                stop_request().store(0, Ordering::Relaxed);
                return Err(Refused::TooHard);
            }
            match status {
                0 => break,
                s if s == sys::NAUKILLED as c_int => {
                    // Another thread's request, which that thread will take back.
                    while stop_request().load(Ordering::Relaxed) != 0 {
                        std::thread::yield_now();
                    }
                }
                s => return Err(Refused::Status(s)),
            }
        }
        self.read_places(graph.colours())?;
        Ok(&self.places)
    }

    /// The canonical labelling with the graph that it gives.
    ///
    /// # Errors
    /// As [`Labeller::label`].
    pub fn canonical(&mut self, graph: &Graph) -> Result<Labelling<'_>, Refused> {
        self.label(graph)?;
        graph.relabel_into(&self.places, &mut self.canonical);
        Ok(Labelling { places: &self.places, graph: &self.canonical })
    }

    /// Colours as nauty takes them: vertices in order of colour, and 0 at the last one of each colour.
    fn partition(&mut self, colours: &[u32]) {
        let n = colours.len();
        self.lab.clear();
        self.lab.extend(0..n as c_int);
        self.lab.sort_unstable_by_key(|&v| colours[v as usize]);
        self.ptn.clear();
        self.ptn.extend(
            self.lab.windows(2).map(|w| c_int::from(colours[w[0] as usize] == colours[w[1] as usize])),
        );
        self.ptn.push(0);
        self.orbits.clear();
        self.orbits.resize(n, 0);
    }

    fn run_dense(&mut self, graph: &Graph) -> c_int {
        let n = graph.len();
        let m = n.div_ceil(WORD);
        let Dense { graph: g, canonical } = &mut self.dense;
        g.clear();
        g.resize(m * n, 0);
        canonical.resize(m * n, 0);
        let mut arc = |a: usize, b: usize| g[m * a + b / WORD] |= sys::bit[b % WORD];
        for &(a, b) in graph.edges() {
            arc(a as usize, b as usize);
            if graph.kind() == Edges::Undirected {
                arc(b as usize, a as usize);
            }
        }
        let mut options = match graph.kind() {
            Edges::Undirected => sys::optionblk::default(),
            Edges::Directed => sys::optionblk::default_digraph(),
        };
        options.getcanon = sys::TRUE;
        options.defaultptn = sys::FALSE;
        options.usernodeproc = Some(count_node);
        let mut stats = sys::statsblk::default();
        // SAFETY: 0 < n <= MAX_VERTICES, so both sizes fit and nauty's recursion stays within the stack.
        // `g` and `canonical` have n rows of m words, with no bit at n or beyond; `lab`, `ptn` and `orbits`
        // have n entries, `lab` is a permutation of 0..n and `ptn` ends with 0. They are distinct vectors
        // that nothing else refers to during the call, and nauty keeps no pointer to them after it. The
        // options are the library's defaults for this form (its own dispatch vector, which is only read) and
        // one callback, which reads none of its arguments and does not unwind. All of nauty's static variables
        // that it writes are thread-local (feature `tls`).
        unsafe {
            sys::densenauty(
                g.as_mut_ptr(),
                self.lab.as_mut_ptr(),
                self.ptn.as_mut_ptr(),
                self.orbits.as_mut_ptr(),
                &mut options,
                &mut stats,
                m as c_int,
                n as c_int,
                canonical.as_mut_ptr(),
            );
        }
        stats.errstatus
    }

    fn run_sparse(&mut self, graph: &Graph) -> c_int {
        let Sparse { graph: lists, canonical, next } = &mut self.sparse;
        lists.fill(graph, next);
        canonical.resize(lists.v.len(), lists.e.len());
        let mut options = match graph.kind() {
            Edges::Undirected => sys::optionblk::default_sparse(),
            Edges::Directed => sys::optionblk::default_sparse_digraph(),
        };
        options.getcanon = sys::TRUE;
        options.defaultptn = sys::FALSE;
        options.usernodeproc = Some(count_node);
        let mut stats = sys::statsblk::default();
        let mut g = lists.lend();
        let mut h = canonical.lend();
        // SAFETY: as in `run_dense` for `lab`, `ptn`, `orbits`, the options, the stack and threads. `g`
        // describes vectors that live through the call: every list lies within `e`, holds vertices in 0..n
        // and none twice. `h` has room for n vertices and as many entries as `g`, and says so, so that nauty
        // does not replace (that is, free) Rust's memory with its own: it allocates only if `vlen`, `dlen`
        // or `elen` is smaller than what `g` needs.
        unsafe {
            sys::sparsenauty(
                &mut g,
                self.lab.as_mut_ptr(),
                self.ptn.as_mut_ptr(),
                self.orbits.as_mut_ptr(),
                &mut options,
                &mut stats,
                &mut h,
            );
        }
        stats.errstatus
    }

    /// nauty lists the vertices place by place: checks that, and turns it round.
    fn read_places(&mut self, colours: &[u32]) -> Result<(), Refused> {
        const NONE: u32 = u32::MAX;
        self.places.resize(colours.len(), NONE);
        let mut last = 0;
        for (&vertex, place) in self.lab.iter().zip(0..) {
            let slot = usize::try_from(vertex).ok().and_then(|v| Some((self.places.get_mut(v)?, colours[v])));
            match slot {
                // n slots, n of them filled, none twice: a permutation. Colours never fall: they are in order.
                Some((slot, colour)) if *slot == NONE && colour >= last => {
                    *slot = place;
                    last = colour;
                }
                _ => return Err(Refused::NotALabelling),
            }
        }
        Ok(())
    }
}

impl Lists {
    fn resize(&mut self, vertices: usize, entries: usize) {
        self.v.resize(vertices, 0);
        self.d.resize(vertices, 0);
        self.e.resize(entries, 0);
    }

    /// The neighbours of each vertex, each once. `next` is scratch.
    fn fill(&mut self, graph: &Graph, next: &mut Vec<usize>) {
        let both = graph.kind() == Edges::Undirected;
        let arcs = |visit: &mut dyn FnMut(usize, u32)| {
            for &(a, b) in graph.edges() {
                visit(a as usize, b);
                if both && a != b {
                    visit(b as usize, a);
                }
            }
        };
        next.clear();
        next.resize(graph.len(), 0);
        let mut entries = 0;
        arcs(&mut |a, _| {
            next[a] += 1;
            entries += 1;
        });
        self.resize(graph.len(), entries);
        let mut begin = 0;
        for (v, next) in self.v.iter_mut().zip(next.iter_mut()) {
            *v = begin;
            begin += *next;
            *next = *v;
        }
        arcs(&mut |a, b| {
            self.e[next[a]] = b as c_int;
            next[a] += 1;
        });
        // Edges that were added twice are dropped, and the lists moved together: nauty takes no gaps in `e`
        // into account where it counts entries.
        let mut end = 0;
        for ((v, d), &limit) in self.v.iter_mut().zip(&mut self.d).zip(next.iter()) {
            let from = *v;
            self.e[from..limit].sort_unstable();
            *v = end;
            for at in from..limit {
                if end == *v || self.e[end - 1] != self.e[at] {
                    self.e[end] = self.e[at];
                    end += 1;
                }
            }
            *d = (end - *v) as c_int;
        }
        self.e.truncate(end);
    }

    /// nauty's view of it, for as long as nothing else touches it.
    fn lend(&mut self) -> sys::sparsegraph {
        sys::sparsegraph {
            nde: self.e.len(),
            v: self.v.as_mut_ptr(),
            nv: self.v.len() as c_int,
            d: self.d.as_mut_ptr(),
            e: self.e.as_mut_ptr(),
            w: std::ptr::null_mut(),
            vlen: self.v.len(),
            dlen: self.d.len(),
            elen: self.e.len(),
            wlen: 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn graph(kind: Edges, len: usize, edges: &[(u32, u32)]) -> Graph {
        let mut g = Graph::new(kind, len);
        for &(a, b) in edges {
            g.join(a, b);
        }
        g
    }

    /// The arcs of the canonical graph that nauty itself made.
    fn nautys_arcs(l: &Labeller, n: usize) -> Vec<(u32, u32)> {
        let mut arcs = Vec::new();
        if l.form == Form::Dense {
            let m = n.div_ceil(WORD);
            for a in 0..n {
                for b in 0..n {
                    if l.dense.canonical[m * a + b / WORD] & sys::bit[b % WORD] != 0 {
                        arcs.push((a as u32, b as u32));
                    }
                }
            }
        } else {
            let h = &l.sparse.canonical;
            for a in 0..n {
                for &b in &h.e[h.v[a]..][..h.d[a] as usize] {
                    arcs.push((a as u32, b as u32));
                }
            }
        }
        arcs.sort_unstable();
        arcs
    }

    #[test]
    fn our_relabelling_is_the_graph_that_nauty_made() {
        for form in [Form::Dense, Form::Sparse] {
            for kind in [Edges::Undirected, Edges::Directed] {
                let mut l = Labeller::with_form(form);
                for n in [1, 2, 5, 63, 64, 65, 130] {
                    // Some edges twice, both ways round, and loops.
                    let edges: Vec<_> = (0..3 * n).map(|i| (i * i % n, (7 * i + 3) % n)).collect();
                    let mut g = graph(kind, n as usize, &edges);
                    g.paint(0, 9);
                    let ours = l.canonical(&g).unwrap().graph.clone();
                    let mut arcs = ours.edges().to_vec();
                    if kind == Edges::Undirected {
                        arcs.extend(ours.edges().iter().map(|&(a, b)| (b, a)));
                        arcs.sort_unstable();
                        arcs.dedup();
                    }
                    assert_eq!(arcs, nautys_arcs(&l, n as usize), "{form:?} {kind:?} {n}");
                }
            }
        }
    }

    #[test]
    fn an_answer_that_is_no_labelling_is_refused() {
        let colours = [0, 0, 1];
        for (lab, want) in [
            (vec![1, 0, 2], Ok(())),
            (vec![0, 0, 2], Err(Refused::NotALabelling)), // not injective
            (vec![2, 0, 1], Err(Refused::NotALabelling)), // colours out of order
            (vec![0, 1, 3], Err(Refused::NotALabelling)), // out of range
            (vec![0, -1, 2], Err(Refused::NotALabelling)), // out of range
        ] {
            let mut l = Labeller { lab, ..Labeller::default() };
            assert_eq!(l.read_places(&colours), want, "{:?}", l.lab);
        }
    }

    /// A strongly regular graph (the rook's graph of side `k`): hard enough to need many nodes.
    fn rook(k: u32) -> Graph {
        let mut edges = vec![];
        for (i, j) in (0..k * k).flat_map(|i| (0..i).map(move |j| (i, j))) {
            if i / k == j / k || i % k == j % k {
                edges.push((i, j));
            }
        }
        graph(Edges::Undirected, (k * k) as usize, &edges)
    }

    #[test]
    fn hard_graphs_are_refused_and_the_next_one_is_labelled() {
        let mut l = Labeller::new().max_nodes(5);
        assert_eq!(l.label(&rook(6)), Err(Refused::TooHard));
        assert!(l.label(&graph(Edges::Undirected, 2, &[(0, 1)])).is_ok());
        assert!(Labeller::new().label(&rook(6)).is_ok());
    }

    #[test]
    fn a_refusal_does_not_disturb_other_threads() {
        let labelled = |max_nodes: u64| {
            let mut l = Labeller::new().max_nodes(max_nodes);
            (0..300).filter(|_| l.label(&rook(5)).is_ok()).count()
        };
        std::thread::scope(|s| {
            let lazy: Vec<_> = (0..3).map(|_| s.spawn(|| labelled(3))).collect();
            let patient: Vec<_> = (0..3).map(|_| s.spawn(|| labelled(MAX_NODES))).collect();
            // A thread that panicked is a failed test.
            assert!(lazy.into_iter().all(|t| t.join().unwrap() == 0));
            assert!(patient.into_iter().all(|t| t.join().unwrap() == 300));
        });
    }

    #[test]
    fn lists_hold_each_neighbour_once() {
        let mut lists = Lists::default();
        let edges = [(2, 0), (0, 2), (0, 1), (3, 3), (0, 2)];
        lists.fill(&graph(Edges::Undirected, 4, &edges), &mut Vec::new());
        assert_eq!((lists.v, lists.d, lists.e), (vec![0, 2, 3, 4], vec![2, 1, 1, 1], vec![1, 2, 0, 0, 3]));
        let mut lists = Lists::default();
        lists.fill(&graph(Edges::Directed, 4, &edges), &mut Vec::new());
        assert_eq!((lists.v, lists.d, lists.e), (vec![0, 2, 2, 3], vec![2, 0, 1, 1], vec![1, 2, 0, 3]));
    }
}
