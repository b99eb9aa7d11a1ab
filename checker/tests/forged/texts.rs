//! Models that are changed after their certificate was written.

use crate::liar::{Claim, EFFORT, Files, Liar, statement};
use kanon_checker::check;
use kanon_checker::check::Part;
use kanon_language::model::load::with_large_stack;
use kanon_language::model::open::open;
use kanon_language::model::scope::ScopeArgs;
use std::path::Path;

/// Texts of ours that are changed after the certificate was written, with names and hashes put right: what is accepted is
/// true of the text as it is then.
#[test]
fn changed_texts_are_accepted_only_if_they_are_true() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the workspace").join("models");
    let mut texts = vec![];
    for folder in ["demo", "lang", "papers", "ltl", "symbolic"] {
        let all = std::fs::read_dir(root.join(folder)).into_iter().flatten();
        let all =
            all.filter_map(|e| Some(e.ok()?.path())).filter(|p| p.extension().is_some_and(|e| e == "mch"));
        texts.extend(all.filter(|p| std::fs::metadata(p).is_ok_and(|m| m.len() < 2_500)));
    }
    texts.sort();
    let cases: usize = std::env::var("KANON_FORGED").ok().and_then(|n| n.parse().ok()).unwrap_or(2);
    let counts = with_large_stack(|| texts.iter().map(|path| changed_texts(path, cases)).collect::<Vec<_>>());
    let counts = counts.expect("a thread");
    let sum = |i: usize| counts.iter().map(|c| c[i]).sum::<usize>();
    let [accepted, rejected, wrong, undecided] = [0, 1, 2, 3].map(sum);
    println!("{accepted} accepted, {rejected} rejected, {wrong} of them false; {undecided} not decided");
    let are_many = accepted > 30 && rejected > 30 && wrong > 15;
    assert!(are_many, "{accepted} accepted, {rejected} rejected, {wrong} of them false");
}

/// How many are accepted; how many rejected; of how many of these the claim is false; how many are not decided.
fn changed_texts(path: &Path, cases: usize) -> [usize; 4] {
    const CHANGES: [(&str, &str); 22] = [
        ("<=", "<"),
        (" < ", " <= "),
        (" > ", " >= "),
        ("+", "-"),
        ("- ", "+ "),
        ("TRUE", "FALSE"),
        ("FALSE", "TRUE"),
        (" & ", " or "),
        ("/=", "="),
        (" = ", " /= "),
        ("/:", ":"),
        ("\\/", "/\\"),
        ("0", "1"),
        ("1", "2"),
        ("2", "1"),
        ("3", "2"),
        ("4", "5"),
        ("SELECT", "PRE"),
        ("{}", "{0}"),
        ("-->", "+->"),
        ("<:", "<<:"),
        ("card(", "1 + card("),
    ];
    let mut found = [0; 4];
    let Ok(text) = std::fs::read_to_string(path) else { return found };
    let args = ScopeArgs { setsize: Some(2), ..ScopeArgs::default() };
    let Ok(opened) = open(path, &args) else { return found };
    if opened.sources.get(kanon_language::lang::diag::FileId(1)).is_some() {
        return found;
    }
    let mut liar = Liar::new(&opened, None, None);
    if liar.starts.is_empty() || liar.starts.len() > 50 || liar.perms.len() > 100 || !liar.explore() {
        return found;
    }
    let places: Vec<(usize, &str, &str)> = CHANGES
        .iter()
        .flat_map(|(from, to)| text.match_indices(from).map(move |(at, _)| (at, *from, *to)))
        .collect();
    let name = path.file_name().expect("a name").to_string_lossy();
    let files_here = Files::new(&format!("text-{name}"), &[]);
    let other = files_here.0.join(&*name);
    let mut seed = text.len() as u64;
    for _ in 0..cases.min(places.len()) {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let (at, from, to) = places[(seed >> 33) as usize % places.len()];
        std::fs::write(&other, format!("{}{to}{}", &text[..at], &text[at + from.len()..])).expect("a file");
        let Ok(changed) = open(&other, &args) else { continue };
        // The proof is the old one, the statement what the new one has to be.
        let mut claimed = statement(&changed, &Claim::States);
        (claimed.valuations, claimed.states) = (liar.starts.len() as u64, liar.stored.len() as u64);
        let bytes = liar.certificate(&claimed);
        let answer = check(&other, &mut || Ok(&bytes[..]), Part::WHOLE, EFFORT);
        let is_true = Liar::new(&changed, None, None).is_true();
        match answer {
            Ok(a) if a.relative.is_empty() => {
                assert_eq!(is_true, Some(true), "{name}: {from} becomes {to} at {at}");
                found[0] += 1;
            }
            Err(why) if !why.is_undecided() => {
                found[1] += 1;
                found[2] += usize::from(is_true == Some(false));
            }
            _ => found[3] += 1,
        }
    }
    found
}
