import { commonFlags } from './flags.mjs';

export const droid = {
  id: 'droid',
  title: 'Factory Droid',
  package: 'droid',
  version: '0.215.0',
  bin: 'droid',
  needsAccount: true,
  file: '.factory/mcp.json',
  addStdio: (name, command, options = []) => ['mcp', 'add', name, ...options, '--', ...command],
  addHttp: (name, url, options = []) => ['mcp', 'add', name, url, '--type', 'http', ...options],
  flags: commonFlags,
  list: ['mcp', 'list'],
  listed: /trunkline +stdio +connected/,
};
