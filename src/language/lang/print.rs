//! Trees back to B text, with as few parentheses as the priorities allow. What is printed parses
//! to the same tree; the only exceptions are trees no text has (a negative number, a set written
//! with no elements, a sequence outside a block), which print as their nearest equal.

use crate::lang::ast::*;
use crate::lang::notation::{fun_name, is_reserved, priority};

/// An expression or predicate on one line.
pub fn expr(e: &Expr) -> String {
    let mut p = Printer::default();
    p.expr(e, TOP);
    p.out
}

/// A substitution, over several lines where it has blocks.
pub fn subst(s: &Subst) -> String {
    let mut p = Printer::default();
    p.sequence(s);
    p.out
}

/// A whole machine.
pub fn machine(m: &Machine) -> String {
    let mut p = Printer::default();
    p.machine(m);
    p.out
}

/// A name as it must be written: quoted when it is a reserved word or no plain identifier.
pub fn name(name: &str) -> String {
    let parts: Vec<String> = name.split('.').map(part).collect();
    parts.join(".")
}

fn part(text: &str) -> String {
    let mut chars = text.chars();
    let plain = chars.next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_')
        && chars.all(|c| c.is_ascii_alphanumeric() || c == '_');
    if plain && !is_reserved(text) {
        return text.to_string();
    }
    let mut quoted = String::from("`");
    for c in text.chars() {
        match c {
            '`' | '\\' => quoted.extend(['\\', c]),
            '\n' => quoted.push_str("\\n"),
            '\r' => quoted.push_str("\\r"),
            '\t' => quoted.push_str("\\t"),
            _ => quoted.push(c),
        }
    }
    quoted.push('`');
    quoted
}

/// A string literal.
pub fn string(text: &str) -> String {
    // Ends of line that only the long form can hold.
    let long = text.contains(['\u{2028}', '\u{2029}']);
    let quote = if long { "'''" } else { "\"" };
    let mut out = String::from(quote);
    for c in text.chars() {
        match c {
            '\\' => out.push_str("\\\\"),
            '"' if !long => out.push_str("\\\""),
            '\'' if long => out.push_str("\\'"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            _ => out.push(c),
        }
    }
    out.push_str(quote);
    out
}

const BRACKETS: u8 = 20;
const TOP: u8 = 30;
const NEGATION: u8 = 210;
/// What `~`, `[S]`, `(x)` and `'f` can stand behind.
const OPERAND: u8 = 230;

/// The ASCII spelling of an operator.
pub fn operator(op: BinOp) -> &'static str {
    use BinOp::*;
    match op {
        And => "&",
        Or => "or",
        Implies => "=>",
        Iff => "<=>",
        Eq => "=",
        Neq => "/=",
        In => ":",
        NotIn => "/:",
        Subset => "<:",
        NotSubset => "/<:",
        StrictSubset => "<<:",
        NotStrictSubset => "/<<:",
        Lt => "<",
        Le => "<=",
        Gt => ">",
        Ge => ">=",
        Add => "+",
        Sub => "-",
        Mul | Product => "*",
        Div => "/",
        Mod => "mod",
        Pow => "**",
        Interval => "..",
        Pair => "|->",
        Union => "\\/",
        Inter => "/\\",
        Diff => "\\",
        Rel => "<->",
        TotalRel => "<<->",
        SurjRel => "<->>",
        TotalSurjRel => "<<->>",
        PartialFun => "+->",
        TotalFun => "-->",
        PartialInj => ">+>",
        TotalInj => ">->",
        PartialSurj => "+->>",
        TotalSurj => "-->>",
        PartialBij => ">+>>",
        TotalBij => ">->>",
        DomRestrict => "<|",
        DomSubtract => "<<|",
        RanRestrict => "|>",
        RanSubtract => "|>>",
        Override => "<+",
        DirectProduct => "><",
        ParallelProduct => "||",
        Compose => ";",
        Concat => "^",
        Prepend => "->",
        Append => "<-",
        TakeFirst => "/|\\",
        DropFirst => "\\|/",
    }
}

/// The spelling of a name of fixed meaning.
pub fn literal(lit: Lit) -> &'static str {
    match lit {
        Lit::True => "TRUE",
        Lit::False => "FALSE",
        Lit::BTrue => "btrue",
        Lit::BFalse => "bfalse",
        Lit::BoolSet => "BOOL",
        Lit::Integer => "INTEGER",
        Lit::Natural => "NATURAL",
        Lit::Natural1 => "NATURAL1",
        Lit::IntSet => "INT",
        Lit::NatSet => "NAT",
        Lit::Nat1Set => "NAT1",
        Lit::MaxInt => "MAXINT",
        Lit::MinInt => "MININT",
        Lit::StringSet => "STRING",
        Lit::EmptySet => "{}",
        Lit::EmptySeq => "[]",
        Lit::Succ => "succ",
        Lit::Pred => "pred",
        // The word REAL is a name in ProB's classical B; only the symbol is not.
        Lit::RealSet => "ℝ",
        Lit::FloatSet => "FLOAT",
        // No word of its own has this meaning; the type is for the place to decide in either form.
        Lit::Whole => "{x | btrue}",
    }
}

#[derive(Default)]
struct Printer {
    out: String,
    indent: usize,
}

impl Printer {
    fn put(&mut self, text: &str) {
        self.out.push_str(text);
    }

    fn line(&mut self) {
        self.out.push('\n');
        for _ in 0..self.indent {
            self.out.push_str("  ");
        }
    }

    fn names(&mut self, names: &[Ident]) {
        self.separated(names, ", ", |p, n| p.put(&name(&n.name)));
    }

    fn separated<X>(&mut self, items: &[X], between: &str, mut each: impl FnMut(&mut Self, &X)) {
        for (i, item) in items.iter().enumerate() {
            if i > 0 {
                self.put(between);
            }
            each(self, item);
        }
    }

    fn list(&mut self, items: &[Expr], min: u8) {
        self.separated(items, ", ", |p, e| p.expr(e, min));
    }

    // ---- expressions ----

    /// `min` is the lowest priority that may stand here without parentheses.
    fn expr(&mut self, e: &Expr, min: u8) {
        let level = match &e.kind {
            ExprKind::Binary(op, ..) => priority(*op),
            ExprKind::Unary(UnOp::Neg, _) => NEGATION,
            ExprKind::Int(n) if n.sign() == num_bigint::Sign::Minus => NEGATION,
            _ => OPERAND,
        };
        if level < min {
            self.put("(");
            self.bare(e, level);
            self.put(")");
        } else {
            self.bare(e, level);
        }
    }

    fn bare(&mut self, e: &Expr, level: u8) {
        match &e.kind {
            ExprKind::Name(n) => self.put(&name(n)),
            ExprKind::Old(n) => {
                self.put(&name(n));
                self.put("$0");
            }
            ExprKind::Int(n) => self.put(&n.to_string()),
            ExprKind::Str(s) => self.put(&string(s)),
            ExprKind::Real(r) => self.put(r),
            ExprKind::Lit(lit) => self.put(literal(*lit)),
            ExprKind::Unary(UnOp::Neg, a) => {
                self.put("-");
                self.expr(a, OPERAND);
            }
            ExprKind::Unary(UnOp::Not, a) => {
                self.put("not(");
                self.expr(a, BRACKETS);
                self.put(")");
            }
            ExprKind::Unary(UnOp::Inverse, a) => {
                self.expr(a, OPERAND);
                self.put("~");
            }
            ExprKind::Binary(op, a, b) => {
                // Only `**` groups to the right; comparisons do not group at all.
                let (left, right) = match op {
                    BinOp::Pow => (level + 1, level),
                    _ if level == priority(BinOp::Eq) => (level + 1, level + 1),
                    _ => (level, level + 1),
                };
                self.expr(a, left);
                self.put(" ");
                self.put(operator(*op));
                self.put(" ");
                self.expr(b, right);
            }
            ExprKind::Apply(f, args) => {
                // `succ(x)` is a call of the function; the set `succ` applied is another tree.
                if matches!(f.kind, ExprKind::Lit(Lit::Succ | Lit::Pred)) {
                    self.put("(");
                    self.expr(f, OPERAND);
                    self.put(")");
                } else {
                    self.expr(f, OPERAND);
                }
                self.put("(");
                self.list(args, BRACKETS);
                self.put(")");
            }
            ExprKind::Image(r, s) => {
                self.expr(r, OPERAND);
                self.put("[");
                self.expr(s, BRACKETS);
                self.put("]");
            }
            ExprKind::Call(fun, args) => {
                self.put(fun_name(*fun));
                self.put("(");
                self.list(args, BRACKETS);
                self.put(")");
            }
            ExprKind::Quant(q, names, p) => {
                self.put(if *q == Quant::Forall { "!" } else { "#" });
                self.bound(names);
                self.expr(p, TOP);
                self.put(")");
            }
            ExprKind::Bind(binder, names, p, v) => {
                self.put(match binder {
                    Binder::Lambda => "%",
                    Binder::Sigma => "SIGMA",
                    Binder::Pi => "PI",
                    Binder::Union => "UNION",
                    Binder::Inter => "INTER",
                });
                self.bound(names);
                self.expr(p, TOP);
                self.put(" | ");
                self.expr(v, BRACKETS);
                self.put(")");
            }
            ExprKind::Compr(names, p) => {
                self.put("{");
                self.names(names);
                self.put(" | ");
                self.expr(p, TOP);
                self.put("}");
            }
            ExprKind::ComprMap(names, p, v) => {
                self.put("{");
                self.names(names);
                self.put(" . ");
                self.expr(p, TOP);
                self.put(" | ");
                self.expr(v, BRACKETS);
                self.put("}");
            }
            ExprKind::SetExt(items) => {
                self.put("{");
                self.list(items, BRACKETS);
                self.put("}");
            }
            ExprKind::SeqExt(items) => {
                self.put("[");
                self.list(items, BRACKETS);
                self.put("]");
            }
            ExprKind::Rec(fields) => self.record("rec(", fields),
            ExprKind::Struct(fields) => self.record("struct(", fields),
            ExprKind::Field(r, f) => {
                self.expr(r, OPERAND);
                self.put("'");
                self.put(&name(&f.name));
            }
            ExprKind::Bool(p) => {
                self.put("bool(");
                self.expr(p, TOP);
                self.put(")");
            }
            ExprKind::If(c, a, b) => {
                self.put("IF ");
                self.expr(c, TOP);
                self.put(" THEN ");
                self.expr(a, TOP);
                self.put(" ELSE ");
                self.expr(b, TOP);
                self.put(" END");
            }
            ExprKind::Let(names, p, v) => {
                self.put("LET ");
                self.names(names);
                self.put(" BE ");
                self.expr(p, TOP);
                self.put(" IN ");
                self.expr(v, TOP);
                self.put(" END");
            }
            ExprKind::Typed(a, _) => self.expr(a, OPERAND),
            ExprKind::HasType(a, b) => {
                self.put("(");
                self.expr(a, OPERAND);
                self.put(" : ");
                self.expr(b, OPERAND);
                self.put(")");
            }
            ExprKind::Below(a, b) => {
                self.put("(");
                self.expr(a, OPERAND);
                self.put(" < ");
                self.expr(b, OPERAND);
                self.put(")");
            }
            ExprKind::Bounded(a) => {
                self.put("(0 <= ");
                self.expr(a, OPERAND);
                self.put(")");
            }
        }
    }

    fn bound(&mut self, names: &[Ident]) {
        self.put("(");
        self.names(names);
        self.put(").(");
    }

    fn record(&mut self, head: &str, fields: &[(Ident, Expr)]) {
        self.put(head);
        self.separated(fields, ", ", |p, (f, e)| {
            p.put(&name(&f.name));
            p.put(" : ");
            p.expr(e, BRACKETS);
        });
        self.put(")");
    }

    // ---- substitutions ----

    /// Where `;` may stand.
    fn sequence(&mut self, s: &Subst) {
        match &s.kind {
            SubstKind::Seq(parts) => {
                for (i, part) in parts.iter().enumerate() {
                    if i > 0 {
                        self.put(" ;");
                        self.line();
                    }
                    match part.kind {
                        SubstKind::Seq(_) => self.block(part),
                        _ => self.parallel(part),
                    }
                }
            }
            _ => self.parallel(s),
        }
    }

    /// Where `||` may stand, but not `;`.
    fn parallel(&mut self, s: &Subst) {
        match &s.kind {
            SubstKind::Par(parts) => {
                for (i, part) in parts.iter().enumerate() {
                    if i > 0 {
                        self.put(" ||");
                        self.line();
                    }
                    self.single(part);
                }
            }
            _ => self.single(s),
        }
    }

    fn block(&mut self, s: &Subst) {
        self.put("BEGIN");
        self.body(s);
        self.put("END");
    }

    fn body(&mut self, s: &Subst) {
        self.indent += 1;
        self.line();
        self.sequence(s);
        self.indent -= 1;
        self.line();
    }

    fn single(&mut self, s: &Subst) {
        match &s.kind {
            SubstKind::Seq(_) | SubstKind::Par(_) => self.block(s),
            SubstKind::Skip => self.put("skip"),
            SubstKind::Assign(left, right) => {
                self.list(left, OPERAND);
                self.put(" := ");
                self.list(right, TOP);
            }
            SubstKind::BecomesElement(left, set) => {
                self.list(left, OPERAND);
                self.put(" :: ");
                self.expr(set, TOP);
            }
            SubstKind::BecomesSuch(names, p) => {
                self.names(names);
                self.put(" :(");
                self.expr(p, TOP);
                self.put(")");
            }
            SubstKind::Pre(p, body) => self.guarded("PRE ", p, body),
            SubstKind::Assert(p, body) => self.guarded("ASSERT ", p, body),
            SubstKind::Select(arms, otherwise) => self.arms("SELECT ", "WHEN ", arms, otherwise),
            SubstKind::If(arms, otherwise) => self.arms("IF ", "ELSIF ", arms, otherwise),
            SubstKind::Choice(parts) => {
                for (i, part) in parts.iter().enumerate() {
                    self.put(if i == 0 { "CHOICE" } else { "OR" });
                    self.body(part);
                }
                self.put("END");
            }
            SubstKind::Case(e, arms, otherwise) => {
                self.put("CASE ");
                self.expr(e, BRACKETS);
                self.put(" OF");
                self.line();
                for (i, (values, body)) in arms.iter().enumerate() {
                    self.put(if i == 0 { "EITHER " } else { "OR " });
                    self.list(values, TOP);
                    self.put(" THEN");
                    self.body(body);
                }
                self.otherwise(otherwise);
                self.put("END");
                self.line();
                self.put("END");
            }
            SubstKind::Any(names, p, body) => {
                self.put("ANY ");
                self.names(names);
                self.guarded(" WHERE ", p, body);
            }
            SubstKind::Let(names, p, body) => {
                self.put("LET ");
                self.names(names);
                self.put(" BE ");
                self.expr(p, TOP);
                self.put(" IN");
                self.body(body);
                self.put("END");
            }
            SubstKind::Var(names, body) => {
                self.put("VAR ");
                self.names(names);
                self.put(" IN");
                self.body(body);
                self.put("END");
            }
            SubstKind::Block(body) => self.block(body),
            SubstKind::While { cond, body, invariant, variant } => {
                self.put("WHILE ");
                self.expr(cond, TOP);
                self.put(" DO");
                self.body(body);
                self.put("INVARIANT ");
                self.expr(invariant, TOP);
                self.put(" VARIANT ");
                self.expr(variant, TOP);
                self.put(" END");
            }
            SubstKind::Call { results, op, args } => {
                if !results.is_empty() {
                    self.list(results, OPERAND);
                    self.put(" <-- ");
                }
                self.put(&name(&op.name));
                if !args.is_empty() {
                    self.put("(");
                    self.list(args, BRACKETS);
                    self.put(")");
                }
            }
        }
    }

    fn guarded(&mut self, head: &str, p: &Expr, body: &Subst) {
        self.put(head);
        self.expr(p, TOP);
        self.put(" THEN");
        self.body(body);
        self.put("END");
    }

    fn arms(&mut self, first: &str, next: &str, arms: &[(Expr, Subst)], otherwise: &Option<Box<Subst>>) {
        for (i, (p, body)) in arms.iter().enumerate() {
            self.put(if i == 0 { first } else { next });
            self.expr(p, TOP);
            self.put(" THEN");
            self.body(body);
        }
        self.otherwise(otherwise);
        self.put("END");
    }

    fn otherwise(&mut self, otherwise: &Option<Box<Subst>>) {
        if let Some(body) = otherwise {
            self.put("ELSE");
            self.body(body);
        }
    }

    // ---- machines ----

    fn machine(&mut self, m: &Machine) {
        self.put(match m.kind {
            MachineKind::Machine => "MACHINE ",
            MachineKind::Refinement => "REFINEMENT ",
            MachineKind::Implementation => "IMPLEMENTATION ",
        });
        self.put(&name(&m.name.name));
        if !m.params.is_empty() {
            self.put("(");
            self.names(&m.params);
            self.put(")");
        }
        self.put("\n");
        if let Some(refined) = &m.refines {
            self.clause("REFINES", |p| p.put(&name(&refined.name)));
        }
        self.name_clause("SEES", &m.sees);
        self.name_clause("USES", &m.uses);
        self.refs("INCLUDES", &m.includes);
        self.refs("EXTENDS", &m.extends);
        self.refs("IMPORTS", &m.imports);
        self.name_clause("PROMOTES", &m.promotes);
        self.predicate("CONSTRAINTS", &m.constraints);
        if !m.sets.is_empty() {
            self.clause("SETS", |p| {
                p.separated(&m.sets, "; ", |p, set| {
                    p.put(&name(&set.name.name));
                    if let Some(elements) = &set.elements {
                        p.put(" = {");
                        p.names(elements);
                        p.put("}");
                    }
                });
            });
        }
        if !m.freetypes.is_empty() {
            self.clause("FREETYPES", |p| {
                p.separated(&m.freetypes, "; ", |p, free| {
                    p.put(&name(&free.name.name));
                    p.put(" = ");
                    p.separated(&free.cases, ", ", |p, (case, argument)| {
                        p.put(&name(&case.name));
                        if let Some(e) = argument {
                            p.put("(");
                            p.expr(e, TOP);
                            p.put(")");
                        }
                    });
                });
            });
        }
        self.name_clause("CONCRETE_CONSTANTS", &m.constants);
        self.name_clause("ABSTRACT_CONSTANTS", &m.abstract_constants);
        self.predicate("PROPERTIES", &m.properties);
        if !m.values.is_empty() {
            self.clause("VALUES", |p| {
                p.separated(&m.values, "; ", |p, (n, e)| {
                    p.put(&name(&n.name));
                    p.put(" = ");
                    p.expr(e, TOP);
                });
            });
        }
        self.name_clause("CONCRETE_VARIABLES", &m.concrete_variables);
        self.name_clause("ABSTRACT_VARIABLES", &m.variables);
        self.predicate("INVARIANT", &m.invariant);
        if !m.assertions.is_empty() {
            self.clause("ASSERTIONS", |p| p.separated(&m.assertions, "; ", |p, e| p.expr(e, TOP)));
        }
        if !m.tool_definitions.is_empty() {
            self.clause("DEFINITIONS", |p| {
                p.separated(&m.tool_definitions, "; ", |p, (n, e)| {
                    p.put(&name(&n.name));
                    p.put(" == ");
                    p.expr(e, TOP);
                });
            });
        }
        if let Some(s) = &m.initialisation {
            self.clause("INITIALISATION", |p| p.sequence(s));
        }
        self.operations("LOCAL_OPERATIONS", &m.local_operations);
        self.operations("OPERATIONS", &m.operations);
        self.put("END\n");
    }

    fn clause(&mut self, head: &str, body: impl FnOnce(&mut Self)) {
        self.put(head);
        self.indent += 1;
        self.line();
        body(self);
        self.indent -= 1;
        self.put("\n");
    }

    fn name_clause(&mut self, head: &str, names: &[Ident]) {
        if !names.is_empty() {
            self.clause(head, |p| p.names(names));
        }
    }

    fn refs(&mut self, head: &str, refs: &[MachineRef]) {
        if refs.is_empty() {
            return;
        }
        self.clause(head, |p| {
            p.separated(refs, ", ", |p, r| {
                if let Some(prefix) = &r.prefix {
                    p.put(&name(prefix));
                    p.put(".");
                }
                p.put(&name(&r.name.name));
                if !r.args.is_empty() {
                    p.put("(");
                    p.list(&r.args, BRACKETS);
                    p.put(")");
                }
            });
        });
    }

    /// One conjunct a line.
    fn predicate(&mut self, head: &str, e: &Option<Expr>) {
        let Some(e) = e else { return };
        let mut conjuncts = vec![];
        let mut left = e;
        while let ExprKind::Binary(BinOp::And, a, b) = &left.kind {
            conjuncts.push(&**b);
            left = a;
        }
        self.clause(head, |p| {
            // A lone conjunct may be an implication; among others it is an operand of `&`.
            let and = priority(BinOp::And);
            p.expr(left, if conjuncts.is_empty() { TOP } else { and });
            for c in conjuncts.iter().rev() {
                p.put(" &");
                p.line();
                p.expr(c, and + 1);
            }
        });
    }

    fn operations(&mut self, head: &str, operations: &[Operation]) {
        if operations.is_empty() {
            return;
        }
        self.clause(head, |p| {
            for (i, op) in operations.iter().enumerate() {
                if i > 0 {
                    p.put(";");
                    p.line();
                }
                if !op.results.is_empty() {
                    p.names(&op.results);
                    p.put(" <-- ");
                }
                p.put(&name(&op.name.name));
                if !op.params.is_empty() {
                    p.put("(");
                    p.names(&op.params);
                    p.put(")");
                }
                p.put(" = ");
                p.parallel(&op.body);
            }
        });
    }
}
