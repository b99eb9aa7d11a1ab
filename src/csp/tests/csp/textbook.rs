//! Random processes, and what they mean by the equations of *The Theory and Practice of Concurrency*: traces, stable
//! failures, and divergences, by enumeration.

use proptest::prelude::*;
use std::collections::BTreeSet;

/// A process without recursion, over two events.
#[derive(Clone, Debug)]
pub enum Proc {
    Stop,
    Skip,
    Div,
    Prefix(char, Box<Proc>),
    External(Box<Proc>, Box<Proc>),
    Internal(Box<Proc>, Box<Proc>),
    Sliding(Box<Proc>, Box<Proc>),
    Sequence(Box<Proc>, Box<Proc>),
    Parallel(Set, Box<Proc>, Box<Proc>),
    Hidden(Set, Box<Proc>),
    Renamed(Box<Proc>),
}

/// Of `a` (1), `b` (2) and termination (4).
pub type Set = u8;
pub const ALL: Set = 7;
pub const TICK: Set = 4;

pub fn bit(c: char) -> Set {
    match c {
        'a' => 1,
        'b' => 2,
        _ => TICK,
    }
}

pub fn written(p: &Proc) -> String {
    let set = |s: Set| ["{}", "{a}", "{b}", "{a, b}"][s as usize];
    match p {
        Proc::Stop => "STOP".into(),
        Proc::Skip => "SKIP".into(),
        Proc::Div => "DIV".into(),
        Proc::Prefix(c, p) => format!("({c} -> {})", written(p)),
        Proc::External(p, q) => format!("({} [] {})", written(p), written(q)),
        Proc::Internal(p, q) => format!("({} |~| {})", written(p), written(q)),
        Proc::Sliding(p, q) => format!("({} [> {})", written(p), written(q)),
        Proc::Sequence(p, q) => format!("({} ; {})", written(p), written(q)),
        Proc::Parallel(a, p, q) => format!("({} [| {} |] {})", written(p), set(*a), written(q)),
        Proc::Hidden(a, p) => format!("({} \\ {})", written(p), set(*a)),
        Proc::Renamed(p) => format!("({}[[a <- b]])", written(p)),
    }
}

pub fn processes() -> impl Strategy<Value = Proc> {
    let leaf = prop_oneof![4 => Just(Proc::Stop), 4 => Just(Proc::Skip), 1 => Just(Proc::Div)];
    leaf.prop_recursive(4, 10, 2, |inner| {
        let two = (inner.clone(), inner.clone()).prop_map(|(p, q)| (Box::new(p), Box::new(q)));
        prop_oneof![
            6 => (prop::sample::select(vec!['a', 'b']), inner.clone()).prop_map(|(c, p)| Proc::Prefix(c, Box::new(p))),
            2 => two.clone().prop_map(|(p, q)| Proc::External(p, q)),
            2 => two.clone().prop_map(|(p, q)| Proc::Internal(p, q)),
            1 => two.clone().prop_map(|(p, q)| Proc::Sliding(p, q)),
            2 => two.clone().prop_map(|(p, q)| Proc::Sequence(p, q)),
            2 => (0..4u8, two).prop_map(|(a, (p, q))| Proc::Parallel(a, p, q)),
            1 => (0..4u8, inner.clone()).prop_map(|(a, p)| Proc::Hidden(a, Box::new(p))),
            1 => inner.prop_map(|p| Proc::Renamed(Box::new(p))),
        ]
    })
}

pub type Trace = String;

/// What a process means: traces, stable failures, and the traces after which it may diverge at once.
#[derive(Clone, Debug, Default)]
pub struct Meaning {
    pub traces: BTreeSet<Trace>,
    pub failures: BTreeSet<(Trace, Set)>,
    pub divergences: BTreeSet<Trace>,
}

pub fn sets() -> impl Iterator<Item = Set> {
    0..=ALL
}

pub fn meaning(p: &Proc) -> Meaning {
    let mut m = Meaning::default();
    m.traces.insert(String::new());
    match p {
        Proc::Stop => m.failures.extend(sets().map(|x| (String::new(), x))),
        Proc::Skip => {
            m.traces.insert("t".into());
            m.failures.extend(sets().filter(|x| x & TICK == 0).map(|x| (String::new(), x)));
            m.failures.extend(sets().map(|x| ("t".into(), x)));
        }
        Proc::Div => {
            m.divergences.insert(String::new());
        }
        Proc::Prefix(c, p) => {
            let p = meaning(p);
            m.traces.extend(p.traces.iter().map(|s| format!("{c}{s}")));
            m.failures.extend(sets().filter(|x| x & bit(*c) == 0).map(|x| (String::new(), x)));
            m.failures.extend(p.failures.iter().map(|(s, x)| (format!("{c}{s}"), *x)));
            m.divergences.extend(p.divergences.iter().map(|s| format!("{c}{s}")));
        }
        Proc::Internal(p, q) => {
            let (p, q) = (meaning(p), meaning(q));
            m.traces.extend(p.traces.union(&q.traces).cloned());
            m.failures.extend(p.failures.union(&q.failures).cloned());
            m.divergences.extend(p.divergences.union(&q.divergences).cloned());
        }
        Proc::External(p, q) => {
            let (p, q) = (meaning(p), meaning(q));
            m.traces.extend(p.traces.union(&q.traces).cloned());
            m.failures.extend(p.failures.intersection(&q.failures).filter(|(s, _)| s.is_empty()).cloned());
            m.failures.extend(p.failures.union(&q.failures).filter(|(s, _)| !s.is_empty()).cloned());
            if m.traces.contains("t") {
                m.failures.extend(sets().filter(|x| x & TICK == 0).map(|x| (String::new(), x)));
            }
            m.divergences.extend(p.divergences.union(&q.divergences).cloned());
        }
        Proc::Sliding(p, q) => {
            let first = Proc::Internal(p.clone(), Box::new(Proc::Stop));
            return meaning(&Proc::External(Box::new(first), q.clone()));
        }
        Proc::Sequence(p, q) => {
            let (p, q) = (meaning(p), meaning(q));
            let ended: Vec<&str> = p.traces.iter().filter_map(|s| s.strip_suffix('t')).collect();
            m.traces.extend(p.traces.iter().filter(|s| !s.ends_with('t')).cloned());
            let open = p.failures.iter().filter(|(s, x)| !s.ends_with('t') && x & TICK != 0);
            for (s, x) in open {
                m.failures.insert((s.clone(), *x));
                m.failures.insert((s.clone(), x & !TICK));
            }
            m.divergences.extend(p.divergences.iter().cloned());
            for s in ended {
                m.traces.extend(q.traces.iter().map(|t| format!("{s}{t}")));
                m.failures.extend(q.failures.iter().map(|(t, x)| (format!("{s}{t}"), *x)));
                m.divergences.extend(q.divergences.iter().map(|t| format!("{s}{t}")));
            }
        }
        Proc::Parallel(a, p, q) => {
            let (p, q) = (meaning(p), meaning(q));
            let both = a | TICK;
            for s in &p.traces {
                for t in &q.traces {
                    let merged = merged(s, t, both);
                    if p.divergences.contains(s) || q.divergences.contains(t) {
                        m.divergences.extend(merged.iter().filter(|u| !u.ends_with('t')).cloned());
                    }
                    m.traces.extend(merged);
                }
            }
            for (s, y) in &p.failures {
                for (t, z) in q.failures.iter().filter(|(_, z)| y & !both == z & !both) {
                    m.failures.extend(merged(s, t, both).into_iter().map(|u| (u, y | z)));
                }
            }
        }
        Proc::Hidden(a, p) => {
            let p = meaning(p);
            let left = |s: &str| -> Trace { s.chars().filter(|c| bit(*c) & a == 0).collect() };
            m.traces.extend(p.traces.iter().map(|s| left(s)));
            m.failures.extend(p.failures.iter().filter(|(_, x)| x & a == *a).flat_map(|(s, x)| {
                let s = left(s);
                // With a set its subsets are refused; what is hidden may be among them or not.
                sets().filter(move |y| y & !x == 0).map(move |y| (s.clone(), y))
            }));
            m.divergences.extend(p.divergences.iter().map(|s| left(s)));
        }
        Proc::Renamed(p) => {
            let p = meaning(p);
            let to = |s: &str| s.replace('a', "b");
            m.traces.extend(p.traces.iter().map(|s| to(s)));
            for x in sets() {
                // What is renamed to something refused: `a` and `b` for `b`, nothing for `a`.
                let before = (x & TICK) | if x & 2 != 0 { 3 } else { 0 };
                let found = p.failures.iter().filter(|(_, y)| *y == before);
                m.failures.extend(found.map(|(s, _)| (to(s), x)));
            }
            m.divergences.extend(p.divergences.iter().map(|s| to(s)));
        }
    }
    m
}

/// All ways in which two traces are one, with the events of the set together.
pub fn merged(s: &str, t: &str, both: Set) -> BTreeSet<Trace> {
    let mut all = BTreeSet::new();
    match (s.chars().next(), t.chars().next()) {
        (None, None) => {
            all.insert(String::new());
        }
        (x, y) => {
            if let Some(c) = x.filter(|c| bit(*c) & both == 0) {
                all.extend(merged(&s[1..], t, both).into_iter().map(|u| format!("{c}{u}")));
            }
            if let Some(c) = y.filter(|c| bit(*c) & both == 0) {
                all.extend(merged(s, &t[1..], both).into_iter().map(|u| format!("{c}{u}")));
            }
            if let (Some(c), Some(d)) = (x, y)
                && c == d
                && bit(c) & both != 0
            {
                all.extend(merged(&s[1..], &t[1..], both).into_iter().map(|u| format!("{c}{u}")));
            }
        }
    }
    all
}

impl Meaning {
    pub fn diverged(&self, s: &str) -> bool {
        (0..=s.len()).any(|n| self.divergences.contains(&s[..n]))
    }

    /// Refined by the other in traces, in failures, in failures and divergences.
    pub fn refined(&self, q: &Meaning) -> [bool; 3] {
        let traces = q.traces.is_subset(&self.traces);
        let failures = traces && q.failures.is_subset(&self.failures);
        let open = |s: &str| !self.diverged(s);
        let strict = q.divergences.iter().all(|s| !open(s))
            && q.traces.iter().all(|s| !open(s) || self.traces.contains(s))
            && q.failures.iter().all(|f| !open(&f.0) || self.failures.contains(f));
        [traces, failures, strict]
    }

    /// No event can be had and refused.
    pub fn deterministic(&self) -> [bool; 2] {
        let clear = self.traces.iter().all(|s| match s.chars().next_back() {
            Some(c) => !self.failures.contains(&(s[..s.len() - 1].to_string(), bit(c))),
            None => true,
        });
        [clear, clear && self.divergences.is_empty()]
    }

    pub fn deadlocks(&self) -> bool {
        self.failures.iter().any(|(s, x)| *x == ALL && !s.ends_with('t'))
    }
}
