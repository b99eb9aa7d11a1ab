//! wmc ⊑ lab: the variables are the same, and the witness is what the labelling returns beside the label. It is
//! a parameter here: [`Witnessed`] is an event with its permutation.

use super::{Glue, Simulates};
use crate::lab::{self, Lab};
use crate::logic::{Clauses, Event, Logic};
use crate::rmc1::Constants;
use crate::wmc::{self, Wmc, is_automorphism};

/// The relation.
#[derive(Clone, Copy, Debug)]
pub struct WmcLab;

impl<L: Logic> Glue<L> for WmcLab {
    type Abstract = Wmc<L>;
    type Concrete = Lab<L>;
    const NAME: &'static str = "wmc_lab";
    fn constants(k: &Constants<L>) -> &Constants<L> {
        k
    }
    fn abstraction(_: &L, _: &Constants<L>, c: &Lab<L>) -> Wmc<L> {
        Wmc { rrac: c.rrac.clone(), runex: c.runex.clone(), rerr: c.rerr.clone() }
    }
    fn relation(l: &L, _: &Constants<L>, a: &Wmc<L>, c: &Lab<L>, v: &mut impl Clauses<L>) {
        v("wmc_lab/glu1: rrac = rrac", l.same(&a.rrac, &c.rrac));
        v("wmc_lab/glu2: runex = runex", l.same(&a.runex, &c.runex));
        v("wmc_lab/glu3: rerr = rerr", l.same(&a.rerr, &c.rerr));
    }
}

impl<L: Logic> Simulates<L, WmcLab> for Witnessed<L, lab::AddInv<L>> {
    type Abstract = wmc::AddInv<L>;
    fn abstract_event(&self, _: &L, _: &Constants<L>, _: &Lab<L>) -> Self::Abstract {
        wmc::AddInv { s1: self.event.s1.clone(), s2: self.event.s2.clone(), p: self.p.clone() }
    }
}

impl<L: Logic> Simulates<L, WmcLab> for Witnessed<L, lab::AddErr<L>> {
    type Abstract = wmc::AddErr<L>;
    fn abstract_event(&self, _: &L, _: &Constants<L>, _: &Lab<L>) -> Self::Abstract {
        wmc::AddErr { s1: self.event.s1.clone(), s2: self.event.s2.clone(), p: self.p.clone() }
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

/// An event with the witness of its label.
#[derive(Clone, Debug)]
pub struct Witnessed<L: Logic, E> {
    /// The event.
    pub event: E,
    /// The permutation with `p(s2) = rep(s2)`.
    pub p: L::Map,
}

impl<L: Logic> Event<L> for Witnessed<L, lab::AddInv<L>> {
    type Machine = Lab<L>;
    const NAME: &'static str = <lab::AddInv<L> as Event<L>>::NAME;
    fn guard(&self, l: &L, k: &Constants<L>, m: &Lab<L>, v: &mut impl Clauses<L>) {
        self.event.guard(l, k, m, v);
        let label = l.apply(&k.rep, &self.event.s2);
        v("wmc_lab/wit1: p ∈ aut", is_automorphism(l, k, &self.p));
        v("wmc_lab/wit2: p(s2) = rep(s2)", l.eq(&l.apply(&self.p, &self.event.s2), &label));
    }
    fn action(&self, l: &L, k: &Constants<L>, m: &Lab<L>) -> Lab<L> {
        self.event.action(l, k, m)
    }
}

impl<L: Logic> Event<L> for Witnessed<L, lab::AddErr<L>> {
    type Machine = Lab<L>;
    const NAME: &'static str = <lab::AddErr<L> as Event<L>>::NAME;
    fn guard(&self, l: &L, k: &Constants<L>, m: &Lab<L>, v: &mut impl Clauses<L>) {
        self.event.guard(l, k, m, v);
        let label = l.apply(&k.rep, &self.event.s2);
        v("wmc_lab/wit1: p ∈ aut", is_automorphism(l, k, &self.p));
        v("wmc_lab/wit2: p(s2) = rep(s2)", l.eq(&l.apply(&self.p, &self.event.s2), &label));
    }
    fn action(&self, l: &L, k: &Constants<L>, m: &Lab<L>) -> Lab<L> {
        self.event.action(l, k, m)
    }
}
