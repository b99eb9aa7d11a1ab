//! Closure and atoms of a formula (*Seven at one stroke*, §4.2, §4.3, §5.2), built on demand.
//!
//! The formula is negated and brought to the paper's core: true, propositions, ¬, ∨, X, U, Y, S. An atom of the paper
//! decides every formula of the closure. Ours decide only what is asked of them: what the atom before needs, and what
//! stands behind Y, since the past must be known exactly. A claim is taken apart by the paper's rules of consistency
//! until only X-claims are left, which the next atom has to fulfil; where a rule has an "or", there are two atoms (after
//! Gerth, Peled, Vardi and Wolper). Every claim on a path that fulfils its promises is then true, by the paper's Lemma 1;
//! and a path has an atom sequence that claims nothing but what is true on it: at an "or" it takes a side that is true,
//! and of f U g it takes g where g is true, so no promise stays open.
//!
//! Of an atom we keep only what the rest of a path depends on: the step's propositions, the [`Need`] that it hands to the
//! next atom, and the until-formulas that it does not leave open.
//!
//! Absent on purpose: states, edges, search.

use crate::temporal::syntax::{Binary, Formula, Prop, Unary};
use std::collections::HashMap;
use std::hash::Hash;

/// More of anything than a word has bits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TooLarge(pub String);

/// A formula of the core; parts are places in [`Tableau::nodes`], before the whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Core {
    True,
    Prop(Prop),
    Not(u32),
    Or(u32, u32),
    Next(u32),
    Until(u32, u32),
    Yesterday(u32),
    Since(u32, u32),
}

pub type KindId = u32;
pub type NeedId = u32;
pub type AtomId = u32;
pub type ListId = u32;

/// All that the atoms of a state depend on; states of one kind have the same.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Kind {
    pub props: u64,
    pub enabled: u64,
    pub deadlock: bool,
    pub sink: bool,
    /// The different propositions of steps that leave the state, sorted.
    pub labels: Box<[u64]>,
    /// Fairness: acceptance that the state gives, and strong premises that it enables.
    pub gives: u64,
    pub strong: u64,
}

/// What an atom asks of the next one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Need {
    /// The first atom of a path: the negated formula holds, and nothing was yesterday.
    First,
    /// A bit for each X-formula about which something is claimed, and one for the value that what stands behind X must
    /// have. A bit for each Y-formula: its value.
    Then { claimed: u64, next: u64, past: u64 },
}

/// What is kept of an atom.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Atom {
    /// The propositions of the step that something is claimed about, and those of them that it must have.
    pub asked: u64,
    pub label: u64,
    pub need: NeedId,
    /// A bit for each until-formula that is kept here, or of which nothing is promised to the next atom.
    pub fulfils: u64,
}

/// Which propositions the formula speaks of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Uses {
    pub state: u64,
    pub step: u64,
    pub enabled: u64,
    pub sink: bool,
}

pub struct Tableau {
    nodes: Vec<Core>,
    root: u32,
    /// What stands behind the X-formulas of the closure, X(f U g) included.
    next: Vec<u32>,
    /// The same for Y.
    past: Vec<u32>,
    untils: Vec<u32>,
    pub uses: Uses,
    kinds: Interner<Kind>,
    needs: Interner<Need>,
    atoms: Interner<Atom>,
    lists: Vec<Box<[AtomId]>>,
    known: HashMap<u64, ListId, foldhash::fast::FixedState>,
    /// A mistake of a test's: this list loses its last atom.
    pub loses_atom: Option<ListId>,
}

const WORD: usize = 64;

impl Tableau {
    /// The tableau of the negation.
    pub fn of_negation(formula: &Formula<Prop>) -> Result<Tableau, TooLarge> {
        let mut t = Tableau {
            nodes: vec![],
            root: 0,
            next: vec![],
            past: vec![],
            untils: vec![],
            uses: Uses::default(),
            kinds: Interner::default(),
            needs: Interner::default(),
            atoms: Interner::default(),
            lists: vec![],
            known: HashMap::default(),
            loses_atom: None,
        };
        let mut seen = HashMap::new();
        let f = t.core(formula, &mut seen)?;
        t.root = t.not(f, &mut seen);
        for (i, node) in t.nodes.iter().enumerate() {
            let i = i as u32;
            let (list, f) = match node {
                Core::Next(f) => (&mut t.next, *f),
                Core::Until(..) => {
                    t.untils.push(i);
                    (&mut t.next, i)
                }
                Core::Yesterday(f) => (&mut t.past, *f),
                Core::Since(..) => (&mut t.past, i),
                _ => continue,
            };
            if !list.contains(&f) {
                list.push(f);
            }
        }
        for (n, what) in [(t.next.len(), "future"), (t.past.len(), "past")] {
            if n > WORD {
                return Err(TooLarge(format!(
                    "the formula has {n} {what} operators; at most {WORD} are supported"
                )));
            }
        }
        t.needs.intern(Need::First);
        Ok(t)
    }

    pub fn untils(&self) -> usize {
        self.untils.len()
    }

    /// The formulas of the closure.
    pub fn formulas(&self) -> &[Core] {
        &self.nodes
    }

    pub fn until_at(&self, i: usize) -> u32 {
        self.untils[i]
    }

    /// What the first atoms that fulfil a need claim, by formula and value, and which formulas were true before.
    pub fn asked(&self, need: NeedId) -> (Vec<(u32, bool)>, Vec<u32>) {
        match self.needs.items[need as usize] {
            Need::First => (vec![(self.root, true)], vec![]),
            Need::Then { claimed, next, past } => {
                let places = |word: u64, list: &[u32]| -> Vec<usize> {
                    (0..list.len()).filter(|i| word >> i & 1 == 1).collect()
                };
                let claims = places(claimed, &self.next).into_iter();
                let claims = claims.map(|i| (self.next[i], next >> i & 1 == 1)).collect();
                (claims, places(past, &self.past).into_iter().map(|i| self.past[i]).collect())
            }
        }
    }

    /// The different atoms so far.
    pub fn atom_count(&self) -> usize {
        self.atoms.items.len()
    }

    fn core(&mut self, f: &Formula<Prop>, seen: &mut HashMap<Core, u32>) -> Result<u32, TooLarge> {
        Ok(match f {
            Formula::True => self.node(Core::True, seen),
            Formula::False => {
                let t = self.node(Core::True, seen);
                self.not(t, seen)
            }
            Formula::Atom(p) => {
                self.use_prop(*p)?;
                self.node(Core::Prop(*p), seen)
            }
            Formula::Not(g) => {
                let g = self.core(g, seen)?;
                self.not(g, seen)
            }
            Formula::Unary(op, g) => {
                let g = self.core(g, seen)?;
                let t = self.node(Core::True, seen);
                match op {
                    Unary::Next => self.node(Core::Next(g), seen),
                    Unary::Yesterday => self.node(Core::Yesterday(g), seen),
                    Unary::Finally => self.node(Core::Until(t, g), seen),
                    Unary::Once => self.node(Core::Since(t, g), seen),
                    Unary::Globally => self.dual(t, g, seen, |_, g| Core::Until(t, g)),
                    Unary::Historically => self.dual(t, g, seen, |_, g| Core::Since(t, g)),
                }
            }
            Formula::Binary(op, g, h) => {
                let (g, h) = (self.core(g, seen)?, self.core(h, seen)?);
                match op {
                    Binary::Or => self.or(g, h, seen),
                    Binary::And => self.and(g, h, seen),
                    Binary::Implies => {
                        let g = self.not(g, seen);
                        self.or(g, h, seen)
                    }
                    Binary::Iff => {
                        let both = self.and(g, h, seen);
                        let (g, h) = (self.not(g, seen), self.not(h, seen));
                        let neither = self.and(g, h, seen);
                        self.or(both, neither, seen)
                    }
                    Binary::Until => self.node(Core::Until(g, h), seen),
                    Binary::Since => self.node(Core::Since(g, h), seen),
                    Binary::Release => self.dual(g, h, seen, Core::Until),
                    Binary::Trigger => self.dual(g, h, seen, Core::Since),
                    // Not `G g or (g U h)`, which has two until-formulas: there is no point at which neither
                    // holds and h did not hold before.
                    Binary::WeakUntil => {
                        let (ng, nh) = (self.not(g, seen), self.not(h, seen));
                        let neither = self.and(ng, nh, seen);
                        let breaks = self.node(Core::Until(nh, neither), seen);
                        self.not(breaks, seen)
                    }
                }
            }
        })
    }

    fn node(&mut self, c: Core, seen: &mut HashMap<Core, u32>) -> u32 {
        *seen.entry(c).or_insert_with(|| {
            self.nodes.push(c);
            (self.nodes.len() - 1) as u32
        })
    }

    /// ¬¬f is f.
    fn not(&mut self, f: u32, seen: &mut HashMap<Core, u32>) -> u32 {
        match self.nodes[f as usize] {
            Core::Not(g) => g,
            _ => self.node(Core::Not(f), seen),
        }
    }

    fn or(&mut self, f: u32, g: u32, seen: &mut HashMap<Core, u32>) -> u32 {
        if f == g { f } else { self.node(Core::Or(f.min(g), f.max(g)), seen) }
    }

    fn and(&mut self, f: u32, g: u32, seen: &mut HashMap<Core, u32>) -> u32 {
        let (f, g) = (self.not(f, seen), self.not(g, seen));
        let either = self.or(f, g, seen);
        self.not(either, seen)
    }

    /// ¬ op(¬f, ¬g)
    fn dual(&mut self, f: u32, g: u32, seen: &mut HashMap<Core, u32>, op: impl Fn(u32, u32) -> Core) -> u32 {
        let (f, g) = (self.not(f, seen), self.not(g, seen));
        let inner = self.node(op(f, g), seen);
        self.not(inner, seen)
    }

    fn use_prop(&mut self, p: Prop) -> Result<(), TooLarge> {
        let bit = |i: u32| {
            let word = 1u64.checked_shl(i);
            word.ok_or_else(|| TooLarge(format!("more than {WORD} propositions of one kind in a formula")))
        };
        match p {
            Prop::State(i) => self.uses.state |= bit(i)?,
            Prop::Step(i) => self.uses.step |= bit(i)?,
            Prop::Enabled(i) => self.uses.enabled |= bit(i)?,
            Prop::Deadlock => {}
            Prop::Sink => self.uses.sink = true,
        }
        Ok(())
    }

    pub fn kind(&mut self, kind: Kind) -> KindId {
        self.kinds.intern(kind)
    }

    pub fn kind_at(&self, id: KindId) -> &Kind {
        &self.kinds.items[id as usize]
    }

    pub fn kind_count(&self) -> usize {
        self.kinds.items.len()
    }

    #[inline]
    pub fn atom(&self, id: AtomId) -> Atom {
        self.atoms.items[id as usize]
    }

    /// What the first atom of a path must fulfil.
    pub const FIRST: NeedId = 0;

    /// The atoms of a kind of states that fulfil a need.
    #[inline]
    pub fn atoms(&mut self, kind: KindId, need: NeedId) -> ListId {
        let key = u64::from(kind) << 32 | u64::from(need);
        match self.known.get(&key) {
            Some(list) => *list,
            None => {
                let list = self.enumerate(kind, need);
                self.known.insert(key, list);
                list
            }
        }
    }

    #[inline]
    pub fn list(&self, id: ListId) -> &[AtomId] {
        &self.lists[id as usize]
    }

    fn enumerate(&mut self, kind: KindId, need: NeedId) -> ListId {
        let kind = self.kinds.items[kind as usize].clone();
        let need = self.needs.items[need as usize];
        let mut found = vec![];
        let here = Here { kind: &kind, past: need.past() };
        let mut claims = Claims::new(self.nodes.len());
        let met = match need {
            Need::First => claims.claim(self.root, true),
            Need::Then { claimed, next, .. } => (0..self.next.len())
                .filter(|i| claimed >> i & 1 == 1)
                .all(|i| claims.claim(self.next[i], next >> i & 1 == 1)),
        };
        if met {
            self.take_apart(&here, claims, &mut found);
        }
        keep_weakest(&mut found);
        let mut list: Vec<AtomId> = found.into_iter().map(|a| self.intern_atom(a)).collect();
        list.sort_unstable();
        list.dedup();
        if self.loses_atom == Some(self.lists.len() as ListId) {
            list.truncate(list.len().saturating_sub(1));
        }
        self.lists.push(list.into());
        (self.lists.len() - 1) as ListId
    }

    fn intern_atom(&mut self, d: Draft) -> AtomId {
        let need = self.needs.intern(d.need());
        self.atoms.intern(Atom { asked: d.asked, label: d.label, need, fulfils: d.fulfils })
    }

    /// Applies the rules to all open claims; every way to fulfil them becomes an atom.
    fn take_apart(&self, here: &Here, mut c: Claims, found: &mut Vec<Draft>) {
        loop {
            let Some(f) = c.open.pop() else {
                // What stands behind Y is decided: the next atom must know it.
                let Some(undecided) = self.past.iter().find(|f| c.values[**f as usize].is_none()) else {
                    found.extend(self.finished(here, &c));
                    return;
                };
                let mut other = c.clone();
                other.claim(*undecided, true);
                self.take_apart(here, other, found);
                c.claim(*undecided, false);
                continue;
            };
            let value = c.values[f as usize] == Some(true);
            // Two ways are one with a copy, and one that goes on here.
            let fulfilled = match (self.nodes[f as usize], value) {
                (Core::True, _) => value,
                (Core::Prop(Prop::Step(i)), _) => here.step(&mut c, i, value),
                (Core::Prop(p), _) => here.prop(p) == value,
                (Core::Not(g), _) => c.claim(g, !value),
                (Core::Or(g, h), false) => c.claim(g, false) && c.claim(h, false),
                (Core::Or(g, h), true) => {
                    let known = |x: u32| c.values[x as usize] == Some(true);
                    known(g) || known(h) || {
                        self.also(here, &c, (g, true), found);
                        c.claim(h, true)
                    }
                }
                (Core::Next(g), _) => self.promise(here, &mut c, g, value),
                (Core::Until(g, h), true) => {
                    self.also(here, &c, (h, true), found);
                    c.claim(g, true) && self.promise(here, &mut c, f, true)
                }
                (Core::Until(g, h), false) => {
                    c.claim(h, false) && {
                        self.also(here, &c, (g, false), found);
                        self.promise(here, &mut c, f, false)
                    }
                }
                (Core::Yesterday(g), _) => self.was(here, g) == value,
                (Core::Since(g, h), true) => {
                    self.also(here, &c, (h, true), found);
                    self.was(here, f) && c.claim(g, true)
                }
                (Core::Since(g, h), false) => c.claim(h, false) && (!self.was(here, f) || c.claim(g, false)),
            };
            if !fulfilled {
                return;
            }
        }
    }

    /// The other way: the same with one more claim.
    fn also(&self, here: &Here, c: &Claims, more: (u32, bool), found: &mut Vec<Draft>) {
        let mut other = c.clone();
        if other.claim(more.0, more.1) {
            self.take_apart(here, other, found);
        }
    }

    /// `X f` has this value. At a deadlock there is no next state, and every X-formula is false.
    fn promise(&self, here: &Here, c: &mut Claims, f: u32, value: bool) -> bool {
        if here.kind.deadlock {
            return !value;
        }
        let bit = 1 << place(&self.next, f);
        let wanted = if value { bit } else { 0 };
        if c.claimed & bit != 0 {
            return c.next & bit == wanted;
        }
        c.claimed |= bit;
        c.next |= wanted;
        true
    }

    /// The value of `Y f`.
    fn was(&self, here: &Here, f: u32) -> bool {
        here.past >> place(&self.past, f) & 1 == 1
    }

    /// The atom, unless no step of the state is as it claims.
    fn finished(&self, here: &Here, c: &Claims) -> Option<Draft> {
        let fits = |l: &u64| l & c.asked == c.label;
        if !here.kind.deadlock && !here.kind.labels.iter().any(fits) {
            return None;
        }
        let bits = |list: &[u32], test: &dyn Fn(u32) -> bool| {
            list.iter().enumerate().fold(0, |bits, (i, f)| bits | u64::from(test(*f)) << i)
        };
        let past = bits(&self.past, &|f| c.values[f as usize] == Some(true));
        let promised = c.claimed & c.next;
        // A promise that is kept here may be given again, by a claim of X(f U g) itself.
        let kept = |u: u32| match self.nodes[u as usize] {
            Core::Until(_, g) => c.values[g as usize] == Some(true),
            _ => true,
        };
        let fulfils = bits(&self.untils, &|u| promised >> place(&self.next, u) & 1 == 0 || kept(u));
        Some(Draft { asked: c.asked, label: c.label, claimed: c.claimed, next: c.next, past, fulfils })
    }
}

/// Of atoms that differ only in what they claim of the step and promise to the next atom, those that claim or promise more
/// and keep no more are left out: whatever continues them continues the others.
fn keep_weakest(found: &mut Vec<Draft>) {
    let mut all = std::mem::take(found);
    let claims = |d: &Draft| d.claimed.count_ones() + d.asked.count_ones();
    all.sort_by_key(|d| (claims(d), std::cmp::Reverse(d.fulfils.count_ones())));
    for d in all {
        let weaker = |o: &Draft| {
            o.past == d.past
                && o.claimed & d.claimed == o.claimed
                && d.next & o.claimed == o.next
                && o.asked & d.asked == o.asked
                && d.label & o.asked == o.label
                && o.fulfils & d.fulfils == d.fulfils
        };
        if !found.iter().any(weaker) {
            found.push(d);
        }
    }
}

/// The place of a formula in a list that has it: lists are made of the formulas that are looked up.
fn place(list: &[u32], f: u32) -> usize {
    list.iter().position(|x| *x == f).unwrap_or(0)
}

impl Need {
    fn past(self) -> u64 {
        match self {
            Need::First => 0,
            Need::Then { past, .. } => past,
        }
    }
}

/// An atom with its need.
#[derive(Clone, Copy)]
struct Draft {
    asked: u64,
    label: u64,
    claimed: u64,
    next: u64,
    past: u64,
    fulfils: u64,
}

impl Draft {
    fn need(self) -> Need {
        Need::Then { claimed: self.claimed, next: self.next, past: self.past }
    }
}

/// Where an atom stands.
struct Here<'a> {
    kind: &'a Kind,
    /// The values of the Y-formulas.
    past: u64,
}

impl Here<'_> {
    /// The step that is taken has this proposition, or has it not. At a deadlock none is taken.
    fn step(&self, c: &mut Claims, i: u32, value: bool) -> bool {
        if self.kind.deadlock {
            return !value;
        }
        let bit = 1 << i;
        let wanted = if value { bit } else { 0 };
        if c.asked & bit != 0 {
            return c.label & bit == wanted;
        }
        c.asked |= bit;
        c.label |= wanted;
        true
    }

    fn prop(&self, p: Prop) -> bool {
        match p {
            Prop::State(b) => self.kind.props >> b & 1 == 1,
            // Claimed of the step, not known of the state.
            Prop::Step(_) => false,
            Prop::Enabled(b) => self.kind.enabled >> b & 1 == 1,
            Prop::Deadlock => self.kind.deadlock,
            Prop::Sink => self.kind.sink,
        }
    }
}

/// An atom that is being decided.
#[derive(Clone)]
struct Claims {
    values: Vec<Option<bool>>,
    /// Claims that were not taken apart yet.
    open: Vec<u32>,
    /// X-formulas about which something is claimed, and what.
    claimed: u64,
    next: u64,
    /// Propositions of the step about which something is claimed, and what.
    asked: u64,
    label: u64,
}

impl Claims {
    fn new(nodes: usize) -> Claims {
        Claims { values: vec![None; nodes], open: vec![], claimed: 0, next: 0, asked: 0, label: 0 }
    }

    /// False if the opposite was claimed.
    fn claim(&mut self, f: u32, value: bool) -> bool {
        let known = &mut self.values[f as usize];
        match known {
            Some(v) => *v == value,
            None => {
                *known = Some(value);
                self.open.push(f);
                true
            }
        }
    }
}

struct Interner<T> {
    items: Vec<T>,
    index: HashMap<T, u32, foldhash::fast::FixedState>,
}

impl<T> Default for Interner<T> {
    fn default() -> Self {
        Interner { items: vec![], index: HashMap::default() }
    }
}

impl<T: Clone + Eq + Hash> Interner<T> {
    fn intern(&mut self, item: T) -> u32 {
        if let Some(id) = self.index.get(&item) {
            return *id;
        }
        let id = self.items.len() as u32;
        self.items.push(item.clone());
        self.index.insert(item, id);
        id
    }
}
