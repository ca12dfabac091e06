import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { expect, test } from 'vitest';

import { root } from './source-tree.ts';

interface LockEntry {
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

interface Lock {
  readonly packages: Readonly<Record<string, LockEntry>>;
}

// `npm ci` refuses a lock that lacks the optional binaries of any platform, on every platform.
test('lockfile: every optional dependency has an entry, for all platforms', () => {
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as Lock;
  const missing = Object.entries(packages).flatMap(([path, { optionalDependencies = {} }]) =>
    Object.keys(optionalDependencies)
      .filter((name) => !isLocked(packages, path, name))
      .map((name) => `${path} needs ${name}`),
  );
  expect(missing).toEqual([]);
});

test('lockfile: contains no download URL', () => {
  expect(readFileSync(join(root, 'package-lock.json'), 'utf8')).not.toContain('"resolved"');
});

/** Looks where Node would: in the package's own node_modules, then in each one above it. */
function isLocked(packages: Lock['packages'], from: string, name: string): boolean {
  if (`${from === '' ? '' : `${from}/`}node_modules/${name}` in packages) return true;
  if (from === '') return false;
  const parent = from.slice(0, Math.max(0, from.lastIndexOf('node_modules/') - 1));
  return isLocked(packages, parent, name);
}
