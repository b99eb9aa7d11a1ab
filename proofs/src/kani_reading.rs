//! The Kani reading: numbers are `kani::any`, assumptions are `kani::assume`, claims are `assert!`.
//!
//! `cargo kani -p kanon-proofs` runs the harnesses, one for each obligation (module `harness` of each file). Kani's
//! compiler is not installed where CI runs; there `cargo test` compiles this file and the harnesses against a
//! stand-in of the three calls used (module `kani` below), and counts the turns of the loops in their bodies
//! ([`turns`]).
//!
//! Three states, one of them `i`, two functions in the group, two labels: arrays of that size. Every constant, set,
//! relation, function and history is any of its type, under the assumptions of the obligation and no others. No
//! harness allocates, and none looks into a label.
//!
//! **The bound of unwinding.** Every loop of a harness is `Concrete::each` or the quantifier beside it, over the
//! states (3 turns), the members of the group (2) or the labels (2), or `logic::all` and `logic::any` (at most
//! `logic::SEVERAL` = 3 parts). A loop of 3 turns tests its condition 4 times, and Kani counts those; one more is
//! slack, which costs nothing, since the conditions are constants.

use kanon_refinement::concrete::Sound;

use crate::execute::{Pick, Run};

/// Stands in for Kani where it is not installed: the types of the calls used, so that the harnesses are checked
/// by the compiler. They are never run.
#[cfg(not(kani))]
pub mod kani {
    /// What Kani can choose.
    pub trait Arbitrary: Default {}
    impl Arbitrary for u8 {}
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
/// Functions in the group of a harness: enough for the permutations of the two states other than `i`.
pub const PERMUTATIONS: usize = 2;
/// What the harnesses say to `kani::unwind`.
pub const UNWIND: usize = 5;

/// Kani as a source of numbers.
#[derive(Debug)]
pub struct Any;

impl Pick for Any {
    fn pick(&mut self, below: usize) -> usize {
        let number = usize::from(kani::any::<u8>());
        kani::assume(number < below);
        number
    }
    fn word(&mut self, bits: usize) -> u64 {
        let word = u64::from(kani::any::<u8>());
        kani::assume(word >> bits == 0);
        word
    }
    fn assume(&mut self, holds: bool) -> bool {
        kani::assume(holds);
        true
    }
}

/// A run whose choices are Kani's.
pub fn run() -> Run<Any, STATES, PERMUTATIONS> {
    Run::new(Any, STATES, Sound)
}

/// Nothing is refuted, and something was claimed at all.
pub fn conclude(run: &Run<Any, STATES, PERMUTATIONS>) {
    kani::cover!(run.claims > 0, "the assumptions can be satisfied");
    assert!(run.refuted.is_none(), "a claim does not follow");
}

/// What a harness does, without Kani: counts.
#[cfg(test)]
mod turns {
    use std::cell::Cell;

    use kanon_refinement::concrete::Trial;
    use kanon_refinement::logic::SEVERAL;

    use super::{PERMUTATIONS, STATES, UNWIND};
    use crate::execute::{Pick, Run, Tape};
    use crate::obligations;

    /// Remembers the longest loop.
    #[derive(Clone, Copy, Debug, PartialEq)]
    struct Longest<'c>(&'c Cell<usize>);

    impl Trial for Longest<'_> {
        fn looped(&self, turns: usize) {
            self.0.set(self.0.get().max(turns));
        }
    }

    /// Like `Any`, goes on whatever was assumed and follows no hint, so it comes to every loop of the body.
    struct Blind<'t>(Tape<'t>);

    impl Pick for Blind<'_> {
        fn pick(&mut self, below: usize) -> usize {
            self.0.pick(below)
        }
        fn word(&mut self, bits: usize) -> u64 {
            self.0.word(bits)
        }
        fn assume(&mut self, _: bool) -> bool {
            true
        }
    }

    #[test]
    fn no_loop_of_a_harness_takes_more_turns_than_its_bound() {
        for o in obligations::all() {
            let longest = Cell::new(0);
            for seed in 1..20u64 {
                let tape = [seed.wrapping_mul(0x9e37_79b9_7f4a_7c15), seed, !seed];
                let pick = Blind(Tape::new(&tape));
                let mut run: Run<_, STATES, PERMUTATIONS, _> = Run::new(pick, STATES, Longest(&longest));
                obligations::run(o.function, &mut run);
                assert!(run.claims > 0, "{} claims nothing", o.id);
            }
            let turns = longest.get().max(SEVERAL);
            assert!(longest.get() > 0, "{}: no loop was counted", o.id);
            assert!(turns + 1 < UNWIND, "{}: a loop takes {turns} turns", o.id);
        }
    }

    /// The attribute of the harnesses takes a literal: it is the constant that the test above knows.
    #[test]
    fn harnesses_unwind_so_often() {
        let text = include_str!("obligations/mod.rs");
        assert_eq!(text.matches(&format!("kani::unwind({UNWIND})")).count(), 1);
        assert_eq!(text.matches("kani::unwind(").count(), 1);
    }

    /// The files of a harness have no loop that is not counted, no string and no allocation. Loops are `each` and
    /// `some` of the concrete reading, which tell their turns, and the two of `logic` with `SEVERAL`.
    #[test]
    fn nothing_of_a_harness_loops_uncounted_or_allocates() {
        const TEXTS: [(&str, &str); 18] = [
            ("logic", include_str!("../../refinement/src/logic.rs")),
            ("mc0", include_str!("../../refinement/src/mc0.rs")),
            ("mc1", include_str!("../../refinement/src/mc1.rs")),
            ("mc2", include_str!("../../refinement/src/mc2.rs")),
            ("rmc1", include_str!("../../refinement/src/rmc1.rs")),
            ("rmc2", include_str!("../../refinement/src/rmc2.rs")),
            ("wmc", include_str!("../../refinement/src/wmc.rs")),
            ("first", include_str!("../../refinement/src/first.rs")),
            ("lab", include_str!("../../refinement/src/lab.rs")),
            ("path", include_str!("../../refinement/src/path.rs")),
            ("concrete", include_str!("../../refinement/src/concrete.rs")),
            ("any", include_str!("any.rs")),
            ("schema", include_str!("schema.rs")),
            ("execute", include_str!("execute.rs")),
            ("plain", include_str!("obligations/plain.rs")),
            ("reduced", include_str!("obligations/reduced.rs")),
            ("stored", include_str!("obligations/stored.rs")),
            ("refining", include_str!("obligations/refining.rs")),
        ];
        const SIGNS: [&str; 17] = [
            "for ",
            "while ",
            "loop ",
            ".iter(",
            ".into_iter(",
            ".map(",
            ".all(",
            ".any(",
            ".fold(",
            ".find(",
            ".nth(",
            "vec!",
            "Vec<",
            "Vec::",
            "String",
            "format!",
            "name_of(",
        ];
        // What only the large shape, guided choices, tapes and planted mistakes do; and the four loops themselves.
        let parts = |text: &str, from: &str, to: &str| {
            let (at, end) = (text.find(from), if to.is_empty() { Some(text.len()) } else { text.find(to) });
            let (Some(at), Some(end)) = (at, end) else { panic!("{from} or {to} is gone") };
            format!("{}{}", &text[..at], &text[end..])
        };
        for (name, text) in TEXTS {
            let mut text = text.split("#[cfg(test)]").next().unwrap_or(text).to_owned();
            let mut loops = 0;
            match name {
                "concrete" => {
                    text = parts(&text, "    const IDENTITY", "impl<const N: usize, const G: usize> Shape");
                    text = parts(&text, "impl Shape for Large", "/// A set of states.");
                    text = parts(&text, "    /// How many states it has.", "    /// Whether it has none.");
                    text = parts(&text, "impl Trial for Without", "/// The reading itself");
                    loops = 2;
                }
                "execute" => {
                    text = parts(
                        &text,
                        "/// Guided choices",
                        "impl<P: Pick, const N: usize, const G: usize, T: Trial> Choose",
                    );
                    text = parts(&text, "/// A tape of words", "/// What a run saw.");
                    // The guided halves of `wmc` and `lab`.
                    text = parts(&text, "            let orb = l.rel_where", "            return wmc::");
                    text = parts(
                        &text,
                        "        for s in 0..self.logic.states()",
                        "        lab::Constants { wmc, rep }\n    }\n\n    fn path",
                    );
                }
                "logic" => {
                    text = parts(&text, "/// The name in a label", "");
                    loops = 2;
                }
                _ => {}
            }
            let code = text.lines().filter(|line| !line.trim_start().starts_with("//"));
            let unquoted = code.map(|line| line.split('"').step_by(2).collect::<String>());
            let found: Vec<String> = unquoted
                .filter(|line| SIGNS.iter().any(|sign| line.contains(sign)))
                .filter(|line| !line.starts_with("impl") && !line.starts_with("use "))
                .collect();
            assert_eq!(found.len(), loops, "{name}: {found:#?}");
            assert!(found.iter().all(|line| line.contains("while ")), "{name}: {found:#?}");
        }
    }
}
