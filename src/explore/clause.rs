//! What an audit calls the agreements that it looks at beside the clauses of the refinement chain.

pub const CONSTANTS: &str = "evaluator/constants";
pub const INITIAL: &str = "evaluator/initial";
pub const SUCCESSORS: &str = "evaluator/successors";
pub const INVARIANT: &str = "evaluator/invariant";
pub const ASSERTION: &str = "evaluator/assertion";
pub const GOAL: &str = "evaluator/goal";
pub const PREDICATE: &str = "evaluator/formula";
pub const OBSERVER: &str = "observer: what there is to tell is told";
pub const TR: &str = "symmetry/tr: a(tr[s]) = tr[a(s)]";
pub const INV: &str = "symmetry/inv: s ∈ inv ⇔ a(s) ∈ inv";
