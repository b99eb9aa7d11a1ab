//! The production form of the chain's last machines: what an explorer drives.
//!
//! [`Kernel`] owns the three variables `rrac`, `runex`, `rerr` (Fig. 13) behind three small traits, and its
//! only mutators are the events. A guard is not tested a second time: it is a token that can be had in one
//! way only.
//!
//! | guard | token | had from |
//! |---|---|---|
//! | `s1 ∈ runex` | [`Taken`] | [`Kernel::take`]; of `i`, [`Root`], once from [`Kernel::scope`] or [`Kernel::reopen`] |
//! | `s1 ↦ s2 ∈ tr` | [`Expansion`] | [`Kernel::expand`], which lends it to the successor iteration of `s1`; [`Kernel::receive`] |
//! | `rep(s2) ∉ rrac` | [`Absent`] | [`Expansion::arrive`], when the store inserted the key |
//! | `rep[tr[{s1}]] ⊆ rrac ∪ rerr` | [`Expanded`] | [`Kernel::expand`], when the iteration ended by itself |
//! | `runex = ∅ ∧ rerr = ∅` | [`Pass`] | [`Kernel::pass`] |
//!
//! Tokens belong to the kernel that made them: they carry its brand, a lifetime `'b` that is invariant and fresh for
//! each [`Kernel::scope`], so a token of another kernel does not compile. Nor can a token be spent twice, since it is
//! moved. What can happen is that one is lost, dropped or unwound by a panic, and then there is no [`Pass`]: a lost
//! [`Taken`], [`Root`] or [`Expanded`] leaves its state in `runex`, and a lost [`Absent`] leaves a count
//! ([`Kernel::unclassified`]) that nothing brings back to zero.
//!
//! What no type can know is the caller's part: that the iteration yields all of `tr[{s1}]`, that
//! [`Expansion::add_inv`] is called for a state of `inv` and [`Expansion::add_err`] for one outside, that
//! the key handed to [`Expansion::arrive`] lies in the orbit of `s2`, and that the three parts keep their contracts.
//!
//! The events are those of [`crate::wmc`], which have no guard `rerr = ∅`; so several workers may fire them on
//! shared sets. With a canonical key they are those of [`crate::rmc2`], with the state as its own key those of
//! [`crate::mc2`]. That this form and those agree (kernel/AGR of kanon-proofs) is executed, not proved.
//!
//! **In parts.** An expansion that is stopped gives its token back and may be taken up again later, with other events
//! between: the successors that have arrived stay arrived (wmc/part/STA), each arrival adds one (wmc/part/NEXT), and
//! when all have, remove is enabled (wmc/part/END). So the root may be expanded as its successors become known, one
//! valuation of the constants after the other, and other states explored in the meantime.
//!
//! **In shares.** Several kernels may have a share of the states each: `rrac`, `runex` and `rerr` are the unions of theirs,
//! and each state belongs to one of them. A successor that belongs to another is handed to that one, which lends an
//! [`Expansion`] for it ([`Kernel::receive`]); the expansion that found it is stopped meanwhile, so that its state stays in
//! `runex`, and is taken up again, with nothing left to yield, when all that it has handed on have arrived. So each event
//! is an event of wmc on the unions, also `remove`. A [`Pass`] is that of a share: the whole has passed if all shares have
//! and nothing is on its way.
//!
//! Absent on purpose: states (the store knows rows, the kernel only ids), hashing, order, clocks, I/O,
//! allocation, dynamic dispatch. The special state `i` is in no store: nothing leads to it (`mc0/prp4`), so
//! nobody asks whether it is there; it is a flag that [`Kernel::remove_root`] clears.

use core::marker::PhantomData;
use core::ops::ControlFlow;

/// What became of a key: it was there already, or it is there now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Insertion<Id> {
    /// The key had been inserted before, under this id.
    Present(Id),
    /// The key was absent and has just been inserted under this id.
    Inserted(Id),
}

/// `rrac ∪ rerr` by key: the visited states.
///
/// `K` is what the store wants to know of an arriving state: a row of words, perhaps with a parent link, or a
/// canonical row to compare and a concrete one to keep.
///
/// Contract: [`Insertion::Inserted`] is answered at most once for a key. For a store that threads share, this
/// makes the insertion the point at which the event happens.
pub trait Rrac<K> {
    /// Names a stored state.
    type Id: Copy;
    /// Looks the key up and inserts it if it is absent.
    fn insert_if_absent(&mut self, key: K) -> Insertion<Self::Id>;
}

/// `runex`: the states stored but not fully explored, those being explored just now included.
pub trait Runex {
    /// Names a stored state.
    type Id: Copy;
    /// `runex := runex ∪ {s}`. Threads: counted before it can be taken.
    fn insert(&mut self, s: Self::Id);
    /// Some member that has not been taken. It stays a member.
    fn take(&mut self) -> Option<Self::Id>;
    /// `runex := runex ∖ {s}`, for a member that was taken.
    fn remove(&mut self, s: Self::Id);
    /// `runex = ∅`: none waits and none is taken.
    fn is_empty(&self) -> bool;
}

/// `rerr`: the stored states that violate the invariant.
pub trait Rerr {
    /// Names a stored state.
    type Id: Copy;
    /// `rerr := rerr ∪ {s}`.
    fn insert(&mut self, s: Self::Id);
    /// `rerr = ∅`.
    fn is_empty(&self) -> bool;
}

/// A lifetime that fits itself only.
type Brand<'b> = PhantomData<fn(&'b ()) -> &'b ()>;

/// Names the special state `i` in tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct I;

/// The guard `i ∈ runex`. There is one for each kernel, handed out by [`Kernel::scope`] or [`Kernel::reopen`], and it is
/// not spent twice:
///
/// ```compile_fail,E0382
/// use core::ops::ControlFlow;
/// use kanon_refinement::kernel::{Kernel, Rerr, Rrac, Runex};
/// fn twice<R: Rrac<u8, Id = u8>, U: Runex<Id = u8>, E: Rerr<Id = u8>>(a: (R, U, E)) {
///     Kernel::scope(a.0, a.1, a.2, |mut kernel, root| {
///         let _ = kernel.expand_root(root, |_| ControlFlow::Break(()));
///         let _ = kernel.expand_root(root, |_| ControlFlow::Continue(())); // the first call has it
///     });
/// }
/// ```
pub type Root<'b> = Taken<'b, I>;

/// A member of `runex` that is this caller's to explore: the guard `s1 ∈ runex`.
///
/// A token that is dropped leaves its state in `runex`, so no [`Pass`] can follow. It is of no use to another kernel:
///
/// ```compile_fail,E0521
/// use core::ops::ControlFlow;
/// use kanon_refinement::kernel::{Kernel, Rerr, Rrac, Runex};
/// fn mixed<R: Rrac<u8, Id = u8>, U: Runex<Id = u8>, E: Rerr<Id = u8>>(a: (R, U, E), b: (R, U, E)) {
///     Kernel::scope(a.0, a.1, a.2, |mut first, _| {
///         Kernel::scope(b.0, b.1, b.2, |mut second, _| {
///             let Some(s1) = first.take() else { return };
///             let _ = second.expand(s1, |_, _| ControlFlow::Continue(())); // `first` made it
///         });
///     });
/// }
/// ```
#[must_use = "a taken state stays in runex until it is expanded and removed"]
#[derive(Debug)]
pub struct Taken<'b, Id> {
    id: Id,
    brand: Brand<'b>,
}

impl<Id: Copy> Taken<'_, Id> {
    /// The state.
    #[inline]
    pub fn id(&self) -> Id {
        self.id
    }
}

/// A state whose key was absent and is stored now: the guard `rep(s2) ∉ rrac`.
///
/// It belongs to one expansion (`'k` is invariant and fresh for each) and cannot leave it. If it is not spent on
/// [`Expansion::add_inv`] or [`Expansion::add_err`] there, its state is stored and in neither set, and the kernel does
/// not forget that ([`Kernel::unclassified`]). It cannot be spent on another expansion:
///
/// ```compile_fail,E0521
/// use core::ops::ControlFlow;
/// use kanon_refinement::kernel::{Arrival, Kernel, Rerr, Root, Rrac, Runex};
/// fn mixed<'a, 'b, R: Rrac<u8, Id = u8>, U: Runex<Id = u8>, E: Rerr<Id = u8>>(
///     a: &mut Kernel<'a, R, U, E>, i: Root<'a>, b: &mut Kernel<'b, R, U, E>, j: Root<'b>,
/// ) {
///     let _ = a.expand_root(i, |x| {
///         if let Arrival::New(s2) = x.arrive(1) {
///             let _ = b.expand_root(j, |y| {
///                 y.add_inv(s2); // `x` made it, not `y`
///                 ControlFlow::Continue(())
///             });
///         }
///         ControlFlow::Continue(())
///     });
/// }
/// ```
#[must_use = "a stored state has to become a member of rrac (add_inv) or of rerr (add_err)"]
#[derive(Debug)]
pub struct Absent<'k, Id> {
    id: Id,
    brand: Brand<'k>,
}

impl<Id: Copy> Absent<'_, Id> {
    /// The state.
    #[inline]
    pub fn id(&self) -> Id {
        self.id
    }
}

/// A state all of whose successors have arrived: the guard `rep[tr[{s1}]] ⊆ rrac ∪ rerr`. Another kernel does not
/// remove it:
///
/// ```compile_fail,E0521
/// use core::ops::ControlFlow;
/// use kanon_refinement::kernel::{Kernel, Outcome, Rerr, Rrac, Runex};
/// fn mixed<R: Rrac<u8, Id = u8>, U: Runex<Id = u8>, E: Rerr<Id = u8>>(a: (R, U, E), b: (R, U, E)) {
///     Kernel::scope(a.0, a.1, a.2, |mut first, i| {
///         Kernel::scope(b.0, b.1, b.2, |mut second, _| {
///             if let Outcome::Exhausted(i) = first.expand_root(i, |_| ControlFlow::Continue(())) {
///                 second.remove_root(i); // `first` expanded it
///             }
///         });
///     });
/// }
/// ```
#[must_use = "an expanded state stays in runex until it is removed"]
#[derive(Debug)]
pub struct Expanded<'b, Id> {
    id: Id,
    brand: Brand<'b>,
}

impl<Id: Copy> Expanded<'_, Id> {
    /// The state.
    #[inline]
    pub fn id(&self) -> Id {
        self.id
    }
}

/// The answer of the event `pass`: `reach ⊆ inv`. Only [`Kernel::pass`] makes one.
#[derive(Debug, PartialEq, Eq)]
pub struct Pass(());

/// The answer of the event `fail`: `reach ⊄ inv`. Only [`Kernel::fail`] makes one.
#[derive(Debug, PartialEq, Eq)]
pub struct Fail(());

/// The paper's `ANSWER = {Pass, Fail}`.
#[derive(Debug, PartialEq, Eq)]
pub enum Answer {
    /// All reachable states satisfy the invariant.
    Pass(Pass),
    /// A reachable state violates it.
    Fail(Fail),
}

/// What [`Expansion::arrive`] found.
#[derive(Debug)]
pub enum Arrival<'k, Id> {
    /// The key is stored: `rep(s2) ∈ rrac ∪ rerr`. No event.
    Known(Id),
    /// The key was absent: one of the two events is due.
    New(Absent<'k, Id>),
}

/// What [`Expansion::visit`] did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Visit<Id> {
    /// Nothing: the key was stored.
    Known(Id),
    /// add_inv.
    Inv(Id),
    /// add_err.
    Err(Id),
}

/// How an expansion ended.
#[must_use = "an expanded state stays in runex until it is removed"]
#[derive(Debug)]
pub enum Outcome<'b, Id> {
    /// The iteration was exhausted and every arrival classified.
    Exhausted(Expanded<'b, Id>),
    /// It was stopped, or an [`Absent`] token was lost at some time. The state is still in `runex`.
    Stopped(Taken<'b, Id>),
}

/// Counts an arrival if the store panics, which may have stored it by then. Costs nothing otherwise.
struct Unwound<'c>(&'c mut usize);

impl Drop for Unwound<'_> {
    fn drop(&mut self) {
        if !planted!("kernel/arrive/act2") {
            *self.0 += 1;
        }
    }
}

/// The kernel lent to one successor iteration.
#[derive(Debug)]
pub struct Expansion<'k, 'b, R, U, E> {
    kernel: &'k mut Kernel<'b, R, U, E>,
    brand: Brand<'k>,
}

impl<'k, 'b, R, U, E, Id> Expansion<'k, 'b, R, U, E>
where
    Id: Copy,
    U: Runex<Id = Id>,
    E: Rerr<Id = Id>,
{
    /// A successor with this key: looks it up and stores it if it is absent.
    #[inline]
    pub fn arrive<K>(&mut self, key: K) -> Arrival<'k, Id>
    where
        R: Rrac<K, Id = Id>,
    {
        let Kernel { rrac, unclassified, .. } = &mut *self.kernel;
        let unwound = Unwound(unclassified);
        let insertion = rrac.insert_if_absent(key);
        core::mem::forget(unwound);
        match insertion {
            Insertion::Present(id) => Arrival::Known(id),
            Insertion::Inserted(id) => {
                if !planted!("kernel/arrive/act1") {
                    self.kernel.unclassified += 1;
                }
                Arrival::New(Absent { id, brand: PhantomData })
            }
        }
    }

    /// chain: rmc2/add_inv (Fig. 12 without rac, unex). Caller's part: `s2 ∈ inv`.
    #[inline]
    pub fn add_inv(&mut self, s2: Absent<'k, Id>) {
        // Uncounted after it is open: a frontier that panics has not taken it.
        if !planted!("kernel/add_inv/act1") {
            self.kernel.runex.insert(s2.id);
        }
        self.kernel.unclassified -= 1;
    }

    /// chain: rmc2/add_err (Fig. 12 without err). Caller's part: `s2 ∉ inv`.
    #[inline]
    pub fn add_err(&mut self, s2: Absent<'k, Id>) {
        if !planted!("kernel/add_err/act1") {
            self.kernel.rerr.insert(s2.id);
        }
        self.kernel.unclassified -= 1;
    }

    /// [`Expansion::arrive`] and, for a new state, the event that `inv` decides.
    #[inline]
    pub fn visit<K>(&mut self, key: K, inv: impl FnOnce(&R, Id) -> bool) -> Visit<Id>
    where
        R: Rrac<K, Id = Id>,
    {
        match self.arrive(key) {
            Arrival::Known(id) => Visit::Known(id),
            Arrival::New(s2) => {
                let id = s2.id;
                if inv(&self.kernel.rrac, id) {
                    self.add_inv(s2);
                    Visit::Inv(id)
                } else {
                    self.add_err(s2);
                    Visit::Err(id)
                }
            }
        }
    }

    /// The store, to read.
    #[inline]
    pub fn rrac(&self) -> &R {
        &self.kernel.rrac
    }

    /// The machine, to read: what an audit compares with its own.
    #[inline]
    pub fn kernel(&self) -> &Kernel<'b, R, U, E> {
        self.kernel
    }
}

/// The machine: `rrac`, `runex`, `rerr`, and nothing changes them but the events.
///
/// ```
/// use core::ops::ControlFlow;
/// use kanon_refinement::frontier::{All, Open, Queue};
/// use kanon_refinement::kernel::{Insertion, Kernel, Outcome, Rrac, Visit};
///
/// /// The reader's own store: remainders modulo 100, the id is the state.
/// struct Seen([bool; 100]);
/// impl Rrac<usize> for Seen {
///     type Id = usize;
///     fn insert_if_absent(&mut self, s: usize) -> Insertion<usize> {
///         match std::mem::replace(&mut self.0[s], true) {
///             true => Insertion::Present(s),
///             false => Insertion::Inserted(s),
///         }
///     }
/// }
///
/// let pass = Kernel::scope(Seen([false; 100]), Open::new(Queue::new()), All::new(), |mut kernel, root| {
///     if let Outcome::Exhausted(i) = kernel.expand_root(root, |x| {
///         x.visit(7, |_, s| s != 50);
///         ControlFlow::Continue(())
///     }) {
///         kernel.remove_root(i);
///     }
///     while let Some(s1) = kernel.take() {
///         match kernel.expand(s1, |s, x| {
///             for s2 in [(s * s) % 100, (s + 10) % 100] {
///                 if let Visit::Err(_) = x.visit(s2, |_, s| s != 50) {
///                     return ControlFlow::Break(());
///                 }
///             }
///             ControlFlow::Continue(())
///         }) {
///             Outcome::Exhausted(s1) => kernel.remove(s1),
///             Outcome::Stopped(_) => break,
///         }
///     }
///     kernel.pass()
/// });
/// assert!(pass.is_some()); // nothing ends in 0, so 50 is out of reach
/// ```
#[derive(Debug)]
pub struct Kernel<'b, R, U, E> {
    rrac: R,
    runex: U,
    rerr: E,
    /// `i ∈ runex`
    root: bool,
    /// Arrivals that were stored and are in neither `rrac` nor `rerr`, or may be.
    unclassified: usize,
    brand: Brand<'b>,
}

impl<'b, R, U, E, Id> Kernel<'b, R, U, E>
where
    Id: Copy,
    U: Runex<Id = Id>,
    E: Rerr<Id = Id>,
{
    /// chain: rmc2/INITIALISATION (Fig. 13): `rrac := {i} ∥ runex := {i} ∥ rerr := ∅`. The parts are empty. The
    /// kernel and the token of `i` live as long as `body`, and no other kernel has their brand.
    pub fn scope<T>(
        rrac: R,
        runex: U,
        rerr: E,
        body: impl for<'k> FnOnce(Kernel<'k, R, U, E>, Root<'k>) -> T,
    ) -> T {
        debug_assert!(runex.is_empty() && rerr.is_empty());
        let kernel = Kernel { rrac, runex, rerr, root: true, unclassified: 0, brand: PhantomData };
        body(kernel, Taken { id: I, brand: PhantomData })
    }

    /// A machine in the middle of its work: one worker of several on shared parts (one of them, or a kernel before
    /// them, has removed `i`). Caller's part: the invariant of [`crate::wmc`] holds
    /// of the parts, and `i` has been removed.
    pub fn resume<T>(rrac: R, runex: U, rerr: E, body: impl for<'k> FnOnce(Kernel<'k, R, U, E>) -> T) -> T {
        body(Kernel { rrac, runex, rerr, root: false, unclassified: 0, brand: PhantomData })
    }

    /// A machine that was written down in the middle of its work and is taken up again, with `i` open once more
    /// (wmc/reopen): its successors are yielded all over again, and those that are stored are known. So nobody has to
    /// believe what was written about how far they had come, and there is no [`Pass`] before they have all arrived.
    /// Caller's part: the invariant of [`crate::wmc`] holds of the parts. It did when they were those of a kernel, between
    /// two events; states that were taken and not removed are to be put back into `runex`.
    pub fn reopen<T>(
        rrac: R,
        runex: U,
        rerr: E,
        body: impl for<'k> FnOnce(Kernel<'k, R, U, E>, Root<'k>) -> T,
    ) -> T {
        let root = !planted!("kernel/reopen/act1");
        let kernel = Kernel { rrac, runex, rerr, root, unclassified: 0, brand: PhantomData };
        body(kernel, Taken { id: I, brand: PhantomData })
    }

    /// Runs an iteration of the initial states, which are `tr[{i}]`. It answers `Continue` if with those of this and of
    /// earlier iterations every initial state has been yielded, `Break` if not: then `i` stays in `runex`, and its
    /// token comes back for the next part.
    pub fn expand_root(
        &mut self,
        i: Root<'b>,
        initial: impl for<'k> FnOnce(&mut Expansion<'k, 'b, R, U, E>) -> ControlFlow<()>,
    ) -> Outcome<'b, I> {
        self.expanded(i, initial)
    }

    /// chain: rmc2/remove (Fig. 12 without unex), for `i`.
    pub fn remove_root(&mut self, _i: Expanded<'b, I>) {
        self.root = false;
    }

    /// Some `s1 ∈ runex` that nobody has taken, in the order of the frontier.
    #[inline]
    pub fn take(&mut self) -> Option<Taken<'b, Id>> {
        self.runex.take().map(|id| Taken { id, brand: PhantomData })
    }

    /// Runs the successor iteration of `s1`. It answers `Continue` if it has yielded every successor, `Break`
    /// if it was stopped before.
    #[inline]
    pub fn expand(
        &mut self,
        s1: Taken<'b, Id>,
        successors: impl for<'k> FnOnce(Id, &mut Expansion<'k, 'b, R, U, E>) -> ControlFlow<()>,
    ) -> Outcome<'b, Id> {
        let id = s1.id;
        self.expanded(s1, |x| successors(id, x))
    }

    /// Runs an iteration of successors that belong to this kernel, of states that others explore. Caller's part: each of
    /// these states is in the `runex` of its kernel, and stays there until it is known that this has returned. There is
    /// no [`Expanded`] from here: the states are not this kernel's to remove.
    #[inline]
    pub fn receive<T>(&mut self, successors: impl for<'k> FnOnce(&mut Expansion<'k, 'b, R, U, E>) -> T) -> T {
        successors(&mut Expansion { kernel: self, brand: PhantomData })
    }

    #[inline]
    fn expanded<S: Copy>(
        &mut self,
        s1: Taken<'b, S>,
        successors: impl for<'k> FnOnce(&mut Expansion<'k, 'b, R, U, E>) -> ControlFlow<()>,
    ) -> Outcome<'b, S> {
        let flow = successors(&mut Expansion { kernel: self, brand: PhantomData });
        let ended = flow.is_continue() || planted!("kernel/expand/grd1");
        let classified = self.unclassified == 0 || planted!("kernel/expand/grd2");
        if ended && classified {
            Outcome::Exhausted(Expanded { id: s1.id, brand: PhantomData })
        } else {
            Outcome::Stopped(s1)
        }
    }

    /// chain: rmc2/remove (Fig. 12 without unex).
    #[inline]
    pub fn remove(&mut self, s1: Expanded<'b, Id>) {
        if !planted!("kernel/remove/act1") {
            self.runex.remove(s1.id);
        }
    }

    /// chain: rmc2/pass. Shared parts: ask when no other worker can fire an event any more, or let
    /// [`Runex::is_empty`] count what all workers hold.
    pub fn pass(&self) -> Option<Pass> {
        let no_error = self.rerr.is_empty() || planted!("kernel/pass/grd1");
        let no_state = self.runex.is_empty() || planted!("kernel/pass/grd2");
        let no_root = !self.root || planted!("kernel/pass/grd3");
        let no_loss = self.unclassified == 0 || planted!("kernel/pass/grd4");
        (no_error && no_state && no_root && no_loss).then_some(Pass(()))
    }

    /// chain: rmc2/fail.
    pub fn fail(&self) -> Option<Fail> {
        (!self.rerr.is_empty() || planted!("kernel/fail/grd1")).then_some(Fail(()))
    }

    /// The answer, if there is one yet; `pass` and `fail` exclude each other.
    pub fn answer(&self) -> Option<Answer> {
        self.fail().map(Answer::Fail).or_else(|| self.pass().map(Answer::Pass))
    }

    /// `rrac ∪ rerr`, to read.
    #[inline]
    pub fn rrac(&self) -> &R {
        &self.rrac
    }

    /// `runex` without `i`, to read.
    #[inline]
    pub fn runex(&self) -> &U {
        &self.runex
    }

    /// `rerr`, to read.
    #[inline]
    pub fn rerr(&self) -> &E {
        &self.rerr
    }

    /// Whether `i ∈ runex`.
    pub fn root_open(&self) -> bool {
        self.root
    }

    /// How many arrivals were stored and never classified: an [`Absent`] was dropped, or a panic came between. Of the
    /// one that is just being classified, if called there. Nothing takes such an arrival back, so there is no
    /// [`Pass`] and no [`Expanded`] any more once an expansion has ended with one.
    pub fn unclassified(&self) -> usize {
        self.unclassified
    }

    /// Takes the machine apart, for a checkpoint or a report.
    pub fn into_parts(self) -> (R, U, E) {
        (self.rrac, self.runex, self.rerr)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frontier::{All, Open, Queue};

    struct Seen(u64);

    impl Rrac<u32> for Seen {
        type Id = u32;
        fn insert_if_absent(&mut self, s: u32) -> Insertion<u32> {
            let known = self.0 >> s & 1 == 1;
            self.0 |= 1 << s;
            if known { Insertion::Present(s) } else { Insertion::Inserted(s) }
        }
    }

    type Tested<'b> = Kernel<'b, Seen, Open<Queue<u32>>, All<u32>>;

    fn scope<T>(body: impl for<'b> FnOnce(Tested<'b>, Root<'b>) -> T) -> T {
        Kernel::scope(Seen(0), Open::new(Queue::new()), All::new(), body)
    }

    fn done<Id>(outcome: Outcome<'_, Id>) -> Expanded<'_, Id> {
        match outcome {
            Outcome::Exhausted(e) => e,
            Outcome::Stopped(_) => panic!("the iteration was exhausted"),
        }
    }

    #[test]
    fn the_root_is_open_until_it_is_removed() {
        scope(|mut k, root| {
            assert!(k.root_open() && k.pass().is_none() && k.answer().is_none());
            let Outcome::Stopped(root) = k.expand_root(root, |_| ControlFlow::Break(())) else {
                panic!("Break is no exhausted iteration")
            };
            let i = done(k.expand_root(root, |_| ControlFlow::Continue(())));
            assert!(k.pass().is_none());
            k.remove_root(i);
            assert!(matches!(k.answer(), Some(Answer::Pass(_))));
        });
    }

    #[test]
    fn a_stopped_expansion_blocks_pass() {
        scope(|mut k, root| {
            let i = done(k.expand_root(root, |x| {
                assert_eq!(x.visit(3, |_, _| true), Visit::Inv(3));
                assert_eq!(x.visit(3, |_, _| true), Visit::Known(3));
                ControlFlow::Continue(())
            }));
            k.remove_root(i);
            let s1 = k.take().expect("3 was added");
            assert!(k.pass().is_none(), "3 is taken, so still in runex");
            let Outcome::Stopped(s1) = k.expand(s1, |_, _| ControlFlow::Break(())) else {
                panic!("Break is no exhausted iteration")
            };
            assert!(k.pass().is_none());
            let s1 = done(k.expand(s1, |_, _| ControlFlow::Continue(())));
            assert!(k.pass().is_none());
            k.remove(s1);
            assert!(k.pass().is_some());
        });
    }

    #[test]
    fn what_is_received_is_open_and_what_is_lost_of_it_is_not_forgotten() {
        scope(|mut k, root| {
            let i = done(k.expand_root(root, |_| ControlFlow::Continue(())));
            k.remove_root(i);
            assert!(k.pass().is_some());
            assert_eq!(k.receive(|x| x.visit(3, |_, _| true)), Visit::Inv(3));
            assert_eq!(k.receive(|x| x.visit(3, |_, _| true)), Visit::Known(3));
            assert!(k.pass().is_none(), "3 is open");
            let s1 = k.take().expect("3 was received");
            let s1 = done(k.expand(s1, |_, _| ControlFlow::Continue(())));
            k.remove(s1);
            assert!(k.pass().is_some());
            k.receive(|x| {
                let _ = x.arrive(4);
            });
            assert!(k.unclassified() == 1 && k.pass().is_none());
        });
    }

    #[test]
    fn an_error_is_an_answer_and_the_run_may_go_on() {
        scope(|mut k, root| {
            let i = done(k.expand_root(root, |x| {
                assert_eq!(x.visit(1, |_, s| s != 1), Visit::Err(1));
                assert_eq!(x.visit(2, |_, s| s != 1), Visit::Inv(2));
                ControlFlow::Continue(())
            }));
            k.remove_root(i);
            assert!(k.fail().is_some() && k.pass().is_none());
            let Some(s1) = k.take() else { panic!("2 was added") };
            let s1 = done(k.expand(s1, |_, _| ControlFlow::Continue(())));
            k.remove(s1);
            assert!(k.runex().is_empty() && k.pass().is_none());
            assert_eq!(k.rerr().get(), [1]);
        });
    }
}
