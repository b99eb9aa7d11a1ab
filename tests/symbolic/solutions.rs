//! All solutions of random predicates over random small types, by the solver and by enumeration.

use crate::support::random::{Choice, Generator, shrink_expr};
use kanon::eval::Fault;
use kanon::eval::reference::{Cx, Env, holds};
use kanon::lang::diag::Span;
use kanon::model::load::load_text;
use kanon::model::scope::{ScopeArgs, scope};
use kanon::model::{BinOp, ConstId, Expr, ExprKind, Fun, Lit, Model, Type};
use kanon::symbolic::encode::{Limits, Mutant, Slot};
use kanon::symbolic::solve::{Ended, Problem, all};
use kanon::value::{Scope, Show, Value};
use kanon_solver::solver::Stop;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::{ControlFlow, Range};

const FUEL: u64 = 20_000;

type Set = BTreeSet<Vec<Value>>;

/// A predicate over one to three unknown constants.
#[derive(Clone)]
pub struct Case {
    seed: u64,
    model: Model,
    scope: Scope,
    /// All values that each unknown may have.
    values: Vec<Vec<Value>>,
    pred: Expr,
}

fn small_type(choice: &mut Choice, depth: usize) -> Type {
    let (s, d) = (crate::support::random::S, crate::support::random::D);
    let basic = [Type::Int, Type::Bool, Type::Given(s), Type::Given(d)];
    if depth == 0 {
        return choice.pick(&basic);
    }
    match choice.below(10) {
        0..=2 => choice.pick(&basic),
        3 | 4 => small_type(choice, depth - 1).pow(),
        5 => Type::pair(small_type(choice, depth - 1), small_type(choice, depth - 1)),
        6 => Type::Rec([("p".into(), small_type(choice, 0)), ("q".into(), small_type(choice, 0))].into()),
        _ => Type::rel(small_type(choice, 0), small_type(choice, 0)),
    }
}

/// The values of a type, if they are few; integers from -1 to 2.
fn values(ty: &Type, scope: &Scope) -> Option<Vec<Value>> {
    let product = |a: &Type, b: &Type| -> Option<Vec<(Value, Value)>> {
        let (a, b) = (values(a, scope)?, values(b, scope)?);
        Some(a.iter().flat_map(|x| b.iter().map(move |y| (x.clone(), y.clone()))).collect())
    };
    let all: Vec<Value> = match ty {
        Type::Bool => vec![Value::Bool(false), Value::Bool(true)],
        Type::Int => (-1..=2).map(Value::int).collect(),
        Type::Given(s) => (0..scope.size(*s) as u32).map(|i| Value::Elem(*s, i)).collect(),
        Type::Pair(p) => product(&p.0, &p.1)?.into_iter().map(|(a, b)| Value::pair(a, b)).collect(),
        Type::Rec(f) => product(&f[0].1, &f[1].1)?.into_iter().map(|(a, b)| Value::Rec(vec![a, b])).collect(),
        Type::Pow(t) => {
            let of = values(t, scope)?;
            if of.len() > 8 {
                return None;
            }
            (0..1usize << of.len())
                .map(|bits| {
                    let chosen = of.iter().enumerate().filter(|(i, _)| bits >> i & 1 == 1);
                    Value::set(chosen.map(|(_, v)| v.clone()))
                })
                .collect()
        }
        _ => return None,
    };
    (all.len() <= 300).then_some(all)
}

/// The set of all values that an unknown of the type may have: as an expression with integers from -1 to 2.
fn range(ty: &Type) -> Expr {
    let node = |kind, ty: &Type| Expr { kind, ty: ty.clone().pow(), span: Default::default() };
    let int =
        |i: i32| Box::new(Expr { kind: ExprKind::Int(i.into()), ty: Type::Int, span: Default::default() });
    match ty {
        Type::Bool => node(ExprKind::Lit(Lit::BoolSet), ty),
        Type::Int => node(ExprKind::Binary(BinOp::Interval, int(-1), int(2)), ty),
        Type::Given(s) => node(ExprKind::Given(*s), ty),
        Type::Pair(p) => node(ExprKind::Product(Box::new(range(&p.0)), Box::new(range(&p.1))), ty),
        Type::Rec(f) => node(ExprKind::Struct(f.iter().map(|(_, t)| range(t)).collect()), ty),
        Type::Pow(t) => node(ExprKind::Call(Fun::Pow, vec![range(t)]), ty),
        _ => node(ExprKind::Lit(Lit::EmptySet), ty),
    }
}

/// How often a constant is named.
fn mentions(e: &Expr) -> usize {
    let count = std::cell::Cell::new(0);
    e.any(&|e: &Expr| {
        count.set(count.get() + usize::from(matches!(e.kind, ExprKind::Const(_))));
        false
    });
    count.get()
}

/// A predicate about a relation that is unknown: applied, overridden, counted, of some kind.
fn about(g: &mut Generator, k: ConstId, a: &Type, b: &Type) -> Expr {
    let e = |kind, ty: Type| Expr { kind, ty, span: Default::default() };
    let rel = Type::rel(a.clone(), b.clone());
    let r = || Box::new(e(ExprKind::Const(k), rel.clone()));
    let (x, y) = (Box::new(g.expr(a, 2)), Box::new(g.expr(b, 2)));
    let op = g.choice.pick(&[BinOp::Eq, BinOp::Neq]);
    let kind = match g.choice.below(6) {
        0 | 1 => ExprKind::Binary(op, Box::new(e(ExprKind::Apply(r(), x), b.clone())), y),
        2 => {
            let dom = e(ExprKind::Call(Fun::Dom, vec![*r()]), a.clone().pow());
            ExprKind::Binary(BinOp::In, x, Box::new(dom))
        }
        3 => {
            let card = e(ExprKind::Call(Fun::Card, vec![*r()]), Type::Int);
            ExprKind::Binary(op, Box::new(card), Box::new(g.expr(&Type::Int, 1)))
        }
        4 => {
            let pair =
                e(ExprKind::Binary(BinOp::Pair, x.clone(), y.clone()), Type::pair(a.clone(), b.clone()));
            let set = Box::new(e(ExprKind::SetExt(vec![pair]), rel.clone()));
            let new = Box::new(e(ExprKind::Binary(BinOp::Override, r(), set), rel.clone()));
            let other = Box::new(g.expr(a, 1));
            if g.choice.percent(50) {
                let size = e(ExprKind::Call(Fun::Card, vec![*new]), Type::Int);
                let one = Box::new(e(ExprKind::Int(1.into()), Type::Int));
                let kind = ExprKind::Binary(op, Box::new(size), one);
                return e(kind, Type::Pred);
            }
            ExprKind::Binary(op, Box::new(e(ExprKind::Apply(new, other), b.clone())), y)
        }
        _ => {
            let kinds =
                [BinOp::TotalFun, BinOp::PartialFun, BinOp::TotalInj, BinOp::PartialSurj, BinOp::TotalRel];
            let space = ExprKind::Binary(g.choice.pick(&kinds), Box::new(range(a)), Box::new(range(b)));
            ExprKind::Binary(BinOp::In, r(), Box::new(e(space, rel.clone().pow())))
        }
    };
    e(kind, Type::Pred)
}

impl Case {
    /// A predicate over constants of small types, of which it says itself that integers are between -1 and 2.
    pub fn of_text(constants: &str, pred: &str) -> Case {
        let text = format!("MACHINE m SETS S = {{a, b}} CONSTANTS {constants} PROPERTIES {pred} END");
        let loaded = load_text("m.mch", &text);
        let mut model = loaded.model.unwrap_or_else(|| panic!("{text}: {:?}", loaded.diagnostics));
        let scope = scope(&model, &ScopeArgs::default()).expect("sizes").0;
        let values = model.constants.iter().map(|d| values(&d.ty, &scope).expect("a small type")).collect();
        let conjuncts = std::mem::take(&mut model.properties).into_iter();
        let and = |a: Expr, b: Expr| {
            let (ty, span) = (Type::Pred, a.span);
            Expr { kind: ExprKind::Binary(BinOp::And, Box::new(a), Box::new(b)), ty, span }
        };
        let pred = conjuncts.reduce(and).expect("a conjunct");
        Case { seed: 0, model, scope, values, pred }
    }

    fn new(seed: u64) -> Option<Case> {
        let mut g = Generator::new(seed);
        let mut choice = Choice::new(seed ^ 0x5eed);
        let mut types = vec![];
        let mut size = 1;
        for _ in 0..1 + choice.below(3) {
            let ty = small_type(&mut choice, 2);
            let n = values(&ty, &g.scope).map_or(0, |v| v.len());
            if n > 0 && size * n <= 300 {
                size *= n;
                g.add_constant(ty.clone());
                types.push(ty);
            }
        }
        if types.is_empty() {
            return None;
        }
        // The deferred set has no names of its own.
        g.names = [3, 0];
        if !types.contains(&Type::Given(crate::support::random::D)) {
            g.add_constant(Type::Given(crate::support::random::D));
            types.push(Type::Given(crate::support::random::D));
        }
        // Most random predicates say little about a given name: the best of some.
        let mut rest = g.pred(3 + choice.below(14));
        for _ in 0..30 {
            if mentions(&rest) >= 2 {
                break;
            }
            rest = g.pred(5 + choice.below(14));
        }
        for (i, ty) in types.iter().enumerate() {
            if let Some((a, b)) = ty.as_rel() {
                let more = about(&mut g, ConstId(i as u32), a, b);
                let op = choice.pick(&[BinOp::And, BinOp::Or, BinOp::Implies]);
                let kind = ExprKind::Binary(op, Box::new(more), Box::new(rest));
                rest = Expr { kind, ty: Type::Pred, span: Default::default() };
            }
        }
        let pred = g.model.constants.iter().enumerate().fold(rest, |p, (i, d)| {
            let x = Expr { kind: ExprKind::Const(ConstId(i as u32)), ty: d.ty.clone(), span: d.span };
            let kind = ExprKind::Binary(BinOp::In, Box::new(x), Box::new(range(&d.ty)));
            let typing = Expr { kind, ty: Type::Pred, span: d.span };
            let kind = ExprKind::Binary(BinOp::And, Box::new(typing), Box::new(p));
            Expr { kind, ty: Type::Pred, span: d.span }
        });
        let values = types.iter().map(|t| values(t, &g.scope)).collect::<Option<_>>()?;
        Some(Case { seed, model: g.model, scope: g.scope, values, pred })
    }

    /// True and undefined valuations; `None` if the reference cannot tell of one.
    fn by_enumeration(&self) -> Option<(Set, Set)> {
        let mut all: Vec<Vec<Value>> = vec![vec![]];
        for values in &self.values {
            all = all
                .iter()
                .flat_map(|vs| values.iter().map(|v| vs.iter().cloned().chain([v.clone()]).collect()))
                .collect();
        }
        let (mut yes, mut undefined) = (BTreeSet::new(), BTreeSet::new());
        for vs in all {
            let cx = Cx::new(&self.model, &self.scope).with_fuel(FUEL);
            let env = vs
                .iter()
                .enumerate()
                .fold(Env::new(&self.model), |env, (i, v)| env.with_constant(ConstId(i as u32), v.clone()));
            match holds(&cx, &env, &self.pred) {
                _ if !cx.truncated().is_empty() => return None,
                Ok(true) => drop(yes.insert(vs)),
                Ok(false) => {}
                Err(Fault::Wd(_)) => drop(undefined.insert(vs)),
                Err(Fault::Limit(..)) => return None,
            }
        }
        Some((yes, undefined))
    }

    /// True and, unless that is not told, undefined valuations.
    fn by_solver(&self, mutant: Mutant) -> Result<(Set, Option<Set>), String> {
        let problem = Problem {
            model: &self.model,
            scope: &self.scope,
            slots: (0..self.values.len()).map(|i| Slot::Const(ConstId(i as u32))).collect(),
            preds: vec![&self.pred],
            span: Default::default(),
        };
        let limits = Limits { steps: 500_000, ..Limits::default() };
        let refused = |r: Box<kanon::symbolic::Refused>| format!("refused: {}", r.why);
        let mut encoded = problem.encode(limits, mutant).map_err(refused)?;
        let mut sets = vec![];
        for undefined in [false, true] {
            if undefined {
                encoded.claims = vec![encoded.undefined];
            }
            let mut found = BTreeSet::new();
            let mut twice = false;
            let ended = encoded.each(&Stop::never(), &mut |_| Ok(true), &mut |values| {
                twice |= !found.insert(values);
                ControlFlow::Continue(())
            });
            if ended != Ended::All || twice {
                let why = vec![Value::Str(format!("{ended:?}").into())];
                return Ok(([why].into(), None));
            }
            sets.push(found);
        }
        let undefined = sets.pop().filter(|_| !encoded.encoder.has_partial_hulls);
        Ok((sets.pop().unwrap_or_default(), undefined))
    }

    /// What solver and enumeration do not agree about.
    pub fn disagreement(&self, mutant: Mutant, counts: &mut BTreeMap<String, usize>) -> Option<String> {
        let mut count = |what: &str| *counts.entry(what.to_string()).or_default() += 1;
        let Some(expected) = self.by_enumeration() else {
            count("the reference cannot tell");
            return None;
        };
        match self.by_solver(mutant) {
            Err(why) => {
                assert!(mutant != Mutant::None || !why.contains("ill-typed"), "{why}: {self:?}");
                count(&why);
                None
            }
            Ok((yes, undefined))
                if yes == expected.0 && undefined.as_ref().is_none_or(|u| *u == expected.1) =>
            {
                count("agree");
                if !expected.0.is_empty() && !expected.1.is_empty() {
                    count("agree, some undefined");
                }
                None
            }
            Ok(found) => Some(format!("reference {expected:?}\nsolver    {found:?}")),
        }
    }

    fn smaller(&self) -> Vec<Case> {
        // The conjunct that bounds each constant stays.
        fn inner(e: &Expr, depth: usize) -> Vec<Expr> {
            let ExprKind::Binary(op, a, b) = &e.kind else { return shrink_expr(e) };
            if depth == 0 {
                return shrink_expr(e);
            }
            let again = |b: Expr| Expr { kind: ExprKind::Binary(*op, a.clone(), Box::new(b)), ..e.clone() };
            inner(b, depth - 1).into_iter().map(again).collect()
        }
        let depth = self.values.len();
        inner(&self.pred, depth).into_iter().map(|pred| Case { pred, ..self.clone() }).collect()
    }
}

impl std::fmt::Debug for Case {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        writeln!(f, "seed {} MININT {} MAXINT {}", self.seed, self.scope.minint, self.scope.maxint)?;
        for (d, values) in self.model.constants.iter().zip(&self.values) {
            let first = values.first().map(|value| Show { value, ty: &d.ty, model: &self.model }.to_string());
            writeln!(f, "  {}: {} values, the first is {first:?}", d.name, values.len())?;
        }
        write!(f, "  {}", crate::support::random::Sexp(&self.pred))
    }
}

fn wrong(seeds: Range<u64>, mutant: Mutant, most: usize) -> (Vec<String>, BTreeMap<String, usize>) {
    let mut counts = BTreeMap::new();
    let mut wrong = vec![];
    for seed in seeds {
        let Some(mut case) = Case::new(seed) else { continue };
        let Some(mut why) = case.disagreement(mutant, &mut counts) else { continue };
        if mutant != Mutant::None {
            wrong.push(why);
            if wrong.len() >= most {
                break;
            }
            continue;
        }
        'shrink: loop {
            for smaller in case.smaller() {
                if let Some(still) = smaller.disagreement(mutant, &mut BTreeMap::new()) {
                    (case, why) = (smaller, still);
                    continue 'shrink;
                }
            }
            break;
        }
        wrong.push(format!("{case:?}\n{why}"));
        if wrong.len() >= most {
            break;
        }
    }
    (wrong, counts)
}

/// `KANON_SOLUTIONS` sets how many.
#[test]
fn solver_and_enumeration_find_the_same() {
    let cases = std::env::var("KANON_SOLUTIONS").ok().and_then(|n| n.parse().ok()).unwrap_or(5_000);
    // In two threads: it takes a while.
    let half = |seeds: Range<u64>| move || wrong(seeds, Mutant::None, 10);
    let ((mut wrong, mut counts), (others, more)) = std::thread::scope(|scope| {
        let other = scope.spawn(half(cases / 2..cases));
        (half(0..cases / 2)(), other.join().expect("no panic"))
    });
    wrong.extend(others);
    more.into_iter().for_each(|(what, n)| *counts.entry(what).or_default() += n);
    println!("{counts:#?}");
    assert!(wrong.is_empty(), "{} disagree:\n{}", wrong.len(), wrong.join("\n\n"));
    // Agreement means nothing if one of them always gives up.
    assert!(counts["agree"] as u64 > cases * 2 / 3, "{counts:?}");
    assert!(counts["agree, some undefined"] as u64 > cases / 500, "{counts:?}");
}

/// What is compared above finds wrong encodings.
#[test]
fn wrong_encodings_are_found() {
    let mutants = [
        Mutant::DomIsRan,
        Mutant::CardPlusOne,
        Mutant::AppliedAnywhere,
        Mutant::PartialIsTotal,
        Mutant::OverrideIsUnion,
        Mutant::MuAnywhere,
    ];
    for mutant in mutants {
        let (wrong, _) = wrong(0..5_000, mutant, 1);
        assert!(!wrong.is_empty(), "{mutant:?} is not found");
    }
}

/// Bounds of sequences: by a number, by one that is too large to be one, and by one that may have no value.
#[test]
fn sequences_up_to_a_length() {
    let solved = |length: &str| {
        let text = format!(
            "MACHINE m CONSTANTS c, f, s PROPERTIES c : 1..2 & f = {{1 |-> 2}} & s : seq(1..2) & {length} END"
        );
        let model = load_text("m.mch", &text).model.unwrap_or_else(|| panic!("{text}"));
        let scope = scope(&model, &ScopeArgs::default()).expect("sizes").0;
        let slots = (0..3).map(|i| Slot::Const(ConstId(i))).collect();
        let preds = model.properties.iter().collect();
        let problem = Problem { model: &model, scope: &scope, slots, preds, span: Span::default() };
        let undefined =
            problem.encode(Limits::default(), Mutant::None).ok()?.may_be_undefined(&Stop::never());
        let (found, ended) = all(&problem, Limits::default(), 1_000, &Stop::never()).ok()?;
        assert_eq!(ended, Ended::All, "{length}");
        Some((found.len(), undefined))
    };
    assert_eq!(solved("size(s) <= 2"), Some((2 * 7, Some(false))));
    assert_eq!(solved("size(s) < 0"), Some((0, Some(false))));
    // Refused, and not taken for the empty sequence alone.
    assert_eq!(solved("size(s) <= 1000000000000000000000000000000"), None);
    // c = 2 leaves PROPERTIES undefined for sequences of every length.
    assert_eq!(solved("size(s) <= f(c)"), Some((7, None)));
}

/// What bounds an unknown or a bound variable besides a set or a comparison of its own; every number was counted by hand.
#[test]
fn bounds_that_other_facts_give() {
    let solved = |constants: &str, properties: &str| {
        let text = format!("MACHINE m CONSTANTS {constants} PROPERTIES {properties} END");
        let model = load_text("m.mch", &text).model.unwrap_or_else(|| panic!("{text}"));
        let scope = scope(&model, &ScopeArgs::default()).expect("sizes").0;
        let slots = (0..model.constants.len()).map(|i| Slot::Const(ConstId(i as u32))).collect();
        let preds = model.properties.iter().collect();
        let problem = Problem { model: &model, scope: &scope, slots, preds, span: Span::default() };
        let encoded = problem.encode(Limits::default(), Mutant::None);
        let mut encoded = encoded.unwrap_or_else(|r| panic!("{text}: {r:?}"));
        let undefined = encoded.may_be_undefined(&Stop::never());
        // The reference cannot enumerate all of these, so the solutions are counted as they are.
        let mut found = 0;
        let ended = encoded.each(&Stop::never(), &mut |_| Ok(true), &mut |_| {
            found += 1;
            ControlFlow::Continue(())
        });
        assert_eq!(ended, Ended::All, "{text}");
        (found, undefined)
    };
    let defined = |n| (n, Some(false));
    // Bounds through another variable: only [0,1,2] ascends.
    let ascends = "a : 1..3 --> 0..2 & !(i, j).(i > 0 & j <= 3 & i < j => a(i) < a(j))";
    assert_eq!(solved("a", ascends), defined(1));
    // Through two, and only one side is missing.
    assert_eq!(solved("n", "n : 0..9 & #(i, j, k).(i >= n & i < j & j < k & k < 5)"), defined(3));
    // One set or the other: y is 1, 2, or above x.
    assert_eq!(solved("x", "x : 1..4 & !y.(y : 1..2 or (y : 4..5 & y > x) => y /= x)"), defined(2));
    assert_eq!(solved("x", "x : 1..4 & !y.(y : 1..2 or (y : 4..5 & y > x) => y + x /= 6)"), defined(1));
    assert_eq!(solved("x", "x : 0..9 & #y.((y = 3 or y : 6..7) & x = y + 1)"), defined(3));
    // `{x} <: S` is `x : S`.
    assert_eq!(solved("f", "f : 1..3 --> 0..1 & !x.({x} <: 1..2 => f(x) = 1)"), defined(2));
    // An interval with unknown bounds is a set with rows.
    assert_eq!(solved("v, w", "v : 0..3 & w : 0..3 & v..w = {1, 2}"), defined(1));
    assert_eq!(solved("v, w, s", "v : 0..3 & w : 0..3 & s <: {0, 2, 3} & v..w = s & v <= w"), defined(4));
    assert_eq!(solved("v, w", "v : 0..3 & w : 0..3 & v..w = {1, 3}"), defined(0));
    assert_eq!(solved("v, w", "v : 0..3 & w : 0..3 & v..w = 1..2 /\\ 5..6"), defined(6));
    // Arguments that are sets are listed as they are.
    let sets = "e = {{1}, {1, 200}, {300, 4, 5}} & f : e --> 0..1 & f({1}) = 1";
    assert_eq!(solved("e, f", sets), defined(4));
    // A total function has a value everywhere, a partial one may have none.
    assert_eq!(solved("f", "f : 1..2 --> 1..2 & f(1) = 1"), defined(2));
    assert_eq!(solved("f", "f : 1..2 +-> 1..2 & f(1) = 1"), (3, Some(true)));
    assert_eq!(solved("f", "f : 1..2 --> 1..2 & f(3) = 1"), (0, Some(true)));
    // Total on a set that is not known: f(2) has a value only if 2 is in it.
    assert_eq!(solved("s, f", "s <: 1..2 & f : s --> 1..2 & f(2) = 1"), (3, Some(true)));
    // Total on two different sets: there is none.
    assert_eq!(solved("f", "f : 1..2 --> 0..9 & f : 1..3 --> 0..9"), defined(0));
    assert_eq!(solved("f", "f : 1..2 --> 0..999 & f : 2..3 +-> 0..999"), defined(0));
    assert_eq!(solved("f", "f : 1..2 --> 0..999 & f : 1..3 +-> 0..2"), defined(9));
}
