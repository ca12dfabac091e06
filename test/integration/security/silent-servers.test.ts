import { expect, test } from 'vitest';

import { createIssuerKeySource } from '../../../src/auth/downstream/issuer-keys.ts';
import { createGuardedFetch } from '../../../src/auth/upstream/oauth/guarded-fetch.ts';
import { postJson } from '../../../src/catalog/search/rerank/post-json.ts';
import { silentLogger } from '../../../src/observability/log.ts';
import { CallMetrics } from '../../../src/observability/telemetry/call-metrics.ts';
import { OtlpExporter } from '../../../src/observability/telemetry/otlp-exporter.ts';
import { RegistryClient } from '../../../src/setup/registry/registry-client.ts';
import { collectGarbageRepeatedly } from '../../support/collect-garbage.ts';
import { eventually } from '../../support/eventually.ts';
import { startHostileAnswers } from '../../support/hostile-answers.ts';
import { checkLeaks } from '../../support/leak-check.ts';

checkLeaks();

/** Long enough for several garbage collections. */
const TIMEOUT_MS = 500;
const { signal } = new AbortController();
const now = Date.now;

/** The requests of the gateway to other servers than MCP servers; each must end by itself. */
const REQUESTS: Readonly<Record<string, (origin: string) => Promise<unknown>>> = {
  'sign-in metadata': (origin) => guardedFetch(origin)(new URL(origin)),
  'a token or registration endpoint': (origin) =>
    guardedFetch(origin)(new URL(origin), { method: 'POST', body: 'x' }),
  'the metadata of an issuer': (origin) =>
    findKey(createIssuerKeySource({ issuer: origin, now, timeoutMs: TIMEOUT_MS })),
  'issuer keys': (origin) =>
    findKey(createIssuerKeySource({ issuer: origin, jwksUrl: origin, now, timeoutMs: TIMEOUT_MS })),
  'a registry': (origin) =>
    new RegistryClient(`${origin}/v0`, { fetch, signal, timeoutMs: TIMEOUT_MS }).search('x', 1),
  'a rerank endpoint': (origin) => postJson({ url: origin, headers: {}, body: {} }, TIMEOUT_MS),
};

test.each(Object.keys(REQUESTS))(
  'silent server: a request to %s ends at its deadline without headers or body, also after garbage collections',
  async (name) => {
    for (const attack of ['no headers', 'a byte per second'] as const) {
      await using server = await startHostileAnswers((_request, _response, start) => start(attack));
      using _garbage = collectGarbageRepeatedly();
      await expect(REQUESTS[name]?.(server.origin)).rejects.toThrow(/within|timed out|timeout/i);
      expect(server.started()).toBeGreaterThan(0);
      await eventually(() => expect(server.open()).toBe(0));
    }
  },
);

test('silent server: a telemetry collector that sends no headers is given up, also at shutdown and after garbage collections', async () => {
  await using server = await startHostileAnswers((_request, _response, attack) => attack('no headers'));
  using _garbage = collectGarbageRepeatedly();
  const logged: unknown[] = [];
  const exporter = new OtlpExporter({
    endpoint: server.origin,
    headers: () => Promise.resolve({}),
    intervalMs: 10,
    timeoutMs: TIMEOUT_MS,
    metrics: new CallMetrics(now),
    gauges: () => ({ clients: 0, servers: [], unrecorded: 0, residentBytes: 0 }),
    resource: { service: 'trunkline', version: '1' },
    log: { ...silentLogger, warn: (_message: string, fields: unknown) => void logged.push(fields) },
    now,
  });
  await eventually(() => expect(server.started()).toBeGreaterThan(1));
  await exporter[Symbol.asyncDispose]();
  expect(logged).toEqual([{ reason: 'TimeoutError' }]);
  await eventually(() => expect(server.open()).toBe(0));
});

function guardedFetch(origin: string): ReturnType<typeof createGuardedFetch> {
  return createGuardedFetch({ upstream: new URL(origin), allowPrivate: true, signal, timeoutMs: TIMEOUT_MS });
}

function findKey(source: ReturnType<typeof createIssuerKeySource>): Promise<unknown> {
  return Promise.resolve(source({ alg: 'ES256', kid: 'k' }, { payload: '', signature: '' }));
}
