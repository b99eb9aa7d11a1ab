//! One session for each tab of a browser. Tabs do not share anything that changes.

use super::job::Job;
use super::limits::{Limits, lock};
use super::models::Models;
use super::other::{Origin, Other};
use crate::animate::{Animated, Session};
use crate::model::open::Refused;
use crate::model::scope::ScopeArgs;
use crate::run::Deadline;
use crate::run::other::{Asked, Language};
use std::collections::HashMap;
use std::path::Path;
use std::sync::atomic::AtomicUsize;
use std::sync::{Arc, Mutex};
use std::time::Instant;

/// Sessions at once: the one that was not used for the longest time is given up.
const MAX_TABS: usize = 24;

/// A model that is stepped through.
pub enum Opened {
    /// A machine of B.
    Machine(Box<Session>),
    /// Something else.
    Other(Box<Other>),
}

impl Opened {
    /// What both can do.
    pub fn animated(&mut self) -> &mut dyn Animated {
        match self {
            Opened::Machine(session) => &mut **session,
            Opened::Other(other) => &mut *other.walk,
        }
    }

    /// Whether a file is another one now.
    pub fn is_stale(&self) -> bool {
        match self {
            Opened::Machine(session) => session.is_stale(),
            Opened::Other(other) => other.is_stale(),
        }
    }
}

/// What a tab has.
#[derive(Default)]
pub struct Tab {
    /// The model that is open, by its name in the list.
    pub model: String,
    /// None if it has errors.
    pub opened: Option<Opened>,
    /// What is wrong with the model.
    pub refused: Option<Refused>,
    pub job: Option<Job>,
}

/// A tab, and when it was used last.
type Used = (Instant, Arc<Mutex<Tab>>);

/// All tabs.
pub struct Tabs {
    pub models: Models,
    pub scope: ScopeArgs,
    /// The process of a script, and the script that guides the first model.
    pub asked: Asked,
    pub limits: Limits,
    /// Evaluations that nobody waits for any more.
    pub stuck: Arc<AtomicUsize>,
    all: Mutex<HashMap<String, Used>>,
}

impl Tabs {
    pub fn new(models: Models, scope: ScopeArgs, asked: Asked, limits: Limits) -> Tabs {
        Tabs { models, scope, asked, limits, stuck: Arc::default(), all: Mutex::default() }
    }

    /// How a model is opened that is not a machine of B alone; none if it is one.
    pub fn origin(&self, name: &str, file: &Path) -> Option<Origin> {
        let is_guided = self.asked.guide.is_some() && self.models.first().as_deref() == Some(name);
        let language = if is_guided { Language::Guided } else { Language::of(file)? };
        let guide = self.asked.guide.clone().filter(|_| is_guided);
        let asked = Asked { guide, ..self.asked.clone() };
        Some(Origin { files: self.models.files(), file: file.to_path_buf(), language, asked })
    }

    /// A new tab.
    pub fn begin(&self) -> (String, Arc<Mutex<Tab>>) {
        let (name, tab) = (super::token(), Arc::new(Mutex::new(Tab::default())));
        let mut all = lock(&self.all);
        while all.len() >= MAX_TABS {
            let oldest = all.iter().min_by_key(|(_, (used, _))| *used).map(|(name, _)| name.clone());
            let Some(oldest) = oldest else { break };
            all.remove(&oldest);
        }
        all.insert(name.clone(), (Instant::now(), tab.clone()));
        (name, tab)
    }

    pub fn find(&self, name: &str) -> Option<Arc<Mutex<Tab>>> {
        let mut all = lock(&self.all);
        let (used, tab) = all.get_mut(name)?;
        *used = Instant::now();
        Some(tab.clone())
    }
}

impl Tabs {
    /// A tab that cannot be waited for.
    pub fn give_up(&self, name: &str) {
        lock(&self.all).remove(name);
    }
}

impl Tab {
    /// Opens a model, in its first initial state.
    pub fn open(&mut self, tabs: &Tabs, name: &str, deadline: &Deadline) -> Result<(), String> {
        let file = tabs.models.find(name).ok_or_else(|| format!("there is no model `{name}` here"))?;
        self.model = name.to_string();
        self.job = None;
        let opened = match tabs.origin(name, &file) {
            Some(origin) => Other::open(origin, deadline).map(|o| Opened::Other(Box::new(o))),
            None => Session::open_from(tabs.models.files(), &file, &tabs.scope, deadline)
                .map(|s| Opened::Machine(Box::new(s))),
        };
        match opened {
            Ok(mut opened) => {
                opened.animated().step(0, &deadline.flag);
                (self.opened, self.refused) = (Some(opened), None);
            }
            Err(refused) => (self.opened, self.refused) = (None, Some(refused)),
        }
        Ok(())
    }

    /// Reads the model again, and goes where it was as far as that is possible; what is told is why it is not.
    pub fn reopen(&mut self, tabs: &Tabs, deadline: &Deadline) -> Result<Option<String>, String> {
        let again = match &mut self.opened {
            None => return self.open(tabs, &self.model.clone(), deadline).map(|()| None),
            Some(Opened::Machine(session)) => session.reopened(deadline).map(|(session, loaded)| {
                let why = loaded.failure.map(|why| format!("step {}: {why}", loaded.steps + 1));
                (Opened::Machine(Box::new(session)), why)
            }),
            Some(Opened::Other(other)) => {
                other.reopened(deadline).map(|(other, why)| (Opened::Other(Box::new(other)), why))
            }
        };
        match again {
            Ok((mut opened, why)) => {
                if opened.animated().history().at.is_none() {
                    opened.animated().step(0, &deadline.flag);
                }
                (self.opened, self.refused) = (Some(opened), None);
                Ok(why)
            }
            Err(refused) => {
                self.refused = Some(refused);
                Ok(None)
            }
        }
    }
}
