import { describe, expect, it, vi } from 'vitest';

import { Payload } from '../../lib/payload.ts';
import type { Caller } from '../../model/caller.ts';
import { GatewayError } from '../../model/errors.ts';
import { silentLogger } from '../../observe/log.ts';
import type { Connection } from '../../wire/serving.ts';
import type { KeptSession, SessionMemory, SessionNews } from './kept-session.ts';
import { SESSION_MS, SealedIds } from './sealed-ids.ts';
import { Session } from './session.ts';
import { Sessions } from './sessions.ts';
import { NEW_SESSION, changedState } from './session-state.ts';
import type { SessionState } from './session-state.ts';

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
    ids: new SealedIds({ now: () => time }),
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
  it('lets go of those that were idle for too long, and only those', () => {
    let closed = 0;
    const { sessions, open, pass } = build({ close: () => closed++ });
    const idle = open();
    const used = open();
    pass(600);
    used.receive({ kind: 'notification', method: 'x', params: undefined });
    pass(500);
    sessions.sweep();
    expect(sessions.served(idle.id)).toBeUndefined();
    expect(sessions.served(used.id)).toBe(used);
    expect(closed).toBe(1);
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

  it('makes room by letting go of the longest idle', () => {
    const { sessions, open, pass } = build();
    const opened = [1, 2, 3].map(() => {
      pass(1);
      return open();
    });
    pass(1);
    opened[0]?.receive({ kind: 'notification', method: 'x', params: undefined });
    open();
    expect(sessions.size).toBe(3);
    expect(opened.map((session) => sessions.served(session.id) !== undefined)).toEqual([true, false, true]);
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
    expect([other, ...own].map((id) => sessions.served(id ?? '') !== undefined)).toEqual([
      true,
      false,
      true,
      true,
    ]);
    for (const id of own.slice(1))
      sessions
        .served(id ?? '')
        ?.begin({ kind: 'request', id: 1, method: 'x', params: undefined }, silentPath);
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

/** Gateways that have a secret and what is written down in common, as replicas do and one before and after a restart. */
function several() {
  const secret = Buffer.alloc(32, 7);
  const rows = new Map<string, SessionState | 'ended'>();
  const callers = new Map<string, number>();
  const listeners: ((news: readonly SessionNews[]) => void)[] = [];
  const world = { time: 1_800_000_000_000, isAway: false, reads: 0 };
  const write = (id: string, state: SessionState | 'ended'): void => {
    if (world.isAway) throw new Error('away');
    rows.set(id, state);
    for (const listener of listeners) listener([{ id, state }]);
  };
  const memory: SessionMemory = {
    read: async ({ id, caller: of, issuedAt }) => {
      world.reads++;
      if (world.isAway) throw new Error('away');
      return (callers.get(of) ?? 0) >= issuedAt ? 'ended' : rows.get(id);
    },
    change: async (id, change) => {
      const before = rows.get(id) ?? NEW_SESSION;
      write(id, before === 'ended' ? before : changedState(before, change));
    },
    end: async (id) => write(id, 'ended'),
    endOf: async (of) => void callers.set(of, world.time),
    follow: (listener) => void listeners.push(listener),
  };
  const gateway = (idleMs = 1000) => {
    const adopted: SessionState[] = [];
    const kept: KeptSession[] = [];
    const sessions = new Sessions({
      connect: (options) => {
        if (options.kept !== undefined) kept.push(options.kept);
        return {
          request: (request) => request.result(Payload.of({ protocolVersion: '2025-11-25' })),
          notification: () => {},
          close: () => {},
          adopt: async (state) => void adopted.push(state),
        };
      },
      ids: new SealedIds({ secret: () => Promise.resolve(secret), now: () => world.time }),
      ...{ memory, maxSessions: 10, idleMs, resumeMs: 1000, now: () => world.time, log: silentLogger },
    });
    return { sessions, adopted, kept };
  };
  return { gateway, world, heal: () => listeners.forEach((listener) => listener([])) };
}

async function opened(sessions: Sessions): Promise<string> {
  await sessions.ready();
  const session = sessions.open(caller, '/mcp');
  if (session === undefined) throw new Error('There was no room.');
  const params = { clientInfo: { name: 'it', version: '1' }, capabilities: { roots: {} } };
  session.run(session.begin({ kind: 'request', id: 1, method: 'initialize', params }, silentPath));
  return sessions.idOf(session);
}

const here = { caller, path: '/mcp' };
const reason = new GatewayError('CALL_CANCELLED', 'over');

describe('a session whose id is shown elsewhere, or after a restart', () => {
  it('goes on with what its client said when it opened it, and with what it set since', async () => {
    const { gateway, world } = several();
    const [one, other] = [gateway(), gateway()];
    const id = await opened(one.sessions);
    await one.kept[0]?.change({ level: 'error' });
    await one.kept[0]?.change({ follow: 'file:///a' });
    const found = await other.sessions.find(id, here);
    expect(found).toBeInstanceOf(Session);
    expect(other.kept[0]?.before?.facts).toMatchObject({
      ...{ id: one.kept[0]?.id, protocol: '2025-11-25', capabilities: { roots: {} } },
      info: { name: 'it', version: '1' },
    });
    expect(other.adopted).toEqual([{ level: 'error', follows: ['file:///a'], revealed: [] }]);
    // From now on it is known, and nobody is asked.
    expect([other.sessions.find(id, here), world.reads]).toEqual([found, 1]);
    await one.kept[0]?.change({ unfollow: 'file:///a' });
    expect(other.adopted.at(-1)).toEqual({ level: 'error', follows: [], revealed: [] });
  });

  it('is taken up once, however many requests come at the same time', async () => {
    const { gateway, world } = several();
    const id = await opened(gateway().sessions);
    const { sessions, kept } = gateway();
    const found = await Promise.all(Array.from({ length: 5 }, async () => sessions.find(id, here)));
    expect([new Set(found).size, kept.length, sessions.size, world.reads]).toEqual([1, 1, 1, 1]);
  });

  it('does not exist for other callers and at other paths, neither where it is known nor elsewhere', async () => {
    const { gateway } = several();
    const [one, other] = [gateway(), gateway()];
    const id = await opened(one.sessions);
    for (const { sessions } of [one, other])
      for (const bound of [
        { caller: { ...caller, id: 'else' }, path: '/mcp' },
        { caller: { ...caller, roles: ['admin'] }, path: '/mcp' },
        { caller, path: '/mcp/s/it' },
      ])
        expect(await sessions.find(id, bound)).toBe('unknown');
    expect(other.sessions.size).toBe(0);
  });

  it('is over everywhere when its client ended it', async () => {
    const { gateway } = several();
    const [one, other, third] = [gateway(), gateway(), gateway()];
    const id = await opened(one.sessions);
    const session = await other.sessions.find(id, here);
    if (typeof session === 'string') throw new Error(session);
    await other.sessions.finish(session, reason);
    expect(one.sessions.size).toBe(0);
    for (const { sessions } of [one, other, third]) expect(await sessions.find(id, here)).toBe('unknown');
  });

  it('is let go of when it is idle, and taken up again when its client comes back', async () => {
    const { gateway, world } = several();
    const { sessions } = gateway();
    const id = await opened(sessions);
    world.time += 2000;
    sessions.sweep();
    expect(sessions.size).toBe(0);
    expect(await sessions.find(id, here)).toBeInstanceOf(Session);
  });

  it('ends with the credentials of its caller; what the caller opens afterwards does not', async () => {
    const { gateway, world } = several();
    const [one, other] = [gateway(), gateway()];
    const id = await opened(one.sessions);
    one.sessions.endOf(caller.id, reason);
    world.time += 1;
    const next = await opened(one.sessions);
    expect([await one.sessions.find(id, here), await other.sessions.find(id, here)]).toEqual([
      'unknown',
      'unknown',
    ]);
    expect(await other.sessions.find(next, here)).toBeInstanceOf(Session);
  });

  it('is served while nothing can be read, and gets what was set in it as soon as it can', async () => {
    const { gateway, world, heal } = several();
    const [one, other] = [gateway(), gateway()];
    const id = await opened(one.sessions);
    await one.kept[0]?.change({ level: 'error' });
    world.isAway = true;
    expect(await other.sessions.find(id, here)).toBeInstanceOf(Session);
    await expect(other.kept[0]?.change({ level: 'debug' })).resolves.toBeUndefined();
    expect(other.adopted).toEqual([]);
    world.isAway = false;
    heal();
    await vi.waitFor(() => expect(other.adopted).toMatchObject([{ level: 'error' }]));
  });

  it('is over after its time, also where it is known', async () => {
    const { gateway, world } = several();
    const [one, other] = [gateway(), gateway()];
    const id = await opened(one.sessions);
    world.time += SESSION_MS - 1;
    expect(await other.sessions.find(id, here)).toBeInstanceOf(Session);
    world.time += 1;
    for (const { sessions } of [one, other, gateway()]) expect(await sessions.find(id, here)).toBe('unknown');
  });
});
