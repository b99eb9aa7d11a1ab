//! Room for large tables that are read at random places.

/// An empty vector with room for `n` items. Where the system can do it, a large one lies on large pages: a lookup
/// at a random place then seldom waits for the translation of its address.
#[allow(unsafe_code)] // One hint to the system.
pub fn room<T>(n: usize) -> Vec<T> {
    let room = Vec::with_capacity(n);
    #[cfg(target_os = "linux")]
    {
        const LARGE: usize = 2 << 20;
        let bytes = n * size_of::<T>();
        let begin = room.as_ptr() as usize;
        // Whole large pages inside of the allocation.
        let (from, to) = (begin.next_multiple_of(LARGE), (begin + bytes) / LARGE * LARGE);
        if from < to {
            // SAFETY: the range is a part of the allocation; advice about it changes nothing that can be read there.
            // An error means that there is no such advice, and then there are small pages.
            let _ = unsafe { libc::madvise(from as *mut libc::c_void, to - from, libc::MADV_HUGEPAGE) };
        }
    }
    room
}
