//! The inductive invariant of a proof as B: the booleans and integers of the formulas by what they stand for.

use crate::model::{Model, Type, VarId};
use crate::symbolic::encode::{Shape, Sym};
use crate::symbolic::machine::Encoded;
use crate::trace::shown as value_text;
use hashbrown::HashMap;
use kanon_solver::engine::Proof;
use kanon_solver::term::{Bool, BoolNode, Int, IntNode, Terms, Var};
use kanon_solver::unroll::good;

/// What the variables of the formulas are called.
#[derive(Default)]
struct Names {
    bools: HashMap<Var, String>,
    ints: HashMap<Var, String>,
}

/// The clauses that make the machine's own invariant inductive.
pub(super) fn shown(encoded: &mut Encoded, proof: &Proof, model: &Model) -> Vec<String> {
    let Some(invariant) = &proof.invariant else { return vec![] };
    let own = good(&mut encoded.encoder.terms, &encoded.transitions);
    let names = Names::of(encoded, model);
    let terms = &encoded.encoder.terms;
    let clauses = invariant.iter().filter(|c| **c != own);
    clauses.map(|c| names.bool(terms, *c)).collect()
}

/// Calls the variables of the formulas what they stand for, for people who read a file.
pub(in crate::run) fn name_variables(encoded: &mut Encoded, model: &Model) {
    let Names { bools, ints } = Names::of(encoded, model);
    let cells: HashMap<Var, Var> = encoded.transitions.cells.iter().map(|c| (c.now, c.next)).collect();
    let outside = encoded.transitions.cells.first().map(|c| c.now);
    for (v, text) in bools.into_iter().chain(ints).filter(|(v, _)| Some(*v) != outside) {
        if let Some(next) = cells.get(&v) {
            encoded.encoder.terms.rename(*next, format!("({text})'"));
        }
        encoded.encoder.terms.rename(v, text);
    }
}

impl Names {
    fn of(encoded: &Encoded, model: &Model) -> Names {
        let mut names = Names::default();
        let terms = &encoded.encoder.terms;
        for (i, decl) in model.variables.iter().enumerate() {
            if let Some(shape) = encoded.shape(VarId(i as u32)) {
                names.learn(terms, &shape.sym, &decl.name, &decl.ty, model);
            }
        }
        for (shape, decl) in encoded.constant_shapes().iter().zip(&model.constants) {
            let shape: &Shape = shape;
            names.learn(terms, &shape.sym, &decl.name, &decl.ty, model);
        }
        if let Some(cell) = encoded.transitions.cells.first() {
            // No reachable state is outside, and the machine has no name for it.
            names.bools.insert(cell.now, "1 = 2".into());
        }
        names
    }

    fn name(&mut self, terms: &Terms, b: Bool, text: String) {
        if let BoolNode::Var(v) = terms.bool_node(b) {
            let text = if b.is_negated() { format!("not({text})") } else { text };
            self.bools.entry(Var::Bool(*v)).or_insert(text);
        }
    }

    fn learn(&mut self, terms: &Terms, s: &Sym<'_>, text: &str, ty: &Type, model: &Model) {
        match (s, ty) {
            (Sym::Bool(b), _) => self.name(terms, *b, format!("{text} = TRUE")),
            (Sym::One(options), _) => {
                for (v, b) in options.iter() {
                    self.name(terms, *b, format!("{text} = {}", value_text(v, ty, model)));
                }
            }
            (Sym::Int(i), _) => {
                if let IntNode::Var(v) = terms.int_node(*i) {
                    self.ints.entry(Var::Int(*v)).or_insert_with(|| text.to_string());
                }
            }
            (Sym::Pair(p), Type::Pair(t)) => {
                self.learn(terms, &p.0, &format!("prj1({text})"), &t.0, model);
                self.learn(terms, &p.1, &format!("prj2({text})"), &t.1, model);
            }
            (Sym::Rec(fields), Type::Rec(types)) => {
                for (f, (name, t)) in fields.iter().zip(types.iter()) {
                    self.learn(terms, f, &format!("{text}'{name}"), t, model);
                }
            }
            (Sym::Set(rows), Type::Pow(t)) => {
                for (v, b) in rows.iter() {
                    self.name(terms, *b, format!("{} : {text}", value_text(v, t, model)));
                }
            }
            (Sym::Fun(points), Type::Pow(t)) => {
                let Type::Pair(t) = &**t else { return };
                for (x, (b, y)) in points.iter() {
                    let x = value_text(x, &t.0, model);
                    self.name(terms, *b, format!("{x} : dom({text})"));
                    self.learn(terms, y, &format!("{text}({x})"), &t.1, model);
                }
            }
            _ => {}
        }
    }

    fn bool(&self, terms: &Terms, b: Bool) -> String {
        let not = b.is_negated();
        match terms.bool_node(b) {
            BoolNode::True => (if not { "bfalse" } else { "btrue" }).into(),
            BoolNode::Var(v) => {
                let text = self.bools.get(&Var::Bool(*v)).cloned();
                let text = text.unwrap_or_else(|| terms.name(Var::Bool(*v)).to_string());
                if not { format!("not({text})") } else { text }
            }
            BoolNode::And(parts) => {
                let word = if not { " or " } else { " & " };
                let parts: Vec<String> =
                    parts.iter().map(|p| self.bool(terms, if not { !*p } else { *p })).collect();
                format!("({})", parts.join(word))
            }
            BoolNode::Ite(test, yes, no) => {
                let turn = |b: Bool| if not { !b } else { b };
                let (yes, no) = (self.bool(terms, turn(*yes)), self.bool(terms, turn(*no)));
                format!("(({0} => {yes}) & (not({0}) => {no}))", self.bool(terms, *test))
            }
            BoolNode::Le(x, y) => {
                format!("{} {} {}", self.int(terms, *x), if not { ">" } else { "<=" }, self.int(terms, *y))
            }
            BoolNode::Eq(x, y) => {
                format!("{} {} {}", self.int(terms, *x), if not { "/=" } else { "=" }, self.int(terms, *y))
            }
        }
    }

    fn int(&self, terms: &Terms, i: Int) -> String {
        match terms.int_node(i) {
            IntNode::Const(c) => c.to_string(),
            IntNode::Var(v) => {
                let name = self.ints.get(&Var::Int(*v)).cloned();
                name.unwrap_or_else(|| terms.name(Var::Int(*v)).to_string())
            }
            IntNode::Sum(parts, rest) => {
                let mut all: Vec<String> = parts
                    .iter()
                    .map(|(i, factor)| match factor.to_string().as_str() {
                        "1" => self.int(terms, *i),
                        f => format!("{f} * {}", self.int(terms, *i)),
                    })
                    .collect();
                if *rest != num_bigint::BigInt::ZERO || all.is_empty() {
                    all.push(rest.to_string());
                }
                format!("({})", all.join(" + "))
            }
            IntNode::Count(parts) => {
                let parts: Vec<String> = parts
                    .iter()
                    .enumerate()
                    .map(|(n, p)| format!("{n} |-> bool({})", self.bool(terms, *p)))
                    .collect();
                format!("card({{{}}} |> {{TRUE}})", parts.join(", "))
            }
            IntNode::Mul(a, b) => format!("({} * {})", self.int(terms, *a), self.int(terms, *b)),
            IntNode::Div(a, b) => format!("({} / {})", self.int(terms, *a), self.int(terms, *b)),
            IntNode::Mod(a, b) => format!("({} mod {})", self.int(terms, *a), self.int(terms, *b)),
            IntNode::Ite(test, yes, no) => format!(
                "(IF {} THEN {} ELSE {} END)",
                self.bool(terms, *test),
                self.int(terms, *yes),
                self.int(terms, *no)
            ),
        }
    }
}
