//! The kernel's tokens, misused: no `Pass` comes of it. And the kernel with mistakes planted in its text: each is noticed.
//!
//! `refinement/src/kernel.rs` is compiled here a second time, as it stands, with another meaning of `planted!`: in the
//! crate that ships it is the constant false, here a mistake can be chosen. The comparison with the machines
//! (`kernel_form.rs`) is compiled against that.

extern crate alloc;

use std::cell::Cell;
use std::collections::BTreeSet;
use std::ops::ControlFlow::{Break, Continue};
use std::panic::{AssertUnwindSafe, catch_unwind};

use kanon_proofs::{any, choose, search};
use kanon_refinement::concrete::Sound;

use kernel::{Arrival, Insertion, Kernel, Outcome, Rerr, Root, Rrac, Runex};

thread_local! {
    static PLANTED: Cell<Option<&'static str>> = const { Cell::new(None) };
}

fn is_planted(label: &'static str) -> bool {
    PLANTED.get() == Some(label)
}

macro_rules! planted {
    ($label:literal) => {
        crate::is_planted($label)
    };
}

#[path = "../../refinement/src/frontier.rs"]
#[allow(dead_code, reason = "what is not used here is used by others")]
mod frontier;
#[path = "../../refinement/src/kernel.rs"]
#[allow(dead_code, reason = "what is not used here is used by others")]
mod kernel;
#[path = "../src/kernel_form.rs"]
#[allow(dead_code, reason = "what is not used here is used by others")]
mod kernel_form;

const KERNEL: &str = include_str!("../../refinement/src/kernel.rs");

/// States 0 to 63. Panics after it has stored the state `panics`, once.
struct Store {
    seen: u64,
    panics: Option<u32>,
}

impl Rrac<u32> for Store {
    type Id = u32;
    fn insert_if_absent(&mut self, s: u32) -> Insertion<u32> {
        let known = self.seen >> s & 1 == 1;
        self.seen |= 1 << s;
        if self.panics == Some(s) {
            self.panics = None;
            panic!("the store");
        }
        if known { Insertion::Present(s) } else { Insertion::Inserted(s) }
    }
}

/// A list. Panics before it takes the state `panics`, once.
#[derive(Default)]
struct List {
    waiting: Vec<u32>,
    members: usize,
    panics: Option<u32>,
}

impl Runex for List {
    type Id = u32;
    fn insert(&mut self, s: u32) {
        if self.panics == Some(s) {
            self.panics = None;
            panic!("the frontier");
        }
        self.waiting.push(s);
        self.members += 1;
    }
    fn take(&mut self) -> Option<u32> {
        self.waiting.pop()
    }
    fn remove(&mut self, _: u32) {
        self.members -= 1;
    }
    fn is_empty(&self) -> bool {
        self.members == 0
    }
}

impl Rerr for Vec<u32> {
    type Id = u32;
    fn insert(&mut self, s: u32) {
        self.push(s);
    }
    fn is_empty(&self) -> bool {
        Vec::is_empty(self)
    }
}

type Tested<'b> = Kernel<'b, Store, List, Vec<u32>>;

fn scope(store: Option<u32>, list: Option<u32>, body: impl for<'b> FnOnce(Tested<'b>, Root<'b>)) {
    let store = Store { seen: 0, panics: store };
    Kernel::scope(store, List { panics: list, ..List::default() }, Vec::new(), body);
}

/// Says when something panics, without printing it.
fn panics(body: impl FnOnce()) -> bool {
    catch_unwind(AssertUnwindSafe(body)).is_err()
}

fn begin<'b>(kernel: &mut Tested<'b>, root: Root<'b>, initial: &[u32]) {
    let outcome = kernel.expand_root(root, |x| {
        for s in initial {
            x.visit(*s, |_, _| true);
        }
        Continue(())
    });
    let Outcome::Exhausted(i) = outcome else { panic!("it was exhausted") };
    kernel.remove_root(i);
}

/// `Absent` dropped, and the expansion tried again: its key is known by then.
fn dropped_and_retried() {
    scope(None, None, |mut kernel, root| {
        begin(&mut kernel, root, &[1]);
        let s1 = kernel.take().expect("1 waits");
        let Outcome::Stopped(s1) = kernel.expand(s1, |_, x| {
            assert!(matches!(x.arrive(2), Arrival::New(_)));
            Continue(())
        }) else {
            panic!("2 is in neither set")
        };
        let again = kernel.expand(s1, |_, x| {
            assert!(matches!(x.arrive(2), Arrival::Known(2)));
            Continue(())
        });
        assert!(matches!(again, Outcome::Stopped(_)), "2 is still in neither set");
        assert!(kernel.unclassified() == 1 && kernel.pass().is_none());
    });
}

/// The same for the root, in parts.
fn dropped_in_a_part_of_the_root() {
    scope(None, None, |mut kernel, root| {
        let Outcome::Stopped(root) = kernel.expand_root(root, |x| {
            let _ = x.arrive(1);
            Break(())
        }) else {
            panic!("it was stopped")
        };
        let again = kernel.expand_root(root, |x| {
            x.visit(1, |_, _| true);
            Continue(())
        });
        assert!(matches!(again, Outcome::Stopped(_)) && kernel.pass().is_none());
    });
}

/// A panic between the arrival and its event, caught inside the iteration or outside.
fn panic_between_arrival_and_event() {
    scope(None, None, |mut kernel, root| {
        let outcome = kernel.expand_root(root, |x| {
            assert!(panics(|| {
                x.visit(1, |_, _| panic!("the invariant"));
            }));
            x.visit(1, |_, _| true);
            Continue(())
        });
        assert!(matches!(outcome, Outcome::Stopped(_)) && kernel.pass().is_none());
    });
    scope(None, None, |mut kernel, root| {
        begin(&mut kernel, root, &[1]);
        let s1 = kernel.take().expect("1 waits");
        assert!(panics(|| {
            let _ = kernel.expand(s1, |_, x| {
                x.visit(2, |_, _| panic!("the invariant"));
                Continue(())
            });
        }));
        assert!(kernel.take().is_none() && kernel.pass().is_none());
    });
}

/// A store that panics after it has stored, and a frontier that panics before it has taken.
fn panic_in_the_parts() {
    for (store, list) in [(Some(1), None), (None, Some(1))] {
        scope(store, list, |mut kernel, root| {
            let outcome = kernel.expand_root(root, |x| {
                assert!(panics(|| {
                    x.visit(1, |_, _| true);
                }));
                x.visit(1, |_, _| true);
                Continue(())
            });
            assert!(matches!(outcome, Outcome::Stopped(_)) && kernel.pass().is_none());
        });
    }
}

/// Tokens that are dropped leave their states open.
fn lost_tokens() {
    scope(None, None, |kernel, root| {
        let _ = root;
        assert!(kernel.root_open() && kernel.pass().is_none());
    });
    scope(None, None, |mut kernel, root| {
        begin(&mut kernel, root, &[1]);
        let _ = kernel.take();
        assert!(kernel.take().is_none() && kernel.pass().is_none());
    });
    scope(None, None, |mut kernel, root| {
        let outcome = kernel.expand_root(root, |_| Continue(()));
        assert!(matches!(outcome, Outcome::Exhausted(_)) && kernel.pass().is_none());
    });
}

/// Written down with a state taken and the root not removed, or removed, and taken up again.
fn taken_up_again() {
    for removed in [false, true] {
        let mut parts = None;
        scope(None, None, |mut kernel, root| {
            if removed {
                begin(&mut kernel, root, &[1, 2]);
            } else {
                let _ = kernel.expand_root(root, |x| {
                    x.visit(1, |_, _| true);
                    Break(())
                });
            }
            let _ = kernel.take();
            parts = Some(kernel.into_parts());
        });
        let (store, list, errors) = parts.expect("it was taken apart");
        let waiting: Vec<u32> = (0..64).filter(|s| store.seen >> s & 1 == 1).collect();
        let list = List { members: waiting.len(), waiting, ..list };
        Kernel::reopen(store, list, errors, |mut kernel, root| {
            assert!(kernel.root_open() && kernel.pass().is_none());
            while let Some(s1) = kernel.take() {
                let Outcome::Exhausted(s1) = kernel.expand(s1, |_, _| Continue(())) else {
                    panic!("it was exhausted")
                };
                kernel.remove(s1);
            }
            assert!(kernel.pass().is_none(), "the root is open");
            begin(&mut kernel, root, &[1, 2]);
            // 2 arrived before it was written down, or only now.
            assert_eq!(kernel.take().map(|s| s.id()), (!removed).then_some(2));
            assert_eq!(kernel.pass().is_some(), removed);
        });
    }
}

/// The forms agree on all systems of three states, the root in one go and in parts.
fn forms_agree() {
    for canonical in [true, false] {
        let count = kernel_form::agree_on_all::<3, 2, _>(Sound, canonical);
        assert_eq!(count.refuted, None);
        assert!(count.cases > 0);
    }
}

const TRIALS: &[fn()] = &[
    dropped_and_retried,
    dropped_in_a_part_of_the_root,
    panic_between_arrival_and_event,
    panic_in_the_parts,
    lost_tokens,
    taken_up_again,
    forms_agree,
];

#[test]
fn no_misuse_of_tokens_passes() {
    TRIALS.iter().for_each(|trial| trial());
}

/// A mistake that is none, and why.
const EQUIVALENT: &[(&str, &str)] = &[(
    "kernel/pass/grd4",
    "an expansion that ends with an unclassified arrival is not Exhausted, so its state stays in runex",
)];

#[test]
fn every_mistake_in_the_kernel_is_noticed() {
    let planted: BTreeSet<&'static str> =
        KERNEL.split("planted!(\"").skip(1).filter_map(|rest| rest.split('"').next()).collect();
    assert!(planted.len() > 10, "{planted:?}");
    let quiet = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| {}));
    let unnoticed: Vec<&str> = planted
        .into_iter()
        .filter(|label| {
            PLANTED.set(Some(label));
            let noticed = TRIALS.iter().any(panics);
            PLANTED.set(None);
            !noticed
        })
        .collect();
    std::panic::set_hook(quiet);
    assert_eq!(unnoticed, EQUIVALENT.iter().map(|(label, _)| *label).collect::<Vec<_>>());
}
