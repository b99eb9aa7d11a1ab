//! A project as text that people read. Packages are one long line of Prolog, and Rodin keeps its formulas in XML, so
//! messages point into a listing instead: each component gets a text of its own, every formula its place in it.
//!
//! Formulas are in the notation of classical B, which is also how values are shown. A label stands before its formula
//! as `/*@label inv1 */`, where whoever shows the formula finds it.

use super::project::{Action, ActionKind, Context, Event, Labelled, Machine, Project, Status};
use crate::lang::ast::{Expr, ExprKind, Ident, Name};
use crate::lang::diag::{FileId, SourceMap, Span};
use crate::lang::print;
use crate::lang::walk::children_mut;
use std::path::Path;

/// Writes the listings and moves all places into them.
pub fn list(project: &mut Project, sources: &mut SourceMap, path: &Path) {
    let name = |component: &Ident| format!("{}#{}", path.display(), component.name);
    for machine in &mut project.machines {
        let mut writer = Writer { text: String::new(), file: sources.next() };
        let name = name(&machine.name);
        writer.machine(machine);
        sources.add(name, writer.text);
    }
    for context in &mut project.contexts {
        let mut writer = Writer { text: String::new(), file: sources.next() };
        let name = name(&context.name);
        writer.context(context);
        sources.add(name, writer.text);
    }
}

struct Writer {
    text: String,
    file: FileId,
}

/// Gives a whole tree one place.
fn place(e: &mut Expr, span: Span) {
    e.span = span;
    if let ExprKind::Quant(_, ids, _)
    | ExprKind::Compr(ids, _)
    | ExprKind::Bind(_, ids, ..)
    | ExprKind::ComprMap(ids, ..)
    | ExprKind::Let(ids, ..) = &mut e.kind
    {
        ids.iter_mut().for_each(|id| id.span = span);
    }
    children_mut(e, &mut |c| place(c, span));
}

impl Writer {
    fn put(&mut self, text: &str) {
        self.text.push_str(text);
    }

    /// Writes something; its place.
    fn spanned(&mut self, text: &str) -> Span {
        let from = self.text.len();
        self.put(text);
        Span::new(self.file, from, self.text.len())
    }

    fn ident(&mut self, id: &mut Ident) {
        id.span = self.spanned(&print::name(&id.name));
    }

    fn idents(&mut self, head: &str, ids: &mut [Ident]) {
        if ids.is_empty() {
            return;
        }
        self.put(head);
        for (i, id) in ids.iter_mut().enumerate() {
            self.put(if i > 0 { ", " } else { " " });
            self.ident(id);
        }
        self.put("\n");
    }

    fn formula(&mut self, e: &mut Expr) {
        let text = print::expr(e);
        let span = self.spanned(&text);
        place(e, span);
    }

    fn label(&mut self, label: Option<&Name>) {
        if let Some(label) = label {
            let plain: String = label.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
            self.put(&format!("/*@label {} */ ", plain.replace("*/", "* /")));
        }
    }

    fn labelled(&mut self, indent: &str, l: &mut Labelled) {
        self.put(indent);
        self.label(l.label.as_ref());
        self.formula(&mut l.formula);
        self.put("\n");
    }

    fn block(&mut self, head: &str, indent: &str, parts: &mut [Labelled]) {
        if !parts.is_empty() {
            self.put(head);
            parts.iter_mut().for_each(|l| self.labelled(indent, l));
        }
    }

    fn context(&mut self, c: &mut Context) {
        self.put("CONTEXT ");
        self.ident(&mut c.name);
        self.put("\n");
        self.idents("EXTENDS", &mut c.extends);
        self.idents("SETS", &mut c.sets);
        self.idents("CONSTANTS", &mut c.constants);
        self.block("AXIOMS\n", "  ", &mut c.axioms);
        self.block("THEOREMS\n", "  ", &mut c.theorems);
        self.put("END\n");
    }

    fn machine(&mut self, m: &mut Machine) {
        self.put("MACHINE ");
        self.ident(&mut m.name);
        self.put("\n");
        self.idents("REFINES", m.refines.as_mut_slice());
        self.idents("SEES", &mut m.sees);
        self.idents("VARIABLES", &mut m.variables);
        self.block("INVARIANTS\n", "  ", &mut m.invariants);
        self.block("THEOREMS\n", "  ", &mut m.theorems);
        self.block("VARIANT\n", "  ", m.variant.as_mut_slice());
        self.put("EVENTS\n");
        m.events.iter_mut().for_each(|e| self.event(e));
        self.put("END\n");
    }

    fn event(&mut self, e: &mut Event) {
        let from = self.text.len() + 2;
        self.put("  EVENT ");
        self.ident(&mut e.name);
        e.span = Span::new(self.file, from, self.text.len());
        self.put(match e.status {
            Status::Ordinary => "\n",
            Status::Convergent => " CONVERGENT\n",
            Status::Anticipated => " ANTICIPATED\n",
        });
        self.idents("    REFINES", &mut e.refines);
        self.idents("    ANY", &mut e.parameters);
        self.block("    WHERE\n", "      ", &mut e.guards);
        self.block("    THEOREMS\n", "      ", &mut e.theorems);
        if !e.witnesses.is_empty() {
            self.put("    WITH\n");
        }
        for w in &mut e.witnesses {
            self.put("      ");
            self.ident(&mut w.of);
            self.put(": ");
            self.labelled("", &mut w.predicate);
        }
        if !e.actions.is_empty() {
            self.put("    THEN\n");
        }
        e.actions.iter_mut().for_each(|a| self.action(a));
        self.put("  END\n");
    }

    fn action(&mut self, a: &mut Action) {
        self.put("      ");
        self.label(a.label.as_ref());
        let from = self.text.len();
        match &mut a.kind {
            ActionKind::Assign(pairs) => {
                for (i, (x, _)) in pairs.iter_mut().enumerate() {
                    self.put(if i > 0 { ", " } else { "" });
                    self.ident(x);
                }
                self.put(" := ");
                for (i, (_, e)) in pairs.iter_mut().enumerate() {
                    self.put(if i > 0 { ", " } else { "" });
                    self.formula(e);
                }
            }
            ActionKind::Element(x, set) => {
                self.ident(x);
                self.put(" :: ");
                self.formula(set);
            }
            ActionKind::Such(xs, p) => {
                for (i, x) in xs.iter_mut().enumerate() {
                    self.put(if i > 0 { ", " } else { "" });
                    self.ident(x);
                }
                self.put(" :| ");
                self.formula(p);
            }
        }
        a.span = Span::new(self.file, from, self.text.len());
        self.put("\n");
    }
}
