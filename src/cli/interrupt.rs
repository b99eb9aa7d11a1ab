//! Ctrl-C, and whatever else asks a program to end.

use crate::checkpoint::Asked;
use crate::run::Deadline;
use crate::system::Stop;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// The flag that Ctrl-C sets, and who is asked for a checkpoint before: the program has one handler, and runs may follow
/// one another.
static INTERRUPTED: Mutex<Option<(Stop, Option<Arc<Asked>>)>> = Mutex::new(None);

/// How long a search may take to come between two events, where it can be written down.
const GRACE: Duration = Duration::from_secs(10);

/// The first Ctrl-C sets the flag, the second ends the program. Of several runs, the last that asked is meant.
pub fn listen(deadline: &Deadline) {
    listen_asking(deadline, None);
}

/// The same; the first Ctrl-C asks for a last checkpoint, after which the search ends by itself.
pub fn listen_asking(deadline: &Deadline, asked: Option<Arc<Asked>>) {
    if let Ok(mut flag) = INTERRUPTED.lock() {
        *flag = Some((deadline.flag.clone(), asked));
    }
    let set = ctrlc::set_handler(|| {
        let Some((stop, asked)) = INTERRUPTED.lock().ok().and_then(|flag| flag.clone()) else {
            std::process::exit(super::Exit::Unknown as i32);
        };
        let is_second = asked.as_ref().is_some_and(|a| a.is_last()) || stop.load(Ordering::Relaxed);
        if is_second {
            std::process::exit(super::Exit::Unknown as i32);
        }
        if asked.is_some_and(|a| a.last()) {
            // A single evaluation may be so long that nobody hears of it; then an older checkpoint has to do.
            std::thread::spawn(move || {
                std::thread::sleep(GRACE);
                stop.store(true, Ordering::Relaxed);
            });
        } else {
            stop.store(true, Ordering::Relaxed);
        }
    });
    // Without a handler Ctrl-C ends the program at once, which is no worse; and there is one for the process.
    drop(set);
}
