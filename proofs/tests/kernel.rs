//! The kernel and the machines agree: on all small systems, on random larger ones, and with real threads.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::Mutex;

use kanon_proofs::choose::Choose;
use kanon_proofs::execute::{Pick, Run, Tape};
use kanon_proofs::groups;
use kanon_proofs::kernel_form::{agree, agree_on_all, constants};
use kanon_refinement::concrete::{Concrete, Small, Sound, Without};
use kanon_refinement::kernel::{Insertion, Kernel, Outcome, Rerr, Root, Rrac, Runex};
use kanon_refinement::logic::{Event, Logic, Machine, check, enabled};
use kanon_refinement::{mc0, wmc};
use proptest::prelude::*;

#[test]
fn forms_agree_on_all_small_systems() {
    for canonical in [true, false] {
        let counts = [
            agree_on_all::<1, 2, _>(Sound, canonical),
            agree_on_all::<2, 2, _>(Sound, canonical),
            agree_on_all::<3, 2, _>(Sound, canonical),
        ];
        for (n, count) in (1..).zip(counts) {
            println!("{n} states, canonical {canonical}: {} runs, {} cases", count.runs, count.cases);
            assert_eq!(count.refuted, None);
            assert!(count.cases > 0);
        }
    }
}

/// A mistake in the machine's action is seen, so the comparison compares.
#[test]
fn a_mistake_is_seen() {
    let count = agree_on_all::<3, 2, _>(Without("lab/add_inv/act2"), false);
    assert_eq!(count.refuted, Some("kernel: runex"));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn forms_agree_on_random_systems(n in 2usize..=20, canonical: bool, tape in prop::collection::vec(any::<u64>(), 1..100)) {
        let mut run: Run<_, 64, 8> = Run::new(Tape::new(&tape), n, Sound);
        let (k, symmetric) = constants(&mut run, canonical);
        if run.alive() {
            let agreed = agree(run.logic(), k, symmetric, &mut |below| run.pick.pick(below));
            prop_assert_eq!(agreed, Ok(()));
        }
    }
}

type L = Concrete<Small<64, 8>>;

/// What the threads did, in the order in which it took effect.
#[derive(Clone, Copy, Debug)]
enum Did {
    /// From the first state, a successor was stored as the second.
    Stored(usize, usize),
    /// This state was fully explored.
    Removed(usize),
    /// It was written down and taken up again, with the root open.
    Reopened,
}

/// What the threads share. One lock each for store and queue, as a sharded store has many; the log is written
/// under the lock that makes the event take effect.
struct Shared {
    ids: Mutex<BTreeMap<usize, ()>>,
    queue: Mutex<(Vec<usize>, usize)>,
    errors: Mutex<Vec<usize>>,
    log: Mutex<Vec<Did>>,
}

struct Rows<'s>(&'s Shared);
struct Waiting<'s>(&'s Shared);
struct Errors<'s>(&'s Shared);

impl Rrac<(usize, usize)> for Rows<'_> {
    type Id = usize;
    fn insert_if_absent(&mut self, (from, s): (usize, usize)) -> Insertion<usize> {
        let mut ids = self.0.ids.lock().unwrap();
        match ids.insert(s, ()) {
            Some(()) => Insertion::Present(s),
            None => {
                self.0.log.lock().unwrap().push(Did::Stored(from, s));
                Insertion::Inserted(s)
            }
        }
    }
}

impl Runex for Waiting<'_> {
    type Id = usize;
    fn insert(&mut self, s: usize) {
        std::thread::yield_now(); // stored, not yet queued: the worst moment for others to look
        let mut queue = self.0.queue.lock().unwrap();
        queue.0.push(s);
        queue.1 += 1;
    }
    fn take(&mut self) -> Option<usize> {
        self.0.queue.lock().unwrap().0.pop()
    }
    fn remove(&mut self, s: usize) {
        let mut queue = self.0.queue.lock().unwrap();
        self.0.log.lock().unwrap().push(Did::Removed(s));
        queue.1 -= 1;
    }
    fn is_empty(&self) -> bool {
        self.0.queue.lock().unwrap().1 == 0
    }
}

impl Rerr for Errors<'_> {
    type Id = usize;
    fn insert(&mut self, s: usize) {
        self.0.errors.lock().unwrap().push(s);
    }
    fn is_empty(&self) -> bool {
        self.0.errors.lock().unwrap().is_empty()
    }
}

fn explore(shared: &Shared, k: &wmc::Constants<L>, rep: &[usize]) {
    let n = rep.len();
    let step = |s1: usize, s2: usize| k.mc0.tr.contains(s1, s2);
    let inv = |s: usize| k.mc0.inv.contains(s);
    Kernel::scope(Rows(shared), Waiting(shared), Errors(shared), |mut first, root| {
        let outcome = first.expand_root(root, |x| {
            for s2 in (0..n).filter(|&s2| step(0, s2)) {
                x.visit((0, rep[s2]), |_, _| inv(s2));
            }
            ControlFlow::Continue(())
        });
        let Outcome::Exhausted(i) = outcome else { panic!("all initial states were yielded") };
        first.remove_root(i);
        shared.log.lock().unwrap().push(Did::Removed(0));
    });
    std::thread::scope(|scope| {
        for worker in 0..3 {
            scope.spawn(move || {
                Kernel::resume(Rows(shared), Waiting(shared), Errors(shared), |mut kernel| {
                    while !kernel.runex().is_empty() {
                        let Some(s1) = kernel.take() else {
                            std::thread::yield_now();
                            continue;
                        };
                        let outcome = kernel.expand(s1, |s1, x| {
                            // Each worker has its own order of successors.
                            for s2 in (0..n).map(|s| (s + worker * 7) % n).filter(|&s2| step(s1, s2)) {
                                x.visit((s1, rep[s2]), |_, _| inv(s2));
                            }
                            ControlFlow::Continue(())
                        });
                        if let Outcome::Exhausted(s1) = outcome {
                            kernel.remove(s1);
                        }
                    }
                });
            });
        }
    });
}

type Mine<'b, 's> = Kernel<'b, Rows<'s>, Waiting<'s>, Errors<'s>>;

/// One thread, until it has fired so many events. The root's successors come one by one, with other states between.
fn live<'b>(
    kernel: &mut Mine<'b, '_>,
    root: Root<'b>,
    k: &wmc::Constants<L>,
    rep: &[usize],
    mut left: usize,
) {
    let inv = |s: usize| k.mc0.inv.contains(s);
    let mut root = Some(root);
    let mut initial = (0..rep.len()).filter(|&s2| k.mc0.tr.contains(0, s2));
    let mut spend = || left.checked_sub(1).map(|rest| left = rest).is_some();
    loop {
        if let Some(token) = root.take() {
            let mut is_dead = false;
            let outcome = kernel.expand_root(token, |x| {
                let Some(s2) = initial.next() else { return ControlFlow::Continue(()) };
                is_dead = !spend();
                if !is_dead {
                    x.visit((0, rep[s2]), |_, _| inv(s2));
                }
                ControlFlow::Break(())
            });
            if is_dead {
                return;
            }
            match outcome {
                Outcome::Exhausted(i) => {
                    kernel.remove_root(i);
                    kernel.rrac().0.log.lock().unwrap().push(Did::Removed(0));
                }
                Outcome::Stopped(token) => root = Some(token),
            }
        }
        let Some(s1) = kernel.take() else {
            if root.is_none() || !spend() {
                return;
            }
            continue;
        };
        let outcome = kernel.expand(s1, |s1, x| {
            for s2 in (0..rep.len()).filter(|&s2| k.mc0.tr.contains(s1, s2)) {
                if !spend() {
                    return ControlFlow::Break(());
                }
                x.visit((s1, rep[s2]), |_, _| inv(s2));
            }
            ControlFlow::Continue(())
        });
        match outcome {
            Outcome::Exhausted(s1) => kernel.remove(s1),
            Outcome::Stopped(_) => return,
        }
    }
}

/// It dies after so many events, is taken up again, dies again, and lives to the end at last.
fn explore_with_deaths(shared: &Shared, k: &wmc::Constants<L>, rep: &[usize], deaths: &[usize]) {
    let parts = || (Rows(shared), Waiting(shared), Errors(shared));
    let mut is_first = true;
    for left in deaths.iter().copied().chain([usize::MAX]) {
        let (rrac, runex, rerr) = parts();
        if std::mem::take(&mut is_first) {
            Kernel::scope(rrac, runex, rerr, |mut kernel, root| live(&mut kernel, root, k, rep, left));
        } else {
            // What was taken and not removed waits again.
            let is_open = {
                let log = shared.log.lock().unwrap();
                let was = |s: usize| move |did: &Did| matches!(did, Did::Removed(r) if *r == s);
                let errors = shared.errors.lock().unwrap();
                let ids = shared.ids.lock().unwrap();
                let open = ids.keys().filter(|s| !log.iter().any(was(**s)) && !errors.contains(s));
                open.copied().collect::<Vec<_>>()
            };
            *shared.queue.lock().unwrap() = (is_open.clone(), is_open.len());
            shared.log.lock().unwrap().push(Did::Reopened);
            Kernel::reopen(rrac, runex, rerr, |mut kernel, root| {
                assert!(kernel.pass().is_none());
                live(&mut kernel, root, k, rep, left);
                if left == usize::MAX {
                    let holds = shared.errors.lock().unwrap().is_empty();
                    assert_eq!(kernel.pass().is_some(), holds);
                }
            });
        }
    }
}

/// The log of three threads, read as a sequence of wmc's events: every guard holds where it took effect, and
/// the invariant all along.
fn linearise(l: &L, k: &wmc::Constants<L>, rep: &[usize], log: &[Did]) {
    let mut m = wmc::Wmc::initialisation(l, k);
    for (at, did) in log.iter().enumerate() {
        m = match *did {
            Did::Stored(s1, t) => {
                let s2 = (0..rep.len())
                    .find(|&s2| rep[s2] == t && k.mc0.tr.contains(s1, s2))
                    .expect("a successor");
                if k.mc0.inv.contains(s2) {
                    let e = wmc::AddInv { s1, s2, t };
                    assert!(enabled(&e, l, k, &m), "event {at}: {e:?}");
                    e.action(l, k, &m)
                } else {
                    let e = wmc::AddErr { s1, s2, t };
                    assert!(enabled(&e, l, k, &m), "event {at}: {e:?}");
                    e.action(l, k, &m)
                }
            }
            Did::Reopened => {
                let e = wmc::Reopen { back: l.single(&k.mc0.i) };
                assert!(enabled(&e, l, k, &m), "event {at}: {e:?}");
                e.action(l, k, &m)
            }
            Did::Removed(s1) => {
                let e = wmc::Remove { s1 };
                assert!(enabled(&e, l, k, &m), "event {at}: {e:?}");
                e.action(l, k, &m)
            }
        };
        assert_eq!(check(&m, l, k), Ok(()), "after event {at}");
    }
    let holds = l.subset(&k.mc0.reach, &k.mc0.inv);
    assert_eq!(enabled(&wmc::Pass, l, k, &m), holds);
    assert_eq!(enabled(&wmc::Fail, l, k, &m), !holds);
}

/// A system that a group leaves as it is: `tr` and `inv` are unions of orbits.
pub fn symmetric_system(tape: &[u64], n: usize, l: &L) -> (wmc::Constants<L>, Vec<usize>) {
    let mut tape = Tape::new(tape);
    let perms = groups::random_perms(n, 0, 8, &mut |below| tape.pick(below));
    let mut tr = l.no_pairs();
    for a in 0..n {
        for _ in 0..=tape.pick(3) {
            let b = 1 + tape.pick(n - 1);
            perms.iter().for_each(|p| tr.insert(p[a] as usize, p[b] as usize));
        }
    }
    let bad = match tape.pick(2) {
        0 => l.empty(),
        _ => {
            let s = 1 + tape.pick(n - 1);
            l.set_where(|t| perms.iter().any(|p| p[s] as usize == *t))
        }
    };
    let inv = l.minus(&l.set_where(|_| true), &bad);
    let orb = l.rel_where(|s, t| perms.iter().any(|p| p[*s] as usize == *t));
    let rep = (0..n).map(|s| perms.iter().map(|p| p[s] as usize).min().unwrap_or(s)).collect();
    let reach = l.least(0, &tr);
    (wmc::Constants { mc0: mc0::Constants { i: 0, tr, inv, reach }, orb }, rep)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn threads_interleave_events(n in 2usize..=20, tape in prop::collection::vec(any::<u64>(), 1..60)) {
        let l = L::new(n, 1);
        let (k, rep) = symmetric_system(&tape, n, &l);
        let shared = Shared {
            ids: Mutex::default(),
            queue: Mutex::default(),
            errors: Mutex::default(),
            log: Mutex::default(),
        };
        explore(&shared, &k, &rep);
        let log = shared.log.into_inner().unwrap();
        linearise(&l, &k, &rep, &log);
    }

    /// A run that dies and is taken up again, some times, is a run of wmc, with reopen between.
    #[test]
    fn what_dies_is_taken_up_again(
        n in 2usize..=20,
        tape in prop::collection::vec(any::<u64>(), 1..60),
        deaths in prop::collection::vec(0usize..30, 1..4),
    ) {
        let l = L::new(n, 1);
        let (k, rep) = symmetric_system(&tape, n, &l);
        let shared = Shared {
            ids: Mutex::default(),
            queue: Mutex::default(),
            errors: Mutex::default(),
            log: Mutex::default(),
        };
        explore_with_deaths(&shared, &k, &rep, &deaths);
        let log = shared.log.into_inner().unwrap();
        linearise(&l, &k, &rep, &log);
    }
}
