//! Random projects, written in every form and read back. They need not mean anything: types are not looked at.
//! `KANON_MACHINES` is how many there are.

use super::compare::{difference, lines, proved};
use super::forms::through;
use kanon_language::lang::ast::{BinOp, Binder, Expr, ExprKind, Fun, Ident, Lit, Name, Quant, UnOp};
use kanon_language::lang::composed::Obligation;
use kanon_language::lang::diag::Span;
use kanon_language::lang::eventb::convert::Form;
use kanon_language::lang::eventb::formula::{comprehension, identity, join, partition, projection, with};
use kanon_language::lang::eventb::math::tree::finite;
use kanon_language::lang::eventb::project::{
    Action, ActionKind, Context, Event, Inherited, Labelled, Machine, Project, Status, Witness,
};
use kanon_language::lang::stack::with_large_stack;

const NOWHERE: Span = Span { file: kanon_language::lang::diag::FileId(0), lo: 0, hi: 0 };
const NAMES: [&str; 12] = ["x", "y", "z", "S", "T", "f", "g", "r", "status", "Ünï_1", "refines", "x1"];

struct Random {
    state: u64,
    /// Types where names are bound: packages have no such thing.
    types: bool,
}

fn e(kind: ExprKind) -> Expr {
    Expr { kind, span: NOWHERE }
}

fn id(name: &str) -> Ident {
    Ident { name: name.into(), span: NOWHERE }
}

fn name(name: &str) -> Expr {
    e(ExprKind::Name(name.into()))
}

impl Random {
    fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }

    fn one<X: Copy>(&mut self, of: &[X]) -> X {
        of[self.below(of.len())]
    }

    fn often(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    /// Different names.
    fn ids(&mut self, most: usize) -> Vec<Ident> {
        let mut found: Vec<Ident> = vec![];
        for _ in 0..=self.below(most) {
            let new = id(self.one(&NAMES));
            if !found.contains(&new) {
                found.push(new);
            }
        }
        found
    }

    /// A predicate, with types for some of the names.
    fn typed(&mut self, ids: &[Ident], p: Expr, op: BinOp) -> Expr {
        if !self.types || self.often(70) {
            return p;
        }
        let mut types = vec![];
        for id in ids {
            if self.often(60) {
                let ty = self.expr(1);
                types.push(e(ExprKind::HasType(Box::new(name(&id.name)), Box::new(ty))));
            }
        }
        match types.is_empty() {
            true => p,
            false => with(op, join(BinOp::And, Lit::BTrue, types, NOWHERE), p, NOWHERE),
        }
    }

    fn tuple(&mut self, ids: &[Ident]) -> Expr {
        let mut all = ids.iter().map(|id| name(&id.name));
        let first = all.next().expect("at least one name");
        all.fold(first, |a, b| with(BinOp::Pair, a, b, NOWHERE))
    }

    fn pred(&mut self, depth: usize) -> Expr {
        use BinOp::*;
        const COMPARE: [BinOp; 12] =
            [Eq, Neq, In, NotIn, Subset, NotSubset, StrictSubset, NotStrictSubset, Lt, Le, Gt, Ge];
        if depth == 0 {
            return match self.below(4) {
                0 => e(ExprKind::Lit(self.one(&[Lit::BTrue, Lit::BFalse]))),
                _ => {
                    let (a, b) = (self.expr(0), self.expr(0));
                    with(self.one(&COMPARE), a, b, NOWHERE)
                }
            };
        }
        let d = depth - 1;
        match self.below(10) {
            0 | 1 => {
                let (a, b) = (self.expr(d), self.expr(d));
                with(self.one(&COMPARE), a, b, NOWHERE)
            }
            2 | 3 => {
                let op = self.one(&[And, Or, Implies, Iff]);
                let (a, b) = (self.pred(d), self.pred(d));
                with(op, a, b, NOWHERE)
            }
            4 => {
                let parts = (0..2 + self.below(4)).map(|_| self.pred(d)).collect();
                join(self.one(&[And, Or]), Lit::BTrue, parts, NOWHERE)
            }
            5 => e(ExprKind::Unary(UnOp::Not, Box::new(self.pred(d)))),
            6 | 7 => {
                let (q, op) = self.one(&[(Quant::Forall, Implies), (Quant::Exists, And)]);
                let ids = self.ids(3);
                let p = self.pred(d);
                let p = self.typed(&ids, p, op);
                e(ExprKind::Quant(q, ids, Box::new(p)))
            }
            8 => {
                let s = self.expr(d);
                e(finite(s, NOWHERE))
            }
            _ => {
                let s = self.expr(d);
                let parts = (0..self.below(6))
                    .map(|_| match self.often(50) {
                        true => e(ExprKind::SetExt(vec![self.expr(0)])),
                        false => self.expr(d.min(1)),
                    })
                    .collect();
                partition(s, parts, NOWHERE)
            }
        }
    }

    fn expr(&mut self, depth: usize) -> Expr {
        use BinOp::*;
        const OPS: [BinOp; 30] = [
            Add,
            Sub,
            Mul,
            Div,
            Mod,
            Pow,
            Interval,
            Pair,
            Union,
            Inter,
            Diff,
            Product,
            Rel,
            TotalRel,
            SurjRel,
            TotalSurjRel,
            PartialFun,
            TotalFun,
            PartialInj,
            TotalInj,
            PartialSurj,
            TotalSurj,
            TotalBij,
            DomRestrict,
            DomSubtract,
            RanRestrict,
            RanSubtract,
            Override,
            DirectProduct,
            ParallelProduct,
        ];
        if depth == 0 || self.often(10) {
            return match self.below(6) {
                0 => e(ExprKind::Int((self.below(7) as i64 - 3).into())),
                1 => e(ExprKind::Lit(self.one(&[
                    Lit::True,
                    Lit::False,
                    Lit::BoolSet,
                    Lit::Integer,
                    Lit::Natural,
                    Lit::Natural1,
                    Lit::EmptySet,
                    Lit::Succ,
                    Lit::Pred,
                ]))),
                2 if self.often(50) => match self.below(3) {
                    0 => identity(NOWHERE),
                    1 => projection(Fun::Prj1, NOWHERE),
                    _ => projection(Fun::Prj2, NOWHERE),
                },
                3 if self.often(20) => name("x'"),
                _ => name(self.one(&NAMES)),
            };
        }
        let d = depth - 1;
        match self.below(15) {
            0..=3 => {
                let (a, b) = (self.expr(d), self.expr(d));
                let op = if self.often(5) { Compose } else { self.one(&OPS) };
                with(op, a, b, NOWHERE)
            }
            4 => e(ExprKind::Unary(self.one(&[UnOp::Neg, UnOp::Inverse]), Box::new(self.expr(d)))),
            5 => {
                let (f, x) = (self.expr(d), self.expr(d));
                let plain = match &f.kind {
                    ExprKind::Typed(inner, _) => &inner.kind,
                    kind => kind,
                };
                match plain {
                    ExprKind::Call(fun @ (Fun::Prj1 | Fun::Prj2), args) if args.len() == 2 => {
                        e(ExprKind::Call(*fun, vec![x]))
                    }
                    _ => e(ExprKind::Apply(Box::new(f), vec![x])),
                }
            }
            6 => e(ExprKind::Image(Box::new(self.expr(d)), Box::new(self.expr(d)))),
            7 => {
                const FUNS: [Fun; 11] = [
                    Fun::Card,
                    Fun::Min,
                    Fun::Max,
                    Fun::Dom,
                    Fun::Ran,
                    Fun::GenUnion,
                    Fun::GenInter,
                    Fun::Pow,
                    Fun::Pow1,
                    Fun::Prj1,
                    Fun::Prj2,
                ];
                e(ExprKind::Call(self.one(&FUNS), vec![self.expr(d)]))
            }
            8 => {
                let ids = self.ids(3);
                let (p, value) = (self.pred(d), self.expr(d));
                let p = self.typed(&ids, p, And);
                e(comprehension(ids, p, value))
            }
            9 => {
                let ids = self.ids(3);
                let (p, value) = (self.pred(d), self.expr(d));
                let p = self.typed(&ids, p, And);
                let value = match self.below(3) {
                    0 => self.tuple(&ids),
                    _ => with(Pair, self.tuple(&ids), value, NOWHERE),
                };
                e(comprehension(ids, p, value))
            }
            10 => {
                let ids = self.ids(2);
                let (p, value) = (self.pred(d), self.expr(d));
                let p = self.typed(&ids, p, And);
                e(ExprKind::Bind(
                    self.one(&[Binder::Union, Binder::Inter]),
                    ids,
                    Box::new(p),
                    Box::new(value),
                ))
            }
            11 => {
                let items = (0..=self.below(3)).map(|_| self.expr(d)).collect();
                e(ExprKind::SetExt(items))
            }
            12 => e(ExprKind::Bool(Box::new(self.pred(d)))),
            13 => e(ExprKind::Typed(Box::new(self.expr(d)), Box::new(self.expr(d)))),
            _ => {
                let (c, a, b) = (self.pred(d), self.expr(d), self.expr(d));
                e(ExprKind::If(Box::new(c), Box::new(a), Box::new(b)))
            }
        }
    }

    fn labelled(&mut self, what: &str, most: usize) -> Vec<Labelled> {
        (0..self.below(most))
            .map(|i| {
                let label: Name = match self.below(20) {
                    0 => format!("{what} {i}").into(),
                    1 => format!("ü@{what}'{i}").into(),
                    _ => format!("{what}{i}").into(),
                };
                let label = if self.often(4) { None } else { Some(label) };
                Labelled { label, formula: self.pred(3) }
            })
            .collect()
    }

    fn action(&mut self, i: usize) -> Action {
        let ids = self.ids(3);
        let kind = match self.below(3) {
            0 => ActionKind::Element(ids[0].clone(), self.expr(3)),
            1 => ActionKind::Such(ids, self.pred(3)),
            _ => ActionKind::Assign(ids.into_iter().map(|id| (id, self.expr(2))).collect()),
        };
        Action { label: Some(format!("act{i}").into()), kind, span: NOWHERE }
    }

    fn event(&mut self, title: &str, above: Option<&Machine>) -> Event {
        let mut event = Event::empty(id(title), NOWHERE);
        event.status = self.one(&[Status::Ordinary, Status::Convergent, Status::Anticipated]);
        event.parameters = if self.often(50) { self.ids(3) } else { vec![] };
        event.guards = self.labelled("grd", 4);
        event.theorems = self.labelled("gthm", 2);
        event.actions = (0..self.below(3)).map(|i| self.action(i)).collect();
        let is_initialisation = title == "INITIALISATION";
        if let Some(above) = above {
            if is_initialisation {
                event.refines = vec![id(title)];
            } else if self.often(70) {
                event.refines.extend(above.events.iter().skip(1).take(1).map(|e| e.name.clone()));
                if self.often(30) {
                    event.refines.extend(above.events.get(2).map(|e| e.name.clone()));
                }
            }
            for _ in 0..self.below(3) {
                let of: Name = self.one(&["p", "x'", "q"]).into();
                if event.witnesses.iter().all(|w| w.of.name != of) {
                    let predicate = Labelled { label: Some(of.clone()), formula: self.pred(2) };
                    event.witnesses.push(Witness { of: Ident { name: of, span: NOWHERE }, predicate });
                }
            }
            if event.refines.len() == 1 && self.often(50) {
                let of =
                    above.events.iter().find(|e| e.name.name == event.refines[0].name).expect("an event");
                event.inherited = Inherited {
                    is_extended: true,
                    parameters: of.parameters.len(),
                    guards: of.guards.len(),
                    theorems: of.theorems.len(),
                    actions: of.actions.len(),
                };
                event.parameters.splice(0..0, of.parameters.clone());
                event.guards.splice(0..0, of.guards.clone());
                event.theorems.splice(0..0, of.theorems.clone());
                event.actions.splice(0..0, of.actions.clone());
            }
        }
        event
    }

    fn project(&mut self) -> Project {
        let mut project = Project::default();
        let contexts = self.below(3);
        for i in 0..contexts {
            let mut context = Context::empty(id(&format!("C{i}")));
            context.extends = (i + 1..contexts).take(1).map(|j| id(&format!("C{j}"))).collect();
            context.sets = if self.often(50) { vec![id(&format!("SET{i}"))] } else { vec![] };
            context.constants = if self.often(50) { self.ids(3) } else { vec![] };
            context.axioms = self.labelled("axm", 4);
            context.theorems = self.labelled("thm", 2);
            project.contexts.push(context);
        }
        let levels = 1 + self.below(3);
        let mut above: Option<Machine> = None;
        for i in (0..levels).rev() {
            let mut machine = Machine::empty(id(&format!("M-{i}")));
            machine.refines = above.as_ref().map(|m| m.name.clone());
            machine.sees = if contexts > 0 { vec![id("C0")] } else { vec![] };
            machine.variables = self.ids(4);
            machine.invariants = self.labelled("inv", 4);
            machine.theorems = self.labelled("thm", 2);
            if self.often(30) {
                let label = if self.often(50) { Some("var".into()) } else { None };
                machine.variant = Some(Labelled { label, formula: self.expr(2) });
            }
            machine.events.push(self.event("INITIALISATION", above.as_ref()));
            for j in 0..1 + self.below(3) {
                let event = self.event(&format!("evt{j}"), above.as_ref());
                machine.events.push(event);
            }
            self.about(&machine, &mut project);
            project.machines.insert(0, machine.clone());
            above = Some(machine);
        }
        project
    }

    /// Comments and obligations.
    fn about(&mut self, machine: &Machine, project: &mut Project) {
        let of = &machine.name.name;
        if self.often(30) {
            project.comments.insert(vec![of.clone()], "what it is: \"<&>'".into());
        }
        for v in &machine.variables {
            if self.often(20) {
                project.comments.insert(vec![of.clone(), v.name.clone()], "two\nlines".into());
            }
        }
        for event in &machine.events {
            if self.often(20) {
                project.comments.insert(vec![of.clone(), event.name.name.clone()], "an event".into());
            }
            for invariant in machine.invariants.iter().filter_map(|i| i.label.clone()) {
                let is_discharged = self.often(50);
                let about = vec![("event".into(), event.name.name.clone()), ("invariant".into(), invariant)];
                let what = "Invariant  preservation".into();
                project.obligations.push(Obligation {
                    component: of.clone(),
                    what,
                    sequent: "".into(),
                    about,
                    is_discharged,
                });
            }
            let own = event.guards.iter().skip(event.inherited.guards);
            for guard in own.filter_map(|g| g.label.clone()) {
                let about = vec![("guard".into(), guard), ("event".into(), event.name.name.clone())];
                let what = "Well-definedness of Guard".into();
                let is_discharged = self.often(50);
                project.obligations.push(Obligation {
                    component: of.clone(),
                    what,
                    sequent: "".into(),
                    about,
                    is_discharged,
                });
            }
        }
    }
}

fn survive(seed: u64) -> Result<(), String> {
    for form in Form::ALL {
        let mut random = Random { state: seed, types: form != Form::Package };
        let project = random.project();
        let after = through(&project, form).map_err(|why| format!("{} {seed}: {why}", form.name()))?;
        let shown = |why| format!("{} {seed}: {why}", form.name());
        if let Some(why) = difference(&lines(&project), &lines(&after)) {
            return Err(shown(why));
        }
        if form != Form::Text
            && let Some(why) = difference(&proved(&project), &proved(&after))
        {
            return Err(shown(why));
        }
        if form == Form::Package {
            continue;
        }
        if project.comments != after.comments {
            return Err(shown(format!("{:?}\n{:?}", project.comments, after.comments)));
        }
        let inherited = |p: &Project| -> Vec<Inherited> {
            p.machines.iter().flat_map(|m| &m.events).map(|e| e.inherited).collect()
        };
        if inherited(&project) != inherited(&after) {
            return Err(shown("what is inherited differs".to_string()));
        }
    }
    Ok(())
}

#[test]
fn random_projects_survive_every_form() {
    let n = std::env::var("KANON_MACHINES").ok().and_then(|s| s.parse().ok()).unwrap_or(300);
    let failures =
        with_large_stack(|| (0..n).filter_map(|seed| survive(seed).err()).take(5).collect::<Vec<_>>());
    let failures = failures.expect("a stack");
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
}
