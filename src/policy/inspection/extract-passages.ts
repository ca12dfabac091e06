import { isJsonObject } from '../../core/json.ts';
import type { JsonObject } from '../../core/json.ts';
import type { Passage } from './inspection-finding.ts';

/** These limits are sufficient for every honest definition. A definition that exceeds one is reported as too long. */
const MAX_PASSAGES = 5_000;
const MAX_DEPTH = 40;
const MAX_CHARS = 100_000;

/** Returns all texts and names of a definition that a model may read. */
export function extractPassages(definition: JsonObject): {
  readonly passages: readonly Passage[];
  readonly isTruncated: boolean;
} {
  const passages: Passage[] = [];
  let chars = 0;
  let isTruncated = false;
  const add = (where: string, text: string, parameter?: string): void => {
    if (passages.length >= MAX_PASSAGES || chars >= MAX_CHARS) isTruncated = true;
    else {
      const beginning = text.slice(0, MAX_CHARS - chars);
      isTruncated ||= beginning.length < text.length;
      chars += beginning.length;
      passages.push({ where, text: beginning, parameter });
    }
  };
  const visit = (value: unknown, where: string, depth: number, parameter?: string): void => {
    if (isTruncated) return;
    if (typeof value === 'string') add(where, value, parameter);
    else if (depth > MAX_DEPTH) isTruncated = true;
    else if (Array.isArray(value))
      value.forEach((item, index) => visit(item, `${where}[${index}]`, depth + 1, parameter));
    else if (isJsonObject(value)) {
      // The keys of a `properties` object are names that the server has chosen.
      const hasParameters = where.endsWith('properties');
      for (const [key, member] of Object.entries(value)) {
        const path = where === '' ? key : `${where}.${key}`;
        if (hasParameters ? key.length > 2 : isName(key)) add(`${path} (name)`, key);
        visit(member, path, depth + 1, hasParameters ? key : parameter);
      }
    }
  };
  // Clients show icons to people only. Whether a model reads `_meta` depends on the client, so it is included.
  const { icons: _icons, ...readable } = definition;
  visit(readable, '', 0);
  return { passages, isTruncated };
}

/** Whether a key can carry a message. Nearly all keywords of JSON Schema have at most 20 characters, and none contains a space. */
function isName(key: string): boolean {
  return key.length > 20 || /[^A-Za-z0-9_$.-]/.test(key);
}
