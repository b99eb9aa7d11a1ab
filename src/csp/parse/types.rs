//! Types that are written down: `f :: Eq a => (a, {a}) -> Bool`.

use super::{Parser, Result};
use crate::lex::Kind;
use crate::tree::{Constraint, Scheme, WrittenKind, WrittenType};
use kanon_language::lang::spelling::closest;

const CONSTRAINTS: [(&str, Constraint); 5] = [
    ("Eq", Constraint::Eq),
    ("Ord", Constraint::Ord),
    ("Set", Constraint::Set),
    ("Complete", Constraint::Complete),
    ("Yieldable", Constraint::Yieldable),
];

impl Parser<'_, '_> {
    pub fn scheme(&mut self) -> Result<Scheme> {
        let from = self.span();
        let start = self.at;
        let constraints = match self.constraints() {
            Some(constraints) => constraints?,
            None => {
                self.at = start;
                vec![]
            }
        };
        let ty = self.written()?;
        Ok(Scheme { span: from.to(self.before()), constraints, ty })
    }

    /// What stands before `=>` if it is two names each: `Eq a`, `(Eq a, Ord b)`. Nothing if it is something else.
    fn constraints(&mut self) -> Option<Result<Vec<(Constraint, crate::tree::Ident)>>> {
        let many = self.take("(");
        let mut found = vec![];
        loop {
            // A name on the next line begins another declaration.
            let second =
                self.tokens.get(self.at + 1).is_some_and(|t| matches!(t.kind, Kind::Ident(_)) && !t.first);
            if !(matches!(self.kind(), Kind::Ident(_)) && second) {
                return None;
            }
            let (Ok(class), Ok(name)) = (self.ident("a constraint"), self.ident("a type")) else {
                return None;
            };
            match CONSTRAINTS.iter().find(|(text, _)| *text == &*class.text) {
                Some((_, constraint)) => found.push((*constraint, name)),
                None => {
                    let near = closest(&class.text, CONSTRAINTS.iter().map(|(text, _)| *text));
                    let message = format!("there is no constraint `{}`", class.text);
                    let mut d = kanon_language::lang::diag::Diagnostic::error("C0121", class.span, message);
                    d.help = near.map(|n| format!("did you mean `{n}`?"));
                    return Some(Err(Box::new(d)));
                }
            }
            if !(many && self.take(",")) {
                break;
            }
        }
        if many && !self.take(")") {
            return None;
        }
        self.take("=>").then_some(Ok(found))
    }

    /// `a -> b` binds most loosely, then `=>` and `=>*`, then `.`; all group to the right.
    fn written(&mut self) -> Result<WrittenType> {
        self.deeper(|p| {
            let from = p.span();
            let unit = p.is("(") && matches!(p.tokens.get(p.at + 1).map(|t| &t.kind), Some(Kind::Sign(")")));
            let left = if unit {
                p.at += 2;
                None
            } else {
                Some(p.written_dotable()?)
            };
            if !p.is("->") {
                return match left {
                    Some(left) => Ok(left),
                    None => Err(p.unexpected("`->` behind `()`")),
                };
            }
            p.at += 1;
            let arguments = match left.map(|l| (l.span, l.kind)) {
                None => vec![],
                Some((_, WrittenKind::Tuple(parts))) => parts,
                Some((_, WrittenKind::Paren(inner))) => vec![*inner],
                Some((span, _)) => {
                    return p.error(
                        "C0122",
                        span,
                        "the arguments of a function stand in parentheses: `(a) -> b`",
                    );
                }
            };
            let result = Box::new(p.written()?);
            Ok(WrittenType { span: from.to(p.before()), kind: WrittenKind::Function(arguments, result) })
        })
    }

    fn written_dotable(&mut self) -> Result<WrittenType> {
        let left = self.written_dots()?;
        let span = left.span;
        let kind = if self.take("=>*") {
            let WrittenKind::Name(path) = left.kind else {
                return self.error("C0122", span, "before `=>*` stands the name of a type");
            };
            WrittenKind::Extendable(path, Box::new(self.written_dotable()?))
        } else if self.take("=>") {
            WrittenKind::Dotable(Box::new(left), Box::new(self.written_dotable()?))
        } else {
            return Ok(left);
        };
        Ok(WrittenType { span: span.to(self.before()), kind })
    }

    fn written_dots(&mut self) -> Result<WrittenType> {
        let left = self.written_atom()?;
        if !self.take(".") {
            return Ok(left);
        }
        let span = left.span;
        let right = self.written_dots()?;
        Ok(WrittenType { span: span.to(right.span), kind: WrittenKind::Dot(Box::new(left), Box::new(right)) })
    }

    fn written_atom(&mut self) -> Result<WrittenType> {
        let from = self.span();
        let kind = match self.kind() {
            Kind::Ident(_) => WrittenKind::Name(self.path("a type")?),
            Kind::Sign("{") => {
                self.at += 1;
                let inner = Box::new(self.written()?);
                self.expect("}", "to close a type of sets")?;
                WrittenKind::Set(inner)
            }
            Kind::Sign("<") => {
                self.at += 1;
                let inner = Box::new(self.written()?);
                self.expect(">", "to close a type of sequences")?;
                WrittenKind::Seq(inner)
            }
            Kind::Sign("(|") => {
                self.at += 1;
                let key = Box::new(self.written_dots()?);
                self.expect("=>", "between the types of keys and values")?;
                let value = Box::new(self.written()?);
                self.expect("|)", "to close a type of maps")?;
                WrittenKind::Map(key, value)
            }
            Kind::Sign("(") => {
                self.at += 1;
                let mut parts = self.separated(Self::written)?;
                self.expect(")", "to close a type")?;
                match parts.len() {
                    1 => WrittenKind::Paren(Box::new(parts.remove(0))),
                    _ => WrittenKind::Tuple(parts),
                }
            }
            _ => return Err(self.unexpected("a type")),
        };
        Ok(WrittenType { span: from.to(self.before()), kind })
    }
}
