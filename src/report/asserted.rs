//! What a CSP-M script asserts, and whether it is so.

use super::{diagnostic, json};
use crate::run::csp::{Answer, Asserted, Claim, Violated};
use serde_json::{Map, Value, json};

/// A line for each assertion, and why under it.
pub fn text(asserted: &Asserted, colour: bool) -> String {
    asserted.claims.iter().map(|c| claim(c, asserted, colour)).collect()
}

fn claim(c: &Claim, asserted: &Asserted, colour: bool) -> String {
    let head = format!("{}: {}", asserted.sources.place(c.span), c.text);
    match &c.answer {
        Answer::Holds { states: Some(1), .. } => format!("{head}\n  holds (1 state)\n"),
        Answer::Holds { states: Some(n), .. } => format!("{head}\n  holds ({n} states)\n"),
        Answer::Holds { because: Some(found), .. } => format!("{head}\n  holds\n{}", why(found)),
        Answer::Holds { .. } => format!("{head}\n  holds\n"),
        Answer::Fails(Some(found)) => format!("{head}\n  fails\n{}", why(found)),
        Answer::Fails(None) => format!("{head}\n  fails: what it says is not so is so\n"),
        Answer::Unknown(d) => {
            format!("{head}\n  unknown\n{}", diagnostic::render(d, &asserted.sources, colour))
        }
    }
}

fn why(found: &Violated) -> String {
    format!("    after <{}>\n    {}: {}\n", found.trace.join(", "), found.kind, found.what)
}

/// For programs.
pub fn json(asserted: &Asserted) -> Value {
    let one = |c: &Claim| {
        let mut o = Map::new();
        o.insert("assertion".into(), c.text.clone().into());
        json::place(&asserted.sources, c.span, &mut o);
        let (verdict, found) = match &c.answer {
            Answer::Holds { because, .. } => ("holds", because.as_ref()),
            Answer::Fails(found) => ("fails", found.as_ref()),
            Answer::Unknown(_) => ("unknown", None),
        };
        o.insert("verdict".into(), verdict.into());
        if let Answer::Holds { states: Some(n), .. } = &c.answer {
            o.insert("states".into(), (*n).into());
        }
        if let Some(found) = found {
            o.insert("kind".into(), found.kind.into());
            o.insert("trace".into(), found.trace.clone().into());
            o.insert("why".into(), found.what.clone().into());
        }
        if let Answer::Unknown(d) = &c.answer {
            o.insert("why".into(), d.message.clone().into());
        }
        Value::Object(o)
    };
    let any = |wanted: &str| {
        asserted.claims.iter().any(|c| match &c.answer {
            Answer::Holds { .. } => wanted == "holds",
            Answer::Fails(_) => wanted == "fails",
            Answer::Unknown(_) => wanted == "unknown",
        })
    };
    let verdict = ["fails", "unknown"].into_iter().find(|v| any(v)).unwrap_or("holds");
    let assertions: Vec<Value> = asserted.claims.iter().map(one).collect();
    json!({ "verdict": verdict, "language": "CSP-M", "assertions": assertions })
}
