//! What can be chosen of the layout of a text.

/// How operators are spelt that have a form in ASCII and one in Unicode.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Operators {
    #[default]
    AsWritten,
    Ascii,
    Unicode,
}

impl Operators {
    pub const ALL: [(&'static str, Operators); 3] =
        [("keep", Operators::AsWritten), ("ascii", Operators::Ascii), ("unicode", Operators::Unicode)];
}

/// What can be chosen.
#[derive(Clone, Copy, Debug)]
pub struct Style {
    /// Longer lines are broken where that is possible.
    pub width: usize,
    /// Blanks for each level of indentation.
    pub indent: usize,
    pub operators: Operators,
}

impl Default for Style {
    fn default() -> Style {
        Style { width: 100, indent: 2, operators: Operators::AsWritten }
    }
}
