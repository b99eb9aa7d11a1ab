//! A project in another form.

use super::open::text_ending;
use super::project::Project;
use super::rodin::{archive, write};
use super::{pack, text};
use std::collections::HashSet;

/// The forms that there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    Rodin,
    Text,
    Package,
}

impl Form {
    pub const ALL: [Form; 3] = [Form::Rodin, Form::Text, Form::Package];

    pub fn name(self) -> &'static str {
        match self {
            Form::Rodin => "rodin",
            Form::Text => "text",
            Form::Package => "package",
        }
    }
}

/// What a conversion makes.
#[derive(Debug)]
pub enum Output {
    File(Vec<u8>),
    /// The files of a folder, by their names.
    Folder(Vec<(String, Vec<u8>)>),
}

/// Writes a project in a form, in one file or as a folder; `name` is that of the project.
///
/// # Errors
/// What the form has no words for.
pub fn convert(project: &Project, form: Form, name: &str, in_one_file: bool) -> Result<Output, String> {
    if let Some(datatype) = project.datatypes.first() {
        return Err(format!("there is no notation for `{}`, a datatype of a theory", datatype.name.name));
    }
    let project = &without_repetition(project);
    let bytes = |files: Vec<(String, String)>| files.into_iter().map(|(n, t)| (n, t.into_bytes())).collect();
    Ok(match (form, in_one_file) {
        (Form::Rodin, false) => Output::Folder(bytes(write::files(project, name)?)),
        (Form::Rodin, true) => {
            let files = write::files(project, name)?;
            let inside: Vec<(String, String)> =
                files.into_iter().map(|(n, t)| (format!("{name}/{n}"), t)).collect();
            Output::File(archive::write(&inside)?)
        }
        (Form::Text, true) => Output::File(text::write::whole(project)?.into_bytes()),
        (Form::Text, false) => {
            let components = text::write::components(project)?.into_iter();
            let file = |(kind, name, text)| (format!("{name}.{}", text_ending(kind)), text);
            Output::Folder(bytes(components.map(file).collect()))
        }
        (Form::Package, _) => Output::File(pack::package(project)?.into_bytes()),
    })
}

/// Some packages have a context twice. The first of a name is the one that counts.
fn without_repetition(project: &Project) -> Project {
    let mut project = project.clone();
    let mut seen = HashSet::new();
    project.machines.retain(|m| seen.insert(m.name.name.clone()));
    seen.clear();
    project.contexts.retain(|c| seen.insert(c.name.name.clone()));
    project
}

/// What a form does not keep, in words; nothing when it keeps all that is there.
pub fn lost(project: &Project, form: Form) -> Option<String> {
    let (obligations, comments) = (project.obligations.len(), project.comments.len());
    match form {
        Form::Text if obligations > 0 => Some(format!(
            "a text says nothing about proofs: the status of {obligations} obligations is left out"
        )),
        Form::Package if comments > 0 => Some(format!("a package has no comments: {comments} are left out")),
        _ => None,
    }
}
