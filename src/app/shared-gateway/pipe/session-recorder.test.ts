import { describe, expect, test } from 'vitest';

import { SessionRecorder } from './session-recorder.ts';

const requestLine = (id: number | string, method: string, params: object = {}): string =>
  JSON.stringify({ jsonrpc: '2.0', id, method, params });
const parseLines = (lines: readonly string[]): readonly Record<string, unknown>[] =>
  lines.map((text) => JSON.parse(text) as Record<string, unknown>);

function createInitializedSession(): SessionRecorder {
  const session = new SessionRecorder();
  session.recordClientLine(requestLine(1, 'initialize', { protocolVersion: '2025-06-18' }));
  session.recordResponse('1');
  return session;
}

describe('session recorder', () => {
  test('session recorder: repeats the handshake with a new gateway and hides its response from the client', () => {
    const session = createInitializedSession();
    session.failUnrepeatableRequests();
    const [initialize, initialized, ...rest] = parseLines(session.createReplay());
    expect(initialize).toMatchObject({ method: 'initialize', params: { protocolVersion: '2025-06-18' } });
    expect(initialized).toEqual({ jsonrpc: '2.0', method: 'notifications/initialized' });
    expect(rest).toEqual([]);
    expect(session.recordResponse(JSON.stringify(initialize?.['id']))).toBe(false);
    expect(parseLines(session.createListChangedLines()).map(({ method }) => method)).toEqual([
      'notifications/tools/list_changed',
      'notifications/prompts/list_changed',
      'notifications/resources/list_changed',
    ]);
  });

  test('session recorder: repeats list requests and fails calls that may have run', () => {
    const session = createInitializedSession();
    session.recordClientLine(requestLine(2, 'tools/list'));
    session.recordClientLine(requestLine('call', 'tools/call', { name: 'x' }));
    session.recordClientLine(requestLine(4, 'resources/read', { uri: 'x' }));
    expect(parseLines(session.failUnrepeatableRequests())).toMatchObject([
      { id: 'call', result: { isError: true, _meta: { 'trunkline/code': 'GATEWAY_LOST' } } },
      { id: 4, error: { code: -32603, data: { code: 'GATEWAY_LOST' } } },
    ]);
    expect(parseLines(session.createReplay()).at(-1)).toMatchObject({ id: 2, method: 'tools/list' });
    expect(session.failUnrepeatableRequests()).toEqual([]);
  });

  test('session recorder: restores the log level and the subscriptions', () => {
    const session = createInitializedSession();
    session.recordClientLine(requestLine(2, 'logging/setLevel', { level: 'debug' }));
    session.recordClientLine(requestLine(3, 'resources/subscribe', { uri: 'a:' }));
    session.recordClientLine(requestLine(4, 'resources/subscribe', { uri: 'b:' }));
    session.recordClientLine(requestLine(5, 'resources/unsubscribe', { uri: 'a:' }));
    for (const id of ['2', '3', '4', '5']) session.recordResponse(id);
    session.failUnrepeatableRequests();
    expect(parseLines(session.createReplay()).slice(2)).toMatchObject([
      { method: 'logging/setLevel', params: { level: 'debug' } },
      { method: 'resources/subscribe', params: { uri: 'b:' } },
    ]);
  });

  test('session recorder: repeats an unanswered initialize once', () => {
    const session = new SessionRecorder();
    session.recordClientLine(requestLine(1, 'initialize', { protocolVersion: 'x' }));
    expect(session.failUnrepeatableRequests()).toEqual([]);
    expect(parseLines(session.createReplay())).toMatchObject([{ id: 1, method: 'initialize' }]);
    expect(session.createListChangedLines()).toEqual([]);
  });

  test('session recorder: does not answer requests that were cancelled or answered', () => {
    const session = createInitializedSession();
    session.recordClientLine(requestLine(2, 'tools/call'));
    session.recordClientLine(requestLine(3, 'tools/call'));
    session.recordClientLine('{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}');
    session.recordResponse('3');
    expect(session.failUnrepeatableRequests()).toEqual([]);
    expect(session.hasPendingRequests).toBe(false);
  });

  test('session recorder: repeats subscriptions/listen, except for a client that is closing', () => {
    const session = new SessionRecorder();
    session.recordClientLine(requestLine(1, 'subscriptions/listen'));
    session.recordClientLine(requestLine(2, 'tools/list'));
    session.failUnrepeatableRequests();
    expect(parseLines(session.createReplay()).map(({ id }) => id)).toEqual([1, 2]);
    session.dropListenRequests();
    expect(parseLines(session.createReplay()).map(({ id }) => id)).toEqual([2]);
    session.recordResponse('2');
    expect(session.hasPendingRequests).toBe(false);
  });

  test('session recorder: answers with the original ids and answers every request of a batch', () => {
    const session = createInitializedSession();
    session.recordClientLine('{"jsonrpc":"2.0","id":12345678901234567890,"method":"tools/call"}');
    session.recordClientLine(`[${requestLine(8, 'tools/call')},${requestLine(9, 'tools/list')}]`);
    const responses = session.failUnrepeatableRequests();
    expect(responses[0]).toContain('"id":12345678901234567890,');
    expect(parseLines(responses.slice(1)).map(({ id }) => id)).toEqual([8, 9]);
  });
});
