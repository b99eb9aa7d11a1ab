//! Random expressions, written in LaTeX, in Unicode and in B at once: both markups are read as one typed tree, and its
//! value is that of the text in B. Rounding, bags and parts of sequences have texts in B that are thought out apart.

use crate::{Three, left, value};

/// xorshift, so that a number makes a case.
struct Source(u64);

impl Source {
    fn below(&mut self, n: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % n
    }
}

struct Writer {
    from: Source,
    /// Bound variables, all of them integers.
    names: Vec<String>,
    next: usize,
}

/// Puts the parts in the places `0`, `1`, … of the three patterns.
fn fill(latex: &str, unicode: &str, b: &str, parts: &[Three]) -> Three {
    let filled = |pattern: &str, of: &dyn Fn(&Three) -> String| {
        let mut out = String::new();
        let mut chars = pattern.chars();
        while let Some(c) = chars.next() {
            let part = if c == '§' { chars.next().and_then(|d| d.to_digit(10)) } else { None };
            match part.and_then(|at| parts.get(at as usize)) {
                Some(part) => out.push_str(&of(part)),
                None => out.push(c),
            }
        }
        out
    };
    Three {
        latex: filled(latex, &|p| p.latex.clone()),
        unicode: filled(unicode, &|p| p.unicode.clone()),
        b: filled(b, &|p| p.b.clone()),
    }
}

/// An operator between two operands that is written alike everywhere but for the sign.
fn infix(latex: &str, unicode: &str, b: &str, parts: &[Three]) -> Three {
    fill(&format!("(§0 {latex} §1)"), &format!("(§0 {unicode} §1)"), &format!("(§0 {b} §1)"), parts)
}

impl Writer {
    fn word(&self, text: &str) -> Three {
        Three { latex: text.into(), unicode: text.into(), b: text.into() }
    }

    fn bound(&mut self) -> Three {
        self.next += 1;
        self.word(&format!("v{}", self.next))
    }

    fn number(&mut self, depth: u32) -> Three {
        let kind = if depth == 0 { self.from.below(2) } else { self.from.below(16) };
        match kind {
            0 if !self.names.is_empty() => {
                let at = self.from.below(self.names.len() as u64) as usize;
                self.word(&self.names[at].clone())
            }
            0 | 1 => {
                let n = self.from.below(5);
                self.word(&n.to_string())
            }
            2..=4 => {
                let parts = [self.number(depth - 1), self.number(depth - 1)];
                let sign = ["+", "-", "*"][kind as usize - 2];
                infix(sign, sign, sign, &parts)
            }
            5 => fill("(\\negate §0)", "(-§0)", "(-§0)", &[self.number(depth - 1)]),
            6 => {
                let parts = [self.number(depth - 1), self.number(depth - 1)];
                fill("(§0 \\div §1)", "(§0 div §1)", "floor(real(§0) / real(§1))", &parts)
            }
            7 => {
                let parts = [self.number(depth - 1), self.number(depth - 1)];
                let b = "(§0 - §1 * floor(real(§0) / real(§1)))";
                fill("(§0 \\mod §1)", "(§0 mod §1)", b, &parts)
            }
            8 => fill("(\\# §0)", "(# §0)", "card(§0)", &[self.set(depth - 1)]),
            9 => fill("(min §0)", "(min §0)", "min(§0)", &[self.set(depth - 1)]),
            10 => fill("(§0~§1)", "(§0 §1)", "(§0)(§1)", &[self.relation(depth - 1), self.number(depth - 1)]),
            11 => {
                let parts = [self.pred(depth - 1), self.number(depth - 1), self.number(depth - 1)];
                fill(
                    "(\\IF §0 \\THEN §1 \\ELSE §2)",
                    "(if §0 then §1 else §2)",
                    "(IF §0 THEN §1 ELSE §2 END)",
                    &parts,
                )
            }
            12 => fill("(head~§0)", "(head §0)", "first(§0)", &[self.sequence(depth - 1)]),
            13 => {
                let parts = [self.number(depth - 1), self.number(depth - 1)];
                fill("(§0, §1).2", "(§0, §1).2", "prj2(INTEGER, INTEGER)(§0 |-> §1)", &parts)
            }
            14 => {
                let parts = [self.number(depth - 1), self.number(depth - 1)];
                let (latex, unicode) = ("\\lblot a == §0, c == §1 \\rblot.a", "⦉a == §0, c == §1⦊.a");
                fill(latex, unicode, "rec(a: §0, c: §1)'a", &parts)
            }
            _ => {
                let parts = [self.sequence(depth - 1), self.sequence(depth - 1), self.number(depth - 1)];
                let count = "card(§0 |> {§2}) - card(§1 |> {§2})";
                let (latex, unicode) =
                    ("((items~§0 \\uminus items~§1) \\bcount §2)", "((items §0 ⩁ items §1) ♯ §2)");
                fill(latex, unicode, &format!("(IF {count} > 0 THEN {count} ELSE 0 END)"), &parts)
            }
        }
    }

    /// `x` from a set, with something about it.
    fn declared(&mut self, depth: u32, rest: &mut dyn FnMut(&mut Self) -> Three) -> [Three; 3] {
        let from = self.set(depth);
        let x = self.bound();
        self.names.push(x.b.clone());
        let rest = rest(self);
        self.names.pop();
        [x, from, rest]
    }

    fn set(&mut self, depth: u32) -> Three {
        let kind = if depth == 0 { self.from.below(2) } else { self.from.below(13) };
        let below = depth.saturating_sub(1);
        match kind {
            0 => fill("\\{ §0, §1 \\}", "{§0, §1}", "{§0, §1}", &[self.number(below), self.number(below)]),
            1 => fill("(§0 \\upto §1)", "(§0 .. §1)", "(§0 .. §1)", &[self.number(0), self.number(0)]),
            2 => infix("\\cup", "∪", "\\/", &[self.set(below), self.set(below)]),
            3 => infix("\\cap", "∩", "/\\", &[self.set(below), self.set(below)]),
            4 => infix("\\setminus", "∖", "-", &[self.set(below), self.set(below)]),
            5 => {
                let parts = [self.set(below), self.set(below)];
                fill("(§0 \\symdiff §1)", "(§0 ⊖ §1)", "((§0 \\/ §1) - (§0 /\\ §1))", &parts)
            }
            6 => fill("(\\dom §0)", "(dom §0)", "dom(§0)", &[self.relation(below)]),
            7 => fill("(\\ran §0)", "(ran §0)", "ran(§0)", &[self.relation(below)]),
            8 => {
                let parts = [self.relation(below), self.set(below)];
                fill("(§0 \\limg §1 \\rimg)", "(§0 ⦇ §1 ⦈)", "(§0)[§1]", &parts)
            }
            9 => {
                let parts = self.declared(below, &mut |w| w.pred(below));
                let (latex, unicode) = ("\\{ §0 : §1 | §2 \\}", "{§0 : §1 | §2}");
                fill(latex, unicode, "{§0 | §0 : §1 & §2}", &parts)
            }
            10 => {
                let parts = self.declared(below, &mut |w| w.number(below));
                fill("\\{ §0 : §1 @ §2 \\}", "{§0 : §1 • §2}", "{§0 . §0 : §1 | §2}", &parts)
            }
            11 => {
                let parts = [self.set(below), self.set(below)];
                fill("(\\bigcup \\{ §0, §1 \\})", "(⋃ {§0, §1})", "union({§0, §1})", &parts)
            }
            _ => {
                let parts = [self.set(below), self.set(below)];
                fill("(\\bigcap \\{ §0, §1 \\})", "(⋂ {§0, §1})", "inter({§0, §1})", &parts)
            }
        }
    }

    fn relation(&mut self, depth: u32) -> Three {
        let kind = if depth == 0 { 0 } else { self.from.below(14) };
        let below = depth.saturating_sub(1);
        match kind {
            0 => {
                let parts = [self.number(below), self.number(below), self.number(below), self.number(below)];
                let b = "{§0 |-> §1, §2 |-> §3}";
                fill("\\{ §0 \\mapsto §1, §2 \\mapsto §3 \\}", "{§0 ↦ §1, §2 ↦ §3}", b, &parts)
            }
            1 => infix("\\oplus", "⊕", "<+", &[self.relation(below), self.relation(below)]),
            2 => infix("\\dres", "◁", "<|", &[self.set(below), self.relation(below)]),
            3 => infix("\\ndres", "⩤", "<<|", &[self.set(below), self.relation(below)]),
            4 => infix("\\rres", "▷", "|>", &[self.relation(below), self.set(below)]),
            5 => infix("\\nrres", "⩥", "|>>", &[self.relation(below), self.set(below)]),
            6 => fill("(§0\\inv)", "(§0∼)", "(§0)~", &[self.relation(below)]),
            7 => infix("\\comp", "⨾", ";", &[self.relation(below), self.relation(below)]),
            8 => {
                let parts = [self.relation(below), self.relation(below)];
                fill("(§0 \\circ §1)", "(§0 ∘ §1)", "(§1 ; §0)", &parts)
            }
            9 => fill("(\\id §0)", "(id §0)", "id(§0)", &[self.set(below)]),
            10 => infix("\\cross", "×", "*", &[self.set(below), self.set(below)]),
            11 => {
                let parts = self.declared(below, &mut |w| w.number(below));
                fill("(\\lambda §0 : §1 @ §2)", "(λ §0 : §1 • §2)", "%§0.(§0 : §1 | §2)", &parts)
            }
            12 => {
                let parts = [self.relation(below)];
                fill("(§0 \\bsup 2 \\esup)", "(§0 ↗ 2 ↙)", "(§0 ; §0)", &parts)
            }
            _ => fill("(§0\\plus)", "(§0⁺)", "closure1(§0)", &[self.relation(below)]),
        }
    }

    fn sequence(&mut self, depth: u32) -> Three {
        let kind = if depth == 0 { 0 } else { self.from.below(7) };
        let below = depth.saturating_sub(1);
        match kind {
            0 => {
                let parts = [self.number(below), self.number(below)];
                fill("\\langle §0, §1 \\rangle", "⟨§0, §1⟩", "[§0, §1]", &parts)
            }
            1 => infix("\\cat", "⁀", "^", &[self.sequence(below), self.sequence(below)]),
            2 => fill("(rev~§0)", "(rev §0)", "rev(§0)", &[self.sequence(below)]),
            3 => fill("(tail~§0)", "(tail §0)", "tail(§0)", &[self.sequence(below)]),
            4 => fill("(front~§0)", "(front §0)", "front(§0)", &[self.sequence(below)]),
            5 => {
                let parts = [self.sequence(below), self.set(below)];
                fill("(§0 \\filter §1)", "(§0 ↾ §1)", "SQUASH(§0 |> §1)", &parts)
            }
            _ => {
                let parts = [self.set(below), self.sequence(below)];
                fill("(§0 \\extract §1)", "(§0 ↿ §1)", "SQUASH(§0 <| §1)", &parts)
            }
        }
    }

    fn pred(&mut self, depth: u32) -> Three {
        let kind = if depth == 0 { self.from.below(2) } else { self.from.below(16) };
        let below = depth.saturating_sub(1);
        match kind {
            0 => infix("=", "=", "=", &[self.number(below), self.number(below)]),
            1 => infix("<", "<", "<", &[self.number(below), self.number(below)]),
            2 => infix("\\geq", "≥", ">=", &[self.number(below), self.number(below)]),
            3 => infix("\\in", "∈", ":", &[self.number(below), self.set(below)]),
            4 => infix("\\notin", "∉", "/:", &[self.number(below), self.set(below)]),
            5 => infix("\\subseteq", "⊆", "<:", &[self.set(below), self.set(below)]),
            6 => infix("\\land", "∧", "&", &[self.pred(below), self.pred(below)]),
            7 => infix("\\lor", "∨", "or", &[self.pred(below), self.pred(below)]),
            8 => infix("\\implies", "⇒", "=>", &[self.pred(below), self.pred(below)]),
            9 => infix("\\iff", "⇔", "<=>", &[self.pred(below), self.pred(below)]),
            10 => fill("(\\lnot §0)", "(¬ §0)", "not(§0)", &[self.pred(below)]),
            11 => {
                let parts = self.declared(below, &mut |w| w.pred(below));
                fill("(\\forall §0 : §1 @ §2)", "(∀ §0 : §1 • §2)", "(!§0.(§0 : §1 => §2))", &parts)
            }
            12 => {
                let parts = self.declared(below, &mut |w| w.pred(below));
                fill("(\\exists §0 : §1 @ §2)", "(∃ §0 : §1 • §2)", "(#§0.(§0 : §1 & §2))", &parts)
            }
            13 => {
                let parts = self.declared(below, &mut |w| w.pred(below));
                let b = "(card({§0 | §0 : §1 & §2}) = 1)";
                fill("(\\exists_1 §0 : §1 @ §2)", "(∃₁ §0 : §1 • §2)", b, &parts)
            }
            14 => {
                let parts = [self.sequence(below), self.sequence(below)];
                let b = "(#nn.(nn : 0 .. card(§1) & §0 = §1 /|\\ nn))";
                fill("(§0 \\prefix §1)", "(§0 prefix §1)", b, &parts)
            }
            _ => infix("=", "=", "=", &[self.relation(below), self.relation(below)]),
        }
    }
}

#[test]
fn both_markups_mean_what_b_means() {
    let cases = std::env::var("KANON_Z_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(300u64);
    let (mut with_value, mut without) = (0, 0);
    for case in 0..cases {
        let from = Source(case.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
        let mut writer = Writer { from, names: vec![], next: 0 };
        for _ in 0..8 {
            writer.from.below(2);
        }
        let three = match case % 4 {
            0 => writer.number(3),
            1 => writer.set(3),
            2 => writer.relation(3),
            _ => {
                let p = writer.pred(3);
                fill(
                    "(\\IF §0 \\THEN 1 \\ELSE 0)",
                    "(if §0 then 1 else 0)",
                    "(IF §0 THEN 1 ELSE 0 END)",
                    &[p],
                )
            }
        };
        let (latex, unicode, b) = (three.latex_model(), three.unicode_model(), three.b_model());
        assert_eq!(left(&latex), left(&unicode), "{three:#?}");
        let (found, expected) = (value(&latex), value(&b));
        assert_eq!(found, expected, "case {case}: {three:#?}");
        match found {
            Some(_) => with_value += 1,
            None => without += 1,
        }
    }
    assert!(with_value > cases / 3 && without > cases / 50, "{with_value} with a value, {without} without");
}
