//! Smaller trees of the same type, and trees as text.

use kanon::model::{Expr, ExprKind, Fun, Lit, LocalId, Stmt, StmtKind, Type};
use std::collections::BTreeSet;
use std::fmt;

/// Trees that are smaller: a leaf, a part of the same type, or the tree with a smaller part.
pub fn shrink_expr(e: &Expr) -> Vec<Expr> {
    let mut out = vec![];
    if size(e) <= 1 {
        return out;
    }
    out.extend(leaf(e));
    let outer = free(e);
    let mut parts = vec![];
    descendants(e, &mut parts);
    for part in parts {
        if part.ty == e.ty && free(part).is_subset(&outer) {
            out.push(part.clone());
        }
    }
    let mut children = vec![];
    e.for_each_child(&mut |c| children.push(c));
    for (i, child) in children.into_iter().enumerate() {
        for smaller in shrink_expr(child) {
            let mut whole = e.clone();
            let mut at = 0;
            whole.for_each_child_mut(&mut |c| {
                if at == i {
                    *c = smaller.clone();
                }
                at += 1;
            });
            out.push(whole);
        }
    }
    out
}

/// Statements that are smaller: a part, skip, or the statement with a smaller part or expression.
pub fn shrink_stmt(s: &Stmt) -> Vec<Stmt> {
    let mut out = vec![];
    if matches!(s.kind, StmtKind::Skip) {
        return out;
    }
    out.push(Stmt { kind: StmtKind::Skip, span: s.span });
    let mut children = vec![];
    s.for_each_child(&mut |c| children.push(c.clone()));
    // A part may use what the whole binds.
    if !matches!(s.kind, StmtKind::Any(..) | StmtKind::Let(..) | StmtKind::Var(..)) {
        out.extend(children.iter().cloned());
    }
    for (i, child) in children.iter().enumerate() {
        for smaller in shrink_stmt(child) {
            let mut whole = s.clone();
            let mut at = 0;
            whole.for_each_child_mut(&mut |c| {
                if at == i {
                    *c = smaller.clone();
                }
                at += 1;
            });
            out.push(whole);
        }
    }
    let mut exprs = vec![];
    s.clone().for_each_expr_mut(&mut |e| exprs.push(e.clone()));
    for (i, e) in exprs.iter().enumerate() {
        for smaller in shrink_expr(e) {
            let mut whole = s.clone();
            let mut at = 0;
            whole.for_each_expr_mut(&mut |e| {
                if at == i {
                    *e = smaller.clone();
                }
                at += 1;
            });
            out.push(whole);
        }
    }
    out
}

fn size(e: &Expr) -> usize {
    let mut n = 1;
    e.for_each_child(&mut |c| n += size(c));
    n
}

fn descendants<'a>(e: &'a Expr, out: &mut Vec<&'a Expr>) {
    e.for_each_child(&mut |c| {
        out.push(c);
        descendants(c, out);
    });
}

fn free(e: &Expr) -> BTreeSet<LocalId> {
    let mut out = BTreeSet::new();
    if let ExprKind::Local(id) | ExprKind::OldLocal(id) = &e.kind {
        out.insert(*id);
    }
    e.for_each_child(&mut |c| out.extend(free(c)));
    match &e.kind {
        ExprKind::Quant(_, ids, _) | ExprKind::Compr(ids, _) => ids.iter().for_each(|id| {
            out.remove(id);
        }),
        ExprKind::Bind(_, ids, _, _) | ExprKind::ComprMap(ids, _, _) => ids.iter().for_each(|id| {
            out.remove(id);
        }),
        ExprKind::Let(defs, _) => defs.iter().for_each(|(id, _)| {
            out.remove(id);
        }),
        _ => {}
    }
    out
}

/// The simplest expression of the type, where it has a name.
fn leaf(e: &Expr) -> Vec<Expr> {
    let kinds = match &e.ty {
        Type::Pred => vec![ExprKind::Lit(Lit::BTrue), ExprKind::Lit(Lit::BFalse)],
        Type::Bool => vec![ExprKind::Lit(Lit::True)],
        Type::Int => vec![ExprKind::Int(0.into()), ExprKind::Int(1.into())],
        Type::Str => vec![ExprKind::Str("".into())],
        Type::Real => vec![ExprKind::Real(num_rational::BigRational::from_integer(0.into()))],
        Type::Free(_) => vec![ExprKind::Call(Fun::Construct(0), vec![])],
        Type::Pow(_) => vec![ExprKind::Lit(Lit::EmptySet)],
        _ => vec![],
    };
    kinds.into_iter().map(|kind| Expr { kind, ty: e.ty.clone(), span: e.span }).collect()
}

/// A tree as `(Union v2 (SetExt 1 2))`.
pub struct Sexp<'a>(pub &'a Expr);

impl fmt::Display for Sexp<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ids = |ids: &[LocalId]| ids.iter().map(|l| format!("x{}", l.0)).collect::<Vec<_>>().join(",");
        let head = match &self.0.kind {
            ExprKind::Const(id) => return write!(f, "k{}", id.0),
            ExprKind::Var(id) => return write!(f, "v{}", id.0),
            ExprKind::Old(id) => return write!(f, "v{}$0", id.0),
            ExprKind::Local(id) => return write!(f, "x{}", id.0),
            ExprKind::OldLocal(id) => return write!(f, "x{}$0", id.0),
            ExprKind::Given(id) => return write!(f, "Given{}", id.0),
            ExprKind::Elem(id, i) => return write!(f, "Given{}_{i}", id.0),
            ExprKind::Int(i) => return write!(f, "{i}"),
            ExprKind::Real(r) => return write!(f, "{r}"),
            ExprKind::Str(s) => return write!(f, "{s:?}"),
            ExprKind::Lit(lit) => return write!(f, "{lit:?}"),
            ExprKind::Unary(op, _) => format!("{op:?}"),
            ExprKind::Binary(op, ..) => format!("{op:?}"),
            ExprKind::Product(..) => "Product".into(),
            ExprKind::Apply(..) => "Apply".into(),
            ExprKind::Image(..) => "Image".into(),
            ExprKind::Call(fun, _) => format!("{fun:?}"),
            ExprKind::First(_) => "FirstOf".into(),
            ExprKind::Second(_) => "SecondOf".into(),
            ExprKind::Quant(q, l, _) => format!("{q:?} {}", ids(l)),
            ExprKind::Bind(b, l, ..) => format!("{b:?} {}", ids(l)),
            ExprKind::Compr(l, _) => format!("Compr {}", ids(l)),
            ExprKind::ComprMap(l, ..) => format!("ComprMap {}", ids(l)),
            ExprKind::SetExt(_) => "SetExt".into(),
            ExprKind::SeqExt(_) => "SeqExt".into(),
            ExprKind::Rec(_) => "Rec".into(),
            ExprKind::Struct(_) => "Struct".into(),
            ExprKind::Field(_, i) => format!("Field{i}"),
            ExprKind::Bool(_) => "Bool".into(),
            ExprKind::HasValue(_) => "HasValue".into(),
            ExprKind::Demand(_) => "Demand".into(),
            ExprKind::If(..) => "If".into(),
            ExprKind::Let(defs, _) => {
                format!("Let {}", ids(&defs.iter().map(|(id, _)| *id).collect::<Vec<_>>()))
            }
        };
        write!(f, "({head}")?;
        let mut children = vec![];
        self.0.for_each_child(&mut |c| children.push(c));
        for c in children {
            write!(f, " {}", Sexp(c))?;
        }
        f.write_str(")")
    }
}
