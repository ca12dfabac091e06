import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';

import { describe, expect, test } from 'vitest';

import { lineOf, parse, root, sourceFiles, type Node, type SourceFile } from './source-tree.ts';

/** A folder of web/src may import itself and the folders of its row; files beside them may import everything. */
const mayImport: Readonly<Record<string, readonly string[]>> = {
  lib: [],
  api: ['lib'],
  store: ['api', 'lib'],
  parts: ['api', 'lib', 'store'],
  shell: ['lib', 'parts', 'store'],
  pages: ['api', 'lib', 'parts', 'store'],
};
const packages = ['preact', 'preact/hooks', '@preact/signals'];
const maxLines = 150;
const maxScriptBytes = 60_000;

const files = sourceFiles('web/src').filter(({ path }) => !path.endsWith('.test.ts'));

describe('the dashboard', () => {
  test('renders text as text, and runs nothing that is not its own', () => {
    expect(files.flatMap(markup)).toEqual([]);
  });

  test.each([
    '<p dangerouslySetInnerHTML={{ __html: text }} />;',
    '<p {...{ dangerouslySetInnerHTML: { __html: text } }} />;',
    'element.innerHTML = text;',
    "element['outerHTML'] = text;",
    "element.insertAdjacentHTML('beforeend', text);",
    'document.write(text);',
    'range.createContextualFragment(text);',
    "frame.setAttribute('srcdoc', text);",
    '<iframe srcdoc={text} />;',
    'new DOMParser();',
    'eval(text);',
  ])('%s is refused', (text) => {
    expect(markup(parse('web/src/parts/a.tsx', text))).not.toEqual([]);
  });

  test('imports types of the contract of the admin API, three packages and what is below it', () => {
    expect(files.flatMap(wrongImports)).toEqual([]);
  });

  test.each([
    ['web/src/parts/a.tsx', `import { b } from '../pages/b.tsx';`],
    ['web/src/parts/a.tsx', `import { b } from '../../../src/admin/contract/contract.ts';`],
    ['web/src/parts/a.tsx', `import type { B } from '../../../src/gateway/gateway.ts';`],
    ['web/src/parts/a.tsx', `import 'node:fs';`],
    ['web/src/pages/tools/a.tsx', `import { b } from '../servers/b.tsx';`],
  ])('%s is refused with %s', (path, text) => {
    expect(wrongImports(parse(path, text))).toHaveLength(1);
  });

  test('has small files', () => {
    const long = files.filter(({ text }) => text.split('\n').length - 1 > maxLines).map(({ path }) => path);
    expect(long).toEqual([]);
  });
});

describe('what browsers load', () => {
  const site = join(root, 'dist', 'web');
  const built = readdirSync(site, { recursive: true, encoding: 'utf8' });

  test('is small', () => {
    const scripts = built.filter((name) => name.endsWith('.js'));
    expect(scripts).not.toEqual([]);
    const sizes = scripts.map((name) => gzipSync(readFileSync(join(site, name))).length);
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(maxScriptBytes);
  });

  test('comes from the gateway alone', () => {
    const page = readFileSync(join(site, 'index.html'), 'utf8');
    const addresses = [...page.matchAll(/(?:src|href)="([^"]*)"/g)].map(([, address]) => address);
    expect(addresses).not.toEqual([]);
    for (const address of addresses) expect(address).toMatch(/^\/[^/]/);
    const styles = built.filter((name) => name.endsWith('.css'));
    for (const name of styles) expect(readFileSync(join(site, name), 'utf8')).not.toMatch(/url\(|@import/);
  });

  test('has no script or style inside of the page, which its policy would refuse', () => {
    const page = readFileSync(join(site, 'index.html'), 'utf8');
    expect(page).not.toMatch(/<style|<script(?![^>]*\ssrc=)|\sstyle=|\son\w+=/);
  });
});

const forbidden =
  /^(dangerouslySetInnerHTML|innerHTML|outerHTML|insertAdjacentHTML|createContextualFragment|DOMParser|srcdoc|eval|setHTMLUnsafe)$/i;

function markup(file: SourceFile): string[] {
  return file.nodes.flatMap((node) => {
    const isWritten = node.type === 'MemberExpression' && isDocumentWrite(node);
    if (!isWritten && !forbidden.test(wordOf(node))) return [];
    return [`${file.path}:${lineOf(file.text, node)} makes markup of text`];
  });
}

function wordOf({ type, name, value }: Node): string {
  if (type === 'Identifier' || type === 'JSXIdentifier') return String(name);
  return type === 'Literal' && typeof value === 'string' ? value : '';
}

function isDocumentWrite({ object, property }: Node): boolean {
  return wordOf(object as Node) === 'document' && /^write(ln)?$/.test(wordOf(property as Node));
}

function wrongImports(file: SourceFile): string[] {
  return file.imports.flatMap(({ target, isFile, line }) => {
    if (isFile ? mayReach(file, target, line) : packages.includes(target)) return [];
    return [`${file.path}:${line} must not import ${target}`];
  });
}

function mayReach({ path, text }: SourceFile, target: string, line: number): boolean {
  if (target === 'src/admin/contract/contract.ts') {
    return (text.split('\n')[line - 1] ?? '').startsWith('import type ');
  }
  if (!target.startsWith('web/src/')) return false;
  const [, , folder = '', page] = path.split('/');
  const [, , toFolder = '', toPage] = target.split('/');
  const row = mayImport[folder];
  if (row === undefined || row.includes(toFolder)) return true;
  return folder === toFolder && (folder !== 'pages' || page === toPage);
}
