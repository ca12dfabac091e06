import { commonFlags } from './flags.mjs';

const rules = ['search_tools', 'describe_tools', 'read_result', 'call_read_tool']
  .map(
    (tool) => `[[rule]]\nmcpName = "trunkline"\ntoolName = "${tool}"\ndecision = "allow"\npriority = 100\n`,
  )
  .join('\n');

export const geminiCli = {
  id: 'gemini-cli',
  title: 'Gemini CLI',
  package: '@google/gemini-cli',
  version: '0.61.0',
  bin: 'gemini',
  file: '.gemini/settings.json',
  environment: ({ url }) => ({
    GOOGLE_GEMINI_BASE_URL: url,
    GEMINI_API_KEY: 'scripted',
    GEMINI_TELEMETRY_ENABLED: 'false',
    // Servers are disabled in folders that the user does not trust.
    GEMINI_CLI_TRUST_WORKSPACE: 'true',
  }),
  prepare: (workspace) =>
    workspace.write('.gemini/settings.json', { security: { auth: { selectedType: 'gemini-api-key' } } }),
  addStdio: (name, command, options = []) => ['mcp', 'add', ...options, '--scope', 'user', name, ...command],
  addHttp: (name, url, options = []) => [
    'mcp',
    'add',
    '--scope',
    'user',
    '--transport',
    'http',
    name,
    url,
    ...options,
  ],
  flags: { ...commonFlags, tools: (names) => names.flatMap((name) => ['--include-tools', name]) },
  reveals: true,
  list: ['mcp', 'list'],
  listed: /trunkline: .*Connected/,
  prompt: (text) => ['-m', 'gemini-2.5-pro', '--approval-mode', 'yolo', '-p', text],
  ask: {
    rules: (workspace) => workspace.write('.gemini/policies/trunkline.toml', rules),
    prompt: (text) => ['-m', 'gemini-2.5-pro', '-p', text],
  },
};
