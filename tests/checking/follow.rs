//! Logs made from random walks of random machines, against a judge that looks at all paths of the whole state graph: the
//! same lines are explained, and the same number of states is possible after each.

use crate::support::random::{Choice, Machine as Random};
use crate::support::solved;
use kanon::lang::diag::SourceMap;
use kanon::model::open::Opened;
use kanon::model::{Decl, Model, OpId, Type};
use kanon::system::{self, Fault, Stop, System, Transition, Visitor, initial_states};
use kanon::trace::follow::{Allowed, Followed, follow, why_not};
use kanon::trace::{Step, log};
use kanon::value::{Show, Value};
use serde_json::{Map, Value as Json, json};
use std::collections::{BTreeSet, HashMap};
use std::ops::ControlFlow;

const MOST: usize = 120;

/// The whole state graph of a small machine.
struct Graph {
    constants: Vec<Vec<Option<Value>>>,
    states: Vec<Vec<Value>>,
    steps: Vec<Vec<(Step, usize)>>,
    initial: Vec<usize>,
}

type Here = <system::Machine as System>::Here;

struct Targets<'s> {
    system: &'s system::Machine,
    found: Vec<(Step, Vec<u64>)>,
    is_faulty: bool,
}

impl Visitor<Here> for Targets<'_> {
    fn transition(&mut self, t: Transition<Here>) -> ControlFlow<()> {
        let label = self.system.label(t.operation, t.here);
        self.found.push((Step::of(self.system, &label, t.target), t.target.to_vec()));
        if self.found.len() > MOST { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    fn fault(&mut self, _: usize, _: Box<Fault>) -> ControlFlow<()> {
        self.is_faulty = true;
        ControlFlow::Break(())
    }
}

impl Graph {
    /// None where it is too large, or something in it has no value.
    fn of(machine: &system::Machine) -> Option<Graph> {
        let stop = Stop::default();
        let mut worker = machine.worker(&stop);
        let mut rows: Vec<Vec<u64>> = vec![];
        let all = initial_states(machine, &mut worker, &mut |_, row| {
            rows.push(row.to_vec());
            if rows.len() > MOST { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        let _all_starts = all.complete?;
        let mut graph =
            Graph { constants: vec![], states: vec![], steps: vec![], initial: (0..rows.len()).collect() };
        let mut places: HashMap<Vec<u64>, usize> = rows.iter().cloned().zip(0..).collect();
        let mut at = 0;
        while at < rows.len() {
            let mut targets = Targets { system: machine, found: vec![], is_faulty: false };
            let flow = machine.successors(&mut worker, &rows[at], &mut targets);
            if flow.is_break() || targets.is_faulty || machine.cut(&mut worker).is_some() {
                return None;
            }
            let mut steps = vec![];
            for (step, row) in targets.found {
                if step.params.iter().any(Option::is_none) {
                    return None;
                }
                let place = *places.entry(row.clone()).or_insert(rows.len());
                if place == rows.len() {
                    rows.push(row);
                }
                steps.push((step, place));
            }
            if rows.len() > MOST {
                return None;
            }
            graph.constants.push(machine.constant_values(machine.start_of(&rows[at])));
            graph.states.push(machine.variable_values(&rows[at]));
            graph.steps.push(steps);
            at += 1;
        }
        Some(graph)
    }
}

/// What a line means.
#[derive(Clone, Debug, Default)]
struct Line {
    /// None: nothing happened; a step of this operation, or of any.
    step: Option<Option<OpId>>,
    is_initial: bool,
    constants: Vec<(usize, Value)>,
    before: Vec<(usize, Value)>,
    params: Vec<(usize, Value)>,
    results: Vec<(usize, Value)>,
    state: Vec<(usize, Value)>,
}

fn some(c: &mut Choice, percent: usize, values: impl Iterator<Item = Option<Value>>) -> Vec<(usize, Value)> {
    values.enumerate().filter_map(|(i, v)| Some((i, v?))).filter(|_| c.percent(percent)).collect()
}

/// A walk, with lines about some of what is seen; at most `hidden` steps between two lines are left out.
fn walk(graph: &Graph, hidden: usize, c: &mut Choice) -> Vec<Line> {
    let mut at = graph.initial[c.below(graph.initial.len())];
    let percent = [0, 30, 60, 100][c.below(4)];
    let state = |at: usize, c: &mut Choice| some(c, percent, graph.states[at].iter().cloned().map(Some));
    let mut lines = vec![];
    let mut left_out = 0;
    if c.percent(40) {
        lines.push(Line { is_initial: true, state: state(at, c), ..Line::default() });
    }
    for _ in 0..1 + c.below(8) {
        if c.percent(20) {
            let constants = some(c, 30, graph.constants[at].iter().cloned());
            lines.push(Line { constants, state: state(at, c), ..Line::default() });
            left_out = 0;
        }
        if graph.steps[at].is_empty() {
            break;
        }
        let (step, target) = &graph.steps[at][c.below(graph.steps[at].len())];
        if left_out < hidden && c.percent(40) {
            left_out += 1;
        } else {
            left_out = 0;
            let is_any = c.percent(20);
            let values = |values: &[Option<Value>], c: &mut Choice| match is_any {
                true => vec![],
                false => some(c, 50, values.iter().cloned()),
            };
            lines.push(Line {
                step: Some(if is_any { None } else { step.op }),
                before: if c.percent(20) { state(at, c) } else { vec![] },
                params: values(&step.params, c),
                results: values(&step.results, c),
                state: state(*target, c),
                ..Line::default()
            });
        }
        at = *target;
    }
    if lines.is_empty() {
        lines.push(Line { state: state(at, c), ..Line::default() });
    }
    lines
}

/// Something in a line becomes something else that the machine has somewhere.
fn change(lines: &mut [Line], graph: &Graph, c: &mut Choice) {
    let at = c.below(lines.len());
    let line = &mut lines[at];
    let other = c.below(graph.states.len());
    match c.below(4) {
        0 if !graph.states[other].is_empty() => {
            let v = c.below(graph.states[other].len());
            line.state.retain(|(i, _)| *i != v);
            line.state.push((v, graph.states[other][v].clone()));
        }
        1 if line.step.is_some() && !graph.steps[other].is_empty() => {
            let (step, _) = &graph.steps[other][c.below(graph.steps[other].len())];
            let params = step.params.iter().cloned().enumerate();
            *line = Line {
                step: Some(step.op),
                params: params.filter_map(|(i, v)| Some((i, v?))).collect(),
                state: std::mem::take(&mut line.state),
                ..Line::default()
            };
        }
        2 if !graph.constants[other].is_empty() => {
            let k = c.below(graph.constants[other].len());
            line.constants = graph.constants[other][k].clone().map(|v| (k, v)).into_iter().collect();
        }
        _ => {
            let other = c.below(lines.len());
            if !lines[at].is_initial && !lines[other].is_initial {
                lines.swap(at, other);
            }
        }
    }
}

fn fits(known: &[(usize, Value)], values: &[Value]) -> bool {
    known.iter().all(|(i, v)| values[*i] == *v)
}

fn fits_some(known: &[(usize, Value)], values: &[Option<Value>]) -> bool {
    known.iter().all(|(i, v)| values[*i].as_ref() == Some(v))
}

/// The states that some path is in after each line, path by path.
fn judged(graph: &Graph, lines: &[Line], hidden: usize) -> Vec<BTreeSet<usize>> {
    let mut after = vec![BTreeSet::new(); lines.len()];
    let mut seen = BTreeSet::new();
    // A line that is next, a state, and how many steps were left out since the line before.
    let mut open: Vec<(usize, usize, usize)> = graph.initial.iter().map(|s| (0, *s, 0)).collect();
    while let Some((next, at, left_out)) = open.pop() {
        if next == lines.len() || !seen.insert((next, at, left_out)) {
            continue;
        }
        let line = &lines[next];
        if left_out < hidden && !line.is_initial {
            open.extend(graph.steps[at].iter().map(|(_, t)| (next, *t, left_out + 1)));
        }
        if !fits_some(&line.constants, &graph.constants[at]) {
            continue;
        }
        let mut go = |target: usize| {
            after[next].insert(target);
            open.push((next + 1, target, 0));
        };
        match line.step {
            None if fits(&line.state, &graph.states[at]) => go(at),
            None => {}
            Some(op) => {
                if !fits(&line.before, &graph.states[at]) {
                    continue;
                }
                for (step, target) in &graph.steps[at] {
                    if (op.is_none() || step.op == op)
                        && fits_some(&line.params, &step.params)
                        && fits_some(&line.results, &step.results)
                        && fits(&line.state, &graph.states[*target])
                    {
                        go(*target);
                    }
                }
            }
        }
    }
    after
}

/// A value as JSON: as B text, or by its structure where that says it all.
fn written(v: &Value, ty: &Type, model: &Model, c: &mut Choice) -> Json {
    let text = || Json::String(Show { value: v, ty, model }.to_string());
    if !matches!(ty, Type::Str) && c.percent(30) {
        return text();
    }
    match (v, ty) {
        (Value::Bool(b), _) => (*b).into(),
        (Value::Int(i), _) => i.to_string().parse::<i64>().map_or_else(|_| text(), Into::into),
        (Value::Str(s), _) => (**s).into(),
        (Value::Pair(p), Type::Pair(t)) => {
            json!([written(&p.0, &t.0, model, c), written(&p.1, &t.1, model, c)])
        }
        (Value::Rec(fields), Type::Rec(types)) => {
            let pairs = fields.iter().zip(types.iter());
            Json::Object(pairs.map(|(v, (n, t))| (n.to_string(), written(v, t, model, c))).collect())
        }
        // Both a set of pairs and a sequence is possible: as text.
        (Value::Set(_), Type::Pow(elem)) if elem.as_pair().is_some_and(|(a, _)| *a == Type::Int) => text(),
        (Value::Set(set), Type::Pow(elem)) => set.iter().map(|v| written(v, elem, model, c)).collect(),
        _ => text(),
    }
}

fn text_of(lines: &[Line], model: &Model, c: &mut Choice) -> String {
    let object = |known: &[(usize, Value)], decls: &[&Decl], c: &mut Choice| {
        let pair =
            |(i, v): &(usize, Value)| (decls[*i].name.to_string(), written(v, &decls[*i].ty, model, c));
        Json::Object(known.iter().map(pair).collect())
    };
    let mut text = String::new();
    for line in lines {
        let mut o = Map::new();
        let variables: Vec<&Decl> = model.variables.iter().collect();
        let constants: Vec<&Decl> = model.constants.iter().collect();
        if line.is_initial {
            o.insert("operation".into(), "INITIALISATION".into());
        }
        match line.step {
            None => {}
            Some(None) => {
                o.insert("operation".into(), Json::Null);
            }
            Some(Some(op)) => {
                let op = &model.operations[op.index()];
                o.insert("operation".into(), (*op.name).into());
                let locals = |l: &[_]| l.iter().map(|l| model.local(*l)).collect::<Vec<&Decl>>();
                o.insert("parameters".into(), object(&line.params, &locals(&op.params), c));
                o.insert("results".into(), object(&line.results, &locals(&op.results), c));
            }
        }
        if !line.before.is_empty() {
            o.insert("before".into(), object(&line.before, &variables, c));
        }
        if !line.constants.is_empty() {
            o.insert("constants".into(), object(&line.constants, &constants, c));
        }
        o.insert("state".into(), object(&line.state, &variables, c));
        text += &format!("{}\n", Json::Object(o));
    }
    text
}

fn followed(
    machine: &system::Machine,
    random: &Random,
    text: &str,
    hidden: usize,
) -> (Vec<log::Told>, Followed) {
    let mut sources = SourceMap::default();
    let file = sources.add("log", text);
    let opened =
        Opened { sources, model: random.model.clone(), scope: random.scope.clone(), ..Opened::default() };
    let stop = Stop::default();
    let told = log::read(&opened, file, &[], &stop).unwrap_or_else(|d| panic!("{d:?}\n{text}"));
    let allowed = Allowed { hidden, hidden_events: None, max_states: 1_000 };
    let followed = follow(machine, &told, &allowed, &stop);
    (told, followed)
}

#[test]
fn logs_of_random_walks() {
    let machines = std::env::var("KANON_MACHINES").ok().and_then(|n| n.parse().ok()).unwrap_or(400);
    let (mut explained, mut refused, mut told_why) = (0, 0, 0);
    for seed in 0..machines {
        let random = if seed % 5 == 4 { Random::typed(seed, 8) } else { Random::new(seed, 8) };
        let (machine, setup) = solved(&random.model, &random.scope, 50, &Stop::default());
        if setup.fault.is_some() || setup.truncated.is_some() || setup.valuations == 0 {
            continue;
        }
        let Some(graph) = Graph::of(&machine).filter(|g| !g.initial.is_empty()) else { continue };
        let mut c = Choice::new(seed ^ 0x5eed);
        // Machines that hardly move have nothing to get wrong.
        let rounds = if graph.states.len() < 3 { 2 } else { 30 };
        for round in 0..rounds {
            let hidden = [0, 0, 1, 2][c.below(4)];
            let mut lines = walk(&graph, hidden, &mut c);
            if round % 2 == 1 {
                (0..1 + c.below(3)).for_each(|_| change(&mut lines, &graph, &mut c));
            }
            let expected = judged(&graph, &lines, hidden);
            let first = expected.iter().position(BTreeSet::is_empty);
            let counts: Vec<usize> = expected.iter().map(BTreeSet::len).take_while(|n| *n > 0).collect();
            assert!(round % 2 == 1 || first.is_none(), "the judge refuses a walk");
            let text = text_of(&lines, &random.model, &mut c);
            let (told, found) = followed(&machine, &random, &text, hidden);
            let context = || format!("seed {seed}, round {round}, hidden {hidden}\n{text}");
            assert!(found.missing.is_none(), "{:?} {}", found.missing, context());
            assert_eq!(found.counts, counts, "{}", context());
            match first {
                None => {
                    let hidden_steps = found.lines.iter().filter(|l| l.is_none()).count();
                    let steps = lines.iter().filter(|l| l.step.is_some()).count();
                    assert_eq!(found.path.labels.len(), steps + hidden_steps, "{}", context());
                    let trace = kanon::trace::Trace::of(&machine, &found.path);
                    assert_eq!(kanon::trace::replay::confirm(&machine, &trace), Ok(()), "{}", context());
                    explained += 1;
                }
                Some(line) => {
                    assert!(!found.before.is_empty(), "{}", context());
                    for row in found.before.iter().take(2) {
                        let why = why_not(&machine, row, &told[line], &Stop::default());
                        assert!(!why.why.is_empty(), "{}", context());
                        told_why += 1;
                    }
                    refused += 1;
                }
            }
        }
    }
    println!("{explained} explained, {refused} refused, {told_why} reasons");
    assert!(explained > machines as usize / 2 && refused > machines as usize / 6, "{explained} {refused}");
}
