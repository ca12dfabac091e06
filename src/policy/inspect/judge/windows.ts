import type { Passage } from '../finding.ts';
import { sentencesOf } from '../sentences.ts';
import { MAX_MARKS, TERM_BASE } from './marks.ts';
import type { Marks } from './marks.ts';
import type { Reader } from './reader.ts';
import { knownWords, readSentence } from './sentence.ts';
import type { Sentence } from './sentence.ts';

/** One or two sentences of a passage, to be judged by what is in them. */
export interface Window {
  readonly one: Sentence;
  readonly next: Sentence | undefined;
  readonly marks: readonly number[];
  /** How long it is, and how much is in it. */
  readonly size: readonly number[];
}

/** More marks than this are in no honest sentence, and pairs of them would be too many. */
const MAX_MARKS_MET = 40;
const LENGTHS = [4, 9, 20, 40];
const DENSITIES = [5, 8, 11];

/** What a definition is about, by its name and first sentence. */
export function subjectOf(texts: readonly string[], reader: Reader): ReadonlySet<number> {
  return new Set(texts.flatMap((text) => [...readSentence(text, reader).marks]));
}

export function windowsOf(passage: Passage, subject: ReadonlySet<number>, reader: Reader): readonly Window[] {
  const { marks } = reader;
  const { where, about } = passage;
  const isName = where.endsWith('(name)') || !/\s/.test(passage.text);
  const text = isName ? wordsOfName(passage.text) : passage.text;
  const known = knownWords();
  const sentences = sentencesOf(text).map((part) => readSentence(part, reader, known));
  const place = marks.idOf(isName ? '@name' : placeOf(where));
  const named = about === undefined ? [] : aboutMarks(about, reader);
  return sentences.flatMap((one, index) => {
    const base = [place, marks.idOf(index === 0 ? '#first' : '#later'), ...(index === 0 ? named : [])];
    const alone = windowOf(one, undefined, base, subject, marks);
    const next = sentences[index + 1];
    return next === undefined ? [alone] : [alone, windowOf(one, next, base, subject, marks)];
  });
}

/** What a person is shown of a window: the sentence that says more. */
export function shownOf({ one, next }: Window): string {
  return next !== undefined && next.marks.length > one.marks.length ? next.text : one.text;
}

/** Calls back with every feature of a window: a mark, two that meet or follow each other, or a term. */
export function eachFeature({ one, next, marks, size }: Window, visit: (feature: number) => void): void {
  for (let index = 0; index < marks.length; index++) {
    const mark = marks[index] ?? 0;
    visit(mark);
    for (let further = index + 1; further < marks.length; further++)
      visit((mark + 1) * MAX_MARKS + (marks[further] ?? 0));
  }
  for (const mark of size) visit(mark);
  for (const pair of one.near) visit(pair);
  for (const term of one.terms) visit(TERM_BASE + term);
  if (next === undefined) return;
  for (const pair of next.near) if (!one.near.has(pair)) visit(pair);
  for (const term of next.terms) if (!one.terms.has(term)) visit(TERM_BASE + term);
}

function windowOf(
  one: Sentence,
  next: Sentence | undefined,
  base: readonly number[],
  subject: ReadonlySet<number>,
  marks: Marks,
): Window {
  const noted = next === undefined ? one.marks : merged(one.marks, next.marks);
  const met = [...noted];
  for (const mark of noted) {
    const foreign = marks.foreign.get(mark);
    if (foreign !== undefined && !subject.has(mark)) met.push(foreign);
  }
  met.push(...base);
  if (next !== undefined) met.push(marks.idOf('#two'));
  const length = one.words.length + (next?.words.length ?? 0);
  const size = [
    marks.idOf(`#length${LENGTHS.filter((limit) => length >= limit).length}`),
    marks.idOf(`#dense${DENSITIES.filter((limit) => noted.length >= limit).length}`),
  ];
  return { one, next, marks: met.length > MAX_MARKS_MET ? met.slice(0, MAX_MARKS_MET) : met, size };
}

/** Both lists in order, without doubles. */
function merged(one: readonly number[], other: readonly number[]): readonly number[] {
  return [...one, ...other.filter((mark) => !one.includes(mark))].toSorted((first, second) => first - second);
}

function aboutMarks(name: string, reader: Reader): readonly number[] {
  const noted = readSentence(wordsOfName(name), reader).marks;
  return [...noted].flatMap((mark) => reader.marks.about.get(mark) ?? []);
}

function wordsOfName(text: string): string {
  return text.replaceAll(/([a-z0-9])([A-Z])/g, '$1 $2').replaceAll(/_+/g, ' ');
}

function placeOf(where: string): string {
  if (/\.(?:enum|const|default|examples?|required|type|pattern|format)\b/.test(where)) return '@value';
  if (where.startsWith('messages')) return '@message';
  if (where.startsWith('instructions')) return '@instructions';
  if (/^(?:outputSchema|annotations|_meta)/.test(where)) return '@aside';
  if (where.endsWith('title')) return '@title';
  if (/^(?:inputSchema|arguments)/.test(where)) return '@parameter';
  return '@description';
}
