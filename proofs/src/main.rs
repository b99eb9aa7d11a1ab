//! `kanon-proofs`: prints the obligations for an SMT solver, runs one, and enumerates small systems.
#![forbid(unsafe_code)]

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use kanon_proofs::obligations;
use kanon_proofs::solve::{self, Answer, Solver};
use kanon_proofs::table::{self, Status};

const USAGE: &str = "\
usage: kanon-proofs obligations [--dir DIR] [--only TEXT] [--solver z3|cvc5] [--update]
       kanon-proofs exhaustive [STATES] [--only TEXT]

obligations  writes one .smt2 file per obligation into DIR (default: target/obligations), runs a solver if one
             is installed, and prints a table; --update records the results in proofs/OBLIGATIONS.md
exhaustive   runs each obligation on every system of exactly STATES states (default 3, which is the most)";

struct Args {
    command: String,
    states: usize,
    dir: Option<PathBuf>,
    only: String,
    solver: Option<String>,
    update: bool,
}

fn parse() -> Option<Args> {
    let mut words = std::env::args().skip(1);
    let mut args = Args {
        command: words.next()?,
        states: 3,
        dir: None,
        only: String::new(),
        solver: None,
        update: false,
    };
    while let Some(word) = words.next() {
        match word.as_str() {
            "--dir" => args.dir = Some(words.next()?.into()),
            "--only" => args.only = words.next()?,
            "--solver" => args.solver = Some(words.next()?),
            "--update" => args.update = true,
            number => args.states = number.parse().ok().filter(|n| (1..=3).contains(n))?,
        }
    }
    Some(args)
}

fn main() -> ExitCode {
    match parse() {
        Some(args) if args.command == "obligations" => obligations(&args),
        Some(args) if args.command == "exhaustive" => exhaustive(&args),
        _ => {
            eprintln!("{USAGE}");
            ExitCode::from(2)
        }
    }
}

fn default_dir() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| "target".into(), PathBuf::from).join("obligations")
}

fn obligations(args: &Args) -> ExitCode {
    let dir = args.dir.clone().unwrap_or_else(default_dir);
    let solver = Solver::find(args.solver.as_deref());
    match &solver {
        Some(solver) => println!("solver: {}; files: {}", solver.program, dir.display()),
        None => println!("no solver found (Debian: apt install z3); files only: {}", dir.display()),
    }
    let mut statuses = Vec::new();
    let (mut done, mut all) = (0, 0);
    for obligation in obligations::all().filter(|o| o.id.contains(&args.only)) {
        all += 1;
        let row = match one(&dir, obligation, solver) {
            Ok(row) => row,
            Err(error) => {
                eprintln!("{}: {error}", obligation.id);
                return ExitCode::from(2);
            }
        };
        if let Some((answer, seconds)) = row {
            done += usize::from(answer == Answer::Discharged);
            let program = solver.map_or("", |s| s.program);
            println!("{:32} {program:5} {seconds:7.2} s  {answer}", obligation.id);
            statuses.push(Status::new(obligation, program, &answer));
        }
    }
    if solver.is_none() {
        return ExitCode::SUCCESS;
    }
    println!("{done} of {all} discharged");
    if args.update
        && let Err(error) = table::update(Path::new(table::PATH), &statuses)
    {
        eprintln!("{}: {error}", table::PATH);
        return ExitCode::from(2);
    }
    if done == all { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn one(
    dir: &Path,
    obligation: &obligations::Obligation,
    solver: Option<Solver>,
) -> std::io::Result<Option<(Answer, f64)>> {
    let file = solve::write(dir, obligation)?;
    let Some(solver) = solver else { return Ok(None) };
    let (answers, time) = solver.run(&file)?;
    let answer = Answer::read(&solve::script(obligation), &answers);
    Ok(Some((answer, time.as_secs_f64())))
}

fn exhaustive(args: &Args) -> ExitCode {
    let mut good = true;
    let (mut runs, mut cases) = (0, 0);
    for obligation in obligations::all().filter(|o| o.id.contains(&args.only)) {
        let start = Instant::now();
        let count = obligations::enumerate(obligation.function, args.states, None);
        let result = count.refuted.map_or("holds".to_owned(), |label| format!("REFUTED: {label}"));
        println!(
            "{:32} {:12} runs {:12} cases {:7.2} s  {result}",
            obligation.id,
            count.runs,
            count.cases,
            start.elapsed().as_secs_f64()
        );
        good &= count.refuted.is_none();
        runs += count.runs;
        cases += count.cases;
    }
    println!("{runs} runs, {cases} cases");
    if good { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
