//! Random small machines with random small processes: the product against one that is made of the two graphs by hand.
//!
//! The graph of the machine alone has every transition with its parameters and results as text, that of the process every
//! event. What happens together is found by comparing these texts, which shares nothing with `kanon::guided`.

use kanon::explore::Options;
use kanon::model::scope::ScopeArgs;
use kanon::run::other::{Asked, Guide, Language, Model, open};
use kanon::run::{Deadline, Project};
use kanon::symmetry::Strategy;
use kanon::system::{Fault, Machine, Stop, System, Transition, Visitor, initial_states};
use kanon::value::Show;
use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

/// Numbers that are the same for the same seed.
struct Chance(u64);

impl Chance {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % n
    }
    fn pick<'t>(&mut self, from: &[&'t str]) -> &'t str {
        from[self.below(from.len() as u64) as usize]
    }
}

/// States of a process; more are left out.
const MOST: usize = 500;

/// The types of parameters and results: in B, and the set of CSP-M.
const TYPES: [(&str, &str); 3] = [("0..1", "{0..1}"), ("BOOL", "Bool"), ("E", "E")];

struct Shape {
    params: Vec<usize>,
    results: Vec<usize>,
    fields: usize,
}

fn machine(c: &mut Chance) -> (String, Vec<Shape>) {
    let mut text =
        "MACHINE Random\nSETS E = {e1, e2}\nVARIABLES x, b, e\nINVARIANT x : 0..2 & b : BOOL & e : E\n\
                    INITIALISATION x :: 0..1 || b := FALSE || e := e1\nOPERATIONS\n"
            .to_string();
    let mut shapes = vec![];
    for op in 0..3 {
        let params: Vec<usize> = (0..c.below(3)).map(|_| c.below(3) as usize).collect();
        let results: Vec<usize> = (0..c.below(3)).map(|_| c.below(3) as usize).collect();
        let all = params.len() + results.len();
        let names = |front: char, of: &[usize]| {
            (0..of.len()).map(|i| format!("{front}{i}")).collect::<Vec<_>>().join(", ")
        };
        if !results.is_empty() {
            let _ = write!(text, "{} <-- ", names('r', &results));
        }
        let _ = write!(text, "o{op}");
        if !params.is_empty() {
            let _ = write!(text, "({})", names('p', &params));
        }
        let types = params.iter().enumerate().map(|(i, t)| format!("p{i} : {}", TYPES[*t].0));
        let mut guard: Vec<String> = types.collect();
        guard.push(
            c.pick(&["x < 2", "x > 0", "b = TRUE", "e = e1", "x = x", "x /= 1 or b = TRUE"]).to_string(),
        );
        if let Some(0) = params.first() {
            guard.push(c.pick(&["p0 /= x", "p0 + x < 3", "p0 = p0"]).to_string());
        }
        let step = |c: &mut Chance| match c.below(5) {
            0 => "x := (x + 1) mod 3".to_string(),
            1 => "b := bool(x = 0)".to_string(),
            2 => "e :: E".to_string(),
            3 if params.first() == Some(&0) => "x := p0".to_string(),
            _ => "ANY n WHERE n : 0..2 & n /= x THEN x := n END".to_string(),
        };
        let mut body = vec![step(c)];
        for (i, t) in results.iter().enumerate() {
            let value = match t {
                0 => c.pick(&["min({x, 1})", "0", "1"]),
                1 => c.pick(&["b", "TRUE", "bool(x = 2)"]),
                _ => c.pick(&["e", "e2"]),
            };
            body.push(format!("r{i} := {value}"));
        }
        let _ = writeln!(
            text,
            " = PRE {} THEN {} END{}",
            guard.join(" & "),
            body.join(" || "),
            if op < 2 { ";" } else { "" }
        );
        shapes.push(Shape { params, results, fields: c.below(all as u64 + 1) as usize });
    }
    (text + "END\n", shapes)
}

fn prefix(c: &mut Chance, shapes: &[Shape]) -> String {
    let op = c.below(4) as usize;
    let Some(shape) = shapes.get(op) else { return c.pick(&["a.0", "a?x", "q"]).to_string() };
    let mut text = format!("o{op}");
    for t in shape.params.iter().chain(&shape.results).take(shape.fields) {
        text += match (t, c.below(3)) {
            (_, 0) => "?_",
            (0, _) => c.pick(&["!0", "!1"]),
            (1, _) => c.pick(&["!true", "!false"]),
            _ => c.pick(&["!e1", "!e2"]),
        };
    }
    text
}

fn term(c: &mut Chance, shapes: &[Shape], depth: u64) -> String {
    let again = |c: &mut Chance| format!("P{}", c.below(2));
    if depth == 0 {
        return match c.below(4) {
            0 => "SKIP".into(),
            1 => "STOP".into(),
            _ => format!("{} -> {}", prefix(c, shapes), again(c)),
        };
    }
    let deeper = |c: &mut Chance| term(c, shapes, depth - 1);
    match c.below(8) {
        0 => format!("({} [] {})", deeper(c), deeper(c)),
        1 => format!("({} |~| {})", deeper(c), deeper(c)),
        2 => format!("({} \\ {{| o{} |}})", deeper(c), c.below(3)),
        3 => format!("({} /\\ {})", deeper(c), deeper(c)),
        _ => format!("({} -> {})", prefix(c, shapes), deeper(c)),
    }
}

fn script(c: &mut Chance, shapes: &[Shape]) -> String {
    let mut text = "datatype E = e1 | e2\nchannel a : {0..1}\nchannel q\n".to_string();
    for (i, shape) in shapes.iter().enumerate() {
        let fields = shape.params.iter().chain(&shape.results).take(shape.fields);
        let fields: Vec<&str> = fields.map(|t| TYPES[*t].1).collect();
        let _ = match fields.is_empty() {
            true => writeln!(text, "channel o{i}"),
            false => writeln!(text, "channel o{i} : {}", fields.join(".")),
        };
    }
    for i in 0..2 {
        let _ = writeln!(text, "P{i} = {} -> {}", prefix(c, shapes), term(c, shapes, 2));
    }
    let main = match c.below(4) {
        0 => "P0 ||| (q -> SKIP)".to_string(),
        1 => format!("P0 [| {{| o{}, a |}} |] P1", c.below(3)),
        2 => "(P0 [] P1) ; P0".to_string(),
        _ => "P0".to_string(),
    };
    text + &format!("MAIN = {main}\n")
}

/// States as numbers, and the labels and targets of their transitions.
type Graph = Vec<Vec<(String, usize)>>;

struct Edges<'m> {
    machine: &'m Machine,
    found: Vec<(Vec<u64>, String)>,
}

impl Visitor<<Machine as System>::Here> for Edges<'_> {
    fn transition(&mut self, t: Transition<<Machine as System>::Here>) -> ControlFlow<()> {
        let label = self.machine.label(t.operation, t.here);
        let l = self.machine.labelled(&label).expect("a label");
        let model = &*self.machine.model;
        let op = &model.operations[l.op.index()];
        let locals = op.params.iter().chain(&op.results);
        let values = l.params.iter().chain(&l.results);
        // As an event would be written.
        let mut text = op.name.to_string();
        for (local, value) in locals.zip(values) {
            let value = value.as_ref().expect("a value");
            let shown = Show { value, ty: &model.local(*local).ty, model }.to_string();
            text += &format!(".{}", shown.replace("TRUE", "true").replace("FALSE", "false"));
        }
        self.found.push((t.target.to_vec(), text));
        ControlFlow::Continue(())
    }
    fn fault(&mut self, _: usize, fault: Box<Fault>) -> ControlFlow<()> {
        panic!("{fault:?}");
    }
}

/// The machine alone: its graph, its initial states, and which states break the invariant.
fn alone(file: &Path) -> (Graph, Vec<usize>) {
    let project =
        Project::open(file, &ScopeArgs::default()).unwrap_or_else(|r| panic!("{:?}", r.diagnostics));
    let never = Deadline::never();
    let solved = project.solve(&never).unwrap_or_else(|d| panic!("{d:?}"));
    let machine = &*solved.machine;
    let mut worker = machine.worker(&Stop::default());
    let (mut rows, mut at): (Vec<Vec<u64>>, HashMap<Vec<u64>, usize>) = (vec![], HashMap::new());
    let mut place = |row: &[u64], rows: &mut Vec<Vec<u64>>| {
        *at.entry(row.to_vec()).or_insert_with(|| {
            rows.push(row.to_vec());
            rows.len() - 1
        })
    };
    let mut first = vec![];
    let initial = initial_states(machine, &mut worker, &mut |_, row| {
        first.push(place(row, &mut rows));
        ControlFlow::Continue(())
    });
    assert!(initial.complete.is_some());
    let mut graph: Graph = vec![];
    while graph.len() < rows.len() {
        let row = rows[graph.len()].clone();
        let mut edges = Edges { machine, found: vec![] };
        let _ = machine.successors(&mut worker, &row, &mut edges);
        let found = edges.found.into_iter().map(|(to, label)| (label, place(&to, &mut rows)));
        let found = found.collect();
        graph.push(found);
    }
    (graph, first)
}

fn states(model: &dyn Model) -> (Graph, Vec<usize>, usize) {
    let states = model.states(MOST, &Deadline::never()).expect("they go together");
    assert!(!states.more, "all states");
    let mut graph: Graph = vec![vec![]; states.nodes.len()];
    for (from, to, labels) in &states.edges {
        graph[*from].extend(labels.iter().map(|l| (l.clone(), *to)));
    }
    let first = states.nodes.iter().enumerate().filter(|(_, n)| n.initial).map(|(i, _)| i).collect();
    (graph, first, states.nodes.iter().filter(|n| n.deadlock).count())
}

/// The product by hand: states, and how often each operation happens.
fn product(
    (b, first): &(Graph, Vec<usize>),
    (csp, main): (&Graph, usize),
) -> (usize, BTreeMap<String, usize>) {
    let mut pairs: Vec<(usize, usize)> = first.iter().map(|b| (*b, main)).collect();
    let mut seen: HashMap<(usize, usize), ()> = pairs.iter().map(|p| (*p, ())).collect();
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    let mut at = 0;
    while at < pairs.len() {
        let (state, process) = pairs[at];
        at += 1;
        let mut steps = vec![];
        for (event, next) in &csp[process] {
            let name = event.split('.').next().unwrap_or_default();
            if !name.starts_with('o') {
                steps.push((name.to_string(), (state, *next)));
                continue;
            }
            let together = b[state].iter().filter(|(label, _)| {
                label == event || label.strip_prefix(&**event).is_some_and(|rest| rest.starts_with('.'))
            });
            steps.extend(together.map(|(_, to)| (name.to_string(), (*to, *next))));
        }
        for (name, target) in steps {
            *counts.entry(name).or_default() += 1;
            if seen.insert(target, ()).is_none() {
                pairs.push(target);
            }
        }
    }
    (pairs.len(), counts)
}

fn written(name: &str, text: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::write(&path, text).expect("a file");
    path
}

#[test]
fn a_guided_machine_is_the_product_of_two_graphs() {
    let cases = std::env::var("KANON_GUIDED").ok().and_then(|n| n.parse().ok()).unwrap_or(150);
    let (mut states_in_all, mut together) = (0, 0);
    for seed in 0..cases {
        let mut c = Chance(seed);
        let (machine, shapes) = machine(&mut c);
        let process = script(&mut c, &shapes);
        let (mch, csp) = (written("guided.mch", &machine), written("guided.csp", &process));
        let told = format!("seed {seed}\n{machine}\n{process}");
        let never = Deadline::never();
        let of_csp = open(&csp, Language::Csp, &Asked::default(), &never);
        let of_csp = of_csp.unwrap_or_else(|r| panic!("{:?}\n{told}", r.diagnostics));
        let all = of_csp.states(MOST, &never).expect("they go together");
        // An unguarded recursion, or more states than anybody wants.
        if all.more {
            continue;
        }
        let (process_graph, main, _) = states(&*of_csp);
        let b = alone(&mch);
        let (expected, counts) = product(&b, (&process_graph, main[0]));
        let guide = Guide { script: csp, ..Guide::default() };
        let asked = Asked { guide: Some(guide), ..Asked::default() };
        let guided = match open(&mch, Language::Guided, &asked, &never) {
            Ok(guided) => guided,
            Err(r) => panic!("{:?}\n{told}", r.diagnostics),
        };
        let options = Options { all: true, symmetry: Strategy::Off, ..Options::default() };
        let checked = guided.check(&options, &never, &mut |_| {}).expect("they go together");
        assert!(checked.complete, "{told}");
        assert_eq!(checked.counts.states, expected, "{told}");
        let found: BTreeMap<String, usize> = checked
            .operations
            .iter()
            .filter(|(_, n)| *n > 0)
            .map(|(name, n)| (name.clone(), *n as usize))
            .collect();
        // The naive product counts a silent step or an event to one target once for each pair of states, as kanon does.
        assert_eq!(found, counts, "{told}");
        states_in_all += expected;
        together += counts.iter().filter(|(name, _)| name.starts_with('o')).map(|(_, n)| n).sum::<usize>();
    }
    assert!(states_in_all > 1000 && together > 1000, "{states_in_all} states, {together} steps together");
}
