//! CSP-M: a script that is read and typed, and then asked ([docs/csp.md](../../docs/csp.md)).

use super::why;
use crate::lang::diag::{Diagnostic, SourceMap, Span};
use crate::lang::stack::with_large_stack;
use crate::model::open::Refused;
use crate::verdict::Why;
use kanon_csp::compile::compile;
use kanon_csp::eval::Machine;
use kanon_csp::process::{Label, Processes};
use kanon_csp::refine::{self, Counterexample, Limits, Outcome, Violation, show_label};
use kanon_csp::tree::Decl;
use kanon_csp::value::{Fault, Value};
use std::path::Path;
use std::sync::atomic::AtomicBool;

/// Whether a path is that of a CSP-M script.
pub fn is_script(path: &Path) -> bool {
    let ending = path.extension().and_then(|e| e.to_str()).unwrap_or_default().to_lowercase();
    kanon_csp::EXTENSIONS.contains(&&*ending)
}

/// What definitions or expressions are worth.
#[derive(Debug)]
pub struct Evaluated {
    /// All files that were read.
    pub sources: SourceMap,
    /// Of each definition.
    pub values: Values,
}

/// Names and values, or why there is none.
pub type Values = Vec<(String, Result<Worth, Diagnostic>)>;

/// A value, for people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Worth {
    /// As one would write it.
    pub text: String,
    /// It is `false`.
    pub is_false: bool,
}

/// The code of a value that was not computed although there may be one.
pub const LIMIT: &str = "C0401";

/// Evaluates all definitions at the top of a script, or an expression over them.
///
/// # Errors
/// What is wrong with the script or the expression.
pub fn eval(path: &Path, expression: Option<&str>) -> Result<Evaluated, Refused> {
    let mut sources = SourceMap::default();
    let values = with_large_stack(|| values(&mut sources, path, expression)).unwrap_or_else(|e| {
        let d = Diagnostic::error("C0402", Span::default(), format!("no thread to evaluate with: {e}"));
        Err(vec![d])
    });
    match values {
        Ok(values) => Ok(Evaluated { sources, values }),
        Err(diagnostics) => Err(Refused { sources, diagnostics }),
    }
}

/// A definition that is added to a script: its name, its text, and where people have it from.
pub(super) struct Extra {
    pub name: String,
    pub text: String,
    pub from: &'static str,
}

/// A script that is ready to be evaluated, and the types of its definitions.
pub(super) struct Ready {
    pub machine: Machine,
    pub types: Vec<(String, String)>,
}

/// Reads, types and compiles a script, with more definitions at its end.
pub(super) fn ready(
    sources: &mut SourceMap,
    path: &Path,
    extras: &[Extra],
) -> Result<Ready, Vec<Diagnostic>> {
    let file = match sources.read(path) {
        Ok(file) => file,
        Err(message) => {
            let file = sources.add(path, "");
            return Err(vec![Diagnostic::error("C0403", Span::new(file, 0, 0), message)]);
        }
    };
    let script = kanon_csp::parse::parse(sources, file);
    if script.has_errors() {
        return Err(script.diagnostics);
    }
    let mut decls: Vec<Decl> = script.decls;
    for extra in extras {
        let file = sources.add(extra.from, format!("{} = {}", extra.name, extra.text));
        let more = kanon_csp::parse::parse(sources, file);
        if more.has_errors() {
            return Err(more.diagnostics);
        }
        if more.decls.len() != 1 {
            return Err(vec![Diagnostic::error("C0404", Span::new(file, 0, 0), "this is no expression")]);
        }
        decls.extend(more.decls);
    }
    let types = kanon_csp::check::check(&decls);
    if types.diagnostics.iter().any(Diagnostic::is_error) {
        return Err(types.diagnostics);
    }
    let machine = compile(&decls).map(Machine::new).map_err(|d| vec![*d])?;
    let types = types.definitions.into_iter().map(|(name, ty)| (name.text.to_string(), ty)).collect();
    Ok(Ready { machine, types })
}

/// The same, with an expression as the last definition.
fn machine(
    sources: &mut SourceMap,
    path: &Path,
    expression: Option<&str>,
) -> Result<Machine, Vec<Diagnostic>> {
    let asked = |text: &str| Extra { name: ASKED.into(), text: text.into(), from: "the expression" };
    let extras: Vec<Extra> = expression.map(asked).into_iter().collect();
    ready(sources, path, &extras).map(|ready| ready.machine)
}

/// What the expression is called; no script can have such a name by accident.
pub(super) const ASKED: &str = "kanon_asked'";

fn values(sources: &mut SourceMap, path: &Path, expression: Option<&str>) -> Result<Values, Vec<Diagnostic>> {
    let mut machine = machine(sources, path, expression)?;
    let names = machine.program().names.clone();
    let wanted = |name: &str| expression.is_none() || name == ASKED;
    let mut values = vec![];
    for (name, member) in names.into_iter().filter(|(n, _)| wanted(&n.text)) {
        let found = machine.global(member);
        let shown = found.map(|v| Worth { text: machine.show(&v), is_false: v == Value::Bool(false) });
        values.push((name.text.to_string(), shown.map_err(|fault| diagnostic(&fault))));
    }
    Ok(values)
}

/// A fault as an error at its place.
fn diagnostic(fault: &Fault) -> Diagnostic {
    if fault.is_limit {
        Diagnostic::error(LIMIT, fault.span, fault.message.clone())
    } else {
        Diagnostic::error("C0400", fault.span, fault.message.clone())
    }
}

/// What a script asserts, and whether it is so.
#[derive(Debug)]
pub struct Asserted {
    /// All files that were read.
    pub sources: SourceMap,
    /// In the order of the text.
    pub claims: Vec<Claim>,
}

impl Asserted {
    /// The flag was set, and why: whatever was only stopped gets the reason.
    pub fn stopped_by(&mut self, why: &Why) {
        let Some(text) = why::stopped(why) else { return };
        for claim in &mut self.claims {
            match &mut claim.answer {
                Answer::Unknown(d) if d.message == refine::STOPPED => d.message.clone_from(&text),
                _ => {}
            }
        }
    }
}

/// One assertion.
#[derive(Clone, Debug)]
pub struct Claim {
    /// As it is written, on one line.
    pub text: String,
    /// Where.
    pub span: Span,
    /// Whether it is so.
    pub answer: Answer,
}

/// The answer to one assertion.
#[derive(Clone, Debug)]
pub enum Answer {
    /// It is so. What is claimed not to be has a counterexample.
    Holds {
        /// How many states were looked at, where all were.
        states: Option<usize>,
        /// Why what is negated is not so.
        because: Option<Violated>,
    },
    /// It is not so; what is negated and true has no counterexample.
    Fails(Option<Violated>),
    /// Not known, and why.
    Unknown(Box<Diagnostic>),
}

/// A counterexample, for people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violated {
    /// `trace`, `refusal`, `divergence`, `deadlock`, `nondeterminism`
    pub kind: &'static str,
    /// The events that were seen.
    pub trace: Vec<String>,
    /// What is wrong after them.
    pub what: String,
}

/// How many states are looked at, unless somebody says otherwise.
pub const STATES: usize = 2_000_000;

/// How many states a component may have by itself to be made smaller before a composition is explored.
const COMPONENT: usize = 10_000;

/// Checks all assertions of a script.
///
/// # Errors
/// What is wrong with the script.
pub fn check(path: &Path, states: usize, stop: &AtomicBool) -> Result<Asserted, Refused> {
    let mut sources = SourceMap::default();
    let claims = with_large_stack(|| claims(&mut sources, path, states, stop)).unwrap_or_else(|e| {
        let d = Diagnostic::error("C0405", Span::default(), format!("no thread to check with: {e}"));
        Err(vec![d])
    });
    match claims {
        Ok(claims) => Ok(Asserted { sources, claims }),
        Err(diagnostics) => Err(Refused { sources, diagnostics }),
    }
}

fn claims(
    sources: &mut SourceMap,
    path: &Path,
    states: usize,
    stop: &AtomicBool,
) -> Result<Vec<Claim>, Vec<Diagnostic>> {
    let mut processes = Processes::new(machine(sources, path, None)?);
    let assertions = processes.machine().program().assertions.clone();
    let limits = Limits { states, stop, compress: COMPONENT.min(states) };
    let mut claims = vec![];
    for assertion in &assertions {
        let span = assertion.span;
        let text = sources.text(span).split_whitespace().collect::<Vec<_>>().join(" ");
        let answer = match (refine::check(&mut processes, assertion, &limits), assertion.negated) {
            (Outcome::True { states }, false) => Answer::Holds { states: Some(states), because: None },
            (Outcome::True { .. }, true) => Answer::Fails(None),
            (Outcome::False(c), false) => Answer::Fails(Some(found(&processes, &c))),
            (Outcome::False(c), true) => Answer::Holds { states: None, because: Some(found(&processes, &c)) },
            (Outcome::Unknown(fault), _) => Answer::Unknown(Box::new(diagnostic(&fault))),
        };
        claims.push(Claim { text, span, answer });
    }
    Ok(claims)
}

fn found(processes: &Processes, c: &Counterexample) -> Violated {
    let list = |labels: &[Label]| {
        let each: Vec<String> = labels.iter().map(|l| show_label(processes, *l)).collect();
        if each.is_empty() { "nothing".to_string() } else { format!("{{{}}}", each.join(", ")) }
    };
    let (kind, what) = match &c.violation {
        Violation::Event => ("trace", "the specification has no such trace".to_string()),
        Violation::Refusal { offered, wanted } => {
            let wanted: Vec<String> = wanted.iter().map(|o| list(o)).collect();
            let wanted = if wanted.is_empty() {
                "the specification never comes to rest here".to_string()
            } else {
                format!("the specification always offers at least {}", wanted.join(" or "))
            };
            ("refusal", format!("the implementation may offer {} only; {wanted}", list(offered)))
        }
        Violation::Divergence => ("divergence", "it may go on in silence for ever".to_string()),
        Violation::Deadlock => ("deadlock", "nothing can happen".to_string()),
        Violation::Nondeterminism { label, offered } => {
            let label = show_label(processes, *label);
            ("nondeterminism", format!("{label} can happen, or be refused: then it offers {}", list(offered)))
        }
        Violation::NoTrace => ("trace", "the trace cannot go on here".to_string()),
    };
    Violated { kind, trace: c.trace.iter().map(|l| show_label(processes, *l)).collect(), what }
}
