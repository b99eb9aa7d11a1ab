//! Why a certificate is not accepted.

use crate::ltl::proof::Wrong;
use std::fmt;

/// Where in the proof: which valuation, which state, and what it is in the model's terms.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    Constants,
    /// INITIALISATION, for a valuation of the constants.
    Initial {
        valuation: u64,
        shown: String,
    },
    State {
        state: u64,
        shown: String,
    },
    /// Of a trace, from 1; INITIALISATION is the first.
    Step {
        step: u64,
    },
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Place::Constants => f.write_str("the constants"),
            Place::Initial { valuation, shown } if shown.is_empty() => {
                write!(f, "INITIALISATION (valuation {valuation})")
            }
            Place::Initial { valuation, shown } => {
                write!(f, "INITIALISATION (valuation {valuation}: {shown})")
            }
            Place::State { state, shown } => write!(f, "state {state} ({shown})"),
            Place::Step { step } => write!(f, "step {step}"),
        }
    }
}

/// The first thing that is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Rejected {
    /// Not even the beginning of one.
    NoCertificate,
    Version(u32),
    Unreadable(String),
    Damaged {
        byte: u64,
        chunk: usize,
        why: &'static str,
    },
    Statement(&'static str),
    Field(&'static str),
    /// The model has errors, or the sizes of the statement do not fit it.
    Model(String),
    /// The statement is about other files.
    OtherFiles(String),
    /// The statement has other sizes than the model has with it.
    OtherScope(String),
    /// A set that is said to be symmetric and is none of the model's.
    NoSet(String),
    /// Something is not written as the format has it.
    Malformed {
        chunk: usize,
        why: &'static str,
    },
    /// There are more or fewer of them than the statement says.
    Counts {
        what: &'static str,
        claimed: u64,
        found: u64,
    },
    /// The model has a valuation that the proof has not.
    MissingValuation {
        shown: String,
    },
    /// The proof has a valuation that the model has not.
    NoValuation {
        valuation: u64,
    },
    /// An initial state, or where an operation leads from a state in the invariant, is not in the invariant.
    NotInductive {
        at: Place,
        operation: Option<String>,
        target: String,
    },
    /// Nothing begins.
    NoInitialState,
    /// An initial state that is neither stored nor renamed to one that is.
    MissingInitial {
        at: Place,
        state: String,
    },
    /// A successor that is neither stored nor renamed to one that is.
    MissingSuccessor {
        at: Place,
        operation: String,
        parameters: Vec<String>,
        target: String,
    },
    /// There is a witness, and what it leads to is not stored.
    WitnessLeadsNowhere {
        at: Place,
        target: String,
    },
    /// A witness is no permutation, or moves an element that is named.
    NoSymmetry {
        at: Place,
        why: String,
    },
    /// Witnesses that nothing asks for.
    TooManyWitnesses {
        at: Place,
    },
    /// A state is stored twice.
    Twice {
        state: u64,
    },
    Deadlock {
        at: Place,
    },
    /// A conjunct of the invariant, an assertion: by its text.
    False {
        at: Place,
        what: &'static str,
        predicate: String,
    },
    /// The goal is fulfilled.
    Reached {
        at: Place,
    },
    /// A step of a trace that is not one of the model; 0 is what comes before the first.
    Trace {
        step: usize,
        why: String,
    },
    /// A trace of the model, at whose end everything is as it should be.
    NothingWrong,
    /// A node of the proof of a formula.
    Node {
        at: Place,
        why: Wrong,
        /// The step that it is about, if it is about one: the operation and where it leads.
        step: Option<String>,
    },
    /// A path of the model, which fulfils the formula or does not fulfil its premise.
    Fulfils,
    /// Something has no value.
    Undefined {
        at: Place,
        what: String,
    },
    /// The evaluator gives up, or would have to leave something out. Then nobody knows.
    Undecided {
        at: Place,
        why: String,
    },
}

impl Rejected {
    /// Whether nothing is known to be wrong: the checker cannot follow.
    pub fn is_undecided(&self) -> bool {
        matches!(self, Rejected::Undecided { .. } | Rejected::Node { why: Wrong::TooMany, .. })
    }
}

impl fmt::Display for Rejected {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Rejected::NoCertificate => f.write_str("this is no certificate of kanon"),
            Rejected::Version(n) => write!(f, "a certificate of version {n}, which is not known here"),
            Rejected::Unreadable(why) => write!(f, "the certificate cannot be read: {why}"),
            Rejected::Damaged { byte, chunk, why } => {
                write!(f, "the certificate is damaged at byte {byte}, after {chunk} chunks: {why}")
            }
            Rejected::Statement(why) => write!(f, "the statement: {why}"),
            Rejected::Field(name) => write!(f, "the statement: `{name}` is missing or wrong"),
            Rejected::Model(why) => write!(f, "the model: {why}"),
            Rejected::OtherFiles(why) => write!(f, "the statement is about other files: {why}"),
            Rejected::OtherScope(why) => write!(f, "the statement is about other sizes: {why}"),
            Rejected::NoSet(name) => write!(f, "the statement: the model has no set `{name}`"),
            Rejected::Malformed { chunk, why } => write!(f, "chunk {chunk}: {why}"),
            Rejected::Counts { what, claimed, found } => {
                write!(f, "the statement claims {claimed} {what}, the proof has {found}")
            }
            Rejected::MissingValuation { shown } => {
                write!(f, "a valuation of the constants is missing: {shown}")
            }
            Rejected::NoValuation { valuation } => {
                write!(f, "valuation {valuation} does not fulfil PROPERTIES, or stands there twice")
            }
            Rejected::NotInductive { at, operation: Some(op), target } => {
                write!(f, "{at}: {op} leads out of the invariant, to {target}")
            }
            Rejected::NotInductive { at, operation: None, target } => {
                write!(f, "{at}: an initial state is not in the invariant: {target}")
            }
            Rejected::NoInitialState => f.write_str("there is no initial state"),
            Rejected::MissingInitial { at, state } => write!(f, "{at}: an initial state is missing: {state}"),
            Rejected::MissingSuccessor { at, operation, parameters, target } => {
                let parameters = parameters.join(", ");
                write!(f, "{at}: {operation}({parameters}) leads to a state that is missing: {target}")
            }
            Rejected::WitnessLeadsNowhere { at, target } => {
                write!(f, "{at}: the witness takes a state to one that is not there: {target}")
            }
            Rejected::NoSymmetry { at, why } => write!(f, "{at}: a witness is no symmetry: {why}"),
            Rejected::TooManyWitnesses { at } => write!(f, "{at}: there are witnesses that nothing needs"),
            Rejected::Twice { state } => write!(f, "state {state} is stored twice"),
            Rejected::Deadlock { at } => write!(f, "{at}: no operation is enabled"),
            Rejected::False { at, what, predicate } => write!(f, "{at}: {what} is false: {predicate}"),
            Rejected::Reached { at } => write!(f, "{at}: the goal is reached"),
            Rejected::Trace { step: 0, why } => write!(f, "the trace: {why}"),
            Rejected::Trace { step, why } => write!(f, "step {step} of the trace: {why}"),
            Rejected::NothingWrong => {
                f.write_str("the model runs like this, and nothing is wrong at the end")
            }
            Rejected::Node { at, why, step: None } => write!(f, "{at}: {why}"),
            Rejected::Node { at, why, step: Some(step) } => write!(f, "{at}, {step}: {why}"),
            Rejected::Fulfils => {
                f.write_str("the model runs like this, and the formula is not refuted by it")
            }
            Rejected::Undefined { at, what } => write!(f, "{at}: {what}"),
            Rejected::Undecided { at, why } => write!(f, "{at}: not decided: {why}"),
        }
    }
}

impl std::error::Error for Rejected {}
