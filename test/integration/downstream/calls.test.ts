import { expect } from 'vitest';

import { textOfResult } from '../../support/client-helpers.ts';
import { eventually } from '../../support/eventually.ts';
import { checkLeaks } from '../../support/leak-check.ts';
import type { RawClient } from '../../support/raw-client.ts';
import type { MessageId } from '../../support/raw-messages.ts';
import { everyLeg, scenario } from '../../support/scenario.ts';

checkLeaks();

scenario(
  'progress: all of it reaches the caller in order, under the token it sent',
  { downstream: everyLeg, upstream: everyLeg },
  async (cell) => {
    await using line = await cell.open({ one: ['plain'], two: ['progress'] });
    const clients = [line.client];
    // Two clients with equal tokens, where the transport allows two clients.
    if (line.client.transport !== 'stdio') clients.push(await line.another());
    const steps = [1, 2, 3, 4, 5];
    const calls = clients.flatMap((client) =>
      tokens.flatMap((token) =>
        ['one', 'two'].map(async (server) => {
          const meta = { progressToken: `${server}${token}` === 'one7' ? 7 : `${server} ${token}` };
          const name = `${server}__progress`;
          const result = await client.callTool(name, { steps: 5, ms: 2 }, { meta, withinMs: 20_000 });
          // All progress arrives before the result, in order.
          return { result: textOfResult(result), reports: reportsTo(client, meta.progressToken) };
        }),
      ),
    );
    for (const { result, reports } of await Promise.all(calls)) {
      expect(result).toBe('5 steps');
      expect(reports).toEqual(steps.map((progress) => ({ progress, total: 5, message: `step ${progress}` })));
    }
    expect(clients.map((client) => progressOf(client).length)).toEqual(
      clients.map(() => tokens.length * 2 * steps.length),
    );
    // A server sees each token once, so progress of two callers cannot be confused.
    for (const log of Object.values(line.logs)) {
      const seen = log.of('call').map(({ meta }) => (meta as { progressToken?: unknown }).progressToken);
      expect(new Set(seen).size).toBe(clients.length * tokens.length);
    }
    // A call without a token gets no progress.
    await line.client.callTool('one__progress', { steps: 2 });
    expect(progressOf(line.client)).toHaveLength(tokens.length * 2 * steps.length);
  },
);

const tokens = ['a', 'b "€"', '7'];

function progressOf(client: RawClient) {
  return client.notifications.all.filter(({ method }) => method === 'notifications/progress');
}

function reportsTo(client: RawClient, token: string | number) {
  return progressOf(client)
    .filter(({ params }) => params['progressToken'] === token)
    .map(({ params: { progressToken: _, ...report } }) => report);
}

scenario(
  'cancellation: cancels exactly the given call at the server',
  { downstream: everyLeg, upstream: everyLeg },
  async (cell) => {
    await using line = await cell.open({ one: ['plain'], two: ['plain'] });
    const { client } = line;
    const log = line.logs['one'];
    const cancelling = new AbortController();
    const slow = (text: string, ms: number, signal?: AbortSignal) =>
      client.callTool('one__slow', { text, ms }, { ...(signal && { signal }), withinMs: 20_000 });
    const others = [slow('first', 1500), client.callTool('two__slow', { text: 'other', ms: 1500 })];
    const doomed = slow('doomed', 600_000, cancelling.signal);
    others.push(slow('last', 1500));
    const outcome = doomed.catch((error: unknown) => error);
    await eventually(() => log?.of('call').length === 3, { what: 'All calls at the server' });
    cancelling.abort();
    expect(String(await outcome)).toContain('cancelled');
    const cancelled = await log?.waitFor('cancelled');
    const call = log?.of('call').find(({ id }) => id === cancelled?.['id']);
    expect(call?.['arguments']).toMatchObject({ text: 'doomed' });
    expect((await Promise.all(others)).map(textOfResult)).toEqual(['first', 'other', 'last']);
    expect([...(log?.of('cancelled') ?? []), ...(line.logs['two']?.of('cancelled') ?? [])]).toHaveLength(1);
    // The protocol forbids a response to a cancelled request.
    expect(client.strays.all).toEqual([]);
  },
);

scenario(
  'request ids: string, negative and huge ids return as sent',
  { downstream: everyLeg },
  async (cell) => {
    await using line = await cell.open({ one: ['plain'] });
    const { client } = line;
    const ids: MessageId[] = [
      '',
      'text',
      '1',
      '-1',
      'null',
      'ünï "€" \\ \u2028 🚀',
      'x'.repeat(1e3),
      '__proto__',
      0,
      -7,
      2 ** 31,
      Number.MAX_SAFE_INTEGER,
      Number.MIN_SAFE_INTEGER,
      1.5,
      2n ** 53n + 1n,
      10n ** 30n,
      -(10n ** 25n),
      12345678901234567890n,
      12345678901234567891n,
    ];
    // All at once, so that a mix-up would show.
    const texts = await Promise.all(
      ids.map(async (id) =>
        textOfResult(
          await client.callTool('one__slow', { ms: 20, text: String(id) }, { id, withinMs: 20_000 }),
        ),
      ),
    );
    expect(texts).toEqual(ids.map(String));
    expect(client.strays.all).toEqual([]);
  },
);

// MCP 2025-11-25 basic/utilities/ping
scenario(
  'ping: is answered without involving a server',
  { downstream: ['stdio/legacy', 'http/legacy', 'sse/legacy'] },
  async (cell) => {
    await using line = await cell.open({ one: ['never-answers'], two: ['plain'] });
    expect(await line.client.request('ping')).toEqual({});
    await line.client.callTool('two__echo', { text: 'x' });
    expect(await line.client.request('ping', {}, { meta: { 'example.com/x': 1 } })).toEqual({});
    const asked = Object.values(line.logs).flatMap((log) => log.of('request').map(({ method }) => method));
    expect(asked).toContain('tools/call');
    expect(asked).not.toContain('ping');
  },
);
