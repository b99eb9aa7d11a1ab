//! Handles: how Rodin's files refer to elements of others, `/project/file|kind#name|kind#name`.
//!
//! A name may have any characters, and those that mean something in a handle stand behind a backslash there. Rodin
//! counts names through all characters (`.`, `/`, `0`, …), so that happens in most projects. Here each of them is
//! replaced by a character that no text has; so a handle is split at its signs without a thought.

/// The signs of a handle, and what stands for them in a name.
const SIGNS: [(char, char); 4] =
    [('\\', '\u{fdd0}'), ('/', '\u{fdd1}'), ('|', '\u{fdd2}'), ('#', '\u{fdd3}')];

fn hidden(c: char) -> char {
    SIGNS.iter().find(|(sign, _)| *sign == c).map_or(c, |(_, stands)| *stands)
}

/// A name as it stands in a handle that was read.
pub fn name(name: &str) -> String {
    name.chars().map(hidden).collect()
}

/// A name as it is written in a handle.
pub fn written(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    for c in name.chars() {
        if hidden(c) != c {
            out.push('\\');
        }
        out.push(c);
    }
    out
}

/// A handle as it is read: without its project.
pub fn read(handle: &str) -> String {
    let mut out = String::with_capacity(handle.len());
    let mut chars = handle.chars();
    while let Some(c) = chars.next() {
        out.push(if c == '\\' { chars.next().map_or(c, hidden) } else { c });
    }
    let file = out.split('|').next().unwrap_or_default();
    let skipped = file.rfind('/').map_or(0, |i| i + 1);
    out.split_off(skipped)
}
