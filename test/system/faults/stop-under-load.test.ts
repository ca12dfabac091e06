import { setTimeout as sleep } from 'node:timers/promises';

import { expect, test } from 'vitest';

import { gatewayErrorCode, waitForTool } from '../../support/client-helpers.ts';
import { eventually } from '../../support/eventually.ts';
import { fixture, fixtureLog } from '../../support/fixture.ts';
import { startGateway } from '../../support/gateway.ts';
import { checkLeaks } from '../../support/leak-check.ts';

checkLeaks();

const CLIENTS = 16;
const ENOUGH = 200;
/** The number of concurrent calls of one server. */
const UNDER_WAY = 10;
const params = {
  protocolVersion: '2025-11-25',
  capabilities: {},
  clientInfo: { name: 'busy', version: '1' },
};

/** Longer than a stopping gateway waits for late connections; its Retry-After is one second. */
const TRY_AGAIN_MS = 300;

/** A refused connection proves that nothing was executed; a broken connection does not. */
test('shutdown under load: answers every HTTP request that it accepted', async () => {
  await using gateway = await startGateway({ mcpServers: {}, listen: 'http' });
  const { url } = gateway;
  const outcomes = new Map<string, number>();
  let asked = 0;
  const loop = async (): Promise<void> => {
    for (;;) {
      const id = ++asked;
      const outcome = await begin(url, id);
      outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
      if (outcome === 'ECONNREFUSED') return;
      if (outcome === '503') await sleep(TRY_AGAIN_MS);
    }
  };
  const loops = Array.from({ length: CLIENTS }, loop);
  await eventually(() => asked > ENOUGH, { what: 'Load' });
  gateway.signal('SIGTERM');
  await Promise.all(loops);
  expect(await gateway.exited).toEqual({ code: 0, signal: null });
  expect([...outcomes.keys()].filter((each) => !['200', '503', 'ECONNREFUSED'].includes(each))).toEqual([]);
  expect(outcomes.get('ECONNREFUSED')).toBe(CLIENTS);
});

test.for([
  ['http', 'legacy'],
  ['http', 'modern'],
  ['sse', 'legacy'],
] as const)(
  'shutdown under load: fails hanging calls with SHUTTING_DOWN over %s in the %s era',
  async ([over, era]) => {
    const one = fixture('hangs-in-calls');
    const log = fixtureLog(one);
    await using gateway = await startGateway({
      mcpServers: { one },
      config: { shutdown: '200ms' },
      listen: 'http',
    });
    const client = await gateway.client({ over, era });
    await waitForTool(client, 'one__echo');
    const calls = Array.from({ length: UNDER_WAY }, (_, at) =>
      client.callTool('one__echo', { text: `call ${at}` }),
    );
    const read = (): number => log.all().filter(({ event }) => event === 'call').length;
    await eventually(() => read() === UNDER_WAY, { what: 'Calls' });
    gateway.signal('SIGTERM');
    const codes = await Promise.all(calls.map(async (call) => gatewayErrorCode(await call)));
    expect(new Set(codes)).toEqual(new Set(['SHUTTING_DOWN']));
    expect(await gateway.exited).toEqual({ code: 0, signal: null });
    await client.close();
  },
);

/** Returns the status if the response is complete, otherwise the connection error. */
async function begin(url: string, id: number): Promise<string> {
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', Accept: 'application/json, text/event-stream' },
      body: JSON.stringify({ jsonrpc: '2.0', id, method: 'initialize', params }),
    });
    const text = await response.text();
    return response.status === 200 && !text.includes(`"id":${id}`) ? `empty: ${text}` : `${response.status}`;
  } catch (error) {
    const { cause } = error as { cause?: { code?: string } };
    return cause?.code ?? String(error);
  }
}
