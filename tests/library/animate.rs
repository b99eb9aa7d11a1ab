//! The animator's session: of a B machine, and of a system written in Rust.

use crate::caches::Caches;
use kanon::animate::{End, From, Limits, Missing, Place, Session, Sought, Tree, Unseen, Walk, tree};
use kanon::run::{Deadline, Task, check_file};
use kanon::system::{Role, Stop, System};
use kanon::trace::explain::Truth;
use kanon::trace::export::Format;
use kanon::trace::question::Reply;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

fn library() -> Session {
    open(Path::new("models/demo/Library.mch"))
}

fn open(file: &Path) -> Session {
    Session::open(file, &Default::default(), &Deadline::never())
        .map_err(|r| r.diagnostics)
        .expect("a model without errors")
}

/// A machine of a test's own, in a file of its own.
fn machine(name: &str, text: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("kanon-animate-{}-{name}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder for the test");
    let file = folder.join(format!("{name}.mch"));
    std::fs::write(&file, text).expect("a file for the test");
    file
}

fn stop() -> Stop {
    Stop::default()
}

/// The operation's calls as `b=BOOK1, r=READER1`.
fn parameters(s: &mut Session, operation: &str) -> Vec<String> {
    let all = s.operations(&stop());
    let found = all.into_iter().find(|o| o.name == operation).expect("the machine has it");
    let one = |pairs: &[(String, String)]| {
        pairs.iter().map(|(n, v)| format!("{n}={v}")).collect::<Vec<_>>().join(", ")
    };
    found.calls.iter().map(|c| one(&c.parameters)).collect()
}

#[test]
fn operations_have_their_real_parameters() {
    let mut s = library();
    let before = s.operations(&stop());
    assert_eq!(before.len(), 1, "before the first state there is INITIALISATION alone");
    assert_eq!(before[0].calls.len(), 1);
    assert!(s.state().is_empty());
    s.walk_mut().step(0, &stop()).expect("an initial state");
    let borrow = parameters(&mut s, "borrow");
    assert!(borrow.contains(&"b=BOOK1, r=READER1".to_string()), "{borrow:?}");
    assert_eq!(parameters(&mut s, "return"), Vec::<String>::new());
    s.call("borrow", &["BOOK1".into(), "r = READER2".into()], &stop()).expect("it is enabled");
    assert_eq!(parameters(&mut s, "return"), ["b=BOOK1"]);
    let lent = s.state().into_iter().find(|v| v.name == "lent").expect("a variable");
    assert_eq!((&*lent.value, lent.before.as_deref()), ("{(BOOK1|->READER2)}", Some("{}")));
    let reserved = s.state().into_iter().find(|v| v.name == "reserved").expect("a variable");
    assert_eq!(reserved.before, None, "what did not change has no value before");
    assert!(s.call("borrow", &["BOOK1".into()], &stop()).is_err(), "the book is lent");
    assert!(s.call("steal", &[], &stop()).is_err());
    assert!(s.call("return", &["b = nonsense".into()], &stop()).is_err());
}

#[test]
fn a_disabled_operation_says_which_condition_and_what_would_do() {
    let mut s = library();
    assert!(s.why_not("return", &[]).is_err(), "there is no state yet");
    s.walk_mut().step(0, &stop());
    // No parameter is given: none fulfils the condition.
    let why = s.why_not("return", &[]).expect("an operation");
    let [way] = &why.ways[..] else { panic!("one way: {why:?}") };
    assert_eq!(way.summary.as_deref(), Some("no b with b : dom(lent)"));
    assert_eq!(way.conditions[0].truth, Truth::Open(vec!["b".into()]));
    assert!(way.conditions[0].is_blocking && way.conditions[0].wanted.is_empty());
    // With a parameter: the conjunct is false, with values.
    let why = s.why_not("return", &["BOOK2".into()]).expect("an operation");
    let condition = &why.ways[0].conditions[0];
    assert_eq!(condition.truth, Truth::False);
    assert!(condition.why.iter().any(|p| p.text == "dom(lent)" && p.value == "{}"), "{condition:?}");
    // What its parameters would have to be.
    s.call("borrow", &["BOOK1".into(), "READER1".into()], &stop()).expect("it is enabled");
    let why = s.why_not("borrow", &["b = BOOK1".into()]).expect("an operation");
    let conditions = &why.ways[0].conditions;
    assert_eq!(conditions[0].truth, Truth::False, "BOOK1 is lent");
    let reader = conditions.iter().find(|c| c.text == "r : READER").expect("a condition");
    assert!(reader.wanted.contains(&vec![("r".to_string(), "READER1".to_string())]), "{reader:?}");
}

#[test]
fn a_select_with_several_ways_tells_each() {
    let file = machine(
        "Ways",
        "MACHINE Ways VARIABLES x INVARIANT x : 0..9 INITIALISATION x := 5
         OPERATIONS f = SELECT x = 1 THEN x := 2 WHEN x > 7 & x < 9 THEN x := 3 END END",
    );
    let mut s = open(&file);
    s.walk_mut().step(0, &stop());
    let why = s.why_not("f", &[]).expect("an operation");
    let summaries: Vec<_> = why.ways.iter().map(|w| w.summary.clone().unwrap_or_default()).collect();
    assert_eq!(summaries, ["x = 1 is false", "x > 7 is false"]);
    let truths: Vec<_> = why.ways[1].conditions.iter().map(|c| c.truth.clone()).collect();
    assert_eq!(truths, [Truth::False, Truth::True]);
}

#[test]
fn the_history_branches_and_remembers_where_it_went() {
    let mut s = library();
    let walk = s.walk_mut();
    assert!(!walk.undo() && !walk.redo());
    let root = walk.step(0, &stop()).expect("an initial state");
    let left = walk.step(0, &stop()).expect("a step");
    assert!(walk.undo());
    let right = walk.step(1, &stop()).expect("another step");
    assert_ne!(left, right);
    assert_eq!(walk.visited()[root.0].next, [left, right]);
    assert!(walk.undo() && walk.redo());
    assert_eq!(walk.at(), Some(right), "redo goes where the walk went last");
    assert!(walk.go(Some(left)) && walk.undo() && walk.redo());
    assert_eq!(walk.at(), Some(left), "and that is another branch after going there");
    assert!(walk.undo());
    assert_eq!(walk.step(1, &stop()), Some(right), "the same step is the same place");
    assert_eq!(walk.visited().len(), 3);
    assert!(!walk.go(Some(Place(99))) && walk.at() == Some(right));
    assert!(walk.undo() && walk.undo() && walk.at().is_none() && walk.redo());
    assert_eq!(walk.way(Some(right)), [root, right]);
    assert_eq!(walk.step(9999, &stop()), None);
}

#[test]
fn a_predicate_is_sought_with_limits() {
    let mut s = library();
    let limits = Limits::default();
    let seek = |s: &mut Session, text: &str, from| s.seek(text, from, limits, &stop()).expect("a predicate");
    assert!(matches!(seek(&mut s, "card(lent) = 2", From::Start), Sought::Reached(2)));
    assert_eq!(s.ask("card(lent)", &stop()).ok(), Some(Reply::Value("2".into())));
    assert!(matches!(seek(&mut s, "card(lent) = 2", From::Here), Sought::Reached(0)), "it is there already");
    assert!(matches!(seek(&mut s, "card(lent) = 99", From::Here), Sought::Nowhere(_)));
    let few = Limits { states: 5, ..limits };
    let sought = s.seek("card(lent) = 99", From::Here, few, &stop()).expect("a predicate");
    assert!(matches!(sought, Sought::Unknown(Unseen::States(5), 5)), "{sought:?}");
    let no_time = Limits { time: Duration::ZERO, ..limits };
    let sought = s.seek("card(lent) = 99", From::Here, no_time, &stop()).expect("a predicate");
    assert!(matches!(sought, Sought::Unknown(Unseen::Time(_), _)));
    let stopped = stop();
    stopped.store(true, Ordering::Relaxed);
    let sought = s.seek("card(lent) = 99", From::Here, limits, &stopped).expect("a predicate");
    assert!(matches!(sought, Sought::Unknown(Unseen::Stopped, _)));
    // What has no value somewhere is not "nowhere".
    let sought = seek(&mut s, "1 / card(reserved) = 7", From::Here);
    assert!(matches!(sought, Sought::Unknown(Unseen::Fault(_), _)), "{sought:?}");
    let wrong = s.seek("card(lent)", From::Here, limits, &stop()).expect_err("no predicate");
    assert!(!wrong.diagnostics.is_empty());
    assert!(s.seek("no such thing", From::Here, limits, &stop()).is_err());
}

#[test]
fn chance_takes_the_same_steps_for_the_same_seed() {
    let run = |seed| {
        let mut s = library();
        let ended = s.walk_mut().random(12, seed, &stop());
        (ended, s.walk().path())
    };
    assert_eq!(run(7), run(7));
    assert!((0..20).any(|seed| run(seed).1 != run(7).1));
    // Steps end where the invariant does.
    let broken = (0..200).map(run).find(|((_, end), _)| *end == End::Broken).expect("the demo has a fault");
    let ((steps, _), path) = broken;
    assert_eq!(path.rows.len(), steps);
}

#[test]
fn conjuncts_have_a_truth_and_an_explanation() {
    let file = Path::new("models/demo/Library.mch");
    let (_, checked) = check_file(file, &Default::default(), &Task::default(), &Deadline::never())
        .map_err(|r| r.diagnostics)
        .expect("a model without errors");
    let found = checked.finding.expect("the demo has a fault");
    let mut s = library();
    let loaded = s.follow(&found.trace, &stop());
    assert_eq!((loaded.steps, loaded.failure), (found.trace.steps.len(), None));
    let conjuncts = s.conjuncts(&stop());
    let broken: Vec<_> = conjuncts.iter().filter(|c| matches!(c.judged.truth, Ok(false))).collect();
    let [broken] = &broken[..] else { panic!("one conjunct is broken: {conjuncts:?}") };
    assert_eq!(broken.judged.role, Role::Invariant);
    assert!(broken.text.as_ref().is_some_and(|t| t.line == 11), "{:?}", broken.text);
    let why = s.why(broken.judged.check, &stop());
    assert_eq!(why, tree(&found.why), "the same as the check says");
    fn deepest(all: &[Tree]) -> usize {
        all.iter().map(|t| 1 + deepest(&t.below)).max().unwrap_or(0)
    }
    assert!(deepest(&why) > 1, "it unfolds: {why:?}");
    // True conjuncts have one, too.
    assert!(conjuncts.iter().filter(|c| matches!(c.judged.truth, Ok(true))).count() >= 2);
    assert!(s.why(999, &stop()).is_empty());
}

#[test]
fn expressions_are_watched() {
    let mut s = library();
    s.watch("card(lent)").map_err(|r| r.diagnostics).expect("an expression");
    s.watch("1 / card(lent)").map_err(|r| r.diagnostics).expect("an expression");
    assert!(s.watch("lent +").is_err() && s.watch("nothing").is_err());
    s.walk_mut().step(0, &stop());
    let watched = s.watched(&stop());
    assert_eq!(watched[0].reply, Ok(Reply::Value("0".into())));
    assert!(watched[1].reply.is_err(), "it has no value yet");
    s.walk_mut().step(0, &stop());
    assert_eq!(s.watched(&stop())[1].reply, Ok(Reply::Value("1".into())));
    assert!(s.unwatch(0) && !s.unwatch(5));
    assert_eq!(s.watched(&stop()).len(), 1);
}

#[test]
fn traces_go_out_and_come_back_in_three_formats() {
    for model in [
        "models/demo/Library.mch",
        "models/papers/scheduler1.mch",
        "models/lang/op_records.mch",
        "models/lang/op_sequences.mch",
        "models/lang/decl_freetypes.mch",
        "models/eventb/Lift.eventb",
    ] {
        let file = Path::new(model);
        let mut s = open(file);
        s.walk_mut().random(8, 3, &stop());
        for format in [Format::Kanon, Format::Itf, Format::Prob] {
            let text = s.save(format).to_string();
            let mut other = open(file);
            let loaded =
                other.load(&text, &stop()).unwrap_or_else(|why| panic!("{model}, {format:?}: {why}"));
            assert_eq!(loaded.failure, None, "{model}, {format:?}");
            // Not the rows: other sessions may have other words for values.
            assert_eq!(other.trace(), s.trace(), "{model}, {format:?}");
        }
    }
    // An ITF file of another tool does not say by which operations.
    let mut s = library();
    s.walk_mut().random(3, 1, &stop());
    let mut itf = s.save(Format::Itf);
    for state in itf["states"].as_array_mut().expect("states") {
        state.as_object_mut().expect("a state").remove("#meta");
    }
    let mut other = library();
    let loaded = other.load(&itf.to_string(), &stop()).expect("a trace");
    assert_eq!((loaded.steps, loaded.failure), (s.walk().path().rows.len(), None));
    assert_eq!(other.walk().row(), s.walk().row());
    // A step that is not possible is named, and those before it are taken.
    let mut kanon = s.save(Format::Kanon);
    kanon["steps"][1]["state"]["lent"] = "{}".into();
    let loaded = other.load(&kanon.to_string(), &stop()).expect("a trace");
    assert_eq!(loaded.steps, 1);
    assert!(loaded.failure.is_some());
    assert!(other.load("{}", &stop()).is_err() && other.load("nonsense", &stop()).is_err());
    kanon["scope"]["sets"]["BOOK"] = 17.into();
    assert!(other.load(&kanon.to_string(), &stop()).expect_err("other sizes").contains("--card BOOK=17"));
}

#[test]
fn an_address_leads_to_the_same_state() {
    let mut s = library();
    assert_eq!(s.walk_mut().address(&stop()).as_deref(), Some(""));
    s.walk_mut().random(6, 11, &stop());
    let address = s.walk_mut().address(&stop()).expect("an address");
    let mut other = library();
    other.walk_mut().go_to(&address, &stop()).expect("it leads somewhere");
    assert_eq!(other.walk().path(), s.walk().path());
    let at = other.walk().at();
    for wrong in ["0.9999", "x", "-1", "0..99999999999999999999"] {
        assert!(other.walk_mut().go_to(wrong, &stop()).is_err(), "{wrong}");
        assert_eq!(other.walk().at(), at, "it stays where it is");
    }
}

#[test]
fn an_edited_model_goes_the_same_way_as_far_as_it_can() {
    let text = "MACHINE Edited VARIABLES x INVARIANT x : 0..9 INITIALISATION x := 0
        OPERATIONS up = SELECT x < 9 THEN x := x + 1 END; down = SELECT x > 0 THEN x := x - 1 END END";
    let file = machine("Edited", text);
    let mut s = open(&file);
    s.walk_mut().step(0, &stop());
    s.call("up", &[], &stop()).expect("it is enabled");
    s.call("up", &[], &stop()).expect("it is enabled");
    s.watch("x * 2").map_err(|r| r.diagnostics).expect("an expression");
    assert!(!s.is_stale());
    std::fs::write(&file, text.replace("x < 9", "x < 1")).expect("a file");
    assert!(s.is_stale());
    let (again, loaded) = s.reopened(&Deadline::never()).map_err(|r| r.diagnostics).expect("a model");
    assert_eq!((loaded.steps, loaded.of), (2, 3));
    assert!(loaded.failure.is_some());
    assert_eq!(again.watched(&stop())[0].reply, Ok(Reply::Value("2".into())));
    std::fs::write(&file, "MACHINE Edited VARIABLES").expect("a file");
    assert!(s.reopened(&Deadline::never()).is_err());
}

/// The text or an attribute of an element of the picture.
fn drawn(s: &mut Session, id: &str, name: &str) -> String {
    fn find<'e>(e: &'e kanon::animate::Element, id: &str) -> Option<&'e kanon::animate::Element> {
        if e.id.as_deref() == Some(id) { Some(e) } else { e.inside.iter().find_map(|e| find(e, id)) }
    }
    let picture = s.picture(&stop()).expect("its files are right").expect("the model has a picture");
    assert_eq!(picture.problems, Vec::<String>::new());
    let e = find(&picture.root, id).unwrap_or_else(|| panic!("no {id}"));
    let found = e.attributes.iter().find(|(n, _)| n == name).map(|(_, v)| v.clone());
    if name == "text" { e.text.clone() } else { found.unwrap_or_default() }
}

#[test]
fn a_model_has_a_picture_that_can_be_clicked() {
    let mut s = library();
    assert!(s.picture(&stop()).expect("its files are right").is_none(), "there is no state yet");
    s.walk_mut().step(0, &stop());
    assert_eq!(drawn(&mut s, "who_BOOK2", "text"), "on the shelf");
    let choice = s.clicked("BOOK2", &stop()).expect("it can be borrowed");
    s.walk_mut().step(choice, &stop());
    assert_eq!(drawn(&mut s, "who_BOOK2", "text"), "READER1 has it");
    assert_eq!(drawn(&mut s, "who_BOOK1", "text"), "on the shelf");
    let choice = s.clicked("BOOK2", &stop()).expect("it can be returned");
    s.walk_mut().step(choice, &stop());
    assert_eq!(drawn(&mut s, "who_BOOK2", "text"), "on the shelf");
    assert!(s.clicked("rule", &stop()).is_err() && s.clicked("nothing", &stop()).is_err());
    // By definitions of the machine alone.
    let mut s = open(Path::new("models/ltl/Philosophers.mch"));
    s.walk_mut().step(0, &stop());
    let mut colours = vec![drawn(&mut s, "p2", "fill")];
    for _ in 0..3 {
        let choice = s.clicked("p2", &stop()).expect("the next step");
        s.walk_mut().step(choice, &stop());
        colours.push(drawn(&mut s, "p2", "fill"));
    }
    assert_eq!(colours, ["#e3e6e9", "#f3dfb2", "#9fd3ad", "#e3e6e9"]);
    let mut none = open(Path::new("models/papers/scheduler1.mch"));
    assert!(none.picture(&stop()).expect("no files").is_none());
}

/// Files of VisB: what a file includes, definitions, objects, hovers, values for when an event is enabled; and definitions
/// of the machine: a box, contents, sequences of records, hovers.
#[test]
fn pictures_of_files_and_of_definitions() {
    let file = machine(
        "Drawn",
        r#"MACHINE Drawn
        DEFINITIONS
          VISB_JSON_FILE == "drawn.json";
          VISB_SVG_BOX == rec(width: 300, height: 100);
          VISB_SVG_OBJECTS_more == [rec(svg_class: "text", `id`: "t", x: 10, text: "hello", title: "a tip")];
          VISB_SVG_UPDATES9 == rec(`id`: "t", fill: IF x > 0 THEN "red" ELSE "blue" END);
          VISB_SVG_HOVERS == rec(`id`: "t", stroke_width: 3);
          VISB_SVG_EVENTS == rec(`id`: "t", event: "up");
          VISB_SVG_CONTENTS == "<circle id='c' r='3'/><script>a()</script>";
          VISB_SVG_OBJECTS_wrong == 1 / x
        VARIABLES x INVARIANT x : 0..3 INITIALISATION x := 0
        OPERATIONS up = SELECT x < 1 THEN x := x + 1 END; set(n) = PRE n : 0..3 THEN x := n END END"#,
    );
    let write = |name: &str, text: &str| {
        std::fs::write(file.with_file_name(name), text).expect("a file for the test");
    };
    write("drawn.svg", "<svg xmlns='http://www.w3.org/2000/svg'><rect id='r'/></svg>");
    write(
        "drawn.json",
        r##"{ "svg": "drawn.svg", "include": ["other.json", "drawn.json"],
          "definitions": [{ "name": "twice", "value": "2 * x" }, { "name": "more", "value": "twice + 1" }],
          "svg_objects": [{ "svg_class": "line", "for": { "from": 0, "to": 4, "step": 2 }, "id": "l%0",
                            "x1": "%0 * 10 + 1", "stroke": "black" }],
          "items": [{ "id": "r", "x": "more * 10", "width": "\"more\"" },
                    { "id": "gone", "attr": "x", "value": "1", "optional": true }],
          "events": [{ "id": "r", "event": "set", "predicates": ["n = more"],
                       "hovers": [{ "attr": "fill", "enter": "red", "leave": "none" },
                                  { "attr": "onclick", "enter": "a()" }],
                       "items": [{ "attr": "stroke", "enabled": "\"green\"", "disabled": "\"grey\"" }] }] }"##,
    );
    write(
        "other.json",
        r#"{ "svg": "nowhere.svg", "items": [{ "id": "r", "x": "0", "y": "7" }, { "id": "r", "attr": "fill", "value": "x +" }] }"#,
    );
    let mut s = open(&file);
    s.walk_mut().step(0, &stop());
    let picture = s.picture(&stop()).expect("its files are right").expect("a picture");
    fn found<'e>(e: &'e kanon::animate::Element, id: &str) -> Option<&'e kanon::animate::Element> {
        if e.id.as_deref() == Some(id) { Some(e) } else { e.inside.iter().find_map(|e| found(e, id)) }
    }
    let at = |id: &str, name: &str| -> Option<String> {
        let e = found(&picture.root, id)?;
        e.attributes.iter().find(|(n, _)| n == name).map(|(_, v)| v.clone())
    };
    assert_eq!(at("r", "x").as_deref(), Some("10"), "the file itself wins over what it includes");
    assert_eq!(at("r", "y").as_deref(), Some("7"));
    assert_eq!(at("r", "width").as_deref(), Some("more"), "what is in quotes stays");
    assert_eq!(at("r", "stroke").as_deref(), Some("green"), "set(1) is enabled");
    assert_eq!(at("l4", "x1").as_deref(), Some("41"));
    assert_eq!(at("t", "fill").as_deref(), Some("blue"));
    assert_eq!(at("c", "r").as_deref(), Some("3"));
    let tip = found(&picture.root, "t").and_then(|e| e.inside.first()).expect("a title");
    assert_eq!((&*tip.tag, &*tip.text), ("title", "a tip"));
    assert!(picture.root.attributes.contains(&("viewBox".into(), "0 0 300 100".into())));
    let hovers: Vec<String> = picture
        .hovers
        .iter()
        .map(|h| format!("{} {} {} {:?}", h.over, h.attribute, h.enter, h.leave))
        .collect();
    assert_eq!(hovers, ["r fill red Some(\"none\")", "t stroke-width 3 None"]);
    // Everything that could not be drawn is told, and nothing else is lost by it.
    let told = picture.problems.join("\n");
    for word in ["included again", "r.fill", "`onclick` cannot be set", "VISB_SVG_OBJECTS_wrong"] {
        assert!(told.contains(word), "{word} in {told}");
    }
    let choice = s.clicked("r", &stop()).expect("it is enabled");
    s.walk_mut().step(choice, &stop());
    assert_eq!(s.state()[0].value, "1");
    assert!(s.clicked("t", &stop()).is_err_and(|why| why.contains("`up` is not enabled")));
}

#[test]
fn nodes_of_the_graph_lead_to_their_states() {
    let mut s = library();
    s.walk_mut().step(0, &stop());
    let graph = s.graph(None, 500, &stop()).expect("a graph");
    for (i, node) in graph.nodes.iter().enumerate() {
        s.go_to_node(None, 500, i, &stop()).expect("a node");
        let state: Vec<String> = s
            .state()
            .iter()
            .filter(|v| !v.is_constant)
            .map(|v| format!("{} = {}", v.name, v.value))
            .collect();
        assert_eq!(state.join("\n"), node.text);
        // The way there is a run of the machine: any session can take it.
        let trace = s.save(Format::Kanon).to_string();
        let loaded = library().load(&trace, &stop()).expect("a trace");
        assert_eq!((loaded.failure, loaded.steps), (None, loaded.of));
    }
    let graph = s.graph(Some("card(lent)"), 500, &stop()).expect("a graph");
    let two = graph.nodes.iter().position(|n| n.text == "2").expect("two books are lent");
    s.go_to_node(Some("card(lent)"), 500, two, &stop()).expect("a node");
    assert_eq!(s.ask("card(lent)", &stop()).ok(), Some(Reply::Value("2".into())));
    assert!(s.go_to_node(None, 500, 100_000, &stop()).is_err());
}

#[test]
fn relations_of_one_type_are_told_apart() {
    let mut s = open(Path::new("models/ltl/Philosophers.mch"));
    s.walk_mut().step(0, &stop());
    let all = s.relations();
    assert!(all.iter().any(|r| r.name == "next" && r.is_homogeneous && r.pairs.len() == 3), "{all:?}");
    let mut s = library();
    s.walk_mut().step(0, &stop());
    assert!(s.relations().iter().all(|r| !r.is_homogeneous));
}

/// Views ask any system the same: what it cannot tell is refused.
#[test]
fn views_show_systems_written_in_rust() {
    use kanon::animate::command::{Said, obey};
    use kanon::animate::{Animated, Scene};
    let mut walk: Box<dyn Animated> = Box::new(Walk::new(Arc::new(Caches::new(3, true))));
    let scene = Scene::of(&mut *walk, &stop());
    assert_eq!(scene.operations[0].calls.len(), 1, "an initial state");
    let mut line = |command: &str, rest: &str| obey(&mut *walk, command, rest, Limits::default(), &stop());
    assert!(matches!(line("step", "1"), Ok(Said::Moved(m)) if m.state.len() == 3));
    assert!(matches!(line("ops", ""), Ok(Said::Calls(all, _)) if !all.is_empty()));
    assert!(line("op", "nothing").is_err() && line("goto", "nothing").is_err() && line("step", "0").is_err());
    let found = line("goto", "not one writer");
    assert!(
        matches!(&found, Ok(said @ Said::Sought(Sought::Reached(_), _)) if said.is_broken()),
        "{found:?}"
    );
    assert!(matches!(line("inv", ""), Ok(Said::Conjuncts(all)) if all.len() >= 2));
    for (command, rest) in [("watch", "1"), ("type", "1"), ("why", "grant")] {
        assert!(line(command, rest).is_err(), "{command}");
    }
    assert!(matches!(line("undo", ""), Ok(Said::Moved(_))));
    let text = walk.save(Path::new("way.json"));
    let mut other = Walk::new(Arc::new(Caches::new(3, true)));
    let loaded = Animated::load(&mut other, &text, &stop()).expect("a way");
    assert_eq!((loaded.failure, loaded.steps), (None, loaded.of));
    assert!(walk.ask("1", &stop()).is_err() && walk.watched(&stop()).is_empty());
}

#[test]
fn a_system_written_in_rust_is_walked_through() {
    let system = Arc::new(Caches::new(3, true));
    let mut walk = Walk::new(system.clone());
    assert!(walk.state().is_empty() && walk.judge(&stop()).is_empty());
    walk.step(0, &stop()).expect("an initial state");
    assert_eq!(walk.state().len(), system.show_state(&[0, 0, 0]).len());
    assert!(!walk.choices(&stop()).all.is_empty());
    let broken = |system: &Caches, row: &[u64]| {
        let mut worker = system.worker(&stop());
        let here = system.load(&mut worker, row);
        system.holds(0, here).map(|holds| !holds)
    };
    let sought = walk.seek(From::Start, &mut |s, row| broken(s, row), Limits::default(), &stop());
    let Sought::Reached(steps) = sought else { panic!("the protocol has a mistake: {sought:?}") };
    let options = kanon::Options { goal: false, ..Default::default() };
    let checked = kanon::run::system::check(&*system, None, &options).expect("they go together");
    assert_eq!(checked.path.expect("a counterexample").rows.len(), steps + 1, "a shortest way");
    assert!(walk.judge(&stop()).iter().any(|j| j.role == Role::Invariant && matches!(j.truth, Ok(false))));
    let json = walk.to_json();
    let mut other = Walk::new(system.clone());
    other.take_json(&json, &stop()).expect("the same way");
    assert_eq!(other.row(), walk.row());
    let right = Arc::new(Caches::new(3, false));
    assert!(Walk::new(right.clone()).take_json(&json, &stop()).is_err(), "the mistake is not there");
    let sought = Walk::new(right).seek(From::Here, &mut |s, row| broken(s, row), Limits::default(), &stop());
    assert!(matches!(sought, Sought::Nowhere(n) if n > 10), "{sought:?}");
    let address = walk.address(&stop()).expect("an address");
    other.go(None);
    other.go_to(&address, &stop()).expect("it leads there");
    assert_eq!(other.path(), walk.path());
}

#[test]
fn so_many_choices_are_offered_and_no_more() {
    let file = machine(
        "Many",
        "MACHINE Many VARIABLES x INVARIANT x : 0..5000 INITIALISATION x :: 0..5000
         OPERATIONS f(y) = PRE y : 1..5000 THEN x := y END END",
    );
    let mut s = open(&file);
    let initial = s.walk_mut().choices(&stop());
    assert_eq!((initial.all.len(), initial.missing), (1000, Some(Missing::More)));
    s.walk_mut().step(0, &stop());
    let choices = s.walk_mut().choices(&stop());
    assert_eq!((choices.all.len(), choices.missing), (1000, Some(Missing::More)));
    // A search is not bound by what is offered.
    let sought = s.seek("x = 4999", From::Here, Limits::default(), &stop()).expect("a predicate");
    assert!(matches!(sought, Sought::Reached(1)), "{sought:?}");
}
