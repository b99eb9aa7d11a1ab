//! The token form and the logic form agree: the production kernel on bit sets, beside the machines.
//!
//! A run explores a chosen system with [`Kernel`]; whenever it fires an event, the event of [`lab`] (and of
//! [`rmc2`], where the labelling is canonical and no error was found) must be enabled, and afterwards the sets
//! must be equal. Executed only: the kernel is Rust, not a formula.

use core::ops::ControlFlow;

use kanon_refinement::concrete::{Bits, Concrete, Small, Trial};
use kanon_refinement::logic::{Event, Logic, Machine, check, enabled};
use kanon_refinement::{lab, rmc1, rmc2, wmc};

use crate::any;
use crate::choose::Choose;
use crate::kernel::{Insertion, Kernel, Outcome, Rerr, Rrac, Runex, Visit};
use crate::search::{self, Count, Search, every};

type Set<const N: usize, const G: usize> = Bits<Small<N, G>>;
type Reading<const N: usize, const G: usize, T> = Concrete<Small<N, G>, T>;

/// A store of bits: the id of a state is the state.
#[derive(Debug)]
pub struct Store<const N: usize, const G: usize>(Set<N, G>);

impl<const N: usize, const G: usize> Rrac<usize> for Store<N, G> {
    type Id = usize;
    fn insert_if_absent(&mut self, s: usize) -> Insertion<usize> {
        match self.0.insert(s) {
            true => Insertion::Inserted(s),
            false => Insertion::Present(s),
        }
    }
}

/// `runex` in bits, taken from a chosen place on.
#[derive(Debug)]
pub struct Open<const N: usize, const G: usize> {
    waiting: Set<N, G>,
    taken: Set<N, G>,
    from: usize,
}

impl<const N: usize, const G: usize> Runex for Open<N, G> {
    type Id = usize;
    fn insert(&mut self, s: usize) {
        self.waiting.insert(s);
    }
    fn take(&mut self) -> Option<usize> {
        let s = (0..N).map(|s| (s + self.from) % N).find(|&s| self.waiting.contains(s))?;
        self.waiting.remove(s);
        self.taken.insert(s);
        Some(s)
    }
    fn remove(&mut self, s: usize) {
        self.taken.remove(s);
    }
    fn is_empty(&self) -> bool {
        self.waiting.is_empty() && self.taken.is_empty()
    }
}

/// `rerr` in bits.
#[derive(Debug)]
pub struct Errors<const N: usize, const G: usize>(Set<N, G>);

impl<const N: usize, const G: usize> Rerr for Errors<N, G> {
    type Id = usize;
    fn insert(&mut self, s: usize) {
        self.0.insert(s);
    }
    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// The machines beside the kernel.
struct Shadow<const N: usize, const G: usize, T: Trial> {
    l: Reading<N, G, T>,
    k: lab::Constants<Reading<N, G, T>>,
    m: lab::Lab<Reading<N, G, T>>,
    canonical: Option<rmc1::Constants<Reading<N, G, T>>>,
    wrong: Option<&'static str>,
}

impl<const N: usize, const G: usize, T: Trial> Shadow<N, G, T> {
    fn expect(&mut self, holds: bool, what: &'static str) {
        if !holds {
            self.wrong.get_or_insert(what);
        }
    }

    fn rmc2(&self) -> rmc2::Rmc2<Reading<N, G, T>> {
        let m = &self.m;
        rmc2::Rmc2 { rrac: m.rrac.clone(), runex: m.runex.clone(), rerr: m.rerr.clone() }
    }

    /// The kernel did this with the successor `s2` of `s1`.
    fn arrived(&mut self, s1: usize, s2: usize, visit: Visit<usize>) {
        let (inv, err) = (lab::AddInv { s1, s2 }, lab::AddErr { s1, s2 });
        let may_inv = enabled(&inv, &self.l, &self.k, &self.m);
        let may_err = enabled(&err, &self.l, &self.k, &self.m);
        self.expect(may_inv == matches!(visit, Visit::Inv(_)), "kernel/add_inv: fires iff enabled");
        self.expect(may_err == matches!(visit, Visit::Err(_)), "kernel/add_err: fires iff enabled");
        if let (Some(k), true) = (self.canonical.clone(), self.m.rerr.is_empty()) {
            let m = self.rmc2();
            let inv2 = enabled(&rmc2::AddInv { s1, s2 }, &self.l, &k, &m);
            let err2 = enabled(&rmc2::AddErr { s1, s2 }, &self.l, &k, &m);
            self.expect(inv2 == may_inv && err2 == may_err, "kernel: rmc2 agrees");
        }
        match visit {
            Visit::Known(_) => {}
            Visit::Inv(_) => self.m = inv.action(&self.l, &self.k, &self.m),
            Visit::Err(_) => self.m = err.action(&self.l, &self.k, &self.m),
        }
    }

    /// The kernel removed `s1`.
    fn removed(&mut self, s1: usize) {
        let remove = lab::Remove { s1 };
        let may = enabled(&remove, &self.l, &self.k, &self.m);
        self.expect(may, "kernel/remove: enabled");
        if let (Some(k), true) = (self.canonical.clone(), self.m.rerr.is_empty()) {
            let may = enabled(&rmc2::Remove { s1 }, &self.l, &k, &self.rmc2());
            self.expect(may, "kernel: rmc2 agrees");
        }
        self.m = remove.action(&self.l, &self.k, &self.m);
    }

    /// The sets are equal, the invariants hold, the answers are the same.
    fn compare(&mut self, kernel: &Kernel<'_, Store<N, G>, Open<N, G>, Errors<N, G>>) {
        let l = self.l;
        let i = l.single(&self.k.wmc.mc0.i);
        let open = l.union(&kernel.runex().waiting, &kernel.runex().taken);
        let runex = if kernel.root_open() { l.union(&open, &i) } else { open };
        let stored = l.union(&kernel.rrac().0, &i);
        self.expect(l.union(&self.m.rrac, &self.m.rerr) == stored, "kernel: rrac ∪ rerr");
        self.expect(self.m.runex == runex, "kernel: runex");
        self.expect(self.m.rerr == kernel.rerr().0, "kernel: rerr");
        let pass = enabled(&lab::Pass, &l, &self.k, &self.m);
        let fail = enabled(&lab::Fail, &l, &self.k, &self.m);
        self.expect(pass == kernel.pass().is_some(), "kernel: pass");
        self.expect(fail == kernel.fail().is_some(), "kernel: fail");
        let m =
            wmc::Wmc { rrac: self.m.rrac.clone(), runex: self.m.runex.clone(), rerr: self.m.rerr.clone() };
        self.expect(check(&m, &l, &self.k.wmc).is_ok(), "kernel: wmc's invariant");
    }
}

/// Constants of lab with all their properties. With `canonical`, Fig. 8 holds of the labelling, and the constants of
/// rmc1 are there, too.
#[allow(clippy::type_complexity, reason = "two sets of constants")]
pub fn constants<C: Choose>(
    c: &mut C,
    canonical: bool,
) -> (lab::Constants<C::L>, Option<rmc1::Constants<C::L>>) {
    if canonical {
        let k = any::symmetric(c);
        let l = c.logic();
        k.properties(&l, &mut |label: &'static str, holds| c.assume(label, holds));
        let wmc = wmc::Constants { mc0: k.mc0.clone(), orb: wmc::same_rep(&l, &k) };
        (lab::Constants { wmc, rep: k.rep.clone() }, Some(k))
    } else {
        let k = any::labelled(c);
        let l = c.logic();
        k.wmc.properties(&l, &mut |label: &'static str, holds| c.assume(label, holds));
        (k, None)
    }
}

/// kernel/AGR on every system of exactly `N` states, in every order of exploration.
pub fn agree_on_all<const N: usize, const G: usize, T: Trial>(trial: T, canonical: bool) -> Count {
    every::<N, G>(None, &|c: &mut Search<N, G>| {
        let (k, symmetric) = constants(c, canonical);
        if !c.alive() {
            return;
        }
        c.reads_all();
        let wmc = wmc::Constants { mc0: search::values(&k.wmc.mc0), orb: search::pairs(&k.wmc.orb) };
        let k = lab::Constants { wmc, rep: search::table(&k.rep) };
        let symmetric = symmetric.map(|k| rmc1::Constants {
            mc0: search::values(&k.mc0),
            aut: search::group(&k.aut),
            rep: search::table(&k.rep),
        });
        let agreed = agree(Concrete::on_trial(N, 2, trial), k, symmetric, &mut |below| c.pick(below).at());
        let l = c.logic();
        match agreed {
            Ok(()) => c.prove("kernel: the forms agree", l.truth()),
            Err(wrong) => c.prove(wrong, l.not(&l.truth())),
        }
    })
}

/// kernel/AGR: the two forms agree along a whole run, and the answer is mc0's.
///
/// # Errors
/// What does not agree.
pub fn agree<const N: usize, const G: usize, T: Trial>(
    l: Reading<N, G, T>,
    k: lab::Constants<Reading<N, G, T>>,
    canonical: Option<rmc1::Constants<Reading<N, G, T>>>,
    pick: &mut impl FnMut(usize) -> usize,
) -> Result<(), &'static str> {
    if k.wmc.mc0.reach != l.least(k.wmc.mc0.i, &k.wmc.mc0.tr) {
        return Ok(()); // not reach: the induction (mc0/prp8) was not assumed
    }
    let from = pick(l.states());
    let stops = pick(2) == 1;
    // The root in one go, or one initial state at a time, with other states between.
    let lazily = pick(2) == 1;
    let (tr, inv, rep) = (k.wmc.mc0.tr.clone(), k.wmc.mc0.inv.clone(), k.rep.clone());
    let i = k.wmc.mc0.i;
    let m = lab::Lab::initialisation(&l, &k);
    let mut shadow = Shadow { l, k, m, canonical, wrong: None };
    let open = Open { waiting: l.empty(), taken: l.empty(), from };
    Kernel::scope(Store(l.empty()), open, Errors(l.empty()), |mut kernel, root| {
        shadow.compare(&kernel);
        let mut root = Some(root);
        let (mut yielded, mut stopped) = (0, false);
        while !stopped {
            if let Some(token) = root.take() {
                let outcome = kernel.expand_root(token, |x| {
                    while yielded < l.states() {
                        let s2 = yielded;
                        yielded += 1;
                        if tr.contains(i, s2) {
                            let visit = x.visit(rep.at(s2), |_, _| inv.contains(s2));
                            shadow.arrived(i, s2, visit);
                            stopped = stops && matches!(visit, Visit::Err(_));
                            if stopped || lazily {
                                return ControlFlow::Break(());
                            }
                        }
                    }
                    ControlFlow::Continue(())
                });
                match outcome {
                    Outcome::Exhausted(token) => {
                        shadow.removed(i);
                        kernel.remove_root(token);
                    }
                    Outcome::Stopped(token) => root = Some(token),
                }
                shadow.compare(&kernel);
                if stopped {
                    break;
                }
            }
            let Some(s1) = kernel.take() else {
                if root.is_none() {
                    break;
                }
                continue;
            };
            let outcome = kernel.expand(s1, |s1, x| {
                for s2 in (0..l.states()).filter(|&s2| tr.contains(s1, s2)) {
                    let visit = x.visit(rep.at(s2), |_, _| inv.contains(s2));
                    shadow.arrived(s1, s2, visit);
                    if stops && matches!(visit, Visit::Err(_)) {
                        return ControlFlow::Break(());
                    }
                }
                ControlFlow::Continue(())
            });
            match outcome {
                Outcome::Exhausted(s1) => {
                    shadow.removed(s1.id());
                    kernel.remove(s1);
                }
                Outcome::Stopped(_) => stopped = true,
            }
            shadow.compare(&kernel);
        }
        let holds = l.subset(&shadow.k.wmc.mc0.reach, &inv);
        shadow.expect(kernel.pass().is_some() == holds, "kernel: pass is mc0's");
        shadow.expect(kernel.fail().is_some() != holds, "kernel: fail is mc0's");
        shadow.expect(kernel.unclassified() == 0, "kernel: every arrival is classified");
    });
    shadow.wrong.map_or(Ok(()), Err)
}
