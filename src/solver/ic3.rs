//! IC3: frames that hold all states reachable in so many steps, strengthened until two of them are the same. Algorithms
//! 2 and 3 of *Proof Assisted Checking*, questions about bad states event by event, with the queue of obligations of
//! Eén, Mishchenko and Brayton's *Efficient Implementation of Property Directed Reachability* (FMCAD 2011).
//!
//! A cube is a set of literals over a state: booleans, inequalities between an integer and a number, and the comparisons
//! that occur in the system itself. The last make clauses about several variables possible. A cube generalises a state by
//! unsat cores, and by trying to do without each literal. Any set of literals will do: a clause is learnt only when it is
//! inductive relative to a frame, so no choice of literals can make a proof wrong.
//!
//! A cube that was found as the predecessor of another one is *lifted*: reduced to the literals by which its state
//! reaches the other. That is a guess where a step has choices that are no inputs; so a path that is found is solved
//! again with its events, and if there is none, the search starts again without lifting.
//!
//! Integers can make frames grow for ever. Then the depth or the time ends it, with no answer.

mod literals;
mod widen;

use crate::bmc::{Depth, Paths, check_proof};
use crate::engine::{Answer, Asked, Counterexample, Settings, Unknown, Why, ask, value_literals};
use crate::eval::Evaluator;
use crate::solver::{NoAnswer, Solver};
use crate::substitute::Substitution;
use crate::term::{Assignment, Bool, Terms, Var};
use crate::transition::Transitions;
use crate::unroll::{Unrolling, good};
use hashbrown::{HashMap, HashSet};
use literals::{atoms, guard, thresholds};
use num_bigint::BigInt;
use std::collections::BinaryHeap;

/// Initial states that are remembered: most cubes that contain one contain one of these.
const MOST_STARTS: usize = 24;

/// How often a lifted cube is lifted again.
const MOST_CORES: usize = 3;

/// Literals over `now` and rigid variables, sorted.
type Cube = Vec<Bool>;

struct Lemma {
    cube: Cube,
    /// No state of the cube is in this frame or one before it.
    level: usize,
}

/// A cube that must not be in a frame: its states are on the way to a bad one.
struct Obligation {
    cube: Cube,
    /// The event that leads on, and the obligation it leads to; a bad state if there is none.
    event: usize,
    next: Option<usize>,
}

/// What became of an obligation.
enum Blocked {
    Yes,
    /// The events from an initial state to a bad one.
    No(Vec<usize>),
}

/// A query about one step, from a frame, into a cube.
enum Advance {
    /// A state before, its inputs and the state after, and the event.
    From(Assignment, usize),
    /// There is none, and these literals of the cube suffice for that.
    None(HashSet<Bool>),
}

/// The same, not looked at again.
enum Entered {
    /// A model, and what it is said to fulfil besides the frame.
    From(Assignment, Vec<Bool>),
    None(HashSet<Bool>),
}

struct Search<'a, 's> {
    system: &'a Transitions,
    settings: &'a Settings<'s>,
    /// Steps from good states; frames by assumption.
    steps: Box<dyn Solver>,
    /// Initial states.
    start: Box<dyn Solver>,
    /// Steps alone, to lift cubes.
    lift: Option<Box<dyn Solver>>,
    /// `now` to `next`.
    after: Substitution,
    /// If this is true, `now` is an initial state.
    is_first: Bool,
    /// If the n-th is true, so are the lemmas of level n.
    levels: Vec<Bool>,
    lemmas: Vec<Lemma>,
    atoms: Vec<Bool>,
    /// Of each event: something bad that is not known to be impossible after it.
    bad_after: Vec<Bool>,
    /// Of each event: what it asks of `now` and its inputs.
    guards: Vec<Bool>,
    /// Any event. One question about all of them is faster where a solver is good at choices, and one about each where
    /// it is not: then this is none.
    any_step: Option<Bool>,
    /// Numbers of the system and their neighbours, in order: where a bound of a cube is moved to.
    thresholds: Vec<BigInt>,
    obligations: Vec<Obligation>,
    /// Initial states that were found, with the literals that were looked at. The oldest gives way.
    starts: Vec<(Assignment, HashMap<Bool, bool>)>,
    oldest: usize,
    /// Constants of the system: a step leaves them as they are.
    rigid: HashSet<Var>,
}

/// A proof with an inductive invariant, or a counterexample, not always a shortest one.
pub fn ic3(terms: &mut Terms, system: &Transitions, settings: &Settings) -> Answer {
    let mut depth = 0;
    let answer = match run(terms, system, settings, &mut depth, true) {
        Ok(None) => run(terms, system, settings, &mut depth, false),
        other => other,
    };
    match answer {
        Ok(Some(answer)) => answer,
        Ok(None) => {
            let why = Why::Internal("a path of single steps is no path".into());
            Answer::Unknown(Unknown { why, depth })
        }
        Err(why) => Answer::Unknown(Unknown { why, depth }),
    }
}

/// None if a path turned out to be none.
fn run(
    terms: &mut Terms,
    system: &Transitions,
    settings: &Settings,
    depth: &mut usize,
    is_lifting: bool,
) -> Result<Option<Answer>, Why> {
    // Line 2 of Algorithm 2: paths of no step and of one.
    let mut paths = Paths::new(system, settings.solver()?);
    for length in 0..2 {
        match paths.next(terms, settings)? {
            Depth::Fails(path) => return Ok(Some(Answer::Fails(*path))),
            Depth::Clean => *depth = length,
            Depth::Ended => break,
        }
    }
    let mut search = Search::new(terms, system, settings, is_lifting)?;
    for frame in 1..=settings.depth {
        search.open_level(terms, frame + 1);
        if let Blocked::No(events) = search.strengthen(terms, frame)? {
            return Ok(rebuild(terms, system, settings, &events)?.map(Answer::Fails));
        }
        *depth = frame + 1;
        settings.tell(frame);
        if let Some(level) = search.propagate(terms, frame)? {
            let lemmas: Vec<Bool> = search
                .lemmas
                .iter()
                .filter(|l| l.level > level)
                .map(|l| !terms.and(l.cube.clone()))
                .collect();
            let checked =
                check_proof(settings, |solver| is_inductive(terms, system, settings, solver, &lemmas))?;
            let mut invariant = lemmas;
            invariant.push(good(terms, system));
            invariant.retain(|b| *b != Bool::TRUE);
            return Ok(Some(Answer::Holds(checked.proof(Some(invariant), frame, settings))));
        }
    }
    Err(Why::Depth)
}

/// The bad things after an event that are not known to be impossible, over `next`.
fn bad_after(
    terms: &mut Terms,
    system: &Transitions,
    settings: &Settings,
    after: &mut Substitution,
) -> Vec<Bool> {
    let undefined: Vec<Bool> = system.events.iter().map(|e| e.is_undefined).collect();
    (0..system.events.len())
        .map(|e| {
            let open = system.properties.iter().enumerate().filter(|(p, _)| !settings.is_preserved(e, *p));
            let all: Vec<Bool> = open.map(|(_, p)| p.is_bad).chain(undefined.iter().copied()).collect();
            let bad = terms.or(all);
            after.bool(terms, bad)
        })
        .collect()
}

/// From `now` to `next`. What is bad after a step has inputs of its own: those of the step are other variables.
fn now_to_next(terms: &mut Terms, system: &Transitions) -> Substitution {
    let mut after = Substitution::new();
    for cell in &system.cells {
        after.rename(terms, cell.now, cell.next);
    }
    let of_events = system.events.iter().flat_map(|e| &e.inputs);
    let of_properties = system.properties.iter().flat_map(|p| &p.inputs);
    let mut seen = HashSet::new();
    for &v in of_events.chain(of_properties) {
        if seen.insert(v) {
            let name = format!("{}'", terms.name(v));
            let copy = terms.like(v, name);
            after.rename(terms, v, copy);
        }
    }
    after
}

/// `init` over `now`.
fn init_now(terms: &mut Terms, system: &Transitions) -> Bool {
    let mut back = Substitution::new();
    for cell in &system.cells {
        back.rename(terms, cell.next, cell.now);
    }
    back.bool(terms, system.init)
}

/// Whether lemmas and goodness are true of all initial states and preserved, and no bad state is reached: everything from
/// the beginning, with a solver that has seen nothing of the search.
fn is_inductive(
    terms: &mut Terms,
    system: &Transitions,
    settings: &Settings,
    mut solver: Box<dyn Solver>,
    lemmas: &[Bool],
) -> Result<bool, Why> {
    let mut after = now_to_next(terms, system);
    let init = init_now(terms, system);
    let bad_after = bad_after(terms, system, settings, &mut after);
    let undefined: Vec<Bool> = system.events.iter().map(|e| e.is_undefined).collect();
    let bad: Vec<Bool> = system.properties.iter().map(|p| p.is_bad).chain(undefined).collect();
    let bad = terms.or(bad);
    solver.assert(terms, system.axioms);
    let mut is_never = |terms: &Terms, assumed: &[Bool]| {
        Ok::<bool, Why>(matches!(ask(&mut *solver, terms, assumed)?, Asked::Unsat(_)))
    };
    let all = terms.and(lemmas.iter().copied());
    let broken = terms.or([bad, !all]);
    if !is_never(terms, &[system.init_undefined])? || !is_never(terms, &[init, broken])? {
        return Ok(false);
    }
    let good = good(terms, system);
    let all_after = after.bool(terms, all);
    for (event, &bad) in system.events.iter().zip(&bad_after) {
        let broken = terms.or([bad, !all_after]);
        if !is_never(terms, &[all, good, event.step, broken])? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// The path of these events, the last of which ends in a bad state.
fn rebuild(
    terms: &mut Terms,
    system: &Transitions,
    settings: &Settings,
    events: &[usize],
) -> Result<Option<Counterexample>, Why> {
    let mut solver = settings.solver()?;
    let mut unrolling = Unrolling::new(system);
    solver.assert(terms, system.axioms);
    let init = unrolling.init(terms);
    solver.assert(terms, init);
    for (time, &e) in events.iter().enumerate() {
        let step = unrolling.step(terms, time, e);
        solver.assert(terms, step);
    }
    let length = events.len();
    let mut bad: Vec<Bool> =
        (0..system.properties.len()).map(|p| unrolling.is_bad(terms, length, p)).collect();
    bad.push(unrolling.is_undefined(terms, length));
    let bad = terms.or(bad);
    match ask(&mut *solver, terms, &[bad])? {
        Asked::Sat(model) => unrolling.path(terms, &model, length, false).map(Some).map_err(Why::Internal),
        Asked::Unsat(_) => Ok(None),
    }
}

impl<'a, 's> Search<'a, 's> {
    fn new(
        terms: &mut Terms,
        system: &'a Transitions,
        settings: &'a Settings<'s>,
        is_lifting: bool,
    ) -> Result<Search<'a, 's>, Why> {
        let (mut steps, mut start) = (settings.solver()?, settings.solver()?);
        let mut after = now_to_next(terms, system);
        let init = init_now(terms, system);
        for solver in [&mut steps, &mut start] {
            // Most questions differ from the one before in one literal of a cube.
            solver.keep_assumptions();
            solver.assert(terms, system.axioms);
        }
        start.assert(terms, init);
        let first = terms.bool_var("first");
        let is_first = terms.of_bool(first);
        let is_init = terms.implies(is_first, init);
        steps.assert(terms, is_init);
        // Of every frame: initial states were found to be good, and no other state gets into a frame while bad.
        let good = good(terms, system);
        steps.assert(terms, good);
        let lift = if is_lifting {
            let mut lift = settings.solver()?;
            lift.keep_assumptions();
            lift.assert(terms, system.axioms);
            Some(lift)
        } else {
            None
        };
        let bad_after = bad_after(terms, system, settings, &mut after);
        let next: HashSet<Var> = system.cells.iter().map(|c| c.next).collect();
        let guards = system.events.iter().map(|e| guard(terms, e.step, &next)).collect();
        let atoms = atoms(terms, system);
        let thresholds = thresholds(terms, system);
        let any_step = (!steps.is_unbounded()).then(|| terms.or(system.events.iter().map(|e| e.step)));
        Ok(Search {
            system,
            settings,
            steps,
            start,
            lift,
            after,
            is_first,
            levels: vec![],
            lemmas: vec![],
            atoms,
            bad_after,
            guards,
            any_step,
            thresholds,
            obligations: vec![],
            starts: vec![],
            oldest: 0,
            rigid: system.rigid.iter().copied().collect(),
        })
    }

    fn open_level(&mut self, terms: &mut Terms, level: usize) {
        while self.levels.len() <= level {
            let v = terms.bool_var(format!("level {}", self.levels.len()));
            self.levels.push(terms.of_bool(v));
        }
    }

    fn check_time(&self) -> Result<(), Why> {
        if self.settings.stop.is_over() { Err(NoAnswer::Stopped.into()) } else { Ok(()) }
    }

    /// What has to be assumed to speak of a frame.
    fn frame(&self, level: usize) -> Vec<Bool> {
        if level == 0 { vec![self.is_first] } else { self.levels[level..].to_vec() }
    }

    /// A model is evaluated again. If it were none, the search would be wrong, or go on for ever.
    fn check_model(
        &self,
        terms: &Terms,
        model: &Assignment,
        level: usize,
        claims: &[Bool],
    ) -> Result<(), Why> {
        let mut evaluator = Evaluator::new(terms, model);
        let mut is_model = claims.iter().all(|&c| evaluator.bool(c));
        if level > 0 {
            let mut lemmas = self.lemmas.iter().filter(|l| l.level >= level);
            is_model &= lemmas.all(|l| !l.cube.iter().all(|&c| evaluator.bool(c)));
        }
        if is_model { Ok(()) } else { Err(Why::Internal("a model of the solver is none".into())) }
    }

    /// The literals that are true of the state of a model.
    fn cube_of(&self, terms: &mut Terms, model: &Assignment) -> Cube {
        let mut cube = vec![];
        for v in self.system.cells.iter().map(|c| c.now).chain(self.system.rigid.iter().copied()) {
            let value = model.value(terms, v);
            cube.extend(value_literals(terms, v, &value));
        }
        let mut evaluator = Evaluator::new(terms, model);
        cube.extend(self.atoms.iter().map(|&a| if evaluator.bool(a) { a } else { !a }));
        cube.sort_unstable();
        cube.dedup();
        cube
    }

    /// Literals of a cube that no initial state fulfils together; none if one fulfils all of them.
    fn away(&mut self, terms: &Terms, cube: &[Bool]) -> Result<Option<Vec<Bool>>, Why> {
        Ok(self.start_in(terms, cube)?.ok())
    }

    /// The same, or the place in `starts` of an initial state that fulfils all of them.
    fn start_in(&mut self, terms: &Terms, cube: &[Bool]) -> Result<Result<Vec<Bool>, usize>, Why> {
        for (place, (state, seen)) in self.starts.iter_mut().enumerate() {
            let mut is_true =
                |l: Bool| *seen.entry(l).or_insert_with(|| Evaluator::new(terms, state).bool(l));
            if cube.iter().all(|&l| is_true(l)) {
                return Ok(Err(place));
            }
        }
        match ask(&mut *self.start, terms, cube)? {
            Asked::Unsat(core) => Ok(Ok(core)),
            Asked::Sat(state) => {
                let found = (state, HashMap::new());
                if self.starts.len() < MOST_STARTS {
                    self.starts.push(found);
                    return Ok(Err(self.starts.len() - 1));
                }
                let place = self.oldest;
                self.starts[place] = found;
                self.oldest = (place + 1) % MOST_STARTS;
                Ok(Err(place))
            }
        }
    }

    /// Algorithm 3: no step from this frame is bad any more, or there is a path.
    fn strengthen(&mut self, terms: &mut Terms, frame: usize) -> Result<Blocked, Why> {
        for event in 0..self.system.events.len() {
            let bad = self.bad_after[event];
            if bad == Bool::FALSE {
                continue;
            }
            let step = self.system.events[event].step;
            loop {
                self.check_time()?;
                let mut assumed = self.frame(frame);
                assumed.extend([step, bad]);
                let Asked::Sat(model) = ask(&mut *self.steps, terms, &assumed)? else { break };
                self.check_model(terms, &model, frame, &[step, bad])?;
                let cube = self.cube_of(terms, &model);
                if self.learn_units(terms, &cube, frame)? {
                    continue;
                }
                let cube = self.lifted(terms, cube, &model, event, !bad)?;
                if let Blocked::No(events) = self.block(terms, cube, event, frame)? {
                    return Ok(Blocked::No(events));
                }
            }
        }
        Ok(Blocked::Yes)
    }

    /// The literals by which a state goes where it goes in a model. `missed` says of `next` that it is not there.
    fn lifted(
        &mut self,
        terms: &mut Terms,
        cube: Cube,
        model: &Assignment,
        event: usize,
        missed: Bool,
    ) -> Result<Cube, Why> {
        let Some(lift) = &mut self.lift else { return Ok(cube) };
        let step = &self.system.events[event];
        let mut inputs = vec![];
        for &v in &step.inputs {
            let value = model.value(terms, v);
            inputs.extend(value_literals(terms, v, &value));
        }
        // Once it can be done, it leads there; and it can be done.
        let claims = [vec![step.step, missed], vec![!self.guards[event]]];
        let mut cube = cube;
        // A core of a core is often smaller still.
        for _ in 0..MOST_CORES {
            let mut used = HashSet::new();
            for claims in &claims {
                let all: Vec<Bool> = cube.iter().chain(&inputs).chain(claims).copied().collect();
                match lift.check(terms, &all) {
                    crate::solver::Outcome::Unsat(core) => used.extend(core),
                    // Nothing is lost but generality.
                    _ => return Ok(cube),
                }
            }
            let before = cube.len();
            cube.retain(|l| used.contains(l));
            if cube.len() == before {
                break;
            }
        }
        Ok(cube)
    }

    /// Keeps a cube, which leads to something bad by an event, out of a frame.
    fn block(&mut self, terms: &mut Terms, cube: Cube, event: usize, frame: usize) -> Result<Blocked, Why> {
        self.obligations.clear();
        self.obligations.push(Obligation { cube, event, next: None });
        // The lowest level first, and there the newest.
        let mut queue = BinaryHeap::from([(std::cmp::Reverse(frame), 0)]);
        while let Some((std::cmp::Reverse(level), place)) = queue.pop() {
            self.check_time()?;
            let cube = self.obligations[place].cube.clone();
            let Some(away) = self.away(terms, &cube)? else {
                return Ok(Blocked::No(self.events_from(place)));
            };
            if self.is_blocked(&cube, level) {
                if level < frame {
                    queue.push((std::cmp::Reverse(level + 1), place));
                }
                continue;
            }
            match self.step_into(terms, level - 1, &cube, true)? {
                Advance::From(model, event) => {
                    let before = self.cube_of(terms, &model);
                    let there = terms.and(cube.clone());
                    let missed = !self.after.bool(terms, there);
                    let before = self.lifted(terms, before, &model, event, missed)?;
                    self.obligations.push(Obligation { cube: before, event, next: Some(place) });
                    let new = self.obligations.len() - 1;
                    if level == 1 {
                        // From an initial state.
                        return Ok(Blocked::No(self.events_from(new)));
                    }
                    queue.push((std::cmp::Reverse(level), place));
                    queue.push((std::cmp::Reverse(level - 1), new));
                }
                Advance::None(mut used) => {
                    used.extend(away);
                    let cube: Cube = cube.into_iter().filter(|l| used.contains(l)).collect();
                    let (cube, level) = self.generalised(terms, cube, level, frame)?;
                    self.learn(terms, cube, level);
                    if level < frame {
                        queue.push((std::cmp::Reverse(level + 1), place));
                    }
                }
            }
        }
        Ok(Blocked::Yes)
    }

    fn events_from(&self, place: usize) -> Vec<usize> {
        let mut events = vec![];
        let mut place = Some(place);
        while let Some(here) = place {
            events.push(self.obligations[here].event);
            place = self.obligations[here].next;
        }
        events
    }

    fn is_blocked(&self, cube: &Cube, level: usize) -> bool {
        self.lemmas.iter().any(|l| l.level >= level && is_subset(&l.cube, cube))
    }

    /// Is there a step from a frame, and from outside the cube if that is asked for, into the cube?
    fn step_into(
        &mut self,
        terms: &mut Terms,
        level: usize,
        cube: &Cube,
        outside: bool,
    ) -> Result<Advance, Why> {
        let (model, claims) = match self.enters(terms, level, cube, outside)? {
            Entered::From(model, claims) => (model, claims),
            Entered::None(used) => return Ok(Advance::None(used)),
        };
        self.check_model(terms, &model, level, &claims)?;
        let mut evaluator = Evaluator::new(terms, &model);
        let event = self.system.events.iter().position(|e| evaluator.bool(e.step));
        let event = event.ok_or_else(|| Why::Internal("a step is one of no event".into()))?;
        Ok(Advance::From(model, event))
    }

    /// The same without a second look at the model: enough for somebody who goes on with the cube he has if there is one.
    fn enters(
        &mut self,
        terms: &mut Terms,
        level: usize,
        cube: &Cube,
        outside: bool,
    ) -> Result<Entered, Why> {
        let mut names: HashMap<Bool, Vec<Bool>> = HashMap::new();
        let mut there = vec![];
        for &literal in cube {
            let after = self.after.bool(terms, literal);
            names.entry(after).or_default().push(literal);
            there.push(after);
        }
        let frame = self.frame(level);
        let mut claims = there;
        if outside {
            // Another one for every cube: it comes last.
            claims.push(!terms.and(cube.iter().copied()));
        }
        let mut used = HashSet::new();
        let questions: Vec<Bool> = match self.any_step {
            Some(any) => vec![any],
            None => self.system.events.iter().map(|e| e.step).collect(),
        };
        for step in questions {
            let all: Vec<Bool> = frame.iter().chain([&step]).chain(&claims).copied().collect();
            match ask(&mut *self.steps, terms, &all)? {
                Asked::Sat(model) => {
                    claims.push(step);
                    return Ok(Entered::From(model, claims));
                }
                Asked::Unsat(core) => {
                    used.extend(core.iter().filter_map(|c| names.get(c)).flatten().copied())
                }
            }
        }
        Ok(Entered::None(used))
    }

    fn learn(&mut self, terms: &mut Terms, cube: Cube, level: usize) {
        let clause = !terms.and(cube.iter().copied());
        let claim = terms.implies(self.levels[level], clause);
        self.steps.assert(terms, claim);
        self.lemmas.retain(|l| l.level > level || !is_subset(&cube, &l.cube));
        self.lemmas.push(Lemma { cube, level });
    }

    /// Takes lemmas to later frames. A level without any is the same frame as the next one: its number.
    fn propagate(&mut self, terms: &mut Terms, frame: usize) -> Result<Option<usize>, Why> {
        for level in 1..=frame {
            let here: Vec<usize> =
                (0..self.lemmas.len()).filter(|&l| self.lemmas[l].level == level).collect();
            for l in here {
                self.check_time()?;
                let cube = self.lemmas[l].cube.clone();
                if let Entered::None(_) = self.enters(terms, level, &cube, false)? {
                    self.lemmas[l].level = level + 1;
                    let clause = !terms.and(cube);
                    let claim = terms.implies(self.levels[level + 1], clause);
                    self.steps.assert(terms, claim);
                }
            }
            if !self.lemmas.iter().any(|l| l.level == level) {
                return Ok(Some(level));
            }
        }
        Ok(None)
    }
}

/// Both are sorted.
fn is_subset(few: &Cube, many: &Cube) -> bool {
    let mut rest = many.iter();
    few.iter().all(|l| rest.any(|m| m == l))
}
