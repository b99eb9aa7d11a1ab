//! Place/transition nets, read from PNML and checked by kanon: deadlocks, safety, formulas over transitions.
//!
//!     cargo run --example petri -- examples/nets/philosophers.pnml
//!     cargo run --example petri -- examples/nets/philosophers.pnml 'G F [done1]'

use kanon::run::system::{check, ltl};
use kanon::system::{
    Check, Complete, Operation, Res, Starts, Stop, System, Transition, Visit, Visitor, Width,
};
use kanon::{Options, show};
use std::collections::HashMap;
use std::ops::ControlFlow;

/// A net: how many tokens a transition takes from each place and puts there.
#[derive(Debug, Default)]
pub struct Net {
    places: Vec<String>,
    marking: Vec<u64>,
    transitions: Vec<Operation>,
    takes: Vec<Vec<(usize, u64)>>,
    gives: Vec<Vec<(usize, u64)>>,
    checks: Vec<Check>,
}

/// The text of a child such as `<name><text>…</text></name>`.
fn text<'a>(node: roxmltree::Node<'a, '_>, child: &str) -> Option<&'a str> {
    let child = node.children().find(|c| c.has_tag_name_local(child))?;
    child.children().find(|c| c.has_tag_name_local("text"))?.text().map(str::trim)
}

trait Local {
    fn has_tag_name_local(&self, name: &str) -> bool;
}

impl Local for roxmltree::Node<'_, '_> {
    /// Whatever the namespace: there are three editions of PNML.
    fn has_tag_name_local(&self, name: &str) -> bool {
        self.tag_name().name() == name
    }
}

impl Net {
    /// Reads the first net of a PNML document.
    ///
    /// # Errors
    /// What is missing, or no place/transition net.
    pub fn read(document: &str) -> Result<Net, String> {
        let document = roxmltree::Document::parse(document).map_err(|e| e.to_string())?;
        let net = document.descendants().find(|n| n.has_tag_name_local("net")).ok_or("there is no net")?;
        let id = |n: roxmltree::Node| -> Result<String, String> {
            Ok(n.attribute("id").ok_or("a node without id")?.to_string())
        };
        let number = |text: &str| text.parse::<u64>().map_err(|e| format!("`{text}`: {e}"));
        let mut out = Net { checks: vec![Check::invariant("safe")], ..Net::default() };
        let (mut places, mut transitions) = (HashMap::new(), HashMap::new());
        for node in net.descendants() {
            let name = |id: &str| text(node, "name").unwrap_or(id).to_string();
            if node.has_tag_name_local("place") {
                let id = id(node)?;
                out.places.push(name(&id));
                out.marking.push(text(node, "initialMarking").map_or(Ok(0), number)?);
                places.insert(id, out.places.len() - 1);
            } else if node.has_tag_name_local("transition") {
                let id = id(node)?;
                out.transitions.push(Operation::named(name(&id)));
                transitions.insert(id, out.transitions.len() - 1);
            }
        }
        out.takes = vec![vec![]; out.transitions.len()];
        out.gives = out.takes.clone();
        for arc in net.descendants().filter(|n| n.has_tag_name_local("arc")) {
            let end = |which| arc.attribute(which).ok_or(format!("an arc without {which}"));
            let (from, to) = (end("source")?, end("target")?);
            let weight = text(arc, "inscription").map_or(Ok(1), number)?;
            match (places.get(from), transitions.get(to), transitions.get(from), places.get(to)) {
                (Some(place), Some(t), ..) => out.takes[*t].push((*place, weight)),
                (_, _, Some(t), Some(place)) => out.gives[*t].push((*place, weight)),
                _ => return Err(format!("the arc from {from} to {to} joins no place and transition")),
            }
        }
        Ok(out)
    }
}

impl System for Net {
    type Worker = Vec<u64>;
    type Here = Vec<u64>;

    fn widths(&self) -> Vec<Width> {
        vec![Width::Name; self.places.len()] // any number, mostly small
    }
    fn operations(&self) -> &[Operation] {
        &self.transitions
    }
    fn checks(&self) -> &[Check] {
        &self.checks
    }
    fn worker(&self, _: &Stop) -> Vec<u64> {
        vec![]
    }
    fn starts(&self, w: &mut Vec<u64>, visit: &mut dyn Starts<Vec<u64>>) -> Option<Complete> {
        visit.start(w, 0).is_continue().then(Complete::every_start_was_visited)
    }
    fn initial(&self, w: &mut Vec<u64>, _: usize, visit: &mut Visit<'_, Vec<u64>>) -> Res<ControlFlow<()>> {
        w.clone_from(&self.marking);
        Ok(visit(w, &self.marking))
    }
    fn successors(
        &self,
        w: &mut Vec<u64>,
        row: &[u64],
        visit: &mut dyn Visitor<Vec<u64>>,
    ) -> ControlFlow<()> {
        for operation in 0..self.transitions.len() {
            let mut next = row.to_vec();
            let enough = self.takes[operation].iter().all(|(place, n)| {
                let left = next[*place].checked_sub(*n);
                next[*place] = left.unwrap_or(0);
                left.is_some()
            });
            if enough {
                self.gives[operation].iter().for_each(|(place, n)| next[*place] += n);
                w.clone_from(&next);
                visit.transition(Transition { operation, target: &next, here: w })?;
            }
        }
        ControlFlow::Continue(())
    }
    fn load<'w>(&self, w: &'w mut Vec<u64>, row: &[u64]) -> &'w mut Vec<u64> {
        *w = row.to_vec();
        w
    }
    fn holds(&self, _: usize, here: &mut Vec<u64>) -> Res<bool> {
        Ok(here.iter().all(|n| *n <= 1))
    }
    fn show_state(&self, row: &[u64]) -> Vec<(String, String)> {
        let marked = self.places.iter().zip(row).filter(|(_, n)| **n > 0);
        marked.map(|(p, n)| (p.clone(), n.to_string())).collect()
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut args = std::env::args().skip(1);
    let file = args.next().ok_or("which net? for instance examples/nets/philosophers.pnml")?;
    let net = Net::read(&std::fs::read_to_string(&file)?)?;
    let options = Options { max_states: Some(10_000_000), ..Options::default() };
    println!("{}", show::text(&net, &check(&net, None, &options)?));
    for formula in args {
        let (verdict, _) = ltl(&net, None, &formula, &options).map_err(|d| d.message)?;
        println!("{formula}: {}", show::formula(&net, &verdict));
    }
    Ok(())
}
