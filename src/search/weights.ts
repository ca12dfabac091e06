/** Every number that shapes the ranking. `docs/decisions/search.md` says where each comes from. */
export interface Weights {
  /** Saturation of repeated words: high, since a tool's text is short and a repeated word means something. */
  readonly saturation: number;
  /** Weight and length normalisation of each field, in the order of `FIELDS`. */
  readonly fields: readonly { readonly weight: number; readonly norm: number }[];
  readonly synonym: number;
  readonly repaired: number;
  /** What repetition of a word in the query adds. */
  readonly repetition: number;
  readonly nameCover: number;
  readonly serverPrior: number;
  readonly clause: number;
  readonly quoted: number;
}

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
  quoted: 1,
};
