//! What Z means: by the same expressions in B, and by counting the states of models.

mod models;
mod random;
mod rows;

use kanon_language::model::load::load_text;
use kanon_language::model::{BinOp, Expr, ExprKind, Model, scope};
use kanon_semantics::plain::{Scope, Value};
use kanon_semantics::reference::{Cx, Env, eval};

/// The typed model of a text.
fn typed(name: &str, text: &str) -> Model {
    let loaded = load_text(name, text);
    let said: Vec<String> = loaded.diagnostics.iter().map(|d| d.message.clone()).collect();
    loaded.model.unwrap_or_else(|| panic!("{text}\n{said:?}"))
}

fn sizes(model: &Model) -> Scope {
    scope::scope(model, &scope::ScopeArgs::default()).map(|(s, _)| s).unwrap_or_else(|d| panic!("{d:?}"))
}

/// The left side of a model's assertion `E = …`.
fn left(model: &Model) -> &Expr {
    match model.assertions.first().map(|e| &e.kind) {
        Some(ExprKind::Binary(BinOp::Eq, e, _)) => e,
        other => panic!("no equation: {other:?}"),
    }
}

/// Its value; `None` where it has none.
fn value(model: &Model) -> Option<Value> {
    let scope = sizes(model);
    let cx = Cx::new(model, &scope).with_fuel(500_000);
    eval(&cx, &Env::new(model), left(model)).ok()
}

/// An expression of Z in both markups, and in B.
#[derive(Clone, Debug)]
struct Three {
    latex: String,
    unicode: String,
    b: String,
}

impl Three {
    fn latex_model(&self) -> Model {
        typed("E.tex", &format!("\\begin{{zed}} \\vdash? {0} = {0} \\end{{zed}}", self.latex))
    }

    fn unicode_model(&self) -> Model {
        typed("E.zed", &format!("─ ⊢? {0} = {0} └", self.unicode))
    }

    fn b_model(&self) -> Model {
        typed("E.mch", &format!("MACHINE E ASSERTIONS {0} = {0} END", self.b))
    }
}
