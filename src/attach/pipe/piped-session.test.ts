import { describe, expect, test } from 'vitest';

import { PipedSession } from './piped-session.ts';

const line = (id: number | string, method: string, params: object = {}): string =>
  JSON.stringify({ jsonrpc: '2.0', id, method, params });
const parsed = (lines: readonly string[]): readonly Record<string, unknown>[] =>
  lines.map((each) => JSON.parse(each) as Record<string, unknown>);

function opened(): PipedSession {
  const session = new PipedSession();
  session.sent(line(1, 'initialize', { protocolVersion: '2025-06-18' }));
  session.answered('1');
  return session;
}

describe('a session that changes its gateway', () => {
  test('is introduced again, and the client does not see the answer', () => {
    const session = opened();
    session.lost();
    const [initialize, initialized, ...rest] = parsed(session.replay());
    expect(initialize).toMatchObject({ method: 'initialize', params: { protocolVersion: '2025-06-18' } });
    expect(initialized).toEqual({ jsonrpc: '2.0', method: 'notifications/initialized' });
    expect(rest).toEqual([]);
    expect(session.answered(JSON.stringify(initialize?.['id']))).toBe(false);
    expect(parsed(session.news()).map(({ method }) => method)).toEqual([
      'notifications/tools/list_changed',
      'notifications/prompts/list_changed',
      'notifications/resources/list_changed',
    ]);
  });

  test('asks again for lists, and never for what may have acted', () => {
    const session = opened();
    session.sent(line(2, 'tools/list'));
    session.sent(line('call', 'tools/call', { name: 'x' }));
    session.sent(line(4, 'resources/read', { uri: 'x' }));
    expect(parsed(session.lost())).toMatchObject([
      { id: 'call', result: { isError: true, _meta: { 'trunkline/code': 'GATEWAY_LOST' } } },
      { id: 4, error: { code: -32603, data: { code: 'GATEWAY_LOST' } } },
    ]);
    expect(parsed(session.replay()).at(-1)).toMatchObject({ id: 2, method: 'tools/list' });
    expect(session.lost()).toEqual([]);
  });

  test('repeats the standing orders', () => {
    const session = opened();
    session.sent(line(2, 'logging/setLevel', { level: 'debug' }));
    session.sent(line(3, 'resources/subscribe', { uri: 'a:' }));
    session.sent(line(4, 'resources/subscribe', { uri: 'b:' }));
    session.sent(line(5, 'resources/unsubscribe', { uri: 'a:' }));
    for (const id of ['2', '3', '4', '5']) session.answered(id);
    session.lost();
    expect(parsed(session.replay()).slice(2)).toMatchObject([
      { method: 'logging/setLevel', params: { level: 'debug' } },
      { method: 'resources/subscribe', params: { uri: 'b:' } },
    ]);
  });

  test('that has not been answered yet is not introduced twice', () => {
    const session = new PipedSession();
    session.sent(line(1, 'initialize', { protocolVersion: 'x' }));
    expect(session.lost()).toEqual([]);
    expect(parsed(session.replay())).toMatchObject([{ id: 1, method: 'initialize' }]);
    expect(session.news()).toEqual([]);
  });

  test('does not answer what was withdrawn or answered', () => {
    const session = opened();
    session.sent(line(2, 'tools/call'));
    session.sent(line(3, 'tools/call'));
    session.sent('{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}');
    session.answered('3');
    expect(session.lost()).toEqual([]);
    expect(session.isWaiting).toBe(false);
  });

  test('listens again, but not for a client that is leaving', () => {
    const session = new PipedSession();
    session.sent(line(1, 'subscriptions/listen'));
    session.sent(line(2, 'tools/list'));
    session.lost();
    expect(parsed(session.replay()).map(({ id }) => id)).toEqual([1, 2]);
    session.closing();
    expect(parsed(session.replay()).map(({ id }) => id)).toEqual([2]);
    session.answered('2');
    expect(session.isWaiting).toBe(false);
  });

  test('answers ids as they came, and every request of a batch', () => {
    const session = opened();
    session.sent('{"jsonrpc":"2.0","id":12345678901234567890,"method":"tools/call"}');
    session.sent(`[${line(8, 'tools/call')},${line(9, 'tools/list')}]`);
    const answers = session.lost();
    expect(answers[0]).toContain('"id":12345678901234567890,');
    expect(parsed(answers.slice(1)).map(({ id }) => id)).toEqual([8, 9]);
  });
});
