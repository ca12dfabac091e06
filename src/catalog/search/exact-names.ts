import type { ToolEntry } from '../../core/entry.ts';

/** Finds the documents whose name, exposed or original, is the query or a word in it. Case and separators are ignored. */
export interface ExactNameIndex {
  find(query: string): ReadonlyMap<number, 'exposed' | 'original'>;
}

const MAX_WHOLE_QUERY = 200;
const MAX_WORDS = 200;
const MAX_SCANNED_CHARS = 6_000;

/** Builds the index in small steps. */
export function* buildExactNames(entries: readonly ToolEntry[]): Generator<void, ExactNameIndex> {
  const exposed = new Map<string, number[]>();
  const original = new Map<string, number[]>();
  for (const [document, { name, definition }] of entries.entries()) {
    addName(exposed, fold(name), document);
    addName(original, fold(definition.name), document);
    yield;
  }
  return {
    find(query) {
      const found = new Map<number, 'exposed' | 'original'>();
      const addMatches = (folded: string): void => {
        if (folded === '') return;
        for (const document of exposed.get(folded) ?? []) found.set(document, 'exposed');
        for (const document of original.get(folded) ?? [])
          if (!found.has(document)) found.set(document, 'original');
      };
      if (query.length <= MAX_WHOLE_QUERY) addMatches(fold(query));
      for (const word of query.slice(0, MAX_SCANNED_CHARS).split(/[\s`"'()[\]{},;]+/u, MAX_WORDS)) {
        // A plain word may equal a tool name by chance; a word with several parts is meant as a name.
        if (/[\p{L}\p{N}][_./:-]+[\p{L}\p{N}]|\p{Ll}\p{Lu}/u.test(word)) addMatches(fold(word));
      }
      return found;
    },
  };
}

function addName(names: Map<string, number[]>, name: string, document: number): void {
  const list = names.get(name);
  if (list === undefined) names.set(name, [document]);
  else list.push(document);
}

/** Removes case and separators, which people and models write differently. */
function fold(name: string): string {
  return name.toLowerCase().replaceAll(/[^\p{L}\p{N}]+/gu, '');
}
