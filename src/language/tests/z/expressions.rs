//! A table: a predicate in LaTeX, the same in Unicode, and what it is in B.

use crate::parsed;
use kanon_language::lang::print;
use kanon_language::lang::z::tree::ParagraphKind;
use kanon_language::model::load::load_text;

const BEFORE: (&str, &str) = (
    "\\begin{zed}[A] \\\\ T ::= c | d\\ldata A \\rdata \\end{zed}
\\begin{axdef} a, b : A; m, n : \\num; S, U : \\power A; f : A \\rel A; s, t : \\seq A; g : \\bag A;
  F : \\power (\\power A); q : \\seq (\\power A) \\end{axdef}
\\begin{schema}{P} x : \\num; y : A \\where x > 0 \\end{schema}
\\begin{zed} ",
    "─[A]\nT ::= c | d⟪A⟫└
╷ a, b : A; m, n : ℤ; S, U : ℙ A; f : A ↔ A; s, t : seq A; g : bag A;
  F : ℙ (ℙ A); q : seq (ℙ A) └
┌P x : ℤ; y : A
|
x > 0 └
─ ",
);

#[rustfmt::skip]
const ROWS: &[(&str, &str, &str)] = &[
    // logic
    (r"m < n = 3", "m < n = 3", "m < n & n = 3"),
    (r"\lnot m = n \land n \neq 2 \lor true \implies false", "¬ m = n ∧ n ≠ 2 ∨ true ⇒ false",
     "(not(m = n) & n /= 2) or btrue => bfalse"),
    (r"m = 1 \implies n = 1 \implies m \leq n \iff n \geq m", "m = 1 ⇒ n = 1 ⇒ m ≤ n ⇔ n ≥ m",
     "m = 1 => (n = 1 => m <= n) <=> n >= m"),
    (r"\forall x : S | x \in U @ x \notin \{ a \}", "∀ x : S | x ∈ U • x ∉ {a}",
     "!`x·1`.((`x·1` : S) & (`x·1` : U) => `x·1` /: {a})"),
    (r"\exists x, y : S @ x \mapsto y \in f", "∃ x, y : S • x ↦ y ∈ f",
     "#(`x·1`, `y·2`).((`x·1` : S) & ((`y·2` : S) & (`x·1` |-> `y·2` : f)))"),
    (r"\exists_1 x : S @ x = a", "∃₁ x : S • x = a", "card({`x·1` | (`x·1` : S) & (`x·1` = a)}) = 1"),
    (r"\LET k == 2 @ m = k", "let k == 2 • m = k", "(LET `k·1` BE `k·1` = 2 IN m = `k·1` END)"),
    // numbers
    (r"m + n * 2 - \negate 1 = 7", "m + n * 2 − -1 = 7", "m + n * 2 - (-1) = 7"),
    (r"m \upto n + 1 \subseteq \nat_1 \cup \nat", "m .. n + 1 ⊆ ℕ₁ ∪ ℕ", "m .. n + 1 <: NATURAL1 \\/ NATURAL"),
    (r"\# S = succ~m", "#S = succ m", "card(S) = succ(m)"),
    (r"min (m \upto n) = max \{ m, n \}", "min (m .. n) = max {m, n}", "min(m .. n) = max({m, n})"),
    // sets
    (r"S \cup U \cap S \setminus U = \emptyset", "S ∪ U ∩ S ∖ U = ∅", "S \\/ (U /\\ S) \\ U = {}"),
    (r"S \subset U \land S \in \power_1 U \land S \in \finset U", "S ⊂ U ∧ S ∈ ℙ₁ U ∧ S ∈ 𝔽 U",
     "S <<: U & S : POW1(U) & S : FIN(U)"),
    (r"\bigcup F = S", "⋃ F = S", "union(F) = S"),
    (r"\{ x : S | x \in U \} = \{ x : S @ x \}", "{x : S | x ∈ U} = {x : S • x}",
     "{`x·1` | (`x·1` : S) & (`x·1` : U)} = {`x·2`. `x·2` : S | `x·2`}"),
    (r"(a, b, m) \in A \cross A \cross \num", "(a, b, m) ∈ A × A × ℤ", "a |-> b |-> m : A \\* A \\* INTEGER"),
    (r"(a, m).2 = n", "(a, m).2 = n", "prj2(a |-> m) = n"),
    (r"\emptyset[A] = S", "∅[A] = S", "{} = S"),
    // relations and functions
    (r"f \in A \fun A \land f \in A \pfun A \land f \in A \inj A \land f \in A \bij A",
     "f ∈ A → A ∧ f ∈ A ⇸ A ∧ f ∈ A ↣ A ∧ f ∈ A ⤖ A",
     "f : A --> A & f : A +-> A & f : A >-> A & f : A >->> A"),
    (r"f \in (A \pinj A) \cup (A \psurj A) \cup (A \surj A) \cup (A \ffun A)",
     "f ∈ (A ⤔ A) ∪ (A ⤀ A) ∪ (A ↠ A) ∪ (A ⇻ A)",
     "f : A >+> A \\/ (A +->> A) \\/ (A -->> A) \\/ (A +-> A)"),
    (r"S \dres f \rres U = S \ndres f \nrres U", "S ◁ f ▷ U = S ⩤ f ⩥ U",
     "S <| (f |> U) = S <<| (f |>> U)"),
    (r"f \comp f = f \circ (f \oplus f)", "f ⨾ f = f ∘ (f ⊕ f)", "(f ; f) = ((f <+ f) ; f)"),
    (r"f\inv = f^{3} \land f\plus = f\star \cup \id S", "f∼ = f↗3↙ ∧ f⁺ = f∗ ∪ id S",
     "f~ = iterate(f, 3) & closure1(f) = closure(f) \\/ id(S)"),
    (r"f \limg S \rimg = \dom f \cup \ran f", "f⦇S⦈ = dom f ∪ ran f", "f[S] = dom(f) \\/ ran(f)"),
    (r"f a = f~(a) = (f a)", "f a = f (a) = (f a)", "f(a) = f(a) & f(a) = f(a)"),
    (r"(\lambda x : S | x \neq a @ m) = S \cross \{ m \}", "(λ x : S | x ≠ a • m) = S × {m}",
     "%`x·1`.((`x·1` : S) & (`x·1` /= a)|m) = S \\* {m}"),
    (r"(\mu x : S | x \in U) = a", "(μ x : S | x ∈ U) = a", "mu({`x·1` . `x·1` : S & `x·1` : U | `x·1`}) = a"),
    (r"first (a, m) = a \land second (a, m) = m", "first (a, m) = a ∧ second (a, m) = m",
     "prj1(a |-> m) = a & prj2(a |-> m) = m"),
    (r"\IF m > n \THEN m \ELSE n = 3", "if m > n then m else n = 3", ""),
    (r"(\IF m > n \THEN m \ELSE n) = 3", "(if m > n then m else n) = 3", "(IF m > n THEN m ELSE n END) = 3"),
    // sequences and bags
    (r"s \cat \langle a, b \rangle = rev~t", "s ⁀ ⟨a, b⟩ = rev t", "s ^ [a, b] = rev(t)"),
    (r"head~s = last~t \land tail~s = front~t", "head s = last t ∧ tail s = front t",
     "first(s) = last(t) & tail(s) = front(t)"),
    (r"s \filter S = \{ 1 \} \extract t", "s ↾ S = {1} ↿ t", "SQUASH(s |> S) = SQUASH({1} <| t)"),
    (r"\dcat \langle s, t \rangle \in \seq_1 A", "⁀/⟨s, t⟩ ∈ seq₁ A", "conc([s, t]) : seq1(A)"),
    (r"s \prefix t", "s prefix t", "s : seq(A) & (t : seq(A) & s <: t)"),
    (r"\disjoint q", "disjoint q",
     "!(`i·1`, `j·2`).((`i·1` : dom(q)) & ((`j·2` : dom(q)) & (`i·1` /= `j·2`)) => q(`i·1`) /\\ q(`j·2`) = {})"),
    (r"a \inbag g \land g = \lbag \rbag", "a ⋿ g ∧ g = ⟦⟧", "a : dom(g) & g = {}"),
    (r"g \bcount a = count g~a", "g ♯ a = count g a",
     "(IF a : dom(g) THEN g(a) ELSE 0 END) = (IF a : dom(g) THEN g(a) ELSE 0 END)"),
    // free types, schemas, bindings
    (r"d~a \neq c", "d a ≠ c", "d(a) /= c"),
    (r"\lblot x == 1, y == a \rblot.x = m", "⦉x == 1, y == a⦊.x = m", "(rec(x: 1, y: a))'x = m"),
    (r"\exists P @ x = m", "∃ P • x = m", "#(`x·3`, `y·4`).((`x·3` : INTEGER) & ((`y·4` : A) & (`x·3` > 0)) & (`x·3` = m))"),
    (r"\{ P @ x \} = \{ m \}", "{P • x} = {m}", "{`x·3`, `y·4` . `x·3` : INTEGER & (`y·4` : A & `x·3` > 0) | `x·3`} = {m}"),
    (r"\forall x : \num; y : A @ P \iff x > 0", "∀ x : ℤ; y : A • P ⇔ x > 0", ""),
    (r"\exists P' @ \theta P' \in P", "∃ P′ • θ P′ ∈ P", ""),
    (r"(\exists P; P' @ P[m/x, y'/y] \land \lnot (P \semi P'))", "(∃ P; P′ • P[m/x, y′/y] ∧ ¬ (P ⨟ P′))", ""),
];

fn conjecture(name: &str, frame: (&str, &str), text: &str) -> (Vec<ParagraphKind>, String, Vec<String>) {
    let whole = format!("{}{text}{}", frame.0, frame.1);
    let (spec, errors) = parsed(name, &whole);
    let kinds = spec.paragraphs.into_iter().map(|p| p.kind).collect();
    let loaded = load_text(name, &whole);
    let said = errors.iter().chain(&loaded.diagnostics).map(|d| d.message.clone()).collect();
    let b = loaded.tree.and_then(|m| m.assertions.first().map(print::expr)).unwrap_or_default();
    (kinds, b, said)
}

fn plain(b: &str) -> String {
    // Names of bound variables are not the question here.
    let mut out = String::new();
    let mut in_number = false;
    for c in b.chars().filter(|c| !matches!(c, '`' | '(' | ')' | ' ')) {
        in_number = c == '·' || (in_number && c.is_ascii_digit());
        if !in_number {
            out.push(c);
        }
    }
    out.replace("\\*", "*")
}

fn without_places(tree: &str) -> String {
    let mut parts = tree.split("span: Span {");
    let first = parts.next().unwrap_or_default().to_string();
    parts.fold(first, |all, part| {
        all + part.split_once("} }").map_or(part, |(_, rest)| rest).trim_start_matches(" }")
    })
}

#[test]
fn both_markups_give_one_tree() {
    let mut wrong = vec![];
    for (latex, unicode, b) in ROWS {
        let (before, after) = (format!("{}\\vdash? ", BEFORE.0), "\\end{zed}");
        let (one, one_b, one_said) = conjecture("E.tex", (&before, after), latex);
        let before = format!("{}⊢? ", BEFORE.1);
        let (two, two_b, two_said) = conjecture("E.zed", (&before, "\n└"), unicode);
        let last = |kinds: &[ParagraphKind]| match kinds.last() {
            Some(ParagraphKind::Conjecture(e)) => Some(without_places(&format!("{e:?}"))),
            _ => None,
        };
        let is_refused = *latex == r"\IF m > n \THEN m \ELSE n = 3";
        if last(&one).is_none() || last(&one) != last(&two) || one_b != two_b || one_said != two_said {
            wrong.push(format!("{latex}\n{:?}\n{:?}\n{one_said:?} {two_said:?}", last(&one), last(&two)));
        } else if one_said.is_empty() == is_refused || (!b.is_empty() && plain(b) != plain(&one_b)) {
            wrong.push(format!("{latex}\n  expected {b}\n  found    {one_b}\n  {one_said:?}"));
        }
    }
    assert!(wrong.is_empty(), "{} of {} rows:\n{}", wrong.len(), ROWS.len(), wrong.join("\n"));
}
