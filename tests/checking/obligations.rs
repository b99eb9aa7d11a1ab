//! `kanon refine`: the obligations that are not about following, each kept by one model and broken by its neighbour.

use super::refine::{ask, folder};
use kanon::run::answer::Decision;
use kanon::run::refine::Task;

/// `holds`, `unknown: why`, or the name of what is broken and the level.
fn answer(name: &str, files: &[(&str, &str)]) -> String {
    let dir = folder(name, files);
    match ask(&dir.join(files[0].0), &Task::default()) {
        Err(why) => format!("refused: {why}"),
        Ok(r) => match (r.verdict, r.finding) {
            (Decision::Fails, Some(f)) => format!("{} {}", f.name.unwrap_or(f.obligation.into()), f.level),
            (verdict, _) => format!("{}: {}", verdict.name(), r.reason.unwrap_or_default()),
        },
    }
}

/// A machine that counts to three, refined. `VARIANT`, `WITH` and `THEN` are what the rows differ in.
const TEXT: &str = "
machine M
variables x
invariants @typ x ∈ 0‥3
events
  event INITIALISATION then @act1 x ≔ 0 end
  event step any p where @grd1 p ∈ 1‥2 @grd2 x + p ≤ 3 then @act1 x ≔ x + p end
end
machine R refines M
variables y s
invariants @glue x = y @set s ⊆ 0‥3
VARIANT
events
  event INITIALISATION then @act1 y ≔ 0 @act2 s ≔ 0‥3 end
  event step refines step any q where @grd1 q ∈ 1‥2 @grd2 y + q ≤ 3
    with @p WITH then @act1 y ≔ y + q end
  STATUS event new where @grd1 s ≠ ∅ then THEN end
end
";

fn text(variant: &str, with: &str, status: &str, then: &str) -> String {
    let all = [("VARIANT", variant), ("WITH", with), ("STATUS", status), ("THEN", then)];
    all.into_iter().fold(TEXT.to_string(), |t, (hole, with)| t.replace(hole, with))
}

#[test]
fn events_keep_what_is_not_about_following() {
    let (take, same) = ("@act1 s :∣ s' ∈ ℙ(s) ∧ s' ≠ s", "@act1 s ≔ s");
    let p = "p = q";
    let table = [
        ("as it is", text("", p, "", take), "holds: "),
        // FIS: the action has a value to take.
        ("a set to take from", text("", p, "", "@act1 s :∈ ℙ(s) ∖ {s}"), "holds: "),
        ("nothing to take from", text("", p, "", "@act1 s :∈ {t ∣ t ∈ ℙ(s) ∧ y > 3}"), "new/act1/FIS R"),
        ("nothing is less and more", text("", p, "", "@act1 s :∣ s' ∈ ℙ(s) ∧ s ⊂ s'"), "new/act1/FIS R"),
        // FIN and VAR: a variant that is a set.
        ("a set that shrinks", text("variant s", p, "convergent", take), "holds: "),
        ("one that does not", text("variant s", p, "convergent", same), "new/VAR R"),
        ("an infinite set", text("variant ℕ × s", p, "convergent", take), "FIN R"),
        // NAT
        ("a number", text("variant card(s)", p, "convergent", take), "holds: "),
        ("below zero", text("variant card(s) − 4", p, "convergent", take), "new/NAT R"),
        // VWD: the variant has a value.
        ("a least element", text("variant min(s)", p, "anticipated", same), "holds: "),
        ("none of nothing", text("variant min(s ∖ {0}) ÷ card(s ∩ {7})", p, "anticipated", same), "VWD R"),
        // WWD: the witness has a value.
        ("a witness", text("", "p = q ÷ 1", "", same), "holds: "),
        ("a witness without a value", text("", "p = q ÷ (y − y)", "", same), "step/p/WWD R"),
    ];
    for (i, (what, text, expected)) in table.iter().enumerate() {
        let found = answer(&format!("obligation{i}"), &[("t.eventb", text)]);
        assert!(found == *expected, "{what}: {found}, not {expected}\n{text}");
    }
}

#[test]
fn assertions_that_glue() {
    let machine = "MACHINE M VARIABLES x INVARIANT x : 0..3 INITIALISATION x := 0
        OPERATIONS step = PRE x < 3 THEN x := x + 1 END; r <-- get = r := x END";
    let below = |assertion: &str| {
        format!(
            "REFINEMENT R REFINES M VARIABLES y INVARIANT y = 3 - x ASSERTIONS {assertion}
             INITIALISATION y := 3
             OPERATIONS step = y := y - 1; r <-- get = r := 3 - y END"
        )
    };
    let rows = [
        ("x + y = 3", "holds: "),
        ("x + y = 3; x <= 3; y : 0..3", "holds: "),
        // False after the second step only.
        ("x < 2 or y > 1", "THM R"),
        ("x < 1 or 10 / (y - 1) > 0", "WD R"),
        // About the machine alone: that is for `check`.
        ("y > 2", "holds: "),
    ];
    for (i, (assertion, expected)) in rows.into_iter().enumerate() {
        let (r, files) = (below(assertion), format!("glue{i}"));
        let found = answer(&files, &[("R.ref", &r), ("M.mch", machine)]);
        assert_eq!(found, expected, "{assertion}");
    }
}
