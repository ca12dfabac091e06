import { randomUUID } from 'node:crypto';
import type { ConnectedClient } from '../core/connected-client.ts';
import { isJsonObject } from '../core/json.ts';
import type { JsonObject } from '../core/json.ts';
import type { Era } from '../core/server-facts.ts';
import { readEnvelope } from '../protocol/envelope.ts';
import { MODERN_VERSION } from '../protocol/era.ts';
import type { ClientSession } from './client-session.ts';

interface ClientRecord {
  readonly id: string;
  readonly info: JsonObject | undefined;
  readonly protocol: string;
  readonly era: Era;
  /** The session, or that of the last request of a client without sessions. */
  session: ClientSession;
  readonly hasSession: boolean;
  readonly since: number;
  usedAt: number;
  calls: number;
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
    const id = hasSession
      ? key
      : JSON.stringify([key, endpoint, textOf(info, 'name'), textOf(info, 'version')]);
    const known = this.#records.get(id);
    if (known === undefined)
      return this.#add(id, { session, info, protocol: MODERN_VERSION, era: 'modern', hasSession });
    known.session = session;
    return known;
  }

  #add(
    id: string,
    client: Pick<ClientRecord, 'session' | 'info' | 'protocol' | 'era' | 'hasSession'>,
  ): ClientRecord {
    const { session, info, protocol, era, hasSession } = client;
    const now = this.#now();
    const record = {
      id: randomUUID(),
      info,
      protocol,
      era,
      session,
      hasSession,
      since: now,
      usedAt: now,
      calls: 0,
    };
    this.#records.set(id, record);
    this.#revision++;
    const name = textOf(info, 'name');
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
  info,
  protocol,
  era,
  session,
  hasSession,
  ...times
}: ClientRecord): ConnectedClient {
  const { caller } = session.options;
  const { since, usedAt, calls } = times;
  const name = textOf(info, 'name');
  return {
    id,
    name,
    version: textOf(info, 'version'),
    protocol,
    transport: caller.via === 'http' ? 'http' : 'stdio',
    caller: caller.id,
    profile: caller.profile,
    exposure: session.exposure.for(era, name).kind,
    server: session.isSingleServer ? session.view.servers[0]?.name : undefined,
    hasSession,
    since,
    usedAt,
    calls,
  };
}

function textOf(info: JsonObject | undefined, key: string): string | undefined {
  const text = isJsonObject(info) ? info[key] : undefined;
  return typeof text === 'string' && text !== '' ? text.slice(0, MAX_TEXT_CHARS) : undefined;
}
