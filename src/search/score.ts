import type { UpstreamName } from '../model/ids.ts';
import type { Postings } from './postings.ts';
import type { Concept, Query } from './query.ts';
import type { Scratch } from './scratch.ts';
import type { Weights } from './weights.ts';

/** The documents that say something about a concept, and how much; valid until the next search. */
export interface Evidence {
  readonly documents: Uint32Array;
  readonly values: Float32Array;
}

export interface Scored {
  /** Score of each document, the best clause or the whole; 0 where nothing matches. Valid until the next search. */
  readonly scores: Float64Array;
  /** The highest of them. */
  readonly most: number;
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
  readonly serverIds: ReadonlyMap<UpstreamName, number>;
}

export function scoreAll(query: Query, corpus: Corpus, weights: Weights, scratch: Scratch): Scored {
  const evidence = evidenceOf(query.concepts, corpus.postings, scratch);
  const touched = touchedBy(evidence, scratch);
  const context = { corpus, weights, evidence, concepts: query.concepts, touched, scratch };
  const all = query.concepts.map((_, at) => at);
  const { scores, clause: best } = scratch;
  scorePart(all, scores, context);
  const most = max(scores, touched);
  if (query.clauses.length === 0 || most === 0) return { scores, most, evidence };
  best.fill(0);
  for (const clause of query.clauses) {
    const { part } = scratch;
    scorePart(clause, part, context);
    const top = max(part, touched);
    if (top === 0) continue;
    const scale = Math.sqrt(Math.min(1, top / most)) / top;
    for (const document of touched) {
      const value = (part[document] ?? 0) * scale;
      if (value > (best[document] ?? 0)) best[document] = value;
    }
  }
  for (const document of touched)
    scores[document] = (scores[document] ?? 0) / most + weights.clause * (best[document] ?? 0);
  return { scores, most: max(scores, touched), evidence };
}

interface Context {
  readonly corpus: Corpus;
  readonly weights: Weights;
  readonly evidence: readonly Evidence[];
  readonly concepts: readonly Concept[];
  /** Documents with any evidence, in their order. */
  readonly touched: Uint32Array;
  readonly scratch: Scratch;
}

/** A word and its alternatives are one concept: the best of them counts, never their sum. */
function evidenceOf(
  concepts: readonly Concept[],
  { offsets, documents, impacts, rarity }: Postings,
  scratch: Scratch,
): readonly Evidence[] {
  let most = 0;
  for (const { alternatives } of concepts)
    for (const { term } of alternatives) most += (offsets[term + 1] ?? 0) - (offsets[term] ?? 0);
  const room = scratch.evidence(most);
  const { best } = scratch;
  let end = 0;
  return concepts.map(({ alternatives, weight, isKnown }) => {
    const begin = end;
    // What stands for a word says no more than the word would.
    const ceiling = isKnown ? (rarity[alternatives[0]?.term ?? 0] ?? 0) : Infinity;
    for (const alternative of alternatives) {
      const factor = Math.min(rarity[alternative.term] ?? 0, ceiling) * alternative.weight * weight;
      const last = offsets[alternative.term + 1] ?? 0;
      for (let at = offsets[alternative.term] ?? 0; at < last; at += 1) {
        const document = documents[at] ?? 0;
        const value = factor * (impacts[at] ?? 0);
        const held = best[document] ?? 0;
        if (held === 0) {
          room.documents[end] = document;
          end += 1;
        }
        if (value > held) best[document] = value;
      }
    }
    for (let at = begin; at < end; at += 1) {
      const document = room.documents[at] ?? 0;
      room.values[at] = best[document] ?? 0;
      best[document] = 0;
    }
    return { documents: room.documents.subarray(begin, end), values: room.values.subarray(begin, end) };
  });
}

function touchedBy(evidence: readonly Evidence[], { touched, part }: Scratch): Uint32Array {
  part.fill(0);
  for (const { documents } of evidence) for (const document of documents) part[document] = 1;
  let count = 0;
  for (let document = 0; document < part.length; document += 1) {
    if (part[document] !== 1) continue;
    touched[count] = document;
    count += 1;
  }
  return touched.subarray(0, count);
}

function scorePart(part: readonly number[], scores: Float64Array, context: Context): void {
  const { evidence, concepts, corpus, weights, touched, scratch } = context;
  scores.fill(0);
  for (const concept of part) {
    const { documents, values } = evidence[concept] ?? NONE;
    for (let at = 0; at < documents.length; at += 1) {
      const document = documents[at] ?? 0;
      scores[document] = (scores[document] ?? 0) + (values[at] ?? 0);
    }
  }
  const { cover } = scratch;
  for (const concept of part) {
    for (const { term, weight } of concepts[concept]?.alternatives ?? [])
      if (weight > (cover[term] ?? 0)) cover[term] = weight;
  }
  addNameCover(scores, touched, { cover, corpus, gain: weights.nameCover });
  for (const concept of part) for (const { term } of concepts[concept]?.alternatives ?? []) cover[term] = 0;
  addServerPrior(scores, touched, { corpus, prior: weights.serverPrior, best: scratch.servers });
}

const NONE: Evidence = { documents: new Uint32Array(), values: new Float32Array() };

function addNameCover(
  scores: Float64Array,
  touched: Uint32Array,
  { cover, corpus, gain }: { readonly cover: Float64Array; readonly corpus: Corpus; readonly gain: number },
): void {
  const { postings, names, nameOffsets } = corpus;
  for (const document of touched) {
    const score = scores[document] ?? 0;
    if (score === 0) continue;
    let covered = 0;
    let total = 0;
    const end = nameOffsets[document + 1] ?? 0;
    for (let at = nameOffsets[document] ?? 0; at < end; at += 1) {
      const term = names[at] ?? 0;
      const rarity = postings.rarity[term] ?? 0;
      total += rarity;
      covered += rarity * (cover[term] ?? 0);
    }
    if (covered > 0) scores[document] = score * (1 + (gain * covered) / total);
  }
}

/** A server whose best tool fits well probably has the others that a request needs. */
function addServerPrior(
  scores: Float64Array,
  touched: Uint32Array,
  { corpus, prior, best }: { readonly corpus: Corpus; readonly prior: number; readonly best: Float64Array },
): void {
  const { servers } = corpus;
  best.fill(0);
  for (const document of touched) {
    const server = servers[document] ?? 0;
    const score = scores[document] ?? 0;
    if (score > (best[server] ?? 0)) best[server] = score;
  }
  for (const document of touched) {
    const score = scores[document] ?? 0;
    if (score > 0) scores[document] = score + prior * (best[servers[document] ?? 0] ?? 0);
  }
}

function max(values: Float64Array, touched: Uint32Array): number {
  let most = 0;
  for (const document of touched) if ((values[document] ?? 0) > most) most = values[document] ?? 0;
  return most;
}
