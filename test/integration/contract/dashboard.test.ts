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
  components: ['api', 'lib', 'store'],
  shell: ['lib', 'components', 'store'],
  pages: ['api', 'lib', 'components', 'store'],
};
const packages = ['preact', 'preact/hooks', '@preact/signals'];
const maxLines = 400;
const maxScriptBytes = 60_000;

const files = sourceFiles('web/src').filter(({ path }) => !path.endsWith('.test.ts'));

describe('dashboard source', () => {
  test('dashboard source: neither renders text as markup nor evaluates code', () => {
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
  ])('markup check: rejects %s', (text) => {
    expect(markup(parse('web/src/components/a.tsx', text))).not.toEqual([]);
  });

  test('dashboard source: imports only admin API types, three packages and lower layers', () => {
    expect(files.flatMap(wrongImports)).toEqual([]);
  });

  test.each([
    ['web/src/components/a.tsx', `import { b } from '../pages/b.tsx';`],
    ['web/src/components/a.tsx', `import { b } from '../../../src/admin/contract/contract.ts';`],
    ['web/src/components/a.tsx', `import type { B } from '../../../src/gateway/gateway.ts';`],
    ['web/src/components/a.tsx', `import 'node:fs';`],
    ['web/src/pages/tools/a.tsx', `import { b } from '../servers/b.tsx';`],
  ])('import check: rejects %s with %s', (path, text) => {
    expect(wrongImports(parse(path, text))).toHaveLength(1);
  });

  test('dashboard styles: words of any length wrap everywhere, in linear time', () => {
    const styles = readdirSync(join(root, 'web/src/style')).map((name) =>
      readFileSync(join(root, 'web/src/style', name), 'utf8'),
    );
    const body = styles.flatMap((style) =>
      [...style.matchAll(/^body \{([^}]*)\}/gm)].map(([, rule]) => rule),
    );
    // With kerning or ligatures, Chromium takes 10 s to break a word of 100,000 letters.
    for (const declaration of [
      'overflow-wrap: anywhere;',
      'font-kerning: none;',
      'font-variant-ligatures: none;',
    ])
      expect(body.join('')).toContain(declaration);
    const resets =
      /(?:overflow-wrap|font-kerning|font-variant-ligatures): (?!anywhere|none|break-word)|word-break: keep-all|text-rendering:/;
    expect(styles.filter((style) => resets.test(style))).toEqual([]);
  });

  test('dashboard source: has no file of more than 400 lines', () => {
    const long = files.filter(({ text }) => text.split('\n').length - 1 > maxLines).map(({ path }) => path);
    expect(long).toEqual([]);
  });
});

describe('dashboard bundle', () => {
  const site = join(root, 'dist', 'web');
  const built = readdirSync(site, { recursive: true, encoding: 'utf8' });

  test('dashboard bundle: compresses to less than 60 kB of scripts', () => {
    const scripts = built.filter((name) => name.endsWith('.js'));
    expect(scripts).not.toEqual([]);
    const sizes = scripts.map((name) => gzipSync(readFileSync(join(site, name))).length);
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(maxScriptBytes);
  });

  test('dashboard bundle: loads nothing from other origins', () => {
    const page = readFileSync(join(site, 'index.html'), 'utf8');
    const addresses = [...page.matchAll(/(?:src|href)="([^"]*)"/g)].map(([, address]) => address);
    expect(addresses).not.toEqual([]);
    for (const address of addresses) expect(address).toMatch(/^\/[^/]/);
    const styles = built.filter((name) => name.endsWith('.css'));
    for (const name of styles) expect(readFileSync(join(site, name), 'utf8')).not.toMatch(/url\(|@import/);
  });

  test('dashboard bundle: has no inline script or style, which its CSP would block', () => {
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
