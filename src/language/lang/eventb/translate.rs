//! From a project to one composed machine: what every language ends in.
//!
//! The machine has the constants of all contexts that it and its abstractions see, the variables and invariants of all
//! levels, and the events of the most concrete one. Axioms are properties; theorems are assertions.

use super::event::{Events, INITIALISATION, Level, conjunction, guarded, is_initialisation};
use super::formula::{join, names, with};
use super::project::{Context, Event, Labelled, Machine, Project, Witness};
use super::proved;
use super::sequents::sequents;
use crate::lang::ast::{self, BinOp, Expr, ExprKind, Ident, Lit, MachineKind, Name, Operation, SetDecl};
use crate::lang::composed::{
    Chain, Composed, Entity, Fact, Followed, FreeTypeDef, Instance, OpDef, Promise, Refining, Sequents,
    SetDef,
};
use crate::lang::diag::{Diagnostic, Span};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// The composed machine of a project; `None` when there were errors.
pub fn translate(project: &Project, diags: &mut Vec<Diagnostic>) -> Option<Composed> {
    let mut t = Translation { project, diags: vec![], promises: vec![], apart: None };
    let composed = t.composed();
    let failed = t.diags.iter().any(Diagnostic::is_error);
    diags.append(&mut t.diags);
    let mut composed = composed.filter(|_| !failed)?;
    composed.promises = t.promises;
    composed.refining = Some(Arc::new(Kept(project.clone())));
    Some(composed)
}

/// A project for those who compare its levels.
#[derive(Debug)]
struct Kept(Project);

impl Refining for Kept {
    fn chain(&self, staged: bool, above: bool, diags: &mut Vec<Diagnostic>) -> Option<Chain> {
        let apart = Some(Apart { staged, has_above: above, ..Apart::default() });
        let mut t = Translation { project: &self.0, diags: vec![], promises: vec![], apart };
        let composed = t.composed();
        let chain = t.chain();
        let failed = t.diags.iter().any(Diagnostic::is_error);
        // What is wrong with the machine itself was told when it was translated.
        t.diags.retain(|d| !diags.contains(d));
        diags.append(&mut t.diags);
        let (mut composed, apart) = (composed.filter(|_| !failed)?, t.apart?);
        composed.promises = t.promises;
        let place = |v: &Ident| composed.variables.iter().position(|other| other.name == v.name);
        let level = |m: &&Machine| (m.name.name.clone(), m.variables.iter().filter_map(place).collect());
        let levels = chain.iter().map(level).collect();
        let invariants = chain.iter().flat_map(|m| m.invariants.iter().map(move |i| (m, i)));
        let invariants = invariants.map(|(m, i)| Promise {
            kind: "INV",
            level: m.name.name.clone(),
            event: "".into(),
            about: i.label.clone(),
            span: i.formula.span,
            operation: "".into(),
        });
        let invariants = invariants.collect();
        let places = chain.iter().flat_map(|m| places(m)).collect();
        Some(Chain { composed, levels, events: apart.events, invariants, above: apart.above, places })
    }

    fn sequents(&self) -> Option<Sequents> {
        let mut t = Translation { project: &self.0, diags: vec![], promises: vec![], apart: None };
        let chain = t.chain();
        let contexts = t.contexts(&chain);
        (chain.len() > 1).then(|| sequents(&contexts, &chain))
    }
}

/// What the formulas of a machine are called where one of them has no value.
fn places(machine: &Machine) -> Vec<Promise> {
    let level = machine.name.name.clone();
    let named = |kind, event: &Name, about: Option<Name>, span| {
        let (level, operation, event) = (level.clone(), event.clone(), event.clone());
        Promise { kind, level, event, about, span, operation }
    };
    let whole: Name = "".into();
    let mut found = vec![];
    for l in machine.invariants.iter().chain(&machine.theorems) {
        found.push(named("WD", &whole, l.label.clone(), l.formula.span));
    }
    found.extend(machine.variant.iter().map(|v| named("VWD", &whole, None, v.formula.span)));
    for e in &machine.events {
        let event = &e.name.name;
        for g in e.guards.iter().chain(&e.theorems) {
            found.push(named("WD", event, g.label.clone(), g.formula.span));
        }
        found.extend(e.actions.iter().map(|a| named("WD", event, a.label.clone(), a.span)));
        let of = |w: &Witness| named("WWD", event, Some(w.of.name.clone()), w.predicate.formula.span);
        found.extend(e.witnesses.iter().map(of));
    }
    found
}

/// The levels are kept apart: their events are operations of their own.
#[derive(Default)]
struct Apart {
    staged: bool,
    has_above: bool,
    events: Vec<Followed>,
    above: Vec<usize>,
}

struct Translation<'p> {
    project: &'p Project,
    diags: Vec<Diagnostic>,
    promises: Vec<Promise>,
    apart: Option<Apart>,
}

impl<'p> Translation<'p> {
    fn error(&mut self, code: &'static str, span: Span, message: impl Into<String>) {
        self.diags.push(Diagnostic::error(code, span, message));
    }

    /// The machine that is looked at, and those it refines.
    fn chain(&mut self) -> Vec<&'p Machine> {
        let mut chain: Vec<&Machine> = vec![];
        let mut next = self.project.machines.first();
        while let Some(machine) = next {
            chain.push(machine);
            let Some(id) = &machine.refines else { break };
            next = self.project.machines.iter().find(|m| m.name.name == id.name);
            match next {
                None => self.error("B0211", id.span, format!("the machine `{}` is not here", id.name)),
                Some(again) if chain.iter().any(|m| m.name.name == again.name.name) => {
                    let message = format!("`{}` refines itself in the end", id.name);
                    self.error("B0210", id.span, message);
                    break;
                }
                Some(_) => {}
            }
        }
        chain
    }

    /// The contexts that are seen, those they extend first.
    fn contexts(&mut self, chain: &[&'p Machine]) -> Vec<&'p Context> {
        let mut todo: Vec<(&'p Ident, bool)> = vec![];
        match self.project.contexts.first() {
            Some(context) if chain.is_empty() => todo.push((&context.name, false)),
            _ => todo.extend(chain.iter().flat_map(|m| &m.sees).rev().map(|id| (id, false))),
        }
        let mut found: Vec<&'p Context> = vec![];
        let mut open: Vec<&Name> = vec![];
        while let Some((id, is_left)) = todo.pop() {
            let Some(context) = self.project.contexts.iter().find(|c| c.name.name == id.name) else {
                self.error("B0211", id.span, format!("the context `{}` is not here", id.name));
                continue;
            };
            if is_left {
                open.pop();
                found.push(context);
            } else if open.contains(&&id.name) {
                self.error("B0210", id.span, format!("`{}` extends itself in the end", id.name));
            } else if found.iter().all(|c| c.name.name != id.name) {
                open.push(&id.name);
                todo.push((&context.name, true));
                todo.extend(context.extends.iter().rev().map(|id| (id, false)));
            }
        }
        found
    }

    fn composed(&mut self) -> Option<Composed> {
        let chain = self.chain();
        let contexts = self.contexts(&chain);
        let top = chain.first().map(|m| &m.name).or_else(|| contexts.last().map(|c| &c.name));
        let Some(top) = top else {
            let span = Span::default();
            self.error("B0102", span, "the project has neither a machine nor a context");
            return None;
        };
        let sets: Vec<&Ident> = contexts.iter().flat_map(|c| &c.sets).collect();
        let made_up = self.project.definitions.iter().map(|(constant, _)| constant);
        let constants: Vec<&Ident> = contexts.iter().flat_map(|c| &c.constants).chain(made_up).collect();
        // Concrete variables first; a variable that a refinement keeps is one variable.
        let mut variables: Vec<&Ident> = vec![];
        for v in chain.iter().flat_map(|m| &m.variables) {
            if variables.iter().all(|other| other.name != v.name) {
                variables.push(v);
            }
        }
        self.distinct(&sets, &constants, &variables);
        let declared: Vec<&Ident> = sets.iter().chain(&constants).chain(&variables).copied().collect();
        self.own_names(&chain, &declared);
        self.kept_in_between(&chain);
        let labelled = contexts.iter().flat_map(|c| &c.axioms);
        let axioms: Vec<&Expr> = labelled.flat_map(|a| a.formula.conjuncts()).collect();
        let enumerated = Enumerated::find(&sets, &constants, &axioms);
        let decls: Vec<SetDecl> = sets
            .iter()
            .map(|s| SetDecl { name: (*s).clone(), elements: enumerated.sets.get(&s.name).cloned() })
            .collect();
        let constants: Vec<Ident> =
            constants.into_iter().filter(|c| !enumerated.is_element(&c.name)).cloned().collect();
        let defined = enumerated.relations(&axioms);
        let mut axioms: Vec<Expr> = axioms.into_iter().filter(|a| !enumerated.says(a)).cloned().collect();
        axioms.extend(defined);
        axioms.extend(self.project.definitions.iter().map(|(constant, e)| {
            let name = Expr { kind: ExprKind::Name(constant.name.clone()), span: constant.span };
            with(BinOp::Eq, name, e.clone(), constant.span)
        }));
        let theorems = chain.iter().flat_map(|m| &m.theorems);
        let theorems = contexts.iter().flat_map(|c| &c.theorems).chain(theorems);
        let invariants: Vec<Labelled> = chain.iter().rev().flat_map(|m| &m.invariants).cloned().collect();
        let (initialisation, operations) = self.events(&chain, &variables);
        let span = top.span;
        let machine = ast::Machine {
            sets: decls,
            freetypes: self.project.datatypes.clone(),
            constants,
            properties: (!axioms.is_empty()).then(|| join(BinOp::And, Lit::BTrue, axioms, span)),
            variables: variables.into_iter().cloned().collect(),
            invariant: conjunction(&invariants, span),
            assertions: theorems.map(|t| t.formula.clone()).collect(),
            initialisation,
            operations,
            ..ast::Machine::empty(MachineKind::Machine, top.clone(), span)
        };
        let kept = proved::kept(&chain, &self.project.obligations);
        Some(compose(machine, self.project, kept))
    }

    /// Names are declared once.
    fn distinct(&mut self, sets: &[&Ident], constants: &[&Ident], variables: &[&Ident]) {
        let mut seen: HashMap<&Name, Span> = HashMap::new();
        for id in sets.iter().chain(constants).chain(variables) {
            if let Some(first) = seen.insert(&id.name, id.span) {
                let message = format!("`{}` is declared twice", id.name);
                let diag = Diagnostic::error("B0202", id.span, message);
                self.diags.push(diag.note(first, "first declared here"));
            }
        }
    }

    /// Parameters have names of their own, and no name but that of a new value ends with a prime.
    fn own_names(&mut self, chain: &[&Machine], declared: &[&Ident]) {
        let all: HashSet<&Name> = declared.iter().map(|id| &id.name).collect();
        let events = || chain.iter().flat_map(|m| &m.events);
        let parameters = || events().flat_map(|e| &e.parameters);
        for id in parameters().filter(|id| all.contains(&id.name)) {
            self.error("B0202", id.span, format!("`{}` is declared twice", id.name));
        }
        for id in declared.iter().copied().chain(parameters()).filter(|id| id.name.contains('\'')) {
            self.error("B0401", id.span, format!("the name `{}` is not supported", id.name));
        }
        for e in events() {
            let twice = |(i, p): &(usize, &Ident)| e.parameters[..*i].iter().any(|q| q.name == p.name);
            for (_, p) in e.parameters.iter().enumerate().filter(twice) {
                self.error("B0202", p.span, format!("`{}` is declared twice", p.name));
            }
        }
    }

    /// A variable that is gone does not come back under the same name: it would be another one.
    fn kept_in_between(&mut self, chain: &[&Machine]) {
        let has = |m: &Machine, v: &Ident| m.variables.iter().any(|other| other.name == v.name);
        for (i, machine) in chain.iter().enumerate() {
            for v in &machine.variables {
                let last = chain.iter().rposition(|m| has(m, v)).unwrap_or(i);
                if let Some(gap) = chain[i..=last].iter().find(|m| !has(m, v)) {
                    let message = format!(
                        "`{}` is a variable again, which `{}` does not have, is not supported",
                        v.name, gap.name.name
                    );
                    self.error("B0401", v.span, message);
                }
            }
        }
    }

    fn events(
        &mut self,
        chain: &[&'p Machine],
        variables: &[&Ident],
    ) -> (Option<ast::Subst>, Vec<Operation>) {
        let Some(concrete) = chain.first() else { return (None, vec![]) };
        let mut seen: HashSet<&Name> = HashSet::new();
        for e in &concrete.events {
            if !seen.insert(&e.name.name) {
                self.error("B0202", e.name.span, format!("the event `{}` is declared twice", e.name.name));
            }
        }
        let mut events = Events::new(chain.iter().map(|m| Level::new(m)).collect());
        if let Some(apart) = self.apart.take() {
            let (apart, operations) = self.apart(apart, chain, &mut events);
            self.apart = Some(apart);
            self.diags.append(&mut events.errors);
            self.promises.append(&mut events.promises);
            return (None, operations);
        }
        let mut initialisation = None;
        let mut operations = vec![];
        for e in &concrete.events {
            let body = events.body(e);
            if is_initialisation(e) {
                initialisation = Some(body);
                continue;
            }
            operations.push(Operation {
                name: e.name.clone(),
                results: vec![],
                params: e.parameters.clone(),
                body,
            });
        }
        self.diags.append(&mut events.errors);
        self.promises.append(&mut events.promises);
        let of_all = chain.iter().filter_map(|m| m.events.iter().find(|e| is_initialisation(e)));
        let assigned: HashSet<Name> =
            of_all.flat_map(|e| &e.actions).flat_map(|a| a.variables()).map(|x| x.name.clone()).collect();
        for v in variables {
            if !assigned.contains(&v.name) {
                let message = format!("{INITIALISATION} gives `{}` no value", v.name);
                self.error("B0401", v.span, format!("{message}, which is not supported"));
            }
        }
        (initialisation, operations)
    }

    /// Each event by itself, with all that follow it, and as far as single demands are met.
    fn apart(
        &mut self,
        mut apart: Apart,
        chain: &[&'p Machine],
        events: &mut Events<'p>,
    ) -> (Apart, Vec<Operation>) {
        let mut operations: Vec<Operation> = vec![];
        let mut add = |e: &Event, body: ast::Subst| {
            let (name, params) = (e.name.clone(), e.parameters.clone());
            operations.push(Operation { name, results: vec![], params, body });
            operations.len() - 1
        };
        for machine in chain {
            let start = machine.events.iter().find(|e| is_initialisation(e));
            let assigned: HashSet<&Name> =
                start.iter().flat_map(|e| &e.actions).flat_map(|a| a.variables()).map(|x| &x.name).collect();
            for v in machine.variables.iter().filter(|v| !assigned.contains(&v.name)) {
                let message = format!(
                    "{INITIALISATION} of `{}` gives `{}` no value, which is not supported",
                    machine.name.name, v.name
                );
                self.diags.push(Diagnostic::error("B0401", v.span, message));
            }
        }
        let Some((concrete, above)) = chain.split_first() else { return (apart, operations) };
        let start = concrete.events.iter().filter(|e| is_initialisation(e));
        for e in start.chain(concrete.events.iter().filter(|e| !is_initialisation(e))) {
            let alone = events.alone(e);
            let alone = add(e, alone);
            let ways = events.ways(e);
            let mut stages = vec![];
            if apart.staged {
                for way in &ways {
                    let stages_of = way.stages(e.span).into_iter();
                    stages.push(stages_of.map(|(body, p)| (add(e, guarded(e, body)), p)).collect());
                }
            }
            let mut bodies: Vec<ast::Subst> = ways.into_iter().map(|w| w.whole(e.span)).collect();
            let body = match bodies.len() {
                1 => bodies.swap_remove(0),
                _ => ast::Subst { kind: ast::SubstKind::Choice(bodies), span: e.span },
            };
            let whole = add(e, guarded(e, body));
            apart.events.push(Followed { name: e.name.name.clone(), alone, whole, stages });
        }
        let above = above.first().filter(|_| apart.has_above);
        for e in above.iter().flat_map(|m| &m.events).filter(|e| !is_initialisation(e)) {
            let skip = ast::Subst { kind: ast::SubstKind::Skip, span: e.span };
            apart.above.push(add(e, guarded(e, skip)));
        }
        (apart, operations)
    }
}

/// Carrier sets whose elements the axioms list: `partition(S, {a}, {b})`, or `S = {a, b}` and `a ≠ b`.
#[derive(Default)]
struct Enumerated {
    sets: HashMap<Name, Vec<Ident>>,
    elements: HashSet<Name>,
}

impl Enumerated {
    fn find(sets: &[&Ident], constants: &[&Ident], axioms: &[&Expr]) -> Enumerated {
        let constants: HashMap<&Name, &Ident> = constants.iter().map(|c| (&c.name, *c)).collect();
        let name = |e: &Expr| match &e.kind {
            ExprKind::Name(n) => Some(n.clone()),
            _ => None,
        };
        let mut differ: HashSet<(Name, Name)> = HashSet::new();
        for a in axioms {
            if let ExprKind::Binary(BinOp::Neq, x, y) = &a.kind
                && let (Some(x), Some(y)) = (name(x), name(y))
            {
                differ.insert((x.clone(), y.clone()));
                differ.insert((y, x));
            }
        }
        let mut found = Enumerated::default();
        for a in axioms {
            let ExprKind::Binary(BinOp::Eq, x, y) = &a.kind else { continue };
            for (set, listed) in [(x, y), (y, x)] {
                let Some(set) = name(set).filter(|s| sets.iter().any(|id| id.name == *s)) else { continue };
                let mut elements = vec![];
                if !elements_of(listed, &mut elements) || elements.is_empty() {
                    continue;
                }
                let ids: Option<Vec<Ident>> =
                    elements.iter().map(|e| constants.get(e).map(|id| (*id).clone())).collect();
                let Some(ids) = ids else { continue };
                let pairs = || (0..ids.len()).flat_map(|i| (0..i).map(move |j| (i, j)));
                let are_distinct =
                    pairs().all(|(i, j)| differ.contains(&(ids[i].name.clone(), ids[j].name.clone())));
                let is_new =
                    !found.sets.contains_key(&set) && ids.iter().all(|id| !found.elements.contains(&id.name));
                if are_distinct && is_new {
                    found.elements.extend(ids.iter().map(|id| id.name.clone()));
                    found.sets.insert(set, ids);
                }
            }
        }
        found
    }

    fn is_element(&self, name: &Name) -> bool {
        self.elements.contains(name)
    }

    /// Relations that axioms give element by element: `r ∈ S ↔ T` and `r[{a}] = A` for every a of S say that r is
    /// `{a}×A ∪ …`, which finds it at once.
    fn relations(&self, axioms: &[&Expr]) -> Vec<Expr> {
        let mut found = vec![];
        for a in axioms {
            let ExprKind::Binary(BinOp::In, r, space) = &a.kind else { continue };
            let ExprKind::Binary(BinOp::Rel | BinOp::TotalRel, from, _) = &space.kind else { continue };
            let (ExprKind::Name(name), ExprKind::Name(set)) = (&r.kind, &from.kind) else { continue };
            let Some(elements) = self.sets.get(set) else { continue };
            let image_of = |element: &Ident| {
                axioms.iter().find_map(|a| {
                    let ExprKind::Binary(BinOp::Eq, x, y) = &a.kind else { return None };
                    [(x, y), (y, x)].into_iter().find_map(|(image, value)| {
                        let ExprKind::Image(f, of) = &image.kind else { return None };
                        let ExprKind::SetExt(of) = &of.kind else { return None };
                        let is_name = |e: &Expr, n: &Name| matches!(&e.kind, ExprKind::Name(m) if m == n);
                        let mut used = HashSet::new();
                        names(value, &mut used);
                        let fits = is_name(f, name)
                            && of.len() == 1
                            && is_name(&of[0], &element.name)
                            && !used.contains(name);
                        let single = Expr { kind: ExprKind::SetExt(of.clone()), span: a.span };
                        fits.then(|| with(BinOp::Product, single, (**value).clone(), a.span))
                    })
                })
            };
            let parts: Option<Vec<Expr>> = elements.iter().map(image_of).collect();
            if let Some(parts) = parts {
                let union = join(BinOp::Union, Lit::EmptySet, parts, a.span);
                found.push(with(BinOp::Eq, (**r).clone(), union, a.span));
            }
        }
        found
    }

    /// Whether an axiom says only what the list of elements says.
    fn says(&self, axiom: &Expr) -> bool {
        let element = |e: &Expr| matches!(&e.kind, ExprKind::Name(n) if self.is_element(n));
        match &axiom.kind {
            ExprKind::Binary(BinOp::Neq, a, b) => element(a) && element(b) && a.kind != b.kind,
            ExprKind::Binary(BinOp::Eq, a, b) => [(a, b), (b, a)].into_iter().any(|(set, listed)| {
                let ExprKind::Name(set) = &set.kind else { return false };
                let Some(ids) = self.sets.get(set) else { return false };
                let mut elements = vec![];
                let all: HashSet<&Name> = ids.iter().map(|id| &id.name).collect();
                elements_of(listed, &mut elements) && elements.iter().collect::<HashSet<_>>() == all
            }),
            _ => false,
        }
    }
}

/// The names in unions of listed sets; `false` when there is anything else.
fn elements_of(e: &Expr, found: &mut Vec<Name>) -> bool {
    match &e.kind {
        ExprKind::Binary(BinOp::Union, a, b) => elements_of(a, found) && elements_of(b, found),
        ExprKind::SetExt(items) => items.iter().all(|e| match &e.kind {
            ExprKind::Name(n) => {
                if !found.contains(n) {
                    found.push(n.clone());
                }
                true
            }
            _ => false,
        }),
        _ => false,
    }
}

/// A machine that refers to no other.
fn compose(machine: ast::Machine, project: &Project, kept: Vec<Fact>) -> Composed {
    let mut names: HashMap<Name, Entity> = HashMap::new();
    let mut sets = vec![];
    for (s, set) in machine.sets.iter().enumerate() {
        names.insert(set.name.name.clone(), Entity::Set(s));
        for (i, e) in set.elements.iter().flatten().enumerate() {
            names.insert(e.name.clone(), Entity::Elem(s, i));
        }
        sets.push(SetDef { name: set.name.clone(), elements: set.elements.clone(), is_parameter: false });
    }
    names.extend(machine.constants.iter().enumerate().map(|(i, c)| (c.name.clone(), Entity::Const(i))));
    names.extend(machine.variables.iter().enumerate().map(|(i, v)| (v.name.clone(), Entity::Var(i))));
    let mut freetypes = vec![];
    for (f, decl) in machine.freetypes.iter().enumerate() {
        names.insert(decl.name.name.clone(), Entity::Free(f));
        let cases = decl.cases.iter().enumerate();
        names.extend(cases.map(|(i, (case, _))| (case.name.clone(), Entity::Case(f, i))));
        freetypes.push(FreeTypeDef { instance: 0, decl: decl.clone() });
    }
    let def = |(index, op): (usize, &Operation)| OpDef {
        name: op.name.name.clone(),
        instance: 0,
        index,
        is_event: true,
        refines: None,
    };
    let operations: Vec<OpDef> = machine.operations.iter().enumerate().map(def).collect();
    let by_name = operations.iter().enumerate().map(|(i, op)| (op.name.clone(), i)).collect();
    Composed {
        name: machine.name.name.clone(),
        sets,
        freetypes,
        constants: machine.constants.clone(),
        variables: machine.variables.clone(),
        state_variables: machine.variables.len(),
        live_operations: operations.len(),
        operations,
        order: vec![0],
        instances: vec![Instance::alone(Arc::new(machine), names, by_name)],
        top: 0,
        obligations: project.obligations.clone(),
        kept,
        names_elements: true,
        levels: vec![],
        environment: vec![],
        promises: vec![],
        refining: None,
    }
}
