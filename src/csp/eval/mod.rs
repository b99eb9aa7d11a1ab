//! The evaluator: what the functional part of a script is worth, and which process an expression is.
//!
//! Definitions are evaluated when something asks for them, sequences without end as far as somebody looks; the
//! arguments of functions are evaluated first, and one without a value is none only for who looks at it. The operands
//! of processes are looked at later ([`Term::Delayed`]). Functions, processes and `let`s with equal captured values are
//! one: so the states of a process are finitely many where its data are.
//!
//! Everything has an end: the depth of calls, the steps of a computation and the sizes of collections are bounded, and
//! what goes beyond is a [`Fault`] that says so.

mod call;
mod dots;
mod events;
mod head;
mod lazy;
mod library;
mod matching;
mod operators;
mod prefix;
mod sets;
pub mod show;
mod typesets;

use crate::term::{EventId, Term};
use crate::value::code::{Code, Group, GroupId, Kind, Member, Program, Unit, UnitId};
use crate::value::{Fault, FrameId, FunctionId, NodeId, Res, Set, Value};
use kanon_language::lang::diag::Span;
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// How deeply calls may nest.
const DEPTH: usize = 12_000;
/// How many steps one question may take.
const STEPS: u64 = 100_000_000;
/// The flag that ends it is looked at after so many.
const PERIOD: u64 = 1 << 14;
/// How many elements a collection may have.
pub(crate) const SIZE: usize = 2_000_000;

enum Cell {
    Empty,
    Busy,
    Done(Value),
    Failed(Box<Fault>),
}

struct Frame {
    group: Arc<Group>,
    slots: Arc<[Value]>,
    cells: Vec<Cell>,
}

/// A function, and the arguments that it has.
type Function = (UnitId, Arc<[Value]>, Arc<[Value]>);

/// Fields of a constant, or elements of a datatype.
enum Known<T> {
    Empty,
    Busy,
    Done(Res<T>),
}

/// Evaluates one script.
pub struct Machine {
    program: Arc<Program>,
    units: Vec<Arc<Unit>>,
    groups: Vec<Arc<Group>>,
    frames: Vec<Frame>,
    frame_index: HashMap<(GroupId, Arc<[Value]>), FrameId>,
    functions: Vec<Function>,
    function_index: HashMap<Function, FunctionId>,
    nodes: Vec<Arc<Term>>,
    node_index: HashMap<Arc<Term>, NodeId>,
    events: Vec<Value>,
    event_index: HashMap<Value, EventId>,
    fields: Vec<Known<Arc<[Set]>>>,
    data: Vec<Known<Arc<BTreeSet<Value>>>>,
    all_events: Option<Res<Set>>,
    depth: usize,
    steps: u64,
    stop: Arc<AtomicBool>,
}

impl Machine {
    pub fn new(program: Program) -> Machine {
        let program = Arc::new(program);
        let group = Arc::new(Group { captures: vec![], size: 0, members: program.globals.clone() });
        let cells = group.members.iter().map(|_| Cell::Empty).collect();
        Machine {
            units: program.units.iter().map(|u| Arc::new(u.clone())).collect(),
            groups: program.groups.iter().map(|g| Arc::new(g.clone())).collect(),
            frames: vec![Frame { group, slots: Arc::from([]), cells }],
            frame_index: HashMap::new(),
            functions: vec![],
            function_index: HashMap::new(),
            nodes: vec![],
            node_index: HashMap::new(),
            events: vec![],
            event_index: HashMap::new(),
            fields: program.constants.iter().map(|_| Known::Empty).collect(),
            data: program.data.iter().map(|_| Known::Empty).collect(),
            all_events: None,
            depth: 0,
            steps: 0,
            stop: Arc::default(),
            program,
        }
    }

    pub fn program(&self) -> &Program {
        &self.program
    }

    /// The value of a definition at the top, in whose place it stands.
    ///
    /// # Errors
    /// It has none, or it takes too long.
    pub fn global(&mut self, global: usize) -> Res<Value> {
        self.begin();
        self.member(FrameId(0), global, self.nowhere())
    }

    /// What ends a computation from outside.
    pub fn stop_with(&mut self, stop: &Arc<AtomicBool>) {
        self.stop = Arc::clone(stop);
    }

    /// A new question: it has all the steps there are.
    pub fn begin(&mut self) {
        self.steps = 0;
        self.depth = 0;
    }

    fn nowhere(&self) -> Span {
        kanon_language::lang::diag::NOWHERE
    }

    /// A unit that captures nothing.
    ///
    /// # Errors
    /// It has no value, or it takes too long.
    pub fn closed(&mut self, unit: UnitId) -> Res<Value> {
        self.enter(unit, &[])
    }

    /// The value of a unit without parameters.
    fn enter(&mut self, unit: UnitId, captured: &[Value]) -> Res<Value> {
        let unit = Arc::clone(&self.units[unit.0 as usize]);
        let mut frame = blank(&unit, captured);
        match unit.clauses.first() {
            Some(clause) => self.eval(&clause.body, &mut frame),
            None => Fault::wrong(unit.span, "there is nothing to evaluate"),
        }
    }

    fn step(&mut self, span: Span) -> Res<()> {
        self.spend(1, span)
    }

    /// So many steps at once.
    pub(crate) fn spend(&mut self, steps: usize, span: Span) -> Res<()> {
        let before = self.steps;
        self.steps = before.saturating_add(steps as u64);
        if self.steps > STEPS {
            return Fault::limit(span, "this takes too long to compute: a hundred million steps");
        }
        if before / PERIOD != self.steps / PERIOD && self.stop.load(Ordering::Relaxed) {
            return Fault::limit(span, "the computation was stopped");
        }
        Ok(())
    }

    /// What the slots of a unit hold that it captures.
    fn captured(&self, unit: &Unit, frame: &[Value]) -> Arc<[Value]> {
        unit.captures.iter().map(|(outer, _)| frame[*outer].clone()).collect()
    }

    fn eval(&mut self, code: &Code, frame: &mut Vec<Value>) -> Res<Value> {
        if self.depth >= DEPTH {
            return Fault::limit(code.span, "calls nest too deeply here: perhaps a recursion has no end");
        }
        self.depth += 1;
        let value = self.step(code.span).and_then(|()| self.eval_here(code, frame));
        self.depth -= 1;
        value
    }

    fn eval_here(&mut self, code: &Code, frame: &mut Vec<Value>) -> Res<Value> {
        let span = code.span;
        match &code.kind {
            Kind::Value(Value::Builtin(name)) => self.builtin_value(name, span),
            Kind::Value(v) => Ok(v.clone()),
            Kind::Slot(s) => sound(&frame[*s]),
            Kind::Global(m) => self.member(FrameId(0), *m, span),
            Kind::Member(s, m) => match frame[*s] {
                Value::Frame(f) => self.member(f, *m, span),
                _ => Fault::wrong(span, "a definition that is not there: this is a mistake in kanon"),
            },
            Kind::Tuple(all) => {
                let parts: Res<Vec<Value>> = all.iter().map(|e| self.perhaps(e, frame)).collect();
                Ok(Value::tuple(parts?))
            }
            Kind::Dot(a, b) => {
                let (a, b) = (self.eval(a, frame)?, self.eval(b, frame)?);
                self.dot(a, b, span)
            }
            Kind::Apply(f, all) => {
                let f = self.eval(f, frame)?;
                let arguments: Res<Vec<Value>> = all.iter().map(|e| self.perhaps(e, frame)).collect();
                self.apply(f, arguments?, span)
            }
            Kind::Function(unit) => {
                let captured = self.captured(&self.units[unit.0 as usize], frame);
                Ok(self.function(*unit, captured, Arc::from([])))
            }
            Kind::Let(group, slot, body) => {
                let g = Arc::clone(&self.groups[group.0 as usize]);
                let captured: Arc<[Value]> = g.captures.iter().map(|(o, _)| frame[*o].clone()).collect();
                let id = self.frame(*group, &g, captured);
                frame[*slot] = Value::Frame(id);
                self.eval(body, frame)
            }
            Kind::If(test, a, b) => {
                if self.truth(test, frame)? {
                    self.eval(a, frame)
                } else {
                    self.eval(b, frame)
                }
            }
            Kind::Unary(op, e) => {
                let v = self.eval(e, frame)?;
                self.unary(*op, v, span)
            }
            Kind::Binary(op, a, b) => self.binary(*op, a, b, frame, span),
            Kind::Seq(c) => self.sequence(c, frame),
            Kind::Set(c) => self.set_comprehension(c, frame),
            Kind::Productions(c) => self.all_productions(c, frame),
            Kind::Map(all) => {
                let mut map = std::collections::BTreeMap::new();
                for (k, v) in all {
                    let k = self.eval(k, frame)?;
                    let k = self.normal(k, span)?;
                    let v = self.eval(v, frame)?;
                    map.insert(k, self.normal(v, span)?);
                }
                Ok(Value::Map(Arc::new(map)))
            }
            Kind::Guarded(test, p) => {
                if self.truth(test, frame)? {
                    self.eval(p, frame)
                } else {
                    Ok(Value::Process(self.node(Term::Stop)))
                }
            }
            _ => self.head(code, frame),
        }
    }

    /// A value that may turn out not to be there when somebody looks at it.
    fn perhaps(&mut self, code: &Code, frame: &mut Vec<Value>) -> Res<Value> {
        match self.eval(code, frame) {
            Err(fault) if !fault.is_limit => Ok(Value::Fault(Arc::from(fault))),
            other => other,
        }
    }

    fn truth(&mut self, code: &Code, frame: &mut Vec<Value>) -> Res<bool> {
        match self.eval(code, frame)? {
            Value::Bool(b) => Ok(b),
            _ => Fault::wrong(code.span, "this is no truth value"),
        }
    }

    fn frame(&mut self, id: GroupId, group: &Arc<Group>, captured: Arc<[Value]>) -> FrameId {
        if let Some(known) = self.frame_index.get(&(id, Arc::clone(&captured))) {
            return *known;
        }
        let frame = FrameId(self.frames.len() as u32);
        let mut slots = vec![Value::Bool(false); group.size.max(1)];
        slots[0] = Value::Frame(frame);
        for ((_, inner), value) in group.captures.iter().zip(captured.iter()) {
            slots[*inner] = value.clone();
        }
        let cells = group.members.iter().map(|_| Cell::Empty).collect();
        self.frames.push(Frame { group: Arc::clone(group), slots: slots.into(), cells });
        self.frame_index.insert((id, captured), frame);
        frame
    }

    fn function(&mut self, unit: UnitId, captured: Arc<[Value]>, arguments: Arc<[Value]>) -> Value {
        let key = (unit, captured, arguments);
        if let Some(known) = self.function_index.get(&key) {
            return Value::Function(*known);
        }
        let id = FunctionId(self.functions.len() as u32);
        self.functions.push(key.clone());
        self.function_index.insert(key, id);
        Value::Function(id)
    }

    /// The process of a term.
    pub fn node(&mut self, term: Term) -> NodeId {
        if let Some(known) = self.node_index.get(&term) {
            return *known;
        }
        let id = NodeId(self.nodes.len() as u32);
        let term = Arc::new(term);
        self.nodes.push(Arc::clone(&term));
        self.node_index.insert(term, id);
        id
    }

    pub fn term(&self, node: NodeId) -> &Arc<Term> {
        &self.nodes[node.0 as usize]
    }

    /// How many processes there are so far.
    pub fn nodes(&self) -> usize {
        self.nodes.len()
    }

    /// A definition of a frame.
    fn member(&mut self, frame: FrameId, member: usize, span: Span) -> Res<Value> {
        let at = frame.0 as usize;
        match &self.frames[at].cells[member] {
            Cell::Done(v) => return sound(v),
            Cell::Failed(fault) => return Err(fault.clone()),
            Cell::Busy => return Fault::wrong(span, "this definition needs its own value"),
            Cell::Empty => {}
        }
        self.frames[at].cells[member] = Cell::Busy;
        let group = Arc::clone(&self.frames[at].group);
        let value = self.define(frame, &group, member, span);
        self.frames[at].cells[member] = match &value {
            Ok(v) => Cell::Done(v.clone()),
            // With fewer steps behind it there may be a value.
            Err(fault) if fault.is_limit => Cell::Empty,
            Err(fault) => Cell::Failed(fault.clone()),
        };
        value.and_then(|v| sound(&v))
    }

    fn define(&mut self, frame: FrameId, group: &Group, member: usize, span: Span) -> Res<Value> {
        let slots = Arc::clone(&self.frames[frame.0 as usize].slots);
        let inside = |this: &Machine, unit: UnitId| this.captured(&this.units[unit.0 as usize], &slots);
        match &group.members[member] {
            Member::Function(unit) => {
                let captured = inside(self, *unit);
                Ok(self.function(*unit, captured, Arc::from([])))
            }
            Member::Value(unit) => {
                let captured = inside(self, *unit);
                self.deep_enter(*unit, &captured, span)
            }
            Member::Pattern { unit, slots, pattern, size, span } => {
                let captured = inside(self, *unit);
                let value = self.deep_enter(*unit, &captured, *span)?;
                let mut own = vec![Value::Bool(false); *size];
                if !self.matches(pattern, &value, &mut own, *span)? {
                    return Fault::wrong(*span, "the value of this definition does not match its pattern");
                }
                Ok(Value::tuple(slots.iter().map(|s| own[*s].clone()).collect()))
            }
            Member::Part(whole, place) => match self.member(frame, *whole, span)? {
                Value::Tuple(parts) => Ok(parts[*place].clone()),
                _ => Fault::wrong(span, "a part of nothing: this is a mistake in kanon"),
            },
            Member::Constant(id) => Ok(Value::Constant(*id)),
            Member::Data(data) => Ok(Value::Set(Set::Data(*data))),
            Member::Subtype(clauses) => self.subtype(clauses),
            Member::Nametype(unit) => {
                let captured = inside(self, *unit);
                let value = self.deep_enter(*unit, &captured, span)?;
                Ok(Value::Set(self.typeset(&value, span)?))
            }
            Member::Known(value) => Ok(value.clone()),
            Member::Nothing => Fault::wrong(span, "this has no definition: this is a mistake in kanon"),
        }
    }

    fn deep_enter(&mut self, unit: UnitId, captured: &[Value], span: Span) -> Res<Value> {
        if self.depth >= DEPTH {
            return Fault::limit(span, "definitions nest too deeply here");
        }
        self.depth += 1;
        let value = self.enter(unit, captured);
        self.depth -= 1;
        value
    }

    /// The process that a delayed one turns out to be; any other is itself.
    ///
    /// # Errors
    /// It cannot be computed.
    pub fn resolve(&mut self, node: NodeId) -> Res<NodeId> {
        let mut at = node;
        for _ in 0..DEPTH {
            let term = Arc::clone(self.term(at));
            let Term::Delayed(unit, captured) = &*term else { return Ok(at) };
            let span = self.units[unit.0 as usize].span;
            match self.deep_enter(*unit, captured, span)? {
                Value::Process(next) => at = next,
                _ => return Fault::wrong(span, "this is no process"),
            }
        }
        Fault::limit(self.nowhere(), "this process is never anything but another one")
    }
}

/// The slots of a unit that is entered.
fn blank(unit: &Unit, captured: &[Value]) -> Vec<Value> {
    let mut frame = vec![Value::Bool(false); unit.size];
    for ((_, inner), value) in unit.captures.iter().zip(captured) {
        frame[*inner] = value.clone();
    }
    frame
}

/// A value, unless it is none.
fn sound(value: &Value) -> Res<Value> {
    match value {
        Value::Fault(fault) => Err(Box::new((**fault).clone())),
        value => Ok(value.clone()),
    }
}
