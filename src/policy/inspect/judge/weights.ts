import { MAX_MARKS, NEAR_BASE, TERM_BASE } from './marks.ts';
import type { Marks } from './marks.ts';
import { Vocabulary } from './vocabulary.ts';

export interface Weights {
  /** What a sentence starts with; above zero it is worth a look. */
  readonly bias: number;
  /** By the number of the feature. */
  readonly of: Float32Array;
  /** The words that have a weight. */
  readonly vocabulary: Vocabulary;
}

/** Reads `mark weight`, `one+other weight`, `one>other weight` and `w:word weight`, with the bias under the name `bias`. */
export function readWeights(data: string, marks: Marks): Weights {
  const vocabulary = new Vocabulary(false);
  let bias = 0;
  const read = data
    .trim()
    .split(/[;\n]/)
    .map((entry) => {
      const at = entry.lastIndexOf(' ');
      const [name, weight] = [entry.slice(0, at), Number(entry.slice(at + 1))];
      if (name === 'bias') bias = weight;
      if (name === 'bias') return [0, 0] as const;
      const isTerm = name.startsWith('w:');
      return [isTerm ? TERM_BASE + vocabulary.add(name.slice(2)) : featureOf(name, marks), weight] as const;
    });
  const of = new Float32Array(TERM_BASE + vocabulary.names.length);
  for (const [feature, weight] of read) of[feature] = (of[feature] ?? 0) + weight;
  return { bias, of, vocabulary };
}

/** The names of the marks that a feature is made of; none for a word. */
export function marksOf(feature: number, { names }: Marks): readonly string[] {
  if (feature >= TERM_BASE) return [];
  const parts =
    feature < MAX_MARKS
      ? [feature]
      : feature < NEAR_BASE
        ? [Math.floor(feature / MAX_MARKS) - 1, feature % MAX_MARKS]
        : [Math.floor((feature - NEAR_BASE) / MAX_MARKS), (feature - NEAR_BASE) % MAX_MARKS];
  return parts.flatMap((id) => names[id] ?? []);
}

/** The name of a feature in the data. */
export function nameOf(feature: number, marks: Marks, vocabulary: Vocabulary): string {
  if (feature >= TERM_BASE) return `w:${vocabulary.names[feature - TERM_BASE] ?? ''}`;
  return marksOf(feature, marks).join(feature < NEAR_BASE ? '+' : '>');
}

function featureOf(name: string, { idOf }: Marks): number {
  const [one = '', other] = name.split(/[+>]/);
  if (other === undefined) return idOf(one);
  return name.includes('>')
    ? NEAR_BASE + idOf(one) * MAX_MARKS + idOf(other)
    : (idOf(one) + 1) * MAX_MARKS + idOf(other);
}
