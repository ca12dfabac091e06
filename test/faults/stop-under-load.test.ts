import { expect, test } from 'vitest';

import { eventually } from '../support/eventually.ts';
import { startGateway } from '../support/gateway.ts';
import { checkLeaks } from '../support/leak-check.ts';

checkLeaks();

const CLIENTS = 16;
const ENOUGH = 200;
const params = {
  protocolVersion: '2025-11-25',
  capabilities: {},
  clientInfo: { name: 'busy', version: '1' },
};

/** Whoever is refused a connection knows that nothing was done; whoever is cut off does not. */
test('a gateway that stops answers whatever reached it over HTTP, if only with a refusal', async () => {
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

/** The status, where the answer is whole; else what happened to the connection. */
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
