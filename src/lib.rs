//! kanon
