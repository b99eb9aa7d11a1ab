// The grammars, read by the engine that the editor reads them with.
'use strict';

const assert = require('node:assert');
const fs = require('node:fs');
const path = require('node:path');
const test = require('node:test');
const { Registry, parseRawGrammar, INITIAL } = require('vscode-textmate');
const oniguruma = require('vscode-oniguruma');

const folder = path.join(__dirname, '../syntaxes');
const wasm = fs.readFileSync(require.resolve('vscode-oniguruma/release/onig.wasm'));
const onigLib = oniguruma.loadWASM(wasm).then(() => ({
  createOnigScanner: (patterns) => new oniguruma.OnigScanner(patterns),
  createOnigString: (text) => new oniguruma.OnigString(text),
}));
const registry = new Registry({
  onigLib,
  loadGrammar: async (scope) => {
    const file = path.join(folder, `${scope.replace('source.', '')}.tmLanguage.json`);
    return parseRawGrammar(fs.readFileSync(file, 'utf8'), file);
  },
});

// The last scope of each word in a text.
async function scopes(language, text) {
  const grammar = await registry.loadGrammar(`source.${language}`);
  const found = {};
  let stack = INITIAL;
  for (const line of text.split('\n')) {
    const result = grammar.tokenizeLine(line, stack);
    for (const t of result.tokens) found[line.slice(t.startIndex, t.endIndex).trim()] = t.scopes.at(-1);
    stack = result.ruleStack;
  }
  return found;
}

test('classical B', async () => {
  const found = await scopes('b', `MACHINE Lift /* a comment
that goes on */ VARIABLES x // more
INVARIANT x : NAT & s = "a \\" b" & x ≤ 0x1F & \`odd name\` = TRUE
OPERATIONS up = SELECT card({x}) = 1 THEN x := x + 1 END
END`);
  const wanted = {
    MACHINE: 'keyword.other.clause.b', Lift: 'entity.name.type.b', VARIABLES: 'keyword.other.clause.b',
    'that goes on': 'comment.block.b', '// more': 'comment.line.double-slash.b', NAT: 'support.type.b',
    TRUE: 'constant.language.b', '0x1F': 'constant.numeric.b', '≤': 'keyword.operator.b',
    '`odd name`': 'variable.other.quoted.b', SELECT: 'keyword.control.b', card: 'support.function.b',
    ':=': 'keyword.operator.b', '\\"': 'constant.character.escape.b',
  };
  for (const [word, scope] of Object.entries(wanted)) assert.strictEqual(found[word], scope, word);
});

test('Event-B', async () => {
  const found = await scopes('eventb', `machine Lamp // m
invariants
  @inv1 on ∈ BOOL
events
  event flip where @g on = FALSE then @a on ≔ TRUE end
end`);
  const wanted = {
    machine: 'keyword.other.clause.eventb', Lamp: 'entity.name.type.eventb', '@inv1': 'entity.name.tag.eventb',
    '∈': 'keyword.operator.eventb', BOOL: 'support.type.eventb', flip: 'entity.name.type.eventb',
    '≔': 'keyword.operator.eventb', FALSE: 'constant.language.eventb', end: 'keyword.other.clause.eventb',
    '// m': 'comment.line.double-slash.eventb',
  };
  for (const [word, scope] of Object.entries(wanted)) assert.strictEqual(found[word], scope, word);
});
