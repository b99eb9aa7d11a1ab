//! The front-end on tables of texts: priorities, every construct, definitions, robustness.

use kanon::lang::ast::*;
use kanon::lang::b::{self, Definitions};
use kanon::lang::diag::{Diagnostic, SourceMap};
use kanon::lang::print;

fn expr(text: &str) -> Result<Expr, Vec<Diagnostic>> {
    b::parse_expr(&mut SourceMap::default(), "input", text, &Definitions::default())
}

fn machine(text: &str) -> Machine {
    let parsed = b::parse_text(&mut SourceMap::default(), "M.mch", text);
    parsed.machine.unwrap_or_else(|| panic!("{text}\n{:?}", parsed.diagnostics))
}

/// The code of the first error.
fn code(text: &str) -> &'static str {
    let parsed = b::parse_text(&mut SourceMap::default(), "M.mch", text);
    assert!(parsed.machine.is_none(), "accepted: {text}");
    parsed.diagnostics.first().map_or("none", |d| d.code)
}

/// Every operator in parentheses: shows how a text was grouped.
fn grouped(e: &Expr) -> String {
    match &e.kind {
        ExprKind::Binary(op, a, b) => format!("({} {} {})", grouped(a), print::operator(*op), grouped(b)),
        ExprKind::Unary(UnOp::Neg, a) => format!("(-{})", grouped(a)),
        ExprKind::Unary(UnOp::Inverse, a) => format!("({}~)", grouped(a)),
        ExprKind::Unary(UnOp::Not, a) => format!("not {}", grouped(a)),
        ExprKind::Apply(f, args) => {
            let args: Vec<String> = args.iter().map(grouped).collect();
            format!("{}({})", grouped(f), args.join(","))
        }
        ExprKind::Image(r, s) => format!("{}[{}]", grouped(r), grouped(s)),
        ExprKind::Field(r, f) => format!("{}'{}", grouped(r), f.name),
        _ => print::expr(e),
    }
}

#[test]
fn priorities_and_associativity() {
    for (text, expected) in [
        ("a & b or c & d", "(((a & b) or c) & d)"),
        ("a or b & c", "((a or b) & c)"),
        ("a => b => c", "((a => b) => c)"),
        ("a & b => c or d", "((a & b) => (c or d))"),
        ("a <=> b & c", "((a <=> b) & c)"),
        ("a <=> b <=> c", "((a <=> b) <=> c)"),
        ("a = b <=> c = d", "((a = b) <=> (c = d))"),
        ("x : S --> T & y", "((x : (S --> T)) & y)"),
        ("A --> B --> C", "((A --> B) --> C)"),
        ("A <-> B +-> C", "((A <-> B) +-> C)"),
        ("A --> B \\/ C", "(A --> (B \\/ C))"),
        ("a |-> b |-> c", "((a |-> b) |-> c)"),
        ("a \\/ b /\\ c", "((a \\/ b) /\\ c)"),
        ("a \\/ b |-> c", "((a \\/ b) |-> c)"),
        ("f <+ g <| h", "((f <+ g) <| h)"),
        ("1..2 \\/ 3..4", "((1 .. 2) \\/ (3 .. 4))"),
        ("1..n+1", "(1 .. (n + 1))"),
        ("a + b - c", "((a + b) - c)"),
        ("a - b * c", "(a - (b * c))"),
        ("a * b / c mod d", "(((a * b) / c) mod d)"),
        ("2 ** 3 ** 2", "(2 ** (3 ** 2))"),
        ("-2 ** 2", "((-2) ** 2)"),
        ("-a * b", "((-a) * b)"),
        ("a - -b", "(a - (-b))"),
        ("-f(x)", "(-f(x))"),
        ("f~(x)", "(f~)(x)"),
        ("f~[S]~", "((f~)[S]~)"),
        ("f(x)(y)[S]", "f(x)(y)[S]"),
        ("r'a'b(x)", "r'a'b(x)"),
        ("(f ; g)[S]", "(f ; g)[S]"),
        ("(f ; g || h)", "((f ; g) || h)"),
        ("(a, b, c)", "((a |-> b) |-> c)"),
        ("x /: S & y /<: T & z /<<: U", "(((x /: S) & (y /<: T)) & (z /<<: U))"),
        ("not(a) & b", "(not a & b)"),
        ("s ^ t <- e", "((s ^ t) <- e)"),
        ("e -> s /|\\ 2 \\|/ 1", "(((e -> s) /|\\ 2) \\|/ 1)"),
        ("a \\ b - c", "((a \\ b) - c)"),
        ("!x.(x : S => P) & Q", "(!(x).(x : S => P) & Q)"),
        ("S * T +-> U", "((S * T) +-> U)"),
        ("dom(f) <| g |> T |>> U", "(((dom(f) <| g) |> T) |>> U)"),
        ("a < b => c >= d", "((a < b) => (c >= d))"),
    ] {
        let e = expr(text).unwrap_or_else(|d| panic!("{text}: {d:?}"));
        assert_eq!(grouped(&e), expected, "{text}");
    }
}

#[test]
fn every_expression() {
    for (text, expected) in [
        ("x.y", "x.y"),
        ("x$0", "x$0"),
        ("`max`", "`max`"),
        ("0xFF + 10", "255 + 10"),
        ("123456789012345678901234567890", "123456789012345678901234567890"),
        ("1.5e-3", "1.5e-3"),
        (r#""a\"b\n""#, r#""a\"b\n""#),
        ("'''two\nlines'''", r#""two\nlines""#),
        ("```plain```", r#""plain""#),
        ("{}", "{}"),
        ("[]", "[]"),
        ("<>", "[]"),
        ("< >", "[]"),
        ("{a, b}", "{a, b}"),
        ("[a, b]", "[a, b]"),
        ("{x | x : S}", "{x | x : S}"),
        ("{x, y | x = y}", "{x, y | x = y}"),
        ("{(x, y) | x = y}", "{x, y | x = y}"),
        ("{x . x : S | x + 1}", "{x . x : S | x + 1}"),
        ("{x.x : S|x + 1}", "{x . x : S | x + 1}"),
        ("{(x, y).x : S|x + y}", "{x, y . x : S | x + y}"),
        ("{x·x : S∣x}", "{x . x : S | x}"),
        ("{a.b, c}", "{a.b, c}"),
        ("!x.(P)", "!(x).(P)"),
        ("!x, y.(P)", "!(x, y).(P)"),
        ("#(x, y).(P)", "#(x, y).(P)"),
        ("%x.(x : S | x)", "%(x).(x : S | x)"),
        ("%x, y.(P | x, y)", "%(x, y).(P | x |-> y)"),
        ("SIGMA x.(P | x)", "SIGMA(x).(P | x)"),
        ("PI(x).(P | x)", "PI(x).(P | x)"),
        ("UNION(x).(P | x)", "UNION(x).(P | x)"),
        ("INTER(x).(P | x)", "INTER(x).(P | x)"),
        ("rec(a : 1, b : 2)'a", "rec(a : 1, b : 2)'a"),
        ("struct(a : NAT, (b : BOOL))", "struct(a : NAT, b : BOOL)"),
        ("bool(x = 1)", "bool(x = 1)"),
        ("IF a THEN b ELSIF c THEN d ELSE e END", "IF a THEN b ELSE IF c THEN d ELSE e END END"),
        ("LET x, y BE x = 1 & y = 2 IN x + y END", "LET x, y BE x = 1 & y = 2 IN x + y END"),
        ("prj1(S, T)(x)", "prj1(S, T)(x)"),
        ("prj2(x |-> y)", "prj2(x |-> y)"),
        ("iterate(r, 3)", "iterate(r, 3)"),
        ("closure1(r ; s)", "closure1(r ; s)"),
        ("succ(3) + pred(4)", "succ(3) + pred(4)"),
        ("succ[S]", "succ[S]"),
        ("(succ)(3)", "(succ)(3)"),
        ("btrue & bfalse", "btrue & bfalse"),
        ("A <<-> B", "A <<-> B"),
        ("A <->> B", "A <->> B"),
        ("A <<->> B", "A <<->> B"),
        ("A >+>> B", "A >+>> B"),
        ("f >< g", "f >< g"),
        ("POW1(FIN(seq1(iseq(perm(S)))))", "POW1(FIN(seq1(iseq(perm(S)))))"),
        ("∀x·(x ∈ ℕ ∧ ¬(x ≠ 1) ⇒ x ≥ 0)", "!(x).(x : NATURAL & not(x /= 1) => x >= 0)"),
        ("∃(x, y).(x ↦ y ∉ r ∨ x ≤ y)", "#(x, y).(x |-> y /: r or x <= y)"),
        ("λx.(x∈ℤ ∣ x×2÷3−1)", "%(x).(x : INTEGER | x * 2 / 3 - 1)"),
        ("ℙ(S) ∪ ℙ1(T) ∩ ∅", "POW(S) \\/ POW1(T) /\\ {}"),
        ("A ↔ B", "A <-> B"),
        ("(A ⇸ B) ∖ (A → B)", "(A +-> B) \\ (A --> B)"),
        (
            "(A ⤔ B, A ↣ B, A ⤀ B, A ↠ B, A ⤖ B)",
            "(A >+> B) |-> (A >-> B) |-> (A +->> B) |-> (A -->> B) |-> (A >->> B)",
        ),
        ("S ◁ r ⩤ t ▷ u ⩥ v ⊗ w", "S <| r <<| t |> u |>> v >< w"),
        ("S ⊇ T ⇔ T ⊆ S", "T <: S <=> T <: S"),
        ("f∼(1‥2)", "f~(1 .. 2)"),
        ("g ∘ f", "(f ; g)"),
        ("ℕ₁ ∪ ℕ1", "NATURAL1 \\/ NATURAL1"),
        ("/* c */ x // rest\n + /*@desc d */ 1", "x + 1"),
        ("/*@symbolic*/ {x | x > 0}", "{x | x > 0}"),
        ("(((x)))", "x"),
        ("f(x = 1, {y | y > 2})", "f(x = 1, {y | y > 2})"),
    ] {
        let e = expr(text).unwrap_or_else(|d| panic!("{text}: {d:?}"));
        assert_eq!(print::expr(&e), expected, "{text}");
    }
}

#[test]
fn wrong_expressions() {
    for (text, expected) in [
        ("", "B0101"),
        ("a +", "B0101"),
        ("(a", "B0101"),
        ("a)", "B0101"),
        ("1 < x < 3", "B0101"),
        ("not x", "B0101"),
        ("!x.x > 1", "B0101"),
        ("a == b", "B0101"),
        ("a != b", "B0102"),
        ("a && b", "B0102"),
        ("a ? b", "B0102"),
        ("card()", "B0101"),
        ("card(a, b)", "B0101"),
        ("max(1, 2)", "B0101"),
        ("\"open", "B0104"),
        ("'''open", "B0104"),
        ("/* open", "B0103"),
        ("```${x}```", "B0401"),
        ("rec(1, 2)", "B0101"),
        ("#max.(P)", "B0108"),
        ("IF a THEN b END", "B0101"),
        ("[x := 1] P", "B0402"),
    ] {
        let found = expr(text).map(|e| print::expr(&e)).map_err(|d| d[0].code);
        assert_eq!(found, Err(expected), "{text}");
    }
}

fn body(text: &str) -> Result<String, Vec<Diagnostic>> {
    let text = format!("MACHINE M OPERATIONS o = BEGIN {text} END END");
    let parsed = b::parse_text(&mut SourceMap::default(), "M.mch", &text);
    match parsed.machine.map(|m| m.operations) {
        Some(ops) => match &ops[0].body.kind {
            SubstKind::Block(s) => Ok(print::subst(s).split_whitespace().collect::<Vec<_>>().join(" ")),
            other => panic!("{other:?}"),
        },
        None => Err(parsed.diagnostics),
    }
}

#[test]
fn every_substitution() {
    for text in [
        "skip",
        "x := 1",
        "x, f(y), r'a := 1, 2, 3",
        "f(x)(y) := 1",
        "x :: S",
        "x, y :: S * T",
        "x, y :(x > y$0)",
        "PRE P THEN skip END",
        "ASSERT P THEN skip END",
        "SELECT P THEN a := 1 WHEN Q THEN a := 2 ELSE skip END",
        "CHOICE a := 1 OR a := 2 END",
        "IF P THEN a := 1 ELSIF Q THEN a := 2 ELSE a := 3 END",
        "IF P THEN a := 1 END",
        "CASE x + 1 OF EITHER 1, 2 THEN a := 1 OR 3 THEN a := 2 ELSE skip END END",
        "ANY x, y WHERE x > y THEN a := x END",
        "LET x BE x = 1 IN a := x END",
        "VAR x IN x := 1 ; a := x END",
        "BEGIN a := 1 END",
        "a := 1 ; b := 2 ; c := 3",
        "a := 1 || b := 2 || c := 3",
        "a := 1 || b := 2 ; c := 3",
        "WHILE x > 0 DO x := x - 1 INVARIANT x >= 0 VARIANT x END",
        "op",
        "op(1, 2)",
        "p.op(1)",
        "r <-- op",
        "r, s <-- p.op(1, x)",
        "x := (f ; g)",
    ] {
        assert_eq!(body(text).as_deref(), Ok(text));
    }
    assert_eq!(body("x :∈ S ; y ≔ 2 ; z :∣ z > z$0").as_deref(), Ok("x :: S ; y := 2 ; z :(z > z$0)"));
}

#[test]
fn clauses_in_any_order() {
    let m = machine(
        "REFINEMENT R(S, n) OPERATIONS r1, r2 <-- op(a, b) = skip; p.q = skip
         VARIABLES x, y CONCRETE_VARIABLES z INVARIANT x = 1 & y = 2 REFINES A
         SEES B, p.C USES D INCLUDES E, q.F(1, S) EXTENDS G IMPORTS H PROMOTES g, p.h
         SETS T; U = {u1, u2} CONSTANTS c ABSTRACT_CONSTANTS d PROPERTIES c = d
         VALUES c = 1; T = 0..3 ASSERTIONS x > 0; y > 0 INITIALIZATION x := 1; y := 2
         LOCAL_OPERATIONS l = skip CONSTRAINTS n > 0 END",
    );
    assert_eq!(m.kind, MachineKind::Refinement);
    assert_eq!(m.params.len(), 2);
    assert_eq!(m.operations.len(), 2);
    assert_eq!(&*m.operations[1].name.name, "p.q");
    assert_eq!(m.operations[0].results.len(), 2);
    assert_eq!(&*m.sees[1].name, "p.C");
    assert_eq!(m.includes[1].prefix.as_deref(), Some("q"));
    assert_eq!(&*m.includes[1].name.name, "F");
    assert_eq!(m.includes[1].args.len(), 2);
    assert_eq!(m.sets[1].elements.as_ref().map(Vec::len), Some(2));
    assert_eq!((m.values.len(), m.assertions.len(), m.local_operations.len()), (2, 2, 1));
    assert!(matches!(m.initialisation.map(|s| s.kind), Some(SubstKind::Seq(parts)) if parts.len() == 2));
    for head in ["MACHINE", "MODEL", "SYSTEM"] {
        assert_eq!(machine(&format!("{head} M END")).kind, MachineKind::Machine);
    }
    assert_eq!(machine("IMPLEMENTATION M REFINES A END").kind, MachineKind::Implementation);
}

#[test]
fn unsupported_clauses_are_kept_with_their_place() {
    let m = machine("MACHINE M REFERENCES A, B CONSTANTS x END");
    assert_eq!(m.unsupported.len(), 1);
    assert_eq!(m.unsupported[0].0.lo, 10);
    assert_eq!(m.constants.len(), 1);
}

#[test]
fn freetypes() {
    let m = machine("MACHINE M FREETYPES T = a, b(INTEGER * T); U = c CONSTANTS x END");
    let cases = |i: usize| m.freetypes[i].cases.iter().map(|(c, e)| (&*c.name, e.as_ref().map(print::expr)));
    assert_eq!(cases(0).collect::<Vec<_>>(), [("a", None), ("b", Some("INTEGER * T".into()))]);
    assert_eq!(cases(1).collect::<Vec<_>>(), [("c", None)]);
    assert_eq!((m.constants.len(), m.unsupported.len()), (1, 0));
}

#[test]
fn named_expressions_and_predicates() {
    let m = machine(
        "MACHINE M EXPRESSIONS two == 1 + 1; more(x) == x + two PREDICATES small(x) == x < two
         VARIABLES v INVARIANT v : NAT & (small(v) or v = more(3)) INITIALISATION v := two END",
    );
    assert!(m.unsupported.is_empty());
    let invariant = m.invariant.as_ref().map(print::expr);
    assert_eq!(invariant.as_deref(), Some("v : NAT & (v < 1 + 1 or v = 3 + (1 + 1))"));
}

#[test]
fn wrong_machines() {
    for (text, expected) in [
        ("", "B0101"),
        ("hello", "B0101"),
        ("MACHINE", "B0101"),
        ("MACHINE M", "B0107"),
        ("MACHINE M END END", "B0101"),
        ("MACHINE M VARIABLES x VARIABLES y END", "B0110"),
        ("MACHINE M INVARIENT x = 1 END", "B0109"),
        ("MACHINE M VARIABLES card END", "B0108"),
        ("MACHINE M VARIABLES x INVARIANT x : NAT END", "B0120"),
        ("MACHINE M SETS S, T END", "B0101"),
        ("MACHINE M OPERATIONS o = skip; END", "B0101"),
        ("MACHINE M OPERATIONS o = BEGIN skip; END END", "B0101"),
        ("MACHINE M OPERATIONS o = skip p = skip END", "B0101"),
        ("MACHINE M OPERATIONS o = BEGIN x = 1 END END", "B0101"),
        ("MACHINE M OPERATIONS o = BEGIN x := 1 END", "B0107"),
        ("MACHINE M DEFINITIONS A = 1 END", "B0101"),
        ("MACHINE M DEFINITIONS A == 1; A == 2 END", "B0118"),
        ("MACHINE M DEFINITIONS A == B; B == A END", "B0111"),
        ("MACHINE M DEFINITIONS \"no such file.def\" END", "B0114"),
        ("MACHINE M DEFINITIONS \"SCCS.def\" END", "B0405"),
        ("MACHINE M DEFINITIONS \"LibraryRandom.def\" INVARIANT RANDOM(1,2) = 1 END", "B0405"),
        ("MACHINE M DEFINITIONS F(x) == 0; EXTERNAL_FUNCTION_F == INTEGER INVARIANT F(1) = 1 END", "B0406"),
        ("MACHINE M DEFINITIONS F(x) == x INVARIANT F = 1 END", "B0113"),
        ("MACHINE M DEFINITIONS F(x) == x INVARIANT F(1, 2) = 1 END", "B0113"),
        ("MACHINE M DEFINITIONS F == x := 1 INVARIANT F = 1 END", "B0116"),
        ("MACHINE M DEFINITIONS F == x + 1 INITIALISATION F END", "B0116"),
        ("MACHINE M DEFINITIONS F(v) == #v.(v = 1) INVARIANT F(3) END", "B0116"),
    ] {
        assert_eq!(code(text), expected, "{text}");
    }
}

#[test]
fn several_errors_at_once() {
    let text = "MACHINE M
        CONSTANTS c, max
        PROPERTIES c = & c > 1 & c == 2 & (c < 3
        INVARIANT x = 1 &
        OPERATIONS o = x = 1; p = skip; q = BEGIN r := END; s = skip
        END";
    let parsed = b::parse_text(&mut SourceMap::default(), "M.mch", text);
    let codes: Vec<&str> = parsed.diagnostics.iter().map(|d| d.code).collect();
    assert_eq!(codes, ["B0108", "B0101", "B0101", "B0101", "B0101", "B0101", "B0101"]);
}

fn invariant(definitions: &str, text: &str) -> String {
    let m = machine(&format!("MACHINE M DEFINITIONS {definitions} INVARIANT {text} END"));
    m.invariant.as_ref().map(print::expr).unwrap_or_default()
}

#[test]
fn definitions_are_trees() {
    for (definitions, text, expected) in [
        ("A == 1 + 2", "x = A * 3", "x = (1 + 2) * 3"),
        ("F(x) == x * 2", "F(1 + 2) = y", "(1 + 2) * 2 = y"),
        ("P == a or b;", "c & P", "c & (a or b)"),
        ("F(a, b) == b - a; G(x) == F(x, 1)", "G(y) = 0", "1 - y = 0"),
        ("G(x) == F(x); F(x) == x", "G(1) = 1", "1 = 1"),
        ("R == (f ; g)", "R(1) = 2", "(f ; g)(1) = 2"),
        ("V == y", "#V.(V = 1)", "#(V).(V = 1)"),
        ("E(v, p) == #v.(v : S & p)", "E(z, z > 1)", "#(z).(z : S & z > 1)"),
        ("L(v) == SIGMA(v).(v : S | v)", "L((a, b)) = 1", "SIGMA(a, b).(a |-> b : S | a |-> b) = 1"),
        ("x == 5; F(x) == x + 1", "F(2) = x", "2 + 1 = 5"),
        ("F(x) == x; A == F(F(F(1)))", "A = 1", "1 = 1"),
        ("IFT(p) == IF p THEN 1 ELSE 2 END", "IFT(TRUE = TRUE) = 1", "IF TRUE = TRUE THEN 1 ELSE 2 END = 1"),
        ("\"LibraryIO.def\"", "printf(\"x ~w\", [y]) & z", "btrue & z"),
        ("\"LibraryIO.def\"; U == TO_STRING(1)", "vprintf(\"x\", y) = 1", "y = 1"),
        ("ab == a, b", "ab : S", "a |-> b : S"),
    ] {
        assert_eq!(invariant(definitions, text), expected, "{definitions} / {text}");
    }
}

#[test]
fn captured_names_are_warned_of() {
    let text = "MACHINE M DEFINITIONS D(x) == #y.(y = x); E(x) == D(x) INVARIANT D(y) & E(z) END";
    let parsed = b::parse_text(&mut SourceMap::default(), "M.mch", text);
    let m = parsed.machine.unwrap();
    assert_eq!(m.invariant.as_ref().map(print::expr).as_deref(), Some("#(y).(y = y) & #(y).(y = z)"));
    let codes: Vec<&str> = parsed.diagnostics.iter().map(|d| d.code).collect();
    assert_eq!(codes, ["B0119"]);
}

#[test]
fn definitions_of_substitutions() {
    let m = machine(
        "MACHINE M DEFINITIONS set(v, e) == v := e; two == BEGIN set(x, 1); set(y, 2) END;
           loop == WHILE x > 0 DO x := x - 1 INVARIANT x >= 0 VARIANT x END; now == other(1); target == f(x)
         OPERATIONS a = two; b = set(z, x + 1); c = loop; d = now; e = target := 3 END",
    );
    let bodies: Vec<String> = m
        .operations
        .iter()
        .map(|o| print::subst(&o.body).split_whitespace().collect::<Vec<_>>().join(" "))
        .collect();
    assert_eq!(bodies[0], "BEGIN x := 1 ; y := 2 END");
    assert_eq!(bodies[1], "z := x + 1");
    assert!(bodies[2].starts_with("WHILE"));
    assert_eq!(bodies[3], "other(1)");
    assert_eq!(bodies[4], "f(x) := 3");
}

#[test]
fn tool_definitions_are_kept() {
    let m = machine(
        "MACHINE M DEFINITIONS N == 3; GOAL == x = N; scope_S == 1..N; SET_PREF_MAXINT == N;
           ASSERT_LTL_1 == \"G {x > 1}\"; ANIMATION_FUNCTION == {}; Other == 1; scope_P(x) == x END",
    );
    let kept: Vec<(&str, String)> =
        m.tool_definitions.iter().map(|(n, e)| (&*n.name, print::expr(e))).collect();
    assert_eq!(
        kept,
        [
            ("GOAL", "x = 3".to_string()),
            ("scope_S", "1 .. 3".to_string()),
            ("SET_PREF_MAXINT", "3".to_string()),
            ("ASSERT_LTL_1", "\"G {x > 1}\"".to_string()),
        ]
    );
}

#[test]
fn expressions_use_the_definitions_of_a_machine() {
    let mut sources = SourceMap::default();
    let parsed = b::parse_text(&mut sources, "M.mch", "MACHINE M DEFINITIONS twice(x) == 2 * x; N == 3 END");
    let e = b::parse_expr(&mut sources, "input", "twice(N) = 6", &parsed.definitions);
    assert_eq!(e.map(|e| print::expr(&e)).ok().as_deref(), Some("2 * 3 = 6"));
    let wrong = b::parse_expr(&mut sources, "input", "twice(1, 2)", &parsed.definitions);
    assert_eq!(wrong.err().map(|d| d[0].code), Some("B0113"));
    let names: Vec<(&str, usize)> = parsed.definitions.names().map(|(n, k)| (&**n, k)).collect();
    assert_eq!(names, [("twice", 1), ("N", 0)]);
}

#[test]
fn definition_files() {
    let dir = std::env::temp_dir().join(format!("kanon-parser-{}", std::process::id()));
    std::fs::create_dir_all(dir.join("sub")).unwrap();
    let write = |name: &str, text: &str| std::fs::write(dir.join(name), text).unwrap();
    write("M.mch", "MACHINE M DEFINITIONS \"sub/a.def\"; \"b.def\"; own == 1 INVARIANT x = a + b + own END");
    write("sub/a.def", "DEFINITIONS \"c.def\"; a == c;");
    write("sub/c.def", "DEFINITIONS c == 3");
    write("b.def", "DEFINITIONS b == 2; own == 7");
    write("circle.mch", "MACHINE circle DEFINITIONS \"x.def\" END");
    write("x.def", "DEFINITIONS \"y.def\"");
    write("y.def", "DEFINITIONS \"x.def\"");
    write("bad.mch", "MACHINE bad DEFINITIONS \"bad.def\" END");
    write("bad.def", "DEFINITIONS b == +");
    let parse = |name: &str| b::parse_machine(&mut SourceMap::default(), &dir.join(name));
    let m = parse("M.mch").machine.unwrap();
    assert_eq!(m.invariant.as_ref().map(print::expr).as_deref(), Some("x = 3 + 2 + 1"));
    assert_eq!(parse("circle.mch").diagnostics[0].code, "B0115");
    let bad = parse("bad.mch");
    assert_eq!((bad.diagnostics[0].code, bad.diagnostics[0].notes.len()), ("B0101", 1));
    assert_eq!(parse("none.mch").diagnostics[0].code, "B0100");
    std::fs::remove_dir_all(&dir).unwrap();
}

#[test]
fn expansion_is_bounded() {
    let mut text = String::from("MACHINE M DEFINITIONS d0 == x + x;\n");
    for i in 1..60 {
        text += &format!("d{i} == d{} + d{};\n", i - 1, i - 1);
    }
    text += "INVARIANT d59 = 0 END";
    assert_eq!(code(&text), "B0112");

    // Arguments double too.
    let call = (0..40).fold("x".to_string(), |inner, _| format!("f({inner})"));
    assert_eq!(code(&format!("MACHINE M DEFINITIONS f(x) == x + x INVARIANT {call} = 0 END")), "B0112");

    // A long chain of definitions is a deep tree.
    let mut text = String::from("MACHINE M DEFINITIONS d0 == x;\n");
    for i in 1..5000 {
        text += &format!("d{i} == 1 - d{};\n", i - 1);
    }
    text += "INVARIANT d4999 = 0 END";
    assert_eq!(code(&text), "B0106");
}

#[test]
fn deep_nesting_is_a_clean_error() {
    let n = 10_000;
    for (open, inner, close) in [
        ("(", "x", ")"),
        ("-", "x", ""),
        ("{", "x", "}"),
        ("f(", "x", ")"),
        ("not(", "x", ")"),
        ("!x.(", "x", ")"),
        ("bool(", "x", ")"),
        ("IF x THEN x ELSE ", "x", " END"),
        ("1 ** ", "x", ""),
        ("x = 1 <=> (", "x", ")"),
        ("{x.", "x", "|x}"),
        ("((((x))(", "x", ")))"),
    ] {
        let text = format!("{}{inner}{}", open.repeat(n), close.repeat(n));
        assert_eq!(expr(&text).map_err(|d| d[0].code).err(), Some("B0106"), "{open}");
        // Never closed: as clean.
        assert!(expr(&open.repeat(n)).is_err());
    }
    let blocks = format!("MACHINE M INITIALISATION {} skip {} END", "BEGIN ".repeat(n), "END ".repeat(n));
    assert_eq!(code(&blocks), "B0106");
}

#[test]
fn long_chains_are_no_deep_trees() {
    let n = 100_000;
    for (op, fine) in
        [("&", true), ("or", true), ("\\/", true), ("+", true), ("^", true), ("-", false), ("=>", false)]
    {
        let text = vec!["x"; n].join(&format!(" {op} "));
        let result = expr(&text).map(drop).map_err(|d| d[0].code);
        assert_eq!(result, if fine { Ok(()) } else { Err("B0106") }, "{op}");
    }
    let postfix = format!("f{}", "~".repeat(n));
    assert_eq!(expr(&postfix).map(drop).map_err(|d| d[0].code), Err("B0106"));
    let pairs = format!("({})", vec!["x"; n].join(","));
    assert_eq!(expr(&pairs).map(drop).map_err(|d| d[0].code), Err("B0106"));
}

#[test]
fn a_file_of_ten_megabytes() {
    let mut text = String::from("MACHINE Big VARIABLES x INVARIANT x : NAT\n");
    while text.len() < 10_000_000 {
        text += "  & (x > 0 => f(x) : {1, 2, 3} \\/ ran(g) & \"abc\" /= h'a(2))\n";
    }
    text += "INITIALISATION x := 0 END";
    let start = std::time::Instant::now();
    let m = machine(&text);
    drop(m);
    assert!(start.elapsed().as_secs() < 30, "{:?}", start.elapsed());
}

#[test]
fn noise_neither_panics_nor_hangs() {
    let words = [
        "MACHINE",
        "M",
        "END",
        "(",
        ")",
        "{",
        "}",
        "[",
        "]",
        "BEGIN",
        "IF",
        "THEN",
        "ELSE",
        "x",
        "1",
        "=",
        ":=",
        "&",
        ";",
        "||",
        "|",
        ".",
        ",",
        "!",
        "#",
        "%",
        "DEFINITIONS",
        "==",
        "OPERATIONS",
        "INVARIANT",
        "VARIABLES",
        "SETS",
        "CASE",
        "OF",
        "EITHER",
        "WHILE",
        "DO",
        "~",
        "'",
        "\"a\"",
        "rec",
        "<--",
        "LET",
        "BE",
        "IN",
        "SELECT",
        "WHEN",
        "/*",
        "*/",
        "$0",
        "-",
        "`q`",
        "'''",
        "\u{fffd}",
        "é",
    ];
    // A fixed linear congruence: the same noise every time.
    let mut state = 12345u64;
    let mut next = |n: usize| {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 33) as usize % n
    };
    for _ in 0..3000 {
        let n = next(60);
        let text: Vec<&str> = (0..n).map(|_| words[next(words.len())]).collect();
        let text = format!("{}{}", if next(2) == 0 { "MACHINE M " } else { "" }, text.join(" "));
        let parsed = b::parse_text(&mut SourceMap::default(), "noise", &text);
        assert_eq!(parsed.machine.is_none(), parsed.diagnostics.iter().any(Diagnostic::is_error), "{text}");
    }
}

#[test]
fn bytes_that_are_no_text() {
    let dir = std::env::temp_dir().join(format!("kanon-bytes-{}", std::process::id()));
    std::fs::create_dir_all(&dir).unwrap();
    let parse = |bytes: &[u8]| {
        let path = dir.join("m.mch");
        std::fs::write(&path, bytes).unwrap();
        b::parse_machine(&mut SourceMap::default(), &path)
    };
    assert!(parse(b"MACHINE M /* caf\xe9 */ END").machine.is_some());
    assert!(parse(b"MACHINE M // caf\xe9\r\nCONSTANTS x\r\nEND\r\n").machine.is_some());
    assert_eq!(parse(b"MACHINE caf\xe9 END").diagnostics[0].code, "B0105");
    assert_eq!(parse(b"MACHINE M ASSERTIONS \"\xe9\" = x END").diagnostics[0].code, "B0105");
    assert!(parse(&[0, 159, 146, 150, 255, 10, 0]).machine.is_none());
    assert!(parse("\u{feff}MACHINE M END".as_bytes()).machine.is_some());
    std::fs::remove_dir_all(&dir).unwrap();
}
