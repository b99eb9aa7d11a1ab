//! How much a request may take, and what one that went wrong leaves behind.

use std::sync::{Mutex, MutexGuard};
use std::time::Duration;

/// How much a request may take.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// For a question or a step.
    pub time: Duration,
    /// For a check.
    pub check_time: Duration,
    /// States of a check.
    pub states: usize,
    /// Bytes of the whole program, for a check.
    pub memory: u64,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            time: Duration::from_secs(10),
            check_time: Duration::from_secs(3600),
            states: 50_000_000,
            memory: 4 << 30,
        }
    }
}

/// A request that panicked has left the tab as it was before, or with a step less: both can be looked at.
pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}
