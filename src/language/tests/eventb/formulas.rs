//! Formulas: what they mean in both spellings, what needs parentheses, what is wrong and where.

use super::compare::canonical;
use kanon_language::lang::ast::Expr;
use kanon_language::lang::diag::{Diagnostic, FileId};
use kanon_language::lang::eventb::math::lex::At;
use kanon_language::lang::eventb::math::parse::{action, expression, predicate};
use kanon_language::lang::eventb::math::write::{self, For};
use kanon_language::lang::print;
use kanon_language::lang::stack::with_large_stack;

const HERE: At<'static> = At::File(FileId(0), 0);

fn parse(text: &str) -> Result<Expr, Box<Diagnostic>> {
    expression(text, HERE)
        .or_else(|e| predicate(text, HERE).map_err(|p| if p.span.lo > e.span.lo { p } else { e }))
}

/// A formula in the notation of classical B, in which everything has its parentheses.
fn read(text: &str) -> String {
    match parse(text) {
        Ok(e) => print::expr(&e),
        Err(e) => format!("{} {}: {}", e.code, e.span.lo, e.message),
    }
}

#[test]
fn both_spellings_mean_the_same() {
    for (unicode, ascii) in [
        ("a = b ∧ b = c", "a = b & b = c"),
        ("x = 1 ∨ y = 2", "x = 1 or y = 2"),
        ("x = 1 ⇒ y = 2", "x = 1 => y = 2"),
        ("x = 1 ⇔ ¬ y = 2", "x = 1 <=> not y = 2"),
        ("∀x·x ∈ S ⇒ x ∉ T", "!x.x : S => x /: T"),
        ("∃x,y·x ↦ y ∈ r", "#x,y.x |-> y : r"),
        ("A ⊆ B ∧ A ⊈ C ∧ A ⊂ D ∧ A ⊄ E", "A <: B & A /<: C & A <<: D & A /<<: E"),
        ("x ≤ y ∧ x ≥ z ∧ x ≠ 3", "x <= y & x >= z & x /= 3"),
        ("A ∪ B", "A \\/ B"),
        ("A ∩ B ∖ C", "A /\\ B \\ C"),
        ("A × B × C", "A ** B ** C"),
        ("f ∈ A ⇸ B", "f : A +-> B"),
        ("f ∈ A → B", "f : A --> B"),
        ("f ∈ A ⤔ B", "f : A >+> B"),
        ("f ∈ A ↣ B", "f : A >-> B"),
        ("f ∈ A ⤀ B", "f : A +>> B"),
        ("f ∈ A ↠ B", "f : A ->> B"),
        ("f ∈ A ⤖ B", "f : A >->> B"),
        ("r ∈ A ↔ B", "r : A <-> B"),
        ("r ∈ A \u{e100} B", "r : A <<-> B"),
        ("r ∈ A \u{e101} B", "r : A <->> B"),
        ("r ∈ A \u{e102} B", "r : A <<->> B"),
        ("S ◁ r ▷ T", "S <| r |> T"),
        ("S ⩤ r ⩥ T", "S <<| r |>> T"),
        ("r \u{e103} {x ↦ y}", "r <+ {x |-> y}"),
        ("r ⊗ s", "r >< s"),
        ("r ∥ s", "r || s"),
        ("r ∘ s", "r circ s"),
        ("r∼[S]", "r~[S]"),
        ("(λx·x ∈ 1‥3 ∣ x ∗ 2)", "(%x.x : 1..3 | x * 2)"),
        ("{x·x ∈ ℕ ∣ x − 1}", "{x.x : NAT | x - 1}"),
        ("⋃x·x ∈ S ∣ f(x)", "UNION x.x : S | f(x)"),
        ("⋂x ∣ x ∈ S", "INTER x | x : S"),
        ("ℙ(ℤ) = ℙ1(ℕ1)", "POW(INT) = POW1(NAT1)"),
        ("x ÷ 2 mod 3", "x / 2 mod 3"),
        ("∅ ⦂ ℙ(S)", "{} oftype POW(S)"),
        ("⊤ ∧ ⊥", "true & false"),
    ] {
        let (a, b) = (parse(unicode), parse(ascii));
        match (a, b) {
            (Ok(a), Ok(b)) => assert_eq!(canonical(&a), canonical(&b), "{unicode}"),
            (a, b) => panic!("{unicode}: {a:?}\n{ascii}: {b:?}"),
        }
    }
}

#[test]
fn operators_bind_as_in_the_kernel_language() {
    for (text, meaning) in [
        ("a + b ∗ c", "a+(b*c)"),
        ("a − b − c", "(a-b)-c"),
        ("−a ∗ b", "-(a*b)"),
        ("−a + b", "-a+b"),
        ("−3", "-3"),
        ("−(3)", "-(3)"),
        ("a ∗ b ^ c", "a*(b**c)"),
        ("a ÷ b ∗ c mod d", "((a/b)*c) mod d"),
        ("1‥n + 1", "1..(n+1)"),
        ("a ↦ b ↦ c", "(a|->b)|->c"),
        ("a ↦ b ∪ c", "a|->(b\\/c)"),
        ("A ∪ B ↔ C", "(A\\/B)<->C"),
        ("x ∈ A ∪ B", "x:(A\\/B)"),
        ("S ◁ f ; g", "(S<|f);g"),
        ("f∼(x)", "(f~)(x)"),
        ("f(x)(y)", "(f(x))(y)"),
        ("¬ x = y ∧ z = u", "(not(x=y))&(z=u)"),
        ("x = y ∧ z = u ⇒ v = w", "((x=y)&(z=u))=>(v=w)"),
        ("∀x·x = 1 ⇒ (∃y·y = x)", "!x.((x=1)=>(#y.(y=x)))"),
        ("r ∘ s", "(s;r)"),
        ("prj1(x ↦ y)", "prj1(x|->y)"),
        ("{x ↦ y ∣ x < y}", "{x,y|x<y}"),
        ("{x + y ∣ x < y}", "{x,y.x<y|x+y}"),
        ("λx ↦ y·x < y ∣ x + y", "%(x,y).(x<y|x+y)"),
        ("λx ↦ (y ↦ z)·x < y ∣ z", "{x,y,z.x<y|(x|->(y|->z))|->z}"),
        ("bool(x = 1)", "bool(x=1)"),
        ("finite(S)", "S:FIN(S)"),
        ("partition(S, {a}, {b}, T)", ""),
        ("COND(x = 1, 2, 3)", "IF x=1 THEN 2 ELSE 3 END"),
    ] {
        let found = read(text);
        let e = parse(text).unwrap_or_else(|e| panic!("{text}: {}", e.message));
        let plain = |s: &str| s.replace([' ', '(', ')'], "");
        if !meaning.is_empty() {
            assert_eq!(plain(&found), plain(meaning), "{text}: {found}");
        }
        // The fully bracketed reading is told by reading it back from the least brackets.
        let written = write::formula(&e, For::Rodin).unwrap_or_else(|e| panic!("{text}: {e}"));
        assert_eq!(parse(&written).map(|e| canonical(&e)).ok(), Some(canonical(&e)), "{text} as {written}");
    }
}

#[test]
fn trees_are_what_they_should_be() {
    // Parentheses that change nothing in the tree.
    for (plain, explicit) in [
        ("a + b ∗ c", "a + (b ∗ c)"),
        ("a − b − c", "(a − b) − c"),
        ("−a ∗ b", "−(a ∗ b)"),
        ("1‥n + 1", "1‥(n + 1)"),
        ("a ↦ b ↦ c", "(a ↦ b) ↦ c"),
        ("a ↦ b ↔ c", "a ↦ (b ↔ c)"),
        ("A ∪ B → C ∖ D", "(A ∪ B) → (C ∖ D)"),
        ("S ◁ f ; g", "(S ◁ f) ; g"),
        ("A ∩ B ∖ C", "(A ∩ B) ∖ C"),
        ("a ⦂ S × T", "a ⦂ (S × T)"),
        ("a ↔ b ⦂ T", "(a ↔ b) ⦂ T"),
        ("¬ x = y ∧ z = u", "(¬ (x = y)) ∧ (z = u)"),
        ("∀x·x = 1 ⇒ x = 2", "∀x·(x = 1 ⇒ x = 2)"),
        ("a ∗ b ^ c", "a ∗ (b ^ c)"),
    ] {
        let (a, b) = (parse(plain), parse(explicit));
        assert_eq!(a.map(|e| canonical(&e)).ok(), b.map(|e| canonical(&e)).ok(), "{plain}");
    }
    // And some that do.
    for (a, b) in
        [("a − b − c", "a − (b − c)"), ("a ↦ b ↦ c", "a ↦ (b ↦ c)"), ("−(3)", "−3"), ("−a + b", "−(a + b)")]
    {
        assert_ne!(parse(a).map(|e| canonical(&e)).ok(), parse(b).map(|e| canonical(&e)).ok(), "{a}");
    }
}

#[test]
fn what_is_wrong_has_its_place_and_a_way_out() {
    // The place is marked.
    for (marked, code, words) in [
        ("x = 1 ∧ y = 2 ‸∨ z = 3", "B0102", "`∧` and `∨` beside each other need parentheses"),
        ("‸a ⇒ b ⇒ c", "B0102", "expected a predicate, found an expression"),
        ("x=1 ⇒ y=1 ‸⇒ z=1", "B0102", "`⇒` and `⇒` beside each other"),
        ("x = A ∪ B ‸∩ C", "B0102", "`∪` and `∩` beside each other"),
        ("x = A → B ‸→ C", "B0102", "`→` and `→` beside each other"),
        ("x = a ^ b ‸^ c", "B0102", "beside each other"),
        ("x = a ∗ ‸−b", "B0102", "a negative number needs parentheses"),
        ("x = 1 ∧ ‸∀y·y = 2", "B0102", "a quantifier needs parentheses"),
        ("f = ‸λx·x = 1 ∣ x", "B0102", "needs parentheses"),
        ("f(x‸, y) = 1", "B0102", "a function has one argument"),
        ("{x, y ‸∣ x = y} = S", "B0102", "a list of names is followed by"),
        ("{‸1 ∣ x = y} = S", "B0102", "this binds no name"),
        ("∀x,‸x·x = 1", "B0202", "`x` is bound twice"),
        ("x =‸", "B0102", "expected a formula, found the end of the formula"),
        ("(x = 1‸", "B0102", "expected `)`, found the end"),
        ("x = 1‸)", "B0102", "expected an operator or the end"),
        ("x = ‸$y", "B0101", "`$` is not part of the language"),
        ("x'‸' = 1", "B0101", "a prime stands right behind"),
        ("card ‸S = 1", "B0102", "expected `(`"),
        ("∃‸1·x = 1", "B0102", "expected a name"),
        ("‸x + 1", "B0102", "expected a predicate, found an expression"),
        ("1 + ‸(x = 1) = 2", "B0102", "expected an expression, found a predicate"),
    ] {
        let (at, text) = (marked.find('‸'), marked.replace('‸', ""));
        let e = predicate(&text, HERE).expect_err(marked);
        // A formula in parentheses has its place inside them.
        let lo = text.get(..e.span.lo as usize).map(|t| t.strip_suffix('(').map_or(t.len(), str::len));
        let lo =
            if text[at.unwrap_or_default()..].starts_with("(x = 1)") { lo } else { Some(e.span.lo as usize) };
        assert_eq!((e.code, lo), (code, at), "{marked}: {}", e.message);
        assert!(e.message.contains(words), "{marked}: {}", e.message);
    }
    for (text, words) in [
        ("x, y ≔ 1", "2 variables but 1 values"),
        ("x, y :∈ S", "`:∈` has one variable"),
        ("x, x ≔ 1, 2", "`x` is bound twice"),
        ("x = 1", "expected `≔`, `:∈` or `:∣`"),
        ("1 ≔ x", "expected a variable"),
    ] {
        let e = action(text, HERE).expect_err(text);
        assert!(e.message.contains(words), "{text}: {}", e.message);
    }
}

#[test]
fn actions_of_every_kind() {
    for (text, written) in [
        ("x ≔ 1", "x ≔ 1"),
        ("x, y := y, x", "x, y ≔ y, x"),
        ("f(x) ≔ 3", "f ≔ f \u{e103} {x ↦ 3}"),
        ("x :∈ S ∪ T", "x :∈ S ∪ T"),
        ("x, y :| x' = y & y' = x", "x, y :∣ x' = y ∧ y' = x"),
    ] {
        let kind = action(text, HERE).unwrap_or_else(|e| panic!("{text}: {}", e.message)).expect("an action");
        assert_eq!(write::action(&kind, For::Rodin).as_deref(), Ok(written));
    }
    assert!(action("skip", HERE).expect("nothing is an action").is_none());
}

#[test]
fn depth_and_size_are_limited() {
    with_large_stack(limits).expect("a stack");
}

fn limits() {
    let deep = format!("x = {}1{}", "(".repeat(200_000), ")".repeat(200_000));
    assert_eq!(predicate(&deep, HERE).expect_err("too deep").code, "B0106");
    let deep = "¬ ".repeat(200_000) + "x = 1";
    assert_eq!(predicate(&deep, HERE).expect_err("too deep").code, "B0106");
    let deep = format!("{}x", "{".repeat(100_000));
    assert_eq!(predicate(&deep, HERE).expect_err("too deep").code, "B0106");
    // `finite` stands for its set twice, so that this would have 2^200 parts.
    let bomb = format!("{}S{}", "finite({bool(".repeat(200), ")})".repeat(200)).replace("(S)", "(S = T)");
    assert_eq!(predicate(&bomb, HERE).expect_err("too large").code, "B0106");
    let many: Vec<String> = (0..20_000).map(|i| format!("x{i}")).collect();
    let bomb = format!("partition(S, {})", many.join(", "));
    assert_eq!(predicate(&bomb, HERE).expect_err("too large").code, "B0106");
    // Long chains are no deep trees.
    let long = format!("x = {}", vec!["1"; 50_000].join(" + "));
    assert!(predicate(&long, HERE).is_ok());
    let long = vec!["x = 1"; 50_000].join(" ∧ ");
    assert!(predicate(&long, HERE).is_ok());
    let long = format!("x = {}", vec!["1"; 50_000].join(" − "));
    assert_eq!(predicate(&long, HERE).expect_err("too deep").code, "B0106");
}
