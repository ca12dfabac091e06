/** Why an entry waits for a person. */
export type HeldReason = 'new' | 'changed' | 'suspicious' | 'refused';

/** What a server says of itself, as far as a model may read it. */
export interface ServerWords {
  readonly instructions?: string;
  readonly title?: string;
}

/** What of a listing is held back; everything else of it may be shown. */
export interface Judgement {
  /** Of what the judgement rests on besides what was approved; with another one, it has to be made again. */
  readonly basis: string;
  /** By the upstream's own names. Pairs, since a name may be anything. */
  readonly tools: readonly (readonly [string, HeldReason])[];
  readonly prompts: readonly (readonly [string, HeldReason])[];
  /** Present when what the server says of itself is held: then this is said instead. */
  readonly words?: { readonly reason: HeldReason; readonly approved: ServerWords };
}
