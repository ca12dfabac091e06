import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { MemoryServer } from '../../test/support/memory-server.ts';
import type { MemoryServerScript } from '../../test/support/memory-server.ts';
import { Cancellation } from '../core/lib/cancellation.ts';
import { deferred } from '../core/lib/deferred.ts';
import type { RequestingClient } from '../core/requesting-client.ts';
import { RpcError } from '../core/errors.ts';
import type { JsonObject } from '../core/json.ts';
import { RpcClient } from './rpc-client.ts';
import type { MessageOrigin, RpcClientHandlers } from './rpc-client.ts';

class HandlerLog implements RpcClientHandlers {
  readonly notifications: (readonly [string, JsonObject | undefined])[] = [];
  readonly invalid: string[] = [];
  /** The result of all requests with the method `wait`. */
  readonly answered = deferred<JsonObject>();
  /** The sessions that each server request may belong to: those with pending and those with abandoned requests. */
  readonly origins: { readonly pending: readonly string[]; readonly abandoned: readonly string[] }[] = [];

  onRequest(
    method: string,
    params: JsonObject | undefined,
    { origin }: { readonly origin: MessageOrigin },
  ): Promise<JsonObject> {
    const sessions = (clients: readonly RequestingClient[]): string[] =>
      clients.map(({ session }) => session);
    this.origins.push({
      pending: sessions(origin.pendingClients),
      abandoned: sessions(origin.abandonedClients),
    });
    if (method === 'refuse') throw new RpcError({ code: -32601, message: 'Unknown.', data: { method } });
    if (method === 'break') throw new TypeError('secret');
    if (method === 'wait') return this.answered.promise;
    return Promise.resolve({ method, ...params });
  }

  onNotification(method: string, params: JsonObject | undefined): void {
    this.notifications.push([method, params]);
  }

  onInvalidMessage(text: string): void {
    this.invalid.push(text);
  }
}

async function connect(
  script?: MemoryServerScript,
): Promise<{ server: MemoryServer; rpcClient: RpcClient; heard: HandlerLog }> {
  const server = new MemoryServer(script);
  const heard = new HandlerLog();
  return { server, rpcClient: await RpcClient.open(server.open, heard), heard };
}

describe('requests', () => {
  test('request: gets the response with its id, in any order', async () => {
    const { server, rpcClient } = await connect();
    const [a, b] = [rpcClient.request('a', { x: 1 }), rpcClient.request('b', undefined)];
    expect(server.received).toEqual([
      { jsonrpc: '2.0', id: 1, method: 'a', params: { x: 1 } },
      { jsonrpc: '2.0', id: 2, method: 'b' },
    ]);
    server.answer(2, { is: 'b' });
    server.answer(1, { is: 'a' });
    expect((await a).value).toEqual({ is: 'a' });
    expect((await b).value).toEqual({ is: 'b' });
  });

  test('request: is not answered by a server request with the same id', async () => {
    const { server, rpcClient } = await connect();
    const call = rpcClient.request('a', undefined);
    server.send({ id: 1, method: 'ping' });
    server.send({ id: 1, method: 'roots/list' });
    await expect.poll(() => server.received.filter(({ result }) => result !== undefined)).toHaveLength(2);
    expect(server.received.slice(1)).toMatchObject([
      { id: 1, result: {} },
      { id: 1, result: { method: 'roots/list' } },
    ]);
    server.answer(1, { is: 'a' });
    expect((await call).value).toEqual({ is: 'a' });
  });

  test('request: gets its own response among many in any order', async () => {
    const orders = fc.integer({ min: 1, max: 30 }).chain((count) =>
      fc.shuffledSubarray(
        Array.from({ length: count }, (_, at) => at + 1),
        { minLength: count },
      ),
    );
    await fc.assert(
      fc.asyncProperty(orders, async (order) => {
        const { server, rpcClient } = await connect();
        const answers = order.map(() => rpcClient.request('x', undefined));
        for (const id of order) server.answer(id, { id });
        const results = await Promise.all(answers);
        expect(results.map(({ value }) => value)).toEqual(answers.map((_, at) => ({ id: at + 1 })));
      }),
      { numRuns: 30 },
    );
  });

  test('request: takes only the first response', async () => {
    const { server, rpcClient } = await connect();
    const answer = rpcClient.request('a', undefined);
    server.answer(1, 'first');
    server.answer(1, 'second');
    expect((await answer).value).toBe('first');
  });

  test('request: accepts a response whose id is a string', async () => {
    const { server, rpcClient } = await connect();
    const answer = rpcClient.request('a', undefined);
    server.answer('1', 'it');
    expect((await answer).value).toBe('it');
  });

  test.each([null, '01', '1.0', 'x', 2, 1.5, -1, true])(
    'request: ignores a response with id %j',
    async (id) => {
      const { server, rpcClient } = await connect();
      const answer = rpcClient.request('a', undefined);
      server.send({ id, result: 'wrong' });
      server.answer(1, 'right');
      expect((await answer).value).toBe('right');
    },
  );

  test("request: fails with the server's error unchanged", async () => {
    const { server, rpcClient } = await connect();
    const answer = rpcClient.request('a', undefined);
    server.send({ id: 1, error: { code: -32002, message: 'no', data: { uri: 'x' }, extra: 1 } });
    const error = await answer.catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(RpcError);
    expect((error as RpcError).body).toEqual({ code: -32002, message: 'no', data: { uri: 'x' }, extra: 1 });
  });

  test('request: fails alone when the transport fails one request', async () => {
    const { server, rpcClient } = await connect();
    const [a, b] = [rpcClient.request('a', undefined), rpcClient.request('b', undefined)];
    server.fail(1, new Error('HTTP 500'));
    server.answer(2, 'fine');
    await expect(a).rejects.toThrow('HTTP 500');
    expect((await b).value).toBe('fine');
    expect(rpcClient.isClosed).toBe(false);
  });

  test('request: fails at once when it cannot be serialized', async () => {
    const { server, rpcClient } = await connect();
    const cancellation = new Cancellation();
    const endless: { self?: unknown } = {};
    endless.self = endless;
    await expect(rpcClient.request('a', { endless }, { cancellation })).rejects.toThrow(TypeError);
    cancellation.cancel(new Error('later'));
    expect(server.received).toEqual([]);
  });
});

describe('request cancellation', () => {
  test('cancellation: rejects the request, notifies the server and ignores a late response', async () => {
    const { server, rpcClient } = await connect();
    const cancellation = new Cancellation();
    const answer = rpcClient.request('a', undefined, { cancellation });
    const reason = new Error('too slow');
    cancellation.cancel(reason);
    await expect(answer).rejects.toBe(reason);
    expect(server.last('notifications/cancelled').params).toEqual({ requestId: 1, reason: 'too slow' });
    server.answer(1, 'late');
  });

  test('cancellation: sends no notification when the transport can abandon the request', async () => {
    const { server, rpcClient } = await connect();
    server.canAbandon = true;
    const cancellation = new Cancellation();
    const answer = rpcClient.request('a', undefined, { cancellation });
    cancellation.cancel(new Error('enough'));
    await expect(answer).rejects.toThrow('enough');
    expect(server.abandoned).toEqual([1]);
    expect(server.methods).toEqual(['a']);
  });

  test('cancellation: sends no notification for initialize', async () => {
    const { server, rpcClient } = await connect();
    const cancellation = new Cancellation();
    const answer = rpcClient.request('initialize', {}, { cancellation });
    cancellation.cancel(new Error('enough'));
    await expect(answer).rejects.toThrow('enough');
    expect(server.methods).toEqual(['initialize']);
  });

  test('cancellation: sends nothing when the request was cancelled before', async () => {
    const { server, rpcClient } = await connect();
    const cancellation = new Cancellation();
    cancellation.cancel(new Error('before'));
    await expect(rpcClient.request('a', undefined, { cancellation })).rejects.toThrow('before');
    expect(server.received).toEqual([]);
  });

  test('cancellation: has no effect after the response', async () => {
    const { server, rpcClient } = await connect();
    const cancellation = new Cancellation();
    const answer = rpcClient.request('a', undefined, { cancellation });
    server.answer(1, 'it');
    cancellation.cancel(new Error('late'));
    expect((await answer).value).toBe('it');
    expect(server.methods).toEqual(['a']);
  });
});

describe('progress', () => {
  test('progress: uses our own token, only if requested, and keeps other metadata', async () => {
    const { server, rpcClient } = await connect();
    void rpcClient.request(
      'a',
      { x: 1, _meta: { traceparent: 't', progressToken: 'theirs' } },
      { onProgress: () => {} },
    );
    void rpcClient.request('b', { x: 1 });
    expect(server.received.map(({ params }) => params)).toEqual([
      { x: 1, _meta: { traceparent: 't', progressToken: 1 } },
      { x: 1 },
    ]);
  });

  test('progress: reaches its request before the response and not afterwards', async () => {
    const { server, rpcClient } = await connect();
    const seen: unknown[] = [];
    const answer = rpcClient.request('a', undefined, {
      onProgress: (progress) => seen.push(progress['progress']),
    });
    const progress = (token: unknown, value: number): void =>
      server.send({ method: 'notifications/progress', params: { progressToken: token, progress: value } });
    progress(1, 1);
    progress('1', 2);
    progress(7, 3);
    progress(undefined, 4);
    server.send({ method: 'notifications/progress' });
    server.answer(1, {});
    progress(1, 5);
    await answer;
    expect(seen).toEqual([1, 2]);
  });
});

describe('unsolicited messages', () => {
  test('notification: is passed to the handler, also from a batch', async () => {
    const { server, heard } = await connect();
    server.send({ method: 'notifications/tools/list_changed' });
    server.send('[{"jsonrpc":"2.0","method":"one"},{"jsonrpc":"2.0","method":"two","params":{"x":1}}]');
    expect(heard.notifications).toEqual([
      ['notifications/tools/list_changed', undefined],
      ['one', undefined],
      ['two', { x: 1 }],
    ]);
  });

  test('garbage: is passed to the handler without failing', async () => {
    const { server, heard } = await connect();
    for (const text of ['Listening on 8080', '{"jsonrpc":"2.0"}', '5']) server.send(text);
    expect(heard.invalid).toEqual(['Listening on 8080', '{"jsonrpc":"2.0"}', '5']);
  });

  test('server request: is answered with a result or an error', async () => {
    const { server } = await connect();
    server.send('{"jsonrpc":"2.0","id":12345678901234567890,"method":"ping"}');
    server.send({ id: 'a', method: 'roots/list', params: { x: 1 } });
    server.send({ id: 'b', method: 'refuse' });
    server.send({ id: 'c', method: 'break' });
    await expect.poll(() => server.texts).toHaveLength(4);
    expect(server.texts[0]).toBe('{"jsonrpc":"2.0","id":12345678901234567890,"result":{}}');
    expect(server.received.slice(1)).toEqual(
      expect.arrayContaining([
        { jsonrpc: '2.0', id: 'a', result: { method: 'roots/list', x: 1 } },
        { jsonrpc: '2.0', id: 'b', error: { code: -32601, message: 'Unknown.', data: { method: 'refuse' } } },
        { jsonrpc: '2.0', id: 'c', error: { code: -32603, message: 'The request failed.' } },
      ]),
    );
  });

  test('server request: is refused while other open requests and it are longer than 32 MiB together', async () => {
    const { server, heard } = await connect();
    const ask = (id: string, mebibytes: number): void =>
      server.send({ id, method: 'wait', params: { text: 'x'.repeat(mebibytes * 1024 * 1024) } });
    ask('alone', 40);
    ask('refused', 0);
    await expect.poll(() => server.received).toMatchObject([{ id: 'refused', error: { code: -32603 } }]);
    heard.answered.resolve({ is: 'answered' });
    await expect.poll(() => server.received).toHaveLength(2);
    ask('later', 20);
    await expect
      .poll(() => server.received.slice(1))
      .toMatchObject([
        { id: 'alone', result: { is: 'answered' } },
        { id: 'later', result: { is: 'answered' } },
      ]);
  });

  test('server request: of a batch counts only with its share of the batch', async () => {
    const { server, heard } = await connect();
    const request = { jsonrpc: '2.0', method: 'wait', params: { text: 'x'.repeat(1024 * 1024) } };
    server.send(JSON.stringify(Array.from({ length: 8 }, (_, id) => ({ ...request, id }))));
    heard.answered.resolve({});
    await expect.poll(() => server.received.filter(({ result }) => result !== undefined)).toHaveLength(8);
  });
});

describe('shutdown', () => {
  test('lost connection: rejects pending and later requests', async () => {
    const { server, rpcClient } = await connect();
    const [a, b] = [rpcClient.request('a', undefined), rpcClient.request('b', undefined)];
    const crash = new Error('gone');
    server.crash(crash);
    for (const answer of [a, b, rpcClient.request('c', undefined)]) await expect(answer).rejects.toBe(crash);
    await expect(rpcClient.closed).resolves.toBe(crash);
    expect(rpcClient.isClosed).toBe(true);
    rpcClient.notify('too-late');
    expect(server.methods).toEqual(['a', 'b']);
  });

  test('lost connection: is detected while the transport is still opening', async () => {
    const server = new MemoryServer();
    const rpcClient = await RpcClient.open(async (events) => {
      const stream = await server.open(events);
      server.crash(new Error('early'));
      return stream;
    }, new HandlerLog());
    await expect(rpcClient.request('a', undefined)).rejects.toThrow('early');
    await expect(rpcClient.closed).resolves.toMatchObject({ message: 'early' });
  });

  test('close: closes the transport and rejects pending requests', async () => {
    const { server, rpcClient } = await connect();
    const failure = rpcClient.request('a', undefined).catch(String);
    await rpcClient[Symbol.asyncDispose]();
    expect(await failure).toContain('The connection was closed.');
    expect(server.closes).toBe(1);
    await expect(rpcClient.closed).resolves.toBeInstanceOf(Error);
  });

  test('lost connection: leaves a server request unanswered', async () => {
    const { server } = await connect();
    server.send({ id: 1, method: 'roots/list' });
    server.crash();
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
    expect(server.received).toEqual([]);
  });
});

describe('origin of server requests', () => {
  const client = (session: string): RequestingClient => ({
    session,
    capabilities: {},
    logLevel: undefined,
    deadline: undefined,
    ask: () => Promise.resolve({}),
    log: () => {},
  });

  test('server request: may stem from a cancelled call until that call is answered', async () => {
    const { server, rpcClient, heard } = await connect();
    const cancellation = new Cancellation();
    const call = rpcClient.request('a', undefined, { requestingClient: client('ann'), cancellation });
    void rpcClient.request('b', undefined, { requestingClient: client('bob') }).catch(() => {});
    server.send({ id: 'q1', method: 'roots/list' });
    cancellation.cancel(new Error('enough'));
    await expect(call).rejects.toThrow('enough');
    server.send({ id: 'q2', method: 'roots/list' });
    server.answer(1, {});
    server.send({ id: 'q3', method: 'roots/list' });
    expect(heard.origins).toEqual([
      { pending: ['ann', 'bob'], abandoned: [] },
      { pending: ['bob'], abandoned: ['ann'] },
      { pending: ['bob'], abandoned: [] },
    ]);
  });
});
