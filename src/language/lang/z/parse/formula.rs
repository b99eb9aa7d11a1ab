//! Predicates and expressions, by priority.

use super::{Failed, Parser, Res, Text};
use crate::lang::ast::Name;
use crate::lang::diag::{Diagnostic, Span};
use crate::lang::stack::MAX_DEPTH;
use crate::lang::z::lex::Tok;
use crate::lang::z::tree::{Decl, Expr, Kind};

/// Priorities: logic, comparisons, operators.
const LOGIC: [(&str, u8, bool); 4] = [("⇔", 10, false), ("⇒", 20, true), ("∨", 30, false), ("∧", 40, false)];
pub(super) const NOT: u8 = 50;
const SCHEMAS: [(&str, u8); 3] = [("⨟", 52), ("⨠", 53), ("⨡", 54)];
const HIDE: u8 = 54;
const COMPARISON: u8 = 60;
const COMPARISONS: [&str; 15] =
    ["=", "≠", "∈", "∉", "⊆", "⊂", "<", "≤", ">", "≥", "prefix", "suffix", "infix", "⋿", "⊑"];
const ARROWS: [&str; 10] = ["↔", "⇸", "→", "⤔", "↣", "⤀", "↠", "⤖", "⇻", "⤕"];
pub(super) const ARROW: u8 = 70;
const CROSS: u8 = 75;
const OPERATORS: [(&str, u8); 26] = [
    ("↦", 80),
    ("..", 90),
    ("+", 100),
    ("-", 100),
    ("∪", 100),
    ("∖", 100),
    ("⊖", 100),
    ("⁀", 100),
    ("⊎", 100),
    ("⩁", 100),
    ("*", 110),
    ("div", 110),
    ("mod", 110),
    ("∩", 110),
    ("↿", 110),
    ("↾", 110),
    ("⨾", 110),
    ("∘", 110),
    ("⊗", 110),
    ("⊕", 120),
    ("♯", 120),
    ("◁", 130),
    ("▷", 140),
    ("⩤", 130),
    ("⩥", 140),
    ("partition", COMPARISON),
];
const PREFIX: [&str; 16] =
    ["#", "ℙ₁", "ℙ", "𝔽₁", "𝔽", "seq₁", "seq", "iseq", "bag", "id", "dom", "ran", "⋃", "⋂", "⁀/", "-"];
/// Those that are ordinary functions: `dom f x` is `(dom f) x`.
const FUNCTIONS: [&str; 5] = ["dom", "ran", "⋃", "⋂", "⁀/"];
const CONSTANTS: [&str; 6] = ["∅", "ℕ", "ℕ₁", "ℤ", "true", "false"];
const BINDERS: [&str; 6] = ["λ", "μ", "∀", "∃", "∃₁", "let"];

fn expr(kind: Kind, span: Span) -> Expr {
    Expr { kind, span }
}

impl Parser<'_> {
    fn deeper<T>(&mut self, read: impl FnOnce(&mut Self) -> Res<T>) -> Res<T> {
        self.depth += 1;
        // Some levels of the grammar make several levels of the tree.
        let result = if self.depth > MAX_DEPTH / 4 {
            let span = self.span();
            self.fail(span, "this is nested too deeply")
        } else {
            read(self)
        };
        self.depth -= 1;
        result
    }

    pub(super) fn formula(&mut self, least: u8) -> Res<Expr> {
        self.level(least).map(|(e, _)| e)
    }

    fn level(&mut self, least: u8) -> Res<(Expr, Bare)> {
        self.deeper(|p| p.infix(least))
    }

    fn infix(&mut self, least: u8) -> Res<(Expr, Bare)> {
        let start = self.span();
        let (mut left, mut bare) = self.prefix()?;
        let mut height = 0;
        loop {
            let symbol = self.sym();
            if symbol.is_empty() {
                return Ok((left, bare));
            }
            height += 1;
            if height > MAX_DEPTH / 2 {
                let span = self.span();
                return self.fail(span, "this chain of operators is too long: use brackets");
            }
            if let Some((_, priority, is_right)) = LOGIC.iter().find(|(s, ..)| *s == symbol) {
                if *priority < least {
                    return Ok((left, bare));
                }
                let place = self.span();
                self.at += 1;
                let (right, bare_right) = self.level(priority + u8::from(!is_right))?;
                if bare == Bare::Schema || bare_right == Bare::Schema {
                    return self.mixed(place);
                }
                left = expr(Kind::Op(symbol, vec![left, right]), self.from(start));
                bare = Bare::Logic;
            } else if let Some((_, priority)) = SCHEMAS.iter().find(|(s, _)| *s == symbol) {
                if *priority < least {
                    return Ok((left, bare));
                }
                let place = self.span();
                self.at += 1;
                if bare == Bare::Logic {
                    return self.mixed(place);
                }
                let right = self.formula(priority + 1)?;
                left = expr(Kind::Op(symbol, vec![left, right]), self.from(start));
                bare = Bare::Schema;
            } else if symbol == "⧹" {
                if HIDE < least {
                    return Ok((left, bare));
                }
                let place = self.span();
                self.at += 1;
                if bare == Bare::Logic {
                    return self.mixed(place);
                }
                self.expect("(")?;
                let mut names = vec![self.ident()?];
                while self.eat(",") {
                    names.push(self.ident()?);
                }
                self.expect(")")?;
                left = expr(Kind::Hide(Box::new(left), names), self.from(start));
                bare = Bare::Schema;
            } else if COMPARISONS.contains(&symbol) {
                if COMPARISON < least {
                    return Ok((left, bare));
                }
                left = self.comparisons(left, start)?;
                bare = Bare::Other;
            } else if ARROWS.contains(&symbol) {
                if ARROW < least {
                    return Ok((left, bare));
                }
                self.at += 1;
                let right = self.formula(ARROW)?;
                left = expr(Kind::Op(symbol, vec![left, right]), self.from(start));
            } else if symbol == "×" {
                if CROSS < least {
                    return Ok((left, bare));
                }
                let mut factors = vec![left];
                while self.eat("×") {
                    factors.push(self.formula(CROSS + 1)?);
                }
                left = expr(Kind::Op("×", factors), self.from(start));
            } else if let Some((_, priority)) = OPERATORS.iter().find(|(s, _)| *s == symbol) {
                if *priority < least {
                    return Ok((left, bare));
                }
                self.at += 1;
                let right = self.formula(priority + 1)?;
                left = expr(Kind::Op(symbol, vec![left, right]), self.from(start));
            } else {
                return Ok((left, bare));
            }
        }
    }

    fn mixed<T>(&mut self, span: Span) -> Res<T> {
        let message = "Spivey's manual and the standard read this differently";
        let diag = Diagnostic::error("B0102", span, message);
        let help = "put brackets around one of the two: hiding, `⨟`, `⨠` and `⨡` beside logical operators";
        self.diagnostics.push(diag.help(help));
        Err(Failed)
    }

    /// `a < b = c` means `a < b ∧ b = c`.
    fn comparisons(&mut self, first: Expr, start: Span) -> Res<Expr> {
        let (mut left, mut all) = (first, None);
        let mut links = 0;
        while COMPARISONS.contains(&self.sym()) {
            let symbol = self.sym();
            self.at += 1;
            links += 1;
            if links > MAX_DEPTH / 4 {
                let span = self.span();
                return self.fail(span, "this chain of comparisons is too long");
            }
            let right = self.formula(COMPARISON + 1)?;
            let span = left.span.to(right.span);
            let one = expr(Kind::Op(symbol, vec![left, right.clone()]), span);
            all = Some(match all {
                None => one,
                Some(before) => expr(Kind::Op("∧", vec![before, one]), self.from(start)),
            });
            left = right;
        }
        Ok(all.unwrap_or(left))
    }

    fn prefix(&mut self) -> Res<(Expr, Bare)> {
        let (start, symbol) = (self.span(), self.sym());
        if symbol == "¬" {
            self.at += 1;
            let (of, bare) = self.level(NOT)?;
            if bare == Bare::Schema {
                return self.mixed(start);
            }
            return Ok((expr(Kind::Op("¬", vec![of]), self.from(start)), Bare::Logic));
        }
        if symbol == "pre" || symbol == "disjoint" {
            self.at += 1;
            let of = self.formula(if symbol == "pre" { CROSS } else { COMPARISON + 1 })?;
            return Ok((expr(Kind::Op(symbol, vec![of]), self.from(start)), Bare::Other));
        }
        if BINDERS.contains(&symbol) || symbol == "if" {
            // As far to the right as it goes.
            return Ok((self.binder()?, Bare::Other));
        }
        Ok((self.operand()?, Bare::Other))
    }

    fn binder(&mut self) -> Res<Expr> {
        let (start, symbol) = (self.span(), self.sym());
        self.at += 1;
        if symbol == "if" {
            let cond = self.formula(0)?;
            self.expect("then")?;
            let yes = self.formula(0)?;
            self.expect("else")?;
            let no = self.formula(0)?;
            let kind = Kind::If(Box::new(cond), Box::new(yes), Box::new(no));
            return Ok(expr(kind, self.from(start)));
        }
        let text = self.text()?;
        let body = match self.eat("•") {
            true => Some(Box::new(self.formula(0)?)),
            false if symbol == "μ" => None,
            false => return self.unexpected("`•`"),
        };
        if symbol == "let" && text.decls.iter().any(|d| !matches!(d, Decl::Value(..))) {
            return self.fail(start, "`let` takes definitions `x == E` only");
        }
        Ok(expr(Kind::Bind(symbol, text, body), self.from(start)))
    }

    /// Operators that stand before one operand, and juxtaposition.
    fn operand(&mut self) -> Res<Expr> {
        self.deeper(|p| {
            let (start, symbol) = (p.span(), p.sym());
            if PREFIX.contains(&symbol) {
                p.at += 1;
                if !FUNCTIONS.contains(&symbol) || PREFIX.contains(&p.sym()) {
                    let of = p.operand()?;
                    return Ok(expr(Kind::Op(symbol, vec![of]), p.from(start)));
                }
            }
            let mut f = p.postfix()?;
            if FUNCTIONS.contains(&symbol) {
                f = expr(Kind::Op(symbol, vec![f]), p.from(start));
            }
            let mut height = 0;
            while p.begins_operand() {
                height += 1;
                if height > MAX_DEPTH / 4 {
                    return p.fail(start, "this chain of applications is too long");
                }
                let x = if PREFIX.contains(&p.sym()) { p.operand()? } else { p.postfix()? };
                f = expr(Kind::Apply(Box::new(f), Box::new(x)), p.from(start));
            }
            Ok(f)
        })
    }

    fn begins_operand(&self) -> bool {
        match self.peek() {
            Some(Tok::Word(_) | Tok::Num(_)) => true,
            Some(Tok::Sym(s)) => {
                matches!(*s, "(" | "{" | "⟨" | "⟦" | "⦉" | "θ")
                    || (CONSTANTS.contains(s) && !matches!(*s, "true" | "false"))
                    || (PREFIX.contains(s) && *s != "-")
            }
            _ => false,
        }
    }

    fn postfix(&mut self) -> Res<Expr> {
        let start = self.span();
        let mut e = self.atom()?;
        let mut height = 0;
        loop {
            height += 1;
            if height > MAX_DEPTH / 4 {
                return self.fail(start, "this chain of operators is too long");
            }
            let symbol = self.sym();
            let kind = match symbol {
                "∼" | "⁺" | "∗" => {
                    self.at += 1;
                    Kind::Op(symbol, vec![e])
                }
                "↗" => {
                    self.at += 1;
                    let kind = match self.sym() {
                        s @ ("+" | "*") if matches!(self.tokens.get(self.at + 1), Some(t) if t.tok == Tok::Sym("↙")) =>
                        {
                            self.at += 1;
                            Kind::Op(if s == "+" { "⁺" } else { "∗" }, vec![e])
                        }
                        "∼" => {
                            self.at += 1;
                            Kind::Op("∼", vec![e])
                        }
                        _ => Kind::Op("↗", vec![e, self.formula(ARROW)?]),
                    };
                    self.expect("↙")?;
                    kind
                }
                "⦇" => {
                    self.at += 1;
                    let of = self.formula(0)?;
                    self.expect("⦈")?;
                    Kind::Op("⦇", vec![e, of])
                }
                "." => {
                    self.at += 1;
                    match self.peek() {
                        Some(Tok::Num(n)) => {
                            let n = n.try_into().unwrap_or(usize::MAX);
                            self.at += 1;
                            Kind::Pick(Box::new(e), n)
                        }
                        _ => Kind::Select(Box::new(e), self.ident()?),
                    }
                }
                "'" | "?" | "!" => {
                    self.at += 1;
                    Kind::Decorated(Box::new(e), symbol.into())
                }
                "[" if !matches!(e.kind, Kind::Number(_)) => self.bracketed(e)?,
                _ => return Ok(e),
            };
            e = expr(kind, self.from(start));
        }
    }

    /// `S[new/old]`, `S[A, B]`
    fn bracketed(&mut self, of: Expr) -> Res<Kind> {
        self.expect("[")?;
        let is_renaming = matches!(self.peek(), Some(Tok::Word(_)))
            && self.tokens.get(self.at + 1).is_some_and(|t| t.tok == Tok::Sym("/"));
        if is_renaming {
            let mut pairs = vec![];
            loop {
                let new = self.ident()?;
                self.expect("/")?;
                pairs.push((new, self.ident()?));
                if !self.eat(",") {
                    break;
                }
            }
            self.expect("]")?;
            return Ok(Kind::Rename(Box::new(of), pairs));
        }
        let mut args = vec![self.formula(ARROW)?];
        while self.eat(",") {
            args.push(self.formula(ARROW)?);
        }
        self.expect("]")?;
        Ok(Kind::Instance(Box::new(of), args))
    }

    fn list(&mut self, close: &'static str) -> Res<Vec<Expr>> {
        let mut all = vec![];
        if self.eat(close) {
            return Ok(all);
        }
        loop {
            all.push(self.formula(ARROW)?);
            if !self.eat(",") {
                self.expect(close)?;
                return Ok(all);
            }
        }
    }

    fn atom(&mut self) -> Res<Expr> {
        let start = self.span();
        let kind = match self.peek() {
            Some(Tok::Word(w)) => {
                let w: Name = w.clone();
                self.at += 1;
                Kind::Name(w)
            }
            Some(Tok::Num(n)) => {
                let n = n.clone();
                self.at += 1;
                Kind::Number(n)
            }
            Some(Tok::Sym(s)) => return self.bracket(s, start),
            _ => return self.unexpected("an expression or a predicate"),
        };
        Ok(expr(kind, self.from(start)))
    }

    fn bracket(&mut self, symbol: &'static str, start: Span) -> Res<Expr> {
        if CONSTANTS.contains(&symbol) {
            self.at += 1;
            return Ok(expr(Kind::Op(symbol, vec![]), start));
        }
        if PREFIX.contains(&symbol) {
            return self.operand();
        }
        if BINDERS.contains(&symbol) || symbol == "if" {
            return self.binder();
        }
        let kind = match symbol {
            "(" => {
                self.at += 1;
                let first = self.formula(0)?;
                if self.eat(")") {
                    return Ok(Expr { span: self.from(start), ..first });
                }
                let mut all = vec![first];
                while self.eat(",") {
                    all.push(self.formula(ARROW)?);
                }
                self.expect(")")?;
                Kind::Tuple(all)
            }
            "⟨" | "⟦" => {
                self.at += 1;
                let is_seq = symbol == "⟨";
                let all = self.list(if is_seq { "⟩" } else { "⟧" })?;
                if is_seq { Kind::Seq(all) } else { Kind::Bag(all) }
            }
            "⦉" => {
                self.at += 1;
                let mut all = vec![];
                loop {
                    let name = self.ident()?;
                    self.expect("==")?;
                    all.push((name, self.formula(ARROW)?));
                    if !self.eat(",") {
                        break;
                    }
                }
                self.expect("⦊")?;
                Kind::Binding(all)
            }
            "{" => {
                self.at += 1;
                self.braces()?
            }
            "[" => {
                self.at += 1;
                let decls = match self.sym() {
                    "|" | "]" => vec![],
                    _ => self.decls(false)?,
                };
                let preds = self.condition()?;
                self.expect("]")?;
                Kind::Text(Text { decls, preds })
            }
            "θ" => {
                self.at += 1;
                let of = self.postfix()?;
                Kind::Theta(Box::new(of))
            }
            "ℝ" | "𝔸" | "⊢" => {
                self.diagnostics.push(Diagnostic::error(
                    "B0401",
                    start,
                    format!("`{symbol}` is not supported"),
                ));
                return Err(Failed);
            }
            _ => return self.unexpected("an expression or a predicate"),
        };
        Ok(expr(kind, self.from(start)))
    }

    fn braces(&mut self) -> Res<Kind> {
        let is_comprehension = |s: &str| matches!(s, "|" | "•" | ";");
        let text = if self.declares() {
            self.text()?
        } else {
            if self.eat("}") {
                return Ok(Kind::Set(vec![]));
            }
            let first = self.formula(NOT)?;
            if !is_comprehension(self.sym()) {
                let mut all = vec![first];
                while self.eat(",") {
                    all.push(self.formula(ARROW)?);
                }
                self.expect("}")?;
                return Ok(Kind::Set(all));
            }
            let mut decls = vec![Decl::Schema(first)];
            if self.eat(";") {
                decls.extend(self.decls(false)?);
            }
            Text { decls, preds: self.condition()? }
        };
        let body = if self.eat("•") { Some(Box::new(self.formula(0)?)) } else { None };
        self.expect("}")?;
        Ok(Kind::Compr(text, body))
    }
}

/// What stands on the left without brackets around it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Bare {
    Logic,
    Schema,
    Other,
}
