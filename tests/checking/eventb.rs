//! Event-B: what packages mean. The counts of whole packages were asked of ProB 1.8.2.
//!
//! Terms are written shortly here: `~` stands for the place (`none,`), `$x` for the identifier x and `#3` for a number.

use crate::support::{explore, solved};
use kanon::explore::Options;
use kanon::model::load::load_text;
use kanon::model::scope::{ScopeArgs, scope};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// A text in full.
pub(super) fn term(short: &str) -> String {
    let mut out = String::new();
    let mut chars = short.chars().peekable();
    while let Some(c) = chars.next() {
        let (open, close) = match c {
            '~' => ("none,", ""),
            '$' => ("identifier(none,'", "')"),
            '#' => ("integer(none,", ")"),
            c => {
                out.push(c);
                continue;
            }
        };
        out.push_str(open);
        while !close.is_empty() && chars.peek().is_some_and(|c| c.is_alphanumeric() || "_-'".contains(*c)) {
            match chars.next() {
                Some('\'') => out.push_str("\\'"),
                c => out.extend(c),
            }
        }
        out.push_str(close);
    }
    out
}

pub(super) fn package(machines: &[String], contexts: &[String], extras: &str) -> String {
    let (machines, contexts) = (machines.join(","), contexts.join(","));
    format!("package(load_event_b_project([{machines}],[{contexts}],[{extras}],_Error)).\n")
}

pub(super) fn context(sets: &str, constants: &str, axioms: &str) -> String {
    let list = |names: &str, one: fn(&str) -> String| -> String {
        let names = names.split_whitespace().map(one);
        names.collect::<Vec<_>>().join(",")
    };
    let sets = list(sets, |s| format!("deferred_set(none,'{s}')"));
    let constants = list(constants, |c| format!("identifier(none,'{c}')"));
    format!(
        "event_b_context(none,'C',[extends(none,[]),constants(none,[{constants}]),\
         axioms(none,[{}]),theorems(none,[]),sets(none,[{sets}])])",
        term(axioms)
    )
}

pub(super) struct Event<'a> {
    pub name: &'a str,
    pub refines: &'a str,
    pub params: &'a str,
    pub guards: &'a str,
    pub actions: &'a str,
    pub witnesses: &'a str,
    pub status: &'a str,
}

pub(super) const EVENT: Event<'static> =
    Event { name: "", refines: "", params: "", guards: "", actions: "", witnesses: "", status: "ordinary" };

impl Event<'_> {
    fn text(&self) -> String {
        let Event { name, refines, params, guards, actions, witnesses, status } = self;
        let [params, guards, actions, witnesses] = [params, guards, actions, witnesses].map(|t| term(t));
        format!(
            "event(rodinpos('M','{name}',x),'{name}',{status}(none),[{refines}],[{params}],[{guards}],[],\
             [{actions}],[{witnesses}])"
        )
    }
}

pub(super) fn machine(
    name: &str,
    refines: &str,
    variables: &str,
    invariants: &str,
    events: &[Event],
) -> String {
    let refines = if refines.is_empty() { String::new() } else { format!("refines(none,'{refines}'),") };
    let events: Vec<String> = events.iter().map(Event::text).collect();
    format!(
        "event_b_model(none,'{name}',[{refines}sees(none,[]),variables(none,[{}]),invariant(none,[{}]),\
         theorems(none,[]),events(none,[{}])])",
        term(variables),
        term(invariants),
        events.join(",")
    )
}

/// Valuations of the constants, states, transitions, states with an error; or the first message.
pub(super) fn counts(text: &str) -> Result<(usize, usize, u64, bool), String> {
    let loaded = load_text("t.eventb", text);
    let Some(model) = &loaded.model else {
        return Err(loaded.diagnostics.first().map_or(String::new(), |d| d.message.clone()));
    };
    let (scope, _) = scope(model, &ScopeArgs::default()).map_err(|d| d[0].message.clone())?;
    let stop = Arc::new(AtomicBool::new(false));
    let (system, setup) = solved(model, &scope, 10_000, &stop);
    if let Some(fault) = setup.fault {
        return Err(format!("{fault:?}"));
    }
    let options =
        Options { all: true, deadlock: false, assertions: false, goal: false, ..Options::default() };
    let c = explore(&system, &options, &stop).counts;
    Ok((setup.valuations, c.states, c.transitions, c.wd_errors > 0))
}

pub(super) const INIT: Event<'static> = Event { name: "INITIALISATION", ..EVENT };

#[test]
fn a_state_has_the_variables_of_all_levels() {
    let top = machine(
        "M",
        "",
        "$x",
        "member(~$x,interval(~#0,#2))",
        &[
            Event { actions: "becomes_element_of(~[$x],interval(~#0,#2))", ..INIT },
            Event { name: "set", actions: "becomes_element_of(~[$x],interval(~#0,#2))", ..EVENT },
        ],
    );
    let below = |witness: &str, variable: &str, value: &str| {
        let actions = format!("assign(~[{variable}],[#0])");
        let set = Event { name: "set2", refines: "set", actions: value, witnesses: witness, ..EVENT };
        let init = Event { refines: "'INITIALISATION'", actions: &actions, witnesses: witness, ..INIT };
        package(&[machine("R", "M", variable, "", &[init, set]), top.clone()], &[], "")
    };
    let some_y = "becomes_element_of(~[$y],interval(~#0,#1))";
    for (what, text, states, transitions, is_error) in [
        ("a witness", below("witness(~$x',equal(~$x',$y'))", "$y", some_y), 2, 4, false),
        ("no witness: any value that the abstraction allows", below("", "$y", some_y), 6, 36, false),
        ("a variable that is kept", below("", "$x", "assign(~[$x],[#2])"), 2, 2, false),
        ("a value that the abstraction does not allow", below("", "$x", "assign(~[$x],[#5])"), 1, 0, true),
    ] {
        let found = counts(&text).map(|(_, s, t, e)| (s, t, e));
        assert_eq!(found, Ok((states, transitions, is_error)), "{what}");
    }
}

#[test]
fn abstract_guards_are_demanded_of_witnesses() {
    let inc = Event {
        name: "inc",
        params: "$p",
        guards: "member(~$p,interval(~#1,#2)),less_equal(~$x,#1)",
        actions: "assign(~[$x],[add(~$x,$p)])",
        ..EVENT
    };
    let init = Event { actions: "assign(~[$x],[#0])", ..INIT };
    let top = machine("M", "", "$x", "member(~$x,interval(~#0,#3))", &[init, inc]);
    let below = |most: &str| {
        let guards = format!("member(~$q,interval(~#1,{most})),less_equal(~$y,#1)");
        let inc = Event {
            name: "inc2",
            refines: "inc",
            params: "$q",
            guards: &guards,
            actions: "assign(~[$y],[add(~$y,$q)])",
            witnesses: "witness(~$p,equal(~$p,$q))",
            ..EVENT
        };
        let init = Event { actions: "assign(~[$y],[#0])", refines: "'INITIALISATION'", ..INIT };
        package(&[machine("R", "M", "$y", "equal(~$x,$y)", &[init, inc]), top.clone()], &[], "")
    };
    assert_eq!(counts(&below("#2")), Ok((1, 4, 4, false)));
    // The step with q = 3 is an error and no step.
    assert_eq!(counts(&below("#3")), Ok((1, 4, 4, true)));
}

#[test]
fn a_merged_event_follows_what_it_can() {
    let e = |name, guards, z| Event { name, guards, actions: z, ..EVENT };
    let top = machine(
        "M",
        "",
        "$x,$z",
        "",
        &[
            Event { actions: "assign(~[$x,$z],[#0,#0])", ..INIT },
            e("e1", "equal(~$x,#0)", "assign(~[$x],[#1]),assign(~[$z],[#1])"),
            e("e2", "", "assign(~[$x],[#1]),assign(~[$z],[#2])"),
        ],
    );
    let init = Event { actions: "assign(~[$x],[#0])", refines: "'INITIALISATION'", ..INIT };
    let merged = Event { name: "e", refines: "e1,e2", actions: "assign(~[$x],[#1])", ..EVENT };
    let text = package(&[machine("R", "M", "$x", "", &[init, merged]), top], &[], "");
    assert_eq!(counts(&text), Ok((1, 3, 4, false)));
}

#[test]
fn new_events_leave_the_abstraction_alone() {
    let init = || Event { actions: "assign(~[$x],[#0])", ..INIT };
    let top = machine("M", "", "$x", "member(~$x,integer_set(none))", &[init()]);
    let new = Event { name: "new", actions: "assign(~[$x],[#1])", ..EVENT };
    let text = package(&[machine("R", "M", "$x", "", &[init(), new]), top], &[], "");
    assert_eq!(counts(&text), Ok((1, 1, 0, true)));
}

#[test]
fn variants_decrease() {
    let with = |status: &str, from: &str, action: &str| {
        let start = format!("assign(~[$x],[{from}])");
        let e = Event { name: "e", guards: "greater(~$x,#-1)", actions: action, status, ..EVENT };
        let m =
            machine("M", "", "$x", "member(~$x,integer_set(none))", &[Event { actions: &start, ..INIT }, e]);
        let m = m.replace("sees(none,[])", &format!("sees(none,[]),variant(none,{})", term("$x")));
        counts(&package(&[m], &[], "")).map(|(_, _, t, e)| (t, e))
    };
    let down = "assign(~[$x],[minus(~$x,#1)])";
    let same = "assign(~[$x],[$x])";
    assert_eq!(with("convergent", "#2", down), Ok((3, false)));
    assert_eq!(with("convergent", "#2", same), Ok((0, true)));
    assert_eq!(with("anticipated", "#2", same), Ok((1, false)));
    assert_eq!(with("ordinary", "#2", same), Ok((1, false)));
}

/// The number of valuations of these constants, which are as many as ProB has: nothing distinguishes the elements of a
/// carrier set but the constants.
#[test]
fn constants_name_elements() {
    for (constants, axioms, valuations) in [
        ("a b", "partition(~$S,[set_extension(~[$a]),set_extension(~[$b])])", 1),
        ("c d", "member(~$c,$S),member(~$d,$S)", 2),
        ("a b", "member(~$a,$S),member(~$b,$S),not_equal(~$a,$b)", 1),
        ("a b", "member(~$a,$S),member(~$b,$S),negation(~equal(~$a,$b))", 1),
        ("a b", "member(~$a,$S),member(~$b,$S),equal(~card(~$S),#3)", 3),
        ("a A", "subset(~$A,$S),member(~$a,$A)", 2),
        ("a A", "partition(~$S,[set_extension(~[$a]),$A])", 1),
        ("a b c", "equal(~$S,set_extension(~[$a,$b,$c])),equal(~card(~$S),#3)", 1),
        ("a b c", "equal(~$S,set_extension(~[$a,$b,$c])),not_equal(~$a,$b)", 2),
        ("A", "subset(~$A,$S)", 4),
        ("a A", "partition(~$S,[set_extension(~[$a]),$A]),not_equal(~$A,empty_set(none))", 1),
    ] {
        let text = package(&[], &[context("S", constants, axioms)], "");
        assert_eq!(counts(&text).map(|c| c.0), Ok(valuations), "{axioms}");
    }
}

/// What an axiom says of a constant is used only where that axiom holds.
#[test]
fn contexts_that_are_not_seen_say_nothing() {
    let axioms = "equal(~$f,event_b_comprehension_set(~[$x],couple(~[$x,#1]),member(~$x,bool_set(none))))";
    let seen = context("", "f", "member(~$f,total_function(~bool_set(none),interval(~#1,#2)))");
    let unseen =
        context("", "", axioms).replace("'C'", "'D'").replace("extends(none,[])", "extends(none,['C'])");
    let text = package(&[], &[seen.clone(), unseen.clone()], "");
    assert_eq!(counts(&text).map(|c| c.0), Ok(4));
    let text = package(&[], &[unseen, seen], "");
    assert_eq!(counts(&text).map(|c| c.0), Ok(1));
}

/// Predicates, by whether an axiom that says them has a solution.
#[test]
fn operators() {
    let pairs = "set_extension(~[couple(~[#1,#2]),couple(~[#3,#4])])";
    let all = "natural_set(none)";
    let table = [
        ("equal(~div(~#7,#2),#3)".to_string(), true),
        ("equal(~div(~#-7,#2),#-3)".into(), true),
        ("equal(~modulo(~#7,#2),#1)".into(), true),
        (format!("equal(~function(~{pairs},[#3]),#4)"), true),
        (format!("equal(~ring(~{pairs},set_extension(~[couple(~[#0,#1])])),set_extension(~[couple(~[#0,#2])]))"), true),
        (format!("equal(~composition(~{pairs},set_extension(~[couple(~[#2,#9])])),set_extension(~[couple(~[#1,#9])]))"), true),
        ("equal(~domain_restriction(~set_extension(~[#1]),event_b_identity(none)),set_extension(~[couple(~[#1,#1])]))".into(), true),
        ("equal(~function(~event_b_first_projection_v2(none),[couple(~[#1,#2])]),#1)".into(), true),
        ("equal(~function(~event_b_second_projection_v2(none),[couple(~[#1,#2])]),#2)".into(), true),
        (format!("equal(~image(~event_b_first_projection_v2(none),{pairs}),set_extension(~[#1,#3]))"), true),
        (format!("finite(~{all})"), false),
        ("finite(~interval(~#1,#5))".into(), true),
        ("partition(~interval(~#1,#3),[set_extension(~[#1]),interval(~#2,#3)])".into(), true),
        ("partition(~interval(~#1,#3),[interval(~#1,#2),interval(~#2,#3)])".into(), false),
        ("partition(~empty_set(none),[])".into(), true),
        ("equal(~event_b_comprehension_set(~[$x],multiplication(~$x,$x),member(~$x,interval(~#-2,#2))),set_extension(~[#0,#1,#4]))".into(), true),
        ("equal(~quantified_union(~[$x],member(~$x,interval(~#1,#2)),set_extension(~[$x])),interval(~#1,#2))".into(), true),
        ("equal(~convert_bool(~truth(none)),boolean_true(none))".into(), true),
        ("forall(~[$x],implication(~member(~$x,integer_set(none)),implication(~member(~$x,interval(~#1,#3)),less(~$x,#4))))".into(), true),
        (format!("forall(~[$x],implication(~member(~$x,{all}),not_member(~couple(~[$x,$x]),{pairs})))"), true),
        ("subset(~relations(~integer_set(none),integer_set(none)),empty_set(none))".into(), false),
        ("equal(~total_function(~integer_set(none),empty_set(none)),empty_set(none))".into(), true),
        ("equal(~total_bijection(~integer_set(none),integer_set(none)),empty_set(none))".into(), false),
        ("member(~set_extension(~[couple(~[#1,#7])]),event_b_comprehension_set(~[$n,$f],$f,conjunct(~member(~$n,natural_set(none)),member(~$f,total_function(~interval(~#1,$n),interval(~#5,#8))))))".into(), true),
        ("equal(~direct_product(~set_extension(~[couple(~[#1,#2])]),set_extension(~[couple(~[#1,#3])])),set_extension(~[couple(~[#1,couple(~[#2,#3])])]))".into(), true),
        ("member(~typeof(~empty_set(none),pow_subset(~integer_set(none))),pow_subset(~integer_set(none)))".into(), true),
        ("extended_pred(~below,[#1,#2],[])".into(), true),
        ("equal(~extended_expr(~lft,[extended_expr(~mk,[#1,boolean_true(none)],[])],[]),#1)".into(), true),
        ("equal(~extended_expr(~'SUM',[set_extension(~[couple(~[#1,#2]),couple(~[#2,#2])])],[]),#4)".into(), true),
        (format!("equal(~composition(~event_b_comprehension_set(~[$i],couple(~[$i,minus(~$i,#2)]),member(~$i,{all})),{pairs}),set_extension(~[couple(~[#3,#2]),couple(~[#5,#4])]))"), true),
        (format!("equal(~composition(~event_b_comprehension_set(~[$i],couple(~[$i,add(~#1,$i)]),member(~$i,natural1_set(none))),{pairs}),set_extension(~[couple(~[#2,#4])]))"), true),
        ("equal(~function(~event_b_comprehension_set(~[$u],couple(~[$u,add(~$u,#1)]),member(~$u,integer_set(none))),[#4]),#5)".into(), true),
        ("equal(~function(~event_b_comprehension_set(~[$u,$v],couple(~[$u,$v]),conjunct(~member(~$u,bool_set(none)),conjunct(~implication(~equal(~$u,boolean_true(none)),equal(~$v,#1)),implication(~negation(~equal(~$u,boolean_true(none))),equal(~$v,#2))))),[boolean_false(none)]),#2)".into(), true),
        ("exists(~[$p,$q],conjunct(~less(~$p,$q),equal(~set_extension(~[#3,#4,#5]),interval(~$p,$q))))".into(), true),
        ("exists(~[$p,$q],conjunct(~less(~$p,$q),equal(~set_extension(~[#3,#5]),interval(~$p,$q))))".into(), false),
        ("equal(~extended_expr(~pick,[set_extension(~[#4,#2])],[]),#2)".into(), true),
        // An argument is not caught by a name that the definition binds.
        ("exists(~[$x],conjunct(~equal(~$x,#5),extended_pred(~below,[#4,$x],[])))".into(), true),
    ];
    let theory = "theory(theory_name(p,t),[],['T'],\
        [datatype('P',[$'T'],[constructor(mk,[destructor(lft,$'T'),destructor(rgt,bool_set(none))])])],\
        [operator(below,[argument(a,integer_set(none)),argument(b,integer_set(none))],truth(none),\
        [exists(~[$x],conjunct(~member(~$x,natural1_set(none)),equal(~add(~$a,$x),$b)))],[])],\
        [axiomatic_def_block(d,[],[opdef('SUM',[argument(s,$'T')],[]),\
        opdef(pick,[argument(s,$'T')],[])],[])],[tag('SUM','SIGMA'),tag(pick,choose)])";
    let theory = term(&theory.replace("$'T'", "$T"));
    for (axiom, holds) in table {
        let text = package(&[], &[context("", "", &axiom)], &theory);
        let found = counts(&text).map(|c| c.0);
        assert_eq!(found, Ok(usize::from(holds)), "{axiom}");
    }
}

/// Being of a type is true of everything, but not of what has no value.
#[test]
fn a_type_does_not_hide_that_there_is_no_value() {
    let couple = |at: &str| format!("function(~set_extension(~[couple(~[#1,couple(~[#2,#3])])]),[{at}])");
    let set = |at: &str| format!("function(~set_extension(~[couple(~[#1,set_extension(~[#2])])]),[{at}])");
    for at in ["#1", "#5"] {
        for axiom in [
            format!("member(~{},cartesian_product(~integer_set(none),integer_set(none)))", couple(at)),
            format!("member(~{},pow_subset(~integer_set(none)))", set(at)),
            format!("not_equal(~relations(~{},integer_set(none)),empty_set(none))", set(at)),
        ] {
            let found = counts(&package(&[], &[context("", "", &axiom)], "")).map(|c| c.0);
            match at {
                "#1" => assert_eq!(found, Ok(1), "{axiom}"),
                _ => {
                    assert!(found.as_ref().is_err_and(|e| e.contains("OutsideDomain")), "{axiom}: {found:?}")
                }
            }
        }
    }
}

#[test]
fn what_is_not_understood_is_refused() {
    let axiom = |a: &str| package(&[], &[context("", "", a)], "");
    let two = "theory([],[datatype(d,[],[constructor(a,[]),constructor(b,[])])],[operator(r,[],truth(none),\
               [extended_pred(none,r,[],[])],[])])";
    for (text, message) in [
        (axiom("squared(~#1)"), "`squared/2` in a formula is not supported"),
        (axiom("extended_pred(~foo,[],[])"), "the operator `foo`, which no theory defines, is not supported"),
        (
            package(&[], &[context("", "", "equal(~extended_expr(~a,[],[]),#1)")], two),
            "type mismatch: d = INTEGER compares different types",
        ),
        (
            package(&[], &[context("", "", "extended_pred(~r,[],[])")], two),
            "`r` (an operator defined by itself) is not supported",
        ),
        (package(&[], &[], "surprise(1)"), "`surprise/1` in a package is not supported"),
        (package(&[], &[], ""), "the project has neither a machine nor a context"),
        ("hello.".to_string(), "this is no package of an Event-B project: there is no `package(…)` in it"),
        (package(&[machine("R", "M", "", "", &[])], &[], ""), "the machine `M` is not here"),
        (
            package(&[machine("M", "", "$x", "equal(~$x,#1)", &[INIT])], &[], ""),
            "INITIALISATION gives `x` no value, which is not supported",
        ),
    ] {
        assert_eq!(counts(&text), Err(message.to_string()), "{text}");
    }
}

#[test]
fn obligations_are_kept() {
    let extras = "po('M','Invariant preservation',[event(e),invariant(i)],true),discharged('M',f,i)";
    let text = package(&[], &[context("S", "", "")], extras);
    let model = load_text("t.eventb", &text).model.expect("a model");
    let about = |i: usize| -> Vec<String> {
        model.obligations[i].about.iter().map(|(kind, label)| format!("{kind} {label}")).collect()
    };
    assert_eq!(
        (about(0), about(1)),
        (vec!["event e".into(), "invariant i".into()], vec!["event f".into(), "invariant i".into()])
    );
    assert!(model.obligations.iter().all(|o| o.is_discharged));
}

/// Whatever the text is, there is an answer.
#[test]
fn damaged_packages_are_no_panic() {
    let e =
        Event { name: "e", params: "$p", guards: "member(~$p,$S)", actions: "assign(~[$x],[$p])", ..EVENT };
    let init = Event { actions: "becomes_such(~[$x],member(~$x',$S))", ..INIT };
    let below = machine("R", "M", "$x", "member(~$x,$S)", &[init, e]);
    let init = Event { actions: "becomes_element_of(~[$x],$S)", ..INIT };
    let e =
        Event { name: "e", params: "$p", guards: "member(~$p,$S)", actions: "assign(~[$x],[$p])", ..EVENT };
    let top = machine("M", "", "$x", "", &[init, e]);
    let top = top.replace("sees(none,[])", "sees(none,['C'])");
    let axioms = "partition(~$S,[set_extension(~[$a]),$A]),forall(~[$i],member(~$i,event_b_identity(none)))";
    let text = package(&[below, top], &[context("S", "a A", axioms)], "exporter_version(3)");
    let mut seed = 88_172_645_463_325_252_u64;
    let mut random = |n: usize| {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        (seed % n.max(1) as u64) as usize
    };
    for _ in 0..1500 {
        let mut bytes = text.clone().into_bytes();
        for _ in 0..=random(4) {
            let (at, to) = (random(bytes.len()), random(bytes.len()));
            match random(5) {
                0 => bytes[at] = random(256) as u8,
                1 => drop(bytes.drain(at.min(to)..at.max(to).min(at.min(to) + 40))),
                2 => bytes.insert(at, b"()[],'\\.|_-%\"~"[random(14)]),
                3 => {
                    let piece: Vec<u8> = bytes[at..bytes.len().min(at + random(60))].to_vec();
                    bytes.splice(to..to, piece);
                }
                _ => bytes.truncate(at.max(1)),
            }
            if bytes.is_empty() {
                bytes.push(b'.');
            }
        }
        let loaded = load_text("t.eventb", &String::from_utf8_lossy(&bytes));
        let bug = loaded.diagnostics.iter().find(|d| d.code == "B0199");
        assert!(bug.is_none(), "{bug:?}: {}", String::from_utf8_lossy(&bytes));
        assert!(loaded.model.is_some() || loaded.diagnostics.iter().any(|d| d.is_error()));
    }
}
