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

/**
 * The operating system resets a connection that arrives between the last accept and the close of the listener. On an overloaded machine
 * that takes so long that a client may connect in between, and a broken connection does not tell it whether its call was executed.
 */
test('shutdown under load: executes no call whose connection it breaks', async () => {
  // Its answers take 20 ms, so that calls are in flight when the gateway stops.
  const one = fixture('progress');
  const log = fixtureLog(one);
  await using gateway = await startGateway({ mcpServers: { one }, listen: 'http' });
  await waitForTool(await gateway.client({ over: 'http' }), 'one__echo');
  const outcomes = new Map<string, string[]>();
  let asked = 0;
  const loop = async (): Promise<void> => {
    const session = await openSession(gateway.url);
    for (;;) {
      const text = `call ${++asked}.`;
      const outcome = await callEcho(gateway.url, session, text);
      outcomes.set(outcome, [...(outcomes.get(outcome) ?? []), text]);
      if (outcome === 'ECONNREFUSED') return;
      if (outcome === '503') await sleep(TRY_AGAIN_MS);
    }
  };
  const loops = Array.from({ length: CLIENTS }, loop);
  await eventually(() => asked > ENOUGH, { what: 'Load' });
  gateway.signal('SIGTERM');
  await Promise.all(loops);
  expect(await gateway.exited).toEqual({ code: 0, signal: null });
  const {
    200: answered = [],
    503: _rejected,
    ECONNREFUSED: refused,
    ...broken
  } = Object.fromEntries(outcomes);
  const executed = log.of('call').map((event) => (event['arguments'] as { readonly text: string }).text);
  expect(executed.toSorted()).toEqual(answered.toSorted());
  expect(Object.values(broken).flat().length).toBeLessThanOrEqual(CLIENTS);
  expect(refused).toHaveLength(CLIENTS);
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

async function openSession(url: string): Promise<string> {
  const response = await post(url, { id: 0, method: 'initialize', params });
  await response.text();
  return response.headers.get('mcp-session-id') ?? '';
}

/** Returns the status if the response is complete, otherwise the connection error. */
async function callEcho(url: string, session: string, text: string): Promise<string> {
  try {
    const call = { id: text, method: 'tools/call', params: { name: 'one__echo', arguments: { text } } };
    const response = await post(url, call, { 'Mcp-Session-Id': session });
    const body = await response.text();
    return response.status === 200 && !body.includes(`"text":"${text}"`) ? body : `${response.status}`;
  } catch (error) {
    const { cause } = error as { cause?: { code?: string } };
    return cause?.code ?? String(error);
  }
}

function post(
  url: string,
  message: object,
  headers: Readonly<Record<string, string>> = {},
): Promise<Response> {
  return fetch(url, {
    method: 'POST',
    headers: {
      'Content-Type': 'application/json',
      Accept: 'application/json, text/event-stream',
      ...headers,
    },
    body: JSON.stringify({ jsonrpc: '2.0', ...message }),
  });
}
