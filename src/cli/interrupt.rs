//! Ctrl-C.

use crate::run::Deadline;
use crate::system::Stop;
use std::sync::Mutex;
use std::sync::atomic::Ordering;

/// The flag that Ctrl-C sets: the program has one handler, and runs may follow one another.
static INTERRUPTED: Mutex<Option<Stop>> = Mutex::new(None);

/// The first Ctrl-C sets the flag, the second ends the program. Of several runs, the last that asked is meant.
pub fn listen(deadline: &Deadline) {
    if let Ok(mut flag) = INTERRUPTED.lock() {
        *flag = Some(deadline.flag.clone());
    }
    let set = ctrlc::set_handler(|| {
        let flag = INTERRUPTED.lock().ok().and_then(|flag| flag.clone());
        if flag.is_none_or(|flag| flag.swap(true, Ordering::Relaxed)) {
            std::process::exit(super::Exit::Unknown as i32);
        }
    });
    // Without a handler Ctrl-C ends the program at once, which is no worse; and there is one for the process.
    drop(set);
}
