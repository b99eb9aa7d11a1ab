//! Relations: what is related to this, what is the value of a function here.

use super::set::{Ways, groups, is_of_all_integers, sym_pair};
use super::{Closure, Encoder, Lazy, Mutant, Options, Rows, Sym, Truth, Val, ill_typed};
use crate::lang::diag::Span;
use crate::model::reading::is_total;
use crate::model::{BinOp, Fun};
use crate::symbolic::{Res, unlisted};
use crate::value::Value;
use kanon_solver::term::Bool;

impl<'m> Encoder<'m> {
    pub(in crate::symbolic) fn in_domain(&mut self, r: &Sym<'m>, x: &Sym<'m>, span: Span) -> Res<Truth> {
        if let Sym::Lazy(lazy) = r
            && let Lazy::Lambda(c) = &**lazy
        {
            let env = self.at(c, x, span)?;
            return self.pred(&env, c.pred);
        }
        if let Sym::Fun(points) = r {
            let mut ways = vec![];
            for (a, (p, _)) in points.iter() {
                let same = self.eq_value(x, a);
                ways.push(self.terms.and([same, *p]));
            }
            return Ok(Truth::sure(self.terms.or(ways)));
        }
        if let Sym::Set(rows) = r {
            let mut ways = vec![];
            for (a, bs) in groups(rows, span)? {
                let same = self.eq_value(x, &a);
                if same != Bool::FALSE {
                    let some = self.terms.or(bs.into_iter().map(|(_, p)| p));
                    ways.push(self.terms.and([same, some]));
                }
            }
            return Ok(Truth::sure(self.terms.or(ways)));
        }
        let (rows, def) = self.images(r, x, span)?;
        let some = self.terms.or(rows.values().copied());
        Ok(self.truth(some, def))
    }

    // ---- what is related to this?

    /// The rows of a relation that begin with a plain value.
    pub(super) fn rows_from<'r>(rows: &'r Rows, x: &Value) -> impl Iterator<Item = (&'r Value, Bool)> {
        // The least of all values.
        let from = Value::pair(x.clone(), Value::Bool(false));
        let x = x.clone();
        rows.range(from..).map_while(move |(v, p)| match v {
            Value::Pair(pair) if pair.0 == x => Some((&pair.1, *p)),
            _ => None,
        })
    }

    pub(super) fn images(&mut self, r: &Sym<'m>, x: &Sym<'m>, span: Span) -> Res<(Rows, Bool)> {
        match r {
            Sym::Absent => Ok((Rows::new(), Bool::FALSE)),
            Sym::Fun(points) => {
                let mut ways = Ways::new();
                for (a, (p, y)) in points.iter() {
                    let same = self.eq_value(x, a);
                    if same == Bool::FALSE {
                        continue;
                    }
                    for (v, g) in self.options(y, span)? {
                        let g = self.terms.and([same, *p, g]);
                        ways.entry(v).or_default().push(g);
                    }
                }
                Ok((self.rows_of(ways), Bool::TRUE))
            }
            Sym::Set(rows) => {
                let mut ways = Ways::new();
                if let Some(x) = x.value() {
                    for (y, p) in Self::rows_from(rows, &x) {
                        ways.entry(y.clone()).or_default().push(p);
                    }
                } else {
                    for (a, bs) in groups(rows, span)? {
                        let same = self.eq_value(x, &a);
                        if same == Bool::FALSE {
                            continue;
                        }
                        self.spend(bs.len(), span)?;
                        for (b, p) in bs {
                            let p = self.terms.and([same, p]);
                            ways.entry(b).or_default().push(p);
                        }
                    }
                }
                Ok((self.rows_of(ways), Bool::TRUE))
            }
            Sym::Lazy(lazy) => {
                let whole = self.whole_parts(lazy, span)?;
                self.enter(span)?;
                let found = self.lazy_images(&lazy.clone(), x, span);
                self.leave();
                let (rows, def) = found?;
                Ok((rows, self.terms.and([whole, def])))
            }
            _ => ill_typed(span),
        }
    }

    /// Explicit search lists a relation to apply it, or its parts, or its domain, and finds a fault of any element: when
    /// there is none.
    fn whole_parts(&mut self, lazy: &Lazy<'m>, span: Span) -> Res<Bool> {
        let unlisted = |_| unlisted(span, "a value of a relation of which a part may have none");
        let c = match lazy {
            Lazy::Lambda(c) if is_total(c.pred) => c,
            Lazy::Compr(c) | Lazy::Lambda(c) | Lazy::Map(c) if is_total(c.pred) => return Ok(Bool::TRUE),
            Lazy::Compr(_) | Lazy::Lambda(_) | Lazy::Map(_) => return unlisted(()),
            other if self.has_hidden_part(other) => return unlisted(()),
            _ => return Ok(Bool::TRUE),
        };
        if c.body.is_none_or(is_total) || is_of_all_integers(c) {
            return Ok(Bool::TRUE);
        }
        let sweep = self.sweep_locals(&c.env, c.locals, c.pred, true)?;
        let mut defs = vec![sweep.complete];
        for (env, t) in sweep.found {
            let body = self.body(c, &env, span)?;
            defs.push(self.terms.or([!t.yes, body.def]));
        }
        Ok(self.terms.and(defs))
    }

    pub(super) fn lazy_images(&mut self, r: &Lazy<'m>, x: &Sym<'m>, span: Span) -> Res<(Rows, Bool)> {
        // The options of a value as rows, where a condition is true.
        let only = |this: &mut Self, yes: Truth, v: &Sym<'m>| -> Res<(Rows, Bool)> {
            let mut rows = Rows::new();
            for (v, g) in this.options(v, span)? {
                let p = this.terms.and([yes.yes, g]);
                rows.insert(v, p);
            }
            let def = yes.def(&mut this.terms);
            Ok((rows, def))
        };
        Ok(match r {
            Lazy::Lambda(c) => {
                let env = self.at(c, x, span)?;
                let inside = self.pred(&env, c.pred)?;
                if inside.yes == Bool::FALSE {
                    return Ok((Rows::new(), inside.no));
                }
                let body = self.body(c, &env, span)?;
                let (rows, def) = only(self, inside, &body.sym)?;
                let late = self.terms.or([inside.no, body.def]);
                (rows, self.terms.and([def, late]))
            }
            Lazy::Compr(c) if c.locals.len() > 1 => {
                let (known, last) = c.locals.split_at(c.locals.len() - 1);
                let part = Closure { locals: known, ..c.clone() };
                let env = self.at(&part, x, span)?;
                let sweep = self.sweep_locals(&env, last, c.pred, true)?;
                let mut rows = Rows::new();
                let mut def = sweep.complete;
                for (env, t) in sweep.found {
                    let Some(v) = env.local(last[0]).sym.value() else { return ill_typed(span) };
                    rows.insert(v, t.yes);
                    let d = t.def(&mut self.terms);
                    def = self.terms.and([def, d]);
                }
                (rows, def)
            }
            Lazy::Product(a, b) => {
                let inside = self.has(x, a, span)?;
                if inside.yes == Bool::FALSE {
                    return Ok((Rows::new(), inside.no));
                }
                let (targets, listed) = self.rows(b, span)?;
                let mut rows = Rows::new();
                for (v, p) in targets.iter() {
                    rows.insert(v.clone(), self.terms.and([inside.yes, *p]));
                }
                let late = self.terms.and([inside.yes, listed]);
                (rows, self.terms.or([inside.no, late]))
            }
            Lazy::Boole(op, a, b) => {
                let ((p, d), (q, e)) = (self.images(a, x, span)?, self.images(b, x, span)?);
                (self.boole(*op, &p, &q), self.terms.and([d, e]))
            }
            Lazy::Id(s) => {
                let inside = self.has(x, s, span)?;
                only(self, inside, x)?
            }
            Lazy::Prj(kind, a, b) => {
                let (first, second) = sym_pair(x, span)?;
                let parts = [self.has(first, a, span)?, self.has(second, b, span)?];
                let inside = self.strict_and(&parts);
                only(self, inside, if *kind == Fun::Prj1 { first } else { second })?
            }
            Lazy::Shift(n) => {
                let next = self.arithmetic(BinOp::Add, x, &Sym::int(*n), span)?;
                only(self, Truth::YES, &next.sym)?
            }
            Lazy::Restrict(op, r, s) => {
                let (rows, mut def) = self.images(r, x, span)?;
                let mut kept = Rows::new();
                match op {
                    BinOp::DomRestrict | BinOp::DomSubtract => {
                        let inside = self.has(x, s, span)?;
                        let d = inside.def(&mut self.terms);
                        def = self.terms.and([def, d]);
                        let keep = if *op == BinOp::DomRestrict { inside.yes } else { inside.no };
                        for (v, p) in rows {
                            kept.insert(v, self.terms.and([p, keep]));
                        }
                    }
                    _ => {
                        for (v, p) in rows {
                            let inside = self.has(&Sym::ground(&v), s, span)?;
                            let d = inside.def(&mut self.terms);
                            let d = self.terms.or([!p, d]);
                            def = self.terms.and([def, d]);
                            let keep = if *op == BinOp::RanRestrict { inside.yes } else { inside.no };
                            kept.insert(v, self.terms.and([p, keep]));
                        }
                    }
                }
                (kept, def)
            }
            Lazy::Override(f, g) => {
                let (new, d) = self.images(g, x, span)?;
                let some = self.terms.or(new.values().copied());
                if some == Bool::TRUE {
                    return Ok((new, d));
                }
                let (old, e) = self.images(f, x, span)?;
                let mut ways = Ways::new();
                for (v, p) in new {
                    ways.entry(v).or_default().push(p);
                }
                for (v, p) in old {
                    let p = self.terms.and([!some, p]);
                    ways.entry(v).or_default().push(p);
                }
                let late = self.terms.or([some, e]);
                (self.rows_of(ways), self.terms.and([d, late]))
            }
            Lazy::Compose(r, s) => {
                let (middle, mut def) = self.images(r, x, span)?;
                let mut ways = Ways::new();
                for (y, p) in middle {
                    let (ends, d) = self.images(s, &Sym::ground(&y), span)?;
                    let d = self.terms.or([!p, d]);
                    def = self.terms.and([def, d]);
                    for (z, q) in ends {
                        let q = self.terms.and([p, q]);
                        ways.entry(z).or_default().push(q);
                    }
                }
                (self.rows_of(ways), def)
            }
            Lazy::Direct(r, s) => {
                let ((p, d), (q, e)) = (self.images(r, x, span)?, self.images(s, x, span)?);
                (self.product(&p, &q, span)?, self.terms.and([d, e]))
            }
            Lazy::Parallel(r, s) => {
                let (first, second) = sym_pair(x, span)?;
                let ((p, d), (q, e)) = (self.images(r, first, span)?, self.images(s, second, span)?);
                (self.product(&p, &q, span)?, self.terms.and([d, e]))
            }
            Lazy::If(cond, a, b) => {
                let ((p, d), (q, e)) = (self.images(a, x, span)?, self.images(b, x, span)?);
                let chosen = self.ite(*cond, &Sym::set(p), &Sym::set(q), span)?;
                let (rows, _) = self.rows(&chosen, span)?;
                ((*rows).clone(), self.terms.ite(*cond, d, e))
            }
            _ => {
                let (rows, def) = self.expand(r, span)?;
                let (found, _) = self.images(&Sym::set(rows), x, span)?;
                (found, def)
            }
        })
    }

    /// f(x): what f relates to x, if that is one value.
    pub(in crate::symbolic) fn apply(&mut self, f: &Sym<'m>, x: &Sym<'m>, span: Span) -> Res<Val<'m>> {
        self.spend(1, span)?;
        if let Sym::Lazy(lazy) = f {
            let whole = self.whole_parts(lazy, span)?;
            let found = self.apply_whole(f, x, span)?;
            return Ok(self.needs(found, whole));
        }
        self.apply_whole(f, x, span)
    }

    /// The same, if no part of the relation has a fault.
    fn apply_whole(&mut self, f: &Sym<'m>, x: &Sym<'m>, span: Span) -> Res<Val<'m>> {
        match f {
            Sym::Absent => return Ok(Val::none()),
            Sym::Set(rows) => return self.apply_rows(rows, x, span),
            Sym::Fun(points) => {
                let mut value = Sym::Absent;
                let mut defs = vec![];
                for (a, (p, y)) in points.iter() {
                    let same = self.eq_value(x, a);
                    if same != Bool::FALSE && *p != Bool::FALSE {
                        self.spend(1, span)?;
                        defs.push(self.terms.and([same, *p]));
                        value = self.ite(same, y, &value, span)?;
                    }
                }
                let anywhere = self.mutant == Mutant::AppliedAnywhere && !defs.is_empty();
                let def = if anywhere { Bool::TRUE } else { self.terms.or(defs) };
                return Ok(if def == Bool::FALSE { Val::none() } else { Val { sym: value, def } });
            }
            Sym::Lazy(lazy) => match &**lazy {
                Lazy::Lambda(c) => {
                    let env = self.at(c, x, span)?;
                    let inside = self.pred(&env, c.pred)?;
                    if inside.yes == Bool::FALSE {
                        return Ok(Val::none());
                    }
                    let body = self.body(c, &env, span)?;
                    return Ok(self.needs(body, inside.yes));
                }
                Lazy::Shift(n) => return self.arithmetic(BinOp::Add, x, &Sym::int(*n), span),
                Lazy::Id(s) => {
                    let inside = self.has(x, s, span)?;
                    return Ok(self.needs(Val::sure(x.clone()), inside.yes));
                }
                Lazy::Prj(kind, a, b) => {
                    let (first, second) = sym_pair(x, span)?;
                    let parts = [self.has(first, a, span)?, self.has(second, b, span)?];
                    let inside = self.strict_and(&parts);
                    let part = if *kind == Fun::Prj1 { first } else { second };
                    return Ok(self.needs(Val::sure(part.clone()), inside.yes));
                }
                Lazy::Override(f, g) => {
                    let new = self.in_domain(g, x, span)?;
                    let def = new.def(&mut self.terms);
                    let (new_value, old_value) = match new.yes {
                        Bool::TRUE => (self.apply(g, x, span)?, Val::none()),
                        Bool::FALSE => (Val::none(), self.apply(f, x, span)?),
                        _ => (self.apply(g, x, span)?, self.apply(f, x, span)?),
                    };
                    let v = self.ite_val(new.yes, new_value, old_value, span)?;
                    return Ok(self.needs(v, def));
                }
                Lazy::Restrict(op @ (BinOp::DomRestrict | BinOp::DomSubtract), r, s) => {
                    let inside = self.has(x, s, span)?;
                    let inside = if *op == BinOp::DomRestrict { inside.yes } else { inside.no };
                    let v = self.apply(r, x, span)?;
                    return Ok(self.needs(v, inside));
                }
                Lazy::If(cond, a, b) => {
                    let (a, b) = (self.apply(a, x, span)?, self.apply(b, x, span)?);
                    return self.ite_val(*cond, a, b, span);
                }
                _ => {}
            },
            _ => return ill_typed(span),
        }
        let (rows, def) = self.images(f, x, span)?;
        let of: Vec<Bool> = rows.values().copied().collect();
        let one = self.exactly_one(&of);
        let def = self.terms.and([def, one]);
        let sym = self.pick(rows.into_iter().map(|(v, p)| (v, vec![p])).collect());
        Ok(if def == Bool::FALSE { Val::none() } else { Val { sym, def } })
    }

    pub(super) fn apply_rows(&mut self, rows: &Rows, x: &Sym<'m>, span: Span) -> Res<Val<'m>> {
        let mut options = Options::new();
        let mut defs = vec![];
        let mut add = |this: &mut Self, same: Bool, bs: Vec<(Value, Bool)>| -> Res<()> {
            this.spend(bs.len(), span)?;
            let of: Vec<Bool> = bs.iter().map(|(_, p)| *p).collect();
            // Said once for each argument, however often the function is applied.
            let one = match this.mutant {
                Mutant::AppliedToMany => this.terms.or(of),
                _ => this.exactly_one(&of),
            };
            if one == Bool::FALSE {
                return Ok(());
            }
            defs.push(this.terms.and([same, one]));
            for (b, p) in bs {
                let p = this.terms.and([same, p]);
                options.entry(b).or_default().push(p);
            }
            Ok(())
        };
        if let Some(x) = x.value() {
            let bs = Self::rows_from(rows, &x).map(|(b, p)| (b.clone(), p)).collect();
            add(self, Bool::TRUE, bs)?;
        } else {
            self.spend(rows.len(), span)?;
            for (a, bs) in groups(rows, span)? {
                let same = self.eq_value(x, &a);
                if same != Bool::FALSE {
                    add(self, same, bs)?;
                }
            }
        }
        if options.is_empty() {
            return Ok(Val::none());
        }
        let def = if self.mutant == Mutant::AppliedAnywhere { Bool::TRUE } else { self.terms.or(defs) };
        let sym = self.pick(options);
        Ok(if def == Bool::FALSE { Val::none() } else { Val { sym, def } })
    }

    // ---- what are the elements?
}
