export const auggie = {
  id: 'auggie',
  title: 'Auggie',
  package: '@augmentcode/auggie',
  version: '0.36.0',
  bin: 'auggie',
  needsNewerNode: true,
  needsAccount: true,
  file: '.augment/settings.json',
  addStdio: (name, command) => ['mcp', 'add', name, '--', ...command],
  list: ['mcp', 'list'],
  // Auggie lists entries without connecting to them.
  listed: /trunkline +stdio/,
};
