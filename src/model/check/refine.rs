//! What a refinement keeps of its abstraction: signatures, and of preconditions the parts that speak
//! only of what it still sees. The rest was there to give types and goes.

use super::Checker;
use super::expr::plural;
use super::fill::conjunction;
use crate::lang::ast::BinOp;
use crate::lang::b::compose::Composed;
use crate::lang::diag::Diagnostic;
use crate::model::{Expr, ExprKind, LocalId, Stmt, StmtKind, Target};

impl Checker<'_> {
    /// A refined operation has the signature of the abstract one.
    pub(super) fn refined_operations(&mut self, composed: &Composed) {
        for (at, def) in composed.operations.iter().enumerate() {
            let Some(above) = def.refines else { continue };
            let (op, abstract_op) = (&self.model.operations[at], &self.model.operations[above]);
            let (span, above_span, name) = (op.span, abstract_op.span, op.name.clone());
            let pairs = [
                ("parameter", op.params.clone(), abstract_op.params.clone()),
                ("result", op.results.clone(), abstract_op.results.clone()),
            ];
            for (what, own, theirs) in pairs {
                if own.len() != theirs.len() {
                    let n = theirs.len();
                    let message = format!("`{name}` refines an operation with {n} {what}{}", plural(n));
                    self.diags.push(
                        Diagnostic::error("B0206", span, message).note(above_span, "the abstract operation"),
                    );
                }
                for (a, b) in own.iter().zip(&theirs) {
                    let (a, b) = (self.model.local(*a).clone(), self.model.local(*b).clone());
                    if !self.uni.unify(&a.ty, &b.ty) {
                        let (found, want) = (self.show(&a.ty), self.show(&b.ty));
                        let message = format!("`{}` is {found} here and {want} in the abstraction", a.name);
                        self.diags
                            .push(Diagnostic::error("B0203", a.span, message).note(b.span, "declared here"));
                    }
                }
            }
        }
    }

    /// After the types are known: preconditions are inherited, abstract variables and operations go.
    pub(super) fn drop_abstract(&mut self, composed: &Composed) {
        if self.failed() {
            return;
        }
        let state = composed.state_variables;
        let visible = |e: &Expr| {
            !e.any(&|e| matches!(e.kind, ExprKind::Var(v) | ExprKind::Old(v) if v.index() >= state))
        };
        // Abstract operations first: a chain of refinements passes its preconditions down.
        let mut order: Vec<usize> = (0..composed.operations.len()).collect();
        order.sort_by_key(|i| depth(composed, *i));
        for at in order {
            let Some(above) = composed.operations[at].refines else { continue };
            let abstract_op = &self.model.operations[above];
            let mut kept = vec![];
            if let StmtKind::Pre(p, _) = &abstract_op.body.kind {
                for part in conjuncts(p) {
                    if visible(part) {
                        let mut part = part.clone();
                        rename(&mut part, &abstract_op.params, &self.model.operations[at].params);
                        kept.push(part);
                    }
                }
            }
            let op = &mut self.model.operations[at];
            let span = op.body.span;
            let mut body = std::mem::take(&mut op.body);
            if let Stmt { kind: StmtKind::Pre(p, inner), .. } = body {
                kept.push(p);
                body = *inner;
            }
            op.body = match conjunction(kept, span) {
                Some(p) => Stmt { kind: StmtKind::Pre(p, Box::new(body)), span },
                None => body,
            };
        }
        self.model.invariant.retain(&visible);
        self.model.assertions.retain(&visible);
        self.model.operations.truncate(composed.live_operations);
        let mut blind = vec![];
        for op in &self.model.operations {
            if mentions_abstract(&op.body, state, composed.live_operations) {
                blind.push((op.name.clone(), op.span));
            }
        }
        for (name, span) in blind {
            let message = format!(
                "the operation `{name}` of the abstraction speaks of variables that the refinement does not have"
            );
            let help = format!("refine `{name}`");
            self.diags.push(Diagnostic::error("B0216", span, message).help(help));
        }
        if mentions_abstract(&self.model.initialisation, state, composed.live_operations) {
            let span = self.model.initialisation.span;
            self.error("B0216", span, "the initialisation speaks of variables of the abstraction");
        }
        self.model.variables.truncate(state);
    }
}

/// How many abstractions are above an operation.
fn depth(composed: &Composed, mut at: usize) -> usize {
    let mut depth = 0;
    while let Some(above) = composed.operations[at].refines {
        depth += 1;
        at = above;
    }
    depth
}

fn conjuncts(e: &Expr) -> Vec<&Expr> {
    match &e.kind {
        ExprKind::Binary(BinOp::And, a, b) => {
            let mut parts = conjuncts(a);
            parts.extend(conjuncts(b));
            parts
        }
        _ => vec![e],
    }
}

fn rename(e: &mut Expr, from: &[LocalId], to: &[LocalId]) {
    if let ExprKind::Local(l) = &mut e.kind
        && let Some(i) = from.iter().position(|f| f == l)
        && let Some(new) = to.get(i)
    {
        *l = *new;
    }
    e.for_each_child_mut(&mut |c| rename(c, from, to));
}

fn mentions_abstract(s: &Stmt, state: usize, live: usize) -> bool {
    let written = |t: &Target| matches!(t, Target::Var(v) if v.index() >= state);
    let mut found = match &s.kind {
        StmtKind::Assign(pairs) => pairs.iter().any(|(l, _)| written(&l.target)),
        StmtKind::BecomesElement(lhs, _) => lhs.iter().any(|l| written(&l.target)),
        StmtKind::BecomesSuch { targets, .. } => targets.iter().any(written),
        StmtKind::Call { op, results, .. } => {
            op.index() >= live || results.iter().any(|l| written(&l.target))
        }
        _ => false,
    };
    s.for_each_expr(&mut |e| {
        found |= e.any(&|e| matches!(e.kind, ExprKind::Var(v) | ExprKind::Old(v) if v.index() >= state));
    });
    s.for_each_child(&mut |c| found = found || mentions_abstract(c, state, live));
    found
}
