//! Random refinements of Event-B, written as texts: an abstract machine with a variable that is gone below and one that
//! stays, and a concrete one with a gluing invariant, parameters of its own, witnesses, events that are split, merged,
//! extended, new, convergent or anticipated. Most are made of the abstract machine, so that they hold; one thing or more
//! is changed in the others. A judge that knows neither B nor the product follows all abstract states by enumeration.

use super::refine::{Random, ask, folder, machines};
use kanon::model::open::open_sequents;
use kanon::model::scope::ScopeArgs;
use kanon::run::answer::Decision;
use kanon::run::prove::Status;
use kanon::run::refine::Task;
use kanon::run::{Deadline, sequents};
use std::collections::{BTreeSet, HashSet};
use std::fmt;

/// Variables have the values 0 to 3, parameters 0 to 2.
const SIZE: u64 = 4;
const PARAMETER: u64 = 3;

/// An expression; a name stands for a value from before or, with a prime, after.
#[derive(Clone, Debug)]
enum E {
    Num(u64),
    Name(&'static str),
    Add(Box<E>, Box<E>),
    Times(u64, Box<E>),
    Mod(Box<E>),
}

#[derive(Clone, Debug)]
enum P {
    Less(E, E),
    Eq(E, E),
    Not(Box<P>),
    And(Box<P>, Box<P>),
    Or(Box<P>, Box<P>),
}

/// The values of names.
type At<'a> = &'a dyn Fn(&str) -> u64;

impl E {
    fn value(&self, at: At) -> u64 {
        match self {
            E::Num(n) => *n,
            E::Name(x) => at(x),
            E::Add(a, b) => a.value(at) + b.value(at),
            E::Times(n, a) => n * a.value(at),
            E::Mod(a) => a.value(at) % SIZE,
        }
    }

    fn random(r: &mut Random, names: &[&'static str], depth: u64) -> E {
        match r.below(if depth == 0 { 2 } else { 5 }) {
            0 => E::Num(r.below(SIZE)),
            1 | 2 => E::Name(names[r.below(names.len() as u64) as usize]),
            3 => E::Add(Box::new(E::random(r, names, depth - 1)), Box::new(E::random(r, names, depth - 1))),
            _ => E::Times(2 + r.below(2), Box::new(E::random(r, names, depth - 1))),
        }
    }

    fn with(&self, name: &str, e: &E) -> E {
        match self {
            E::Num(_) => self.clone(),
            E::Name(x) if *x == name => e.clone(),
            E::Name(_) => self.clone(),
            E::Add(a, b) => E::Add(Box::new(a.with(name, e)), Box::new(b.with(name, e))),
            E::Times(n, a) => E::Times(*n, Box::new(a.with(name, e))),
            E::Mod(a) => E::Mod(Box::new(a.with(name, e))),
        }
    }

    fn has(&self, name: &str) -> bool {
        match self {
            E::Num(_) => false,
            E::Name(x) => *x == name,
            E::Add(a, b) => a.has(name) || b.has(name),
            E::Times(_, a) | E::Mod(a) => a.has(name),
        }
    }
}

/// A sum modulo the number of values.
fn shifted(e: E, by: u64) -> E {
    E::Mod(Box::new(E::Add(Box::new(e), Box::new(E::Num(by)))))
}

impl P {
    fn holds(&self, at: At) -> bool {
        match self {
            P::Less(a, b) => a.value(at) < b.value(at),
            P::Eq(a, b) => a.value(at) == b.value(at),
            P::Not(p) => !p.holds(at),
            P::And(p, q) => p.holds(at) && q.holds(at),
            P::Or(p, q) => p.holds(at) || q.holds(at),
        }
    }

    fn random(r: &mut Random, names: &[&'static str], depth: u64) -> P {
        let sub = |r: &mut Random| Box::new(P::random(r, names, depth.saturating_sub(1)));
        match r.below(if depth == 0 { 3 } else { 6 }) {
            0 | 1 => P::Less(E::random(r, names, 1), E::random(r, names, 1)),
            2 => P::Eq(E::random(r, names, 1), E::random(r, names, 1)),
            3 => P::Not(sub(r)),
            4 => P::And(sub(r), sub(r)),
            _ => P::Or(sub(r), sub(r)),
        }
    }

    fn with(&self, name: &str, e: &E) -> P {
        let two = |p: &P, q: &P| (Box::new(p.with(name, e)), Box::new(q.with(name, e)));
        match self {
            P::Less(a, b) => P::Less(a.with(name, e), b.with(name, e)),
            P::Eq(a, b) => P::Eq(a.with(name, e), b.with(name, e)),
            P::Not(p) => P::Not(Box::new(p.with(name, e))),
            P::And(p, q) => {
                let (p, q) = two(p, q);
                P::And(p, q)
            }
            P::Or(p, q) => {
                let (p, q) = two(p, q);
                P::Or(p, q)
            }
        }
    }

    fn has(&self, name: &str) -> bool {
        match self {
            P::Less(a, b) | P::Eq(a, b) => a.has(name) || b.has(name),
            P::Not(p) => p.has(name),
            P::And(p, q) | P::Or(p, q) => p.has(name) || q.has(name),
        }
    }
}

impl fmt::Display for E {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            E::Num(n) => write!(f, "{n}"),
            E::Name(x) => write!(f, "{x}"),
            E::Add(a, b) => write!(f, "({a} + {b})"),
            E::Times(n, a) => write!(f, "({n} ∗ {a})"),
            E::Mod(a) => write!(f, "({a} mod {SIZE})"),
        }
    }
}

impl fmt::Display for P {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            P::Less(a, b) => write!(f, "({a} < {b})"),
            P::Eq(a, b) => write!(f, "({a} = {b})"),
            P::Not(p) => write!(f, "¬{p}"),
            P::And(p, q) => write!(f, "({p} ∧ {q})"),
            P::Or(p, q) => write!(f, "({p} ∨ {q})"),
        }
    }
}

/// What an action gives a variable.
#[derive(Clone, Debug)]
enum Gives {
    To(E),
    In(Vec<E>),
    /// The name with a prime stands for the new value.
    Such(P),
}

impl Gives {
    fn values(&self, x: &str, at: At) -> Vec<u64> {
        match self {
            Gives::To(e) => vec![e.value(at)],
            Gives::In(all) => all.iter().map(|e| e.value(at)).collect(),
            Gives::Such(p) => {
                let is_new = |n: &str| n.strip_suffix('\'') == Some(x);
                (0..SIZE).filter(|v| p.holds(&|n| if is_new(n) { *v } else { at(n) })).collect()
            }
        }
    }

    fn text(&self, x: &str) -> String {
        match self {
            Gives::To(e) => format!("{x} ≔ {e}"),
            Gives::In(all) => {
                let all: Vec<String> = all.iter().map(E::to_string).collect();
                format!("{x} :∈ {{{}}}", all.join(", "))
            }
            Gives::Such(p) => format!("{x} :∣ {x}' ∈ 0‥{} ∧ {p}", SIZE - 1),
        }
    }

    fn random(r: &mut Random, names: &[&'static str], new: &'static str) -> Gives {
        let one = |r: &mut Random| E::Mod(Box::new(E::random(r, names, 1)));
        match r.below(4) {
            0 | 1 => Gives::To(one(r)),
            2 => Gives::In(vec![one(r), one(r)]),
            _ => Gives::Such(P::random(r, &[&[new][..], names].concat(), 1)),
        }
    }

    fn is_choice(&self) -> bool {
        !matches!(self, Gives::To(_))
    }

    fn has(&self, name: &str) -> bool {
        match self {
            Gives::To(e) => e.has(name),
            Gives::In(all) => all.iter().any(|e| e.has(name)),
            Gives::Such(p) => p.has(name),
        }
    }
}

#[derive(Clone, Debug, Default)]
struct Event {
    name: String,
    refines: Vec<usize>,
    status: &'static str,
    /// An event that extends another has nothing but its own guards here; the judge gets the whole.
    extends: bool,
    parameter: Option<&'static str>,
    guards: Vec<P>,
    actions: Vec<(&'static str, Gives)>,
    /// Of the abstract parameter, and of the variable that is gone.
    of_parameter: Option<P>,
    of_variable: Option<P>,
}

impl Event {
    fn text(&self, above: &[Event]) -> String {
        let names: Vec<&str> = self.refines.iter().map(|i| &*above[*i].name).collect();
        let refines = match (&names[..], self.extends) {
            ([], _) => String::new(),
            (names, false) => format!("refines {}", names.join(" ")),
            (names, true) => format!("extends {}", names.join(" ")),
        };
        let inherited = if self.extends { Some(&above[self.refines[0]]) } else { None };
        let (mut any, mut guards) = (String::new(), vec![]);
        if let Some(p) = self.parameter.filter(|_| inherited.is_none()) {
            any = format!("any {p}");
            guards.push(format!("@range {p} ∈ 0‥{}", PARAMETER - 1));
        }
        let own = inherited.map_or(0, |e| e.guards.len());
        let label = if self.extends { "h" } else { "g" };
        guards.extend(self.guards.iter().skip(own).enumerate().map(|(i, g)| format!("@{label}{i} {g}")));
        let wheres = if guards.is_empty() { String::new() } else { format!("where {}", guards.join(" ")) };
        let witnesses = [("p", &self.of_parameter), ("x'", &self.of_variable)];
        let witnesses = witnesses.iter().filter_map(|(x, w)| w.as_ref().map(|w| format!("@{x} {w}")));
        let witnesses: Vec<String> = witnesses.collect();
        let with = if witnesses.is_empty() { String::new() } else { format!("with {}", witnesses.join(" ")) };
        let actions = self.actions.iter().filter(|_| inherited.is_none());
        let actions: Vec<String> = actions.map(|(x, g)| format!("@{x} {}", g.text(x))).collect();
        let then = if actions.is_empty() { String::new() } else { format!("then {}", actions.join(" ")) };
        format!("  {} event {} {refines} {any} {wheres} {with} {then} end\n", self.status, self.name)
    }

    /// Next values of two variables: the machine's own, and the one that both levels have.
    fn outcomes(&self, own: &str, at: At) -> Vec<(u64, u64)> {
        let of = |x: &str| match self.actions.iter().find(|(y, _)| *y == x) {
            Some((_, g)) => g.values(x, at),
            None => vec![at(x)],
        };
        let (mine, shared) = (of(own), of("s"));
        mine.iter().flat_map(|a| shared.iter().map(|b| (*a, *b))).collect()
    }

    fn mentions(&self, x: &str) -> bool {
        self.guards.iter().any(|g| g.has(x)) || self.actions.iter().any(|(y, g)| *y == x || g.has(x))
    }
}

/// The values of the names at hand.
fn lookup<'a>(pairs: &'a [(&'a str, u64)]) -> impl Fn(&str) -> u64 + 'a {
    move |n| pairs.iter().find(|(x, _)| *x == n).map_or_else(|| panic!("no value of {n}"), |(_, v)| *v)
}

struct Pair {
    above: Vec<Event>,
    below: Vec<Event>,
    glue: P,
    variant: Option<E>,
    /// Initial values of x, of y, and of s.
    starts: (Vec<u64>, Vec<u64>, u64),
}

fn listed(all: &[u64]) -> String {
    let all: Vec<String> = all.iter().map(u64::to_string).collect();
    format!("{{{}}}", all.join(", "))
}

impl Pair {
    fn text(&self) -> String {
        let top = SIZE - 1;
        let (x, y, s) = &self.starts;
        let events = |all: &[Event], above: &[Event]| all.iter().map(|e| e.text(above)).collect::<String>();
        let variant = self.variant.as_ref().map_or(String::new(), |v| format!("variant @v {v}\n"));
        format!(
            "machine M variables x s invariants @tx x ∈ 0‥{top} @ts s ∈ 0‥{top} events\n  event INITIALISATION then \
             @x x :∈ {} @s s ≔ {s} end\n{}end\nmachine R refines M variables y s invariants @ty y ∈ 0‥{top} @glue \
             {}\n{variant}events\n  event INITIALISATION then @y y :∈ {} @s s ≔ {s} end\n{}end\n",
            listed(x),
            events(&self.above, &[]),
            self.glue,
            listed(y),
            events(&self.below, &self.above),
        )
    }

    /// Events and the obligations that may be told of them, where the levels above do not follow.
    fn failures(&self) -> BTreeSet<(String, &'static str)> {
        let mut found = BTreeSet::new();
        let (xs, ys, s) = &self.starts;
        let glued = |x: u64, y: u64, s: u64| self.glue.holds(&lookup(&[("x", x), ("y", y), ("s", s)]));
        let mut todo = vec![];
        for y in ys {
            let set: BTreeSet<u64> = xs.iter().copied().filter(|x| glued(*x, *y, *s)).collect();
            if set.is_empty() {
                found.insert(("INITIALISATION".to_string(), "stuck"));
            } else {
                todo.push((*y, *s, set));
            }
        }
        let mut seen = HashSet::new();
        while let Some((y, s, set)) = todo.pop() {
            if !seen.insert((y, s, set.clone())) {
                continue;
            }
            for e in &self.below {
                for q in 0..if e.parameter.is_some() { PARAMETER } else { 1 } {
                    let here = [("y", y), ("s", s), (e.parameter.unwrap_or("-"), q)];
                    let at = lookup(&here);
                    if !e.guards.iter().all(|g| g.holds(&at)) {
                        continue;
                    }
                    let outcomes = e.outcomes("y", &at);
                    if outcomes.is_empty() {
                        found.insert((e.name.clone(), "FIS"));
                    }
                    for (y2, s2) in outcomes {
                        if let Some(v) = &self.variant {
                            let (old, new) = (v.value(&at), v.value(&lookup(&[("y", y2), ("s", s2)])));
                            if (e.status == "convergent" && new >= old)
                                || (e.status == "anticipated" && new > old)
                            {
                                found.insert((e.name.clone(), "VAR"));
                                continue;
                            }
                        }
                        let next = self.followed(e, (y, s, q), (y2, s2), &set);
                        let next: BTreeSet<u64> = next.into_iter().filter(|x| glued(*x, y2, s2)).collect();
                        if next.is_empty() {
                            found.insert((e.name.clone(), "stuck"));
                        } else {
                            todo.push((y2, s2, next));
                        }
                    }
                }
            }
        }
        found
    }

    fn followed(
        &self,
        e: &Event,
        (y, s, q): (u64, u64, u64),
        (y2, s2): (u64, u64),
        set: &BTreeSet<u64>,
    ) -> BTreeSet<u64> {
        let mut next = BTreeSet::new();
        for x in set {
            if e.refines.is_empty() && s2 == s {
                next.insert(*x);
            }
            for a in e.refines.iter().map(|i| &self.above[*i]) {
                for p in 0..if a.parameter.is_some() { PARAMETER } else { 1 } {
                    let own = (e.parameter.unwrap_or("-"), q);
                    let whole = [("x", *x), ("s", s), ("y", y), ("y'", y2), ("s'", s2), own, ("p", p)];
                    if a.parameter.is_some() && e.parameter == Some("p") && p != q {
                        continue;
                    }
                    let is_it = e.of_parameter.as_ref().is_none_or(|w| w.holds(&lookup(&whole)));
                    let at = [("x", *x), ("s", s), ("p", p)];
                    if !is_it || !a.guards.iter().all(|g| g.holds(&lookup(&at))) {
                        continue;
                    }
                    for (x2, t2) in a.outcomes("x", &lookup(&at)) {
                        let after = [&whole[..], &[("x'", x2)]].concat();
                        if t2 == s2 && e.of_variable.as_ref().is_none_or(|w| w.holds(&lookup(&after))) {
                            next.insert(x2);
                        }
                    }
                }
            }
        }
        next
    }
}

fn abstract_event(r: &mut Random, name: String) -> Event {
    let parameter = r.chance(40).then_some("p");
    // Some leave alone the variable that is gone below, so that they can be extended.
    let mut names = if r.chance(30) { vec!["s"] } else { vec!["x", "s"] };
    names.extend(parameter);
    let guards = (0..r.below(3)).map(|_| P::random(r, &names, 1)).collect();
    let mut actions = vec![];
    if names[0] == "x" && r.chance(80) {
        actions.push(("x", Gives::random(r, &names, "x'")));
    }
    if r.chance(50) {
        actions.push(("s", Gives::random(r, &names, "s'")));
    }
    Event { name, parameter, guards, actions, ..Event::default() }
}

/// What refines an event when x is `(y + by) mod 4`.
fn refined(r: &mut Random, above: &[Event], of: usize, by: u64, name: String) -> Event {
    let a = &above[of];
    let mut e = Event { name, refines: vec![of], ..a.clone() };
    if !a.mentions("x") && r.chance(50) {
        e.extends = true;
        if r.chance(50) {
            e.guards.push(P::random(r, &["y", "s"], 1));
        }
        return e;
    }
    let x = shifted(E::Name("y"), by);
    let mut value = None;
    if a.parameter.is_some() {
        match r.below(4) {
            // The same parameter, another one that is equal to it or one less, or none.
            0 => {}
            1 | 2 => {
                e.parameter = Some("q");
                value = Some(E::Name("q"));
            }
            _ => {
                e.parameter = None;
                value = Some(E::Num(r.below(PARAMETER)));
            }
        }
        if let Some(v) = &value
            && r.chance(70)
        {
            e.of_parameter = Some(P::Eq(E::Name("p"), v.clone()));
        }
    }
    let p = |p: P| value.as_ref().map_or(p.clone(), |v| p.with("p", v)).with("x", &x);
    let one = |e: E| value.as_ref().map_or(e.clone(), |v| e.with("p", v)).with("x", &x);
    e.guards = e.guards.into_iter().map(p).collect();
    let back = SIZE - by;
    e.actions = e
        .actions
        .into_iter()
        .map(|(v, g)| {
            let is_gone = v == "x";
            let end = |e: E| if is_gone { shifted(one(e), back) } else { one(e) };
            let g = match g {
                Gives::To(e) => Gives::To(end(e)),
                Gives::In(all) => Gives::In(all.into_iter().map(end).collect()),
                Gives::Such(q) => Gives::Such(p(q.with("x'", &shifted(E::Name("y'"), by)))),
            };
            (if is_gone { "y" } else { v }, g)
        })
        .collect();
    // A choice is made.
    for (_, g) in &mut e.actions {
        if let Gives::In(all) = g
            && r.chance(40)
        {
            *g = Gives::To(all[0].clone());
        }
    }
    let chooses = a.actions.iter().any(|(v, g)| *v == "x" && g.is_choice());
    if chooses && r.chance(50) {
        e.of_variable = Some(P::Eq(E::Name("x'"), shifted(E::Name("y'"), by)));
    }
    if r.chance(20) {
        e.guards.push(P::random(r, &["y", "s"], 1));
    }
    e
}

fn pair(r: &mut Random) -> Pair {
    let above: Vec<Event> = (0..1 + r.below(2)).map(|i| abstract_event(r, format!("a{i}"))).collect();
    let by = r.below(SIZE);
    let mut below = vec![];
    for of in 0..above.len() {
        // Once, or split.
        for _ in 0..1 + r.below(2) {
            let name = format!("e{}", below.len());
            below.push(refined(r, &above, of, by, name));
        }
    }
    if above.len() == 2 && above.iter().all(|a| a.parameter.is_none()) && r.chance(60) {
        let of = r.below(2) as usize;
        let mut merged = refined(r, &above, of, by, "merged".into());
        merged.extends = false;
        merged.refines = vec![0, 1];
        // An extended one speaks of what stays only, so that it can be written out.
        below.push(merged);
    }
    let mut variant = None;
    for i in 0..r.below(3) {
        let status = ["", "convergent", "anticipated"][r.below(3) as usize];
        if !status.is_empty() && variant.is_none() {
            variant = Some(match r.below(3) {
                0 => E::Name("y"),
                1 => E::Name("s"),
                _ => E::random(r, &["y", "s"], 1),
            });
        }
        let parameter = r.chance(30).then_some("q");
        let mut names = vec!["y", "s"];
        names.extend(parameter);
        let guards = (0..1 + r.below(2)).map(|_| P::random(r, &names, 1)).collect();
        // Most do nothing, since what is glued must stay.
        let mut actions = vec![];
        if r.chance(25) {
            actions.push(("y", Gives::random(r, &names, "y'")));
        }
        if r.chance(10) {
            actions.push(("s", Gives::random(r, &names, "s'")));
        }
        below.push(Event { name: format!("n{i}"), status, parameter, guards, actions, ..Event::default() });
    }
    let mut glue = P::Eq(E::Name("x"), shifted(E::Name("y"), by));
    let (mut xs, s) = (vec![r.below(SIZE)], r.below(SIZE));
    if r.chance(40) {
        xs.push(r.below(SIZE));
    }
    let mut ys: Vec<u64> = xs.iter().map(|x| (x + SIZE - by) % SIZE).collect();
    if r.chance(50) {
        for _ in 0..1 + r.below(2) {
            match r.below(5) {
                0 => glue = P::Or(Box::new(glue), Box::new(P::random(r, &["x", "y", "s"], 1))),
                1 => ys = vec![r.below(SIZE)],
                _ => change(r, &mut below),
            }
        }
    }
    Pair { above, below, glue, variant, starts: (xs, ys, s) }
}

/// One thing of an event.
fn change(r: &mut Random, below: &mut [Event]) {
    let at = r.below(below.len() as u64) as usize;
    let e = &mut below[at];
    let mut names = vec!["y", "s"];
    names.extend(e.parameter);
    match r.below(5) {
        0 if !e.extends => drop(e.guards.pop()),
        1 if !e.extends => match e.actions.first_mut() {
            Some((_, g)) => *g = Gives::To(E::Mod(Box::new(E::random(r, &names, 1)))),
            None => e.actions.push(("y", Gives::random(r, &names, "y'"))),
        },
        2 if e.of_parameter.is_some() => {
            e.of_parameter = Some(P::Eq(E::Name("p"), E::random(r, &names, 1)));
        }
        3 if e.of_variable.is_some() => {
            let two = P::Eq(E::Name("x'"), E::Mod(Box::new(E::random(r, &names, 1))));
            e.of_variable = Some(match r.chance(50) {
                true => two,
                false => P::Or(Box::new(two), Box::new(P::Eq(E::Name("x'"), E::Name("y'")))),
            });
        }
        _ => (e.of_parameter, e.of_variable) = (None, None),
    }
}

#[test]
fn random_refinements_against_enumeration_and_proofs() {
    let mut r = Random(0xA076_1D64_78BD_642F);
    let (mut held, mut failed, mut cleared, mut refuted) = (0, 0, 0, 0);
    for i in 0..machines() {
        let pair = pair(&mut r);
        let text = pair.text();
        let dir = folder("random-pairs", &[("t.eventb", &text)]);
        let path = dir.join("t.eventb");
        let found = ask(&path, &Task::default()).unwrap_or_else(|e| panic!("{i}: {e}\n{text}"));
        let failures = pair.failures();
        let wanted = if failures.is_empty() { Decision::Holds } else { Decision::Fails };
        let name = found.finding.as_ref().and_then(|f| f.name.clone()).unwrap_or_default();
        assert_eq!(found.verdict, wanted, "{i}: {name} {:?} {failures:?}\n{text}", found.reason);
        if wanted == Decision::Fails {
            failed += 1;
            let event = name.split('/').next().unwrap_or_default();
            let kind = match name.rsplit('/').next().unwrap_or_default() {
                kind @ ("VAR" | "FIS") => kind,
                "GRD" | "MRG" | "SIM" | "EQL" | "WFIS" | "INV" => "stuck",
                other => panic!("{i}: {other}: {name}\n{text}"),
            };
            assert!(
                failures.iter().any(|(e, k)| e == event && *k == kind),
                "{i}: {name} is none of {failures:?}\n{text}"
            );
        } else {
            held += 1;
        }
        // The solver's turn, on some of them.
        if i % 8 != 0 {
            continue;
        }
        let opened = open_sequents(&path, &ScopeArgs::default());
        let opened = opened.unwrap_or_else(|r| panic!("{i}: {:?}", r.diagnostics)).expect("a refinement");
        let task = kanon::run::prove::Task::default();
        let said = sequents::prove(&opened, &task, &Deadline::never(), &mut |_, _| {}).expect("kleene");
        // An event whose obligations are all proved is followed wherever the invariants hold.
        let blamed = name.split('/').next().unwrap_or_default();
        for e in &pair.below {
            let prefix = format!("R/{}/", e.name);
            let mut own = said.obligations.iter().filter(|o| o.name.starts_with(&prefix)).peekable();
            if own.peek().is_some() && own.all(|o| o.status == Status::Proved) {
                cleared += 1;
                assert_ne!(blamed, e.name, "{i}: all of it is proved, but {name}\n{text}");
            }
        }
        if let Some(o) = said.obligations.iter().find(|o| o.name == format!("R/{name}")) {
            refuted += 1;
            assert!(o.status != Status::Proved, "{i}: {name} is proved and does not hold\n{text}");
        }
    }
    let n = machines();
    assert!(held >= n / 10 && failed >= n / 10, "{held} held, {failed} failed");
    assert!(cleared >= n / 40 && refuted >= n / 40, "{cleared} events proved, {refuted} refuted of {n}");
}
