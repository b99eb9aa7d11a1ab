//! From a file to a typed model.

use super::Model;
use super::check;
use crate::lang::b::compose::compose;
use crate::lang::b::{Definitions, Parsed, parse_machine, parse_text};
use crate::lang::diag::{Diagnostic, SourceMap, Span};
use crate::lang::files::{Disk, Files};
use std::path::Path;
use std::sync::Arc;

/// What came of a file: the model, unless the diagnostics hold an error.
#[derive(Debug, Default)]
pub struct Loaded {
    pub sources: SourceMap,
    pub model: Option<Model>,
    pub diagnostics: Vec<Diagnostic>,
    /// The machine's macros, for expressions that are read later.
    pub definitions: Definitions,
}

/// Trees are as deep as the text nests (the parser has a limit), so walks over them need a large stack.
pub(crate) const STACK: usize = 512 << 20;

/// Runs `f` with a stack large enough for any tree that the parser accepts.
pub fn with_large_stack<R: Send>(f: impl FnOnce() -> R + Send) -> std::io::Result<R> {
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(STACK).spawn_scoped(scope, f)?;
        match thread.join() {
            Ok(result) => Ok(result),
            Err(panic) => std::panic::resume_unwind(panic),
        }
    })
}

/// Reads the machine at `path` with all machines that it refers to, and types it.
pub fn load(path: &Path) -> Loaded {
    load_from(Arc::new(Disk), path)
}

/// The same with files from elsewhere than the disk.
pub fn load_from(files: Arc<dyn Files>, path: &Path) -> Loaded {
    load_with(SourceMap::over(files), |sources| parse_machine(sources, path), path)
}

/// The same for a machine given as text; `name` stands for its file, beside which others are looked for.
pub fn load_text(name: &str, text: &str) -> Loaded {
    load_with(SourceMap::default(), |sources| parse_text(sources, name, text), Path::new(name))
}

fn load_with(sources: SourceMap, parse: impl FnOnce(&mut SourceMap) -> Parsed + Send, path: &Path) -> Loaded {
    match with_large_stack(|| load_here(sources, parse, path)) {
        Ok(loaded) => loaded,
        Err(e) => {
            let message = format!("cannot start the reader: {e}");
            let diagnostics = vec![Diagnostic::error("B0100", Span::default(), message)];
            Loaded { diagnostics, ..Loaded::default() }
        }
    }
}

fn load_here(sources: SourceMap, parse: impl FnOnce(&mut SourceMap) -> Parsed, path: &Path) -> Loaded {
    let mut loaded = Loaded { sources, ..Loaded::default() };
    let parsed = parse(&mut loaded.sources);
    let composed = compose(&mut loaded.sources, parsed, path, &mut loaded.diagnostics);
    if let Some(composed) = composed {
        let model = check::check(&composed, &mut loaded.diagnostics);
        loaded.model = model.filter(|_| !loaded.diagnostics.iter().any(Diagnostic::is_error));
        loaded.definitions = composed.definitions;
    }
    loaded.diagnostics.sort_by_key(|d| d.span);
    loaded
}
