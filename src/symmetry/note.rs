//! What the user is told about a group: the sets that are permuted, and what is fixed, with the reason.

use super::group::Group;
use crate::model::{Model, SetId};
use crate::value::element_name;
use std::fmt;

/// A permuted set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Permuted {
    /// Its name.
    pub set: String,
    /// How many of its elements are permuted.
    pub size: u32,
    /// How many elements it has.
    pub of: u32,
    /// The names of the permuted ones, where others are fixed.
    pub elements: Option<Vec<String>>,
}

impl fmt::Display for Permuted {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let Permuted { set, size, of, elements } = self;
        match elements {
            None => write!(f, "{set} ({size})"),
            Some(_) => write!(f, "{set} ({size} of {of})"),
        }
    }
}

/// A set that is fixed, or of which elements are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fixed {
    /// Its name.
    pub set: String,
    /// Why, as a clause.
    pub reason: String,
    /// Whether others of its elements are permuted.
    pub in_part: bool,
}

impl fmt::Display for Fixed {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let what = if self.in_part { "is permuted only in part" } else { "is not permuted" };
        write!(f, "{} {what}: {}", self.set, self.reason)
    }
}

impl Group {
    /// The sets that are permuted.
    #[must_use]
    pub fn permuted_sets(&self, model: &Model) -> Vec<Permuted> {
        let orbitals = self.orbitals.iter();
        let permuted = orbitals.map(|o| Permuted {
            set: name(model, o.set),
            size: o.moved,
            of: o.size,
            elements: (!o.is_whole())
                .then(|| self.elements(o).map(|i| element_name(model, o.set, i)).collect()),
        });
        permuted.collect()
    }

    /// The sets that are fixed, wholly or in part.
    #[must_use]
    pub fn fixed_sets(&self, model: &Model) -> Vec<Fixed> {
        let fixed = self.fixed.iter().map(|(set, reason)| Fixed {
            set: name(model, *set),
            reason: reason.to_string(),
            in_part: self.moves(*set),
        });
        fixed.collect()
    }
}

fn name(model: &Model, set: SetId) -> String {
    model.sets[set.index()].name.to_string()
}
