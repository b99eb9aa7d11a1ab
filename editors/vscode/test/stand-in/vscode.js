// A stand-in of the module `vscode`: what the extension and its language client ask of it. Documents live here, and
// what the client registers or shows can be looked at. Everything that is not listed is a class or a function that
// does nothing.
'use strict';

const path = require('node:path');
const { pathToFileURL, fileURLToPath } = require('node:url');

class Emitter {
  constructor() {
    this.listeners = new Set();
    this.event = (listener, self) => {
      const bound = self ? listener.bind(self) : listener;
      this.listeners.add(bound);
      return { dispose: () => this.listeners.delete(bound) };
    };
  }
  fire(value) { for (const l of [...this.listeners]) l(value); }
  dispose() { this.listeners.clear(); }
}

class Disposable {
  constructor(end) { this.end = end; }
  dispose() { if (this.end) this.end(); }
}

class Position {
  constructor(line, character) { this.line = line; this.character = character; }
}
class Range {
  constructor(a, b, c, d) {
    this.start = a instanceof Position ? a : new Position(a, b);
    this.end = a instanceof Position ? b : new Position(c, d);
  }
}
class Location { constructor(uri, range) { this.uri = uri; this.range = range; } }
class Diagnostic {
  constructor(range, message, severity) { Object.assign(this, { range, message, severity }); }
}

class Uri {
  constructor(text) { this.text = text; this.scheme = text.split(':')[0]; }
  static file(p) { return new Uri(pathToFileURL(p).toString()); }
  static parse(text) { return new Uri(text); }
  get fsPath() { return fileURLToPath(this.text); }
  get path() { return new URL(this.text).pathname; }
  toString() { return this.text; }
}

class CancellationTokenSource {
  constructor() {
    this.emitter = new Emitter();
    this.token = { isCancellationRequested: false, onCancellationRequested: this.emitter.event };
  }
  cancel() { this.token.isCancellationRequested = true; this.emitter.fire(); }
  dispose() {}
}

// ---- what tests look at and do ----

const state = {
  commands: new Map(), providers: new Map(), diagnostics: new Map(), messages: [], settings: {}, dialog: undefined,
};
const events = {};
for (const name of ['open', 'change', 'close', 'save', 'settings', 'diagnostics', 'editor']) events[name] = new Emitter();

class Document {
  constructor(file, languageId, text) {
    this.uri = Uri.file(file);
    Object.assign(this, { fileName: file, languageId, version: 1, text, isClosed: false, isDirty: false });
  }
  getText() { return this.text; }
  get lineCount() { return this.text.split('\n').length; }
  offsetAt(p) {
    const lines = this.text.split('\n');
    return lines.slice(0, p.line).reduce((n, l) => n + l.length + 1, 0) + p.character;
  }
}

function open(file, languageId, text) {
  const document = new Document(file, languageId, text);
  vscode.workspace.textDocuments.push(document);
  vscode.window.activeTextEditor = { document };
  vscode.window.visibleTextEditors = [vscode.window.activeTextEditor];
  events.open.fire(document);
  return document;
}

// Replaces a range, as somebody who types does.
function edit(document, range, text) {
  const [a, b] = [document.offsetAt(range.start), document.offsetAt(range.end)];
  document.text = document.text.slice(0, a) + text + document.text.slice(b);
  document.version += 1;
  events.change.fire({ document, contentChanges: [{ range, rangeOffset: a, rangeLength: b - a, text }] });
}

// ---- the module ----

const register = (kind) => (selector, provider) => {
  const all = state.providers.get(kind) || [];
  all.push(provider);
  state.providers.set(kind, all);
  return new Disposable(() => all.splice(all.indexOf(provider), 1));
};
const nothing = () => new Disposable();
const silent = { append() {}, appendLine() {}, clear() {}, show() {}, hide() {}, dispose() {}, replace() {},
  trace() {}, debug() {}, info() {}, warn() {}, error() {}, name: 'kanon' };
const say = (kind) => async (message) => { state.messages.push({ kind, message }); };

const languages = {
  match: (selector, document) => [].concat(selector).some(
    (s) => (s.language || s) === document.languageId && (!s.scheme || s.scheme === document.uri.scheme)) ? 10 : 0,
  createDiagnosticCollection: () => ({
    set(uri, all) { state.diagnostics.set(uri.toString(), all || []); events.diagnostics.fire(); },
    delete(uri) { state.diagnostics.delete(uri.toString()); },
    clear() { state.diagnostics.clear(); },
    dispose() {},
  }),
};

const vscode = {
  version: '1.90.0', Uri, Position, Range, Location, Diagnostic, Disposable, EventEmitter: Emitter,
  CancellationTokenSource,
  env: { appName: 'a stand-in', language: 'en', openExternal: async () => true },
  languages: new Proxy(languages, {
    get: (all, name) => all[name] || (String(name).startsWith('register') ? register(String(name)) : nothing),
  }),
  commands: {
    registerCommand(name, run) { state.commands.set(name, run); return new Disposable(() => state.commands.delete(name)); },
    async executeCommand(name, ...args) { const run = state.commands.get(name); return run && run(...args); },
  },
  window: new Proxy({
    activeTextEditor: undefined, visibleTextEditors: [], tabGroups: { all: [], onDidChangeTabs: nothing, onDidChangeTabGroups: nothing },
    createOutputChannel: () => silent,
    showErrorMessage: say('error'), showWarningMessage: say('warning'), showInformationMessage: say('information'),
    showOpenDialog: async () => state.dialog,
    onDidChangeActiveTextEditor: events.editor.event,
  }, { get: (all, name) => (name in all ? all[name] : nothing) }),
  workspace: new Proxy({
    textDocuments: [], workspaceFolders: undefined, name: undefined, notebookDocuments: [],
    getConfiguration: (section) => ({
      get: (key, otherwise) => {
        const value = state.settings[section ? `${section}.${key}` : key];
        return value === undefined ? otherwise : value;
      },
      has: () => false, inspect: () => undefined,
    }),
    getWorkspaceFolder: () => undefined,
    asRelativePath: (file) => path.basename(String(file)),
    createFileSystemWatcher: () => ({
      onDidCreate: nothing, onDidChange: nothing, onDidDelete: nothing, dispose() {}, ignoreCreateEvents: false,
    }),
    onDidOpenTextDocument: events.open.event, onDidChangeTextDocument: events.change.event,
    onDidCloseTextDocument: events.close.event, onDidSaveTextDocument: events.save.event,
    onDidChangeConfiguration: events.settings.event,
  }, { get: (all, name) => (name in all ? all[name] : nothing) }),
};

// Enumerations are numbers under any name; classes are empty.
const made = new Map();
const unknown = (name) => {
  if (!made.has(name)) {
    const one = class {
      constructor(...parts) { this.parts = parts; }
    };
    made.set(name, new Proxy(one, {
      get: (all, key) => (key in all || typeof key === 'symbol' ? all[key] : String(key).length),
    }));
  }
  return made.get(name);
};
module.exports = new Proxy(vscode, {
  get: (all, name) => (name in all || typeof name === 'symbol' || name === '__esModule' ? all[name] : unknown(name)),
});
module.exports.standIn = { state, open, edit, events };
