//! Statements that are about something else than the model, or change while they are read.

use crate::liar::{Claim, EFFORT, Files, certificate_of, sealed, statement};
use kanon_checker::check::Part;
use kanon_checker::container::Kind;
use kanon_checker::statement::{Goal, Statement};
use kanon_checker::{Rejected, check};
use kanon_language::model::open::open;
use kanon_language::model::scope::ScopeArgs;
use std::path::Path;

const COUNTER: &str = "MACHINE m VARIABLES n INVARIANT n : 0..3 INITIALISATION n := 0
    OPERATIONS up = PRE n < MAXINT THEN n := n + 1 END; down = PRE 6 / n > 1 & n > 0 THEN n := n - 1 END END";

/// The file is another one each time that it is read: the model is compared with one statement, the proof is of another.
#[test]
fn a_statement_that_changes_is_noticed() {
    let files = Files::new("changes", &[("m.mch", COUNTER)]);
    let path = files.0.join("m.mch");
    let fine = certificate_of(&path, |_| {});
    let other = certificate_of(&path, |s| {
        (s.claims.goal, s.claims.goal_text) = (Goal::Given, Some("n = 2".into()));
    });
    for change in 1..4 {
        let mut reading = 0;
        let mut open = || {
            reading += 1;
            Ok(if reading > change { &other[..] } else { &fine[..] })
        };
        match check(&path, &mut open, Part::WHOLE, EFFORT) {
            Err(Rejected::Unreadable(why)) => assert_eq!(why, "it has changed between two readings"),
            Ok(a) if change == 3 => assert_eq!(a.statement.claims.goal, Goal::Ignored),
            answer => panic!("changed after reading {change}: {answer:?}"),
        }
    }
}

/// One thing of the statement is another one, and all else fits it.
#[test]
fn statements_about_something_else_are_rejected() {
    let files = Files::new("statements", &[("m.mch", COUNTER)]);
    let path = files.0.join("m.mch");
    let asked = |bytes: &[u8]| check(&path, &mut || Ok(bytes), Part::WHOLE, EFFORT);
    let said = |bytes: &[u8]| asked(bytes).expect_err("it is wrong").to_string();
    let whole = certificate_of(&path, |_| {});
    assert!(asked(&whole).is_ok());
    let changed = |change: &dyn Fn(&mut Statement)| said(&certificate_of(&path, change));
    // A larger range needs a state more, and a smaller one has no place for one of them: what depends on MAXINT.
    let larger = changed(&|s| s.maxint = 4.into());
    assert!(larger.ends_with("up() leads to a state that is missing: n = 4"), "{larger}");
    let strict = changed(&|s| s.wd = "strict".into());
    assert!(strict.contains("has no value"), "{strict}");
    assert!(changed(&|s| s.machine = "M".into()).contains("the machine is m"));
    assert!(changed(&|s| s.sets = vec![("S".into(), 1)]).contains("other sizes"));
    assert!(changed(&|s| s.symmetry = vec!["S".into()]).contains("no set `S`"));
    assert!(changed(&|s| s.claims.goal = Goal::Model).contains("no GOAL"));
    assert!(changed(&|s| s.files[0].name = "other.mch".into()).contains("m.mch is not the same"));
    assert!(changed(&|s| s.files[0].bytes += 1).contains("m.mch is not the same"));
    assert!(changed(&|s| s.files.clear()).contains("m.mch is not the same"));
    assert!(changed(&|s| s.files.extend(s.files.clone())).contains("another order"));
    // Two fields of one name, of which this reader and another take different ones.
    let text = Statement::json(&{
        let opened = open(&path, &ScopeArgs::default()).unwrap_or_else(|r| panic!("{:?}", r.diagnostics));
        Statement { valuations: 1, states: 4, ..statement(&opened, &Claim::States) }
    });
    let chunks = [
        (Kind::Valuations, vec![0]),
        (Kind::Initial, vec![0]),
        (Kind::States, vec![0, 0, 0, 0, 2, 0, 0, 4, 0, 0, 6, 0]),
    ];
    assert!(asked(&sealed(&text, &chunks)).is_ok());
    let twice = text.replacen("\"maxint\": \"3\"", "\"maxint\": \"9\", \"maxint\": \"3\"", 1);
    assert_ne!(text, twice);
    assert!(said(&sealed(&twice, &chunks)).contains("there twice"));
    let twice = text.replacen("\"invariant\": true", "\"invariant\": true, \"invariant\": true", 1);
    assert!(said(&sealed(&twice, &chunks)).contains("there twice"));
    // No white space is needed, and none matters.
    let short: String = text.split_whitespace().collect();
    assert!(asked(&sealed(&short, &chunks)).is_ok());
    // A chunk that is there twice; states in two chunks, in any order, are the same states.
    let again = |i: usize| {
        let mut more = chunks.to_vec();
        more.insert(i, chunks[i].clone());
        said(&sealed(&text, &more))
    };
    assert_eq!(again(0), "the statement claims 1 valuations, the proof has 2");
    assert_eq!(again(1), "the statement claims 1 initial records, the proof has 2");
    assert_eq!(again(2), "state 4 is stored twice");
    let [valuations, initial, (_, states)] = chunks.clone();
    let (first, last) = states.split_at(6);
    let halves = [(Kind::States, last.to_vec()), (Kind::States, first.to_vec())];
    assert!(asked(&sealed(&text, &[&[valuations, initial], &halves[..]].concat())).is_ok());
}

/// The texts are those that are read: by their content, and by the last part of their name.
#[test]
fn files_are_what_is_in_them() {
    let files = Files::new("texts", &[("m.mch", COUNTER)]);
    let path = files.0.join("m.mch");
    let whole = certificate_of(&path, |_| {});
    let asked = |path: &Path| check(path, &mut || Ok(&whole[..]), Part::WHOLE, EFFORT).map(drop);
    // Line ends of another system are other bytes.
    std::fs::write(&path, COUNTER.replace('\n', "\r\n")).expect("a file");
    assert_eq!(asked(&path), Err(Rejected::OtherFiles("m.mch is not the same".into())));
    std::fs::write(&path, format!("\u{feff}{COUNTER}")).expect("a file");
    assert!(asked(&path).is_err());
    std::fs::write(&path, COUNTER).expect("a file");
    assert_eq!(asked(&path), Ok(()));
    let folder = files.0.join("elsewhere");
    std::fs::create_dir_all(&folder).expect("a folder");
    // The same text elsewhere, and another one of the same name.
    std::fs::write(folder.join("m.mch"), COUNTER).expect("a file");
    assert_eq!(asked(&folder.join("m.mch")), Ok(()));
    std::fs::write(folder.join("m.mch"), COUNTER.replace("0..3", "0..2")).expect("a file");
    assert!(asked(&folder.join("m.mch")).is_err());
    #[cfg(unix)]
    {
        let link = folder.join("link.mch");
        std::os::unix::fs::symlink(&path, &link).expect("a link");
        assert_eq!(asked(&link), Err(Rejected::OtherFiles("link.mch is not the same".into())));
        std::fs::remove_file(folder.join("m.mch")).expect("a file");
        std::os::unix::fs::symlink(&path, folder.join("m.mch")).expect("a link");
        assert_eq!(asked(&folder.join("m.mch")), Ok(()));
    }
}

/// Nothing begins, and nothing is claimed of nothing.
#[test]
fn what_never_begins_is_not_accepted() {
    let properties = "MACHINE m SETS S CONSTANTS k PROPERTIES k : S & card(S) = 2 VARIABLES n
                      INVARIANT n : S INITIALISATION n := k OPERATIONS stay = skip END";
    let blocked = "MACHINE m VARIABLES n INVARIANT n : 0..3 INITIALISATION ANY x WHERE x : {} THEN n := x END
                   OPERATIONS stay = skip END";
    for (name, text, set) in [("properties", properties, Some(3)), ("blocked", blocked, None)] {
        let files = Files::new(name, &[("m.mch", text)]);
        let path = files.0.join("m.mch");
        let card = set.map(|n| ("S".to_string(), n)).into_iter().collect();
        let opened = open(&path, &ScopeArgs { card, ..ScopeArgs::default() });
        let opened = opened.unwrap_or_else(|r| panic!("{:?}", r.diagnostics));
        let mut claimed = statement(&opened, &Claim::States);
        let mut chunks = vec![];
        if set.is_none() {
            claimed.valuations = 1;
            chunks = vec![(Kind::Valuations, vec![0]), (Kind::Initial, vec![0])];
        }
        let bytes = sealed(&claimed.json(), &chunks);
        let answer = check(&path, &mut || Ok(&bytes[..]), Part::WHOLE, EFFORT);
        assert_eq!(answer.expect_err("nothing begins"), Rejected::NoInitialState, "{name}");
    }
}

/// Read from left to right, a guard without a value makes the invariant faulty: who does not claim the invariant, or claims
/// a formula only, says nothing of guards, and must not say that all have values.
#[test]
fn definedness_is_not_claimed_without_the_invariant() {
    let files = Files::new("strict", &[("m.mch", COUNTER)]);
    let path = files.0.join("m.mch");
    let asked = |change: &dyn Fn(&mut Statement)| {
        let bytes = certificate_of(&path, change);
        check(&path, &mut || Ok(&bytes[..]), Part::WHOLE, EFFORT)
    };
    assert!(matches!(asked(&|s| s.wd = "strict".into()), Err(Rejected::Undefined { .. })));
    let unclaimed = |s: &mut Statement| {
        s.wd = "strict".into();
        s.claims.invariant = false;
    };
    let why = asked(&unclaimed).expect_err("the guard of down has no value in the first state").to_string();
    assert!(why.contains("it is a part of the invariant that guards have values"), "{why}");
    let formula = |s: &mut Statement| {
        unclaimed(s);
        (s.claims.assertions, s.claims.formula) = (false, Some("G {n : 0..3}".into()));
    };
    let why = asked(&formula).expect_err("formulas are not read so").to_string();
    assert!(why.contains("it is a part of the invariant that guards have values"), "{why}");
    // In the default reading it is not, and nothing is missing.
    assert!(asked(&|s| s.claims.invariant = false).is_ok());
}
