import { PassThrough } from 'node:stream';

import { describe, expect, test } from 'vitest';

import { Payload } from '../../core/lib/payload.ts';
import type { JsonObject } from '../../core/json.ts';
import { StdioServerTransport } from './stdio-server-transport.ts';
import type { IncomingRequest } from '../client-connection.ts';

class Client {
  readonly stdin = new PassThrough();
  readonly stdout = new PassThrough();
  readonly requests: IncomingRequest[] = [];
  readonly notifications: string[] = [];
  readonly responses: unknown[] = [];
  closes = 0;
  ends = 0;
  readonly stdio: StdioServerTransport;
  #output = '';

  constructor(maxMessageBytes = 1000) {
    this.stdout.on('data', (chunk: Buffer) => (this.#output += chunk.toString('utf8')));
    this.stdio = new StdioServerTransport({
      stdin: this.stdin,
      stdout: this.stdout,
      connect: () => ({
        handleRequest: (request) => void this.requests.push(request),
        handleNotification: (method) => void this.notifications.push(method),
        handleResponse: ({ id }) => void this.responses.push(id),
        close: () => void this.closes++,
      }),
      maxMessageBytes,
      maxUnsentBytes: 4 * maxMessageBytes,
      onEnd: () => void this.ends++,
    });
  }

  async say(...messages: readonly (object | string)[]): Promise<void> {
    for (const message of messages) {
      this.stdin.write(
        `${typeof message === 'string' ? message : JSON.stringify({ jsonrpc: '2.0', ...message })}\n`,
      );
    }
    await tick();
  }

  /** Everything that was written so far, one message a line. */
  async output(): Promise<readonly JsonObject[]> {
    await tick();
    return this.#output
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line) as JsonObject);
  }

  get text(): string {
    return this.#output;
  }
}

describe('stdio client', () => {
  test("stdio: answers requests under the client's own ids", async () => {
    const client = new Client();
    await client.say('{"jsonrpc":"2.0","id":12345678901234567890,"method":"a"}', {
      id: 'b',
      method: 'b',
      params: { x: 1 },
    });
    expect(client.requests.map(({ method, params }) => [method, params])).toEqual([
      ['a', undefined],
      ['b', { x: 1 }],
    ]);
    expect(client.stdio.inFlight).toBe(2);
    client.requests[1]!.sendError({ code: -1, message: 'no' });
    client.requests[0]!.sendResult(Payload.of({ y: 2 }));
    expect(await client.output()).toHaveLength(2);
    expect(client.text).toBe(
      '{"jsonrpc":"2.0","id":"b","error":{"code":-1,"message":"no"}}\n' +
        '{"jsonrpc":"2.0","id":12345678901234567890,"result":{"y":2}}\n',
    );
    expect(client.stdio.inFlight).toBe(0);
  });

  test('stdio: answers a request once', async () => {
    const client = new Client();
    await client.say({ id: 1, method: 'a' });
    const [request] = client.requests;
    request!.sendResult(Payload.of(1));
    request!.sendResult(Payload.of(2));
    request!.sendError({ code: 1, message: '' });
    request!.notify('late', undefined);
    expect(await client.output()).toEqual([{ jsonrpc: '2.0', id: 1, result: 1 }]);
  });

  test('stdio: sends notifications within a request and outside of any', async () => {
    const client = new Client();
    await client.say({ id: 1, method: 'a' });
    client.requests[0]!.notify('notifications/progress', { progress: 1 });
    client.stdio.notify('notifications/tools/list_changed', undefined);
    expect(await client.output()).toEqual([
      { jsonrpc: '2.0', method: 'notifications/progress', params: { progress: 1 } },
      { jsonrpc: '2.0', method: 'notifications/tools/list_changed' },
    ]);
  });

  test('stdio: cancels a request and sends no response to it', async () => {
    const client = new Client();
    await client.say({ id: 1, method: 'a' }, { id: '1', method: 'b' });
    await client.say({ method: 'notifications/cancelled', params: { requestId: 1, reason: 'no time' } });
    const [a, b] = client.requests;
    expect(a!.cancellation.reason?.message).toContain('no time');
    expect(b!.cancellation.reason).toBeUndefined();
    a!.sendResult(Payload.of({}));
    expect(await client.output()).toEqual([]);
    expect(client.stdio.inFlight).toBe(1);
  });

  test('stdio: ignores the cancellation of unknown or answered requests', async () => {
    const client = new Client();
    await client.say({ id: 1, method: 'a' });
    client.requests[0]!.sendResult(Payload.of({}));
    for (const params of [{ requestId: 1 }, { requestId: 9 }, { requestId: null }, {}, undefined]) {
      await client.say({ method: 'notifications/cancelled', params });
    }
    expect(client.requests[0]!.cancellation.reason).toBeUndefined();
    expect(client.notifications).toHaveLength(5);
  });

  test('stdio: reports invalid messages and continues', async () => {
    const client = new Client(100);
    await client.say('not JSON', { id: 7, method: 5 }, `"${'x'.repeat(200)}"`, { id: 8, method: 'fine' });
    expect(await client.output()).toMatchObject([
      { id: null, error: { code: -32700 } },
      { id: 7, error: { code: -32600 } },
      { id: null, error: { code: -32600 } },
    ]);
    expect(client.requests).toHaveLength(1);
  });

  test('stdio: passes on responses to our requests', async () => {
    const client = new Client();
    await client.say({ id: 1, result: {} }, { id: 2, error: { code: 1, message: 'no' } });
    expect(client.responses).toEqual([1, 2]);
    expect(await client.output()).toEqual([]);
  });
});

describe('batches', () => {
  const batch = '[{"jsonrpc":"2.0","id":2,"method":"a"},{"jsonrpc":"2.0","id":3,"method":"b"}]';

  async function agreed(version: string): Promise<Client> {
    const client = new Client();
    await client.say({ id: 1, method: 'initialize' });
    client.requests[0]!.sendResult(Payload.of({ protocolVersion: version }));
    return client;
  }

  test('batch: is accepted in protocol version 2025-03-26', async () => {
    const client = await agreed('2025-03-26');
    await client.say(batch);
    expect(client.requests.map(({ method }) => method)).toEqual(['initialize', 'a', 'b']);
  });

  test.each(['2024-11-05', '2025-06-18', '2025-11-25'])(
    'batch: is rejected in protocol version %s',
    async (version) => {
      const client = await agreed(version);
      await client.say(batch);
      expect(client.requests).toHaveLength(1);
      expect((await client.output()).at(-1)).toMatchObject({ id: null, error: { code: -32600 } });
    },
  );

  test('batch: is rejected before initialize and when empty', async () => {
    const client = new Client();
    await client.say(batch);
    expect(await client.output()).toMatchObject([{ id: null, error: { code: -32600 } }]);
    const late = await agreed('2025-03-26');
    await late.say('[]');
    expect((await late.output()).at(-1)).toMatchObject({ id: null, error: { code: -32600 } });
  });
});

describe('end of a stdio client', () => {
  test('stdio: ends when the client closes the input, after the last line', async () => {
    const client = new Client();
    client.stdin.end('{"jsonrpc":"2.0","method":"last"}');
    await tick();
    expect(client.notifications).toEqual(['last']);
    expect(client.ends).toBe(1);
  });

  test('stdio: cancels running requests when the output breaks', async () => {
    const client = new Client();
    await client.say({ id: 1, method: 'a' });
    client.stdout.destroy(new Error('EPIPE'));
    await tick();
    expect(client.ends).toBe(1);
    expect(client.requests[0]!.cancellation.reason).toMatchObject({ code: 'CALL_CANCELLED' });
    expect(client.stdio.inFlight).toBe(0);
  });

  test('stdio: ends when the client does not read its output', async () => {
    const client = new Client(10_000);
    client.stdout.pause();
    for (let at = 0; at < 5; at++) {
      client.stdio.notify('x', { text: 'x'.repeat(30_000) });
      await tick();
    }
    expect(client.ends).toBe(1);
  });

  test('stdio: writes pending responses on close', async () => {
    const client = new Client();
    await client.say({ id: 1, method: 'a' });
    client.requests[0]!.sendResult(Payload.of({ last: true }));
    client.stdio.close();
    expect(client.closes).toBe(1);
    expect(await client.output()).toMatchObject([{ result: { last: true } }]);
  });
});

function tick(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}
