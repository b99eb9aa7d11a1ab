//! Terms with quantifiers that nobody could unfold: "there are values of these variables for which this is true" is a
//! variable of its own, and what it means is found out step by step.
//!
//! Where such a variable is true, the claim is true of the quantified variables themselves, which nobody else uses: that
//! is asserted at once. Where it is false in a model, a second solver is asked for values that make the claim true, with
//! everything else as in the model. If there are none, the variable is rightly false. If there are, these values are an
//! *instance*: either the variable is true, or the claim is false for them; this is asserted, and the model is gone. A
//! claim may contain such variables itself; then the second question is answered in the same way.
//!
//! So a model that is returned is one, and if there is none with some instances, there is none. Finitely many values
//! have finitely many instances, but they may be many: whoever asks has a clock, and beyond [`MOST_TERMS`] there is no
//! answer.

use crate::engine::{Asked, Why, ask};
use crate::eval::Value;
use crate::solver::{Make, NoAnswer, Stop};
use crate::substitute::Substitution;
use crate::term::{Assignment, Bool, BoolVar, Int, Terms, Var};
use hashbrown::{HashMap, HashSet};

/// Terms that instances may add to those of the question: they are what takes memory.
const MOST_TERMS: usize = 10_000_000;

#[derive(Clone, Debug)]
struct Exists {
    proxy: BoolVar,
    vars: Vec<Var>,
    claim: Bool,
}

/// What stands in place of a variable.
#[derive(Clone, Copy, Debug)]
enum Instead {
    Bool(Bool),
    Int(Int),
}

/// The quantifiers behind some variables.
#[derive(Clone, Debug, Default)]
pub struct Quantifiers {
    all: Vec<Exists>,
    by_proxy: HashMap<BoolVar, usize>,
    /// What was asked before has its variable.
    known: HashMap<(Vec<Var>, Bool), Bool>,
}

/// What became of a question, with what is true of all terms and was needed for it: claims about the variables that
/// stand for quantifiers.
pub struct Decided {
    pub model: Option<Assignment>,
    pub lemmas: Vec<Bool>,
}

impl Quantifiers {
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// There are values of these variables for which the claim is true. Nobody else may use the variables.
    pub fn exists(&mut self, terms: &mut Terms, vars: Vec<Var>, claim: Bool) -> Bool {
        if terms.variables(&[claim.into()]).iter().all(|v| !vars.contains(v) && !self.is_proxy(*v)) {
            return claim;
        }
        if let Some(known) = self.known.get(&(vars.clone(), claim)) {
            return *known;
        }
        let proxy = terms.bool_var("exists");
        self.by_proxy.insert(proxy, self.all.len());
        self.all.push(Exists { proxy, vars: vars.clone(), claim });
        let term = terms.of_bool(proxy);
        self.known.insert((vars, claim), term);
        term
    }

    fn is_proxy(&self, v: Var) -> bool {
        matches!(v, Var::Bool(v) if self.by_proxy.contains_key(&v))
    }

    /// The variables of a term that stand for quantifiers.
    fn inside(&self, terms: &Terms, b: Bool) -> Vec<usize> {
        let vars = terms.variables(&[b.into()]);
        vars.iter()
            .filter_map(|v| if let Var::Bool(v) = v { self.by_proxy.get(v).copied() } else { None })
            .collect()
    }

    /// What a term depends on, through quantifiers too.
    fn free(&self, terms: &Terms, b: Bool) -> HashSet<Var> {
        let mut free: HashSet<Var> =
            terms.variables(&[b.into()]).into_iter().filter(|v| !self.is_proxy(*v)).collect();
        for q in self.inside(terms, b) {
            let Exists { vars, claim, .. } = &self.all[q];
            let below = self.free(terms, *claim);
            free.extend(below.into_iter().filter(|v| !vars.contains(v)));
        }
        free
    }

    /// The term with other terms in place of variables, inside of quantifiers as well: those that are concerned are made
    /// anew, with variables of their own.
    fn replaced(&mut self, terms: &mut Terms, b: Bool, map: &HashMap<Var, Instead>) -> Bool {
        let mut substitution = Substitution::new();
        for (v, instead) in map {
            match (v, instead) {
                (Var::Bool(v), Instead::Bool(b)) => substitution.replace_bool(*v, *b),
                (Var::Int(v), Instead::Int(i)) => substitution.replace_int(*v, *i),
                _ => {}
            }
        }
        for q in self.inside(terms, b) {
            let Exists { proxy, vars, claim } = self.all[q].clone();
            let depends = self.free(terms, claim).iter().any(|v| map.contains_key(v) && !vars.contains(v));
            if !depends {
                continue;
            }
            let mut map = map.clone();
            let mut fresh = vec![];
            for v in vars {
                let name = terms.name(v).clone();
                let copy = terms.like(v, name);
                map.insert(
                    v,
                    match copy {
                        Var::Bool(c) => Instead::Bool(terms.of_bool(c)),
                        Var::Int(c) => Instead::Int(terms.of_int(c)),
                    },
                );
                fresh.push(copy);
            }
            let claim = self.replaced(terms, claim, &map);
            let anew = self.exists(terms, fresh, claim);
            substitution.replace_bool(proxy, anew);
        }
        substitution.bool(terms, b)
    }

    fn constants(
        terms: &mut Terms,
        vars: impl IntoIterator<Item = Var>,
        model: &Assignment,
    ) -> HashMap<Var, Instead> {
        let mut map = HashMap::new();
        for v in vars {
            let instead = match model.value(terms, v) {
                Value::Bool(b) => Instead::Bool(Terms::truth(b)),
                Value::Int(i) => Instead::Int(terms.constant(i)),
            };
            map.insert(v, instead);
        }
        map
    }

    /// Whether the claims are true together for some values.
    ///
    /// # Errors
    /// The solver has no answer, or there was no time.
    pub fn decide(
        &mut self,
        terms: &mut Terms,
        claims: &[Bool],
        make: &Make<'_>,
        stop: &Stop,
    ) -> Result<Decided, Why> {
        let most = terms.size().saturating_add(MOST_TERMS);
        self.decide_within(terms, claims, make, stop, most)
    }

    fn decide_within(
        &mut self,
        terms: &mut Terms,
        claims: &[Bool],
        make: &Make<'_>,
        stop: &Stop,
        most: usize,
    ) -> Result<Decided, Why> {
        let mut solver = make().map_err(Why::NoSolver)?;
        let (mut active, mut lemmas): (Vec<usize>, Vec<Bool>) = (vec![], vec![]);
        let mut new: Vec<Bool> = claims.to_vec();
        loop {
            // What is asserted may speak of quantifiers, and these of others.
            while let Some(claim) = new.pop() {
                solver.assert(terms, claim);
                for q in self.inside(terms, claim) {
                    if active.contains(&q) {
                        continue;
                    }
                    active.push(q);
                    let (proxy, claim) = (self.all[q].proxy, self.all[q].claim);
                    let proxy = terms.of_bool(proxy);
                    let lemma = terms.or([!proxy, claim]);
                    lemmas.push(lemma);
                    new.push(lemma);
                }
            }
            let model = match ask(&mut *solver, terms, &[])? {
                Asked::Sat(model) => model,
                Asked::Unsat(_) => return Ok(Decided { model: None, lemmas }),
            };
            for q in active.clone() {
                if stop.is_over() {
                    return Err(Why::Solver(NoAnswer::Stopped));
                }
                if terms.size() > most {
                    let why = "too many instances of a quantifier would be needed";
                    return Err(Why::Solver(NoAnswer::GaveUp(why.into())));
                }
                let Exists { proxy, vars, claim } = self.all[q].clone();
                if model.bool_var(proxy) {
                    continue;
                }
                let outer: Vec<Var> =
                    self.free(terms, claim).into_iter().filter(|v| !vars.contains(v)).collect();
                let outer = Quantifiers::constants(terms, outer, &model);
                let here = self.replaced(terms, claim, &outer);
                if let Some(found) = self.decide_within(terms, &[here], make, stop, most)?.model {
                    let values = Quantifiers::constants(terms, vars, &found);
                    let instance = self.replaced(terms, claim, &values);
                    let proxy = terms.of_bool(proxy);
                    let lemma = terms.or([proxy, !instance]);
                    lemmas.push(lemma);
                    new.push(lemma);
                }
            }
            if new.is_empty() {
                return Ok(Decided { model: Some(model), lemmas });
            }
        }
    }
}
