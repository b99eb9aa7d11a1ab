//! Sets that the formulas cannot list and explicit search can, with an element that has no value: every way to use such a
//! set either finds the fault or has no answer. Contexts are put into each other. In two of three machines a bound is known
//! by which the formulas can list them, too: there the same contexts have to be decided, and decided rightly.

use super::machines::{count, explored};
use crate::support::random::Choice;
use kanon::explore::Options;
use kanon::model::load::load_text;
use kanon::model::open::Opened;
use kanon::model::scope::{ScopeArgs, scope};
use kanon::run::answer::Decision;
use kanon::run::symbolic::{Backend, Engine, Task, answer};
use kanon::run::{Deadline, Project};
use std::collections::BTreeMap;
use std::time::Duration;

/// Sets of integers with 0 as an element without a value: n has no bound, so nothing can be listed.
const SETS: [&str; 8] = [
    "{i | i : 0..n & 6 / i > 1}",
    "dom(%i.(i : 0..n | 6 / i))",
    "ran(%i.(i : 0..n | 6 / i))",
    "{j | j : 0..9 & #i.(i : 0..n & j = 6 / i)}",
    "dom({i, j | i : 0..n & j : 0..3 & 6 / i > j})",
    "(%i.(i : 0..n | 6 / i))[0..3]",
    "{i | i : 0..n & i : {j | j : 0..n & 6 / j > 1}}",
    "UNION(i).(i : 0..n | {6 / i})",
];

/// A set of integers from another.
const AROUND: &str = "X \\/ {1}; {1} \\/ X; X /\\ (0..3); (0..3) /\\ X; (0..3) - X; X - {9}; dom(X * {1}); ran({1} * X); r[X]; \
    r~[X]; id(X)[{1}]; union({X}); union({X, {1}}); inter({X, {1}}); (IF n = 2 THEN X ELSE {1} END); \
    (IF n = 3 THEN X ELSE {1} END); {i | i : X & i > 0}; \
    {i | i : 0..3 & i : X}; dom(id(X)); dom(X <| r); dom(X <<| r); ran(r |> X); ran(r |>> X); (X <| r)[{1}]; \
    (r |> X)[{1}]; (r <+ (X * {2}))[{1}]; ((X * {2}) <+ r)[{1}]; (r ; id(X))[{1}]; (id(X) ; r)[{1}]; UNION(j).(j : X | {j}); \
    UNION(j).(j : {1} | X); INTER(j).(j : {1} | X); dom(r ; (X * X)); ran((X * X) ; r); {} \\/ X; {} /\\ X; X /\\ {}; {} - X; \
    X - X; dom({} * X); dom(X * {}); r[{} /\\ X]; ran({} |> X); dom(X <| {}); closure1(X * X)[{1}]; iterate(X * X, 1)[{1}]; \
    iterate(X * X, 0)[{1}]; dom(dom(prj1(X, {1}))); ran(prj2({1}, X)); dom((X * {1}) >< r); dom(dom((X * {1}) || r)); \
    (rec(a : X))'a; {i | i : {1} & X = X}; {i | i : {1} & X /= {}}; (LET s BE s = X IN s END); \
    (LET s BE s = X IN s /\\ {1} END); (LET s BE s = X IN {1} END); first([X]); last([X]); ran([1] ^ [2] ; id(X)); \
    {1, 2} /\\ X; {card({1} * {X})}; {size([X])}; {card({X})}; {card({} * X)}; {card(X * {})}; \
    {i | i : 1..2 & (X <| r) = r}; {i | i : 1..2 & {} <: X}; {i | i : 1..2 & {} : POW(X)}";

/// A predicate about a set of integers.
const ABOUT: &str = "1 : X; 1 /: X; {1} <: X; {1} /<: X; {1} <<: X; X <: 0..9; X = {1}; {1} /= X; card(X) = 1; {} <: X; {} : POW(X); \
    (1 |-> 1) : r |> X; (1 |-> 1) : X <| r; (1 |-> 1) : X * X; r : X <-> X; r : X +-> INTEGER; r : INTEGER +-> X; r : X --> X; \
    (X <| r)(1) = 1; (X <<| r)(1) = 1; (r |> X)(1) = 1; (r |>> X)(1) = 1; (r <+ (X * {2}))(1) = 2; ((X * {2}) <+ r)(1) = 1; \
    ((X * {2}) \\/ r)(1) = 1; ((X * {2}) /\\ r)(1) = 2; (id(X))(1) = 1; (prj1(X, {1}))(1 |-> 1) = 1; (X * {1})(1) = 1; \
    (r ; id(X))(1) = 1; (id(X) ; r)(1) = 1; (X * {1})~(1) = 1; (%i.(i : X | i))(1) = 1; (%i.(i : 0..n | 6 / i))(1) = 6; \
    (%i.(i : 0..3 | 6 / i))(n) > 1; (%i.(i : 0..3 | {6 / i}))(1) = {6}; (%(i, j).(i : 0..3 & j : {1} | 6 / i))(1, 1) = 6; \
    (%i.(i : 0..3 | %j.(j : {1} | 6 / i)))(1)(1) = 6; (%i.(i : {0, n} | 6 / i))(n) = 3; (%i.(i : {1} | card(X)))(1) = 3; \
    (%i.(i : 0..3 | IF i = 1 THEN 1 ELSE 6 / i END))(1) = 1; (%i.(i : 0..3 | r(i)))(1) = 1; {i, j | i : X & j = i}(1) = 1; \
    (IF n = 2 THEN id(X) ELSE r END)(1) = 1; (IF n = 3 THEN id(X) ELSE r END)(1) = 1; \
    #i.(i : X & i = 1); !i.(i : X => i > 0); #i.(i = 1 & i : X); !i.(i = 1 => i : X); #s.(s = X & 1 : s); #s.(s = X); \
    !s.(s = X => 1 : s); #s.(s : {X}); X /= {}; {} * X = {}; X * {} = {}; card({} * X) = 0; X <: NATURAL; X : POW(NATURAL); \
    X : FIN(NATURAL); X = NATURAL; X /= NATURAL; X <<: NATURAL; NATURAL <: X; NATURAL = X; X \\/ NATURAL = NATURAL; \
    X : {X}; X : {{1}}; {X} = {{1}}; X |-> 1 : {X |-> 1}; rec(a : 1) : struct(a : X); rec(a : X) : struct(a : POW(INTEGER)); \
    [1] : seq(X); [] : seq(X); [1] : iseq(X); [1] : perm(X); [X] : seq(POW(INTEGER)); size([X]) = 1; min(X) = 1; max(X) = 1; \
    SIGMA(i).(i : X | i) = 6; PI(i).(i : X | i) = 6; SIGMA(i).(i : {1} | card(X)) = 3; bool(1 : X) = TRUE; bool(X = X) = TRUE; \
    1 : dom(id(X)); 1 : ran(id(X)); 1 : id(X)[{1}]; 1 : r[X]; \
    {} |> X = {}; X <| {} = {}; {} - X = {}; {} /\\ X = {}; \
    n = 2 => 1 : X; n = 3 => 1 : X; n = 2 or 1 : X; n = 3 or 1 : X; n = 2 & 1 : X; not(1 : X) or n = 2; 1 : X <=> n = 2; \
    (LET s BE s = X IN 1 : s END); (LET s BE s = X IN n = 2 END); (IF n = 3 THEN X ELSE {1} END) = {1}; \
    {i | i : {1} & X = X} = {1}; id(X)[{1}] = {1}; id(X)[{}] = {}; r[X] = {1}; {}[X] = {}; (r ; (X * X)) = r; 0 : {0} - X; \
    (X |-> X) = (X |-> X); rec(a : X)'a = X; {X, {1}} = {{1}}; [X] = [{1}]; (X, 1) = ({1}, 1); X = X; \
    succ(card(X)) = 2; (succ |> X)(0) = 1; (X <| succ)(1) = 2; (succ <+ (X * {7}))(1) = 7; \
    (succ ; id(X))(0) = 1; 2 : succ[X]; (X <| succ)[{1}] = {2}; succ~[X] = {0}; (0 |-> 1) : (succ |> X); \
    (1 |-> 2) : (X <| succ); 1 : dom(X <| succ); 1 : dom(succ |> X); {1} <| (%i.(i : INTEGER | i) |> X) = {1 |-> 1}";

/// A substitution that uses a set of integers.
const DONE: &str = "x :: X; x :: X \\/ {1}; ANY i WHERE i : X THEN x := i END; ANY i WHERE i : X & i = 1 THEN x := i END; \
    ANY i WHERE i = 1 & i : X THEN x := i END; ANY s WHERE s = X THEN x := 1 END; ANY s WHERE s <: X THEN x := 1 END; \
    ANY s WHERE s <: X & s = {1} THEN x := 1 END; ANY s WHERE s <: {1} & s <: X THEN x := 1 END; \
    ANY f WHERE f : {1} --> X THEN x := 1 END; LET s BE s = X IN x := 1 END; LET s BE s = X IN IF 1 : s THEN x := 1 END END; \
    VAR s IN s := X ; x := 1 END; VAR s IN s := X ; IF 1 : s THEN x := 1 END END; IF 1 : X THEN x := 1 END; \
    IF n = 3 & 1 : X THEN x := 1 END; IF n = 2 or 1 : X THEN x := 1 END; SELECT 1 : X THEN x := 1 END; \
    SELECT n = 2 THEN x := 1 WHEN 1 : X THEN x := 1 END; SELECT n = 3 THEN x := 1 WHEN 1 : X THEN x := 1 ELSE x := 2 END; \
    CASE card(X) OF EITHER 1 THEN x := 1 OR 2 THEN x := 2 END END; CASE x OF EITHER 1 THEN x := 2 ELSE x := card(X) END END; \
    x : (x : X); x : (x : X & x = 1); x : (x = 1 & x : X); PRE 1 : X THEN x := 1 END; PRE X <: NATURAL THEN x := 1 END; \
    ASSERT 1 : X THEN x := 1 END; r := X <| r; r := X * {1}; r(1) := card(X); r := {1 |-> 1} <+ (X * {1}); x := card(X) || r := {}; \
    x := 1 ; r := r |> X; CHOICE x := 1 OR x := card(X) END; \
    WHILE x < 2 & 1 : X DO x := x + 1 INVARIANT x : INTEGER VARIANT 9 - x END; \
    WHILE x < 2 DO x := x + 1 INVARIANT x : INTEGER & X = X VARIANT 9 - x END; \
    WHILE x < 2 DO x := x + 1 INVARIANT x : INTEGER VARIANT 9 + card(X) - x END; \
    WHILE x < 2 DO x := x + card({1} * {X}) INVARIANT x : INTEGER VARIANT 9 - x END; \
    x := min(X); x := (%i.(i : 0..n | 6 / i))(1); ANY i WHERE i = (%j.(j : 0..n | 6 / j))(1) THEN x := i END; x := (IF 1 : X THEN 1 ELSE 2 END); x := (X <| r)(1); r := {1 |-> X}(2) * {1}; x, r := 1, X <| r; r := {} <| (X * X); \
    r := (IF n = 2 THEN r ELSE X * X END); r := (IF n = 2 THEN X * X ELSE r END); r := %i.(i : {1} | card(X)); \
    r := {i, j | i : {1} & j : X}; r := {i, j | i : {1} & j = 1 & j : X}";

/// The parts between semicolons; those with a space before them belong to the language.
fn parts(list: &str) -> Vec<String> {
    list.replace(" ; ", "@").split(';').map(|p| p.trim().replace('@', " ; ")).collect()
}

fn machine(is_bounded: bool, invariant: &str, body: &str) -> String {
    let bound = if is_bounded { "0..3" } else { "INTEGER" };
    format!(
        "MACHINE m VARIABLES n, r, x INVARIANT n : {bound} & r : 0..3 <-> 0..3 & x : INTEGER & ({invariant}) \
         INITIALISATION n := 2 || r := {{1 |-> 1}} || x := 0 OPERATIONS op = BEGIN {body} END END"
    )
}

/// Explicit search finds a fault, and formulas say that there is none.
fn misses(text: &str, counts: &mut BTreeMap<String, usize>) -> bool {
    let loaded = load_text("m.mch", text);
    let Some(model) = loaded.model else {
        *counts.entry(format!("no machine: {text} {:?}", loaded.diagnostics.first())).or_default() += 1;
        return false;
    };
    let (scope, _) = scope(&model, &ScopeArgs::default()).expect("a scope");
    let project = Project { opened: Opened { model, scope, ..Opened::default() }, ..Project::default() };
    let options = Options { deadlock: false, ..Options::default() };
    let task = Task { depth: 3, solver: Backend::Sat, options: options.clone(), ..Task::new(Engine::Ic3) };
    let deadline = Deadline::after(Some(Duration::from_secs(5)));
    let found = answer(&project, &task, &deadline, &|_| {}).expect("the options go together");
    if found.verdict != Decision::Holds {
        *counts.entry(found.verdict.name().to_string()).or_default() += 1;
        return false;
    }
    let expected = explored(&project, &options, 100).map(|c| c.verdict);
    *counts.entry(format!("holds, explicit {:?}", expected)).or_default() += 1;
    expected == Some(Decision::Fails)
}

#[test]
fn every_context_finds_the_fault_or_has_no_answer() {
    let (around, about, done) = (parts(AROUND), parts(ABOUT), parts(DONE));
    let mut counts = BTreeMap::new();
    let mut wrong = vec![];
    let put = |context: &str, set: &str| context.replace('X', &format!("({set})"));
    let mut ask = |is_bounded: bool, invariant: &str, body: &str| {
        if misses(&machine(is_bounded, invariant, body), &mut counts) {
            wrong.push(format!("{invariant}   |   {body}"));
        }
    };
    for (i, set) in SETS.iter().enumerate() {
        about.iter().enumerate().for_each(|(j, p)| ask((i + j) % 3 > 0, &put(p, set), "skip"));
        done.iter().enumerate().for_each(|(j, s)| ask((i + j) % 3 > 0, "1 = 1", &put(s, set)));
    }
    let mut choice = Choice::new(count("KANON_SEED", 7));
    for _ in 0..count("KANON_HIDDEN", 60) {
        let mut set = choice.pick(&SETS).to_string();
        for _ in 0..1 + choice.below(2) {
            set = put(&around[choice.below(around.len())], &set);
        }
        let is_bounded = choice.percent(60);
        if choice.percent(70) {
            ask(is_bounded, &put(&about[choice.below(about.len())], &set), "skip");
        } else {
            ask(is_bounded, "1 = 1", &put(&done[choice.below(done.len())], &set));
        }
    }
    for (what, n) in &counts {
        println!("{n:6} {what}");
    }
    let of = |what: &str| counts.iter().filter(|(k, _)| k.starts_with(what)).map(|(_, n)| n).sum::<usize>();
    let all: usize = counts.values().sum();
    assert_eq!(of("no machine"), 0, "{counts:?}");
    assert!(of("holds") >= 60 && of("fails") >= all / 3, "there is hardly an answer: {counts:?}");
    assert!(wrong.is_empty(), "{} faults are missed:\n{}", wrong.len(), wrong.join("\n"));
}
