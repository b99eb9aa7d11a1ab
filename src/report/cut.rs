//! Long values for a terminal.

/// Values are cut here; JSON has them whole.
const WIDTH: usize = 400;

/// The beginning of a text that is too long.
pub(super) fn cut(text: &str) -> String {
    match text.char_indices().nth(WIDTH) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_string(),
    }
}
