//! mc1 ⊑ mc2: `rac` and `err` keep their names and meaning. add_inv and add_err add one state, remove is new.

use super::{Glue, Simulates};
use crate::logic::{Clauses, Logic, Skip, clause};
use crate::mc0::Constants;
use crate::mc1::{self, Mc1};
use crate::mc2::{self, Mc2};

/// The relation.
#[derive(Clone, Copy, Debug)]
pub struct Mc1Mc2;

impl<L: Logic> Glue<L> for Mc1Mc2 {
    type Abstract = Mc1<L>;
    type Concrete = Mc2<L>;
    const NAME: &'static str = "mc1_mc2";
    fn constants(_: &L, k: &Constants<L>) -> Constants<L> {
        k.clone()
    }
    fn abstraction(_: &L, _: &Constants<L>, c: &Mc2<L>) -> Mc1<L> {
        Mc1 { rac: c.rac.clone(), err: c.err.clone() }
    }
    fn relation(l: &L, _: &Constants<L>, a: &Mc1<L>, c: &Mc2<L>, v: &mut impl Clauses<L>) {
        clause!(l, v, "mc1_mc2/glu1: rac = rac", l.same(&a.rac, &c.rac));
        clause!(l, v, "mc1_mc2/glu2: err = err", l.same(&a.err, &c.err));
    }
}

impl<L: Logic> Simulates<L, Mc1Mc2> for mc2::AddInv<L> {
    type Abstract = mc1::AddInv<L>;
    fn abstract_event(&self, l: &L, _: &Constants<L>, _: &Mc2<L>) -> Self::Abstract {
        mc1::AddInv { ss: l.single(&self.s2) }
    }
}

impl<L: Logic> Simulates<L, Mc1Mc2> for mc2::AddErr<L> {
    type Abstract = mc1::AddErr<L>;
    fn abstract_event(&self, l: &L, _: &Constants<L>, _: &Mc2<L>) -> Self::Abstract {
        mc1::AddErr { ss: l.single(&self.s2) }
    }
}

impl<L: Logic> Simulates<L, Mc1Mc2> for mc2::Remove<L> {
    type Abstract = Skip<Mc1<L>>;
    fn abstract_event(&self, _: &L, _: &Constants<L>, _: &Mc2<L>) -> Self::Abstract {
        Skip::default()
    }
}

impl<L: Logic> Simulates<L, Mc1Mc2> for mc2::Pass {
    type Abstract = mc1::Pass;
    fn abstract_event(&self, _: &L, _: &Constants<L>, _: &Mc2<L>) -> Self::Abstract {
        mc1::Pass
    }
}

impl<L: Logic> Simulates<L, Mc1Mc2> for mc2::Fail {
    type Abstract = mc1::Fail;
    fn abstract_event(&self, _: &L, _: &Constants<L>, _: &Mc2<L>) -> Self::Abstract {
        mc1::Fail
    }
}
