import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { upstreamConfig } from '../../../test/support/upstream-config.ts';
import type { UpstreamConfig } from '../../config/config.ts';
import { referenceReader, revealTransport } from '../../config/references.ts';
import type { UpstreamName } from '../../model/ids.ts';
import { foresee } from './foresee.ts';

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
  const reader = referenceReader({ env, home: '/', configFile: join(folder, 'config.jsonc') });
  const whole = {
    kind: 'stdio',
    command: 'x',
    args: [],
    env: {},
    ...transport,
  } as UpstreamConfig['transport'];
  const config = upstreamConfig({ name: 'it' as UpstreamName, transport: whole, ...more });
  const error = await foresee(config, {
    env,
    platform: 'linux',
    reveal: (upstream) => revealTransport(upstream, reader),
    path: () => Promise.resolve(`${own}:${login}`),
  });
  return error && `${error.code} ${error.message}`;
}

describe('what is known of a server before it is started', () => {
  test('its program is on our path, on that of a login shell, on its own, or a path itself', async () => {
    expect(await said({ command: 'program' }, { own: folder })).toBeUndefined();
    expect(await said({ command: 'program' }, { login: folder })).toBeUndefined();
    expect(await said({ command: 'program', env: { PATH: folder } })).toBeUndefined();
    expect(await said({ command: './program', cwd: folder })).toBeUndefined();
    expect(await said({ command: join(folder, 'program') })).toBeUndefined();
  });

  test('what the system would say is said in the words of whoever starts it', async () => {
    const missing = 'was not found, or its "cwd" does not exist.';
    const told = (what: string) => `UPSTREAM_REFUSED Server "it" cannot be started: the command ${what}`;
    expect(await said({ command: 'program' })).toBe(told(`"program" ${missing}`));
    expect(await said({ command: 'program', cwd: '/no/where' }, { own: folder })).toBe(
      told(`"program" ${missing}`),
    );
    expect(await said({ command: 'text' }, { own: folder })).toBe(
      told('"text" cannot be executed (EACCES).'),
    );
  });

  test('what its entry refers to is looked up, and nothing of it is said', async () => {
    expect(await said({ command: 'program', env: { TOKEN: '${env:NOT_SET}' } }, { own: folder })).toBe(
      'SECRET_MISSING server "it", env.TOKEN: the environment variable NOT_SET is not set',
    );
    const http = { kind: 'http', url: 'http://127.0.0.1:1/', flavour: 'auto', headers: {} } as const;
    expect(await said(http)).toBeUndefined();
    expect(await said({ ...http, headers: { Authorization: 'Bearer ${env:NOT_SET}' } })).toContain('NOT_SET');
  });

  test('another gateway may have what this one lacks', async () => {
    expect(await said({ command: 'program' }, { share: 'fleet' })).toBeUndefined();
  });
});
