//! Claims about production code, each a function over a source of choices. `cargo test` runs it on choices of proptest's;
//! under Kani it is a harness for all of them:
//!
//!     cargo kani -p kanon --no-default-features --exact --harness value::mask::tests::claims::sets
//!
//! A claim answers whether the case was one that it has something to say about; some must be.

/// Where a claim gets its numbers.
pub trait Choose {
    /// Any number below n, which is not 0.
    fn below(&mut self, n: u64) -> u64;
}

/// All numbers, by Kani.
#[cfg(kani)]
pub struct Any;

#[cfg(kani)]
impl Choose for Any {
    fn below(&mut self, n: u64) -> u64 {
        let number: u64 = kani::any();
        kani::assume(number < n);
        number
    }
}

/// Numbers that are given, again from the first after the last.
#[cfg(test)]
pub struct Given {
    numbers: Vec<u64>,
    at: usize,
}

#[cfg(test)]
impl Choose for Given {
    fn below(&mut self, n: u64) -> u64 {
        let number = self.numbers[self.at % self.numbers.len()];
        self.at += 1;
        number % n
    }
}

/// Runs a claim on random choices.
#[cfg(test)]
pub fn run(claim: fn(&mut Given) -> bool) {
    use proptest::prelude::*;
    use std::cell::Cell;
    let told = Cell::new(0);
    proptest!(ProptestConfig::with_cases(2_000), |(numbers in prop::collection::vec(any::<u64>(), 1..24))| {
        told.set(told.get() + usize::from(claim(&mut Given { numbers, at: 0 })));
    });
    assert!(told.get() > 100, "it had something to say {} times", told.get());
}

/// A claim as a test and as a harness; loops have fewer than `unwind` turns.
macro_rules! claim {
    ($name:ident, $unwind:literal) => {
        #[cfg(test)]
        #[test]
        fn $name() {
            crate::harness::run(super::$name);
        }

        #[cfg(kani)]
        #[kani::proof]
        #[kani::unwind($unwind)]
        fn $name() {
            let told = super::$name(&mut crate::harness::Any);
            kani::cover!(told, "it has something to say");
        }
    };
}

pub(crate) use claim;
