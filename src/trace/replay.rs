use super::Trace;
use crate::system::System;
pub fn confirm(_: &System, _: &Trace) -> Result<(), String> { Ok(()) }
