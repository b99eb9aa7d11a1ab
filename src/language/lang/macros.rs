//! Macros: what a text that comes later (a goal, a formula, a question) may use beside the model's names.
//! How they are put in place of their uses is the front end's business.

use crate::lang::ast::{Expr, Ident, Name, Subst};
use std::collections::HashMap;

/// The macros of a machine and of the files it includes, as written.
#[derive(Clone, Debug, Default)]
pub struct Definitions {
    pub(in crate::lang) all: HashMap<Name, Definition>,
    /// In the order of the text.
    pub(in crate::lang) order: Vec<Name>,
}

#[derive(Clone, Debug)]
pub(in crate::lang) struct Definition {
    pub name: Ident,
    pub params: Vec<Ident>,
    pub body: Body,
    /// The body is only a stand-in for a function of ProB's kernel (`EXTERNAL_FUNCTION_name`).
    pub external: Option<External>,
}

/// Where a function of ProB's kernel is declared.
#[derive(Clone, Debug)]
pub(in crate::lang) enum External {
    /// By the model, in an `EXTERNAL_…` definition.
    Declared,
    /// In a file of ProB's library that is not there.
    Library(String),
}

/// What a definition stands for. Predicates are expressions here.
#[derive(Clone, Debug)]
pub(in crate::lang) enum Body {
    Expr(Expr),
    Subst(Subst),
}

impl Definitions {
    /// Names in the order of the text, with the number of parameters of each.
    pub fn names(&self) -> impl Iterator<Item = (&Name, usize)> {
        self.order.iter().filter_map(|n| self.all.get(n).map(|d| (n, d.params.len())))
    }

    pub fn is_empty(&self) -> bool {
        self.order.is_empty()
    }
}
