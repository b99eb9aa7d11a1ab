//! Random typed trees for differential tests: expressions, predicates and small whole models, every operator
//! of the language among them, faults included. A seed determines everything.
//!
//! [`Case`] is an expression with a model, a scope and values for its names; [`Case::value`] and
//! [`Case::predicate`] make one from a seed, [`Cases`] is the proptest strategy, and `Case` is a quickcheck
//! `Arbitrary`. Both shrink the tree: a part is replaced by a smaller one of the same type.
//! [`Machine`] is a whole model; it shrinks by dropping statements and by its expressions.

mod expr;
mod machine;
mod shrink;
mod typed;

pub use machine::Machine;
pub use shrink::{Sexp, shrink_expr};

use kanon::eval::Fault;
use kanon::eval::reference::{Cx, Env, State, eval, holds};
use kanon::lang::diag::{FileId, Span};
use kanon::model::{
    BinOp, ConstId, Decl, Expr, ExprKind, Fun, GivenSet, LocalId, Model, Quant, SetId, Target, Type, VarId,
};
use kanon::value::packed::Packing;
use kanon::value::rep::Rep;
use kanon::value::{Scope, Value};
use proptest::strategy::{NewTree, Strategy, ValueTree};
use proptest::test_runner::TestRunner;
use std::fmt;
use std::sync::Arc;

/// A source of choices: splitmix64.
#[derive(Clone, Debug)]
pub struct Choice(u64);

impl Choice {
    pub fn new(seed: u64) -> Self {
        Choice(seed)
    }

    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Less than `n`, which is positive.
    pub fn below(&mut self, n: usize) -> usize {
        (self.next() % n.max(1) as u64) as usize
    }

    /// True in so many of a hundred cases.
    pub fn percent(&mut self, p: usize) -> bool {
        self.below(100) < p
    }

    pub fn pick<T: Clone>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())].clone()
    }
}

/// Makes trees over the names of a model; bound variables become new locals of it.
pub struct Generator {
    pub choice: Choice,
    pub model: Model,
    pub scope: Scope,
    /// The locals that may be used at the moment.
    pub visible: Vec<LocalId>,
    /// What a statement may write to.
    writable: Vec<Target>,
    /// Whether variables have values: not yet in INITIALISATION.
    readable: bool,
    /// The targets of `x :(P)`, of which P knows the old values.
    changing: Vec<VarId>,
    /// How many of a hundred sets over an infinite type may be infinite, wherever they stand.
    infinite: usize,
    /// How many of a hundred bound sets have something said of their size or of their single elements.
    choosing: usize,
    /// Whether there are real numbers and freetypes.
    typed: bool,
    /// How many elements of S and D, the first ones, have names that may be used.
    pub names: [u32; 2],
    spans: u32,
}

pub const S: SetId = SetId(0);
pub const D: SetId = SetId(1);

impl Generator {
    /// Over the enumerated set S and the deferred set D, without constants and variables.
    pub fn new(seed: u64) -> Self {
        let mut choice = Choice::new(seed);
        let names = ["a", "b", "c"].map(Into::into).to_vec();
        let given = |name: &str, elements| GivenSet {
            name: name.into(),
            elements,
            named: vec![],
            is_parameter: false,
            span: Span::default(),
        };
        let model = Model {
            name: "Random".into(),
            sets: vec![given("S", Some(names)), given("D", None)],
            ..Model::default()
        };
        let scope = Scope {
            card: vec![3, 1 + choice.below(3) as u64],
            minint: (-(choice.below(3) as i64)).into(),
            maxint: (3 + choice.below(3)).into(),
        };
        Self::over(choice, model, scope)
    }

    /// Over the names of a model. Each deferred set needs a constant or variable of its type: its elements
    /// have no other names.
    pub fn over(choice: Choice, model: Model, scope: Scope) -> Self {
        Generator {
            choice,
            model,
            scope,
            visible: vec![],
            writable: vec![],
            readable: true,
            changing: vec![],
            infinite: 0,
            choosing: 0,
            typed: false,
            names: [3, 0],
            spans: 0,
        }
    }

    /// A place of its own for every node, so that faults can be told apart.
    fn span(&mut self) -> Span {
        self.spans += 1;
        Span::new(FileId(0), self.spans as usize, self.spans as usize + 1)
    }

    fn node(&mut self, kind: ExprKind, ty: Type) -> Expr {
        Expr { kind, ty, span: self.span() }
    }

    fn decl(&mut self, prefix: &str, n: usize, ty: Type) -> Decl {
        Decl { name: format!("{prefix}{n}").into(), ty, span: self.span() }
    }

    pub fn add_constant(&mut self, ty: Type) -> ConstId {
        let n = self.model.constants.len();
        let decl = self.decl("k", n, ty);
        self.model.constants.push(decl);
        ConstId(n as u32)
    }

    pub fn add_variable(&mut self, ty: Type) -> VarId {
        let n = self.model.variables.len();
        let decl = self.decl("v", n, ty);
        self.model.variables.push(decl);
        VarId(n as u32)
    }

    /// A new local, not yet visible.
    pub fn add_local(&mut self, ty: Type) -> LocalId {
        let n = self.model.locals.len();
        let decl = self.decl("x", n, ty);
        self.model.locals.push(decl);
        LocalId(n as u32)
    }

    /// A type of limited depth.
    pub fn ty(&mut self, depth: usize) -> Type {
        if self.typed && self.choice.percent(30) {
            return self.typed_ty();
        }
        let basic = [Type::Int, Type::Int, Type::Bool, Type::Given(S), Type::Given(D), Type::Str];
        if depth == 0 {
            return self.choice.pick(&basic);
        }
        match self.choice.below(10) {
            0..=3 => self.choice.pick(&basic),
            4 | 5 => self.ty(depth - 1).pow(),
            6 => Type::pair(self.ty(depth - 1), self.ty(depth - 1)),
            7 if self.choice.percent(15) => Type::seq(self.wide()),
            7 => Type::seq(self.ty(depth - 1)),
            8 => Type::Rec(Arc::new([("p".into(), self.ty(depth - 1)), ("q".into(), self.ty(depth - 1))])),
            _ => {
                let (a, b) = (self.ty(depth - 1), self.ty(depth - 1));
                Type::rel(a.clone(), if self.choice.percent(40) { a } else { b })
            }
        }
    }

    /// A type of which few items fit a packed sequence.
    pub fn wide(&mut self) -> Type {
        let (s, d) = (Type::Given(S), Type::Given(D));
        let flags = Type::pair(Type::Bool, Type::Bool);
        self.choice.pick(&[
            Type::rel(s.clone(), s.clone()),
            Type::rel(s.clone(), flags),
            Type::rel(s.clone(), d),
            Type::pair(Type::rel(s.clone(), s.clone()), s),
        ])
    }

    /// How many items fit a packed sequence, if that is no more than can be written out.
    fn fitting(&self, item: &Type) -> Option<usize> {
        Packing::of(Rep::of(item, &self.scope).carrier).map(Packing::most).filter(|most| *most <= 6)
    }

    /// As many items as fit, about.
    fn near(&mut self, most: usize) -> usize {
        most - 1 + self.choice.below(3)
    }

    /// A value of the type, small.
    pub fn value(&mut self, ty: &Type) -> Value {
        match ty {
            Type::Pred | Type::Bool => Value::Bool(self.choice.percent(50)),
            Type::Int => Value::int(self.choice.below(8) as i64 - 2),
            Type::Str => Value::Str(self.choice.pick(&["", "s", "t"]).into()),
            Type::Real | Type::Free(_) | Type::Again(_) => self.typed_value(ty),
            Type::Given(set) => {
                let n = self.scope.size(*set) as usize;
                Value::Elem(*set, self.choice.below(n) as u32)
            }
            Type::Pair(p) => Value::pair(self.value(&p.0), self.value(&p.1)),
            Type::Pow(t) => match t.as_pair() {
                // Half of the relations are functions, and many of those on integers sequences.
                Some((a, b)) if self.choice.percent(60) => {
                    let mut n = self.choice.below(4);
                    let is_sequence = *a == Type::Int && self.choice.percent(70);
                    if is_sequence
                        && let Some(most) = self.fitting(b)
                        && self.choice.percent(60)
                    {
                        n = self.near(most);
                    }
                    let mut pairs: Vec<(Value, Value)> = vec![];
                    for i in 1..=n {
                        let x = if is_sequence { Value::int(i) } else { self.value(a) };
                        let y = self.value(b);
                        if pairs.iter().all(|(x2, _)| *x2 != x) {
                            pairs.push((x, y));
                        }
                    }
                    Value::set(pairs.into_iter().map(|(x, y)| Value::pair(x, y)))
                }
                _ => {
                    let n = self.choice.below(4);
                    Value::set((0..n).map(|_| self.value(t)).collect::<Vec<_>>())
                }
            },
            Type::Rec(fields) => Value::Rec(fields.iter().map(|(_, t)| self.value(t)).collect()),
        }
    }

    /// Constants and variables of several types, the simple ones always among them.
    fn vocabulary(&mut self) {
        let always = [Type::Given(D), Type::Int, Type::Given(S).pow(), Type::seq(Type::Int)];
        for ty in always {
            self.add_variable(ty);
        }
        self.add_constant(Type::Given(D));
        self.add_constant(Type::rel(Type::Given(S), Type::Int));
        for _ in 0..3 {
            let ty = self.ty(2);
            self.add_variable(ty);
        }
    }
}

/// An expression or predicate with everything it needs to have a value.
#[derive(Clone)]
pub struct Case {
    pub seed: u64,
    pub model: Model,
    pub scope: Scope,
    pub constants: Vec<Value>,
    pub variables: Vec<Value>,
    pub expr: Expr,
}

impl Case {
    /// An expression of a random type; `size` is about the number of its nodes.
    pub fn value(seed: u64, size: usize) -> Case {
        Self::make(seed, |g| {
            let ty = g.ty(2);
            g.expr(&ty, size)
        })
    }

    pub fn predicate(seed: u64, size: usize) -> Case {
        Self::make(seed, |g| g.pred(size))
    }

    /// Either, decided by the seed.
    pub fn any(seed: u64, size: usize) -> Case {
        if Choice::new(!seed).percent(50) { Self::value(seed, size) } else { Self::predicate(seed, size) }
    }

    /// Like [`Case::any`], with infinite sets as operands of everything that takes a set.
    pub fn infinite(seed: u64, size: usize) -> Case {
        Self::make(seed, |g| {
            g.infinite = 15 + g.choice.below(40);
            if g.choice.percent(20) {
                let ty = g.ty(2);
                return g.expr(&ty, size);
            }
            g.pred(size)
        })
    }

    /// Like [`Case::any`], with sets that are bound and of which something is said that leaves most of them out.
    pub fn choosing(seed: u64, size: usize) -> Case {
        Self::make(seed, |g| {
            g.choosing = 40 + g.choice.below(60);
            let elem = g.ty(0);
            let sets = if g.choice.percent(60) { Type::Int.pow() } else { elem.pow() };
            let (ids, pred) = g.bound(Some(vec![sets]), size);
            let kind = match g.choice.below(3) {
                0 => ExprKind::Compr(ids, Box::new(pred)),
                1 => ExprKind::Quant(Quant::Exists, ids, Box::new(pred)),
                _ => {
                    let body = g.pred(size / 2);
                    let implied = ExprKind::Binary(BinOp::Implies, Box::new(pred), Box::new(body));
                    let implied = g.node(implied, Type::Pred);
                    ExprKind::Quant(Quant::Forall, ids, Box::new(implied))
                }
            };
            let ty = match &kind {
                ExprKind::Compr(ids, _) => g.model.local(ids[0]).ty.clone().pow(),
                _ => Type::Pred,
            };
            g.node(kind, ty)
        })
    }

    /// Like [`Case::any`], with real numbers and freetypes.
    pub fn typed(seed: u64, size: usize) -> Case {
        Self::make_with(seed, Generator::with_typed, |g| {
            let ty = g.ty(2);
            if g.choice.percent(50) { g.expr(&ty, size) } else { g.pred(size) }
        })
    }

    /// Sequences of about as many items as fit a word, and relations that are no sequences.
    pub fn sequences(seed: u64, size: usize) -> Case {
        let prepare = |g: &mut Generator| {
            let item = if g.choice.percent(70) { g.wide() } else { g.ty(0) };
            for ty in [item.clone(), Type::seq(item.clone()), Type::seq(item)] {
                g.add_variable(ty);
            }
        };
        Self::make_with(seed, prepare, |g| {
            let sequence = g.model.variables[1].ty.clone();
            match g.choice.below(4) {
                0 => g.expr(&sequence, size),
                1 => {
                    let item = g.model.variables[0].ty.clone();
                    g.expr(&item, size)
                }
                2 => {
                    let (a, b) = (g.expr(&sequence, size / 2), g.expr(&sequence, size / 2));
                    let op = g.choice.pick(&[BinOp::Eq, BinOp::Neq, BinOp::Subset]);
                    g.node(ExprKind::Binary(op, Box::new(a), Box::new(b)), Type::Pred)
                }
                _ => {
                    let s = g.expr(&sequence, size);
                    let fun = g.choice.pick(&[Fun::Size, Fun::Card]);
                    g.node(ExprKind::Call(fun, vec![s]), Type::Int)
                }
            }
        })
    }

    fn make(seed: u64, tree: impl FnOnce(&mut Generator) -> Expr) -> Case {
        Self::make_with(seed, |_| {}, tree)
    }

    fn make_with(
        seed: u64,
        prepare: impl FnOnce(&mut Generator),
        tree: impl FnOnce(&mut Generator) -> Expr,
    ) -> Case {
        let mut g = Generator::new(seed);
        prepare(&mut g);
        g.vocabulary();
        let values = |g: &mut Generator, types: Vec<Type>| types.iter().map(|t| g.value(t)).collect();
        let types = g.model.constants.iter().map(|d| d.ty.clone()).collect();
        let constants = values(&mut g, types);
        let types = g.model.variables.iter().map(|d| d.ty.clone()).collect();
        let variables = values(&mut g, types);
        let expr = tree(&mut g);
        Case { seed, model: g.model, scope: g.scope, constants, variables, expr }
    }

    pub fn state(&self) -> State<'_> {
        State {
            constants: Arc::new(self.constants.iter().map(|v| Some(v.clone().into())).collect()),
            variables: self.variables.iter().cloned().map(Some).collect(),
        }
    }

    /// What the reference says, predicates as BOOL; `None` where an integer ran only from MININT to MAXINT.
    /// With `eager`, membership lists comprehensions.
    pub fn reference(&self, eager: bool, fuel: u64) -> Option<Result<Value, Fault>> {
        let mut cx = Cx::new(&self.model, &self.scope).with_fuel(fuel);
        cx.eager = eager;
        let env = Env::of(&self.state());
        let result = match self.expr.ty {
            Type::Pred => holds(&cx, &env, &self.expr).map(Value::Bool),
            _ => eval(&cx, &env, &self.expr),
        };
        cx.truncated().is_empty().then_some(result)
    }

    /// Cases with a smaller tree.
    pub fn smaller(&self) -> Vec<Case> {
        shrink_expr(&self.expr).into_iter().map(|expr| Case { expr, ..self.clone() }).collect()
    }
}

impl fmt::Debug for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "seed {} MININT {} MAXINT {}", self.seed, self.scope.minint, self.scope.maxint)?;
        let show = |value, ty| kanon::value::Show { value, ty, model: &self.model };
        for (decl, value) in self.model.constants.iter().zip(&self.constants) {
            writeln!(f, "  {} = {}", decl.name, show(value, &decl.ty))?;
        }
        for (decl, value) in self.model.variables.iter().zip(&self.variables) {
            writeln!(f, "  {} = {}", decl.name, show(value, &decl.ty))?;
        }
        write!(f, "  {}", shrink::Sexp(&self.expr))
    }
}

impl quickcheck::Arbitrary for Case {
    fn arbitrary(g: &mut quickcheck::Gen) -> Self {
        Case::any(u64::arbitrary(g), g.size().min(30))
    }

    fn shrink(&self) -> Box<dyn Iterator<Item = Self>> {
        Box::new(self.smaller().into_iter())
    }
}

/// The proptest strategy: cases with trees of up to about `size` nodes.
#[derive(Clone, Copy, Debug)]
pub struct Cases {
    pub size: usize,
}

impl Strategy for Cases {
    type Tree = CaseTree;
    type Value = Case;

    fn new_tree(&self, runner: &mut TestRunner) -> NewTree<Self> {
        let seed = proptest::num::u64::ANY.new_tree(runner)?.current();
        let best = Case::any(seed, self.size);
        Ok(CaseTree { current: best.clone(), best, untried: None })
    }
}

/// Goes down to a smaller tree as long as the test still fails.
pub struct CaseTree {
    /// The smallest case that failed.
    best: Case,
    current: Case,
    /// Smaller ones than `best`, not yet tried.
    untried: Option<std::vec::IntoIter<Case>>,
}

impl CaseTree {
    fn advance(&mut self) -> bool {
        match self.untried.as_mut().and_then(Iterator::next) {
            Some(case) => {
                self.current = case;
                true
            }
            None => {
                self.current = self.best.clone();
                false
            }
        }
    }
}

impl ValueTree for CaseTree {
    type Value = Case;

    fn current(&self) -> Case {
        self.current.clone()
    }

    fn simplify(&mut self) -> bool {
        self.best = self.current.clone();
        self.untried = Some(self.best.smaller().into_iter());
        self.advance()
    }

    fn complicate(&mut self) -> bool {
        self.advance()
    }
}
