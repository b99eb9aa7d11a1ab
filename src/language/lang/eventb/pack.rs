//! Projects to packages: what [`super::package`] reads, and ProB.

use super::formula::{BINARY, FUNCTION, LITERAL};
use super::math::write::{is_finite, is_partition};
use super::project::{Action, ActionKind, Context, Event, Labelled, Machine, Project, Status};
use crate::lang::ast::{BinOp, Binder, Expr, ExprKind, Fun, Ident, Lit, Name, Quant, UnOp};
use crate::lang::notation::fun_name;
use std::fmt::Write as _;

/// What cannot be written.
pub type Failure = String;

/// A project as a package.
///
/// # Errors
/// What packages have no term for.
pub fn package(project: &Project) -> Result<String, Failure> {
    let mut writer = Writer { out: "package(load_event_b_project([".to_string(), component: "".into() };
    writer.list(&project.machines, |w, m| w.machine(m))?;
    writer.put("],[");
    writer.list(&project.contexts, |w, c| w.context(c))?;
    writer.put("],[exporter_version(3)");
    for o in &project.obligations {
        writer.put(",po(");
        writer.atom(&o.component);
        writer.put(",");
        writer.atom(&o.what);
        writer.put(",[");
        writer.list(&o.about, |w, (kind, label)| {
            w.atom(kind);
            w.put("(");
            w.atom(label);
            w.put(")");
            Ok(())
        })?;
        writer.put(if o.is_discharged { "],true)" } else { "],false)" });
    }
    writer.put("],_Error)).\n");
    Ok(writer.out)
}

struct Writer {
    out: String,
    component: Name,
}

type Done = Result<(), Failure>;

impl Writer {
    fn put(&mut self, text: &str) {
        self.out.push_str(text);
    }

    /// An atom, in quotes.
    fn atom(&mut self, name: &str) {
        self.put("'");
        for c in name.chars() {
            match c {
                '\'' => self.put("''"),
                '\\' => self.put("\\\\"),
                c if c.is_control() => {
                    let _ = write!(self.out, "\\x{:x}\\", u32::from(c));
                }
                c => self.out.push(c),
            }
        }
        self.put("'");
    }

    fn list<X>(&mut self, items: &[X], mut one: impl FnMut(&mut Self, &X) -> Done) -> Done {
        for (i, item) in items.iter().enumerate() {
            self.put(if i > 0 { "," } else { "" });
            one(self, item)?;
        }
        Ok(())
    }

    fn ident(&mut self, id: &Ident) -> Done {
        self.put("identifier(none,");
        self.atom(&id.name);
        self.put(")");
        Ok(())
    }

    fn clause_of_ids(&mut self, clause: &str, ids: &[Ident]) -> Done {
        self.put(&format!("{clause}(none,["));
        self.list(ids, Self::ident)?;
        self.put("])");
        Ok(())
    }

    fn clause_of_atoms(&mut self, clause: &str, ids: &[Ident]) -> Done {
        self.put(&format!("{clause}(none,["));
        self.list(ids, |w, id| {
            w.atom(&id.name);
            Ok(())
        })?;
        self.put("])");
        Ok(())
    }

    fn clause(&mut self, clause: &str, parts: &[Labelled]) -> Done {
        self.put(&format!("{clause}(none,["));
        self.list(parts, Self::labelled)?;
        self.put("])");
        Ok(())
    }

    /// Where something stands: its label is all that is known of it.
    fn position(&mut self, label: Option<&Name>) -> String {
        let Some(label) = label else { return "none".to_string() };
        let before = std::mem::take(&mut self.out);
        self.put("rodinpos(");
        let component = self.component.clone();
        self.atom(&component);
        self.put(",");
        self.atom(label);
        self.put(",");
        self.atom(label);
        self.put(")");
        std::mem::replace(&mut self.out, before)
    }

    fn labelled(&mut self, l: &Labelled) -> Done {
        let position = self.position(l.label.as_ref());
        self.formula_at(&l.formula, &position).map_err(|what| match &l.label {
            Some(label) => format!("`{}`, `{label}`: {what} has no term in a package", self.component),
            None => format!("`{}`: {what} has no term in a package", self.component),
        })
    }

    fn context(&mut self, c: &Context) -> Done {
        self.component = c.name.name.clone();
        self.put("event_b_context(none,");
        self.atom(&c.name.name);
        self.put(",[");
        self.clause_of_atoms("extends", &c.extends)?;
        self.put(",");
        self.clause_of_ids("constants", &c.constants)?;
        self.put(",");
        self.clause("axioms", &c.axioms)?;
        self.put(",");
        self.clause("theorems", &c.theorems)?;
        self.put(",sets(none,[");
        self.list(&c.sets, |w, id| {
            w.put("deferred_set(none,");
            w.atom(&id.name);
            w.put(")");
            Ok(())
        })?;
        self.put("])])");
        Ok(())
    }

    fn machine(&mut self, m: &Machine) -> Done {
        self.component = m.name.name.clone();
        self.put("event_b_model(none,");
        self.atom(&m.name.name);
        self.put(",[");
        if let Some(id) = &m.refines {
            self.put("refines(none,");
            self.atom(&id.name);
            self.put("),");
        }
        self.clause_of_atoms("sees", &m.sees)?;
        self.put(",");
        self.clause_of_ids("variables", &m.variables)?;
        self.put(",");
        self.clause("invariant", &m.invariants)?;
        self.put(",");
        self.clause("theorems", &m.theorems)?;
        if let Some(variant) = &m.variant {
            self.put(",variant(none,");
            self.labelled(variant)?;
            self.put(")");
        }
        self.put(",events(none,[");
        self.list(&m.events, Self::event)?;
        self.put("])])");
        Ok(())
    }

    fn event(&mut self, e: &Event) -> Done {
        let position = self.position(Some(&e.name.name));
        self.put(&format!("event({position},"));
        self.atom(&e.name.name);
        self.put(match e.status {
            Status::Ordinary => ",ordinary(none),[",
            Status::Convergent => ",convergent(none),[",
            Status::Anticipated => ",anticipated(none),[",
        });
        self.list(&e.refines, |w, id| {
            w.atom(&id.name);
            Ok(())
        })?;
        self.put("],[");
        self.list(&e.parameters, Self::ident)?;
        self.put("],[");
        self.list(&e.guards, Self::labelled)?;
        self.put("],[");
        self.list(&e.theorems, Self::labelled)?;
        self.put("],[");
        self.list(&e.actions, |w, a| {
            w.action(a).map_err(|what| format!("`{}`: {what} has no term in a package", w.component))
        })?;
        self.put("],[");
        self.list(&e.witnesses, |w, witness| {
            w.put("witness(none,");
            w.ident(&witness.of)?;
            w.put(",");
            w.labelled(&witness.predicate)?;
            w.put(")");
            Ok(())
        })?;
        self.put("])");
        Ok(())
    }

    fn action(&mut self, a: &Action) -> Done {
        let position = self.position(a.label.as_ref());
        match &a.kind {
            ActionKind::Assign(pairs) => {
                self.put(&format!("assign({position},["));
                self.list(pairs, |w, (x, _)| w.ident(x))?;
                self.put("],[");
                self.list(pairs, |w, (_, e)| w.formula(e))?;
                self.put("])");
            }
            ActionKind::Element(x, set) => {
                self.put(&format!("becomes_element_of({position},["));
                self.ident(x)?;
                self.put("],");
                self.formula(set)?;
                self.put(")");
            }
            ActionKind::Such(xs, p) => {
                self.put(&format!("becomes_such({position},["));
                self.list(xs, Self::ident)?;
                self.put("],");
                self.formula(p)?;
                self.put(")");
            }
        }
        Ok(())
    }

    fn formula(&mut self, e: &Expr) -> Done {
        self.formula_at(e, "none")
    }

    fn term(&mut self, functor: &str, position: &str, args: &[&Expr]) -> Done {
        self.put(&format!("{functor}({position}"));
        for a in args {
            self.put(",");
            self.formula(a)?;
        }
        self.put(")");
        Ok(())
    }

    fn of_list(&mut self, functor: &str, position: &str, items: &[Expr]) -> Done {
        self.put(&format!("{functor}({position},["));
        self.list(items, Self::formula)?;
        self.put("])");
        Ok(())
    }

    fn binding(&mut self, functor: &str, position: &str, ids: &[Ident], parts: &[&Expr]) -> Done {
        self.put(&format!("{functor}({position},["));
        self.list(ids, Self::ident)?;
        self.put("]");
        for e in parts {
            self.put(",");
            self.formula(e)?;
        }
        self.put(")");
        Ok(())
    }

    fn formula_at(&mut self, e: &Expr, position: &str) -> Done {
        if let Some(s) = is_finite(e) {
            return self.term("finite", position, &[s]);
        }
        if let Some((s, parts)) = is_partition(e) {
            self.put(&format!("partition({position},"));
            self.formula(s)?;
            self.put(",[");
            self.list(&parts, |w, p| w.formula(p))?;
            self.put("])");
            return Ok(());
        }
        let span = e.span;
        match &e.kind {
            ExprKind::Name(name) => {
                self.put(&format!("identifier({position},"));
                self.atom(name);
                self.put(")");
                Ok(())
            }
            ExprKind::Int(i) => {
                self.put(&format!("integer({position},{i})"));
                Ok(())
            }
            ExprKind::Lit(lit) => match functor(LITERAL, *lit) {
                Some(name) => self.term(name, position, &[]),
                None => Err("a literal of classical B".to_string()),
            },
            ExprKind::Unary(op, a) => {
                let functor = match op {
                    UnOp::Not => "negation",
                    UnOp::Neg => "unary_minus",
                    UnOp::Inverse => "reverse",
                };
                self.term(functor, position, &[a])
            }
            ExprKind::Binary(BinOp::Pair, a, b) => {
                self.put(&format!("couple({position},["));
                self.formula(a)?;
                self.put(",");
                self.formula(b)?;
                self.put("])");
                Ok(())
            }
            ExprKind::Binary(op, a, b) => match functor(BINARY, *op) {
                Some(name) => self.term(name, position, &[a, b]),
                None => Err("an operator of classical B".to_string()),
            },
            ExprKind::Typed(a, b) => self.term("typeof", position, &[a, b]),
            ExprKind::HasType(a, b) => self.term("member", position, &[a, b]),
            ExprKind::Apply(f, args) => {
                self.put(&format!("function({position},"));
                self.formula(f)?;
                self.put(",[");
                self.list(args, Self::formula)?;
                self.put("])");
                Ok(())
            }
            ExprKind::Image(r, s) => self.term("image", position, &[r, s]),
            ExprKind::Bool(p) => self.term("convert_bool", position, &[p]),
            ExprKind::If(c, a, b) => {
                self.put(&format!("extended_expr({position},'COND',["));
                self.formula(a)?;
                self.put(",");
                self.formula(b)?;
                self.put("],[");
                self.formula(c)?;
                self.put("])");
                Ok(())
            }
            ExprKind::Call(fun, args) => self.function(*fun, args, position),
            ExprKind::Quant(q, ids, body) => {
                let functor = match q {
                    Quant::Forall => "forall",
                    Quant::Exists => "exists",
                };
                self.binding(functor, position, ids, &[body])
            }
            ExprKind::Bind(Binder::Union, ids, p, value) => {
                self.binding("quantified_union", position, ids, &[p, value])
            }
            ExprKind::Bind(Binder::Inter, ids, p, value) => {
                self.binding("quantified_intersection", position, ids, &[p, value])
            }
            ExprKind::Bind(Binder::Lambda, ids, p, value) => {
                let couple = ExprKind::Binary(BinOp::Pair, Box::new(tuple(ids, e)), value.clone());
                let couple = Expr { kind: couple, span };
                self.binding("event_b_comprehension_set", position, ids, &[&couple, p])
            }
            ExprKind::Compr(ids, p) => {
                self.binding("event_b_comprehension_set", position, ids, &[&tuple(ids, e), p])
            }
            ExprKind::ComprMap(ids, p, value) => {
                self.binding("event_b_comprehension_set", position, ids, &[value, p])
            }
            ExprKind::SetExt(items) => self.of_list("set_extension", position, items),
            ExprKind::SeqExt(items) => self.of_list("sequence_extension", position, items),
            ExprKind::Str(text) => {
                self.put(&format!("string({position},"));
                self.atom(text);
                self.put(")");
                Ok(())
            }
            ExprKind::Bind(..) => Err("a sum or product over a set".to_string()),
            ExprKind::Rec(_) | ExprKind::Struct(_) | ExprKind::Field(..) => Err("a record".to_string()),
            ExprKind::Old(_)
            | ExprKind::Real(_)
            | ExprKind::Let(..)
            | ExprKind::Below(..)
            | ExprKind::Bounded(_) => Err("this formula".to_string()),
        }
    }

    fn function(&mut self, fun: Fun, args: &[Expr], position: &str) -> Done {
        let is_whole = |e: &Expr| matches!(e.kind, ExprKind::Lit(Lit::Whole));
        let projection = match fun {
            Fun::Prj1 => Some(("event_b_first_projection_v2", "first_projection")),
            Fun::Prj2 => Some(("event_b_second_projection_v2", "second_projection")),
            _ => None,
        };
        match (fun, args, projection) {
            (Fun::Id, [s], _) if is_whole(s) => self.term("event_b_identity", position, &[]),
            (_, [a, _], Some((generic, _))) if is_whole(a) => self.term(generic, position, &[]),
            (_, [a, b], Some((_, old))) => self.term(old, position, &[a, b]),
            (_, [couple], Some((generic, _))) => {
                self.put(&format!("function({position},{generic}(none),["));
                self.formula(couple)?;
                self.put("])");
                Ok(())
            }
            (fun, [e], None) => match functor(FUNCTION, fun) {
                Some(name) => self.term(name, position, &[e]),
                None => Err(format!("`{}`", fun_name(fun))),
            },
            _ => Err(format!("`{}`", fun_name(fun))),
        }
    }
}

/// The left-nested couple of these names.
fn tuple(ids: &[Ident], around: &Expr) -> Expr {
    let name = |id: &Ident| Expr { kind: ExprKind::Name(id.name.clone()), span: id.span };
    let couple = |a: Expr, b: Expr| Expr {
        kind: ExprKind::Binary(BinOp::Pair, Box::new(a), Box::new(b)),
        span: around.span,
    };
    let whole = ids.iter().map(name).reduce(couple);
    // Nothing binds no name.
    whole.unwrap_or(Expr { kind: ExprKind::Lit(Lit::EmptySet), span: around.span })
}

/// The term for something, if there is one.
fn functor<X: Copy + PartialEq>(table: &[(&'static str, X)], wanted: X) -> Option<&'static str> {
    table.iter().find(|(_, x)| *x == wanted).map(|(name, _)| *name)
}
