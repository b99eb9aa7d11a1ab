//! What is looked at as a whole: the states that can be reached, as a graph, and the states that are symmetric to one.

use super::session::Session;
use super::walk::{Missing, choices_up_to};
use crate::lang::diag::Diagnostic;
use crate::model::open::Refused;
use crate::symmetry::orbit::Orbits;
use crate::symmetry::{Action, MachineAction, Reducer, Strategy};
use crate::system::{Role, Stop, System, initial_states};
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

impl Session {
    /// The states that can be reached from the initial ones, breadth first and at most so many; with a projection, one
    /// node for each of its values.
    ///
    /// # Errors
    /// What is wrong with the projection.
    pub fn graph(&self, projection: Option<&str>, most: usize, stop: &Stop) -> Result<Graph, Refused> {
        let system = self.machine();
        let projection = projection.map(|text| self.parse(text).map(|ast| (text, ast))).transpose()?;
        let mut worker = system.worker(stop);
        let mut graph = Graph::default();
        let mut rows: Vec<Vec<u64>> = vec![];
        let mut number: HashMap<Vec<u64>, usize> = HashMap::new();
        let initial = initial_states(&**system, &mut worker, &mut |_, row| {
            if rows.len() == most {
                return ControlFlow::Break(());
            }
            number.insert(row.to_vec(), rows.len());
            rows.push(row.to_vec());
            ControlFlow::Continue(())
        });
        graph.more = initial.complete.is_none();
        let initials = rows.len();
        let mut edges: HashMap<(usize, usize), BTreeSet<usize>> = HashMap::new();
        let mut order = vec![];
        let mut nodes: Vec<Node> = vec![];
        let mut at = 0;
        while at < rows.len() {
            let row = rows[at].clone();
            let mut node = Node { states: 1, initial: at < initials, ..Node::default() };
            node.here = self.walk().row() == Some(&row[..]);
            let here = system.load(&mut worker, &row);
            let checks = system.checks().iter().enumerate().filter(|(_, c)| c.role == Role::Invariant);
            node.broken = checks.into_iter().any(|(i, _)| !matches!(system.holds(i, here), Ok(true)));
            if stop.load(Ordering::Relaxed) {
                (node.open, graph.more) = (true, true);
            } else {
                let found = choices_up_to(&**system, Some(&row), &mut worker, usize::MAX, stop);
                graph.more |= matches!(found.missing, Some(Missing::Stopped | Missing::Cut(_)));
                node.deadlock = found.all.is_empty() && found.faults.is_empty() && found.missing.is_none();
                for choice in found.all {
                    let operation = choice.operation();
                    let to = match number.get(&choice.row) {
                        Some(to) => *to,
                        None if rows.len() < most => {
                            number.insert(choice.row.clone(), rows.len());
                            rows.push(choice.row);
                            rows.len() - 1
                        }
                        None => {
                            (node.open, graph.more) = (true, true);
                            continue;
                        }
                    };
                    let names = edges.entry((at, to)).or_insert_with(|| {
                        order.push((at, to));
                        BTreeSet::new()
                    });
                    names.extend(operation);
                }
            }
            nodes.push(node);
            at += 1;
        }
        graph.states = rows.len();
        // Which node a state belongs to.
        let mut class: Vec<usize> = (0..rows.len()).collect();
        match &projection {
            None => {
                for (node, row) in nodes.iter_mut().zip(&rows) {
                    node.text = list(&system.show_state(row));
                }
                graph.nodes = nodes;
            }
            Some((text, ast)) => {
                let mut by_value: HashMap<String, usize> = HashMap::new();
                for (i, row) in rows.iter().enumerate() {
                    let value = match question::answer(system, self.named(), ast, Some(row), stop) {
                        Ok(Reply::Value(v)) => v,
                        Ok(Reply::Truth(b)) => if b { "TRUE" } else { "FALSE" }.to_string(),
                        Ok(Reply::Solutions { .. }) => return Err(Session::about(text, vec![unknown()])),
                        Err(d) if by_value.is_empty() && i == 0 && is_wrong(&d) => {
                            return Err(Session::about(text, d));
                        }
                        Err(_) => "no value".to_string(),
                    };
                    let node = *by_value.entry(value.clone()).or_insert_with(|| {
                        graph.nodes.push(Node { text: value, ..Node::default() });
                        graph.nodes.len() - 1
                    });
                    class[i] = node;
                    let (into, from) = (&mut graph.nodes[node], &nodes[i]);
                    into.states += 1;
                    into.initial |= from.initial;
                    into.here |= from.here;
                    into.broken |= from.broken;
                    into.deadlock |= from.deadlock;
                    into.open |= from.open;
                }
            }
        }
        let mut merged: HashMap<(usize, usize), usize> = HashMap::new();
        for edge in order {
            let (from, to) = (class[edge.0], class[edge.1]);
            let at = *merged.entry((from, to)).or_insert_with(|| {
                graph.edges.push((from, to, vec![]));
                graph.edges.len() - 1
            });
            for operation in &edges[&edge] {
                let name = system.operations()[*operation].name.to_string();
                if !graph.edges[at].2.contains(&name) {
                    graph.edges[at].2.push(name);
                }
            }
        }
        Ok(graph)
    }

    /// The variables and constants of the present state that are relations, as pairs; not those with very many.
    pub fn relations(&self) -> Vec<(String, Vec<(String, String)>)> {
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
                all.push((d.name.to_string(), pairs.iter().filter_map(split).collect()));
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
