//! Z's types, and what is found out about them.

use crate::lang::ast::Name;

/// A type. Schema types have their components sorted by name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ty {
    Unknown(usize),
    Int,
    /// A given set or a free type.
    Given(Name),
    /// The parameter of a generic definition while that is looked at by itself.
    Parameter(Name),
    Tuple(Vec<Ty>),
    Power(Box<Ty>),
    Schema(Vec<(Name, Ty)>),
}

impl Ty {
    pub fn power(self) -> Ty {
        Ty::Power(Box::new(self))
    }

    pub fn rel(a: Ty, b: Ty) -> Ty {
        Ty::Tuple(vec![a, b]).power()
    }

    pub fn seq(of: Ty) -> Ty {
        Ty::rel(Ty::Int, of)
    }

    pub fn bag(of: Ty) -> Ty {
        Ty::rel(of, Ty::Int)
    }
}

/// Types larger than this are not looked at: a text of some lines can write them.
const LARGEST: usize = 20_000;

/// What unknown types are.
#[derive(Debug, Default)]
pub struct Unifier {
    known: Vec<Option<Ty>>,
}

impl Unifier {
    pub fn fresh(&mut self) -> Ty {
        self.known.push(None);
        Ty::Unknown(self.known.len() - 1)
    }

    /// As far as its outermost part is known.
    pub fn shallow(&self, ty: &Ty) -> Ty {
        let mut ty = ty;
        while let Ty::Unknown(i) = ty {
            match self.known.get(*i) {
                Some(Some(known)) => ty = known,
                _ => break,
            }
        }
        ty.clone()
    }

    /// All that is known of it; `None` where it is too large.
    pub fn deep(&self, ty: &Ty) -> Option<Ty> {
        let mut left = LARGEST;
        self.resolved(ty, &mut left)
    }

    fn resolved(&self, ty: &Ty, left: &mut usize) -> Option<Ty> {
        *left = left.checked_sub(1)?;
        Some(match ty {
            Ty::Unknown(i) => match self.known.get(*i) {
                Some(Some(known)) => self.resolved(known, left)?,
                _ => ty.clone(),
            },
            Ty::Tuple(parts) => {
                Ty::Tuple(parts.iter().map(|t| self.resolved(t, left)).collect::<Option<_>>()?)
            }
            Ty::Power(of) => self.resolved(of, left)?.power(),
            Ty::Schema(fields) => {
                let field = |(n, t): &(Name, Ty)| Some((n.clone(), self.resolved(t, left)?));
                Ty::Schema(fields.iter().map(field).collect::<Option<_>>()?)
            }
            other => other.clone(),
        })
    }

    /// Makes two types equal; false if they cannot be.
    pub fn unify(&mut self, a: &Ty, b: &Ty) -> bool {
        // Each is as a whole, so that no type is in itself.
        let (Some(a), Some(b)) = (self.deep(a), self.deep(b)) else { return false };
        self.equal(&a, &b)
    }

    fn equal(&mut self, a: &Ty, b: &Ty) -> bool {
        match (self.shallow(a), self.shallow(b)) {
            (Ty::Unknown(i), Ty::Unknown(j)) if i == j => true,
            (Ty::Unknown(i), other) | (other, Ty::Unknown(i)) => {
                let Some(other) = self.deep(&other) else { return false };
                if occurs(i, &other) {
                    return false;
                }
                self.known[i] = Some(other);
                true
            }
            (Ty::Tuple(a), Ty::Tuple(b)) => {
                a.len() == b.len() && a.iter().zip(&b).all(|(a, b)| self.equal(a, b))
            }
            (Ty::Power(a), Ty::Power(b)) => self.equal(&a, &b),
            (Ty::Schema(a), Ty::Schema(b)) => {
                a.len() == b.len() && a.iter().zip(&b).all(|((m, a), (n, b))| m == n && self.equal(a, b))
            }
            (a, b) => a == b,
        }
    }

    /// For messages.
    pub fn show(&self, ty: &Ty) -> String {
        let mut out = String::new();
        self.write(ty, false, &mut out);
        out
    }

    fn write(&self, ty: &Ty, is_part: bool, out: &mut String) {
        if out.len() > 200 {
            // What a person does not read.
            if !out.ends_with('…') {
                out.push('…');
            }
            return;
        }
        match self.shallow(ty) {
            Ty::Unknown(_) => out.push('?'),
            Ty::Int => out.push('ℤ'),
            Ty::Given(name) | Ty::Parameter(name) => out.push_str(&name),
            Ty::Tuple(parts) => {
                if is_part {
                    out.push('(');
                }
                for (i, part) in parts.iter().enumerate() {
                    if i > 0 {
                        out.push_str(" × ");
                    }
                    self.write(part, true, out);
                }
                if is_part {
                    out.push(')');
                }
            }
            Ty::Power(of) => {
                out.push('ℙ');
                if !matches!(self.shallow(&of), Ty::Tuple(_) | Ty::Schema(_)) {
                    out.push(' ');
                }
                self.write(&of, true, out);
            }
            Ty::Schema(fields) => {
                out.push('[');
                for (i, (name, ty)) in fields.iter().enumerate() {
                    if i > 0 {
                        out.push_str("; ");
                    }
                    out.push_str(name);
                    out.push_str(" : ");
                    self.write(ty, false, out);
                }
                out.push(']');
            }
        }
    }
}

fn occurs(i: usize, ty: &Ty) -> bool {
    match ty {
        Ty::Unknown(j) => i == *j,
        Ty::Tuple(parts) => parts.iter().any(|t| occurs(i, t)),
        Ty::Power(of) => occurs(i, of),
        Ty::Schema(fields) => fields.iter().any(|(_, t)| occurs(i, t)),
        _ => false,
    }
}

/// The type with others for the parameters.
pub fn substituted(ty: &Ty, pairs: &[(Name, Ty)]) -> Ty {
    match ty {
        Ty::Parameter(name) => {
            pairs.iter().find(|(n, _)| n == name).map_or_else(|| ty.clone(), |(_, t)| t.clone())
        }
        Ty::Tuple(parts) => Ty::Tuple(parts.iter().map(|t| substituted(t, pairs)).collect()),
        Ty::Power(of) => substituted(of, pairs).power(),
        Ty::Schema(fields) => {
            Ty::Schema(fields.iter().map(|(n, t)| (n.clone(), substituted(t, pairs))).collect())
        }
        other => other.clone(),
    }
}
