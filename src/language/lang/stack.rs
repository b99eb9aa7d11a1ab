//! Deep recursion: trees are as deep as texts nest, so walks over them run on a stack of their own.

use std::any::Any;
use std::cell::Cell;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

/// Enough for any tree that the parser accepts (it has a limit), and for any value of such a tree.
const STACK: usize = 512 << 20;

/// How deeply constructs may nest, and how high a tree may grow, in every language: later passes recurse over trees
/// on ordinary stacks.
pub const MAX_DEPTH: u32 = 1000;

thread_local! {
    /// Whether this thread has such a stack already.
    static IS_LARGE: Cell<bool> = const { Cell::new(false) };
}

/// A thread with such a stack, for whoever starts one of his own.
pub fn thread() -> std::thread::Builder {
    std::thread::Builder::new().stack_size(STACK)
}

/// Runs `f` with a stack large enough for any tree that the parser accepts.
pub fn with_large_stack<R: Send>(f: impl FnOnce() -> R + Send) -> io::Result<R> {
    catch_with_large_stack(f).map(|result| result.unwrap_or_else(|panic| resume_unwind(panic)))
}

/// The same; a panic comes back as a value.
pub fn catch_with_large_stack<R: Send>(
    f: impl FnOnce() -> R + Send,
) -> io::Result<Result<R, Box<dyn Any + Send>>> {
    if IS_LARGE.get() {
        // What `f` was about to change is dropped with it.
        return Ok(catch_unwind(AssertUnwindSafe(f)));
    }
    std::thread::scope(|scope| {
        let thread = thread().spawn_scoped(scope, || {
            IS_LARGE.set(true);
            f()
        })?;
        Ok(thread.join())
    })
}
