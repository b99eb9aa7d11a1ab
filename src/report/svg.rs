//! SVG, as little of it as our pictures need: shapes and text, in colours that do on light and on dark ground.
//! Absent on purpose: layout (`chart`, `layout`), scripts, anything that is fetched.

use std::fmt::{Display, Write};

/// The width of a character of the monospaced font at size 1.
pub const CHARACTER: f64 = 0.61;

/// A reader's settings choose between the two grounds. The colours are written out: viewers that know no CSS variables
/// would draw black on black.
const STYLE: &str = "<style>\
    text{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;fill:#1f2328}\
    .ground{fill:#ffffff}.dim{fill:#6a737d}.dark{fill:#1f2328}\
    .grid{stroke:#d8dee4;stroke-width:1;fill:none}\
    .halo{stroke:#ffffff;stroke-width:4;stroke-linejoin:round;paint-order:stroke}\
    @media(prefers-color-scheme:dark){text{fill:#d6d9e0}\
    .ground{fill:#16181d}.dim{fill:#8b949e}.dark{fill:#1f2328}.grid{stroke:#353a43}.halo{stroke:#16181d}}\
    </style>";

/// Colours of areas: dark text can be read on them.
pub const AREAS: [&str; 8] =
    ["#9ecae9", "#f6c177", "#a8d5a2", "#e6a3a8", "#c5b4e3", "#e3d58b", "#9fd8d2", "#d9b8a0"];

/// Colours of lines: they can be seen on either ground.
pub const LINES: [&str; 8] =
    ["#3b82c4", "#d9703a", "#3a9e5c", "#c2487a", "#8a63c9", "#a8901f", "#2f9c9c", "#99704f"];

/// The colour with this number, from the beginning again after the last.
pub fn colour<'a>(palette: &[&'a str; 8], number: usize) -> &'a str {
    palette[number % palette.len()]
}

/// A picture that is being drawn.
pub struct Svg {
    body: String,
}

/// Where a text is in relation to its point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Anchor {
    Start,
    Middle,
    End,
}

/// A coordinate: one decimal is enough, and keeps a file the same on machines that round differently.
pub struct At(pub f64);

impl Display for At {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        let rounded = (self.0 * 10.0).round() / 10.0;
        // Not `-0`.
        write!(f, "{}", rounded + 0.0)
    }
}

impl Svg {
    /// `title` is what a reader who sees no picture is told.
    #[must_use]
    pub fn new(width: f64, height: f64, title: &str) -> Svg {
        let (w, h) = (At(width.ceil()), At(height.ceil()));
        let title = escape(title);
        let mut body = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{w}\" height=\"{h}\" viewBox=\"0 0 {w} {h}\" \
             role=\"img\" aria-label=\"{title}\">\n<title>{title}</title>\n{STYLE}\n"
        );
        body.push_str("<rect width=\"100%\" height=\"100%\" rx=\"6\" class=\"ground\" fill=\"#ffffff\"/>\n");
        Svg { body }
    }

    /// An element without content; `attributes` are SVG's own.
    pub fn shape(&mut self, name: &str, attributes: std::fmt::Arguments) {
        let _ = writeln!(self.body, "<{name} {attributes}/>");
    }

    /// An element that holds definitions, written as it is.
    pub fn raw(&mut self, text: &str) {
        self.body.push_str(text);
        self.body.push('\n');
    }

    pub fn text(&mut self, (x, y): (f64, f64), size: f64, anchor: Anchor, class: &str, text: &str) {
        let anchor = match anchor {
            Anchor::Start => "",
            Anchor::Middle => " text-anchor=\"middle\"",
            Anchor::End => " text-anchor=\"end\"",
        };
        let class = if class.is_empty() { String::new() } else { format!(" class=\"{class}\"") };
        let (x, y, text) = (At(x), At(y), escape(text));
        let _ = writeln!(
            self.body,
            "<text x=\"{x}\" y=\"{y}\" font-size=\"{size}\"{anchor}{class}>{text}</text>"
        );
    }

    #[must_use]
    pub fn finish(mut self) -> String {
        self.body.push_str("</svg>\n");
        self.body
    }
}

/// Text in an element or in an attribute.
#[must_use]
pub fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            // XML has no other control characters.
            c if c.is_control() && !matches!(c, '\n' | '\t') => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_in_a_text_is_markup() {
        assert_eq!(escape("a<b & \"c\">\u{1}"), "a&lt;b &amp; &quot;c&quot;&gt;\u{fffd}");
    }

    #[test]
    fn coordinates_are_short() {
        for (x, text) in [(1.0, "1"), (1.25, "1.3"), (-0.01, "0"), (100.04, "100")] {
            assert_eq!(At(x).to_string(), text);
        }
    }
}
