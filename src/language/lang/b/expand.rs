//! Definitions put in place of their uses, as trees: an argument is a whole subtree whatever its
//! priority, as in ProB. A parameter that is bound in the body (`D(v) == #v.(P)`) takes the name it
//! is called with, and names in arguments can be captured: macros are macros.
//!
//! Each body is expanded once, when it is first used. The growth is counted, so that a chain of
//! doubling definitions ends in an error and not in memory.

use super::parse::{MAX_DEPTH, MAX_ERRORS};
use crate::lang::ast::*;
use crate::lang::diag::{Diagnostic, Span};
use crate::lang::macros::{Body, Definition, Definitions, External};
use crate::lang::walk::{children, children_mut, subst_children, subst_children_mut};
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

/// Nodes that all expansions of one machine may add.
const MAX_NODES: usize = 2_000_000;

/// A definition with everything in its body expanded, ready to be copied.
struct Expanded {
    body: Body,
    size: usize,
    height: u32,
    /// The first function of ProB's kernel it needs.
    external: Option<(Name, External)>,
}

pub(super) struct Expander<'d> {
    definitions: &'d Definitions,
    done: HashMap<Name, Option<Rc<Expanded>>>,
    /// Locally bound names, which hide definitions; with how often.
    bound: HashMap<Name, u32>,
    /// Kernel functions used by the body that is being expanded, if it is a body.
    in_body: Option<Option<(Name, External)>>,
    nodes: usize,
    pub(super) diagnostics: Vec<Diagnostic>,
}

impl<'d> Expander<'d> {
    pub(super) fn new(definitions: &'d Definitions) -> Self {
        Expander {
            definitions,
            done: HashMap::new(),
            bound: HashMap::new(),
            in_body: None,
            nodes: 0,
            diagnostics: vec![],
        }
    }

    pub(super) fn machine(&mut self, m: &mut Machine) {
        if self.definitions.is_empty() {
            return;
        }
        let parts = [&mut m.constraints, &mut m.properties, &mut m.invariant];
        for e in parts.into_iter().flatten().chain(&mut m.assertions) {
            self.expr(e, 0);
        }
        for r in m.includes.iter_mut().chain(&mut m.extends).chain(&mut m.imports) {
            for e in &mut r.args {
                self.expr(e, 0);
            }
        }
        let arguments = m.freetypes.iter_mut().flat_map(|f| &mut f.cases).filter_map(|(_, e)| e.as_mut());
        arguments.for_each(|e| self.expr(e, 0));
        for (_, e) in &mut m.values {
            self.expr(e, 0);
        }
        if let Some(s) = &mut m.initialisation {
            self.subst(s, 0);
        }
        for op in m.operations.iter_mut().chain(&mut m.local_operations) {
            let names: Vec<Ident> = op.params.iter().chain(&op.results).cloned().collect();
            self.binding(&names, |x| x.subst(&mut op.body, 0));
        }
    }

    /// `S = D` where the definition D is `{a, b, c}`.
    pub(super) fn sets(&mut self, m: &mut Machine, pending: Vec<(usize, Ident)>) {
        for (at, by) in pending {
            let mut e = Expr { kind: ExprKind::Name(by.name.clone()), span: by.span };
            self.expr(&mut e, 0);
            let names = match e.kind {
                ExprKind::SetExt(items) => items
                    .into_iter()
                    .map(|i| match i.kind {
                        ExprKind::Name(name) => Some(Ident { name, span: i.span }),
                        _ => None,
                    })
                    .collect(),
                _ => None,
            };
            match names {
                Some(names) => m.sets[at].elements = Some(names),
                None => self.diagnostics.push(
                    Diagnostic::error(
                        "B0116",
                        by.span,
                        format!("`{}` is not a definition that lists elements", by.name),
                    )
                    .help("write the elements: `S = {a, b, c}`"),
                ),
            }
        }
    }

    pub(super) fn tools(&mut self, m: &mut Machine) {
        let definitions = self.definitions;
        for name in definitions.order.iter().filter(|n| is_for_tools(n)) {
            let Some(d) = definitions.all.get(name).filter(|d| d.params.is_empty()) else { continue };
            if let Body::Expr(e) = &d.body {
                let mut e = e.clone();
                self.expr(&mut e, 0);
                m.tool_definitions.push((d.name.clone(), e));
            }
        }
    }

    fn binding<X>(&mut self, names: &[Ident], inner: impl FnOnce(&mut Self) -> X) -> X {
        for n in names {
            *self.bound.entry(n.name.clone()).or_default() += 1;
        }
        let x = inner(self);
        for n in names {
            if let Some(count) = self.bound.get_mut(&n.name) {
                *count -= 1;
            }
        }
        x
    }

    fn find(&self, name: &Name) -> Option<&'d Definition> {
        let d = self.definitions.all.get(name)?;
        (self.bound.get(name).copied().unwrap_or(0) == 0).then_some(d)
    }

    fn errors(&self) -> usize {
        self.diagnostics.iter().filter(|d| d.is_error()).count()
    }

    fn full(&self) -> bool {
        self.errors() >= MAX_ERRORS || self.nodes > MAX_NODES
    }

    pub(super) fn expr(&mut self, e: &mut Expr, depth: u32) {
        if self.full() {
            return;
        }
        match &mut e.kind {
            ExprKind::Name(name) => {
                if let Some(d) = self.find(name) {
                    self.call(e, d, vec![], depth);
                }
            }
            ExprKind::Old(name) => {
                if let Some(Definition { body: Body::Expr(Expr { kind: ExprKind::Name(n), .. }), .. }) =
                    self.find(name)
                {
                    *name = n.clone();
                }
            }
            ExprKind::Apply(f, args) => {
                for a in args.iter_mut() {
                    self.expr(a, depth + 1);
                }
                if let ExprKind::Name(name) = &f.kind
                    && let Some(d) = self.find(name)
                    && !d.params.is_empty()
                {
                    let args = std::mem::take(args);
                    self.call(e, d, args, depth);
                } else {
                    self.expr(f, depth + 1);
                }
            }
            ExprKind::Quant(_, names, p) | ExprKind::Compr(names, p) => {
                let names = names.clone();
                self.binding(&names, |x| x.expr(p, depth + 1));
            }
            ExprKind::Bind(_, names, p, v) | ExprKind::ComprMap(names, p, v) | ExprKind::Let(names, p, v) => {
                let names = names.clone();
                self.binding(&names, |x| {
                    x.expr(p, depth + 1);
                    x.expr(v, depth + 1);
                });
            }
            _ => children_mut(e, &mut |c| self.expr(c, depth + 1)),
        }
    }

    /// Replaces a call by the body with its arguments.
    fn call(&mut self, e: &mut Expr, d: &Definition, args: Vec<Expr>, depth: u32) {
        let span = e.span;
        let Some(expanded) = self.instance(d, args.len(), span) else { return };
        let Body::Expr(body) = &expanded.body else {
            self.diagnostics.push(
                Diagnostic::error(
                    "B0116",
                    span,
                    format!("`{}` is a substitution and cannot stand in an expression", d.name.name),
                )
                .note(d.name.span, "it is defined here"),
            );
            return;
        };
        let Some(args) = self.arguments(d, &expanded, args, span, depth) else { return };
        let mut body = body.clone();
        self.replace(&mut body, &args);
        body.span = span;
        *e = body;
    }

    /// The expanded definition, when it can be called so.
    fn instance(&mut self, d: &Definition, args: usize, span: Span) -> Option<Rc<Expanded>> {
        if let Some(external) = &d.external {
            self.needs_kernel(&d.name.name, external, span)?;
        } else if args != d.params.len() {
            let wanted = d.params.len();
            self.diagnostics.push(
                Diagnostic::error(
                    "B0113",
                    span,
                    format!("the definition `{}` takes {wanted} argument(s), not {args}", d.name.name),
                )
                .note(d.name.span, "it is defined here"),
            );
            return None;
        }
        let expanded = self.expanded(d)?;
        if let Some((name, external)) = &expanded.external {
            self.needs_kernel(name, external, span)?;
        }
        Some(expanded)
    }

    /// A function of ProB's kernel is an error where the machine uses it; in the body of a definition
    /// it is one only if that definition is used.
    fn needs_kernel(&mut self, name: &Name, external: &External, span: Span) -> Option<()> {
        if let Some(first) = &mut self.in_body {
            first.get_or_insert_with(|| (name.clone(), external.clone()));
            return Some(());
        }
        self.diagnostics.push(match external {
            External::Declared => {
                let message = format!("the external function `{name}` of ProB is not supported");
                Diagnostic::error("B0406", span, message)
            }
            External::Library(file) => {
                let message = format!("`{name}` of the ProB library {file} is not supported");
                Diagnostic::error("B0405", span, message)
            }
        });
        None
    }

    fn expanded(&mut self, d: &Definition) -> Option<Rc<Expanded>> {
        let name = &d.name.name;
        if let Some(known) = self.done.get(name) {
            if known.is_none() && self.errors() == 0 {
                // Circles are reported before; should one come here, it must not pass in silence.
                let message = format!("the definition `{name}` cannot be expanded");
                self.diagnostics.push(Diagnostic::error("B0111", d.name.span, message));
            }
            return known.clone();
        }
        self.done.insert(name.clone(), None);
        let outer_bound = std::mem::take(&mut self.bound);
        let outer_body = self.in_body.replace(None);
        let mut body = d.body.clone();
        let failed = self.errors();
        self.binding(&d.params, |x| match &mut body {
            Body::Expr(e) => x.expr(e, 0),
            Body::Subst(s) => x.subst(s, 0),
        });
        self.bound = outer_bound;
        let external = std::mem::replace(&mut self.in_body, outer_body).flatten();
        let (size, height) = match &body {
            Body::Expr(e) => measure(e),
            Body::Subst(s) => measure_subst(s),
        };
        let result = (failed == self.errors()).then(|| Rc::new(Expanded { body, size, height, external }));
        self.done.insert(name.clone(), result.clone());
        result
    }

    /// Pairs parameters with arguments, and refuses what would grow too large or too deep.
    fn arguments(
        &mut self,
        d: &Definition,
        expanded: &Expanded,
        args: Vec<Expr>,
        span: Span,
        depth: u32,
    ) -> Option<HashMap<Name, Argument>> {
        let mut highest = 0;
        let mut map = HashMap::new();
        for (p, value) in d.params.iter().zip(args) {
            let (size, height) = measure(&value);
            highest = highest.max(height);
            let mut names = HashSet::new();
            mentioned(&value, &mut |n| {
                names.insert(n.clone());
            });
            map.insert(p.name.clone(), Argument { value, size, names });
        }
        if depth.saturating_add(expanded.height).saturating_add(highest) > MAX_DEPTH {
            self.diagnostics.push(
                Diagnostic::error("B0106", span, format!("this expands to more than {MAX_DEPTH} levels"))
                    .note(d.name.span, "the definition is here"),
            );
            return None;
        }
        self.count(expanded.size, span).then_some(map)
    }

    fn count(&mut self, nodes: usize, span: Span) -> bool {
        if self.nodes > MAX_NODES {
            return false;
        }
        self.nodes = self.nodes.saturating_add(nodes);
        if self.nodes > MAX_NODES {
            self.diagnostics.push(
                Diagnostic::error(
                    "B0112",
                    span,
                    format!("the definitions expand to more than {MAX_NODES} operators"),
                )
                .help("definitions are macros and are copied at each use; name values by constants or LET"),
            );
            return false;
        }
        true
    }

    // ---- arguments for parameters, in a copied body ----

    fn replace(&mut self, e: &mut Expr, args: &HashMap<Name, Argument>) {
        if args.is_empty() {
            return;
        }
        match &mut e.kind {
            ExprKind::Name(name) => {
                if let Some(arg) = args.get(name)
                    && self.count(arg.size, e.span)
                {
                    *e = arg.value.clone();
                }
                return;
            }
            ExprKind::Old(name) => {
                if let Some(Argument { value: Expr { kind: ExprKind::Name(n), .. }, .. }) = args.get(name) {
                    *name = n.clone();
                }
                return;
            }
            ExprKind::Quant(_, names, _)
            | ExprKind::Compr(names, _)
            | ExprKind::Bind(_, names, ..)
            | ExprKind::ComprMap(names, ..)
            | ExprKind::Let(names, ..) => {
                let own: Vec<Ident> = names.iter().filter(|n| !args.contains_key(&n.name)).cloned().collect();
                self.rename(names, args);
                self.check_capture(&own, e, args);
            }
            _ => {}
        }
        children_mut(e, &mut |c| self.replace(c, args));
    }

    /// Warns when a name that the body binds itself stands in an argument put under that binding: ProB
    /// captures it too, but the author hardly meant it.
    fn check_capture(&mut self, own: &[Ident], scope: &Expr, args: &HashMap<Name, Argument>) {
        let Some(n) = own.iter().find(|n| args.values().any(|a| a.names.contains(&n.name))) else { return };
        let mut captured = None;
        mentioned(scope, &mut |param| {
            if let Some(arg) = args.get(param)
                && arg.names.contains(&n.name)
            {
                captured = Some(arg.value.span);
            }
        });
        const MOST: usize = 10;
        let warnings = || self.diagnostics.iter().filter(|d| d.code == "B0119");
        if let Some(span) = captured
            && warnings().count() < MOST
            && warnings().all(|d| d.span != span)
        {
            self.diagnostics.push(
                Diagnostic::warning("B0119", span, format!("the definition binds `{}` itself", n.name))
                    .note(n.span, "so it means this variable there")
                    .help("rename the variable in the definition or in the argument"),
            );
        }
    }

    /// Bound names that are parameters take the name of their argument; a pair gives several.
    fn rename(&mut self, names: &mut Vec<Ident>, args: &HashMap<Name, Argument>) {
        if !names.iter().any(|n| args.contains_key(&n.name)) {
            return;
        }
        let mut renamed = vec![];
        for n in names.drain(..) {
            match args.get(&n.name) {
                Some(arg) => {
                    let before = renamed.len();
                    flatten(&arg.value, &mut renamed);
                    if renamed.len() == before {
                        self.diagnostics.push(
                            Diagnostic::error(
                                "B0116",
                                arg.value.span,
                                "this argument must be a name: the definition binds it",
                            )
                            .note(n.span, "here"),
                        );
                    }
                }
                None => renamed.push(n),
            }
        }
        *names = renamed;
    }

    fn replace_subst(&mut self, s: &mut Subst, args: &HashMap<Name, Argument>) {
        if args.is_empty() {
            return;
        }
        match &mut s.kind {
            SubstKind::BecomesSuch(names, _)
            | SubstKind::Any(names, ..)
            | SubstKind::Let(names, ..)
            | SubstKind::Var(names, _) => self.rename(names, args),
            SubstKind::Call { op, .. } => {
                if let Some(Argument { value: Expr { kind: ExprKind::Name(n), .. }, .. }) = args.get(&op.name)
                {
                    op.name = n.clone();
                }
            }
            _ => {}
        }
        let mut parts = vec![];
        subst_children_mut(s, &mut |e| self.replace(e, args), &mut |c| parts.push(c));
        for part in parts {
            self.replace_subst(part, args);
        }
    }

    // ---- substitutions ----

    fn subst(&mut self, s: &mut Subst, depth: u32) {
        if self.full() {
            return;
        }
        match &mut s.kind {
            SubstKind::Call { op, args, results } => {
                for e in args.iter_mut().chain(results.iter_mut()) {
                    self.expr(e, depth + 1);
                }
                if let Some(d) = self.find(&op.name) {
                    self.call_subst(s, d, depth);
                }
            }
            SubstKind::BecomesSuch(names, p) => {
                for n in names.iter_mut() {
                    if let Some(Definition {
                        body: Body::Expr(Expr { kind: ExprKind::Name(to), .. }), ..
                    }) = self.find(&n.name)
                    {
                        n.name = to.clone();
                    }
                }
                self.expr(p, depth + 1);
            }
            SubstKind::Any(names, p, body) | SubstKind::Let(names, p, body) => {
                let names = names.clone();
                self.binding(&names, |x| {
                    x.expr(p, depth + 1);
                    x.subst(body, depth + 1);
                });
            }
            SubstKind::Var(names, body) => {
                let names = names.clone();
                self.binding(&names, |x| x.subst(body, depth + 1));
            }
            _ => {
                let mut parts = vec![];
                subst_children_mut(s, &mut |e| self.expr(e, depth + 1), &mut |c| parts.push(c));
                for part in parts {
                    self.subst(part, depth + 1);
                }
            }
        }
    }

    fn call_subst(&mut self, s: &mut Subst, d: &Definition, depth: u32) {
        let span = s.span;
        let SubstKind::Call { op, args, results } = &mut s.kind else { return };
        // `D` may stand for an operation's name, which then takes the arguments itself.
        let extra = d.params.is_empty() && !args.is_empty();
        let own = if extra { vec![] } else { std::mem::take(args) };
        let Some(expanded) = self.instance(d, own.len(), span) else { return };
        let Some(own) = self.arguments(d, &expanded, own, span, depth) else { return };
        match &expanded.body {
            Body::Subst(body) if results.is_empty() && !extra => {
                let mut body = body.clone();
                self.replace_subst(&mut body, &own);
                body.span = span;
                *s = body;
            }
            Body::Expr(body) => {
                let mut body = body.clone();
                self.replace(&mut body, &own);
                let called = match body.kind {
                    ExprKind::Name(name) => Some((name, std::mem::take(args))),
                    ExprKind::Apply(f, given) if !extra => match f.kind {
                        ExprKind::Name(name) => Some((name, given)),
                        _ => None,
                    },
                    _ => None,
                };
                match called {
                    Some((name, given)) => {
                        op.name = name;
                        *args = given;
                    }
                    None => self.no_substitution(d, span),
                }
            }
            Body::Subst(_) => self.no_substitution(d, span),
        }
    }

    fn no_substitution(&mut self, d: &Definition, span: Span) {
        self.diagnostics.push(
            Diagnostic::error(
                "B0116",
                span,
                format!("`{}` cannot be used as a substitution so", d.name.name),
            )
            .note(d.name.span, "it is defined here"),
        );
    }
}

/// One argument of a call, with its size and the names in it.
struct Argument {
    value: Expr,
    size: usize,
    names: HashSet<Name>,
}

/// The names in `x` or `x, y` or `x |-> y`.
fn flatten(e: &Expr, names: &mut Vec<Ident>) {
    match &e.kind {
        ExprKind::Name(n) => names.push(Ident { name: n.clone(), span: e.span }),
        ExprKind::Binary(BinOp::Pair, a, b) => {
            flatten(a, names);
            flatten(b, names);
        }
        _ => {}
    }
}

fn measure(e: &Expr) -> (usize, u32) {
    let (mut size, mut height) = (0, 0);
    children(e, &mut |c| {
        let (s, h) = measure(c);
        size += s;
        height = height.max(h);
    });
    (size + 1, height + 1)
}

fn measure_subst(s: &Subst) -> (usize, u32) {
    let (mut size, mut height) = (0, 0);
    let mut parts = vec![];
    subst_children(
        s,
        &mut |e| {
            let (s, h) = measure(e);
            size += s;
            height = height.max(h);
        },
        &mut |c| parts.push(c),
    );
    for part in parts {
        let (s, h) = measure_subst(part);
        size += s;
        height = height.max(h);
    }
    (size + 1, height + 1)
}

/// Calls `see` with every name in an expression, bound ones too.
pub(super) fn mentioned(e: &Expr, see: &mut dyn FnMut(&Name)) {
    if let ExprKind::Name(n) | ExprKind::Old(n) = &e.kind {
        see(n);
    }
    children(e, &mut |c| mentioned(c, see));
}

/// Definitions that tools give a meaning.
pub(super) fn is_for_tools(name: &str) -> bool {
    const WHOLE: [&str; 3] = ["GOAL", "HEURISTIC_FUNCTION", "SCOPE"];
    const PREFIXES: [&str; 5] = ["ASSERT_LTL", "ASSERT_CTL", "scope_", "SET_PREF_", "FORCE_SYMMETRY"];
    WHOLE.contains(&name) || PREFIXES.iter().any(|p| name.starts_with(p))
}
