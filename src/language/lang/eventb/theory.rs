//! The operators and datatypes of a package's theories, by name.
//!
//! An operator with a direct definition is a macro whose type parameters are whole types. A datatype with one
//! constructor, which does not need itself, is a record; the others are freetypes with type parameters, and operators are
//! defined on them case by case ([`super::cases`]). Operators that are given by axioms are known so that their use can
//! be refused by name; a theory that nobody uses refuses nothing.

use super::shape::{Res, idents, list, malformed};
use super::term::{Kind, Term};
use crate::lang::ast::{Expr, Ident, Name};
use crate::lang::diag::Span;
use std::collections::{HashMap, HashSet};

/// What a name of a theory stands for.
#[derive(Clone, Debug)]
pub enum Meaning<'t> {
    Operator(Operator<'t>),
    /// A datatype with one constructor, as records: its type parameters, its fields and their types.
    Record(Vec<Name>, Vec<(Name, &'t Term)>),
    /// Its constructor, by the fields.
    Make(Vec<Name>),
    /// One of its destructors.
    Field,
    /// A datatype with several constructors, by its place in [`Theories::datatypes`].
    Datatype(usize),
    /// One of its constructors.
    Constructor(usize, usize),
    /// One of its destructors: the datatype, the constructor, and the place in its arguments.
    Destructor(usize, usize, usize),
}

/// A datatype with several constructors.
#[derive(Clone, Debug)]
pub struct Datatype<'t> {
    pub name: Ident,
    pub types: Vec<Name>,
    pub constructors: Vec<Constructor<'t>>,
}

#[derive(Clone, Debug)]
pub struct Constructor<'t> {
    pub name: Ident,
    /// Destructors and the types of the arguments.
    pub fields: Vec<(Name, &'t Term)>,
}

impl Datatype<'_> {
    /// Whether its values are made of others.
    pub fn is_recursive(&self) -> bool {
        let mut types = self.constructors.iter().flat_map(|c| &c.fields).map(|(_, ty)| ty);
        types.any(|ty| mentions(ty, &self.name.name))
    }
}

#[derive(Clone, Debug)]
pub struct Operator<'t> {
    pub arguments: Vec<Name>,
    /// The type parameters of its theory.
    pub types: Vec<Name>,
    pub definition: Option<&'t Term>,
    /// The types of the arguments.
    pub sets: Vec<&'t Term>,
    /// What it is for each constructor of one of its arguments.
    pub cases: Vec<Case<'t>>,
    /// The datatypes of its theory.
    pub near: std::ops::Range<usize>,
    /// The operator of ProB that it is.
    pub tag: Option<Name>,
}

/// `case(Argument, Names, Constructor(Names), Value)` in the definition of an operator.
#[derive(Clone, Debug)]
pub struct Case<'t> {
    pub argument: Name,
    pub constructor: Name,
    pub names: Vec<Name>,
    pub value: &'t Term,
    pub span: Span,
}

/// All names that theories define.
#[derive(Debug, Default)]
pub struct Theories<'t> {
    all: HashMap<Name, Meaning<'t>>,
    pub datatypes: Vec<Datatype<'t>>,
}

/// What formulas use of theories beyond macros.
#[derive(Debug, Default)]
pub struct Used {
    /// Names of carrier sets.
    pub sets: HashSet<Name>,
    pub constants: HashSet<Name>,
    /// By their places in [`Theories::datatypes`].
    pub datatypes: Vec<usize>,
    /// Constants that stand for recursive operators, and what they are.
    pub definitions: Vec<(Ident, Expr)>,
    /// Operators and datatypes inside of their own definitions, and the constants that they are there.
    pub defining: Vec<(Name, Name)>,
    /// Those that have one type only.
    pub known: HashMap<Name, Name>,
}

impl<'t> Theories<'t> {
    pub fn get(&self, name: &str) -> Option<&Meaning<'t>> {
        self.all.get(name)
    }

    /// The datatype and the place of a constructor.
    pub fn constructor(&self, name: &str) -> Option<(usize, usize)> {
        match self.get(name)? {
            Meaning::Constructor(at, i) => Some((*at, *i)),
            _ => None,
        }
    }

    /// Adds `theory(Name, Imports, Types, Datatypes, Operators, Axiomatic, Tags)`, or the older
    /// `theory(Types, Datatypes, Operators)`.
    pub fn add(&mut self, theory: &'t Term) -> Res<()> {
        let (types, datatypes, operators, axiomatic, tags) = match theory.parts() {
            Some((_, [_, _, types, datatypes, operators, axiomatic, tags])) => {
                (types, datatypes, operators, list(axiomatic)?, list(tags)?)
            }
            Some((_, [types, datatypes, operators])) => (types, datatypes, operators, &[][..], &[][..]),
            _ => return Err(malformed(theory, "a theory")),
        };
        let types = list(types)?.iter().map(name).collect::<Res<Vec<_>>>()?;
        let mut tag = HashMap::new();
        for t in tags {
            if let Some(("tag", [op, is])) = t.parts() {
                tag.insert(name(op)?, name(is)?);
            }
        }
        let first = self.datatypes.len();
        for datatype in list(datatypes)? {
            self.datatype(datatype)?;
        }
        let near = first..self.datatypes.len();
        for operator in list(operators)? {
            let Some(("operator", [op, arguments, _well_defined, definitions, cases])) = operator.parts()
            else {
                return Err(malformed(operator, "an operator of a theory"));
            };
            let op = name(op)?;
            let definition = match list(definitions)? {
                [definition] => Some(definition),
                _ => None,
            };
            let tag = tag.get(&op).cloned();
            let cases = list(cases)?.iter().map(case).collect::<Res<Vec<_>>>()?;
            let (arguments, sets) = self::arguments(arguments)?;
            let (types, near) = (types.clone(), near.clone());
            let meaning = Operator { arguments, sets, types, definition, cases, near, tag };
            self.all.insert(op, Meaning::Operator(meaning));
        }
        for block in axiomatic {
            let Some(("axiomatic_def_block", [_, _, operators, _axioms])) = block.parts() else {
                return Err(malformed(block, "an axiomatic definition of a theory"));
            };
            for operator in list(operators)? {
                let Some(("opdef", [op, arguments, _])) = operator.parts() else {
                    return Err(malformed(operator, "an operator of a theory"));
                };
                let (op, (arguments, sets)) = (name(op)?, self::arguments(arguments)?);
                let tag = tag.get(&op).cloned();
                let (types, near, definition, cases) = (types.clone(), near.clone(), None, vec![]);
                let meaning = Operator { arguments, sets, types, definition, cases, near, tag };
                self.all.insert(op, Meaning::Operator(meaning));
            }
        }
        Ok(())
    }

    fn datatype(&mut self, datatype: &'t Term) -> Res<()> {
        let Some(("datatype", [of, types, constructors])) = datatype.parts() else {
            return Err(malformed(datatype, "a datatype of a theory"));
        };
        let (place, of) = (of.span, name(of)?);
        let types = idents(types)?.into_iter().map(|t| t.name).collect();
        let constructors = list(constructors)?.iter().map(constructor).collect::<Res<Vec<_>>>()?;
        if let [(make, fields)] = &constructors[..]
            && !fields.is_empty()
            && fields.iter().all(|(_, ty)| !mentions(ty, &of))
        {
            let names = fields.iter().map(|(field, _)| field.clone()).collect();
            self.all.extend(fields.iter().map(|(field, _)| (field.clone(), Meaning::Field)));
            self.all.insert(make.clone(), Meaning::Make(names));
            self.all.insert(of, Meaning::Record(types, fields.clone()));
            return Ok(());
        }
        let at = self.datatypes.len();
        for (i, (make, fields)) in constructors.iter().enumerate() {
            let field = |(j, (name, _)): (usize, &(Name, _))| (name.clone(), Meaning::Destructor(at, i, j));
            self.all.extend(fields.iter().enumerate().map(field));
            self.all.insert(make.clone(), Meaning::Constructor(at, i));
        }
        self.all.insert(of.clone(), Meaning::Datatype(at));
        let ident = |name| Ident { name, span: place };
        let constructors =
            constructors.into_iter().map(|(make, fields)| Constructor { name: ident(make), fields });
        self.datatypes.push(Datatype { name: ident(of), types, constructors: constructors.collect() });
        Ok(())
    }
}

/// Its name, and its fields with their types.
fn constructor(term: &Term) -> Res<(Name, Vec<(Name, &Term)>)> {
    let Some(("constructor", [of, destructors])) = term.parts() else {
        return Err(malformed(term, "a constructor of a datatype"));
    };
    let destructor = |t: &'_ Term| match t.parts() {
        Some(("destructor", [of, _])) => name(of),
        _ => Err(malformed(t, "a destructor of a datatype")),
    };
    let mut fields = vec![];
    for t in list(destructors)? {
        let field = destructor(t)?;
        // It has just been seen to have two arguments.
        if let Some((_, [_, ty])) = t.parts() {
            fields.push((field, ty));
        }
    }
    Ok((name(of)?, fields))
}

/// Whether a name occurs in a term.
pub fn mentions(term: &Term, name: &str) -> bool {
    match &term.kind {
        Kind::Atom(a) => &**a == name,
        Kind::Compound(_, parts) | Kind::List(parts) => parts.iter().any(|t| mentions(t, name)),
        _ => false,
    }
}

/// Their names and types.
fn arguments(term: &Term) -> Res<(Vec<Name>, Vec<&Term>)> {
    let (mut names, mut types) = (vec![], vec![]);
    for t in list(term)? {
        let Some(("argument", [of, ty])) = t.parts() else {
            return Err(malformed(t, "an argument of an operator"));
        };
        names.push(name(of)?);
        types.push(ty);
    }
    Ok((names, types))
}

fn case(term: &Term) -> Res<Case<'_>> {
    let Some(("case", [argument, _names, pattern, value])) = term.parts() else {
        return Err(malformed(term, "a case of an operator"));
    };
    let (constructor, parts) = match pattern.parts() {
        Some(("extended_expr", [_, constructor, parts, _])) => (constructor, parts),
        // With its type.
        Some(("typeof", [_, pattern, _])) => match pattern.parts() {
            Some(("extended_expr", [_, constructor, parts, _])) => (constructor, parts),
            _ => return Err(malformed(pattern, "a constructor with names")),
        },
        _ => return Err(malformed(pattern, "a constructor with names")),
    };
    let names = idents(parts)?.into_iter().map(|id| id.name).collect();
    let (argument, constructor) = (name(argument)?, name(constructor)?);
    Ok(Case { argument, constructor, names, value, span: term.span })
}

fn name(term: &Term) -> Res<Name> {
    match &term.kind {
        Kind::Atom(name) => Ok(name.clone()),
        _ => Err(malformed(term, "a name")),
    }
}
