import type { RedactConfig, SecretAction } from '../../config/guards-config.ts';
import { Payload } from '../../lib/payload.ts';
import { GatewayError } from '../../model/errors.ts';
import type { UpstreamName } from '../../model/ids.ts';
import { isJsonObject } from '../../model/json.ts';
import type { JsonObject } from '../../model/json.ts';
import type { Logger } from '../../observe/log.ts';
import type { SecretSearch } from '../../observe/secret-formats.ts';
import type { Call, Guard, Next } from '../call.ts';

const MASK = '[redacted]';
const MAX_DEPTH = 100;
/** Shorter texts are no secrets. */
const MIN_LENGTH = 12;
/** Keys are shorter than images. */
const MIN_BINARY = 100;
/** Kinds of secrets and tools that were reported; beyond that nothing new is said. */
const MAX_REPORTED = 1_000;

type Actions = Pick<RedactConfig, 'arguments' | 'results'>;

/** Finds secrets on their way to a server and back, and reports, masks or blocks them. What has none is passed on as it is. */
export function redact(deps: {
  readonly search: SecretSearch;
  readonly actionsOf: (upstream: UpstreamName) => Actions;
  readonly log: Logger;
}): Guard {
  const { search, actionsOf } = deps;
  const reported = new Set<string>();
  const report = (call: Call, where: string, kinds: readonly string[]): void => {
    const { upstream, params, method } = call.operation;
    const name = typeof params['name'] === 'string' ? params['name'] : method;
    const key = JSON.stringify([upstream, name, where, kinds]);
    if (reported.has(key) || reported.size >= MAX_REPORTED) return;
    reported.add(key);
    deps.log.warn('A call carries what looks like a secret.', { server: upstream, name, where, kinds });
  };
  // One look at the text; it is only taken apart when there is something in it, or may be behind an escape.
  const mayHave = (text: string): boolean => search.mayHave(text) || text.includes('\\u');
  const answered = (call: Call, next: Next, action: SecretAction): Promise<Payload> =>
    next(call).then((payload) => (mayHave(payload.text) ? incoming(call, payload, action) : payload));
  return (call, next) => {
    const actions = actionsOf(call.operation.upstream);
    const checked = actions.arguments === 'off' ? call : outgoing(call, actions.arguments);
    // Nothing is added to a call whose answer is nobody's business.
    return actions.results === 'off' ? next(checked) : answered(checked, next, actions.results);
  };

  function outgoing(call: Call, action: SecretAction): Call {
    const { params, upstream } = call.operation;
    const args = params['arguments'];
    const kinds = isJsonObject(args) ? kindsIn(args, search) : [];
    if (kinds.length === 0) return call;
    report(call, 'arguments', kinds);
    if (action === 'block') {
      const text = `The arguments hold what looks like a secret (${kinds.join(', ')}); nothing was sent to server "${upstream}". Leave it out, or ask the person (redact.arguments).`;
      throw new GatewayError('ARGUMENTS_REFUSED', text, { details: { upstream, kinds } });
    }
    if (action !== 'mask') return call;
    const masked = { ...params, arguments: maskIn(args, search) };
    return { ...call, operation: { ...call.operation, params: masked } };
  }

  function incoming(call: Call, payload: Payload, action: SecretAction): Payload {
    const { upstream } = call.operation;
    const kinds = kindsIn(payload.value, search);
    if (kinds.length === 0) return payload;
    report(call, 'result', kinds);
    if (action === 'block') {
      const text = `The result of server "${upstream}" holds what looks like a secret (${kinds.join(', ')}) and was not passed on; the call was made (redact.results).`;
      throw new GatewayError('RESULT_BLOCKED', text, { details: { upstream, kinds } });
    }
    return action === 'mask' ? Payload.of(maskIn(payload.value, search)) : payload;
  }
}

function kindsIn(value: unknown, search: SecretSearch): readonly string[] {
  const kinds: string[] = [];
  lookIn(value, search, kinds, 0);
  return kinds.length < 2 ? kinds : [...new Set(kinds)].toSorted();
}

/** Adds to `kinds`; without a closure, since it is done for the arguments of every call. */
function lookIn(value: unknown, search: SecretSearch, kinds: string[], depth: number): void {
  if (typeof value === 'string') {
    if (value.length >= MIN_LENGTH && search.mayHave(value)) kinds.push(...search.find(value));
  } else if (typeof value === 'object' && value !== null) {
    if (depth >= MAX_DEPTH) kinds.push(...kindsBelow(value, search));
    else
      for (const key in value) {
        if (key.length >= MIN_LENGTH && search.mayHave(key)) kinds.push(...search.find(key));
        if (!isBinary(value, key)) lookIn((value as JsonObject)[key], search, kinds, depth + 1);
      }
  }
}

/** Only strings that have a secret differ; marked numbers and binary content stay as they are. */
function maskIn(value: unknown, search: SecretSearch, depth = 0): unknown {
  if (typeof value === 'string') return search.mask(value, MASK);
  if (typeof value !== 'object' || value === null) return value;
  if (depth >= MAX_DEPTH) return kindsBelow(value, search).length === 0 ? value : MASK;
  if (Array.isArray(value)) return value.map((one) => maskIn(one, search, depth + 1));
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => [
      search.mask(key, MASK),
      isBinary(value, key) ? member : maskIn(member, search, depth + 1),
    ]),
  );
}

/** What is nested so deeply is judged as one text; where that cannot be had, it is not passed on unseen. */
function kindsBelow(value: object, search: SecretSearch): readonly string[] {
  try {
    return search.find(JSON.stringify(value));
  } catch {
    return ['nested-too-deeply'];
  }
}

/** Images, sounds and blobs are base64, in which anything can look like anything; what is no base64 is no such thing. */
function isBinary(owner: object, key: string): boolean {
  const isNamed = key === 'blob' ? 'uri' in owner : key === 'data' && 'mimeType' in owner;
  if (!isNamed) return false;
  const value = (owner as JsonObject)[key];
  return typeof value === 'string' && value.length >= MIN_BINARY && !/[^A-Za-z0-9+/=\s]/.test(value);
}
