//! Rodin's files: what they mean, what is proved, and what is wrong with them.

use super::compare::lines;
use super::forms::Memory;
use kanon_language::lang::eventb::project::Project;

fn core(text: &str) -> String {
    text.replace("<:", "<org.eventb.core.")
        .replace("</:", "</org.eventb.core.")
        .replace(" :", " org.eventb.core.")
}

fn machine(inside: &str) -> String {
    let text = format!("<:machineFile version=\"5\" :comment=\"of a machine\">{inside}</:machineFile>");
    format!("<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"no\"?>\n{}", core(&text))
}

fn context(inside: &str) -> String {
    core(&format!("<:contextFile version=\"3\">{inside}</:contextFile>"))
}

const INITIALISATION: &str = "<:event name=\"_i\" :convergence=\"0\" :extended=\"false\" :label=\"INITIALISATION\">\
     <:action name=\"_a\" :assignment=\"x ≔ 0\" :label=\"act1\"/></:event>";

fn abstract_machine() -> String {
    machine(&format!(
        "<:seesContext name=\"_s\" :target=\"C\"/><:variable name=\"_v\" :identifier=\"x\" :comment=\"how many\"/>\
         <:invariant name=\"_t\" :label=\"inv1\" :predicate=\"x ∈ ℕ\"/>\
         <:invariant name=\"_u\" :label=\"thm1\" :predicate=\"x &lt; limit + 1\" :theorem=\"true\"/>{INITIALISATION}\
         <:event name=\"_e\" :convergence=\"0\" :extended=\"false\" :label=\"add\">\
         <:parameter name=\"_p\" :identifier=\"p\"/><:guard name=\"_g\" :label=\"grd1\" :predicate=\"p ∈ 1‥limit\"/>\
         <:action name=\"_a\" :assignment=\"x ≔ x + p\" :label=\"act1\"/></:event>"
    ))
}

fn refined_machine() -> String {
    machine(
        "<:refinesMachine name=\"_r\" :target=\"M0\"/><:seesContext name=\"_s\" :target=\"C\"/>\
         <:variable name=\"_v\" :identifier=\"x\"/><:variable name=\"_w\" :identifier=\"y\"/>\
         <:invariant name=\"_t\" :label=\"inv2\" :predicate=\"y ≤ x\"/><:variant name=\"_x\" :expression=\"x − y\"/>\
         <:event name=\"_i\" :convergence=\"0\" :extended=\"true\" :label=\"INITIALISATION\">\
         <:action name=\"_a\" :assignment=\"y ≔ 0\" :label=\"act2\"/></:event>\
         <:event name=\"_e\" :convergence=\"0\" :extended=\"true\" :label=\"add\" :comment=\"more\">\
         <:refinesEvent name=\"_r\" :target=\"add\"/><:guard name=\"_g\" :label=\"grd2\" :predicate=\"p &gt; 1\"/></:event>\
         <:event name=\"_f\" :convergence=\"1\" :extended=\"false\" :label=\"follow\">\
         <:guard name=\"_g\" :label=\"grd1\" :predicate=\"y &lt; x\"/>\
         <:action name=\"_a\" :assignment=\"y ≔ y + 1\" :label=\"act1\"/></:event>",
    )
}

fn the_context() -> String {
    context(
        "<:carrierSet name=\"_s\" :identifier=\"S\"/><:constant name=\"_c\" :identifier=\"limit\"/>\
         <:axiom name=\"_a\" :label=\"axm1\" :predicate=\"limit = 3\"/>",
    )
}

fn project() -> Memory {
    Memory::default()
        .with("p/M0.bum", abstract_machine())
        .with("p/M1.bum", refined_machine())
        .with("p/C.buc", the_context())
}

fn names(p: &Project) -> Vec<&str> {
    p.machines.iter().map(|m| &*m.name.name).chain(p.contexts.iter().map(|c| &*c.name.name)).collect()
}

#[test]
fn a_folder_is_its_most_refined_machine() {
    let memory = project();
    assert_eq!(memory.open("p").map(|p| names(&p).join(" ")), Ok("M1 M0 C".to_string()));
    assert_eq!(memory.open("p#M0").map(|p| names(&p).join(" ")), Ok("M0 C".to_string()));
    assert_eq!(memory.open("p#C").map(|p| names(&p).join(" ")), Ok("C".to_string()));
    assert_eq!(memory.open("p/M0.bum").map(|p| names(&p).join(" ")), Ok("M0 C".to_string()));
    assert_eq!(memory.open("p/C.buc").map(|p| names(&p).join(" ")), Ok("C".to_string()));
    let e = memory.open("p#M7").expect_err("no such machine");
    assert!(e.contains("there is no machine or context `M7`") && e.contains("`M0`, `M1`"), "{e}");
    let two = memory.clone().with("p/N.bum", machine(INITIALISATION));
    let e = two.open("p").expect_err("two");
    assert!(e.contains("several machines") && e.contains("name one behind `#`: `M1`, `N`"), "{e}");
}

#[test]
fn extended_events_have_all_of_the_abstract_ones() {
    let p = project().open("p").expect("a project");
    let event = |name: &str| p.machines[0].events.iter().find(|e| &*e.name.name == name).expect("an event");
    let add = event("add");
    let labels: Vec<_> = add.guards.iter().map(|g| g.label.as_deref().unwrap_or_default()).collect();
    assert_eq!(labels, ["grd1", "grd2"]);
    assert_eq!(add.parameters.len(), 1);
    assert_eq!(add.actions.len(), 1);
    assert_eq!((add.inherited.guards, add.inherited.actions, add.inherited.parameters), (1, 1, 1));
    let init = event("INITIALISATION");
    assert_eq!(init.actions.len(), 2);
    assert_eq!(init.refines.len(), 1);
    let comment = |path: &[&str]| {
        let path: Vec<_> = path.iter().map(|n| (*n).into()).collect();
        p.comments.get(&path).map(|c| c.to_string())
    };
    assert_eq!(comment(&["M1", "add"]).as_deref(), Some("more"));
    assert_eq!(comment(&["M0", "x"]).as_deref(), Some("how many"));
    assert_eq!(comment(&["M0"]).as_deref(), Some("of a machine"));
    assert!(p.machines[1].theorems.len() == 1 && p.machines[1].invariants.len() == 1);
    // The same as a package has it.
    assert_eq!(lines(&p).iter().filter(|l| l.starts_with("guard")).count(), 4);
}

#[test]
fn proofs_count_when_everything_agrees() {
    let source = |file: &str, rest: &str| {
        let kind = if file.ends_with("bum") { "machineFile" } else { "contextFile" };
        let name = &file[..file.len() - 4];
        format!(
            "<:poSource name=\"s\" :poRole=\"DEFAULT\" :source=\"/p/{file}|org.eventb.core.{kind}#{name}{rest}\"/>"
        )
    };
    let event = source("M0.bum", "|org.eventb.core.event#_e");
    let invariant = source("M0.bum", "|org.eventb.core.invariant#_t");
    let guard = source("M0.bum", "|org.eventb.core.event#_e|org.eventb.core.guard#_g");
    let gone = source("M0.bum", "|org.eventb.core.invariant#_gone");
    let sequent = |name: &str, stamp: u32, more: &str, sources: &str| {
        format!(
            "<:poSequent name=\"{name}\" :poDesc=\"of {name}\" :poStamp=\"{stamp}\"{more}>{sources}</:poSequent>"
        )
    };
    let obligations = [
        sequent("good", 5, "", &format!("{event}{invariant}")),
        sequent("guard", 5, "", &guard),
        sequent("reviewed", 5, "", &invariant),
        sequent("broken", 5, "", &invariant),
        sequent("old", 6, "", &invariant),
        sequent("inaccurate", 5, " :accurate=\"false\"", &invariant),
        sequent("gone", 5, "", &gone),
        sequent("unknown", 5, "", &invariant),
        sequent("without", 5, "", &invariant),
        sequent("twice", 5, "", &invariant),
    ];
    let status = |name: &str, confidence: u32, more: &str| {
        format!("<:psStatus name=\"{name}\" :confidence=\"{confidence}\" :poStamp=\"5\"{more}/>")
    };
    let statuses = [
        status("good", 1000, " :psManual=\"true\""),
        status("guard", 1000, ""),
        status("reviewed", 500, ""),
        status("broken", 1000, " :psBroken=\"true\""),
        status("old", 1000, ""),
        status("inaccurate", 1000, ""),
        status("gone", 1000, ""),
        status("without", 1000, ""),
        status("twice", 1000, ""),
        status("twice", 1000, ""),
    ];
    let proved = ["good", "guard", "reviewed", "broken", "old", "inaccurate", "gone", "twice"];
    let proofs: Vec<String> =
        proved.iter().map(|n| format!("<:prProof name=\"{n}\" :confidence=\"1000\"/>")).collect();
    let memory = project()
        .with("p/M0.bpo", core(&format!("<:poFile :poStamp=\"6\">{}</:poFile>", obligations.join(""))))
        .with("p/M0.bps", core(&format!("<:psFile>{}</:psFile>", statuses.join(""))))
        .with("p/M0.bpr", core(&format!("<:prFile>{}</:prFile>", proofs.join(""))));
    let p = memory.open("p").expect("a project");
    let discharged: Vec<&str> = p.obligations.iter().filter(|o| o.is_discharged).map(|o| &*o.what).collect();
    assert_eq!(discharged, ["of good", "of guard"]);
    assert_eq!(p.obligations.len(), 10);
    let about = |i: usize| p.obligations[i].about.iter().map(|(k, l)| format!("{k} {l}")).collect::<Vec<_>>();
    assert_eq!(about(0), ["event add", "invariant inv1"]);
    assert_eq!(about(1), ["guard grd1", "event add"]);
    // Damaged proofs cost the proofs, not the model.
    let damaged = memory.with("p/M0.bps", "<x");
    let p = damaged.open("p").expect("a project");
    assert!(p.obligations.iter().all(|o| !o.is_discharged));
}

#[test]
fn what_is_wrong_is_said_with_its_place() {
    let with = |file: &str, text: String| project().with(file, text);
    let broken = |from: &str, to: &str| with("p/M0.bum", abstract_machine().replace(from, to));
    for (memory, words) in [
        (broken("x ∈ ℕ", "x ∈"), "expected a formula, found the end of the formula"),
        (broken("x &lt; limit + 1", "x &lt; limit + + 1"), "expected a formula, found `+`"),
        (broken("identifier=\"p\"", "identifier=\"ran\""), "`ran` cannot be a name"),
        (broken(" org.eventb.core.identifier=\"p\"", ""), "there is no `org.eventb.core.identifier` here"),
        (
            broken("<org.eventb.core.guard ", "<org.eventb.core.gourd "),
            "`org.eventb.core.gourd` in an event is not supported",
        ),
        (
            broken(
                "convergence=\"0\" org.eventb.core.extended=\"false\" org.eventb.core.label=\"add\"",
                "convergence=\"7\" org.eventb.core.label=\"add\"",
            ),
            "the convergence `7` of an event is not supported",
        ),
        (
            broken(
                "<org.eventb.core.parameter",
                "<org.eventb.core.wonder name=\"_\"/><org.eventb.core.parameter",
            ),
            "`org.eventb.core.wonder` in an event is not supported",
        ),
        (with("p/M0.bum", "<org.eventb.core.machineFile>".to_string()), "damaged XML"),
        (with("p/M0.bum", "<a/>".to_string()), "this is no machine of Rodin"),
        (with("p/M0.bum", "<!DOCTYPE a [<!ENTITY b \"c\">]><a>&b;</a>".to_string()), "damaged XML"),
        (
            with("p/M1.bum", refined_machine().replace("target=\"M0\"", "target=\"M9\"")),
            "there is no machine `M9`",
        ),
        (
            with("p/M1.bum", refined_machine().replace("target=\"M0\"", "target=\"../M9\"")),
            "there is no machine `../M9`",
        ),
        (
            with("p/M1.bum", refined_machine().replace("target=\"C\"", "target=\"D\"")),
            "there is no context `D`",
        ),
        (
            with("p/M1.bum", refined_machine().replace("target=\"add\"", "target=\"sub\"")),
            "there is no event `sub` in `M0`",
        ),
    ] {
        let e = memory.open("p#M1").expect_err(words);
        assert!(e.contains(words), "{words}: {e}");
    }
    // The place is in the file, also behind an escape.
    let e = broken("x &lt; limit + 1", "x &lt; limit + + 1").open("p").expect_err("wrong");
    let text = abstract_machine();
    let line = text.lines().nth(1).expect("a line");
    let column = line.find("limit + 1").map(|i| line[..i].chars().count() + 9).expect("the formula");
    assert!(e.contains(&format!("p/M0.bum:2:{column} ")), "{e}, wanted {column}");
}

#[test]
fn circles_are_refused() {
    let m = |name: &str, of: &str| {
        (format!("p/{name}.bum"), machine(&format!("<:refinesMachine name=\"_\" :target=\"{of}\"/>")))
    };
    let c = |name: &str, of: &str| {
        (format!("p/{name}.buc"), context(&format!("<:extendsContext name=\"_\" :target=\"{of}\"/>")))
    };
    let of = |files: [(String, String); 2]| {
        files.into_iter().fold(Memory::default(), |m, (name, text)| m.with(&name, text))
    };
    let e = of([m("A", "B"), m("B", "A")]).open("p#A").expect_err("a circle");
    assert!(e.contains("`A` refines itself in the end"), "{e}");
    let e = of([m("A", "B"), m("B", "A")]).open("p").expect_err("a circle");
    assert!(e.contains("every machine here is refined or extended by another"), "{e}");
    let e = of([c("A", "B"), c("B", "A")]).open("p#A").expect_err("a circle");
    assert!(e.contains("`A` extends itself in the end"), "{e}");
    let e = of([m("A", "A"), c("B", "B")]).open("p").expect_err("a circle");
    assert!(e.contains("refines itself"), "{e}");
}
