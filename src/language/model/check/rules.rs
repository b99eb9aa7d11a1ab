//! The types of B's operators: what each demands of its operands and what it yields.

use super::unify::Unifier;
use crate::lang::ast::{BinOp, Fun, Lit, UnOp};
use crate::lang::external::External;
use crate::model::Type;

/// Operand types and the result's.
pub struct Rule<const N: usize> {
    pub args: [Type; N],
    pub result: Type,
}

fn rule<const N: usize>(args: [Type; N], result: Type) -> Rule<N> {
    Rule { args, result }
}

/// `None` for names that are not supported.
pub fn lit(u: &mut Unifier, lit: Lit) -> Option<Type> {
    Some(match lit {
        Lit::True | Lit::False => Type::Bool,
        Lit::BTrue | Lit::BFalse => Type::Pred,
        Lit::BoolSet => Type::Bool.pow(),
        Lit::Integer | Lit::Natural | Lit::Natural1 => Type::Int.pow(),
        Lit::IntSet | Lit::NatSet | Lit::Nat1Set => Type::Int.pow(),
        Lit::MaxInt | Lit::MinInt => Type::Int,
        Lit::StringSet => Type::Str.pow(),
        Lit::EmptySet | Lit::Whole => u.fresh().pow(),
        Lit::EmptySeq => Type::seq(u.fresh()),
        Lit::Succ | Lit::Pred => Type::rel(Type::Int, Type::Int),
        Lit::RealSet => Type::Real.pow(),
        Lit::FloatSet => return None,
    })
}

pub fn unary(u: &mut Unifier, op: UnOp) -> Rule<1> {
    match op {
        UnOp::Not => rule([Type::Pred], Type::Pred),
        UnOp::Neg => rule([Type::Int], Type::Int),
        UnOp::Inverse => {
            let (a, b) = (u.fresh(), u.fresh());
            rule([Type::rel(a.clone(), b.clone())], Type::rel(b, a))
        }
    }
}

/// `None` for `-` and `*`, whose meaning the operands' types decide.
pub fn binary(u: &mut Unifier, op: BinOp) -> Option<Rule<2>> {
    use BinOp::*;
    Some(match op {
        And | Or | Implies | Iff => rule([Type::Pred, Type::Pred], Type::Pred),
        Eq | Neq => {
            let t = u.fresh();
            rule([t.clone(), t], Type::Pred)
        }
        In | NotIn => {
            let t = u.fresh();
            rule([t.clone(), t.pow()], Type::Pred)
        }
        Subset | NotSubset | StrictSubset | NotStrictSubset => {
            let t = u.fresh().pow();
            rule([t.clone(), t], Type::Pred)
        }
        Lt | Le | Gt | Ge => rule([Type::Int, Type::Int], Type::Pred),
        Add | Div | Mod | Pow => rule([Type::Int, Type::Int], Type::Int),
        Sub | Mul => return None,
        Interval => rule([Type::Int, Type::Int], Type::Int.pow()),
        Pair => {
            let (a, b) = (u.fresh(), u.fresh());
            rule([a.clone(), b.clone()], Type::pair(a, b))
        }
        Union | Inter | Diff => {
            let t = u.fresh().pow();
            rule([t.clone(), t.clone()], t)
        }
        Product => {
            let (a, b) = (u.fresh(), u.fresh());
            rule([a.clone().pow(), b.clone().pow()], Type::rel(a, b))
        }
        Rel | TotalRel | SurjRel | TotalSurjRel | PartialFun | TotalFun | PartialInj | TotalInj
        | PartialSurj | TotalSurj | PartialBij | TotalBij => {
            let (a, b) = (u.fresh(), u.fresh());
            rule([a.clone().pow(), b.clone().pow()], Type::rel(a, b).pow())
        }
        DomRestrict | DomSubtract => {
            let (a, b) = (u.fresh(), u.fresh());
            rule([a.clone().pow(), Type::rel(a.clone(), b.clone())], Type::rel(a, b))
        }
        RanRestrict | RanSubtract => {
            let (a, b) = (u.fresh(), u.fresh());
            rule([Type::rel(a.clone(), b.clone()), b.clone().pow()], Type::rel(a, b))
        }
        Override => {
            let r = Type::rel(u.fresh(), u.fresh());
            rule([r.clone(), r.clone()], r)
        }
        DirectProduct => {
            let (a, b, c) = (u.fresh(), u.fresh(), u.fresh());
            rule(
                [Type::rel(a.clone(), b.clone()), Type::rel(a.clone(), c.clone())],
                Type::rel(a, Type::pair(b, c)),
            )
        }
        ParallelProduct => {
            let (a, b, c, d) = (u.fresh(), u.fresh(), u.fresh(), u.fresh());
            rule(
                [Type::rel(a.clone(), b.clone()), Type::rel(c.clone(), d.clone())],
                Type::rel(Type::pair(a, c), Type::pair(b, d)),
            )
        }
        Compose => {
            let (a, b, c) = (u.fresh(), u.fresh(), u.fresh());
            rule([Type::rel(a.clone(), b.clone()), Type::rel(b, c.clone())], Type::rel(a, c))
        }
        Concat => {
            let s = Type::seq(u.fresh());
            rule([s.clone(), s.clone()], s)
        }
        Prepend => {
            let t = u.fresh();
            rule([t.clone(), Type::seq(t.clone())], Type::seq(t))
        }
        Append => {
            let t = u.fresh();
            rule([Type::seq(t.clone()), t.clone()], Type::seq(t))
        }
        TakeFirst | DropFirst => {
            let s = Type::seq(u.fresh());
            rule([s.clone(), Type::Int], s)
        }
    })
}

/// The rule of a built-in function; `None` when it does not take that many arguments.
/// `prj1` and `prj2` of one argument, a pair, are the checker's business.
pub fn fun(u: &mut Unifier, fun: Fun, args: usize) -> Option<(Vec<Type>, Type)> {
    let one = |arg: Type, result: Type| (args == 1).then(|| (vec![arg], result));
    let two = |a: Type, b: Type, result: Type| (args == 2).then(|| (vec![a, b], result));
    match fun {
        Fun::Card => one(u.fresh().pow(), Type::Int),
        Fun::Min | Fun::Max => one(Type::Int.pow(), Type::Int),
        Fun::Dom => {
            let (a, b) = (u.fresh(), u.fresh());
            one(Type::rel(a.clone(), b), a.pow())
        }
        Fun::Ran => {
            let (a, b) = (u.fresh(), u.fresh());
            one(Type::rel(a, b.clone()), b.pow())
        }
        Fun::Id => {
            let a = u.fresh();
            one(a.clone().pow(), Type::rel(a.clone(), a))
        }
        Fun::Prj1 | Fun::Prj2 => {
            let (a, b) = (u.fresh(), u.fresh());
            let part = if fun == Fun::Prj1 { a.clone() } else { b.clone() };
            two(a.clone().pow(), b.clone().pow(), Type::rel(Type::pair(a, b), part))
        }
        Fun::GenUnion | Fun::GenInter => {
            let s = u.fresh().pow();
            one(s.clone().pow(), s)
        }
        Fun::Pow | Fun::Pow1 | Fun::Fin | Fun::Fin1 => {
            let s = u.fresh().pow();
            one(s.clone(), s.pow())
        }
        Fun::Seq | Fun::Seq1 | Fun::Iseq | Fun::Iseq1 | Fun::Perm => {
            let a = u.fresh();
            one(a.clone().pow(), Type::seq(a).pow())
        }
        Fun::Size => one(Type::seq(u.fresh()), Type::Int),
        Fun::First | Fun::Last => {
            let a = u.fresh();
            one(Type::seq(a.clone()), a)
        }
        Fun::Front | Fun::Tail | Fun::Rev => {
            let s = Type::seq(u.fresh());
            one(s.clone(), s)
        }
        Fun::Conc => {
            let s = Type::seq(u.fresh());
            one(Type::seq(s.clone()), s)
        }
        Fun::Closure | Fun::Closure1 => {
            let a = u.fresh();
            let r = Type::rel(a.clone(), a);
            one(r.clone(), r)
        }
        Fun::Iterate => {
            let a = u.fresh();
            let r = Type::rel(a.clone(), a);
            two(r.clone(), Type::Int, r)
        }
        Fun::Fnc => {
            let (a, b) = (u.fresh(), u.fresh());
            one(Type::rel(a.clone(), b.clone()), Type::rel(a, b.pow()))
        }
        Fun::Rel => {
            let (a, b) = (u.fresh(), u.fresh());
            one(Type::rel(a.clone(), b.clone().pow()), Type::rel(a, b))
        }
        Fun::Succ | Fun::Pred => one(Type::Int, Type::Int),
        Fun::Mu => {
            let a = u.fresh();
            one(a.clone().pow(), a)
        }
        Fun::External(f) => (args == f.arity()).then(|| external(u, f)),
        Fun::Real => one(Type::Int, Type::Real),
        Fun::Floor | Fun::Ceiling => one(Type::Real, Type::Int),
        // Only names lead to them.
        Fun::Construct(_) | Fun::Destruct(_) | Fun::IsCase(_) => None,
    }
}

/// Arguments and result of a function that is no keyword; a predicate results in a truth value.
fn external(u: &mut Unifier, f: External) -> (Vec<Type>, Type) {
    use External::*;
    let strings = || Type::seq(Type::Str);
    let any = u.fresh();
    let path = || Type::seq(Type::Int);
    let tree = Type::rel(path(), any.clone());
    match f {
        Choose => (vec![any.clone().pow()], any),
        Sort => (vec![any.clone().pow()], Type::seq(any)),
        Squash => (vec![Type::seq(any.clone())], Type::seq(any)),
        Less => (vec![any.clone(), any], Type::Bool),
        StringLength | StringToInt => (vec![Type::Str], Type::Int),
        StringIsInt => (vec![Type::Str], Type::Bool),
        StringAppend => (vec![Type::Str, Type::Str], Type::Str),
        StringContains => (vec![Type::Str, Type::Str], Type::Bool),
        StringConc => (vec![strings()], Type::Str),
        StringSplit => (vec![Type::Str, Type::Str], strings()),
        StringJoin => (vec![strings(), Type::Str], Type::Str),
        StringChars => (vec![Type::Str], strings()),
        StringCodes => (vec![Type::Str], Type::seq(Type::Int)),
        CodesToString => (vec![Type::seq(Type::Int)], Type::Str),
        IntToString => (vec![Type::Int], Type::Str),
        DecStringToInt => (vec![Type::Str, Type::Int], Type::Int),
        IntToDecString => (vec![Type::Int, Type::Int], Type::Str),
        StringToEnum => (vec![Type::Str], any),
        TypedStringToEnum => (vec![any.clone().pow(), Type::Str], any),
        ToString => (vec![any], Type::Str),
        FormatToString => (vec![Type::Str, Type::seq(any)], Type::Str),
        BitNot | Abs => (vec![Type::Int], Type::Int),
        BitAnd | BitOr | BitXor | ShiftLeft | ShiftRight | Gcd => (vec![Type::Int, Type::Int], Type::Int),
        AssertTrue => (vec![Type::Bool, Type::Str], Type::Bool),
        AssertExpr => (vec![Type::Bool, Type::Str, any.clone()], any),
        TreeTop => (vec![tree], any),
        TreeConst => (vec![any, Type::seq(tree.clone())], tree),
        TreeSons => (vec![tree.clone()], Type::seq(tree)),
        TreePrefix | TreePostfix | TreeInfix => (vec![tree], Type::seq(any)),
        TreeSize => (vec![tree], Type::Int),
        TreeMirror | TreeLeft | TreeRight => (vec![tree.clone()], tree),
        TreeRank | TreeArity => (vec![tree, path()], Type::Int),
        TreeFather => (vec![tree, path()], path()),
        TreeSon => (vec![tree, path(), Type::Int], path()),
        TreeSub => (vec![tree.clone(), path()], tree),
        TreeLeaf => (vec![any], tree),
        TreeBin => (vec![tree.clone(), any, tree.clone()], tree),
    }
}
