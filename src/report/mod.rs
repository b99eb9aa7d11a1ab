//! Answers made readable: the only room that decides how things look.

pub mod diagnostic;
