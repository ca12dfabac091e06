import { SHAPE_NAMES } from './shapes.ts';

/** Far from the subject of a tool these weigh more: nobody is surprised by passwords in a tool that signs in. */
const SUBJECTS = [
  ...[
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
  ],
  ...['memory', 'code', 'delete', 'run', '#private', '#url', '#mail', '#address', '#code', '#home'],
];
const PLACES = [
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

/** What can be noted about a sentence, as small numbers: what is meant, which forms occur, where it stands. */
export interface Marks {
  readonly names: readonly string[];
  readonly idOf: (name: string) => number;
  /** The mark for a subject that the tool is not about. */
  readonly foreign: ReadonlyMap<number, number>;
  /** The mark for what the name of the parameter means. */
  readonly about: ReadonlyMap<number, number>;
  /** Marks up to this number are meanings. */
  readonly concepts: number;
}

export const MAX_MARKS = 256;
/** Features are numbers: marks, then two that meet, two that follow each other closely, and terms. */
export const NEAR_BASE = MAX_MARKS * (MAX_MARKS + 1);
export const TERM_BASE = NEAR_BASE + MAX_MARKS * MAX_MARKS;

export function numberMarks(concepts: readonly string[]): Marks {
  const plain = [...concepts, ...SHAPE_NAMES, ...FORMS, ...SIZES, ...PLACES];
  const names = [...plain, ...SUBJECTS.map((name) => `!${name}`), ...concepts.map((name) => `p:${name}`)];
  const ids = new Map(names.map((name, id) => [name, id]));
  const idOf = (name: string): number => {
    const id = ids.get(name);
    if (id === undefined) throw new Error(`no mark is called ${name}`);
    return id;
  };
  return {
    names,
    idOf,
    foreign: new Map(SUBJECTS.map((name) => [idOf(name), idOf(`!${name}`)])),
    about: new Map(concepts.map((name) => [idOf(name), idOf(`p:${name}`)])),
    concepts: concepts.length,
  };
}
