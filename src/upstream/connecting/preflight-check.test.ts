import { chmodSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { upstreamConfig } from '../../../test/support/upstream-config.ts';
import type { UpstreamConfig } from '../../config/config.ts';
import { createReferenceReader } from '../../config/resolve-references.ts';
import { resolveTransport } from '../../config/resolve-transport.ts';
import type { UpstreamName } from '../../core/ids.ts';
import { preflightCheck } from './preflight-check.ts';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'trunkline-foresee-'));
  writeFileSync(join(folder, 'program'), '#!/bin/sh\n', { mode: 0o755 });
  writeFileSync(join(folder, 'text'), 'no program');
  chmodSync(join(folder, 'text'), 0o644);
});
afterAll(() => rmSync(folder, { recursive: true }));

type Stdio = Extract<UpstreamConfig['transport'], { kind: 'stdio' }>;

async function said(
  transport: Partial<Stdio> | UpstreamConfig['transport'],
  { own = '/nowhere', login = '/nowhere', ...more }: { own?: string; login?: string; share?: 'fleet' } = {},
): Promise<string | undefined> {
  const env = { PATH: own };
  const reader = createReferenceReader({ env, home: '/', configFile: join(folder, 'config.jsonc') });
  const whole = {
    kind: 'stdio',
    command: 'x',
    args: [],
    env: {},
    ...transport,
  } as UpstreamConfig['transport'];
  const config = upstreamConfig({ name: 'it' as UpstreamName, transport: whole, ...more });
  const error = await preflightCheck(config, {
    env,
    platform: 'linux',
    resolveTransport: (upstream) => resolveTransport(upstream, reader),
    searchPath: () => Promise.resolve(`${own}:${login}`),
  });
  return error && `${error.code} ${error.message}`;
}

describe('preflight check', () => {
  test("preflight check: finds the command in PATH, the login shell's path, its own PATH or by path", async () => {
    expect(await said({ command: 'program' }, { own: folder })).toBeUndefined();
    expect(await said({ command: 'program' }, { login: folder })).toBeUndefined();
    expect(await said({ command: 'program', env: { PATH: folder } })).toBeUndefined();
    expect(await said({ command: './program', cwd: folder })).toBeUndefined();
    expect(await said({ command: join(folder, 'program') })).toBeUndefined();
  });

  test('preflight check: reports a missing or unexecutable command like a failed start', async () => {
    const told = (what: string) => `UPSTREAM_REFUSED Server "it" cannot be started: ${what}`;
    expect(await said({ command: 'program' })).toBe(
      told(
        'the program "program" was not found. Install it and run trunkline restart it, or correct "command": trunkline edit it',
      ),
    );
    expect(await said({ command: 'program', cwd: '/no/where' }, { own: folder })).toBe(
      told(
        'its folder "/no/where" does not exist. Create it and run trunkline restart it, or correct "cwd": trunkline edit it',
      ),
    );
    expect(await said({ command: 'text' }, { own: folder })).toBe(
      told('the program "text" cannot be executed (EACCES). Correct "command": trunkline edit it'),
    );
  });

  test('preflight check: reports an unset reference without revealing values', async () => {
    expect(await said({ command: 'program', env: { TOKEN: '${env:NOT_SET}' } }, { own: folder })).toBe(
      'SECRET_MISSING Server "it", env.TOKEN: the environment variable NOT_SET is not set. Store its value with: trunkline secret set NOT_SET',
    );
    // A program that prints a value does not run before the server is used.
    const printed = '${cmd:["no-such-program"]}';
    expect(await said({ command: 'program', env: { TOKEN: printed } })).toBeUndefined();
    const http = { kind: 'http', url: 'http://127.0.0.1:1/', flavour: 'auto', headers: {} } as const;
    expect(await said(http)).toBeUndefined();
    expect(await said({ ...http, headers: { Authorization: 'Bearer ${env:NOT_SET}' } })).toContain('NOT_SET');
  });

  test('preflight check: runs no program of a reference, because the server may be held', async () => {
    const ran = join(folder, 'ran');
    const program = `\${cmd:["touch","${ran}"]}`;
    for (const place of [{ envFile: program }, { cwd: program }, { command: program }, { args: [program] }])
      expect(await said(place, { own: process.env['PATH'] ?? '' })).toBeUndefined();
    expect(existsSync(ran)).toBe(false);
  });

  test('preflight check: skips servers that another gateway may run', async () => {
    expect(await said({ command: 'program' }, { share: 'fleet' })).toBeUndefined();
  });
});
