//! The questions of the page. Each is a POST with a JSON object and has a JSON object as its answer; an answer with `error`
//! says what went wrong.

use super::http::{Request, Response};
use super::job::{Job, Subject, Work};
use super::limits::lock;
use super::other::{self, Other, Way};
use super::shape;
use super::tabs::{Opened, Tab, Tabs};
use crate::animate::{From, Limits, Place, Session};
use crate::explore::{Options, Order, memory};
use crate::lang::diag::FileId;
use crate::model::open::Refused;
use crate::report::animated;
use crate::run::Deadline;
use crate::symmetry::Strategy;
use serde_json::{Value as Json, json};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

/// Random steps at once.
const MAX_STEPS: usize = 10_000;
/// Steps of a link.
const MAX_ADDRESS: usize = 100_000;
/// States that are drawn.
const MAX_DRAWN: usize = 5_000;
/// Places of a history.
const MAX_PLACES: usize = 200_000;
/// Evaluations that do not end, before nothing is begun any more.
const MAX_STUCK: usize = 4;
/// How often memory is looked at, and how long an evaluation may take to notice that its time is over.
const LOOK: Duration = Duration::from_millis(100);
const PATIENCE: Duration = Duration::from_secs(3);

pub fn answer(tabs: &Arc<Tabs>, question: &str, request: &Request) -> Response {
    if request.method != "POST" {
        return Response::refused(405, "questions are posted");
    }
    // Forms of other pages cannot send this type without asking first, and we do not allow them.
    let kind = request.content_type.as_deref().and_then(|t| t.split(';').next());
    if kind != Some("application/json") {
        return Response::refused(415, "questions are JSON");
    }
    let Ok(asked) = serde_json::from_slice::<Json>(&request.body) else {
        return Response::refused(400, "this is no JSON");
    };
    let answered = guarded(tabs, question, asked);
    match answered {
        Ok(answer) => Response::json(200, &answer),
        Err(Wrong::Unknown) => Response::refused(404, "there is no such question"),
        Err(Wrong::NoTab) => Response::json(200, &json!({ "error": "this session is over", "gone": true })),
        Err(Wrong::Stuck) => {
            let why = "a single evaluation does not end: this session is given up";
            Response::json(200, &json!({ "error": why, "gone": true }))
        }
        Err(Wrong::Said(why)) => Response::json(200, &json!({ "error": why })),
    }
}

/// Answers in a thread of its own, so that the page hears something whatever the question leads to: memory is looked at
/// meanwhile, and a tab whose evaluation does not end when it is told to is given up.
fn guarded(tabs: &Arc<Tabs>, question: &str, asked: Json) -> Result<Json, Wrong> {
    let is_full = || memory::used().is_some_and(|used| used > tabs.limits.memory);
    if is_full() && !matches!(question, "job" | "stop" | "changed" | "texts") {
        return Err(Wrong::Said("the limit of memory is reached: close other tabs, or stop a check".into()));
    }
    let stuck = tabs.stuck.clone();
    if stuck.load(Ordering::Relaxed) >= MAX_STUCK {
        return Err(Wrong::Said("too many evaluations do not end: start the program again".into()));
    }
    let name = asked.get("tab").and_then(Json::as_str).map(String::from);
    let deadline = Arc::new(Deadline::after(Some(tabs.limits.time)));
    let (tell, told) = channel();
    let (shared, flag, what) = (tabs.clone(), deadline.clone(), question.to_string());
    // Whichever of the two is second undoes the counting: it is counted while it runs and nobody waits for it.
    let left = Arc::new(AtomicBool::new(false));
    let is_left = left.clone();
    let started = crate::lang::stack::thread().spawn(move || {
        let answered = catch_unwind(AssertUnwindSafe(|| ask(&shared, &what, &asked, &flag)));
        let answered =
            answered.unwrap_or_else(|_| Err(Wrong::Said("internal error, please report it".into())));
        let _ = tell.send(answered);
        if is_left.swap(true, Ordering::AcqRel) {
            shared.stuck.fetch_sub(1, Ordering::Relaxed);
        }
    });
    started.map_err(|e| Wrong::Said(format!("cannot start a thread: {e}")))?;
    let begun = Instant::now();
    loop {
        match told.recv_timeout(LOOK) {
            Ok(answered) => return answered,
            Err(RecvTimeoutError::Disconnected) => return Err(Wrong::Stuck),
            Err(RecvTimeoutError::Timeout) => {}
        }
        if is_full() {
            deadline.flag.store(true, Ordering::Relaxed);
        }
        if begun.elapsed() > tabs.limits.time + PATIENCE {
            stuck.fetch_add(1, Ordering::Relaxed);
            if left.swap(true, Ordering::AcqRel) {
                // It has ended just now.
                stuck.fetch_sub(1, Ordering::Relaxed);
            }
            if let Some(name) = name {
                tabs.give_up(&name);
            }
            return Err(Wrong::Stuck);
        }
    }
}

enum Wrong {
    Unknown,
    NoTab,
    /// It does not end.
    Stuck,
    Said(String),
}

impl std::convert::From<String> for Wrong {
    fn from(why: String) -> Wrong {
        Wrong::Said(why)
    }
}

impl std::convert::From<Refused> for Wrong {
    fn from(refused: Refused) -> Wrong {
        Wrong::Said(animated::words(&refused.diagnostics))
    }
}

fn text<'j>(asked: &'j Json, key: &str) -> Result<&'j str, Wrong> {
    asked.get(key).and_then(Json::as_str).ok_or_else(|| Wrong::Said(format!("`{key}` is missing")))
}

fn number(asked: &Json, key: &str) -> Result<usize, Wrong> {
    let n = asked.get(key).and_then(Json::as_u64).and_then(|n| usize::try_from(n).ok());
    n.ok_or_else(|| Wrong::Said(format!("`{key}` is missing")))
}

fn ask(tabs: &Tabs, question: &str, asked: &Json, deadline: &Deadline) -> Result<Json, Wrong> {
    if question == "begin" {
        let (name, tab) = tabs.begin();
        let mut tab = lock(&tab);
        let wanted = asked.get("model").and_then(Json::as_str).map(String::from);
        let model = wanted.or_else(|| tabs.models.first()).ok_or("there is no model here".to_string())?;
        tab.open(tabs, &model, deadline)?;
        let mut view = shape::view(&mut tab, &tabs.models, &deadline.flag);
        (view["tab"], view["models"]) = (name.into(), tabs.models.list().into());
        return Ok(view);
    }
    let tab = tabs.find(text(asked, "tab")?).ok_or(Wrong::NoTab)?;
    let mut tab = lock(&tab);
    let mut said = None;
    match question {
        "view" => {}
        "open" => tab.open(tabs, text(asked, "model")?, deadline)?,
        "reload" => said = tab.reopen(tabs, deadline)?,
        // The page asks now and then.
        "changed" => {
            let changed = match (&tab.refused, &tab.opened) {
                (Some(refused), _) => is_changed(&tab.model, refused, tabs),
                (None, opened) => opened.as_ref().is_some_and(Opened::is_stale),
            };
            return Ok(json!({ "changed": changed }));
        }
        "texts" => return Ok(texts(&tab, tabs)),
        "job" => return job(tab.job.as_ref(), asked, tabs),
        "check" | "ltl" | "compare" => return start(&mut tab, tabs, question, asked),
        "stop" => {
            if let Some(job) = &tab.job {
                job.stop();
            }
            return Ok(json!({}));
        }
        _ => match animate(&mut tab, question, asked, deadline, tabs.limits.time)? {
            Done::Moved(words) => said = words,
            Done::Answered(answer) => return Ok(answer),
        },
    }
    let mut view = shape::view(&mut tab, &tabs.models, &deadline.flag);
    view["said"] = said.into();
    Ok(view)
}

/// What a question of the animator leads to.
enum Done {
    /// The view is told again, with a word.
    Moved(Option<String>),
    Answered(Json),
}

fn animate(
    tab: &mut Tab,
    question: &str,
    asked: &Json,
    deadline: &Deadline,
    time: Duration,
) -> Result<Done, Wrong> {
    let stop = &deadline.flag;
    let way = tab.job.as_ref().and_then(Job::way);
    let opened = tab.opened.as_mut().ok_or("the model has errors".to_string())?;
    let arguments = || -> Vec<String> {
        let all = asked.get("arguments").and_then(Json::as_array).into_iter().flatten();
        all.filter_map(Json::as_str).map(String::from).collect()
    };
    let mut said = None;
    let moves = ["step", "call", "random", "link", "seek", "click", "load", "walk", "node"];
    let session = opened.animated();
    if moves.contains(&question) && session.places() > MAX_PLACES {
        return Err(Wrong::Said("the history is full: open the model again".into()));
    }
    match question {
        "step" => {
            let choice = number(asked, "choice")?;
            session.step(choice, stop).ok_or("this step is not possible".to_string())?;
        }
        "call" => {
            let choice = session.find(text(asked, "operation")?, &arguments(), stop)?;
            session.step(choice, stop);
        }
        "undo" => drop(session.undo()),
        "redo" => drop(session.redo()),
        "go" => {
            let place = asked.get("place").and_then(Json::as_u64).map(|p| Place(p as usize));
            if !session.go(place) {
                return Err(Wrong::Said("there is no such state in the history".into()));
            }
        }
        "random" => {
            let steps = number(asked, "steps")?.min(MAX_STEPS);
            let seed = asked.get("seed").and_then(Json::as_u64).unwrap_or(0);
            let (taken, end) = session.random(steps, seed, stop);
            said = Some(animated::wandered(taken, end));
        }
        "link" => {
            let address = text(asked, "address")?;
            if address.len() > MAX_ADDRESS {
                return Err(Wrong::Said("the link is too long".into()));
            }
            session.go_to(address, stop)?;
        }
        "seek" => {
            let from = if asked["start"] == true { From::Start } else { From::Here };
            let limits = Limits { time, ..Limits::default() };
            let found = session.seek(text(asked, "text")?, from, limits, stop)?;
            said = Some(animated::sought(&found));
        }
        "watch" => session.watch(text(asked, "text")?)?,
        "unwatch" => drop(session.unwatch(number(asked, "index")?)),
        "load" => {
            let loaded = session.load(text(asked, "text")?, stop)?;
            said = Some(animated::loaded(&loaded));
        }
        "walk" => {
            let way = way.ok_or("there is no counterexample".to_string())?;
            said = match (&mut *opened, &way) {
                (Opened::Machine(session), Way::Trace(trace)) => session.follow(trace, stop).failure,
                (Opened::Other(other), Way::Steps(steps)) => other::follow(&mut *other.walk, steps, deadline),
                _ => return Err(Wrong::Said("the counterexample is of another model".into())),
            };
            let session = opened.animated();
            if let Some(step) = asked.get("step").and_then(Json::as_u64) {
                let way = session.history().way;
                let place = way.get(step as usize).copied().or(way.last().copied());
                session.go(place);
            }
        }
        "save" => {
            let ending = match text(asked, "format")? {
                "itf" => ".itf.json",
                "prob" => ".prob2trace",
                _ => ".trace.json",
            };
            let name = format!("{}{ending}", session.title());
            let text = session.save(Path::new(&name));
            return Ok(Done::Answered(json!({ "name": name, "text": text })));
        }
        "ask" => return Ok(Done::Answered(shape::reply(&session.ask(text(asked, "text")?, stop)?))),
        "why" => {
            let why = shape::tree(&session.why(number(asked, "check")?, stop));
            return Ok(Done::Answered(json!({ "why": why })));
        }
        "why-not" => {
            let why = session.why_not(text(asked, "operation")?, &arguments())?;
            return Ok(Done::Answered(shape::disabled(&why)));
        }
        _ => {
            return match opened {
                Opened::Machine(session) => see(session, question, asked, deadline),
                Opened::Other(other) => see_other(other, question, asked, deadline),
            };
        }
    }
    Ok(Done::Moved(said))
}

/// What is drawn of a state graph.
fn drawn(asked: &Json) -> (Option<&str>, usize) {
    let projection = asked.get("projection").and_then(Json::as_str).filter(|t| !t.trim().is_empty());
    (projection, number(asked, "states").unwrap_or(500).min(MAX_DRAWN))
}

/// Pictures of a machine.
fn see(session: &mut Session, question: &str, asked: &Json, deadline: &Deadline) -> Result<Done, Wrong> {
    let stop = &deadline.flag;
    let (projection, most) = drawn(asked);
    Ok(Done::Answered(match question {
        "click" => {
            let choice = session.clicked(text(asked, "id")?, stop)?;
            session.walk_mut().step(choice, stop);
            return Ok(Done::Moved(None));
        }
        "node" => {
            session.go_to_node(projection, most, number(asked, "node")?, stop)?;
            return Ok(Done::Moved(None));
        }
        "picture" => shape::picture(session.picture(stop)?.as_ref()),
        "graph" => shape::graph(&session.graph(projection, most, stop)?),
        "relations" => shape::relations(&session.relations()),
        "orbit" => shape::orbit(&session.orbit(stop)?),
        _ => return Err(Wrong::Unknown),
    }))
}

/// Pictures of something else: it has states, and nothing else that could be drawn.
fn see_other(other: &mut Other, question: &str, asked: &Json, deadline: &Deadline) -> Result<Done, Wrong> {
    let (projection, most) = drawn(asked);
    Ok(Done::Answered(match question {
        "graph" | "node" if projection.is_some() => {
            let language = other.about.language.name();
            return Err(Wrong::Said(format!("{language} has no expressions to project on")));
        }
        "node" => {
            other.go_to_node(most, number(asked, "node")?, deadline)?;
            return Ok(Done::Moved(None));
        }
        "picture" => shape::picture(None),
        "graph" => shape::graph(&other.graph(most, deadline)?),
        "relations" => shape::relations(&[]),
        "orbit" => json!({ "states": [] }),
        "click" => return Err(Wrong::Said("there is no picture".into())),
        _ => return Err(Wrong::Unknown),
    }))
}

fn start(tab: &mut Tab, tabs: &Tabs, question: &str, asked: &Json) -> Result<Json, Wrong> {
    let file = tabs.models.find(&tab.model).ok_or("the model is not there any more".to_string())?;
    let name = asked.get("symmetry").and_then(Json::as_str).unwrap_or("auto");
    let known = Strategy::ALL.into_iter().find(|s| s.name() == name);
    let symmetry = known.ok_or_else(|| format!("there is no strategy `{name}`"))?;
    let is_on = |key: &str| asked.get(key).and_then(Json::as_bool).unwrap_or(true);
    let goal = asked.get("goal").and_then(Json::as_str).filter(|g| !g.trim().is_empty()).map(String::from);
    let work = match question {
        "ltl" => Work::Ltl(text(asked, "formula")?.to_string(), symmetry),
        "compare" => Work::Compare,
        _ => {
            let order = if asked["order"] == "dfs" { Order::Dfs } else { Order::Bfs };
            let max_states = asked.get("max_states").and_then(Json::as_u64).map(|n| n as usize);
            let options = Options {
                symmetry,
                order,
                max_states,
                invariant: is_on("invariant"),
                deadlock: is_on("deadlock"),
                ..Options::default()
            };
            Work::Check(options, goal)
        }
    };
    // One at a time: the one before is stopped.
    tab.job = None;
    let subject = match tabs.origin(&tab.model, &file) {
        Some(origin) => Subject::Other(origin),
        None => Subject::Machine(tabs.models.files(), file, tabs.scope.clone()),
    };
    let job = Job::start(subject, tabs.limits, work)?;
    let told = job.look(0);
    tab.job = Some(job);
    Ok(told)
}

fn job(job: Option<&Job>, asked: &Json, tabs: &Tabs) -> Result<Json, Wrong> {
    let from = number(asked, "from").unwrap_or(0);
    let mut told = job.ok_or_else(|| Wrong::Said("nothing is checked".into()))?.look(from);
    shape::shorten(&mut told, &tabs.models);
    Ok(told)
}

fn texts(tab: &Tab, tabs: &Tabs) -> Json {
    let (sources, count) = match (&tab.refused, &tab.opened) {
        (Some(refused), _) => (&refused.sources, refused.sources.next().0 as usize),
        (None, Some(Opened::Machine(session))) => (session.sources(), session.project().texts),
        (None, Some(Opened::Other(other))) => (&other.sources, other.sources.next().0 as usize),
        (None, None) => return json!({ "texts": [] }),
    };
    json!({ "texts": shape::texts(sources, count, &tabs.models) })
}

/// Whether a model with errors is another one now.
fn is_changed(model: &str, refused: &Refused, tabs: &Tabs) -> bool {
    let Some(file) = tabs.models.find(model) else { return false };
    let read = std::fs::read(&file).unwrap_or_default();
    let texts = (0..refused.sources.next().0).filter_map(|i| refused.sources.get(FileId(i)));
    let mut same = texts.filter(|s| s.path.file_name() == file.file_name());
    !same.any(|s| s.text.as_bytes() == read)
}
