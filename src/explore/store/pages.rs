//! Room for large tables that are read at random places.

use std::mem::MaybeUninit;
use std::sync::Arc;
use std::sync::atomic::AtomicU32;

/// So many words of 0. Where the system can do it, many of them lie on large pages: a lookup at a random place then
/// seldom waits for the translation of its address.
#[allow(unsafe_code)] // All are written before they are read.
pub fn zeros(n: usize) -> Arc<[AtomicU32]> {
    let mut words = Arc::<[AtomicU32]>::new_uninit_slice(n);
    // Nobody else has it yet.
    for word in Arc::get_mut(&mut words).map(advised).into_iter().flatten() {
        word.write(AtomicU32::new(0));
    }
    // SAFETY: each word was written, since there is one owner.
    unsafe { words.assume_init() }
}

/// The same room, of which the system knows how it is used.
fn advised<T>(room: &mut [MaybeUninit<T>]) -> &mut [MaybeUninit<T>] {
    #[cfg(target_os = "linux")]
    {
        const LARGE: usize = 2 << 20;
        let bytes = std::mem::size_of_val(room);
        let begin = room.as_ptr() as usize;
        // Whole large pages inside of the allocation.
        let (from, to) = (begin.next_multiple_of(LARGE), (begin + bytes) / LARGE * LARGE);
        if from < to {
            advise(from, to);
        }
    }
    room
}

#[cfg(target_os = "linux")]
#[allow(unsafe_code)] // One hint to the system.
fn advise(from: usize, to: usize) {
    // SAFETY: the range is a part of an allocation; advice about it changes nothing that can be read there. An error
    // means that there is no such advice, and then there are small pages.
    let _ = unsafe { libc::madvise(from as *mut libc::c_void, to - from, libc::MADV_HUGEPAGE) };
}
