//! Trees without places, so that they can be compared.

use kanon::lang::ast::*;
use kanon::lang::diag::Span;
use kanon::lang::walk::{children_mut, subst_children_mut};

fn names(names: &mut [Ident]) {
    for n in names {
        n.span = Span::default();
    }
}

pub fn expr(e: &mut Expr) {
    e.span = Span::default();
    match &mut e.kind {
        ExprKind::Quant(_, n, _)
        | ExprKind::Compr(n, _)
        | ExprKind::Bind(_, n, ..)
        | ExprKind::ComprMap(n, ..)
        | ExprKind::Let(n, ..) => names(n),
        ExprKind::Rec(fields) | ExprKind::Struct(fields) => {
            fields.iter_mut().for_each(|(f, _)| f.span = Span::default());
        }
        ExprKind::Field(_, f) => f.span = Span::default(),
        _ => {}
    }
    children_mut(e, &mut |c| expr(c));
}

pub fn subst(s: &mut Subst) {
    s.span = Span::default();
    match &mut s.kind {
        SubstKind::BecomesSuch(n, _)
        | SubstKind::Any(n, ..)
        | SubstKind::Let(n, ..)
        | SubstKind::Var(n, _) => names(n),
        SubstKind::Call { op, .. } => op.span = Span::default(),
        _ => {}
    }
    subst_children_mut(s, &mut |e| expr(e), &mut |c| subst(c));
}

pub fn machine(m: &mut Machine) {
    m.span = Span::default();
    m.name.span = Span::default();
    for list in [
        &mut m.params,
        &mut m.sees,
        &mut m.uses,
        &mut m.promotes,
        &mut m.constants,
        &mut m.abstract_constants,
        &mut m.concrete_variables,
        &mut m.variables,
    ] {
        names(list);
    }
    if let Some(r) = &mut m.refines {
        r.span = Span::default();
    }
    for r in m.includes.iter_mut().chain(&mut m.extends).chain(&mut m.imports) {
        r.name.span = Span::default();
        r.args.iter_mut().for_each(expr);
    }
    for free in &mut m.freetypes {
        free.name.span = Span::default();
        for (case, argument) in &mut free.cases {
            case.span = Span::default();
            argument.iter_mut().for_each(expr);
        }
    }
    for set in &mut m.sets {
        set.name.span = Span::default();
        if let Some(elements) = &mut set.elements {
            names(elements);
        }
    }
    for e in [&mut m.constraints, &mut m.properties, &mut m.invariant].into_iter().flatten() {
        expr(e);
    }
    m.assertions.iter_mut().for_each(expr);
    for (n, e) in m.values.iter_mut().chain(&mut m.tool_definitions) {
        n.span = Span::default();
        expr(e);
    }
    if let Some(s) = &mut m.initialisation {
        subst(s);
    }
    for op in m.operations.iter_mut().chain(&mut m.local_operations) {
        op.name.span = Span::default();
        names(&mut op.results);
        names(&mut op.params);
        subst(&mut op.body);
    }
    for (span, _) in &mut m.unsupported {
        *span = Span::default();
    }
}
