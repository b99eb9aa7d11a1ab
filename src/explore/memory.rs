//! How much memory the program has, and how much it may have.
//!
//! There is one account, and the system keeps it: the pages of the program that are in memory, whatever they are for.
//! Nobody adds up what tables think that they hold. Such a sum misses what allocators keep in reserve, what two threads
//! hold twice, and every structure that somebody forgets to enter; the system's number misses nothing. It is read
//! before the program can have used up what is left ([`Limit::pause`]), and what is done then goes by how near the limit
//! is:
//!
//! - a little below it, searches end by themselves between two states ([`Limit::is_reached`]), and a table that would
//!   have to grow beyond it does not ([`Limit::allows`]), so that what was found is told in full and can be written down;
//! - at the limit everything that looks at the run's flag ends (`run::deadline`);
//! - a little above it, where a single step fills the memory and looks at nothing, the last resort is taken: the run
//!   ends at once, with Unknown for an answer.

use std::time::Duration;

/// Bytes of the program that are in memory; `None` where the system does not tell.
pub fn used() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/self/statm").ok()?;
    let pages: u64 = text.split(' ').nth(1)?.parse().ok()?;
    Some(pages * page())
}

/// A part of the memory that the machine has for this program and others like it: half of what is not used, and what
/// this program has. `None` where the system does not tell.
pub fn share() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|l| l.strip_prefix("MemAvailable:"))?;
    let available: u64 = line.trim().split(' ').next()?.parse().ok()?;
    let free = available * 1024;
    // A control group that it is in may have less.
    let of_group =
        |name: &str| std::fs::read_to_string(format!("/sys/fs/cgroup/{name}")).ok()?.trim().parse().ok();
    let least = of_group("memory.max").map_or(free, |limit: u64| limit.min(free));
    Some(least / 2 + used()?)
}

/// Gives memory back to the system that was used and is free now, where that has to be asked for.
#[allow(unsafe_code)] // One request to the allocator.
pub fn give_back() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    {
        // SAFETY: it looks at free memory only.
        let _ = unsafe { libc::malloc_trim(0) };
    }
}

/// Bytes of a page.
#[allow(unsafe_code)] // One question to the system.
fn page() -> u64 {
    #[cfg(unix)]
    {
        // SAFETY: it reads no memory of ours; an error is a negative number.
        let size = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
        u64::try_from(size).unwrap_or(4096)
    }
    #[cfg(not(unix))]
    4096
}

/// How many bytes the program may have, if there is a limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Limit(pub Option<u64>);

/// How far the program is beyond its limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    Below,
    /// What looks at the run's flag is to end.
    Reached,
    /// The run is to end now.
    Exceeded,
}

/// So many bytes a nanosecond are taken for the most that is written. A page that is had for the first time is cleared
/// and then written.
const RATE: u64 = 4;
/// Memory is not asked for more often, nor less.
const PAUSES: [Duration; 2] = [Duration::from_millis(1), Duration::from_millis(100)];

impl Limit {
    /// Whether a search should end that can end in an orderly way: one part in 32 of the limit is left.
    pub fn is_reached(self) -> bool {
        !self.allows(0)
    }

    /// Whether so many bytes more are within what a search may have.
    pub fn allows(self, more: usize) -> bool {
        let soft = |limit: u64| limit - limit / 32;
        self.0.is_none_or(|limit| used().is_none_or(|used| used.saturating_add(more as u64) <= soft(limit)))
    }

    /// Where the program is now, and when to look again: before it can have got to the next level.
    pub fn pause(self) -> (Level, Duration) {
        let [least, most] = PAUSES;
        let Some((limit, used)) = self.0.zip(used()) else { return (Level::Below, most) };
        let hard = limit.saturating_add(limit / 20);
        let (level, next) = match used {
            _ if used <= limit => (Level::Below, limit),
            _ if used <= hard => (Level::Reached, hard),
            _ => return (Level::Exceeded, least),
        };
        (level, Duration::from_nanos((next - used) / RATE).clamp(least, most))
    }
}

#[cfg(test)]
mod tests {
    use super::{Level, Limit};

    #[test]
    #[cfg(target_os = "linux")]
    fn memory_that_is_written_counts() {
        let before = super::used().expect("linux tells");
        let block = vec![1u8; 64 << 20];
        let after = super::used().expect("linux tells");
        assert!(after >= before + (60 << 20), "{before} {after}");
        assert!(block.iter().all(|b| *b == 1));
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn the_nearer_the_limit_the_sooner_it_is_looked_at() {
        assert_eq!(Limit(None).pause().0, Level::Below);
        assert!(!Limit(None).is_reached() && Limit(None).allows(usize::MAX));
        let (level, far) = Limit(Some(u64::MAX)).pause();
        assert_eq!((level, far), (Level::Below, super::PAUSES[1]));
        assert_eq!(Limit(Some(1)).pause(), (Level::Exceeded, super::PAUSES[0]));
        assert!(Limit(Some(1)).is_reached());
        let plenty = Limit(Some(1 << 40));
        assert!(plenty.allows(1 << 30) && !plenty.allows(1 << 40) && !plenty.is_reached());
    }
}
