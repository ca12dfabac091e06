import type { ToolEntry } from '../model/entry.ts';
import type { Values } from './query.ts';
import { joinedTermsOfRun, runsOf, tokensOf, tokensOfRun } from './tokenize.ts';
import { toolText } from './tool-text.ts';
import type { ServerText } from './tool-text.ts';
import type { Vocabulary } from './vocabulary.ts';
import { FIELDS } from './weights.ts';

/**
 * The words of a tool or of its server, as numbers; does not depend on any other document. One array holds everything,
 * since an array costs more than what most tools would have in it: lengths of the fields, terms of the name in order, terms
 * of the description in order, then a key (see `termOf`) and a count for each pair of term and field.
 */
export interface Analysed {
  readonly data: Uint32Array;
  /** How many terms the name has. */
  readonly name: number;
  readonly description: number;
  /** Kinds of values that parameters take. */
  readonly accepts: readonly (keyof Values)[];
}

/** What a run of letters means; texts of tools repeat few of them often. */
interface Run {
  readonly terms: readonly number[];
  readonly joined: readonly number[];
  /** Kinds of values that a parameter takes with this in its name. */
  readonly takes: readonly (keyof Values)[];
}

/** For one vocabulary. */
export type RunCache = Map<string, Run>;

/** Words of parameter names that tell which kind of value they take. */
const TAKES: ReadonlyMap<string, keyof Values> = new Map([
  ['url', 'url'],
  ['uri', 'url'],
  ['link', 'url'],
  ['path', 'path'],
  ['file', 'path'],
  ['filename', 'path'],
  ['date', 'date'],
  ['email', 'email'],
]);

const MAX_SEQUENCE = 160;
const MAX_COUNT = 0xff_ff;
const NAME = FIELDS.indexOf('name');
const TITLE = FIELDS.indexOf('title');
const DESCRIPTION = FIELDS.indexOf('description');
const PARAMETERS = FIELDS.indexOf('parameters');
const PARAMETER_TEXTS = FIELDS.indexOf('parameterTexts');
const ENUMS = FIELDS.indexOf('enums');
const SERVER = FIELDS.indexOf('server');
const SERVER_TEXT = FIELDS.indexOf('serverText');

export function analyseTool(entry: ToolEntry, words: Vocabulary, cache: RunCache): Analysed {
  const text = toolText(entry);
  const counted = counter(words, cache);
  const name = counted.add(NAME, text.name, { joined: true });
  counted.add(TITLE, text.title);
  const description = counted.add(DESCRIPTION, text.description, { joined: true });
  const parameters = counted.add(PARAMETERS, text.parameters);
  counted.add(PARAMETER_TEXTS, text.parameterTexts);
  counted.add(ENUMS, text.enums);
  return counted.done({
    name: [...new Set(name.terms)],
    description: description.terms.slice(0, MAX_SEQUENCE),
    accepts: parameters.takes,
  });
}

export function analyseServer(server: ServerText, words: Vocabulary, cache: RunCache): Analysed {
  const counted = counter(words, cache);
  // The names under which a server is known repeat each other: each word counts once.
  const name = [...new Set(tokensOf(server.name).map(({ word }) => word))].join(' ');
  counted.add(SERVER, name);
  counted.addJoined(SERVER, server.name);
  counted.add(SERVER_TEXT, server.text);
  return counted.done({ name: [], description: [], accepts: [] });
}

/** How many words a field has. */
export function lengthOf({ data }: Analysed, field: number): number {
  return data[field] ?? 0;
}

/** Terms of the name, each once. */
export function nameOf({ data, name }: Analysed): Uint32Array {
  return data.subarray(FIELDS.length, FIELDS.length + name);
}

/** Terms of the beginning of the description, in order. */
export function descriptionOf({ data, name, description }: Analysed): Uint32Array {
  return data.subarray(FIELDS.length + name, FIELDS.length + name + description);
}

/** Where in `data` the pairs begin: at each even step a key, behind it how often the term is in the field. */
export function pairsFrom({ name, description }: Analysed): number {
  return FIELDS.length + name + description;
}

export function termOf(key: number): number {
  return Math.floor(key / FIELDS.length);
}

export function fieldOf(key: number): number {
  return key % FIELDS.length;
}

interface Sequences {
  readonly name: readonly number[];
  readonly description: readonly number[];
  readonly accepts: readonly (keyof Values)[];
}

const NOTHING: Pick<Run, 'terms' | 'takes'> = { terms: [], takes: [] };

function counter(words: Vocabulary, cache: RunCache) {
  const counts = new Map<number, number>();
  const lengths = new Uint32Array(FIELDS.length);
  /** Counts at most once, and not towards the length. */
  const countJoined = (field: number, joined: readonly number[]): void => {
    for (const id of joined) {
      const key = id * FIELDS.length + field;
      if (!counts.has(key)) counts.set(key, 1);
    }
  };
  return {
    addJoined(field: number, text: string): void {
      for (const run of runsOf(text)) countJoined(field, readRun(run, words, cache).joined);
    },
    /** With `joined`, also what parts of identifiers are when written as one word. */
    add(field: number, text: string, { joined = false } = {}): Pick<Run, 'terms' | 'takes'> {
      if (text === '') return NOTHING;
      const terms: number[] = [];
      const takes: (keyof Values)[] = [];
      const together: number[] = [];
      for (const run of runsOf(text)) {
        const read = readRun(run, words, cache);
        for (const kind of read.takes) if (!takes.includes(kind)) takes.push(kind);
        if (joined) together.push(...read.joined);
        for (const id of read.terms) {
          const key = id * FIELDS.length + field;
          counts.set(key, (counts.get(key) ?? 0) + 1);
          terms.push(id);
        }
      }
      lengths[field] = Math.min(terms.length, MAX_COUNT);
      countJoined(field, together);
      return { terms, takes };
    },
    done({ name, description, accepts }: Sequences): Analysed {
      const head = FIELDS.length + name.length + description.length;
      const data = new Uint32Array(head + 2 * counts.size);
      data.set(lengths);
      data.set(name, FIELDS.length);
      data.set(description, FIELDS.length + name.length);
      let at = head;
      for (const [key, amount] of counts) {
        data[at] = key;
        data[at + 1] = Math.min(amount, MAX_COUNT);
        at += 2;
      }
      return { data, name: name.length, description: description.length, accepts };
    },
  };
}

function readRun(run: string, words: Vocabulary, cache: RunCache): Run {
  const known = cache.get(run);
  if (known !== undefined) return known;
  const tokens = tokensOfRun(run);
  const read = {
    terms: tokens.map(({ term }) => words.intern(term)),
    joined: joinedTermsOfRun(run).map((term) => words.intern(term)),
    takes: tokens.flatMap(({ word }) => TAKES.get(word) ?? []),
  };
  cache.set(run, read);
  return read;
}
