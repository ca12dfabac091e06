/** A folder for files of a server, below its home. */
const HOME = '${HOME}';

/**
 * MCP servers from npm that need no account. `call` is a harmless call whose answer is the same every time; `${HOME}` in arguments and
 * variables stands for the throw-away home folder.
 */
export const servers = [
  server('@modelcontextprotocol/server-everything@2026.8.31', { call: ['echo', { message: 'Hello' }] }),
  server('@modelcontextprotocol/server-filesystem@2026.8.31', {
    args: [HOME],
    call: ['list_allowed_directories', {}],
  }),
  server('@modelcontextprotocol/server-memory@2026.8.31', {
    env: { MEMORY_FILE_PATH: `${HOME}/memory.json` },
    call: ['read_graph', {}],
  }),
  server('@modelcontextprotocol/server-sequential-thinking@2026.8.31'),
  server('@modelcontextprotocol/server-pdf@2.0.4', { args: ['--stdio'], call: ['list_pdfs', {}] }),
  server('@modelcontextprotocol/server-map@2.0.3', { args: ['--stdio'] }),
  server('@modelcontextprotocol/server-puppeteer@2025.5.12'),
  server('@antv/mcp-server-chart@0.9.10'),
  server('@cyanheads/git-mcp-server@2.15.3', { call: ['git_status', { path: `${HOME}/missing` }] }),
  server('@eslint/mcp@0.3.13'),
  server('@executeautomation/playwright-mcp-server@1.0.12', {
    call: ['get_codegen_session', { sessionId: 'missing' }],
  }),
  server('@h1deya/mcp-server-weather@0.1.3'),
  server('@kazuph/mcp-taskmanager@1.1.1', {
    env: { TASK_MANAGER_FILE_PATH: `${HOME}/tasks.json` },
    call: ['list_requests', {}],
  }),
  server('@kimtaeyoon83/mcp-server-youtube-transcript@0.1.1'),
  server('@magicuidesign/mcp@2.0.0'),
  server('@mobilenext/mobile-mcp@1.0.4'),
  server('@negokaz/excel-mcp-server@0.12.0', {
    call: ['excel_describe_sheets', { fileAbsolutePath: `${HOME}/missing.xlsx` }],
  }),
  server('@openbnb/mcp-server-airbnb@0.3.0'),
  server('@playwright/mcp@0.0.83', { args: ['--headless', '--isolated'] }),
  server('@sylphlab/pdf-reader-mcp@0.3.23', { call: ['read_pdf', { sources: [{ path: 'missing.pdf' }] }] }),
  server('@tokenizin/mcp-npx-fetch@1.0.0'),
  server('@upstash/context7-mcp@4.1.1'),
  server('chrome-devtools-mcp@1.11.0'),
  server('duckduckgo-mcp-server@0.1.2'),
  server('mcp-fetch-server@1.1.2'),
  server('mcp-obsidian@1.0.0', { args: [HOME], call: ['search_notes', { query: 'missing' }] }),
  server('mcp-server-code-runner@0.1.8', {
    call: ['run-code', { code: 'console.log(6 * 7)', languageId: 'javascript' }],
  }),
  server('mcp-server-commands@0.5.0', { call: ['run_command', { command: 'echo Hello' }] }),
  server('next-devtools-mcp@0.4.0'),
  server('mcp-shrimp-task-manager@1.0.21', {
    env: { DATA_DIR: `${HOME}/tasks` },
    call: ['list_tasks', { status: 'all' }],
  }),
];

function server(packageWithVersion, { args = [], env = {}, call } = {}) {
  const at = packageWithVersion.lastIndexOf('@');
  const name = packageWithVersion.slice(0, at);
  const id = name.replaceAll(/[^a-z\d]+/g, '-').replace(/^-/, '');
  return { id, title: name, package: name, version: packageWithVersion.slice(at + 1), args, env, call };
}
