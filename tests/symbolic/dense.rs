//! Random machines that the engines can decide: bounded integers, small sets, relations and functions. Most of them hold
//! or fail in the eyes of every engine, and about half of them hold, so that a wrong Holds would be seen.
//!
//! Half of them have a goal as well, since a guard that keeps an invariant hides what an expression means, and a goal
//! does not. A machine is text. What an operation assigns is computed first (`ANY y WHERE y = E & y : T …`) and mostly kept inside
//! the bounds and the claims of the invariant by its guard; where a guard is left out, the invariant may break. A third of
//! the operations are substitutions of every kind instead, whose values are mostly kept inside the bounds.

use crate::machines::{count, explored, length};
use crate::support::random::Choice;
use kanon::explore::Options;
use kanon::model::load::load_text;
use kanon::model::open::Opened;
use kanon::model::scope::{ScopeArgs, scope};
use kanon::run::answer::Decision;
use kanon::run::symbolic::{Answered, Backend, Engine, Task, answer};
use kanon::run::{Deadline, Project};
use kanon::symbolic::encode::Mutant;
use std::collections::BTreeMap;
use std::time::Duration;

/// What a variable may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Int,
    Bool,
    Elem,
    /// Of elements.
    Set,
    /// Of integers.
    Ints,
    /// From elements to integers.
    Partial,
    Total,
    /// Among elements.
    Relation,
    Sequence,
    /// Of a number and a boolean.
    Record,
    /// Of sets of elements.
    Family,
}

use Kind::*;

pub const KINDS: [Kind; 11] =
    [Int, Bool, Elem, Set, Ints, Partial, Total, Relation, Sequence, Record, Family];
const NAMES: [&str; 4] = ["v", "w", "x", "y"];

impl Kind {
    pub fn set(self) -> &'static str {
        match self {
            Int => "0..2",
            Bool => "BOOL",
            Elem => "S",
            Set => "POW(S)",
            Ints => "POW(0..2)",
            Partial => "S +-> 0..2",
            Total => "S --> 0..2",
            Relation => "S <-> S",
            Sequence => "seq(S)",
            Record => "struct(m : 0..2, n : BOOL)",
            Family => "POW(POW(S))",
        }
    }
}

pub struct Maker {
    pub choice: Choice,
    pub vars: Vec<(String, Kind)>,
    pub has_constant: bool,
    /// How many of a hundred terms that may have no value are not guarded.
    pub raw: usize,
}

impl Maker {
    fn pick(&mut self, from: &[&str]) -> String {
        self.choice.pick(from).to_string()
    }

    /// A variable of this kind, if there is one.
    fn var(&mut self, kind: Kind) -> Option<String> {
        let all: Vec<String> = self.vars.iter().filter(|v| v.1 == kind).map(|v| v.0.clone()).collect();
        (!all.is_empty()).then(|| self.choice.pick(&all))
    }

    /// A function into integers; with it, the set of arguments for which it surely has a value.
    fn function(&mut self, size: usize) -> (String, String) {
        if let Some(f) = self.var(Total) {
            return (f, "S".into());
        }
        let f = self.expr(Partial, size);
        (f.clone(), format!("dom({f})"))
    }

    /// A relation among integers.
    fn pairs(&mut self, size: usize) -> String {
        match self.choice.below(3) {
            0 => format!("{{{} |-> {}}}", self.expr(Int, size), self.expr(Int, size)),
            1 => format!("({} * {})", self.expr(Ints, size), self.expr(Ints, size)),
            _ => format!("(({})~ ; {})", self.expr(Partial, size), self.expr(Partial, size)),
        }
    }

    /// A term where a condition holds and another one elsewhere; now and then the term alone, which may have no value.
    fn guarded(&mut self, condition: String, term: String, otherwise: &str) -> String {
        match self.choice.percent(self.raw) {
            true => format!("({term})"),
            false => format!("(IF {condition} THEN {term} ELSE {otherwise} END)"),
        }
    }

    pub fn expr(&mut self, kind: Kind, size: usize) -> String {
        if size == 0 || self.choice.percent(25) {
            if self.choice.percent(75)
                && let Some(v) = self.var(kind)
            {
                return v;
            }
            return match kind {
                Int if self.has_constant && self.choice.percent(30) => "c".into(),
                Int => self.pick(&["0", "1", "2"]),
                Bool => self.pick(&["TRUE", "FALSE"]),
                Elem => self.pick(&["a", "b"]),
                Set => self.pick(&["(S - S)", "{a}", "{b}", "S"]),
                Ints => self.pick(&["(1..0)", "{0}", "(1..2)", "{0, 2}"]),
                Partial => self.pick(&["({a} <<| {a |-> 1})", "{a |-> 1}", "{a |-> 0, b |-> 2}"]),
                Total => self.pick(&["(S * {0})", "{a |-> 1, b |-> 0}"]),
                Relation => self.pick(&["(S <<| id(S))", "id(S)", "{a |-> b}", "({a} * S)"]),
                Sequence => self.pick(&["tail([a])", "[a]", "[b, a]"]),
                Record => self.pick(&["rec(m : 0, n : TRUE)", "rec(m : 2, n : FALSE)"]),
                Family => self.pick(&["({S} - {S})", "{S - S}", "{{a}, S}", "POW({b})"]),
            };
        }
        let n = size - 1;
        if self.choice.percent(8) {
            let (p, yes, no) = (self.pred(n.min(1)), self.expr(kind, n), self.expr(kind, n));
            return format!("(IF {p} THEN {yes} ELSE {no} END)");
        }
        if self.choice.percent(5) {
            let (e, body) = (self.expr(Int, n), self.expr(kind, n));
            return format!("(LET z BE z = {e} IN {body} END)");
        }
        match kind {
            Int => match self.choice.below(20) {
                12 => {
                    let (x, y) = (self.expr(Int, n), self.expr(Int, n));
                    self.guarded(format!("{y} /= 0"), format!("{x} / {y}"), "1")
                }
                13 => {
                    let (x, y) = (self.expr(Int, n), self.expr(Int, n));
                    self.guarded(format!("{x} >= 0 & {y} > 0"), format!("{x} mod {y}"), "0")
                }
                14 => {
                    let (x, y) = (self.expr(Int, 0), self.expr(Int, n.min(1)));
                    self.guarded(format!("{y} >= 0"), format!("{x} ** {y}"), "2")
                }
                15 => {
                    let (s, fun) = (self.expr(Ints, n), self.pick(&["min", "max"]));
                    self.guarded(format!("{s} /= {{}}"), format!("{fun}({s})"), "0")
                }
                16 => format!("PI(i).(i : {} | i)", self.expr(Ints, n)),
                17 => format!("({})'m", self.expr(Record, n)),
                18 => format!("(0 - {})", self.expr(Int, n)),
                19 => {
                    let (f, domain) = self.function(n.min(1));
                    let e = self.expr(Elem, n.min(1));
                    self.guarded(format!("{e} : {domain}"), format!("{f}({e})"), "0")
                }
                0 => format!("({} + {})", self.expr(Int, n), self.expr(Int, n)),
                1 => format!("({} - {})", self.expr(Int, n), self.expr(Int, n)),
                2 => format!("(({} * {}) mod 3)", self.expr(Int, n), self.expr(Int, n)),
                3 => format!("({} / 2)", self.expr(Int, n)),
                4 => format!("card({})", self.expr(Set, n)),
                5 => format!("card({})", self.expr(Ints, n)),
                6 => format!("max({} \\/ {{0}})", self.expr(Ints, n)),
                7 => format!("SIGMA(i).(i : {} | i)", self.expr(Ints, n)),
                8 => format!("size({})", self.expr(Sequence, n)),
                9 => format!("card({})", self.expr(Relation, n)),
                10 => {
                    let (f, _) = self.function(n);
                    format!("card({f})")
                }
                _ => match self.var(Total) {
                    Some(f) => format!("{f}({})", self.expr(Elem, n)),
                    None => format!("min({} \\/ {{2}})", self.expr(Ints, n)),
                },
            },
            Bool if self.choice.percent(25) => format!("({})'n", self.expr(Record, n)),
            Bool => format!("bool({})", self.pred(n)),
            Elem if self.choice.percent(30) => {
                let (s, fun) = (self.expr(Sequence, n), self.pick(&["first", "last"]));
                self.guarded(format!("{s} /= []"), format!("{fun}({s})"), "a")
            }
            Elem => {
                let s = self.expr(Set, n);
                let (yes, no) = (self.expr(Elem, n), self.expr(Elem, n));
                format!("(IF {s} = {{}} THEN {yes} ELSE {no} END)")
            }
            Set => match self.choice.below(17) {
                11 => format!("union({})", self.expr(Family, n)),
                12 => {
                    let f = self.expr(Family, n);
                    self.guarded(format!("{f} /= {{}}"), format!("inter({f})"), "{a}")
                }
                13 => format!("UNION(e).(e : {} | ({})[{{e}}])", self.expr(Set, n), self.expr(Relation, n)),
                14 => {
                    let (s, r) = (self.expr(Set, n), self.expr(Relation, n));
                    self.guarded(format!("{s} /= {{}}"), format!("INTER(e).(e : {s} | ({r})[{{e}}])"), "S")
                }
                15 => format!("({})~[{}]", self.expr(Relation, n), self.expr(Set, n)),
                16 => format!("{{e | e : S & {} < card({{e}})}}", self.expr(Int, n)),
                0 => format!("({} \\/ {})", self.expr(Set, n), self.expr(Set, n)),
                1 => format!("({} /\\ {})", self.expr(Set, n), self.expr(Set, n)),
                2 => format!("({} - {})", self.expr(Set, n), self.expr(Set, n)),
                3 => format!("{{{}}}", self.expr(Elem, n)),
                4 => format!("dom({})", self.expr(Relation, n)),
                5 => format!("ran({})", self.expr(Relation, n)),
                6 => format!("({})[{}]", self.expr(Relation, n), self.expr(Set, n)),
                7 => format!("dom({})", self.expr(Partial, n)),
                8 => format!("({})~[{}]", self.expr(Partial, n), self.expr(Ints, n)),
                9 => format!("ran({})", self.expr(Sequence, n)),
                _ => format!("{{e | e : S & e /: {}}}", self.expr(Set, n)),
            },
            Ints => match self.choice.below(12) {
                // Relations over all integers, whose power 0 has no end.
                10 => {
                    let (r, i, s) = (self.pairs(n), self.pick(&["0", "0", "1", "2"]), self.expr(Ints, n));
                    format!("((iterate({r}, {i}))[{s}])")
                }
                11 => {
                    let (r, s) = (self.pairs(n), self.expr(Ints, n));
                    format!("((closure({r}))[{s}])")
                }
                7 => format!("({}..{})", self.expr(Int, n), self.expr(Int, n)),
                8 => format!("{{i | i : 0..2 & i : {}}}", self.expr(Ints, n)),
                9 => format!("dom({})", self.expr(Sequence, n)),
                0 => format!("({} \\/ {})", self.expr(Ints, n), self.expr(Ints, n)),
                1 => format!("({} - {})", self.expr(Ints, n), self.expr(Ints, n)),
                2 => format!("ran({})", self.expr(Partial, n)),
                3 => format!("(0..{})", self.expr(Int, n)),
                4 => format!("{{i | i : 0..2 & i < {}}}", self.expr(Int, n)),
                5 => format!("({})[{}]", self.expr(Partial, n), self.expr(Set, n)),
                _ => format!("{{{}}}", self.expr(Int, n)),
            },
            Partial => match self.choice.below(7) {
                0 => format!(
                    "({} <+ {{{} |-> {}}})",
                    self.expr(Partial, n),
                    self.expr(Elem, n),
                    self.expr(Int, n)
                ),
                1 => format!("({} <| {})", self.expr(Set, n), self.expr(Partial, n)),
                2 => format!("({} <<| {})", self.expr(Set, n), self.expr(Partial, n)),
                3 => format!("({} |> {})", self.expr(Partial, n), self.expr(Ints, n)),
                4 => format!("({} |>> {})", self.expr(Partial, n), self.expr(Ints, n)),
                5 => format!("(%e.(e : S & e : {} | {}))", self.expr(Set, n), self.expr(Int, n)),
                _ => self.expr(Total, n),
            },
            Total => match self.choice.below(3) {
                0 => format!(
                    "({} <+ {{{} |-> {}}})",
                    self.expr(Total, n),
                    self.expr(Elem, n),
                    self.expr(Int, n)
                ),
                1 => format!("({} <+ {})", self.expr(Total, n), self.expr(Partial, n)),
                _ => format!("(%e.(e : S | {}))", self.expr(Int, n)),
            },
            Relation => match self.choice.below(18) {
                10 => format!("closure({})", self.expr(Relation, n)),
                11 => {
                    let (r, i) = (self.expr(Relation, n), self.expr(Int, n.min(1)));
                    self.guarded(format!("{i} >= 0"), format!("iterate({r}, {i})"), "{b |-> a}")
                }
                12 => format!("dom({} || {})", self.expr(Relation, n), self.expr(Relation, n)),
                13 => format!("(({} >< {}) ; prj2(S, S))", self.expr(Relation, n), self.expr(Relation, n)),
                14 => format!("{{e, g | e : {} & g |-> e : {}}}", self.expr(Set, n), self.expr(Relation, n)),
                15 => format!("({} |> {})", self.expr(Relation, n), self.expr(Set, n)),
                16 => format!("({} <<| {})", self.expr(Set, n), self.expr(Relation, n)),
                17 => format!("({} /\\ {})", self.expr(Relation, n), self.expr(Relation, n)),
                0 => format!("({} \\/ {})", self.expr(Relation, n), self.expr(Relation, n)),
                1 => format!("({} - {})", self.expr(Relation, n), self.expr(Relation, n)),
                2 => format!("({} ; {})", self.expr(Relation, n), self.expr(Relation, n)),
                3 => format!("({})~", self.expr(Relation, n)),
                4 => format!("({} <| {})", self.expr(Set, n), self.expr(Relation, n)),
                5 => format!("({} |>> {})", self.expr(Relation, n), self.expr(Set, n)),
                6 => format!("closure1({})", self.expr(Relation, n)),
                7 => format!("{{{} |-> {}}}", self.expr(Elem, n), self.expr(Elem, n)),
                8 => format!("({} <+ {})", self.expr(Relation, n), self.expr(Relation, n)),
                _ => format!("({} * {})", self.expr(Set, n), self.expr(Set, n)),
            },
            Record => format!("rec(m : {}, n : {})", self.expr(Int, n), self.expr(Bool, n)),
            Family => match self.choice.below(7) {
                0 => format!("POW({})", self.expr(Set, n)),
                1 => format!("POW1({})", self.expr(Set, n)),
                2 => format!("({} \\/ {})", self.expr(Family, n), self.expr(Family, n)),
                3 => format!("({} - {})", self.expr(Family, n), self.expr(Family, n)),
                4 => format!("{{{}}}", self.expr(Set, n)),
                5 => format!("{{s | s <: S & {} : s}}", self.expr(Elem, n)),
                _ => format!("ran(%e.(e : {} | ({})[{{e}}]))", self.expr(Set, n), self.expr(Relation, n)),
            },
            Sequence => match self.choice.below(10) {
                4 => format!("({} -> {})", self.expr(Elem, n), self.expr(Sequence, n)),
                5 | 6 => {
                    let (s, fun) = (self.expr(Sequence, n), self.pick(&["tail", "front"]));
                    self.guarded(format!("{s} /= []"), format!("{fun}({s})"), "[a]")
                }
                7 | 8 => {
                    let (s, i) = (self.expr(Sequence, n), self.expr(Int, n.min(1)));
                    let op = self.pick(&["/|\\", "\\|/"]);
                    self.guarded(format!("{i} : 0..size({s})"), format!("{s} {op} {i}"), "[b]")
                }
                9 => format!("conc([{}, {}])", self.expr(Sequence, n), self.expr(Sequence, n)),
                0 => format!("({} <- {})", self.expr(Sequence, n), self.expr(Elem, n)),
                1 => format!("({} ^ {})", self.expr(Sequence, n), self.expr(Sequence, n)),
                2 => format!("rev({})", self.expr(Sequence, n)),
                _ => {
                    let s = self.expr(Sequence, n);
                    self.guarded(format!("{s} /= []"), format!("{s} /|\\ 1"), "[]")
                }
            },
        }
    }

    pub fn pred(&mut self, size: usize) -> String {
        let n = size.saturating_sub(1);
        match self.choice.below(if size == 0 { 8 } else { 22 }) {
            16 => format!("({} <=> {})", self.pred(n), self.pred(n)),
            17 => {
                let op = self.pick(&["<<:", "/<:", "/<<:", "/="]);
                format!("{} {op} {}", self.expr(Set, n), self.expr(Set, n))
            }
            18 => {
                let kind = self.pick(&["seq1", "iseq", "iseq1", "perm", "seq"]);
                format!("{} : {kind}({})", self.expr(Sequence, n), self.expr(Set, n))
            }
            19 => {
                let arrow = self.pick(&["+->", "-->", ">+>", ">->", "+->>", "-->>", ">->>", "<->"]);
                format!("{} : {} {arrow} {}", self.expr(Relation, n), self.expr(Set, n), self.expr(Set, n))
            }
            20 => {
                let arrow = self.pick(&["+->", "-->", ">+>", "+->>", ">->>"]);
                format!("{} : {} {arrow} {}", self.expr(Partial, n), self.expr(Set, n), self.expr(Ints, n))
            }
            21 => format!("{} : {}", self.expr(Set, n), self.expr(Family, n)),
            0 => format!("{} < {}", self.expr(Int, n), self.expr(Int, n)),
            1 => format!("{} <= {}", self.expr(Int, n), self.expr(Int, n)),
            2 => format!("{} = {}", self.expr(Bool, n), self.expr(Bool, n)),
            3 => format!("{} : {}", self.expr(Elem, n), self.expr(Set, n)),
            4 => format!("{} <: {}", self.expr(Set, n), self.expr(Set, n)),
            5 => format!("{} : {}", self.expr(Int, n), self.expr(Ints, n)),
            6 => {
                let (kind, limit) = (self.choice.pick(&KINDS), 1);
                format!("{} = {}", self.expr(kind, limit.min(n)), self.expr(kind, limit.min(n)))
            }
            7 => {
                let (f, domain) = self.function(n.min(1));
                let e = self.expr(Elem, 0);
                // Now and then the function may be applied where it has no value.
                match self.choice.percent(self.raw) {
                    false => format!("({e} : {domain} => {f}({e}) <= {})", self.expr(Int, n)),
                    true => format!("{f}({e}) <= {}", self.expr(Int, n)),
                }
            }
            8 => format!("not({})", self.pred(n)),
            9 | 10 => format!("({} & {})", self.pred(n), self.pred(n)),
            11 => format!("({} or {})", self.pred(n), self.pred(n)),
            12 => format!("({} => {})", self.pred(n), self.pred(n)),
            13 => format!("{} : S --> 0..2", self.expr(Partial, n)),
            14 => format!("{} : S >+> 0..2", self.expr(Partial, n)),
            _ => {
                let (s, r) = (self.expr(Set, n), self.expr(Relation, n));
                match self.choice.below(2) {
                    0 => format!("!e.(e : S & e : {s} => e : dom({r}))"),
                    _ => format!("#e.(e : S & e : {s} & e |-> e : {r})"),
                }
            }
        }
    }

    /// An expression whose value a variable of this kind may have; now and then it may have another one.
    fn kept(&mut self, kind: Kind, size: usize) -> String {
        let e = self.expr(kind, size);
        if self.choice.percent(12) {
            return e;
        }
        match kind {
            Int => format!("max({{0, min({{2, {e}}})}})"),
            Ints => format!("({e} /\\ 0..2)"),
            Partial => format!("({e} |> 0..2)"),
            Total => format!("%e.(e : S | max({{0, min({{2, ({e})(e)}})}}))"),
            Sequence => format!("({e} /|\\ min({{2, size({e})}}))"),
            Record => format!("rec(m : max({{0, min({{2, ({e})'m}})}}), n : ({e})'n)"),
            _ => e,
        }
    }

    /// A substitution that writes to some of these variables.
    fn statement(&mut self, to: &[(String, Kind)], size: usize) -> String {
        if to.is_empty() {
            return "skip".into();
        }
        let (v, kind) = self.choice.pick(to);
        let n = size.saturating_sub(1);
        let known = self.vars.len();
        let text = match self.choice.below(if size == 0 { 6 } else { 18 }) {
            0 if kind == Partial || kind == Total => {
                format!("{v}({}) := {}", self.expr(Elem, 1), self.kept(Int, 1))
            }
            0 if kind == Record => format!("{v}'m := {}", self.kept(Int, 1)),
            1 => format!("{v} :: {{{}, {}}}", self.kept(kind, 1), self.kept(kind, 0)),
            2 if kind != Sequence => format!("{v} : ({v} : {} & {})", kind.set(), self.pred(1)),
            0..=5 => format!("{v} := {}", self.kept(kind, 2)),
            6 => format!(
                "IF {} THEN {} ELSE {} END",
                self.pred(1),
                self.statement(to, n),
                self.statement(to, n)
            ),
            7 => format!("CHOICE {} OR {} END", self.statement(to, n), self.statement(to, n)),
            8 => format!("SELECT {} THEN {} END", self.pred(1), self.statement(to, n)),
            9 => format!(
                "SELECT {} THEN {} WHEN {} THEN {} ELSE {} END",
                self.pred(1),
                self.statement(to, n),
                self.pred(1),
                self.statement(to, n),
                self.statement(to, n)
            ),
            10 => format!(
                "CASE {} OF EITHER 0 THEN {} OR 1, 2 THEN {} ELSE {} END END",
                self.expr(Int, 1),
                self.statement(to, n),
                self.statement(to, n),
                self.statement(to, n)
            ),
            11 => {
                let (e, l) = (self.expr(Int, 1), format!("l{known}"));
                self.vars.push((l.clone(), Int));
                format!("VAR {l} IN {l} := {e} ; {} END", self.statement(to, n))
            }
            12 => {
                // The name is new: what it is defined by must not speak of it.
                let (e, k) = (self.expr(Set, 1), format!("k{known}"));
                self.vars.push((k.clone(), Set));
                format!("LET {k} BE {k} = {e} IN {} END", self.statement(to, n))
            }
            13 => {
                self.vars.push(("h".into(), Elem));
                format!("ANY h WHERE h : S & {} THEN {} END", self.pred(1), self.statement(to, n))
            }
            14 => format!("BEGIN {} ; {} END", self.statement(to, n), self.statement(to, n)),
            15 if to.len() > 1 => {
                let (left, right) = to.split_at(1 + self.choice.below(to.len() - 1));
                format!("BEGIN {} || {} END", self.statement(left, n), self.statement(right, n))
            }
            16 => {
                let word = self.pick(&["ASSERT", "PRE"]);
                format!("{word} {} or {} THEN {} END", self.pred(0), self.pred(1), self.statement(to, n))
            }
            17 => {
                // The loop's own variable is no target of its body.
                let (turns, body) = (self.choice.below(3), self.statement(to, n));
                format!(
                    "VAR t IN t := {turns} ; WHILE t > 0 DO BEGIN {body} ; t := t - 1 END \
                     INVARIANT t : INTEGER VARIANT t END END"
                )
            }
            _ => format!("{v} := {}", self.kept(kind, 1)),
        };
        self.vars.truncate(known);
        text
    }

    /// With some variables replaced by their new values.
    fn after(&self, pred: &str, written: &[(String, Kind)]) -> String {
        let mut out = String::new();
        let mut word = String::new();
        for c in pred.chars().chain([' ']) {
            if c.is_alphanumeric() {
                word.push(c);
                continue;
            }
            out += &word;
            if written.iter().any(|(v, _)| *v == word) {
                out.push('1');
            }
            word.clear();
            out.push(c);
        }
        out
    }

    fn machine(&mut self) -> String {
        let n = 2 + self.choice.below(2);
        for name in &NAMES[..n] {
            let kind = self.choice.pick(&KINDS);
            self.vars.push((name.to_string(), kind));
        }
        self.has_constant = self.choice.percent(40);
        let claims: Vec<String> = (0..self.choice.below(3)).map(|_| self.pred(2)).collect();
        let mut invariant: Vec<String> = vec![];
        for (v, kind) in &self.vars {
            invariant.push(format!("{v} : {}", kind.set()));
            if *kind == Sequence {
                invariant.push(format!("size({v}) <= 2"));
            }
        }
        let bounds = invariant.len();
        invariant.extend(claims);
        let mut text = "MACHINE m SETS S = {a, b}".to_string();
        if self.has_constant {
            let more = match self.choice.below(3) {
                0 => " & c * c <= 3",
                1 => " & c mod 2 = 0",
                _ => "",
            };
            text += &format!(" CONSTANTS c PROPERTIES c : 0..2{more}");
        }
        let vars = self.vars.clone();
        let names: Vec<&str> = vars.iter().map(|v| v.0.as_str()).collect();
        text += &format!(
            "\nVARIABLES {}\nINVARIANT\n  {}\nINITIALISATION\n  ",
            names.join(", "),
            invariant.join(" &\n  ")
        );
        // Where to begin: mostly a state that the invariant allows.
        let is_free = self.choice.percent(30);
        if is_free {
            text += &format!("{} :({})\n", names.join(", "), invariant.join(" & "));
        } else {
            let parts: Vec<String> = vars
                .iter()
                .map(|(v, kind)| {
                    let e = std::mem::take(&mut self.vars);
                    let value = self.expr(*kind, 0);
                    self.vars = e;
                    format!("{v} := {value}")
                })
                .collect();
            text += &format!("{}\n", parts.join(" || "));
        }
        text += "OPERATIONS\n";
        let goal = self.choice.percent(60).then(|| format!("{} & {}", self.pred(2), self.pred(2)));
        let mut operations = vec![];
        for o in 0..1 + self.choice.below(4) {
            let written: Vec<(String, Kind)> =
                vars.iter().filter(|_| self.choice.percent(60)).cloned().collect();
            if self.choice.percent(35) {
                let body = self.statement(&written, 2);
                operations.push(format!("  op{o} = BEGIN {body} END"));
                continue;
            }
            let parameter = self.choice.percent(30);
            let mut guard = vec![];
            if parameter {
                guard.push(if self.choice.percent(50) { "p : S".to_string() } else { "p : 1..2".into() });
                if guard[0] == "p : S" {
                    self.vars.push(("p".into(), Elem));
                } else {
                    self.vars.push(("p".into(), Int));
                }
            }
            if self.choice.percent(60) {
                guard.push(self.pred(1));
            }
            let mut new = vec![];
            let careless = self.choice.percent(15);
            for (v, kind) in &written {
                let e = self.expr(*kind, 2);
                new.push(format!("{v}1 = {e}"));
                if !careless || self.choice.percent(50) {
                    new.push(format!("{v}1 : {}", kind.set()));
                    if *kind == Sequence {
                        new.push(format!("size({v}1) <= 2"));
                    }
                }
            }
            for claim in &invariant[bounds..] {
                if !careless {
                    new.push(self.after(claim, &written));
                }
            }
            self.vars.truncate(vars.len());
            let all = guard.into_iter().chain(new).collect::<Vec<_>>().join(" & ");
            let all = if all.is_empty() { "1 = 1".into() } else { all };
            let assigned: Vec<String> = written.iter().map(|(v, _)| format!("{v} := {v}1")).collect();
            let body = if assigned.is_empty() { "skip".into() } else { assigned.join(" || ") };
            let bound: Vec<String> = written.iter().map(|(v, _)| format!("{v}1")).collect();
            let substitution = match (bound.is_empty(), parameter) {
                (true, false) => format!("SELECT {all} THEN {body} END"),
                (true, true) => format!("ANY p WHERE {all} THEN {body} END"),
                (false, true) => format!("ANY p, {} WHERE {all} THEN {body} END", bound.join(", ")),
                (false, false) => format!("ANY {} WHERE {all} THEN {body} END", bound.join(", ")),
            };
            operations.push(format!("  op{o} = {substitution}"));
        }
        text += &operations.join(";\n");
        if let Some(goal) = goal {
            text += &format!("\nDEFINITIONS GOAL == {goal}");
        }
        text + "\nEND\n"
    }
}

/// The text of a machine.
pub fn text(seed: u64) -> String {
    Maker { choice: Choice::new(seed ^ 0xd15e), vars: vec![], has_constant: false, raw: 5 }.machine()
}

/// A machine, if it is one.
pub fn project(text: &str) -> Project {
    let loaded = load_text("m.mch", text);
    let model = loaded.model.unwrap_or_else(|| panic!("{:?}\n{text}", loaded.diagnostics));
    let (scope, _) = scope(&model, &ScopeArgs::default()).expect("a scope");
    Project { opened: Opened { model, scope, ..Opened::default() }, ..Project::default() }
}

/// What is looked for.
pub fn options(seed: u64) -> Options {
    Options { deadlock: seed.is_multiple_of(4), ..Options::default() }
}

const DEPTH: usize = 12;

fn by_formulas(project: &Project, engine: Engine, seed: u64, mutant: Mutant) -> Answered {
    let deadline = Deadline::after(Some(Duration::from_secs(10)));
    let proof_info = seed % 3 == 1;
    // Sequences of operations are many.
    let depth = if engine == Engine::BmcStar { 4 } else { DEPTH };
    let options = options(seed);
    let task = Task { depth, solver: Backend::Sat, proof_info, options, mutant, ..Task::new(engine) };
    answer(project, &task, &deadline, &|_| {}).expect("the options go together")
}

/// What is wrong with an engine's answer.
fn disagreement(
    project: &Project,
    expected: (Decision, usize),
    (seed, engine, mutant): (u64, Engine, Mutant),
    counts: &mut BTreeMap<String, usize>,
) -> Option<String> {
    let found = by_formulas(project, engine, seed, mutant);
    let reason = found.reason.clone().unwrap_or_default();
    let mut count = |what: String| *counts.entry(what).or_default() += 1;
    count(format!("{} {} / {}", engine.name(), expected.0.name(), found.verdict.name()));
    if found.verdict == Decision::Unknown {
        let short: String = reason.split([':', '(']).take(2).collect::<Vec<_>>().join(":");
        count(format!("unknown: {short}"));
    }
    // What has no formula is not looked at, and the answer says so.
    let finds_shortest = engine != Engine::Ic3 && found.uncovered.is_empty();
    let steps = length(&found.finding);
    match (expected.0, found.verdict) {
        (Decision::Fails, Decision::Holds) => Some("formulas miss a finding".into()),
        (Decision::Holds, Decision::Fails) => Some("formulas find what is not there".into()),
        (Decision::Fails, Decision::Fails) if finds_shortest && steps != expected.1 => {
            Some(format!("{steps} steps, and {} for explicit search", expected.1))
        }
        (Decision::Fails, Decision::Fails) if steps < expected.1 => {
            Some(format!("{steps} steps, fewer than {} of explicit search", expected.1))
        }
        (Decision::Fails, Decision::Unknown)
            if finds_shortest && expected.1 <= found.depth && reason.contains("the depth to which") =>
        {
            Some("formulas miss a finding that is near".into())
        }
        (_, Decision::Unknown)
            if ["does not confirm", "have room for", "internal error", "not in the evaluator"]
                .iter()
                .any(|w| reason.contains(w)) =>
        {
            Some(format!("a path that is none: {reason}"))
        }
        _ => None,
    }
}

/// The verdict of explicit search, and the length of a shortest path.
pub fn expected(project: &Project, seed: u64) -> Option<(Decision, usize)> {
    let checked = explored(project, &options(seed), 4000)?;
    (checked.verdict != Decision::Unknown).then(|| (checked.verdict, length(&checked.finding)))
}

#[test]
fn engines_decide_and_agree_with_explicit_search() {
    let machines = count("KANON_DENSE_MACHINES", 50);
    let first = count("KANON_SEED", 0);
    let mut counts = BTreeMap::new();
    let mut explored = 0;
    for seed in first..first + machines {
        let text = text(seed);
        let project = project(&text);
        let Some(expected) = expected(&project, seed) else { continue };
        explored += 1;
        for engine in Engine::ALL {
            if let Some(why) = disagreement(&project, expected, (seed, engine, Mutant::None), &mut counts) {
                panic!("seed {seed}, {}: {why}\n{text}", engine.name());
            }
        }
    }
    for (what, n) in &counts {
        println!("{n:6} {what}");
    }
    let of = |a: &str| counts.iter().filter(|(k, _)| k.ends_with(a)).map(|(_, n)| n).sum::<usize>();
    let (holds, fails) = (of("kinduction holds / holds") + of("ic3 holds / holds"), of("/ fails"));
    println!("{explored} explored");
    // Two engines prove, four find.
    assert!(holds * 3 >= explored * 2, "{holds} proofs of {explored} machines");
    assert!(fails >= explored / 3, "{fails} findings in {explored} machines");
}

/// A mistake of the encoder is found by some machine.
#[test]
fn planted_mistakes_are_found() {
    let mutants = [
        Mutant::DomIsRan,
        Mutant::CardPlusOne,
        Mutant::PartialIsTotal,
        Mutant::OverrideIsUnion,
        Mutant::NothingOutside,
    ];
    let mut open = mutants.to_vec();
    let mut counts = BTreeMap::new();
    for seed in 0..200 {
        if open.is_empty() {
            return;
        }
        let project = project(&text(seed));
        let Some(expected) = expected(&project, seed) else { continue };
        open.retain(|mutant| {
            let found = [Engine::Bmc, Engine::KInduction]
                .iter()
                .any(|e| disagreement(&project, expected, (seed, *e, *mutant), &mut counts).is_some());
            if found {
                println!("{mutant:?} is found by machine {seed}");
            }
            !found
        });
    }
    assert!(open.is_empty(), "not found: {open:?}");
}

/// The clauses of an inductive invariant that are printed are B, and true of every reachable state: of machines that need
/// some, because what is asked of them is not inductive.
#[test]
fn clauses_that_are_printed_are_invariants() {
    let machine = |body: &str| format!("MACHINE m SETS S = {{a, b}} VARIABLES x, y, s, f INVARIANT {body}");
    let types = "x : 0..7 & y : -3..9 & s <: S & f : S +-> 0..3";
    let texts = [
        // Even numbers; a set and a number that go together; a function that is never empty again.
        machine(&format!(
            "{types} & x /= 5 INITIALISATION x, y, s, f := 0, 0, {{}}, {{}} OPERATIONS op = x := (x + 2) mod 8 END"
        )),
        machine(&format!(
            "{types} & (y > 0 => s /= {{}}) INITIALISATION x, y, s, f := 0, 0, {{}}, {{}} OPERATIONS \
             go = SELECT x = 1 & y < 9 THEN y := y + 1 END; set = SELECT x = 0 THEN x, s := 1, {{a}} END END"
        )),
        machine(&format!(
            "{types} & (x = 3 => a : dom(f)) INITIALISATION x, y, s, f := 0, 0, {{}}, {{}} OPERATIONS \
             one = SELECT x = 0 THEN x, f := 1, {{a |-> 2}} END; two = SELECT x = 1 THEN x := 2 END; \
             three = SELECT x = 2 THEN x := 3 END; back = SELECT x = 3 THEN f(b) := 1 END END"
        )),
    ];
    let mut clauses = 0;
    for (seed, text) in texts.iter().enumerate() {
        let mut project = project(text);
        let options = Options { deadlock: false, ..Options::default() };
        let task = Task { solver: Backend::Sat, options: options.clone(), ..Task::new(Engine::Ic3) };
        let found = answer(&project, &task, &Deadline::never(), &|_| {}).expect("the options go together");
        assert_eq!(found.verdict, Decision::Holds, "{:?}\n{text}", found.reason);
        assert!(!found.invariant.is_empty(), "machine {seed} needs no clause: it is no test\n{text}");
        for clause in &found.invariant {
            println!("{clause}");
            let goal = project.set_goal(&format!("not({clause})"));
            assert!(goal.is_ok(), "{clause} is no predicate: {goal:?}\n{text}");
            let checked = explored(&project, &options, 4000).expect("it was explored before");
            assert_eq!(checked.verdict, Decision::Holds, "{clause} is not true\n{text}");
            clauses += 1;
        }
    }
    assert!(clauses >= 3, "only {clauses} clauses");
}

/// Parts of a total function, which has a value at every argument, are values of a partial one.
#[test]
fn parts_of_a_total_function_have_room() {
    for (part, is_kept) in [
        ("v |> 0..2", true),
        ("v |> {v(a)}", true),
        ("v |>> {0}", true),
        ("{b} <<| v", true),
        ("{a} <| (v |> {v(b)})", true),
        ("(v |> 1..2) <+ {a |-> 2}", true),
        ("(v |> {0}) <+ {a |-> 3}", false),
        ("(v |> {4 / v(b)})", false),
    ] {
        let text = format!(
            "MACHINE m SETS S = {{a, b}} VARIABLES v, w INVARIANT v : S --> 0..2 & w : S +-> 0..2 \
             INITIALISATION v := S * {{0}} || w := {{}} \
             OPERATIONS cut = BEGIN w := {part} END; set = BEGIN v(a) := 2 END END"
        );
        let project = project(&text);
        let (explicit, _) = expected(&project, 1).expect("a small machine");
        assert_eq!(explicit == Decision::Holds, is_kept, "{part}");
        for engine in [Engine::KInduction, Engine::Ic3] {
            let found = by_formulas(&project, engine, 1, Mutant::None);
            assert_eq!(found.verdict, explicit, "{part} by {}: {:?}", engine.name(), found.reason);
        }
    }
}
