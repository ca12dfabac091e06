import { describe, expect, it } from 'vitest';

import { eventually } from '../../../test/support/eventually.ts';
import { TestRoutes } from '../../../test/support/mcp-routes.ts';
import type { Stream } from '../../../test/support/mcp-routes.ts';
import { Payload } from '../../core/lib/payload.ts';
import type { IncomingRequest } from '../../protocol/client-connection.ts';

const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: {} };
const step = (progress: number) => ({ progressToken: 't', progress });

/** Starts routes whose calls the test answers, and opens a session. */
async function begin(options: { readonly resumeMs?: number; readonly keepAliveMs?: number } = {}) {
  const held: IncomingRequest[] = [];
  const test = await TestRoutes.start({ 'tools/call': (request) => void held.push(request) }, options);
  const headers = await test.session();
  const post = (): Promise<Stream> =>
    test.stream('POST', '/mcp', { headers, body: JSON.stringify({ ...call, id: held.length + 1 }) });
  const get = (lastEvent: string): Promise<Stream> =>
    test.stream('GET', '/mcp', { headers: { ...headers, 'last-event-id': lastEvent } });
  return { test, headers, held, post, get };
}

/** Sends a POST, waits for its first progress and cuts the connection. */
async function cutAfterProgress(line: Awaited<ReturnType<typeof begin>>): Promise<string> {
  const before = line.held.length;
  const opening = line.post();
  await eventually(() => line.held.length > before);
  const request = line.held.at(-1)!;
  request.notify('notifications/progress', step(1));
  const stream = await opening;
  const { id } = (await stream.events.waitFor(() => true)) as { readonly id?: string };
  await stream[Symbol.asyncDispose]();
  await eventually(() => stream.message.destroyed);
  return String(id);
}

const shown = ({ events }: Stream) =>
  events.all.map(({ data }) => {
    const { result, params } = JSON.parse(data) as { result?: unknown; params?: { progress: number } };
    return result ?? params?.progress;
  });

describe('broken response streams', () => {
  it('stream resume: continues after the last event, including the response', async () => {
    const line = await begin();
    await using _test = line.test;
    const last = await cutAfterProgress(line);
    line.held[0]?.notify('notifications/progress', step(2));
    const resumed = await line.get(last);
    line.held[0]?.notify('notifications/progress', step(3));
    line.held[0]?.sendResult(Payload.of({ done: true }));
    await resumed.ended;
    expect(shown(resumed)).toEqual([2, 3, { done: true }]);
    expect(line.held[0]?.cancellation.reason).toBeUndefined();
  });

  it('stream resume: delivers a response that was given meanwhile and ends', async () => {
    const line = await begin();
    await using _test = line.test;
    const last = await cutAfterProgress(line);
    line.held[0]?.sendResult(Payload.of({ done: true }));
    const resumed = await line.get(last);
    await resumed.ended;
    expect(shown(resumed)).toEqual([{ done: true }]);
  });

  it('stream resume: works repeatedly', async () => {
    const line = await begin();
    await using _test = line.test;
    let last = await cutAfterProgress(line);
    for (let at = 2; at < 5; at++) {
      const resumed = await line.get(last);
      line.held[0]?.notify('notifications/progress', step(at));
      const { id } = (await resumed.events.waitFor(({ data }) => data.includes(`"progress":${at}`))) as {
        readonly id?: string;
      };
      last = String(id);
      await resumed[Symbol.asyncDispose]();
    }
    line.held[0]?.sendResult(Payload.of({ done: true }));
    const resumed = await line.get(last);
    await resumed.ended;
    expect(shown(resumed)).toEqual([{ done: true }]);
  });

  it('stream resume: works before the old connection is known to be dead', async () => {
    const line = await begin({ resumeMs: 1 });
    await using _test = line.test;
    const opening = line.post();
    await eventually(() => line.held.length > 0);
    line.held[0]?.notify('notifications/progress', step(1));
    const old = await opening;
    const { id } = (await old.events.waitFor(() => true)) as { readonly id?: string };
    const first = await line.get(String(id));
    const second = await line.get(String(id));
    await old.ended;
    await first.ended;
    // The end of the two older connections must not count as a disconnect.
    for (let round = 0; round < 10; round++)
      await line.test.post({ jsonrpc: '2.0', id: 9, method: 'ping' }, line.headers);
    line.held[0]?.sendResult(Payload.of({ done: true }));
    await second.ended;
    expect(shown(second)).toEqual([{ done: true }]);
  });

  it('stream resume: expires after a timeout, which cancels the call', async () => {
    const line = await begin({ resumeMs: 20 });
    await using _test = line.test;
    const last = await cutAfterProgress(line);
    await eventually(() => line.held[0]?.cancellation.reason !== undefined);
    const after = await line.test.send('GET', '/mcp', {
      headers: { ...line.headers, 'last-event-id': last, accept: 'text/event-stream' },
    });
    expect(after.status).toBe(405);
  });

  it('stream resume: is not awaited when the client has no event id', async () => {
    const line = await begin();
    await using _test = line.test;
    const controller = new AbortController();
    const sent = fetch(line.test.url, {
      method: 'POST',
      signal: controller.signal,
      headers: {
        ...line.headers,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
      },
      body: JSON.stringify(call),
    }).catch(() => {});
    await eventually(() => line.held.length > 0);
    controller.abort();
    await sent;
    await eventually(() => expect(line.held[0]?.cancellation.reason).toBeDefined());
  });

  it('stream resume: works from an event without data', async () => {
    const line = await begin({ keepAliveMs: 5 });
    await using _test = line.test;
    const stream = await line.post();
    const { id, data } = (await stream.events.waitFor(() => true)) as {
      readonly id?: string;
      readonly data: string;
    };
    expect(data).toBe('');
    await stream[Symbol.asyncDispose]();
    const resumed = await line.get(String(id));
    line.held[0]?.sendResult(Payload.of({ done: true }));
    await resumed.ended;
    expect(shown(resumed)).toEqual([{ done: true }]);
  });
});

describe('isolation of resumed streams', () => {
  it('stream resume: delivers to each request only its own messages', async () => {
    const line = await begin();
    await using _test = line.test;
    const one = await cutAfterProgress(line);
    const two = await cutAfterProgress(line);
    line.held[0]?.sendResult(Payload.of({ of: 'one' }));
    line.held[1]?.sendResult(Payload.of({ of: 'two' }));
    const [first, second] = [await line.get(one), await line.get(two)];
    await Promise.all([first.ended, second.ended]);
    expect([shown(first), shown(second)]).toEqual([[{ of: 'one' }], [{ of: 'two' }]]);
  });

  it('stream resume: reveals nothing to another session', async () => {
    const line = await begin();
    await using _test = line.test;
    const last = await cutAfterProgress(line);
    line.held[0]?.sendResult(Payload.of({ secret: true }));
    const other = await line.test.session();
    await using stream = await line.test.stream('GET', '/mcp', {
      headers: { ...other, 'last-event-id': last },
    });
    line.test.connections[1]?.channel.notify('notifications/tools/list_changed', undefined);
    await stream.events.waitFor(() => true);
    expect(stream.events.all.map(({ data }) => data).join()).not.toContain('secret');
  });

  it('stream resume: replays what the standalone stream missed, each message once', async () => {
    const line = await begin();
    await using _test = line.test;
    const { channel } = line.test.connections[0]!;
    const first = await line.test.stream('GET', '/mcp', { headers: line.headers });
    channel.notify('notifications/resources/updated', { uri: 'a' });
    const { id } = (await first.events.waitFor(() => true)) as { readonly id?: string };
    await first[Symbol.asyncDispose]();
    channel.notify('notifications/resources/updated', { uri: 'b' });
    channel.notify('notifications/tools/list_changed', undefined);
    await using again = await line.get(String(id));
    channel.notify('notifications/resources/updated', { uri: 'c' });
    await again.events.waitFor(({ data }) => data.includes('"c"'));
    const told = again.events.all.map(({ data }) => JSON.parse(data) as { method: string; params?: object });
    expect(told.map(({ method, params }) => [method.split('/').at(-1), params])).toEqual([
      ['updated', { uri: 'b' }],
      ['list_changed', undefined],
      ['updated', { uri: 'c' }],
    ]);
  });
});
