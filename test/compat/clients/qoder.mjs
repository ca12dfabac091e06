import { commonFlags } from './flags.mjs';

export const qoder = {
  id: 'qoder',
  title: 'Qoder CLI',
  package: '@qoder-ai/qodercli',
  version: '1.1.52',
  bin: 'qodercli',
  needsNewerNode: true,
  needsAccount: true,
  file: '.qoder/settings.json',
  addStdio: (name, command, options = []) => [
    ...['mcp', 'add', '--scope', 'user', name],
    ...[...options, '--', ...command],
  ],
  addHttp: (name, url, options = []) => [
    ...['mcp', 'add', '--scope', 'user', '--transport', 'http', name, url],
    ...options,
  ],
  flags: commonFlags,
  list: ['mcp', 'list'],
  listed: /trunkline: .*Connected/i,
};
