//! What `check` has to say, as plain data: how it looks is the business of [`crate::report`].

use crate::explore::Counts;
use crate::explore::Reduction;
use crate::explore::audit::Report;
use crate::lang::diag::{Diagnostic, SourceMap, Span};
use crate::trace::Trace;
use crate::trace::explain::Part;
pub use crate::verdict::Decision;
use num_bigint::BigInt;
use std::path::PathBuf;
use std::sync::Arc;

/// A part of the source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// Where it is.
    pub span: Span,
    /// The text there, on one line.
    pub text: String,
    /// The file, as it was named.
    pub file: String,
    /// Counted from 1.
    pub line: usize,
    /// Counted from 1, in characters.
    pub column: usize,
    /// What a comment before it calls it: `/*@label inv1 */`.
    pub label: Option<String>,
}

/// Conjuncts that some states break, and the operation that led to them first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FalseConjunct {
    /// `invariant` or `assertion`
    pub kind: &'static str,
    /// What is false.
    pub conjunct: Place,
    /// Its name, or `INITIALISATION`.
    pub operation: String,
    /// How many states.
    pub states: u64,
}

impl Place {
    /// The place of a span; none if it is in no file.
    pub fn of(sources: &SourceMap, span: Span) -> Option<Place> {
        let source = sources.get(span.file)?;
        let at = source.line_col(span.lo);
        // One line: conjuncts often run over several.
        let text = sources.text(span).split_whitespace().collect::<Vec<_>>().join(" ");
        let label = source.text.get(..span.lo as usize).and_then(label);
        let file = source.path.display().to_string();
        Some(Place { span, text, file, line: at.line, column: at.col, label })
    }
}

/// The label at the end of the text before a predicate: `/*@label inv1 */`, or `@inv1` in a text of Event-B.
fn label(before: &str) -> Option<String> {
    let before = before.trim_end_matches(|c: char| c.is_whitespace() || c == '(');
    let word = before.rsplit(char::is_whitespace).next().and_then(|word| word.strip_prefix('@'));
    let quoted =
        || before.strip_suffix('"').and_then(|inside| inside.rsplit_once("@\"")).map(|(_, label)| label);
    if let Some(label) = quoted().or(word.map(|w| w.strip_suffix(':').unwrap_or(w))).filter(|l| !l.is_empty())
    {
        return Some(label.to_string());
    }
    let inside = before.strip_suffix("*/")?;
    let name = inside[inside.rfind("/*")? + 2..].trim().strip_prefix("@label")?;
    // `@labelled` is another word.
    let name = name.strip_prefix(char::is_whitespace)?.trim();
    (!name.is_empty()).then(|| name.to_string())
}

/// A finding, ready to be shown.
pub struct Counterexample {
    /// `invariant`, `deadlock`, `assertion`, `goal`, `well-definedness`
    pub kind: &'static str,
    /// What is wrong, in a sentence.
    pub message: String,
    /// The code of a well-definedness error.
    pub code: Option<&'static str>,
    /// The conjunct that is false (or the goal that is true); the expression without a value.
    pub place: Option<Place>,
    /// The operation in which a well-definedness error arose, and its parameters as far as they are known.
    pub operation: Option<String>,
    /// Names and values.
    pub parameters: Vec<(String, String)>,
    /// The parts of the predicate with their values.
    pub why: Vec<Part>,
    /// The run that leads there.
    pub trace: Trace,
}

/// What an audit has to say, with the trace to the state at which a clause was broken, if it could be found again.
pub struct Audited {
    /// What was executed and compared.
    pub report: Report,
    /// The run that leads there.
    pub trace: Option<Result<Trace, String>>,
}

/// What is known of every complete run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Coverage {
    /// A stored state stands for its orbit; what is said here is said of whole orbits.
    pub up_to_symmetry: bool,
    /// Operations without a transition, by name.
    pub never: Vec<Arc<str>>,
    /// In the order of the model.
    pub variables: Vec<Variable>,
    /// Conjuncts of the invariant of whose variables no operation writes one.
    pub unbroken: Vec<Place>,
    /// Parameters that stand only where they get their set of values: operation and parameter.
    pub unused: Vec<(Arc<str>, Arc<str>)>,
    /// What was asked for beyond that.
    pub details: Option<Details>,
}

/// What takes evaluations in every state.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Details {
    /// Of the operations that never fire: those whose guard is fulfilled somewhere, so that it is the body which has no
    /// outcome.
    pub blocked: Vec<Arc<str>>,
    /// Conjuncts of guards that are false nowhere where those before them hold: operation and conjunct.
    pub never_false: Vec<(Arc<str>, Place)>,
    /// Antecedents in the invariant that are true nowhere.
    pub never_true: Vec<Place>,
    /// Parameters whose value never makes a difference: operation and parameter.
    pub idle: Vec<(Arc<str>, Arc<str>)>,
    /// Conjuncts, antecedents and guards of which nothing is said, since they have no value somewhere, or an enumeration was
    /// cut short.
    pub undecided: usize,
    /// How many conjuncts and antecedents were looked at.
    pub looked_at: usize,
}

/// What a variable was seen to be.
#[derive(Clone, Debug, PartialEq)]
pub struct Variable {
    /// Its name.
    pub name: Arc<str>,
    /// The least and the greatest value of an integer.
    pub range: Option<(BigInt, BigInt)>,
    /// Of a small type: how many values it has. Of an integer between bounds that are near each other: how many integers
    /// there are.
    pub values: Option<u64>,
    /// Those of them that are never taken, as B text.
    pub never: Vec<String>,
}

/// The whole answer.
pub struct Checked {
    /// The verdict without its details.
    pub verdict: Decision,
    /// What was found, or why there is no answer.
    pub reason: Option<String>,
    /// The first thing found.
    pub finding: Option<Counterexample>,
    /// States, transitions and what was found.
    pub counts: Counts,
    /// Transitions by operation.
    pub operations: Vec<(Arc<str>, u64)>,
    /// Valuations of the constants; 0 when the model has neither constants nor PROPERTIES.
    pub constants: usize,
    /// What was permuted and how.
    pub reduction: Option<Reduction>,
    /// Every reachable state was expanded.
    pub complete: bool,
    /// Where integers were enumerated from MININT to MAXINT only.
    pub truncated: Option<Place>,
    /// Constants and exploration.
    pub seconds: f64,
    /// The whole run.
    pub total_seconds: f64,
    /// Of the store of states.
    pub bytes: usize,
    /// What an audit has to say, if there was one.
    pub audit: Option<Audited>,
    /// What should be known beside the verdict.
    pub notes: Vec<String>,
    /// Obligations of the file that the answer rests on beside what was explored.
    pub rests_on: Vec<String>,
    /// Where the certificate was written that was asked for, or why it was not.
    pub certificate: Option<Result<PathBuf, String>>,
    /// With `--all`: what is broken, by conjunct and operation.
    pub broken: Vec<FalseConjunct>,
    /// What was never seen, if everything was explored.
    pub coverage: Option<Coverage>,
    /// With [`super::Task::depths`]: how many states were found after so many steps.
    pub depths: Vec<u64>,
    /// What makes a Holds say less than it seems to.
    pub warnings: Vec<Diagnostic>,
}
