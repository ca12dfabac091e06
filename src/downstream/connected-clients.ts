import { randomUUID } from 'node:crypto';
import type { Caller } from '../core/caller.ts';
import type { ConnectedClient } from '../core/connected-client.ts';
import { isJsonObject } from '../core/json.ts';
import type { JsonObject } from '../core/json.ts';
import type { Era } from '../core/server-facts.ts';
import { readEnvelope } from '../protocol/envelope.ts';
import { MODERN_VERSION } from '../protocol/era.ts';
import type { ClientSession } from './client-session.ts';

interface ClientRecord {
  readonly id: string;
  readonly name: string | undefined;
  readonly version: string | undefined;
  readonly protocol: string;
  readonly caller: Caller;
  /** Returns how the client sees the catalog. */
  view: () => Pick<ConnectedClient, 'exposure' | 'server'>;
  readonly hasSession: boolean;
  readonly since: number;
  usedAt: number;
  calls: number;
}

interface NewClient {
  readonly session: ClientSession;
  readonly info: JsonObject | undefined;
  readonly protocol: string;
  readonly era: Era;
  readonly hasSession: boolean;
}

/** A client without sessions is listed for this time after its last request. */
const SESSIONLESS_MS = 10 * 60_000;
/** The maximum number of clients; further ones replace the oldest. */
const MAX_CLIENTS = 1000;
const MAX_TEXT_CHARS = 200;

/** Tracks who is connected to this gateway, for the dashboard. Clients state their own names, which are shortened. */
export class ConnectedClients {
  readonly #now: () => number;
  readonly #onConnect: (name: string) => void;
  /** By session id, or by caller, path and name for clients without sessions; the oldest first. */
  readonly #records = new Map<string, ClientRecord>();
  #revision = 0;

  constructor(now: () => number = Date.now, onConnect: (name: string) => void = () => {}) {
    this.#now = now;
    this.#onConnect = onConnect;
  }

  /** Changes whenever a client connects or leaves. */
  get revision(): number {
    this.#dropUnused();
    return this.#revision;
  }

  /** Records a legacy client, or a modern client whose connection is its session. */
  open(session: ClientSession, info: JsonObject | undefined, protocol: string): void {
    this.#add(session.id, { session, info, protocol, era: 'legacy', hasSession: true });
  }

  /** Records a request. A modern client describes itself with every request. */
  countRequest(
    session: ClientSession,
    { method, params = {} }: { readonly method: string; readonly params?: JsonObject | undefined },
    era: Era,
  ): void {
    const record = era === 'legacy' ? this.#records.get(session.id) : this.#findModern(session, params);
    if (record === undefined) return;
    record.usedAt = this.#now();
    if (method === 'tools/call') record.calls++;
  }

  close(id: string): void {
    if (this.#records.delete(id)) this.#revision++;
  }

  /** Returns the clients, the most recently used first. */
  list(): readonly ConnectedClient[] {
    this.#dropUnused();
    return [...this.#records.values()].toSorted((a, b) => b.usedAt - a.usedAt).map(presentClient);
  }

  #findModern(session: ClientSession, params: JsonObject): ClientRecord {
    const { info } = readEnvelope(params);
    const { isConnection: hasSession = false, endpoint = '' } = session.options;
    const key = session.sessionKey('modern');
    const name = textOf(info, 'name');
    const id = hasSession ? key : JSON.stringify([key, endpoint, name, textOf(info, 'version')]);
    const known = this.#records.get(id);
    if (known === undefined)
      return this.#add(id, { session, info, protocol: MODERN_VERSION, era: 'modern', hasSession });
    known.view = createView(session, { era: 'modern', name, hasSession });
    return known;
  }

  #add(id: string, { session, info, protocol, era, hasSession }: NewClient): ClientRecord {
    const now = this.#now();
    const name = textOf(info, 'name');
    const record = {
      id: randomUUID(),
      name,
      version: textOf(info, 'version'),
      protocol,
      caller: session.options.caller,
      view: createView(session, { era, name, hasSession }),
      hasSession,
      since: now,
      usedAt: now,
      calls: 0,
    };
    this.#records.set(id, record);
    this.#revision++;
    if (name !== undefined) this.#onConnect(name);
    const [oldest] = this.#records.keys();
    if (this.#records.size > MAX_CLIENTS && oldest !== undefined) this.close(oldest);
    return record;
  }

  #dropUnused(): void {
    const earliest = this.#now() - SESSIONLESS_MS;
    for (const [id, { hasSession, usedAt }] of this.#records)
      if (!hasSession && usedAt < earliest) this.close(id);
  }
}

function presentClient({
  id,
  name,
  version,
  protocol,
  caller,
  view,
  ...others
}: ClientRecord): ConnectedClient {
  const { hasSession, since, usedAt, calls } = others;
  return {
    id,
    name,
    version,
    protocol,
    transport: caller.via === 'http' ? 'http' : 'stdio',
    caller: caller.id,
    profile: caller.profile,
    ...view(),
    hasSession,
    since,
    usedAt,
    calls,
  };
}

/** Returns a function that does not keep the session of a single request in memory, because that contains the request. */
function createView(
  session: ClientSession,
  {
    era,
    name,
    hasSession,
  }: { readonly era: Era; readonly name: string | undefined; readonly hasSession: boolean },
): ClientRecord['view'] {
  const { isSingleServer } = session;
  const { backend, caller, exposure } = session.options;
  const chooseKind = hasSession
    ? () => session.exposure.for(era, name).kind
    : () => (typeof exposure === 'function' ? exposure(backend.view(caller), name) : exposure).kind;
  return () => ({
    exposure: chooseKind(),
    server: isSingleServer ? backend.view(caller).servers[0]?.name : undefined,
  });
}

function textOf(info: JsonObject | undefined, key: string): string | undefined {
  const text = isJsonObject(info) ? info[key] : undefined;
  if (typeof text !== 'string' || text === '') return undefined;
  // A part of a text would keep the whole text in memory.
  return Buffer.from(text.slice(0, MAX_TEXT_CHARS), 'utf16le').toString('utf16le');
}
