//! Schemas and the calculus on them.

use super::{Checker, Failed, Global, Res, Value};
use crate::lang::ast::{self, BinOp, ExprKind, Ident, Lit, Name, Quant, UnOp};
use crate::lang::diag::{Diagnostic, Span};
use crate::lang::z::make;
use crate::lang::z::tree::{Expr, Kind, strokes};
use crate::lang::z::types::Ty;
use std::collections::{HashMap, HashSet};

/// Components and what is said of them, their types included.
#[derive(Clone, Debug, Default)]
pub struct Schema {
    pub components: Vec<Component>,
    pub conjuncts: Vec<ast::Expr>,
}

/// A component, and the variable that stands for it in the conjuncts.
#[derive(Clone, Debug)]
pub struct Component {
    pub name: Name,
    pub var: Name,
    pub(in crate::lang::z) ty: Ty,
    pub span: Span,
}

/// The name of a schema as it is used: `ΔS'` is the schema S, with `Δ`, decorated with `'`.
pub(super) struct Named {
    pub base: Name,
    pub greek: Option<char>,
    pub strokes: Name,
}

/// A binding of components.
pub(super) fn binding(mut fields: Vec<(Name, Value)>, span: Span) -> Value {
    fields.sort_by(|a, b| a.0.cmp(&b.0));
    let ty = Ty::Schema(fields.iter().map(|(n, v)| (n.clone(), v.ty.clone())).collect());
    let field = |(n, v): (Name, Value)| (Ident { name: n, span }, v.e);
    Value { ty, e: make::node(ExprKind::Rec(fields.into_iter().map(field).collect()), span) }
}

impl Schema {
    pub fn component(&self, name: &str) -> Option<&Component> {
        self.components.iter().find(|c| *c.name == *name)
    }

    /// Everything that is said, with variables of the components in place of theirs.
    pub fn conjuncts_over(&self, names: &HashMap<Name, ast::Expr>) -> Vec<ast::Expr> {
        let mut all = self.conjuncts.clone();
        all.iter_mut().for_each(|p| make::substitute(p, names));
        all
    }

    fn size(&self) -> usize {
        self.conjuncts.iter().map(make::size).sum()
    }
}

impl Checker {
    fn is_global_schema(&self, name: &str) -> bool {
        matches!(self.globals.get(name), Some(Global::Schema(_) | Global::GenericSchema(_)))
    }

    /// The schema that a name means.
    pub(super) fn schema_named(&self, name: &str) -> Option<Named> {
        let named =
            |base: &str, greek, strokes: &str| Named { base: base.into(), greek, strokes: strokes.into() };
        if self.local(name).is_some() {
            return None;
        }
        if self.is_global_schema(name) {
            return Some(named(name, None, ""));
        }
        // From the longest name on: `S₁` may be a schema, and `S₁'` that one decorated.
        let mut end = name.len();
        loop {
            let (base, decoration) = name.split_at(end);
            let greek = base.chars().next().filter(|c| matches!(c, 'Δ' | 'Ξ'));
            let plain = greek.map_or(base, |c| &base[c.len_utf8()..]);
            if self.is_global_schema(base) {
                return Some(named(base, None, decoration));
            }
            if greek.is_some() && self.is_global_schema(plain) {
                return Some(named(plain, greek, decoration));
            }
            let last = base.chars().next_back()?;
            if strokes(base).1.is_empty() {
                return None;
            }
            end -= last.len_utf8();
        }
    }

    /// Whether an expression is a schema by its form and the names in it.
    pub(super) fn is_schema(&self, e: &Expr) -> bool {
        match &e.kind {
            Kind::Name(n) => self.schema_named(n).is_some(),
            Kind::Text(_) | Kind::Hide(..) => true,
            Kind::Op("⨟" | "⨠" | "⨡" | "pre", _) => true,
            Kind::Op("∧" | "∨" | "⇒" | "⇔" | "¬", args) => args.iter().all(|a| self.is_schema(a)),
            Kind::Bind("∀" | "∃" | "∃₁", _, Some(body)) => self.is_schema(body),
            Kind::Instance(e, _) | Kind::Rename(e, _) | Kind::Decorated(e, _) => self.is_schema(e),
            _ => false,
        }
    }

    /// A schema whose variables nothing else has.
    pub(super) fn schema(&mut self, e: &Expr) -> Res<Schema> {
        match &e.kind {
            Kind::Name(n) => self.schema_use(n, None, e.span),
            Kind::Instance(of, args) => {
                let Kind::Name(n) = &of.kind else { return self.no_schema(e) };
                let mut values = vec![];
                for a in args {
                    let v = self.value(a)?;
                    self.element(&v, a.span)?;
                    values.push(v);
                }
                self.schema_use(n, Some(values), e.span)
            }
            Kind::Text(text) => {
                let opened = self.open(text)?;
                self.scope.truncate(opened.depth);
                Ok(opened.schema)
            }
            Kind::Decorated(of, stroke) => {
                let schema = self.schema(of)?;
                Ok(decorated(schema, stroke))
            }
            Kind::Rename(of, pairs) => {
                let schema = self.schema(of)?;
                self.renamed(schema, pairs, e.span)
            }
            Kind::Hide(of, names) => {
                let schema = self.schema(of)?;
                for id in names {
                    if schema.component(&id.name).is_none() {
                        return self.no_component(&schema, id);
                    }
                }
                let hidden: HashSet<Name> = names.iter().map(|id| id.name.clone()).collect();
                Ok(hide(schema, &|c| hidden.contains(&c.name), e.span))
            }
            Kind::Op("pre", args) => {
                let schema = self.schema(&args[0])?;
                Ok(hide(schema, &|c| c.name.ends_with(['\'', '!']), e.span))
            }
            Kind::Op("¬", args) => {
                let schema = self.schema(&args[0])?;
                let Schema { components, conjuncts } = schema;
                let not = make::un(UnOp::Not, make::all(conjuncts, e.span), e.span);
                Ok(self.normal(components, not, e.span))
            }
            Kind::Op("∧", args) => {
                let (a, b) = (self.schema(&args[0])?, self.schema(&args[1])?);
                self.joined(a, b, e.span)
            }
            Kind::Op(op @ ("∨" | "⇒" | "⇔"), args) => {
                let (a, b) = (self.schema(&args[0])?, self.schema(&args[1])?);
                let n = a.conjuncts.len();
                let both = self.joined(a, b, e.span)?;
                let Schema { components, mut conjuncts } = both;
                let right = make::all(conjuncts.split_off(n), e.span);
                let left = make::all(conjuncts, e.span);
                let op = match *op {
                    "∨" => BinOp::Or,
                    "⇒" => BinOp::Implies,
                    _ => BinOp::Iff,
                };
                Ok(self.normal(components, make::bin(op, left, right, e.span), e.span))
            }
            Kind::Op("⨡", args) => {
                let (a, b) = (self.schema(&args[0])?, self.schema(&args[1])?);
                let kept: HashSet<Name> = b.components.iter().map(|c| c.name.clone()).collect();
                let both = self.joined(a, b, e.span)?;
                Ok(hide(both, &|c| !kept.contains(&c.name), e.span))
            }
            Kind::Op(op @ ("⨟" | "⨠"), args) => {
                let (a, b) = (self.schema(&args[0])?, self.schema(&args[1])?);
                self.linked(op, a, b, e.span)
            }
            Kind::Bind(q @ ("∀" | "∃" | "∃₁"), text, Some(body)) => {
                let opened = self.open(text)?;
                self.scope.truncate(opened.depth);
                let bound: HashSet<Name> = opened.schema.components.iter().map(|c| c.name.clone()).collect();
                let n = opened.schema.conjuncts.len();
                let body = self.schema(body)?;
                let both = self.joined(opened.schema, body, e.span)?;
                let (inside, outside): (Vec<_>, Vec<_>) =
                    both.components.into_iter().partition(|c| bound.contains(&c.name));
                let ids = inside.iter().map(|c| Ident { name: c.var.clone(), span: c.span }).collect();
                let mut said = both.conjuncts;
                let body = make::all(said.split_off(n), e.span);
                let p = quantified(q, ids, said, body, e.span);
                Ok(self.normal(outside, p, e.span))
            }
            _ => self.no_schema(e),
        }
    }

    fn no_schema<T>(&mut self, e: &Expr) -> Res<T> {
        self.fail("B0203", e.span, "expected a schema")
    }

    fn no_component<T>(&mut self, schema: &Schema, id: &Ident) -> Res<T> {
        let names: Vec<String> = schema.components.iter().map(|c| format!("`{}`", c.name)).collect();
        let message = format!("the schema has no component `{}`", id.name);
        let diag = Diagnostic::error("B0201", id.span, message);
        self.found.diagnostics.push(diag.help(format!("it has {}", names.join(", "))));
        Err(Failed)
    }

    fn schema_use(&mut self, name: &Name, given: Option<Vec<Value>>, span: Span) -> Res<Schema> {
        let Some(Named { base, greek, strokes }) = self.schema_named(name) else {
            return self.unknown_name(name, span);
        };
        let schema = match self.globals.get(&base).cloned() {
            Some(Global::Schema(schema)) if given.is_none() => {
                self.spend(schema.size(), span)?;
                self.copied(&schema)
            }
            Some(Global::GenericSchema(def)) => {
                let args = self.arguments(&def.0, given, span)?;
                self.apart(args, |c| c.schema(&def.1))?
            }
            _ => {
                return self.fail("B0206", span, format!("`{base}` has no generic parameters"));
            }
        };
        let schema = match greek {
            None => schema,
            Some(greek) => {
                let pairs: Vec<(Name, Name)> = schema
                    .components
                    .iter()
                    .map(|c| (c.name.clone(), format!("{}'", c.name).into()))
                    .collect();
                self.spend(schema.size(), span)?;
                let after = decorated(self.copied(&schema), "'");
                let mut both = self.joined(schema, after, span)?;
                if greek == 'Ξ' {
                    for (old, new) in pairs {
                        let var = |n: &Name| both.component(n).map(|c| make::name(&c.var, span));
                        if let (Some(old), Some(new)) = (var(&old), var(&new)) {
                            both.conjuncts.push(make::bin(BinOp::Eq, new, old, span));
                        }
                    }
                }
                both
            }
        };
        Ok(decorated(schema, &strokes))
    }

    /// The same with variables of its own.
    fn copied(&mut self, schema: &Schema) -> Schema {
        let mut copy = schema.clone();
        let mut table = HashMap::new();
        for c in &mut copy.components {
            let var = self.fresh(&c.var);
            table.insert(std::mem::replace(&mut c.var, var.clone()), make::name(&var, c.span));
        }
        copy.conjuncts.iter_mut().for_each(|p| make::substitute(p, &table));
        copy
    }

    /// Both, where components of one name are one.
    pub(super) fn joined(&mut self, mut a: Schema, mut b: Schema, span: Span) -> Res<Schema> {
        let mut table = HashMap::new();
        for c in b.components {
            match a.component(&c.name) {
                None => a.components.push(c),
                Some(other) => {
                    table.insert(c.var.clone(), make::name(&other.var, other.span));
                    let (ty, name) = (other.ty.clone(), c.name.clone());
                    if !self.uni.unify(&c.ty, &ty) {
                        let (one, two) = (self.uni.show(&ty), self.uni.show(&c.ty));
                        let message = format!("the component `{name}` is of type {one} and of type {two}");
                        return self.fail("B0203", span, message);
                    }
                }
            }
        }
        if !table.is_empty() {
            b.conjuncts.iter_mut().for_each(|p| make::substitute(p, &table));
        }
        a.conjuncts.append(&mut b.conjuncts);
        Ok(a)
    }

    /// A predicate over components, of which only the types are known otherwise.
    fn normal(&mut self, components: Vec<Component>, p: ast::Expr, span: Span) -> Schema {
        let mut conjuncts = vec![];
        for c in &components {
            let set = Box::new(self.carrier(&c.ty, span));
            let x = Box::new(make::name(&c.var, c.span));
            conjuncts.push(make::node(ExprKind::HasType(x, set), span));
        }
        conjuncts.push(p);
        Schema { components, conjuncts }
    }

    fn renamed(&mut self, mut schema: Schema, pairs: &[(Ident, Ident)], span: Span) -> Res<Schema> {
        let mut new_names = HashMap::new();
        for (new, old) in pairs {
            if schema.component(&old.name).is_none() {
                return self.no_component(&schema, old);
            }
            if new_names.insert(old.name.clone(), new.name.clone()).is_some() {
                return self.fail("B0202", old.span, format!("`{}` is renamed twice", old.name));
            }
        }
        let components = std::mem::take(&mut schema.components);
        let mut merged = Schema { components: vec![], conjuncts: schema.conjuncts };
        let mut table = HashMap::new();
        for mut c in components {
            if let Some(new) = new_names.get(&c.name) {
                c.name = new.clone();
            }
            match merged.component(&c.name) {
                None => merged.components.push(c),
                Some(other) => {
                    table.insert(c.var.clone(), make::name(&other.var, span));
                    let ty = other.ty.clone();
                    self.unify(&c.ty, &ty, span)?;
                }
            }
        }
        merged.conjuncts.iter_mut().for_each(|p| make::substitute(p, &table));
        Ok(merged)
    }

    /// `S ⨟ T`: what is after S is before T. `S ⨠ T`: what comes out of S goes into T.
    fn linked(&mut self, op: &str, mut a: Schema, mut b: Schema, span: Span) -> Res<Schema> {
        let (end, begin) = if op == "⨟" { ("'", "") } else { ("!", "?") };
        let mut middle = HashSet::new();
        let mut table = HashMap::new();
        for c in &mut a.components {
            let Some(base) = c.name.strip_suffix(end) else { continue };
            let before = format!("{base}{begin}");
            if op == "⨟" && before.ends_with(['?', '!', '\'']) {
                continue;
            }
            let Some(other) = b.components.iter().find(|o| *o.name == *before) else { continue };
            let (ty, var, found) = (other.ty.clone(), other.var.clone(), other.name.clone());
            self.unify(&c.ty, &ty, span)?;
            table.insert(var, make::name(&c.var, span));
            b.components.retain(|o| o.name != found);
            // No component of a text is called so.
            c.name = format!("{base}·").into();
            middle.insert(c.name.clone());
        }
        b.conjuncts.iter_mut().for_each(|p| make::substitute(p, &table));
        let both = self.joined(a, b, span)?;
        Ok(hide(both, &|c| middle.contains(&c.name), span))
    }

    /// The set of bindings of a schema.
    pub(super) fn schema_value(&mut self, e: &Expr) -> Res<Value> {
        let schema = self.schema(e)?;
        if schema.components.is_empty() {
            return self.unsupported(e.span, "the set of bindings of a schema without components");
        }
        let span = e.span;
        let fields = schema
            .components
            .iter()
            .map(|c| (c.name.clone(), Value { ty: c.ty.clone(), e: make::name(&c.var, span) }));
        let of = binding(fields.collect(), span);
        let ty = of.ty.power();
        // Where nothing but sets is said, a set of records.
        let mut sets: HashMap<&Name, &ast::Expr> = HashMap::new();
        for p in &schema.conjuncts {
            if let ExprKind::Binary(BinOp::In, x, set) = &p.kind
                && let ExprKind::Name(x) = &x.kind
                && !schema.components.iter().any(|c| mentions(set, &c.var))
            {
                sets.insert(x, set);
            }
        }
        if sets.len() == schema.conjuncts.len() && sets.len() == schema.components.len() {
            let field = |c: &super::Component| {
                let set = sets.get(&c.var).map(|s| (*s).clone());
                Some((Ident { name: c.name.clone(), span }, set?))
            };
            let mut fields: Vec<_> = schema.components.iter().filter_map(field).collect();
            fields.sort_by(|a, b| a.0.name.cmp(&b.0.name));
            return Ok(Value { ty, e: make::node(ExprKind::Struct(fields), span) });
        }
        let ids = schema.components.iter().map(|c| Ident { name: c.var.clone(), span }).collect();
        let p = make::all(schema.conjuncts, span);
        Ok(Value { ty, e: make::node(ExprKind::ComprMap(ids, Box::new(p), Box::new(of.e)), span) })
    }

    /// A schema as a predicate: its components are what their names mean here.
    pub(super) fn schema_pred(&mut self, e: &Expr) -> Res<ast::Expr> {
        let schema = self.schema(e)?;
        let mut table = HashMap::new();
        for c in &schema.components {
            let v = self.named(&c.name, None, e.span)?;
            if !self.uni.unify(&v.ty, &c.ty) {
                let (here, there) = (self.uni.show(&v.ty), self.uni.show(&c.ty));
                let message = format!("`{}` is of type {here}, and in the schema of type {there}", c.name);
                return self.fail("B0203", e.span, message);
            }
            table.insert(c.var.clone(), v.e);
        }
        Ok(make::all(schema.conjuncts_over(&table), e.span))
    }

    /// `θ S`, `θ S'`
    pub(super) fn theta(&mut self, of: &Expr, span: Span) -> Res<Value> {
        let (schema, after) = match &of.kind {
            Kind::Name(n) => {
                let Some(named) = self.schema_named(n) else { return self.unknown_name(n, of.span) };
                let plain: Name = match named.greek {
                    None => named.base,
                    Some(greek) => format!("{greek}{}", named.base).into(),
                };
                (self.schema_use(&plain, None, of.span)?, named.strokes)
            }
            Kind::Decorated(e, strokes) => (self.schema(e)?, strokes.clone()),
            _ => (self.schema(of)?, "".into()),
        };
        let mut fields = vec![];
        for c in &schema.components {
            let name: Name = format!("{}{after}", c.name).into();
            let v = self.named(&name, None, span)?;
            self.unify(&v.ty, &c.ty, span)?;
            fields.push((c.name.clone(), v));
        }
        if fields.is_empty() {
            return self.unsupported(span, "a binding without components");
        }
        Ok(binding(fields, span))
    }
}

fn mentions(e: &ast::Expr, name: &Name) -> bool {
    let mut found = false;
    make::names(e, &mut |n| found |= n == name);
    found
}

fn decorated(mut schema: Schema, strokes: &str) -> Schema {
    if !strokes.is_empty() {
        schema.components.iter_mut().for_each(|c| c.name = format!("{}{strokes}", c.name).into());
    }
    schema
}

/// Some components are there, and nobody sees them.
fn hide(schema: Schema, is_hidden: &dyn Fn(&Component) -> bool, span: Span) -> Schema {
    let (hidden, components): (Vec<_>, Vec<_>) = schema.components.into_iter().partition(is_hidden);
    if hidden.is_empty() {
        return Schema { components, conjuncts: schema.conjuncts };
    }
    let names: HashSet<Name> = hidden.iter().map(|c| c.var.clone()).collect();
    let speaks = |p: &ast::Expr| {
        let mut found = false;
        make::names(p, &mut |n| found |= names.contains(n));
        found
    };
    let (inside, mut conjuncts): (Vec<_>, Vec<_>) = schema.conjuncts.into_iter().partition(speaks);
    let ids = hidden.into_iter().map(|c| Ident { name: c.var, span: c.span }).collect();
    conjuncts.push(make::quant(Quant::Exists, ids, make::all(inside, span), span));
    Schema { components, conjuncts }
}

/// `∀`, `∃`, `∃₁`: what is declared and said of it, and the body.
pub(super) fn quantified(
    q: &str,
    ids: Vec<Ident>,
    mut said: Vec<ast::Expr>,
    body: ast::Expr,
    span: Span,
) -> ast::Expr {
    match q {
        "∀" => {
            let body = match said.is_empty() {
                true => body,
                false => make::bin(BinOp::Implies, make::all(said, span), body, span),
            };
            make::quant(Quant::Forall, ids, body, span)
        }
        "∃" => {
            said.push(body);
            make::quant(Quant::Exists, ids, make::all(said, span), span)
        }
        _ if ids.is_empty() => {
            said.push(body);
            make::all(said, span)
        }
        _ => {
            said.push(body);
            let set = make::node(ExprKind::Compr(ids, Box::new(make::all(said, span))), span);
            let card = make::call(ast::Fun::Card, vec![set], span);
            make::bin(BinOp::Eq, card, make::int(1, span), span)
        }
    }
}

/// True: what is said of nothing.
pub(super) fn truth(is_true: bool, span: Span) -> ast::Expr {
    make::lit(if is_true { Lit::BTrue } else { Lit::BFalse }, span)
}
