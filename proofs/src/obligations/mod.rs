//! The obligations, each written once.
//!
//! | kind | says |
//! |---|---|
//! | INI | the initialisation establishes the invariant (of a gluing relation: the two are related) |
//! | INV | the event preserves the invariant |
//! | SIM | the event has an abstract step under the gluing relation, whose guard its own implies, or is skip |
//! |     | (remove of mc2 and rmc1 is skip and leaves `rac` and `err` alone: there is nothing to prove) |
//! | VAR | the event makes the variant smaller |
//! | DLF | some event is enabled: with VAR, one of pass and fail is reached |
//! | EXC | pass and fail exclude each other |
//! | AST, LEM | Fig. 10's assertions; the fixpoint lemma |
//! | REA | pass ⇒ what was explored is all that is reachable |
//! | STA | a guard is stable under another thread's event, or another state's |
//! | NEXT, END | an expansion in parts grows by each arrival, and ends in remove |
//! | ENA | labels disable nothing |
//! | EXA, UNF | traces are paths as they stand; they can be unfolded |

use kanon_refinement::concrete::Sound;

use crate::choose::Choose;
use crate::execute::{self, Seen};
use crate::search::{self, Count};
use crate::smt::Script;

pub mod plain;
pub mod reduced;
pub mod refining;
pub mod stored;

/// What a table knows of an obligation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Obligation {
    /// `mc2/remove/INV`
    pub id: &'static str,
    /// Its function, which is also the name of its Kani harness.
    pub function: &'static str,
    /// The source file of the function, below proofs/src.
    pub file: &'static str,
    /// Where the paper has it.
    pub figure: &'static str,
    /// In words.
    pub about: &'static str,
}

/// Writes the functions of a file, their table, and a way to run one by number.
macro_rules! obligations {
    ($($function:ident $id:literal $figure:literal $about:literal => |$c:ident| $body:block)*) => {
        $(
            #[doc = concat!("`", $id, ": ", $about, "`")]
            pub fn $function<C: Choose>($c: &mut C) $body
        )*

        /// The obligations of this file.
        pub const TABLE: &[$crate::obligations::Obligation] = &[
            $($crate::obligations::Obligation {
                id: $id,
                function: stringify!($function),
                file: file!(),
                figure: $figure,
                about: $about,
            }),*
        ];

        /// Runs the obligation with this name.
        pub fn run<C: Choose>(function: &str, c: &mut C) -> bool {
            match function {
                $(stringify!($function) => $function(c),)*
                _ => return false,
            }
            true
        }

        /// Kani harnesses, one for each obligation.
        #[cfg(any(kani, test))]
        #[cfg_attr(not(kani), allow(dead_code))]
        mod harness {
            $(
                // The bound is derived in `kani_reading`, and a test there counts.
                #[cfg_attr(kani, kani::proof, kani::unwind(5))]
                fn $function() {
                    let mut run = $crate::kani_reading::run();
                    super::$function(&mut run);
                    $crate::kani_reading::conclude(&run);
                }
            )*
        }
    };
}
pub(crate) use obligations;

/// All obligations that every reading can do, in the order of the chain.
pub fn all() -> impl Iterator<Item = &'static Obligation> {
    [plain::TABLE, reduced::TABLE, stored::TABLE, refining::TABLE].into_iter().flatten()
}

/// Runs the obligation with this name.
///
/// # Panics
/// If there is none.
pub fn run<C: Choose>(function: &str, c: &mut C) {
    let known = plain::run(function, c)
        || reduced::run(function, c)
        || stored::run(function, c)
        || refining::run(function, c);
    assert!(known, "no obligation is called {function}");
}

/// Runs the obligation on every choice over exactly `states` states ([`search::every`]). Compiled here, once.
///
/// # Panics
/// If there is none with this name, or for other numbers of states than 1 to 3.
pub fn enumerate(function: &str, states: usize, planted: Option<&'static str>) -> Count {
    match states {
        1 => search::every::<1, 2>(planted, &|c: &mut _| run(function, c)),
        2 => search::every::<2, 2>(planted, &|c: &mut _| run(function, c)),
        3 => search::every::<3, 2>(planted, &|c: &mut _| run(function, c)),
        _ => panic!("enumerated are systems of 1 to 3 states"),
    }
}

/// Runs the obligation on one tape, over at most 64 states and 8 permutations ([`execute::once`]). Compiled here, once.
///
/// # Panics
/// If there is none with this name.
pub fn try_once(function: &str, states: usize, tape: &[u64]) -> Seen {
    execute::once::<64, 8, _>(states, tape, Sound, &|c: &mut _| run(function, c))
}

/// The SMT script of the obligation. Compiled here, once.
///
/// # Panics
/// If there is none with this name.
pub fn script(function: &str, planted: Option<&'static str>) -> Script {
    Script::planting(planted, |c| run(function, c))
}
