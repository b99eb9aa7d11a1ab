//! Composition: a machine and all it refers to become one set of declarations.
//!
//! The order of instances is the order of initialisation.
//!
//! As in ProB: variables and operations of seen and used machines are part of the system (the operations
//! as `M.op`); a refinement keeps of its abstraction the sets, constants and properties, the variables
//! that it declares again, the operations that it does not refine, and the parts of preconditions that it can still see.

use super::{Parsed, library, other_case, parse_machine, parse_text};
use crate::lang::ast::{Ident, Machine, MachineRef, Name};
use crate::lang::composed::{Composed, Entity, FreeTypeDef, Instance, LevelDef, OpDef, SetDef};
use crate::lang::diag::{Diagnostic, SourceMap, Span};
use crate::lang::files::in_other_case;
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Reads all machines that a machine refers to; `path` is its file. `None` when something could not be
/// read; the diagnostics say what.
pub fn compose(
    sources: &mut SourceMap,
    parsed: Parsed,
    path: &Path,
    diags: &mut Vec<Diagnostic>,
) -> Option<Composed> {
    diags.extend(parsed.diagnostics);
    let machine = Arc::new(parsed.machine?);
    let mut composer = Composer {
        sources,
        diags,
        dir: path.parent().map(Path::to_path_buf).unwrap_or_default(),
        parsed: HashMap::from([(machine.name.name.clone(), Some(machine.clone()))]),
        stack: vec![],
        by_key: HashMap::new(),
        instance_of: HashMap::new(),
        out: Composed {
            name: machine.name.name.clone(),
            sets: vec![],
            freetypes: vec![],
            constants: vec![],
            variables: vec![],
            state_variables: 0,
            operations: vec![],
            live_operations: 0,
            order: vec![],
            instances: vec![],
            top: 0,
            obligations: vec![],
            kept: vec![],
            names_elements: false,
            levels: vec![],
            environment: vec![],
            promises: vec![],
            refining: None,
        },
    };
    let top = composer.instantiate(machine, String::new(), None, false)?;
    composer.out.top = top;
    composer.finish();
    Some(composer.out)
}

struct Composer<'a> {
    sources: &'a mut SourceMap,
    diags: &'a mut Vec<Diagnostic>,
    dir: PathBuf,
    parsed: HashMap<Name, Option<Arc<Machine>>>,
    /// The machines being composed, to find circles.
    stack: Vec<Name>,
    /// Instances by prefix and machine name: `p.M`.
    by_key: HashMap<String, usize>,
    /// The first instance of each machine: it declares the sets and constants, and is the one seen.
    instance_of: HashMap<Name, usize>,
    out: Composed,
}

/// The endings of the files that machines are looked for in.
const EXTENSIONS: [&str; 4] = ["mch", "ref", "imp", "sys"];

/// How those who include or see a machine know a name of it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Export {
    /// Parameters are the machine's own.
    No,
    /// Sets and constants keep their names.
    Plain,
    /// Variables get the prefix.
    Renamed,
}

/// The actual parameters and the instance whose scope they are in.
type Actuals<'m> = Option<(usize, &'m MachineRef)>;

impl Composer<'_> {
    /// The machine of that name, from the directory of the one that was asked for.
    fn machine(&mut self, id: &Ident) -> Option<Arc<Machine>> {
        let name = last_part(&id.name);
        if self.stack.iter().any(|m| **m == *name) {
            let mut circle: Vec<&str> = self.stack.iter().map(|m| &**m).skip_while(|m| *m != name).collect();
            circle.push(name);
            let message = format!("machines refer to each other in a circle: {}", circle.join(" → "));
            self.diags.push(Diagnostic::error("B0210", id.span, message));
            return None;
        }
        if let Some(known) = self.parsed.get(name) {
            return known.clone();
        }
        let dirs = self.directories(id);
        let files = self.sources.files();
        let found = match self.file_pragma(id) {
            Some(file) => dirs.iter().map(|d| d.join(&*file)).find(|p| files.is_file(p)),
            None => dirs.iter().find_map(|dir| {
                let with = |ext| dir.join(format!("{name}.{ext}"));
                EXTENSIONS.into_iter().map(with).find(|p| files.is_file(p))
            }),
        };
        let found = found.or_else(|| self.in_other_case(id, &dirs));
        let machine = match found {
            Some(path) => {
                let parsed = parse_machine(self.sources, &path);
                let refused = parsed.machine.is_none();
                self.diags.extend(parsed.diagnostics);
                if refused {
                    let message = format!("the machine `{name}` could not be read");
                    self.diags.push(Diagnostic::error("B0211", id.span, message));
                }
                // Also what ends a file that refers to itself under another name.
                let named = parsed
                    .machine
                    .filter(|m| m.name.name.to_lowercase() == name.to_lowercase() || self.misnamed(m, id));
                // From here on it has the name by which it was found, or circles would go unseen.
                named.map(|mut m| {
                    m.name.name = name.into();
                    Arc::new(m)
                })
            }
            None if library::machine(name).is_some() => {
                let text = library::machine(name).unwrap_or_default();
                let parsed = parse_text(self.sources, &format!("{name}.mch"), text);
                self.diags.extend(parsed.diagnostics);
                parsed.machine.map(Arc::new)
            }
            None => {
                let message = format!("the machine `{name}` was not found");
                let places: Vec<String> = dirs.iter().map(|d| show_dir(d)).collect();
                let help = format!("looked for {name}.mch, .ref, .imp and .sys in {}", places.join(", "));
                self.diags.push(Diagnostic::error("B0211", id.span, message).help(help));
                None
            }
        };
        self.parsed.insert(name.into(), machine.clone());
        machine
    }

    /// A file whose name differs from the machine's only in capitals, which some file systems do not tell
    /// apart; with a warning.
    fn in_other_case(&mut self, id: &Ident, dirs: &[PathBuf]) -> Option<PathBuf> {
        let name = last_part(&id.name);
        let files = self.sources.files();
        let paths = dirs.iter().flat_map(|dir| EXTENSIONS.map(|ext| dir.join(format!("{name}.{ext}"))));
        let from = self.sources.path(id.span.file).unwrap_or(Path::new(""));
        let found = paths.into_iter().find_map(|path| in_other_case(files, &path, from))?;
        self.diags.push(other_case(name, &found, id.span));
        Some(found)
    }

    /// Reports a file whose machine has another name; `false`.
    fn misnamed(&mut self, machine: &Machine, id: &Ident) -> bool {
        let message = format!("the file of `{}` holds the machine `{}`", id.name, machine.name.name);
        self.diags
            .push(Diagnostic::error("B0211", id.span, message).note(machine.name.span, "declared here"));
        false
    }

    /// Where a machine that is named at `id` may be: beside the file that names it, in the packages that
    /// this file imports, beside the first file.
    fn directories(&self, id: &Ident) -> Vec<PathBuf> {
        let mut dirs = vec![];
        if let Some(source) = self.sources.get(id.span.file) {
            let dir = source.path.parent().map(Path::to_path_buf).unwrap_or_default();
            if let Some(package) = pragmas(&source.text, "package").next() {
                let root = dir.join(package.split('.').map(|_| "..").collect::<PathBuf>());
                let imported = pragmas(&source.text, "import-package");
                dirs.extend(imported.map(|p| root.join(p.split('.').collect::<PathBuf>())));
            }
            dirs.insert(0, dir);
        }
        if !dirs.contains(&self.dir) {
            dirs.push(self.dir.clone());
        }
        dirs
    }

    /// The file in `SEES M /*@file "dir/M.mch" */`.
    fn file_pragma(&self, id: &Ident) -> Option<String> {
        let text = &self.sources.get(id.span.file)?.text;
        let rest = text.get(id.span.hi as usize..)?.trim_start();
        let pragma = rest.strip_prefix("/*@")?.trim_start().strip_prefix("file")?;
        let inside = pragma.split("*/").next()?;
        inside.split('"').nth(1).map(str::to_string)
    }

    fn instantiate(
        &mut self,
        machine: Arc<Machine>,
        prefix: String,
        actuals: Actuals<'_>,
        is_abstract: bool,
    ) -> Option<usize> {
        let at = self.out.instances.len();
        let name = machine.name.name.clone();
        let shares = self.instance_of.get(&name).copied().filter(|_| machine.params.is_empty());
        self.instance_of.entry(name.clone()).or_insert(at);
        self.by_key.insert(format!("{prefix}{name}"), at);
        self.out.instances.push(Instance {
            is_abstract,
            shares_data: shares.is_some(),
            prefix: prefix.clone(),
            ..Instance::alone(machine.clone(), HashMap::new(), HashMap::new())
        });
        self.stack.push(name);
        let complete = self.fill(at, &machine, &prefix, actuals, shares);
        self.stack.pop();
        self.out.order.push(at);
        complete.then_some(at)
    }

    /// Declares what the machine declares and imports what it may see. `false` when a part is missing.
    fn fill(
        &mut self,
        at: usize,
        machine: &Machine,
        prefix: &str,
        actuals: Actuals<'_>,
        shares: Option<usize>,
    ) -> bool {
        let mut complete = true;
        // What a refinement shares with its abstraction is there before it declares it again.
        let abstraction = match &machine.refines {
            Some(id) => match self.machine(id).and_then(|m| self.instantiate(m, prefix.into(), None, true)) {
                Some(i) => Some(i),
                None => {
                    complete = false;
                    None
                }
            },
            None => None,
        };
        self.out.instances[at].abstraction = abstraction;
        if let Some(i) = abstraction {
            let names = self.out.instances[i].names.clone();
            self.out.instances[at].names = names;
            self.out.instances[at].exports = self.out.instances[i].exports.clone();
        }
        self.parameters(at, machine, actuals, abstraction.is_some());
        let plain = machine.includes.iter().chain(&machine.imports).map(|r| (r, false));
        let references = plain.chain(machine.extends.iter().map(|r| (r, true))).collect();
        for (reference, extends) in self.seen_first(references) {
            match self.include(at, reference, prefix) {
                Some(part) if extends => self.extend(at, part, reference),
                Some(_) => {}
                None => complete = false,
            }
        }
        for id in machine.sees.iter().chain(&machine.uses) {
            complete &= self.see(at, id).is_some();
        }
        match shares {
            Some(first) => self.share_data(at, machine, first),
            None => self.declare_data(at, machine, abstraction.is_some()),
        }
        for id in machine.concrete_variables.iter().chain(&machine.variables) {
            if abstraction.is_some()
                && matches!(self.out.instances[at].names.get(&id.name), Some(Entity::Var(_)))
            {
                continue;
            }
            let shown = Ident { name: format!("{prefix}{}", id.name).into(), span: id.span };
            self.out.variables.push(shown);
            let var = Entity::Var(self.out.variables.len() - 1);
            self.declare(at, id, var, Export::Renamed);
        }
        self.operations(at, machine, prefix, abstraction);
        complete
    }

    /// Enters an own name; it must be new.
    fn declare(&mut self, at: usize, id: &Ident, entity: Entity, export: Export) {
        if let Some(old) = self.out.instances[at].names.get(&id.name) {
            let message = format!("`{}` is declared twice", id.name);
            let first = self.span_of(old);
            self.diags.push(Diagnostic::error("B0202", id.span, message).note(first, "first declared here"));
            return;
        }
        let instance = &mut self.out.instances[at];
        instance.names.insert(id.name.clone(), entity.clone());
        match export {
            Export::No => {}
            Export::Plain => instance.exports.push((id.name.clone(), entity, false)),
            Export::Renamed => instance.exports.push((id.name.clone(), entity, true)),
        }
    }

    fn span_of(&self, entity: &Entity) -> Span {
        match entity {
            Entity::Set(s) => self.out.sets[*s].name.span,
            Entity::Elem(s, i) => {
                let set = &self.out.sets[*s];
                set.elements.as_ref().and_then(|e| e.get(*i)).map_or(set.name.span, |e| e.span)
            }
            Entity::Free(f) => self.out.freetypes[*f].decl.name.span,
            Entity::Case(f, i) => self.out.freetypes[*f].decl.cases[*i].0.span,
            Entity::Const(c) => self.out.constants[*c].span,
            Entity::Var(v) => self.out.variables[*v].span,
            Entity::Actual(_, e) => e.span,
        }
    }

    fn parameters(&mut self, at: usize, machine: &Machine, actuals: Actuals<'_>, refines: bool) {
        if let Some((parent, reference)) = actuals {
            let (wanted, given) = (machine.params.len(), reference.args.len());
            if wanted != given {
                let message = format!("`{}` has {wanted} parameters, {given} are given", machine.name.name);
                self.diags.push(
                    Diagnostic::error("B0206", reference.name.span, message)
                        .note(machine.name.span, "declared here"),
                );
            }
            for (formal, actual) in machine.params.iter().zip(&reference.args) {
                self.declare(at, formal, Entity::Actual(parent, Arc::new(actual.clone())), Export::No);
            }
            if given >= wanted {
                return;
            }
        }
        let given = actuals.map_or(0, |(_, r)| r.args.len());
        for formal in machine.params.iter().skip(given) {
            if refines && self.out.instances[at].names.contains_key(&formal.name) {
                continue;
            }
            let entity = if is_set_name(&formal.name) {
                self.out.sets.push(SetDef { name: formal.clone(), elements: None, is_parameter: true });
                Entity::Set(self.out.sets.len() - 1)
            } else {
                self.out.constants.push(formal.clone());
                Entity::Const(self.out.constants.len() - 1)
            };
            self.declare(at, formal, entity, Export::No);
        }
    }

    fn declare_data(&mut self, at: usize, machine: &Machine, refines: bool) {
        for set in &machine.sets {
            let known = self.out.instances[at].names.get(&set.name.name);
            if refines && matches!(known, Some(Entity::Set(_))) {
                continue;
            }
            let index = self.out.sets.len();
            self.out.sets.push(SetDef {
                name: set.name.clone(),
                elements: set.elements.clone(),
                is_parameter: false,
            });
            self.declare(at, &set.name, Entity::Set(index), Export::Plain);
            for (i, element) in set.elements.iter().flatten().enumerate() {
                self.declare(at, element, Entity::Elem(index, i), Export::Plain);
            }
        }
        for decl in &machine.freetypes {
            let known = self.out.instances[at].names.get(&decl.name.name);
            if refines && matches!(known, Some(Entity::Free(_))) {
                continue;
            }
            let index = self.out.freetypes.len();
            self.out.freetypes.push(FreeTypeDef { instance: at, decl: decl.clone() });
            self.declare(at, &decl.name, Entity::Free(index), Export::Plain);
            for (i, (case, _)) in decl.cases.iter().enumerate() {
                self.declare(at, case, Entity::Case(index, i), Export::Plain);
            }
        }
        for id in machine.constants.iter().chain(&machine.abstract_constants) {
            let known = self.out.instances[at].names.get(&id.name);
            if refines && matches!(known, Some(Entity::Const(_))) {
                continue;
            }
            self.out.constants.push(id.clone());
            let constant = Entity::Const(self.out.constants.len() - 1);
            self.declare(at, id, constant, Export::Plain);
        }
    }

    /// Another instance of the same machine: renaming does not touch sets and constants.
    fn share_data(&mut self, at: usize, machine: &Machine, first: usize) {
        let sets = machine.sets.iter().flat_map(|s| {
            std::iter::once(&s.name).chain(s.elements.iter().flatten()).map(|id| id.name.clone())
        });
        let free = machine.freetypes.iter().flat_map(|f| {
            std::iter::once(&f.name).chain(f.cases.iter().map(|(id, _)| id)).map(|id| id.name.clone())
        });
        let constants = machine.constants.iter().chain(&machine.abstract_constants).map(|id| id.name.clone());
        let names: Vec<Name> = sets.chain(free).chain(constants).collect();
        for name in names {
            if let Some(entity) = self.out.instances[first].names.get(&name).cloned() {
                let instance = &mut self.out.instances[at];
                instance.names.insert(name.clone(), entity.clone());
                instance.exports.push((name, entity, false));
            }
        }
    }

    /// Enters a name of another machine; a clash with a different thing of that name is an error.
    fn import(&mut self, at: usize, name: Name, entity: Entity, span: Span) {
        let instance = &self.out.instances[at];
        let old = instance.names.get(&name);
        // A variable of an imported machine may stand for the abstract one of its name.
        let glued = matches!((old, &entity), (Some(Entity::Var(_)), Entity::Var(_)))
            && instance.abstraction.is_some_and(|i| self.out.instances[i].names.get(&name) == old);
        match old {
            Some(old) if *old != entity && !glued => {
                let message = format!("`{name}` comes from several machines");
                let (first, second) = (self.span_of(old), self.span_of(&entity));
                self.diags.push(
                    Diagnostic::error("B0202", span, message)
                        .note(first, "declared here")
                        .note(second, "and here")
                        .help("include one of them with a prefix: `p.M`"),
                );
            }
            _ => {
                self.out.instances[at].names.insert(name, entity);
            }
        }
    }

    fn see(&mut self, at: usize, id: &Ident) -> Option<usize> {
        // Somebody's included instance is the one that is seen, whatever its prefix.
        let name = last_part(&id.name);
        let is_open = self.stack.iter().any(|m| **m == *name);
        let known = self.by_key.get(&*id.name).or_else(|| self.instance_of.get(name)).copied();
        let part = match known.filter(|_| !is_open) {
            Some(part) => part,
            None => {
                let machine = self.machine(id)?;
                let prefix = id.name.strip_suffix(name).unwrap_or("").to_string();
                self.instantiate(machine, prefix, None, false)?
            }
        };
        self.out.instances[part].is_seen = true;
        self.out.instances[at].parts.push(part);
        let prefix = id.name.rsplit_once('.').map_or("", |(p, _)| p);
        self.import_all(at, part, prefix, id.span);
        Some(part)
    }

    fn include(&mut self, at: usize, reference: &MachineRef, outer: &str) -> Option<usize> {
        let prefix = match &reference.prefix {
            Some(p) => format!("{outer}{p}."),
            None => outer.to_string(),
        };
        let machine = self.machine(&reference.name)?;
        // A machine that was only seen, or that the abstraction includes too, is the same one.
        let known = self.by_key.get(&format!("{prefix}{}", machine.name.name)).copied();
        let part = match known {
            Some(i) if reference.args.is_empty() && !self.out.instances[i].is_included => i,
            Some(i) if self.out.instances[at].machine.refines.is_some() => i,
            _ => self.instantiate(machine, prefix, Some((at, reference)), false)?,
        };
        self.out.instances[part].is_included = true;
        self.out.instances[at].parts.push(part);
        self.import_all(at, part, reference.prefix.as_deref().unwrap_or(""), reference.name.span);
        // What a machine includes is seen by those who include or see it.
        let exports = self.out.instances[part].exports.clone();
        for (name, entity, renamed) in exports {
            let name = with_prefix(reference.prefix.as_deref().filter(|_| renamed), &name);
            self.out.instances[at].exports.push((name, entity, renamed));
        }
        Some(part)
    }

    /// Orders inclusions so that a machine comes before those that see it: what is seen is then the
    /// included one.
    fn seen_first<'m>(&mut self, mut left: Vec<(&'m MachineRef, bool)>) -> Vec<(&'m MachineRef, bool)> {
        if left.len() < 2 {
            return left;
        }
        let mut reach: Vec<Reach> = vec![];
        for (reference, _) in &left {
            let mut r = Reach::default();
            self.reach(&reference.name, &mut r, true);
            reach.push(r);
        }
        let mut done = vec![];
        while !left.is_empty() {
            let free = (0..left.len())
                .find(|&i| (0..left.len()).all(|j| i == j || reach[i].sees.is_disjoint(&reach[j].includes)));
            // A circle is reported where it is entered.
            let i = free.unwrap_or(0);
            done.push(left.remove(i));
            reach.remove(i);
        }
        done
    }

    /// The machines that a machine includes (itself too) and sees, directly or not.
    fn reach(&mut self, id: &Ident, reach: &mut Reach, included: bool) {
        let name: Name = last_part(&id.name).into();
        let new =
            if included { reach.includes.insert(name.clone()) } else { reach.sees.insert(name.clone()) };
        let known = self.parsed.contains_key(&name) || self.stack.contains(&name);
        let machine = if known { self.parsed.get(&name).cloned().flatten() } else { self.machine(id) };
        let Some(machine) = machine.filter(|_| new) else { return };
        for id in machine.sees.iter().chain(&machine.uses) {
            self.reach(id, reach, false);
        }
        for r in machine.includes.iter().chain(&machine.extends).chain(&machine.imports) {
            self.reach(&r.name, reach, included);
        }
    }

    fn import_all(&mut self, at: usize, part: usize, prefix: &str, span: Span) {
        let prefix = Some(prefix).filter(|p| !p.is_empty());
        let (exports, operations) = {
            let part = &self.out.instances[part];
            (part.exports.clone(), part.exported_operations.clone())
        };
        for (name, entity, renamed) in exports {
            let name = with_prefix(prefix.filter(|_| renamed), &name);
            self.import(at, name, entity, span);
        }
        for (name, op) in operations {
            self.out.instances[at].operations.insert(with_prefix(prefix, &name), op);
        }
    }

    fn extend(&mut self, at: usize, part: usize, reference: &MachineRef) {
        for (name, op) in self.out.instances[part].exported_operations.clone() {
            let name = with_prefix(reference.prefix.as_deref(), &name);
            self.out.instances[at].exported_operations.push((name, op));
        }
    }

    fn operations(&mut self, at: usize, machine: &Machine, prefix: &str, abstraction: Option<usize>) {
        for id in &machine.promotes {
            match self.out.instances[at].operations.get(&id.name) {
                Some(op) => {
                    let op = (id.name.clone(), *op);
                    self.out.instances[at].exported_operations.push(op);
                }
                None => {
                    let message = format!("no included machine has an operation `{}`", id.name);
                    self.diags.push(Diagnostic::error("B0201", id.span, message));
                }
            }
        }
        let inherited =
            abstraction.map(|i| self.out.instances[i].exported_operations.clone()).unwrap_or_default();
        let own = machine.operations.len();
        let mut declared: HashMap<Name, Span> = HashMap::new();
        for (index, op) in machine.operations.iter().chain(&machine.local_operations).enumerate() {
            // A local operation may be specified and then implemented among the others.
            let specified = index >= own && machine.operations.iter().any(|o| o.name.name == op.name.name);
            if let Some(first) = declared.insert(op.name.name.clone(), op.name.span).filter(|_| !specified) {
                let message = format!("the operation `{}` is declared twice", op.name.name);
                self.diags.push(
                    Diagnostic::error("B0202", op.name.span, message).note(first, "first declared here"),
                );
            }
            if specified {
                continue;
            }
            let refines = inherited.iter().find(|(n, _)| *n == op.name.name).map(|(_, op)| *op);
            self.out.operations.push(OpDef {
                name: format!("{prefix}{}", op.name.name).into(),
                instance: at,
                index,
                is_event: false,
                refines,
            });
            let id = self.out.operations.len() - 1;
            let is_local = machine.local_operations.iter().any(|o| o.name.name == op.name.name);
            let instance = &mut self.out.instances[at];
            instance.operations.insert(op.name.name.clone(), id);
            if !is_local {
                instance.exported_operations.push((op.name.name.clone(), id));
            }
        }
        for (name, op) in inherited {
            let instance = &mut self.out.instances[at];
            if instance.exported_operations.iter().all(|(n, _)| *n != name) {
                instance.operations.insert(name.clone(), op);
                instance.exported_operations.push((name, op));
            }
        }
    }

    /// Tells what belongs to the system from what is only refined, and which operations are events.
    fn finish(&mut self) {
        let out = &mut self.out;
        let live = system_of(out, out.top);
        for (instance, live) in out.instances.iter_mut().zip(&live) {
            instance.is_abstract = !live;
        }
        for (_, op) in out.instances[out.top].exported_operations.clone() {
            out.operations[op].is_event = true;
        }
        for instance in &out.instances {
            if instance.is_abstract || instance.is_included || !instance.is_seen {
                continue;
            }
            for (name, op) in &instance.exported_operations {
                let def = &mut out.operations[*op];
                def.is_event = true;
                out.environment.push(*op);
                def.name = format!("{}{}.{name}", instance.prefix, instance.machine.name.name).into();
            }
        }
        // Variables that no machine of the system declares go behind the others.
        let is_state = state_variables(out, &live);
        let mut levels = levels(out);
        let (new_places, state) = live_first(&is_state);
        out.variables = permute(std::mem::take(&mut out.variables), &new_places);
        out.state_variables = state;
        let is_live: Vec<bool> = out.operations.iter().map(|o| o.is_event || live[o.instance]).collect();
        let (op_places, live_operations) = live_first(&is_live);
        out.operations = permute(std::mem::take(&mut out.operations), &op_places);
        out.live_operations = live_operations;
        for op in &mut out.operations {
            op.refines = op.refines.map(|r| op_places[r]);
        }
        for level in &mut levels {
            level.variables.iter_mut().for_each(|v| *v = new_places[*v]);
            level.variables.sort_unstable();
            level.operations.iter_mut().for_each(|(_, op)| *op = op_places[*op]);
            level
                .stand_for
                .iter_mut()
                .for_each(|(own, other)| (*own, *other) = (new_places[*own], new_places[*other]));
        }
        out.levels = levels;
        out.environment.iter_mut().for_each(|op| *op = op_places[*op]);
        for instance in &mut out.instances {
            for entity in instance.names.values_mut() {
                if let Entity::Var(v) = entity {
                    *v = new_places[*v];
                }
            }
            for op in instance.operations.values_mut() {
                *op = op_places[*op];
            }
        }
    }
}

/// Which instances belong to the system of one.
fn system_of(out: &Composed, instance: usize) -> Vec<bool> {
    let mut live = vec![false; out.instances.len()];
    let mut todo = vec![instance];
    while let Some(i) = todo.pop() {
        if !std::mem::replace(&mut live[i], true) {
            todo.extend(&out.instances[i].parts);
        }
    }
    live
}

/// Which variables belong to the states of a system.
fn state_variables(out: &Composed, live: &[bool]) -> Vec<bool> {
    let mut is_state = vec![false; out.variables.len()];
    for instance in out.instances.iter().zip(live).filter_map(|(i, live)| live.then_some(i)) {
        let machine = &instance.machine;
        let mut kept: Vec<&Ident> = machine.concrete_variables.iter().chain(&machine.variables).collect();
        let mut above = instance.abstraction;
        while let Some(i) = above {
            // Concrete variables are never refined away.
            kept.extend(&out.instances[i].machine.concrete_variables);
            above = out.instances[i].abstraction;
        }
        for id in kept {
            if let Some(Entity::Var(v)) = instance.names.get(&id.name) {
                is_state[*v] = true;
            }
        }
    }
    is_state
}

/// The machine and those it refines.
fn levels(out: &Composed) -> Vec<LevelDef> {
    let mut levels: Vec<LevelDef> = vec![];
    let mut next = Some(out.top);
    while let Some(instance) = next {
        let live = system_of(out, instance);
        let is_state = state_variables(out, &live);
        let i = &out.instances[instance];
        if let Some(below) = levels.last_mut() {
            let own = &out.instances[below.instance].names;
            let stands = |(name, theirs): (&Name, &Entity)| match (own.get(name)?, theirs) {
                (Entity::Var(a), Entity::Var(b)) if a != b && is_state[*b] => Some((*a, *b)),
                _ => None,
            };
            below.stand_for = i.names.iter().filter_map(stands).collect();
            below.stand_for.sort_unstable();
        }
        levels.push(LevelDef {
            instance,
            parts: out.order.iter().copied().filter(|i| live[*i]).collect(),
            variables: (0..is_state.len()).filter(|v| is_state[*v]).collect(),
            operations: i.exported_operations.clone(),
            stand_for: vec![],
        });
        next = i.abstraction;
    }
    levels
}

#[derive(Default)]
struct Reach {
    includes: HashSet<Name>,
    sees: HashSet<Name>,
}

/// The texts of the pragmas `/*@name text */`.
fn pragmas<'t>(text: &'t str, name: &'t str) -> impl Iterator<Item = &'t str> {
    text.split("/*@").skip(1).filter_map(move |rest| {
        let inside = rest.split("*/").next()?.trim();
        let value = inside.strip_prefix(name)?;
        value.starts_with(char::is_whitespace).then(|| value.trim().trim_matches('"'))
    })
}

/// The new place of each item when those marked come first, and how many they are.
fn live_first(marked: &[bool]) -> (Vec<usize>, usize) {
    let live = marked.iter().filter(|m| **m).count();
    let (mut front, mut back) = (0, live);
    let places = marked.iter().map(|m| {
        let next = if *m { &mut front } else { &mut back };
        *next += 1;
        *next - 1
    });
    (places.collect(), live)
}

fn permute<T>(items: Vec<T>, places: &[usize]) -> Vec<T> {
    let mut placed: Vec<(usize, T)> = places.iter().copied().zip(items).collect();
    placed.sort_by_key(|(place, _)| *place);
    placed.into_iter().map(|(_, item)| item).collect()
}

fn with_prefix(prefix: Option<&str>, name: &Name) -> Name {
    match prefix {
        Some(p) => format!("{p}.{name}").into(),
        None => name.clone(),
    }
}

fn last_part(name: &str) -> &str {
    name.rsplit('.').next().unwrap_or(name)
}

/// Set parameters are written in capitals.
fn is_set_name(name: &str) -> bool {
    !name.chars().any(char::is_lowercase)
}

fn show_dir(dir: &Path) -> String {
    if dir.as_os_str().is_empty() { "the current directory".into() } else { dir.display().to_string() }
}
