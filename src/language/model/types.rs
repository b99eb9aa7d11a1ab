//! B's types: basic, pair, power set, record, freetype. Two types are equal when they are written alike.

use super::SetId;
use std::fmt;
use std::sync::Arc;

#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Type {
    /// Not a value's type: what predicates have.
    Pred,
    Bool,
    Int,
    Str,
    Real,
    Given(SetId),
    Free(FreeType),
    /// Only inside a declaration of freetypes: the one of that number, which is being declared.
    Again(u32),
    Pair(Arc<(Type, Type)>),
    Pow(Arc<Type>),
    /// Fields sorted by name.
    Rec(Arc<[(Arc<str>, Type)]>),
}

/// One of the freetypes of a model. Its values are a constructor and, if that takes one, an argument.
///
/// The type knows its constructors, so that nobody needs the model to look into it. Freetypes may be in each other; then
/// the arguments of their constructors speak of them as [`Type::Again`], and [`FreeType::argument`] puts the types in.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FreeType {
    pub family: Arc<[FreeDef]>,
    pub at: u32,
}

/// What a freetype is made of.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FreeDef {
    pub name: Arc<str>,
    pub cases: Vec<FreeCase>,
    /// Values of it may be in values of it.
    pub is_recursive: bool,
    /// It certainly has infinitely many values.
    pub is_infinite: bool,
    /// What stands for the type parameters of a datatype of Event-B, which is a family by itself; `None` of a freetype.
    pub parameters: Option<Vec<Type>>,
}

/// A constructor.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FreeCase {
    pub name: Arc<str>,
    /// The type of the argument.
    pub argument: Option<Type>,
}

impl FreeType {
    pub fn def(&self) -> &FreeDef {
        &self.family[self.at as usize]
    }

    pub fn name(&self) -> &Arc<str> {
        &self.def().name
    }

    pub fn case(&self, case: u32) -> Option<&FreeCase> {
        self.def().cases.get(case as usize)
    }

    /// The type of a constructor's argument, if it takes one.
    pub fn argument(&self, case: u32) -> Option<Type> {
        self.case(case)?.argument.as_ref().map(|t| self.unfold(t))
    }

    /// The types that stand for a datatype's parameters.
    pub fn parameters(&self) -> &[Type] {
        self.def().parameters.as_deref().unwrap_or_default()
    }

    /// The datatype with other types for its parameters.
    #[must_use]
    pub fn with_parameters(&self, f: &mut dyn FnMut(&Type) -> Type) -> FreeType {
        if self.parameters().is_empty() {
            return self.clone();
        }
        let of = |def: &FreeDef, f: &mut dyn FnMut(&Type) -> Type| {
            let mut case =
                |c: &FreeCase| FreeCase { name: c.name.clone(), argument: c.argument.as_ref().map(&mut *f) };
            let cases: Vec<FreeCase> = def.cases.iter().map(&mut case).collect();
            let is_endless = |c: &FreeCase| c.argument.as_ref().is_some_and(Type::is_infinite);
            let is_infinite = def.is_recursive || cases.iter().any(is_endless);
            let parameters = def.parameters.as_ref().map(|types| types.iter().map(&mut *f).collect());
            FreeDef { name: def.name.clone(), cases, is_infinite, parameters, is_recursive: def.is_recursive }
        };
        FreeType { family: self.family.iter().map(|def| of(def, f)).collect(), at: self.at }
    }

    fn unfold(&self, ty: &Type) -> Type {
        match ty {
            Type::Again(at) => Type::Free(FreeType { family: self.family.clone(), at: *at }),
            Type::Pair(p) => Type::pair(self.unfold(&p.0), self.unfold(&p.1)),
            Type::Pow(t) => self.unfold(t).pow(),
            Type::Rec(fields) => Type::Rec(fields.iter().map(|(n, t)| (n.clone(), self.unfold(t))).collect()),
            other => other.clone(),
        }
    }
}

impl Type {
    pub fn pow(self) -> Type {
        Type::Pow(Arc::new(self))
    }

    pub fn pair(a: Type, b: Type) -> Type {
        Type::Pair(Arc::new((a, b)))
    }

    pub fn rel(a: Type, b: Type) -> Type {
        Type::pair(a, b).pow()
    }

    /// A sequence's type: POW(INTEGER * t).
    pub fn seq(t: Type) -> Type {
        Type::rel(Type::Int, t)
    }

    /// The type of a set's elements.
    pub fn elem(&self) -> Option<&Type> {
        match self {
            Type::Pow(t) => Some(t),
            _ => None,
        }
    }

    pub fn as_pair(&self) -> Option<(&Type, &Type)> {
        match self {
            Type::Pair(p) => Some((&p.0, &p.1)),
            _ => None,
        }
    }

    /// Domain and range type of a relation.
    pub fn as_rel(&self) -> Option<(&Type, &Type)> {
        self.elem().and_then(Type::as_pair)
    }

    pub fn fields(&self) -> Option<&[(Arc<str>, Type)]> {
        match self {
            Type::Rec(f) => Some(f),
            _ => None,
        }
    }

    /// Calls `f` for each given set in it.
    pub fn for_each_set(&self, f: &mut dyn FnMut(SetId)) {
        match self {
            Type::Pred | Type::Bool | Type::Int | Type::Str | Type::Real | Type::Again(_) => {}
            Type::Given(set) => f(*set),
            Type::Free(free) => {
                // Of all members: more sets than needed are said, which costs at most a symmetry.
                let arguments = free.family.iter().flat_map(|d| &d.cases).filter_map(|c| c.argument.as_ref());
                arguments.for_each(|t| t.for_each_set(f));
                free.parameters().iter().for_each(|t| t.for_each_set(f));
            }
            Type::Pair(p) => {
                p.0.for_each_set(f);
                p.1.for_each_set(f);
            }
            Type::Pow(t) => t.for_each_set(f),
            Type::Rec(fields) => fields.iter().for_each(|(_, t)| t.for_each_set(f)),
        }
    }

    /// Whether a real number or a value of a freetype may be in a value of it.
    pub fn has_reals_or_freetypes(&self) -> bool {
        match self {
            Type::Real | Type::Free(_) | Type::Again(_) => true,
            Type::Pred | Type::Bool | Type::Int | Type::Str | Type::Given(_) => false,
            Type::Pair(p) => p.0.has_reals_or_freetypes() || p.1.has_reals_or_freetypes(),
            Type::Pow(t) => t.has_reals_or_freetypes(),
            Type::Rec(fields) => fields.iter().any(|(_, t)| t.has_reals_or_freetypes()),
        }
    }

    /// Whether it certainly has infinitely many values.
    pub fn is_infinite(&self) -> bool {
        match self {
            Type::Int | Type::Str | Type::Real => true,
            Type::Pred | Type::Bool | Type::Given(_) => false,
            Type::Free(free) => free.def().is_infinite,
            // Of a declaration that is not looked at as a whole nothing is certain.
            Type::Again(_) => false,
            Type::Pair(p) => p.0.is_infinite() || p.1.is_infinite(),
            Type::Pow(t) => t.is_infinite(),
            Type::Rec(fields) => fields.iter().any(|(_, t)| t.is_infinite()),
        }
    }

    /// As B text, given the names of the sets.
    pub fn show<'a>(&'a self, set_name: &'a dyn Fn(SetId) -> Arc<str>) -> ShowType<'a> {
        ShowType { ty: self, set_name }
    }
}

pub struct ShowType<'a> {
    ty: &'a Type,
    set_name: &'a dyn Fn(SetId) -> Arc<str>,
}

impl fmt::Display for ShowType<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let show = |t| ShowType { ty: t, set_name: self.set_name };
        match self.ty {
            Type::Pred => f.write_str("predicate"),
            Type::Bool => f.write_str("BOOL"),
            Type::Int => f.write_str("INTEGER"),
            Type::Str => f.write_str("STRING"),
            Type::Real => f.write_str("REAL"),
            Type::Free(free) => {
                f.write_str(free.name())?;
                for (i, t) in free.parameters().iter().enumerate() {
                    write!(f, "{}{}", if i > 0 { ", " } else { "(" }, show(t))?;
                }
                f.write_str(if free.parameters().is_empty() { "" } else { ")" })
            }
            Type::Again(at) => write!(f, "freetype {at}"),
            Type::Given(s) => f.write_str(&(self.set_name)(*s)),
            Type::Pair(p) => write!(f, "({} * {})", show(&p.0), show(&p.1)),
            Type::Pow(t) => write!(f, "POW({})", show(t)),
            Type::Rec(fields) => {
                f.write_str("struct(")?;
                for (i, (name, t)) in fields.iter().enumerate() {
                    write!(f, "{}{}: {}", if i > 0 { ", " } else { "" }, name, show(t))?;
                }
                f.write_str(")")
            }
        }
    }
}
