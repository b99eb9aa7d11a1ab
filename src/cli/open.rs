//! From a model to a system with its constants, and faults as messages.

use super::blame;
use super::stop::Stop;
use crate::lang::diag::Diagnostic;
pub use crate::model::open::{Opened, Refused, open};
use crate::system::{Setup, System};
pub use crate::trace::fault::{LIMIT, fault_diagnostic, fault_message, plain_error};

/// Valuations of the constants that are looked for at most.
pub const MAX_VALUATIONS: usize = 2_000_000;

/// The system with its constants. A system without a valuation is an error, unless it is open whether there is one.
pub fn start<'o>(opened: &'o Opened, stop: &Stop) -> Result<(System<'o>, Setup), Vec<Diagnostic>> {
    let mut system = System::new(&opened.model, &opened.scope);
    let setup = system.setup(MAX_VALUATIONS, &stop.flag);
    if setup.valuations == 0 && setup.fault.is_none() && !stop.is_set() {
        return Err(vec![blame::properties(opened, setup.truncated)]);
    }
    Ok((system, setup))
}
