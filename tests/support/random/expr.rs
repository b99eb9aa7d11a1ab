//! Random expressions and predicates, by type.

use super::{Generator, S};
use kanon::lang::external::External;
use kanon::model::{BinOp, Binder, Expr, ExprKind, Fun, Lit, LocalId, Quant, Type, UnOp, VarId};

/// What the names of the model offer for a type.
impl Generator {
    fn named(&mut self, ty: &Type) -> Vec<ExprKind> {
        let mut found = vec![];
        for &id in &self.visible {
            if self.model.local(id).ty == *ty {
                // Twice: bound variables should be used.
                found.push(ExprKind::Local(id));
                found.push(ExprKind::Local(id));
            }
        }
        for (i, decl) in self.model.variables.iter().enumerate() {
            let id = VarId(i as u32);
            if decl.ty == *ty && self.readable {
                found.push(if self.changing.contains(&id) { ExprKind::Old(id) } else { ExprKind::Var(id) });
            }
        }
        for (i, decl) in self.model.constants.iter().enumerate() {
            if decl.ty == *ty {
                found.push(ExprKind::Const(kanon::model::ConstId(i as u32)));
            }
        }
        found
    }

    /// An expression without parts, or nearly.
    pub fn leaf(&mut self, ty: &Type) -> Expr {
        let mut kinds = self.named(ty);
        match ty {
            Type::Bool => kinds.extend([ExprKind::Lit(Lit::True), ExprKind::Lit(Lit::False)]),
            Type::Int => {
                let small = self.choice.below(8) as i64 - 2;
                kinds.extend([ExprKind::Int(small.into()), ExprKind::Int(small.into())]);
                if self.choice.percent(10) {
                    kinds.push(ExprKind::Lit(self.choice.pick(&[Lit::MaxInt, Lit::MinInt])));
                }
            }
            Type::Str => kinds.push(ExprKind::Str(self.choice.pick(&["", "s", "t"]).into())),
            Type::Real | Type::Free(_) => kinds.push(self.typed_leaf(ty)),
            Type::Given(set) => {
                let names = self.names.get(set.index()).copied().unwrap_or(0);
                if names > 0 {
                    kinds.push(ExprKind::Elem(*set, self.choice.below(names as usize) as u32));
                }
            }
            Type::Pow(t) => {
                kinds.push(ExprKind::Lit(match t.as_pair() {
                    Some((Type::Int, _)) if self.choice.percent(50) => Lit::EmptySeq,
                    _ => Lit::EmptySet,
                }));
                match &**t {
                    Type::Given(set) => kinds.push(ExprKind::Given(*set)),
                    Type::Bool => kinds.push(ExprKind::Lit(Lit::BoolSet)),
                    Type::Free(free) if !free.def().is_recursive => kinds.push(ExprKind::Lit(Lit::Whole)),
                    Type::Int => {
                        kinds.push(ExprKind::Lit(self.choice.pick(&[Lit::NatSet, Lit::Nat1Set, Lit::IntSet])))
                    }
                    _ => {}
                }
            }
            Type::Pair(p) if kinds.is_empty() => {
                let (a, b) = (self.leaf(&p.0), self.leaf(&p.1));
                kinds.push(ExprKind::Binary(BinOp::Pair, Box::new(a), Box::new(b)));
            }
            Type::Rec(fields) if kinds.is_empty() => {
                let fields = fields.iter().map(|(_, t)| self.leaf(t)).collect();
                kinds.push(ExprKind::Rec(fields));
            }
            _ => {}
        }
        let kind = self.choice.pick(&kinds);
        self.node(kind, ty.clone())
    }

    /// An expression of the type; `size` is about its number of nodes.
    pub fn expr(&mut self, ty: &Type, size: usize) -> Expr {
        if *ty == Type::Pred {
            return self.pred(size);
        }
        if let Type::Pow(elem) = ty
            && self.infinite > 0
            && is_infinite(elem)
            && self.choice.percent(self.infinite)
        {
            return self.symbolic(elem, size.saturating_sub(1));
        }
        if size <= 1 {
            return self.leaf(ty);
        }
        // A third of the expressions can stand for every type.
        let typed = if self.typed && self.choice.percent(25) { self.out_of_typed(ty, size) } else { None };
        let kind = if typed.is_some() {
            typed
        } else if self.choice.percent(25) {
            self.general(ty, size)
        } else {
            self.special(ty, size)
        };
        match kind {
            Some(kind) => self.node(kind, ty.clone()),
            None => self.leaf(ty),
        }
    }

    fn boxed(&mut self, ty: &Type, size: usize) -> Box<Expr> {
        Box::new(self.expr(ty, size))
    }

    fn general(&mut self, ty: &Type, size: usize) -> Option<ExprKind> {
        let (half, third) = (size / 2, size / 3);
        let other = self.ty(1);
        Some(match self.choice.below(9) {
            0 | 1 => {
                let cond = Box::new(self.pred(third));
                ExprKind::If(cond, self.boxed(ty, third), self.boxed(ty, third))
            }
            2 => {
                let defs = self.definitions(half);
                let before = self.visible.len();
                self.visible.extend(defs.iter().map(|(id, _)| *id));
                let body = self.boxed(ty, half);
                self.visible.truncate(before);
                ExprKind::Let(defs, body)
            }
            3 | 4 => {
                let f = self.boxed(&Type::rel(other.clone(), ty.clone()), half);
                ExprKind::Apply(f, self.boxed(&other, half))
            }
            5 => ExprKind::First(self.boxed(&Type::pair(ty.clone(), other), size.saturating_sub(1))),
            6 => ExprKind::Second(self.boxed(&Type::pair(other, ty.clone()), size.saturating_sub(1))),
            7 => {
                let fun = self.choice.pick(&[Fun::First, Fun::Last]);
                ExprKind::Call(fun, vec![self.expr(&Type::seq(ty.clone()), size.saturating_sub(1))])
            }
            _ if self.choice.percent(50) => {
                let fun = if self.choice.percent(70) { Fun::Mu } else { Fun::External(External::Choose) };
                ExprKind::Call(fun, vec![self.expr(&ty.clone().pow(), size.saturating_sub(1))])
            }
            _ => {
                let fields: [(_, Type); 2] = [("p".into(), ty.clone()), ("q".into(), other)];
                ExprKind::Field(self.boxed(&Type::Rec(fields.into()), size.saturating_sub(1)), 0)
            }
        })
    }

    /// One or two definitions of a LET, the second of which may use the first.
    pub fn definitions(&mut self, size: usize) -> Vec<(LocalId, Expr)> {
        let before = self.visible.len();
        let mut defs = vec![];
        for _ in 0..=self.choice.below(2) {
            let ty = self.ty(1);
            let e = self.expr(&ty, size / 2);
            let id = self.add_local(ty);
            self.visible.push(id);
            defs.push((id, e));
        }
        self.visible.truncate(before);
        defs
    }

    fn special(&mut self, ty: &Type, size: usize) -> Option<ExprKind> {
        Some(match ty {
            Type::Int => self.integer(size),
            Type::Bool => ExprKind::Bool(Box::new(self.pred(size.saturating_sub(1)))),
            Type::Pair(p) => {
                let (a, b) = (self.boxed(&p.0, size / 2), self.boxed(&p.1, size / 2));
                ExprKind::Binary(BinOp::Pair, a, b)
            }
            Type::Rec(fields) => {
                let fields = fields.clone();
                ExprKind::Rec(fields.iter().map(|(_, t)| self.expr(t, size / fields.len())).collect())
            }
            Type::Pow(t) => return self.set(t, size),
            Type::Str => self.string(size),
            Type::Real | Type::Free(_) | Type::Again(_) => self.typed_expr(ty, size),
            Type::Pred | Type::Given(_) => return None,
        })
    }

    fn string(&mut self, size: usize) -> ExprKind {
        use External::*;
        let strings = Type::seq(Type::Str);
        let (fun, types) = match self.choice.below(7) {
            0 => (StringAppend, vec![Type::Str, Type::Str]),
            1 => (StringConc, vec![strings]),
            2 => (StringJoin, vec![strings, Type::Str]),
            3 => (IntToString, vec![Type::Int]),
            4 => (AssertExpr, vec![Type::Bool, Type::Str, Type::Str]),
            5 => (IntToDecString, vec![Type::Int, Type::Int]),
            _ => (ToString, vec![self.ty(2)]),
        };
        self.external(fun, &types, size)
    }

    fn external(&mut self, fun: External, types: &[Type], size: usize) -> ExprKind {
        let args = types.iter().map(|t| self.expr(t, size / types.len())).collect();
        ExprKind::Call(Fun::External(fun), args)
    }

    fn integer(&mut self, size: usize) -> ExprKind {
        use BinOp::*;
        let half = size / 2;
        match self.choice.below(15) {
            14 => {
                use External::*;
                let (fun, types) = match self.choice.below(6) {
                    0 => (StringLength, vec![Type::Str]),
                    1 => (StringToInt, vec![Type::Str]),
                    2 => (DecStringToInt, vec![Type::Str, Type::Int]),
                    3 => (Abs, vec![Type::Int]),
                    _ => {
                        let all = [BitAnd, BitOr, BitXor, ShiftLeft, ShiftRight, Gcd];
                        (self.choice.pick(&all), vec![Type::Int, Type::Int])
                    }
                };
                self.external(fun, &types, size)
            }
            0..=4 => {
                let op = self.choice.pick(&[Add, Sub, Mul, Div, Mod]);
                ExprKind::Binary(op, self.boxed(&Type::Int, half), self.boxed(&Type::Int, half))
            }
            5 => ExprKind::Binary(Pow, self.boxed(&Type::Int, half), self.boxed(&Type::Int, 1)),
            6 => ExprKind::Unary(UnOp::Neg, self.boxed(&Type::Int, size.saturating_sub(1))),
            7 | 8 => {
                let t = self.ty(1).pow();
                ExprKind::Call(Fun::Card, vec![self.expr(&t, size.saturating_sub(1))])
            }
            9 | 10 => {
                let fun = self.choice.pick(&[Fun::Min, Fun::Max]);
                ExprKind::Call(fun, vec![self.expr(&Type::Int.pow(), size.saturating_sub(1))])
            }
            11 => {
                let t = Type::seq(self.ty(1));
                ExprKind::Call(Fun::Size, vec![self.expr(&t, size.saturating_sub(1))])
            }
            12 => {
                let fun = self.choice.pick(&[Fun::Succ, Fun::Pred]);
                ExprKind::Call(fun, vec![self.expr(&Type::Int, size.saturating_sub(1))])
            }
            _ => {
                let binder = self.choice.pick(&[Binder::Sigma, Binder::Pi]);
                self.bind(binder, None, &Type::Int, size)
            }
        }
    }

    /// A binder over new locals (of the types given, or random ones) with a body of a type.
    pub fn bind(&mut self, binder: Binder, types: Option<Vec<Type>>, body: &Type, size: usize) -> ExprKind {
        let (ids, pred) = self.bound(types, size / 2);
        let before = self.visible.len();
        self.visible.extend(&ids);
        let body = self.boxed(body, size / 2);
        self.visible.truncate(before);
        ExprKind::Bind(binder, ids, Box::new(pred), body)
    }

    /// New locals and a predicate over them that mostly bounds them.
    pub fn bound(&mut self, types: Option<Vec<Type>>, size: usize) -> (Vec<LocalId>, Expr) {
        let types = types.unwrap_or_else(|| {
            let n = 1 + self.choice.below(2);
            (0..n).map(|_| self.ty(1)).collect()
        });
        let before = self.visible.len();
        let mut ids = vec![];
        let mut conjuncts = vec![];
        for ty in types {
            let share = if self.choice.percent(50) { 1 } else { size / 3 };
            // The set may mention the locals before this one.
            let set = self.some_set(&ty, share);
            let id = self.add_local(ty.clone());
            ids.push(id);
            if is_infinite(&ty) && self.choice.percent(95) || self.choice.percent(60) {
                let x = self.node(ExprKind::Local(id), ty.clone());
                let op = ExprKind::Binary(BinOp::In, Box::new(x), Box::new(set));
                conjuncts.push(self.node(op, Type::Pred));
                if self.infinite > 0 && self.choice.percent(12) {
                    conjuncts.push(self.among(id, &ty));
                }
            }
            if self.choosing > 0 && matches!(ty, Type::Pow(_)) && self.choice.percent(self.choosing) {
                let said = if self.choice.percent(50) { self.sized(id, &ty) } else { self.made(id, &ty) };
                let at = self.choice.below(conjuncts.len() + 1);
                conjuncts.insert(at, said);
            }
            self.visible.push(id);
        }
        if conjuncts.is_empty() || self.choice.percent(60) {
            let extra = self.pred(size / 2);
            let at = self.choice.below(conjuncts.len() + 1);
            conjuncts.insert(at, extra);
        }
        self.visible.truncate(before);
        let mut all = conjuncts.remove(0);
        for c in conjuncts {
            all = self.node(ExprKind::Binary(BinOp::And, Box::new(all), Box::new(c)), Type::Pred);
        }
        (ids, all)
    }

    /// `{x} <: S` or `{x} = S`: a bound that is none by its form, now and then of nothing.
    fn among(&mut self, id: LocalId, ty: &Type) -> Expr {
        let sets = ty.clone().pow();
        let x = self.node(ExprKind::Local(id), ty.clone());
        let single = self.node(ExprKind::SetExt(vec![x]), sets.clone());
        let set = if self.choice.percent(50) {
            self.node(ExprKind::Lit(Lit::EmptySet), sets)
        } else {
            self.leaf(&sets)
        };
        let op = self.choice.pick(&[BinOp::Subset, BinOp::Eq]);
        self.node(ExprKind::Binary(op, Box::new(single), Box::new(set)), Type::Pred)
    }

    /// `card(x) <= E` and the like.
    fn sized(&mut self, id: LocalId, ty: &Type) -> Expr {
        let x = self.node(ExprKind::Local(id), ty.clone());
        let card = Box::new(self.node(ExprKind::Call(Fun::Card, vec![x]), Type::Int));
        let number = if self.choice.percent(70) {
            let n = self.choice.below(4) as i64 - 1;
            self.node(ExprKind::Int(n.into()), Type::Int)
        } else {
            self.leaf(&Type::Int)
        };
        use BinOp::*;
        let said = if self.choice.percent(15) {
            let most = Box::new(self.leaf(&Type::Int));
            let range = ExprKind::Binary(Interval, Box::new(number), most);
            let range = Box::new(self.node(range, Type::Int.pow()));
            let op = self.choice.pick(&[In, In, NotIn]);
            ExprKind::Binary(op, card, range)
        } else {
            let op = self.choice.pick(&[Eq, Eq, Neq, Le, Lt, Ge, Gt]);
            let number = Box::new(number);
            let (a, b) = if self.choice.percent(50) { (card, number) } else { (number, card) };
            ExprKind::Binary(op, a, b)
        };
        let said = self.node(said, Type::Pred);
        if self.choice.percent(20) {
            return self.node(ExprKind::Unary(UnOp::Not, Box::new(said)), Type::Pred);
        }
        said
    }

    /// `x /\ S = T` and the like.
    fn made(&mut self, id: LocalId, ty: &Type) -> Expr {
        use BinOp::*;
        let mut made = self.node(ExprKind::Local(id), ty.clone());
        for _ in 0..self.choice.below(3) {
            let other = self.leaf(ty);
            let op = self.choice.pick(&[Union, Inter, Diff]);
            let (a, b) = if self.choice.percent(50) { (made, other) } else { (other, made) };
            made = self.node(ExprKind::Binary(op, Box::new(a), Box::new(b)), ty.clone());
        }
        let other = if self.choice.percent(25) {
            self.node(ExprKind::Lit(Lit::EmptySet), ty.clone())
        } else {
            self.leaf(ty)
        };
        let (a, b) = if self.choice.percent(50) { (made, other) } else { (other, made) };
        let op = self.choice.pick(&[Eq, Eq, Subset, Neq, NotSubset]);
        self.node(ExprKind::Binary(op, Box::new(a), Box::new(b)), Type::Pred)
    }

    /// A set that is probably not empty.
    fn some_set(&mut self, elem: &Type, size: usize) -> Expr {
        let kind = match elem {
            Type::Int if self.choice.percent(70) => {
                let low = self.choice.below(3) as i64 - 1;
                let high = low + self.choice.below(4) as i64;
                let low = self.node(ExprKind::Int(low.into()), Type::Int);
                let high = self.node(ExprKind::Int(high.into()), Type::Int);
                ExprKind::Binary(BinOp::Interval, Box::new(low), Box::new(high))
            }
            Type::Given(set) if self.choice.percent(60) => ExprKind::Given(*set),
            Type::Bool => ExprKind::Lit(Lit::BoolSet),
            Type::Free(free) if !free.def().is_recursive && self.choice.percent(60) => {
                ExprKind::Lit(Lit::Whole)
            }
            Type::Pow(t) if self.choice.percent(50) => {
                let fun = self.choice.pick(&[Fun::Pow, Fun::Pow, Fun::Fin, Fun::Pow1]);
                ExprKind::Call(fun, vec![self.some_set(t, size)])
            }
            _ if size > 1 => return self.expr(&elem.clone().pow(), size),
            _ => {
                let n = 1 + self.choice.below(2);
                ExprKind::SetExt((0..n).map(|_| self.leaf(elem)).collect())
            }
        };
        self.node(kind, elem.clone().pow())
    }

    fn set(&mut self, elem: &Type, size: usize) -> Option<ExprKind> {
        let ty = elem.clone().pow();
        let half = size / 2;
        if let Type::Pair(p) = elem
            && p.0 == Type::Int
            && self.choice.percent(8)
        {
            use External::*;
            let (fun, types) = match &p.1 {
                Type::Str if self.choice.percent(50) => (StringSplit, vec![Type::Str, Type::Str]),
                Type::Str => (StringChars, vec![Type::Str]),
                Type::Int if self.choice.percent(30) => (StringCodes, vec![Type::Str]),
                t if self.choice.percent(50) => (Sort, vec![t.clone().pow()]),
                _ => (Squash, vec![ty]),
            };
            return Some(self.external(fun, &types, size));
        }
        if let Type::Pair(p) = elem
            && self.choice.percent(65)
        {
            return Some(self.relation(&p.0, &p.1, size));
        }
        Some(match self.choice.below(14) {
            0 | 1 => {
                let n = self.choice.below(4);
                ExprKind::SetExt((0..n.max(1)).map(|_| self.expr(elem, size / n.max(1))).collect())
            }
            2..=4 => {
                let op = self.choice.pick(&[BinOp::Union, BinOp::Inter, BinOp::Diff]);
                // Sometimes the other set is infinite.
                let right = if self.choice.percent(8) {
                    Box::new(self.symbolic(elem, half))
                } else {
                    self.boxed(&ty, half)
                };
                ExprKind::Binary(op, self.boxed(&ty, half), right)
            }
            5 => {
                let types = parts(elem, &mut self.choice);
                let (ids, pred) = self.bound(Some(types), size.saturating_sub(1));
                ExprKind::Compr(ids, Box::new(pred))
            }
            6 => {
                let (ids, pred) = self.bound(None, half);
                let before = self.visible.len();
                self.visible.extend(&ids);
                let body = self.boxed(elem, half);
                self.visible.truncate(before);
                ExprKind::ComprMap(ids, Box::new(pred), body)
            }
            7 => {
                let fun = self.choice.pick(&[Fun::GenUnion, Fun::GenInter]);
                ExprKind::Call(fun, vec![self.expr(&ty.pow(), size.saturating_sub(1))])
            }
            8 => {
                let binder = self.choice.pick(&[Binder::Union, Binder::Inter]);
                self.bind(binder, None, &ty, size)
            }
            9 => {
                let other = self.ty(1);
                let r = self.boxed(&Type::rel(other.clone(), elem.clone()), half);
                ExprKind::Image(r, self.boxed(&other.pow(), half))
            }
            10 => {
                let other = self.ty(0);
                ExprKind::Call(
                    Fun::Dom,
                    vec![self.expr(&Type::rel(elem.clone(), other), size.saturating_sub(1))],
                )
            }
            11 => {
                let other = self.ty(0);
                ExprKind::Call(
                    Fun::Ran,
                    vec![self.expr(&Type::rel(other, elem.clone()), size.saturating_sub(1))],
                )
            }
            _ => return self.constructor(elem, size, false),
        })
    }

    /// A set of intervals, sets, records, pairs, functions, sequences: what the element type suggests.
    fn constructor(&mut self, elem: &Type, size: usize, symbolic: bool) -> Option<ExprKind> {
        let half = size / 2;
        let part = |g: &mut Self, t: &Type, size: usize| {
            if symbolic && g.choice.percent(60) { g.symbolic(t, size) } else { g.some_set(t, size) }
        };
        Some(match elem {
            Type::Int => {
                ExprKind::Binary(BinOp::Interval, self.boxed(&Type::Int, half), self.boxed(&Type::Int, half))
            }
            Type::Pair(p) => {
                let (a, b) = (part(self, &p.0, half), part(self, &p.1, half));
                ExprKind::Product(Box::new(a), Box::new(b))
            }
            Type::Rec(fields) => {
                let fields = fields.clone();
                ExprKind::Struct(fields.iter().map(|(_, t)| part(self, t, half)).collect())
            }
            Type::Pow(inner) => {
                if let Type::Pair(p) = &**inner {
                    if p.0 == Type::Int && self.choice.percent(35) {
                        let kinds = [Fun::Iseq, Fun::Iseq1, Fun::Perm, Fun::Seq, Fun::Seq1];
                        let fun = self.choice.pick(&kinds[if symbolic { 0..5 } else { 0..3 }]);
                        return Some(ExprKind::Call(fun, vec![part(self, &p.1, size.saturating_sub(1))]));
                    }
                    if self.choice.percent(60) {
                        let op = self.choice.pick(&SPACES);
                        let (a, b) = (part(self, &p.0, half), part(self, &p.1, half));
                        return Some(ExprKind::Binary(op, Box::new(a), Box::new(b)));
                    }
                }
                let fun = self.choice.pick(&[Fun::Pow, Fun::Pow1, Fun::Fin, Fun::Fin1]);
                ExprKind::Call(fun, vec![part(self, inner, size.saturating_sub(1))])
            }
            _ => return None,
        })
    }

    /// A set that may be infinite: to test membership, not to list.
    pub fn symbolic(&mut self, elem: &Type, size: usize) -> Expr {
        let ty = elem.clone().pow();
        if self.infinite > 0
            && size > 0
            && is_infinite(elem)
            && self.choice.percent(25)
            && let Some(kind) = self.over_infinite(elem, size)
        {
            return self.node(kind, ty);
        }
        // As a value that is handed on: an operator in the text is taken apart, one in a value is not.
        if self.infinite > 0 && size > 0 && is_infinite(elem) && self.choice.percent(12) {
            let set = self.symbolic(elem, size - 1);
            let id = self.add_local(ty.clone());
            let name = Box::new(self.node(ExprKind::Local(id), ty.clone()));
            return self.node(ExprKind::Let(vec![(id, set)], name), ty);
        }
        let kind = match elem {
            Type::Int if self.choice.percent(70) => {
                Some(ExprKind::Lit(self.choice.pick(&[Lit::Natural, Lit::Natural1, Lit::Integer])))
            }
            Type::Str if self.choice.percent(50) => Some(ExprKind::Lit(Lit::StringSet)),
            Type::Real | Type::Free(_) if self.choice.percent(60) => self.typed_set(elem),
            Type::Pair(p) if p.0 == Type::Int && p.1 == Type::Int && self.choice.percent(20) => {
                Some(ExprKind::Lit(self.choice.pick(&[Lit::Succ, Lit::Pred])))
            }
            _ if self.choice.percent(20) => {
                let op = self.choice.pick(&[BinOp::Union, BinOp::Inter, BinOp::Diff]);
                let (a, b) = (self.symbolic(elem, size / 2), self.symbolic(elem, size / 2));
                Some(ExprKind::Binary(op, Box::new(a), Box::new(b)))
            }
            _ if self.choice.percent(60) => self.constructor(elem, size, true),
            _ => None,
        };
        match kind {
            Some(kind) => self.node(kind, ty),
            None => self.expr(&ty, size),
        }
    }

    /// A comprehension over an infinite set, or an operator that keeps an infinite operand infinite.
    fn over_infinite(&mut self, elem: &Type, size: usize) -> Option<ExprKind> {
        let half = size / 2;
        if let Type::Pair(p) = elem
            && self.choice.percent(70)
        {
            let (a, b) = (p.0.clone(), p.1.clone());
            return Some(match self.choice.below(6) {
                0 if a == b => ExprKind::Call(Fun::Id, vec![self.symbolic(&a, half)]),
                1 => match &a {
                    Type::Pair(q) if q.0 == b => {
                        ExprKind::Call(Fun::Prj1, vec![self.symbolic(&q.0, half), self.symbolic(&q.1, half)])
                    }
                    Type::Pair(q) if q.1 == b => {
                        ExprKind::Call(Fun::Prj2, vec![self.symbolic(&q.0, half), self.symbolic(&q.1, half)])
                    }
                    _ => return None,
                },
                2 => {
                    let r = self.symbolic(&Type::pair(b, a), size.saturating_sub(1));
                    ExprKind::Unary(UnOp::Inverse, Box::new(r))
                }
                _ => {
                    let (id, pred) = self.member_of_infinite(&a, half);
                    self.visible.push(id);
                    let body = self.boxed(&b, half);
                    self.visible.pop();
                    ExprKind::Bind(Binder::Lambda, vec![id], Box::new(pred), body)
                }
            });
        }
        Some(match self.choice.below(5) {
            0 => {
                let other = self.ty(0);
                let r = self.symbolic(&Type::pair(elem.clone(), other), size.saturating_sub(1));
                ExprKind::Call(Fun::Dom, vec![r])
            }
            1 => {
                let other = self.ty(0);
                let r = self.symbolic(&Type::pair(other, elem.clone()), size.saturating_sub(1));
                ExprKind::Call(Fun::Ran, vec![r])
            }
            2 => {
                let sets = (0..=self.choice.below(2)).map(|_| self.symbolic(elem, half)).collect();
                let fun = self.choice.pick(&[Fun::GenUnion, Fun::GenInter]);
                let family = self.node(ExprKind::SetExt(sets), elem.clone().pow().pow());
                ExprKind::Call(fun, vec![family])
            }
            _ => {
                let (id, pred) = self.member_of_infinite(elem, half);
                ExprKind::Compr(vec![id], Box::new(pred))
            }
        })
    }

    /// A new local that ranges over a set that may be infinite, perhaps with a further condition.
    fn member_of_infinite(&mut self, ty: &Type, size: usize) -> (LocalId, Expr) {
        let set = self.symbolic(ty, size / 2);
        let id = self.add_local(ty.clone());
        let x = self.node(ExprKind::Local(id), ty.clone());
        let mut pred = self.node(ExprKind::Binary(BinOp::In, Box::new(x), Box::new(set)), Type::Pred);
        if self.choice.percent(50) {
            self.visible.push(id);
            let more =
                if self.choice.percent(30) { self.applied_to(id, ty, size) } else { self.pred(size / 2) };
            self.visible.pop();
            pred = self.node(ExprKind::Binary(BinOp::And, Box::new(pred), Box::new(more)), Type::Pred);
        }
        (id, pred)
    }

    /// `f(x) = f(x)`, which has no value where x is outside the domain of f.
    fn applied_to(&mut self, id: LocalId, ty: &Type, size: usize) -> Expr {
        let f = self.boxed(&Type::rel(ty.clone(), Type::Bool), size / 2);
        let x = Box::new(self.node(ExprKind::Local(id), ty.clone()));
        let y = Box::new(self.node(ExprKind::Apply(f, x), Type::Bool));
        self.node(ExprKind::Binary(BinOp::Eq, y.clone(), y), Type::Pred)
    }

    fn relation(&mut self, a: &Type, b: &Type, size: usize) -> ExprKind {
        use BinOp::*;
        let ty = Type::rel(a.clone(), b.clone());
        let half = size / 2;
        if *a == Type::Int && self.choice.percent(35) {
            return self.sequence(b, size);
        }
        match self.choice.below(17) {
            0 => ExprKind::Unary(
                UnOp::Inverse,
                self.boxed(&Type::rel(b.clone(), a.clone()), size.saturating_sub(1)),
            ),
            1 | 2 => {
                let op = self.choice.pick(&[DomRestrict, DomSubtract]);
                ExprKind::Binary(op, self.boxed(&a.clone().pow(), half), self.boxed(&ty, half))
            }
            3 | 4 => {
                let op = self.choice.pick(&[RanRestrict, RanSubtract]);
                ExprKind::Binary(op, self.boxed(&ty, half), self.boxed(&b.clone().pow(), half))
            }
            5 | 6 => ExprKind::Binary(Override, self.boxed(&ty, half), self.boxed(&ty, half)),
            7 | 8 => {
                let mid = self.ty(0);
                let left = self.boxed(&Type::rel(a.clone(), mid.clone()), half);
                ExprKind::Binary(Compose, left, self.boxed(&Type::rel(mid, b.clone()), half))
            }
            9 | 10 => {
                let types = parts(a, &mut self.choice);
                self.bind(Binder::Lambda, Some(types), b, size)
            }
            11 => ExprKind::Call(
                Fun::Rel,
                vec![self.expr(&Type::rel(a.clone(), b.clone().pow()), size.saturating_sub(1))],
            ),
            12 => match b {
                Type::Pow(t) => ExprKind::Call(
                    Fun::Fnc,
                    vec![self.expr(&Type::rel(a.clone(), (**t).clone()), size.saturating_sub(1))],
                ),
                _ => ExprKind::Binary(Override, self.boxed(&ty, half), self.boxed(&ty, half)),
            },
            13 if a == b => ExprKind::Call(Fun::Id, vec![self.some_set(a, size.saturating_sub(1))]),
            14 if a == b => {
                let fun = self.choice.pick(&[Fun::Closure1, Fun::Closure]);
                ExprKind::Call(fun, vec![self.expr(&ty, size.saturating_sub(1))])
            }
            15 if a == b => ExprKind::Call(
                Fun::Iterate,
                vec![self.expr(&ty, size.saturating_sub(2)), self.leaf(&Type::Int)],
            ),
            _ => match (a, b) {
                (Type::Pair(p), b) if p.0 == *b && self.choice.percent(50) => {
                    ExprKind::Call(Fun::Prj1, vec![self.some_set(&p.0, half), self.some_set(&p.1, half)])
                }
                (Type::Pair(p), b) if p.1 == *b && self.choice.percent(50) => {
                    ExprKind::Call(Fun::Prj2, vec![self.some_set(&p.0, half), self.some_set(&p.1, half)])
                }
                (Type::Pair(p), Type::Pair(q)) if self.choice.percent(60) => {
                    let left = self.boxed(&Type::rel(p.0.clone(), q.0.clone()), half);
                    let right = self.boxed(&Type::rel(p.1.clone(), q.1.clone()), half);
                    ExprKind::Binary(ParallelProduct, left, right)
                }
                (a, Type::Pair(q)) => {
                    let left = self.boxed(&Type::rel(a.clone(), q.0.clone()), half);
                    let right = self.boxed(&Type::rel(a.clone(), q.1.clone()), half);
                    ExprKind::Binary(DirectProduct, left, right)
                }
                _ => {
                    let n = 1 + self.choice.below(3);
                    let pair = Type::pair(a.clone(), b.clone());
                    ExprKind::SetExt((0..n).map(|_| self.expr(&pair, size / n)).collect())
                }
            },
        }
    }

    fn sequence(&mut self, elem: &Type, size: usize) -> ExprKind {
        let ty = Type::seq(elem.clone());
        let half = size / 2;
        match self.choice.below(9) {
            0 | 1 => {
                let mut n = self.choice.below(4).max(1);
                if let Some(most) = self.fitting(elem)
                    && self.choice.percent(40)
                {
                    n = self.near(most);
                }
                ExprKind::SeqExt((0..n).map(|_| self.expr(elem, size / n)).collect())
            }
            2 => ExprKind::Binary(BinOp::Concat, self.boxed(&ty, half), self.boxed(&ty, half)),
            3 => ExprKind::Binary(BinOp::Prepend, self.boxed(elem, half), self.boxed(&ty, half)),
            4 => ExprKind::Binary(BinOp::Append, self.boxed(&ty, half), self.boxed(elem, half)),
            5 | 6 => {
                let op = self.choice.pick(&[BinOp::TakeFirst, BinOp::DropFirst]);
                ExprKind::Binary(op, self.boxed(&ty, half), self.boxed(&Type::Int, size / 4))
            }
            7 => {
                let fun = self.choice.pick(&[Fun::Front, Fun::Tail, Fun::Rev]);
                ExprKind::Call(fun, vec![self.expr(&ty, size.saturating_sub(1))])
            }
            _ => ExprKind::Call(Fun::Conc, vec![self.expr(&Type::seq(ty), size.saturating_sub(1))]),
        }
    }

    pub fn pred(&mut self, size: usize) -> Expr {
        use BinOp::*;
        let half = size / 2;
        let kind = match self.choice.below(if size <= 2 { 9 } else { 20 }) {
            0 => ExprKind::Lit(self.choice.pick(&[Lit::BTrue, Lit::BFalse])),
            1..=3 if self.typed && self.choice.percent(40) => self.real_comparison(size),
            1..=3 => {
                let op = self.choice.pick(&[Lt, Le, Gt, Ge, Eq, Neq]);
                ExprKind::Binary(op, self.boxed(&Type::Int, half), self.boxed(&Type::Int, half))
            }
            4 if self.choice.percent(10) => {
                let (fun, ty) = if self.choice.percent(70) {
                    (External::Less, self.ty(2))
                } else {
                    (External::StringContains, Type::Str)
                };
                let call = self.external(fun, &[ty.clone(), ty], half);
                let call = Box::new(self.node(call, Type::Bool));
                let truth = Box::new(self.node(ExprKind::Lit(Lit::True), Type::Bool));
                ExprKind::Binary(Eq, call, truth)
            }
            4 | 5 => {
                let ty = self.ty(2);
                let op = self.choice.pick(&[Eq, Neq]);
                ExprKind::Binary(op, self.boxed(&ty, half), self.boxed(&ty, half))
            }
            6 | 7 => {
                let ty = self.ty(2);
                let op = self.choice.pick(&[In, In, NotIn]);
                let set = if self.choice.percent(40) {
                    self.symbolic(&ty, half)
                } else {
                    self.expr(&ty.clone().pow(), half)
                };
                ExprKind::Binary(op, self.boxed(&ty, half), Box::new(set))
            }
            8 => {
                let elem = self.ty(1);
                let op = self.choice.pick(&[Subset, NotSubset, StrictSubset, NotStrictSubset]);
                let set = elem.clone().pow();
                let right = match op {
                    Subset | NotSubset if self.choice.percent(30) => Box::new(self.symbolic(&elem, half)),
                    _ => self.boxed(&set, half),
                };
                ExprKind::Binary(op, self.boxed(&set, half), right)
            }
            9..=13 => {
                let op = self.choice.pick(&[And, And, Or, Or, Implies, Iff]);
                let (a, b) = (self.pred(half), self.pred(half));
                ExprKind::Binary(op, Box::new(a), Box::new(b))
            }
            14 => ExprKind::Unary(UnOp::Not, Box::new(self.pred(size.saturating_sub(1)))),
            15 => {
                let (a, b, c) = (self.pred(size / 3), self.pred(size / 3), self.pred(size / 3));
                ExprKind::If(Box::new(a), Box::new(b), Box::new(c))
            }
            16 => {
                let defs = self.definitions(half);
                let before = self.visible.len();
                self.visible.extend(defs.iter().map(|(id, _)| *id));
                let body = Box::new(self.pred(half));
                self.visible.truncate(before);
                ExprKind::Let(defs, body)
            }
            n => {
                let (ids, typing) = self.bound(None, half);
                let before = self.visible.len();
                self.visible.extend(&ids);
                let rest = self.pred(half);
                self.visible.truncate(before);
                let (quant, op) = if n == 17 { (Quant::Exists, And) } else { (Quant::Forall, Implies) };
                let body = self.node(ExprKind::Binary(op, Box::new(typing), Box::new(rest)), Type::Pred);
                ExprKind::Quant(quant, ids, Box::new(body))
            }
        };
        self.node(kind, Type::Pred)
    }
}

const SPACES: [BinOp; 12] = [
    BinOp::Rel,
    BinOp::TotalRel,
    BinOp::SurjRel,
    BinOp::TotalSurjRel,
    BinOp::PartialFun,
    BinOp::TotalFun,
    BinOp::PartialInj,
    BinOp::TotalInj,
    BinOp::PartialSurj,
    BinOp::TotalSurj,
    BinOp::PartialBij,
    BinOp::TotalBij,
];

/// The types of the variables of a comprehension with such elements: one, or as many as the nested pair has.
fn parts(elem: &Type, choice: &mut super::Choice) -> Vec<Type> {
    match elem {
        Type::Pair(p) if choice.percent(80) => {
            let mut types = parts(&p.0, choice);
            types.push(p.1.clone());
            types
        }
        _ => vec![elem.clone()],
    }
}

pub fn is_infinite(ty: &Type) -> bool {
    ty.is_infinite()
}
