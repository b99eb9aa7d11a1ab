//! From the typed model to nodes and plans: names become slots, types become representations, predicates
//! with unknowns become plans.

mod choice;
mod ends;
mod estimate;
mod forms;
mod function;
mod linear;
mod pred;
mod solve;
mod stmt;
mod undefined;

pub use stmt::CompiledEvent;

use self::forms::{Conjunct, OpenSlots, flatten};
use super::node::{
    Asking, Binary, Call, Cmp, Compr, Last, Node, Oracle, RangePart, Slot, Typed, TypedOp, Unary, tuple_rep,
};
use crate::lang::diag::Span;
use crate::model::{
    BinOp, Binder, ConstId, Expr, ExprKind, Fun, Lit, LocalId, Model, Target, Type, UnOp, VarId,
};
use crate::value::Scope;
use crate::value::external::Names;
use crate::value::ops::{self, Restrict};
use crate::value::rep::{R, Rep, SetKind, Shape};
use crate::value::val::{self, FunKind, IntSet, Lazy, SeqKind, Val};
use num_traits::ToPrimitive;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// What is known about a slot.
#[derive(Clone, Debug)]
pub struct SlotInfo {
    pub name: Arc<str>,
    pub ty: Type,
    pub rep: R,
    pub span: Span,
}

/// Comprehensions of one binder, and what they were compiled to.
type Copies = Vec<(Expr, Arc<Compr>)>;

pub struct Compiler<'m> {
    pub model: &'m Model,
    pub scope: &'m Scope,
    pub slots: Vec<SlotInfo>,
    reps: HashMap<Type, R>,
    /// Locals of the piece being compiled. A called operation is compiled anew at each call, with slots of its own,
    /// so that two activations never share one.
    locals: HashMap<LocalId, Slot>,
    /// Where `x$0` is found.
    old: HashMap<Target, Slot>,
    /// Comprehensions compiled already, by binder and inlining: what was compiled, and to what. The type checker gives
    /// each binder its own variables; but a copy in which something else was replaced has the same ones.
    comprs: HashMap<(LocalId, u32), Copies>,
    inlining: u32,
    /// Operations being inlined, to stop at a cycle.
    calls: Vec<crate::model::OpId>,
    limits: (i64, i64),
    /// Case distinctions around what is being planned.
    splits: u32,
    /// Tests of unknowns that still grow around what is being planned.
    growing: u32,
    /// Whether a plan for a conjunct without a value is being made.
    is_otherwise: bool,
    /// The unknowns of the operation that is being compiled.
    parameters: HashSet<Slot>,
    /// Bounds that follow from the whole of each conjunction being planned, outermost first.
    implied: Vec<linear::Implied>,
    /// Constants that are equal to a set without end: not to be run through.
    endless: HashSet<ConstId>,
    /// Whom to ask where a plan takes too long, and when that is.
    oracle: Option<(Arc<dyn Oracle>, Asking)>,
    /// What the plan that is being made has to try.
    work: choice::Work,
}

impl<'m> Compiler<'m> {
    pub fn new(model: &'m Model, scope: &'m Scope) -> Self {
        let clamp = |i: &num_bigint::BigInt, or| i.to_i64().unwrap_or(or);
        let limits = (clamp(&scope.minint, i64::MIN / 4), clamp(&scope.maxint, i64::MAX / 4));
        let mut c = Compiler {
            model,
            scope,
            slots: Vec::new(),
            reps: HashMap::new(),
            locals: HashMap::new(),
            old: HashMap::new(),
            comprs: HashMap::new(),
            inlining: 0,
            calls: Vec::new(),
            limits,
            splits: 0,
            growing: 0,
            is_otherwise: false,
            parameters: HashSet::new(),
            implied: Vec::new(),
            endless: HashSet::new(),
            oracle: None,
            work: choice::Work::NONE,
        };
        for d in model.constants.iter().chain(&model.variables) {
            c.new_slot(d.name.clone(), &d.ty, d.span);
        }
        model.properties.iter().for_each(|p| c.find_endless(p));
        // What was compiled for this did not know yet which constants are endless.
        c.comprs.clear();
        c.locals.clear();
        c
    }

    /// Plans that are made from here on may ask somebody where they take too long.
    pub fn with_oracle(mut self, oracle: Arc<dyn Oracle>, asking: Asking) -> Self {
        self.oracle = Some((oracle, asking));
        self
    }

    /// Finds constants that are equal to a set without end, in the order of the text.
    fn find_endless(&mut self, p: &Expr) {
        match &p.kind {
            ExprKind::Binary(BinOp::And, a, b) => {
                self.find_endless(a);
                self.find_endless(b);
            }
            ExprKind::Binary(BinOp::Eq, a, b) if matches!(a.ty, Type::Pow(_)) => {
                for (c, e) in [(a, b), (b, a)] {
                    if let ExprKind::Const(c) = c.kind
                        && !self.endless.contains(&c)
                        && self.is_endless(e)
                    {
                        self.endless.insert(c);
                    }
                }
            }
            _ => {}
        }
    }

    pub fn rep(&mut self, ty: &Type) -> R {
        if let Some(r) = self.reps.get(ty) {
            return r.clone();
        }
        let r = Rep::of(ty, self.scope);
        self.reps.insert(ty.clone(), r.clone());
        r
    }

    pub fn const_slot(&self, c: ConstId) -> Slot {
        c.0
    }

    pub fn var_slot(&self, v: VarId) -> Slot {
        self.model.constants.len() as Slot + v.0
    }

    fn new_slot(&mut self, name: Arc<str>, ty: &Type, span: Span) -> Slot {
        let rep = self.rep(ty);
        self.slots.push(SlotInfo { name, ty: ty.clone(), rep, span });
        (self.slots.len() - 1) as Slot
    }

    pub fn local_slot(&mut self, l: LocalId) -> Slot {
        if let Some(s) = self.locals.get(&l) {
            return *s;
        }
        let d = self.model.local(l).clone();
        let s = self.new_slot(d.name, &d.ty, d.span);
        self.locals.insert(l, s);
        s
    }

    fn target_slot(&mut self, t: Target) -> Slot {
        match t {
            Target::Var(v) => self.var_slot(v),
            Target::Local(l) => self.local_slot(l),
        }
    }

    /// A test outside any operation: its bound variables get slots of their own.
    pub fn closed_test(&mut self, e: &Expr) -> super::node::Test {
        self.inlining += 1;
        self.locals.clear();
        self.old.clear();
        self.test(e)
    }

    /// The slot an expression is a plain reference to.
    fn as_slot(&mut self, e: &Expr) -> Option<Slot> {
        match &e.kind {
            ExprKind::Const(c) => Some(self.const_slot(*c)),
            ExprKind::Var(v) => Some(self.var_slot(*v)),
            ExprKind::Local(l) => Some(self.local_slot(*l)),
            _ => None,
        }
    }

    // ---- expressions ----------------------------------------------------------------------------------------

    fn boxed(&mut self, e: &Expr) -> Box<Node> {
        Box::new(self.expr(e))
    }

    pub fn expr(&mut self, e: &Expr) -> Node {
        let out = self.rep(&e.ty);
        let span = e.span;
        match &e.kind {
            ExprKind::Const(_) | ExprKind::Var(_) | ExprKind::Local(_) => {
                let slot = self.as_slot(e).unwrap_or_default();
                Node::Slot(slot, span)
            }
            ExprKind::Old(v) => {
                let slot = self.old.get(&Target::Var(*v)).copied().unwrap_or_else(|| self.var_slot(*v));
                Node::Slot(slot, span)
            }
            ExprKind::OldLocal(l) => {
                let slot = self.old.get(&Target::Local(*l)).copied();
                let slot = slot.unwrap_or_else(|| self.local_slot(*l));
                Node::Slot(slot, span)
            }
            ExprKind::Given(s) => Node::Const(val::given(*s, self.scope)),
            ExprKind::Elem(_, i) => Node::Const(Val::W(u64::from(*i))),
            ExprKind::Int(i) => Node::Const(Val::big(i.clone())),
            ExprKind::Str(s) => Node::Const(Val::Str(s.clone())),
            ExprKind::Real(r) => Node::Const(Val::real(r.clone())),
            ExprKind::Lit(Lit::Whole) => self.whole(e, &out),
            ExprKind::Lit(l) => self.literal(*l, &out),
            ExprKind::Unary(op, a) => self.unary_op(*op, a, out, span),
            ExprKind::Binary(op, a, b) => self.binary(*op, a, b, out, span),
            ExprKind::Product(a, b) => {
                let (x, y) = (self.boxed(a), self.boxed(b));
                match out.small_rel() {
                    Some((_, nb)) => Node::ProductW { a: x, b: y, nb },
                    None => {
                        let (ra, rb) = (self.rep(&a.ty), self.rep(&b.ty));
                        self.bits(
                            Node::Binary { op: Binary::Product, a: x, b: y, ra, rb, out: out.clone(), span },
                            &out,
                        )
                    }
                }
            }
            ExprKind::Apply(f, x) => self.apply(f, x, out, span),
            // The image of a closure needs only what is reached from the set: the closure itself may be large or infinite,
            // and its reflexive part covers the whole type.
            ExprKind::Image(r, s) if matches!(r.kind, ExprKind::Call(Fun::Closure | Fun::Closure1, _)) => {
                let ExprKind::Call(fun, args) = &r.kind else { return Node::Const(Val::None) };
                let rep = self.rep(&r.ty);
                let (arg, set) = (self.boxed(&args[0]), self.boxed(s));
                let image = match rep.small_rel() {
                    Some((_, nb)) => {
                        let (op, out) = (Unary::Closure1, rep.clone());
                        let closure = Node::Unary { op, a: arg, rep: rep.clone(), out, span };
                        Node::ImageW { r: Box::new(closure), s: set, nb }
                    }
                    None => {
                        let (op, rb) = (Binary::Reached, out.clone());
                        Node::Binary { op, a: arg, b: set, ra: rep, rb, out: out.clone(), span }
                    }
                };
                if *fun == Fun::Closure1 {
                    return image;
                }
                let (a, b) = (self.boxed(s), Box::new(image));
                Node::Binary { op: Binary::Union, a, b, ra: out.clone(), rb: out.clone(), out, span }
            }
            ExprKind::Image(r, s) => {
                let (ra, rb) = (self.rep(&r.ty), self.rep(&s.ty));
                let (r, s) = (self.boxed(r), self.boxed(s));
                match ra.small_rel() {
                    Some((_, nb)) => Node::ImageW { r, s, nb },
                    None => Node::Binary { op: Binary::Image, a: r, b: s, ra, rb, out, span },
                }
            }
            ExprKind::Call(fun, args) => self.call(*fun, args, e, out, span),
            ExprKind::First(p) => {
                let rep = self.rep(&p.ty);
                let p = self.boxed(p);
                if rep.carrier > 0 {
                    return Node::FirstW { p, nb: rep.as_pair().1.carrier };
                }
                Node::Unary { op: Unary::First, a: p, rep, out, span }
            }
            ExprKind::Second(p) => {
                let rep = self.rep(&p.ty);
                let p = self.boxed(p);
                if rep.carrier > 0 {
                    return Node::SecondW { p, nb: rep.as_pair().1.carrier };
                }
                Node::Unary { op: Unary::Second, a: p, rep, out, span }
            }
            ExprKind::Bind(binder, locals, pred, body) => match binder {
                Binder::Lambda => Node::Compr(self.lambda(e, locals, pred, body)),
                Binder::Sigma | Binder::Pi => {
                    let over = self.mapped(e, locals, pred, body);
                    Node::Sum { over, product: *binder == Binder::Pi }
                }
                Binder::Union | Binder::Inter => {
                    let over = self.mapped(e, locals, pred, body);
                    Node::Gather { over, inter: *binder == Binder::Inter, span }
                }
            },
            ExprKind::Compr(locals, pred) => Node::Compr(self.comprehension(e, locals, pred)),
            ExprKind::ComprMap(locals, pred, body) => Node::Compr(self.mapped(e, locals, pred, body)),
            ExprKind::SetExt(items) => self.set_ext(items, out),
            ExprKind::SeqExt(items) => {
                let nodes = items.iter().map(|i| self.expr(i)).collect();
                Node::SeqExt(nodes, out)
            }
            ExprKind::Rec(items) => {
                let nodes = items.iter().map(|i| self.expr(i)).collect();
                Node::Rec(nodes, out)
            }
            ExprKind::Struct(items) => {
                let nodes = items.iter().map(|i| self.expr(i)).collect();
                self.bits(Node::Struct(nodes, out.clone()), &out)
            }
            ExprKind::Field(a, i) => {
                let rep = self.rep(&a.ty);
                Node::Field { a: self.boxed(a), index: *i as usize, rep }
            }
            ExprKind::Bool(p) => Node::Bool(Box::new(self.test(p))),
            ExprKind::If(c, a, b) => {
                let c = Box::new(self.test(c));
                let (a, b) = (self.boxed(a), self.boxed(b));
                Node::If(c, a, b)
            }
            ExprKind::Let(defs, body) => {
                let defs = self.let_defs(defs);
                Node::Let(defs, self.boxed(body))
            }
            // A predicate where an expression belongs does not pass the type checker.
            ExprKind::Quant(..) | ExprKind::HasValue(_) | ExprKind::Demand(_) => {
                Node::Bool(Box::new(self.test(e)))
            }
        }
    }

    fn let_defs(&mut self, defs: &[(LocalId, Expr)]) -> Vec<(Slot, Node)> {
        defs.iter()
            .map(|(l, e)| {
                let n = self.expr(e);
                (self.local_slot(*l), n)
            })
            .collect()
    }

    /// A constructor of symbolic sets, expanded where the representation is bits.
    fn bits(&self, node: Node, out: &R) -> Node {
        match &out.shape {
            Shape::Set(_, SetKind::List) => node,
            _ => Node::Force(Box::new(node), out.clone()),
        }
    }

    fn literal(&mut self, l: Lit, out: &R) -> Node {
        let (min, max) = self.limits;
        let interval = |a, b| Node::Const(Val::lazy(Lazy::Interval(a, b)));
        match l {
            Lit::True | Lit::BTrue => Node::Const(Val::TRUE),
            Lit::False | Lit::BFalse => Node::Const(Val::FALSE),
            Lit::BoolSet => Node::Const(Val::W(3)),
            Lit::Integer => Node::Const(Val::lazy(Lazy::Integers(IntSet::Integer))),
            Lit::Natural => Node::Const(Val::lazy(Lazy::Integers(IntSet::Natural))),
            Lit::Natural1 => Node::Const(Val::lazy(Lazy::Integers(IntSet::Natural1))),
            Lit::IntSet => interval(min, max),
            Lit::NatSet => interval(0, max),
            Lit::Nat1Set => interval(1, max),
            Lit::MaxInt => Node::Const(Val::big(self.scope.maxint.clone())),
            Lit::MinInt => Node::Const(Val::big(self.scope.minint.clone())),
            Lit::StringSet => Node::Const(Val::lazy(Lazy::Strings)),
            Lit::EmptySet | Lit::EmptySeq => Node::Const(Val::empty(out)),
            Lit::Succ => Node::Const(Val::shift(1)),
            Lit::Pred => Node::Const(Val::shift(-1)),
            Lit::RealSet => Node::Const(Val::lazy(Lazy::All(out.elem().clone()))),
            // The one has its own place, the other does not pass the type checker.
            Lit::Whole | Lit::FloatSet => Node::Const(Val::None),
        }
    }

    fn set_ext(&mut self, items: &[Expr], out: R) -> Node {
        let nodes: Vec<Node> = items.iter().map(|i| self.expr(i)).collect();
        if out.mask_len().is_none() {
            return Node::SetExt(nodes, out);
        }
        let mut fixed = 0u64;
        let mut node: Option<Node> = None;
        for n in nodes {
            if let Node::Const(Val::W(w)) = n {
                fixed |= 1 << w;
                continue;
            }
            let one = Node::SingleW(Box::new(n));
            node = Some(match node {
                None => one,
                Some(all) => Node::OrW(Box::new(all), Box::new(one)),
            });
        }
        match node {
            None => Node::Const(Val::W(fixed)),
            Some(n) if fixed == 0 => n,
            Some(n) => Node::OrW(Box::new(n), Box::new(Node::Const(Val::W(fixed)))),
        }
    }

    fn unary_op(&mut self, op: UnOp, a: &Expr, out: R, span: Span) -> Node {
        let rep = self.rep(&a.ty);
        match op {
            UnOp::Neg if a.ty == Type::Real => self.typed(TypedOp::Neg, &[a], out, span),
            UnOp::Neg => match self.expr(a) {
                Node::Const(v) => Node::Const(ops::neg(&v)),
                n => Node::Unary { op: Unary::Neg, a: Box::new(n), rep, out, span },
            },
            UnOp::Inverse => {
                let a = self.boxed(a);
                match (rep.small_rel(), out.small_rel()) {
                    (Some((na, nb)), Some(_)) => Node::InverseW { r: a, na, nb },
                    _ => Node::Unary { op: Unary::Inverse, a, rep, out, span },
                }
            }
            UnOp::Not => Node::Bool(Box::new(self.test(a))),
        }
    }

    fn binary(&mut self, op: BinOp, a: &Expr, b: &Expr, out: R, span: Span) -> Node {
        if a.ty == Type::Real
            && let Some(op) = real_op(op)
        {
            return self.typed(TypedOp::Real(op), &[a, b], out, span);
        }
        let (ra, rb) = (self.rep(&a.ty), self.rep(&b.ty));
        if let Some(kind) = fun_kind(op) {
            let node = Node::Fun { kind, from: self.boxed(a), to: self.boxed(b), out: out.clone() };
            return self.bits(node, &out);
        }
        let (x, y) = (self.boxed(a), self.boxed(b));
        if out.mask_len().is_some() {
            match op {
                BinOp::Union => return Node::OrW(x, y),
                BinOp::Inter => return Node::AndW(x, y),
                BinOp::Diff | BinOp::Sub => return Node::AndNotW(x, y),
                _ => {}
            }
        }
        if let Some((na, nb)) = out.small_rel() {
            let restrict = |by_domain, subtract| {
                let how = Restrict { by_domain, subtract };
                move |r, s| Node::RestrictW { how, r, s, na, nb }
            };
            match op {
                BinOp::Override => return Node::OverrideW { r: x, s: y, na, nb },
                BinOp::DomRestrict => return restrict(true, false)(y, x),
                BinOp::DomSubtract => return restrict(true, true)(y, x),
                BinOp::RanRestrict => return restrict(false, false)(x, y),
                BinOp::RanSubtract => return restrict(false, true)(x, y),
                BinOp::Compose => {
                    if let (Some((na, nb)), Some((_, nc))) = (ra.small_rel(), rb.small_rel()) {
                        return Node::ComposeW { r: x, s: y, na, nb, nc };
                    }
                }
                _ => {}
            }
        }
        let op = match op {
            BinOp::Pair if out.carrier > 0 => return Node::PairW { a: x, b: y, nb: rb.carrier },
            BinOp::Pair => Binary::Pair,
            BinOp::Add => Binary::Add,
            BinOp::Sub => Binary::Sub,
            BinOp::Mul => Binary::Mul,
            BinOp::Div => Binary::Div,
            BinOp::Mod => Binary::Mod,
            BinOp::Pow => Binary::Power,
            BinOp::Interval => Binary::Interval,
            BinOp::Union => Binary::Union,
            BinOp::Inter => Binary::Inter,
            BinOp::Diff => Binary::Diff,
            BinOp::DomRestrict => Binary::Restrict(Restrict { by_domain: true, subtract: false }),
            BinOp::DomSubtract => Binary::Restrict(Restrict { by_domain: true, subtract: true }),
            BinOp::RanRestrict => Binary::Restrict(Restrict { by_domain: false, subtract: false }),
            BinOp::RanSubtract => Binary::Restrict(Restrict { by_domain: false, subtract: true }),
            BinOp::Override => Binary::Override,
            BinOp::DirectProduct => Binary::DirectProduct,
            BinOp::ParallelProduct => Binary::ParallelProduct,
            BinOp::Compose => Binary::Compose,
            BinOp::Concat => Binary::Concat,
            BinOp::Prepend => Binary::Prepend,
            BinOp::Append => Binary::Append,
            BinOp::TakeFirst => Binary::TakeFirst,
            BinOp::DropFirst => Binary::DropFirst,
            // Predicates were handled by `test`, function spaces above.
            _ => return Node::Const(Val::None),
        };
        Node::Binary { op, a: x, b: y, ra, rb, out, span }
    }

    fn apply(&mut self, f: &Expr, x: &Expr, out: R, span: Span) -> Node {
        let (ra, rb) = (self.rep(&f.ty), self.rep(&x.ty));
        match &f.kind {
            ExprKind::Lit(Lit::Succ) | ExprKind::Lit(Lit::Pred) => {
                let op = if f.kind_is(Lit::Succ) { Binary::Add } else { Binary::Sub };
                let a = self.boxed(x);
                return Node::Binary {
                    op,
                    a,
                    b: Box::new(Node::Const(Val::I(1))),
                    ra: rb.clone(),
                    rb,
                    out,
                    span,
                };
            }
            ExprKind::Call(Fun::Prj1 | Fun::Prj2, args) if args.len() == 2 && rb.carrier > 0 => {
                let nb = rb.as_pair().1.carrier;
                let full = |e: &Expr| matches!(e.kind, ExprKind::Given(_) | ExprKind::Lit(Lit::BoolSet));
                if full(&args[0]) && full(&args[1]) {
                    let p = self.boxed(x);
                    return match f.kind {
                        ExprKind::Call(Fun::Prj1, _) => Node::FirstW { p, nb },
                        _ => Node::SecondW { p, nb },
                    };
                }
            }
            _ => {}
        }
        let (f, x) = (self.boxed(f), self.boxed(x));
        match ra.small_rel() {
            Some((_, nb)) => Node::ApplyW { f, x, nb, span },
            None => Node::Binary { op: Binary::Apply, a: f, b: x, ra, rb, out, span },
        }
    }

    fn call(&mut self, fun: Fun, args: &[Expr], e: &Expr, out: R, span: Span) -> Node {
        let seqs = |nonempty, injective, surjective| Unary::Seqs(SeqKind { nonempty, injective, surjective });
        let op = match fun {
            Fun::Card => Unary::Card,
            Fun::Min => Unary::Min,
            Fun::Max => Unary::Max,
            Fun::Dom => Unary::Dom,
            Fun::Ran => Unary::Ran,
            Fun::Id => Unary::Identity,
            Fun::GenUnion => Unary::GenUnion,
            Fun::GenInter => Unary::GenInter,
            Fun::Pow => Unary::Pow { nonempty: false, finite: false },
            Fun::Pow1 => Unary::Pow { nonempty: true, finite: false },
            Fun::Fin => Unary::Pow { nonempty: false, finite: true },
            Fun::Fin1 => Unary::Pow { nonempty: true, finite: true },
            Fun::Seq => seqs(false, false, false),
            Fun::Seq1 => seqs(true, false, false),
            Fun::Iseq => seqs(false, true, false),
            Fun::Iseq1 => seqs(true, true, false),
            Fun::Perm => seqs(false, true, true),
            Fun::Size => Unary::Size,
            Fun::First => Unary::FirstItem,
            Fun::Last => Unary::LastItem,
            Fun::Front => Unary::Front,
            Fun::Tail => Unary::Tail,
            Fun::Rev => Unary::Rev,
            Fun::Conc => Unary::Conc,
            Fun::Closure => Unary::Closure,
            Fun::Closure1 => Unary::Closure1,
            Fun::Fnc => Unary::Fnc,
            Fun::Rel => Unary::Rel,
            Fun::Mu => Unary::Mu,
            Fun::Succ | Fun::Pred => {
                let op = if fun == Fun::Succ { Binary::Add } else { Binary::Sub };
                let a = self.boxed(&args[0]);
                let b = Box::new(Node::Const(Val::I(1)));
                return Node::Binary { op, a, b, ra: out.clone(), rb: out.clone(), out, span };
            }
            Fun::Iterate | Fun::Prj1 | Fun::Prj2 => {
                let op = match fun {
                    Fun::Iterate => Binary::Iterate,
                    Fun::Prj1 => Binary::Prj1,
                    _ => Binary::Prj2,
                };
                let (ra, rb) = (self.rep(&args[0].ty), self.rep(&args[1].ty));
                let (a, b) = (self.boxed(&args[0]), self.boxed(&args[1]));
                return Node::Binary { op, a, b, ra, rb, out, span };
            }
            Fun::External(fun) => {
                return Node::External(Box::new(Call {
                    fun,
                    args: args.iter().map(|a| self.expr(a)).collect(),
                    types: args.iter().map(|a| a.ty.clone()).collect(),
                    reps: args.iter().map(|a| self.rep(&a.ty)).collect(),
                    ty: e.ty.clone(),
                    out,
                    names: Names::of(self.model),
                    span,
                }));
            }
            Fun::Real => return self.typed(TypedOp::FromInt, &[&args[0]], out, span),
            Fun::Floor => return self.typed(TypedOp::Floor, &[&args[0]], out, span),
            Fun::Ceiling => return self.typed(TypedOp::Ceiling, &[&args[0]], out, span),
            Fun::Construct(case) => {
                let parts: Vec<&Expr> = args.iter().collect();
                let rep = args.first().map(|a| self.rep(&a.ty));
                return self.typed(TypedOp::Construct(case, rep), &parts, out, span);
            }
            Fun::Destruct(case) => return self.typed(TypedOp::Destruct(case), &[&args[0]], out, span),
            Fun::IsCase(case) => return self.typed(TypedOp::IsCase(case), &[&args[0]], out, span),
        };
        let rep = self.rep(&args[0].ty);
        let a = self.boxed(&args[0]);
        if let Some((na, nb)) = rep.small_rel() {
            match op {
                Unary::Dom => return Node::DomW { r: a, na, nb },
                Unary::Ran => return Node::RanW { r: a, na, nb },
                _ => {}
            }
        }
        debug_assert_eq!(out, self.rep(&e.ty));
        let node = Node::Unary { op, a, rep, out: out.clone(), span };
        match op {
            Unary::Pow { .. } | Unary::Seqs(_) => self.bits(node, &out),
            _ => node,
        }
    }

    fn typed(&mut self, op: TypedOp, args: &[&Expr], out: R, span: Span) -> Node {
        let args = args.iter().map(|a| self.expr(a)).collect();
        Node::Typed(Box::new(Typed { op, args, out, span }))
    }

    /// A freetype as a set.
    fn whole(&mut self, e: &Expr, out: &R) -> Node {
        let all = || Node::Const(Val::lazy(Lazy::All(out.elem().clone())));
        let Some(Type::Free(free)) = e.ty.elem() else { return all() };
        let Some(arguments) = self.model.arguments(free).filter(|_| !free.def().is_recursive) else {
            return all();
        };
        let rep = |c: &mut Self, set: &Option<Expr>| {
            let element = set.as_ref().and_then(|set| set.ty.elem());
            element.map(|ty| c.rep(ty))
        };
        let cases = arguments.iter().map(|set| rep(self, set)).collect();
        let sets: Vec<&Expr> = arguments.iter().flatten().collect();
        self.typed(TypedOp::Freetype(cases), &sets, out.clone(), e.span)
    }

    // ---- comprehensions -------------------------------------------------------------------------------------

    fn comprehension(&mut self, e: &Expr, locals: &[LocalId], pred: &Expr) -> Arc<Compr> {
        if let Some(c) = self.compiled(e, locals) {
            return c;
        }
        let tuple = self.tuple(locals);
        let rep = self.rep(&e.ty);
        self.compr(e, locals, pred, tuple, None, rep, false)
    }

    fn lambda(&mut self, e: &Expr, locals: &[LocalId], pred: &Expr, body: &Expr) -> Arc<Compr> {
        if let Some(c) = self.compiled(e, locals) {
            return c;
        }
        let tuple = self.tuple(locals);
        let rep = self.rep(&e.ty);
        let value = self.expr(body);
        let body_again = self.expr(body);
        let (ra, rb) = rep.as_rel();
        let element = match rep.elem().carrier {
            0 => Node::Binary {
                op: Binary::Pair,
                a: Box::new(tuple),
                b: Box::new(body_again),
                ra: ra.clone(),
                rb: rb.clone(),
                out: rep.elem().clone(),
                span: body.span,
            },
            _ => Node::PairW { a: Box::new(tuple), b: Box::new(body_again), nb: rb.carrier },
        };
        self.compr(e, locals, pred, element, Some((value, body)), rep, false)
    }

    /// The set of the values of an expression: `{x . P | E}`, and what SIGMA, UNION … range over.
    fn mapped(&mut self, e: &Expr, locals: &[LocalId], pred: &Expr, body: &Expr) -> Arc<Compr> {
        if let Some(c) = self.compiled(e, locals) {
            return c;
        }
        let element = self.expr(body);
        let rep = Rep::set(self.rep(&body.ty));
        self.compr(e, locals, pred, element, None, rep, true)
    }

    fn tuple(&mut self, locals: &[LocalId]) -> Node {
        let slots: Vec<Slot> = locals.iter().map(|l| self.local_slot(*l)).collect();
        let mut parts = slots.into_iter();
        let first = parts.next().unwrap_or_default();
        let info = self.slots[first as usize].clone();
        let mut node = Node::Slot(first, info.span);
        let mut rep = info.rep;
        for s in parts {
            let info = self.slots[s as usize].clone();
            let out = Rep::pair(rep.clone(), info.rep.clone());
            let b = Box::new(Node::Slot(s, info.span));
            node = match out.carrier {
                0 => Node::Binary {
                    op: Binary::Pair,
                    a: Box::new(node),
                    b,
                    ra: rep,
                    rb: info.rep,
                    out: out.clone(),
                    span: info.span,
                },
                _ => Node::PairW { a: Box::new(node), b, nb: info.rep.carrier },
            };
            rep = out;
        }
        node
    }

    #[allow(clippy::too_many_arguments)]
    fn compr(
        &mut self,
        e: &Expr,
        locals: &[LocalId],
        pred: &Expr,
        element: Node,
        value: Option<(Node, &Expr)>,
        rep: R,
        is_map: bool,
    ) -> Arc<Compr> {
        let slots: Vec<Slot> = locals.iter().map(|l| self.local_slot(*l)).collect();
        let slot_reps: Vec<R> = slots.iter().map(|s| self.slots[*s as usize].rep.clone()).collect();
        let (plan, work) = self.counted(&slots, &[pred]);
        // What has no end is not run through, so there is nothing to ask.
        let plan = if plan.unbounded { plan } else { self.asked(plan, work, &slots, &[pred], false) };
        let test = self.test(pred);
        debug_assert!(is_map || value.is_some() || *rep.elem() == tuple_rep(&slot_reps));
        let infinite = plan.unbounded && rep.elem().carrier == 0;
        let is_relation = slots.len() > 1 && !is_map && value.is_none();
        let pointwise = (infinite && is_relation).then(|| self.plan(&slots[slots.len() - 1..], &[pred]));
        let last = if is_map || infinite { None } else { self.reads_of(e) };
        let last = last.map(|reads| Arc::new(Last { reads, value: Default::default() }));
        let is_integer = slot_reps.len() == 1 && slot_reps[0].is_int();
        let ranges = match slots[..] {
            [slot] if infinite && is_integer && !is_map && value.is_none() => self.range_parts(slot, pred),
            _ => None,
        };
        let function = match &value {
            Some((_, body)) if infinite => self.function(&slots, pred, body),
            _ => None,
        };
        let value = value.map(|(node, _)| node);
        let c = Arc::new(Compr {
            locals: locals.to_vec(),
            plan,
            slots,
            slot_reps,
            test,
            element,
            value,
            rep,
            is_map,
            infinite,
            pointwise,
            ranges,
            function,
            span: e.span,
            last,
        });
        if let Some(id) = binder(locals) {
            self.comprs.entry((id, self.inlining)).or_default().push((e.clone(), c.clone()));
        }
        c
    }

    /// What the conjuncts say of the one integer that is bound, if each says only where it is.
    fn range_parts(&mut self, slot: Slot, pred: &Expr) -> Option<Vec<RangePart>> {
        let mut conjuncts = Vec::new();
        flatten(Conjunct::new(pred, false), &mut conjuncts);
        let only: OpenSlots = [slot].into();
        let mut parts = Vec::new();
        for c in conjuncts {
            let ExprKind::Binary(op, a, b) = &c.expr.kind else { return None };
            let is_slot = |c: &mut Self, e: &Expr| c.as_slot(e) == Some(slot);
            let left = is_slot(self, a) && !self.mentions_open(b, &only);
            let right = is_slot(self, b) && !self.mentions_open(a, &only);
            if !left && !right {
                return None;
            }
            let other = if left { b } else { a };
            let negated = c.negated;
            let cmp = |less: bool, or_equal: bool| {
                // Turned round for the other side, and for a negation.
                match (less == left, or_equal) {
                    (true, _) if negated => {
                        if or_equal {
                            Cmp::Gt
                        } else {
                            Cmp::Ge
                        }
                    }
                    (false, _) if negated => {
                        if or_equal {
                            Cmp::Lt
                        } else {
                            Cmp::Le
                        }
                    }
                    (true, true) => Cmp::Le,
                    (true, false) => Cmp::Lt,
                    (false, true) => Cmp::Ge,
                    (false, false) => Cmp::Gt,
                }
            };
            parts.push(match op {
                BinOp::Lt => RangePart::Cmp(cmp(true, false), self.expr(other)),
                BinOp::Le => RangePart::Cmp(cmp(true, true), self.expr(other)),
                BinOp::Gt => RangePart::Cmp(cmp(false, false), self.expr(other)),
                BinOp::Ge => RangePart::Cmp(cmp(false, true), self.expr(other)),
                BinOp::Eq => RangePart::Is { value: self.expr(other), negated },
                BinOp::Neq => RangePart::Is { value: self.expr(other), negated: !negated },
                BinOp::In | BinOp::NotIn if left => {
                    let rep = self.rep(&other.ty);
                    let set = self.expr(other);
                    RangePart::In { set, rep, negated: negated != (*op == BinOp::NotIn) }
                }
                _ => return None,
            });
        }
        Some(parts)
    }

    /// Compiled before: nested comprehensions would otherwise be compiled once for each use around them.
    fn compiled(&self, e: &Expr, locals: &[LocalId]) -> Option<Arc<Compr>> {
        let copies = self.comprs.get(&(binder(locals)?, self.inlining))?;
        copies.iter().find(|(known, _)| known == e).map(|(_, c)| c.clone())
    }
}

fn real_op(op: BinOp) -> Option<ops::Real> {
    match op {
        BinOp::Add => Some(ops::Real::Add),
        BinOp::Sub => Some(ops::Real::Sub),
        BinOp::Mul => Some(ops::Real::Mul),
        BinOp::Div => Some(ops::Real::Div),
        _ => None,
    }
}

/// The first variable of a binder.
fn binder(locals: &[LocalId]) -> Option<LocalId> {
    locals.first().copied()
}

/// The function space an operator denotes.
pub(super) fn fun_kind(op: BinOp) -> Option<FunKind> {
    let kind =
        |functional, total, injective, surjective| FunKind { functional, total, injective, surjective };
    Some(match op {
        BinOp::Rel => kind(false, false, false, false),
        BinOp::TotalRel => kind(false, true, false, false),
        BinOp::SurjRel => kind(false, false, false, true),
        BinOp::TotalSurjRel => kind(false, true, false, true),
        BinOp::PartialFun => kind(true, false, false, false),
        BinOp::TotalFun => kind(true, true, false, false),
        BinOp::PartialInj => kind(true, false, true, false),
        BinOp::TotalInj => kind(true, true, true, false),
        BinOp::PartialSurj => kind(true, false, false, true),
        BinOp::TotalSurj => kind(true, true, false, true),
        BinOp::PartialBij => kind(true, false, true, true),
        BinOp::TotalBij => kind(true, true, true, true),
        _ => return None,
    })
}
