//! CSP-M: a script that is read and typed, and then asked ([docs/csp.md](../../docs/csp.md)).

use crate::lang::diag::{Diagnostic, SourceMap, Span};
use crate::lang::stack::with_large_stack;
use crate::model::open::Refused;
use kanon_csp::compile::compile;
use kanon_csp::eval::Machine;
use kanon_csp::tree::Decl;
use kanon_csp::value::{Fault, Value};
use std::path::Path;

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

/// Reads, types and compiles a script, with an expression as its last definition.
fn machine(
    sources: &mut SourceMap,
    path: &Path,
    expression: Option<&str>,
) -> Result<Machine, Vec<Diagnostic>> {
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
    if let Some(text) = expression {
        let file = sources.add("the expression", format!("{ASKED} = {text}"));
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
    compile(&decls).map(Machine::new).map_err(|d| vec![*d])
}

/// What the expression is called; no script can have such a name by accident.
const ASKED: &str = "kanon_asked'";

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
