//! Whether a statement fits the files: the model is read at its sizes, and compared with what it says.

use crate::reject::Rejected;
use crate::statement::{File, Goal, Statement};
use kanon_language::lang::diag::{FileId, SourceMap};
use kanon_language::model::open::{Opened, open};
use kanon_language::model::reading::Reading;
use kanon_language::model::scope::ScopeArgs;
use kanon_language::model::{Expr, Model, SetId};
use kanon_semantics::plain::Scope;
use num_bigint::BigInt;
use std::collections::BTreeMap;
use std::path::Path;

pub(crate) const STRICT: &str =
    "read from left to right, it is a part of the invariant that guards have values, and that is not claimed";

/// The model at the sizes of the statement, and of the files that it names.
///
/// # Errors
/// What does not fit.
pub fn opened(path: &Path, statement: &Statement) -> Result<Opened, Rejected> {
    let reading = Reading::ALL.into_iter().find(|r| r.name() == statement.wd);
    let reading = reading.ok_or(Rejected::Field("wd"))?;
    // There it stands in the model that guards have values. A formula is not read so at all.
    if reading == Reading::Strict && statement.claims.formula.is_none() && !statement.claims.invariant {
        return Err(Rejected::Statement(STRICT));
    }
    let opened = opened_at(path, &statement.sets, (&statement.minint, &statement.maxint), reading)?;
    if opened.model.name.as_ref() != statement.machine {
        return Err(Rejected::OtherFiles(format!("the machine is {}", opened.model.name)));
    }
    let files = files(&opened.sources);
    if files != statement.files {
        let other = files.iter().find(|f| !statement.files.contains(f));
        let name = other.or(statement.files.iter().find(|f| !files.contains(f))).map(|f| f.name.as_str());
        let what = name.map_or("they come in another order".into(), |n| format!("{n} is not the same"));
        return Err(Rejected::OtherFiles(what));
    }
    Ok(opened)
}

/// The model at these sizes, all of it.
pub(crate) fn opened_at(
    path: &Path,
    sets: &[(String, u64)],
    (minint, maxint): (&BigInt, &BigInt),
    reading: Reading,
) -> Result<Opened, Rejected> {
    let args = |card| ScopeArgs {
        card,
        minint: Some(minint.clone()),
        maxint: Some(maxint.clone()),
        setsize: None,
        reading,
    };
    let refused = |r: kanon_language::model::open::Refused| {
        let first = r.diagnostics.iter().find(|d| d.is_error()).or(r.diagnostics.first());
        Rejected::Model(first.map_or("it cannot be read".into(), |d| d.message.clone()))
    };
    // Only deferred sets can be given a size, and which ones these are the model says.
    let loaded = kanon_language::model::load::load(path);
    let Some(model) = &loaded.model else {
        let first = loaded.diagnostics.iter().find(|d| d.is_error());
        return Err(Rejected::Model(first.map_or("it cannot be read".into(), |d| d.message.clone())));
    };
    let is_deferred = |name: &str| model.sets.iter().any(|s| &*s.name == name && s.elements.is_none());
    let card = sets.iter().filter(|(name, _)| is_deferred(name)).cloned().collect();
    let opened = open(path, &args(card)).map_err(refused)?;
    if let Some(left) = opened.model.left_out.first() {
        return Err(Rejected::Model(format!("a part of it is not in the model: {}", left.text)));
    }
    let sizes = sizes(&opened.model, &opened.scope);
    let sorted = |sets: &[(String, u64)]| sets.iter().cloned().collect::<BTreeMap<String, u64>>();
    if sizes.len() != sets.len() || sorted(&sizes) != sorted(sets) {
        let what = sizes.iter().find(|s| !sets.contains(s));
        let what = what.map_or("the sets differ".to_string(), |(name, n)| format!("{name} has {n} elements"));
        return Err(Rejected::OtherScope(what));
    }
    if (&opened.scope.minint, &opened.scope.maxint) != (minint, maxint) {
        return Err(Rejected::OtherScope("MININT or MAXINT".into()));
    }
    Ok(opened)
}

/// The texts that were read, in the order of reading.
pub fn files(sources: &SourceMap) -> Vec<File> {
    let mut files = vec![];
    while let Some(source) = sources.get(FileId(files.len() as u32)) {
        let name = source.path.file_name().map(|n| n.to_string_lossy().into_owned());
        files.push(File::of(&name.unwrap_or_default(), &source.text));
    }
    files
}

/// The given sets with their sizes.
pub fn sizes(model: &Model, scope: &Scope) -> Vec<(String, u64)> {
    model.sets.iter().zip(&scope.card).map(|(s, n)| (s.name.to_string(), *n)).collect()
}

/// What the statement claims to be false everywhere.
///
/// # Errors
/// There is no such goal.
pub fn goal(opened: &mut Opened, statement: &Statement) -> Result<Option<Expr>, Rejected> {
    match (statement.claims.goal, &statement.claims.goal_text) {
        (Goal::Given, Some(text)) => match opened.predicate("goal", text) {
            Ok(p) => Ok(Some(p)),
            Err(d) => Err(Rejected::Model(d.first().map_or("the goal".into(), |d| d.message.clone()))),
        },
        (Goal::Model, _) => match &opened.model.goal {
            Some(p) => Ok(Some(p.clone())),
            None => Err(Rejected::Statement("the model has no GOAL")),
        },
        _ => Ok(None),
    }
}

/// The sets whose elements witnesses rename, in the order of the statement.
pub(crate) fn sets(model: &Model, statement: &Statement) -> Result<Vec<SetId>, Rejected> {
    let find = |name: &String| model.set_named(name).ok_or_else(|| Rejected::NoSet(name.clone()));
    statement.symmetry.iter().map(find).collect()
}
