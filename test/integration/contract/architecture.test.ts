import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

import { describe, expect, test } from 'vitest';

import { lineOf, parse, root, sourceFiles, type Node, type SourceFile } from './source-tree.ts';

/** Folders from the bottom to the top. A folder may import itself and the folders of its row, which are earlier rows. A sub-folder with a row of its own counts as a folder. */
const mayImport: Readonly<Record<string, readonly string[]>> = {
  'core/lib': [],
  core: ['core/lib'],
  protocol: ['core/lib', 'core'],
  config: ['core/lib', 'core'],
  'core/storage': ['core/lib', 'core'],
  observability: ['core/lib', 'core', 'core/storage'],
  auth: ['core/lib', 'core', 'config', 'core/storage', 'observability'],
  upstream: ['core/lib', 'core', 'protocol', 'config', 'core/storage', 'observability'],
  fleet: ['core/lib', 'core', 'protocol', 'config', 'core/storage', 'observability', 'upstream'],
  catalog: ['core/lib', 'core', 'core/storage'],
  'catalog/search': ['core/lib', 'core', 'catalog'],
  policy: ['core/lib', 'core', 'config', 'core/storage', 'observability'],
  gateway: [
    'core/lib',
    'core',
    'config',
    'core/storage',
    'observability',
    'upstream',
    'catalog',
    'catalog/search',
    'policy',
  ],
  'exposure/results': ['core/lib', 'core', 'config', 'core/storage'],
  exposure: ['core/lib', 'core', 'gateway', 'exposure/results'],
  downstream: [
    'core/lib',
    'core',
    'core/storage',
    'protocol',
    'observability',
    'auth',
    'gateway',
    'exposure/results',
    'exposure',
  ],
  'setup/import': ['core/lib', 'core', 'config'],
  'setup/connect': ['core/lib', 'core', 'config', 'setup/import'],
  'setup/registry': ['core/lib', 'core', 'config'],
  'setup/manage': [
    'core/lib',
    'core',
    'config',
    'core/storage',
    'observability',
    'setup/import',
    'setup/registry',
  ],
  'app/shared-gateway': ['core/lib', 'core', 'protocol', 'config'],
  admin: [
    'core/lib',
    'core',
    'config',
    'core/storage',
    'observability',
    'auth',
    'catalog',
    'catalog/search',
    'policy',
    'gateway',
    'exposure',
    'setup/import',
    'setup/connect',
    'setup/registry',
    'setup/manage',
  ],
  app: [
    'core/lib',
    'core',
    'protocol',
    'config',
    'core/storage',
    'observability',
    'auth',
    'upstream',
    'fleet',
    'catalog',
    'catalog/search',
    'policy',
    'gateway',
    'exposure/results',
    'exposure',
    'downstream',
    'setup/import',
    'setup/connect',
    'setup/registry',
    'setup/manage',
    'app/shared-gateway',
    'admin',
  ],
  'cli/tray': ['core/lib', 'core', 'admin'],
  cli: [
    'core/lib',
    'core',
    'config',
    'observability',
    'setup/import',
    'setup/connect',
    'setup/registry',
    'setup/manage',
    'app/shared-gateway',
    'admin',
    'app',
    'cli/tray',
  ],
  'app/launch': ['config'],
  'main.ts': ['cli'],
};

/** Folders of which only some files may be imported: the tray uses the admin API, not its implementation. */
const onlyThese: Readonly<Record<string, readonly string[]>> = {
  'cli/tray admin': ['src/admin/admin-client.ts', 'src/admin/contract/contract.ts'],
};

/** Sub-folders of one folder that may import the ones before them; all others must not import each other. */
const siblings: Readonly<Record<string, readonly string[]>> = {
  upstream: ['process', 'connecting', 'pool', 'cli'],
  gateway: ['calls', 'listing', 'control'],
  downstream: ['sessions', 'questions', 'methods', 'http'],
  policy: ['argument-validation', 'guards', 'call-approvals'],
  admin: ['contract', 'presenters', 'calls', 'events', 'sessions', 'routes'],
  cli: ['gateway-client', 'commands', 'declare'],
};

/** Files that need more than 400 lines, with the reason. */
const longFiles: Readonly<Record<string, string>> = {};

/** Files other than main.ts that read the process's environment or arguments, with the reason. */
const processReaders: Readonly<Record<string, string>> = {
  'src/app/launch/launch.ts': 'it loads main.ts',
};

const maxLines = 400;
const order = Object.keys(mayImport);
const files = sourceFiles('src');

describe('imports', () => {
  test('import table: every row names only earlier rows', () => {
    for (const [folder, allowed] of Object.entries(mayImport)) {
      for (const target of allowed) expect(order.slice(0, order.indexOf(folder))).toContain(target);
    }
  });

  test('imports: none points upward or into a sibling folder', () => {
    expect(files.flatMap(wrongImports)).toEqual([]);
  });

  test.each([
    ['src/protocol/a.ts', `import { b } from '../upstream/b.ts';`],
    ['src/protocol/a.ts', `import type { B } from '../upstream/b.ts';`],
    ['src/protocol/a.ts', `export * from '../upstream/b.ts';`],
    ['src/protocol/a.ts', `const b = await import('../upstream/b.ts');`],
    ['src/protocol/a.ts', `type B = import('../upstream/b.ts').B;`],
    ['src/protocol/a.ts', `import '../../test/support/b.ts';`],
    ['src/protocol/a.ts', `import '../unheard-of/b.ts';`],
    ['src/protocol/a.test.ts', `import '../upstream/b.ts';`],
    ['src/auth/upstream/a.ts', `import '../downstream/b.ts';`],
    ['src/core/a.ts', `import '../app/app.ts';`],
    ['src/upstream/process/a.ts', `import '../connecting/b.ts';`],
    ['src/upstream/a/a.ts', `import '../process/b.ts';`],
    ['src/cli/tray/a.ts', `import '../../admin/admin-routes.ts';`],
  ])('import check: rejects %s with %s', (path, text) => {
    expect(wrongImports(parse(path, text))).toHaveLength(1);
  });

  test.each([
    ['src/upstream/a.ts', `import '../protocol/b.ts';`],
    ['src/upstream/a.ts', `import 'node:fs'; import 'zod';`],
    ['src/upstream/a.test.ts', `import '../../test/support/b.ts'; import '../core/lib/b.ts';`],
    ['src/policy/guard-chain.ts', `import './guards/b.ts';`],
    ['src/policy/guards/a.ts', `import '../guard-chain.ts';`],
    ['src/upstream/connecting/a.ts', `import '../process/b.ts';`],
    ['src/cli/tray/a.ts', `import '../../admin/admin-client.ts';`],
  ])('import check: allows %s with %s', (path, text) => {
    expect(wrongImports(parse(path, text))).toEqual([]);
  });

  test('import table: matches the table in ARCHITECTURE.md', () => {
    const text = readFileSync(join(root, 'ARCHITECTURE.md'), 'utf8');
    const shown = /<!-- imports -->\n+([^]*?)\n+<!-- \/imports -->/.exec(text)?.[1];
    expect(shown).toBe(importTable());
  });
});

describe('house style', () => {
  test('source style: no source file breaks a rule', () => {
    expect(files.flatMap(wrongStyle)).toEqual([]);
  });

  test.each([
    ['src/core/lib/a.ts', 'export default 1;'],
    ['src/core/lib/a.ts', 'const a = 1; export { a as default };'],
    ['src/core/lib/index.ts', `export * from './a.ts';`],
    ['src/core/lib/a.ts', '\n'.repeat(maxLines + 1)],
    ['src/core/lib/a.ts', 'process.exit(1);'],
    ['src/core/lib/a.ts', 'const { exit } = process;'],
    ['src/core/lib/a.ts', `import { exit } from 'node:process';`],
    ['src/core/lib/a.ts', `const home = process.env['HOME'];`],
    ['src/core/lib/a.ts', 'const [, , first] = process.argv;'],
    ['src/core/lib/a.ts', 'console.log(1);'],
    ['src/core/lib/a.ts', '// oxlint-disable-next-line no-console'],
    ['src/core/lib/a.ts', '// @ts-ignore: because'],
  ])('style check: rejects %s with %s', (path, text) => {
    expect(wrongStyle(parse(path, text))).toHaveLength(1);
  });

  test.each([
    ['src/main.ts', `process.exit(Number(process.env['CODE']) + process.argv.length);`],
    ['src/cli/output.ts', 'console.log(1);'],
    [
      'src/core/lib/a.ts',
      'interface PeerHandlers { readonly exit: string } // never process.exit() or console.log()',
    ],
    ['src/core/lib/a.ts', '// oxlint-disable-next-line no-control-regex -- the terminal sends them'],
    ['src/core/lib/a.ts', 'process.once("exit", () => undefined);'],
  ])('style check: allows %s with %s', (path, text) => {
    expect(wrongStyle(parse(path, text))).toEqual([]);
  });

  test('style exceptions: name only existing files', () => {
    const paths = files.map((file) => file.path);
    for (const path of Object.keys({ ...longFiles, ...processReaders })) expect(paths).toContain(path);
  });
});

function wrongImports(file: SourceFile): string[] {
  return file.imports.flatMap(({ target, isFile, line }) => {
    if (!isFile || mayReach(file.path, target)) return [];
    return [`${file.path}:${line} must not import ${target}`];
  });
}

function mayReach(from: string, to: string): boolean {
  const isTest = from.endsWith('.test.ts');
  if (!to.startsWith('src/')) return isTest && to.startsWith('test/support/');
  const [folder, target] = [folderOf(from), folderOf(to)];
  if (folder === target) return areRelated(from, to) || isEarlierSibling(folder, from, to);
  // A test may import every folder below its own.
  if (isTest) return order.includes(target) && order.indexOf(target) < order.indexOf(folder);
  if (onlyThese[`${folder} ${target}`]?.includes(to) === false) return false;
  return mayImport[folder]?.includes(target) ?? false;
}

function areRelated(from: string, to: string): boolean {
  return isWithin(dirname(from), dirname(to)) || isWithin(dirname(to), dirname(from));
}

function isEarlierSibling(folder: string, from: string, to: string): boolean {
  const known = siblings[folder] ?? [];
  const [at, targetAt] = [from, to].map((path) => known.indexOf(path.split('/')[2] ?? ''));
  return at !== undefined && targetAt !== undefined && targetAt >= 0 && targetAt < at;
}

/** The longest row that holds the path: `core/lib` for src/core/lib/scope.ts, `core` for src/core/errors.ts, `main.ts` for src/main.ts. */
function folderOf(path: string): string {
  const [, first = '', second = ''] = path.split('/');
  return `${first}/${second}` in mayImport ? `${first}/${second}` : first;
}

function isWithin(inner: string, outer: string): boolean {
  return inner === outer || inner.startsWith(`${outer}/`);
}

function importTable(): string {
  const rows = Object.entries(mayImport).map(([folder, allowed]) => {
    const isEverything = folder === 'app' && allowed.length === order.indexOf(folder);
    const shown = isEverything ? 'all of the above' : allowed.join(', ') || '–';
    return `| \`${folder}\` | ${shown} |`;
  });
  return ['| folder | may import |', '|---|---|', ...rows].join('\n');
}

function wrongStyle(file: SourceFile): string[] {
  if (file.path.endsWith('.test.ts')) return wrongSuppressions(file);
  const { path, text } = file;
  const problems: string[] = [];
  const lines = text.split('\n').length - 1;
  if (lines > maxLines && !(path in longFiles)) problems.push(`${path} has ${lines} lines`);
  if (path.endsWith('/index.ts')) problems.push(`${path} is a barrel`);
  for (const node of file.nodes) {
    const problem = wrongNode(path, node);
    if (problem !== undefined) problems.push(`${path}:${lineOf(text, node)} ${problem}`);
  }
  return [...problems, ...wrongSuppressions(file)];
}

function wrongNode(path: string, node: Node): string | undefined {
  switch (node.type) {
    case 'ExportDefaultDeclaration':
      return 'exports a default';
    case 'ExportSpecifier':
      return nameOf(node['exported']) === 'default' ? 'exports a default' : undefined;
    case 'ImportDeclaration': {
      const { value } = node['source'] as { value: string };
      return /^(node:)?process$/.test(value) && path !== 'src/main.ts' ? 'imports process' : undefined;
    }
    case 'MemberExpression':
      return wrongUse(path, nameOf(node['object']), [nameOf(node['property'])]);
    case 'VariableDeclarator': {
      const { properties = [] } = node['id'] as { properties?: readonly Node[] };
      return wrongUse(
        path,
        nameOf(node['init']),
        properties.map((property) => nameOf(property['key'])),
      );
    }
    default:
      return undefined;
  }
}

function wrongUse(path: string, object: string | undefined, names: readonly (string | undefined)[]) {
  if (object === 'console') return path === 'src/cli/output.ts' ? undefined : 'uses console';
  if (object !== 'process' || path === 'src/main.ts') return undefined;
  if (names.includes('exit')) return 'uses process.exit';
  const reads = names.find((name) => name === 'env' || name === 'argv');
  return reads === undefined || path in processReaders ? undefined : `uses process.${reads}`;
}

function nameOf(node: unknown): string | undefined {
  if (typeof node !== 'object' || node === null) return undefined;
  if ('name' in node && typeof node.name === 'string') return node.name;
  return 'value' in node && typeof node.value === 'string' ? node.value : undefined;
}

function wrongSuppressions({ path, text }: SourceFile): string[] {
  return text.split('\n').flatMap((line, index) => {
    if (/@ts-(ignore|nocheck)\b/.test(line)) return [`${path}:${index + 1} switches the compiler off`];
    const isBare = /(oxlint|eslint)-disable/.test(line) && !/-disable\S*.* -- \S/.test(line);
    return isBare ? [`${path}:${index + 1} suppresses a rule without a reason`] : [];
  });
}
