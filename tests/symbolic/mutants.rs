//! Wrong encodings, planted one by one: for each there is a predicate or a machine by which it is found, and random predicates
//! of the same operators, nested and undefined as they come, by which whatever else is wrong would be found.

use crate::dense::{KINDS, Kind, Maker};
use crate::machines::{bounded, count, planted};
use crate::solutions::Case;
use crate::support::random::Choice;
use kanon::symbolic::encode::Mutant;
use std::collections::BTreeMap;

/// A mutant, constants with their types, and what solver and enumeration have to see differently then.
const PREDICATES: [(Mutant, &str, &str); 34] = {
    use Mutant::*;
    [
        (DomIsRan, "f : S <-> 0..1", "card(dom(f)) = 1"),
        (RanIsDom, "f : S <-> 0..1", "card(ran(f)) = 1"),
        (CardPlusOne, "s <: 0..2", "card(s) = 1"),
        (PartialIsTotal, "f : S +-> 0..1", "not(f : S --> 0..1)"),
        (OverrideIsUnion, "f : S +-> 0..1", "card(f <+ {a |-> 0}) = 1"),
        (IntervalOneLonger, "n : {0, 1, 2}", "1 : 0..n"),
        (RestrictIsSubtract, "f : S <-> S", "{a} <| f = {}"),
        (ComposeSwapped, "r : S <-> S & q : S <-> S", "(r ; q) = {a |-> b}"),
        (ClosureTooShort, "r : S <-> S", "closure1(r) = S * S"),
        (StrictIsSubset, "s <: S", "s <<: S"),
        (MinIsMax, "s <: 0..2", "s /= {} & min(s) = 1"),
        (FunctionalForgotten, "r : S <-> S", "not(r : S +-> S)"),
        (InjectiveForgotten, "r : S <-> S", "not(r : S >+> S)"),
        (SurjectiveForgotten, "r : S <-> S", "not(r : S +->> S)"),
        (PrependIsAppend, "s : seq(S) & size(s) <= 1", "(a -> s) = [a, b]"),
        (AndIsStrict, "n : 0..2", "not(n /= 0 & 2 / n > 1)"),
        (QuantifierForgets, "n : 0..2", "#i.(i : 0..1 & n / i > 5)"),
        (AppliedAnywhere, "f : S +-> 0..1", "f(a) = 1"),
        (AppliedToMany, "f : S <-> 0..1", "f(a) = 1"),
        (DivisionAnywhere, "n : 0..2", "2 / n = 0"),
        (RemainderAnywhere, "n : -1..1", "2 mod n = 0"),
        (PowerAnywhere, "n : -1..2", "2 ** n = 0"),
        (ExtremeAnywhere, "s <: 0..2", "min(s) <= 1"),
        (IntersectionAnywhere, "f <: POW(S)", "inter(f) = {}"),
        (BodyAnywhere, "s <: 0..2", "SIGMA(i).(i : s | 2 / i) = 2"),
        (ConditionAnywhere, "s <: 0..2", "SIGMA(i).(i : s & 2 / i > 1 | i) = 1"),
        (ExtensionAnywhere, "n : 0..2", "1 : {2 / n, 1}"),
        (IfAnywhere, "n : 0..2", "(IF 2 / n = 1 THEN 1 ELSE 0 END) = 0"),
        (LetAnywhere, "n : 0..2", "1 : (LET x BE x = 2 / n IN {1} END)"),
        (ComparisonAnywhere, "n : 0..2", "2 / n <= 1"),
        (IterateAnywhere, "r : S <-> S & n : -1..1", "iterate(r, n) = {}"),
        (SequenceAnywhere, "r : 0..2 <-> S", "size(r) = 1"),
        (FirstAnywhere, "s : seq(S) & size(s) <= 2", "first(s) = a"),
        (TakeAnywhere, "s : seq(S) & size(s) <= 2", "s /|\\ 1 = [a]"),
    ]
};

/// The same with an operation of a machine whose variable x is 0 at first and must stay in 0..9 and never be 5.
const OPERATIONS: [(Mutant, &str); 5] = {
    use Mutant::*;
    [
        (ElseAlways, "SELECT x <= 9 THEN skip ELSE x := 5 END"),
        (InnerPreIsGuard, "IF x = 0 THEN PRE x = 1 THEN x := 2 END END"),
        (AssertIsGuard, "ASSERT x = 1 THEN x := 2 END"),
        (
            LoopInvariantForgotten,
            "VAR t IN t := 2 ; WHILE t > 0 DO t := t - 1 INVARIANT t = 2 VARIANT t END ; x := 1 END",
        ),
        (
            VariantForgotten,
            "VAR t IN t := 2 ; WHILE t > 0 DO t := t - 1 INVARIANT t : INTEGER VARIANT 3 END ; x := 1 END",
        ),
    ]
};

/// Found by tests of their own: by random machines, by one that cannot be written ([`crate::machines`]), and by random
/// predicates with what only Event-B has ([`crate::solutions`]).
const ELSEWHERE: [Mutant; 3] = [Mutant::NothingOutside, Mutant::ClashIsFine, Mutant::MuAnywhere];

fn names(types: &str) -> String {
    types
        .split('&')
        .filter_map(|t| t.trim().split(' ').next())
        .filter(|n| n.len() == 1)
        .collect::<Vec<_>>()
        .join(", ")
}

#[test]
fn every_mutant_is_found_by_name() {
    let mut open: Vec<Mutant> = Mutant::ALL.to_vec();
    let mut counts = BTreeMap::new();
    for (mutant, types, pred) in PREDICATES {
        let case = Case::of_text(&names(types), &format!("{types} & {pred}"));
        assert_eq!(case.disagreement(Mutant::None, &mut counts), None, "{pred}");
        assert!(case.disagreement(mutant, &mut counts).is_some(), "{mutant:?} is not found by {pred}");
        open.retain(|m| *m != mutant);
    }
    let refused: Vec<&String> = counts.keys().filter(|k| k.contains("refused")).collect();
    assert!(refused.is_empty(), "no answer is no agreement: {refused:?}");
    for (mutant, operation) in OPERATIONS {
        assert!(planted(&bounded(operation), 1, mutant), "{mutant:?} is not found by {operation}");
        open.retain(|m| *m != mutant);
    }
    open.retain(|m| !ELSEWHERE.contains(m));
    assert!(open.is_empty(), "nothing is there to find {open:?}");
}

/// A random predicate over one or two unknowns, in which most terms that may have no value are not guarded.
fn random(seed: u64) -> (String, String) {
    let mut choice = Choice::new(seed ^ 0x9a47);
    let mut vars: Vec<(String, Kind)> = vec![("v".into(), choice.pick(&KINDS)), ("w".into(), Kind::Int)];
    // With a large type there would be too many values together to be enumerated.
    if !matches!(vars[0].1, Kind::Partial | Kind::Total | Kind::Sequence) {
        vars.push(("x".into(), choice.pick(&[Kind::Elem, Kind::Set, Kind::Ints])));
    }
    let mut typing = vec![];
    for (v, kind) in &vars {
        typing.push(format!("{v} : {}", kind.set()));
        if *kind == Kind::Sequence {
            typing.push(format!("size({v}) <= 2"));
        }
    }
    let raw = choice.pick(&[30, 100, 100]);
    let size = 2 + choice.below(2);
    let names: Vec<String> = vars.iter().map(|(v, _)| v.clone()).collect();
    let mut maker = Maker { choice, vars, has_constant: false, raw };
    // Most predicates decide before they come to what has no value: an equation does not.
    let pred = match maker.choice.below(3) {
        0 => maker.pred(size + 1),
        1 => {
            let kind = maker.choice.pick(&KINDS);
            format!("{} = {}", maker.expr(kind, size), maker.expr(kind, 1))
        }
        _ => {
            let word = maker.choice.pick(&["=>", "or", "<=>", "&"]);
            let kind = maker.choice.pick(&KINDS);
            format!("{} {word} {} /= {}", maker.pred(1), maker.expr(kind, size), maker.expr(kind, 1))
        }
    };
    (names.join(", "), format!("{} & ({pred})", typing.join(" & ")))
}

/// `KANON_PARTIAL` sets how many.
#[test]
fn solver_and_enumeration_agree_on_what_is_undefined() {
    let cases = count("KANON_PARTIAL", 400);
    let first = count("KANON_SEED", 0);
    let mut counts = BTreeMap::new();
    let mut wrong = vec![];
    for seed in first..first + cases {
        let (names, pred) = random(seed);
        let case = Case::of_text(&names, &pred);
        if let Some(why) = case.disagreement(Mutant::None, &mut counts) {
            wrong.push(format!("seed {seed}: {pred}\n{why}"));
        }
    }
    println!("{counts:#?}");
    assert!(wrong.is_empty(), "{} disagree:\n{}", wrong.len(), wrong.join("\n\n"));
    assert!(counts["agree"] as u64 > cases * 2 / 3, "{counts:?}");
    assert!(counts["agree, some undefined"] as u64 > cases / 100, "{counts:?}");
}
