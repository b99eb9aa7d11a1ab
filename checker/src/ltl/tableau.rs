//! The rules: what a set of obligations at a state comes to, and what it leaves to the next state.
//!
//! An obligation says of a formula that it is true here, or that it is false. A rule replaces it by obligations on its
//! parts; where a formula can be fulfilled in two ways there are two branches. What is left are obligations on the step
//! that is taken, and on the next state. What stands behind Y is decided in every branch, since the next state has to
//! know it.

use super::closure::{Closure, Core};
use kanon_language::temporal::syntax::Prop;

/// What a node asks of its state: obligations, and what is known of the state before.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Set {
    /// Twice the number of a formula; 1 more if it has to be false. Ascending.
    pub obligations: Vec<u32>,
    /// Which of the formulas behind Y were true in the state before. Ascending.
    pub past: Vec<u32>,
}

impl Set {
    /// Whether whatever fulfils the other fulfils this one.
    pub fn asks_no_more_than(&self, other: &Set) -> bool {
        let asked = |o: &u32| other.obligations.binary_search(o).is_ok();
        self.past == other.past && self.obligations.iter().all(asked)
    }
}

/// All that a formula can ask of a state. Propositions are bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Here {
    pub props: u64,
    /// Propositions of the steps that are possible.
    pub enabled: u64,
    pub deadlock: bool,
    pub sink: bool,
}

/// A way to fulfil a set of obligations.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Branch {
    /// Propositions of the step about which something is said, and those of them that it must have.
    pub asked: u64,
    pub taken: u64,
    /// What is left to the next state.
    pub next: Set,
    /// The until-formulas that are obligations here and are not kept here. Ascending.
    pub postponed: Vec<u32>,
}

/// A formula whose branches are more than anybody follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooMany;

/// Rules applied for one set at one state.
const MAX_RULES: usize = 2_000_000;

/// All ways to fulfil a set of obligations at a state; at a deadlock, whether the path may end here: then there is one.
///
/// # Errors
/// There are too many.
pub fn branches(closure: &Closure, here: &Here, set: &Set) -> Result<Vec<Branch>, TooMany> {
    let mut start =
        Draft { values: vec![None; closure.len()], open: vec![], asked: 0, taken: 0, next: vec![] };
    if !set.obligations.iter().all(|o| start.claim(o / 2, o % 2 == 0)) {
        return Ok(vec![]);
    }
    let rules = Rules { closure, here, set };
    let mut open = vec![start];
    let mut done = vec![];
    let mut applied = 0;
    while let Some(mut draft) = open.pop() {
        loop {
            applied += 1;
            if applied > MAX_RULES {
                return Err(TooMany);
            }
            if let Some((f, value)) = draft.open.pop() {
                if !rules.apply(&mut draft, f, value, &mut open) {
                    break;
                }
                continue;
            }
            let undecided = closure.past.iter().find(|f| draft.values[**f as usize].is_none());
            let Some(f) = undecided else {
                done.push(rules.finished(draft));
                break;
            };
            let mut other = draft.clone();
            other.claim(*f, true);
            open.push(other);
            draft.claim(*f, false);
        }
    }
    done.sort_unstable();
    done.dedup();
    Ok(done)
}

#[derive(Clone)]
struct Draft {
    /// What is said of each formula.
    values: Vec<Option<bool>>,
    /// What no rule was applied to yet.
    open: Vec<(u32, bool)>,
    asked: u64,
    taken: u64,
    /// Obligations of the next state.
    next: Vec<u32>,
}

impl Draft {
    /// False if the opposite is said already.
    fn claim(&mut self, f: u32, value: bool) -> bool {
        match self.values.get_mut(f as usize) {
            None => false,
            Some(Some(known)) => *known == value,
            Some(unknown) => {
                *unknown = Some(value);
                self.open.push((f, value));
                true
            }
        }
    }

    /// The other way: the same, and this.
    fn or_else(&self, f: u32, value: bool, open: &mut Vec<Draft>) {
        let mut other = self.clone();
        if other.claim(f, value) {
            open.push(other);
        }
    }
}

struct Rules<'a> {
    closure: &'a Closure,
    here: &'a Here,
    set: &'a Set,
}

impl Rules<'_> {
    /// Applies the rule of a formula; false if it cannot have this value.
    fn apply(&self, d: &mut Draft, f: u32, value: bool, open: &mut Vec<Draft>) -> bool {
        let Some(core) = self.closure.get(f) else { return false };
        match (core, value) {
            (Core::True, _) => value,
            (Core::Prop(Prop::Step(i)), _) => self.step(d, i, value),
            (Core::Prop(p), _) => self.holds(p) == value,
            (Core::Not(g), _) => d.claim(g, !value),
            (Core::Or(g, h), true) => {
                d.or_else(g, true, open);
                d.claim(h, true)
            }
            (Core::Or(g, h), false) => d.claim(g, false) && d.claim(h, false),
            (Core::Next(g), _) => self.next(d, g, value),
            (Core::Until(g, h), true) => {
                d.or_else(h, true, open);
                d.claim(g, true) && self.next(d, f, true)
            }
            (Core::Until(g, h), false) => {
                if !d.claim(h, false) {
                    return false;
                }
                d.or_else(g, false, open);
                self.next(d, f, false)
            }
            (Core::Yesterday(g), _) => self.was(g) == value,
            (Core::Since(g, h), true) => {
                d.or_else(h, true, open);
                self.was(f) && d.claim(g, true)
            }
            (Core::Since(g, h), false) => d.claim(h, false) && (!self.was(f) || d.claim(g, false)),
        }
    }

    fn holds(&self, p: Prop) -> bool {
        let bit = |word: u64, i: u32| i < 64 && word >> i & 1 == 1;
        match p {
            Prop::State(i) => bit(self.here.props, i),
            Prop::Enabled(i) => bit(self.here.enabled, i),
            Prop::Deadlock => self.here.deadlock,
            Prop::Sink => self.here.sink,
            // Said of the step, not known of the state.
            Prop::Step(_) => false,
        }
    }

    /// No step is taken from a deadlock.
    fn step(&self, d: &mut Draft, i: u32, value: bool) -> bool {
        let Some(bit) = 1u64.checked_shl(i) else { return false };
        if self.here.deadlock {
            return !value;
        }
        d.asked |= bit;
        d.taken |= if value { bit } else { 0 };
        true
    }

    /// `X f` has this value: it is false where there is no next state.
    fn next(&self, d: &mut Draft, f: u32, value: bool) -> bool {
        if self.here.deadlock {
            return !value;
        }
        d.next.push(2 * f + u32::from(!value));
        // `X f` by itself, and as a part of an until-formula.
        !d.next.contains(&(2 * f + u32::from(value)))
    }

    fn was(&self, f: u32) -> bool {
        self.set.past.binary_search(&f).is_ok()
    }

    fn finished(&self, mut d: Draft) -> Branch {
        let is = |f: u32, value: bool| d.values[f as usize] == Some(value);
        let postponed = (0..self.closure.len() as u32).filter(|f| match self.closure.get(*f) {
            Some(Core::Until(_, h)) => is(*f, true) && !is(h, true),
            _ => false,
        });
        let postponed = postponed.collect();
        let past = self.closure.past.iter().copied().filter(|f| is(*f, true)).collect();
        d.next.sort_unstable();
        d.next.dedup();
        Branch { asked: d.asked, taken: d.taken, next: Set { obligations: d.next, past }, postponed }
    }
}
