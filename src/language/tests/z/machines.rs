//! Which machine a specification is.

use kanon_language::model::Model;
use kanon_language::model::load::load_text;

fn model(text: &str) -> Model {
    let loaded = load_text("M.zed", text);
    let said: Vec<&str> = loaded.diagnostics.iter().map(|d| &*d.message).collect();
    loaded.model.unwrap_or_else(|| panic!("{text}\n{said:?}"))
}

fn operations(text: &str) -> Vec<String> {
    model(text).operations.iter().map(|o| o.name.to_string()).collect()
}

const STATE: &str =
    "┌S x : 0 .. 3└ ┌Init S′\n|\n x′ = 0└ ┌A ΔS └ ┌B ΞS; out! : ℤ\n|\n out! = x └ ─ C ≙ A ⨟ A └ ";

#[test]
fn operations_are_those_that_nobody_uses() {
    assert_eq!(operations(STATE), ["B", "C"]);
    assert_eq!(operations(&format!("{STATE}\n%%kanon operations A B\n")), ["A", "B"]);
    assert_eq!(operations(&format!("{STATE}\n%%kanon ignore B\n")), ["C"]);
    let renamed = STATE.replace("Init", "Start") + "\n%%kanon init Start\n%%kanon state S\n";
    assert_eq!(operations(&renamed), ["B", "C"]);
    let by_name = STATE.replace("┌Init", "┌InitS");
    assert_eq!(operations(&by_name), ["B", "C"]);
    assert!(operations("─ X == {1} └").is_empty(), "definitions only");
}

#[test]
fn sizes_are_said_in_the_text() {
    let model = model("─ [N] └\n%%kanon card N 4\n");
    assert_eq!(model.scope.card.iter().map(|(_, n, _)| *n).collect::<Vec<_>>(), [4]);
}

/// Each instance of a generic definition is a constant, and is made once.
#[test]
fn generic_definitions_are_made_where_they_are_used() {
    let text = "─ [N] └ ╷[X, Y] swap : X × Y → Y × X\n|\n ∀ x : X; y : Y • swap (x, y) = (y, x) └
        ╷[X] twice : ℙ X → X × X\n|\n ∀ s : ℙ X; x : X • swap (twice s) = twice s └
        ╷ a : N └ ─ ⊢? swap (a, 1) = (1, a) ∧ swap (a, 2) = swap (a, 1)\n ⊢? first (twice {a}) = a └";
    let model = model(text);
    let names: Vec<&str> = model.constants.iter().map(|c| &*c.name).collect();
    assert_eq!(names, ["a", "swap[N, INTEGER]", "twice[N]", "swap[N, N]"]);
    // One for the declaration and one for what is said, of each.
    assert_eq!(model.properties.len(), 1 + 3 * 2);
}

/// The same name in a text and outside of it: nothing is captured.
#[test]
fn bound_names_do_not_capture() {
    let text = "╷ x : ℤ └ ─ D == x + 1\n S == [y : ℤ | y = x]\n ⊢? ∀ x : {5} • D = x ∨ (∃ S • y = x)
        G[T] == {t : T | ∃ x : T • x = t}\n ⊢? ∀ t : {5} • ∀ y : G[{t}] • y = t └";
    let loaded = load_text("M.zed", text);
    let said: Vec<&str> = loaded.diagnostics.iter().map(|d| &*d.message).collect();
    let tree = loaded.tree.unwrap_or_else(|| panic!("{said:?}"));
    let shown: Vec<String> = tree.assertions.iter().map(kanon_language::lang::print::expr).collect();
    assert_eq!(
        shown[0],
        "!(`x·1`).(`x·1` : {5} => x + 1 = `x·1` or #(y).(y : INTEGER & (y = x & y = `x·1`)))"
    );
    assert!(shown[1].contains("{`t·1` | `t·1` : {t} & #(`x·1`).("), "{}", shown[1]);
}
