import { MAX_ATTRIBUTES, ORDERED_PAIR_BASE, TERM_BASE } from './attribute-table.ts';
import type { AttributeTable } from './attribute-table.ts';
import { TermVocabulary } from './term-vocabulary.ts';

interface ClassifierWeights {
  /** The initial score of a sentence window. A final score above zero makes the window suspicious. */
  readonly bias: number;
  readonly byFeature: Float32Array;
  /** The terms that have a weight. */
  readonly vocabulary: TermVocabulary;
}

/** Parses entries of the forms `attribute weight`, `one+other weight`, `one>other weight`, `w:word weight` and `bias weight`. */
export function parseWeights(data: string, attributes: AttributeTable): ClassifierWeights {
  const vocabulary = new TermVocabulary(false);
  let bias = 0;
  const weights: (readonly [feature: number, weight: number])[] = [];
  for (const entry of data.trim().split(/[;\n]/)) {
    const separator = entry.lastIndexOf(' ');
    const [name, weight] = [entry.slice(0, separator), Number(entry.slice(separator + 1))];
    if (name === 'bias') bias = weight;
    else if (name.startsWith('w:')) weights.push([TERM_BASE + vocabulary.add(name.slice(2)), weight]);
    else weights.push([parseFeature(name, attributes), weight]);
  }
  const byFeature = new Float32Array(TERM_BASE + vocabulary.names.length);
  for (const [feature, weight] of weights) byFeature[feature] = (byFeature[feature] ?? 0) + weight;
  return { bias, byFeature, vocabulary };
}

function parseFeature(name: string, { idOf }: AttributeTable): number {
  const [one = '', other] = name.split(/[+>]/);
  if (other === undefined) return idOf(one);
  return name.includes('>')
    ? ORDERED_PAIR_BASE + idOf(one) * MAX_ATTRIBUTES + idOf(other)
    : (idOf(one) + 1) * MAX_ATTRIBUTES + idOf(other);
}

/** Returns the name of a feature in the notation of the weights. */
export function featureName(feature: number, attributes: AttributeTable, vocabulary: TermVocabulary): string {
  if (feature >= TERM_BASE) return `w:${vocabulary.names[feature - TERM_BASE] ?? ''}`;
  return attributesOfFeature(feature, attributes).join(feature < ORDERED_PAIR_BASE ? '+' : '>');
}

/** Returns the names of the attributes that a feature consists of; none for a term. */
export function attributesOfFeature(feature: number, { names }: AttributeTable): readonly string[] {
  if (feature >= TERM_BASE) return [];
  return attributeIds(feature).flatMap((id) => names[id] ?? []);
}

function attributeIds(feature: number): readonly number[] {
  if (feature < MAX_ATTRIBUTES) return [feature];
  if (feature < ORDERED_PAIR_BASE)
    return [Math.floor(feature / MAX_ATTRIBUTES) - 1, feature % MAX_ATTRIBUTES];
  const pair = feature - ORDERED_PAIR_BASE;
  return [Math.floor(pair / MAX_ATTRIBUTES), pair % MAX_ATTRIBUTES];
}
