//! Rules about the repository itself: its documents, and what is linked into the program.

mod documents;
mod licences;
mod rooms;
