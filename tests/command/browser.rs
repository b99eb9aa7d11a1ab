//! A walk through the page of `kanon serve` in a real browser: chromium, by its driver. Run by `./test --long`, or by
//!
//!     cargo test --test command browser -- --ignored --nocapture
//!
//! With `KANON_SCREENSHOTS=docs` the pictures of the documents are made again; with `KANON_AXE=…/axe.min.js` every view is
//! checked for accessibility.

use super::serve::{Served, folder};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// One browser after the other, so that they do not disturb each other's times.
static ONE: Mutex<()> = Mutex::new(());

/// A number that no other browser has: each has a profile of its own.
fn number() -> usize {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

/// chromium, by the protocol of WebDriver.
struct Browser {
    driver: Child,
    port: u16,
    session: String,
}

impl Drop for Browser {
    fn drop(&mut self) {
        if !self.session.is_empty() {
            let _ = self.send("DELETE", "", None);
        }
        let _ = self.driver.kill();
        let _ = self.driver.wait();
    }
}

impl Browser {
    fn new() -> Browser {
        let mut driver = Command::new("chromedriver")
            .arg("--port=0")
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("chromium-driver is installed");
        let out = BufReader::new(driver.stdout.take().expect("it is piped"));
        let port = out
            .lines()
            .map_while(Result::ok)
            .find_map(|line| line.split_once("successfully on port ")?.1.trim_end_matches('.').parse().ok());
        let mut browser = Browser { driver, port: port.expect("a port"), session: String::new() };
        let profile =
            std::env::temp_dir().join(format!("kanon-chromium-{}-{}", std::process::id(), number()));
        let args = [
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-quic",
            "--no-first-run",
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
            "--hide-scrollbars",
            &format!("--user-data-dir={}", profile.display()),
        ];
        let options = json!({ "args": args });
        let wanted = json!({ "capabilities": { "alwaysMatch": { "browserName": "chrome", "goog:chromeOptions": options } } });
        let answer = browser.request("POST", "/session", Some(&wanted));
        browser.session = answer["sessionId"].as_str().expect("a session").to_string();
        browser
    }

    fn request(&self, method: &str, path: &str, body: Option<&Value>) -> Value {
        let body = body.map_or(String::new(), Value::to_string);
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).expect("the driver listens");
        stream.set_read_timeout(Some(Duration::from_secs(120))).expect("a timeout");
        let head = format!(
            "{method} {path} HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nContent-Type: application/json\r\nConnection: close\r\n\
             Content-Length: {}\r\n\r\n",
            self.port,
            body.len()
        );
        stream.write_all(head.as_bytes()).expect("the driver listens");
        stream.write_all(body.as_bytes()).expect("the driver listens");
        let mut reader = BufReader::new(stream);
        let mut length = 0;
        loop {
            let mut line = String::new();
            reader.read_line(&mut line).expect("an answer");
            if line.trim().is_empty() {
                break;
            }
            if let Some((name, value)) = line.split_once(':')
                && name.eq_ignore_ascii_case("content-length")
            {
                length = value.trim().parse().expect("a length");
            }
        }
        let mut bytes = vec![0; length];
        reader.read_exact(&mut bytes).expect("an answer");
        let mut answer: Value = serde_json::from_slice(&bytes).expect("JSON");
        assert!(answer["value"]["error"].is_null(), "{method} {path}: {}", answer["value"]);
        answer["value"].take()
    }

    fn send(&self, method: &str, path: &str, body: Option<Value>) -> Value {
        self.request(method, &format!("/session/{}{path}", self.session), body.as_ref())
    }

    fn go(&self, url: &str) {
        self.send("POST", "/url", Some(json!({ "url": url })));
    }

    fn size(&self, width: u32, height: u32) {
        self.send("POST", "/window/rect", Some(json!({ "width": width, "height": height })));
    }

    /// Runs a script that returns something.
    fn run(&self, script: &str) -> Value {
        self.send("POST", "/execute/sync", Some(json!({ "script": script, "args": [] })))
    }

    /// Waits until an expression is true.
    fn wait(&self, what: &str) -> Duration {
        let begun = Instant::now();
        loop {
            if self.run(&format!("try {{ return Boolean({what}) }} catch (e) {{ return false }}")) == true {
                return begun.elapsed();
            }
            if begun.elapsed() > Duration::from_secs(30) {
                panic!("never true: {what}\n{}", self.text("body"));
            }
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// Does something, and says after how many milliseconds an expression was true, measured by the page.
    fn time(&self, script: &str, what: &str) -> f64 {
        let script = format!(
            "const done = arguments[arguments.length - 1], begun = performance.now(); {script}; \
             const look = () => (({what}) ? done(performance.now() - begun) : requestAnimationFrame(look)); look()"
        );
        let took = self.send("POST", "/execute/async", Some(json!({ "script": script, "args": [] })));
        took.as_f64().expect("a time")
    }

    fn text(&self, selector: &str) -> String {
        let script = format!("return document.querySelector({})?.innerText ?? ''", json!(selector));
        self.run(&script).as_str().unwrap_or_default().to_string()
    }

    /// Clicks what has this selector, or the button with this text.
    fn click(&self, what: &str) {
        let script = format!(
            "const w = {}; const b = [...document.querySelectorAll('button')].find((b) => b.textContent.trim() === w) \
             ?? document.querySelector(w); b.click(); return true",
            json!(what)
        );
        self.run(&script);
    }

    fn keys(&self, keys: &str) {
        let actions: Vec<Value> = keys
            .chars()
            .flat_map(|c| [json!({ "type": "keyDown", "value": c }), json!({ "type": "keyUp", "value": c })])
            .collect();
        self.send(
            "POST",
            "/actions",
            Some(json!({ "actions": [{ "type": "key", "id": "k", "actions": actions }] })),
        );
    }

    /// As the browser of somebody whose system is dark, or light.
    fn scheme(&self, scheme: &str) {
        let features = json!([{ "name": "prefers-color-scheme", "value": scheme }]);
        let about = json!({ "cmd": "Emulation.setEmulatedMedia", "params": { "features": features } });
        self.send("POST", "/goog/cdp/execute", Some(about));
        self.wait(&format!("matchMedia('(prefers-color-scheme: {scheme})').matches"));
    }

    /// A picture for the documents, if they are wanted.
    fn picture(&self, name: &str) {
        let Some(folder) = std::env::var_os("KANON_SCREENSHOTS") else { return };
        let text = self.send("GET", "/screenshot", None);
        let bytes = decoded(text.as_str().expect("a picture"));
        std::fs::write(Path::new(&folder).join(name), bytes).expect("a place for pictures");
    }

    /// Nothing that keeps people out, by axe-core where it is there.
    fn accessible(&self, view: &str) {
        let Some(file) = std::env::var_os("KANON_AXE") else { return };
        let axe = std::fs::read_to_string(file).expect("axe-core");
        // The driver's scripts are not the page's, so that its policy does not refuse them.
        self.run(&format!("{axe}; window.axe = axe; return true"));
        let script = "const done = arguments[arguments.length - 1]; \
            axe.run(document, { resultTypes: ['violations'] }).then((r) => done(r.violations.map((v) => \
            v.id + ': ' + v.nodes.map((n) => n.target.join(' ')).join(', '))), (e) => done([String(e)]))";
        let found = self.send("POST", "/execute/async", Some(json!({ "script": script, "args": [] })));
        assert_eq!(found, json!([]), "{view}");
    }
}

/// Base64.
fn decoded(text: &str) -> Vec<u8> {
    let letters = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = vec![];
    let (mut word, mut bits) = (0u32, 0);
    for b in text.bytes() {
        let Some(n) = letters.iter().position(|l| *l == b) else { continue };
        word = (word << 6) | n as u32;
        bits += 6;
        if bits >= 8 {
            bits -= 8;
            out.push((word >> bits) as u8);
            word &= (1 << bits) - 1;
        }
    }
    out
}

/// A bar of docs/animator.md, held where the program is built as people use it.
fn bar(what: &str, took: f64, limit: f64) {
    println!("{what}: {took:.0} ms");
    assert!(cfg!(debug_assertions) || took <= limit, "{what}: {took:.0} ms, more than {limit}");
}

fn link(s: &Served) -> String {
    format!("http://{}/{}/", s.host, s.token)
}

/// No script of a model runs, whatever its names and values are.
const HOSTILE: &str = r#"MACHINE Hostile
SETS M = {a, b}
VARIABLES s, f
INVARIANT s : STRING & f : M <-> STRING & s /= "<script>window.broken=4</script>"
INITIALISATION s := "<img src=x onerror='window.broken=1'>" || f := {(a, "<svg onload='window.broken=2'>")}
OPERATIONS
  put(x) = PRE x : {"<b>bold</b>", "<script>window.broken=3</script>", "&lt;"} THEN s := x END
END"#;

#[test]
#[ignore = "needs chromium and its driver"]
fn a_walk_through_every_view() {
    let s = Served::new(Path::new("models/demo/Library.mch"), &[]);
    let _one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    let b = Browser::new();
    b.size(1360, 900);
    let begun = Instant::now();
    b.go(&link(&s));
    b.wait("document.querySelector('#state')");
    let usable = begun.elapsed().as_secs_f64() * 1000.0;

    // Animate.
    assert_eq!(b.text("#machine"), "Library");
    assert!(b.text("#state").contains("lent"));
    assert!(b.text("#operations").contains("why not?"));
    b.click("[data-key='not-return']");
    b.wait("document.querySelector('[data-not=return]')?.innerText.includes('no b with b : dom(lent)')");
    let step = b.time(
        "document.querySelector(\"[data-key='call-borrow-b = BOOK1, r = READER1']\").click()",
        "document.querySelector('tr.changed td.value .now')?.innerText.includes('BOOK1|->READER1')",
    );
    bar("a page that can be used", usable, 1000.0);
    bar("a step on screen", step, 50.0);
    assert_eq!(b.text("tr.changed .old"), "{}");
    b.wait("location.hash.includes('at=0.0')");
    b.click("[data-key='why-2']");
    b.wait("document.querySelector('#conjuncts .why')");
    b.run("const i = document.querySelector('[data-key=ask]'); i.value = 'card(lent)'; return true");
    b.click("Watch");
    b.wait("document.querySelector('#watched')?.innerText.includes('1')");
    b.wait("document.querySelector('#visb-who_BOOK1')?.textContent === 'READER1 has it'");
    b.accessible("animate");
    b.picture("animate.png");
    b.run("document.querySelector('#visb-BOOK2').dispatchEvent(new MouseEvent('click')); return true");
    b.wait("document.querySelector('#visb-who_BOOK2')?.textContent === 'READER2 has it'");
    b.picture("visb.png");
    // The pointer over a book changes its border, and back again.
    b.run(
        "document.querySelector('#visb-BOOK1').dispatchEvent(new PointerEvent('pointerenter')); return true",
    );
    b.wait("document.querySelector('#visb-BOOK1').getAttribute('stroke-width') === '4'");
    b.run(
        "document.querySelector('#visb-BOOK1').dispatchEvent(new PointerEvent('pointerleave')); return true",
    );
    b.wait("document.querySelector('#visb-BOOK1').getAttribute('stroke-width') === '2'");
    b.click("↶ Undo");
    b.wait("document.querySelector('#visb-who_BOOK2')?.textContent === 'on the shelf'");
    // Another tab, by the link: a session of its own in the same state.
    let here = b.run("return location.href").as_str().expect("an address").to_string();
    b.click("↶ Undo");
    b.wait("!document.querySelector('tr.changed')");
    b.click("[data-key='call-borrow-b = BOOK2, r = READER2']");
    b.wait("document.querySelectorAll('#history button').length === 4");

    // Check.
    b.click("#to-check");
    b.wait("document.querySelector('#check')");
    b.click("#check");
    b.wait("document.querySelector('#verdict')?.innerText === 'fails'");
    assert!(b.text("#scope").contains("card(BOOK) = 2"));
    assert!(
        b.text(".source mark").contains("card(lent"),
        "the conjunct is highlighted: {}",
        b.text(".source")
    );
    assert!(b.text("#why").contains("READER"));
    b.accessible("check");
    b.picture("check.png");
    let steps = b.run("return document.querySelectorAll('#steps button').length").as_u64().expect("steps");
    b.click("← Before");
    b.wait(&format!(
        "document.querySelectorAll('#steps button')[{}].getAttribute('aria-current') === 'true'",
        steps - 2
    ));
    b.run("const i = document.querySelector('[data-key=formula]'); i.value = 'G {card(lent) < 2}'; i.dispatchEvent(new Event('input')); return true");
    b.click("#ltl");
    b.wait("document.querySelector('.lasso circle')");
    b.click("#compare");
    b.wait("document.querySelector('#compared .bar')");
    b.accessible("compare");
    b.run("scrollTo(0, 0); return true");
    b.picture("compare.png");

    // See.
    b.click("#to-see");
    b.wait("document.querySelectorAll('#graph circle').length > 5 && document.querySelector('#orbit')");
    assert!(b.run("return document.querySelectorAll('#graph circle.broken').length").as_u64() > Some(0));
    assert!(b.text("#drawn").contains("all there are"));
    b.accessible("see");
    b.picture("see.png");
    // A click on a node goes to its state.
    b.run(
        "const n = document.querySelector('#graph circle.broken'), r = n.getBoundingClientRect(); \
         const at = { bubbles: true, pointerId: 1, clientX: r.x + r.width / 2, clientY: r.y + r.height / 2 }; \
         n.dispatchEvent(new PointerEvent('pointerdown', at)); n.dispatchEvent(new PointerEvent('pointerup', at)); \
         return true",
    );
    b.wait("document.querySelector('#graph circle.broken.here')");
    b.click("#to-animate");
    b.wait("document.querySelector('#conjuncts [data-truth=no]')");
    b.click("#to-see");
    b.wait("document.querySelector('#graph circle.broken.here')");
    b.run("const i = document.querySelector('[data-key=projection]'); i.value = 'card(lent)'; i.dispatchEvent(new Event('input')); return true");
    b.click("Draw");
    b.wait("document.querySelectorAll('#graph circle').length === 3");

    // A link leads to its state, also on a narrow screen; nothing is wider than it.
    b.size(420, 800);
    b.go("about:blank");
    b.go(&here);
    b.wait("document.querySelector('#state')?.innerText.includes('BOOK1|->READER1')");
    for view in ["#to-check", "#to-see", "#to-animate"] {
        b.click(view);
        b.wait("document.querySelector('main .card')");
        let wide =
            b.run("return document.documentElement.scrollWidth - document.documentElement.clientWidth");
        assert!(wide.as_i64() <= Some(0), "{view} is {wide} pixels too wide");
    }
    b.accessible("narrow");

    // By keyboard only: filter, take, undo, redo.
    b.size(1360, 900);
    b.go("about:blank");
    b.go(&link(&s));
    b.wait("document.querySelector('#state')");
    b.run("document.body.focus(); return true");
    b.keys("/return");
    b.wait("document.querySelector('#filter').value === 'return'");
    b.wait("!document.querySelector('#operations').innerText.includes('borrow')");
    b.keys("\u{E003}\u{E003}\u{E003}\u{E003}\u{E003}\u{E003}");
    b.wait("document.querySelector('#operations').innerText.includes('borrow')");
    b.keys("\u{E004}\u{E006}");
    b.wait("document.querySelector('tr.changed')");
    b.keys("u");
    b.wait("!document.querySelector('tr.changed')");
    b.keys("r");
    b.wait("document.querySelector('tr.changed')");
    b.keys("2");
    b.wait("document.querySelector('#check')");
}

/// A protocol whose processes are interchangeable: the orbit of a state, and the permutation; in the dark, too.
#[test]
#[ignore = "needs chromium and its driver"]
fn the_orbit_of_a_symmetric_protocol() {
    let s = Served::new(Path::new("models/papers/scheduler1.mch"), &["--card", "PROC=3"]);
    let _one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    let b = Browser::new();
    b.size(1360, 1100);
    b.go(&link(&s));
    b.wait("document.querySelector('#state')");
    b.run("const i = document.querySelector('[data-key=ask]'); i.value = 'queue = [PROC3, PROC1] & idle = {PROC2}'; return true");
    b.click("Go to");
    b.wait("document.querySelector('#banner')?.innerText.includes('reached')");
    b.click("#to-see");
    b.wait("document.querySelectorAll('#graph circle').length > 5 && document.querySelector('#orbit')");
    let states = b.text("#orbit .tag");
    assert!(states.contains("18 states") || states.contains("6 states"), "{states}");
    assert!(b.run("return document.querySelectorAll('.permutation path.strong').length").as_u64() > Some(0));
    b.accessible("orbit");
    b.run("document.querySelector('#orbit').scrollIntoView({ block: 'end' }); return true");
    b.picture("orbit.png");
    b.run("scrollTo(0, 0); return true");
    b.scheme("dark");
    b.accessible("see in the dark");
    b.click("#to-animate");
    b.wait("document.querySelector('#state')");
    b.accessible("animate in the dark");
    b.picture("dark.png");
    let colours = b.run(
        "return [getComputedStyle(document.documentElement).backgroundColor, getComputedStyle(document.body).color]",
    );
    let light = |c: &Value| -> u32 {
        let numbers = c.as_str().unwrap_or_default().split(|c: char| !c.is_ascii_digit());
        numbers.filter_map(|n| n.parse::<u32>().ok()).take(3).sum()
    };
    assert!(light(&colours[0]) < 150 && light(&colours[1]) > 500, "{colours}");
}

/// The philosophers drawn by definitions of their machine: clicks, hovers, and a relation as a graph; a lasso.
#[test]
#[ignore = "needs chromium and its driver"]
fn a_picture_made_by_the_machine_itself() {
    let s = Served::new(Path::new("models/ltl/Philosophers.mch"), &[]);
    let _one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    let b = Browser::new();
    b.size(1360, 900);
    b.go(&link(&s));
    b.wait("document.querySelector('#visb-p2')?.getAttribute('fill') === '#e3e6e9'");
    for colour in ["#f3dfb2", "#9fd3ad"] {
        b.run("document.querySelector('#visb-p2').dispatchEvent(new MouseEvent('click')); return true");
        b.wait(&format!("document.querySelector('#visb-p2')?.getAttribute('fill') === '{colour}'"));
    }
    b.run("document.querySelector('#visb-p1').dispatchEvent(new PointerEvent('pointerenter')); return true");
    b.wait("document.querySelector('#visb-p1').getAttribute('stroke-width') === '4'");
    b.picture("philosophers.png");
    b.click("#to-check");
    b.wait("document.querySelector('#ltl')");
    b.run("const i = document.querySelector('[data-key=formula]'); i.value = 'G ({hungry /= {}} => F {eating /= {}})'; i.dispatchEvent(new Event('input')); return true");
    b.click("#ltl");
    b.wait("document.querySelector('.lasso circle') && document.querySelector('.lasso path')");
    b.run("document.querySelector('.lasso').scrollIntoView({ block: 'center' }); return true");
    b.picture("ltl.png");
    b.accessible("lasso");
    b.click("#to-see");
    b.wait("document.querySelectorAll('[data-relation=next] circle').length === 3");
}

/// A net, a process and a guided machine: what only B has is not offered, and everything else is there.
#[test]
#[ignore = "needs chromium and its driver"]
fn what_is_not_b_is_walked_through() {
    let guided = ["--csp", "models/guided/Broken.csp"];
    for (name, file, more) in [
        ("process", "models/csp/Philosophers.csp", &[][..]),
        ("net", "models/nets/philosophers.pnml", &[]),
        ("guided", "models/guided/Broken.mch", &guided[..]),
    ] {
        let s = Served::new(Path::new(file), more);
        let _one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
        let b = Browser::new();
        b.size(1360, 900);
        b.go(&link(&s));
        b.wait("document.querySelector('#state')");
        b.click(".call");
        b.wait("document.querySelectorAll('#history button').length === 2");
        let offered =
            b.run("return [...document.querySelectorAll('main button')].map((b) => b.textContent.trim())");
        for absent in ["why?", "why not?", "Watch", "ITF"] {
            assert!(
                !offered.as_array().expect("buttons").contains(&absent.into()),
                "{name}: {absent}: {offered}"
            );
        }
        b.accessible(&format!("{name}: animate"));
        b.click("#to-check");
        b.wait("document.querySelector('#check')");
        b.click("#check");
        b.wait(
            "document.querySelector('#verdict')?.textContent === 'fails' && document.querySelector('#steps')",
        );
        b.accessible(&format!("{name}: check"));
        if name == "process" {
            b.picture("process.png");
        }
        let steps = b.run("return document.querySelectorAll('#steps li').length");
        b.click("[data-key=to-animate]");
        b.wait(&format!("document.querySelectorAll('#history .way').length === {steps}"));
        b.click("#to-see");
        b.wait("document.querySelectorAll('[data-node]').length > 5 && document.querySelector('.node.here')");
        b.accessible(&format!("{name}: see"));
        assert_eq!(b.run("return document.querySelector('#banner').textContent"), "", "{name}");
    }
}

#[test]
#[ignore = "needs chromium and its driver"]
fn names_and_values_with_markup_are_text() {
    let folder = folder("hostile");
    std::fs::write(folder.join("Hostile.mch"), HOSTILE).expect("a file");
    let s = Served::new(&folder, &[]);
    let _one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    let b = Browser::new();
    b.go(&link(&s));
    b.wait("document.querySelector('#state')");
    assert!(b.text("#state").contains("<img src=x onerror="));
    for c in 0..3 {
        b.click(&format!("[data-choice='{c}']"));
        std::thread::sleep(Duration::from_millis(200));
    }
    for view in ["#to-check", "#to-see", "#to-animate"] {
        b.click(view);
        b.wait("document.querySelector('main .card')");
    }
    b.click("#to-check");
    b.click("#check");
    b.wait("document.querySelector('#verdict')");
    assert_eq!(b.run("return window.broken ?? null"), Value::Null);
    assert_eq!(b.run("return document.querySelectorAll('main img, main script, main b').length"), 0);
    std::fs::remove_dir_all(folder).ok();
}

/// The page of `check --report`, as a reader has it: nothing is fetched, nothing runs, nothing is wider than the screen,
/// in light, in dark and on paper.
#[test]
#[ignore = "needs chromium and its driver"]
fn a_report_can_be_read() {
    let folder = folder("report");
    std::fs::write(folder.join("Hostile.mch"), super::report::HOSTILE).expect("a file");
    let hostile = folder.join("Hostile.mch");
    let _one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    let b = Browser::new();
    for (name, model) in [("library", Path::new("models/demo/Library.mch")), ("hostile", &hostile)] {
        let page = folder.join(format!("{name}.html"));
        let ran = super::program::kanon(&[
            "check",
            super::program::text(model),
            "--report",
            super::program::text(&page),
        ]);
        assert_eq!(ran.code, super::program::FAILS, "{}", ran.err);
        b.go(&format!("file://{}", page.display()));
        b.wait("document.querySelector('.verdict')");
        assert_eq!(b.text(".verdict"), "fails");
        assert!(b.text("main").contains("How it happens"));
        assert_eq!(
            b.run("return document.scripts.length + document.querySelectorAll('iframe, link, b b').length"),
            0
        );
        assert_eq!(b.run("return performance.getEntriesByType('resource').filter((r) => !r.name.startsWith('data:')).length"), 0);
        assert_eq!(
            b.run("return [...document.images].filter((i) => !i.complete || !i.naturalWidth).length"),
            0
        );
        for width in [1360, 420] {
            b.size(width, 900);
            let wide =
                b.run("return document.documentElement.scrollWidth - document.documentElement.clientWidth");
            assert!(wide.as_i64() <= Some(0), "{name} is {wide} pixels too wide at {width}");
            b.accessible(&format!("report {name} {width}"));
        }
        let ink = |b: &Browser| b.run("return getComputedStyle(document.body).color");
        let ground = |b: &Browser| b.run("return getComputedStyle(document.body).backgroundColor");
        assert_ne!(ink(&b), ground(&b), "{name}");
    }
    b.size(1360, 900);
    std::fs::remove_dir_all(folder).ok();
}

#[test]
#[ignore = "needs chromium and its driver"]
fn two_thousand_states_are_drawn() {
    let folder = folder("many");
    let text = "MACHINE Many VARIABLES x, y INVARIANT x : 0..44 & y : 0..44 INITIALISATION x, y := 0, 0
        OPERATIONS a = SELECT x < 44 THEN x := x + 1 END; b = SELECT y < 44 THEN y := y + 1 END END";
    std::fs::write(folder.join("Many.mch"), text).expect("a file");
    let s = Served::new(&folder, &[]);
    let _one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    let b = Browser::new();
    b.go(&format!("{}#view=see&model=Many.mch", link(&s)));
    b.wait("document.querySelectorAll('#graph circle').length === 200");
    let place = "[...document.querySelectorAll('#graph circle')].slice(0, 200).map((c) => c.getAttribute('cx') + ',' + c.getAttribute('cy')).join(' ')";
    let before = b.run(&format!("return {place}"));
    let drawn = b.time(
        "const a = document.querySelector('[data-key=amount]'); a.value = '2000'; a.dispatchEvent(new Event('change'))",
        "document.querySelectorAll('#graph circle').length === 2000",
    );
    bar("2,000 states drawn", drawn, 2000.0);
    assert_eq!(b.run(&format!("return {place}")), before, "what was drawn stays where it is");
    std::fs::remove_dir_all(folder).ok();
}

/// Watching a check on the page must not slow it down: the best of five that were watched against the best of five that
/// nobody looked at, in turn.
#[test]
#[ignore = "needs chromium and its driver"]
fn a_check_that_is_watched_is_not_slower() {
    let folder = folder("watched");
    let text = "MACHINE Large VARIABLES x, y, z INVARIANT x : 0..179 & y : 0..179 & z : 0..179
        INITIALISATION x, y, z := 0, 0, 0
        OPERATIONS a = SELECT x < 179 THEN x := x + 1 END; b = SELECT y < 179 THEN y := y + 1 END;
        c = SELECT z < 179 THEN z := z + 1 END END";
    std::fs::write(folder.join("Large.mch"), text).expect("a file");
    let s = Served::new(&folder.join("Large.mch"), &[]);
    let _one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    let b = Browser::new();
    b.go(&link(&s));
    b.wait("document.querySelector('#state')");
    b.click("#to-check");
    b.wait("document.querySelector('#check')");
    let (mut watched, mut alone) = (f64::MAX, f64::MAX);
    for _ in 0..5 {
        b.click("#check");
        b.wait("!document.querySelector('#verdict')");
        b.wait("document.querySelector('#verdict')");
        let seconds = b.run("return Number(document.querySelector('#seconds').dataset.seconds)");
        watched = watched.min(seconds.as_f64().expect("how long it took"));
        alone = alone.min(s.unwatched_check());
    }
    println!("a check, watched: {watched:.2} s, alone: {alone:.2} s");
    let slower = (watched / alone - 1.0) * 100.0;
    assert!(cfg!(debug_assertions) || slower <= 5.0, "a check that is watched is {slower:.1} % slower");
    std::fs::remove_dir_all(folder).ok();
}
