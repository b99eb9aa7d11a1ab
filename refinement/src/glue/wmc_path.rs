//! wmc ⊑ path: wmc's variables are part of path's; `par` and `old` only watch.

use super::{Glue, Simulates};
use crate::logic::{Clauses, Logic, clause};
use crate::path::{self, Constants, Path};
use crate::wmc::{self, Wmc};

/// The relation.
#[derive(Clone, Copy, Debug)]
pub struct WmcPath;

impl<L: Logic> Glue<L> for WmcPath {
    type Abstract = Wmc<L>;
    type Concrete = Path<L>;
    const NAME: &'static str = "wmc_path";
    fn constants(_: &L, k: &Constants<L>) -> wmc::Constants<L> {
        k.sym.clone()
    }
    fn abstraction(_: &L, _: &Constants<L>, c: &Path<L>) -> Wmc<L> {
        c.wmc.clone()
    }
    fn relation(l: &L, _: &Constants<L>, a: &Wmc<L>, c: &Path<L>, v: &mut impl Clauses<L>) {
        clause!(l, v, "wmc_path/glu1: rrac = rrac", l.same(&a.rrac, &c.wmc.rrac));
        clause!(l, v, "wmc_path/glu2: runex = runex", l.same(&a.runex, &c.wmc.runex));
        clause!(l, v, "wmc_path/glu3: rerr = rerr", l.same(&a.rerr, &c.wmc.rerr));
    }
}

impl<L: Logic> Simulates<L, WmcPath> for path::AddInv<L> {
    type Abstract = wmc::AddInv<L>;
    fn abstract_event(&self, _: &L, _: &Constants<L>, _: &Path<L>) -> Self::Abstract {
        self.wmc.clone()
    }
}

impl<L: Logic> Simulates<L, WmcPath> for path::AddErr<L> {
    type Abstract = wmc::AddErr<L>;
    fn abstract_event(&self, _: &L, _: &Constants<L>, _: &Path<L>) -> Self::Abstract {
        self.wmc.clone()
    }
}

impl<L: Logic> Simulates<L, WmcPath> for path::Remove<L> {
    type Abstract = wmc::Remove<L>;
    fn abstract_event(&self, _: &L, _: &Constants<L>, _: &Path<L>) -> Self::Abstract {
        self.wmc.clone()
    }
}
