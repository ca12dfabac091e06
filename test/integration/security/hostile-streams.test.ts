import { connect } from 'node:net';

import { expect, test } from 'vitest';

import { waitForValue } from '../../support/eventually.ts';
import { measureEventLoopDelay } from '../../support/event-loop-delay.ts';
import { startGateway } from '../../support/gateway.ts';
import type { RunningGateway } from '../../support/gateway.ts';
import {
  EVENT_STREAM,
  MEBIBYTE,
  gatewayFor,
  growth,
  sendAll,
  startHostileServer,
} from '../../support/hostile-server.ts';
import type { HostileServer } from '../../support/hostile-server.ts';
import { sendRequest } from '../../support/http-requests.ts';
import { modernHeaders, withEnvelope } from '../../support/modern-envelope.ts';
import { checkLeaks } from '../../support/leak-check.ts';

checkLeaks();

const MANY = MEBIBYTE;
/** Without the defences, each attack takes more than twice this much. */
const MAX_GROWTH = 150 * MEBIBYTE;
/** Generous, for a busy machine; without the defence, such a machine took 9 s. The unit test of `readInTurns` is exact. */
const MAX_DELAY_MS = 1000;

test('single bytes: a response in chunks of one byte takes memory in proportion to its size', async () => {
  await using server = await startHostileServer({
    'tools/call': (socket) => sendAll(socket, EVENT_STREAM, '1\r\nx\r\n', MANY),
  });
  await using gateway = await gatewayFor(server);
  expect(await growth(gateway, () => callUntilSent(gateway, server))).toBeLessThan(MAX_GROWTH);
});

test('empty lines: an event of empty data lines takes memory in proportion to its size', async () => {
  const lines = 'data\n'.repeat(1000);
  const chunk = `${lines.length.toString(16)}\r\n${lines}\r\n`;
  await using server = await startHostileServer({
    'tools/call': (socket) => sendAll(socket, EVENT_STREAM, chunk, (6 * MANY) / 1000),
  });
  await using gateway = await gatewayFor(server);
  expect(await growth(gateway, () => callUntilSent(gateway, server))).toBeLessThan(MAX_GROWTH);
});

test('single bytes: a request body in chunks of one byte takes memory in proportion to its size', async () => {
  await using gateway = await startGateway({ mcpServers: {}, listen: 'http' });
  const head =
    'POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n';
  const attack = async (): Promise<void> => {
    const socket = connect(Number(new URL(gateway.url).port), '127.0.0.1').on('error', () => {});
    await sendAll(socket, head, '1\r\n \r\n', MANY);
    await new Promise((resolve) => socket.end('0\r\n\r\n').resume().on('close', resolve));
  };
  expect(await growth(gateway, attack)).toBeLessThan(MAX_GROWTH);
});

test('clients: large descriptions of clients without sessions do not stay in memory', async () => {
  await using gateway = await startGateway({ mcpServers: {}, listen: 'http' });
  const list = async (at: number): Promise<void> => {
    const clientInfo = { name: `${at} ${'x'.repeat(MEBIBYTE)}`, version: '1', more: 'y'.repeat(MEBIBYTE) };
    const params = withEnvelope({}, { clientInfo });
    const headers = { accept: 'application/json, text/event-stream', ...modernHeaders('tools/list', params) };
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list', params });
    expect((await sendRequest(gateway.url, { headers, body })).status).toBe(200);
  };
  const attack = async (): Promise<void> => {
    for (let at = 0; at < 100; at++) await list(at);
  };
  expect(await growth(gateway, attack)).toBeLessThan(MAX_GROWTH);
});

test('requests of a server: one that answers no response to them is disconnected', async () => {
  const ping = 'data: {"jsonrpc":"2.0","id":1,"method":"ping"}\n\n'.repeat(100);
  const chunk = `${ping.length.toString(16)}\r\n${ping}\r\n`;
  await using server = await startHostileServer({
    'tools/call': (socket) => sendAll(socket, EVENT_STREAM, chunk, 100),
    response: () => Promise.resolve(),
  });
  await using gateway = await gatewayFor(server);
  await using client = await gateway.client();
  const result = await client.request('tools/call', { name: 'hostile__tool', arguments: {} });
  expect(JSON.stringify(result)).toContain('does not accept the messages');
});

test('slow server: a response of one byte at a time ends at the timeout of its call, and others are served', async () => {
  await using server = await startSlowServer();
  await using gateway = await startGateway({ mcpServers: slowEntry(server), listen: 'http' });
  await using client = await gateway.client();
  const call = client.request('tools/call', { name: 'hostile__tool', arguments: {} });
  await using other = await gateway.client();
  expect(JSON.stringify(await other.request('tools/list', {}))).toContain('hostile__tool');
  expect(JSON.stringify(await call)).toContain('CALL_TIMEOUT');
});

test(
  'slow server: the connection of a call that timed out is closed although the server keeps sending',
  { tags: ['slow'] },
  async () => {
    await using server = await startSlowServer();
    await using gateway = await startGateway({ mcpServers: slowEntry(server), listen: 'http' });
    await using client = await gateway.client();
    const result = await client.request('tools/call', { name: 'hostile__tool', arguments: {} });
    expect(JSON.stringify(result)).toContain('CALL_TIMEOUT');
    await server.sent;
  },
);

test(
  'flood: a server that writes short lines without end delays nobody else',
  { tags: ['slow'] },
  async () => {
    const script = `
    process.stdin.on('data', () => {});
    const flood = () => { while (process.stdout.write('x\\n'.repeat(30000))); process.stdout.once('drain', flood); };
    flood();`;
    const mcpServers = { flood: { command: process.execPath, args: ['-e', script] } };
    await using gateway = await startGateway({ mcpServers, listen: 'http' });
    await waitForValue(() => gateway.stderr().includes('not JSON-RPC') || undefined, { what: 'The flood' });
    await using delay = await measureEventLoopDelay(gateway);
    for (let count = 0; count < 3; count++) await sendRequest(new URL('/healthz', gateway.url));
    expect(await delay.longestMs()).toBeLessThan(MAX_DELAY_MS);
  },
);

/** Starts a server that answers a call with single bytes until its connection is closed. */
function startSlowServer(): Promise<HostileServer> {
  return startHostileServer({
    'tools/call': (socket) => {
      socket.write(EVENT_STREAM);
      const timer = setInterval(() => socket.write('1\r\nx\r\n'), 100);
      return new Promise((resolve) => {
        socket.once('close', () => {
          clearInterval(timer);
          resolve();
        });
      });
    },
  });
}

function slowEntry(server: HostileServer): Readonly<Record<string, object>> {
  return { hostile: { url: server.url, timeouts: { call: '1s' } } };
}

/** Calls the tool, and returns when the server has sent everything and the gateway has read it. */
async function callUntilSent(gateway: RunningGateway, server: HostileServer): Promise<void> {
  await using client = await gateway.client();
  const call = client.request('tools/call', { name: 'hostile__tool', arguments: {} }).catch(() => {});
  await Promise.race([server.sent, call]);
  await sendRequest(new URL('/healthz', gateway.url));
}
