//! What works for which language, asked of the program itself: the table of README.
//!
//! Another language is another column: one more [`Column`] in [`columns`].

use crate::program::{WRONG, kanon, program};
use crate::terminal::animates;
use kanon::animate::{Animated, Walk};
use kanon::system::{
    Check, Complete, Operation, Res, Starts, Stop, System, Transition, Visit, Visitor, Width,
};
use kanon::{Action, Options};
use std::io::{BufRead, BufReader};
use std::ops::ControlFlow;
use std::path::Path;
use std::process::Stdio;
use std::sync::Arc;

/// The rows, with what is given behind the command and the file.
const ROWS: [(&str, &[&str]); 11] = [
    ("check", &[]),
    ("ltl", &["G not deadlock"]),
    ("compare", &[]),
    ("eval", &[]),
    ("graph", &[]),
    ("export", &["--dot"]),
    ("simulate", &["--walks", "1"]),
    ("animate", &[]),
    ("serve", &[]),
    ("symmetry", &["--symmetry", "canon"]),
    ("certificate", &["--certificate"]),
];

/// A language, and a file in it that is small.
struct Column {
    name: &'static str,
    file: &'static str,
    /// What `eval` is asked.
    expression: &'static str,
    /// Behind all commands that take it.
    always: &'static [&'static str],
    /// What has a process guide it: an option that some commands do not have, and so refuse.
    guided: &'static [&'static str],
    /// What makes `check` look at states.
    states: &'static [&'static str],
}

fn columns() -> Vec<Column> {
    let column =
        |name, file, expression| Column { name, file, expression, always: &[], guided: &[], states: &[] };
    vec![
        column("classical B", "models/papers/scheduler0.mch", "1 = 1"),
        column("Event-B", "models/eventb/Turns.eventb", "1 = 1"),
        column("Z", "models/z/BirthdayBook.tex", "1 = 1"),
        Column { states: &["--process", "MAIN"], ..column("CSP-M", "models/csp/OnePlace.csp", "1 == 1") },
        Column {
            guided: &["--csp", "models/guided/Account.csp"],
            ..column("B with CSP-M", "models/guided/Account.mch", "1 = 1")
        },
        column("PNML", "models/nets/shared-memory.pnml", "true"),
        Column { always: &["--run-programs"], ..column("XTL", "models/xtl/Controller.P", "level = low") },
    ]
}

/// Whether the program does this with the file; what it refuses says so, and ends with 2.
fn works(column: &Column, row: &str, more: &[&str]) -> bool {
    let certificate = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("table-{}.kanon", column.name));
    let file = certificate.to_str().expect("a path of plain letters");
    let mut args = vec![row, column.file];
    match row {
        "animate" => {
            let args: Vec<&str> =
                [column.file].iter().chain(column.guided).chain(column.always).copied().collect();
            return animates(&args);
        }
        "serve" => {
            let args: Vec<&str> = [column.file].iter().chain(column.guided).copied().collect();
            return serves(&args);
        }
        "symmetry" => {
            args[0] = "check";
            args.extend(column.states);
        }
        "certificate" => args[0] = "check",
        "eval" => args.push(column.expression),
        _ => {}
    }
    args.extend(more);
    if row == "certificate" {
        let _ = std::fs::remove_file(&certificate);
        args.push(file);
    }
    if matches!(args[0], "check" | "ltl" | "eval" | "export" | "simulate") {
        args.extend(column.always);
    }
    args.extend(column.guided);
    let ran = kanon(&args);
    let works = ran.code != WRONG;
    assert_eq!(works, !ran.out.is_empty(), "{args:?}: {}{}", ran.out, ran.err);
    assert!(works || !ran.err.is_empty(), "{args:?}: refused without a reason");
    if row == "certificate" {
        assert_eq!(works, certificate.exists(), "{args:?}: {}{}", ran.out, ran.err);
    }
    works
}

/// Whether `kanon serve` has a page for it.
fn serves(args: &[&str]) -> bool {
    let mut server = program()
        .arg("serve")
        .args(args)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let out = server.stdout.take().expect("it is piped");
    let mut line = String::new();
    BufReader::new(out).read_line(&mut line).expect("a link, or nothing");
    let works = line.starts_with("http://");
    if works {
        server.kill().expect("it runs");
    }
    let ended = server.wait_with_output().expect("it ends");
    assert!(works || ended.status.code() == Some(WRONG), "{args:?}: {ended:?}");
    works
}

/// The smallest system: one state with one transition.
struct One {
    operations: Vec<Operation>,
}

impl System for One {
    type Worker = ();
    type Here = ();
    fn widths(&self) -> Vec<Width> {
        vec![Width::Bits(1)]
    }
    fn operations(&self) -> &[Operation] {
        &self.operations
    }
    fn checks(&self) -> &[Check] {
        &[]
    }
    fn worker(&self, _: &Stop) {}
    fn starts(&self, w: &mut (), visit: &mut dyn Starts<()>) -> Option<Complete> {
        visit.start(w, 0).is_continue().then(Complete::every_start_was_visited)
    }
    fn initial(&self, w: &mut (), _: usize, visit: &mut Visit<'_, ()>) -> Res<ControlFlow<()>> {
        Ok(visit(w, &[0]))
    }
    fn successors(&self, w: &mut (), _: &[u64], visit: &mut dyn Visitor<()>) -> ControlFlow<()> {
        visit.transition(Transition { operation: 0, target: &[0], here: w })
    }
    fn load<'w>(&self, w: &'w mut (), _: &[u64]) -> &'w mut () {
        w
    }
    fn holds(&self, _: usize, _: &mut ()) -> Res<bool> {
        Ok(true)
    }
}

/// What the library has for a system that is written in Rust; what is not here it does not have.
fn in_rust(row: &str) -> bool {
    let one = || One { operations: vec![Operation::named("step")] };
    let none: Option<&Arc<dyn Action>> = None;
    let answer = || kanon::run::system::check(&one(), none, &Options::default()).expect("they go together");
    match row {
        "check" => answer().verdict.holds(),
        "ltl" => {
            let ltl = kanon::run::system::ltl(&one(), none, "G [step]", &Options::default());
            ltl.is_ok_and(|(verdict, _)| verdict.holds())
        }
        "export" => kanon::show::dot(&one(), &answer()).contains("digraph"),
        "animate" => {
            let mut walk = Walk::new(Arc::new(one()));
            let stop = Stop::default();
            Animated::step(&mut walk, 0, &stop).is_some() && Animated::step(&mut walk, 0, &stop).is_some()
        }
        // examples/caches.rs has one, and tests/library explores it with all strategies.
        "symmetry" => std::any::type_name::<dyn Action>().contains("Action"),
        _ => false,
    }
}

#[test]
fn the_readme_says_what_works_for_which_language() {
    let columns = columns();
    let names: Vec<&str> = columns.iter().map(|c| c.name).chain(["Rust"]).collect();
    let mut table = format!("| | {} |\n|---|{}\n", names.join(" | "), "---|".repeat(names.len()));
    for (row, more) in ROWS {
        let mut cells: Vec<bool> = columns.iter().map(|c| works(c, row, more)).collect();
        cells.push(in_rust(row));
        let cells: Vec<&str> = cells.iter().map(|yes| if *yes { "yes" } else { "no" }).collect();
        let name = if ["symmetry", "certificate"].contains(&row) { row.into() } else { format!("`{row}`") };
        table += &format!("| {name} | {} |\n", cells.join(" | "));
    }
    let readme = include_str!("../../README.md");
    let (begin, end) = ("<!-- languages: begin -->\n", "<!-- languages: end -->");
    let block =
        readme.split_once(begin).and_then(|(_, rest)| rest.split_once(end)).map(|(block, _)| block.trim());
    assert_eq!(block, Some(table.trim()), "README.md needs this table:\n{table}");
}
