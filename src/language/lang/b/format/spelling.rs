//! How operators are spelt.

use crate::lang::ast::{BinOp, Fun, Lit};
use crate::lang::b::lex::T;
use crate::lang::style::Operators;
use std::borrow::Cow;

/// ASCII and Unicode of the operators that have one of each and mean the same wherever they stand. Not here: `*`, `-`,
/// `/`, `.` and `|`, whose spellings in Unicode are several or say more.
const SPELLINGS: &[(T, &str, &str)] = &[
    (T::Forall, "!", "∀"),
    (T::Exists, "#", "∃"),
    (T::Lambda, "%", "λ"),
    (T::Not, "not", "¬"),
    (T::Assign, ":=", "≔"),
    (T::BecomesElement, "::", ":∈"),
    (T::Results, "<--", "←"),
    (T::Op(BinOp::And), "&", "∧"),
    (T::Op(BinOp::Or), "or", "∨"),
    (T::Op(BinOp::Implies), "=>", "⇒"),
    (T::Op(BinOp::Iff), "<=>", "⇔"),
    (T::Op(BinOp::Neq), "/=", "≠"),
    (T::Op(BinOp::Le), "<=", "≤"),
    (T::Op(BinOp::Ge), ">=", "≥"),
    (T::Op(BinOp::In), ":", "∈"),
    (T::Op(BinOp::NotIn), "/:", "∉"),
    (T::Op(BinOp::Subset), "<:", "⊆"),
    (T::Op(BinOp::NotSubset), "/<:", "⊈"),
    (T::Op(BinOp::StrictSubset), "<<:", "⊂"),
    (T::Op(BinOp::NotStrictSubset), "/<<:", "⊄"),
    (T::Op(BinOp::Union), "\\/", "∪"),
    (T::Op(BinOp::Inter), "/\\", "∩"),
    (T::Op(BinOp::Diff), "\\", "∖"),
    (T::Op(BinOp::Rel), "<->", "↔"),
    (T::Op(BinOp::PartialFun), "+->", "⇸"),
    (T::Op(BinOp::TotalFun), "-->", "→"),
    (T::Op(BinOp::PartialInj), ">+>", "⤔"),
    (T::Op(BinOp::TotalInj), ">->", "↣"),
    (T::Op(BinOp::PartialSurj), "+->>", "⤀"),
    (T::Op(BinOp::TotalSurj), "-->>", "↠"),
    (T::Op(BinOp::TotalBij), ">->>", "⤖"),
    (T::Op(BinOp::Pair), "|->", "↦"),
    (T::Op(BinOp::DomRestrict), "<|", "◁"),
    (T::Op(BinOp::DomSubtract), "<<|", "⩤"),
    (T::Op(BinOp::RanRestrict), "|>", "▷"),
    (T::Op(BinOp::RanSubtract), "|>>", "⩥"),
    (T::Op(BinOp::DirectProduct), "><", "⊗"),
    (T::Op(BinOp::Interval), "..", "‥"),
    (T::Lit(Lit::Integer), "INTEGER", "ℤ"),
    (T::Lit(Lit::Natural), "NATURAL", "ℕ"),
    (T::Lit(Lit::Natural1), "NATURAL1", "ℕ1"),
    (T::Fun(Fun::Pow), "POW", "ℙ"),
    (T::Fun(Fun::Pow1), "POW1", "ℙ1"),
];

/// A token as it is to be written. `:` before a bracket stays: `x :(P)` is a substitution, and no membership.
pub(super) fn spelt<'a>(kind: T, written: &'a str, operators: Operators) -> Cow<'a, str> {
    let known = SPELLINGS.iter().find(|(t, ..)| *t == kind);
    match (known, operators) {
        (Some((_, ascii, _)), Operators::Ascii) => (*ascii).into(),
        (Some((t, _, unicode)), Operators::Unicode) if *t != T::Op(BinOp::Interval) => (*unicode).into(),
        _ => written.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lang::b::lex;
    use crate::lang::diag::FileId;

    #[test]
    fn both_spellings_are_the_token() {
        for (kind, ascii, unicode) in SPELLINGS {
            for text in [ascii, unicode] {
                let (tokens, diagnostics) = lex::lex(text, FileId::default());
                assert!(diagnostics.is_empty() && tokens.len() == 1 && tokens[0].kind == *kind, "{text}");
            }
        }
    }
}
