//! The production form of the chain's last machines: what an explorer drives.
//!
//! [`Kernel`] owns the three variables `rrac`, `runex`, `rerr` (Fig. 13) behind three small traits, and its
//! only mutators are the events. A guard is not tested a second time: it is a token that can be had in one
//! way only.
//!
//! | guard | token | had from |
//! |---|---|---|
//! | `s1 ∈ runex` | [`Taken`] | [`Kernel::take`] |
//! | `s1 ↦ s2 ∈ tr` | [`Expansion`] | [`Kernel::expand`], which lends it to the successor iteration of `s1` |
//! | `rep(s2) ∉ rrac` | [`Absent`] | [`Expansion::arrive`], when the store inserted the key |
//! | `rep[tr[{s1}]] ⊆ rrac ∪ rerr` | [`Expanded`] | [`Kernel::expand`], when the iteration ended by itself |
//! | `runex = ∅ ∧ rerr = ∅` | [`Pass`] | [`Kernel::pass`] |
//!
//! What no type can know is the caller's part: that the iteration yields all of `tr[{s1}]`, that
//! [`Expansion::add_inv`] is called for a state of `inv` and [`Expansion::add_err`] for one outside, and that
//! the key handed to [`Expansion::arrive`] lies in the orbit of `s2`.
//!
//! The events are those of [`crate::wmc`], which have no guard `rerr = ∅`; so several workers may fire them on
//! shared sets. With a canonical key they are those of [`crate::rmc2`], with the state as its own key those of
//! [`crate::mc2`]. The obligations `kernel/*` of kanon-proofs say that this form and those agree.
//!
//! Absent on purpose: states (the store knows rows, the kernel only ids), hashing, order, clocks, I/O,
//! allocation, dynamic dispatch. The special state `i` is in no store: nothing leads to it (`mc0/prp4`), so
//! nobody asks whether it is there; it is the flag that [`Kernel::initialise`] clears.

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

/// A member of `runex` that is this caller's to explore: the guard `s1 ∈ runex`.
///
/// A token that is dropped leaves its state in `runex`, so no [`Pass`] can follow.
#[must_use = "a taken state stays in runex until it is expanded and removed"]
#[derive(Debug)]
pub struct Taken<Id>(Id);

impl<Id: Copy> Taken<Id> {
    /// The state.
    #[inline]
    pub fn id(&self) -> Id {
        self.0
    }
}

/// A state whose key was absent and is stored now: the guard `rep(s2) ∉ rrac`.
///
/// It belongs to one expansion (`'k` is invariant and fresh for each), which does not end in [`Expanded`]
/// unless the token was spent on [`Expansion::add_inv`] or [`Expansion::add_err`]. It cannot be spent on
/// another one:
///
/// ```compile_fail,E0521
/// use core::ops::ControlFlow;
/// use kanon_refinement::kernel::{Arrival, Kernel, Rerr, Rrac, Runex};
/// fn mixed<R: Rrac<u8, Id = u8>, U: Runex<Id = u8>, E: Rerr<Id = u8>>(a: &mut Kernel<R, U, E>, b: &mut Kernel<R, U, E>) {
///     let _ = a.initialise(|x| {
///         if let Arrival::New(s2) = x.arrive(1) {
///             let _ = b.initialise(|y| {
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

/// A state all of whose successors have arrived: the guard `rep[tr[{s1}]] ⊆ rrac ∪ rerr`.
#[must_use = "an expanded state stays in runex until it is removed"]
#[derive(Debug)]
pub struct Expanded<Id>(Id);

impl<Id: Copy> Expanded<Id> {
    /// The state.
    #[inline]
    pub fn id(&self) -> Id {
        self.0
    }
}

/// The answer of the event `pass`: `reach ⊆ inv`. Only [`Kernel::pass`] makes one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pass(());

/// The answer of the event `fail`: `reach ⊄ inv`. Only [`Kernel::fail`] makes one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fail(());

/// The paper's `ANSWER = {Pass, Fail}`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
pub enum Outcome<Id> {
    /// The iteration was exhausted and every arrival classified.
    Exhausted(Expanded<Id>),
    /// It was stopped, or an [`Absent`] token was dropped. The state is still in `runex`.
    Stopped(Taken<Id>),
}

type Brand<'k> = PhantomData<fn(&'k ()) -> &'k ()>;

/// The kernel lent to one successor iteration.
#[derive(Debug)]
pub struct Expansion<'k, R, U, E> {
    kernel: &'k mut Kernel<R, U, E>,
    unclassified: usize,
    brand: Brand<'k>,
}

impl<'k, R, U, E, Id> Expansion<'k, R, U, E>
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
        match self.kernel.rrac.insert_if_absent(key) {
            Insertion::Present(id) => Arrival::Known(id),
            Insertion::Inserted(id) => {
                self.unclassified += 1;
                Arrival::New(Absent { id, brand: PhantomData })
            }
        }
    }

    /// chain: rmc2/add_inv (Fig. 12 without rac, unex). Caller's part: `s2 ∈ inv`.
    #[inline]
    pub fn add_inv(&mut self, s2: Absent<'k, Id>) {
        self.unclassified -= 1;
        self.kernel.runex.insert(s2.id);
    }

    /// chain: rmc2/add_err (Fig. 12 without err). Caller's part: `s2 ∉ inv`.
    #[inline]
    pub fn add_err(&mut self, s2: Absent<'k, Id>) {
        self.unclassified -= 1;
        self.kernel.rerr.insert(s2.id);
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
    pub fn kernel(&self) -> &Kernel<R, U, E> {
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
/// let mut kernel = Kernel::new(Seen([false; 100]), Open::new(Queue::new()), All::new());
/// let _ = kernel.initialise(|x| {
///     x.visit(7, |_, s| s != 50);
///     ControlFlow::Continue(())
/// });
/// while let Some(s1) = kernel.take() {
///     match kernel.expand(s1, |s, x| {
///         for s2 in [(s * s) % 100, (s + 10) % 100] {
///             if let Visit::Err(_) = x.visit(s2, |_, s| s != 50) {
///                 return ControlFlow::Break(());
///             }
///         }
///         ControlFlow::Continue(())
///     }) {
///         Outcome::Exhausted(s1) => kernel.remove(s1),
///         Outcome::Stopped(_) => break,
///     }
/// }
/// assert!(kernel.pass().is_some()); // nothing ends in 0, so 50 is out of reach
/// ```
#[derive(Debug)]
pub struct Kernel<R, U, E> {
    rrac: R,
    runex: U,
    rerr: E,
    /// `i ∈ runex`
    root: bool,
}

impl<R, U, E, Id> Kernel<R, U, E>
where
    Id: Copy,
    U: Runex<Id = Id>,
    E: Rerr<Id = Id>,
{
    /// chain: rmc2/INITIALISATION (Fig. 13): `rrac := {i} ∥ runex := {i} ∥ rerr := ∅`. The parts are empty.
    pub fn new(rrac: R, runex: U, rerr: E) -> Self {
        debug_assert!(runex.is_empty() && rerr.is_empty());
        Self { rrac, runex, rerr, root: true }
    }

    /// A machine in the middle of its work: a checkpoint, or one worker of several on shared parts (one of
    /// them, or a kernel before them, has initialised). Caller's part: the invariant of [`crate::wmc`] holds
    /// of the parts, and `i` has been removed.
    pub fn resume(rrac: R, runex: U, rerr: E) -> Self {
        Self { rrac, runex, rerr, root: false }
    }

    /// Expands `i` and removes it: the initial states are `tr[{i}]`. Break if the iteration was stopped; then
    /// `i` stays in `runex`.
    pub fn initialise(
        &mut self,
        initial: impl for<'k> FnOnce(&mut Expansion<'k, R, U, E>) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        if self.exhausted(initial) {
            self.root = false;
            ControlFlow::Continue(())
        } else {
            ControlFlow::Break(())
        }
    }

    /// Some `s1 ∈ runex` that nobody has taken, in the order of the frontier.
    #[inline]
    pub fn take(&mut self) -> Option<Taken<Id>> {
        self.runex.take().map(Taken)
    }

    /// Runs the successor iteration of `s1`. It answers `Continue` if it has yielded every successor, `Break`
    /// if it was stopped before.
    #[inline]
    pub fn expand(
        &mut self,
        s1: Taken<Id>,
        successors: impl for<'k> FnOnce(Id, &mut Expansion<'k, R, U, E>) -> ControlFlow<()>,
    ) -> Outcome<Id> {
        let id = s1.0;
        if self.exhausted(|x| successors(id, x)) {
            Outcome::Exhausted(Expanded(id))
        } else {
            Outcome::Stopped(s1)
        }
    }

    #[inline]
    fn exhausted(
        &mut self,
        successors: impl for<'k> FnOnce(&mut Expansion<'k, R, U, E>) -> ControlFlow<()>,
    ) -> bool {
        let mut x = Expansion { kernel: self, unclassified: 0, brand: PhantomData };
        successors(&mut x).is_continue() && x.unclassified == 0
    }

    /// chain: rmc2/remove (Fig. 12 without unex).
    #[inline]
    pub fn remove(&mut self, s1: Expanded<Id>) {
        self.runex.remove(s1.0);
    }

    /// chain: rmc2/pass. Shared parts: ask when no other worker can fire an event any more, or let
    /// [`Runex::is_empty`] count what all workers hold.
    pub fn pass(&self) -> Option<Pass> {
        (self.rerr.is_empty() && !self.root && self.runex.is_empty()).then_some(Pass(()))
    }

    /// chain: rmc2/fail.
    pub fn fail(&self) -> Option<Fail> {
        (!self.rerr.is_empty()).then_some(Fail(()))
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

    fn kernel() -> Kernel<Seen, Open<Queue<u32>>, All<u32>> {
        Kernel::new(Seen(0), Open::new(Queue::new()), All::new())
    }

    #[test]
    fn the_root_is_open_until_it_is_expanded() {
        let mut k = kernel();
        assert!(k.root_open() && k.pass().is_none() && k.answer().is_none());
        let stopped = k.initialise(|_| ControlFlow::Break(()));
        assert!(stopped.is_break() && k.pass().is_none());
        let done = k.initialise(|_| ControlFlow::Continue(()));
        assert!(done.is_continue() && matches!(k.answer(), Some(Answer::Pass(_))));
    }

    #[test]
    fn a_forgotten_arrival_blocks_pass() {
        let mut k = kernel();
        let done = k.initialise(|x| {
            let _ = x.arrive(3); // neither add_inv nor add_err
            ControlFlow::Continue(())
        });
        assert!(done.is_break() && k.pass().is_none());
    }

    #[test]
    fn a_stopped_expansion_blocks_pass() {
        let mut k = kernel();
        let _ = k.initialise(|x| {
            assert_eq!(x.visit(3, |_, _| true), Visit::Inv(3));
            assert_eq!(x.visit(3, |_, _| true), Visit::Known(3));
            ControlFlow::Continue(())
        });
        let s1 = k.take().expect("3 was added");
        assert!(k.pass().is_none(), "3 is taken, so still in runex");
        let Outcome::Stopped(s1) = k.expand(s1, |_, _| ControlFlow::Break(())) else {
            panic!("Break is no exhausted iteration")
        };
        assert!(k.pass().is_none());
        let Outcome::Exhausted(s1) = k.expand(s1, |_, _| ControlFlow::Continue(())) else {
            panic!("no successors is an exhausted iteration")
        };
        assert!(k.pass().is_none());
        k.remove(s1);
        assert!(k.pass().is_some());
    }

    #[test]
    fn an_error_is_an_answer_and_the_run_may_go_on() {
        let mut k = kernel();
        let done = k.initialise(|x| {
            assert_eq!(x.visit(1, |_, s| s != 1), Visit::Err(1));
            assert_eq!(x.visit(2, |_, s| s != 1), Visit::Inv(2));
            ControlFlow::Continue(())
        });
        assert!(done.is_continue());
        assert!(k.fail().is_some() && k.pass().is_none());
        let Some(s1) = k.take() else { panic!("2 was added") };
        if let Outcome::Exhausted(s1) = k.expand(s1, |_, _| ControlFlow::Continue(())) {
            k.remove(s1);
        }
        assert!(k.runex().is_empty() && k.pass().is_none());
        assert_eq!(k.rerr().get(), [1]);
    }
}
