// The extension in a stand-in of `vscode`, with the real language client and the real `kanon lsp`, which KANON names.
'use strict';

const assert = require('node:assert');
const fs = require('node:fs');
const Module = require('node:module');
const os = require('node:os');
const path = require('node:path');
const test = require('node:test');

const resolve = Module._resolveFilename;
Module._resolveFilename = function (name, ...rest) {
  return name === 'vscode' ? path.join(__dirname, 'stand-in/vscode.js') : resolve.call(this, name, ...rest);
};
const vscode = require('vscode');
const extension = require('../extension.js');
const { state, open, edit } = vscode.standIn;
const kanon = process.env.KANON;

async function until(what, ready) {
  for (let i = 0; i < 1200; i += 1) {
    const found = ready();
    if (found) return found;
    await new Promise((go) => setTimeout(go, 50));
  }
  throw new Error(`never: ${what}`);
}

const MACHINE = `MACHINE M
VARIABLES x
INVARIANT x : 0..3
INITIALISATION x := 0
OPERATIONS up = x := y + 1
END
`;

test('a program that is not there is said', async () => {
  state.settings['kanon.path'] = path.join(os.tmpdir(), 'no such kanon');
  await extension.activate({ subscriptions: [] });
  assert.ok(state.messages.some((m) => m.kind === 'error' && m.message.includes('kanon.path')));
  await vscode.commands.executeCommand('kanon.checkThis');
  assert.ok(state.messages.at(-1).message.startsWith('kanon: open a machine first'));
  await extension.deactivate();
});

test('diagnostics, types and a check', { skip: !kanon && 'KANON is not set' }, async () => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'kanon-'));
  const file = path.join(folder, 'M.mch');
  fs.writeFileSync(file, MACHINE);
  state.settings['kanon.path'] = kanon;
  state.messages.length = 0;
  const subscriptions = [];
  await extension.activate({ subscriptions });
  assert.deepStrictEqual(state.messages, []);
  const document = open(file, 'b', MACHINE);
  const uri = document.uri.toString();
  const found = () => state.diagnostics.get(uri) || [];
  await until('a diagnostic', () => found().length === 1);
  assert.deepStrictEqual(found()[0].range.start, new vscode.Position(4, 21));
  edit(document, new vscode.Range(4, 21, 4, 22), 'x');
  await until('no diagnostic', () => state.diagnostics.has(uri) && found().length === 0);
  const hover = state.providers.get('registerHoverProvider')[0];
  const { token } = new vscode.CancellationTokenSource();
  const answer = await hover.provideHover(document, new vscode.Position(1, 10), token);
  assert.ok(JSON.stringify(answer).includes('x : INTEGER'), JSON.stringify(answer));
  await vscode.commands.executeCommand('kanon.checkThis');
  const verdict = await until('a verdict', () => state.messages.find((m) => m.message.includes('kanon: fails')));
  assert.strictEqual(verdict.kind, 'error');
  await until('what was found', () => found().some((d) => d.source === 'kanon check'));
  await vscode.commands.executeCommand('kanon.restart');
  await until('diagnostics again', () => state.diagnostics.has(uri) && found().length === 0);
  await extension.deactivate();
  fs.rmSync(folder, { recursive: true });
});

test('what the package promises is there', () => {
  const root = path.join(__dirname, '..');
  const all = JSON.parse(fs.readFileSync(path.join(root, 'package.json'), 'utf8'));
  const declared = all.contributes.commands.map((c) => c.command).sort();
  const registered = [];
  const before = vscode.commands.registerCommand;
  vscode.commands.registerCommand = (name, run) => { registered.push(name); return before(name, run); };
  state.settings['kanon.path'] = path.join(os.tmpdir(), 'no such kanon');
  return extension.activate({ subscriptions: [] }).then(() => {
    vscode.commands.registerCommand = before;
    assert.deepStrictEqual(registered.sort(), declared);
    for (const { path: file } of all.contributes.grammars) assert.ok(fs.existsSync(path.join(root, file)));
  });
});
