//! Somebody who writes certificates of what is false.

use kanon_checker::check::{Constants, Effort, Part, files, sizes};
use kanon_checker::codec::{put, put_number};
use kanon_checker::container::{Kind, Writer};
use kanon_checker::ltl::{self, closure::Closure};
use kanon_checker::statement::{Claims, Constants as How, Goal, Statement};
use kanon_checker::{Rejected, check};
use kanon_language::model::Expr;
use kanon_language::model::open::{Opened, open};
use kanon_language::model::scope::ScopeArgs;
use kanon_language::temporal::atoms::{Bound, StateAtom};
use kanon_language::temporal::syntax::Prop;
use kanon_semantics::plain::Value;
use kanon_semantics::reference::{self, Cx, Env, State};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

pub const EFFORT: Effort = Effort { root: 20_000_000, solved: 20_000_000, state: 2_000_000 };

/// States at most.
pub const MOST: usize = 1_000;

/// A folder with files, which goes away with its owner.
pub struct Files(pub PathBuf);

impl Files {
    pub fn new(name: &str, files: &[(&str, &str)]) -> Files {
        let folder = std::env::temp_dir().join(format!("kanon-forged-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder");
        for (name, text) in files {
            std::fs::write(folder.join(name), text).expect("a file");
        }
        Files(folder)
    }
}

impl Drop for Files {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// For each set the images of its elements.
pub type Perm = Vec<Vec<u32>>;

pub fn permutations(n: u32) -> Vec<Vec<u32>> {
    let Some(last) = n.checked_sub(1) else { return vec![vec![]] };
    let shorter = permutations(last);
    let at = |p: &Vec<u32>, i: usize| [&p[..i], &[last], &p[i..]].concat();
    shorter.iter().flat_map(|p| (0..=p.len()).map(move |i| at(p, i))).collect()
}

pub fn renamed(p: &Perm, value: &Value) -> Value {
    let go = |v: &Value| renamed(p, v);
    match value {
        Value::Elem(set, i) => Value::Elem(*set, p[set.index()][*i as usize]),
        Value::Pair(pair) => Value::pair(go(&pair.0), go(&pair.1)),
        Value::Rec(fields) => Value::Rec(fields.iter().map(go).collect()),
        Value::Set(elements) => Value::set(elements.iter().map(go)),
        Value::Free(case, argument) => Value::Free(*case, argument.as_ref().map(|v| Box::new(go(v)))),
        other => other.clone(),
    }
}

/// A state: its valuation, and the variables.
pub type Placed = (usize, Vec<Value>);

pub struct Liar<'m> {
    opened: &'m Opened,
    /// What is claimed to be false in all states.
    never: Option<&'m Expr>,
    /// A formula `G p`, where p speaks of one state or one step only.
    always: Option<&'m Bound>,
    pub starts: Vec<State<'m>>,
    pub perms: Vec<Perm>,
    pub stored: Vec<Placed>,
    known: BTreeMap<Placed, usize>,
}

pub fn values(state: &State) -> Vec<Value> {
    state.variables.iter().map(|v| v.clone().expect("a value")).collect()
}

pub fn constants(state: &State) -> Constants {
    state.constants.iter().map(|c| c.as_ref().and_then(|i| i.value().cloned())).collect()
}

impl<'m> Liar<'m> {
    pub fn new(opened: &'m Opened, never: Option<&'m Expr>, always: Option<&'m Bound>) -> Liar<'m> {
        let cx = Cx::new(&opened.model, &opened.scope).with_fuel(EFFORT.root);
        let starts = reference::constants(&cx).found;
        let mut perms: Vec<Perm> = vec![vec![]];
        for n in &opened.scope.card {
            let of = permutations(*n as u32);
            perms = perms
                .iter()
                .flat_map(|p| of.iter().map(|o| [&p[..], std::slice::from_ref(o)].concat()))
                .collect();
        }
        Liar { opened, never, always, starts, perms, stored: vec![], known: BTreeMap::new() }
    }

    pub fn state(&self, (start, variables): &Placed) -> State<'m> {
        let constants = self.starts[*start].constants.clone();
        State { constants, variables: variables.iter().cloned().map(Some).collect() }
    }

    pub fn cx(&self) -> Cx<'m> {
        Cx::new(&self.opened.model, &self.opened.scope).with_fuel(EFFORT.state)
    }

    pub fn next(&self, state: &Placed) -> Vec<Placed> {
        let next = reference::successors(&self.cx(), &self.state(state));
        next.steps.iter().map(|s| (state.0, values(&s.state))).collect()
    }

    /// Whether all that is claimed is true here.
    pub fn is_fine(&self, placed: &Placed) -> bool {
        let (cx, state) = (self.cx(), self.state(placed));
        let env = Env::of(&state);
        let holds = |e: &'m Expr| reference::holds(&cx, &env, e) == Ok(true);
        let model = &self.opened.model;
        if let Some(bound) = self.always {
            let states = bound.states.iter().all(|s| match s {
                StateAtom::Predicate(e) => holds(e),
                StateAtom::Current(_) => false,
            });
            // Of a step: that it does not happen. Only with the operation's first parameter, and not in a premise.
            let mut of_formula = BTreeSet::new();
            bound.property.formula.for_each_atom(&mut |p| {
                of_formula.extend(if let Prop::Step(i) = p { Some(*i as usize) } else { None });
            });
            let happens = |s: &reference::Successor<'m>| {
                of_formula.iter().filter_map(|i| bound.steps.get(*i)).any(|atom| {
                    let given = atom.locals.iter().zip(&s.params);
                    let env = given.fold(Env::of(&s.state), |env, ((l, _), v)| env.with_local(*l, v.clone()));
                    let test = |t: &'m Expr| reference::holds(&cx, &env, t).expect("a truth");
                    atom.operation.is_none_or(|op| op == s.op) && atom.test.as_ref().is_none_or(test)
                })
            };
            return states && !reference::successors(&cx, &state).steps.iter().any(happens);
        }
        let is_defined = reference::successors(&cx, &state).faults.is_empty();
        let claimed = model.invariant.iter().chain(&model.assertions);
        let never = self.never.is_none_or(|e| reference::holds(&cx, &env, e) == Ok(false));
        is_defined && claimed.into_iter().all(holds) && never
    }

    pub fn image(&self, p: &Perm, (start, variables): &Placed) -> Option<Placed> {
        let permuted: Constants =
            constants(&self.starts[*start]).iter().map(|v| v.as_ref().map(|v| renamed(p, v))).collect();
        let start = self.starts.iter().position(|s| constants(s) == permuted)?;
        Some((start, variables.iter().map(|v| renamed(p, v)).collect()))
    }

    pub fn images(&self, of: &Placed) -> Vec<Placed> {
        self.perms.iter().filter_map(|p| self.image(p, of)).collect()
    }

    /// Sees to it that something stands for a state; false if nothing can that is as it should be.
    pub fn place(&mut self, state: &Placed) -> bool {
        let images = self.images(state);
        if images.iter().any(|i| self.known.contains_key(i)) {
            return true;
        }
        // He looks one step ahead.
        let is_fine = |s: &Placed| self.images(s).iter().any(|i| self.is_fine(i));
        let mut fine = images.into_iter().filter(|i| self.is_fine(i) && self.next(i).iter().all(is_fine));
        let Some(image) = fine.next() else { return false };
        self.known.insert(image.clone(), self.stored.len());
        self.stored.push(image);
        true
    }

    pub fn initial(&self) -> Vec<Placed> {
        let of = |i: usize| {
            let found = reference::initial_states(&self.cx(), &self.starts[i]).found;
            found.iter().map(|s| (i, values(s))).collect::<Vec<_>>()
        };
        (0..self.starts.len()).flat_map(of).collect()
    }

    /// Whether the claim is true, by all states as they are; none if there are too many.
    pub fn is_true(&self) -> Option<bool> {
        let mut open = self.initial();
        let mut seen: BTreeSet<Placed> = open.iter().cloned().collect();
        while let Some(state) = open.pop() {
            if !self.is_fine(&state) {
                return Some(false);
            }
            if seen.len() > MOST {
                return None;
            }
            open.extend(self.next(&state).into_iter().filter(|s| seen.insert(s.clone())));
        }
        Some(true)
    }

    pub fn explore(&mut self) -> bool {
        let initial = self.initial();
        if !initial.iter().all(|s| self.place(s)) {
            return false;
        }
        let mut at = 0;
        while at < self.stored.len() {
            let next = self.next(&self.stored[at].clone());
            if at > MOST || !next.iter().all(|s| self.place(s)) {
                return false;
            }
            at += 1;
        }
        true
    }

    pub fn bytes(&self, (start, variables): &Placed) -> Vec<u8> {
        let mut out = vec![];
        put_number(&mut out, *start as u64);
        for (v, d) in variables.iter().zip(&self.opened.model.variables) {
            assert!(put(&mut out, v, &d.ty), "{v:?}");
        }
        out
    }

    /// The witnesses of those that are not stored as they are, with their places if that is asked for.
    pub fn witnesses(&self, of: &[Placed], with_places: bool) -> Vec<u8> {
        let others = of.iter().filter(|s| !self.known.contains_key(*s));
        let others: BTreeMap<Vec<u8>, &Placed> = others.map(|s| (self.bytes(s), s)).collect();
        let mut out = vec![];
        put_number(&mut out, others.len() as u64);
        for (place, other) in others.into_values().enumerate() {
            let leads = |p: &&Perm| self.image(p, other).is_some_and(|i| self.known.contains_key(&i));
            let p = self.perms.iter().find(leads).expect("it was placed");
            if with_places {
                put_number(&mut out, place as u64);
            }
            p.iter().flatten().for_each(|i| put_number(&mut out, u64::from(*i)));
        }
        out
    }

    pub fn certificate(&self, statement: &Statement) -> Vec<u8> {
        let model = &self.opened.model;
        let mut valuations = vec![];
        for start in &self.starts {
            if model.constants.is_empty() {
                put_number(&mut valuations, 0);
            }
            for (v, d) in constants(start).iter().zip(&model.constants) {
                put_number(&mut valuations, u64::from(v.is_some()));
                assert!(v.as_ref().is_none_or(|v| put(&mut valuations, v, &d.ty)));
            }
        }
        let initial = self.initial();
        let of = |i: usize| initial.iter().filter(|s| s.0 == i).cloned().collect::<Vec<_>>();
        let initial: Vec<u8> = (0..self.starts.len()).flat_map(|i| self.witnesses(&of(i), false)).collect();
        let mut states = vec![];
        for state in &self.stored {
            states.extend(self.bytes(state));
            states.extend(self.witnesses(&self.next(state), self.always.is_some()));
        }
        let mut chunks =
            vec![(Kind::Valuations, valuations), (Kind::Initial, initial), (Kind::States, states)];
        if let Some(bound) = self.always {
            // One set of obligations, that the formula is false; one component, where this is put off.
            let closure = Closure::of_negation(&bound.property.formula);
            let root = u8::try_from(closure.root).expect("a short formula");
            chunks.push((Kind::Obligations, vec![1, 2 * root, 0]));
            chunks.push((Kind::Components, vec![1, root]));
            chunks.push((Kind::Nodes, self.stored.iter().flat_map(|_| [1, 0, 1, 0]).collect()));
        }
        sealed(&statement.json(), &chunks)
    }
}

pub fn sealed(statement: &str, chunks: &[(Kind, Vec<u8>)]) -> Vec<u8> {
    let mut writer = Writer::new(vec![], statement).expect("memory");
    chunks.iter().for_each(|(kind, content)| writer.chunk(*kind, content).expect("memory"));
    writer.seal().expect("memory")
}

pub enum Claim {
    /// The invariant and the assertions.
    States,
    /// Besides, this is never true.
    Never(&'static str),
    /// This formula.
    Always(&'static str),
}

pub fn statement(opened: &Opened, claim: &Claim) -> Statement {
    let formula = match claim {
        Claim::Always(f) => Some(f.to_string()),
        _ => None,
    };
    let (goal, goal_text) = match claim {
        Claim::Never(text) => (Goal::Given, Some(text.to_string())),
        _ => (Goal::Ignored, None),
    };
    let of_states = formula.is_none();
    Statement {
        kanon: "forged".into(),
        files: files(&opened.sources),
        machine: opened.model.name.to_string(),
        sets: sizes(&opened.model, &opened.scope),
        minint: opened.scope.minint.clone(),
        maxint: opened.scope.maxint.clone(),
        wd: "kleene".into(),
        constants: How::Enumerated,
        claims: Claims {
            invariant: of_states,
            assertions: of_states,
            no_deadlock: false,
            goal,
            goal_text,
            formula,
        },
        symmetry: opened.model.sets.iter().map(|s| s.name.to_string()).collect(),
        valuations: 0,
        states: 0,
        formulas: None,
    }
}

/// What becomes of the liar's certificate, and whether what it claims is true; none if there is no way to lie.
pub fn forged(path: &Path, claim: &Claim) -> Option<(bool, Result<u64, Rejected>)> {
    let args = ScopeArgs { setsize: Some(3), ..ScopeArgs::default() };
    let read = || open(path, &args).unwrap_or_else(|r| panic!("{:?}", r.diagnostics));
    let opened = read();
    let mut statement = statement(&opened, claim);
    // What is claimed is read once more: it may add to the model.
    let mut opened = read();
    let never = match claim {
        Claim::Never(text) => Some(opened.predicate("goal", text).expect("a predicate")),
        _ => None,
    };
    let always = match claim {
        Claim::Always(text) => Some(ltl::bound(&mut opened, text).expect("a formula")),
        _ => None,
    };
    let mut liar = Liar::new(&opened, never.as_ref(), always.as_ref());
    let is_true = liar.is_true()?;
    if !liar.explore() {
        return None;
    }
    statement.valuations = liar.starts.len() as u64;
    statement.states = liar.stored.len() as u64;
    let bytes = liar.certificate(&statement);
    let answer = check(path, &mut || Ok(&bytes[..]), Part::WHOLE, EFFORT);
    Some((is_true, answer.map(|a| a.witnesses)))
}

/// The honest certificate of a machine without deferred sets, its statement changed.
pub fn certificate_of(path: &Path, change: impl Fn(&mut Statement)) -> Vec<u8> {
    let opened = open(path, &ScopeArgs::default()).unwrap_or_else(|r| panic!("{:?}", r.diagnostics));
    let mut liar = Liar::new(&opened, None, None);
    assert!(liar.explore());
    let mut statement = statement(&opened, &Claim::States);
    (statement.valuations, statement.states) = (liar.starts.len() as u64, liar.stored.len() as u64);
    change(&mut statement);
    liar.certificate(&statement)
}
