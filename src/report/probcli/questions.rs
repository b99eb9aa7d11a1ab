//! Formulas, proof obligations, sequences, refinements, assertions about processes, coverage, files.

use super::Telling;
use crate::run::suite::Ran;
use serde_json::Value as Json;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

/// How a file was written.
#[derive(Clone, Copy, Debug)]
pub enum Wrote<'a> {
    /// It was not.
    Failed(&'a str),
    /// The state space.
    States,
    /// Another graph.
    Dot,
}

/// What obligations about something come to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Proved {
    Yes,
    Unknown,
    No,
}

fn array(json: &Json) -> &[Json] {
    json.as_array().map_or(&[], |all| all)
}

fn text(json: &Json) -> &str {
    json.as_str().unwrap_or_default()
}

impl Telling<'_> {
    /// The answer, if there is one that is none of refusal.
    fn answered<'r>(&mut self, source: &str, ran: &'r Ran) -> Option<&'r Json> {
        match &ran.answer {
            Ok(refused) if refused["errors"].is_array() => self.refused(refused),
            Ok(answer) => return Some(answer),
            Err(why) => self.error(source, why),
        }
        None
    }

    /// The answers of `ltl`; the names that the formulas have in a file.
    pub fn formulas(&mut self, ran: &Ran, names: Option<&[String]>) {
        let Some(answer) = self.answered("ltl", ran) else { return };
        let Some(all) = answer.as_array() else {
            let why = answer["reason"].as_str().unwrap_or("there is no answer");
            return self.error("ltl", why);
        };
        for (at, f) in all.iter().enumerate() {
            let formula = text(&f["formula"]);
            let name = names.and_then(|n| n.get(at));
            if let Some(name) = name {
                self.out(&format!("Checking formula {name}:"));
            }
            match (f["verdict"].as_str(), name) {
                (Some("holds"), _) => {
                    self.out(&format!("LTL Formula TRUE.\nNo counter example found for {formula}."));
                }
                (Some("fails"), Some(name)) => {
                    self.error("ltl_counterexample", "Counter-example was found");
                    self.out(&format!("Counter-example found for formula \"{name}\".\nFormula FALSE.\n"));
                }
                (Some("fails"), None) => {
                    self.error("ltl", &format!("Model Check Counter-Example found for:  {formula}"));
                    self.out("\nFormula FALSE.\n");
                }
                _ => {
                    let why = text(&f["reason"]);
                    self.error("ltl", &format!("Model Check incomplete for:  {formula}: {why}"));
                    self.out("\nLTL Formula not decided.\n");
                }
            }
            let ms = (f["seconds"].as_f64().unwrap_or(0.0) * 1000.0).round();
            self.detail(&format!("Runtime: {ms} ms\n"));
        }
    }

    /// The answer of `prove`: what is asked of it.
    pub fn obligations(&mut self, ran: &Ran, of: &[String], deadlock: bool, assertions: bool, wd: bool) {
        let Some(answer) = self.answered("cbc", ran) else { return };
        if !answer["obligations"].is_array() {
            let why = answer["reason"].as_str().unwrap_or("there is no answer").to_string();
            return self.error("cbc", &why);
        }
        let machine = text(&answer["machine"]);
        // `OPERATION/inv1/INV`, and with the machine's name before it where there are several.
        let mut all: Vec<(Option<String>, &str, &Json)> = vec![];
        for o in array(&answer["obligations"]) {
            let mut parts: Vec<&str> = text(&o["name"]).split('/').collect();
            let kind = parts.pop().unwrap_or_default();
            let levels = array(&answer["levels"]).iter().any(|l| l.as_str() == parts.first().copied());
            match parts.first() {
                Some(first) if *first == machine => drop(parts.remove(0)),
                // Of a machine that is refined.
                Some(_) if levels => continue,
                _ => {}
            }
            all.push((parts.first().map(ToString::to_string), kind, o));
        }
        for name in of {
            self.preserved(name, &all);
        }
        let kinds = |kind: &'static str| all.iter().filter(move |(_, k, _)| *k == kind).map(|(_, _, o)| *o);
        if deadlock {
            self.out("% Starting Constraint-Based DEADLOCK check ");
            let said = ["No DEADLOCK state found", "*** DEADLOCK state found ***"];
            self.settled("cbc_deadlock_check", kinds("DLF"), said, "*** END DEADLOCKING STATE ");
        }
        if assertions {
            self.out("% Starting Constraint-Based static ASSERTIONS check ");
            let said =
                ["No counter-example to ASSERTION exists ", "*** Counter-example for ASSERTION found ***"];
            self.settled("cbc_assertions", kinds("THM"), said, "*** END ASSERTION counter-example STATE ");
        }
        if wd {
            self.out("% Starting well-definedness check ");
            let (mut yes, mut count) = (0, 0);
            for o in kinds("WD") {
                count += 1;
                match proved(o) {
                    Proved::Yes => yes += 1,
                    _ => self.error("wd_check", &format!("{}: {}", text(&o["name"]), text(&o["status"]))),
                }
            }
            self.out(&format!("WD Analysis Result: discharged {yes} / {count}"));
        }
    }

    /// Whether operations preserve the invariant.
    fn preserved(&mut self, name: &str, all: &[(Option<String>, &str, &Json)]) {
        const INITIALISATION: &str = crate::trace::INITIALISATION;
        match name {
            "all" => self.out("% Starting Constraint-Based Check for all Operations: "),
            _ => self.out(&format!("% Starting Constraint-Based Check for Operation: {name}")),
        }
        // An operation that may change no variable of any conjunct has no obligation about the invariant.
        let mut found: BTreeMap<usize, (String, Proved)> = BTreeMap::new();
        let mut order: Vec<String> = vec![];
        for (operation, kind, o) in all {
            let Some(operation) = operation.as_ref().filter(|o| name == "all" || *o == name) else {
                continue;
            };
            if ["THM", "DLF"].contains(kind) {
                continue;
            }
            let at = order.iter().position(|o| o == operation).unwrap_or_else(|| {
                order.push(operation.clone());
                order.len() - 1
            });
            if *kind == "WD" && proved(o) == Proved::No {
                self.error(
                    "well_definedness_error",
                    &format!("{operation} reads something that has no value"),
                );
            }
            let worth = if *kind == "INV" { proved(o) } else { Proved::Yes };
            let entry = found.entry(at).or_insert((operation.clone(), Proved::Yes));
            if worth == Proved::No && entry.1 != Proved::No {
                let state = |s: &Json| {
                    let pairs = s.as_object().into_iter().flatten();
                    pairs.map(|(n, v)| format!("{n}={}", text(v))).collect::<Vec<_>>().join(" &\n       ")
                };
                let example = &o["example"];
                self.detail(&format!("\n% ===> Operation: {operation}"));
                self.detail(&format!("% ===> State: ( {} )", state(&example["before"])));
                if example["after"].is_object() {
                    self.detail(&format!("% ===> NewState: ( {} )", state(&example["after"])));
                }
            }
            entry.1 = entry.1.max(worth);
        }
        if found.is_empty() && name != "all" {
            self.error("probcli", &format!("Unknown Operation Name:  {name}"));
            self.is_abnormal = true;
            return;
        }
        let mut results = vec![];
        let last = |n: &&(String, Proved)| n.0 == INITIALISATION;
        let all: Vec<_> =
            found.values().filter(|n| !last(n)).chain(found.values().filter(last)).cloned().collect();
        for (operation, worth) in &all {
            results.push(match worth {
                Proved::Yes => format!("{operation} == ok"),
                Proved::No => format!("{operation} == invariant_violated_after({operation})"),
                Proved::Unknown => format!("{operation} == unknown"),
            });
            match worth {
                Proved::Yes if operation == INITIALISATION => {}
                Proved::Yes => self.out(&format!("No cbc counter example for {operation}")),
                Proved::No => {
                    let _ = writeln!(self.told.err, "Found cbc counter example for {operation}");
                }
                Proved::Unknown => self.out(&format!("No answer for {operation}")),
            }
        }
        self.out(&format!("\n% Constraint-Based Check Result: \n[{}]", results.join(",")));
        match all.iter().map(|(_, worth)| *worth).max() {
            Some(Proved::No) => {
                self.out("*** CONSTRAINT-BASED CHECK FOUND ERRORS ***\n");
                self.errors.push("cbc".into());
            }
            Some(Proved::Unknown) => {
                self.warning("cbc_incomplete", "the solver decided too little: `kanon prove` says what");
                self.out("*** CONSTRAINT-BASED CHECK NOT DECIDED ***\n");
            }
            _ => self.out("NO ERRORS FOUND\n"),
        }
    }

    /// Obligations of one kind: what is said if all are proved, and if one is not.
    fn settled<'j>(
        &mut self,
        error: &str,
        all: impl Iterator<Item = &'j Json>,
        [good, bad]: [&str; 2],
        end: &str,
    ) {
        let all: Vec<&Json> = all.collect();
        let worst = all.iter().map(|o| proved(o)).max().unwrap_or(Proved::Yes);
        match worst {
            Proved::Yes => self.out(good),
            Proved::Unknown => self.warning(&format!("{error}_incomplete"), "the solver did not decide it"),
            Proved::No => {
                self.out(bad);
                let example = all.iter().find(|o| proved(o) == Proved::No).map(|o| &o["example"]);
                let example = example.unwrap_or(&Json::Null);
                let pairs =
                    ["constants", "before"].into_iter().filter_map(|k| example[k].as_object()).flatten();
                let state: Vec<String> = pairs.map(|(n, v)| format!("{n}={}", text(v))).collect();
                self.out(&format!("*** STATE = \n     ( {} )\n{end}", state.join(" &\n       ")));
                self.errors.push(error.into());
            }
        }
    }

    /// The answer of `follow` to a log that names operations only.
    pub fn sequence(&mut self, ran: &Ran) {
        let answer = match &ran.answer {
            // A wrong name is an error of the log, not of the machine.
            Ok(refused) if array(&refused["errors"]).iter().any(|e| e["code"] == "B0431") => {
                self.errors.push("cbc_sequence".into());
                self.error("cbc_find_sequence", text(&refused["reason"]));
                return self.out("*** Unknown result: error");
            }
            _ => match self.answered("cbc_find_sequence", ran) {
                Some(answer) => answer,
                None => return,
            },
        };
        match text(&answer["verdict"]) {
            "holds" => {
                let steps = array(&answer["trace"]["steps"]).iter().map(|step| {
                    let name = text(&step["operation"]);
                    let inside = if name == crate::trace::INITIALISATION { "state" } else { "parameters" };
                    let values = step[inside].as_object().into_iter().flatten().map(|(_, v)| text(v));
                    let values = values.collect::<Vec<_>>().join(",");
                    if values.is_empty() { name.to_string() } else { format!("{name}({values})") }
                });
                let path = steps.collect::<Vec<_>>().join(" ");
                self.out(&format!("% *** FOUND PATH: {path} \nSequence found and executed"));
            }
            "fails" => {
                self.out("% *** NO SOLUTION FOUND\n\n*** NO SOLUTION FOUND ");
                self.errors.push("cbc_sequence_no_solution_found".into());
            }
            _ => {
                self.warning("cbc_sequence", text(&answer["reason"]));
                self.out("*** Unknown result: not decided");
            }
        }
    }

    /// The answer of `refine`, if it is about this abstract machine.
    pub fn refinement(&mut self, ran: &Ran, of: &str) {
        let Some(answer) = self.answered("refinement_check", ran) else { return };
        let levels: Vec<&str> = array(&answer["levels"]).iter().map(text).collect();
        if levels.len() > 1 && !levels[1..].contains(&of) {
            let why = format!("it refines {}, and not {of}", levels[1..].join(", "));
            return self.error("refinement_check", &why);
        }
        let ms = (answer["seconds"].as_f64().unwrap_or(0.0) * 1000.0).round();
        self.detail(&format!("% Refinement Check Time: {ms} ms"));
        match text(&answer["verdict"]) {
            "holds" if levels.len() > 1 => self.out("==> Refinement Check Successful"),
            "fails" => {
                self.out("*** Refinement Check Counter-Example: ***");
                self.trace(&answer["finding"]["trace"]);
                self.detail(text(&answer["reason"]));
                self.out("*** Refinement Check Failed ***");
                self.errors.push("refinement_check_fails".into());
            }
            _ => {
                self.warning("refinement_check_incomplete", text(&answer["reason"]));
                self.out("*** Refinement Check not complete ***");
            }
        }
    }

    /// The answer to the assertion that stands in this script itself.
    pub fn assertion(&mut self, ran: &Ran, script: &Path) {
        let Some(answer) = self.answered("csp", ran) else { return };
        let script = script.to_string_lossy();
        let here = |a: &&Json| a["file"].as_str().is_some_and(|f| script.ends_with(f) || f == script);
        let Some(a) = array(&answer["assertions"]).iter().rfind(here) else {
            return self.error("csp", answer["reason"].as_str().unwrap_or("there is no answer"));
        };
        let assertion = text(&a["assertion"]);
        let is_refinement = ["[T=", "[F=", "[FD="].iter().any(|way| assertion.contains(way));
        let check = if is_refinement { "Refinement" } else { "Model" };
        match text(&a["verdict"]) {
            "holds" => self.out(&format!("OK\n==> {check} Check Successful")),
            "fails" => {
                let trace = array(&a["trace"]).iter().map(text).collect::<Vec<_>>().join(",");
                self.out(&format!("*** FALSE ***\n*** {check} Check Counter-Example: ***\n[{trace}]"));
                self.detail(text(&a["why"]));
                self.out(&format!("*** {check} Check Failed ***"));
                let error = if is_refinement { "refinement_check_fails" } else { "model_check_fails" };
                self.errors.push(error.into());
            }
            _ => {
                let why = a["why"].as_str().or(a["reason"].as_str()).unwrap_or("it is not decided");
                self.warning("csp_incomplete", why);
                self.out(&format!("*** {check} Check not complete ***"));
            }
        }
    }

    /// Antecedents of the invariant that are never true.
    pub fn vacuity(&mut self, answer: &Json) {
        let details = &answer["coverage"]["details"];
        if !details.is_object() {
            return self.error("vacuity_check", "the states were not all explored: nothing can be said");
        }
        let vacuous = array(&details["never_true"]);
        for v in vacuous {
            self.error("vacuity_check", &format!("Vacuous invariant, never true:  {}", text(&v["text"])));
        }
        match details["undecided"].as_u64() {
            Some(0) if vacuous.is_empty() => self.out("No vacuous invariants"),
            Some(0) => {}
            _ => self
                .warning("vacuity_check_incomplete", "not every conjunct could be evaluated in every state"),
        }
    }

    /// Numbers of states and of transitions, as ProB counts them.
    pub fn coverage(&mut self, answer: &Json) {
        if !answer["operations"].is_object() {
            return;
        }
        let n = |key: &str| answer[key].as_u64().unwrap_or(0);
        let total = n("states") + n("constants") + 1;
        let live = total.saturating_sub(n("deadlocks") + n("open"));
        let mut fired: BTreeMap<String, u64> = BTreeMap::new();
        for (name, count) in answer["operations"].as_object().into_iter().flatten() {
            fired.insert(name.clone(), count.as_u64().unwrap_or(0));
        }
        fired.insert(crate::trace::INITIALISATION.into(), n("initialisations"));
        if n("constants") > 0 {
            fired.insert("SETUP_CONSTANTS".into(), n("constants"));
        }
        let all: u64 = fired.values().sum();
        let yes: String =
            fired.iter().filter(|f| *f.1 > 0).fold(String::new(), |t, (name, n)| t + &format!(",{name}:{n}"));
        let no: String =
            fired.iter().filter(|f| *f.1 == 0).fold(String::new(), |t, (name, _)| t + "," + name);
        self.out(&format!(
            "Coverage:\n\n[STATES,deadlocked:{},invariant_violated:{},invariant_not_checked:0,open:{},live:{live},\
             total:{total},TOTAL_OPERATIONS,{all},COVERED_OPERATIONS{yes},UNCOVERED_OPERATIONS{no}]\n",
            n("deadlocks"),
            n("violations"),
            n("open"),
        ));
    }

    /// The same as numbers that were expected: of states with the root, and of transitions.
    pub fn counts(&mut self, answer: &Json, states: u64, steps: u64) {
        let n = |key: &str| answer[key].as_u64().unwrap_or(0);
        let found = [
            ("nodes", n("states") + n("constants") + 1, states),
            ("transitions", n("transitions") + n("initialisations") + n("constants"), steps),
        ];
        for (what, is, expected) in found {
            if is != expected {
                self.error("probcli", &format!("Unexpected number of {what}:  {is}"));
                self.error("probcli", &format!("Expected:  {expected}"));
                self.errors.push("coverage".into());
            }
        }
    }

    /// A file was written, or why not.
    pub fn wrote(&mut self, to: &Path, how: Wrote) {
        let to = to.display();
        match how {
            Wrote::States => self.out(&format!("Writing states to dot file {to}")),
            Wrote::Dot => self.out(&format!("% Generating Dot File: {to}\n% Done")),
            Wrote::Failed(why) => {
                self.error("write", &format!("{to}: {why}"));
                // Whoever asked for a file would go on without it.
                self.is_abnormal = true;
            }
        }
    }
}

fn proved(obligation: &Json) -> Proved {
    match text(&obligation["status"]) {
        "proved" => Proved::Yes,
        "disproved" => Proved::No,
        _ => Proved::Unknown,
    }
}

/// A word of a table: in quotes where it has to be.
pub(super) fn cell(text: &str) -> String {
    if text.contains(['"', ',', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.into()
    }
}

/// Operations, and how many transitions each has.
pub fn operation_table(answer: &Json) -> Option<String> {
    let operations = answer["operations"].as_object().filter(|_| answer["complete"] == true)?;
    let rows = operations.iter().map(|(name, n)| format!("{},{n}\n", cell(name)));
    Some("Operation,Transitions\n".to_string() + &rows.collect::<String>())
}

/// Variables, how many values each has, and the smallest and largest of a number.
pub fn variable_table(answer: &Json) -> Option<String> {
    let variables = answer["coverage"]["variables"].as_array()?;
    let mut text_of = String::from("Variable,Values,Minimum,Maximum\n");
    for v in variables {
        let values = v["values"].as_u64().map(|n| n.to_string()).unwrap_or_default();
        let row = [cell(text(&v["name"])), values, text(&v["min"]).into(), text(&v["max"]).into()];
        let _ = writeln!(text_of, "{}", row.join(","));
    }
    Some(text_of)
}
