//! wmc ⊑ lab: the variables are the same, and what is stored in the place of `s2` is its label.

use super::{Glue, Simulates};
use crate::lab::{self, Constants, Lab};
use crate::logic::{Clauses, Logic, clause};
use crate::wmc::{self, Wmc};

/// The relation.
#[derive(Clone, Copy, Debug)]
pub struct WmcLab;

impl<L: Logic> Glue<L> for WmcLab {
    type Abstract = Wmc<L>;
    type Concrete = Lab<L>;
    const NAME: &'static str = "wmc_lab";
    fn constants(_: &L, k: &Constants<L>) -> wmc::Constants<L> {
        k.wmc.clone()
    }
    fn abstraction(_: &L, _: &Constants<L>, c: &Lab<L>) -> Wmc<L> {
        Wmc { rrac: c.rrac.clone(), runex: c.runex.clone(), rerr: c.rerr.clone() }
    }
    fn relation(l: &L, _: &Constants<L>, a: &Wmc<L>, c: &Lab<L>, v: &mut impl Clauses<L>) {
        clause!(l, v, "wmc_lab/glu1: rrac = rrac", l.same(&a.rrac, &c.rrac));
        clause!(l, v, "wmc_lab/glu2: runex = runex", l.same(&a.runex, &c.runex));
        clause!(l, v, "wmc_lab/glu3: rerr = rerr", l.same(&a.rerr, &c.rerr));
    }
}

impl<L: Logic> Simulates<L, WmcLab> for lab::AddInv<L> {
    type Abstract = wmc::AddInv<L>;
    fn abstract_event(&self, l: &L, k: &Constants<L>, _: &Lab<L>) -> Self::Abstract {
        wmc::AddInv { s1: self.s1.clone(), s2: self.s2.clone(), t: l.apply(&k.rep, &self.s2) }
    }
}

impl<L: Logic> Simulates<L, WmcLab> for lab::AddErr<L> {
    type Abstract = wmc::AddErr<L>;
    fn abstract_event(&self, l: &L, k: &Constants<L>, _: &Lab<L>) -> Self::Abstract {
        wmc::AddErr { s1: self.s1.clone(), s2: self.s2.clone(), t: l.apply(&k.rep, &self.s2) }
    }
}

impl<L: Logic> Simulates<L, WmcLab> for lab::Remove<L> {
    type Abstract = wmc::Remove<L>;
    fn abstract_event(&self, _: &L, _: &Constants<L>, _: &Lab<L>) -> Self::Abstract {
        wmc::Remove { s1: self.s1.clone() }
    }
}

impl<L: Logic> Simulates<L, WmcLab> for lab::Pass {
    type Abstract = wmc::Pass;
    fn abstract_event(&self, _: &L, _: &Constants<L>, _: &Lab<L>) -> Self::Abstract {
        wmc::Pass
    }
}

impl<L: Logic> Simulates<L, WmcLab> for lab::Fail {
    type Abstract = wmc::Fail;
    fn abstract_event(&self, _: &L, _: &Constants<L>, _: &Lab<L>) -> Self::Abstract {
        wmc::Fail
    }
}
