//! How operators and words of fixed meaning are written, for reader and writer alike.

use crate::lang::ast::{BinOp, Fun, Lit};

/// What a symbol or a reserved word is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sign {
    Op(BinOp),
    /// `∘`: composition backwards
    Ring,
    Not,
    Forall,
    Exists,
    Lambda,
    BigUnion,
    BigInter,
    Inverse,
    OfType,
    Dot,
    Bar,
    Comma,
    Open,
    Close,
    OpenSet,
    CloseSet,
    OpenImage,
    CloseImage,
    Becomes,
    BecomesIn,
    BecomesSuch,
    Lit(Lit),
    /// Takes its argument in parentheses.
    Fun(Fun),
    /// `id`, `prj1`, `prj2`: about a whole type
    Generic(Fun),
    Bool,
    Finite,
    Partition,
    /// `COND(P, E, F)`, which ProB and Rodin's provers know
    Cond,
}

/// Symbols: the first spelling is the one that is written.
pub const SYMBOLS: &[(&[&str], Sign)] = &[
    (&["∧", "&"], Sign::Op(BinOp::And)),
    (&["∨"], Sign::Op(BinOp::Or)),
    (&["⇒", "=>"], Sign::Op(BinOp::Implies)),
    (&["⇔", "<=>"], Sign::Op(BinOp::Iff)),
    (&["="], Sign::Op(BinOp::Eq)),
    (&["≠", "/="], Sign::Op(BinOp::Neq)),
    (&["∈", ":"], Sign::Op(BinOp::In)),
    (&["∉", "/:"], Sign::Op(BinOp::NotIn)),
    (&["⊆", "<:"], Sign::Op(BinOp::Subset)),
    (&["⊈", "/<:"], Sign::Op(BinOp::NotSubset)),
    (&["⊂", "<<:"], Sign::Op(BinOp::StrictSubset)),
    (&["⊄", "/<<:"], Sign::Op(BinOp::NotStrictSubset)),
    (&["<"], Sign::Op(BinOp::Lt)),
    (&["≤", "<="], Sign::Op(BinOp::Le)),
    (&[">"], Sign::Op(BinOp::Gt)),
    (&["≥", ">="], Sign::Op(BinOp::Ge)),
    (&["+"], Sign::Op(BinOp::Add)),
    (&["−", "-"], Sign::Op(BinOp::Sub)),
    (&["∗", "*"], Sign::Op(BinOp::Mul)),
    (&["÷", "/"], Sign::Op(BinOp::Div)),
    (&["^"], Sign::Op(BinOp::Pow)),
    (&["‥", ".."], Sign::Op(BinOp::Interval)),
    (&["↦", "|->", ",,"], Sign::Op(BinOp::Pair)),
    (&["∪", "\\/"], Sign::Op(BinOp::Union)),
    (&["∩", "/\\"], Sign::Op(BinOp::Inter)),
    (&["∖", "\\"], Sign::Op(BinOp::Diff)),
    (&["×", "**"], Sign::Op(BinOp::Product)),
    (&["↔", "<->"], Sign::Op(BinOp::Rel)),
    (&["\u{E100}", "<<->"], Sign::Op(BinOp::TotalRel)),
    (&["\u{E101}", "<->>"], Sign::Op(BinOp::SurjRel)),
    (&["\u{E102}", "<<->>"], Sign::Op(BinOp::TotalSurjRel)),
    (&["⇸", "+->"], Sign::Op(BinOp::PartialFun)),
    (&["→", "-->"], Sign::Op(BinOp::TotalFun)),
    (&["⤔", ">+>"], Sign::Op(BinOp::PartialInj)),
    (&["↣", ">->"], Sign::Op(BinOp::TotalInj)),
    (&["⤀", "+->>", "+>>"], Sign::Op(BinOp::PartialSurj)),
    (&["↠", "-->>", "->>"], Sign::Op(BinOp::TotalSurj)),
    (&["⤖", ">->>"], Sign::Op(BinOp::TotalBij)),
    (&["◁", "<|"], Sign::Op(BinOp::DomRestrict)),
    (&["⩤", "<<|"], Sign::Op(BinOp::DomSubtract)),
    (&["▷", "|>"], Sign::Op(BinOp::RanRestrict)),
    (&["⩥", "|>>"], Sign::Op(BinOp::RanSubtract)),
    (&["\u{E103}", "<+"], Sign::Op(BinOp::Override)),
    (&["⊗", "><"], Sign::Op(BinOp::DirectProduct)),
    (&["∥", "||"], Sign::Op(BinOp::ParallelProduct)),
    (&[";"], Sign::Op(BinOp::Compose)),
    (&["∘"], Sign::Ring),
    (&["¬"], Sign::Not),
    (&["∀", "!"], Sign::Forall),
    (&["∃", "#"], Sign::Exists),
    (&["λ", "%"], Sign::Lambda),
    (&["⋃"], Sign::BigUnion),
    (&["⋂"], Sign::BigInter),
    (&["∼", "~"], Sign::Inverse),
    (&["⦂"], Sign::OfType),
    (&["·", ".", "•"], Sign::Dot),
    (&["∣", "|"], Sign::Bar),
    (&[","], Sign::Comma),
    (&["("], Sign::Open),
    (&[")"], Sign::Close),
    (&["{"], Sign::OpenSet),
    (&["}"], Sign::CloseSet),
    (&["["], Sign::OpenImage),
    (&["]"], Sign::CloseImage),
    (&["≔", ":="], Sign::Becomes),
    (&[":∈", "::"], Sign::BecomesIn),
    (&[":∣", ":|"], Sign::BecomesSuch),
    (&["∅"], Sign::Lit(Lit::EmptySet)),
    (&["⊤"], Sign::Lit(Lit::BTrue)),
    (&["⊥"], Sign::Lit(Lit::BFalse)),
];

/// Words that are no names. The first spelling is the one that is written.
pub const WORDS: &[(&[&str], Sign)] = &[
    (&["or"], Sign::Op(BinOp::Or)),
    (&["not"], Sign::Not),
    (&["mod"], Sign::Op(BinOp::Mod)),
    (&["circ"], Sign::Ring),
    (&["oftype"], Sign::OfType),
    (&["UNION"], Sign::BigUnion),
    (&["INTER"], Sign::BigInter),
    (&["true"], Sign::Lit(Lit::BTrue)),
    (&["false"], Sign::Lit(Lit::BFalse)),
    (&["TRUE"], Sign::Lit(Lit::True)),
    (&["FALSE"], Sign::Lit(Lit::False)),
    (&["BOOL"], Sign::Lit(Lit::BoolSet)),
    (&["ℤ", "INT"], Sign::Lit(Lit::Integer)),
    (&["ℕ", "NAT"], Sign::Lit(Lit::Natural)),
    (&["ℕ1", "ℕ₁", "NAT1"], Sign::Lit(Lit::Natural1)),
    (&["succ"], Sign::Lit(Lit::Succ)),
    (&["pred"], Sign::Lit(Lit::Pred)),
    (&["ℙ", "POW"], Sign::Fun(Fun::Pow)),
    (&["ℙ1", "ℙ₁", "POW1"], Sign::Fun(Fun::Pow1)),
    (&["card"], Sign::Fun(Fun::Card)),
    (&["min"], Sign::Fun(Fun::Min)),
    (&["max"], Sign::Fun(Fun::Max)),
    (&["dom"], Sign::Fun(Fun::Dom)),
    (&["ran"], Sign::Fun(Fun::Ran)),
    (&["union"], Sign::Fun(Fun::GenUnion)),
    (&["inter"], Sign::Fun(Fun::GenInter)),
    (&["id"], Sign::Generic(Fun::Id)),
    (&["prj1"], Sign::Generic(Fun::Prj1)),
    (&["prj2"], Sign::Generic(Fun::Prj2)),
    (&["bool"], Sign::Bool),
    (&["finite"], Sign::Finite),
    (&["partition"], Sign::Partition),
    (&["COND"], Sign::Cond),
];

/// The word of this spelling.
pub fn word(text: &str) -> Option<Sign> {
    WORDS.iter().find(|(all, _)| all.contains(&text)).map(|(_, sign)| *sign)
}

/// The longest symbol that a text begins with, and its length in bytes.
pub fn symbol(text: &str) -> Option<(Sign, usize)> {
    let of = |(all, sign): &(&'static [&'static str], Sign)| {
        let longest = all.iter().filter(|s| text.starts_with(**s)).map(|s| s.len()).max();
        longest.map(|len| (*sign, len))
    };
    SYMBOLS.iter().filter_map(of).max_by_key(|(_, len)| *len)
}

/// How it is written.
pub fn spelling(sign: Sign) -> Option<&'static str> {
    let all = SYMBOLS.iter().chain(WORDS);
    all.into_iter().find(|(_, s)| *s == sign).and_then(|(spellings, _)| spellings.first().copied())
}

/// Whether a character can begin a name. Letters that are symbols (`λ`, `ℕ` as a whole word) are not names.
pub fn begins_name(c: char) -> bool {
    (c.is_alphabetic() || c == '_') && c != 'λ'
}

/// Whether a character can go on a name.
pub fn continues_name(c: char) -> bool {
    begins_name(c) || c.is_numeric()
}

/// Whether a text can be the name of a set, a constant, a variable or a parameter.
pub fn is_name(text: &str) -> bool {
    let mut chars = text.chars();
    chars.next().is_some_and(begins_name) && chars.all(continues_name) && word(text).is_none()
}

/// How tightly an operator binds; more is tighter.
pub fn priority(op: BinOp) -> u8 {
    use BinOp::*;
    match op {
        Implies | Iff => INFIX,
        And | Or => LOGIC,
        Eq | Neq | In | NotIn | Subset | NotSubset | StrictSubset | NotStrictSubset | Lt | Le | Gt | Ge => {
            COMPARISON
        }
        Pair => PAIR,
        Rel | TotalRel | SurjRel | TotalSurjRel | PartialFun | TotalFun | PartialInj | TotalInj
        | PartialSurj | TotalSurj | PartialBij | TotalBij => RELATION,
        Union | Inter | Diff | Product | DomRestrict | DomSubtract | RanRestrict | RanSubtract | Override
        | DirectProduct | ParallelProduct | Compose => SETS,
        Interval => 9,
        Add | Sub => SUM,
        Mul | Div | Mod => TERM,
        Pow => 12,
        // Not of this language.
        Concat | Prepend | Append | TakeFirst | DropFirst => 13,
    }
}

pub const INFIX: u8 = 1;
pub const LOGIC: u8 = 2;
pub const NEGATION: u8 = 3;
pub const COMPARISON: u8 = 4;
pub const PAIR: u8 = 5;
pub const TYPED: u8 = 6;
pub const RELATION: u8 = 7;
pub const SETS: u8 = 8;
pub const SUM: u8 = 10;
pub const TERM: u8 = 11;
/// What `(x)`, `[S]` and `∼` can stand behind.
pub const OPERAND: u8 = 13;

/// Operators of one priority: whether `a left b right c` is `(a left b) right c`. Elsewhere there must be parentheses.
pub fn are_compatible(left: Infix, right: Infix) -> bool {
    use BinOp::*;
    use Infix::{Op, Ring};
    let (left, right) = match (left, right) {
        (Ring, Ring) => return true,
        (Op(left), Op(right)) => (left, right),
        _ => return false,
    };
    match left {
        And | Or | Pair | Union | Override | Product => left == right,
        Inter => matches!(right, Inter | Diff | RanRestrict | RanSubtract),
        Compose => matches!(right, Compose | RanRestrict | RanSubtract),
        DomRestrict | DomSubtract => {
            matches!(right, Inter | Diff | Compose | DirectProduct | RanRestrict | RanSubtract)
        }
        Add | Sub => matches!(right, Add | Sub),
        Mul | Div | Mod => matches!(right, Mul | Div | Mod),
        _ => false,
    }
}

/// An operator between two operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Infix {
    Op(BinOp),
    Ring,
    Typed,
}

impl Infix {
    pub fn priority(self) -> u8 {
        match self {
            Infix::Op(op) => priority(op),
            Infix::Ring => SETS,
            Infix::Typed => TYPED,
        }
    }

    pub fn spelling(self) -> &'static str {
        let sign = match self {
            Infix::Op(op) => Sign::Op(op),
            Infix::Ring => Sign::Ring,
            Infix::Typed => Sign::OfType,
        };
        spelling(sign).unwrap_or("?")
    }
}
