//! `kanon serve` without a browser: the protocol, who is let in, what is refused.

use crate::program::{WRONG, kanon};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// A server of its own for a test; it ends with it.
pub struct Served {
    child: Child,
    pub host: String,
    pub token: String,
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

struct Answer {
    status: u16,
    head: String,
    body: String,
}

impl Served {
    pub fn new(path: &Path, more: &[&str]) -> Served {
        let mut child = Command::new(env!("CARGO_BIN_EXE_kanon"))
            .arg("serve")
            .arg(path)
            .args(more)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("the program starts");
        let mut line = String::new();
        let out = child.stdout.take().expect("it is piped");
        BufReader::new(out).read_line(&mut line).expect("a link");
        let rest = line.trim().strip_prefix("http://").expect("a link").to_string();
        let (host, token) = rest.split_once('/').expect("a token");
        Served { child, host: host.to_string(), token: token.trim_end_matches('/').to_string() }
    }

    /// Sends bytes and reads the answer.
    fn raw(&self, request: &[u8]) -> Answer {
        let mut stream = TcpStream::connect(&self.host).expect("it listens");
        stream.set_read_timeout(Some(Duration::from_secs(60))).expect("a timeout");
        // What is refused early need not be taken.
        let _ = stream.write_all(request);
        let mut bytes = vec![];
        let _ = stream.read_to_end(&mut bytes);
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
        let status = head.split_whitespace().nth(1).and_then(|s| s.parse().ok()).unwrap_or(0);
        Answer { status, head: head.to_string(), body: body.to_string() }
    }

    fn get(&self, path: &str) -> Answer {
        self.raw(format!("GET {path} HTTP/1.1\r\nHost: {}\r\n\r\n", self.host).as_bytes())
    }

    fn post(&self, question: &str, body: &str, headers: &str) -> Answer {
        let head = format!(
            "POST /{}/api/{question} HTTP/1.1\r\nHost: {}\r\n{headers}Content-Length: {}\r\n\r\n",
            self.token,
            self.host,
            body.len()
        );
        self.raw(&[head.as_bytes(), body.as_bytes()].concat())
    }

    fn ask(&self, question: &str, about: Value) -> Value {
        let answer = self.post(question, &about.to_string(), "Content-Type: application/json\r\n");
        assert_eq!(answer.status, 200, "{question}: {}", answer.body);
        serde_json::from_str(&answer.body).expect("JSON")
    }

    /// A new tab.
    fn begin(&self) -> (String, Value) {
        let view = self.ask("begin", json!({}));
        (view["tab"].as_str().expect("a tab").to_string(), view)
    }

    /// How many seconds a check took that nobody looked at before it was over.
    pub fn unwatched_check(&self) -> f64 {
        let (tab, _) = self.begin();
        let about =
            json!({ "tab": tab, "symmetry": "auto", "order": "bfs", "deadlock": true, "invariant": true });
        self.ask("check", about);
        let mut pause = Duration::from_secs(4);
        loop {
            std::thread::sleep(pause);
            let job = self.ask("job", json!({ "tab": tab }));
            if job["running"] == false {
                return job["seconds"].as_f64().expect("how long it took");
            }
            // It takes longer than was thought: the next look is as far away as all before it.
            pause *= 2;
        }
    }

    /// What a job says when it is over.
    fn result(&self, tab: &str) -> Value {
        let begun = Instant::now();
        loop {
            let job = self.ask("job", json!({ "tab": tab }));
            if job["running"] == false {
                return job;
            }
            assert!(begun.elapsed() < Duration::from_secs(120), "it does not end: {job}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

fn library() -> PathBuf {
    PathBuf::from("models/demo/Library.mch")
}

/// A directory of a test's own.
pub fn folder(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("kanon-serve-{}-{name}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder for the test");
    folder
}

fn value<'v>(view: &'v Value, name: &str) -> &'v str {
    let all = view["state"].as_array().expect("a state");
    let found = all.iter().find(|v| v["name"] == name).expect("a variable");
    found["value"].as_str().expect("a value")
}

#[test]
fn only_the_page_itself_comes_in() {
    let s = Served::new(&library(), &[]);
    let page = s.get(&format!("/{}/", s.token));
    assert_eq!(page.status, 200);
    for header in
        ["default-src 'none'", "script-src 'self'", "nosniff", "no-referrer", "frame-ancestors 'none'"]
    {
        assert!(page.head.contains(header), "{header} in {}", page.head);
    }
    assert!(!page.head.contains("unsafe"), "nothing inline is executed");
    for asset in ["app.js", "dom.js", "animate.js", "check.js", "see.js", "style.css", "icon.svg"] {
        let answer = s.get(&format!("/{}/{asset}", s.token));
        assert_eq!(answer.status, 200, "{asset}");
        assert!(!answer.body.contains("innerHTML") && !answer.body.contains("//cdn"), "{asset}");
    }
    // Without the token, with another one, outside.
    for path in ["/", "/app.js", "/00000000000000000000000000000000/", &format!("/{}", &s.token[..31])] {
        assert_eq!(s.get(path).status, 403, "{path}");
    }
    for path in ["Library.mch", "../Library.mch", "..%2f..%2fetc/passwd", "/etc/passwd", "api", "api/"] {
        let status = s.get(&format!("/{}/{path}", s.token)).status;
        assert!(matches!(status, 404 | 405), "{path}: {status}");
    }
    // Another host, another origin, another site.
    let path = format!("/{}/", s.token);
    for headers in [
        "Host: evil.example\r\n".to_string(),
        String::new(),
        format!("Host: {0}\r\nHost: {0}\r\n", s.host),
        format!("Host: {}\r\nOrigin: http://evil.example\r\n", s.host),
        format!("Host: {}\r\nOrigin: null\r\n", s.host),
        format!("Host: {}\r\nSec-Fetch-Site: cross-site\r\n", s.host),
    ] {
        let answer = s.raw(format!("GET {path} HTTP/1.1\r\n{headers}\r\n").as_bytes());
        assert!(matches!(answer.status, 400 | 403), "{headers}: {}", answer.status);
        assert!(!answer.body.contains(&s.token));
    }
    // A form of another page cannot ask.
    for kind in ["", "Content-Type: text/plain\r\n", "Content-Type: application/x-www-form-urlencoded\r\n"] {
        assert_eq!(s.post("begin", "{}", kind).status, 415, "{kind}");
    }
    assert_eq!(s.post("begin", "{", "Content-Type: application/json\r\n").status, 400);
    assert_eq!(s.get(&format!("/{}/api/begin", s.token)).status, 405);
    assert_eq!(s.ask("view", json!({ "tab": "nonsense" }))["gone"], true);
    let (tab, _) = s.begin();
    let unknown =
        s.post("nonsense", &json!({ "tab": tab }).to_string(), "Content-Type: application/json\r\n");
    assert_eq!(unknown.status, 404);
}

#[test]
fn requests_that_are_wrong_or_too_large_are_refused() {
    let s = Served::new(&library(), &[]);
    assert_eq!(s.raw(b"nonsense\r\n\r\n").status, 400);
    let huge = format!("GET / HTTP/1.1\r\nX: {}\r\n\r\n", "a".repeat(40_000));
    assert_eq!(s.raw(huge.as_bytes()).status, 413);
    let body = format!(
        "POST /{}/api/begin HTTP/1.1\r\nHost: {}\r\nContent-Length: 99999999999\r\n\r\n",
        s.token, s.host
    );
    assert_eq!(s.raw(body.as_bytes()).status, 413);
    assert_eq!(s.raw(b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n").status, 400);
    // Deep JSON, and wrong types.
    let deep = "[".repeat(100_000);
    assert_eq!(s.post("begin", &deep, "Content-Type: application/json\r\n").status, 400);
    let (tab, _) = s.begin();
    for (question, about) in [
        ("step", json!({ "choice": -1 })),
        ("step", json!({ "choice": "x" })),
        ("step", json!({ "choice": 99999 })),
        ("go", json!({ "place": 99999 })),
        ("link", json!({ "address": "9.9.9" })),
        ("why-not", json!({ "operation": "nothing" })),
        ("why-not", json!({ "operation": "return", "arguments": ["<script>"] })),
        ("ask", json!({ "text": "lent +" })),
        ("ask", json!({ "text": "(".repeat(50_000) })),
        ("load", json!({ "text": "{}" })),
        ("open", json!({ "model": "../../etc/passwd" })),
        ("check", json!({ "symmetry": "magic" })),
        ("job", json!({})),
    ] {
        let mut about = about;
        about["tab"] = tab.clone().into();
        let answer = s.ask(question, about);
        assert!(answer["error"].is_string(), "{question}: {answer}");
    }
    assert_eq!(value(&s.ask("view", json!({ "tab": tab })), "lent"), "{}", "it is where it was");
}

#[test]
fn a_tab_steps_asks_and_goes_back() {
    let s = Served::new(&library(), &[]);
    let (tab, view) = s.begin();
    assert_eq!(view["machine"], "Library");
    assert_eq!(view["models"], json!(["Library.mch"]));
    let borrow = view["operations"].as_array().expect("operations").iter().find(|o| o["name"] == "borrow");
    let call = &borrow.expect("an operation")["calls"][0];
    let view = s.ask("step", json!({ "tab": tab, "choice": call["choice"] }));
    assert_eq!(value(&view, "lent"), "{(BOOK1|->READER1)}");
    let address = view["address"].as_str().expect("an address").to_string();
    let why = s.ask("why-not", json!({ "tab": tab, "operation": "reserve", "arguments": ["b = BOOK2"] }));
    assert!(why["ways"][0]["conditions"][0]["truth"] == "false", "{why}");
    let view = s.ask("undo", json!({ "tab": tab }));
    assert_eq!(value(&view, "lent"), "{}");
    assert_eq!(view["history"]["places"].as_array().map(Vec::len), Some(2), "the branch is still there");
    let view = s.ask("redo", json!({ "tab": tab }));
    assert_eq!(view["address"], address.as_str());
    assert_eq!(s.ask("ask", json!({ "tab": tab, "text": "card(lent)" }))["value"], "1");
    let view = s.ask("watch", json!({ "tab": tab, "text": "dom(lent)" }));
    assert_eq!(view["watched"][0]["value"]["value"], "{BOOK1}");
    // Another tab has a session of its own; the link leads it to the same state.
    let (other, view) = s.begin();
    assert_eq!(value(&view, "lent"), "{}");
    let view = s.ask("link", json!({ "tab": other, "address": address }));
    assert_eq!(value(&view, "lent"), "{(BOOK1|->READER1)}");
    assert_eq!(view["watched"], json!([]));
    // Traces go out and come in.
    for format in ["kanon", "itf", "prob"] {
        let file = s.ask("save", json!({ "tab": tab, "format": format }));
        let (third, _) = s.begin();
        let view = s.ask("load", json!({ "tab": third, "text": file["text"] }));
        assert_eq!(view["address"], address.as_str(), "{format}");
    }
    // A step takes no longer than a blink: the best of some, whatever else the machine is doing.
    let step = || {
        s.ask("undo", json!({ "tab": tab }));
        let begun = Instant::now();
        s.ask("redo", json!({ "tab": tab }));
        begun.elapsed()
    };
    let best = (0..10).map(|_| step()).min().expect("ten steps");
    assert!(best < Duration::from_millis(50), "{best:?}");
    let a = s.ask("random", json!({ "tab": tab, "steps": 5, "seed": 3 }));
    let b = s.ask("random", json!({ "tab": other, "steps": 5, "seed": 3 }));
    assert_eq!(a["state"], b["state"], "the same seed takes the same steps");
    let view = s.ask("seek", json!({ "tab": tab, "text": "card(lent) = 2", "start": true }));
    assert!(view["said"].as_str().is_some_and(|t| t.contains("2 steps")), "{}", view["said"]);
    let graph = s.ask("graph", json!({ "tab": tab, "states": 2000 }));
    assert!(graph["nodes"].as_array().expect("nodes").iter().any(|n| n["broken"] == true));
    let small = s.ask("graph", json!({ "tab": tab, "states": 2000, "projection": "card(lent)" }));
    assert_eq!(small["nodes"].as_array().map(Vec::len), Some(3));
    assert_eq!(small["states"], graph["states"]);
    let broken = graph["nodes"].as_array().and_then(|all| all.iter().position(|n| n["broken"] == true));
    let view = s.ask("node", json!({ "tab": tab, "node": broken, "states": 2000 }));
    assert!(view["conjuncts"].as_array().expect("conjuncts").iter().any(|c| c["truth"] == false), "{view}");
    assert!(s.ask("node", json!({ "tab": tab, "node": 99_999, "states": 2000 }))["error"].is_string());
    let orbit = s.ask("orbit", json!({ "tab": tab }));
    assert_eq!(orbit["permutation"].as_array().map(Vec::len), Some(2), "{orbit}");
}

#[test]
fn a_check_runs_is_watched_and_walked() {
    let s = Served::new(&library(), &[]);
    let (tab, _) = s.begin();
    s.ask("check", json!({ "tab": tab }));
    let job = s.result(&tab);
    assert_eq!(job["result"]["verdict"], "fails", "{job}");
    let steps = job["result"]["finding"]["trace"]["steps"].as_array().expect("a trace").len();
    let view = s.ask("walk", json!({ "tab": tab }));
    assert_eq!(view["history"]["way"].as_array().map(Vec::len), Some(steps));
    let broken = view["conjuncts"].as_array().expect("conjuncts").iter().find(|c| c["truth"] == false);
    let broken = broken.expect("the invariant is broken");
    assert_eq!(broken["place"]["line"], 11);
    let why = s.ask("why", json!({ "tab": tab, "check": broken["check"] }));
    assert!(!why["why"].as_array().expect("a tree").is_empty());
    let view = s.ask("walk", json!({ "tab": tab, "step": 0 }));
    assert_eq!(value(&view, "lent"), "{}");
    s.ask("compare", json!({ "tab": tab }));
    assert!(s.result(&tab)["result"]["compared"].is_object());
    s.ask("ltl", json!({ "tab": tab, "formula": "G {card(lent) < 2}" }));
    let job = s.result(&tab);
    assert_eq!(job["result"]["formulas"][0]["verdict"], "fails", "{job}");
}

#[test]
fn memory_has_a_limit_for_every_question() {
    let s = Served::new(&library(), &["--max-memory", "1000"]);
    let answer = s.ask("begin", json!({}));
    assert!(answer["error"].as_str().is_some_and(|e| e.contains("limit of memory")), "{answer}");
    assert_eq!(s.get(&format!("/{}/", s.token)).status, 200, "the page itself is there");
}

#[test]
fn a_check_can_be_stopped_and_a_question_has_a_limit() {
    let folder = folder("long");
    let text = "MACHINE Long VARIABLES x, y INVARIANT x : NATURAL & y : NATURAL INITIALISATION x, y := 0, 0
        OPERATIONS a = x := x + 1; b = y := y + 1 END";
    std::fs::write(folder.join("Long.mch"), text).expect("a file");
    let s = Served::new(&folder.join("Long.mch"), &["--timeout", "1"]);
    let (tab, _) = s.begin();
    s.ask("check", json!({ "tab": tab }));
    let (other, view) = s.begin();
    assert_eq!(value(&view, "x"), "0", "other tabs go on meanwhile");
    let begun = Instant::now();
    let view = s.ask("seek", json!({ "tab": other, "text": "x < 0" }));
    assert!(view["said"].as_str().is_some_and(|t| t.starts_with("unknown")), "{}", view["said"]);
    assert!(begun.elapsed() < Duration::from_secs(30), "a request cannot hang the program");
    s.ask("stop", json!({ "tab": tab }));
    let job = s.result(&tab);
    assert_eq!(job["result"]["verdict"], "unknown", "{job}");
    assert!(!job["points"].as_array().expect("a curve").is_empty());
    std::fs::remove_dir_all(folder).ok();
}

#[test]
fn models_of_a_directory_and_edits_on_disk() {
    let folder = folder("several");
    let machine = |name: &str, bound: &str| {
        format!(
            "MACHINE {name} VARIABLES x INVARIANT x : 0..{bound} INITIALISATION x := 0 OPERATIONS up = SELECT x < {bound} THEN x := x + 1 END END"
        )
    };
    std::fs::write(folder.join("A.mch"), machine("A", "3")).expect("a file");
    std::fs::write(folder.join("B.mch"), machine("B", "5")).expect("a file");
    std::fs::write(folder.join("notes.txt"), "secret").expect("a file");
    let s = Served::new(&folder, &[]);
    let (tab, view) = s.begin();
    assert_eq!(view["models"], json!(["A.mch", "B.mch"]));
    let view = s.ask("open", json!({ "tab": tab, "model": "B.mch" }));
    assert_eq!(view["machine"], "B");
    assert!(s.ask("open", json!({ "tab": tab, "model": "notes.txt" }))["error"].is_string());
    s.ask("call", json!({ "tab": tab, "operation": "up" }));
    assert_eq!(s.ask("changed", json!({ "tab": tab }))["changed"], false);
    std::fs::write(folder.join("B.mch"), machine("B", "7")).expect("a file");
    assert_eq!(s.ask("changed", json!({ "tab": tab }))["changed"], true);
    let view = s.ask("reload", json!({ "tab": tab }));
    assert_eq!(value(&view, "x"), "1", "it goes where it was");
    assert_eq!(s.ask("changed", json!({ "tab": tab }))["changed"], false);
    // Errors come with their place, and go away with them.
    std::fs::write(
        folder.join("B.mch"),
        "MACHINE B\nVARIABLES x\nINVARIANT x : nothing\nINITIALISATION x := 0\nEND",
    )
    .expect("a file");
    assert_eq!(s.ask("changed", json!({ "tab": tab }))["changed"], true);
    let view = s.ask("reload", json!({ "tab": tab }));
    assert_eq!(view["errors"][0]["line"], 3, "{}", view["errors"]);
    assert_eq!(view["errors"][0]["file"], "B.mch", "without what is above the directory");
    assert_eq!(s.ask("changed", json!({ "tab": tab }))["changed"], false, "it is told once");
    std::fs::write(folder.join("B.mch"), machine("B", "7")).expect("a file");
    assert_eq!(s.ask("changed", json!({ "tab": tab }))["changed"], true);
    let view = s.ask("reload", json!({ "tab": tab }));
    assert!(view["errors"].is_null());
    std::fs::remove_dir_all(folder).ok();
}

/// What a model refers to is read only where models are served from.
#[test]
fn a_model_cannot_refer_to_files_outside() {
    let folder = folder("outside");
    std::fs::create_dir_all(folder.join("in")).expect("a folder");
    std::fs::write(folder.join("secret.def"), "DEFINITIONS secret == 42").expect("a file");
    let text = "MACHINE A DEFINITIONS \"../secret.def\" VARIABLES x INVARIANT x : 0..secret INITIALISATION x := 0 END";
    std::fs::write(folder.join("in/A.mch"), text).expect("a file");
    let (_, view) = Served::new(&folder, &[]).begin();
    assert!(view["errors"].is_null(), "it is inside of this directory: {view}");
    let s = Served::new(&folder.join("in/A.mch"), &[]);
    let (tab, view) = s.begin();
    assert!(view["errors"].is_array(), "and outside of this one: {view}");
    let texts = s.ask("texts", json!({ "tab": tab }));
    assert!(!texts.to_string().contains("42"), "{texts}");
    std::fs::remove_dir_all(folder).ok();
}

#[test]
fn what_cannot_be_served_is_said() {
    let run = |args: &[&str]| {
        let out =
            Command::new(env!("CARGO_BIN_EXE_kanon")).arg("serve").args(args).output().expect("it runs");
        (out.status.code(), String::from_utf8_lossy(&out.stderr).into_owned())
    };
    let (code, why) = run(&["no/such/place"]);
    assert_eq!(code, Some(2));
    assert!(why.contains("no/such/place"), "{why}");
    assert_eq!(run(&["models/demo/Library.mch", "--wd", "strict"]).0, Some(2));
}

/// Takes the first step that is offered.
fn first_step(s: &Served, tab: &str, view: &Value) -> Value {
    let all = view["operations"].as_array().expect("operations");
    let call = all.iter().find_map(|o| o["calls"].get(0)).expect("something is enabled");
    s.ask("step", json!({ "tab": tab, "choice": call["choice"] }))
}

#[test]
fn what_is_not_b_is_stepped_through_drawn_and_checked() {
    let philosophers = ["--csp", "models/guided/Broken.csp"];
    // The file, what it is, what is wrong with it, and a formula that does not hold.
    for (file, more, language, kind, formula) in [
        ("models/csp/Philosophers.csp", &[][..], "CSP-M", "deadlock", "G F [phil.0.eat]"),
        ("models/nets/philosophers.pnml", &[], "PNML", "deadlock", "F {eats(p1) = 1}"),
        ("models/guided/Broken.mch", &philosophers[..], "B with CSP-M", "invariant", "F {level = 3}"),
    ] {
        let s = Served::new(Path::new(file), more);
        let (tab, view) = s.begin();
        assert_eq!((&view["language"], &view["errors"]), (&language.into(), &Value::Null), "{file}: {view}");
        assert!(view["begun"] == true, "{file}: it is in an initial state");
        assert!(
            view["models"]
                .as_array()
                .expect("a list")
                .iter()
                .any(|m| file.ends_with(m.as_str().expect("a name")))
        );
        let stepped = first_step(&s, &tab, &view);
        let address = stepped["address"].as_str().expect("an address");
        assert_ne!(stepped["state"], view["state"], "{file}");
        assert_eq!(
            s.ask("undo", json!({ "tab": tab }))["state"][0]["value"],
            view["state"][0]["value"],
            "{file}"
        );
        // A link and a file lead to the same state.
        let (other, _) = s.begin();
        assert_eq!(s.ask("link", json!({ "tab": other, "address": address }))["address"], address, "{file}");
        let saved = s.ask("save", json!({ "tab": other, "format": "kanon" }));
        let (third, _) = s.begin();
        let view = s.ask("load", json!({ "tab": third, "text": saved["text"] }));
        assert_eq!(view["address"], address, "{file}: {}", view["said"]);
        // What was drawn can be gone to: the state is the node's, and it is marked.
        let graph = s.ask("graph", json!({ "tab": tab, "states": 2000 }));
        let nodes = graph["nodes"].as_array().expect("nodes");
        assert!(nodes.len() > 5 && graph["more"] == false, "{file}: {graph}");
        for node in [0, 1, nodes.len() / 2, nodes.len() - 1] {
            let view = s.ask("node", json!({ "tab": tab, "node": node, "states": 2000 }));
            let state: Vec<String> = view["state"]
                .as_array()
                .expect("a state")
                .iter()
                .map(|v| format!("{} = {}", v["name"].as_str().unwrap(), v["value"].as_str().unwrap()))
                .collect();
            assert_eq!(state.join("\n"), nodes[node]["text"], "{file}: node {node}");
            let again = s.ask("graph", json!({ "tab": tab, "states": 2000 }));
            assert_eq!(again["nodes"][node]["here"], true, "{file}: node {node}");
        }
        // A check finds what is wrong, and its path is walked.
        s.ask("check", json!({ "tab": tab, "symmetry": "auto" }));
        let job = s.result(&tab);
        let result = &job["result"];
        assert_eq!(
            (&result["verdict"], &result["finding"]["kind"]),
            (&"fails".into(), &kind.into()),
            "{file}: {job}"
        );
        let steps = result["finding"]["trace"]["steps"].as_array().expect("a path").len();
        let view = s.ask("walk", json!({ "tab": tab }));
        assert_eq!(view["said"], Value::Null, "{file}");
        assert_eq!(view["history"]["way"].as_array().map(Vec::len), Some(steps), "{file}");
        let calls = |view: &Value| {
            view["operations"].as_array().expect("operations").iter().any(|o| o["calls"].get(0).is_some())
        };
        assert_eq!(calls(&view), kind != "deadlock", "{file}: the path ends where it says");
        let view = s.ask("walk", json!({ "tab": tab, "step": 0 }));
        assert!(calls(&view), "{file}");
        s.ask("ltl", json!({ "tab": tab, "formula": formula }));
        let job = s.result(&tab);
        assert_eq!(job["result"]["formulas"][0]["verdict"], "fails", "{file}: {job}");
        let view = s.ask("walk", json!({ "tab": tab }));
        assert_eq!(view["said"], Value::Null, "{file}");
        s.ask("compare", json!({ "tab": tab }));
        let job = s.result(&tab);
        let compared = job["result"]["compared"].is_object();
        assert_eq!(compared, language != "CSP-M", "{file}: {job}");
        assert!(
            compared || job["result"]["reason"].as_str().is_some_and(|r| r.contains("symmetry")),
            "{job}"
        );
        // What only B has is refused, and nothing is lost.
        for (question, about) in [
            ("ask", json!({ "text": "1 = 1" })),
            ("watch", json!({ "text": "1" })),
            ("why-not", json!({ "operation": "x" })),
            ("graph", json!({ "projection": "1", "states": 9 })),
            ("ltl", json!({ "formula": "G (" })),
        ] {
            let mut about = about;
            about["tab"] = tab.clone().into();
            let answer = s.ask(question, about);
            let refused = answer["error"].is_string() || s.result(&tab)["result"]["errors"][0].is_object();
            assert!(refused, "{file}: {question}: {answer}");
        }
        assert_eq!(s.ask("view", json!({ "tab": tab }))["errors"], Value::Null);
    }
}

#[test]
fn other_languages_are_read_again_and_stay_inside_the_folder() {
    let folder = folder("other");
    std::fs::write(folder.join("secret.csp"), "channel secret").expect("a file");
    let inside = folder.join("inside");
    std::fs::create_dir_all(&inside).expect("a folder");
    let script = inside.join("Once.csp");
    std::fs::write(&script, "channel a, b\nMAIN = a -> b -> STOP\n").expect("a file");
    std::fs::write(inside.join("Out.csp"), "include \"../secret.csp\"\nMAIN = STOP\n").expect("a file");
    std::fs::write(inside.join("Program.P"), "start(0). trans(a, 0, 0).").expect("a file");
    let s = Served::new(&inside, &[]);
    let (tab, view) = s.begin();
    assert_eq!(
        view["models"],
        json!(["Once.csp", "Out.csp"]),
        "programs are no models that somebody may open"
    );
    let view = s.ask("open", json!({ "tab": tab, "model": "Once.csp" }));
    let view = first_step(&s, &tab, &first_step(&s, &tab, &view));
    assert_eq!(view["history"]["way"].as_array().map(Vec::len), Some(3));
    assert_eq!(s.ask("changed", json!({ "tab": tab }))["changed"], false);
    // After an edit it goes the same way as far as that is possible.
    std::fs::write(&script, "channel a, b, c\nMAIN = a -> b -> c -> STOP\n").expect("a file");
    assert_eq!(s.ask("changed", json!({ "tab": tab }))["changed"], true);
    let view = s.ask("reload", json!({ "tab": tab }));
    assert_eq!(view["history"]["way"].as_array().map(Vec::len), Some(2), "{view}");
    assert!(view["said"].as_str().is_some_and(|t| t.contains("step 3")), "{}", view["said"]);
    std::fs::write(&script, "channel a\nMAIN = a -> \n").expect("a file");
    let view = s.ask("reload", json!({ "tab": tab }));
    assert!(view["errors"][0]["line"].is_number(), "{view}");
    let view = s.ask("open", json!({ "tab": tab, "model": "Out.csp" }));
    assert!(view["errors"].to_string().contains("outside of what is served"), "{view}");
    assert!(!view.to_string().contains("channel secret"));
    drop(s);
    // Two states that look the same (`d -> …`): the way is that of the counterexample, whichever comes first.
    let text = "channel a, b, c, d\nMAIN = a -> d -> b -> STOP [] a -> d -> c -> STOP\n";
    std::fs::write(&script, text).expect("a file");
    let s = Served::new(&script, &[]);
    let (tab, _) = s.begin();
    for event in ["b", "c"] {
        s.ask("ltl", json!({ "tab": tab, "formula": format!("G not [{event}]") }));
        let job = s.result(&tab);
        assert_eq!(job["result"]["formulas"][0]["verdict"], "fails", "{job}");
        let view = s.ask("walk", json!({ "tab": tab }));
        assert_eq!(view["said"], Value::Null, "{event}: {job}");
        assert_eq!(view["history"]["way"].as_array().map(Vec::len), Some(4), "{event}: {view}");
    }
    drop(s);
    // A script that the user names may be elsewhere.
    std::fs::copy("models/guided/Broken.mch", inside.join("Broken.mch")).expect("a copy");
    let s = Served::new(&inside.join("Broken.mch"), &["--csp", "models/guided/Broken.csp"]);
    let (_, view) = s.begin();
    assert_eq!(view["language"], "B with CSP-M", "{view}");
    drop(s);
    let program = inside.join("Program.P");
    for args in [
        &["serve", "models/guided", "--csp", "models/guided/Broken.csp"][..],
        &["serve", "models/csp/OnePlace.csp", "--csp", "models/guided/Broken.csp"],
        &["serve", "models/guided/Broken.mch", "--csp", "models/guided/Nowhere.csp"],
        &["serve", "models/guided/Broken.mch", "--process", "MAIN"],
        &["serve", program.to_str().expect("a path of plain letters")],
    ] {
        let ran = kanon(args);
        assert!(ran.code == WRONG && ran.out.is_empty() && !ran.err.is_empty(), "{args:?}: {}", ran.err);
    }
    std::fs::remove_dir_all(&folder).ok();
}
