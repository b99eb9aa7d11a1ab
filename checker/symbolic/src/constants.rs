//! That PROPERTIES have no other valuations than those that a certificate of states lists: what `kanon-checker` believes
//! where its evaluator gives up. The listed ones it has evaluated itself, so two questions are left. Neither may have a
//! model: PROPERTIES have no value for some constants; they are true of constants that are not listed.

use crate::argument::Question;
use crate::check::{Rejected, Unread, refutation};
use kanon_checker::check::{Accepted, Constants, Effort, Part, opened};
use kanon_checker::codec::Bytes;
use kanon_checker::container::{Kind, Reader};
use kanon_checker::statement::Statement;
use kanon_language::model::reading::Reading;
use kanon_language::model::{ConstId, Expr, Model};
use kanon_semantics::plain::Scope;
use kanon_symbolic::symbolic::decode;
use kanon_symbolic::symbolic::encode::{Limits, Mutant, Slot};
use kanon_symbolic::symbolic::solve::{Encoded, Problem};
use std::io::Read;
use std::path::Path;

/// A certificate of states that `kanon-checker` accepts.
#[derive(Debug)]
pub struct AcceptedStates {
    /// It is relative to nothing any more if [`AcceptedStates::refuted`] is there.
    pub accepted: Accepted,
    /// Clauses and steps of the refutation of other valuations, if there is one and it was needed.
    pub refuted: Option<(u64, u64)>,
}

/// Checks a certificate of states as `kanon-checker` does, and what it believes of the constants, if the file has the
/// proof of that.
///
/// # Errors
/// The first thing that is wrong.
pub fn check_states<R: Read>(
    model: &Path,
    certificate: &mut dyn FnMut() -> std::io::Result<R>,
    effort: Effort,
) -> Result<AcceptedStates, Rejected> {
    let mut accepted = kanon_checker::check(model, certificate, Part::WHOLE, effort)?;
    if accepted.relative.is_empty() {
        return Ok(AcceptedStates { accepted, refuted: None });
    }
    let unreadable = |why: String| Rejected::Form(kanon_checker::Rejected::Unreadable(why));
    let (reader, text) = Reader::new(certificate().map_err(|e| unreadable(e.to_string()))?)?;
    if Statement::read(&text)? != accepted.statement {
        return Err(unreadable("it has changed between two readings".into()));
    }
    let mut unread = Unread::new(reader);
    unread.advance()?;
    while unread.is_before_questions() {
        unread.advance()?;
    }
    if unread.chunk.is_none() {
        return Ok(AcceptedStates { accepted, refuted: None });
    }
    let opened = opened(model, &accepted.statement)?;
    if accepted.statement.wd != Reading::Kleene.name() {
        return Err(Rejected::NoFormula("formulas follow the default reading of undefined terms".into()));
    }
    let (encoded, questions) =
        no_others(&opened.model, &opened.scope, &accepted.constants, Limits::default())?;
    let (mut clauses, mut steps) = (0, 0);
    for q in &questions {
        let Some((number, Kind::Question, content)) = unread.chunk.take() else {
            return Err(Rejected::Missing { question: q.name.clone() });
        };
        let mut bytes = Bytes::new(&content);
        let malformed = Rejected::Malformed { chunk: number, why: "a question is not written as one" };
        let width = bytes.number().and_then(|n| usize::try_from(n).ok()).ok_or(malformed)?;
        if width == 0 {
            return Err(Rejected::NoRefutation { question: q.name.clone() });
        }
        let (c, s) = refutation(&encoded.encoder.terms, q, width, (number, &mut bytes), &mut unread)?;
        clauses += c;
        steps += s;
    }
    if unread.chunk.is_some() {
        return Err(Rejected::TooMany);
    }
    accepted.relative.clear();
    Ok(AcceptedStates { accepted, refuted: Some((clauses, steps)) })
}

/// PROPERTIES as formulas, and the two questions: the same for whoever writes a certificate and for whoever checks it.
///
/// # Errors
/// What has no formula.
pub fn no_others<'m>(
    model: &'m Model,
    scope: &'m Scope,
    listed: &[Constants],
    limits: Limits,
) -> Result<(Encoded<'m>, [Question; 2]), Rejected> {
    let problem = Problem {
        model,
        scope,
        slots: (0..model.constants.len()).map(|i| Slot::Const(ConstId(i as u32))).collect(),
        preds: model.properties.iter().flat_map(Expr::conjuncts).collect(),
        span: model.properties.first().map(|p| p.span).unwrap_or_default(),
    };
    let mut encoded =
        problem.encode(limits, Mutant::None).map_err(|refused| Rejected::NoFormula(refused.why.clone()))?;
    // Then what was left out need not make a conjunct false.
    if encoded.encoder.has_partial_hulls {
        let why = "PROPERTIES bound a constant by what may have no value";
        return Err(Rejected::NoFormula(why.into()));
    }
    let terms = &mut encoded.encoder.terms;
    let mut claims = encoded.claims.clone();
    for values in listed {
        let mut same = vec![];
        for (shape, value) in encoded.shapes.iter().zip(values) {
            let is = value.as_ref().and_then(|v| decode::is(terms, &shape.sym, v));
            same.push(is.ok_or_else(|| Rejected::NoFormula("a constant is not listed".into()))?);
        }
        let is_this = terms.and(same);
        claims.push(!is_this);
    }
    let questions = [
        Question { name: "PROPERTIES have a value".into(), claims: vec![encoded.undefined] },
        Question { name: "PROPERTIES have no other valuations".into(), claims },
    ];
    Ok((encoded, questions))
}
