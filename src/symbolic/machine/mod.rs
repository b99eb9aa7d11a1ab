//! A whole machine as formulas: constants, INITIALISATION, operations and what is checked, as transitions that the engines
//! of `kanon_solver` work on.
//!
//! **Shapes of variables.** What the invariant says bounds the room that a variable has in a state, and nothing more: a
//! step whose values have no room leads to a state that is *outside* ([`Observer::Outside`]), which is bad. So the step
//! that breaks the invariant is there. Outside of the room some conjunct of the invariant is false or undefined, so
//! such a state is a finding if the invariant is observed; whoever decodes a path looks for it with the evaluator. If
//! no state outside can be reached, every variable always has room, and what holds of the formulas holds of the machine.
//!
//! Absent on purpose: solvers, verdicts. [`Encoded::transitions`] is for them, [`Encoded::constants`] and
//! [`Encoded::state`] read what they find.

mod enabled;
mod fit;
mod run;

use super::encode::{Encoder, Env, Hull, Limits, Mutant, Shape, Slot, Val, attempt};
use super::{Refused, Res, decode};
use crate::lang::diag::Span;
use crate::model::{ConstId, Expr, ExprKind, Model, OpId, Type, VarId};
use crate::value::{Scope, Value};
use fit::fit;
use kanon_solver::eval::Evaluator;
use kanon_solver::quantified::Quantifiers;
use kanon_solver::term::{Assignment, Bool, Term, Terms, Var};
use kanon_solver::transition::{Cell, EventFormula, Property, Transitions};
use run::{Pre, Run, Runner, read};

/// What is looked for in states. That everything has a value is looked at in any case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wanted {
    pub invariant: bool,
    pub assertions: bool,
    pub goal: bool,
    pub deadlock: bool,
}

/// What a property of the transitions stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Observer {
    /// By its place in the model.
    Invariant(usize),
    Assertion(usize),
    Goal,
    Deadlock,
    /// An operation has a value in every state.
    Definedness(OpId),
    /// The formulas have room for the state.
    Outside,
}

/// A machine as formulas.
pub struct Encoded<'m> {
    pub encoder: Encoder<'m>,
    pub transitions: Transitions,
    /// In the order of [`Transitions::properties`].
    pub observers: Vec<Observer>,
    /// What is wanted and has no formula: no answer is about it.
    pub uncovered: Vec<(Observer, Refused)>,
    /// In the order of [`Transitions::events`].
    pub events: Vec<OpId>,
    /// PROPERTIES may be neither true nor false for some constants: this has a model then. `None`: nobody knows.
    pub undefined_properties: Option<Bool>,
    /// Quantifiers of PROPERTIES that were not unfolded: variables of the axioms stand for them, about which the axioms
    /// say less than is true. What holds under them holds; what has a model need not have one.
    pub quantifiers: Quantifiers,
    /// The conjuncts of PROPERTIES, for constants that are values.
    pub conjuncts: Vec<(Span, Bool)>,
    constants: Vec<Shape<'m>>,
    cells: Vec<Room<'m>>,
    outside: Bool,
}

/// A variable: what it can be, and its shape now and after a step.
struct Room<'m> {
    hull: Hull,
    now: Shape<'m>,
    next: Shape<'m>,
    span: Span,
}

/// Makes formulas of a machine.
///
/// # Errors
/// What has no formula, with its place.
pub fn encode<'m>(
    model: &'m Model,
    scope: &'m Scope,
    wanted: Wanted,
    limits: Limits,
    mutant: Mutant,
) -> Res<Encoded<'m>> {
    let open_quantifiers = limits.open_quantifiers;
    let mut e = Encoder::new(model, scope, limits);
    e.mutant = mutant;
    // Constants.
    let slots: Vec<Slot> = (0..model.constants.len()).map(|i| Slot::Const(ConstId(i as u32))).collect();
    let properties: Vec<&Expr> = model.properties.iter().collect();
    let span = model.properties.first().map_or(model.initialisation.span, |p| p.span);
    let (rigid_env, constants) = e.unknowns(&Env::new(model), &slots, &properties, span)?;
    let values: Vec<Bool> = constants.iter().map(|s| s.is_value).collect();
    let values = e.terms.and(values);
    let (mut truths, mut parts) = (vec![], vec![]);
    e.quantifiers = open_quantifiers.then(Quantifiers::default);
    for p in &properties {
        let t = e.pred(&rigid_env, p)?;
        truths.push(t);
        parts.push((p.span, e.terms.and([values, t.yes])));
    }
    let quantifiers = e.quantifiers.take().unwrap_or_default();
    let all = e.and(&truths);
    let axioms = e.terms.and([values, all.yes]);
    let def = all.def(&mut e.terms);
    let undefined = e.terms.and([values, !def]);
    let undefined_properties = (!e.has_partial_hulls).then_some(undefined);
    // Variables.
    let slots: Vec<Slot> = (0..model.variables.len()).map(|i| Slot::Var(VarId(i as u32))).collect();
    let invariant: Vec<&Expr> = model.invariant.iter().collect();
    let (now_env, shaped) = e.shaped(&rigid_env, &slots, &invariant, false, model.initialisation.span)?;
    let mut cells = vec![];
    for ((hull, now), decl) in shaped.into_iter().zip(&model.variables) {
        // Nothing was determined, so each has one.
        let Some(hull) = hull else { return super::unsupported(decl.span, "a variable without a shape") };
        let next = e.shape(&hull, &decl.name, decl.span)?;
        cells.push(Room { hull, now, next, span: decl.span });
    }
    let out = [e.terms.bool_var("outside"), e.terms.bool_var("outside'")];
    let [outside, outside_next] = out.map(|v| e.terms.of_bool(v));
    let mut maker = Maker { e, cells, outside, outside_next };
    // INITIALISATION.
    let mut runner = Runner { encoder: &mut maker.e, inputs: vec![] };
    let run = runner.run(&rigid_env, &model.initialisation, Pre::Duty)?;
    let init_inputs = runner.inputs;
    let mut unassigned = vec![];
    for i in 0..model.variables.len() {
        unassigned.push(!run.env.variable(VarId(i as u32)).def);
    }
    let unassigned = maker.e.terms.or(unassigned);
    let unassigned = maker.e.terms.and([run.go, unassigned]);
    let run = Run { go: maker.e.terms.and([run.go, !unassigned]), ..run };
    let fault = maker.e.terms.or([run.fault, unassigned]);
    let init = maker.step(&run, None)?;
    // Operations.
    let good_now: Vec<Bool> = maker.cells.iter().map(|c| c.now.is_value).chain([!outside]).collect();
    let good_now = maker.e.terms.and(good_now);
    let (mut events, mut operations, mut observed) = (vec![], vec![], vec![]);
    for (i, op) in model.operations.iter().enumerate().filter(|(_, op)| op.is_event) {
        let mut runner = Runner { encoder: &mut maker.e, inputs: vec![] };
        let (env, ok) = runner.choose(&now_env, &op.params, &enabled::guard(op), op.span)?;
        let run = runner.run(&env, &op.body, Pre::Guard)?;
        let inputs = runner.inputs;
        let terms = &mut maker.e.terms;
        let (go, escape) = (terms.and([ok, run.go]), terms.and([ok, run.escape]));
        let fault = terms.and([ok, run.fault]);
        let step = maker.step(&Run { go, escape, fault, ..run }, Some(&now_env))?;
        let step = maker.e.terms.and([good_now, step]);
        let id = OpId(i as u32);
        let is_undefined = Bool::FALSE;
        operations.push(id);
        events.push(EventFormula {
            name: op.name.clone(),
            inputs: inputs.clone(),
            step,
            is_enabled: None,
            is_undefined,
        });
        observed.push((Observer::Definedness(id), fault, inputs));
    }
    // What is looked for.
    let (mut properties, mut observers, mut uncovered) = (vec![], vec![], vec![]);
    let mut add = |terms: &Terms, observer, is_bad: Bool, inputs: &[Var]| {
        let used = terms.variables(&[Term::Bool(is_bad)]);
        let inputs = inputs.iter().copied().filter(|v| used.contains(v)).collect();
        properties.push(Property { name: format!("{observer:?}").into(), is_bad, inputs });
        observers.push(observer);
    };
    add(&maker.e.terms, Observer::Outside, outside, &[]);
    let mut tests = vec![];
    if wanted.invariant {
        tests.extend(model.invariant.iter().enumerate().map(|(i, p)| (Observer::Invariant(i), p)));
    }
    if wanted.assertions {
        tests.extend(model.assertions.iter().enumerate().map(|(i, p)| (Observer::Assertion(i), p)));
    }
    if wanted.goal {
        tests.extend(model.goal.iter().map(|p| (Observer::Goal, p)));
    }
    for (observer, p) in tests {
        match maker.e.pred(&now_env, p) {
            Ok(t) => {
                let bad = if observer == Observer::Goal { !t.no } else { !t.yes };
                add(&maker.e.terms, observer, bad, &[]);
            }
            Err(refused) => uncovered.push((observer, *refused)),
        }
    }
    for (observer, bad, inputs) in observed {
        if bad != Bool::FALSE {
            add(&maker.e.terms, observer, bad, &inputs);
        }
    }
    let mut init_undefined = fault;
    if wanted.deadlock && !operations.is_empty() {
        match maker.deadlock(&now_env, &rigid_env, model) {
            Ok((bad, no_start)) => {
                add(&maker.e.terms, Observer::Deadlock, bad, &[]);
                init_undefined = maker.e.terms.or([init_undefined, no_start]);
            }
            Err(refused) => uncovered.push((Observer::Deadlock, *refused)),
        }
    }
    let Maker { e, cells, .. } = maker;
    let [now, next] = out.map(Var::Bool);
    let mut all = vec![Cell { now, next }];
    for room in &cells {
        let pairs = room.now.vars.iter().zip(&room.next.vars);
        all.extend(pairs.map(|(&now, &next)| Cell { now, next }));
    }
    let transitions = Transitions {
        cells: all,
        rigid: constants.iter().flat_map(|s| s.vars.iter().copied()).collect(),
        axioms,
        axiom_inputs: vec![],
        init,
        init_inputs,
        init_undefined,
        events,
        properties,
    };
    let mut encoded = Encoded {
        encoder: e,
        transitions,
        observers,
        uncovered,
        events: operations,
        undefined_properties,
        quantifiers,
        conjuncts: parts,
        constants,
        cells,
        outside,
    };
    encoded.learn(&[]);
    Ok(encoded)
}

/// What some conjuncts of PROPERTIES say by themselves.
pub struct Alone<'m> {
    pub encoder: Encoder<'m>,
    pub quantifiers: Quantifiers,
    /// Not false: if nothing makes this true, PROPERTIES are false, whatever the other conjuncts say.
    pub is_not_false: Bool,
    /// The same of each.
    pub conjuncts: Vec<(Span, Bool)>,
}

/// The conjuncts of PROPERTIES about constants without sets over infinite types, as far as they have formulas: for models
/// whose other constants have none.
///
/// # Errors
/// There is no such conjunct, or the formula became too large.
pub fn properties_alone<'m>(model: &'m Model, scope: &'m Scope, limits: Limits) -> Res<Alone<'m>> {
    let mut e = Encoder::new(model, scope, limits);
    // What bounds a constant has to make a conjunct false for all other values.
    e.only_total_hulls = true;
    let is_plain = |id: ConstId| model.constants.get(id.index()).is_some_and(|c| is_scalar(&c.ty));
    let foreign = |e: &Expr| matches!(e.kind, ExprKind::Const(id) if !is_plain(id));
    let preds: Vec<&Expr> = model.properties.iter().filter(|p| !p.any(&foreign)).collect();
    let Some(span) = preds.first().map(|p| p.span) else {
        return super::unsupported(model.initialisation.span, "no conjunct of PROPERTIES stands for itself");
    };
    let ids = (0..model.constants.len()).map(|i| ConstId(i as u32)).filter(|id| is_plain(*id));
    let slots: Vec<Slot> = ids.map(Slot::Const).collect();
    let (env, shapes) = e.unknowns(&Env::new(model), &slots, &preds, span)?;
    let values = e.terms.and(shapes.iter().map(|s| s.is_value));
    e.quantifiers = Some(Quantifiers::default());
    let (mut truths, mut conjuncts) = (vec![], vec![]);
    for p in preds {
        if let Some(t) = attempt(e.pred(&env, p))? {
            truths.push(t);
            conjuncts.push((p.span, e.terms.and([values, !t.no])));
        }
    }
    let all = e.and(&truths);
    let is_not_false = e.terms.and([values, !all.no]);
    let quantifiers = e.quantifiers.take().unwrap_or_default();
    Ok(Alone { encoder: e, quantifiers, is_not_false, conjuncts })
}

fn is_scalar(ty: &Type) -> bool {
    match ty {
        Type::Int | Type::Bool | Type::Given(_) => true,
        Type::Pair(p) => is_scalar(&p.0) && is_scalar(&p.1),
        Type::Rec(fields) => fields.iter().all(|(_, t)| is_scalar(t)),
        _ => false,
    }
}

struct Maker<'m> {
    e: Encoder<'m>,
    cells: Vec<Room<'m>>,
    outside: Bool,
    outside_next: Bool,
}

impl<'m> Maker<'m> {
    /// The run ends in `next`; `before` has the values of what it did not write.
    fn step(&mut self, run: &Run<'m>, before: Option<&Env<'m>>) -> Res<Bool> {
        let (mut same, mut fits) = (vec![run.go, !self.outside_next], vec![]);
        for i in 0..self.cells.len() {
            let id = VarId(i as u32);
            let room = &self.cells[i];
            same.push(room.next.is_value);
            let target = crate::model::Target::Var(id);
            if before.is_some() && !run.written.contains_key(&target) {
                let pairs: Vec<(Var, Var)> =
                    room.now.vars.iter().copied().zip(room.next.vars.iter().copied()).collect();
                for (now, next) in pairs {
                    same.push(self.e.terms.same(now, next));
                }
                continue;
            }
            let value: Val<'m> = read(&run.env, target);
            let part = fit(&mut self.e, &value.sym, &room.hull, &room.next.sym, room.span)?;
            same.push(part.same);
            fits.push(part.fits);
        }
        let terms = &mut self.e.terms;
        let (same, fits) = (terms.and(same), terms.and(fits));
        let leaves = terms.and([run.go, !fits]);
        let leaves = terms.or([leaves, run.escape]);
        let leaves = terms.and([leaves, self.outside_next]);
        Ok(terms.or([same, leaves]))
    }

    /// No operation has an end; and INITIALISATION has none, for some constants.
    fn deadlock(&mut self, now: &Env<'m>, rigid: &Env<'m>, model: &'m Model) -> Res<(Bool, Bool)> {
        let mut ways = vec![];
        for op in model.operations.iter().filter(|op| op.is_event) {
            ways.push(enabled::operation(&mut self.e, now, op)?);
        }
        let enabled = self.e.terms.or(ways);
        let no_start = if model.constants.is_empty() {
            Bool::FALSE
        } else {
            !enabled::statement(&mut self.e, rigid, &model.initialisation)?
        };
        Ok((self.e.terms.and([!enabled, !self.outside]), no_start))
    }
}

impl Encoded<'_> {
    /// Adds to the axioms what is true of the variables that stand for quantifiers.
    pub fn learn(&mut self, lemmas: &[Bool]) {
        let (t, terms) = (&mut self.transitions, &mut self.encoder.terms);
        t.axioms = terms.and(lemmas.iter().copied().chain([t.axioms]));
        if !self.quantifiers.is_empty() {
            let used = terms.variables(&[t.axioms.into()]);
            t.axiom_inputs = used.into_iter().filter(|v| !t.rigid.contains(v)).collect();
        }
    }

    /// That the constants are those of a path.
    pub fn same_constants(&mut self, found: &Assignment) -> Vec<Bool> {
        let (t, terms) = (&self.transitions, &mut self.encoder.terms);
        let mut all = vec![];
        for &v in &t.rigid {
            all.push(match v {
                Var::Bool(b) => {
                    let term = terms.of_bool(b);
                    if found.bool_var(b) { term } else { !term }
                }
                Var::Int(i) => {
                    let value = found.int_var(terms, i);
                    let (term, value) = (terms.of_int(i), terms.constant(value));
                    terms.eq(term, value)
                }
            });
        }
        all
    }

    /// The constants; `None` for one without a plain value.
    pub fn constants(&self, found: &Assignment) -> Vec<Option<Value>> {
        let mut under = Evaluator::new(&self.encoder.terms, found);
        self.constants.iter().map(|s| decode::value(&s.sym, &mut under)).collect()
    }

    /// The variables of a state, from the cells' `now`; `None` if it is outside.
    pub fn state(&self, found: &Assignment) -> Option<Vec<Value>> {
        let mut under = Evaluator::new(&self.encoder.terms, found);
        if under.bool(self.outside) {
            return None;
        }
        self.cells.iter().map(|c| decode::value(&c.now.sym, &mut under)).collect()
    }

    /// Whether some integer of the system has no bounds.
    pub fn has_unbounded_integers(&self) -> bool {
        let t = &self.transitions;
        let cells = t.cells.iter().map(|c| c.now);
        let inputs = t.events.iter().flat_map(|e| &e.inputs).chain(&t.init_inputs).chain(&t.rigid).copied();
        cells.chain(inputs).any(|v| match v {
            Var::Int(v) => {
                let bounds = self.encoder.terms.bounds(v);
                bounds.low.is_none() || bounds.high.is_none()
            }
            Var::Bool(_) => false,
        })
    }

    /// The shapes of the constants, in their order.
    pub fn constant_shapes(&self) -> &[Shape<'_>] {
        &self.constants
    }

    /// The shape of a variable now, to speak of it in B.
    pub fn shape(&self, id: VarId) -> Option<&Shape<'_>> {
        self.cells.get(id.index()).map(|c| &c.now)
    }
}
