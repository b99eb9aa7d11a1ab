//! The last words: what each process says when nothing is on its way any more, and what process 0 makes of it.
//!
//! Every process reports to process 0, which asks for the way to what was found, answers, and says so to all.

use super::flow::Flow;
use super::keep::Keep;
use super::link::Net;
use super::portable::Codec;
use super::{Said, Traffic};
use crate::checkpoint::course;
use crate::explore::keep::Course;
use crate::explore::others::Process;
use crate::explore::search::Explored;
use crate::explore::share::{All, Evidence, Nearest, Part};
use crate::explore::store::{Arriving, ROOT};
use crate::explore::{Counts, StateId, Store};
use crate::verdict::{Decision, Share, Together, Verdict, Why};
use kanon_checker::codec::Bytes;
use kanon_refinement::kernel::{Insertion, Rrac};
use serde_json::{Value, json};

/// What a process reports.
pub(super) struct Report {
    pub share: Share,
    course: Course,
    counts: Counts,
    why: Option<Why>,
    nearest: Option<Nearest>,
    traffic: Traffic,
    /// Everything that was received was looked up.
    is_whole: bool,
}

/// How a process's search has ended.
pub(super) struct End {
    pub flow: Flow,
    pub handed_on: Vec<u64>,
    pub received: Vec<u64>,
    /// Nothing of this depth was expanded.
    pub halt: Option<u64>,
    /// What others have said before.
    pub early: Vec<(Process, Value)>,
    /// Everything that was received was looked up.
    pub is_whole: bool,
}

/// Says the last words, and hears those of others.
///
/// # Errors
/// Why there is no end.
pub(super) fn words(
    part: &mut dyn Part,
    net: &Net,
    keep: &mut Keep,
    codec: Codec<'_>,
    end: End,
) -> Result<(Explored, Said), String> {
    let End { flow, handed_on, received, halt, early, is_whole } = end;
    let me = usize::from(net.me());
    let (bytes, frames) = net.sent();
    let closed = flow.closed();
    let evidence = part.evidence(halt);
    let traffic =
        Traffic { states: vec![part.progress().0 as u64], handed_on: handed_on.iter().sum(), bytes, frames };
    let Evidence { pass, complete, exact, found, counts, why } = evidence;
    let share = Share::of(me, pass, complete.as_ref(), exact, (handed_on, received), why.is_some());
    let operations = counts.operations.len();
    let course = Course { found, ..Course::default() };
    let report = Report { share, course, counts, why, nearest: part.nearest().cloned(), traffic, is_whole };
    if me > 0 {
        net.tell(0, &report.to_json().ok_or("what was found here cannot be told")?);
        return serve(part, net, keep, &codec);
    }
    let mut reports = vec![report];
    let mut early = early.into_iter();
    while reports.len() < net.processes() {
        let (from, word) = early.next().map_or_else(|| net.wait(), Ok)?;
        match word["say"].as_str() {
            Some("report") => {
                let report = Report::of_json(&word, operations)
                    .filter(|r| {
                        r.share.process == usize::from(from)
                            && reports.iter().all(|o| o.share.process != r.share.process)
                    })
                    .ok_or_else(|| format!("process {from} reports what nobody understands"))?;
                reports.push(report);
            }
            // Somebody has ended the search, which its report says, too.
            Some("end") => {}
            Some("share") => keep.told(from, &word),
            _ => return Err(format!("process {from} says what nobody understands: {word}")),
        }
    }
    reports.sort_by_key(|r| r.share.process);
    keep.finish(net);
    if keep.is_wanted() && may_go_on(&reports) {
        keep.last(part, net);
        while keep.is_waiting() {
            match net.wait()? {
                (from, word) if word["say"] == "share" => {
                    keep.told(from, &word);
                    keep.finish(net);
                }
                (_, word) if word["say"] == "end" => {}
                (from, word) => return Err(format!("process {from} says what nobody understands: {word}")),
            }
        }
    }
    let shares: Vec<Share> = reports.iter().map(|r| r.share.clone()).collect();
    let ended = Together::of(net.processes(), &shares, closed);
    let nearest = reports.iter().filter_map(|r| Some((r.share.process, r.nearest.clone()?)));
    let nearest = nearest.reduce(|a, b| if b.1.is_before(&a.1) { b } else { a });
    let mut path = part.no_states();
    let mut finding = None;
    if let Some((process, nearest)) = nearest {
        let mut found = nearest.finding;
        if let Some(state) = found.state {
            let last = rebuild(part, net, &codec, (process as Process, state), nearest.depth, &mut path)?;
            found.state = Some(last);
        }
        finding = Some(found);
    }
    let mut traffic = Traffic::default();
    reports.iter().for_each(|r| traffic.add(&r.traffic));
    let whys: Vec<Why> = reports.iter().filter_map(|r| r.why.clone()).collect();
    let why = whys.iter().find(|w| **w != Why::Interrupted).or(whys.first()).cloned();
    let mut all = All { found: Default::default(), counts: Counts::default(), why };
    for report in reports {
        add(&mut all, report);
    }
    all.found.finding = finding;
    let ended = match ended {
        Ok(together) => Some(crate::verdict::Ended::Together(together)),
        Err(why) => {
            // What was looked at, or could not be computed, says more.
            let is_told = all.found.limit.is_some() || all.found.truncated.is_some();
            if !is_told || why != Why::Starts {
                all.why.get_or_insert(why);
            }
            None
        }
    };
    let explored = part.conclude(all, ended, complete, path);
    let decision = explored.verdict.word();
    net.tell_all(&json!({"say": "bye", "verdict": decision.name()}));
    Ok((explored, Said { decision, traffic }))
}

/// Whether a search that was ended early can be taken up where it is: nothing that was handed on is missing anywhere.
fn may_go_on(reports: &[Report]) -> bool {
    let is_end = |why: &Why| matches!(why, Why::MaxStates(_) | Why::Interrupted);
    let adds_up = |s: &Share| {
        reports.iter().all(|r| {
            let sent = s.handed_on.get(r.share.process);
            sent.is_some() && sent == r.share.received.get(s.process)
        })
    };
    reports.iter().any(|r| r.why.is_some())
        && reports.iter().all(|r| r.is_whole && r.why.as_ref().is_none_or(is_end) && adds_up(&r.share))
}

/// No answer.
pub(super) fn none(part: &dyn Part, why: Why) -> Explored {
    let (states, transitions) = part.progress();
    Explored {
        verdict: Verdict::Unknown(why),
        counts: Counts { states, transitions, ..Counts::default() },
        finding: None,
        store: part.no_states(),
        reduction: None,
        is_complete: false,
        is_early: false,
    }
}

/// Answers process 0 until it has what it wants.
fn serve(
    part: &mut dyn Part,
    net: &Net,
    keep: &mut Keep,
    codec: &Codec<'_>,
) -> Result<(Explored, Said), String> {
    loop {
        let (from, word) = net.wait()?;
        match word["say"].as_str() {
            Some("ask") if from == 0 => {
                let state = word["state"].as_u64().and_then(|n| StateId::try_from(n).ok());
                let link = state.and_then(|state| part.link(state)).and_then(|(key, parent)| {
                    let mut form = vec![];
                    let parent = parent.map(|(process, state)| json!([process, state]));
                    codec
                        .write(&key, &mut form)
                        .then(|| json!({"say": "link", "key": hex(&form), "parent": parent}))
                });
                net.tell(0, &link.ok_or("process 0 asks for a state that is none")?);
            }
            Some("bye") if from == 0 => {
                let said = word["verdict"].as_str();
                let all = [Decision::Holds, Decision::Fails, Decision::Unknown];
                let decision = all.into_iter().find(|d| Some(d.name()) == said);
                let decision = decision.ok_or("process 0 has no answer")?;
                let why = Why::Processes("process 0 has the answer".into());
                return Ok((none(part, why), Said { decision, traffic: Traffic::default() }));
            }
            Some("keep") if from == 0 => keep.serve(part, net, &word),
            Some("end") => {}
            _ => return Err(format!("process {from} says what nobody understands: {word}")),
        }
    }
}

/// The way to a state, along the parents, wherever they are; its last state's number in the path.
fn rebuild(
    part: &mut dyn Part,
    net: &Net,
    codec: &Codec<'_>,
    last: (Process, StateId),
    depth: u64,
    path: &mut Store,
) -> Result<StateId, String> {
    let layout = part.layout();
    let (mut rows, mut at) = (vec![], Some(last));
    while let Some((process, state)) = at {
        if rows.len() as u64 > depth {
            return Err("the way to what was found is longer than it can be".into());
        }
        let missing = || format!("process {process} does not know state {state}");
        let key;
        (key, at) = if process == net.me() {
            let (key, parent) = part.link(state).ok_or_else(missing)?;
            (key.to_vec(), parent)
        } else {
            net.tell(process, &json!({"say": "ask", "state": state}));
            let link = loop {
                match net.wait()? {
                    (from, word) if from == process && word["say"] == "link" => break word,
                    (_, word) if word["say"] == "end" || word["say"] == "share" => {}
                    (from, word) => {
                        return Err(format!("process {from} says what nobody understands: {word}"));
                    }
                }
            };
            let form = link["key"].as_str().and_then(unhex).ok_or_else(missing)?;
            let (mut bytes, mut key) = (Bytes::new(&form), vec![]);
            codec.read(&mut bytes, &mut key).filter(|()| bytes.is_empty()).ok_or_else(missing)?;
            let parent = match &link["parent"] {
                Value::Null => None,
                parent => Some(
                    parent[0]
                        .as_u64()
                        .and_then(|n| Process::try_from(n).ok())
                        .zip(parent[1].as_u64().and_then(|n| StateId::try_from(n).ok()))
                        .ok_or_else(missing)?,
                ),
            };
            (key, parent)
        };
        rows.push(layout.unpack(&key).collect::<Vec<u64>>());
    }
    let mut parent = ROOT;
    for row in rows.iter().rev() {
        match path.insert_if_absent(Arriving { row, parent }) {
            Insertion::Inserted(id) => parent = id,
            Insertion::Present(_) => return Err("the way to what was found goes in a circle".into()),
        }
    }
    Ok(parent)
}

fn add(all: &mut All, report: Report) {
    let Report { course, counts: c, .. } = report;
    let found = course.found;
    let counts = &mut all.counts;
    counts.states += c.states;
    counts.transitions += c.transitions;
    counts.operations.resize(c.operations.len().max(counts.operations.len()), 0);
    counts.operations.iter_mut().zip(&c.operations).for_each(|(all, n)| *all += n);
    counts.initialisations += c.initialisations;
    counts.constants += c.constants;
    counts.deadlocks += c.deadlocks;
    counts.violations += c.violations;
    counts.assertion_failures += c.assertion_failures;
    counts.goals += c.goals;
    counts.wd_errors += c.wd_errors;
    counts.open += c.open;
    all.found.faults += found.faults;
    all.found.limit = all.found.limit.take().or(found.limit);
    all.found.truncated = all.found.truncated.or(found.truncated);
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}

fn unhex(text: &str) -> Option<Vec<u8>> {
    let digit = |b: u8| char::from(b).to_digit(16);
    let pairs = text.as_bytes().chunks(2).map(|pair| match pair {
        [high, low] => Some((digit(*high)? << 4 | digit(*low)?) as u8),
        _ => None,
    });
    pairs.collect()
}

impl Report {
    fn to_json(&self) -> Option<Value> {
        let Report { share, course, counts, why, nearest, traffic, is_whole } = self;
        let why = match why {
            None => Value::Null,
            Some(Why::MaxStates(n)) => json!({"states": n}),
            Some(Why::MaxMemory(n)) => json!({"memory": n}),
            Some(_) => json!({}),
        };
        Some(json!({
            "say": "report",
            "process": share.process,
            "passed": share.passed,
            "complete": share.complete,
            "exact": share.exact,
            "cut": share.is_cut,
            "handed_on": share.handed_on,
            "received": share.received,
            "course": course::write(course)?,
            "states": counts.states,
            "open": counts.open,
            "initialisations": counts.initialisations,
            "why": why,
            "nearest": nearest.as_ref().map(|n| json!({"depth": n.depth, "key": hex(&n.key)})),
            "bytes": traffic.bytes,
            "frames": traffic.frames,
            "whole": is_whole,
        }))
    }

    fn of_json(word: &Value, operations: usize) -> Option<Report> {
        let number = |name: &str| word[name].as_u64();
        let flag = |name: &str| word[name].as_bool();
        let numbers =
            |name: &str| word[name].as_array()?.iter().map(Value::as_u64).collect::<Option<Vec<u64>>>();
        let course = course::read(&word["course"], operations)?;
        let states = usize::try_from(number("states")?).ok()?;
        let counts = Counts {
            states,
            open: usize::try_from(number("open")?).ok()?,
            initialisations: number("initialisations")?,
            ..course.found.counts.clone()
        };
        let why = match &word["why"] {
            Value::Null => None,
            why => Some(match (why["states"].as_u64(), why["memory"].as_u64()) {
                (Some(n), _) => Why::MaxStates(usize::try_from(n).ok()?),
                (_, Some(n)) => Why::MaxMemory(n),
                _ => Why::Interrupted,
            }),
        };
        let nearest = match (&word["nearest"], &course.found.finding) {
            (Value::Null, None) => None,
            (nearest, Some(finding)) => Some(Nearest {
                depth: nearest["depth"].as_u64()?,
                key: unhex(nearest["key"].as_str()?)?,
                finding: finding.clone(),
            }),
            _ => return None,
        };
        let handed_on = numbers("handed_on")?;
        let traffic = Traffic {
            states: vec![states as u64],
            handed_on: handed_on.iter().sum(),
            bytes: number("bytes")?,
            frames: number("frames")?,
        };
        let share = Share {
            process: usize::try_from(number("process")?).ok()?,
            passed: flag("passed")?,
            complete: flag("complete")?,
            exact: flag("exact")?,
            handed_on,
            received: numbers("received")?,
            // Who gives a reason has ended early, whatever else it says.
            is_cut: flag("cut")? || why.is_some(),
        };
        let is_whole = flag("whole")?;
        Some(Report { share, course, counts, why, nearest, traffic, is_whole })
    }
}
