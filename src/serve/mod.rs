//! `kanon serve`: the animator in a browser. Requests in, JSON out; what they are about is computed by [`crate::animate`]
//! and [`crate::run`].
//!
//! - [`http`]: requests and responses, with their limits.
//! - [`door`]: who may come in: the address, a random token, Host and Origin.
//! - [`models`]: the models of the project's directory, and nothing outside it.
//! - [`limits`]: how much a request may take.
//! - [`tabs`]: one session for each tab of a browser.
//! - [`api`]: the questions of the page; [`shape`]: what it is told of a session; [`job`]: a check that runs meanwhile;
//!   [`other`]: what is not B.
//! - `assets`: the page: HTML, styles and modules, all our own, compiled in.
//!
//! *Absent:* computing anything; printing; other pages than ours: no scripts, styles or fonts from elsewhere.

mod api;
mod door;
mod http;
mod job;
mod limits;
mod models;
mod other;
mod shape;
mod tabs;

pub use door::token;
pub use limits::Limits;

use crate::model::scope::ScopeArgs;
use crate::run::other::Asked;
use http::Response;
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Requests that are answered at once.
const MAX_REQUESTS: usize = 48;

/// The page and what belongs to it.
const ASSETS: [(&str, &str, &str); 8] = [
    ("", "text/html; charset=utf-8", include_str!("assets/index.html")),
    ("style.css", "text/css; charset=utf-8", include_str!("assets/style.css")),
    ("app.js", "text/javascript; charset=utf-8", include_str!("assets/app.js")),
    ("dom.js", "text/javascript; charset=utf-8", include_str!("assets/dom.js")),
    ("animate.js", "text/javascript; charset=utf-8", include_str!("assets/animate.js")),
    ("check.js", "text/javascript; charset=utf-8", include_str!("assets/check.js")),
    ("see.js", "text/javascript; charset=utf-8", include_str!("assets/see.js")),
    ("icon.svg", "image/svg+xml", include_str!("assets/icon.svg")),
];

/// What is served, and how.
pub struct Settings {
    /// The address to listen at.
    pub address: IpAddr,
    /// 0: any that is free.
    pub port: u16,
    /// Sizes of sets and bounds of integers.
    pub scope: ScopeArgs,
    /// The process of a script, and what guides the machine that is served.
    pub asked: Asked,
    /// How much a request may take.
    pub limits: Limits,
}

/// A server that listens.
pub struct Server {
    listener: TcpListener,
    shared: Arc<Shared>,
}

struct Shared {
    door: door::Door,
    tabs: Arc<tabs::Tabs>,
}

impl Server {
    /// Listens, for a model or a directory of models.
    ///
    /// # Errors
    /// A path or an address that cannot be had.
    pub fn bind(path: &Path, settings: Settings) -> Result<Server, String> {
        let script = settings.asked.guide.as_ref().map(|g| &*g.script);
        let models = models::Models::of(path, script)?;
        let at = SocketAddr::new(settings.address, settings.port);
        let listener = TcpListener::bind(at).map_err(|e| format!("cannot listen at {at}: {e}"))?;
        let address = listener.local_addr().map_err(|e| format!("cannot listen at {at}: {e}"))?;
        let door = door::Door::new(address);
        let tabs = Arc::new(tabs::Tabs::new(models, settings.scope, settings.asked, settings.limits));
        Ok(Server { listener, shared: Arc::new(Shared { door, tabs }) })
    }

    /// Where the page is, with its token.
    pub fn url(&self) -> String {
        self.shared.door.url()
    }

    /// Answers requests for ever.
    pub fn run(&self) {
        let busy = Arc::new(AtomicUsize::new(0));
        for stream in self.listener.incoming() {
            let Ok(mut stream) = stream else { continue };
            if busy.load(Ordering::Relaxed) >= MAX_REQUESTS {
                Response::refused(503, "too many requests at once").send(&mut stream);
                continue;
            }
            busy.fetch_add(1, Ordering::Relaxed);
            let (shared, left) = (self.shared.clone(), Left(busy.clone()));
            // Trees are as deep as texts nest.
            let started = crate::lang::stack::thread().spawn(move || {
                let _left = left;
                shared.serve(&mut stream);
            });
            // Without a thread there is no answer; the next request may have one.
            drop(started);
        }
    }
}

/// One request fewer, however it ends.
struct Left(Arc<AtomicUsize>);

impl Drop for Left {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Shared {
    fn serve(&self, stream: &mut TcpStream) {
        let response = match http::read(stream) {
            Ok(request) => self.answer(&request),
            Err(Some(response)) => response,
            Err(None) => return,
        };
        response.send(stream);
    }

    fn answer(&self, request: &http::Request) -> Response {
        let path = match self.door.enter(request) {
            Ok(path) => path,
            Err(response) => return response,
        };
        if let Some(question) = path.strip_prefix("api/") {
            return api::answer(&self.tabs, question, request);
        }
        if request.method != "GET" {
            return Response::refused(405, "this can only be read");
        }
        match ASSETS.iter().find(|(name, ..)| *name == path) {
            Some((_, kind, text)) => Response::new(200, kind, *text),
            None => Response::refused(404, "there is no such page"),
        }
    }
}
