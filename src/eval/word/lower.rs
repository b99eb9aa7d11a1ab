//! From compiled trees to the fast tier. What answers `None` stays with the general evaluator: a part of an
//! expression becomes a slow part, an operation is run in the old way as a whole.

use super::plan::{Bound, Each, Generator, Pattern, Plan, PlanStep};
use super::pred::{self, Pred};
use super::tidy::{all_of, always_decided, any_of, equal, is_placed, narrowed, negated, total};
use super::{Code, Frame, Int, Op, Packed, PackedOp, Remembered, Slow, W, Word, reads};
use crate::eval::code as general;
use crate::eval::compile::{self, SlotInfo};
use crate::eval::memo::Keyed;
use crate::eval::node::{self, Atom, Binary, Node, Slot, Special, Test, TypedOp, Unary};
use crate::eval::plan as general_plan;
use crate::lang::diag::Span;
use crate::value::packed::Packing;
use crate::value::rep::{R, Rep, Shape, low};
use crate::value::table::Table;
use crate::value::val::Val;
use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;

/// What is known of a constant when its valuations are.
#[derive(Clone, Debug)]
pub enum Known {
    /// The same word in all of them.
    Fixed(u64),
    /// A word in each of them.
    Word,
    /// Symbolic in some.
    Symbolic,
}

/// An operation on words.
#[derive(Debug)]
pub struct WordEvent {
    pub plan: Plan,
    pub code: Code,
}

pub struct Lower<'a> {
    pub slots: &'a [SlotInfo],
    pub table: &'a Table,
    /// By slot.
    pub constants: &'a [Known],
    pub variables: Range<Slot>,
    /// Locals that have a value, as far as the lowering has come.
    bound: BTreeSet<Slot>,
    /// Places that remember so far.
    pub sites: usize,
}

impl<'a> Lower<'a> {
    pub fn new(
        slots: &'a [SlotInfo],
        table: &'a Table,
        constants: &'a [Known],
        variables: Range<Slot>,
    ) -> Lower<'a> {
        Lower { slots, table, constants, variables, bound: BTreeSet::new(), sites: 0 }
    }

    pub fn event(&mut self, e: &compile::CompiledEvent) -> Option<WordEvent> {
        self.bound.clear();
        self.bound.extend(&e.params[..e.given]);
        let plan = self.plan(&e.plan)?;
        let code = self.code(&e.code)?;
        // A result that nothing was assigned to has no word.
        let known = e.params.iter().chain(&e.results).all(|s| self.bound.contains(s));
        known.then_some(WordEvent { plan, code })
    }

    /// A test outside of operations. It always has a form: in the worst case all of it is slow.
    pub fn closed(&mut self, test: &Test) -> Option<Pred> {
        self.bound.clear();
        self.pred(test)
    }

    /// The same for a test that reads some locals, too.
    pub fn open(&mut self, test: &Test, locals: impl Iterator<Item = Slot>) -> Option<Pred> {
        self.bound.clear();
        self.bound.extend(locals);
        self.pred(test)
    }

    /// The slots that a test reads.
    pub fn reads(&self, test: &Test) -> BTreeSet<Slot> {
        reads::of_test(test)
    }

    /// An expression outside of operations.
    pub fn closed_value(&mut self, node: &Node, rep: &R) -> Option<Word> {
        self.bound.clear();
        self.value(node, rep)
    }

    fn rep(&self, slot: Slot) -> &R {
        &self.slots[slot as usize].rep
    }

    /// Whether a slot has a word whenever the code that is lowered now runs.
    fn readable(&self, slot: Slot) -> bool {
        match self.constants.get(slot as usize) {
            Some(known) => !matches!(known, Known::Symbolic),
            None => self.variables.contains(&slot) || self.bound.contains(&slot),
        }
    }

    // ---- expressions ----------------------------------------------------------------------------------------

    /// A value that gets its form: what a variable is assigned, for instance.
    fn value(&mut self, node: &Node, rep: &R) -> Option<Word> {
        match self.typed(node, rep) {
            None => self.slow(node, rep),
            word => word,
        }
    }

    /// A value of this representation that is never symbolic.
    fn typed(&mut self, node: &Node, rep: &R) -> Option<Word> {
        Some(match node {
            Node::Const(v @ (Val::Set(_) | Val::Seq(_))) => Word::Const(self.table.encode(v, rep)),
            Node::If(c, a, b) => {
                Word::If(Box::new(self.pred(c)?), self.boxed_typed(a, rep)?, self.boxed_typed(b, rep)?)
            }
            Node::Let(defs, body) => Word::Let(self.defs(defs)?, self.boxed_typed(body, rep)?),
            node => return self.word(node),
        })
    }

    fn boxed_typed(&mut self, node: &Node, rep: &R) -> Option<W> {
        self.typed(node, rep).map(Box::new)
    }

    fn boxed(&mut self, node: &Node) -> Option<W> {
        self.word(node).map(Box::new)
    }

    /// A value that is never symbolic, where its form tells its word.
    fn word(&mut self, node: &Node) -> Option<Word> {
        Some(match node {
            // The word of a list depends on its type.
            Node::Const(Val::None | Val::Lazy(_) | Val::Set(_) | Val::Seq(_)) => return None,
            Node::Const(Val::W(w)) => Word::Const(*w),
            Node::Const(v @ (Val::I(_) | Val::Big(_))) => Word::Const(self.table.of_integer(v)),
            Node::Const(v) => Word::Const(self.table.intern(v)),
            Node::Slot(s, _) if self.readable(*s) => match self.constants.get(*s as usize) {
                Some(Known::Fixed(w)) => Word::Const(*w),
                _ => Word::Slot(*s),
            },
            Node::Slot(..) => return None,
            Node::Bool(t) => Word::Bool(Box::new(self.pred(t)?)),
            Node::PairW { a, b, nb } => Word::Pair { a: self.boxed(a)?, b: self.boxed(b)?, nb: *nb },
            Node::FirstW { p, nb } => Word::First { p: self.boxed(p)?, nb: *nb },
            Node::SecondW { p, nb } => Word::Second { p: self.boxed(p)?, nb: *nb },
            Node::OrW(a, b) => match (self.boxed(a)?, self.word(b)?) {
                (s, Word::Single(x)) => Word::With(s, x),
                (a, b) => Word::Or(a, Box::new(b)),
            },
            Node::AndW(a, b) => Word::And(self.boxed(a)?, self.boxed(b)?),
            Node::AndNotW(a, b) => match (self.boxed(a)?, self.word(b)?) {
                (s, Word::Single(x)) => Word::Without(s, x),
                (a, b) => Word::AndNot(a, Box::new(b)),
            },
            Node::SingleW(a) => Word::Single(self.boxed(a)?),
            Node::ApplyW { f, x, nb, span } => {
                Word::Apply { f: self.boxed(f)?, x: self.boxed(x)?, nb: *nb, span: *span }
            }
            Node::ImageW { r, s, nb } => Word::Image { r: self.boxed(r)?, s: self.boxed(s)?, nb: *nb },
            Node::DomW { r, na, nb } => Word::Dom { r: self.boxed(r)?, na: *na, nb: *nb },
            Node::RanW { r, na, nb } => Word::Ran { r: self.boxed(r)?, na: *na, nb: *nb },
            Node::InverseW { r, na, nb } => Word::Inverse { r: self.boxed(r)?, na: *na, nb: *nb },
            Node::ComposeW { r, s, na, nb, nc } => {
                Word::Compose { r: self.boxed(r)?, s: self.boxed(s)?, na: *na, nb: *nb, nc: *nc }
            }
            Node::OverrideW { r, s, na, nb } => match (self.boxed(r)?, self.word(s)?) {
                (f, Word::Single(pair)) if matches!(*pair, Word::Pair { .. }) => {
                    let Word::Pair { a: x, b: y, .. } = *pair else { return None };
                    Word::Update { f, x, y, nb: *nb }
                }
                (r, s) => Word::Override { r, s: Box::new(s), na: *na, nb: *nb },
            },
            Node::UpdateW { f, x, y, nb } => {
                Word::Update { f: self.boxed(f)?, x: self.boxed(x)?, y: self.boxed(y)?, nb: *nb }
            }
            Node::RestrictW { how, r, s, na, nb } => match (self.boxed(r)?, self.word(s)?) {
                (r, Word::Single(x)) if how.by_domain => Word::Row { r, x, nb: *nb, subtract: how.subtract },
                (r, s) => Word::Restrict { how: *how, r, s: Box::new(s), na: *na, nb: *nb },
            },
            Node::ProductW { a, b, nb } => Word::Product { a: self.boxed(a)?, b: self.boxed(b)?, nb: *nb },
            Node::Unary { op, a, rep, out, span } => return self.unary(*op, a, rep, out, *span, node),
            Node::Binary { op, a, b, ra, rb, out, span } => {
                return self.binary(*op, [a, b], [ra, rb], out, *span, node);
            }
            Node::Update { f, x, y, rep, span } => {
                let (rx, ry) = rep.as_rel();
                let args = [(&**f, rep), (&**x, rx), (&**y, ry)];
                let packed = rep.packing().map(|packing| (PackedOp::Update, packing));
                let word = self.packed(packed, Op::Update, &args, rep, *span);
                return word.or_else(|| self.slow(node, rep));
            }
            Node::SetExt(items, rep) => {
                let args: Vec<(&Node, &R)> = items.iter().map(|n| (n, rep.elem())).collect();
                return self.remembered(Op::Set, &args, rep, NOWHERE).or_else(|| self.slow(node, rep));
            }
            Node::SeqExt(items, rep) => {
                let (rx, args) = (rep.as_rel().1, items.iter().map(|n| (n, rep.as_rel().1)));
                let args: Vec<(&Node, &R)> = args.collect();
                if let Some(packing) = rep.packing().filter(|p| items.len() <= p.most()) {
                    return match self.typed_all(&args) {
                        Some(words) => Some(self.listed(words, packing, rep, rx)),
                        None => self.slow(node, rep),
                    };
                }
                return self.remembered(Op::Seq, &args, rep, NOWHERE).or_else(|| self.slow(node, rep));
            }
            Node::Rec(items, rep) => {
                let Shape::Rec(parts) = &rep.shape else { return None };
                let args: Vec<(&Node, &R)> = items.iter().zip(parts).collect();
                return self.remembered(Op::Rec, &args, rep, NOWHERE).or_else(|| self.slow(node, rep));
            }
            Node::Field { a, index, rep } => {
                let Shape::Rec(parts) = &rep.shape else { return None };
                return self.remembered(Op::Field(*index), &[(&**a, rep)], &parts[*index], NOWHERE);
            }
            Node::WithField { a, index, v, rep } => {
                let Shape::Rec(parts) = &rep.shape else { return None };
                let args = [(&**a, rep), (&**v, &parts[*index])];
                return self.remembered(Op::WithField(*index), &args, rep, NOWHERE);
            }
            Node::Compr(c) if c.rep.mask_len().is_some() => {
                let bound = self.bound.clone();
                let plan = self.plan(&c.plan);
                let element = plan.as_ref().and_then(|_| self.boxed(&c.element));
                self.bound = bound;
                match (plan, element) {
                    (Some(plan), Some(element)) => Word::Compr { plan: Box::new(plan), element },
                    _ => return self.slow(node, &c.rep),
                }
            }
            // A list may stay symbolic.
            Node::Compr(c) if c.rep.elem().carrier > 0 => return self.slow(node, &c.rep),
            Node::Compr(_) | Node::Fun { .. } | Node::Struct(..) => return None,
            Node::Sum { over, .. } => return self.slow(node, over.rep.elem()),
            Node::Gather { over, .. } => return self.slow(node, over.rep.elem()),
            Node::If(c, a, b) => Word::If(Box::new(self.pred(c)?), self.boxed(a)?, self.boxed(b)?),
            Node::Let(defs, body) => Word::Let(self.defs(defs)?, self.boxed(body)?),
            Node::Force(_, rep) => return self.slow(node, rep),
            Node::External(c) => return self.slow(node, &c.out),
            // A symbolic set.
            Node::Typed(t) if matches!(t.op, TypedOp::Freetype(_)) => return None,
            Node::Typed(t) => return self.slow(node, &t.out),
        })
    }

    fn defs(&mut self, defs: &[(Slot, Node)]) -> Option<Vec<(Slot, Word)>> {
        let mut all = Vec::new();
        for (slot, n) in defs {
            let rep = self.rep(*slot).clone();
            all.push((*slot, self.typed(n, &rep)?));
            self.bound.insert(*slot);
        }
        Some(all)
    }

    fn unary(&mut self, op: Unary, a: &Node, rep: &R, out: &R, span: Span, node: &Node) -> Option<Word> {
        match op {
            Unary::Card if rep.mask_len().is_some() => return Some(Word::Card(self.boxed(a)?)),
            Unary::Neg => {
                let zero = Box::new(Word::Const(0));
                return Some(Word::Int(Int::Sub, zero, self.boxed(a)?, span));
            }
            // Symbolic sets.
            Unary::Pow { .. } | Unary::Seqs(_) => return None,
            _ => {}
        }
        let packed = PackedOp::unary(op, rep, out);
        self.packed(packed, Op::Unary(op), &[(a, rep)], out, span).or_else(|| match op {
            // Numbers and elements are never symbolic, whatever they come from.
            Unary::Card | Unary::Min | Unary::Max | Unary::Size => self.slow(node, out),
            _ => None,
        })
    }

    fn binary(
        &mut self,
        op: Binary,
        [a, b]: [&Node; 2],
        [ra, rb]: [&R; 2],
        out: &R,
        span: Span,
        node: &Node,
    ) -> Option<Word> {
        let int = match op {
            Binary::Add => Some(Int::Add),
            Binary::Sub => Some(Int::Sub),
            Binary::Mul => Some(Int::Mul),
            Binary::Div => Some(Int::Div),
            Binary::Mod => Some(Int::Mod),
            // Symbolic sets.
            Binary::Interval | Binary::Product | Binary::Prj1 | Binary::Prj2 | Binary::Seqs(_) => {
                return None;
            }
            _ => None,
        };
        if let Some(int) = int {
            return Some(Word::Int(int, self.boxed(a)?, self.boxed(b)?, span));
        }
        let packed = PackedOp::binary(op, ra, rb);
        self.packed(packed, Op::Binary(op), &[(a, ra), (b, rb)], out, span).or_else(|| {
            // The value of a function may be symbolic only where its type is infinite.
            let solid = op == Binary::Apply && (out.is_word() || out.is_int());
            if solid { self.slow(node, out) } else { None }
        })
    }

    fn typed_all(&mut self, args: &[(&Node, &R)]) -> Option<Vec<Word>> {
        args.iter().map(|(n, rep)| self.typed(n, rep)).collect()
    }

    fn remembered(&mut self, op: Op, args: &[(&Node, &R)], out: &R, span: Span) -> Option<Word> {
        self.packed(None, op, args, out, span)
    }

    /// The same where packed sequences may have a form of it.
    fn packed(
        &mut self,
        packed: Option<(PackedOp, Packing)>,
        op: Op,
        args: &[(&Node, &R)],
        out: &R,
        span: Span,
    ) -> Option<Word> {
        let words = self.typed_all(args)?;
        let reps: Vec<R> = args.iter().map(|(_, rep)| (*rep).clone()).collect();
        let keyed = self.keyed(reps.iter());
        let general = Remembered { op, args: words, reps, out: out.clone(), span, keyed };
        Some(match packed {
            Some((op, packing)) => Word::Packed(Box::new(Packed { op, packing, general })),
            None => Word::Memo(Box::new(general)),
        })
    }

    /// A packed sequence from its items, one after the other.
    fn listed(&mut self, items: Vec<Word>, packing: Packing, rep: &R, item: &R) -> Word {
        items.into_iter().fold(Word::Const(0), |all, x| {
            let reps = vec![rep.clone(), item.clone()];
            let keyed = self.keyed(reps.iter());
            let (op, args) = (Op::Binary(Binary::Append), vec![all, x]);
            let general = Remembered { op, args, reps, out: rep.clone(), span: NOWHERE, keyed };
            Word::Packed(Box::new(Packed { op: PackedOp::Append, packing, general }))
        })
    }

    fn slow(&mut self, node: &Node, rep: &R) -> Option<Word> {
        let frame = self.frame(&reads::of_node(node))?;
        Some(Word::Slow(Box::new(Slow { node: node.clone(), rep: rep.clone(), frame })))
    }

    fn frame(&mut self, slots: &BTreeSet<Slot>) -> Option<Frame> {
        let mut reads = Vec::new();
        let mut valuation = false;
        for s in slots {
            match self.constants.get(*s as usize) {
                // Constants are in their slots already; these only tell results apart.
                Some(Known::Fixed(_)) => continue,
                Some(Known::Symbolic) => {
                    valuation = true;
                    continue;
                }
                _ if !self.readable(*s) => return None,
                _ => reads.push((*s, self.rep(*s).clone())),
            }
        }
        let number = Rep::of(&crate::model::Type::Int, &crate::value::Scope::default());
        let keyed = self.keyed(reads.iter().map(|(_, rep)| rep).chain(valuation.then_some(&number)));
        Some(Frame { reads, valuation, keyed })
    }

    /// So many bits of each operand that all together are a word. Names and integers are small most of the time.
    fn keyed<'r>(&mut self, reps: impl Iterator<Item = &'r R>) -> Keyed {
        const LEAST: u32 = 10;
        let widths: Vec<Option<u32>> = reps.map(|rep| width(rep)).collect();
        let fixed: u32 = widths.iter().flatten().sum();
        let open = widths.iter().filter(|w| w.is_none()).count() as u32;
        let site = self.sites;
        self.sites += 1;
        let share = match 64u32.checked_sub(fixed) {
            Some(rest) if open == 0 || rest / open >= LEAST => rest.checked_div(open).unwrap_or(0),
            _ => return Keyed { bits: Vec::new(), site },
        };
        Keyed { bits: widths.iter().map(|w| w.unwrap_or(share)).collect(), site }
    }

    // ---- predicates -----------------------------------------------------------------------------------------

    fn pred(&mut self, test: &Test) -> Option<Pred> {
        match self.native(test) {
            None => {
                let frame = self.frame(&reads::of_test(test))?;
                Some(Pred::Atom(pred::Atom::Slow(Box::new(pred::Slow { test: test.clone(), frame }))))
            }
            pred => pred,
        }
    }

    fn preds(&mut self, tests: &[Test]) -> Option<Vec<Pred>> {
        tests.iter().map(|t| self.pred(t)).collect()
    }

    fn boxed_pred(&mut self, test: &Test) -> Option<Box<Pred>> {
        self.pred(test).map(Box::new)
    }

    /// A test whose operands are words.
    fn native(&mut self, test: &Test) -> Option<Pred> {
        Some(match test {
            Test::Const(b) => Pred::Const(*b),
            Test::And(ts) => all_of(self.preds(ts)?, false),
            Test::Or(ts) => any_of(self.preds(ts)?, false),
            Test::All(ts) => all_of(self.preds(ts)?, true),
            Test::Any(ts) => any_of(self.preds(ts)?, true),
            Test::Not(t) => negated(self.pred(t)?),
            Test::Implies(a, b) => Pred::Implies(self.boxed_pred(a)?, self.boxed_pred(b)?),
            Test::Iff(a, b) => Pred::Iff(self.boxed_pred(a)?, self.boxed_pred(b)?),
            Test::Atom(Atom::EqW(a, b)) => equal(self.word(a)?, self.word(b)?),
            Test::Atom(Atom::Eq(a, b, rep)) => {
                Pred::Atom(pred::Atom::Eq(self.boxed_typed(a, rep)?, self.boxed_typed(b, rep)?))
            }
            Test::Atom(Atom::InW(x, s)) => match (self.boxed(x)?, self.word(s)?) {
                (x, Word::Dom { r, nb, .. }) => Pred::Atom(pred::Atom::InDom { x, r, nb }),
                (x, Word::Ran { r, na, nb }) if matches!(*x, Word::Const(_)) => {
                    let Word::Const(y) = *x else { return None };
                    let column = crate::value::mask::columns(1 << y, na, nb);
                    Pred::Atom(pred::Atom::Meets(r, Box::new(Word::Const(column))))
                }
                (x, s) => Pred::Atom(pred::Atom::In(x, Box::new(s))),
            },
            Test::Atom(Atom::SubsetW(a, b)) => Pred::Atom(pred::Atom::Subset(self.boxed(a)?, self.boxed(b)?)),
            Test::Atom(Atom::StrictW(a, b)) => Pred::Atom(pred::Atom::Strict(self.boxed(a)?, self.boxed(b)?)),
            Test::Atom(Atom::Cmp(a, b, cmp)) => {
                Pred::Atom(pred::Atom::Cmp(self.boxed(a)?, self.boxed(b)?, *cmp))
            }
            Test::Atom(Atom::In(x, s, rep)) => {
                self.memo_pred(pred::Op::In(rep.clone()), &[(&**x, rep.elem()), (&**s, rep)])?
            }
            // What has a word is not symbolic, so it is finite.
            Test::Atom(Atom::Subset(a, b, rep)) | Test::Atom(Atom::FiniteSubset(a, b, rep)) => {
                self.memo_pred(pred::Op::Subset(rep.clone()), &[(&**a, rep), (&**b, rep)])?
            }
            // Seldom enough to be left to the slots.
            Test::Atom(Atom::CmpReal(..))
            | Test::Atom(Atom::Strict(..))
            | Test::Atom(Atom::InCompr { .. }) => return None,
            Test::Atom(Atom::InInts(x, set)) => Pred::Atom(pred::Atom::InInts(self.boxed(x)?, *set)),
            Test::Atom(Atom::InInterval { x, lo, hi }) => Pred::Atom(pred::Atom::InInterval {
                x: self.boxed(x)?,
                lo: self.boxed(lo)?,
                hi: self.boxed(hi)?,
            }),
            Test::Atom(Atom::InFun { kind, f, from, to, rep }) => match rep.small_rel() {
                Some((na, nb)) => {
                    let (f, from, to) = (self.boxed(f)?, self.boxed(from)?, self.boxed(to)?);
                    Pred::Atom(pred::Atom::InFun { kind: *kind, f, from, to, na, nb })
                }
                None => {
                    let (ra, rb) = rep.as_rel();
                    let (ra, rb) = (Rep::set(ra.clone()), Rep::set(rb.clone()));
                    let args = [(&**f, rep), (&**from, &ra), (&**to, &rb)];
                    self.memo_pred(pred::Op::InFun(*kind, rep.clone()), &args)?
                }
            },
            Test::Atom(Atom::InSeq { kind, s, of, rep }) => {
                let elem = Rep::set(rep.as_rel().1.clone());
                let op = match rep.packing() {
                    Some(packing) if elem.mask_len().is_some() => {
                        pred::Op::InPacked(*kind, packing, rep.clone())
                    }
                    _ => pred::Op::InSeq(*kind, rep.clone()),
                };
                self.memo_pred(op, &[(&**s, rep), (&**of, &elem)])?
            }
            Test::Atom(Atom::Defined(n)) => match self.boxed(n)? {
                w if total(&w, None) => Pred::Const(true),
                w => Pred::Atom(pred::Atom::Defined(w)),
            },
            Test::Exists(plan) => {
                let bound = self.bound.clone();
                let plan = self.plan(plan);
                self.bound = bound;
                Pred::Exists(Arc::new(plan?))
            }
            Test::Forall(plan, body) => {
                let bound = self.bound.clone();
                let plan = self.plan(plan);
                let body = plan.as_ref().and_then(|_| self.boxed_pred(body));
                self.bound = bound;
                Pred::Forall(Arc::new(plan?), body?)
            }
            Test::If(c, a, b) => Pred::If(self.boxed_pred(c)?, self.boxed_pred(a)?, self.boxed_pred(b)?),
            Test::Let(defs, body) => Pred::Let(self.defs(defs)?, self.boxed_pred(body)?),
            Test::HasValue(t) => match self.native(t)? {
                p if always_decided(&p) => Pred::Const(true),
                p => Pred::HasValue(Box::new(p)),
            },
            Test::Demand(t, span) => Pred::Demand(self.boxed_pred(t)?, *span),
            Test::At(t, span) => match self.native(t)? {
                p if is_placed(&p) => p,
                p => Pred::At(Box::new(p), *span),
            },
        })
    }

    fn memo_pred(&mut self, op: pred::Op, args: &[(&Node, &R)]) -> Option<Pred> {
        let words = self.typed_all(args);
        let reps: Vec<R> = args.iter().map(|(_, rep)| (*rep).clone()).collect();
        let keyed = self.keyed(reps.iter());
        Some(Pred::Atom(pred::Atom::Memo(Box::new(pred::Remembered { op, args: words?, reps, keyed }))))
    }

    // ---- plans ----------------------------------------------------------------------------------------------

    fn plan(&mut self, plan: &general_plan::Plan) -> Option<Plan> {
        let general_plan::Plan { steps, may_repeat, unbounded } = plan;
        Some(Plan { steps: self.steps(steps)?, may_repeat: *may_repeat, unbounded: *unbounded })
    }

    fn steps(&mut self, steps: &[general_plan::PlanStep]) -> Option<Vec<PlanStep>> {
        let steps: Option<Vec<PlanStep>> = steps.iter().map(|s| self.step(s)).collect();
        Some(narrowed(steps?))
    }

    fn step(&mut self, step: &general_plan::PlanStep) -> Option<PlanStep> {
        use crate::eval::node::Generator as Given;
        use general_plan::PlanStep as General;
        Some(match step {
            General::Test(t) => PlanStep::Test(self.pred(t)?),
            General::Generate(Given::Match(pattern, node, rep)) => {
                let word = self.known(node, rep)?;
                PlanStep::Generate(Generator::Match(self.pattern(pattern)?, word, rep.carrier))
            }
            General::Generate(Given::In { pattern, set, rep, span }) => {
                let mask = rep.mask_len().and_then(|_| self.word(set));
                match (mask, pattern) {
                    (Some(set), node::Pattern::Bind(slot)) => {
                        self.bound.insert(*slot);
                        PlanStep::Generate(Generator::Bits(*slot, set, rep.elem().carrier))
                    }
                    (Some(set), pattern) => PlanStep::Generate(split(self.pattern(pattern)?, set, *span)),
                    (None, pattern) => {
                        let frame = self.frame(&reads::of_node(set))?;
                        let pattern = self.pattern(pattern)?;
                        let (set, rep) = (set.clone(), rep.clone());
                        PlanStep::Generate(Generator::Each(Box::new(Each {
                            pattern,
                            set,
                            rep,
                            span: *span,
                            frame,
                        })))
                    }
                }
            }
            General::Range { slot, lows, highs, limits, span } => {
                let (lows, highs) = (self.bounds(lows)?, self.bounds(highs)?);
                self.bound.insert(*slot);
                PlanStep::Range { slot: *slot, lows, highs, limits: *limits, span: *span }
            }
            General::Generate(Given::All { slot, rep, .. }) if (1..=64).contains(&rep.carrier) => {
                self.bound.insert(*slot);
                PlanStep::Generate(Generator::Bits(*slot, Word::Const(low(rep.carrier as u32)), rep.carrier))
            }
            General::Generate(Given::All { .. })
            | General::Generate(Given::Grow(_) | Given::Cut { .. } | Given::Solved(_))
            | General::Generate(Given::Recursive { .. }) => return None,
            General::Given(generator, otherwise) => {
                let before = self.bound.clone();
                let otherwise = self.steps(otherwise)?;
                self.bound = before;
                let PlanStep::Generate(generator) = self.step(&General::Generate(generator.clone()))? else {
                    return None;
                };
                PlanStep::Given(generator, otherwise)
            }
            General::Cases(test, yes, no) => {
                let test = self.pred(test)?;
                let before = self.bound.clone();
                let yes = self.steps(yes)?;
                let after = std::mem::replace(&mut self.bound, before);
                let no = self.steps(no)?;
                self.bound.retain(|s| after.contains(s));
                PlanStep::Cases(test, yes, no)
            }
            General::Alt(ways) => {
                let before = self.bound.clone();
                let mut after: Option<BTreeSet<Slot>> = None;
                let mut all = Vec::new();
                for way in ways {
                    self.bound.clone_from(&before);
                    all.push(self.steps(way)?);
                    let here = &self.bound;
                    after = Some(match after {
                        Some(a) => a.intersection(here).copied().collect(),
                        None => here.clone(),
                    });
                }
                self.bound = after.unwrap_or(before);
                PlanStep::Alt(all)
            }
        })
    }

    /// A value that is compared or bound: one that might stay symbolic has no word.
    fn known(&mut self, node: &Node, rep: &R) -> Option<Word> {
        if rep.is_word() || rep.is_int() { self.value(node, rep) } else { self.typed(node, rep) }
    }

    fn bounds(&mut self, bounds: &[general_plan::Bound]) -> Option<Vec<Bound>> {
        let mut all = Vec::new();
        for b in bounds {
            all.push(Bound { node: self.word(&b.node)?, offset: b.offset, scale: b.scale.clone() });
        }
        Some(all)
    }

    fn pattern(&mut self, p: &node::Pattern) -> Option<Pattern> {
        use node::Pattern as General;
        Some(match p {
            General::Bind(s) => {
                self.bound.insert(*s);
                Pattern::Bind(*s)
            }
            General::Check(n, rep) => Pattern::Check(self.known(n, rep)?),
            General::Pair(a, b, rep) => {
                let (a, b) = (Box::new(self.pattern(a)?), Box::new(self.pattern(b)?));
                match rep.carrier {
                    0 => Pattern::Named(a, b, rep.clone()),
                    _ => Pattern::Pair(a, b, rep.as_pair().1.carrier),
                }
            }
            General::Rec(..) | General::Free(..) => return None,
        })
    }

    // ---- substitutions --------------------------------------------------------------------------------------

    fn code(&mut self, code: &general::Code) -> Option<Code> {
        let code = self.code_as_it_is(code)?;
        Some(match self.assigned(code) {
            Ok(items) if items.is_empty() => Code::Skip,
            Ok(items) => Code::Assign(items),
            Err(code) => code,
        })
    }

    /// The same as assignments that are all done at once, if it is nothing else: then nothing has to be undone between
    /// them. What is assigned on a condition is a conditional value, the old one otherwise. The order of the parts is that
    /// in which their faults are looked for, and none of them can be blocked.
    fn assigned(&self, code: Code) -> Result<Vec<(Slot, Word)>, Code> {
        match code {
            Code::Skip => Ok(vec![]),
            Code::Assign(items) => Ok(items),
            Code::Par(parts) if parts.iter().all(|(p, _)| matches!(p, Code::Skip | Code::Assign(_))) => {
                Ok(parts.into_iter().filter_map(|(p, _)| self.assigned(p).ok()).flatten().collect())
            }
            Code::If(ways, otherwise) => {
                let items = |code: &Code| match code {
                    Code::Skip => Some((None, true)),
                    Code::Assign(items) => Some((items.first().map(|i| i.0), items.len() == 1)),
                    _ => None,
                };
                let ends = || ways.iter().map(|(_, code)| code).chain([&*otherwise]).map(items);
                let slot = ends().flatten().find_map(|(slot, _)| slot);
                let Some(slot) = slot.filter(|s| self.variables.contains(s)) else {
                    return Err(Code::If(ways, otherwise));
                };
                let fits = |end: Option<(Option<Slot>, bool)>| {
                    end.is_some_and(|(s, is_one)| is_one && s.is_none_or(|s| s == slot))
                };
                if !ends().all(fits) {
                    return Err(Code::If(ways, otherwise));
                }
                let word = |code: Code| match code {
                    Code::Assign(mut items) => items.pop().map_or(Word::Slot(slot), |(_, w)| w),
                    _ => Word::Slot(slot),
                };
                let value = ways.into_iter().rev().fold(word(*otherwise), |rest, (cond, code)| {
                    Word::If(Box::new(cond), Box::new(word(code)), Box::new(rest))
                });
                Ok(vec![(slot, value)])
            }
            code => Err(code),
        }
    }

    fn code_as_it_is(&mut self, code: &general::Code) -> Option<Code> {
        use general::Code as General;
        Some(match code {
            General::Skip => Code::Skip,
            General::Assign(items) => {
                let all = self.values(items)?;
                self.bound.extend(items.iter().map(|(s, _, _)| *s));
                Code::Assign(all)
            }
            General::Any(plan, body) => Code::Any(self.plan(plan)?, Box::new(self.code(body)?)),
            General::Let(defs, body) => {
                let mut all = Vec::new();
                for def in defs {
                    all.extend(self.values(std::slice::from_ref(def))?);
                    self.bound.insert(def.0);
                }
                Code::Let(all, Box::new(self.code(body)?))
            }
            General::Special(Special::Fresh(slots, body)) => {
                self.bound.retain(|s| !slots.contains(s));
                self.code(body)?
            }
            General::Copy(pairs, body) => {
                // Nothing is copied from what has nothing.
                let pairs: Vec<(Slot, Slot)> =
                    pairs.iter().filter(|(from, _)| self.readable(*from)).copied().collect();
                self.bound.extend(pairs.iter().map(|(_, to)| *to));
                Code::Copy(pairs, Box::new(self.code(body)?))
            }
            General::Guard(test, body) => Code::Guard(self.pred(test)?, Box::new(self.code(body)?)),
            General::Demand(test, kind, span, body) => {
                Code::Demand(self.pred(test)?, *kind, *span, Box::new(self.code(body)?))
            }
            General::Choice(ways) => {
                let mut branches = Branches::new(self);
                let all: Option<Vec<Code>> = ways.iter().map(|w| branches.way(self, |l| l.code(w))).collect();
                branches.join(self);
                Code::Choice(all?)
            }
            General::Select(ways, otherwise) => {
                let mut branches = Branches::new(self);
                let all = branches.ways(self, ways)?;
                let otherwise = match otherwise {
                    Some(code) => Some(Box::new(branches.way(self, |l| l.code(code))?)),
                    None => None,
                };
                branches.join(self);
                Code::Select(all, otherwise)
            }
            General::If(ways, otherwise) => {
                let mut branches = Branches::new(self);
                let all = branches.ways(self, ways)?;
                let otherwise = branches.way(self, |l| l.code(otherwise))?;
                branches.join(self);
                Code::If(all, Box::new(otherwise))
            }
            General::Seq(parts) => {
                let all: Option<Vec<Code>> = parts.iter().map(|p| self.code(p)).collect();
                Code::Seq(all?)
            }
            General::Par(parts) => {
                // Each part starts from the old values.
                let before = self.bound.clone();
                let mut after = before.clone();
                let mut all = Vec::new();
                for (code, slots) in parts {
                    self.bound.clone_from(&before);
                    all.push((self.code(code)?, slots.clone()));
                    after.extend(&self.bound);
                }
                self.bound = after;
                Code::Par(all)
            }
            General::Special(Special::Shared(_)) | General::Special(Special::While(_)) => return None,
        })
    }

    fn values(&mut self, items: &[(Slot, Node, R)]) -> Option<Vec<(Slot, Word)>> {
        items.iter().map(|(slot, node, rep)| Some((*slot, self.value(node, rep)?))).collect()
    }
}

const NOWHERE: Span = crate::value::fault::NOWHERE;

/// Runs through a mask; pairs that are only taken apart have a way of their own.
fn split(pattern: Pattern, set: Word, span: Span) -> Generator {
    if let Pattern::Pair(a, b, nb) = &pattern
        && let (Pattern::Bind(x), Pattern::Bind(y), Ok(nb)) = (&**a, &**b, u32::try_from(*nb))
    {
        return Generator::Pairs(*x, *y, nb, set, span);
    }
    Generator::Split(pattern, set, span)
}

/// What is bound after one of several ways: what is bound after each.
struct Branches {
    before: BTreeSet<Slot>,
    after: Option<BTreeSet<Slot>>,
}

impl Branches {
    fn new(l: &Lower) -> Branches {
        Branches { before: l.bound.clone(), after: None }
    }

    fn way<T>(&mut self, l: &mut Lower, lower: impl FnOnce(&mut Lower) -> Option<T>) -> Option<T> {
        l.bound.clone_from(&self.before);
        let out = lower(l)?;
        self.after = Some(match self.after.take() {
            Some(a) => a.intersection(&l.bound).copied().collect(),
            None => l.bound.clone(),
        });
        Some(out)
    }

    fn ways(&mut self, l: &mut Lower, ways: &[(Test, general::Code)]) -> Option<Vec<(Pred, Code)>> {
        ways.iter().map(|(g, b)| self.way(l, |l| Some((l.pred(g)?, l.code(b)?)))).collect()
    }

    fn join(self, l: &mut Lower) {
        l.bound = self.after.unwrap_or(self.before);
    }
}

/// Bits that the words of a type have; `None` for names and integers.
fn width(rep: &Rep) -> Option<u32> {
    match (rep.carrier, rep.mask_len()) {
        (0, None) => None,
        (0, Some(n)) => Some(n),
        (n, _) => Some(64 - (n - 1).leading_zeros()),
    }
}
