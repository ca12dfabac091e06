import { chmodSync, mkdirSync, readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

import { describe, expect, test } from 'vitest';

import { temporaryFolder } from '../../../../test/support/test-run.ts';
import { systemKeychain } from './keychain.ts';
import { keyFile } from './secret-key.ts';

test('is made once, whoever comes first, and is for its owner only', async () => {
  const path = join(temporaryFolder('key'), 'state', 'secret.key');
  const sources = Array.from({ length: 8 }, () => keyFile(path));
  expect(sources[0]?.has()).toBe(false);
  const keys = await Promise.all(sources.map((source) => source.get()));
  expect(new Set(keys.map((key) => key.toString('hex'))).size).toBe(1);
  expect(keys[0]).toHaveLength(32);
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(statSync(dirname(path)).mode & 0o777).toBe(0o700);
  expect(readdirSync(dirname(path))).toEqual(['secret.key']);
  expect(sources[0]?.has()).toBe(true);
});

test('a mode that lets others read is mended', async () => {
  const path = join(temporaryFolder('key'), 'secret.key');
  const key = await keyFile(path).get();
  chmodSync(path, 0o644);
  expect(await keyFile(path).get()).toEqual(key);
  expect(statSync(path).mode & 0o777).toBe(0o600);
});

test('what is no key is told and left as it is', async () => {
  const path = join(temporaryFolder('key'), 'secret.key');
  writeFileSync(path, 'something else');
  await expect(keyFile(path).get()).rejects.toMatchObject({ code: 'STORE_CORRUPT' });
  expect(statSync(path).size).toBe('something else'.length);
});

/** A `secret-tool` that keeps its secrets in files. */
function secretTool(): { readonly env: Record<string, string | undefined>; readonly kept: string } {
  const folder = temporaryFolder('keychain');
  const kept = join(folder, 'kept');
  mkdirSync(kept);
  const script = `#!/bin/sh
[ -e "${folder}/locked" ] && exit 1
for word; do name=$word; done
case $1 in
  store) cat > "${kept}/$name" ;;
  lookup) cat "${kept}/$name" ;;
  clear) rm "${kept}/$name" ;;
esac
`;
  writeFileSync(join(folder, 'secret-tool'), script, { mode: 0o755 });
  return { env: { ...process.env, PATH: `${folder}:${process.env['PATH'] ?? ''}` }, kept };
}

/** A `security` of macOS that keeps its secrets in files, and notes its command lines. */
function security(): { readonly env: Record<string, string | undefined>; readonly folder: string } {
  const folder = temporaryFolder('keychain');
  const script = `#!/bin/sh
echo "$*" >> "${folder}/lines"
named() { while [ $# -gt 0 ]; do [ "$1" = -a ] && name=$2; [ "$1" = -w ] && secret=$2; shift; done; }
case $1 in
  -i) read -r line; named $line; printf %s "$secret" > "${folder}/kept-$name" ;;
  find-generic-password) named "$@"; cat "${folder}/kept-$name" ;;
  delete-generic-password) named "$@"; rm "${folder}/kept-$name" ;;
esac
`;
  writeFileSync(join(folder, 'security'), script, { mode: 0o755 });
  return { env: { ...process.env, PATH: `${folder}:${process.env['PATH'] ?? ''}` }, folder };
}

test('the keychain of macOS gives back what it was given, and no secret is on a command line', async () => {
  const { env, folder } = security();
  const path = join(temporaryFolder('key'), 'secret.key');
  const keychain = systemKeychain({ platform: 'darwin', env });
  const options = { keychain, prefersKeychain: true };
  const key = await keyFile(path, options).get();
  expect(await keyFile(path, options).get()).toEqual(key);
  const name = readFileSync(path, 'utf8').replace('keychain:', '').trim();
  expect(readFileSync(join(folder, `kept-${name}`), 'utf8')).toBe(key.toString('base64'));
  expect(readFileSync(join(folder, 'lines'), 'utf8')).not.toContain(key.toString('base64').slice(0, 20));
  await keychain?.remove(name);
  await expect(keyFile(path, options).get()).rejects.toMatchObject({ code: 'STORE_LOCKED' });
});

describe('with the keychain of the system', () => {
  const platform = 'linux';

  test('the key is there and not in the file, and of several made at once one stays', async () => {
    const { env, kept } = secretTool();
    const path = join(temporaryFolder('key'), 'secret.key');
    const options = { keychain: systemKeychain({ platform, env }), prefersKeychain: true };
    const keys = await Promise.all(Array.from({ length: 4 }, () => keyFile(path, options).get()));
    expect(new Set(keys.map((key) => key.toString('hex'))).size).toBe(1);
    expect(readFileSync(path, 'utf8')).toMatch(/^keychain:[0-9a-f]{32}\n$/);
    expect(readdirSync(kept)).toHaveLength(1);
    expect(await keyFile(path, { ...options, prefersKeychain: false }).get()).toEqual(keys[0]);
  });

  test('one that is locked is told, and never replaced by another key', async () => {
    const { env, kept } = secretTool();
    const path = join(temporaryFolder('key'), 'secret.key');
    const options = { keychain: systemKeychain({ platform, env }), prefersKeychain: true };
    await keyFile(path, options).get();
    writeFileSync(join(dirname(kept), 'locked'), '');
    await expect(keyFile(path, options).get()).rejects.toMatchObject({ code: 'STORE_LOCKED' });
    await expect(keyFile(path).get()).rejects.toMatchObject({ code: 'STORE_LOCKED' });
    expect(readFileSync(path, 'utf8')).toMatch(/^keychain:/);
  });

  test('where there is none the key is in the file', async () => {
    const env = { PATH: temporaryFolder('empty') };
    const path = join(temporaryFolder('key'), 'secret.key');
    const key = await keyFile(path, {
      keychain: systemKeychain({ platform, env }),
      prefersKeychain: true,
    }).get();
    expect(Buffer.from(readFileSync(path, 'utf8'), 'base64')).toEqual(key);
    expect(systemKeychain({ platform: 'win32', env })).toBeUndefined();
  });
});
