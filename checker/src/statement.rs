//! The statement: what is claimed, of which files, at which sizes. It can be read without the proof.

use crate::Rejected;
use num_bigint::BigInt;
use serde_json::{Map, Value, json};

/// Kinds of proofs: by all reachable states; of a temporal formula, by all paths; by formulas that a solver refutes.
const STATES: &str = "explicit";
const TEMPORAL: &str = "ltl";
const FORMULAS: &str = "formulas";

/// A text that was read: the last part of its name, and the hash of its content.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct File {
    pub name: String,
    pub blake3: String,
    pub bytes: u64,
}

impl File {
    /// A file by its content.
    pub fn of(name: &str, text: &str) -> File {
        let blake3 = blake3::hash(text.as_bytes()).to_hex().to_string();
        File { name: name.to_string(), blake3, bytes: text.len() as u64 }
    }
}

/// What no reachable state does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Goal {
    /// Nothing is claimed.
    Ignored,
    /// None fulfils the machine's GOAL.
    Model,
    /// None fulfils the predicate of the statement.
    Given,
}

/// What is claimed of all reachable states. That no operation lacks a value in any of them is always claimed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claims {
    /// Every conjunct of the invariant is true.
    pub invariant: bool,
    /// Every assertion is true.
    pub assertions: bool,
    /// Some operation is enabled.
    pub no_deadlock: bool,
    pub goal: Goal,
    /// The predicate that is the goal, if one is given.
    pub goal_text: Option<String>,
    /// A temporal formula that all paths fulfil. Then nothing else is claimed.
    pub formula: Option<String>,
}

/// How kanon knows the valuations of the constants. The checker looks for them itself; this says how far it has to try.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Constants {
    /// All candidates were tried.
    Enumerated,
    /// A solver said that there are no others.
    Solved,
}

impl Constants {
    const ALL: [Constants; 2] = [Constants::Enumerated, Constants::Solved];

    fn name(self) -> &'static str {
        match self {
            Constants::Enumerated => "enumerated",
            Constants::Solved => "solved",
        }
    }
}

/// How a proof by formulas argues (docs/certificate.md).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Argument {
    /// The lemmas of the proof, and that nothing is bad, are an inductive invariant.
    Invariant,
    /// Induction over paths, with this k.
    Induction(u64),
    /// No path has so many steps.
    End(u64),
}

impl Argument {
    fn of(name: &str, depth: u64) -> Option<Argument> {
        match (name, depth) {
            ("invariant", 0) => Some(Argument::Invariant),
            ("induction", k) => Some(Argument::Induction(k)),
            ("end", n) => Some(Argument::End(n)),
            _ => None,
        }
    }

    fn named(self) -> (&'static str, u64) {
        match self {
            Argument::Invariant => ("invariant", 0),
            Argument::Induction(k) => ("induction", k),
            Argument::End(n) => ("end", n),
        }
    }
}

/// What a proof by formulas says of itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Formulas {
    pub argument: Argument,
    /// The lemmas as B, for people who read it; what is checked is in the proof.
    pub lemmas: Vec<String>,
    /// Who says that questions without a refutation have no model: none if each has one.
    pub solver: Option<String>,
}

/// A statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Statement {
    /// The version of the program that wrote it.
    pub kanon: String,
    /// All texts that were read; the first one is the model.
    pub files: Vec<File>,
    pub machine: String,
    /// Each given set and its size, in the order of the model.
    pub sets: Vec<(String, u64)>,
    pub minint: BigInt,
    pub maxint: BigInt,
    /// How terms without a value are read.
    pub wd: String,
    /// Of a search through states.
    pub constants: Constants,
    pub claims: Claims,
    /// The sets whose elements may be renamed in the proof.
    pub symmetry: Vec<String>,
    pub valuations: u64,
    pub states: u64,
    /// The proof is one by formulas: then it has no valuations, no states and no symmetry.
    pub formulas: Option<Formulas>,
}

impl Statement {
    /// As JSON.
    pub fn json(&self) -> String {
        let c = &self.claims;
        let goal = match c.goal {
            Goal::Ignored => Value::Null,
            Goal::Model => "model".into(),
            Goal::Given => json!({ "predicate": c.goal_text }),
        };
        let files = self.files.iter().map(|f| json!({"name": f.name, "blake3": f.blake3, "bytes": f.bytes}));
        let sets = self.sets.iter().map(|(name, size)| json!({"name": name, "size": size}));
        let kind = match (&c.formula, &self.formulas) {
            (Some(_), _) => TEMPORAL,
            (None, Some(_)) => FORMULAS,
            (None, None) => STATES,
        };
        let mut text = json!({
            "kind": kind,
            "kanon": self.kanon,
            "machine": self.machine,
            "files": files.collect::<Vec<_>>(),
            "sets": sets.collect::<Vec<_>>(),
            "minint": self.minint.to_string(),
            "maxint": self.maxint.to_string(),
            "wd": self.wd,
            "claims": {
                "invariant": c.invariant,
                "assertions": c.assertions,
                "no_deadlock": c.no_deadlock,
                "never": goal,
                "defined": c.formula.is_none(),
                "formula": c.formula,
            },
        });
        match &self.formulas {
            None => {
                text["constants"] = json!(self.constants.name());
                text["symmetry"] = json!(self.symmetry);
                text["valuations"] = json!(self.valuations);
                text["states"] = json!(self.states);
            }
            Some(f) => {
                let (argument, depth) = f.argument.named();
                text["argument"] = json!(argument);
                text["depth"] = json!(depth);
                text["lemmas"] = json!(f.lemmas);
                text["solver"] = json!(f.solver);
            }
        }
        format!("{text:#}\n")
    }

    /// Reads it. Every field has to be there once, and no other.
    ///
    /// # Errors
    /// The first field that is missing or wrong.
    pub fn read(text: &str) -> Result<Statement, Rejected> {
        let value: Value = serde_json::from_str(text).map_err(|_| Rejected::Statement("it is not JSON"))?;
        // Of two fields of one name another reader might take the other one.
        let once = value.to_string();
        if without_blanks(text) != once {
            return Err(Rejected::Statement("a field is there twice, or something can be written shorter"));
        }
        let mut top = Fields::of(&value, "the statement is no object")?;
        let kind = top.text("kind")?;
        if ![STATES, TEMPORAL, FORMULAS].contains(&kind.as_str()) {
            return Err(Rejected::Statement("a proof of this kind is not known here"));
        }
        let kanon = top.text("kanon")?;
        let machine = top.text("machine")?;
        let mut files = vec![];
        for f in top.list("files")? {
            let mut f = Fields::of(f, "a file is no object")?;
            files.push(File { name: f.text("name")?, blake3: f.text("blake3")?, bytes: f.number("bytes")? });
            f.no_more()?;
        }
        let mut sets = vec![];
        for s in top.list("sets")? {
            let mut s = Fields::of(s, "a set is no object")?;
            sets.push((s.text("name")?, s.number("size")?));
            s.no_more()?;
        }
        let integer = |text: String| text.parse().map_err(|_| Rejected::Statement("a bound is no integer"));
        let (minint, maxint) = (integer(top.text("minint")?)?, integer(top.text("maxint")?)?);
        let wd = top.text("wd")?;
        let claims = top.take("claims")?;
        let mut c = Fields::of(claims, "the claims are no object")?;
        let (goal, goal_text) = match c.take("never")? {
            Value::Null => (Goal::Ignored, None),
            Value::String(s) if s == "model" => (Goal::Model, None),
            given => {
                let mut given = Fields::of(given, "a goal is no object")?;
                let text = given.text("predicate")?;
                given.no_more()?;
                (Goal::Given, Some(text))
            }
        };
        let formula = match c.take("formula")? {
            Value::Null => None,
            Value::String(text) => Some(text.clone()),
            _ => return Err(Rejected::Field("formula")),
        };
        if formula.is_some() != (kind == TEMPORAL) {
            return Err(Rejected::Statement("the proof is of another kind than what is claimed"));
        }
        if c.flag("defined")? != formula.is_none() {
            return Err(Rejected::Statement("a claim without definedness is not known here"));
        }
        let claims = Claims {
            invariant: c.flag("invariant")?,
            assertions: c.flag("assertions")?,
            no_deadlock: c.flag("no_deadlock")?,
            goal,
            goal_text,
            formula,
        };
        c.no_more()?;
        let others = claims.invariant || claims.assertions || claims.no_deadlock;
        if claims.formula.is_some() && (others || claims.goal != Goal::Ignored) {
            return Err(Rejected::Statement("a proof of a formula proves nothing else"));
        }
        let (mut symmetry, mut valuations, mut states, mut formulas) = (vec![], 0, 0, None);
        let mut constants = Constants::Enumerated;
        if kind == FORMULAS {
            let argument = Argument::of(&top.text("argument")?, top.number("depth")?);
            formulas = Some(Formulas {
                argument: argument.ok_or(Rejected::Field("argument"))?,
                lemmas: top.texts("lemmas")?,
                solver: match top.take("solver")? {
                    Value::Null => None,
                    name => Some(name.as_str().ok_or(Rejected::Field("solver"))?.to_string()),
                },
            });
        } else {
            let how = top.text("constants")?;
            let found = Constants::ALL.into_iter().find(|c| c.name() == how);
            constants = found.ok_or(Rejected::Field("constants"))?;
            symmetry = top.texts("symmetry")?;
            (valuations, states) = (top.number("valuations")?, top.number("states")?);
        }
        top.no_more()?;
        Ok(Statement {
            kanon,
            files,
            machine,
            sets,
            minint,
            maxint,
            wd,
            constants,
            claims,
            symmetry,
            valuations,
            states,
            formulas,
        })
    }
}

/// JSON without the white space between its parts.
fn without_blanks(text: &str) -> String {
    let (mut is_string, mut is_escaped) = (false, false);
    let is_kept = |c: &char| {
        let is_inside = is_string;
        is_string ^= *c == '"' && !is_escaped;
        is_escaped = is_inside && *c == '\\' && !is_escaped;
        is_inside || !c.is_ascii_whitespace()
    };
    text.chars().filter(is_kept).collect()
}

/// The fields of an object, each asked for once.
struct Fields<'v> {
    object: &'v Map<String, Value>,
    asked: usize,
}

impl<'v> Fields<'v> {
    fn of(value: &'v Value, otherwise: &'static str) -> Result<Fields<'v>, Rejected> {
        let object = value.as_object().ok_or(Rejected::Statement(otherwise))?;
        Ok(Fields { object, asked: 0 })
    }

    fn take(&mut self, name: &'static str) -> Result<&'v Value, Rejected> {
        self.asked += 1;
        self.object.get(name).ok_or(Rejected::Field(name))
    }

    fn text(&mut self, name: &'static str) -> Result<String, Rejected> {
        Ok(self.take(name)?.as_str().ok_or(Rejected::Field(name))?.to_string())
    }

    fn number(&mut self, name: &'static str) -> Result<u64, Rejected> {
        self.take(name)?.as_u64().ok_or(Rejected::Field(name))
    }

    fn flag(&mut self, name: &'static str) -> Result<bool, Rejected> {
        self.take(name)?.as_bool().ok_or(Rejected::Field(name))
    }

    fn list(&mut self, name: &'static str) -> Result<&'v [Value], Rejected> {
        Ok(self.take(name)?.as_array().ok_or(Rejected::Field(name))?)
    }

    fn texts(&mut self, name: &'static str) -> Result<Vec<String>, Rejected> {
        let text = |v: &Value| Ok(v.as_str().ok_or(Rejected::Field(name))?.to_string());
        self.list(name)?.iter().map(text).collect()
    }

    fn no_more(&self) -> Result<(), Rejected> {
        match self.object.len() == self.asked {
            true => Ok(()),
            false => Err(Rejected::Statement("it has fields that are not known here")),
        }
    }
}
