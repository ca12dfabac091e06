import { commonFlags } from './flags.mjs';

export const auggie = {
  id: 'auggie',
  title: 'Auggie',
  package: '@augmentcode/auggie',
  version: '0.36.0',
  bin: 'auggie',
  needsNewerNode: true,
  needsAccount: true,
  file: '.augment/settings.json',
  addStdio: (name, command, options = []) => ['mcp', 'add', name, ...options, '--', ...command],
  addHttp: (name, url, options = []) => ['mcp', 'add', name, '--transport', 'http', '--url', url, ...options],
  flags: commonFlags,
  list: ['mcp', 'list'],
  listed: /trunkline +stdio/,
  listsWithoutConnecting: true,
};
