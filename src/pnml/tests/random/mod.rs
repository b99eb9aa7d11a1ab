//! Random coloured nets: as PNML with colours, as PNML without, and what they do by definition, naively.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// Numbers that look random.
pub struct Source(pub u64);

impl Source {
    pub fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as usize) % n.max(1)
    }
}

#[derive(Clone, Debug)]
pub enum Part {
    Variable(usize),
    Next(usize),
    Previous(usize),
    Constant(u32),
    All,
}

#[derive(Clone, Debug)]
pub enum Guard {
    Equal(usize, usize),
    Unequal(usize, usize),
    Less(usize, usize),
    Is(usize, u32),
    Not(Box<Guard>),
    Either(Box<Guard>, Box<Guard>),
}

type Arc = (usize, Vec<(u64, Vec<Part>)>);

#[derive(Clone, Debug)]
pub struct Transition {
    /// Their classes.
    pub variables: Vec<usize>,
    pub guard: Option<Guard>,
    pub takes: Vec<Arc>,
    pub gives: Vec<Arc>,
}

/// A cell is a place and colours.
pub type Cell = (usize, Vec<u32>);
pub type Marking = BTreeMap<Cell, u64>;

#[derive(Clone, Debug)]
pub struct Net {
    /// Size, and whether it is a cycle.
    pub classes: Vec<(u32, bool)>,
    pub places: Vec<Vec<usize>>,
    pub marking: Marking,
    pub transitions: Vec<Transition>,
}

/// A transition without variables.
pub struct Mode {
    pub transition: usize,
    pub values: Vec<u32>,
    pub takes: Marking,
    pub gives: Marking,
}

impl Net {
    pub fn any(r: &mut Source) -> Net {
        let classes: Vec<(u32, bool)> = (0..2).map(|_| (1 + r.below(3) as u32, r.below(2) == 0)).collect();
        let places: Vec<Vec<usize>> =
            (0..2 + r.below(3)).map(|_| (0..r.below(3)).map(|_| r.below(2)).collect()).collect();
        let mut net = Net { classes, places, marking: Marking::new(), transitions: vec![] };
        for place in 0..net.places.len() {
            match r.below(3) {
                0 => {}
                1 => net.marking.extend(net.tuples(place).into_iter().map(|t| ((place, t), 1))),
                _ => {
                    let all = net.tuples(place);
                    let t = all[r.below(all.len())].clone();
                    net.marking.insert((place, t), 1 + r.below(2) as u64);
                }
            }
        }
        for _ in 0..1 + r.below(3) {
            let variables: Vec<usize> = (0..r.below(4)).map(|_| r.below(2)).collect();
            let mut t =
                Transition { guard: net.guard(r, &variables, 2), variables, takes: vec![], gives: vec![] };
            for _ in 0..1 + r.below(2) {
                t.takes.push(net.arc(r, &t.variables));
            }
            for _ in 0..r.below(3) {
                t.gives.push(net.arc(r, &t.variables));
            }
            net.transitions.push(t);
        }
        net
    }

    fn guard(&self, r: &mut Source, variables: &[usize], depth: usize) -> Option<Guard> {
        if variables.is_empty() {
            return None;
        }
        let a = r.below(variables.len());
        let b = r.below(variables.len());
        let alike = variables[a] == variables[b];
        Some(match r.below(9) {
            0 | 1 if alike => Guard::Equal(a, b),
            2 | 3 if alike => Guard::Unequal(a, b),
            4 if alike => Guard::Less(a, b),
            5 => Guard::Is(a, r.below(self.classes[variables[a]].0 as usize) as u32),
            6 if depth > 0 => Guard::Not(Box::new(self.guard(r, variables, depth - 1)?)),
            7 if depth > 0 => Guard::Either(
                Box::new(self.guard(r, variables, depth - 1)?),
                Box::new(self.guard(r, variables, depth - 1)?),
            ),
            _ => return None,
        })
    }

    fn arc(&self, r: &mut Source, variables: &[usize]) -> Arc {
        let place = r.below(self.places.len());
        let part = |class: &usize, r: &mut Source| {
            let fitting: Vec<usize> = (0..variables.len()).filter(|v| variables[*v] == *class).collect();
            let (size, cyclic) = self.classes[*class];
            match (r.below(8), fitting.is_empty()) {
                (0, _) => Part::Constant(r.below(size as usize) as u32),
                (1, _) | (_, true) => Part::All,
                (2, _) if cyclic => Part::Next(fitting[r.below(fitting.len())]),
                (3, _) if cyclic => Part::Previous(fitting[r.below(fitting.len())]),
                _ => Part::Variable(fitting[r.below(fitting.len())]),
            }
        };
        let tuple = |r: &mut Source| {
            let parts = self.places[place].iter().map(|c| part(c, r)).collect();
            (1 + r.below(5) as u64 / 4, parts)
        };
        let terms = (0..1 + r.below(4) / 3).map(|_| tuple(r)).collect();
        (place, terms)
    }

    pub fn tuples(&self, place: usize) -> Vec<Vec<u32>> {
        self.places[place].iter().fold(vec![vec![]], |all, class| {
            let extend = |t: &Vec<u32>| {
                let t = t.clone();
                (0..self.classes[*class].0).map(move |c| [t.clone(), vec![c]].concat()).collect::<Vec<_>>()
            };
            all.iter().flat_map(extend).collect()
        })
    }

    fn holds(&self, g: &Guard, values: &[u32]) -> bool {
        match g {
            Guard::Equal(a, b) => values[*a] == values[*b],
            Guard::Unequal(a, b) => values[*a] != values[*b],
            Guard::Less(a, b) => values[*a] < values[*b],
            Guard::Is(a, c) => values[*a] == *c,
            Guard::Not(g) => !self.holds(g, values),
            Guard::Either(a, b) => self.holds(a, values) || self.holds(b, values),
        }
    }

    fn tokens(&self, arcs: &[Arc], values: &[u32]) -> Marking {
        let mut all = Marking::new();
        for (place, terms) in arcs {
            for (n, parts) in terms {
                for tuple in self.tuples(*place) {
                    let fits =
                        parts.iter().zip(&tuple).zip(&self.places[*place]).all(|((part, c), class)| {
                            let size = self.classes[*class].0;
                            match part {
                                Part::Variable(v) => values[*v] == *c,
                                Part::Next(v) => (values[*v] + 1) % size == *c,
                                Part::Previous(v) => (*c + 1) % size == values[*v],
                                Part::Constant(k) => k == c,
                                Part::All => true,
                            }
                        });
                    if fits {
                        *all.entry((*place, tuple)).or_default() += n;
                    }
                }
            }
        }
        all
    }

    /// Only variables that arcs or the guard have are variables of a document's transition.
    pub fn modes(&self) -> Vec<Mode> {
        let mut all = vec![];
        for (transition, t) in self.transitions.iter().enumerate() {
            let mut choices: Vec<Vec<u32>> = vec![vec![]];
            for class in &t.variables {
                let size = self.classes[*class].0;
                choices = choices
                    .iter()
                    .flat_map(|v| (0..size).map(move |c| [v.clone(), vec![c]].concat()))
                    .collect();
            }
            let mut seen = BTreeSet::new();
            for values in choices {
                if t.guard.as_ref().is_some_and(|g| !self.holds(g, &values)) {
                    continue;
                }
                let used: Vec<u32> = self.used(t).into_iter().map(|v| values[v]).collect();
                if seen.insert(used.clone()) {
                    let (takes, gives) = (self.tokens(&t.takes, &values), self.tokens(&t.gives, &values));
                    all.push(Mode { transition, values: used, takes, gives });
                }
            }
        }
        all
    }

    pub fn used(&self, t: &Transition) -> Vec<usize> {
        fn of(g: &Guard, into: &mut BTreeSet<usize>) {
            match g {
                Guard::Equal(a, b) | Guard::Unequal(a, b) | Guard::Less(a, b) => into.extend([*a, *b]),
                Guard::Is(a, _) => into.extend([*a]),
                Guard::Not(g) => of(g, into),
                Guard::Either(a, b) => [a, b].into_iter().for_each(|g| of(g, into)),
            }
        }
        let mut all = BTreeSet::new();
        t.guard.iter().for_each(|g| of(g, &mut all));
        for part in t.takes.iter().chain(&t.gives).flat_map(|(_, terms)| terms).flat_map(|(_, parts)| parts) {
            if let Part::Variable(v) | Part::Next(v) | Part::Previous(v) = part {
                all.insert(*v);
            }
        }
        all.into_iter().collect()
    }

    /// All reachable markings, and how many transitions there are; none if there are more than so many.
    pub fn states(&self, most: usize) -> Option<(BTreeSet<Marking>, u64)> {
        let modes = self.modes();
        let start: Marking = self.marking.clone();
        let (mut seen, mut open, mut transitions) = (BTreeSet::from([start.clone()]), vec![start], 0);
        while let Some(m) = open.pop() {
            for mode in &modes {
                if mode.takes.iter().any(|(cell, n)| m.get(cell).copied().unwrap_or(0) < *n) {
                    continue;
                }
                transitions += 1;
                let mut next = m.clone();
                mode.takes.iter().for_each(|(cell, n)| *next.entry(cell.clone()).or_default() -= n);
                mode.gives.iter().for_each(|(cell, n)| *next.entry(cell.clone()).or_default() += n);
                next.retain(|_, n| *n > 0);
                if seen.insert(next.clone()) {
                    open.push(next);
                }
            }
            if seen.len() > most {
                return None;
            }
        }
        Some((seen, transitions))
    }

    /// Exchanges of two colours that keep the net, by definition: of a class whose order nothing looks at.
    pub fn exchanges(&self) -> Vec<(usize, u32, u32)> {
        let modes = self.modes();
        let shown = |of: &dyn Fn(usize, u32) -> u32| {
            let moved = |m: &Marking| -> Marking {
                m.iter().map(|((p, t), n)| ((*p, self.moved(*p, t, of)), *n)).collect()
            };
            let mode = |m: &Mode| {
                let t = &self.transitions[m.transition];
                let used = self.used(t);
                let values: Vec<u32> =
                    used.iter().zip(&m.values).map(|(v, c)| of(t.variables[*v], *c)).collect();
                (m.transition, values, moved(&m.takes), moved(&m.gives))
            };
            (moved(&self.marking), modes.iter().map(mode).collect::<BTreeSet<_>>())
        };
        let plain = shown(&|_, c| c);
        let mut all = vec![];
        for (class, (size, _)) in self.classes.iter().enumerate() {
            for a in 0..*size {
                for b in a + 1..*size {
                    let swap = |k: usize, c: u32| match c {
                        _ if k != class => c,
                        _ if c == a => b,
                        _ if c == b => a,
                        _ => c,
                    };
                    if !self.is_ordered(class) && shown(&swap) == plain {
                        all.push((class, a, b));
                    }
                }
            }
        }
        all
    }

    fn moved(&self, place: usize, tuple: &[u32], of: &dyn Fn(usize, u32) -> u32) -> Vec<u32> {
        self.places[place].iter().zip(tuple).map(|(class, c)| of(*class, *c)).collect()
    }

    fn is_ordered(&self, class: usize) -> bool {
        fn less(g: &Guard, class: usize, variables: &[usize]) -> bool {
            match g {
                Guard::Less(a, _) => variables[*a] == class,
                Guard::Not(g) => less(g, class, variables),
                Guard::Either(a, b) => less(a, class, variables) || less(b, class, variables),
                _ => false,
            }
        }
        self.transitions.iter().any(|t| {
            let parts =
                t.takes.iter().chain(&t.gives).flat_map(|(_, terms)| terms).flat_map(|(_, parts)| parts);
            t.guard.iter().any(|g| less(g, class, &t.variables))
                || parts.into_iter().any(|p| match p {
                    Part::Next(v) | Part::Previous(v) => t.variables[*v] == class,
                    _ => false,
                })
        })
    }

    /// How many orbits these markings have under the group that exchanges generate.
    pub fn orbits(&self, states: &BTreeSet<Marking>) -> usize {
        let exchanges = self.exchanges();
        let (mut left, mut orbits) = (states.clone(), 0);
        while let Some(m) = left.pop_first() {
            orbits += 1;
            let mut open = vec![m];
            while let Some(m) = open.pop() {
                for (class, a, b) in &exchanges {
                    let swap = |k: usize, c: u32| match c {
                        _ if k != *class => c,
                        _ if c == *a => *b,
                        _ if c == *b => *a,
                        _ => c,
                    };
                    let image: Marking =
                        m.iter().map(|((p, t), n)| ((*p, self.moved(*p, t, &swap)), *n)).collect();
                    if left.remove(&image) {
                        open.push(image);
                    }
                }
            }
        }
        orbits
    }

    /// As a symmetric net.
    pub fn coloured(&self) -> String {
        let mut o = head("symmetricnet");
        o += "<declaration><structure><declarations><namedsort id=\"D\" name=\"D\"><dot/></namedsort>";
        for (i, (size, cyclic)) in self.classes.iter().enumerate() {
            let kind = if *cyclic { "cyclicenumeration" } else { "finiteenumeration" };
            let _ = write!(o, "<namedsort id=\"C{i}\" name=\"C{i}\"><{kind}>");
            for c in 0..*size {
                let _ = write!(o, "<feconstant id=\"k{i}_{c}\" name=\"k{i}_{c}\"/>");
            }
            let _ = write!(o, "</{kind}></namedsort>");
        }
        for a in 0..2 {
            for b in 0..2 {
                let _ = write!(
                    o,
                    "<namedsort id=\"P{a}{b}\" name=\"P{a}{b}\"><productsort><usersort declaration=\"C{a}\"/>\
                     <usersort declaration=\"C{b}\"/></productsort></namedsort>"
                );
            }
        }
        for (i, t) in self.transitions.iter().enumerate() {
            for (j, class) in t.variables.iter().enumerate() {
                let _ = write!(
                    o,
                    "<variabledecl id=\"x{i}_{j}\" name=\"x{i}_{j}\"><usersort declaration=\"C{class}\"/></variabledecl>"
                );
            }
        }
        o += "</declarations></structure></declaration><page id=\"g\">";
        for (i, domain) in self.places.iter().enumerate() {
            let sort = match domain[..] {
                [] => "D".to_string(),
                [a] => format!("C{a}"),
                _ => format!("P{}{}", domain[0], domain[1]),
            };
            let _ = write!(
                o,
                "<place id=\"p{i}\"><type><structure><usersort declaration=\"{sort}\"/></structure></type>"
            );
            let of = |(cell, n): (&Cell, &u64)| {
                (*n, cell.1.iter().map(|c| Part::Constant(*c)).collect::<Vec<_>>())
            };
            let terms: Vec<_> = self.marking.iter().filter(|(cell, _)| cell.0 == i).map(of).collect();
            if !terms.is_empty() {
                let terms = self.terms(&(i, terms), 0);
                let _ = write!(o, "<hlinitialMarking><structure>{terms}</structure></hlinitialMarking>");
            }
            o += "</place>";
        }
        for (i, t) in self.transitions.iter().enumerate() {
            let guard = t.guard.as_ref().map_or(String::new(), |g| {
                format!("<condition><structure>{}</structure></condition>", self.condition(g, i))
            });
            let _ = write!(o, "<transition id=\"t{i}\">{guard}</transition>");
            let mut n = 0;
            for (is_taken, arcs) in [(true, &t.takes), (false, &t.gives)] {
                for arc in arcs {
                    let (from, to) = (format!("p{}", arc.0), format!("t{i}"));
                    let (from, to) = if is_taken { (from, to) } else { (to, from) };
                    let terms = self.terms(arc, i);
                    let _ = write!(
                        o,
                        "<arc id=\"a{i}_{n}\" source=\"{from}\" target=\"{to}\"><hlinscription><structure>{terms}\
                         </structure></hlinscription></arc>"
                    );
                    n += 1;
                }
            }
        }
        o + "</page></net></pnml>"
    }

    fn condition(&self, g: &Guard, t: usize) -> String {
        let variable = |v: &usize| format!("<subterm><variable refvariable=\"x{t}_{v}\"/></subterm>");
        let two =
            |name: &str, a: &usize, b: &usize| format!("<{name}>{}{}</{name}>", variable(a), variable(b));
        match g {
            Guard::Equal(a, b) => two("equality", a, b),
            Guard::Unequal(a, b) => two("inequality", a, b),
            Guard::Less(a, b) => two("greaterthan", b, a),
            Guard::Is(a, c) => format!(
                "<equality>{}<subterm><useroperator declaration=\"k{}_{c}\"/></subterm></equality>",
                variable(a),
                self.transitions[t].variables[*a]
            ),
            Guard::Not(g) => format!("<not><subterm>{}</subterm></not>", self.condition(g, t)),
            Guard::Either(a, b) => format!(
                "<or><subterm>{}</subterm><subterm>{}</subterm></or>",
                self.condition(a, t),
                self.condition(b, t)
            ),
        }
    }

    fn terms(&self, (place, terms): &Arc, t: usize) -> String {
        let part = |(class, part): (&usize, &Part)| match part {
            Part::Variable(v) => format!("<variable refvariable=\"x{t}_{v}\"/>"),
            Part::Next(v) => {
                format!("<successor><subterm><variable refvariable=\"x{t}_{v}\"/></subterm></successor>")
            }
            Part::Previous(v) => {
                format!("<predecessor><subterm><variable refvariable=\"x{t}_{v}\"/></subterm></predecessor>")
            }
            Part::Constant(c) => format!("<useroperator declaration=\"k{class}_{c}\"/>"),
            Part::All => format!("<all><usersort declaration=\"C{class}\"/></all>"),
        };
        let term = |(n, parts): &(u64, Vec<Part>)| {
            let parts: Vec<String> = self.places[*place].iter().zip(parts).map(part).collect();
            let whole = match &parts[..] {
                [] => "<dotconstant/>".to_string(),
                [one] => one.clone(),
                all => format!("<tuple><subterm>{}</subterm></tuple>", all.join("</subterm><subterm>")),
            };
            format!(
                "<numberof><subterm><numberconstant value=\"{n}\"><positive/></numberconstant></subterm>\
                 <subterm>{whole}</subterm></numberof>"
            )
        };
        let all: Vec<String> = terms.iter().map(term).collect();
        format!("<add><subterm>{}</subterm></add>", all.join("</subterm><subterm>"))
    }

    /// As a place/transition net.
    pub fn plain(&self) -> String {
        let mut o = head("ptnet") + "<page id=\"g\">";
        let id = |(place, tuple): &Cell| tuple.iter().fold(format!("p{place}"), |id, c| format!("{id}_{c}"));
        for place in 0..self.places.len() {
            for tuple in self.tuples(place) {
                let cell = (place, tuple);
                let n = self.marking.get(&cell).copied().unwrap_or(0);
                let id = id(&cell);
                let _ =
                    write!(o, "<place id=\"{id}\"><initialMarking><text>{n}</text></initialMarking></place>");
            }
        }
        for (i, m) in self.modes().iter().enumerate() {
            let _ = write!(o, "<transition id=\"t{i}\"/>");
            let t = format!("t{i}");
            for (j, (cell, n)) in m.takes.iter().chain(&m.gives).enumerate() {
                let (from, to) =
                    if j < m.takes.len() { (id(cell), t.clone()) } else { (t.clone(), id(cell)) };
                let _ = write!(
                    o,
                    "<arc id=\"a{i}_{j}\" source=\"{from}\" target=\"{to}\"><inscription><text>{n}</text></inscription></arc>"
                );
            }
        }
        o + "</page></net></pnml>"
    }
}

fn head(kind: &str) -> String {
    format!(
        "<pnml xmlns=\"http://www.pnml.org/version-2009/grammar/pnml\"><net id=\"n\" \
         type=\"http://www.pnml.org/version-2009/grammar/{kind}\">"
    )
}
