//! The reference evaluator on substitutions and whole machines: outcomes, faults, and the counts that the
//! models' headers state.

use crate::support;
use kanon::eval::Fault;
use kanon::eval::reference::{self, Cx, Env, Item, State};
use kanon::model::load::{load, with_large_stack};
use kanon::model::scope::{ScopeArgs, scope};
use kanon::model::{ExprKind, Fun, Model, Type};
use kanon::value::{Scope, Show, Value};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::path::{Path, PathBuf};

fn machine(name: &str, text: &str) -> (Model, Scope) {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}.mch"));
    std::fs::write(&path, text).expect("the build directory is writable");
    from_file(&path, &ScopeArgs::default())
}

fn from_file(path: &Path, args: &ScopeArgs) -> (Model, Scope) {
    let loaded = load(path);
    let model = loaded.model.unwrap_or_else(|| panic!("{}: {:?}", path.display(), loaded.diagnostics));
    let (scope, _) = scope(&model, args).unwrap_or_else(|d| panic!("{}: {d:?}", path.display()));
    (model, scope)
}

#[derive(Debug, Default, PartialEq)]
struct Counts {
    states: usize,
    transitions: usize,
    deadlocks: usize,
    initialisations: usize,
    constants: usize,
    violations: usize,
}

/// Breadth-first over everything; faults are errors here.
fn explore(model: &Model, scope: &Scope) -> Result<Counts, String> {
    let cx = Cx::new(model, scope).with_fuel(200_000_000);
    let mut counts = Counts::default();
    let constants = reference::constants(&cx);
    if let Some(fault) = constants.faults.first() {
        return Err(format!("{fault:?}"));
    }
    if !model.constants.is_empty() {
        counts.constants = constants.found.len();
    }
    for valuation in &constants.found {
        let initial = reference::initial_states(&cx, valuation);
        if let Some(fault) = initial.faults.first() {
            return Err(format!("{fault:?}"));
        }
        counts.initialisations += initial.found.len();
        let mut seen: BTreeSet<Vec<Option<Value>>> =
            initial.found.iter().map(|s| s.variables.clone()).collect();
        let mut open: VecDeque<State<'_>> = initial.found.into();
        while let Some(state) = open.pop_front() {
            counts.states += 1;
            let env = Env::of(&state);
            for p in &model.invariant {
                if !reference::holds(&cx, &env, p).map_err(|f| format!("{f:?}"))? {
                    counts.violations += 1;
                    break;
                }
            }
            let next = reference::successors(&cx, &state);
            if let Some(fault) = next.faults.first() {
                return Err(format!("{fault:?}"));
            }
            counts.transitions += next.steps.len();
            counts.deadlocks += usize::from(next.steps.is_empty());
            for step in next.steps {
                if seen.insert(step.state.variables.clone()) {
                    open.push_back(step.state);
                }
            }
        }
    }
    if cx.truncated().is_empty() { Ok(counts) } else { Err("truncated".to_string()) }
}

/// `key=value` pairs of an `expect:` line up to the first `;`.
fn expectation(line: &str) -> Option<BTreeMap<&str, &str>> {
    let line = line.trim_start_matches("/*").trim().strip_prefix("expect:")?;
    let line = line.split([';', '*']).next()?;
    Some(line.split_whitespace().filter_map(|pair| pair.split_once('=')).collect())
}

#[test]
fn models_have_the_counts_of_their_headers() {
    let mut checked = 0;
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("models/papers");
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(folder).expect("models").map(|f| f.expect("file").path()).collect();
    files.sort();
    for path in files.iter().filter(|p| p.extension().is_some_and(|e| e == "mch")) {
        let text = std::fs::read_to_string(path).expect("readable");
        for expected in text.lines().filter_map(expectation) {
            let number = |key: &str| expected.get(key).and_then(|n| n.parse::<usize>().ok());
            // The reference is slow: only what is small.
            if number("states").is_none_or(|n| n > 500) || number("transitions").is_none() {
                continue;
            }
            let card = expected.get("card").map_or("", |c| c);
            let card = card.split(',').filter_map(|c| c.split_once(':'));
            let card = card.map(|(s, n)| (s.to_string(), n.parse().expect("a size"))).collect();
            let (model, scope) = from_file(path, &ScopeArgs { card, ..ScopeArgs::default() });
            let found = explore(&model, &scope).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
            let name = path.display();
            assert_eq!(Some(found.states), number("states"), "{name} states {expected:?}");
            assert_eq!(Some(found.transitions), number("transitions"), "{name} transitions {expected:?}");
            assert_eq!(Some(found.deadlocks), number("deadlocks"), "{name} deadlocks");
            assert_eq!(Some(found.initialisations), number("initialisations"), "{name} initialisations");
            assert_eq!(Some(found.constants), number("constants"), "{name} constants");
            checked += 1;
        }
    }
    assert!(checked >= 6, "only {checked} expectations were small enough");
}

/// The steps from the first initial state as `op(params) -> results: variables`, then the faults by code.
fn steps(name: &str, text: &str) -> Vec<String> {
    let (model, scope) = machine(name, text);
    let cx = Cx::new(&model, &scope);
    let constants = reference::constants(&cx);
    let Some(valuation) = constants.found.first() else { return vec!["no constants".into()] };
    let initial = reference::initial_states(&cx, valuation);
    let mut out: Vec<String> = initial.faults.iter().map(|f| format!("init {}", show_fault(f))).collect();
    let Some(state) = initial.found.first() else { return out };
    let found = reference::successors(&cx, state);
    let show = |value: &Value, ty: &Type| Show { value, ty, model: &model }.to_string();
    for step in &found.steps {
        let op = &model.operations[step.op.index()];
        let params: Vec<String> =
            step.params.iter().zip(&op.params).map(|(v, l)| show(v, &model.local(*l).ty)).collect();
        let results: Vec<String> = step
            .results
            .iter()
            .zip(&op.results)
            .map(|(v, l)| v.as_ref().map_or("?".into(), |v| show(v, &model.local(*l).ty)))
            .collect();
        let vars: Vec<String> = step
            .state
            .variables
            .iter()
            .zip(&model.variables)
            .map(|(v, d)| v.as_ref().map_or("?".into(), |v| show(v, &d.ty)))
            .collect();
        out.push(format!("{}({})->{}: {}", op.name, params.join(","), results.join(","), vars.join(" ")));
    }
    for fault in &found.faults {
        out.push(format!("{} {}", model.operations[fault.op.index()].name, show_fault(&fault.fault)));
    }
    if !cx.truncated().is_empty() {
        out.push("truncated".into());
    }
    out
}

fn show_fault(fault: &Fault) -> String {
    match fault {
        Fault::Wd(wd) => wd.kind.describe().0.to_string(),
        Fault::Limit(..) => "limit".to_string(),
    }
}

/// Operations over `x : INTEGER` starting at 0, and the steps they give. `||` may write a variable twice.
fn check_steps<'a>(rows: impl IntoIterator<Item = (&'a str, &'a [&'a str])>) {
    let mut wrong = vec![];
    for (i, (ops, expected)) in rows.into_iter().enumerate() {
        let text = format!(
            "MACHINE M{i} DEFINITIONS SET_PREF_ALLOW_SIMULTANEOUS_ASSIGNMENTS == TRUE \
             VARIABLES x, y, f INVARIANT x : INTEGER & y : INTEGER & f : INTEGER +-> INTEGER \
             INITIALISATION x := 0 || y := 5 || f := {{0 |-> 1, 2 |-> 3}} OPERATIONS {ops} END"
        );
        let name = format!("M{i}");
        let found: Vec<String> =
            steps(&name, &text).into_iter().map(|s| s.replace(" {(0|->1),(2|->3)}", "")).collect();
        if found != expected {
            wrong.push(format!("{ops}\n  expected {expected:?}\n  found    {found:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn substitutions() {
    check_steps([
        ("o = skip", &["o()->: 0 5"] as &[_]),
        ("o = BEGIN x, y := y, x END", &["o()->: 5 0"]),
        ("o = BEGIN x := y || y := x END", &["o()->: 5 0"]),
        ("o = BEGIN x := y ; y := x END", &["o()->: 5 5"]),
        ("o = BEGIN x := 5 || x := y END", &["o()->: 5 5"]),
        ("o = BEGIN x := 5 || x := 6 END", &["o B0319"]),
        ("o = BEGIN x := x || x := 6 END", &["o B0319"]),
        ("o = BEGIN x := 6 || x := x END", &["o B0319"]),
        ("o = x, x := 5, y", &["o()->: 5 5"]),
        ("o = x, x := 5, 6", &["o B0319"]),
        ("o = x, x :: {1 |-> 1, 1 |-> 2}", &["o()->: 1 5", "o B0319"]),
        ("o = f(0), f(2) := 3, 3", &["o B0319"]),
        ("o = BEGIN f(0) := 3 || f(0) := 3 END", &["o()->: 0 5 {(0|->3),(2|->3)}"]),
        ("o = BEGIN f(0) := 3 || f(2) := 3 END", &["o B0319"]),
        ("o = BEGIN IF x = 0 THEN x := 1 END || IF x = 1 THEN x := 2 END END", &["o()->: 1 5"]),
        ("o = BEGIN IF x = 0 THEN x := 1 END || IF y = 5 THEN x := 2 END END", &["o B0319"]),
        ("o = BEGIN x :: 1..2 || x :: 2..3 END", &["o()->: 2 5", "o B0319", "o B0319", "o B0319"]),
        ("o = BEGIN BEGIN x := 1 || y := 2 END || BEGIN y := 2 || x := 1 END END", &["o()->: 1 2"]),
        ("o = BEGIN BEGIN x := 1 || y := 2 END || BEGIN y := 2 || x := x END END", &["o B0319"]),
        (
            "o = BEGIN WHILE x < 2 DO x := x + 1 INVARIANT x : 0..2 VARIANT 2 - x END || x := 2 END",
            &["o()->: 2 5"],
        ),
        ("r <-- o = BEGIN r := 1 || r := 1 || x := 1 END", &["o()->1: 1 5"]),
        ("r <-- o = BEGIN r := 1 || r := 2 || x := 1 END", &["o B0319"]),
        ("o = x :: 1..2", &["o()->: 1 5", "o()->: 2 5"]),
        ("o = x :: {}", &[]),
        ("o = x :: NATURAL", &["o limit"]),
        ("o = x, y :: {1 |-> 2, 3 |-> 4}", &["o()->: 1 2", "o()->: 3 4"]),
        ("o = x : (x : y..6 & x > x$0)", &["o()->: 5 5", "o()->: 6 5"]),
        ("o = f(0) := 7", &["o()->: 0 5 {(0|->7),(2|->3)}"]),
        ("o = f(4) := 7", &["o()->: 0 5 {(0|->1),(2|->3),(4|->7)}"]),
        ("o = x := f(4)", &["o B0304"]),
        ("o = CHOICE x := 1 OR x := 1 OR x := 2 END", &["o()->: 1 5", "o()->: 2 5"]),
        ("o = CHOICE x := 1 OR x := 1 / 0 END", &["o()->: 1 5", "o B0301"]),
        ("o = PRE x = 1 THEN x := 2 END", &[]),
        ("o = PRE 1 / x = 1 THEN x := 2 END", &["o B0301"]),
        ("o(p) = PRE p : 1..2 THEN x := p END", &["o(1)->: 1 5", "o(2)->: 2 5"]),
        ("o(p) = PRE p : 0..2 & 4 / p > 2 THEN x := p END", &["o(1)->: 1 5", "o B0301"]),
        ("o(p) = PRE p : 0..2 THEN PRE p = 1 THEN x := p END END", &["o(1)->: 1 5", "o B0314", "o B0314"]),
        ("o = BEGIN x := 1 ; PRE x = 0 THEN y := 0 END END", &["o B0314"]),
        ("o = ASSERT x = 0 THEN x := 1 END", &["o()->: 1 5"]),
        ("o = ASSERT x = 1 THEN x := 1 END", &["o B0315"]),
        (
            "o = SELECT x = 0 THEN x := 1 WHEN y = 5 THEN x := 2 WHEN x = 1 THEN x := 3 END",
            &["o()->: 1 5", "o()->: 2 5"],
        ),
        ("o = SELECT x = 1 THEN x := 1 ELSE x := 9 END", &["o()->: 9 5"]),
        ("o = SELECT x = 1 THEN x := 1 END", &[]),
        ("o = SELECT 1 / x = 1 THEN x := 1 ELSE x := 9 END", &["o B0301"]),
        ("o = BEGIN x := 2 ; SELECT x = 3 THEN y := 0 END END", &[]),
        ("o = BEGIN x := 1 || SELECT x = 1 THEN y := 0 END END", &[]),
        ("o = IF x = 0 THEN x := 1 ELSE x := 2 END", &["o()->: 1 5"]),
        ("o = IF x = 1 THEN x := 1 ELSIF y = 5 THEN x := 2 END", &["o()->: 2 5"]),
        ("o = IF x = 1 THEN x := 1 END", &["o()->: 0 5"]),
        ("o = IF 1 / x = 1 THEN x := 1 END", &["o B0301"]),
        ("o = CASE y OF EITHER 1, 2 THEN x := 1 OR 5 THEN x := 2 ELSE x := 3 END END", &["o()->: 2 5"]),
        ("o = CASE y OF EITHER 1, 2 THEN x := 1 OR 3 THEN x := 2 END END", &["o()->: 0 5"]),
        ("o = ANY z WHERE z : 0..3 THEN x := z / 2 END", &["o()->: 0 5", "o()->: 1 5"]),
        ("o = ANY z WHERE z : {} & z > 0 THEN x := z END", &[]),
        ("o = ANY z WHERE z : NATURAL & z > y & z < y + 3 THEN x := z END", &["o()->: 6 5", "o()->: 7 5"]),
        ("o = ANY z WHERE z > 2 THEN x := z END", &["o()->: 3 5", "truncated"]),
        ("o = LET z BE z = x + 1 IN x := z END", &["o()->: 1 5"]),
        ("o = VAR z IN z := 3 ; x := z + z END", &["o()->: 6 5"]),
        ("o = VAR z IN IF x = 1 THEN z := 3 END ; x := z END", &["o B0318"]),
        ("r <-- o = r := x + 1", &["o()->1: 0 5"]),
        ("r <-- o = CHOICE r := 1 OR r := 2 END", &["o()->1: 0 5", "o()->2: 0 5"]),
        ("r <-- o = IF x = 9 THEN r := 1 END", &["o()->?: 0 5"]),
        ("r, s <-- o(p) = PRE p : {3} THEN r := p || s := p + p END", &["o(3)->3,6: 0 5"]),
        ("o = WHILE x < 3 DO x := x + 1 INVARIANT x : 0..3 VARIANT 3 - x END", &["o()->: 3 5"]),
        ("o = WHILE x < 3 DO x := x + 1 INVARIANT x : 0..2 VARIANT 3 - x END", &["o B0316"]),
        ("o = WHILE x < 3 DO x := x + 1 INVARIANT x : 0..3 VARIANT 3 END", &["o B0317"]),
        ("o = WHILE x < 3 DO x := x + 1 INVARIANT x : 0..3 VARIANT 1 - x END", &["o B0317"]),
        (
            "o = WHILE x < 2 DO x :: x + 1..x + 2 INVARIANT x : 0..4 VARIANT 9 - x END",
            &["o()->: 2 5", "o()->: 3 5"],
        ),
    ]);
}

#[test]
fn calls() {
    let callee = "MACHINE Callee VARIABLES n INVARIANT n : 0..9 INITIALISATION n := 0 OPERATIONS
        add(k) = PRE k : 1..3 THEN n := n + k END;
        r <-- twice(k) = PRE k : 0..3 THEN r := k + k END;
        go = SELECT n = 0 THEN n := 1 END END";
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("Callee.mch");
    std::fs::write(path, callee).expect("the build directory is writable");
    let caller = |ops: &str| {
        let text = format!(
            "MACHINE Caller INCLUDES Callee VARIABLES x INVARIANT x : INTEGER INITIALISATION x := 1 \
             OPERATIONS {ops} END"
        );
        steps("Caller", &text)
    };
    // Included variables stand before the machine's own.
    assert_eq!(caller("o = add(2)"), ["o()->: 2 1"]);
    assert_eq!(caller("o = BEGIN add(x + 1) || x := 7 END"), ["o()->: 2 7"]);
    assert_eq!(caller("o = add(4)"), ["o B0314"]);
    assert_eq!(caller("o = x <-- twice(3)"), ["o()->: 0 6"]);
    assert_eq!(caller("o = BEGIN go ; go END"), Vec::<String>::new());
}

#[test]
fn constants() {
    let found = |properties: &str| -> String {
        let text = format!("MACHINE K SETS D = {{d, e}} CONSTANTS k, g PROPERTIES {properties} END");
        let (model, scope) = machine("K", &text);
        let cx = Cx::new(&model, &scope);
        let constants = reference::constants(&cx);
        let mut out: Vec<String> = constants
            .found
            .iter()
            .map(|state| {
                let show = |i: usize| match &state.constants[i] {
                    Some(Item::Value(value)) => {
                        Show { value, ty: &model.constants[i].ty, model: &model }.to_string()
                    }
                    Some(Item::Symbolic(_)) => "symbolic".into(),
                    None => "?".into(),
                };
                format!("{} {}", show(0), show(1))
            })
            .collect();
        out.extend(constants.faults.iter().map(show_fault));
        out.extend((!cx.truncated().is_empty()).then(|| "truncated".into()));
        out.join(" / ")
    };
    assert_eq!(found("k : 1..2 & g = k + 1"), "1 2 / 2 3");
    assert_eq!(found("g : 1..3 & k = g * g & k > 3"), "4 2 / 9 3");
    assert_eq!(found("k : D --> 1..2 & g = k(d) & k(e) = 1"), "{(d|->1),(e|->1)} 1 / {(d|->2),(e|->1)} 2");
    assert_eq!(found("k = g & g = 1 & k = 2"), "");
    assert_eq!(found("k = %x.(x : NATURAL | x + 1) & g = k(41)"), "symbolic 42");
    let factorial = "k = %n.(n : NATURAL | IF n = 0 THEN 1 ELSE n * k(n - 1) END)";
    assert_eq!(found(&format!("{factorial} & g = k(10)")), "symbolic 3628800");
    assert_eq!(
        found("k = %n.(n : 0..3 | IF n = 0 THEN 1 ELSE n * k(n - 1) END) & g = ran(k)"),
        "{(0|->1),(1|->1),(2|->2),(3|->6)} {1,2,6}"
    );
    assert_eq!(found("k = 1 / 0 & g = 1"), "B0301");
    assert_eq!(
        found("k : NATURAL --> NATURAL & k = %x.(x : NATURAL | x * x) & g = k(9)"),
        "symbolic 81 / truncated"
    );
}

#[test]
fn mu_and_spans() {
    let (mut model, scope) = support::base();
    let set = support::typed(&mut model, "{x | x : 1..9 & x * x = 49}").expect("typed");
    let span = set.span;
    let mu = |set: kanon::model::Expr| kanon::model::Expr {
        kind: ExprKind::Call(Fun::Mu, vec![set]),
        ty: Type::Int,
        span,
    };
    let (one, none) = (mu(set), mu(support::typed(&mut model, "{1,2}").expect("typed")));
    let division = support::typed(&mut model, "1 + 2 / (3 - 3) + 4").expect("typed");
    let cx = Cx::new(&model, &scope);
    let env = Env::new(&model);
    assert_eq!(reference::eval(&cx, &env, &one), Ok(Value::int(7)));
    assert!(
        matches!(reference::eval(&cx, &env, &none), Err(Fault::Wd(wd)) if wd.kind.describe().0 == "B0312")
    );
    // The fault is where the division is, not where the sum is.
    let Err(Fault::Wd(wd)) = reference::eval(&cx, &env, &division) else { panic!("no fault") };
    assert_eq!((wd.span.lo, wd.span.hi), (4, 15));
}

#[test]
fn deep_recursion_is_a_limit() {
    let text = "MACHINE Deep CONSTANTS k PROPERTIES \
        k = %n.(n : NATURAL | IF n = 0 THEN 0 ELSE 1 + k(n - 1) END) VARIABLES x INVARIANT x : INTEGER \
        INITIALISATION x := 0 OPERATIONS o = x := k(30); p = x := k(100000) END";
    // A build without the optimiser needs more than the 2 MiB that a test has.
    let found = with_large_stack(|| steps("Deep", text)).expect("a stack");
    assert_eq!(found, ["o()->: 30", "p limit"]);
}

/// A local of VAR, or a result, that nothing was assigned to has no value: what is said of it is a fault, also where
/// nothing could match it.
#[test]
fn what_is_not_assigned_has_no_value_in_a_pattern() {
    let text = "MACHINE Unassigned VARIABLES x INVARIANT x : INTEGER INITIALISATION x := 0 OPERATIONS \
        o = VAR t IN IF #y.(y : 0..2000 & y |-> t : {} * {x}) THEN x := 1 END; t := x END; \
        r <-- p = BEGIN IF #y.(y : 0..2000 & {y, r} <: {} \\/ ({} - {x})) THEN x := 1 END; r := x END; \
        q = VAR t IN t := 3; IF #y.(y : 0..2000 & y |-> t : {} * {x}) THEN x := 1 END END END";
    assert_eq!(steps("Unassigned", text), ["q()->: 0", "o B0318", "p B0318"]);
}
