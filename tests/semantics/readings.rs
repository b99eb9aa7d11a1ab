//! How terms without a value are read. `strict` is a rewriting of the model: the predicate that it makes of an expression
//! is compared with a reader who goes through the expression from left to right.

use super::differential::{Compared, disagreement};
use crate::support::random::{self, Case};
use crate::support::{explore, solved};
use kanon::eval::Fault;
use kanon::eval::reference::{Cx, Env, eval, holds};
use kanon::explore::{Explored, Finding, FindingKind, Options};
use kanon::model::load::load_text;
use kanon::model::reading::{Reading, definedness, read};
use kanon::model::scope::{ScopeArgs, scope};
use kanon::model::{BinOp, Expr, ExprKind, LocalId, Model, Type};
use kanon::system::{Machine, Stop};
use kanon::trace::explain::{Context, Explainer, NO_VALUE, Part};
use kanon::trace::rebuild::rebuild;
use kanon::value::{Scope, Value};
use kanon::verdict::Verdict;
use std::time::{Duration, Instant};

const FUEL: u64 = 200_000;

/// The values of a small type.
fn values(ty: &Type, scope: &Scope) -> Option<Vec<Value>> {
    match ty {
        Type::Bool => Some(vec![Value::Bool(false), Value::Bool(true)]),
        Type::Given(s) => Some((0..scope.card[s.index()] as u32).map(|i| Value::Elem(*s, i)).collect()),
        Type::Pair(parts) => {
            let (a, b) = (values(&parts.0, scope)?, values(&parts.1, scope)?);
            let pairs =
                a.iter().flat_map(|x| b.iter().map(|y| Value::Pair(Box::new((x.clone(), y.clone())))));
            Some(pairs.collect())
        }
        Type::Pow(elem) => {
            let elems = values(elem, scope).filter(|e| e.len() < 7)?;
            let subset = |n: usize| {
                let members = elems.iter().enumerate().filter(|(i, _)| n >> i & 1 == 1);
                Value::Set(members.map(|(_, v)| v.clone()).collect())
            };
            Some((0..1 << elems.len()).map(subset).collect())
        }
        _ => None,
    }
}

/// Whether the expression has a value for one who reads from left to right; `None` where that would take too long.
fn has_value<'m>(cx: &Cx<'m>, env: &Env<'m>, e: &'m Expr) -> Option<bool> {
    use ExprKind as E;
    let truth = |env: &Env<'m>, p: &'m Expr| holds(cx, env, p).ok();
    let under = |p: &'m Expr, v: &'m Expr, env: &Env<'m>| match has_value(cx, env, p)? {
        false => Some(false),
        true if truth(env, p)? => has_value(cx, env, v),
        true => Some(true),
    };
    let itself = |env: &Env<'m>| match e.ty {
        Type::Pred => match holds(cx, env, e) {
            Err(Fault::Limit(..)) => None,
            other => Some(other.is_ok()),
        },
        _ => match eval(cx, env, e) {
            Err(Fault::Limit(..)) => None,
            other => Some(other.is_ok()),
        },
    };
    match &e.kind {
        E::Binary(op @ (BinOp::And | BinOp::Or | BinOp::Implies), a, b) => {
            if !has_value(cx, env, a)? {
                return Some(false);
            }
            match truth(env, a)? == (*op == BinOp::Or) {
                true => Some(true),
                false => has_value(cx, env, b),
            }
        }
        E::Quant(_, locals, body) | E::Compr(locals, body) => {
            for_all(cx, env, locals, &mut |env| has_value(cx, env, body))
        }
        E::ComprMap(locals, p, v) => for_all(cx, env, locals, &mut |env| under(p, v, env)),
        E::Bind(_, locals, p, v) => match for_all(cx, env, locals, &mut |env| under(p, v, env))? {
            true => itself(env),
            false => Some(false),
        },
        E::If(c, a, b) => match has_value(cx, env, c)? {
            false => Some(false),
            true => has_value(cx, env, if truth(env, c)? { a } else { b }),
        },
        E::Let(defs, body) => {
            let mut env = env.clone();
            for (local, value) in defs {
                if !has_value(cx, &env, value)? {
                    return Some(false);
                }
                env = env.clone().with_local(*local, eval(cx, &env, value).ok()?);
            }
            has_value(cx, &env, body)
        }
        _ => {
            let mut all = Some(true);
            e.for_each_child(&mut |c| {
                all = match all {
                    Some(true) => has_value(cx, env, c),
                    decided => decided,
                }
            });
            if all? { itself(env) } else { Some(false) }
        }
    }
}

/// Whether something is so for all values of the locals.
fn for_all<'m>(
    cx: &Cx<'m>,
    env: &Env<'m>,
    locals: &[LocalId],
    test: &mut dyn FnMut(&Env<'m>) -> Option<bool>,
) -> Option<bool> {
    let Some((first, rest)) = locals.split_first() else { return test(env) };
    let (model, scope) = (cx.model, cx.scope);
    for v in values(&model.local(*first).ty, scope)? {
        if !for_all(cx, &env.clone().with_local(*first, v), rest, test)? {
            return Some(false);
        }
    }
    Some(true)
}

#[test]
fn definedness_is_what_a_reader_finds() {
    let (mut yes, mut no) = (0, 0);
    let mut compared = Compared::default();
    for seed in 0..6_000 {
        let case = Case::any(seed, 14);
        let asked = Case { expr: definedness(&case.expr), ..case.clone() };
        // Both evaluators, and both tiers, agree about it.
        assert_eq!(disagreement(&asked, true, &mut compared), None, "{case:?}");
        let cx = Cx::new(&case.model, &case.scope).with_fuel(FUEL);
        let expected = has_value(&cx, &Env::of(&case.state()), &case.expr);
        let found = asked.reference(false, FUEL);
        if let (Some(expected), true, Some(Ok(found))) = (expected, cx.truncated().is_empty(), found) {
            assert_eq!(found, Value::Bool(expected), "{case:?}\n{asked:?}");
            *(if expected { &mut yes } else { &mut no }) += 1;
        }
    }
    assert!(yes > 1_500 && no > 300, "{yes} have a value, {no} have none");
}

/// What is told of a part without a value; the time that it took.
fn reasons(machine: &Machine, explored: &Explored, finding: &Finding) -> Option<(Vec<Part>, Duration)> {
    let FindingKind::WellDefinedness { fault, operation } = &finding.kind else { return None };
    let row = match finding.state {
        Some(state) => rebuild(machine, None, explored, state).expect("a path").rows.pop(),
        None => None,
    };
    let context =
        Context { event: *operation, in_properties: finding.start == usize::MAX, has_state: row.is_some() };
    let begin = Instant::now();
    let (_, _, parts) = Explainer::new(machine, row.as_deref(), finding.start).fault(fault, context);
    Some((parts, begin.elapsed()))
}

/// A strict Holds is a Holds with the same counts; what fails strictly, but not for the lack of a value, fails. Why
/// something has no value is told, and telling it ends by itself.
#[test]
fn strict_holds_less() {
    let (mut held, mut refused, mut failed) = (0, 0, 0);
    let (mut told, mut slow) = (0, 0);
    let stop = Stop::default();
    let mut run = |model: &Model, scope: &Scope| {
        let (machine, setup) = solved(model, scope, 60, &stop);
        let options = Options { max_states: Some(300), ..Options::default() };
        let is_set_up = setup.fault.is_none() && setup.valuations > 0;
        let explored = is_set_up.then(|| explore(&machine, &options, &stop));
        if let Some(explored) = &explored
            && let Verdict::Fails(finding) = &explored.verdict
            && let Some((parts, time)) = reasons(&machine, explored, finding)
        {
            told += u32::from(parts.iter().any(|p| p.value == NO_VALUE));
            slow += u32::from(time > Duration::from_millis(1500));
        }
        (setup, explored)
    };
    for seed in 0..600 {
        let random = random::Machine::new(seed, 14);
        let mut model = random.model.clone();
        read(&mut model, Reading::Strict).expect("no loop with old values");
        let (_, Some(usual)) = run(&random.model, &random.scope) else { continue };
        let (setup, strict) = run(&model, &random.scope);
        // Properties that demand too much are faulty, not false.
        assert!(setup.fault.is_some() || setup.valuations > 0, "{random:?}");
        let Some(strict) = strict else { continue };
        match (&usual.verdict, &strict.verdict) {
            (_, Verdict::Holds(_)) => {
                held += 1;
                assert!(usual.verdict.holds(), "{random:?}");
                assert_eq!(format!("{:?}", usual.counts), format!("{:?}", strict.counts), "{random:?}");
            }
            (Verdict::Holds(_), Verdict::Fails(f)) => {
                refused += 1;
                assert!(matches!(f.kind, FindingKind::WellDefinedness { .. }), "{random:?}\n{f:?}");
            }
            (Verdict::Fails(_), Verdict::Fails(_)) => failed += 1,
            _ => {}
        }
    }
    assert!(held > 3 && failed > 50, "{held} held, {refused} refused, {failed} failed");
    assert!(told > 20 && slow < 5, "{told} reasons told, {slow} slowly");
}

/// The answer of a machine in one reading: holds, fails, or the kind of what was found.
fn answer(text: &str, reading: Reading) -> String {
    let mut model = load_text("m.mch", text).model.unwrap_or_else(|| panic!("{text}"));
    let scope = scope(&model, &ScopeArgs::default()).expect("sizes").0;
    if let Err(refused) = read(&mut model, reading) {
        return refused.code.to_string();
    }
    let (machine, _) = solved(&model, &scope, 100, &Stop::default());
    match explore(&machine, &Options::default(), &Stop::default()).verdict {
        Verdict::Holds(_) => "holds".into(),
        Verdict::Fails(f) => f.kind.name().into(),
        Verdict::Unknown(why) => format!("{why:?}"),
    }
}

#[test]
fn what_each_reading_says() {
    let machine = |properties: &str, invariant: &str, rest: &str| {
        format!(
            "MACHINE m CONSTANTS c, f PROPERTIES f = {{1 |-> 1}} & {properties} VARIABLES x INVARIANT x : 0..3 & {invariant} \
             INITIALISATION x := 0 OPERATIONS idle = skip; {rest} END"
        )
    };
    let (any, wd) = ("c : 1..2", "well-definedness");
    let rows = [
        // invariant: Kleene is content with what is true
        (machine(any, "(1/0 = 1 or 1 = 1)", "n = skip"), "holds", wd, "holds"),
        (machine(any, "(1 = 1 or 1/0 = 1)", "n = skip"), "holds", "holds", "holds"),
        (machine(any, "not(x = 7 & 1/x = 1)", "n = skip"), "holds", "holds", "holds"),
        (machine(any, "not(1/x = 1 & x = 7)", "n = skip"), "holds", wd, "holds"),
        (machine(any, "!i.(f(i) = 1 & i = 1 => 1 = 1)", "n = skip"), "holds", wd, "holds"),
        (machine(any, "!i.(i : 1..1 => f(i) = 1)", "n = skip"), "holds", "holds", "holds"),
        (machine(any, "#i.(i : 1..2 & f(i) = 1)", "n = skip"), "holds", wd, "holds"),
        (machine(any, "{i | i : 1..2 & f(i) = 1 & i < 2} = {1}", "n = skip"), "holds", wd, "holds"),
        (machine(any, "{i | i : 1..2 & i < 2 & f(i) = 1} = {1}", "n = skip"), "holds", "holds", "holds"),
        // what is demanded of all constants has the binders of the properties in it
        (machine("c : 1..3 & 10 / card({i | i : 1..c}) = 5", "c = 2", "n = skip"), "holds", "holds", "holds"),
        (
            machine(any, "1 = 1", "n = x : (x : 1..2 & 10 / card({i | i : 1..x}) = 5 & x = 2)"),
            "holds",
            "holds",
            "holds",
        ),
        // guards, with parameters and without
        (
            machine(any, "1 = 1", "n(p) = PRE p : 0..3 & 6/p > 1 & p > 0 THEN x := 1 END"),
            "holds",
            wd,
            "holds",
        ),
        (
            machine(any, "1 = 1", "n(p) = PRE p : 0..3 & p > 0 & 6/p > 1 THEN x := 1 END"),
            "holds",
            "holds",
            "holds",
        ),
        (machine(any, "1 = 1", "n = SELECT 6/x > 1 THEN x := 1 END"), wd, wd, "holds"),
        (machine(any, "1 = 1", "n(p) = SELECT p : 1..2 & f(p) = 1 THEN x := 1 END"), wd, wd, "holds"),
        (
            machine(any, "1 = 1", "n = ANY p WHERE p : 1..2 & f(p) = 1 & p = 1 THEN x := p END"),
            "holds",
            wd,
            "holds",
        ),
        (machine(any, "1 = 1", "n = x : (x : 1..2 & f(x) = 1 & x = 1)"), "holds", wd, "holds"),
        // substitutions: a term without a value is an error in every reading
        (machine(any, "1 = 1", "n = x := 1/x"), wd, wd, wd),
        (machine(any, "1 = 1", "n = IF 1/x = 1 or x = 0 THEN skip END"), "holds", wd, "holds"),
        (
            machine(any, "1 = 1", "n = BEGIN x := 1 ; IF x = 1 or 1/0 = 1 THEN skip END END"),
            "holds",
            "holds",
            "holds",
        ),
        (
            machine(any, "1 = 1", "n = BEGIN x := 1 ; IF 1/0 = 1 or x = 1 THEN skip END END"),
            "holds",
            wd,
            "holds",
        ),
        // the value before a loop is not known where the invariant's definedness is demanded
        (
            machine(
                any,
                "1 = 1",
                "n = WHILE x < 1 DO x := x + 1 INVARIANT f(1 + 0 * x$0) = 1 VARIANT 3 - x END",
            ),
            "holds",
            "B0418",
            "holds",
        ),
        (
            machine(
                any,
                "1 = 1",
                "n = WHILE x < 1 DO x := x + 1 INVARIANT x$0 <= x or 1/0 = x VARIANT 3 - x END",
            ),
            "holds",
            "B0418",
            "holds",
        ),
        (
            machine(any, "1 = 1", "n = WHILE x < 1 DO x := x + 1 INVARIANT x$0 <= x VARIANT 3 - x END"),
            "holds",
            "holds",
            "holds",
        ),
        // constants
        (machine("c : 1..2 & f(c) = 1 & c = 1", "1 = 1", "n = skip"), "holds", wd, "holds"),
        (machine("c : 1..2 & c = 1 & f(c) = 1", "1 = 1", "n = skip"), "holds", "holds", "holds"),
    ];
    for (text, kleene, strict, prob) in rows {
        for (reading, expected) in
            [(Reading::Kleene, kleene), (Reading::Strict, strict), (Reading::Prob, prob)]
        {
            let found = answer(&text, reading);
            assert!(found.contains(expected), "{}: {found}\n{text}", reading.name());
        }
    }
}
