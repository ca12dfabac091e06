import { stringifyExact } from '../../lib/exact-json.ts';
import type { Caller } from '../../model/caller.ts';
import type { Entry } from '../../model/entry.ts';
import { isJsonObject } from '../../model/json.ts';
import type { ClientInfo, EndedCall, RecordedCall } from '../ended-call.ts';
import { outcomeOf } from '../outcome.ts';
import type { CommonPart, CountedRecord } from './audit-batch.ts';
import type { AuditEvent } from './audit-record.ts';
import { redactText, redactUri, redactValue } from './redact.ts';

/** Names come from clients and servers, and may be of any length. */
const MAX_NAME = 200;
const MAX_URI = 500;
const MAX_DETAILS = 8192;
/** Of one entry; callers, clients and ends of calls that differ. */
const MAX_COMMONS = 8;
const MAX_CLIENTS = 8;

interface ClientNames {
  readonly name?: string;
  readonly version?: string;
}

interface KnownClient {
  readonly name: unknown;
  readonly version: unknown;
  readonly names: ClientNames;
}

/**
 * The record of an operation, as far as it costs little; the thread does the rest. What is the same for many operations is
 * one object for all of them, and absent members are there, since building objects of many shapes is what would cost.
 */
export class RawRecords {
  readonly #callers = new WeakMap<Caller, { readonly id: string; readonly profile: string }>();
  /** Those that called last. By what they call themselves: a modern client introduces itself with every request. */
  readonly #clients: KnownClient[] = [];
  readonly #entries = new WeakMap<Entry, string>();
  readonly #commons = new WeakMap<Entry, CommonPart[]>();

  readonly #resultChars: number;

  /** How much of a result the thread is given. */
  constructor(resultChars: number) {
    this.#resultChars = resultChars;
  }

  of(ended: EndedCall): CountedRecord {
    const { call, payload } = ended;
    const argumentText = argumentsOf(call);
    return {
      common: this.#common(ended),
      at: Math.round(ended.at),
      group: call.group,
      ms: Math.round(ended.ms * 1000) / 1000,
      bytesIn: argumentText === undefined ? undefined : Buffer.byteLength(argumentText),
      bytesOut: payload?.byteLength,
      details: undefined,
      argumentText,
      resultText: payload?.start(this.#resultChars),
      resultChars: payload?.length,
    };
  }

  #common(ended: EndedCall): CommonPart {
    const { call, facts } = ended;
    const { caller, operation, client } = call;
    const { entry } = operation;
    const { outcome, code } = outcomeOf(ended);
    const who = remembered(this.#callers, caller, callerNames);
    const from = client && this.#clientNames(client);
    const common: CommonPart = {
      kind: operation.kind,
      caller: who.id,
      via: caller.via,
      client: from?.name,
      clientVersion: from?.version,
      profile: who.profile,
      server: operation.upstream,
      entry: entry === undefined ? typedName(operation) : remembered(this.#entries, entry, ownName),
      tier: entry && facts.tierOf(entry),
      fingerprint: entry?.fingerprint,
      outcome,
      code,
      rule: ended.rule ?? (entry && facts.ruleOf(caller, entry)),
      action: undefined,
    };
    return entry === undefined ? common : this.#same(entry, common);
  }

  #clientNames(client: ClientInfo): ClientNames {
    const { name, version } = client;
    for (const known of this.#clients)
      if (known.name === name && known.version === version) return known.names;
    const names = clientNames(client);
    if (!isShort(name) || !isShort(version)) return names;
    if (this.#clients.length >= MAX_CLIENTS) this.#clients.shift();
    this.#clients.push({ name, version, names });
    return names;
  }

  /** One that is already known, if there is one that says the same. */
  #same(entry: Entry, common: CommonPart): CommonPart {
    const known = remembered(this.#commons, entry, noCommons);
    for (const other of known) if (isSame(other, common)) return other;
    if (known.length >= MAX_COMMONS) known.shift();
    known.push(common);
    return common;
  }
}

/** Member by member, since going through their names takes 1 µs for each record. */
export function isSame(one: CommonPart, other: CommonPart): boolean {
  return (
    one.kind === other.kind &&
    one.caller === other.caller &&
    one.via === other.via &&
    one.client === other.client &&
    one.clientVersion === other.clientVersion &&
    one.profile === other.profile &&
    one.server === other.server &&
    one.entry === other.entry &&
    one.tier === other.tier &&
    one.fingerprint === other.fingerprint &&
    one.outcome === other.outcome &&
    one.code === other.code &&
    one.rule === other.rule &&
    one.action === other.action
  );
}

function noCommons(): CommonPart[] {
  return [];
}

function remembered<K extends object, V>(kept: WeakMap<K, V>, key: K, make: (key: K) => V): V {
  let value = kept.get(key);
  if (value === undefined) kept.set(key, (value = make(key)));
  return value;
}

function callerNames({ id, profile }: Caller): { readonly id: string; readonly profile: string } {
  return { id: nameOf(id) ?? '', profile: nameOf(profile) ?? '' };
}

/** What is no text is not recorded. */
function isShort(value: unknown): boolean {
  return value === undefined || (typeof value === 'string' && value.length <= MAX_NAME);
}

function clientNames({ name, version }: ClientInfo): ClientNames {
  const [own, number] = [nameOf(name), nameOf(version)];
  return { ...(own !== undefined && { name: own }), ...(number !== undefined && { version: number }) };
}

export function rawEvent(event: AuditEvent, at: number): CountedRecord {
  const { caller, details, action, kind, outcome = 'ok', code, rule, server, entry, fingerprint } = event;
  return {
    common: {
      ...{ kind, action, outcome, code, rule, fingerprint },
      ...{ caller: nameOf(caller.id) ?? '', via: caller.via, profile: caller.profile },
      ...{ client: undefined, clientVersion: undefined, tier: undefined },
      server: server?.slice(0, MAX_NAME),
      entry: entry === undefined ? undefined : redactText(entry.slice(0, MAX_URI)),
    },
    ...{ at, group: undefined, ms: undefined, bytesIn: undefined, bytesOut: undefined },
    details: details && stringifyExact(redactValue(details)).slice(0, MAX_DETAILS),
  };
}

/** What a client typed, which may hold anything. */
function typedName({ kind, params, method }: RecordedCall['operation']): string | undefined {
  const { name, uri } = params;
  if (typeof uri === 'string') return redactUri(uri.slice(0, MAX_URI));
  if (kind === 'other') return redactText(method.slice(0, MAX_NAME));
  return typeof name === 'string' ? redactText(name.slice(0, MAX_NAME)) : undefined;
}

/** What the operation is about, in the server's own words. */
function ownName(entry: Entry): string {
  switch (entry.kind) {
    case 'resource':
      return redactUri(entry.definition.uri).slice(0, MAX_URI);
    case 'template':
      return redactUri(entry.definition.uriTemplate).slice(0, MAX_URI);
    default:
      return entry.definition.name.slice(0, MAX_URI);
  }
}

function argumentsOf({ operation: { kind, params } }: RecordedCall): string | undefined {
  if (kind === 'tool' || kind === 'prompt') {
    const args = params['arguments'];
    return isJsonObject(args) ? stringifyExact(args) : '{}';
  }
  if (kind === 'other') return undefined;
  const { uri, argument } = params;
  return stringifyExact(kind === 'completion' ? { argument } : { uri });
}

function nameOf(value: unknown): string | undefined {
  return typeof value === 'string' ? redactText(value.slice(0, MAX_NAME)) : undefined;
}
