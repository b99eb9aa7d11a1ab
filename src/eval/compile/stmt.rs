//! Substitutions become code; operations become events.

use super::Compiler;
use crate::eval::code::Code;
use crate::eval::node::{Atom, Generator, Node, Part, Pattern, Slot, Special, Test, While};
use crate::eval::plan::{Plan, PlanStep};
use crate::lang::diag::Span;
use crate::model::{Access, Expr, Lhs, LocalId, OpId, Stmt, StmtKind, Target, Type};
use crate::value::fault::WdKind;
use crate::value::rep::{R, Rep, Shape};
use std::collections::BTreeSet;
use std::sync::Arc;

/// An operation as a transition.
#[derive(Debug)]
pub struct CompiledEvent {
    pub name: Arc<str>,
    pub op: OpId,
    pub params: Vec<Slot>,
    /// So many of them, the first ones, have values before it runs.
    pub given: usize,
    pub results: Vec<Slot>,
    /// The other parameters (and the variables of an outermost ANY) that satisfy the guard.
    pub plan: Plan,
    pub code: Code,
    /// Whether one transition may be found in several ways.
    pub may_repeat: bool,
    /// Variable slots it may write.
    pub writes: Vec<Slot>,
}

impl Compiler<'_> {
    pub fn event(&mut self, op: OpId) -> CompiledEvent {
        self.event_given(op, 0)
    }

    /// The same with values for the first parameters, which whoever runs it puts into their slots.
    pub fn event_given(&mut self, op: OpId, given: usize) -> CompiledEvent {
        self.inlining += 1;
        self.locals.clear();
        self.old.clear();
        let model = self.model;
        let operation = &model.operations[op.index()];
        let params: Vec<Slot> = operation.params.iter().map(|l| self.local_slot(*l)).collect();
        let results: Vec<Slot> = operation.results.iter().map(|l| self.local_slot(*l)).collect();
        let given = given.min(params.len());
        let mut unknown = params[given..].to_vec();
        let asked = unknown.len();
        self.calls.push(op);
        // The outermost guard is solved together with the parameters.
        let (guard, body): (Option<&Expr>, &Stmt) = match &operation.body.kind {
            StmtKind::Pre(p, s) => (Some(p), s),
            StmtKind::Select(ways, None) if ways.len() == 1 => (Some(&ways[0].0), &ways[0].1),
            StmtKind::Any(locals, p, s) => {
                unknown.extend(locals.iter().map(|l| self.local_slot(*l)));
                (Some(p), s)
            }
            _ => (None, &operation.body),
        };
        let preds = guard.map(|g| g.conjuncts()).unwrap_or_default();
        // A result has no value before the body runs. What the guard says of one is tested when its slot is known to
        // be empty, after the parameters were found.
        let has_result = |e: &&Expr| operation.results.iter().any(|l| e.mentions_local(*l));
        let (late, preds): (Vec<&Expr>, Vec<&Expr>) = preds.into_iter().partition(has_result);
        self.parameters = unknown.iter().copied().collect();
        let plan = self.plan(&unknown, &preds);
        let mut code = match late.is_empty() {
            true => self.stmt(body),
            false => self.stmt(&late.into_iter().rev().fold(body.clone(), |inner, p| {
                let kind = StmtKind::Select(vec![(p.clone(), inner)], None);
                Stmt { kind, span: operation.body.span }
            })),
        };
        self.calls.pop();
        if !results.is_empty() {
            code = Code::Special(Special::Fresh(results.clone(), Box::new(code)));
        }
        let may_repeat = plan.may_repeat || unknown.len() > asked || code.branches();
        let mut writes = BTreeSet::new();
        code.writes(&mut writes);
        let first = model.constants.len() as Slot;
        let last = first + model.variables.len() as Slot;
        let writes = writes.into_iter().filter(|s| (first..last).contains(s)).collect();
        let name = operation.name.clone();
        CompiledEvent { name, op, params, given, results, plan, code, may_repeat, writes }
    }

    /// The initialisation, or another substitution outside any operation.
    pub fn program(&mut self, s: &Stmt) -> Code {
        self.inlining += 1;
        self.locals.clear();
        self.old.clear();
        self.stmt(s)
    }

    fn stmt(&mut self, s: &Stmt) -> Code {
        let boxed = |c: Code| Box::new(c);
        match &s.kind {
            StmtKind::Skip => Code::Skip,
            StmtKind::Assign(items) => {
                let assigned = items.iter().map(|(lhs, e)| {
                    let value = self.expr(e);
                    self.assignment(lhs, value)
                });
                let assigned = assigned.collect();
                self.assign(assigned, items.iter().map(|(lhs, _)| lhs.span))
            }
            StmtKind::BecomesElement(targets, set) => {
                let rep = self.rep(&set.ty);
                let mut node = self.expr(set);
                if let Node::Force(inner, _) = node {
                    node = *inner;
                }
                // Fresh slots take the chosen element apart, then it is assigned.
                let mut elem = rep.elem().clone();
                let mut parts: Vec<R> = Vec::new();
                for _ in 1..targets.len() {
                    let (a, b) = elem.as_pair();
                    parts.push(b.clone());
                    elem = a.clone();
                }
                parts.push(elem);
                parts.reverse();
                let slots: Vec<Slot> = parts.iter().map(|r| self.temporary(r)).collect();
                let mut pattern = Pattern::Bind(slots[0]);
                let mut prep = parts[0].clone();
                for (s, r) in slots.iter().zip(&parts).skip(1) {
                    prep = Rep::pair(prep, r.clone());
                    pattern = Pattern::Pair(Box::new(pattern), Box::new(Pattern::Bind(*s)), prep.clone());
                }
                let unbounded = crate::value::ops::symbolic(match &node {
                    Node::Const(v) => v,
                    _ => &crate::value::val::Val::None,
                });
                let step = match (&node, &pattern) {
                    // x :: NATURAL is enumerated up to MAXINT, and the search is then incomplete.
                    (Node::Const(v), Pattern::Bind(slot))
                        if unbounded && matches!(rep.elem().shape, Shape::Int) =>
                    {
                        self.unbounded_choice(*slot, v, s.span)
                    }
                    _ => PlanStep::Generate(Generator::In { pattern, set: node, rep, span: set.span }),
                };
                let plan = Plan { steps: vec![step], may_repeat: false, unbounded };
                let assigned = targets.iter().zip(&slots).map(|(lhs, slot)| {
                    let value = Node::Slot(*slot, lhs.span);
                    self.assignment(lhs, value)
                });
                let assigned = assigned.collect();
                Code::Any(plan, boxed(self.assign(assigned, targets.iter().map(|lhs| lhs.span))))
            }
            StmtKind::BecomesSuch { targets, fresh, pred } => {
                let slots: Vec<Slot> = fresh.iter().map(|l| self.local_slot(*l)).collect();
                let plan = self.plan(&slots, &[pred]);
                let assigned = targets.iter().zip(&slots).map(|(t, f)| {
                    let rep = self.slots[*f as usize].rep.clone();
                    (self.target_slot(*t), Node::Slot(*f, s.span), rep)
                });
                let assigned = assigned.collect();
                Code::Any(plan, boxed(self.assign(assigned, targets.iter().map(|_| s.span))))
            }
            StmtKind::Pre(p, body) => {
                Code::Demand(self.test(p), WdKind::Precondition, p.span, boxed(self.stmt(body)))
            }
            StmtKind::Assert(p, body) => {
                Code::Demand(self.test(p), WdKind::AssertFailed, p.span, boxed(self.stmt(body)))
            }
            StmtKind::Select(ways, otherwise) => {
                let ways: Vec<(Test, Code)> =
                    ways.iter().map(|(g, b)| (self.test(g), self.stmt(b))).collect();
                let otherwise = otherwise.as_ref().map(|b| boxed(self.stmt(b)));
                Code::Select(ways, otherwise)
            }
            StmtKind::Choice(ways) => Code::Choice(ways.iter().map(|w| self.stmt(w)).collect()),
            StmtKind::If(ways, otherwise) => {
                let ways: Vec<(Test, Code)> =
                    ways.iter().map(|(g, b)| (self.test(g), self.stmt(b))).collect();
                let otherwise = otherwise.as_ref().map_or(Code::Skip, |b| self.stmt(b));
                Code::If(ways, boxed(otherwise))
            }
            StmtKind::Case(e, ways, otherwise) => {
                let rep = self.rep(&e.ty);
                let slot = self.temporary(&rep);
                let value = self.expr(e);
                let ways = ways.iter().map(|(labels, body)| {
                    let tests = labels.iter().map(|l| {
                        let (a, b) = (Box::new(Node::Slot(slot, l.span)), Box::new(self.expr(l)));
                        if rep.is_word() {
                            Test::Atom(Atom::EqW(a, b))
                        } else {
                            Test::Atom(Atom::Eq(a, b, rep.clone()))
                        }
                    });
                    let tests = tests.collect();
                    (Test::Or(tests), self.stmt(body))
                });
                let ways = ways.collect();
                let otherwise = otherwise.as_ref().map_or(Code::Skip, |b| self.stmt(b));
                Code::Let(vec![(slot, value, rep.clone())], boxed(Code::If(ways, boxed(otherwise))))
            }
            StmtKind::Any(locals, p, body) => {
                let slots: Vec<Slot> = locals.iter().map(|l| self.local_slot(*l)).collect();
                let plan = self.plan(&slots, &[p]);
                Code::Any(plan, boxed(self.stmt(body)))
            }
            StmtKind::Let(defs, body) => {
                let defs = defs.iter().map(|(l, e)| {
                    let n = self.expr(e);
                    let slot = self.local_slot(*l);
                    (slot, n, self.slots[slot as usize].rep.clone())
                });
                let defs = defs.collect();
                Code::Let(defs, boxed(self.stmt(body)))
            }
            StmtKind::Var(locals, body) => {
                let slots = locals.iter().map(|l| self.local_slot(*l)).collect();
                Code::Special(Special::Fresh(slots, boxed(self.stmt(body))))
            }
            StmtKind::Seq(parts) => Code::Seq(parts.iter().map(|p| self.stmt(p)).collect()),
            StmtKind::Par(parts) => self.parallel(parts),
            StmtKind::While { cond, body, invariant, variant } => {
                self.while_loop(cond, body, invariant, variant)
            }
            StmtKind::Call { results, op, args } => self.inline(results, *op, args, s),
        }
    }

    fn temporary(&mut self, rep: &R) -> Slot {
        self.slots.push(super::SlotInfo {
            name: "·".into(),
            ty: crate::model::Type::Pred,
            rep: rep.clone(),
            span: crate::value::fault::NOWHERE,
        });
        (self.slots.len() - 1) as Slot
    }

    fn unbounded_choice(
        &mut self,
        slot: Slot,
        set: &crate::value::val::Val,
        span: crate::lang::diag::Span,
    ) -> PlanStep {
        use crate::eval::plan::Bound;
        use crate::value::val::{IntSet, Lazy, Val};
        let low = match set {
            Val::Lazy(l) => match &*l.0 {
                Lazy::Integers(IntSet::Natural) => Some(0),
                Lazy::Integers(IntSet::Natural1) => Some(1),
                _ => None,
            },
            _ => None,
        };
        let lows =
            low.map(|n| Bound { node: Node::Const(Val::I(n)), offset: 0, scale: None }).into_iter().collect();
        PlanStep::Range { slot, lows, highs: Vec::new(), limits: self.limits, span }
    }

    /// Several variables at once; `x, x := a, b` is `x := a || x := b`.
    fn assign(&mut self, items: Vec<(Slot, Node, R)>, spans: impl Iterator<Item = Span>) -> Code {
        let slots: BTreeSet<Slot> = items.iter().map(|(s, _, _)| *s).collect();
        if slots.len() == items.len() {
            return Code::Assign(items);
        }
        let parts = items.into_iter().zip(spans).map(|(item, span)| Part {
            writes: vec![item.0],
            code: Code::Assign(vec![item]),
            marks: vec![],
            span,
        });
        self.at_once(parts.collect())
    }

    /// `f(a)(b) := v` is f := f <+ {a |-> (f(a) <+ {b |-> v})}.
    fn assignment(&mut self, lhs: &Lhs, value: Node) -> (Slot, Node, R) {
        let slot = self.target_slot(lhs.target);
        let rep = self.slots[slot as usize].rep.clone();
        let node = self.updated(Node::Slot(slot, lhs.span), &rep, lhs, 0, value);
        (slot, node, rep)
    }

    fn updated(&mut self, current: Node, rep: &R, lhs: &Lhs, depth: usize, value: Node) -> Node {
        let Some(step) = lhs.path.get(depth) else { return value };
        let slot = self.target_slot(lhs.target);
        match step {
            Access::Index(e) => {
                let x = self.expr(e);
                let inner = if depth + 1 < lhs.path.len() {
                    let part = self.part(Node::Slot(slot, lhs.span), lhs, depth + 1);
                    let inner_rep = rep.as_rel().1.clone();
                    self.updated(part, &inner_rep, lhs, depth + 1, value)
                } else {
                    value
                };
                let (f, x, y) = (Box::new(current), Box::new(x), Box::new(inner));
                match rep.small_rel() {
                    Some((_, nb)) => Node::UpdateW { f, x, y, nb },
                    None => Node::Update { f, x, y, rep: rep.clone(), span: lhs.span },
                }
            }
            Access::Field(i) => {
                let Shape::Rec(parts) = &rep.shape else { return value };
                let inner = if depth + 1 < lhs.path.len() {
                    let part = self.part(Node::Slot(slot, lhs.span), lhs, depth + 1);
                    let inner_rep = parts[*i as usize].clone();
                    self.updated(part, &inner_rep, lhs, depth + 1, value)
                } else {
                    value
                };
                let (a, v) = (Box::new(current), Box::new(inner));
                Node::WithField { a, index: *i as usize, v, rep: rep.clone() }
            }
        }
    }

    /// The value at the first `depth` steps of the path.
    fn part(&mut self, mut node: Node, lhs: &Lhs, depth: usize) -> Node {
        let slot = self.target_slot(lhs.target);
        let mut rep = self.slots[slot as usize].rep.clone();
        for step in &lhs.path[..depth] {
            match step {
                Access::Index(e) => {
                    let x = Box::new(self.expr(e));
                    let out = rep.as_rel().1.clone();
                    let rb = rep.as_rel().0.clone();
                    node = match rep.small_rel() {
                        Some((_, nb)) => Node::ApplyW { f: Box::new(node), x, nb, span: lhs.span },
                        None => Node::Binary {
                            op: crate::eval::node::Binary::Apply,
                            a: Box::new(node),
                            b: x,
                            ra: rep.clone(),
                            rb,
                            out: out.clone(),
                            span: lhs.span,
                        },
                    };
                    rep = out;
                }
                Access::Field(i) => {
                    node = Node::Field { a: Box::new(node), index: *i as usize, rep: rep.clone() };
                    if let Shape::Rec(parts) = &rep.shape {
                        rep = parts[*i as usize].clone();
                    }
                }
            }
        }
        node
    }

    fn parallel(&mut self, parts: &[Stmt]) -> Code {
        let parts = parts.iter().map(|p| {
            let code = self.stmt(p);
            let mut writes = BTreeSet::new();
            code.writes(&mut writes);
            Part { code, writes: writes.into_iter().collect(), marks: vec![], span: p.span }
        });
        let parts = parts.collect();
        self.at_once(parts)
    }

    fn at_once(&mut self, mut parts: Vec<Part>) -> Code {
        let mut seen = BTreeSet::new();
        let again = parts.iter().flat_map(|p| &p.writes).filter(|s| !seen.insert(**s));
        let shared: BTreeSet<Slot> = again.copied().collect();
        if !shared.is_empty() {
            let rep = self.rep(&Type::Bool);
            for part in &mut parts {
                for slot in shared.iter().filter(|s| part.writes.contains(s)) {
                    let mark = self.temporary(&rep);
                    part.code.mark(*slot, mark, &rep);
                    part.marks.push((*slot, mark));
                }
            }
            return Code::Special(Special::Shared(parts));
        }
        let mut merged: Vec<(Slot, Node, R)> = Vec::new();
        let mut others: Vec<(Code, Vec<Slot>)> = Vec::new();
        for Part { code, writes, .. } in parts {
            match code {
                Code::Skip => {}
                Code::Assign(items) => merged.extend(items),
                code => others.push((code, writes)),
            }
        }
        if others.is_empty() {
            return Code::Assign(merged);
        }
        if !merged.is_empty() {
            let writes = merged.iter().map(|(s, _, _)| *s).collect();
            others.insert(0, (Code::Assign(merged), writes));
        }
        if others.len() == 1
            && let Some((code, _)) = others.pop()
        {
            return code;
        }
        Code::Par(others)
    }

    fn while_loop(&mut self, cond: &Expr, body: &Stmt, invariant: &Expr, variant: &Expr) -> Code {
        let cond = self.test(cond);
        let body = self.stmt(body);
        let mut writes = BTreeSet::new();
        body.writes(&mut writes);
        let mut old = Vec::new();
        let saved = self.old.clone();
        let vars = (0..self.model.variables.len() as u32).map(|v| Target::Var(crate::model::VarId(v)));
        for t in vars.collect::<Vec<_>>() {
            let slot = self.target_slot(t);
            if writes.contains(&slot) && !self.old.contains_key(&t) {
                let rep = self.slots[slot as usize].rep.clone();
                let kept = self.temporary(&rep);
                self.old.insert(t, kept);
                old.push((slot, kept));
            }
        }
        let invariant_span = invariant.span;
        let variant_span = variant.span;
        let invariant = self.test(invariant);
        let variant = self.expr(variant);
        self.old = saved;
        Code::Special(Special::While(Box::new(While {
            cond,
            body,
            invariant,
            variant,
            writes: writes.into_iter().collect(),
            old,
            invariant_span,
            variant_span,
        })))
    }

    /// A call: parameters by value, the body with slots of its own, results written back.
    fn inline(&mut self, results: &[Lhs], op: OpId, args: &[Expr], s: &Stmt) -> Code {
        if self.calls.contains(&op) {
            // The composition refuses recursive operations; this keeps a slip from running away.
            return Code::Demand(Test::Const(false), WdKind::Precondition, s.span, Box::new(Code::Skip));
        }
        let model = self.model;
        let operation = &model.operations[op.index()];
        let args: Vec<Node> = args.iter().map(|a| self.expr(a)).collect();
        let saved = std::mem::take(&mut self.locals);
        let outer = self.inlining;
        // Numbers only have to differ; the slots made so far are a good supply of fresh ones.
        self.inlining = self.slots.len() as u32 + (1 << 24);
        self.calls.push(op);
        let slot_rep = |c: &mut Self, l: LocalId| {
            let slot = c.local_slot(l);
            (slot, c.slots[slot as usize].rep.clone())
        };
        let mut defs = Vec::new();
        for (l, a) in operation.params.iter().zip(args) {
            let (slot, rep) = slot_rep(self, *l);
            defs.push((slot, a, rep));
        }
        let outs: Vec<Slot> = operation.results.iter().map(|l| self.local_slot(*l)).collect();
        let body = self.stmt(&operation.body);
        self.calls.pop();
        self.locals = saved;
        self.inlining = outer;
        let back: Vec<(Slot, Node, R)> = results
            .iter()
            .zip(&outs)
            .map(|(lhs, out)| {
                let value = Node::Slot(*out, lhs.span);
                self.assignment(lhs, value)
            })
            .collect();
        let mut code = body;
        if !back.is_empty() {
            let back = self.assign(back, results.iter().map(|lhs| lhs.span));
            code = Code::Seq(vec![code, back]);
        }
        if !outs.is_empty() {
            let plain = |lhs: &&Lhs| lhs.path.is_empty();
            let copies: Vec<(Slot, Slot)> = results
                .iter()
                .zip(&outs)
                .filter(|(lhs, _)| plain(lhs))
                .map(|(lhs, out)| (self.target_slot(lhs.target), *out))
                .collect();
            code = Code::Special(Special::Fresh(outs, Box::new(Code::Copy(copies, Box::new(code)))));
        }
        Code::Let(defs, Box::new(code))
    }
}
