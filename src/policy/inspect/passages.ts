import { isJsonObject } from '../../model/json.ts';
import type { JsonObject } from '../../model/json.ts';
import type { Passage } from './finding.ts';

/** Enough for any honest definition; what lies beyond is reported as too long. */
const MAX_PASSAGES = 5_000;
const MAX_DEPTH = 40;
const MAX_CHARS = 100_000;

/** Everything of a definition that a model reads: texts and names, wherever they are. */
export function passagesOf(definition: JsonObject): {
  readonly passages: readonly Passage[];
  readonly isCut: boolean;
} {
  const passages: Passage[] = [];
  let chars = 0;
  let isCut = false;
  const add = (where: string, text: string, about?: string): void => {
    if (passages.length >= MAX_PASSAGES || chars >= MAX_CHARS) isCut = true;
    else {
      const kept = text.slice(0, MAX_CHARS - chars);
      isCut ||= kept.length < text.length;
      chars += kept.length;
      passages.push(about === undefined ? { where, text: kept } : { where, text: kept, about });
    }
  };
  const walk = (value: unknown, where: string, depth: number, about?: string): void => {
    if (isCut) return;
    if (typeof value === 'string') add(where, value, about);
    else if (depth > MAX_DEPTH) isCut = true;
    else if (Array.isArray(value)) value.forEach((one, at) => walk(one, `${where}[${at}]`, depth + 1, about));
    else if (isJsonObject(value)) {
      const isOfNames = where.endsWith('properties');
      for (const [key, member] of Object.entries(value)) {
        const inside = where === '' ? key : `${where}.${key}`;
        if (isOfNames ? key.length > 2 : isName(key)) add(`${inside} (name)`, key);
        walk(member, inside, depth + 1, isOfNames ? key : about);
      }
    }
  };
  // Icons are for clients, not for models; whether `_meta` is read depends on the client.
  const { icons: _icons, ...seen } = definition;
  walk(seen, '', 0);
  return { passages, isCut };
}

/** Keywords of JSON Schema are not names, and short words have no room for anything. */
function isName(key: string): boolean {
  return key.length > 20 || /[^A-Za-z0-9_$.-]/.test(key);
}
