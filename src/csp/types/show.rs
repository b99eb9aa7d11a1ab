//! Types as they are written.

use super::{Clash, Table, Type, Var};
use crate::tree::Constraint;

/// Names for the variables of one message.
struct Names(Vec<Var>);

impl Names {
    fn of(&mut self, v: Var) -> String {
        let at = self.0.iter().position(|known| *known == v).unwrap_or_else(|| {
            self.0.push(v);
            self.0.len() - 1
        });
        let letter = char::from(b'a' + (at % 26) as u8);
        if at < 26 { letter.to_string() } else { format!("{letter}{}", at / 26) }
    }
}

impl Table {
    /// As one writes it behind `::`.
    pub fn text(&self, t: &Type) -> String {
        self.shown(t, &mut Names(vec![]), 0)
    }

    pub fn clash(&self, clash: &Clash) -> String {
        let mut names = Names(vec![]);
        match clash {
            Clash::Different(a, b) => {
                let a = self.shown(a, &mut names, 0);
                format!("expected `{a}`, found `{}`", self.shown(b, &mut names, 0))
            }
            Clash::Infinite(a, b) => {
                let a = self.shown(a, &mut names, 0);
                format!("`{a}` would have to contain itself: `{}`", self.shown(b, &mut names, 0))
            }
            Clash::Lacks(c, t) => {
                let what = match c {
                    Constraint::Eq => "cannot be compared by `==`",
                    Constraint::Ord => "have no order",
                    Constraint::Set => "cannot be elements of a set",
                    Constraint::Complete => "are not complete: something has to be dotted to them",
                    Constraint::Yieldable => "are neither events nor values of a datatype",
                };
                format!("values of type `{}` {what}", self.shown(t, &mut names, 0))
            }
        }
    }

    /// Parentheses where an operator around it binds more tightly than `level`.
    fn shown(&self, t: &Type, names: &mut Names, level: u8) -> String {
        let (own, text) = match self.look(t) {
            Type::Var(v) => (
                9,
                match &self.state(v).rigid {
                    Some(name) => name.to_string(),
                    None => names.of(v),
                },
            ),
            Type::Int => (9, "Int".to_string()),
            Type::Bool => (9, "Bool".to_string()),
            Type::Char => (9, "Char".to_string()),
            Type::Proc => (9, "Proc".to_string()),
            Type::Event => (9, "Event".to_string()),
            Type::Nothing => (9, "()".to_string()),
            Type::Data(d) => (9, self.data.get(d.0 as usize).map_or("?".to_string(), |n| n.to_string())),
            Type::Seq(t) => (9, format!("<{}>", self.shown(&t, names, 0))),
            Type::Set(t) => (9, format!("{{{}}}", self.shown(&t, names, 0))),
            Type::Map(k, v) => {
                let k = self.shown(&k, names, 2);
                (9, format!("(| {k} => {} |)", self.shown(&v, names, 0)))
            }
            Type::Tuple(parts) => (9, format!("({})", self.listed(&parts, names))),
            Type::Function(a, r) => {
                let a = self.listed(&a, names);
                (0, format!("({a}) -> {}", self.shown(&r, names, 0)))
            }
            Type::Dot(parts) => {
                let parts: Vec<String> = parts.iter().map(|p| self.shown(p, names, 3)).collect();
                (2, parts.join("."))
            }
            Type::Dotable(a, r) => {
                let a = self.shown(&a, names, 2);
                (1, format!("{a} => {}", self.shown(&r, names, 1)))
            }
            Type::Extendable(t, v) => {
                let v = self.shown(&Type::Var(v), names, 2);
                (1, format!("{v} =>* {}", self.shown(&t, names, 1)))
            }
        };
        if own < level { format!("({text})") } else { text }
    }

    fn listed(&self, parts: &[Type], names: &mut Names) -> String {
        parts.iter().map(|p| self.shown(p, names, 0)).collect::<Vec<_>>().join(", ")
    }
}
