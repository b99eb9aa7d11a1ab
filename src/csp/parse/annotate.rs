//! Joins written types with what they speak of, which stands in the same list of declarations.

use crate::tree::{Decl, DeclKind, Ident, Pattern, PatternKind, Scheme};
use kanon_language::lang::diag::Diagnostic;
use std::collections::HashMap;
use std::sync::Arc;

/// Types by name, until they are used.
type Open = HashMap<Arc<str>, (Ident, Scheme, bool)>;

/// Takes the types out of a list and gives each to its definition.
pub fn join(decls: &mut Vec<Decl>, errors: &mut Vec<Diagnostic>) {
    let mut open: Open = HashMap::new();
    decls.retain_mut(|d| {
        let DeclKind::Annotation { names, scheme } = &d.kind else { return true };
        for name in names {
            match open.get(&name.text) {
                Some((first, ..)) => errors.push(
                    Diagnostic::error("C0201", name.span, format!("`{}` has two types", name.text))
                        .note(first.span, "the first one is here"),
                ),
                None => {
                    open.insert(Arc::clone(&name.text), (name.clone(), scheme.clone(), false));
                }
            }
        }
        false
    });
    for d in decls.iter_mut() {
        let mut get = |name: &Ident| {
            open.get_mut(&name.text).map(|(_, scheme, used)| {
                *used = true;
                scheme.clone()
            })
        };
        match &mut d.kind {
            DeclKind::Function { name, annotation, .. } | DeclKind::Nametype { name, annotation, .. } => {
                *annotation = get(name);
            }
            DeclKind::Pattern { pattern, annotation, .. } => *annotation = plain_name(pattern).and_then(get),
            DeclKind::Channel { names, annotation, .. } => {
                let found: Vec<(&Ident, Scheme)> = names.iter().filter_map(|n| Some((n, get(n)?))).collect();
                if let [_, (second, _), ..] = &found[..] {
                    let message = "channels that are declared together have one type";
                    errors.push(Diagnostic::error("C0201", second.span, message));
                }
                *annotation = found.into_iter().next().map(|(_, scheme)| scheme);
            }
            DeclKind::Datatype { clauses, .. } => {
                for c in clauses {
                    c.annotation = get(&c.name);
                }
            }
            _ => {}
        }
    }
    let mut unused: Vec<&Ident> = open.values().filter(|(_, _, used)| !used).map(|(name, ..)| name).collect();
    unused.sort_by_key(|name| name.span);
    errors.extend(unused.into_iter().map(|name| {
        Diagnostic::error("C0202", name.span, format!("`{}` has a type and no definition", name.text))
            .help("the definition stands in the same list of declarations")
    }));
}

/// The name that a declaration of a pattern binds, if the pattern is nothing else.
fn plain_name(pattern: &Pattern) -> Option<&Ident> {
    match &pattern.kind {
        PatternKind::Name(path) if path.parts.len() == 1 => path.parts.first(),
        _ => None,
    }
}
