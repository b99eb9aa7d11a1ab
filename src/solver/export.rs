//! The paths up to a length as files for other solvers: DIMACS for SAT, SMT-LIB 2 for SMT. Both have a model exactly if
//! a bad state is reached within this many steps; that INITIALISATION has no value counts, too.

use crate::aiger::Beyond;
use crate::blast::{Blaster, Width};
use crate::gates::{Clauses, Lit, Tseitin};
use crate::smtlib::query;
use crate::solver::Stop;
use crate::term::{Bool, Terms, Var};
use crate::transition::Transitions;
use crate::unroll::Unrolling;
use std::fmt::Write;

/// What is true of a path of at most so many steps from an initial state to a bad one. What comes behind the bad state is
/// free: it need not have a successor.
fn path(terms: &mut Terms, system: &Transitions, length: usize) -> Vec<Bool> {
    let mut unrolling = Unrolling::new(system);
    let mut from_here = Bool::FALSE;
    for time in (0..=length).rev() {
        let mut ways: Vec<Bool> =
            (0..system.properties.len()).map(|p| unrolling.is_bad(terms, time, p)).collect();
        ways.push(unrolling.is_undefined(terms, time));
        // Without a bad state behind it a step leads nowhere, and need not be there.
        if from_here != Bool::FALSE {
            let step = unrolling.any_step(terms, time);
            ways.push(terms.and([step, from_here]));
        }
        from_here = terms.or(ways);
    }
    let init = unrolling.init(terms);
    let runs = terms.and([init, from_here]);
    vec![system.axioms, terms.or([system.init_undefined, runs])]
}

/// A line for people.
fn remark(out: &mut String, mark: &str, text: &str) {
    let text: String = text.chars().filter(|c| !c.is_control()).collect();
    // Writing to a string cannot fail.
    let _ = writeln!(out, "{mark} {text}");
}

/// SMT-LIB 2, integers exact.
pub fn smt2(terms: &mut Terms, system: &Transitions, length: usize, remarks: &[String]) -> String {
    let mut out = String::new();
    remarks.iter().for_each(|r| remark(&mut out, ";", r));
    remark(&mut out, ";", &format!("a bad state within {length} steps"));
    let claims = path(terms, system, length);
    query(terms, claims, &mut out);
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

/// A file for SAT solvers.
pub struct Dimacs {
    pub text: String,
    /// Whether a number may not fit.
    pub can_overflow: bool,
}

/// DIMACS, integers without bounds in words of this width; `Beyond` says what a model means where they do not fit. None if
/// there was no time.
pub fn dimacs(
    terms: &mut Terms,
    system: &Transitions,
    length: usize,
    (width, beyond): (usize, Beyond),
    remarks: &[String],
    stop: &Stop,
) -> Option<Dimacs> {
    let claims = path(terms, system, length);
    let mut b = Blaster::new(Tseitin(File::default()), Width(width.max(1)), None);
    let mut can_overflow = false;
    for claim in claims {
        let (lit, overflow) = b.bool(terms, claim, stop)?;
        b.circuit.require(lit);
        if beyond == Beyond::Excluded {
            b.circuit.require(!overflow);
        }
        can_overflow |= overflow != Lit::FALSE;
    }
    let mut out = String::new();
    remarks.iter().for_each(|r| remark(&mut out, "c", r));
    remark(&mut out, "c", &format!("a bad state within {length} steps"));
    if can_overflow {
        remark(&mut out, "c", &beyond.remark(width));
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
    Some(Dimacs { text: out, can_overflow })
}
