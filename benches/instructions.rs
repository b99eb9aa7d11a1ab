//! One run of one loop, to have its instructions counted: `instructions setup|plain|kernel|batches MODEL SIZE [bare]`.
//! `setup` stops before the first state; `kernel` fires the kernel's events one state after the other, `batches` as
//! the program does; `bare` leaves the invariant out. `scripts/kernel-overhead` runs it.
//!
//! Without arguments it compares what the loops count, since a loop that does less is no yardstick.

mod common;

use common::plain::plain;
use std::process::ExitCode;

/// States, transitions, transitions by event, initialisations, deadlocks, violations.
type Counts = (usize, u64, Vec<u64>, u64, u64, u64);

fn counted(mode: &str, model: &str, size: u64, invariant: bool) -> Option<Counts> {
    let opened = common::opened(model, size);
    let system = common::system(&opened);
    match mode {
        "setup" => Some((0, 0, vec![], 0, 0, 0)),
        "kernel" | "batches" => {
            let c = common::kernel(&system, invariant, mode == "kernel").counts;
            Some((c.states, c.transitions, c.operations, c.initialisations, c.deadlocks, c.violations))
        }
        "plain" => {
            let p = plain(&system, invariant);
            let states = p.states();
            Some((states, p.transitions, p.events, p.initialisations, p.deadlocks, p.violations))
        }
        _ => None,
    }
}

fn main() -> ExitCode {
    // `cargo bench` hands over `--bench`.
    let args: Vec<String> = std::env::args().skip(1).filter(|a| a != "--bench").collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let (mode, model, size, invariant) = match args[..] {
        [] => return same_counts(),
        [mode, model, size] => (mode, model, size, true),
        [mode, model, size, "bare"] => (mode, model, size, false),
        _ => return usage(),
    };
    let Some(counts) = size.parse().ok().and_then(|size| counted(mode, model, size, invariant)) else {
        return usage();
    };
    println!("{} states, {} transitions", counts.0, counts.1);
    ExitCode::SUCCESS
}

fn usage() -> ExitCode {
    eprintln!("usage: instructions setup|plain|kernel|batches MODEL SIZE [bare]");
    ExitCode::from(2)
}

fn same_counts() -> ExitCode {
    for (model, size) in [("scheduler1", 4), ("TokenRing", 3), ("USB_4Endpoints", 2), ("Dining", 3)] {
        for invariant in [true, false] {
            let plain = counted("plain", model, size, invariant);
            assert_eq!(plain, counted("kernel", model, size, invariant), "{model} ({size})");
            assert_eq!(plain, counted("batches", model, size, invariant), "{model} ({size})");
        }
        println!("{model} ({size}): all loops count the same");
    }
    ExitCode::SUCCESS
}
