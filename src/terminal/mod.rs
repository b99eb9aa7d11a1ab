//! `kanon animate`: the session on a terminal. Keys in, screens out; what they are about is computed by
//! [`crate::animate`], in a thread of its own, so that a long step can be looked at and stopped.
//!
//! - [`app`]: what is selected, typed and unfolded, and what a key means. It knows no terminal.
//! - [`screen`]: the same, drawn.
//!
//! *Absent:* computing anything: every key that does something becomes a line, as people type it
//! ([`crate::animate::command`]).

mod app;
mod detail;
mod screen;

use crate::animate::command::{self, Line, Said};
use crate::animate::{Animated, Limits, Scene};
use crate::report::animated;
use crate::system::Stop;
use app::{Act, App, Told};
use ratatui::crossterm::event::{self, DisableMouseCapture, EnableMouseCapture, Event};
use ratatui::crossterm::execute;
use ratatui::crossterm::terminal::{
    EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode,
};
use ratatui::{Terminal, backend::CrosstermBackend};
use std::collections::VecDeque;
use std::io::{self, Stdout};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, TryRecvError, channel};
use std::time::Duration;

/// How often the flag and the session are looked at while no key is pressed.
const PAUSE: Duration = Duration::from_millis(40);

/// How it is shown.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Clicks and the wheel are taken from the terminal, which then selects no text.
    pub mouse: bool,
    /// With colours; else bold, dim and reversed only.
    pub colour: bool,
    /// How far a search may go.
    pub limits: Limits,
    /// Set from outside: leave.
    pub leave: Stop,
}

impl Default for Settings {
    fn default() -> Settings {
        let leave = Arc::new(AtomicBool::new(false));
        Settings { mouse: false, colour: true, limits: Limits::default(), leave }
    }
}

/// Shows a session until the user leaves it.
///
/// # Errors
/// A terminal that cannot be had.
pub fn run(session: Box<dyn Animated>, settings: &Settings) -> io::Result<()> {
    let names = (session.operation_names(), session.names());
    let (ask, asked) = channel::<String>();
    let (tell, told) = channel::<Told>();
    let stop: Stop = Arc::new(AtomicBool::new(false));
    let (flag, limits) = (stop.clone(), settings.limits);
    crate::lang::stack::thread().spawn(move || answer(session, limits, &asked, &tell, &flag))?;
    let mut screen = Screen::open(settings.mouse)?;
    // The first screen is asked for like any other.
    let _ = ask.send(String::new());
    let mut app = App::new(names.0, names.1, settings.colour);
    app.busy = true;
    let end = show(&mut screen, &mut app, settings, &ask, &told, &stop);
    stop.store(true, Ordering::Relaxed);
    drop(screen);
    end
}

fn show(
    screen: &mut Screen,
    app: &mut App,
    settings: &Settings,
    ask: &Sender<String>,
    told: &Receiver<Told>,
    stop: &Stop,
) -> io::Result<()> {
    let mut is_new = true;
    // What is typed while the session computes is for what is there then.
    let mut ahead: VecDeque<Event> = VecDeque::new();
    loop {
        match told.try_recv() {
            Ok(told) => {
                app.told(told);
                is_new = true;
            }
            Err(TryRecvError::Empty) => {}
            // The thread has gone: an answer will never come.
            Err(TryRecvError::Disconnected) => return Err(io::Error::other("the session has ended")),
        }
        if settings.leave.load(Ordering::Relaxed) {
            return Ok(());
        }
        if is_new {
            screen.0.draw(|frame| screen::draw(app, frame))?;
            is_new = false;
        }
        let next = match if app.busy { None } else { ahead.pop_front() } {
            Some(event) => event,
            None if event::poll(PAUSE)? => event::read()?,
            None => continue,
        };
        if app.busy && matches!(next, Event::Key(_) | Event::Mouse(_) | Event::Paste(_)) {
            match next {
                Event::Key(key) if app::is_stop(key) => ahead.clear(),
                _ => {
                    ahead.push_back(next);
                    continue;
                }
            }
        }
        let act = match next {
            Event::Key(key) => app.key(key),
            Event::Mouse(mouse) => app.mouse(mouse),
            Event::Paste(text) => app.paste(&text),
            _ => Act::Nothing,
        };
        is_new = true;
        match act {
            Act::Nothing => {}
            Act::Leave => return Ok(()),
            Act::Stop => stop.store(true, Ordering::Relaxed),
            Act::Ask(line) => {
                stop.store(false, Ordering::Relaxed);
                app.busy = true;
                if ask.send(line).is_err() {
                    return Err(io::Error::other("the session has ended"));
                }
            }
        }
    }
}

/// The session's thread: lines in, what they led to out.
fn answer(
    mut session: Box<dyn Animated>,
    limits: Limits,
    asked: &Receiver<String>,
    tell: &Sender<Told>,
    stop: &Stop,
) {
    for line in asked {
        let mut is_help = false;
        let obey = AssertUnwindSafe(|| match command::read(&line, true) {
            Ok(Line::Nothing | Line::Quit) => Ok(Said::Nothing),
            Ok(Line::Help) => {
                is_help = true;
                Ok(Said::Nothing)
            }
            Ok(Line::Command(name, rest)) => command::obey(&mut *session, name, &rest, limits, stop)
                .map_err(|refused| animated::words(&refused.diagnostics)),
            Ok(Line::Question(text)) => {
                let reply = session.ask(&text, stop);
                reply.map(Said::Reply).map_err(|refused| animated::words(&refused.diagnostics))
            }
            Err(why) => Err(why),
        });
        let said = catch_unwind(obey).unwrap_or_else(|_| Err("internal error, please report it".into()));
        // What was stopped is over; the screen is for what is there now.
        stop.store(false, Ordering::Relaxed);
        let scene = catch_unwind(AssertUnwindSafe(|| Scene::of(&mut *session, stop))).unwrap_or_default();
        if tell.send(Told { said, is_help, scene: Box::new(scene) }).is_err() {
            return;
        }
    }
}

/// The terminal in the state in which it is drawn on. It is as before when this is dropped, also by a panic.
struct Screen(Terminal<CrosstermBackend<Stdout>>);

impl Screen {
    fn open(mouse: bool) -> io::Result<Screen> {
        enable_raw_mode()?;
        let opened = execute!(io::stdout(), EnterAlternateScreen)
            .and_then(|()| if mouse { execute!(io::stdout(), EnableMouseCapture) } else { Ok(()) })
            .and_then(|()| Terminal::new(CrosstermBackend::new(io::stdout())));
        match opened {
            Ok(terminal) => Ok(Screen(terminal)),
            Err(e) => {
                restore();
                Err(e)
            }
        }
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        let _ = self.0.show_cursor();
        restore();
    }
}

fn restore() {
    // Each by itself: a terminal that has gone away needs none of them.
    let _ = execute!(io::stdout(), DisableMouseCapture);
    let _ = execute!(io::stdout(), LeaveAlternateScreen);
    let _ = disable_raw_mode();
}
