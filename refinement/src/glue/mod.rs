//! The gluing relations, one file each: how the variables of an abstract machine are read off those of the
//! concrete one, and which abstract event a concrete event stands for.
//!
//! Every relation of the chain determines the abstract variables from the concrete ones (same names are equal;
//! rmc1/inv6 to inv8 determine the unreduced ones), so it is written as a function, and the relation is
//! equality with its value.

use crate::logic::{Clauses, Event, Logic, Machine};

pub mod mc0_mc1;
pub mod mc1_mc2;
pub mod mc1_rmc1;
pub mod mc1_wmc;
pub mod rmc1_rmc2;
pub mod wmc_first;
pub mod wmc_lab;
pub mod wmc_path;
pub mod wmc_rmc2;

/// The constants of a machine.
pub type ConstantsOf<L, M> = <M as Machine<L>>::Constants;

/// A gluing relation between an abstract and a concrete machine.
pub trait Glue<L: Logic> {
    /// The machine above.
    type Abstract: Machine<L>;
    /// The machine below.
    type Concrete: Machine<L>;
    /// `mc1_mc2`
    const NAME: &'static str;
    /// The abstract constants, from the concrete ones.
    fn constants(l: &L, k: &ConstantsOf<L, Self::Concrete>) -> ConstantsOf<L, Self::Abstract>;
    /// The abstract variables that belong to the concrete ones.
    fn abstraction(l: &L, k: &ConstantsOf<L, Self::Concrete>, c: &Self::Concrete) -> Self::Abstract;
    /// The relation.
    fn relation(
        l: &L,
        k: &ConstantsOf<L, Self::Concrete>,
        a: &Self::Abstract,
        c: &Self::Concrete,
        v: &mut impl Clauses<L>,
    );
}

/// An event that simulates an abstract one.
pub trait Simulates<L: Logic, G: Glue<L>>: Event<L, Machine = G::Concrete> {
    /// The abstract event.
    type Abstract: Event<L, Machine = G::Abstract>;
    /// With these parameters.
    fn abstract_event(&self, l: &L, k: &ConstantsOf<L, G::Concrete>, c: &G::Concrete) -> Self::Abstract;
    /// When it stands for skip instead.
    fn stutters(&self, l: &L, _k: &ConstantsOf<L, G::Concrete>, _c: &G::Concrete) -> L::Bool {
        l.not(&l.truth())
    }
}
