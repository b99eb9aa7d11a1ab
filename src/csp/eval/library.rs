//! Functions that are built in.

use super::{Machine, sound};
use crate::builtin::COMPRESSIONS;
use crate::term::Term;
use crate::value::{Fault, NodeId, Res, Set, Value};
use kanon_language::lang::diag::Span;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

type Map = Arc<BTreeMap<Value, Value>>;

impl Machine {
    pub(super) fn builtin(&mut self, name: &'static str, all: &[Value], span: Span) -> Res<Value> {
        let all: Vec<Value> = all.iter().map(sound).collect::<Res<_>>()?;
        let set = |this: &Machine, i: usize| this.set_of(arg(&all, i, span)?, span);
        Ok(match name {
            "union" => Value::Set(self.union(&set(self, 0)?, &set(self, 1)?, span)?),
            "inter" => Value::Set(self.inter(&set(self, 0)?, &set(self, 1)?, span)?),
            "diff" => Value::Set(self.diff(&set(self, 0)?, &set(self, 1)?, span)?),
            "Union" => {
                let mut made = Set::empty();
                for s in self.elements(&set(self, 0)?, span)?.iter() {
                    made = self.union(&made, &self.set_of(s, span)?, span)?;
                }
                Value::Set(made)
            }
            "Inter" => {
                let sets = self.elements(&set(self, 0)?, span)?;
                let mut sets = sets.iter();
                let Some(first) = sets.next() else {
                    return Fault::wrong(span, "the intersection of no sets is not defined");
                };
                let mut made = self.set_of(first, span)?;
                for s in sets {
                    made = self.inter(&made, &self.set_of(s, span)?, span)?;
                }
                Value::Set(made)
            }
            "set" => {
                let mut made = BTreeSet::new();
                for v in self.whole(arg(&all, 0, span)?, span)? {
                    made.insert(self.normal(v, span)?);
                }
                Value::Set(Set::of(made))
            }
            "Set" => Value::Set(Set::Subsets(Arc::new(set(self, 0)?))),
            "Seq" => Value::Set(Set::Sequences(Arc::new(set(self, 0)?))),
            "member" => Value::Bool(self.member_of(arg(&all, 0, span)?, &set(self, 1)?, span)?),
            "card" => Value::Int(self.elements(&set(self, 0)?, span)?.len() as i64),
            "empty" => Value::Bool(self.is_empty(&set(self, 0)?, span)?),
            "seq" => Value::Seq(self.elements(&set(self, 0)?, span)?.iter().cloned().collect()),
            "elem" => {
                let mut found = false;
                let mut rest = arg(&all, 1, span)?.clone();
                while let Some((first, more)) = self.split(&rest, 1, span)? {
                    let first = self.whole(&first, span)?;
                    if self.equal(arg(&all, 0, span)?, &first[0], span)? {
                        found = true;
                        break;
                    }
                    rest = more;
                }
                Value::Bool(found)
            }
            "length" => Value::Int(self.whole(arg(&all, 0, span)?, span)?.len() as i64),
            "null" => Value::Bool(self.split(arg(&all, 0, span)?, 1, span)?.is_none()),
            "head" => match self.split(arg(&all, 0, span)?, 1, span)? {
                Some((first, _)) => sound(&self.whole(&first, span)?[0])?,
                None => return Fault::wrong(span, "the empty sequence has no head"),
            },
            "tail" => match self.split(arg(&all, 0, span)?, 1, span)? {
                Some((_, rest)) => rest,
                None => return Fault::wrong(span, "the empty sequence has no tail"),
            },
            "concat" => {
                let mut made = Value::seq(vec![]);
                for s in self.whole(arg(&all, 0, span)?, span)? {
                    made = self.concatenate(&made, &sound(&s)?, span)?;
                }
                made
            }
            "error" => {
                let text = self.whole(arg(&all, 0, span)?, span)?;
                let text: String =
                    text.iter().map(|c| if let Value::Char(c) = c { *c } else { '?' }).collect();
                return Fault::wrong(span, format!("error: {text}"));
            }
            "show" => Value::string(&self.show(arg(&all, 0, span)?)),
            "extensions" => Value::Set(self.extensions(arg(&all, 0, span)?, span)?),
            "productions" => Value::Set(Set::of(self.productions(arg(&all, 0, span)?, span)?)),
            "Map" => Value::Set(Set::Maps(Arc::new(set(self, 0)?), Arc::new(set(self, 1)?))),
            _ if name.starts_with("map") => self.map(name, &all, span)?,
            "mtransclose" | "transpose" | "relational_image" | "relational_inverse_image" => {
                self.relation(name, &all, span)?
            }
            _ => Value::Process(self.process_builtin(name, &all, span)?),
        })
    }

    fn map(&mut self, name: &str, all: &[Value], span: Span) -> Res<Value> {
        let pairs = |this: &mut Machine, list: &Value, into: &mut BTreeMap<Value, Value>| -> Res<()> {
            for pair in this.whole(list, span)? {
                if let Value::Tuple(kv) = &sound(&pair)? {
                    into.insert(this.normal(kv[0].clone(), span)?, this.normal(kv[1].clone(), span)?);
                }
            }
            Ok(())
        };
        if name == "mapFromList" {
            let mut made = BTreeMap::new();
            pairs(self, arg(all, 0, span)?, &mut made)?;
            return Ok(Value::Map(Arc::new(made)));
        }
        let Value::Map(map) = arg(all, 0, span)? else { return Fault::wrong(span, "this is no map") };
        let mut map: Map = Arc::clone(map);
        if name == "mapToList" {
            return Ok(Value::Seq(
                map.iter().map(|(k, v)| Value::tuple(vec![k.clone(), v.clone()])).collect(),
            ));
        }
        if name == "mapUpdateMultiple" {
            pairs(self, arg(all, 1, span)?, Arc::make_mut(&mut map))?;
            return Ok(Value::Map(map));
        }
        let key = self.normal(arg(all, 1, span)?.clone(), span)?;
        Ok(match name {
            "mapLookup" => match map.get(&key) {
                Some(v) => v.clone(),
                None => {
                    let text = self.show(&key);
                    return Fault::wrong(span, format!("this map has no key `{text}`"));
                }
            },
            "mapMember" => Value::Bool(map.contains_key(&key)),
            "mapUpdate" => {
                let v = self.normal(arg(all, 2, span)?.clone(), span)?;
                Arc::make_mut(&mut map).insert(key, v);
                Value::Map(map)
            }
            "mapDelete" => {
                Arc::make_mut(&mut map).remove(&key);
                Value::Map(map)
            }
            _ => return Fault::wrong(span, format!("`{name}` is not known")),
        })
    }

    /// Functions on sets of pairs.
    pub(super) fn relation(&mut self, name: &'static str, all: &[Value], span: Span) -> Res<Value> {
        let set = self.set_of(arg(all, 0, span)?, span)?;
        let mut pairs = vec![];
        for pair in self.elements(&set, span)?.iter() {
            if let Value::Tuple(p) = pair {
                pairs.push((p[0].clone(), p[1].clone()));
            }
        }
        let made: BTreeSet<Value> = match (name, all) {
            ("transpose", _) => pairs.into_iter().map(|(a, b)| Value::tuple(vec![b, a])).collect(),
            ("relational_image" | "relational_inverse_image", [r]) => {
                return Ok(Value::tuple(vec![Value::Builtin(name), r.clone()]));
            }
            ("relational_image", [_, x]) => {
                let x = self.normal(x.clone(), span)?;
                pairs.into_iter().filter(|(a, _)| *a == x).map(|(_, b)| b).collect()
            }
            ("relational_inverse_image", [_, x]) => {
                let x = self.normal(x.clone(), span)?;
                pairs.into_iter().filter(|(_, b)| *b == x).map(|(a, _)| a).collect()
            }
            ("mtransclose", _) => {
                let domain = self.set_of(arg(all, 1, span)?, span)?;
                representatives(&pairs, &*self.elements(&domain, span)?)
            }
            _ => return Fault::wrong(span, format!("`{name}` is not known")),
        };
        Ok(Value::Set(Set::of(made)))
    }

    /// Processes with arguments.
    fn process_builtin(&mut self, name: &'static str, all: &[Value], span: Span) -> Res<NodeId> {
        let process = |i: usize| match arg(all, i, span)? {
            Value::Process(node) => Ok(*node),
            _ => Fault::wrong(span, "this is no process"),
        };
        let term = match name {
            "CHAOS" => Term::Chaos(self.events_of(arg(all, 0, span)?, span)?),
            "RUN" => Term::Run(self.events_of(arg(all, 0, span)?, span)?),
            "BUFFER" | "WEAK_BUFFER" | "SIGNAL_BUFFER" => {
                let size = self.int(arg(all, 0, span)?, span)?;
                if size < 1 {
                    return Fault::wrong(span, "a buffer has at least one place");
                }
                let links = self.set_of(arg(all, all.len() - 1, span)?, span)?;
                let (mut inputs, mut outputs) = (BTreeSet::new(), BTreeSet::new());
                let links = self.elements(&links, span)?;
                for pair in links.iter() {
                    if let Value::Tuple(p) = pair {
                        inputs.insert(self.event(&p[0], span)?);
                        outputs.insert(self.event(&p[1], span)?);
                    }
                }
                if inputs.len() != links.len() || outputs.len() != links.len() {
                    return Fault::wrong(span, "an event of this buffer goes with several others");
                }
                Term::Refused("a built-in buffer", Arc::from([]))
            }
            "prioritise" | "prioritise_nocache" => {
                if self.split(arg(all, 1, span)?, 1, span)?.is_none() {
                    return Fault::wrong(span, "a list of priorities has at least one set");
                }
                Term::Refused("prioritise", [process(0)?].into())
            }
            "prioritisepo" => {
                self.priorities(all, span)?;
                Term::Refused("prioritisepo", [process(0)?].into())
            }
            _ if COMPRESSIONS.contains(&name) => return process(0),
            "timed" => Term::Refused("a process of a timed section", Arc::from([])),
            _ => Term::Refused(name, [process(0)?].into()),
        };
        Ok(self.node(term))
    }

    /// The order of `prioritisepo` is one, of events that take part, and nothing is above the maximal ones.
    fn priorities(&mut self, all: &[Value], span: Span) -> Res<()> {
        let [_, events, order, maximal] = all else {
            return Fault::wrong(span, "this function takes another number of arguments");
        };
        let (events, maximal) = (self.events_of(events, span)?, self.events_of(maximal, span)?);
        let order = self.set_of(order, span)?;
        let (mut above, mut all_there) = (BTreeMap::<_, BTreeSet<_>>::new(), true);
        for pair in self.elements(&order, span)?.iter() {
            if let Value::Tuple(p) = pair {
                let (high, low) = (self.event(&p[0], span)?, self.event(&p[1], span)?);
                all_there &= events.contains(&high) && events.contains(&low);
                above.entry(low).or_default().insert(high);
            }
        }
        if !all_there || !maximal.iter().all(|e| events.contains(e)) {
            return Fault::wrong(span, "events are ordered here that take no part");
        }
        if maximal.iter().any(|e| above.contains_key(e)) {
            return Fault::wrong(span, "an event is maximal and another one is above it");
        }
        // Whatever can be left out from the top leaves a circle behind, if there is one.
        let mut left = above;
        loop {
            let lows: BTreeSet<_> = left.keys().copied().collect();
            let before = left.len();
            left.retain(|_, highs| highs.iter().any(|h| lows.contains(h)));
            if left.len() == before {
                break;
            }
        }
        if left.is_empty() { Ok(()) } else { Fault::wrong(span, "this order has a circle") }
    }
}

/// For each class of connected elements, pairs of one of them with the others.
fn representatives(pairs: &[(Value, Value)], domain: &BTreeSet<Value>) -> BTreeSet<Value> {
    let mut class: BTreeMap<&Value, &Value> = domain.iter().map(|v| (v, v)).collect();
    let mut changed = true;
    while changed {
        changed = false;
        for (a, b) in pairs {
            if let (Some(x), Some(y)) = (class.get(a).copied(), class.get(b).copied())
                && x != y
            {
                let (low, high) = if x < y { (x, y) } else { (y, x) };
                class.values_mut().filter(|v| **v == high).for_each(|v| *v = low);
                changed = true;
            }
        }
    }
    let moved = class.into_iter().filter(|(v, r)| v != r);
    moved.map(|(v, r)| Value::tuple(vec![r.clone(), v.clone()])).collect()
}

fn arg(all: &[Value], i: usize, span: Span) -> Res<&Value> {
    match all.get(i) {
        Some(v) => Ok(v),
        None => Fault::wrong(span, "this function takes another number of arguments"),
    }
}
