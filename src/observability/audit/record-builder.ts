import { stringifyExact } from '../../core/lib/exact-json.ts';
import type { Caller } from '../../core/caller.ts';
import type { Entry } from '../../core/entry.ts';
import { isJsonObject } from '../../core/json.ts';
import type { ClientInfo, CompletedCall, ObservedCall } from '../completed-call.ts';
import { classifyOutcome } from '../outcome.ts';
import type { AuditEvent } from './audit-record.ts';
import type { CommonFields, RecordDraftWithoutId } from './record-batch.ts';
import { redactText, redactUri, redactValue } from './redact.ts';

/** The maximum characters of a recorded name; clients and servers send names of any length. */
const MAX_NAME_CHARS = 200;
const MAX_URI_CHARS = 500;
const MAX_DETAILS_CHARS = 8192;
/** The number of cached objects per entry, which differ in caller, client or outcome. */
const MAX_CACHED_VARIANTS = 8;
const MAX_CACHED_CLIENTS = 8;

interface CallerNames {
  readonly id: string;
  readonly profile: string;
}

interface ClientNames {
  readonly name: string | undefined;
  readonly version: string | undefined;
}

interface CachedClient {
  readonly name: unknown;
  readonly version: unknown;
  readonly names: ClientNames;
}

/**
 * Builds the draft of a call's record on the call path; the audit thread does the expensive rest. Fields that many calls have in common
 * are in one shared object. Absent fields are set to undefined, so that all drafts have the same shape, which the engine handles faster.
 */
export class RecordBuilder {
  readonly #callers = new WeakMap<Caller, CallerNames>();
  /**
   * The latest clients. They are found by name and version and not by identity, because a modern client sends
   * its `clientInfo` with every request.
   */
  readonly #clients: CachedClient[] = [];
  readonly #entryNames = new WeakMap<Entry, string>();
  readonly #commonFields = new WeakMap<Entry, CommonFields[]>();
  readonly #maxResultChars: number;

  /** `maxResultChars` is the length to which results are cut. */
  constructor(maxResultChars: number) {
    this.#maxResultChars = maxResultChars;
  }

  build(completed: CompletedCall): RecordDraftWithoutId {
    const { call, payload } = completed;
    const argumentText = serializeArguments(call);
    return {
      common: this.#commonFieldsOf(completed),
      at: Math.round(completed.at),
      group: call.group,
      ms: Math.round(completed.ms * 1000) / 1000, // Rounded to microseconds.
      bytesIn: argumentText === undefined ? undefined : Buffer.byteLength(argumentText),
      bytesOut: payload?.byteLength,
      details: undefined,
      argumentText,
      resultText: payload?.start(this.#maxResultChars),
      resultChars: payload?.length,
    };
  }

  #commonFieldsOf(completed: CompletedCall): CommonFields {
    const { call, facts } = completed;
    const { caller, operation, client } = call;
    const { entry } = operation;
    const { outcome, code } = classifyOutcome(completed);
    const callerNames = getOrCreate(this.#callers, caller, redactCallerNames);
    const clientNames = client && this.#clientNamesOf(client);
    const common: CommonFields = {
      kind: operation.kind,
      caller: callerNames.id,
      via: caller.via,
      client: clientNames?.name,
      clientVersion: clientNames?.version,
      profile: callerNames.profile,
      server: operation.upstream,
      entry:
        entry === undefined ? requestedName(operation) : getOrCreate(this.#entryNames, entry, nameOfEntry),
      tier: entry && facts.tierOf(entry),
      fingerprint: entry?.fingerprint,
      outcome,
      code,
      rule: completed.rule ?? (entry && facts.ruleOf(caller, entry)),
      action: undefined,
    };
    return entry === undefined ? common : this.#deduplicate(entry, common);
  }

  #clientNamesOf(client: ClientInfo): ClientNames {
    const { name, version } = client;
    for (const cached of this.#clients)
      if (cached.name === name && cached.version === version) return cached.names;
    const names = { name: redactName(name), version: redactName(version) };
    if (!isCacheable(name) || !isCacheable(version)) return names;
    if (this.#clients.length >= MAX_CACHED_CLIENTS) this.#clients.shift();
    this.#clients.push({ name, version, names });
    return names;
  }

  /** Returns the cached object with the same values, if there is one. */
  #deduplicate(entry: Entry, common: CommonFields): CommonFields {
    const variants = getOrCreate(this.#commonFields, entry, createVariants);
    for (const variant of variants) if (hasSameFields(variant, common)) return variant;
    if (variants.length >= MAX_CACHED_VARIANTS) variants.shift();
    variants.push(common);
    return common;
  }
}

/** Compares field by field, because a loop over field names takes 1 µs per record. */
export function hasSameFields(one: CommonFields, other: CommonFields): boolean {
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

function serializeArguments({ operation: { kind, params } }: ObservedCall): string | undefined {
  if (kind === 'tool' || kind === 'prompt') {
    const args = params['arguments'];
    return isJsonObject(args) ? stringifyExact(args) : '{}';
  }
  if (kind === 'other') return undefined;
  const { uri, argument } = params;
  return stringifyExact(kind === 'completion' ? { argument } : { uri });
}

function getOrCreate<K extends object, V>(cache: WeakMap<K, V>, key: K, create: (key: K) => V): V {
  let value = cache.get(key);
  if (value === undefined) cache.set(key, (value = create(key)));
  return value;
}

function redactCallerNames({ id, profile }: Caller): CallerNames {
  return { id: redactName(id) ?? '', profile: redactName(profile) ?? '' };
}

/**
 * Returns the name or URI that the client sent and that no entry has. It is redacted, because it may contain
 * a secret.
 */
function requestedName({ kind, params, method }: ObservedCall['operation']): string | undefined {
  const { name, uri } = params;
  if (typeof uri === 'string') return redactUri(uri.slice(0, MAX_URI_CHARS));
  if (kind === 'other') return redactText(method.slice(0, MAX_NAME_CHARS));
  return redactName(name);
}

/** Returns the name or URI that the server itself gives the entry. */
function nameOfEntry(entry: Entry): string {
  switch (entry.kind) {
    case 'resource':
      return redactUri(entry.definition.uri).slice(0, MAX_URI_CHARS);
    case 'template':
      return redactUri(entry.definition.uriTemplate).slice(0, MAX_URI_CHARS);
    default:
      return entry.definition.name.slice(0, MAX_URI_CHARS);
  }
}

/** Whether a client's name or version may be cached. Long values are not cached, to bound the memory. */
function isCacheable(value: unknown): boolean {
  return value === undefined || (typeof value === 'string' && value.length <= MAX_NAME_CHARS);
}

function createVariants(): CommonFields[] {
  return [];
}

/** Builds the draft of an event's record. */
export function buildEventDraft(event: AuditEvent, at: number): RecordDraftWithoutId {
  const { caller, details, server, entry } = event;
  return {
    common: {
      kind: event.kind,
      caller: redactName(caller.id) ?? '',
      via: caller.via,
      client: undefined,
      clientVersion: undefined,
      profile: caller.profile,
      server: server?.slice(0, MAX_NAME_CHARS),
      entry: entry === undefined ? undefined : redactText(entry.slice(0, MAX_URI_CHARS)),
      tier: undefined,
      fingerprint: event.fingerprint,
      outcome: event.outcome ?? 'ok',
      code: event.code,
      rule: event.rule,
      action: event.action,
    },
    at,
    group: undefined,
    ms: undefined,
    bytesIn: undefined,
    bytesOut: undefined,
    details: details && stringifyExact(redactValue(details)).slice(0, MAX_DETAILS_CHARS),
  };
}

function redactName(value: unknown): string | undefined {
  return typeof value === 'string' ? redactText(value.slice(0, MAX_NAME_CHARS)) : undefined;
}
