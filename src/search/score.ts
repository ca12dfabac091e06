import type { Postings } from './postings.ts';
import type { Concept, Query } from './query.ts';
import type { Weights } from './weights.ts';

/** The documents that say something about a concept, and how much. */
export interface Evidence {
  readonly documents: Uint32Array;
  readonly values: Float32Array;
}

export interface Scored {
  /** Score of each document, the best clause or the whole; 0 where nothing matches. */
  readonly scores: Float64Array;
  readonly evidence: readonly Evidence[];
}

/** What scoring needs to know of a document beyond its terms. */
export interface Corpus {
  readonly postings: Postings;
  /** Terms of each document's name, cut by `nameOffsets`. */
  readonly names: Uint32Array;
  readonly nameOffsets: Uint32Array;
  /** The server of each document. */
  readonly servers: Uint32Array;
  readonly serverCount: number;
}

export function scoreAll(query: Query, corpus: Corpus, weights: Weights): Scored {
  const evidence = evidenceOf(query.concepts, corpus.postings);
  const asked = askedTerms(query.concepts);
  const context = { corpus, weights, evidence, asked };
  const all = query.concepts.map((_, at) => at);
  const scores = scorePart(all, context);
  if (query.clauses.length === 0) return { scores, evidence };
  const most = max(scores);
  if (most === 0) return { scores, evidence };
  const best = new Float64Array(scores.length);
  for (const clause of query.clauses) {
    const part = scorePart(clause, context);
    const top = max(part);
    if (top === 0) continue;
    const scale = Math.sqrt(Math.min(1, top / most)) / top;
    for (let at = 0; at < part.length; at += 1) {
      const value = (part[at] ?? 0) * scale;
      if (value > (best[at] ?? 0)) best[at] = value;
    }
  }
  for (let at = 0; at < scores.length; at += 1) {
    scores[at] = (scores[at] ?? 0) / most + weights.clause * (best[at] ?? 0);
  }
  return { scores, evidence };
}

interface Context {
  readonly corpus: Corpus;
  readonly weights: Weights;
  readonly evidence: readonly Evidence[];
  /** How well each term is asked for, by concept; see `askedTerms`. */
  readonly asked: Asked;
}

type Asked = ReadonlyMap<number, readonly (readonly [concept: number, weight: number])[]>;

function askedTerms(concepts: readonly Concept[]): Asked {
  const asked = new Map<number, (readonly [number, number])[]>();
  concepts.forEach(({ alternatives }, at) => {
    for (const { term, weight } of alternatives) {
      const list = asked.get(term);
      if (list === undefined) asked.set(term, [[at, weight]]);
      else list.push([at, weight]);
    }
  });
  return asked;
}

/** A word and its alternatives are one concept: the best of them counts, never their sum. */
function evidenceOf(concepts: readonly Concept[], postings: Postings): readonly Evidence[] {
  const { offsets, documents, impacts, rarity, size } = postings;
  const best = new Float32Array(size);
  return concepts.map(({ alternatives, weight, isKnown }) => {
    const touched: number[] = [];
    // What stands for a word says no more than the word would.
    const ceiling = isKnown ? (rarity[alternatives[0]?.term ?? 0] ?? 0) : Infinity;
    for (const alternative of alternatives) {
      const factor = Math.min(rarity[alternative.term] ?? 0, ceiling) * alternative.weight * weight;
      const end = offsets[alternative.term + 1] ?? 0;
      for (let at = offsets[alternative.term] ?? 0; at < end; at += 1) {
        const document = documents[at] ?? 0;
        const value = factor * (impacts[at] ?? 0);
        const held = best[document] ?? 0;
        if (held === 0) touched.push(document);
        if (value > held) best[document] = value;
      }
    }
    const found = { documents: Uint32Array.from(touched), values: new Float32Array(touched.length) };
    touched.forEach((document, at) => {
      found.values[at] = best[document] ?? 0;
      best[document] = 0;
    });
    return found;
  });
}

function scorePart(part: readonly number[], { corpus, weights, evidence, asked }: Context): Float64Array {
  const { postings } = corpus;
  const scores = new Float64Array(postings.size);
  for (const concept of part) {
    const { documents, values } = evidence[concept] ?? { documents: [], values: [] };
    for (let at = 0; at < documents.length; at += 1) {
      const document = documents[at] ?? 0;
      scores[document] = (scores[document] ?? 0) + (values[at] ?? 0);
    }
  }
  addNameCover(scores, coverOf(part, asked), corpus, weights.nameCover);
  addServerPrior(scores, corpus, weights.serverPrior);
  return scores;
}

function addNameCover(
  scores: Float64Array,
  cover: ReadonlyMap<number, number>,
  corpus: Corpus,
  gain: number,
): void {
  const { postings, names, nameOffsets } = corpus;
  for (let document = 0; document < scores.length; document += 1) {
    const score = scores[document] ?? 0;
    if (score === 0) continue;
    let covered = 0;
    let total = 0;
    const end = nameOffsets[document + 1] ?? 0;
    for (let at = nameOffsets[document] ?? 0; at < end; at += 1) {
      const term = names[at] ?? 0;
      const rarity = postings.rarity[term] ?? 0;
      total += rarity;
      const weight = cover.get(term);
      if (weight !== undefined) covered += rarity * weight;
    }
    if (covered > 0) scores[document] = score * (1 + (gain * covered) / total);
  }
}

function coverOf(part: readonly number[], asked: Asked): ReadonlyMap<number, number> {
  const members = new Set(part);
  const cover = new Map<number, number>();
  for (const [term, list] of asked) {
    let most = 0;
    for (const [concept, weight] of list) if (weight > most && members.has(concept)) most = weight;
    if (most > 0) cover.set(term, most);
  }
  return cover;
}

/** A server whose best tool fits well probably has the others that a request needs. */
function addServerPrior(scores: Float64Array, { servers, serverCount }: Corpus, prior: number): void {
  const best = new Float64Array(serverCount);
  for (let document = 0; document < scores.length; document += 1) {
    const server = servers[document] ?? 0;
    const score = scores[document] ?? 0;
    if (score > (best[server] ?? 0)) best[server] = score;
  }
  for (let document = 0; document < scores.length; document += 1) {
    const score = scores[document] ?? 0;
    if (score > 0) scores[document] = score + prior * (best[servers[document] ?? 0] ?? 0);
  }
}

function max(values: Float64Array): number {
  let most = 0;
  for (const value of values) if (value > most) most = value;
  return most;
}
