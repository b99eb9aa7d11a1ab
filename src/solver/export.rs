//! The paths of one length as files for other solvers: DIMACS for SAT, SMT-LIB 2 for SMT. Both have a model exactly if
//! a bad state is reached after this many steps.

use crate::blast::{Blaster, Width};
use crate::gates::{Clauses, Lit, Tseitin};
use crate::smtlib::{Writer, literal};
use crate::solver::Stop;
use crate::term::{Bool, Terms, Var};
use crate::transition::Transitions;
use crate::unroll::Unrolling;
use std::fmt::Write;

/// What is true of a path of so many steps from an initial state to a bad one.
fn path(terms: &mut Terms, system: &Transitions, length: usize) -> Vec<Bool> {
    let mut unrolling = Unrolling::new(system);
    let mut claims = vec![system.axioms, unrolling.init(terms)];
    for time in 0..length {
        claims.push(unrolling.any_step(terms, time));
    }
    let mut bad: Vec<Bool> =
        (0..system.properties.len()).map(|p| unrolling.is_bad(terms, length, p)).collect();
    bad.push(unrolling.is_undefined(terms, length));
    claims.push(terms.or(bad));
    claims
}

/// SMT-LIB 2, integers exact.
pub fn smt2(terms: &mut Terms, system: &Transitions, length: usize) -> String {
    let mut out = format!("; a bad state after {length} steps\n(set-logic ALL)\n");
    let mut writer = Writer::default();
    for claim in path(terms, system, length) {
        writer.define(terms, claim, &mut out);
        // Writing to a string cannot fail.
        let _ = writeln!(out, "(assert {})", literal(claim));
    }
    out.push_str("(check-sat)\n");
    out
}

#[derive(Default)]
struct File {
    wires: u32,
    clauses: usize,
    text: String,
}

impl Clauses for File {
    fn wire(&mut self) -> u32 {
        self.wires += 1;
        self.wires
    }

    fn clause(&mut self, parts: &[Lit]) {
        self.clauses += 1;
        for p in parts {
            let _ = write!(self.text, "{}{} ", if p.is_inverted() { "-" } else { "" }, p.wire());
        }
        self.text.push_str("0\n");
    }
}

/// DIMACS, integers without bounds in words of this width: a model is a path, but without one there may be a path with
/// larger numbers, and then a comment says so. None if there was no time.
pub fn dimacs(
    terms: &mut Terms,
    system: &Transitions,
    length: usize,
    width: usize,
    stop: &Stop,
) -> Option<String> {
    let claims = path(terms, system, length);
    let mut b = Blaster::new(Tseitin(File::default()), Width(width.max(1)), None);
    let mut can_overflow = false;
    for claim in claims {
        let (lit, overflow) = b.bool(terms, claim, stop)?;
        b.circuit.require(lit);
        b.circuit.require(!overflow);
        can_overflow |= overflow != Lit::FALSE;
    }
    let mut out = format!("c a bad state after {length} steps\n");
    if can_overflow {
        let _ = writeln!(out, "c integers without bounds have {width} bits here: not all of them fit");
    }
    let mut lines = vec![];
    let shown = |l: Lit| match l {
        Lit::TRUE => "true".to_string(),
        Lit::FALSE => "false".to_string(),
        _ => format!("{}{}", if l.is_inverted() { "-" } else { "" }, l.wire()),
    };
    let clean = |v: Var| terms.name(v).chars().filter(|c| !c.is_control()).collect::<String>();
    for (v, lit) in b.bool_vars() {
        lines.push((Var::Bool(v), format!("c {} = {}", clean(Var::Bool(v)), shown(lit))));
    }
    for (v, bits) in b.int_vars() {
        let bits: Vec<String> = bits.iter().map(|&l| shown(l)).collect();
        lines.push((Var::Int(v), format!("c {} = {}", clean(Var::Int(v)), bits.join(" "))));
    }
    lines.sort();
    for (_, line) in lines {
        let _ = writeln!(out, "{line}");
    }
    let File { wires, clauses, text } = &b.circuit.sink.0;
    let _ = writeln!(out, "p cnf {wires} {clauses}");
    out.push_str(text);
    Some(out)
}
