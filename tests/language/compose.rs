//! Machines that refer to each other: what is in the system, under which names, in which order.

use kanon::lang::diag::{Diagnostic, Severity};
use kanon::lang::files::{Disk, Files, Overlay};
use kanon::model::load::{load, load_from, load_text};
use kanon::model::{LeftOut, Model, OpId, Stmt, StmtKind, raise};
use std::path::PathBuf;
use std::sync::Arc;

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
    // `ran(list) = items` speaks of a variable that is gone; `total : 0..3` comes from above.
    let invariant: Vec<String> = m.invariant.iter().map(|e| raise::text(e, &m)).collect();
    assert_eq!(invariant, ["list : seq(1 .. 3)", "size(list) <= size_limit", "total : 0 .. 3"]);
    let add = m.operations.iter().find(|o| &*o.name == "add");
    let Some(StmtKind::Pre(p, _)) = add.map(|o| &o.body.kind) else { panic!("a precondition") };
    // `x : 1..3` from above and `x /: ran(list)` of its own, both of the same x.
    let op = add.map(|o| o.params[0]).unwrap_or_else(|| panic!("a parameter"));
    let mut parts = 0;
    p.for_each_child(&mut |c| parts += usize::from(c.mentions_local(op)));
    assert_eq!(parts, 2);
    assert!(m.variables.iter().all(|v| &*v.name != "items"));
}

/// What was left out: kind, operation, text and line of each, as the model lists it. Each is a warning.
fn left_out(file: &str) -> Vec<String> {
    let loaded = load(&fixture(file));
    let m = loaded.model.unwrap_or_else(|| panic!("{file}: {:#?}", loaded.diagnostics));
    let warnings: Vec<_> = loaded.diagnostics.iter().filter(|d| d.code == "B0416").collect();
    assert_eq!(warnings.len(), m.left_out.len(), "{file}: {warnings:#?}");
    for item in &m.left_out {
        let is_said = |d: &&Diagnostic| d.span == item.span && d.message.contains(&item.text);
        assert!(warnings.iter().copied().any(|d| is_said(&d)), "{file}: {item:?}");
        assert!(warnings.iter().all(|d| d.severity == Severity::Warning));
    }
    let line = |l: &LeftOut| loaded.sources.get(l.span.file).map_or(0, |s| s.line_col(l.span.lo).line);
    let op = |l: &LeftOut| l.operation.map_or("-", |o| &*m.operations[o.index()].name);
    m.left_out.iter().map(|l| format!("{:?} {} {} {}", l.what, op(l), line(l), l.text)).collect()
}

#[test]
fn nothing_of_a_refinement_goes_without_a_word() {
    for (file, want) in [
        (
            "StockR.ref",
            vec![
                "Invariant - 5 stock = 5 - sold",
                "Invariant - 5 kind = large => stock > 0",
                "Assertion - 6 stock /= stock",
                "Precondition take 7 m <= stock",
            ],
        ),
        // In a chain, `stock` is gone at the second level already, `sold` at the third.
        ("StockRR.ref", vec!["Invariant - 5 twice = 2 * sold", "Precondition take 7 k <= stock"]),
        (
            "StockI.imp",
            vec![
                "Invariant - 5 stock = 5 - sold",
                "Precondition take 7 n <= stock",
                "LoopInvariant take 14 sold = 5 - stock + i",
                "Assert left 18 r = stock",
            ],
        ),
        ("StockGoal.ref", vec!["Goal - 4 stock = 0", "Precondition take 7 n <= stock"]),
        ("Stock.mch", vec![]),
    ] {
        assert_eq!(left_out(file), want, "{file}");
    }
}

#[test]
fn what_is_visible_beside_what_was_left_out_stays() {
    let m = model("StockR.ref");
    assert_eq!((m.invariant.len(), m.assertions.len(), m.unchecked()), (1, 2, 3));
    let lacking = |m: &Model| -> Vec<String> {
        let ops = (0..m.operations.len()).filter(|i| m.lacks_precondition(OpId(*i as u32)));
        ops.map(|i| m.operations[i].name.to_string()).collect()
    };
    assert_eq!(lacking(&m), ["take"]);
    assert_eq!(lacking(&model("StockRR.ref")), ["take"]);
    let m = model("StockI.imp");
    let mut invariants = vec![];
    fn loops(s: &Stmt, m: &Model, out: &mut Vec<String>) {
        if let StmtKind::While { invariant, .. } = &s.kind {
            out.push(raise::text(invariant, m));
        }
        s.for_each_child(&mut |c| loops(c, m, out));
    }
    m.operations.iter().for_each(|o| loops(&o.body, &m, &mut invariants));
    assert_eq!(invariants, ["i : 0 .. n"]);
    assert!(model("StockGoal.ref").goal.is_none());
}

#[test]
fn elements_that_are_named_above_are_known() {
    let named =
        |file: &str| -> Vec<(u32, u32)> { model(file).named_above.iter().map(|(s, i)| (s.0, *i)).collect() };
    // `small` in the invariant of Stock, `large` in what StockR says; both in INITIALISATION and INVARIANT.
    assert_eq!(named("StockR.ref"), [(0, 0), (0, 1)]);
    assert_eq!(named("Stock.mch"), []);
}

#[test]
fn what_is_executed_cannot_speak_of_the_abstraction() {
    let message = "is a variable of the abstraction, which the refinement does not have";
    let loaded = load(&fixture("StockBlind.ref"));
    assert!(loaded.model.is_none());
    let errors: Vec<_> = loaded.diagnostics.iter().filter(|d| d.is_error()).collect();
    let found: Vec<String> = errors
        .iter()
        .map(|d| {
            format!(
                "{} {} {}",
                loaded.sources.place(d.span).rsplit('/').next().unwrap_or(""),
                d.code,
                d.message
            )
        })
        .collect();
    assert_eq!(
        found,
        [
            format!("StockBlind.ref:6:28 B0216 `stock` {message}"),
            format!("StockBlind.ref:8:16 B0216 `stock` {message}"),
            format!("Stock.mch:8:21 B0216 `stock` {message}"),
        ]
    );
    assert_eq!(errors[2].help.as_deref(), Some("`left` is inherited from the abstraction: refine it"));
}

#[test]
fn a_file_is_found_in_other_capitals() {
    let loaded = load(&fixture("Cased.mch"));
    let m = loaded.model.unwrap_or_else(|| panic!("{:#?}", loaded.diagnostics));
    assert_eq!(summary(&m), "top | v | set | ");
    let warnings: Vec<&str> = loaded.diagnostics.iter().map(|d| &*d.message).collect();
    assert_eq!(warnings, ["`Lower` was found as lower.mch: they differ in capitals"]);
    // A circle is found although no two of its names are equal.
    let found = errors("CasedPairA.mch");
    assert!(found.iter().any(|e| e.starts_with("B0210 ")), "{found:?}");
    // A file does not mean itself by another name, also where another folder has what it means.
    assert_eq!(errors("CasedSelf.mch"), ["B0211 the machine `casedSELF` was not found"]);
    assert_eq!(summary(&model("cased/Root.mch")), "k j |  |  | ");
}

#[test]
fn machines_of_probs_library() {
    let text = "MACHINE M SEES LibraryMath, LibraryStrings PROPERTIES gcd(12, 8) = length(\"four\") END";
    let loaded = load_text("M", text);
    let m = loaded.model.unwrap_or_else(|| panic!("{:#?}", loaded.diagnostics));
    assert_eq!(m.constants.len(), 14);
    // What is beside the machine comes first, and what is not here is refused by name.
    assert_eq!(summary(&model("cased/Math.mch")), "two |  |  | ");
    let loaded = load_text("M", "MACHINE M SEES LibraryMath PROPERTIES cos(0) = 100 END");
    let found: Vec<String> = loaded.diagnostics.iter().map(|d| format!("{} {}", d.code, d.message)).collect();
    assert_eq!(found, ["B0406 `cos` of ProB's library machine LibraryMath is not supported"]);
}

#[test]
fn texts_in_memory_hide_files() {
    let mut files = Overlay::new(Arc::new(Disk));
    let text = "MACHINE lower CONSTANTS top, more PROPERTIES top = 1 & more = 3 END";
    files.put(fixture("lower.mch"), text);
    // A file that is nowhere on disk, found by its name, and a definition file of it.
    let user = "MACHINE User DEFINITIONS \"Own.def\" SEES Lower CONSTANTS c PROPERTIES c = more + ONE END";
    files.put(fixture("User.mch"), user);
    files.put(fixture("own.def"), "DEFINITIONS ONE == 1");
    let loaded = load_from(Arc::new(files.clone()), &fixture("User.mch"));
    let m = loaded.model.unwrap_or_else(|| panic!("{:#?}", loaded.diagnostics));
    assert_eq!(summary(&m), "top more c |  |  | ");
    let warnings = loaded.diagnostics.iter().filter(|d| d.code == "B0219").count();
    assert_eq!(warnings, 2, "{:?}", loaded.diagnostics);
    assert!(files.list(&fixture("")).contains(&"User.mch".to_string()));
    files.remove(fixture("User.mch"));
    let loaded = load_from(Arc::new(files), &fixture("User.mch"));
    assert_eq!(loaded.diagnostics[0].code, "B0100");
}

#[test]
fn what_could_be_read_is_there_beside_the_errors() {
    let text = "MACHINE M SETS S = {a, b} VARIABLES v, w INVARIANT v : S & w = = 1
        INITIALISATION v := a || w := 1
        OPERATIONS one = v := b; two = BEGIN v := END; three = v := a END";
    let loaded = load_text("M.mch", text);
    assert!(loaded.model.is_none() && loaded.diagnostics.len() == 2, "{:#?}", loaded.diagnostics);
    let tree = loaded.tree.unwrap_or_else(|| panic!("a tree"));
    let operations: Vec<&str> = tree.operations.iter().map(|o| &*o.name.name).collect();
    assert_eq!((tree.variables.len(), tree.sets.len()), (2, 1));
    assert_eq!(operations, ["one", "three"]);
    // Without errors it is the whole machine.
    let loaded = load(&fixture("Stock.mch"));
    assert_eq!(loaded.tree.map(|t| t.operations.len()), Some(2));
    assert!(load_text("M.mch", "nothing").tree.is_none());
}

#[test]
fn files_of_other_languages_are_refused_by_name() {
    for (name, what) in
        [("m.bcm", "checked Event-B"), ("m.BCC", "checked Event-B context"), ("x/m.tla", "TLA+")]
    {
        for loaded in [load_text(name, "package(x)"), load(&fixture(name))] {
            let [only] = &loaded.diagnostics[..] else { panic!("{:?}", loaded.diagnostics) };
            assert!(only.code == "B0401" && only.message.contains(what), "{only:?}");
        }
    }
    // An ending that nobody claims is taken for classical B.
    assert!(load_text("m.txt", "MACHINE m END").model.is_some());
}

#[test]
fn mistakes() {
    assert_eq!(
        errors("CircleA.mch"),
        ["B0210 machines refer to each other in a circle: CircleA → CircleB → CircleA"]
    );
    assert_eq!(errors("Clash.mch"), ["B0202 `count` comes from several machines"]);
}
