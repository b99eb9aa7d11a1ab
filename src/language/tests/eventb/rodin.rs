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

/// Checked files of the sources, written by hand after the form that Rodin gives them: no file of Rodin was at hand.
fn built(memory: Memory) -> Memory {
    let of = |file: &str, rest: &str| {
        let kind = if file.ends_with("bum") { "machineFile" } else { "contextFile" };
        format!(":source=\"/p/{file}|org.eventb.core.{kind}#{}{rest}\"", &file[..file.len() - 4])
    };
    let at = |file: &'static str| {
        move |path: &str| {
            let steps = path.split_whitespace().map(|step| format!("|org.eventb.core.{step}"));
            of(file, &steps.collect::<String>())
        }
    };
    let (m0, m1, c) = (at("M0.bum"), at("M1.bum"), at("C.buc"));
    let first = format!(
        "<:scMachineFile :accurate=\"true\"><:scSeesContext name=\"C\" :scTarget=\"/p/C.bcc\" {}/>\
         <:scInternalContext name=\"C\"><:scConstant name=\"limit\" {}/></:scInternalContext>\
         <:scVariable name=\"x\" :abstract=\"false\" :concrete=\"true\" :type=\"ℤ\" {}/>\
         <:scInvariant name=\"'\" :label=\"inv1\" :predicate=\"x∈ℕ\" :theorem=\"false\" {}/>\
         <:scInvariant name=\"(\" :label=\"thm1\" :predicate=\"x&lt;limit+1\" :theorem=\"true\" {}/>\
         <:scEvent name=\"'\" :convergence=\"0\" :extended=\"false\" :label=\"INITIALISATION\" {}>\
         <:scAction name=\"'\" :assignment=\"x ≔ 0\" :label=\"act1\" {}/></:scEvent>\
         <:scEvent name=\"(\" :convergence=\"0\" :extended=\"false\" :label=\"add\" {}>\
         <:scParameter name=\"p\" :type=\"ℤ\" {}/>\
         <:scGuard name=\"'\" :label=\"grd1\" :predicate=\"p∈1 ‥ limit\" {}/>\
         <:scAction name=\"'\" :assignment=\"x ≔ x+p\" :label=\"act1\" {}/></:scEvent></:scMachineFile>",
        m0("seesContext#_s"),
        c("constant#_c"),
        m0("variable#_v"),
        m0("invariant#_t"),
        m0("invariant#_u"),
        m0("event#_i"),
        m0("event#_i action#_a"),
        m0("event#_e"),
        m0("event#_e parameter#_p"),
        m0("event#_e guard#_g"),
        m0("event#_e action#_a"),
    );
    let target = ":scTarget=\"/p/M0.bcm|org.eventb.core.scMachineFile#M0|org.eventb.core.scEvent#(\"";
    let start = ":scTarget=\"/p/M0.bcm|org.eventb.core.scMachineFile#M0|org.eventb.core.scEvent#'\"";
    let second = format!(
        "<:scMachineFile><:scRefinesMachine name=\"'\" :scTarget=\"/p/M0.bcm\" {}/>\
         <:scSeesContext name=\"C\" :scTarget=\"/p/C.bcc\" {}/>\
         <:scVariable name=\"x\" :abstract=\"true\" :concrete=\"true\" {}/>\
         <:scVariable name=\"y\" :abstract=\"false\" :concrete=\"true\" {}/>\
         <:scInvariant name=\"'\" :label=\"inv1\" :predicate=\"x∈ℕ\" :theorem=\"false\" {}/>\
         <:scInvariant name=\"(\" :label=\"inv2\" :predicate=\"y≤x\" :theorem=\"false\" {}/>\
         <:scVariant name=\"'\" :expression=\"x − y\" {}/>\
         <:scEvent name=\"'\" :convergence=\"0\" :extended=\"true\" :label=\"INITIALISATION\" {}>\
         <:scRefinesEvent name=\"'\" {start} {}/>\
         <:scAction name=\"'\" :assignment=\"x ≔ 0\" :label=\"act1\" {}/>\
         <:scAction name=\"(\" :assignment=\"y ≔ 0\" :label=\"act2\" {}/></:scEvent>\
         <:scEvent name=\"(\" :convergence=\"0\" :extended=\"true\" :label=\"add\" {}>\
         <:scRefinesEvent name=\"'\" {target} {}/><:scParameter name=\"p\" {}/>\
         <:scGuard name=\"'\" :label=\"grd1\" :predicate=\"p∈1 ‥ limit\" {}/>\
         <:scGuard name=\"(\" :label=\"grd2\" :predicate=\"p&gt;1\" {}/>\
         <:scAction name=\"'\" :assignment=\"x ≔ x+p\" :label=\"act1\" {}/>\
         <:scWitness name=\"'\" :label=\"nobody\" :predicate=\"⊤\" {}/></:scEvent>\
         <:scEvent name=\")\" :convergence=\"1\" :extended=\"false\" :label=\"follow\" {}>\
         <:scGuard name=\"'\" :label=\"grd1\" :predicate=\"y&lt;x\" {}/>\
         <:scAction name=\"'\" :assignment=\"y ≔ y+1\" :label=\"act1\" {}/></:scEvent></:scMachineFile>",
        m1("refinesMachine#_r"),
        m1("seesContext#_s"),
        m1("variable#_v"),
        m1("variable#_w"),
        m0("invariant#_t"),
        m1("invariant#_t"),
        m1("variant#_x"),
        m1("event#_i"),
        m1("event#_i"),
        m0("event#_i action#_a"),
        m1("event#_i action#_a"),
        m1("event#_e"),
        m1("event#_e refinesEvent#_r"),
        m0("event#_e parameter#_p"),
        m0("event#_e guard#_g"),
        m1("event#_e guard#_g"),
        m0("event#_e action#_a"),
        m1("event#_e"),
        m1("event#_f"),
        m1("event#_f guard#_g"),
        m1("event#_f action#_a"),
    );
    let third = format!(
        "<:scContextFile><:scCarrierSet name=\"S\" {}/><:scConstant name=\"limit\" {}/>\
         <:scAxiom name=\"'\" :label=\"axm1\" :predicate=\"limit=3\" :theorem=\"false\" {}/></:scContextFile>",
        c("carrierSet#_s"),
        c("constant#_c"),
        c("axiom#_a"),
    );
    memory.with("p/M0.bcm", core(&first)).with("p/M1.bcm", core(&second)).with("p/C.bcc", core(&third))
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
    let memory = built(project())
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

/// A project of which one obligation is proved.
fn proved() -> Memory {
    let source = ":source=\"/p/M0.bum|org.eventb.core.machineFile#M0|org.eventb.core.invariant#_t\"";
    built(project())
        .with(
            "p/M0.bpo",
            core(&format!(
                "<:poFile><:poSequent name=\"inv1/WD\" :poDesc=\"d\" :poStamp=\"5\"><:poSource name=\"s\" {source}/>\
                 </:poSequent></:poFile>"
            )),
        )
        .with(
            "p/M0.bps",
            core(
                "<:psFile><:psStatus name=\"inv1/WD\" :confidence=\"1000\" :poStamp=\"5\"/></:psFile>",
            ),
        )
}

#[test]
fn proofs_of_other_sources_are_not_believed() {
    let is_proved = |m: &Memory| m.open("p").expect("a project").obligations.iter().any(|o| o.is_discharged);
    assert!(is_proved(&proved()));
    // Blanks, types and nesting are no difference.
    let spaced = abstract_machine().replace("x ∈ ℕ", "(x∈ ℕ)").replace("x + p", "x+p");
    assert!(is_proved(&proved().with("p/M0.bum", spaced)));
    // Each source, edited after it was built.
    let (m0, m1, c) = (abstract_machine(), refined_machine(), the_context());
    let edits: [(&str, &str, &str, &str); 16] = [
        ("p/M0.bum", &m0, "x ∈ ℕ", "x ∈ ℕ1"),
        ("p/M0.bum", &m0, "x ≔ 0", "x ≔ 1"),
        ("p/M0.bum", &m0, "x + p", "x − p"),
        ("p/M0.bum", &m0, "p ∈ 1‥limit", "p ∈ 0‥limit"),
        ("p/M0.bum", &m0, ":theorem", ":_"),
        ("p/M0.bum", &m0, "<org.eventb.core.guard name=\"_g\"", "<org.eventb.core.guard name=\"_h\""),
        ("p/M0.bum", &m0, "x &lt; limit + 1", "x &lt; limit"),
        ("p/M1.bum", &m1, "y ≤ x", "y ≤ x ∧ y ≥ 0"),
        ("p/M1.bum", &m1, "convergence=\"1\"", "convergence=\"2\""),
        ("p/M1.bum", &m1, "x − y", "x + y"),
        ("p/M1.bum", &m1, "p &gt; 1", "p &gt; 2"),
        ("p/M1.bum", &m1, "y ≔ y + 1", "y ≔ x"),
        ("p/M1.bum", &m1, "identifier=\"y\"", "identifier=\"z\""),
        ("p/M1.bum", &m1, "label=\"follow\"", "label=\"chase\""),
        ("p/C.buc", &c, "limit = 3", "limit = 4"),
        ("p/C.buc", &c, "<org.eventb.core.axiom name=\"_a\"", "<org.eventb.core.axiom name=\"_b\""),
    ];
    for (file, text, from, to) in edits {
        let edited = if from == ":theorem" {
            text.replace(" org.eventb.core.theorem=\"true\"", "")
        } else {
            text.replace(from, to)
        };
        assert_ne!(text, edited, "{from}");
        let memory = proved().with(file, &edited);
        // What does not fit together any more is no project, and nothing is proved of it.
        if let Ok(p) = memory.open("p") {
            assert!(p.obligations.iter().all(|o| !o.is_discharged), "{file}: {from} became {to}");
        }
    }
    // Something new, and something that is gone.
    let more = m0.replace("<org.eventb.core.event name=\"_e\"", "<org.eventb.core.invariant name=\"_n\" \
         org.eventb.core.label=\"new\" org.eventb.core.predicate=\"x ≠ 7\"/><org.eventb.core.event name=\"_e\"");
    assert!(!is_proved(&proved().with("p/M0.bum", more)));
    let less = m1.replace(
        "<org.eventb.core.guard name=\"_g\" org.eventb.core.label=\"grd2\" \
         org.eventb.core.predicate=\"p &gt; 1\"/>",
        "",
    );
    assert_ne!(less, m1);
    assert!(!is_proved(&proved().with("p/M1.bum", less)));
    // Without the checked file nobody knows, and damaged it says nothing.
    let without = Memory::default()
        .with("p/M0.bum", &m0)
        .with("p/M1.bum", &m1)
        .with("p/C.buc", &c)
        .with("p/M0.bpo", &proved().0[std::path::Path::new("p/M0.bpo")])
        .with("p/M0.bps", &proved().0[std::path::Path::new("p/M0.bps")]);
    assert!(!is_proved(&without));
    assert!(!is_proved(&proved().with("p/C.bcc", "<x")));
}

/// Files of different builds: each checked file is of its own source, and what it repeats of another is old.
#[test]
fn copies_of_what_has_changed_are_noticed() {
    let is_proved = |m: &Memory| m.open("p").expect("a project").obligations.iter().any(|o| o.is_discharged);
    let text =
        |m: &Memory, file: &str| String::from_utf8(m.0[std::path::Path::new(file)].clone()).expect("a text");
    // The source and its own checked file are edited; the others are as they were.
    let edits = [
        ("p/M0.bum", "x ∈ ℕ", "x ∈ ℕ1", "p/M0.bcm", "x∈ℕ", "x∈ℕ1"),
        ("p/M0.bum", "p ∈ 1‥limit", "p ∈ 0‥limit", "p/M0.bcm", "p∈1 ‥ limit", "p∈0 ‥ limit"),
        ("p/M0.bum", "x ≔ 0", "x ≔ 1", "p/M0.bcm", "x ≔ 0", "x ≔ 1"),
    ];
    for (source, from, to, checked, then, now) in edits {
        let old = proved();
        let (s, c) = (text(&old, source).replace(from, to), text(&old, checked).replace(then, now));
        assert!(s != text(&old, source) && c != text(&old, checked));
        assert!(!is_proved(&old.with(source, s).with(checked, c)), "{from}");
    }
    // An action that an extended event had from the one above, and has no more.
    let old = proved();
    let action = "<org.eventb.core.scAction name=\"'\" org.eventb.core.assignment=\"x ≔ 0\"";
    let cut = text(&old, "p/M1.bcm");
    let at = cut.find(action).expect("the action");
    let end = at + cut[at..].find("/>").expect("its end") + 2;
    let cut = format!("{}{}", &cut[..at], &cut[end..]);
    assert!(!is_proved(&old.with("p/M1.bcm", cut)));
    // Hypotheses of obligations.
    for (predicate, expected) in [("x∈ℕ", true), ("(x) ∈ ℕ", true), ("x∈ℕ1", false)] {
        let source = "/p/M0.bum|org.eventb.core.machineFile#M0|org.eventb.core.invariant#_t";
        let set = core(&format!(
            "<:poFile><:poPredicateSet name=\"A\"><:poPredicate name=\"P\" :predicate=\"{predicate}\" \
             :source=\"{source}\"/></:poPredicateSet>"
        ));
        let old = proved();
        let with = text(&old, "p/M0.bpo").replace("<org.eventb.core.poFile>", &set);
        assert_eq!(is_proved(&old.with("p/M0.bpo", with)), expected, "{predicate}");
    }
    // Without stamps nobody knows of which obligation a status is; of two with one name neither is believed.
    let old = proved();
    let stamp = " org.eventb.core.poStamp=\"5\"";
    let without = |file| text(&old, file).replace(stamp, "");
    assert!(!is_proved(
        &old.clone().with("p/M0.bpo", without("p/M0.bpo")).with("p/M0.bps", without("p/M0.bps"))
    ));
    let sequent = text(&old, "p/M0.bpo");
    let at = sequent.find("<org.eventb.core.poSequent").expect("one");
    let end = sequent.find("</org.eventb.core.poFile>").expect("the end");
    let two = format!("{}{}{}", &sequent[..end], &sequent[at..end], &sequent[end..]);
    assert!(!is_proved(&old.with("p/M0.bpo", two)));
}

/// Rodin counts names through all characters, and has those that mean something in a handle behind a backslash there.
#[test]
fn names_of_elements_may_have_any_characters() {
    let names =
        [("_t", "/"), ("_e", "|"), ("_g", "\\"), ("_a", "a#b"), ("_i", "\\/|#"), ("_r", "'"), ("_x", "0/")];
    let mut memory = proved();
    for text in memory.0.values_mut() {
        let mut new = String::from_utf8(text.clone()).expect("a text");
        for (from, to) in names {
            let signs = ['\\', '/', '|', '#'];
            let in_a_handle: String =
                to.chars().flat_map(|c| signs.contains(&c).then_some('\\').into_iter().chain([c])).collect();
            new = new.replace(&format!(" name=\"{from}\""), &format!(" name=\"{to}\""));
            for end in ["|org", "\""] {
                new = new.replace(&format!("#{from}{end}"), &format!("#{in_a_handle}{end}"));
            }
        }
        // The names of checked events, too: an event refines one by its handle.
        new = new.replace("scEvent name=\"(\"", "scEvent name=\"x|#/\"");
        new = new.replace("scEvent#(\"", "scEvent#x\\|\\#\\/\"");
        *text = new.into_bytes();
    }
    let p = memory.open("p").expect("a project");
    assert!(p.obligations.iter().all(|o| o.is_discharged) && p.obligations.len() == 1, "{:?}", p.obligations);
    let m1 = refined_machine().replace("x − y", "x + y");
    let p = memory.with("p/M1.bum", m1).open("p").expect("a project");
    assert!(p.obligations.iter().all(|o| !o.is_discharged));
}

/// Rodin gives a label to a variant in its checked file.
#[test]
fn a_variant_without_a_label_is_the_one_that_rodin_labels() {
    let memory = proved();
    let checked = memory.0[std::path::Path::new("p/M1.bcm")].clone();
    let checked = String::from_utf8(checked).expect("a text");
    let labelled =
        checked.replace("expression=\"x − y\"", "expression=\"x − y\" org.eventb.core.label=\"VARIANT\"");
    assert_ne!(labelled, checked);
    let p = memory.with("p/M1.bcm", labelled).open("p").expect("a project");
    assert!(p.obligations.iter().all(|o| o.is_discharged));
}

/// Rodin's editors make an INITIALISATION extended now and then where there is nothing to extend.
#[test]
fn the_first_initialisation_extends_nothing() {
    let text = abstract_machine().replacen("extended=\"false\"", "extended=\"true\"", 1);
    let p = project().with("p/M0.bum", text).open("p").expect("a project");
    assert_eq!(lines(&p), lines(&project().open("p").expect("a project")));
    // Another event is refused.
    let text = abstract_machine().replace("extended=\"false\"", "extended=\"true\"");
    let e = project().with("p/M0.bum", text).open("p").expect_err("nothing to extend");
    assert!(e.contains("`add` extends an event, but the machine refines none"), "{e}");
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
