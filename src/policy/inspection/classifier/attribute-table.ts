import { PATTERN_NAMES } from './text-patterns.ts';

/**
 * Attributes that also have an off-topic variant, which a sentence gets if the definition is about another topic. For example, passwords
 * are expected in a tool that signs in, and suspicious in a tool that adds numbers.
 */
const TOPICS = [
  'secret',
  'talk',
  'prompt',
  'personal',
  'files',
  'environment',
  'money',
  'shell',
  'send',
  'others',
  'security',
  'memory',
  'code',
  'delete',
  'run',
  '#private',
  '#url',
  '#mail',
  '#address',
  '#code',
  '#home',
];
const LOCATIONS = [
  '@description',
  '@parameter',
  '@name',
  '@value',
  '@title',
  '@aside',
  '@message',
  '@instructions',
];
const FORMS = ['#first', '#later', '#two', '#verb', '#shout'];
const SIZES = [
  '#length0',
  '#length1',
  '#length2',
  '#length3',
  '#length4',
  '#dense0',
  '#dense1',
  '#dense2',
  '#dense3',
];

/**
 * Assigns numbers to the attributes that a sentence can have: concepts, text patterns, forms, sizes and
 * locations.
 */
export interface AttributeTable {
  readonly names: readonly string[];
  readonly idOf: (name: string) => number;
  /** Maps an attribute to its off-topic variant. */
  readonly offTopic: ReadonlyMap<number, number>;
  /** Maps a concept to the attribute of a sentence that describes a parameter whose name contains the concept. */
  readonly ofParameter: ReadonlyMap<number, number>;
}

export const MAX_ATTRIBUTES = 256;
/**
 * Features are numbered in this order: attribute `a` is feature `a`, the pair of the attributes `a` and `b` is
 * `(a + 1) * MAX_ATTRIBUTES + b`, the concept `b` shortly after `a` is `ORDERED_PAIR_BASE + a * MAX_ATTRIBUTES + b`, and the term `t` is
 * `TERM_BASE + t`.
 */
export const ORDERED_PAIR_BASE = MAX_ATTRIBUTES * (MAX_ATTRIBUTES + 1);
export const TERM_BASE = ORDERED_PAIR_BASE + MAX_ATTRIBUTES * MAX_ATTRIBUTES;

export function buildAttributeTable(concepts: readonly string[]): AttributeTable {
  const names = [
    ...concepts,
    ...PATTERN_NAMES,
    ...FORMS,
    ...SIZES,
    ...LOCATIONS,
    ...TOPICS.map((name) => `!${name}`),
    ...concepts.map((name) => `p:${name}`),
  ];
  const ids = new Map(names.map((name, id) => [name, id]));
  const idOf = (name: string): number => {
    const id = ids.get(name);
    if (id === undefined) throw new Error(`Unknown attribute: ${name}`);
    return id;
  };
  return {
    names,
    idOf,
    offTopic: new Map(TOPICS.map((name) => [idOf(name), idOf(`!${name}`)])),
    ofParameter: new Map(concepts.map((name) => [idOf(name), idOf(`p:${name}`)])),
  };
}
