export const qoder = {
  id: 'qoder',
  title: 'Qoder CLI',
  package: '@qoder-ai/qodercli',
  version: '1.1.52',
  bin: 'qodercli',
  needsNewerNode: true,
  needsAccount: true,
  file: '.qoder/settings.json',
  addStdio: (name, command) => ['mcp', 'add', '--scope', 'user', name, '--', ...command],
  list: ['mcp', 'list'],
  listed: /trunkline: .*Connected/i,
};
