//! A tab with a model that is not a machine of B: a process of CSP-M, a net, a machine that a process guides.
//!
//! Programs in XTL are not opened: they run only where the user has said so on a command line that names them.

use crate::animate::{Animated, Graph, other};
use crate::explore::{Options, Progress};
use crate::lang::diag::{FileId, SourceMap};
use crate::lang::files::Files;
use crate::model::open::Refused;
use crate::report;
use crate::run::Deadline;
use crate::run::other::{About, Asked, Language, Question, States, Step, compare, open_from};
use crate::symmetry::Strategy;
use crate::trace::Trace;
use serde_json::{Value as Json, json};
use std::path::PathBuf;
use std::sync::Arc;

/// What is opened, so that it can be opened again: by a check, and after an edit.
#[derive(Clone)]
pub struct Origin {
    pub files: Arc<dyn Files>,
    pub file: PathBuf,
    pub language: Language,
    /// The process, and the script that guides a machine.
    pub asked: Asked,
}

/// A model that is stepped through.
pub struct Other {
    pub walk: Box<dyn Animated>,
    pub about: About,
    pub sources: SourceMap,
    origin: Origin,
}

impl Other {
    pub fn open(origin: Origin, deadline: &Deadline) -> Result<Other, Refused> {
        let Origin { files, file, language, asked } = &origin;
        let (model, sources) = open_from(files.clone(), file, *language, asked, deadline)?;
        let about = model.about().clone();
        let walk = other::walk(model.into_system(), &about.name);
        Ok(Other { walk, about, sources, origin })
    }

    /// The same model, read again, where it was as far as that is possible; what is told is why it is not.
    pub fn reopened(&mut self, deadline: &Deadline) -> Result<(Other, Option<String>), Refused> {
        let mut again = Other::open(self.origin.clone(), deadline)?;
        let way = self.walk.save(std::path::Path::new("way.json"));
        let failure = match again.walk.load(&way, &deadline.flag) {
            Ok(loaded) => loaded.failure,
            Err(why) => Some(why),
        };
        Ok((again, failure))
    }

    /// Whether a file is another one now.
    pub fn is_stale(&self) -> bool {
        let all = (0..self.sources.next().0).filter_map(|i| self.sources.get(FileId(i)));
        let mut all = all.filter(|s| s.path.is_absolute());
        all.any(|s| self.sources.files().read(&s.path).is_ok_and(|bytes| bytes != s.text.as_bytes()))
    }

    /// The states that are drawn, and where the walk is among them.
    pub fn graph(&self, most: usize, deadline: &Deadline) -> Result<Graph, String> {
        let mut graph = other::graph(self.states(most, deadline)?);
        let here: Vec<String> =
            self.walk.state().iter().map(|v| format!("{} = {}", v.name, v.value)).collect();
        let here = here.join("\n");
        if self.walk.history().at.is_some() {
            graph.nodes.iter_mut().filter(|n| n.text == here).for_each(|n| n.here = true);
        }
        Ok(graph)
    }

    fn states(&self, most: usize, deadline: &Deadline) -> Result<States, String> {
        let Origin { files, file, language, asked } = &self.origin;
        let opened = open_from(files.clone(), file, *language, asked, deadline);
        let (model, _) = opened.map_err(|r| report::animated::words(&r.diagnostics))?;
        model.states(most, deadline)
    }

    /// Goes a shortest way to a state that was drawn.
    pub fn go_to_node(&mut self, most: usize, node: usize, deadline: &Deadline) -> Result<(), String> {
        let states = self.states(most, deadline)?;
        let gone = || "there is no such state any more".to_string();
        // They are drawn breadth first: the first edge that reaches a state comes from the nearest one before it.
        let mut from: Vec<Option<&(usize, usize, Vec<String>)>> = vec![None; states.nodes.len()];
        for edge in &states.edges {
            let is_new = from.get(edge.1).is_some_and(|f| f.is_none());
            if is_new && !states.nodes[edge.1].initial {
                from[edge.1] = Some(edge);
            }
        }
        let (mut steps, mut at) = (vec![], node);
        loop {
            let state = &states.nodes.get(at).ok_or_else(gone)?.state;
            let by = from[at].map(|(_, _, labels)| labels.first().cloned().unwrap_or_default());
            let next = from[at].map(|edge| edge.0);
            steps.push(Step { by, state: state.clone() });
            match next {
                Some(next) if steps.len() <= states.nodes.len() => at = next,
                Some(_) => return Err(gone()),
                None => break,
            }
        }
        steps.reverse();
        follow(&mut *self.walk, &steps, deadline).map_or(Ok(()), Err)
    }
}

/// Follows steps that a search has told of; what is told is why it ends early.
pub fn follow(walk: &mut dyn Animated, steps: &[Step], deadline: &Deadline) -> Option<String> {
    let step = |s: &Step| {
        let state: serde_json::Map<String, Json> =
            s.state.iter().map(|(n, v)| (n.clone(), v.clone().into())).collect();
        json!({ "transition": s.by, "state": state })
    };
    let steps: Vec<Json> = steps.iter().map(step).collect();
    match walk.load(&json!({ "steps": steps }).to_string(), &deadline.flag) {
        Ok(loaded) => loaded.failure,
        Err(why) => Some(why),
    }
}

/// The way to what was found.
#[derive(Clone)]
pub enum Way {
    /// Of a machine.
    Trace(Trace),
    Steps(Vec<Step>),
}

/// What is to be done with a model.
pub enum Task {
    /// With a condition that is looked for.
    Check(Box<Options>, Option<String>),
    Ltl(String, Box<Options>),
    Compare(Box<Options>),
}

/// Does it: the answer as JSON, and the way to what was found.
pub fn run(
    origin: &Origin,
    task: Task,
    deadline: &Deadline,
    progress: &mut dyn FnMut(Progress),
) -> (Json, Option<Way>) {
    let refused = |r: Refused| (report::json::refused(&r), None);
    let mut asked = origin.asked.clone();
    match &task {
        Task::Check(_, goal) => asked.goal.clone_from(goal),
        Task::Ltl(formula, _) => asked.formulas = vec![("formula".to_string(), formula.clone())],
        Task::Compare(_) => {}
    }
    let (model, _) = match open_from(origin.files.clone(), &origin.file, origin.language, &asked, deadline) {
        Ok(opened) => opened,
        Err(r) => return refused(r),
    };
    let about = model.about();
    let wrong = |why: String| (json!({ "verdict": "unknown", "reason": why }), None);
    match task {
        Task::Check(options, _) => match model.check(&options, deadline, progress) {
            Ok(checked) => {
                let told = report::other::checked_json(&checked, about);
                (told, checked.trace.map(Way::Steps))
            }
            Err(why) => wrong(why),
        },
        Task::Ltl(..) if asked.formulas[0].1.trim().is_empty() => {
            wrong("there is no formula: a file of this language has none of its own".into())
        }
        Task::Ltl(_, options) => match model.ltl(&asked.formulas[0], &options, deadline) {
            Ok(answered) => {
                let all = std::slice::from_ref(&answered);
                let told = report::other::formulas_json(&asked.formulas, all, about);
                (json!({ "formulas": told }), answered.finding.map(|(steps, _)| Way::Steps(steps)))
            }
            Err(r) => refused(r),
        },
        Task::Compare(options) => {
            if let Some(why) = origin.language.refuses(Question::Compare) {
                return wrong(why.into());
            }
            let mut begin = |_: &_, _: Strategy| (!deadline.is_set()).then(|| deadline.part());
            match compare(&*model, &options, &mut begin, progress) {
                Ok(compared) => (json!({ "compared": report::compared::json(&compared) }), None),
                Err(why) => wrong(why),
            }
        }
    }
}
