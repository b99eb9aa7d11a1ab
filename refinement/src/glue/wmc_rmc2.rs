//! wmc ⊑ rmc2: the variables are the same, `orb` is equality of representatives, and what is stored in the
//! place of `s2` is `rep(s2)`.

use super::{Glue, Simulates};
use crate::logic::{Clauses, Logic, clause};
use crate::rmc1::Constants;
use crate::rmc2::{self, Rmc2};
use crate::wmc::{self, Wmc};

/// The relation.
#[derive(Clone, Copy, Debug)]
pub struct WmcRmc2;

impl<L: Logic> Glue<L> for WmcRmc2 {
    type Abstract = Wmc<L>;
    type Concrete = Rmc2<L>;
    const NAME: &'static str = "wmc_rmc2";
    fn constants(l: &L, k: &Constants<L>) -> wmc::Constants<L> {
        wmc::Constants { mc0: k.mc0.clone(), orb: wmc::same_rep(l, k) }
    }
    fn abstraction(_: &L, _: &Constants<L>, c: &Rmc2<L>) -> Wmc<L> {
        Wmc { rrac: c.rrac.clone(), runex: c.runex.clone(), rerr: c.rerr.clone() }
    }
    fn relation(l: &L, _: &Constants<L>, a: &Wmc<L>, c: &Rmc2<L>, v: &mut impl Clauses<L>) {
        clause!(l, v, "wmc_rmc2/glu1: rrac = rrac", l.same(&a.rrac, &c.rrac));
        clause!(l, v, "wmc_rmc2/glu2: runex = runex", l.same(&a.runex, &c.runex));
        clause!(l, v, "wmc_rmc2/glu3: rerr = rerr", l.same(&a.rerr, &c.rerr));
    }
}

impl<L: Logic> Simulates<L, WmcRmc2> for rmc2::AddInv<L> {
    type Abstract = wmc::AddInv<L>;
    fn abstract_event(&self, l: &L, k: &Constants<L>, _: &Rmc2<L>) -> Self::Abstract {
        wmc::AddInv { s1: self.s1.clone(), s2: self.s2.clone(), t: l.apply(&k.rep, &self.s2) }
    }
}

impl<L: Logic> Simulates<L, WmcRmc2> for rmc2::AddErr<L> {
    type Abstract = wmc::AddErr<L>;
    fn abstract_event(&self, l: &L, k: &Constants<L>, _: &Rmc2<L>) -> Self::Abstract {
        wmc::AddErr { s1: self.s1.clone(), s2: self.s2.clone(), t: l.apply(&k.rep, &self.s2) }
    }
}

impl<L: Logic> Simulates<L, WmcRmc2> for rmc2::Remove<L> {
    type Abstract = wmc::Remove<L>;
    fn abstract_event(&self, _: &L, _: &Constants<L>, _: &Rmc2<L>) -> Self::Abstract {
        wmc::Remove { s1: self.s1.clone() }
    }
}

impl<L: Logic> Simulates<L, WmcRmc2> for rmc2::Pass {
    type Abstract = wmc::Pass;
    fn abstract_event(&self, _: &L, _: &Constants<L>, _: &Rmc2<L>) -> Self::Abstract {
        wmc::Pass
    }
}

impl<L: Logic> Simulates<L, WmcRmc2> for rmc2::Fail {
    type Abstract = wmc::Fail;
    fn abstract_event(&self, _: &L, _: &Constants<L>, _: &Rmc2<L>) -> Self::Abstract {
        wmc::Fail
    }
}
