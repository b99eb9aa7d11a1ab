//! What is looked at as a whole: the states that can be reached, as a graph, and the states that are symmetric to one.

use super::session::Session;
use super::walk::{Missing, choices_up_to};
use crate::lang::diag::Diagnostic;
use crate::model::open::Refused;
use crate::symmetry::orbit::Orbits;
use crate::symmetry::{Action, MachineAction, Reducer, Strategy};
use crate::system::{Label, Path, Role, Stop, System, initial_states};
use crate::trace::question::{self, Reply};
use crate::trace::shown;
use crate::value::{Value, element_name};
use std::collections::{BTreeSet, HashMap, HashSet};
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// States of an orbit that are listed.
const MAX_ORBIT: usize = 120;

/// Pairs of a relation that is drawn.
const MAX_PAIRS: usize = 60;

/// States, or classes of states, and how they are connected. Numbers of nodes do not change when more states are asked
/// for: those that were there come first.
#[derive(Clone, Debug, Default)]
pub struct Graph {
    /// The nodes.
    pub nodes: Vec<Node>,
    /// From, to, and the names of operations.
    pub edges: Vec<(usize, usize, Vec<String>)>,
    /// States that were looked at.
    pub states: usize,
    /// There are more.
    pub more: bool,
}

/// A node of a graph.
#[derive(Clone, Debug, Default)]
pub struct Node {
    /// The state, or the value of the expression.
    pub text: String,
    /// How many states it stands for.
    pub states: usize,
    /// Initial states are among them.
    pub initial: bool,
    /// The present state is among them.
    pub here: bool,
    /// A conjunct of the invariant is false in one of them, or has no value.
    pub broken: bool,
    /// Nothing is enabled in one of them.
    pub deadlock: bool,
    /// Its transitions were not looked at.
    pub open: bool,
}

/// A relation of the present state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Relation {
    /// Its name.
    pub name: String,
    /// What is related to what.
    pub pairs: Vec<(String, String)>,
    /// Both sides are of one type.
    pub is_homogeneous: bool,
}

/// The states that are symmetric to the present one.
#[derive(Clone, Debug, Default)]
pub struct Orbit {
    /// The one that stands for them.
    pub representative: Vec<(String, String)>,
    /// The present state is it.
    pub is_representative: bool,
    /// By set: what the permutation that takes the present state to it does to the elements.
    pub permutation: Vec<(String, Vec<(String, String)>)>,
    /// The states of the orbit, the present one first.
    pub states: Vec<Vec<(String, String)>>,
    /// There are others.
    pub more: bool,
    /// Sets that are not permuted, or only in part, with the reason.
    pub fixed: Vec<(String, String)>,
}

/// States, how each was reached, and how they are connected.
#[derive(Default)]
struct Explored {
    rows: Vec<Vec<u64>>,
    from: Vec<Option<(usize, Label)>>,
    nodes: Vec<Node>,
    /// From, to, and places of operations.
    edges: HashMap<(usize, usize), BTreeSet<usize>>,
    order: Vec<(usize, usize)>,
    more: bool,
}

impl Session {
    /// The states that can be reached from the initial ones, breadth first and at most so many; with a projection, one
    /// node for each of its values.
    ///
    /// # Errors
    /// What is wrong with the projection.
    pub fn graph(&self, projection: Option<&str>, most: usize, stop: &Stop) -> Result<Graph, Refused> {
        let mut seen = self.explored(most, stop);
        let (classes, mut graph) = self.classes(projection, &mut seen, stop)?;
        (graph.states, graph.more) = (seen.rows.len(), seen.more);
        let mut merged: HashMap<(usize, usize), usize> = HashMap::new();
        for edge in &seen.order {
            let (from, to) = (classes[edge.0], classes[edge.1]);
            let at = *merged.entry((from, to)).or_insert_with(|| {
                graph.edges.push((from, to, vec![]));
                graph.edges.len() - 1
            });
            for operation in &seen.edges[edge] {
                let name = self.machine().operations()[*operation].name.to_string();
                if !graph.edges[at].2.contains(&name) {
                    graph.edges[at].2.push(name);
                }
            }
        }
        Ok(graph)
    }

    /// Goes to the first state of a node of the graph, the way that it was found.
    ///
    /// # Errors
    /// What is wrong with the projection, or no such node.
    pub fn go_to_node(
        &mut self,
        projection: Option<&str>,
        most: usize,
        node: usize,
        stop: &Stop,
    ) -> Result<(), Refused> {
        let mut seen = self.explored(most, stop);
        let (classes, _) = self.classes(projection, &mut seen, stop)?;
        let Some(mut at) = classes.iter().position(|c| *c == node) else {
            return Err(
                self.about("", vec![crate::trace::fault::plain_error("there is no such node any more")])
            );
        };
        let mut path = Path { rows: vec![seen.rows[at].clone()], labels: vec![] };
        while let Some((from, label)) = &seen.from[at] {
            path.rows.push(seen.rows[*from].clone());
            path.labels.push(label.clone());
            at = *from;
        }
        path.rows.reverse();
        path.labels.reverse();
        self.walk_mut().follow(&path);
        Ok(())
    }

    /// Which node each state belongs to, and the nodes.
    fn classes(
        &self,
        projection: Option<&str>,
        seen: &mut Explored,
        stop: &Stop,
    ) -> Result<(Vec<usize>, Graph), Refused> {
        let projection = projection.map(|text| self.parse(text).map(|ast| (text, ast))).transpose()?;
        let (system, nodes, rows) = (self.machine(), &mut seen.nodes, &seen.rows);
        let mut graph = Graph::default();
        let Some((text, ast)) = &projection else {
            for (node, row) in nodes.iter_mut().zip(rows) {
                node.text = list(&system.show_state(row));
            }
            graph.nodes = std::mem::take(nodes);
            return Ok(((0..rows.len()).collect(), graph));
        };
        let mut classes = vec![];
        let mut by_value: HashMap<String, usize> = HashMap::new();
        for (i, row) in rows.iter().enumerate() {
            let value = match question::answer(system, self.named(), ast, Some(row), stop) {
                Ok(Reply::Value(v)) => v,
                Ok(Reply::Truth(b)) => if b { "TRUE" } else { "FALSE" }.to_string(),
                Ok(Reply::Solutions { .. }) => return Err(self.about(text, vec![unknown()])),
                Err(d) if by_value.is_empty() && i == 0 && is_wrong(&d) => return Err(self.about(text, d)),
                Err(_) => "no value".to_string(),
            };
            let node = *by_value.entry(value.clone()).or_insert_with(|| {
                graph.nodes.push(Node { text: value, ..Node::default() });
                graph.nodes.len() - 1
            });
            classes.push(node);
            let (into, from) = (&mut graph.nodes[node], &nodes[i]);
            into.states += 1;
            into.initial |= from.initial;
            into.here |= from.here;
            into.broken |= from.broken;
            into.deadlock |= from.deadlock;
            into.open |= from.open;
        }
        Ok((classes, graph))
    }

    /// The states that can be reached, breadth first: the same ones first, however many there are.
    fn explored(&self, most: usize, stop: &Stop) -> Explored {
        let system = self.machine();
        let mut worker = system.worker(stop);
        let mut seen = Explored::default();
        let mut number: HashMap<Vec<u64>, usize> = HashMap::new();
        let initial = initial_states(&**system, &mut worker, &mut |_, row| {
            if seen.rows.len() == most {
                return ControlFlow::Break(());
            }
            number.insert(row.to_vec(), seen.rows.len());
            seen.rows.push(row.to_vec());
            seen.from.push(None);
            ControlFlow::Continue(())
        });
        seen.more = initial.complete.is_none();
        let initials = seen.rows.len();
        let mut at = 0;
        while at < seen.rows.len() {
            let row = seen.rows[at].clone();
            let mut node = Node { states: 1, initial: at < initials, ..Node::default() };
            node.here = self.walk().row() == Some(&row[..]);
            let here = system.load(&mut worker, &row);
            let checks = system.checks().iter().enumerate().filter(|(_, c)| c.role == Role::Invariant);
            node.broken = checks.into_iter().any(|(i, _)| !matches!(system.holds(i, here), Ok(true)));
            if stop.load(Ordering::Relaxed) {
                (node.open, seen.more) = (true, true);
            } else {
                let found = choices_up_to(&**system, Some(&row), &mut worker, usize::MAX, stop);
                seen.more |= matches!(found.missing, Some(Missing::Stopped | Missing::Cut(_)));
                node.deadlock = found.all.is_empty() && found.faults.is_empty() && found.missing.is_none();
                for choice in found.all {
                    let operation = choice.operation();
                    let to = match number.get(&choice.row) {
                        Some(to) => *to,
                        None if seen.rows.len() < most => {
                            number.insert(choice.row.clone(), seen.rows.len());
                            seen.rows.push(choice.row);
                            seen.from.push(choice.label.map(|label| (at, label)));
                            seen.rows.len() - 1
                        }
                        None => {
                            (node.open, seen.more) = (true, true);
                            continue;
                        }
                    };
                    let names = seen.edges.entry((at, to)).or_insert_with(|| {
                        seen.order.push((at, to));
                        BTreeSet::new()
                    });
                    names.extend(operation);
                }
            }
            seen.nodes.push(node);
            at += 1;
        }
        seen
    }

    /// The variables and constants of the present state that are relations, as pairs; not those with very many.
    pub fn relations(&self) -> Vec<Relation> {
        let Some(row) = self.walk().row() else { return vec![] };
        let (system, model) = (self.machine(), self.model());
        let constants = system.constant_values(system.start_of(row)).into_iter();
        let values = constants.chain(system.variable_values(row).into_iter().map(Some));
        let mut all = vec![];
        for (d, value) in model.constants.iter().chain(&model.variables).zip(values) {
            let (Some(Value::Set(pairs)), Some((a, b))) = (value, d.ty.as_rel()) else { continue };
            let split = |v: &Value| match v {
                Value::Pair(p) => Some((shown(&p.0, a, model), shown(&p.1, b, model))),
                _ => None,
            };
            if pairs.len() <= MAX_PAIRS {
                let pairs = pairs.iter().filter_map(split).collect();
                all.push(Relation { name: d.name.to_string(), pairs, is_homogeneous: a == b });
            }
        }
        all
    }

    /// The orbit of the present state under the symmetry that a check uses: exact, and the same representative.
    ///
    /// # Errors
    /// There is no state, or nothing that could be permuted.
    pub fn orbit(&self, stop: &Stop) -> Result<Orbit, String> {
        let row = self.walk().row().ok_or("there is no state yet")?;
        let system = self.machine();
        let action: Arc<dyn Action> = Arc::new(MachineAction::of(system));
        let group = action.group();
        let model = self.model();
        let name = |set: crate::model::SetId| model.sets[set.index()].name.to_string();
        let fixed = group.fixed.iter().map(|(set, why)| (name(*set), why.to_string())).collect();
        let mut orbit = Orbit { fixed, ..Orbit::default() };
        let Some(mut reducer) = Reducer::new(&action, Strategy::Canon, false) else {
            orbit.representative = system.show_state(row);
            orbit.is_representative = true;
            orbit.states = vec![system.show_state(row)];
            return Ok(orbit);
        };
        let (key, witness) = reducer.key_with_witness(row);
        let (key, witness) = (key.to_vec(), witness.clone());
        orbit.representative = system.show_state(&key);
        orbit.is_representative = key == row;
        for o in &group.orbitals {
            let element = |i: u32| element_name(model, o.set, i);
            let images =
                (0..o.size).map(|i| (element(i), element(witness.0[(o.first + i) as usize] - o.first)));
            orbit.permutation.push((name(o.set), images.collect()));
        }
        let mut seen: HashSet<Vec<u64>> = [row.to_vec()].into();
        let mut states = vec![row.to_vec()];
        let mut more = false;
        Orbits::new(&action).each(row, &mut |image| {
            if stop.load(Ordering::Relaxed) || states.len() >= MAX_ORBIT {
                more |= !seen.contains(image);
                return false;
            }
            let is_new = seen.insert(image.to_vec());
            if is_new {
                states.push(image.to_vec());
            }
            is_new
        });
        orbit.more = more;
        orbit.states = states.iter().map(|row| system.show_state(row)).collect();
        Ok(orbit)
    }
}

fn list(pairs: &[(String, String)]) -> String {
    pairs.iter().map(|(n, v)| format!("{n} = {v}")).collect::<Vec<_>>().join("\n")
}

fn unknown() -> Diagnostic {
    crate::trace::fault::plain_error("a projection is an expression of the model's own names")
}

/// Whether this is about the expression itself, and not about its value in a state.
fn is_wrong(all: &[Diagnostic]) -> bool {
    all.iter().any(|d| !d.code.starts_with("B03") && d.code != crate::trace::fault::LIMIT)
}
