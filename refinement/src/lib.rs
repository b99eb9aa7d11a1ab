//! The refinement chain.
#![forbid(unsafe_code)]
#![no_std]

extern crate alloc;
#[cfg(test)]
extern crate std;

pub mod frontier;
pub mod kernel;
pub mod system;
