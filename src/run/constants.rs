//! Fewer valuations of the constants, as ProB takes them: constants that are elements of a deferred set and differ from each
//! other are its first elements, and a bijection between two deferred sets is the order of their elements.
//!
//! That is a reduction by symmetry, and here it is done as one. A valuation is dropped only if a permutation of the model's
//! group takes it to one that is kept, and that is looked at: the permutation is a member of the group, and the image is
//! among the valuations. Where there is no such permutation, since an element is named elsewhere for instance, nothing is
//! dropped, and it is said.

use crate::model::fixing::fixed;
use crate::model::{ConstId, Model, SetId, Type};
use crate::symmetry::{Action, MachineAction, Perm};
use crate::system::Machine;
use crate::value::{Scope, Value};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Which valuations of the constants are taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Constants {
    /// All of them.
    #[default]
    All,
    /// Those that ProB takes.
    Prob,
}

/// What a valuation that is kept has.
enum Rule {
    /// These constants are the first elements of the set, in this order.
    First(SetId, Vec<ConstId>),
    /// The constant maps the elements of a set to those of this one in their order.
    InOrder(ConstId, SetId),
}

impl Rule {
    fn text(&self, model: &Model) -> String {
        let name = |c: &ConstId| model.constants[c.index()].name.to_string();
        match self {
            Rule::First(set, constants) => {
                let names: Vec<String> = constants.iter().map(name).collect();
                format!("{} as the first of {}", names.join(", "), model.sets[set.index()].name)
            }
            Rule::InOrder(c, ..) => format!("{} in order", name(c)),
        }
    }

    /// The elements of a set that are to become its first ones.
    fn wanted(&self, valuation: &[Option<Value>]) -> Option<(SetId, Vec<u32>)> {
        match self {
            Rule::First(set, constants) => {
                let places = constants.iter().map(|c| element(valuation, *c)).collect::<Option<_>>()?;
                Some((*set, places))
            }
            Rule::InOrder(c, to) => {
                let Some(Value::Set(pairs)) = valuation.get(c.index())? else { return None };
                let mut images = BTreeMap::new();
                for pair in pairs {
                    let Value::Pair(pair) = pair else { return None };
                    let (Value::Elem(_, x), Value::Elem(_, y)) = &**pair else { return None };
                    images.insert(*x, *y);
                }
                Some((*to, images.into_values().collect()))
            }
        }
    }
}

fn element(valuation: &[Option<Value>], c: ConstId) -> Option<u32> {
    match valuation.get(c.index())? {
        Some(Value::Elem(_, place)) => Some(*place),
        _ => None,
    }
}

/// The valuations that are kept, and a note about it; `None` if all are.
pub fn kept(machine: &Arc<Machine>) -> Option<(Vec<usize>, String)> {
    let model = &*machine.model;
    let action = MachineAction::of(machine);
    let valuations: Vec<Vec<Option<Value>>> =
        (0..machine.valuations()).map(|v| machine.constant_values(v)).collect();
    let mut kept: BTreeSet<usize> = (0..valuations.len()).collect();
    let mut notes = vec![];
    for rule in rules(model, &machine.scope, &valuations) {
        match fewer(&action, &rule, &valuations, &kept) {
            Some(fewer) if fewer.len() < kept.len() => {
                notes.push(format!("{} of {} valuations with {}", fewer.len(), kept.len(), rule.text(model)));
                kept = fewer;
            }
            Some(_) => {}
            None => notes.push(format!(
                "not taken: {}, since that is no reduction by a symmetry of this model",
                rule.text(model)
            )),
        }
    }
    let note = || format!("constants as ProB takes them (`--constants prob`): {}", notes.join("; "));
    (!notes.is_empty()).then(|| (kept.iter().copied().collect(), note()))
}

/// What ProB would keep.
fn rules(model: &Model, scope: &Scope, valuations: &[Vec<Option<Value>>]) -> Vec<Rule> {
    let is_deferred = |s: &SetId| model.sets[s.index()].elements.is_none();
    let mut rules: Vec<Rule> = fixed(model, scope).into_iter().map(|(set, c)| Rule::First(set, c)).collect();
    for (i, decl) in model.constants.iter().enumerate() {
        let Some((Type::Given(a), Type::Given(b))) = decl.ty.elem().and_then(Type::as_pair) else { continue };
        let c = ConstId(i as u32);
        let is_fixed = rules.iter().any(|r| matches!(r, Rule::First(s, _) if s == b));
        if a != b && is_deferred(a) && is_deferred(b) && !is_fixed {
            let rule = Rule::InOrder(c, *b);
            let is_bijection = |v: &Vec<Option<Value>>| rule.wanted(v).is_some_and(|(_, to)| is_order(&to));
            if valuations.iter().all(is_bijection) {
                rules.push(rule);
            }
        }
    }
    rules
}

/// Whether these are the numbers below some number, each once.
fn is_order(places: &[u32]) -> bool {
    let all: BTreeSet<u32> = places.iter().copied().collect();
    all.len() == places.len() && all.last().is_none_or(|last| *last as usize + 1 == places.len())
}

/// Those of the kept valuations that a rule keeps, if every other one has an image among them.
fn fewer(
    action: &MachineAction,
    rule: &Rule,
    valuations: &[Vec<Option<Value>>],
    kept: &BTreeSet<usize>,
) -> Option<BTreeSet<usize>> {
    let is_first = |places: &[u32]| places.iter().zip(0..).all(|(a, b)| *a == b);
    let follows = |v: &usize| rule.wanted(&valuations[*v]).is_some_and(|(_, places)| is_first(&places));
    let fewer: BTreeSet<usize> = kept.iter().copied().filter(follows).collect();
    for v in kept.difference(&fewer) {
        let (set, places) = rule.wanted(&valuations[*v])?;
        let witness = first_ones(action, set, &places)?;
        let image = action.start(*v, &witness)?;
        if !fewer.contains(&image) {
            return None;
        }
    }
    Some(fewer)
}

/// A member of the group that takes these elements of a set to its first ones, in this order.
fn first_ones(action: &MachineAction, set: SetId, places: &[u32]) -> Option<Perm> {
    let group = action.group();
    let first = group.first(set)?;
    let size = group.orbitals.iter().find(|o| o.set == set)?.size;
    let mut order: Vec<u32> = places.to_vec();
    order.extend((0..size).filter(|e| !places.contains(e)));
    if order.len() != size as usize {
        return None;
    }
    let mut p = Perm::identity(group.points());
    for (to, from) in order.iter().enumerate() {
        p.0[(first + from) as usize] = first + to as u32;
    }
    group.contains(&p).then_some(p)
}
