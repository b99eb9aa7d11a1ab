//! Proof obligations of Event-B refinements: each kind by its name, kept and broken, and what the file says about it.

use kanon::model::open::{OpenedSequents, open_sequents};
use kanon::model::scope::ScopeArgs;
use kanon::report::proved::decision;
use kanon::run::answer::Decision;
use kanon::run::prove::{Proved, Status, Task};
use kanon::run::{Deadline, sequents};
use std::path::{Path, PathBuf};

fn file(name: &str, text: &str) -> PathBuf {
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join("sequents");
    std::fs::create_dir_all(&dir).expect("a folder for temporary files");
    let path = dir.join(format!("{name}.eventb"));
    std::fs::write(&path, text).expect("a temporary file");
    path
}

fn opened(path: &Path) -> OpenedSequents {
    let opened = open_sequents(path, &ScopeArgs::default());
    opened.unwrap_or_else(|r| panic!("{:?}", r.diagnostics)).expect("a refinement")
}

pub(super) fn asked(path: &Path) -> Proved {
    sequents::prove(&opened(path), &Task::default(), &Deadline::never(), &mut |_, _| {}).expect("kleene")
}

pub(super) fn names(p: &Proved, wanted: fn(&Status) -> bool) -> Vec<String> {
    p.obligations.iter().filter(|o| wanted(&o.status)).map(|o| o.name.clone()).collect()
}

const TEXT: &str = "
context C
constants n
axioms
  @axm1 n ∈ 1‥3
  @axm2 6 ÷ n > 1
  theorem @thm1 n > 0
end
machine M sees C
variables x w
invariants
  @inv1 x ∈ 0‥9
  @inv2 w ∈ 0‥9
  theorem @thm2 x ≥ 0
events
  event INITIALISATION then @act1 x ≔ 0 @act2 w :∈ 0‥9 end
  event step any p where @grd1 p ∈ 1‥2 @grd2 x + p ≤ 9
    then @act1 x ≔ x + p @act2 w :∣ w' ∈ 0‥9 end
  event lo where @grd x = 0 then @act x ≔ 5 end
  event hi where @grd x = 9 then @act x ≔ 5 end
end
machine R refines M sees C
variables x y s
invariants
  @glue y = w
  @set s ⊆ 0‥3
variant card(s)
events
  event INITIALISATION with @w' w' = 0 then @act1 x ≔ 0 @act2 y ≔ 0 @act3 s ≔ 0‥3 end
  event step refines step
    any q where @grd1 q ∈ 1‥1 @grd2 x + q ≤ 9 @grd3 y ÷ q ≥ 0 theorem @thm3 q > 0
    with @p p = q @w' w' = y'
    then @act1 x ≔ x + q @act2 y :∈ 0‥1 end
  event both refines lo hi where @grd x ∈ {0, 9} then @act x ≔ 5 end
  convergent event take any e where @grd e ∈ s then @act s ≔ s ∖ {e} end
  anticipated event wait then end
end
";

/// Everything that there is to prove, as Rodin calls it.
const ALL: &[&str] = &[
    "C/axm2/WD",
    "C/thm1/THM",
    "M/thm2/THM",
    "M/INITIALISATION/act2/FIS",
    "M/INITIALISATION/inv1/INV",
    "M/INITIALISATION/inv2/INV",
    "M/step/act2/FIS",
    "M/step/inv1/INV",
    "M/step/inv2/INV",
    "M/lo/inv1/INV",
    "M/hi/inv1/INV",
    "R/VWD",
    "R/INITIALISATION/act2/SIM",
    "R/INITIALISATION/glue/INV",
    "R/INITIALISATION/set/INV",
    "R/step/grd3/WD",
    "R/step/thm3/THM",
    "R/step/act2/FIS",
    "R/step/grd1/GRD",
    "R/step/grd2/GRD",
    "R/step/act1/SIM",
    "R/step/act2/SIM",
    "R/step/glue/INV",
    "R/both/MRG",
    "R/take/set/INV",
    "R/take/NAT",
    "R/take/VAR",
    "R/wait/VAR",
];

#[test]
fn every_kind_has_its_name() {
    let p = asked(&file("all", TEXT));
    assert_eq!(names(&p, |_| true), ALL);
    assert_eq!(names(&p, |s| *s != Status::Proved), [""; 0]);
    assert_eq!(decision(&p), Decision::Holds);
}

#[test]
fn what_is_broken_is_disproved_by_its_name() {
    let rows: &[(&str, &str, &[&str])] = &[
        ("n ∈ 1‥3", "n ∈ 0‥3", &["C/axm2/WD"]),
        ("@thm1 n > 0", "@thm1 n > 1", &["C/thm1/THM"]),
        ("@thm2 x ≥ 0", "@thm2 x > 0", &["M/thm2/THM"]),
        ("x + p ≤ 9", "x + p ≤ 10", &["M/step/inv1/INV"]),
        ("q ∈ 1‥1", "q ∈ 1‥3", &["R/step/grd1/GRD"]),
        ("x + q ≤ 9", "x + q ≤ 10", &["R/step/grd2/GRD"]),
        ("@act1 x ≔ x + q", "@act1 x ≔ x", &["R/step/act1/SIM"]),
        ("w' = y'", "w' = y' + 9", &["R/step/act2/SIM", "R/step/glue/INV"]),
        ("w' = y'", "w' = 0", &["R/step/glue/INV"]),
        ("s ∖ {e} end", "s ∖ {e} @act2 x ≔ 0 end", &["R/take/x/EQL"]),
        ("x ∈ {0, 9}", "x ∈ {0, 5, 9}", &["R/both/MRG"]),
        ("@p p = q", "@p p > q ∧ p < q", &["R/step/p/WFIS"]),
        ("@p p = q", "@p p ≥ q ∧ p ≤ q", &[]),
        ("@p p = q", "@p p > q ∧ p < q + 2", &["R/step/grd2/GRD", "R/step/act1/SIM"]),
        ("@p p = q", "@p p = q ÷ (y − y)", &["R/step/p/WWD"]),
        ("y ÷ q", "y ÷ x", &["R/step/grd3/WD"]),
        ("q > 0", "q > 1", &["R/step/thm3/THM"]),
        ("y :∈ 0‥1", "y :∈ 1‥x", &["R/step/act2/FIS"]),
        ("y :∈ 0‥1", "y :∣ y' ∈ 0‥9 ∧ y' > y", &["R/step/act2/FIS"]),
        ("@act3 s ≔ 0‥3", "@act3 s ≔ 0‥4", &["R/INITIALISATION/set/INV"]),
        ("@act2 y ≔ 0", "@act2 y ≔ 1", &["R/INITIALISATION/glue/INV"]),
        ("w' = 0", "w' = 10", &["R/INITIALISATION/act2/SIM", "R/INITIALISATION/glue/INV"]),
        ("s ∖ {e} end", "s end", &["R/take/VAR"]),
        ("variant card(s)", "variant card(s) − 2", &["R/take/NAT"]),
        ("variant card(s)", "variant min(s)", &["R/VWD", "R/take/VAR"]),
        ("variant card(s)", "variant s", &[]),
        ("variant card(s)", "variant {0} ∪ s", &["R/take/VAR"]),
        ("event wait then end", "event wait then @a s ≔ 0‥3 end", &["R/wait/VAR"]),
    ];
    for (i, (from, to, expected)) in rows.iter().enumerate() {
        assert!(TEXT.contains(from), "{from}");
        let p = asked(&file(&format!("broken{i}"), &TEXT.replace(from, to)));
        let open = names(&p, |s| matches!(s, Status::Undecided(_)));
        assert_eq!(open, [""; 0], "{to}: {:?}", p.obligations.iter().map(|o| &o.status).collect::<Vec<_>>());
        assert_eq!(names(&p, |s| matches!(s, Status::Disproved(_))), *expected, "{to}");
    }
    // A variant that is a set has to be finite.
    let p = asked(&file("finite", &TEXT.replace("variant card(s)", "variant s")));
    assert!(names(&p, |s| *s == Status::Proved).contains(&"R/FIN".to_string()));
    let p = asked(&file("infinite", &TEXT.replace("variant card(s)", "variant ℕ")));
    assert!(!names(&p, |s| *s == Status::Proved).contains(&"R/FIN".to_string()));
}

/// The file says that a wrong obligation is discharged: that is an alarm, and nothing else is.
#[test]
fn a_wrong_proof_is_an_alarm() {
    let said = |model: &str, all: &str| {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("models/eventb").join(model);
        let text = std::fs::read_to_string(path).expect("a model");
        assert!(text.contains("[exporter_version(3)]"));
        text.replace("[exporter_version(3)]", &format!("[exporter_version(3),{all}]"))
    };
    let po = |guard: &str, is_discharged: bool| {
        format!(
            "po('Lights','Guard strengthening (split)',[event(set_cars),guard({guard}),event(set_cars),event(go)],\
             {is_discharged})"
        )
    };
    let alarms = |text: String| {
        let p = asked(&file("alarm", &text));
        let named = p.obligations.iter().filter(|o| o.is_alarm()).map(|o| o.name.clone());
        let said = p.obligations.iter().filter(|o| o.discharged.is_some()).count();
        (named.collect::<Vec<_>>(), said)
    };
    let both = format!("{},{}", po("grd1", true), po("grd2", true));
    assert_eq!(alarms(said("LightsBroken.eventb", &both)), (vec!["Lights/go/grd2/GRD".into()], 2));
    assert_eq!(alarms(said("LightsBroken.eventb", &po("grd2", false))), (vec![], 1));
    assert_eq!(alarms(said("Lights.eventb", &both)), (vec![], 2));
    // Two that cannot be told apart and do not agree say nothing.
    let twice = format!("{},{}", po("grd2", true), po("grd2", false));
    assert_eq!(alarms(said("LightsBroken.eventb", &twice)), (vec![], 0));
}

/// From axioms that nothing fulfils everything follows, and that is no proof.
#[test]
fn nothing_is_proved_of_nothing() {
    let p = asked(&file("vacuous", &TEXT.replace("@axm1 n ∈ 1‥3", "@axm1 n ∈ 1‥3 ∧ n > 3")));
    assert_ne!(decision(&p), Decision::Holds);
    let proved = names(&p, |s| *s == Status::Proved);
    assert!(!proved.iter().any(|n| n.starts_with("R/") || n.starts_with("M/")), "{proved:?}");
}
