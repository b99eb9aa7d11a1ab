//! Random machines whose variables are values of datatypes, as packages, against a search written here: lists and options of
//! numbers below 3, with operators that are defined by cases. `KANON_DATATYPES` is how many there are.

use super::eventb::{EVENT, Event, INIT, context, counts, machine, package};
use super::theories::{formula, theory};
use crate::support::random::Choice;
use std::collections::{BTreeSet, VecDeque};

/// l, o and n.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct State {
    list: Vec<u8>,
    option: Option<u8>,
    number: u8,
}

#[derive(Clone, Debug)]
enum Int {
    Number(u8),
    N,
    /// The parameter.
    X,
    Size(List),
    /// Only where l is not empty.
    Head,
    /// Only where o is something.
    The,
    Or(Opt, Box<Int>),
    /// A number as a value of the datatype of natural numbers, and back.
    Through(Box<Int>),
}

#[derive(Clone, Debug)]
enum List {
    Nil,
    L,
    Cons(Box<Int>, Box<List>),
    Append(Box<List>, Box<Int>),
    /// Only where l is not empty.
    Tail,
}

#[derive(Clone, Debug)]
enum Opt {
    None,
    O,
    Some(Box<Int>),
}

#[derive(Clone, Debug)]
enum Pred {
    Same(List, List),
    Has(Int, List),
    SameOption(Opt, Opt),
    Less(Int, Int),
    Not(Box<Pred>),
}

#[derive(Clone, Debug)]
enum Change {
    L(List),
    O(Opt),
    N(Int),
}

/// In a state, with a parameter; the formulas are such that all have a value where the guards of `needs` hold.
struct At<'a>(&'a State, u8);

impl At<'_> {
    fn int(&self, e: &Int) -> usize {
        let At(s, x) = self;
        match e {
            Int::Number(n) => usize::from(*n),
            Int::N => usize::from(s.number),
            Int::X => usize::from(*x),
            Int::Size(l) => self.list(l).len(),
            Int::Head => usize::from(s.list[0]),
            Int::The => usize::from(s.option.expect("a guard says so")),
            Int::Or(o, e) => self.opt(o).unwrap_or_else(|| self.int(e)),
            Int::Through(e) => self.int(e),
        }
    }

    fn list(&self, e: &List) -> Vec<usize> {
        let own = || self.0.list.iter().map(|n| usize::from(*n)).collect::<Vec<_>>();
        match e {
            List::Nil => vec![],
            List::L => own(),
            List::Cons(x, l) => [vec![self.int(x)], self.list(l)].concat(),
            List::Append(l, x) => [self.list(l), vec![self.int(x)]].concat(),
            List::Tail => own()[1..].to_vec(),
        }
    }

    fn opt(&self, e: &Opt) -> Option<usize> {
        match e {
            Opt::None => None,
            Opt::O => self.0.option.map(usize::from),
            Opt::Some(e) => Some(self.int(e)),
        }
    }

    fn pred(&self, p: &Pred) -> bool {
        match p {
            Pred::Same(a, b) => self.list(a) == self.list(b),
            Pred::Has(x, l) => self.list(l).contains(&self.int(x)),
            Pred::SameOption(a, b) => self.opt(a) == self.opt(b),
            Pred::Less(a, b) => self.int(a) < self.int(b),
            Pred::Not(p) => !self.pred(p),
        }
    }

    /// The state after a change, if its bounds hold: lists of at most two, numbers below 3.
    fn after(&self, change: &Change) -> Option<State> {
        let small = |n: usize| (n < 3).then_some(n as u8);
        let mut s = self.0.clone();
        match change {
            Change::L(e) => s.list = self.list(e).into_iter().map(small).collect::<Option<_>>()?,
            Change::O(e) => s.option = self.opt(e).map(|n| small(n).ok_or(())).transpose().ok()?,
            Change::N(e) => s.number = small(self.int(e))?,
        }
        (s.list.len() < 3).then_some(s)
    }
}

fn int(e: &Int) -> String {
    match e {
        Int::Number(n) => format!("#{n}"),
        Int::N => "$n".into(),
        Int::X => "$x".into(),
        Int::Size(l) => format!("size<{}>", list(l)),
        Int::Head => "head<$l>".into(),
        Int::The => "the<$o>".into(),
        Int::Or(o, e) => format!("getor<{},{}>", opt(o), int(e)),
        Int::Through(e) => format!("number<mknat<{}>>", int(e)),
    }
}

fn list(e: &List) -> String {
    match e {
        List::Nil => "nil<>".into(),
        List::L => "$l".into(),
        List::Cons(x, l) => format!("cons<{},{}>", int(x), list(l)),
        List::Append(l, x) => format!("append<{},{}>", list(l), int(x)),
        List::Tail => "tail<$l>".into(),
    }
}

fn opt(e: &Opt) -> String {
    match e {
        Opt::None => "none<>".into(),
        Opt::O => "$o".into(),
        Opt::Some(e) => format!("some<{}>", int(e)),
    }
}

fn pred(p: &Pred) -> String {
    match p {
        Pred::Same(a, b) => format!("equal(~{},{})", list(a), list(b)),
        Pred::Has(x, l) => format!("extended_pred(~has,[{},{}],[])", int(x), list(l)),
        Pred::SameOption(a, b) => format!("equal(~{},{})", opt(a), opt(b)),
        Pred::Less(a, b) => format!("less(~{},{})", int(a), int(b)),
        Pred::Not(p) => format!("negation(~{})", pred(p)),
    }
}

struct Maker(Choice);

impl Maker {
    fn int(&mut self, depth: usize, is_small: bool) -> Int {
        if depth == 0 || is_small {
            return match self.0.below(6) {
                0 => Int::N,
                1 => Int::Head,
                2 => Int::The,
                3 | 4 => Int::X,
                _ => Int::Number(self.0.below(3) as u8),
            };
        }
        match self.0.below(4) {
            // A list of nothing alone has no type.
            0 => Int::Size(match self.list(depth - 1) {
                List::Nil => List::L,
                other => other,
            }),
            1 => Int::Or(self.opt(depth - 1), Box::new(self.int(depth - 1, true))),
            2 => Int::Through(Box::new(self.int(depth - 1, true))),
            _ => self.int(0, true),
        }
    }

    /// Numbers in lists and options are below 3.
    fn list(&mut self, depth: usize) -> List {
        if depth == 0 {
            return match self.0.below(3) {
                0 => List::Nil,
                1 => List::L,
                _ => List::Tail,
            };
        }
        let (l, x) = (Box::new(self.list(depth - 1)), Box::new(self.int(0, true)));
        if self.0.percent(50) { List::Cons(x, l) } else { List::Append(l, x) }
    }

    fn opt(&mut self, depth: usize) -> Opt {
        match self.0.below(4) {
            0 => Opt::None,
            1 => Opt::O,
            _ => Opt::Some(Box::new(self.int(depth, true))),
        }
    }

    fn pred(&mut self) -> Pred {
        match self.0.below(6) {
            0 => Pred::Same(self.list(1), self.list(0)),
            1 => Pred::Has(self.int(0, true), self.list(1)),
            2 => Pred::SameOption(self.opt(0), Opt::O),
            3 | 4 => Pred::Less(self.int(2, false), self.int(1, false)),
            _ => Pred::Not(Box::new(self.pred())),
        }
    }

    fn change(&mut self) -> Change {
        match self.0.below(5) {
            0 | 1 => {
                let depth = self.0.below(3);
                Change::L(self.list(depth))
            }
            2 | 3 => Change::O(self.opt(1)),
            _ => Change::N(self.int(2, false)),
        }
    }
}

#[test]
fn random_machines_over_datatypes() {
    let machines = std::env::var("KANON_DATATYPES").ok().and_then(|n| n.parse().ok()).unwrap_or(60);
    let (mut states, mut transitions) = (0, 0);
    for seed in 0..machines {
        let mut maker = Maker(Choice::new(seed));
        let mut events: Vec<(Pred, Change)> =
            (0..2 + seed % 3).map(|_| (maker.pred(), maker.change())).collect();
        // Without these most machines stay where they begin.
        let longer = Change::L(List::Cons(Box::new(Int::X), Box::new(List::L)));
        let other = Change::O(Opt::Some(Box::new(Int::X)));
        for change in [longer, other] {
            let always = Pred::Less(Int::Number(0), Int::Number(1));
            events.push((if seed % 4 == 0 { maker.pred() } else { always }, change));
        }
        // What a head, a tail or the value of an option needs, wherever it may stand; and that all stays small.
        let needs = |text: &str| {
            let list =
                if text.contains("head<") || text.contains("tail<") { "not_equal(~$l,nil<>)," } else { "" };
            let option = if text.contains("the<") { "not_equal(~$o,none<>)," } else { "" };
            format!("{list}{option}")
        };
        let texts: Vec<(String, String, String)> = events
            .iter()
            .enumerate()
            .map(|(i, (p, change))| {
                let (name, value, is_small) = match change {
                    Change::L(List::Nil) => ("l", "nil<>".into(), "truth(none)".into()),
                    Change::L(e) => ("l", list(e), format!("less(~size<{}>,#3)", list(e))),
                    Change::O(e) => ("o", opt(e), "truth(none)".into()),
                    Change::N(e) => ("n", int(e), format!("less(~{},#3)", int(e))),
                };
                let p = pred(p);
                let guards =
                    format!("{}member(~$x,interval(~#0,#2)),{p},{is_small}", needs(&format!("{p}{value}")));
                (format!("e{i}"), formula(&guards), formula(&format!("assign(~[${name}],[{value}])")))
            })
            .collect();
        let start = formula("assign(~[$l,$o,$n],[nil<>,none<>,#0])");
        let mut all = vec![Event { actions: &start, ..INIT }];
        all.extend(texts.iter().map(|(name, guards, actions)| Event {
            name,
            params: "$x",
            guards,
            actions,
            ..EVENT
        }));
        let types = formula(
            "member(~$l,List<integer_set(none)>),member(~$o,Opt<integer_set(none)>),\
                             member(~$n,interval(~#0,#2))",
        );
        let m = machine("M", "", "$l,$o,$n", &types, &all).replace("sees(none,[])", "sees(none,['C'])");
        let text = package(&[m], &[context("", "", "truth(none)")], &theory());
        let found = counts(&text).unwrap_or_else(|why| panic!("{seed}: {why}\n{text}"));
        let needed: Vec<(bool, bool)> = events
            .iter()
            .map(|(p, change)| {
                let value = match change {
                    Change::L(e) => list(e),
                    Change::O(e) => opt(e),
                    Change::N(e) => int(e),
                };
                let all = pred(p) + &value;
                (all.contains("head<") || all.contains("tail<"), all.contains("the<"))
            })
            .collect();
        let first = State { list: vec![], option: None, number: 0 };
        let (mut seen, mut todo) = (BTreeSet::from([first.clone()]), VecDeque::from([first]));
        let mut steps = 0;
        while let Some(s) = todo.pop_front() {
            for ((p, change), (list, option)) in events.iter().zip(&needed) {
                if (*list && s.list.is_empty()) || (*option && s.option.is_none()) {
                    continue;
                }
                for x in 0..3 {
                    let at = At(&s, x);
                    let Some(next) = at.pred(p).then(|| at.after(change)).flatten() else { continue };
                    steps += 1;
                    if seen.insert(next.clone()) {
                        todo.push_back(next);
                    }
                }
            }
        }
        assert_eq!((found.1, found.2, found.3), (seen.len(), steps, false), "{seed}\n{text}");
        states += seen.len();
        transitions += steps;
    }
    println!("{machines} machines, {states} states, {transitions} transitions");
    assert!(states > 5 * machines as usize, "{states} states of {machines} machines");
}
