import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

import { describe, expect, test } from 'vitest';

import { lineOf, parse, root, sourceFiles, type Node, type SourceFile } from './source-tree.ts';

/** A folder may import itself and the folders of its row. Every row names earlier rows only. */
const mayImport: Readonly<Record<string, readonly string[]>> = {
  lib: [],
  model: ['lib'],
  wire: ['lib', 'model'],
  config: ['lib', 'model'],
  storage: ['lib', 'model'],
  observe: ['lib', 'model', 'storage'],
  auth: ['config', 'lib', 'model', 'observe', 'storage'],
  upstream: ['config', 'lib', 'model', 'observe', 'storage', 'wire'],
  fleet: ['config', 'lib', 'model', 'observe', 'storage', 'upstream', 'wire'],
  catalog: ['lib', 'model', 'storage'],
  search: ['catalog', 'lib', 'model'],
  policy: ['config', 'lib', 'model', 'observe', 'storage'],
  gateway: ['catalog', 'config', 'lib', 'model', 'observe', 'policy', 'search', 'storage', 'upstream'],
  results: ['config', 'lib', 'model', 'storage'],
  exposure: ['gateway', 'lib', 'model', 'results'],
  downstream: ['auth', 'exposure', 'gateway', 'lib', 'model', 'observe', 'results', 'wire'],
  import: ['config', 'lib', 'model'],
  connect: ['config', 'import', 'lib', 'model'],
  registry: ['config', 'lib', 'model'],
  manage: ['config', 'import', 'lib', 'model', 'observe', 'registry'],
  attach: ['config', 'lib', 'model', 'wire'],
  admin: [
    ...['lib', 'model', 'config', 'storage', 'observe', 'auth', 'catalog', 'search', 'policy', 'gateway'],
    ...['exposure', 'import', 'connect', 'registry', 'manage'],
  ],
  app: [
    ...['lib', 'model', 'wire', 'config', 'storage', 'observe', 'auth', 'upstream', 'fleet', 'catalog'],
    ...[
      'search',
      'policy',
      'gateway',
      'results',
      'exposure',
      'downstream',
      'import',
      'connect',
      'registry',
      'manage',
      'attach',
      'admin',
    ],
  ],
  tray: ['admin', 'lib', 'model'],
  cli: [
    ...['admin', 'app', 'attach', 'config', 'connect', 'import', 'lib', 'manage', 'model', 'observe'],
    ...['registry', 'tray'],
  ],
  launch: ['config'],
  'main.ts': ['cli'],
};

/** Where only some files of a folder may be imported: the tray knows the admin API, not what is behind it. */
const onlyThese: Readonly<Record<string, readonly string[]>> = {
  'tray admin': ['src/admin/client.ts', 'src/admin/contract/contract.ts'],
};

/** Sub-folders of one folder that know each other: each may import those before it. All others never meet. */
const siblings: Readonly<Record<string, readonly string[]>> = {
  upstream: ['process', 'opening', 'sharing', 'cli'],
  gateway: ['calls', 'listing', 'operating'],
  admin: ['contract', 'shown', 'calling', 'events', 'sessions', 'routes'],
  cli: ['line', 'commands', 'declare'],
};

/** Files that need more than 300 lines, with the reason. */
const longFiles: Readonly<Record<string, string>> = {};

/** Files other than main.ts that read the process's environment or arguments, with the reason. */
const processReaders: Readonly<Record<string, string>> = {
  'src/launch/launch.ts': 'it loads main.ts',
};

const maxLines = 300;
const order = Object.keys(mayImport);
const files = sourceFiles('src');

describe('imports', () => {
  test('every row names earlier rows only', () => {
    for (const [folder, allowed] of Object.entries(mayImport)) {
      for (const target of allowed) expect(order.slice(0, order.indexOf(folder))).toContain(target);
    }
  });

  test('no import points upward or into a sibling sub-folder', () => {
    expect(files.flatMap(wrongImports)).toEqual([]);
  });

  test.each([
    ['src/wire/a.ts', `import { b } from '../upstream/b.ts';`],
    ['src/wire/a.ts', `import type { B } from '../upstream/b.ts';`],
    ['src/wire/a.ts', `export * from '../upstream/b.ts';`],
    ['src/wire/a.ts', `const b = await import('../upstream/b.ts');`],
    ['src/wire/a.ts', `type B = import('../upstream/b.ts').B;`],
    ['src/wire/a.ts', `import '../../test/support/b.ts';`],
    ['src/wire/a.ts', `import '../unheard-of/b.ts';`],
    ['src/wire/a.test.ts', `import '../upstream/b.ts';`],
    ['src/auth/upstream/a.ts', `import '../downstream/b.ts';`],
    ['src/model/a.ts', `import '../app/app.ts';`],
    ['src/upstream/process/a.ts', `import '../opening/b.ts';`],
    ['src/upstream/a/a.ts', `import '../process/b.ts';`],
    ['src/tray/a.ts', `import '../admin/routes.ts';`],
  ])('%s is refused with %s', (path, text) => {
    expect(wrongImports(parse(path, text))).toHaveLength(1);
  });

  test.each([
    ['src/upstream/a.ts', `import '../wire/b.ts';`],
    ['src/upstream/a.ts', `import 'node:fs'; import 'zod';`],
    ['src/upstream/a.test.ts', `import '../../test/support/b.ts'; import '../lib/b.ts';`],
    ['src/policy/chain.ts', `import './guards/b.ts';`],
    ['src/policy/guards/a.ts', `import '../chain.ts';`],
    ['src/upstream/opening/a.ts', `import '../process/b.ts';`],
    ['src/tray/a.ts', `import '../admin/client.ts';`],
  ])('%s is allowed with %s', (path, text) => {
    expect(wrongImports(parse(path, text))).toEqual([]);
  });

  test('ARCHITECTURE.md shows the same table', () => {
    const text = readFileSync(join(root, 'ARCHITECTURE.md'), 'utf8');
    const shown = /<!-- imports -->\n+([^]*?)\n+<!-- \/imports -->/.exec(text)?.[1];
    expect(shown).toBe(importTable());
  });
});

describe('house style', () => {
  test('no source file breaks it', () => {
    expect(files.flatMap(wrongStyle)).toEqual([]);
  });

  test.each([
    ['src/lib/a.ts', 'export default 1;'],
    ['src/lib/a.ts', 'const a = 1; export { a as default };'],
    ['src/lib/index.ts', `export * from './a.ts';`],
    ['src/lib/a.ts', '\n'.repeat(maxLines + 1)],
    ['src/lib/a.ts', 'class ToolManager {}'],
    ['src/lib/a.ts', 'const a = class RequestHandler {};'],
    ['src/lib/a.ts', 'process.exit(1);'],
    ['src/lib/a.ts', 'const { exit } = process;'],
    ['src/lib/a.ts', `import { exit } from 'node:process';`],
    ['src/lib/a.ts', `const home = process.env['HOME'];`],
    ['src/lib/a.ts', 'const [, , first] = process.argv;'],
    ['src/lib/a.ts', 'console.log(1);'],
    ['src/lib/a.ts', '// oxlint-disable-next-line no-console'],
    ['src/lib/a.ts', '// @ts-ignore: because'],
  ])('%s is refused with %s', (path, text) => {
    expect(wrongStyle(parse(path, text))).toHaveLength(1);
  });

  test.each([
    ['src/main.ts', `process.exit(Number(process.env['CODE']) + process.argv.length);`],
    ['src/cli/output.ts', 'console.log(1);'],
    [
      'src/lib/a.ts',
      'interface PeerHandlers { readonly exit: string } // never process.exit() or console.log()',
    ],
    ['src/lib/a.ts', '// oxlint-disable-next-line no-control-regex -- the terminal sends them'],
    ['src/lib/a.ts', 'process.once("exit", () => undefined);'],
  ])('%s is allowed with %s', (path, text) => {
    expect(wrongStyle(parse(path, text))).toEqual([]);
  });

  test('no exception outlives its file', () => {
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
  // A test may use whatever lies below its folder, to build what it needs.
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

/** `wire` for src/wire/peer.ts, `main.ts` for src/main.ts. */
function folderOf(path: string): string {
  return path.split('/')[1] ?? '';
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
    case 'ClassDeclaration':
    case 'ClassExpression': {
      const name = nameOf(node['id']) ?? '';
      return /(Manager|Service|Orchestrator|Handler|Helper|Util)s?$/.test(name)
        ? `names a class ${name}`
        : undefined;
    }
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
