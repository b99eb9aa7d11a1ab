//! rmc1 ⊑ rmc2: the reduced variables keep their names and meaning; the others are the orbits of what is stored
//! (rmc1/inv6 to inv8), which is all that remains of them.

use super::{Glue, Simulates};
use crate::logic::{Clauses, Logic, clause};
use crate::rmc1::{self, Constants, Rmc1};
use crate::rmc2::{self, Rmc2};

/// The relation.
#[derive(Clone, Copy, Debug)]
pub struct Rmc1Rmc2;

impl<L: Logic> Glue<L> for Rmc1Rmc2 {
    type Abstract = Rmc1<L>;
    type Concrete = Rmc2<L>;
    const NAME: &'static str = "rmc1_rmc2";
    fn constants(_: &L, k: &Constants<L>) -> Constants<L> {
        k.clone()
    }
    fn abstraction(l: &L, k: &Constants<L>, c: &Rmc2<L>) -> Rmc1<L> {
        Rmc1 {
            rac: l.preimage(&k.rep, &c.rrac),
            unex: l.preimage(&k.rep, &c.runex),
            err: l.preimage(&k.rep, &c.rerr),
            rrac: c.rrac.clone(),
            runex: c.runex.clone(),
            rerr: c.rerr.clone(),
        }
    }
    fn relation(l: &L, k: &Constants<L>, a: &Rmc1<L>, c: &Rmc2<L>, v: &mut impl Clauses<L>) {
        clause!(l, v, "rmc1_rmc2/glu1: rrac = rrac", l.same(&a.rrac, &c.rrac));
        clause!(l, v, "rmc1_rmc2/glu2: runex = runex", l.same(&a.runex, &c.runex));
        clause!(l, v, "rmc1_rmc2/glu3: rerr = rerr", l.same(&a.rerr, &c.rerr));
        clause!(l, v, "rmc1_rmc2/glu4: rac = rep⁻¹[rrac]", l.same(&a.rac, &l.preimage(&k.rep, &c.rrac)));
        clause!(l, v, "rmc1_rmc2/glu5: unex = rep⁻¹[runex]", l.same(&a.unex, &l.preimage(&k.rep, &c.runex)));
        clause!(l, v, "rmc1_rmc2/glu6: err = rep⁻¹[rerr]", l.same(&a.err, &l.preimage(&k.rep, &c.rerr)));
    }
}

impl<L: Logic> Simulates<L, Rmc1Rmc2> for rmc2::AddInv<L> {
    type Abstract = rmc1::AddInv<L>;
    fn abstract_event(&self, _: &L, _: &Constants<L>, _: &Rmc2<L>) -> Self::Abstract {
        rmc1::AddInv { s1: self.s1.clone(), s2: self.s2.clone() }
    }
}

impl<L: Logic> Simulates<L, Rmc1Rmc2> for rmc2::AddErr<L> {
    type Abstract = rmc1::AddErr<L>;
    fn abstract_event(&self, _: &L, _: &Constants<L>, _: &Rmc2<L>) -> Self::Abstract {
        rmc1::AddErr { s1: self.s1.clone(), s2: self.s2.clone() }
    }
}

impl<L: Logic> Simulates<L, Rmc1Rmc2> for rmc2::Remove<L> {
    type Abstract = rmc1::Remove<L>;
    fn abstract_event(&self, _: &L, _: &Constants<L>, _: &Rmc2<L>) -> Self::Abstract {
        rmc1::Remove { s1: self.s1.clone() }
    }
}

impl<L: Logic> Simulates<L, Rmc1Rmc2> for rmc2::Pass {
    type Abstract = rmc1::Pass;
    fn abstract_event(&self, _: &L, _: &Constants<L>, _: &Rmc2<L>) -> Self::Abstract {
        rmc1::Pass
    }
}

impl<L: Logic> Simulates<L, Rmc1Rmc2> for rmc2::Fail {
    type Abstract = rmc1::Fail;
    fn abstract_event(&self, _: &L, _: &Constants<L>, _: &Rmc2<L>) -> Self::Abstract {
        rmc1::Fail
    }
}
