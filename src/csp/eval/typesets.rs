//! Sets that stand where types do: `{0..3}.Bool` as the fields of a channel, datatypes, subtypes.

use super::{Known, Machine};
use crate::value::code::UnitId;
use crate::value::{ConstantId, DataId, Fault, Res, Set, Value};
use kanon_language::lang::diag::Span;
use std::collections::BTreeSet;
use std::sync::Arc;

impl Machine {
    /// The set that `S`, `S.T` or `(S, T)` stands for.
    pub(super) fn typeset(&mut self, value: &Value, span: Span) -> Res<Set> {
        match value {
            Value::Set(s) => Ok(s.clone()),
            Value::Dot(parts) => {
                let parts: Res<Vec<Set>> = parts.iter().map(|p| self.typeset(p, span)).collect();
                Ok(Set::Dots(parts?.into()))
            }
            Value::Tuple(parts) => {
                let parts: Res<Vec<Set>> = parts.iter().map(|p| self.typeset(p, span)).collect();
                Ok(Set::Tuples(parts?.into()))
            }
            Value::Fault(f) => Err(Box::new((**f).clone())),
            _ => Fault::wrong(span, "this is no set"),
        }
    }

    /// The sets of the fields that a declaration gives. Dotted values in a set are several fields, and all combinations
    /// of theirs are in the set.
    pub(super) fn field_sets(&mut self, value: &Value, span: Span) -> Res<Arc<[Set]>> {
        let mut fields = vec![];
        match value {
            Value::Dot(parts) => {
                for p in parts.iter() {
                    fields.extend(self.field_sets(p, span)?.iter().cloned());
                }
            }
            other => {
                let set = self.typeset(other, span)?;
                self.columns(&set, span, &mut fields)?;
            }
        }
        Ok(fields.into())
    }

    fn columns(&mut self, set: &Set, span: Span, into: &mut Vec<Set>) -> Res<()> {
        match set {
            Set::Dots(parts) => {
                for p in parts.iter() {
                    self.columns(p, span, into)?;
                }
            }
            Set::Finite(elements) => {
                let mut columns: Vec<BTreeSet<Value>> = vec![];
                for e in elements.iter() {
                    let parts: Vec<Value> = match e {
                        Value::Dot(parts) if self.arity_of(&parts[0], span)? == 0 => parts.to_vec(),
                        other => vec![other.clone()],
                    };
                    if !columns.is_empty() && columns.len() != parts.len() {
                        return Fault::wrong(span, "values here have different numbers of parts");
                    }
                    columns.resize(parts.len(), BTreeSet::new());
                    for (column, part) in columns.iter_mut().zip(parts) {
                        column.insert(part);
                    }
                }
                if columns.len() < 2 {
                    into.push(set.clone());
                    return Ok(());
                }
                let sizes = columns.iter().try_fold(1usize, |n, c| n.checked_mul(c.len()));
                if sizes != Some(elements.len()) {
                    return Fault::wrong(
                        span,
                        "not all combinations of the parts are in this set, which what carries them needs",
                    );
                }
                into.extend(columns.into_iter().map(Set::of));
            }
            other => into.push(other.clone()),
        }
        Ok(())
    }

    /// All values of a datatype.
    pub(super) fn data(&mut self, data: DataId, span: Span) -> Res<Arc<BTreeSet<Value>>> {
        let at = data.0 as usize;
        match &self.data[at] {
            Known::Done(known) => return known.clone(),
            Known::Busy => {
                let name = Arc::clone(&self.program.data[at].name);
                return Fault::limit(span, format!("`{name}` is infinite"));
            }
            Known::Empty => {}
        }
        self.data[at] = Known::Busy;
        let mut all = BTreeSet::new();
        let mut found = Ok(());
        for id in self.program.data[at].constructors.clone() {
            found = self.productions(&Value::Constant(id), span).map(|values| all.extend(values));
            if found.is_err() {
                break;
            }
        }
        // That a set is infinite stays true; that there were too few steps does not.
        self.data[at] = Known::Empty;
        found?;
        let all = Arc::new(all);
        self.data[at] = Known::Done(Ok(Arc::clone(&all)));
        Ok(all)
    }

    pub(super) fn subtype(&mut self, clauses: &[(ConstantId, Option<UnitId>, Span)]) -> Res<Value> {
        let mut all = BTreeSet::new();
        for (id, unit, span) in clauses {
            let given: Arc<[Set]> = match unit {
                Some(unit) => {
                    let value = self.deep_enter(*unit, &[], *span)?;
                    self.field_sets(&value, *span)?
                }
                None => Arc::from([]),
            };
            let mut made = vec![Value::Constant(*id)];
            for set in given.iter() {
                let elements = self.elements(set, *span)?;
                let mut longer = vec![];
                for m in &made {
                    for e in elements.iter() {
                        longer.push(self.dot(m.clone(), e.clone(), *span)?);
                    }
                }
                made = longer;
            }
            for m in made {
                all.extend(self.productions(&m, *span)?);
            }
        }
        Ok(Value::Set(Set::of(all)))
    }
}
