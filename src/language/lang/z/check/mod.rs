//! Names and types of Z, and its constructs as trees of [`crate::lang::ast`]: paragraphs become given sets, free types,
//! constants with what is said of them, and schemas.
//!
//! Names that are bound get a number (`x·3`), which no name of a text has: so nothing is ever captured, whatever is
//! put in place of a name. [`super::pretty`] takes the numbers off again where they are not needed.

mod generic;
mod ops;
mod preds;
mod schema;
mod values;

pub use schema::{Component, Schema};

use super::make;
use super::tree::{self, Decl, Paragraph, ParagraphKind, Text, strokes};
use super::types::{Ty, Unifier};
use crate::lang::ast::{self, BinOp, FreeDecl, Ident, Lit, Name, SetDecl};
use crate::lang::diag::{Diagnostic, Span};
use crate::lang::spelling::closest;
use generic::{Generic, Site};
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

/// A mistake was found, and a message says which.
#[derive(Debug)]
pub(super) struct Failed;

pub(super) type Res<T> = Result<T, Failed>;

/// An expression with its type.
#[derive(Clone, Debug)]
pub(super) struct Value {
    pub ty: Ty,
    pub e: ast::Expr,
}

/// What a name that is declared by a paragraph is.
#[derive(Clone, Debug)]
enum Global {
    /// A set that is a type.
    Given,
    /// A constructor or constant of a free type, an axiomatic constant.
    Constant(Ty),
    /// An abbreviation.
    Value(Rc<Value>),
    /// The name is declared by the generic definition of that number.
    Generic(usize, Ty),
    GenericValue(Rc<(Vec<Ident>, tree::Expr)>),
    Schema(Rc<Schema>),
    GenericSchema(Rc<(Vec<Ident>, tree::Expr)>),
    /// There is an error in its definition.
    Broken,
}

#[derive(Clone, Debug)]
struct Local {
    ty: Ty,
    e: ast::Expr,
}

/// A schema that a paragraph defines.
#[derive(Debug)]
pub struct Defined {
    pub name: Ident,
    pub schema: Rc<Schema>,
}

/// What paragraphs say.
#[derive(Debug, Default)]
pub struct Paragraphs {
    pub sets: Vec<SetDecl>,
    pub free: Vec<FreeDecl>,
    pub constants: Vec<Ident>,
    pub properties: Vec<ast::Expr>,
    pub conjectures: Vec<ast::Expr>,
    /// Schemas without parameters, in the order of the text.
    pub schemas: Vec<Defined>,
    /// Names of schemas that other schemas speak of.
    pub used: HashSet<Name>,
    pub diagnostics: Vec<Diagnostic>,
}

/// Trees of more nodes are not built: a text of some lines can write them.
const LARGEST: usize = 500_000;
/// So many messages are enough.
const MAX_ERRORS: usize = 50;

/// Looks at all paragraphs.
pub fn check(paragraphs: &[Paragraph]) -> Paragraphs {
    let mut checker = Checker::default();
    for p in paragraphs {
        if checker.found.diagnostics.len() > MAX_ERRORS {
            break;
        }
        checker.paragraph(p);
    }
    checker.found
}

#[derive(Default)]
struct Checker {
    uni: Unifier,
    globals: HashMap<Name, Global>,
    places: HashMap<Name, Span>,
    scope: Vec<(Name, Local)>,
    generics: Vec<Generic>,
    sites: Vec<Site>,
    /// Instances of generic definitions that are still to be made.
    waiting: Vec<generic::Instance>,
    instances: usize,
    numbers: usize,
    nodes: usize,
    found: Paragraphs,
}

impl Checker {
    fn fail<T>(&mut self, code: &'static str, span: Span, message: impl Into<String>) -> Res<T> {
        self.found.diagnostics.push(Diagnostic::error(code, span, message));
        Err(Failed)
    }

    fn unsupported<T>(&mut self, span: Span, what: &str) -> Res<T> {
        self.fail("B0401", span, format!("{what} is not supported"))
    }

    /// Makes a name that nothing else has.
    fn fresh(&mut self, base: &str) -> Name {
        self.numbers += 1;
        let base = base.split('·').next().unwrap_or(base);
        format!("{base}·{}", self.numbers).into()
    }

    fn unify(&mut self, a: &Ty, b: &Ty, span: Span) -> Res<()> {
        if self.uni.unify(a, b) {
            return Ok(());
        }
        let (found, wanted) = (self.uni.show(a), self.uni.show(b));
        self.fail("B0203", span, format!("type mismatch: expected {wanted}, found {found}"))
    }

    /// Takes account of a copy.
    fn spend(&mut self, nodes: usize, span: Span) -> Res<()> {
        self.nodes += nodes;
        if self.nodes > LARGEST {
            return self.fail("B0401", span, "with all definitions put in, this is too large");
        }
        Ok(())
    }

    // ---- paragraphs ----

    fn paragraph(&mut self, p: &Paragraph) {
        self.scope.clear();
        if self.of_kind(p).is_err() {
            let mut broken: Vec<&Ident> = vec![];
            match &p.kind {
                ParagraphKind::Given(names) => broken.extend(names),
                ParagraphKind::Schema(name, ..) | ParagraphKind::Define(name, ..) => broken.push(name),
                ParagraphKind::Free(name, cases) => {
                    broken.push(name);
                    broken.extend(cases.iter().map(|(case, _)| case));
                }
                ParagraphKind::Axiom(_, text) => {
                    for d in &text.decls {
                        match d {
                            Decl::Names(names, _) => broken.extend(names),
                            Decl::Value(name, _) => broken.push(name),
                            Decl::Schema(_) => {}
                        }
                    }
                }
                ParagraphKind::Predicate(_) | ParagraphKind::Conjecture(_) => {}
            }
            for id in broken {
                self.globals.entry(id.name.clone()).or_insert(Global::Broken);
            }
        }
        self.scope.clear();
        // Failed instances have been reported.
        let _ = self.make_instances();
    }

    fn declare(&mut self, id: &Ident, global: Global) -> Res<()> {
        if let Some(first) = self.places.get(&id.name) {
            let message = format!("`{}` is declared twice", id.name);
            let diag = Diagnostic::error("B0202", id.span, message).note(*first, "first declared here");
            self.found.diagnostics.push(diag);
            return Err(Failed);
        }
        self.places.insert(id.name.clone(), id.span);
        self.globals.insert(id.name.clone(), global);
        Ok(())
    }

    /// A name of a set, constant or schema has no strokes, which say what a component is for.
    fn without_strokes(&mut self, id: &Ident) -> Res<()> {
        if strokes(&id.name).1.contains(['\'', '?', '!']) {
            let message = format!("`{}` is declared with a stroke outside of a schema", id.name);
            return self.fail("B0202", id.span, message);
        }
        Ok(())
    }

    fn of_kind(&mut self, p: &Paragraph) -> Res<()> {
        match &p.kind {
            ParagraphKind::Given(names) => {
                for id in names {
                    self.without_strokes(id)?;
                    self.declare(id, Global::Given)?;
                    self.found.sets.push(SetDecl { name: id.clone(), elements: None });
                }
                Ok(())
            }
            ParagraphKind::Free(name, cases) => self.free(name, cases),
            ParagraphKind::Axiom(parameters, text) if parameters.is_empty() => self.axiom(text, p.span),
            ParagraphKind::Axiom(parameters, text) => self.generic_axiom(parameters, text, p.span),
            ParagraphKind::Schema(name, parameters, text) => {
                let e = tree::Expr { kind: tree::Kind::Text(text.clone()), span: p.span };
                self.define_schema(name, parameters, &e)
            }
            ParagraphKind::Define(name, parameters, e) => {
                self.without_strokes(name)?;
                if self.is_schema(e) {
                    return self.define_schema(name, parameters, e);
                }
                if !parameters.is_empty() {
                    let before = self.sites.len();
                    let bound = self.rigid(parameters);
                    self.scope = bound;
                    self.value(e)?;
                    self.sites.truncate(before);
                    let global = Global::GenericValue(Rc::new((parameters.clone(), e.clone())));
                    return self.declare(name, global);
                }
                let mut v = self.value(e)?;
                self.settle(&mut v.e)?;
                v.ty = self.known(&v.ty, e.span)?;
                self.declare(name, Global::Value(Rc::new(v)))
            }
            ParagraphKind::Predicate(e) => {
                let mut p = self.pred(e)?;
                self.settle(&mut p)?;
                self.found.properties.push(p);
                Ok(())
            }
            ParagraphKind::Conjecture(e) => {
                let mut p = self.pred(e)?;
                self.settle(&mut p)?;
                self.found.conjectures.push(p);
                Ok(())
            }
        }
    }

    fn free(&mut self, name: &Ident, cases: &[(Ident, Option<tree::Expr>)]) -> Res<()> {
        self.without_strokes(name)?;
        self.declare(name, Global::Given)?;
        let of = Ty::Given(name.name.clone());
        let mut declared = vec![];
        for (case, argument) in cases {
            self.without_strokes(case)?;
            let (mut ty, mut set) = (of.clone(), None);
            if let Some(argument) = argument {
                let mut v = self.value(argument)?;
                let element = self.element(&v, argument.span)?;
                self.settle(&mut v.e)?;
                ty = Ty::rel(self.known(&element, argument.span)?, of.clone());
                set = Some(v.e);
            }
            declared.push((case.clone(), set));
            self.declare(case, Global::Constant(ty))?;
        }
        if declared.iter().all(|(_, set)| set.is_none()) {
            let elements = Some(declared.into_iter().map(|(case, _)| case).collect());
            self.found.sets.push(SetDecl { name: name.clone(), elements });
        } else {
            self.found.free.push(FreeDecl { name: name.clone(), parameters: None, cases: declared });
        }
        Ok(())
    }

    fn axiom(&mut self, text: &Text, span: Span) -> Res<()> {
        let schema = self.open(text)?.schema;
        let ids: Vec<(Ident, Ty)> = schema
            .components
            .iter()
            .map(|c| (Ident { name: c.name.clone(), span: c.span }, c.ty.clone()))
            .collect();
        let mut conjuncts = schema.conjuncts;
        // From here on the names are those of constants.
        let names = schema.components.iter().map(|c| (c.var.clone(), make::name(&c.name, span)));
        let names: HashMap<Name, ast::Expr> = names.collect();
        for p in &mut conjuncts {
            make::substitute(p, &names);
            self.settle(p)?;
        }
        for (id, ty) in ids {
            self.without_strokes(&id)?;
            let ty = self.known(&ty, id.span)?;
            self.declare(&id, Global::Constant(ty))?;
            self.found.constants.push(id);
        }
        self.found.properties.append(&mut conjuncts);
        Ok(())
    }

    fn define_schema(&mut self, name: &Ident, parameters: &[Ident], e: &tree::Expr) -> Res<()> {
        self.without_strokes(name)?;
        self.uses_of(e);
        if !parameters.is_empty() {
            let before = self.sites.len();
            self.scope = self.rigid(parameters);
            self.schema(e)?;
            self.sites.truncate(before);
            let global = Global::GenericSchema(Rc::new((parameters.to_vec(), e.clone())));
            return self.declare(name, global);
        }
        let mut schema = self.schema(e)?;
        for p in &mut schema.conjuncts {
            self.settle(p)?;
        }
        for c in &mut schema.components {
            c.ty = self.known(&c.ty, c.span)?;
        }
        let schema = Rc::new(schema);
        self.declare(name, Global::Schema(schema.clone()))?;
        self.found.schemas.push(Defined { name: name.clone(), schema });
        Ok(())
    }

    // ---- declarations ----

    fn local(&self, name: &str) -> Option<&Local> {
        self.scope.iter().rev().find(|(n, _)| **n == *name).map(|(_, l)| l)
    }

    /// Opens a text: its names are in scope until somebody takes them out of it again.
    fn open(&mut self, text: &Text) -> Res<Opened> {
        let mut schema = Schema::default();
        let mut parts = vec![];
        for d in &text.decls {
            match d {
                Decl::Names(names, set) => {
                    let v = self.value(set)?;
                    let ty = self.element(&v, set.span)?;
                    for id in names {
                        let var = self.component(&mut schema, &id.name, &ty, id.span)?;
                        self.spend(make::size(&v.e), set.span)?;
                        let x = make::name(&var, id.span);
                        schema.conjuncts.push(make::bin(BinOp::In, x, v.e.clone(), id.span.to(set.span)));
                        parts.push(Part::Name(id.name.clone()));
                    }
                }
                Decl::Value(id, e) => {
                    let v = self.value(e)?;
                    let var = self.component(&mut schema, &id.name, &v.ty, id.span)?;
                    let x = make::name(&var, id.span);
                    schema.conjuncts.push(make::bin(BinOp::Eq, x, v.e, id.span.to(e.span)));
                    parts.push(Part::Name(id.name.clone()));
                }
                Decl::Schema(e) => {
                    if !self.is_schema(e) {
                        // A value says better what is wrong.
                        self.value(e)?;
                        let help = "a declaration is written `x : S`, or is the name of a schema";
                        let message = "expected a declaration, found an expression that is no schema";
                        let diag = Diagnostic::error("B0203", e.span, message).help(help);
                        self.found.diagnostics.push(diag);
                        return Err(Failed);
                    }
                    let other = self.schema(e)?;
                    parts.push(Part::Binding(other.components.iter().map(|c| c.name.clone()).collect()));
                    schema = self.joined(schema, other, e.span)?;
                }
            }
        }
        let depth = self.scope.len();
        for c in &schema.components {
            let local = Local { ty: c.ty.clone(), e: make::name(&c.var, c.span) };
            self.scope.push((c.name.clone(), local));
        }
        for p in &text.preds {
            let p = self.pred(p)?;
            schema.conjuncts.push(p);
        }
        Ok(Opened { schema, parts, depth })
    }

    /// Adds a component, or finds the one of that name; its variable.
    fn component(&mut self, schema: &mut Schema, name: &Name, ty: &Ty, span: Span) -> Res<Name> {
        if let Some(c) = schema.components.iter().find(|c| c.name == *name) {
            let (var, other) = (c.var.clone(), c.ty.clone());
            self.unify(ty, &other, span)?;
            return Ok(var);
        }
        let var = self.fresh(name);
        schema.components.push(Component { name: name.clone(), var: var.clone(), ty: ty.clone(), span });
        Ok(var)
    }

    /// The type of a set's elements.
    fn element(&mut self, set: &Value, span: Span) -> Res<Ty> {
        let element = self.uni.fresh();
        if self.uni.unify(&set.ty, &element.clone().power()) {
            return Ok(element);
        }
        let found = self.uni.show(&set.ty);
        self.fail("B0203", span, format!("expected a set, found {found}"))
    }

    /// A type that nothing is open in.
    fn known(&mut self, ty: &Ty, span: Span) -> Res<Ty> {
        let Some(ty) = self.uni.deep(ty) else { return self.fail("B0401", span, "this type is too large") };
        if generic::is_open(&ty) {
            let shown = self.uni.show(&ty);
            let message = format!("cannot infer the type: it is known to be {shown} only");
            let diag = Diagnostic::error("B0204", span, message);
            self.found.diagnostics.push(diag.help("say of which type it is: `∅[T]`, or by a declaration"));
            return Err(Failed);
        }
        Ok(ty)
    }

    fn unknown_name<T>(&mut self, name: &Name, span: Span) -> Res<T> {
        let mut diag = Diagnostic::error("B0201", span, format!("unknown identifier `{name}`"));
        let locals = self.scope.iter().map(|(n, _)| &**n);
        let all = self.globals.keys().map(|n| &**n).chain(locals).chain(ops::FUNCTIONS);
        if let Some(near) = closest(name, all) {
            diag = diag.help(format!("did you mean `{near}`?"));
        }
        self.found.diagnostics.push(diag);
        Err(Failed)
    }

    /// Notes the schemas that a schema speaks of.
    fn uses_of(&mut self, e: &tree::Expr) {
        let mut names = vec![];
        super::walk::names(e, &mut |n| names.push(n.clone()));
        for n in names {
            if let Some(base) = self.schema_named(&n).map(|n| n.base) {
                self.found.used.insert(base);
            }
        }
    }
}

/// A text whose names are in scope.
struct Opened {
    schema: Schema,
    parts: Vec<Part>,
    /// How much was in scope before.
    depth: usize,
}

/// What a characteristic tuple is made of.
enum Part {
    Name(Name),
    Binding(Vec<Name>),
}

impl Opened {
    fn ids(&self) -> Vec<Ident> {
        self.schema.components.iter().map(|c| Ident { name: c.var.clone(), span: c.span }).collect()
    }

    /// Whether the tuple is that of the variables.
    fn is_plain(&self) -> bool {
        let is = |(p, c): (&Part, &Component)| matches!(p, Part::Name(n) if *n == c.name);
        self.parts.len() == self.schema.components.len()
            && self.parts.iter().zip(&self.schema.components).all(is)
    }

    /// The characteristic tuple.
    fn tuple(&self, span: Span) -> Value {
        let of = |n: &Name| {
            let c = self.schema.components.iter().find(|c| c.name == *n);
            c.map_or_else(
                || Value { ty: Ty::Int, e: make::lit(Lit::EmptySet, span) },
                |c| Value { ty: c.ty.clone(), e: make::name(&c.var, span) },
            )
        };
        let mut values: Vec<Value> = self
            .parts
            .iter()
            .map(|p| match p {
                Part::Name(n) => of(n),
                Part::Binding(names) => {
                    schema::binding(names.iter().map(|n| (n.clone(), of(n))).collect(), span)
                }
            })
            .collect();
        if values.len() == 1
            && let Some(only) = values.pop()
        {
            return only;
        }
        let (types, parts) = values.into_iter().map(|v| (v.ty, v.e)).unzip();
        Value { ty: Ty::Tuple(types), e: make::tuple(parts, span) }
    }
}
