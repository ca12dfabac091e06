import { commonFlags } from './flags.mjs';

export const cline = {
  id: 'cline',
  title: 'Cline',
  package: 'cline',
  version: '3.0.65',
  bin: 'cline',
  file: '.cline/data/settings/cline_mcp_settings.json',
  environment: () => ({ CLINE_NO_AUTO_UPDATE: '1' }),
  prepare: (workspace, { url }) =>
    workspace.write('.cline/data/settings/providers.json', {
      version: 1,
      lastUsedProvider: 'openai-compatible',
      modes: {},
      providers: {
        'openai-compatible': {
          settings: {
            provider: 'openai-compatible',
            apiKey: 'scripted',
            model: 'scripted',
            baseUrl: `${url}/v1`,
          },
          updatedAt: '2026-11-18T00:00:00.000Z',
          tokenSource: 'manual',
        },
      },
    }),
  addStdio: (name, command) => ['mcp', 'add', name, '--yes', '--', ...command],
  addHttp: (name, url, options = []) => ['mcp', 'add', name, '--yes', '--transport', 'http', ...options, url],
  // Its command cannot write variables.
  flags: { header: commonFlags.header },
  prompt: (text) => ['-P', 'openai-compatible', text],
};
