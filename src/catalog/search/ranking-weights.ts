/** The fields of a tool and its server that a search matches. */
export const SEARCH_FIELDS = [
  'name',
  'title',
  'description',
  'parameters',
  'parameterTexts',
  'enums',
  'server',
  'serverText',
] as const;

/**
 * The tuned weights of the two ranking stages; `docs/decisions/search.md` explains where each comes from. The fixed thresholds and
 * bonuses are constants at the end of this file. `gateway/drop-weak-hits.ts` decides afterwards how many hits a search returns.
 */
export interface RankingWeights {
  /** k in BM25: how much repeating a word in a document still raises its score. */
  readonly saturation: number;
  /** The weight and length normalisation (b in BM25, from 0 to 1) of each field, in the order of `SEARCH_FIELDS`. */
  readonly fields: readonly { readonly weight: number; readonly norm: number }[];
  /** The weight of a synonym relative to the word itself. */
  readonly synonym: number;
  /** The weight of a corrected spelling or other replacement of an unknown word, relative to a known word. */
  readonly repaired: number;
  /** The bonus for a word that the query repeats; multiplied by the natural logarithm of the number of occurrences. */
  readonly repetition: number;
  /** The relative bonus for a tool name whose words are all in the query; proportionally less if only some are. */
  readonly nameCover: number;
  /** The share of a server's best score that is added to each of its matching tools. */
  readonly serverPrior: number;
  /** The weight of the best-matching clause, which is added to the score of the whole query. */
  readonly clause: number;
  readonly second: SecondStageWeights;
}

/** Weights of the second stage, relative to the first stage's score of at most 1. */
export interface SecondStageWeights {
  /** The number of candidates that the second stage scores. */
  readonly pool: number;
  /** The penalty for words of the name that are not in the query; see `fullMissingRarity`. */
  readonly missing: number;
  /** The bonus for being among the best matches of one clause. */
  readonly clauseRank: number;
  /** The bonus for adjacent words of the query that are adjacent in the name or the description. */
  readonly pairs: number;
  /** The bonus for a server whose tools together match the query. */
  readonly server: number;
  /** The bonus for each kind of value in the query, such as a URL, that a parameter of the tool accepts. */
  readonly values: number;
  /**
   * The bonus for semantic similarity, multiplied by the share of the query that matching words do not
   * explain.
   */
  readonly meaning: number;
}

export const DEFAULT_RANKING_WEIGHTS: RankingWeights = {
  saturation: 2,
  fields: [
    { weight: 4, norm: 0.2 },
    { weight: 3, norm: 0.2 },
    { weight: 1.5, norm: 0.5 },
    { weight: 1, norm: 0.5 },
    { weight: 0.8, norm: 0.2 },
    { weight: 0.8, norm: 0.2 },
    { weight: 3, norm: 0.3 },
    { weight: 0.5, norm: 0.5 },
  ],
  synonym: 0.6,
  repaired: 0.7,
  repetition: 0.3,
  nameCover: 0.5,
  serverPrior: 0.1,
  clause: 0.4,
  second: {
    pool: 60,
    missing: 0.4,
    clauseRank: 0.2,
    pairs: 0.25,
    server: 0.12,
    values: 0.15,
    meaning: 0.2,
  },
};

/** The bonus for an exact tool name; it exceeds the sum of all other scores. */
export const EXACT_NAME_BONUS = 10;
/** The bonus for the exact name under which clients see a tool; it wins over the original name of another tool. */
export const EXACT_EXPOSED_NAME_BONUS = 20;

/** The maximum bonus for recently used tools. It is small, so it only decides between nearly equal hits. */
export const RECENT_USE_BONUS = 0.05;

/** The weight of semantic similarity when the first stage selects candidates. */
export const CANDIDATE_SIMILARITY_WEIGHT = 0.15;

/** The lowest score of a hit. A score of 0 means no hit. */
export const MIN_SCORE = 1e-6;

/** The weight of adjacent words in the description, relative to adjacent words in the name. */
export const DESCRIPTION_PAIR_WEIGHT = 0.6;

/** The confidence that a hit gains if the query covers the whole name of the tool; a part of the name adds a part of it. */
export const NAME_CONFIDENCE = 0.4;

/** The confidence in a tool whose exact name is in the query. */
export const CERTAIN = 1 + NAME_CONFIDENCE;

/** The weight of the English translation of a foreign word that tools use themselves; it is low, so that those tools rank first. */
export const TRANSLATION_WEIGHT = 0.3;

/** With this factor, clauses count fully if the best tool of the whole request scores at most a third of what the best tools of the clauses score in total; see `clauseSpread`. */
export const CLAUSE_SPREAD_FACTOR = 1.5;

/** Texts with a lower cosine similarity are unrelated. */
export const MIN_COSINE = 0.25;

/** At this cosine similarity or a higher one, a tool is a hit even if it shares no word with the query. */
export const CLEAR_COSINE = 0.45;

/** The weight of each field in the vector of a tool. The omitted fields do not describe its purpose. */
export const VECTOR_FIELD_WEIGHTS: Readonly<Partial<Record<(typeof SEARCH_FIELDS)[number], number>>> = {
  name: 2,
  title: 1.5,
  description: 1,
  parameters: 0.3,
  server: 1,
};

/** Returns the rarity of a word that no document contains: 70 % of the highest possible rarity. */
export function unknownWordRarity(documents: number): number {
  return 0.7 * Math.log(1 + documents);
}

/**
 * Returns the rarity of three very rare words. Unmatched name words with this total rarity cost `missing`;
 * the penalty is proportional to the rarity.
 */
export function fullMissingRarity(documents: number): number {
  return 3 * Math.log(1 + documents);
}
