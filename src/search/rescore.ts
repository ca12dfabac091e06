import type { Likeness } from './meaning.ts';
import type { Concept, Query, Values } from './query.ts';
import type { Corpus, Evidence } from './score.ts';
import type { SecondStage } from './weights.ts';

/** What the second stage reads about a candidate beyond the corpus. */
export interface Details {
  /** Terms of the description, in order. */
  description(document: number): Uint32Array;
  /** Kinds of values that the tool takes. */
  accepts(document: number): ReadonlySet<keyof Values>;
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
  }: { readonly corpus: Corpus; readonly details: Details; readonly weights: SecondStage },
): readonly number[] {
  const asked = askedTerms(query.concepts);
  const worth = query.concepts.map((concept) => worthOf(concept, corpus.postings.rarity));
  const table = tableOf(pool.documents, evidence);
  const clauses = query.clauses.length > 0 ? query.clauses : [query.concepts.map((_, at) => at)];
  const heaviest =
    Math.max(...clauses.map((clause) => sum(clause.map((concept) => worth[concept] ?? 0)))) || 1;
  const ranks = clauseRanks(clauses, table);
  const servers = serverScores(evidence, corpus);
  const unexplained = likeness === undefined ? 0 : 1 - explained(table, query.concepts, worth, corpus);
  return pool.documents.map((document, at) => {
    const name = corpus.names.subarray(corpus.nameOffsets[document], corpus.nameOffsets[document + 1]);
    const neighbours = pairs(
      query.sequence,
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
function tableOf(documents: readonly number[], evidence: readonly Evidence[]): readonly Float32Array[] {
  const rows = new Map(documents.map((document) => [document, new Float32Array(evidence.length)]));
  evidence.forEach((found, concept) => {
    for (let at = 0; at < found.documents.length; at += 1) {
      const row = rows.get(found.documents[at] ?? 0);
      if (row !== undefined) row[concept] = found.values[at] ?? 0;
    }
  });
  return [...rows.values()];
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
    order.forEach((candidate, place) => {
      if ((scores[candidate] ?? 0) > 0)
        ranks[candidate] = Math.max(ranks[candidate] ?? 0, scale / (1 + place));
    });
  });
  return ranks;
}

/** How much of what is asked the tools of each server have together, 1 for the best server. */
function serverScores(evidence: readonly Evidence[], { servers, serverCount }: Corpus): Float64Array {
  const total = new Float64Array(serverCount);
  for (const { documents, values } of evidence) {
    const best = new Float64Array(serverCount);
    for (let at = 0; at < documents.length; at += 1) {
      const server = servers[documents[at] ?? 0] ?? 0;
      const value = values[at] ?? 0;
      if (value > (best[server] ?? 0)) best[server] = value;
    }
    for (let server = 0; server < serverCount; server += 1)
      total[server] = (total[server] ?? 0) + (best[server] ?? 0);
  }
  const most = total.reduce((one, other) => Math.max(one, other), 0) || 1;
  return total.map((score) => score / most);
}

/** The share of the query that the candidate which explains most of it has. */
function explained(
  table: readonly Float32Array[],
  concepts: readonly Concept[],
  worth: readonly number[],
  { postings }: Corpus,
): number {
  // A word that no document has is unexplained by all of them.
  const unknown = 0.7 * Math.log(1 + postings.size);
  const sizes = concepts.map(({ isKnown, alternatives }) =>
    isKnown ? (postings.rarity[alternatives[0]?.term ?? 0] ?? 0) : unknown,
  );
  const total = sum(sizes) || 1;
  return Math.max(
    0,
    ...table.map((row) => {
      const shares = sizes.map((size, at) =>
        (worth[at] ?? 0) > 0 ? size * Math.min(1, (row[at] ?? 0) / (worth[at] ?? 1)) : 0,
      );
      return sum(shares) / total;
    }),
  );
}

function missing(name: Uint32Array, asked: ReadonlyMap<number, unknown>, { postings }: Corpus): number {
  let rare = 0;
  for (const term of name) if (!asked.has(term)) rare += postings.rarity[term] ?? 0;
  return rare / (3 * Math.log(1 + postings.size));
}

function pairs(
  sequence: readonly number[],
  worth: readonly number[],
  texts: readonly { readonly terms: Uint32Array; readonly weight: number }[],
  asked: ReadonlyMap<number, readonly Asked[]>,
): number {
  const wanted = new Set<number>();
  for (let at = 1; at < sequence.length; at += 1) {
    if (sequence[at - 1] !== sequence[at])
      wanted.add((sequence[at - 1] ?? 0) * worth.length + (sequence[at] ?? 0));
  }
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

function accepted(values: Values, accepts: ReadonlySet<keyof Values>): number {
  let count = 0;
  for (const kind of accepts) if (values[kind]) count += 1;
  return count;
}

function sum(values: readonly number[]): number {
  let total = 0;
  for (const value of values) total += value;
  return total;
}
