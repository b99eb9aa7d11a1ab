//! One session for each tab of a browser. Tabs do not share anything that changes.

use super::job::Job;
use super::limits::{Limits, lock};
use super::models::Models;
use crate::animate::Session;
use crate::model::open::Refused;
use crate::model::scope::ScopeArgs;
use crate::run::Deadline;
use std::collections::HashMap;
use std::sync::atomic::AtomicUsize;
use std::sync::{Arc, Mutex};
use std::time::Instant;

/// Sessions at once: the one that was not used for the longest time is given up.
const MAX_TABS: usize = 24;

/// What a tab has.
#[derive(Default)]
pub struct Tab {
    /// The model that is open, by its name in the list.
    pub model: String,
    /// None if it has errors.
    pub session: Option<Session>,
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
    pub limits: Limits,
    /// Evaluations that nobody waits for any more.
    pub stuck: Arc<AtomicUsize>,
    all: Mutex<HashMap<String, Used>>,
}

impl Tabs {
    pub fn new(models: Models, scope: ScopeArgs, limits: Limits) -> Tabs {
        Tabs { models, scope, limits, stuck: Arc::default(), all: Mutex::default() }
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
        match Session::open_from(tabs.models.files(), &file, &tabs.scope, deadline) {
            Ok(mut session) => {
                session.walk_mut().step(0, &deadline.flag);
                (self.session, self.refused) = (Some(session), None);
            }
            Err(refused) => (self.session, self.refused) = (None, Some(refused)),
        }
        Ok(())
    }

    /// Reads the model again, and goes where it was as far as that is possible; what is told is why it is not.
    pub fn reopen(&mut self, tabs: &Tabs, deadline: &Deadline) -> Result<Option<String>, String> {
        let Some(session) = &self.session else {
            return self.open(tabs, &self.model.clone(), deadline).map(|()| None);
        };
        match session.reopened(deadline) {
            Ok((mut session, loaded)) => {
                if session.walk().at().is_none() {
                    session.walk_mut().step(0, &deadline.flag);
                }
                (self.session, self.refused) = (Some(session), None);
                Ok(loaded.failure.map(|why| format!("step {}: {why}", loaded.steps + 1)))
            }
            Err(refused) => {
                self.refused = Some(refused);
                Ok(None)
            }
        }
    }
}
