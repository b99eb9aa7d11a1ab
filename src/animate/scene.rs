//! What every view asks of whatever is animated: a B machine, or any other system as far as it can tell.

use super::session::{Call, Conjunct, Loaded, Operation, Session, Tree, Value, Watched};
use super::walk::{Choices, End, From, Limits, Missing, Place, Sought, Walk};
use crate::lang::diag::SourceMap;
use crate::model::open::Refused;
use crate::system::{Stop, System};
use crate::trace::explain::Disabled;
use crate::trace::export::Format;
use crate::trace::fault::plain_error;
use crate::trace::question::Reply;
use std::path::Path;

/// Where the walk has been.
#[derive(Clone, Debug, Default)]
pub struct History {
    /// Each place: the one before it, and the step that led to it, for people.
    pub places: Vec<(Option<Place>, String)>,
    /// Where it is.
    pub at: Option<Place>,
    /// From the initial state to there.
    pub way: Vec<Place>,
}

/// All that is on screen in one state.
#[derive(Clone, Debug, Default)]
pub struct Scene {
    /// What is animated.
    pub title: String,
    /// Constants and variables.
    pub state: Vec<Value>,
    /// Operations, enabled or not.
    pub operations: Vec<Operation>,
    /// Set if there may be other steps.
    pub missing: Option<Missing>,
    /// Invariant, assertions and goal.
    pub conjuncts: Vec<Conjunct>,
    /// Watched expressions.
    pub watched: Vec<Watched>,
    /// Where the walk has been.
    pub history: History,
}

impl Scene {
    /// Of the present state.
    pub fn of(session: &mut dyn Animated, stop: &Stop) -> Scene {
        Scene {
            title: session.title(),
            operations: session.operations(stop),
            missing: session.missing(stop),
            state: session.state(),
            conjuncts: session.conjuncts(stop),
            watched: session.watched(stop),
            history: session.history(),
        }
    }
}

/// What can be animated. Whatever needs a model is refused by systems that have none.
pub trait Animated: Send {
    /// What it is called.
    fn title(&self) -> String;
    /// See [`Session::state`].
    fn state(&self) -> Vec<Value>;
    /// See [`Session::operations`].
    fn operations(&mut self, stop: &Stop) -> Vec<Operation>;
    /// Set if there may be other steps than the offered ones.
    fn missing(&mut self, stop: &Stop) -> Option<Missing>;
    /// See [`Session::conjuncts`].
    fn conjuncts(&self, stop: &Stop) -> Vec<Conjunct>;
    /// Where the walk has been.
    fn history(&self) -> History;
    /// See [`Walk::step`].
    fn step(&mut self, choice: usize, stop: &Stop) -> Option<Place>;
    /// See [`Walk::undo`].
    fn undo(&mut self) -> bool;
    /// See [`Walk::redo`].
    fn redo(&mut self) -> bool;
    /// See [`Walk::go`].
    fn go(&mut self, place: Option<Place>) -> bool;
    /// See [`Walk::address`].
    fn address(&mut self, stop: &Stop) -> Option<String>;
    /// See [`Walk::go_to`].
    ///
    /// # Errors
    /// See there.
    fn go_to(&mut self, address: &str, stop: &Stop) -> Result<(), String>;
    /// How many places the walk has been at.
    fn places(&self) -> usize;
    /// See [`Walk::random`].
    fn random(&mut self, steps: usize, seed: u64, stop: &Stop) -> (usize, End);
    /// The way here as the text of a file; what the file is called decides on its format.
    fn save(&self, path: &Path) -> String;
    /// Takes the way that a file has.
    ///
    /// # Errors
    /// A text that is no trace of this system.
    fn load(&mut self, text: &str, stop: &Stop) -> Result<Loaded, String>;
    /// The place among the choices of the first step of an operation with these arguments.
    ///
    /// # Errors
    /// No such operation or parameter, a value that cannot be read, or nothing that fits.
    fn find(&mut self, operation: &str, arguments: &[String], stop: &Stop) -> Result<usize, String>;
    /// Goes to a nearest state that fulfils a predicate; without a model, one in which a check holds (`not` before
    /// its name: does not).
    ///
    /// # Errors
    /// What is wrong with the predicate.
    fn seek(&mut self, text: &str, from: From, limits: Limits, stop: &Stop) -> Result<Sought, Refused>;

    /// Names that a line may have: operations first.
    fn names(&self) -> Vec<String>;
    /// Names of operations.
    fn operation_names(&self) -> Vec<String>;
    /// See [`Session::why`].
    fn why(&self, _check: usize, _stop: &Stop) -> Vec<Tree> {
        vec![]
    }
    /// See [`Session::why_not`].
    ///
    /// # Errors
    /// See there.
    fn why_not(&self, _operation: &str, _arguments: &[String]) -> Result<Disabled, String> {
        Err("this system does not tell why".into())
    }
    /// See [`Session::ask`].
    ///
    /// # Errors
    /// See there.
    fn ask(&self, _text: &str, _stop: &Stop) -> Result<Reply, Refused> {
        Err(refused("this system has no expressions"))
    }
    /// See [`Session::type_of`].
    ///
    /// # Errors
    /// See there.
    fn type_of(&self, _text: &str) -> Result<String, Refused> {
        Err(refused("this system has no expressions"))
    }
    /// See [`Session::watch`].
    ///
    /// # Errors
    /// See there.
    fn watch(&mut self, _text: &str) -> Result<(), Refused> {
        Err(refused("this system has no expressions"))
    }
    /// See [`Session::unwatch`].
    fn unwatch(&mut self, _index: usize) -> bool {
        false
    }
    /// See [`Session::watched`].
    fn watched(&self, _stop: &Stop) -> Vec<Watched> {
        vec![]
    }
    /// See [`Session::sources`].
    fn sources(&self) -> Option<&SourceMap> {
        None
    }
}

/// An error without a place.
pub(super) fn refused(why: impl Into<String>) -> Refused {
    Refused { sources: SourceMap::default(), diagnostics: vec![plain_error(why)] }
}

fn history<S: System>(walk: &Walk<S>) -> History {
    let text = |label: &Option<crate::system::Label>| match label {
        Some(label) => walk.system().show_label(label),
        None => crate::trace::INITIALISATION.to_string(),
    };
    let places = walk.visited().iter().map(|v| (v.from, text(&v.label))).collect();
    History { places, at: walk.at(), way: walk.way(walk.at()) }
}

impl Animated for Session {
    fn title(&self) -> String {
        self.model().name.to_string()
    }
    fn state(&self) -> Vec<Value> {
        Session::state(self)
    }
    fn operations(&mut self, stop: &Stop) -> Vec<Operation> {
        Session::operations(self, stop)
    }
    fn missing(&mut self, stop: &Stop) -> Option<Missing> {
        self.walk_mut().choices(stop).missing
    }
    fn conjuncts(&self, stop: &Stop) -> Vec<Conjunct> {
        Session::conjuncts(self, stop)
    }
    fn history(&self) -> History {
        history(self.walk())
    }
    fn step(&mut self, choice: usize, stop: &Stop) -> Option<Place> {
        self.walk_mut().step(choice, stop)
    }
    fn undo(&mut self) -> bool {
        self.walk_mut().undo()
    }
    fn redo(&mut self) -> bool {
        self.walk_mut().redo()
    }
    fn go(&mut self, place: Option<Place>) -> bool {
        self.walk_mut().go(place)
    }
    fn address(&mut self, stop: &Stop) -> Option<String> {
        self.walk_mut().address(stop)
    }
    fn go_to(&mut self, address: &str, stop: &Stop) -> Result<(), String> {
        self.walk_mut().go_to(address, stop)
    }
    fn places(&self) -> usize {
        self.walk().visited().len()
    }
    fn random(&mut self, steps: usize, seed: u64, stop: &Stop) -> (usize, End) {
        self.walk_mut().random(steps, seed, stop)
    }
    fn save(&self, path: &Path) -> String {
        format!("{:#}\n", Session::save(self, Format::of(path)))
    }
    fn load(&mut self, text: &str, stop: &Stop) -> Result<Loaded, String> {
        Session::load(self, text, stop)
    }
    fn find(&mut self, operation: &str, arguments: &[String], stop: &Stop) -> Result<usize, String> {
        Session::find(self, operation, arguments, stop)
    }
    fn seek(&mut self, text: &str, from: From, limits: Limits, stop: &Stop) -> Result<Sought, Refused> {
        Session::seek(self, text, from, limits, stop)
    }
    fn names(&self) -> Vec<String> {
        let model = self.named();
        let mut all = self.operation_names();
        all.extend(model.variables.iter().chain(&model.constants).map(|d| d.name.to_string()));
        for set in &model.sets {
            all.push(set.name.to_string());
            all.extend(set.elements.iter().flatten().take(MAX_NAMES).map(ToString::to_string));
        }
        all
    }
    fn operation_names(&self) -> Vec<String> {
        self.machine().events.iter().map(|e| e.name.to_string()).collect()
    }
    fn why(&self, check: usize, stop: &Stop) -> Vec<Tree> {
        Session::why(self, check, stop)
    }
    fn why_not(&self, operation: &str, arguments: &[String]) -> Result<Disabled, String> {
        Session::why_not(self, operation, arguments)
    }
    fn ask(&self, text: &str, stop: &Stop) -> Result<Reply, Refused> {
        Session::ask(self, text, stop)
    }
    fn type_of(&self, text: &str) -> Result<String, Refused> {
        Session::type_of(self, text)
    }
    fn watch(&mut self, text: &str) -> Result<(), Refused> {
        Session::watch(self, text)
    }
    fn unwatch(&mut self, index: usize) -> bool {
        Session::unwatch(self, index)
    }
    fn watched(&self, stop: &Stop) -> Vec<Watched> {
        Session::watched(self, stop)
    }
    fn sources(&self) -> Option<&SourceMap> {
        Some(Session::sources(self))
    }
}

/// Elements of a set whose names are completed.
const MAX_NAMES: usize = 200;

/// A system that is written in Rust: what it shows of its states and transitions, and its checks.
impl<S: System + Send + Sync> Animated for Walk<S> {
    fn title(&self) -> String {
        Walk::title(self).to_string()
    }
    fn state(&self) -> Vec<Value> {
        let value = |(name, value, before)| Value { name, value, before, is_constant: false };
        Walk::state(self).into_iter().map(value).collect()
    }
    fn operations(&mut self, stop: &Stop) -> Vec<Operation> {
        let choices = self.choices(stop);
        let operation =
            |name: &str| Operation { name: name.to_string(), calls: vec![], ..Operation::default() };
        if self.at().is_none() {
            let mut first = operation(crate::trace::INITIALISATION);
            first.calls = calls(self, &choices);
            return vec![first];
        }
        let mut all: Vec<Operation> = self.system().operations().iter().map(|o| operation(&o.name)).collect();
        for (choice, call) in choices.all.iter().zip(calls(self, &choices)) {
            if let Some(operation) = choice.operation().and_then(|i| all.get_mut(i)) {
                operation.calls.push(call);
            }
        }
        for (at, fault) in &choices.faults {
            if let Some(operation) = at.and_then(|i| all.get_mut(i)) {
                operation.faults.push(crate::trace::fault::fault_diagnostic(fault));
            }
        }
        all
    }
    fn missing(&mut self, stop: &Stop) -> Option<Missing> {
        self.choices(stop).missing
    }
    fn conjuncts(&self, stop: &Stop) -> Vec<Conjunct> {
        self.judge(stop).into_iter().map(|judged| Conjunct { judged, text: None }).collect()
    }
    fn history(&self) -> History {
        history(self)
    }
    fn step(&mut self, choice: usize, stop: &Stop) -> Option<Place> {
        Walk::step(self, choice, stop)
    }
    fn undo(&mut self) -> bool {
        Walk::undo(self)
    }
    fn redo(&mut self) -> bool {
        Walk::redo(self)
    }
    fn go(&mut self, place: Option<Place>) -> bool {
        Walk::go(self, place)
    }
    fn address(&mut self, stop: &Stop) -> Option<String> {
        Walk::address(self, stop)
    }
    fn go_to(&mut self, address: &str, stop: &Stop) -> Result<(), String> {
        Walk::go_to(self, address, stop)
    }
    fn places(&self) -> usize {
        self.visited().len()
    }
    fn random(&mut self, steps: usize, seed: u64, stop: &Stop) -> (usize, End) {
        Walk::random(self, steps, seed, stop)
    }
    fn save(&self, _path: &Path) -> String {
        format!("{:#}\n", self.to_json())
    }
    fn load(&mut self, text: &str, stop: &Stop) -> Result<Loaded, String> {
        let json: serde_json::Value =
            serde_json::from_str(text).map_err(|e| format!("this is no JSON: {e}"))?;
        let of = json.get("steps").and_then(|s| s.as_array()).map_or(0, Vec::len);
        let failure = self.take_json(&json, stop).err();
        Ok(Loaded { steps: self.way(self.at()).len(), of, failure })
    }
    fn find(&mut self, operation: &str, arguments: &[String], stop: &Stop) -> Result<usize, String> {
        if !self.system().operations().iter().any(|o| *o.name == *operation) {
            return Err(format!("the system has no operation `{operation}`"));
        }
        // `grant 2` is what is shown as `grant(2)`.
        let wanted: Vec<&str> = arguments.iter().map(|a| a.trim()).collect();
        let wanted = format!("{operation}({})", wanted.join(", "));
        let choices = self.choices(stop);
        let at = choices.all.iter().position(|c| {
            let shown = c.label.as_ref().map(|l| self.system().show_label(l)).unwrap_or_default();
            let name = c.operation().and_then(|i| self.system().operations().get(i));
            name.is_some_and(|o| *o.name == *operation) && (arguments.is_empty() || shown == wanted)
        });
        at.ok_or_else(|| format!("`{operation}` is not enabled with these parameters"))
    }
    fn seek(&mut self, text: &str, from: From, limits: Limits, stop: &Stop) -> Result<Sought, Refused> {
        let (name, wanted) = match text.trim().strip_prefix("not ") {
            Some(name) => (name.trim(), false),
            None => (text.trim(), true),
        };
        let check = self.system().checks().iter().position(|c| *c.name == *name);
        let check = check.ok_or_else(|| refused(format!("the system has no check `{name}`")))?;
        let mut worker = self.system().worker(stop);
        let mut test = |system: &S, row: &[u64]| {
            let here = system.load(&mut worker, row);
            system.holds(check, here).map(|b| b == wanted)
        };
        Ok(Walk::seek(self, from, &mut test, limits, stop))
    }
    fn names(&self) -> Vec<String> {
        let mut all = self.operation_names();
        all.extend(self.system().checks().iter().map(|c| c.name.to_string()));
        all
    }
    fn operation_names(&self) -> Vec<String> {
        self.system().operations().iter().map(|o| o.name.to_string()).collect()
    }
}

/// Choices as they are shown. What stands in brackets behind the name is a parameter without a name.
fn calls<S: System>(walk: &Walk<S>, choices: &Choices) -> Vec<Call> {
    let system = walk.system();
    let before = walk.row().map(|row| system.show_state(row)).unwrap_or_default();
    let call = |(choice, c): (usize, &super::walk::Choice)| {
        let after = system.show_state(&c.row);
        let is_new = |(i, pair): &(usize, &(String, String))| before.get(*i) != Some(*pair);
        let changes = after.iter().enumerate().filter(is_new).map(|(_, p)| p.clone()).collect();
        let operation = match c.operation().and_then(|i| system.operations().get(i)) {
            Some(o) => o.name.to_string(),
            None => crate::trace::INITIALISATION.to_string(),
        };
        let shown = c.label.as_ref().map(|l| system.show_label(l)).unwrap_or_default();
        let inside = shown.strip_prefix(&*operation).and_then(|s| s.strip_prefix('(')?.strip_suffix(')'));
        let parameters = inside.map(|text| (String::new(), text.to_string())).into_iter().collect();
        Call { choice, operation, parameters, results: vec![], changes }
    };
    choices.all.iter().enumerate().map(call).collect()
}
