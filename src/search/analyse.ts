import type { ToolEntry } from '../model/entry.ts';
import type { Values } from './query.ts';
import { joinedTerms, tokensOf } from './tokenize.ts';
import type { TokenCache } from './tokenize.ts';
import { toolText } from './tool-text.ts';
import type { ServerText } from './tool-text.ts';
import type { Vocabulary } from './vocabulary.ts';
import { FIELDS } from './weights.ts';

/** The words of a tool or of its server, as numbers; does not depend on any other document. */
export interface Analysed {
  /** One element for each pair of term and field. */
  readonly terms: Uint32Array;
  readonly fields: Uint8Array;
  readonly counts: Uint16Array;
  readonly lengths: Uint16Array;
  /** Terms of the name, in order. */
  readonly name: Uint32Array;
  /** Terms of the description, in order. */
  readonly description: Uint32Array;
  /** Kinds of values that parameters take. */
  readonly accepts: ReadonlySet<keyof Values>;
}

/** Words of parameter names that tell which kind of value they take. */
const TAKES: readonly (readonly [kind: keyof Values, words: readonly string[]])[] = [
  ['url', ['url', 'uri', 'link']],
  ['path', ['path', 'file', 'filename']],
  ['date', ['date']],
  ['email', ['email']],
];

const MAX_SEQUENCE = 160;
const NAME = FIELDS.indexOf('name');
const SERVER = FIELDS.indexOf('server');
const SERVER_TEXT = FIELDS.indexOf('serverText');
const DESCRIPTION = FIELDS.indexOf('description');

export function analyseTool(entry: ToolEntry, words: Vocabulary, cache: TokenCache): Analysed {
  const text = toolText(entry);
  const counted = counter(words, cache);
  const name = counted.add(NAME, text.name);
  counted.addJoined(NAME, text.name);
  counted.add(FIELDS.indexOf('title'), text.title);
  const description = counted.add(DESCRIPTION, text.description);
  counted.addJoined(DESCRIPTION, text.description);
  counted.add(FIELDS.indexOf('parameters'), text.parameters);
  counted.add(FIELDS.indexOf('parameterTexts'), text.parameterTexts);
  counted.add(FIELDS.indexOf('enums'), text.enums);
  return counted.done({
    name,
    description: description.slice(0, MAX_SEQUENCE),
    accepts: acceptsOf(text.parameters, cache),
  });
}

export function analyseServer(server: ServerText, words: Vocabulary, cache: TokenCache): Analysed {
  const counted = counter(words, cache);
  // The names under which a server is known repeat each other: each word counts once.
  const name = [...new Set(tokensOf(server.name).map(({ word }) => word))].join(' ');
  counted.add(SERVER, name);
  counted.addJoined(SERVER, server.name);
  counted.add(SERVER_TEXT, server.text);
  return counted.done({ name: [], description: [], accepts: new Set() });
}

function acceptsOf(parameters: string, cache: TokenCache): ReadonlySet<keyof Values> {
  const words = new Set(tokensOf(parameters, cache).map(({ word }) => word));
  return new Set(TAKES.filter(([, takes]) => takes.some((word) => words.has(word))).map(([kind]) => kind));
}

interface Sequences {
  readonly name: readonly number[];
  readonly description: readonly number[];
  readonly accepts: ReadonlySet<keyof Values>;
}

function counter(words: Vocabulary, cache: TokenCache) {
  const counts = new Map<number, number>();
  const lengths = new Uint16Array(FIELDS.length);
  const count = (field: number, term: string): number => {
    const id = words.intern(term);
    const key = id * FIELDS.length + field;
    counts.set(key, (counts.get(key) ?? 0) + 1);
    return id;
  };
  return {
    add(field: number, text: string): readonly number[] {
      const ids = tokensOf(text, cache).map(({ term }) => count(field, term));
      lengths[field] = Math.min(ids.length, 0xff_ff);
      return ids;
    },
    /** Counts at most once, and not towards the length. */
    addJoined(field: number, text: string): void {
      for (const term of new Set(joinedTerms(text))) {
        const id = words.intern(term);
        const key = id * FIELDS.length + field;
        if (!counts.has(key)) counts.set(key, 1);
      }
    },
    done({ name, description, accepts }: Sequences): Analysed {
      const size = counts.size;
      const terms = new Uint32Array(size);
      const fields = new Uint8Array(size);
      const amounts = new Uint16Array(size);
      let at = 0;
      for (const [key, amount] of counts) {
        terms[at] = Math.floor(key / FIELDS.length);
        fields[at] = key % FIELDS.length;
        amounts[at] = Math.min(amount, 0xff_ff);
        at += 1;
      }
      return {
        terms,
        fields,
        counts: amounts,
        lengths,
        name: Uint32Array.from(new Set(name)),
        description: Uint32Array.from(description),
        accepts,
      };
    },
  };
}
