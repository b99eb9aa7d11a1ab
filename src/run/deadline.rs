//! What ends a run early: the user, the clock, and a limit of memory. All set the same flag.

use crate::explore::memory::{Level, Limit};
use crate::system::Stop;
use crate::verdict::{Verdict, Why};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

/// How long a run may take, and how many bytes the program may have.
#[derive(Clone, Copy, Debug, Default)]
pub struct Bounds {
    /// Time from the beginning.
    pub time: Option<Duration>,
    /// Memory of the whole program.
    pub memory: Limit,
}

/// The flag that everything long looks at, and who set it.
pub struct Deadline {
    /// The flag: set when the time is up, when there is no memory left, or by whoever wants the run to end.
    pub flag: Stop,
    /// Which bound set it.
    cause: Arc<AtomicU8>,
    /// Who gives the answer.
    answers: Arc<AtomicU8>,
    bounds: Bounds,
    /// Whoever watches the bounds ends when this is dropped.
    _watch: Option<Sender<()>>,
}

/// How long a run may take to notice that its time is up: a time limit is kept within a second.
const GRACE: Duration = Duration::from_millis(700);

/// Who answers: nobody yet, the run, or the last resort. While a finding is told, it is the run for the time being.
const OPEN: u8 = 0;
const TELLING: u8 = 1;
const SETTLED: u8 = 2;
const RESORTED: u8 = 3;

/// Which bound set the flag: none, the clock, or memory.
const NONE: u8 = 0;
const TIME: u8 = 1;
const MEMORY: u8 = 2;

impl Deadline {
    /// For a part of the same run: it ends with the whole, for the same reason.
    pub fn part(&self) -> Deadline {
        let (flag, cause, bounds) = (self.flag.clone(), self.cause.clone(), self.bounds);
        Deadline { flag, cause, answers: Arc::default(), bounds, _watch: None }
    }

    /// No bounds.
    pub fn never() -> Deadline {
        Deadline::after(None)
    }

    /// Set after this time, if one is given.
    pub fn after(time: Option<Duration>) -> Deadline {
        Deadline::within(Bounds { time, ..Bounds::default() })
    }

    /// Set when one of the bounds is reached.
    pub fn within(bounds: Bounds) -> Deadline {
        Deadline::with_last_resort(bounds, |_| {})
    }

    /// The same, and if a single step of evaluation is so long that nobody looks at the flag, or fills the memory, the
    /// last resort is taken: it may answer in the run's place.
    pub fn with_last_resort(bounds: Bounds, resort: impl FnOnce(&Why) + Send + 'static) -> Deadline {
        let flag = Arc::new(AtomicBool::new(false));
        let cause = Arc::new(AtomicU8::new(NONE));
        let answers = Arc::new(AtomicU8::new(OPEN));
        let is_bounded = bounds.time.is_some() || bounds.memory.0.is_some();
        let watch = is_bounded.then(|| {
            let (sender, receiver) = channel::<()>();
            let (flag, cause, answers) = (flag.clone(), cause.clone(), answers.clone());
            std::thread::spawn(move || Watch { bounds, flag, cause, answers }.run(&receiver, resort));
            sender
        });
        Deadline { flag, cause, answers, bounds, _watch: watch }
    }

    /// The run has its answer: from here on the last resort is not taken. If it was taken already, the program is
    /// about to end, and there is nothing to do but wait.
    pub fn settle(&self) {
        self.become_from_open(SETTLED);
    }

    /// What was found is told, which takes a little and ends by itself: meanwhile the last resort is not taken.
    pub fn telling<T>(&self, tell: impl FnOnce() -> T) -> T {
        self.become_from_open(TELLING);
        let told = tell();
        let _ = self.answers.compare_exchange(TELLING, OPEN, Ordering::Relaxed, Ordering::Relaxed);
        told
    }

    fn become_from_open(&self, new: u8) {
        let change = || self.answers.compare_exchange(OPEN, new, Ordering::Relaxed, Ordering::Relaxed);
        while change() == Err(RESORTED) {
            std::thread::sleep(Duration::from_secs(1));
        }
    }

    /// Whether the run is to end.
    pub fn is_set(&self) -> bool {
        self.flag.load(Ordering::Relaxed)
    }

    /// Why the flag is set.
    pub fn why(&self) -> Option<Why> {
        self.bounds.reached(&self.cause).or_else(|| self.is_set().then_some(Why::Interrupted))
    }

    /// A verdict that is only "stopped" gets the reason for which the flag was set.
    pub fn explain<F>(&self, verdict: Verdict<F>) -> Verdict<F> {
        match (verdict, self.why()) {
            (Verdict::Unknown(Why::Interrupted | Why::Limit(_)), Some(why)) => Verdict::Unknown(why),
            (verdict, _) => verdict,
        }
    }
}

impl Bounds {
    /// The one that was reached first.
    fn reached(&self, cause: &AtomicU8) -> Option<Why> {
        match cause.load(Ordering::Relaxed) {
            TIME => self.time.map(Why::Timeout),
            MEMORY => self.memory.0.map(Why::MaxMemory),
            _ => None,
        }
    }
}

/// Whoever looks at the clock and at the memory.
struct Watch {
    bounds: Bounds,
    flag: Stop,
    cause: Arc<AtomicU8>,
    answers: Arc<AtomicU8>,
}

impl Watch {
    fn run(&self, ends: &Receiver<()>, resort: impl FnOnce(&Why)) {
        let begun = Instant::now();
        // When the clock is looked at next: at first when the time is up, then whenever the grace is over.
        let mut due = self.bounds.time;
        loop {
            let (level, mut pause) = match self.bounds.memory.0 {
                Some(_) => self.bounds.memory.pause(),
                None => (Level::Below, Duration::MAX),
            };
            if level > Level::Below {
                self.set(MEMORY);
            }
            let left = due.map(|due| due.saturating_sub(begun.elapsed()));
            let is_late = left == Some(Duration::ZERO) && self.cause.load(Ordering::Relaxed) == TIME;
            if left == Some(Duration::ZERO) {
                self.set(TIME);
                due = Some(begun.elapsed() + GRACE);
            }
            if is_late || level == Level::Exceeded {
                match self.answers.compare_exchange(OPEN, RESORTED, Ordering::Relaxed, Ordering::Relaxed) {
                    Ok(_) => return resort(&self.bounds.reached(&self.cause).unwrap_or(Why::Interrupted)),
                    Err(TELLING) => {}
                    Err(_) => return,
                }
            }
            if let Some(due) = due {
                pause = pause.min(due.saturating_sub(begun.elapsed()));
            }
            // Nothing is ever sent: either the time passes or the sender is gone.
            if ends.recv_timeout(pause) != Err(RecvTimeoutError::Timeout) {
                return;
            }
        }
    }

    /// The first bound that is reached is the one that is told.
    fn set(&self, cause: u8) {
        let _ = self.cause.compare_exchange(NONE, cause, Ordering::Relaxed, Ordering::Relaxed);
        self.flag.store(true, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bounds(memory: Option<u64>, time: Option<Duration>) -> Bounds {
        Bounds { time, memory: Limit(memory) }
    }

    fn wait(deadline: &Deadline) -> Option<Why> {
        let begun = Instant::now();
        while !deadline.is_set() && begun.elapsed() < Duration::from_secs(20) {
            std::thread::sleep(Duration::from_millis(1));
        }
        deadline.why()
    }

    #[test]
    fn the_bound_that_is_reached_first_is_told() {
        let short = Some(Duration::from_millis(5));
        assert_eq!(wait(&Deadline::after(short)), short.map(Why::Timeout));
        if crate::explore::memory::used().is_some() {
            let long = Some(Duration::from_secs(3600));
            assert_eq!(wait(&Deadline::within(bounds(Some(1), long))), Some(Why::MaxMemory(1)));
            assert_eq!(wait(&Deadline::within(bounds(Some(u64::MAX), short))), short.map(Why::Timeout));
        }
        let never = Deadline::within(bounds(None, None));
        assert!(never._watch.is_none() && never.why().is_none());
        never.flag.store(true, Ordering::Relaxed);
        assert_eq!(never.why(), Some(Why::Interrupted));
    }

    #[test]
    fn the_last_resort_hears_why_and_comes_once_or_never() {
        let told = |bounds: Bounds, is_settled: bool| {
            let (sender, receiver) = channel();
            let deadline = Deadline::with_last_resort(bounds, move |why| {
                let _ = sender.send(why.clone());
            });
            if is_settled {
                deadline.settle();
            }
            let why = receiver.recv_timeout(Duration::from_secs(20));
            drop(deadline);
            why.ok()
        };
        let short = Some(Duration::from_millis(300));
        assert_eq!(told(bounds(None, short), false), short.map(Why::Timeout));
        assert_eq!(
            told(bounds(None, short), true),
            None,
            "it is settled: the sender is dropped with the watch"
        );
        if crate::explore::memory::used().is_some() {
            assert_eq!(told(bounds(Some(1), short), false), Some(Why::MaxMemory(1)));
        }
    }
}
