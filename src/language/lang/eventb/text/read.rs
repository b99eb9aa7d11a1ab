//! Texts to components. A mistake in a formula is reported and the formula left out; the rest is read.

use super::is_word;
use crate::lang::ast::{BinOp, Ident, Name};
use crate::lang::diag::{Diagnostic, FileId, Span};
use crate::lang::eventb::gather::{Component, Sheet};
use crate::lang::eventb::math::lex::{At, T, Token, tokens};
use crate::lang::eventb::math::parse::{action_of, expression_of, predicate_of};
use crate::lang::eventb::math::words::Sign;
use crate::lang::eventb::project::{
    Action, Comments, Context, Event, Inherited, Labelled, Machine, Status, Witness,
};
use crate::lang::eventb::shape::Res;
use crate::lang::spelling::closest;

/// More errors than this help nobody.
const MAX_ERRORS: usize = 25;

/// The components of a text, in its order.
pub fn read(text: &str, file: FileId, diags: &mut Vec<Diagnostic>) -> Vec<Sheet> {
    let tokens = match tokens(text, At::File(file, 0), true) {
        Ok(tokens) => tokens,
        Err(e) => {
            diags.push(e);
            return vec![];
        }
    };
    let end = Span::new(file, text.len(), text.len());
    let mut reader = Reader { tokens: &tokens, at: 0, end, comments: Comments::new(), errors: vec![] };
    let mut sheets = vec![];
    while reader.at < tokens.len() && reader.errors.len() < MAX_ERRORS {
        match reader.component() {
            Ok(component) => {
                let comments = std::mem::take(&mut reader.comments);
                sheets.push(Sheet { component, comments, obligations: vec![] });
            }
            Err(e) => {
                reader.errors.push(*e);
                reader.skip_to_component();
            }
        }
    }
    reader.errors.truncate(MAX_ERRORS);
    diags.append(&mut reader.errors);
    sheets
}

struct Reader<'t> {
    tokens: &'t [Token],
    at: usize,
    end: Span,
    comments: Comments,
    errors: Vec<Diagnostic>,
}

impl<'t> Reader<'t> {
    fn token(&self) -> Option<&'t Token> {
        self.tokens.get(self.at)
    }

    fn here(&self) -> Span {
        self.token().map_or(self.end, |t| t.span)
    }

    /// The word that comes next, if it is one.
    fn word(&self) -> Option<&'t Name> {
        match self.token() {
            Some(Token { t: T::Name(name), .. }) => Some(name),
            _ => None,
        }
    }

    fn is(&self, word: &str) -> bool {
        self.word().is_some_and(|w| is_word(w, word))
    }

    fn is_any(&self, words: &[&str]) -> bool {
        words.iter().any(|w| self.is(w))
    }

    fn takes(&mut self, word: &str) -> bool {
        let found = self.is(word);
        self.at += usize::from(found);
        found
    }

    fn expected(&self, wanted: &str) -> Box<Diagnostic> {
        let found = self.token().map_or("the end of the text".to_string(), Token::show);
        Box::new(Diagnostic::error("B0102", self.here(), format!("expected {wanted}, found {found}")))
    }

    /// The next clause is none of these; with a word that looks like one.
    fn expected_clause(&self, clauses: &[&str]) -> Box<Diagnostic> {
        let wanted: Vec<String> = clauses.iter().map(|c| format!("`{c}`")).collect();
        let e = self.expected(&format!("one of {}", wanted.join(", ")));
        let lower = self.word().map(|w| w.to_lowercase());
        match lower.as_deref().and_then(|w| closest(w, clauses.iter().copied())) {
            Some(word) => Box::new(e.help(format!("did you mean `{word}`?"))),
            None => e,
        }
    }

    /// Skips to where another component may begin.
    fn skip_to_component(&mut self) {
        while let Some(token) = self.token() {
            if token.is_first && (self.is("machine") || self.is("context")) {
                return;
            }
            self.at += 1;
        }
    }

    /// The name of a component or event, which may have hyphens in it.
    fn title(&mut self, what: &str) -> Res<Ident> {
        let Some(name) = self.word() else { return Err(self.expected(what)) };
        let mut span = self.here();
        let mut whole = name.to_string();
        self.at += 1;
        while let Some([a, b]) = self.tokens.get(self.at..self.at + 2)
            && let (T::Sign(sign), T::Name(_) | T::Int(_)) = (&a.t, &b.t)
            && *sign == Sign::Op(BinOp::Sub)
            && a.span.lo == span.hi
            && b.span.lo == a.span.hi
            && a.span.hi - a.span.lo == 1
        {
            let text = match &b.t {
                T::Name(name) => name.to_string(),
                T::Int(i) => i.to_string(),
                _ => String::new(),
            };
            whole = format!("{whole}-{text}");
            span = span.to(b.span);
            self.at += 2;
        }
        Ok(Ident { name: whole.into(), span })
    }

    fn comment(&mut self, at: usize, place: &[&Name]) {
        if let Some(comment) = self.tokens.get(at).and_then(|t| t.comment.clone()) {
            self.comments.insert(place.iter().map(|n| (*n).clone()).collect(), comment);
        }
    }

    fn component(&mut self) -> Res<Component> {
        let at = self.at;
        let is_machine = self.is("machine");
        if !self.takes("machine") && !self.takes("context") {
            return Err(self.expected("`machine` or `context`"));
        }
        let name = self.title("a name")?;
        self.comment(at, &[&name.name]);
        match is_machine {
            true => self.machine(Machine::empty(name)).map(Component::Machine),
            false => self.context(Context::empty(name)).map(Component::Context),
        }
    }

    /// Names up to a word of the notation, with or without commas between them.
    fn names(&mut self, whole: &Name, event: Option<&Name>, stop: &[&str]) -> Res<Vec<Ident>> {
        let mut names = vec![];
        while let Some(name) = self.word() {
            if self.is_any(stop) {
                break;
            }
            let at = self.at;
            let id = Ident { name: name.clone(), span: self.here() };
            self.at += 1;
            match event {
                Some(event) => self.comment(at, &[whole, event, &id.name]),
                None => self.comment(at, &[whole, &id.name]),
            }
            names.push(id);
            if matches!(self.token(), Some(Token { t: T::Sign(Sign::Comma), .. })) {
                self.at += 1;
            }
        }
        match names.is_empty() {
            true => Err(self.expected("a name")),
            false => Ok(names),
        }
    }

    /// The tokens of a formula: up to a label or one of these words.
    fn formula(&mut self, stop: &[&str]) -> (&'t [Token], Span) {
        let from = self.at;
        while let Some(token) = self.token() {
            if matches!(token.t, T::Label(_)) || self.is_any(stop) {
                break;
            }
            self.at += 1;
        }
        (&self.tokens[from..self.at], self.here())
    }

    /// Whether a theorem comes next, and its label or that of what comes instead.
    fn label(&mut self) -> Option<(Option<Name>, bool, usize)> {
        let is_theorem = self.is("theorem");
        let behind = self.tokens.get(self.at + usize::from(is_theorem));
        let Some(Token { t: T::Label(label), .. }) = behind else { return None };
        let at = self.at;
        self.at += 1 + usize::from(is_theorem);
        Some((label.clone(), is_theorem, at))
    }

    /// Labelled predicates: whether each is a theorem.
    fn predicates(&mut self, place: &[&Name], all: bool, stop: &[&str]) -> Vec<(Labelled, bool)> {
        let mut found = vec![];
        while let Some((label, is_theorem, at)) = self.label() {
            if let Some(label) = &label {
                let place: Vec<&Name> = place.iter().copied().chain([label]).collect();
                self.comment(at, &place);
            }
            let (tokens, end) = self.formula(stop);
            match predicate_of(tokens, end) {
                Ok(formula) => found.push((Labelled { label, formula }, is_theorem || all)),
                Err(e) => self.errors.push(*e),
            }
        }
        found
    }

    /// What stands where labels are wanted and is none.
    fn no_label(&self, clause: &str) -> Box<Diagnostic> {
        let e = self.expected(&format!("a label (`@name`) before each formula of `{clause}`"));
        Box::new(e.help("every formula has a label: `@inv1 x ∈ ℕ`"))
    }

    fn context(&mut self, mut context: Context) -> Res<Context> {
        const CLAUSES: [&str; 6] = ["extends", "sets", "constants", "axioms", "theorems", "end"];
        const STOP: [&str; 6] = ["sets", "constants", "axioms", "theorems", "theorem", "end"];
        let name = context.name.name.clone();
        loop {
            let clause = self.word().map(|w| w.to_lowercase()).filter(|_| self.is_any(&CLAUSES));
            let Some(clause) = clause else { return Err(self.expected_clause(&CLAUSES)) };
            self.at += 1;
            match &*clause {
                "extends" => context.extends.extend(self.references(&STOP)?),
                "sets" => context.sets.extend(self.names(&name, None, &STOP)?),
                "constants" => context.constants.extend(self.names(&name, None, &STOP)?),
                "axioms" | "theorems" => {
                    for (labelled, is_theorem) in self.predicates(&[&name], clause == "theorems", &STOP) {
                        let list = if is_theorem { &mut context.theorems } else { &mut context.axioms };
                        list.push(labelled);
                    }
                    if !self.is_any(&CLAUSES) {
                        return Err(self.no_label(&clause));
                    }
                }
                _ => return Ok(context),
            }
        }
    }

    /// Names of other components.
    fn references(&mut self, stop: &[&str]) -> Res<Vec<Ident>> {
        let mut found = vec![];
        while self.word().is_some() && !self.is_any(stop) {
            found.push(self.title("a name")?);
            if matches!(self.token(), Some(Token { t: T::Sign(Sign::Comma), .. })) {
                self.at += 1;
            }
        }
        match found.is_empty() {
            true => Err(self.expected("a name")),
            false => Ok(found),
        }
    }

    fn machine(&mut self, mut machine: Machine) -> Res<Machine> {
        const CLAUSES: [&str; 8] =
            ["refines", "sees", "variables", "invariants", "theorems", "variant", "events", "end"];
        const STOP: [&str; 7] =
            ["variables", "invariants", "theorems", "theorem", "variant", "events", "end"];
        const HEAD: [&str; 8] =
            ["refines", "sees", "variables", "invariants", "theorems", "variant", "events", "end"];
        let name = machine.name.name.clone();
        loop {
            let clause = self.word().map(|w| w.to_lowercase()).filter(|_| self.is_any(&CLAUSES));
            let Some(clause) = clause else { return Err(self.expected_clause(&CLAUSES)) };
            let at = self.here();
            self.at += 1;
            match &*clause {
                "refines" if machine.refines.is_some() => {
                    return Err(Box::new(Diagnostic::error("B0102", at, "a machine refines one other")));
                }
                "refines" => machine.refines = Some(self.title("the name of a machine")?),
                "sees" => machine.sees.extend(self.references(&HEAD)?),
                "variables" => machine.variables.extend(self.names(&name, None, &STOP)?),
                "invariants" | "theorems" => {
                    for (labelled, is_theorem) in self.predicates(&[&name], clause == "theorems", &STOP) {
                        let list = if is_theorem { &mut machine.theorems } else { &mut machine.invariants };
                        list.push(labelled);
                    }
                    if !self.is_any(&CLAUSES) {
                        return Err(self.no_label(&clause));
                    }
                }
                "variant" => {
                    let label = self.label().and_then(|(label, ..)| label);
                    let (tokens, end) = self.formula(&STOP);
                    match expression_of(tokens, end) {
                        Ok(_) if machine.variant.is_some() => {
                            let message = "a second variant is not supported";
                            self.errors.push(Diagnostic::error("B0401", at, message));
                        }
                        Ok(formula) => machine.variant = Some(Labelled { label, formula }),
                        Err(e) => self.errors.push(*e),
                    }
                }
                "events" => {
                    while !self.is("end") {
                        if self.errors.len() >= MAX_ERRORS {
                            return Ok(machine);
                        }
                        match self.event(&name) {
                            Ok(event) => machine.events.push(event),
                            Err(e) => {
                                self.errors.push(*e);
                                self.skip_to_event();
                                if self.token().is_none() {
                                    return Ok(machine);
                                }
                            }
                        }
                    }
                }
                _ => return Ok(machine),
            }
        }
    }

    /// Skips to where another event may begin, or the machine may end.
    fn skip_to_event(&mut self) {
        const STATUS: [&str; 3] = ["convergent", "anticipated", "ordinary"];
        while let Some(token) = self.token() {
            let behind = self.tokens.get(self.at + 1);
            let is_event = |t: &Token| matches!(&t.t, T::Name(w) if is_word(w, "event"));
            if self.is("event") || self.is_any(&STATUS) && behind.is_some_and(is_event) {
                return;
            }
            // The END of a machine is followed by nothing, or by another component.
            let ends = |t: &Token| matches!(&t.t, T::Name(w) if t.is_first && (is_word(w, "machine") || is_word(w, "context")));
            if token.is_first && self.is("end") && behind.is_none_or(ends) {
                return;
            }
            self.at += 1;
        }
    }

    fn status(&mut self) -> Option<Status> {
        let all = [
            ("ordinary", Status::Ordinary),
            ("convergent", Status::Convergent),
            ("anticipated", Status::Anticipated),
        ];
        all.into_iter().find(|(word, _)| self.takes(word)).map(|(_, status)| status)
    }

    fn event(&mut self, machine: &Name) -> Res<Event> {
        const CLAUSES: [&str; 11] = [
            "refines", "extends", "status", "any", "where", "when", "with", "witness", "then", "begin", "end",
        ];
        const STOP: [&str; 10] =
            ["any", "where", "when", "with", "witness", "then", "begin", "end", "theorem", "event"];
        const HEAD: [&str; 8] = ["status", "any", "where", "when", "with", "witness", "then", "begin"];
        let (at, from) = (self.at, self.here());
        let mut status = self.status();
        // CamilleX leaves the word out before INITIALISATION.
        if !self.takes("event") && !self.is("INITIALISATION") {
            return Err(self.expected("`event` or `end`"));
        }
        let name = self.title("the name of an event")?;
        let span = from.to(name.span);
        let of = name.name.clone();
        self.comment(at, &[machine, &of]);
        let mut event = Event::empty(name, span);
        loop {
            let clause = self.word().map(|w| w.to_lowercase()).filter(|_| self.is_any(&CLAUSES));
            let Some(clause) = clause else {
                if let Some(found) = self.status() {
                    status = Some(found);
                    continue;
                }
                return Err(self.expected_clause(&CLAUSES));
            };
            self.at += 1;
            match &*clause {
                "refines" | "extends" => {
                    let stop: Vec<&str> = HEAD
                        .into_iter()
                        .chain(["end", "refines", "extends", "convergent", "anticipated", "ordinary"])
                        .collect();
                    event.refines.extend(self.references(&stop)?);
                    if clause == "extends" {
                        event.inherited = Inherited { is_extended: true, ..Inherited::default() };
                    }
                }
                "status" => match self.status() {
                    Some(found) => status = Some(found),
                    None => return Err(self.expected("`ordinary`, `convergent` or `anticipated`")),
                },
                "any" => event.parameters.extend(self.names(machine, Some(&of), &STOP)?),
                "where" | "when" => {
                    for (labelled, is_theorem) in self.predicates(&[machine, &of], false, &STOP) {
                        let list = if is_theorem { &mut event.theorems } else { &mut event.guards };
                        list.push(labelled);
                    }
                    if !self.is_any(&CLAUSES) {
                        return Err(self.no_label(&clause));
                    }
                }
                "with" | "witness" => {
                    self.witnesses(&mut event, &STOP);
                    if !self.is_any(&CLAUSES) {
                        return Err(self.no_label(&clause));
                    }
                }
                "then" | "begin" => {
                    self.actions(&mut event, machine, &STOP);
                    if self.takes("skip") && self.is_any(&CLAUSES) {
                        continue;
                    }
                    if !self.is_any(&CLAUSES) {
                        return Err(self.no_label(&clause));
                    }
                }
                _ => {
                    event.status = status.unwrap_or(Status::Ordinary);
                    return Ok(event);
                }
            }
        }
    }

    fn witnesses(&mut self, event: &mut Event, stop: &[&str]) {
        loop {
            let span = self.here();
            let Some((label, _, _)) = self.label() else { return };
            let (tokens, end) = self.formula(stop);
            let Some(of) = label.clone() else {
                let message = "the label of a witness is the name that it stands for";
                self.errors.push(Diagnostic::error("B0102", span, message));
                continue;
            };
            match predicate_of(tokens, end) {
                Ok(formula) => {
                    let predicate = Labelled { label, formula };
                    event.witnesses.push(Witness { of: Ident { name: of, span }, predicate });
                }
                Err(e) => self.errors.push(*e),
            }
        }
    }

    fn actions(&mut self, event: &mut Event, machine: &Name, stop: &[&str]) {
        while let Some((label, _, at)) = self.label() {
            if let Some(label) = &label {
                self.comment(at, &[machine, &event.name.name.clone(), label]);
            }
            let (tokens, end) = self.formula(stop);
            let span = match (tokens.first(), tokens.last()) {
                (Some(a), Some(b)) => a.span.to(b.span),
                _ => end,
            };
            match action_of(tokens, end) {
                Ok(Some(kind)) => event.actions.push(Action { label, kind, span }),
                Ok(None) => {}
                Err(e) => self.errors.push(*e),
            }
        }
    }
}
