//! A transition system as a circuit with latches: AIGER 1.9, as text or binary, for other model checkers.
//!
//! Steps are relations, latches are functions. So the next state is read from inputs, and a latch remembers whether one
//! of them was no step (`invalid`); another one tells the first moment, in which nothing is there yet, from the others
//! (`initialised`). A moment is bad if it is initialised, not invalid and the state is bad.
//! This way a bad state need not have a successor, as it would if steps were constraints.
//!
//! Integers without bounds have a width here. `Beyond` says what becomes of numbers that do not fit.

use crate::blast::{Blaster, Width};
use crate::gates::{Lit, Sink};
use crate::solver::Stop;
use crate::substitute::Substitution;
use crate::term::{Bool, Terms, Var};
use crate::transition::Transitions;
use hashbrown::{HashMap, HashSet};
use std::fmt::Write;

/// What a circuit says about numbers that do not fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Beyond {
    /// Every behaviour is in the circuit, and others: that nothing bad is reached is true of the system.
    Allowed,
    /// A step that needs such a number is none: that something bad is reached is true of the system.
    Excluded,
}

impl Beyond {
    /// For people who read a file.
    pub(crate) fn remark(self, width: usize) -> String {
        let meaning = match self {
            Beyond::Allowed => "a larger one is taken for any, so that only the absence of errors is certain",
            Beyond::Excluded => "a larger one is left out, so that only errors are certain",
        };
        format!("integers without bounds have {width} bits: {meaning}")
    }
}

/// An and-inverter graph in the making.
#[derive(Default)]
struct Graph {
    /// For each wire but the constant: an input, or the two inputs of a gate.
    wires: Vec<Option<(Lit, Lit)>>,
    claims: Vec<Lit>,
}

impl Sink for Graph {
    fn input(&mut self) -> Lit {
        self.wires.push(None);
        Lit::of_wire(self.wires.len() as u32)
    }

    fn and(&mut self, parts: &[Lit]) -> Lit {
        // Balanced, so that it is not deeper than it must be.
        match parts {
            [] => Lit::TRUE,
            [one] => *one,
            _ => {
                let (left, right) = parts.split_at(parts.len() / 2);
                let (left, right) = (self.and(left), self.and(right));
                self.wires.push(Some((left, right)));
                Lit::of_wire(self.wires.len() as u32)
            }
        }
    }

    fn require(&mut self, claim: Lit) {
        self.claims.push(claim);
    }
}

/// A circuit with latches, all of which are false at first.
pub struct Aiger {
    /// The wire and its name; what is free is nothing that has one.
    inputs: Vec<(u32, String)>,
    /// The wire, what it becomes, its name.
    latches: Vec<(u32, Lit, String)>,
    bad: Vec<(Lit, String)>,
    /// A wire and the two inputs of its gate, in an order in which inputs come first.
    gates: Vec<(u32, Lit, Lit)>,
    /// Whether a number may not fit.
    pub can_overflow: bool,
    /// For people, at the end of the file.
    pub remarks: Vec<String>,
}

/// The circuit of a system. None if there was no time.
pub fn circuit(
    terms: &mut Terms,
    system: &Transitions,
    width: usize,
    beyond: Beyond,
    stop: &Stop,
) -> Option<Aiger> {
    let mut names: HashMap<u32, String> = HashMap::new();
    let mut b = Blaster::new(Graph::default(), Width(width.max(1)), None);
    let initialised = b.circuit.input();
    let invalid = b.circuit.input();
    names.insert(initialised.wire(), "initialised".into());
    names.insert(invalid.wire(), "invalid".into());
    let is_initialised = terms.bool_var("initialised");
    b.set_bool_var(is_initialised, initialised);
    let is_initialised = terms.of_bool(is_initialised);
    // What is remembered was inside its bounds when it was read. Before that it is nothing, so nothing is asked of it.
    for &v in system.cells.iter().map(|c| &c.now).chain(&system.rigid) {
        bits(terms, &mut b, v);
    }
    b.circuit.sink.claims.clear();
    // Constants are read once, and then remembered.
    let mut rigid = Substitution::new();
    let mut kept = vec![];
    for &v in &system.rigid {
        let name = format!("{} (first)", terms.name(v));
        let first = terms.like(v, name);
        match (v, first) {
            (Var::Bool(x), Var::Bool(y)) => {
                let (old, new) = (terms.of_bool(x), terms.of_bool(y));
                let value = terms.ite(is_initialised, old, new);
                rigid.replace_bool(x, value);
            }
            (Var::Int(x), Var::Int(y)) => {
                let (old, new) = (terms.of_int(x), terms.of_int(y));
                let value = terms.ite_int(is_initialised, old, new);
                rigid.replace_int(x, value);
            }
            _ => {}
        }
        kept.push((v, first));
    }
    let mut overflows = vec![];
    let mut encode = |terms: &mut Terms, b: &mut Blaster<Graph>, claim: Bool| {
        let claim = rigid.bool(terms, claim);
        let (lit, overflow) = b.bool(terms, claim, stop)?;
        overflows.push(overflow);
        Some(match beyond {
            Beyond::Allowed => lit,
            Beyond::Excluded => b.circuit.and([lit, !overflow]),
        })
    };
    let (axioms, init) = (encode(terms, &mut b, system.axioms)?, encode(terms, &mut b, system.init)?);
    let start = b.circuit.and([axioms, init]);
    let mut steps = vec![];
    for event in &system.events {
        steps.push(encode(terms, &mut b, event.step)?);
    }
    let step = b.circuit.or(steps);
    let mut bad = vec![];
    let undefined = encode(terms, &mut b, system.init_undefined)?;
    let undefined = b.circuit.and([!initialised, axioms, undefined]);
    bad.push((undefined, "the initialisation is undefined".to_string()));
    for p in &system.properties {
        let lit = encode(terms, &mut b, p.is_bad)?;
        bad.push((b.circuit.and([initialised, lit]), p.name.to_string()));
    }
    for e in &system.events {
        let lit = encode(terms, &mut b, e.is_undefined)?;
        bad.push((b.circuit.and([initialised, lit]), format!("{} is undefined", e.name)));
    }
    bad.retain(|(lit, _)| *lit != Lit::FALSE);
    // Latches: cells, constants, and the two.
    let mut latches = vec![];
    let cells: Vec<(Var, Var)> = system.cells.iter().map(|c| (c.now, c.next)).collect();
    let pairs = cells.into_iter().map(|pair| (pair, false)).chain(kept.into_iter().map(|pair| (pair, true)));
    for ((v, next), is_rigid) in pairs {
        let (now_bits, next_bits) = (bits(terms, &mut b, v), bits(terms, &mut b, next));
        for (n, (now, next)) in now_bits.into_iter().zip(next_bits).enumerate() {
            // Bits that never change are no latches.
            if now.is_constant() {
                continue;
            }
            let next = if is_rigid { b.circuit.ite(initialised, now, next) } else { next };
            latches.push((now.wire(), next, format!("{}[{n}]", terms.name(v))));
        }
    }
    let claims = std::mem::take(&mut b.circuit.sink.claims);
    let claims = b.circuit.and(claims);
    let moves = b.circuit.ite(initialised, step, start);
    let is_valid = b.circuit.and([moves, claims]);
    latches.push((initialised.wire(), Lit::TRUE, "initialised".into()));
    let becomes = b.circuit.or([invalid, !is_valid]);
    latches.push((invalid.wire(), becomes, "invalid".into()));
    let bad =
        bad.into_iter().map(|(lit, name)| (b.circuit.and([lit, !invalid, claims]), name)).collect::<Vec<_>>();
    // Names of inputs, from the variables that have them.
    for (v, lit) in b.bool_vars() {
        names.entry(lit.wire()).or_insert_with(|| terms.name(Var::Bool(v)).to_string());
    }
    for (v, bits) in b.int_vars() {
        for (n, bit) in bits.iter().enumerate() {
            names.entry(bit.wire()).or_insert_with(|| format!("{}[{n}]", terms.name(Var::Int(v))));
        }
    }
    let is_latch: HashSet<u32> = latches.iter().map(|l| l.0).collect();
    let (mut inputs, mut gates) = (vec![], vec![]);
    for (n, gate) in b.circuit.sink.wires.iter().enumerate() {
        let wire = n as u32 + 1;
        match gate {
            Some((left, right)) => gates.push((wire, *left, *right)),
            None if is_latch.contains(&wire) => {}
            None => inputs.push((wire, names.remove(&wire).unwrap_or_default())),
        }
    }
    let can_overflow = overflows.iter().any(|o| *o != Lit::FALSE);
    let remarks = if can_overflow { vec![beyond.remark(width)] } else { vec![] };
    Some(Aiger { inputs, latches, bad, gates, can_overflow, remarks })
}

fn bits(terms: &Terms, b: &mut Blaster<Graph>, v: Var) -> Vec<Lit> {
    match v {
        Var::Bool(v) => vec![b.bool_var(v)],
        Var::Int(v) => b.int_var(terms, v).0,
    }
}

impl Aiger {
    /// Inputs, latches, gates, bad literals.
    pub fn size(&self) -> (usize, usize, usize, usize) {
        (self.inputs.len(), self.latches.len(), self.gates.len(), self.bad.len())
    }

    /// The numbers of wires in a file: inputs, latches, gates, in this order. A literal is twice that, and one more if it
    /// is inverted; 0 is false.
    fn numbers(&self) -> impl Fn(Lit) -> u32 + '_ {
        let wires = self.inputs.iter().map(|i| i.0).chain(self.latches.iter().map(|l| l.0));
        let all = wires.chain(self.gates.iter().map(|g| g.0));
        let numbers: HashMap<u32, u32> = all.zip(1..).collect();
        move |lit: Lit| match numbers.get(&lit.wire()) {
            Some(n) => 2 * n + u32::from(lit.is_inverted()),
            None => u32::from(!lit.is_inverted()),
        }
    }

    fn header(&self, format: &str) -> String {
        let (inputs, latches, gates, bad) = self.size();
        format!("{format} {} {inputs} {latches} 0 {gates} {bad}\n", inputs + latches + gates)
    }

    /// Names and a comment, the same in both formats.
    fn names(&self, out: &mut String) {
        // abc takes no name twice.
        let mut seen = HashSet::new();
        let mut clean = |name: &str| {
            let name: String = name.chars().filter(|c| !c.is_control()).collect();
            let mut unique = name.clone();
            let mut n = 1;
            while !seen.insert(unique.clone()) {
                n += 1;
                unique = format!("{name} ({n})");
            }
            unique
        };
        // Writing to a string cannot fail.
        for (n, (wire, name)) in self.inputs.iter().enumerate() {
            let name = if name.is_empty() { format!("free {wire}") } else { name.clone() };
            let _ = writeln!(out, "i{n} {}", clean(&name));
        }
        for (n, (_, _, name)) in self.latches.iter().enumerate() {
            let _ = writeln!(out, "l{n} {}", clean(name));
        }
        for (n, (_, name)) in self.bad.iter().enumerate() {
            let _ = writeln!(out, "b{n} {}", clean(name));
        }
        out.push_str("c\n");
        for remark in &self.remarks {
            let _ = writeln!(out, "{}", remark.chars().filter(|c| !c.is_control()).collect::<String>());
        }
    }

    /// As text: `aag`.
    pub fn text(&self) -> String {
        let number = self.numbers();
        let mut out = self.header("aag");
        for &(wire, _) in &self.inputs {
            let _ = writeln!(out, "{}", number(Lit::of_wire(wire)));
        }
        for &(wire, next, _) in &self.latches {
            let _ = writeln!(out, "{} {}", number(Lit::of_wire(wire)), number(next));
        }
        for &(lit, _) in &self.bad {
            let _ = writeln!(out, "{}", number(lit));
        }
        for &(wire, left, right) in &self.gates {
            let _ = writeln!(out, "{} {} {}", number(Lit::of_wire(wire)), number(left), number(right));
        }
        self.names(&mut out);
        out
    }

    /// As bytes: `aig`.
    pub fn binary(&self) -> Vec<u8> {
        let number = self.numbers();
        let mut out = self.header("aig");
        for &(_, next, _) in &self.latches {
            let _ = writeln!(out, "{}", number(next));
        }
        for &(lit, _) in &self.bad {
            let _ = writeln!(out, "{}", number(lit));
        }
        let mut out = out.into_bytes();
        for &(wire, left, right) in &self.gates {
            let this = number(Lit::of_wire(wire));
            let (a, b) = (number(left).max(number(right)), number(left).min(number(right)));
            // Differences, seven bits at a time.
            for mut delta in [this - a, a - b] {
                while delta > 0x7f {
                    out.push((delta & 0x7f) as u8 | 0x80);
                    delta >>= 7;
                }
                out.push(delta as u8);
            }
        }
        let mut names = String::new();
        self.names(&mut names);
        out.extend(names.into_bytes());
        out
    }
}
