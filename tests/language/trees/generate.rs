//! Trees from bytes: the same bytes give the same tree, fewer bytes a smaller one. Only trees that
//! some text has: no negative numbers, no empty lists, sequences only where `;` may stand.

use kanon::lang::ast::*;
use kanon::lang::diag::Span;

/// A supply of choices; when it is empty every choice is the first.
pub struct Bytes<'b> {
    rest: &'b [u8],
}

impl<'b> Bytes<'b> {
    pub fn new(rest: &'b [u8]) -> Self {
        Bytes { rest }
    }

    pub fn choose(&mut self, n: usize) -> usize {
        let Some((first, rest)) = self.rest.split_first() else { return 0 };
        self.rest = rest;
        *first as usize % n
    }

    fn pick<X: Copy>(&mut self, items: &[X]) -> X {
        items[self.choose(items.len())]
    }

    /// Between one and three of something.
    fn some<X>(&mut self, mut one: impl FnMut(&mut Self) -> X) -> Vec<X> {
        let n = 1 + self.choose(3);
        (0..n).map(|_| one(self)).collect()
    }
}

pub fn of(kind: ExprKind) -> Expr {
    Expr { kind, span: Span::default() }
}

fn ident(b: &mut Bytes) -> Ident {
    let name = b.pick(&["x", "y", "count", "S", "max", "a_1", "größe", "odd name", "END"]);
    Ident { name: name.into(), span: Span::default() }
}

fn dotted(b: &mut Bytes) -> Ident {
    let name = b.pick(&["op", "set", "left.op", "a.b.op", "skip"]);
    Ident { name: name.into(), span: Span::default() }
}

fn leaf(b: &mut Bytes) -> ExprKind {
    match b.choose(6) {
        0 => ExprKind::Name(ident(b).name),
        1 => ExprKind::Name(b.pick(&["p.x", "q.r.y"]).into()),
        2 => ExprKind::Old(ident(b).name),
        3 => ExprKind::Int(b.pick(&["0", "7", "340282366920938463463374607431768211456"]).parse().unwrap()),
        4 => ExprKind::Str(b.pick(&["", "text", "a\"b\\c\n\t", "'''", "é ∀"]).into()),
        _ => ExprKind::Lit(b.pick(&[
            Lit::True,
            Lit::False,
            Lit::BTrue,
            Lit::BFalse,
            Lit::BoolSet,
            Lit::Integer,
            Lit::Natural,
            Lit::Natural1,
            Lit::IntSet,
            Lit::NatSet,
            Lit::Nat1Set,
            Lit::MaxInt,
            Lit::MinInt,
            Lit::StringSet,
            Lit::EmptySet,
            Lit::EmptySeq,
            Lit::Succ,
            Lit::Pred,
            Lit::RealSet,
        ])),
    }
}

const BINARY: &[BinOp] = {
    use BinOp::*;
    &[
        And,
        Or,
        Implies,
        Iff,
        Eq,
        Neq,
        In,
        NotIn,
        Subset,
        NotSubset,
        StrictSubset,
        NotStrictSubset,
        Lt,
        Le,
        Gt,
        Ge,
        Add,
        Sub,
        Mul,
        Div,
        Mod,
        Pow,
        Interval,
        Pair,
        Union,
        Inter,
        Diff,
        Rel,
        TotalRel,
        SurjRel,
        TotalSurjRel,
        PartialFun,
        TotalFun,
        PartialInj,
        TotalInj,
        PartialSurj,
        TotalSurj,
        PartialBij,
        TotalBij,
        DomRestrict,
        DomSubtract,
        RanRestrict,
        RanSubtract,
        Override,
        DirectProduct,
        ParallelProduct,
        Compose,
        Concat,
        Prepend,
        Append,
        TakeFirst,
        DropFirst,
    ]
};

const UNARY_FUNCTIONS: &[Fun] = {
    use Fun::*;
    &[
        Card, Min, Max, Dom, Ran, Id, Prj1, Prj2, GenUnion, GenInter, Pow, Pow1, Fin, Fin1, Seq, Seq1, Iseq,
        Iseq1, Perm, Size, First, Last, Front, Tail, Rev, Conc, Closure, Closure1, Fnc, Rel, Succ, Pred,
    ]
};

pub fn expr(b: &mut Bytes, depth: u32) -> Expr {
    if depth == 0 || b.rest.is_empty() {
        return of(leaf(b));
    }
    let sub = |b: &mut Bytes| Box::new(expr(b, depth - 1));
    let subs = |b: &mut Bytes| b.some(|b| expr(b, depth - 1));
    let names = |b: &mut Bytes| b.some(ident);
    of(match b.choose(24) {
        0 => leaf(b),
        1..=6 => ExprKind::Binary(b.pick(BINARY), sub(b), sub(b)),
        7 => ExprKind::Unary(b.pick(&[UnOp::Not, UnOp::Neg, UnOp::Inverse]), sub(b)),
        8 => ExprKind::Apply(sub(b), subs(b)),
        9 => ExprKind::Image(sub(b), sub(b)),
        10 => ExprKind::Call(b.pick(UNARY_FUNCTIONS), vec![*sub(b)]),
        11 => ExprKind::Call(b.pick(&[Fun::Iterate, Fun::Prj1, Fun::Prj2]), vec![*sub(b), *sub(b)]),
        12 => ExprKind::Quant(b.pick(&[Quant::Forall, Quant::Exists]), names(b), sub(b)),
        13 => {
            use Binder::*;
            ExprKind::Bind(b.pick(&[Lambda, Sigma, Pi, Union, Inter]), names(b), sub(b), sub(b))
        }
        14 => ExprKind::Compr(names(b), sub(b)),
        15 => ExprKind::ComprMap(names(b), sub(b), sub(b)),
        16 => ExprKind::SetExt(subs(b)),
        17 => ExprKind::SeqExt(subs(b)),
        18 => ExprKind::Rec(b.some(|b| (ident(b), expr(b, depth - 1)))),
        19 => ExprKind::Struct(b.some(|b| (ident(b), expr(b, depth - 1)))),
        20 => ExprKind::Field(sub(b), ident(b)),
        21 => ExprKind::Bool(sub(b)),
        22 => ExprKind::If(sub(b), sub(b), sub(b)),
        _ => ExprKind::Let(names(b), sub(b), sub(b)),
    })
}

fn target(b: &mut Bytes) -> Expr {
    let name = of(ExprKind::Name(ident(b).name));
    of(match b.choose(3) {
        0 => return name,
        1 => ExprKind::Apply(Box::new(name), b.some(|b| expr(b, 1))),
        _ => ExprKind::Field(Box::new(name), ident(b)),
    })
}

fn as_subst(kind: SubstKind) -> Subst {
    Subst { kind, span: Span::default() }
}

/// Where `;` may stand.
fn sequence(b: &mut Bytes, depth: u32) -> Subst {
    if depth > 0 && b.choose(4) == 1 {
        return as_subst(SubstKind::Seq(vec![parallel(b, depth - 1), parallel(b, depth - 1)]));
    }
    parallel(b, depth)
}

fn parallel(b: &mut Bytes, depth: u32) -> Subst {
    if depth > 0 && b.choose(4) == 1 {
        return as_subst(SubstKind::Par(vec![single(b, depth - 1), single(b, depth - 1)]));
    }
    single(b, depth)
}

fn single(b: &mut Bytes, depth: u32) -> Subst {
    let e = |b: &mut Bytes| expr(b, 2);
    let names = |b: &mut Bytes| b.some(ident);
    let simple = depth == 0;
    as_subst(match b.choose(if simple { 5 } else { 16 }) {
        0 => SubstKind::Skip,
        1 => SubstKind::Assign(b.some(target), b.some(e)),
        2 => SubstKind::BecomesElement(b.some(target), e(b)),
        3 => SubstKind::BecomesSuch(names(b), e(b)),
        4 => {
            let results = if b.choose(2) == 0 { vec![] } else { b.some(target) };
            let args = if b.choose(2) == 0 { vec![] } else { b.some(e) };
            SubstKind::Call { results, op: dotted(b), args }
        }
        kind => {
            let body = |b: &mut Bytes| Box::new(sequence(b, depth - 1));
            let otherwise = |b: &mut Bytes| if b.choose(2) == 0 { None } else { Some(body(b)) };
            let arms = |b: &mut Bytes| b.some(|b| (e(b), *body(b)));
            match kind {
                5 => SubstKind::Pre(e(b), body(b)),
                6 => SubstKind::Assert(e(b), body(b)),
                7 => SubstKind::Select(arms(b), otherwise(b)),
                8 => SubstKind::If(arms(b), otherwise(b)),
                9 => SubstKind::Choice(b.some(|b| *body(b))),
                10 => SubstKind::Case(e(b), b.some(|b| (b.some(e), *body(b))), otherwise(b)),
                11 => SubstKind::Any(names(b), e(b), body(b)),
                12 => SubstKind::Let(names(b), e(b), body(b)),
                13 => SubstKind::Var(names(b), body(b)),
                14 => SubstKind::Block(body(b)),
                _ => SubstKind::While { cond: e(b), body: body(b), invariant: e(b), variant: e(b) },
            }
        }
    })
}

fn operation(b: &mut Bytes) -> Operation {
    let list = |b: &mut Bytes| if b.choose(2) == 0 { vec![] } else { b.some(ident) };
    Operation { name: dotted(b), results: list(b), params: list(b), body: parallel(b, 3) }
}

fn machine_ref(b: &mut Bytes) -> MachineRef {
    MachineRef {
        name: ident(b),
        prefix: b.pick(&[None, Some("p"), Some("p.q")]).map(Into::into),
        args: if b.choose(2) == 0 { vec![] } else { b.some(|b| expr(b, 2)) },
    }
}

pub fn machine(b: &mut Bytes) -> Machine {
    let list = |b: &mut Bytes| if b.choose(2) == 0 { vec![] } else { b.some(ident) };
    let dotted_list = |b: &mut Bytes| if b.choose(3) != 1 { vec![] } else { b.some(dotted) };
    let refs = |b: &mut Bytes| if b.choose(3) != 1 { vec![] } else { b.some(machine_ref) };
    let predicate = |b: &mut Bytes| if b.choose(2) == 0 { None } else { Some(expr(b, 4)) };
    let operations = |b: &mut Bytes| if b.choose(2) == 0 { vec![] } else { b.some(operation) };
    let kind = b.pick(&[MachineKind::Machine, MachineKind::Refinement, MachineKind::Implementation]);
    Machine {
        kind,
        name: ident(b),
        params: list(b),
        constraints: predicate(b),
        refines: if kind == MachineKind::Machine { None } else { Some(ident(b)) },
        sees: dotted_list(b),
        uses: dotted_list(b),
        includes: refs(b),
        extends: refs(b),
        imports: refs(b),
        promotes: dotted_list(b),
        sets: if b.choose(2) == 0 {
            vec![]
        } else {
            b.some(|b| SetDecl { name: ident(b), elements: (b.choose(2) == 1).then(|| b.some(ident)) })
        },
        freetypes: if b.choose(4) != 1 {
            vec![]
        } else {
            let case = |b: &mut Bytes| (ident(b), (b.choose(2) == 1).then(|| expr(b, 2)));
            b.some(|b| FreeDecl { name: ident(b), parameters: None, cases: b.some(case) })
        },
        constants: list(b),
        abstract_constants: list(b),
        properties: predicate(b),
        concrete_variables: list(b),
        variables: list(b),
        invariant: predicate(b),
        assertions: if b.choose(2) == 0 { vec![] } else { b.some(|b| expr(b, 3)) },
        initialisation: if b.choose(2) == 0 && kind != MachineKind::Machine {
            None
        } else {
            Some(sequence(b, 3))
        },
        operations: operations(b),
        local_operations: operations(b),
        values: if b.choose(2) == 0 { vec![] } else { b.some(|b| (ident(b), expr(b, 2))) },
        unsupported: vec![],
        tool_definitions: if b.choose(2) == 0 {
            vec![]
        } else {
            vec![(Ident { name: "GOAL".into(), span: Span::default() }, expr(b, 3))]
        },
        span: Span::default(),
    }
}
