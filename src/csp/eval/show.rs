//! Values and processes for people, as one would write them.

use super::Machine;
use crate::term::{EventId, Term};
use crate::value::{NodeId, Set, Value};
use kanon_language::lang::diag::Span;

impl Machine {
    pub fn show(&self, value: &Value) -> String {
        match value {
            Value::Int(n) => n.to_string(),
            Value::Bool(b) => b.to_string(),
            Value::Char(c) => format!("'{c}'"),
            Value::Seq(all) if !all.is_empty() && all.iter().all(|v| matches!(v, Value::Char(_))) => {
                let text: String =
                    all.iter().filter_map(|v| if let Value::Char(c) = v { Some(*c) } else { None }).collect();
                format!("\"{text}\"")
            }
            Value::Seq(all) => format!("<{}>", self.shown(all.iter())),
            Value::Lazy(_) => "<…>".to_string(),
            Value::Set(s) => self.show_set(s),
            Value::Map(map) => {
                let pairs: Vec<String> =
                    map.iter().map(|(k, v)| format!("{} => {}", self.show(k), self.show(v))).collect();
                format!("(| {} |)", pairs.join(", "))
            }
            Value::Tuple(parts) => format!("({})", self.shown(parts.iter())),
            Value::Constant(id) => self.program.constants[id.0 as usize].name.to_string(),
            Value::Dot(parts) => {
                let part = |v: &Value| match v {
                    Value::Dot(_) => format!("({})", self.show(v)),
                    Value::Int(n) if *n < 0 => format!("({n})"),
                    _ => self.show(v),
                };
                let (last, front) = match parts.split_last() {
                    Some(both) => both,
                    None => return String::new(),
                };
                let front: Vec<String> = front.iter().map(part).collect();
                format!("{}.{}", front.join("."), self.show(last))
            }
            Value::Function(id) => {
                let (unit, ..) = &self.functions[id.0 as usize];
                match &self.units[unit.0 as usize].name {
                    Some(name) => format!("{name}(…)"),
                    None => "\\ …".to_string(),
                }
            }
            Value::Builtin(name) => (*name).to_string(),
            Value::Process(node) => self.show_process(*node),
            Value::Frame(_) => "…".to_string(),
            Value::Fault(fault) => format!("error({})", fault.message),
        }
    }

    fn shown<'v>(&self, all: impl Iterator<Item = &'v Value>) -> String {
        let each: Vec<String> = all.map(|v| self.show(v)).collect();
        each.join(", ")
    }

    fn show_set(&self, set: &Set) -> String {
        match set {
            Set::Finite(all) => format!("{{{}}}", self.shown(all.iter())),
            Set::Integers => "Int".to_string(),
            Set::Upwards { below, from } if below.is_empty() => format!("{{{from}..}}"),
            Set::Upwards { below, from } => {
                let below: Vec<String> = below.iter().map(i64::to_string).collect();
                format!("union({{{}}}, {{{from}..}})", below.join(", "))
            }
            Set::Characters => "Char".to_string(),
            Set::Processes => "Proc".to_string(),
            Set::Data(data) => self.program.data[data.0 as usize].name.to_string(),
            Set::Sequences(of) => format!("Seq({})", self.show_set(of)),
            Set::Subsets(of) => format!("Set({})", self.show_set(of)),
            Set::Dots(sets) => self.show_sets(sets, "."),
            Set::Tuples(sets) => format!("({})", self.show_sets(sets, ", ")),
            Set::Maps(k, v) => format!("Map({}, {})", self.show_set(k), self.show_set(v)),
            Set::Union(sets) => format!("Union({{{}}})", self.show_sets(sets, ", ")),
        }
    }

    fn show_sets(&self, sets: &[Set], between: &str) -> String {
        let each: Vec<String> = sets.iter().map(|s| self.show_set(s)).collect();
        each.join(between)
    }

    pub fn show_event(&self, event: EventId) -> String {
        self.show(self.event_value(event))
    }

    /// The operator of a process. Operands are not followed: there is no end to them.
    pub fn show_process(&self, node: NodeId) -> String {
        self.show_to(node, 4)
    }

    /// Operators nest as deeply as a script makes them; so many are shown.
    fn show_to(&self, node: NodeId, depth: usize) -> String {
        if depth == 0 {
            return "…".to_string();
        }
        let depth = depth - 1;
        match &**self.term(node) {
            Term::Delayed(..) | Term::Compressed(_) => "…".to_string(),
            Term::Stop => "STOP".to_string(),
            Term::Skip => "SKIP".to_string(),
            Term::Omega => "terminated".to_string(),
            Term::Diverges => "DIV".to_string(),
            Term::Chaos(_) => "CHAOS(…)".to_string(),
            Term::Run(_) => "RUN(…)".to_string(),
            Term::Choices(all) => {
                let mut events: Vec<String> = all.iter().take(4).map(|(e, _)| self.show_event(*e)).collect();
                if all.len() > 4 {
                    events.push("…".to_string());
                }
                match &events[..] {
                    [one] => format!("{one} -> …"),
                    several => format!("{{{}}} -> …", several.join(", ")),
                }
            }
            Term::External(all) => self.show_operands(depth, all, " [] "),
            Term::Internal(all) => self.show_operands(depth, all, " |~| "),
            Term::SynchronisedChoice(_, all) => self.show_operands(depth, all, " [+ … +] "),
            Term::Sliding(p, q) => self.show_operands(depth, &[*p, *q], " [> "),
            Term::Sequence(p, q) => self.show_operands(depth, &[*p, *q], " ; "),
            Term::Interrupt(p, q) => self.show_operands(depth, &[*p, *q], " /\\ "),
            Term::SynchronisedInterrupt(_, p, q) => self.show_operands(depth, &[*p, *q], " /+ … +\\ "),
            Term::Exception(_, p, q) => self.show_operands(depth, &[*p, *q], " [| … |> "),
            Term::Shared(set, all) if set.is_empty() => self.show_operands(depth, all, " ||| "),
            Term::Shared(_, all) => self.show_operands(depth, all, " [| … |] "),
            Term::Alphabetised(_, all) => self.show_operands(depth, all, " || "),
            Term::Linked(_, p, q) => self.show_operands(depth, &[*p, *q], " [… <-> …] "),
            Term::Renamed(_, p) => format!("{}[[…]]", self.show_operand(depth, *p)),
            Term::Hidden(_, p) => format!("{} \\ …", self.show_operand(depth, *p)),
            Term::Projected(_, p) => format!("{} |\\ …", self.show_operand(depth, *p)),
            Term::Refused(what, _) => (*what).to_string(),
        }
    }

    fn show_operand(&self, depth: usize, node: NodeId) -> String {
        match &**self.term(node) {
            Term::Stop | Term::Skip | Term::Diverges | Term::Omega | Term::Delayed(..) => {
                self.show_to(node, depth.max(1))
            }
            _ => format!("({})", self.show_to(node, depth)),
        }
    }

    fn show_operands(&self, depth: usize, all: &[NodeId], between: &str) -> String {
        let each: Vec<String> = all.iter().map(|n| self.show_operand(depth, *n)).collect();
        each.join(between)
    }

    /// Where the code of a process stands.
    pub fn span_of(&self, node: NodeId) -> Span {
        match &**self.term(node) {
            Term::Delayed(unit, _) => self.units[unit.0 as usize].span,
            _ => kanon_language::lang::diag::NOWHERE,
        }
    }
}
