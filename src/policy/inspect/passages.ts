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
  const add = (where: string, text: string): void => {
    if (passages.length >= MAX_PASSAGES || chars >= MAX_CHARS) isCut = true;
    else {
      const kept = text.slice(0, MAX_CHARS - chars);
      isCut ||= kept.length < text.length;
      chars += kept.length;
      passages.push({ where, text: kept });
    }
  };
  const walk = (value: unknown, where: string, depth: number): void => {
    if (isCut) return;
    if (typeof value === 'string') add(where, value);
    else if (depth > MAX_DEPTH) isCut = true;
    else if (Array.isArray(value)) value.forEach((one, at) => walk(one, `${where}[${at}]`, depth + 1));
    else if (isJsonObject(value)) {
      for (const [key, member] of Object.entries(value)) {
        const inside = where === '' ? key : `${where}.${key}`;
        if (isName(key)) add(`${inside} (name)`, key);
        walk(member, inside, depth + 1);
      }
    }
  };
  // `_meta` and icons are for clients, not for models.
  const { _meta: _, icons: _icons, ...seen } = definition;
  walk(seen, '', 0);
  return { passages, isCut };
}

/** Keywords of JSON Schema are not names, and short words have no room for anything. */
function isName(key: string): boolean {
  return key.length > 20 || /[^A-Za-z0-9_$.-]/.test(key);
}
