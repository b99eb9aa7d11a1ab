//! A type as the set of all its values.

use super::{Expr, ExprKind, Fun, Lit, Type};
use crate::lang::diag::Span;

/// The set of all values of a type.
pub fn whole(ty: &Type, span: Span) -> Expr {
    let one = |ty: &Type| Box::new(whole(ty, span));
    let kind = match ty {
        // Nothing has this type.
        Type::Pred => ExprKind::Lit(Lit::EmptySet),
        Type::Bool => ExprKind::Lit(Lit::BoolSet),
        Type::Int => ExprKind::Lit(Lit::Integer),
        Type::Str => ExprKind::Lit(Lit::StringSet),
        Type::Real => ExprKind::Lit(Lit::RealSet),
        Type::Free(_) | Type::Again(_) => ExprKind::Lit(Lit::Whole),
        Type::Given(set) => ExprKind::Given(*set),
        Type::Pair(p) => ExprKind::Product(one(&p.0), one(&p.1)),
        Type::Pow(t) => ExprKind::Call(Fun::Pow, vec![whole(t, span)]),
        Type::Rec(fields) => ExprKind::Struct(fields.iter().map(|(_, t)| whole(t, span)).collect()),
    };
    Expr { kind, ty: ty.clone().pow(), span }
}
