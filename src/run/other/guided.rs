//! A B machine that a script of CSP-M guides: which operation happens with which channel, and what is asked of both.

use super::csp::{MAIN, extras, first, patterns};
use super::{
    About, Answered, Asked, Checked, Guide, Language, Loaded, Model, Reply, States, Strolled, Systems, Task,
};
use crate::explore::{Options, Progress};
use crate::guided::action::{GuidedAction, unseen};
use crate::guided::formulas::Atoms;
use crate::guided::{Guided, Pair, values};
use crate::lang::diag::{Diagnostic, SourceMap, Span};
use crate::lang::files::Files;
use crate::lang::stack::with_large_stack;
use crate::ltl::reduce;
use crate::model::OpId;
use crate::model::open::Refused;
use crate::model::reading::Reading;
use crate::process::deep;
use crate::run::csp::{LIMIT, Ready, STATES, ready};
use crate::run::system::ltl_of;
use crate::run::{Deadline, Project};
use crate::symmetry::{Action, Group, Strategy};
use crate::temporal::atoms::{Bound, StateAtom, bind_among};
use crate::verdict::{Verdict, Why};
use kanon_csp::eval::Machine as Csp;
use kanon_csp::process::Processes;
use kanon_csp::value::ConstantId;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

/// A guided machine, and the formulas that are asked of it.
struct Both {
    loaded: Loaded<Guided>,
    /// With their names.
    formulas: Vec<(String, Bound)>,
}

pub(super) fn open(
    files: Arc<dyn Files>,
    file: &Path,
    asked: &Asked,
    deadline: &Deadline,
) -> Result<(Box<dyn Model>, SourceMap), Refused> {
    let Some(guide) = &asked.guide else {
        let d = Diagnostic::error("C0409", Span::default(), "there is no script that guides the machine");
        return Err(Refused { sources: SourceMap::default(), diagnostics: vec![d] });
    };
    let mut project = Project::open_from(files, file, &guide.scope)?;
    project.max_constants = guide.max_constants;
    match both(&mut project, guide, asked, deadline) {
        Ok(both) => {
            let sources = both.loaded.opened.sources.clone();
            Ok((Box::new(both), sources))
        }
        Err(diagnostics) => Err(project.refuse(diagnostics)),
    }
}

/// Operations with their channels, and what should be known of the others.
type Paired = (Vec<(OpId, Pair)>, Vec<String>);

fn refusal(why: impl Into<String>) -> Vec<Diagnostic> {
    vec![Diagnostic::error("C0409", Span::default(), why)]
}

fn both(
    project: &mut Project,
    guide: &Guide,
    asked: &Asked,
    deadline: &Deadline,
) -> Result<Both, Vec<Diagnostic>> {
    let left_out = project.opened.model.left_out.len();
    if left_out > 0 {
        return Err(refusal(
            "the machine is a refinement with predicates about its abstraction, which are left out here: guide the \
             abstraction, or `kanon refine` first",
        ));
    }
    if project.opened.reading == Reading::Strict {
        return Err(refusal("`--wd strict` is for a machine alone: leave it out, or `--csp`"));
    }
    if let Some(goal) = &asked.goal {
        project.set_goal(goal)?;
    }
    let mut steps: Vec<(String, Span)> = vec![];
    let mut formulas = vec![];
    for (name, text) in &asked.formulas {
        let bound = bind_among(&mut project.opened, name, text, &mut steps)?;
        if let Some(StateAtom::Current(span)) =
            bound.states.iter().find(|s| matches!(s, StateAtom::Current(_)))
        {
            let why = "`current` belongs to formulas over a machine alone";
            return Err(vec![Diagnostic::error("L0201", *span, why)]);
        }
        formulas.push((name.clone(), bound));
    }
    let written: Vec<String> = steps.iter().map(|(text, _)| text.clone()).collect();
    let extras = extras(asked.process.as_deref(), &written);
    let sources = &mut project.opened.sources;
    let read = with_large_stack(|| {
        let Ready { mut machine, types } = ready(sources, &guide.script, &extras)?;
        machine.stop_with(&deadline.flag);
        let start = first(&mut machine, &types, asked.process.as_deref())?;
        let patterns = patterns(&mut machine, &written).map_err(|d| vec![d])?;
        Ok((machine, start, patterns))
    });
    let (mut csp, start, patterns) =
        read.unwrap_or_else(|e| Err(refusal(format!("no thread to evaluate with: {e}"))))?;
    let (pairs, notes) = pairs(project, &mut csp)?;
    let model = &project.opened.model;
    project.given = vec![0; model.operations.len()];
    for (op, pair) in &pairs {
        let params = model.operations[op.index()].params.len();
        project.given[op.index()] = pair.fields.min(params);
    }
    let pairs = pairs.into_iter().map(|(_, pair)| pair).collect();
    let machine = project.solve(deadline)?.machine;
    let name = format!("{} with {}", project.opened.model.name, asked.process.as_deref().unwrap_or(MAIN));
    let sources = Arc::new(project.opened.sources.clone());
    let system = Guided::new(machine, Processes::new(csp), start, pairs, patterns, sources);
    let model = &*system.machine().model;
    let group = Group::of(model, &system.machine().scope, &[]);
    let action = GuidedAction::new(&system, group);
    let permuted = action.group().permuted_sets(model);
    let fixed = action.group().fixed_sets(model);
    let about = About { language: Language::Guided, name, permuted, fixed, notes };
    let opened = std::mem::take(&mut project.opened);
    let evaluate = Box::new(|_: &mut SourceMap, _: &str| {
        // `Language::refuses` says why.
        Err(Diagnostic::error("C0409", Span::default(), "`eval` is for the machine alone"))
    });
    let action: Option<Arc<dyn Action>> = Some(Arc::new(action));
    let loaded = Loaded { about, system, action, alone: true, most: Some(STATES), opened, evaluate };
    Ok(Both { loaded, formulas })
}

/// The channel of a name at the top of a script, and where it is declared. Those of modules are the process's own.
fn channel(csp: &Csp, name: &str) -> Option<(ConstantId, Span)> {
    let program = csp.program();
    let mut channels = program.channels.iter().map(|id| (*id, &program.constants[id.0 as usize]));
    channels.find(|(_, c)| *c.name == *name).map(|(id, c)| (id, c.span))
}

/// The operations that a channel has the name of, with what the channel and the operation do not agree in.
fn pairs(project: &Project, csp: &mut Csp) -> Result<Paired, Vec<Diagnostic>> {
    let model = &project.opened.model;
    let events = model.operations.iter().enumerate().filter(|(_, o)| o.is_event);
    let (mut pairs, mut wrong, mut free) = (vec![], vec![], vec![]);
    for (event, (place, op)) in events.enumerate() {
        let Some((channel, span)) = channel(csp, &op.name) else {
            free.push(format!("`{}`", op.name));
            continue;
        };
        let fields = match deep(|| csp.fields_of(channel)) {
            Ok(fields) => fields,
            Err(fault) => {
                let code = if fault.is_limit { LIMIT } else { "C0400" };
                wrong.push(Diagnostic::error(code, fault.span, fault.message));
                continue;
            }
        };
        let (params, results) = (op.params.len(), op.results.len());
        if fields.len() > params + results {
            let what = format!(
                "the channel `{}` has more fields than the operation has parameters and results: {} and {}",
                op.name,
                fields.len(),
                params + results
            );
            let d = Diagnostic::error("C0410", span, what).note(op.span, "the operation");
            wrong.push(
                d.help("the fields are the parameters and then the results; the last ones may be missing"),
            );
            continue;
        }
        for (i, (field, local)) in fields.iter().zip(op.params.iter().chain(&op.results)).enumerate() {
            let local = model.local(*local);
            if !values::fits(field, &local.ty) {
                let what = if i < params { "parameter" } else { "result" };
                let ty = local.ty.show(&|s| model.sets[s.index()].name.clone()).to_string();
                let message = format!(
                    "field {} of the channel `{}` cannot be the {what} `{}` of the operation, which is of type {ty}",
                    i + 1,
                    op.name,
                    local.name
                );
                let d = Diagnostic::error("C0411", span, message).note(local.span, format!("the {what}"));
                wrong.push(d.help("docs/guided.md says which values of CSP-M are which of B"));
            }
        }
        pairs.push((OpId(place as u32), Pair { event, channel, fields: fields.len() }));
    }
    if !wrong.is_empty() {
        return Err(wrong);
    }
    if pairs.is_empty() {
        let d = Diagnostic::error(
            "C0412",
            Span::default(),
            "no channel of the script has the name of an operation of the machine: nothing would be guided",
        );
        return Err(vec![d.help(format!("the operations are {}", free.join(", ")))]);
    }
    let mut notes = vec![];
    if !free.is_empty() {
        const NAMES: usize = 9;
        if free.len() > NAMES + 1 {
            let others = free.len() - NAMES;
            free.truncate(NAMES);
            free.push(format!("{others} others"));
        }
        let s = if free.len() == 1 { "the operation" } else { "the operations" };
        let never =
            if free.len() == 1 { "no channel, and never happens" } else { "no channels, and never happen" };
        let have = if free.len() == 1 { "has" } else { "have" };
        notes.push(format!("{s} {} {have} {never}", free.join(", ")));
    }
    Ok((pairs, notes))
}

impl Model for Both {
    fn about(&self) -> &About {
        self.loaded.about()
    }

    fn check(
        &self,
        options: &Options,
        deadline: &Deadline,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<Checked, String> {
        self.loaded.check(options, deadline, progress)
    }

    fn ltl(
        &self,
        formula: &(String, String),
        options: &Options,
        deadline: &Deadline,
    ) -> Result<Answered, Refused> {
        let loaded = &self.loaded;
        let refuse = |why: String| Refused {
            sources: SourceMap::default(),
            diagnostics: vec![Diagnostic::error("L0403", Span::default(), why)],
        };
        let bound = self.formulas.iter().find(|(name, b)| *name == formula.0 && b.text == formula.1.trim());
        let Some((_, bound)) = bound else {
            return Err(refuse("the formula was not there when the machine was opened".to_string()));
        };
        let options = loaded.options(options).map_err(refuse)?;
        let begin = Instant::now();
        let guided = &loaded.system;
        let group = reduce::group(guided.machine(), bound, options.symmetry).map_err(refuse)?;
        let group = unseen(group, guided);
        let is_reduced = options.symmetry != Strategy::Off && !group.is_trivial();
        let action: Option<Arc<dyn Action>> =
            if is_reduced { Some(Arc::new(GuidedAction::new(guided, group))) } else { None };
        let atoms = || Atoms::new(guided, bound, &deadline.flag);
        let (mut verdict, counts) =
            ltl_of(guided, action.as_ref(), (&bound.property, &atoms), &options, &deadline.flag)
                .map_err(refuse)?;
        if let Verdict::Unknown(Why::NoInitialState) = verdict
            && !deadline.is_set()
        {
            return Err(refuse("the machine has no initial state".to_string()));
        }
        verdict = deadline.explain(verdict);
        let strategy = if is_reduced { options.symmetry } else { Strategy::Off };
        Ok(loaded.answered(verdict, counts, strategy, begin))
    }

    fn states(&self, most: usize, deadline: &Deadline) -> Result<States, String> {
        self.loaded.states(most, deadline)
    }

    fn simulate(&self, task: &Task, deadline: &Deadline) -> Result<Strolled, String> {
        self.loaded.simulate(task, deadline)
    }

    fn into_system(self: Box<Self>) -> Systems {
        self.loaded.system.into()
    }

    fn eval(&self, text: &str) -> Result<Reply, Refused> {
        self.loaded.eval(text)
    }
}
