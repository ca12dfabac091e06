import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { connect as connectSocket } from 'node:net';
import type { Socket } from 'node:net';
import { Worker } from 'node:worker_threads';

import { describe, expect, it } from 'vitest';

import { eventually } from '../../../test/support/eventually.ts';
import { TestRoutes } from '../../../test/support/mcp-routes.ts';
import { deferred } from '../../core/lib/deferred.ts';
import { silentLogger } from '../../observability/log.ts';
import { listen } from './listen.ts';
import type { HttpListener } from './listen.ts';

const routes = { handle: () => {} };
const HEALTH_REQUEST = 'GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n';
const LAST_REQUEST = 'GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n';
const impatient = { headersMs: 50, requestMs: 100, keepAliveMs: 50, checkMs: 20 };

/** Opens three connections with one request each; signals when all are sent and posts the status lines. */
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

function open(test: Pick<TestRoutes, 'listener'>, text: string): { socket: Socket; all: Promise<string> } {
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

describe('listener', () => {
  it.each(['127.0.0.1:0', 'localhost:0', '0', ':0', '[::1]:0'])(
    'listener: listens on %s',
    async (address) => {
      await using test = await TestRoutes.start({}, { address });
      expect((await fetch(new URL('/healthz', test.listener.url))).status).toBe(200);
    },
  );

  it('listener: binds a bare port to loopback even with authentication', async () => {
    const listener = await listen({ address: ':0', requiresAuth: true, routes, log: silentLogger });
    expect(listener.url.hostname).toBe('127.0.0.1');
    await listener.close();
  });

  it.each(['0.0.0.0:0', '[::]:0', '192.168.1.4:80', 'example.com:80', '127.0.0.1.example.com:1'])(
    'listener: refuses the non-loopback address %s without authentication',
    async (address) => {
      await expect(listen({ address, routes, log: silentLogger })).rejects.toMatchObject({
        code: 'USAGE',
        message: expect.stringContaining('"keys": true'),
      });
    },
  );

  it('listener: handles pipelined requests in several turns of the event loop', async () => {
    let handled = 0;
    let most = 0;
    let total = 0;
    let mostWaitingBytes = 0;
    const handle = ({ socket }: IncomingMessage, response: ServerResponse): void => {
      total++;
      mostWaitingBytes = Math.max(mostWaitingBytes, socket.bytesRead - total * HEALTH_REQUEST.length);
      if (handled === 0)
        setImmediate(() => {
          most = Math.max(most, handled);
          handled = 0;
        });
      handled++;
      response.end();
    };
    const listener = await listen({ address: ':0', routes: { handle }, log: silentLogger });
    const { all } = open({ listener }, HEALTH_REQUEST.repeat(10_000) + LAST_REQUEST);
    expect((await all).match(/200 OK/g)).toHaveLength(10_001);
    expect(most).toBeLessThanOrEqual(20);
    // Node reads at most 64 kB at a time, and nothing more while requests wait.
    expect(mostWaitingBytes).toBeLessThanOrEqual(2 * 64 * 1024);
    await listener.close();
  });

  it('listener: serves existing connections and rejects new ones after refuse', async () => {
    await using test = await TestRoutes.start();
    const { socket, all } = open(test, '');
    await once(socket, 'connect');
    const refused = test.listener.refuseConnections(5000);
    // Connections that are in the backlog at this moment are still accepted.
    await eventually(async () => {
      await expect(fetch(new URL('/healthz', test.listener.url))).rejects.toThrow('fetch failed');
    });
    socket.write('GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n');
    expect(await all).toContain('200 OK');
    await refused;
  });

  it('refuse: closes a connection whose requests were all answered', async () => {
    await using test = await TestRoutes.start();
    const { socket, all } = open(test, HEALTH_REQUEST);
    await once(socket, 'data');
    await test.listener.refuseConnections(60_000);
    expect(await all).toContain('200 OK');
  });

  it('refuse: answers a request that a used connection has sent half of', async () => {
    await using test = await TestRoutes.start();
    const { socket, all } = open(test, HEALTH_REQUEST);
    await once(socket, 'data');
    socket.write(LAST_REQUEST.slice(0, 20));
    const refused = test.listener.refuseConnections(60_000);
    await eventually(async () => {
      await expect(fetch(new URL('/healthz', test.listener.url))).rejects.toThrow('fetch failed');
    });
    socket.write(LAST_REQUEST.slice(20));
    expect((await all).match(/200 OK/g)).toHaveLength(2);
    await refused;
  });

  it('refuse: waits for the second response where two requests were sent at once', async () => {
    const { promise: pending, resolve: hold } = deferred<ServerResponse>();
    const handle = ({ url }: IncomingMessage, response: ServerResponse): void => {
      if (url === '/slow') hold(response);
      else response.end('fast');
    };
    const listener = await listen({ address: '127.0.0.1:0', routes: { handle }, log: silentLogger });
    const { socket, all } = open({ listener }, HEALTH_REQUEST + LAST_REQUEST.replace('/healthz', '/slow'));
    await once(socket, 'data');
    const refused = listener.refuseConnections(60_000);
    await eventually(async () => {
      await expect(fetch(listener.url)).rejects.toThrow('fetch failed');
    });
    (await pending).end('slow');
    expect(await all).toMatch(/fast[^]*slow/);
    await refused;
    await listener.close();
  });

  it.each(['', ':', '127.0.0.1', '127.0.0.1:99999', '127.0.0.1:x', '::1:80'])(
    'listener: rejects the address "%s"',
    async (address) => {
      await expect(listen({ address, routes, log: silentLogger })).rejects.toMatchObject({ code: 'USAGE' });
    },
  );

  it('listener: names the flag to use when the address is taken', async () => {
    await using test = await TestRoutes.start();
    const address = test.listener.url.host;
    await expect(listen({ address, routes, log: silentLogger })).rejects.toMatchObject({
      code: 'ADDRESS_IN_USE',
      message: `The address ${address} is already in use, perhaps by another Trunkline. Choose another one with --http 127.0.0.1:PORT.`,
    });
  });

  it('listener: names the full address when only a port was given', async () => {
    await using test = await TestRoutes.start();
    const { host, port } = test.listener.url;
    await expect(listen({ address: port, routes, log: silentLogger })).rejects.toMatchObject({
      message: expect.stringMatching(new RegExp(`^The address ${host} is already in use`)) as string,
      details: { address: host },
    });
  });

  it('listener: times out a client that never finishes its headers', async () => {
    await using test = await TestRoutes.start({}, { limits: { ...impatient, requestMs: 60_000 } });
    const { all } = open(test, 'POST /mcp HTTP/1.1\r\nHost: loc');
    expect(await all).toMatch(/^HTTP\/1\.1 408 /);
  });

  it('listener: times out a client that never finishes its body', async () => {
    await using test = await TestRoutes.start({}, { limits: impatient });
    const head = 'POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n';
    const { all } = open(test, `${head}Content-Length: 100\r\n\r\n{`);
    expect(await all).toMatch(/^HTTP\/1\.1 408 /);
  });

  it('listener: disconnects a client that stalls in its body and serves others meanwhile', async () => {
    await using test = await TestRoutes.start({}, { limits: impatient });
    const head = 'POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n';
    const stalled = ['Content-Length: 1000\r\n\r\n', 'Transfer-Encoding: chunked\r\n\r\n3e8\r\n'].map(
      (length) => {
        const { socket, all } = open(test, `${head}${length}{"jsonrpc":"2.0","id":1,`);
        // A few bytes arrive regularly, so the connection is never idle.
        const timer = setInterval(() => socket.writable && socket.write(' '), 10);
        return all.finally(() => clearInterval(timer));
      },
    );
    expect((await fetch(new URL('/healthz', test.listener.url))).status).toBe(200);
    for (const all of stalled) expect(await all).not.toContain('"jsonrpc"');
    expect((await fetch(new URL('/healthz', test.listener.url))).status).toBe(200);
  });

  it('listener: closes idle connections after announcing the keep-alive timeout', async () => {
    await using test = await TestRoutes.start({}, { limits: { ...impatient, keepAliveMs: 1000 } });
    const { all } = open(test, 'GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n');
    expect(await all).toContain('Keep-Alive: timeout=1');
  });

  it('listener: rejects headers that are too large', async () => {
    await using test = await TestRoutes.start({}, { limits: { maxHeaderBytes: 1000 } });
    const { all } = open(test, `GET /healthz HTTP/1.1\r\nHost: localhost\r\nX: ${'x'.repeat(2000)}\r\n\r\n`);
    expect(await all).toMatch(/^HTTP\/1\.1 431 /);
  });

  it('listener: limits the number of connections', async () => {
    await using test = await TestRoutes.start({}, { limits: { maxConnections: 1 } });
    const first = open(test, 'GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n');
    await new Promise((resolve) => first.socket.once('data', resolve));
    expect(await open(test, 'GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n').all).toBe('');
  });

  it('listener: does not apply the request timeout to the response', async () => {
    const late: (() => void)[] = [];
    await using test = await TestRoutes.start(
      { slow: (request) => void late.push(() => request.sendError({ code: 1, message: 'late' })) },
      { limits: impatient },
    );
    const answer = test.modern('slow');
    await new Promise((resolve) => setTimeout(resolve, 250));
    late[0]?.();
    expect((await answer).status).toBe(200);
  });

  it.each([
    ['refuses further connections', (listener: HttpListener) => listener.refuseConnections(5000)],
    ['settles', (listener: HttpListener) => listener.drain({ idleMs: 5000, totalMs: 5000 })],
  ])('listener: serves connections still in the backlog when it %s', async (_how, end) => {
    await using test = await TestRoutes.start();
    const isSent = new Int32Array(new SharedArrayBuffer(4));
    const port = Number(test.listener.url.port);
    const clients = new Worker(CLIENTS, { eval: true, workerData: { port, isSent } });
    const answers = once(clients, 'message');
    // Block this thread until the requests are in the kernel's backlog.
    Atomics.wait(isSent, 0, 0, 10_000);
    const refused = end(test.listener);
    expect(await answers).toEqual([['HTTP/1.1 200 OK', 'HTTP/1.1 200 OK', 'HTTP/1.1 200 OK']]);
    await refused;
    await expect(fetch(test.listener.url)).rejects.toThrow('fetch failed');
    await clients.terminate();
  });

  it('listener: closes used connections when it settles and waits for pending requests', async () => {
    await using test = await TestRoutes.start();
    const used = open(test, 'GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n');
    await once(used.socket, 'data');
    const late = open(test, '');
    await once(late.socket, 'connect');
    const settled = test.listener.drain({ idleMs: 20, totalMs: 10_000 });
    expect(await used.all).toContain('200 OK');
    late.socket.write('GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n');
    expect(await late.all).toContain('200 OK');
    await settled;
  });

  it('listener: stops waiting for silent connections when it settles', async () => {
    await using test = await TestRoutes.start();
    const { socket, all } = open(test, '');
    await once(socket, 'connect');
    await test.listener.drain({ idleMs: 10, totalMs: 20 });
    await test.listener.close();
    expect(await all).toBe('');
  });

  it('listener: closes at once with open connections, any number of times', async () => {
    const test = await TestRoutes.start();
    const { all } = open(test, 'GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n');
    await Promise.all([test.listener.close(), test.listener.close()]);
    await all;
    await expect(fetch(test.listener.url)).rejects.toThrow('fetch failed');
    await test[Symbol.asyncDispose]();
  });
});
