//! Programs in XTL, ProB's interface for languages of one's own, as a [`System`]: `start/1`, `trans/3` and `prop/2` in
//! Prolog, which SWI-Prolog runs in a process that can compute and nothing else (`confine`).
//!
//! A row is the number of a state, a term without variables. Terms travel as Prolog writes them down in bytes, in which
//! equal terms are equal; here they are numbered in the order in which they are met, by whoever explores in one thread.
//! The process remembers no state, so it can be ended and started again. It is asked for the transitions of many states at
//! once, those that will be asked next; which these are depends on the numbers only, never on time.
//!
//! What has no answer (an exception, a limit, a state with variables) is a fault of every operation, since any
//! transition may be missing. Absent on purpose: symmetry, since a program may tell everything from everything.

mod answer;
mod confine;
mod program;
mod prolog;

pub use answer::{Answer, Read, read};
pub use program::{Include, Limits, Mistake, Program, Unfit};
pub use prolog::Gone;

use crate::system::{
    Check, Complete, Fault, Label, Operation, Res, Starts, Stop, System, Transition, Visit, Visitor, Width,
};
use std::collections::{HashMap, HashSet};
use std::ops::ControlFlow;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// States whose transitions are asked for at once.
const BATCH: usize = 256;

/// Bytes of such a request: less than a pipe holds, so that writing it never waits for somebody who waits for us.
const REQUEST: usize = 1 << 15;

/// Properties, and patterns, that can be asked for: they travel as bits.
pub const MOST: usize = 60;

/// A program, explored.
pub struct XtlSystem {
    inner: Mutex<Inner>,
    operations: Vec<Operation>,
    checks: Vec<Check>,
    patterns: Vec<Arc<str>>,
}

/// A state and the step that led to it.
#[derive(Clone, Debug)]
pub struct Here {
    state: u32,
    label: Option<u32>,
    mask: u64,
    stop: Stop,
}

/// What a transition is called, and which patterns it is in.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Called {
    mask: u64,
    name: String,
    text: String,
}

/// The transitions of a state: labels and targets, and set if there may be more.
#[derive(Clone, Debug, Default)]
struct Moves {
    all: Vec<(u32, u32)>,
    fault: Option<Arc<str>>,
}

struct Inner {
    program: Program,
    /// States in the order in which they were met.
    states: Vec<Arc<[u8]>>,
    numbers: HashMap<Arc<[u8]>, u32>,
    moves: Vec<Option<Moves>>,
    properties: Vec<Option<Result<u64, Arc<str>>>>,
    initial: Option<Moves>,
    labels: Vec<Called>,
    label_numbers: HashMap<Called, u32>,
    /// What the present process calls them.
    called: Vec<u32>,
    operations: HashMap<String, u32>,
}

/// A question about a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Question {
    Next,
    Hold,
}

impl Question {
    fn word(self) -> &'static str {
        match self {
            Question::Next => "next",
            Question::Hold => "hold",
        }
    }

    /// The goal, with the state in it.
    fn goal(self, state: &str) -> String {
        match self {
            Question::Next => format!("trans(A, {state}, B)"),
            Question::Hold => format!("prop({state}, A)"),
        }
    }
}

/// Nothing was found out, and nobody is to blame.
struct Ended;

impl XtlSystem {
    /// A program that was read with the names of `checks` as properties, and with `patterns`. An invariant says that a
    /// state does not have its property, any other check that it has.
    pub fn new(program: Program, checks: Vec<Check>, patterns: Vec<Arc<str>>) -> XtlSystem {
        let mut names: Vec<String> = vec![];
        for name in &program.operations {
            if !names.contains(name) {
                names.push(name.clone());
            }
        }
        let operations = names.iter().enumerate().map(|(i, n)| (n.clone(), i as u32)).collect();
        // Whatever else a transition is called.
        names.push("trans".into());
        let operation = |n: &String| Operation { name: Arc::from(&**n), may_repeat: true };
        XtlSystem {
            operations: names.iter().map(operation).collect(),
            checks,
            patterns,
            inner: Mutex::new(Inner {
                program,
                states: vec![],
                numbers: HashMap::new(),
                moves: vec![],
                properties: vec![],
                initial: None,
                labels: vec![],
                label_numbers: HashMap::new(),
                called: vec![],
                operations,
            }),
        }
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        // Tables only grow, and an entry is complete when it is made.
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn other(&self) -> usize {
        self.operations.len() - 1
    }

    /// A transition at hand, with the operation that it counts for.
    fn here(&self, inner: &Inner, label: u32, state: u32, stop: &Stop) -> (usize, Here) {
        let called = inner.labels.get(label as usize);
        let operation = called.and_then(|c| inner.operations.get(&c.name)).map(|o| *o as usize);
        let mask = called.map_or(0, |c| c.mask);
        (operation.unwrap_or(self.other()), Here { state, label: Some(label), mask, stop: stop.clone() })
    }
}

fn stopped() -> Box<Fault> {
    Fault::limit("the run was ended")
}

impl Inner {
    fn number(&mut self, state: Vec<u8>) -> u32 {
        if let Some(known) = self.numbers.get(&*state) {
            return *known;
        }
        let state: Arc<[u8]> = Arc::from(state);
        let number = self.states.len() as u32;
        self.states.push(Arc::clone(&state));
        self.moves.push(None);
        self.properties.push(None);
        self.numbers.insert(state, number);
        number
    }

    fn label(&mut self, called: Called) -> u32 {
        if let Some(known) = self.label_numbers.get(&called) {
            return *known;
        }
        let number = self.labels.len() as u32;
        self.labels.push(called.clone());
        self.label_numbers.insert(called, number);
        number
    }

    /// A process, which begins to count labels anew if it is a new one.
    fn prolog(&mut self, stop: &Stop) -> Result<&mut prolog::Prolog, Gone> {
        let Inner { program, called, .. } = self;
        let (prolog, is_new) = program.prolog(stop)?;
        if is_new {
            called.clear();
        }
        Ok(prolog)
    }

    /// What one goal has for solutions, as they come. What cannot be told ends them.
    fn solutions(&mut self, stop: &Stop) -> Result<Moves, Gone> {
        let mut moves = Moves::default();
        let mut known = HashSet::new();
        loop {
            match self.prolog(stop)?.hear(stop)? {
                Answer::End => return Ok(moves),
                Answer::Fault(why) => {
                    moves.fault = Some(Arc::from(why));
                    return Ok(moves);
                }
                Answer::Label { mask, name, text } => {
                    let number = self.label(Called { mask, name, text });
                    self.called.push(number);
                }
                Answer::Solution { label, state } => {
                    let label = usize::try_from(label).ok().and_then(|l| self.called.get(l)).copied();
                    // An initial state has none.
                    let step = (label.unwrap_or(u32::MAX), self.number(state));
                    if known.insert(step) {
                        moves.all.push(step);
                    }
                }
                other => return Err(Gone::Ended(format!("it said {other:?}"))),
            }
        }
    }

    /// What to say of a goal that was not answered.
    fn lost(goal: &str, gone: Gone) -> Result<Arc<str>, Ended> {
        Ok(Arc::from(match gone {
            Gone::Stopped => return Err(Ended),
            Gone::Late(after) => format!("{goal}: no answer for {} s", after.as_secs_f64()),
            Gone::Ended(said) => format!("{goal}: SWI-Prolog ended: {said}"),
        }))
    }

    fn initial(&mut self, stop: &Stop) -> Result<Moves, Ended> {
        if let Some(known) = &self.initial {
            return Ok(known.clone());
        }
        let asked = self.prolog(stop).map(|prolog| {
            prolog.ask("start", &[]);
            prolog.flush();
        });
        let found = match asked.and_then(|()| self.solutions(stop)) {
            Ok(moves) => moves,
            Err(gone) => {
                self.program.end();
                Moves { all: vec![], fault: Some(Inner::lost("start(A)", gone)?) }
            }
        };
        self.initial = Some(found.clone());
        Ok(found)
    }

    fn is_unknown(&self, state: u32, question: Question) -> bool {
        match question {
            Question::Next => self.moves[state as usize].is_none(),
            Question::Hold => self.properties[state as usize].is_none(),
        }
    }

    /// States to ask about together with this one: those with the next numbers of which the answer is not known.
    fn batch(&self, first: u32, question: Question) -> Vec<u32> {
        let mut batch = vec![first];
        let mut bytes = self.states[first as usize].len();
        for i in (first + 1..self.states.len() as u32).filter(|i| self.is_unknown(*i, question)) {
            bytes += self.states[i as usize].len() + 16;
            if batch.len() >= BATCH || bytes > REQUEST {
                break;
            }
            batch.push(i);
        }
        batch
    }

    /// Asks about a state, and about others at once.
    fn ask(&mut self, state: u32, question: Question, stop: &Stop) -> Result<(), Ended> {
        let mut batch = self.batch(state, question);
        while !batch.is_empty() {
            let states: Vec<Arc<[u8]>> =
                batch.iter().map(|i| Arc::clone(&self.states[*i as usize])).collect();
            let sent = self.prolog(stop).map(|prolog| {
                for state in &states {
                    prolog.ask(question.word(), &[state]);
                }
                prolog.flush();
            });
            let mut gone = sent.err();
            let mut done = 0;
            while gone.is_none() && done < batch.len() {
                let at = batch[done] as usize;
                gone = match question {
                    Question::Next => self.solutions(stop).map(|moves| self.moves[at] = Some(moves)).err(),
                    Question::Hold => self.hear_properties(stop).map(|p| self.properties[at] = Some(p)).err(),
                };
                if gone.is_none() {
                    done += 1;
                }
            }
            batch.drain(..done);
            let Some(gone) = gone else { continue };
            let Some(guilty) = batch.first().copied() else { continue };
            self.program.end();
            let shown = if gone == Gone::Stopped { None } else { self.text(guilty, stop) };
            let goal = question.goal(shown.as_deref().unwrap_or("_"));
            let why = Inner::lost(&goal, gone)?;
            match question {
                Question::Next => {
                    self.moves[guilty as usize] = Some(Moves { all: vec![], fault: Some(why) });
                }
                Question::Hold => self.properties[guilty as usize] = Some(Err(why)),
            }
            // Who was asked beside it has to wait until somebody asks again: it may be as slow.
            batch.clear();
            if self.is_unknown(state, question) {
                batch.push(state);
            }
        }
        Ok(())
    }

    fn hear_properties(&mut self, stop: &Stop) -> Result<Result<u64, Arc<str>>, Gone> {
        match self.prolog(stop)?.hear(stop)? {
            Answer::Properties(mask) => Ok(Ok(mask)),
            Answer::Fault(why) => Ok(Err(Arc::from(why))),
            other => Err(Gone::Ended(format!("it said {other:?}"))),
        }
    }

    fn text(&mut self, state: u32, stop: &Stop) -> Option<String> {
        let bytes = Arc::clone(self.states.get(state as usize)?);
        let asked = self.prolog(stop).map(|prolog| {
            prolog.ask("text", &[&bytes]);
            prolog.flush();
        });
        match asked.and_then(|()| self.prolog(stop)?.hear(stop)) {
            Ok(Answer::Text(text)) => Some(text),
            _ => {
                self.program.end();
                None
            }
        }
    }
}

impl System for XtlSystem {
    type Worker = Here;
    type Here = Here;

    fn widths(&self) -> Vec<Width> {
        vec![Width::Bits(u32::BITS)]
    }
    fn operations(&self) -> &[Operation] {
        &self.operations
    }
    fn checks(&self) -> &[Check] {
        &self.checks
    }
    fn worker(&self, stop: &Stop) -> Here {
        Here { state: 0, label: None, mask: 0, stop: stop.clone() }
    }
    fn starts(&self, w: &mut Here, visit: &mut dyn Starts<Here>) -> Option<Complete> {
        visit.start(w, 0).is_continue().then(Complete::every_start_was_visited)
    }
    fn initial(&self, w: &mut Here, _: usize, visit: &mut Visit<'_, Here>) -> Res<ControlFlow<()>> {
        let found = self.inner().initial(&w.stop).map_err(|Ended| stopped())?;
        let mut known = HashSet::new();
        for (_, state) in found.all {
            (w.state, w.label, w.mask) = (state, None, 0);
            if known.insert(state) && visit(w, &[state.into()]).is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
        match found.fault {
            Some(why) => Err(Fault::limit(&*why)),
            None if known.is_empty() => {
                Err(Fault::limit("start(A) has no solution: there is no initial state"))
            }
            None => Ok(ControlFlow::Continue(())),
        }
    }
    fn successors(&self, w: &mut Here, row: &[u64], visit: &mut dyn Visitor<Here>) -> ControlFlow<()> {
        let state = row[0] as u32;
        let found = {
            let mut inner = self.inner();
            if inner.moves[state as usize].is_none() && inner.ask(state, Question::Next, &w.stop).is_err() {
                None
            } else {
                inner.moves[state as usize].clone()
            }
        };
        let everywhere = |visit: &mut dyn Visitor<Here>, why: &str| {
            (0..self.operations.len()).try_for_each(|o| visit.fault(o, Fault::limit(why)))
        };
        let Some(found) = found else { return everywhere(visit, "the run was ended") };
        for (label, target) in found.all {
            let (operation, here) = self.here(&self.inner(), label, target, &w.stop);
            *w = here;
            visit.transition(Transition { operation, target: &[target.into()], here: w })?;
        }
        match found.fault {
            Some(why) => everywhere(visit, &why),
            None => ControlFlow::Continue(()),
        }
    }
    fn load<'w>(&self, w: &'w mut Here, row: &[u64]) -> &'w mut Here {
        (w.state, w.label, w.mask) = (row[0] as u32, None, 0);
        w
    }
    fn holds(&self, check: usize, here: &mut Here) -> Res<bool> {
        let mut inner = self.inner();
        let at = here.state as usize;
        if inner.properties[at].is_none() {
            if here.stop.load(Ordering::Relaxed) {
                return Err(stopped());
            }
            inner.ask(here.state, Question::Hold, &here.stop).map_err(|Ended| stopped())?;
        }
        let has = match &inner.properties[at] {
            Some(Ok(mask)) => mask >> check & 1 == 1,
            Some(Err(why)) => return Err(Fault::limit(&**why)),
            None => return Err(stopped()),
        };
        let is_invariant = self.checks.get(check).is_some_and(|c| c.role == crate::system::Role::Invariant);
        Ok(has != is_invariant)
    }
    fn label(&self, operation: usize, here: &Here) -> Label {
        Label::from_slice(&[operation as u64, here.label.map_or(u64::MAX, u64::from)])
    }
    fn patterns(&self) -> &[Arc<str>] {
        &self.patterns
    }
    fn fits(&self, pattern: usize, _: usize, here: &Here) -> bool {
        here.mask >> pattern & 1 == 1
    }
    fn show_state(&self, row: &[u64]) -> Vec<(String, String)> {
        let text = self.inner().text(row[0] as u32, &Stop::default());
        vec![("state".to_string(), text.unwrap_or_else(|| "(SWI-Prolog does not say)".into()))]
    }
    fn show_label(&self, label: &Label) -> String {
        let inner = self.inner();
        let called = label.get(1).and_then(|l| inner.labels.get(usize::try_from(*l).ok()?));
        called.map_or_else(String::new, |c| c.text.clone())
    }
}
