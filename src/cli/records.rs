//! `--sarif`, `--junit` and `--annotations`: answers for programs that gate a merge, beside what is printed.

use super::{Exit, Written};
use crate::model::open::Refused;
use crate::report;
use crate::report::record::{self, Record};
use std::path::{Path, PathBuf};

/// What else is written about the answer.
#[derive(clap::Args, Clone, Debug, Default)]
pub struct Records {
    /// Write the answer as SARIF 2.1.0, for code hosts and editors
    #[arg(long, value_name = "FILE")]
    pub sarif: Option<PathBuf>,
    /// Write the answer as JUnit's XML, for build servers: a test case for everything that was asked
    #[arg(long, value_name = "FILE")]
    pub junit: Option<PathBuf>,
    /// Print findings as lines that GitHub's runners show beside the source
    #[arg(long, conflicts_with_all = ["json"])]
    pub annotations: bool,
}

impl Records {
    /// Files that cannot be written are found out before the run.
    pub(super) fn try_files(&self, as_json: bool) -> Result<(), Exit> {
        [&self.sarif, &self.junit].into_iter().try_for_each(|file| super::try_file(file.as_deref(), as_json))
    }

    /// Whether anybody wants a record.
    fn is_wanted(&self) -> bool {
        self.sarif.is_some() || self.junit.is_some() || self.annotations
    }

    /// Writes what was asked for; whatever could not be written.
    pub(super) fn write(&self, record: impl FnOnce() -> Record) -> Vec<Written<'_>> {
        self.write_all(|| vec![record()])
    }

    /// The same of several runs.
    pub(super) fn write_all(&self, records: impl FnOnce() -> Vec<Record>) -> Vec<Written<'_>> {
        if !self.is_wanted() {
            return vec![];
        }
        let records = records();
        if self.annotations {
            records.iter().for_each(|record| report::out(&record::annotations(record)));
        }
        let sarif = self.sarif.iter().map(|path| (path, record::sarif(&records)));
        let junit = self.junit.iter().map(|path| (path, record::junit(&records)));
        sarif.chain(junit).map(|(path, text)| Written::of(path, std::fs::write(path, text))).collect()
    }

    /// The model is wrong: said as always, and recorded.
    pub(super) fn refuse(&self, file: &Path, refused: &Refused, as_json: bool) -> Exit {
        let exit = super::refuse(refused, as_json);
        self.write(|| Record::refused(&file.display().to_string(), refused))
            .iter()
            .for_each(Written::complain);
        exit
    }
}
