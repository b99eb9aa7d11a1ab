//! wmc ⊑ rmc2: the variables are the same, and the witness is the permutation that Fig. 8 promises between
//! `s2` and `rep(s2)`. It is a parameter here: [`Witnessed`] is an event with its permutation.

use super::{Glue, Simulates};
use crate::logic::{Clauses, Event, Logic};
use crate::rmc1::Constants;
use crate::rmc2::{self, Rmc2};
use crate::wmc::{self, Wmc, is_automorphism};

/// The relation.
#[derive(Clone, Copy, Debug)]
pub struct WmcRmc2;

impl<L: Logic> Glue<L> for WmcRmc2 {
    type Abstract = Wmc<L>;
    type Concrete = Rmc2<L>;
    const NAME: &'static str = "wmc_rmc2";
    fn constants(k: &Constants<L>) -> &Constants<L> {
        k
    }
    fn abstraction(_: &L, _: &Constants<L>, c: &Rmc2<L>) -> Wmc<L> {
        Wmc { rrac: c.rrac.clone(), runex: c.runex.clone(), rerr: c.rerr.clone() }
    }
    fn relation(l: &L, _: &Constants<L>, a: &Wmc<L>, c: &Rmc2<L>, v: &mut impl Clauses<L>) {
        v("wmc_rmc2/glu1: rrac = rrac", l.same(&a.rrac, &c.rrac));
        v("wmc_rmc2/glu2: runex = runex", l.same(&a.runex, &c.runex));
        v("wmc_rmc2/glu3: rerr = rerr", l.same(&a.rerr, &c.rerr));
    }
}

impl<L: Logic> Simulates<L, WmcRmc2> for Witnessed<L, rmc2::AddInv<L>> {
    type Abstract = wmc::AddInv<L>;
    fn abstract_event(&self, _: &L, _: &Constants<L>, _: &Rmc2<L>) -> Self::Abstract {
        wmc::AddInv { s1: self.event.s1.clone(), s2: self.event.s2.clone(), p: self.p.clone() }
    }
}

impl<L: Logic> Simulates<L, WmcRmc2> for Witnessed<L, rmc2::AddErr<L>> {
    type Abstract = wmc::AddErr<L>;
    fn abstract_event(&self, _: &L, _: &Constants<L>, _: &Rmc2<L>) -> Self::Abstract {
        wmc::AddErr { s1: self.event.s1.clone(), s2: self.event.s2.clone(), p: self.p.clone() }
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

/// An event with the witness of its label.
#[derive(Clone, Debug)]
pub struct Witnessed<L: Logic, E> {
    /// The event.
    pub event: E,
    /// The permutation with `p(s2) = rep(s2)`.
    pub p: L::Map,
}

impl<L: Logic> Event<L> for Witnessed<L, rmc2::AddInv<L>> {
    type Machine = Rmc2<L>;
    const NAME: &'static str = <rmc2::AddInv<L> as Event<L>>::NAME;
    fn guard(&self, l: &L, k: &Constants<L>, m: &Rmc2<L>, v: &mut impl Clauses<L>) {
        self.event.guard(l, k, m, v);
        let label = l.apply(&k.rep, &self.event.s2);
        v("wmc_rmc2/wit1: p ∈ aut", is_automorphism(l, k, &self.p));
        v("wmc_rmc2/wit2: p(s2) = rep(s2)", l.eq(&l.apply(&self.p, &self.event.s2), &label));
    }
    fn action(&self, l: &L, k: &Constants<L>, m: &Rmc2<L>) -> Rmc2<L> {
        self.event.action(l, k, m)
    }
}

impl<L: Logic> Event<L> for Witnessed<L, rmc2::AddErr<L>> {
    type Machine = Rmc2<L>;
    const NAME: &'static str = <rmc2::AddErr<L> as Event<L>>::NAME;
    fn guard(&self, l: &L, k: &Constants<L>, m: &Rmc2<L>, v: &mut impl Clauses<L>) {
        self.event.guard(l, k, m, v);
        let label = l.apply(&k.rep, &self.event.s2);
        v("wmc_rmc2/wit1: p ∈ aut", is_automorphism(l, k, &self.p));
        v("wmc_rmc2/wit2: p(s2) = rep(s2)", l.eq(&l.apply(&self.p, &self.event.s2), &label));
    }
    fn action(&self, l: &L, k: &Constants<L>, m: &Rmc2<L>) -> Rmc2<L> {
        self.event.action(l, k, m)
    }
}
