//! Who is who in a text of Event-B: names are looked up in the components as they are written, and beside mistakes.
//!
//! A name is looked for in the component, then in those of the same file that it sees, extends or refines; a parameter
//! of an event that extends another one in the same file is that one's.

use super::read;
use crate::lang::ast::{Expr, ExprKind, Ident, Name};
use crate::lang::diag::{FileId, Span};
use crate::lang::eventb::gather::Component;
use crate::lang::eventb::project::{ActionKind, Context, Event, Machine};
use crate::lang::index::{Declared, Index, Kind, Reference, Use, comments};
use crate::lang::walk::children;

/// Reads a text. What cannot be read is left out.
pub fn index(text: &str, file: FileId) -> Index {
    let sheets = read::read(text, file, &mut vec![]);
    let components: Vec<Component> = sheets.into_iter().map(|s| s.component).collect();
    let ends = components.iter().skip(1).map(|c| start(text, name(c))).chain([text.len() as u32]);
    let wholes: Vec<Span> = components
        .iter()
        .zip(ends)
        .map(|(c, end)| trimmed(text, Span { lo: start(text, name(c)), hi: end, file }))
        .collect();
    let mut of =
        Indexer { text, components: &components, own: vec![], found: Index::default(), bound: vec![] };
    for (component, whole) in components.iter().zip(&wholes) {
        of.declare(component, *whole);
    }
    for (at, component) in components.iter().enumerate() {
        match component {
            Component::Machine(m) => of.machine(at, m),
            Component::Context(c) => of.context(at, c),
        }
    }
    let mut found = of.found;
    found.sort();
    let is_long = |s: &Span| text.get(s.lo as usize..s.hi as usize).is_some_and(|t| t.trim().contains('\n'));
    found.folds = found
        .names
        .iter()
        .filter(|n| n.kind.is_component() || n.kind == Kind::Event)
        .map(|n| n.whole)
        .collect();
    between(text, file, &mut found.folds);
    found.folds.retain(is_long);
    found.folds.sort();
    found.folds.dedup();
    found
}

/// Comments may stand anywhere, and a label may look like the beginning of one.
fn between(text: &str, file: FileId, folds: &mut Vec<Span>) {
    let mut found = vec![];
    comments(text, file, 0, text.len() as u32, &mut found);
    let begins = |s: &Span| {
        let before = text.get(..s.lo as usize).and_then(|t| t.chars().next_back());
        before.is_none_or(char::is_whitespace)
    };
    folds.extend(found.into_iter().filter(begins));
}

fn name(component: &Component) -> &Ident {
    match component {
        Component::Machine(m) => &m.name,
        Component::Context(c) => &c.name,
    }
}

/// Where the word before a name begins: `machine`, `context`.
fn start(text: &str, name: &Ident) -> u32 {
    let before = text.get(..name.span.lo as usize).unwrap_or_default().trim_end();
    let word = before.chars().rev().take_while(|c| c.is_alphanumeric()).map(char::len_utf8).sum::<usize>();
    (before.len() - word) as u32
}

fn trimmed(text: &str, span: Span) -> Span {
    let inside = text.get(span.lo as usize..span.hi as usize).unwrap_or_default();
    Span { hi: span.lo + inside.trim_end().len() as u32, ..span }
}

/// The place of a declaration in the list, by the name.
type Names = Vec<(Name, usize)>;

struct Indexer<'t> {
    text: &'t str,
    components: &'t [Component],
    /// What each component declares, and the parameters of its events.
    own: Vec<(Names, Vec<(Name, Names)>)>,
    found: Index,
    /// Names that are bound around a place, the innermost last.
    bound: Names,
}

impl Indexer<'_> {
    fn add(&mut self, id: &Ident, kind: Kind, whole: Span, scope: Option<Span>) -> usize {
        let (name, span) = (id.name.clone(), id.span);
        self.found.names.push(Declared { name, kind, span, whole, head: span, scope });
        self.found.names.len() - 1
    }

    fn all(&mut self, ids: &[Ident], kind: Kind, names: &mut Names) {
        for id in ids {
            let at = self.add(id, kind, id.span, None);
            names.push((id.name.clone(), at));
        }
    }

    fn declare(&mut self, component: &Component, whole: Span) {
        let (mut names, mut events) = (vec![], vec![]);
        match component {
            Component::Context(c) => {
                self.add(&c.name, Kind::Context, whole, None);
                self.all(&c.sets, Kind::Set, &mut names);
                self.all(&c.constants, Kind::Constant, &mut names);
            }
            Component::Machine(m) => {
                self.add(&m.name, Kind::Machine, whole, None);
                self.all(&m.variables, Kind::Variable, &mut names);
                for (i, event) in m.events.iter().enumerate() {
                    let hi = m.events.get(i + 1).map_or(whole.hi, |next| next.span.lo);
                    let mut whole = trimmed(self.text, Span { hi, ..event.span });
                    if i + 1 == m.events.len() {
                        whole = self.without_end(whole);
                    }
                    let at = self.add(&event.name, Kind::Event, whole, None);
                    names.push((event.name.name.clone(), at));
                    let mut own = vec![];
                    for id in &event.parameters {
                        let at = self.add(id, Kind::Local, id.span, Some(whole));
                        own.push((id.name.clone(), at));
                    }
                    events.push((event.name.name.clone(), own));
                }
            }
        }
        self.own.push((names, events));
    }

    /// The `end` of the machine is not its last event's.
    fn without_end(&self, whole: Span) -> Span {
        let inside = self.text.get(whole.lo as usize..whole.hi as usize).unwrap_or_default();
        let ends =
            |t: &str| t.get(t.len().saturating_sub(3)..).is_some_and(|e| e.eq_ignore_ascii_case("end"));
        match inside.get(..inside.len().saturating_sub(3)).map(str::trim_end) {
            Some(rest) if ends(inside) && ends(rest) => Span { hi: whole.lo + rest.len() as u32, ..whole },
            _ => whole,
        }
    }

    /// The component of this file with a name.
    fn component(&self, wanted: &Ident) -> Option<usize> {
        self.components.iter().position(|c| name(c).name == wanted.name)
    }

    /// The components of this file whose names can be seen in one, itself first.
    fn seen(&self, at: usize) -> Vec<usize> {
        let mut seen = vec![];
        let mut open = vec![at];
        while let Some(at) = open.pop() {
            if seen.contains(&at) {
                continue;
            }
            seen.push(at);
            let others: Vec<&Ident> = match &self.components[at] {
                Component::Machine(m) => m.sees.iter().chain(&m.refines).collect(),
                Component::Context(c) => c.extends.iter().collect(),
            };
            open.extend(others.into_iter().filter_map(|id| self.component(id)));
        }
        seen
    }

    /// Refers to another component: here if it is in this file, and elsewhere otherwise.
    fn refer(&mut self, ids: &[Ident], refines: bool) {
        for id in ids {
            match self.component(id) {
                Some(at) => {
                    let declared = name(&self.components[at]).span;
                    let of = self.found.names.iter().position(|n| n.span == declared);
                    self.found.uses.push(Use {
                        name: id.name.clone(),
                        span: id.span,
                        of,
                        in_definition: false,
                    });
                }
                None => self.found.references.push(Reference { machine: id.clone(), refines }),
            }
        }
    }

    fn see(&mut self, at: usize, name: &str, span: Span) {
        // The new value of a variable is not another name.
        let (name, span) = match name.strip_suffix('\'') {
            Some(plain) => (plain, Span { hi: span.hi.saturating_sub(1), ..span }),
            None => (name, span),
        };
        // What the reader made up stands nowhere.
        if self.text.get(span.lo as usize..span.hi as usize) != Some(name) {
            return;
        }
        let bound = self.bound.iter().rev().find(|(n, _)| **n == *name).map(|(_, i)| *i);
        let of = bound.or_else(|| {
            let seen = self.seen(at);
            seen.iter().find_map(|at| self.own[*at].0.iter().find(|(n, _)| **n == *name)).map(|(_, i)| *i)
        });
        self.found.uses.push(Use { name: name.into(), span, of, in_definition: false });
    }

    fn expr(&mut self, at: usize, e: &Expr) {
        match &e.kind {
            ExprKind::Name(name) => self.see(at, name, e.span),
            ExprKind::Quant(_, ids, _)
            | ExprKind::Bind(_, ids, ..)
            | ExprKind::Compr(ids, _)
            | ExprKind::ComprMap(ids, ..)
            | ExprKind::Let(ids, ..) => {
                let before = self.bound.len();
                for id in ids {
                    if self.text.get(id.span.lo as usize..id.span.hi as usize) == Some(&*id.name) {
                        let declared = self.add(id, Kind::Local, id.span, Some(e.span));
                        self.bound.push((id.name.clone(), declared));
                    }
                }
                children(e, &mut |part| self.expr(at, part));
                self.bound.truncate(before);
            }
            _ => children(e, &mut |part| self.expr(at, part)),
        }
    }

    fn context(&mut self, at: usize, c: &Context) {
        self.refer(&c.extends, false);
        c.axioms.iter().chain(&c.theorems).for_each(|l| self.expr(at, &l.formula));
    }

    fn machine(&mut self, at: usize, m: &Machine) {
        self.refer(m.refines.as_slice(), true);
        self.refer(&m.sees, false);
        m.invariants.iter().chain(&m.theorems).chain(&m.variant).for_each(|l| self.expr(at, &l.formula));
        for (i, event) in m.events.iter().enumerate() {
            let own = self.own[at].1.get(i).map(|(_, names)| names.clone()).unwrap_or_default();
            self.bound = self.inherited(at, event, &mut vec![]);
            self.bound.extend(own);
            self.event(at, event);
            self.bound.clear();
        }
    }

    /// Parameters of the events of this file that an event extends.
    fn inherited(&self, at: usize, event: &Event, met: &mut Vec<usize>) -> Names {
        let Component::Machine(m) = &self.components[at] else { return vec![] };
        let above = m.refines.as_ref().and_then(|id| self.component(id)).filter(|a| !met.contains(a));
        let Some(above) = above.filter(|_| event.inherited.is_extended) else { return vec![] };
        met.push(above);
        let Component::Machine(abstraction) = &self.components[above] else { return vec![] };
        let mut names = vec![];
        for (i, other) in abstraction.events.iter().enumerate() {
            if event.refines.iter().any(|r| r.name == other.name.name) {
                names.extend(self.inherited(above, other, met));
                names.extend(self.own[above].1.get(i).map(|(_, names)| names.clone()).unwrap_or_default());
            }
        }
        names
    }

    fn event(&mut self, at: usize, event: &Event) {
        // An event is refined by one that may have the same name: its own is not meant.
        let Component::Machine(m) = &self.components[at] else { return };
        let above = m.refines.as_ref().and_then(|id| self.component(id));
        for id in &event.refines {
            let of = above.and_then(|a| self.own[a].0.iter().find(|(n, _)| *n == id.name)).map(|(_, i)| *i);
            self.found.uses.push(Use { name: id.name.clone(), span: id.span, of, in_definition: false });
        }
        event.guards.iter().chain(&event.theorems).for_each(|l| self.expr(at, &l.formula));
        for witness in &event.witnesses {
            self.expr(at, &witness.predicate.formula);
        }
        for action in &event.actions {
            match &action.kind {
                ActionKind::Assign(pairs) => {
                    for (target, value) in pairs {
                        self.see(at, &target.name, target.span);
                        self.expr(at, value);
                    }
                }
                ActionKind::Element(target, set) => {
                    self.see(at, &target.name, target.span);
                    self.expr(at, set);
                }
                ActionKind::Such(targets, p) => {
                    targets.iter().for_each(|id| self.see(at, &id.name, id.span));
                    self.expr(at, p);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "context C0 constants n axioms @a n ∈ ℕ end\n\
        machine M0 sees C0 variables x invariants @i x ∈ 0‥n events\n\
        event up any p where @g p ∈ 1‥n ∧ (∀x·x ∈ 1‥p ⇒ x ≤ n) then @s x :∣ x' = x + p end\n\
        end\n\
        machine M1 refines M0 sees C0 variables x y events\n\
        event up extends up where @h p > y end\n\
        event other when @g z = 1 then @s y ≔ x end\n\
        end\n";

    /// Every use with the place of what it means.
    fn meanings(text: &str) -> Vec<(String, Option<(Kind, u32)>)> {
        let found = index(text, FileId(0));
        let of = |u: &Use| u.of.map(|i| (found.names[i].kind, found.names[i].span.lo));
        found.uses.iter().map(|u| (u.name.to_string(), of(u))).collect()
    }

    #[test]
    fn names_are_found_where_they_are_declared() {
        let all = meanings(TEXT);
        let at = |what: &str| TEXT.find(what).expect("it is there") as u32;
        let of = |name: &str| all.iter().filter(|(n, _)| n == name).map(|(_, m)| *m).collect::<Vec<_>>();
        let n = Some((Kind::Constant, at("n axioms")));
        assert_eq!(of("n"), [n; 4]);
        let x = Some((Kind::Variable, at("x invariants")));
        let bound = Some((Kind::Local, at("x·x")));
        let again = Some((Kind::Variable, at("x y events")));
        // In the invariant, under the quantifier, the target with its new and its old value; in the refinement.
        assert_eq!(of("x"), [x, bound, bound, x, x, x, again]);
        let p = Some((Kind::Local, at("p where")));
        assert_eq!(of("p"), [p; 4], "also where the event is extended");
        let abstraction = Some((Kind::Event, at("up any")));
        assert_eq!(of("up"), [abstraction]);
        assert_eq!(of("z"), [None]);
        assert_eq!(of("C0"), [Some((Kind::Context, at("C0 constants"))); 2]);
    }

    #[test]
    fn parts_have_their_whole_text() {
        let found = index(TEXT, FileId(0));
        let whole = |name: &str, kind| {
            let d = found.names.iter().find(|d| *d.name == *name && d.kind == kind).expect("a name");
            &TEXT[d.whole.lo as usize..d.whole.hi as usize]
        };
        assert!(
            whole("M0", Kind::Machine).starts_with("machine M0")
                && whole("M0", Kind::Machine).ends_with("end\nend")
        );
        assert!(whole("other", Kind::Event).ends_with("y ≔ x end"));
    }

    #[test]
    fn what_is_beside_a_mistake_is_there() {
        let found = index(&TEXT.replace("0‥n events", "0‥ events"), FileId(0));
        assert!(found.names.iter().any(|d| &*d.name == "other"));
        assert!(index("machine", FileId(0)).names.is_empty());
        assert!(index("", FileId(0)).names.is_empty());
        // Wherever it ends, nothing breaks.
        for at in (0..TEXT.len()).filter(|at| TEXT.is_char_boundary(*at)) {
            let found = index(&TEXT[..at], FileId(0));
            assert!(found.names.iter().all(|d| TEXT.get(d.whole.lo as usize..d.whole.hi as usize).is_some()));
        }
    }
}
