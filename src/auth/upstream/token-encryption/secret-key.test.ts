import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';

import { describe, expect, test } from 'vitest';

import { eventually, waitForValue } from '../../../../test/support/eventually.ts';
import { temporaryFolder } from '../../../../test/support/test-run.ts';
import { RunningPrograms } from '../../../config/reference-command.ts';
import { isProcessAlive } from '../../../core/lib/is-process-alive.ts';
import { findSystemKeychain } from './keychain.ts';
import { openKeyFile } from './secret-key.ts';

test('key file: is created once by concurrent processes, readable by its owner only', async () => {
  const path = join(temporaryFolder('key'), 'state', 'secret.key');
  const sources = Array.from({ length: 8 }, () => openKeyFile(path));
  expect(sources[0]?.has()).toBe(false);
  const keys = await Promise.all(sources.map((source) => source.get()));
  expect(new Set(keys.map((key) => key.toString('hex'))).size).toBe(1);
  expect(keys[0]).toHaveLength(32);
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(statSync(dirname(path)).mode & 0o777).toBe(0o700);
  expect(readdirSync(dirname(path))).toEqual(['secret.key']);
  expect(sources[0]?.has()).toBe(true);
});

test('key file: restores its mode when others can read it', async () => {
  const path = join(temporaryFolder('key'), 'secret.key');
  const key = await openKeyFile(path).get();
  chmodSync(path, 0o644);
  expect(await openKeyFile(path).get()).toEqual(key);
  expect(statSync(path).mode & 0o777).toBe(0o600);
});

test('key file: rejects damaged content and leaves it unchanged', async () => {
  const path = join(temporaryFolder('key'), 'secret.key');
  writeFileSync(path, 'something else');
  await expect(openKeyFile(path).get()).rejects.toMatchObject({ code: 'STORE_CORRUPT' });
  expect(statSync(path).size).toBe('something else'.length);
});

/** A fake `secret-tool` that keeps its secrets in files. */
function secretTool(): { readonly env: Record<string, string | undefined>; readonly items: string } {
  const folder = temporaryFolder('keychain');
  const items = join(folder, 'items');
  mkdirSync(items);
  const script = `#!/bin/sh
[ -e "${folder}/locked" ] && exit 1
for word; do name=$word; done
case $1 in
  store) cat > "${items}/$name" ;;
  lookup) cat "${items}/$name" ;;
  clear) rm "${items}/$name" ;;
esac
`;
  writeFileSync(join(folder, 'secret-tool'), script, { mode: 0o755 });
  return { env: { ...process.env, PATH: `${folder}:${process.env['PATH'] ?? ''}` }, items };
}

/** A fake macOS `security` that keeps its secrets in files and records its command lines. */
function security(): { readonly env: Record<string, string | undefined>; readonly folder: string } {
  const folder = temporaryFolder('keychain');
  const script = `#!/bin/sh
echo "$*" >> "${folder}/lines"
named() { while [ $# -gt 0 ]; do [ "$1" = -a ] && name=$2; [ "$1" = -w ] && secret=$2; shift; done; }
case $1 in
  -i) read -r line; named $line; printf %s "$secret" > "${folder}/item-$name" ;;
  find-generic-password) named "$@"; cat "${folder}/item-$name" ;;
  delete-generic-password) named "$@"; rm "${folder}/item-$name" ;;
esac
`;
  writeFileSync(join(folder, 'security'), script, { mode: 0o755 });
  return { env: { ...process.env, PATH: `${folder}:${process.env['PATH'] ?? ''}` }, folder };
}

test('keychain: stores the key on macOS without putting it on a command line', async () => {
  const { env, folder } = security();
  const path = join(temporaryFolder('key'), 'secret.key');
  const keychain = findSystemKeychain({ platform: 'darwin', env });
  const options = { keychain, prefersKeychain: true };
  const key = await openKeyFile(path, options).get();
  expect(await openKeyFile(path, options).get()).toEqual(key);
  const name = readFileSync(path, 'utf8').replace('keychain:', '').trim();
  expect(readFileSync(join(folder, `item-${name}`), 'utf8')).toBe(key.toString('base64'));
  expect(readFileSync(join(folder, 'lines'), 'utf8')).not.toContain(key.toString('base64').slice(0, 20));
  await keychain?.remove(name);
  await expect(openKeyFile(path, options).get()).rejects.toMatchObject({ code: 'STORE_LOCKED' });
});

test('keychain: stores a value on Windows without putting it on a command line', async () => {
  const folder = temporaryFolder('keychain');
  // A fake PowerShell that records its command lines and keeps one credential.
  const script = `#!/bin/sh
echo "$*" >> "${folder}/lines"
case "$*" in *'.Add('*) cat > "${folder}/item" ;; *'.Remove('*) rm "${folder}/item" ;; *) cat "${folder}/item" ;; esac
`;
  writeFileSync(join(folder, 'powershell.exe'), script, { mode: 0o755 });
  const env = { ...process.env, PATH: `${folder}:${process.env['PATH'] ?? ''}` };
  const keychain = findSystemKeychain({ platform: 'win32', env });
  await keychain?.write('secret-a', 'c2VjcmV0');
  expect(await keychain?.read('secret-a')).toBe('c2VjcmV0');
  await keychain?.remove('secret-a');
  expect(await keychain?.read('secret-a')).toBeUndefined();
  const lines = readFileSync(join(folder, 'lines'), 'utf8');
  expect(lines).toContain("PasswordCredential('trunkline','secret-a',$s)");
  expect(lines).not.toContain('c2VjcmV0');
});

test('keychain: a program that hangs ends with all its processes when the gateway stops, and does not run again', async () => {
  const folder = temporaryFolder('keychain');
  const pidFile = join(folder, 'pid');
  const script = `#!/bin/sh\ntrap '' TERM\nsh -c 'trap "" TERM; echo $$ > "${pidFile}"; sleep 600'\n`;
  writeFileSync(join(folder, 'secret-tool'), script, { mode: 0o755 });
  const env = { ...process.env, PATH: `${folder}:${process.env['PATH'] ?? ''}` };
  const running = new RunningPrograms();
  const keychain = findSystemKeychain({ platform: 'linux', env, running });
  const reading = keychain?.read('name');
  const pid = await waitForValue(() => (existsSync(pidFile) && Number(readFileSync(pidFile))) || undefined, {
    what: 'the process of the keychain program',
  });
  await running[Symbol.asyncDispose]();
  expect(await reading).toBeUndefined();
  await eventually(() => expect(isProcessAlive(pid)).toBe(false));
  await expect(keychain?.read('name')).rejects.toThrow('the gateway is stopping');
});

describe('key in the system keychain', () => {
  const platform = 'linux';

  test('keychain: holds the key instead of the file, and keeps one of several made at once', async () => {
    const { env, items } = secretTool();
    const path = join(temporaryFolder('key'), 'secret.key');
    const options = { keychain: findSystemKeychain({ platform, env }), prefersKeychain: true };
    const keys = await Promise.all(Array.from({ length: 4 }, () => openKeyFile(path, options).get()));
    expect(new Set(keys.map((key) => key.toString('hex'))).size).toBe(1);
    expect(readFileSync(path, 'utf8')).toMatch(/^keychain:[0-9a-f]{32}\n$/);
    expect(readdirSync(items)).toHaveLength(1);
    expect(await openKeyFile(path, { ...options, prefersKeychain: false }).get()).toEqual(keys[0]);
  });

  test('keychain: reports STORE_LOCKED when it is locked and never replaces the key', async () => {
    const { env, items } = secretTool();
    const path = join(temporaryFolder('key'), 'secret.key');
    const options = { keychain: findSystemKeychain({ platform, env }), prefersKeychain: true };
    await openKeyFile(path, options).get();
    writeFileSync(join(dirname(items), 'locked'), '');
    await expect(openKeyFile(path, options).get()).rejects.toMatchObject({ code: 'STORE_LOCKED' });
    await expect(openKeyFile(path).get()).rejects.toMatchObject({ code: 'STORE_LOCKED' });
    expect(readFileSync(path, 'utf8')).toMatch(/^keychain:/);
  });

  test('keychain: falls back to the key file when the system has none', async () => {
    const env = { PATH: temporaryFolder('empty') };
    const path = join(temporaryFolder('key'), 'secret.key');
    const key = await openKeyFile(path, {
      keychain: findSystemKeychain({ platform, env }),
      prefersKeychain: true,
    }).get();
    expect(Buffer.from(readFileSync(path, 'utf8'), 'base64')).toEqual(key);
    expect(findSystemKeychain({ platform: 'freebsd', env })).toBeUndefined();
  });
});
