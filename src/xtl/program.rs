//! A program and what is asked of it, in a Prolog process that is started again when it was ended.

use super::answer::Answer;
use super::prolog::{Gone, Prolog};
use crate::system::Stop;
use std::collections::HashMap;
use std::time::Duration;

/// How often a process may have to be ended before nobody starts another.
const STARTS: u32 = 8;

/// How much one goal may need.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Steps of the Prolog machine.
    pub inferences: u64,
    /// Solutions.
    pub solutions: u64,
    /// Without an answer for so long a process is ended: inferences are not counted in everything.
    pub late: Duration,
    /// Bytes of Prolog's stacks.
    pub stacks: u64,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            inferences: 50_000_000,
            solutions: 1_000_000,
            late: Duration::from_secs(60),
            stacks: 1 << 30,
        }
    }
}

/// A mistake in a program: file, line from 1 (0 if there is no place), column, and what is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mistake {
    /// What the file was called.
    pub file: String,
    /// From 1; 0 if there is no place.
    pub line: u64,
    /// From 0.
    pub column: u64,
    /// What is wrong.
    pub text: String,
}

/// Why a program cannot be run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unfit {
    /// It has mistakes.
    Mistakes(Vec<Mistake>),
    /// A property or a pattern is no term: which, and why.
    Question(String, String),
    /// There is no Prolog here, or no way to confine it.
    Nowhere(String),
    /// It took too long to read, or Prolog ended.
    Gone(Gone),
}

/// Files that a program includes: who asks, what for, and the file's name and text or why there is none.
pub type Include<'a> = dyn FnMut(&str, &str) -> Result<(String, String), String> + 'a;

/// A program that can be asked.
pub struct Program {
    name: String,
    text: String,
    properties: Vec<String>,
    patterns: Vec<String>,
    limits: Limits,
    included: HashMap<(String, String), Result<(String, String), String>>,
    prolog: Option<Prolog>,
    starts: u32,
    /// What transitions may be called, as far as the program says.
    pub operations: Vec<String>,
}

impl Program {
    /// Reads a program.
    ///
    /// # Errors
    /// What is wrong with it, with a question, or with this machine.
    pub fn read(
        name: &str,
        text: &str,
        properties: Vec<String>,
        patterns: Vec<String>,
        limits: Limits,
        stop: &Stop,
        include: &mut Include,
    ) -> Result<Program, Unfit> {
        let mut program = Program {
            name: name.to_string(),
            text: text.to_string(),
            properties,
            patterns,
            limits,
            included: HashMap::new(),
            prolog: None,
            starts: 0,
            operations: vec![],
        };
        program.begin(stop, include)?;
        Ok(program)
    }

    /// A program whose process has said this, and is gone; no other will be started.
    pub fn heard(bytes: Vec<u8>) -> Program {
        Program {
            name: String::new(),
            text: String::new(),
            properties: vec![],
            patterns: vec![],
            limits: Limits::default(),
            included: HashMap::new(),
            prolog: Some(Prolog::heard(bytes)),
            starts: STARTS + 1,
            operations: vec![],
        }
    }

    fn begin(&mut self, stop: &Stop, include: &mut Include) -> Result<(), Unfit> {
        self.starts += 1;
        let mut prolog = Prolog::start(self.limits.stacks, self.limits.late).map_err(Unfit::Nowhere)?;
        prolog.say(format!("limit {} {}\n", self.limits.inferences, self.limits.solutions).as_bytes());
        prolog.ask("load", &[self.name.as_bytes(), self.text.as_bytes()]);
        prolog.flush();
        let mut mistakes = vec![];
        self.operations.clear();
        loop {
            match prolog.hear(stop).map_err(Unfit::Gone)? {
                Answer::End => break,
                Answer::Operation(name) => self.operations.push(name),
                Answer::Mistake { file, line, column, text } => {
                    mistakes.push(Mistake { file, line, column, text });
                }
                Answer::Include { from, path } => {
                    let key = (from, path);
                    let answer = match self.included.get(&key) {
                        Some(known) => known.clone(),
                        None => include(&key.0, &key.1),
                    };
                    match &answer {
                        Ok((name, text)) => prolog.ask("file", &[name.as_bytes(), text.as_bytes()]),
                        Err(why) => prolog.ask("none", &[why.as_bytes()]),
                    }
                    prolog.flush();
                    self.included.insert(key, answer);
                }
                other => return Err(Unfit::Gone(Gone::Ended(format!("it said {other:?}")))),
            }
        }
        if !mistakes.is_empty() {
            return Err(Unfit::Mistakes(mistakes));
        }
        let properties = self.properties.iter().map(|p| ("property", p));
        for (word, text) in properties.chain(self.patterns.iter().map(|p| ("pattern", p))) {
            prolog.ask(word, &[text.as_bytes()]);
            prolog.flush();
            match prolog.hear(stop).map_err(Unfit::Gone)? {
                Answer::End => {}
                Answer::Fault(why) => return Err(Unfit::Question(text.clone(), why)),
                other => return Err(Unfit::Gone(Gone::Ended(format!("it said {other:?}")))),
            }
        }
        self.prolog = Some(prolog);
        Ok(())
    }

    /// A process that has read the program, and whether it is a new one.
    ///
    /// # Errors
    /// Why there is none.
    pub fn prolog(&mut self, stop: &Stop) -> Result<(&mut Prolog, bool), Gone> {
        let is_new = self.prolog.is_none();
        if is_new {
            if self.starts > STARTS {
                return Err(Gone::Ended(format!("SWI-Prolog had to be ended {STARTS} times")));
            }
            self.begin(stop, &mut |_, _| Err("it was not asked for before".into())).map_err(|e| match e {
                Unfit::Gone(gone) => gone,
                Unfit::Nowhere(why) => Gone::Ended(why),
                Unfit::Mistakes(_) | Unfit::Question(..) => {
                    Gone::Ended("it did not read the program again".into())
                }
            })?;
        }
        match &mut self.prolog {
            Some(prolog) => Ok((prolog, is_new)),
            None => Err(Gone::Ended("it is gone".into())),
        }
    }

    /// Ends the process: what it says next would be an answer to something else.
    pub fn end(&mut self) {
        self.prolog = None;
    }
}
