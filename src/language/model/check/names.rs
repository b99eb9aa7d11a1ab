//! What a name means where it stands, and what to say when it means nothing or the wrong thing.

use super::Checker;
use super::unify::is_unknown;
use crate::lang::ast::{BinOp, Lit, Name};
use crate::lang::composed::Entity;
use crate::lang::diag::{Diagnostic, Span};
use crate::lang::external;
use crate::lang::spelling::closest;
use crate::model::{Expr, ExprKind, LocalId, Model, Type};
use std::collections::HashMap;
use std::sync::Arc;

/// Built-in functions of B that are not supported. They are no keywords: a model may use the names.
const UNSUPPORTED: [&str; 7] = ["FLOAT", "FREAL", "RSUB", "RADD", "RMUL", "partition", "finite"];

impl Checker<'_> {
    /// A name that the model gives no meaning to, and that B or ProB has for something that does not exist here, is
    /// refused as that. False if it is just unknown.
    pub(super) fn refused(&mut self, name: &Name, span: Span) -> bool {
        if UNSUPPORTED.contains(&&**name) {
            self.unsupported(span, format!("`{name}`"));
        } else if external::is_foreign(name) {
            if self.reported.insert(name.clone()) {
                let message = format!("the external function `{name}` of ProB is not supported");
                self.diags.push(Diagnostic::error("B0406", span, message));
            }
        } else if let Some(machine) = external::library_of(name) {
            if self.reported.insert(name.clone()) {
                let message = format!("`{name}` of ProB's library machine {machine} is not supported");
                self.diags.push(Diagnostic::error("B0406", span, message));
            }
        } else if external::is_silent(name) {
            if self.reported.insert(name.clone()) {
                let message = format!("`{name}` is declared nowhere");
                let help = "ProB's library declares it: DEFINITIONS \"LibraryIO.def\"; \"LibraryProB.def\"";
                self.diags.push(Diagnostic::error("B0201", span, message).help(help));
            }
        } else {
            return false;
        }
        true
    }
}

/// The names of a finished model.
pub fn of_model(model: &Model) -> HashMap<Name, Entity> {
    let mut names = HashMap::new();
    for (s, set) in model.sets.iter().enumerate() {
        names.insert(set.name.clone(), Entity::Set(s));
        for (i, element) in set.elements.as_ref().unwrap_or(&set.named).iter().enumerate() {
            names.insert(element.clone(), Entity::Elem(s, i));
        }
    }
    for (f, decl) in model.freetypes.iter().enumerate() {
        names.insert(decl.ty.name().clone(), Entity::Free(f));
        let cases = decl.ty.def().cases.iter().enumerate();
        names.extend(cases.map(|(i, case)| (case.name.clone(), Entity::Case(f, i))));
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
            None => self.model_names.get(name).cloned().or_else(|| self.element(name)),
        }
    }

    /// An element of a deferred set by the name that traces give it: `S2`. Only for texts that come when the sizes
    /// are known.
    fn element(&self, name: &str) -> Option<Entity> {
        let sets = self.model.sets.iter().zip(&self.model.scope.sizes).enumerate();
        sets.filter(|(_, (set, _))| set.elements.is_none()).find_map(|(s, (set, size))| {
            let number = name.strip_prefix(&*set.name)?;
            let plain = number.starts_with(|c: char| ('1'..='9').contains(&c));
            let is_free = |i: &u64| i <= size && *i > set.named.len() as u64;
            let i = number.parse::<u64>().ok().filter(|i| plain && is_free(i))?;
            Some(Entity::Elem(s, usize::try_from(i - 1).ok()?))
        })
    }

    pub(super) fn operation_named(&self, name: &str) -> Option<usize> {
        self.instances.get(self.instance).and_then(|i| i.operations.get(name)).copied()
    }

    /// The visible name that looks most like this one, if any does.
    pub(super) fn nearest(&self, name: &str) -> Option<Name> {
        let locals = self.scope.iter().map(|(n, _)| n);
        let table = self.instances.get(self.instance).map_or(&self.model_names, |i| &i.names);
        closest(name, locals.chain(table.keys()).map(|n| &**n)).map(Name::from)
    }

    pub(super) fn nearest_operation(&self, name: &str) -> Option<Name> {
        let own = self.instances.get(self.instance)?.operations.keys();
        closest(name, own.map(|n| &**n).chain(["skip"])).map(Name::from)
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
        if is_unknown(&found) && matches!(e.kind, ExprKind::Lit(Lit::EmptySet)) {
            // It stands where something was not understood, which has been reported.
            return;
        }
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
