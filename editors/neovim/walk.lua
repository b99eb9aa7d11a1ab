-- A walk through the language server in neovim, for the tests:
--   KANON=… MODEL=… nvim --clean --headless -c 'luafile editors/neovim/walk.lua'
-- MODEL is a copy of the machine of tests/command/lsp.rs with a misspelt name.

local function walk()
  vim.g.kanon = vim.env.KANON
  dofile(vim.fn.fnamemodify(debug.getinfo(1, 'S').source:sub(2), ':p:h') .. '/kanon.lua')

  local function wait(what, test)
    if not vim.wait(60000, test, 20) then error('never: ' .. what) end
  end
  local function same(what, found, wanted)
    if not vim.deep_equal(found, wanted) then
      error(what .. ': ' .. vim.inspect(found) .. ' is not ' .. vim.inspect(wanted))
    end
  end

  vim.cmd('edit ' .. vim.env.MODEL)
  vim.bo.filetype = 'b'
  wait('a diagnostic', function() return #vim.diagnostic.get(0) == 1 end)
  local found = vim.diagnostic.get(0)[1]
  same('its place', { found.lnum, found.col }, { 4, 17 })

  -- The mistake is mended: one character is deleted.
  vim.api.nvim_buf_set_text(0, 4, 22, 4, 23, {})
  wait('no diagnostic', function() return #vim.diagnostic.get(0) == 0 end)

  local function ask(method, line, column, more)
    local params = {
      textDocument = { uri = vim.uri_from_bufnr(0) },
      position = { line = line, character = column },
    }
    for key, value in pairs(more or {}) do params[key] = value end
    local answers, failure = vim.lsp.buf_request_sync(0, 'textDocument/' .. method, params, 60000)
    if not answers then error(method .. ': ' .. tostring(failure)) end
    local _, answer = next(answers)
    if answer.error then error(method .. ': ' .. answer.error.message) end
    return answer.result
  end

  assert(ask('hover', 8, 4).contents.value:find('x : INTEGER', 1, true), 'the type of x')
  assert(ask('definition', 4, 18).uri:find('Limits.mch', 1, true), 'the file of limit')
  same('uses of x', #ask('references', 3, 10, { context = { includeDeclaration = true } }), 5)

  -- The edit that neovim makes of a renaming is its own.
  local client = (vim.lsp.get_clients or vim.lsp.get_active_clients)({ bufnr = 0 })[1]
  local edit = ask('rename', 3, 10, { newName = 'count' })
  vim.lsp.util.apply_workspace_edit(edit, client.offset_encoding)
  same('the renamed line', vim.api.nvim_buf_get_lines(0, 3, 4, true)[1], 'VARIABLES count, s')
  wait('it is read again', function()
    return #vim.diagnostic.get(0) == 0 and ask('hover', 3, 11).contents.value:find('count : INTEGER', 1, true) ~= nil
  end)

  if vim.lsp.buf.format then vim.lsp.buf.format({ timeout_ms = 60000 })
  else vim.lsp.buf.formatting_sync(nil, 60000) end
  same('a formatted line', vim.api.nvim_buf_get_lines(0, 8, 9, true)[1], '      count := next(count)')

  local verdict
  vim.lsp.handlers['kanon/checked'] = function(_, result) verdict = result.verdict end
  vim.cmd('KanonCheck')
  wait('a verdict', function() return verdict ~= nil end)
  same('the verdict', verdict, 'fails')
  wait('what the check found', function() return #vim.diagnostic.get(0) == 1 end)
end

local is_over, why = xpcall(walk, debug.traceback)
io.stdout:write(is_over and 'the walk is over\n' or why .. '\n')
vim.cmd(is_over and 'qall!' or 'cquit')
