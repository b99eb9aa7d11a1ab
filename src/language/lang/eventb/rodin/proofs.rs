//! What Rodin says is proved: `.bpo` has the obligations, `.bps` their status, `.bpr` the proofs.
//!
//! An obligation counts as discharged only if all of them agree: confidence 1000, not broken, the status made for the
//! obligation as it is now (their stamps are equal), the obligation accurate, and (where the proofs are there) a proof of
//! confidence 1000 that is not broken. What is reviewed is not proved. That the sources were not edited since is for
//! [`super::built`] to say.

use super::component::Handles;
use super::handle;
use super::xml::{self, is_true, kind, value};
use crate::lang::ast::Name;
use crate::lang::composed::Obligation;
use crate::lang::diag::{Diagnostic, FileId};
use std::collections::HashMap;

/// The confidence of a proof without gaps.
const DISCHARGED: &str = "1000";

/// A file beside that of a component.
#[derive(Clone, Copy, Debug)]
pub struct Text<'t> {
    pub text: &'t str,
    pub file: FileId,
}

/// The obligations of a component, in the order of its `.bpo`.
pub fn read(
    component: &Name,
    obligations: Text<'_>,
    statuses: Option<Text<'_>>,
    proofs: Option<Text<'_>>,
    handles: &Handles,
    diags: &mut Vec<Diagnostic>,
) -> Vec<Obligation> {
    let mut parsed = |t: Text<'_>| -> Option<Vec<(String, bool, String)>> {
        let document = xml::parse(t.text, t.file).map_err(|e| diags.push(weaker(e))).ok()?;
        let element = |n: &roxmltree::Node<'_, '_>| {
            let is_sure = value(n, "confidence") == Some(DISCHARGED) && !is_true(n, "psBroken");
            let name = n.attribute("name").unwrap_or_default().to_string();
            (name, is_sure, value(n, "poStamp").unwrap_or_default().to_string())
        };
        let root = document.root_element();
        let wanted = |n: &roxmltree::Node<'_, '_>| matches!(kind(n), Some("psStatus" | "prProof"));
        Some(root.children().filter(wanted).map(|n| element(&n)).collect())
    };
    let statuses = statuses.and_then(&mut parsed).unwrap_or_default();
    let proofs = proofs.map(|t| parsed(t).unwrap_or_default());
    let statuses = by_name(statuses);
    let proofs = proofs.map(by_name);
    let document = match xml::parse(obligations.text, obligations.file) {
        Ok(document) => document,
        Err(e) => {
            diags.push(weaker(e));
            return vec![];
        }
    };
    let mut found = vec![];
    let sequents = || document.root_element().children().filter(|n| kind(n) == Some("poSequent"));
    let mut times: HashMap<&str, usize> = HashMap::new();
    sequents().filter_map(|n| n.attribute("name")).for_each(|name| *times.entry(name).or_default() += 1);
    for sequent in sequents() {
        let name = sequent.attribute("name").unwrap_or_default();
        let stamp = value(&sequent, "poStamp").unwrap_or_default();
        let mut about = vec![];
        let mut is_known = true;
        for source in sequent.children().filter(|n| kind(n) == Some("poSource")) {
            match handles.get(&handle::read(value(&source, "source").unwrap_or_default())) {
                Some((kind, label, event)) => {
                    about.push((kind.clone(), label.clone()));
                    if let ("guard", Some(event)) = (&**kind, event) {
                        about.push(("event".into(), event.clone()));
                    }
                }
                None => is_known = false,
            }
        }
        // Without a stamp nobody knows which obligation a status is of, nor with two of one name.
        let is_one = times.get(name) == Some(&1) && !stamp.is_empty();
        let is_proved = is_one && statuses.get(name).is_some_and(|(is_sure, of)| *is_sure && of == stamp);
        let has_proof = proofs.as_ref().is_none_or(|p| p.get(name).is_some_and(|(is_sure, _)| *is_sure));
        let is_accurate = value(&sequent, "accurate") != Some("false");
        found.push(Obligation {
            component: component.clone(),
            what: value(&sequent, "poDesc").unwrap_or_default().into(),
            sequent: rodins(name).into(),
            about,
            is_discharged: is_known && is_proved && has_proof && is_accurate,
        });
    }
    found
}

/// The name of a sequent if it is one of Rodin's, which end with what is to be proved: `e/inv1/INV`. What we write for
/// others ends with a number.
fn rodins(name: &str) -> &str {
    let last = name.rsplit('/').next().unwrap_or_default();
    if !last.is_empty() && last.chars().all(|c| c.is_ascii_uppercase()) { name } else { "" }
}

/// Of two elements of one name neither is believed.
fn by_name(all: Vec<(String, bool, String)>) -> HashMap<String, (bool, String)> {
    let mut found: HashMap<String, (bool, String)> = HashMap::new();
    for (name, is_sure, stamp) in all {
        let entry = found.entry(name);
        entry.and_modify(|(sure, _)| *sure = false).or_insert((is_sure, stamp));
    }
    found
}

/// A model can be checked without its proofs.
fn weaker(e: Diagnostic) -> Diagnostic {
    let message = format!("{}; what it says about proofs is not known", e.message);
    Diagnostic { severity: crate::lang::diag::Severity::Warning, message, ..e }
}
