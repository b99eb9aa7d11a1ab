//! The kernel and the machines agree: on all small systems, on random larger ones, and with real threads.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::Mutex;

use kanon_proofs::choose::Choose;
use kanon_proofs::execute::{Pick, Run, Tape};
use kanon_proofs::groups;
use kanon_proofs::kernel_form::{agree, agree_on_all, constants};
use kanon_refinement::concrete::{Concrete, Small, Sound, Without};
use kanon_refinement::frontier::{All, Open, Queue};
use kanon_refinement::kernel::{Insertion, Kernel, Outcome, Rerr, Root, Rrac, Runex, Taken};
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

/// The states of one kernel of several.
struct Share<'l> {
    mine: BTreeMap<usize, ()>,
    log: &'l RefCell<Vec<Did>>,
}

impl Rrac<(usize, usize)> for Share<'_> {
    type Id = usize;
    fn insert_if_absent(&mut self, (from, s): (usize, usize)) -> Insertion<usize> {
        match self.mine.insert(s, ()) {
            Some(()) => Insertion::Present(s),
            None => {
                self.log.borrow_mut().push(Did::Stored(from, s));
                Insertion::Inserted(s)
            }
        }
    }
}

type OfShare<'b, 'l> = Kernel<'b, Share<'l>, Open<Queue<usize>>, All<usize>>;

/// The root of a share: its initial states arrive.
fn begin<'b>(kernel: &mut OfShare<'b, '_>, root: Root<'b>, k: &wmc::Constants<L>, rep: &[usize], me: usize) {
    let outcome = kernel.expand_root(root, |x| {
        for s2 in (0..rep.len()).filter(|&s2| k.mc0.tr.contains(0, s2) && rep[s2] % 2 == me) {
            x.visit((0, rep[s2]), |_, _| k.mc0.inv.contains(s2));
        }
        ControlFlow::Continue(())
    });
    let Outcome::Exhausted(i) = outcome else { panic!("all initial states were yielded") };
    kernel.remove_root(i);
}

/// A successor on its way: its state, and its representative.
type Letter = (usize, usize);

/// Expands a state; what belongs to the other share is put into `to`. Its token, if it has to wait.
fn step<'b>(
    kernel: &mut OfShare<'b, '_>,
    to: &mut Vec<Letter>,
    k: &wmc::Constants<L>,
    rep: &[usize],
    me: usize,
) -> Option<Taken<'b, usize>> {
    let s1 = kernel.take()?;
    let id = s1.id();
    let before = to.len();
    let outcome = kernel.expand(s1, |s1, x| {
        for s2 in (0..rep.len()).filter(|&s2| k.mc0.tr.contains(s1, s2)) {
            if rep[s2] % 2 == me {
                x.visit((s1, rep[s2]), |_, _| k.mc0.inv.contains(s2));
            } else {
                to.push((s1, s2));
            }
        }
        if to.len() == before { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    });
    match outcome {
        Outcome::Exhausted(s1) => {
            kernel.remove(s1);
            kernel.rrac().log.borrow_mut().push(Did::Removed(id));
            None
        }
        Outcome::Stopped(s1) => Some(s1),
    }
}

/// What was handed on by these states has arrived.
fn settle<'b>(kernel: &mut OfShare<'b, '_>, held: &mut Vec<Taken<'b, usize>>, on_its_way: &[Letter]) {
    let (wait, done): (Vec<_>, Vec<_>) =
        held.drain(..).partition(|s1| on_its_way.iter().any(|(from, _)| *from == s1.id()));
    *held = wait;
    for s1 in done {
        let id = s1.id();
        let Outcome::Exhausted(s1) = kernel.expand(s1, |_, _| ControlFlow::Continue(())) else {
            panic!("nothing is left of it")
        };
        kernel.remove(s1);
        kernel.rrac().log.borrow_mut().push(Did::Removed(id));
    }
}

/// Two kernels with a share of the states each, and letters that arrive in any order; whether both have passed.
fn explore_in_shares(
    log: &RefCell<Vec<Did>>,
    k: &wmc::Constants<L>,
    rep: &[usize],
    mut pick: impl FnMut(usize) -> usize,
) -> bool {
    let parts = || (Share { mine: BTreeMap::new(), log }, Open::new(Queue::new()), All::new());
    let ((a, b, c), (d, e, f)) = (parts(), parts());
    Kernel::scope(a, b, c, |mut even, root_of_even| {
        Kernel::scope(d, e, f, |mut odd, root_of_odd| {
            begin(&mut even, root_of_even, k, rep, 0);
            begin(&mut odd, root_of_odd, k, rep, 1);
            log.borrow_mut().push(Did::Removed(0));
            let (mut to_even, mut to_odd) = (vec![], vec![]);
            let (mut of_even, mut of_odd) = (vec![], vec![]);
            loop {
                match pick(4) {
                    0 => of_even.extend(step(&mut even, &mut to_odd, k, rep, 0)),
                    1 => of_odd.extend(step(&mut odd, &mut to_even, k, rep, 1)),
                    side => {
                        let (kernel, letters) = match side {
                            2 => (None, &mut to_even),
                            _ => (Some(()), &mut to_odd),
                        };
                        if !letters.is_empty() {
                            let (s1, s2) = letters.swap_remove(pick(letters.len()));
                            let key = (s1, rep[s2]);
                            let inv = k.mc0.inv.contains(s2);
                            match kernel {
                                None => even.receive(|x| {
                                    let _ = x.visit(key, |_, _| inv);
                                }),
                                Some(()) => odd.receive(|x| {
                                    let _ = x.visit(key, |_, _| inv);
                                }),
                            }
                        }
                    }
                }
                settle(&mut even, &mut of_even, &to_odd);
                settle(&mut odd, &mut of_odd, &to_even);
                let is_idle = even.runex().is_empty() && odd.runex().is_empty();
                if is_idle && to_even.is_empty() && to_odd.is_empty() {
                    return even.pass().is_some() && odd.pass().is_some();
                }
            }
        })
    })
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

    /// Two kernels that hand states on to each other fire wmc's events on the unions of their sets, and the whole has
    /// passed if both have.
    #[test]
    fn kernels_in_shares_interleave_events(
        n in 2usize..=20,
        tape in prop::collection::vec(any::<u64>(), 1..60),
        seed: u64,
    ) {
        let l = L::new(n, 1);
        let (k, rep) = symmetric_system(&tape, n, &l);
        let log = RefCell::default();
        let mut seed = seed;
        let passed = explore_in_shares(&log, &k, &rep, |below| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (seed >> 33) as usize % below
        });
        linearise(&l, &k, &rep, &log.into_inner());
        prop_assert_eq!(passed, l.subset(&k.mc0.reach, &k.mc0.inv));
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
