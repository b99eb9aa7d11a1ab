//! `kanon fmt`: what is laid out reads as the same tree, has the same comments in the same order, and stays as it is when
//! it is laid out again. Over generated machines with comments anywhere, the models, and the corpus where it is.

use crate::trees::generate::{self, Bytes};
use crate::trees::plain;
use kanon::lang::ast::Machine;
use kanon::lang::b;
use kanon::lang::diag::SourceMap;
use kanon::lang::print;
use kanon::lang::style::{Operators, Style};
use kanon::run::format;
use proptest::prelude::*;
use std::fs;
use std::path::{Path, PathBuf};

/// The machine in a text without its places, and what is wrong with it; files beside it are not looked for.
fn parsed(text: &str) -> (Option<Machine>, Vec<String>) {
    let mut read = b::parse_text(&mut SourceMap::default(), "formatted.mch", text);
    if let Some(machine) = &mut read.machine {
        plain::machine(machine);
    }
    let messages = read.diagnostics.into_iter().map(|d| format!("{} {}", d.code, d.message));
    (read.machine, messages.collect())
}

/// Lays a text out and looks at the result; `None` if the text is no machine.
fn laid_out(name: &Path, text: &str, style: Style) -> Result<Option<String>, String> {
    let is_b = name.extension().is_none_or(|e| e != "eventb");
    let once = match format::text(name, text, style) {
        Ok(once) => once,
        Err(refused) if refused.diagnostics.iter().any(|d| d.code == "B0199") => {
            return Err(format!("{}: {:?}", name.display(), refused.diagnostics));
        }
        Err(_) => return Ok(None),
    };
    if is_b && parsed(text) != parsed(&once.text) {
        return Err(format!("{}: another machine\n{text}\n--- is not\n{}", name.display(), once.text));
    }
    match format::text(name, &once.text, style) {
        Ok(twice) if !twice.is_changed => Ok(Some(once.text)),
        Ok(twice) => {
            Err(format!("{}: laid out twice\n{}\n--- is not\n{}", name.display(), twice.text, once.text))
        }
        Err(refused) => Err(format!("{}: {:?}\n{}", name.display(), refused.diagnostics, once.text)),
    }
}

/// Puts other white space and comments with numbers in place of some blanks.
fn disturbed(text: &str, bytes: &mut Bytes) -> String {
    let mut out = String::new();
    for (i, c) in text.chars().enumerate() {
        if c != ' ' && c != '\n' {
            out.push(c);
            continue;
        }
        match 11 - bytes.choose(12) {
            0 => out.push_str(&format!(" /* {i}: a, b & c */ ")),
            1 => out.push_str(&format!(" // {i}: it's \"one\"\n")),
            2 => out.push_str(&format!("\n  /* {i}:\n     two */\n\n\n")),
            3 => out.push_str(&format!("\r\n\t/*@label {i}: */ ")),
            4 => out.push('\n'),
            5 => out.push_str("\t  "),
            _ => out.push(c),
        }
    }
    out
}

/// The numbers of the comments in a text, in its order.
fn comments(text: &str) -> Vec<&str> {
    let starts = ["/* ", "// ", "/*@label "];
    let mut found: Vec<(usize, &str)> = vec![];
    for start in starts {
        for (at, _) in text.match_indices(start) {
            let rest = &text[at + start.len()..];
            let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
            if digits > 0 && rest[digits..].starts_with(':') {
                found.push((at, &rest[..digits]));
            }
        }
    }
    found.sort_unstable();
    found.into_iter().map(|(_, number)| number).collect()
}

fn styles() -> impl Iterator<Item = Style> {
    let widths = [100, 40];
    let style = |width, operators| Style { width, operators, ..Style::default() };
    widths.into_iter().flat_map(move |w| Operators::ALL.map(|(_, o)| style(w, o)))
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_machines(bytes in prop::collection::vec(any::<u8>(), 0..600),
                       noise in prop::collection::vec(any::<u8>(), 0..600)) {
        let text = print::machine(&generate::machine(&mut Bytes::new(&bytes)));
        let name = Path::new("random.mch");
        for style in styles() {
            let result = laid_out(name, &text, style).map_err(TestCaseError::fail)?;
            prop_assert!(result.is_some(), "a printed machine can be read");
        }
        // Noise may fall into a string, and then it is another machine or none.
        let text = disturbed(&text, &mut Bytes::new(&noise));
        for style in styles() {
            if let Some(result) = laid_out(name, &text, style).map_err(TestCaseError::fail)? {
                prop_assert_eq!(comments(&text), comments(&result));
            }
        }
    }
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    let entries = fs::read_dir(folder).into_iter().flatten().filter_map(|e| Some(e.ok()?.path()));
    for path in entries {
        let ending = path.extension().and_then(|e| e.to_str()).unwrap_or_default();
        if path.is_dir() {
            collect(&path, files);
        } else if ["mch", "ref", "imp", "sys", "def", "eventb"].contains(&ending) {
            files.push(path);
        }
    }
    files.sort();
}

/// How many of these could be laid out, after all were looked at.
fn all_of(files: &[PathBuf]) -> usize {
    let mut count = 0;
    for path in files {
        let Ok(text) = fs::read_to_string(path) else { continue };
        for style in styles().step_by(2) {
            let result = laid_out(path, &text, style).unwrap_or_else(|why| panic!("{why}"));
            count += usize::from(result.is_some() && style.operators == Operators::AsWritten);
        }
    }
    count
}

#[test]
fn models() {
    let mut files = vec![];
    collect(&Path::new(env!("CARGO_MANIFEST_DIR")).join("models"), &mut files);
    assert!(all_of(&files) > 100, "only so many of {}", files.len());
}

/// Every twentieth machine of the corpus; all of them with `KANON_FORMS=all`.
#[test]
fn corpus() {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/corpus");
    let folder = std::env::var_os("KANON_CORPUS").map_or(beside, PathBuf::from);
    let mut files = vec![];
    collect(&folder, &mut files);
    if files.is_empty() {
        return;
    }
    let step = if std::env::var("KANON_FORMS").is_ok_and(|v| v == "all") { 1 } else { 20 };
    let sample: Vec<PathBuf> = files.into_iter().step_by(step).collect();
    assert!(all_of(&sample) * 2 > sample.len(), "most of the corpus can be read");
}

fn tidy(text: &str, wanted: &str) {
    let result = format::text(Path::new("M.mch"), text, Style { width: 60, ..Style::default() });
    assert_eq!(result.map(|f| f.text).unwrap_or_default(), wanted);
}

#[test]
fn classical_b() {
    tidy(
        "/* expect: verdict=holds */ MACHINE M VARIABLES x,y // two\n INVARIANT x:NAT&y:1 .. 3\n\
         INITIALISATION x:=0||y:=1\nOPERATIONS up=PRE x<3 THEN x:=x+1 END;r<--get(p)=PRE p:-1..y THEN r:=(x)\n \
         END /* the end */ END\n\n\n",
        "/* expect: verdict=holds */ MACHINE M\nVARIABLES x, y // two\nINVARIANT x : NAT & y : 1..3\n\
         INITIALISATION x := 0 || y := 1\nOPERATIONS\n  up = PRE x < 3 THEN x := x + 1 END;\n  \
         r <-- get(p) = PRE p : -1..y THEN r := (x)\n    END /* the end */\nEND\n",
    );
    // Too long: at `&` of the clause, at the words of a block, then inside.
    tidy(
        "MACHINE M\nPROPERTIES aaaaaaaaaaaaaaaaaaaaa : NAT & bbbbbbbbbbbbbbbbbbbbbbbb : NAT & c = 1\nEND",
        "MACHINE M\nPROPERTIES\n  aaaaaaaaaaaaaaaaaaaaa : NAT\n  & bbbbbbbbbbbbbbbbbbbbbbbb : NAT\n  & c = 1\nEND\n",
    );
    tidy(
        "MACHINE M\nOPERATIONS\n  op = ANY xx WHERE xx : NAT & xx < 1000000 THEN skip || skip || skip END\nEND",
        "MACHINE M\nOPERATIONS\n  op =\n    ANY xx\n    WHERE xx : NAT & xx < 1000000\n    THEN skip || skip || skip\n    \
         END\nEND\n",
    );
}

#[test]
fn what_cannot_be_read_is_refused() {
    for text in ["MACHINE M VARIABLES x INVARIANT x : END", "MACHINE M /* open", "no machine", "", "\u{fffd}"]
    {
        let refused = format::text(Path::new("M.mch"), text, Style::default());
        assert!(refused.is_err_and(|r| r.diagnostics.iter().any(|d| d.is_error())), "{text}");
    }
    let package = format::text(Path::new("M.eventb"), "package([]).", Style::default());
    assert!(package.is_err(), "packages are not laid out by people");
}

#[test]
fn event_b() {
    let text = "// a lamp\nmachine Lamp // m\nvariables on\ninvariants\n@inv on ∈ BOOL\n  ∧ on=on\n\n\n\
                events\nevent INITIALISATION\nthen\n@a on ≔ FALSE\nend\nevent flip\nwhere @g on = FALSE\n\
                /* two\n lines */\nthen\n@b on ≔ TRUE\nend\nend";
    let wanted = "// a lamp\nmachine Lamp // m\nvariables on\ninvariants\n  @inv on ∈ BOOL\n    ∧ on=on\n\n\
                  events\n  event INITIALISATION\n    then\n      @a on ≔ FALSE\n  end\n  event flip\n    \
                  where @g on = FALSE\n    /* two\n lines */\n    then\n      @b on ≔ TRUE\n  end\nend\n";
    let result = laid_out(Path::new("Lamp.eventb"), text, Style::default());
    assert_eq!(result, Ok(Some(wanted.to_string())));
}
