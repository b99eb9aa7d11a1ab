//! Generic definitions: each instance of one that is used becomes constants of its own, `first[NAME]`.
//!
//! Which instance a use is may be known only when the paragraph has been read. Until then a place stands in the tree.

use super::{Checker, Global, Local, Res, Value};
use crate::lang::ast::{self, Ident, Name};
use crate::lang::diag::Span;
use crate::lang::print;
use crate::lang::z::make;
use crate::lang::z::tree::Text;
use crate::lang::z::types::{Ty, substituted};
use std::collections::{HashMap, HashSet};

/// A generic axiomatic definition.
#[derive(Clone, Debug)]
pub(super) struct Generic {
    parameters: Vec<Ident>,
    text: Text,
    /// The text that makes an instance, of those that have one.
    made: HashSet<String>,
}

/// An instance that is to be made.
pub(super) struct Instance {
    generic: usize,
    suffix: String,
    args: Vec<Value>,
    span: Span,
}

/// What stands in a tree until types are known.
#[derive(Clone, Debug)]
pub(super) struct Site {
    kind: SiteKind,
    span: Span,
}

#[derive(Clone, Debug)]
enum SiteKind {
    /// All values of a type.
    Carrier(Ty),
    /// A name of a generic definition, with what stands for its parameters.
    Use(usize, Name, Vec<Value>),
}

/// Begins the names of places.
const PLACE: char = '\u{1}';
/// So many instances are enough: a definition may ask for ever larger ones of itself.
const MAX_INSTANCES: usize = 400;

/// Whether something in the type is not known.
pub(super) fn is_open(ty: &Ty) -> bool {
    match ty {
        Ty::Unknown(_) => true,
        Ty::Tuple(parts) => parts.iter().any(is_open),
        Ty::Power(of) => is_open(of),
        Ty::Schema(fields) => fields.iter().any(|(_, t)| is_open(t)),
        _ => false,
    }
}

impl Checker {
    fn site(&mut self, kind: SiteKind, span: Span) -> ast::Expr {
        self.sites.push(Site { kind, span });
        make::name(&format!("{PLACE}{}", self.sites.len() - 1).into(), span)
    }

    /// The set of all values of a type, which may not be known yet.
    pub(super) fn carrier(&mut self, ty: &Ty, span: Span) -> ast::Expr {
        self.site(SiteKind::Carrier(ty.clone()), span)
    }

    /// Parameters as they are while a definition is looked at by itself.
    pub(super) fn rigid(&mut self, parameters: &[Ident]) -> Vec<(Name, Local)> {
        let local = |id: &Ident| {
            let ty = Ty::Parameter(id.name.clone()).power();
            (id.name.clone(), Local { ty, e: make::name(&id.name, id.span) })
        };
        parameters.iter().map(local).collect()
    }

    pub(super) fn generic_axiom(&mut self, parameters: &[Ident], text: &Text, span: Span) -> Res<()> {
        let before = self.sites.len();
        self.scope = self.rigid(parameters);
        let opened = self.open(text)?;
        self.sites.truncate(before);
        let at = self.generics.len();
        let (parameters, text) = (parameters.to_vec(), text.clone());
        self.generics.push(Generic { parameters, text, made: HashSet::new() });
        for c in opened.schema.components {
            let id = Ident { name: c.name.clone(), span: c.span };
            self.without_strokes(&id)?;
            let ty = self.known(&c.ty, span)?;
            self.declare(&id, Global::Generic(at, ty))?;
        }
        Ok(())
    }

    /// What stands for parameters: sets that were given, or all of a type that is found out.
    pub(super) fn arguments(
        &mut self,
        parameters: &[Ident],
        given: Option<Vec<Value>>,
        span: Span,
    ) -> Res<Vec<(Name, Value)>> {
        let values = match given {
            Some(given) if given.len() == parameters.len() => given,
            Some(given) => {
                let (n, m) = (parameters.len(), given.len());
                return self.fail(
                    "B0206",
                    span,
                    format!("there are {n} generic parameters, and {m} are given"),
                );
            }
            None => {
                let mut values = vec![];
                for _ in parameters {
                    let ty = self.uni.fresh();
                    let e = self.carrier(&ty, span);
                    values.push(Value { ty: ty.power(), e });
                }
                values
            }
        };
        Ok(parameters.iter().map(|p| p.name.clone()).zip(values).collect())
    }

    /// A use of a name that a generic definition declares.
    pub(super) fn use_generic(
        &mut self,
        at: usize,
        name: &Name,
        ty: &Ty,
        given: Option<Vec<Value>>,
        span: Span,
    ) -> Res<Value> {
        let parameters = self.generics[at].parameters.clone();
        let args = self.arguments(&parameters, given, span)?;
        let mut pairs = vec![];
        for (n, v) in &args {
            pairs.push((n.clone(), self.element(v, span)?));
        }
        let values = args.into_iter().map(|(_, v)| v).collect();
        let e = self.site(SiteKind::Use(at, name.clone(), values), span);
        Ok(Value { ty: substituted(ty, &pairs), e })
    }

    /// Runs with only these names in scope: a definition does not see where it is used.
    pub(super) fn apart<T>(
        &mut self,
        args: Vec<(Name, Value)>,
        run: impl FnOnce(&mut Self) -> Res<T>,
    ) -> Res<T> {
        let inside = args.into_iter().map(|(n, v)| (n, Local { ty: v.ty, e: v.e })).collect();
        let outside = std::mem::replace(&mut self.scope, inside);
        let result = run(self);
        self.scope = outside;
        result
    }

    /// Puts in what stands at places.
    pub(super) fn settle(&mut self, e: &mut ast::Expr) -> Res<()> {
        let mut result = Ok(());
        make::for_each_name(e, &mut |e| {
            let ast::ExprKind::Name(n) = &e.kind else { return };
            let Some(at) = n.strip_prefix(PLACE).and_then(|n| n.parse::<usize>().ok()) else { return };
            if result.is_err() {
                return;
            }
            let Some(site) = self.sites.get(at).cloned() else { return };
            match self.settled(site) {
                Ok(kind) => e.kind = kind,
                Err(failed) => result = Err(failed),
            }
        });
        result
    }

    fn settled(&mut self, site: Site) -> Res<ast::ExprKind> {
        match site.kind {
            SiteKind::Carrier(ty) => {
                let ty = self.known(&ty, site.span)?;
                Ok(whole(&ty, site.span).kind)
            }
            SiteKind::Use(at, name, args) => {
                let mut settled = vec![];
                for mut v in args {
                    self.settle(&mut v.e)?;
                    v.ty = self.known(&v.ty, site.span)?;
                    let mut bound = None;
                    make::names(&v.e, &mut |n| {
                        if n.contains('·') {
                            bound = Some(n.split('·').next().unwrap_or(n).to_string());
                        }
                    });
                    let is_open = bound.filter(|_| !is_closed(&v.e));
                    if let Some(bound) = is_open {
                        let what = format!("a generic argument that speaks of `{bound}`, which varies here,");
                        return self.unsupported(site.span, &what);
                    }
                    settled.push(v);
                }
                let shown: Vec<String> = settled.iter().map(|v| renumbered(&print::expr(&v.e))).collect();
                let suffix = format!("[{}]", shown.join(", "));
                if self.generics[at].made.insert(suffix.clone()) {
                    self.instances += 1;
                    if self.instances > MAX_INSTANCES {
                        return self.unsupported(site.span, "a specification with so many generic instances");
                    }
                    let (suffix, span) = (suffix.clone(), site.span);
                    self.waiting.push(Instance { generic: at, suffix, args: settled, span });
                }
                Ok(ast::ExprKind::Name(format!("{name}{suffix}").into()))
            }
        }
    }

    /// Makes the instances that were asked for, and those that these ask for.
    pub(super) fn make_instances(&mut self) -> Res<()> {
        while let Some(instance) = self.waiting.pop() {
            let Instance { generic, suffix, args, span } = instance;
            let Generic { parameters, text, .. } = self.generics[generic].clone();
            let args = self.arguments(&parameters, Some(args), span)?;
            let opened = self.apart(args, |c| c.open(&text))?;
            let mut names = HashMap::new();
            for c in &opened.schema.components {
                let name: Name = format!("{}{suffix}", c.name).into();
                names.insert(c.var.clone(), make::name(&name, c.span));
                self.found.constants.push(Ident { name, span: c.span });
            }
            for mut p in opened.schema.conjuncts {
                make::substitute(&mut p, &names);
                self.settle(&mut p)?;
                self.found.properties.push(p);
            }
        }
        Ok(())
    }
}

/// Whether every numbered name is bound inside of it.
fn is_closed(e: &ast::Expr) -> bool {
    fn walk(e: &ast::Expr, bound: &mut Vec<Name>) -> bool {
        let depth = bound.len();
        match &e.kind {
            ast::ExprKind::Name(n) => return !n.contains('·') || bound.contains(n),
            ast::ExprKind::Quant(_, ids, _)
            | ast::ExprKind::Bind(_, ids, ..)
            | ast::ExprKind::Compr(ids, _)
            | ast::ExprKind::ComprMap(ids, ..)
            | ast::ExprKind::Let(ids, ..) => bound.extend(ids.iter().map(|id| id.name.clone())),
            _ => {}
        }
        let mut is_closed = true;
        crate::lang::walk::children(e, &mut |c| is_closed = is_closed && walk(c, bound));
        bound.truncate(depth);
        is_closed
    }
    walk(e, &mut vec![])
}

/// With numbers of bound names that do not differ from use to use: in the order of their first occurrence.
fn renumbered(text: &str) -> String {
    let (mut out, mut seen): (String, Vec<&str>) = (String::new(), vec![]);
    let mut parts = text.split('·');
    out.push_str(parts.next().unwrap_or_default());
    for part in parts {
        let end = part.find(|c: char| !c.is_ascii_digit()).unwrap_or(part.len());
        let (number, rest) = part.split_at(end);
        let at = seen.iter().position(|n| *n == number).unwrap_or_else(|| {
            seen.push(number);
            seen.len() - 1
        });
        out.push_str(&format!("˙{at}{rest}"));
    }
    out
}

/// The set of all values of a type that is known.
pub(super) fn whole(ty: &Ty, span: Span) -> ast::Expr {
    use ast::{BinOp, ExprKind, Fun, Lit};
    match ty {
        Ty::Int | Ty::Unknown(_) => make::lit(Lit::Integer, span),
        Ty::Given(name) | Ty::Parameter(name) => make::name(name, span),
        Ty::Power(of) => make::call(Fun::Pow, vec![whole(of, span)], span),
        Ty::Tuple(parts) => {
            let parts = parts.iter().map(|t| whole(t, span));
            let product = parts.reduce(|a, b| make::bin(BinOp::Product, a, b, span));
            product.unwrap_or_else(|| make::lit(Lit::EmptySet, span))
        }
        Ty::Schema(fields) => {
            let field = |(n, t): &(Name, Ty)| (Ident { name: n.clone(), span }, whole(t, span));
            make::node(ExprKind::Struct(fields.iter().map(field).collect()), span)
        }
    }
}
