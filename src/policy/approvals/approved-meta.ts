import { isJsonObject } from '../../core/json.ts';
import { isLargeJson } from '../../core/lib/is-large-json.ts';
import { withRoundedNumbers } from '../../core/lib/exact-json.ts';

/** Keys with which servers steer clients, such as `anthropic/searchHint` and `ui`; every change of their values needs a new approval. */
const CLIENT_KEY = /^(?:anthropic|openai|ui|io\.modelcontextprotocol)(?:$|\/)/;
/** In a larger `_meta`, no values are replaced, because that would block the process for too long; every change then needs a new approval. */
const MAX_MEMBERS = 1_000;

const MAX_CHANGING_LENGTH = 128;
/** Formats of values that honest servers change on their own. None of them has room for a sentence. */
const CHANGING_TEXTS: readonly (readonly [RegExp, string])[] = [
  [/^\d{4}-\d{2}-\d{2}(?:[T ][\d:.]{4,18}(?:Z|[+-]\d{2}:?\d{2})?)?$/, '(time)'],
  [/^v?\d{1,9}(?:\.\d{1,9}){1,3}(?:[-+][0-9a-f.]{1,40})?$/, '(version)'],
  [/^(?=.*\d)(?:[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9a-f]{8,128}|\d{1,20})$/i, '(id)'],
];

/**
 * Returns `_meta` of a definition as it is approved. Numbers, times, versions and ids become placeholders, because some servers change them
 * with every listing and they cannot instruct a model. Keys that clients interpret keep their values.
 */
export function toApprovedMeta(meta: unknown): unknown {
  if (!isJsonObject(meta) || isLargeJson(meta, MAX_MEMBERS)) return meta;
  return Object.fromEntries(
    Object.entries(meta).map(([key, value]) => [key, CLIENT_KEY.test(key) ? value : replaceChanging(value)]),
  );
}

function replaceChanging(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(replaceChanging);
  if (isJsonObject(value))
    return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, replaceChanging(member)]));
  // `parseExact` stores a number that JavaScript would round as a marked string.
  if (typeof withRoundedNumbers(value) === 'number') return '(number)';
  if (typeof value !== 'string' || value.length > MAX_CHANGING_LENGTH) return value;
  return CHANGING_TEXTS.find(([form]) => form.test(value))?.[1] ?? value;
}
