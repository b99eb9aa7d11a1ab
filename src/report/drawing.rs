//! A state graph and what nauty is given of it, with names: what [`super::dot`] and [`super::picture`] draw.
//! Nothing is added to the graphs or left out: a vertex here is a vertex there.

use crate::model::{Model, Type};
use crate::symmetry::encode::{ArrowLabel, Encoder, StateGraph, Vertex};
use crate::symmetry::{Graph, MachineAction};
use crate::trace::shown;
use crate::value::Value;
use crate::value::rep::{Rep, Shape};
use crate::value::val::to_value;

/// A graph with names.
#[derive(Clone, Debug, Default)]
pub struct Drawing {
    pub title: String,
    /// What is said about it, line by line.
    pub notes: Vec<String>,
    pub nodes: Vec<Node>,
    pub edges: Vec<Edge>,
    /// The labels of edges, or, in layers, those of the layers.
    pub labels: Vec<String>,
    /// What vertices are: sets and types.
    pub kinds: Vec<String>,
    pub is_layered: bool,
}

#[derive(Clone, Debug)]
pub struct Node {
    pub name: String,
    pub look: Look,
    /// Index into [`Drawing::kinds`].
    pub kind: usize,
    /// The colour that nauty is told.
    pub colour: Option<u32>,
    /// In layers: which one, and which vertex of the state graph it is.
    pub layer: usize,
    pub column: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Look {
    Root,
    Point,
    Value,
    Nested,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Edge {
    pub from: usize,
    pub to: usize,
    /// Index into [`Drawing::labels`]; none between layers, where an edge has no direction.
    pub label: Option<usize>,
}

/// What names the vertices of one state's graph.
struct Namer<'a> {
    action: &'a MachineAction,
    encoder: &'a Encoder,
    graph: &'a StateGraph,
    /// By number of [`Encoder::types`]; a type that has this representation.
    types: Vec<Option<Type>>,
    /// By label, the parts' names; by vertex, its edges to parts.
    parts: Vec<Vec<(ArrowLabel, u32)>>,
}

impl<'a> Namer<'a> {
    fn new(action: &'a MachineAction, encoder: &'a Encoder, graph: &'a StateGraph) -> Namer<'a> {
        let mut types = vec![None; encoder.types.len()];
        each_type(&action.system.model, &mut |ty| {
            let rep = Rep::of(ty, &action.system.scope);
            for (known, t) in encoder.types.iter().zip(&mut types) {
                if *known == rep && t.is_none() {
                    *t = Some(ty.clone());
                }
            }
        });
        let mut parts = vec![vec![]; graph.vertices.len()];
        for e in &graph.edges {
            parts[e.from as usize].push((graph.labels[e.label as usize], e.to));
        }
        Namer { action, encoder, graph, types, parts }
    }

    fn model(&self) -> &Model {
        &self.action.system.model
    }

    /// The value that a vertex stands for; none for the root.
    fn value(&self, vertex: usize) -> Option<Value> {
        let group = &self.action.group;
        Some(match &self.graph.vertices[vertex] {
            Vertex::Root => return None,
            Vertex::Point(set) => {
                let o = group.orbitals.get(*set as usize)?;
                Value::Elem(o.set, vertex as u32 - 1 - o.first)
            }
            Vertex::Fixed(set, element) => Value::Elem(group.orbitals.get(*set as usize)?.set, *element),
            Vertex::Value(ty, v) => to_value(v, self.encoder.types.get(*ty as usize)?),
            Vertex::Nested(ty) => {
                let part = |wanted: ArrowLabel| self.parts[vertex].iter().find(|(l, _)| *l == wanted);
                let of = |wanted: ArrowLabel| part(wanted).and_then(|(_, to)| self.value(*to as usize));
                match &self.encoder.types.get(*ty as usize)?.shape {
                    Shape::Pair(..) => Value::pair(of(ArrowLabel::Left)?, of(ArrowLabel::Right)?),
                    Shape::Rec(fields) => {
                        let fields = (0..fields.len() as u32).map(|i| of(ArrowLabel::Field(i)));
                        Value::Rec(fields.collect::<Option<_>>()?)
                    }
                    Shape::Set(..) => {
                        let elements = self.parts[vertex].iter().filter(|(l, _)| *l == ArrowLabel::Element);
                        Value::Set(elements.filter_map(|(_, to)| self.value(*to as usize)).collect())
                    }
                    Shape::Bool | Shape::Elem(_) | Shape::Int | Shape::Str => return None,
                    Shape::Real | Shape::Free(..) => return None,
                }
            }
        })
    }

    fn ty(&self, vertex: usize) -> Option<Type> {
        match &self.graph.vertices[vertex] {
            Vertex::Root => None,
            Vertex::Point(set) | Vertex::Fixed(set, _) => {
                self.action.group.orbitals.get(*set as usize).map(|o| Type::Given(o.set))
            }
            Vertex::Value(ty, _) | Vertex::Nested(ty) => self.types.get(*ty as usize)?.clone(),
        }
    }

    fn node(&self, vertex: usize, kinds: &mut Vec<String>) -> Node {
        let look = match &self.graph.vertices[vertex] {
            Vertex::Root => Look::Root,
            Vertex::Point(_) => Look::Point,
            Vertex::Value(..) | Vertex::Fixed(..) => Look::Value,
            Vertex::Nested(_) => Look::Nested,
        };
        let ty = self.ty(vertex);
        let name = match (look, self.value(vertex), &ty) {
            (Look::Root, ..) => "root".into(),
            (_, Some(v), Some(ty)) => shown(&v, ty, self.model()),
            (_, v, _) => v.map_or_else(|| "?".into(), |v| format!("{v:?}")),
        };
        let set_name = |s: crate::model::SetId| self.model().sets[s.index()].name.clone();
        let kind = match &ty {
            None => "root".into(),
            Some(ty) => ty.show(&set_name).to_string(),
        };
        let known = kinds.iter().position(|k| *k == kind);
        let kind = known.unwrap_or_else(|| {
            kinds.push(kind);
            kinds.len() - 1
        });
        Node { name, look, kind, colour: None, layer: 0, column: vertex }
    }

    fn label(&self, label: ArrowLabel) -> String {
        let model = self.model();
        match label {
            ArrowLabel::Slot(slot) => {
                let declared = model.constants.iter().chain(&model.variables).nth(slot as usize);
                declared.map_or_else(|| format!("slot {slot}"), |d| d.name.to_string())
            }
            ArrowLabel::Element => "element".into(),
            ArrowLabel::Left => "left".into(),
            ArrowLabel::Right => "right".into(),
            ArrowLabel::Field(i) => {
                // Fields in the same place of different records have one label.
                let mut names: Vec<&str> = vec![];
                let records = self.types.iter().flatten().filter_map(Type::fields);
                for (name, _) in records.filter_map(|f| f.get(i as usize)) {
                    if !names.contains(&&**name) {
                        names.push(name);
                    }
                }
                names.join("/")
            }
        }
    }
}

/// The types of all constants and variables, and the types in them.
fn each_type(model: &Model, f: &mut dyn FnMut(&Type)) {
    fn visit(ty: &Type, f: &mut dyn FnMut(&Type)) {
        f(ty);
        match ty {
            Type::Pred | Type::Bool | Type::Int | Type::Str | Type::Given(_) => {}
            Type::Real | Type::Free(_) | Type::Again(_) => {}
            Type::Pair(p) => {
                visit(&p.0, f);
                visit(&p.1, f);
            }
            Type::Pow(t) => visit(t, f),
            Type::Rec(fields) => fields.iter().for_each(|(_, t)| visit(t, f)),
        }
    }
    for d in model.constants.iter().chain(&model.variables) {
        visit(&d.ty, f);
    }
}

impl Drawing {
    /// The state graph (*ProB gets Nauty*, §2).
    #[must_use]
    pub fn of_state(action: &MachineAction, encoder: &Encoder, graph: &StateGraph) -> Drawing {
        let namer = Namer::new(action, encoder, graph);
        let mut kinds = vec![];
        let nodes = (0..graph.vertices.len()).map(|v| namer.node(v, &mut kinds)).collect();
        let edge = |e: &crate::symmetry::encode::Arrow| Edge {
            from: e.from as usize,
            to: e.to as usize,
            label: Some(e.label as usize),
        };
        Drawing {
            nodes,
            edges: graph.edges.iter().map(edge).collect(),
            labels: graph.labels.iter().map(|l| namer.label(*l)).collect(),
            kinds,
            ..Drawing::default()
        }
    }

    /// Definition 3.3: the same vertices once a layer.
    #[must_use]
    pub fn of_layers(state: &Drawing, layered: &Graph) -> Drawing {
        let columns = state.nodes.len();
        let node = |(i, colour): (usize, &u32)| Node {
            colour: Some(*colour),
            layer: i / columns,
            column: i % columns,
            ..state.nodes[i % columns].clone()
        };
        let nodes: Vec<Node> = layered.colours().iter().enumerate().map(node).collect();
        let mut edges = vec![];
        for &(a, b) in layered.edges() {
            let (from, to) = (a as usize, b as usize);
            if nodes[from].layer == nodes[to].layer {
                edges.push(Edge { from, to, label: Some(nodes[from].layer) });
            } else if from < to {
                // The other direction is there too.
                edges.push(Edge { from, to, label: None });
            }
        }
        Drawing { nodes, edges, is_layered: true, ..state.clone() }
    }
}
