//! wmc ⊑ first: the variables are the same, and the witness is the identity.

use super::{Glue, Simulates};
use crate::first::{self, First};
use crate::logic::{Clauses, Event, Logic};
use crate::rmc1::Constants;
use crate::wmc::{self, Wmc};

/// The relation.
#[derive(Clone, Copy, Debug)]
pub struct WmcFirst;

impl<L: Logic> Glue<L> for WmcFirst {
    type Abstract = Wmc<L>;
    type Concrete = First<L>;
    const NAME: &'static str = "wmc_first";
    fn constants(k: &Constants<L>) -> &Constants<L> {
        k
    }
    fn abstraction(_: &L, _: &Constants<L>, c: &First<L>) -> Wmc<L> {
        Wmc { rrac: c.rrac.clone(), runex: c.runex.clone(), rerr: c.rerr.clone() }
    }
    fn relation(l: &L, _: &Constants<L>, a: &Wmc<L>, c: &First<L>, v: &mut impl Clauses<L>) {
        v("wmc_first/glu1: rrac = rrac", l.same(&a.rrac, &c.rrac));
        v("wmc_first/glu2: runex = runex", l.same(&a.runex, &c.runex));
        v("wmc_first/glu3: rerr = rerr", l.same(&a.rerr, &c.rerr));
    }
}

impl<L: Logic> Simulates<L, WmcFirst> for Unmoved<L, first::AddInv<L>> {
    type Abstract = wmc::AddInv<L>;
    fn abstract_event(&self, _: &L, _: &Constants<L>, _: &First<L>) -> Self::Abstract {
        wmc::AddInv { s1: self.event.s1.clone(), s2: self.event.s2.clone(), p: self.id.clone() }
    }
}

impl<L: Logic> Simulates<L, WmcFirst> for Unmoved<L, first::AddErr<L>> {
    type Abstract = wmc::AddErr<L>;
    fn abstract_event(&self, _: &L, _: &Constants<L>, _: &First<L>) -> Self::Abstract {
        wmc::AddErr { s1: self.event.s1.clone(), s2: self.event.s2.clone(), p: self.id.clone() }
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

/// An event with the identity beside it.
#[derive(Clone, Debug)]
pub struct Unmoved<L: Logic, E> {
    /// The event.
    pub event: E,
    /// `id(S)`.
    pub id: L::Map,
}

impl<L: Logic> Event<L> for Unmoved<L, first::AddInv<L>> {
    type Machine = First<L>;
    const NAME: &'static str = <first::AddInv<L> as Event<L>>::NAME;
    fn guard(&self, l: &L, k: &Constants<L>, m: &First<L>, v: &mut impl Clauses<L>) {
        self.event.guard(l, k, m, v);
        v("wmc_first/wit1: id(s) = s", l.forall(|s| l.eq(&l.apply(&self.id, s), s)));
    }
    fn action(&self, l: &L, k: &Constants<L>, m: &First<L>) -> First<L> {
        self.event.action(l, k, m)
    }
}

impl<L: Logic> Event<L> for Unmoved<L, first::AddErr<L>> {
    type Machine = First<L>;
    const NAME: &'static str = <first::AddErr<L> as Event<L>>::NAME;
    fn guard(&self, l: &L, k: &Constants<L>, m: &First<L>, v: &mut impl Clauses<L>) {
        self.event.guard(l, k, m, v);
        v("wmc_first/wit1: id(s) = s", l.forall(|s| l.eq(&l.apply(&self.id, s), s)));
    }
    fn action(&self, l: &L, k: &Constants<L>, m: &First<L>) -> First<L> {
        self.event.action(l, k, m)
    }
}
