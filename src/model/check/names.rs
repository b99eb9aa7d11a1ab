//! What a name means where it stands, and what to say when it means nothing or the wrong thing.

use super::Checker;
use super::unify::is_unknown;
use crate::lang::ast::{BinOp, Name};
use crate::lang::b::compose::Entity;
use crate::lang::diag::{Diagnostic, Span};
use crate::model::{Expr, ExprKind, LocalId, Model, Type};
use std::collections::HashMap;
use std::sync::Arc;

/// Built-in functions of B that are not supported. They are no keywords: a model may use the names.
const UNSUPPORTED: [&str; 25] = [
    "tree",
    "btree",
    "const",
    "top",
    "sons",
    "prefix",
    "postfix",
    "sizet",
    "mirror",
    "rank",
    "father",
    "son",
    "subtree",
    "arity",
    "bin",
    "left",
    "right",
    "infix",
    "real",
    "floor",
    "ceiling",
    "RADD",
    "RMUL",
    "partition",
    "finite",
];

pub fn is_unsupported_builtin(name: &str) -> bool {
    UNSUPPORTED.contains(&name)
}

/// The names of a finished model.
pub fn of_model(model: &Model) -> HashMap<Name, Entity> {
    let mut names = HashMap::new();
    for (s, set) in model.sets.iter().enumerate() {
        names.insert(set.name.clone(), Entity::Set(s));
        for (i, element) in set.elements.iter().flatten().enumerate() {
            names.insert(element.clone(), Entity::Elem(s, i));
        }
    }
    names.extend(model.constants.iter().enumerate().map(|(i, d)| (d.name.clone(), Entity::Const(i))));
    names.extend(model.variables.iter().enumerate().map(|(i, d)| (d.name.clone(), Entity::Var(i))));
    names
}

impl Checker<'_> {
    pub(super) fn local_named(&self, name: &str) -> Option<LocalId> {
        self.scope.iter().rev().find(|(n, _)| **n == *name).map(|(_, l)| *l)
    }

    pub(super) fn entity(&self, name: &str) -> Option<Entity> {
        match self.instances.get(self.instance) {
            Some(instance) => instance.names.get(name).cloned(),
            None => self.model_names.get(name).cloned(),
        }
    }

    pub(super) fn operation_named(&self, name: &str) -> Option<usize> {
        self.instances.get(self.instance).and_then(|i| i.operations.get(name)).copied()
    }

    /// The visible name that looks most like this one, if any does.
    pub(super) fn nearest(&self, name: &str) -> Option<Name> {
        let locals = self.scope.iter().map(|(n, _)| n);
        let table = self.instances.get(self.instance).map_or(&self.model_names, |i| &i.names);
        closest(name, locals.chain(table.keys()))
    }

    pub(super) fn nearest_operation(&self, name: &str) -> Option<Name> {
        closest(name, self.instances.get(self.instance)?.operations.keys())
    }

    /// A type as B text; `?` where it is still open.
    pub(super) fn show(&self, ty: &Type) -> String {
        let ty = self.uni.deep(ty);
        let set_name = |s| {
            let open: Arc<str> = "?".into();
            if is_unknown(&Type::Given(s)) {
                return open;
            }
            self.model.sets.get(s.index()).map_or(open, |set| set.name.clone())
        };
        ty.show(&set_name).to_string()
    }

    pub(super) fn mismatch(&mut self, e: &Expr, want: &Type) {
        let found = self.uni.deep(&e.ty);
        let diag = match (want, &found) {
            (Type::Pred, _) => {
                let d = Diagnostic::error(
                    "B0203",
                    e.span,
                    format!("expected a predicate, found a value of type {}", self.show(&found)),
                );
                if found == Type::Bool { d.help("compare it: `b = TRUE`") } else { d }
            }
            (_, Type::Pred) => Diagnostic::error("B0203", e.span, "expected a value, found a predicate")
                .help("`bool(P)` is the truth value of P"),
            _ => {
                let (want, found) = (self.show(want), self.show(&found));
                let message = format!("type mismatch: expected {want}, found {found}");
                Diagnostic::error("B0203", e.span, message)
            }
        };
        let diag = self.with_declaration(diag, e);
        self.diags.push(diag);
    }

    pub(super) fn incomparable(&mut self, a: &Expr, b: &Expr, op: BinOp) {
        if a.ty == Type::Pred || b.ty == Type::Pred {
            let e = if a.ty == Type::Pred { a } else { b };
            let diag = Diagnostic::error("B0203", e.span, "expected a value, found a predicate")
                .help("predicates are compared with `<=>`");
            self.diags.push(diag);
            return;
        }
        let (left, right) = (self.show(&a.ty), self.show(&b.ty));
        let sign = if op == BinOp::Eq { "=" } else { "/=" };
        let message = format!("type mismatch: {left} {sign} {right} compares different types");
        let diag = Diagnostic::error("B0203", b.span, message).note(a.span, format!("this is {left}"));
        let diag = self.with_declaration(diag, b);
        self.diags.push(diag);
    }

    /// Adds a note where the thing was declared, if the expression is just a name.
    fn with_declaration(&self, diag: Diagnostic, e: &Expr) -> Diagnostic {
        let decl = match &e.kind {
            ExprKind::Const(c) => self.model.constants.get(c.index()),
            ExprKind::Var(v) => self.model.variables.get(v.index()),
            ExprKind::Local(l) => self.model.locals.get(l.index()),
            _ => None,
        };
        match decl {
            Some(d) => diag.note(d.span, format!("`{}` is declared here", d.name)),
            None => diag,
        }
    }

    pub(super) fn untyped(&mut self, what: &str, name: &str, ty: &Type, span: Span) {
        let ty = self.show(ty);
        let message = match &*ty {
            "?" => format!("cannot infer the type of the {what} `{name}`"),
            _ => format!("cannot infer the type of the {what} `{name}`: it is only known to be {ty}"),
        };
        let help = format!("add a typing predicate such as `{name} : S`");
        self.diags.push(Diagnostic::error("B0204", span, message).help(help));
    }
}

fn closest<'n>(name: &str, candidates: impl Iterator<Item = &'n Name>) -> Option<Name> {
    let limit = (name.chars().count() / 3).max(1);
    candidates
        .map(|n| (distance(name, n), n))
        .filter(|(d, n)| *d <= limit && n.chars().count() > *d)
        .min()
        .map(|(_, n)| n.clone())
}

/// Edits (insert, delete, replace, swap of neighbours) between two names; one when only the case differs.
fn distance(a: &str, b: &str) -> usize {
    if a != b && a.to_lowercase() == b.to_lowercase() {
        return 1;
    }
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut table = vec![vec![0; b.len() + 1]; a.len() + 1];
    for i in 0..=a.len() {
        for j in 0..=b.len() {
            table[i][j] = if i == 0 || j == 0 {
                i + j
            } else {
                let replace = table[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
                let least = replace.min(table[i - 1][j] + 1).min(table[i][j - 1] + 1);
                let swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
                if swapped { least.min(table[i - 2][j - 2] + 1) } else { least }
            };
        }
    }
    table[a.len()][b.len()]
}
