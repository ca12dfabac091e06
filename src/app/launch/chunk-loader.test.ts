import { appendFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { expect, test } from 'vitest';

import { temporaryFolder } from '../../../test/support/test-run.ts';
import { ChunkLoader } from './chunk-loader.ts';
import { CodeCache } from './code-cache.ts';
import type { CachedCode } from './code-cache.ts';

const long = `\n//${'x'.repeat(8192)}\n`;

const user = process.getuid?.();

function program(files: Readonly<Record<string, string>>) {
  const folder = temporaryFolder('chunks');
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  const cache = new CodeCache({ folder: join(folder, 'code'), stamp: 's', pid: 1, user });
  const start = (using: ConstructorParameters<typeof ChunkLoader>[0]['cache'] = cache) => {
    let compiled = 0;
    const loader = new ChunkLoader({
      cache: using,
      requireExternal: (id) => `outside ${id}`,
      onCompiled: () => compiled++,
    });
    return { loader, load: (name: string) => loader.load(join(folder, name)), compiled: () => compiled };
  };
  return { folder, cache, start };
}

test('chunk loader: loads modules, cycles and external modules as Node.js does', () => {
  const { folder, start } = program({
    'a.js': `exports.b = require('./b.js'); exports.place = __filename; exports.fs = require('node:fs');`,
    'b.js': `const a = require('./a.js'); exports.early = Object.keys(a); exports.c = require('./c.js');`,
    'c.js': `module.exports = 7;`,
  });
  const { load } = start();
  const a = load('a.js');
  expect(a).toMatchObject({
    b: {
      early: [],
      c: 7,
    },
    place: join(folder, 'a.js'),
    fs: 'outside node:fs',
  });
  expect(load('a.js')).toBe(a);
});

test('chunk loader: names file and line in stack traces', () => {
  const { folder, start } = program({ 'a.js': `\nthrow new Error('odd');` });
  try {
    start().load('a.js');
    expect.unreachable();
  } catch (error) {
    expect((error as Error).stack).toContain(`file://${folder}/a.js:2:7`);
  }
});

test('code cache: stores compiled code once per long-lived process', () => {
  const { start } = program({ 'a.js': `exports.f = () => 1;${long}`, 'small.js': 'exports.a = 1;' });
  const first = start();
  first.load('small.js');
  expect(first.compiled()).toBe(0);
  first.load('a.js');
  expect([first.compiled(), first.loader.storeNext('long')]).toEqual([1, true]);
  expect(first.loader.storeNext('long')).toBe(false);
  const second = start();
  expect((second.load('a.js') as { f: () => number }).f()).toBe(1);
  expect([second.compiled(), second.loader.storeNext('long')]).toEqual([0, false]);
});

test('code cache: replaces code from a short-lived process by code from a long-lived one', () => {
  const { start, cache, folder } = program({ 'a.js': long });
  const kept = () => cache.read('a.js', Buffer.from(long))?.writtenBy;
  for (const [by, after] of [
    ['short', 'short'],
    ['short', 'short'],
    ['long', 'long'],
    ['short', 'long'],
  ] as const) {
    const { load, loader } = start();
    load('a.js');
    loader.storeNext(by);
    expect(kept()).toBe(after);
  }
  appendFileSync(join(folder, 'a.js'), '//');
  expect(cache.read('a.js', Buffer.from(`${long}//`))).toBeUndefined();
});

test.each(['', 'garbage', 'x'.repeat(20_000)])(
  'code cache: recompiles when V8 rejects the cached data',
  (text) => {
    const written: CachedCode[] = [];
    const { start } = program({ 'a.js': `exports.a = 'right';${long}` });
    const { load, loader } = start({
      read: () => ({ code: Buffer.from(text), writtenBy: 'long' }),
      write: (_name, _source, code) => void written.push(code),
    });
    expect(load('a.js')).toEqual({ a: 'right' });
    expect(loader.storeNext('short')).toBe(true);
    expect(written).toHaveLength(1);
  },
);

test('code cache: gives up after the first failed write', () => {
  let tries = 0;
  const { start } = program({ 'a.js': long, 'b.js': long });
  const { load, loader } = start({
    read: () => undefined,
    write: () => {
      tries++;
      throw new Error('read-only');
    },
  });
  load('a.js');
  load('b.js');
  expect([loader.storeNext('long'), loader.storeNext('long'), tries]).toEqual([false, false, 1]);
});
