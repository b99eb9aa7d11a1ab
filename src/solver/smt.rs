//! Solvers that are other programs: z3 and cvc5, as processes that speak SMT-LIB 2. Integers are exact, so what they
//! prove is proved for all integers.
//!
//! A process can hang, die or print nonsense. Reading and writing are threads of their own, whoever waits looks at the
//! clock, and a process that once went wrong is never asked again.
//!
//! Not with the crate easy-smt: it waits for an answer for as long as it takes.

use crate::smtlib::{Sexp, Writer, literal, name, read, read_numeral};
use crate::solver::{NoAnswer, Outcome, Solver, Stop};
use crate::term::{Assignment, Bool, BoolNode, Terms, Var};
use hashbrown::HashMap;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

/// How long a process may take to end an answer that it began.
const LONGEST_ANSWER: Duration = Duration::from_secs(20);

/// What is said to the thread that waits.
enum Heard {
    Answer(String),
    /// An answer has begun.
    Something,
}

pub struct Smt {
    name: String,
    child: Child,
    to: Sender<String>,
    from: Receiver<Heard>,
    stop: Stop,
    writer: Writer,
    /// Text that has not been sent.
    pending: String,
    /// Names of terms that were assumed, and the other way round.
    names: HashMap<Bool, String>,
    terms: HashMap<String, Bool>,
    /// Why it is not asked any more.
    broken: Option<NoAnswer>,
}

impl Smt {
    /// Starts `z3` or `cvc5`; the error says what to install.
    pub fn start(program: &str, stop: Stop) -> Result<Smt, String> {
        let arguments: &[&str] = match program {
            "z3" => &["-in", "-smt2"],
            "cvc5" => &["--incremental", "--lang", "smt2", "--produce-models"],
            _ => return Err(format!("{program} is no solver that is known here: z3 and cvc5 are")),
        };
        Smt::run(program, program, arguments, stop)
    }

    /// Starts a program that speaks SMT-LIB 2 on its standard input and output.
    pub fn run(name: &str, program: &str, arguments: &[&str], stop: Stop) -> Result<Smt, String> {
        let mut command = Command::new(program);
        command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().map_err(|e| match e.kind() {
            std::io::ErrorKind::NotFound => {
                format!("the SMT solver {name} is not installed: please install the package {name}")
            }
            _ => format!("the SMT solver {name} does not start: {e}"),
        })?;
        let (Some(mut input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(format!("the SMT solver {name} has no standard input or output"));
        };
        let (to, texts) = channel::<String>();
        let (said, from) = channel();
        // Both threads end with the process: nothing can be written or read then.
        std::thread::spawn(move || {
            for text in texts {
                if input.write_all(text.as_bytes()).and_then(|()| input.flush()).is_err() {
                    break;
                }
            }
        });
        std::thread::spawn(move || listen(output, &said));
        let pending = "(set-option :print-success false)\n(set-option :produce-models true)\n\
             (set-option :produce-unsat-assumptions true)\n(set-logic ALL)\n"
            .to_string();
        Ok(Smt {
            name: name.to_string(),
            child,
            to,
            from,
            stop,
            writer: Writer::default(),
            pending,
            names: HashMap::new(),
            terms: HashMap::new(),
            broken: None,
        })
    }

    /// The name of an assumption: a constant that is the same.
    fn assumed(&mut self, terms: &Terms, b: Bool) -> String {
        let plain = b.plain();
        if !self.names.contains_key(&plain) {
            self.writer.define(terms, plain, &mut self.pending);
            let name = match terms.bool_node(plain) {
                BoolNode::Var(v) => name(Var::Bool(*v)),
                _ => {
                    let name = format!("a{}", plain.place());
                    self.pending +=
                        &format!("(declare-const {name} Bool)\n(assert (= {name} {}))\n", literal(plain));
                    name
                }
            };
            self.names.insert(plain, name.clone());
            self.terms.insert(name, plain);
        }
        let name = &self.names[&plain];
        if b.is_negated() { format!("(not {name})") } else { name.clone() }
    }

    fn ask(&mut self, question: &str) -> Result<Sexp, NoAnswer> {
        if let Some(why) = &self.broken {
            return Err(why.clone());
        }
        let mut text = std::mem::take(&mut self.pending);
        text += question;
        text.push('\n');
        let answer = if self.to.send(text).is_err() { Err(self.ended()) } else { self.wait() };
        answer.inspect_err(|why| {
            // What it says from now on may be the answer to something else.
            self.broken = Some(why.clone());
            // It may have ended by itself.
            let _ = self.child.kill();
        })
    }

    fn ended(&self) -> NoAnswer {
        NoAnswer::GaveUp(format!("{} ended without an answer", self.name))
    }

    fn wait(&mut self) -> Result<Sexp, NoAnswer> {
        let mut began: Option<Instant> = None;
        loop {
            if self.stop.is_over() {
                return Err(NoAnswer::Stopped);
            }
            if began.is_some_and(|b| b.elapsed() > LONGEST_ANSWER) {
                return Err(NoAnswer::GaveUp(format!("{} does not end its answer", self.name)));
            }
            match self.from.recv_timeout(Duration::from_millis(20)) {
                Ok(Heard::Something) => began = began.or_else(|| Some(Instant::now())),
                Ok(Heard::Answer(text)) => {
                    let nonsense = |why: &str| {
                        let start: String = text.chars().take(200).collect();
                        NoAnswer::GaveUp(format!("{} printed {start:?}: {why}", self.name))
                    };
                    let answer = read(&text).map_err(|why| nonsense(&why))?;
                    let is_error =
                        matches!(&answer, Sexp::List(l) if l.first() == Some(&Sexp::Atom("error".into())));
                    return if is_error { Err(nonsense("an error")) } else { Ok(answer) };
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Err(self.ended()),
            }
        }
    }

    fn nonsense(&mut self, what: &str, answer: &Sexp) -> NoAnswer {
        let text: String = format!("{answer:?}").chars().take(200).collect();
        let why = NoAnswer::GaveUp(format!("{} answered {what} with {text}", self.name));
        self.broken = Some(why.clone());
        why
    }

    fn try_check(&mut self, terms: &Terms, assumptions: &[Bool]) -> Result<Outcome, NoAnswer> {
        if assumptions.contains(&Bool::FALSE) {
            return Ok(Outcome::Unsat(vec![Bool::FALSE]));
        }
        let names: Vec<String> =
            assumptions.iter().filter(|b| **b != Bool::TRUE).map(|&b| self.assumed(terms, b)).collect();
        // cvc5 does not take an empty list.
        let question = match names.as_slice() {
            [] => "(check-sat)".to_string(),
            _ => format!("(check-sat-assuming ({}))", names.join(" ")),
        };
        let answer = self.ask(&question)?;
        match &answer {
            Sexp::Atom(word) if word == "sat" => self.model(terms).map(Outcome::Sat),
            Sexp::Atom(word) if word == "unsat" && names.is_empty() => Ok(Outcome::Unsat(vec![])),
            Sexp::Atom(word) if word == "unsat" => self.core(assumptions).map(Outcome::Unsat),
            Sexp::Atom(word) if word == "unknown" || word == "timeout" => {
                let why = self.ask("(get-info :reason-unknown)")?;
                let why = match why {
                    Sexp::List(mut parts) => match parts.pop() {
                        Some(Sexp::Atom(why)) => why,
                        _ => word.clone(),
                    },
                    Sexp::Atom(why) => why,
                };
                Err(NoAnswer::GaveUp(format!("{}: {why}", self.name)))
            }
            _ => Err(self.nonsense("a question", &answer)),
        }
    }

    fn core(&mut self, assumptions: &[Bool]) -> Result<Vec<Bool>, NoAnswer> {
        let answer = self.ask("(get-unsat-assumptions)")?;
        let Sexp::List(parts) = &answer else { return Err(self.nonsense("what was needed", &answer)) };
        let mut core = vec![];
        for part in parts {
            let found = match part {
                Sexp::Atom(name) => self.terms.get(name).copied(),
                Sexp::List(inner) => match inner.as_slice() {
                    [Sexp::Atom(not), Sexp::Atom(name)] if not == "not" => self.terms.get(name).map(|&b| !b),
                    _ => None,
                },
            };
            match found.filter(|b| assumptions.contains(b)) {
                Some(b) => core.push(b),
                None => return Err(self.nonsense("what was needed", &answer)),
            }
        }
        Ok(core)
    }

    fn model(&mut self, terms: &Terms) -> Result<Assignment, NoAnswer> {
        let mut model = Assignment::default();
        for vars in self.writer.declared.clone().chunks(200) {
            let names: Vec<String> = vars.iter().map(|&v| name(v)).collect();
            let answer = self.ask(&format!("(get-value ({}))", names.join(" ")))?;
            let pairs = match &answer {
                Sexp::List(pairs) if pairs.len() == vars.len() => pairs,
                _ => return Err(self.nonsense("a question for values", &answer)),
            };
            for (pair, &v) in pairs.iter().zip(vars) {
                let value = match pair {
                    Sexp::List(parts) if parts.len() == 2 => &parts[1],
                    _ => return Err(self.nonsense("a question for values", &answer)),
                };
                let is_read = match (v, value) {
                    (Var::Bool(v), Sexp::Atom(word)) if word == "true" || word == "false" => {
                        model.bools.insert(v, word == "true");
                        true
                    }
                    (Var::Int(v), value) => match read_numeral(value) {
                        Some(value) if terms.bounds(v).contains(&value) => {
                            model.ints.insert(v, value);
                            true
                        }
                        _ => false,
                    },
                    _ => false,
                };
                if !is_read {
                    return Err(self.nonsense("a question for values", &answer));
                }
            }
        }
        Ok(model)
    }
}

/// Sends on what a process prints, one expression after the other.
fn listen(mut output: impl Read, said: &Sender<Heard>) {
    let mut text: Vec<u8> = vec![];
    let mut depth = 0usize;
    let mut quote = None;
    let mut buffer = [0u8; 4096];
    while let Ok(n) = output.read(&mut buffer) {
        if n == 0 {
            break;
        }
        for &byte in &buffer[..n] {
            if text.is_empty() && byte.is_ascii_whitespace() {
                continue;
            }
            if text.is_empty() && said.send(Heard::Something).is_err() {
                return;
            }
            text.push(byte);
            match (quote, byte) {
                (Some(q), _) if q == byte => quote = None,
                (Some(_), _) => continue,
                (None, b'"' | b'|') => quote = Some(byte),
                (None, b'(') => depth += 1,
                (None, b')') => depth = depth.saturating_sub(1),
                _ => {}
            }
            // A list ends with its parenthesis, a word with its line.
            let is_whole = depth == 0 && quote.is_none() && (byte == b')' || byte == b'\n');
            if is_whole {
                let whole = String::from_utf8_lossy(&text).into_owned();
                text.clear();
                if said.send(Heard::Answer(whole)).is_err() {
                    return;
                }
            }
        }
    }
}

impl Solver for Smt {
    fn assert(&mut self, terms: &Terms, claim: Bool) {
        self.writer.define(terms, claim, &mut self.pending);
        self.pending += &format!("(assert {})\n", literal(claim));
    }

    fn check(&mut self, terms: &Terms, assumptions: &[Bool]) -> Outcome {
        match self.try_check(terms, assumptions) {
            Ok(outcome) => outcome,
            Err(why) => Outcome::Unknown(why),
        }
    }

    fn name(&self) -> &str {
        &self.name
    }

    fn is_unbounded(&self) -> bool {
        true
    }
}

impl Drop for Smt {
    fn drop(&mut self) {
        // It may have ended by itself; either way nothing is left of it.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The solvers that are known here.
pub const KNOWN: [&str; 2] = ["z3", "cvc5"];

/// Which of the known solvers are there. Nothing is run for it: a program may never end.
pub fn installed() -> Vec<&'static str> {
    found().into_iter().map(|(name, _)| name).collect()
}

/// The same, with where they are.
pub fn found() -> Vec<(&'static str, PathBuf)> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let place = |name: &'static str| {
        let file = std::env::split_paths(&path).map(|folder| folder.join(name)).find(|f| is_program(f))?;
        Some((name, file))
    };
    KNOWN.into_iter().filter_map(place).collect()
}

#[cfg(unix)]
fn is_program(file: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    file.metadata().is_ok_and(|m| m.is_file() && m.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_program(file: &Path) -> bool {
    file.with_extension(std::env::consts::EXE_EXTENSION).is_file()
}
