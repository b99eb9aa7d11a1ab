//! Text: machines and contexts as they are typed in Camille's notation, which Camille, CamilleX and Rossi share but for
//! details (`docs/eventb.md` has it).
//!
//! A file has one component or several. What a component refers to is looked for in the same file, then beside it.

pub mod format;
pub mod index;
pub mod read;
pub mod write;

/// Words that end a list of names or a formula, written in small or in capital letters. They cannot be names in a
/// text; other words of the notation can.
pub const ENDING: [&str; 18] = [
    "any",
    "axioms",
    "begin",
    "constants",
    "end",
    "event",
    "events",
    "invariants",
    "sets",
    "then",
    "theorem",
    "theorems",
    "variables",
    "variant",
    "when",
    "where",
    "with",
    "witness",
];

/// Whether a word is this one in small or in capital letters.
pub fn is_word(text: &str, word: &str) -> bool {
    text == word
        || text.len() == word.len()
            && text.chars().zip(word.chars()).all(|(t, w)| t == w.to_ascii_uppercase())
}

/// Whether a word cannot be a name.
pub fn is_ending(text: &str) -> bool {
    ENDING.iter().any(|word| is_word(text, word))
}

/// Whether this is a text and no package of Prolog terms: it begins with a machine or a context.
pub fn is_text(text: &str) -> bool {
    let mut rest = text.trim_start_matches('\u{feff}');
    loop {
        rest = rest.trim_start();
        if let Some(inside) = rest.strip_prefix("/*") {
            match inside.split_once("*/") {
                Some((_, behind)) => rest = behind,
                None => return false,
            }
        } else if rest.starts_with("//") || rest.starts_with('%') {
            rest = rest.split_once('\n').map_or("", |(_, behind)| behind);
        } else {
            break;
        }
    }
    let word: String = rest.chars().take_while(|c| c.is_alphanumeric()).collect();
    let behind = rest[word.len()..].chars().next();
    (is_word(&word, "machine") || is_word(&word, "context")) && behind.is_none_or(char::is_whitespace)
}
