//! `kanon fmt`: models in a tidy layout.

use super::{Exit, refuse, wrong};
use crate::report;
use crate::run::format::{self, Operators, Style};
use std::io::Read;
use std::path::{Path, PathBuf};

#[derive(clap::Args, Clone, Debug)]
pub struct Args {
    /// The models, in classical B or texts of Event-B; definition files, too
    #[arg(required_unless_present = "stdin")]
    pub files: Vec<PathBuf>,
    /// Change nothing, but name the files that would be changed; the exit code is 1 if there is one
    #[arg(long)]
    pub check: bool,
    /// Read standard input and write standard output; the ending of FILE, if given, says the language
    #[arg(long)]
    pub stdin: bool,
    /// Operators that have two forms: `keep` them as written, or write all in `ascii` or in `unicode` (classical B)
    #[arg(long, value_name = "FORM", default_value = "keep", value_parser = operators)]
    pub operators: Operators,
    /// Break lines that are longer (classical B)
    #[arg(long, value_name = "COLUMNS", default_value_t = Style::default().width, value_parser = width)]
    pub width: usize,
}

fn operators(text: &str) -> Result<Operators, String> {
    let known = Operators::ALL.into_iter().find(|(name, _)| *name == text);
    known.map(|(_, o)| o).ok_or_else(|| "expected keep, ascii or unicode".into())
}

fn width(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(n @ 20..=10_000) => Ok(n),
        _ => Err("expected 20 to 10000".into()),
    }
}

pub fn run(args: &Args) -> Exit {
    let style = Style { width: args.width, operators: args.operators, ..Style::default() };
    if args.stdin {
        return standard(args, style);
    }
    let (mut is_wrong, mut is_changed) = (false, false);
    for file in &args.files {
        match format::file(file, style, !args.check) {
            Ok(formatted) if formatted.is_changed => {
                is_changed = true;
                let what = if args.check { "would be formatted" } else { "formatted" };
                report::out(&format!("{}: {what}\n", file.display()));
            }
            Ok(_) => {}
            Err(refused) => {
                refuse(&refused, false);
                is_wrong = true;
            }
        }
    }
    match (is_wrong, is_changed && args.check) {
        (true, _) => Exit::Wrong,
        (false, true) => Exit::Fails,
        (false, false) => Exit::Holds,
    }
}

fn standard(args: &Args, style: Style) -> Exit {
    let name = match &args.files[..] {
        [] => Path::new("standard input.mch"),
        [name] => name,
        _ => return wrong("`--stdin` takes at most one name", false),
    };
    let mut text = String::new();
    if let Err(e) = std::io::stdin().lock().read_to_string(&mut text) {
        return wrong(&format!("cannot read standard input: {e}"), false);
    }
    match format::text(name, &text, style) {
        Ok(formatted) if args.check => {
            if formatted.is_changed {
                Exit::Fails
            } else {
                Exit::Holds
            }
        }
        Ok(formatted) => {
            report::out(&formatted.text);
            Exit::Holds
        }
        Err(refused) => refuse(&refused, false),
    }
}
