import { join } from 'node:path';

import { expect, test } from 'vitest';

import { createCredentialsFactory } from '../../../src/auth/upstream/upstream-credentials.ts';
import { createReferenceReader } from '../../../src/config/resolve-references.ts';
import { resolveTransport } from '../../../src/config/resolve-transport.ts';
import { Cancellation } from '../../../src/core/lib/cancellation.ts';
import type { Caller } from '../../../src/core/caller.ts';
import { silentLogger } from '../../../src/observability/log.ts';
import { createServerOpener } from '../../../src/upstream/server-opener.ts';
import { ChildRecord } from '../../../src/upstream/process/child-record.ts';
import { UpstreamPool } from '../../../src/upstream/upstream-pool.ts';
import { Watchdog } from '../../../src/upstream/process/watchdog.ts';
import { eventually } from '../../support/eventually.ts';
import { checkLeaks } from '../../support/leak-check.ts';
import {
  type SignInHarness,
  DEFAULT_AUTH,
  openSignInHarness,
  startProtectedServer,
} from '../../support/sign-in.ts';
import { upstreamConfig } from '../../support/upstream-config.ts';

checkLeaks();

const callers = ['ada', 'bob', 'eve'].map((id): Caller => ({ id, via: 'http', profile: 'default' }));

/** Returns the pool of a shared gateway with one server that each caller signs in to. */
function poolAt(desk: SignInHarness): UpstreamPool {
  const env = {};
  const reader = createReferenceReader({
    env,
    home: desk.stateDir,
    configFile: join(desk.stateDir, 'config.jsonc'),
  });
  const identity = { info: { name: 'test', version: '1' }, capabilities: {} };
  const pool = new UpstreamPool({
    open: createServerOpener({
      isListed: () => false,
      env,
      log: silentLogger,
      maxMessageBytes: 1e6,
      stateDir: desk.stateDir,
      resolveTransport: (config) => resolveTransport(config, reader),
      searchPath: () => Promise.resolve(undefined),
      watchdog: new Watchdog({ platform: process.platform }),
      childRecord: new ChildRecord(join(desk.stateDir, 'run'), process.pid),
    }),
    identity,
    eras: { recall: () => undefined, remember: () => {} },
    credentialsFor: createCredentialsFactory({
      home: '',
      searchPath: () => Promise.resolve(undefined),
      vault: desk.vault,
      reader,
      env,
      readVariable: () => undefined,
      now: Date.now,
      log: silentLogger,
    }),
    log: silentLogger,
    now: Date.now,
  });
  pool.add(
    upstreamConfig({
      name: desk.signInId.upstream,
      transport: { kind: 'http', url: desk.url, headers: {}, flavour: 'auto' },
      auth: { ...DEFAULT_AUTH, per: 'caller' },
    }),
  );
  return pool;
}

async function whoami(pool: UpstreamPool, desk: SignInHarness, caller: Caller): Promise<string> {
  const upstream = pool.forSession(desk.signInId.upstream, 'one session', caller);
  const params = { name: 'whoami', arguments: {} };
  const payload = await upstream!.request('tools/call', params, { cancellation: new Cancellation() });
  const { content } = payload.value as { content: { text: string }[] };
  return content[0]?.text.split(' ')[0] ?? '';
}

test('per-caller tokens: are used only for calls of their own caller', { tags: ['slow'] }, async () => {
  await using server = await startProtectedServer({ tokenTtl: 3 });
  await using desk = openSignInHarness(server.url);
  for (const { id } of callers.slice(0, 2)) {
    await server.control({ account: id });
    await desk.signIn({ caller: id });
  }
  await using pool = poolAt(desk);
  const wrong: string[] = [];
  const [ada, bob, eve] = callers as [Caller, Caller, Caller];
  const families = (): Set<unknown> => new Set(server.log.of('refresh').map(({ family }) => family));
  // Until the tokens of both callers have been refreshed.
  await eventually(
    async () => {
      const mixed = Array.from({ length: 40 }, (_, at) => (at % 3 === 0 ? ada : bob));
      const answers = await Promise.all(mixed.map((caller) => whoami(pool, desk, caller)));
      wrong.push(...answers.filter((answer, at) => answer !== mixed[at]?.id));
      return families().size === 2;
    },
    { withinMs: 15_000 },
  );
  expect(wrong).toEqual([]);
  expect(server.log.of('refresh-reused')).toEqual([]);
  // A caller without a sign-in never gets the token of another caller, even during their calls.
  const [refused] = await Promise.allSettled([whoami(pool, desk, eve), whoami(pool, desk, ada)]);
  expect(refused).toMatchObject({
    status: 'rejected',
    reason: {
      code: 'UPSTREAM_NEEDS_AUTH',
      message: expect.stringContaining('trunkline login it --caller eve'),
    },
  });
});
