//! What a plan does where a generator's conjunct has no value: it is decided by the other conjuncts if they are false,
//! so they are looked at, and a fault that nothing makes up for stands.

use super::Compiler;
use super::forms::{Conjunct, OpenSlots};
use crate::eval::node::{Atom, Generator, Node, Slot, Test};
use crate::eval::plan::PlanStep;
use crate::model::{BinOp, Expr, ExprKind, Fun};

impl Compiler<'_> {
    /// The step of a generator. If its conjunct may have no value, and the other conjuncts may be false all the same for
    /// each of too many values to run through, another plan finds where they are not. One such plan does not have
    /// another one in it, nor is there one for many conjuncts or for large unknowns: the fault stands then.
    pub(super) fn given(
        &mut self,
        generator: Generator,
        is_undefined: bool,
        (before, after): (&OpenSlots, &OpenSlots),
        todo: &[Conjunct],
    ) -> PlanStep {
        const MOST: usize = 32;
        const FEW: u64 = 1024;
        let bound: Vec<Slot> = before.difference(after).copied().collect();
        let run_through = bound.len() == 1 && (1..=FEW).contains(&self.slots[bound[0] as usize].rep.carrier);
        if !is_undefined || self.is_otherwise || run_through || todo.is_empty() || todo.len() > MOST {
            return PlanStep::Generate(generator);
        }
        let (work, splits) = (self.work, self.splits);
        self.is_otherwise = true;
        let (mut repeat, mut endless) = (false, false);
        let otherwise = self.steps(before.clone(), todo.to_vec(), &mut repeat, &mut endless);
        self.is_otherwise = false;
        (self.work, self.splits) = (work, splits);
        if otherwise.iter().all(is_small) {
            PlanStep::Given(generator, otherwise)
        } else {
            PlanStep::Generate(generator)
        }
    }

    /// That the known parts of a pattern have values. Where one has none, the conjunct has no truth value, whatever the
    /// unknowns are: also if there is nothing that they could be, or if an earlier part does not fit.
    pub(super) fn parts_have_values(&mut self, e: &Expr, open: &OpenSlots) -> Vec<Test> {
        if self.mentions_open(e, open) {
            let parts: Vec<&Expr> = match &e.kind {
                ExprKind::Binary(BinOp::Pair, a, b) => vec![a, b],
                ExprKind::Rec(parts) | ExprKind::Call(Fun::Construct(_), parts) => parts.iter().collect(),
                _ => vec![],
            };
            return parts.into_iter().flat_map(|part| self.parts_have_values(part, open)).collect();
        }
        if is_plain(e) {
            return vec![];
        }
        let rep = self.rep(&e.ty);
        let (x, y) = (Box::new(self.expr(e)), Box::new(self.expr(e)));
        vec![Test::Atom(if rep.is_word() { Atom::EqW(x, y) } else { Atom::Eq(x, y, rep) })]
    }
}

/// Whether a step runs through what it can list one by one.
fn is_small(step: &PlanStep) -> bool {
    match step {
        PlanStep::Test(_) | PlanStep::Range { .. } => true,
        PlanStep::Generate(g) | PlanStep::Given(g, _) => match g {
            Generator::Match(..) | Generator::In { .. } => true,
            Generator::All { rep, .. } => (1..=64).contains(&rep.carrier),
            _ => false,
        },
        PlanStep::Cases(_, yes, no) => yes.iter().chain(no).all(is_small),
        PlanStep::Alt(ways) => ways.iter().flatten().all(is_small),
    }
}

/// The value of the node, if the tests have values: they are true then.
pub(super) fn where_known(tests: Vec<Test>, node: Node) -> Node {
    tests.into_iter().fold(node, |node, t| Node::If(Box::new(t), Box::new(node.clone()), Box::new(node)))
}

/// Whether it has a value whatever its names are, by its form.
pub(super) fn is_plain(e: &Expr) -> bool {
    match &e.kind {
        ExprKind::Const(_) | ExprKind::Var(_) | ExprKind::Local(_) | ExprKind::Elem(..) => true,
        ExprKind::Int(_) | ExprKind::Str(_) | ExprKind::Real(_) | ExprKind::Lit(_) => true,
        ExprKind::Binary(BinOp::Pair, a, b) => is_plain(a) && is_plain(b),
        ExprKind::Rec(parts) | ExprKind::Call(Fun::Construct(_), parts) => parts.iter().all(is_plain),
        _ => false,
    }
}
