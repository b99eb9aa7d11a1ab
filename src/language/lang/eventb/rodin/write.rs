//! Projects to Rodin's files. What Rodin makes itself is left to it, but where there are obligations, they and their
//! status are written, so that a conversion keeps them, and checked files, which say what they are about.

use super::xml::escape;
use super::{CORE, handle};
use crate::lang::ast::Name;
use crate::lang::composed::Obligation;
use crate::lang::eventb::event::is_initialisation;
use crate::lang::eventb::math::words::is_name;
use crate::lang::eventb::math::write::{self, For};
use crate::lang::eventb::project::{Context, Event, Labelled, Machine, Project, Status};
use std::collections::HashMap;
use std::fmt::Write as _;

/// What cannot be written, and where it stands.
pub type Failure = String;

/// The files of a project, by their names; `name` is that of the project.
///
/// # Errors
/// What Event-B has no notation for.
pub fn files(project: &Project, name: &str) -> Result<Vec<(String, String)>, Failure> {
    let mut elements = Elements::default();
    let mut files = vec![(".project".to_string(), description(name))];
    let mut checked = vec![];
    let mut actions = Actions::new();
    let mut written = vec![];
    // The abstract ones first: an extended event repeats what those above it do.
    for machine in project.machines.iter().rev() {
        let file = format!("{}.bum", file_name(&machine.name.name)?);
        let mut writer = Writer::new(project, &machine.name.name, name, &file, "machineFile");
        writer.actions = std::mem::take(&mut actions);
        writer.machine(machine).map_err(|e| format!("machine `{}`: {e}", machine.name.name))?;
        actions = std::mem::take(&mut writer.actions);
        let built = (format!("{}.bcm", machine.name.name), writer.checked("scMachineFile"));
        let mut own = Elements::default();
        let text = writer.finish("machineFile", "5", &mut own);
        written.push(((file, text), built, own));
    }
    for (source, built, own) in written.into_iter().rev() {
        files.push(source);
        checked.push(built);
        elements.all.extend(own.all);
    }
    for context in &project.contexts {
        let file = format!("{}.buc", file_name(&context.name.name)?);
        let mut writer = Writer::new(project, &context.name.name, name, &file, "contextFile");
        writer.context(context).map_err(|e| format!("context `{}`: {e}", context.name.name))?;
        checked.push((format!("{}.bcc", context.name.name), writer.checked("scContextFile")));
        let text = writer.finish("contextFile", "3", &mut elements);
        files.push((file, text));
    }
    if !project.obligations.is_empty() {
        files.extend(checked);
    }
    let machines = project.machines.iter().map(|m| &m.name.name);
    for component in machines.chain(project.contexts.iter().map(|c| &c.name.name)) {
        let of: Vec<&Obligation> = project.obligations.iter().filter(|o| o.component == *component).collect();
        if !of.is_empty() {
            let (obligations, statuses) = proofs(component, &of, &elements);
            files.push((format!("{component}.bpo"), obligations));
            files.push((format!("{component}.bps"), statuses));
        }
    }
    Ok(files)
}

/// A component is a file of its name.
fn file_name(name: &str) -> Result<&str, Failure> {
    let is_fine = |c: char| !c.is_control() && !"/\\:*?\"<>|#".contains(c);
    match !name.is_empty() && name.chars().all(is_fine) && !name.starts_with('.') {
        true => Ok(name),
        false => Err(format!("`{name}` cannot be the name of a file")),
    }
}

fn description(name: &str) -> String {
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<projectDescription>\n\t<name>{}</name>\n\t<comment></comment>\n\
         \t<projects>\n\t</projects>\n\t<buildSpec>\n\t\t<buildCommand>\n\
         \t\t\t<name>org.rodinp.core.rodinbuilder</name>\n\t\t\t<arguments>\n\t\t\t</arguments>\n\
         \t\t</buildCommand>\n\t</buildSpec>\n\t<natures>\n\t\t<nature>org.rodinp.core.rodinnature</nature>\n\
         \t</natures>\n</projectDescription>\n",
        escape(name)
    )
}

/// What the events of machines do, by component and event: lines of a checked file.
type Actions = HashMap<(Name, Name), Vec<String>>;

/// Elements that obligations can be about.
#[derive(Default)]
struct Elements {
    all: Vec<Element>,
}

struct Element {
    component: Name,
    kind: &'static str,
    label: Name,
    event: Option<Name>,
    handle: String,
}

impl Elements {
    /// The handle of an element: of the component itself if it has one, of another otherwise.
    fn handle(&self, component: &Name, kind: &str, label: &Name, event: Option<&Name>) -> Option<&str> {
        let fits = |e: &&Element| {
            let is_event = event.is_none_or(|event| e.event.as_ref() == Some(event));
            e.kind == kind && e.label == *label && is_event
        };
        let own = self.all.iter().find(|e| e.component == *component && fits(e));
        own.or_else(|| self.all.iter().find(fits)).map(|e| &*e.handle)
    }
}

struct Writer<'p> {
    project: &'p Project,
    component: Name,
    out: String,
    /// The same as a checked file.
    checked: String,
    count: usize,
    handle: String,
    /// The handle of what is open.
    around: String,
    elements: Vec<Element>,
    actions: Actions,
}

type Done = Result<(), Failure>;

impl<'p> Writer<'p> {
    fn new(project: &'p Project, component: &Name, name: &str, file: &str, root: &str) -> Writer<'p> {
        let [name, file, own] = [name, file, component].map(handle::written);
        let handle = format!("/{name}/{file}|{CORE}{root}#{own}");
        Writer {
            project,
            component: component.clone(),
            out: String::new(),
            checked: String::new(),
            count: 0,
            around: handle.clone(),
            handle,
            elements: vec![],
            actions: Actions::new(),
        }
    }

    fn finish(self, root: &str, version: &str, elements: &mut Elements) -> String {
        elements.all.extend(self.elements);
        let comment = self.project.comments.get(&vec![self.component.clone()]);
        let comment = comment.map_or(String::new(), |c| format!(" {CORE}comment=\"{}\"", escape(c)));
        format!(
            "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"no\"?>\n\
             <{CORE}{root}{comment} {CORE}configuration=\"org.eventb.core.fwd\" version=\"{version}\">\n\
             {}</{CORE}{root}>\n",
            self.out
        )
    }

    fn checked(&self, root: &str) -> String {
        format!(
            "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"no\"?>\n\
             <{CORE}{root} {CORE}accurate=\"true\" {CORE}configuration=\"org.eventb.core.fwd\">\n{}</{CORE}{root}>\n",
            self.checked
        )
    }

    /// An element as Rodin's static checker has it.
    fn check(&mut self, kind: &str, name: &str, attributes: &[(&str, &str)], is_open: bool) {
        let sc = format!(
            "sc{}{}",
            kind.get(..1).unwrap_or_default().to_uppercase(),
            kind.get(1..).unwrap_or_default()
        );
        let of = |wanted: &str| attributes.iter().find(|(a, _)| *a == wanted).map(|(_, v)| *v);
        let own = if kind == "event" { of("label") } else { of("identifier") };
        let _ = write!(self.checked, "<{CORE}{sc} name=\"{}\"", escape(own.unwrap_or(name)));
        let project = self.handle.split('/').nth(1).unwrap_or_default();
        for (attribute, value) in attributes.iter().filter(|(a, _)| *a != "identifier") {
            let _ = match (*attribute, kind) {
                ("target", "refinesEvent") => {
                    write!(self.checked, " {CORE}scTarget=\"{}\"", escape(&self.event_above(value)))
                }
                ("target", "refinesMachine") => {
                    write!(self.checked, " {CORE}scTarget=\"{}\"", escape(&format!("/{project}/{value}.bcm")))
                }
                ("target", _) => {
                    write!(self.checked, " {CORE}scTarget=\"{}\"", escape(&format!("/{project}/{value}.bcc")))
                }
                _ => write!(self.checked, " {CORE}{attribute}=\"{}\"", escape(value)),
            };
        }
        let source = format!("{}|{CORE}{kind}#{name}", self.around);
        let end = if is_open { ">" } else { "/>" };
        let _ = writeln!(self.checked, " {CORE}source=\"{}\"{end}", escape(&source));
    }

    /// The handle of a checked event of the machine above.
    fn event_above(&self, event: &str) -> String {
        let project = self.handle.split('/').nth(1).unwrap_or_default();
        let of = self.project.machines.iter().find(|m| m.name.name == self.component);
        let above = of.and_then(|m| m.refines.as_ref()).map_or("", |id| &*id.name);
        let [above, event] = [above, event].map(handle::written);
        format!("/{project}/{above}.bcm|{CORE}scMachineFile#{above}|{CORE}scEvent#{event}")
    }

    /// Begins an element; its comment is found by its place.
    fn element(&mut self, kind: &str, attributes: &[(&str, &str)], place: &[&Name], is_open: bool) -> String {
        self.count += 1;
        let name = format!("_{}", self.count);
        let _ = write!(self.out, "<{CORE}{kind} name=\"{name}\"");
        let place: Vec<Name> = [&self.component].into_iter().chain(place.iter().copied()).cloned().collect();
        if let Some(comment) = self.project.comments.get(&place).filter(|_| place.len() > 1) {
            let _ = write!(self.out, " {CORE}comment=\"{}\"", escape(comment));
        }
        for (attribute, value) in attributes {
            let _ = write!(self.out, " {CORE}{attribute}=\"{}\"", escape(value));
        }
        self.out.push_str(if is_open { ">\n" } else { "/>\n" });
        self.check(kind, &name, attributes, is_open);
        format!("|{CORE}{kind}#{name}")
    }

    fn known(&mut self, kind: &'static str, label: &Name, event: Option<&Name>, handle: String) {
        let (component, label, event) = (self.component.clone(), label.clone(), event.cloned());
        self.elements.push(Element { component, kind, label, event, handle });
    }

    fn identifier(&mut self, kind: &str, name: &Name, event: Option<&Name>) -> Done {
        if !is_name(name) {
            return Err(format!("`{name}` cannot be a name in Event-B"));
        }
        let place: Vec<&Name> = event.into_iter().chain([name]).collect();
        self.element(kind, &[("identifier", name)], &place, false);
        Ok(())
    }

    fn formula(&mut self, kind: &'static str, attribute: &str, l: &Labelled, is_theorem: bool) -> Done {
        let handle = self.handle.clone();
        self.formula_in(kind, attribute, l, is_theorem, None, &handle)
    }

    fn formula_in(
        &mut self,
        kind: &'static str,
        attribute: &str,
        l: &Labelled,
        is_theorem: bool,
        event: Option<&Name>,
        around: &str,
    ) -> Done {
        let text = write::formula(&l.formula, For::Rodin).map_err(|what| {
            let label = l.label.as_ref().map_or(String::new(), |l| format!("`{l}`: "));
            format!("{label}{what} has no notation in Event-B")
        })?;
        let mut attributes: Vec<(&str, &str)> = vec![];
        if let Some(label) = &l.label {
            attributes.push(("label", label));
        }
        attributes.push((attribute, &text));
        if is_theorem {
            attributes.push(("theorem", "true"));
        }
        let place: Vec<&Name> = event.into_iter().chain(&l.label).collect();
        // What has no label has no place of its own.
        let place = if l.label.is_some() { &place[..] } else { &[] };
        let handle = format!("{around}{}", self.element(kind, &attributes, place, false));
        // A variant is known by the name of its machine.
        let component = self.component.clone();
        let label = if kind == "variant" { Some(&component) } else { l.label.as_ref() };
        if let Some(label) = label {
            self.known(kind, label, event, handle);
        }
        Ok(())
    }

    fn context(&mut self, c: &Context) -> Done {
        for id in &c.extends {
            self.element("extendsContext", &[("target", &id.name)], &[], false);
        }
        for id in &c.sets {
            self.identifier("carrierSet", &id.name, None)?;
        }
        for id in &c.constants {
            self.identifier("constant", &id.name, None)?;
        }
        for (l, is_theorem) in with_theorems(&c.axioms, &c.theorems) {
            self.formula("axiom", "predicate", l, is_theorem)?;
        }
        Ok(())
    }

    fn machine(&mut self, m: &Machine) -> Done {
        if let Some(id) = &m.refines {
            self.element("refinesMachine", &[("target", &id.name)], &[], false);
        }
        for id in &m.sees {
            self.element("seesContext", &[("target", &id.name)], &[], false);
        }
        for id in &m.variables {
            self.identifier("variable", &id.name, None)?;
        }
        for (l, is_theorem) in with_theorems(&m.invariants, &m.theorems) {
            self.formula("invariant", "predicate", l, is_theorem)?;
        }
        if let Some(variant) = &m.variant {
            self.formula("variant", "expression", variant, false)?;
        }
        for e in &m.events {
            self.event(m, e).map_err(|why| format!("event `{}`: {why}", e.name.name))?;
        }
        Ok(())
    }

    fn event(&mut self, m: &Machine, e: &Event) -> Done {
        let convergence = match e.status {
            Status::Ordinary => "0",
            Status::Convergent => "1",
            Status::Anticipated => "2",
        };
        let own = e.inherited;
        let extended = if own.is_extended { "true" } else { "false" };
        let of = &e.name.name;
        let attributes = [("convergence", convergence), ("extended", extended), ("label", &**of)];
        let here = self.element("event", &attributes, &[of], true);
        let handle = format!("{}{here}", self.handle);
        self.known("event", of, None, handle.clone());
        self.around.clone_from(&handle);
        // An INITIALISATION refines the one above without saying so.
        let is_implied = is_initialisation(e) && m.refines.is_some();
        for id in e.refines.iter().filter(|id| !is_implied || id.name != *of) {
            self.element("refinesEvent", &[("target", &id.name)], &[], false);
        }
        if is_implied {
            let (target, source) = (escape(&self.event_above(of)), escape(&self.around));
            let _ = writeln!(
                self.checked,
                "<{CORE}scRefinesEvent name=\"_\" {CORE}scTarget=\"{target}\" {CORE}source=\"{source}\"/>"
            );
        }
        let above = m.refines.as_ref().zip(e.refines.first()).filter(|_| own.is_extended);
        let inherited = above.and_then(|(m, e)| self.actions.get(&(m.name.clone(), e.name.clone())));
        let mut actions = inherited.cloned().unwrap_or_default();
        self.checked.push_str(&actions.concat());
        for id in e.parameters.get(own.parameters..).unwrap_or_default() {
            self.identifier("parameter", &id.name, Some(of))?;
        }
        let guards = e.guards.get(own.guards..).unwrap_or_default();
        let theorems = e.theorems.get(own.theorems..).unwrap_or_default();
        for (l, is_theorem) in with_theorems(guards, theorems) {
            self.formula_in("guard", "predicate", l, is_theorem, Some(of), &handle)?;
        }
        for w in &e.witnesses {
            let labelled = Labelled { label: Some(w.of.name.clone()), formula: w.predicate.formula.clone() };
            self.formula_in("witness", "predicate", &labelled, false, Some(of), &handle)?;
        }
        for a in e.actions.get(own.actions..).unwrap_or_default() {
            let text = write::action(&a.kind, For::Rodin).map_err(|what| {
                let label = a.label.as_ref().map_or(String::new(), |l| format!("`{l}`: "));
                format!("{label}{what} has no notation in Event-B")
            })?;
            let mut attributes: Vec<(&str, &str)> = vec![("assignment", &text)];
            attributes.extend(a.label.as_ref().map(|label| ("label", &**label)));
            let place: Vec<&Name> = a.label.as_ref().map_or(vec![], |label| vec![of, label]);
            let before = self.checked.len();
            let handle = format!("{handle}{}", self.element("action", &attributes, &place, false));
            actions.extend(self.checked.get(before..).map(str::to_string));
            if let Some(label) = &a.label {
                self.known("action", label, Some(of), handle);
            }
        }
        self.actions.insert((self.component.clone(), of.clone()), actions);
        let _ = writeln!(self.out, "</{CORE}event>");
        let _ = writeln!(self.checked, "</{CORE}scEvent>");
        self.around.clone_from(&self.handle);
        Ok(())
    }
}

fn with_theorems<'l>(
    all: &'l [Labelled],
    theorems: &'l [Labelled],
) -> impl Iterator<Item = (&'l Labelled, bool)> {
    all.iter().map(|l| (l, false)).chain(theorems.iter().map(|l| (l, true)))
}

/// The obligations of a component, and their status.
fn proofs(component: &Name, all: &[&Obligation], elements: &Elements) -> (String, String) {
    let head = "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"no\"?>\n";
    let mut obligations = format!("{head}<{CORE}poFile {CORE}poStamp=\"1\">\n");
    let mut statuses = format!("{head}<{CORE}psFile>\n");
    for (i, o) in all.iter().enumerate() {
        let labels: Vec<&str> = o.about.iter().map(|(_, label)| &**label).collect();
        let name = match o.sequent.is_empty() {
            true => escape(&format!("{}/{}", labels.join("/"), i + 1)),
            false => escape(&o.sequent),
        };
        let _ = writeln!(
            obligations,
            "<{CORE}poSequent name=\"{name}\" {CORE}accurate=\"true\" {CORE}poDesc=\"{}\" {CORE}poStamp=\"1\">",
            escape(&o.what)
        );
        let mut at = 0;
        while let Some((kind, label)) = o.about.get(at) {
            at += 1;
            let mut event = None;
            if let ("guard", Some((next, name))) = (&**kind, o.about.get(at))
                && &**next == "event"
            {
                event = Some(name);
                at += 1;
            }
            // Whoever reads it learns the event of a guard; where that is not known there is no such guard.
            let is_known = &**kind != "guard" || event.is_some();
            let handle = elements.handle(component, kind, label, event).filter(|_| is_known).unwrap_or("");
            let _ = writeln!(
                obligations,
                "<{CORE}poSource name=\"s{at}\" {CORE}poRole=\"DEFAULT\" {CORE}source=\"{}\"/>",
                escape(handle)
            );
        }
        let _ = writeln!(obligations, "</{CORE}poSequent>");
        let confidence = if o.is_discharged { "1000" } else { "0" };
        let _ = writeln!(
            statuses,
            "<{CORE}psStatus name=\"{name}\" {CORE}confidence=\"{confidence}\" {CORE}poStamp=\"1\" \
             {CORE}psManual=\"false\"/>"
        );
    }
    let _ = writeln!(obligations, "</{CORE}poFile>");
    let _ = writeln!(statuses, "</{CORE}psFile>");
    (obligations, statuses)
}
