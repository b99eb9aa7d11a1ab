//! What may be asked of a type.

use super::{Clash, Fit, Table, Type};
use crate::tree::Constraint;

/// Whether a type that has the second has the first.
fn implied(wanted: Constraint, has: Constraint) -> bool {
    use Constraint::{Eq, Ord, Set};
    wanted == has || matches!((wanted, has), (Eq, Ord) | (Set, Eq | Ord))
}

impl Table {
    /// Makes sure that a type has what is asked of it: variables get it, and what is missing of an extendable may
    /// become nothing.
    pub fn demand(&mut self, c: Constraint, t: &Type) -> Fit {
        use Constraint::{Complete, Eq, Ord, Set, Yieldable};
        let t = self.look(t);
        let lacks = || Err(Box::new(Clash::Lacks(c, t.clone())));
        match (&t, c) {
            (Type::Var(v), _) => {
                let state = self.state_mut(*v);
                if state.constraints.iter().any(|has| implied(c, *has)) {
                    return Ok(());
                }
                if state.rigid.is_some() {
                    return lacks();
                }
                state.constraints.push(c);
                Ok(())
            }
            (Type::Extendable(inner, v), Yieldable | Complete) => {
                if c == Complete {
                    self.demand(c, inner)?;
                }
                self.bind_missing(*v, Type::Nothing)
            }
            (Type::Extendable(..), Eq | Set) => Ok(()),
            (Type::Data(_) | Type::Event, Yieldable) => Ok(()),
            (Type::Dot(_), Yieldable | Complete) => match self.settle(&t)? {
                Type::Dot(_) if c == Yieldable => lacks(),
                Type::Dot(parts) => parts.iter().try_for_each(|p| self.demand(c, p)),
                settled => self.demand(c, &settled),
            },
            (_, Yieldable) => lacks(),
            (Type::Int | Type::Char, _) => Ok(()),
            (Type::Bool | Type::Event, Eq | Set | Complete) => Ok(()),
            (Type::Data(d), Eq) => {
                // Whether its fields can be compared is looked at when all of them are known.
                if !self.compared.contains(d) {
                    self.compared.push(*d);
                }
                Ok(())
            }
            (Type::Data(_) | Type::Proc, Set | Complete) => Ok(()),
            (Type::Seq(_) | Type::Set(_) | Type::Tuple(_) | Type::Map(..), Complete) => Ok(()),
            // Sequences and sets are ordered by their parts: that takes equality of the elements.
            (Type::Seq(inner) | Type::Set(inner), Ord) => self.demand(Eq, inner),
            (Type::Seq(inner) | Type::Set(inner), _) => self.demand(c, inner),
            (Type::Tuple(parts), _) => parts.iter().try_for_each(|p| self.demand(c, p)),
            (Type::Map(k, v), _) => {
                self.demand(c, k)?;
                self.demand(c, v)
            }
            (Type::Dotable(a, r), Eq | Set) => {
                self.demand(c, a)?;
                self.demand(c, r)
            }
            (Type::Dot(parts), Eq | Set) => parts.iter().try_for_each(|p| self.demand(c, p)),
            _ => lacks(),
        }
    }
}
