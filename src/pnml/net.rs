//! A net as it is written: places with domains, transitions with guards, arcs with terms. Names are resolved and sorts
//! are checked. A place/transition net is one whose domains are empty.

use kanon_language::lang::diag::Span;

/// The place of a class in [`Net::classes`].
pub type ClassId = usize;

/// What orders the colours of a class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// One colour.
    Dot,
    /// A list.
    Enumeration,
    /// A list whose last colour is followed by the first.
    Cyclic,
    /// Numbers from one to another.
    Range,
}

/// A colour class.
#[derive(Clone, Debug)]
pub struct Class {
    /// For people.
    pub name: String,
    /// What kind of list it is.
    pub kind: Kind,
    /// The names of its colours.
    pub colours: Vec<String>,
    /// What looks at the order of its colours, if anything does.
    pub ordered_by: Option<&'static str>,
}

/// A partition of a class: static subclasses.
#[derive(Clone, Debug)]
pub struct Partition {
    /// For people.
    pub name: String,
    /// What is divided.
    pub class: ClassId,
    /// By colour: the number of its element.
    pub of: Vec<u32>,
    /// The names of its elements.
    pub elements: Vec<String>,
}

/// A variable of a transition.
#[derive(Clone, Debug)]
pub struct Variable {
    /// For people.
    pub name: String,
    /// Its colours.
    pub class: ClassId,
}

/// A colour, as a term says it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Colour {
    /// The value of a variable: its place in [`Net::variables`].
    Variable(usize),
    /// This colour of a class.
    Constant(ClassId, u32),
    /// So many steps further round a cycle.
    Shifted(Box<Colour>, i64),
}

/// Something in a guard that can be compared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Compared {
    /// A colour.
    Colour(Colour),
    /// The element of a partition (by number) in which a colour is.
    Element(usize, Colour),
    /// This element of a partition.
    ElementConstant(usize, u32),
}

/// How two are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relation {
    Equal,
    Unequal,
    Less,
    AtMost,
}

/// When a transition may fire.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Guard {
    Constant(bool),
    All(Vec<Guard>),
    Any(Vec<Guard>),
    Not(Box<Guard>),
    Compare(Relation, Compared, Compared),
}

/// One component of a tuple.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Component {
    /// One colour.
    One(Colour),
    /// Every colour of the class.
    All(ClassId),
}

/// Tokens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Bag {
    /// One token for every choice of the components' colours.
    Tuple(Vec<Component>),
    /// So many times.
    Times(u64, Box<Bag>),
    /// Together.
    Sum(Vec<Bag>),
    /// The first without the second, which must be in it.
    Without(Box<Bag>, Box<Bag>),
}

/// Where tokens are.
#[derive(Clone, Debug)]
pub struct Place {
    /// In the document.
    pub id: String,
    /// For people: its name if no other place has it, and its id otherwise.
    pub name: String,
    /// The classes of its tokens' components; none for black tokens.
    pub domain: Vec<ClassId>,
    /// At the beginning, without variables.
    pub marking: Bag,
    pub span: Span,
}

/// What moves tokens.
#[derive(Clone, Debug)]
pub struct Transition {
    /// In the document.
    pub id: String,
    /// For people.
    pub name: String,
    pub guard: Guard,
    /// Places and what is taken from them.
    pub takes: Vec<Arc>,
    /// Places and what is put there.
    pub gives: Vec<Arc>,
    pub span: Span,
}

/// Tokens that are taken from a place, or put there.
#[derive(Clone, Debug)]
pub struct Arc {
    /// The number of the place.
    pub place: usize,
    pub tokens: Bag,
    pub span: Span,
}

/// A net.
#[derive(Clone, Debug, Default)]
pub struct Net {
    pub name: String,
    pub classes: Vec<Class>,
    pub partitions: Vec<Partition>,
    pub variables: Vec<Variable>,
    pub places: Vec<Place>,
    pub transitions: Vec<Transition>,
}
