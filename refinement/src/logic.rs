//! The small logic in which the machines are written, so that one text has several readings.
//!
//! Guards, actions, invariants and gluing relations use only the operations of [`Logic`]: no Rust `if`, no
//! loop. Read with [`crate::concrete`] they execute on bit sets (audit, Kani, enumeration, random tests); read
//! with the SMT reading of kanon-proofs they print formulas over an uninterpreted sort, for every size of `S`.

use core::fmt::Debug;

/// The logic: booleans, states, sets of states, relations, functions, the group and its members.
///
/// Quantifiers take the body as a function, so a reading may loop, or print a binder.
pub trait Logic: Clone + Debug {
    /// A truth value.
    type Bool: Clone + Debug;
    /// A member of `S`.
    type State: Clone + Debug;
    /// A subset of `S`.
    type Set: Clone + Debug;
    /// A relation on `S`.
    type Rel: Clone + Debug;
    /// A total function on `S`: `rep`, or a permutation.
    type Map: Clone + Debug;
    /// A set of permutations of `S`.
    type Aut: Clone + Debug;
    /// A label of a transition.
    type Op: Clone + Debug;
    /// A relation with labels: a set of `(s1, op, s2)`.
    type Steps: Clone + Debug;

    /// True.
    fn truth(&self) -> Self::Bool;
    /// Negation.
    fn not(&self, a: &Self::Bool) -> Self::Bool;
    /// Conjunction.
    fn and(&self, a: &Self::Bool, b: &Self::Bool) -> Self::Bool;
    /// Disjunction.
    fn or(&self, a: &Self::Bool, b: &Self::Bool) -> Self::Bool;
    /// Implication.
    fn implies(&self, a: &Self::Bool, b: &Self::Bool) -> Self::Bool {
        self.or(&self.not(a), b)
    }
    /// Equivalence.
    fn iff(&self, a: &Self::Bool, b: &Self::Bool) -> Self::Bool {
        self.and(&self.implies(a, b), &self.implies(b, a))
    }

    /// ∀ over `S`.
    fn forall(&self, body: impl Fn(&Self::State) -> Self::Bool) -> Self::Bool;
    /// ∃ over `S`.
    fn exists(&self, body: impl Fn(&Self::State) -> Self::Bool) -> Self::Bool;
    /// `a = b`.
    fn eq(&self, a: &Self::State, b: &Self::State) -> Self::Bool;

    /// `x ∈ a`.
    fn member(&self, x: &Self::State, a: &Self::Set) -> Self::Bool;
    /// `x ∉ a`.
    fn absent(&self, x: &Self::State, a: &Self::Set) -> Self::Bool {
        self.not(&self.member(x, a))
    }
    /// `{x | body}`.
    fn set_where(&self, body: impl Fn(&Self::State) -> Self::Bool) -> Self::Set;
    /// ∅.
    fn empty(&self) -> Self::Set;
    /// `{x}`.
    fn single(&self, x: &Self::State) -> Self::Set;
    /// `a ∪ b`.
    fn union(&self, a: &Self::Set, b: &Self::Set) -> Self::Set;
    /// `a ∩ b`.
    fn inter(&self, a: &Self::Set, b: &Self::Set) -> Self::Set;
    /// `a ∖ b`.
    fn minus(&self, a: &Self::Set, b: &Self::Set) -> Self::Set;
    /// `a ⊆ b`.
    fn subset(&self, a: &Self::Set, b: &Self::Set) -> Self::Bool;
    /// `a = b`.
    fn same(&self, a: &Self::Set, b: &Self::Set) -> Self::Bool {
        self.and(&self.subset(a, b), &self.subset(b, a))
    }
    /// `a = ∅`.
    fn is_empty(&self, a: &Self::Set) -> Self::Bool;
    /// `a ≠ ∅`.
    fn inhabited(&self, a: &Self::Set) -> Self::Bool {
        self.not(&self.is_empty(a))
    }
    /// `a ⊂ b`: what a variant needs, for finite sets of every size.
    fn strict_subset(&self, a: &Self::Set, b: &Self::Set) -> Self::Bool {
        self.and(&self.subset(a, b), &self.not(&self.subset(b, a)))
    }

    /// `a ↦ b ∈ r`.
    fn related(&self, r: &Self::Rel, a: &Self::State, b: &Self::State) -> Self::Bool;
    /// `{a ↦ b | body}`.
    fn rel_where(&self, body: impl Fn(&Self::State, &Self::State) -> Self::Bool) -> Self::Rel;
    /// `r[a]`.
    fn image(&self, r: &Self::Rel, a: &Self::Set) -> Self::Set;
    /// `ran(r)`.
    fn range(&self, r: &Self::Rel) -> Self::Set;

    /// `f(x)`.
    fn apply(&self, f: &Self::Map, x: &Self::State) -> Self::State;
    /// `f[a]`.
    fn map_image(&self, f: &Self::Map, a: &Self::Set) -> Self::Set;
    /// `f⁻¹[a]`.
    fn preimage(&self, f: &Self::Map, a: &Self::Set) -> Self::Set;
    /// `ran(f)`.
    fn map_range(&self, f: &Self::Map) -> Self::Set;

    /// ∀ over the group.
    fn forall_in(&self, aut: &Self::Aut, body: impl Fn(&Self::Map) -> Self::Bool) -> Self::Bool;
    /// ∃ over the group.
    fn exists_in(&self, aut: &Self::Aut, body: impl Fn(&Self::Map) -> Self::Bool) -> Self::Bool;

    /// ∃ over the labels.
    fn exists_op(&self, body: impl Fn(&Self::Op) -> Self::Bool) -> Self::Bool;
    /// ∀ over the labels.
    fn forall_op(&self, body: impl Fn(&Self::Op) -> Self::Bool) -> Self::Bool {
        self.not(&self.exists_op(|op| self.not(&body(op))))
    }
    /// `a = b`.
    fn same_op(&self, a: &Self::Op, b: &Self::Op) -> Self::Bool;
    /// `(s1, op, s2) ∈ t`.
    fn step(&self, t: &Self::Steps, s1: &Self::State, op: &Self::Op, s2: &Self::State) -> Self::Bool;
    /// `{(s1, op, s2) | body}`.
    fn steps_where(&self, body: impl Fn(&Self::State, &Self::Op, &Self::State) -> Self::Bool) -> Self::Steps;

    /// Whether the text has this clause or action, by its label. A reading that plants mistakes says no to one, and
    /// the function it stands in does without it ([`clause!`](crate::logic), [`Logic::assign`]). A constant for
    /// every other reading.
    fn keeps(&self, _label: &'static str) -> bool {
        true
    }

    /// `variable := value`, an action with a label.
    fn assign<T: Clone>(&self, label: &'static str, old: &T, new: T) -> T {
        if self.keeps(label) { new } else { old.clone() }
    }
}

/// States a clause: hands it to the receiver, under its label. The one way in which guards, invariants, properties
/// and gluing relations say anything, so that a mistake can be planted in the text itself ([`Logic::keeps`]).
macro_rules! clause {
    ($l:expr, $v:expr, $label:literal, $holds:expr $(,)?) => {
        if $l.keeps($label) {
            let holds = $holds;
            $v($label, holds);
        }
    };
}
pub(crate) use clause;

/// The conjunction of several, at most [`SEVERAL`].
pub fn all<L: Logic, const K: usize>(l: &L, parts: [L::Bool; K]) -> L::Bool {
    const { assert!(K <= SEVERAL) };
    let (mut holds, mut k) = (l.truth(), 0);
    while k < K {
        holds = l.and(&holds, &parts[k]);
        k += 1;
    }
    holds
}

/// The disjunction of several, at most [`SEVERAL`].
pub fn any<L: Logic, const K: usize>(l: &L, parts: [L::Bool; K]) -> L::Bool {
    const { assert!(K <= SEVERAL) };
    let (mut holds, mut k) = (l.not(&l.truth()), 0);
    while k < K {
        holds = l.or(&holds, &parts[k]);
        k += 1;
    }
    holds
}

/// The most parts of [`all`] and [`any`]: a bound for a model checker that unwinds loops.
pub const SEVERAL: usize = 3;

/// Receives clauses, each with its label: `mc2/inv1: unex ⊆ rac`.
pub trait Clauses<L: Logic>: FnMut(&'static str, L::Bool) {}
impl<L: Logic, F: FnMut(&'static str, L::Bool)> Clauses<L> for F {}

/// A machine: variables over constants, initialised, with an invariant of named clauses.
pub trait Machine<L: Logic>: Clone {
    /// What the machine is over: the constants, with their properties.
    type Constants;
    /// `mc2`
    const NAME: &'static str;
    /// INITIALISATION.
    fn initialisation(l: &L, k: &Self::Constants) -> Self;
    /// INVARIANT: the machine's own clauses, in the paper's order. Those of the machines it refines hold of
    /// its abstraction ([`crate::glue`]).
    fn invariant(&self, l: &L, k: &Self::Constants, v: &mut impl Clauses<L>);
    /// What every event that is not `pass` or `fail` makes smaller, lexicographically, by strict inclusion:
    /// the first set shrinks, or it stays and the second one shrinks.
    fn variant(&self, l: &L, k: &Self::Constants) -> [L::Set; 2];
}

/// An event: guard clauses and an action, both pure.
pub trait Event<L: Logic> {
    /// The machine it belongs to.
    type Machine: Machine<L>;
    /// `mc2/remove`
    const NAME: &'static str;
    /// WHERE: the guard, clause by clause.
    fn guard(
        &self,
        l: &L,
        k: &<Self::Machine as Machine<L>>::Constants,
        m: &Self::Machine,
        v: &mut impl Clauses<L>,
    );
    /// THEN: the machine after the event.
    fn action(&self, l: &L, k: &<Self::Machine as Machine<L>>::Constants, m: &Self::Machine)
    -> Self::Machine;
}

/// skip: always enabled, changes nothing.
#[derive(Clone, Copy, Debug)]
pub struct Skip<M>(core::marker::PhantomData<M>);

impl<M> Default for Skip<M> {
    fn default() -> Self {
        Self(core::marker::PhantomData)
    }
}

impl<L: Logic, M: Machine<L>> Event<L> for Skip<M> {
    type Machine = M;
    const NAME: &'static str = "skip";
    fn guard(&self, _: &L, _: &M::Constants, _: &M, _: &mut impl Clauses<L>) {}
    fn action(&self, _: &L, _: &M::Constants, m: &M) -> M {
        m.clone()
    }
}

/// The guard as one truth value.
pub fn enabled<L: Logic, E: Event<L>>(
    e: &E,
    l: &L,
    k: &<E::Machine as Machine<L>>::Constants,
    m: &E::Machine,
) -> L::Bool {
    let mut holds = l.truth();
    e.guard(l, k, m, &mut |_: &'static str, b: L::Bool| holds = l.and(&holds, &b));
    holds
}

/// A clause that does not hold, by its label.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Broken(pub &'static str);

/// Executes the invariant: the first clause that does not hold, if any.
pub fn check<L: Logic<Bool = bool>, M: Machine<L>>(m: &M, l: &L, k: &M::Constants) -> Result<(), Broken> {
    let mut broken = Ok(());
    m.invariant(l, k, &mut |label: &'static str, holds: bool| {
        if broken.is_ok() && !holds {
            broken = Err(Broken(label));
        }
    });
    broken
}

/// The name in a label: `mc2/inv1` of `mc2/inv1: unex ⊆ rac`.
pub fn name_of(label: &str) -> &str {
    label.split(':').next().unwrap_or(label)
}
