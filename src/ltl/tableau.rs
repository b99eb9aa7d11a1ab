//! Closure and atoms of a formula (seed 003, §4.2, §4.3, §5.2), built on demand.
//!
//! The formula is negated and brought to the paper's core: true, propositions, ¬, ∨, X, U, Y, S. An atom is a
//! consistent valuation of the closure; it is determined by the propositions of the state, those of the step that is
//! taken, the valuation of the X-formulas (guessed) and of the Y-formulas (known from the atom before). Of an atom we
//! keep only what the rest of a path depends on: the step's propositions, the [`Need`] that it hands to the next
//! atom, and the until-formulas that it does not leave open. Two atoms that agree in these have the same
//! continuations and count the same in every component, so they are one.
//!
//! Absent on purpose: states, edges, search.

use super::syntax::{Binary, Formula, Prop, Unary};
use std::collections::HashMap;
use std::hash::Hash;

/// More of anything than a word has bits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TooLarge(pub String);

/// A formula of the core; parts are places in [`Tableau::nodes`], before the whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Core {
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
    /// A bit for each X-formula: the value of what stands behind X. A bit for each Y-formula: its value.
    Then { next: u64, past: u64 },
}

/// What is kept of an atom.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Atom {
    /// The propositions of the step that must be taken.
    pub label: u64,
    pub need: NeedId,
    /// A bit for each until-formula that is false here or fulfilled here.
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
        let none = [0u64];
        let labels: &[u64] = if kind.deadlock { &none } else { &kind.labels };
        for label in labels {
            let mut guess = Guess {
                kind: &kind,
                need,
                label: *label,
                next: 0,
                // At a deadlock there is no next state: every X-formula is false.
                known: if kind.deadlock { u64::MAX } else { 0 },
                values: vec![Truth::Open; self.nodes.len()],
            };
            self.guess(&mut guess, 0, &mut found);
        }
        let mut list: Vec<AtomId> = found.into_iter().map(|a| self.intern_atom(a)).collect();
        list.sort_unstable();
        list.dedup();
        self.lists.push(list.into());
        (self.lists.len() - 1) as ListId
    }

    fn intern_atom(&mut self, (label, need, fulfils): (u64, Need, u64)) -> AtomId {
        let need = self.needs.intern(need);
        self.atoms.intern(Atom { label, need, fulfils })
    }

    /// Decides the X-formulas from `at` on, one after the other, and gives up where the need cannot be met.
    fn guess(&self, g: &mut Guess, at: usize, found: &mut Vec<(u64, Need, u64)>) {
        self.evaluate(g);
        if !self.meets(g) {
            return;
        }
        let undecided = (at..self.next.len()).find(|i| g.known >> i & 1 == 0);
        let Some(i) = undecided else {
            found.push(self.finished(g));
            return;
        };
        let (known, next) = (g.known, g.next);
        for value in [0, 1] {
            g.known = known | 1 << i;
            g.next = next | value << i;
            self.guess(g, i + 1, found);
        }
        (g.known, g.next) = (known, next);
    }

    /// Kleene: what is open may still become either.
    fn evaluate(&self, g: &mut Guess) {
        let past = match g.need {
            Need::First => 0,
            Need::Then { past, .. } => past,
        };
        let place = |list: &[u32], f: u32| list.iter().position(|x| *x == f).unwrap_or(0);
        let (next, known) = (g.next, g.known);
        let x = |f: u32| {
            let i = place(&self.next, f);
            if known >> i & 1 == 1 { Truth::of(next >> i & 1 == 1) } else { Truth::Open }
        };
        let y = |f: u32| Truth::of(past >> place(&self.past, f) & 1 == 1);
        for (i, node) in self.nodes.iter().enumerate() {
            let v = |f: u32| g.values[f as usize];
            g.values[i] = match *node {
                Core::True => Truth::True,
                Core::Prop(p) => Truth::of(match p {
                    Prop::State(b) => g.kind.props >> b & 1 == 1,
                    Prop::Step(b) => g.label >> b & 1 == 1,
                    Prop::Enabled(b) => g.kind.enabled >> b & 1 == 1,
                    Prop::Deadlock => g.kind.deadlock,
                    Prop::Sink => g.kind.sink,
                }),
                Core::Not(f) => v(f).not(),
                Core::Or(f, h) => v(f).or(v(h)),
                Core::Next(f) => x(f),
                Core::Yesterday(f) => y(f),
                Core::Until(f, h) => v(h).or(v(f).and(x(i as u32))),
                Core::Since(f, h) => v(h).or(v(f).and(y(i as u32))),
            };
        }
    }

    /// Whether the need is met as far as values are decided.
    fn meets(&self, g: &Guess) -> bool {
        match g.need {
            Need::First => g.values[self.root as usize] != Truth::False,
            Need::Then { next, .. } => self.next.iter().enumerate().all(|(i, f)| {
                let wanted = Truth::of(next >> i & 1 == 1);
                let value = g.values[*f as usize];
                value == Truth::Open || value == wanted
            }),
        }
    }

    fn finished(&self, g: &Guess) -> (u64, Need, u64) {
        let is_true = |f: u32| g.values[f as usize] == Truth::True;
        let bits = |list: &[u32], test: &dyn Fn(u32) -> bool| {
            list.iter().enumerate().fold(0, |bits, (i, f)| bits | u64::from(test(*f)) << i)
        };
        let past = bits(&self.past, &is_true);
        let next = if self.next.is_empty() { 0 } else { g.next };
        let fulfils = bits(&self.untils, &|u| match self.nodes[u as usize] {
            Core::Until(_, h) => !is_true(u) || is_true(h),
            _ => true,
        });
        (g.label, Need::Then { next, past }, fulfils)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Truth {
    False,
    True,
    Open,
}

impl Truth {
    fn of(b: bool) -> Truth {
        if b { Truth::True } else { Truth::False }
    }

    fn not(self) -> Truth {
        match self {
            Truth::False => Truth::True,
            Truth::True => Truth::False,
            Truth::Open => Truth::Open,
        }
    }

    fn or(self, other: Truth) -> Truth {
        match (self, other) {
            (Truth::True, _) | (_, Truth::True) => Truth::True,
            (Truth::False, Truth::False) => Truth::False,
            _ => Truth::Open,
        }
    }

    fn and(self, other: Truth) -> Truth {
        self.not().or(other.not()).not()
    }
}

/// An atom that is being decided.
struct Guess<'a> {
    kind: &'a Kind,
    need: Need,
    label: u64,
    /// The X-formulas that are true, of those that are known.
    next: u64,
    known: u64,
    values: Vec<Truth>,
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
