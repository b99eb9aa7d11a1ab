//! Whether Rodin built its files from the sources as they are now.
//!
//! Proofs and obligations say nothing of the sources. But what is proved is made of the checked files (`.bcm`, `.bcc`),
//! which Rodin builds of the sources in the same run: formula by formula, each with a handle to where it is from. So the
//! sources are those that were built if each of their elements is in the checked file with the same meaning, and nothing
//! else is. Formulas are compared as trees: Rodin writes them anew, with types.
//!
//! That each checked file is of its own source is not enough: it repeats what it has from other components, and so do
//! the hypotheses of obligations. These copies are compared with the sources, too, since files of different builds may
//! lie side by side.

use super::xml::{self, is_true, kind, value};
use super::{CORE, handle};
use crate::lang::ast::{BinOp, Expr, ExprKind};
use crate::lang::diag::{FileId, Span};
use crate::lang::eventb::gather::Kind;
use crate::lang::eventb::math::lex::At;
use crate::lang::eventb::math::parse;
use crate::lang::eventb::math::tree::balanced;
use crate::lang::eventb::math::write::without_places;
use crate::lang::eventb::project::ActionKind;
use crate::lang::walk::children_mut;
use roxmltree::Node;
use std::collections::{BTreeMap, BTreeSet};

/// A component: what it is, its name, its source, the checked file, and the obligations.
#[derive(Clone, Copy, Debug)]
pub struct Built<'t> {
    pub kind: Kind,
    pub name: &'t str,
    pub source: &'t str,
    pub checked: Option<&'t str>,
    pub obligations: Option<&'t str>,
}

/// The ending of the checked file of a component.
pub fn ending(kind: Kind) -> &'static str {
    match kind {
        Kind::Machine => "bcm",
        Kind::Context => "bcc",
    }
}

/// Why the proofs of these components, which refer to each other, are not about their sources; `None` when they are.
pub fn stale(all: &[Built<'_>]) -> Option<String> {
    let mut events = BTreeMap::new();
    let mut now = vec![];
    for built in all {
        let Some(checked) = built.checked else {
            return Some(format!("there is no `{}.{}`", built.name, ending(built.kind)));
        };
        labels(checked, built, &mut events);
        let mut whole = Whole::default();
        if let Ok(source) = xml::parse(built.source, FileId::default()) {
            let root = source.root_element();
            let around = format!("{}{}#{}", own(built), root.tag_name().name(), handle::name(built.name));
            written(&root, &around, "", &mut whole);
        }
        now.push(whole);
    }
    let pairs = || all.iter().zip(&now);
    // What one file repeats of another may be old, although each of them is made of its own source.
    let everything: Contents = now.iter().flat_map(|w| w.contents.clone()).collect();
    let own = pairs().find_map(|(built, now)| difference(built, &events, now));
    own.or_else(|| all.iter().find_map(|built| old_copy(built, &everything)))
        .or_else(|| all.iter().find_map(|built| lost_action(built, all)))
        .or_else(|| all.iter().find_map(|built| old_hypothesis(built, &everything)))
}

/// What handles to elements of a source begin with.
fn own(built: &Built<'_>) -> String {
    format!("{}.{}|", handle::name(built.name), super::ending(built.kind))
}

/// The kind of the last element of a handle.
fn last_kind(handle: &str) -> Option<&str> {
    let last = handle.rsplit('|').next().unwrap_or_default();
    last.split('#').next().and_then(|k| k.strip_prefix(CORE))
}

/// A checked file repeats the axioms that are seen, the invariants of all levels above, and what an extended event
/// has from the one that it extends. Something there that is different from its source is what was proved with; what
/// is missing was not needed.
fn old_copy(built: &Built<'_>, everything: &Contents) -> Option<String> {
    let document = xml::parse(built.checked?, FileId::default()).ok()?;
    let own = own(built);
    for node in document.descendants() {
        let kind = match kind(&node) {
            Some("scAxiom") => "axiom",
            Some("scInvariant") => "invariant",
            Some("scGuard") => "guard",
            Some("scAction") => "action",
            Some("scTheorem") => "theorem",
            _ => continue,
        };
        let source = handle::read(value(&node, "source").unwrap_or_default());
        let of = last_kind(&source);
        // Rodin adds some that nobody wrote; their source is the event.
        if source.starts_with(&own) || (of != Some(kind) && of != Some("theorem")) {
            continue;
        }
        let kind = of.unwrap_or(kind);
        let file = format!("{}.{}", built.name, ending(built.kind));
        let label = value(&node, "label").unwrap_or_default();
        match everything.get(&source) {
            None => return Some(format!("`{file}` has a copy of `{label}`, which is gone")),
            Some(now) if *now != content(&node, kind, "", now.ends_with(TYPED)) => {
                return Some(format!("the copy of `{label}` in `{file}` is another one"));
            }
            Some(_) => {}
        }
    }
    None
}

/// An extended event does all that the one does which it extends.
fn lost_action(built: &Built<'_>, all: &[Built<'_>]) -> Option<String> {
    let document = xml::parse(built.checked?, FileId::default()).ok()?;
    let own = own(built);
    let actions = |event: &Node<'_, '_>| -> BTreeSet<String> {
        let actions = event.children().filter(|n| kind(n) == Some("scAction"));
        actions.map(|n| handle::read(value(&n, "source").unwrap_or_default())).collect()
    };
    let events = document.root_element().children().filter(|n| kind(n) == Some("scEvent"));
    for event in events.filter(|e| is_true(e, "extended")) {
        let label = value(&event, "label").unwrap_or_default();
        let why = || Some(format!("`{label}` extends another event than in `{}.bcm`", built.name));
        let inherited: BTreeSet<String> =
            actions(&event).into_iter().filter(|source| !source.starts_with(&own)).collect();
        let Some(refines) = event.children().find(|n| kind(n) == Some("scRefinesEvent")) else {
            // The first INITIALISATION.
            if inherited.is_empty() { continue } else { return why() }
        };
        let target = handle::read(value(&refines, "scTarget").unwrap_or_default());
        let above = all.iter().find(|b| target.starts_with(&format!("{}.bcm|", handle::name(b.name))));
        let Some(above) = above.and_then(|b| xml::parse(b.checked?, FileId::default()).ok()) else {
            return why();
        };
        let name = target.rsplit('#').next().unwrap_or_default();
        let is_it = |n: &Node<'_, '_>| kind(n) == Some("scEvent") && named(n) == name;
        let Some(extended) = above.root_element().children().find(is_it) else { return why() };
        if inherited != actions(&extended) {
            return why();
        }
    }
    None
}

/// Obligations have their hypotheses with them, each with its source.
fn old_hypothesis(built: &Built<'_>, everything: &Contents) -> Option<String> {
    let document = xml::parse(built.obligations?, FileId::default()).ok()?;
    let sets = document.root_element().children().filter(|n| kind(n) == Some("poPredicateSet"));
    for node in sets.flat_map(|set| set.children()).filter(|n| kind(n) == Some("poPredicate")) {
        let source = handle::read(value(&node, "source").unwrap_or_default());
        if !matches!(last_kind(&source), Some("axiom" | "invariant" | "guard" | "theorem")) {
            continue;
        }
        let text = value(&node, "predicate").unwrap_or_default();
        let file = format!("{}.bpo", built.name);
        let Some(now) = everything.get(&source) else {
            return Some(format!("`{file}` has a hypothesis that is gone"));
        };
        let keeps = now.ends_with(TYPED);
        let at = At::Escaped(FileId::default(), &[]);
        let then = formula(parse::predicate(text, at).ok(), text, keeps);
        if !now.ends_with(&format!(" {then}{}", if keeps { TYPED } else { "" })) {
            let what = now.split('\n').next().unwrap_or_default();
            return Some(format!("{what} is another one in `{file}`"));
        }
    }
    None
}

/// What is compared of an element, by its handle.
type Contents = BTreeMap<String, String>;

/// What is compared of a component.
#[derive(Default)]
struct Whole {
    contents: Contents,
    /// Names of variables, constants and sets, and of parameters by their event.
    names: BTreeSet<String>,
}

/// The labels of checked events, by their handles.
fn labels(text: &str, built: &Built<'_>, events: &mut BTreeMap<String, String>) {
    let Ok(document) = xml::parse(text, FileId::default()) else { return };
    let root = document.root_element();
    let own = handle::name(built.name);
    let around = format!("{own}.{}|{}#{own}", ending(built.kind), root.tag_name().name());
    for event in root.children().filter(|n| kind(n) == Some("scEvent")) {
        let handle = format!("{around}|{CORE}scEvent#{}", named(&event));
        events.insert(handle, value(&event, "label").unwrap_or_default().to_string());
    }
}

fn difference(built: &Built<'_>, events: &BTreeMap<String, String>, now: &Whole) -> Option<String> {
    let file = format!("{}.{}", built.name, ending(built.kind));
    let Ok(checked) = xml::parse(built.checked.unwrap_or_default(), FileId::default()) else {
        return Some(format!("`{file}` cannot be read"));
    };
    let mut then = Whole::default();
    was_checked(&checked.root_element(), &own(built), "", events, now, &mut then);
    for (handle, content) in &now.contents {
        let what = content.split('\n').next().unwrap_or_default();
        match then.contents.get(handle) {
            None => return Some(format!("{what} is not in `{file}`")),
            Some(other) if other != content => return Some(format!("{what} is another one in `{file}`")),
            Some(_) => {}
        }
    }
    if then.contents.len() > now.contents.len() {
        return Some(format!("`{file}` has something that is gone"));
    }
    if now.names != then.names {
        return Some(format!("`{file}` has other variables, constants, sets or parameters"));
    }
    None
}

/// The name of an element, as handles have it.
fn named(node: &Node<'_, '_>) -> String {
    handle::name(node.attribute("name").unwrap_or_default())
}

/// The elements of a source.
fn written(node: &Node<'_, '_>, around: &str, event: &str, found: &mut Whole) {
    for child in node.children().filter(Node::is_element) {
        let Some(kind) = kind(&child) else { continue };
        let handle = format!("{around}|{}#{}", child.tag_name().name(), named(&child));
        match kind {
            "carrierSet" | "constant" | "variable" | "parameter" => {
                let name = value(&child, "identifier").unwrap_or_default().trim();
                found.names.insert(format!("{event}/{name}"));
                continue;
            }
            _ => {}
        }
        let target = value(&child, "target").unwrap_or_default().to_string();
        let keeps = has_types(&child);
        found.contents.insert(handle.clone(), content(&child, kind, &target, keeps));
        if kind == "event" {
            written(&child, &handle, value(&child, "label").unwrap_or_default(), found);
        }
    }
}

/// The elements of a checked file that are from this source.
fn was_checked(
    node: &Node<'_, '_>,
    own: &str,
    event: &str,
    events: &BTreeMap<String, String>,
    now: &Whole,
    found: &mut Whole,
) {
    for child in node.children().filter(Node::is_element) {
        let Some(kind) = kind(&child).and_then(|k| k.strip_prefix("sc")) else { continue };
        let mut kind = kind.to_string();
        if let Some(first) = kind.get_mut(..1) {
            first.make_ascii_lowercase();
        }
        let source = handle::read(value(&child, "source").unwrap_or_default());
        let name = child.attribute("name").unwrap_or_default();
        match &*kind {
            // The copy of a context that is seen.
            "internalContext" => continue,
            // A variable that is gone is there, too, and not concrete; an inherited parameter has its source elsewhere.
            "variable" if value(&child, "concrete") == Some("false") => continue,
            "carrierSet" | "constant" | "variable" | "parameter" => {
                if source.starts_with(own) {
                    found.names.insert(format!("{event}/{name}"));
                }
                continue;
            }
            _ => {}
        }
        if source.starts_with(own) {
            let of = |name: &str| last_kind(&source) == Some(name);
            let target = match value(&child, "scTarget") {
                None => String::new(),
                Some(target) => {
                    let target = handle::read(target);
                    let file = target.split('|').next().unwrap_or_default();
                    let component = file.rsplit_once('.').map_or(file, |(name, _)| name);
                    let label = events.get(&target).map_or("?", String::as_str);
                    if kind == "refinesEvent" { label.to_string() } else { component.to_string() }
                }
            };
            // Rodin adds witnesses and actions that nobody wrote; their source is the event.
            let is_old_theorem = of("theorem") && now.contents.contains_key(&source);
            let kind = if is_old_theorem { "theorem" } else { &kind };
            if of(kind) {
                // Types that somebody wrote are compared; Rodin writes them everywhere.
                let keeps = now.contents.get(&source).is_some_and(|c| c.ends_with(TYPED));
                found.contents.insert(source, content(&child, kind, &target, keeps));
            }
        }
        if kind == "event" {
            was_checked(&child, own, value(&child, "label").unwrap_or_default(), events, now, found);
        }
    }
}

/// Whether its author wrote types.
fn has_types(node: &Node<'_, '_>) -> bool {
    let formulas = ["predicate", "expression", "assignment"];
    formulas.iter().filter_map(|a| value(node, a)).any(|text| text.contains('⦂') || text.contains("oftype"))
}

/// The end of what is compared with its types.
const TYPED: &str = " with types";

/// What an element says. Its first line is for people.
fn content(node: &Node<'_, '_>, kind: &str, target: &str, keeps: bool) -> String {
    // Rodin gives a label to a variant without one.
    let unlabelled = if kind == "variant" { "VARIANT" } else { "" };
    let label = value(node, "label").unwrap_or(unlabelled).trim();
    let of = |name: &str| value(node, name).unwrap_or_default();
    let title = if label.is_empty() { kind.to_string() } else { format!("`{label}`") };
    let at = At::Escaped(FileId::default(), &[]);
    let says = match kind {
        "event" => {
            let status = value(node, "convergence").unwrap_or("0");
            format!("{status} {}", is_true(node, "extended"))
        }
        "variant" => formula(parse::expression(of("expression"), at).ok(), of("expression"), keeps),
        "action" => match parse::action(of("assignment"), at) {
            Ok(Some(action)) => assigned(&action, keeps),
            Ok(None) => "skip".to_string(),
            Err(_) => plain(of("assignment")),
        },
        "invariant" | "axiom" | "theorem" | "guard" | "witness" => {
            let is_theorem = kind == "theorem" || is_true(node, "theorem");
            format!(
                "{is_theorem} {}",
                formula(parse::predicate(of("predicate"), at).ok(), of("predicate"), keeps)
            )
        }
        _ => String::new(),
    };
    format!("{title}\n{kind} {target} {says}{}", if keeps { TYPED } else { "" })
}

fn assigned(action: &ActionKind, keeps: bool) -> String {
    let one = |e: &Expr| formula(Some(e.clone()), "", keeps);
    match action {
        ActionKind::Assign(pairs) => {
            let pairs: Vec<String> = pairs.iter().map(|(x, e)| format!("{} {}", x.name, one(e))).collect();
            format!("≔ {}", pairs.join(", "))
        }
        ActionKind::Element(x, set) => format!(":∈ {} {}", x.name, one(set)),
        ActionKind::Such(xs, p) => {
            let names: Vec<&str> = xs.iter().map(|x| &*x.name).collect();
            format!(":∣ {} {}", names.join(" "), one(p))
        }
    }
}

/// A text without blanks: of what is no formula.
fn plain(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace()).collect()
}

/// A formula without types and places, chains nested in one way.
fn formula(e: Option<Expr>, text: &str, keeps: bool) -> String {
    let Some(e) = e else { return plain(text) };
    let mut e = without_places(&e);
    simplify(&mut e, keeps);
    format!("{:?}", e.kind)
}

fn simplify(e: &mut Expr, keeps: bool) {
    if let ExprKind::Binary(op @ (BinOp::And | BinOp::Or), ..) = e.kind {
        let mut parts = vec![];
        leaves(op, e.clone(), keeps, &mut parts);
        parts.iter_mut().for_each(|e| simplify(e, keeps));
        if let Some(whole) = balanced(op, parts) {
            *e = whole;
        }
        return;
    }
    children_mut(e, &mut |c| simplify(c, keeps));
    if keeps {
        return;
    }
    // The types of bound names.
    let inside = match &mut e.kind {
        ExprKind::Typed(inner, _) => Some(std::mem::replace(&mut **inner, truth())),
        ExprKind::Binary(BinOp::Implies, a, b) if is_typing(a) => Some(std::mem::replace(&mut **b, truth())),
        _ => None,
    };
    if let Some(inside) = inside {
        *e = inside;
    }
}

/// The parts of a chain, without those that give a type.
fn leaves(op: BinOp, e: Expr, keeps: bool, found: &mut Vec<Expr>) {
    match e.kind {
        ExprKind::Binary(o, a, b) if o == op => {
            leaves(op, *a, keeps, found);
            leaves(op, *b, keeps, found);
        }
        ExprKind::HasType(..) if op == BinOp::And && !keeps => {}
        kind => found.push(Expr { kind, span: e.span }),
    }
}

fn is_typing(e: &Expr) -> bool {
    match &e.kind {
        ExprKind::HasType(..) => true,
        ExprKind::Binary(BinOp::And, a, b) => is_typing(a) && is_typing(b),
        _ => false,
    }
}

fn truth() -> Expr {
    Expr { kind: ExprKind::Lit(crate::lang::ast::Lit::BTrue), span: Span::default() }
}
