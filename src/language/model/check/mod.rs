//! From composed machines to the typed model: names are resolved, types inferred by unification over the
//! whole system, and what cannot be typed is reported.
//!
//! One pass over every clause builds the typed tree with types still open (see [`unify`]); at the end
//! [`fill`] puts the types in and takes the decisions that waited for them: `-` and `*` on numbers or
//! sets, the place of a record's field. Absent on purpose: values and sizes.

mod data;
mod elements;
mod expr;
mod fill;
mod free;
mod names;
mod number;
mod refine;
mod rules;
mod stmt;
#[cfg(test)]
mod tests;
mod tool;
mod trees;
mod unify;

use crate::lang::ast::{self, Ident, Name};
use crate::lang::composed::{Composed, Entity, Instance, OpDef};
use crate::lang::diag::{Diagnostic, Span};
use crate::model::{Decl, Expr, ExprKind, GivenSet, LocalId, Model, Operation, Stmt, StmtKind, Type};
use std::collections::{HashMap, HashSet};
use unify::Unifier;

/// A decision that waits for types.
enum Deferred {
    /// `a - b` or `a * b`: numbers or sets?
    Arith {
        product: bool,
        left: (Type, Span),
        right: (Type, Span),
        result: Type,
        span: Span,
    },
    /// Numbers of one kind: integers or reals?
    Number(Vec<(Type, Span)>),
    Field {
        record: Type,
        field: Ident,
        result: Type,
    },
}

struct Checker<'a> {
    /// Whose names are visible; empty when only a model is there.
    instances: &'a [Instance],
    instance: usize,
    /// The names of a finished model, for expressions that come later.
    model_names: HashMap<Name, Entity>,
    model: Model,
    uni: Unifier,
    /// The types of the freetypes, as long as they are being declared.
    free: Vec<Type>,
    scope: Vec<(Name, LocalId)>,
    /// Locals that may be assigned: results and VAR.
    writable: HashSet<LocalId>,
    /// The new values in `x :(P)`, which `x$0` looks through.
    fresh: HashSet<LocalId>,
    deferred: Vec<Deferred>,
    /// Uses of fields: the field and the type of the record.
    fields: Vec<(Name, Type)>,
    /// When unknown names become locals: those that did.
    open: Option<Vec<(Name, LocalId)>>,
    /// `x := a || x := b` is allowed, and a fault where the two values differ.
    simultaneous: bool,
    /// Operations of the machine being checked, which it may not call itself (local ones it may).
    uncallable: HashSet<usize>,
    /// Conjuncts of the abstractions' invariants.
    inherited: Vec<Expr>,
    /// Abstractions are kept: whose the conjuncts of the invariant are, and the parts of INITIALISATION.
    owners: Option<Owners>,
    /// Unknown names already reported.
    reported: HashSet<Name>,
    diags: Vec<Diagnostic>,
    /// Errors were reported before: what follows from them is not worth a message.
    failed_before: bool,
}

/// What a text from the command line is to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Want {
    Predicate,
    Value,
    Either,
}

/// Types a composed machine. `None` when there were errors.
pub fn check(composed: &Composed, diags: &mut Vec<Diagnostic>) -> Option<Model> {
    let mut checker = Checker::new(&composed.instances, Model::default());
    checker.failed_before = diags.iter().any(Diagnostic::is_error);
    checker.machine(composed);
    let errors = checker.failed();
    let found = checker.finish(diags);
    (!errors).then_some(found)
}

/// A model in which the abstractions are kept: it has the variables, operations and invariants of all levels.
#[derive(Debug)]
pub struct Joint {
    pub model: Model,
    /// The instance that each conjunct of the invariant is from.
    pub invariants: Vec<usize>,
    /// The instance that each assertion is from.
    pub assertions: Vec<usize>,
    /// What each instance does at first.
    pub initialisations: Vec<(usize, Stmt)>,
}

#[derive(Default)]
struct Owners {
    invariants: Vec<usize>,
    assertions: Vec<usize>,
    initialisations: Vec<usize>,
}

/// Types a composed machine with all that it refines. `None` when there were errors.
pub fn check_joint(composed: &Composed, diags: &mut Vec<Diagnostic>) -> Option<Joint> {
    let mut checker = Checker::new(&composed.instances, Model::default());
    checker.failed_before = diags.iter().any(Diagnostic::is_error);
    checker.owners = Some(Owners::default());
    checker.machine(composed);
    let (errors, owners) = (checker.failed(), checker.owners.take()?);
    let mut model = checker.finish(diags);
    let parts = match std::mem::take(&mut model.initialisation).kind {
        StmtKind::Seq(parts) => parts,
        _ => vec![],
    };
    let initialisations = owners.initialisations.iter().copied().zip(parts).collect();
    let Owners { invariants, assertions, .. } = owners;
    (!errors).then_some(Joint { model, invariants, assertions, initialisations })
}

/// Types an expression over a model's constants and variables.
pub fn check_expr(model: &mut Model, ast: &ast::Expr, want: Want) -> Result<Expr, Vec<Diagnostic>> {
    over_model(model, ast, want, false).map(|(_, e)| e)
}

/// Types an expression over a model; names that it does not know become locals, given in the order of
/// their first occurrence.
pub fn check_open(model: &mut Model, ast: &ast::Expr) -> Result<(Vec<LocalId>, Expr), Vec<Diagnostic>> {
    over_model(model, ast, Want::Either, true)
}

fn over_model(
    model: &mut Model,
    ast: &ast::Expr,
    want: Want,
    open: bool,
) -> Result<(Vec<LocalId>, Expr), Vec<Diagnostic>> {
    let names = names::of_model(model);
    let before = model.locals.len();
    let mut checker = Checker::new(&[], std::mem::take(model));
    checker.model_names = names;
    checker.open = open.then(Vec::new);
    let mut e = match want {
        Want::Predicate => checker.predicate(ast),
        Want::Value | Want::Either => checker.infer(ast),
    };
    if want == Want::Value && e.ty == Type::Pred {
        checker.error("B0203", e.span, "expected a value, found a predicate");
    }
    checker.solve_deferred(true);
    checker.close_locals(before);
    checker.fill_expr(&mut e);
    let locals = checker.open.take().unwrap_or_default().into_iter().map(|(_, l)| l).collect();
    let mut diags = vec![];
    let failed = checker.failed();
    *model = checker.finish(&mut diags);
    if failed {
        model.locals.truncate(before);
        return Err(diags);
    }
    Ok((locals, e))
}

impl<'a> Checker<'a> {
    fn new(instances: &'a [Instance], model: Model) -> Self {
        Checker {
            instances,
            instance: 0,
            model_names: HashMap::new(),
            model,
            uni: Unifier::default(),
            free: vec![],
            scope: vec![],
            writable: HashSet::new(),
            fresh: HashSet::new(),
            deferred: vec![],
            fields: vec![],
            open: None,
            simultaneous: false,
            uncallable: HashSet::new(),
            inherited: vec![],
            owners: None,
            reported: HashSet::new(),
            diags: vec![],
            failed_before: false,
        }
    }

    /// Hands out the model and the messages, each once.
    fn finish(self, diags: &mut Vec<Diagnostic>) -> Model {
        // A definition used in many places gives one mistake many times. Warnings say what the answer does not
        // cover, and none is lost.
        const MANY: usize = 50;
        let mut errors = diags.iter().filter(|d| d.is_error()).count();
        for d in self.diags {
            if (errors < MANY || !d.is_error()) && !diags.contains(&d) {
                errors += usize::from(d.is_error());
                diags.push(d);
            }
        }
        self.model
    }

    fn failed(&self) -> bool {
        self.failed_before || self.diags.iter().any(Diagnostic::is_error)
    }

    fn error(&mut self, code: &'static str, span: Span, message: impl Into<String>) {
        self.diags.push(Diagnostic::error(code, span, message));
    }

    fn unsupported(&mut self, span: Span, what: String) {
        self.diags.push(Diagnostic::error("B0401", span, format!("{what} is not supported")));
    }

    fn machine(&mut self, composed: &Composed) {
        self.simultaneous = Self::prefers(composed, "ALLOW_SIMULTANEOUS_ASSIGNMENTS");
        self.declarations(composed);
        self.freetypes(composed);
        let order: Vec<usize> = composed.order.clone();
        self.data(composed, &order);
        self.invariants(composed, &order);
        self.initialisation(composed, &order);
        self.operations(composed);
        self.tool_definitions(composed);
        self.solve_deferred(true);
        self.check_types_known();
        self.fill_model();
        let sets = super::variants::sets(&self.model);
        let promises = std::mem::take(&mut self.model.promises);
        self.model.promises = promises.into_iter().map(|p| super::variants::by_type(&sets, p)).collect();
        if self.owners.is_none() {
            self.drop_abstract(composed);
        }
        if composed.names_elements && !self.failed() {
            elements::name(&mut self.model);
            elements::measure_parts(&mut self.model);
        }
    }

    fn declarations(&mut self, composed: &Composed) {
        let unknown =
            |uni: &mut Unifier, id: &Ident| Decl { name: id.name.clone(), ty: uni.fresh(), span: id.span };
        self.model.name = composed.name.clone();
        self.model.obligations = composed.obligations.clone();
        self.model.kept = composed.kept.clone();
        self.model.promises = composed.promises.clone();
        self.model.sets = composed
            .sets
            .iter()
            .map(|s| GivenSet {
                name: s.name.name.clone(),
                elements: s.elements.as_ref().map(|e| e.iter().map(|id| id.name.clone()).collect()),
                named: vec![],
                is_parameter: s.is_parameter,
                span: s.name.span,
            })
            .collect();
        self.model.constants = composed.constants.iter().map(|id| unknown(&mut self.uni, id)).collect();
        self.model.variables = composed.variables.iter().map(|id| unknown(&mut self.uni, id)).collect();
        // Signatures first: calls may come before what they call.
        for def in &composed.operations {
            let Some(op) = composed.instances[def.instance].operation(def.index) else { continue };
            let depth = self.scope.len();
            let params = self.declare(&op.params);
            let results = self.declare(&op.results);
            self.scope.truncate(depth);
            self.writable.extend(&results);
            self.model.operations.push(Operation {
                name: def.name.clone(),
                params,
                results,
                body: Stmt::default(),
                is_event: def.is_event,
                span: op.name.span,
            });
        }
    }

    fn conjuncts(&mut self, e: &ast::Expr) -> Vec<Expr> {
        let typed = e.conjuncts().into_iter().map(|p| self.predicate(p)).collect();
        self.solve_deferred(false);
        typed
    }

    fn data(&mut self, composed: &Composed, order: &[usize]) {
        for &i in order {
            let instance = &composed.instances[i];
            let machine = &instance.machine;
            self.instance = i;
            for (span, what) in &machine.unsupported {
                self.unsupported(*span, what.clone());
            }
            let mut properties = vec![];
            if let Some(e) = &machine.constraints {
                properties.extend(self.conjuncts(e));
            }
            if let Some(e) = &machine.properties {
                properties.extend(self.conjuncts(e));
            }
            for (id, e) in &machine.values {
                properties.extend(self.value_clause(id, e));
            }
            properties.iter().for_each(|p| self.speaks_of_constants(p));
            if !instance.shares_data {
                self.model.properties.extend(properties);
            }
        }
    }

    /// Constants are chosen before there is any variable.
    fn speaks_of_constants(&mut self, property: &Expr) {
        let mut variable = None;
        property.for_each_part(&mut |part| {
            if let ExprKind::Var(v) | ExprKind::Old(v) = part.kind {
                variable.get_or_insert((v, part.span));
            }
        });
        if let Some((v, span)) = variable {
            let d = &self.model.variables[v.index()];
            let message =
                format!("`{}` is a variable, of which PROPERTIES and CONSTRAINTS cannot speak", d.name);
            self.diags.push(Diagnostic::error("B0220", span, message).note(d.span, "it is declared here"));
        }
    }

    /// `c = E` in VALUES is a property. An interval as the value of a deferred set gives its size: its elements are no
    /// numbers in the model, and whatever uses them as such does not pass the types.
    fn value_clause(&mut self, id: &Ident, e: &ast::Expr) -> Option<Expr> {
        let left = ast::Expr { kind: ast::ExprKind::Name(id.name.clone()), span: id.span };
        if let Some(Entity::Set(_)) = self.entity(&id.name)
            && self.model.set_named(&id.name).is_some_and(|s| self.model.sets[s.index()].elements.is_none())
        {
            let ast::ExprKind::Binary(ast::BinOp::Interval, low, high) = &e.kind else {
                let what = format!("a value for the deferred set `{}` that is no interval", id.name);
                self.unsupported(id.span, what);
                return None;
            };
            let at = |kind| ast::Expr { kind, span: e.span };
            let op = |op, a: ast::Expr, b: ast::Expr| at(ast::ExprKind::Binary(op, Box::new(a), Box::new(b)));
            let length = op(ast::BinOp::Sub, (**high).clone(), (**low).clone());
            let size = op(ast::BinOp::Add, length, at(ast::ExprKind::Int(1.into())));
            let card = at(ast::ExprKind::Call(ast::Fun::Card, vec![left]));
            return Some(self.predicate(&op(ast::BinOp::Eq, card, size)));
        }
        let kind = ast::ExprKind::Binary(ast::BinOp::Eq, Box::new(left), Box::new(e.clone()));
        Some(self.predicate(&ast::Expr { kind, span: id.span.to(e.span) }))
    }

    fn invariants(&mut self, composed: &Composed, order: &[usize]) {
        for &i in order {
            let instance = &composed.instances[i];
            self.instance = i;
            let mut invariant = vec![];
            if let Some(e) = &instance.machine.invariant {
                invariant = self.conjuncts(e);
            }
            let mut assertions = vec![];
            for e in &instance.machine.assertions {
                assertions.push(self.predicate(e));
            }
            // Of an abstraction's invariant the refinement keeps what speaks of variables that it keeps.
            if let Some(owners) = &mut self.owners {
                owners.invariants.extend(invariant.iter().map(|_| i));
                self.model.invariant.extend(invariant);
                owners.assertions.extend(assertions.iter().map(|_| i));
                self.model.assertions.extend(assertions);
            } else if !instance.is_abstract {
                self.model.invariant.extend(invariant);
                self.model.assertions.extend(assertions);
            } else {
                let named = &mut self.model.named_above;
                invariant.iter().chain(&assertions).for_each(|e| refine::name_elements(e, named));
                self.inherited.extend(invariant);
            }
        }
        self.solve_deferred(false);
    }

    fn initialisation(&mut self, composed: &Composed, order: &[usize]) {
        let mut parts = vec![];
        for &i in order {
            let instance = &composed.instances[i];
            self.instance = i;
            if let Some(s) = &instance.machine.initialisation {
                let typed = self.stmt(s);
                if let Some(owners) = &mut self.owners {
                    owners.initialisations.push(i);
                    parts.push(typed);
                } else if instance.is_abstract {
                    refine::name_elements_of(&typed, &mut self.model.named_above);
                } else {
                    parts.push(typed);
                }
            }
        }
        self.solve_deferred(false);
        self.model.initialisation = match parts.len() {
            0 => Stmt::default(),
            1 if self.owners.is_none() => parts.swap_remove(0),
            _ => {
                let span = composed.instances[composed.top].machine.name.span;
                Stmt { kind: StmtKind::Seq(parts), span }
            }
        };
    }

    fn operations(&mut self, composed: &Composed) {
        let local_calls = Self::prefers(composed, "ALLOW_LOCAL_OPERATION_CALLS");
        for (at, def) in composed.operations.iter().enumerate() {
            let machine = &composed.instances[def.instance].machine;
            let is_own = |(id, other): (usize, &OpDef)| {
                let local = machine.local_operations.iter().any(|o| other.name.ends_with(&*o.name.name));
                (other.instance == def.instance && !local && !local_calls).then_some(id)
            };
            self.uncallable = composed.operations.iter().enumerate().filter_map(is_own).collect();
            let Some(op) = composed.instances[def.instance].operation(def.index) else { continue };
            self.instance = def.instance;
            let (params, results) = {
                let typed = &self.model.operations[at];
                (typed.params.clone(), typed.results.clone())
            };
            let ids = op.params.iter().chain(&op.results);
            self.scope.extend(ids.zip(params.iter().chain(&results)).map(|(id, l)| (id.name.clone(), *l)));
            let mut body = self.stmt(&op.body);
            self.scope.clear();
            self.type_results(&mut body, &results);
            self.model.operations[at].body = body;
            self.solve_deferred(false);
        }
        self.refined_operations(composed);
        self.check_results();
    }
}
