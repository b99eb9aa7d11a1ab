//! What is written of a search beside its states, as JSON: counts, findings, what was left out, the root's place.

use crate::explore::keep::{Course, Place};
use crate::explore::{Counts, Finding, FindingKind};
use crate::lang::diag::{FileId, Span};
use crate::value::fault::{Fault, Wd, WdKind};
use serde_json::{Value, json};

/// As JSON; none if something in it has no form here.
pub fn write(course: &Course) -> Option<Value> {
    let Course { found, place, is_early, draws } = course;
    let c = &found.counts;
    let optional = |value: Option<Option<Value>>| match value {
        None => Some(Value::Null),
        Some(value) => value,
    };
    Some(json!({
        "transitions": c.transitions,
        "operations": c.operations,
        "deadlocks": c.deadlocks,
        "violations": c.violations,
        "assertion_failures": c.assertion_failures,
        "goals": c.goals,
        "wd_errors": c.wd_errors,
        "faults": found.faults,
        "finding": optional(found.finding.as_ref().map(finding))?,
        "limit": optional(found.limit.as_ref().map(|f| fault(f)))?,
        "truncated": found.truncated.map(span),
        "arrived": place.arrived,
        "since": place.since,
        "exploring": place.is_exploring,
        "over": place.is_over,
        "early": is_early,
        "draws": draws,
    }))
}

/// From JSON, for a system with so many operations; none if it is not what [`write`] writes.
pub fn read(value: &Value, operations: usize) -> Option<Course> {
    let number = |name: &str| value.get(name)?.as_u64();
    let flag = |name: &str| value.get(name)?.as_bool();
    let by_operation: Vec<u64> =
        value.get("operations")?.as_array()?.iter().map(Value::as_u64).collect::<Option<_>>()?;
    let counts = Counts {
        transitions: number("transitions")?,
        deadlocks: number("deadlocks")?,
        violations: number("violations")?,
        assertion_failures: number("assertion_failures")?,
        goals: number("goals")?,
        wd_errors: number("wd_errors")?,
        operations: Some(by_operation).filter(|all| all.len() == operations)?,
        ..Counts::default()
    };
    let mut course = Course {
        place: Place {
            arrived: number("arrived")?,
            since: usize::try_from(number("since")?).ok()?,
            is_exploring: flag("exploring")?,
            is_over: flag("over")?,
        },
        is_early: flag("early")?,
        draws: number("draws")?,
        ..Course::default()
    };
    course.found.counts = counts;
    course.found.faults = number("faults")?;
    course.found.finding = optional(value.get("finding")?, read_finding)?;
    course.found.limit = optional(value.get("limit")?, read_fault)?;
    course.found.truncated = optional(value.get("truncated")?, read_span)?;
    Some(course)
}

fn optional<T>(value: &Value, read: impl Fn(&Value) -> Option<T>) -> Option<Option<T>> {
    if value.is_null() { Some(None) } else { read(value).map(Some) }
}

fn span(s: Span) -> Value {
    json!([s.file.0, s.lo, s.hi])
}

fn read_span(value: &Value) -> Option<Span> {
    let number = |i: usize| u32::try_from(value.get(i)?.as_u64()?).ok();
    Some(Span { file: FileId(number(0)?), lo: number(1)?, hi: number(2)? })
}

fn fault(f: &Fault) -> Option<Value> {
    Some(match f {
        Fault::Wd(wd) => {
            let known = WdKind::ALL.contains(&wd.kind);
            known.then(|| json!({"code": wd.kind.describe().0, "at": span(wd.span), "values": wd.values}))?
        }
        Fault::Limit(at, why) => json!({"limit": why, "at": span(*at)}),
    })
}

fn read_fault(value: &Value) -> Option<Box<Fault>> {
    let at = read_span(value.get("at")?)?;
    if let Some(why) = value.get("limit") {
        return Some(Box::new(Fault::Limit(at, why.as_str()?.to_string())));
    }
    let code = value.get("code")?.as_str()?;
    let kind = WdKind::ALL.into_iter().find(|k| k.describe().0 == code)?;
    let values = optional(value.get("values")?, |v| Some(v.as_str()?.into()))?;
    Some(Box::new(Fault::Wd(Wd { kind, span: at, values })))
}

fn finding(f: &Finding) -> Option<Value> {
    let (mut place, mut operation, mut of_fault) = (None, None, Value::Null);
    match &f.kind {
        FindingKind::Invariant(i) | FindingKind::Assertion(i) => place = Some(*i),
        FindingKind::Deadlock | FindingKind::Goal => {}
        FindingKind::WellDefinedness { fault: f, operation: o } => {
            of_fault = fault(f)?;
            operation = *o;
        }
    }
    // No start at all is the largest number, which not every reader of JSON has.
    let start = Some(f.start).filter(|s| *s != usize::MAX);
    Some(json!({
        "kind": f.kind.name(),
        "place": place,
        "operation": operation,
        "fault": of_fault,
        "state": f.state,
        "start": start,
    }))
}

fn read_finding(value: &Value) -> Option<Finding> {
    let number = |name: &str| -> Option<Option<usize>> {
        optional(value.get(name)?, |v| usize::try_from(v.as_u64()?).ok())
    };
    let kind = match value.get("kind")?.as_str()? {
        "invariant" => FindingKind::Invariant(number("place")??),
        "assertion" => FindingKind::Assertion(number("place")??),
        "deadlock" => FindingKind::Deadlock,
        "goal" => FindingKind::Goal,
        "well-definedness" => FindingKind::WellDefinedness {
            fault: read_fault(value.get("fault")?)?,
            operation: number("operation")?,
        },
        _ => return None,
    };
    let state = match number("state")? {
        Some(id) => Some(u32::try_from(id).ok()?),
        None => None,
    };
    Some(Finding { kind, state, start: number("start")?.unwrap_or(usize::MAX) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::explore::keep::SoFar;

    #[test]
    fn what_is_written_is_read() {
        let at = Span { file: FileId(1), lo: 3, hi: 9 };
        let wd = |kind| Box::new(Fault::Wd(Wd { kind, span: at, values: Some("7".into()) }));
        let kinds = [
            FindingKind::Invariant(3),
            FindingKind::Assertion(0),
            FindingKind::Deadlock,
            FindingKind::Goal,
            FindingKind::WellDefinedness { fault: wd(WdKind::DivisionByZero), operation: Some(2) },
        ];
        for (i, kind) in kinds.into_iter().enumerate() {
            let finding = Finding { kind, state: Some(9).filter(|_| i != 2), start: usize::MAX };
            let course = Course {
                found: SoFar {
                    counts: Counts { operations: vec![5, 6], transitions: 11, ..Counts::default() },
                    finding: Some(finding),
                    faults: 8,
                    limit: Some(Box::new(Fault::Limit(at, "too many".into()))),
                    truncated: Some(at),
                },
                place: Place { arrived: 17, since: 4, is_exploring: i % 2 == 0, is_over: i % 2 == 1 },
                is_early: i == 1,
                draws: u64::MAX,
            };
            let written = write(&course).expect("a form");
            let text = written.to_string();
            let value: Value = serde_json::from_str(&text).expect("JSON");
            assert_eq!(read(&value, 2).as_ref(), Some(&course));
            assert_eq!(read(&value, 3), None, "another system");
        }
    }

    #[test]
    fn every_kind_of_fault_has_a_code_of_its_own() {
        let codes: std::collections::BTreeSet<&str> = WdKind::ALL.iter().map(|k| k.describe().0).collect();
        assert_eq!(codes.len(), WdKind::ALL.len());
        assert_eq!(codes.last(), Some(&"B0325"), "a new kind belongs into WdKind::ALL");
    }
}
