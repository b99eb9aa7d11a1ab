//! A mutation fuzzer on stable Rust: the bodies of `fuzz/` on mutants of the models of models/.
//!
//! A number makes an input, always the same one, so a failure is told by its number. Inputs run in a child
//! process, since a stack overflow, a failed allocation or a loop cannot be caught in the own one.
//!
//! `KANON_FUZZ_SECONDS` makes it longer, `KANON_FUZZ_SEED` starts it elsewhere, `KANON_FUZZ_INPUT=FILE` runs one file.

#[path = "../../fuzz/body.rs"]
mod body;
mod regressions;

use kanon::lang::diag::SourceMap;
use kanon::lang::eventb::convert::{Form, Output, convert};
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fmt::Write as _;
use std::fs;
use std::io::{Seek, SeekFrom, Write as _};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// How long one input may take, on a slow machine.
const NO_END: Duration = Duration::from_secs(30);
const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/models/lang");
const GUIDED: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/models/guided");
const CHILD: &str = "KANON_FUZZ_CHILD";
const INPUT: &str = "KANON_FUZZ_INPUT";
/// 512 MiB and 256 MiB are stacks.
const MEMORY_KIB: u32 = 4 << 20;

#[test]
fn parse() {
    fuzz("parse", 4);
}

#[test]
fn check() {
    fuzz("check", 10);
}

#[test]
fn eventb() {
    fuzz("eventb", 5);
}

#[test]
fn certificate() {
    fuzz("certificate", 2);
}

#[test]
fn process() {
    fuzz("process", 5);
}

#[test]
fn z() {
    fuzz("z", 4);
}

#[test]
fn net() {
    fuzz("net", 4);
}

#[test]
fn answers() {
    fuzz("answers", 2);
}

#[test]
fn formula() {
    fuzz("formula", 2);
}

#[test]
fn proof() {
    fuzz("proof", 2);
}

#[test]
fn trace() {
    fuzz("trace", 2);
}

/// Not a test: what the child process runs.
#[test]
#[ignore = "run by the others"]
fn child() {
    let Ok(job) = std::env::var(CHILD) else { return };
    let words: Vec<&str> = job.split(' ').collect();
    let [target, from, millis, note] = words[..] else { panic!("what is {job}?") };
    let body: fn(&[u8]) = match target {
        "parse" => body::parse,
        "eventb" => body::eventb,
        "certificate" => body::certificate,
        "formula" => body::formula,
        "proof" => body::proof,
        "trace" => body::trace,
        "z" => body::z,
        "net" => body::net,
        "answers" => body::answers,
        "process" => |bytes| body::process(bytes, GUIDED),
        _ => |bytes| body::check(bytes, FOLDER),
    };
    // A panic anywhere ends it all, also in a thread that somebody would join.
    let usual = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        usual(info);
        std::process::exit(101);
    }));
    let begin = Instant::now();
    let since: &'static AtomicU64 = Box::leak(Box::new(AtomicU64::new(0)));
    std::thread::spawn(move || {
        loop {
            std::thread::sleep(Duration::from_millis(50));
            let now = begin.elapsed().as_millis() as u64;
            if now.saturating_sub(since.load(Ordering::Relaxed)) > NO_END.as_millis() as u64 {
                eprintln!("no end after {NO_END:?}");
                std::process::exit(102);
            }
        }
    });
    if let Ok(file) = std::env::var(INPUT) {
        body(&fs::read(file).expect("the input"));
        return;
    }
    let mutator = Mutator::new(target);
    let mut note = fs::File::create(note).expect("a place for notes");
    let until = Duration::from_millis(millis.parse().expect("a number"));
    let mut seed: u64 = from.parse().expect("a number");
    while begin.elapsed() < until {
        write_note(&mut note, seed);
        since.store(begin.elapsed().as_millis() as u64, Ordering::Relaxed);
        body(&mutator.input(seed));
        seed += 1;
    }
    write_note(&mut note, seed);
}

/// The number that runs now, and how many of those before it got beyond the front-end.
fn write_note(note: &mut fs::File, seed: u64) {
    let text = format!("{seed:020} {:020}", body::REACHED.load(Ordering::Relaxed));
    note.seek(SeekFrom::Start(0)).and_then(|_| note.write_all(text.as_bytes())).expect("a note");
}

fn read_note(note: &Path) -> Option<(u64, u64)> {
    let text = fs::read_to_string(note).ok()?;
    let (seed, reached) = text.split_once(' ')?;
    Some((seed.parse().ok()?, reached.parse().ok()?))
}

// ---- the parent ---------------------------------------------------------------------------------------------

fn number(variable: &str, or: u64) -> u64 {
    std::env::var(variable).ok().and_then(|s| s.parse().ok()).unwrap_or(or)
}

fn fuzz(target: &str, seconds: u64) {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("fuzz").join(target);
    fs::create_dir_all(&folder).expect("a folder for what is found");
    if let Ok(file) = std::env::var(INPUT) {
        let failure = run_file(target, Path::new(&file));
        assert!(failure.is_none(), "{failure:?}");
        return;
    }
    let note = folder.join(format!("current-{}", std::process::id()));
    let until = Instant::now() + Duration::from_secs(number("KANON_FUZZ_SECONDS", seconds));
    let first = number("KANON_FUZZ_SEED", 0);
    let (mut seed, mut reached) = (first, 0);
    let mut failures: BTreeMap<String, (String, u32)> = BTreeMap::new();
    while let left = until.saturating_duration_since(Instant::now())
        && !left.is_zero()
    {
        let failure = run(target, &format!("{seed} {} {}", left.as_millis(), note.display()), &[]);
        let (at, beyond) = read_note(&note).unwrap_or_else(|| panic!("no note of {failure:?}"));
        (seed, reached) = (at, reached + beyond);
        let Some(why) = failure else { break };
        match failures.get_mut(&why.key) {
            Some((_, times)) => *times += 1,
            None => {
                let file = folder.join(format!("{seed}.input"));
                let shown = shrink(target, &why.key, Mutator::new(target).input(seed), &file, left / 4);
                let report = format!("{target} {seed}: {}\n{}\n{shown}\n", file.display(), why.text.trim());
                println!("{report}");
                failures.insert(why.key, (report, 1));
            }
        }
        seed += 1;
    }
    println!(
        "{target}: {} inputs, {reached} beyond the front-end, {} failures",
        seed - first,
        failures.len()
    );
    let reports: Vec<String> = failures.into_values().map(|(r, n)| format!("{n} times, first {r}")).collect();
    assert!(reports.is_empty(), "{}", reports.join("\n"));
}

#[derive(Debug)]
struct Failure {
    /// Which failures are the same.
    key: String,
    text: String,
}

fn run_file(target: &str, file: &Path) -> Option<Failure> {
    run(target, "0 0 none", &[(INPUT, file.as_os_str())])
}

/// Runs the child; `None` when all went well.
fn run(target: &str, job: &str, env: &[(&str, &OsStr)]) -> Option<Failure> {
    let program = std::env::current_exe().expect("this program");
    let mut command = if cfg!(target_os = "linux") {
        let mut shell = Command::new("sh");
        shell.arg("-c").arg(format!("ulimit -v {MEMORY_KIB}; exec \"$0\" \"$@\"")).arg(program);
        shell
    } else {
        Command::new(program)
    };
    command.args(["--exact", "child", "--ignored", "--nocapture"]);
    command.env_remove(INPUT).env(CHILD, format!("{target} {job}")).envs(env.iter().copied());
    let output = command.stdin(Stdio::null()).output().expect("the child");
    if output.status.success() {
        return None;
    }
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    let telling = ["panicked at", "overflowed its stack", "memory allocation", "no end after"];
    let line = text.lines().find(|l| telling.iter().any(|t| l.contains(t))).unwrap_or("ended without a word");
    // The name of the thread is no difference, nor is the size of what was asked for.
    let key = match line.split_once("panicked at") {
        Some((_, at)) => at.trim().to_string(),
        None => telling.iter().find(|t| line.contains(**t)).unwrap_or(&line).to_string(),
    };
    Some(Failure { key, text: text.chars().take(2000).collect() })
}

/// Takes away what is not needed for the same failure, as long as there is time. The smallest is in `file`.
fn shrink(target: &str, key: &str, input: Vec<u8>, file: &Path, time: Duration) -> String {
    let until = Instant::now() + time.max(Duration::from_secs(5));
    let candidate = file.with_extension("try");
    let mut best = String::from_utf8_lossy(&input).into_owned();
    fs::write(file, &best).expect("the input");
    let mut size = tokens(&best).len().div_ceil(2);
    while size > 0 {
        let mut at = 0;
        while let parts = tokens(&best)
            && at < parts.len()
            && Instant::now() < until
        {
            let end = (at + size).min(parts.len());
            let shorter = parts[..at].concat() + &parts[end..].concat();
            fs::write(&candidate, &shorter).expect("the input");
            if run_file(target, &candidate).is_some_and(|f| f.key == key) {
                fs::write(file, &shorter).expect("the input");
                best = shorter;
            } else {
                at = end;
            }
        }
        size /= 2;
    }
    // Nothing depends on this file.
    let _ = fs::remove_file(&candidate);
    best
}

// ---- mutants ------------------------------------------------------------------------------------------------

/// Splitmix: a sequence of numbers from a seed.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, n: usize) -> usize {
        (self.next() % n.max(1) as u64) as usize
    }

    fn pick<'a, X>(&mut self, all: &'a [X]) -> &'a X {
        &all[self.below(all.len())]
    }
}

struct Mutator {
    /// None for certificates and answers, which are bytes.
    models: Vec<Vec<String>>,
    /// The bytes are what a Prolog process says.
    are_answers: bool,
    /// The bytes are changes of a proof.
    are_changes: bool,
    /// Tokens that can often stand for each other.
    groups: Vec<Vec<String>>,
}

type Tokens = Vec<String>;

/// The machines and contexts of an Event-B model as Rodin has them.
fn rodin(file: &Path) -> Vec<String> {
    let mut sources = SourceMap::default();
    let opened = kanon::lang::eventb::project(&mut sources, file, None);
    match convert(&opened.project, Form::Rodin, "p", false) {
        Ok(Output::Folder(files)) => {
            let is_component = |name: &str| name.ends_with(".bum") || name.ends_with(".buc");
            let found = files.into_iter().filter(|(name, _)| is_component(name));
            found.map(|(_, bytes)| String::from_utf8_lossy(&bytes).into_owned()).collect()
        }
        _ => vec![],
    }
}

impl Mutator {
    fn new(target: &str) -> Mutator {
        let are_changes = ["formula", "trace"].contains(&target);
        let are_answers = target == "answers";
        if ["certificate", "proof"].contains(&target) || are_changes || are_answers {
            return Mutator { models: vec![], are_answers, are_changes, groups: vec![] };
        }
        let mut files = Vec::new();
        collect(&Path::new(env!("CARGO_MANIFEST_DIR")).join("models"), &mut files);
        files.sort();
        let endings: &[&str] = match target {
            "eventb" => &["eventb"],
            "process" => &["csp"],
            "z" => &["tex", "zed", "utf8"],
            "net" => &["pnml"],
            _ => &["mch", "ref", "imp"],
        };
        files.retain(|f| f.extension().is_some_and(|e| endings.iter().any(|x| e == *x)));
        let texts = files.iter().filter_map(|f| fs::read_to_string(f).ok());
        let coded = files.iter().filter(|_| target == "eventb").flat_map(|f| rodin(f));
        let models: Vec<Tokens> = texts
            .chain(coded)
            .filter(|text| text.len() < 12_000)
            .map(|text| tokens(&text).into_iter().map(String::from).collect())
            .collect();
        assert!(!models.is_empty(), "there are no models");
        let groups = if ["z", "net"].contains(&target) { used(&models) } else { groups() };
        Mutator { models, are_answers, are_changes, groups }
    }

    /// The input of a number.
    fn input(&self, seed: u64) -> Vec<u8> {
        let mut random = Random(seed);
        if self.are_changes {
            // Few changes, to small numbers.
            let mut bytes = vec![random.below(256) as u8];
            for _ in 0..=random.below(3) {
                let small = if random.below(20) == 0 { 256 } else { 5 };
                bytes.extend([256, 256, 256, small].map(|n| random.below(n) as u8));
            }
            return bytes;
        }
        if self.are_answers {
            return said(&mut random);
        }
        if self.models.is_empty() {
            // Mostly small numbers: sets of few elements, few witnesses.
            let length = random.below(90);
            let byte =
                |_| if random.below(20) == 0 { random.below(256) as u8 } else { random.below(4) as u8 };
            return (0..length).map(byte).collect();
        }
        let mut text = random.pick(&self.models).clone();
        // Mostly few edits, so that something is left that has a type.
        let edits = 1 + random.below(3) * random.below(3);
        for _ in 0..edits {
            self.edit(&mut random, &mut text);
            text.truncate(20_000);
        }
        let mut bytes = text.concat().into_bytes();
        if random.below(20) == 0 {
            for _ in 0..=random.below(4) {
                flip(&mut random, &mut bytes);
            }
        }
        bytes
    }

    fn edit(&self, random: &mut Random, text: &mut Tokens) {
        let words: Vec<usize> = (0..text.len()).filter(|i| !text[*i].trim().is_empty()).collect();
        if words.is_empty() {
            return text.push(self.token(random));
        }
        let at = *random.pick(&words);
        match random.below(20) {
            // One that may stand for it.
            0..=6 => text[at] = self.alike(random, &words, text, at),
            7 => text[at] = self.token(random),
            8 => text.insert(at, format!(" {} ", self.token(random))),
            9 => {
                let end = (at + 1 + random.below(6)).min(text.len());
                text.drain(at..end);
            }
            10 => {
                let end = (at + 1 + random.below(12)).min(text.len());
                let part = text[at..end].to_vec();
                let to = random.below(text.len());
                text.splice(to..to, part);
            }
            11 => text.swap(at, *random.pick(&words)),
            12 | 13 => {
                // A bracket and all in it, in place of another.
                let (Some(here), from) = (group(text, at), random.pick(&self.models)) else { return };
                let from = if random.below(2) == 0 { &text.clone() } else { from };
                if let Some(there) = group(from, random.below(from.len())) {
                    text.splice(here, from[there].to_vec());
                }
            }
            14 => {
                let other = random.pick(&self.models);
                let cut = random.below(other.len());
                text.truncate(at);
                text.extend_from_slice(&other[cut..]);
            }
            15 => {
                let other = random.pick(&self.models);
                let cut = random.below(other.len());
                let end = (cut + 1 + random.below(30)).min(other.len());
                text.splice(at..at, other[cut..end].to_vec());
            }
            16 | 17 => {
                let end = group(text, at).map_or(at + 1, |g| g.end.max(at + 1));
                let inner = text[at..end].concat();
                let mut new = inner.clone();
                for _ in 0..1 + random.below(3) {
                    new = self.nested(random, &new, &inner);
                }
                text.splice(at..end, [new]);
            }
            18 if random.below(10) == 0 => {
                let depth = 1 << random.below(14);
                let (open, close) = *random.pick(&[
                    ("(", ")"),
                    ("{", "}"),
                    ("[", "]"),
                    ("-", ""),
                    ("not(", ")"),
                    ("POW(", ")"),
                    ("BEGIN ", " END"),
                    ("(1+", ")"),
                    ("f(", ")"),
                    ("#x.(x = x & ", ")"),
                    ("IF 1=1 THEN ", " END"),
                    ("/*", "*/"),
                ]);
                text[at] = open.repeat(depth) + &text[at] + &close.repeat(depth);
            }
            18 => {
                let sign = *random.pick(&["+", "*", "\\/", "&", "or", "=>", ";", "||", "<+", ",", "|->"]);
                let mut long = text[at].clone();
                for _ in 0..1 << random.below(6) {
                    let _ = write!(long, " {sign} {}", text[at]);
                }
                text[at] = long;
            }
            _ => text[at] = random.pick(&self.groups[self.groups.len() - 1]).clone(),
        }
    }

    fn token(&self, random: &mut Random) -> String {
        let group = random.pick(&self.groups);
        random.pick(group).clone()
    }

    fn alike(&self, random: &mut Random, words: &[usize], text: &Tokens, at: usize) -> String {
        let token = &text[at];
        let groups: Vec<&Vec<String>> = self.groups.iter().filter(|g| g.contains(token)).collect();
        if !groups.is_empty() {
            let group = random.pick(&groups);
            return random.pick(group).clone();
        }
        if token.starts_with(|c: char| c.is_ascii_digit()) {
            return random.below(5).to_string();
        }
        // Another name of the same text.
        let is_name = |t: &String| t.starts_with(|c: char| c.is_ascii_alphabetic());
        let names: Vec<&String> = words
            .iter()
            .map(|i| &text[*i])
            .filter(|t| is_name(t) && !self.groups.iter().any(|g| g.contains(*t)))
            .collect();
        if is_name(token) && !names.is_empty() { (*random.pick(&names)).clone() } else { self.token(random) }
    }

    fn nested(&self, random: &mut Random, x: &str, y: &str) -> String {
        let forms = [
            "(X)",
            "{X}",
            "[X]",
            "(X + Y)",
            "(X \\/ Y)",
            "(X /\\ Y)",
            "(X - Y)",
            "(X * Y)",
            "(X & Y)",
            "(X or Y)",
            "(X => Y)",
            "(X |-> Y)",
            "(X <+ Y)",
            "not(X)",
            "bool(X)",
            "POW(X)",
            "card({X})",
            "dom(X)",
            "ran(X)",
            "X~",
            "{z | z : X}",
            "{z | z : X & z : Y}",
            "union({X, Y})",
            "UNION(z).(z : X | {z})",
            "%z.(z : X | z)",
            "%z.(z : X | Y)",
            "!z.(z : X => z : Y)",
            "#z.(z : X & z : Y)",
            "(IF X = Y THEN X ELSE Y END)",
            "(LET z BE z = X IN z END)",
            "max({X, Y})",
            "(X .. Y)",
            "(X ; Y)",
            "(X || Y)",
            "X(Y)",
            "X[Y]",
            "closure1(X)",
            "iterate(X, 2)",
            "seq(X)",
            "(X ^ Y)",
            "(X --> Y)",
            "(X +-> Y)",
            "rec(p : X, q : Y)'p",
            "IF X = Y THEN X END",
            "CHOICE X OR Y END",
            "ANY z WHERE z : X THEN Y END",
            "WHILE X DO Y INVARIANT X VARIANT 1 END",
        ];
        let form = *random.pick(&forms);
        form.split_inclusive(['X', 'Y']).fold(String::new(), |mut out, piece| {
            match piece.char_indices().next_back() {
                Some((i, 'X')) => out.extend([&piece[..i], x]),
                Some((i, 'Y')) => out.extend([&piece[..i], y]),
                _ => out.push_str(piece),
            }
            out
        })
    }
}

/// What a Prolog process could say: frames, mostly whole, of few labels and states.
fn said(random: &mut Random) -> Vec<u8> {
    let mut bytes = vec![];
    for _ in 0..random.below(40) {
        let (number, state) = (random.below(4), "abcdefgh".as_bytes()[random.below(8)] as char);
        let frame = match random.below(24) {
            0..=5 => "e\n".to_string(),
            6..=12 => format!("t {number} 1\n{state}"),
            13..=15 => format!("l {number} 1 3\n{state}{state}()"),
            16..=19 => format!("p {number}\n"),
            20 => format!("x 1\n{state}"),
            21 => format!("v 1\n{state}"),
            22 => random.pick(&["o 1\na", "d 1 0 3\na\nb", "f 3\na\nb"]).to_string(),
            _ => format!("t {} {}\n{state}", random.next(), random.below(300)),
        };
        bytes.extend(frame.into_bytes());
    }
    for _ in 0..random.below(8) / 6 {
        flip(random, &mut bytes);
    }
    bytes
}

fn flip(random: &mut Random, bytes: &mut Vec<u8>) {
    let at = random.below(bytes.len());
    match random.below(3) {
        _ if bytes.is_empty() => bytes.push(random.next() as u8),
        0 => bytes[at] = random.next() as u8,
        1 => bytes.insert(at, random.next() as u8),
        _ => drop(bytes.remove(at)),
    }
}

/// The next bracket at or after a place, up to where it is closed.
fn group(text: &[String], from: usize) -> Option<Range<usize>> {
    let opens = |t: &str| matches!(t, "(" | "{" | "[");
    let start = (from..text.len()).find(|i| opens(&text[*i]))?;
    let mut depth = 0;
    for (i, t) in text.iter().enumerate().skip(start) {
        match t.as_str() {
            t if opens(t) => depth += 1,
            ")" | "}" | "]" => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some(start..i + 1);
        }
    }
    None
}

const ENDINGS: [&str; 9] = ["mch", "ref", "imp", "eventb", "csp", "tex", "zed", "utf8", "pnml"];

fn collect(folder: &Path, out: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for path in entries.flatten().map(|e| e.path()) {
        if path.is_dir() {
            collect(&path, out);
        } else if path.extension().is_some_and(|e| ENDINGS.iter().any(|x| e == *x)) {
            out.push(path);
        }
    }
}

/// What texts are made of, for languages that the dictionary does not have: signs, numbers, words.
fn used(models: &[Tokens]) -> Vec<Vec<String>> {
    let mut groups = [BTreeSet::new(), BTreeSet::new(), BTreeSet::new()];
    for token in models.iter().flatten().filter(|t| !t.trim().is_empty()) {
        let kind = match token.chars().next() {
            Some(c) if c.is_alphabetic() => 2,
            Some(c) if c.is_ascii_digit() => 1,
            _ => 0,
        };
        groups[kind].insert(token.clone());
    }
    groups.map(|g| g.into_iter().collect()).into_iter().filter(|g: &Vec<String>| !g.is_empty()).collect()
}

/// The groups of the dictionary that libFuzzer uses too.
fn groups() -> Vec<Vec<String>> {
    let mut groups: Vec<Vec<String>> = Vec::new();
    for line in include_str!("../../fuzz/b.dict").lines() {
        if line.starts_with('#') {
            groups.push(Vec::new());
        } else if let Some(quoted) = line.strip_prefix('"').and_then(|l| l.strip_suffix('"')) {
            groups.last_mut().expect("a heading").push(unescaped(quoted));
        }
    }
    groups.retain(|g| !g.is_empty());
    groups
}

fn unescaped(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.bytes();
    while let Some(b) = rest.next() {
        match (b, b == b'\\') {
            (_, false) => bytes.push(b),
            _ => match rest.next() {
                Some(b'x') => {
                    let digits: String = rest.by_ref().take(2).map(char::from).collect();
                    bytes.push(u8::from_str_radix(&digits, 16).expect("two digits"));
                }
                Some(other) => bytes.push(other),
                None => {}
            },
        }
    }
    String::from_utf8(bytes).expect("a token")
}

/// Cuts a text into words, numbers, signs, and the space between them; nothing is lost.
fn tokens(text: &str) -> Vec<&str> {
    let signs = [
        "<<->>", "<<->", "<->>", "<->", "<--", "<=>", "<<:", "<<|", "<-", "<+", "<:", "<|", "<=", "<>",
        ">+>>", ">->>", ">+>", ">->", "><", ">=", "+->>", "+->", "-->>", "-->", "->", "|->", "|>>", "|>",
        "||", "/\\", "\\/", "/|\\", "\\|/", "/<<:", "/<:", "/=", "/:", "**", "=>", "==", ":=", "::", "..",
        "$0", "/*", "*/", "//",
    ];
    let mut out = Vec::new();
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let run = |belongs: fn(char) -> bool| rest.find(|c| !belongs(c)).unwrap_or(rest.len());
        let end = match c {
            c if c.is_whitespace() => run(char::is_whitespace),
            c if c.is_ascii_alphabetic() => run(|c| c.is_ascii_alphanumeric() || c == '_'),
            c if c.is_ascii_digit() => run(|c| c.is_ascii_digit()),
            c => signs.iter().find(|s| rest.starts_with(**s)).map_or(c.len_utf8(), |s| s.len()),
        };
        let (token, after) = rest.split_at(end);
        out.push(token);
        rest = after;
    }
    out
}
