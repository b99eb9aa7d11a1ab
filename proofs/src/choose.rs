//! A source of choices: what an obligation is written against, so that each reading may drive it.

use kanon_refinement::logic::Logic;
use kanon_refinement::{lab, mc0, path, rmc1, wmc};

/// Chooses values, takes assumptions, and is told what must follow.
///
/// An obligation is a straight text: choose, assume, prove. A reading that executes tries one choice (or all,
/// or any) and drops it when an assumption fails; a reading that prints declares symbols and writes formulas.
///
/// Hints say where it is worth looking: bounds that assumptions of the given labels imply. They narrow the
/// search of a reading that executes and mean nothing to one that prints; a reading that plants a mistake in
/// one of these clauses ignores them.
pub trait Choose {
    /// The logic of this reading.
    type L: Logic;
    /// It.
    fn logic(&self) -> Self::L;
    /// Any constants of Fig. 1.
    fn mc0(&mut self) -> mc0::Constants<Self::L>;
    /// Any constants of Figs. 1 and 8.
    fn rmc1(&mut self) -> rmc1::Constants<Self::L>;
    /// Any constants of Fig. 1 with a symmetry.
    fn wmc(&mut self) -> wmc::Constants<Self::L>;
    /// Any labelling beside these constants.
    fn lab(&mut self, wmc: wmc::Constants<Self::L>) -> lab::Constants<Self::L>;
    /// Any labels of transitions beside these constants.
    fn path(&mut self, sym: wmc::Constants<Self::L>) -> path::Constants<Self::L>;
    /// Any set; hint: `lo ⊆ set ⊆ hi`, by the clauses named.
    fn set(
        &mut self,
        name: &'static str,
        by: &[&str],
        hint: impl FnOnce(&Self::L) -> [<Self::L as Logic>::Set; 2],
    ) -> <Self::L as Logic>::Set;
    /// Any state; hint: one of the set, by the clauses named.
    fn state(
        &mut self,
        name: &'static str,
        by: &[&str],
        hint: impl FnOnce(&Self::L) -> <Self::L as Logic>::Set,
    ) -> <Self::L as Logic>::State;
    /// Any member of the group.
    fn automorphism(&mut self, name: &'static str, aut: &<Self::L as Logic>::Aut) -> <Self::L as Logic>::Map;
    /// Any label.
    fn op(&mut self, name: &'static str) -> <Self::L as Logic>::Op;
    /// Any history of a [`path::Path`]: `par` and `old`; hint: a plausible one for the stored states.
    #[allow(clippy::type_complexity, reason = "the two variables of one machine")]
    fn history(
        &mut self,
        k: &path::Constants<Self::L>,
        stored: &<Self::L as Logic>::Set,
        rrac: &<Self::L as Logic>::Set,
    ) -> (<Self::L as Logic>::Steps, <Self::L as Logic>::Rel);
    /// Goes on only where this holds.
    fn assume(&mut self, label: &'static str, holds: <Self::L as Logic>::Bool);
    /// This must follow from what was assumed.
    fn prove(&mut self, label: &'static str, holds: <Self::L as Logic>::Bool);
}

/// Whether a hint may be used while the clause `planted` is dropped. A clause may be named with all below it:
/// `mc2/add_inv` for `mc2/add_inv/grd1`.
pub fn hint_stands(by: &[&str], planted: Option<&'static str>) -> bool {
    planted.is_none_or(|label| {
        let below =
            |b: &&str| label.strip_prefix(*b).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
        !by.iter().any(below)
    })
}
