//! Components to text.

use super::is_ending;
use crate::lang::ast::{Expr, Ident, Name};
use crate::lang::eventb::event::is_initialisation;
use crate::lang::eventb::gather::Kind;
use crate::lang::eventb::math::lex::label_text;
use crate::lang::eventb::math::tree::free;
use crate::lang::eventb::math::words::is_name;
use crate::lang::eventb::math::write::{self, For};
use crate::lang::eventb::project::{
    ActionKind, Comments, Context, Event, Labelled, Machine, Project, Status, Witness,
};

/// What cannot be written, and where it stands.
pub type Failure = String;

/// A project as one text: contexts first, then machines from the most abstract on.
///
/// # Errors
/// What the notation has no word for.
pub fn whole(project: &Project) -> Result<String, Failure> {
    let components = components(project)?;
    let texts: Vec<String> = components.into_iter().map(|(_, _, text)| text).collect();
    Ok(texts.join("\n"))
}

/// Each component as a text of its own.
///
/// # Errors
/// What the notation has no word for.
pub fn components(project: &Project) -> Result<Vec<(Kind, Name, String)>, Failure> {
    let mut all = vec![];
    for context in project.contexts.iter().rev() {
        let mut writer = Writer { out: String::new(), comments: &project.comments };
        writer.context(context).map_err(|e| format!("context `{}`: {e}", context.name.name))?;
        all.push((Kind::Context, context.name.name.clone(), writer.out));
    }
    for machine in project.machines.iter().rev() {
        let mut writer = Writer { out: String::new(), comments: &project.comments };
        writer.machine(machine).map_err(|e| format!("machine `{}`: {e}", machine.name.name))?;
        all.push((Kind::Machine, machine.name.name.clone(), writer.out));
    }
    Ok(all)
}

struct Writer<'p> {
    out: String,
    comments: &'p Comments,
}

type Done = Result<(), Failure>;

/// The name of a component or event: segments with hyphens between them.
fn is_title(name: &str) -> bool {
    let mut segments = name.split('-');
    segments.next().is_some_and(|s| is_name(s) && !is_ending(s))
        && segments.all(|s| is_name(s) || is_number(s))
}

/// A number that is written as it is read.
fn is_number(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_ascii_digit()) && (text == "0" || !text.starts_with('0'))
}

impl Writer<'_> {
    fn put(&mut self, text: &str) {
        self.out.push_str(text);
    }

    fn comment(&mut self, indent: &str, place: &[&Name]) {
        let place: Vec<Name> = place.iter().map(|n| (*n).clone()).collect();
        let Some(comment) = self.comments.get(&place) else { return };
        for line in comment.lines() {
            self.put(&format!("{indent}// {}\n", line.trim()));
        }
    }

    fn title(&mut self, id: &Ident) -> Done {
        if !is_title(&id.name) {
            return Err(format!("the name `{}` cannot be written in a text", id.name));
        }
        self.put(&id.name);
        Ok(())
    }

    fn titles(&mut self, head: &str, ids: &[Ident]) -> Done {
        if ids.is_empty() {
            return Ok(());
        }
        self.put(head);
        for id in ids {
            self.put(" ");
            self.title(id)?;
        }
        self.put("\n");
        Ok(())
    }

    fn names(&mut self, indent: &str, head: &str, place: &[&Name], ids: &[Ident]) -> Done {
        if ids.is_empty() {
            return Ok(());
        }
        self.put(&format!("{indent}{head}\n"));
        for id in ids {
            if !is_name(&id.name) || is_ending(&id.name) {
                return Err(format!("the name `{}` cannot be written in a text", id.name));
            }
            let place: Vec<&Name> = place.iter().copied().chain([&id.name]).collect();
            let deeper = format!("{indent}  ");
            self.comment(&deeper, &place);
            self.put(&format!("{deeper}{}\n", id.name));
        }
        Ok(())
    }

    fn label(&mut self, label: Option<&Name>) -> Done {
        match label {
            None => self.put("@"),
            Some(label) => match label_text(label) {
                Some(text) => self.put(&text),
                None => return Err(format!("the label `{label}` cannot be written in a text")),
            },
        }
        self.put(" ");
        Ok(())
    }

    fn formula(&mut self, e: &Expr) -> Done {
        let mut names = vec![];
        free(e, &mut vec![], &mut names);
        if let Some(id) = names.iter().find(|id| is_ending(&id.name)) {
            return Err(format!("the name `{}` cannot be written in a text", id.name));
        }
        let text =
            write::formula(e, For::People).map_err(|what| format!("{what} has no notation in Event-B"))?;
        // Names that are bound inside are checked by their looks.
        let is_bad = |word: &str| is_ending(word);
        if text.split(|c: char| !c.is_alphanumeric() && c != '_').any(is_bad) {
            return Err("a bound name is a word of the notation".to_string());
        }
        self.put(&text);
        Ok(())
    }

    fn labelled(&mut self, indent: &str, place: &[&Name], l: &Labelled, is_theorem: bool) -> Done {
        if let Some(label) = &l.label {
            let place: Vec<&Name> = place.iter().copied().chain([label]).collect();
            self.comment(indent, &place);
        }
        self.put(indent);
        self.put(if is_theorem { "theorem " } else { "" });
        self.label(l.label.as_ref())?;
        self.formula(&l.formula).map_err(|e| match &l.label {
            Some(label) => format!("`{label}`: {e}"),
            None => e,
        })?;
        self.put("\n");
        Ok(())
    }

    fn block(
        &mut self,
        indent: &str,
        head: &str,
        place: &[&Name],
        parts: &[Labelled],
        theorems: &[Labelled],
    ) -> Done {
        if parts.is_empty() && theorems.is_empty() {
            return Ok(());
        }
        self.put(&format!("{indent}{head}\n"));
        let deeper = format!("{indent}  ");
        for (l, is_theorem) in parts.iter().map(|l| (l, false)).chain(theorems.iter().map(|l| (l, true))) {
            self.labelled(&deeper, place, l, is_theorem)?;
        }
        Ok(())
    }

    fn context(&mut self, c: &Context) -> Done {
        self.comment("", &[&c.name.name]);
        self.put("context ");
        self.title(&c.name)?;
        self.put("\n");
        self.titles("extends", &c.extends)?;
        let place = [&c.name.name];
        self.names("", "sets", &place, &c.sets)?;
        self.names("", "constants", &place, &c.constants)?;
        self.block("", "axioms", &place, &c.axioms, &c.theorems)?;
        self.put("end\n");
        Ok(())
    }

    fn machine(&mut self, m: &Machine) -> Done {
        self.comment("", &[&m.name.name]);
        self.put("machine ");
        self.title(&m.name)?;
        self.put("\n");
        self.titles("refines", m.refines.as_slice())?;
        self.titles("sees", &m.sees)?;
        let place = [&m.name.name];
        self.names("", "variables", &place, &m.variables)?;
        self.block("", "invariants", &place, &m.invariants, &m.theorems)?;
        if let Some(variant) = &m.variant {
            self.put("variant\n  ");
            self.label(variant.label.as_ref())?;
            self.formula(&variant.formula)?;
            self.put("\n");
        }
        if !m.events.is_empty() {
            self.put("events\n");
        }
        for (i, e) in m.events.iter().enumerate() {
            self.put(if i > 0 { "\n" } else { "" });
            self.event(m, e).map_err(|why| format!("event `{}`: {why}", e.name.name))?;
        }
        self.put("end\n");
        Ok(())
    }

    fn event(&mut self, m: &Machine, e: &Event) -> Done {
        let place = [&m.name.name, &e.name.name];
        self.comment("  ", &place);
        self.put("  ");
        self.put(match e.status {
            Status::Ordinary => "",
            Status::Convergent => "convergent ",
            Status::Anticipated => "anticipated ",
        });
        self.put("event ");
        self.title(&e.name)?;
        let own = e.inherited;
        // An INITIALISATION refines the one above without saying so.
        match &e.refines[..] {
            refines if own.is_extended => self.titles(" extends", refines)?,
            [of] if is_initialisation(e) && of.name == e.name.name && m.refines.is_some() => self.put("\n"),
            [] => self.put("\n"),
            refines => self.titles(" refines", refines)?,
        }
        self.names("    ", "any", &place, e.parameters.get(own.parameters..).unwrap_or_default())?;
        let guards = e.guards.get(own.guards..).unwrap_or_default();
        let theorems = e.theorems.get(own.theorems..).unwrap_or_default();
        self.block("    ", "where", &place, guards, theorems)?;
        if !e.witnesses.is_empty() {
            self.put("    with\n");
        }
        for Witness { of, predicate } in &e.witnesses {
            self.put("      ");
            self.label(Some(&of.name))?;
            self.formula(&predicate.formula)?;
            self.put("\n");
        }
        let actions = e.actions.get(own.actions..).unwrap_or_default();
        if !actions.is_empty() {
            self.put("    then\n");
        }
        for a in actions {
            if let Some(label) = &a.label {
                self.comment("      ", &[place[0], place[1], label]);
            }
            self.put("      ");
            self.label(a.label.as_ref())?;
            self.action(&a.kind)?;
            self.put("\n");
        }
        self.put("  end\n");
        Ok(())
    }

    fn action(&mut self, kind: &ActionKind) -> Done {
        let text =
            write::action(kind, For::People).map_err(|what| format!("{what} has no notation in Event-B"))?;
        if text.split(|c: char| !c.is_alphanumeric() && c != '_').any(is_ending) {
            return Err("a name is a word of the notation".to_string());
        }
        self.put(&text);
        Ok(())
    }
}
