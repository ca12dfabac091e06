import { describe, expect, it, vi } from 'vitest';

import { Payload } from '../../core/lib/payload.ts';
import type { Caller } from '../../core/caller.ts';
import { GatewayError } from '../../core/errors.ts';
import { silentLogger } from '../../observability/log.ts';
import type { ClientConnection } from '../../protocol/client-connection.ts';
import type { StoredSession, SessionStore, SessionUpdate } from './session-store.ts';
import { SESSION_LIFETIME_MS, SealedIds } from './sealed-ids.ts';
import { Session } from './session.ts';
import { Sessions } from './sessions.ts';
import { DEFAULT_CLIENT_SETTINGS, applySettingsChange } from './client-settings.ts';
import type { ClientSettings } from './client-settings.ts';

const caller: Caller = { id: 'test', via: 'http', profile: 'default' };
const silentPath = { canNotify: true, sendMessage: () => {}, respond: () => {}, endCancelled: () => {} };

function build(
  options: {
    readonly maxSessions?: number;
    readonly isAuthenticated?: boolean;
    readonly idleMs?: number;
    readonly close?: () => void;
  } = {},
) {
  let time = 0;
  const { maxSessions = 3, idleMs = 1000, close = () => {} } = options;
  const connection: ClientConnection = { handleRequest: () => {}, handleNotification: () => {}, close };
  const sessions = new Sessions({
    connect: () => connection,
    ids: new SealedIds({ now: () => time }),
    maxSessions,
    isAuthenticated: () => options.isAuthenticated === true,
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

describe('sessions', () => {
  it('sessions: drop only those that were idle for too long', () => {
    let closed = 0;
    const { sessions, open, pass } = build({ close: () => closed++ });
    const idle = open();
    const used = open();
    pass(600);
    used.receive({ kind: 'notification', method: 'x', params: undefined });
    pass(500);
    sessions.endIdle();
    expect(sessions.get(idle.id)).toBeUndefined();
    expect(sessions.get(used.id)).toBe(used);
    expect(closed).toBe(1);
  });

  it('sessions: never drop one with a running request', () => {
    const { sessions, open, pass } = build();
    const session = open();
    const request = session.begin({ kind: 'request', id: 1, method: 'x', params: undefined }, silentPath);
    pass(5000);
    sessions.endIdle();
    expect(sessions.size).toBe(1);
    request.sendError({ code: 1, message: 'done' });
    pass(999);
    sessions.endIdle();
    expect(sessions.size).toBe(1);
    pass(1);
    sessions.endIdle();
    expect(sessions.size).toBe(0);
  });

  it('sessions: evict the longest idle one when full', () => {
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

  it('sessions: give one caller at most a quarter and evict its own idle ones', () => {
    const { sessions, pass } = build({ maxSessions: 8, isAuthenticated: true });
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

  it('sessions: reject a new one when all are busy', () => {
    const { sessions, open } = build({ maxSessions: 1 });
    open().begin({ kind: 'request', id: 1, method: 'x', params: undefined }, silentPath);
    expect(sessions.open(caller, '/mcp')).toBeUndefined();
  });

  it('sessions: close each connection once and survive a close that throws', () => {
    let closed = 0;
    const close = (): void => {
      closed++;
      throw new Error('cannot');
    };
    const { sessions, open, pass } = build({ close });
    open();
    open();
    pass(2000);
    sessions.endIdle();
    sessions.endIdle();
    expect(closed).toBe(2);
  });

  it('sessions: have ids of 128 random bits', () => {
    const { open } = build({ maxSessions: 64 });
    const ids = Array.from({ length: 64 }, () => open().id);
    expect(new Set(ids).size).toBe(64);
    for (const id of ids) expect(id).toMatch(/^[\w-]{22}$/);
    const [first = Buffer.alloc(0), ...others] = ids.map((id) => Buffer.from(id, 'base64url'));
    // Every bit differs between some two ids: nothing of an id is fixed or counted.
    const varied = first.map((byte, at) => others.reduce((bits, each) => bits | (byte ^ (each[at] ?? 0)), 0));
    expect([...varied]).toEqual(Array.from({ length: 16 }, () => 0xff));
  });
});

/** Creates gateways that share a secret and a store, like replicas or one gateway before and after a restart. */
function several() {
  const secret = Buffer.alloc(32, 7);
  const rows = new Map<string, ClientSettings | 'ended'>();
  const callers = new Map<string, number>();
  const listeners: ((news: readonly SessionUpdate[]) => void)[] = [];
  const world = { time: 1_800_000_000_000, isAway: false, reads: 0 };
  const write = (id: string, state: ClientSettings | 'ended'): void => {
    if (world.isAway) throw new Error('away');
    rows.set(id, state);
    for (const listener of listeners) listener([{ id, state }]);
  };
  const memory: SessionStore = {
    read: async ({ id, caller: of, issuedAt }) => {
      world.reads++;
      if (world.isAway) throw new Error('away');
      return (callers.get(of) ?? 0) >= issuedAt ? 'ended' : rows.get(id);
    },
    saveChange: async (id, change) => {
      const before = rows.get(id) ?? DEFAULT_CLIENT_SETTINGS;
      write(id, before === 'ended' ? before : applySettingsChange(before, change));
    },
    markEnded: async (id) => write(id, 'ended'),
    markCallerEnded: async (of) => void callers.set(of, world.time),
    onUpdate: (listener) => void listeners.push(listener),
  };
  const gateway = (idleMs = 1000) => {
    const adopted: ClientSettings[] = [];
    const kept: StoredSession[] = [];
    const sessions = new Sessions({
      connect: (options) => {
        if (options.stored !== undefined) kept.push(options.stored);
        return {
          handleRequest: (request) => request.sendResult(Payload.of({ protocolVersion: '2025-11-25' })),
          handleNotification: () => {},
          close: () => {},
          adopt: async (state) => void adopted.push(state),
        };
      },
      ids: new SealedIds({
        secret: () => Promise.resolve(secret),
        now: () => world.time,
      }),
      store: memory,
      maxSessions: 10,
      idleMs,
      resumeMs: 1e3,
      now: () => world.time,
      log: silentLogger,
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

describe('session at another replica or after a restart', () => {
  it('session takeover: restores client info and state, and follows later changes', async () => {
    const { gateway, world } = several();
    const [one, other] = [gateway(), gateway()];
    const id = await opened(one.sessions);
    await one.kept[0]?.saveChange({ level: 'error' });
    await one.kept[0]?.saveChange({ follow: 'file:///a' });
    const found = await other.sessions.find(id, here);
    expect(found).toBeInstanceOf(Session);
    expect(other.kept[0]?.restored?.facts).toMatchObject({
      id: one.kept[0]?.id,
      protocol: '2025-11-25',
      capabilities: { roots: {} },
      info: {
        name: 'it',
        version: '1',
      },
    });
    expect(other.adopted).toEqual([{ level: 'error', follows: ['file:///a'], revealed: [] }]);
    // The session is known now and is not read from the store again.
    expect([other.sessions.find(id, here), world.reads]).toEqual([found, 1]);
    await one.kept[0]?.saveChange({ unfollow: 'file:///a' });
    expect(other.adopted.at(-1)).toEqual({ level: 'error', follows: [], revealed: [] });
  });

  it('session takeover: happens once for concurrent requests', async () => {
    const { gateway, world } = several();
    const id = await opened(gateway().sessions);
    const { sessions, kept } = gateway();
    const found = await Promise.all(Array.from({ length: 5 }, async () => sessions.find(id, here)));
    expect([new Set(found).size, kept.length, sessions.size, world.reads]).toEqual([1, 1, 1, 1]);
  });

  it('session takeover: is refused to other callers and at other paths', async () => {
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

  it('session takeover: is refused everywhere after the client ended the session', async () => {
    const { gateway } = several();
    const [one, other, third] = [gateway(), gateway(), gateway()];
    const id = await opened(one.sessions);
    const session = await other.sessions.find(id, here);
    if (typeof session === 'string') throw new Error(session);
    await other.sessions.endPermanently(session, reason);
    expect(one.sessions.size).toBe(0);
    for (const { sessions } of [one, other, third]) expect(await sessions.find(id, here)).toBe('unknown');
  });

  it('session takeover: restores a session that was dropped for idleness', async () => {
    const { gateway, world } = several();
    const { sessions } = gateway();
    const id = await opened(sessions);
    world.time += 2000;
    sessions.endIdle();
    expect(sessions.size).toBe(0);
    expect(await sessions.find(id, here)).toBeInstanceOf(Session);
  });

  it("session takeover: is refused after the caller's sessions ended, and allowed for newer ones", async () => {
    const { gateway, world } = several();
    const [one, other] = [gateway(), gateway()];
    const id = await opened(one.sessions);
    one.sessions.endCaller(caller.id, reason);
    world.time += 1;
    const next = await opened(one.sessions);
    expect([await one.sessions.find(id, here), await other.sessions.find(id, here)]).toEqual([
      'unknown',
      'unknown',
    ]);
    expect(await other.sessions.find(next, here)).toBeInstanceOf(Session);
  });

  it('session takeover: works while the store is unavailable and loads the state later', async () => {
    const { gateway, world, heal } = several();
    const [one, other] = [gateway(), gateway()];
    const id = await opened(one.sessions);
    await one.kept[0]?.saveChange({ level: 'error' });
    world.isAway = true;
    expect(await other.sessions.find(id, here)).toBeInstanceOf(Session);
    await expect(other.kept[0]?.saveChange({ level: 'debug' })).resolves.toBeUndefined();
    expect(other.adopted).toEqual([]);
    world.isAway = false;
    heal();
    await vi.waitFor(() => expect(other.adopted).toMatchObject([{ level: 'error' }]));
  });

  it('session takeover: is refused after the maximum session age', async () => {
    const { gateway, world } = several();
    const [one, other] = [gateway(), gateway()];
    const id = await opened(one.sessions);
    world.time += SESSION_LIFETIME_MS - 1;
    expect(await other.sessions.find(id, here)).toBeInstanceOf(Session);
    world.time += 1;
    for (const { sessions } of [one, other, gateway()]) expect(await sessions.find(id, here)).toBe('unknown');
  });
});
