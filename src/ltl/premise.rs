//! A fairness premise, brought to disjunctive form: a counterexample has to fulfil one of the disjuncts.

use super::tableau::TooLarge;
use crate::temporal::syntax::Fairness;

/// A premise as the search needs it. Acceptance is a word: first a bit for each until-formula, then for each weakly
/// fair step, then for each strongly fair one.
pub struct Premise {
    weak: Vec<(u32, u64)>,
    strong: Vec<(u32, u64)>,
    /// One of these has to be fulfilled; a single empty one when there is no premise.
    pub ways: Vec<Way>,
    /// For every disjunct of the premise as it was written its place among these.
    pub disjuncts: Vec<usize>,
    /// The propositions of steps it speaks of.
    pub steps: u64,
}

/// A step by its proposition, and its acceptance.
pub type Accepting = (u32, u64);

/// A disjunct.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Way {
    /// Acceptance that a component must have.
    pub accept: u64,
    /// Strongly fair steps: acceptance if they are enabled at all.
    pub strong: u64,
    pub weak_all: bool,
    pub strong_all: bool,
}

impl Way {
    /// Whether acceptance alone decides.
    pub fn is_plain(self) -> bool {
        self.strong == 0 && !self.weak_all && !self.strong_all
    }
}

const MAX_WAYS: usize = 256;

impl Premise {
    pub fn new(premise: Option<&Fairness<u32>>, untils: usize) -> Result<Premise, TooLarge> {
        let mut p = Premise { weak: vec![], strong: vec![], ways: vec![], disjuncts: vec![], steps: 0 };
        let all_untils = if untils == 64 { u64::MAX } else { (1 << untils) - 1 };
        let mut literals: Vec<Vec<Fairness<u32>>> = vec![vec![]];
        if let Some(premise) = premise {
            literals = disjuncts(premise)?;
        }
        let mut bit = untils as u32;
        let mut place = |list: &mut Vec<(u32, u64)>, step: u32| -> Result<u64, TooLarge> {
            if let Some((_, b)) = list.iter().find(|(s, _)| *s == step) {
                return Ok(*b);
            }
            if step >= 64 {
                return Err(TooLarge("more than 64 propositions of steps".to_string()));
            }
            let b = 1u64.checked_shl(bit).ok_or_else(|| {
                TooLarge("more than 64 until-formulas and fairness conditions together".to_string())
            })?;
            bit += 1;
            list.push((step, b));
            Ok(b)
        };
        for way in literals {
            let mut w = Way { accept: all_untils, ..Way::default() };
            for literal in way {
                match literal {
                    Fairness::Weak(step) => w.accept |= place(&mut p.weak, step)?,
                    Fairness::Strong(step) => w.strong |= place(&mut p.strong, step)?,
                    Fairness::WeakAll => w.weak_all = true,
                    Fairness::StrongAll => w.strong_all = true,
                    Fairness::And(..) | Fairness::Or(..) => {}
                }
            }
            let known = p.ways.iter().position(|other| *other == w);
            p.disjuncts.push(known.unwrap_or(p.ways.len()));
            if known.is_none() {
                p.ways.push(w);
            }
        }
        p.steps = p.weak.iter().chain(&p.strong).fold(0, |all, (s, _)| all | 1 << s);
        Ok(p)
    }

    /// The weakly and the strongly fair steps, with their acceptance.
    pub fn fair(&self) -> (&[Accepting], &[Accepting]) {
        (&self.weak, &self.strong)
    }

    /// Whether instances of operations have to be told apart.
    pub fn needs_instances(&self) -> bool {
        self.ways.iter().any(|w| w.weak_all || w.strong_all)
    }

    /// Acceptance that a state gives by what it does not enable.
    pub fn gives(&self, enabled: u64) -> u64 {
        self.weak.iter().filter(|(s, _)| enabled >> s & 1 == 0).fold(0, |all, (_, b)| all | b)
    }

    /// The strongly fair steps that a state enables, as acceptance.
    pub fn strong(&self, enabled: u64) -> u64 {
        self.strong.iter().filter(|(s, _)| enabled >> s & 1 == 1).fold(0, |all, (_, b)| all | b)
    }

    /// Acceptance that an edge gives.
    pub fn takes(&self, props: u64) -> u64 {
        let all = self.weak.iter().chain(&self.strong);
        all.filter(|(s, _)| props >> s & 1 == 1).fold(0, |all, (_, b)| all | b)
    }
}

fn disjuncts(f: &Fairness<u32>) -> Result<Vec<Vec<Fairness<u32>>>, TooLarge> {
    let found = match f {
        Fairness::Or(a, b) => {
            let mut all = disjuncts(a)?;
            all.extend(disjuncts(b)?);
            all
        }
        Fairness::And(a, b) => {
            let (left, right) = (disjuncts(a)?, disjuncts(b)?);
            let pair = |l: &Vec<Fairness<u32>>, r: &Vec<Fairness<u32>>| [l.clone(), r.clone()].concat();
            left.iter().flat_map(|l| right.iter().map(move |r| pair(l, r))).collect()
        }
        literal => vec![vec![literal.clone()]],
    };
    if found.len() > MAX_WAYS {
        return Err(TooLarge(format!("the fairness premise has more than {MAX_WAYS} disjuncts")));
    }
    Ok(found)
}
