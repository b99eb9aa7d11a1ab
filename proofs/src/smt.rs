//! The reading for every size of `S`: formulas of SMT-LIB over an uninterpreted sort.
//!
//! Sets are predicates, relations are binary predicates, `rep` is a function, the group is a sort of its own
//! whose members act on states by `app`. Comprehensions become `let`: membership of `e` in `{x | body}` is
//! `(let ((x e)) body)`; every binder has a fresh name, so nothing is captured.

use std::cell::Cell;
use std::fmt::Write as _;
use std::rc::Rc;

use kanon_refinement::logic::{Logic, name_of};
use kanon_refinement::{lab, mc0, path, rmc1, wmc};

use crate::choose::Choose;

/// A term of SMT-LIB.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Term(Rc<str>);

impl Term {
    fn new(text: impl Into<Rc<str>>) -> Self {
        Self(text.into())
    }
    fn is_constant(&self) -> bool {
        matches!(&*self.0, "true" | "false")
    }
}

impl std::fmt::Display for Term {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

/// A predicate or function of `K` arguments: a symbol, or binders with a body.
#[derive(Clone, Debug)]
pub enum Lambda<const K: usize> {
    /// A declared symbol, with what stands before its arguments: `(rac x)`, `(app p x)`.
    Symbol(Rc<str>),
    /// Binders and body.
    Body([Term; K], Term),
}

impl<const K: usize> Lambda<K> {
    fn at(&self, args: [&Term; K]) -> Term {
        match self {
            Lambda::Symbol(symbol) => {
                let args: Vec<String> = args.iter().map(ToString::to_string).collect();
                Term::new(format!("({symbol} {})", args.join(" ")))
            }
            Lambda::Body(_, body) if body.is_constant() => body.clone(),
            Lambda::Body(names, body) => {
                let mut binds = String::new();
                for (name, arg) in names.iter().zip(args) {
                    let _ = write!(binds, "({name} {arg})");
                }
                Term::new(format!("(let ({binds}) {body})"))
            }
        }
    }
}

/// The logic that prints.
#[derive(Clone, Debug, Default)]
pub struct Smt {
    fresh: Rc<Cell<usize>>,
    planted: Option<&'static str>,
}

impl Smt {
    fn name(&self, stem: &str) -> Term {
        self.fresh.set(self.fresh.get() + 1);
        Term::new(format!("{stem}{}", self.fresh.get()))
    }
    fn call(&self, op: &str, args: &[&Term]) -> Term {
        let args: Vec<String> = args.iter().map(ToString::to_string).collect();
        Term::new(format!("({op} {})", args.join(" ")))
    }
    fn bind(&self, quantifier: &str, sort: &str, body: impl FnOnce(&Term) -> Term) -> Term {
        let x = self.name(match sort {
            "P" => "p",
            "O" => "o",
            _ => "x",
        });
        let body = body(&x);
        if body.is_constant() {
            // No sort is empty.
            return body;
        }
        Term::new(format!("({quantifier} (({x} {sort})) {body})"))
    }
    fn set(&self, body: impl FnOnce(&Term) -> Term) -> Lambda<1> {
        let x = self.name("x");
        let body = body(&x);
        Lambda::Body([x], body)
    }
}

impl Logic for Smt {
    type Bool = Term;
    type State = Term;
    type Set = Lambda<1>;
    type Rel = Lambda<2>;
    type Map = Lambda<1>;
    type Aut = ();
    type Op = Term;
    type Steps = Lambda<3>;

    fn truth(&self) -> Term {
        Term::new("true")
    }
    fn not(&self, a: &Term) -> Term {
        match &*a.0 {
            "true" => Term::new("false"),
            "false" => Term::new("true"),
            _ => self.call("not", &[a]),
        }
    }
    fn and(&self, a: &Term, b: &Term) -> Term {
        match (&*a.0, &*b.0) {
            ("true", _) | (_, "false") => b.clone(),
            (_, "true") | ("false", _) => a.clone(),
            _ => self.call("and", &[a, b]),
        }
    }
    fn or(&self, a: &Term, b: &Term) -> Term {
        match (&*a.0, &*b.0) {
            ("false", _) | (_, "true") => b.clone(),
            (_, "false") | ("true", _) => a.clone(),
            _ => self.call("or", &[a, b]),
        }
    }
    fn implies(&self, a: &Term, b: &Term) -> Term {
        match (&*a.0, &*b.0) {
            ("true", _) | (_, "true") => b.clone(),
            ("false", _) => self.truth(),
            _ => self.call("=>", &[a, b]),
        }
    }
    fn iff(&self, a: &Term, b: &Term) -> Term {
        self.eq(a, b)
    }
    fn forall(&self, body: impl Fn(&Term) -> Term) -> Term {
        self.bind("forall", "S", body)
    }
    fn exists(&self, body: impl Fn(&Term) -> Term) -> Term {
        self.bind("exists", "S", body)
    }
    fn eq(&self, a: &Term, b: &Term) -> Term {
        if a == b { self.truth() } else { self.call("=", &[a, b]) }
    }
    fn member(&self, x: &Term, a: &Lambda<1>) -> Term {
        a.at([x])
    }
    fn set_where(&self, body: impl Fn(&Term) -> Term) -> Lambda<1> {
        self.set(body)
    }
    fn empty(&self) -> Lambda<1> {
        self.set(|_| Term::new("false"))
    }
    fn single(&self, x: &Term) -> Lambda<1> {
        self.set(|y| self.eq(y, x))
    }
    fn union(&self, a: &Lambda<1>, b: &Lambda<1>) -> Lambda<1> {
        self.set(|x| self.or(&a.at([x]), &b.at([x])))
    }
    fn inter(&self, a: &Lambda<1>, b: &Lambda<1>) -> Lambda<1> {
        self.set(|x| self.and(&a.at([x]), &b.at([x])))
    }
    fn minus(&self, a: &Lambda<1>, b: &Lambda<1>) -> Lambda<1> {
        self.set(|x| self.and(&a.at([x]), &self.not(&b.at([x]))))
    }
    fn subset(&self, a: &Lambda<1>, b: &Lambda<1>) -> Term {
        self.forall(|x| self.implies(&a.at([x]), &b.at([x])))
    }
    fn same(&self, a: &Lambda<1>, b: &Lambda<1>) -> Term {
        self.forall(|x| self.iff(&a.at([x]), &b.at([x])))
    }
    fn is_empty(&self, a: &Lambda<1>) -> Term {
        self.forall(|x| self.not(&a.at([x])))
    }
    fn inhabited(&self, a: &Lambda<1>) -> Term {
        self.exists(|x| a.at([x]))
    }
    fn related(&self, r: &Lambda<2>, a: &Term, b: &Term) -> Term {
        r.at([a, b])
    }
    fn rel_where(&self, body: impl Fn(&Term, &Term) -> Term) -> Lambda<2> {
        let (x, y) = (self.name("x"), self.name("x"));
        let body = body(&x, &y);
        Lambda::Body([x, y], body)
    }
    fn image(&self, r: &Lambda<2>, a: &Lambda<1>) -> Lambda<1> {
        self.set(|y| self.exists(|x| self.and(&a.at([x]), &r.at([x, y]))))
    }
    fn range(&self, r: &Lambda<2>) -> Lambda<1> {
        self.set(|y| self.exists(|x| r.at([x, y])))
    }
    fn apply(&self, f: &Lambda<1>, x: &Term) -> Term {
        f.at([x])
    }
    fn map_image(&self, f: &Lambda<1>, a: &Lambda<1>) -> Lambda<1> {
        self.set(|y| self.exists(|x| self.and(&a.at([x]), &self.eq(&f.at([x]), y))))
    }
    fn preimage(&self, f: &Lambda<1>, a: &Lambda<1>) -> Lambda<1> {
        self.set(|x| a.at([&f.at([x])]))
    }
    fn map_range(&self, f: &Lambda<1>) -> Lambda<1> {
        self.set(|y| self.exists(|x| self.eq(&f.at([x]), y)))
    }
    fn forall_in(&self, (): &(), body: impl Fn(&Lambda<1>) -> Term) -> Term {
        self.bind("forall", "P", |p| body(&action(p)))
    }
    fn exists_in(&self, (): &(), body: impl Fn(&Lambda<1>) -> Term) -> Term {
        self.bind("exists", "P", |p| body(&action(p)))
    }
    fn exists_op(&self, body: impl Fn(&Term) -> Term) -> Term {
        self.bind("exists", "O", body)
    }
    fn forall_op(&self, body: impl Fn(&Term) -> Term) -> Term {
        self.bind("forall", "O", body)
    }
    fn same_op(&self, a: &Term, b: &Term) -> Term {
        self.call("=", &[a, b])
    }
    fn step(&self, t: &Lambda<3>, s1: &Term, op: &Term, s2: &Term) -> Term {
        t.at([s1, op, s2])
    }
    fn steps_where(&self, body: impl Fn(&Term, &Term, &Term) -> Term) -> Lambda<3> {
        let (x, o, y) = (self.name("x"), self.name("o"), self.name("x"));
        let body = body(&x, &o, &y);
        Lambda::Body([x, o, y], body)
    }
    fn keeps(&self, label: &'static str) -> bool {
        self.planted.is_none_or(|p| p != name_of(label))
    }
}

fn action(p: &Term) -> Lambda<1> {
    Lambda::Symbol(format!("app {p}").into())
}

/// The obligation, printed.
#[derive(Debug, Default)]
pub struct Script {
    logic: Smt,
    declared: Vec<String>,
    assumed: Vec<(&'static str, Term)>,
    claimed: Vec<(&'static str, Term)>,
}

impl Script {
    /// The script of an obligation.
    pub fn of(obligation: impl FnOnce(&mut Script)) -> Self {
        Self::planting(None, obligation)
    }

    /// The script of an obligation when a clause or action is missing in the machines' text.
    pub fn planting(planted: Option<&'static str>, obligation: impl FnOnce(&mut Script)) -> Self {
        let mut script = Script { logic: Smt { fresh: Rc::default(), planted }, ..Script::default() };
        obligation(&mut script);
        script
    }

    /// How many claims it makes.
    pub fn claims(&self) -> usize {
        self.claimed.len()
    }

    /// The labels of the claims, in order.
    pub fn labels(&self) -> impl Iterator<Item = &'static str> {
        self.claimed.iter().map(|(label, _)| *label)
    }

    /// The same over at most `states` states: finite, so that a solver finds the counterexample of a claim that does
    /// not follow.
    pub fn text_up_to(&self, name: &str, states: usize) -> String {
        let names: Vec<String> = (0..states).map(|s| format!("state{s}")).collect();
        let mut bound = String::new();
        for s in &names {
            let _ = writeln!(bound, "(declare-fun {s} () S)");
        }
        let any: Vec<String> = names.iter().map(|s| format!("(= x {s})")).collect();
        let _ = writeln!(bound, "(assert (forall ((x S)) (or false {})))", any.join(" "));
        self.text(name).replacen("; states\n", &format!("; states\n{bound}"), 1)
    }

    /// SMT-LIB: for each claim, are the assumptions satisfiable with its negation? All must be `unsat`.
    pub fn text(&self, name: &str) -> String {
        let mut out = format!(
            "; {name}\n; One check-sat for each claim; unsat means that it follows, for every size of S.\n"
        );
        out.push_str("(set-logic UF)\n(declare-sort S 0) ; states\n(declare-sort P 0) ; the group\n(declare-sort O 0) ; labels\n");
        out.push_str("(declare-fun app (P S) S) ; a permutation applied\n");
        for line in &self.declared {
            out.push_str(line);
            out.push('\n');
        }
        for (label, term) in &self.assumed {
            let _ = write!(out, "; {label}\n(assert {term})\n");
        }
        for (label, term) in &self.claimed {
            let _ = write!(out, "(push 1)\n; {label}\n(assert (not {term}))\n(check-sat)\n(pop 1)\n");
        }
        out
    }

    fn declare(&mut self, name: &str, args: &str, result: &str) {
        let line = format!("(declare-fun {name} ({args}) {result})");
        assert!(!self.declared.contains(&line), "{name} is declared twice");
        self.declared.push(line);
    }

    fn predicate<const K: usize>(&mut self, name: &'static str, args: &str) -> Lambda<K> {
        self.declare(name, args, "Bool");
        Lambda::Symbol(name.into())
    }
}

impl Choose for Script {
    type L = Smt;

    fn logic(&self) -> Smt {
        self.logic.clone()
    }
    fn mc0(&mut self) -> mc0::Constants<Smt> {
        self.declare("i", "", "S");
        mc0::Constants {
            i: Term::new("i"),
            tr: self.predicate("tr", "S S"),
            inv: self.predicate("inv", "S"),
            reach: self.predicate("reach", "S"),
        }
    }
    fn rmc1(&mut self) -> rmc1::Constants<Smt> {
        let mc0 = self.mc0();
        self.declare("rep", "S", "S");
        rmc1::Constants { mc0, aut: (), rep: Lambda::Symbol("rep".into()) }
    }
    fn wmc(&mut self) -> wmc::Constants<Smt> {
        wmc::Constants { mc0: self.mc0(), orb: self.predicate("orb", "S S") }
    }
    fn lab(&mut self, wmc: wmc::Constants<Smt>) -> lab::Constants<Smt> {
        self.declare("rep", "S", "S");
        lab::Constants { wmc, rep: Lambda::Symbol("rep".into()) }
    }
    fn path(&mut self, sym: wmc::Constants<Smt>) -> path::Constants<Smt> {
        path::Constants { sym, ltr: self.predicate("ltr", "S O S") }
    }
    fn set(&mut self, name: &'static str, _: impl FnOnce(&Smt) -> [Lambda<1>; 2]) -> Lambda<1> {
        self.predicate(name, "S")
    }
    fn state(&mut self, name: &'static str, _: impl FnOnce(&Smt) -> Lambda<1>) -> Term {
        self.declare(name, "", "S");
        Term::new(name)
    }
    fn automorphism(&mut self, name: &'static str, (): &()) -> Lambda<1> {
        self.declare(name, "", "P");
        action(&Term::new(name))
    }
    fn op(&mut self, name: &'static str) -> Term {
        self.declare(name, "", "O");
        Term::new(name)
    }
    fn history(&mut self, _: &path::Constants<Smt>, _: &Lambda<1>, _: &Lambda<1>) -> (Lambda<3>, Lambda<2>) {
        // `par` is a word of SMT-LIB.
        (self.predicate("parent", "S O S"), self.predicate("old", "S S"))
    }
    fn assume(&mut self, label: &'static str, holds: Term) {
        self.assumed.push((label, holds));
    }
    fn prove(&mut self, label: &'static str, holds: Term) {
        // What comes out as `true` when it is printed claims nothing.
        if &*holds.0 != "true" {
            self.claimed.push((label, holds));
        }
    }
}
