//! A source of choices: what an obligation is written against, so that each reading may drive it.

use kanon_refinement::logic::Logic;
use kanon_refinement::{lab, mc0, path, rmc1, wmc};

/// Chooses values, takes assumptions, and is told what must follow.
///
/// An obligation is a straight text: choose, assume, prove. A reading that executes tries one choice (or all,
/// or any) and drops it when an assumption fails; a reading that prints declares symbols and writes formulas.
///
/// Every value of its type can be chosen, in every reading: what a clause excludes is excluded by assuming the
/// clause as it stands in the machine's text, and by nothing else. A hint says where values are likely to satisfy
/// what comes; the random reading follows it most of the time and no other reading looks at it.
pub trait Choose {
    /// The logic of this reading.
    type L: Logic;
    /// It.
    fn logic(&self) -> Self::L;
    /// Whether all assumptions hold so far, if the reading can know. What comes after a failed one is in vain.
    fn alive(&self) -> bool {
        true
    }
    /// Any constants of Fig. 1.
    fn mc0(&mut self) -> mc0::Constants<Self::L>;
    /// Any constants of Figs. 1 and 8.
    fn rmc1(&mut self) -> rmc1::Constants<Self::L>;
    /// Any constants of Fig. 1 with a relation for the symmetry.
    fn wmc(&mut self) -> wmc::Constants<Self::L>;
    /// Any labelling beside these constants.
    fn lab(&mut self, wmc: wmc::Constants<Self::L>) -> lab::Constants<Self::L>;
    /// Any labels of transitions beside these constants.
    fn path(&mut self, sym: wmc::Constants<Self::L>) -> path::Constants<Self::L>;
    /// Any set; hint: `lo ⊆ set ⊆ hi`.
    fn set(
        &mut self,
        name: &'static str,
        hint: impl FnOnce(&Self::L) -> [<Self::L as Logic>::Set; 2],
    ) -> <Self::L as Logic>::Set;
    /// Any state; hint: one of the set.
    fn state(
        &mut self,
        name: &'static str,
        hint: impl FnOnce(&Self::L) -> <Self::L as Logic>::Set,
    ) -> <Self::L as Logic>::State;
    /// Any member of the group.
    fn automorphism(&mut self, name: &'static str, aut: &<Self::L as Logic>::Aut) -> <Self::L as Logic>::Map;
    /// Any label.
    fn op(&mut self, name: &'static str) -> <Self::L as Logic>::Op;
    /// Any `par` and `old` of a [`path::Path`]; hint: a history of the stored states.
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
