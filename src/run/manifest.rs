//! `kanon.toml`: the machines of a project, what is asked of each, and what the answers should be (docs/project.md).
//!
//! Here it is read. Which settings there are is not known here: they are the options of `kanon check`, by their names,
//! and whoever runs the project hands these over.
//!
//! Absent on purpose: what a setting means; running anything.

use crate::lang::diag::{Diagnostic, FileId, Span};
use crate::lang::spelling::closest;
use std::path::{Path, PathBuf};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// The code of what is wrong with a project.
const CODE: &str = "B0432";

/// What may be expected of an answer: fields of `check --json`; `finding` is its kind.
pub const EXPECTED: [&str; 12] = [
    "verdict",
    "finding",
    "states",
    "transitions",
    "initialisations",
    "constants",
    "deadlocks",
    "violations",
    "assertion_failures",
    "goals",
    "wd_errors",
    "complete",
];

/// A key with its values, as the command line has them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting {
    /// The name of an option.
    pub key: String,
    /// Where the key stands.
    pub span: Span,
    /// What it is set to.
    pub given: Given,
}

/// What a setting has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Given {
    /// It is switched on or off.
    Switch(bool),
    /// Values, one by one.
    Values(Vec<String>),
}

/// A field of an answer, and what it should be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expected {
    /// One of [`EXPECTED`].
    pub field: String,
    /// As text.
    pub value: String,
    /// Where the value stands.
    pub span: Span,
}

/// A temporal formula, and what should come of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Formula {
    /// As it was written.
    pub text: String,
    /// A verdict's name.
    pub expected: String,
    /// Where it stands.
    pub span: Span,
}

/// A machine of a project.
#[derive(Clone, Debug)]
pub struct Entry {
    /// What it is called in tables: the file, unless it has a name.
    pub name: String,
    /// From where the program runs.
    pub file: PathBuf,
    /// Where the file is named.
    pub span: Span,
    /// Its own, and those for all machines that it does not have itself.
    pub settings: Vec<Setting>,
    /// What the answer should be.
    pub expected: Vec<Expected>,
    /// What is asked besides.
    pub formulas: Vec<Formula>,
}

/// A setting that there is.
#[derive(Clone, Debug)]
pub struct Known {
    /// Its name.
    pub key: String,
    /// Whether it has a value.
    pub takes_value: bool,
    /// Whether it may be switched on without one.
    pub may_switch: bool,
    /// Whether it may have several.
    pub is_list: bool,
}

/// Reads a project. Files are beside it.
///
/// # Errors
/// What is wrong with it.
pub fn read(text: &str, file: FileId, path: &Path, known: &[Known]) -> Result<Vec<Entry>, Vec<Diagnostic>> {
    let table = match DeTable::parse(text) {
        Ok(table) => table,
        Err(e) => {
            let at = e.span().unwrap_or(0..0);
            let message = e.message().lines().next().unwrap_or_default().to_string();
            return Err(vec![Diagnostic::error(CODE, Span::new(file, at.start, at.end), message)]);
        }
    };
    let folder = path.parent().unwrap_or(Path::new(""));
    let mut reading = Reading { file, folder, known, wrong: vec![] };
    let entries = reading.project(table.get_ref());
    if entries.is_empty() && reading.wrong.is_empty() {
        let nothing = Diagnostic::error(CODE, Span::new(file, 0, 0), "the project has no machine");
        reading.wrong.push(nothing.help("add one: `[[machine]]` and below it `file = \"M.mch\"`"));
    }
    if reading.wrong.is_empty() { Ok(entries) } else { Err(reading.wrong) }
}

struct Reading<'a> {
    file: FileId,
    folder: &'a Path,
    known: &'a [Known],
    wrong: Vec<Diagnostic>,
}

impl Reading<'_> {
    fn span<T>(&self, of: &Spanned<T>) -> Span {
        Span::new(self.file, of.span().start, of.span().end)
    }

    fn error(&mut self, span: Span, message: impl Into<String>) {
        self.wrong.push(Diagnostic::error(CODE, span, message));
    }

    fn unknown<'n>(&mut self, span: Span, what: &str, key: &str, names: impl Iterator<Item = &'n str>) {
        let mut d = Diagnostic::error(CODE, span, format!("{what} has no `{key}`"));
        if let Some(near) = closest(key, names) {
            d = d.help(format!("did you mean `{near}`?"));
        }
        self.wrong.push(d);
    }

    fn project(&mut self, table: &DeTable) -> Vec<Entry> {
        let mut shared = vec![];
        if let Some((_, value)) = table.iter().find(|(k, _)| k.get_ref() == "all") {
            match value.get_ref() {
                DeValue::Table(all) => {
                    shared = all.iter().filter_map(|(k, v)| self.setting(k, v, "`all`", &[])).collect();
                }
                _ => self.error(self.span(value), "`all` is a table: settings for all machines"),
            }
        }
        let mut entries = vec![];
        for (key, value) in table.iter() {
            match (key.get_ref().as_ref(), value.get_ref()) {
                ("all", _) => {}
                ("machine", DeValue::Array(all)) => {
                    for one in all.iter() {
                        match one.get_ref() {
                            DeValue::Table(t) => entries.extend(self.entry(t, self.span(one), &shared)),
                            _ => self.error(self.span(one), "a machine is a table"),
                        }
                    }
                }
                ("machine", _) => self.error(self.span(value), "machines are tables: `[[machine]]`"),
                (other, _) => {
                    self.unknown(self.span(key), "a project", other, ["all", "machine"].into_iter());
                }
            }
        }
        entries
    }

    fn entry(&mut self, table: &DeTable, span: Span, shared: &[Setting]) -> Option<Entry> {
        let (mut file, mut name) = (None, None);
        let (mut settings, mut expected, mut formulas): (Vec<Setting>, _, _) = (vec![], vec![], vec![]);
        for (key, value) in table.iter() {
            match key.get_ref().as_ref() {
                "file" => file = self.string(value, "`file`").map(|f| (f, self.span(value))),
                "name" => name = self.string(value, "`name`"),
                "expect" => expected = self.expected(value),
                "formulas" => formulas = self.formulas(value),
                _ => settings.extend(self.setting(
                    key,
                    value,
                    "a machine",
                    &["file", "name", "expect", "formulas"],
                )),
            }
        }
        let Some((file, span)) = file else {
            self.error(span, "the machine has no `file`");
            return None;
        };
        let own = |s: &&Setting| settings.iter().all(|o| o.key != s.key);
        let others: Vec<Setting> = shared.iter().filter(own).cloned().collect();
        settings.extend(others);
        let path = self.folder.join(&file);
        Some(Entry { name: name.unwrap_or(file), file: path, span, settings, expected, formulas })
    }

    fn string(&mut self, value: &Spanned<DeValue>, what: &str) -> Option<String> {
        let text = value.get_ref().as_str().map(str::to_string);
        if text.is_none() {
            self.error(self.span(value), format!("{what} is a string"));
        }
        text
    }

    /// A setting; `others` are keys that are no settings.
    fn setting(
        &mut self,
        key: &Spanned<std::borrow::Cow<str>>,
        value: &Spanned<DeValue>,
        what: &str,
        others: &[&str],
    ) -> Option<Setting> {
        let span = self.span(key);
        let name = key.get_ref().to_string();
        let known = self.known;
        let Some(setting) = known.iter().find(|k| k.key == name) else {
            let names = known.iter().map(|k| &*k.key).chain(others.iter().copied());
            self.unknown(span, what, &name, names);
            return None;
        };
        let given = match value.get_ref() {
            DeValue::Boolean(on) if !setting.takes_value || setting.may_switch => Given::Switch(*on),
            _ if !setting.takes_value => {
                self.error(self.span(value), format!("`{name}` is true or false"));
                return None;
            }
            DeValue::Array(all) if setting.is_list => {
                Given::Values(all.iter().map(|v| self.scalar(v)).collect::<Option<_>>()?)
            }
            // `card = { PROC = 3 }` is `--card PROC=3`.
            DeValue::Table(all) if setting.is_list => {
                let pair = |(k, v): (&Spanned<_>, &Spanned<DeValue>)| {
                    let k: &std::borrow::Cow<str> = k.get_ref();
                    Some(format!("{k}={}", self.scalar(v)?))
                };
                Given::Values(all.iter().map(pair).collect::<Option<_>>()?)
            }
            _ => Given::Values(vec![self.scalar(value)?]),
        };
        Some(Setting { key: name, span, given })
    }

    fn scalar(&mut self, value: &Spanned<DeValue>) -> Option<String> {
        let text = match value.get_ref() {
            DeValue::String(s) => Some(s.to_string()),
            DeValue::Integer(i) if i.radix() == 10 => Some(i.as_str().to_string()),
            DeValue::Float(f) => Some(f.as_str().to_string()),
            DeValue::Boolean(b) => Some(b.to_string()),
            _ => None,
        };
        if text.is_none() {
            self.error(self.span(value), "this is a string or a decimal number");
        }
        text
    }

    fn expected(&mut self, value: &Spanned<DeValue>) -> Vec<Expected> {
        let span = self.span(value);
        match value.get_ref() {
            DeValue::String(verdict) => {
                self.verdict(verdict, span);
                vec![Expected { field: "verdict".into(), value: verdict.to_string(), span }]
            }
            DeValue::Table(all) => {
                let mut expected = vec![];
                for (key, value) in all.iter() {
                    let (field, span) = (key.get_ref().to_string(), self.span(value));
                    if !EXPECTED.contains(&&*field) {
                        self.unknown(self.span(key), "an answer", &field, EXPECTED.into_iter());
                        continue;
                    }
                    let is_number = value.get_ref().is_integer();
                    let is_right = match &*field {
                        "verdict" | "finding" => value.get_ref().is_str(),
                        "complete" => value.get_ref().is_bool(),
                        _ => is_number,
                    };
                    if !is_right {
                        self.error(span, format!("`{field}` is something else"));
                        continue;
                    }
                    let Some(text) = self.scalar(value) else { continue };
                    if field == "verdict" {
                        self.verdict(&text, span);
                    }
                    expected.push(Expected { field, value: text, span });
                }
                expected
            }
            _ => {
                self.error(span, "`expect` is a verdict, or a table of fields of the answer");
                vec![]
            }
        }
    }

    fn verdict(&mut self, verdict: &str, span: Span) {
        if !["holds", "fails", "unknown", "error"].contains(&verdict) {
            self.error(span, "a verdict is holds, fails, unknown or error");
        }
    }

    fn formulas(&mut self, value: &Spanned<DeValue>) -> Vec<Formula> {
        let DeValue::Array(all) = value.get_ref() else {
            self.error(self.span(value), "`formulas` is an array");
            return vec![];
        };
        let mut formulas = vec![];
        for one in all.iter() {
            let span = self.span(one);
            let mut formula = Formula { text: String::new(), expected: "holds".into(), span };
            match one.get_ref() {
                DeValue::String(text) => formula.text = text.to_string(),
                DeValue::Table(fields) => {
                    for (key, value) in fields.iter() {
                        match key.get_ref().as_ref() {
                            "formula" => formula.text = self.string(value, "`formula`").unwrap_or_default(),
                            "expect" => {
                                formula.expected = self.string(value, "`expect`").unwrap_or_default();
                                if !["holds", "fails", "unknown"].contains(&&*formula.expected) {
                                    self.error(self.span(value), "a formula holds, fails or is unknown");
                                }
                            }
                            other => {
                                let names = ["formula", "expect"].into_iter();
                                self.unknown(self.span(key), "a formula", other, names);
                            }
                        }
                    }
                }
                _ => self.error(span, "a formula is a string, or a table with `formula` and `expect`"),
            }
            if formula.text.is_empty() {
                self.error(span, "there is no formula");
            }
            formulas.push(formula);
        }
        formulas
    }
}
