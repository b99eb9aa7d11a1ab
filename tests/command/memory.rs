//! `--max-memory`, whatever fills the memory: the run ends as unknown, for that reason, and had at most a tenth more.
//!
//! Each run stands behind a fence that it has no use for: its address space is limited (`ulimit -v`), so that one that
//! is not stopped dies instead of taking the machine with it; and where a control group can be made, that is limited to
//! a tenth more than `--max-memory`, page cache included.

use crate::program::{UNKNOWN, file, text};
use serde_json::Value;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// What a run may have.
const LIMIT: u64 = 64_000_000;
/// Address space that a run has and does not use: stacks of threads, above all, and the reserve of what grows.
const RESERVE: u64 = 2 << 30;

/// Variables enough for a state to have some fifty bytes, and three operations, each for four of them: few successors.
fn counters(begin: &str, more: &str) -> String {
    let names: Vec<String> = (0..12).map(|i| format!("x{i}")).collect();
    let (all, zeros) = (names.join(", "), vec!["0"; names.len()].join(", "));
    let naturals: Vec<String> = names.iter().map(|x| format!("{x} : NATURAL")).collect();
    let mut text = format!("{begin}\nVARIABLES {all}\nINVARIANT {}\n", naturals.join(" & "));
    let _ = writeln!(text, "INITIALISATION {all} := {zeros}\nOPERATIONS");
    let steps = names.chunks(4).enumerate().map(|(i, part)| {
        let next: Vec<String> = part.iter().map(|x| format!("{x} + 1")).collect();
        format!("  up{i} = {} := {}", part.join(", "), next.join(", "))
    });
    text + &steps.collect::<Vec<_>>().join(";\n") + more + "\nEND\n"
}

/// The same states, and a set whose elements nothing tells apart.
fn symmetric() -> String {
    let plain = counters("MACHINE Symmetric SETS S", ";\n  add(p) = PRE p : S - s THEN s := s \\/ {p} END");
    plain
        .replace("VARIABLES ", "VARIABLES s, ")
        .replace("INVARIANT ", "INVARIANT s <: S & ")
        .replace("INITIALISATION ", "INITIALISATION s := {} || ")
}

fn refinement() -> String {
    let low = counters("REFINEMENT Low REFINES Counters", "").replace('x', "y");
    let glue: Vec<String> = (0..12).map(|i| format!("y{i} = x{i}")).collect();
    let at = low.find("INVARIANT ").expect("it has one") + "INVARIANT ".len();
    format!("{}{} & {}", &low[..at], glue.join(" & "), &low[at..])
}

fn csp() -> String {
    let names: Vec<String> = (0..9).map(|i| format!("n{i}")).collect();
    let ways = (0..3).map(|i| {
        let next =
            names.iter().enumerate().map(|(j, n)| if j % 3 == i { format!("{n} + 1") } else { n.clone() });
        format!("c.{i} -> P({})", next.collect::<Vec<_>>().join(", "))
    });
    format!(
        "channel c : {{0..2}}\nP({}) = {}\nassert P({}) :[deadlock free]\n",
        names.join(", "),
        ways.collect::<Vec<_>>().join(" [] "),
        ["0"; 9].join(", ")
    )
}

fn net() -> String {
    let of = |what: fn(usize) -> String| (0..12).map(what).collect::<String>();
    format!(
        "<pnml xmlns=\"http://www.pnml.org/version-2009/grammar/pnml\"><net id=\"n\" \
         type=\"http://www.pnml.org/version-2009/grammar/ptnet\"><page id=\"g\">{}{}{}</page></net></pnml>",
        of(|i| format!("<place id=\"p{i}\"/>")),
        of(|i| if i < 3 { format!("<transition id=\"t{i}\"/>") } else { String::new() }),
        of(|i| format!("<arc id=\"a{i}\" source=\"t{}\" target=\"p{i}\"/>", i % 3))
    )
}

fn schemas() -> String {
    let names: Vec<String> = (0..9).map(|i| format!("x{}", (b'a' + i) as char)).collect();
    let mut text = format!("\\begin{{schema}}{{State}}\n{} : \\nat\n\\end{{schema}}\n", names.join(", "));
    let zero: Vec<String> = names.iter().map(|x| format!("{x}' = 0")).collect();
    let _ = writeln!(
        text,
        "\\begin{{schema}}{{Init}}\nState'\n\\where\n{}\n\\end{{schema}}",
        zero.join(" \\land ")
    );
    for part in 0..3 {
        let next = names.iter().enumerate().map(|(i, x)| match i % 3 == part {
            true => format!("{x}' = {x} + 1"),
            false => format!("{x}' = {x}"),
        });
        let (next, name) = (next.collect::<Vec<_>>().join(" \\land "), (b'A' + part as u8) as char);
        let _ =
            writeln!(text, "\\begin{{schema}}{{Up{name}}}\n\\Delta State\n\\where\n{next}\n\\end{{schema}}");
    }
    text
}

/// How a run ended, and the most that it had in memory, as far as anybody looked.
struct Ended {
    code: Option<i32>,
    out: String,
    err: String,
    most: u64,
}

/// The most that a process has had in memory until now.
pub fn most(process: u32) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status.lines().find_map(|l| l.strip_prefix("VmHWM:"))?;
    line.trim().split(' ').next()?.parse::<u64>().ok().map(|k| k * 1024)
}

/// A control group whose processes have so many bytes together, where one can be made.
pub struct Group(PathBuf);

impl Group {
    pub fn new(name: &str, bytes: u64) -> Option<Group> {
        for (root, limit) in
            [("/sys/fs/cgroup/memory", "memory.limit_in_bytes"), ("/sys/fs/cgroup", "memory.max")]
        {
            let group = Group(Path::new(root).join(format!("kanon-{}-{name}", std::process::id())));
            if std::fs::create_dir(&group.0).is_ok()
                && std::fs::write(group.0.join(limit), bytes.to_string()).is_ok()
            {
                return Some(group);
            }
        }
        None
    }

    /// Where a process writes its number to belong to it.
    pub fn door(group: Option<&Group>) -> PathBuf {
        group.map_or("/dev/null".into(), |g| g.0.join("cgroup.procs"))
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir(&self.0);
    }
}

fn run(name: &str, args: &[&str]) -> Ended {
    let group = Group::new(name, LIMIT + LIMIT / 10);
    let procs = Group::door(group.as_ref());
    let mut command = Command::new("sh");
    command.arg("-c").arg("echo $$ >\"$1\"; ulimit -v \"$2\"; shift 2; exec \"$@\"").arg("sh").arg(procs);
    command.arg(((LIMIT + RESERVE) / 1024).to_string()).arg(env!("CARGO_BIN_EXE_kanon")).args(args);
    command.args(["--max-memory", &LIMIT.to_string(), "--json"]);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn().expect("a shell");
    let process = child.id();
    let begun = Instant::now();
    let (sender, ended) = std::sync::mpsc::channel();
    std::thread::spawn(move || sender.send(child.wait_with_output()));
    let mut had = 0;
    let output = loop {
        had = most(process).unwrap_or(0).max(had);
        match ended.recv_timeout(Duration::from_millis(2)) {
            Ok(output) => break output.expect("its output"),
            Err(_) => assert!(begun.elapsed() < Duration::from_secs(300), "{name}: it does not end"),
        }
    };
    Ended {
        code: output.status.code(),
        out: String::from_utf8_lossy(&output.stdout).into_owned(),
        err: String::from_utf8_lossy(&output.stderr).into_owned(),
        most: had,
    }
}

/// All reasons in an answer.
fn reasons(answer: &Value, out: &mut Vec<String>) {
    match answer {
        Value::Object(fields) => {
            for (key, value) in fields {
                match value {
                    Value::String(why) if key == "reason" || key == "why" => out.push(why.clone()),
                    value => reasons(value, out),
                }
            }
        }
        Value::Array(items) => items.iter().for_each(|v| reasons(v, out)),
        _ => {}
    }
}

/// One run: what is wrong with it, if anything is.
fn judged(name: &str, args: &[&str], table: &mut String) -> Result<(), String> {
    let begun = Instant::now();
    let ended = run(name, args);
    let mut why = vec![];
    reasons(&serde_json::from_str(&ended.out).unwrap_or_default(), &mut why);
    let is_told = why.iter().any(|why| why.contains(&format!("the limit of {LIMIT} bytes of memory")));
    let part = ended.most as f64 / LIMIT as f64;
    let _ = writeln!(table, "{name}: {part:.3} of the limit, {:.1} s", begun.elapsed().as_secs_f64());
    if ended.code != Some(UNKNOWN) || !is_told || part > 1.1 {
        let (out, err) = (ended.out, ended.err);
        return Err(format!("{name}: exit {:?}, {part:.3}, {why:?}\n{out}{err}", ended.code));
    }
    // A run that ends early has not used what it may use: then it is no test of anything.
    if part < 0.7 {
        return Err(format!("{name}: it has used {part:.3} of what it may use"));
    }
    Ok(())
}

#[test]
fn the_limit_holds_whatever_fills_the_memory() {
    let at = |name: &str, content: &str| file("memory", name, content);
    let plain = at("Counters.mch", &counters("MACHINE Counters", ""));
    let symmetric = at("Symmetric.mch", &symmetric());
    let low = at("Low.ref", &refinement());
    let words = at(
        "Words.mch",
        "MACHINE Words VARIABLES q INVARIANT q : seq(NATURAL) INITIALISATION q := []\n\
         OPERATIONS push(i) = PRE i : 0..3 THEN q := q <- i END END\n",
    );
    let constants = at(
        "Constants.mch",
        "MACHINE Constants CONSTANTS f PROPERTIES f : 1..10 --> 1..8\n\
         VARIABLES x INVARIANT x : 0..1 INITIALISATION x := 0 OPERATIONS flip = x := 1 - x END\n",
    );
    let starts = at(
        "Starts.mch",
        "MACHINE Starts VARIABLES f INVARIANT f : 1..10 --> 1..8 INITIALISATION f :: 1..10 --> 1..8\n\
         OPERATIONS flip = f(1) := 9 - f(1) END\n",
    );
    let one = at(
        "One.mch",
        "MACHINE One VARIABLES x INVARIANT x <: NATURAL * NATURAL INITIALISATION x := {}\n\
         OPERATIONS fill = x := {k, l | k : 0..30000000 & l = k + 1} END\n",
    );
    let script = at("Counters.csp", &csp());
    let net = at("counters.pnml", &net());
    let schemas = at("Counters.tex", &schemas());
    let check = |path: &Path, more: &[&str]| {
        let mut args = vec!["check".to_string(), text(path).to_string()];
        args.extend(more.iter().map(|s| s.to_string()));
        args
    };
    let formula = |path: &Path| ["ltl", text(path), "G F [up0]"].map(str::to_string).to_vec();
    let mut rows = vec![
        ("explicit", check(&plain, &["--symmetry", "off", "--threads", "1"])),
        ("threads", check(&plain, &["--symmetry", "off", "--threads", "2"])),
        ("one-by-one", check(&plain, &["--symmetry", "off", "--order", "dfs"])),
        ("canon", check(&symmetric, &["--symmetry", "canon", "--card", "S=3"])),
        ("flood", check(&symmetric, &["--symmetry", "flood", "--card", "S=3"])),
        ("markers", check(&symmetric, &["--symmetry", "markers", "--card", "S=3"])),
        ("values", check(&words, &[])),
        ("constants", check(&constants, &["--max-constants", "1000000000"])),
        ("starts", check(&starts, &[])),
        ("one-step", check(&one, &[])),
        ("refinement", vec!["refine".to_string(), text(&low).to_string()]),
        ("formula", formula(&plain)),
        ("csp", check(&script, &["--max-states", "1000000000"])),
        ("net", check(&net, &[])),
        ("net-formula", ["ltl", text(&net), "G F [t0]"].map(str::to_string).to_vec()),
        ("z", check(&schemas, &[])),
    ];
    if cfg!(feature = "nauty") {
        rows.push(("nauty", check(&symmetric, &["--symmetry", "nauty", "--card", "S=3"])));
    }
    let mut table = String::new();
    let mut wrong = vec![];
    for (name, args) in &rows {
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        // The limit is watched by a thread, which a busy machine may let wait: not three times, one after the other.
        let mut faults = vec![];
        for _ in 0..3 {
            match judged(name, &args, &mut table) {
                Ok(()) => break,
                Err(why) => faults.push(why),
            }
        }
        if faults.len() == 3 {
            wrong.append(&mut faults);
        }
    }
    println!("{table}");
    assert!(wrong.is_empty(), "{}\n{table}", wrong.join("\n"));
}
