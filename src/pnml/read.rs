//! A document becomes a net: declarations, places, transitions and arcs of all pages.

use crate::net::{
    Arc, Bag, Class, ClassId, Component, Guard, Kind, Net, Partition, Place, Transition, Variable,
};
use crate::terms::{Declared, Scope};
use crate::xml::{El, Res, document};
use kanon_language::lang::diag::FileId;
use std::collections::{HashMap, HashSet};

/// Colours of one class.
const MAX_COLOURS: usize = 100_000;

/// The kinds of nets, by the last part of their type.
const PLAIN: [&str; 3] = ["ptnet", "PTNet", "pt-net"];
const COLOURED: [&str; 2] = ["symmetricnet", "pt-hlpng"];

/// Reads the net of a document.
///
/// # Errors
/// What is wrong or not supported, with its place.
pub fn read(file: FileId, text: &str) -> Res<Net> {
    let document = document(file, text)?;
    let root = El { node: document.root_element(), file };
    if root.name() != "pnml" {
        return Err(
            root.error("N0103", format!("a document of PNML begins with `pnml`, not `{}`", root.name()))
        );
    }
    let mut nets = root.children().filter(|c| c.name() == "net");
    let net = nets.next().ok_or_else(|| root.error("N0103", "there is no net"))?;
    if let Some(second) = nets.next() {
        return Err(second.unsupported("a second net in one document"));
    }
    let kind = net.attribute("type")?;
    let last = kind.rsplit(['/', '#']).next().unwrap_or_default();
    let coloured = COLOURED.contains(&last);
    if !coloured && !PLAIN.contains(&last) {
        let message = format!("nets of the type `{kind}` are not supported");
        return Err(net
            .error("N0301", message)
            .help("place/transition nets (ptnet) and symmetric nets (symmetricnet) are"));
    }
    let mut reader = Reader { coloured, ..Reader::default() };
    reader.scope.net.name =
        net.text("name").filter(|n| !n.is_empty()).unwrap_or(net.attribute("id")?).to_string();
    reader.declarations(net)?;
    let mut nodes = vec![];
    collect(net, &mut nodes)?;
    nodes.iter().try_for_each(|e| reader.node(*e))?;
    reader.references()?;
    nodes.iter().filter(|e| e.name() == "arc").try_for_each(|e| reader.arc(*e))?;
    let mut net = reader.scope.net;
    name(net.places.iter_mut().map(|p| (&p.id, &mut p.name)));
    name(net.transitions.iter_mut().map(|t| (&t.id, &mut t.name)));
    Ok(net)
}

/// Places, transitions and arcs of a net and its pages; everything else by name.
fn collect<'a, 'i: 'a>(e: El<'a, 'i>, into: &mut Vec<El<'a, 'i>>) -> Res<()> {
    for c in e.children() {
        match c.name() {
            "page" => collect(c, into)?,
            "place" | "transition" | "arc" | "referencePlace" | "referenceTransition" => into.push(c),
            "name" | "declaration" | "graphics" | "toolspecific" => {}
            _ => return Err(c.unsupported("an element of this kind in a net")),
        }
    }
    Ok(())
}

/// Names that two have, or that are the id of another, are replaced by ids.
fn name<'n>(all: impl Iterator<Item = (&'n String, &'n mut String)>) {
    let all: Vec<_> = all.collect();
    let ids: HashSet<String> = all.iter().map(|(id, _)| (*id).clone()).collect();
    let mut count: HashMap<String, usize> = HashMap::new();
    all.iter().for_each(|(_, name)| *count.entry((**name).clone()).or_default() += 1);
    for (id, name) in all {
        if name.is_empty() || count.get(name) != Some(&1) || (name != id && ids.contains(name)) {
            name.clone_from(id);
        }
    }
}

/// Where an id of a node leads.
#[derive(Clone)]
enum Node {
    Place(usize),
    Transition(usize),
    Reference(String),
}

#[derive(Default)]
struct Reader<'a, 'i> {
    scope: Scope,
    coloured: bool,
    nodes: HashMap<String, Node>,
    references: Vec<El<'a, 'i>>,
}

impl<'a, 'i: 'a> Reader<'a, 'i> {
    fn declare(&mut self, e: El, id: &str, what: Declared) -> Res<()> {
        match self.scope.ids.insert(id.to_string(), what) {
            None => Ok(()),
            Some(_) => Err(e.error("N0206", format!("`{id}` is declared twice"))),
        }
    }

    /// All declarations: sorts first, since they may come in any order, then what is made of them.
    fn declarations(&mut self, net: El<'a, 'i>) -> Res<()> {
        let mut all = vec![];
        let of_pages = net.node.descendants().filter(|n| n.tag_name().name() == "declaration");
        for node in of_pages {
            let e = El { node, file: net.file };
            let is_here = node.parent().is_some_and(|p| ["net", "page"].contains(&p.tag_name().name()));
            if let Some(s) = e.child("structure").filter(|_| is_here)
                && let Some(declarations) = s.child("declarations")
            {
                all.extend(declarations.children());
            }
        }
        if let Some(first) = all.first().filter(|_| !self.coloured) {
            return Err(first.unsupported("a declaration in a place/transition net"));
        }
        let known = ["namedsort", "partition", "variabledecl"];
        if let Some(e) = all.iter().find(|e| !known.contains(&e.name())) {
            return Err(e.unsupported("a declaration of this kind"));
        }
        let sorts: Vec<El> = all.iter().copied().filter(|e| e.name() == "namedsort").collect();
        let is_made = |e: &El| e.only().is_ok_and(|s| ["productsort", "usersort"].contains(&s.name()));
        let (mut made, basic): (Vec<El>, Vec<El>) = sorts.into_iter().partition(is_made);
        basic.into_iter().try_for_each(|e| self.basic(e))?;
        // Sorts that are made of others, in whatever order they come: each round declares at least one.
        while !made.is_empty() {
            let (ready, rest): (Vec<El>, Vec<El>) = made.iter().copied().partition(|e| self.is_ready(*e));
            if ready.is_empty() {
                let e = rest[0];
                // Says what is missing; if nothing is, they are made of each other.
                self.scope.sort(e.only()?)?;
                return Err(e.error("N0207", "a sort that is made of itself"));
            }
            for e in ready {
                let sort = self.scope.sort(e.only()?)?;
                self.declare(e, e.attribute("id")?, Declared::Sort(sort))?;
            }
            made = rest;
        }
        for e in all.iter().filter(|e| e.name() == "partition") {
            self.partition(*e)?;
        }
        for e in all.iter().filter(|e| e.name() == "variabledecl") {
            let name = e.node.attribute("name").unwrap_or(e.attribute("id")?).to_string();
            let [class] = self.scope.sort(e.only()?)?[..] else {
                return Err(e.unsupported("a variable for tuples"));
            };
            self.scope.net.variables.push(Variable { name, class });
            self.declare(*e, e.attribute("id")?, Declared::Variable(self.scope.net.variables.len() - 1))?;
        }
        Ok(())
    }

    fn is_ready(&self, e: El) -> bool {
        let uses = |n: roxmltree::Node| {
            n.tag_name().name() != "usersort"
                || n.attribute("declaration").is_some_and(|d| self.scope.ids.contains_key(d))
        };
        e.node.descendants().all(uses)
    }

    fn basic(&mut self, e: El) -> Res<()> {
        let id = e.attribute("id")?;
        let name = e.node.attribute("name").unwrap_or(id).to_string();
        let sort = e.only()?;
        let (kind, colours) = match sort.name() {
            "dot" => {
                let sort = self.scope.sort(sort)?;
                return self.declare(e, id, Declared::Sort(sort));
            }
            "cyclicenumeration" => (Kind::Cyclic, None),
            "finiteenumeration" => (Kind::Enumeration, None),
            "finiteintrange" => (Kind::Range, Some(range(sort)?)),
            _ => return Err(sort.unsupported("a sort of this kind")),
        };
        let class = self.scope.net.classes.len();
        let mut constants: Vec<El> = vec![];
        let colours = match colours {
            Some(colours) => colours,
            None => {
                for c in sort.children() {
                    if c.name() != "feconstant" {
                        return Err(c.unsupported("an element of an enumeration"));
                    }
                    constants.push(c);
                }
                let name = |c: &El| Ok(c.node.attribute("name").unwrap_or(c.attribute("id")?).to_string());
                constants.iter().map(name).collect::<Res<_>>()?
            }
        };
        if colours.is_empty() || colours.len() > MAX_COLOURS {
            return Err(sort.error("N0208", format!("a class has 1 to {MAX_COLOURS} colours")));
        }
        self.scope.net.classes.push(Class { name, kind, colours, ordered_by: None });
        for (i, c) in constants.iter().enumerate() {
            self.declare(*c, c.attribute("id")?, Declared::Colour(class, i as u32))?;
        }
        self.declare(e, id, Declared::Sort(vec![class]))
    }

    fn partition(&mut self, e: El) -> Res<()> {
        let id = e.attribute("id")?;
        let name = e.node.attribute("name").unwrap_or(id).to_string();
        let mut parts: Vec<El> = e.children().collect();
        let sort = parts.iter().position(|p| p.name() == "usersort").map(|i| parts.remove(i));
        let sort = sort.ok_or_else(|| e.error("N0103", "a partition says of which sort it is"))?;
        let [class] = self.scope.sort(sort)?[..] else {
            return Err(sort.unsupported("a partition of tuples"));
        };
        let p = self.scope.net.partitions.len();
        let mut of: Vec<Option<u32>> = vec![None; self.scope.net.classes[class].colours.len()];
        let mut elements = vec![];
        for (i, part) in parts.into_iter().enumerate() {
            if part.name() != "partitionelement" {
                return Err(part.unsupported("a part of a partition"));
            }
            let id = part.attribute("id")?;
            for c in part.children() {
                let declared = match c.name() {
                    "useroperator" => self.scope.declared(c, c.attribute("declaration")?)?,
                    _ => return Err(c.unsupported("a part of a partition's element")),
                };
                match declared {
                    Declared::Colour(k, colour) if *k == class => {
                        if of[*colour as usize].replace(i as u32).is_some() {
                            return Err(c.error("N0209", "this colour is in two elements of the partition"));
                        }
                    }
                    _ => return Err(c.error("N0203", "this is no colour of the class that is divided")),
                }
            }
            self.declare(part, id, Declared::Element(p, i as u32))?;
            elements.push(part.node.attribute("name").unwrap_or(id).to_string());
        }
        let of: Option<Vec<u32>> = of.into_iter().collect();
        let of = of.ok_or_else(|| e.error("N0209", "some colour is in no element of the partition"))?;
        self.scope.net.partitions.push(Partition { name, class, of, elements });
        self.declare(e, id, Declared::Partition(p))
    }

    /// A place, a transition, or one that stands for another.
    fn node(&mut self, e: El<'a, 'i>) -> Res<()> {
        let node = match e.name() {
            "place" => Node::Place(self.place(e)?),
            "transition" => Node::Transition(self.transition(e)?),
            "arc" => return Ok(()),
            _ => {
                self.references.push(e);
                Node::Reference(e.attribute("ref")?.to_string())
            }
        };
        match self.nodes.insert(e.attribute("id")?.to_string(), node) {
            None => Ok(()),
            Some(_) => Err(e.error("N0206", "two nodes have this id")),
        }
    }

    fn check_children(&self, e: El, known: &[&str]) -> Res<()> {
        let ignored = ["name", "graphics", "toolspecific"];
        match e.children().find(|c| !known.contains(&c.name()) && !ignored.contains(&c.name())) {
            Some(c) => Err(c.unsupported("a part of this kind")),
            None => Ok(()),
        }
    }

    fn place(&mut self, e: El) -> Res<usize> {
        let id = e.attribute("id")?.to_string();
        let name = e.text("name").unwrap_or_default().to_string();
        let (domain, marking);
        if self.coloured {
            self.check_children(e, &["type", "hlinitialMarking"])?;
            let sort = e.child("type").and_then(|t| t.child("structure"));
            let sort = sort.ok_or_else(|| e.error("N0103", format!("the place {id} has no type")))?;
            domain = self.scope.sort(sort.only()?)?;
            marking = match e.child("hlinitialMarking").and_then(|m| m.child("structure")) {
                Some(m) if m.children().next().is_some() => {
                    if let Some(v) = m.node.descendants().find(|n| n.tag_name().name() == "variable") {
                        let v = El { node: v, file: e.file };
                        return Err(v.error("N0202", "an initial marking has no variables"));
                    }
                    self.scope.bag(m, &domain)?
                }
                _ => Bag::Sum(vec![]),
            };
        } else {
            self.check_children(e, &["initialMarking"])?;
            domain = vec![];
            marking = Bag::Times(tokens(e, "initialMarking", 0)?, Box::new(Bag::Tuple(vec![])));
        }
        self.scope.net.places.push(Place { id, name, domain, marking, span: e.span() });
        Ok(self.scope.net.places.len() - 1)
    }

    fn transition(&mut self, e: El) -> Res<usize> {
        let id = e.attribute("id")?.to_string();
        let name = e.text("name").unwrap_or_default().to_string();
        self.check_children(e, if self.coloured { &["condition"] } else { &[] })?;
        let guard = match e.child("condition").and_then(|c| c.child("structure")) {
            Some(s) if s.children().next().is_some() => self.scope.guard(s)?,
            _ => Guard::Constant(true),
        };
        let (takes, gives) = Default::default();
        self.scope.net.transitions.push(Transition { id, name, guard, takes, gives, span: e.span() });
        Ok(self.scope.net.transitions.len() - 1)
    }

    /// Every reference leads to a node of its kind.
    fn references(&mut self) -> Res<()> {
        for e in std::mem::take(&mut self.references) {
            let id = e.attribute("id")?;
            let found = self.resolve(e, id)?;
            let fits = match found {
                Node::Place(_) => e.name() == "referencePlace",
                Node::Transition(_) => e.name() == "referenceTransition",
                Node::Reference(_) => false,
            };
            if !fits {
                return Err(e.error("N0202", "this refers to a node of another kind"));
            }
            self.nodes.insert(id.to_string(), found);
        }
        Ok(())
    }

    fn resolve(&self, e: El, id: &str) -> Res<Node> {
        let mut id = id.to_string();
        for _ in 0..=self.nodes.len() {
            match self.nodes.get(&id) {
                Some(Node::Reference(to)) => id.clone_from(to),
                Some(found) => return Ok(found.clone()),
                None => return Err(e.error("N0201", format!("there is no node `{id}`"))),
            }
        }
        Err(e.error("N0207", "references that lead in a circle"))
    }

    fn arc(&mut self, e: El) -> Res<()> {
        if let Some(kind) = e.child("type") {
            let what = kind.node.attribute("value").unwrap_or_default();
            if what != "normal" {
                return Err(kind.unsupported(&format!("an arc of the type `{what}`")));
            }
        }
        let inscription = if self.coloured { "hlinscription" } else { "inscription" };
        self.check_children(e, &[inscription, "type"])?;
        let (from, to) = (self.resolve(e, e.attribute("source")?)?, self.resolve(e, e.attribute("target")?)?);
        let (place, transition, is_taken) = match (from, to) {
            (Node::Place(p), Node::Transition(t)) => (p, t, true),
            (Node::Transition(t), Node::Place(p)) => (p, t, false),
            _ => return Err(e.error("N0210", "an arc joins a place and a transition")),
        };
        let domain = self.scope.net.places[place].domain.clone();
        let tokens = if self.coloured {
            let term = e.child(inscription).and_then(|i| i.child("structure"));
            match term.filter(|t| t.children().next().is_some()) {
                Some(term) => self.scope.bag(term, &domain)?,
                None => self.dots(e, &domain)?,
            }
        } else {
            Bag::Times(tokens(e, inscription, 1)?, Box::new(Bag::Tuple(vec![])))
        };
        let arc = Arc { place, tokens, span: e.span() };
        let transition = &mut self.scope.net.transitions[transition];
        if is_taken { &mut transition.takes } else { &mut transition.gives }.push(arc);
        Ok(())
    }

    /// An arc without an inscription moves a dot; nothing else has a default.
    fn dots(&self, e: El, domain: &[ClassId]) -> Res<Bag> {
        let is_dot = |c: &ClassId| self.scope.net.classes[*c].kind == Kind::Dot;
        if !domain.iter().all(is_dot) {
            return Err(e.error("N0103", "an arc of a place with colours has to have an inscription"));
        }
        Ok(Bag::Tuple(domain.iter().map(|c| Component::All(*c)).collect()))
    }
}

/// A number of tokens in a text, or what there is without one.
fn tokens(e: El, child: &str, default: u64) -> Res<u64> {
    match e.child(child) {
        None => Ok(default),
        Some(c) => match e.text(child) {
            Some(text) => c.number(text),
            None => Err(c.error("N0103", format!("`{child}` has no text"))),
        },
    }
}

fn range(e: El) -> Res<Vec<String>> {
    let end = |which| {
        let text = e.attribute(which)?;
        text.parse::<i64>().map_err(|_| e.error("N0104", format!("`{text}` is no number of a range")))
    };
    let (first, last) = (end("start")?, end("end")?);
    let size = last.checked_sub(first).filter(|n| (0..MAX_COLOURS as i64).contains(n));
    size.ok_or_else(|| e.error("N0208", format!("a class has 1 to {MAX_COLOURS} colours")))?;
    Ok((first..=last).map(|n| n.to_string()).collect())
}
