//! Why there is no answer, in words.

use crate::lang::diag::Span;
use crate::model::open::Opened;
use crate::trace::fault::fault_message;
use crate::verdict::Why;

/// What ended a run from outside.
pub fn stopped(why: &Why) -> Option<String> {
    match why {
        Why::Interrupted => Some("interrupted".into()),
        Why::Timeout(limit) => Some(format!("timeout after {} s", limit.as_secs_f64())),
        Why::MaxMemory(n) => Some(format!("the limit of {n} bytes of memory is reached")),
        _ => None,
    }
}

/// The reason, with places in the model.
pub fn text(why: &Why, opened: &Opened) -> String {
    let at = |span: Span| match opened.sources.get(span.file) {
        Some(_) => format!(" at {}", opened.sources.place(span)),
        None => String::new(),
    };
    match why {
        Why::Interrupted | Why::Timeout(_) | Why::MaxMemory(_) => stopped(why).unwrap_or_default(),
        Why::MaxStates(n) => format!("the limit of {n} states is reached"),
        Why::Disk(why) => why.clone(),
        Why::Truncated(span) => format!(
            "an integer without bounds was enumerated only from MININT = {} to MAXINT = {}{}",
            opened.scope.minint,
            opened.scope.maxint,
            at(*span)
        ),
        Why::Approximate => {
            "no counterexample found, but markers are approximate: states that differ may have \
                             been taken for one (`--symmetry auto` is exact)"
                .into()
        }
        Why::Limit(fault) | Why::NoValue(fault) => format!("{}{}", fault_message(fault).1, at(fault.span())),
        Why::Formulas(why) => why.clone(),
        Why::Starts => "some valuation of the constants or initial state may be missing".into(),
        Why::NoInitialState => "there is no initial state, so there is nothing that could hold".into(),
        Why::LeftOut(n) => {
            let why = opened.model.not_covered(true);
            why.unwrap_or_else(|| format!("{n} parts of what is to be checked were left out"))
        }
        Why::Unaudited(what) => format!("nothing was found, but {what}, so that this is not audited"),
        Why::Audit(broken) => broken.to_string(),
        Why::Processes(why) => format!("the processes could not search together to the end: {why}"),
        Why::Internal(what) => format!("internal error, please report it: {what}"),
    }
}
