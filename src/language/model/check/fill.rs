//! The end of inference: types are put into the tree, and what waited for them is decided.

use super::Checker;
use crate::lang::ast::{BinOp, Fun, Lit};
use crate::lang::diag::Span;
use crate::model::whole::whole;
use crate::model::{Access, Expr, ExprKind, Lhs, Stmt, StmtKind, Type};

impl Checker<'_> {
    /// Reports every declared thing whose type is still open. Silent when there were other errors: those
    /// are usually why.
    pub(super) fn check_types_known(&mut self) {
        if self.failed() {
            return;
        }
        let mut untyped = vec![];
        for (what, decls) in [
            ("constant", &self.model.constants),
            ("variable", &self.model.variables),
            ("identifier", &self.model.locals),
        ] {
            for d in decls.iter().filter(|d| self.uni.is_open(&d.ty)) {
                untyped.push((what, d.name.clone(), d.ty.clone(), d.span));
            }
        }
        for (what, name, ty, span) in untyped {
            self.untyped(what, &name, &ty, span);
        }
    }

    /// The same for the locals from `first` on, which also get their types.
    pub(super) fn close_locals(&mut self, first: usize) {
        let mut untyped = vec![];
        for d in self.model.locals.iter_mut().skip(first) {
            if self.uni.is_open(&d.ty) {
                untyped.push((d.name.clone(), d.ty.clone(), d.span));
            }
            d.ty = self.uni.deep(&d.ty);
        }
        if !self.failed() {
            for (name, ty, span) in untyped {
                self.untyped("identifier", &name, &ty, span);
            }
        }
    }

    pub(super) fn fill_model(&mut self) {
        if self.failed() {
            return;
        }
        let mut model = std::mem::take(&mut self.model);
        for d in model.constants.iter_mut().chain(&mut model.variables).chain(&mut model.locals) {
            d.ty = self.uni.deep(&d.ty);
        }
        let predicates = model
            .properties
            .iter_mut()
            .chain(&mut model.invariant)
            .chain(&mut model.assertions)
            .chain(&mut model.goal);
        for e in predicates {
            self.fill_expr(e);
        }
        let mut inherited = std::mem::take(&mut self.inherited);
        inherited.iter_mut().for_each(|e| self.fill_expr(e));
        self.inherited = inherited;
        self.fill_stmt(&mut model.initialisation);
        for op in &mut model.operations {
            self.fill_stmt(&mut op.body);
        }
        self.model = model;
    }

    pub(super) fn fill_expr(&mut self, e: &mut Expr) {
        e.for_each_child_mut(&mut |c| self.fill_expr(c));
        // What is open here is a type that does not matter, as in `card({}) = 0`.
        self.uni.close(&e.ty);
        e.ty = self.uni.deep(&e.ty);
        if let ExprKind::Field(_, at) = &mut e.kind {
            *at = self.field_place(*at);
        }
        match &mut e.kind {
            ExprKind::Lit(Lit::Whole) => {
                if let Some(elements) = e.ty.elem() {
                    e.kind = whole(elements, e.span).kind;
                }
            }
            // What a variant demands, see `ast::ExprKind::Below`; otherwise only numbers are compared.
            ExprKind::Binary(op @ BinOp::Lt, a, _) if matches!(a.ty, Type::Pow(_)) => {
                *op = BinOp::StrictSubset
            }
            // Not negative is for numbers what finite is for sets.
            ExprKind::Binary(BinOp::Le, a, b) if matches!(a.ty, Type::Pow(_)) => {
                let (kind, ty, span) =
                    (ExprKind::Call(Fun::Fin, vec![(**b).clone()]), b.ty.clone().pow(), b.span);
                let finite = Expr { kind, ty, span };
                e.kind = ExprKind::Binary(BinOp::In, b.clone(), Box::new(finite));
            }
            ExprKind::Lit(Lit::EmptySet) if e.ty == Type::Int => e.kind = ExprKind::Int(0.into()),
            _ => {}
        }
        if let (ExprKind::Binary(op @ (BinOp::Sub | BinOp::Mul | BinOp::Product), ..), Type::Pow(_)) =
            (&e.kind, &e.ty)
        {
            let op = *op;
            let kind = std::mem::replace(&mut e.kind, ExprKind::Lit(Lit::EmptySet));
            e.kind = match kind {
                ExprKind::Binary(_, a, b) if op != BinOp::Sub => ExprKind::Product(a, b),
                ExprKind::Binary(_, a, b) => ExprKind::Binary(BinOp::Diff, a, b),
                other => other,
            };
        }
    }

    /// From the number of a use to the field's place in its record.
    fn field_place(&self, usage: u32) -> u32 {
        let Some((name, record)) = self.fields.get(usage as usize) else { return 0 };
        let record = self.uni.shallow(record);
        let place = record.fields().and_then(|f| f.iter().position(|(n, _)| n == name));
        // A missing field has been reported, and then nothing is built.
        place.unwrap_or(0) as u32
    }

    fn fill_lhs(&mut self, lhs: &mut Lhs) {
        for step in &mut lhs.path {
            if let Access::Field(at) = step {
                *at = self.field_place(*at);
            }
        }
    }

    pub(super) fn fill_stmt(&mut self, s: &mut Stmt) {
        s.for_each_expr_mut(&mut |e| self.fill_expr(e));
        match &mut s.kind {
            StmtKind::Assign(pairs) => pairs.iter_mut().for_each(|(l, _)| self.fill_lhs(l)),
            StmtKind::BecomesElement(lhs, _) => lhs.iter_mut().for_each(|l| self.fill_lhs(l)),
            StmtKind::Call { results, .. } => results.iter_mut().for_each(|l| self.fill_lhs(l)),
            _ => {}
        }
        s.for_each_child_mut(&mut |c| self.fill_stmt(c));
    }
}

/// The conjunction of predicates; `None` of none.
pub(super) fn conjunction(parts: Vec<Expr>, span: Span) -> Option<Expr> {
    parts.into_iter().reduce(|a, b| Expr {
        kind: ExprKind::Binary(BinOp::And, Box::new(a), Box::new(b)),
        ty: Type::Pred,
        span,
    })
}
