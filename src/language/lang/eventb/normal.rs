//! Formulas in forms that are easier to compute, with the same truth value wherever they have one.
//!
//! Event-B texts say the types of bound names in predicates, nest implications and speak of infinite function spaces
//! more than classical B does, so this happens here and not in the evaluators. Messages and explanations still have
//! the text as written.

use super::formula::{join, literal_at, names, with};
use super::project::Project;
use crate::lang::ast::{BinOp, Binder, Expr, ExprKind, Fun, Ident, Lit, Name, Quant, UnOp};
use crate::lang::diag::Span;
use crate::lang::print;
use crate::lang::walk::{children, children_mut};
use std::cell::Cell;
use std::collections::{HashMap, HashSet};

/// What is known of names.
pub struct Normal {
    carriers: HashSet<Name>,
    /// Constants that an axiom says are equal to something.
    defined: HashMap<Name, Expr>,
    /// How many names were made up.
    fresh: Cell<usize>,
}

/// Puts all formulas of a project into such forms.
pub fn normalise(project: &mut Project) {
    let carriers = carriers(project);
    // A context is never without those that it extends, but may be without those that extend it.
    let of_contexts: Vec<Normal> = project
        .contexts
        .iter()
        .map(|c| {
            let mut axioms = vec![];
            let mut todo = vec![&c.name.name];
            let mut seen = HashSet::new();
            while let Some(name) = todo.pop() {
                if let Some(c) = project.contexts.iter().find(|c| c.name.name == *name)
                    && seen.insert(name)
                {
                    axioms.extend(c.axioms.iter().flat_map(|a| a.formula.conjuncts()));
                    todo.extend(c.extends.iter().map(|id| &id.name));
                }
            }
            Normal::new(carriers.clone(), &axioms)
        })
        .collect();
    for (context, normal) in project.contexts.iter_mut().zip(of_contexts) {
        for (e, is_axiom) in context.formulas_mut() {
            if is_axiom { normal.axiom(e) } else { normal.formula(e) }
        }
    }
    let normal = Normal::new(carriers, &[]);
    for machine in &mut project.machines {
        machine.for_each_formula_mut(&mut |e| normal.formula(e));
    }
}

/// The names that stand for carrier sets or datatypes and for nothing else anywhere.
fn carriers(project: &mut Project) -> HashSet<Name> {
    fn bound(e: &Expr, found: &mut HashSet<Name>) {
        if let ExprKind::Quant(_, ids, _)
        | ExprKind::Compr(ids, _)
        | ExprKind::Bind(_, ids, ..)
        | ExprKind::ComprMap(ids, ..)
        | ExprKind::Let(ids, ..) = &e.kind
        {
            found.extend(ids.iter().map(|id| id.name.clone()));
        }
        children(e, &mut |c| bound(c, found));
    }
    let mut others = HashSet::new();
    for machine in &mut project.machines {
        machine.for_each_formula_mut(&mut |e| bound(e, &mut others));
        let parameters = machine.events.iter().flat_map(|e| &e.parameters);
        others.extend(machine.variables.iter().chain(parameters).map(|id| id.name.clone()));
    }
    for context in &mut project.contexts {
        context.formulas_mut().for_each(|(e, _)| bound(e, &mut others));
        others.extend(context.constants.iter().map(|id| id.name.clone()));
    }
    let sets = project.contexts.iter().flat_map(|c| &c.sets).map(|s| s.name.clone());
    let datatypes = project.datatypes.iter().map(|d| d.name.name.clone());
    sets.chain(datatypes).filter(|s| !others.contains(s)).collect()
}

impl Normal {
    pub fn new(carriers: HashSet<Name>, axioms: &[&Expr]) -> Normal {
        let mut defined = HashMap::new();
        for a in axioms {
            if let ExprKind::Binary(BinOp::Eq, x, e) = &a.kind
                && let ExprKind::Name(x) = &x.kind
            {
                defined.entry(x.clone()).or_insert_with(|| (**e).clone());
            }
        }
        Normal { carriers, defined, fresh: Cell::new(0) }
    }

    /// An axiom: constants may be replaced by what other axioms say they are.
    pub fn axiom(&self, e: &mut Expr) {
        if let ExprKind::Binary(BinOp::And, a, b) = &mut e.kind {
            self.axiom(a);
            self.axiom(b);
            return;
        }
        if let Some(new) = self.function_axiom(e) {
            *e = new;
        }
        self.formula(e);
    }

    pub fn formula(&self, e: &mut Expr) {
        children_mut(e, &mut |c| self.formula(c));
        let span = e.span;
        let new = match &e.kind {
            // Only of what surely has a value: otherwise that it has none would go unnoticed.
            ExprKind::Binary(BinOp::In, x, set) if self.is_infinite_type(set) && has_value(x) => {
                Some(has_type((**x).clone(), (**set).clone(), span))
            }
            ExprKind::Binary(BinOp::Subset | BinOp::Eq, s, none) if is_lit(none, Lit::EmptySet) => {
                self.is_empty(s)
            }
            ExprKind::Quant(Quant::Forall, ids, body) => {
                (is_implication(body)).then(|| forall(ids.clone(), (**body).clone(), span))
            }
            ExprKind::Quant(Quant::Exists, ids, body) => exists(ids, body, span),
            ExprKind::Binary(BinOp::And, a, b) => either(a, b, span),
            ExprKind::Binary(BinOp::Compose, a, b) => self.shifted(a, b, span),
            ExprKind::Apply(f, args) => match &args[..] {
                [arg] => self.applied(f, arg, span),
                _ => None,
            },
            ExprKind::ComprMap(ids, p, value) => sequences(ids, p, value, span),
            _ => None,
        };
        if let Some(new) = new {
            *e = new;
        }
    }

    /// A set that is a type: it has all values of it.
    fn is_type(&self, e: &Expr) -> bool {
        match &e.kind {
            ExprKind::Name(n) => self.carriers.contains(n),
            ExprKind::Lit(Lit::Integer | Lit::BoolSet) => true,
            ExprKind::Call(Fun::Pow, args) => args.iter().all(|a| self.is_type(a)),
            ExprKind::Binary(BinOp::Product | BinOp::Rel, a, b) => self.is_type(a) && self.is_type(b),
            ExprKind::Struct(fields) => fields.iter().all(|(_, e)| self.is_type(e)),
            ExprKind::Typed(e, _) => self.is_type(e),
            // A datatype with its parameters.
            ExprKind::Apply(f, args) => self.is_type(f) && args.iter().all(|a| self.is_type(a)),
            _ => false,
        }
    }

    /// The type of sets or couples of numbers. Being in it is a matter of types; being in a finite type is left as it
    /// is, for who looks for elements.
    fn is_infinite_type(&self, e: &Expr) -> bool {
        fn has_numbers(e: &Expr) -> bool {
            let mut found = is_lit(e, Lit::Integer);
            children(e, &mut |c| found |= has_numbers(c));
            found
        }
        self.is_type(e) && has_numbers(e) && !matches!(e.kind, ExprKind::Lit(_))
    }

    /// A function that is written out for all of a type, applied to something.
    fn applied(&self, f: &Expr, arg: &Expr, span: Span) -> Option<Expr> {
        let (id, p, value) = match &f.kind {
            ExprKind::Bind(Binder::Lambda, ids, p, value) if ids.len() == 1 => (&ids[0], p, Some(&**value)),
            ExprKind::Compr(ids, p) if ids.len() == 2 => (&ids[0], p, None),
            _ => return None,
        };
        let parts = p.conjuncts();
        let is_typing = |p: &&Expr| match &p.kind {
            ExprKind::Binary(BinOp::In, x, s) => matches!(x.kind, ExprKind::Name(_)) && self.is_type(s),
            ExprKind::HasType(..) => true,
            _ => false,
        };
        let rest: Vec<&Expr> = parts.into_iter().filter(|p| !is_typing(p)).collect();
        // `{x, y · y = E}` has one y for each x.
        let value = match (value, &rest[..], &f.kind) {
            (Some(value), [], _) => value,
            (None, [only], ExprKind::Compr(ids, _)) => {
                let ExprKind::Binary(BinOp::Eq, y, e) = &only.kind else { return None };
                let is_second = matches!(&y.kind, ExprKind::Name(n) if *n == ids[1].name);
                (is_second && !mentions(e, &ids[1..])).then_some(&**e)?
            }
            _ => return None,
        };
        // The argument must have a value, also where nobody asks for it.
        let is_plain = matches!(arg.kind, ExprKind::Name(_) | ExprKind::Lit(_) | ExprKind::Int(_));
        if is_plain && !mentions(value, std::slice::from_ref(id)) {
            return Some(value.clone());
        }
        if mentions(arg, std::slice::from_ref(id)) {
            return None;
        }
        let name = Expr { kind: ExprKind::Name(id.name.clone()), span };
        let equation = with(BinOp::Eq, name, arg.clone(), span);
        let kind = ExprKind::Let(vec![id.clone()], Box::new(equation), Box::new(value.clone()));
        Some(Expr { kind, span })
    }

    /// `{i · P ∣ i ↦ i - k} ; s`, with which people write that one sequence follows another: s with its keys moved.
    fn shifted(&self, shift: &Expr, s: &Expr, span: Span) -> Option<Expr> {
        let ExprKind::Bind(Binder::Lambda, ids, p, value) = &shift.kind else { return None };
        let [i] = &ids[..] else { return None };
        let is_key = |e: &Expr| matches!(&e.kind, ExprKind::Name(n) if *n == i.name);
        let (back, by) = match &value.kind {
            ExprKind::Binary(BinOp::Sub, x, k) if is_key(x) => (BinOp::Add, k),
            ExprKind::Binary(BinOp::Add, x, k) if is_key(x) => (BinOp::Sub, k),
            ExprKind::Binary(BinOp::Add, k, x) if is_key(x) => (BinOp::Sub, k),
            _ => return None,
        };
        if mentions(by, ids) {
            return None;
        }
        self.fresh.set(self.fresh.get() + 1);
        let id = |what: &str| Ident { name: format!("{what}·{}", self.fresh.get()).into(), span };
        let name = |id: &Ident| Expr { kind: ExprKind::Name(id.name.clone()), span };
        let (key, item) = (id("key"), id("item"));
        let moved = with(back, name(&key), (**by).clone(), span);
        let couple = with(BinOp::Pair, name(&key), name(&item), span);
        let member = with(BinOp::In, couple, s.clone(), span);
        let equation = with(BinOp::Eq, name(i), moved.clone(), span);
        let kind = ExprKind::Let(vec![i.clone()], Box::new(equation), p.clone());
        let condition = with(BinOp::And, member, Expr { kind, span }, span);
        let value = with(BinOp::Pair, moved, name(&item), span);
        let kind = ExprKind::ComprMap(vec![key, item], Box::new(condition), Box::new(value));
        Some(Expr { kind, span })
    }

    /// Whether a set of relations is empty, where that is clear.
    fn is_empty(&self, e: &Expr) -> Option<Expr> {
        let ExprKind::Binary(op, a, b) = &e.kind else { return None };
        if !has_value(a) || !has_value(b) {
            return None;
        }
        let span = e.span;
        let none = |s: &Expr| with(BinOp::Eq, s.clone(), literal_at(Lit::EmptySet, span), span);
        let some = |s: &Expr| with(BinOp::Neq, s.clone(), literal_at(Lit::EmptySet, span), span);
        let same = || print::expr(a) == print::expr(b);
        match op {
            BinOp::Rel | BinOp::PartialFun | BinOp::PartialInj => Some(literal_at(Lit::BFalse, span)),
            BinOp::TotalFun | BinOp::TotalRel => Some(with(BinOp::And, some(a), none(b), span)),
            BinOp::SurjRel => Some(with(BinOp::And, none(a), some(b), span)),
            // The identity is one.
            BinOp::TotalInj
            | BinOp::PartialSurj
            | BinOp::TotalSurj
            | BinOp::PartialBij
            | BinOp::TotalBij
            | BinOp::TotalSurjRel
                if same() =>
            {
                Some(literal_at(Lit::BFalse, span))
            }
            _ => None,
        }
    }

    /// `f ∈ A → B` where another axiom says that f is a function on all of A, and B is a type or f has one value.
    fn function_axiom(&self, e: &Expr) -> Option<Expr> {
        let ExprKind::Binary(BinOp::In, f, space) = &e.kind else { return None };
        let ExprKind::Binary(op @ (BinOp::TotalFun | BinOp::PartialFun), from, to) = &space.kind else {
            return None;
        };
        let ExprKind::Name(name) = &f.kind else { return None };
        let same = |a: &Expr, b: &Expr| print::expr(a) == print::expr(b);
        match &self.defined.get(name)?.kind {
            ExprKind::Binary(BinOp::Product, domain, values) if same(domain, from) => {
                let ExprKind::SetExt(values) = &values.kind else { return None };
                let [value] = &values[..] else { return None };
                Some(all_are(value, from, to, e.span))
            }
            ExprKind::Bind(Binder::Lambda, ids, p, value) if !mentions(value, ids) => {
                let is_on = matches!((&p.kind, &ids[..]), (ExprKind::Binary(BinOp::In, x, s), [id])
                    if matches!(&x.kind, ExprKind::Name(n) if *n == id.name) && same(s, from));
                is_on.then(|| all_are(value, from, to, e.span))
            }
            ExprKind::Bind(Binder::Lambda, ids, p, _) if self.is_type(to) => {
                let parts = p.conjuncts();
                let is_typing = |p: &&Expr| {
                    matches!(&p.kind, ExprKind::Binary(BinOp::In, x, s)
                        if matches!(x.kind, ExprKind::Name(_)) && self.is_type(s))
                };
                let is_domain = |p: &&Expr| match (&p.kind, &ids[..]) {
                    (ExprKind::Binary(BinOp::In, x, s), [id]) => {
                        matches!(&x.kind, ExprKind::Name(n) if *n == id.name) && same(s, from)
                    }
                    _ => false,
                };
                let rest: Vec<&Expr> = parts.into_iter().filter(|p| !is_typing(p)).collect();
                let is_whole = rest.is_empty() && self.is_type(from);
                let is_on = rest.len() == 1 && is_domain(&rest[0]);
                let everywhere = is_whole || is_on;
                (everywhere || *op == BinOp::PartialFun && self.is_type(from)).then(|| {
                    let of = with(BinOp::Product, (**from).clone(), (**to).clone(), e.span);
                    let of = Expr { kind: ExprKind::Call(Fun::Pow, vec![of]), span: e.span };
                    has_type((**f).clone(), of, e.span)
                })
            }
            _ => None,
        }
    }
}

fn is_lit(e: &Expr, lit: Lit) -> bool {
    match &e.kind {
        ExprKind::Lit(l) => *l == lit,
        ExprKind::Typed(e, _) => is_lit(e, lit),
        _ => false,
    }
}

/// `(c ⇒ x = E) ∧ (¬c ⇒ x = F)` gives x one value.
fn either(a: &Expr, b: &Expr, span: Span) -> Option<Expr> {
    let ExprKind::Binary(BinOp::Implies, c, x) = &a.kind else { return None };
    let ExprKind::Binary(BinOp::Implies, not_c, y) = &b.kind else { return None };
    let ExprKind::Unary(UnOp::Not, d) = &not_c.kind else { return None };
    let ExprKind::Binary(BinOp::Eq, x, e) = &x.kind else { return None };
    let ExprKind::Binary(BinOp::Eq, y, f) = &y.kind else { return None };
    let (ExprKind::Name(x_name), ExprKind::Name(y_name)) = (&x.kind, &y.kind) else { return None };
    if x_name != y_name || print::expr(c) != print::expr(d) {
        return None;
    }
    let value = Expr { kind: ExprKind::If(c.clone(), e.clone(), f.clone()), span };
    Some(with(BinOp::Eq, (**x).clone(), value, span))
}

/// The one value of a function is in a set, unless the function is empty.
fn all_are(value: &Expr, domain: &Expr, set: &Expr, span: Span) -> Expr {
    let is_in = with(BinOp::In, value.clone(), set.clone(), span);
    let nothing = with(BinOp::Eq, domain.clone(), literal_at(Lit::EmptySet, span), span);
    with(BinOp::Or, is_in, nothing, span)
}

fn mentions(e: &Expr, ids: &[Ident]) -> bool {
    let mut used = HashSet::new();
    names(e, &mut used);
    ids.iter().any(|id| used.contains(&id.name))
}

/// True whatever the names stand for.
fn is_trivial(e: &Expr) -> bool {
    match &e.kind {
        ExprKind::Lit(Lit::BTrue) => true,
        ExprKind::Binary(BinOp::And, a, b) => is_trivial(a) && is_trivial(b),
        ExprKind::Binary(BinOp::Eq, a, b) => {
            matches!((&a.kind, &b.kind), (ExprKind::Name(a), ExprKind::Name(b)) if a == b)
        }
        _ => false,
    }
}

/// `∃p, q · p < q ∧ e = p‥q ∧ …`: the ends of the interval are the least and the greatest element of e.
fn exists(ids: &[Ident], body: &Expr, span: Span) -> Option<Expr> {
    let parts = body.conjuncts();
    let bound = |e: &Expr| matches!(&e.kind, ExprKind::Name(n) if ids.iter().any(|id| id.name == *n));
    let mut more = vec![];
    for p in &parts {
        let ExprKind::Binary(BinOp::Eq, a, b) = &p.kind else { continue };
        for (e, interval) in [(a, b), (b, a)] {
            let ExprKind::Binary(BinOp::Interval, low, high) = &interval.kind else { continue };
            let is_open = bound(low) && bound(high) && !mentions(e, ids);
            let is_ordered = parts.iter().any(|p| match &p.kind {
                ExprKind::Binary(BinOp::Lt | BinOp::Le, x, y) => x.kind == low.kind && y.kind == high.kind,
                ExprKind::Binary(BinOp::Gt | BinOp::Ge, y, x) => x.kind == low.kind && y.kind == high.kind,
                _ => false,
            });
            if is_open && is_ordered {
                let end = |fun| Expr { kind: ExprKind::Call(fun, vec![(**e).clone()]), span };
                more.push(with(BinOp::Neq, (**e).clone(), literal_at(Lit::EmptySet, span), span));
                more.push(with(BinOp::Eq, (**low).clone(), end(Fun::Min), span));
                more.push(with(BinOp::Eq, (**high).clone(), end(Fun::Max), span));
            }
        }
    }
    (!more.is_empty()).then(|| {
        more.extend(parts.into_iter().cloned());
        let body = Box::new(join(BinOp::And, Lit::BTrue, more, span));
        Expr { kind: ExprKind::Quant(Quant::Exists, ids.to_vec(), body), span }
    })
}

/// Made of names and literals by operators that always have a value.
fn has_value(e: &Expr) -> bool {
    let is_total = match &e.kind {
        ExprKind::Name(_) | ExprKind::Lit(_) | ExprKind::Int(_) | ExprKind::Typed(..) => true,
        ExprKind::SetExt(_) | ExprKind::Struct(_) => true,
        ExprKind::Call(fun, _) => matches!(fun, Fun::Pow | Fun::Pow1 | Fun::Dom | Fun::Ran),
        ExprKind::Binary(op, ..) => {
            use BinOp::*;
            matches!(
                op,
                Add | Sub
                    | Mul
                    | Product
                    | Interval
                    | Pair
                    | Union
                    | Inter
                    | Diff
                    | Rel
                    | PartialFun
                    | TotalFun
            )
        }
        _ => false,
    };
    let mut all = is_total;
    children(e, &mut |c| all = all && has_value(c));
    all
}

/// True, and `x` has the type of the elements of `set`.
fn has_type(x: Expr, set: Expr, span: Span) -> Expr {
    Expr { kind: ExprKind::HasType(Box::new(x), Box::new(set)), span }
}

fn is_implication(e: &Expr) -> bool {
    matches!(e.kind, ExprKind::Binary(BinOp::Implies, ..))
}

/// `∀x·(P ⇒ (Q ⇒ R))` says `¬∃x·(P ∧ Q ∧ ¬R)`, and what is negated in R finds values for x, too.
fn forall(ids: Vec<Ident>, body: Expr, span: Span) -> Expr {
    let (mut given, mut rest) = (vec![], vec![]);
    split(body, &mut given, &mut rest);
    if rest.iter().any(is_trivial) {
        return literal_at(Lit::BTrue, span);
    }
    let given = join(BinOp::And, Lit::BTrue, given, span);
    if rest.is_empty() {
        let some = Expr { kind: ExprKind::Quant(Quant::Exists, ids, Box::new(given)), span };
        return Expr { kind: ExprKind::Unary(UnOp::Not, Box::new(some)), span };
    }
    let rest = join(BinOp::Or, Lit::BFalse, rest, span);
    let body = with(BinOp::Implies, given, rest, span);
    Expr { kind: ExprKind::Quant(Quant::Forall, ids, Box::new(body)), span }
}

/// A disjunction as what it presupposes and what it claims then.
fn split(e: Expr, given: &mut Vec<Expr>, rest: &mut Vec<Expr>) {
    let span = e.span;
    match e.kind {
        ExprKind::Binary(BinOp::Implies, a, b) => {
            given.push(*a);
            split(*b, given, rest);
        }
        ExprKind::Binary(BinOp::Or, a, b) => {
            split(*a, given, rest);
            split(*b, given, rest);
        }
        ExprKind::Unary(UnOp::Not, a) => given.push(*a),
        ExprKind::Binary(BinOp::NotIn, a, b) => given.push(with(BinOp::In, *a, *b, span)),
        ExprKind::Binary(BinOp::Neq, a, b) => given.push(with(BinOp::Eq, *a, *b, span)),
        ExprKind::Lit(Lit::BFalse) => {}
        kind => rest.push(Expr { kind, span }),
    }
}

/// `{n, f · n ∈ ℕ ∧ f ∈ 1‥n → A ∣ f}` are the finite sequences of elements of A.
fn sequences(ids: &[Ident], p: &Expr, value: &Expr, span: Span) -> Option<Expr> {
    let ExprKind::Name(f) = &value.kind else { return None };
    let [a, b] = ids else { return None };
    let n = match (a.name == *f, b.name == *f) {
        (true, false) => &b.name,
        (false, true) => &a.name,
        _ => return None,
    };
    let is = |e: &Expr, name: &Name| matches!(&e.kind, ExprKind::Name(x) if x == name);
    let parts = p.conjuncts();
    let (mut is_natural, mut items) = (false, None);
    for part in parts {
        match &part.kind {
            ExprKind::HasType(x, _) if is(x, f) => {}
            ExprKind::Binary(BinOp::In, x, s) if is(x, n) && is_lit(s, Lit::Integer) => {}
            ExprKind::Binary(BinOp::In, x, s) if is(x, n) && is_lit(s, Lit::Natural) => is_natural = true,
            ExprKind::Binary(BinOp::In, x, s) if is(x, f) && items.is_none() => {
                let ExprKind::Binary(BinOp::TotalFun, from, to) = &s.kind else { return None };
                let ExprKind::Binary(BinOp::Interval, low, high) = &from.kind else { return None };
                let is_one = matches!(&low.kind, ExprKind::Int(i) if *i == 1.into());
                let mut used = HashSet::new();
                names(to, &mut used);
                if !is_one || !is(high, n) || used.contains(f) || used.contains(n) {
                    return None;
                }
                items = Some((**to).clone());
            }
            _ => return None,
        }
    }
    let items = items.filter(|_| is_natural)?;
    Some(Expr { kind: ExprKind::Call(Fun::Seq, vec![items]), span })
}
