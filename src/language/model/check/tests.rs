//! Tables: the type of an expression, what is said about a mistake, the typed form of substitutions.

use super::{Want, check_expr, check_open};
use crate::lang::b::parse_expr;
use crate::lang::diag::Severity;
use crate::model::load::{Loaded, load_text};
use crate::model::{Access, BinOp, ExprKind, Model, SetId, StmtKind, Target, Type};

const BASE: &str = "MACHINE Base
SETS S; E = {e1, e2, e3}
CONSTANTS n, el, ff
PROPERTIES n : NAT & el : S & ff : S --> (E * INTEGER)
VARIABLES i, b, s, r, q, t, rc
INVARIANT i : INTEGER & b : BOOL & s <: S & r : S <-> E & q : seq(E) & t : STRING
  & rc : struct(b : BOOL, a : INTEGER)
INITIALISATION i := 0 || b := TRUE || s := {} || r := {} || q := <> || t := \"\" || rc := rec(a : 0, b : TRUE)
END";

fn loaded(text: &str) -> Loaded {
    let loaded = load_text("Test.mch", text);
    assert!(loaded.model.is_some(), "{:#?}", loaded.diagnostics);
    loaded
}

fn model(text: &str) -> Model {
    loaded(text).model.unwrap_or_default()
}

fn show(model: &Model, ty: &Type) -> String {
    ty.show(&|s: SetId| model.sets[s.index()].name.clone()).to_string()
}

fn type_of(base: &mut Loaded, text: &str) -> String {
    let ast = match parse_expr(&mut base.sources, "expr", text, &base.definitions) {
        Ok(ast) => ast,
        Err(diags) => return format!("syntax error: {}", diags[0].message),
    };
    let Some(model) = &mut base.model else { return "no model".into() };
    match check_expr(model, &ast, Want::Either) {
        Ok(e) => show(model, &e.ty),
        Err(diags) => format!("{}: {}", diags[0].code, diags[0].message),
    }
}

#[track_caller]
fn check_types<const N: usize>(table: [(&str, &str); N]) {
    let mut base = loaded(BASE);
    for (text, want) in table {
        assert_eq!(type_of(&mut base, text), want, "{text}");
    }
}

#[test]
fn types_of_names_and_literals() {
    check_types([
        ("i", "INTEGER"),
        ("S", "POW(S)"),
        ("e1", "E"),
        ("E", "POW(E)"),
        ("ff", "POW((S * (E * INTEGER)))"),
        ("TRUE", "BOOL"),
        ("BOOL", "POW(BOOL)"),
        ("\"x\"", "STRING"),
        ("STRING", "POW(STRING)"),
        ("NAT1", "POW(INTEGER)"),
        ("MAXINT", "INTEGER"),
        ("rc", "struct(a: INTEGER, b: BOOL)"),
        ("-3", "INTEGER"),
        ("i$0", "INTEGER"),
    ]);
}

#[test]
fn types_of_operators() {
    check_types([
        ("i - 1", "INTEGER"),
        ("s - {el}", "POW(S)"),
        ("i * i", "INTEGER"),
        ("S * E", "POW((S * E))"),
        ("S * E * BOOL", "POW(((S * E) * BOOL))"),
        ("1 |-> el |-> TRUE", "((INTEGER * S) * BOOL)"),
        ("r~", "POW((E * S))"),
        ("r[s]", "POW(E)"),
        ("r ; r~", "POW((S * S))"),
        ("r >< ff", "POW((S * (E * (E * INTEGER))))"),
        ("(r || q)", "POW(((S * INTEGER) * (E * E)))"),
        ("s <| r |> {e1}", "POW((S * E))"),
        ("r <+ {el |-> e2}", "POW((S * E))"),
        ("s +-> E", "POW(POW((S * E)))"),
        ("q ^ [e1]", "POW((INTEGER * E))"),
        ("e1 -> q <- e2", "POW((INTEGER * E))"),
        ("q /|\\ 2", "POW((INTEGER * E))"),
        ("i ** 2 mod 3 / 1", "INTEGER"),
        ("1..i", "POW(INTEGER)"),
        ("rc'a", "INTEGER"),
        ("(rc'b = TRUE)", "predicate"),
        ("ff(el)", "(E * INTEGER)"),
        ("q(1)", "E"),
        ("succ(3)", "INTEGER"),
        ("{0 |-> 1}(0) - pred(2)", "INTEGER"),
    ]);
}

#[test]
fn types_of_functions() {
    check_types([
        ("card(s)", "INTEGER"),
        ("dom(r)", "POW(S)"),
        ("ran(ff)", "POW((E * INTEGER))"),
        ("id(s)", "POW((S * S))"),
        ("prj1(s, E)", "POW(((S * E) * S))"),
        ("prj2(s, E)(el |-> e1)", "E"),
        ("POW(s)", "POW(POW(S))"),
        ("union({s, {el}})", "POW(S)"),
        ("seq(s)", "POW(POW((INTEGER * S)))"),
        ("first(q)", "E"),
        ("tail(q)", "POW((INTEGER * E))"),
        ("conc([q, q])", "POW((INTEGER * E))"),
        ("closure1({1 |-> 2})", "POW((INTEGER * INTEGER))"),
        ("iterate({1 |-> 2}, 3)", "POW((INTEGER * INTEGER))"),
        ("fnc(r)", "POW((S * POW(E)))"),
        ("rel(fnc(r))", "POW((S * E))"),
        ("max({1, i})", "INTEGER"),
    ]);
}

#[test]
fn types_of_binders() {
    check_types([
        ("{x | x : s}", "POW(S)"),
        ("{x, y, z | x : s & y = e1 & z = 1}", "POW(((S * E) * INTEGER))"),
        ("%(x, y).(x : S & y : 1..2 | x)", "POW(((S * INTEGER) * S))"),
        ("SIGMA(x).(x : 1..3 | x * x)", "INTEGER"),
        ("UNION(x).(x : s | {x |-> 1})", "POW((S * INTEGER))"),
        ("!x.(x : s => x /= el)", "predicate"),
        ("#(x, y).(x - y = 1)", "predicate"),
        ("!(x, y).(x - y = s => y = s)", "predicate"),
        ("#x.(x * x : E <-> E)", "predicate"),
        ("bool(i = 1)", "BOOL"),
        ("rec(z : 1, a : el)", "struct(a: S, z: INTEGER)"),
        ("struct(z : NAT, a : S)", "POW(struct(a: S, z: INTEGER))"),
        ("card({}) = 0", "predicate"),
        ("{} = <>", "predicate"),
        ("[] : seq(E)", "predicate"),
        ("IF b = TRUE THEN 1 ELSE 2 END", "INTEGER"),
        ("LET x, y BE y = x + 1 & x = 2 IN x + y END", "INTEGER"),
        ("#x.(x'a = 1 & x = rc)", "predicate"),
    ]);
}

#[test]
fn mistakes_in_expressions() {
    check_types([
        ("i + TRUE", "B0203: type mismatch: expected INTEGER, found BOOL"),
        ("i = TRUE", "B0203: type mismatch: INTEGER = BOOL compares different types"),
        ("i & i = 1", "B0203: expected a predicate, found a value of type INTEGER"),
        ("{i = 1}", "B0203: expected a value, found a predicate"),
        ("card(i)", "B0203: type mismatch: expected POW(?), found INTEGER"),
        ("el : E", "B0203: type mismatch: expected POW(S), found POW(E)"),
        ("bq + 1", "B0201: unknown identifier `bq`"),
        ("gg(1)", "B0201: unknown function or definition `gg`"),
        ("#x.(x = x)", "B0204: cannot infer the type of the identifier `x`"),
        ("#x.(x /= {})", "B0204: cannot infer the type of the identifier `x`: it is only known to be POW(?)"),
        ("rc'zz", "B0208: the record has no field `zz`"),
        ("i'a", "B0203: expected a record, found INTEGER"),
        ("rec(a : 1, a : 2)", "B0202: the field `a` is given twice"),
        ("!(x, x).(x = 1 => x = 1)", "B0202: `x` is declared twice here"),
        ("LET x BE x = y & y = 1 IN x END", "B0201: unknown identifier `y`"),
        (
            "LET x, y BE x = y & y = x + 0 IN x END",
            "B0207: the equations of this LET depend on each other in a circle",
        ),
        ("{x | x = {x}}", "B0203: type mismatch: ? = POW(?) compares different types"),
        ("floor(1)", "B0203: type mismatch: expected REAL, found INTEGER"),
        ("1.5 + 1", "B0203: type mismatch: expected REAL, found INTEGER"),
        ("i < 1.5", "B0203: type mismatch: expected INTEGER, found REAL"),
        ("1.5 ** 2", "B0203: type mismatch: expected INTEGER, found REAL"),
        ("1.5 mod 2.0", "B0203: type mismatch: expected INTEGER, found REAL"),
        ("1.0e999999", "B0401: the real number `1.0e999999` is not supported"),
        ("1.5..2.5", "B0203: type mismatch: expected INTEGER, found REAL"),
        ("s - i", "B0203: type mismatch: expected POW(S), found INTEGER"),
        ("ff(el, e1)", "B0206: 2 arguments for a function whose argument is S"),
    ]);
}

#[test]
fn unknown_names_can_stay_open() {
    let mut base = loaded(BASE);
    let ast = parse_expr(&mut base.sources, "expr", "x : s & y = card({x}) + i", &base.definitions);
    let (Ok(ast), Some(model)) = (ast, &mut base.model) else { panic!("the base model loads") };
    let before = model.locals.len();
    let (locals, e) = check_open(model, &ast).unwrap_or_else(|d| panic!("{d:#?}"));
    let shown: Vec<String> = locals
        .iter()
        .map(|l| format!("{}: {}", model.local(*l).name, show(model, &model.local(*l).ty)))
        .collect();
    assert_eq!(shown, ["x: S", "y: INTEGER"]);
    assert_eq!(e.ty, Type::Pred);
    assert_eq!(model.locals.len(), before + 2);
}

#[test]
fn the_model_survives_a_wrong_expression() {
    let mut base = loaded(BASE);
    assert!(type_of(&mut base, "i + TRUE").starts_with("B0203"));
    assert_eq!(type_of(&mut base, "i + 1"), "INTEGER");
}

/// `line:column code message`, errors first by place.
fn diagnose(text: &str) -> Vec<String> {
    let loaded = load_text("Test.mch", text);
    loaded
        .diagnostics
        .iter()
        .filter(|d| d.severity == Severity::Error)
        .map(|d| {
            let place = loaded.sources.place(d.span);
            let mut s = format!("{} {} {}", place.trim_start_matches("Test.mch:"), d.code, d.message);
            for (span, note) in &d.notes {
                s += &format!(" | {} {note}", loaded.sources.place(*span).trim_start_matches("Test.mch:"));
            }
            if let Some(help) = &d.help {
                s += &format!(" | help: {help}");
            }
            s
        })
        .collect()
}

#[test]
fn several_mistakes_at_once() {
    let text = "MACHINE M
SETS S
VARIABLES count, set
INVARIANT count : NAT & set <: S
INITIALISATION count := {} || set := {}
OPERATIONS
  inc = PRE cuont < 3 THEN count := count + TRUE END;
  put(x) = PRE x : S & x /= 1 THEN set := set \\/ x END;
  go = foo(1)
END";
    assert_eq!(
        diagnose(text),
        [
            "5:25 B0203 type mismatch: expected INTEGER, found POW(?)",
            "7:13 B0201 unknown identifier `cuont` | help: did you mean `count`?",
            "7:45 B0203 type mismatch: expected INTEGER, found BOOL",
            "8:29 B0203 type mismatch: S /= INTEGER compares different types | 8:24 this is S",
            "8:50 B0203 type mismatch: expected POW(S), found S | 8:7 `x` is declared here",
            "9:8 B0201 unknown operation `foo`",
        ]
    );
}

#[test]
fn mistakes_in_machines() {
    let cases: [(&str, &[&str]); 11] = [
        (
            "MACHINE M VARIABLES x, x INVARIANT x : NAT INITIALISATION x := 0 END",
            &["1:24 B0202 `x` is declared twice | 1:21 first declared here"],
        ),
        (
            "MACHINE M CONSTANTS c PROPERTIES 1 = 1 END",
            &[
                "1:21 B0204 cannot infer the type of the constant `c` | help: add a typing predicate such as `c : S`",
            ],
        ),
        (
            "MACHINE M OPERATIONS r <-- f(x) = PRE x : NAT THEN r := x END; r <-- g = r <-- f(1, 2) END",
            &[
                "1:80 B0217 `f` belongs to this machine, which may not call its own operations | help: make it a \
                 LOCAL_OPERATION, or put the common part into a definition or an included machine",
                "1:80 B0206 `f` has 1 argument, not 2 | 1:28 the operation is declared here",
            ],
        ),
        (
            "MACHINE M VARIABLES x INVARIANT x : NAT INITIALISATION x := 0 || x := 1 END",
            &["1:66 B0215 `x` is assigned on both sides of `||` | 1:56 also assigned here | \
               help: combine the two: `f := f <+ {a |-> x, b |-> y}`"],
        ),
        (
            "MACHINE M OPERATIONS f(x) = PRE x : NAT THEN x := 1 END END",
            &[
                "1:46 B0209 `x` cannot be assigned to: it is a parameter or bound name | 1:24 it is declared here",
            ],
        ),
        (
            "MACHINE M SEES Nowhere END",
            &["1:16 B0211 the machine `Nowhere` was not found | \
               help: looked for Nowhere.mch, .ref, .imp and .sys in the current directory"],
        ),
        ("MACHINE M SEES M END", &["1:16 B0210 machines refer to each other in a circle: M → M"]),
        (
            "MACHINE M VARIABLES b INVARIANT b : BOOL & b INITIALISATION b := TRUE END",
            &["1:44 B0203 expected a predicate, found a value of type BOOL | 1:21 `b` is declared here | \
               help: compare it: `b = TRUE`"],
        ),
        (
            "MACHINE M VARIABLES x INVARIANT x : NAT INITIALISATION x, x := 1, 2, 3 END",
            &["1:56 B0206 2 variables but 3 values"],
        ),
        (
            "MACHINE M DEFINITIONS GOAL == x = TRUE VARIABLES x INVARIANT x : NAT INITIALISATION x := 1 END",
            &["1:35 B0203 type mismatch: INTEGER = BOOL compares different types | 1:31 this is INTEGER"],
        ),
        (
            "MACHINE M SETS S = {a, b}; T = {b, c} END",
            &["1:33 B0202 `b` is declared twice | 1:24 first declared here"],
        ),
    ];
    for (text, want) in cases {
        assert_eq!(diagnose(text), want, "{text}");
    }
}

#[test]
fn types_come_from_anywhere() {
    let m = model(
        "MACHINE M
DEFINITIONS SET_PREF_ALLOW_LOCAL_OPERATION_CALLS == TRUE
VARIABLES x, y, z
INVARIANT z = z
INITIALISATION x := 1 || y := {} || z := {}
OPERATIONS
  r <-- get = r := x;
  put(v) = y := y \\/ {v};
  both = BEGIN put(TRUE) || x <-- get END;
  minus(w) = z := z - w;
  words = z := {\"a\"}
END",
    );
    let types: Vec<String> = m.variables.iter().map(|d| show(&m, &d.ty)).collect();
    assert_eq!(types, ["INTEGER", "POW(BOOL)", "POW(STRING)"]);
    let StmtKind::Assign(pairs) = &m.operations[3].body.kind else { panic!("an assignment") };
    assert!(matches!(pairs[0].1.kind, ExprKind::Binary(BinOp::Diff, ..)));
}

#[test]
fn substitutions_are_elaborated() {
    let m = model(
        "MACHINE M
VARIABLES f, r, x, y
INVARIANT f : 0..1 --> (0..1 --> INTEGER) & r : struct(b : INTEGER, a : BOOL) & x : INTEGER & y : BOOL
INITIALISATION f := {} || r := rec(a : TRUE, b : 1) || x, y := (1, TRUE)
OPERATIONS
  path = f(0)(1) := 2;
  field = r'b := 3;
  such = x :(x > x$0 & y = TRUE);
  local = VAR v IN v := 1; v :(v = v$0 + x) END;
  let = LET a, c BE c = a + 1 & a = x IN x := c END
END",
    );
    let StmtKind::Par(parts) = &m.initialisation.kind else { panic!("a parallel") };
    let StmtKind::Assign(pairs) = &parts[2].kind else { panic!("an assignment") };
    assert!(matches!(pairs[0].1.kind, ExprKind::First(_)));
    assert!(matches!(pairs[1].1.kind, ExprKind::Second(_)));

    let StmtKind::Assign(pairs) = &m.operations[0].body.kind else { panic!("an assignment") };
    assert!(matches!(&pairs[0].0.path[..], [Access::Index(_), Access::Index(_)]));
    let StmtKind::Assign(pairs) = &m.operations[1].body.kind else { panic!("an assignment") };
    assert!(matches!(&pairs[0].0.path[..], [Access::Field(1)]));

    let StmtKind::BecomesSuch { targets, fresh, pred } = &m.operations[2].body.kind else { panic!(":( )") };
    assert!(matches!(targets[..], [Target::Var(_)]));
    assert!(pred.mentions_local(fresh[0]));
    assert!(pred.any(&|e| matches!(e.kind, ExprKind::Old(_))));

    let StmtKind::Var(locals, body) = &m.operations[3].body.kind else { panic!("VAR") };
    let StmtKind::Seq(parts) = &body.kind else { panic!("a sequence") };
    let StmtKind::BecomesSuch { targets, pred, .. } = &parts[1].kind else { panic!(":( )") };
    assert_eq!(targets[..], [Target::Local(locals[0])]);
    assert!(pred.any(&|e| matches!(e.kind, ExprKind::OldLocal(l) if l == locals[0])));

    let StmtKind::Let(defs, _) = &m.operations[4].body.kind else { panic!("LET") };
    let names: Vec<&str> = defs.iter().map(|(l, _)| &*m.local(*l).name).collect();
    assert_eq!(names, ["a", "c"]);
}

#[test]
fn tool_definitions_are_kept() {
    let m = model(
        "MACHINE M
DEFINITIONS
  GOAL == x = 3; ASSERT_LTL == \"G {x < 9}\"; scope_S == 1..4; scope_T == 3;
  SET_PREF_MAXINT == 2**4 - 1; SET_PREF_MININT == -5; SET_PREF_DEFAULT_SETSIZE == 6; SET_PREF_TIME_OUT == 99
SETS S; T
VARIABLES x INVARIANT x : NAT & (x < 9 & x /= 5) INITIALISATION x := 0
END",
    );
    assert!(m.goal.is_some());
    assert_eq!(m.ltl.len(), 1);
    let cards: Vec<u64> = m.scope.card.iter().map(|c| c.1).collect();
    assert_eq!(cards, [4, 3]);
    assert_eq!(m.scope.maxint, Some(15.into()));
    assert_eq!(m.scope.minint, Some((-5).into()));
    assert_eq!(m.scope.default_setsize, Some(6));
    assert_eq!(m.invariant.len(), 3);
}

#[test]
fn elements_of_deferred_sets_have_names_when_sizes_are_known() {
    let mut base = loaded(BASE);
    assert_eq!(type_of(&mut base, "S1"), "B0201: unknown identifier `S1`");
    if let Some(model) = &mut base.model {
        model.scope.sizes = vec![12, 3];
    }
    for (text, want) in [
        ("S1", "S"),
        ("S12", "S"),
        ("{S1, el}", "POW(S)"),
        ("S13", "B0201: unknown identifier `S13`"),
        ("S0", "B0201: unknown identifier `S0`"),
        ("S01", "B0201: unknown identifier `S01`"),
        ("S99999999999999999999", "B0201: unknown identifier `S99999999999999999999`"),
        // The elements of E have names of their own.
        ("E1", "B0201: unknown identifier `E1`"),
    ] {
        assert_eq!(type_of(&mut base, text), want, "{text}");
    }
}

#[test]
fn a_preference_that_is_misspelt_is_noticed() {
    let warned = |name: &str| -> Vec<String> {
        let text = format!("MACHINE M DEFINITIONS SET_PREF_{name} == 3 END");
        loaded(&text).diagnostics.into_iter().filter_map(|d| d.help).collect()
    };
    assert_eq!(warned("MINIT"), ["did you mean `SET_PREF_MININT`?"]);
    assert_eq!(warned("MAXOPERATIONS"), ["did you mean `SET_PREF_MAX_OPERATIONS`?"]);
    for name in ["MAXINT", "SYMBOLIC", "TK_CUSTOM_STATE_VIEW_PADDING"] {
        assert!(warned(name).is_empty(), "{name}");
    }
}

#[test]
fn an_interval_gives_a_deferred_set_its_size() {
    let size = |value: &str| {
        let loaded = load_text(
            "M.mch",
            &format!("MACHINE M SETS S CONSTANTS n PROPERTIES n = 4 VALUES S = {value} END"),
        );
        let messages: Vec<String> = loaded.diagnostics.iter().map(|d| d.message.clone()).collect();
        let model = loaded.model.ok_or(messages)?;
        let scope = crate::model::scope::scope(&model, &Default::default());
        scope.map(|(s, _)| s.card).map_err(|ds| ds.into_iter().map(|d| d.message).collect())
    };
    assert_eq!(size("2..4"), Ok(vec![3]));
    assert_eq!(size("-1..n"), Ok(vec![6]));
    let refused = "a value for the deferred set `S` that is no interval is not supported";
    assert_eq!(size("{1,2}"), Err(vec![refused.to_string()]));
    assert_eq!(size("3..2"), Err(vec!["the set `S` cannot have 0 elements (PROPERTIES)".to_string()]));
}

#[test]
fn what_is_not_supported_is_refused_by_name() {
    let mut base = loaded(BASE);
    for name in ["FLOAT", "RADD(i, i)"] {
        let word = name.split('(').next().unwrap_or(name);
        assert_eq!(type_of(&mut base, name), format!("B0401: `{word}` is not supported"), "{name}");
    }
    assert_eq!(type_of(&mut base, "(i = 1 || i = 2)"), "B0203: `||` does not join predicates");
}

#[test]
fn properties_speak_of_constants() {
    let text = "MACHINE M CONSTANTS c PROPERTIES c : NAT & c = x + 1 VARIABLES x INVARIANT x : NAT
        INITIALISATION x := 0 END";
    let loaded = load_text("M.mch", text);
    let codes: Vec<&str> = loaded.diagnostics.iter().map(|d| d.code).collect();
    assert_eq!((loaded.model.is_none(), codes), (true, vec!["B0220"]));
}

#[test]
fn what_was_not_understood_is_one_mistake() {
    let text = "MACHINE M VARIABLES x INVARIANT x : NAT & true INITIALISATION x := 0
        OPERATIONS op = PRE true THEN x := nothing END END";
    let loaded = load_text("M.mch", text);
    let all: Vec<String> = loaded.diagnostics.iter().map(|d| format!("{} {:?}", d.message, d.help)).collect();
    assert_eq!(
        all,
        ["unknown identifier `true` Some(\"did you mean `btrue`?\")", "unknown identifier `nothing` None"]
    );
}

#[test]
fn numbers_are_integers_or_reals() {
    check_types([
        ("1.5 + 2.5", "REAL"),
        ("-1.5 * 2.0", "REAL"),
        ("1.0 / 3.0 - 1.5", "REAL"),
        ("real(i) < 2.5", "predicate"),
        ("floor(1.5) + ceiling(real(i))", "INTEGER"),
        ("max({1.5, 2.5})", "REAL"),
        ("min({i})", "INTEGER"),
        ("SIGMA(x).(x : {1.5} | x + x)", "REAL"),
        ("SIGMA(x).(x : {i} | x + x)", "INTEGER"),
        ("{x | x : REAL & x < x + x}", "POW(REAL)"),
        // What is known later decides, and nothing but numbers is added.
        ("{x, y | x < y & y = 1.5}", "POW((REAL * REAL))"),
        ("{x, y | -x = y & y - x = y & y : REAL}", "POW((REAL * REAL))"),
        ("{x, y | x + y = x}", "POW((INTEGER * INTEGER))"),
        ("[1.5, 2.5]", "POW((INTEGER * REAL))"),
    ]);
}

const FREE: &str = "MACHINE Free SETS E = {e1, e2} FREETYPES
  T = leaf, num(INTEGER), node(T * T); U = none, some(E), many(FIN(T)), few(1..2)
VARIABLES t INVARIANT t : T INITIALISATION t := leaf END";

#[test]
fn constructors_have_types() {
    let mut base = loaded(FREE);
    for (text, ty) in [
        ("T", "POW(T)"),
        ("leaf", "T"),
        ("num", "POW((INTEGER * T))"),
        ("num(3)", "T"),
        ("node(t, num(1))", "T"),
        ("node(t |-> num(1))", "T"),
        ("node~(t)", "(T * T)"),
        ("num~", "POW((T * INTEGER))"),
        ("ran(some)", "POW(U)"),
        ("dom(some)", "POW(E)"),
        ("many({t})", "U"),
        ("few(3)", "U"),
        ("{x | x : ran(few)}", "POW(U)"),
        ("num(e1)", "B0203: type mismatch: expected INTEGER, found E"),
        ("some~(t)", "B0203: type mismatch: expected U, found T"),
        ("leaf(1)", "B0203: type mismatch: expected POW((? * ?)), found T"),
        ("leaf = none", "B0203: type mismatch: T = U compares different types"),
        // A bound variable hides a constructor.
        ("{num | num = 1}", "POW(INTEGER)"),
        ("{num | num = {1 |-> 2} & num(1) = 2}", "POW(POW((INTEGER * INTEGER)))"),
    ] {
        assert_eq!(type_of(&mut base, text), ty, "{text}");
    }
    let model = base.model.unwrap_or_default();
    let flags =
        |f: usize| (model.freetypes[f].ty.def().is_recursive, model.freetypes[f].ty.def().is_infinite);
    // That FIN(T) is infinite is true, and not looked for.
    assert_eq!((flags(0), flags(1)), ((true, true), (false, false)));
}

#[test]
fn freetypes_that_do_not_exist_are_refused() {
    for (clause, message) in [
        ("T = c(T)", "the freetype `T` has no values"),
        ("T = c(U); U = d(T), e(T * U)", "the freetype `T` has no values"),
        ("T = b, c(POW(T))", "the freetype `T` inside of itself at this place is not supported"),
        ("T = b, c(T <-> INTEGER)", "the freetype `T` inside of itself at this place is not supported"),
        ("T = b, c(T --> BOOL)", "the freetype `T` inside of itself at this place is not supported"),
        ("T = b, c({x | x : T})", "the freetype `T` inside of itself at this place is not supported"),
        ("T = b, c(U); U = d(POW(T))", "the freetype `U` inside of itself at this place is not supported"),
        ("T = b, c({})", "cannot infer the type of the constructor's argument"),
        ("T = b, c(1..k)", "a constant or variable in FREETYPES is not supported"),
        ("T = b, b(INTEGER)", "`b` is declared twice"),
        ("T = b, c(3)", "type mismatch: expected POW(?), found INTEGER"),
        ("T = b, c(T /\\ U); U = d", "`U` is used as a set of another type"),
    ] {
        let text = format!("MACHINE M FREETYPES {clause} CONSTANTS k PROPERTIES k : NAT END");
        let loaded = load_text("M.mch", &text);
        let found: Vec<&str> = loaded.diagnostics.iter().map(|d| &*d.message).collect();
        assert!(loaded.model.is_none() && found.contains(&message), "{clause}: {found:?}");
    }
    for clause in [
        "T = b, c(FIN(T) * seq(T))",
        "T = b, c(1..3 --> T)",
        "T = b, c(struct(p : T, q : INTEGER))",
        "T = b, c(U); U = d(POW(INTEGER)), e(T)",
    ] {
        model(&format!("MACHINE M FREETYPES {clause} END"));
    }
}
