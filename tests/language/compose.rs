//! Machines that refer to each other: what is in the system, under which names, in which order.

use kanon::model::load::load;
use kanon::model::{Model, StmtKind};
use std::path::PathBuf;

fn fixture(file: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/compose").join(file)
}

fn model(file: &str) -> Model {
    let loaded = load(&fixture(file));
    loaded.model.unwrap_or_else(|| panic!("{file}: {:#?}", loaded.diagnostics))
}

fn errors(file: &str) -> Vec<String> {
    let loaded = load(&fixture(file));
    assert!(loaded.model.is_none());
    loaded.diagnostics.iter().map(|d| format!("{} {}", d.code, d.message)).collect()
}

/// Constants, variables, events, operations that are only called.
fn summary(m: &Model) -> String {
    let names = |items: Vec<&str>| items.join(" ");
    let ops = |event| names(m.operations.iter().filter(|o| o.is_event == event).map(|o| &*o.name).collect());
    format!(
        "{} | {} | {} | {}",
        names(m.constants.iter().map(|d| &*d.name).collect()),
        names(m.variables.iter().map(|d| &*d.name).collect()),
        ops(true),
        ops(false)
    )
}

#[test]
fn what_is_in_the_system() {
    for (file, want) in [
        ("Counter.mch", "step | count | up read | "),
        ("Light.mch", "step | count light | Counter.up Counter.read toggle ask | "),
        ("Twins.mch", "step | one.count two.count | one.up both | one.read two.up two.read"),
        ("Longer.mch", "step | count extra | up read flip | "),
        ("Store.mch", "room | kept | keep | "),
        ("Shop.mch", "room | kept | buy | keep"),
        ("Watched.mch", "step | c.count seen | look go | c.up c.read"),
        ("TallyI.imp", "limit | total | add how_many | bump get"),
        ("QueueR.ref", "size_limit | total list | how_many add | "),
    ] {
        assert_eq!(summary(&model(file)), want, "{file}");
    }
}

#[test]
fn properties_are_stated_once() {
    assert_eq!(model("Twins.mch").properties.len(), 1);
    assert_eq!(model("Light.mch").properties.len(), 1);
    // The constraints of Store with the actual parameters, and the property of Shop.
    assert_eq!(model("Shop.mch").properties.len(), 3);
}

#[test]
fn the_included_is_initialised_first() {
    let m = model("Light.mch");
    let StmtKind::Seq(parts) = &m.initialisation.kind else { panic!("a sequence") };
    assert!(matches!(parts[0].kind, StmtKind::Assign(_)));
    assert!(matches!(parts[1].kind, StmtKind::If(..)));
}

#[test]
fn a_parameter_is_a_set_or_a_constant() {
    let m = model("Store.mch");
    assert!(m.sets[0].is_parameter && m.sets[0].elements.is_none());
    let shop = model("Shop.mch");
    assert_eq!(shop.sets.len(), 1);
    assert!(!shop.sets[0].is_parameter);
}

#[test]
fn a_refinement_keeps_what_it_can_see() {
    let m = model("QueueR.ref");
    // `ran(list) = items` speaks of a variable that is gone; the abstract invariant is not repeated.
    assert_eq!(m.invariant.len(), 2);
    let add = m.operations.iter().find(|o| &*o.name == "add");
    let Some(StmtKind::Pre(p, _)) = add.map(|o| &o.body.kind) else { panic!("a precondition") };
    // `x : 1..3` from above and `x /: ran(list)` of its own, both of the same x.
    let op = add.map(|o| o.params[0]).unwrap_or_else(|| panic!("a parameter"));
    let mut parts = 0;
    p.for_each_child(&mut |c| parts += usize::from(c.mentions_local(op)));
    assert_eq!(parts, 2);
    assert!(m.variables.iter().all(|v| &*v.name != "items"));
}

#[test]
fn mistakes() {
    assert_eq!(
        errors("CircleA.mch"),
        ["B0210 machines refer to each other in a circle: CircleA → CircleB → CircleA"]
    );
    assert_eq!(errors("Clash.mch"), ["B0202 `count` comes from several machines"]);
}
