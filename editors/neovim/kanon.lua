-- kanon's language server in neovim (0.7 or later). Put this file where neovim finds it, for instance as
-- ~/.config/nvim/plugin/kanon.lua. `vim.g.kanon` is the program, if it is not in PATH.

vim.filetype.add({
  extension = {
    mch = 'b', ref = 'b', imp = 'b', sys = 'b', def = 'b',
    eventb = 'eventb', mchx = 'eventb', ctxx = 'eventb',
  },
})

-- One server for all buffers.
local server

local function start(buffer)
  local folder = vim.fn.fnamemodify(vim.api.nvim_buf_get_name(buffer), ':p:h')
  local config = { name = 'kanon', cmd = { vim.g.kanon or 'kanon', 'lsp' }, root_dir = folder }
  if not (server and vim.lsp.get_client_by_id(server)) then
    server = vim.lsp.start_client and vim.lsp.start_client(config) or vim.lsp.start(config)
  end
  vim.lsp.buf_attach_client(buffer, server)
end

vim.api.nvim_create_autocmd('FileType', {
  pattern = { 'b', 'eventb' },
  callback = function(event) start(event.buf) end,
})

local function execute(command, ...)
  local uri = vim.uri_from_bufnr(0)
  vim.lsp.buf_request(0, 'workspace/executeCommand', { command = command, arguments = { uri, ... } },
    function(failure)
      if failure then vim.notify(failure.message, vim.log.levels.ERROR) end
    end)
end

-- :KanonCheck, :KanonCancel, :KanonTrace FILE
vim.api.nvim_create_user_command('KanonCheck', function() execute('kanon.check') end, {})
vim.api.nvim_create_user_command('KanonCancel', function() execute('kanon.cancel') end, {})
vim.api.nvim_create_user_command('KanonTrace', function(given)
  execute('kanon.openTrace', vim.uri_from_fname(vim.fn.fnamemodify(given.args, ':p')))
end, { nargs = 1, complete = 'file' })
