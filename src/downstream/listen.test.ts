import { once } from 'node:events';
import { connect as connectSocket } from 'node:net';
import type { Socket } from 'node:net';
import { Worker } from 'node:worker_threads';

import { describe, expect, it } from 'vitest';

import { eventually } from '../../test/support/eventually.ts';
import { TestRoutes } from '../../test/support/mcp-routes.ts';
import { silentLogger } from '../observe/log.ts';
import { listen } from './listen.ts';
import type { Listener } from './listen.ts';

const routes = { handle: () => {} };
const impatient = { headersMs: 50, requestMs: 100, keepAliveMs: 50, checkMs: 20 };

/** Three connections with a request each; tells when all are sent, and the first line of what came back. */
const CLIENTS = `
  const { connect } = require('node:net');
  const { parentPort, workerData: { port, isSent } } = require('node:worker_threads');
  let waiting = 3;
  const sent = () => {
    if (--waiting > 0) return;
    Atomics.store(isSent, 0, 1);
    Atomics.notify(isSent, 0);
  };
  const ask = () => new Promise((resolve) => {
    let text = '';
    const socket = connect(port, '127.0.0.1');
    socket.write('GET /healthz HTTP/1.1\\r\\nHost: localhost\\r\\nConnection: close\\r\\n\\r\\n', sent);
    socket.on('data', (chunk) => (text += chunk));
    socket.on('error', (error) => (text = error.code));
    socket.on('close', () => resolve(text.split('\\r\\n')[0]));
  });
  void Promise.all([ask(), ask(), ask()]).then((lines) => parentPort.postMessage(lines));
`;

function open(test: TestRoutes, text: string): { socket: Socket; all: Promise<string> } {
  const socket = connectSocket(Number(test.listener.url.port), '127.0.0.1');
  const all = new Promise<string>((resolve) => {
    let received = '';
    socket.on('data', (chunk) => (received += chunk.toString()));
    socket.on('error', () => {}); // A reset is one way of being cut off.
    socket.on('close', () => resolve(received));
  });
  socket.write(text);
  return { socket, all };
}

describe('listen', () => {
  it.each(['127.0.0.1:0', 'localhost:0', '0', ':0', '[::1]:0'])('listens on %s', async (address) => {
    await using test = await TestRoutes.start({}, { address });
    expect((await fetch(new URL('/healthz', test.listener.url))).status).toBe(200);
  });

  it('on a port alone is reached from this machine only, also where callers are asked who they are', async () => {
    const listener = await listen({ address: ':0', asksWho: true, routes, log: silentLogger });
    expect(listener.url.hostname).toBe('127.0.0.1');
    await listener.close();
  });

  it.each(['0.0.0.0:0', '[::]:0', '192.168.1.4:80', 'example.com:80', '127.0.0.1.example.com:1'])(
    'refuses %s, which others could reach',
    async (address) => {
      await expect(listen({ address, routes, log: silentLogger })).rejects.toMatchObject({
        code: 'USAGE',
        message: expect.stringContaining('"keys": true'),
      });
    },
  );

  it('that refuses serves whoever had connected before, and nobody else', async () => {
    await using test = await TestRoutes.start();
    const { socket, all } = open(test, '');
    await once(socket, 'connect');
    const refused = test.listener.refuse(5000);
    // Those that are on their way in that moment are taken.
    await eventually(async () => {
      await expect(fetch(new URL('/healthz', test.listener.url))).rejects.toThrow('fetch failed');
    });
    socket.write('GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n');
    expect(await all).toContain('200 OK');
    await refused;
  });

  it.each(['', ':', '127.0.0.1', '127.0.0.1:99999', '127.0.0.1:x', '::1:80'])(
    'refuses "%s"',
    async (address) => {
      await expect(listen({ address, routes, log: silentLogger })).rejects.toMatchObject({ code: 'USAGE' });
    },
  );

  it('says which flag helps when the address is taken', async () => {
    await using test = await TestRoutes.start();
    const address = test.listener.url.host;
    await expect(listen({ address, routes, log: silentLogger })).rejects.toMatchObject({
      code: 'ADDRESS_IN_USE',
      message: `The address ${address} is already in use, perhaps by another Trunkline; choose another with --http 127.0.0.1:PORT.`,
    });
  });

  it('names the whole address when only a port was given, since that is where it would listen', async () => {
    await using test = await TestRoutes.start();
    const { host, port } = test.listener.url;
    await expect(listen({ address: port, routes, log: silentLogger })).rejects.toMatchObject({
      message: expect.stringMatching(new RegExp(`^The address ${host} is already in use`)) as string,
      details: { address: host },
    });
  });

  it('cuts off a client that never finishes its headers', async () => {
    await using test = await TestRoutes.start({}, { limits: { ...impatient, requestMs: 60_000 } });
    const { all } = open(test, 'POST /mcp HTTP/1.1\r\nHost: loc');
    expect(await all).toMatch(/^HTTP\/1\.1 408 /);
  });

  it('cuts off a client that never finishes its body', async () => {
    await using test = await TestRoutes.start({}, { limits: impatient });
    const head = 'POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n';
    const { all } = open(test, `${head}Content-Length: 100\r\n\r\n{`);
    expect(await all).toMatch(/^HTTP\/1\.1 408 /);
  });

  it('cuts off a client that stalls in the middle of its body, however it says how long that is, and serves others meanwhile', async () => {
    await using test = await TestRoutes.start({}, { limits: impatient });
    const head = 'POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n';
    const stalled = ['Content-Length: 1000\r\n\r\n', 'Transfer-Encoding: chunked\r\n\r\n3e8\r\n'].map(
      (length) => {
        const { socket, all } = open(test, `${head}${length}{"jsonrpc":"2.0","id":1,`);
        // Some of it comes now and then, so that the connection is never silent for long.
        const timer = setInterval(() => socket.writable && socket.write(' '), 10);
        return all.finally(() => clearInterval(timer));
      },
    );
    expect((await fetch(new URL('/healthz', test.listener.url))).status).toBe(200);
    for (const all of stalled) expect(await all).not.toContain('"jsonrpc"');
    expect((await fetch(new URL('/healthz', test.listener.url))).status).toBe(200);
  });

  it('closes connections that nobody uses, after having said so', async () => {
    await using test = await TestRoutes.start({}, { limits: { ...impatient, keepAliveMs: 1000 } });
    const { all } = open(test, 'GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n');
    expect(await all).toContain('Keep-Alive: timeout=1');
  });

  it('refuses headers that are too large', async () => {
    await using test = await TestRoutes.start({}, { limits: { maxHeaderBytes: 1000 } });
    const { all } = open(test, `GET /healthz HTTP/1.1\r\nHost: localhost\r\nX: ${'x'.repeat(2000)}\r\n\r\n`);
    expect(await all).toMatch(/^HTTP\/1\.1 431 /);
  });

  it('bounds the number of connections', async () => {
    await using test = await TestRoutes.start({}, { limits: { maxConnections: 1 } });
    const first = open(test, 'GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n');
    await new Promise((resolve) => first.socket.once('data', resolve));
    expect(await open(test, 'GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n').all).toBe('');
  });

  it('does not cut off an answer that takes longer than a request may', async () => {
    const late: (() => void)[] = [];
    await using test = await TestRoutes.start(
      { slow: (request) => void late.push(() => request.error({ code: 1, message: 'late' })) },
      { limits: impatient },
    );
    const answer = test.modern('slow');
    await new Promise((resolve) => setTimeout(resolve, 250));
    late[0]?.();
    expect((await answer).status).toBe(200);
  });

  it.each([
    ['refused further connections', (listener: Listener) => listener.refuse(5000)],
    ['settled', (listener: Listener) => listener.settle({ unusedMs: 5000, askingMs: 5000 })],
  ])('serves what came before it %s, also where it had no time to take it yet', async (_how, end) => {
    await using test = await TestRoutes.start();
    const isSent = new Int32Array(new SharedArrayBuffer(4));
    const port = Number(test.listener.url.port);
    const clients = new Worker(CLIENTS, { eval: true, workerData: { port, isSent } });
    const answers = once(clients, 'message');
    // Nothing happens in this thread until the requests lie in the system.
    Atomics.wait(isSent, 0, 0, 10_000);
    const refused = end(test.listener);
    expect(await answers).toEqual([['HTTP/1.1 200 OK', 'HTTP/1.1 200 OK', 'HTTP/1.1 200 OK']]);
    await refused;
    await expect(fetch(test.listener.url)).rejects.toThrow('fetch failed');
    await clients.terminate();
  });

  it('that settles ends what is not used any more, and waits for whoever has not asked yet', async () => {
    await using test = await TestRoutes.start();
    const used = open(test, 'GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n');
    await once(used.socket, 'data');
    const late = open(test, '');
    await once(late.socket, 'connect');
    const settled = test.listener.settle({ unusedMs: 20, askingMs: 10_000 });
    expect(await used.all).toContain('200 OK');
    late.socket.write('GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n');
    expect(await late.all).toContain('200 OK');
    await settled;
  });

  it('that settles waits for nobody who never asks', async () => {
    await using test = await TestRoutes.start();
    const { socket, all } = open(test, '');
    await once(socket, 'connect');
    await test.listener.settle({ unusedMs: 10, askingMs: 20 });
    await test.listener.close();
    expect(await all).toBe('');
  });

  it('closes at once, with connections open, and as often as one likes', async () => {
    const test = await TestRoutes.start();
    const { all } = open(test, 'GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n');
    await Promise.all([test.listener.close(), test.listener.close()]);
    await all;
    await expect(fetch(test.listener.url)).rejects.toThrow('fetch failed');
    await test[Symbol.asyncDispose]();
  });
});
