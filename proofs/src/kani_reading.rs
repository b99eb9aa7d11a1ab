//! The Kani reading: numbers are `kani::any`, assumptions are `kani::assume`, claims are `assert!`.
//!
//! `cargo kani -p kanon-proofs` runs the harnesses, one an obligation (module `harness` of each file). Kani's
//! compiler is not installed where CI runs; there `cargo test` compiles this file and the harnesses against a
//! stand-in of the three calls used (module `kani` below), which shows that they type-check and no more.
//!
//! Three states, one of them `i`, so a group has one or two members: arrays of that size, bounded loops, no
//! hashing, no allocation.

use kanon_refinement::concrete::{Concrete, Group, Small};

use crate::execute::{Pick, Run};
use crate::groups;

/// Stands in for Kani where it is not installed: the types of the calls used, so that the harnesses are checked
/// by the compiler. They are never run.
#[cfg(not(kani))]
pub mod kani {
    /// What Kani can choose.
    pub trait Arbitrary: Default {}
    impl Arbitrary for usize {}
    impl Arbitrary for u64 {}
    impl Arbitrary for bool {}
    /// Any value.
    pub fn any<T: Arbitrary>() -> T {
        T::default()
    }
    /// Goes on only where this holds.
    pub fn assume(_holds: bool) {}
    /// Something that must be possible.
    #[macro_export]
    macro_rules! stand_in_cover {
        ($holds:expr, $text:literal) => {
            let _: (bool, &str) = ($holds, $text);
        };
    }
    pub use stand_in_cover as cover;
}

/// States of a harness.
pub const STATES: usize = 3;
/// Permutations of a harness: those of the two states other than `i`.
pub const PERMUTATIONS: usize = 2;

/// Kani as a source of numbers.
#[derive(Debug)]
pub struct Any;

impl Pick for Any {
    fn pick(&mut self, below: usize) -> usize {
        let number: usize = kani::any();
        kani::assume(number < below);
        number
    }
    fn word(&mut self, bits: usize) -> u64 {
        let word: u64 = kani::any();
        kani::assume(word >> bits == 0);
        word
    }
    fn builds(&self) -> bool {
        false
    }
    fn group<const N: usize, const G: usize>(
        &mut self,
        l: &Concrete<Small<N, G>>,
        _: usize,
    ) -> Group<Small<N, G>> {
        let mut aut = groups::trivial(l);
        if kani::any() {
            let mut swap = l.identity();
            swap.set(1, 2);
            swap.set(2, 1);
            aut.push(&swap);
        }
        aut
    }
    fn assume(&mut self, holds: bool) {
        kani::assume(holds);
    }
}

/// A run whose choices are Kani's.
pub fn run() -> Run<Any, STATES, PERMUTATIONS> {
    Run::new(Any, STATES)
}

/// Nothing is refuted, and something was claimed at all.
pub fn conclude(run: &Run<Any, STATES, PERMUTATIONS>) {
    kani::cover!(run.alive() && run.claims > 0, "the assumptions can be satisfied");
    assert!(run.refuted.is_none(), "a claim does not follow");
}
