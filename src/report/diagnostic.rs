//! Diagnostics as text: code and message, place, the line with the part underlined, notes, help.

use crate::lang::diag::{Diagnostic, Severity, SourceMap, Span};
use std::fmt::Write;

/// Lines longer than this are cut around the part they show.
const WIDTH: usize = 110;
const TAB: usize = 4;

/// One diagnostic, ending in a newline. With `colour`, ANSI sequences mark its parts.
pub fn render(d: &Diagnostic, sources: &SourceMap, colour: bool) -> String {
    let mut out = String::new();
    let paint = Paint { colour };
    let (word, style) = match d.severity {
        Severity::Error => ("error", Style::Error),
        Severity::Warning => ("warning", Style::Warning),
        Severity::Note => ("note", Style::Note),
    };
    let head = paint.put(&format!("{word}[{}]", d.code), style);
    let _ = writeln!(out, "{head}: {}", paint.put(&d.message, Style::Bold));
    // One width of line numbers for all parts, so that the bars stand under each other.
    let spans = || std::iter::once(d.span).chain(d.notes.iter().map(|(s, _)| *s));
    let gutter = spans().filter_map(|s| line_number(sources, s)).max().map_or(1, |n| n.to_string().len());
    snippet(&mut out, sources, d.span, gutter, style, paint);
    for (span, message) in &d.notes {
        let _ = writeln!(out, "{}: {message}", paint.put("note", Style::Note));
        snippet(&mut out, sources, *span, gutter, Style::Note, paint);
    }
    if let Some(help) = &d.help {
        let _ = writeln!(out, "{}: {help}", paint.put("help", Style::Help));
    }
    out
}

/// All diagnostics, with an empty line between two, and a last line that counts the errors.
pub fn render_all(diagnostics: &[Diagnostic], sources: &SourceMap, colour: bool) -> String {
    let mut out = String::new();
    for d in diagnostics {
        out.push_str(&render(d, sources, colour));
        out.push('\n');
    }
    match diagnostics.iter().filter(|d| d.is_error()).count() {
        0 => {}
        1 => out.push_str("1 error\n"),
        n => {
            let _ = writeln!(out, "{n} errors");
        }
    }
    out
}

fn line_number(sources: &SourceMap, span: Span) -> Option<usize> {
    sources.get(span.file).map(|s| s.line_col(span.lo).line)
}

fn snippet(out: &mut String, sources: &SourceMap, span: Span, gutter: usize, style: Style, paint: Paint) {
    let Some(source) = sources.get(span.file) else { return };
    let start = source.line_col(span.lo);
    let arrow = paint.put("-->", Style::Gutter);
    let _ = writeln!(out, "{:gutter$}{arrow} {}:{}:{}", "", source.path.display(), start.line, start.col);
    let line = source.line(start.line);
    if line.is_empty() && source.text.is_empty() {
        return;
    }
    let end = source.line_col(span.hi);
    let last = if end.line == start.line { end.col } else { line.chars().count() + 1 };
    let (text, from, to) = shown(line, start.col - 1, last.saturating_sub(1));
    let bar = paint.put("|", Style::Gutter);
    let number = paint.put(&format!("{:>gutter$}", start.line), Style::Gutter);
    let _ = writeln!(out, "{:gutter$} {bar}", "");
    let _ = writeln!(out, "{number} {bar} {text}");
    let carets = paint.put(&"^".repeat((to - from).max(1)), style);
    let _ = writeln!(out, "{:gutter$} {bar} {:from$}{carets}", "", "");
}

/// The line as shown, and the columns of it to underline: tabs widened, long lines cut.
fn shown(line: &str, from: usize, to: usize) -> (String, usize, usize) {
    let mut text: Vec<char> = vec![];
    let (mut start, mut end) = (None, None);
    for (i, c) in line.chars().enumerate() {
        if i == from {
            start = Some(text.len());
        }
        if i == to {
            end = Some(text.len());
        }
        match c {
            '\t' => text.extend(std::iter::repeat_n(' ', TAB - text.len() % TAB)),
            c if c.is_control() => text.push('\u{fffd}'),
            c => text.push(c),
        }
    }
    let mut start = start.unwrap_or(text.len());
    let mut end = end.unwrap_or(text.len()).max(start);
    while text.last() == Some(&' ') && text.len() > end {
        text.pop();
    }
    if text.len() <= WIDTH {
        return (text.into_iter().collect(), start, end);
    }
    // A window with a third of its width before the part.
    let begin = start.saturating_sub(WIDTH / 3).min(text.len() - WIDTH);
    let mut window: String = text[begin..begin + WIDTH].iter().collect();
    if begin > 0 {
        window.insert(0, '…');
        start += 1;
        end += 1;
    }
    if begin + WIDTH < text.len() {
        window.push('…');
    }
    let most = window.chars().count();
    (window, (start - begin).min(most), (end - begin).min(most))
}

#[derive(Clone, Copy)]
enum Style {
    Error,
    Warning,
    Note,
    Help,
    Bold,
    Gutter,
}

#[derive(Clone, Copy)]
struct Paint {
    colour: bool,
}

impl Paint {
    fn put(self, text: &str, style: Style) -> String {
        if !self.colour {
            return text.to_string();
        }
        let code = match style {
            Style::Error => "1;31",
            Style::Warning => "1;33",
            Style::Note => "1;36",
            Style::Help => "1;32",
            Style::Bold => "1",
            Style::Gutter => "1;34",
        };
        format!("\x1b[{code}m{text}\x1b[0m")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, lo: usize, hi: usize, expected: &str) {
        let mut sources = SourceMap::default();
        let file = sources.add("m.mch", text);
        let d = Diagnostic::error("B0101", Span::new(file, lo, hi), "wrong");
        assert_eq!(render(&d, &sources, false), expected);
    }

    #[test]
    fn underlines_the_part() {
        check("a\nbcd\n", 3, 4, "error[B0101]: wrong\n --> m.mch:2:2\n  |\n2 | bcd\n  |  ^\n");
    }

    #[test]
    fn underlines_to_the_end_of_the_first_line() {
        check("abc\nd\n", 1, 5, "error[B0101]: wrong\n --> m.mch:1:2\n  |\n1 | abc\n  |  ^^\n");
    }

    #[test]
    fn widens_tabs_and_counts_characters() {
        check("\té x", 4, 5, "error[B0101]: wrong\n --> m.mch:1:4\n  |\n1 |     é x\n  |       ^\n");
    }

    #[test]
    fn shows_the_end_of_the_file() {
        check("ab", 2, 2, "error[B0101]: wrong\n --> m.mch:1:3\n  |\n1 | ab\n  |   ^\n");
        check("", 0, 0, "error[B0101]: wrong\n --> m.mch:1:1\n");
    }

    #[test]
    fn cuts_long_lines() {
        let text = format!("{}bad{}", "x".repeat(500), "y".repeat(500));
        let mut sources = SourceMap::default();
        let file = sources.add("m.mch", text.as_str());
        let d = Diagnostic::error("B0101", Span::new(file, 500, 503), "wrong");
        let shown = render(&d, &sources, false);
        let lines: Vec<&str> = shown.lines().collect();
        let at = lines[4].find("^^^").map(|n| lines[4][..n].chars().count());
        let bad = lines[3].find("bad").map(|n| lines[3][..n].chars().count());
        assert_eq!(at, bad);
        assert!(lines[3].chars().count() < 130);
    }

    #[test]
    fn a_span_of_no_file_shows_only_words() {
        let d = Diagnostic::error("B0101", Span::default(), "wrong").help("do better");
        let expected = "error[B0101]: wrong\nhelp: do better\n";
        assert_eq!(render(&d, &SourceMap::default(), false), expected);
    }

    #[test]
    fn colour_changes_nothing_else() {
        let mut sources = SourceMap::default();
        let file = sources.add("m.mch", "abc");
        let d = Diagnostic::error("B0101", Span::new(file, 0, 1), "wrong").help("h");
        let mut plain = String::new();
        let mut inside = false;
        for c in render(&d, &sources, true).chars() {
            match c {
                '\x1b' => inside = true,
                'm' if inside => inside = false,
                _ if !inside => plain.push(c),
                _ => {}
            }
        }
        assert_eq!(plain, render(&d, &sources, false));
    }
}
