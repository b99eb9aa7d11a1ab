//! mc1 ⊑ rmc1: `rac` and `err` keep their names and meaning. add_inv and add_err add a whole orbit, remove is
//! new.

use super::{Glue, Simulates};
use crate::logic::{Clauses, Logic, Skip, clause};
use crate::mc0;
use crate::mc1::{self, Mc1};
use crate::rmc1::{self, Constants, Rmc1};

/// The relation.
#[derive(Clone, Copy, Debug)]
pub struct Mc1Rmc1;

impl<L: Logic> Glue<L> for Mc1Rmc1 {
    type Abstract = Mc1<L>;
    type Concrete = Rmc1<L>;
    const NAME: &'static str = "mc1_rmc1";
    fn constants(_: &L, k: &Constants<L>) -> mc0::Constants<L> {
        k.mc0.clone()
    }
    fn abstraction(_: &L, _: &Constants<L>, c: &Rmc1<L>) -> Mc1<L> {
        Mc1 { rac: c.rac.clone(), err: c.err.clone() }
    }
    fn relation(l: &L, _: &Constants<L>, a: &Mc1<L>, c: &Rmc1<L>, v: &mut impl Clauses<L>) {
        clause!(l, v, "mc1_rmc1/glu1: rac = rac", l.same(&a.rac, &c.rac));
        clause!(l, v, "mc1_rmc1/glu2: err = err", l.same(&a.err, &c.err));
    }
}

impl<L: Logic> Simulates<L, Mc1Rmc1> for rmc1::AddInv<L> {
    type Abstract = mc1::AddInv<L>;
    fn abstract_event(&self, l: &L, k: &Constants<L>, _: &Rmc1<L>) -> Self::Abstract {
        mc1::AddInv { ss: k.flood(l, &l.apply(&k.rep, &self.s2)) }
    }
}

impl<L: Logic> Simulates<L, Mc1Rmc1> for rmc1::AddErr<L> {
    type Abstract = mc1::AddErr<L>;
    fn abstract_event(&self, l: &L, k: &Constants<L>, _: &Rmc1<L>) -> Self::Abstract {
        mc1::AddErr { ss: k.flood(l, &l.apply(&k.rep, &self.s2)) }
    }
}

impl<L: Logic> Simulates<L, Mc1Rmc1> for rmc1::Remove<L> {
    type Abstract = Skip<Mc1<L>>;
    fn abstract_event(&self, _: &L, _: &Constants<L>, _: &Rmc1<L>) -> Self::Abstract {
        Skip::default()
    }
}

impl<L: Logic> Simulates<L, Mc1Rmc1> for rmc1::Pass {
    type Abstract = mc1::Pass;
    fn abstract_event(&self, _: &L, _: &Constants<L>, _: &Rmc1<L>) -> Self::Abstract {
        mc1::Pass
    }
}

impl<L: Logic> Simulates<L, Mc1Rmc1> for rmc1::Fail {
    type Abstract = mc1::Fail;
    fn abstract_event(&self, _: &L, _: &Constants<L>, _: &Rmc1<L>) -> Self::Abstract {
        mc1::Fail
    }
}
