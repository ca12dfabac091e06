import { setImmediate as nextTurn } from 'node:timers/promises';

import type { RedactConfig, SecretAction } from '../../config/guards-config.ts';
import { GatewayError, RpcError } from '../../core/errors.ts';
import type { RpcErrorBody } from '../../core/errors.ts';
import type { UpstreamName } from '../../core/ids.ts';
import { isJsonObject } from '../../core/json.ts';
import type { JsonObject } from '../../core/json.ts';
import { completeInSlices } from '../../core/lib/complete-in-slices.ts';
import { Payload } from '../../core/lib/payload.ts';
import type { Logger } from '../../observability/log.ts';
import type { SecretSearch } from '../../observability/secret-formats.ts';
import type { Call, Guard, Next } from '../guard.ts';

const MASK = '[redacted]';
/** Depth from which a value is searched as one text instead of recursively. */
const MAX_DEPTH = 100;
/** Minimum length of a secret; shorter strings are not searched. */
const MIN_SECRET_LENGTH = 12;
/** Minimum length of a base64 text that counts as an image, a sound or a blob. Shorter ones may be keys. */
const MIN_BINARY_LENGTH = 100;
/** Maximum number of combinations of tool and secret kind that are reported in the log. */
const MAX_REPORTED = 1_000;
/** Arguments with more values are searched in slices, so that the event loop stays responsive. */
const MAX_VALUES_AT_ONCE = 10_000;
/** Results with more characters are handled in several turns of the event loop. */
const LARGE_CHARS = 256 * 1024;

type RedactActions = Pick<RedactConfig, 'arguments' | 'results'>;

/**
 * Reports, masks or blocks secrets in arguments and results, as the `redact` setting says. Calls without secrets pass
 * unchanged.
 */
export function redactionGuard(deps: {
  readonly search: SecretSearch;
  readonly actionsOf: (upstream: UpstreamName) => RedactActions;
  readonly log: Logger;
}): Guard {
  const { search, actionsOf } = deps;
  const report = createReporter(deps.log);
  return (call, next) => {
    const { params, upstream } = call.operation;
    const actions = actionsOf(upstream);
    const nextChecked: Next =
      actions.results === 'off' ? next : (checked) => nextWithRedactedResult(checked, next, actions.results);
    // A call without anything to redact gets no additional promise.
    return actions.arguments !== 'off' &&
      isJsonObject(params['arguments']) &&
      mayContainSecret(params['arguments'], search, 0, { left: MAX_VALUES_AT_ONCE })
      ? redactArguments(call, params['arguments'], actions.arguments).then(nextChecked)
      : nextChecked(call);
  };

  async function redactArguments(call: Call, args: JsonObject, action: SecretAction): Promise<Call> {
    const { params, upstream } = call.operation;
    const kinds = await completeInSlices(findSecretKinds(args, search));
    if (kinds.length === 0) return call;
    report(call, 'arguments', kinds);
    if (action === 'block') {
      const text = `The arguments contain what looks like a secret (${kinds.join(', ')}); nothing was sent to server "${upstream}". Leave it out, or ask the user to change redact.arguments.`;
      throw new GatewayError('ARGUMENTS_REFUSED', text, { details: { upstream, kinds } });
    }
    if (action !== 'mask') return call;
    const masked = { ...params, arguments: await completeInSlices(maskSecrets(args, search)) };
    return { ...call, operation: { ...call.operation, params: masked } };
  }

  function nextWithRedactedResult(call: Call, next: Next, action: SecretAction): Promise<Payload> {
    return next(call).then(
      (payload) => {
        // A fast search of the raw text decides whether the result is parsed. Text with `\u` is always parsed, because an escape may
        // hide a secret from that search.
        const { text } = payload;
        return search.mayContain(text) || text.includes('\\u')
          ? redactResult(call, payload, action)
          : payload;
      },
      async (error: unknown) => {
        throw error instanceof RpcError ? await redactError(call, error, action) : error;
      },
    );
  }

  /** Redacts the error response of a server like a result, because the client gets its message and data, too. */
  async function redactError(call: Call, error: RpcError, action: SecretAction): Promise<RpcError> {
    const payload = Payload.of(error.body);
    const redacted = await redactResult(call, payload, action);
    // Masking changes only strings and member names with secrets, so the value stays an error.
    return redacted === payload
      ? error
      : new RpcError({ ...error.body, ...(redacted.value as RpcErrorBody) });
  }

  async function redactResult(call: Call, payload: Payload, action: SecretAction): Promise<Payload> {
    const { upstream } = call.operation;
    // A large result was already parsed in this turn of the event loop. `value` parses it again, in the next
    // turn.
    if (payload.length > LARGE_CHARS) await nextTurn();
    const kinds = await completeInSlices(findSecretKinds(payload.value, search));
    if (kinds.length === 0) return payload;
    report(call, 'result', kinds);
    if (action === 'block') {
      const text = `The result of server "${upstream}" contains what looks like a secret (${kinds.join(', ')}) and was not passed on; the call was made. The setting redact.results controls this.`;
      throw new GatewayError('RESULT_BLOCKED', text, { details: { upstream, kinds } });
    }
    return action === 'mask'
      ? Payload.of(await completeInSlices(maskSecrets(payload.value, search)))
      : payload;
  }
}

/** Returns a function that logs each combination of tool, place and kinds of secrets once. */
function createReporter(
  log: Logger,
): (call: Call, where: 'arguments' | 'result', kinds: readonly string[]) => void {
  const reported = new Set<string>();
  return ({ operation: { upstream, params, method } }, where, kinds) => {
    const name = typeof params['name'] === 'string' ? params['name'] : method;
    const key = JSON.stringify([upstream, name, where, kinds]);
    if (reported.has(key) || reported.size >= MAX_REPORTED) return;
    reported.add(key);
    log.warn('A call contains what looks like a secret.', { server: upstream, name, where, kinds });
  };
}

/**
 * A cheap check: true for every value that contains a secret or has too many members, and for few others. It creates no closures, because
 * it runs for the arguments of every call.
 */
function mayContainSecret(
  value: unknown,
  search: SecretSearch,
  depth: number,
  values: { left: number },
): boolean {
  if (--values.left < 0) return true;
  if (typeof value === 'string') return value.length >= MIN_SECRET_LENGTH && search.mayContain(value);
  if (typeof value !== 'object' || value === null) return false;
  if (depth >= MAX_DEPTH) return true;
  for (const key in value) {
    if (key.length >= MIN_SECRET_LENGTH && search.mayContain(key)) return true;
    if (mayContainSecret((value as JsonObject)[key], search, depth + 1, values) && !isBinary(value, key))
      return true;
  }
  return false;
}

/** Returns the kinds of secrets in a value. */
function* findSecretKinds(value: unknown, search: SecretSearch): Generator<undefined, readonly string[]> {
  const kinds = new Set<string>();
  yield* collectSecretKinds(value, search, kinds, 0);
  return [...kinds].toSorted();
}

function* collectSecretKinds(
  value: unknown,
  search: SecretSearch,
  kinds: Set<string>,
  depth: number,
): Generator<undefined, void> {
  if (typeof value === 'string') {
    if (value.length < MIN_SECRET_LENGTH) return;
    for (const kind of yield* search.findSteps(value)) kinds.add(kind);
  } else if (typeof value === 'object' && value !== null) {
    if (depth >= MAX_DEPTH) for (const kind of findSecretKindsInText(value, search)) kinds.add(kind);
    else
      for (const key in value) {
        yield;
        if (key.length >= MIN_SECRET_LENGTH) for (const kind of search.find(key)) kinds.add(kind);
        if (!isBinary(value, key))
          yield* collectSecretKinds((value as JsonObject)[key], search, kinds, depth + 1);
      }
  }
}

/** Returns a copy of a value with masked secrets. Strings without a secret, numbers and binary content stay unchanged. */
function* maskSecrets(value: unknown, search: SecretSearch, depth = 0): Generator<undefined, unknown> {
  if (typeof value === 'string') return yield* search.maskSteps(value, MASK);
  if (typeof value !== 'object' || value === null) return value;
  if (depth >= MAX_DEPTH) return findSecretKindsInText(value, search).length === 0 ? value : MASK;
  if (Array.isArray(value)) {
    const items: unknown[] = [];
    for (const item of value) {
      yield;
      items.push(yield* maskSecrets(item, search, depth + 1));
    }
    return items;
  }
  const members: [string, unknown][] = [];
  for (const [key, member] of Object.entries(value as JsonObject)) {
    yield;
    const masked: unknown = isBinary(value, key) ? member : yield* maskSecrets(member, search, depth + 1);
    members.push([search.mask(key, MASK), masked]);
  }
  return Object.fromEntries(members);
}

/** Searches a value at `MAX_DEPTH` as one text. A value that cannot be serialized counts as a finding. */
function findSecretKindsInText(value: object, search: SecretSearch): readonly string[] {
  try {
    return search.find(JSON.stringify(value));
  } catch {
    return ['nested-too-deeply'];
  }
}

/** Whether a member holds base64 of an image, sound or blob, in which any pattern may occur by chance. */
function isBinary(owner: object, key: string): boolean {
  const isBinaryMember = key === 'blob' ? 'uri' in owner : key === 'data' && 'mimeType' in owner;
  if (!isBinaryMember) return false;
  const value = (owner as JsonObject)[key];
  return typeof value === 'string' && value.length >= MIN_BINARY_LENGTH && !/[^A-Za-z0-9+/=\s]/.test(value);
}
