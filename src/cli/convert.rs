//! `kanon convert`: an Event-B project in another form.

use super::{Exit, refuse, wrong};
use crate::lang::diag::SourceMap;
use crate::lang::eventb;
use crate::lang::eventb::convert::{Form, Output, convert, lost};
use crate::lang::languages;
use crate::model::open::Refused;
use crate::report::{self, diagnostic};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

#[derive(clap::Args, Clone, Debug)]
pub struct Args {
    /// The project: a package, a text, a Rodin file, its folder or archive; `PATH#MACHINE` for one machine of several
    pub file: PathBuf,
    /// The form: `rodin` (a folder, or an archive if the output ends in `.zip`), `text` (one file, or a folder if the
    /// output has no ending) or `package` (what ProB reads)
    #[arg(long, value_name = "FORM", value_parser = form)]
    pub to: Form,
    /// Where to write
    #[arg(long, short, value_name = "PATH")]
    pub output: PathBuf,
}

fn form(text: &str) -> Result<Form, String> {
    let known = Form::ALL.into_iter().find(|f| f.name() == text);
    known.ok_or_else(|| "expected rodin, text or package".into())
}

pub fn run(args: &Args) -> Exit {
    let mut sources = SourceMap::default();
    let (path, part) = languages::split(&sources, &args.file);
    let files = sources.files();
    if !eventb::open::is_collection(files, &path) && !eventb::open::is_known(&path) {
        let why = match files.list(&path).is_empty() {
            true => {
                format!("{} is no Event-B project: `convert` reads what docs/eventb.md lists", path.display())
            }
            false => format!("{} is a folder without machines or contexts", path.display()),
        };
        return wrong(&why, false);
    }
    let opened = eventb::project(&mut sources, &path, part.as_deref());
    if opened.has_errors() {
        return refuse(&Refused { sources, diagnostics: opened.diagnostics }, false);
    }
    report::err(&diagnostic::render_all(&opened.diagnostics, &sources, report::colour_err()));
    let has_ending = args.output.extension().is_some();
    let is_archive = args.output.extension().is_some_and(|e| e.eq_ignore_ascii_case("zip"));
    let in_one_file = match args.to {
        Form::Rodin => is_archive,
        Form::Text | Form::Package => has_ending,
    };
    if args.to == Form::Package && !has_ending {
        return wrong("a package is one file: give `--output` an ending, like `.eventb`", false);
    }
    let name = args.output.file_stem().and_then(|s| s.to_str()).unwrap_or("project");
    let written = match convert(&opened.project, args.to, name, in_one_file) {
        Ok(written) => written,
        Err(why) => {
            return wrong(
                &format!("{} cannot be written as {}: {why}", path.display(), args.to.name()),
                false,
            );
        }
    };
    if let Some(note) = lost(&opened.project, args.to) {
        report::err(&format!("note: {note}\n"));
    }
    match write(&args.output, written) {
        Ok(()) => Exit::Holds,
        Err(e) => wrong(&format!("cannot write {}: {e}", args.output.display()), false),
    }
}

fn write(path: &Path, written: Output) -> io::Result<()> {
    match written {
        Output::File(bytes) => fs::write(path, bytes),
        Output::Folder(files) => {
            fs::create_dir_all(path)?;
            // Files of another project among ours would become part of it.
            if fs::read_dir(path)?.next().is_some() {
                return Err(io::Error::new(io::ErrorKind::AlreadyExists, "the folder is not empty"));
            }
            files.into_iter().try_for_each(|(name, bytes)| fs::write(path.join(name), bytes))
        }
    }
}
