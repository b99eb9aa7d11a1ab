//! Petri nets as people use them: `check`, `ltl`, `compare`, `eval`, `export` of PNML, and what is refused.

use crate::program::{FAILS, HOLDS, UNKNOWN, WRONG, file, json, kanon};
use std::collections::{BTreeMap, BTreeSet};

struct Model {
    path: String,
    expect: BTreeMap<String, String>,
    /// The verdict and the formula.
    formulas: Vec<(String, String)>,
}

/// The models of models/nets with what their first comment says.
fn models() -> Vec<Model> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/models/nets");
    let entries = std::fs::read_dir(folder).expect("models/nets");
    let mut all = vec![];
    for path in entries.map(|e| e.expect("an entry").path()) {
        let text = std::fs::read_to_string(&path).expect("a model");
        let comment = text.split("<!--").nth(1).and_then(|t| t.split("-->").next()).expect("a comment");
        let line = comment.lines().find_map(|l| l.trim().strip_prefix("expect:")).expect("an expectation");
        let pair = |p: &str| p.split_once('=').map(|(k, v)| (k.to_string(), v.to_string()));
        let formulas = comment.lines().filter_map(|l| l.strip_prefix("ltl ")?.split_once(": "));
        all.push(Model {
            path: path.display().to_string(),
            expect: line.split_whitespace().filter_map(pair).collect(),
            formulas: formulas.map(|(v, f)| (v.to_string(), f.to_string())).collect(),
        });
    }
    assert!(all.len() >= 15, "{} models", all.len());
    all
}

fn code(verdict: &str) -> i32 {
    match verdict {
        "holds" => HOLDS,
        "fails" => FAILS,
        "unknown" => UNKNOWN,
        other => panic!("`{other}` is no verdict"),
    }
}

#[test]
fn every_net_answers_as_its_header_says() {
    for m in models() {
        let get = |key: &str| m.expect.get(key).map(String::as_str);
        let verdict = get("verdict").expect("a verdict");
        if let Some(limit) = get("limit") {
            let answer = json(&["check", &m.path, "--max-states", limit, "--json"], UNKNOWN);
            assert_eq!(answer["complete"], false, "{}", m.path);
            continue;
        }
        for (symmetry, states) in [("off", "states"), ("canon", "orbits"), ("auto", "orbits")] {
            for threads in ["1", "2"] {
                let args =
                    ["check", &m.path, "--all", "--json", "--symmetry", symmetry, "--threads", threads];
                let answer = json(&args, code(verdict));
                let count = |key: &str| answer[key].to_string();
                assert_eq!(Some(&*count("states")), get(states), "{args:?}");
                if symmetry == "off" {
                    assert_eq!(Some(&*count("transitions")), get("transitions"), "{args:?}");
                    assert_eq!(Some(&*count("deadlocks")), get("deadlocks"), "{args:?}");
                }
            }
        }
        for (verdict, formula) in &m.formulas {
            for symmetry in ["off", "auto"] {
                let answer =
                    json(&["ltl", &m.path, formula, "--json", "--symmetry", symmetry], code(verdict));
                assert_eq!(answer[0]["verdict"], **verdict, "{}: {formula}", m.path);
            }
        }
        assert_eq!(json(&["compare", &m.path, "--json"], HOLDS)["agree"], true, "{}", m.path);
    }
}

type Steps = fn(&[usize]) -> Vec<(usize, Vec<usize>)>;

/// The same systems without nets, as somebody would program them: steps with a number each.
const PROGRAMS: [(&str, &[usize], Steps); 6] = [
    // Cars on the left, on deck and on the right; the bank where the ferry is.
    ("ferry", &[4, 0, 0, 0], |s| {
        let (near, bank) = if s[3] == 0 { (0, 1) } else { (2, 0) };
        let mut all = vec![(0, vec![s[0], s[1], s[2], bank])];
        let mut car = |step, from: usize, to: usize| {
            if s[from] > 0 && (to != 1 || s[1] < 2) {
                let mut next = s.to_vec();
                (next[from], next[to]) = (s[from] - 1, s[to] + 1);
                all.push((step, next));
            }
        };
        car(1, near, 1);
        car(2, 1, near);
        all
    }),
    // How much each of three processes has; which process it is does not matter.
    ("resource-allocation", &[0, 0, 0], |s| {
        let all = (0..3).filter(|i| s[*i] == 2 || s.iter().sum::<usize>() < 3).map(|i| {
            let mut next = s.to_vec();
            next[i] = (s[i] + 1) % 3;
            next.sort_unstable();
            (s[i], next)
        });
        let all: BTreeSet<(usize, Vec<usize>)> = all.collect();
        all.into_iter().collect()
    }),
    // Where each of six pallets is; which pallet it is does not matter.
    ("pallets", &[0; 6], |s| {
        let all = (0..6).map(|i| {
            let mut next = s.to_vec();
            next[i] = (s[i] + 1) % 5;
            next.sort_unstable();
            (s[i], next)
        });
        let all: BTreeSet<(usize, Vec<usize>)> = all.collect();
        all.into_iter().collect()
    }),
    // Where each robot is.
    ("robots", &[0, 1, 2], |s| {
        let ways = (0..3).flat_map(|i| [(i, (s[i] + 1) % 5), (i, (s[i] + 4) % 5)]);
        let free = ways.filter(|(_, to)| !s.contains(to));
        free.map(|(i, to)| (i, s.iter().enumerate().map(|(j, at)| if i == j { to } else { *at }).collect()))
            .collect()
    }),
    // The printer of each user, the third with colour; 3 is none, 4 to have asked for colour.
    ("printers", &[3, 3, 3], |s| {
        let mut all = vec![];
        for i in 0..3 {
            let to: &[usize] = match s[i] {
                3 => &[0, 1, 2, 4],
                4 => &[2],
                _ => &[3],
            };
            for to in to.iter().filter(|to| **to > 2 || !s.contains(to)) {
                let mut next = s.to_vec();
                next[i] = *to;
                all.push((i, next));
            }
        }
        all
    }),
    // Where each process is (idle, asked, waiting, critical), and whose turn it is.
    ("peterson", &[0, 0, 0], |s| {
        let mut all = vec![];
        for i in 0..2 {
            let turn = if s[i] == 1 { 1 - i } else { s[2] };
            let ways = if s[i] == 2 { usize::from(s[1 - i] == 0) + usize::from(s[2] == i) } else { 1 };
            let mut next = s.to_vec();
            (next[i], next[2]) = ((s[i] + 1) % 4, turn);
            all.extend((0..ways).map(|way| (2 * i + way, next.clone())));
        }
        all
    }),
];

#[test]
fn nets_have_the_states_of_the_programs_that_they_stand_for() {
    let models = models();
    for (name, first, steps) in PROGRAMS {
        let mut known = BTreeSet::from([first.to_vec()]);
        let mut open = vec![first.to_vec()];
        let (mut transitions, mut deadlocks) = (0, 0);
        while let Some(state) = open.pop() {
            let next = steps(&state);
            transitions += next.len();
            deadlocks += usize::from(next.is_empty());
            open.extend(next.into_iter().map(|(_, s)| s).filter(|s| known.insert(s.clone())));
        }
        let model = models.iter().find(|m| m.path.ends_with(&format!("/{name}.pnml"))).expect("a net");
        for (key, n) in [("states", known.len()), ("transitions", transitions), ("deadlocks", deadlocks)] {
            assert_eq!(model.expect[key], n.to_string(), "{name}: {key}");
        }
    }
}

#[test]
fn a_counterexample_is_a_way_and_a_colour_that_is_asked_for_is_fixed() {
    let net = "models/nets/database.pnml";
    let ran = kanon(&["check", net, "--goal", "performing >= 2 and acknowledged(d1, _) = 1"]);
    assert_eq!(ran.code, FAILS, "{}{}", ran.out, ran.err);
    for part in
        ["the goal is reached", "update(s = d1)", "answer(", "mutex = {•}", "is permuted only in part"]
    {
        assert!(ran.out.contains(part), "{part}: {}", ran.out);
    }
    let ran = kanon(&["check", net]);
    assert!(ran.code == HOLDS && ran.out.contains("permuted: Site (4)"), "{}", ran.out);
    let ran = kanon(&["check", "models/nets/philosophers.pnml"]);
    assert!(ran.out.contains("fails: deadlock") && ran.out.contains("ordered: successors"), "{}", ran.out);
}

#[test]
fn values_and_pictures() {
    let net = "models/nets/readers-writers.pnml";
    let value = |text: &str| {
        let ran = kanon(&["eval", net, text]);
        (ran.code, ran.out.trim().to_string())
    };
    assert_eq!(value("reader + 2 * writer"), (HOLDS, "8".to_string()));
    assert_eq!(value("reader > writer and enabled(read)"), (HOLDS, "TRUE".to_string()));
    assert_eq!(value("enabled(store)"), (FAILS, "FALSE".to_string()));
    assert_eq!(value("lender").0, WRONG);
    let graph = json(&["export", net, "--json"], HOLDS);
    assert_eq!(graph["states"], 6);
    assert!(kanon(&["export", net, "--dot"]).out.contains("digraph"));
    assert!(kanon(&["export", net, "--svg"]).out.contains("<svg"));
    assert_eq!(kanon(&["export", net, "--csv"]).out.lines().count(), 11);
}

#[test]
fn what_makes_no_sense_for_a_net_is_refused_with_the_reason() {
    let net = "models/nets/database.pnml";
    let cases: [(&[&str], &str); 11] = [
        (&["graph", net], "a marking has numbers only"),
        (&["check", net, "--audit"], "`--audit` is for B, Event-B and Z"),
        (&["check", net, "--card", "S=3"], "`--card` is for B"),
        (&["check", net, "--ltl"], "`--ltl` is for B"),
        (&["ltl", net], "there is no formula"),
        (&["ltl", net, "G {nowhere = 1}"], "no place `nowhere`"),
        (&["ltl", net, "G [nothing]"], "no operation `nothing`"),
        (&["ltl", net, "G {"], "L0"),
        (&["check", net, "--goal", "waiting(d9) = 1"], "no colour of this place's tokens"),
        (&["export", net, "--aiger"], "`--aiger` is for B"),
        (
            &["prove", net],
            "`check`, `ltl`, `compare`, `eval`, `export`, `simulate`, `repl`, `animate` and `serve` read it",
        ),
    ];
    for (args, why) in cases {
        let ran = kanon(args);
        assert_eq!(ran.code, WRONG, "{args:?}: {}{}", ran.out, ran.err);
        assert!(ran.err.contains(why), "{args:?}: {}", ran.err);
    }
    let bad = file("nets", "bad.pnml", "<pnml><net id=\"n\" type=\"x/ptnet\">\n  <labels/></net></pnml>");
    let ran = kanon(&["check", &bad.display().to_string()]);
    assert!(ran.code == WRONG && ran.err.contains("bad.pnml:2:3"), "{}", ran.err);
    assert_eq!(json(&["check", &bad.display().to_string(), "--json"], WRONG)["errors"][0]["code"], "N0301");
}
