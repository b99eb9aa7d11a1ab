//! Terms: tokens in markings and inscriptions, and guards.

use crate::net::{Bag, ClassId, Colour, Compared, Component, Guard, Kind, Net, Relation};
use crate::xml::{El, Res};
use std::collections::HashMap;

/// What an identifier of the declarations stands for.
#[derive(Clone, Debug)]
pub enum Declared {
    /// A class, or a product of classes.
    Sort(Vec<ClassId>),
    Partition(usize),
    Element(usize, u32),
    Colour(ClassId, u32),
    Variable(usize),
}

/// The sort of what is compared: a partition or a class.
type Compares = (bool, usize);

/// The net's declarations, and by what they are called.
#[derive(Default)]
pub struct Scope {
    pub net: Net,
    pub ids: HashMap<String, Declared>,
}

impl Scope {
    pub fn declared(&self, e: El, id: &str) -> Res<&Declared> {
        self.ids.get(id).ok_or_else(|| e.error("N0201", format!("`{id}` is not declared")))
    }

    /// The class of dots, made when it is asked for first.
    fn dot(&mut self) -> ClassId {
        let known = self.net.classes.iter().position(|c| c.kind == Kind::Dot);
        known.unwrap_or_else(|| {
            let (name, colours) = ("dot".to_string(), vec!["•".to_string()]);
            self.net.classes.push(crate::net::Class { name, kind: Kind::Dot, colours, ordered_by: None });
            self.net.classes.len() - 1
        })
    }

    /// A sort that is referred to: its classes.
    pub fn sort(&mut self, e: El) -> Res<Vec<ClassId>> {
        match e.name() {
            "dot" => Ok(vec![self.dot()]),
            "usersort" => match self.declared(e, e.attribute("declaration")?)? {
                Declared::Sort(classes) => Ok(classes.clone()),
                _ => Err(e.error("N0202", "this is not a sort of tokens")),
            },
            "productsort" => {
                let mut all = vec![];
                for part in e.children() {
                    match self.sort(part)?[..] {
                        [class] => all.push(class),
                        _ => return Err(part.unsupported("a product inside a product")),
                    }
                }
                Ok(all)
            }
            _ => Err(e.unsupported("a sort of this kind")),
        }
    }

    fn same(&self, e: El, found: ClassId, wanted: ClassId) -> Res<()> {
        if found == wanted {
            return Ok(());
        }
        let name = |c: ClassId| &self.net.classes[c].name;
        let message = format!("this is of the class {}, and {} is expected", name(found), name(wanted));
        Err(e.error("N0203", message))
    }

    /// A colour.
    fn colour(&mut self, e: El) -> Res<(Colour, ClassId)> {
        match e.name() {
            "subterm" => self.colour(e.only()?),
            "variable" => match self.declared(e, e.attribute("refvariable")?)? {
                Declared::Variable(v) => Ok((Colour::Variable(*v), self.net.variables[*v].class)),
                _ => Err(e.error("N0202", "this is not a variable")),
            },
            "useroperator" => match self.declared(e, e.attribute("declaration")?)? {
                Declared::Colour(class, i) => Ok((Colour::Constant(*class, *i), *class)),
                _ => Err(e.error("N0202", "this is not a colour")),
            },
            "dotconstant" => {
                let dot = self.dot();
                Ok((Colour::Constant(dot, 0), dot))
            }
            "finiteintrangeconstant" => self.number_of_range(e),
            "successor" | "predecessor" => {
                let (inner, class) = self.colour(e.only()?)?;
                if self.net.classes[class].kind != Kind::Cyclic {
                    let name = &self.net.classes[class].name;
                    let message =
                        format!("the class {name} is no cyclic enumeration, so no colour has a neighbour");
                    return Err(e.error("N0204", message));
                }
                let what = if e.name() == "successor" { "successors" } else { "predecessors" };
                self.net.classes[class].ordered_by.get_or_insert(what);
                let step = if e.name() == "successor" { 1 } else { -1 };
                Ok((Colour::Shifted(Box::new(inner), step), class))
            }
            _ => Err(e.unsupported("an operator for colours")),
        }
    }

    fn number_of_range(&mut self, e: El) -> Res<(Colour, ClassId)> {
        let value = e.attribute("value")?;
        let range = e.only()?;
        let (start, end) = (range.attribute("start")?, range.attribute("end")?);
        let fits = |c: &crate::net::Class| {
            c.kind == Kind::Range
                && c.colours.first().map(String::as_str) == Some(start)
                && c.colours.last().map(String::as_str) == Some(end)
        };
        let classes: Vec<ClassId> =
            (0..self.net.classes.len()).filter(|c| fits(&self.net.classes[*c])).collect();
        let [class] = classes[..] else {
            let message = format!("not exactly one class is the range from {start} to {end}");
            return Err(e.error("N0205", message));
        };
        let at = self.net.classes[class].colours.iter().position(|c| c == value);
        let at =
            at.ok_or_else(|| e.error("N0205", format!("{value} is not in the range from {start} to {end}")))?;
        Ok((Colour::Constant(class, at as u32), class))
    }

    /// Tokens for a place of this domain.
    pub fn bag(&mut self, e: El, domain: &[ClassId]) -> Res<Bag> {
        match e.name() {
            "subterm" | "structure" => self.bag(e.only()?, domain),
            "add" => Ok(Bag::Sum(e.children().map(|c| self.bag(c, domain)).collect::<Res<_>>()?)),
            "subtract" => {
                let mut parts =
                    e.children().map(|c| self.bag(c, domain)).collect::<Res<Vec<_>>>()?.into_iter();
                let first = parts.next().ok_or_else(|| e.error("N0103", "nothing to subtract from"))?;
                Ok(parts.fold(first, |all, part| Bag::Without(Box::new(all), Box::new(part))))
            }
            "numberof" | "scalarproduct" => {
                let parts: Vec<El> = e.children().collect();
                let (times, of) = match parts[..] {
                    [of] if e.name() == "numberof" => (1, of),
                    [times, of] => (self.times(times)?, of),
                    _ => return Err(e.error("N0103", "a number and a term are expected")),
                };
                Ok(Bag::Times(times, Box::new(self.bag(of, domain)?)))
            }
            "empty" => Ok(Bag::Sum(vec![])),
            "tuple" => {
                let parts: Vec<El> = e.children().collect();
                if parts.len() != domain.len() {
                    let message = format!(
                        "a tuple of {} components, and the place has tokens of {}",
                        parts.len(),
                        domain.len()
                    );
                    return Err(e.error("N0203", message));
                }
                let parts = parts.into_iter().zip(domain);
                Ok(Bag::Tuple(parts.map(|(p, class)| self.component(p, *class)).collect::<Res<_>>()?))
            }
            "all" => {
                let sort = self.sort(e.only()?)?;
                if sort != domain {
                    return Err(e.error("N0203", "all tokens of a sort that is not that of the place"));
                }
                Ok(Bag::Tuple(sort.into_iter().map(Component::All).collect()))
            }
            _ => match domain {
                [class] => Ok(Bag::Tuple(vec![self.component(e, *class)?])),
                _ => {
                    // An operator that is not there is said to be so, whatever the domain is.
                    self.colour(e)?;
                    Err(e.error("N0203", format!("the place has tokens of {} components", domain.len())))
                }
            },
        }
    }

    fn times(&self, e: El) -> Res<u64> {
        match e.name() {
            "subterm" => self.times(e.only()?),
            "numberconstant" => e.number(e.attribute("value")?),
            _ => Err(e.unsupported("arithmetic")),
        }
    }

    fn component(&mut self, e: El, class: ClassId) -> Res<Component> {
        match e.name() {
            "subterm" => self.component(e.only()?, class),
            "all" => match self.sort(e.only()?)?[..] {
                [found] => self.same(e, found, class).map(|()| Component::All(class)),
                _ => Err(e.error("N0203", "all tuples where one component is expected")),
            },
            "numberof" => {
                // `1'x` as a component, as some tools write it.
                let parts: Vec<El> = e.children().collect();
                match parts[..] {
                    [times, of] if self.times(times)? == 1 => self.component(of, class),
                    _ => Err(e.unsupported("several tokens in a component")),
                }
            }
            _ => {
                let (colour, found) = self.colour(e)?;
                self.same(e, found, class)?;
                Ok(Component::One(colour))
            }
        }
    }

    fn compared(&mut self, e: El) -> Res<(Vec<Compared>, Vec<Compares>)> {
        match e.name() {
            "subterm" => self.compared(e.only()?),
            "tuple" => {
                let (mut all, mut sorts) = (vec![], vec![]);
                for part in e.children() {
                    let (one, sort) = self.compared(part)?;
                    all.extend(one);
                    sorts.extend(sort);
                }
                Ok((all, sorts))
            }
            "partitionelementof" => {
                let id = e.attribute("refpartition")?;
                let Declared::Partition(p) = *self.declared(e, id)? else {
                    return Err(e.error("N0202", format!("`{id}` is not a partition")));
                };
                let (colour, class) = self.colour(e.only()?)?;
                self.same(e, class, self.net.partitions[p].class)?;
                Ok((vec![Compared::Element(p, colour)], vec![(true, p)]))
            }
            "useroperator"
                if matches!(self.declared(e, e.attribute("declaration")?)?, Declared::Element(..)) =>
            {
                match *self.declared(e, e.attribute("declaration")?)? {
                    Declared::Element(p, i) => Ok((vec![Compared::ElementConstant(p, i)], vec![(true, p)])),
                    _ => Err(e.error("N0202", "this is not an element of a partition")),
                }
            }
            _ => {
                let (colour, class) = self.colour(e)?;
                Ok((vec![Compared::Colour(colour)], vec![(false, class)]))
            }
        }
    }

    /// A condition of a transition.
    pub fn guard(&mut self, e: El) -> Res<Guard> {
        let (relation, is_swapped) = match e.name() {
            "subterm" | "structure" => return self.guard(e.only()?),
            "booleanconstant" => return Ok(Guard::Constant(e.attribute("value")? == "true")),
            "and" => return Ok(Guard::All(e.children().map(|c| self.guard(c)).collect::<Res<_>>()?)),
            "or" => return Ok(Guard::Any(e.children().map(|c| self.guard(c)).collect::<Res<_>>()?)),
            "not" => return Ok(Guard::Not(Box::new(self.guard(e.only()?)?))),
            "imply" => {
                let parts: Vec<El> = e.children().collect();
                let [a, b] = parts[..] else {
                    return Err(e.error("N0103", "two conditions are expected"));
                };
                return Ok(Guard::Any(vec![Guard::Not(Box::new(self.guard(a)?)), self.guard(b)?]));
            }
            "equality" => (Relation::Equal, false),
            "inequality" => (Relation::Unequal, false),
            "lessthan" | "ltp" => (Relation::Less, false),
            "lessthanorequal" => (Relation::AtMost, false),
            "greaterthan" | "gtp" => (Relation::Less, true),
            "greaterthanorequal" => (Relation::AtMost, true),
            _ => return Err(e.unsupported("an operator for conditions")),
        };
        let parts: Vec<El> = e.children().collect();
        let [a, b] = parts[..] else {
            return Err(e.error("N0103", "two terms to compare are expected"));
        };
        let ((mut xs, x), (mut ys, y)) = (self.compared(a)?, self.compared(b)?);
        if x != y {
            return Err(e.error("N0203", "what is compared is of different sorts"));
        }
        if !matches!(relation, Relation::Equal | Relation::Unequal) {
            let [(is_partition, of)] = x[..] else {
                return Err(e.error("N0203", "tuples have no order"));
            };
            let class = if is_partition { self.net.partitions[of].class } else { of };
            // Elements of a partition are in order, and the colours within one are not.
            if !is_partition {
                self.net.classes[class].ordered_by.get_or_insert("comparisons");
            }
        }
        if is_swapped {
            std::mem::swap(&mut xs, &mut ys);
        }
        let pairs = xs.into_iter().zip(ys);
        Ok(match relation {
            Relation::Unequal => {
                Guard::Any(pairs.map(|(a, b)| Guard::Compare(Relation::Unequal, a, b)).collect())
            }
            _ => Guard::All(pairs.map(|(a, b)| Guard::Compare(relation, a, b)).collect()),
        })
    }
}
