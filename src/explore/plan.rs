//! Which options go together: one function plans a run, or refuses it with the reason.
//!
//! An option that was asked for acts, or the run is refused; nothing is dropped silently. The table in docs/options.md is
//! printed by [`table`] and kept up to date by a test.

use super::{Options, Order, Spill};
use crate::symmetry::{Action, Strategy};
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

/// What is asked of a system.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Asked {
    /// Something of every state: `kanon check`.
    #[default]
    States,
    /// Something of every path: `kanon ltl`.
    Paths,
    /// Both: `kanon check --ltl`.
    Both,
}

/// Why a run is refused.
#[warn(missing_docs)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refusal(pub &'static str);

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(self.0)
    }
}

impl std::error::Error for Refusal {}

const MARKED_PATHS: Refusal = Refusal(
    "`--symmetry markers` is approximate, and a path of states that are only alike need not exist: formulas are \
     checked with an exact strategy",
);
const MARKED_ORDER: Refusal = Refusal(
    "with `--symmetry markers` the states that are met depend on the order, so there is one order only: leave out \
     `--order`",
);
const MARKED_AUDIT: Refusal = Refusal(
    "`--audit` executes the clauses of the refinement chain, and `--symmetry markers`, which is approximate, is no \
     machine of it",
);
const THREADS_ORDER: Refusal =
    Refusal("several threads search breadth first: leave out `--order` or `--threads`");
const THREADS_FLOOD: Refusal = Refusal(
    "`--symmetry flood` stores whole orbits, which one thread does: leave out `--threads`, or take another strategy",
);
const THREADS_MARKERS: Refusal = Refusal(
    "`--symmetry markers` keeps the first state with a marker, which only one thread can say: leave out `--threads`",
);
const THREADS_PATHS: Refusal = Refusal("the search for paths has one thread: leave out `--threads`");
const NO_NAUTY: Refusal = Refusal("this program was built without nauty; `canon` and `auto` are exact too");
const NO_ACTION: Refusal =
    Refusal("a strategy permutes by an action, and this system has none: take `Strategy::Off`");
const NO_MARKERS: Refusal = Refusal("this system has no markers: take another strategy");
const SHORTEST_ORDER: Refusal =
    Refusal("only a search breadth first finds shortest traces: leave out `--order` or `--shortest`");
const KEPT_FLOOD: Refusal = Refusal(
    "`--symmetry flood` stores whole orbits beside the states, which are in no checkpoint: leave out `--checkpoint`, or \
     take `canon` or `auto`",
);
const KEPT_MARKERS: Refusal = Refusal(
    "`--symmetry markers` stores markers, which are in no checkpoint: leave out `--checkpoint`, or take an exact strategy",
);
const KEPT_AUDIT: Refusal = Refusal(
    "`--audit` explores a shadow from the first state on, which is in no checkpoint: leave out one of the two; \
     `kanon resume --audit` looks at a checkpoint itself",
);
const KEPT_PATHS: Refusal = Refusal(
    "a checkpoint has the states of a search, and not the paths through its product with a formula: leave out \
     `--checkpoint`, or check formulas in a run of their own",
);
const DISK_ORDER: Refusal = Refusal(
    "with `--store disk` states are looked up many at a time, as they come breadth first: leave out `--order` or `--store`",
);
const DISK_THREADS: Refusal =
    Refusal("with `--store disk` one thread searches: leave out `--threads` or `--store`");
const DISK_FLOOD: Refusal = Refusal(
    "`--symmetry flood` stores whole orbits, and only in memory: take `canon` or `auto`, or leave out `--store`",
);
const DISK_MARKERS: Refusal =
    Refusal("`--symmetry markers` keeps markers in memory: take an exact strategy, or leave out `--store`");
const DISK_AUDIT: Refusal =
    Refusal("`--audit` explores a shadow, which is in memory: leave out one of `--audit` and `--store`");
const DISK_PATHS: Refusal = Refusal(
    "the search for paths has its states in memory: leave out `--store`, or check formulas in a run of their own",
);
const DISK_KEPT: Refusal =
    Refusal("a checkpoint is written of states in memory: leave out one of `--checkpoint` and `--store`");
const SHARED_PATHS: Refusal = Refusal(
    "several processes share the states of a search, and not the paths through its product with a formula: leave out \
     `--processes`, or check formulas in a run of their own",
);
const SHARED_AUDIT: Refusal = Refusal(
    "`--audit` looks at all states after every event, and each of several processes has its share of them: leave out \
     `--audit` or `--processes`",
);
const SHARED_ORDER: Refusal =
    Refusal("several processes search breadth first: leave out `--order` or `--processes`");
const SHARED_FLOOD: Refusal = Refusal(
    "`--symmetry flood` stores whole orbits, whose states would belong to several processes: leave out `--processes`, or \
     take `canon` or `auto`",
);
const SHARED_MARKERS: Refusal = Refusal(
    "`--symmetry markers` keeps the first state with a marker, which several processes cannot say: leave out \
     `--processes`, or take an exact strategy",
);
const SHARED_THREADS: Refusal = Refusal(
    "each of several processes searches with one thread: leave out `--threads`, and take more processes",
);
const SHARED_DISK: Refusal =
    Refusal("each of several processes has its share in memory: leave out `--store` or `--processes`");
const SEED_ORDER: Refusal = Refusal("`--seed` belongs to `--order mixed=A`: other orders draw nothing");

/// A run whose options go together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Plan {
    threads: usize,
}

impl Plan {
    /// How many threads search for states.
    pub fn threads(self) -> usize {
        self.threads
    }
}

/// Threads at most.
pub const MAX_THREADS: usize = 256;

/// Plans a run, or says why there is none.
///
/// # Errors
/// Two options that do not go together.
pub fn plan(options: &Options, asked: Asked, audit: bool) -> Result<Plan, Refusal> {
    let Options { symmetry, order, seed, threads, shortest, checkpoint, spill, processes, .. } = options;
    let (is_marked, is_bfs) = (*symmetry == Strategy::Markers, *order == Order::Bfs);
    let several = threads.is_some_and(|n| n > 1);
    let on_disk = spill.is_some();
    let rules = [
        (NO_NAUTY, *symmetry == Strategy::Nauty && !cfg!(feature = "nauty")),
        (MARKED_PATHS, is_marked && asked != Asked::States),
        (MARKED_ORDER, is_marked && !is_bfs),
        (MARKED_AUDIT, is_marked && audit),
        (THREADS_PATHS, several && asked == Asked::Paths),
        (THREADS_ORDER, several && !is_bfs),
        (THREADS_FLOOD, several && *symmetry == Strategy::Flood),
        (THREADS_MARKERS, several && is_marked),
        (SHORTEST_ORDER, *shortest && !is_bfs),
        (KEPT_PATHS, *checkpoint && asked != Asked::States),
        (KEPT_AUDIT, *checkpoint && audit),
        (KEPT_FLOOD, *checkpoint && *symmetry == Strategy::Flood),
        (KEPT_MARKERS, *checkpoint && is_marked),
        (DISK_PATHS, on_disk && asked != Asked::States),
        (DISK_AUDIT, on_disk && audit),
        (DISK_FLOOD, on_disk && *symmetry == Strategy::Flood),
        (DISK_MARKERS, on_disk && is_marked),
        (DISK_ORDER, on_disk && !is_bfs),
        (DISK_THREADS, on_disk && several),
        (DISK_KEPT, on_disk && *checkpoint),
        (SHARED_PATHS, *processes && asked != Asked::States),
        (SHARED_AUDIT, *processes && audit),
        (SHARED_ORDER, *processes && !is_bfs),
        (SHARED_FLOOD, *processes && *symmetry == Strategy::Flood),
        (SHARED_MARKERS, *processes && is_marked),
        (SHARED_THREADS, *processes && several),
        (SHARED_DISK, *processes && on_disk),
        (SEED_ORDER, seed.is_some() && !matches!(order, Order::Mixed(_))),
    ];
    if let Some((why, _)) = rules.into_iter().find(|(_, applies)| *applies) {
        return Err(why);
    }
    // Nobody asked for a number: as many as the rest allows.
    let one = !is_bfs
        || is_marked
        || *symmetry == Strategy::Flood
        || asked == Asked::Paths
        || on_disk
        || *processes;
    let all = || std::thread::available_parallelism().map_or(1, |n| n.get().min(MAX_THREADS));
    let threads = if one { 1 } else { threads.unwrap_or_else(all) };
    Ok(Plan { threads: threads.clamp(1, MAX_THREADS) })
}

/// Whether a system can be reduced as the options say.
///
/// # Errors
/// A strategy for a system that nothing is known to permute.
pub fn reducible(options: &Options, action: Option<&Arc<dyn Action>>) -> Result<(), Refusal> {
    match (options.symmetry, action) {
        (Strategy::Off, _) => Ok(()),
        (_, None) => Err(NO_ACTION),
        (Strategy::Markers, Some(action)) if action.clone().marking().is_none() => Err(NO_MARKERS),
        _ => Ok(()),
    }
}

/// What goes with what, as Markdown.
pub fn table() -> String {
    let asked = [(Asked::States, "`check`"), (Asked::Both, "`check --ltl`"), (Asked::Paths, "`ltl`")];
    let orders = [(Order::Bfs, "bfs"), (Order::Dfs, "dfs"), (Order::Mixed(0.5), "mixed")];
    let ways = [
        (false, None, false, false, false, ""),
        (false, Some(4), false, false, false, " `--threads 4`"),
        (true, None, false, false, false, " `--audit`"),
        (false, None, true, false, false, " `--checkpoint`"),
        (false, None, false, true, false, " `--store disk`"),
        (false, None, false, false, true, " `--processes 4`"),
    ];
    let mut reasons: Vec<Refusal> = vec![];
    let mut rows = vec![];
    let mut head = String::from("| property | `--symmetry` |");
    let mut rule = String::from("|---|---|");
    for (_, order) in orders {
        for (.., way) in ways {
            head += &format!(" {order}{way} |");
            rule += "---|";
        }
    }
    for (asked, name) in asked {
        for symmetry in Strategy::ALL {
            let mut row = format!("| {name} | `{symmetry}` |");
            for (order, _) in orders {
                for (audit, threads, checkpoint, on_disk, processes, _) in ways {
                    let spill = on_disk.then(|| Spill::new(PathBuf::new()));
                    let common = Options { symmetry, order, threads, ..Options::default() };
                    let options = Options { checkpoint, spill, processes, ..common };
                    row += &match plan(&options, asked, audit) {
                        Ok(_) => " yes |".to_string(),
                        Err(why) => {
                            let known = reasons.iter().position(|r| *r == why);
                            let at = known.unwrap_or_else(|| {
                                reasons.push(why);
                                reasons.len() - 1
                            });
                            format!(" {} |", at + 1)
                        }
                    };
                }
            }
            rows.push(row);
        }
    }
    let mut out = format!("{head}\n{rule}\n{}\n\n", rows.join("\n"));
    for (i, why) in reasons.iter().enumerate() {
        out += &wrapped(&format!("{}. {why}", i + 1));
    }
    out
}

/// Lines of at most 100 columns.
fn wrapped(text: &str) -> String {
    let mut out = String::new();
    let mut column = 0;
    for word in text.split(' ') {
        let length = word.chars().count();
        if column > 0 && column + 1 + length > 98 {
            out += "\n   ";
            column = 3;
        } else if column > 0 {
            out.push(' ');
            column += 1;
        }
        out += word;
        column += length;
    }
    out.push('\n');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_dropped() {
        let refused = |options: Options, asked, audit| plan(&options, asked, audit).err();
        let threads = Some(4);
        let flood = Options { symmetry: Strategy::Flood, threads, ..Options::default() };
        assert_eq!(refused(flood, Asked::States, false), Some(THREADS_FLOOD));
        let dfs = Options { order: Order::Dfs, threads, ..Options::default() };
        assert_eq!(refused(dfs, Asked::States, false), Some(THREADS_ORDER));
        let marked = Options { symmetry: Strategy::Markers, threads, ..Options::default() };
        assert_eq!(refused(marked.clone(), Asked::States, false), Some(THREADS_MARKERS));
        assert_eq!(refused(marked, Asked::Both, false), Some(MARKED_PATHS));
        let seeded = Options { seed: Some(3), ..Options::default() };
        assert_eq!(refused(seeded, Asked::States, false), Some(SEED_ORDER));
        let deep = Options { order: Order::Dfs, shortest: true, ..Options::default() };
        assert_eq!(refused(deep, Asked::States, false), Some(SHORTEST_ORDER));
        let spill = Some(Spill::new(PathBuf::from("/tmp")));
        let disk = Options { spill, ..Options::default() };
        let of = |options: Options, asked, audit| plan(&options, asked, audit);
        assert_eq!(of(disk.clone(), Asked::States, false).map(Plan::threads), Ok(1));
        assert_eq!(of(disk.clone(), Asked::Both, false), Err(DISK_PATHS));
        assert_eq!(of(disk.clone(), Asked::States, true), Err(DISK_AUDIT));
        let refusals = [
            (DISK_THREADS, Options { threads, ..disk.clone() }),
            (DISK_ORDER, Options { order: Order::Mixed(0.5), ..disk.clone() }),
            (DISK_KEPT, Options { checkpoint: true, ..disk.clone() }),
            (DISK_FLOOD, Options { symmetry: Strategy::Flood, ..disk.clone() }),
            (DISK_MARKERS, Options { symmetry: Strategy::Markers, ..disk }),
        ];
        for (why, options) in refusals {
            assert_eq!(of(options, Asked::States, false), Err(why));
        }
        let shared = Options { processes: true, threads: None, ..Options::default() };
        assert_eq!(plan(&shared, Asked::States, false).map(Plan::threads), Ok(1));
        assert_eq!(refused(shared.clone(), Asked::Both, false), Some(SHARED_PATHS));
        assert_eq!(refused(shared.clone(), Asked::States, true), Some(SHARED_AUDIT));
        let all = [
            (Options { order: Order::Dfs, ..shared.clone() }, SHARED_ORDER),
            (Options { symmetry: Strategy::Flood, ..shared.clone() }, SHARED_FLOOD),
            (Options { symmetry: Strategy::Markers, ..shared.clone() }, SHARED_MARKERS),
            (Options { threads, ..shared.clone() }, SHARED_THREADS),
            (Options { spill: Some(Spill::new(PathBuf::from("/tmp"))), ..shared }, SHARED_DISK),
        ];
        for (options, why) in all {
            assert_eq!(refused(options, Asked::States, false), Some(why));
        }
        let four = Options { threads, ..Options::default() };
        assert_eq!(plan(&four, Asked::States, true).map(Plan::threads), Ok(4));
        assert_eq!(plan(&four, Asked::States, false).map(Plan::threads), Ok(4));
    }

    /// The documents have the table; `KANON_BLESS=1` writes it.
    #[test]
    fn the_table_is_in_the_documents() {
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/options.md");
        let text = std::fs::read_to_string(&path).expect("docs/options.md");
        let (head, _) = text.split_once("<!-- generated -->\n").expect("the mark where the table begins");
        let expected = format!("{head}<!-- generated -->\n\n{}", table());
        if std::env::var_os("KANON_BLESS").is_some() {
            std::fs::write(&path, &expected).expect("docs/options.md can be written");
        } else {
            assert!(text == expected, "docs/options.md is not what `plan` says: run with KANON_BLESS=1");
        }
    }
}
