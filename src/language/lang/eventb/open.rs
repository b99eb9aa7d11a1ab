//! From a path to a project: a package, a text, a file of a Rodin project, its folder, or an archive of it.

use super::gather::{Component, Kind, Sheet, Shelf, choose, gather};
use super::project::{Context, Machine, Project};
use super::rodin::built::{self, Built};
use super::rodin::{archive, component, proofs, xml};
use super::{package, rodin, term, text};
use crate::lang::ast::{Ident, Name};
use crate::lang::composed::Obligation;
use crate::lang::diag::{Diagnostic, FileId, SourceMap, Span};
use crate::lang::files::Files;
use component::Handles;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// What reading gave.
#[derive(Debug, Default)]
pub struct Opened {
    /// As far as it could be read, also beside errors.
    pub project: Project,
    /// Its files are not for people: places in it should be moved to a listing.
    pub is_coded: bool,
    pub diagnostics: Vec<Diagnostic>,
}

impl Opened {
    fn failed(e: Diagnostic) -> Opened {
        Opened { diagnostics: vec![e], ..Opened::default() }
    }

    pub fn has_errors(&self) -> bool {
        self.diagnostics.iter().any(Diagnostic::is_error)
    }
}

/// The form of a file, by its ending.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    /// A package, or a text of the same ending.
    Package,
    Rodin(Kind),
    Text,
}

fn ending(path: &Path) -> String {
    path.extension().and_then(|e| e.to_str()).unwrap_or_default().to_lowercase()
}

fn form(path: &Path) -> Option<Form> {
    Some(match &*ending(path) {
        "eventb" => Form::Package,
        "bum" => Form::Rodin(Kind::Machine),
        "buc" => Form::Rodin(Kind::Context),
        "mchx" | "ctxx" => Form::Text,
        _ => return None,
    })
}

/// The ending of the text of a component.
pub fn text_ending(kind: Kind) -> &'static str {
    match kind {
        Kind::Machine => "mchx",
        Kind::Context => "ctxx",
    }
}

/// Whether a path is a file of one of the forms.
pub fn is_known(path: &Path) -> bool {
    form(path).is_some()
}

/// Whether a path is a folder with components in it, or an archive.
pub fn is_collection(files: &dyn Files, path: &Path) -> bool {
    ending(path) == "zip" || is_folder(files, path)
}

fn is_folder(files: &dyn Files, path: &Path) -> bool {
    !files.is_file(path) && files.list(path).iter().any(|name| component_of(name).is_some())
}

/// The component that a file of this name has.
fn component_of(file: &str) -> Option<(Kind, &str, bool)> {
    let (name, ending) = file.rsplit_once('.')?;
    Some(match ending {
        "bum" => (Kind::Machine, name, true),
        "buc" => (Kind::Context, name, true),
        "mchx" => (Kind::Machine, name, false),
        "ctxx" => (Kind::Context, name, false),
        _ => return None,
    })
}

/// The project in a text of the map; `part` is the machine that is looked at, if not the most refined one.
pub fn open_file(sources: &mut SourceMap, file: FileId, part: Option<&str>) -> Opened {
    let Some(source) = sources.get(file) else { return Opened::default() };
    let (path, text) = (source.path.clone(), source.text.clone());
    let whole = Span::new(file, 0, 0);
    let folder = path.parent().map(Path::to_path_buf).unwrap_or_default();
    match form(&path) {
        Some(Form::Text) => open_text(sources, file, &text, folder, part),
        Some(Form::Package) if text::is_text(&text) => open_text(sources, file, &text, folder, part),
        Some(Form::Rodin(kind)) => {
            let stem = path.file_stem().and_then(|s| s.to_str()).unwrap_or_default().to_string();
            if let Some(part) = part.filter(|part| *part != stem) {
                let message = format!("this file has `{stem}` only, no `{part}`");
                let help = "name the machine behind the folder or the archive of the project";
                return Opened::failed(Diagnostic::error("B0211", whole, message).help(help));
            }
            let mut shelf = Cupboard::new(sources, Place::Folder(folder), true);
            let mut diags = vec![];
            let top = shelf.rodin(kind, &stem, file, &mut diags);
            shelf.finish(top, diags)
        }
        _ => {
            let clauses = match term::clauses(&text, file) {
                Ok(clauses) => clauses,
                Err(e) => return Opened::failed(e),
            };
            let project = match package::read(&clauses, whole) {
                Ok(project) => project,
                Err(diagnostics) => return Opened { diagnostics, ..Opened::default() },
            };
            from_machine(project, part, whole)
        }
    }
}

/// The project of a package, seen from one of its machines.
fn from_machine(mut project: Project, part: Option<&str>, whole: Span) -> Opened {
    if let Some(part) = part {
        match project.machines.iter().position(|m| &*m.name.name == part) {
            Some(i) => drop(project.machines.drain(..i)),
            None => {
                let names: Vec<String> =
                    project.machines.iter().map(|m| format!("`{}`", m.name.name)).collect();
                let message = format!("there is no machine `{part}` in this package");
                let help = format!("there are {}", names.join(", "));
                return Opened::failed(Diagnostic::error("B0211", whole, message).help(help));
            }
        }
    }
    Opened { project, is_coded: true, diagnostics: vec![] }
}

fn references(sheet: &Sheet) -> Vec<Name> {
    match &sheet.component {
        Component::Machine(m) => m.refines.iter().map(|id| id.name.clone()).collect(),
        Component::Context(c) => c.extends.iter().map(|id| id.name.clone()).collect(),
    }
}

fn open_text(
    sources: &mut SourceMap,
    file: FileId,
    text: &str,
    folder: PathBuf,
    part: Option<&str>,
) -> Opened {
    let mut diags = vec![];
    let mut sheets = text::read::read(text, file, &mut diags);
    twice(&sheets, &mut diags);
    let found: Vec<(Kind, Name, Vec<Name>)> =
        sheets.iter().map(|s| (s.component.kind(), s.component.name().name.clone(), references(s))).collect();
    let top = match choose(&found, part, Span::new(file, 0, 0)) {
        Ok(top) => Some(sheets.remove(top)),
        Err(e) => {
            // A text with mistakes may have nothing left to choose from.
            if diags.is_empty() {
                diags.push(e);
            }
            None
        }
    };
    let mut shelf = Cupboard::new(sources, Place::Folder(folder), false);
    shelf.sheets = sheets;
    shelf.finish(top, diags)
}

/// Components of one kind and name in one text.
fn twice(sheets: &[Sheet], diags: &mut Vec<Diagnostic>) {
    for (i, sheet) in sheets.iter().enumerate() {
        let (kind, name) = (sheet.component.kind(), sheet.component.name());
        let same = |s: &&Sheet| s.component.kind() == kind && s.component.name().name == name.name;
        if let Some(first) = sheets[..i].iter().find(same) {
            let message = format!("the {} `{}` is there twice", kind.word(), name.name);
            let e = Diagnostic::error("B0202", name.span, message);
            diags.push(e.note(first.component.name().span, "first here"));
        }
    }
}

/// The project in a folder or an archive.
pub fn open_collection(sources: &mut SourceMap, path: &Path, part: Option<&str>) -> Opened {
    let is_folder = is_folder(sources.files(), path);
    let bytes = match is_folder {
        true => Ok(vec![]),
        false => sources.files().read(path).map_err(|e| format!("cannot read {}: {e}", path.display())),
    };
    let here = sources.add(path, "");
    let whole = Span::new(here, 0, 0);
    let mut folders: BTreeMap<String, Place> = BTreeMap::new();
    if is_folder {
        folders.insert(String::new(), Place::Folder(path.to_path_buf()));
    } else {
        let bytes = match bytes {
            Ok(bytes) => bytes,
            Err(message) => return Opened::failed(Diagnostic::error("B0100", whole, message)),
        };
        let entries = match archive::read(&bytes) {
            Ok(entries) => entries,
            Err(message) => {
                let help = "export the project from Rodin again, as an archive file";
                return Opened::failed(Diagnostic::error("B0100", whole, message).help(help));
            }
        };
        for entry in entries {
            let place = folders.entry(entry.folder.clone()).or_insert_with(|| Place::Archive {
                path: path.to_path_buf(),
                folder: entry.folder,
                entries: BTreeMap::new(),
            });
            if let Place::Archive { entries, .. } = place {
                entries.insert(entry.name, entry.text);
            }
        }
    }
    let mut found: Vec<(Kind, Name, Vec<Name>)> = vec![];
    let mut where_: Vec<(String, String)> = vec![];
    let mut listed: Vec<(String, Kind, String, Vec<Name>)> = vec![];
    for (folder, place) in &folders {
        let files = place.files(sources.files());
        for file in &files {
            let Some((kind, name, is_rodin)) = component_of(file) else { continue };
            // CamilleX keeps both forms of a component in one folder.
            let other = format!("{name}.{}", rodin::ending(kind));
            if !is_rodin && files.contains(&other) {
                continue;
            }
            let refers =
                place.text(sources.files(), file).map(|text| refers(&text, is_rodin)).unwrap_or_default();
            listed.push((folder.clone(), kind, name.to_string(), refers));
        }
    }
    let mut with_components: Vec<&String> = listed.iter().map(|(folder, ..)| folder).collect();
    with_components.dedup();
    let is_alone = with_components.len() <= 1;
    let title = |folder: &str, name: &str| -> Name {
        if is_alone { name.into() } else { format!("{folder}/{name}").into() }
    };
    for (folder, kind, name, refers) in &listed {
        let refers = refers.iter().map(|r| title(folder, r)).collect();
        found.push((*kind, title(folder, name), refers));
        where_.push((folder.clone(), name.clone()));
    }
    let chosen = match choose(&found, part, whole) {
        Ok(chosen) => chosen,
        Err(e) => return Opened::failed(e),
    };
    let (folder, name) = where_[chosen].clone();
    let Some(place) = folders.remove(&folder) else { return Opened::default() };
    let mut shelf = Cupboard::new(sources, place, true);
    let mut diags = vec![];
    let top = shelf.take(found[chosen].0, &name, &mut diags);
    shelf.finish(top, diags)
}

/// What a component refines or extends, as far as it can be told at a glance.
fn refers(text: &str, is_rodin: bool) -> Vec<Name> {
    if !is_rodin {
        let sheets = text::read::read(text, FileId::default(), &mut vec![]);
        return sheets.iter().flat_map(references).collect();
    }
    let Ok(document) = xml::parse(text, FileId::default()) else { return vec![] };
    let is_reference =
        |n: &roxmltree::Node<'_, '_>| matches!(xml::kind(n), Some("refinesMachine" | "extendsContext"));
    let children = document.root_element().children().filter(is_reference);
    children.filter_map(|n| xml::value(&n, "target").map(Name::from)).collect()
}

/// Where files are.
#[derive(Debug)]
enum Place {
    Folder(PathBuf),
    Archive { path: PathBuf, folder: String, entries: BTreeMap<String, String> },
}

impl Place {
    fn files(&self, files: &dyn Files) -> Vec<String> {
        match self {
            Place::Folder(folder) => files.list(folder),
            Place::Archive { entries, .. } => entries.keys().cloned().collect(),
        }
    }

    fn text(&self, files: &dyn Files, name: &str) -> Option<String> {
        match self {
            Place::Folder(folder) => {
                let bytes = files.read(&folder.join(name)).ok()?;
                Some(String::from_utf8_lossy(&bytes).into_owned())
            }
            Place::Archive { entries, .. } => entries.get(name).cloned(),
        }
    }
}

/// Components in files of one place, and proofs beside them.
struct Cupboard<'s> {
    sources: &'s mut SourceMap,
    place: Place,
    /// Rodin's form of a component is taken before its text.
    rodin_first: bool,
    /// Components that are read already: those of the same text.
    sheets: Vec<Sheet>,
    handles: Handles,
    /// Components of Rodin's, and their sources.
    read: Vec<(Kind, Name, FileId)>,
}

impl<'s> Cupboard<'s> {
    fn new(sources: &'s mut SourceMap, place: Place, rodin_first: bool) -> Cupboard<'s> {
        Cupboard { sources, place, rodin_first, sheets: vec![], handles: Handles::new(), read: vec![] }
    }

    /// Adds a file to the map; `None` when it is not there.
    fn add(&mut self, name: &str, diags: &mut Vec<Diagnostic>) -> Option<FileId> {
        // A name from a file is no path.
        if name.contains(['/', '\\']) || name.starts_with('.') {
            return None;
        }
        match &mut self.place {
            Place::Folder(folder) => {
                let path = folder.join(name);
                if !self.sources.files().is_file(&path) {
                    return None;
                }
                let read = self.sources.read(&path);
                let whole = Span::default();
                read.map_err(|message| diags.push(Diagnostic::error("B0100", whole, message))).ok()
            }
            Place::Archive { path, folder, entries } => {
                let text = entries.remove(name)?;
                let inside = if folder.is_empty() { name.to_string() } else { format!("{folder}/{name}") };
                Some(self.sources.add(format!("{}#{inside}", path.display()), text))
            }
        }
    }

    fn rodin(&mut self, kind: Kind, name: &str, file: FileId, diags: &mut Vec<Diagnostic>) -> Option<Sheet> {
        let text = self.sources.get(file)?.text.clone();
        self.read.push((kind, name.into(), file));
        component::read(&text, file, kind, name, &mut self.handles, diags)
    }

    /// The project of a component, with what is known of its proofs.
    fn finish(mut self, top: Option<Sheet>, mut diags: Vec<Diagnostic>) -> Opened {
        let Some(top) = top else { return Opened { diagnostics: diags, ..Opened::default() } };
        let mut project = gather(top, &mut self, &mut diags);
        let is_coded = !self.read.is_empty();
        let read = std::mem::take(&mut self.read);
        for (_, name, _) in &read {
            let obligations = self.obligations(name, &mut diags);
            project.obligations.extend(obligations);
        }
        if project.obligations.iter().any(|o| o.is_discharged)
            && let Some(why) = self.stale(&read, &mut diags)
        {
            let message = format!("proofs are not believed: {why}, so they may be about other sources");
            let place = read.first().map_or(Span::default(), |(_, _, file)| Span::new(*file, 0, 0));
            let help = "build the project with Rodin";
            diags.push(Diagnostic::warning("B0422", place, message).help(help));
            project.obligations.iter_mut().for_each(|o| o.is_discharged = false);
        }
        Opened { project, is_coded, diagnostics: diags }
    }

    /// Why proofs may be about other sources than those that were read.
    fn stale(&mut self, read: &[(Kind, Name, FileId)], diags: &mut Vec<Diagnostic>) -> Option<String> {
        let mut file = |kind: Kind, name: &Name| self.add(&format!("{name}.{}", built::ending(kind)), diags);
        let checked: Vec<Option<FileId>> = read.iter().map(|(kind, name, _)| file(*kind, name)).collect();
        let mut file = |name: &Name| self.add(&format!("{name}.bpo"), diags);
        let obligations: Vec<Option<FileId>> = read.iter().map(|(_, name, _)| file(name)).collect();
        let sources = &*self.sources;
        let text = |file: FileId| sources.get(file).map(|s| &*s.text);
        let mut all = vec![];
        for ((kind, name, source), (checked, obligations)) in
            read.iter().zip(checked.iter().zip(&obligations))
        {
            let source = text(*source).unwrap_or_default();
            let [checked, obligations] = [checked, obligations].map(|f| f.and_then(text));
            all.push(Built { kind: *kind, name, source, checked, obligations });
        }
        built::stale(&all)
    }

    fn obligations(&mut self, name: &Name, diags: &mut Vec<Diagnostic>) -> Vec<Obligation> {
        let mut file = |ending: &str| self.add(&format!("{name}.{ending}"), diags);
        let (Some(obligations), statuses, proofs) = (file("bpo"), file("bps"), file("bpr")) else {
            return vec![];
        };
        let sources = &*self.sources;
        let text = |file: FileId| sources.get(file).map(|s| proofs::Text { text: &s.text, file });
        let Some(obligations) = text(obligations) else { return vec![] };
        let (statuses, proofs) = (statuses.and_then(text), proofs.and_then(text));
        proofs::read(name, obligations, statuses, proofs, &self.handles, diags)
    }
}

impl Shelf for Cupboard<'_> {
    fn take(&mut self, kind: Kind, name: &str, diags: &mut Vec<Diagnostic>) -> Option<Sheet> {
        let fits = |s: &Sheet| s.component.kind() == kind && &*s.component.name().name == name;
        if let Some(i) = self.sheets.iter().position(fits) {
            return Some(self.sheets.remove(i));
        }
        let order = if self.rodin_first { [true, false] } else { [false, true] };
        for is_rodin in order {
            let ending = if is_rodin { rodin::ending(kind) } else { text_ending(kind) };
            let Some(file) = self.add(&format!("{name}.{ending}"), diags) else { continue };
            if is_rodin {
                // A component that cannot be read at all is there nevertheless, and what is wrong with it is said.
                return self.rodin(kind, name, file, diags).or_else(|| Some(empty(kind, name, file)));
            }
            let text = self.sources.get(file)?.text.clone();
            let found = text::read::read(&text, file, diags).into_iter().find(fits);
            return found.or_else(|| {
                let message = format!("there is no {} `{name}` in this file", kind.word());
                diags.push(Diagnostic::error("B0211", Span::new(file, 0, 0), message));
                Some(empty(kind, name, file))
            });
        }
        None
    }

    fn missing(&self, kind: Kind, name: &str) -> String {
        let files = format!("`{name}.{}` or `{name}.{}`", rodin::ending(kind), text_ending(kind));
        match &self.place {
            Place::Folder(folder) if folder.as_os_str().is_empty() => {
                format!("{files} should be in this folder")
            }
            Place::Folder(folder) => format!("{files} should be in {}", folder.display()),
            Place::Archive { .. } => format!("`{name}.{}` should be in the archive", rodin::ending(kind)),
        }
    }
}

fn empty(kind: Kind, name: &str, file: FileId) -> Sheet {
    let name = Ident { name: name.into(), span: Span::new(file, 0, 0) };
    let component = match kind {
        Kind::Machine => Component::Machine(Machine::empty(name)),
        Kind::Context => Component::Context(Context::empty(name)),
    };
    Sheet { component, comments: Default::default(), obligations: vec![] }
}
