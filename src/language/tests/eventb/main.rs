//! Event-B in all its forms: formulas, texts, Rodin's files, packages, and the ways between them.

mod archives;
mod compare;
mod corpus;
mod forms;
mod formulas;
mod random;
mod rodin;
mod texts;
