import { MAX_MARKS } from './marks.ts';
import type { Marks } from './marks.ts';
import { NEAR_BASE } from './windows.ts';

export interface Weights {
  /** What a sentence starts with; above zero it is worth a look. */
  readonly bias: number;
  readonly weightOf: (feature: number | string) => number;
}

/** Reads `mark weight`, `one+other weight`, `one>other weight` and `w:word weight`, with the bias under the name `bias`. */
export function readWeights(data: string, marks: Marks): Weights {
  const ofMarks = new Float32Array(NEAR_BASE + MAX_MARKS * MAX_MARKS);
  const ofWords = new Map<string, number>();
  let bias = 0;
  for (const entry of data.trim().split(/\s*[;\n]\s*/)) {
    const at = entry.lastIndexOf(' ');
    const name = entry.slice(0, at);
    const weight = Number(entry.slice(at + 1));
    if (name === 'bias') bias = weight;
    else if (name.startsWith('w:')) ofWords.set(name.slice(2), weight);
    else ofMarks[featureOf(name, marks)] = weight;
  }
  return {
    bias,
    weightOf: (feature) => (typeof feature === 'string' ? ofWords.get(feature) : ofMarks[feature]) ?? 0,
  };
}

/** The names of the marks that a feature is made of; none for a word. */
export function marksOf(feature: number | string, { names }: Marks): readonly string[] {
  if (typeof feature === 'string') return [];
  const parts =
    feature < MAX_MARKS
      ? [feature]
      : feature < NEAR_BASE
        ? [Math.floor(feature / MAX_MARKS) - 1, feature % MAX_MARKS]
        : [Math.floor((feature - NEAR_BASE) / MAX_MARKS), (feature - NEAR_BASE) % MAX_MARKS];
  return parts.flatMap((id) => names[id] ?? []);
}

/** The name of a feature in the data. */
export function nameOf(feature: number | string, marks: Marks): string {
  if (typeof feature === 'string') return `w:${feature}`;
  return marksOf(feature, marks).join(feature < NEAR_BASE ? '+' : '>');
}

function featureOf(name: string, { idOf }: Marks): number {
  const [one = '', other] = name.split(/[+>]/);
  if (other === undefined) return idOf(one);
  return name.includes('>')
    ? NEAR_BASE + idOf(one) * MAX_MARKS + idOf(other)
    : (idOf(one) + 1) * MAX_MARKS + idOf(other);
}
