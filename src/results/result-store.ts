/** A result as it came, written as JSON. The same object as long as it is kept. */
export interface KeptResult {
  readonly id: string;
  readonly text: string;
}

export type Found =
  | { readonly state: 'kept'; readonly result: KeptResult }
  /** Only its owner learns that there was one. */
  | { readonly state: 'gone' }
  | { readonly state: 'unknown' };

/** Keeps results for those who got them. Asynchronous, so that several gateways can share one behind a database. */
export interface ResultStore {
  /** Undefined when it is larger than all that may be kept. */
  keep(owner: string, text: string): Promise<KeptResult | undefined>;
  find(owner: string, id: string): Promise<Found>;
}
