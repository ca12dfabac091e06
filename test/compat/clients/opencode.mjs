import { parse } from 'jsonc-parser';

import { commonFlags } from './flags.mjs';

const permission = {
  'trunkline_*': 'ask',
  trunkline_search_tools: 'allow',
  trunkline_describe_tools: 'allow',
  trunkline_read_result: 'allow',
  trunkline_call_read_tool: 'allow',
};

export const opencode = opencodeFork({
  id: 'opencode',
  title: 'opencode',
  package: 'opencode-ai',
  version: '1.18.33',
  bin: 'opencode',
  file: '.config/opencode/opencode.jsonc',
  prefix: 'OPENCODE',
});

export const kilo = opencodeFork({
  id: 'kilo',
  title: 'Kilo CLI',
  package: '@kilocode/cli',
  version: '7.7.7',
  bin: 'kilo',
  file: '.config/kilo/kilo.jsonc',
  prefix: 'KILO',
});

function opencodeFork({ file, prefix, ...about }) {
  return {
    ...about,
    file,
    environment: () => ({
      [`${prefix}_DISABLE_AUTOUPDATE`]: '1',
      [`${prefix}_DISABLE_MODELS_FETCH`]: '1',
      [`${prefix}_DISABLE_DEFAULT_PLUGINS`]: '1',
      // Kilo CLI sends telemetry before it exits, and tries for half a minute.
      [`${prefix}_TELEMETRY_LEVEL`]: 'off',
    }),
    prepare: (workspace, { url }) =>
      workspace.write(file, {
        $schema: 'https://opencode.ai/config.json',
        provider: {
          scripted: {
            npm: '@ai-sdk/openai-compatible',
            options: { baseURL: `${url}/v1`, apiKey: 'scripted' },
            models: { scripted: { name: 'Scripted', tool_call: true } },
          },
        },
      }),
    addStdio: (name, command, options = []) => ['mcp', 'add', name, ...options, '--', ...command],
    addHttp: (name, url, options = []) => ['mcp', 'add', name, '--url', url, ...options],
    flags: { variable: commonFlags.variable, header: (name, value) => ['--header', `${name}=${value}`] },
    reveals: true,
    list: ['mcp', 'list'],
    listed: /✓ trunkline|trunkline.*connected/,
    prompt: (text) => ['run', '-m', 'scripted/scripted', text],
    ask: {
      rules(workspace) {
        workspace.write(file, { ...parse(workspace.read(file)), permission });
      },
      prompt: (text) => ['run', '-m', 'scripted/scripted', text],
    },
  };
}
