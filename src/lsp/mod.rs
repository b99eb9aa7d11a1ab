//! A language server: what an editor shows while one types. Messages in, answers out; docs/editors.md says which.
//!
//! One thread answers, one message after the other. When no message is waiting, documents that changed are read again
//! and their diagnostics sent, with the version that they are about: so there is never one for an older text. What
//! takes longer (checks, traces) runs in threads of its own, is stopped by the next change, and is dropped if it is
//! about an older version.
//!
//! Absent on purpose: reading models, which the front end does; names and where they are declared, which
//! [`crate::lang::b::index`] knows; checking, which [`crate::run`] does.

mod answers;
mod checks;
pub mod text;
mod world;

use checks::{Answer, Checks, Finished};
use crossbeam_channel::{Receiver, select, unbounded};
use lsp_server::{Connection, ErrorCode, Message, Notification, Request, Response};
use serde_json::{Value as Json, json};
use std::panic::{AssertUnwindSafe, catch_unwind};
use text::Text;
use world::World;

/// Talks to the editor at the other end of standard input and output until it says good-bye.
///
/// # Errors
/// What was wrong with the conversation.
pub fn run() -> Result<(), String> {
    let (connection, threads) = Connection::stdio();
    let ended = serve(connection);
    threads.join().map_err(|e| e.to_string())?;
    ended
}

/// The same over any connection.
///
/// # Errors
/// What was wrong with the conversation.
pub fn serve(connection: Connection) -> Result<(), String> {
    let (id, params) = connection.initialize_start().map_err(|e| e.to_string())?;
    let version = env!("CARGO_PKG_VERSION");
    let answer =
        json!({ "capabilities": capabilities(), "serverInfo": { "name": "kanon", "version": version } });
    connection.initialize_finish(id, answer).map_err(|e| e.to_string())?;
    let (sender, finished) = unbounded();
    let refreshes = params["capabilities"]["workspace"]["codeLens"]["refreshSupport"] == true;
    let mut server =
        Server { connection, world: World::default(), checks: Checks::new(sender), refreshes, asked: 0 };
    let ended = server.talk(&finished);
    server.checks.cancel_all();
    ended
}

fn capabilities() -> Json {
    json!({
        "positionEncoding": "utf-16",
        "textDocumentSync": { "openClose": true, "change": 2, "save": true },
        "hoverProvider": true,
        "definitionProvider": true,
        "referencesProvider": true,
        "documentHighlightProvider": true,
        "renameProvider": { "prepareProvider": true },
        "completionProvider": {},
        "foldingRangeProvider": true,
        "documentSymbolProvider": true,
        "documentFormattingProvider": true,
        "codeLensProvider": { "resolveProvider": false },
        "executeCommandProvider": { "commands": COMMANDS },
    })
}

/// Commands: each takes the document, `kanon.openTrace` the file of the trace as well.
const COMMANDS: [&str; 4] = ["kanon.check", "kanon.cancel", "kanon.openTrace", "kanon.closeTrace"];

struct Server {
    connection: Connection,
    world: World,
    checks: Checks,
    /// The editor can be told to ask for lenses again.
    refreshes: bool,
    /// Requests that were sent to the editor.
    asked: i32,
}

type Answered = Result<Json, (ErrorCode, String)>;

fn failed(why: impl Into<String>) -> (ErrorCode, String) {
    (ErrorCode::RequestFailed, why.into())
}

impl Server {
    fn talk(&mut self, finished: &Receiver<Finished>) -> Result<(), String> {
        let messages = self.connection.receiver.clone();
        loop {
            select! {
                recv(messages) -> message => match message {
                    Ok(message) => {
                        if self.hear(message)? {
                            return Ok(());
                        }
                    }
                    // The editor is gone.
                    Err(_) => return Ok(()),
                },
                recv(finished) -> answer => {
                    if let Ok(answer) = answer {
                        self.finish(answer);
                    }
                }
            }
            if messages.is_empty() {
                self.publish();
            }
        }
    }

    /// Takes a message; whether it was the last one.
    fn hear(&mut self, message: Message) -> Result<bool, String> {
        match message {
            Message::Request(request) => {
                if self.connection.handle_shutdown(&request).map_err(|e| e.to_string())? {
                    return Ok(true);
                }
                let id = request.id.clone();
                // A mistake of ours costs one answer, not the conversation.
                let answer = catch_unwind(AssertUnwindSafe(|| self.answer(&request)));
                let answer = answer.unwrap_or_else(|_| {
                    Err((ErrorCode::InternalError, "this is a bug of kanon, please report it".to_string()))
                });
                let response = match answer {
                    Ok(result) => Response::new_ok(id, result),
                    Err((code, message)) => Response::new_err(id, code as i32, message),
                };
                self.send(response.into());
            }
            Message::Notification(n) if n.method == "exit" => return Ok(true),
            Message::Notification(notification) => {
                let _ = catch_unwind(AssertUnwindSafe(|| self.note(&notification)));
            }
            Message::Response(_) => {}
        }
        Ok(false)
    }

    /// If the editor is gone, the next message says so.
    fn send(&self, message: Message) {
        let _ = self.connection.sender.send(message);
    }

    fn notify(&self, method: &str, params: Json) {
        self.send(Notification { method: method.to_string(), params }.into());
    }

    fn note(&mut self, notification: &Notification) {
        let params = &notification.params;
        let document = &params["textDocument"];
        let uri = document["uri"].as_str().unwrap_or_default().to_string();
        let version = document["version"].as_i64().unwrap_or(0);
        match &*notification.method {
            "textDocument/didOpen" => {
                self.world.put(&uri, version, Text::new(document["text"].as_str().unwrap_or_default()));
            }
            "textDocument/didChange" => {
                let Some(old) = self.world.document(&uri) else { return };
                let changes = params["contentChanges"].as_array().map(Vec::as_slice).unwrap_or_default();
                let text = changes.iter().fold(old.text.clone(), |text, change| text.changed(change));
                self.world.put(&uri, version, text);
                self.stop_stale();
            }
            "textDocument/didClose" => {
                self.checks.cancel(&uri);
                self.world.close(&uri);
                self.notify("textDocument/publishDiagnostics", json!({ "uri": uri, "diagnostics": [] }));
            }
            // Files beside an open document have changed, or may have.
            "textDocument/didSave" | "workspace/didChangeWatchedFiles" => {
                self.world.all_touched();
                self.stop_stale();
            }
            _ => {}
        }
    }

    /// Checks of documents that have changed, or whose files have, are of no use.
    fn stop_stale(&mut self) {
        for d in self.world.open.iter().filter(|d| d.known.is_none()) {
            self.checks.cancel(&d.uri);
        }
    }

    /// Sends the diagnostics of all documents whose text they have not been sent for.
    fn publish(&mut self) {
        let uris = self.world.open.iter().filter(|d| !d.is_published).map(|d| d.uri.clone());
        for uri in uris.collect::<Vec<_>>() {
            let _ = catch_unwind(AssertUnwindSafe(|| self.world.looked_at(&uri).is_some()));
            let Some(d) = self.world.document_mut(&uri) else { continue };
            d.is_published = true;
            let mut all: Vec<Json> = vec![];
            if let Some(known) = &d.known {
                all.extend(known.diagnostics.iter().map(|one| answers::diagnostic(one, d, &known.sources)));
            }
            all.extend(d.checked.iter().flat_map(|(found, _)| found.clone()));
            let params = json!({ "uri": uri, "version": d.version, "diagnostics": all });
            self.notify("textDocument/publishDiagnostics", params);
        }
    }

    fn finish(&mut self, finished: Finished) {
        if !self.checks.ended(&finished) {
            return;
        }
        let Some(d) = self.world.document_mut(&finished.uri) else { return };
        if d.version != finished.version {
            return;
        }
        match finished.answer {
            Answer::Values(Ok(values)) => {
                let words = format!("values are those {}", values.0);
                d.values = Some(values);
                self.show(3, &words);
            }
            Answer::Values(Err(why)) => self.show(1, &why),
            Answer::Checked(outcome) => {
                let found = outcome.found.iter().map(|(lo, hi, words)| {
                    json!({ "range": d.text.range(*lo, *hi), "severity": 1, "source": "kanon check",
                            "message": words })
                });
                d.checked = Some((found.collect(), outcome.words.clone()));
                d.is_published = false;
                self.notify("kanon/checked", outcome.json(&finished.uri, finished.version));
                let kind = match outcome.verdict {
                    "holds" => 3,
                    "unknown" => 2,
                    _ => 1,
                };
                self.show(kind, &outcome.words);
            }
        }
        self.refresh();
    }

    /// A message in a window: 1 is an error, 2 a warning, 3 information.
    fn show(&self, kind: u32, message: &str) {
        self.notify("window/showMessage", json!({ "type": kind, "message": format!("kanon: {message}") }));
    }

    /// Lenses have changed.
    fn refresh(&mut self) {
        if self.refreshes {
            self.asked += 1;
            let id = format!("kanon-{}", self.asked).into();
            self.send(Request { id, method: "workspace/codeLens/refresh".into(), params: Json::Null }.into());
        }
    }

    fn answer(&mut self, request: &Request) -> Answered {
        let params = &request.params;
        let uri = params["textDocument"]["uri"].as_str().unwrap_or_default().to_string();
        let (world, at) = (&mut self.world, &params["position"]);
        let is_about_document = request.method.starts_with("textDocument/");
        if is_about_document && world.document(&uri).is_none() {
            return Err((ErrorCode::InvalidParams, format!("{uri} is not open")));
        }
        let or_null = |answer: Option<Json>| Ok(answer.unwrap_or_default());
        match &*request.method {
            "textDocument/hover" => or_null(answers::hover(world, &uri, at)),
            "textDocument/definition" => or_null(answers::definition(world, &uri, at)),
            "textDocument/references" => {
                let with = params["context"]["includeDeclaration"].as_bool().unwrap_or(true);
                or_null(answers::references(world, &uri, at, with))
            }
            "textDocument/documentHighlight" => or_null(answers::highlights(world, &uri, at)),
            "textDocument/prepareRename" => answers::renamable(world, &uri, at).map_err(failed),
            "textDocument/rename" => {
                let new = params["newName"].as_str().unwrap_or_default();
                answers::rename(world, &uri, at, new).map_err(failed)
            }
            "textDocument/completion" => or_null(answers::completion(world, &uri, at)),
            "textDocument/foldingRange" => or_null(answers::folds(world, &uri)),
            "textDocument/documentSymbol" => or_null(answers::symbols(world, &uri)),
            "textDocument/formatting" => {
                let options = &params["options"];
                let indent = options["tabSize"].as_u64().filter(|_| options["insertSpaces"] == true);
                answers::formatting(world, &uri, indent).map_err(failed)
            }
            "textDocument/codeLens" => {
                let is_running = self.checks.is_running(&uri);
                or_null(answers::lenses(world, &uri, is_running))
            }
            "workspace/executeCommand" => self.execute(params),
            other => Err((ErrorCode::MethodNotFound, format!("{other} is not supported"))),
        }
    }

    fn execute(&mut self, params: &Json) -> Answered {
        let command = params["command"].as_str().unwrap_or_default();
        let uri = params["arguments"][0].as_str().unwrap_or_default();
        let Some(d) = self.world.document(uri) else {
            return Err((ErrorCode::InvalidParams, format!("`{uri}` is not an open document")));
        };
        match command {
            "kanon.check" => {
                self.checks.check(&self.world, d).map_err(failed)?;
                if let Some(d) = self.world.document_mut(uri) {
                    // What an earlier check found is not shown beside the new one.
                    d.checked = None;
                    d.is_published = false;
                }
            }
            "kanon.cancel" => {
                if self.checks.cancel(uri) {
                    self.show(3, "cancelled");
                }
            }
            "kanon.openTrace" => {
                let file = params["arguments"][1].as_str().ok_or_else(|| failed("which trace?"))?;
                self.checks.trace(&self.world, d, world::path_of(file)).map_err(failed)?;
            }
            "kanon.closeTrace" => {
                if let Some(d) = self.world.document_mut(uri) {
                    d.values = None;
                }
            }
            _ => return Err((ErrorCode::InvalidParams, format!("there is no command `{command}`"))),
        }
        self.refresh();
        Ok(Json::Null)
    }
}
