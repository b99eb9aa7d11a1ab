//! What an event does, as a substitution: its own level and, at the same time, all that it refines.
//!
//! A state has the variables of all levels, as in ProB. An event chooses its parameters and does its actions; then each
//! level above follows in the way that the witnesses say. Whatever a refinement promises about the level above is
//! demanded (an ASSERT): the abstract guards, that both levels give a variable that they share the same value, that a
//! witness exists, that theorems in guards hold and variants decrease. Where such a demand is not met there is an error
//! in the state, and no step.
//!
//! The new value of `x` is the local name `x'` until everything is known; at the end all are assigned at once.

use super::formula::{join, literal_at, names, with};
use super::project::{Action, ActionKind, Event, Labelled, Machine, Status, Witness, primed};
use crate::lang::ast::{BinOp, Expr, ExprKind, Ident, Lit, Name, Quant, Subst, SubstKind};
use crate::lang::composed::Promise;
use crate::lang::diag::{Diagnostic, Span};
use crate::lang::print;
use crate::lang::stack::MAX_DEPTH;
use crate::lang::walk::{children_mut, subst_children};
use std::collections::{BTreeMap, BTreeSet, HashSet};

pub const INITIALISATION: &str = "INITIALISATION";

/// A machine of the chain of refinements, the most concrete first.
pub struct Level<'p> {
    pub machine: &'p Machine,
    pub variables: HashSet<Name>,
}

impl<'p> Level<'p> {
    pub fn new(machine: &'p Machine) -> Self {
        Level { machine, variables: machine.variables.iter().map(|v| v.name.clone()).collect() }
    }

    pub fn event(&self, name: &str) -> Option<&'p Event> {
        self.machine.events.iter().find(|e| &*e.name.name == name)
    }
}

/// Makes substitutions of events.
pub struct Events<'p> {
    pub levels: Vec<Level<'p>>,
    pub errors: Vec<Diagnostic>,
    /// What was demanded.
    pub promises: Vec<Promise>,
    /// The event of the most concrete machine.
    operation: Name,
    /// How many abstract events have been followed.
    followed: usize,
}

/// Merged events multiply with the levels.
const MAX_FOLLOWED: usize = 100_000;

/// A part of what an event does, in the order in which things become known.
#[derive(Clone)]
enum Step {
    /// Any values with this property: a choice that the event leaves open.
    Choose(Vec<Ident>, Expr),
    /// The same, where there must be such values; what each part of the property is for.
    Follow(Vec<Ident>, Vec<(Expr, Promise)>),
    Let(Ident, Expr),
    Demand(Expr, Promise),
}

/// Variables whose new value is known, with the place to show for it.
pub type Known = BTreeMap<Name, Span>;

impl<'p> Events<'p> {
    pub fn new(levels: Vec<Level<'p>>) -> Self {
        Events { levels, errors: vec![], promises: vec![], operation: "".into(), followed: 0 }
    }

    /// What an event of the most concrete machine does.
    pub fn body(&mut self, event: &'p Event) -> Subst {
        self.operation = event.name.name.clone();
        let inner = match self.is_plain(event) {
            true => self.plainly(event),
            false => {
                let (steps, known) = self.begin(event);
                let rest = self.above(0, Some(event), known, event.span);
                self.note(&steps);
                wrap(steps, rest, true)
            }
        };
        if depth(&inner) > MAX_DEPTH {
            let message = format!("this does more than {MAX_DEPTH} things one after the other");
            self.errors.push(Diagnostic::error("B0106", event.span, message));
        }
        guarded(event, inner)
    }

    /// The actions of the most concrete level, and what is demanded there.
    fn begin(&mut self, event: &Event) -> (Vec<Step>, Known) {
        let (mut steps, known) = self.actions(event);
        steps.extend(self.variant(0, event, &known));
        let theorem = |t: &Labelled| {
            let promise = self.promise(0, event, "THM", t.label.clone(), t.formula.span);
            Step::Demand(t.formula.clone(), promise)
        };
        let theorems = event.theorems.iter().map(theorem);
        (theorems.chain(steps).collect(), known)
    }

    /// What level `k` promises with its event.
    fn promise(
        &self,
        k: usize,
        event: &Event,
        kind: &'static str,
        about: Option<Name>,
        span: Span,
    ) -> Promise {
        let level = self.levels[k].machine.name.name.clone();
        Promise {
            kind,
            level,
            event: event.name.name.clone(),
            about,
            span,
            operation: self.operation.clone(),
        }
    }

    /// Remembers what is demanded.
    fn note(&mut self, steps: &[Step]) {
        for step in steps {
            match step {
                Step::Demand(_, p) => self.promises.push(p.clone()),
                // The whole is shown for each of its parts.
                Step::Follow(_, parts) => {
                    let span = follow_span(parts);
                    self.promises.extend(parts.iter().take(1).map(|(_, p)| Promise { span, ..p.clone() }));
                }
                Step::Choose(..) | Step::Let(..) => {}
            }
        }
    }

    /// What an event of the most concrete machine does by itself: only its own variables change.
    pub fn alone(&mut self, event: &'p Event) -> Subst {
        self.operation = event.name.name.clone();
        let (steps, known) = self.actions(event);
        let steps: Vec<Step> = self.feasible(event).into_iter().chain(steps).collect();
        self.note(&steps);
        guarded(event, wrap(steps, assignment(&known, event.span), true))
    }

    /// That the actions of the most concrete level can be done. They speak of no new values but their own, so that this
    /// can be known before any of them is done.
    fn feasible(&self, event: &Event) -> Vec<Step> {
        let one = |a: &Action| {
            let kind = match &a.kind {
                ActionKind::Assign(_) => return None,
                ActionKind::Element(_, set) => {
                    let nothing = literal_at(Lit::EmptySet, a.span);
                    ExprKind::Binary(BinOp::Neq, Box::new(set.clone()), Box::new(nothing))
                }
                ActionKind::Such(xs, p) => {
                    ExprKind::Quant(Quant::Exists, xs.iter().map(new).collect(), Box::new(p.clone()))
                }
            };
            let promise = self.promise(0, event, "FIS", a.label.clone(), a.span);
            Some(Step::Demand(Expr { kind, span: a.span }, promise))
        };
        event.actions.iter().filter_map(one).collect()
    }

    /// All ways in which the levels above follow an event, each a list of what has to be so.
    pub fn ways(&mut self, event: &'p Event) -> Vec<Followed> {
        self.operation = event.name.name.clone();
        let (steps, known) = self.begin(event);
        let mut ways = vec![];
        let (own, begun) = (known.clone(), steps.len());
        self.follow(0, Some(event), steps, known, event.span, &mut ways);
        ways.into_iter().map(|(steps, known)| Followed { steps, known, own: own.clone(), begun }).collect()
    }

    fn follow(
        &mut self,
        k: usize,
        event: Option<&'p Event>,
        before: Vec<Step>,
        known: Known,
        span: Span,
        ways: &mut Vec<(Vec<Step>, Known)>,
    ) {
        if k + 1 == self.levels.len() {
            ways.push((before, known));
            return;
        }
        for parent in self.parents(k, event) {
            if !self.count(span) {
                break;
            }
            let (more, known) = self.one_above(k, event, parent, &known);
            let steps = before.iter().cloned().chain(more).collect();
            self.follow(k + 1, parent, steps, known, span, ways);
        }
    }

    /// Counts an abstract event that is followed; `false` if they are too many.
    fn count(&mut self, span: Span) -> bool {
        self.followed += 1;
        if self.followed == MAX_FOLLOWED + 1 {
            let message = "too many combinations of merged events";
            self.errors.push(Diagnostic::error("B0106", span, message));
        }
        self.followed <= MAX_FOLLOWED
    }

    /// How one level above `k` follows.
    fn one_above(
        &mut self,
        k: usize,
        event: Option<&'p Event>,
        parent: Option<&'p Event>,
        known: &Known,
    ) -> (Vec<Step>, Known) {
        let (mut steps, known) = match (event, parent) {
            (Some(event), Some(parent)) => self.simulate(k, event, parent, known),
            _ => (self.unchanged(k, event, known, |_| true), known.clone()),
        };
        if let Some(parent) = parent {
            steps.extend(self.variant(k + 1, parent, &known));
        }
        (steps, known)
    }

    /// Nothing is said about the new values but the actions themselves.
    fn is_plain(&self, event: &Event) -> bool {
        let has_such = event.actions.iter().any(|a| matches!(a.kind, ActionKind::Such(..)));
        let is_alone = self.levels.len() == 1 && self.levels[0].machine.variant.is_none();
        is_alone && !has_such && event.theorems.is_empty() && !is_initialisation(event)
    }

    fn plainly(&self, event: &Event) -> Subst {
        let one = |a: &Action| {
            let kind = match &a.kind {
                ActionKind::Assign(pairs) => {
                    let (left, right) = pairs.iter().map(|(x, e)| (variable(x), e.clone())).unzip();
                    SubstKind::Assign(left, right)
                }
                ActionKind::Element(x, set) => SubstKind::BecomesElement(vec![variable(x)], set.clone()),
                // Not in a plain event.
                ActionKind::Such(..) => SubstKind::Skip,
            };
            Subst { kind, span: a.span }
        };
        let mut parts: Vec<Subst> = event.actions.iter().map(one).collect();
        match parts.len() {
            0 => Subst { kind: SubstKind::Skip, span: event.span },
            1 => parts.swap_remove(0),
            _ => Subst { kind: SubstKind::Par(parts), span: event.span },
        }
    }

    /// The actions of the most concrete level.
    fn actions(&mut self, event: &Event) -> (Vec<Step>, Known) {
        let (mut steps, mut known) = (vec![], Known::new());
        for a in &event.actions {
            for x in a.variables() {
                if known.insert(x.name.clone(), a.span).is_some() {
                    let message = format!("`{}` is assigned twice in `{}`", x.name, event.name.name);
                    self.errors.push(Diagnostic::error("B0202", x.span, message));
                }
            }
            match &a.kind {
                ActionKind::Assign(pairs) => {
                    steps.extend(pairs.iter().map(|(x, e)| Step::Let(new(x), e.clone())));
                }
                ActionKind::Element(x, set) => {
                    let member = with(BinOp::In, new_value(x), set.clone(), a.span);
                    steps.push(Step::Choose(vec![new(x)], member));
                }
                ActionKind::Such(xs, p) => {
                    steps.push(Step::Choose(xs.iter().map(new).collect(), p.clone()));
                }
            }
        }
        (steps, known)
    }

    /// What the levels above `k` do, and then the assignment of all new values.
    fn above(&mut self, k: usize, event: Option<&'p Event>, known: Known, span: Span) -> Subst {
        if k + 1 == self.levels.len() {
            return assignment(&known, span);
        }
        let mut branches = vec![];
        let parents = self.parents(k, event);
        self.refuse_loose_witnesses(event, &parents);
        for parent in parents {
            if !self.count(span) {
                break;
            }
            let (steps, known) = self.one_above(k, event, parent, &known);
            let rest = self.above(k + 1, parent, known, span);
            branches.push((steps, rest));
        }
        if branches.len() == 1
            && let Some((steps, rest)) = branches.pop()
        {
            self.note(&steps);
            return wrap(steps, rest, true);
        }
        // A merged event follows any of those it refines that it can follow.
        if let Some(event) = event {
            let promise = self.promise(k, event, "MRG", None, span);
            self.promises.push(promise);
        }
        let can: Vec<Expr> = branches.iter().map(|(steps, _)| as_predicate(steps, span)).collect();
        let some = join(BinOp::Or, Lit::BFalse, can.clone(), span);
        let arms = can.into_iter().zip(branches);
        let arms = arms.map(|(can, (steps, rest))| (can, wrap(steps, rest, false))).collect();
        let select = Subst { kind: SubstKind::Select(arms, None), span };
        Subst { kind: SubstKind::Assert(some, Box::new(select)), span }
    }

    /// A witness is for something that an abstract event has.
    fn refuse_loose_witnesses(&mut self, event: Option<&Event>, parents: &[Option<&Event>]) {
        let is_for = |w: &Witness, e: &Event| e.parameters.iter().any(|p| p.name == w.of.name);
        for w in event.iter().flat_map(|e| &e.witnesses) {
            let is_variable = w.of.name.strip_suffix('\'').is_some_and(|x| self.has_variable(x));
            let is_loose = !parents.iter().flatten().any(|e| is_variable || is_for(w, e));
            if is_loose {
                let message = format!("`{}` is nothing that a refined event has", w.of.name);
                self.errors.push(Diagnostic::error("B0201", w.of.span, message));
            }
        }
    }

    fn has_variable(&self, name: &str) -> bool {
        self.levels.iter().any(|l| l.variables.contains(name))
    }

    /// The events that this one refines; nothing happens above where there is none.
    fn parents(&mut self, k: usize, event: Option<&'p Event>) -> Vec<Option<&'p Event>> {
        let Some(event) = event else { return vec![None] };
        let above = &self.levels[k + 1];
        if is_initialisation(event) {
            return vec![above.event(INITIALISATION)];
        }
        let mut parents = vec![];
        for id in &event.refines {
            match above.event(&id.name) {
                Some(parent) => parents.push(Some(parent)),
                None => {
                    let message =
                        format!("`{}` has no event `{}` to refine", above.machine.name.name, id.name);
                    self.errors.push(Diagnostic::error("B0201", id.span, message));
                }
            }
        }
        if parents.is_empty() { vec![None] } else { parents }
    }

    /// Variables of both levels that keep their value above keep it here, too.
    fn unchanged(
        &self,
        k: usize,
        event: Option<&Event>,
        known: &Known,
        above: impl Fn(&Name) -> bool,
    ) -> Vec<Step> {
        let shared =
            |x: &Name| self.levels[k].variables.contains(x) && self.levels[k + 1].variables.contains(x);
        let same = |(x, span): (&Name, &Span)| {
            let old = Ident { name: x.clone(), span: *span };
            let level = self.levels[k].machine.name.name.clone();
            let promise = Promise {
                kind: "EQL",
                level,
                event: event.map_or_else(|| self.operation.clone(), |e| e.name.name.clone()),
                about: Some(x.clone()),
                span: *span,
                operation: self.operation.clone(),
            };
            Step::Demand(with(BinOp::Eq, new_value(&old), variable(&old), *span), promise)
        };
        known.iter().filter(|(x, _)| shared(x) && above(x)).map(same).collect()
    }

    /// How `parent`, one level above `event`, follows it.
    fn simulate(&mut self, k: usize, event: &Event, parent: &Event, known: &Known) -> (Vec<Step>, Known) {
        let mut steps = self.parameters(k, event, parent);
        let own: HashSet<String> =
            event.guards.iter().chain(&event.theorems).map(|g| print::expr(&g.formula)).collect();
        let guard = if event.refines.len() > 1 { "MRG" } else { "GRD" };
        let guards = parent.guards.iter().map(|g| (g, k, event, guard));
        let demanded = guards.chain(parent.theorems.iter().map(|t| (t, k + 1, parent, "THM")));
        // What the event itself tests needs no second test.
        let demanded = demanded.filter(|(g, ..)| !own.contains(&print::expr(&g.formula)));
        steps.extend(demanded.map(|(g, k, event, kind)| {
            let promise = self.promise(k, event, kind, g.label.clone(), g.formula.span);
            Step::Demand(g.formula.clone(), promise)
        }));

        let mut known_above = known.clone();
        let mut changed = HashSet::new();
        let mut unknown: Vec<Ident> = vec![];
        let mut claims = vec![];
        let is_kept = |x: &Ident| self.levels[k].variables.contains(&x.name);
        let value = |x: &Ident| if known.contains_key(&x.name) { new_value(x) } else { variable(x) };
        for a in &parent.actions {
            changed.extend(a.variables().into_iter().map(|x| x.name.clone()));
            let is_same = event.actions.iter().any(|own| same_action(own, a));
            if is_same && a.variables().into_iter().all(is_kept) {
                continue;
            }
            let simulated = self.promise(k, event, "SIM", a.label.clone(), a.span);
            match &a.kind {
                ActionKind::Assign(pairs) => {
                    for (x, e) in pairs {
                        if is_kept(x) {
                            let claim = with(BinOp::Eq, value(x), e.clone(), a.span);
                            claims.push((claim, simulated.clone()));
                        } else {
                            steps.push(Step::Let(new(x), e.clone()));
                            known_above.insert(x.name.clone(), a.span);
                        }
                    }
                }
                ActionKind::Element(x, set) => {
                    if is_kept(x) {
                        claims.push((with(BinOp::In, value(x), set.clone(), a.span), simulated));
                    } else {
                        claims.push((with(BinOp::In, new_value(x), set.clone(), a.span), simulated));
                        unknown.push(new(x));
                        known_above.insert(x.name.clone(), a.span);
                    }
                }
                ActionKind::Such(xs, p) => {
                    claims.push((p.clone(), simulated));
                    for x in xs.iter().filter(|x| !is_kept(x)) {
                        unknown.push(new(x));
                        known_above.insert(x.name.clone(), a.span);
                    }
                }
            }
        }
        let of_variables = event.witnesses.iter().filter(|w| w.of.name.ends_with('\''));
        let mut witnesses: Vec<(Ident, Expr)> =
            of_variables.map(|w| (w.of.clone(), w.predicate.formula.clone())).collect();
        determine(&mut unknown, &mut witnesses, &mut steps);
        claims.splice(0..0, self.witnessed(k, event, witnesses));
        if unknown.is_empty() {
            steps.extend(claims.into_iter().map(|(e, p)| Step::Demand(e, p)));
        } else {
            steps.push(Step::Follow(unknown, claims));
        }
        if !is_initialisation(event) {
            steps.extend(self.unchanged(k, Some(event), known, |x| !changed.contains(x)));
        }
        self.name_old_values(&mut steps, &known_above, is_initialisation(event));
        (steps, known_above)
    }

    /// What witnesses that are no equations demand.
    fn witnessed(&self, k: usize, event: &Event, all: Vec<(Ident, Expr)>) -> Vec<(Expr, Promise)> {
        let one = |(of, p): (Ident, Expr)| {
            let promise = self.promise(k, event, "WFIS", Some(of.name), p.span);
            (p, promise)
        };
        all.into_iter().map(one).collect()
    }

    /// The parameters of `parent` that `event` does not have.
    fn parameters(&self, k: usize, event: &Event, parent: &Event) -> Vec<Step> {
        let is_own = |p: &&Ident| event.parameters.iter().any(|own| own.name == p.name);
        let mut unknown: Vec<Ident> = parent.parameters.iter().filter(|p| !is_own(p)).cloned().collect();
        if unknown.is_empty() {
            return vec![];
        }
        let mut steps = vec![];
        let of_them = event.witnesses.iter().filter(|w| unknown.iter().any(|u| u.name == w.of.name));
        let mut witnesses: Vec<(Ident, Expr)> =
            of_them.map(|w| (w.of.clone(), w.predicate.formula.clone())).collect();
        determine(&mut unknown, &mut witnesses, &mut steps);
        if unknown.is_empty() {
            let demanded = self.witnessed(k, event, witnesses).into_iter();
            steps.extend(demanded.map(|(e, p)| Step::Demand(e, p)));
            return steps;
        }
        // Without a witness any value will do that the abstract guards allow.
        let lacks = unknown.iter().any(|u| witnesses.iter().all(|(of, _)| of.name != u.name));
        let mut claims = self.witnessed(k, event, witnesses);
        if lacks {
            let kind = if event.refines.len() > 1 { "MRG" } else { "GRD" };
            claims.extend(
                parent.guards.iter().map(|g| {
                    (g.formula.clone(), self.promise(k, event, kind, g.label.clone(), g.formula.span))
                }),
            );
        }
        steps.push(Step::Follow(unknown, claims));
        steps
    }

    /// `x'` of a variable that nobody assigns is `x`.
    fn name_old_values(&mut self, steps: &mut Vec<Step>, known: &Known, is_initialisation: bool) {
        let mut used = HashSet::new();
        let mut bound = HashSet::new();
        for step in &*steps {
            match step {
                Step::Choose(ids, e) => {
                    names(e, &mut used);
                    bound.extend(ids.iter().map(|id| id.name.clone()));
                }
                Step::Follow(ids, parts) => {
                    parts.iter().for_each(|(e, _)| names(e, &mut used));
                    bound.extend(ids.iter().map(|id| id.name.clone()));
                }
                Step::Let(id, e) => {
                    names(e, &mut used);
                    bound.insert(id.name.clone());
                }
                Step::Demand(e, _) => names(e, &mut used),
            }
        }
        let old: BTreeSet<&Name> = used.iter().filter(|n| !bound.contains(*n)).collect();
        let mut lets = vec![];
        for name in old {
            let Some(x) = name.strip_suffix('\'') else { continue };
            if self.has_variable(x) && !known.contains_key(x) && !is_initialisation {
                let span = steps.first().map_or(Span::default(), Step::span);
                let id = Ident { name: name.clone(), span };
                lets.push(Step::Let(id, Expr { kind: ExprKind::Name(x.into()), span }));
            }
        }
        steps.splice(0..0, lets);
    }

    /// What level `k` demands of its variant.
    fn variant(&self, k: usize, event: &Event, known: &Known) -> Vec<Step> {
        let Some(variant) = &self.levels[k].machine.variant else { return vec![] };
        let variant = &variant.formula;
        if is_initialisation(event) {
            return vec![];
        }
        // An event whose abstraction is convergent has been shown to be so with another variant.
        let above = self.levels.get(k + 1);
        let is_done = |id: &Ident| {
            above.and_then(|l| l.event(&id.name)).is_some_and(|e| e.status == Status::Convergent)
        };
        if !event.refines.is_empty() && event.refines.iter().all(is_done) {
            return vec![];
        }
        let after = renamed(variant.clone(), known);
        let span = variant.span;
        let below = ExprKind::Below(Box::new(after.clone()), Box::new(variant.clone()));
        let below = Expr { kind: below, span };
        let demand = |e, kind| Step::Demand(e, self.promise(k, event, kind, None, span));
        let bounded = Expr { kind: ExprKind::Bounded(Box::new(variant.clone())), span };
        match event.status {
            Status::Ordinary => vec![],
            Status::Convergent => vec![demand(bounded, "NAT"), demand(below, "VAR")],
            Status::Anticipated => {
                let same = with(BinOp::Eq, after, variant.clone(), span);
                vec![demand(with(BinOp::Or, same, below, span), "VAR")]
            }
        }
    }
}

impl Step {
    fn span(&self) -> Span {
        match self {
            Step::Choose(_, e) | Step::Let(_, e) | Step::Demand(e, _) => e.span,
            Step::Follow(_, parts) => follow_span(parts),
        }
    }
}

/// The place to show for several demands at once.
fn follow_span(parts: &[(Expr, Promise)]) -> Span {
    parts.iter().map(|(e, _)| e.span).reduce(Span::to).unwrap_or_default()
}

fn all_of(parts: Vec<(Expr, Promise)>) -> Expr {
    let span = follow_span(&parts);
    join(BinOp::And, Lit::BTrue, parts.into_iter().map(|(e, _)| e).collect(), span)
}

/// The body under the guards of the event.
pub fn guarded(event: &Event, inner: Subst) -> Subst {
    match conjunction(&event.guards, event.span) {
        None => inner,
        Some(guard) => {
            let span = inner.span;
            Subst { kind: SubstKind::Select(vec![(guard, inner)], None), span }
        }
    }
}

/// A way in which all levels above follow an event.
pub struct Followed {
    steps: Vec<Step>,
    known: Known,
    /// What the event itself changes.
    own: Known,
    /// How many steps are the event's own.
    begun: usize,
}

impl Followed {
    /// The levels follow where they can.
    pub fn whole(self, span: Span) -> Subst {
        wrap(self.steps, assignment(&self.known, span), false)
    }

    /// The event's own changes where the first demands are met: for each demand, with those before it.
    pub fn stages(&self, span: Span) -> Vec<(Subst, Promise)> {
        let mut stages = vec![];
        for (i, step) in self.steps.iter().enumerate() {
            let before = || self.steps[..i].iter().cloned();
            // The event's own actions are done in any case.
            let rest = || {
                let later = self.steps[..self.begun].iter().skip(i + 1);
                let own = later.filter(|s| matches!(s, Step::Choose(..) | Step::Let(..))).cloned().collect();
                wrap(own, assignment(&self.own, span), false)
            };
            match step {
                Step::Demand(_, p) => {
                    stages.push((wrap(before().chain([step.clone()]).collect(), rest(), false), p.clone()));
                }
                Step::Follow(ids, parts) => {
                    for (n, (_, p)) in parts.iter().enumerate() {
                        // The others only give the unknowns their types.
                        let mut some = parts[..=n].to_vec();
                        some.extend(parts[n + 1..].iter().map(|(e, p)| {
                            let always = literal_at(Lit::BTrue, e.span);
                            (with(BinOp::Or, always, e.clone(), e.span), p.clone())
                        }));
                        let upto = Step::Follow(ids.clone(), some);
                        let steps: Vec<Step> = before().chain([upto]).collect();
                        stages.push((wrap(steps, rest(), false), p.clone()));
                    }
                }
                Step::Choose(..) | Step::Let(..) => {}
            }
        }
        stages
    }
}

pub fn is_initialisation(event: &Event) -> bool {
    &*event.name.name == INITIALISATION
}

fn variable(x: &Ident) -> Expr {
    Expr { kind: ExprKind::Name(x.name.clone()), span: x.span }
}

fn new(x: &Ident) -> Ident {
    Ident { name: primed(&x.name), span: x.span }
}

fn new_value(x: &Ident) -> Expr {
    variable(&new(x))
}

/// The conjunction of some predicates; `None` of none.
pub fn conjunction(parts: &[Labelled], span: Span) -> Option<Expr> {
    let parts: Vec<Expr> = parts.iter().map(|l| l.formula.clone()).collect();
    (!parts.is_empty()).then(|| join(BinOp::And, Lit::BTrue, parts, span))
}

pub fn same_action(a: &Action, b: &Action) -> bool {
    let text = |e: &Expr| print::expr(e);
    match (&a.kind, &b.kind) {
        (ActionKind::Assign(a), ActionKind::Assign(b)) => {
            let same =
                |(x, e): &(Ident, Expr), (y, f): &(Ident, Expr)| x.name == y.name && text(e) == text(f);
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b))
        }
        (ActionKind::Element(x, e), ActionKind::Element(y, f)) => x.name == y.name && text(e) == text(f),
        (ActionKind::Such(xs, p), ActionKind::Such(ys, q)) => {
            xs.len() == ys.len() && xs.iter().zip(ys).all(|(x, y)| x.name == y.name) && text(p) == text(q)
        }
        _ => false,
    }
}

/// Unknowns that a witness determines by an equation get that value.
fn determine(unknown: &mut Vec<Ident>, witnesses: &mut Vec<(Ident, Expr)>, steps: &mut Vec<Step>) {
    loop {
        let found = witnesses.iter().enumerate().find_map(|(i, (of, p))| {
            let at = unknown.iter().position(|u| u.name == of.name)?;
            let value = defines(&of.name, p)?;
            let mut used = HashSet::new();
            names(value, &mut used);
            let is_known = !unknown.iter().any(|u| used.contains(&u.name));
            is_known.then(|| (i, at, value.clone()))
        });
        let Some((i, at, value)) = found else { return };
        witnesses.remove(i);
        steps.push(Step::Let(unknown.remove(at), value));
    }
}

/// The other side of an equation.
pub fn defines<'e>(name: &Name, p: &'e Expr) -> Option<&'e Expr> {
    let is_name = |e: &Expr| matches!(&e.kind, ExprKind::Name(n) if n == name);
    match &p.kind {
        ExprKind::Binary(BinOp::Eq, a, b) if is_name(a) => Some(b),
        ExprKind::Binary(BinOp::Eq, a, b) if is_name(b) => Some(a),
        _ => None,
    }
}

/// The same after the event: variables with a new value are primed, bound names are not.
pub fn renamed(mut e: Expr, known: &Known) -> Expr {
    fn walk(e: &mut Expr, known: &Known, bound: &[Name]) {
        let mut inner = bound.to_vec();
        match &mut e.kind {
            ExprKind::Name(n) if known.contains_key(n) && !bound.contains(n) => *n = primed(n),
            ExprKind::Quant(_, ids, _)
            | ExprKind::Compr(ids, _)
            | ExprKind::Bind(_, ids, ..)
            | ExprKind::ComprMap(ids, ..)
            | ExprKind::Let(ids, ..) => inner.extend(ids.iter().map(|id| id.name.clone())),
            _ => {}
        }
        children_mut(e, &mut |c| walk(c, known, &inner));
    }
    walk(&mut e, known, &[]);
    e
}

fn assignment(known: &Known, span: Span) -> Subst {
    let id = |(name, span): (&Name, &Span)| Ident { name: name.clone(), span: *span };
    let left = known.iter().map(|x| variable(&id(x))).collect();
    let right = known.iter().map(|x| new_value(&id(x))).collect();
    let kind = if known.is_empty() { SubstKind::Skip } else { SubstKind::Assign(left, right) };
    Subst { kind, span }
}

fn exists(ids: Vec<Ident>, p: Expr) -> Expr {
    let span = p.span;
    Expr { kind: ExprKind::Quant(Quant::Exists, ids, Box::new(p)), span }
}

fn equation(id: &Ident, e: &Expr) -> Expr {
    with(BinOp::Eq, variable(id), e.clone(), e.span)
}

/// The steps one after the other, and then the rest. What is demanded is an error where it fails; otherwise it is a
/// condition.
fn wrap(steps: Vec<Step>, rest: Subst, demand: bool) -> Subst {
    let mut steps = steps;
    let mut rest = rest;
    while let Some(step) = steps.pop() {
        let span = rest.span;
        let inner = Box::new(rest);
        let kind = match step {
            Step::Let(id, e) => {
                // Equations that do not need each other are one LET.
                let mut used = HashSet::new();
                names(&e, &mut used);
                let mut equations = vec![equation(&id, &e)];
                let mut ids = vec![id];
                while let Some(Step::Let(id, e)) = steps.last() {
                    let mut needed = HashSet::new();
                    names(e, &mut needed);
                    let is_free = |x: &Ident| !needed.contains(&x.name) && x.name != id.name;
                    if used.contains(&id.name) || !ids.iter().all(is_free) || needed.contains(&id.name) {
                        break;
                    }
                    used.extend(needed);
                    equations.push(equation(id, e));
                    ids.push(id.clone());
                    steps.pop();
                }
                ids.reverse();
                equations.reverse();
                SubstKind::Let(ids, join(BinOp::And, Lit::BTrue, equations, span), inner)
            }
            Step::Demand(p, _) if demand => SubstKind::Assert(p, inner),
            Step::Demand(p, _) => SubstKind::Select(vec![(p, *inner)], None),
            Step::Follow(ids, parts) if demand => {
                let p = all_of(parts);
                let any = SubstKind::Any(ids.clone(), p.clone(), inner);
                SubstKind::Assert(exists(ids, p), Box::new(Subst { kind: any, span }))
            }
            Step::Follow(ids, parts) => SubstKind::Any(ids, all_of(parts), inner),
            Step::Choose(ids, p) => SubstKind::Any(ids, p, inner),
        };
        rest = Subst { kind, span };
    }
    rest
}

/// How deeply substitutions nest.
fn depth(s: &Subst) -> u32 {
    let mut most = 0;
    subst_children(s, &mut |_| {}, &mut |c| most = most.max(depth(c)));
    most + 1
}

/// Whether the steps can be taken.
fn as_predicate(steps: &[Step], span: Span) -> Expr {
    let and = |a: Expr, b: Expr| match &b.kind {
        ExprKind::Lit(Lit::BTrue) => a,
        _ => {
            let span = a.span;
            with(BinOp::And, a, b, span)
        }
    };
    steps.iter().rev().fold(literal_at(Lit::BTrue, span), |rest, step| match step {
        Step::Let(id, e) => {
            let kind = ExprKind::Let(vec![id.clone()], Box::new(equation(id, e)), Box::new(rest));
            Expr { kind, span }
        }
        Step::Demand(p, _) => and(p.clone(), rest),
        Step::Choose(ids, p) => exists(ids.clone(), and(p.clone(), rest)),
        Step::Follow(ids, parts) => exists(ids.clone(), and(all_of(parts.clone()), rest)),
    })
}
