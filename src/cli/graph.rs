//! `kanon graph`: the state graph of a state, or what nauty is given of it.
//!
//! States are numbered from 1 in the order in which an unreduced breadth-first search finds them.

use super::check::symmetry;
use super::{Exit, ScopeOptions, interrupt};
use crate::explore::{Options, StateId, explore};
use crate::model::open::{Opened, Refused};
use crate::report::drawing::Drawing;
use crate::report::{self, dot, picture};
use crate::run::{Deadline, Project};
use crate::symmetry::encode::{Colouring, Encoder, StateGraph};
use crate::symmetry::{Action, Graph, MachineAction, Perm, Reducer, Strategy};
use crate::system::{Machine, System};
use crate::trace;
use crate::trace::fault::fault_message;
use crate::value::element_name;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

#[derive(clap::Args, Clone, Debug)]
pub struct Args {
    /// The machine
    pub file: PathBuf,
    /// Which state, counted from 1 in the order of an unreduced breadth-first search
    #[arg(long, value_name = "N", default_value_t = 1)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..))]
    pub state: u32,
    /// Draw the layered graph, of which nauty is asked a part, with the colours of its vertices
    #[arg(long)]
    pub encoding: bool,
    /// Draw the state that stands for it: `canon`, `nauty` or `auto`
    #[arg(long, value_name = "STRATEGY", default_value = "off", value_parser = symmetry)]
    pub symmetry: Strategy,
    /// Write to this file instead of standard output; `*.svg` is SVG, everything else DOT
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// SVG instead of DOT
    #[arg(long)]
    pub svg: bool,
    /// Stop after this many seconds
    #[arg(long, value_name = "SECONDS", value_parser = super::seconds)]
    pub timeout: Option<Duration>,
    #[command(flatten)]
    pub scope: ScopeOptions,
}

/// Why there is no drawing.
enum Failed {
    Model(Refused),
    /// The command line asks for something that there is not.
    Asked(String),
    Unknown(String),
}

pub fn run(args: &Args) -> Exit {
    if matches!(args.symmetry, Strategy::Flood | Strategy::Markers) {
        let why = format!(
            "with `--symmetry {}` the first state that is met stands for the others, so there is none to draw; \
             `canon`, `nauty` and `auto` have one",
            args.symmetry
        );
        return super::wrong(&why, false);
    }
    let drawing = match drawing(args) {
        Ok(drawing) => drawing,
        Err(Failed::Model(refused)) => return super::refuse(&refused, false),
        Err(Failed::Asked(why)) => return super::wrong(&why, false),
        Err(Failed::Unknown(why)) => return super::failed(&why),
    };
    let by_name = |path: &PathBuf| path.extension().is_some_and(|e| e.eq_ignore_ascii_case("svg"));
    let is_svg = args.svg || args.output.as_ref().is_some_and(by_name);
    let text = if is_svg { picture::svg(&drawing) } else { dot::dot(&drawing) };
    match &args.output {
        None => report::out(&text),
        Some(path) => {
            if let Err(e) = std::fs::write(path, text) {
                return super::wrong(&format!("cannot write {}: {e}", path.display()), false);
            }
        }
    }
    Exit::Holds
}

fn drawing(args: &Args) -> Result<Drawing, Failed> {
    let stop = Deadline::after(args.timeout);
    interrupt::listen(&stop);
    let project = Project::open(&args.file, &args.scope.args()).map_err(Failed::Model)?;
    let solved = project.solve(&stop).map(|s| (s.machine, s.setup));
    let (system, setup) = match solved {
        Ok(solved) => solved,
        Err(diagnostics) => return Err(Failed::Model(project.refuse(diagnostics))),
    };
    if setup.valuations == 0 {
        let why = setup.fault.as_deref().map(fault_message);
        return Err(Failed::Unknown(
            why.map_or_else(|| "no constants were found in time".into(), |(_, m)| m),
        ));
    }
    let row = row(args, &system, &stop)?;
    Ok(drawn(args, &project.opened, &system, row))
}

/// The row of the state that is asked for.
fn row(args: &Args, system: &Machine, stop: &Deadline) -> Result<Vec<u64>, Failed> {
    let options = Options {
        max_states: Some(args.state as usize),
        invariant: false,
        deadlock: false,
        assertions: false,
        goal: false,
        all: true,
        ..Options::default()
    };
    let explored = explore(system, None, &options, &stop.flag, &mut |_| {});
    let explored = explored.map_err(|why| Failed::Asked(why.to_string()))?;
    let id: StateId = args.state - 1;
    if args.state as usize <= explored.store.len() {
        return Ok(explored.store.row(id).to_vec());
    }
    let known = explored.store.len();
    if explored.counts.open == 0 && !stop.is_set() {
        let states = if known == 1 { "1 state".into() } else { format!("{known} states") };
        return Err(Failed::Asked(format!("there is no state {}: the model has {states}", args.state)));
    }
    Err(Failed::Unknown(format!("stopped at {known} states, before state {} was found", args.state)))
}

fn drawn(args: &Args, opened: &Opened, system: &Arc<Machine>, row: Vec<u64>) -> Drawing {
    let model = &opened.model;
    let action = Arc::new(MachineAction::of(system));
    let permuting: Arc<dyn Action> = action.clone();
    let mut notes = vec![];
    let mut title = format!("{}, state {}", model.name, args.state);
    let mut row = row;
    if let Some(mut reducer) = Reducer::new(&permuting, args.symmetry, false) {
        let (key, witness) = reducer.key_with_witness(&row);
        title = format!("{title}, its representative ({})", args.symmetry);
        notes.push(format!("witness: {}", moved(&action, witness)));
        row = key.to_vec();
    }
    let constants = system.constant_values(system.start_of(&row));
    let constants = trace::Trace { constants, steps: vec![] };
    let values = system.variable_values(&row);
    let all = trace::constants(&constants, model).into_iter().chain(trace::variables(&values, model));
    notes.extend(all.map(|(name, value)| format!("{name} = {value}")));
    let encoder = Encoder::new(&action);
    let mut graph = StateGraph::default();
    encoder.graph(&action, &row, &mut graph);
    let mut drawing = Drawing::of_state(&action, &encoder, &graph);
    notes.extend(action.group.fixed_sets(model).iter().map(ToString::to_string));
    if action.group.is_trivial() {
        notes.push("nothing to permute, so the graph has a root and nothing else".into());
    } else {
        let left_out = (model.constants.iter().chain(&model.variables)).map(|d| d.name.to_string());
        let left_out: Vec<String> = left_out.filter(|n| !drawing.labels.contains(n)).collect();
        if !left_out.is_empty() {
            notes.push(format!("left out, since no permutation changes them: {}", left_out.join(", ")));
        }
    }
    if args.encoding {
        let (mut colours, mut layered) = (vec![], Graph::default());
        graph.colours(&mut Colouring::default(), &mut colours);
        graph.layered(&colours, &mut layered);
        drawing = Drawing::of_layers(&drawing, &layered);
        title = format!("{title}, as nauty is given it");
    }
    Drawing { title, notes, ..drawing }
}

/// What a permutation moves, by name.
fn moved(action: &MachineAction, p: &Perm) -> String {
    let mut parts = vec![];
    for o in &action.group.orbitals {
        for i in 0..o.size {
            let image = p.0[(o.first + i) as usize] - o.first;
            if image != i {
                let name = |i| element_name(&action.system.model, o.set, i);
                parts.push(format!("{} to {}", name(i), name(image)));
            }
        }
    }
    if parts.is_empty() { "the state stands for itself".into() } else { parts.join(", ") }
}
