//! The program, run with arguments in the repository's folder: how it ended and what it wrote.

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

pub const HOLDS: i32 = 0;
pub const FAILS: i32 = 1;
pub const WRONG: i32 = 2;
pub const UNKNOWN: i32 = 3;

pub fn program() -> Command {
    let mut c = Command::new(env!("CARGO_BIN_EXE_kanon"));
    c.current_dir(env!("CARGO_MANIFEST_DIR")).stdin(Stdio::null()).env("NO_COLOR", "1");
    c
}

pub struct Ran {
    pub code: i32,
    pub out: String,
    pub err: String,
}

impl From<Output> for Ran {
    fn from(o: Output) -> Ran {
        let ran = Ran {
            code: o.status.code().unwrap_or(-1),
            out: String::from_utf8_lossy(&o.stdout).into_owned(),
            err: String::from_utf8_lossy(&o.stderr).into_owned(),
        };
        assert!(
            !ran.err.contains("panicked") && !ran.out.contains("internal error"),
            "{}{}",
            ran.out,
            ran.err
        );
        ran
    }
}

pub fn kanon(args: &[&str]) -> Ran {
    program().args(args).output().expect("the program starts").into()
}

/// What it prints with `--json`, when it ends with this code; it is valid.
pub fn json(args: &[&str], code: i32) -> Value {
    let ran = kanon(args);
    assert_eq!(ran.code, code, "{args:?}: {}{}", ran.out, ran.err);
    assert_eq!(ran.err, "", "{args:?}: with --json nothing goes to standard error");
    let answer = serde_json::from_str(&ran.out).unwrap_or_else(|e| panic!("{args:?}: {e}: {}", ran.out));
    crate::schema::validate(args.first().copied().unwrap_or_default(), &answer);
    answer
}

/// A file of a test, in a folder of its own.
pub fn file(folder: &str, name: &str, text: impl AsRef<[u8]>) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(folder);
    std::fs::create_dir_all(&folder).expect("a folder for test files");
    let path = folder.join(name);
    std::fs::write(&path, text).expect("a test file");
    path
}

pub fn text(path: &Path) -> &str {
    path.to_str().expect("a path of plain letters")
}
