import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { MemoryServer } from '../../test/support/memory-server.ts';
import type { Script } from '../../test/support/memory-server.ts';
import { Cancellation } from '../lib/cancellation.ts';
import type { ClientBehind } from '../model/client-behind.ts';
import { RpcError } from '../model/errors.ts';
import type { JsonObject } from '../model/json.ts';
import { Peer } from './peer.ts';
import type { Origin, PeerHandlers } from './peer.ts';

class Heard implements PeerHandlers {
  readonly notifications: (readonly [string, JsonObject | undefined])[] = [];
  readonly skipped: string[] = [];
  /** Whose each question may have been: of those that wait, and of those that gave up. */
  readonly origins: { readonly waiting: readonly string[]; readonly givenUp: readonly string[] }[] = [];

  request(
    method: string,
    params: JsonObject | undefined,
    { origin }: { readonly origin: Origin },
  ): Promise<JsonObject> {
    const sessions = (of: readonly ClientBehind[]): string[] => of.map(({ session }) => session);
    this.origins.push({ waiting: sessions(origin.waiting), givenUp: sessions(origin.givenUp) });
    if (method === 'refuse') throw new RpcError({ code: -32601, message: 'Unknown.', data: { method } });
    if (method === 'break') throw new TypeError('secret');
    return Promise.resolve({ method, ...params });
  }

  notification(method: string, params: JsonObject | undefined): void {
    this.notifications.push([method, params]);
  }

  garbage(text: string): void {
    this.skipped.push(text);
  }
}

async function connect(script?: Script): Promise<{ server: MemoryServer; peer: Peer; heard: Heard }> {
  const server = new MemoryServer(script);
  const heard = new Heard();
  return { server, peer: await Peer.over(server.open, heard), heard };
}

describe('requests of a peer', () => {
  test('get the answer with their id, in whatever order answers come', async () => {
    const { server, peer } = await connect();
    const [a, b] = [peer.request('a', { x: 1 }), peer.request('b', undefined)];
    expect(server.heard).toEqual([
      { jsonrpc: '2.0', id: 1, method: 'a', params: { x: 1 } },
      { jsonrpc: '2.0', id: 2, method: 'b' },
    ]);
    server.answer(2, { is: 'b' });
    server.answer(1, { is: 'a' });
    expect((await a).value).toEqual({ is: 'a' });
    expect((await b).value).toEqual({ is: 'b' });
  });

  test('are not answered by a request of the server that has the same id', async () => {
    const { server, peer } = await connect();
    const call = peer.request('a', undefined);
    server.say({ id: 1, method: 'ping' });
    server.say({ id: 1, method: 'roots/list' });
    await expect.poll(() => server.heard.filter(({ result }) => result !== undefined)).toHaveLength(2);
    expect(server.heard.slice(1)).toMatchObject([
      { id: 1, result: {} },
      { id: 1, result: { method: 'roots/list' } },
    ]);
    server.answer(1, { is: 'a' });
    expect((await call).value).toEqual({ is: 'a' });
  });

  test('are all answered, each with its own, whatever the order', async () => {
    const orders = fc.integer({ min: 1, max: 30 }).chain((count) =>
      fc.shuffledSubarray(
        Array.from({ length: count }, (_, at) => at + 1),
        { minLength: count },
      ),
    );
    await fc.assert(
      fc.asyncProperty(orders, async (order) => {
        const { server, peer } = await connect();
        const answers = order.map(() => peer.request('x', undefined));
        for (const id of order) server.answer(id, { id });
        const results = await Promise.all(answers);
        expect(results.map(({ value }) => value)).toEqual(answers.map((_, at) => ({ id: at + 1 })));
      }),
      { numRuns: 30 },
    );
  });

  test('take the first answer only', async () => {
    const { server, peer } = await connect();
    const answer = peer.request('a', undefined);
    server.answer(1, 'first');
    server.answer(1, 'second');
    expect((await answer).value).toBe('first');
  });

  test('understand a server that gives numbers back as text', async () => {
    const { server, peer } = await connect();
    const answer = peer.request('a', undefined);
    server.answer('1', 'it');
    expect((await answer).value).toBe('it');
  });

  test.each([null, '01', '1.0', 'x', 2, 1.5, -1, true])('are not answered by the id %j', async (id) => {
    const { server, peer } = await connect();
    const answer = peer.request('a', undefined);
    server.say({ id, result: 'wrong' });
    server.answer(1, 'right');
    expect((await answer).value).toBe('right');
  });

  test('fail with the error of the server as it came', async () => {
    const { server, peer } = await connect();
    const answer = peer.request('a', undefined);
    server.say({ id: 1, error: { code: -32002, message: 'no', data: { uri: 'x' }, extra: 1 } });
    const error = await answer.catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(RpcError);
    expect((error as RpcError).body).toEqual({ code: -32002, message: 'no', data: { uri: 'x' }, extra: 1 });
  });

  test('fail alone when the stream gives up one exchange', async () => {
    const { server, peer } = await connect();
    const [a, b] = [peer.request('a', undefined), peer.request('b', undefined)];
    server.fail(1, new Error('HTTP 500'));
    server.answer(2, 'fine');
    await expect(a).rejects.toThrow('HTTP 500');
    expect((await b).value).toBe('fine');
    expect(peer.isClosed).toBe(false);
  });

  test('fail at once when they cannot be written, and leave nothing behind', async () => {
    const { server, peer } = await connect();
    const cancellation = new Cancellation();
    const endless: { self?: unknown } = {};
    endless.self = endless;
    await expect(peer.request('a', { endless }, { cancellation })).rejects.toThrow(TypeError);
    cancellation.cancel(new Error('later'));
    expect(server.heard).toEqual([]);
  });
});

describe('cancelling a request', () => {
  test('rejects it with the reason, tells the server and ignores a late answer', async () => {
    const { server, peer } = await connect();
    const cancellation = new Cancellation();
    const answer = peer.request('a', undefined, { cancellation });
    const reason = new Error('too slow');
    cancellation.cancel(reason);
    await expect(answer).rejects.toBe(reason);
    expect(server.last('notifications/cancelled').params).toEqual({ requestId: 1, reason: 'too slow' });
    server.answer(1, 'late');
  });

  test('needs no notification where giving up the exchange says it', async () => {
    const { server, peer } = await connect();
    server.canAbandon = true;
    const cancellation = new Cancellation();
    const answer = peer.request('a', undefined, { cancellation });
    cancellation.cancel(new Error('enough'));
    await expect(answer).rejects.toThrow('enough');
    expect(server.abandoned).toEqual([1]);
    expect(server.methods).toEqual(['a']);
  });

  test('is not told about initialize, which the protocol forbids to cancel', async () => {
    const { server, peer } = await connect();
    const cancellation = new Cancellation();
    const answer = peer.request('initialize', {}, { cancellation });
    cancellation.cancel(new Error('enough'));
    await expect(answer).rejects.toThrow('enough');
    expect(server.methods).toEqual(['initialize']);
  });

  test('sends nothing at all when it was cancelled before', async () => {
    const { server, peer } = await connect();
    const cancellation = new Cancellation();
    cancellation.cancel(new Error('before'));
    await expect(peer.request('a', undefined, { cancellation })).rejects.toThrow('before');
    expect(server.heard).toEqual([]);
  });

  test('means nothing after the answer', async () => {
    const { server, peer } = await connect();
    const cancellation = new Cancellation();
    const answer = peer.request('a', undefined, { cancellation });
    server.answer(1, 'it');
    cancellation.cancel(new Error('late'));
    expect((await answer).value).toBe('it');
    expect(server.methods).toEqual(['a']);
  });
});

describe('progress', () => {
  test('comes with a token of ours, only where somebody wants it, and keeps other metadata', async () => {
    const { server, peer } = await connect();
    void peer.request(
      'a',
      { x: 1, _meta: { traceparent: 't', progressToken: 'theirs' } },
      { onProgress: () => {} },
    );
    void peer.request('b', { x: 1 });
    expect(server.heard.map(({ params }) => params)).toEqual([
      { x: 1, _meta: { traceparent: 't', progressToken: 1 } },
      { x: 1 },
    ]);
  });

  test('reaches its request although it comes in the same breath as the answer, and not after it', async () => {
    const { server, peer } = await connect();
    const seen: unknown[] = [];
    const answer = peer.request('a', undefined, {
      onProgress: (progress) => seen.push(progress['progress']),
    });
    const progress = (token: unknown, value: number): void =>
      server.say({ method: 'notifications/progress', params: { progressToken: token, progress: value } });
    progress(1, 1);
    progress('1', 2);
    progress(7, 3);
    progress(undefined, 4);
    server.say({ method: 'notifications/progress' });
    server.answer(1, {});
    progress(1, 5);
    await answer;
    expect(seen).toEqual([1, 2]);
  });
});

describe('what a server says unasked', () => {
  test('goes to the one who listens', async () => {
    const { server, heard } = await connect();
    server.say({ method: 'notifications/tools/list_changed' });
    server.say('[{"jsonrpc":"2.0","method":"one"},{"jsonrpc":"2.0","method":"two","params":{"x":1}}]');
    expect(heard.notifications).toEqual([
      ['notifications/tools/list_changed', undefined],
      ['one', undefined],
      ['two', { x: 1 }],
    ]);
  });

  test('is skipped where it is no message', async () => {
    const { server, heard } = await connect();
    for (const text of ['Listening on 8080', '{"jsonrpc":"2.0"}', '5']) server.say(text);
    expect(heard.skipped).toEqual(['Listening on 8080', '{"jsonrpc":"2.0"}', '5']);
  });

  test('is answered where it asks', async () => {
    const { server } = await connect();
    server.say('{"jsonrpc":"2.0","id":12345678901234567890,"method":"ping"}');
    server.say({ id: 'a', method: 'roots/list', params: { x: 1 } });
    server.say({ id: 'b', method: 'refuse' });
    server.say({ id: 'c', method: 'break' });
    await expect.poll(() => server.texts).toHaveLength(4);
    expect(server.texts[0]).toBe('{"jsonrpc":"2.0","id":12345678901234567890,"result":{}}');
    expect(server.heard.slice(1)).toEqual(
      expect.arrayContaining([
        { jsonrpc: '2.0', id: 'a', result: { method: 'roots/list', x: 1 } },
        { jsonrpc: '2.0', id: 'b', error: { code: -32601, message: 'Unknown.', data: { method: 'refuse' } } },
        { jsonrpc: '2.0', id: 'c', error: { code: -32603, message: 'The request failed.' } },
      ]),
    );
  });
});

describe('the end of a peer', () => {
  test('fails everything that waits and everything that comes', async () => {
    const { server, peer } = await connect();
    const [a, b] = [peer.request('a', undefined), peer.request('b', undefined)];
    const crash = new Error('gone');
    server.crash(crash);
    for (const answer of [a, b, peer.request('c', undefined)]) await expect(answer).rejects.toBe(crash);
    await expect(peer.closed).resolves.toBe(crash);
    expect(peer.isClosed).toBe(true);
    peer.notify('too-late');
    expect(server.methods).toEqual(['a', 'b']);
  });

  test('is noticed although it came while the stream was opened', async () => {
    const server = new MemoryServer();
    const peer = await Peer.over(async (events) => {
      const stream = await server.open(events);
      server.crash(new Error('early'));
      return stream;
    }, new Heard());
    await expect(peer.request('a', undefined)).rejects.toThrow('early');
    await expect(peer.closed).resolves.toMatchObject({ message: 'early' });
  });

  test('closes the stream and fails what waits', async () => {
    const { server, peer } = await connect();
    const failure = peer.request('a', undefined).catch(String);
    await peer[Symbol.asyncDispose]();
    expect(await failure).toContain('The connection was closed.');
    expect(server.closes).toBe(1);
    await expect(peer.closed).resolves.toBeInstanceOf(Error);
  });

  test('leaves a question of the server unanswered', async () => {
    const { server } = await connect();
    server.say({ id: 1, method: 'roots/list' });
    server.crash();
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
    expect(server.heard).toEqual([]);
  });
});

describe('a question of the server', () => {
  const client = (session: string): ClientBehind => ({
    session,
    capabilities: {},
    logLevel: undefined,
    limit: undefined,
    ask: () => Promise.resolve({}),
    log: () => {},
  });

  test('may be about a call that was given up, until that is answered after all', async () => {
    const { server, peer, heard } = await connect();
    const cancellation = new Cancellation();
    const call = peer.request('a', undefined, { behind: client('ann'), cancellation });
    void peer.request('b', undefined, { behind: client('bob') }).catch(() => {});
    server.say({ id: 'q1', method: 'roots/list' });
    cancellation.cancel(new Error('enough'));
    await expect(call).rejects.toThrow('enough');
    server.say({ id: 'q2', method: 'roots/list' });
    server.answer(1, {});
    server.say({ id: 'q3', method: 'roots/list' });
    expect(heard.origins).toEqual([
      { waiting: ['ann', 'bob'], givenUp: [] },
      { waiting: ['bob'], givenUp: ['ann'] },
      { waiting: ['bob'], givenUp: [] },
    ]);
  });
});
