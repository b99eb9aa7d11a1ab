// kanon in Visual Studio Code: starts `kanon lsp` and gives its commands to the editor.
'use strict';

const vscode = require('vscode');
const { LanguageClient } = require('vscode-languageclient/node');

let client;

function options() {
  const command = vscode.workspace.getConfiguration('kanon').get('path') || 'kanon';
  const server = { command, args: ['lsp'] };
  const selector = [
    { scheme: 'file', language: 'b' },
    { scheme: 'file', language: 'eventb' },
  ];
  const watcher = vscode.workspace.createFileSystemWatcher('**/*.{mch,ref,imp,sys,def,eventb,mchx,ctxx}');
  return { server, client: { documentSelector: selector, synchronize: { fileEvents: watcher } } };
}

async function start() {
  const { server, client: settings } = options();
  client = new LanguageClient('kanon', 'kanon', server, settings);
  try {
    await client.start();
  } catch (why) {
    client = undefined;
    vscode.window.showErrorMessage(
      `kanon: the language server does not start: ${why.message || why}. Is kanon.path right?`);
  }
}

async function stop() {
  const old = client;
  client = undefined;
  if (old) await old.stop();
}

// A command of the server about the document that is looked at.
async function execute(command, ...more) {
  const editor = vscode.window.activeTextEditor;
  if (!editor) return vscode.window.showInformationMessage('kanon: open a machine first.');
  if (!client) return vscode.window.showErrorMessage('kanon: the language server does not run.');
  const args = [editor.document.uri.toString(), ...more];
  return client.sendRequest('workspace/executeCommand', { command, arguments: args });
}

async function showTrace() {
  const files = await vscode.window.showOpenDialog({
    canSelectMany: false,
    openLabel: 'Show its values',
    filters: { Traces: ['json', 'prob2trace'] },
  });
  if (files && files.length > 0) return execute('kanon.openTrace', files[0].toString());
}

async function activate(context) {
  const commands = {
    'kanon.checkThis': () => execute('kanon.check'),
    'kanon.cancelThis': () => execute('kanon.cancel'),
    'kanon.showTrace': showTrace,
    'kanon.hideTrace': () => execute('kanon.closeTrace'),
    'kanon.restart': async () => { await stop(); await start(); },
  };
  for (const [name, run] of Object.entries(commands)) {
    context.subscriptions.push(vscode.commands.registerCommand(name, run));
  }
  await start();
}

module.exports = { activate, deactivate: stop };
