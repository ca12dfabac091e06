import { claudeRules } from './claude-code.mjs';
import { commonFlags } from './flags.mjs';

export const qwenCode = {
  id: 'qwen-code',
  title: 'Qwen Code',
  package: '@qwen-code/qwen-code',
  version: '0.24.4',
  bin: 'qwen',
  needsNewerNode: true,
  file: '.qwen/settings.json',
  environment: ({ url }) => ({
    OPENAI_BASE_URL: `${url}/v1`,
    OPENAI_API_KEY: 'scripted',
    OPENAI_MODEL: 'qwen3-coder-plus',
  }),
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
  list: ['mcp', 'list'],
  listed: /trunkline: .*\bConnected/,
  prompt: (text) => ['--auth-type', 'openai', '--yolo', '-p', text],
  ask: {
    rules(workspace) {
      const settings = JSON.parse(workspace.read('.qwen/settings.json'));
      workspace.write('.qwen/settings.json', { ...settings, ...claudeRules });
    },
    prompt: (text) => ['--auth-type', 'openai', '-p', text],
  },
};
