//! The refinement chain of symmetry-reduced model checking, as code that ships.
//!
//! Turner, Butler and Leuschel ("A Refinement-Based Correctness Proof of Symmetry Reduced Model Checking")
//! develop a model checker in B: `mc0` says what the answer is, `mc1` that states are reached and checked,
//! `mc2` is plain model checking, `rmc1` permutation flooding, `rmc2` classical symmetry reduction. Here each
//! machine is a module with the paper's names, figure numbers and clause order:
//!
//! ```text
//! mc0 ⊑ mc1 ⊑ mc2
//!         ⊑ rmc1 ⊑ rmc2
//!         ⊑ wmc  ⊑ rmc2, first, lab, path        (ours)
//! ```
//!
//! - [`logic`]: the small logic in which guards, actions, invariants and gluing relations are written once, to
//!   be read concretely ([`concrete`]) or as formulas (kanon-proofs).
//! - [`mc0`], [`mc1`], [`mc2`], [`rmc1`], [`rmc2`], [`wmc`], [`first`], [`lab`], [`path`]: the machines.
//! - [`glue`]: the gluing relations, one file each.
//! - [`kernel`], [`frontier`]: the last machine in production form, with tokens for its guards.
//! - [`system`]: a system of your own, checked in a few lines.
//!
//! kanon-proofs has the obligations: z3 and cvc5 discharge each for every number of states. Kani has been run on an
//! earlier form of the harnesses only (0.67.0: 15 of 150 proved as they were, 116 in a trial repair, none refuted), not
//! on the present ones; and that [`kernel`] agrees with the machines is executed, not proved. docs/refinement.md has
//! the details, and the deviations from the paper.
//!
//! # An invariant, executed
//!
//! ```
//! use kanon_refinement::concrete::{Concrete, Large};
//! use kanon_refinement::logic::{Broken, Event, Logic, Machine, check, enabled};
//! use kanon_refinement::{mc0, mc2};
//!
//! let l = Concrete::<Large>::new(3, 1); // S = {0, 1, 2}
//! let mut tr = l.no_pairs();
//! tr.insert(0, 1);
//! tr.insert(1, 2);
//! let k = mc0::Constants { i: 0, inv: l.set_where(|_| true), reach: l.least(0, &tr), tr };
//!
//! let m = mc2::Mc2::initialisation(&l, &k);
//! let e = mc2::AddInv { s1: 0, s2: 1 };
//! assert!(enabled(&e, &l, &k, &m));
//! let mut m = e.action(&l, &k, &m);
//! assert_eq!(check(&m, &l, &k), Ok(()));
//!
//! m.unex.remove(1); // not an event: 2 has not been seen
//! assert_eq!(check(&m, &l, &k), Err(Broken("mc2/inv2: tr[rac ∖ unex] ⊆ rac ∪ err")));
//! ```
#![forbid(unsafe_code)]
#![warn(missing_docs)]
#![no_std]

extern crate alloc;

/// Whether a mistake is planted at this place of the kernel: never. The tests of kanon-proofs compile kernel.rs a second
/// time with another meaning.
macro_rules! planted {
    ($label:literal) => {
        false
    };
}

pub mod concrete;
pub mod first;
pub mod frontier;
pub mod glue;
pub mod kernel;
pub mod lab;
pub mod logic;
pub mod mc0;
pub mod mc1;
pub mod mc2;
pub mod path;
pub mod rmc1;
pub mod rmc2;
pub mod system;
pub mod wmc;
