//! Definitions that tools give a meaning: GOAL, ASSERT_LTL…, scope_S, SET_PREF_….

use super::Checker;
use crate::lang::ast::{self, BinOp, ExprKind, UnOp};
use crate::lang::composed::{Composed, Entity};
use crate::lang::diag::Diagnostic;
use crate::lang::spelling::closest;
use crate::model::SetId;
use num_bigint::BigInt;
use num_traits::ToPrimitive;

/// Preferences of ProB that models set. One that is not here and resembles none is left alone.
const PREFERENCES: [&str; 42] = [
    "MAXINT",
    "MININT",
    "DEFAULT_SETSIZE",
    "MAX_INITIALISATIONS",
    "MAX_OPERATIONS",
    "TIME_OUT",
    "SHOW_EVENTB_ANY_VALUES",
    "CLPFD",
    "SYMBOLIC",
    "KODKOD",
    "SMT",
    "CSE",
    "CSE_SUBST",
    "CHR",
    "ALLOW_SIMULTANEOUS_ASSIGNMENTS",
    "ALLOW_LOCAL_OPERATION_CALLS",
    "ALLOW_NEW_OPERATIONS_IN_REFINEMENT",
    "RANDOMISE_ENUMERATION_ORDER",
    "KODKOD_SYMMETRY",
    "KODKOD_SAT_SOLVER",
    "KODKOD_MAX_NR_SOLS",
    "USE_RECORD_CONSTRUCTION",
    "PROOF_INFO",
    "TRY_FIND_ABORT",
    "DISPROVER_MODE",
    "STATIC_SYMMETRY_DETECTION",
    "SYMMETRY_MODE",
    "MAX_DISPLAY_SET",
    "SMT_SUPPORTED_INTERPRETER",
    "REQUIRE_OUTPUT_ASSIGNMENT",
    "IGNORE_PRJ_TYPES",
    "EXPAND_CLOSURES_FOR_STATE",
    "TRACE_UPON_ERROR",
    "TRACE_INFO",
    "STATIC_ORDERING",
    "STRICT_RAISE_ENUM_WARNINGS",
    "PARTITION_PROPERTIES",
    "MEMO",
    "EXPAND_FORALL_UPTO",
    "COMPRESSION",
    "OPERATION_REUSE",
    "DOUBLE_EVALUATION",
];

impl Checker<'_> {
    /// Whether the machine sets one of ProB's preferences to TRUE.
    pub(super) fn prefers(composed: &Composed, preference: &str) -> bool {
        composed.instances[composed.top].machine.tool_definitions.iter().any(|(id, e)| {
            id.name.strip_prefix("SET_PREF_") == Some(preference)
                && matches!(e.kind, ExprKind::Lit(ast::Lit::True))
        })
    }

    pub(super) fn tool_definitions(&mut self, composed: &Composed) {
        self.instance = composed.top;
        let machine = composed.instances[composed.top].machine.clone();
        for (id, e) in &machine.tool_definitions {
            let name = &*id.name;
            if name == "GOAL" {
                let goal = self.predicate(e);
                self.model.goal = Some(goal);
            } else if name.starts_with("ASSERT_LTL") {
                if let ExprKind::Str(text) = &e.kind {
                    self.model.ltl.push((id.name.clone(), text.clone()));
                }
            } else if let Some(set) = name.strip_prefix("scope_") {
                self.scope_definition(set, id, e);
            } else if let Some(pref) = name.strip_prefix("SET_PREF_") {
                self.preference(pref, id, e);
            }
        }
    }

    fn scope_definition(&mut self, set: &str, id: &ast::Ident, e: &ast::Expr) {
        let Some(Entity::Set(s)) = self.entity(set) else {
            let message = format!("`scope_{set}` names no set and is ignored");
            self.diags.push(Diagnostic::warning("B0411", id.span, message));
            return;
        };
        match scope_size(e) {
            Some(n) => self.model.scope.card.push((SetId(s as u32), n, id.span)),
            None => {
                let message = format!("the size of `{set}` must be a number, an interval or a listed set");
                self.diags.push(Diagnostic::error("B0411", e.span, message));
            }
        }
    }

    fn preference(&mut self, pref: &str, id: &ast::Ident, e: &ast::Expr) {
        let value = number(e);
        match pref {
            "MININT" => self.model.scope.minint = value.clone(),
            "MAXINT" => self.model.scope.maxint = value.clone(),
            "DEFAULT_SETSIZE" => {
                self.model.scope.default_setsize = value.as_ref().and_then(ToPrimitive::to_u64);
            }
            // How ProB searches or shows is its own business.
            _ => {
                if !PREFERENCES.contains(&pref)
                    && let Some(meant) = closest(pref, PREFERENCES.into_iter())
                {
                    let message = format!("`{}` is no preference of ProB and is ignored", id.name);
                    let diag = Diagnostic::warning("B0411", id.span, message);
                    self.diags.push(diag.help(format!("did you mean `SET_PREF_{meant}`?")));
                }
                return;
            }
        }
        if value.is_none() {
            let message = format!("`{}` must be a number", id.name);
            self.diags.push(Diagnostic::error("B0411", e.span, message));
        }
    }
}

fn number(e: &ast::Expr) -> Option<BigInt> {
    match &e.kind {
        ExprKind::Int(i) => Some(i.clone()),
        ExprKind::Unary(UnOp::Neg, e) => number(e).map(|i| -i),
        ExprKind::Binary(op, a, b) => {
            let (a, b) = (number(a)?, number(b)?);
            match op {
                BinOp::Add => Some(a + b),
                BinOp::Sub => Some(a - b),
                BinOp::Mul => Some(a * b),
                BinOp::Pow => b.to_u32().filter(|b| *b <= 1024).map(|b| a.pow(b)),
                _ => None,
            }
        }
        _ => None,
    }
}

fn scope_size(e: &ast::Expr) -> Option<u64> {
    match &e.kind {
        ExprKind::Binary(BinOp::Interval, a, b) => {
            let size: BigInt = number(b)? - number(a)? + 1;
            size.to_u64()
        }
        ExprKind::SetExt(items) => Some(items.len() as u64),
        _ => number(e)?.to_u64(),
    }
}
