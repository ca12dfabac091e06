import type { Passage } from '../inspection-finding.ts';
import { splitSentences } from '../split-sentences.ts';
import { analyzeSentence, createWordCache } from './analyze-sentence.ts';
import type { Sentence } from './analyze-sentence.ts';
import { MAX_ATTRIBUTES, TERM_BASE } from './attribute-table.ts';
import type { AttributeTable } from './attribute-table.ts';
import type { ClassifierModel } from './classifier-model.ts';

/** One sentence, or two adjacent sentences, that the classifier scores as a unit. */
export interface SentenceWindow {
  readonly first: Sentence;
  readonly second: Sentence | undefined;
  readonly attributes: readonly number[];
  /** Attributes for the length of the window and for the number of its other attributes. They form no pairs. */
  readonly sizeAttributes: readonly number[];
}

/** Maximum number of attributes per window. No honest sentence has more, and the number of pairs grows with their square. */
const MAX_WINDOW_ATTRIBUTES = 40;
/** Numbers of words that separate the attributes `#length0` to `#length4`. */
const LENGTHS = [4, 9, 20, 40];
/** Numbers of attributes that separate the attributes `#dense0` to `#dense3`. */
const DENSITIES = [5, 8, 11];

/** Returns the attributes of the texts that say what a definition is about: its name, title and first sentence. */
export function extractTopic(texts: readonly string[], model: ClassifierModel): ReadonlySet<number> {
  return new Set(texts.flatMap((text) => [...analyzeSentence(text, model).attributes]));
}

/** Generates a window for each sentence of a passage, and one for each pair of adjacent sentences. */
export function* createWindows(
  passage: Passage,
  topic: ReadonlySet<number>,
  model: ClassifierModel,
): Generator<SentenceWindow, void> {
  const { attributes } = model;
  const { where, parameter } = passage;
  const isName = where.endsWith('(name)') || !/\s/.test(passage.text);
  const text = isName ? splitName(passage.text) : passage.text;
  const cache = createWordCache();
  const sentences = splitSentences(text);
  const location = attributes.idOf(isName ? '@name' : locationAttribute(where));
  const ofParameter = parameter === undefined ? [] : parameterAttributes(parameter, model);
  let context = [location, attributes.idOf('#first'), ...ofParameter];
  let before: Sentence | undefined;
  for (const sentence of sentences) {
    const analyzed = analyzeSentence(sentence, model, cache);
    if (before !== undefined) {
      yield createWindow(before, analyzed, context, topic, attributes);
      context = [location, attributes.idOf('#later')];
    }
    yield createWindow(analyzed, undefined, context, topic, attributes);
    before = analyzed;
  }
}

function createWindow(
  first: Sentence,
  second: Sentence | undefined,
  context: readonly number[],
  topic: ReadonlySet<number>,
  table: AttributeTable,
): SentenceWindow {
  const ofSentences =
    second === undefined ? first.attributes : mergeSorted(first.attributes, second.attributes);
  const attributes = [...ofSentences];
  for (const attribute of ofSentences) {
    const offTopic = table.offTopic.get(attribute);
    if (offTopic !== undefined && !topic.has(attribute)) attributes.push(offTopic);
  }
  attributes.push(...context);
  if (second !== undefined) attributes.push(table.idOf('#two'));
  const length = first.words.length + (second?.words.length ?? 0);
  return {
    first,
    second,
    attributes:
      attributes.length > MAX_WINDOW_ATTRIBUTES ? attributes.slice(0, MAX_WINDOW_ATTRIBUTES) : attributes,
    sizeAttributes: [
      table.idOf(`#length${LENGTHS.filter((limit) => length >= limit).length}`),
      table.idOf(`#dense${DENSITIES.filter((limit) => ofSentences.length >= limit).length}`),
    ],
  };
}

/** Merges two ascending lists without duplicates. */
function mergeSorted(one: readonly number[], other: readonly number[]): readonly number[] {
  return [...one, ...other.filter((value) => !one.includes(value))].toSorted(
    (first, second) => first - second,
  );
}

function parameterAttributes(name: string, model: ClassifierModel): readonly number[] {
  const { attributes } = analyzeSentence(splitName(name), model);
  return attributes.flatMap((attribute) => model.attributes.ofParameter.get(attribute) ?? []);
}

/** Separates the words of an identifier in camel case or snake case by spaces. */
function splitName(text: string): string {
  return text.replaceAll(/([a-z0-9])([A-Z])/g, '$1 $2').replaceAll(/_+/g, ' ');
}

function locationAttribute(where: string): string {
  if (/\.(?:enum|const|default|examples?|required|type|pattern|format)\b/.test(where)) return '@value';
  if (where.startsWith('messages')) return '@message';
  if (where.startsWith('instructions')) return '@instructions';
  if (/^(?:outputSchema|annotations|_meta)/.test(where)) return '@aside';
  if (where.endsWith('title')) return '@title';
  if (/^(?:inputSchema|arguments)/.test(where)) return '@parameter';
  return '@description';
}

/**
 * Visits every feature of a window once: attributes, pairs of attributes, ordered pairs of concepts, and
 * terms. attribute-table.ts explains how features are numbered.
 */
export function forEachFeature(
  { first, second, attributes, sizeAttributes }: SentenceWindow,
  visit: (feature: number) => void,
): void {
  for (let index = 0; index < attributes.length; index++) {
    const attribute = attributes[index] ?? 0;
    visit(attribute);
    for (let next = index + 1; next < attributes.length; next++)
      visit((attribute + 1) * MAX_ATTRIBUTES + (attributes[next] ?? 0));
  }
  for (const attribute of sizeAttributes) visit(attribute);
  for (const pair of first.orderedPairs) visit(pair);
  for (const term of first.terms) visit(TERM_BASE + term);
  if (second === undefined) return;
  for (const pair of second.orderedPairs) if (!first.orderedPairs.has(pair)) visit(pair);
  for (const term of second.terms) if (!first.terms.has(term)) visit(TERM_BASE + term);
}

/** Returns the text that a finding shows: the sentence with more attributes. */
export function excerptText({ first, second }: SentenceWindow): string {
  return second !== undefined && second.attributes.length > first.attributes.length
    ? second.text
    : first.text;
}
