//! `kanon completions` and `kanon man`: what shells and manuals are told about the command line, made of the same
//! declarations that read it.

use super::{Cli, Exit};
use crate::report;
use clap::CommandFactory;
use clap_complete::Shell;

#[derive(clap::Args, Clone, Debug)]
pub struct Completions {
    /// bash, elvish, fish, powershell or zsh
    #[arg(value_name = "SHELL")]
    pub shell: Shell,
}

#[derive(clap::Args, Clone, Debug)]
pub struct Man {
    /// A command; without it, the program
    #[arg(value_name = "COMMAND")]
    pub command: Option<String>,
}

pub fn completions(args: &Completions) -> Exit {
    let mut script = vec![];
    clap_complete::generate(args.shell, &mut Cli::command(), "kanon", &mut script);
    report::out(&String::from_utf8_lossy(&script));
    Exit::Holds
}

pub fn man(args: &Man) -> Exit {
    let mut program = Cli::command();
    // Names of commands get their full form.
    program.build();
    let command = match &args.command {
        None => program,
        Some(name) => match program.find_subcommand(name) {
            Some(command) => command.clone(),
            None => return super::wrong(&format!("there is no command `{name}`: see `kanon --help`"), false),
        },
    };
    let mut page = vec![];
    match clap_mangen::Man::new(command).render(&mut page) {
        Ok(()) => {
            report::out(&String::from_utf8_lossy(&page));
            Exit::Holds
        }
        Err(e) => super::failed(&format!("cannot write the manual page: {e}")),
    }
}
