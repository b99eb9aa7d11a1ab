//! What ends a run early: the user and the clock. Both set the same flag.

use crate::explore::Why;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::time::Duration;

/// The flag that everything long looks at, and who set it.
pub struct Stop {
    pub flag: Arc<AtomicBool>,
    timed_out: Arc<AtomicBool>,
    limit: Option<Duration>,
    /// The clock's thread ends when this is dropped.
    _clock: Option<Sender<()>>,
}

impl Stop {
    pub fn never() -> Stop {
        Stop::after(None)
    }

    /// Set after this time, if one is given.
    pub fn after(limit: Option<Duration>) -> Stop {
        let flag = Arc::new(AtomicBool::new(false));
        let timed_out = Arc::new(AtomicBool::new(false));
        let clock = limit.map(|limit| {
            let (sender, receiver) = channel::<()>();
            let (flag, timed_out) = (flag.clone(), timed_out.clone());
            std::thread::spawn(move || {
                // Nothing is ever sent: either the time passes or the sender is gone.
                if receiver.recv_timeout(limit) == Err(std::sync::mpsc::RecvTimeoutError::Timeout) {
                    timed_out.store(true, Ordering::Relaxed);
                    flag.store(true, Ordering::Relaxed);
                }
            });
            sender
        });
        Stop { flag, timed_out, limit, _clock: clock }
    }

    /// The first Ctrl-C sets the flag, the second ends the program.
    pub fn on_interrupt(&self) {
        let flag = self.flag.clone();
        let set = ctrlc::set_handler(move || {
            if flag.swap(true, Ordering::Relaxed) {
                std::process::exit(super::Exit::Unknown as i32);
            }
        });
        // Without a handler Ctrl-C ends the program at once, which is no worse.
        drop(set);
    }

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
}
