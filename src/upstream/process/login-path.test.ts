import { existsSync } from 'node:fs';
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';

import { eventually } from '../../../test/support/eventually.ts';
import { isRunning } from '../../../test/support/processes.ts';
import { joinPaths, loginPath } from './login-path.ts';

const day = 24 * 60 * 60 * 1000;

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'trunkline-shell-'));
});
afterEach(async () => {
  vi.useRealTimers();
  await rm(folder, { recursive: true, force: true });
});

/** A shell that does these lines where a real one reads its profile, and notes each time it is asked. */
async function shell(profile: string, name = 'sh'): Promise<string> {
  const file = join(folder, name);
  const script = [
    '#!/bin/sh',
    `echo "$*" >> ${folder}/asked`,
    'PATH=/login/bin:/usr/bin:/bin',
    profile,
    'eval "$4"',
    '',
  ];
  await writeFile(file, script.join('\n'));
  await chmod(file, 0o700);
  return file;
}

async function asked(): Promise<number> {
  if (!existsSync(join(folder, 'asked'))) return 0;
  return (await readFile(join(folder, 'asked'), 'utf8')).split('\n').length - 1;
}

function find(
  SHELL: string | undefined,
  more: { readonly now?: number; readonly PATH?: string; readonly platform?: NodeJS.Platform } = {},
): Promise<string | undefined> {
  const { now = 0, PATH = '/usr/bin:/own/bin', platform = 'linux' } = more;
  return loginPath({ env: { PATH, SHELL }, stateDir: join(folder, 'state'), now, platform });
}

describe.skipIf(process.platform === 'win32')('loginPath', () => {
  test('login path: appends the entries of the login shell, each once', async () => {
    expect(await find(await shell(''))).toBe('/usr/bin:/own/bin:/login/bin:/bin');
  });

  test('login path: starts an interactive login shell', async () => {
    await find(await shell(''));
    expect(await readFile(join(folder, 'asked'), 'utf8')).toMatch(/^-l -i -c /);
  });

  test('login path: finds the path among other output of the profile', async () => {
    expect(await find(await shell('echo "Welcome: $PATH"; trap "echo bye" EXIT'))).toBe(
      '/usr/bin:/own/bin:/login/bin:/bin',
    );
  });

  test('login path: asks the shell once a day', async () => {
    const SHELL = await shell('');
    await find(SHELL, { now: 0 });
    expect(await find(SHELL, { now: day - 1 })).toBe('/usr/bin:/own/bin:/login/bin:/bin');
    expect(await asked()).toBe(1);
    await find(SHELL, { now: day });
    expect(await asked()).toBe(2);
  });

  test('login path: puts the current PATH before the cached one', async () => {
    const SHELL = await shell('');
    await find(SHELL);
    expect(await find(SHELL, { PATH: '/new' })).toBe('/new:/login/bin:/usr/bin:/bin');
  });

  test('login path: asks again for another shell', async () => {
    await find(await shell(''));
    expect(await find(await shell('PATH=/other', 'zsh'))).toBe('/usr/bin:/own/bin:/other');
  });

  test.each(['', 'not JSON', 'null', '{"shell":5}'])(
    'login path: asks again when the cache is damaged: %j',
    async (text) => {
      const SHELL = await shell('');
      await find(SHELL);
      await writeFile(join(folder, 'state', 'login-path.json'), text);
      expect(await find(SHELL)).toBe('/usr/bin:/own/bin:/login/bin:/bin');
      expect(await asked()).toBe(2);
    },
  );

  test('login path: uses fish syntax for fish', async () => {
    await find(await shell('', 'fish'));
    expect(await readFile(join(folder, 'asked'), 'utf8')).toContain('string join : $PATH');
  });

  test.each([undefined, 'bash', './sh'])('login path: asks no shell when SHELL is %j', async (SHELL) => {
    expect(await find(SHELL)).toBe('/usr/bin:/own/bin');
  });

  test('login path: asks no shell on Windows', async () => {
    expect(await find(await shell(''), { platform: 'win32' })).toBe('/usr/bin:/own/bin');
    expect(await asked()).toBe(0);
  });

  test.each([
    ['does not exist', () => Promise.resolve('/nowhere/sh')],
    ['fails', () => shell('exit 1')],
    ['has no path', () => shell('PATH=')],
  ])('login path: falls back to the own PATH when the shell %s', async (_, make) => {
    expect(await find(await make())).toBe('/usr/bin:/own/bin');
  });

  test('login path: kills a hanging shell after two seconds', async () => {
    const SHELL = await shell(`echo $$ > ${folder}/pid; while :; do /bin/sleep 60; done`);
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    let found: string | undefined;
    const finding = find(SHELL).then((path) => (found = path));
    const pid = Number(await until(() => readFile(join(folder, 'pid'), 'utf8')));
    vi.advanceTimersByTime(1999);
    await Promise.resolve();
    expect(found).toBeUndefined();
    vi.advanceTimersByTime(1);
    expect(await finding).toBe('/usr/bin:/own/bin');
    vi.useRealTimers();
    await eventually(() => !isRunning(pid));
  });

  test('login path: does not wait for background processes of the profile', async () => {
    const SHELL = await shell(`/bin/sleep 60 & echo $! > ${folder}/pid`);
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    expect(await find(SHELL)).toBe('/usr/bin:/own/bin:/login/bin:/bin');
    process.kill(Number(await readFile(join(folder, 'pid'), 'utf8')));
  });
});

describe('joinPaths', () => {
  test('join paths: keeps the order and drops empty and repeated entries', () => {
    expect(joinPaths('/a::/b', '/b:/c:')).toBe('/a:/b:/c');
    expect(joinPaths(undefined, '/a')).toBe('/a');
  });
});

/** Waits for a file with something in it; timers are fake here, so the loop turns on the event loop alone. */
async function until(read: () => Promise<string>): Promise<string> {
  for (;;) {
    const text = await read().catch(() => '');
    if (text.endsWith('\n')) return text;
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
  }
}
