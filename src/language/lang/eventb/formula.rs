//! Formulas of a package: terms become trees. Operators of theories are replaced by what they stand for.
//!
//! Event-B's operators mean what B's do, with these exceptions: `id`, `prj1` and `prj2` are about whole types,
//! `partition` and `finite` are written out, `∘` is composition backwards. What is not known here is refused by name.

use super::shape::{Res, idents, list, malformed, refused};
use super::term::{Kind, Term};
use super::theory::{Meaning, Operator, Theories, Used};
use crate::lang::ast::{BinOp, Binder, Expr, ExprKind, Fun, Ident, Lit, Name, Quant, UnOp};
use crate::lang::diag::{Diagnostic, Span};
use crate::lang::external::External;
use crate::lang::stack::MAX_DEPTH;
use crate::lang::walk::children;
use std::collections::{HashMap, HashSet};

/// More parts than this are not made of one package: operators of theories can multiply.
const MAX_NODES: usize = 5_000_000;

/// What names stand for inside an operator's definition.
#[derive(Default)]
struct Inside {
    /// The operator's arguments, and its type parameters.
    stands_for: HashMap<Name, Expr>,
    /// Names that occur in the arguments: binding one of them here would capture it.
    taken: HashSet<Name>,
    /// Bound names, renamed where they had to be; the innermost last.
    bound: Vec<(Name, Name)>,
}

/// From terms to trees.
pub struct Formulas<'t> {
    pub(super) theories: Theories<'t>,
    /// One for each operator whose definition is being put in place of its use.
    inside: Vec<(Name, Inside)>,
    depth: u32,
    nodes: usize,
    renamed: usize,
    /// Datatypes and recursive operators that formulas use.
    pub(super) used: Used,
}

impl<'t> Formulas<'t> {
    /// With the names of carrier sets and constants.
    pub fn new(theories: Theories<'t>, sets: HashSet<Name>, constants: HashSet<Name>) -> Self {
        let used = Used { sets, constants, ..Used::default() };
        Formulas { theories, inside: vec![], depth: 0, nodes: 0, renamed: 0, used }
    }

    /// A predicate or expression.
    pub fn formula(&mut self, term: &'t Term) -> Res<Expr> {
        self.nodes += 1;
        self.in_bounds(term.span)?;
        self.depth += 1;
        let kind = self.kind(term);
        self.depth -= 1;
        Ok(Expr { kind: kind?, span: term.span })
    }

    fn in_bounds(&self, span: Span) -> Res<()> {
        let message = match (self.depth >= MAX_DEPTH, self.nodes > MAX_NODES) {
            (false, false) => return Ok(()),
            (_, true) => "the formulas of this package stand for too much".to_string(),
            (true, false) => format!("this nests more than {MAX_DEPTH} levels deep"),
        };
        Err(Box::new(Diagnostic::error("B0106", span, message)))
    }

    fn boxed(&mut self, term: &'t Term) -> Res<Box<Expr>> {
        self.formula(term).map(Box::new)
    }

    fn formulas(&mut self, terms: &'t Term) -> Res<Vec<Expr>> {
        list(terms)?.iter().map(|t| self.formula(t)).collect()
    }

    fn kind(&mut self, term: &'t Term) -> Res<ExprKind> {
        use ExprKind as E;
        let Some((functor, [_position, args @ ..])) = term.parts() else {
            return Err(malformed(term, "a formula"));
        };
        if let Some(lit) = found(LITERAL, functor)
            && args.is_empty()
        {
            return Ok(E::Lit(lit));
        }
        if let Some(op) = found(BINARY, functor)
            && let [a, b] = args
        {
            return Ok(E::Binary(op, self.boxed(a)?, self.boxed(b)?));
        }
        if let Some(fun) = found(FUNCTION, functor)
            && let [a] = args
        {
            return Ok(E::Call(fun, vec![self.formula(a)?]));
        }
        let span = term.span;
        Ok(match (functor, args) {
            ("identifier", [name]) => {
                let Some(name) = name.atom() else { return Err(malformed(name, "a name")) };
                self.name(name, span)?
            }
            ("integer", [number]) => match &number.kind {
                Kind::Int(i) => E::Int(i.clone()),
                _ => return Err(malformed(number, "a number")),
            },
            ("string", [text]) => match &text.kind {
                Kind::Atom(s) | Kind::Str(s) => E::Str(s.clone()),
                _ => return Err(malformed(text, "a string")),
            },
            // Conjunctions and disjunctions of several parts, as newer exporters write them.
            ("conjunct", [parts]) => join(BinOp::And, Lit::BTrue, self.formulas(parts)?, span).kind,
            ("disjunct", [parts]) => join(BinOp::Or, Lit::BFalse, self.formulas(parts)?, span).kind,
            ("negation", [p]) => E::Unary(UnOp::Not, self.boxed(p)?),
            ("unary_minus" | "unary", [e]) => E::Unary(UnOp::Neg, self.boxed(e)?),
            ("reverse", [e]) => E::Unary(UnOp::Inverse, self.boxed(e)?),
            // r ∘ s applies s first.
            ("ring", [a, b]) => {
                let (a, b) = (self.boxed(a)?, self.boxed(b)?);
                E::Binary(BinOp::Compose, b, a)
            }
            ("image", [r, s]) => E::Image(self.boxed(r)?, self.boxed(s)?),
            ("convert_bool", [p]) => E::Bool(self.boxed(p)?),
            ("if_then_else", [c, a, b]) => E::If(self.boxed(c)?, self.boxed(a)?, self.boxed(b)?),
            ("couple", [parts]) => {
                let mut parts = self.formulas(parts)?.into_iter();
                let first = parts.next().ok_or_else(|| malformed(term, "a couple"))?;
                parts.fold(first, |a, b| with(BinOp::Pair, a, b, span)).kind
            }
            ("function", [f, args]) => self.application(f, args)?,
            ("set_extension", [items]) => match self.formulas(items)? {
                items if items.is_empty() => E::Lit(Lit::EmptySet),
                items => E::SetExt(items),
            },
            ("sequence_extension", [items]) => match self.formulas(items)? {
                items if items.is_empty() => E::Lit(Lit::EmptySeq),
                items => E::SeqExt(items),
            },
            ("finite", [s]) => {
                let s = self.formula(s)?;
                // It is there twice.
                self.nodes += size(&s);
                self.in_bounds(span)?;
                let finite = Expr { kind: E::Call(Fun::Fin, vec![s.clone()]), span };
                E::Binary(BinOp::In, Box::new(s), Box::new(finite))
            }
            ("partition", [s, parts]) => {
                let (s, parts) = (self.formula(s)?, self.formulas(parts)?);
                // Each part is there beside each other.
                let all: usize = parts.iter().map(size).sum();
                self.nodes = self.nodes.saturating_add(all.saturating_mul(parts.len() + 1));
                self.in_bounds(span)?;
                partition(s, parts, span).kind
            }
            ("event_b_identity", []) => identity(span).kind,
            ("event_b_first_projection_v2", []) => projection(Fun::Prj1, span).kind,
            ("event_b_second_projection_v2", []) => projection(Fun::Prj2, span).kind,
            // The projections of Rodin's first language took a relation.
            ("event_b_first_projection", [r]) => {
                E::Binary(BinOp::DomRestrict, self.boxed(r)?, Box::new(projection(Fun::Prj1, span)))
            }
            ("event_b_second_projection", [r]) => {
                E::Binary(BinOp::DomRestrict, self.boxed(r)?, Box::new(projection(Fun::Prj2, span)))
            }
            ("first_projection", [a, b]) => E::Call(Fun::Prj1, vec![self.formula(a)?, self.formula(b)?]),
            ("second_projection", [a, b]) => E::Call(Fun::Prj2, vec![self.formula(a)?, self.formula(b)?]),
            ("forall" | "exists", [ids, body]) => {
                let q = if functor == "forall" { Quant::Forall } else { Quant::Exists };
                self.binding(ids, |c, ids| Ok(E::Quant(q, ids, c.boxed(body)?)))?
            }
            // Older exporters have the domain of a universal quantifier apart.
            ("forall", [ids, domain, body]) => self.binding(ids, |c, ids| {
                let (domain, body) = (c.formula(domain)?, c.formula(body)?);
                Ok(E::Quant(Quant::Forall, ids, Box::new(with(BinOp::Implies, domain, body, span))))
            })?,
            ("comprehension_set", [ids, p]) => self.binding(ids, |c, ids| Ok(E::Compr(ids, c.boxed(p)?)))?,
            ("lambda", [ids, p, e]) => {
                self.binding(ids, |c, ids| Ok(E::Bind(Binder::Lambda, ids, c.boxed(p)?, c.boxed(e)?)))?
            }
            ("quantified_union" | "quantified_intersection", [ids, p, e]) => {
                let binder = if functor == "quantified_union" { Binder::Union } else { Binder::Inter };
                self.binding(ids, |c, ids| Ok(E::Bind(binder, ids, c.boxed(p)?, c.boxed(e)?)))?
            }
            ("event_b_comprehension_set", [ids, e, p]) => self.binding(ids, |c, ids| {
                let (e, p) = (c.formula(e)?, c.formula(p)?);
                Ok(comprehension(ids, p, e))
            })?,
            ("typeof", [e, ty]) => E::Typed(self.boxed(e)?, self.boxed(ty)?),
            ("extended_expr" | "extended_pred", [op, exprs, preds]) => {
                let Some(name) = op.atom() else { return Err(malformed(op, "the name of an operator")) };
                let is_predicate = functor == "extended_pred";
                self.operator(name, list(exprs)?, list(preds)?, is_predicate, span)?
            }
            _ => return Err(refused(span, format!("{} in a formula", term.shape()))),
        })
    }

    fn name(&mut self, name: &Name, span: Span) -> Res<ExprKind> {
        let Some((_, inside)) = self.inside.last() else { return Ok(ExprKind::Name(name.clone())) };
        if let Some((_, new)) = inside.bound.iter().rev().find(|(old, _)| old == name) {
            return Ok(ExprKind::Name(new.clone()));
        }
        match inside.stands_for.get(name) {
            Some(e) => {
                self.nodes += size(e);
                Ok(e.kind.clone())
            }
            None => Err(refused(span, format!("`{name}`, which is no argument of the operator,"))),
        }
    }

    /// Reads something in which these names are bound.
    fn binding<X>(&mut self, ids: &'t Term, read: impl FnOnce(&mut Self, Vec<Ident>) -> Res<X>) -> Res<X> {
        let mut ids = idents(ids)?;
        let Some((_, inside)) = self.inside.last_mut() else { return read(self, ids) };
        let before = inside.bound.len();
        for id in &mut ids {
            let mut new = id.name.clone();
            if inside.taken.contains(&new) || inside.stands_for.contains_key(&new) {
                self.renamed += 1;
                new = format!("{new}·{}", self.renamed).into();
            }
            inside.bound.push((id.name.clone(), new.clone()));
            id.name = new;
        }
        let result = read(self, ids);
        if let Some((_, inside)) = self.inside.last_mut() {
            inside.bound.truncate(before);
        }
        result
    }

    fn application(&mut self, f: &'t Term, args: &'t Term) -> Res<ExprKind> {
        let args = match args.list() {
            Some(items) => items.iter().map(|t| self.formula(t)).collect::<Res<Vec<_>>>()?,
            None => vec![self.formula(args)?],
        };
        if args.is_empty() {
            return Err(malformed(f, "a function with an argument"));
        }
        let plain = match f.parts() {
            Some(("typeof", [_, inner, _])) => inner,
            _ => f,
        };
        let span = f.span;
        let pair = |args: Vec<Expr>| args.into_iter().reduce(|a, b| with(BinOp::Pair, a, b, span));
        // Projections of one couple need no function.
        Ok(match plain.parts() {
            Some(("event_b_first_projection_v2", [_])) => {
                ExprKind::Call(Fun::Prj1, pair(args).into_iter().collect())
            }
            Some(("event_b_second_projection_v2", [_])) => {
                ExprKind::Call(Fun::Prj2, pair(args).into_iter().collect())
            }
            _ => ExprKind::Apply(self.boxed(f)?, args),
        })
    }

    /// An operator of a theory, or one that Rodin has built in.
    fn operator(
        &mut self,
        name: &Name,
        exprs: &'t [Term],
        preds: &'t [Term],
        is_predicate: bool,
        span: Span,
    ) -> Res<ExprKind> {
        let exprs = exprs.iter().map(|t| self.formula(t)).collect::<Res<Vec<_>>>()?;
        let preds = preds.iter().map(|t| self.formula(t)).collect::<Res<Vec<_>>>()?;
        if let ("COND", [a, b], [c]) = (&**name, &exprs[..], &preds[..]) {
            return Ok(ExprKind::If(Box::new(c.clone()), Box::new(a.clone()), Box::new(b.clone())));
        }
        let args: Vec<Expr> = exprs.into_iter().chain(preds).collect();
        let wrong = |n: usize| {
            let message = format!("`{name}` takes {n} arguments and has {} here", args.len());
            Box::new(Diagnostic::error("B0206", span, message))
        };
        let field = |name: &Name| Ident { name: name.clone(), span };
        let op = match self.theories.get(name) {
            None => return Err(refused(span, format!("the operator `{name}`, which no theory defines,"))),
            Some(Meaning::Operator(op)) => op.clone(),
            Some(Meaning::Datatype(at)) => {
                let at = *at;
                let wanted = self.theories.datatypes[at].types.len();
                return if wanted == args.len() { self.datatype(at, args, span) } else { Err(wrong(wanted)) };
            }
            Some(Meaning::Constructor(at, i)) => {
                let (at, i) = (*at, *i);
                let wanted = self.theories.datatypes[at].constructors[i].fields.len();
                if wanted != args.len() {
                    return Err(wrong(wanted));
                }
                return Ok(self.construct(at, i, args, span));
            }
            Some(Meaning::Destructor(at, i, place)) => {
                let [of] = &args[..] else { return Err(wrong(1)) };
                let (at, i, place) = (*at, *i, *place);
                return Ok(self.part(at, i, place, of.clone(), span).kind);
            }
            Some(Meaning::Make(fields)) if fields.len() != args.len() => return Err(wrong(fields.len())),
            Some(Meaning::Make(fields)) => {
                return Ok(ExprKind::Rec(fields.iter().map(field).zip(args).collect()));
            }
            Some(Meaning::Field) => {
                let [record] = &args[..] else { return Err(wrong(1)) };
                return Ok(ExprKind::Field(Box::new(record.clone()), field(name)));
            }
            Some(Meaning::Record(types, _)) if types.len() != args.len() => return Err(wrong(types.len())),
            Some(Meaning::Record(types, fields)) => {
                let (types, fields) = (types.clone(), fields.clone());
                return self.record(name, types, fields, args, span);
            }
        };
        if args.len() != op.arguments.len() {
            return Err(wrong(op.arguments.len()));
        }
        match op.tag.as_deref().and_then(|tag| tagged(tag, &args, span)) {
            Some(e) => Ok(e.kind),
            None if op.cases.is_empty() && op.tag.as_deref() != Some("mkinat") => {
                self.definition(name, &op, args, span)
            }
            None => self.by_cases(name, &op, args, is_predicate, span),
        }
    }

    /// Begins something in which names stand for these.
    pub(super) fn enter(&mut self, name: &Name, stand: impl Iterator<Item = (Name, Expr)>) {
        let mut inside = Inside { stands_for: stand.collect(), ..Inside::default() };
        inside.stands_for.values().for_each(|e| names(e, &mut inside.taken));
        self.inside.push((name.clone(), inside));
    }

    /// Ends it.
    pub(super) fn leave(&mut self) {
        self.inside.pop();
    }

    /// A number for a name that is made up.
    pub(super) fn number(&mut self) -> usize {
        self.renamed += 1;
        self.renamed
    }

    /// The set of all records of a datatype whose parameters are these sets.
    fn record(
        &mut self,
        name: &Name,
        types: Vec<Name>,
        fields: Vec<(Name, &'t Term)>,
        args: Vec<Expr>,
        span: Span,
    ) -> Res<ExprKind> {
        self.enter(name, types.into_iter().zip(args));
        let one =
            |c: &mut Self, (field, ty): (Name, &'t Term)| Ok((Ident { name: field, span }, c.formula(ty)?));
        let fields = fields.into_iter().map(|f| one(self, f)).collect::<Res<Vec<_>>>();
        self.inside.pop();
        Ok(ExprKind::Struct(fields?))
    }

    /// The definition of an operator, with these arguments.
    fn definition(&mut self, name: &Name, op: &Operator<'t>, args: Vec<Expr>, span: Span) -> Res<ExprKind> {
        let Some(body) = op.definition else {
            return Err(refused(span, format!("`{name}` (an operator without a direct definition)")));
        };
        if self.inside.iter().any(|(other, _)| other == name) {
            return Err(refused(span, format!("`{name}` (an operator defined by itself)")));
        }
        let whole = |t: &Name| (t.clone(), literal_at(Lit::Whole, span));
        let types = op.types.iter().map(whole);
        self.enter(name, types.chain(op.arguments.iter().cloned().zip(args)));
        let result = self.formula(body);
        self.inside.pop();
        Ok(result?.kind)
    }
}

fn size(e: &Expr) -> usize {
    let mut n = 1;
    children(e, &mut |c| n += size(c));
    n
}

/// All names in a tree, free or bound.
pub fn names(e: &Expr, found: &mut HashSet<Name>) {
    match &e.kind {
        ExprKind::Name(n) => {
            found.insert(n.clone());
        }
        ExprKind::Quant(_, ids, _)
        | ExprKind::Compr(ids, _)
        | ExprKind::Bind(_, ids, ..)
        | ExprKind::ComprMap(ids, ..)
        | ExprKind::Let(ids, ..) => found.extend(ids.iter().map(|id| id.name.clone())),
        _ => {}
    }
    children(e, &mut |c| names(c, found));
}

pub fn with(op: BinOp, a: Expr, b: Expr, span: Span) -> Expr {
    Expr { kind: ExprKind::Binary(op, Box::new(a), Box::new(b)), span }
}

pub fn literal_at(lit: Lit, span: Span) -> Expr {
    Expr { kind: ExprKind::Lit(lit), span }
}

/// The parts joined by an operator, as a tree of small height.
pub fn join(op: BinOp, of_none: Lit, mut parts: Vec<Expr>, span: Span) -> Expr {
    while parts.len() > 1 {
        let mut next = Vec::with_capacity(parts.len().div_ceil(2));
        let mut rest = parts.into_iter();
        while let Some(a) = rest.next() {
            next.push(match rest.next() {
                Some(b) => with(op, a, b, span),
                None => a,
            });
        }
        parts = next;
    }
    parts.pop().unwrap_or_else(|| literal_at(of_none, span))
}

pub fn identity(span: Span) -> Expr {
    Expr { kind: ExprKind::Call(Fun::Id, vec![literal_at(Lit::Whole, span)]), span }
}

pub fn projection(fun: Fun, span: Span) -> Expr {
    let whole = || literal_at(Lit::Whole, span);
    Expr { kind: ExprKind::Call(fun, vec![whole(), whole()]), span }
}

/// `partition(S, A, B, …)`: S is the union of the others, which have no element in common.
pub fn partition(s: Expr, parts: Vec<Expr>, span: Span) -> Expr {
    let union = join(BinOp::Union, Lit::EmptySet, parts.clone(), span);
    let mut claims = vec![with(BinOp::Eq, s, union, span)];
    for (i, a) in parts.iter().enumerate() {
        for b in &parts[i + 1..] {
            let common = with(BinOp::Inter, a.clone(), b.clone(), span);
            claims.push(match (&a.kind, &b.kind) {
                // Two elements that differ: the form in which sizes of sets are looked for.
                (ExprKind::SetExt(a), ExprKind::SetExt(b)) if a.len() == 1 && b.len() == 1 => {
                    with(BinOp::Neq, a[0].clone(), b[0].clone(), span)
                }
                _ => with(BinOp::Eq, common, literal_at(Lit::EmptySet, span), span),
            });
        }
    }
    join(BinOp::And, Lit::BTrue, claims, span)
}

/// `{x · P ∣ E}`; simpler sets where E is what is bound.
pub fn comprehension(ids: Vec<Ident>, p: Expr, e: Expr) -> ExprKind {
    let is_tuple = |e: &Expr| is_tuple(&ids, e);
    if is_tuple(&e) {
        return ExprKind::Compr(ids, Box::new(p));
    }
    if let ExprKind::Binary(BinOp::Pair, a, b) = &e.kind
        && is_tuple(a)
    {
        return ExprKind::Bind(Binder::Lambda, ids.clone(), Box::new(p), b.clone());
    }
    ExprKind::ComprMap(ids, Box::new(p), Box::new(e))
}

/// Whether it is the left-nested couple of these names.
fn is_tuple(ids: &[Ident], e: &Expr) -> bool {
    match (ids, &e.kind) {
        ([id], ExprKind::Name(name)) => id.name == *name,
        ([rest @ .., _, _], ExprKind::Binary(BinOp::Pair, a, b)) => {
            let (front, last) = (&ids[..rest.len() + 1], &ids[rest.len() + 1..]);
            is_tuple(front, a) && is_tuple(last, b)
        }
        _ => false,
    }
}

/// Operators of theories that ProB replaces by its own, by their tags.
fn tagged(tag: &str, args: &[Expr], span: Span) -> Option<Expr> {
    let call = |fun| Some(ExprKind::Call(fun, args.to_vec()));
    // The sum of the second parts of a set of couples.
    let over = |binder| {
        let id = |name: &str| Ident { name: name.into(), span };
        let name = |name: &str| Expr { kind: ExprKind::Name(name.into()), span };
        let couple = with(BinOp::Pair, name("key·"), name("value·"), span);
        let member = with(BinOp::In, couple, args[0].clone(), span);
        let ids = vec![id("key·"), id("value·")];
        Some(ExprKind::Bind(binder, ids, Box::new(member), Box::new(name("value·"))))
    };
    let kind = match (tag, args.len()) {
        ("closure1", 1) => call(Fun::Closure1),
        ("closure", 1) => call(Fun::Closure),
        ("seq", 1) => call(Fun::Seq),
        ("seq1", 1) => call(Fun::Seq1),
        ("size", 1) => call(Fun::Size),
        ("first", 1) => call(Fun::First),
        ("last", 1) => call(Fun::Last),
        ("front", 1) => call(Fun::Front),
        ("tail", 1) => call(Fun::Tail),
        ("mu", 1) => call(Fun::Mu),
        // Some element: the least one, as in ProB.
        ("choose", 1) => call(Fun::External(External::Choose)),
        ("concat", 2) => Some(with(BinOp::Concat, args[0].clone(), args[1].clone(), span).kind),
        ("SIGMA", 1) => over(Binder::Sigma),
        ("PI", 1) => over(Binder::Pi),
        _ => None,
    };
    kind.map(|kind| Expr { kind, span })
}

/// Terms without parts.
pub const LITERAL: &[(&str, Lit)] = &[
    ("truth", Lit::BTrue),
    ("falsity", Lit::BFalse),
    ("boolean_true", Lit::True),
    ("boolean_false", Lit::False),
    ("bool_set", Lit::BoolSet),
    ("integer_set", Lit::Integer),
    ("natural_set", Lit::Natural),
    ("natural1_set", Lit::Natural1),
    ("string_set", Lit::StringSet),
    ("empty_set", Lit::EmptySet),
    ("successor", Lit::Succ),
    ("predecessor", Lit::Pred),
];

/// Terms with two parts.
pub const BINARY: &[(&str, BinOp)] = &[
    ("conjunct", BinOp::And),
    ("disjunct", BinOp::Or),
    ("implication", BinOp::Implies),
    ("equivalence", BinOp::Iff),
    ("equal", BinOp::Eq),
    ("not_equal", BinOp::Neq),
    ("member", BinOp::In),
    ("not_member", BinOp::NotIn),
    ("subset", BinOp::Subset),
    ("not_subset", BinOp::NotSubset),
    ("subset_strict", BinOp::StrictSubset),
    ("not_subset_strict", BinOp::NotStrictSubset),
    ("less", BinOp::Lt),
    ("less_equal", BinOp::Le),
    ("greater", BinOp::Gt),
    ("greater_equal", BinOp::Ge),
    ("add", BinOp::Add),
    ("minus", BinOp::Sub),
    ("multiplication", BinOp::Mul),
    ("cartesian_product", BinOp::Product),
    ("div", BinOp::Div),
    ("modulo", BinOp::Mod),
    ("power_of", BinOp::Pow),
    ("interval", BinOp::Interval),
    ("union", BinOp::Union),
    ("intersection", BinOp::Inter),
    ("set_subtraction", BinOp::Diff),
    ("relations", BinOp::Rel),
    ("total_relation", BinOp::TotalRel),
    ("surjection_relation", BinOp::SurjRel),
    ("total_surjection_relation", BinOp::TotalSurjRel),
    ("partial_function", BinOp::PartialFun),
    ("total_function", BinOp::TotalFun),
    ("partial_injection", BinOp::PartialInj),
    ("total_injection", BinOp::TotalInj),
    ("partial_surjection", BinOp::PartialSurj),
    ("total_surjection", BinOp::TotalSurj),
    ("partial_bijection", BinOp::PartialBij),
    ("total_bijection", BinOp::TotalBij),
    ("domain_restriction", BinOp::DomRestrict),
    ("domain_subtraction", BinOp::DomSubtract),
    ("range_restriction", BinOp::RanRestrict),
    ("range_subtraction", BinOp::RanSubtract),
    ("overwrite", BinOp::Override),
    ("direct_product", BinOp::DirectProduct),
    ("parallel_product", BinOp::ParallelProduct),
    ("composition", BinOp::Compose),
];

/// Terms with one part that are functions.
pub const FUNCTION: &[(&str, Fun)] = &[
    ("card", Fun::Card),
    ("min", Fun::Min),
    ("max", Fun::Max),
    ("domain", Fun::Dom),
    ("range", Fun::Ran),
    ("identity", Fun::Id),
    ("general_union", Fun::GenUnion),
    ("general_intersection", Fun::GenInter),
    ("pow_subset", Fun::Pow),
    ("pow1_subset", Fun::Pow1),
    ("fin_subset", Fun::Fin),
    ("fin1_subset", Fun::Fin1),
];

fn found<X: Copy>(table: &[(&str, X)], functor: &str) -> Option<X> {
    table.iter().find(|(name, _)| *name == functor).map(|(_, x)| *x)
}
