//! Lists of dotted values: which of their parts belong together.
//!
//! In `c.x.y` with `c : Int => Bool => Event` the channel takes x and y. A part that is a variable takes as little as
//! it can, one part, if others follow it; the last one takes all that is wanted ([`Match::Longest`]), or one part
//! where that is asked for ([`Match::Shortest`]).

use super::{Clash, Fit, Table, Type, Var};
use std::rc::Rc;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Match {
    Longest,
    Shortest,
}

impl Table {
    /// The parts of a list; a single type is a list of one.
    pub(super) fn parts(&self, t: &Type) -> Vec<Type> {
        match self.look(t) {
            Type::Dot(parts) => parts.iter().map(|p| self.look(p)).collect(),
            t => vec![t],
        }
    }

    /// `a => b.c => r`: the arguments one by one, and the result.
    pub fn spine(&self, t: &Type) -> (Vec<Type>, Type) {
        let (mut arguments, mut at) = (vec![], self.look(t));
        while let Type::Dotable(a, r) = at {
            arguments.extend(self.parts(&a));
            at = self.look(&r);
        }
        (arguments, at)
    }

    /// A type with all its lists taken together as far as they go; the last variable of a list takes all.
    pub fn settle(&mut self, t: &Type) -> Fit<Type> {
        Ok(match self.look(t) {
            Type::Seq(t) => Type::seq(self.settle(&t)?),
            Type::Set(t) => Type::set(self.settle(&t)?),
            Type::Map(k, v) => Type::map(self.settle(&k)?, self.settle(&v)?),
            Type::Tuple(parts) => Type::tuple(self.settle_all(&parts)?),
            Type::Function(a, r) => Type::function(self.settle_all(&a)?, self.settle(&r)?),
            Type::Dot(parts) => Type::dot(self.collect(parts.to_vec(), Match::Longest)?),
            t => t,
        })
    }

    fn settle_all(&mut self, all: &[Type]) -> Fit<Vec<Type>> {
        all.iter().map(|t| self.settle(t)).collect()
    }

    /// Lets what can take arguments take them, from the left.
    pub(super) fn collect(&mut self, list: Vec<Type>, how: Match) -> Fit<Vec<Type>> {
        let mut rest = self.parts(&Type::dot(list));
        rest.reverse(); // the next one is at the end
        let mut done = vec![];
        while let Some(head) = rest.pop() {
            let head = self.look(&head);
            if rest.is_empty() {
                done.push(head);
                break;
            }
            match head {
                Type::Dotable(..) => {
                    let next = self.taken(&head, &mut rest, how)?;
                    rest.extend(next.into_iter().rev());
                }
                Type::Extendable(t, v) if how == Match::Longest => {
                    rest.reverse();
                    let missing = self.collect(rest, how)?;
                    self.bind_missing(v, Type::arrow(missing, Type::Nothing))?;
                    done.push(self.look(&t));
                    return Ok(done);
                }
                Type::Extendable(t, v) => {
                    if let Some(next) = rest.pop() {
                        self.bind_missing(v, Type::dotable(next, Type::Nothing))?;
                    }
                    rest.push(self.look(&t));
                }
                head => done.push(head),
            }
        }
        Ok(done)
    }

    /// What a dotable becomes when it takes the next part; the list is not empty, and its next part is its last.
    fn taken(&mut self, head: &Type, rest: &mut Vec<Type>, how: Match) -> Fit<Vec<Type>> {
        let (arguments, result) = self.spine(head);
        let Some(next) = rest.pop().map(|t| self.look(&t)) else { return Ok(vec![head.clone()]) };
        let Some((first, others)) = arguments.split_first() else { return Ok(vec![head.clone(), next]) };
        let then = Type::arrow(others.to_vec(), result.clone());
        Ok(match &next {
            Type::Var(_) if rest.is_empty() && how == Match::Longest => {
                self.unify(&next, &Type::dot(arguments.clone()))?;
                vec![result]
            }
            Type::Extendable(t, v) => {
                self.unify(first, t)?;
                vec![Type::Extendable(Rc::new(then), *v)]
            }
            Type::Dotable(..) if !matches!(self.look(first), Type::Dotable(..)) => {
                // An argument that wants arguments itself: they come next.
                let (inner, made) = self.spine(&next);
                self.unify(first, &made)?;
                vec![Type::arrow(inner, then)]
            }
            _ => {
                self.unify(first, &next)?;
                vec![then]
            }
        })
    }

    /// Makes one of two lists.
    pub(super) fn unify_lists(&mut self, left: Vec<Type>, right: Vec<Type>) -> Fit {
        let (mut left, mut right) = (self.parts(&Type::dot(left)), self.parts(&Type::dot(right)));
        loop {
            match (&left[..], &right[..]) {
                ([], []) => return Ok(()),
                ([], _) | (_, []) => return Err(self.no_lists(left, right)),
                (_, [one]) => {
                    let one = one.clone();
                    return self.unify(&Type::dot(left), &one);
                }
                ([one], _) => {
                    let one = one.clone();
                    return self.unify(&one, &Type::dot(right));
                }
                _ => {}
            }
            let (a, b) = (self.look(&left[0]), self.look(&right[0]));
            match (&a, &b) {
                (Type::Dotable(..), _) => {
                    if let Some(last) = self.advance(&mut left)? {
                        return self.absorb(&a, &last, right, true);
                    }
                }
                (_, Type::Dotable(..)) => {
                    if let Some(last) = self.advance(&mut right)? {
                        return self.absorb(&b, &last, left, false);
                    }
                }
                _ => {
                    self.unify(&a, &b)?;
                    left.remove(0);
                    right.remove(0);
                }
            }
        }
    }

    /// Lets the dotable at the front of a list take its next part. If that is a variable and the last, nothing is
    /// done and the variable comes back: how much it takes depends on the other list.
    fn advance(&mut self, list: &mut Vec<Type>) -> Fit<Option<Type>> {
        let head = self.look(&list[0]);
        let next = self.look(&list[1]);
        let takes_lists =
            self.spine(&head).0.first().is_some_and(|a| matches!(self.look(a), Type::Dotable(..)));
        if list.len() == 2 && matches!(next, Type::Var(_)) && !takes_lists {
            return Ok(Some(next));
        }
        let mut rest: Vec<Type> = list.drain(1..).rev().collect();
        let made = self.taken(&head, &mut rest, Match::Shortest)?;
        list.clear();
        list.extend(made);
        list.extend(rest.into_iter().rev());
        *list = self.parts(&Type::dot(std::mem::take(list)));
        Ok(None)
    }

    /// `head.last` against a list: the variable takes the arguments of the head and whatever the list has more.
    fn absorb(&mut self, head: &Type, last: &Type, other: Vec<Type>, left: bool) -> Fit {
        let (mut arguments, result) = self.spine(head);
        let mut other = self.collect(other, Match::Longest)?;
        let first = other.remove(0); // a list is never empty
        if left {
            self.unify(&result, &first)?
        } else {
            self.unify(&first, &result)?
        }
        arguments.extend(other);
        self.unify(last, &Type::dot(arguments))
    }

    fn no_lists(&self, left: Vec<Type>, right: Vec<Type>) -> Box<Clash> {
        Box::new(Clash::Different(Type::dot(left), Type::dot(right)))
    }

    /// Says what is missing of an extendable.
    pub(super) fn bind_missing(&mut self, v: Var, missing: Type) -> Fit {
        if self.is_rigid(v) {
            return Err(Box::new(Clash::Different(Type::Var(v), missing)));
        }
        match self.state(v).bound.clone() {
            None if missing == Type::Var(v) => Ok(()),
            None => {
                let level = self.state(v).level;
                for other in self.open_vars(&missing) {
                    let state = self.state_mut(other);
                    state.level = state.level.min(level);
                }
                self.state_mut(v).bound = Some(missing);
                Ok(())
            }
            Some(Type::Var(next)) => self.bind_missing(next, missing),
            Some(known) if known == missing => Ok(()),
            Some(known) => Err(Box::new(Clash::Different(known, missing))),
        }
    }
}
