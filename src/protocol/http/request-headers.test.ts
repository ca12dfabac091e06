import { describe, expect, test } from 'vitest';

import { META_KEYS } from '../era.ts';
import {
  answerJson,
  startLocalServer,
  notification,
  request,
  resultFor,
  openTransport,
} from './local-server.test-support.ts';
import type { ReceivedRequest } from './local-server.test-support.ts';
import type { OutgoingMessage } from '../client-transport.ts';

const _meta = { [META_KEYS.protocolVersion]: '2026-07-28' };

async function headersOf(
  message: OutgoingMessage,
  options: Parameters<typeof openTransport>[1] & {
    era?: 'legacy' | 'modern';
    as?: (url: string) => string;
  } = {},
): Promise<ReceivedRequest['headers']> {
  const server = await startLocalServer((got, response) => answerJson(response, resultFor(got.body.id)));
  const { transport } = openTransport(options.as?.(server.url) ?? server.url, options);
  if (options.era !== undefined)
    transport.setProtocol(options.era, options.era === 'modern' ? '2026-07-28' : '2025-11-25');
  transport.send(message);
  await server.until(() => server.received.length === 1);
  return server.received[0]?.headers ?? {};
}

describe('modern request headers', () => {
  test('modern request: sends version and method headers before the era is negotiated', async () => {
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
  ])('modern request: %s with %j has Mcp-Name %j', async (method, params, expected) => {
    const headers = await headersOf(request(1, method, params), { era: 'modern' });
    expect(headers['mcp-name']).toBe(expected);
    expect(headers['mcp-method']).toBe(method);
  });

  test('modern request: encodes additional parameter headers', async () => {
    const message = { ...request(1), headers: { 'Mcp-Param-City': 'Köln' } } as OutgoingMessage;
    expect(await headersOf(message, { era: 'modern' })).toMatchObject({
      'mcp-param-city': '=?base64?S8O2bG4=?=',
    });
  });

  test('modern notification: sends version and method headers', async () => {
    expect(await headersOf(notification('notifications/x'), { era: 'modern' })).toMatchObject({
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': 'notifications/x',
    });
  });
});

test('legacy request: sends only the negotiated version header', async () => {
  const headers = await headersOf(request(1, 'tools/call', { name: 'x', _meta }), { era: 'legacy' });
  expect(headers['mcp-protocol-version']).toBe('2025-11-25');
  expect(headers).not.toHaveProperty('mcp-method');
});

test('configured headers: are sent unless they belong to the protocol', async () => {
  const given = { Authorization: 'Bearer t', 'X-Team': 'a', ACCEPT: 'text/html', 'content-length': '1' };
  const headers = await headersOf(request(1), { headers: () => given });
  expect(headers).toMatchObject({
    authorization: 'Bearer t',
    'x-team': 'a',
    accept: 'application/json, text/event-stream',
  });
});

test('header provider: may be asynchronous and is called for every request', async () => {
  const server = await startLocalServer((got, response) => answerJson(response, resultFor(got.body.id)));
  let turn = 0;
  const { transport, events } = openTransport(server.url, {
    headers: () => Promise.resolve({ 'X-Turn': String(++turn) }),
  });
  transport.send(request(1));
  await events.until(() => events.messages.length === 1);
  transport.send(request(2));
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
  ['returns an invalid header value', () => ({ 'X-Bad': 'a\nb' })],
])('header provider: fails the request when it %s', async (_name, headers) => {
  const { transport, events } = openTransport('http://127.0.0.1:1/mcp', { headers });
  transport.send(request(1));
  expect(events.failures).toEqual([]);
  await events.until(() => events.failures.length === 1);
  expect(events.failures[0]?.error.message).toMatch(/no token|header content/);
});

test('URL credentials: become a Basic Authorization header', async () => {
  const as = (url: string): string => url.replace('//', '//me:p%40ss@');
  expect(await headersOf(request(1), { as })).toMatchObject({ authorization: `Basic ${btoa('me:p@ss')}` });
});
