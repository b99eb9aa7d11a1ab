//! Planted mistakes, so that tests can see that the audit catches them.

/// A mistake that a test plants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mistake {
    /// The n-th step that is stored is lost.
    LosesStep(u64),
    /// The n-th new node is taken for another one.
    LosesNode(u64),
    /// What was found is not told.
    Silent,
}
