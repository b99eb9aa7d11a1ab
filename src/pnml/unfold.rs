//! A net without colours: a *cell* is a place with one tuple of colours, and holds a number of tokens; a *mode* is a
//! transition with values of its variables, and takes numbers of tokens from cells and puts others there.
//!
//! Modes whose guard is false do not exist. A limit that is reached is an error of its own ([`LIMIT`]): the net is not
//! wrong, it is too large.

use crate::net::{Bag, Colour, Compared, Component, Guard, Net, Relation};
use kanon_language::lang::diag::{Diagnostic, Span};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The code of a limit that is reached.
pub const LIMIT: &str = "N0901";

/// How large an unfolded net may become.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    pub cells: usize,
    /// Of all modes together.
    pub arcs: usize,
    /// Values of variables that are tried.
    pub tried: u64,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { cells: 1 << 18, arcs: 1 << 22, tried: 1 << 26 }
    }
}

/// Cells and numbers of tokens, by cell, none of them zero.
pub type Tokens = Vec<(u32, u64)>;

/// A transition with values of its variables.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mode {
    pub transition: u32,
    /// The values of [`Unfolded::variables`] of the transition.
    pub binding: Box<[u32]>,
    pub takes: Tokens,
    pub gives: Tokens,
}

/// The net.
#[derive(Debug)]
pub struct Unfolded {
    pub net: Net,
    /// By place: its first cell; the number of all cells at the end.
    pub first: Vec<usize>,
    pub marking: Vec<u64>,
    /// By transition: the variables it has, as places in [`Net::variables`].
    pub variables: Vec<Vec<usize>>,
    pub modes: Vec<Mode>,
    /// Where a mode stands.
    pub number: HashMap<(u32, Box<[u32]>), u32>,
}

impl Unfolded {
    /// The place of a cell and its colours.
    pub fn cell(&self, cell: usize) -> (usize, Vec<u32>) {
        let place = self.first.partition_point(|f| *f <= cell).saturating_sub(1);
        let mut rest = cell - self.first[place];
        let domain = &self.net.places[place].domain;
        let mut colours = vec![0; domain.len()];
        for (colour, class) in colours.iter_mut().zip(domain).rev() {
            let size = self.net.classes[*class].colours.len();
            *colour = (rest % size) as u32;
            rest /= size;
        }
        (place, colours)
    }

    /// The cell of a place with these colours.
    pub fn at(&self, place: usize, colours: impl IntoIterator<Item = u32>) -> usize {
        cell_of(&self.net, &self.first, place, colours)
    }

    /// The cells of a place.
    pub fn cells(&self, place: usize) -> std::ops::Range<usize> {
        self.first[place]..self.first[place + 1]
    }
}

fn cell_of(net: &Net, first: &[usize], place: usize, colours: impl IntoIterator<Item = u32>) -> usize {
    let classes = &net.places[place].domain;
    let within = classes
        .iter()
        .zip(colours)
        .fold(0, |all, (class, colour)| all * net.classes[*class].colours.len() + colour as usize);
    first[place] + within
}

fn limit(span: Span, what: &str) -> Diagnostic {
    Diagnostic::error(LIMIT, span, format!("the net is too large to be unfolded: {what}"))
}

/// Unfolds a net.
///
/// # Errors
/// A subtraction that takes away what is not there, and limits.
pub fn unfold(net: Net, limits: Limits, stop: &Arc<AtomicBool>) -> Result<Unfolded, Diagnostic> {
    let mut first = vec![0usize];
    for p in &net.places {
        let size = p.domain.iter().try_fold(1usize, |n, c| n.checked_mul(net.classes[*c].colours.len()));
        let last = first.last().copied().unwrap_or(0);
        let next = size.and_then(|n| n.checked_add(last)).filter(|n| *n <= limits.cells);
        let too_many = || limit(p.span, &format!("more than {} places with a colour", limits.cells));
        first.push(next.ok_or_else(too_many)?);
    }
    let cells = first.last().copied().unwrap_or(0);
    let mut marking = vec![0; cells];
    for (i, p) in net.places.iter().enumerate() {
        let mut work = Work { net: &net, first: &first, values: &[], steps: limits.arcs, span: p.span };
        for (cell, n) in work.tokens(i, &p.marking)? {
            marking[cell as usize] = n;
        }
    }
    let mut all = Unfolded {
        first,
        marking,
        variables: net.transitions.iter().map(variables).collect(),
        modes: vec![],
        number: HashMap::new(),
        net,
    };
    let mut modes = Modes { found: vec![], arcs: 0, tried: 0, limits, stop };
    for t in 0..all.net.transitions.len() {
        modes.of(&all, t)?;
    }
    all.modes = modes.found;
    all.number =
        all.modes.iter().enumerate().map(|(i, m)| ((m.transition, m.binding.clone()), i as u32)).collect();
    Ok(all)
}

/// What a transition's arcs and guard speak of.
fn variables(t: &crate::net::Transition) -> Vec<usize> {
    let mut found = BTreeSet::new();
    of_guard(&t.guard, &mut found);
    t.takes.iter().chain(&t.gives).for_each(|a| of_bag(&a.tokens, &mut found));
    found.into_iter().collect()
}

fn of_colour(c: &Colour, into: &mut BTreeSet<usize>) {
    match c {
        Colour::Variable(v) => into.extend([*v]),
        Colour::Constant(..) => {}
        Colour::Shifted(inner, _) => of_colour(inner, into),
    }
}

fn of_guard(g: &Guard, into: &mut BTreeSet<usize>) {
    match g {
        Guard::Constant(_) => {}
        Guard::All(parts) | Guard::Any(parts) => parts.iter().for_each(|p| of_guard(p, into)),
        Guard::Not(inner) => of_guard(inner, into),
        Guard::Compare(_, a, b) => [a, b].into_iter().for_each(|c| match c {
            Compared::Colour(c) | Compared::Element(_, c) => of_colour(c, into),
            Compared::ElementConstant(..) => {}
        }),
    }
}

fn of_bag(b: &Bag, into: &mut BTreeSet<usize>) {
    match b {
        Bag::Tuple(parts) => parts.iter().for_each(|p| match p {
            Component::One(c) => of_colour(c, into),
            Component::All(_) => {}
        }),
        Bag::Times(_, inner) => of_bag(inner, into),
        Bag::Sum(parts) => parts.iter().for_each(|p| of_bag(p, into)),
        Bag::Without(a, b) => [a, b].into_iter().for_each(|p| of_bag(p, into)),
    }
}

struct Modes<'s> {
    found: Vec<Mode>,
    arcs: usize,
    tried: u64,
    limits: Limits,
    stop: &'s Arc<AtomicBool>,
}

impl Modes<'_> {
    fn of(&mut self, all: &Unfolded, t: usize) -> Result<(), Diagnostic> {
        let vars = &all.variables[t];
        // Each conjunct of the guard is looked at as soon as the last of its variables has a value.
        let guard = &all.net.transitions[t].guard;
        let conjuncts: Vec<&Guard> = match guard {
            Guard::All(parts) => parts.iter().collect(),
            other => vec![other],
        };
        let mut tests: Vec<Vec<&Guard>> = vec![vec![]; vars.len() + 1];
        for c in conjuncts {
            let mut used = BTreeSet::new();
            of_guard(c, &mut used);
            let last = used.last().and_then(|v| vars.iter().position(|w| w == v)).map_or(0, |i| i + 1);
            tests[last].push(c);
        }
        let mut values = vec![0; all.net.variables.len()];
        self.bind(all, t, &tests, 0, &mut values)
    }

    fn bind(
        &mut self,
        all: &Unfolded,
        t: usize,
        tests: &[Vec<&Guard>],
        bound: usize,
        values: &mut Vec<u32>,
    ) -> Result<(), Diagnostic> {
        let (net, vars) = (&all.net, &all.variables[t]);
        let transition = &net.transitions[t];
        self.tried += 1;
        if self.tried > self.limits.tried || self.stop.load(Ordering::Relaxed) {
            let why = if self.tried > self.limits.tried { "too many values of variables" } else { "stopped" };
            return Err(limit(transition.span, why));
        }
        if !tests[bound].iter().all(|g| holds(net, g, values)) {
            return Ok(());
        }
        if let Some(v) = vars.get(bound) {
            for value in 0..net.classes[net.variables[*v].class].colours.len() {
                values[*v] = value as u32;
                self.bind(all, t, tests, bound + 1, values)?;
            }
            return Ok(());
        }
        let binding = vars.iter().map(|v| values[*v]).collect();
        let limit_of_arc = self.limits.arcs;
        let sum = |arcs: &[crate::net::Arc]| {
            let mut sum: BTreeMap<u32, u64> = BTreeMap::new();
            for arc in arcs {
                let mut work = Work { net, first: &all.first, values, steps: limit_of_arc, span: arc.span };
                for (cell, n) in work.tokens(arc.place, &arc.tokens)? {
                    let known = sum.entry(cell).or_default();
                    *known = known.checked_add(n).ok_or_else(|| limit(arc.span, "numbers of tokens"))?;
                }
            }
            Ok::<Tokens, Diagnostic>(sum.into_iter().collect())
        };
        let (takes, gives) = (sum(&transition.takes)?, sum(&transition.gives)?);
        self.arcs += takes.len() + gives.len() + 1;
        if self.arcs > self.limits.arcs {
            return Err(limit(transition.span, &format!("more than {} arcs", self.limits.arcs)));
        }
        self.found.push(Mode { transition: t as u32, binding, takes, gives });
        Ok(())
    }
}

fn colour(net: &Net, c: &Colour, values: &[u32]) -> (usize, u32) {
    match c {
        Colour::Variable(v) => (net.variables[*v].class, values[*v]),
        Colour::Constant(class, i) => (*class, *i),
        Colour::Shifted(inner, by) => {
            let (class, i) = colour(net, inner, values);
            let size = net.classes[class].colours.len() as i64;
            (class, (i64::from(i) + by).rem_euclid(size) as u32)
        }
    }
}

fn holds(net: &Net, g: &Guard, values: &[u32]) -> bool {
    let value = |c: &Compared| match c {
        Compared::Colour(c) => colour(net, c, values).1,
        Compared::Element(p, c) => net.partitions[*p].of[colour(net, c, values).1 as usize],
        Compared::ElementConstant(_, i) => *i,
    };
    match g {
        Guard::Constant(b) => *b,
        Guard::All(parts) => parts.iter().all(|p| holds(net, p, values)),
        Guard::Any(parts) => parts.iter().any(|p| holds(net, p, values)),
        Guard::Not(inner) => !holds(net, inner, values),
        Guard::Compare(relation, a, b) => {
            let (a, b) = (value(a), value(b));
            match relation {
                Relation::Equal => a == b,
                Relation::Unequal => a != b,
                Relation::Less => a < b,
                Relation::AtMost => a <= b,
            }
        }
    }
}

/// Evaluates the tokens of one arc.
struct Work<'n> {
    net: &'n Net,
    first: &'n [usize],
    values: &'n [u32],
    /// How many more tuples may be made.
    steps: usize,
    span: Span,
}

impl Work<'_> {
    fn tokens(&mut self, place: usize, bag: &Bag) -> Result<BTreeMap<u32, u64>, Diagnostic> {
        let too_many = |span| limit(span, "numbers of tokens");
        let mut all: BTreeMap<u32, u64> = BTreeMap::new();
        match bag {
            Bag::Tuple(parts) => {
                let mut tuples: Vec<Vec<u32>> = vec![vec![]];
                for part in parts {
                    let choices: Vec<u32> = match part {
                        Component::One(c) => vec![colour(self.net, c, self.values).1],
                        Component::All(class) => (0..self.net.classes[*class].colours.len() as u32).collect(),
                    };
                    let extended = tuples.iter().flat_map(|t| {
                        choices.iter().map(move |c| t.iter().copied().chain([*c]).collect::<Vec<u32>>())
                    });
                    tuples = extended.collect();
                    let too_many = || limit(self.span, "the tokens of one arc");
                    self.steps = self.steps.checked_sub(tuples.len()).ok_or_else(too_many)?;
                }
                for t in tuples {
                    *all.entry(cell_of(self.net, self.first, place, t) as u32).or_default() += 1;
                }
            }
            Bag::Times(n, inner) => {
                for (cell, m) in self.tokens(place, inner)? {
                    all.insert(cell, m.checked_mul(*n).ok_or_else(|| too_many(self.span))?);
                }
            }
            Bag::Sum(parts) => {
                for part in parts {
                    for (cell, n) in self.tokens(place, part)? {
                        let known = all.entry(cell).or_default();
                        *known = known.checked_add(n).ok_or_else(|| too_many(self.span))?;
                    }
                }
            }
            Bag::Without(from, what) => {
                all = self.tokens(place, from)?;
                for (cell, n) in self.tokens(place, what)? {
                    let known = all.entry(cell).or_default();
                    *known = known.checked_sub(n).ok_or_else(|| {
                        let message = "more tokens are subtracted than there are";
                        Diagnostic::error("N0211", self.span, message)
                    })?;
                }
            }
        }
        all.retain(|_, n| *n > 0);
        Ok(all)
    }
}
