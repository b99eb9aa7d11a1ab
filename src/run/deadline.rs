//! What ends a run early: the user and the clock. Both set the same flag.

use crate::system::Stop;
use crate::verdict::{Verdict, Why};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::time::Duration;

/// The flag that everything long looks at, and who set it.
pub struct Deadline {
    /// The flag: set when the time is up, or by whoever wants the run to end.
    pub flag: Stop,
    timed_out: Arc<AtomicBool>,
    /// Who gives the answer.
    answers: Arc<AtomicU8>,
    limit: Option<Duration>,
    /// The clock's thread ends when this is dropped.
    _clock: Option<Sender<()>>,
}

/// How long a run may take to notice that its time is up: a time limit is kept within a second.
const GRACE: Duration = Duration::from_millis(700);

/// Who answers: nobody yet, the run, or the last resort. While a finding is told, it is the run for the time being.
const OPEN: u8 = 0;
const TELLING: u8 = 1;
const SETTLED: u8 = 2;
const RESORTED: u8 = 3;

impl Deadline {
    /// No clock.
    pub fn never() -> Deadline {
        Deadline::after(None)
    }

    /// Set after this time, if one is given.
    pub fn after(limit: Option<Duration>) -> Deadline {
        Deadline::with_last_resort(limit, || {})
    }

    /// The same, and if a single step of evaluation is so long that nobody looks at the flag, the last resort is
    /// taken: it may answer in the run's place.
    pub fn with_last_resort(limit: Option<Duration>, resort: impl FnOnce() + Send + 'static) -> Deadline {
        let flag = Arc::new(AtomicBool::new(false));
        let timed_out = Arc::new(AtomicBool::new(false));
        let answers = Arc::new(AtomicU8::new(OPEN));
        let clock = limit.map(|limit| {
            let (sender, receiver) = channel::<()>();
            let (flag, timed_out, answers) = (flag.clone(), timed_out.clone(), answers.clone());
            std::thread::spawn(move || {
                // Nothing is ever sent: either the time passes or the sender is gone.
                if receiver.recv_timeout(limit) != Err(RecvTimeoutError::Timeout) {
                    return;
                }
                timed_out.store(true, Ordering::Relaxed);
                flag.store(true, Ordering::Relaxed);
                while receiver.recv_timeout(GRACE) == Err(RecvTimeoutError::Timeout) {
                    let open = answers.compare_exchange(OPEN, RESORTED, Ordering::Relaxed, Ordering::Relaxed);
                    match open {
                        Ok(_) => return resort(),
                        Err(TELLING) => {}
                        Err(_) => return,
                    }
                }
            });
            sender
        });
        Deadline { flag, timed_out, answers, limit, _clock: clock }
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
        match self.limit.filter(|_| self.timed_out.load(Ordering::Relaxed)) {
            Some(limit) => Some(Why::Timeout(limit)),
            None => self.is_set().then_some(Why::Interrupted),
        }
    }

    /// A verdict that is only "stopped" gets the reason for which the flag was set.
    pub fn explain<F>(&self, verdict: Verdict<F>) -> Verdict<F> {
        match (verdict, self.why()) {
            (Verdict::Unknown(Why::Interrupted | Why::Limit(_)), Some(why)) => Verdict::Unknown(why),
            (verdict, _) => verdict,
        }
    }
}
