//! Making two types one.

use super::{Clash, Fit, Match, Table, Type, Var};
use std::rc::Rc;

/// Lists may lead to lists without end; no type that anybody writes is as deep.
const DEPTH: u32 = 500;

impl Table {
    /// Makes the second type the first, by binding variables of both.
    pub fn unify(&mut self, expected: &Type, found: &Type) -> Fit {
        if self.depth >= DEPTH {
            return Err(Box::new(Clash::Different(expected.clone(), found.clone())));
        }
        self.depth += 1;
        let result = self.unify_here(expected, found);
        self.depth -= 1;
        result
    }

    fn unify_here(&mut self, expected: &Type, found: &Type) -> Fit {
        let (a, b) = (self.look(expected), self.look(found));
        let different = || Err(Box::new(Clash::Different(a.clone(), b.clone())));
        match (&a, &b) {
            (Type::Var(v), Type::Var(w)) => self.unify_vars(*v, *w),
            (Type::Var(v), t) | (t, Type::Var(v)) => {
                if self.is_rigid(*v) {
                    return self.unify_rigid(*v, t, matches!(a, Type::Var(_)));
                }
                for c in self.state(*v).constraints.clone() {
                    self.demand(c, t)?;
                }
                self.bind(*v, t)
            }
            (Type::Int, Type::Int)
            | (Type::Bool, Type::Bool)
            | (Type::Char, Type::Char)
            | (Type::Proc, Type::Proc)
            | (Type::Event, Type::Event) => Ok(()),
            (Type::Data(d), Type::Data(e)) if d == e => Ok(()),
            (Type::Seq(x), Type::Seq(y)) | (Type::Set(x), Type::Set(y)) => self.unify(x, y),
            (Type::Map(k, v), Type::Map(l, w)) => {
                self.unify(k, l)?;
                self.unify(v, w)
            }
            (Type::Tuple(xs), Type::Tuple(ys)) if xs.len() == ys.len() => self.unify_all(xs, ys),
            (Type::Function(xs, r), Type::Function(ys, s)) if xs.len() == ys.len() => {
                self.unify_all(xs, ys)?;
                self.unify(r, s)
            }
            (Type::Dot(xs), Type::Dot(ys)) => self.unify_lists(xs.to_vec(), ys.to_vec()),
            (Type::Dotable(..), Type::Dotable(..)) => self.unify_dotables(&a, &b),
            (Type::Dot(xs), Type::Extendable(..)) | (Type::Extendable(..), Type::Dot(xs)) => {
                let list_expected = matches!(a, Type::Dot(_));
                if list_expected && !self.splits {
                    return different();
                }
                let single = if list_expected { &b } else { &a };
                if list_expected {
                    return self.unify_list(xs, single, true);
                }
                let collected = self.collect(xs.to_vec(), Match::Shortest)?;
                match Type::dot(collected) {
                    Type::Dot(xs) => self.unify_list(&xs, single, false),
                    t => self.unify(single, &t),
                }
            }
            // `head.rest` is one value if the head takes the rest.
            (Type::Dot(xs), Type::Data(_) | Type::Event | Type::Dotable(..)) => {
                if !self.splits {
                    return different();
                }
                self.unify_list(xs, &b, true)
            }
            (Type::Data(_) | Type::Event | Type::Dotable(..), Type::Dot(ys)) => {
                self.unify_list(ys, &a, false)
            }
            (Type::Dotable(x, r), Type::Extendable(t, v)) | (Type::Extendable(t, v), Type::Dotable(x, r)) => {
                // One more is missing.
                let rest = self.fresh_var(vec![]);
                self.unify(&Type::Extendable(Rc::clone(t), rest), r)?;
                self.bind_missing(*v, Type::Dotable(Rc::clone(x), Rc::new(Type::Var(rest))))
            }
            (Type::Extendable(t, v), Type::Extendable(s, w)) => {
                self.unify(t, s)?;
                match (v == w, self.is_rigid(*w)) {
                    (true, _) => Ok(()),
                    (false, true) => self.bind_missing(*v, Type::Var(*w)),
                    (false, false) => self.bind_missing(*w, Type::Var(*v)),
                }
            }
            (Type::Extendable(t, v), _) => {
                self.unify(t, &b)?;
                self.bind_missing(*v, Type::Nothing)
            }
            (_, Type::Extendable(t, v)) => {
                self.unify(&a, t)?;
                self.bind_missing(*v, Type::Nothing)
            }
            _ => different(),
        }
    }

    /// The same, where the expected type is that of a pattern or parameter: a list there is not one value.
    pub fn unify_without_splitting(&mut self, expected: &Type, found: &Type) -> Fit {
        let before = std::mem::replace(&mut self.splits, false);
        let result = self.unify(expected, found);
        self.splits = before;
        result
    }

    fn unify_all(&mut self, xs: &[Type], ys: &[Type]) -> Fit {
        xs.iter().zip(ys).try_for_each(|(x, y)| self.unify(x, y))
    }

    fn unify_vars(&mut self, v: Var, w: Var) -> Fit {
        if v == w {
            return Ok(());
        }
        // The one that goes takes nothing with it: the other has to have what was asked of it.
        let (stays, goes) = if self.is_rigid(w) && !self.is_rigid(v) { (w, v) } else { (v, w) };
        for c in self.state(goes).constraints.clone() {
            self.demand(c, &Type::Var(stays))?;
        }
        self.bind(goes, &Type::Var(stays))
    }

    fn unify_rigid(&mut self, v: Var, t: &Type, expected: bool) -> Fit {
        match t {
            // A value of any type is one to which nothing is missing.
            Type::Extendable(inner, w) => {
                self.unify(&Type::Var(v), inner)?;
                self.bind_missing(*w, Type::Nothing)
            }
            Type::Dot(_) => {
                let settled = self.settle(t)?;
                if matches!(settled, Type::Dot(_)) {
                    let Type::Dot(xs) = &settled else { return Ok(()) };
                    return self.unify_list(xs, &Type::Var(v), expected);
                }
                if expected {
                    self.unify(&Type::Var(v), &settled)
                } else {
                    self.unify(&settled, &Type::Var(v))
                }
            }
            t => {
                let (a, b) = (Type::Var(v), t.clone());
                Err(Box::new(if expected { Clash::Different(a, b) } else { Clash::Different(b, a) }))
            }
        }
    }

    /// A list that has to be one value: its head takes the rest.
    fn unify_list(&mut self, list: &[Type], value: &Type, list_expected: bool) -> Fit {
        let Some((head, rest)) = list.split_first() else { return Ok(()) };
        let wanted = Type::dotable(Type::dot(rest.to_vec()), value.clone());
        if list_expected && !matches!(self.look(head), Type::Var(_)) {
            self.unify(head, &wanted)
        } else {
            self.unify(&wanted, head)
        }
    }

    fn unify_dotables(&mut self, a: &Type, b: &Type) -> Fit {
        let ((xs, r), (ys, s)) = (self.spine(a), self.spine(b));
        match (&r, &s) {
            (Type::Extendable(..), Type::Extendable(..)) => {
                self.unify(&r, &s)?;
                let (xs, ys) = (self.collect(xs, Match::Longest)?, self.collect(ys, Match::Longest)?);
                xs.iter().zip(&ys).try_for_each(|(x, y)| {
                    let (x, y) = (self.spine(x).1, self.spine(y).1);
                    self.unify(&x, &y)
                })
            }
            (Type::Extendable(..), _) => self.unify_open(xs, &r, ys, &s, true),
            (_, Type::Extendable(..)) => self.unify_open(ys, &s, xs, &r, false),
            _ => {
                self.unify(&r, &s)?;
                self.unify_lists(xs, ys)
            }
        }
    }

    /// Arguments to something extendable against arguments to something that is not: what the second list has more is
    /// what is missing.
    fn unify_open(
        &mut self,
        few: Vec<Type>,
        open: &Type,
        many: Vec<Type>,
        closed: &Type,
        first: bool,
    ) -> Fit {
        let (few, many) = (self.collect(few, Match::Longest)?, self.collect(many, Match::Longest)?);
        for (x, y) in few.iter().zip(&many) {
            let x = self.spine(x).1;
            if first { self.unify(&x, y)? } else { self.unify(y, &x)? }
        }
        if few.len() > many.len() {
            return Err(Box::new(Clash::Different(
                Type::arrow(few, open.clone()),
                Type::arrow(many, closed.clone()),
            )));
        }
        let rest = Type::arrow(many[few.len()..].to_vec(), closed.clone());
        if first { self.unify(open, &rest) } else { self.unify(&rest, open) }
    }
}
