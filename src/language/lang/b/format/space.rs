//! What stands between two tokens of a line.

use super::items::{Item, What, ends_operand};
use crate::lang::ast::{BinOp, Lit};
use crate::lang::b::lex::{self, Kw, T};
use crate::lang::diag::FileId;

/// Whether a blank is wanted before `next`, which is on the same line. `in_brackets` tells a composition from a `;`
/// between two substitutions.
pub(super) fn is_wanted(prev: &Item, next: &Item, in_brackets: bool) -> bool {
    let was = next.blanks != Some(0);
    let (Some(a), Some(b)) = (prev.kind(), next.kind()) else {
        // A comment keeps its distance.
        return was || matches!(prev.what, What::Comment { is_line: true });
    };
    wanted(prev, a, next, b, in_brackets, was) || glued(&prev.text, &next.text, a, b)
}

fn wanted(prev: &Item, a: T, next: &Item, b: T, in_brackets: bool, was: bool) -> bool {
    match (a, b) {
        (_, T::RParen | T::RBrace | T::RBracket | T::Comma) => false,
        (_, T::Semi) => in_brackets,
        (T::LParen | T::LBrace | T::LBracket, _) => false,
        // `a.b` and `{x . P | E}` are told apart by nobody here.
        (T::Dot | T::Dot2, _) | (_, T::Dot | T::Dot2) => was,
        (T::Forall | T::Exists | T::Lambda, _) => false,
        (T::Not, T::LParen) => false,
        (T::Not, _) => prev.text.starts_with('n'),
        (_, T::Tilde | T::DollarZero | T::Prime) | (T::Prime, _) => false,
        (T::Op(BinOp::Interval), _) => false,
        (_, T::Op(BinOp::Interval)) => false,
        _ if prev.is_unary() => false,
        (T::Op(BinOp::In), T::LParen) => was,
        (
            T::Kw(Kw::End) | T::Str | T::MultiStr | T::Template | T::Int | T::Hex | T::Real,
            T::LParen | T::LBracket,
        ) => was,
        (T::Lit(Lit::Succ | Lit::Pred), T::LParen) => false,
        (T::Lit(_), T::LParen | T::LBracket) => was,
        (T::Kw(Kw::Bool | Kw::Rec | Kw::Struct | Kw::Sigma | Kw::Pi | Kw::Union | Kw::Inter), _) => {
            b != T::LParen && next.blanks != Some(0)
        }
        (_, T::LParen | T::LBracket) => !ends_operand(a),
        _ => true,
    }
}

/// Whether two tokens side by side would be read as something else.
fn glued(a: &str, b: &str, first: T, second: T) -> bool {
    let both = format!("{a}{b}");
    let (tokens, diagnostics) = lex::lex(&both, FileId::default());
    let kinds: Vec<(T, u32)> = tokens.iter().map(|t| (t.kind, t.lo)).collect();
    !diagnostics.is_empty() || kinds != [(first, 0), (second, a.len() as u32)]
}
