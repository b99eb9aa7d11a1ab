//! Mistakes planted in the compiled operations of a machine, so that tests can see that certificates name them: a plan
//! that loses a solution, arithmetic on words that overflows.

use super::Machine;
use crate::eval::plan::PlanStep;
use crate::eval::tier::Words;
use crate::eval::word::plan::{Generator, Plan};
use crate::eval::word::{Code, Word};

/// What is wrong with the operations on words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Defect {
    /// A step that runs through a set leaves out the first value of the type.
    LosesFirst,
    /// A step that runs through integers ends one too early.
    EndsEarly,
    /// Sums and the like have so many bits, the tag of the word included.
    Overflows(u32),
}

impl Machine {
    /// Plants a defect wherever there is room for one, and says in how many places. The constants are solved.
    #[doc(hidden)]
    pub fn plant(&mut self, defect: Defect) -> usize {
        let events = self.fast.iter_mut().flatten();
        events.map(|e| in_plan(&mut e.plan, defect) + in_code(&mut e.code, defect)).sum()
    }
}

fn in_plan(plan: &mut Plan, defect: Defect) -> usize {
    in_steps(&mut plan.steps, defect)
}

fn in_steps(steps: &mut [PlanStep<Words>], defect: Defect) -> usize {
    let one = |step: &mut PlanStep<Words>| match (step, defect) {
        (PlanStep::Generate(Generator::Bits(_, set, _)), Defect::LosesFirst) => {
            let whole = std::mem::replace(set, Word::Const(0));
            *set = Word::AndNot(Box::new(whole), Box::new(Word::Const(1)));
            1
        }
        (PlanStep::Range { highs, .. }, Defect::EndsEarly) => {
            highs.iter_mut().for_each(|h| h.offset -= 1);
            usize::from(!highs.is_empty())
        }
        (PlanStep::Cases(_, a, b), _) => in_steps(a, defect) + in_steps(b, defect),
        (PlanStep::Alt(ways), _) => ways.iter_mut().map(|w| in_steps(w, defect)).sum(),
        _ => 0,
    };
    steps.iter_mut().map(one).sum()
}

fn in_code(code: &mut Code, defect: Defect) -> usize {
    match code {
        Code::Assign(items) => items.iter_mut().map(|(_, word)| in_word(word, defect)).sum(),
        Code::Any(plan, body) => in_plan(plan, defect) + in_code(body, defect),
        Code::Let(_, body) | Code::Copy(_, body) | Code::Guard(_, body) | Code::Demand(_, _, _, body) => {
            in_code(body, defect)
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

fn in_word(word: &mut Word, defect: Defect) -> usize {
    let (Word::Int(..), Defect::Overflows(bits)) = (&*word, defect) else { return 0 };
    let sum = std::mem::replace(word, Word::Const(0));
    *word = Word::And(Box::new(sum), Box::new(Word::Const((1 << bits) - 1)));
    1
}
