//! The packages of the corpus, written in the other forms and read back. `KANON_FORMS=all` takes all of them and prints
//! how many survive; otherwise a sample.

use super::compare::{difference, lines, proved};
use super::forms::through;
use kanon_language::lang::diag::SourceMap;
use kanon_language::lang::eventb;
use kanon_language::lang::eventb::convert::Form;
use kanon_language::lang::stack::with_large_stack;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

fn packages() -> Vec<PathBuf> {
    let beside =
        || Some(Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(3)?.join("shared").join("corpus"));
    let Some(dir) = std::env::var_os("KANON_CORPUS").map(PathBuf::from).or_else(beside) else {
        return vec![];
    };
    let Ok(table) = std::fs::read_to_string(dir.join("expected.csv")) else {
        println!("no corpus here: nothing converted (set KANON_CORPUS)");
        return vec![];
    };
    let file = |line: &str| line.split_once(",eventb,").map(|(file, _)| dir.join(file.trim_matches('"')));
    table.lines().filter_map(file).collect()
}

#[test]
fn packages_of_the_corpus_survive_the_other_forms() {
    let all = packages();
    let is_all = std::env::var("KANON_FORMS").is_ok_and(|v| v == "all");
    let step = if is_all { 1 } else { 8 };
    let mut kept: BTreeMap<&str, usize> = BTreeMap::new();
    let (mut read, mut refused, mut wrong) = (0, BTreeMap::<String, usize>::new(), vec![]);
    for path in all.iter().step_by(step) {
        let result = with_large_stack(|| {
            let mut sources = SourceMap::default();
            let opened = eventb::project(&mut sources, path, None);
            if opened.has_errors() {
                return None;
            }
            let (before, proofs) = (lines(&opened.project), proved(&opened.project));
            let one = |form: Form| match through(&opened.project, form) {
                Err(why) => (form, Err(why)),
                Ok(after) => {
                    let mut found = difference(&before, &lines(&after));
                    // Old packages say of what their obligations are in words of their own: what is proved may get
                    // lost, but nothing is proved that was not.
                    let after = proved(&after);
                    let gained = after.iter().find(|o| !proofs.contains(o));
                    found = found.or_else(|| gained.map(|o| format!("not proved before: {o}")));
                    let lost = proofs.len() - after.len().min(proofs.len());
                    if form == Form::Package && lost > 0 {
                        found = found.or_else(|| Some(format!("{lost} are not proved any more")));
                    }
                    (form, Ok(found))
                }
            };
            Some(Form::ALL.map(one))
        });
        let Some(results) = result.expect("a stack") else { continue };
        read += 1;
        for (form, result) in results {
            match result {
                Err(why) if why.starts_with("READS BACK") => {
                    wrong.push(format!("{} as {}: {why}", path.display(), form.name()));
                }
                Err(why) => {
                    let why = why.rsplit(": ").next().unwrap_or_default().to_string();
                    *refused.entry(format!("{} {why}", form.name())).or_default() += 1;
                }
                Ok(Some(found)) => wrong.push(format!("{} as {}: {found}", path.display(), form.name())),
                Ok(None) => *kept.entry(form.name()).or_default() += 1,
            }
        }
    }
    println!("of {} packages {read} are read: kept {kept:?}, refused {refused:#?}", all.len());
    assert!(wrong.is_empty(), "{} differ\n{}", wrong.len(), wrong.join("\n"));
}
