import { describe, expect, it } from 'vitest';

import type { Caller } from '../model/caller.ts';
import { silentLogger } from '../observe/log.ts';
import type { Connection } from '../wire/serving.ts';
import { Sessions } from './sessions.ts';

const caller: Caller = { id: 'test', via: 'http', profile: 'default' };
const silentPath = { canNotify: true, notify: () => {}, answer: () => {}, withdraw: () => {} };

function build(
  options: {
    readonly maxSessions?: number;
    readonly isShared?: boolean;
    readonly idleMs?: number;
    readonly close?: () => void;
  } = {},
) {
  let time = 0;
  const { maxSessions = 3, idleMs = 1000, close = () => {} } = options;
  const connection: Connection = { request: () => {}, notification: () => {}, close };
  const sessions = new Sessions({
    connect: () => connection,
    maxSessions,
    isShared: () => options.isShared === true,
    idleMs,
    resumeMs: 1000,
    now: () => time,
    log: silentLogger,
  });
  const open = () => {
    const session = sessions.open(caller, '/mcp');
    if (session === undefined) throw new Error('There was no room.');
    return session;
  };
  return { sessions, open, pass: (ms: number) => (time += ms) };
}

describe('Sessions', () => {
  it('ends those that were idle for too long, and only those', () => {
    let closed = 0;
    const { sessions, open, pass } = build({ close: () => closed++ });
    const idle = open();
    const used = open();
    pass(600);
    used.receive({ kind: 'notification', method: 'x', params: undefined });
    pass(500);
    sessions.sweep();
    expect(sessions.get(idle.id)).toBeUndefined();
    expect(sessions.get(used.id)).toBe(used);
    expect(closed).toBe(1);
  });

  it('does not give out one that was idle for too long, swept or not', () => {
    let closed = 0;
    const { sessions, open, pass } = build({ close: () => closed++ });
    const session = open();
    pass(999);
    expect(sessions.get(session.id)).toBe(session);
    pass(1);
    expect(sessions.get(session.id)).toBeUndefined();
    expect([sessions.size, closed]).toEqual([0, 1]);
  });

  it('never takes one with a request under way for idle', () => {
    const { sessions, open, pass } = build();
    const session = open();
    const request = session.begin({ kind: 'request', id: 1, method: 'x', params: undefined }, silentPath);
    pass(5000);
    sessions.sweep();
    expect(sessions.size).toBe(1);
    request.error({ code: 1, message: 'done' });
    pass(999);
    sessions.sweep();
    expect(sessions.size).toBe(1);
    pass(1);
    sessions.sweep();
    expect(sessions.size).toBe(0);
  });

  it('makes room by ending the longest idle', () => {
    const { sessions, open, pass } = build();
    const opened = [1, 2, 3].map(() => {
      pass(1);
      return open();
    });
    pass(1);
    opened[0]?.receive({ kind: 'notification', method: 'x', params: undefined });
    open();
    expect(sessions.size).toBe(3);
    expect(opened.map((session) => sessions.get(session.id) !== undefined)).toEqual([true, false, true]);
  });

  it('gives one caller a quarter where callers are told apart, and its own idle sessions make room', () => {
    const { sessions, pass } = build({ maxSessions: 8, isShared: true });
    const open = (id: string): string | undefined => {
      pass(1);
      return sessions.open({ ...caller, id }, '/mcp')?.id;
    };
    const other = open('ben');
    const own = [open('ann'), open('ann'), open('ann')];
    expect(sessions.size).toBe(3);
    expect([other, ...own].map((id) => sessions.get(id ?? '') !== undefined)).toEqual([
      true,
      false,
      true,
      true,
    ]);
    for (const id of own.slice(1))
      sessions.get(id ?? '')?.begin({ kind: 'request', id: 1, method: 'x', params: undefined }, silentPath);
    expect(open('ann')).toBeUndefined();
    expect(open('ben')).toBeDefined();
  });

  it('has no room when all are busy', () => {
    const { sessions, open } = build({ maxSessions: 1 });
    open().begin({ kind: 'request', id: 1, method: 'x', params: undefined }, silentPath);
    expect(sessions.open(caller, '/mcp')).toBeUndefined();
  });

  it('closes a connection once and survives one that throws', () => {
    let closed = 0;
    const close = (): void => {
      closed++;
      throw new Error('cannot');
    };
    const { sessions, open, pass } = build({ close });
    open();
    open();
    pass(2000);
    sessions.sweep();
    sessions.sweep();
    expect(closed).toBe(2);
  });

  it('gives ids that cannot be guessed', () => {
    const { open } = build();
    expect(new Set([open().id, open().id, open().id]).size).toBe(3);
  });
});
