//! Faults as messages to the user.

use crate::lang::diag::Diagnostic;
use crate::value::fault::{Fault, NOWHERE};

/// The code of what has a value that we cannot compute.
pub const LIMIT: &str = "B0420";

/// A fault as a message.
pub fn fault_message(fault: &Fault) -> (&'static str, String) {
    match fault {
        Fault::Wd(wd) => {
            let (code, message) = wd.kind.describe();
            let values = wd.values.as_ref().map_or(String::new(), |v| format!(": {v}"));
            (code, message.to_string() + &values)
        }
        Fault::Limit(_, why) => (LIMIT, format!("cannot be computed: {why}")),
    }
}

pub fn fault_diagnostic(fault: &Fault) -> Diagnostic {
    let (code, message) = fault_message(fault);
    Diagnostic::error(code, fault.span(), message)
}

/// A message about no place in particular.
pub fn plain_error(message: impl Into<String>) -> Diagnostic {
    Diagnostic::error("B0400", NOWHERE, message)
}
