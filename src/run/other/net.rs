//! Petri nets: read, unfolded, and asked conditions over their markings.

use super::{About, Asked, Language, Loaded, Model, Reply};
use crate::lang::diag::{Diagnostic, SourceMap, Span};
use crate::model::open::Opened;
use crate::net::NetSystem;
use crate::net::action::Colours;
use crate::run::Deadline;
use crate::system::Check;
use kanon_pnml::condition::{self, Condition};
use kanon_pnml::read::read;
use kanon_pnml::symmetry::blocks;
use kanon_pnml::unfold::{Limits, Unfolded, unfold};
use std::path::Path;
use std::sync::Arc;

pub(super) fn open(
    sources: &mut SourceMap,
    file: &Path,
    asked: &Asked,
    deadline: &Deadline,
) -> Result<Box<dyn Model>, Diagnostic> {
    let id = sources.read(file).map_err(|message| {
        let id = sources.add(file, "");
        Diagnostic::error("N0100", Span::new(id, 0, 0), message)
    })?;
    let text = sources.get(id).map(|s| s.text.clone()).unwrap_or_default();
    let net = read(id, &text)?;
    let name = net.name.clone();
    let net = Arc::new(unfold(net, Limits::default(), &deadline.flag)?);
    let mut checks = vec![];
    if let Some(goal) = &asked.goal {
        checks.push((Check::goal(&**goal), condition(&net, sources, "--goal", goal)?));
    }
    for atom in asked.atoms() {
        let condition = condition(&net, sources, "formula", &atom)?;
        checks.push((Check::assertion(&*atom), condition));
    }
    let conditions: Vec<Condition> = checks.iter().map(|(_, c)| c.clone()).collect();
    let colours = Arc::new(Colours::of(&net, blocks(&net, &conditions)));
    let (permuted, fixed) = (colours.permuted(), colours.fixed());
    let about = About { language: Language::Net, name, permuted, fixed, notes: vec![] };
    let evaluated = net.clone();
    let evaluate = Box::new(move |sources: &mut SourceMap, text: &str| evaluate(&evaluated, sources, text));
    Ok(Box::new(Loaded {
        about,
        system: NetSystem::new(net, checks),
        action: Some(colours),
        alone: false,
        most: None,
        opened: Opened::default(),
        evaluate,
    }))
}

fn condition(
    net: &Unfolded,
    sources: &mut SourceMap,
    name: &str,
    text: &str,
) -> Result<Condition, Diagnostic> {
    condition::parse(net, sources.add(name, text), text)
}

fn evaluate(net: &Unfolded, sources: &mut SourceMap, text: &str) -> Result<Reply, Diagnostic> {
    let file = sources.add("expression", text);
    if let Ok(Some(sum)) = condition::parse_sum(net, file, text) {
        return Ok(Reply::Value(sum.value(&net.marking).to_string()));
    }
    Ok(Reply::Truth(condition::parse(net, file, text)?.holds(net, &net.marking)))
}
