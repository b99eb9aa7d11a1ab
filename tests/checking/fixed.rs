//! `--constants prob`: as many valuations as ProB has, and each of the others is the mirror image of one of them.

use crate::support::{explore, solved};
use kanon::explore::Options;
use kanon::model::load::load_text;
use kanon::model::scope::{ScopeArgs, scope};
use kanon::model::{Model, SetId};
use kanon::run::constants::kept;
use kanon::symmetry::Strategy;
use kanon::system::Stop;
use kanon::value::{Scope, Value};
use std::collections::BTreeSet;

type Valuation = Vec<Option<Value>>;

fn valuations(model: &Model, scope: &Scope) -> BTreeSet<Valuation> {
    let (machine, setup) = solved(model, scope, 10_000, &Stop::default());
    assert!(setup.fault.is_none() && setup.truncated.is_none());
    (0..machine.valuations()).map(|v| machine.constant_values(v)).collect()
}

fn permutations(n: u32) -> Vec<Vec<u32>> {
    let mut all = vec![vec![]];
    for i in 0..n {
        let longer = all.iter().flat_map(|p: &Vec<u32>| {
            (0..=p.len()).map(move |at| {
                let mut q = p.clone();
                q.insert(at, i);
                q
            })
        });
        all = longer.collect();
    }
    all
}

/// The value with the elements of the first set (4) and of the second (3) exchanged.
fn image(v: &Value, by: &[Vec<u32>; 2]) -> Value {
    match v {
        Value::Elem(set, i) => Value::Elem(*set, by[set.index()][*i as usize]),
        Value::Pair(p) => Value::pair(image(&p.0, by), image(&p.1, by)),
        Value::Set(s) => Value::set(s.iter().map(|x| image(x, by))),
        Value::Rec(fields) => Value::Rec(fields.iter().map(|x| image(x, by)).collect()),
        other => other.clone(),
    }
}

/// A function that is said to have every value is grown as a surjection; said in other words it is not. Both find the same.
#[test]
fn functions_that_have_every_value() {
    for (arrow, to, by_range, all) in [
        ("-->", "T", "ran(f) = T", 36),
        ("-->", "S", "ran(f) = S", 24),
        ("+->", "T", "T = ran(f)", 60),
        ("+->", "S", "ran(f) = S & !x.(x : dom(f) => f(x) /= x)", 9),
        ("-->", "1..5", "ran(f) = 1..5", 0),
        ("-->", "POW(T)", "ran(f) = POW(T)", 0),
    ] {
        let found = |properties: &str| {
            let text = format!(
                "MACHINE m SETS S; T CONSTANTS f PROPERTIES card(S)=4 & card(T)=3 & {properties} END"
            );
            let model = load_text("m.mch", &text).model.expect("a model");
            let scope = scope(&model, &ScopeArgs::default()).expect("sizes").0;
            valuations(&model, &scope)
        };
        let grown = found(&format!("f : S {arrow} {to} & {by_range}"));
        let rest = by_range.split_once(" & ").map_or(String::new(), |(_, rest)| format!(" & {rest}"));
        let said = found(&format!("f : S {arrow} {to} & !y.(y : {to} => #x.(x : dom(f) & f(x) = y)){rest}"));
        assert_eq!((grown.len(), grown), (all, said), "f : S {arrow} {to} & {by_range}");
    }
}

#[test]
fn as_many_valuations_as_prob() {
    // ProB 1.8.2's numbers.
    for (constants, properties, all, prob) in [
        ("a,b", "a:S & b:S", 16, 4),
        ("a,b", "a:S & b:S & a/=b", 12, 1),
        ("a,b,c", "a:S & b:S & c:S & b/=c", 48, 4),
        ("a,b,X", "a:X & b/:X & X<:S", 48, 12),
        ("a,b,X,Y", "a:X & b:Y & X/\\Y={} & X<:S & Y<:S", 108, 27),
        ("a,b,c", "card({a,b,c})=3 & a:S", 24, 1),
        ("a,b,c", "{a,b}/\\{c}={} & a:S", 36, 9),
        ("a,b,c", "{a,b}/\\{c}={} & a/=b & a:S", 24, 2),
        ("a,b", "{a}/\\{b}={} & a:S", 12, 1),
        ("a,b", "a:S & b:S & not(a=b)", 12, 1),
        ("X", "X<:S & card(X)=2", 6, 6),
        ("a,f", "a:S & f:S-->T & f(a):T", 324, 81),
        ("a,b,c,d", "S={a,b,c,d}", 24, 1),
        ("a,X", "X={a} & X<:S", 4, 1),
        ("a,b,c", "a:S & b:S & c:S & a/=b & b/=c", 36, 3),
        ("a,t", "a:S & t:T", 12, 1),
        ("f", "f:S>->>S", 24, 24),
        ("a,b,c", "a:S & b:S-{a} & c:S-{a,b}", 24, 6),
        ("a,b", "a:S & b:S & {a}/={b}", 12, 1),
        ("a,b", "a:S & b:S & a|->b : {x,y|x/=y & x:S}", 12, 3),
        ("X,a", "X<:S & S-X={a}", 4, 1),
        ("a,b,c", "{a,b,c}<:S & c/=b & a/=b & c/:{a}", 24, 1),
        ("a,b,c", "a:S & b:S & c:S & c/:{a,b}", 36, 9),
        ("a,b,c,d", "a:S & b:S & c:S & d:S & a/=b & c/=d", 144, 12),
        ("a,b", "a:S & b:S & not(a:{b})", 12, 1),
        ("a,b", "a:S & b:S & not({a}={b})", 12, 3),
        ("a,b", "a:S & b:S & {a}<:S-{b}", 12, 3),
    ] {
        let text = format!(
            "MACHINE m SETS S; T CONSTANTS {constants} PROPERTIES card(S)=4 & card(T)=3 & {properties} END"
        );
        let model = load_text("m.mch", &text).model.expect("a model");
        let scope = scope(&model, &ScopeArgs::default()).expect("sizes").0;
        let whole = valuations(&model, &scope);
        let machine = solved(&model, &scope, 10_000, &Stop::default()).0;
        let every = || (0..machine.valuations()).collect();
        let numbers: Vec<usize> = kept(&machine).map_or_else(every, |(kept, _)| kept);
        let kept: BTreeSet<Valuation> = numbers.iter().map(|v| machine.constant_values(*v)).collect();
        assert_eq!((whole.len(), kept.len()), (all, prob), "{properties}");
        assert!(kept.is_subset(&whole), "{properties}");
        let (of_s, of_t) = (permutations(4), permutations(3));
        for v in &whole {
            let is_kept = |by: &[Vec<u32>; 2]| {
                let mirrored: Valuation = v.iter().map(|x| x.as_ref().map(|x| image(x, by))).collect();
                kept.contains(&mirrored)
            };
            let mut pairs = of_s.iter().flat_map(|s| of_t.iter().map(move |t| [s.clone(), t.clone()]));
            assert!(pairs.any(|by| is_kept(&by)), "{properties}: {v:?}");
        }
    }
}

#[test]
fn elements_that_are_seen_are_not_exchanged() {
    let text = "MACHINE m SETS S DEFINITIONS \"CHOOSE.def\" CONSTANTS a PROPERTIES a:S & a=CHOOSE(S) END";
    let one = "MACHINE m SETS S CONSTANTS a PROPERTIES a:S END";
    for (text, names) in [(text, false), (one, false), (one, true)] {
        let mut model = load_text("m.mch", text).model.expect("a model");
        if names {
            model.named_above.insert((SetId(0), 1));
        }
        let scope = scope(&model, &ScopeArgs::default()).expect("sizes").0;
        let machine = solved(&model, &scope, 10_000, &Stop::default()).0;
        let found = kept(&machine);
        match (text == one, names) {
            (true, false) => assert_eq!(found.expect("a note").0, [0]),
            (true, true) => assert!(found.expect("a note").1.contains("not taken")),
            (false, _) => assert!(found.is_none_or(|(kept, _)| kept.len() == machine.valuations())),
        }
    }
}

#[test]
fn functions_that_see_elements_break_the_symmetry_of_their_sets() {
    // x runs from the least element to the others, so the three elements are not alike; those of T are.
    let machine = |choice: &str| {
        format!(
            "MACHINE m SETS S; T DEFINITIONS scope_S == 3; scope_T == 2 VARIABLES x, y INVARIANT x : S & y : T
             INITIALISATION x := {choice} || y :: T
             OPERATIONS go(s) = PRE s : S & LESS(x, s) THEN x := s END END"
        )
    };
    for (choice, name) in [
        ("CHOOSE(S)", "CHOOSE"),
        ("SORT(S)(1)", "SORT"),
        ("CHOOSE({s | s : S & not(TO_STRING(s) = \"S3\")})", "CHOOSE"),
    ] {
        let model = load_text("m.mch", &machine(choice)).model.expect("a model");
        let scope = scope(&model, &ScopeArgs::default()).expect("sizes").0;
        let (machine, _) = solved(&model, &scope, 10, &Stop::default());
        for (symmetry, states) in [(Strategy::Off, 6), (Strategy::Canon, 3), (Strategy::Flood, 3)] {
            let options = Options { symmetry, deadlock: false, ..Options::default() };
            let explored = explore(&machine, &options, &Stop::default());
            assert_eq!(
                (explored.counts.states, explored.verdict.holds()),
                (states, true),
                "{choice} {symmetry}"
            );
        }
        let group = kanon::symmetry::Group::of(&model, &scope, &[]);
        assert!(!group.moves(SetId(0)) && group.moves(SetId(1)), "{choice}");
        assert!(group.fixed[0].1.to_string().starts_with(name), "{choice}: {}", group.fixed[0].1);
    }
}
