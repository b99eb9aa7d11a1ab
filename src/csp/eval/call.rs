//! Calls of functions, and names that are built in.

use super::{Machine, blank, sound};
use crate::term::Term;
use crate::value::{Fault, FunctionId, Res, Set, Value};
use kanon_language::lang::diag::Span;
use std::sync::Arc;

impl Machine {
    pub(super) fn apply(&mut self, f: Value, arguments: Vec<Value>, span: Span) -> Res<Value> {
        match f {
            Value::Function(id) => self.call(id, arguments, span),
            Value::Builtin(name) => self.builtin(name, &arguments, span),
            // `relational_image(r)` waits for one more.
            Value::Tuple(parts) if matches!(parts.first(), Some(Value::Builtin(_))) => {
                let Value::Builtin(name) = parts[0] else { return Fault::wrong(span, "this is no function") };
                let all: Vec<Value> = parts[1..].iter().cloned().chain(arguments).collect();
                self.relation(name, &all, span)
            }
            _ => Fault::wrong(span, "this is no function"),
        }
    }

    fn call(&mut self, id: FunctionId, arguments: Vec<Value>, span: Span) -> Res<Value> {
        let (unit_id, captured, before) = self.functions[id.0 as usize].clone();
        let unit = Arc::clone(&self.units[unit_id.0 as usize]);
        let all: Vec<Value> = before.iter().cloned().chain([Value::tuple(arguments)]).collect();
        if all.len() < unit.lists {
            return Ok(self.function(unit_id, captured, all.into()));
        }
        let mut frame = blank(&unit, &captured);
        for clause in &unit.clauses {
            let mut fits = true;
            'lists: for (patterns, list) in clause.patterns.iter().zip(&all) {
                let Value::Tuple(values) = list else { return Fault::wrong(span, "no arguments") };
                if patterns.len() != values.len() {
                    return Fault::wrong(span, "this function takes another number of arguments");
                }
                for (pattern, value) in patterns.iter().zip(values.iter()) {
                    if !self.matches(pattern, value, &mut frame, span)? {
                        fits = false;
                        break 'lists;
                    }
                }
            }
            if fits {
                return self.eval(&clause.body, &mut frame);
            }
        }
        let name = unit.name.as_ref().map_or("this function".to_string(), |n| format!("`{n}`"));
        let shown: Vec<String> = all
            .iter()
            .map(|list| match list {
                Value::Tuple(values) => {
                    let each: Vec<String> = values.iter().map(|v| self.show(v)).collect();
                    format!("({})", each.join(", "))
                }
                other => self.show(other),
            })
            .collect();
        Fault::wrong(span, format!("no clause of {name} matches {}", shown.concat()))
    }

    /// What a name is worth where it is no function that is called.
    pub(super) fn builtin_value(&mut self, name: &'static str, span: Span) -> Res<Value> {
        Ok(match name {
            "STOP" => Value::Process(self.node(Term::Stop)),
            "SKIP" => Value::Process(self.node(Term::Skip)),
            "DIV" => Value::Process(self.node(Term::Diverges)),
            "True" => Value::Bool(true),
            "False" => Value::Bool(false),
            "Int" => Value::Set(Set::Integers),
            "Bool" => Value::Set(Set::of([Value::Bool(false), Value::Bool(true)])),
            "Char" => Value::Set(Set::Characters),
            "Proc" => Value::Set(Set::Processes),
            "Events" => Value::Set(self.events_set(span)?),
            "emptyMap" => Value::Map(Arc::default()),
            _ => Value::Builtin(name),
        })
    }

    pub(super) fn int(&self, value: &Value, span: Span) -> Res<i64> {
        match sound(value)? {
            Value::Int(n) => Ok(n),
            _ => Fault::wrong(span, "this is no integer"),
        }
    }

    pub(super) fn set_of(&self, value: &Value, span: Span) -> Res<Set> {
        match sound(value)? {
            Value::Set(s) => Ok(s),
            _ => Fault::wrong(span, "this is no set"),
        }
    }
}
