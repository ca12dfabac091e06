import { parseReferences } from '../../config/resolve-references.ts';
import { isJsonObject } from '../../core/json.ts';
import type { JsonObject } from '../../core/json.ts';
import { isNonEmptyString, toStrings } from './entry-reader.ts';

/** Whether both entries reach the same server. A reference in our entry matches any text in the other one. */
export function isSameEntry(ours: unknown, other: JsonObject): boolean {
  if (!isJsonObject(ours)) return false;
  const [ourUrl, otherUrl] = [ours['url'] ?? ours['serverUrl'], other['url'] ?? other['serverUrl']];
  if (ourUrl !== undefined || otherUrl !== undefined) {
    return isSameText(ourUrl, otherUrl) && isSameMap(readHeaders(ours), readHeaders(other));
  }
  return (
    isSameText(ours['command'], other['command']) &&
    isSameList(toStrings(ours['args']), toStrings(other['args'])) &&
    isSameMap(ours['env'], other['env']) &&
    isSameText(ours['cwd'] ?? '', other['cwd'] ?? '')
  );
}

/** Returns the headers with lower-case names, including the one that `authorizationToken` stands for. */
function readHeaders({ headers, authorizationToken }: JsonObject): JsonObject {
  const entries = Object.entries(isJsonObject(headers) ? headers : {});
  const lowerCase = entries.map(([name, value]) => [name.toLowerCase(), value] as const);
  const token = isNonEmptyString(authorizationToken)
    ? [['authorization', `Bearer ${authorizationToken}`] as const]
    : [];
  return Object.fromEntries([...token, ...lowerCase]);
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
  const literals = parseReferences(ours).map((part) => (typeof part === 'string' ? part : undefined));
  if (!literals.includes(undefined)) return false;
  // A text whose secret was replaced by a reference is recognised by the rest of the text.
  const pattern = literals.map((text) => (text === undefined ? '[^]+' : escapePattern(text))).join('');
  return new RegExp(`^${pattern}$`).test(other.replaceAll('$${', () => '${'));
}

function escapePattern(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, String.raw`\$&`);
}
