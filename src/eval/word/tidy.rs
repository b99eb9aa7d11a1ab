//! What is lowered, in a form that takes less to evaluate and says the same, faults and their places included: tests that
//! always have an answer, in particular, need not keep account of any that they do not have.

use super::Word;
use super::plan::{Generator, PlanStep};
use super::pred::{Atom, Pred};
use crate::eval::node::Slot;
use crate::value::fault::NOWHERE;

/// The negation; that of a common test is one test.
pub(super) fn negated(p: Pred) -> Pred {
    match p {
        Pred::Const(b) => Pred::Const(!b),
        Pred::Atom(Atom::Eq(a, b)) => Pred::Atom(Atom::Ne(a, b)),
        Pred::Atom(Atom::Ne(a, b)) => Pred::Atom(Atom::Eq(a, b)),
        Pred::Atom(Atom::In(x, s)) => Pred::Atom(Atom::NotIn(x, s)),
        Pred::Atom(Atom::NotIn(x, s)) => Pred::Atom(Atom::In(x, s)),
        Pred::Atom(Atom::InDom { x, r, nb }) => Pred::Atom(Atom::NotInDom { x, r, nb }),
        Pred::Atom(Atom::NotInDom { x, r, nb }) => Pred::Atom(Atom::InDom { x, r, nb }),
        p => Pred::Not(Box::new(p)),
    }
}

/// Two words are one; that a function has a value somewhere is one test, too.
pub(super) fn equal(a: Word, b: Word) -> Pred {
    Pred::Atom(match (a, b) {
        // What has a value in any case may be computed before or after what may have none.
        (Word::Apply { f, x, nb, span }, y) | (y, Word::Apply { f, x, nb, span }) if total(&y, None) => {
            Atom::Maps { f, x, y: Box::new(y), nb, span }
        }
        (a, b) => Atom::Eq(Box::new(a), Box::new(b)),
    })
}

/// A conjunction; `each`: all parts are to have a value. If they have one in any case, that is no matter.
pub(super) fn all_of(parts: Vec<Pred>, each: bool) -> Pred {
    if !parts.iter().all(always_decided) {
        return if each { Pred::All(parts) } else { Pred::And(parts) };
    }
    let mut all = vec![];
    for part in parts {
        match part {
            Pred::Const(true) => {}
            Pred::And(parts) => all.extend(parts),
            part => all.push(part),
        }
    }
    match all.len() {
        0 => Pred::Const(true),
        1 => all.remove(0),
        _ => Pred::And(all),
    }
}

/// A disjunction; `each` as for [`all_of`].
pub(super) fn any_of(parts: Vec<Pred>, each: bool) -> Pred {
    if !parts.iter().all(always_decided) {
        return if each { Pred::Any(parts) } else { Pred::Or(parts) };
    }
    let mut all = vec![];
    for part in parts {
        match part {
            Pred::Const(false) => {}
            Pred::Or(parts) => all.extend(parts),
            part => all.push(part),
        }
    }
    match all.len() {
        0 => Pred::Const(false),
        1 => all.remove(0),
        _ => Pred::Or(all),
    }
}

/// Tests of membership narrow the set that is run through before them, where nothing can be faulty.
pub(super) fn narrowed(steps: Vec<PlanStep>) -> Vec<PlanStep> {
    let mut out: Vec<PlanStep> = Vec::new();
    // Where the last step over bits is, as long as only tests came after it.
    let mut over: Option<usize> = None;
    for step in steps {
        match step {
            PlanStep::Generate(Generator::Bits(slot, set, values)) => {
                over = total(&set, None).then_some(out.len());
                out.push(PlanStep::Generate(Generator::Bits(slot, set, values)));
            }
            PlanStep::Test(pred) => {
                for pred in conjuncts(pred) {
                    let pred = match over.and_then(|at| out.get_mut(at)) {
                        Some(PlanStep::Generate(bits)) => narrow(bits, pred),
                        _ => Some(pred),
                    };
                    out.extend(pred.map(PlanStep::Test));
                }
            }
            step => {
                over = None;
                out.push(step);
            }
        }
    }
    out
}

/// Tests one after the other that are as good as one test.
fn conjuncts(pred: Pred) -> Vec<Pred> {
    match pred {
        Pred::Const(true) => vec![],
        Pred::And(parts) if parts.iter().all(always_decided) => parts,
        pred => vec![pred],
    }
}

/// Narrows what is run through by a test; what is left of the test.
fn narrow(bits: &mut Generator, pred: Pred) -> Option<Pred> {
    let Generator::Bits(slot, set, values) = bits else { return Some(pred) };
    let (other, negated) = match narrows(pred, *slot, *values) {
        Ok(narrows) => narrows,
        Err(pred) => return Some(pred),
    };
    let all = Box::new(std::mem::replace(set, Word::Const(0)));
    *set = match (*all, other, negated) {
        (Word::Const(a), Word::Const(b), false) => Word::Const(a & b),
        (Word::Const(a), Word::Const(b), true) => Word::Const(a & !b),
        (a, b, false) => Word::And(Box::new(a), Box::new(b)),
        (a, b, true) => Word::AndNot(Box::new(a), Box::new(b)),
    };
    None
}

/// x ∈ S or x ∉ S for the given x, where S always has a value and does not depend on x: S, and whether negated. There
/// are so many values for x.
fn narrows(pred: Pred, slot: Slot, values: u64) -> Result<(Word, bool), Pred> {
    let is_x = |x: &Word| matches!(x, Word::Slot(s) if *s == slot);
    let is_free = |s: &Word| total(s, Some(slot));
    let dom = |r, nb| Word::Dom { r, na: values as u32, nb };
    match pred {
        Pred::Atom(Atom::NotIn(x, s)) if is_x(&x) && is_free(&s) => Ok((*s, true)),
        Pred::Atom(Atom::In(x, s)) if is_x(&x) && is_free(&s) => Ok((*s, false)),
        Pred::Atom(Atom::NotInDom { x, r, nb }) if is_x(&x) && is_free(&r) => Ok((dom(r, nb), true)),
        Pred::Atom(Atom::InDom { x, r, nb }) if is_x(&x) && is_free(&r) => Ok((dom(r, nb), false)),
        Pred::Not(p) => match narrows(*p, slot, values) {
            Ok((s, negated)) => Ok((s, !negated)),
            Err(p) => Err(Pred::Not(Box::new(p))),
        },
        p => Err(p),
    }
}

/// The operands of an operation that has a value wherever these have one. None: another operation.
fn operands(w: &Word) -> Option<[Option<&Word>; 3]> {
    Some(match w {
        Word::Const(_) | Word::Slot(_) => [None; 3],
        Word::First { p: a, .. }
        | Word::Second { p: a, .. }
        | Word::Single(a)
        | Word::Card(a)
        | Word::Dom { r: a, .. }
        | Word::Ran { r: a, .. }
        | Word::Inverse { r: a, .. } => [Some(a), None, None],
        Word::Pair { a, b, .. }
        | Word::Or(a, b)
        | Word::And(a, b)
        | Word::AndNot(a, b)
        | Word::With(a, b)
        | Word::Without(a, b)
        | Word::Image { r: a, s: b, .. }
        | Word::Compose { r: a, s: b, .. }
        | Word::Override { r: a, s: b, .. }
        | Word::Restrict { r: a, s: b, .. }
        | Word::Row { r: a, x: b, .. }
        | Word::Product { a, b, .. } => [Some(a), Some(b), None],
        Word::Update { f, x, y, .. } => [Some(f), Some(x), Some(y)],
        Word::Apply { .. }
        | Word::Bool(_)
        | Word::Int(..)
        | Word::Compr { .. }
        | Word::If(..)
        | Word::Let(..)
        | Word::Packed(_)
        | Word::Memo(_)
        | Word::Slow(_) => return None,
    })
}

/// Whether an expression always has a value, and does not read a slot.
pub(super) fn total(w: &Word, without: Option<Slot>) -> bool {
    if let Word::Packed(p) = w {
        return p.is_total() && p.args().iter().all(|w| total(w, without));
    }
    let is_read = matches!(w, Word::Slot(s) if Some(*s) == without);
    !is_read && operands(w).is_some_and(|all| all.into_iter().flatten().all(|w| total(w, without)))
}

/// Whether a predicate is true or false in every state.
pub(super) fn always_decided(p: &Pred) -> bool {
    match p {
        Pred::Const(_) => true,
        Pred::Not(p) | Pred::At(p, _) => always_decided(p),
        Pred::And(parts) | Pred::Or(parts) => parts.iter().all(always_decided),
        Pred::Atom(atom) => parts(atom).is_some_and(|all| all.into_iter().all(|w| total(w, None))),
        _ => false,
    }
}

/// Whether every fault of a predicate says where it is.
pub(super) fn is_placed(p: &Pred) -> bool {
    match p {
        Pred::Atom(Atom::Maps { f, x, y, span, .. }) => {
            *span != NOWHERE && [f, x, y].into_iter().all(|w| is_placed_word(w))
        }
        Pred::Atom(atom) => parts(atom).is_some_and(|all| all.into_iter().all(is_placed_word)),
        Pred::Not(p) => is_placed(p),
        p => always_decided(p),
    }
}

fn is_placed_word(w: &Word) -> bool {
    match w {
        Word::Apply { f, x, span, .. } => *span != NOWHERE && is_placed_word(f) && is_placed_word(x),
        w => total(w, None) || operands(w).is_some_and(|all| all.into_iter().flatten().all(is_placed_word)),
    }
}

/// The operands of a test that has an answer wherever these have a value. None: another test.
fn parts(atom: &Atom) -> Option<[&Word; 2]> {
    match atom {
        Atom::Eq(a, b)
        | Atom::Ne(a, b)
        | Atom::In(a, b)
        | Atom::NotIn(a, b)
        | Atom::Subset(a, b)
        | Atom::Strict(a, b)
        | Atom::Meets(a, b)
        | Atom::InDom { x: a, r: b, .. }
        | Atom::NotInDom { x: a, r: b, .. } => Some([a, b]),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lang::diag::Span;

    fn slot(s: Slot) -> Box<Word> {
        Box::new(Word::Slot(s))
    }

    /// f(x), which may have no value.
    fn applied(span: Span) -> Word {
        Word::Apply { f: slot(1), x: slot(2), nb: 3, span }
    }

    #[test]
    fn operands_of_a_difference_narrow_what_is_run_through() {
        let bits = |set| PlanStep::Generate(Generator::Bits(7, set, 5));
        let (inside, outside) = (Atom::In(slot(7), slot(1)), Atom::NotIn(slot(7), slot(2)));
        let both = all_of(vec![Pred::Const(true), Pred::Atom(inside), Pred::Atom(outside)], true);
        let steps = narrowed(vec![bits(Word::Const(31)), PlanStep::Test(both)]);
        let [PlanStep::Generate(Generator::Bits(7, Word::AndNot(a, b), 5))] = &steps[..] else {
            panic!("{steps:?}");
        };
        assert!(matches!((&**a, &**b), (Word::And(..), Word::Slot(2))), "{steps:?}");
        // Not by itself, nor where there may be no value: then every element has to be asked.
        for set in [slot(7), Box::new(applied(Span::default()))] {
            let test = all_of(vec![Pred::Atom(Atom::NotIn(slot(7), set))], true);
            assert_eq!(narrowed(vec![bits(Word::Const(31)), PlanStep::Test(test)]).len(), 2);
        }
    }

    #[test]
    fn every_part_keeps_its_fault() {
        let parts = || vec![equal(applied(Span::default()), Word::Const(1)), Pred::Const(false)];
        assert!(matches!(all_of(parts(), true), Pred::All(parts) if parts.len() == 2));
        assert!(matches!(any_of(parts(), true), Pred::Any(parts) if parts.len() == 2));
        assert!(!always_decided(&parts()[0]));
        // A fault of it would have the place of what is around it, if it has none.
        assert!(!is_placed(&equal(applied(NOWHERE), Word::Const(1))));
        let somewhere = Span { hi: 1, ..NOWHERE };
        assert!(is_placed(&equal(applied(somewhere), Word::Const(1))));
    }
}
