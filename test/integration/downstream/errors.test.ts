import { expect } from 'vitest';

import { rpcErrorOf, textOfResult, waitForTool } from '../../support/client-helpers.ts';
import { checkLeaks } from '../../support/leak-check.ts';
import type { RawClient } from '../../support/raw-client.ts';
import { HttpError } from '../../support/raw-transports.ts';
import { everyLeg, scenario } from '../../support/scenario.ts';

checkLeaks();

scenario(
  'invalid JSON: gets -32700, and the connection stays usable',
  { downstream: everyLeg },
  async (cell) => {
    await using line = await cell.open({ one: ['plain'] });
    const { client } = line;
    const texts = ['{"jsonrpc":"2.0","id":1,', 'no JSON at all', '"\\uD800', '{"a":1}}', '\u0000'];
    for (const [index, text] of texts.entries()) {
      const refusal = await refusalOf(client, text, index);
      expect(refusal).toMatchObject({ jsonrpc: '2.0', id: null, error: { code: -32700 } });
      expect(textOfResult(await client.callTool('one__echo', { text: 'alive' }))).toBe('alive');
    }
  },
);

/** The response to an invalid message: on the stream, or in the HTTP response. */
async function refusalOf(client: RawClient, text: string, before: number): Promise<unknown> {
  const answer = await client.sendText(text).then(
    () => undefined,
    (error: unknown) => error,
  );
  if (answer instanceof HttpError) {
    expect(answer.status).toBe(400);
    return JSON.parse(answer.body);
  }
  expect(answer).toBeUndefined();
  const stray = client.strays.all[before] ?? (await client.strays.next());
  return JSON.parse(stray);
}

scenario(
  'unknown method: gets -32601 and does not reach a server',
  { downstream: everyLeg },
  async (cell) => {
    await using line = await cell.open({ one: ['plain'] });
    const { client } = line;
    for (const method of ['tools/unheard-of', 'constructor', client.era === 'modern' ? 'ping' : 'x']) {
      const error = await rpcErrorOf(client.request(method));
      expect(error).toMatchObject({ code: -32601, message: expect.stringContaining(method) });
      if (client.era === 'modern' && client.transport === 'http') expect(error.status).toBe(404);
    }
    expect(textOfResult(await client.callTool('one__echo', { text: 'alive' }))).toBe('alive');
    const passed = line.logs['one']?.of('request').map(({ method }) => method);
    expect(passed).not.toContain('tools/unheard-of');
  },
);

scenario('unknown tool: gets -32602 with similar names', { downstream: everyLeg }, async (cell) => {
  await using line = await cell.open({ one: ['plain'] });
  const { client } = line;
  await waitForTool(client, 'one__echo');
  for (const [wrong, meant] of [
    ['one__ecoh', 'one__echo'],
    ['one_echo', 'one__echo'],
    ['one__Everything_Content', 'one__everything-content'],
  ] as const) {
    const error = await rpcErrorOf(client.callTool(wrong, { text: 'x' }));
    expect(error).toMatchObject({ code: -32602, data: { code: 'ENTRY_NOT_FOUND' } });
    expect(error.message).toContain(wrong);
    expect(error.message).toContain(`"${meant}"`);
  }
  const far = await rpcErrorOf(client.callTool('zzzzzzzzzzzzzzzzzzzzzzzzzz'));
  expect(far.code).toBe(-32602);
  expect(far.message).not.toContain('Did you mean');
  expect(line.logs['one']?.of('call')).toEqual([]);
});

scenario(
  'server error: passes through with code, message and data',
  { downstream: everyLeg, upstream: everyLeg, pairing: 'every' },
  async (cell) => {
    await using line = await cell.open({ one: ['plain'] });
    const error = await rpcErrorOf(line.client.callTool('one__rpc-error'));
    expect(error).toMatchObject({ code: -32050, data: { reason: 'asked for', depth: [1, { two: 2 }] } });
    expect(error.message).toBe('The server failed. (-32050)');
    const failed = await line.client.callTool('one__fail');
    expect(failed).toMatchObject({ isError: true, _meta: { 'example.com/reason': 'asked for' } });
    expect(textOfResult(failed)).toBe('The tool failed.');
  },
);
