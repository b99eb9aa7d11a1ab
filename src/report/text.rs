use super::answer::Checked;
use crate::model::open::Opened;
pub fn warnings(_: &Opened, _: bool) -> String { String::new() }
pub fn checked(c: &Checked, _stats: bool, _colour: bool) -> String {
    format!("{}: {} states, {} transitions\n", c.verdict.name(), c.counts.states, c.counts.transitions)
}
