import { parseReferences } from '../config/references.ts';
import { isJsonObject } from '../model/json.ts';
import type { JsonObject } from '../model/json.ts';
import { hasText, strings } from './foreign-entry.ts';

/** Whether our entry reaches what the other one reaches; where ours has a reference, the other may have any text. */
export function isSameEntry(ours: unknown, other: JsonObject): boolean {
  if (!isJsonObject(ours)) return false;
  const url = addressOf(ours);
  if (url !== undefined || addressOf(other) !== undefined)
    return isSameText(url, addressOf(other)) && isSameMap(headersOf(ours), headersOf(other));
  return (
    isSameText(ours['command'], other['command']) &&
    isSameList(strings(ours['args']), strings(other['args'])) &&
    isSameMap(ours['env'], other['env']) &&
    isSameText(ours['cwd'] ?? '', other['cwd'] ?? '')
  );
}

function addressOf(entry: JsonObject): unknown {
  return entry['url'] ?? entry['serverUrl'];
}

/** Names of headers have no case, and some clients have the most usual one apart. */
function headersOf({ headers, authorizationToken }: JsonObject): JsonObject {
  const own = Object.entries(isJsonObject(headers) ? headers : {});
  const named = own.map(([name, value]) => [name.toLowerCase(), value] as const);
  const token = hasText(authorizationToken)
    ? [['authorization', `Bearer ${authorizationToken}`] as const]
    : [];
  return Object.fromEntries([...token, ...named]);
}

function isSameMap(ours: unknown, other: unknown): boolean {
  const a = isJsonObject(ours) ? ours : {};
  const b = isJsonObject(other) ? other : {};
  const names = Object.keys(a);
  return (
    names.length === Object.keys(b).length &&
    names.every((name) => Object.hasOwn(b, name) && isSameText(a[name], b[name]))
  );
}

function isSameList(ours: readonly string[], other: readonly string[]): boolean {
  return ours.length === other.length && ours.every((text, at) => isSameText(text, other[at]));
}

function isSameText(ours: unknown, other: unknown): boolean {
  if (ours === other) return true;
  if (typeof ours !== 'string' || typeof other !== 'string') return false;
  const parts = parseReferences(ours);
  const texts = parts.map((part) => (typeof part === 'string' ? part : undefined));
  if (!texts.includes(undefined)) return false;
  // What a secret was moved out of is recognised by what stands around it.
  const pattern = texts.map((text) => (text === undefined ? '[^]+' : escaped(text))).join('');
  return new RegExp(`^${pattern}$`).test(plain(other));
}

/** With `${` for `$${`, as texts around references are compared. */
function plain(text: string): string {
  return text.replaceAll('$${', () => '${');
}

function escaped(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, String.raw`\$&`);
}
