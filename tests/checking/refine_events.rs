//! `kanon refine` on Event-B: each obligation by its name, kept and broken; and random events against a naive checker.

use super::eventb::{EVENT, Event, INIT, machine, package, term};
use super::refine::{Random, ask, folder, machines};
use kanon::model::open::open_sequents;
use kanon::model::scope::ScopeArgs;
use kanon::run::answer::Decision;
use kanon::run::prove::Status;
use kanon::run::refine::{Task, refine};
use kanon::run::{Deadline, sequents};
use std::collections::{BTreeSet, HashSet};

/// `holds`, `unknown`, or the name of the obligation that is broken, and the level.
fn answer(name: &str, machines: &[String], task: &Task) -> String {
    let dir = folder(name, &[("t.eventb", &package(machines, &[], ""))]);
    match ask(&dir.join("t.eventb"), task) {
        Err(why) => format!("refused: {why}"),
        Ok(r) => match (r.verdict, r.finding) {
            (Decision::Fails, Some(f)) => format!("{} {}", f.name.unwrap_or(f.obligation.into()), f.level),
            (verdict, _) => verdict.name().into(),
        },
    }
}

fn labelled(label: &str, formula: &str) -> String {
    // The place of the outermost operator names it.
    formula.replacen("(~", &format!("(rodinpos('M','{label}','{label}'),"), 1)
}

/// A counter with a step of one or two.
fn counter() -> String {
    let guards = format!(
        "{},{}",
        labelled("typ", "member(~$p,interval(~#1,#2))"),
        labelled("room", "less_equal(~$x,#1)")
    );
    let actions = labelled("act", "assign(~[$x],[add(~$x,$p)])");
    let inc = Event { name: "inc", params: "$p", guards: &guards, actions: &actions, ..EVENT };
    let init = Event { actions: "assign(~[$x,$z],[#0,#0])", ..INIT };
    machine("M", "", "$x,$z", "member(~$x,interval(~#0,#3)),member(~$z,interval(~#0,#9))", &[init, inc])
}

/// What is different in a refinement of it.
struct Below<'a> {
    guards: &'a str,
    actions: &'a str,
    witnesses: &'a str,
    glue: &'a str,
    more: &'a [Event<'a>],
}

const BELOW: Below<'static> = Below {
    guards: "member(~$q,interval(~#1,#2)),less_equal(~$y,#1)",
    actions: "assign(~[$y],[add(~$y,$q)])",
    witnesses: "witness(~$p,equal(~$p,$q))",
    glue: "equal(~$x,$y)",
    more: &[],
};

impl Below<'_> {
    fn machines(&self) -> Vec<String> {
        let inc = Event {
            name: "inc2",
            refines: "inc",
            params: "$q",
            guards: self.guards,
            actions: self.actions,
            witnesses: self.witnesses,
            ..EVENT
        };
        let init = Event { actions: "assign(~[$y,$z],[#0,#0])", refines: "'INITIALISATION'", ..INIT };
        let mut events = vec![init, inc];
        events.extend(self.more.iter().map(|e| Event { ..*e }));
        vec![machine("R", "M", "$y,$z", &labelled("glue", self.glue), &events), counter()]
    }
}

#[test]
fn obligations_by_name() {
    let new = |actions| Event { name: "new", actions, ..EVENT };
    let table: &[(&str, Below, &str)] = &[
        ("as it is", BELOW, "holds"),
        ("no witness: some value matches", Below { witnesses: "", ..BELOW }, "holds"),
        (
            "a step that is too large, with a witness",
            Below { guards: "member(~$q,interval(~#1,#3)),less_equal(~$y,#0)", ..BELOW },
            "inc2/typ/GRD R",
        ),
        (
            "enabled too often",
            Below { guards: "member(~$q,interval(~#1,#1)),less_equal(~$y,#2)", ..BELOW },
            "inc2/room/GRD R",
        ),
        (
            "another value, without a witness: the guards allow some, and none is glued",
            Below { actions: "assign(~[$y],[add(~$y,#3)])", witnesses: "", ..BELOW },
            "inc2/glue/INV R",
        ),
        ("not glued", Below { actions: "assign(~[$y],[$q])", ..BELOW }, "inc2/glue/INV R"),
        (
            "a witness that nothing fulfils",
            Below { witnesses: "witness(~$p,conjunct(~equal(~$p,$q),less(~$p,#0)))", ..BELOW },
            "inc2/p/WFIS R",
        ),
        (
            "a variable of both that the abstraction leaves alone",
            Below { actions: "assign(~[$y],[add(~$y,$q)]),assign(~[$z],[#1])", ..BELOW },
            "inc2/z/EQL R",
        ),
        ("a new event", Below { more: &[new("assign(~[$y],[$y])")], ..BELOW }, "holds"),
        (
            "a new event that does too much",
            Below { more: &[new("assign(~[$z],[#1])")], ..BELOW },
            "new/z/EQL R",
        ),
        ("a new event that moves", Below { more: &[new("assign(~[$y],[#0])")], ..BELOW }, "new/glue/INV R"),
    ];
    for (i, (what, below, expected)) in table.iter().enumerate() {
        assert_eq!(answer(&format!("event{i}"), &below.machines(), &Task::default()), *expected, "{what}");
    }
}

/// What the table above has not: obligations about values that must exist, theorems and variants.
#[test]
fn further_obligations_by_name() {
    let inc = |guards: &str, witness: &str, value: &str| {
        format!(
            "event inc2 refines inc any q where @g q ∈ 1‥2 @r y + q ≤ 3 {guards} with @p p = {witness} \
             then @a y ≔ {value} end"
        )
    };
    let ok = inc("", "q", "y + q");
    let new = |status: &str, guard: &str, action: &str| {
        format!("{ok} {status} event new when @g {guard} then @a {action} end")
    };
    let table = [
        ("", "", ok.clone(), "holds"),
        ("", "", inc("", "q ÷ (q − 2)", "y + q"), "inc2/p/WWD R"),
        ("", "", inc("@d 4 ÷ y ≥ 0", "q", "y + q"), "inc2/d/WD R"),
        ("", "", inc("", "q", "y + q ÷ y"), "inc2/a/WD R"),
        ("", "", inc("theorem @th q < 2", "q", "y + q"), "inc2/th/THM R"),
        ("", "", inc("theorem @th q < 3", "q", "y + q"), "holds"),
        ("@w 6 ÷ y > 0", "", ok.clone(), "w/WD R"),
        ("", "", new("", "y > 2", "y :∣ y' = y ∧ y' < 0"), "new/a/FIS R"),
        ("", "", new("", "y > 2", "y :∣ y' = y ∧ y' > 0"), "holds"),
        ("", "5 ÷ y", new("convergent", "y ≥ 0", "y ≔ y"), "VWD R"),
        ("", "y − 2", new("convergent", "y = 0", "y ≔ y"), "new/NAT R"),
        ("", "y", new("convergent", "y = 1", "y ≔ y"), "new/VAR R"),
        ("", "{n ∣ n > y}", new("convergent", "y = 1", "y ≔ y"), "FIN R"),
        ("", "0‥y", new("convergent", "y = 1", "y ≔ y"), "new/VAR R"),
        ("", "y", new("anticipated", "y = 1", "y ≔ y"), "holds"),
    ];
    for (i, (invariant, variant, events, expected)) in table.iter().enumerate() {
        let variant = if variant.is_empty() { String::new() } else { format!("variant @v {variant}") };
        let text = format!(
            "machine M variables x invariants @t x ∈ ℤ events\n event INITIALISATION then @a x ≔ 0 end\n \
             event inc any p where @g p ∈ 1‥2 @r x + p ≤ 3 then @a x ≔ x + p end\nend\n\
             machine R refines M variables y invariants @glue x = y {invariant} {variant} events\n \
             event INITIALISATION then @a y ≔ 0 end\n {events}\nend\n"
        );
        let dir = folder(&format!("further{i}"), &[("t.eventb", &text)]);
        let found = match ask(&dir.join("t.eventb"), &Task::default()) {
            Err(why) => format!("refused: {why}"),
            Ok(r) => match (r.verdict, r.finding) {
                (Decision::Fails, Some(f)) => {
                    format!("{} {}", f.name.unwrap_or(f.obligation.into()), f.level)
                }
                (verdict, _) => verdict.name().into(),
            },
        };
        assert_eq!(found, *expected, "{events} {variant} {invariant}");
    }
}

#[test]
fn actions_are_simulated() {
    let act = labelled("act", "becomes_element_of(~[$x],interval(~#0,#1))");
    let set = Event { name: "set", actions: &act, ..EVENT };
    let init = |r| Event { actions: "assign(~[$x],[#0])", refines: r, ..INIT };
    let top = machine("M", "", "$x", "member(~$x,interval(~#0,#9))", &[init(""), set]);
    for (i, (value, expected)) in [("#1", "holds"), ("#2", "set2/act/SIM R")].into_iter().enumerate() {
        let actions = format!("assign(~[$x],[{value}])");
        let set = Event { name: "set2", refines: "set", actions: &actions, ..EVENT };
        let below = machine("R", "M", "$x", "", &[init("'INITIALISATION'"), set]);
        let found = answer(&format!("simulated{i}"), &[below, top.clone()], &Task::default());
        assert_eq!(found, expected);
    }
}

#[test]
fn a_merged_event_needs_one_that_it_can_follow() {
    let g = |n: &str| labelled(&format!("grd{n}"), &format!("equal(~$x,#{n})"));
    let (g0, g1) = (g("0"), g("1"));
    let act = "assign(~[$x],[minus(~#1,$x)])";
    let init = |r| Event { actions: "assign(~[$x],[#0])", refines: r, ..INIT };
    let e = |name, guards| Event { name, guards, actions: act, ..EVENT };
    let top = machine("M", "", "$x", "member(~$x,interval(~#0,#9))", &[init(""), e("e0", &g0), e("e1", &g1)]);
    for (i, (actions, refines, expected)) in
        [(act, "e0,e1", "holds"), (act, "e0", "e/grd0/GRD R"), ("assign(~[$x],[#2])", "e0,e1", "MRG R")]
            .into_iter()
            .enumerate()
    {
        let merged = Event { name: "e", refines, actions, ..EVENT };
        let below = machine("R", "M", "$x", "", &[init("'INITIALISATION'"), merged]);
        let found = answer(&format!("merged{i}"), &[below, top.clone()], &Task::default());
        if expected == "MRG R" {
            // It can follow e0 as far as its guard: the action does not do this.
            assert!(found.ends_with("/SIM R"), "{found}");
        } else {
            assert_eq!(found, expected);
        }
    }
}

#[test]
fn variants_are_numbers_that_decrease() {
    let below = |status: &str, from: &str, action: &str| {
        let start = format!("assign(~[$y],[{from}])");
        let e = Event { name: "e", guards: "greater(~$y,#-2)", actions: action, status, ..EVENT };
        let init = Event { actions: &start, refines: "'INITIALISATION'", ..INIT };
        let m = machine("R", "M", "$y", "member(~$y,integer_set(none))", &[init, e]);
        m.replace("sees(none,[])", &format!("sees(none,[]),variant(none,{})", term("$y")))
    };
    let init = Event { actions: "assign(~[$x],[#0])", ..INIT };
    let top = machine("M", "", "$x", "member(~$x,integer_set(none))", &[init]);
    let down = "assign(~[$y],[minus(~$y,#1)])";
    let same = "assign(~[$y],[$y])";
    let up = "assign(~[$y],[#1])";
    for (i, (status, from, action, expected)) in [
        ("convergent", "#2", same, "e/VAR R"),
        ("convergent", "#2", down, "e/NAT R"),
        ("anticipated", "#2", same, "holds"),
        ("anticipated", "#0", up, "e/VAR R"),
        ("ordinary", "#0", up, "holds"),
    ]
    .into_iter()
    .enumerate()
    {
        let found =
            answer(&format!("variant{i}"), &[below(status, from, action), top.clone()], &Task::default());
        assert_eq!(found, expected, "{status} {action}");
    }
}

#[test]
fn a_level_in_between_is_followed_too() {
    let init = |v: &'static str, r| Event { actions: v, refines: r, ..INIT };
    let top = machine(
        "M0",
        "",
        "$a",
        "member(~$a,interval(~#0,#3))",
        &[
            init("assign(~[$a],[#0])", ""),
            Event { name: "e", guards: "less(~$a,#2)", actions: "assign(~[$a],[add(~$a,#1)])", ..EVENT },
        ],
    );
    let middle = |guard: &'static str| {
        machine(
            "M1",
            "M0",
            "$b",
            &labelled("glue1", "equal(~$a,$b)"),
            &[
                init("assign(~[$b],[#0])", "'INITIALISATION'"),
                Event {
                    name: "f",
                    refines: "e",
                    guards: guard,
                    actions: "assign(~[$b],[add(~$b,#1)])",
                    ..EVENT
                },
            ],
        )
    };
    let bottom = machine(
        "M2",
        "M1",
        "$c",
        &labelled("glue2", "equal(~$b,minus(~#2,$c))"),
        &[
            init("assign(~[$c],[#2])", "'INITIALISATION'"),
            Event {
                name: "g",
                refines: "f",
                guards: "greater(~$c,#0)",
                actions: "assign(~[$c],[minus(~$c,#1)])",
                ..EVENT
            },
        ],
    );
    let good = [bottom.clone(), middle("less(~$b,#2)"), top.clone()];
    assert_eq!(answer("between0", &good, &Task::default()), "holds");
    let wrong = labelled("grd", "less(~$b,#1)");
    let narrow = [bottom.clone(), middle(Box::leak(wrong.into_boxed_str())), top.clone()];
    assert_eq!(answer("between1", &narrow, &Task::default()), "g/grd/GRD M2");
    let wide = [
        bottom.replace(
            "greater(none,identifier(none,'c'),integer(none,0))",
            "greater(none,identifier(none,'c'),integer(none,-1))",
        ),
        middle("less(~$b,#9)"),
        top,
    ];
    assert!(answer("between2", &wide, &Task::default()).ends_with("GRD M1"));
}

#[test]
fn relative_deadlock_freedom_is_asked_for() {
    let stuck = Below { guards: "member(~$q,interval(~#1,#1)),less_equal(~$y,#0)", ..BELOW }.machines();
    let task = Task { deadlock: true, ..Task::default() };
    assert_eq!(answer("relative0", &stuck, &Task::default()), "holds");
    assert_eq!(answer("relative0", &stuck, &task), "DLF R");
    assert_eq!(answer("relative1", &BELOW.machines(), &task), "holds");
}

// ---- random events -------------------------------------------------------------------------------------------

struct Table {
    states: u64,
    initial: BTreeSet<u64>,
    /// By event.
    steps: Vec<BTreeSet<(u64, u64)>>,
}

fn random(r: &mut Random, events: u64) -> Table {
    let states = 2 + r.below(3);
    let steps = (0..events).map(|_| {
        (0..states).flat_map(|s| (0..r.below(3)).map(|_| (s, r.below(states))).collect::<Vec<_>>()).collect()
    });
    let steps = steps.collect();
    let mut initial: BTreeSet<u64> = (0..states).filter(|_| r.chance(30)).collect();
    initial.insert(r.below(states));
    Table { states, initial, steps }
}

/// By the sets of abstract states that are glued at every step. `witness` gives the abstract state for each concrete one.
fn followed(below: &Table, above: &Table, glue: &BTreeSet<(u64, u64)>, witness: Option<&[u64]>) -> bool {
    let glued = |c: u64, set: BTreeSet<u64>| -> BTreeSet<u64> {
        set.into_iter().filter(|a| glue.contains(&(c, *a))).collect()
    };
    let mut todo = vec![];
    for c in &below.initial {
        todo.push((*c, glued(*c, above.initial.clone())));
    }
    let mut seen = HashSet::new();
    while let Some((c, set)) = todo.pop() {
        if set.is_empty() {
            return false;
        }
        if !seen.insert((c, set.clone())) {
            continue;
        }
        for (e, own) in below.steps.iter().enumerate() {
            for (_, d) in own.iter().filter(|(from, _)| *from == c) {
                // The last event is new.
                let next: BTreeSet<u64> = match above.steps.get(e) {
                    None => set.clone(),
                    Some(theirs) => {
                        let steps = theirs.iter().filter(|(a, _)| set.contains(a)).map(|(_, b)| *b);
                        steps.filter(|b| witness.is_none_or(|w| w[*d as usize] == *b)).collect()
                    }
                };
                todo.push((*d, glued(*d, next)));
            }
        }
    }
    true
}

fn listed(pairs: impl Iterator<Item = (u64, u64)>) -> String {
    let pairs: Vec<String> = pairs.map(|(a, b)| format!("couple(~[#{a},#{b}])")).collect();
    if pairs.is_empty() { "empty_set(none)".into() } else { format!("set_extension(~[{}])", pairs.join(",")) }
}

fn chosen(set: &BTreeSet<u64>) -> String {
    let items: Vec<String> = set.iter().map(|n| format!("#{n}")).collect();
    format!("set_extension(~[{}])", items.join(","))
}

/// With `by_action` an event has no parameter: its action chooses the next state.
fn event_machine(
    t: &Table,
    (name, refines): (&str, &str),
    v: &str,
    glue: &str,
    witness: &str,
    by_action: bool,
) -> String {
    let start = format!("becomes_element_of(~[${v}],{})", chosen(&t.initial));
    let mut texts = vec![];
    for (i, steps) in t.steps.iter().enumerate() {
        let pairs = listed(steps.iter().copied());
        let guard = match by_action {
            true => format!("member(~${v},domain(~{pairs}))"),
            false => {
                format!("member(~$n{v},interval(~#0,#9)),member(~couple(~[${v},$n{v}]),{pairs})")
            }
        };
        let action = match by_action {
            true => format!("becomes_element_of(~[${v}],image(~{pairs},set_extension(~[${v}])))"),
            false => format!("assign(~[${v}],[$n{v}])"),
        };
        texts.push((format!("e{i}"), guard, action));
    }
    let params = if by_action { String::new() } else { format!("$n{v}") };
    let is_below = !refines.is_empty();
    let mut events =
        vec![Event { actions: &start, refines: if is_below { "'INITIALISATION'" } else { "" }, ..INIT }];
    for (i, (name, guard, actions)) in texts.iter().enumerate() {
        let is_new = is_below && i + 1 == texts.len();
        events.push(Event {
            name,
            refines: if is_below && !is_new { name } else { "" },
            params: &params,
            guards: guard,
            actions,
            witnesses: if is_below && !is_new { witness } else { "" },
            ..EVENT
        });
    }
    let invariant = format!("member(~${v},interval(~#0,#9)){glue}");
    machine(name, refines, &format!("${v}"), &invariant, &events)
}

#[test]
fn random_events_against_a_naive_checker() {
    let mut r = Random(0xD1B5_4A32_D192_ED03);
    let (mut held, mut failed) = (0, 0);
    for i in 0..machines() {
        let above = random(&mut r, 2);
        let mut below = random(&mut r, 3);
        let mut glue: BTreeSet<(u64, u64)> = (0..below.states)
            .flat_map(|c| (0..above.states).map(move |a| (c, a)))
            .filter(|_| r.chance(60))
            .collect();
        if i % 2 == 0 {
            // A copy with a step more, perhaps: most of these hold.
            below.states = above.states;
            below.initial = above.initial.clone();
            below.steps = above.steps.clone();
            below.steps.push((0..above.states).map(|s| (s, s)).collect());
            glue.extend((0..above.states).map(|s| (s, s)));
            if r.chance(40) {
                let (s, t) = (r.below(above.states), r.below(above.states));
                below.steps[0].insert((s, t));
            }
        }
        let maps: Vec<u64> =
            (0..below.states).map(|c| if i % 2 == 0 { c } else { r.below(above.states) }).collect();
        let has_witness = r.chance(40);
        let map = listed(maps.iter().enumerate().map(|(c, a)| (c as u64, *a)));
        let witness = match has_witness {
            true => format!("witness(~$nx,equal(~$nx,function(~{map},[$ny])))"),
            false => String::new(),
        };
        let text = format!(",member(~couple(~[$y,$x]),{})", listed(glue.iter().copied()));
        let by_action = !has_witness && r.chance(60);
        let top = event_machine(&above, ("M", ""), "x", "", "", r.chance(30) && !has_witness);
        let bottom = event_machine(&below, ("R", "M"), "y", &text, &witness, by_action);
        let dir = folder("random-events", &[("t.eventb", &package(&[bottom, top], &[], ""))]);
        let found = ask(&dir.join("t.eventb"), &Task::default()).unwrap_or_else(|e| panic!("{i}: {e}"));
        let expected = followed(&below, &above, &glue, has_witness.then_some(&maps));
        let wanted = if expected { Decision::Holds } else { Decision::Fails };
        assert_eq!(found.verdict, wanted, "{i}: {:?}", found.reason);
        *if expected { &mut held } else { &mut failed } += 1;
    }
    assert!(held >= machines() / 20 && failed >= machines() / 20, "{held} held, {failed} failed");
}

/// `kanon prove` on the same machines: an event's obligations against all pairs of states that are glued together, whether
/// they are reached or not.
#[test]
fn random_obligations_against_tables() {
    let mut r = Random(0x9E37_79B9_7F4A_7C15);
    let (mut proved, mut wrong) = (0, 0);
    for i in 0..machines() / 2 {
        let above = random(&mut r, 2);
        let mut below = random(&mut r, 3);
        let chance = 20 + r.below(80);
        let mut glue: BTreeSet<(u64, u64)> = (0..below.states)
            .flat_map(|c| (0..above.states).map(move |a| (c, a)))
            .filter(|_| r.chance(chance))
            .collect();
        if r.chance(60) {
            (below.states, below.steps) = (above.states, above.steps.clone());
            below.steps.push((0..above.states).map(|s| (s, s)).collect());
            glue = (0..above.states).map(|s| (s, s)).collect();
            if r.chance(40) {
                let (s, t) = (r.below(above.states), r.below(above.states));
                below.steps[0].insert((s, t));
                glue.insert((r.below(above.states), r.below(above.states)));
            }
        }
        if glue.is_empty() {
            continue;
        }
        let maps: Vec<u64> =
            (0..below.states).map(|c| if r.chance(80) { c % above.states } else { 0 }).collect();
        let map = listed(maps.iter().enumerate().map(|(c, a)| (c as u64, *a)));
        let witness = format!("witness(~$nx,equal(~$nx,function(~{map},[$ny])))");
        let text = format!(",member(~couple(~[$y,$x]),{})", listed(glue.iter().copied()));
        let top = event_machine(&above, ("M", ""), "x", "", "", false);
        let bottom = event_machine(&below, ("R", "M"), "y", &text, &witness, false);
        let dir = folder("random-obligations", &[("t.eventb", &package(&[bottom, top], &[], ""))]);
        let opened = open_sequents(&dir.join("t.eventb"), &ScopeArgs::default());
        let opened = opened.unwrap_or_else(|r| panic!("{i}: {:?}", r.diagnostics)).expect("a refinement");
        let task = kanon::run::prove::Task::default();
        let found = sequents::prove(&opened, &task, &Deadline::never(), &mut |_, _| {}).expect("kleene");
        for (e, own) in below.steps.iter().enumerate() {
            let follows = |(c, d): &(u64, u64)| {
                glue.iter().filter(|(from, _)| from == c).all(|(_, a)| match above.steps.get(e) {
                    None => glue.contains(&(*d, *a)),
                    Some(theirs) => {
                        let b = maps[*d as usize];
                        theirs.contains(&(*a, b)) && glue.contains(&(*d, b))
                    }
                })
            };
            let expected = own.iter().all(follows);
            let prefix = format!("R/e{e}/");
            let mut of: Vec<&Status> = vec![];
            for o in found.obligations.iter().filter(|o| o.name.starts_with(&prefix)) {
                assert!(!matches!(o.status, Status::Undecided(_)), "{i}: {}: {:?}", o.name, o.status);
                of.push(&o.status);
            }
            let is_proved = of.iter().all(|s| **s == Status::Proved);
            assert_eq!(is_proved, expected, "{i}: e{e}");
            *if expected { &mut proved } else { &mut wrong } += 1;
        }
    }
    assert!(proved >= machines() / 10 && wrong >= machines() / 10, "{proved} proved, {wrong} not");
}

/// The machines of the paper, as Event-B: every refinement of the chain, over all systems of three states.
#[test]
fn the_chain_refines() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("models/eventb/chain");
    let scope = ScopeArgs { card: vec![("S".into(), 3)], ..ScopeArgs::default() };
    let task = Task { deadlock: true, ..Task::default() };
    for (name, levels, states) in [
        ("mc1", &["mc1", "mc0"][..], 704),
        ("mc2", &["mc2", "mc1", "mc0"], 1_072),
        ("rmc1", &["rmc1", "mc1", "mc0"], 1_160),
        ("rmc2", &["rmc2", "rmc1", "mc1", "mc0"], 1_160),
    ] {
        // Once from the package, once from the Rodin project.
        for path in [format!("{name}.eventb"), format!("rodin#{name}")] {
            let answer = refine(&folder.join(&path), &scope, &task, &Deadline::never(), &mut |_| {});
            let (_, answer) = answer.unwrap_or_else(|r| panic!("{:?}", r.diagnostics));
            let found = (answer.verdict, answer.counts.states);
            assert_eq!(found, (Decision::Holds, states), "{path}: {:?}", answer.reason);
            assert_eq!(answer.levels, levels);
        }
    }
    let path = folder.join("mc2_broken.eventb");
    let answer = refine(&path, &scope, &task, &Deadline::never(), &mut |_| {});
    let (_, answer) = answer.unwrap_or_else(|r| panic!("{:?}", r.diagnostics));
    let finding = answer.finding.expect("a guard is lost");
    assert_eq!(finding.name.as_deref(), Some("remove/inv2/INV"));
}

/// The same for all states that fulfil the invariants, with the obligations that Rodin makes.
#[test]
fn the_chain_is_proved() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("models/eventb/chain");
    for (path, size, obligations) in
        [("rodin#mc2", 3, 34), ("rodin#rmc2", 2, 81), ("mc2_broken.eventb", 3, 34)]
    {
        let scope = ScopeArgs { card: vec![("S".into(), size)], ..ScopeArgs::default() };
        let opened = open_sequents(&folder.join(path), &scope);
        let opened = opened.unwrap_or_else(|r| panic!("{:?}", r.diagnostics)).expect("a refinement");
        let task = kanon::run::prove::Task::default();
        let found = sequents::prove(&opened, &task, &Deadline::never(), &mut |_, _| {}).expect("kleene");
        let open = found.obligations.iter().filter(|o| o.status != Status::Proved);
        let open: Vec<&str> = open.map(|o| &*o.name).collect();
        let broken = if path == "mc2_broken.eventb" { &["mc2/remove/inv2/INV"][..] } else { &[] };
        assert_eq!(open, broken, "{path}");
        assert_eq!(found.obligations.len(), obligations, "{path}");
    }
}
