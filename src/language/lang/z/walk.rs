//! Names in trees.

use super::tree::{Decl, Expr, Kind, Text};
use crate::lang::ast::Name;

/// Calls `f` with every name that stands for something.
pub fn names(e: &Expr, f: &mut dyn FnMut(&Name)) {
    match &e.kind {
        Kind::Name(n) => f(n),
        Kind::Number(_) => {}
        Kind::Op(_, all) | Kind::Tuple(all) | Kind::Set(all) | Kind::Seq(all) | Kind::Bag(all) => {
            all.iter().for_each(|e| names(e, f));
        }
        Kind::Binding(fields) => fields.iter().for_each(|(_, e)| names(e, f)),
        Kind::Compr(text, body) | Kind::Bind(_, text, body) => {
            of_text(text, f);
            body.iter().for_each(|e| names(e, f));
        }
        Kind::If(a, b, c) => [a, b, c].into_iter().for_each(|e| names(e, f)),
        Kind::Apply(a, b) => {
            names(a, f);
            names(b, f);
        }
        Kind::Instance(of, args) => {
            names(of, f);
            args.iter().for_each(|e| names(e, f));
        }
        Kind::Rename(of, _) | Kind::Decorated(of, _) | Kind::Select(of, _) | Kind::Pick(of, _) => {
            names(of, f)
        }
        Kind::Hide(of, _) | Kind::Theta(of) => names(of, f),
        Kind::Text(text) => of_text(text, f),
    }
}

fn of_text(text: &Text, f: &mut dyn FnMut(&Name)) {
    for d in &text.decls {
        match d {
            Decl::Names(_, e) | Decl::Value(_, e) | Decl::Schema(e) => names(e, f),
        }
    }
    text.preds.iter().for_each(|e| names(e, f));
}
