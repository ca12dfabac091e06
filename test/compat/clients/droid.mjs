export const droid = {
  id: 'droid',
  title: 'Factory Droid',
  package: 'droid',
  version: '0.215.0',
  bin: 'droid',
  needsAccount: true,
  file: '.factory/mcp.json',
  addStdio: (name, command) => ['mcp', 'add', name, '--', ...command],
  list: ['mcp', 'list'],
  listed: /trunkline +stdio +connected/,
};
