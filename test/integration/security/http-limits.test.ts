import { request } from 'node:http';
import type { IncomingMessage } from 'node:http';
import { connect } from 'node:net';

import { expect, test } from 'vitest';

import {
  addKey,
  sendRequest,
  initializeBody,
  startGatewayWithAuth,
  listToolNamesAt,
} from '../../support/http-requests.ts';
import { checkLeaks } from '../../support/leak-check.ts';

checkLeaks();

const BODY_BYTES = 64 * 1024;
const startup = { listWait: '60s' };

/** What the other side says to these bytes, until it closes. */
function answerTo(url: string, parts: readonly string[], everyMs = 0): Promise<string> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve) => {
    const socket = connect(Number(port), hostname);
    let text = '';
    let at = 0;
    const send = (): void => void (at < parts.length && socket.write(parts[at++] ?? ''));
    const timer = setInterval(send, everyMs);
    socket.on('connect', send).on('data', (chunk) => (text += String(chunk)));
    socket.on('error', () => {}); // A reset is one way of being cut off.
    socket.on('close', () => {
      clearInterval(timer);
      resolve(text);
    });
  });
}

const head = (...lines: readonly string[]): string =>
  ['POST /mcp HTTP/1.1', 'Host: 127.0.0.1', 'Content-Type: application/json', ...lines, '', ''].join('\r\n');

test('HTTP limits: reject oversized bodies, headers and batches', async () => {
  await using gateway = await startGatewayWithAuth({ startup, http: { maxBodyBytes: BODY_BYTES } });
  const { url } = gateway;
  const padded = (bytes: number): string => initializeBody.padEnd(bytes, ' ');
  expect((await sendRequest(url, { body: padded(BODY_BYTES) })).status).toBe(200);
  expect((await sendRequest(url, { body: padded(BODY_BYTES + 1) })).status).toBe(413);
  const chunk = `4000\r\n${' '.repeat(0x4000)}\r\n`;
  const chunked = await answerTo(url, [
    head('Transfer-Encoding: chunked'),
    ...Array<string>(6).fill(chunk),
    '0\r\n\r\n',
  ]);
  expect(chunked).toMatch(/^HTTP\/1\.1 413 /);
  const long = await answerTo(url, [head(`X-Long: ${'x'.repeat(17 * 1024)}`, 'Content-Length: 0')]);
  expect(long).toMatch(/^HTTP\/1\.1 431 /);
  const many = await answerTo(url, [head(...Array.from({ length: 3000 }, (_, n) => `X-${n}: 1`))]);
  expect(many).toMatch(/^HTTP\/1\.1 4\d\d /);
  for (const [version, count, status] of [
    ['2025-03-26', 100, 200],
    ['2025-03-26', 101, 400],
    ['2025-11-25', 2, 400],
  ] as const) {
    const opened = await sendRequest(url, { body: initializeBody.replace('2025-11-25', version) });
    const headers = { 'mcp-session-id': String(opened.headers['mcp-session-id']) };
    const ping = (id: number) => ({ jsonrpc: '2.0', id, method: 'ping' });
    const body = JSON.stringify(Array.from({ length: count }, (_, id) => ping(id)));
    expect([version, count, (await sendRequest(url, { headers, body })).status]).toEqual([
      version,
      count,
      status,
    ]);
  }
  expect(await listToolNamesAt(url)).toContain('plain__echo');
});

test('session limit: stops one caller from using all sessions or ending those of others', async () => {
  await using gateway = await startGatewayWithAuth({ auth: { keys: true }, http: { maxSessions: 8 } });
  const [ann, ben] = [await addKey(gateway, 'ann'), await addKey(gateway, 'ben')];
  const open = async (key: string): Promise<{ status: number; id: string }> => {
    const { status, headers } = await sendRequest(gateway.url, { key, body: initializeBody });
    return { status, id: String(headers['mcp-session-id']) };
  };
  const isThere = async (key: string, id: string): Promise<boolean> => {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 2, method: 'ping' });
    return (await sendRequest(gateway.url, { key, headers: { 'mcp-session-id': id }, body })).status === 200;
  };
  const other = await open(ben);
  const own = [];
  for (let at = 0; at < 12; at++) own.push(await open(ann));
  expect(await isThere(ben, other.id)).toBe(true);
  // Two of them are served at a time; the others are taken up again when their clients come back.
  for (const { id } of own) expect(await isThere(ann, id)).toBe(true);
  // With a stream each, both are in use.
  const streams = await Promise.all(own.slice(-2).map(({ id }) => streamOf(gateway.url, ann, id)));
  expect((await open(ann)).status).toBe(503);
  expect((await open(ben)).status).toBe(200);
  for (const stream of streams) stream.destroy();
});

test('header timeout: closes a connection that never finishes its headers', { tags: ['slow'] }, async () => {
  await using gateway = await startGatewayWithAuth({ startup });
  const drops = Array.from({ length: 100 }, (_, n) => `X-${n}: 1\r\n`);
  const slow = answerTo(gateway.url, ['POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\n', ...drops], 1000);
  expect(await listToolNamesAt(gateway.url)).toContain('plain__echo');
  // It would go on for a hundred seconds.
  expect(await slow).toMatch(/^HTTP\/1\.1 408 /);
});

function streamOf(url: string, key: string, session: string): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const headers = {
      accept: 'text/event-stream',
      authorization: `Bearer ${key}`,
      'mcp-session-id': session,
    };
    request(url, { agent: false, headers })
      .on('response', (response) => resolve(response.on('error', () => {})))
      .on('error', reject)
      .end();
  });
}
