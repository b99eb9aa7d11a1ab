//! Values of CSP-M: what expressions are worth.
//!
//! Functions, processes and the definitions of a `let` are names of a table (`eval`), so that all values can be
//! compared, ordered and hashed by structure. [`code`] is what they may still have to compute. Absent on purpose: how
//! anything is computed.

pub mod code;

use kanon_language::lang::diag::Span;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;
use std::sync::Mutex;

/// A constructor or a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ConstantId(pub u32);

/// A datatype.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct DataId(pub u32);

/// A function with what it has captured, and the arguments that it has already.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FunctionId(pub u32);

/// The definitions of a `let`, with what they have captured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FrameId(pub u32);

/// A process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NodeId(pub u32);

#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Value {
    Int(i64),
    Bool(bool),
    Char(char),
    Seq(Arc<[Value]>),
    /// A sequence whose end is not known yet.
    Lazy(Lazy),
    Set(Set),
    Map(Arc<BTreeMap<Value, Value>>),
    Tuple(Arc<[Value]>),
    Constant(ConstantId),
    /// At least two parts. With a constant that has fields in front, the others are fields of it, and all of them may
    /// not be there yet; otherwise it is a list of parts that stand for themselves.
    Dot(Arc<[Value]>),
    Function(FunctionId),
    Builtin(&'static str),
    Process(NodeId),
    Frame(FrameId),
    /// Has no value: whoever looks at it has none either.
    Fault(Arc<Fault>),
}

/// A set. What is not `Finite` may be finite still.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Set {
    Finite(Arc<BTreeSet<Value>>),
    /// `Int`
    Integers,
    /// `{from..}` and some below; `from - 1` is not among these.
    Upwards {
        below: Arc<BTreeSet<i64>>,
        from: i64,
    },
    /// `Char`
    Characters,
    /// `Proc`
    Processes,
    Data(DataId),
    Sequences(Arc<Set>),
    Subsets(Arc<Set>),
    Dots(Arc<[Set]>),
    Tuples(Arc<[Set]>),
    Maps(Arc<Set>, Arc<Set>),
    /// Not all of them are finite.
    Union(Arc<[Set]>),
}

impl Set {
    pub fn of(values: impl IntoIterator<Item = Value>) -> Set {
        Set::Finite(Arc::new(values.into_iter().collect()))
    }

    pub fn empty() -> Set {
        Set::of([])
    }
}

/// Why something has no value.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Fault {
    pub span: Span,
    pub message: String,
    /// The script is not wrong: it asks for more than kanon computes.
    pub is_limit: bool,
}

pub type Res<T> = Result<T, Box<Fault>>;

impl Fault {
    pub fn wrong<T>(span: Span, message: impl Into<String>) -> Res<T> {
        Err(Box::new(Fault { span, message: message.into(), is_limit: false }))
    }

    pub fn limit<T>(span: Span, message: impl Into<String>) -> Res<T> {
        Err(Box::new(Fault { span, message: message.into(), is_limit: true }))
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

/// A part of a sequence that is computed as far as somebody looks.
#[derive(Clone, Debug)]
pub struct Lazy {
    pub stream: Arc<Mutex<Stream>>,
    /// How many elements of the stream are left out in front.
    pub from: usize,
}

/// Elements that have been computed, and how more are.
#[derive(Debug)]
pub struct Stream {
    pub known: Vec<Value>,
    /// None when the stream has ended.
    pub more: Option<Producer>,
}

/// Where elements of a stream come from.
#[derive(Debug)]
pub enum Producer {
    /// `<from..>`
    Upwards(i64),
    /// Some elements and then another sequence.
    Then(Value),
    /// A comprehension: its code, its names, and the sequences that are being run through.
    Comprehension { code: Arc<code::Comprehension>, frame: Vec<Value>, sources: Vec<Option<Value>> },
}

impl Lazy {
    pub fn new(known: Vec<Value>, more: Producer) -> Lazy {
        Lazy { stream: Arc::new(Mutex::new(Stream { known, more: Some(more) })), from: 0 }
    }

    fn key(&self) -> (usize, usize) {
        (Arc::as_ptr(&self.stream) as *const () as usize, self.from)
    }
}

impl PartialEq for Lazy {
    fn eq(&self, other: &Lazy) -> bool {
        self.key() == other.key()
    }
}

impl Eq for Lazy {}

impl Hash for Lazy {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.key().hash(state);
    }
}

impl PartialOrd for Lazy {
    fn partial_cmp(&self, other: &Lazy) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Lazy {
    fn cmp(&self, other: &Lazy) -> std::cmp::Ordering {
        self.key().cmp(&other.key())
    }
}

impl Value {
    pub fn tuple(parts: Vec<Value>) -> Value {
        Value::Tuple(parts.into())
    }

    pub fn seq(parts: Vec<Value>) -> Value {
        Value::Seq(parts.into())
    }

    pub fn string(text: &str) -> Value {
        Value::Seq(text.chars().map(Value::Char).collect())
    }

    /// One value, or the list of several. Parts that are lists themselves become parts of the list.
    pub fn list(parts: &[Value]) -> Value {
        match parts {
            [one] => one.clone(),
            _ => Value::Dot(parts.into()),
        }
    }
}
