//! Walking typed trees: the direct parts of an expression or a statement, once for reading and once for
//! rewriting. Whoever needs the whole tree recurses.

use super::{Access, BinOp, Expr, ExprKind as E, Lhs, Lit, LocalId, Model, OpId, Stmt, StmtKind as S, VarId};

impl Model {
    /// Calls `f` for each expression that stands in the model, the largest ones only.
    pub fn for_each_expr<'a>(&'a self, f: &mut dyn FnMut(&'a Expr)) {
        let predicates = [&self.properties, &self.invariant, &self.assertions];
        predicates.into_iter().flatten().chain(&self.goal).for_each(&mut *f);
        self.freetypes.iter().flat_map(|t| t.arguments.iter().flatten()).for_each(&mut *f);
        fn inside<'a>(s: &'a Stmt, f: &mut dyn FnMut(&'a Expr)) {
            s.for_each_expr(f);
            s.for_each_child(&mut |c| inside(c, f));
        }
        inside(&self.initialisation, f);
        self.operations.iter().for_each(|o| inside(&o.body, f));
    }
}

impl Expr {
    /// `a op b op c`: its operands from left to right; itself if it is no such chain.
    pub fn operands(&self, op: BinOp) -> Vec<&Expr> {
        let (mut found, mut open) = (vec![], vec![self]);
        while let Some(e) = open.pop() {
            match &e.kind {
                E::Binary(o, a, b) if *o == op => open.extend([&**b, &**a]),
                _ => found.push(e),
            }
        }
        found
    }

    /// Its conjuncts from left to right.
    pub fn conjuncts(&self) -> Vec<&Expr> {
        self.operands(BinOp::And)
    }

    /// Calls `f` for each direct part.
    pub fn for_each_child<'a>(&'a self, f: &mut dyn FnMut(&'a Expr)) {
        match &self.kind {
            E::Const(_) | E::Var(_) | E::Old(_) | E::OldLocal(_) | E::Local(_) | E::Given(_) => {}
            E::Elem(..) | E::Int(_) | E::Real(_) | E::Str(_) | E::Lit(_) => {}
            E::Unary(_, a)
            | E::First(a)
            | E::Second(a)
            | E::Field(a, _)
            | E::Bool(a)
            | E::HasValue(a)
            | E::Demand(a) => f(a),
            E::Quant(_, _, a) | E::Compr(_, a) => f(a),
            E::Binary(_, a, b) | E::Product(a, b) | E::Apply(a, b) | E::Image(a, b) => {
                f(a);
                f(b);
            }
            E::Bind(_, _, a, b) | E::ComprMap(_, a, b) => {
                f(a);
                f(b);
            }
            E::Call(_, args) | E::SetExt(args) | E::SeqExt(args) | E::Rec(args) | E::Struct(args) => {
                args.iter().for_each(f);
            }
            E::If(a, b, c) => {
                f(a);
                f(b);
                f(c);
            }
            E::Let(defs, body) => {
                defs.iter().for_each(|(_, e)| f(e));
                f(body);
            }
        }
    }

    /// Calls `f` for each direct part, which it may change.
    pub fn for_each_child_mut(&mut self, f: &mut dyn FnMut(&mut Expr)) {
        match &mut self.kind {
            E::Const(_) | E::Var(_) | E::Old(_) | E::OldLocal(_) | E::Local(_) | E::Given(_) => {}
            E::Elem(..) | E::Int(_) | E::Real(_) | E::Str(_) | E::Lit(_) => {}
            E::Unary(_, a)
            | E::First(a)
            | E::Second(a)
            | E::Field(a, _)
            | E::Bool(a)
            | E::HasValue(a)
            | E::Demand(a) => f(a),
            E::Quant(_, _, a) | E::Compr(_, a) => f(a),
            E::Binary(_, a, b) | E::Product(a, b) | E::Apply(a, b) | E::Image(a, b) => {
                f(a);
                f(b);
            }
            E::Bind(_, _, a, b) | E::ComprMap(_, a, b) => {
                f(a);
                f(b);
            }
            E::Call(_, args) | E::SetExt(args) | E::SeqExt(args) | E::Rec(args) | E::Struct(args) => {
                args.iter_mut().for_each(f);
            }
            E::If(a, b, c) => {
                f(a);
                f(b);
                f(c);
            }
            E::Let(defs, body) => {
                defs.iter_mut().for_each(|(_, e)| f(e));
                f(body);
            }
        }
    }

    /// Calls `f` for the expression and all its parts.
    pub fn for_each_part<'a>(&'a self, f: &mut dyn FnMut(&'a Expr)) {
        f(self);
        self.for_each_child(&mut |c| c.for_each_part(f));
    }

    /// Whether the expression or a part of it satisfies the test.
    pub fn any(&self, test: &dyn Fn(&Expr) -> bool) -> bool {
        if test(self) {
            return true;
        }
        let mut found = false;
        self.for_each_child(&mut |c| found = found || c.any(test));
        found
    }

    /// Whether it is that literal.
    pub fn kind_is(&self, l: Lit) -> bool {
        matches!(self.kind, E::Lit(k) if k == l)
    }

    pub fn mentions_local(&self, local: LocalId) -> bool {
        self.any(&|e| matches!(e.kind, E::Local(l) if l == local))
    }

    /// Whether it asks whether something has a value.
    pub fn asks_for_values(&self) -> bool {
        self.any(&|e| matches!(e.kind, E::HasValue(_) | E::Demand(_)))
    }

    /// Replaces parts, as far as `f` has something for them.
    pub fn replace(&mut self, f: &dyn Fn(&E) -> Option<E>) {
        match f(&self.kind) {
            Some(kind) => self.kind = kind,
            None => self.for_each_child_mut(&mut |c| c.replace(f)),
        }
    }

    pub fn mentions_var(&self, var: VarId) -> bool {
        self.any(&|e| matches!(e.kind, E::Var(v) | E::Old(v) if v == var))
    }
}

impl Lhs {
    fn for_each_expr<'a>(&'a self, f: &mut dyn FnMut(&'a Expr)) {
        for step in &self.path {
            if let Access::Index(e) = step {
                f(e);
            }
        }
    }

    fn for_each_expr_mut(&mut self, f: &mut dyn FnMut(&mut Expr)) {
        for step in &mut self.path {
            if let Access::Index(e) = step {
                f(e);
            }
        }
    }
}

impl Stmt {
    /// Adds the operations that it calls.
    pub fn calls(&self, called: &mut Vec<OpId>) {
        if let S::Call { op, .. } = self.kind {
            called.push(op);
        }
        self.for_each_child(&mut |c| c.calls(called));
    }

    /// Calls `f` for the statement and all its parts, which it may change.
    pub fn for_each_part_mut(&mut self, f: &mut dyn FnMut(&mut Stmt)) {
        f(self);
        self.for_each_child_mut(&mut |c| c.for_each_part_mut(f));
    }

    /// Calls `f` for each direct part that is a statement.
    pub fn for_each_child<'a>(&'a self, f: &mut dyn FnMut(&'a Stmt)) {
        match &self.kind {
            S::Skip | S::Assign(_) | S::BecomesElement(..) | S::BecomesSuch { .. } | S::Call { .. } => {}
            S::Pre(_, s) | S::Assert(_, s) | S::Any(_, _, s) | S::Let(_, s) | S::Var(_, s) => f(s),
            S::While { body, .. } => f(body),
            S::Select(arms, rest) | S::If(arms, rest) => {
                arms.iter().for_each(|(_, s)| f(s));
                rest.iter().for_each(|s| f(s));
            }
            S::Case(_, arms, rest) => {
                arms.iter().for_each(|(_, s)| f(s));
                rest.iter().for_each(|s| f(s));
            }
            S::Choice(parts) | S::Seq(parts) | S::Par(parts) => parts.iter().for_each(f),
        }
    }

    /// Calls `f` for each direct part that is a statement, which it may change.
    pub fn for_each_child_mut(&mut self, f: &mut dyn FnMut(&mut Stmt)) {
        match &mut self.kind {
            S::Skip | S::Assign(_) | S::BecomesElement(..) | S::BecomesSuch { .. } | S::Call { .. } => {}
            S::Pre(_, s) | S::Assert(_, s) | S::Any(_, _, s) | S::Let(_, s) | S::Var(_, s) => f(s),
            S::While { body, .. } => f(body),
            S::Select(arms, rest) | S::If(arms, rest) => {
                arms.iter_mut().for_each(|(_, s)| f(s));
                rest.iter_mut().for_each(|s| f(s));
            }
            S::Case(_, arms, rest) => {
                arms.iter_mut().for_each(|(_, s)| f(s));
                rest.iter_mut().for_each(|s| f(s));
            }
            S::Choice(parts) | S::Seq(parts) | S::Par(parts) => parts.iter_mut().for_each(f),
        }
    }

    /// Calls `f` for each expression that stands directly in this statement.
    pub fn for_each_expr<'a>(&'a self, f: &mut dyn FnMut(&'a Expr)) {
        match &self.kind {
            S::Skip | S::Choice(_) | S::Seq(_) | S::Par(_) | S::Var(..) => {}
            S::Assign(pairs) => pairs.iter().for_each(|(lhs, e)| {
                lhs.for_each_expr(f);
                f(e);
            }),
            S::BecomesElement(lhs, e) => {
                lhs.iter().for_each(|l| l.for_each_expr(f));
                f(e);
            }
            S::BecomesSuch { pred, .. } => f(pred),
            S::Pre(e, _) | S::Assert(e, _) | S::Any(_, e, _) => f(e),
            S::Select(arms, _) | S::If(arms, _) => arms.iter().for_each(|(e, _)| f(e)),
            S::Case(e, arms, _) => {
                f(e);
                arms.iter().for_each(|(labels, _)| labels.iter().for_each(&mut *f));
            }
            S::Let(defs, _) => defs.iter().for_each(|(_, e)| f(e)),
            S::While { cond, invariant, variant, .. } => {
                f(cond);
                f(invariant);
                f(variant);
            }
            S::Call { results, args, .. } => {
                results.iter().for_each(|l| l.for_each_expr(f));
                args.iter().for_each(f);
            }
        }
    }

    /// Calls `f` for each expression that stands directly in this statement, which it may change.
    pub fn for_each_expr_mut(&mut self, f: &mut dyn FnMut(&mut Expr)) {
        match &mut self.kind {
            S::Skip | S::Choice(_) | S::Seq(_) | S::Par(_) | S::Var(..) => {}
            S::Assign(pairs) => pairs.iter_mut().for_each(|(lhs, e)| {
                lhs.for_each_expr_mut(f);
                f(e);
            }),
            S::BecomesElement(lhs, e) => {
                lhs.iter_mut().for_each(|l| l.for_each_expr_mut(f));
                f(e);
            }
            S::BecomesSuch { pred, .. } => f(pred),
            S::Pre(e, _) | S::Assert(e, _) | S::Any(_, e, _) => f(e),
            S::Select(arms, _) | S::If(arms, _) => arms.iter_mut().for_each(|(e, _)| f(e)),
            S::Case(e, arms, _) => {
                f(e);
                arms.iter_mut().for_each(|(labels, _)| labels.iter_mut().for_each(&mut *f));
            }
            S::Let(defs, _) => defs.iter_mut().for_each(|(_, e)| f(e)),
            S::While { cond, invariant, variant, .. } => {
                f(cond);
                f(invariant);
                f(variant);
            }
            S::Call { results, args, .. } => {
                results.iter_mut().for_each(|l| l.for_each_expr_mut(f));
                args.iter_mut().for_each(f);
            }
        }
    }
}
