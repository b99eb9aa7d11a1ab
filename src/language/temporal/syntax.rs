//! The syntax tree of LTL[e] with past (*Seven at one stroke*, §3 and §5), over any kind of atomic proposition.
//!
//! All operators are kept as they were written, for people. The meaning is that of the paper on maximal paths, which are infinite or end in a deadlock:
//! `X f` and `[t]` are false at the end of a finite path, `Y f` is false at its beginning.

use std::fmt;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Formula<A> {
    True,
    False,
    Atom(A),
    Not(Box<Formula<A>>),
    Unary(Unary, Box<Formula<A>>),
    Binary(Binary, Box<Formula<A>>, Box<Formula<A>>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Unary {
    Next,
    Finally,
    Globally,
    Yesterday,
    Once,
    Historically,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Binary {
    And,
    Or,
    Implies,
    Iff,
    Until,
    WeakUntil,
    Release,
    Since,
    Trigger,
}

/// An atomic proposition by number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Prop {
    /// Of the state.
    State(u32),
    /// Of the step that is taken next: `[t]`.
    Step(u32),
    /// Some step with this proposition is possible: `e(t)`.
    Enabled(u32),
    /// No step is possible.
    Deadlock,
    /// No step leads to another state.
    Sink,
}

/// What a path must fulfil to count. A finite maximal path fulfils every premise.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Fairness<A> {
    /// Infinitely often disabled or infinitely often taken.
    Weak(A),
    /// Taken infinitely often if it is enabled infinitely often.
    Strong(A),
    /// `WEF`: weak fairness of every operation with every choice of its parameters.
    WeakAll,
    /// `SEF`
    StrongAll,
    And(Box<Fairness<A>>, Box<Fairness<A>>),
    Or(Box<Fairness<A>>, Box<Fairness<A>>),
}

/// A formula under a premise. The atoms of a premise are steps.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Property<A, T> {
    pub premise: Option<Fairness<T>>,
    pub formula: Formula<A>,
}

/// What a search works on: propositions are numbers.
pub type Resolved = Property<Prop, u32>;

impl Resolved {
    /// The propositions of steps that the formula or the premise asks of the step that is taken, a bit each.
    pub fn steps(&self) -> u64 {
        let mut all = 0;
        self.formula.for_each_atom(&mut |p| {
            if let Prop::Step(i) = p {
                all |= 1u64.checked_shl(*i).unwrap_or(0);
            }
        });
        if let Some(premise) = &self.premise {
            premise.for_each(&mut |i| all |= 1u64.checked_shl(*i).unwrap_or(0));
        }
        all
    }
}

impl<A> Formula<A> {
    pub fn atom(a: A) -> Self {
        Formula::Atom(a)
    }

    #[allow(clippy::should_implement_trait)]
    pub fn not(self) -> Self {
        Formula::Not(Box::new(self))
    }

    pub fn unary(self, op: Unary) -> Self {
        Formula::Unary(op, Box::new(self))
    }

    pub fn binary(self, op: Binary, other: Self) -> Self {
        Formula::Binary(op, Box::new(self), Box::new(other))
    }

    /// The same formula over other atoms.
    pub fn try_map<B, E>(&self, f: &mut impl FnMut(&A) -> Result<Formula<B>, E>) -> Result<Formula<B>, E> {
        Ok(match self {
            Formula::True => Formula::True,
            Formula::False => Formula::False,
            Formula::Atom(a) => f(a)?,
            Formula::Not(g) => g.try_map(f)?.not(),
            Formula::Unary(op, g) => g.try_map(f)?.unary(*op),
            Formula::Binary(op, g, h) => g.try_map(f)?.binary(*op, h.try_map(f)?),
        })
    }

    pub fn for_each_atom<'a>(&'a self, f: &mut impl FnMut(&'a A)) {
        match self {
            Formula::True | Formula::False => {}
            Formula::Atom(a) => f(a),
            Formula::Not(g) | Formula::Unary(_, g) => g.for_each_atom(f),
            Formula::Binary(_, g, h) => {
                g.for_each_atom(f);
                h.for_each_atom(f);
            }
        }
    }

    /// Whether the outermost operator speaks of other places of the path.
    pub fn is_temporal(&self) -> bool {
        match self {
            Formula::Unary(..) => true,
            Formula::Binary(op, ..) => {
                !matches!(op, Binary::And | Binary::Or | Binary::Implies | Binary::Iff)
            }
            _ => false,
        }
    }

    /// Every subformula, parts before wholes.
    pub fn subformulas(&self) -> Vec<&Formula<A>> {
        let mut all = vec![];
        self.collect(&mut all);
        all
    }

    fn collect<'a>(&'a self, all: &mut Vec<&'a Formula<A>>) {
        match self {
            Formula::True | Formula::False | Formula::Atom(_) => {}
            Formula::Not(g) | Formula::Unary(_, g) => g.collect(all),
            Formula::Binary(_, g, h) => {
                g.collect(all);
                h.collect(all);
            }
        }
        all.push(self);
    }
}

impl<T> Fairness<T> {
    pub fn for_each<'a>(&'a self, f: &mut impl FnMut(&'a T)) {
        match self {
            Fairness::Weak(t) | Fairness::Strong(t) => f(t),
            Fairness::WeakAll | Fairness::StrongAll => {}
            Fairness::And(a, b) | Fairness::Or(a, b) => {
                a.for_each(f);
                b.for_each(f);
            }
        }
    }

    /// Whether every operation with every choice of its parameters is meant somewhere.
    pub fn is_of_instances(&self) -> bool {
        match self {
            Fairness::Weak(_) | Fairness::Strong(_) => false,
            Fairness::WeakAll | Fairness::StrongAll => true,
            Fairness::And(a, b) | Fairness::Or(a, b) => a.is_of_instances() || b.is_of_instances(),
        }
    }

    pub fn try_map<U, E>(&self, f: &mut impl FnMut(&T) -> Result<U, E>) -> Result<Fairness<U>, E> {
        Ok(match self {
            Fairness::Weak(t) => Fairness::Weak(f(t)?),
            Fairness::Strong(t) => Fairness::Strong(f(t)?),
            Fairness::WeakAll => Fairness::WeakAll,
            Fairness::StrongAll => Fairness::StrongAll,
            Fairness::And(a, b) => Fairness::And(Box::new(a.try_map(f)?), Box::new(b.try_map(f)?)),
            Fairness::Or(a, b) => Fairness::Or(Box::new(a.try_map(f)?), Box::new(b.try_map(f)?)),
        })
    }
}

impl Unary {
    pub fn name(self) -> &'static str {
        match self {
            Unary::Next => "X",
            Unary::Finally => "F",
            Unary::Globally => "G",
            Unary::Yesterday => "Y",
            Unary::Once => "O",
            Unary::Historically => "H",
        }
    }

    pub fn is_past(self) -> bool {
        matches!(self, Unary::Yesterday | Unary::Once | Unary::Historically)
    }
}

impl Binary {
    pub fn name(self) -> &'static str {
        match self {
            Binary::And => "&",
            Binary::Or => "or",
            Binary::Implies => "=>",
            Binary::Iff => "<=>",
            Binary::Until => "U",
            Binary::WeakUntil => "W",
            Binary::Release => "R",
            Binary::Since => "S",
            Binary::Trigger => "T",
        }
    }

    pub fn is_past(self) -> bool {
        matches!(self, Binary::Since | Binary::Trigger)
    }
}

impl<A: fmt::Display> fmt::Display for Formula<A> {
    /// With parentheses around every binary operator inside another: precedence is not everybody's friend.
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Formula::True => f.write_str("true"),
            Formula::False => f.write_str("false"),
            Formula::Atom(a) => write!(f, "{a}"),
            Formula::Not(g) => write!(f, "not {}", Part(g)),
            Formula::Unary(op, g) => write!(f, "{} {}", op.name(), Part(g)),
            Formula::Binary(op, g, h) => write!(f, "{} {} {}", Part(g), op.name(), Part(h)),
        }
    }
}

struct Part<'a, A>(&'a Formula<A>);

impl<A: fmt::Display> fmt::Display for Part<'_, A> {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self.0 {
            Formula::Binary(..) => write!(f, "({})", self.0),
            other => write!(f, "{other}"),
        }
    }
}

impl fmt::Display for Prop {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Prop::State(i) => write!(f, "{{p{i}}}"),
            Prop::Step(i) => write!(f, "[t{i}]"),
            Prop::Enabled(i) => write!(f, "e(t{i})"),
            Prop::Deadlock => f.write_str("deadlock"),
            Prop::Sink => f.write_str("sink"),
        }
    }
}

impl<T: fmt::Display> fmt::Display for Fairness<T> {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Fairness::Weak(t) => write!(f, "WF({t})"),
            Fairness::Strong(t) => write!(f, "SF({t})"),
            Fairness::WeakAll => f.write_str("WEF"),
            Fairness::StrongAll => f.write_str("SEF"),
            Fairness::And(a, b) => write!(f, "({a} & {b})"),
            Fairness::Or(a, b) => write!(f, "({a} or {b})"),
        }
    }
}
