//! Terms as text of SMT-LIB 2: integers are Int, every term is defined once and then called by its name.
//! For solvers that are processes (`smt`) and for files (`export`).

use crate::range::Bounds;
use crate::term::{Bool, BoolNode, Int, IntNode, IntVar, Term, Terms, Var};
use hashbrown::HashSet;
use num_bigint::BigInt;
use num_traits::Signed;
use std::fmt::Write;

/// Which terms and variables have been written.
#[derive(Default)]
pub struct Writer {
    bools: HashSet<usize>,
    ints: HashSet<usize>,
    vars: HashSet<Var>,
    /// In the order in which they were declared.
    pub declared: Vec<Var>,
}

/// The name of a variable. Names of other people's variables may be anything, so they become comments.
pub fn name(v: Var) -> String {
    match v {
        Var::Bool(v) => format!("p{}", v.0),
        Var::Int(v) => format!("x{}", v.0),
    }
}

pub fn literal(b: Bool) -> String {
    match b {
        Bool::TRUE => "true".into(),
        Bool::FALSE => "false".into(),
        _ if b.is_negated() => format!("(not b{})", b.place()),
        _ => format!("b{}", b.place()),
    }
}

fn int(i: Int) -> String {
    format!("i{}", i.place())
}

pub fn numeral(value: &BigInt) -> String {
    if value.is_negative() { format!("(- {})", -value) } else { value.to_string() }
}

/// The question whether claims have a model, as a text of its own that any solver reads.
pub fn query(terms: &Terms, claims: impl IntoIterator<Item = Bool>, out: &mut String) {
    out.push_str("(set-logic ALL)\n");
    let mut writer = Writer::default();
    for claim in claims {
        writer.define(terms, claim, out);
        // Writing to a string cannot fail.
        let _ = writeln!(out, "(assert {})", literal(claim));
    }
    out.push_str("(check-sat)\n");
}

impl Writer {
    /// Definitions of all that a term needs and that is not there yet.
    pub fn define(&mut self, terms: &Terms, b: Bool, out: &mut String) {
        let is_done = |t: Term| match t {
            Term::Bool(b) => self.bools.contains(&b.place()),
            Term::Int(i) => self.ints.contains(&i.place()),
        };
        for t in terms.children_first(&[b.into()], is_done) {
            match t {
                Term::Bool(b) => {
                    self.bools.insert(b.place());
                    self.define_bool(terms, b, out);
                }
                Term::Int(i) => {
                    self.ints.insert(i.place());
                    self.define_int(terms, i, out);
                }
            }
        }
    }

    fn declare(&mut self, terms: &Terms, v: Var, out: &mut String) {
        if !self.vars.insert(v) {
            return;
        }
        self.declared.push(v);
        let title: String = terms.name(v).chars().filter(|c| !c.is_control()).collect();
        let sort = if matches!(v, Var::Bool(_)) { "Bool" } else { "Int" };
        // Writing to a string cannot fail.
        let _ = writeln!(out, "(declare-const {} {sort}) ; {title}", name(v));
        if let Var::Int(v) = v {
            bounds(v, terms.bounds(v), out);
        }
    }

    fn define_bool(&mut self, terms: &Terms, b: Bool, out: &mut String) {
        let body = match terms.bool_node(b) {
            BoolNode::True => "true".to_string(),
            BoolNode::Var(v) => {
                self.declare(terms, Var::Bool(*v), out);
                name(Var::Bool(*v))
            }
            BoolNode::And(parts) => list("and", parts.iter().map(|&p| literal(p))),
            BoolNode::Ite(test, yes, no) => list("ite", [test, yes, no].map(|&p| literal(p))),
            BoolNode::Le(x, y) => list("<=", [int(*x), int(*y)]),
            BoolNode::Eq(x, y) => list("=", [int(*x), int(*y)]),
        };
        let _ = writeln!(out, "(define-fun b{} () Bool {body})", b.place());
    }

    fn define_int(&mut self, terms: &Terms, i: Int, out: &mut String) {
        let body = match terms.int_node(i) {
            IntNode::Const(c) => numeral(c),
            IntNode::Var(v) => {
                self.declare(terms, Var::Int(*v), out);
                name(Var::Int(*v))
            }
            IntNode::Sum(parts, c) => {
                let products = parts.iter().map(|(i, k)| list("*", [numeral(k), int(*i)]));
                list("+", products.chain([numeral(c)]))
            }
            IntNode::Count(parts) => {
                list("+", parts.iter().map(|&p| list("ite", [literal(p), "1".into(), "0".into()])))
            }
            IntNode::Mul(x, y) => list("*", [int(*x), int(*y)]),
            IntNode::Div(x, y) => truncating("div", &int(*x), &int(*y)),
            IntNode::Mod(x, y) => truncating("mod", &int(*x), &int(*y)),
            IntNode::Ite(test, yes, no) => list("ite", [literal(*test), int(*yes), int(*no)]),
        };
        let _ = writeln!(out, "(define-fun i{} () Int {body})", i.place());
    }
}

fn list(head: &str, parts: impl IntoIterator<Item = String>) -> String {
    let parts: Vec<String> = parts.into_iter().collect();
    format!("({head} {})", parts.join(" "))
}

/// SMT-LIB's remainder is never negative. For a dividend that is not, that is what ours is; for the others both are
/// negated. And a divisor of 0 gives 0.
fn truncating(operator: &str, x: &str, y: &str) -> String {
    format!("(ite (= {y} 0) 0 (ite (>= {x} 0) ({operator} {x} {y}) (- ({operator} (- {x}) {y}))))")
}

fn bounds(v: IntVar, bounds: &Bounds, out: &mut String) {
    let name = name(Var::Int(v));
    if let Some(low) = &bounds.low {
        let _ = writeln!(out, "(assert (<= {} {name}))", numeral(low));
    }
    if let Some(high) = &bounds.high {
        let _ = writeln!(out, "(assert (<= {name} {}))", numeral(high));
    }
}

/// An s-expression: as much as the answers of solvers are.
#[derive(Debug, PartialEq, Eq)]
pub enum Sexp {
    Atom(String),
    List(Vec<Sexp>),
}

/// Values and cores nest a few times; to drop what nests more could need more stack than there is.
const DEEPEST: usize = 100;

/// Reads one, or says what is wrong. Answers are shallow, and what is deep is nonsense.
pub fn read(text: &str) -> Result<Sexp, String> {
    let mut open: Vec<Vec<Sexp>> = vec![];
    let mut chars = text.chars().peekable();
    let mut done = None;
    while let Some(c) = chars.next() {
        let item = match c {
            _ if c.is_whitespace() => continue,
            '(' if open.len() == DEEPEST => return Err("too many parentheses".into()),
            '(' => {
                open.push(vec![]);
                continue;
            }
            ')' => Sexp::List(open.pop().ok_or("a parenthesis too many")?),
            '"' | '|' => {
                let mut atom = String::new();
                while let Some(d) = chars.next_if(|&d| d != c) {
                    atom.push(d);
                }
                chars.next().ok_or("a text does not end")?;
                Sexp::Atom(atom)
            }
            _ => {
                let mut atom = String::from(c);
                while let Some(d) = chars.next_if(|&d| !d.is_whitespace() && d != '(' && d != ')') {
                    atom.push(d);
                }
                Sexp::Atom(atom)
            }
        };
        match open.last_mut() {
            Some(list) => list.push(item),
            None if done.is_none() => done = Some(item),
            None => return Err("more than one answer".into()),
        }
    }
    if !open.is_empty() {
        return Err("a parenthesis too few".into());
    }
    done.ok_or_else(|| "nothing".into())
}

/// The number that an expression is.
pub fn read_numeral(s: &Sexp) -> Option<BigInt> {
    match s {
        Sexp::Atom(digits) => digits.parse().ok(),
        Sexp::List(parts) => match parts.as_slice() {
            [Sexp::Atom(minus), Sexp::Atom(digits)] if minus == "-" => Some(-digits.parse::<BigInt>().ok()?),
            _ => None,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expressions_are_read() {
        let atom = |s: &str| Sexp::Atom(s.into());
        let table = [
            ("sat", Ok(atom("sat"))),
            (
                "(a (- 5) |b c|)",
                Ok(Sexp::List(vec![atom("a"), Sexp::List(vec![atom("-"), atom("5")]), atom("b c")])),
            ),
            ("", Err("nothing")),
            ("(a", Err("a parenthesis too few")),
            ("a)", Err("a parenthesis too many")),
            ("a b", Err("more than one answer")),
            ("(\"a)", Err("a text does not end")),
        ];
        for (text, expected) in table {
            assert_eq!(read(text), expected.map_err(String::from), "{text}");
        }
        assert_eq!(read_numeral(&read("(- 12)").unwrap()), Some((-12).into()));
        assert_eq!(read_numeral(&read("12").unwrap()), Some(12.into()));
        assert_eq!(read_numeral(&read("(+ 1 2)").unwrap()), None);
    }
}
