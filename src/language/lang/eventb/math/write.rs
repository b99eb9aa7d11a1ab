//! Trees to texts in Event-B's notation, with no more parentheses than needed. What [`super::parse`] reads back is the
//! same tree, but for how chains of `∧` and `∨` are nested.
//!
//! Trees may hold more than the language has: packages have operators of theories replaced by what they stand for, and
//! records and sequences are among that. Such a thing is an error with its name.

use super::words::{self, Infix, Sign, are_compatible, is_name};
use crate::lang::ast::{BinOp, Binder, Expr, ExprKind, Fun, Ident, Lit, Name, Quant, UnOp};
use crate::lang::diag::Span;
use crate::lang::eventb::formula::partition;
use crate::lang::eventb::project::ActionKind;
use crate::lang::notation::fun_name;
use crate::lang::walk::children_mut;

/// Who reads the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum For {
    /// Rodin, which has characters of its own for four operators.
    Rodin,
    /// People and their editors, which do not have these.
    People,
}

/// What the language has no word for.
pub type Missing = String;

/// A predicate or expression.
///
/// # Errors
/// What cannot be written.
pub fn formula(e: &Expr, whom: For) -> Result<String, Missing> {
    let mut writer = Writer { out: String::new(), whom };
    writer.formula(e, 0)?;
    Ok(writer.out)
}

/// An action.
///
/// # Errors
/// What cannot be written.
pub fn action(kind: &ActionKind, whom: For) -> Result<String, Missing> {
    let mut writer = Writer { out: String::new(), whom };
    match kind {
        ActionKind::Assign(pairs) => {
            writer.names(pairs.iter().map(|(x, _)| &x.name), ", ")?;
            writer.put(" ≔ ");
            for (i, (_, e)) in pairs.iter().enumerate() {
                writer.put(if i > 0 { ", " } else { "" });
                writer.formula(e, 0)?;
            }
        }
        ActionKind::Element(x, set) => {
            writer.name(&x.name)?;
            writer.put(" :∈ ");
            writer.formula(set, 0)?;
        }
        ActionKind::Such(xs, p) => {
            writer.names(xs.iter().map(|x| &x.name), ", ")?;
            writer.put(" :∣ ");
            writer.formula(p, 0)?;
        }
    }
    Ok(writer.out)
}

/// The same tree with all places gone, so that trees can be compared.
pub fn without_places(e: &Expr) -> Expr {
    fn clear(e: &mut Expr) {
        e.span = Span::default();
        match &mut e.kind {
            ExprKind::Quant(_, ids, _)
            | ExprKind::Compr(ids, _)
            | ExprKind::Bind(_, ids, ..)
            | ExprKind::ComprMap(ids, ..)
            | ExprKind::Let(ids, ..) => ids.iter_mut().for_each(|id| id.span = Span::default()),
            ExprKind::Rec(fields) | ExprKind::Struct(fields) => {
                fields.iter_mut().for_each(|(id, _)| id.span = Span::default());
            }
            ExprKind::Field(_, id) => id.span = Span::default(),
            _ => {}
        }
        children_mut(e, &mut clear);
    }
    let mut e = e.clone();
    clear(&mut e);
    e
}

fn same(a: &Expr, b: &Expr) -> bool {
    // Most differ at once.
    std::mem::discriminant(&a.kind) == std::mem::discriminant(&b.kind)
        && without_places(a) == without_places(b)
}

struct Writer {
    out: String,
    whom: For,
}

type Done = Result<(), Missing>;

impl Writer {
    fn put(&mut self, text: &str) {
        self.out.push_str(text);
    }

    fn sign(&mut self, sign: Sign) -> Done {
        let plain = match sign {
            Sign::Op(BinOp::TotalRel) => Some("<<->"),
            Sign::Op(BinOp::SurjRel) => Some("<->>"),
            Sign::Op(BinOp::TotalSurjRel) => Some("<<->>"),
            Sign::Op(BinOp::Override) => Some("<+"),
            _ => None,
        };
        let text = match self.whom {
            For::People => plain.or_else(|| words::spelling(sign)),
            For::Rodin => words::spelling(sign),
        };
        match text {
            Some(text) => {
                self.put(text);
                Ok(())
            }
            None => Err("this operator".to_string()),
        }
    }

    fn name(&mut self, name: &str) -> Done {
        if !is_name(name.strip_suffix('\'').unwrap_or(name)) {
            return Err(format!("the name `{name}`"));
        }
        self.put(name);
        Ok(())
    }

    /// Only names of new values have a prime.
    fn bound_name(&mut self, name: &str) -> Done {
        match name.contains('\'') {
            true => Err(format!("the bound name `{name}`")),
            false => self.name(name),
        }
    }

    fn names<'n>(&mut self, names: impl Iterator<Item = &'n Name>, between: &str) -> Done {
        for (i, name) in names.enumerate() {
            self.put(if i > 0 { between } else { "" });
            self.name(name)?;
        }
        Ok(())
    }

    /// A formula where operators bind at least so tightly, or in parentheses.
    fn formula(&mut self, e: &Expr, least: u8) -> Done {
        let needs = priority(e) < least;
        self.put(if needs { "(" } else { "" });
        self.inside(e)?;
        self.put(if needs { ")" } else { "" });
        Ok(())
    }

    fn call(&mut self, sign: Sign, arguments: &[&Expr]) -> Done {
        self.sign(sign)?;
        self.put("(");
        for (i, a) in arguments.iter().enumerate() {
            self.put(if i > 0 { ", " } else { "" });
            self.formula(a, 0)?;
        }
        self.put(")");
        Ok(())
    }

    fn inside(&mut self, e: &Expr) -> Done {
        if let Some(s) = is_finite(e) {
            return self.call(Sign::Finite, &[s]);
        }
        if let Some((s, parts)) = is_partition(e) {
            let all: Vec<&Expr> = [s].into_iter().chain(parts).collect();
            return self.call(Sign::Partition, &all);
        }
        match &e.kind {
            ExprKind::Name(name) => self.name(name),
            ExprKind::Int(i) => {
                let text = i.to_string().replace('-', "−");
                self.put(&text);
                Ok(())
            }
            ExprKind::Lit(lit) if words::spelling(Sign::Lit(*lit)).is_some() => self.sign(Sign::Lit(*lit)),
            ExprKind::Unary(UnOp::Not, p) => {
                self.sign(Sign::Not)?;
                self.formula(p, words::NEGATION)
            }
            ExprKind::Unary(UnOp::Neg, x) => {
                self.sign(Sign::Op(BinOp::Sub))?;
                // `−1` is a number, `−(1)` an operation.
                let is_literal = matches!(x.kind, ExprKind::Int(_));
                self.formula(x, if is_literal { u8::MAX } else { words::TERM })
            }
            ExprKind::Unary(UnOp::Inverse, r) => {
                self.formula(r, words::OPERAND)?;
                self.sign(Sign::Inverse)
            }
            ExprKind::Binary(op @ (BinOp::And | BinOp::Or), ..) => {
                let mut parts = vec![];
                leaves(*op, e, &mut parts);
                for (i, part) in parts.into_iter().enumerate() {
                    if i > 0 {
                        self.between(Infix::Op(*op))?;
                    }
                    self.formula(part, words::LOGIC + 1)?;
                }
                Ok(())
            }
            ExprKind::Binary(op, a, b) => self.binary(Infix::Op(*op), a, b),
            ExprKind::Typed(a, b) => self.binary(Infix::Typed, a, b),
            ExprKind::Apply(f, args) => {
                self.formula(f, words::OPERAND)?;
                self.put("(");
                for (i, arg) in args.iter().enumerate() {
                    if i > 0 {
                        self.between(Infix::Op(BinOp::Pair))?;
                    }
                    let least = if args.len() == 1 { 0 } else { words::PAIR + 1 };
                    self.formula(arg, least)?;
                }
                self.put(")");
                Ok(())
            }
            ExprKind::Image(r, s) => {
                self.formula(r, words::OPERAND)?;
                self.put("[");
                self.formula(s, 0)?;
                self.put("]");
                Ok(())
            }
            ExprKind::Call(fun, args) => self.function(*fun, args),
            ExprKind::Bool(p) => self.call(Sign::Bool, &[p]),
            ExprKind::If(c, a, b) => self.call(Sign::Cond, &[c, a, b]),
            ExprKind::Quant(q, ids, body) => {
                let (sign, op) = match q {
                    Quant::Forall => (Sign::Forall, BinOp::Implies),
                    Quant::Exists => (Sign::Exists, BinOp::And),
                };
                self.sign(sign)?;
                let (types, p) = typed(ids, body, op);
                self.binders(ids, &types, ",")?;
                self.sign(Sign::Dot)?;
                self.formula(p, 0)
            }
            ExprKind::Bind(binder, ids, p, value) => {
                let (sign, between) = match binder {
                    Binder::Lambda => (Sign::Lambda, " ↦ "),
                    Binder::Union => (Sign::BigUnion, ","),
                    Binder::Inter => (Sign::BigInter, ","),
                    Binder::Sigma | Binder::Pi => return Err("a sum or product over a set".to_string()),
                };
                self.sign(sign)?;
                self.bound(ids, p, value, between)
            }
            ExprKind::ComprMap(ids, p, value) => {
                self.put("{");
                self.bound(ids, p, value, ",")?;
                self.put("}");
                Ok(())
            }
            ExprKind::Compr(ids, p) => {
                self.put("{");
                if let Some(id) = ids.iter().find(|id| id.name.contains('\'')) {
                    return Err(format!("the bound name `{}`", id.name));
                }
                let (types, p) = typed(ids, p, BinOp::And);
                match types.is_empty() {
                    true => self.names(ids.iter().map(|id| &id.name), " ↦ ")?,
                    false => {
                        self.binders(ids, &types, ",")?;
                        self.sign(Sign::Dot)?;
                        self.formula(p, 0)?;
                        self.put(" ∣ ");
                        self.names(ids.iter().map(|id| &id.name), " ↦ ")?;
                    }
                }
                if types.is_empty() {
                    self.put(" ∣ ");
                    self.formula(p, 0)?;
                }
                self.put("}");
                Ok(())
            }
            ExprKind::SetExt(items) => {
                self.put("{");
                for (i, item) in items.iter().enumerate() {
                    self.put(if i > 0 { ", " } else { "" });
                    self.formula(item, 0)?;
                }
                self.put("}");
                Ok(())
            }
            other => Err(missing(other)),
        }
    }

    /// `x, y·P ∣ E`
    fn bound(&mut self, ids: &[Ident], p: &Expr, value: &Expr, between: &str) -> Done {
        let (types, p) = typed(ids, p, BinOp::And);
        self.binders(ids, &types, between)?;
        self.sign(Sign::Dot)?;
        self.formula(p, 0)?;
        self.put(" ∣ ");
        self.formula(value, 0)
    }

    fn binders(&mut self, ids: &[Ident], types: &[(&Name, &Expr)], between: &str) -> Done {
        for (i, id) in ids.iter().enumerate() {
            self.put(if i > 0 { between } else { "" });
            self.bound_name(&id.name)?;
            if let Some((_, ty)) = types.iter().find(|(name, _)| **name == id.name) {
                self.sign(Sign::OfType)?;
                self.formula(ty, words::RELATION)?;
            }
        }
        Ok(())
    }

    fn between(&mut self, op: Infix) -> Done {
        self.put(" ");
        self.sign(match op {
            Infix::Op(op) => Sign::Op(op),
            Infix::Ring => Sign::Ring,
            Infix::Typed => Sign::OfType,
        })?;
        self.put(" ");
        Ok(())
    }

    fn binary(&mut self, op: Infix, a: &Expr, b: &Expr) -> Done {
        let level = op.priority();
        let fits = top(a).is_none_or(|inner| inner.priority() != level || are_compatible(inner, op));
        self.formula(a, if fits { level } else { level + 1 })?;
        self.between(op)?;
        self.formula(b, level + 1)
    }

    fn function(&mut self, fun: Fun, args: &[Expr]) -> Done {
        let is_whole = |e: &Expr| matches!(e.kind, ExprKind::Lit(Lit::Whole));
        match (fun, args) {
            (Fun::Id, [s]) | (Fun::Prj1 | Fun::Prj2, [s, _]) if is_whole(s) => self.sign(Sign::Generic(fun)),
            (Fun::Prj1 | Fun::Prj2, [couple]) => self.call(Sign::Generic(fun), &[couple]),
            // Rodin's first language had these.
            (Fun::Id, [s]) => {
                self.formula(s, words::SETS + 1)?;
                self.between(Infix::Op(BinOp::DomRestrict))?;
                self.sign(Sign::Generic(fun))
            }
            (Fun::Prj1 | Fun::Prj2, [a, b]) => {
                self.put("(");
                self.binary(Infix::Op(BinOp::Product), a, b)?;
                self.put(")");
                self.between(Infix::Op(BinOp::DomRestrict))?;
                self.sign(Sign::Generic(fun))
            }
            (fun, [e]) if words::spelling(Sign::Fun(fun)).is_some() => self.call(Sign::Fun(fun), &[e]),
            (fun, _) => Err(format!("`{}`", fun_name(fun))),
        }
    }
}

fn leaves<'e>(op: BinOp, e: &'e Expr, found: &mut Vec<&'e Expr>) {
    match &e.kind {
        ExprKind::Binary(found_op, a, b) if *found_op == op && is_partition(e).is_none() => {
            leaves(op, a, found);
            leaves(op, b, found);
        }
        _ => found.push(e),
    }
}

/// Types that were written where names are bound, and the rest of the predicate.
fn typed<'e>(ids: &[Ident], p: &'e Expr, op: BinOp) -> (Vec<(&'e Name, &'e Expr)>, &'e Expr) {
    fn collect<'e>(e: &'e Expr, found: &mut Vec<(&'e Name, &'e Expr)>) -> bool {
        match &e.kind {
            ExprKind::Binary(BinOp::And, a, b) => collect(a, found) && collect(b, found),
            ExprKind::HasType(x, ty) => match &x.kind {
                ExprKind::Name(name) => {
                    found.push((name, ty));
                    true
                }
                _ => false,
            },
            _ => false,
        }
    }
    let mut found = vec![];
    if let ExprKind::Binary(found_op, types, rest) = &p.kind
        && *found_op == op
        && collect(types, &mut found)
        && found.iter().all(|(name, _)| ids.iter().any(|id| id.name == **name))
    {
        return (found, rest);
    }
    (vec![], p)
}

/// What is said to be finite.
pub fn is_finite(e: &Expr) -> Option<&Expr> {
    let ExprKind::Binary(BinOp::In, s, subsets) = &e.kind else { return None };
    let ExprKind::Call(Fun::Fin, of) = &subsets.kind else { return None };
    let [of] = &of[..] else { return None };
    same(s, of).then_some(s)
}

/// `partition(S, A, B, …)`, by what it stands for.
pub fn is_partition(e: &Expr) -> Option<(&Expr, Vec<&Expr>)> {
    let ExprKind::Binary(BinOp::And, ..) = &e.kind else { return None };
    // The claims of a partition are joined to a tree of small height.
    let mut claims = vec![];
    let mut todo = vec![e];
    while let Some(e) = todo.pop() {
        match &e.kind {
            ExprKind::Binary(BinOp::And, a, b) => todo.extend([&**b, &**a]),
            _ => claims.push(e),
        }
    }
    let pairs = claims.len() - 1;
    let n = (1..).find(|n| n * (n - 1) / 2 >= pairs).filter(|n| n * (n - 1) / 2 == pairs)?;
    let ExprKind::Binary(BinOp::Eq, set, _) = &claims[0].kind else { return None };
    // The first n - 1 claims about pairs are about the first part and each other one.
    let mut parts: Vec<&Expr> = vec![];
    let mut singles: Vec<Option<&Expr>> = vec![];
    for claim in &claims[1..n] {
        let (a, b) = match &claim.kind {
            ExprKind::Binary(BinOp::Eq, common, none)
                if matches!(none.kind, ExprKind::Lit(Lit::EmptySet)) =>
            {
                let ExprKind::Binary(BinOp::Inter, a, b) = &common.kind else { return None };
                (a, b)
            }
            ExprKind::Binary(BinOp::Neq, ..) => {
                singles.push(Some(claim));
                continue;
            }
            _ => return None,
        };
        if parts.is_empty() {
            parts.push(a);
        }
        parts.push(b);
        singles.push(None);
    }
    // Parts with one element are not in the claims as sets, but in the union.
    if singles.iter().any(Option::is_some) {
        let ExprKind::Binary(BinOp::Eq, _, union) = &claims[0].kind else { return None };
        parts = parts_of(union, n)?;
    }
    let made = partition((**set).clone(), parts.iter().map(|e| (*e).clone()).collect(), e.span);
    (without_places(&made) == without_places(e)).then_some((set, parts))
}

/// The n parts of a union that was joined from them.
fn parts_of(union: &Expr, n: usize) -> Option<Vec<&Expr>> {
    if n == 1 {
        return Some(vec![union]);
    }
    let ExprKind::Binary(BinOp::Union, a, b) = &union.kind else { return None };
    // Joining puts the largest power of two that is less than n to the left.
    let left = n.next_power_of_two() / 2;
    let mut parts = parts_of(a, left)?;
    parts.extend(parts_of(b, n - left)?);
    Some(parts)
}

/// The operator outside of all parentheses, if it is between two operands or a minus.
fn top(e: &Expr) -> Option<Infix> {
    match &e.kind {
        ExprKind::Binary(op, ..) => Some(Infix::Op(*op)),
        ExprKind::Typed(..) => Some(Infix::Typed),
        ExprKind::Unary(UnOp::Neg, _) => Some(Infix::Op(BinOp::Sub)),
        ExprKind::Int(i) if i.sign() == num_bigint::Sign::Minus => Some(Infix::Op(BinOp::Sub)),
        ExprKind::Call(fun, _) if restricted(e, *fun) => Some(Infix::Op(BinOp::DomRestrict)),
        _ => None,
    }
}

/// `id(S)` and `prj1(S, T)` of Rodin's first language are written with an operator.
fn restricted(e: &Expr, fun: Fun) -> bool {
    let ExprKind::Call(_, args) = &e.kind else { return false };
    let wanted = if fun == Fun::Id { 1 } else { 2 };
    matches!(fun, Fun::Id | Fun::Prj1 | Fun::Prj2)
        && args.len() == wanted
        && !matches!(args[0].kind, ExprKind::Lit(Lit::Whole))
}

fn priority(e: &Expr) -> u8 {
    if is_finite(e).is_some() || is_partition(e).is_some() {
        return words::OPERAND;
    }
    match &e.kind {
        ExprKind::Quant(..) | ExprKind::Bind(..) => 0,
        ExprKind::Unary(UnOp::Not, _) => words::NEGATION,
        _ => top(e).map_or(words::OPERAND, Infix::priority),
    }
}

/// What the language has no word for.
fn missing(kind: &ExprKind) -> Missing {
    match kind {
        ExprKind::Str(_) => "a string",
        ExprKind::Real(_) => "a real number",
        ExprKind::SeqExt(_) => "a sequence",
        ExprKind::Rec(_) | ExprKind::Struct(_) | ExprKind::Field(..) => "a record",
        ExprKind::Let(..) => "LET",
        ExprKind::Lit(Lit::StringSet) => "the set of strings",
        ExprKind::Lit(_) => "a literal of classical B",
        _ => "this formula",
    }
    .to_string()
}
