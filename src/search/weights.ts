/** The texts that a tool and its server are made of. */
export const FIELDS = [
  'name',
  'title',
  'description',
  'parameters',
  'parameterTexts',
  'enums',
  'server',
  'serverText',
] as const;

/** Every number that shapes the ranking; `docs/decisions/search.md` says where each comes from. */
export interface Weights {
  /** How slowly repetition of a word in a document stops to count. */
  readonly saturation: number;
  /** Weight and length normalisation of each field, in the order of `FIELDS`. */
  readonly fields: readonly { readonly weight: number; readonly norm: number }[];
  /** What a synonym counts of the word itself. */
  readonly synonym: number;
  /** What a repaired word counts. */
  readonly repaired: number;
  /** What repetition of a word in the query adds. */
  readonly repetition: number;
  /** What a name adds all of whose words are asked for. */
  readonly nameCover: number;
  /** Share of a server's best score that its other tools get. */
  readonly serverPrior: number;
  /** What the best clause counts beside the whole query. */
  readonly clause: number;
  readonly second: SecondStage;
}

/** Weights of the second stage, beside the first stage's score of at most 1. */
export interface SecondStage {
  readonly pool: number;
  /** For words of the name that nobody asked for. */
  readonly missing: number;
  /** For being among the best of one clause. */
  readonly clauseRank: number;
  /** For neighbours in the query that are neighbours in the name or the description. */
  readonly pairs: number;
  /** For a server whose tools together have what is asked. */
  readonly server: number;
  /** For a parameter that takes a value of the kind that the query contains. */
  readonly values: number;
  /** For likeness of meaning, as far as words leave the query unexplained. */
  readonly meaning: number;
}

export const WEIGHTS: Weights = {
  saturation: 3,
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
