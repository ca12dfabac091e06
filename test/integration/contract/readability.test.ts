import { readFileSync, readdirSync } from 'node:fs';
import { basename, join } from 'node:path';

import { describe, expect, test } from 'vitest';

import { lineOf, parse, root, sourceFiles, type Node, type SourceFile } from './source-tree.ts';

/** Exported names that two files may share, with the reason. */
const sharedNames: Readonly<Record<string, string>> = {
  JsonObject: 'the types of trunkline/guard are published alone and cannot import others',
};

/** Base names that two files may share, with the reason. Files of src/cli/commands are named after their command. */
const sharedBasenames: Readonly<Record<string, string>> = {};

/** Functions that need more than 60 lines, with the reason. */
const longFunctions: Readonly<Record<string, string>> = {
  'src/policy/caller-policy.ts createCallerPolicy':
    'a factory whose short functions share the rules of one caller',
  'src/policy/guards/redaction-guard.ts redactionGuard':
    'a factory whose short functions share the search and what was reported',
};

const maxFunctionLines = 60;
const maxFolders = 16;
const maxArchitectureWords = 1500;

const files = sourceFiles('src').filter(({ path }) => !/\.test(-support)?\.ts$/.test(path));

describe('names', () => {
  test('exported names: each is declared in one file', () => {
    expect(namesInSeveralFiles(files)).toEqual([]);
  });

  test('exported names: the check finds a name that two files export', () => {
    const both = [
      parse('src/a.ts', 'export interface Line {}'),
      parse('src/b.ts', 'export const Line = 1, other = 2;'),
    ];
    expect(namesInSeveralFiles(both)).toEqual(['Line: src/a.ts, src/b.ts']);
  });

  test('file names: each base name occurs once outside the commands', () => {
    expect(basenamesInSeveralFolders(files.map(({ path }) => path))).toEqual([]);
  });

  test('file names: the check finds a base name in two folders, and allows commands and schemas', () => {
    const paths = ['src/a/call.ts', 'src/cli/commands/call.ts', 'src/a/state.ts', 'src/b/state.ts'];
    expect(basenamesInSeveralFolders(paths)).toEqual(['state.ts: src/a/state.ts, src/b/state.ts']);
  });

  test('folders: src has at most 16', () => {
    const folders = readdirSync(join(root, 'src'), { withFileTypes: true }).filter((entry) =>
      entry.isDirectory(),
    );
    expect(folders.length).toBeLessThanOrEqual(maxFolders);
  });
});

describe('spreads', () => {
  test('spreads: none spreads an object or array literal', () => {
    expect(files.flatMap(literalSpreads)).toEqual([]);
  });

  test('spreads: the check finds a literal in an object and in an array', () => {
    const file = parse('src/a.ts', 'const a = { ...{ b } };\nconst c = [...[d], ...e];');
    expect(literalSpreads(file)).toEqual(['src/a.ts:1', 'src/a.ts:2']);
  });
});

describe('length', () => {
  test('functions: none has more than 60 lines', () => {
    expect(files.flatMap(tooLongFunctions)).toEqual([]);
  });

  test.each([
    ['a declaration', 'function long() {', '}'],
    ['a method', 'class A { long() {', '} }'],
    ['an arrow function', 'const long = () => {', '};'],
  ])('functions: the check measures %s', (_kind, begin, end) => {
    const text = `${begin}\n${'work();\n'.repeat(maxFunctionLines)}${end}`;
    expect(tooLongFunctions(parse('src/a.ts', text))).toEqual(['src/a.ts:1 long has 62 lines']);
  });

  test('architecture document: has at most 1,500 words outside its import table', () => {
    const text = readFileSync(join(root, 'ARCHITECTURE.md'), 'utf8');
    const words = text
      .replace(/<!-- imports -->[^]*<!-- \/imports -->/, '')
      .match(/[\p{L}\p{N}][\p{L}\p{N}'’./-]*/gu);
    expect(words?.length).toBeLessThanOrEqual(maxArchitectureWords);
  });

  test('exceptions: name only files that exist', () => {
    const paths = files.map(({ path }) => path);
    for (const key of Object.keys(longFunctions)) expect(paths).toContain(key.split(' ')[0]);
    for (const name of Object.keys(sharedBasenames))
      expect(paths.map((path) => basename(path))).toContain(name);
  });
});

function namesInSeveralFiles(all: readonly SourceFile[]): string[] {
  const declaredIn = new Map<string, Set<string>>();
  for (const { path, nodes } of all) {
    for (const name of nodes.flatMap(exportedNames)) {
      const paths = declaredIn.get(name) ?? new Set();
      declaredIn.set(name, paths.add(path));
    }
  }
  return describeShared(declaredIn, sharedNames);
}

/** Names of `export function a`, `export class A`, `export const a, b`; `export { a } from` declares nothing. */
function exportedNames(node: Node): readonly string[] {
  if (node.type !== 'ExportNamedDeclaration') return [];
  const declaration = node['declaration'] as Node | null;
  if (declaration === null) return [];
  const declarators = (declaration['declarations'] as readonly Node[] | undefined) ?? [declaration];
  return declarators.flatMap(({ id }) => {
    const { name } = (id ?? {}) as { readonly name?: string };
    return name === undefined ? [] : [name];
  });
}

function basenamesInSeveralFolders(paths: readonly string[]): string[] {
  const foundIn = new Map<string, Set<string>>();
  for (const path of paths) {
    if (path.startsWith('src/cli/commands/') || path.endsWith('schema.ts')) continue;
    const found = foundIn.get(basename(path)) ?? new Set();
    foundIn.set(basename(path), found.add(path));
  }
  return describeShared(foundIn, sharedBasenames);
}

function describeShared(
  found: ReadonlyMap<string, ReadonlySet<string>>,
  allowed: Readonly<Record<string, string>>,
): string[] {
  return [...found]
    .filter(([name, paths]) => paths.size > 1 && !(name in allowed))
    .map(([name, paths]) => `${name}: ${[...paths].join(', ')}`)
    .toSorted();
}

/** Spreading a literal saves lines for the formatter and costs readers: the properties are written out instead. */
function literalSpreads({ path, text, nodes }: SourceFile): string[] {
  return nodes.flatMap((node) => {
    const { type } = (node.type === 'SpreadElement' ? node['argument'] : {}) as Partial<Node>;
    const isLiteral = type === 'ObjectExpression' || type === 'ArrayExpression';
    return isLiteral ? [`${path}:${lineOf(text, node)}`] : [];
  });
}

function tooLongFunctions({ path, text, nodes }: SourceFile): string[] {
  const names = new Map(nodes.flatMap(nameOfFunction));
  return nodes.flatMap((node) => {
    if (!/^(FunctionDeclaration|FunctionExpression|ArrowFunctionExpression)$/.test(node.type)) return [];
    const begin = lineOf(text, node);
    const lines = text.slice(node.start, node.end).split('\n').length;
    const name = names.get(node) ?? 'a function';
    if (lines <= maxFunctionLines || `${path} ${name}` in longFunctions) return [];
    return [`${path}:${begin} ${name} has ${lines} lines`];
  });
}

/** The function of a declaration, method, property or variable, with its name. */
function nameOfFunction(node: Node): (readonly [Node, string])[] {
  const value = (node['value'] ?? node['init'] ?? node) as Node;
  const { name } = (node['key'] ?? node['id'] ?? {}) as { readonly name?: string };
  return name === undefined ? [] : [[value, name]];
}
