//! The operators and datatypes of a package's theories, by name.
//!
//! An operator with a direct definition is a macro whose type parameters are whole types, and a datatype with one
//! constructor is a record. Other datatypes, and operators that are given by cases or axioms, are known so that their
//! use can be refused by name; a theory that nobody uses refuses nothing.

use super::shape::{Res, idents, list, malformed};
use super::term::{Kind, Term};
use crate::lang::ast::Name;
use std::collections::HashMap;

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
    /// Known, and not supported: what it is.
    Refused(&'static str),
}

#[derive(Clone, Debug)]
pub struct Operator<'t> {
    pub arguments: Vec<Name>,
    /// The type parameters of its theory.
    pub types: Vec<Name>,
    pub definition: Option<&'t Term>,
    /// The operator of ProB that it is.
    pub tag: Option<Name>,
}

/// All names that theories define.
#[derive(Debug, Default)]
pub struct Theories<'t> {
    all: HashMap<Name, Meaning<'t>>,
}

impl<'t> Theories<'t> {
    pub fn get(&self, name: &str) -> Option<&Meaning<'t>> {
        self.all.get(name)
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
        for datatype in list(datatypes)? {
            self.datatype(datatype)?;
        }
        for operator in list(operators)? {
            let Some(("operator", [op, arguments, _well_defined, definitions, _cases])) = operator.parts()
            else {
                return Err(malformed(operator, "an operator of a theory"));
            };
            let op = name(op)?;
            let definition = match list(definitions)? {
                [definition] => Some(definition),
                _ => None,
            };
            let tag = tag.get(&op).cloned();
            let meaning =
                Operator { arguments: self::arguments(arguments)?, types: types.clone(), definition, tag };
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
                let (op, arguments) = (name(op)?, self::arguments(arguments)?);
                let tag = tag.get(&op).cloned();
                let meaning = Operator { arguments, types: types.clone(), definition: None, tag };
                self.all.insert(op, Meaning::Operator(meaning));
            }
        }
        Ok(())
    }

    fn datatype(&mut self, datatype: &'t Term) -> Res<()> {
        let Some(("datatype", [of, types, constructors])) = datatype.parts() else {
            return Err(malformed(datatype, "a datatype of a theory"));
        };
        let (of, types) = (name(of)?, idents(types)?.into_iter().map(|t| t.name).collect());
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
        for (make, fields) in constructors {
            let field = |(field, _)| (field, Meaning::Refused("a destructor of a datatype"));
            self.all.extend(fields.into_iter().map(field));
            self.all.insert(make, Meaning::Refused("a constructor of a datatype"));
        }
        self.all.insert(of, Meaning::Refused("a datatype"));
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
fn mentions(term: &Term, name: &str) -> bool {
    match &term.kind {
        Kind::Atom(a) => &**a == name,
        Kind::Compound(_, parts) | Kind::List(parts) => parts.iter().any(|t| mentions(t, name)),
        _ => false,
    }
}

fn arguments(term: &Term) -> Res<Vec<Name>> {
    let one = |t: &Term| match t.parts() {
        Some(("argument", [of, _type])) => name(of),
        _ => Err(malformed(t, "an argument of an operator")),
    };
    list(term)?.iter().map(one).collect()
}

fn name(term: &Term) -> Res<Name> {
    match &term.kind {
        Kind::Atom(name) => Ok(name.clone()),
        _ => Err(malformed(term, "a name")),
    }
}
