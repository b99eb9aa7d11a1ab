//! Files that claim very much and have very little: they are rejected, and no memory is taken for what is not there. The
//! program runs with so little of it that it would not come to an answer otherwise.

#![cfg(target_os = "linux")]

use kanon_checker::check::{files, sizes};
use kanon_checker::codec::put_number;
use kanon_checker::container::{Kind, Writer};
use kanon_checker::statement::{Claims, Constants, Goal, Statement};
use kanon_language::model::open::open;
use kanon_language::model::scope::ScopeArgs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// More than the program and its stack need, and less than any of the claims.
const KIB: u32 = 1 << 20;

const TEXT: &str = "MACHINE M VARIABLES s, t, n INVARIANT s <: INTEGER & t : STRING & n : INTEGER
INITIALISATION s, t, n := {}, \"\", 0 OPERATIONS stay = skip END
";

struct Folder(PathBuf);

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn statement(model: &Path, valuations: u64, states: u64) -> String {
    let opened = open(model, &ScopeArgs::default()).expect("a model");
    let claims = Claims {
        invariant: true,
        assertions: true,
        no_deadlock: true,
        goal: Goal::Ignored,
        goal_text: None,
        formula: None,
    };
    let statement = Statement {
        kanon: "test".into(),
        files: files(&opened.sources),
        machine: "M".into(),
        sets: sizes(&opened.model, &opened.scope),
        minint: opened.scope.minint.clone(),
        maxint: opened.scope.maxint.clone(),
        wd: "kleene".into(),
        constants: Constants::Enumerated,
        claims,
        symmetry: vec![],
        valuations,
        states,
        formulas: None,
    };
    statement.json()
}

fn sealed(statement: &str, states: &[u8]) -> Vec<u8> {
    let mut writer = Writer::new(vec![], statement).expect("memory");
    for (kind, content) in [(Kind::Valuations, &[0][..]), (Kind::Initial, &[0]), (Kind::States, states)] {
        writer.chunk(kind, content).expect("memory");
    }
    writer.seal().expect("memory")
}

#[test]
fn ten_gigabytes_that_are_claimed_are_not_taken() {
    const MUCH: u64 = 10_000_000_000;
    let folder = Folder(std::env::temp_dir().join(format!("kanon-memory-{}", std::process::id())));
    std::fs::create_dir_all(&folder.0).expect("a folder");
    let (model, file) = (folder.0.join("M.mch"), folder.0.join("M.cert"));
    std::fs::write(&model, TEXT).expect("a file");
    let text = statement(&model, 1, 1);
    let right = sealed(&text, &[0, 0, 0, 0, 0]);
    let head = 16 + text.len();
    let put = |at: usize, n: u32| {
        let mut bytes = right.clone();
        bytes[at..at + 4].copy_from_slice(&n.to_le_bytes());
        bytes
    };
    // A state: its valuation, s, t, n, witnesses.
    let state = |before: &[u8], after: &[u8]| {
        let mut content = before.to_vec();
        put_number(&mut content, MUCH);
        content.extend(after);
        sealed(&text, &content)
    };
    // A hundred bytes: a head that claims four gigabytes, which is all that it can.
    let mut hundred = right[..12].to_vec();
    hundred.extend(u32::MAX.to_le_bytes());
    hundred.resize(100, 0);
    let table: Vec<(&str, Vec<u8>, &str)> = vec![
        ("the statement", hundred, "the statement is too long"),
        ("the content of a chunk", put(head + 1, u32::MAX), "a chunk is too long"),
        ("its content after decompression", put(head + 5, u32::MAX), "a chunk is too long"),
        ("the valuations", sealed(&statement(&model, MUCH, 1), &[0, 0, 0, 0, 0]), "valuations"),
        ("the states", sealed(&statement(&model, 1, MUCH), &[0, 0, 0, 0, 0]), "states"),
        ("the number of a valuation", state(&[], &[0, 0, 0, 0]), "chunk 3"),
        ("the elements of a set", state(&[0], &[0, 0, 0]), "chunk 3"),
        ("the bytes of a string", state(&[0, 0], &[0, 0]), "chunk 3"),
        ("the witnesses", state(&[0, 0, 0, 0], &[]), "chunk 3"),
    ];
    let run = |bytes: &[u8]| {
        std::fs::write(&file, bytes).expect("a file");
        let limited = format!("ulimit -v {KIB} && exec \"$0\" \"$@\"");
        let shell = Command::new("sh")
            .args(["-c", &limited, env!("CARGO_BIN_EXE_kanon-checker")])
            .args([&model, &file])
            .output()
            .expect("a shell");
        let said = [shell.stdout, shell.stderr].concat();
        (shell.status.code(), String::from_utf8_lossy(&said).into_owned())
    };
    let (code, said) = run(&right);
    assert_eq!(code, Some(0), "the memory suffices for what is there: {said}");
    for (what, bytes, expected) in table {
        assert!(bytes.len() < 1_500, "{what} is claimed by {} bytes", bytes.len());
        let (code, said) = run(&bytes);
        assert!(code == Some(1) && said.contains(expected), "{what}: {code:?}, {said}");
    }
}
