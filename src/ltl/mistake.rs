//! Planted mistakes, so that tests can see that the audit and the checker of certificates catch them.

/// A mistake that a test plants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mistake {
    /// The n-th step that is stored is lost.
    LosesStep(u64),
    /// The n-th new node is taken for another one.
    LosesNode(u64),
    /// What was found is not told.
    Silent,
    /// The n-th list of atoms that can follow lacks one.
    LosesAtom(u64),
    /// The n-th time that an edge closes a cycle, its component is not put together.
    ClosesEarly(u64),
    /// This acceptance is never given: a promise is not seen to be kept, a fair step not to be taken.
    Overlooks(u32),
}
