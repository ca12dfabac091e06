import type { ToolEntry } from '../../core/entry.ts';
import type { ValueKinds } from './query.ts';
import { joinedTermsOfRun, runsOf, tokensOf, tokensOfRun } from './tokenize.ts';
import { toolText } from './tool-text.ts';
import type { ServerText } from './tool-text.ts';
import type { Vocabulary } from './vocabulary.ts';
import { SEARCH_FIELDS } from './ranking-weights.ts';

/**
 * The words of a tool or of its server, as numbers. They do not depend on other documents. One array holds
 * everything, because an array object costs more memory than the words of most tools. `data` holds the
 * lengths of the fields, the distinct terms of the name, the terms of the description in order, then a key
 * and a count for each pair of term and field. The key is `term * SEARCH_FIELDS.length + field`.
 */
export interface AnalysedText {
  readonly data: Uint32Array;
  /** The number of distinct terms in the name. */
  readonly nameTermCount: number;
  /** The number of terms of the description in `data`, at most `MAX_SEQUENCE`. */
  readonly descriptionTermCount: number;
  /** The kinds of values that parameters accept. */
  readonly valueKinds: readonly (keyof ValueKinds)[];
}

/**
 * The terms of a run of characters; see `runsOf`. Analysed runs are cached, because a few runs occur in many
 * tools.
 */
interface AnalysedRun {
  readonly terms: readonly number[];
  /** The terms of adjacent parts of an identifier, written as one word. */
  readonly joined: readonly number[];
  /** The kinds of values that a parameter with this word in its name accepts. */
  readonly valueKinds: readonly (keyof ValueKinds)[];
}

/** Analysed runs by their text; valid for one vocabulary. */
export type RunCache = Map<string, AnalysedRun>;

/** Words of parameter names that indicate the kind of value. */
const VALUE_KIND_WORDS: ReadonlyMap<string, keyof ValueKinds> = new Map([
  ['url', 'url'],
  ['uri', 'url'],
  ['link', 'url'],
  ['path', 'path'],
  ['file', 'path'],
  ['filename', 'path'],
  ['date', 'date'],
  ['email', 'email'],
]);

/** The number of terms of a description whose order is kept, to find adjacent words. */
const MAX_SEQUENCE = 160;
const MAX_COUNT = 0xff_ff;
const NAME = SEARCH_FIELDS.indexOf('name');
const TITLE = SEARCH_FIELDS.indexOf('title');
const DESCRIPTION = SEARCH_FIELDS.indexOf('description');
const PARAMETERS = SEARCH_FIELDS.indexOf('parameters');
const PARAMETER_TEXTS = SEARCH_FIELDS.indexOf('parameterTexts');
const ENUMS = SEARCH_FIELDS.indexOf('enums');
const SERVER = SEARCH_FIELDS.indexOf('server');
const SERVER_TEXT = SEARCH_FIELDS.indexOf('serverText');

export function analyseTool(entry: ToolEntry, words: Vocabulary, cache: RunCache): AnalysedText {
  const text = toolText(entry);
  const counter = createTermCounter(words, cache);
  const name = counter.add(NAME, text.name, { joined: true });
  counter.add(TITLE, text.title);
  const description = counter.add(DESCRIPTION, text.description, { joined: true });
  const parameters = counter.add(PARAMETERS, text.parameters);
  counter.add(PARAMETER_TEXTS, text.parameterTexts);
  counter.add(ENUMS, text.enums);
  return counter.done({
    name: [...new Set(name.terms)],
    description: description.terms.slice(0, MAX_SEQUENCE),
    valueKinds: parameters.valueKinds,
  });
}

export function analyseServer(server: ServerText, words: Vocabulary, cache: RunCache): AnalysedText {
  const counter = createTermCounter(words, cache);
  // The names of a server (key, name, title) repeat each other, so each word counts once.
  const name = [...new Set(tokensOf(server.name).map(({ word }) => word))].join(' ');
  counter.add(SERVER, name);
  counter.addJoined(SERVER, server.name);
  counter.add(SERVER_TEXT, server.text);
  return counter.done({ name: [], description: [], valueKinds: [] });
}

/** Returns the number of words in a field. */
export function fieldLength({ data }: AnalysedText, field: number): number {
  return data[field] ?? 0;
}

/** Returns the distinct terms of the name. */
export function nameTerms({ data, nameTermCount }: AnalysedText): Uint32Array {
  return data.subarray(SEARCH_FIELDS.length, SEARCH_FIELDS.length + nameTermCount);
}

/** Returns the first terms of the description, in order. */
export function descriptionTerms({ data, nameTermCount, descriptionTermCount }: AnalysedText): Uint32Array {
  return data.subarray(
    SEARCH_FIELDS.length + nameTermCount,
    SEARCH_FIELDS.length + nameTermCount + descriptionTermCount,
  );
}

/** Returns where the pairs begin in `data`: each is a key, followed by the number of times the term is in the field. */
export function pairsOffset({ nameTermCount, descriptionTermCount }: AnalysedText): number {
  return SEARCH_FIELDS.length + nameTermCount + descriptionTermCount;
}

export function termOfKey(key: number): number {
  return Math.floor(key / SEARCH_FIELDS.length);
}

export function fieldOfKey(key: number): number {
  return key % SEARCH_FIELDS.length;
}

interface Sequences {
  readonly name: readonly number[];
  readonly description: readonly number[];
  readonly valueKinds: readonly (keyof ValueKinds)[];
}

const NOTHING: Pick<AnalysedRun, 'terms' | 'valueKinds'> = { terms: [], valueKinds: [] };

function createTermCounter(words: Vocabulary, cache: RunCache) {
  const counts = new Map<number, number>();
  const lengths = new Uint32Array(SEARCH_FIELDS.length);
  /** Counts each term at most once, and does not add it to the length of the field. */
  const countJoined = (field: number, joined: readonly number[]): void => {
    for (const id of joined) {
      const key = id * SEARCH_FIELDS.length + field;
      if (!counts.has(key)) counts.set(key, 1);
    }
  };
  return {
    addJoined(field: number, text: string): void {
      for (const run of runsOf(text)) countJoined(field, analyseRun(run, words, cache).joined);
    },
    /** Adds the terms of a text. `joined` also counts the parts of identifiers written as one word. */
    add(field: number, text: string, { joined = false } = {}): Pick<AnalysedRun, 'terms' | 'valueKinds'> {
      if (text === '') return NOTHING;
      const terms: number[] = [];
      const valueKinds: (keyof ValueKinds)[] = [];
      const together: number[] = [];
      for (const run of runsOf(text)) {
        const read = analyseRun(run, words, cache);
        for (const kind of read.valueKinds) if (!valueKinds.includes(kind)) valueKinds.push(kind);
        if (joined) together.push(...read.joined);
        for (const id of read.terms) {
          const key = id * SEARCH_FIELDS.length + field;
          counts.set(key, (counts.get(key) ?? 0) + 1);
          terms.push(id);
        }
      }
      lengths[field] = Math.min(terms.length, MAX_COUNT);
      countJoined(field, together);
      return { terms, valueKinds };
    },
    done({ name, description, valueKinds }: Sequences): AnalysedText {
      const head = SEARCH_FIELDS.length + name.length + description.length;
      const data = new Uint32Array(head + 2 * counts.size);
      data.set(lengths);
      data.set(name, SEARCH_FIELDS.length);
      data.set(description, SEARCH_FIELDS.length + name.length);
      let at = head;
      for (const [key, amount] of counts) {
        data[at] = key;
        data[at + 1] = Math.min(amount, MAX_COUNT);
        at += 2;
      }
      return { data, nameTermCount: name.length, descriptionTermCount: description.length, valueKinds };
    },
  };
}

function analyseRun(run: string, words: Vocabulary, cache: RunCache): AnalysedRun {
  const known = cache.get(run);
  if (known !== undefined) return known;
  const tokens = tokensOfRun(run);
  const read = {
    terms: tokens.map(({ term }) => words.intern(term)),
    joined: joinedTermsOfRun(run).map((term) => words.intern(term)),
    valueKinds: tokens.flatMap(({ word }) => VALUE_KIND_WORDS.get(word) ?? []),
  };
  cache.set(run, read);
  return read;
}
