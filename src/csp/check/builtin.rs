//! What every script knows, and what `external` and `transparent` add.

use super::scope::ScopeId;
use super::{BindingKind, Checker, Result, nowhere};
use crate::parse::signatures;
use crate::tree::Ident;
use crate::types::{Data, Scheme, Type};
use kanon_language::lang::diag::Diagnostic;
use kanon_language::lang::spelling::closest;
use std::sync::Arc;

const EVERYWHERE: &str = "
STOP, SKIP, DIV :: Proc
CHAOS, RUN :: ({Event}) -> Proc
BUFFER :: (Int, {(Event, Event)}) -> Proc
WEAK_BUFFER :: (Int, Event, {(Event, Event)}) -> Proc
SIGNAL_BUFFER :: (Int, Event, Event, {(Event, Event)}) -> Proc
Int :: {Int}
Bool :: {Bool}
Char :: {Char}
Proc :: {Proc}
Events :: {Event}
True, False :: Bool
union, inter, diff :: Set a => ({a}, {a}) -> {a}
Union, Inter :: Set a => ({{a}}) -> {a}
set :: Set a => (<a>) -> {a}
Set :: Set a => ({a}) -> {{a}}
Seq :: Set a => ({a}) -> {<a>}
member :: Eq a => (a, {a}) -> Bool
card :: Eq a => ({a}) -> Int
empty :: Eq a => ({a}) -> Bool
seq :: Eq a => ({a}) -> <a>
elem :: Eq a => (a, <a>) -> Bool
length :: (<a>) -> Int
null :: (<a>) -> Bool
head :: (<a>) -> a
tail :: (<a>) -> <a>
concat :: (<<a>>) -> <a>
error :: (<Char>) -> a
show :: (a) -> <Char>
extensions :: Yieldable b => (a => b) -> {a}
productions :: Yieldable b => (a =>* b) -> {b}
emptyMap :: Set k => (| k => v |)
mapFromList :: Set k => (<(k, v)>) -> (| k => v |)
mapToList :: Set k => ((| k => v |)) -> <(k, v)>
mapLookup :: Set k => ((| k => v |), k) -> v
mapMember :: Set k => ((| k => v |), k) -> Bool
mapUpdate :: Set k => ((| k => v |), k, v) -> (| k => v |)
mapUpdateMultiple :: Set k => ((| k => v |), <(k, v)>) -> (| k => v |)
mapDelete :: Set k => ((| k => v |), k) -> (| k => v |)
Map :: (Set k, Set v) => ({k}, {v}) -> {(| k => v |)}
";

/// Only inside timed sections.
const TIMED: &str = "
WAIT :: (Int) -> Proc
TSTOP, TSKIP :: () -> Proc
timed_priority :: (Proc) -> Proc
";

const EXTERNAL: &str = "
chase, chase_nocache, deter, loop :: (Proc) -> Proc
prioritise, prioritise_nocache :: (Proc, <{Event}>) -> Proc
prioritisepo :: (Proc, {Event}, {(Event, Event)}, {Event}) -> Proc
failure_watchdog, trace_watchdog :: (Proc, {Event}, Event) -> Proc
mtransclose :: Eq a => ({(a, a)}, {a}) -> {(a, a)}
relational_image :: (Eq a, Set b) => ({(a, b)}) -> (a) -> {b}
relational_inverse_image :: (Set a, Eq b) => ({(a, b)}) -> (b) -> {a}
transpose :: (Set a, Set b) => ({(a, b)}) -> {(b, a)}
";

const TRANSPARENT: &str = "
chase, chase_nocache, explicate, lazyenumerate, diamond, normal, lazynorm :: (Proc) -> Proc
sbisim, dbisim, wbisim, tau_loop_factor, model_compress :: (Proc) -> Proc
";

impl Checker<'_> {
    pub(super) fn builtins(&mut self, scope: ScopeId) {
        for (text, kind) in [(EVERYWHERE, BindingKind::Value), (TIMED, BindingKind::Timed)] {
            for (name, scheme) in signatures(text) {
                // Written by us: a test looks at all of them.
                let Ok(scheme) = self.scheme_of(scope, &scheme) else { continue };
                let ident = nowhere(&name.text);
                let id = self.bind(ident, kind, scheme, None);
                self.scopes[scope.0].names.insert(Arc::clone(&name.text), id);
            }
        }
    }

    /// `external f`, `transparent f`
    pub(super) fn library(&mut self, scope: ScopeId, name: &Ident, external: bool) -> Result<()> {
        let all = signatures(if external { EXTERNAL } else { TRANSPARENT });
        let Some((_, scheme)) = all.iter().find(|(n, _)| n.text == name.text) else {
            let word = if external { "external" } else { "transparent" };
            let message = format!("there is no {word} function `{}`", name.text);
            let mut d = Diagnostic::error("C0215", name.span, message);
            d.help = closest(&name.text, all.iter().map(|(n, _)| &*n.text))
                .map(|n| format!("did you mean `{n}`?"));
            return Err(Box::new(d));
        };
        let scheme = self.scheme_of(ScopeId(0), scheme)?;
        // Asking for it twice is asking for the same.
        if let Some(known) = self.scopes[scope.0].names.get(&name.text)
            && self.bindings[known.0].unit.is_none()
        {
            return Ok(());
        }
        let id = self.bind(name.clone(), BindingKind::Value, scheme, None);
        self.put(scope, id)
    }

    pub(super) fn datatype(&mut self, name: &Arc<str>) -> Data {
        self.table.data.push(Arc::clone(name));
        self.fields.push(vec![]);
        Data(self.fields.len() as u32 - 1)
    }

    pub(super) fn builtin_type(name: &str) -> Option<Type> {
        Some(match name {
            "Int" => Type::Int,
            "Bool" => Type::Bool,
            "Char" => Type::Char,
            "Proc" => Type::Proc,
            "Event" => Type::Event,
            _ => return None,
        })
    }

    /// The scheme of a written type outside of any definition.
    fn scheme_of(&mut self, scope: ScopeId, written: &crate::tree::Scheme) -> Result<Scheme> {
        self.table.level += 1;
        let scope = self.scope(Some(scope));
        let read = self.written_scheme(scope, written);
        self.table.level -= 1;
        read
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every line of the tables is read, to its end.
    #[test]
    fn signatures_are_complete() {
        for text in [EVERYWHERE, TIMED, EXTERNAL, TRANSPARENT] {
            let names = |line: &str| line.split("::").next().map_or(0, |n| n.split(',').count());
            let wanted: usize = text.lines().filter(|l| l.contains("::")).map(names).sum();
            let all = signatures(text);
            assert_eq!(all.len(), wanted);
            let mut checker = Checker::new();
            for (name, scheme) in &all {
                assert!(checker.scheme_of(ScopeId(0), scheme).is_ok(), "{}", name.text);
            }
        }
    }
}
