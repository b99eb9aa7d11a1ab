//! Projects without what is not part of them: places in files, and how chains of `∧` and `∨` are nested.

use kanon_language::lang::ast::{BinOp, Expr, ExprKind, Fun, Ident, Lit};
use kanon_language::lang::diag::Span;
use kanon_language::lang::eventb::formula::{identity, join, with};
use kanon_language::lang::eventb::math::write::without_places;
use kanon_language::lang::eventb::project::{ActionKind, Labelled, Project};
use kanon_language::lang::walk::children_mut;

/// One tree for all ways to nest a chain.
pub fn canonical(e: &Expr) -> Expr {
    fn leaves(op: BinOp, e: Expr, found: &mut Vec<Expr>) {
        match e.kind {
            ExprKind::Binary(o, a, b) if o == op => {
                leaves(op, *a, found);
                leaves(op, *b, found);
            }
            kind => found.push(Expr { kind, span: e.span }),
        }
    }
    fn walk(e: &mut Expr) {
        if let ExprKind::Binary(op @ (BinOp::And | BinOp::Or), ..) = e.kind {
            let mut parts = vec![];
            leaves(op, e.clone(), &mut parts);
            parts.iter_mut().for_each(walk);
            *e = join(op, Lit::BTrue, parts, Span::default());
        } else {
            children_mut(e, &mut walk);
            // Rodin's first language had `id(S)`, which is written `S ◁ id` now.
            if let ExprKind::Call(Fun::Id, args) = &e.kind
                && !matches!(args[0].kind, ExprKind::Lit(Lit::Whole))
            {
                *e = with(BinOp::DomRestrict, args[0].clone(), identity(Span::default()), Span::default());
            }
        }
    }
    let mut e = without_places(e);
    walk(&mut e);
    e
}

/// A project in lines, one for each part of it.
pub fn lines(p: &Project) -> Vec<String> {
    let ids = |ids: &[Ident]| ids.iter().map(|id| id.name.to_string()).collect::<Vec<_>>().join(" ");
    let mut out = vec![];
    let all = |out: &mut Vec<String>, what: &str, parts: &[Labelled]| {
        for l in parts {
            out.push(format!("{what} {:?}: {:?}", l.label, canonical(&l.formula).kind));
        }
    };
    for m in &p.machines {
        out.push(format!("machine {} refines {:?}", m.name.name, m.refines.as_ref().map(|id| &id.name)));
        out.push(format!("sees {}; variables {}", ids(&m.sees), ids(&m.variables)));
        all(&mut out, "invariant", &m.invariants);
        all(&mut out, "theorem", &m.theorems);
        all(&mut out, "variant", m.variant.as_slice());
        for e in &m.events {
            out.push(format!("event {} {:?} refines {}", e.name.name, e.status, ids(&e.refines)));
            out.push(format!("any {}", ids(&e.parameters)));
            all(&mut out, "guard", &e.guards);
            all(&mut out, "guard theorem", &e.theorems);
            for w in &e.witnesses {
                out.push(format!("witness {}: {:?}", w.of.name, canonical(&w.predicate.formula).kind));
            }
            for a in &e.actions {
                let text = match &a.kind {
                    ActionKind::Assign(pairs) => {
                        let one = |(x, e): &(Ident, Expr)| format!("{} := {:?}", x.name, canonical(e).kind);
                        pairs.iter().map(one).collect::<Vec<_>>().join(", ")
                    }
                    ActionKind::Element(x, s) => format!("{} :: {:?}", x.name, canonical(s).kind),
                    ActionKind::Such(xs, p) => format!("{} :| {:?}", ids(xs), canonical(p).kind),
                };
                out.push(format!("action {:?}: {text}", a.label));
            }
        }
    }
    // Which order contexts are in says nothing but which one is looked at where there is no machine.
    let mut contexts: Vec<_> = p.contexts.iter().collect();
    contexts.sort_by_key(|c| c.name.name.clone());
    contexts.dedup_by_key(|c| c.name.name.clone());
    for c in contexts {
        out.push(format!("context {} extends {}", c.name.name, ids(&c.extends)));
        out.push(format!("sets {}; constants {}", ids(&c.sets), ids(&c.constants)));
        all(&mut out, "axiom", &c.axioms);
        all(&mut out, "theorem", &c.theorems);
    }
    out
}

/// What is known to be proved, in an order of its own.
pub fn proved(p: &Project) -> Vec<String> {
    let discharged = p.obligations.iter().filter(|o| o.is_discharged);
    let mut all: Vec<String> = discharged.map(|o| format!("{o:?}")).collect();
    all.sort();
    all
}

/// The first lines in which two differ.
pub fn difference(a: &[String], b: &[String]) -> Option<String> {
    if a == b {
        return None;
    }
    let at = a.iter().zip(b).position(|(x, y)| x != y).unwrap_or(a.len().min(b.len()));
    Some(format!("line {at}:\n  {:?}\n  {:?}", a.get(at), b.get(at)))
}
