//! Z's symbols: how each is written in LaTeX and in Unicode. The first Unicode spelling is the one that the tree has.

use std::collections::HashMap;
use std::sync::LazyLock;

/// A symbol: its Unicode spellings, and its commands in LaTeX without the backslash.
pub struct Symbol {
    pub unicode: &'static [&'static str],
    pub latex: &'static [&'static str],
}

const fn s(unicode: &'static [&'static str], latex: &'static [&'static str]) -> Symbol {
    Symbol { unicode, latex }
}

/// All of them. What is not written as a command in LaTeX is the same there.
pub const SYMBOLS: &[Symbol] = &[
    // definitions and texts
    s(&["=="], &[]),
    s(&["≙", "≘"], &["defs"]),
    s(&["::="], &[]),
    s(&["•", "∙", "@", "⦁"], &["spot"]),
    s(&["|", "∣"], &["bar", "mid"]),
    s(&[";"], &[]),
    s(&[":"], &[]),
    s(&[","], &[]),
    s(&["/"], &[]),
    s(&["."], &[]),
    s(&["⊢?"], &[]),
    // brackets
    s(&["("], &[]),
    s(&[")"], &[]),
    s(&["["], &["lsch", "lbrack"]),
    s(&["]"], &["rsch", "rbrack"]),
    s(&["{"], &["{", "lbrace"]),
    s(&["}"], &["}", "rbrace"]),
    s(&["⟨"], &["langle"]),
    s(&["⟩"], &["rangle"]),
    s(&["⟦"], &["lbag"]),
    s(&["⟧"], &["rbag"]),
    s(&["⟪"], &["ldata"]),
    s(&["⟫"], &["rdata"]),
    s(&["⦉"], &["lblot"]),
    s(&["⦊"], &["rblot"]),
    s(&["⦇"], &["limg"]),
    s(&["⦈"], &["rimg"]),
    s(&["↗"], &["bsup"]),
    s(&["↙"], &["esup"]),
    // logic and schemas
    s(&["¬"], &["lnot"]),
    s(&["∧"], &["land"]),
    s(&["∨"], &["lor"]),
    s(&["⇒"], &["implies"]),
    s(&["⇔"], &["iff"]),
    s(&["∀"], &["forall"]),
    s(&["∃₁"], &["exists_1"]),
    s(&["∃"], &["exists"]),
    s(&["true"], &["true"]),
    s(&["false"], &["false"]),
    s(&["⨟"], &["semi", "zcmp"]),
    s(&["⨠", "≫", ">>"], &["pipe", "zpipe"]),
    s(&["⧹"], &["hide", "zhide"]),
    s(&["⨡"], &["project", "zproject"]),
    s(&["pre"], &["pre"]),
    s(&["θ"], &["theta"]),
    s(&["λ"], &["lambda"]),
    s(&["μ"], &["mu"]),
    s(&["let"], &["LET"]),
    s(&["if"], &["IF"]),
    s(&["then"], &["THEN"]),
    s(&["else"], &["ELSE"]),
    // comparisons
    s(&["="], &[]),
    s(&["≠"], &["neq", "ne"]),
    s(&["∈"], &["in", "mem"]),
    s(&["∉"], &["notin", "nem"]),
    s(&["⊆"], &["subseteq", "subset_eq"]),
    s(&["⊂"], &["subset"]),
    s(&["<"], &[]),
    s(&["≤", "<="], &["leq", "le"]),
    s(&[">"], &[]),
    s(&["≥", ">="], &["geq", "ge"]),
    s(&["prefix"], &["prefix"]),
    s(&["suffix"], &["suffix"]),
    s(&["infix"], &["inseq", "infix"]),
    s(&["⋿", "⪽"], &["inbag"]),
    s(&["⊑"], &["subbageq"]),
    s(&["partition"], &["partition"]),
    s(&["disjoint"], &["disjoint"]),
    // sets of relations and functions
    s(&["↔"], &["rel"]),
    s(&["⇸"], &["pfun"]),
    s(&["→"], &["fun"]),
    s(&["⤔"], &["pinj"]),
    s(&["↣"], &["inj"]),
    s(&["⤀"], &["psurj"]),
    s(&["↠"], &["surj"]),
    s(&["⤖"], &["bij"]),
    s(&["⇻"], &["ffun"]),
    s(&["⤕"], &["finj"]),
    s(&["×"], &["cross"]),
    // operators
    s(&["↦"], &["mapsto"]),
    s(&[".."], &["upto"]),
    s(&["+"], &[]),
    s(&["-", "−"], &["negate"]),
    s(&["*"], &[]),
    s(&["div"], &["div"]),
    s(&["mod"], &["mod"]),
    s(&["∪"], &["cup"]),
    s(&["∩"], &["cap"]),
    s(&["∖"], &["setminus"]),
    s(&["⊖"], &["symdiff"]),
    s(&["⁀/"], &["dcat"]),
    s(&["⁀"], &["cat"]),
    s(&["⊎"], &["uplus"]),
    s(&["⩁"], &["uminus"]),
    s(&["↿"], &["extract"]),
    s(&["↾"], &["filter"]),
    s(&["⨾"], &["comp"]),
    s(&["∘"], &["circ"]),
    s(&["⊗"], &["otimes"]),
    s(&["♯"], &["bcount"]),
    s(&["⊕"], &["oplus"]),
    s(&["◁"], &["dres"]),
    s(&["▷"], &["rres"]),
    s(&["⩤"], &["ndres"]),
    s(&["⩥"], &["nrres"]),
    s(&["∼", "~"], &["inv"]),
    s(&["⁺"], &["plus"]),
    s(&["∗"], &["star"]),
    s(&["#"], &["#"]),
    s(&["ℙ₁"], &["power_1"]),
    s(&["ℙ"], &["power"]),
    s(&["𝔽₁"], &["finset_1"]),
    s(&["𝔽"], &["finset"]),
    s(&["ℕ₁"], &["nat_1"]),
    s(&["ℕ"], &["nat"]),
    s(&["ℤ"], &["num"]),
    s(&["∅"], &["emptyset", "empty"]),
    s(&["⋃"], &["bigcup"]),
    s(&["⋂"], &["bigcap"]),
    s(&["seq₁"], &["seq_1"]),
    s(&["seq"], &["seq"]),
    s(&["iseq"], &["iseq"]),
    s(&["bag"], &["bag"]),
    s(&["id"], &["id"]),
    s(&["dom"], &["dom"]),
    s(&["ran"], &["ran"]),
    // known and refused by whoever meets them
    s(&["ℝ"], &["real"]),
    s(&["𝔸"], &["arithmos"]),
    s(&["⊢"], &["vdash"]),
];

/// A first spelling, and one of the spellings.
type Spelling = (&'static str, &'static str);

/// Spellings that are no words, by their first characters, the longest first.
static BY_FIRST: LazyLock<HashMap<char, Vec<Spelling>>> = LazyLock::new(|| {
    let mut table: HashMap<char, Vec<Spelling>> = HashMap::new();
    for s in SYMBOLS {
        for u in s.unicode.iter().filter(|u| !is_word(u)) {
            table.entry(u.chars().next().unwrap_or_default()).or_default().push((s.unicode[0], u));
        }
    }
    table.values_mut().for_each(|all| all.sort_by_key(|(_, u)| std::cmp::Reverse(u.len())));
    table
});

/// The first spelling of the symbol that the text begins with, the longest, and how long it is there.
pub fn at(text: &str) -> Option<(&'static str, usize)> {
    let all = BY_FIRST.get(&text.chars().next()?)?;
    all.iter().find(|(_, u)| text.starts_with(u)).map(|(name, u)| (*name, u.len()))
}

/// The symbol that is written as a word.
pub fn word(text: &str) -> Option<&'static str> {
    SYMBOLS.iter().map(|s| s.unicode[0]).find(|u| is_word(u) && *u == text)
}

/// The symbol of a command in LaTeX.
pub fn command(name: &str) -> Option<&'static str> {
    SYMBOLS.iter().find(|s| s.latex.contains(&name)).map(|s| s.unicode[0])
}

/// Whether a symbol is a word, which ends where letters end.
pub fn is_word(symbol: &str) -> bool {
    symbol.starts_with(|c: char| c.is_ascii_alphabetic())
}
