import {
  chmodSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';

import { expect, test } from 'vitest';

import { temporaryFolder } from '../../../test/support/test-run.ts';
import { CodeCache } from './code-cache.ts';

const source = Buffer.from('let a = 1;');
const code = Buffer.from('compiled');

const user = process.getuid?.();

function made(stamp = 'build-node-arch') {
  const folder = join(temporaryFolder('code-cache'), 'code');
  const cache = new CodeCache({ folder, stamp, pid: 1, user });
  cache.write('a.js', source, { code, writtenBy: 'long' });
  return { folder, cache, file: join(folder, stamp, 'a.js') };
}

test('code cache: returns what was written, in files that only the owner can read', () => {
  const { cache, folder, file } = made();
  expect(cache.read('a.js', source)).toEqual({ code, writtenBy: 'long' });
  expect(cache.read('b.js', source)).toBeUndefined();
  cache.write('a.js', source, { code, writtenBy: 'short' });
  expect(cache.read('a.js', source)?.writtenBy).toBe('short');
  expect([folder, file].map((path) => statSync(path).mode & 0o777)).toEqual([0o700, 0o600]);
  expect(readdirSync(join(folder, 'build-node-arch'))).toEqual(['a.js']);
});

test('code cache: misses for a changed source of the same length and for another build', () => {
  const { cache, folder } = made();
  expect(cache.read('a.js', Buffer.from('let a = 2;'))).toBeUndefined();
  const other = new CodeCache({ folder, stamp: 'build-other-arch', pid: 1, user });
  expect(other.read('a.js', source)).toBeUndefined();
  mkdirSync(join(folder, 'build-other-arch'));
  writeFileSync(
    join(folder, 'build-other-arch', 'a.js'),
    readFileSync(join(folder, 'build-node-arch', 'a.js')),
    { mode: 0o600 },
  );
  expect(other.read('a.js', source)).toBeUndefined();
});

test('code cache: rejects a file with a changed or missing byte', () => {
  const { cache, file } = made();
  const bytes = readFileSync(file);
  for (const at of bytes.keys()) {
    const changed = Buffer.from(bytes);
    changed.writeUInt8((changed[at] ?? 0) ^ 1, at);
    writeFileSync(file, changed);
    expect(cache.read('a.js', source)).toBeUndefined();
  }
  for (const rest of [bytes.subarray(0, -1), bytes.subarray(0, 32), bytes.subarray(0, 5), Buffer.alloc(0)]) {
    writeFileSync(file, rest);
    expect(cache.read('a.js', source)).toBeUndefined();
  }
  writeFileSync(file, bytes);
  expect(cache.read('a.js', source)).toEqual({ code, writtenBy: 'long' });
});

test('code cache: rejects files that another user wrote or can write', () => {
  const { cache, file, folder } = made();
  chmodSync(file, 0o660);
  expect(cache.read('a.js', source)).toBeUndefined();
  chmodSync(file, 0o600);
  expect(cache.read('a.js', source)?.code).toEqual(code);
  const ofOther = new CodeCache({ folder, stamp: 'build-node-arch', pid: 1, user: (user ?? 0) + 1 });
  expect(ofOther.read('a.js', source)).toBeUndefined();
});

test('code cache: creates no parent folders and throws when it cannot write', () => {
  const home = temporaryFolder('code-cache');
  const missing = new CodeCache({ folder: join(home, 'state', 'code'), stamp: 's', pid: 1, user });
  expect(() => missing.write('a.js', source, { code, writtenBy: 'short' })).toThrow('ENOENT');
  expect(readdirSync(home)).toEqual([]);
  writeFileSync(join(home, 'code'), 'a file');
  const blocked = new CodeCache({ folder: join(home, 'code'), stamp: 's', pid: 1, user });
  expect(() => blocked.write('a.js', source, { code, writtenBy: 'short' })).toThrow('ENOTDIR');
});

test('code cache: keeps the four most recent builds', () => {
  const { folder } = made('build-0');
  for (let build = 0; build < 5; build++) {
    if (build > 0)
      new CodeCache({ folder, stamp: `build-${build}`, pid: 1, user }).write('a.js', source, {
        code,
        writtenBy: 'short',
      });
    utimesSync(join(folder, `build-${build}`), 1000 + build, 1000 + build);
  }
  expect(readdirSync(folder).toSorted()).toEqual(['build-1', 'build-2', 'build-3', 'build-4']);
});
