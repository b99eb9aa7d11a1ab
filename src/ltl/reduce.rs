//! Which symmetry reduction goes with a property (*Seven at one stroke*, §7).
//!
//! Proposition 1: a permutation of deferred sets changes neither the truth of a closed predicate nor which operations
//! are enabled and taken, only their parameters. So a formula of closed atoms is worth the same on a path and on its
//! image, and fairness of an operation by its name is, too. What is not symmetric:
//!
//! - an atom that names an element of a permuted set: that element is fixed;
//! - `current`, which is one state and not its orbit;
//! - fairness of single instances, `WF(Op(x))`, `WEF`, `SEF`: a path of representatives that takes some instance again
//!   and again may stand for paths that take different ones.
//!
//! With [`Strategy::Auto`] elements and sets are fixed and the answer is the same; a strategy that was asked for by name is
//! refused if nothing of a set that the model allows to permute can be permuted.

use crate::model::{Expr, SetId};
use crate::symmetry::group::Reason;
use crate::symmetry::{Group, Strategy};
use crate::system::Machine;
use crate::temporal::atoms::{Bound, StateAtom};

/// The group under which a property is symmetric, or why it is not symmetric under the model's.
pub fn group(system: &Machine, bound: &Bound, strategy: Strategy) -> Result<Group, String> {
    let model = &*system.model;
    let states = bound.states.iter().filter_map(|s| match s {
        StateAtom::Predicate(e) => Some(e),
        StateAtom::Current(_) => None,
    });
    let atoms: Vec<&Expr> = states.chain(bound.steps.iter().filter_map(|s| s.test.as_ref())).collect();
    let of_model = Group::of(model, &system.scope, &[]);
    let mut group = Group::of(model, &system.scope, &atoms);
    let is_allowed = matches!(strategy, Strategy::Auto | Strategy::Off);
    let lost = |(set, _): &&(SetId, Reason)| of_model.moves(*set) && !group.moves(*set);
    if let Some((set, reason)) = group.fixed.iter().find(lost)
        && !is_allowed
    {
        let name = &model.sets[set.index()].name;
        return Err(format!("the formula is not symmetric in {name}: {reason}"));
    }
    if let Some(why) = asymmetry(bound) {
        if !is_allowed && !group.is_trivial() {
            return Err(why);
        }
        let moved: Vec<SetId> = group.orbitals.iter().map(|o| o.set).collect();
        for set in moved {
            group.fix(set, Reason::Asked(why.clone()));
        }
    }
    Ok(group)
}

/// Why a property is not symmetric in any set.
fn asymmetry(bound: &Bound) -> Option<String> {
    if bound.states.iter().any(|s| matches!(s, StateAtom::Current(_))) {
        return Some("`current` is one state, not its orbit".to_string());
    }
    let premise = bound.property.premise.as_ref()?;
    if premise.is_of_instances() {
        return Some("`WEF` and `SEF` speak of single instances of operations".to_string());
    }
    let mut single = false;
    premise.for_each(&mut |step| single |= bound.steps[*step as usize].is_instance);
    single.then(|| "the fairness premise speaks of single instances of an operation".to_string())
}

/// Whether formulas can be checked with a strategy at all.
pub fn refused(strategy: Strategy) -> Option<&'static str> {
    let markers = "`--symmetry markers` is approximate, and a path of states that are only alike need not exist: \
                   formulas are checked with an exact strategy";
    (!strategy.is_exact()).then_some(markers)
}

/// The strategy that finds representatives. Flooded states have no edges of their own, so flooding uses
/// representatives too.
pub fn representatives(strategy: Strategy) -> Strategy {
    match strategy {
        Strategy::Flood => Strategy::Canon,
        other => other,
    }
}
