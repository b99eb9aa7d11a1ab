//! Whatever is not B, stepped through by hand.

use super::scene::Animated;
use super::walk::Walk;
use crate::run::other::Systems;
use std::sync::Arc;

/// A walk through a system that a file defines, with its name.
pub fn walk(system: Systems, title: &str) -> Box<dyn Animated> {
    match system {
        Systems::Net(system) => Box::new(Walk::new(Arc::new(*system)).named(title)),
        Systems::Process(system) => Box::new(Walk::new(Arc::new(*system)).named(title)),
        Systems::Xtl(system) => Box::new(Walk::new(Arc::new(*system)).named(title)),
        Systems::Guided(system) => Box::new(Walk::new(Arc::new(*system)).named(title)),
    }
}
