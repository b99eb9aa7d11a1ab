//! Values from text: what trace files hold and what people type as parameters.

use crate::lang::ast::{BinOp, Expr, ExprKind as A, Lit, UnOp};
use crate::lang::b::{Definitions, parse_expr};
use crate::lang::decimal;
use crate::lang::diag::SourceMap;
use crate::model::{Model, SetId, Type};
use crate::value::{Scope, Value, element_name};
use num_bigint::BigInt;
use num_traits::{ToPrimitive, Zero};
use std::collections::{BTreeSet, HashMap};

/// Larger intervals and products are not values anybody writes.
const MAX_ELEMENTS: u64 = 1 << 20;

/// Reads values of a model in a scope.
pub struct Reader<'m> {
    scope: &'m Scope,
    elements: HashMap<String, (SetId, u32)>,
    sets: HashMap<String, SetId>,
}

impl<'m> Reader<'m> {
    pub fn new(model: &'m Model, scope: &'m Scope) -> Reader<'m> {
        let mut elements = HashMap::new();
        let mut sets = HashMap::new();
        for (i, given) in model.sets.iter().enumerate() {
            let set = SetId(i as u32);
            sets.insert(given.name.to_string(), set);
            for k in 0..scope.size(set).min(MAX_ELEMENTS) as u32 {
                elements.insert(element_name(model, set, k), (set, k));
            }
        }
        Reader { scope, elements, sets }
    }

    /// A literal of this type.
    pub fn read(&self, text: &str, ty: &Type) -> Result<Value, String> {
        let parsed = parse_expr(&mut SourceMap::default(), "value", text, &Definitions::default());
        let wrong = || format!("`{text}` is no value of the right type");
        let ast = parsed.map_err(|d| match d.first() {
            Some(d) => format!("`{text}`: {}", d.message),
            None => wrong(),
        })?;
        self.value(&ast, ty).ok_or_else(wrong)
    }

    fn value(&self, e: &Expr, ty: &Type) -> Option<Value> {
        Some(match (&e.kind, ty) {
            (A::Lit(Lit::True), Type::Bool) => Value::Bool(true),
            (A::Lit(Lit::False), Type::Bool) => Value::Bool(false),
            (A::Int(i), Type::Int) => Value::Int(i.clone()),
            (A::Unary(UnOp::Neg, a), Type::Int) => match self.value(a, ty)? {
                Value::Int(i) => Value::Int(-i),
                _ => return None,
            },
            (A::Lit(Lit::MaxInt), Type::Int) => Value::Int(self.scope.maxint.clone()),
            (A::Lit(Lit::MinInt), Type::Int) => Value::Int(self.scope.minint.clone()),
            (A::Real(text), Type::Real) => Value::real(decimal::parse(text)?),
            (A::Unary(UnOp::Neg, a), Type::Real) => match self.value(a, ty)? {
                Value::Real(r) => Value::real(-*r),
                _ => return None,
            },
            (A::Binary(BinOp::Div, a, b), Type::Real) => match (self.value(a, ty)?, self.value(b, ty)?) {
                (Value::Real(a), Value::Real(b)) if !b.is_zero() => Value::real(*a / *b),
                _ => return None,
            },
            (A::Name(n), Type::Free(free)) => {
                let (case, _) = free.def().cases.iter().enumerate().find(|(_, c)| c.name == *n)?;
                free.argument(case as u32).is_none().then(|| Value::Free(case as u32, None))?
            }
            (A::Apply(f, args), Type::Free(free)) => {
                let A::Name(n) = &f.kind else { return None };
                let (case, _) = free.def().cases.iter().enumerate().find(|(_, c)| c.name == *n)?;
                let argument = self.tuple(args, &free.argument(case as u32)?)?;
                Value::Free(case as u32, Some(Box::new(argument)))
            }
            (A::Str(s), Type::Str) => Value::Str(s.clone()),
            (A::Name(n), Type::Given(set)) => match self.elements.get(&**n) {
                Some((s, i)) if s == set => Value::Elem(*s, *i),
                _ => return None,
            },
            (A::Binary(BinOp::Pair, a, b), Type::Pair(t)) => {
                Value::pair(self.value(a, &t.0)?, self.value(b, &t.1)?)
            }
            (A::Rec(fields), Type::Rec(types)) if fields.len() == types.len() => {
                let field = |(name, t): &(std::sync::Arc<str>, Type)| {
                    let (_, e) = fields.iter().find(|(id, _)| id.name == *name)?;
                    self.value(e, t)
                };
                Value::Rec(types.iter().map(field).collect::<Option<_>>()?)
            }
            (_, Type::Pow(t)) => Value::Set(self.set(e, t)?),
            _ => return None,
        })
    }

    /// Several arguments are a left-nested pair.
    fn tuple(&self, args: &[Expr], ty: &Type) -> Option<Value> {
        match (args, ty) {
            ([one], _) => self.value(one, ty),
            ([first @ .., last], Type::Pair(t)) => {
                Some(Value::pair(self.tuple(first, &t.0)?, self.value(last, &t.1)?))
            }
            _ => None,
        }
    }

    fn set(&self, e: &Expr, elem: &Type) -> Option<BTreeSet<Value>> {
        match (&e.kind, elem) {
            (A::Lit(Lit::EmptySet | Lit::EmptySeq), _) => Some(BTreeSet::new()),
            (A::SetExt(items), _) => items.iter().map(|i| self.value(i, elem)).collect(),
            (A::SeqExt(items), Type::Pair(t)) if t.0 == Type::Int => {
                let item = |(i, e)| Some(Value::pair(Value::int(i + 1usize), self.value(e, &t.1)?));
                items.iter().enumerate().map(item).collect()
            }
            (A::Lit(Lit::BoolSet), Type::Bool) => Some([false, true].map(Value::Bool).into()),
            (A::Lit(lit @ (Lit::IntSet | Lit::NatSet | Lit::Nat1Set)), Type::Int) => {
                let low = match lit {
                    Lit::IntSet => self.scope.minint.clone(),
                    Lit::NatSet => 0.into(),
                    _ => 1.into(),
                };
                interval(&low, &self.scope.maxint)
            }
            (A::Name(n), Type::Given(set)) if self.sets.get(&**n) == Some(set) => {
                let size = Some(self.scope.size(*set)).filter(|n| *n <= MAX_ELEMENTS)?;
                Some((0..size as u32).map(|i| Value::Elem(*set, i)).collect())
            }
            (A::Binary(BinOp::Interval, a, b), Type::Int) => {
                match (self.value(a, elem)?, self.value(b, elem)?) {
                    (Value::Int(a), Value::Int(b)) => interval(&a, &b),
                    _ => None,
                }
            }
            (A::Binary(BinOp::Mul, a, b), Type::Pair(t)) => {
                let (a, b) = (self.set(a, &t.0)?, self.set(b, &t.1)?);
                if a.len().checked_mul(b.len())? as u64 > MAX_ELEMENTS {
                    return None;
                }
                Some(a.iter().flat_map(|x| b.iter().map(|y| Value::pair(x.clone(), y.clone()))).collect())
            }
            _ => None,
        }
    }
}

fn interval(a: &BigInt, b: &BigInt) -> Option<BTreeSet<Value>> {
    if a > b {
        return Some(BTreeSet::new());
    }
    let size = (b - a).to_u64().filter(|n| *n < MAX_ELEMENTS)?;
    Some((0..=size).map(|i| Value::Int(a + i)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::GivenSet;
    use crate::value::Show;

    fn check(rows: &[(&str, Type, Result<&str, ()>)]) {
        let set = |name: &str, elements: Option<Vec<&str>>| GivenSet {
            name: name.into(),
            elements: elements.map(|e| e.into_iter().map(Into::into).collect()),
            named: vec![],
            is_parameter: false,
            span: crate::lang::diag::Span::default(),
        };
        let model = Model { sets: vec![set("S", None), set("T", Some(vec!["a", "b"]))], ..Model::default() };
        let scope = Scope { card: vec![3, 2], minint: (-1).into(), maxint: 3.into() };
        let reader = Reader::new(&model, &scope);
        for (text, ty, expected) in rows {
            let read = reader.read(text, ty);
            let shown =
                read.map(|value| Show { value: &value, ty, model: &model }.to_string()).map_err(|_| ());
            assert_eq!(shown, expected.map(str::to_string), "{text}");
        }
    }

    #[test]
    fn literals() {
        let (int, s, t) = (Type::Int, Type::Given(SetId(0)), Type::Given(SetId(1)));
        let record = Type::Rec([("f".into(), Type::Int), ("g".into(), Type::Bool)].into());
        check(&[
            ("12", int.clone(), Ok("12")),
            ("-3", int.clone(), Ok("-3")),
            ("TRUE", Type::Bool, Ok("TRUE")),
            ("TRUE", int.clone(), Err(())),
            ("S2", s.clone(), Ok("S2")),
            ("S4", s.clone(), Err(())),
            ("a", s.clone(), Err(())),
            ("\"x y\"", Type::Str, Ok("\"x y\"")),
            ("{}", s.clone().pow(), Ok("{}")),
            ("∅", t.clone().pow(), Ok("{}")),
            ("S", s.clone().pow(), Ok("{S1,S2,S3}")),
            ("{(S1|->b),(S2↦a)}", Type::rel(s.clone(), t.clone()), Ok("{(S1|->b),(S2|->a)}")),
            ("[b,a]", Type::seq(t.clone()), Ok("[b,a]")),
            ("1..3", int.clone().pow(), Ok("{1,2,3}")),
            ("NAT", int.clone().pow(), Ok("{0,1,2,3}")),
            ("rec(g:TRUE,f:1)", record.clone(), Ok("rec(f:1,g:TRUE)")),
            ("rec(g:TRUE)", record, Err(())),
            ("{a}*{b}", Type::rel(t.clone(), t.clone()), Ok("{(a|->b)}")),
            ("1 +", int.clone(), Err(())),
            ("1 + 1", int, Err(())),
        ]);
    }
}
