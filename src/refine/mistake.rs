//! Planted mistakes, so that tests can see that each of them is caught by some small model.

/// A mistake that a test plants: something that following a step could forget.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mistake {
    /// The invariant of the concrete machine itself is not looked at.
    OwnInvariant,
    /// Nor are gluing invariants.
    Glue,
    /// Results of operations are not compared.
    Results,
    /// A variable that two levels share may get two values.
    Shared,
    /// Where a level has no such operation, it may change what it likes.
    Still,
    /// One abstract state is followed, and the others are forgotten.
    Others,
    /// Levels above the first one are not asked.
    HigherLevels,
    /// That an operation does nothing where the abstract one does something is not noticed.
    Blocked,
    /// Assertions are not looked at.
    Theorems,
    /// What other machines do is not looked at.
    Environment,
    /// Whether an abstract step goes where the concrete one does is not looked at.
    Agreement,
    /// What has no value below is passed over.
    FaultsBelow,
    /// The same above.
    FaultsAbove,
    /// An enumeration that was cut short counts as a whole one.
    Cut,
    /// Abstract steps that could go on where the machine is deadlocked are not looked for.
    Deadlock,
    /// A row in which the invariants hold is taken for another one.
    Known,
}

impl Mistake {
    /// All of them.
    pub const ALL: [Mistake; 16] = [
        Mistake::OwnInvariant,
        Mistake::Glue,
        Mistake::Results,
        Mistake::Shared,
        Mistake::Still,
        Mistake::Others,
        Mistake::HigherLevels,
        Mistake::Blocked,
        Mistake::Theorems,
        Mistake::Environment,
        Mistake::Agreement,
        Mistake::FaultsBelow,
        Mistake::FaultsAbove,
        Mistake::Cut,
        Mistake::Deadlock,
        Mistake::Known,
    ];
}
