//! Mistakes planted in the compiled operations of a machine, so that tests can see that certificates name them: a plan
//! that loses a solution, arithmetic that overflows, a value that does not grow; on words, and in the general tier.

use super::Machine;
use crate::eval::code::Code;
use crate::eval::node::{self, Binary, Node, Pattern, Unary};
use crate::eval::plan::{Plan, PlanStep};
use crate::eval::tier::{Tier, Values, Words};
use crate::eval::word::{self, Word};
use crate::lang::diag::Span;
use crate::value::rep::Shape;
use crate::value::val::Val;

/// What is wrong with operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Defect {
    /// A step that runs through a set leaves out the first value of the type, or of the integers in it.
    LosesFirst,
    /// A step that runs through integers ends one too early.
    EndsEarly,
    /// Sums and the like have so many bits, the tag of the word included.
    Overflows(u32),
    /// The last of several ways is not tried.
    LosesWay,
    /// What is assigned is the left operand of what should be.
    KeepsLeft,
}

impl Machine {
    /// Plants a defect on words wherever there is room for one, and says in how many places. The constants are solved.
    #[doc(hidden)]
    pub fn plant(&mut self, defect: Defect) -> usize {
        let events = self.fast.iter_mut().flatten();
        events.map(|e| in_plan(&mut e.plan, defect) + in_code(&mut e.code, defect)).sum()
    }

    /// The same in the general tier, which runs all operations then.
    #[doc(hidden)]
    pub fn plant_in_general(&mut self, defect: Defect) -> usize {
        self.fast.iter_mut().for_each(|fast| *fast = None);
        let events = self.events.iter_mut();
        events.map(|e| in_plan(&mut e.plan, defect) + in_code(&mut e.code, defect)).sum()
    }
}

/// Where a tier has room for defects: 1 if one was planted.
trait Leaves: Tier {
    fn in_generator(generator: &mut Self::Generator, defect: Defect) -> usize;
    fn in_assigned(assigned: &mut Self::Assigned, defect: Defect) -> usize;
}

impl Leaves for Words {
    fn in_generator(generator: &mut Self::Generator, defect: Defect) -> usize {
        let (word::plan::Generator::Bits(_, set, _), Defect::LosesFirst) = (generator, defect) else {
            return 0;
        };
        let whole = std::mem::replace(set, Word::Const(0));
        *set = Word::AndNot(Box::new(whole), Box::new(Word::Const(1)));
        1
    }

    fn in_assigned((_, word): &mut Self::Assigned, defect: Defect) -> usize {
        in_word(word, defect)
    }
}

fn in_word(word: &mut Word, defect: Defect) -> usize {
    // What is assigned on a condition.
    if let Word::If(_, a, b) = word {
        return in_word(a, defect) + in_word(b, defect);
    }
    let (Word::Int(..), Defect::Overflows(bits)) = (&*word, defect) else { return 0 };
    let sum = std::mem::replace(word, Word::Const(0));
    *word = Word::And(Box::new(sum), Box::new(Word::Const((1 << bits) - 1)));
    1
}

impl Leaves for Values {
    fn in_generator(generator: &mut Self::Generator, defect: Defect) -> usize {
        let (node::Generator::In { pattern: Pattern::Bind(_), set, rep, span }, Defect::LosesFirst) =
            (generator, defect)
        else {
            return 0;
        };
        let (elem, span) = (rep.elem().clone(), *span);
        let first = match elem.shape {
            Shape::Int => {
                let (a, rep, out) = (Box::new(set.clone()), rep.clone(), elem.clone());
                Node::Unary { op: Unary::Min, a, rep, out, span }
            }
            _ if elem.carrier > 0 => Node::Const(Val::W(0)),
            _ => return 0,
        };
        let first = Box::new(Node::SetExt(vec![first], rep.clone()));
        let a = Box::new(std::mem::replace(set, Node::Const(Val::None)));
        let (ra, rb, out) = (rep.clone(), rep.clone(), rep.clone());
        *set = Node::Binary { op: Binary::Diff, a, b: first, ra, rb, out, span };
        1
    }

    fn in_assigned((_, node, rep): &mut Self::Assigned, defect: Defect) -> usize {
        match (&mut *node, defect) {
            (Node::Binary { op: Binary::Add | Binary::Sub | Binary::Mul, .. }, Defect::Overflows(bits)) => {
                let a = Box::new(std::mem::replace(node, Node::Const(Val::None)));
                // A tag takes one of the bits on words.
                let b = Box::new(Node::Const(Val::I(1 << (bits - 1))));
                let (ra, rb, out) = (rep.clone(), rep.clone(), rep.clone());
                *node = Node::Binary { op: Binary::Mod, a, b, ra, rb, out, span: Span::default() };
                1
            }
            (
                Node::Binary {
                    op: Binary::Union | Binary::Override | Binary::Concat | Binary::Append,
                    a,
                    ..
                },
                Defect::KeepsLeft,
            )
            | (Node::OrW(a, _), Defect::KeepsLeft) => {
                let left = std::mem::replace(&mut **a, Node::Const(Val::None));
                *node = left;
                1
            }
            _ => 0,
        }
    }
}

fn in_plan<T: Leaves>(plan: &mut Plan<T>, defect: Defect) -> usize {
    in_steps(&mut plan.steps, defect)
}

fn in_steps<T: Leaves>(steps: &mut [PlanStep<T>], defect: Defect) -> usize {
    let one = |step: &mut PlanStep<T>| match (step, defect) {
        (PlanStep::Generate(generator), _) => T::in_generator(generator, defect),
        (PlanStep::Range { highs, .. }, Defect::EndsEarly) => {
            highs.iter_mut().for_each(|h| h.offset -= 1);
            usize::from(!highs.is_empty())
        }
        (PlanStep::Cases(_, a, b), _) => in_steps(a, defect) + in_steps(b, defect),
        (PlanStep::Alt(ways), Defect::LosesWay) => usize::from(ways.pop().is_some()),
        (PlanStep::Alt(ways), _) => ways.iter_mut().map(|w| in_steps(w, defect)).sum(),
        _ => 0,
    };
    steps.iter_mut().map(one).sum()
}

fn in_code<T: Leaves>(code: &mut Code<T>, defect: Defect) -> usize {
    match code {
        Code::Assign(items) => items.iter_mut().map(|item| T::in_assigned(item, defect)).sum(),
        Code::Any(plan, body) => in_plan(plan, defect) + in_code(body, defect),
        Code::Let(_, body) | Code::Copy(_, body) | Code::Guard(_, body) | Code::Demand(_, _, _, body) => {
            in_code(body, defect)
        }
        Code::Choice(ways) if defect == Defect::LosesWay => usize::from(ways.pop().is_some()),
        Code::Select(ways, _) if defect == Defect::LosesWay && ways.len() > 1 => {
            usize::from(ways.pop().is_some())
        }
        Code::Choice(parts) | Code::Seq(parts) => parts.iter_mut().map(|p| in_code(p, defect)).sum(),
        Code::Select(ways, otherwise) => {
            let of_ways: usize = ways.iter_mut().map(|(_, body)| in_code(body, defect)).sum();
            of_ways + otherwise.as_mut().map_or(0, |body| in_code(body, defect))
        }
        Code::If(ways, otherwise) => {
            let of_ways: usize = ways.iter_mut().map(|(_, body)| in_code(body, defect)).sum();
            of_ways + in_code(otherwise, defect)
        }
        Code::Par(parts) => parts.iter_mut().map(|(p, _)| in_code(p, defect)).sum(),
        Code::Skip | Code::Special(_) => 0,
    }
}
