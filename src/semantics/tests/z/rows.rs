//! Where Z differs from B, or has what B has not: an expression of Z, and its value as B writes it.

use crate::{typed, value};

/// Nothing on the right: there is no value.
#[rustfmt::skip]
const ROWS: &[(&str, &str)] = &[
    // Division rounds down.
    ("⟨7 div 2, -7 div 2, 7 div -2, -7 div -2, 6 div -2⟩", "[3, -4, -4, 3, -3]"),
    ("⟨7 mod 2, -7 mod 2, 7 mod -2, -7 mod -2, 6 mod -2⟩", "[1, 1, -1, -1, 0]"),
    ("(1 div 0, 1)", ""),
    ("(1 mod 0, 1)", ""),
    // Powers of relations, intersections of nothing.
    ("{1 ↦ 2, 2 ↦ 3}↗2↙", "{1 |-> 3}"),
    ("{1 ↦ 2, 2 ↦ 3}↗-2↙", "{3 |-> 1}"),
    ("(⋂ {{1, 2}, {2, 3}}) ∪ ∅", "{2}"),
    ("(⋂ {x : {1} | x = 2 • {x}}) ∩ {4}", "{4}"),
    // Bags.
    ("⟦1, 1, 2⟧", "{1 |-> 2, 2 |-> 1}"),
    ("⟦1, 1, 2⟧ ⊎ ⟦2, 3⟧", "{1 |-> 2, 2 |-> 2, 3 |-> 1}"),
    ("⟦1, 1, 2⟧ ⩁ ⟦1, 2, 3⟧", "{1 |-> 1}"),
    ("3 ⊗ ⟦1, 1, 2⟧", "{1 |-> 6, 2 |-> 3}"),
    ("0 ⊗ ⟦1, 1, 2⟧", "{}"),
    ("(-1) ⊗ ⟦1⟧", ""),
    ("(⟦1, 1⟧ ♯ 1, ⟦1⟧ ♯ 2, count ⟦2, 2, 2⟧ 2)", "2 |-> 0 |-> 3"),
    ("items ⟨4, 5, 4⟩", "{4 |-> 2, 5 |-> 1}"),
    // Sequences.
    ("⟨5, 6, 7, 8⟩ ↾ {6, 8}", "[6, 8]"),
    ("{2, 3} ↿ ⟨5, 6, 7, 8⟩", "[6, 7]"),
    ("squash {4 ↦ 1, 2 ↦ 9}", "[9, 1]"),
    ("⁀/⟨⟨1⟩, ⟨⟩, ⟨2, 3⟩⟩", "[1, 2, 3]"),
    ("head ∅[ℤ × ℤ]", ""),
    ("{s : {⟨⟩, ⟨1⟩, ⟨2⟩, ⟨1, 2⟩, ⟨2, 1⟩} | s prefix ⟨1, 2⟩}", "{[], [1], [1, 2]}"),
    ("{s : {⟨⟩, ⟨1⟩, ⟨2⟩, ⟨1, 2⟩, ⟨2, 1⟩} | s suffix ⟨1, 2⟩}", "{[], [2], [1, 2]}"),
    ("{s : {⟨⟩, ⟨1⟩, ⟨3⟩, ⟨1, 2⟩, ⟨2, 1⟩} | s infix ⟨3, 1, 2⟩}", "{[], [1], [3], [1, 2]}"),
    ("{s : {⟨{1}, {2}⟩, ⟨{1}, {1}⟩, ⟨{2}, ∅, {1}⟩} | s partition {1, 2}}", "{[{1}, {2}], [{2}, {}, {1}]}"),
    ("{s : {⟨{1}, {2}⟩, ⟨{1}, {1, 3}⟩} | disjoint s}", "{[{1}, {2}]}"),
    // Descriptions.
    ("(μ x : {1, 2, 3} | x > 2)", "3"),
    ("(μ x : {1, 2, 3} | x > 1)", ""),
    ("(μ x : {1, 2, 3} | x > 2 • x * x)", "9"),
    ("(μ x : {1} | x > 2)", ""),
    ("{x : 0 .. 3 | ∃₁ y : 0 .. 2 • y * y = x}", "{0, 1}"),
    // Functions.
    ("{1 ↦ 2, 1 ↦ 3} 1", ""),
    ("{1 ↦ 2} 2", ""),
    ("(λ x : 1 .. 3 | x ≠ 2 • x * x)", "{1 |-> 1, 3 |-> 9}"),
    ("(λ x : 1 .. 2; y : {5} • x) (2, 5)", "2"),
    ("(succ 4, abs (-4), min {4, 2}, max {4, 2})", "5 |-> 4 |-> 2 |-> 4"),
    ("{(1, 2, 3).1, (4, 5, 6).2, (7, 8, 9).3}", "{1, 5, 9}"),
    ("(let x == 2; y == 3 • x * y)", "6"),
    // Schemas.
    ("{[x, y : 0 .. 2 | x + y = 3] • x ↦ y}", "{1 |-> 2, 2 |-> 1}"),
    ("{s : [x, y : 0 .. 2 | x + y = 3] • s.x}", "{1, 2}"),
    ("{([x : 0 .. 2] ∧ [x : 1 .. 3]) • x}", "{1, 2}"),
    ("{x : 0 .. 4 | [x : 0 .. 1] ∨ [x : 4 .. 9]}", "{0, 1, 4}"),
    ("{x : 0 .. 4 | ¬ [x : 0 .. 1]}", "{2, 3, 4}"),
    ("{x : 0 .. 9 | (∃ y : 2 .. 3 • [x : 0 .. 9; y : ℤ | x = 2 * y])}", "{4, 6}"),
    ("{x : 0 .. 9 | (∀ y : 2 .. 3 • [x : 0 .. 9; y : ℤ | x > 2 * y])}", "{7, 8, 9}"),
    ("{x : 0 .. 9 | [x, y : 0 .. 3 | x = y + 1] ⧹ (y)}", "{1, 2, 3}"),
    ("{([x, x′ : 0 .. 3 | x′ = x + 1] ⨟ [x, x′ : 0 .. 3 | x′ = x * 2]) • x ↦ x′}", "{0 |-> 2}"),
    ("{(pre [x, x′ : 0 .. 3 | x′ = x + 1]) • x}", "{0, 1, 2}"),
    ("{([a? : 0 .. 3; b! : ℤ | b! = a? + 1] ⨠ [b? : 0 .. 2; c! : ℤ | c! = b? * 10]) • a? ↦ c!}", "{0 |-> 10, 1 |-> 20}"),
    ("{([x, y : 0 .. 3 | y = x + 1] ⨡ [y : 0 .. 2]) • y}", "{1, 2}"),
    ("{[x : 0 .. 3; y : {1}][z/x] • z + y}", "{1, 2, 3, 4}"),
    ("{x : 0 .. 2 • θ [x : ℤ]}", "{rec(x: 0), rec(x: 1), rec(x: 2)}"),
    ("⦉x == 1, y == {2}⦊.y", "{2}"),
];

#[test]
fn expressions_have_their_values() {
    let mut wrong = vec![];
    for (z, b) in ROWS {
        let found = value(&typed("E.zed", &format!("─ ⊢? {z} = {z} └")));
        let expected = match b.is_empty() {
            true => None,
            false => value(&typed("E.mch", &format!("MACHINE E ASSERTIONS {b} = {b} END"))),
        };
        if found != expected || (expected.is_none() && !b.is_empty()) {
            wrong.push(format!("{z}\n  expected {expected:?}\n  found    {found:?}"));
        }
    }
    assert!(wrong.is_empty(), "{} rows:\n{}", wrong.len(), wrong.join("\n"));
}

/// Names are those of where a definition stands, not of where it is used; generic definitions are typed by their use.
#[test]
fn definitions_mean_what_they_meant() {
    let rows = [
        ("n == 3\n plus == n + 1\n ⊢? (let n == 10 • plus + n) = 0", "14"),
        ("pairs[X] == {x : X • x ↦ x}\n ⊢? pairs[{1, 2}] = ∅", "{1 |-> 1, 2 |-> 2}"),
        ("rest[X] == λ s : seq₁ X • tail s\n ⊢? rest ⟨1, 2, 3⟩ = ∅", "[2, 3]"),
        ("G[X] ≙ [x, y : X | x ≠ y]\n ⊢? {G[{1, 2}] • x ↦ y} = ∅", "{1 |-> 2, 2 |-> 1}"),
        ("S ≙ [x : 0 .. 1]\n ⊢? {ΔS • x ↦ x′} = ∅", "{0 |-> 0, 0 |-> 1, 1 |-> 0, 1 |-> 1}"),
        ("S ≙ [x : 0 .. 1]\n ⊢? {ΞS • x ↦ x′} = ∅", "{0 |-> 0, 1 |-> 1}"),
        ("S ≙ [x : 0 .. 1]\n ⊢? {ΔS | θS = θS′ • x} = ∅", "{0, 1}"),
    ];
    for (z, b) in rows {
        let found = value(&typed("E.zed", &format!("─ {z} └")));
        let expected = value(&typed("E.mch", &format!("MACHINE E ASSERTIONS {b} = {b} END")));
        assert!(expected.is_some());
        assert_eq!(found, expected, "{z}");
    }
}
