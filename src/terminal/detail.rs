//! What is told below: an explanation that unfolds, or the answer to a question.

use crate::animate::command::Said;
use crate::animate::{Tree, tree};
use crate::report::animated;

/// How a line looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tone {
    Plain,
    Good,
    Bad,
    Soft,
    Strong,
}

/// A line, and how deep it stands. Deeper lines after it are what it unfolds to.
#[derive(Clone, Debug)]
pub struct Leaf {
    pub depth: usize,
    pub text: String,
    pub tone: Tone,
    pub is_folded: bool,
}

/// Lines under a title.
#[derive(Clone, Debug, Default)]
pub struct Detail {
    pub title: String,
    pub leaves: Vec<Leaf>,
}

impl Detail {
    fn put(&mut self, depth: usize, text: impl Into<String>, tone: Tone) {
        self.leaves.push(Leaf { depth, text: text.into(), tone, is_folded: false });
    }

    fn tree(&mut self, depth: usize, all: &[Tree]) {
        for t in all {
            self.put(depth, animated::part(&t.part), Tone::Plain);
            self.tree(depth + 1, &t.below);
        }
    }

    /// Lines of text under a title.
    pub fn text(title: &str, text: &str) -> Detail {
        let mut detail = Detail { title: title.into(), leaves: vec![] };
        text.lines().for_each(|line| detail.put(0, line, Tone::Plain));
        detail
    }

    /// What is told of an answer; none if a line is enough.
    pub fn of(said: &Said) -> Option<Detail> {
        let mut detail = Detail::default();
        match said {
            Said::Why(c, why) => {
                detail.title = "Why".into();
                let tone = if matches!(c.judged.truth, Ok(true)) { Tone::Good } else { Tone::Bad };
                detail.put(0, animated::conjunct(c), tone);
                detail.tree(1, why);
                if why.is_empty() {
                    detail.put(1, "there is nothing more to tell", Tone::Soft);
                }
            }
            Said::WhyNot(name, d) => {
                detail.title = format!("Why not {name}");
                for way in &d.ways {
                    let summary = way.summary.clone();
                    let summary =
                        summary.unwrap_or("nothing at its beginning keeps it from being enabled".into());
                    detail.put(0, summary, Tone::Strong);
                    for c in &way.conditions {
                        let tone = match (&c.truth, c.is_blocking) {
                            (_, true) | (crate::trace::explain::Truth::False, _) => Tone::Bad,
                            (crate::trace::explain::Truth::True, _) => Tone::Good,
                            _ => Tone::Plain,
                        };
                        detail.put(1, animated::condition(c), tone);
                        if let Some(wanted) = animated::wanted(c) {
                            detail.put(2, wanted, Tone::Soft);
                        }
                        detail.tree(2, &tree(&c.why));
                    }
                }
            }
            Said::Nothing | Said::Moved(_) | Said::Saved(_) | Said::Type(_) => return None,
            Said::Wandered(..) | Said::Loaded(..) | Said::Sought(..) => return None,
            said => {
                detail = Detail::text("Answer", &animated::said(said));
            }
        }
        Some(detail)
    }

    /// Whether a line unfolds.
    pub fn has_below(&self, at: usize) -> bool {
        match (self.leaves.get(at), self.leaves.get(at + 1)) {
            (Some(leaf), Some(next)) => next.depth > leaf.depth,
            _ => false,
        }
    }

    /// The lines that are to be seen, by their places.
    pub fn seen(&self) -> Vec<usize> {
        let mut seen = vec![];
        let mut at = 0;
        while let Some(leaf) = self.leaves.get(at) {
            seen.push(at);
            at += 1;
            while leaf.is_folded && self.leaves.get(at).is_some_and(|l| l.depth > leaf.depth) {
                at += 1;
            }
        }
        seen
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_folded_is_not_seen() {
        let mut d = Detail::default();
        for (depth, text) in [(0, "a"), (1, "b"), (2, "c"), (1, "d"), (0, "e")] {
            d.put(depth, text, Tone::Plain);
        }
        assert_eq!(d.seen(), [0, 1, 2, 3, 4]);
        d.leaves[1].is_folded = true;
        assert_eq!(d.seen(), [0, 1, 3, 4]);
        d.leaves[0].is_folded = true;
        assert_eq!(d.seen(), [0, 4]);
        assert!(d.has_below(0) && d.has_below(1) && !d.has_below(2) && !d.has_below(4) && !d.has_below(9));
    }
}
