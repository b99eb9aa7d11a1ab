//! All engines beside explicit search: the first answer that is one counts, and the others are stopped.

use super::super::answer::{Checked, Decision};
use super::super::check::{self, Task as CheckTask};
use super::super::deadline::Deadline;
use super::super::project::Project;
use super::{Answered, Engine, Task, answer};
use crate::explore::plan::Refusal;
use crate::lang::diag::Diagnostic;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

/// Who decided.
pub enum Decided {
    /// Explicit search.
    Explicit(Box<Checked>),
    /// An engine that works with formulas.
    Formulas(Box<Answered>),
    /// Nobody did: what each of them says.
    Nobody {
        /// Who, and why not.
        reasons: Vec<(&'static str, String)>,
        /// How long it took.
        seconds: f64,
    },
}

/// What a competitor came back with.
enum Back {
    Explicit(Result<Box<Checked>, Vec<Diagnostic>>),
    Formulas(Result<Box<Answered>, Refusal>),
}

/// Those that take part beside explicit search.
const ENGINES: [Engine; 3] = [Engine::Ic3, Engine::KInduction, Engine::Bmc];

/// Asks all of them at once.
///
/// # Errors
/// What is wrong with the model; or options that do not go together.
pub fn portfolio(
    project: &Project,
    task: &Task,
    deadline: &Deadline,
) -> Result<Result<Decided, Vec<Diagnostic>>, Refusal> {
    let begin = Instant::now();
    super::plan(&task.options, project.constants, project.max_constants)?;
    // Each has a flag of its own, so that those who are late can be stopped without stopping everything.
    let flags: Vec<Deadline> = (0..=ENGINES.len()).map(|_| Deadline::never()).collect();
    let (to, from) = channel();
    std::thread::scope(|scope| {
        // Formulas and evaluation nest deeply.
        let builder = |name: &str| crate::lang::stack::thread().name(name.into());
        let mut running = 0;
        let (explicit, flag) = (to.clone(), &flags[0]);
        let options = crate::explore::Options { threads: Some(1), ..task.options.clone() };
        let explore = CheckTask { options, ..CheckTask::default() };
        let started = builder("explicit").spawn_scoped(scope, move || {
            let asked = explore.solve(project, flag);
            let checked = asked.and_then(|solved| check::check(&solved, &explore, flag, &mut |_| {}));
            // Whoever listened has an answer already, if nobody does.
            let _ = explicit.send(Back::Explicit(checked.map(Box::new)));
        });
        running += usize::from(started.is_ok());
        for (engine, flag) in ENGINES.into_iter().zip(&flags[1..]) {
            let (to, task) = (to.clone(), Task { engine, ..task.clone() });
            let started = builder(engine.name()).spawn_scoped(scope, move || {
                let found = answer(project, &task, flag, &|_| {});
                let _ = to.send(Back::Formulas(found.map(Box::new)));
            });
            running += usize::from(started.is_ok());
        }
        let mut reasons = vec![];
        let mut refused = None;
        let mut decided = None;
        while running > 0 {
            if deadline.is_set() {
                break;
            }
            let back = match from.recv_timeout(Duration::from_millis(20)) {
                Ok(back) => back,
                Err(RecvTimeoutError::Timeout) => continue,
                Err(RecvTimeoutError::Disconnected) => break,
            };
            running -= 1;
            match back {
                Back::Explicit(Ok(c)) if c.verdict != Decision::Unknown => {
                    decided = Some(Ok(Ok(Decided::Explicit(c))));
                    break;
                }
                Back::Explicit(Ok(c)) => reasons.push(("explicit", c.reason.unwrap_or_default())),
                // The model is wrong: nobody else will find it right.
                Back::Explicit(Err(diagnostics)) => {
                    decided = Some(Ok(Err(diagnostics)));
                    break;
                }
                Back::Formulas(Ok(a)) if a.verdict != Decision::Unknown => {
                    decided = Some(Ok(Ok(Decided::Formulas(a))));
                    break;
                }
                // The model is wrong, as explicit search would find if it came to an end.
                Back::Formulas(Ok(mut a)) if a.refuted.is_some() => {
                    decided = Some(Ok(Err(a.refuted.take().into_iter().collect())));
                    break;
                }
                Back::Formulas(Ok(a)) => reasons.push((a.engine.name(), a.reason.unwrap_or_default())),
                Back::Formulas(Err(why)) => refused = Some(why),
            }
        }
        for flag in &flags {
            flag.flag.store(true, Ordering::Relaxed);
        }
        match (decided, refused) {
            (Some(decided), _) => decided,
            (None, Some(why)) => Err(why),
            (None, None) => {
                if let Some(why) = deadline.why() {
                    reasons.push(("portfolio", super::why::text(&why, &project.opened)));
                }
                Ok(Ok(Decided::Nobody { reasons, seconds: begin.elapsed().as_secs_f64() }))
            }
        }
    })
}
