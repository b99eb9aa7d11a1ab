//! Real numbers and freetypes, for those who ask for them: one that is finite, one that is inside of itself, and one
//! whose constructor takes some numbers only.

use super::{Generator, S};
use kanon::lang::diag::Span;
use kanon::model::{
    BinOp, Binder, Expr, ExprKind, FreeCase, FreeDecl, FreeDef, FreeType, Fun, Lit, Type, UnOp,
};
use kanon::value::Value;
use num_rational::BigRational;

/// `F = f0, f1(BOOL), f2(S); T = t0, t1(INTEGER), t2(T * T); R = r0, r1(0..2)`
const FINITE: u32 = 0;
const TREE: u32 = 1;
const SOME: u32 = 2;

pub fn real(halves: i64) -> BigRational {
    BigRational::new(halves.into(), 2.into())
}

fn node(kind: ExprKind, ty: Type) -> Expr {
    Expr { kind, ty, span: Span::default() }
}

impl Generator {
    /// From here on there are real numbers and freetypes.
    pub fn with_typed(&mut self) {
        self.typed = true;
        let case = |name: &str, argument| FreeCase { name: name.into(), argument };
        let def = |name: &str, cases, is_recursive| FreeDef {
            name: name.into(),
            cases,
            is_recursive,
            is_infinite: is_recursive,
            parameters: None,
        };
        let tree = || Type::Again(TREE);
        let finite = vec![case("f0", None), case("f1", Some(Type::Bool)), case("f2", Some(Type::Given(S)))];
        let trees =
            vec![case("t0", None), case("t1", Some(Type::Int)), case("t2", Some(Type::pair(tree(), tree())))];
        let some = vec![case("r0", None), case("r1", Some(Type::Int))];
        let family = [def("F", finite, false), def("T", trees, true), def("R", some, false)];
        let family: std::sync::Arc<[FreeDef]> = family.into();
        let free = |at| FreeType { family: family.clone(), at };
        let tree = || node(ExprKind::Lit(Lit::Whole), Type::Free(free(TREE)).pow());
        let pair = Type::pair(Type::Free(free(TREE)), Type::Free(free(TREE)));
        let arguments = [
            vec![
                None,
                Some(node(ExprKind::Lit(Lit::BoolSet), Type::Bool.pow())),
                Some(node(ExprKind::Given(S), Type::Given(S).pow())),
            ],
            vec![
                None,
                Some(node(ExprKind::Lit(Lit::Integer), Type::Int.pow())),
                Some(node(ExprKind::Product(Box::new(tree()), Box::new(tree())), pair.pow())),
            ],
            vec![None, Some(few())],
        ];
        let decl = |(at, arguments)| FreeDecl { ty: free(at), arguments, span: Span::default() };
        self.model.freetypes = (0u32..).zip(arguments).map(decl).collect();
    }

    fn free(&self, at: u32) -> Type {
        Type::Free(self.model.freetypes[at as usize].ty.clone())
    }

    /// One of the new types.
    pub fn typed_ty(&mut self) -> Type {
        match self.choice.below(5) {
            0 | 1 => Type::Real,
            n => self.free(n as u32 - 2),
        }
    }

    pub fn typed_value(&mut self, ty: &Type) -> Value {
        let Type::Free(free) = ty else { return Value::real(real(self.choice.below(9) as i64 - 3)) };
        let free = free.clone();
        let case = if free.at == TREE && self.choice.percent(60) { 0 } else { self.choice.below(3) as u32 };
        let case = case.min(free.def().cases.len() as u32 - 1);
        let argument = match (free.at, free.argument(case)) {
            (_, None) => None,
            (SOME, _) => Some(Value::int(self.choice.below(3))),
            (_, Some(ty)) => Some(self.value(&ty)),
        };
        Value::Free(case, argument.map(Box::new))
    }

    pub fn typed_leaf(&mut self, ty: &Type) -> ExprKind {
        match ty {
            Type::Free(_) => ExprKind::Call(Fun::Construct(0), vec![]),
            _ => ExprKind::Real(real(self.choice.below(9) as i64 - 3)),
        }
    }

    pub fn typed_expr(&mut self, ty: &Type, size: usize) -> ExprKind {
        let (half, rest) = (size / 2, size.saturating_sub(1));
        let Type::Free(free) = ty else { return self.real_expr(size) };
        let free = free.clone();
        let case = 1 + self.choice.below(free.def().cases.len() - 1) as u32;
        match (free.at, free.argument(case)) {
            (SOME, _) => {
                // Outside of its domain the constructor has no value.
                let x = self.add_local(Type::Int);
                let bound = || Box::new(node(ExprKind::Local(x), Type::Int));
                let set = few();
                let inside = node(ExprKind::Binary(BinOp::In, bound(), Box::new(set)), Type::Pred);
                let made = node(ExprKind::Call(Fun::Construct(case), vec![*bound()]), ty.clone());
                let kind = ExprKind::Bind(Binder::Lambda, vec![x], Box::new(inside), Box::new(made));
                let function = self.node(kind, Type::rel(Type::Int, ty.clone()));
                ExprKind::Apply(Box::new(function), Box::new(self.expr(&Type::Int, half)))
            }
            (_, Some(argument)) => ExprKind::Call(Fun::Construct(case), vec![self.expr(&argument, rest)]),
            (_, None) => ExprKind::Call(Fun::Construct(0), vec![]),
        }
    }

    fn real_expr(&mut self, size: usize) -> ExprKind {
        use BinOp::*;
        let (half, rest) = (size / 2, size.saturating_sub(1));
        let sub = |g: &mut Self, size| Box::new(g.expr(&Type::Real, size));
        match self.choice.below(8) {
            0..=3 => {
                let op = self.choice.pick(&[Add, Sub, Mul, Div]);
                ExprKind::Binary(op, sub(self, half), sub(self, half))
            }
            4 => ExprKind::Unary(UnOp::Neg, sub(self, rest)),
            5 => ExprKind::Call(Fun::Real, vec![self.expr(&Type::Int, rest)]),
            6 => {
                let fun = self.choice.pick(&[Fun::Min, Fun::Max]);
                ExprKind::Call(fun, vec![self.expr(&Type::Real.pow(), rest)])
            }
            _ => {
                let binder = self.choice.pick(&[Binder::Sigma, Binder::Pi]);
                self.bind(binder, None, &Type::Real, size)
            }
        }
    }

    /// What leads from the new types to this one.
    pub fn out_of_typed(&mut self, ty: &Type, size: usize) -> Option<ExprKind> {
        let rest = size.saturating_sub(1);
        let (fun, of) = match ty {
            Type::Int => match self.choice.below(4) {
                0 => (Fun::Floor, Type::Real),
                1 => (Fun::Ceiling, Type::Real),
                2 => (Fun::Destruct(1), self.free(TREE)),
                _ => (Fun::Destruct(1), self.free(SOME)),
            },
            Type::Bool if self.choice.percent(60) => {
                let at = self.choice.below(3) as u32;
                (Fun::IsCase(self.choice.below(3) as u32), self.free(at))
            }
            Type::Bool => (Fun::Destruct(1), self.free(FINITE)),
            Type::Given(S) => (Fun::Destruct(2), self.free(FINITE)),
            Type::Pair(p) if p.0 == self.free(TREE) && p.1 == p.0 => (Fun::Destruct(2), self.free(TREE)),
            _ => return None,
        };
        Some(ExprKind::Call(fun, vec![self.expr(&of, rest)]))
    }

    /// All values of one of the new types.
    pub fn typed_set(&mut self, elem: &Type) -> Option<ExprKind> {
        match elem {
            Type::Real => Some(ExprKind::Lit(Lit::RealSet)),
            Type::Free(_) => Some(ExprKind::Lit(Lit::Whole)),
            _ => None,
        }
    }

    /// Two real numbers compared.
    pub fn real_comparison(&mut self, size: usize) -> ExprKind {
        use BinOp::*;
        let op = self.choice.pick(&[Lt, Le, Gt, Ge, Eq, Neq]);
        let (a, b) = (self.expr(&Type::Real, size / 2), self.expr(&Type::Real, size / 2));
        ExprKind::Binary(op, Box::new(a), Box::new(b))
    }
}

/// `0..2`
fn few() -> Expr {
    let int = |i: i32| Box::new(node(ExprKind::Int(i.into()), Type::Int));
    node(ExprKind::Binary(BinOp::Interval, int(0), int(2)), Type::Int.pow())
}
