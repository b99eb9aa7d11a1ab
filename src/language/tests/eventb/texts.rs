//! Texts: what they mean, and what is wrong with them.

use super::compare::lines;
use super::forms::{Memory, through};
use kanon_language::lang::eventb::convert::Form;
use kanon_language::lang::eventb::project::Status;
use kanon_language::lang::eventb::text::is_text;
use kanon_language::model::load::load_text;

const BOTH: &str = "\
/* expect: nothing
   here */
context C
sets
  S
constants a b // two of them
axioms
  @axm1 partition(S, {a}, {b})
  theorem @thm1 finite(S)
end

machine M0 sees C
variables x, y
invariants
  // where it is
  @inv1: x ∈ S
  @inv2: y ∈ NAT
variant
  y
events
  event INITIALISATION
  then
    @act1 x :∈ S
    @act2 y := 3
  end

  convergent event step
  any p where @grd1 p ∈ S @grd2 y > 0 theorem @grd3 y ≠ 0
  then
    @act1 x ≔ p
    @act2 y ≔ y − 1
  end

  EVENT idle
  WHEN
    @grd1 y = 0
  THEN
    skip
  END
end

machine M1 refines M0 sees C
variables x y z
invariants @inv3 z ⊆ S
events
  event INITIALISATION extends INITIALISATION
    then @act3 z ≔ ∅
  end
  event step refines step
    status convergent
    when @grd1 y > 0
    with @p p = x
    then @act1 z ≔ z ∪ {x}
      @act2 y ≔ y − 1
  end
end
";

#[test]
fn components_of_one_text() {
    let memory = Memory::default().with("m.eventb", BOTH);
    let p = memory.open("m.eventb").unwrap_or_else(|e| panic!("{e}"));
    let names: Vec<&str> = p.machines.iter().map(|m| &*m.name.name).collect();
    assert_eq!(names, ["M1", "M0"]);
    let m0 = &p.machines[1];
    assert_eq!((m0.variables.len(), m0.invariants.len(), m0.events.len()), (2, 2, 3));
    assert_eq!(m0.events[1].status, Status::Convergent);
    assert_eq!((m0.events[1].guards.len(), m0.events[1].theorems.len()), (2, 1));
    assert!(m0.events[2].actions.is_empty());
    let m1 = &p.machines[0];
    assert_eq!(m1.events[0].actions.len(), 3);
    assert_eq!(&*m1.events[1].witnesses[0].of.name, "p");
    assert_eq!(m1.events[1].status, Status::Convergent);
    assert_eq!(&*p.contexts[0].theorems[0].label.clone().unwrap_or_default(), "thm1");
    let path: Vec<_> = ["M0", "inv1"].map(Into::into).to_vec();
    assert_eq!(p.comments.get(&path).map(|c| c.to_string()).as_deref(), Some("where it is"));
    assert_eq!(memory.open("m.eventb#M0").map(|p| p.machines.len()), Ok(1));
    // Rodin's form and a text again have the comments and what is extended.
    for form in [Form::Rodin, Form::Text] {
        let again = through(&p, form).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(lines(&again), lines(&p));
        assert_eq!(again.comments, p.comments, "{form:?}");
        assert_eq!(again.machines[0].events[0].inherited, m1.events[0].inherited);
    }
}

#[test]
fn components_of_several_files() {
    let parts: Vec<&str> = BOTH.split("\n\nmachine ").collect();
    let memory = Memory::default()
        .with("d/C.ctxx", parts[0])
        .with("d/M0.mchx", format!("machine {}", parts[1]))
        .with("d/M1.mchx", format!("machine {}", parts[2]));
    let one = Memory::default().with("m.eventb", BOTH).open("m.eventb").map(|p| lines(&p));
    assert_eq!(memory.open("d/M1.mchx").map(|p| lines(&p)), one);
    assert_eq!(memory.open("d").map(|p| lines(&p)), one);
    let e = Memory::default().with("M0.mchx", format!("machine {}", parts[1])).open("M0.mchx");
    assert!(
        e.as_ref().is_err_and(|e| e.contains("there is no context `C`") && e.contains("`C.ctxx`")),
        "{e:?}"
    );
}

#[test]
fn packages_and_texts_are_told_apart() {
    for (text, is) in [
        ("machine M end", true),
        (" /* x */ // y\nCONTEXT C\nend", true),
        ("package(load_event_b_project([],[],[],_)).", false),
        (":- dynamic package/1.\n", false),
        ("machine(x).", false),
        ("machines x", false),
        ("/* machine", false),
        ("", false),
    ] {
        assert_eq!(is_text(text), is, "{text}");
    }
}

#[test]
fn what_is_wrong_is_said_with_its_place() {
    let events = |inside: &str| format!("machine M\nevents\n  event INITIALISATION\n{inside}\n  end\nend\n");
    for (text, place, words) in [
        (
            "machine M\nvariables x\ninvariants\n  x > 0\nend\n".to_string(),
            "4:3",
            "expected a label (`@name`)",
        ),
        ("machine M\nvariables x\ninvariant\n  @i x > 0\nend\n".to_string(), "4:3", "expected one of"),
        ("machine M\ninvariants\n  @i x >\n  @j x = 1 ∧\nend\n".to_string(), "4:3", "expected a formula"),
        ("machine M\nevants\nend\n".to_string(), "2:1", "did you mean `events`?"),
        ("machine\n".to_string(), "2:1", "expected a name, found the end of the text"),
        ("machine M\nvariables x\n".to_string(), "3:1", "expected one of"),
        (events("  then\n    @a x ≔"), "6:3", "expected a formula"),
        (events("  then\n    x ≔ 1"), "5:5", "expected a label"),
        (events("  when @g x = 1 ∨ y = 2 ∧ z = 3"), "4:25", "`∨` and `∧` beside each other need parentheses"),
        ("machine M\nend\nmachine M\nend\n".to_string(), "3:9", "is there twice"),
        ("machine M end\nmachine N end\n".to_string(), "1:1", "several machines"),
        ("machine M /* \nend\n".to_string(), "1:11", "this comment has no end"),
    ] {
        let e = Memory::default().with("m.mchx", &text).open("m.mchx").expect_err(&text);
        assert!(e.contains(&format!("m.mchx:{place} ")) && e.contains(words), "{text}{e}");
    }
    // Several mistakes in one run, and the events behind one with a mistake.
    let text = events("  then\n    @a x ≔\n    @b y = 1\n  end\n  event e\n  where @g z >");
    let e = Memory::default().with("m.mchx", &text).open("m.mchx").expect_err("three mistakes");
    assert_eq!(e.lines().count(), 3, "{e}");
}

#[test]
fn odd_labels_and_names() {
    let text = "machine M-1\nvariables status\ninvariants\n  @\"a label\" status ∈ ℕ\n  @ status ≥ 0\n\
                events\n  event INITIALISATION\n  then\n    @a: status ≔ 0\n  end\nend\n";
    let p = Memory::default().with("m.mchx", text).open("m.mchx").unwrap_or_else(|e| panic!("{e}"));
    let m = &p.machines[0];
    assert_eq!(&*m.name.name, "M-1");
    let labels: Vec<Option<&str>> = m.invariants.iter().map(|l| l.label.as_deref()).collect();
    assert_eq!(labels, [Some("a label"), None]);
    assert_eq!(m.events[0].actions[0].label.as_deref(), Some("a"));
    assert_eq!(through(&p, Form::Text).map(|again| lines(&again)), Ok(lines(&p)));
    assert_eq!(through(&p, Form::Rodin).map(|again| lines(&again)), Ok(lines(&p)));
    // A word of the notation is no name in a text, and is one elsewhere.
    let text = text.replace("status", "theorem_").replace("theorem_", "state");
    let mut p = Memory::default().with("m.mchx", text).open("m.mchx").unwrap_or_else(|e| panic!("{e}"));
    p.machines[0].variables[0].name = "end".into();
    let e = through(&p, Form::Text).expect_err("a word");
    assert!(e.contains("the name `end` cannot be written in a text"), "{e}");
}

#[test]
fn beside_a_mistake_there_is_a_tree() {
    let text = BOTH.replace("@inv1: x ∈ S", "@inv1: x ∈").replace("@act1 z ≔ z ∪ {x}", "@act1 z ≔ z ∪ {");
    let loaded = load_text("m.eventb", &text);
    assert!(loaded.model.is_none());
    assert_eq!(loaded.diagnostics.iter().filter(|d| d.is_error()).count(), 2, "{:?}", loaded.diagnostics);
    let tree = loaded.tree.expect("what could be read");
    assert_eq!((tree.variables.len(), tree.operations.len()), (3, 1));
    // And without mistakes there is a model.
    let loaded = load_text("m.eventb", BOTH);
    assert!(loaded.model.is_some(), "{:?}", loaded.diagnostics);
}
