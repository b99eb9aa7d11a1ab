//! `kanon lsp`: conversations with an editor, over standard input and output.

use crate::program::{FAILS, file, kanon, program};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

const PATIENCE: Duration = Duration::from_secs(60);

struct Editor {
    child: Child,
    input: ChildStdin,
    messages: Receiver<Value>,
    /// What came while something else was waited for.
    heard: Vec<Value>,
    asked: i64,
}

impl Drop for Editor {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn uri(path: &Path) -> String {
    format!("file://{}", path.display())
}

impl Editor {
    fn new() -> Editor {
        let mut child = program();
        child.arg("lsp").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = child.spawn().expect("the program starts");
        let input = child.stdin.take().expect("it is piped");
        let mut output = BufReader::new(child.stdout.take().expect("it is piped"));
        let (sender, messages) = channel();
        std::thread::spawn(move || {
            loop {
                let mut length = 0;
                loop {
                    let mut line = String::new();
                    if output.read_line(&mut line).unwrap_or(0) == 0 {
                        return;
                    }
                    if line.trim().is_empty() {
                        break;
                    }
                    if let Some(n) = line.strip_prefix("Content-Length: ") {
                        length = n.trim().parse().expect("a length");
                    }
                }
                let mut bytes = vec![0; length];
                if output.read_exact(&mut bytes).is_err() {
                    return;
                }
                let _ = sender.send(serde_json::from_slice(&bytes).expect("JSON"));
            }
        });
        let mut editor = Editor { child, input, messages, heard: vec![], asked: 0 };
        let answer =
            editor.ask("initialize", json!({ "capabilities": {}, "processId": null, "rootUri": null }));
        let sync = &answer.expect("it begins")["capabilities"]["textDocumentSync"];
        assert_eq!(sync["change"], 2, "changes of ranges");
        editor.tell("initialized", json!({}));
        editor
    }

    fn send(&mut self, message: &Value) {
        let text = message.to_string();
        write!(self.input, "Content-Length: {}\r\n\r\n{text}", text.len()).expect("it listens");
        self.input.flush().expect("it listens");
    }

    fn tell(&mut self, method: &str, params: Value) {
        self.send(&json!({ "jsonrpc": "2.0", "method": method, "params": params }));
    }

    /// The first message for which there is an answer.
    fn wait<T>(&mut self, mut wanted: impl FnMut(&Value) -> Option<T>) -> T {
        if let Some(found) = self.heard.iter().find_map(&mut wanted) {
            return found;
        }
        let begin = Instant::now();
        while begin.elapsed() < PATIENCE {
            let message = self.messages.recv_timeout(PATIENCE).expect("it answers");
            let found = wanted(&message);
            self.heard.push(message);
            if let Some(found) = found {
                return found;
            }
        }
        panic!("nothing of the kind was said");
    }

    fn ask(&mut self, method: &str, params: Value) -> Result<Value, Value> {
        self.asked += 1;
        let id = self.asked;
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        self.wait(|m| {
            let is_answer = m["id"] == id && m.get("method").is_none();
            is_answer.then(|| match m.get("error") {
                Some(e) => Err(e.clone()),
                None => Ok(m["result"].clone()),
            })
        })
    }

    fn open(&mut self, uri: &str, text: &str) {
        let document = json!({ "uri": uri, "languageId": "b", "version": 1, "text": text });
        self.tell("textDocument/didOpen", json!({ "textDocument": document }));
    }

    fn change(&mut self, uri: &str, version: i64, change: Value) {
        let document = json!({ "uri": uri, "version": version });
        let params = json!({ "textDocument": document, "contentChanges": [change] });
        self.tell("textDocument/didChange", params);
    }

    /// The diagnostics of a version of a document.
    fn diagnostics(&mut self, uri: &str, version: i64) -> Vec<Value> {
        let published = "textDocument/publishDiagnostics";
        // The last of that version: a check may add to them.
        let found = self.wait(|m| {
            let p = &m["params"];
            let is_it = m["method"] == published && p["uri"] == uri && p["version"] == version;
            is_it.then(|| p["diagnostics"].clone())
        });
        found.as_array().expect("a list").clone()
    }

    /// A question about a position, `line:column`.
    fn at(&mut self, method: &str, uri: &str, place: (u32, u32), more: Value) -> Result<Value, Value> {
        let mut params = json!({ "textDocument": { "uri": uri },
                                 "position": { "line": place.0, "character": place.1 } });
        let (all, more) = (params.as_object_mut(), more.as_object().cloned());
        all.expect("an object").extend(more.unwrap_or_default());
        self.ask(&format!("textDocument/{method}"), params)
    }

    /// Says good-bye; the program ends by itself.
    fn leave(mut self) {
        assert_eq!(self.ask("shutdown", Value::Null), Ok(Value::Null));
        self.tell("exit", Value::Null);
        let begin = Instant::now();
        while begin.elapsed() < PATIENCE {
            if let Some(status) = self.child.try_wait().expect("it can be waited for") {
                assert!(status.success());
                return;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        panic!("it does not end");
    }
}

fn range(a: (u32, u32), b: (u32, u32)) -> Value {
    let at = |(line, character): (u32, u32)| json!({ "line": line, "character": character });
    json!({ "start": at(a), "end": at(b) })
}

const COUNTER: &str = "\
MACHINE Counter /* 𝔹 */
SEES Limits
DEFINITIONS next(e) == e + 1
VARIABLES x, s
INVARIANT x : 0..limit & s <: COLOUR
INITIALISATION x := 0 || s := {}
OPERATIONS
  up(y) = PRE y : 1..2 & !z.(z : s => z : COLOUR) THEN
    x := next(x)
  END
END
";
const LIMITS: &str = "MACHINE Limits SETS COLOUR = {red, green} CONSTANTS limit PROPERTIES limit = 3 END";

#[test]
fn a_conversation() {
    file("lsp", "Limits.mch", LIMITS);
    let path = file("lsp", "Counter.mch", COUNTER);
    let counter = uri(&path);
    let limits = counter.replace("Counter", "Limits");
    let mut editor = Editor::new();
    // As one types: a mistake, and its end.
    editor.open(&counter, &COUNTER.replace("0..limit", "0..limits"));
    let found = editor.diagnostics(&counter, 1);
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0]["range"], range((4, 17), (4, 23)));
    editor.change(&counter, 2, json!({ "range": range((4, 22), (4, 23)), "text": "" }));
    assert_eq!(editor.diagnostics(&counter, 2), [] as [Value; 0]);
    let words = |hover: Result<Value, Value>| hover.expect("an answer")["contents"]["value"].to_string();
    assert!(words(editor.at("hover", &counter, (8, 4), json!({}))).contains("x : INTEGER"));
    assert!(words(editor.at("hover", &counter, (7, 27), json!({}))).contains("z : COLOUR"));
    assert!(words(editor.at("hover", &counter, (8, 10), json!({}))).contains("next(e) == e + 1"));
    assert!(words(editor.at("hover", &counter, (4, 18), json!({}))).contains("constant of Limits.mch"));
    assert!(editor.at("hover", &counter, (0, 1), json!({})).expect("an answer").is_null());
    let goes = |answer: Result<Value, Value>| answer.map(|a| (a["uri"].clone(), a["range"].clone()));
    let x = range((3, 10), (3, 11));
    assert_eq!(goes(editor.at("definition", &counter, (8, 14), json!({}))), Ok((json!(counter), x)));
    let there = goes(editor.at("definition", &counter, (4, 18), json!({}))).expect("an answer");
    assert_eq!(there.0, json!(limits));
    let machine = goes(editor.at("definition", &counter, (1, 6), json!({}))).expect("an answer");
    assert_eq!(machine, (json!(limits), range((0, 8), (0, 14))));
    let uses =
        editor.at("references", &counter, (3, 10), json!({ "context": { "includeDeclaration": false } }));
    assert_eq!(uses.expect("an answer").as_array().map(Vec::len), Some(4));
    let uses = editor.at("documentHighlight", &counter, (3, 10), json!({}));
    assert_eq!(uses.expect("an answer").as_array().map(Vec::len), Some(5));
    renamings(&mut editor, &counter, &limits);
    let items = editor.at("completion", &counter, (8, 4), json!({})).expect("an answer");
    let labels: Vec<&str> =
        items["items"].as_array().into_iter().flatten().filter_map(|i| i["label"].as_str()).collect();
    for name in ["x", "y", "next", "limit", "red", "SELECT", "card"] {
        assert!(labels.contains(&name), "{name}: {labels:?}");
    }
    assert!(!labels.contains(&"z"), "z is bound elsewhere");
    let here = json!({ "textDocument": { "uri": counter } });
    let folds = editor.ask("textDocument/foldingRange", here.clone()).expect("an answer");
    assert!(
        folds.as_array().is_some_and(|f| f.contains(&json!({ "startLine": 7, "endLine": 9 }))),
        "{folds}"
    );
    let symbols = editor.ask("textDocument/documentSymbol", here.clone()).expect("an answer");
    let inside = symbols[0]["children"].as_array().into_iter().flatten().filter_map(|s| s["name"].as_str());
    assert_eq!(inside.collect::<Vec<_>>(), ["next", "x", "s", "up"]);
    let options =
        json!({ "textDocument": { "uri": counter }, "options": { "tabSize": 2, "insertSpaces": true } });
    let edits = editor.ask("textDocument/formatting", options).expect("an answer");
    assert!(
        edits[0]["newText"].as_str().is_some_and(|t| t.contains("\n      x := next(x)\n    END\n")),
        "{edits}"
    );
    let unknown = editor.ask("textDocument/moniker", here).expect_err("not supported");
    assert_eq!(unknown["code"], -32601);
    editor.leave();
}

const PATH: &str = "context Track\nconstants last\naxioms\n  @axm1 last = 4\nend\n";

const CAR: &str = "machine Car sees Track\nvariables at\ninvariants\n  @inv1 at ∈ 0‥last\nevents\n  \
                   event INITIALISATION\n    then\n      @act1 at ≔ 0\n  end\n\n  \
                   event go\n    any far\n    where\n      @grd1 far ∈ 1‥last − at\n    then\n      \
                   @act1 at ≔ at + far\n  end\nend\n";

/// A text of Event-B, and a context in a file of its own.
#[test]
fn a_conversation_about_event_b() {
    let track = uri(&file("lsp-eventb", "Track.ctxx", PATH));
    let car = uri(&file("lsp-eventb", "Car.eventb", CAR));
    let mut editor = Editor::new();
    editor.open(&car, &CAR.replace("0‥last", "0‥lost"));
    let found = editor.diagnostics(&car, 1);
    assert!(found.iter().any(|d| d["range"]["start"]["line"] == 3), "{found:?}");
    editor.change(&car, 2, json!({ "text": CAR }));
    assert_eq!(editor.diagnostics(&car, 2), [] as [Value; 0]);
    let words = |hover: Result<Value, Value>| hover.expect("an answer")["contents"]["value"].to_string();
    let variable = words(editor.at("hover", &car, (15, 17), json!({})));
    assert!(variable.contains("at : INTEGER") && variable.contains("variable"), "{variable}");
    assert!(words(editor.at("hover", &car, (3, 16), json!({}))).contains("constant of Track.ctxx"));
    assert!(words(editor.at("hover", &car, (10, 9), json!({}))).contains("event go"));
    let goes = |answer: Result<Value, Value>| answer.map(|a| (a["uri"].clone(), a["range"].clone()));
    let far = goes(editor.at("definition", &car, (15, 22), json!({})));
    assert_eq!(far, Ok((json!(car), range((11, 8), (11, 11)))));
    let last = goes(editor.at("definition", &car, (3, 16), json!({})));
    assert_eq!(last, Ok((json!(track), range((1, 10), (1, 14)))));
    let context = goes(editor.at("definition", &car, (0, 18), json!({})));
    assert_eq!(context, Ok((json!(track), range((0, 8), (0, 13)))));
    let uses = editor.at("references", &car, (1, 10), json!({}));
    assert_eq!(uses.expect("an answer").as_array().map(Vec::len), Some(6));
    let here = json!({ "textDocument": { "uri": car } });
    let symbols = editor.ask("textDocument/documentSymbol", here.clone()).expect("an answer");
    assert_eq!(symbols[0]["name"], "Car");
    let inside = symbols[0]["children"].as_array().into_iter().flatten().filter_map(|s| s["name"].as_str());
    assert_eq!(inside.collect::<Vec<_>>(), ["at", "INITIALISATION", "go"]);
    let folds = editor.ask("textDocument/foldingRange", here).expect("an answer");
    assert!(
        folds.as_array().is_some_and(|f| f.contains(&json!({ "startLine": 10, "endLine": 16 }))),
        "{folds}"
    );
    let items = editor.at("completion", &car, (13, 12), json!({})).expect("an answer");
    let labels: Vec<&str> =
        items["items"].as_array().into_iter().flatten().filter_map(|i| i["label"].as_str()).collect();
    for name in ["at", "far", "last", "where"] {
        assert!(labels.contains(&name), "{name}: {labels:?}");
    }
    let refused = editor.at("rename", &car, (1, 10), json!({ "newName": "place" })).expect_err("not here");
    assert!(refused["message"].as_str().is_some_and(|m| m.contains("classical B")), "{refused}");
    editor.leave();
}

/// Scripts of CSP-M are typed, and no more.
#[test]
fn mistakes_in_scripts_of_csp_are_shown() {
    let script = uri(&file("lsp-csp", "Ticket.csp", ""));
    let mut editor = Editor::new();
    editor.open(&script, "channel cash, ticket\nM = cash -> tiket -> M\n");
    let found = editor.diagnostics(&script, 1);
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0]["range"], range((1, 12), (1, 17)));
    editor.change(&script, 2, json!({ "range": range((1, 14), (1, 14)), "text": "c" }));
    assert_eq!(editor.diagnostics(&script, 2), [] as [Value; 0]);
    assert!(editor.at("hover", &script, (1, 5), json!({})).expect("an answer").is_null());
    let lenses = editor.ask("textDocument/codeLens", json!({ "textDocument": { "uri": script } }));
    assert_eq!(lenses, Ok(json!([])));
    editor.leave();
}

fn renamings(editor: &mut Editor, counter: &str, limits: &str) {
    let rename = |editor: &mut Editor, place, new: &str| {
        editor.at("rename", counter, place, json!({ "newName": new }))
    };
    let edits = rename(editor, (7, 5), "amount").expect("y is free for it");
    assert_eq!(edits["changes"][counter].as_array().map(Vec::len), Some(2));
    let edits = rename(editor, (4, 18), "most").expect("in two files");
    assert_eq!(edits["changes"][counter].as_array().map(Vec::len), Some(1));
    assert_eq!(edits["changes"][limits].as_array().map(Vec::len), Some(2));
    for (place, new, why) in [
        ((3, 10), "s", "clash"),
        ((3, 10), "red", "has a `red` already"),
        ((3, 13), "z", "captured"),
        ((3, 13), "END", "reserved"),
        ((3, 13), "no name", "no name"),
        ((0, 10), "Other", "called like its file"),
        ((7, 29), "s", "captured"),
    ] {
        let refused = rename(editor, place, new).expect_err(why);
        assert!(refused["message"].as_str().is_some_and(|m| m.contains(why)), "{new}: {refused}");
    }
}

#[test]
fn checks_and_traces() {
    let text = std::fs::read_to_string("models/demo/Library.mch")
        .or_else(|_| {
            std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("models/demo/Library.mch"))
        })
        .expect("the model");
    let path = file("lsp-check", "Library.mch", &text);
    let library = uri(&path);
    let trace = path.with_file_name("trace.json");
    let ran = kanon(&["check", &path.display().to_string(), "--trace", &trace.display().to_string()]);
    assert_eq!(ran.code, FAILS);
    let mut editor = Editor::new();
    editor.open(&library, &text);
    assert_eq!(editor.diagnostics(&library, 1), [] as [Value; 0]);
    let here = json!({ "textDocument": { "uri": library } });
    let lens = editor.ask("textDocument/codeLens", here).expect("an answer");
    assert_eq!(lens[0]["command"]["title"], "check Library");
    let command = |name: &str, more: &[&str]| {
        let arguments: Vec<&str> = [&[&*library], more].concat();
        json!({ "command": name, "arguments": arguments })
    };
    editor.ask("workspace/executeCommand", command("kanon.check", &[])).expect("it begins");
    let answer = editor.wait(|m| (m["method"] == "kanon/checked").then(|| m["params"].clone()));
    assert_eq!((&answer["verdict"], &answer["version"]), (&json!("fails"), &json!(1)));
    let found = editor.wait(|m| {
        let all = m["params"]["diagnostics"].as_array()?;
        all.iter().find(|d| d["source"] == "kanon check").cloned()
    });
    assert!(found["range"]["start"]["line"].as_u64().is_some_and(|l| l > 0), "at the conjunct: {found}");
    // The values of a trace, until the text changes.
    let trace = format!("file://{}", trace.display());
    editor.ask("workspace/executeCommand", command("kanon.openTrace", &[&trace])).expect("it begins");
    editor.wait(|m| m["params"]["message"].as_str().filter(|t| t.contains("values are those")).map(str::len));
    let line = text.lines().position(|l| l.starts_with("VARIABLES")).expect("variables") as u32;
    let hover = editor.at("hover", &library, (line, 10), json!({})).expect("an answer");
    assert!(hover["contents"]["value"].as_str().is_some_and(|t| t.contains("lent = {(")), "{hover}");
    editor.change(&library, 2, json!({ "range": range((0, 0), (0, 0)), "text": " " }));
    assert_eq!(editor.diagnostics(&library, 2), [] as [Value; 0], "what the check found was of another text");
    let hover = editor.at("hover", &library, (line, 10), json!({})).expect("an answer");
    assert!(hover["contents"]["value"].as_str().is_some_and(|t| !t.contains(" = {(")), "{hover}");
    editor.ask("workspace/executeCommand", command("kanon.fly", &[])).expect_err("no such command");
    // A long check is stopped by a change.
    let endless =
        "MACHINE E VARIABLES x INVARIANT x : NATURAL INITIALISATION x := 0 OPERATIONS up = x := x + 1 END";
    editor.change(&library, 3, json!({ "text": endless }));
    editor.ask("workspace/executeCommand", command("kanon.check", &[])).expect("it begins");
    let here = json!({ "textDocument": { "uri": library } });
    let lens = editor.ask("textDocument/codeLens", here.clone()).expect("an answer");
    assert_eq!(lens[0]["command"]["command"], "kanon.cancel");
    editor.change(&library, 4, json!({ "text": format!("{endless} ") }));
    let lens = editor.ask("textDocument/codeLens", here).expect("an answer");
    assert_eq!(lens[0]["command"]["command"], "kanon.check");
    editor.leave();
}

/// A source of choices that is the same in every run.
struct Dice(u64);

impl Dice {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) as usize % n.max(1)
    }
}

/// The position of a byte, counted here in another way than there.
fn position(text: &str, at: usize) -> (u32, u32) {
    let before = text[..at].replace("\r\n", "\n").replace('\r', "\n");
    let line = before.matches('\n').count() as u32;
    let last = before.rsplit('\n').next().unwrap_or_default();
    (line, last.chars().map(|c| c.len_utf16() as u32).sum())
}

fn boundary(text: &str, dice: &mut Dice) -> usize {
    let mut at = dice.below(text.len() + 1);
    while !text.is_char_boundary(at) || text[..at].ends_with('\r') && text[at..].starts_with('\n') {
        at -= 1;
    }
    at
}

/// Random edits, several at a time: the server lives, what it says is of the version that it names, the last word is about
/// the last version, and is what it says of the same text sent whole.
#[test]
fn random_edits() {
    let rounds = std::env::var("KANON_EDITS").ok().and_then(|n| n.parse().ok()).unwrap_or(12);
    let pieces = [
        "x", " : ", "∈", "𝔹", "\n", "\r\n", "\r", "END", "/*", "*/", "\"", "(", ")", " := ", "{", "}", ";",
        "é", "1",
    ];
    let mut dice = Dice(7);
    let mut editor = Editor::new();
    file("lsp-random", "Limits.mch", LIMITS);
    for round in 0..rounds {
        let name = uri(&file("lsp-random", &format!("Random{round}.mch"), COUNTER));
        let mut text = COUNTER.to_string();
        editor.open(&name, &text);
        let mut version = 1;
        for _ in 0..1 + dice.below(30) {
            let (a, b) = (boundary(&text, &mut dice), boundary(&text, &mut dice));
            let (a, b) = (a.min(b), a.max(b).min(a.min(b) + dice.below(12)));
            let b = (b..=text.len()).find(|i| text.is_char_boundary(*i)).unwrap_or(a);
            // No range ends between the two characters that end a line.
            let b = if text[..b].ends_with('\r') && text[b..].starts_with('\n') { b + 1 } else { b };
            let new = pieces[dice.below(pieces.len())];
            version += 1;
            let change = json!({ "range": range(position(&text, a), position(&text, b)), "text": new });
            text.replace_range(a..b, new);
            editor.change(&name, version, change);
            if dice.below(4) == 0 {
                // Something in between, about what may be half a machine.
                let place = position(&text, boundary(&text, &mut dice));
                for method in ["hover", "definition", "completion", "references"] {
                    editor.at(method, &name, place, json!({ "context": {} })).expect("an answer");
                }
            }
        }
        let by_pieces = editor.diagnostics(&name, version);
        editor.change(&name, version + 1, json!({ "text": text }));
        let whole = editor.diagnostics(&name, version + 1);
        assert_eq!(by_pieces, whole, "round {round}: {text:?}");
        let versions: Vec<i64> = editor
            .heard
            .iter()
            .filter(|m| m["params"]["uri"] == name)
            .filter_map(|m| m["params"]["version"].as_i64())
            .collect();
        assert!(versions.is_sorted(), "{versions:?}");
        editor.tell("textDocument/didClose", json!({ "textDocument": { "uri": name } }));
        editor.heard.clear();
    }
    editor.leave();
}

/// A real editor: neovim, with the settings of `editors/neovim`. `./test --long` runs it.
#[test]
#[ignore = "needs neovim"]
fn neovim() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    file("lsp-neovim", "Limits.mch", LIMITS);
    let path = file("lsp-neovim", "Counter.mch", COUNTER.replace("0..limit", "0..limits"));
    let ran = Command::new("nvim")
        .args(["--clean", "--headless", "-c", "luafile editors/neovim/walk.lua"])
        .env("KANON", env!("CARGO_BIN_EXE_kanon"))
        .env("MODEL", &path)
        .current_dir(root)
        .output()
        .expect("nvim is installed");
    let said = format!("{}{}", String::from_utf8_lossy(&ran.stdout), String::from_utf8_lossy(&ran.stderr));
    assert!(ran.status.success() && said.contains("the walk is over"), "{said}");
}
