//! Takes the numbers off bound names where nothing is confused by it.

use crate::lang::ast::{Expr, ExprKind, Ident, Machine, Name, Subst, SubstKind};
use crate::lang::walk::{children_mut, subst_children_mut};
use std::collections::HashSet;

/// Renames what is bound in a machine.
pub fn machine(m: &mut Machine) {
    let mut taken: HashSet<Name> = HashSet::new();
    for set in &m.sets {
        taken.insert(set.name.name.clone());
        taken.extend(set.elements.iter().flatten().map(|id| id.name.clone()));
    }
    for free in &m.freetypes {
        taken.insert(free.name.name.clone());
        taken.extend(free.cases.iter().map(|(id, _)| id.name.clone()));
    }
    taken.extend(m.constants.iter().chain(&m.variables).map(|id| id.name.clone()));
    for op in &m.operations {
        taken.extend(op.params.iter().chain(&op.results).map(|id| id.name.clone()));
    }
    let mut scope = Scope { taken, inside: vec![] };
    for free in &mut m.freetypes {
        free.cases.iter_mut().filter_map(|(_, e)| e.as_mut()).for_each(|e| scope.expr(e));
    }
    m.properties.iter_mut().chain(&mut m.invariant).for_each(|e| scope.expr(e));
    m.assertions.iter_mut().for_each(|e| scope.expr(e));
    m.initialisation.iter_mut().for_each(|s| scope.subst(s));
    m.operations.iter_mut().for_each(|op| scope.subst(&mut op.body));
}

struct Scope {
    /// Names that mean something else.
    taken: HashSet<Name>,
    /// Names with numbers, and what stands for them.
    inside: Vec<(Name, Name)>,
}

impl Scope {
    fn bind(&mut self, ids: &mut [Ident]) {
        for id in ids {
            let base = id.name.split('·').next().unwrap_or(&id.name);
            let is_taken =
                |s: &Scope, n: &str| s.taken.contains(n) || s.inside.iter().any(|(_, m)| **m == *n);
            let mut short: Name = base.into();
            let mut n = 1;
            while is_taken(self, &short) {
                short = format!("{base}·{n}").into();
                n += 1;
            }
            self.inside.push((std::mem::replace(&mut id.name, short.clone()), short));
        }
    }

    fn expr(&mut self, e: &mut Expr) {
        let depth = self.inside.len();
        match &mut e.kind {
            ExprKind::Name(n) => {
                if let Some((_, short)) = self.inside.iter().rev().find(|(m, _)| m == n) {
                    *n = short.clone();
                }
                return;
            }
            ExprKind::Quant(_, ids, _)
            | ExprKind::Bind(_, ids, ..)
            | ExprKind::Compr(ids, _)
            | ExprKind::ComprMap(ids, ..)
            | ExprKind::Let(ids, ..) => self.bind(ids),
            _ => {}
        }
        children_mut(e, &mut |c| self.expr(c));
        self.inside.truncate(depth);
    }

    fn subst(&mut self, s: &mut Subst) {
        let depth = self.inside.len();
        if let SubstKind::Any(ids, ..) = &mut s.kind {
            self.bind(ids);
        }
        // The walk hands out expressions and substitutions to two who both need this.
        let (mut exprs, mut substs) = (vec![], vec![]);
        subst_children_mut(s, &mut |e| exprs.push(e), &mut |s| substs.push(s));
        exprs.into_iter().for_each(|e| self.expr(e));
        substs.into_iter().for_each(|s| self.subst(s));
        self.inside.truncate(depth);
    }
}
