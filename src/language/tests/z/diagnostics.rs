//! What is wrong with a specification, and where.

use kanon_language::model::load::load_text;

/// File, text, and what the first message is: place, code, a part of it.
#[rustfmt::skip]
const ROWS: &[(&str, &str, &str, &str, &str)] = &[
    // words and grammar
    ("a.tex", "\\begin{zed}\n  X == \\cupp\n\\end{zed}", "2:8", "B0101", "unknown command `\\cupp`"),
    ("a.tex", "\\begin{schmea}{S}\n\\end{schmea}", "1:1", "B0101", "`schmea` is no paragraph of Z"),
    ("a.tex", "\\begin{zed}\n  X == 1", "1:1", "B0101", "does not end"),
    ("a.tex", "\\begin{schema}{S}\n  x : \\nat\n\\end{zed}", "3:1", "B0101", "expected `\\end{schema}`"),
    ("a.tex", "\\begin{schema}{S}\n  x : \\nat\n\\end{schem", "3:1", "B0101", "expected `\\end{schema}`"),
    ("a.tex", "\\begin{zed}[X]\\end text\n\\begin{zed}[Y]\\end{zed}", "1:15", "B0101", "expected `\\end{zed}`"),
    ("a.tex", "text\n\\end{schema}", "2:1", "B0101", "without a beginning"),
    ("a.tex", "\\begin{axdef}\n  x : \\nat\n\\where\n  x > \\end{axdef}", "4:7", "B0102", "expected an expression"),
    ("a.tex", "\\begin{axdef}\n  \\_ : \\nat\n\\end{axdef}", "2:3", "B0101", "cannot begin with `_`"),
    ("a.tex", "%%inop \\myop 3\n\\begin{zed}[X]\\end{zed}", "1:1", "B0401", "directive `%%inop`"),
    ("a.tex", "\\begin{zsection}\\SECTION a \\parents b\\end{zsection}\\begin{zed}[X]\\end{zed}", "1:1", "B0401", "section `b`"),
    ("a.zed", "┌ S\n  x : ℕ\n|\n  x = \u{1}\n└", "4:7", "B0101", "no symbol of Z"),
    ("a.zed", "some text\n└", "2:1", "B0101", "without the beginning of a box"),
    ("a.zed", "nothing at all", "1:1", "B0102", "no paragraph of Z"),
    ("a.zed", "─ S == [x : ℤ]\n T == [x : ℤ]\n V ≙ S ∧ T ⧹ (x) └", "3:8", "B0102", "Spivey's manual and the standard"),
    ("a.zed", "─ S == [x : ℤ]\n T == [x : ℤ]\n V ≙ S ⧹ (x) ∨ T └", "3:14", "B0102", "Spivey's manual and the standard"),
    ("a.zed", "─ X == 𝔸 └", "1:8", "B0401", "`𝔸` is not supported"),
    // names and types
    ("a.zed", "─ [NAME]\n X == ℙ NAEM └", "2:9", "B0201", "unknown identifier `NAEM`"),
    ("a.zed", "─ [X]\n [X] └", "2:3", "B0202", "`X` is declared twice"),
    ("a.zed", "─ X == 1 + {2} └", "1:12", "B0203", "expected ℤ, found ℙ ℤ"),
    ("a.zed", "─ X == (1, 2, 3) ∈ (ℤ × ℤ) × ℤ └", "1:8", "B0203", "found a predicate"),
    ("a.zed", "─ ⊢? (1, 2, 3) ∈ (ℤ × ℤ) × ℤ └", "1:6", "B0203", "type mismatch"),
    ("a.zed", "─ [A]\n ⊢? ∀ a : A • a a = a └", "2:15", "B0203", "A is applied to A"),
    ("a.zed", "─ X == ∅ └", "1:8", "B0204", "cannot infer the type"),
    ("a.zed", "─ X == {1, {1}} └", "1:12", "B0203", "expected ℤ, found ℙ ℤ"),
    ("a.zed", "─ ⊢? 1 └", "1:6", "B0203", "expected a predicate"),
    ("a.zed", "─ S == [x : ℤ]\n T ≙ S ⧹ (y) └", "2:11", "B0201", "no component `y`"),
    ("a.zed", "─ S == [x : ℤ]; T == [x : ℙ ℤ]\n V ≙ S ∧ T └", "2:6", "B0203", "the component `x` is of type ℤ and of type ℙ ℤ"),
    ("a.zed", "─ S == [x : ℤ]\n ⊢? ∀ s : S • s.y = 1 └", "2:17", "B0201", "no component `y`"),
    ("a.zed", "╷[X]\n f : X → X └\n─ ⊢? f[ℤ, ℤ] = f └", "3:6", "B0206", "generic parameters"),
    ("a.zed", "╷[X]\n e : ℙ X └\n─ ⊢? e = e └", "3:6", "B0204", "cannot infer the type"),
    ("a.zed", "─ ⊢? (let x == 1 • x + {}) = 2 └", "1:24", "B0203", "type mismatch"),
    // machines
    ("a.zed", "┌S x : 0 .. 1└ ┌Init S└ ┌Op ΔS; y! : ℤ; z : ℤ└", "1:26", "B0204", "its component `z` is neither"),
    ("a.zed", "┌S x, y : 0 .. 1└ ┌Init S└ ┌Op x, x′, y : ℤ└", "1:29", "B0204", "it has no component `y'`"),
    ("a.zed", "┌S x : 0 .. 1└ ┌Op ΔS└", "1:17", "B0204", "there is no schema `Init`"),
    ("a.zed", "┌S x : 0 .. 1└ ┌Init x : ℤ└ ┌Op ΔS└", "1:17", "B0204", "includes no schema that could be the state"),
    ("a.zed", "┌S x : 0 .. 1└ ┌Init S└\n%%kanon operations Opp\n┌Op ΔS└", "2:20", "B0201", "no schema `Opp`"),
    ("a.zed", "┌S x : 0 .. 1└ ┌Init S└\n%%kanon operatoins Op\n┌Op ΔS└", "2:9", "B0102", "nothing that kanon can be told"),
    ("a.zed", "┌S x : 0 .. 1└ ┌Init S; S′└", "1:17", "B0203", "states before and after"),
    ("a.zed", "┌S x : 0 .. 1└ ┌Init S└ ┌Query S; y! : ℤ└", "1:26", "B0204", "it has no component `x'`"),
];

#[test]
fn messages_have_places() {
    let mut wrong = vec![];
    for (name, text, place, code, part) in ROWS {
        let loaded = load_text(name, text);
        let Some(first) = loaded.diagnostics.iter().find(|d| d.is_error()) else {
            wrong.push(format!("{text}\n  no error"));
            continue;
        };
        let found = loaded.sources.place(first.span);
        if found != format!("{name}:{place}") || first.code != *code || !first.message.contains(part) {
            wrong.push(format!(
                "{text}\n  expected {place} {code} {part}\n  found {found} {} {}",
                first.code, first.message
            ));
        }
    }
    assert!(wrong.is_empty(), "{} rows:\n{}", wrong.len(), wrong.join("\n"));
}

/// Whatever stands in a file: a message, soon, and no failure of ours.
#[test]
fn hostile_texts_are_refused() {
    let doubling: String = (1..60).map(|i| format!(" A{i} == A{} × A{}\n", i - 1, i - 1)).collect();
    let tuples: String = (1..60).map(|i| format!(" b{i} == (b{0}, b{0})\n", i - 1)).collect();
    let generics: String = (1..40).map(|i| format!(" G{i}[X] == G{}[X × X]\n", i - 1)).collect();
    let texts = [
        format!("─ X == {}1{} └", "(".repeat(20_000), ")".repeat(20_000)),
        format!("─ X == {}1{} └", "{".repeat(3000), "}".repeat(3000)),
        format!("─ ⊢? {}true └", "¬ ".repeat(20_000)),
        format!("─ ⊢? {}1 = 1 └", "∀ x : ℤ • ".repeat(20_000)),
        format!("─ X == 1{} └", " + 1".repeat(20_000)),
        format!("─ X == f{} └", " f".repeat(20_000)),
        format!("─ X == x{} └", ".a".repeat(20_000)),
        format!("─ ⊢? 1{} └", " = 1".repeat(20_000)),
        format!("─ X == {} └", "9".repeat(20_000)),
        format!("─ X == {}S └", "ℙ ".repeat(20_000)),
        format!("─ [Z0]\n A0 == Z0\n{doubling}└"),
        format!("─ b0 == 1\n{tuples}└"),
        format!("─ G0[X] == ℙ X\n{generics} ⊢? 1 ∈ G39[ℤ] └"),
        "╷[X] g : ℙ X\n|\n ∃ x : ℙ ℙ X • g[ℙ X] = x └ ─ ⊢? g[ℤ] = ∅ └".to_string(),
    ];
    for text in texts {
        let loaded = load_text("a.zed", &text);
        let shown: String = text.chars().take(60).collect();
        assert!(loaded.model.is_none(), "{shown}");
        assert!(loaded.diagnostics.iter().any(|d| d.is_error()), "{shown}");
        assert!(loaded.diagnostics.iter().all(|d| d.code != "B0199"), "{shown}: {:?}", loaded.diagnostics);
    }
}
