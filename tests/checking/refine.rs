//! `kanon refine`: each obligation with a model that keeps it and one that does not; and random machines against a naive
//! checker that works on tables of transitions and knows neither B nor the product.

use kanon::model::open::open_sequents;
use kanon::model::scope::ScopeArgs;
use kanon::run::answer::Decision;
use kanon::run::prove::Status;
use kanon::run::refine::{Refined, Task, refine};
use kanon::run::{Deadline, sequents};
use std::collections::{BTreeSet, HashSet};
use std::path::{Path, PathBuf};

/// Files in a folder of their own: tests run side by side.
pub(super) fn folder(name: &str, files: &[(&str, &str)]) -> PathBuf {
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join("refine").join(name);
    std::fs::create_dir_all(&dir).expect("a folder for temporary files");
    for (file, text) in files {
        std::fs::write(dir.join(file), text).expect("a temporary file");
    }
    dir
}

pub(super) fn ask(path: &Path, task: &Task) -> Result<Refined, String> {
    match refine(path, &ScopeArgs::default(), task, &Deadline::never(), &mut |_| {}) {
        Ok((_, refined)) => Ok(refined),
        Err(refused) => Err(refused.diagnostics.first().map_or_else(String::new, |d| d.message.clone())),
    }
}

/// The verdict in a word: `holds`, `unknown`, or the obligation that is broken and the level.
fn word(r: &Refined) -> String {
    match (r.verdict, &r.finding) {
        (Decision::Fails, Some(f)) => format!("{} {}", f.obligation, f.level),
        (v, _) => v.name().to_string(),
    }
}

fn answer(name: &str, files: &[(&str, &str)], task: &Task) -> String {
    let dir = folder(name, files);
    match ask(&dir.join(files[0].0), task) {
        Ok(r) => word(&r),
        Err(why) => format!("refused: {why}"),
    }
}

const STORE: &str = "MACHINE Store VARIABLES items INVARIANT items <: 1..3 INITIALISATION items := {}
OPERATIONS
  put(ii) = PRE ii : 1..3 & ii /: items THEN items := items \\/ {ii} END;
  nn <-- amount = nn := card(items);
  rr <-- take = PRE items /= {} THEN ANY xx WHERE xx : items THEN items := items - {xx} || rr := xx END END
END";

/// A text and what stands in its place.
type Change = (&'static str, &'static str);

/// The store as a sequence; the broken ones change one thing.
fn list(with: &[(&str, &str)]) -> String {
    let mut text = "REFINEMENT List REFINES Store VARIABLES list
INVARIANT list : seq(1..3) & ran(list) = items & size(list) = card(items)
INITIALISATION list := <>
OPERATIONS
  put(ii) = BEGIN list := list <- ii END;
  nn <-- amount = nn := size(list);
  rr <-- take = BEGIN rr := first(list); list := tail(list) END
END"
    .to_string();
    for (from, to) in with {
        assert!(text.contains(from), "{from}");
        text = text.replace(from, to);
    }
    text
}

#[test]
fn classical_obligations() {
    let table: &[(&str, &[Change], &str)] = &[
        ("as it is", &[], "holds"),
        ("other results", &[("nn := size(list)", "nn := size(list) + 1")], "SIM List"),
        ("another state", &[("list := list <- ii", "list := [ii]")], "SIM List"),
        ("a wrong start", &[("INITIALISATION list := <>", "INITIALISATION list := [1]")], "INI List"),
        ("its own invariant", &[("list : seq(1..3)", "list : seq(1..2)")], "INV List"),
        (
            "a stronger precondition",
            &[("put(ii) = BEGIN list := list <- ii END", "put(ii) = PRE ii < 3 THEN list := list <- ii END")],
            "PRE List",
        ),
        (
            "a precondition that says the type of a result",
            &[("nn <-- amount = nn := size(list)", "nn <-- amount = PRE nn : NAT THEN nn := size(list) END")],
            "holds",
        ),
        (
            "a weaker precondition",
            &[("put(ii) = BEGIN list := list <- ii END", "put(ii) = PRE ii < 9 THEN list := list <- ii END")],
            "holds",
        ),
        (
            "blocked",
            &[("BEGIN list := list <- ii END", "SELECT ii < 3 THEN list := list <- ii END")],
            "ENA List",
        ),
        ("no value", &[("rr := first(list)", "rr := list(2)")], "WD List"),
        (
            "a new operation",
            &[("OPERATIONS", "OPERATIONS turn = SELECT list /= <> THEN list := rev(list) END;")],
            "holds",
        ),
        (
            "a new operation that does too much",
            &[("OPERATIONS", "OPERATIONS lose = SELECT list /= <> THEN list := tail(list) END;")],
            "INV List",
        ),
    ];
    for (i, (what, changes, expected)) in table.iter().enumerate() {
        let files = [("List.ref", &*list(changes)), ("Store.mch", STORE)];
        assert_eq!(answer(&format!("obligation{i}"), &files, &Task::default()), *expected, "{what}");
    }
}

#[test]
fn a_guarded_operation_may_be_enabled_more_seldom() {
    let top = "MACHINE M VARIABLES x INVARIANT x : 0..3 INITIALISATION x := 0
OPERATIONS up = SELECT x < 3 THEN x := x + 1 END; down = SELECT x > 0 THEN x := x - 1 END END";
    let below = |guard: &str| {
        format!(
            "REFINEMENT R REFINES M VARIABLES x INITIALISATION x := 0
OPERATIONS up = SELECT {guard} THEN x := x + 1 END; down = SELECT FALSE = TRUE THEN x := x - 1 END END"
        )
    };
    let relative = Task { deadlock: true, ..Task::default() };
    for (i, (guard, plain, with_deadlock)) in
        [("x < 2", "holds", "DLF R"), ("x < 3", "holds", "DLF R"), ("x < 4", "SIM R", "SIM R")]
            .into_iter()
            .enumerate()
    {
        let files = [("R.ref", &*below(guard)), ("M.mch", top)];
        assert_eq!(answer(&format!("guarded{i}"), &files, &Task::default()), plain, "{guard}");
        assert_eq!(answer(&format!("guarded{i}"), &files, &relative), with_deadlock, "{guard}");
    }
    let cyclic = below("x < 3").replace("FALSE = TRUE", "x = 3");
    let files = [("R.ref", &*cyclic), ("M.mch", top)];
    assert_eq!(answer("guarded9", &files, &relative), "holds");
}

#[test]
fn what_both_levels_have_has_one_value() {
    let top = "MACHINE M VARIABLES x, y INVARIANT x : 0..2 & y : 0..2 INITIALISATION x := 0 || y := 0
OPERATIONS set = BEGIN x :: 0..2 END END";
    let below = |value: &str, more: &str| {
        format!(
            "REFINEMENT R REFINES M VARIABLES x, z INVARIANT z = y INITIALISATION x := 0 || z := 0
OPERATIONS set = BEGIN x := {value} END{more} END"
        )
    };
    let cases = [
        (below("(x + 1) mod 3", ""), "holds"),
        (below("x + 1", ""), "SIM R"),
        (below("0", "; other = BEGIN x := 1 END"), "EQL R"),
        (below("0", "; other = BEGIN z := 1 END"), "INV R"),
        (below("0", "; other = skip"), "holds"),
    ];
    for (i, (text, expected)) in cases.iter().enumerate() {
        let files = [("R.ref", &**text), ("M.mch", top)];
        assert_eq!(answer(&format!("shared{i}"), &files, &Task::default()), *expected, "{text}");
    }
}

#[test]
fn all_levels_are_followed() {
    let m0 = "MACHINE M0 VARIABLES a INVARIANT a : 0..4 INITIALISATION a := 0
OPERATIONS go(pp) = PRE pp : 1..2 & a + pp <= 4 THEN a := a + pp END END";
    let m1 = |step: &str| {
        format!(
            "REFINEMENT M1 REFINES M0 VARIABLES b INVARIANT b : 0..9 & a = b INITIALISATION b := 0
OPERATIONS go(pp) = BEGIN b := b + {step} END END"
        )
    };
    let m2 = |step: &str| {
        format!(
            "REFINEMENT M2 REFINES M1 VARIABLES c INVARIANT c : 0..9 & c = 4 - b INITIALISATION c := 4
OPERATIONS go(pp) = BEGIN c := c - {step} END END"
        )
    };
    let cases = [
        // The precondition of the most abstract one is all that keeps `c` from falling below 0.
        ("pp", "pp", "holds"),
        ("pp", "1", "SIM M2"),
        ("1", "1", "SIM M1"),
        ("1", "pp", "SIM M2"),
    ];
    for (i, (one, two, expected)) in cases.into_iter().enumerate() {
        let files = [("M2.ref", &*m2(two)), ("M1.ref", &*m1(one)), ("M0.mch", m0)];
        assert_eq!(answer(&format!("levels{i}"), &files, &Task::default()), expected, "{one} {two}");
    }
}

#[test]
fn implementations() {
    let top = "MACHINE Sum SETS T CONSTANTS limit PROPERTIES limit : 1..3 & card(T) = limit
VARIABLES total INVARIANT total : 0..9 INITIALISATION total := 0
OPERATIONS
  add(nn) = PRE nn : 0..limit & total + nn <= 9 THEN total := total + nn END;
  rr <-- get = rr := total
END";
    let cell = "MACHINE Cell VARIABLES value INVARIANT value : 0..9 INITIALISATION value := 0
OPERATIONS
  incr = PRE value < 9 THEN value := value + 1 END;
  vv <-- get = vv := value
END";
    let bottom = |loop_: &str, value: &str| {
        format!(
            "IMPLEMENTATION Sum_i REFINES Sum IMPORTS Cell PROMOTES get VALUES limit = {value}; T = 1..{value}
INVARIANT total = value
OPERATIONS
  add(nn) = VAR kk IN kk := 0;
    WHILE kk < {loop_} DO incr; kk := kk + 1
    INVARIANT kk : 0..nn & value = total + kk VARIANT nn - kk END END
END"
        )
    };
    let cases = [
        (bottom("nn", "2"), "holds"),
        (bottom("nn - 1", "2"), "SIM Sum_i"),
        // The invariant of the loop speaks of the abstraction.
        (bottom("nn", "2").replace("total + kk", "total - kk"), "WD Sum_i"),
        (
            bottom("nn", "2")
                .replace("PROMOTES get", "")
                .replace("OPERATIONS", "OPERATIONS rr <-- get = rr := 0;"),
            "SIM Sum_i",
        ),
    ];
    for (i, (text, expected)) in cases.iter().enumerate() {
        let files = [("Sum_i.imp", &**text), ("Sum.mch", top), ("Cell.mch", cell)];
        assert_eq!(answer(&format!("implementation{i}"), &files, &Task::default()), *expected, "{text}");
    }
}

#[test]
fn traces_are_weaker_than_simulation() {
    // The abstraction decides at once what the refinement decides later: the same traces, and no forward simulation.
    let early = "MACHINE Early VARIABLES x INVARIANT x : 0..4 INITIALISATION x := 0
OPERATIONS
  flip = SELECT x = 0 THEN x :: {1, 2} END;
  rr <-- show = SELECT x : {1, 2} THEN rr := x || x := 0 END
END";
    let late = |results: &str| {
        format!(
            "REFINEMENT Late REFINES Early VARIABLES y INVARIANT y : 0..1 & (y = 0 <=> x = 0) INITIALISATION y := 0
OPERATIONS
  flip = SELECT y = 0 THEN y := 1 END;
  rr <-- show = SELECT y = 1 THEN ANY vv WHERE vv : {results} THEN rr := vv || y := 0 END END
END"
        )
    };
    let traces = Task { traces: true, ..Task::default() };
    for (i, (results, simulated, traced)) in
        [("{1, 2}", "SIM Late", "holds"), ("{1}", "SIM Late", "holds"), ("{1, 3}", "SIM Late", "TRACE Late")]
            .into_iter()
            .enumerate()
    {
        let files = [("Late.ref", &*late(results)), ("Early.mch", early)];
        assert_eq!(answer(&format!("traces{i}"), &files, &Task::default()), simulated, "{results}");
        assert_eq!(answer(&format!("traces{i}"), &files, &traces), traced, "{results}");
    }
}

#[test]
fn what_is_cut_short_is_unknown() {
    let top = |choice: &str| {
        format!(
            "MACHINE M VARIABLES x INVARIANT x : NATURAL INITIALISATION x := 0 OPERATIONS set = {choice} END"
        )
    };
    let below = "REFINEMENT R REFINES M VARIABLES y INVARIANT y : NATURAL & y = x INITIALISATION y := 0
OPERATIONS set = BEGIN y := 1000 END END";
    // The abstract value lies beyond MAXINT, so that it is not found: this is no answer.
    let files = [("R.ref", below), ("M.mch", &*top("ANY n WHERE n : NATURAL & n * n >= 0 THEN x := n END"))];
    assert_eq!(answer("cut0", &files, &Task::default()), "unknown");
    let files = [("R.ref", below), ("M.mch", &*top("BEGIN x :: 0..1000 END"))];
    assert_eq!(answer("cut1", &files, &Task::default()), "holds");
    let limited = Task { max_states: Some(1), ..Task::default() };
    assert_eq!(answer("cut2", &files, &limited), "unknown");
}

#[test]
fn what_is_no_refinement_is_refused() {
    let alone = [("M.mch", "MACHINE M VARIABLES x INVARIANT x = 0 INITIALISATION x := 0 END")];
    assert!(answer("refused0", &alone, &Task::default()).contains("refines nothing"));
    let top = "MACHINE M VARIABLES x INVARIANT x : 0..1 INITIALISATION x := 0 OPERATIONS set = BEGIN x :: 0..1 END END";
    let inherits = "REFINEMENT R REFINES M VARIABLES y INVARIANT y = x INITIALISATION y := 0 END";
    assert!(
        answer("refused1", &[("R.ref", inherits), ("M.mch", top)], &Task::default())
            .contains("no variable of")
    );
    // A variable that is never assigned, and one that is read before it is.
    for (i, init) in ["skip", "y := y", "z := y; y := 0", "IF 1 = 2 THEN y := 0 END"].into_iter().enumerate()
    {
        let text = format!(
            "REFINEMENT R REFINES M VARIABLES y, z INVARIANT y : 0..1 & z : 0..1 INITIALISATION z := 0; {init}
OPERATIONS set = skip END"
        );
        let files = [("R.ref", &*text), ("M.mch", top)];
        assert_eq!(answer(&format!("unassigned{i}"), &files, &Task::default()), "WD R", "{init}");
    }
    // No variable at all.
    let top = "MACHINE E OPERATIONS rr <-- some(pp) = PRE pp : 1..3 THEN rr :: 1..pp END END";
    let below = |r: &str| format!("IMPLEMENTATION Ei REFINES E OPERATIONS rr <-- some(pp) = rr := {r} END");
    for (i, (r, expected)) in [("1", "holds"), ("pp", "holds"), ("2", "SIM Ei")].into_iter().enumerate() {
        let files = [("Ei.imp", &*below(r)), ("E.mch", top)];
        assert_eq!(answer(&format!("empty{i}"), &files, &Task::default()), expected, "{r}");
    }
}

// ---- random machines -----------------------------------------------------------------------------------------

pub(super) struct Random(pub u64);

impl Random {
    pub fn below(&mut self, n: u64) -> u64 {
        // xorshift64*
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33) % n
    }

    pub fn chance(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }
}

/// An operation: where it may be called, what it does (state, next state, result), and whether it says when it is enabled.
#[derive(Clone)]
struct Op {
    pre: BTreeSet<u64>,
    steps: BTreeSet<(u64, u64, u64)>,
    is_guarded: bool,
}

#[derive(Clone)]
struct Table {
    states: u64,
    initial: BTreeSet<u64>,
    ops: Vec<Op>,
}

impl Table {
    fn random(r: &mut Random) -> Table {
        let states = 2 + r.below(3);
        let mut ops = vec![];
        for _ in 0..1 + r.below(2) {
            let pre = (0..states).filter(|_| r.chance(80)).collect();
            let mut steps = BTreeSet::new();
            for s in 0..states {
                for _ in 0..r.below(3) {
                    steps.insert((s, r.below(states), r.below(2)));
                }
            }
            ops.push(Op { pre, steps, is_guarded: r.chance(50) });
        }
        let mut initial: BTreeSet<u64> = (0..states).filter(|_| r.chance(30)).collect();
        initial.insert(r.below(states));
        Table { states, initial, ops }
    }

    /// The same with its states under other names, some of them doubled.
    fn copy(&self, r: &mut Random) -> (Table, BTreeSet<(u64, u64)>) {
        let of: Vec<u64> = (0..self.states).chain((0..r.below(2)).map(|_| r.below(self.states))).collect();
        let of: Vec<u64> = if r.chance(50) { of.into_iter().rev().collect() } else { of };
        let (states, of) = (of.len() as u64, &of);
        let named = |s: u64| (0..states).filter(move |c| of[*c as usize] == s).collect::<Vec<_>>();
        let glue: BTreeSet<(u64, u64)> =
            (0..self.states).flat_map(|s| named(s).into_iter().map(move |c| (c, s))).collect();
        let one = |op: &Op| Op {
            pre: op.pre.iter().flat_map(|s| named(*s)).collect(),
            steps: op
                .steps
                .iter()
                .flat_map(|(s, t, x)| named(*s).into_iter().map(|c| (c, *t, *x)).collect::<Vec<_>>())
                .flat_map(|(c, t, x)| named(t).into_iter().map(|d| (c, d, x)).collect::<Vec<_>>())
                .collect(),
            is_guarded: op.is_guarded,
        };
        let initial = self.initial.iter().flat_map(|s| named(*s)).collect();
        (Table { states, initial, ops: self.ops.iter().map(one).collect() }, glue)
    }

    /// One thing is changed.
    fn mutate(&mut self, glue: &mut BTreeSet<(u64, u64)>, above: u64, r: &mut Random) {
        let n = self.states;
        let at = r.below(self.ops.len() as u64) as usize;
        let op = &mut self.ops[at];
        match r.below(7) {
            0 => drop(op.steps.insert((r.below(n), r.below(n), r.below(2)))),
            1 => drop(op.steps.pop_first()),
            2 => drop(op.pre.pop_first()),
            3 => op.pre = (0..n).collect(),
            4 => drop(self.initial.insert(r.below(n))),
            5 => drop(glue.insert((r.below(n), r.below(above)))),
            _ => drop(glue.pop_last()),
        }
    }

    fn text(&self, head: &str, variable: &str, invariant: &str) -> String {
        let set = |items: Vec<String>| {
            if items.is_empty() { "{}".into() } else { format!("{{{}}}", items.join(",")) }
        };
        let numbers = |s: &BTreeSet<u64>| set(s.iter().map(u64::to_string).collect());
        let mut ops = vec![];
        for (i, op) in self.ops.iter().enumerate() {
            let v = variable;
            let steps = set(op.steps.iter().map(|(s, t, x)| format!("(({s}|->{t})|->{x})")).collect());
            let any = format!(
                "ANY nn, ww WHERE nn : 0..9 & ww : 0..1 & ((({v})|->nn)|->ww) : {steps} THEN {v} := nn || rr := ww END"
            );
            let body = match op.is_guarded {
                true => format!(
                    "SELECT #(nn, ww).(nn : 0..9 & ww : 0..1 & ((({v})|->nn)|->ww) : {steps}) THEN {any} END"
                ),
                false => any,
            };
            ops.push(format!("rr <-- op{i} = PRE {v} : {} THEN {body} END", numbers(&op.pre)));
        }
        let last = self.states - 1;
        format!(
            "{head} VARIABLES {variable} INVARIANT {variable} : 0..{last}{invariant} INITIALISATION {variable} :: {}\n\
             OPERATIONS {} END",
            numbers(&self.initial),
            ops.join(";\n")
        )
    }
}

fn outcomes(op: &Op, s: u64) -> Vec<(u64, u64)> {
    op.steps.iter().filter(|(from, ..)| *from == s).map(|(_, t, x)| (*t, *x)).collect()
}

/// Forward simulation on the pairs that are reached.
fn simulated(below: &Table, above: &Table, glue: &BTreeSet<(u64, u64)>) -> bool {
    let mut todo = vec![];
    for c in &below.initial {
        let matches: Vec<u64> = above.initial.iter().copied().filter(|a| glue.contains(&(*c, *a))).collect();
        if matches.is_empty() {
            return false;
        }
        todo.extend(matches.into_iter().map(|a| (*c, a)));
    }
    let mut seen = HashSet::new();
    while let Some((c, a)) = todo.pop() {
        if !seen.insert((c, a)) {
            continue;
        }
        for (own, theirs) in below.ops.iter().zip(&above.ops) {
            if !theirs.pre.contains(&a) {
                continue;
            }
            if !own.pre.contains(&c) {
                return false;
            }
            let (mine, yours) = (outcomes(own, c), outcomes(theirs, a));
            if mine.is_empty() && !yours.is_empty() && !theirs.is_guarded {
                return false;
            }
            for (d, x) in mine {
                let matches: Vec<u64> = yours
                    .iter()
                    .filter(|(b, y)| *y == x && glue.contains(&(d, *b)))
                    .map(|(b, _)| *b)
                    .collect();
                if matches.is_empty() {
                    return false;
                }
                todo.extend(matches.into_iter().map(|b| (d, b)));
            }
        }
    }
    true
}

/// Trace refinement by the sets of abstract states with the same trace.
fn traced(below: &Table, above: &Table) -> bool {
    let mut todo: Vec<(u64, BTreeSet<u64>)> =
        below.initial.iter().map(|c| (*c, above.initial.clone())).collect();
    let mut seen = HashSet::new();
    while let Some((c, set)) = todo.pop() {
        if !seen.insert((c, set.clone())) {
            continue;
        }
        for (own, theirs) in below.ops.iter().zip(&above.ops) {
            if !own.pre.contains(&c) {
                continue;
            }
            for (d, x) in outcomes(own, c) {
                let enabled = set.iter().filter(|a| theirs.pre.contains(a));
                let next: BTreeSet<u64> = enabled
                    .flat_map(|a| outcomes(theirs, *a))
                    .filter(|(_, y)| *y == x)
                    .map(|(b, _)| b)
                    .collect();
                if next.is_empty() {
                    return false;
                }
                todo.push((d, next));
            }
        }
    }
    true
}

pub(super) fn machines() -> u64 {
    std::env::var("KANON_MACHINES").ok().and_then(|n| n.parse().ok()).unwrap_or(300)
}

/// `kanon prove` on such machines: the obligations of an operation against all pairs of states that are glued together,
/// whether they are reached or not.
#[test]
fn random_obligations_against_tables() {
    let mut r = Random(0xD1B5_4A32_D192_ED03);
    let (mut proved, mut wrong) = (0, 0);
    for i in 0..machines() / 2 {
        let above = Table::random(&mut r);
        let (mut below, mut glue) = above.copy(&mut r);
        if i % 3 != 0 {
            below.mutate(&mut glue, above.states, &mut r);
        }
        if glue.is_empty() {
            continue;
        }
        let pairs: Vec<String> = glue.iter().map(|(c, a)| format!("({c}|->{a})")).collect();
        let invariant = format!(" & (yy|->xx) : {{{}}}", pairs.join(","));
        let top = above.text("MACHINE A", "xx", "");
        let bottom = below.text("REFINEMENT B REFINES A", "yy", &invariant);
        let dir = folder("random-simulation", &[("A.mch", &top), ("B.ref", &bottom)]);
        let opened = open_sequents(&dir.join("B.ref"), &ScopeArgs::default());
        let opened = opened.unwrap_or_else(|r| panic!("{:?}", r.diagnostics)).expect("a refinement");
        let task = kanon::run::prove::Task::default();
        let found = sequents::prove(&opened, &task, &Deadline::never(), &mut |_, _| {}).expect("kleene");
        let mut check = |prefix: &str, expected: bool| {
            let mut is_proved = true;
            for o in found.obligations.iter().filter(|o| o.name.starts_with(prefix)) {
                let text = || format!("{}: {:?}\n{top}\n{bottom}", o.name, o.status);
                assert!(!matches!(o.status, Status::Undecided(_)), "{}", text());
                is_proved &= o.status == Status::Proved;
            }
            assert_eq!(is_proved, expected, "{prefix}\n{top}\n{bottom}");
            *if expected { &mut proved } else { &mut wrong } += 1;
        };
        let is_matched = |c: &u64| above.initial.iter().any(|a| glue.contains(&(*c, *a)));
        check("B/INITIALISATION/", below.initial.iter().all(is_matched));
        for (n, (own, theirs)) in below.ops.iter().zip(&above.ops).enumerate() {
            let follows = |(c, a): &(u64, u64)| {
                let (mine, yours) = (outcomes(own, *c), outcomes(theirs, *a));
                let is_enabled = !mine.is_empty() || yours.is_empty() || theirs.is_guarded;
                let is_matched =
                    |(d, x): &(u64, u64)| yours.iter().any(|(b, y)| y == x && glue.contains(&(*d, *b)));
                !theirs.pre.contains(a) || (own.pre.contains(c) && is_enabled && mine.iter().all(is_matched))
            };
            check(&format!("B/op{n}/"), glue.iter().all(follows));
        }
    }
    assert!(proved >= machines() / 10 && wrong >= machines() / 10, "{proved} proved, {wrong} not");
}

#[test]
fn random_machines_against_a_naive_checker() {
    let mut r = Random(0x9E37_79B9_7F4A_7C15);
    let (mut held, mut failed, mut traces_held, mut traces_failed) = (0, 0, 0, 0);
    for i in 0..machines() {
        let above = Table::random(&mut r);
        let (mut below, mut glue) = above.copy(&mut r);
        if i % 3 != 0 {
            for _ in 0..1 + r.below(2) {
                below.mutate(&mut glue, above.states, &mut r);
            }
        } else {
            // A copy has the behaviour of the original.
            assert!(simulated(&below, &above, &glue), "the naive checker refutes a copy");
        }
        let pairs: Vec<String> = glue.iter().map(|(c, a)| format!("({c}|->{a})")).collect();
        let invariant = match pairs.is_empty() {
            true => " & yy : INTEGER & xx : INTEGER & 1 = 2".to_string(),
            false => format!(" & (yy|->xx) : {{{}}}", pairs.join(",")),
        };
        let top = above.text("MACHINE A", "xx", "");
        let bottom = below.text("REFINEMENT B REFINES A", "yy", &invariant);
        let dir = folder("random", &[("A.mch", &top), ("B.ref", &bottom)]);
        let found =
            ask(&dir.join("B.ref"), &Task::default()).unwrap_or_else(|e| panic!("{e}\n{top}\n{bottom}"));
        let expected = simulated(&below, &above, &glue);
        let wanted = if expected { Decision::Holds } else { Decision::Fails };
        assert!(found.verdict == wanted, "expected {wanted:?}, found {}\n{top}\n{bottom}", word(&found));
        let found = ask(&dir.join("B.ref"), &Task { traces: true, ..Task::default() })
            .unwrap_or_else(|e| panic!("{e}\n{top}\n{bottom}"));
        let is_traced = traced(&below, &above);
        let wanted = if is_traced { Decision::Holds } else { Decision::Fails };
        assert!(found.verdict == wanted, "traces: expected {wanted:?}, {}\n{top}\n{bottom}", word(&found));
        *if expected { &mut held } else { &mut failed } += 1;
        *if is_traced { &mut traces_held } else { &mut traces_failed } += 1;
    }
    // Not all of one kind.
    let least = machines() / 20;
    assert!([held, failed, traces_held, traces_failed].iter().all(|n| *n >= least));
}
