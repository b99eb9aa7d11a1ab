//! A check by several processes ([`crate::distribute`]): what they compare before they begin, and one process's part.

use super::deadline::Deadline;
use super::notes;
use super::project::{Project, Solved};
use crate::checkpoint::Wish;
use crate::checkpoint::shares::Shares;
use crate::checkpoint::states::valuations;
use crate::distribute::link::Net;
use crate::distribute::portable;
use crate::distribute::{self, Found, Keeping, Said, Traffic, Written};
use crate::explore::Options;
use crate::explore::others::Process;
use crate::explore::search::Explored;
use crate::lang::diag::Diagnostic;
use crate::symmetry::Action;
use crate::trace::fault::plain_error;
use crate::verdict::{Decision, Verdict};
use kanon_checker::check::{files, sizes};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex, PoisonError};

/// The connections to the other processes of a check, which can be used once.
#[derive(Clone)]
pub struct Joined {
    me: Process,
    processes: usize,
    net: Arc<Mutex<Option<Net>>>,
}

impl std::fmt::Debug for Joined {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        write!(f, "process {} of {}", self.me, self.processes)
    }
}

impl Joined {
    /// Of connections to all others.
    pub fn of(net: Net) -> Joined {
        let (me, processes) = (net.me(), net.processes());
        Joined { me, processes, net: Arc::new(Mutex::new(Some(net))) }
    }

    /// Whether the answer of all is had here.
    pub fn is_first(&self) -> bool {
        self.me == 0
    }

    /// Which process this is.
    pub fn process(&self) -> Process {
        self.me
    }
}

/// What processes have to have in common to search together: the program, what is asked, and the model's texts.
pub fn about(project: &Project, task: &super::Task) -> Value {
    let opened = &project.opened;
    let sets = sizes(&opened.model, &opened.scope).into_iter().map(|(name, n)| (name, Value::from(n)));
    // Memory is each machine's own business.
    let options = Options { max_memory: None, ..task.options.clone() };
    let mut about = json!({
        "the program": option_env!("KANON_BUILT_FROM").unwrap_or(env!("CARGO_PKG_VERSION")),
        "the options": format!(
            "{options:?} {} {:?} {:?} {:?}",
            task.proof_info, project.max_constants, project.constants, opened.reading
        ),
        "the goal": project.goal,
        "the checkpoint": task.checkpoint.as_ref().and_then(|w| w.again.as_ref()).map(|again| again.id()),
        "the sizes of sets": sets.collect::<serde_json::Map<_, _>>(),
        "the bounds of integers": [opened.scope.minint.to_string(), opened.scope.maxint.to_string()],
    });
    if let Some(about) = about.as_object_mut() {
        for file in files(&opened.sources) {
            let mut what = format!("the text of {}", file.name);
            while about.contains_key(&what) {
                what += " (another)";
            }
            about.insert(what, Value::String(file.blake3));
        }
    }
    about
}

/// What one process has at the end.
pub(super) struct Ended {
    pub explored: Explored,
    pub decision: Decision,
    pub notes: Vec<String>,
}

/// Explores together with the others.
///
/// # Errors
/// Options that do not go together, and constants that differ.
pub(super) fn explore(
    solved: &Solved,
    action: Option<&Arc<dyn Action>>,
    joined: &Joined,
    wish: Option<&Wish>,
    options: &Options,
    deadline: &Deadline,
) -> Result<Ended, Vec<Diagnostic>> {
    let wrong = |why: String| vec![plain_error(why)];
    let net = joined.net.lock().unwrap_or_else(PoisonError::into_inner).take();
    let mut net = net.ok_or_else(|| wrong("these processes have searched already".into()))?;
    // Rows have numbers of valuations, so these have to be the same.
    let machine = &*solved.machine;
    let constants = match valuations(machine).filter(|_| !solved.setup.is_open) {
        Some(bytes) => blake3::hash(&bytes).to_hex().to_string(),
        None => {
            let why = "the constants of this model have values that cannot be compared between processes: \
                       leave out `--processes`";
            net.give_up(why);
            return Err(wrong(why.into()));
        }
    };
    if let Err(why) = net.agree("the valuations of the constants", &constants) {
        net.give_up(&why);
        return Err(wrong(why));
    }
    let mut keeping = Keeping::default();
    let mut said = vec![];
    if let Some(wish) = wish {
        keeping = kept(solved, wish, &net, &mut said).inspect_err(|why| net.give_up(why)).map_err(wrong)?;
    }
    let task = distribute::Task {
        options,
        codec: &|layout| Some(portable::of_machine(machine, layout)),
        stop: &deadline.flag,
        log: None,
    };
    let found = distribute::explore(machine, action, task, &mut net, keeping, &mut |_, _| {});
    let Found { explored, all, written } = found.map_err(|why| wrong(why.to_string()))?;
    let decision = all.as_ref().map_or(Decision::Unknown, |said| said.decision);
    if !joined.is_first() {
        return Ok(Ended { explored, decision, notes: vec![] });
    }
    said.extend(all.as_ref().map(shares));
    if let Some(wish) = wish {
        let Written { checkpoints, states, failed } = written;
        let has_any = checkpoints > 0 || wish.again.is_some();
        said.extend((options.timed && checkpoints > 0).then(|| notes::written_by_all(checkpoints, states)));
        said.extend(failed.map(|why| notes::not_written(&why, has_any)));
        let is_unfinished = matches!(explored.verdict, Verdict::Unknown(_));
        said.extend((is_unfinished && has_any).then(|| notes::how_to_resume(wish.folder.path())));
    }
    Ok(Ended { explored, decision, notes: said })
}

/// What the search writes down, and what it goes on with.
fn kept(solved: &Solved, wish: &Wish, net: &Net, said: &mut Vec<String>) -> Result<Keeping, String> {
    let (machine, sources) = (&solved.machine, &solved.project.opened.sources);
    if wish.audit {
        return Err(
            "the checkpoint is audited by one process, which looks at all of it: add `--processes 1`".into(),
        );
    }
    // The same folder, and not only one with the same name.
    wish.folder.find_run()?;
    net.agree("the folder of checkpoints", &wish.folder.run())?;
    let mut again = None;
    if let Some(resumed) = &wish.again {
        resumed.same_model(machine, sources)?;
        let mut codec = None;
        let share = resumed.read_share(machine, (net.me(), net.processes()), &mut |layout, key| {
            let codec = codec.get_or_insert_with(|| portable::of_machine(machine, layout.clone()));
            codec.hash(key).map(|hash| portable::owner(hash, net.processes()))
        })?;
        said.push(notes::taken_up_by_all(resumed.states, resumed.processes(), net.processes()));
        said.extend(resumed.damaged.iter().cloned());
        said.extend(resumed.has_asked_solver().then(|| notes::CHOSEN_BY_SOLVER.to_string()));
        again = Some(share);
    }
    let me = (net.me(), net.processes());
    let shares = Shares::begin(wish, machine, &solved.setup, sources, me)
        .map_err(|e| format!("cannot write checkpoints: {e}"))?;
    Ok(Keeping { shares: Some(shares), again })
}

/// How the work was shared.
fn shares(said: &Said) -> String {
    let Traffic { states, handed_on, bytes, frames } = &said.traffic;
    let all: u64 = states.iter().sum();
    let (least, most) =
        (states.iter().min().copied().unwrap_or(0), states.iter().max().copied().unwrap_or(0));
    format!(
        "{} processes searched together, with {least} to {most} of the {all} states each; they sent each other {handed_on} \
         states, in {bytes} bytes and {frames} messages",
        states.len()
    )
}
