//! mc0 ⊑ mc1. mc0 has no variables, so the relation is true; pass and fail strengthen their guards.

use super::{Glue, Simulates};
use crate::logic::{Clauses, Logic, Skip};
use crate::mc0::{self, Constants, Mc0};
use crate::mc1::{self, Mc1};

/// The relation.
#[derive(Clone, Copy, Debug)]
pub struct Mc0Mc1;

impl<L: Logic> Glue<L> for Mc0Mc1 {
    type Abstract = Mc0;
    type Concrete = Mc1<L>;
    const NAME: &'static str = "mc0_mc1";
    fn constants(_: &L, k: &Constants<L>) -> Constants<L> {
        k.clone()
    }
    fn abstraction(_: &L, _: &Constants<L>, _: &Mc1<L>) -> Mc0 {
        Mc0
    }
    fn relation(_: &L, _: &Constants<L>, _: &Mc0, _: &Mc1<L>, _: &mut impl Clauses<L>) {}
}

impl<L: Logic> Simulates<L, Mc0Mc1> for mc1::AddInv<L> {
    type Abstract = Skip<Mc0>;
    fn abstract_event(&self, _: &L, _: &Constants<L>, _: &Mc1<L>) -> Self::Abstract {
        Skip::default()
    }
}

impl<L: Logic> Simulates<L, Mc0Mc1> for mc1::AddErr<L> {
    type Abstract = Skip<Mc0>;
    fn abstract_event(&self, _: &L, _: &Constants<L>, _: &Mc1<L>) -> Self::Abstract {
        Skip::default()
    }
}

impl<L: Logic> Simulates<L, Mc0Mc1> for mc1::Pass {
    type Abstract = mc0::Pass;
    fn abstract_event(&self, _: &L, _: &Constants<L>, _: &Mc1<L>) -> Self::Abstract {
        mc0::Pass
    }
}

impl<L: Logic> Simulates<L, Mc0Mc1> for mc1::Fail {
    type Abstract = mc0::Fail;
    fn abstract_event(&self, _: &L, _: &Constants<L>, _: &Mc1<L>) -> Self::Abstract {
        mc0::Fail
    }
}
