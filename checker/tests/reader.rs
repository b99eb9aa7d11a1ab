//! A second reader of certificates, written in another language from docs/certificate.md alone, agrees with ours on what is
//! in a file, and rejects what is damaged.

use kanon_checker::check::{Effort, Part, check, files, sizes};
use kanon_checker::codec::{put, put_number};
use kanon_checker::container::{Kind, Writer};
use kanon_checker::statement::{Claims, Constants, Goal, Statement};
use kanon_language::model::open::open;
use kanon_language::model::scope::ScopeArgs;
use kanon_semantics::reference::{self, Cx, State};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const TEXT: &str = "MACHINE M SETS S CONSTANTS c PROPERTIES c : {-300, 70}
VARIABLES s, r, b INVARIANT s <: S & r : S <-> POW(INTEGER) & b : BOOL
INITIALISATION s, r, b := {}, {}, FALSE
OPERATIONS
  put(x) = PRE x : S - s THEN s := s \\/ {x} || r := r \\/ {x |-> {c, card(s)}} END;
  flip = BEGIN b := bool(b = FALSE) END
END
";
const TYPES: &str = r#"{"sets": {"S": 2}, "constants": ["INTEGER"],
    "variables": [["pow", "S"], ["pow", ["pair", "S", ["pow", "INTEGER"]]], "BOOL"]}"#;

fn second(certificate: &Path, model: &Path) -> Option<Output> {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/second_reader.py");
    let run = Command::new("python3")
        .args([Path::new("-B"), Path::new(script), certificate, model])
        .env("TYPES", TYPES)
        .output();
    run.ok()
}

/// The certificate of the machine, all of whose states are found by the reference evaluator, and how many there are.
fn certified(path: &Path) -> (Vec<u8>, usize) {
    let args = ScopeArgs { card: vec![("S".into(), 2)], ..ScopeArgs::default() };
    let opened = open(path, &args).expect("a model");
    let (model, scope) = (&opened.model, &opened.scope);
    let cx = Cx::new(model, scope);
    let (mut constants, mut initial, mut records, mut number) = (vec![], vec![], vec![], 0);
    let starts = reference::constants(&cx).found;
    for (valuation, start) in starts.iter().enumerate() {
        for (value, d) in start.constants.iter().zip(&model.constants) {
            let value = value.as_ref().and_then(|i| i.value()).expect("a value");
            put_number(&mut constants, 1);
            assert!(put(&mut constants, value, &d.ty));
        }
        put_number(&mut initial, 0);
        let mut states: Vec<State> = reference::initial_states(&cx, start).found;
        let mut at = 0;
        while at < states.len() {
            for step in reference::successors(&cx, &states[at].clone()).steps {
                if !states.iter().any(|s| s.variables == step.state.variables) {
                    states.push(step.state);
                }
            }
            at += 1;
        }
        for s in &states {
            put_number(&mut records, valuation as u64);
            for (value, d) in s.variables.iter().zip(&model.variables) {
                assert!(put(&mut records, value.as_ref().expect("a value"), &d.ty));
            }
            put_number(&mut records, 0);
        }
        number += states.len();
    }
    let statement = Statement {
        kanon: "test".into(),
        files: files(&opened.sources),
        machine: model.name.to_string(),
        sets: sizes(model, scope),
        minint: scope.minint.clone(),
        maxint: scope.maxint.clone(),
        wd: "kleene".into(),
        constants: Constants::Enumerated,
        claims: Claims {
            invariant: true,
            assertions: true,
            no_deadlock: true,
            goal: Goal::Ignored,
            goal_text: None,
            formula: None,
        },
        symmetry: vec![],
        valuations: starts.len() as u64,
        states: number as u64,
        formulas: None,
    };
    let mut writer = Writer::new(vec![], &statement.json()).expect("memory");
    for (kind, content) in [(Kind::Valuations, constants), (Kind::Initial, initial), (Kind::States, records)]
    {
        writer.chunk(kind, &content).expect("memory");
    }
    (writer.seal().expect("memory"), number)
}

fn folder() -> PathBuf {
    let folder = std::env::temp_dir().join(format!("kanon-reader-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    folder
}

#[test]
fn a_second_reader_reads_the_same() {
    let (model, file) = (folder().join("M.mch"), folder().join("M.cert"));
    std::fs::write(&model, TEXT).expect("a file");
    let (bytes, states) = certified(&model);
    check(&model, &mut || Ok(&bytes[..]), Part::WHOLE, Effort::default()).expect("it is right");
    let write = |bytes: &[u8]| std::fs::write(&file, bytes).expect("a file");
    write(&bytes);
    let Some(read) = second(&file, &model) else {
        println!("skipped: python3 is not installed");
        return;
    };
    let said = String::from_utf8_lossy(&read.stdout);
    assert!(read.status.success(), "{said}{}", String::from_utf8_lossy(&read.stderr));
    assert!(said.contains(r#""valuations": [[-300], [70]]"#), "{said}");
    // Both elements are in s, and each was put when s had none or one.
    assert!(said.contains("[1, [0, 1], [[0, [0, 70]], [1, [1, 70]]], 1]"), "{said}");
    assert_eq!(said.matches("], 1]").count() + said.matches("], 0]").count(), states, "{said}");
    // Wherever a bit is flipped, it is damaged for both.
    for at in (0..bytes.len()).step_by(bytes.len() / 24) {
        let mut flipped = bytes.clone();
        flipped[at] ^= 1;
        write(&flipped);
        let second = second(&file, &model).expect("it was there");
        let ours = check(&model, &mut || Ok(&flipped[..]), Part::WHOLE, Effort::default());
        assert!(!second.status.success() && ours.is_err(), "byte {at}: {second:?}");
    }
    std::fs::write(&model, format!("{TEXT} ")).expect("a file");
    write(&bytes);
    assert!(!second(&file, &model).expect("it was there").status.success(), "another text");
}
