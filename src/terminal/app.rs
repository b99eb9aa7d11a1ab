//! What is selected, typed and unfolded, and what a key means.

use super::detail::Detail;
use crate::animate::command::{self, Said, is_broken};
use crate::animate::{Call, Place, Scene};
use crate::report::animated;
use ratatui::crossterm::event::{
    KeyCode, KeyEvent, KeyEventKind, KeyModifiers, MouseButton, MouseEvent, MouseEventKind,
};
use ratatui::layout::Rect;
use ratatui::widgets::ListState;
use std::collections::HashSet;

/// A part of the screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pane {
    Operations,
    State,
    Invariant,
    Why,
    History,
}

impl Pane {
    pub const ALL: [Pane; 5] = [Pane::Operations, Pane::State, Pane::Invariant, Pane::Why, Pane::History];

    /// The next or the one before.
    fn turned(self, by: usize) -> Pane {
        let at = Pane::ALL.iter().position(|p| *p == self).unwrap_or(0);
        Pane::ALL[(at + by) % Pane::ALL.len()]
    }
}

/// Whether a key ends what is computed.
pub fn is_stop(key: KeyEvent) -> bool {
    let is_control = key.modifiers.contains(KeyModifiers::CONTROL);
    key.code == KeyCode::Esc || (is_control && matches!(key.code, KeyCode::Char('c' | 'd')))
}

/// What is to be done about a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Act {
    Nothing,
    Leave,
    /// What is computed is not wanted any more.
    Stop,
    /// A line for the session.
    Ask(String),
}

/// What a line led to, and what is to be seen then.
pub struct Told {
    pub said: Result<Said, String>,
    /// The line asks for the list of commands.
    pub is_help: bool,
    pub scene: Box<Scene>,
}

/// A row of the operations.
#[derive(Clone, Debug)]
pub enum Row {
    /// A step, by its place among the choices.
    Take(Call),
    /// An operation that is not enabled, with what has no value.
    Off(String, String),
}

/// What is typed.
#[derive(Clone, Debug, Default)]
pub struct Input {
    pub text: String,
    /// Where the next character goes, in bytes.
    pub at: usize,
    /// A filter of the operations; else a command.
    pub is_filter: bool,
    /// Which of the earlier lines is shown.
    back: Option<usize>,
}

/// The state of the screen.
pub struct App {
    pub scene: Scene,
    pub focus: Pane,
    pub lists: [ListState; 5],
    pub detail: Detail,
    pub message: String,
    pub is_bad: bool,
    pub input: Option<Input>,
    pub filter: String,
    /// The session computes.
    pub busy: bool,
    pub is_zoomed: bool,
    pub is_help: bool,
    /// The first line of the help that is seen.
    pub help_from: usize,
    pub colour: bool,
    /// Where the panes are, since the last screen.
    pub areas: Vec<(Pane, Rect)>,
    lines: Vec<String>,
    operations: Vec<String>,
    names: Vec<String>,
    seed: u64,
    /// How deep each place of the history stands.
    pub depths: Vec<usize>,
}

impl App {
    pub fn new(operations: Vec<String>, names: Vec<String>, colour: bool) -> App {
        let mut app = App {
            scene: Scene::default(),
            focus: Pane::Operations,
            lists: Default::default(),
            detail: Detail::default(),
            message: String::new(),
            is_bad: false,
            input: None,
            filter: String::new(),
            busy: false,
            is_zoomed: false,
            is_help: false,
            help_from: 0,
            colour,
            areas: vec![],
            lines: vec![],
            operations,
            names,
            seed: 0,
            depths: vec![],
        };
        app.lists.iter_mut().for_each(|l| l.select(Some(0)));
        app
    }

    /// What a line led to.
    pub fn told(&mut self, told: Told) {
        self.busy = false;
        let moved = told.scene.history.at != self.scene.history.at;
        self.scene = *told.scene;
        self.depths = depths(&self.scene.history.places);
        if told.is_help {
            self.is_help = true;
            self.help_from = 0;
        }
        if moved {
            // An explanation is about a state.
            self.detail = Detail::default();
            let place = self.scene.history.at.map_or(0, |p| p.0);
            self.list(Pane::History).select(Some(place));
            self.list(Pane::Why).select(Some(0));
        }
        match told.said {
            Ok(said) => {
                if let Some(detail) = Detail::of(&said) {
                    self.detail = detail;
                    self.list(Pane::Why).select(Some(0));
                }
                (self.message, self.is_bad) = (line(&said), said.is_broken() || said.is_incomplete());
            }
            Err(why) => (self.message, self.is_bad) = (why, true),
        }
        for pane in Pane::ALL {
            let most = self.len(pane).saturating_sub(1);
            let at = self.selected(pane).min(most);
            self.list(pane).select(Some(at));
        }
    }

    fn list(&mut self, pane: Pane) -> &mut ListState {
        &mut self.lists[pane as usize]
    }

    pub fn selected(&self, pane: Pane) -> usize {
        self.lists[pane as usize].selected().unwrap_or(0)
    }

    /// The operations that pass the filter: steps first.
    pub fn rows(&self) -> Vec<Row> {
        let wanted = self.filter.to_lowercase();
        let fits = |text: &str| text.to_lowercase().contains(&wanted);
        let calls = self.scene.operations.iter().flat_map(|o| &o.calls);
        let on = calls.filter(|c| fits(&animated::call(c))).cloned().map(Row::Take);
        let off = self.scene.operations.iter().filter(|o| o.calls.is_empty() && fits(&o.name));
        let off = off.map(|o| Row::Off(o.name.clone(), animated::words(&o.faults)));
        on.chain(off).collect()
    }

    /// Rows of a pane.
    pub fn len(&self, pane: Pane) -> usize {
        match pane {
            Pane::Operations => self.rows().len(),
            Pane::State => self.scene.state.len() + self.scene.watched.len(),
            Pane::Invariant => self.scene.conjuncts.len(),
            Pane::Why => self.detail.seen().len(),
            Pane::History => self.scene.history.places.len(),
        }
    }

    pub fn is_broken(&self) -> bool {
        self.scene.conjuncts.iter().any(is_broken)
    }

    pub fn is_deadlock(&self) -> bool {
        self.scene.missing.is_none()
            && self.scene.operations.iter().all(|o| o.calls.is_empty() && o.faults.is_empty())
    }

    pub fn key(&mut self, key: KeyEvent) -> Act {
        if key.kind == KeyEventKind::Release {
            return Act::Nothing;
        }
        if self.busy && is_stop(key) {
            return Act::Stop;
        }
        if is_stop(key) && key.code != KeyCode::Esc {
            return Act::Leave;
        }
        if self.input.is_some() {
            return self.typed(key);
        }
        if self.is_help {
            // Drawing keeps it inside.
            self.help_from = match key.code {
                KeyCode::Down | KeyCode::Char('j') => self.help_from + 1,
                KeyCode::Up | KeyCode::Char('k') => self.help_from.saturating_sub(1),
                KeyCode::PageDown | KeyCode::Char(' ') => self.help_from + 10,
                KeyCode::PageUp => self.help_from.saturating_sub(10),
                KeyCode::Home => 0,
                KeyCode::End => usize::MAX / 2,
                _ => {
                    self.is_help = false;
                    0
                }
            };
            return Act::Nothing;
        }
        if self.busy {
            return Act::Nothing;
        }
        let ask = |line: &str| Act::Ask(line.to_string());
        match key.code {
            KeyCode::Char('q') => return Act::Leave,
            KeyCode::Tab => self.focus = self.focus.turned(1),
            KeyCode::BackTab => self.focus = self.focus.turned(Pane::ALL.len() - 1),
            KeyCode::Down | KeyCode::Char('j') => self.go(1),
            KeyCode::Up | KeyCode::Char('k') => self.go(-1),
            KeyCode::PageDown => self.go(10),
            KeyCode::PageUp => self.go(-10),
            KeyCode::Home => self.go(isize::MIN / 2),
            KeyCode::End => self.go(isize::MAX / 2),
            KeyCode::Char('u') => return ask("undo"),
            KeyCode::Char('r') => return ask("redo"),
            KeyCode::Char('R') => {
                self.seed += 1;
                return Act::Ask(format!("random 10 {}", self.seed));
            }
            KeyCode::Char('w') => return self.why(),
            KeyCode::Char('z') => self.is_zoomed = !self.is_zoomed,
            KeyCode::Char('?') => self.is_help = true,
            KeyCode::Char(':') => self.input = Some(Input::default()),
            KeyCode::Char('/') => {
                self.focus = Pane::Operations;
                let text = self.filter.clone();
                self.input = Some(Input { at: text.len(), text, is_filter: true, back: None });
            }
            KeyCode::Char(c @ ('g' | 'e')) => {
                let text = if c == 'g' { "goto " } else { "eval " }.to_string();
                self.input = Some(Input { at: text.len(), text, ..Input::default() });
            }
            KeyCode::Char(c @ '1'..='5') => self.focus = Pane::ALL[c as usize - '1' as usize],
            KeyCode::Left | KeyCode::Right | KeyCode::Char(' ') if self.focus == Pane::Why => {
                self.fold(key.code);
            }
            KeyCode::Esc => {
                self.filter.clear();
                self.message.clear();
                self.is_zoomed = false;
            }
            KeyCode::Enter => return self.enter(),
            _ => {}
        }
        Act::Nothing
    }

    fn go(&mut self, by: isize) {
        let most = self.len(self.focus).saturating_sub(1) as isize;
        let at = (self.selected(self.focus) as isize).saturating_add(by).clamp(0, most);
        self.list(self.focus).select(Some(at as usize));
    }

    /// Takes, goes, explains or unfolds what is selected.
    fn enter(&mut self) -> Act {
        match self.focus {
            Pane::Operations => match self.rows().get(self.selected(Pane::Operations)) {
                Some(Row::Take(call)) => Act::Ask(format!("step {}", call.choice + 1)),
                Some(Row::Off(..)) => self.why(),
                None => Act::Nothing,
            },
            Pane::History if self.len(Pane::History) > 0 => {
                Act::Ask(format!("state {}", self.selected(Pane::History) + 1))
            }
            Pane::Invariant => self.why(),
            Pane::Why => {
                self.fold(KeyCode::Char(' '));
                Act::Nothing
            }
            _ => Act::Nothing,
        }
    }

    fn why(&mut self) -> Act {
        match self.focus {
            Pane::Operations => match self.rows().get(self.selected(Pane::Operations)) {
                Some(Row::Off(name, _)) => Act::Ask(format!("why {name}")),
                _ => {
                    (self.message, self.is_bad) = ("it is enabled".into(), false);
                    Act::Nothing
                }
            },
            Pane::Invariant if self.len(Pane::Invariant) > 0 => {
                Act::Ask(format!("why {}", self.selected(Pane::Invariant) + 1))
            }
            _ => Act::Ask("why".into()),
        }
    }

    fn fold(&mut self, key: KeyCode) {
        let seen = self.detail.seen();
        let Some(at) = seen.get(self.selected(Pane::Why)).copied() else { return };
        if self.detail.has_below(at) {
            let leaf = &mut self.detail.leaves[at];
            leaf.is_folded = match key {
                KeyCode::Left => true,
                KeyCode::Right => false,
                _ => !leaf.is_folded,
            };
        }
    }

    /// A key while something is typed.
    fn typed(&mut self, key: KeyEvent) -> Act {
        let Some(mut input) = self.input.take() else { return Act::Nothing };
        let before = |i: &Input| i.text[..i.at].char_indices().next_back().map_or(0, |(at, _)| at);
        let after = |i: &Input| i.text[i.at..].chars().next().map_or(i.at, |c| i.at + c.len_utf8());
        match key.code {
            KeyCode::Esc => {
                if input.is_filter {
                    self.filter.clear();
                }
                return Act::Nothing;
            }
            KeyCode::Enter => {
                if input.is_filter {
                    return Act::Nothing;
                }
                return self.entered(input);
            }
            KeyCode::Char('u') if key.modifiers.contains(KeyModifiers::CONTROL) => {
                input.text.clear();
                input.at = 0;
            }
            KeyCode::Char(c) if !key.modifiers.contains(KeyModifiers::CONTROL) => {
                input.text.insert(input.at, c);
                input.at += c.len_utf8();
            }
            KeyCode::Backspace => {
                let from = before(&input);
                input.text.replace_range(from..input.at, "");
                input.at = from;
            }
            KeyCode::Delete => {
                let to = after(&input);
                input.text.replace_range(input.at..to, "");
            }
            KeyCode::Left => input.at = before(&input),
            KeyCode::Right => input.at = after(&input),
            KeyCode::Home => input.at = 0,
            KeyCode::End => input.at = input.text.len(),
            KeyCode::Tab if !input.is_filter => self.complete(&mut input),
            KeyCode::Up | KeyCode::Down if !input.is_filter => self.recall(&mut input, key.code),
            _ => {}
        }
        if input.is_filter {
            self.filter = input.text.clone();
            self.list(Pane::Operations).select(Some(0));
        }
        self.input = Some(input);
        Act::Nothing
    }

    /// A line is complete.
    fn entered(&mut self, input: Input) -> Act {
        let line = input.text.trim().to_string();
        match command::read(&line, true) {
            Ok(command::Line::Nothing) => Act::Nothing,
            Ok(command::Line::Quit) => Act::Leave,
            _ if self.busy => {
                (self.message, self.is_bad) = ("busy: Esc stops".into(), true);
                Act::Nothing
            }
            _ => {
                self.lines.push(line.clone());
                Act::Ask(line)
            }
        }
    }

    fn complete(&mut self, input: &mut Input) {
        let (from, found) = command::complete(&input.text[..input.at], true, &self.operations, &self.names);
        let Some(first) = found.first() else { return };
        // As far as all of them go.
        let common = found.iter().skip(1).fold(first.clone(), |a, b| {
            a.chars().zip(b.chars()).take_while(|(x, y)| x == y).map(|(x, _)| x).collect()
        });
        let end = if found.len() == 1 { format!("{common} ") } else { common };
        input.text.replace_range(from..input.at, &end);
        input.at = from + end.len();
        (self.message, self.is_bad) = (if found.len() > 1 { found.join("  ") } else { String::new() }, false);
    }

    fn recall(&mut self, input: &mut Input, key: KeyCode) {
        let back = match (key, input.back) {
            (KeyCode::Up, None) => Some(1),
            (KeyCode::Up, Some(n)) => Some(n + 1),
            (_, Some(n)) if n > 1 => Some(n - 1),
            _ => None,
        };
        let back = back.map(|n| n.min(self.lines.len())).filter(|n| *n > 0);
        input.text = back.map_or(String::new(), |n| self.lines[self.lines.len() - n].clone());
        input.at = input.text.len();
        input.back = back;
    }

    /// A text that was pasted.
    pub fn paste(&mut self, text: &str) -> Act {
        if let Some(input) = &mut self.input {
            let text: String = text.chars().filter(|c| !c.is_control()).collect();
            input.text.insert_str(input.at, &text);
            input.at += text.len();
        }
        Act::Nothing
    }

    pub fn mouse(&mut self, mouse: MouseEvent) -> Act {
        let is_in = |r: &Rect| {
            (r.x..r.x + r.width).contains(&mouse.column) && (r.y..r.y + r.height).contains(&mouse.row)
        };
        let Some((pane, area)) = self.areas.iter().find(|(_, r)| is_in(r)).copied() else {
            return Act::Nothing;
        };
        match mouse.kind {
            MouseEventKind::Down(MouseButton::Left) => {
                let was = (self.focus, self.selected(pane));
                self.focus = pane;
                let row = mouse.row.checked_sub(area.y + 1).map(usize::from);
                let at = row.map(|row| row + self.lists[pane as usize].offset());
                let Some(at) = at.filter(|at| *at < self.len(pane)) else { return Act::Nothing };
                self.list(pane).select(Some(at));
                // A second click does what Enter does.
                if was == (pane, at) && !self.busy { self.enter() } else { Act::Nothing }
            }
            MouseEventKind::ScrollDown | MouseEventKind::ScrollUp => {
                self.focus = pane;
                self.go(if mouse.kind == MouseEventKind::ScrollDown { 3 } else { -3 });
                Act::Nothing
            }
            _ => Act::Nothing,
        }
    }
}

/// How deep each place of the history stands: branches stand deeper than the way that they leave.
fn depths(places: &[(Option<Place>, String)]) -> Vec<usize> {
    let mut depths: Vec<usize> = vec![];
    let mut is_left: HashSet<Option<Place>> = HashSet::new();
    for (from, _) in places {
        let before = from.and_then(|p| depths.get(p.0).copied()).unwrap_or(0);
        depths.push(before + usize::from(!is_left.insert(*from)));
    }
    depths
}

/// What is said in the line below.
fn line(said: &Said) -> String {
    match said {
        Said::Nothing | Said::Why(..) | Said::WhyNot(..) | Said::History(_) | Said::Trace(_) => String::new(),
        Said::Moved(m) if m.broken.is_empty() => String::new(),
        Said::Moved(_) => "the invariant is broken here: w says why".into(),
        Said::Wandered(taken, end, _) => animated::wandered(*taken, *end),
        Said::Sought(s, _) => animated::sought(s),
        Said::Loaded(l, _) => animated::loaded(l),
        said => animated::said(said).lines().next().unwrap_or_default().to_string(),
    }
}
