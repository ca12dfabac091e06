import type { Likeness } from './meaning.ts';
import type { Concept, Query, Values } from './query.ts';
import type { Corpus, Evidence } from './score.ts';
import type { Scratch } from './scratch.ts';
import type { SecondStage } from './weights.ts';

/** What the second stage reads about a candidate beyond the corpus. */
export interface Details {
  /** Terms of the description, in order. */
  description(document: number): Uint32Array;
  /** Kinds of values that the tool takes. */
  accepts(document: number): readonly (keyof Values)[];
}

export interface Pool {
  /** Documents, the best of the first stage first. */
  readonly documents: readonly number[];
  /** Their scores there, at most 1. */
  readonly scores: readonly number[];
}

interface Asked {
  readonly concept: number;
  readonly weight: number;
}

/** Second opinion on the best of the first stage: scores in the order of the pool. */
export function rescore(
  pool: Pool,
  {
    query,
    evidence,
    likeness,
  }: {
    readonly query: Query;
    readonly evidence: readonly Evidence[];
    readonly likeness: Likeness | undefined;
  },
  {
    corpus,
    details,
    weights,
    scratch,
  }: {
    readonly corpus: Corpus;
    readonly details: Details;
    readonly weights: SecondStage;
    readonly scratch: Scratch;
  },
): readonly number[] {
  const asked = askedTerms(query.concepts);
  const worth = query.concepts.map((concept) => worthOf(concept, corpus.postings.rarity));
  const table = tableOf(pool.documents, evidence, scratch.slots);
  const clauses = query.clauses.length > 0 ? query.clauses : [query.concepts.map((_, at) => at)];
  const heaviest =
    Math.max(...clauses.map((clause) => sum(clause.map((concept) => worth[concept] ?? 0)))) || 1;
  const ranks = clauseRanks(clauses, table);
  const servers = serverScores(evidence, corpus, scratch.servers);
  const wanted = wantedPairs(query.sequence, worth.length);
  const unexplained = likeness === undefined ? 0 : 1 - explained(table, query, worth, corpus);
  return pool.documents.map((document, at) => {
    const name = corpus.names.subarray(corpus.nameOffsets[document], corpus.nameOffsets[document + 1]);
    const neighbours = pairs(
      wanted,
      worth,
      [
        { terms: name, weight: 1 },
        { terms: details.description(document), weight: 0.6 },
      ],
      asked,
    );
    return (
      (pool.scores[at] ?? 0) -
      weights.missing * missing(name, asked, corpus) +
      weights.clauseRank * (ranks[at] ?? 0) +
      (weights.pairs * neighbours) / heaviest +
      weights.server * (servers[corpus.servers[document] ?? 0] ?? 0) +
      weights.values * accepted(query.values, details.accepts(document)) +
      weights.meaning * unexplained * (likeness?.[document] ?? 0)
    );
  });
}

function askedTerms(concepts: readonly Concept[]): ReadonlyMap<number, readonly Asked[]> {
  const asked = new Map<number, Asked[]>();
  concepts.forEach(({ alternatives }, concept) => {
    for (const { term, weight } of alternatives) {
      const list = asked.get(term);
      if (list === undefined) asked.set(term, [{ concept, weight }]);
      else list.push({ concept, weight });
    }
  });
  return asked;
}

/** What full evidence of a concept would count, before saturation. */
function worthOf({ alternatives, weight, isKnown }: Concept, rarity: Float32Array): number {
  const ceiling = isKnown ? (rarity[alternatives[0]?.term ?? 0] ?? 0) : Infinity;
  return (
    weight * Math.max(0, ...alternatives.map((one) => Math.min(rarity[one.term] ?? 0, ceiling) * one.weight))
  );
}

/** Evidence for each candidate, by concept. */
function tableOf(
  documents: readonly number[],
  evidence: readonly Evidence[],
  slots: Int32Array,
): readonly Float32Array[] {
  const rows = documents.map(() => new Float32Array(evidence.length));
  documents.forEach((document, at) => (slots[document] = at));
  evidence.forEach((found, concept) => {
    for (let at = 0; at < found.documents.length; at += 1) {
      const slot = slots[found.documents[at] ?? 0] ?? -1;
      const row = slot < 0 ? undefined : rows[slot];
      if (row !== undefined) row[concept] = found.values[at] ?? 0;
    }
  });
  for (const document of documents) slots[document] = -1;
  return rows;
}

/** For each candidate 1 if it is the best of some clause, a half if the second, and so on; less for lesser clauses. */
function clauseRanks(
  clauses: readonly (readonly number[])[],
  table: readonly Float32Array[],
): readonly number[] {
  const scored = clauses.map((clause) => table.map((row) => sum(clause.map((concept) => row[concept] ?? 0))));
  const tops = scored.map((scores) => Math.max(0, ...scores));
  const top = Math.max(...tops) || 1;
  const ranks = table.map(() => 0);
  scored.forEach((scores, clause) => {
    const scale = Math.sqrt((tops[clause] ?? 0) / top);
    const order = [...scores.keys()].sort(
      (one, other) => (scores[other] ?? 0) - (scores[one] ?? 0) || one - other,
    );
    let place = 0;
    order.forEach((candidate, at) => {
      const score = scores[candidate] ?? 0;
      // Equals share a place, or the alphabet would decide between them.
      if (score !== scores[order[place] ?? 0]) place = at;
      if (score > 0) ranks[candidate] = Math.max(ranks[candidate] ?? 0, scale / (1 + place));
    });
  });
  return ranks;
}

/** How much of what is asked the tools of each server have together, 1 for the best server. */
function serverScores(
  evidence: readonly Evidence[],
  { servers, serverCount }: Corpus,
  best: Float64Array,
): Float64Array {
  const total = new Float64Array(serverCount);
  for (const { documents, values } of evidence) {
    if (documents.length === 0) continue;
    best.fill(0);
    for (let at = 0; at < documents.length; at += 1) {
      const server = servers[documents[at] ?? 0] ?? 0;
      const value = values[at] ?? 0;
      if (value > (best[server] ?? 0)) best[server] = value;
    }
    for (let server = 0; server < serverCount; server += 1)
      total[server] = (total[server] ?? 0) + (best[server] ?? 0);
  }
  let most = 0;
  for (const score of total) if (score > most) most = score;
  return total.map((score) => score / (most || 1));
}

/**
 * The share of the query that is explained: by the candidate that has most of it, or by the best ones of its clauses together,
 * since no single tool explains a request for several.
 */
function explained(
  table: readonly Float32Array[],
  { concepts, clauses }: Query,
  worth: readonly number[],
  { postings }: Corpus,
): number {
  // A word that no document has is unexplained by all of them.
  const unknown = 0.7 * Math.log(1 + postings.size);
  const sizes = concepts.map(({ isKnown, alternatives }) =>
    isKnown ? (postings.rarity[alternatives[0]?.term ?? 0] ?? 0) : unknown,
  );
  const best = (part: readonly number[]): number => {
    let most = 0;
    for (const row of table) {
      let share = 0;
      for (const at of part) {
        const full = worth[at] ?? 0;
        if (full > 0) share += (sizes[at] ?? 0) * Math.min(1, (row[at] ?? 0) / full);
      }
      if (share > most) most = share;
    }
    return most;
  };
  const all = concepts.map((_, at) => at);
  const whole = best(all) / (sum(sizes) || 1);
  if (clauses.length === 0) return whole;
  const total = sum(clauses.map((clause) => sum(clause.map((at) => sizes[at] ?? 0))));
  return Math.max(whole, sum(clauses.map(best)) / (total || 1));
}

function missing(name: Uint32Array, asked: ReadonlyMap<number, unknown>, { postings }: Corpus): number {
  let rare = 0;
  for (const term of name) if (!asked.has(term)) rare += postings.rarity[term] ?? 0;
  return rare / (3 * Math.log(1 + postings.size));
}

/** Which concepts stand beside each other in the query, as one number for each pair. */
function wantedPairs(sequence: readonly number[], concepts: number): ReadonlySet<number> {
  const wanted = new Set<number>();
  for (let at = 1; at < sequence.length; at += 1) {
    if (sequence[at - 1] !== sequence[at])
      wanted.add((sequence[at - 1] ?? 0) * concepts + (sequence[at] ?? 0));
  }
  return wanted;
}

function pairs(
  wanted: ReadonlySet<number>,
  worth: readonly number[],
  texts: readonly { readonly terms: Uint32Array; readonly weight: number }[],
  asked: ReadonlyMap<number, readonly Asked[]>,
): number {
  const found = new Map<number, number>();
  for (const { terms, weight } of texts) {
    for (let at = 1; at < terms.length; at += 1) {
      const befores = asked.get(terms[at - 1] ?? 0);
      const afters = befores === undefined ? undefined : asked.get(terms[at] ?? 0);
      if (befores === undefined || afters === undefined) continue;
      for (const before of befores) {
        for (const after of afters) {
          const key = before.concept * worth.length + after.concept;
          const value = weight * Math.min(before.weight, after.weight);
          if (wanted.has(key) && value > (found.get(key) ?? 0)) found.set(key, value);
        }
      }
    }
  }
  let total = 0;
  for (const [key, value] of found) {
    total += (value * ((worth[Math.floor(key / worth.length)] ?? 0) + (worth[key % worth.length] ?? 0))) / 2;
  }
  return total;
}

function accepted(values: Values, accepts: readonly (keyof Values)[]): number {
  let count = 0;
  for (const kind of accepts) if (values[kind]) count += 1;
  return count;
}

function sum(values: readonly number[]): number {
  let total = 0;
  for (const value of values) total += value;
  return total;
}
