//! The proof obligations of a chain of refinements, as Rodin makes and names them: hypotheses and a goal, for each machine
//! about itself and the one that it refines.
//!
//! Hypotheses that many have in common (axioms, invariants and theorems of contexts and machines) are one list, contexts
//! before machines, abstract machines before concrete ones; an obligation has so many of the first of them. The others
//! are about an event: its guards, what its witnesses say, its actions as predicates over new values (`x'`). They are
//! Rodin's, so that what is proved there and wrong here is a contradiction, with two exceptions that add hypotheses: all
//! contexts that some machine of the chain sees count for all, and theorems come behind all invariants of their machine.
//!
//! Absent on purpose: whether an obligation is true; types, and so whether a variant is a number or a set.

use super::event::{defines, is_initialisation, renamed, same_action};
use super::formula::{join, literal_at, names, with};
use super::project::{Action, ActionKind, Context, Event, Labelled, Machine, Status, Witness, primed};
use crate::lang::ast::{BinOp, Expr, ExprKind, Fun, Ident, Lit, Name, Quant};
use crate::lang::composed::{Demanded, Sequent, Sequents};
use crate::lang::diag::Span;
use std::collections::{BTreeMap, HashSet};

/// All obligations of a chain, the most concrete machine first, and of the contexts that it sees.
pub fn sequents(contexts: &[&Context], chain: &[&Machine]) -> Sequents {
    let mut maker = Maker { known: vec![], all: vec![] };
    for context in contexts {
        let component = &context.name.name;
        for a in &context.axioms {
            maker.state(component, None, "WD", a, Demanded::Defined(a.formula.clone()), vec![]);
            maker.known.push(a.formula.clone());
        }
        for t in &context.theorems {
            maker.theorem(component, None, t, vec![]);
            maker.known.push(t.formula.clone());
        }
    }
    let axioms = maker.known.len();
    for (k, machine) in chain.iter().enumerate().rev() {
        let component = &machine.name.name;
        for i in &machine.invariants {
            maker.state(component, None, "WD", i, Demanded::Defined(i.formula.clone()), vec![]);
            maker.known.push(i.formula.clone());
        }
        for t in &machine.theorems {
            maker.theorem(component, None, t, vec![]);
            maker.known.push(t.formula.clone());
        }
        let above = chain.get(k + 1).copied();
        if let Some(v) = &machine.variant {
            let span = v.formula.span;
            let of = Labelled { label: None, formula: v.formula.clone() };
            let same = with(BinOp::Eq, v.formula.clone(), v.formula.clone(), span);
            maker.state(component, None, "VWD", &of, Demanded::Defined(same), vec![]);
            let finite = Expr { kind: ExprKind::Call(Fun::Fin, vec![v.formula.clone()]), span };
            let finite = with(BinOp::In, v.formula.clone(), finite, span);
            maker.state(component, None, "FIN", &of, Demanded::True(finite), vec![]);
            maker.only_for(&v.formula, false);
        }
        for event in &machine.events {
            let known = if is_initialisation(event) { axioms } else { maker.known.len() };
            let from = maker.all.len();
            let pair = Pair { maker: &mut maker, machine, above, event };
            let typing = pair.typing();
            pair.all();
            for s in &mut maker.all[from..] {
                s.known = known;
                s.typing.clone_from(&typing);
            }
        }
    }
    Sequents { known: maker.known, all: maker.all }
}

struct Maker {
    known: Vec<Expr>,
    all: Vec<Sequent>,
}

impl Maker {
    fn state(
        &mut self,
        component: &Name,
        event: Option<&Name>,
        kind: &'static str,
        of: &Labelled,
        goal: Demanded,
        hypotheses: Vec<Expr>,
    ) {
        self.all.push(Sequent {
            component: component.clone(),
            event: event.cloned(),
            about: of.label.clone(),
            kind,
            span: of.formula.span,
            known: self.known.len(),
            hypotheses,
            typing: vec![],
            goal,
            only_for: None,
        });
    }

    /// The last one is there only if this is a number, or only if it is a set.
    fn only_for(&mut self, variant: &Expr, is_number: bool) {
        if let Some(last) = self.all.last_mut() {
            last.only_for = Some((variant.clone(), is_number));
        }
    }

    fn theorem(&mut self, component: &Name, event: Option<&Name>, t: &Labelled, hypotheses: Vec<Expr>) {
        self.state(component, event, "WD", t, Demanded::Defined(t.formula.clone()), hypotheses.clone());
        self.state(component, event, "THM", t, Demanded::True(t.formula.clone()), hypotheses);
    }
}

/// An event of a machine, and the machine that it refines.
struct Pair<'a> {
    maker: &'a mut Maker,
    machine: &'a Machine,
    above: Option<&'a Machine>,
    event: &'a Event,
}

fn name(id: &Name, span: Span) -> Expr {
    Expr { kind: ExprKind::Name(id.clone()), span }
}

fn new(x: &Ident) -> Ident {
    Ident { name: primed(&x.name), span: x.span }
}

fn exists(ids: Vec<Ident>, p: Expr) -> Expr {
    let span = p.span;
    Expr { kind: ExprKind::Quant(Quant::Exists, ids, Box::new(p)), span }
}

/// What an action says of the new values.
fn before_after(a: &Action) -> Vec<Expr> {
    let after = |x: &Ident| name(&primed(&x.name), x.span);
    match &a.kind {
        ActionKind::Assign(pairs) => {
            pairs.iter().map(|(x, e)| with(BinOp::Eq, after(x), e.clone(), a.span)).collect()
        }
        ActionKind::Element(x, set) => vec![with(BinOp::In, after(x), set.clone(), a.span)],
        ActionKind::Such(_, p) => vec![p.clone()],
    }
}

fn mentions(e: &Expr, test: impl Fn(&Name) -> bool) -> bool {
    let mut used = HashSet::new();
    names(e, &mut used);
    used.iter().any(test)
}

fn is_new(n: &Name) -> bool {
    n.ends_with('\'')
}

fn changed(actions: &[Action]) -> BTreeMap<Name, Span> {
    actions.iter().flat_map(|a| a.variables().into_iter().map(|x| (x.name.clone(), a.span))).collect()
}

impl Pair<'_> {
    fn state(&mut self, kind: &'static str, of: &Labelled, goal: Demanded, hypotheses: Vec<Expr>) {
        let (component, event) = (&self.machine.name.name, &self.event.name.name);
        self.maker.state(component, Some(event), kind, of, goal, hypotheses);
    }

    fn guards(&self) -> Vec<Expr> {
        let e = self.event;
        e.guards.iter().chain(&e.theorems).map(|g| g.formula.clone()).collect()
    }

    fn is_kept(&self, x: &Name) -> bool {
        let has = |m: &Machine| m.variables.iter().any(|v| v.name == *x);
        has(self.machine) && self.above.is_some_and(has)
    }

    /// The types of parameters and new values, here and above: a new value has that of the old one.
    fn typing(&self) -> Vec<Expr> {
        let mut all = vec![];
        for e in std::iter::once(self.event).chain(self.parents()) {
            all.extend(e.guards.iter().map(|g| g.formula.clone()));
            let changed = changed(&e.actions);
            all.extend(
                changed
                    .iter()
                    .map(|(x, span)| with(BinOp::Eq, name(&primed(x), *span), name(x, *span), *span)),
            );
        }
        all
    }

    /// The events that this one refines.
    fn parents(&self) -> Vec<&Event> {
        let Some(above) = self.above else { return vec![] };
        let start = above.events.iter().filter(|e| is_initialisation(e) && is_initialisation(self.event));
        let named = |id: &Ident| above.events.iter().find(|e| e.name.name == id.name);
        match is_initialisation(self.event) {
            true => start.collect(),
            false => self.event.refines.iter().filter_map(named).collect(),
        }
    }

    fn all(mut self) {
        self.itself();
        self.witnesses();
        self.guards_above();
        self.actions_above();
        self.invariants();
        self.variant();
    }

    /// What is not about the machine above: definedness, theorems, feasibility.
    fn itself(&mut self) {
        let e = self.event;
        for (i, g) in e.guards.iter().enumerate().skip(e.inherited.guards) {
            let before = e.guards[..i].iter().map(|g| g.formula.clone()).collect();
            self.state("WD", g, Demanded::Defined(g.formula.clone()), before);
        }
        for (i, t) in e.theorems.iter().enumerate().skip(e.inherited.theorems) {
            let before = e.guards.iter().chain(&e.theorems[..i]).map(|g| g.formula.clone()).collect();
            let (component, event) = (&self.machine.name.name, &self.event.name.name);
            self.maker.theorem(component, Some(event), t, before);
        }
        for a in e.actions.iter().skip(e.inherited.actions) {
            let same = |e: &Expr| with(BinOp::Eq, e.clone(), e.clone(), e.span);
            let (defined, feasible) = match &a.kind {
                ActionKind::Assign(pairs) => {
                    let all = pairs.iter().map(|(_, e)| same(e)).collect();
                    (join(BinOp::And, Lit::BTrue, all, a.span), None)
                }
                ActionKind::Element(_, set) => {
                    let some = with(BinOp::Neq, set.clone(), literal_at(Lit::EmptySet, a.span), a.span);
                    (same(set), Some(some))
                }
                ActionKind::Such(xs, p) => (p.clone(), Some(exists(xs.iter().map(new).collect(), p.clone()))),
            };
            let of = Labelled { label: a.label.clone(), formula: literal_at(Lit::BTrue, a.span) };
            self.state("WD", &of, Demanded::Defined(defined), self.guards());
            if let Some(feasible) = feasible {
                self.state("FIS", &of, Demanded::True(feasible), self.guards());
            }
        }
    }

    fn own_actions(&self) -> Vec<Expr> {
        self.event.actions.iter().flat_map(before_after).collect()
    }

    /// Guards, and the actions too if something speaks of new values.
    fn under(&self, of: &[&Expr]) -> Vec<Expr> {
        let mut all = self.guards();
        if of.iter().any(|e| mentions(e, is_new)) {
            all.extend(self.own_actions());
            all.extend(self.still(of));
        }
        all
    }

    /// `x' = x` for new values that are spoken of and that no action gives.
    fn still(&self, of: &[&Expr]) -> Vec<Expr> {
        let given = changed(&self.event.actions);
        let mut used = HashSet::new();
        of.iter().for_each(|e| names(e, &mut used));
        let own = self.machine.variables.iter().filter(|v| {
            !is_initialisation(self.event) && !given.contains_key(&v.name) && used.contains(&primed(&v.name))
        });
        own.map(|v| with(BinOp::Eq, name(&primed(&v.name), v.span), name(&v.name, v.span), v.span)).collect()
    }

    fn said(&self, wanted: impl Fn(&Witness) -> bool) -> Vec<&Expr> {
        let found = self.event.witnesses.iter().filter(|w| wanted(w));
        found.map(|w| &w.predicate.formula).collect()
    }

    fn witnesses(&mut self) {
        for w in &self.event.witnesses {
            let p = &w.predicate.formula;
            let of = Labelled { label: Some(w.of.name.clone()), formula: p.clone() };
            let under = self.under(&[p]);
            self.state("WWD", &of, Demanded::Defined(p.clone()), under.clone());
            let is_value = defines(&w.of.name, p).is_some_and(|e| !mentions(e, |n| *n == w.of.name));
            if !is_value {
                self.state("WFIS", &of, Demanded::True(exists(vec![w.of.clone()], p.clone())), under);
            }
        }
    }

    fn guards_above(&mut self) {
        use crate::lang::print;
        let own: HashSet<String> = self.guards().iter().map(print::expr).collect();
        let parents = self.parents();
        let told = self.said(|w| !is_new(&w.of.name));
        if let [parent] = parents[..] {
            let missing: Vec<Labelled> =
                parent.guards.iter().filter(|g| !own.contains(&print::expr(&g.formula))).cloned().collect();
            let mut hypotheses = self.under(&told);
            hypotheses.extend(told.into_iter().cloned());
            for g in missing {
                self.state("GRD", &g, Demanded::True(g.formula.clone()), hypotheses.clone());
            }
        } else if !parents.is_empty() {
            let span = self.event.span;
            let one = |p: &&Event| {
                let guards = p.guards.iter().map(|g| g.formula.clone()).collect();
                join(BinOp::And, Lit::BTrue, guards, span)
            };
            let some = join(BinOp::Or, Lit::BFalse, parents.iter().map(one).collect(), span);
            let of = Labelled { label: None, formula: literal_at(Lit::BTrue, span) };
            let hypotheses = self.guards();
            self.state("MRG", &of, Demanded::True(some), hypotheses);
        }
    }

    /// Guards, witnesses and actions, and what the actions above do to variables that are gone.
    fn step(&self) -> Vec<Expr> {
        let told = self.said(|_| true);
        let mut all = self.guards();
        all.extend(self.own_actions());
        all.extend(self.still(&told));
        all.extend(told.into_iter().cloned());
        if let Some(parent) = self.parents().first() {
            for a in &parent.actions {
                if let ActionKind::Assign(pairs) = &a.kind {
                    let gone = pairs.iter().filter(|(x, _)| !self.is_kept(&x.name));
                    let after = |x: &Ident| name(&primed(&x.name), x.span);
                    all.extend(gone.map(|(x, e)| with(BinOp::Eq, after(x), e.clone(), a.span)));
                }
            }
        }
        all
    }

    fn actions_above(&mut self) {
        let given = changed(&self.event.actions);
        let parents = self.parents();
        let mut wanted: Vec<(&'static str, Labelled, Expr)> = vec![];
        let mut above: BTreeMap<Name, Span> = BTreeMap::new();
        // Events that are merged have the same actions.
        if let Some(parent) = parents.first() {
            above = changed(&parent.actions);
            for a in &parent.actions {
                let kept = |x: &Ident| self.is_kept(&x.name);
                let is_same = self.event.actions.iter().any(|own| same_action(own, a));
                if is_same && a.variables().into_iter().all(kept) {
                    continue;
                }
                let value = |x: &Ident| match given.contains_key(&x.name) || !kept(x) {
                    true => name(&primed(&x.name), x.span),
                    false => name(&x.name, x.span),
                };
                let parts = match &a.kind {
                    ActionKind::Assign(pairs) => {
                        let kept = pairs.iter().filter(|(x, _)| kept(x));
                        kept.map(|(x, e)| with(BinOp::Eq, value(x), e.clone(), a.span)).collect()
                    }
                    ActionKind::Element(x, set) => vec![with(BinOp::In, value(x), set.clone(), a.span)],
                    ActionKind::Such(_, p) => vec![p.clone()],
                };
                if !parts.is_empty() {
                    let goal = join(BinOp::And, Lit::BTrue, parts, a.span);
                    let of = Labelled { label: a.label.clone(), formula: literal_at(Lit::BTrue, a.span) };
                    wanted.push(("SIM", of, goal));
                }
            }
        }
        if self.above.is_some() && !is_initialisation(self.event) {
            for (x, span) in given.iter().filter(|(x, _)| self.is_kept(x) && !above.contains_key(*x)) {
                let of = Labelled { label: Some(x.clone()), formula: literal_at(Lit::BTrue, *span) };
                wanted.push(("EQL", of, with(BinOp::Eq, name(&primed(x), *span), name(x, *span), *span)));
            }
        }
        for (kind, of, goal) in wanted {
            let mut hypotheses = self.step();
            let said: Vec<&Expr> = hypotheses.iter().collect();
            let mut still = self.still(&[&goal]);
            still.retain(|e| !said.contains(&e));
            hypotheses.extend(still);
            self.state(kind, &of, Demanded::True(goal), hypotheses);
        }
    }

    fn invariants(&mut self) {
        let mut after = changed(&self.event.actions);
        if let Some(parent) = self.parents().first() {
            after.extend(changed(&parent.actions).into_iter().filter(|(x, _)| !self.is_kept(x)));
        }
        let machine = self.machine;
        for i in &machine.invariants {
            if mentions(&i.formula, |n| after.contains_key(n)) {
                let goal = Demanded::True(renamed(i.formula.clone(), &after));
                let hypotheses = self.step();
                self.state("INV", i, goal, hypotheses);
            }
        }
    }

    fn variant(&mut self) {
        let Some(v) = &self.machine.variant else { return };
        let is_done = |e: &&Event| e.status == Status::Convergent;
        let parents = self.parents();
        let is_over = !parents.is_empty() && parents.iter().all(is_done);
        if is_initialisation(self.event) || self.event.status == Status::Ordinary || is_over {
            return;
        }
        let (before, span) = (&v.formula, v.formula.span);
        let of = Labelled { label: None, formula: before.clone() };
        let after = renamed(before.clone(), &changed(&self.event.actions));
        let is_strict = self.event.status == Status::Convergent;
        let mut hypotheses = self.guards();
        if is_strict {
            let zero = Expr { kind: ExprKind::Int(0.into()), span };
            let natural = with(BinOp::Ge, before.clone(), zero, span);
            self.state("NAT", &of, Demanded::True(natural), hypotheses.clone());
            self.maker.only_for(before, true);
        }
        hypotheses.extend(self.own_actions());
        let (less, smaller) = match is_strict {
            true => (BinOp::Lt, BinOp::StrictSubset),
            false => (BinOp::Le, BinOp::Subset),
        };
        for (op, is_number) in [(less, true), (smaller, false)] {
            let goal = with(op, after.clone(), before.clone(), span);
            self.state("VAR", &of, Demanded::True(goal), hypotheses.clone());
            self.maker.only_for(before, is_number);
        }
    }
}
