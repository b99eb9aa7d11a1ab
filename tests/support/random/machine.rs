//! Random substitutions and whole models.

use super::shrink::{Sexp, shrink_expr, shrink_stmt};
use super::{D, Generator, S};
use kanon::model::{
    Access, BinOp, Expr, ExprKind, Lhs, LocalId, Model, OpId, Operation, Stmt, StmtKind, Target, Type, VarId,
};
use kanon::value::Scope;
use std::fmt;

/// A model with constants, variables, a called operation and some events. Its state space may be infinite.
#[derive(Clone)]
pub struct Machine {
    pub seed: u64,
    pub model: Model,
    pub scope: Scope,
}

impl Machine {
    /// `size` is about the number of nodes of each body. In three of four machines only some elements of the sets can be
    /// named; D, which is deferred, has more than the one that is.
    pub fn new(seed: u64, size: usize) -> Machine {
        let mut g = Generator::new(seed);
        g.names = [[3, 0], [1, 1], [1, 0], [2, 1]][(seed % 4) as usize];
        if seed % 4 == 3 {
            g.model.sets[S.index()].elements = Some(["a", "b", "c", "d"].map(Into::into).to_vec());
            g.scope.card[S.index()] = 4;
        }
        g.machine(size);
        Machine { seed, model: g.model, scope: g.scope }
    }

    /// The same with sets that may be infinite, constants that are such sets among them.
    pub fn infinite(seed: u64, size: usize) -> Machine {
        let mut g = Generator::new(seed);
        g.infinite = 15 + g.choice.below(40);
        g.machine(size);
        Machine { seed, model: g.model, scope: g.scope }
    }

    /// The same with real numbers and freetypes.
    pub fn typed(seed: u64, size: usize) -> Machine {
        let mut g = Generator::new(seed);
        g.with_typed();
        g.machine(size);
        Machine { seed, model: g.model, scope: g.scope }
    }

    /// Models with an operation, a conjunct or a part of a body less.
    pub fn smaller(&self) -> Vec<Machine> {
        let mut out = vec![];
        let mut with = |change: &dyn Fn(&mut Model)| {
            let mut machine = self.clone();
            change(&mut machine.model);
            out.push(machine);
        };
        // Operations are called by their place, so they stay there.
        for i in 0..self.model.operations.len() {
            if self.model.operations[i].is_event {
                with(&|m| m.operations[i].is_event = false);
            }
        }
        for i in 0..self.model.invariant.len() {
            with(&|m| drop(m.invariant.remove(i)));
        }
        for (i, p) in self.model.properties.iter().enumerate().skip(self.model.constants.len()) {
            with(&|m| drop(m.properties.remove(i)));
            shrink_expr(p).into_iter().for_each(|p| with(&|m| m.properties[i] = p.clone()));
        }
        for (i, op) in self.model.operations.iter().enumerate() {
            for body in shrink_stmt(&op.body) {
                with(&|m| m.operations[i].body = body.clone());
            }
        }
        out
    }
}

impl fmt::Debug for Machine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "seed {} scope {:?}", self.seed, self.scope)?;
        for p in &self.model.properties {
            writeln!(f, "  property {}", Sexp(p))?;
        }
        for p in &self.model.invariant {
            writeln!(f, "  invariant {}", Sexp(p))?;
        }
        writeln!(f, "  init")?;
        show(f, &self.model.initialisation, 2)?;
        for op in &self.model.operations {
            let ids = |ids: &[LocalId]| ids.iter().map(|l| format!("x{}", l.0)).collect::<Vec<_>>().join(",");
            writeln!(f, "  {} <-- {}({})", ids(&op.results), op.name, ids(&op.params))?;
            show(f, &op.body, 2)?;
        }
        Ok(())
    }
}

fn show(f: &mut fmt::Formatter<'_>, s: &Stmt, depth: usize) -> fmt::Result {
    let head = match &s.kind {
        StmtKind::Skip => "skip".to_string(),
        StmtKind::Assign(pairs) => {
            format!("assign {:?}", pairs.iter().map(|(l, _)| l.target).collect::<Vec<_>>())
        }
        StmtKind::BecomesElement(l, _) => format!("{:?} ::", l.iter().map(|l| l.target).collect::<Vec<_>>()),
        StmtKind::BecomesSuch { targets, fresh, .. } => format!("{targets:?} :(_) by {fresh:?}"),
        StmtKind::Any(l, ..) => format!("any {l:?}"),
        StmtKind::Var(l, _) => format!("var {l:?}"),
        StmtKind::Call { results, op, .. } => {
            format!("{:?} <-- op{}", results.iter().map(|l| l.target).collect::<Vec<_>>(), op.0)
        }
        other => format!("{other:?}").split(['(', ' ', '[']).next().unwrap_or_default().to_lowercase(),
    };
    write!(f, "{}{head}", "  ".repeat(depth))?;
    let mut exprs = vec![];
    s.clone().for_each_expr_mut(&mut |e| exprs.push(Sexp(e).to_string()));
    writeln!(f, " {}", exprs.join(" ; "))?;
    let mut children = vec![];
    s.for_each_child(&mut |c| children.push(c));
    children.into_iter().try_for_each(|c| show(f, c, depth + 1))
}

impl quickcheck::Arbitrary for Machine {
    fn arbitrary(g: &mut quickcheck::Gen) -> Self {
        Machine::new(u64::arbitrary(g), g.size().min(14))
    }

    fn shrink(&self) -> Box<dyn Iterator<Item = Self>> {
        Box::new(self.smaller().into_iter())
    }
}

impl Generator {
    fn machine(&mut self, size: usize) {
        self.add_constant(Type::Given(D));
        for _ in 0..self.choice.below(3) {
            let ty = self.ty(1);
            self.add_constant(ty);
        }
        if self.infinite > 0 {
            let ty = self.choice.pick(&[Type::Int.pow(), Type::rel(Type::Int, Type::Int), Type::Str.pow()]);
            self.add_constant(ty);
        }
        for i in 0..self.model.constants.len() {
            let ty = self.model.constants[i].ty.clone();
            let k = self.node(ExprKind::Const(kanon::model::ConstId(i as u32)), ty.clone());
            if let Type::Pow(elem) = &ty
                && self.infinite > 0
                && self.choice.percent(60)
            {
                let set = Box::new(self.symbolic(elem, size / 2));
                let same = self.node(ExprKind::Binary(BinOp::Eq, Box::new(k), set), Type::Pred);
                self.model.properties.push(same);
                continue;
            }
            let set = self.nonempty(&ty);
            let typing = self.node(ExprKind::Binary(BinOp::In, Box::new(k), Box::new(set)), Type::Pred);
            self.model.properties.push(typing);
        }
        if self.choice.percent(40) {
            let p = self.pred(size / 2);
            self.model.properties.push(p);
        }
        for ty in [Type::Given(D), Type::Int, Type::Given(S).pow()] {
            self.add_variable(ty);
        }
        let ty = match self.choice.percent(15) {
            true => Type::seq(self.wide()),
            false => self.ty(2),
        };
        self.add_variable(ty);
        self.initialise(size / 3);
        let helper = self.operation("helper", false, size / 2);
        self.model.operations.push(helper);
        for i in 0..2 + self.choice.below(2) {
            let op = self.operation(&format!("op{i}"), true, size);
            self.model.operations.push(op);
        }
        for _ in 0..1 + self.choice.below(2) {
            let p = self.pred(size / 2);
            self.model.invariant.push(p);
        }
    }

    fn initialise(&mut self, size: usize) {
        self.readable = false;
        let mut parts = vec![];
        for i in 0..self.model.variables.len() {
            let ty = self.model.variables[i].ty.clone();
            let lhs = self.lhs(Target::Var(VarId(i as u32)));
            let kind = if self.choice.percent(30) {
                StmtKind::BecomesElement(vec![lhs], self.nonempty(&ty))
            } else {
                StmtKind::Assign(vec![(lhs, self.expr(&ty, size))])
            };
            parts.push(self.statement(kind));
        }
        self.readable = true;
        let kind = if self.choice.percent(50) { StmtKind::Par(parts) } else { StmtKind::Seq(parts) };
        self.model.initialisation = self.statement(kind);
    }

    /// A small set of the type's values, written out.
    fn nonempty(&mut self, elem: &Type) -> Expr {
        let kind = match elem {
            Type::Given(set) => ExprKind::Given(*set),
            _ => {
                let n = 1 + self.choice.below(2);
                ExprKind::SetExt((0..n).map(|_| self.leaf(elem)).collect())
            }
        };
        self.node(kind, elem.clone().pow())
    }

    fn operation(&mut self, name: &str, is_event: bool, size: usize) -> Operation {
        let before = self.visible.len();
        let (mut params, mut guard) = (vec![], None);
        if !is_event || self.choice.percent(60) {
            let (ids, pred) = self.bound(None, size / 2);
            params = ids;
            guard = Some(pred);
        }
        let mut results = vec![];
        if !is_event || self.choice.percent(40) {
            results.push(self.add_local(Type::Int));
        }
        self.visible.extend(&params);
        self.writable = (0..self.model.variables.len()).map(|i| Target::Var(VarId(i as u32))).collect();
        let mut body = self.substitution(size);
        for r in &results {
            let lhs = self.lhs(Target::Local(*r));
            let e = self.expr(&Type::Int, size / 3);
            let assign = self.statement(StmtKind::Assign(vec![(lhs, e)]));
            body = self.statement(StmtKind::Par(vec![assign, body]));
        }
        let mut guard = match guard {
            Some(p) => p,
            None => self.pred(size / 2),
        };
        // A result has no value before the body runs: a guard that speaks of it has none either.
        if !results.is_empty() && self.choice.percent(5) {
            let known = self.visible.len();
            self.visible.extend(&results);
            let of_result = self.pred(size / 2);
            self.visible.truncate(known);
            let kind = ExprKind::Binary(BinOp::And, Box::new(guard), Box::new(of_result));
            guard = self.node(kind, Type::Pred);
        }
        body = match self.choice.below(10) {
            0..=5 => self.statement(StmtKind::Pre(guard, Box::new(body))),
            6 | 7 => self.statement(StmtKind::Select(vec![(guard, body)], None)),
            _ if params.is_empty() => body,
            _ => self.statement(StmtKind::Pre(guard, Box::new(body))),
        };
        self.visible.truncate(before);
        let span = self.span();
        Operation { name: name.into(), params, results, body, is_event, span }
    }

    fn statement(&mut self, kind: StmtKind) -> Stmt {
        Stmt { kind, span: self.span() }
    }

    fn lhs(&mut self, target: Target) -> Lhs {
        Lhs { target, path: vec![], span: self.span() }
    }

    fn target_type(&self, target: Target) -> Type {
        match target {
            Target::Var(id) => self.model.variables[id.index()].ty.clone(),
            Target::Local(id) => self.model.local(id).ty.clone(),
        }
    }

    /// A substitution that writes only to what is writable.
    pub fn substitution(&mut self, size: usize) -> Stmt {
        let half = size / 2;
        if self.writable.is_empty() {
            return self.statement(StmtKind::Skip);
        }
        let simple = size <= 3;
        let kind = match self.choice.below(if simple { 8 } else { 24 }) {
            0 => StmtKind::Skip,
            1..=4 => self.assignment(size),
            5 | 6 => {
                let target = self.choice.pick(&self.writable.clone());
                let ty = self.target_type(target);
                let set = if self.choice.percent(50) {
                    self.nonempty(&ty)
                } else {
                    self.expr(&ty.clone().pow(), half)
                };
                StmtKind::BecomesElement(vec![self.lhs(target)], set)
            }
            7 => self.becomes_such(size),
            8 => StmtKind::Pre(self.pred(half), Box::new(self.substitution(half))),
            9 => StmtKind::Assert(self.pred(half), Box::new(self.substitution(half))),
            10 | 11 => {
                let n = 1 + self.choice.below(2);
                let arms = (0..n).map(|_| (self.pred(size / 4), self.substitution(size / 3))).collect();
                let otherwise = self.choice.percent(50).then(|| Box::new(self.substitution(size / 3)));
                if self.choice.percent(50) {
                    StmtKind::Select(arms, otherwise)
                } else {
                    StmtKind::If(arms, otherwise)
                }
            }
            12 => StmtKind::Choice((0..2).map(|_| self.substitution(half)).collect()),
            13 => {
                let ty = self.ty(0);
                let subject = self.expr(&ty, half);
                let arms = (0..2).map(|_| (vec![self.leaf(&ty)], self.substitution(size / 3))).collect();
                let otherwise = self.choice.percent(50).then(|| Box::new(self.substitution(size / 3)));
                StmtKind::Case(subject, arms, otherwise)
            }
            14 | 15 => {
                let (ids, pred) = self.bound(None, half);
                let body = self.under(&ids, |g| g.substitution(half));
                StmtKind::Any(ids, pred, Box::new(body))
            }
            16 => {
                let defs = self.definitions(half);
                let ids: Vec<LocalId> = defs.iter().map(|(id, _)| *id).collect();
                let body = self.under(&ids, |g| g.substitution(half));
                StmtKind::Let(defs, Box::new(body))
            }
            17 => self.with_local(size),
            18 => StmtKind::Seq((0..2).map(|_| self.substitution(half)).collect()),
            19 => {
                // Each part has targets of its own.
                let all = self.writable.clone();
                let (left, right) = all.split_at(all.len() / 2);
                let mut parts = vec![];
                // Now and then both may write everything: then what both write has to agree.
                let is_shared = self.choice.percent(50);
                for part in [left, right] {
                    self.writable = if is_shared { all.clone() } else { part.to_vec() };
                    parts.push(self.substitution(half));
                }
                self.writable = all;
                StmtKind::Par(parts)
            }
            20..=22 => self.while_loop(size),
            _ => self.call(size).unwrap_or(StmtKind::Skip),
        };
        self.statement(kind)
    }

    fn under<R>(&mut self, ids: &[LocalId], f: impl FnOnce(&mut Self) -> R) -> R {
        let before = self.visible.len();
        self.visible.extend(ids);
        let result = f(self);
        self.visible.truncate(before);
        result
    }

    fn assignment(&mut self, size: usize) -> StmtKind {
        let target = self.choice.pick(&self.writable.clone());
        let ty = self.target_type(target);
        let mut lhs = self.lhs(target);
        let value = match &ty {
            Type::Pow(t) if t.as_pair().is_some() && self.choice.percent(50) => {
                let (a, b) =
                    t.as_pair().map(|(a, b)| (a.clone(), b.clone())).unwrap_or((Type::Int, Type::Int));
                lhs.path.push(Access::Index(self.expr(&a, size / 3)));
                self.expr(&b, size / 2)
            }
            Type::Rec(fields) if self.choice.percent(50) => {
                lhs.path.push(Access::Field(0));
                let t = fields[0].1.clone();
                self.expr(&t, size / 2)
            }
            _ => self.expr(&ty, size.saturating_sub(1)),
        };
        let mut pairs = vec![(lhs, value)];
        let others: Vec<Target> = self.writable.iter().copied().filter(|t| *t != target).collect();
        if !others.is_empty() && self.choice.percent(25) {
            let other = self.choice.pick(&others);
            let ty = self.target_type(other);
            let value = self.expr(&ty, size / 2);
            pairs.push((self.lhs(other), value));
        }
        StmtKind::Assign(pairs)
    }

    fn becomes_such(&mut self, size: usize) -> StmtKind {
        let variables: Vec<VarId> = self
            .writable
            .iter()
            .filter_map(|t| match t {
                Target::Var(id) => Some(*id),
                Target::Local(_) => None,
            })
            .collect();
        if variables.is_empty() {
            return StmtKind::Skip;
        }
        let id = self.choice.pick(&variables);
        let ty = self.model.variables[id.index()].ty.clone();
        self.changing.push(id);
        let (fresh, pred) = self.bound(Some(vec![ty]), size);
        self.changing.pop();
        StmtKind::BecomesSuch { targets: vec![Target::Var(id)], fresh, pred }
    }

    /// VAR x IN x := E ; S END; sometimes x is read without having a value.
    fn with_local(&mut self, size: usize) -> StmtKind {
        let is_assigned = self.choice.percent(75);
        // What has no value yet is of a type that something else has, so that it is read now and then.
        let target = self.choice.pick(&self.writable.clone());
        let ty = if is_assigned { self.ty(1) } else { self.target_type(target) };
        let id = self.add_local(ty.clone());
        let mut parts = vec![];
        if is_assigned {
            let lhs = self.lhs(Target::Local(id));
            let e = self.expr(&ty, size / 3);
            parts.push(self.statement(StmtKind::Assign(vec![(lhs, e)])));
        } else if self.choice.percent(75) {
            let (lhs, e) = (self.lhs(target), self.node(ExprKind::Local(id), ty));
            parts.push(self.statement(StmtKind::Assign(vec![(lhs, e)])));
        }
        self.writable.push(Target::Local(id));
        parts.push(self.under(&[id], |g| g.substitution(size / 2)));
        self.writable.pop();
        let body = self.statement(StmtKind::Seq(parts));
        StmtKind::Var(vec![id], Box::new(body))
    }

    /// VAR i IN i := n ; WHILE i > 0 DO S ; i := i - 1 INVARIANT P VARIANT i END END
    fn while_loop(&mut self, size: usize) -> StmtKind {
        let id = self.add_local(Type::Int);
        let i = |g: &mut Self| Box::new(g.node(ExprKind::Local(id), Type::Int));
        let number = |g: &mut Self, n: i64| Box::new(g.node(ExprKind::Int(n.into()), Type::Int));
        let turns = self.choice.below(4) as i64;
        let start = number(self, turns);
        let lhs = self.lhs(Target::Local(id));
        let init = self.statement(StmtKind::Assign(vec![(lhs, *start)]));
        let inner = self.under(&[id], |g| g.substitution(size / 2));
        let (left, one) = (i(self), number(self, if self.choice.clone().percent(10) { 0 } else { 1 }));
        let less = self.node(ExprKind::Binary(BinOp::Sub, left, one), Type::Int);
        let lhs = self.lhs(Target::Local(id));
        let step = self.statement(StmtKind::Assign(vec![(lhs, less)]));
        let body = self.statement(StmtKind::Seq(vec![inner, step]));
        let (left, zero) = (i(self), number(self, 0));
        let cond = self.node(ExprKind::Binary(BinOp::Gt, left, zero), Type::Pred);
        let invariant = if self.choice.percent(35) {
            self.under(&[id], |g| g.pred(size / 3))
        } else {
            let (left, zero) = (i(self), number(self, 0));
            self.node(ExprKind::Binary(BinOp::Ge, left, zero), Type::Pred)
        };
        let variant = *i(self);
        let repeat = self.statement(StmtKind::While { cond, body: Box::new(body), invariant, variant });
        let body = self.statement(StmtKind::Seq(vec![init, repeat]));
        StmtKind::Var(vec![id], Box::new(body))
    }

    /// A call of the operation that is no event, if there is a place for its result.
    fn call(&mut self, size: usize) -> Option<StmtKind> {
        let i = self.model.operations.iter().position(|op| !op.is_event)?;
        let target = self.writable.iter().copied().find(|t| self.target_type(*t) == Type::Int)?;
        let callee = &self.model.operations[i];
        // What the callee writes must be free for the caller too.
        if self.writable.iter().filter(|t| matches!(t, Target::Var(_))).count() < self.model.variables.len() {
            return None;
        }
        let types: Vec<Type> = callee.params.iter().map(|p| self.model.local(*p).ty.clone()).collect();
        let args = types.iter().map(|t| self.expr(t, size / 3)).collect();
        Some(StmtKind::Call { results: vec![self.lhs(target)], op: OpId(i as u32), args })
    }
}
