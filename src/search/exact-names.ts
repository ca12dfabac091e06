import type { ToolEntry } from '../model/entry.ts';

/** Finds the documents whose very name a query is, or contains as a word of its own. */
export interface ExactNames {
  find(query: string): ReadonlyMap<number, 'exposed' | 'original'>;
}

const MAX_WHOLE = 200;
const MAX_WORDS = 200;
const MAX_SCANNED = 6_000;

/** In steps, each a small part of the work. */
export function* exactNames(entries: readonly ToolEntry[]): Generator<void, ExactNames> {
  const exposed = new Map<string, number[]>();
  const original = new Map<string, number[]>();
  for (const [document, { name, definition }] of entries.entries()) {
    push(exposed, fold(name), document);
    push(original, fold(definition.name), document);
    yield;
  }
  return {
    find(query) {
      const found = new Map<number, 'exposed' | 'original'>();
      const take = (folded: string): void => {
        if (folded === '') return;
        for (const document of exposed.get(folded) ?? []) found.set(document, 'exposed');
        for (const document of original.get(folded) ?? [])
          if (!found.has(document)) found.set(document, 'original');
      };
      if (query.length <= MAX_WHOLE) take(fold(query));
      for (const word of query.slice(0, MAX_SCANNED).split(/[\s`"'()[\]{},;]+/u, MAX_WORDS)) {
        // A plain word may be the name of a tool by chance; one in several parts is meant as a name.
        if (/[\p{L}\p{N}][_./:-]+[\p{L}\p{N}]|\p{Ll}\p{Lu}/u.test(word)) take(fold(word));
      }
      return found;
    },
  };
}

function push(names: Map<string, number[]>, name: string, document: number): void {
  const list = names.get(name);
  if (list === undefined) names.set(name, [document]);
  else list.push(document);
}

/** Case and separators are what people and models write differently. */
function fold(name: string): string {
  return name.toLowerCase().replaceAll(/[^\p{L}\p{N}]+/gu, '');
}
