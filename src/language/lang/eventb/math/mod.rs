//! Formulas as people write them: Event-B's mathematical language, in Unicode and in the ASCII of Rodin's keyboard.
//!
//! [`words`] is the table of spellings, [`lex`] and [`parse`] read, [`write`] writes. Precedence and the operators that
//! need parentheses beside each other are those of the kernel language. The trees are those that [`super::formula`]
//! makes of packages. Absent on purpose: machines, files, types.

pub mod lex;
pub mod parse;
pub mod tree;
pub mod words;
pub mod write;
