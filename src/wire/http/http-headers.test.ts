import { describe, expect, test } from 'vitest';

import { META } from '../era.ts';
import {
  answerJson,
  localServer,
  notification,
  request,
  resultFor,
  streamTo,
} from './local-server.test-support.ts';
import type { Received } from './local-server.test-support.ts';
import type { Outgoing } from '../stream.ts';

const _meta = { [META.protocolVersion]: '2026-07-28' };

async function headersOf(
  message: Outgoing,
  options: Parameters<typeof streamTo>[1] & { era?: 'legacy' | 'modern'; as?: (url: string) => string } = {},
): Promise<Received['headers']> {
  const server = await localServer((got, response) => answerJson(response, resultFor(got.body.id)));
  const { stream } = streamTo(options.as?.(server.url) ?? server.url, options);
  if (options.era !== undefined)
    stream.negotiated(options.era, options.era === 'modern' ? '2026-07-28' : '2025-11-25');
  stream.send(message);
  await server.until(() => server.received.length === 1);
  return server.received[0]?.headers ?? {};
}

describe('a modern request', () => {
  test('names version and method even before the era is agreed', async () => {
    const headers = await headersOf(request(1, 'server/discover', { _meta }));
    expect(headers).toMatchObject({ 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'server/discover' });
    expect(headers).not.toHaveProperty('mcp-name');
  });

  test.each([
    ['tools/call', { name: 'echo' }, 'echo'],
    ['prompts/get', { name: 'greet me' }, 'greet me'],
    ['resources/read', { uri: 'file:///a' }, 'file:///a'],
    ['tools/call', { name: 'grüß' }, '=?base64?Z3LDvMOf?='],
    ['tools/call', { name: ' padded' }, '=?base64?IHBhZGRlZA==?='],
    ['tools/call', { name: 'line\nbreak' }, '=?base64?bGluZQpicmVhaw==?='],
    ['tools/call', { name: '=?base64?eA==?=' }, '=?base64?PT9iYXNlNjQ/ZUE9PT89?='],
    ['tools/call', { name: '' }, '=?base64??='],
    ['tools/list', { name: 'ignored' }, undefined],
  ])('%s of %j has Mcp-Name %j', async (method, params, expected) => {
    const headers = await headersOf(request(1, method, params), { era: 'modern' });
    expect(headers['mcp-name']).toBe(expected);
    expect(headers['mcp-method']).toBe(method);
  });

  test('carries further headers of its own, encoded', async () => {
    const message = { ...request(1), headers: { 'Mcp-Param-City': 'Köln' } } as Outgoing;
    expect(await headersOf(message, { era: 'modern' })).toMatchObject({
      'mcp-param-city': '=?base64?S8O2bG4=?=',
    });
  });

  test('has company in its notifications', async () => {
    expect(await headersOf(notification('notifications/x'), { era: 'modern' })).toMatchObject({
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': 'notifications/x',
    });
  });
});

test('a legacy request names the agreed version only, whatever its metadata says', async () => {
  const headers = await headersOf(request(1, 'tools/call', { name: 'x', _meta }), { era: 'legacy' });
  expect(headers['mcp-protocol-version']).toBe('2025-11-25');
  expect(headers).not.toHaveProperty('mcp-method');
});

test('configured headers are sent unless they concern the protocol itself', async () => {
  const given = { Authorization: 'Bearer t', 'X-Team': 'a', ACCEPT: 'text/html', 'content-length': '1' };
  const headers = await headersOf(request(1), { headers: () => given });
  expect(headers).toMatchObject({
    authorization: 'Bearer t',
    'x-team': 'a',
    accept: 'application/json, text/event-stream',
  });
});

test('headers may take time, and are asked for again with every request', async () => {
  const server = await localServer((got, response) => answerJson(response, resultFor(got.body.id)));
  let turn = 0;
  const { stream, events } = streamTo(server.url, {
    headers: () => Promise.resolve({ 'X-Turn': String(++turn) }),
  });
  stream.send(request(1));
  await events.until(() => events.messages.length === 1);
  stream.send(request(2));
  await events.until(() => events.messages.length === 2);
  expect(server.received.map((got) => got.headers['x-turn'])).toEqual(['1', '2']);
});

test.each([
  ['rejects', () => Promise.reject(new Error('no token'))],
  [
    'throws',
    () => {
      throw new Error('no token');
    },
  ],
  ['gives what no header can carry', () => ({ 'X-Bad': 'a\nb' })],
])('a source of headers that %s fails the request', async (_name, headers) => {
  const { stream, events } = streamTo('http://127.0.0.1:1/mcp', { headers });
  stream.send(request(1));
  expect(events.failures).toEqual([]);
  await events.until(() => events.failures.length === 1);
  expect(events.failures[0]?.error.message).toMatch(/no token|header content/);
});

test('credentials in the address become a header', async () => {
  const as = (url: string): string => url.replace('//', '//me:p%40ss@');
  expect(await headersOf(request(1), { as })).toMatchObject({ authorization: `Basic ${btoa('me:p@ss')}` });
});
