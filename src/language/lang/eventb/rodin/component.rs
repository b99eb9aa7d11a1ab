//! Machines and contexts in Rodin's files.

use super::handle;
use super::xml::{self, Value, attribute, is_true, kind, place, value};
use crate::lang::ast::{Expr, Ident, Name};
use crate::lang::diag::{Diagnostic, FileId, Span};
use crate::lang::eventb::gather::{Component, Kind, Sheet};
use crate::lang::eventb::math::lex::At;
use crate::lang::eventb::math::parse;
use crate::lang::eventb::math::words::is_name;
use crate::lang::eventb::project::{
    Action, Comments, Context, Event, Inherited, Labelled, Machine, Status, Witness,
};
use crate::lang::eventb::shape::{Res, refused};
use roxmltree::Node;
use std::collections::HashMap;

/// More errors than this help nobody.
const MAX_ERRORS: usize = 25;

/// What handles in proof files refer to: the kind and the label of each element, and the label of the event around
/// it. The key is the handle without the project.
pub type Handles = HashMap<String, (Name, Name, Option<Name>)>;

/// Reads a machine or a context from the text of its file; `name` is that of the file, without its ending.
pub fn read(
    text: &str,
    file: FileId,
    kind: Kind,
    name: &str,
    handles: &mut Handles,
    diags: &mut Vec<Diagnostic>,
) -> Option<Sheet> {
    let document = match xml::parse(text, file) {
        Ok(document) => document,
        Err(e) => {
            diags.push(e);
            return None;
        }
    };
    let root = document.root_element();
    let wanted = match kind {
        Kind::Machine => "machineFile",
        Kind::Context => "contextFile",
    };
    if xml::kind(&root) != Some(wanted) {
        let found = root.tag_name().name();
        let message = format!(
            "this is no {} of Rodin: expected `{}{wanted}`, found `{found}`",
            kind.word(),
            super::CORE
        );
        diags.push(Diagnostic::error("B0102", place(&root, file), message));
        return None;
    }
    let ending = super::ending(kind);
    let own = handle::name(name);
    let handle = format!("{own}.{ending}|{}{wanted}#{own}", super::CORE);
    let id = Ident { name: name.into(), span: Span::new(file, 0, 0) };
    let mut reader = Reader {
        text,
        file,
        name: id.name.clone(),
        handles,
        comments: Comments::new(),
        errors: vec![],
        foreign: None,
    };
    reader.comment(&root, &[]);
    let component = match kind {
        Kind::Machine => Component::Machine(reader.machine(&root, id, &handle)),
        Kind::Context => Component::Context(reader.context(&root, id, &handle)),
    };
    if let Some((span, tag)) = reader.foreign.take() {
        let message = format!("`{tag}` is not of Rodin's core and is not read");
        diags.push(Diagnostic::warning("B0421", span, message));
    }
    reader.errors.truncate(MAX_ERRORS);
    diags.append(&mut reader.errors);
    Some(Sheet { component, comments: reader.comments, obligations: vec![] })
}

struct Reader<'a> {
    text: &'a str,
    file: FileId,
    name: Name,
    handles: &'a mut Handles,
    comments: Comments,
    errors: Vec<Diagnostic>,
    /// The first element of a plug-in.
    foreign: Option<(Span, String)>,
}

impl Reader<'_> {
    /// The elements inside another, with what they are; those of plug-ins are noted.
    fn inside<'a, 'd>(&mut self, node: &Node<'a, 'd>) -> Vec<(&'a str, Node<'a, 'd>)> {
        let mut found = vec![];
        for child in node.children().filter(Node::is_element) {
            match kind(&child) {
                Some(kind) => found.push((kind, child)),
                None => {
                    let tag = child.tag_name().name().to_string();
                    self.foreign.get_or_insert((place(&child, self.file), tag));
                }
            }
        }
        found
    }

    fn comment(&mut self, node: &Node<'_, '_>, place: &[&Name]) {
        let comment = value(node, "comment").map(str::trim).filter(|c| !c.is_empty());
        if let Some(comment) = comment {
            let whole = [&self.name].into_iter().chain(place.iter().copied()).cloned().collect();
            self.comments.insert(whole, comment.into());
        }
    }

    fn value<'a>(&self, node: &Node<'a, '_>, name: &str) -> Res<Value<'a>> {
        match attribute(node, name) {
            Some(a) => Ok(Value::of(&a, self.text, self.file)),
            None => {
                let message = format!("there is no `{}{name}` here", super::CORE);
                Err(Box::new(Diagnostic::error("B0102", place(node, self.file), message)))
            }
        }
    }

    /// The name of a set, constant, variable or parameter.
    fn identifier(&self, node: &Node<'_, '_>) -> Res<Ident> {
        let value = self.value(node, "identifier")?;
        let (name, span) = (value.text.trim(), value.span());
        if !is_name(name) {
            let message = format!("`{name}` cannot be a name");
            let help = "a name is letters, digits and `_`, and no word of the language";
            return Err(Box::new(Diagnostic::error("B0102", span, message).help(help)));
        }
        Ok(Ident { name: name.into(), span })
    }

    /// The name of another component or event.
    fn target(&self, node: &Node<'_, '_>) -> Res<Ident> {
        let value = self.value(node, "target")?;
        Ok(Ident { name: value.text.into(), span: value.span() })
    }

    fn label(&self, node: &Node<'_, '_>) -> Option<Name> {
        value(node, "label").map(str::trim).filter(|l| !l.is_empty()).map(Name::from)
    }

    fn formula(
        &self,
        node: &Node<'_, '_>,
        what: &str,
        read: impl FnOnce(&str, At<'_>) -> Res<Expr>,
    ) -> Res<Labelled> {
        let value = self.value(node, what)?;
        Ok(Labelled { label: self.label(node), formula: read(value.text, value.at())? })
    }

    fn predicate(&self, node: &Node<'_, '_>) -> Res<Labelled> {
        self.formula(node, "predicate", parse::predicate)
    }

    /// Notes what a handle refers to; the handle.
    fn handle(&mut self, node: &Node<'_, '_>, around: &str, event: Option<&Name>) -> String {
        let name = handle::name(node.attribute("name").unwrap_or_default());
        let handle = format!("{around}|{}#{name}", node.tag_name().name());
        let kind: Name = kind(node).unwrap_or_default().into();
        // A variant has no label of its own; ProB takes the name of the machine.
        let label = match &*kind {
            "variant" => self.name.clone(),
            _ => self.label(node).unwrap_or_else(|| "".into()),
        };
        self.handles.insert(handle.clone(), (kind, label, event.cloned()));
        handle
    }

    fn or_report<X>(&mut self, result: Res<X>) -> Option<X> {
        result.map_err(|e| self.errors.push(*e)).ok()
    }

    fn context(&mut self, root: &Node<'_, '_>, name: Ident, handle: &str) -> Context {
        let mut context = Context::empty(name);
        for (kind, node) in self.inside(root) {
            self.handle(&node, handle, None);
            match kind {
                "extendsContext" => {
                    let target = self.target(&node);
                    context.extends.extend(self.or_report(target));
                }
                "carrierSet" | "constant" => {
                    let id = self.identifier(&node);
                    let Some(id) = self.or_report(id) else { continue };
                    self.comment(&node, &[&id.name]);
                    let list = if kind == "carrierSet" { &mut context.sets } else { &mut context.constants };
                    list.push(id);
                }
                // Before theorems were marked, they were elements of their own.
                "axiom" | "theorem" => {
                    let l = self.predicate(&node);
                    let Some(l) = self.or_report(l) else { continue };
                    self.labelled_comment(&node, &l, None);
                    let is_theorem = kind == "theorem" || is_true(&node, "theorem");
                    let list = if is_theorem { &mut context.theorems } else { &mut context.axioms };
                    list.push(l);
                }
                other => self.unknown(&node, other, "a context"),
            }
        }
        context
    }

    fn labelled_comment(&mut self, node: &Node<'_, '_>, l: &Labelled, event: Option<&Name>) {
        if let Some(label) = &l.label {
            let place: Vec<&Name> = event.into_iter().chain([label]).collect();
            self.comment(node, &place);
        }
    }

    fn unknown(&mut self, node: &Node<'_, '_>, kind: &str, inside: &str) {
        let e = refused(place(node, self.file), format!("`{}{kind}` in {inside}", super::CORE));
        self.errors.push(*e);
    }

    fn machine(&mut self, root: &Node<'_, '_>, name: Ident, handle: &str) -> Machine {
        let mut machine = Machine::empty(name);
        for (kind, node) in self.inside(root) {
            let own = self.handle(&node, handle, None);
            match kind {
                "refinesMachine" => {
                    let target = self.target(&node);
                    let Some(target) = self.or_report(target) else { continue };
                    if machine.refines.is_some() {
                        let e = refused(place(&node, self.file), "a machine that refines several");
                        self.errors.push(*e);
                    }
                    machine.refines = Some(target);
                }
                "seesContext" => {
                    let target = self.target(&node);
                    machine.sees.extend(self.or_report(target));
                }
                "variable" => {
                    let id = self.identifier(&node);
                    let Some(id) = self.or_report(id) else { continue };
                    self.comment(&node, &[&id.name]);
                    machine.variables.push(id);
                }
                "invariant" | "theorem" => {
                    let l = self.predicate(&node);
                    let Some(l) = self.or_report(l) else { continue };
                    self.labelled_comment(&node, &l, None);
                    let is_theorem = kind == "theorem" || is_true(&node, "theorem");
                    let list = if is_theorem { &mut machine.theorems } else { &mut machine.invariants };
                    list.push(l);
                }
                "variant" => {
                    let l = self.formula(&node, "expression", parse::expression);
                    let Some(l) = self.or_report(l) else { continue };
                    if machine.variant.is_some() {
                        let e = refused(place(&node, self.file), "a second variant");
                        self.errors.push(*e);
                    }
                    machine.variant = Some(l);
                }
                "event" => {
                    let event = self.event(&node, &own);
                    machine.events.extend(self.or_report(event));
                }
                other => self.unknown(&node, other, "a machine"),
            }
        }
        machine
    }

    fn event(&mut self, node: &Node<'_, '_>, handle: &str) -> Res<Event> {
        let name = self.value(node, "label")?;
        let name = Ident { name: name.text.into(), span: name.span() };
        let of = name.name.clone();
        self.comment(node, &[&of]);
        let mut event = Event::empty(name, place(node, self.file));
        event.status = match value(node, "convergence") {
            None | Some("0") => Status::Ordinary,
            Some("1") => Status::Convergent,
            Some("2") => Status::Anticipated,
            Some(other) => return Err(refused(event.span, format!("the convergence `{other}` of an event"))),
        };
        // `inherited` is what Rodin's first versions had for events that change nothing.
        let is_extended = is_true(node, "extended") || is_true(node, "inherited");
        event.inherited = Inherited { is_extended, ..Inherited::default() };
        for (kind, node) in self.inside(node) {
            self.handle(&node, handle, Some(&of));
            match kind {
                "refinesEvent" => {
                    let target = self.target(&node);
                    event.refines.extend(self.or_report(target));
                }
                "parameter" | "variable" => {
                    let id = self.identifier(&node);
                    let Some(id) = self.or_report(id) else { continue };
                    self.comment(&node, &[&of, &id.name]);
                    event.parameters.push(id);
                }
                "guard" => {
                    let l = self.predicate(&node);
                    let Some(l) = self.or_report(l) else { continue };
                    self.labelled_comment(&node, &l, Some(&of));
                    let list =
                        if is_true(&node, "theorem") { &mut event.theorems } else { &mut event.guards };
                    list.push(l);
                }
                "witness" => {
                    let witness = self.witness(&node);
                    event.witnesses.extend(self.or_report(witness));
                }
                "action" => {
                    let action = self.action(&node);
                    let Some(action) = self.or_report(action) else { continue };
                    if let Some(label) = action.as_ref().and_then(|a| a.label.as_ref()) {
                        self.comment(&node, &[&of, label]);
                    }
                    event.actions.extend(action);
                }
                other => self.unknown(&node, other, "an event"),
            }
        }
        // What such an event refines has its own name in Rodin's first versions.
        if is_extended && event.refines.is_empty() {
            event.refines.push(event.name.clone());
        }
        Ok(event)
    }

    fn witness(&self, node: &Node<'_, '_>) -> Res<Witness> {
        let of = self.value(node, "label")?;
        let of = Ident { name: of.text.trim().into(), span: of.span() };
        Ok(Witness { of, predicate: self.predicate(node)? })
    }

    fn action(&self, node: &Node<'_, '_>) -> Res<Option<Action>> {
        let value = self.value(node, "assignment")?;
        let kind = parse::action(value.text, value.at())?;
        Ok(kind.map(|kind| Action { label: self.label(node), kind, span: value.span() }))
    }
}
