import { commonFlags } from './flags.mjs';

export const copilotCli = {
  id: 'copilot-cli',
  title: 'Copilot CLI',
  package: '@github/copilot',
  version: '1.0.102',
  bin: 'copilot',
  needsNewerNode: true,
  file: '.copilot/mcp-config.json',
  environment: ({ url }) => ({
    COPILOT_PROVIDER_BASE_URL: `${url}/v1`,
    COPILOT_PROVIDER_WIRE_API: 'completions',
    COPILOT_MODEL: 'gpt-4.1',
    COPILOT_OFFLINE: 'true',
    COPILOT_AUTO_UPDATE: 'false',
  }),
  addStdio: (name, command, options = []) => ['mcp', 'add', ...options, name, '--', ...command],
  addHttp: (name, url, options = []) => ['mcp', 'add', '--transport', 'http', ...options, name, url],
  flags: { ...commonFlags, tools: (names) => ['--tools', names.join(',')] },
  list: ['mcp', 'list'],
  listed: /trunkline \(local\)/,
  listsWithoutConnecting: true,
  prompt: (text) => ['--disable-builtin-mcps', '--allow-all-tools', '-p', text],
  ask: { prompt: (text) => ['--disable-builtin-mcps', '-p', text] },
};
