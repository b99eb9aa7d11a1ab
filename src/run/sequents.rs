//! The proof obligations of a refinement, in Event-B as Rodin names them, decided by a solver for all states at the scope
//! of the run; and whether the file says the same.
//!
//! An obligation is proved if no values of the constants, variables, parameters and new values fulfil its hypotheses and
//! not its goal. A hypothesis that has no formula is left out, which makes a proof no weaker. What the solver finds is a
//! counterexample only when the reference says so of every hypothesis and of the goal.

use super::answer::Place;
use super::deadline::Deadline;
use super::prove::{Example, FUEL, Kind, Obligation, Proved, Status, Task, shown};
use super::symbolic::{Backend, WD, start};
use crate::eval::reference::{self, Cx};
use crate::explore::plan::Refusal;
use crate::model::open::{Opened, OpenedSequents};
use crate::model::reading::Reading;
use crate::model::sequents::{Sequent, Sequents, Stated, Wanted};
use crate::model::{ConstId, Decl, Expr, ExprKind, LocalId, Model, VarId};
use crate::symbolic::encode::{Encoder, Env, Limits, Shape, Slot};
use crate::symbolic::{Refused, decode};
use crate::value::Value;
use crate::value::fault::Fault;
use kanon_solver::eval::Evaluator;
use kanon_solver::smt;
use kanon_solver::solver::{Outcome, Stop};
use kanon_solver::term::{Assignment, Bool, Var};
use std::collections::BTreeSet;
use std::time::Instant;

/// Decides the obligations.
///
/// # Errors
/// Another reading of undefined terms than the default.
pub fn prove(
    project: &OpenedSequents,
    task: &Task,
    deadline: &Deadline,
    progress: &mut dyn FnMut(usize, usize),
) -> Result<Proved, Refusal> {
    let begin = Instant::now();
    let OpenedSequents { opened, sequents } = project;
    if opened.reading != Reading::Kleene {
        return Err(WD);
    }
    let mut decider = Decider {
        opened,
        sequents,
        task,
        stop: Stop::never().with_flag(deadline.flag.clone()),
        limits: Limits { stop: Some(deadline.flag.clone()), ..Limits::default() },
        asked: BTreeSet::new(),
    };
    let mut obligations = vec![];
    let mut base: Option<(usize, Result<Base<'_>, String>)> = None;
    for (done, s) in sequents.all.iter().enumerate() {
        progress(done, sequents.all.len());
        let begin = Instant::now();
        let status = match (&s.stated, deadline.is_set()) {
            (_, true) => Status::Undecided("the time is up".into()),
            (Err(why), _) => Status::Undecided(format!("its formulas do not fit together: {why}")),
            (Ok(stated), false) => {
                if base.as_ref().is_none_or(|(known, _)| *known != s.known) {
                    base = Some((s.known, decider.base(s.known)));
                }
                match &mut base {
                    Some((_, Ok(base))) => decider.decide(base, stated),
                    Some((_, Err(why))) => Status::Undecided(why.clone()),
                    None => Status::Undecided("it has no hypotheses".into()),
                }
            }
        };
        // Without what it does not speak of there may be a formula.
        let status = match (status, &s.stated) {
            (Status::Undecided(why), Ok(stated)) if why != VACUOUS && !deadline.is_set() => {
                match decider.about(s, stated).map(|mut base| decider.decide(&mut base, stated)) {
                    Ok(Status::Proved) => Status::Proved,
                    Ok(status @ Status::Disproved(_)) => status,
                    Ok(Status::Undecided(_)) | Err(_) => Status::Undecided(why),
                }
            }
            (status, _) => status,
        };
        obligations.push(Obligation {
            name: format!("{}/{}", s.component, s.name),
            kind: Kind::Stated(s.kind),
            place: Place::of(&opened.sources, s.span),
            status,
            discharged: s.discharged,
            seconds: begin.elapsed().as_secs_f64(),
        });
    }
    let solver = decider.asked.into_iter().collect::<Vec<_>>().join(" and ");
    let (redundant, seconds) = (vec![], begin.elapsed().as_secs_f64());
    Ok(Proved { obligations, redundant, refused: None, solver, seconds })
}

const VACUOUS: &str = "no values fulfil the axioms and invariants at this scope, so that everything would follow \
                       from them";

struct Decider<'m> {
    opened: &'m Opened,
    sequents: &'m Sequents,
    task: &'m Task,
    stop: Stop,
    limits: Limits,
    /// Who was asked.
    asked: BTreeSet<&'static str>,
}

/// The hypotheses that several obligations have in common.
struct Base<'m> {
    encoder: Encoder<'m>,
    env: Env<'m>,
    slots: Vec<Slot>,
    shapes: Vec<Shape<'m>>,
    /// The values are some, and the hypotheses are true.
    claims: Vec<Bool>,
    /// All of them, also those without a formula.
    known: Vec<&'m Expr>,
    /// Some hypotheses are not here: nothing is confirmed then.
    is_partial: bool,
    /// Nothing fulfils them: everything would follow, and nothing is called proved.
    is_vacuous: bool,
}

fn slots_of(model: &Model) -> Vec<Slot> {
    let constants = (0..model.constants.len()).map(|i| Slot::Const(ConstId(i as u32)));
    constants.chain((0..model.variables.len()).map(|i| Slot::Var(VarId(i as u32)))).collect()
}

/// The constants and variables that a formula speaks of.
fn spoken_of(e: &Expr, found: &mut BTreeSet<(bool, u32)>) {
    e.for_each_part(&mut |part| match part.kind {
        ExprKind::Const(c) => {
            found.insert((false, c.0));
        }
        ExprKind::Var(v) | ExprKind::Old(v) => {
            found.insert((true, v.0));
        }
        _ => {}
    });
}

fn key(slot: Slot) -> Option<(bool, u32)> {
    match slot {
        Slot::Const(c) => Some((false, c.0)),
        Slot::Var(v) => Some((true, v.0)),
        Slot::Local(_) => None,
    }
}

impl<'m> Decider<'m> {
    fn model(&self) -> &'m Model {
        &self.opened.model
    }

    fn refused(&self, r: &Refused) -> String {
        format!("there is no formula for it: {}", super::symbolic::refused(self.opened, r))
    }

    /// With so many of the known hypotheses.
    fn base(&self, known: usize) -> Result<Base<'m>, String> {
        let known: Vec<&Expr> = self.sequents.known[..known].iter().collect();
        let mut used = BTreeSet::new();
        known.iter().for_each(|e| spoken_of(e, &mut used));
        let here = self.sequents.all.iter().filter(|s| s.known == known.len());
        for s in here.filter_map(|s| s.stated.as_ref().ok()) {
            s.hypotheses.iter().chain([&s.goal]).for_each(|e| spoken_of(e, &mut used));
        }
        let slots = slots_of(self.model()).into_iter().filter(|s| key(*s).is_some_and(|k| used.contains(&k)));
        self.encoded(slots.collect(), known, false)
    }

    /// With those known hypotheses only that speak of nothing but what this obligation speaks of.
    fn about(&self, s: &Sequent, stated: &Stated) -> Result<Base<'m>, String> {
        let mut used = BTreeSet::new();
        stated.hypotheses.iter().chain([&stated.goal]).for_each(|e| spoken_of(e, &mut used));
        let slots = slots_of(self.model()).into_iter().filter(|s| key(*s).is_some_and(|k| used.contains(&k)));
        let all = &self.sequents.known[..s.known];
        let known = all.iter().filter(|e| {
            let mut theirs = BTreeSet::new();
            spoken_of(e, &mut theirs);
            theirs.is_subset(&used)
        });
        let known: Vec<&Expr> = known.collect();
        let is_partial = known.len() < all.len();
        self.encoded(slots.collect(), known, is_partial)
    }

    fn encoded(&self, slots: Vec<Slot>, known: Vec<&'m Expr>, is_partial: bool) -> Result<Base<'m>, String> {
        let model = self.model();
        let mut encoder = Encoder::new(model, &self.opened.scope, self.limits.clone());
        encoder.mutant = self.task.mutant;
        let span = known.first().map_or(model.initialisation.span, |e| e.span);
        let shaped = encoder.unknowns(&Env::new(model), &slots, &known, span);
        let (env, shapes) = shaped.map_err(|r| self.refused(&r))?;
        let mut claims: Vec<Bool> = shapes.iter().map(|s| s.is_value).collect();
        for e in &known {
            if let Ok(t) = encoder.pred(&env, e) {
                claims.push(t.yes);
            }
        }
        let mut base = Base { encoder, env, slots, shapes, claims, known, is_partial, is_vacuous: false };
        base.is_vacuous = base.claims.contains(&Bool::FALSE) || self.is_refuted(&base);
        Ok(base)
    }

    /// Whether no values fulfil the common hypotheses.
    fn is_refuted(&self, base: &Base<'m>) -> bool {
        let Ok(mut solver) = start(self.backend(base, &[]), &self.stop.within(self.task.limit)) else {
            return false;
        };
        let terms = &base.encoder.terms;
        base.claims.iter().for_each(|c| solver.assert(terms, *c));
        matches!(solver.check(terms, &[]), Outcome::Unsat(_))
    }

    fn decide(&mut self, base: &mut Base<'m>, stated: &'m Stated) -> Status {
        if base.is_vacuous {
            return Status::Undecided(VACUOUS.into());
        }
        let hypotheses: Vec<&Expr> = stated.hypotheses.iter().collect();
        let locals: Vec<Slot> = stated.locals.iter().map(|l| Slot::Local(*l)).collect();
        let span = stated.goal.span;
        let (env, shapes) = match base.encoder.unknowns(&base.env, &locals, &hypotheses, span) {
            Ok(found) => found,
            Err(r) => return Status::Undecided(self.refused(&r)),
        };
        let mut claims = base.claims.clone();
        claims.extend(shapes.iter().map(|s| s.is_value));
        for h in &hypotheses {
            if let Ok(t) = base.encoder.pred(&env, h) {
                claims.push(t.yes);
            }
        }
        let goal = match base.encoder.pred(&env, &stated.goal) {
            Ok(t) => t,
            Err(r) => return Status::Undecided(self.refused(&r)),
        };
        claims.push(match stated.wanted {
            Wanted::Defined => !goal.def(&mut base.encoder.terms),
            Wanted::True => goal.no,
            Wanted::Both => !goal.yes,
        });
        if claims.contains(&Bool::FALSE) {
            return Status::Proved;
        }
        let backend = self.backend(base, &shapes);
        self.asked.insert(match backend {
            Backend::Auto | Backend::Sat => "cadical",
            other => other.name(),
        });
        let mut solver = match start(backend, &self.stop.within(self.task.limit)) {
            Ok(solver) => solver,
            Err(why) => return Status::Undecided(why),
        };
        let terms = &base.encoder.terms;
        claims.iter().for_each(|c| solver.assert(terms, *c));
        match solver.check(terms, &[]) {
            Outcome::Unsat(_) => Status::Proved,
            Outcome::Unknown(why) => Status::Undecided(kanon_solver::engine::Why::Solver(why).to_string()),
            Outcome::Sat(found) => self.confirmed(base, &shapes, stated, &found),
        }
    }

    fn backend(&self, base: &Base<'m>, shapes: &[Shape<'m>]) -> Backend {
        let terms = &base.encoder.terms;
        let is_open = |v: &Var| match v {
            Var::Int(v) => terms.bounds(*v).low.is_none() || terms.bounds(*v).high.is_none(),
            Var::Bool(_) => false,
        };
        match self.task.solver {
            Backend::Auto if base.shapes.iter().chain(shapes).flat_map(|s| &s.vars).any(is_open) => {
                let installed = smt::installed();
                let mut smt = [Backend::Z3, Backend::Cvc5].into_iter();
                smt.find(|b| installed.contains(&b.name())).unwrap_or(Backend::Sat)
            }
            Backend::Auto => Backend::Sat,
            asked => asked,
        }
    }

    /// What the reference says of the values that the solver found.
    fn confirmed(
        &self,
        base: &Base<'m>,
        shapes: &[Shape<'m>],
        stated: &'m Stated,
        found: &Assignment,
    ) -> Status {
        let unconfirmed =
            |why: &str| Status::Undecided(format!("the evaluator does not confirm a state: {why}"));
        if base.is_partial {
            return unconfirmed("not all hypotheses were looked at");
        }
        let mut under = Evaluator::new(&base.encoder.terms, found);
        let mut valued = |shapes: &[Shape<'m>]| -> Option<Vec<Value>> {
            shapes.iter().map(|s| decode::value(&s.sym, &mut under)).collect()
        };
        let (Some(state), Some(locals)) = (valued(&base.shapes), valued(shapes)) else {
            return unconfirmed("something has no plain value");
        };
        let model = self.model();
        let cx = Cx::new(model, &self.opened.scope).with_fuel(FUEL);
        let mut env = reference::Env::new(model);
        let mut constants = vec![None; model.constants.len()];
        let mut variables = vec![None; model.variables.len()];
        for (slot, v) in base.slots.iter().zip(&state) {
            env = match slot {
                Slot::Const(id) => {
                    constants[id.index()] = Some(v.clone());
                    env.with_constant(*id, v.clone())
                }
                Slot::Var(id) => {
                    variables[id.index()] = Some(v.clone());
                    env.with_variable(*id, v.clone())
                }
                Slot::Local(id) => env.with_local(*id, v.clone()),
            };
        }
        for (id, v) in stated.locals.iter().zip(&locals) {
            env = env.with_local(*id, v.clone());
        }
        for h in base.known.iter().copied().chain(&stated.hypotheses) {
            if !matches!(reference::holds(&cx, &env, h), Ok(true)) {
                return unconfirmed("a hypothesis does not hold in it");
            }
        }
        let is_so = match reference::holds(&cx, &env, &stated.goal) {
            Ok(truth) => !truth && stated.wanted != Wanted::Defined,
            Err(fault) => stated.wanted != Wanted::True && matches!(fault, Fault::Wd(_)),
        };
        if !is_so || !cx.truncated().is_empty() {
            return unconfirmed("it is not as the solver says");
        }
        let named = |is_new: bool| {
            let all = stated.locals.iter().zip(&locals);
            let some = all.filter(|(l, _)| model.local(**l).name.ends_with('\'') == is_new);
            let (ids, values): (Vec<&LocalId>, Vec<Option<Value>>) =
                some.map(|(l, v)| (l, Some(v.clone()))).unzip();
            let decls: Vec<Decl> = ids.into_iter().map(|l| model.local(*l).clone()).collect();
            shown(model, &decls, &values)
        };
        let after = named(true);
        let before = shown(model, &model.variables, &variables);
        Status::Disproved(Some(Box::new(Example {
            constants: shown(model, &model.constants, &constants),
            before: (!before.is_empty()).then_some(before),
            parameters: named(false),
            after: (!after.is_empty()).then_some(after),
        })))
    }
}
