//! Texts as editors see them: lines that end in `\n`, `\r\n` or `\r`, and columns that are counted in units of UTF-16.

use serde_json::{Value as Json, json};
use std::sync::Arc;

/// A text and where its lines start.
#[derive(Clone, Debug)]
pub struct Text {
    /// The text.
    pub text: Arc<str>,
    starts: Vec<usize>,
}

impl Text {
    /// A text.
    pub fn new(text: impl Into<Arc<str>>) -> Text {
        let text = text.into();
        let bytes = text.as_bytes();
        let ends = |i: &usize| bytes[*i] == b'\n' || bytes[*i] == b'\r' && bytes.get(*i + 1) != Some(&b'\n');
        let starts = std::iter::once(0).chain((0..bytes.len()).filter(ends).map(|i| i + 1)).collect();
        Text { text, starts }
    }

    /// Where a position is; one behind the end of a line is that end, one inside a character its beginning.
    pub fn offset(&self, position: &Json) -> usize {
        let of = |key: &str| position[key].as_u64().unwrap_or(0).min(usize::MAX as u64) as usize;
        let Some(&start) = self.starts.get(of("line")) else { return self.text.len() };
        let end = self.starts.get(of("line") + 1).copied().unwrap_or(self.text.len());
        let line = self.text[start..end].trim_end_matches(['\n', '\r']);
        let mut left = of("character");
        for (i, c) in line.char_indices() {
            if left < c.len_utf16() {
                return start + i;
            }
            left -= c.len_utf16();
        }
        start + line.len()
    }

    /// The position of a byte.
    pub fn position(&self, offset: usize) -> Json {
        let mut offset = offset.min(self.text.len());
        while !self.text.is_char_boundary(offset) {
            offset -= 1;
        }
        let line = self.starts.partition_point(|s| *s <= offset) - 1;
        let before = &self.text[self.starts[line]..offset];
        json!({ "line": line, "character": before.encode_utf16().count() })
    }

    /// The range of some bytes.
    pub fn range(&self, lo: u32, hi: u32) -> Json {
        json!({ "start": self.position(lo as usize), "end": self.position((hi as usize).max(lo as usize)) })
    }

    /// The range of everything.
    pub fn whole(&self) -> Json {
        self.range(0, self.text.len() as u32)
    }

    /// The text after a change: of a range, or of everything.
    pub fn changed(&self, change: &Json) -> Text {
        let new = change["text"].as_str().unwrap_or_default();
        if !change["range"].is_object() {
            return Text::new(new);
        }
        let (a, b) = (self.offset(&change["range"]["start"]), self.offset(&change["range"]["end"]));
        let (a, b) = (a.min(b), a.max(b));
        Text::new(format!("{}{new}{}", &self.text[..a], &self.text[b..]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_units_of_utf_16() {
        let text = Text::new("ab\r\n𝔹x ∈\rend\n");
        let at =
            |line: usize, character: usize| text.offset(&json!({ "line": line, "character": character }));
        assert_eq!((at(0, 2), at(0, 9), at(1, 0)), (2, 2, 4));
        assert_eq!((at(1, 1), at(1, 2), at(1, 3)), (4, 8, 9), "𝔹 is two units and four bytes");
        assert_eq!((at(2, 3), at(3, 0), at(9, 9)), (17, 18, 18));
        for (i, _) in text.text.char_indices() {
            let there = text.position(i);
            // Between `\r` and `\n` there is no position of its own.
            assert!(text.offset(&there) == i || text.text.as_bytes()[i] == b'\n', "{i}: {there}");
        }
        let change = json!({ "range": { "start": { "line": 1, "character": 2 },
                                        "end": { "line": 2, "character": 0 } }, "text": "!" });
        assert_eq!(&*text.changed(&change).text, "ab\r\n𝔹!end\n");
        assert_eq!(&*text.changed(&json!({ "text": "new" })).text, "new");
    }
}
