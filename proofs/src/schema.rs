//! The kinds of obligation, each written once for all machines and events.

use kanon_refinement::glue::{ConstantsOf, Glue, Simulates};
use kanon_refinement::logic::{Event, Logic, Machine, enabled};

use crate::choose::Choose;

/// Assumes every clause that `clauses` names.
macro_rules! assume_all {
    ($c:expr, |$l:ident, $v:ident| $body:expr) => {{
        if $c.alive() {
            let $l = $c.logic();
            let $v = &mut |label: &'static str, holds| $c.assume(label, holds);
            $body;
        }
    }};
}

/// Proves every clause that `clauses` names.
macro_rules! prove_all {
    ($c:expr, |$l:ident, $v:ident| $body:expr) => {{
        if $c.alive() {
            let $l = $c.logic();
            let $v = &mut |label: &'static str, holds| $c.prove(label, holds);
            $body;
        }
    }};
}

pub(crate) use {assume_all, prove_all};

/// INI: the initialisation establishes the invariant.
pub fn establish<C: Choose, M: Machine<C::L>>(c: &mut C, k: &M::Constants) {
    let l = c.logic();
    let m = M::initialisation(&l, k);
    prove_all!(c, |l, v| m.invariant(&l, k, v));
}

/// INI of a gluing relation: the two initialisations are related.
pub fn establish_glue<C: Choose, G: Glue<C::L>>(c: &mut C, k: &ConstantsOf<C::L, G::Concrete>) {
    let l = c.logic();
    let a = G::Abstract::initialisation(&l, &G::constants(&l, k));
    let m = G::Concrete::initialisation(&l, k);
    prove_all!(c, |l, v| G::relation(&l, k, &a, &m, v));
}

/// INV: the event preserves the machine's own invariant.
pub fn preserve<C: Choose, E: Event<C::L>>(
    c: &mut C,
    k: &ConstantsOf<C::L, E::Machine>,
    m: &E::Machine,
    e: &E,
) {
    assume_all!(c, |l, v| e.guard(&l, k, m, v));
    let after = e.action(&c.logic(), k, m);
    prove_all!(c, |l, v| after.invariant(&l, k, v));
}

/// SIM: the event has an abstract step (its guard holds, and the machines are related afterwards), or it is
/// skip (they are related with the abstract one unchanged). The first half is guard strengthening.
pub fn simulate<C: Choose, G: Glue<C::L>, E: Simulates<C::L, G>>(
    c: &mut C,
    k: &ConstantsOf<C::L, G::Concrete>,
    m: &G::Concrete,
    e: &E,
) {
    assume_all!(c, |l, v| e.guard(&l, k, m, v));
    if !c.alive() {
        return;
    }
    let l = c.logic();
    let a = G::abstraction(&l, k, m);
    let stutters = e.stutters(&l, k, m);
    let step = e.abstract_event(&l, k, m);
    let ka = G::constants(&l, k);
    let (after_a, after) = (step.action(&l, &ka, &a), e.action(&l, k, m));
    step.guard(&l, &ka, &a, &mut |label: &'static str, holds| {
        c.prove(label, l.or(&stutters, &holds));
    });
    G::relation(&l, k, &after_a, &after, &mut |label: &'static str, holds| {
        c.prove(label, l.or(&stutters, &holds));
    });
    G::relation(&l, k, &a, &after, &mut |label: &'static str, holds| {
        c.prove(label, l.implies(&stutters, &holds));
    });
}

/// VAR: the event makes the variant smaller.
pub fn decrease<C: Choose, E: Event<C::L>>(
    c: &mut C,
    k: &ConstantsOf<C::L, E::Machine>,
    m: &E::Machine,
    e: &E,
) {
    assume_all!(c, |l, v| e.guard(&l, k, m, v));
    if !c.alive() {
        return;
    }
    let l = c.logic();
    let [first, second] = m.variant(&l, k);
    let [first2, second2] = e.action(&l, k, m).variant(&l, k);
    let stays = l.and(&l.same(&first2, &first), &l.strict_subset(&second2, &second));
    c.prove(
        "variant: first ⊂ first, or first = first and second ⊂ second",
        l.or(&l.strict_subset(&first2, &first), &stays),
    );
}

/// EXC: the two answers exclude each other.
pub fn exclude<C: Choose, M: Machine<C::L>>(
    c: &mut C,
    k: &M::Constants,
    m: &M,
    pass: &impl Event<C::L, Machine = M>,
    fail: &impl Event<C::L, Machine = M>,
) {
    let l = c.logic();
    let both = l.and(&enabled(pass, &l, k, m), &enabled(fail, &l, k, m));
    c.prove("¬(pass ∧ fail)", l.not(&both));
}

/// STA: what the owner of an event relies on is not disturbed by another's event: guards `e` and `f` hold, `f`
/// happens, and the guard of `e` holds still.
pub fn stable<C: Choose, E: Event<C::L>>(
    c: &mut C,
    k: &ConstantsOf<C::L, E::Machine>,
    m: &E::Machine,
    e: &E,
    f: &impl Event<C::L, Machine = E::Machine>,
) {
    assume_all!(c, |l, v| e.guard(&l, k, m, v));
    assume_all!(c, |l, v| f.guard(&l, k, m, v));
    let after = f.action(&c.logic(), k, m);
    prove_all!(c, |l, v| e.guard(&l, k, &after, v));
}
