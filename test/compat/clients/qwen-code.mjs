import { claudeRules } from './claude-code.mjs';

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
  addStdio: (name, command) => ['mcp', 'add', '--scope', 'user', name, ...command],
  addHttp: (name, url) => ['mcp', 'add', '--scope', 'user', '--transport', 'http', name, url],
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
