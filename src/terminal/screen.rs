//! The screen, drawn.

use super::app::{App, Pane, Row};
use super::detail::Tone;
use crate::animate::command::is_broken;
use crate::report::animated;
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Position, Rect};
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, BorderType, Clear, List, ListItem, ListState, Paragraph};

/// Rows around the selected one that are drawn: there may be very many.
const WINDOW: usize = 200;
/// Lines of one value.
const MAX_LINES: usize = 40;
/// A screen that is smaller has one pane at a time.
const SMALL: (u16, u16) = (64, 17);
/// A screen that is wider has three columns.
const WIDE: u16 = 120;

/// The longest that fits.
const KEYS: [&str; 3] = [
    "Enter take  u undo  r redo  w why  / filter  : command  Tab pane  ? help  q quit",
    "Enter take  u undo  Tab pane  ? help  q quit",
    "? help  q quit",
];

/// What `?` shows.
const HELP: &str = "\
Tab, 1 to 5     operations, state, invariant, why, history
↑ ↓ j k         select; PageUp, PageDown, Home, End
Enter           take the step; go to the state; why; unfold
w               why not an operation, why a conjunct is true or false
u  r  R         undo, redo, ten random steps
/               filter the operations
g  e            go to a state that fulfils a predicate; evaluate
:               a command (Tab completes, ↑ is the last one)
z               the pane on the whole screen
Esc             stop what is computed; no filter
q, Ctrl-C       leave

";

pub fn draw(app: &mut App, frame: &mut Frame) {
    let all = frame.area();
    let [top, body, message, keys] = Layout::vertical([
        Constraint::Length(1),
        Constraint::Min(1),
        Constraint::Length(1),
        Constraint::Length(1),
    ])
    .areas(all);
    frame.render_widget(Paragraph::new(title(app)).style(bar(app)), top);
    app.areas = areas(body, app.focus, app.is_zoomed);
    for (pane, area) in app.areas.clone() {
        draw_pane(app, pane, area, frame);
    }
    draw_message(app, message, frame);
    let fits = KEYS.iter().find(|k| k.chars().count() <= usize::from(keys.width)).unwrap_or(&KEYS[2]);
    frame.render_widget(Paragraph::new(Span::styled(*fits, soft(app))), keys);
    if app.is_help {
        draw_help(app, all, frame);
    }
}

/// Where the panes are.
fn areas(body: Rect, focus: Pane, is_zoomed: bool) -> Vec<(Pane, Rect)> {
    if is_zoomed || body.width < SMALL.0 || body.height < SMALL.1 {
        return vec![(focus, body)];
    }
    let split = |area: Rect, parts: [(Pane, u16); 2]| {
        let sizes = parts.map(|(_, n)| Constraint::Fill(n));
        let [a, b] = Layout::vertical(sizes).areas(area);
        [(parts[0].0, a), (parts[1].0, b)]
    };
    if body.width >= WIDE {
        let [a, b, c] =
            Layout::horizontal([Constraint::Fill(3), Constraint::Fill(4), Constraint::Fill(3)]).areas(body);
        let mut all = vec![(Pane::Operations, a)];
        all.extend(split(b, [(Pane::State, 1), (Pane::Invariant, 1)]));
        all.extend(split(c, [(Pane::Why, 1), (Pane::History, 1)]));
        return all;
    }
    let [left, right] = Layout::horizontal([Constraint::Fill(1), Constraint::Fill(1)]).areas(body);
    let mut all = split(left, [(Pane::Operations, 3), (Pane::History, 2)]).to_vec();
    let [a, b, c] =
        Layout::vertical([Constraint::Fill(4), Constraint::Fill(3), Constraint::Fill(3)]).areas(right);
    all.extend([(Pane::State, a), (Pane::Invariant, b), (Pane::Why, c)]);
    all
}

fn coloured(app: &App, colour: Color) -> Style {
    if app.colour { Style::new().fg(colour) } else { Style::new() }
}
fn soft(app: &App) -> Style {
    coloured(app, Color::DarkGray).add_modifier(if app.colour { Modifier::empty() } else { Modifier::DIM })
}
fn good(app: &App) -> Style {
    coloured(app, Color::Green)
}
fn bad(app: &App) -> Style {
    coloured(app, Color::Red).add_modifier(Modifier::BOLD)
}
fn accent(app: &App) -> Style {
    coloured(app, Color::Cyan).add_modifier(Modifier::BOLD)
}
fn bar(app: &App) -> Style {
    if app.colour {
        Style::new().bg(Color::Blue).fg(Color::White)
    } else {
        Style::new().add_modifier(Modifier::REVERSED)
    }
}

/// What a terminal may show: no control characters, whatever a model has in its strings.
fn clean(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { '·' } else { c }).collect()
}

fn title(app: &App) -> Line<'static> {
    let history = &app.scene.history;
    let place = match history.at {
        Some(p) => format!("state {}, {} on the way", p.0 + 1, history.way.len()),
        None => "before the first state".to_string(),
    };
    let mut spans = vec![
        Span::styled(format!(" {} ", clean(&app.scene.title)), Style::new().add_modifier(Modifier::BOLD)),
        Span::raw(format!(" {place} ")),
    ];
    let alarm = if app.colour { Style::new().bg(Color::Red).fg(Color::White) } else { Style::new() };
    if app.is_broken() {
        spans.push(Span::styled(" invariant broken ", alarm.add_modifier(Modifier::BOLD)));
    }
    if app.is_deadlock() && history.at.is_some() {
        spans.push(Span::styled(" deadlock ", alarm.add_modifier(Modifier::BOLD)));
    }
    if app.busy {
        spans.push(Span::raw(" computing… Esc stops "));
    }
    Line::from(spans)
}

/// A text in lines of this width; the first begins with `first`, the others with as many blanks.
fn wrapped(first: Vec<Span<'static>>, text: &str, width: usize, style: Style) -> Vec<Line<'static>> {
    let indent: usize = first.iter().map(Span::width).sum();
    let indent = indent.min(width / 2);
    let mut lines = vec![];
    let mut spans = first;
    let mut left = width.saturating_sub(spans.iter().map(Span::width).sum());
    let mut row = String::new();
    for c in clean(text).chars() {
        let wide = Span::raw(c.to_string()).width();
        if wide > left {
            // After a blank or a comma, if there is one that is not far back.
            let far = row.char_indices().rev().nth(width / 3).map_or(0, |(at, _)| at);
            let at = row.rfind([' ', ',']).filter(|at| c != ' ' && *at >= far);
            let tail = at.map_or(String::new(), |at| row.split_off(at + 1));
            spans.push(Span::styled(std::mem::take(&mut row), style));
            lines.push(Line::from(std::mem::take(&mut spans)));
            if lines.len() == MAX_LINES {
                lines.push(Line::from("…"));
                return lines;
            }
            spans.push(Span::raw(" ".repeat(indent)));
            left = width.saturating_sub(indent + Span::raw(&*tail).width()).max(1);
            row = tail;
            if c == ' ' {
                continue;
            }
        }
        left -= wide.min(left);
        row.push(c);
    }
    spans.push(Span::styled(row, style));
    lines.push(Line::from(spans));
    lines
}

fn draw_pane(app: &mut App, pane: Pane, area: Rect, frame: &mut Frame) {
    let width = usize::from(area.width.saturating_sub(2));
    let (len, selected) = (app.len(pane), app.selected(pane));
    let range = selected.saturating_sub(WINDOW)..len.min(selected + WINDOW);
    let from = range.start;
    let items: Vec<ListItem> = rows(app, pane, range, width).into_iter().map(ListItem::new).collect();
    let is_focus = app.focus == pane;
    let border = if is_focus { accent(app) } else { soft(app) };
    let block = Block::bordered()
        .border_type(if is_focus { BorderType::Thick } else { BorderType::Plain })
        .border_style(border)
        .title(Span::styled(format!(" {} ", name(app, pane)), border));
    let highlight = if is_focus { Style::new().add_modifier(Modifier::REVERSED) } else { Style::new() };
    let empty = items.is_empty();
    let list = List::new(items).block(block).highlight_style(highlight);
    let state = &mut app.lists[pane as usize];
    let mut relative = ListState::default()
        .with_offset(state.offset().saturating_sub(from))
        .with_selected(Some(selected - from));
    frame.render_stateful_widget(list, area, &mut relative);
    *state.offset_mut() = from + relative.offset();
    if empty && area.height > 2 {
        let inside = Rect { x: area.x + 1, y: area.y + 1, width: area.width.saturating_sub(2), height: 1 };
        frame.render_widget(Paragraph::new(Span::styled(nothing(app, pane), soft(app))), inside);
    }
}

fn name(app: &App, pane: Pane) -> String {
    match pane {
        Pane::Operations if !app.filter.is_empty() => format!("1 Operations /{}", clean(&app.filter)),
        Pane::Operations if app.scene.history.at.is_none() => "1 Initial states".into(),
        Pane::Operations => "1 Operations".into(),
        Pane::State => "2 State".into(),
        Pane::Invariant => "3 Invariant".into(),
        Pane::Why if app.detail.title.is_empty() => "4 Why".into(),
        Pane::Why => format!("4 {}", clean(&app.detail.title)),
        Pane::History => "5 History".into(),
    }
}

fn nothing(app: &App, pane: Pane) -> &'static str {
    match pane {
        _ if app.busy => "…",
        Pane::Operations if !app.filter.is_empty() => "nothing fits the filter",
        Pane::Operations => "there are no operations",
        Pane::State => "choose an initial state",
        Pane::Invariant => "there is no invariant",
        Pane::Why => "w asks why",
        Pane::History => "there is no state yet",
    }
}

/// Rows of a pane: those in the range.
fn rows(app: &App, pane: Pane, range: std::ops::Range<usize>, width: usize) -> Vec<Vec<Line<'static>>> {
    let part = range.clone();
    match pane {
        Pane::Operations => {
            let all = app.rows();
            all.get(part).unwrap_or_default().iter().map(|r| operation(app, r, width)).collect()
        }
        Pane::State => part.map(|i| value(app, i, width)).collect(),
        Pane::Invariant => {
            let all = app.scene.conjuncts.get(part).unwrap_or_default().iter();
            let one = |c: &crate::animate::Conjunct| {
                let (sign, style) = match &c.judged.truth {
                    Ok(true) => ("✓ ", good(app)),
                    Ok(false) if is_broken(c) => ("✗ ", bad(app)),
                    Ok(false) => ("· ", soft(app)),
                    Err(_) => ("? ", bad(app)),
                };
                let text = c.text.as_ref().map_or(&*c.judged.name, |t| &t.text);
                let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
                wrapped(vec![Span::styled(sign, style)], &text, width, Style::new())
            };
            all.map(one).collect()
        }
        Pane::Why => {
            let seen = app.detail.seen();
            let one = |at: &usize| {
                let leaf = &app.detail.leaves[*at];
                let sign = match (app.detail.has_below(*at), leaf.is_folded) {
                    (true, true) => "▸ ",
                    (true, false) => "▾ ",
                    (false, _) => "  ",
                };
                let style = match leaf.tone {
                    Tone::Plain => Style::new(),
                    Tone::Good => good(app),
                    Tone::Bad => bad(app),
                    Tone::Soft => soft(app),
                    Tone::Strong => Style::new().add_modifier(Modifier::BOLD),
                };
                let depth = (2 * leaf.depth).min(width / 3);
                let first = vec![Span::raw(" ".repeat(depth)), Span::styled(sign, soft(app))];
                wrapped(first, &leaf.text, width, style)
            };
            seen.get(part).unwrap_or_default().iter().map(one).collect()
        }
        Pane::History => part.map(|i| vec![place(app, i)]).collect(),
    }
}

fn operation(app: &App, row: &Row, width: usize) -> Vec<Line<'static>> {
    match row {
        Row::Take(call) if call.operation == crate::trace::INITIALISATION => {
            let all: Vec<String> = call.changes.iter().map(|(n, v)| format!("{n} = {v}")).collect();
            wrapped(vec![Span::styled("▸ ", good(app))], &all.join(", "), width, Style::new())
        }
        Row::Take(call) => {
            let first = vec![Span::styled("▸ ", good(app))];
            wrapped(first, &animated::call(call), width, Style::new().add_modifier(Modifier::BOLD))
        }
        Row::Off(name, fault) => {
            let mut lines = wrapped(vec![Span::raw("  ")], &format!("{name}  (why not?)"), width, soft(app));
            if !fault.is_empty() {
                lines.extend(wrapped(vec![Span::raw("    ")], fault, width, bad(app)));
            }
            lines
        }
    }
}

/// A watched expression, a constant or a variable. What is watched comes first: it is to be seen.
fn value(app: &App, at: usize, width: usize) -> Vec<Line<'static>> {
    if let Some(w) = app.scene.watched.get(at) {
        let style = if w.reply.is_ok() { Style::new() } else { soft(app) };
        return wrapped(vec![Span::styled("◎ ", accent(app))], &animated::watched(w), width, style);
    }
    let Some(v) = app.scene.state.get(at - app.scene.watched.len()) else { return vec![] };
    let mark = Span::styled(if v.before.is_some() { "▌ " } else { "  " }, accent(app));
    let style = match (v.is_constant, v.before.is_some()) {
        (true, _) => soft(app),
        (false, true) => accent(app),
        (false, false) => Style::new(),
    };
    let mut lines = wrapped(vec![mark], &format!("{} = {}", v.name, v.value), width, style);
    if let Some(before) = &v.before {
        lines.extend(wrapped(vec![Span::raw("    ")], &format!("was {before}"), width, soft(app)));
    }
    lines
}

fn place(app: &App, at: usize) -> Line<'static> {
    let history = &app.scene.history;
    let Some((_, text)) = history.places.get(at) else { return Line::default() };
    let is_here = history.at.is_some_and(|p| p.0 == at);
    let is_on = history.way.binary_search_by_key(&at, |p| p.0).is_ok();
    let depth = app.depths.get(at).copied().unwrap_or(0).min(8);
    let branch = if depth > 0 { format!("{}└ ", "  ".repeat(depth - 1)) } else { String::new() };
    let style = match (is_here, is_on) {
        (true, _) => accent(app),
        (false, true) => Style::new(),
        (false, false) => soft(app),
    };
    let mark = if is_here { "●" } else { " " };
    Line::from(vec![
        Span::styled(format!("{mark}{:>4} ", at + 1), soft(app)),
        Span::styled(branch, soft(app)),
        Span::styled(clean(text), style),
    ])
}

fn draw_message(app: &App, area: Rect, frame: &mut Frame) {
    if let Some(input) = &app.input {
        let sign = if input.is_filter { "/" } else { ":" };
        // The end of a long line is what is typed at.
        let before = Span::raw(clean(&input.text[..input.at])).width() as u16 + 1;
        let skip = before.saturating_sub(area.width.saturating_sub(1));
        let text = format!("{sign}{}", clean(&input.text));
        frame.render_widget(Paragraph::new(text).scroll((0, skip)), area);
        frame.set_cursor_position(Position::new(area.x + before - skip, area.y));
        return;
    }
    let missing = app.scene.missing.map(animated::missing);
    let (text, style) = match (app.message.is_empty(), missing) {
        (false, _) => (clean(&app.message), if app.is_bad { bad(app) } else { Style::new() }),
        (true, Some(missing)) => (missing.to_string(), soft(app)),
        (true, None) => (String::new(), Style::new()),
    };
    frame.render_widget(Paragraph::new(Span::styled(text, style)), area);
}

/// A line of the help in lines that fit: what goes on stands below what it explains.
fn hung(line: &str, width: usize) -> Vec<String> {
    let begin = line.len() - line.trim_start().len();
    let indent = line[begin..].find("  ").map_or(begin, |gap| {
        let rest = &line[begin + gap..];
        line[..begin + gap].chars().count() + rest.chars().take_while(|c| *c == ' ').count()
    });
    let indent = if indent * 2 > width { begin } else { indent };
    let mut all = vec![];
    let mut here = String::new();
    for word in line.split_inclusive(' ') {
        let is_full = here.chars().count() + word.trim_end().chars().count() > width;
        if is_full && !here.trim().is_empty() {
            all.push(here.trim_end().to_string());
            here = " ".repeat(indent);
        }
        here.push_str(word);
    }
    all.push(here.trim_end().to_string());
    all
}

fn draw_help(app: &mut App, all: Rect, frame: &mut Frame) {
    let inside = Rect {
        x: all.x + all.width.min(2),
        y: all.y + all.height.min(1),
        width: all.width.saturating_sub(4),
        height: all.height.saturating_sub(2),
    };
    let text = format!("{HELP}{}", animated::help(""));
    let width = usize::from(inside.width.saturating_sub(2));
    let lines: Vec<Line> = text.lines().flat_map(|l| hung(l, width)).map(Line::from).collect();
    let height = usize::from(inside.height.saturating_sub(2));
    app.help_from = app.help_from.min(lines.len().saturating_sub(height));
    let title = match lines.len() > height {
        true => " help: ↑ ↓ PageDown for more, any other key closes it ",
        false => " help: any key closes it ",
    };
    let seen: Vec<Line> = lines.into_iter().skip(app.help_from).take(height).collect();
    let block = Block::bordered().border_style(accent(app)).title(title);
    frame.render_widget(Clear, inside);
    frame.render_widget(Paragraph::new(seen).block(block), inside);
}

#[cfg(test)]
mod tests {
    use super::super::app::{Act, App, Told};
    use super::*;
    use crate::animate::command;
    use crate::animate::{Animated, Limits, Scene, Session};
    use crate::run::Deadline;
    use ratatui::Terminal;
    use ratatui::backend::TestBackend;
    use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

    /// The program without its threads.
    struct Play {
        app: App,
        session: Box<dyn Animated>,
    }

    impl Play {
        fn of(file: &str) -> Play {
            let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(file);
            let stop = Deadline::never();
            let mut session = Session::open(&path, &Default::default(), &stop).expect("a model");
            session.walk_mut().step(0, &stop.flag);
            Play::with(Box::new(session))
        }

        fn with(session: Box<dyn Animated>) -> Play {
            let app = App::new(session.operation_names(), session.names(), false);
            let mut play = Play { app, session };
            play.line("");
            play
        }

        fn line(&mut self, line: &str) {
            let stop = Deadline::never();
            let said = match command::read(line, true) {
                Ok(command::Line::Command(name, rest)) => {
                    command::obey(&mut *self.session, name, &rest, Limits::default(), &stop.flag)
                        .map_err(|r| animated::words(&r.diagnostics))
                }
                Ok(command::Line::Question(text)) => self
                    .session
                    .ask(&text, &stop.flag)
                    .map(command::Said::Reply)
                    .map_err(|r| animated::words(&r.diagnostics)),
                Ok(_) => Ok(command::Said::Nothing),
                Err(why) => Err(why),
            };
            let scene = Box::new(Scene::of(&mut *self.session, &stop.flag));
            self.app.told(Told { said, is_help: line == "help", scene });
        }

        fn keys(&mut self, keys: &[KeyCode]) -> Act {
            let mut last = Act::Nothing;
            for key in keys {
                last = self.app.key(KeyEvent::new(*key, KeyModifiers::NONE));
                if let Act::Ask(line) = &last {
                    self.line(&line.clone());
                }
            }
            last
        }

        fn typed(&mut self, text: &str) {
            let keys: Vec<KeyCode> = text.chars().map(KeyCode::Char).collect();
            self.keys(&keys);
        }

        fn screen(&mut self, width: u16, height: u16) -> String {
            let mut terminal = Terminal::new(TestBackend::new(width, height)).expect("a screen");
            terminal.draw(|frame| draw(&mut self.app, frame)).expect("it is drawn");
            let buffer = terminal.backend().buffer();
            let row = |y: u16| (0..width).map(|x| buffer[(x, y)].symbol()).collect::<String>();
            (0..height).map(row).collect::<Vec<_>>().join("\n")
        }
    }

    #[test]
    fn everything_is_there_in_80_by_24() {
        let mut play = Play::of("models/demo/Library.mch");
        let seen = play.screen(80, 24);
        for word in ["Library", "1 Operations", "2 State", "3 Invariant", "4 Why", "5 History", "lent = {}"] {
            assert!(seen.contains(word), "{word}\n{seen}");
        }
        assert!(seen.contains("borrow(b = BOOK1") && seen.contains("return  (why not?)"), "{seen}");
        assert_eq!(seen.lines().count(), 24);
        // A step: what changed, with the old value.
        play.keys(&[KeyCode::Enter]);
        let seen = play.screen(80, 24);
        assert!(seen.contains("was {}") && seen.contains("▌"), "{seen}");
        assert!(seen.contains("●   2 borrow(BOOK1"), "{seen}");
        // Undo, another step: the history branches.
        play.keys(&[KeyCode::Char('u'), KeyCode::Down, KeyCode::Enter]);
        let seen = play.screen(80, 24);
        assert!(seen.contains("└ borrow(BOOK"), "{seen}");
    }

    #[test]
    fn why_not_and_why_are_trees_that_fold() {
        let mut play = Play::of("models/demo/Library.mch");
        play.typed("/ret");
        play.keys(&[KeyCode::Enter, KeyCode::Char('w')]);
        let seen = play.screen(100, 30);
        assert!(seen.contains("4 Why not return") && seen.contains("no b with"), "{seen}");
        let lines = play.app.len(Pane::Why);
        play.keys(&[KeyCode::Char('4'), KeyCode::Char(' ')]);
        assert!(play.app.len(Pane::Why) < lines, "it is folded");
        play.keys(&[KeyCode::Right, KeyCode::Esc]);
        assert_eq!(play.app.len(Pane::Why), lines, "and unfolded again");
        play.keys(&[KeyCode::Char('3'), KeyCode::Char('w')]);
        assert!(play.screen(100, 30).contains("true"), "{}", play.screen(100, 30));
    }

    #[test]
    fn a_broken_invariant_is_said_at_once() {
        let mut play = Play::of("models/demo/Library.mch");
        play.typed(":random 50 3");
        play.keys(&[KeyCode::Enter]);
        assert!(play.app.is_broken(), "{}", play.screen(100, 30));
        let seen = play.screen(100, 30);
        assert!(seen.contains("invariant broken") && seen.contains("✗"), "{seen}");
    }

    #[test]
    fn commands_are_typed_completed_and_refused() {
        let mut play = Play::of("models/demo/Library.mch");
        play.typed(":goto card(le");
        play.keys(&[KeyCode::Tab, KeyCode::Backspace]);
        play.typed(") = 2");
        assert!(play.screen(80, 24).contains(":goto card(lent) = 2"), "{}", play.screen(80, 24));
        play.keys(&[KeyCode::Enter]);
        assert!(play.screen(80, 24).contains("reached after 2 steps"), "{}", play.screen(80, 24));
        play.typed(":watch card(lent)");
        play.keys(&[KeyCode::Enter]);
        assert!(play.screen(80, 24).contains("◎ card(lent) = 2"), "{}", play.screen(80, 24));
        play.typed(":nonsense");
        play.keys(&[KeyCode::Enter]);
        assert!(play.screen(80, 24).contains("no command `nonsense`"), "{}", play.screen(80, 24));
        play.typed(":eval 1 +");
        play.keys(&[KeyCode::Enter]);
        assert!(play.app.is_bad);
        // The help is longer than the screen: it can be read to its end.
        play.keys(&[KeyCode::Char('?')]);
        assert!(
            play.screen(80, 24).contains("PageDown for more") && !play.screen(80, 24).contains("the type of")
        );
        play.keys(&[KeyCode::PageDown, KeyCode::PageDown, KeyCode::Down, KeyCode::End]);
        let end = play.screen(80, 24);
        assert!(end.contains("the type of an expression") && end.contains("  leave "), "{end}");
        assert!(!end.contains("Tab, 1 to 5"), "{end}");
        play.keys(&[KeyCode::Home, KeyCode::Up]);
        assert!(play.screen(80, 24).contains("Tab, 1 to 5"));
        assert_eq!(play.keys(&[KeyCode::Char('q')]), Act::Nothing, "it closes the help");
        assert_eq!(play.keys(&[KeyCode::Char('q')]), Act::Leave);
    }

    #[test]
    fn lines_of_the_help_are_broken_between_words() {
        let line = "  goto P    go to a nearest state that fulfils";
        assert_eq!(hung(line, 30), ["  goto P    go to a nearest", "            state that fulfils"]);
        assert_eq!(hung("short", 30), ["short"]);
        assert_eq!(hung("", 30), [""]);
        assert_eq!(hung("abcdef gh", 3), ["abcdef", "gh"]);
    }

    #[test]
    fn any_size_can_be_drawn() {
        let mut play = Play::of("models/demo/Library.mch");
        for help in [false, true] {
            for (width, height) in
                [(1, 1), (2, 2), (5, 3), (20, 5), (40, 10), (63, 17), (64, 21), (120, 40), (300, 90)]
            {
                play.app.is_help = help;
                let seen = play.screen(width, height);
                assert_eq!(seen.lines().count(), usize::from(height), "{width}×{height}");
            }
        }
        play.app.is_help = false;
        // Too small for all: the pane that is looked at, on the whole screen.
        play.keys(&[KeyCode::Char('2')]);
        let seen = play.screen(50, 12);
        assert!(seen.contains("2 State") && !seen.contains("1 Operations"), "{seen}");
    }

    #[test]
    fn what_a_model_says_does_not_reach_the_terminal_as_commands() {
        assert_eq!(clean("a\u{1b}[2Jb\u{7}\n"), "a·[2Jb··");
    }
}
