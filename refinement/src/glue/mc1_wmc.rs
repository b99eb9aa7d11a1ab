//! mc1 ⊑ wmc: `rac` and `err` are what the stored states stand for. An orbit that is stored a second time adds
//! nothing to them: then add_inv and add_err stand for skip.

use super::{Glue, Simulates};
use crate::logic::{Clauses, Logic, Skip, clause};
use crate::mc0;
use crate::mc1::{self, Mc1};
use crate::wmc::{self, Constants, Wmc};

/// The relation.
#[derive(Clone, Copy, Debug)]
pub struct Mc1Wmc;

impl<L: Logic> Glue<L> for Mc1Wmc {
    type Abstract = Mc1<L>;
    type Concrete = Wmc<L>;
    const NAME: &'static str = "mc1_wmc";
    fn constants(_: &L, k: &Constants<L>) -> mc0::Constants<L> {
        k.mc0.clone()
    }
    fn abstraction(l: &L, k: &Constants<L>, c: &Wmc<L>) -> Mc1<L> {
        Mc1 { rac: k.covered(l, &c.rrac), err: k.covered(l, &c.rerr) }
    }
    fn relation(l: &L, k: &Constants<L>, a: &Mc1<L>, c: &Wmc<L>, v: &mut impl Clauses<L>) {
        clause!(l, v, "mc1_wmc/glu1: rac = orb⁻¹[rrac]", l.same(&a.rac, &k.covered(l, &c.rrac)));
        clause!(l, v, "mc1_wmc/glu2: err = orb⁻¹[rerr]", l.same(&a.err, &k.covered(l, &c.rerr)));
    }
}

impl<L: Logic> Simulates<L, Mc1Wmc> for wmc::AddInv<L> {
    type Abstract = mc1::AddInv<L>;
    fn abstract_event(&self, l: &L, k: &Constants<L>, _: &Wmc<L>) -> Self::Abstract {
        mc1::AddInv { ss: k.covered(l, &l.single(&self.t)) }
    }
    fn stutters(&self, l: &L, k: &Constants<L>, m: &Wmc<L>) -> L::Bool {
        l.member(&self.s2, &k.covered(l, &m.rrac))
    }
}

impl<L: Logic> Simulates<L, Mc1Wmc> for wmc::AddErr<L> {
    type Abstract = mc1::AddErr<L>;
    fn abstract_event(&self, l: &L, k: &Constants<L>, _: &Wmc<L>) -> Self::Abstract {
        mc1::AddErr { ss: k.covered(l, &l.single(&self.t)) }
    }
    fn stutters(&self, l: &L, k: &Constants<L>, m: &Wmc<L>) -> L::Bool {
        l.member(&self.s2, &k.covered(l, &m.rerr))
    }
}

impl<L: Logic> Simulates<L, Mc1Wmc> for wmc::Remove<L> {
    type Abstract = Skip<Mc1<L>>;
    fn abstract_event(&self, _: &L, _: &Constants<L>, _: &Wmc<L>) -> Self::Abstract {
        Skip::default()
    }
}

impl<L: Logic> Simulates<L, Mc1Wmc> for wmc::Reopen<L> {
    type Abstract = Skip<Mc1<L>>;
    fn abstract_event(&self, _: &L, _: &Constants<L>, _: &Wmc<L>) -> Self::Abstract {
        Skip::default()
    }
}

impl<L: Logic> Simulates<L, Mc1Wmc> for wmc::Pass {
    type Abstract = mc1::Pass;
    fn abstract_event(&self, _: &L, _: &Constants<L>, _: &Wmc<L>) -> Self::Abstract {
        mc1::Pass
    }
}

impl<L: Logic> Simulates<L, Mc1Wmc> for wmc::Fail {
    type Abstract = mc1::Fail;
    fn abstract_event(&self, _: &L, _: &Constants<L>, _: &Wmc<L>) -> Self::Abstract {
        mc1::Fail
    }
}
