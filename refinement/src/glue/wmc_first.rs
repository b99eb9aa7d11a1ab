//! wmc ⊑ first: the variables are the same, and what is stored is `s2` itself.

use super::{Glue, Simulates};
use crate::first::{self, First};
use crate::logic::{Clauses, Logic, clause};
use crate::wmc::{self, Constants, Wmc};

/// The relation.
#[derive(Clone, Copy, Debug)]
pub struct WmcFirst;

impl<L: Logic> Glue<L> for WmcFirst {
    type Abstract = Wmc<L>;
    type Concrete = First<L>;
    const NAME: &'static str = "wmc_first";
    fn constants(_: &L, k: &Constants<L>) -> wmc::Constants<L> {
        k.clone()
    }
    fn abstraction(_: &L, _: &Constants<L>, c: &First<L>) -> Wmc<L> {
        Wmc { rrac: c.rrac.clone(), runex: c.runex.clone(), rerr: c.rerr.clone() }
    }
    fn relation(l: &L, _: &Constants<L>, a: &Wmc<L>, c: &First<L>, v: &mut impl Clauses<L>) {
        clause!(l, v, "wmc_first/glu1: rrac = rrac", l.same(&a.rrac, &c.rrac));
        clause!(l, v, "wmc_first/glu2: runex = runex", l.same(&a.runex, &c.runex));
        clause!(l, v, "wmc_first/glu3: rerr = rerr", l.same(&a.rerr, &c.rerr));
    }
}

impl<L: Logic> Simulates<L, WmcFirst> for first::AddInv<L> {
    type Abstract = wmc::AddInv<L>;
    fn abstract_event(&self, _: &L, _: &Constants<L>, _: &First<L>) -> Self::Abstract {
        wmc::AddInv { s1: self.s1.clone(), s2: self.s2.clone(), t: self.s2.clone() }
    }
}

impl<L: Logic> Simulates<L, WmcFirst> for first::AddErr<L> {
    type Abstract = wmc::AddErr<L>;
    fn abstract_event(&self, _: &L, _: &Constants<L>, _: &First<L>) -> Self::Abstract {
        wmc::AddErr { s1: self.s1.clone(), s2: self.s2.clone(), t: self.s2.clone() }
    }
}

impl<L: Logic> Simulates<L, WmcFirst> for first::Remove<L> {
    type Abstract = wmc::Remove<L>;
    fn abstract_event(&self, _: &L, _: &Constants<L>, _: &First<L>) -> Self::Abstract {
        wmc::Remove { s1: self.s1.clone() }
    }
}

impl<L: Logic> Simulates<L, WmcFirst> for first::Pass {
    type Abstract = wmc::Pass;
    fn abstract_event(&self, _: &L, _: &Constants<L>, _: &First<L>) -> Self::Abstract {
        wmc::Pass
    }
}

impl<L: Logic> Simulates<L, WmcFirst> for first::Fail {
    type Abstract = wmc::Fail;
    fn abstract_event(&self, _: &L, _: &Constants<L>, _: &First<L>) -> Self::Abstract {
        wmc::Fail
    }
}
